/* The results database: written rows are found again, runs are resumed, and files that are no
 * results database are rejected and not changed. */
#include <check.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/store/results.h"
#include "tests/support/check_main.h"

static char folder[] = "/tmp/halcyon-test-XXXXXX";
static char path[64];

static void make_folder(void)
{
    strcpy(folder, "/tmp/halcyon-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/r.db", folder);
}

static void remove_folder(void)
{
    char name[80];
    static const char *const ending[] = { "", "-wal", "-shm", "-journal" };
    for (int i = 0; i < 4; i++) {
        snprintf(name, sizeof name, "%s%s", path, ending[i]);
        unlink(name);
    }
    rmdir(folder);
}

static const struct run_row run = { .kind = "random",
                                    .command = "halcyon random -d golden",
                                    .options = "{\"seed\":\"7\"}",
                                    .judge = "bound",
                                    .n_cases = 3 };
static const struct target_row targets[] = {
    { "golden", "golden", "1", "CPU", "fl8" },
    { "sim:cpu?fault=nan", "cpu", "1", "CPU", "1.3" },
};

static struct check_result a_fail(void)
{
    return (struct check_result){ .verdict = VERDICT_FAIL,
                                  .judge = JUDGE_BOUND,
                                  .stage = "done",
                                  .status = "NONE",
                                  .why = "one element",
                                  .device_ns = HAL_NO_TIME,
                                  .checked = 4,
                                  .wrong = 1,
                                  .element = 2,
                                  .expected = 1,
                                  .actual = NAN,
                                  .bound = 0.5,
                                  .ratio = INFINITY,
                                  .place = "[0,2]",
                                  .operation = "ADD",
                                  .type = "TENSOR_FLOAT32" };
}

static struct results *open_new(void)
{
    struct results *r;
    struct why w;
    ck_assert_msg(results_open(path, RESULTS_WRITE, &r, &w) == 0, "%s", w.text);
    return r;
}

static int64_t add_case(struct results *r, uint64_t ordinal, const char *name)
{
    struct case_row c = { .ordinal = ordinal,
                          .name = name,
                          .seed = UINT64_MAX,
                          .index = ordinal,
                          .level = 3,
                          .n_operations = 1 };
    struct why w;
    int64_t id;
    ck_assert_msg(results_add_case(r, &c, &id, &w) == 0, "%s", w.text);
    return id;
}

static void add_verdict(struct results *r, int64_t id, uint32_t target, enum verdict v)
{
    struct why w;
    struct check_result result = a_fail();
    result.verdict = v;
    ck_assert_msg(
        results_add_verdict(r, id, target, &result, v == VERDICT_PASS ? NULL : "replay", &w) == 0,
        "%s", w.text);
}

/* Writes a run that was killed after case 0 and one of the two targets of case 1. */
static void write_killed_run(void)
{
    struct results *r = open_new();
    struct why w;
    ck_assert_int_eq(results_start_run(r, &run, targets, 2, &w), 0);
    int64_t id = add_case(r, 0, "random/s7/i0");
    ck_assert_int_eq(results_add_operation(r, id, "ADD", "TENSOR_FLOAT32", &w), 0);
    add_verdict(r, id, 0, VERDICT_PASS);
    add_verdict(r, id, 1, VERDICT_FAIL);
    ck_assert_int_eq(results_add_spec(r, id, "the spec", 8, "the graph", &w), 0);
    id = add_case(r, 1, "random/s7/i1");
    add_verdict(r, id, 0, VERDICT_PASS);
    results_close(r);
}

