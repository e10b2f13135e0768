/* The results database: written cases are found again and replaced when written again, runs are
 * resumed by one process at a time, and files that are no results database are rejected and not
 * changed. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/store/run_export.h"
#include "tests/harness/store/results_file.h"
#include "tests/support/check_main.h"

START_TEST(cases_are_found)
{
    results_file_write_killed_run();
    struct results *r;
    struct recorded_case f;
    struct why w;
    ck_assert_int_eq(results_open(results_path, RESULTS_READ, &r, &w), 0);
    ck_assert_int_eq(results_find_case(r, "random/v2/s7/i9", &f, &w), 0);
    ck_assert_int_eq(results_find_case(r, "random/v2/s7/i0", &f, &w), 1);
    ck_assert_str_eq(f.spec, "the spec");
    ck_assert_str_eq(f.options, "{\"seed\":\"7\"}");
    ck_assert_ptr_null(f.file);
    ck_assert_uint_eq(f.seed, UINT64_MAX);
    ck_assert_uint_eq(f.n_targets, 1);
    ck_assert_str_eq(f.target[0], "sim:cpu?fault=nan");
    recorded_case_done(&f);
    results_close(r);
}
END_TEST

START_TEST(views_aggregate_verdicts)
{
    results_file_write_killed_run();
    ck_assert_int_eq(results_file_int("SELECT n FROM totals_by_verdict WHERE verdict = 'pass'"), 2);
    ck_assert_int_eq(results_file_int("SELECT count(*) FROM failures"), 1);
    ck_assert_int_eq(
        results_file_int("SELECT sum(n) FROM totals_by_operation WHERE operation = 'ADD'"), 3);
    ck_assert_int_eq(results_file_int("SELECT actual IS NULL AND ratio > 1e300 FROM failures"), 1);
    ck_assert_int_eq(results_file_int("SELECT device_ns IS NULL FROM failures"), 1);
}
END_TEST

START_TEST(verdicts_and_conformance_match_the_list)
{
    struct results *r = results_file_open();
    struct why w;
    char sql[160];
    ck_assert_int_eq(results_start_run(r, &results_file_run, results_file_targets, 2, &w), 0);
    for (int v = 0; v < VERDICT_COUNT; v++)
        results_file_write_case(r, (uint64_t) v, (enum verdict) v, VERDICT_PASS);
    results_close(r);
    ck_assert_int_eq(results_file_int("SELECT count(DISTINCT verdict) FROM details"),
                     VERDICT_COUNT);
    for (int v = 0; v < VERDICT_COUNT; v++) {
        snprintf(sql, sizeof sql, "SELECT conforming FROM details WHERE verdict = '%s'",
                 verdict_name[v]);
        ck_assert_msg(results_file_int(sql) == verdict_conforming((enum verdict) v), "%s",
                      verdict_name[v]);
    }
}
END_TEST

START_TEST(a_case_written_again_is_replaced)
{
    struct results *r = results_file_open();
    struct why w;
    ck_assert_int_eq(results_start_run(r, &results_file_run, results_file_targets, 2, &w), 0);
    results_file_write_case(r, 0, VERDICT_FAIL, VERDICT_FAIL);
    results_file_write_case(r, 0, VERDICT_PASS, VERDICT_FAIL);
    ck_assert_int_eq(results_commit(r, &w), 0);
    results_file_write_case(r, 0, VERDICT_PASS, VERDICT_PASS);
    results_close(r);
    ck_assert_int_eq(results_file_int("SELECT count(*) FROM cases WHERE spec IS NULL"), 1);
    ck_assert_int_eq(results_file_int("SELECT count(*) FROM verdicts"), 2);
    ck_assert_int_eq(results_file_int("SELECT count(*) FROM case_operations"), 1);
    ck_assert_int_eq(results_file_int("SELECT count(*) FROM failures"), 0);
}
END_TEST

START_TEST(a_verdict_is_amended)
{
    struct results *r = results_file_open();
    struct why w;
    struct check_result result = results_file_fail();
    struct verdict_row late = { .result = &result, .printed = "text", .backtrace = "#0 main" };
    struct spec_row spec = { "late spec", 9 };
    result.verdict = VERDICT_VIOLATION;
    ck_assert_int_eq(results_start_run(r, &results_file_run, results_file_targets, 2, &w), 0);
    results_file_write_case(r, 0, VERDICT_PASS, VERDICT_PASS);
    results_file_write_case(r, 1, VERDICT_FAIL, VERDICT_PASS);
    ck_assert_int_eq(results_amend_case(r, 0, 1, &late, &spec, &w), 0);
    ck_assert_int_eq(results_amend_case(r, 1, 1, &late, &spec, &w), 0);
    ck_assert_int_eq(results_amend_case(r, 2, 1, &late, &spec, &w), -1);
    results_close(r);
    ck_assert_int_eq(
        results_file_int("SELECT count(*) FROM failures WHERE verdict = 'violation' AND "
                         "printed = 'text' AND backtrace = '#0 main'"),
        2);
    ck_assert_int_eq(
        results_file_int("SELECT count(*) FROM cases WHERE ordinal = 0 AND spec = 'late "
                         "spec' OR ordinal = 1 AND spec = 'the spec'"),
        2);
}
END_TEST

START_TEST(junit_has_what_the_driver_printed)
{
    struct results *r = results_file_open();
    struct why w;
    struct check_result result = results_file_fail();
    struct verdict_row late = { .result = &result, .printed = "<a>\nb", .backtrace = "#0 main" };
    struct spec_row spec = { 0 };
    char name[80], text[4000] = "";
    strcpy(result.confirmed, "repeats");
    ck_assert_int_eq(results_start_run(r, &results_file_run, results_file_targets, 2, &w), 0);
    results_file_write_case(r, 0, VERDICT_PASS, VERDICT_PASS);
    ck_assert_int_eq(results_amend_case(r, 0, 1, &late, &spec, &w), 0);
    snprintf(name, sizeof name, "%s/j.xml", results_folder);
    ck_assert_int_eq(export_write_one(r, EXPORT_JUNIT, name, results_run(r), "host", &w), 0);
    results_close(r);
    FILE *file = fopen(name, "r");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_gt(fread(text, 1, sizeof text - 1, file), 0);
    fclose(file);
    ck_assert_int_eq(unlink(name), 0);
    ck_assert_msg(strstr(text, "&#10;run again: repeats</failure>\n"
                               "      <system-out>&lt;a&gt;&#10;b</system-out>\n"
                               "      <system-err>#0 main</system-err>\n"),
                  "%s", text);
}
END_TEST

static int see_note(uint32_t target, const char *text, void *user, struct why *w)
{
    (void) w;
    *(int *) user += target == 1 && !strcmp(text, "memory grows");
    return 0;
}

START_TEST(a_note_is_kept_once)
{
    struct results *r = results_file_open();
    struct why w;
    int seen = 0;
    ck_assert_int_eq(results_start_run(r, &results_file_run, results_file_targets, 2, &w), 0);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(results_add_note(r, 1, "memory grows", &w), 0);
    ck_assert_int_eq(results_each_note(r, see_note, &seen, &w), 0);
    ck_assert_int_eq(seen, 1);
    results_close(r);
}
END_TEST

static void add_compared(uint32_t target, uint64_t compared, void *user)
{
    ((uint64_t *) user)[target] += compared;
}

/* Also those of the part of a run before it was resumed. */
START_TEST(compared_elements_are_counted_by_target)
{
    results_file_write_killed_run();
    results_file_sql("UPDATE verdicts SET checked = 9 WHERE case_id = 1 AND target = 2");
    struct results *r = results_file_open();
    struct why w;
    uint64_t compared[2] = { 0 };
    ck_assert_int_eq(results_resume_run(r, &results_file_run, results_file_targets, 2, &w),
                     1); /* removes case 1 */
    results_file_write_case(r, 1, VERDICT_PASS, VERDICT_PASS);
    ck_assert_int_eq(results_each_target(r, add_compared, compared, &w), 0);
    ck_assert_uint_eq(compared[0], 4 + 4); /* results_file_fail() */
    ck_assert_uint_eq(compared[1], 9 + 4);
    results_close(r);
}
END_TEST

