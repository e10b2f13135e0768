/* The results database: written cases are found again and replaced when written again, runs are
 * resumed by one process at a time, databases of version 1 are read and upgraded, and files that
 * are no results database are rejected and not changed. */
#include <check.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/store/run_export.h"
#include "reports/packed_text.h"
#include "reports/reports.h"
#include "tests/harness/store/results_file.h"
#include "tests/support/check_main.h"

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

/* Writes a case of random/v2/s7 with these verdicts; failing ones get a specification. */
static void write_case(struct results *r, uint64_t ordinal, enum verdict first, enum verdict second)
{
    char name[32];
    struct check_result result[2] = { a_fail(), a_fail() };
    struct verdict_row verdict[2] = { { .result = &result[0] }, { .result = &result[1] } };
    result[0].verdict = first;
    result[1].verdict = second;
    for (int t = 0; t < 2; t++)
        verdict[t].replay = verdict_conforming(result[t].verdict) ? NULL : "replay";
    bool conforming = verdict_conforming(first) && verdict_conforming(second);
    snprintf(name, sizeof name, "random/v2/s7/i%d", (int) ordinal);
    struct case_row c = { .ordinal = ordinal,
                          .name = name,
                          .seed = UINT64_MAX,
                          .index = ordinal,
                          .level = 3,
                          .n_operations = 1,
                          .operations = "ADD\tTENSOR_FLOAT32\nADD\tTENSOR_FLOAT32\n",
                          .verdict = verdict };
    if (!conforming)
        c.spec = (struct spec_row){ "the spec", 8 };
    struct why w;
    ck_assert_msg(results_write_case(r, &c, &w) == 0, "%s", w.text);
}

static void run_sql(const char *sql)
{
    sqlite3 *db;
    char *error = NULL;
    ck_assert_int_eq(sqlite3_open(results_path, &db), SQLITE_OK);
    ck_assert_int_eq(packed_text_functions(db), SQLITE_OK);
    ck_assert_msg(sqlite3_exec(db, sql, NULL, NULL, &error) == SQLITE_OK, "%s", error);
    sqlite3_close(db);
}

/* Writes a run that was left after case 0 and one of the two targets of case 1. */
static void write_killed_run(void)
{
    struct results *r = results_file_open();
    struct why w;
    ck_assert_int_eq(results_start_run(r, &results_file_run, results_file_targets, 2, &w), 0);
    write_case(r, 0, VERDICT_PASS, VERDICT_FAIL);
    write_case(r, 1, VERDICT_PASS, VERDICT_PASS);
    results_close(r);
    run_sql("DELETE FROM verdicts WHERE case_id = 2 AND target = 2");
}

START_TEST(cases_are_found)
{
    write_killed_run();
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
    write_killed_run();
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
        write_case(r, (uint64_t) v, (enum verdict) v, VERDICT_PASS);
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
    write_case(r, 0, VERDICT_FAIL, VERDICT_FAIL);
    write_case(r, 0, VERDICT_PASS, VERDICT_FAIL);
    ck_assert_int_eq(results_commit(r, &w), 0);
    write_case(r, 0, VERDICT_PASS, VERDICT_PASS);
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
    struct check_result result = a_fail();
    struct verdict_row late = { .result = &result, .printed = "text", .backtrace = "#0 main" };
    struct spec_row spec = { "late spec", 9 };
    result.verdict = VERDICT_VIOLATION;
    ck_assert_int_eq(results_start_run(r, &results_file_run, results_file_targets, 2, &w), 0);
    write_case(r, 0, VERDICT_PASS, VERDICT_PASS);
    write_case(r, 1, VERDICT_FAIL, VERDICT_PASS);
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
    struct check_result result = a_fail();
    struct verdict_row late = { .result = &result, .printed = "<a>\nb", .backtrace = "#0 main" };
    struct spec_row spec = { 0 };
    char name[80], text[4000] = "";
    strcpy(result.confirmed, "repeats");
    ck_assert_int_eq(results_start_run(r, &results_file_run, results_file_targets, 2, &w), 0);
    write_case(r, 0, VERDICT_PASS, VERDICT_PASS);
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
    write_killed_run();
    run_sql("UPDATE verdicts SET checked = 9 WHERE case_id = 1 AND target = 2");
    struct results *r = results_file_open();
    struct why w;
    uint64_t compared[2] = { 0 };
    ck_assert_int_eq(results_resume_run(r, &results_file_run, results_file_targets, 2, &w),
                     1); /* removes case 1 */
    write_case(r, 1, VERDICT_PASS, VERDICT_PASS);
    ck_assert_int_eq(results_each_target(r, add_compared, compared, &w), 0);
    ck_assert_uint_eq(compared[0], 4 + 4); /* a_fail() */
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
    write_killed_run();
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
    write_case(r, 1, VERDICT_PASS, VERDICT_PASS);
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
    write_killed_run();
    run_sql("UPDATE cases SET spec = NULL");
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
    write_killed_run();
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
    write_killed_run();
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
    run_sql(change);
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
    run_sql("UPDATE runs SET heartbeat = heartbeat - 100");
    ck_assert_msg(resume(&w) == 1, "%s", w.text);
}
END_TEST

