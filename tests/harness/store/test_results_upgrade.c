/* Results databases of earlier versions: they are read and reported unchanged, and upgraded when
 * they are written. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/reports.h"
#include "tests/harness/store/results_file.h"
#include "tests/support/check_main.h"

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
    results_file_sql(version_1);
    results_file_sql(content_1);
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
    results_file_sql(version_1);
    results_file_sql(content_1);
    r = results_file_open();
    ck_assert_int_eq(results_resume_run(r, &results_file_run, results_file_targets, 2, &w), 1);
    results_file_write_case(r, 1, VERDICT_PASS, VERDICT_HANG);
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
    results_file_sql(as_version_3);
    results_file_sql(two_runs);
    results_file_sql(
        "UPDATE verdicts SET verdict = 'pass', checked = 0, replay = NULL, why = CASE case_id "
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
    results_file_sql(older[_i].sql);
    results_file_sql(older[_i].more);
    results_file_sql(two_runs);
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
    results_file_sql(as_version_3);
    results_file_sql(two_runs);
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
    results_file_sql(version_1);
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
    results_file_write_killed_run();
    int64_t like_new = results_file_int(sql);
    static const char *const older[] = { as_version_3, AS_VERSION_4, AS_VERSION_5 };
    results_file_sql(older[_i]);
    ck_assert_int_ne(results_file_int(sql), like_new);
    results_close(results_file_open());
    ck_assert_int_eq(results_file_int(sql), like_new);
    ck_assert_int_eq(results_file_int("PRAGMA user_version"), 6);
    ck_assert_int_eq(results_file_int("SELECT count(*) FROM details WHERE attempts IS NULL AND "
                                      "blamed_count IS NULL"),
                     3);
}
END_TEST

Suite *results_upgrade_suite(void)
{
    TCase *t = tcase_create("upgrades");
    tcase_add_checked_fixture(t, results_file_make, results_file_remove);
    tcase_add_test(t, version_1_is_read_unchanged);
    tcase_add_test(t, version_1_is_upgraded_when_written);
    tcase_add_test(t, passes_of_version_3_become_undecided);
    tcase_add_test(t, the_dictionary_of_texts_is_that_of_earlier_databases);
    tcase_add_loop_test(t, older_versions_are_reported, 0, 4);
    tcase_add_test(t, names_of_version_3_get_their_options);
    tcase_add_test(t, an_upgraded_database_is_like_a_new_one);
    tcase_add_loop_test(t, older_versions_are_upgraded, 0, 3);
    return make_suite("results_upgrade", t, NULL);
}