struct seen {
    int n;
    uint64_t ordinals;
};

static void count(uint64_t ordinal, uint32_t target, enum verdict v, void *user)
{
    (void) target, (void) v;
    struct seen *s = user;
    s->n++;
    s->ordinals += ordinal;
}

START_TEST(a_resumed_run_repeats_incomplete_cases)
{
    results_file_write_killed_run();
    struct results *r = results_file_open();
    struct why w;
    struct run_row other = results_file_run;
    struct seen seen = { 0 };
    other.options = "{\"seed\":\"8\"}";
    ck_assert_int_eq(results_resume_run(r, &other, results_file_targets, 2, &w), 0);
    ck_assert_int_eq(results_resume_run(r, &results_file_run, results_file_targets, 1, &w), 0);
    ck_assert_int_eq(results_resume_run(r, &results_file_run, results_file_targets, 2, &w), 1);
    ck_assert_int_eq(results_run(r), 1);
    ck_assert_int_eq(results_each_verdict(r, count, &seen, &w), 0);
    ck_assert_int_eq(seen.n, 2);
    ck_assert_uint_eq(seen.ordinals, 0);
    results_file_write_case(r, 1, VERDICT_PASS, VERDICT_PASS);
    ck_assert_int_eq(results_finish_run(r, 1.5, &w), 0);
    results_close(r);
    r = results_file_open();
    ck_assert_int_eq(results_resume_run(r, &results_file_run, results_file_targets, 2, &w),
                     0); /* finished runs are not resumed */
    results_close(r);
}
END_TEST