START_TEST(a_run_that_was_taken_over_is_left)
{
    write_killed_run();
    struct results *r = results_file_open();
    struct why w;
    ck_assert_int_eq(results_resume_run(r, &results_file_run, results_file_targets, 2, &w), 1);
    ck_assert_int_eq(results_heartbeat(r, &w), 0);
    run_sql("UPDATE runs SET owner_pid = 1");
    write_case(r, 2, VERDICT_PASS, VERDICT_PASS);
    ck_assert_int_eq(results_finish_run(r, 1, &w), -1);
    ck_assert_msg(strstr(w.text, "another process has taken over run 1"), "%s", w.text);
    results_close(r);
    ck_assert_int_eq(results_file_int("SELECT count(*) FROM cases WHERE ordinal = 2"), 0);
    ck_assert_int_eq(results_file_int("SELECT owner_pid FROM runs"), 1);
}
END_TEST

/* ---- version 1 */

static const char version_1[] =
    "PRAGMA application_id = 1212238937; "
    "PRAGMA user_version = 1; "
    "CREATE TABLE runs (run INTEGER PRIMARY KEY, kind TEXT NOT NULL, command TEXT NOT "
    "NULL, options TEXT NOT NULL, version TEXT NOT NULL, judge TEXT NOT NULL, n_cases "
    "INTEGER NOT NULL, started TEXT NOT NULL, finished TEXT, seconds REAL NOT NULL "
    "DEFAULT 0); "
    "CREATE TABLE targets (target INTEGER PRIMARY KEY, run INTEGER NOT NULL REFERENCES "
    "runs ON DELETE CASCADE, ordinal INTEGER NOT NULL, uri TEXT NOT NULL, name TEXT NOT "
    "NULL, version TEXT NOT NULL, type TEXT NOT NULL, hal TEXT NOT NULL, UNIQUE (run, "
    "ordinal)); "
    "CREATE TABLE cases (case_id INTEGER PRIMARY KEY, run INTEGER NOT NULL REFERENCES "
    "runs ON DELETE CASCADE, ordinal INTEGER NOT NULL, name TEXT NOT NULL, file TEXT, "
    "seed INTEGER, idx INTEGER, level INTEGER, n_operations INTEGER NOT NULL, spec TEXT, "
    "dot TEXT, UNIQUE (run, ordinal)); "
    "CREATE INDEX cases_by_name ON cases (name); "
    "CREATE TABLE case_operations (case_id INTEGER NOT NULL REFERENCES cases ON DELETE "
    "CASCADE, operation TEXT NOT NULL, type TEXT NOT NULL, PRIMARY KEY (case_id, "
    "operation, type)) WITHOUT ROWID; "
    "CREATE TABLE verdicts (case_id INTEGER NOT NULL REFERENCES cases ON DELETE CASCADE, "
    "target INTEGER NOT NULL REFERENCES targets ON DELETE CASCADE, verdict TEXT NOT NULL "
    "CHECK (verdict IN "
    "('pass','fail','violation','refused','unsupported','crash','hang','waived','error')), "
    "was TEXT, why TEXT NOT NULL, judge TEXT NOT NULL, stage TEXT NOT NULL, status TEXT "
    "NOT NULL, ms REAL NOT NULL, device_ns INTEGER, checked INTEGER NOT NULL, wrong "
    "INTEGER NOT NULL, output INTEGER, element INTEGER, place TEXT, operation TEXT, type "
    "TEXT, expected REAL, actual REAL, bound REAL, ratio REAL, replay TEXT, PRIMARY KEY "
    "(case_id, target)) WITHOUT ROWID; "
    "CREATE VIEW details AS SELECT c.run, c.case_id, c.ordinal, c.name, c.file, c.seed, "
    "c.idx, c.level, c.n_operations, t.ordinal AS target_ordinal, t.uri, v.verdict, "
    "v.was, v.why, v.judge, v.stage, v.status, v.ms, v.device_ns, v.checked, v.wrong, "
    "v.output, v.element, v.place, v.operation, v.type, v.expected, v.actual, v.bound, "
    "v.ratio, v.replay, c.spec, c.dot, v.verdict IN ('pass','unsupported','waived') AS "
    "conforming FROM verdicts v JOIN cases c USING (case_id) JOIN targets t USING "
    "(target); "
    "CREATE VIEW failures AS SELECT * FROM details WHERE NOT conforming; "
    "CREATE VIEW totals_by_verdict AS SELECT run, verdict, count(*) AS n FROM details "
    "GROUP BY run, verdict; "
    "CREATE VIEW totals_by_target AS SELECT run, target_ordinal, uri, verdict, count(*) "
    "AS n, sum(ms) AS ms FROM details GROUP BY run, target_ordinal, uri, verdict; "
    "CREATE VIEW totals_by_operation AS SELECT c.run, o.operation, v.verdict, count(*) "
    "AS n FROM (SELECT DISTINCT case_id, operation FROM case_operations) o JOIN cases c "
    "USING (case_id) JOIN verdicts v USING (case_id) GROUP BY c.run, o.operation, "
    "v.verdict; "
    "CREATE VIEW totals_by_type AS SELECT c.run, o.type, v.verdict, count(*) AS n FROM "
    "(SELECT DISTINCT case_id, type FROM case_operations) o JOIN cases c USING (case_id) "
    "JOIN verdicts v USING (case_id) GROUP BY c.run, o.type, v.verdict; "
    "CREATE VIEW totals_by_operation_type AS SELECT c.run, o.operation, o.type, "
    "v.verdict, count(*) AS n FROM case_operations o JOIN cases c USING (case_id) JOIN "
    "verdicts v USING (case_id) GROUP BY c.run, o.operation, o.type, v.verdict; ";
