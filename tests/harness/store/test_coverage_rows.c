/* Coverage in the results database: what is counted, when it is written, and what is rejected. */
#include <check.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/store/results.h"
#include "tests/harness/store/results_file.h"
#include "tests/support/check_main.h"

/* What has been counted, by target: "CONV_2D ran not_run", then "CONV_2D > RELU ran not_run". */
static char counted_text[400];

static void put_counted(const struct randgraph_item *i, void *user)
{
    size_t used = strlen(counted_text);
    (void) user;
    if (i->n.ran || i->n.not_run)
        snprintf(counted_text + used, sizeof counted_text - used, "%s%s%s %d %d\n", i->operation,
                 *i->what ? " > " : "", i->what, (int) i->n.ran, (int) i->n.not_run);
}

static const char *counted(const char *uris)
{
    struct randgraph_coverage *c = randgraph_coverage_new();
    struct coverage_filter filter = { .targets = uris };
    struct results *r;
    struct why w;
    ck_assert_int_eq(results_open(results_path, RESULTS_READ, &r, &w), 0);
    ck_assert_int_eq(results_read_coverage(r, &filter, c, &w), 0);
    results_close(r);
    counted_text[0] = 0;
    randgraph_coverage_each(c, FACET_OPERATION, put_counted, NULL);
    randgraph_coverage_each(c, FACET_NEIGHBOURS, put_counted, NULL);
    randgraph_coverage_free(c);
    return counted_text;
}

static void write_counted(struct results *r, uint64_t ordinal, enum verdict first,
                          enum verdict second, const char *coverage)
{
    struct check_result a = { .verdict = first, .was = VERDICT_WAIVED, .output = -1 },
                        b = { .verdict = second, .was = VERDICT_UNSUPPORTED, .output = -1 };
    struct verdict_row rows[2] = { { .result = &a }, { .result = &b } };
    struct case_row c = { .ordinal = ordinal,
                          .name = "random/v2/s7/i0",
                          .level = 1,
                          .coverage = coverage,
                          .verdict = rows };
    struct why w;
    ck_assert_msg(results_write_case(r, &c, &w) == 0, "%s", w.text);
}

START_TEST(executed_cases_are_counted)
{
    static const char conv[] = "CONV_2D\timplicit padding\tTENSOR_FLOAT32\t4\tnchw=true\tzeros\n"
                               "RELU\t\tTENSOR_FLOAT32\t4\t\tcomputed\nCONV_2D\tRELU\n";
    struct results *r = results_file_open();
    struct why w;
    char target[2][100];
    ck_assert_int_eq(results_start_run(r, &results_file_run, results_file_targets, 2, &w), 0);
    write_counted(r, 0, VERDICT_PASS, VERDICT_UNSUPPORTED, conv);
    write_counted(r, 1, VERDICT_CRASH, VERDICT_REFUSED, conv);
    write_counted(r, 2, VERDICT_WAIVED, VERDICT_WAIVED, conv); /* skipped; expected unsupported */
    write_counted(r, 3, VERDICT_ERROR, VERDICT_FAIL, "RELU\t\tTENSOR_FLOAT32\t4\t\tzeros\n");
    write_counted(r, 4, VERDICT_PASS, VERDICT_PASS, NULL);
    results_close(r);
    for (int i = 0; i < 2; i++)
        snprintf(target[i], sizeof target[i], "[\"%s\"]", results_file_targets[i].uri);
    ck_assert_str_eq(counted(target[0]), "CONV_2D 2 0\nRELU 2 0\nCONV_2D > RELU 2 0\n");
    ck_assert_str_eq(counted(target[1]), "CONV_2D 0 3\nRELU 1 3\nCONV_2D > RELU 0 3\n");
    ck_assert_str_eq(counted(NULL), "CONV_2D 2 3\nRELU 3 3\nCONV_2D > RELU 2 3\n");
    /* a run that is resumed adds to its rows */
    ck_assert_int_eq(results_file_int("SELECT count(*) FROM coverage"), 5);
    ck_assert_int_eq(results_open(results_path, RESULTS_WRITE, &r, &w), 0);
    ck_assert_int_eq(results_resume_run(r, &results_file_run, results_file_targets, 2, &w), 1);
    write_counted(r, 5, VERDICT_PASS, VERDICT_PASS, conv);
    results_close(r);
    ck_assert_int_eq(results_file_int("SELECT count(*) FROM coverage"), 5);
    ck_assert_str_eq(counted(target[0]), "CONV_2D 3 0\nRELU 3 0\nCONV_2D > RELU 3 0\n");
}
END_TEST

