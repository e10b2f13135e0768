/* The rows of every view, on the database of views_content.c. */
#include <check.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "harness/check/buffer.h"
#include "reports/packed_text.h"
#include "tests/harness/store/results_file.h"
#include "tests/harness/store/views_content.h"
#include "tests/support/check_main.h"

#define F "TENSOR_FLOAT32"
#define Q "TENSOR_QUANT8_ASYMM"

/* Rows as the sqlite3 shell prints them.  Several queries may have the same view. */
static const struct {
    const char *view, *sql, *rows;
} queries[] = {
    { "details",
      "SELECT case_id, target_ordinal, uri, verdict, conforming, blamed_operation, n_operations "
      "FROM details "
      "WHERE case_id IN (1, 6) ORDER BY 1, 2",
      "1|0|sim:a|fail|0|CONV_2D|2\n"
      "1|1|sim:b|unsupported|1|RELU|2\n"
      "6|0|sim:a|waived|1||1\n"
      "6|1|sim:b|waived|1||1\n" },
    { "failures", "SELECT run, case_id, target_ordinal, verdict FROM failures ORDER BY 1, 2, 3",
      "1|1|0|fail\n1|2|0|fail\n1|4|0|crash\n1|4|1|fail\n1|5|1|flaky\n2|8|0|fail\n3|9|0|fail\n"
      "3|10|0|fail\n" },
    { "counted_verdicts",
      "SELECT run, ordinal, verdict, n, checked FROM counted_verdicts v JOIN targets t USING "
      "(run, target) ORDER BY 1, 2, 3",
      "1|0|crash|1|0\n1|0|fail|2|8\n1|0|pass|1|4\n1|0|undecided|1|0\n1|0|waived|1|4\n"
      "1|1|fail|1|4\n1|1|flaky|1|4\n1|1|pass|1|4\n1|1|unsupported|2|0\n1|1|waived|1|0\n"
      "2|0|fail|1|4\n2|0|waived|1|4\n3|0|fail|2|0\n" },
    { "totals_by_verdict", "SELECT run, verdict, n FROM totals_by_verdict ORDER BY 1, 2",
      "1|crash|1\n1|fail|3\n1|flaky|1\n1|pass|2\n1|undecided|1\n1|unsupported|2\n1|waived|2\n"
      "2|fail|1\n2|waived|1\n3|fail|2\n" },
    { "totals_by_target",
      "SELECT run, target_ordinal, uri, verdict, n, ms FROM totals_by_target ORDER BY 1, 2, 4",
      "1|0|sim:a|crash|1|0.5\n1|0|sim:a|fail|2|1.0\n1|0|sim:a|pass|1|0.5\n1|0|sim:a|undecided|1|0."
      "5\n"
      "1|0|sim:a|waived|1|0.5\n1|1|sim:b|fail|1|0.5\n1|1|sim:b|flaky|1|0.5\n1|1|sim:b|pass|1|0.5\n"
      "1|1|sim:b|unsupported|2|1.0\n1|1|sim:b|waived|1|0.5\n2|0|sim:a|fail|1|0.5\n"
      "2|0|sim:a|waived|1|0.5\n3|0|sim:a|fail|2|1.0\n" },
    { "totals_by_operation",
      "SELECT operation, verdict, n FROM totals_by_operation WHERE run = 1 ORDER BY 1, 2",
      "ADD|crash|1\nADD|fail|2\nADD|pass|2\nADD|unsupported|1\nADD|waived|2\nCONV_2D|fail|2\n"
      "CONV_2D|unsupported|2\nMUL|crash|1\nMUL|fail|1\nMUL|flaky|1\nMUL|undecided|1\nRELU|fail|1\n"
      "RELU|unsupported|1\n" },
    { "totals_by_type", "SELECT type, verdict, n FROM totals_by_type WHERE run = 1 ORDER BY 1, 2",
      F "|crash|1\n" F "|fail|3\n" F "|flaky|1\n" F "|pass|2\n" F "|undecided|1\n" F
        "|unsupported|2\n" F "|waived|2\n" Q "|fail|1\n" Q "|unsupported|1\n" },
    { "totals_by_operation_type",
      "SELECT type, verdict, n FROM totals_by_operation_type WHERE run = 1 AND operation = "
      "'CONV_2D' "
      "ORDER BY 1, 2",
      F "|fail|2\n" F "|unsupported|2\n" Q "|fail|1\n" Q "|unsupported|1\n" },
    { "failing",
      "SELECT run, case_id, target, uri, verdict, in_bucket, operation, type, bug, place, "
      "expected, actual, "
      "bound, ratio, is_shrunk, shrunk_bytes FROM failing ORDER BY case_id, target",
      "1|1|1|sim:a|fail|1|CONV_2D|" F "|B1|[0]|1.0|11.0|1.0|10.0|1|2\n"
      "1|2|1|sim:a|fail|1|CONV_2D|" Q "|B1|[1]|0.0|4.0|1.0|4.0|0|\n"
      "1|4|1|sim:a|crash|0|||crash||||||0|\n"
      "1|4|2|sim:b|fail|1|ADD|" F "|B2|[2]|0.0|20000.0|1.0|20000.0|0|\n"
      "1|5|2|sim:b|flaky|0|MUL|" F "|flaky MUL " F "|[3]|1.0|3.0|1.0|2.0|0|\n"
      "2|8|3|sim:a|fail|1|CONV_2D|" F "|B1|[0]|1.0|7.0|1.0|6.0|0|\n"
      "3|9|4|sim:a|fail|0|||fail rule model/M9||||||0|\n"
      "3|10|4|sim:a|fail|0|||fail rule model/M9||||||0|\n" },
    { "bugs",
      "SELECT run, bug, in_bucket, n, n_cases, n_targets, verdict, operation, type, "
      "operation_index, place, "
      "expected, actual, bound, ratio, worst_case, worst_target, case_id, target, name, uri, "
      "n_operations, "
      "shrunk, replay FROM bugs ORDER BY run, bug",
      "1|B1|1|2|2|1|fail|CONV_2D|" F
      "|0|[0]|1.0|11.0|1.0|10.0|1|1|1|1|random/v2/s1/i0|sim:a|2|ab|replay 1\n"
      "1|B2|1|1|1|1|fail|ADD|" F
      "|0|[2]|0.0|20000.0|1.0|20000.0|4|2|4|2|random/v2/s1/i3|sim:b|2||replay 4\n"
      "1|crash|0|1|1|1|crash|||||||||4|1|4|1|random/v2/s1/i3|sim:a|2||replay 4\n"
      "1|flaky MUL " F "|0|1|1|1|flaky|MUL|" F
      "||[3]|1.0|3.0|1.0|2.0|5|2|5|2|random/v2/s1/i4|sim:b|1||replay 5\n"
      "2|B1|1|1|1|1|fail|CONV_2D|" F
      "|0|[0]|1.0|7.0|1.0|6.0|8|3|8|3|random/v2/s1/i0|sim:a|2||replay 8\n"
      "3|fail rule model/M9|0|2|2|1|fail|||||||||9|4|9|4|conform/1.2/model/M9|sim:a|0||replay "
      "9\n" },
    { "bug_targets", "SELECT run, bug, target, uri, n FROM bug_targets ORDER BY 1, 2, 3",
      "1|B1|1|sim:a|2\n1|B2|2|sim:b|1\n1|crash|1|sim:a|1\n1|flaky MUL " F
      "|2|sim:b|1\n2|B1|3|sim:a|1\n3|fail rule model/M9|4|sim:a|2\n" },
    { "target_verdicts",
      "SELECT run, target, uri, name, version, type, hal, n, failing, pass, undecided, "
      "unsupported, waived, "
      "flaky, checked, ms FROM target_verdicts ORDER BY 1, 2",
      "1|1|sim:a|a|1|CPU|1.3|6|3|1|1|0|1|0|16|3.0\n"
      "1|2|sim:b|b|2|GPU|1.2|6|2|1|0|2|1|1|12|3.0\n"
      "2|3|sim:a|a|1|CPU|1.3|2|1|0|0|0|1|0|8|1.0\n"
      "3|4|sim:a|a|1|CPU|1.3|2|2|0|0|0|0|0|0|1.0\n" },
    { "operation_verdicts",
      "SELECT target, operation, type, verdict, n, beside FROM operation_verdicts ORDER BY 1, 2, "
      "3, 4",
      "1|ADD|" F "|crash|1|0\n"
      "1|ADD|" F "|fail|0|1\n"
      "1|ADD|" F "|pass|1|0\n"
      "1|ADD|" F "|waived|1|0\n"
      "1|CONV_2D|" F "|fail|1|1\n"
      "1|CONV_2D|" Q "|fail|1|0\n"
      "1|MUL|" F "|crash|1|0\n"
      "1|MUL|" F "|undecided|1|0\n"
      "1|RELU|" F "|fail|0|1\n"
      "2|ADD|" F "|fail|1|0\n"
      "2|ADD|" F "|pass|1|0\n"
      "2|ADD|" F "|unsupported|0|1\n"
      "2|ADD|" F "|waived|1|0\n"
      "2|CONV_2D|" F "|unsupported|0|2\n"
      "2|CONV_2D|" Q "|unsupported|1|0\n"
      "2|MUL|" F "|fail|0|1\n"
      "2|MUL|" F "|flaky|1|0\n"
      "2|RELU|" F "|unsupported|1|0\n"
      "3|ADD|" F "|waived|1|0\n"
      "3|CONV_2D|" F "|fail|1|0\n"
      "3|RELU|" F "|fail|0|1\n" },
    /* Which operations a target refuses (docs/database.md): not their neighbours. */
    { "operation_verdicts",
      "SELECT operation, type, sum(n) FROM operation_verdicts WHERE uri = 'sim:b' AND "
      "verdict = 'unsupported' GROUP BY 1, 2 HAVING sum(n) ORDER BY 3 DESC, 1",
      "CONV_2D|" Q "|1\nRELU|" F "|1\n" },
    { "ratio_bins",
      "SELECT target, operation, type, low, high, n, largest FROM ratio_bins ORDER BY 1, 2, 3, 4, "
      "5",
      "1|ADD|" F "|0.25|0.5|1|0.5\n"
      "1|ADD|" F "|1|2|1|1.5\n"
      "1|CONV_2D|" F "|2|10|1|10.0\n"
      "1|CONV_2D|" Q "|2|10|1|4.0\n"
      "2|ADD|" F "||0|1|0.0\n"
      "2|ADD|" F "|10000||1|20000.0\n"
      "2|MUL|" F "|1|2|1|2.0\n"
      "3|ADD|" F "|1|2|1|1.5\n"
      "3|CONV_2D|" F "|2|10|1|6.0\n" },
    { "flaky_cases",
      "SELECT run, case_id, uri, name, verdict, was, failed_attempts, attempts, operation, type, "
      "replay "
      "FROM flaky_cases ORDER BY 1, 2",
      "1|5|sim:b|random/v2/s1/i4|flaky|fail|2|4|MUL|" F "|replay 5\n"
      "2|7|sim:a|random/v2/s1/i5|waived|fail|1|3|ADD|" F "|\n" },
    { "waivers",
      "SELECT uri, name, was, why, n_runs, first_run, last_run, first_started, last_started, days "
      "FROM waivers ORDER BY 1",
      "sim:a|random/v2/s1/"
      "i5|fail|known|2|1|2|2026-01-01T00:00:00.000Z|2026-01-11T00:00:00.000Z|10.0\n"
      "sim:b|random/v2/s1/"
      "i5||skipped|1|1|1|2026-01-01T00:00:00.000Z|2026-01-01T00:00:00.000Z|0.0\n" },
    { "trend",
      "SELECT run, kind, is_finished, halcyon, n_cases, uri, driver, n, failing, pass, undecided, "
      "unsupported, waived, flaky, bugs FROM trend ORDER BY run, target_ordinal",
      "1|random|1|0.4|6|sim:a|1|6|3|1|1|0|1|0|2\n"
      "1|random|1|0.4|6|sim:b|2|6|2|1|0|2|1|1|2\n"
      "2|random|0|0.4|9|sim:a|1|2|1|0|0|0|1|0|1\n"
      "3|conform|1|0.4|2|sim:a|1|2|2|0|0|0|0|0|1\n" },
    { "not_compared",
      "SELECT run, target, verdict, operation, type, reason, n, case_id, name FROM not_compared "
      "ORDER BY 1, 2, 3, 4",
      "1|1|undecided|||no element|1|5|random/v2/s1/i4\n"
      "1|2|unsupported|CONV_2D|" Q "|CONV_2D: 8 bits|1|2|random/v2/s1/i1\n"
      "1|2|unsupported|RELU|" F "|RELU: float|1|1|random/v2/s1/i0\n"
      "1|2|waived|||skipped|1|6|random/v2/s1/i5\n" },
    { "coverage",
      "SELECT run, target, operation, form, types, rank, options, value_class, ran, not_run FROM "
      "coverage "
      "ORDER BY rank",
      "1|1|ADD||f,f|2|a=b|zeros|1|0\n1|1|ADD||f,f|4|a=b|zeros|5|1\n" },
    { "neighbours",
      "SELECT run, target, producer, consumer, ran, not_run FROM neighbours ORDER BY producer",
      "1|1|ADD|MUL|7|1\n1|1|MUL|MUL|1|0\n" },
};