static const char content_1[] =
    "INSERT INTO runs VALUES (1, 'random', 'halcyon random -d golden', '{\"seed\":\"7\"}', "
    "'0.3.0', "
    "'bound', 3, '2026-01-01', NULL, 0);"
    "INSERT INTO targets VALUES (1, 1, 0, 'golden', 'golden', '1', 'CPU', 'fl8');"
    "INSERT INTO targets VALUES (2, 1, 1, 'sim:cpu?fault=nan', 'cpu', '1', 'CPU', '1.3');"
    "INSERT INTO cases VALUES (1, 1, 0, 'random/s7/i0', NULL, 7, 0, 3, 1, 'the spec', 'graph {}');"
    "INSERT INTO case_operations VALUES (1, 'ADD', 'TENSOR_FLOAT32');"
    "INSERT INTO verdicts VALUES (1, 1, 'pass', NULL, '', 'bound', 'done', 'NONE', 1, NULL, 4, 0, "
    "NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);"
    "INSERT INTO verdicts VALUES (1, 2, 'fail', NULL, 'one', 'bound', 'done', 'NONE', 1, NULL, 4, "
    "1, 0, 2, '[0,2]', 'ADD', 'TENSOR_FLOAT32', 1, NULL, 0.5, 2, 'replay');";

