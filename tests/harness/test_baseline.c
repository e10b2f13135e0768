/* Baselines: what is accepted, which entry applies, what an update changes, what a rewritten file
 * keeps. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "golden/golden.h"
#include "harness/policy/baseline.h"
#include "harness/policy/expectations.h"
#include "tests/support/check_main.h"

static struct baseline *load_text(const char *text, struct why *w)
{
    char path[] = "/tmp/halcyon-test-XXXXXX";
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t) strlen(text));
    close(fd);
    struct baseline *b = NULL;
    if (baseline_load(path, &b, w) < 0)
        b = NULL;
    unlink(path);
    return b;
}

static struct baseline *must_load(const char *text)
{
    struct why w = { 0 };
    struct baseline *b = load_text(text, &w);
    ck_assert_msg(b != NULL, "%s", w.text);
    return b;
}

static void expect_text(const struct baseline *b, const char *expected)
{
    char *text = NULL;
    size_t length = 0;
    struct why w;
    FILE *to = open_memstream(&text, &length);
    ck_assert_int_eq(baseline_put(to, b, &w), 0);
    fclose(to);
    ck_assert_str_eq(text, expected);
    free(text);
}

START_TEST(bad_lines_are_rejected_with_their_number)
{
    static const struct {
        const char *text, *message;
    } bad[] = {
        { "", ":1: the file is empty" },
        { "spec/V1_2/* sim:dsp known\n", ":1: expected the line 'halcyon-baseline 1'; a file of "
                                         "waivers" },
        { "halcyon-baseline 2\n", ":1: expected the line" },
        { "halcyon-baseline 1\n\nfail\n", ":3: expected VERDICT CASE" },
        { "halcyon-baseline 1\nfial a\n", ":2: expected skip or verdicts, such as fail or "
                                          "pass|fail, found 'fial'; did you mean fail?" },
        { "halcyon-baseline 1\nwaived a\n", ":2: expected skip or verdicts" },
        { "halcyon-baseline 1\npass|fail|pass a\n", ":2: the verdict pass is listed twice" },
        { "halcyon-baseline 1\nflaky a\n", ":2: expected the verdicts of a flaky case" },
        { "halcyon-baseline 1\nfail a b\n", ":2: expected KEY=VALUE, found 'b'" },
        { "halcyon-baseline 1\nfail a # b\n", "a comment is a line of its own" },
        { "halcyon-baseline 1\nfail a reson=b\n", "unknown key 'reson'; did you mean reason?" },
        { "halcyon-baseline 1\nfail a op=A op=B\n", ":2: op is given twice" },
        { "halcyon-baseline 1\npass a op=ADD\n", "describe a verdict that does not conform" },
        { "halcyon-baseline 1\nfail a until=2027-01-01\n", "until belongs to a waiver" },
        { "halcyon-baseline 1\nfail a link=x\n", "link belongs to a waiver" },
        { "halcyon-baseline 1\nskip a\n", "skip needs reason" },
        { "halcyon-baseline 1\nfail a reason=x until=2027-02-29\n", "expected a day such as" },
        { "halcyon-baseline 1\nfail a reason=x until=27-02-28\n", "expected a day such as" },
        { "halcyon-baseline 1\nfail a reason=\"x\n", "expected text in quotes" },
        { "halcyon-baseline 1\nfail \"a\\x00\"\n", "expected text in quotes" },
        { "halcyon-baseline 1\nfail \"a\"b\n", "expected text in quotes" },
        { "halcyon-baseline 1\nfail a\n\nfail a\n", ":4: line 2 has an entry for 'a' already" },
        { "halcyon-baseline 1\nfail a*\ncrash a*\n", ":3: line 2 has an entry for 'a*' already" },
        { "halcyon-baseline 1\nfail a\ntarget x\n", ":3: expected one line 'target URI-GLOB'" },
        { "halcyon-baseline 1\ntarget\n", ":2: expected target URI-GLOB" },
    };
    for (int i = 0; i < COUNT(bad); i++) {
        struct why w = { 0 };
        ck_assert_msg(!load_text(bad[i].text, &w), "%s", bad[i].text);
        ck_assert_msg(strstr(w.text, bad[i].message) != NULL, "%s: %s", bad[i].text, w.text);
    }
}
END_TEST

START_TEST(the_nearest_entry_applies)
{
    struct baseline *b = must_load("halcyon-baseline 1\n"
                                   "fail *\n"
                                   "fail spec/*\n"
                                   "crash spec/soft*\n"
                                   "hang spec/softmax_1\n"
                                   "pass spec/a\\*b\n"
                                   "refused \"spec/two words\"\n");
    static const struct {
        const char *name;
        unsigned line;
    } expected[] = { { "random/x", 2 },       { "spec/add", 3 }, { "spec/softmax_2", 4 },
                     { "spec/softmax_1", 5 }, { "spec/a*b", 6 }, { "spec/acb", 3 },
                     { "spec/two words", 7 } };
    for (int i = 0; i < COUNT(expected); i++) {
        const struct baseline_entry *e = baseline_find(b, expected[i].name);
        ck_assert_ptr_nonnull(e);
        ck_assert_msg(e->line == expected[i].line, "%s: line %u", expected[i].name, e->line);
    }
    baseline_free(b);
    b = must_load("halcyon-baseline 1\nfail spec/*\n");
    ck_assert_ptr_null(baseline_find(b, "random/v2/s1/i0"));
    ck_assert(baseline_is_for(b, "sim:cpu"));
    baseline_free(b);
    b = must_load("halcyon-baseline 1\ntarget lib:*mine.so\n");
    ck_assert(baseline_is_for(b, "lib:/a/b/mine.so") && !baseline_is_for(b, "lib:other.so"));
    baseline_free(b);
    b = must_load("halcyon-baseline 1\ntarget sim:cpu?fault=nan\n");
    ck_assert(baseline_is_for(b, "sim:cpu?fault=nan"));
    baseline_free(b);
}
END_TEST

START_TEST(an_entry_expects_its_verdicts_and_class)
{
    struct baseline *b = must_load("halcyon-baseline 1\n"
                                   "fail a reason=numbers\n"
                                   "pass|violation b stage=execute status=DEAD_OBJECT op=ADD\n"
                                   "fail c reason=x until=2027-03-31\n");
    const struct baseline_entry *a = baseline_find(b, "a"), *e = baseline_find(b, "b"),
                                *c = baseline_find(b, "c");
    struct verdict_class fails = { VERDICT_FAIL, "done", "NONE", "MUL" },
                         crashes = { VERDICT_CRASH, "execute", "NONE", NULL },
                         passes = { VERDICT_PASS, "done", "NONE", "ADD" },
                         violates = { VERDICT_VIOLATION, "execute", "DEAD_OBJECT", "ADD" };
    ck_assert(entry_expects(a, &fails));
    ck_assert(!entry_expects(a, &crashes)); /* a waiver for wrong numbers */
    ck_assert(!entry_expects(a, &passes));
    ck_assert(entry_expects(e, &passes));
    ck_assert(entry_expects(e, &violates));
    violates.status = "NONE";
    ck_assert(!entry_expects(e, &violates));
    violates = (struct verdict_class){ VERDICT_VIOLATION, "execute", "DEAD_OBJECT", NULL };
    ck_assert(!entry_expects(e, &violates));
    ck_assert(!entry_is_expired(c, 20270331) && entry_is_expired(c, 20270401));
    ck_assert(!entry_is_expired(a, 99991231));
    baseline_free(b);
}
END_TEST