static sqlite3 *open_content(void)
{
    sqlite3 *db;
    char *error = NULL;
    results_close(results_file_open());
    ck_assert_int_eq(sqlite3_open(results_path, &db), SQLITE_OK);
    ck_assert_int_eq(packed_text_functions(db), SQLITE_OK);
    ck_assert_msg(sqlite3_exec(db, "PRAGMA foreign_keys = ON", NULL, NULL, NULL) == SQLITE_OK &&
                      sqlite3_exec(db, views_content[0], NULL, NULL, &error) == SQLITE_OK &&
                      sqlite3_exec(db, views_content[1], NULL, NULL, &error) == SQLITE_OK,
                  "%s", error);
    return db;
}

static void put_rows(sqlite3 *db, const char *sql, struct buffer *rows)
{
    sqlite3_stmt *s;
    ck_assert_msg(sqlite3_prepare_v2(db, sql, -1, &s, NULL) == SQLITE_OK, "%s", sqlite3_errmsg(db));
    while (sqlite3_step(s) == SQLITE_ROW)
        for (int i = 0, n = sqlite3_column_count(s); i < n; i++) {
            const char *text = (const char *) sqlite3_column_text(s, i);
            buffer_printf(rows, "%s%s", text ? text : "", i < n - 1 ? "|" : "\n");
        }
    sqlite3_finalize(s);
}

