#include "sim/sha256.h"

#include <check.h>
#include <string.h>

#include "golden/model/op.h"
#include "tests/support/check_main.h"

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

Suite *sha256_suite(void)
{
    TCase *c = tcase_create("sha256");

    tcase_add_test(c, the_digest_is_sha_256);
    return make_suite("sha256", c, NULL);
}