static void remove_report(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -r '%s/report'", results_folder);
    ck_assert_int_eq(system(command), 0);
}

START_TEST(version_1_is_read_unchanged)
{
    struct results *r;
    struct recorded_case f;
    struct why w;
    char page[96];
    run_sql(version_1);
    run_sql(content_1);
    ck_assert_msg(results_open(results_path, RESULTS_READ, &r, &w) == 0, "%s", w.text);
    ck_assert_int_eq(results_find_case(r, "random/s7/i0", &f, &w), 1);
    ck_assert_str_eq(f.spec, "the spec");
    ck_assert_str_eq(f.target[0], "sim:cpu?fault=nan");
    recorded_case_done(&f);
    results_close(r);
    snprintf(page, sizeof page, "%s/report", results_folder);
    ck_assert_msg(report_write(results_path, page, NULL, &w) == 0, "%s", w.text);
    remove_report();
    ck_assert_int_eq(results_file_int("PRAGMA user_version"), 1);
}
END_TEST

START_TEST(version_1_is_upgraded_when_written)
{
    struct results *r;
    struct why w;
    run_sql(version_1);
    run_sql(content_1);
    r = results_file_open();
    ck_assert_int_eq(results_resume_run(r, &results_file_run, results_file_targets, 2, &w), 1);
    write_case(r, 1, VERDICT_PASS, VERDICT_HANG);
    ck_assert_int_eq(results_add_note(r, 1, "memory grows", &w), 0);
    ck_assert_int_eq(results_finish_run(r, 1, &w), 0);
    results_close(r);
    ck_assert_int_eq(results_file_int("PRAGMA user_version"), 6);
    ck_assert_int_eq(results_file_int("SELECT count(*) FROM details WHERE confirmed IS NULL"), 4);
    ck_assert_int_eq(results_file_int("SELECT count(*) FROM failures WHERE replay = 'replay'"), 2);
    ck_assert_int_eq(results_file_int("SELECT n FROM totals_by_verdict WHERE verdict = 'pass'"), 2);
    ck_assert_int_eq(results_file_int("SELECT count(*) FROM pragma_foreign_key_check"), 0);
    ck_assert_int_eq(
        results_file_int("SELECT count(*) FROM sqlite_schema WHERE name = 'verdicts_1'"), 0);
}
END_TEST

/* Makes a database one of version 5, which has graphs, plain specifications and fewer views. */
#define AS_VERSION_5                                                                               \
    "DROP VIEW failing; DROP VIEW bugs; DROP VIEW bug_targets; DROP VIEW target_verdicts; "        \
    "DROP VIEW operation_verdicts; DROP VIEW ratio_bins; DROP VIEW flaky_cases; DROP VIEW "        \
    "waivers; DROP VIEW trend; DROP VIEW not_compared; DROP INDEX verdicts_by_target; DROP "       \
    "INDEX verdicts_by_verdict; ALTER TABLE cases ADD COLUMN dot TEXT; UPDATE cases SET dot "      \
    "= 'graph {}', spec = text_of(spec); PRAGMA user_version = 5; "

/* Makes it one of version 4, which lacks columns of verdicts, and of the view `details`. */
#define AS_VERSION_4                                                                               \
    AS_VERSION_5                                                                                   \
    "PRAGMA writable_schema = ON; "                                                                \
    "UPDATE sqlite_schema SET sql = substr(sql, 1, instr(sql, ', v.failed_attempts') + 18) || "    \
    "substr(sql, instr(sql, 'v.blamed_why') + 12) WHERE name = 'details'; "                        \
    "PRAGMA writable_schema = RESET; "                                                             \
    "ALTER TABLE verdicts DROP COLUMN blamed_count; "                                              \
    "ALTER TABLE verdicts DROP COLUMN blamed_graph; "                                              \
    "ALTER TABLE verdicts DROP COLUMN blamed_type; "                                               \
    "ALTER TABLE verdicts DROP COLUMN blamed_output; "                                             \
    "ALTER TABLE verdicts DROP COLUMN blamed_why; PRAGMA user_version = 4;"

