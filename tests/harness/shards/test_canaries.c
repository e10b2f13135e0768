/* The digests of canaries: those in the table, the same again, and fast. */
#include "harness/shards/canaries.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>

#include "tests/support/check_main.h"

START_TEST(digests_are_those_of_the_table)
{
    struct why w = { 0 };
    int wrong = 0;
    for (int i = 0; i < CANARIES; i++) {
        uint64_t digest = 0;
        ck_assert_msg(canary_compute(i, &digest, &w) == 0, "canary %d: %s", i, w.text);
        wrong += digest != canary_digests[i];
        printf("    0x%016" PRIx64 ",%s\n", digest, digest != canary_digests[i] ? " // new" : "");
    }
    fflush(stdout);
    ck_assert_msg(!wrong,
                  "%d of %d canaries differ: if the generator or the reference has changed on "
                  "purpose, the table of harness/shards/canary_digests.c becomes the lines above",
                  wrong, CANARIES);
    ck_assert_msg(canaries_check(&w) == 0, "%s", w.text);
}
END_TEST

/* Each has its own, so that the table cannot be right by accident. */
START_TEST(digests_differ)
{
    for (int i = 0; i < CANARIES; i++)
        for (int k = 0; k < i; k++)
            ck_assert_uint_ne(canary_digests[i], canary_digests[k]);
}
END_TEST

Suite *canaries_suite(void)
{
    TCase *t = tcase_create("canaries");
    tcase_add_test(t, digests_are_those_of_the_table);
    tcase_add_test(t, digests_differ);
    return make_suite("canaries", t, NULL);
}