START_TEST(a_failing_case_without_its_spec_was_not_run)
{
    results_file_write_killed_run();
    results_file_sql("UPDATE cases SET spec = NULL");
    struct results *r = results_file_open();
    struct why w;
    struct seen seen = { 0 };
    ck_assert_int_eq(results_resume_run(r, &results_file_run, results_file_targets, 2, &w), 1);
    ck_assert_int_eq(results_each_verdict(r, count, &seen, &w), 0);
    ck_assert_int_eq(seen.n, 0);
    results_close(r);
}
END_TEST

/* ---- the owner of a run */

/* 1: the run can be resumed, -1: another process writes it. */
static int resume(struct why *w)
{
    struct results *r = results_file_open();
    int resumed = results_resume_run(r, &results_file_run, results_file_targets, 2, w);
    results_close(r);
    return resumed;
}

START_TEST(a_run_has_one_writer)
{
    results_file_write_killed_run();
    struct results *r = results_file_open();
    struct why w;
    char text[64];
    ck_assert_int_eq(results_resume_run(r, &results_file_run, results_file_targets, 2, &w), 1);
    ck_assert_int_eq(resume(&w), -1);
    ck_assert_int_eq(w.code, WHY_INVALID);
    snprintf(text, sizeof text, "run 1 is being written by process %d", (int) getpid());
    ck_assert_msg(strstr(w.text, text), "%s", w.text);
    results_close(r);
    ck_assert_int_eq(results_file_int("SELECT owner_pid IS NULL FROM runs"), 1);
    ck_assert_int_eq(resume(&w), 1);
}
END_TEST

/* Makes a run whose writer was killed, then changes its row. */
static void write_owned_run(const char *change)
{
    results_file_write_killed_run();
    pid_t pid = fork();
    if (pid == 0) {
        struct results *r;
        _exit(results_open(results_path, RESULTS_WRITE, &r, NULL) == 0 &&
                      results_resume_run(r, &results_file_run, results_file_targets, 2, NULL) == 1
                  ? 0
                  : 1);
    }
    int status;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
    ck_assert_int_eq(results_file_int("SELECT owner_pid FROM runs"), pid);
    results_file_sql(change);
}