static void update(struct baseline *b, const char *name, struct verdict_class c, unsigned flags,
                   struct baseline_changes *changes)
{
    struct why w = { 0 };
    ck_assert_msg(baseline_update(b, name, &c, flags, changes, &w) == 0, "%s", w.text);
}

/* With --rerun: the other verdict of a flaky case is that of its first run. */
START_TEST(a_flaky_case_passes_and_fails)
{
    struct baseline_changes changes = { 0 };
    struct baseline *b = must_load("halcyon-baseline 1\n\n"
                                   "pass|fail a op=ADD\n"
                                   "fail b\n"
                                   "pass c\n");
    struct verdict_class flaky = { VERDICT_FLAKY, "done", "NONE", "ADD", VERDICT_FAIL };
    ck_assert(entry_expects(baseline_find(b, "a"), &flaky));
    ck_assert(!entry_expects(baseline_find(b, "b"), &flaky));
    ck_assert(!entry_expects(baseline_find(b, "c"), &flaky));
    flaky.operation = "MUL";
    ck_assert(!entry_expects(baseline_find(b, "a"), &flaky));
    flaky.first = VERDICT_CRASH;
    flaky.stage = "execute";
    ck_assert(!entry_expects(baseline_find(b, "a"), &flaky));
    update(b, "b", flaky, 0, &changes);
    update(b, "d", flaky, 0, &changes);
    expect_text(b, "halcyon-baseline 1\n\n"
                   "pass|fail   a op=ADD\n"
                   "pass|crash  b stage=execute op=MUL\n"
                   "pass        c\n"
                   "pass|crash  d stage=execute op=MUL\n");
    baseline_free(b);
}
END_TEST

