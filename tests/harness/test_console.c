/* What a campaign shows on stderr while it runs: on a pipe a line a minute. */
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
    FILE *file = tmpfile();
    ck_assert_ptr_nonnull(file);
    int before = dup(STDERR_FILENO);
    fflush(stderr);
    dup2(fileno(file), STDERR_FILENO);
    c->begun = console_now() - seconds;
    console_progress(c, done);
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
    struct console c = { .n_cases = 1000, .failures = 3 };
    ck_assert_str_eq(progress(&c, 50, 59), "");
    ck_assert_str_eq(progress(&c, 100, 61), "progress: 100 of 1000 cases  3 not conforming  2/s, "
                                            "549 s left\n");
    ck_assert_str_eq(progress(&c, 150, 119), "");
    ck_assert_str_eq(progress(&c, 160, 121), "progress: 160 of 1000 cases  3 not conforming  1/s, "
                                             "635 s left\n");
    ck_assert_str_eq(progress(&c, 0, 200), "progress: 0 of 1000 cases  3 not conforming\n");
}
END_TEST

START_TEST(quiet_shows_no_progress)
{
    struct console c = { .n_cases = 1000, .verbosity = -1 };
    ck_assert_str_eq(progress(&c, 100, 100), "");
}
END_TEST

START_TEST(a_bar_on_a_terminal)
{
    struct console c = { .n_cases = 100, .terminal = true };
    ck_assert_ptr_nonnull(strstr(progress(&c, 50, 1), "[###############...............] 50/100"));
    ck_assert_ptr_null(strchr(text, '\n'));
    ck_assert_str_eq(progress(&c, 50, 1.05), "");
}
END_TEST

Suite *console_suite(void)
{
    TCase *t = tcase_create("console");
    tcase_add_test(t, a_line_a_minute_on_a_pipe);
    tcase_add_test(t, quiet_shows_no_progress);
    tcase_add_test(t, a_bar_on_a_terminal);
    return make_suite("console", t, NULL);
}