START_TEST(a_dead_writer_does_not_block)
{
    struct why w;
    write_owned_run("");
    ck_assert_msg(resume(&w) == 1, "%s", w.text);
}
END_TEST

START_TEST(a_process_that_reuses_the_pid_does_not_block)
{
    char change[128];
    struct why w;
    snprintf(change, sizeof change, "UPDATE runs SET owner_pid = %d, owner_start = 1", getpid());
    write_owned_run(change);
    ck_assert_msg(resume(&w) == 1, "%s", w.text);
}
END_TEST

START_TEST(a_writer_elsewhere_blocks_while_its_heart_beats)
{
    struct why w;
    write_owned_run("UPDATE runs SET owner_place = 'moon 1 2'");
    ck_assert_int_eq(resume(&w), -1);
    ck_assert_msg(strstr(w.text, "on moon"), "%s", w.text);
    results_file_sql("UPDATE runs SET heartbeat = heartbeat - 100");
    ck_assert_msg(resume(&w) == 1, "%s", w.text);
}
END_TEST

START_TEST(a_run_that_was_taken_over_is_left)
{
    results_file_write_killed_run();
    struct results *r = results_file_open();
    struct why w;
    ck_assert_int_eq(results_resume_run(r, &results_file_run, results_file_targets, 2, &w), 1);
    ck_assert_int_eq(results_heartbeat(r, &w), 0);
    results_file_sql("UPDATE runs SET owner_pid = 1");
    results_file_write_case(r, 2, VERDICT_PASS, VERDICT_PASS);
    ck_assert_int_eq(results_finish_run(r, 1, &w), -1);
    ck_assert_msg(strstr(w.text, "another process has taken over run 1"), "%s", w.text);
    results_close(r);
    ck_assert_int_eq(results_file_int("SELECT count(*) FROM cases WHERE ordinal = 2"), 0);
    ck_assert_int_eq(results_file_int("SELECT owner_pid FROM runs"), 1);
}
END_TEST

START_TEST(a_flaky_verdict_has_its_attempts)
{
    struct results *r = results_file_open();
    struct why w;
    struct check_result pass = { .verdict = VERDICT_PASS, .judge = JUDGE_BOUND, .output = -1 };
    struct check_result flaky = results_file_fail();
    flaky.verdict = VERDICT_FLAKY;
    flaky.was = VERDICT_FAIL;
    flaky.attempts = 4;
    flaky.failed_attempts = 1;
    struct verdict_row rows[2] = { { .result = &pass }, { .result = &flaky } };
    struct case_row c = { .name = "random/s7/i0", .level = 1, .verdict = rows };
    ck_assert_int_eq(results_start_run(r, &results_file_run, results_file_targets, 2, &w), 0);
    ck_assert_int_eq(results_write_case(r, &c, &w), 0);
    results_close(r);
    ck_assert_int_eq(results_file_int("SELECT count(*) FROM failures WHERE verdict = 'flaky' AND "
                                      "was = 'fail' AND attempts = 4 AND failed_attempts = 1"),
                     1);
    ck_assert_int_eq(results_file_int("SELECT count(*) FROM details WHERE attempts IS NULL"), 1);
}
END_TEST

/* Of the targets in their order. */
static int compare_blamed(const struct recorded_verdict *v, void *user, struct why *w)
{
    const struct blamed *const *expected = user,
                               *b = expected[strcmp(v->target, results_file_targets[0].uri) != 0];
    struct check_result r;
    (void) w;
    recorded_result(v, &r);
    ck_assert_uint_eq(r.blamed.count, b->count);
    ck_assert(r.blamed.graph == b->graph && r.blamed.operation == b->operation);
    ck_assert_str_eq(r.blamed.name, b->name);
    ck_assert_str_eq(r.blamed.why, b->why);
    ck_assert_int_eq(r.blamed.output, b->output);
    ck_assert(!strcmp(r.blamed.place, b->place) && !strcmp(r.blamed.type, b->type));
    ck_assert(isnan(r.blamed.actual) == isnan(b->actual) && r.blamed.ratio == b->ratio);
    return 0;
}