START_TEST(a_rewritten_file_is_sorted_and_keeps_comments_and_groups)
{
    struct baseline *b =
        must_load("halcyon-baseline 1\r\n"
                  "# Baseline of the driver.\n\n# Second block.\n"
                  "target lib:*\n"
                  "# Softmax.\n\n\n"
                  "# The second one.\n# Two lines.\n"
                  "\tfail random/v2/s1/i10   reason=\"a \\\"b\\\" \\\\ c\" link=x#1\n"
                  "fail random/v2/s1/i9\n"
                  "# tail\n\n"
                  "skip \"x y\" reason=huge until=2027-03-31\n");
    expect_text(b, "halcyon-baseline 1\n"
                   "# Baseline of the driver.\n# Second block.\n"
                   "target lib:*\n"
                   "\n# Softmax.\n"
                   "\nfail        random/v2/s1/i9\n"
                   "# The second one.\n# Two lines.\n"
                   "fail        random/v2/s1/i10 reason=\"a \\\"b\\\" \\\\ c\" link=x#1\n"
                   "# tail\n"
                   "\nskip        \"x y\" reason=huge until=2027-03-31\n");
    baseline_free(b);
}
END_TEST

static const struct verdict_class pass = { VERDICT_PASS, "done", "NONE", "ADD" },
                                  fail = { VERDICT_FAIL, "done", "NONE", "ADD" },
                                  crash = { VERDICT_CRASH, "execute", "NONE", NULL },
                                  refused = { VERDICT_REFUSED, "prepare", "INVALID_ARGUMENT", "" };