/* Counts are in the transaction of their cases: a process that is killed loses both or none. */
START_TEST(coverage_is_committed_with_its_cases)
{
    struct results *r = results_file_open();
    struct why w;
    ck_assert_int_eq(results_start_run(r, &results_file_run, results_file_targets, 2, &w), 0);
    for (int i = 0; i < 3; i++) {
        write_counted(r, (uint64_t) i, VERDICT_PASS, VERDICT_PASS,
                      "RELU\t\tTENSOR_FLOAT32\t4\t\tzeros\nRELU\tRELU\n");
        if (i < 2)
            ck_assert_int_eq(results_commit(r, &w), 0);
        /* others see what is committed */
        ck_assert_int_eq(results_file_int("SELECT count(*) FROM cases"), i < 2 ? i + 1 : 2);
        ck_assert_int_eq(results_file_int("SELECT sum(ran) FROM coverage"),
                         i < 2 ? 2 * (i + 1) : 4);
        ck_assert_int_eq(results_file_int("SELECT sum(ran) FROM neighbours"),
                         i < 2 ? 2 * (i + 1) : 4);
    }
    results_close(r);
    ck_assert_int_eq(results_file_int("SELECT sum(ran) FROM coverage"), 6);
}
END_TEST

START_TEST(parts_of_coverage_are_summed_up)
{
    enum { COMMITS = 300, LINES = 100 };
    struct results *r = results_file_open();
    struct why w;
    char lines[LINES * 80] = "";
    for (int i = 0; i < LINES; i++)
        snprintf(lines + strlen(lines), 80, "CONV_2D\tform\tTENSOR_FLOAT32\t4\tstride=%d\tzeros\n",
                 i);
    ck_assert_int_eq(results_start_run(r, &results_file_run, results_file_targets, 2, &w), 0);
    for (uint64_t i = 0; i < COMMITS; i++) {
        write_counted(r, i, VERDICT_PASS, VERDICT_REFUSED, lines);
        ck_assert_int_eq(results_commit(r, &w), 0);
    }
    int parts = (int) results_file_int("SELECT count(*) FROM coverage_parts");
    ck_assert_msg(parts > 2 && parts < 2 * COMMITS, "%d parts", parts);
    ck_assert_int_eq(results_file_int("SELECT sum(ran) FROM coverage"), LINES * COMMITS);
    ck_assert_int_eq(results_file_int("SELECT sum(not_run) FROM coverage"), LINES * COMMITS);
    ck_assert_int_eq(results_finish_run(r, 1, &w), 0);
    results_close(r);
    ck_assert_int_eq(results_file_int("SELECT count(*) FROM coverage_parts"), 2);
    ck_assert_int_eq(results_file_int("SELECT count(*) FROM coverage WHERE ran + not_run = 300"),
                     2 * LINES);
}
END_TEST

static const struct {
    const char *lines, *why;
} wrong_coverage[] = {
    { "ADD\tADD\tADD\n", "a line of coverage with 3 columns" },
    { "ADD\tADD\nADD", "a line of coverage with 1 columns" },
    { "ADD\tADD\n\nADD\tADD\n", "a line of coverage with 1 columns" },
    { "ADD\t\"ADD\n", "a line of coverage with control characters or quotes" },
    { "ADD\tA\\DD\n", "a line of coverage with control characters or quotes" },
    { "ADD\tA\x01\n", "a line of coverage with control characters or quotes" },
    { "ADD\tA\xc3\xa4\n", "a line of coverage with control characters or quotes" },
};

START_TEST(wrong_lines_of_coverage_are_rejected)
{
    struct why w;
    for (int i = 0; i < COUNT(wrong_coverage); i++) {
        ck_assert_int_eq(results_check_coverage(wrong_coverage[i].lines, &w), -1);
        ck_assert_int_eq(w.code, WHY_INVALID);
        ck_assert_str_eq(w.text, wrong_coverage[i].why);
    }
    ck_assert_int_eq(results_check_coverage("ADD\tADD\nADD\t\t\t4\t\tzeros", &w), 0);
    ck_assert_int_eq(results_check_coverage("", &w), 0);
}
END_TEST

Suite *coverage_rows_suite(void)
{
    TCase *t = tcase_create("coverage_rows");

    tcase_add_checked_fixture(t, results_file_make, results_file_remove);
    tcase_add_test(t, executed_cases_are_counted);
    tcase_add_test(t, coverage_is_committed_with_its_cases);
    tcase_add_test(t, parts_of_coverage_are_summed_up);
    tcase_add_test(t, wrong_lines_of_coverage_are_rejected);
    return make_suite("coverage_rows", t, NULL);
}