START_TEST(a_verdict_has_the_blamed_operations)
{
    struct results *r = results_file_open();
    struct why w;
    struct recorded_filter all = { 0 };
    struct check_result fail = results_file_fail(), none = results_file_fail();
    fail.blamed = (struct blamed){ .count = 2,
                                   .graph = 1,
                                   .operation = 3,
                                   .name = "CONV_2D (3), RELU (5)",
                                   .why = "wrong",
                                   .output = 1,
                                   .place = "[0,2]",
                                   .type = "TENSOR_FLOAT32",
                                   .actual = NAN,
                                   .ratio = INFINITY };
    none.blamed = (struct blamed){ .why = "it does not repeat", .output = -1 };
    struct verdict_row rows[2] = { { .result = &fail }, { .result = &none } };
    struct case_row c = { .name = "random/s7/i0", .level = 1, .verdict = rows };
    ck_assert_int_eq(results_start_run(r, &results_file_run, results_file_targets, 2, &w), 0);
    ck_assert_int_eq(results_write_case(r, &c, &w), 0);
    results_close(r);
    ck_assert_int_eq(results_open(results_path, RESULTS_READ, &r, &w), 0);
    ck_assert_int_eq(results_each_recorded(r, &all, compare_blamed,
                                           (const struct blamed *[]){ &fail.blamed, &none.blamed },
                                           &w),
                     0);
    results_close(r);
    ck_assert_int_eq(
        results_file_int("SELECT blamed_count FROM failures WHERE blamed_actual IS NULL AND "
                         "blamed_index = 3 AND blamed_output = 1"),
        2);
}
END_TEST

/* ---- what is rejected */

static void expect_rejected(const char *expected)
{
    struct results *r;
    struct why w;
    ck_assert_int_eq(results_open(results_path, RESULTS_WRITE, &r, &w), -1);
    ck_assert_int_eq(w.code, WHY_INVALID);
    ck_assert_msg(strstr(w.text, expected), "%s", w.text);
    ck_assert_msg(strstr(w.text, results_path), "%s", w.text);
}

START_TEST(names_of_no_file_are_rejected)
{
    static const char *const name[] = { "", ":memory:", "file:r.db?mode=memory" };
    struct results *r;
    struct why w;
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(results_open(name[i], RESULTS_WRITE, &r, &w), -1);
        ck_assert_int_eq(w.code, WHY_INVALID);
        ck_assert_msg(strstr(w.text, "expected the path of a file"), "%s", w.text);
    }
}
END_TEST

START_TEST(other_files_are_rejected)
{
    FILE *f = fopen(results_path, "w");
    ck_assert_ptr_nonnull(f);
    for (int i = 0; i < 200; i++)
        fputs("text that is long enough\n", f);
    fclose(f);
    expect_rejected("not a database");
    struct stat about;
    ck_assert_int_eq(stat(results_path, &about), 0);
    ck_assert_int_eq(about.st_size, 200 * 25);
}
END_TEST

START_TEST(other_databases_are_rejected)
{
    results_file_sql("CREATE TABLE t (x)");
    expect_rejected("not a results database");
}
END_TEST

START_TEST(newer_schemas_are_rejected)
{
    results_file_write_killed_run();
    results_file_sql("PRAGMA user_version = 1000");
    expect_rejected("schema version 1000");
}
END_TEST

START_TEST(reading_creates_no_file)
{
    struct results *r;
    struct why w;
    ck_assert_int_eq(results_open(results_path, RESULTS_READ, &r, &w), -1);
    ck_assert_int_eq(w.code, WHY_INVALID);
    ck_assert_int_eq(access(results_path, F_OK), -1);
}
END_TEST