START_TEST(views_have_these_rows)
{
    struct buffer rows = { 0 };
    sqlite3 *db = open_content();
    put_rows(db, queries[_i].sql, &rows);
    ck_assert_msg(!strcmp(buffer_text(&rows), queries[_i].rows),
                  "%s:\n%s\nfound:\n%s\nexpected:\n%s", queries[_i].view, queries[_i].sql,
                  buffer_text(&rows), queries[_i].rows);
    buffer_done(&rows);
    sqlite3_close(db);
}
END_TEST

START_TEST(every_view_is_tested)
{
    struct buffer views = { 0 };
    sqlite3 *db = open_content();
    put_rows(db, "SELECT name FROM sqlite_schema WHERE type = 'view'", &views);
    for (char *name = strtok(views.data, "\n"); name; name = strtok(NULL, "\n")) {
        bool tested = false;
        for (int i = 0; i < COUNT(queries); i++)
            tested |= !strcmp(queries[i].view, name);
        ck_assert_msg(tested, "no query of the view %s", name);
    }
    buffer_done(&views);
    sqlite3_close(db);
}
END_TEST

Suite *views_suite(void)
{
    TCase *t = tcase_create("views");
    tcase_add_checked_fixture(t, results_file_make, results_file_remove);
    tcase_add_loop_test(t, views_have_these_rows, 0, COUNT(queries));
    tcase_add_test(t, every_view_is_tested);
    return make_suite("views", t, NULL);
}