START_TEST(an_update_replaces_removes_and_adds)
{
    struct baseline_changes changes = { 0 };
    struct baseline *b = must_load("halcyon-baseline 1\n\n"
                                   "fail a op=ADD\n"
                                   "# why b\nfail b op=MUL\n"
                                   "# why c\nfail c op=ADD\n"
                                   "fail d* reason=known\n"
                                   "fail w reason=known\n"
                                   "fail x reason=known\n"
                                   "pass|fail y\n"
                                   "fail not_run\n");
    update(b, "a", fail, 0, &changes);
    update(b, "b", crash, 0, &changes);
    update(b, "c", pass, 0, &changes);
    update(b, "d1", pass, 0, &changes);
    update(b, "d2", fail, 0, &changes);
    update(b, "d3", crash, 0, &changes);
    update(b, "w", crash, 0, &changes); /* a person decides */
    update(b, "x", pass, 0, &changes);
    update(b, "y", crash, 0, &changes);
    update(b, "z?", refused, 0, &changes);
    update(b, "fine", pass, 0, &changes);
    expect_text(b, "halcyon-baseline 1\n\n"
                   "fail        a op=ADD\n"
                   "# why b\ncrash       b stage=execute\n"
                   "fail        d* reason=known\n"
                   "fail        not_run\n"
                   "fail        w reason=known\n"
                   "pass|fail|crash y\n"
                   "\n"
                   "crash       d3 stage=execute\n"
                   "refused     z\\? stage=prepare status=INVALID_ARGUMENT\n");
    ck_assert_uint_eq(changes.added, 2);
    ck_assert_uint_eq(changes.changed, 2);
    ck_assert_uint_eq(changes.removed, 2);
    ck_assert_uint_eq(changes.kept, 1);
    baseline_free(b);
}
END_TEST

START_TEST(flakes_keep_both_verdicts_and_all_lists_what_conforms)
{
    struct baseline_changes changes = { 0 };
    struct baseline *b = must_load("halcyon-baseline 1\n\nfail a op=MUL\nfail b op=ADD\n");
    update(b, "a", fail, BASELINE_FLAKES, &changes);
    update(b, "b", pass, BASELINE_FLAKES, &changes);
    update(b, "c", pass, BASELINE_ALL, &changes);
    expect_text(b, "halcyon-baseline 1\n\nfail        a\npass|fail   b op=ADD\npass        c\n");
    baseline_free(b);
}
END_TEST

/* As Halcyon 0.3 and older named random cases; a file may have examples with such names. */
START_TEST(old_names_are_rejected_for_random_cases)
{
    static const struct {
        const char *name;
        bool is_old;
    } names[] = { { "random/s1/i0", true },     { "random/s*/i1?", true },
                  { "random/s[0-9]/i*", true }, { "random/*", false },
                  { "random/v2/s1/i0", false }, { "random/single/s-ADD/i0", false } };
    const char *const target[] = { "sim:cpu" };
    for (int i = 0; i < COUNT(names); i++) {
        char path[] = "/tmp/halcyon-test-XXXXXX";
        const char *paths[] = { path };
        struct expectations *random = NULL, *files = NULL;
        struct why w = { 0 };
        int fd = mkstemp(path);
        ck_assert(fd >= 0 && dprintf(fd, "halcyon-baseline 1\nfail %s\n", names[i].name) > 0);
        close(fd);
        int failed = expectations_load(paths, 1, target, 1, true, &random, &w);
        ck_assert_msg((failed < 0) == names[i].is_old, "%s: %s", names[i].name, w.text);
        if (failed)
            ck_assert_msg(strstr(w.text, ":2: '") && strstr(w.text, "random/v2/op=ADD/s7/i123"),
                          "%s", w.text);
        ck_assert_int_eq(expectations_load(paths, 1, target, 1, false, &files, &w), 0);
        unlink(path);
        expectations_free(random);
        expectations_free(files);
    }
}
END_TEST

Suite *baseline_suite(void)
{
    Suite *s = suite_create("baseline");
    TCase *t = tcase_create("baseline");
    tcase_add_test(t, bad_lines_are_rejected_with_their_number);
    tcase_add_test(t, the_nearest_entry_applies);
    tcase_add_test(t, an_entry_expects_its_verdicts_and_class);
    tcase_add_test(t, a_flaky_case_passes_and_fails);
    tcase_add_test(t, a_rewritten_file_is_sorted_and_keeps_comments_and_groups);
    tcase_add_test(t, an_update_replaces_removes_and_adds);
    tcase_add_test(t, flakes_keep_both_verdicts_and_all_lists_what_conforms);
    tcase_add_test(t, old_names_are_rejected_for_random_cases);
    suite_add_tcase(s, t);
    return s;
}
