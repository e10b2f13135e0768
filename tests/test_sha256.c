#include "sim/sha256.h"

#include <check.h>
#include <string.h>

#include "golden/op.h"

/* The examples of FIPS 180-2. */
START_TEST(the_digest_is_sha_256)
{
    static const struct {
        const char *text;
        uint8_t first[4];
    } cases[] = {
        { "", { 0xe3, 0xb0, 0xc4, 0x42 } },
        { "abc", { 0xba, 0x78, 0x16, 0xbf } },
        { "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", { 0x24, 0x8d, 0x6a, 0x61 } },
    };

    for (int i = 0; i < COUNT(cases); i++) {
        uint8_t digest[SHA256_BYTES];
        struct sha256 s;
        sha256_init(&s);
        sha256_add(&s, cases[i].text, strlen(cases[i].text));
        sha256_end(&s, digest);
        ck_assert_mem_eq(digest, cases[i].first, sizeof cases[i].first);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("sha256");
    TCase *c = tcase_create("sha256");

    tcase_add_test(c, the_digest_is_sha_256);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