/* Makes it one of version 3, which lacks two more. */
static const char as_version_3[] = AS_VERSION_4
    "PRAGMA writable_schema = ON; "
    "UPDATE sqlite_schema SET sql = replace(sql, ', v.attempts, v.failed_attempts', ''); "
    "PRAGMA writable_schema = RESET; "
    "ALTER TABLE verdicts DROP COLUMN attempts; "
    "ALTER TABLE verdicts DROP COLUMN failed_attempts; PRAGMA user_version = 3;";

/* Two runs with other options have cases of one name. */
static const char two_runs[] =
    "PRAGMA foreign_keys = OFF; "
    "DELETE FROM cases; DELETE FROM verdicts; DELETE FROM targets; DELETE FROM runs; "
    "INSERT INTO runs (run, kind, command, options, version, judge, n_cases, started, finished) "
    "VALUES (1, 'random', '', '{\"graphs\":\" --ops 1-5 --op ADD --types "
    "TENSOR_FLOAT32,TENSOR_INT32 --max-dim 4 --level 2\"}', '0.3.0', 'bound', 1, '', ''), "
    "(2, 'random', '', '{\"graphs\":\"\"}', '0.3.0', 'bound', 1, '', ''), "
    "(3, 'run', '', 'not JSON', '0.3.0', 'bound', 1, '', ''); "
    "INSERT INTO targets SELECT run, run, 0, 'a', '', '', '', '' FROM runs; "
    "INSERT INTO cases (case_id, run, ordinal, name, n_operations) VALUES "
    "(1, 1, 0, 'random/s7/i0', 1), (2, 2, 0, 'random/s7/i0', 1); "
    "INSERT INTO cases (case_id, run, ordinal, name, file, n_operations) VALUES "
    "(3, 3, 0, 'random/s7/i0', 'x.jsonl', 1), (4, 3, 1, 'random/single/s-1', 'x.jsonl', 1); "
    "INSERT INTO verdicts (case_id, target, verdict, why, judge, stage, status, ms, checked, "
    "wrong, replay) VALUES "
    "(1, 1, 'fail', '', 'bound', 'done', 'NONE', 1, 1, 1, 'halcyon replay random/s7/i0 --ops 1-5 "
    "--op ADD --types TENSOR_FLOAT32,TENSOR_INT32 --max-dim 4 --level 2 -d a'), "
    "(2, 2, 'fail', '', 'bound', 'done', 'NONE', 1, 1, 1, 'halcyon replay random/s7/i0 -d a'), "
    "(3, 3, 'fail', '', 'bound', 'done', 'NONE', 1, 1, 1, 'halcyon replay x.jsonl --case "
    "random/s7/i0 -d a');";

/* The failures that a report lists. */
static int failures_of_report(void)
{
    char page[128], *line = NULL;
    struct why w;
    size_t size = 0;
    int n = 0;
    snprintf(page, sizeof page, "%s/report", results_folder);
    ck_assert_msg(report_write(results_path, page, NULL, &w) == 0, "%s", w.text);
    strcat(page, "/data/details-0001.js"); /* a line for each; none: there is no such file */
    FILE *file = fopen(page, "re");
    while (file && getline(&line, &size, file) >= 0)
        n += strstr(line, "halcyon replay ") != NULL;
    free(line);
    if (file)
        fclose(file);
    remove_report();
    return n;
}

/* Passes without a comparison; those with one, of a status or of elements, stay. */
START_TEST(passes_of_version_3_become_undecided)
{
    results_close(results_file_open());
    run_sql(as_version_3);
    run_sql(two_runs);
    run_sql("UPDATE verdicts SET verdict = 'pass', checked = 0, replay = NULL, why = CASE case_id "
            "WHEN 1 THEN 'no element could be compared; lost at this HAL version: x' "
            "WHEN 2 THEN 'undecided: the right number of elements is open' "
            "ELSE 'execution fails, as the example requires' END");
    ck_assert_int_eq(failures_of_report(), 0);
    ck_assert_int_eq(results_file_int("PRAGMA user_version"), 3);
    results_close(results_file_open());
    ck_assert_int_eq(
        results_file_int("SELECT count(*) FROM details WHERE verdict = 'undecided' AND "
                         "conforming AND case_id IN (1, 2)"),
        2);
    ck_assert_int_eq(results_file_int("SELECT count(*) FROM details WHERE verdict = 'pass'"), 1);
    ck_assert_int_eq(results_file_int("SELECT count(*) FROM pragma_foreign_key_check"), 0);
}
END_TEST

