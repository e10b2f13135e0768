/* What a campaign shows on stderr while it runs, where that is no terminal (check_progress.py: on
 * one): a line a minute. */
#include <check.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "harness/cli/console.h"
#include "tests/support/check_main.h"

static char text[512];

/* What console_progress() writes, `seconds` after the campaign began. */
static const char *progress(struct console *c, uint64_t done, double seconds)
{
    const struct totals none = { 0 };
    FILE *file = tmpfile();
    ck_assert_ptr_nonnull(file);
    int before = dup(STDERR_FILENO);
    fflush(stderr);
    dup2(fileno(file), STDERR_FILENO);
    c->progress.begun = console_now() - seconds;
    console_progress(c, done, &none, 1);
    fflush(stderr);
    dup2(before, STDERR_FILENO);
    close(before);
    rewind(file);
    size_t n = fread(text, 1, sizeof text - 1, file);
    text[n] = 0;
    fclose(file);
    return text;
}

START_TEST(a_line_a_minute_on_a_pipe)
{
    struct console c = { .progress = { .n_cases = 1000, .failures = 3 } };
    ck_assert_str_eq(progress(&c, 50, 59), "");
    ck_assert_str_eq(progress(&c, 122, 61), "progress: 122 of 1000 cases  3 not conforming  2.0/s, "
                                            "7 min left\n");
    ck_assert_str_eq(progress(&c, 150, 119), "");
    ck_assert_str_eq(progress(&c, 940, 121), "progress: 940 of 1000 cases  3 not conforming  "
                                             "13/s, 5 s left\n");
}
END_TEST

/* The rate follows the last cases: none are left to those of the beginning. */
START_TEST(the_rate_of_the_last_cases)
{
    struct console c = { .progress = { .n_cases = 100000 } };
    ck_assert_str_eq(progress(&c, 6000, 60),
                     "progress: 6000 of 100000 cases  100/s, 16 min left\n");
    ck_assert_str_eq(progress(&c, 6060, 1000), "progress: 6060 of 100000 cases  0.1/s, "
                                               "408.8 h left\n");
}
END_TEST

START_TEST(not_beyond_the_time_of_for)
{
    struct console c = { .progress = { .n_cases = 100000, .duration = 100 } };
    ck_assert_str_eq(progress(&c, 60, 60), "progress: 60 of 100000 cases  1.0/s, 40 s left\n");
}
END_TEST

START_TEST(nothing_is_left_before_the_first_case)
{
    struct console c = { .progress = { .n_cases = 1000 } };
    ck_assert_str_eq(progress(&c, 0, 200), "progress: 0 of 1000 cases\n");
}
END_TEST

START_TEST(quiet_shows_no_progress)
{
    struct console c = { .progress = { .n_cases = 1000, .hidden = true } };
    ck_assert_str_eq(progress(&c, 100, 100), "");
}
END_TEST

START_TEST(kinds_of_failures)
{
    struct progress p = { .n_cases = 10 };
    progress_failure(&p, "a", VERDICT_FAIL, "ADD TENSOR_FLOAT32", "halcyon replay one");
    progress_failure(&p, "a", VERDICT_FAIL, "MUL TENSOR_FLOAT32", NULL);
    progress_failure(&p, "a", VERDICT_CRASH, "ADD TENSOR_FLOAT32", NULL);
    progress_failure(&p, "b", VERDICT_FAIL, "ADD TENSOR_FLOAT32", NULL);
    progress_failure(&p, "a", VERDICT_FAIL, "ADD TENSOR_FLOAT32", "halcyon replay two");
    ck_assert_uint_eq(p.failures, 5);
    ck_assert_uint_eq(p.n_kinds, 4);
    ck_assert_uint_eq(p.kind[0].n, 2);
    ck_assert_str_eq(p.last, "halcyon replay two");
    progress_bucket(&p, "a", VERDICT_FAIL, "ADD TENSOR_FLOAT32", "fail ADD");
    progress_bucket(&p, "b", VERDICT_FAIL, "ADD TENSOR_FLOAT32", "fail ADD");
    ck_assert_uint_eq(p.n_kinds, 4);
    progress_bucket(&p, "a", VERDICT_FAIL, "MUL TENSOR_FLOAT32", "fail ADD");
    ck_assert_uint_eq(p.n_kinds, 3);
    ck_assert_uint_eq(p.kind[0].n, 3);
}
END_TEST

Suite *console_suite(void)
{
    TCase *t = tcase_create("console");
    tcase_add_test(t, a_line_a_minute_on_a_pipe);
    tcase_add_test(t, the_rate_of_the_last_cases);
    tcase_add_test(t, not_beyond_the_time_of_for);
    tcase_add_test(t, nothing_is_left_before_the_first_case);
    tcase_add_test(t, quiet_shows_no_progress);
    tcase_add_test(t, kinds_of_failures);
    return make_suite("console", t, NULL);
}