static int64_t query_int(const char *sql)
{
    sqlite3 *db;
    sqlite3_stmt *s;
    ck_assert_int_eq(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    ck_assert_int_eq(sqlite3_prepare_v2(db, sql, -1, &s, NULL), SQLITE_OK);
    ck_assert_int_eq(sqlite3_step(s), SQLITE_ROW);
    int64_t answer = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    sqlite3_close(db);
    return answer;
}

START_TEST(cases_are_found)
{
    write_killed_run();
    struct results *r;
    struct recorded_case f;
    struct why w;
    ck_assert_int_eq(results_open(path, RESULTS_READ, &r, &w), 0);
    ck_assert_int_eq(results_find_case(r, "random/s7/i9", &f, &w), 0);
    ck_assert_int_eq(results_find_case(r, "random/s7/i0", &f, &w), 1);
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
    write_killed_run();
    ck_assert_int_eq(query_int("SELECT n FROM totals_by_verdict WHERE verdict = 'pass'"), 2);
    ck_assert_int_eq(query_int("SELECT count(*) FROM failures"), 1);
    ck_assert_int_eq(query_int("SELECT sum(n) FROM totals_by_operation WHERE operation = 'ADD'"),
                     2);
    ck_assert_int_eq(query_int("SELECT actual IS NULL AND ratio > 1e300 FROM failures"), 1);
    ck_assert_int_eq(query_int("SELECT device_ns IS NULL FROM failures"), 1);
}
END_TEST

START_TEST(verdicts_and_conformance_match_the_list)
{
    struct results *r = open_new();
    struct why w;
    char sql[160];
    ck_assert_int_eq(results_start_run(r, &run, targets, 2, &w), 0);
    for (int v = 0; v < VERDICT_COUNT; v++)
        add_verdict(r, add_case(r, (uint64_t) v, verdict_name[v]), 0, (enum verdict) v);
    results_close(r);
    ck_assert_int_eq(query_int("SELECT count(*) FROM details WHERE name = verdict"), VERDICT_COUNT);
    for (int v = 0; v < VERDICT_COUNT; v++) {
        snprintf(sql, sizeof sql, "SELECT conforming FROM details WHERE verdict = '%s'",
                 verdict_name[v]);
        ck_assert_msg(query_int(sql) == verdict_conforming((enum verdict) v), "%s",
                      verdict_name[v]);
    }
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
    write_killed_run();
    struct results *r = open_new();
    struct why w;
    struct run_row other = run;
    struct seen seen = { 0 };
    other.options = "{\"seed\":\"8\"}";
    ck_assert_int_eq(results_resume_run(r, &other, targets, 2, &w), 0);
    ck_assert_int_eq(results_resume_run(r, &run, targets, 1, &w), 0);
    ck_assert_int_eq(results_resume_run(r, &run, targets, 2, &w), 1);
    ck_assert_int_eq(results_run(r), 1);
    ck_assert_int_eq(results_each_verdict(r, count, &seen, &w), 0);
    ck_assert_int_eq(seen.n, 2);
    ck_assert_uint_eq(seen.ordinals, 0);
    add_verdict(r, add_case(r, 1, "random/s7/i1"), 0, VERDICT_PASS);
    ck_assert_int_eq(results_finish_run(r, 1.5, &w), 0);
    results_close(r);
    r = open_new();
    ck_assert_int_eq(results_resume_run(r, &run, targets, 2, &w),
                     0); /* finished runs are not resumed */
    results_close(r);
}
END_TEST

static void expect_rejected(const char *expected)
{
    struct results *r;
    struct why w;
    ck_assert_int_eq(results_open(path, RESULTS_WRITE, &r, &w), -1);
    ck_assert_int_eq(w.code, WHY_INVALID);
    ck_assert_msg(strstr(w.text, expected), "%s", w.text);
    ck_assert_msg(strstr(w.text, path), "%s", w.text);
}

static void make_database(const char *sql)
{
    sqlite3 *db;
    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

START_TEST(other_files_are_rejected)
{
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    for (int i = 0; i < 200; i++)
        fputs("text that is long enough\n", f);
    fclose(f);
    expect_rejected("not a database");
    struct stat about;
    ck_assert_int_eq(stat(path, &about), 0);
    ck_assert_int_eq(about.st_size, 200 * 25);
}
END_TEST

START_TEST(other_databases_are_rejected)
{
    make_database("CREATE TABLE t (x)");
    expect_rejected("not a results database");
}
END_TEST

START_TEST(newer_schemas_are_rejected)
{
    write_killed_run();
    make_database("PRAGMA user_version = 1000");
    expect_rejected("schema version 1000");
}
END_TEST

START_TEST(reading_creates_no_file)
{
    struct results *r;
    struct why w;
    ck_assert_int_eq(results_open(path, RESULTS_READ, &r, &w), -1);
    ck_assert_int_eq(w.code, WHY_INVALID);
    ck_assert_int_eq(access(path, F_OK), -1);
}
END_TEST

/* File modes do not restrict root, so as root the test changes its user ID to an unprivileged one.
 * Check runs each test in a child process: the change ends with the test. */
START_TEST(read_only_databases_are_readable)
{
    struct results *r = NULL;
    struct why w;
    ck_assert_int_eq(results_open(path, RESULTS_WRITE, &r, &w), 0);
    ck_assert_int_eq(results_start_run(r, &run, targets, 2, &w), 0);
    results_close(r);
    ck_assert_int_eq(chmod(path, 0444), 0);
    ck_assert_int_eq(chmod(folder, 0555), 0);
    bool root = geteuid() == 0;
    ck_assert(!root || seteuid(65534) == 0);
    ck_assert_msg(results_open(path, RESULTS_READ, &r, &w) == 0, "%s", w.text);
    results_close(r);
    ck_assert_int_eq(results_open(path, RESULTS_WRITE, &r, &w), -1);
    ck_assert_int_eq(w.code, WHY_INVALID);
    ck_assert(!root || seteuid(0) == 0);
    ck_assert_int_eq(chmod(folder, 0755), 0);
}
END_TEST

Suite *results_suite(void)
{
    TCase *t = tcase_create("results");
    tcase_add_checked_fixture(t, make_folder, remove_folder);
    tcase_add_test(t, cases_are_found);
    tcase_add_test(t, views_aggregate_verdicts);
    tcase_add_test(t, verdicts_and_conformance_match_the_list);
    tcase_add_test(t, a_resumed_run_repeats_incomplete_cases);
    tcase_add_test(t, other_files_are_rejected);
    tcase_add_test(t, other_databases_are_rejected);
    tcase_add_test(t, newer_schemas_are_rejected);
    tcase_add_test(t, reading_creates_no_file);
    tcase_add_test(t, read_only_databases_are_readable);
    return make_suite("results", t, NULL);
}