/* Texts of earlier databases are compressed with this dictionary; zlib finds it by its Adler-32 sum
 * in bytes 2 to 5 of the header (RFC 1950). */
START_TEST(the_dictionary_of_texts_is_that_of_earlier_databases)
{
    results_close(results_file_open());
    ck_assert_int_eq(results_file_int("SELECT hex(substr(packed(replace(hex(zeroblob(50)), '00', "
                                      "'ADD ')), 3, 4)) = '2D84B0C0'"),
                     1);
    ck_assert_int_eq(results_file_int("SELECT text_of(packed(replace(hex(zeroblob(50)), '00', "
                                      "'ADD '))) = replace(hex(zeroblob(50)), '00', 'ADD ')"),
                     1);
    /* Without a dictionary: "model = Model()" in the zlib format. */
    ck_assert_int_eq(
        results_file_int(
            "SELECT text_of(x'789ccbcd4f49cd51b055f005d11a9a00295704d1') = 'model = Model()'"),
        1);
}
END_TEST

/* A report needs no upgrade.  Before version 4 the two cases of one name are different ones. */
START_TEST(older_versions_are_reported)
{
    static const struct {
        const char *sql, *more;
        int version, failures;
    } older[] = { { as_version_3, "DROP TABLE unloaded_files; PRAGMA user_version = 2", 2, 3 },
                  { as_version_3, "", 3, 3 },
                  { AS_VERSION_4, "", 4, 2 },
                  { AS_VERSION_5, "", 5, 2 } };
    struct why w;
    char *summary = NULL;
    size_t size = 0;
    results_close(results_file_open());
    run_sql(older[_i].sql);
    run_sql(older[_i].more);
    run_sql(two_runs);
    ck_assert_int_eq(failures_of_report(), older[_i].failures);
    FILE *to = open_memstream(&summary, &size);
    ck_assert_msg(report_summary(results_path, false, NULL, to, &w) == 0, "%s", w.text);
    fclose(to);
    ck_assert_msg(strstr(summary, "fail") != NULL, "%s", summary);
    free(summary);
    ck_assert_int_eq(results_file_int("PRAGMA user_version"), older[_i].version);
}
END_TEST

START_TEST(names_of_version_3_get_their_options)
{
    static const char first[] =
        "random/v0/ops=1-5/op=ADD/types=TENSOR_FLOAT32,TENSOR_INT32/max-dim=4/level=2/s7/i0";
    char sql[400];
    struct results *r;
    struct recorded_case f;
    struct why w;
    results_close(results_file_open());
    run_sql(as_version_3);
    run_sql(two_runs);
    ck_assert_int_eq(results_open(results_path, RESULTS_READ, &r, &w), 0);
    ck_assert_int_eq(results_find_case(r, "random/s7/i0", &f, &w), -1);
    ck_assert_msg(strstr(w.text, "has 2 cases random/s7/i0, generated with different options"),
                  "%s", w.text);
    results_close(r);
    ck_assert_int_eq(failures_of_report(), 3); /* before the upgrade: none hides another one */
    results_close(results_file_open());
    ck_assert_int_eq(results_file_int("PRAGMA user_version"), 6);
    snprintf(sql, sizeof sql,
             "SELECT count(*) FROM details WHERE case_id = 1 AND name = '%s' AND "
             "replay = 'halcyon replay %s -d a'",
             first, first);
    ck_assert_int_eq(results_file_int(sql), 1);
    ck_assert_int_eq(results_file_int("SELECT count(*) FROM details WHERE case_id = 2 AND "
                                      "name = 'random/v0/s7/i0' AND "
                                      "replay = 'halcyon replay random/v0/s7/i0 -d a'"),
                     1);
    ck_assert_int_eq(
        results_file_int("SELECT count(*) FROM details WHERE case_id = 3 AND "
                         "name = 'random/s7/i0' AND replay LIKE '% random/s7/i0 -d a'"),
        1);
    ck_assert_int_eq(
        results_file_int("SELECT name = 'random/single/s-1' FROM cases WHERE case_id = 4"), 1);
    ck_assert_int_eq(failures_of_report(), 3);
}
END_TEST