static int64_t size_beside(const char *ending)
{
    char path[96];
    struct stat about;
    snprintf(path, sizeof path, "%s%s", results_path, ending);
    return stat(path, &about) == 0 ? (int64_t) about.st_size : -1;
}

START_TEST(a_reader_leaves_an_empty_log_which_a_writer_removes)
{
    struct results *r;
    struct why w;
    results_file_write_killed_run();
    ck_assert_int_eq(size_beside("-wal"), -1);
    ck_assert_int_eq(results_open(results_path, RESULTS_READ, &r, &w), 0);
    struct recorded_case f;
    ck_assert_int_eq(results_find_case(r, "random/v2/s7/i0", &f, &w), 1);
    recorded_case_done(&f);
    results_close(r);
    ck_assert_int_eq(size_beside("-wal"), 0);
    ck_assert_int_gt(size_beside("-shm"), 0);
    results_close(results_file_open());
    ck_assert_int_eq(size_beside("-wal"), -1);
    ck_assert_int_eq(size_beside("-shm"), -1);
}
END_TEST

/* File modes do not restrict root, so as root the test changes its user ID to an unprivileged one.
 * Check runs each test in a child process: the change ends with the test. */
START_TEST(read_only_databases_are_readable)
{
    struct results *r = NULL;
    struct why w;
    ck_assert_int_eq(results_open(results_path, RESULTS_WRITE, &r, &w), 0);
    ck_assert_int_eq(results_start_run(r, &results_file_run, results_file_targets, 2, &w), 0);
    results_close(r);
    ck_assert_int_eq(chmod(results_path, 0444), 0);
    ck_assert_int_eq(chmod(results_folder, 0555), 0);
    bool root = geteuid() == 0;
    ck_assert(!root || seteuid(65534) == 0);
    ck_assert_msg(results_open(results_path, RESULTS_READ, &r, &w) == 0, "%s", w.text);
    results_close(r);
    ck_assert_int_eq(results_open(results_path, RESULTS_WRITE, &r, &w), -1);
    ck_assert_int_eq(w.code, WHY_INVALID);
    ck_assert(!root || seteuid(0) == 0);
    ck_assert_int_eq(chmod(results_folder, 0755), 0);
}
END_TEST

Suite *results_suite(void)
{
    TCase *t = tcase_create("results");
    tcase_add_checked_fixture(t, results_file_make, results_file_remove);
    tcase_add_test(t, cases_are_found);
    tcase_add_test(t, views_aggregate_verdicts);
    tcase_add_test(t, verdicts_and_conformance_match_the_list);
    tcase_add_test(t, a_resumed_run_repeats_incomplete_cases);
    tcase_add_test(t, a_case_written_again_is_replaced);
    tcase_add_test(t, a_verdict_is_amended);
    tcase_add_test(t, junit_has_what_the_driver_printed);
    tcase_add_test(t, a_note_is_kept_once);
    tcase_add_test(t, compared_elements_are_counted_by_target);
    tcase_add_test(t, a_failing_case_without_its_spec_was_not_run);
    tcase_add_test(t, a_run_has_one_writer);
    tcase_add_test(t, a_dead_writer_does_not_block);
    tcase_add_test(t, a_process_that_reuses_the_pid_does_not_block);
    tcase_add_test(t, a_writer_elsewhere_blocks_while_its_heart_beats);
    tcase_add_test(t, a_run_that_was_taken_over_is_left);
    tcase_add_test(t, a_flaky_verdict_has_its_attempts);
    tcase_add_test(t, a_verdict_has_the_blamed_operations);
    tcase_add_test(t, names_of_no_file_are_rejected);
    tcase_add_test(t, other_files_are_rejected);
    tcase_add_test(t, other_databases_are_rejected);
    tcase_add_test(t, newer_schemas_are_rejected);
    tcase_add_test(t, reading_creates_no_file);
    tcase_add_test(t, a_reader_leaves_an_empty_log_which_a_writer_removes);
    tcase_add_test(t, read_only_databases_are_readable);
    return make_suite("results", t, NULL);
}