/* The columns of both must be in one order, for SELECT *. */
START_TEST(an_upgraded_database_is_like_a_new_one)
{
    static const char sql[] =
        "SELECT sum(length(t.name) * unicode(substr(c.name, 2)) * (c.cid + 1) "
        "* (c.pk + 1)) FROM sqlite_schema t, pragma_table_xinfo(t.name) c";
    results_close(results_file_open());
    int64_t like_new = results_file_int(sql);
    results_file_remove();
    results_file_make();
    run_sql(version_1);
    ck_assert_int_ne(results_file_int(sql), like_new);
    results_close(results_file_open());
    ck_assert_int_eq(results_file_int(sql), like_new);
}
END_TEST

/* Databases of versions 3, 4 and 5. */
START_TEST(older_versions_are_upgraded)
{
    static const char sql[] =
        "SELECT sum(length(t.name) * unicode(substr(c.name, 2)) * (c.cid + 1) "
        "* (c.pk + 1)) FROM sqlite_schema t, pragma_table_xinfo(t.name) c";
    write_killed_run();
    int64_t like_new = results_file_int(sql);
    static const char *const older[] = { as_version_3, AS_VERSION_4, AS_VERSION_5 };
    run_sql(older[_i]);
    ck_assert_int_ne(results_file_int(sql), like_new);
    results_close(results_file_open());
    ck_assert_int_eq(results_file_int(sql), like_new);
    ck_assert_int_eq(results_file_int("PRAGMA user_version"), 6);
    ck_assert_int_eq(results_file_int("SELECT count(*) FROM details WHERE attempts IS NULL AND "
                                      "blamed_count IS NULL"),
                     3);
}
END_TEST

START_TEST(a_flaky_verdict_has_its_attempts)
{
    struct results *r = results_file_open();
    struct why w;
    struct check_result pass = { .verdict = VERDICT_PASS, .judge = JUDGE_BOUND, .output = -1 };
    struct check_result flaky = a_fail();
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
    struct check_result fail = a_fail(), none = a_fail();
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
    run_sql("CREATE TABLE t (x)");
    expect_rejected("not a results database");
}
END_TEST

START_TEST(newer_schemas_are_rejected)
{
    write_killed_run();
    run_sql("PRAGMA user_version = 1000");
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
    tcase_add_test(t, version_1_is_read_unchanged);
    tcase_add_test(t, version_1_is_upgraded_when_written);
    tcase_add_test(t, passes_of_version_3_become_undecided);
    tcase_add_test(t, the_dictionary_of_texts_is_that_of_earlier_databases);
    tcase_add_loop_test(t, older_versions_are_reported, 0, 4);
    tcase_add_test(t, names_of_version_3_get_their_options);
    tcase_add_test(t, an_upgraded_database_is_like_a_new_one);
    tcase_add_loop_test(t, older_versions_are_upgraded, 0, 3);
    tcase_add_test(t, a_flaky_verdict_has_its_attempts);
    tcase_add_test(t, a_verdict_has_the_blamed_operations);
    tcase_add_test(t, names_of_no_file_are_rejected);
    tcase_add_test(t, other_files_are_rejected);
    tcase_add_test(t, other_databases_are_rejected);
    tcase_add_test(t, newer_schemas_are_rejected);
    tcase_add_test(t, reading_creates_no_file);
    tcase_add_test(t, read_only_databases_are_readable);
    return make_suite("results", t, NULL);
}
