#include "harness/store/summary.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "golden/math/farmhash.h"
#include "harness/store/results_internal.h"
#include "harness/store/summary_coverage.h"
#include "reports/database.h"
#include "reports/gist.h"

/* ---- SQL functions */

enum { MOST_BIN = 60 };

static void ratio_bin2(sqlite3_context *context, int n, sqlite3_value **value)
{
    (void) n;
    if (sqlite3_value_type(value[0]) == SQLITE_NULL)
        return;
    double ratio = sqlite3_value_double(value[0]);
    int exponent = 0;
    if (ratio <= 0)
        exponent = -MOST_BIN;
    else if (isinf(ratio))
        exponent = MOST_BIN;
    else if (frexp(ratio, &exponent) <= 0.5) /* a power of two is the end of its bin */
        exponent--;
    sqlite3_result_int(context, exponent < -MOST_BIN  ? -MOST_BIN
                                : exponent > MOST_BIN ? MOST_BIN
                                                      : exponent);
}

/* Adds the counts of a text "[[-1,7],[0,2]]". */
static void add_bins(int64_t n[2 * MOST_BIN + 1], const char *text)
{
    for (const char *at = text; (at = strpbrk(at, "-0123456789"));) {
        char *end;
        long bin = strtol(at, &end, 10);
        if (end == at || *end != ',')
            return;
        int64_t more = strtoll(end + 1, &end, 10);
        if (bin >= -MOST_BIN && bin <= MOST_BIN)
            n[bin + MOST_BIN] += more;
        at = end;
    }
}

/* sum_bins(A, B) */
static void sum_bins(sqlite3_context *context, int n_values, sqlite3_value **value)
{
    int64_t n[2 * MOST_BIN + 1] = { 0 };
    char text[(2 * MOST_BIN + 1) * 28] = "[";
    for (int i = 0; i < n_values; i++) {
        const char *bins = (const char *) sqlite3_value_text(value[i]);
        add_bins(n, bins ? bins : "");
    }
    char *at = text + 1;
    for (int i = 0; i < COUNT(n); i++)
        if (n[i])
            at += sprintf(at, "%s[%d,%" PRId64 "]", at > text + 1 ? "," : "", i - MOST_BIN, n[i]);
    *at++ = ']';
    sqlite3_result_text(context, text, (int) (at - text), SQLITE_TRANSIENT);
}

static void bucket_id(sqlite3_context *context, int n, sqlite3_value **value)
{
    char text[17];
    const char *key = (const char *) sqlite3_value_text(value[0]);
    (void) n;
    if (!key)
        return;
    snprintf(text, sizeof text, "%016" PRIx64, farmhash64(key, strlen(key)));
    sqlite3_result_text(context, text, -1, SQLITE_TRANSIENT);
}

static int64_t bits_of(double x)
{
    int64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static double double_of(int64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

int summary_functions(sqlite3 *db)
{
    static const struct {
        const char *name;
        void (*call)(sqlite3_context *context, int n, sqlite3_value **value);
        int arguments;
    } functions[] = { { "ratio_bin2", ratio_bin2, 1 },
                      { "sum_bins", sum_bins, 2 },
                      { "bucket_id", bucket_id, 1 } };
    int status = gist_function(db);
    for (int i = 0; i < COUNT(functions); i++)
        status |= sqlite3_create_function(db, functions[i].name, functions[i].arguments,
                                          SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL,
                                          functions[i].call, NULL, NULL);
    return status;
}

/* ---- the summary of a run */

/* Failures with the key of their bucket: a text that each shard gives alike, of what a failure is
 * and where it comes from.  The buckets that shrinking finds depend on the other failures of the
 * run. */
#define FAILURES                                                                                   \
    "SELECT f.run, f.target, f.case_id, c.ordinal, c.name, f.verdict, "                            \
    "  coalesce(f.operation, '') AS operation, coalesce(f.type, '') AS type, f.ratio, "            \
    "  v.bucket AS cause, v.shrunk, c.spec, c.n_operations, "                                      \
    "  f.verdict || CASE WHEN c.suite IS NOT NULL THEN ' rule ' || c.suite || '/' || "             \
    "    replace(c.name, rtrim(c.name, replace(c.name, '/', '')), '') "                            \
    "  ELSE coalesce(' ' || f.operation, '') || iif(v.blamed_count > 1, ' and others', '') || "    \
    "    coalesce(' ' || f.type, '') || "                                                          \
    "    iif(v.blamed_why LIKE 'must fail: %', ' must fail', '') || "                              \
    "    iif(f.verdict = 'fail', '', rtrim(' at ' || v.stage || ' ' || v.status)) END AS key "     \
    "FROM main.failing f JOIN main.cases c USING (case_id) "                                       \
    "JOIN main.verdicts v ON v.case_id = f.case_id AND v.target = f.target "

static const char find_failures[] =
    "DROP TABLE IF EXISTS temp.failure;"
    "CREATE TEMP TABLE failure AS " FAILURES "WHERE f.run = (SELECT run FROM temp.summarised);"
    "CREATE INDEX temp.failure_by_bucket ON failure (target, key, ordinal);";

static const char add_up[] =
    "INSERT INTO main.summary_operations SELECT o.run, o.target, o.operation, o.type, o.verdict, "
    "  o.n, o.beside, s.checked, s.us FROM main.operation_verdicts o JOIN ("
    "    SELECT v.target, o.operation, o.type, v.verdict, sum(v.checked) AS checked, "
    "      sum(CAST(round(v.ms * 1000) AS INTEGER)) AS us "
    "    FROM main.targets t JOIN main.verdicts v USING (target) "
    "    JOIN main.case_operations o USING (case_id) "
    "    WHERE t.run = (SELECT run FROM temp.summarised) GROUP BY 1, 2, 3, 4) s "
    "  USING (target, operation, type, verdict) "
    "WHERE o.run = (SELECT run FROM temp.summarised);"

    "INSERT INTO main.summary_totals SELECT t.run, v.target, o.operation, '', v.verdict, count(*) "
    "FROM main.targets t JOIN main.verdicts v USING (target) "
    "JOIN (SELECT DISTINCT case_id, operation FROM main.case_operations) o USING (case_id) "
    "WHERE t.run = (SELECT run FROM temp.summarised) GROUP BY 2, 3, 5 "
    "UNION ALL SELECT t.run, v.target, '', o.type, v.verdict, count(*) "
    "FROM main.targets t JOIN main.verdicts v USING (target) "
    "JOIN (SELECT DISTINCT case_id, type FROM main.case_operations) o USING (case_id) "
    "WHERE t.run = (SELECT run FROM temp.summarised) GROUP BY 2, 4, 5;"

    /* those of the view not_compared; reason and name are of the row with the least ordinal */
    "INSERT INTO main.summary_reasons SELECT run, target, verdict, operation, type, gist, "
    "  count(*), reason, name, min(ordinal) FROM ("
    "  SELECT c.run, v.target, v.verdict, coalesce(v.blamed_operation, '') AS operation, "
    "    coalesce(v.blamed_type, '') AS type, "
    "    iif(v.blamed_operation IS NULL, gist(coalesce(v.blamed_why, v.why)), '') AS gist, "
    "    coalesce(v.blamed_why, v.why) AS reason, c.name, c.ordinal "
    "  FROM main.targets t JOIN main.verdicts v USING (target) JOIN main.cases c USING (case_id) "
    "  JOIN main.verdict_names d ON d.name = v.verdict "
    "  WHERE t.run = (SELECT run FROM temp.summarised) AND d.conforming AND v.verdict <> 'pass' "
    "    AND v.was IS NULL) "
    "GROUP BY target, verdict, operation, type, gist;"

    "INSERT INTO main.summary_ratios SELECT run, target, operation, type, verdict, "
    "  sum_bins(group_concat('[' || bin || ',' || n || ']'), ''), max(ratio), "
    "  (SELECT min(x.name) FROM temp.ratio x WHERE x.target = g.target AND x.operation = "
    "   g.operation AND x.type = g.type AND x.verdict = g.verdict AND x.ratio = max(g.ratio)) "
    "FROM (SELECT run, target, operation, type, verdict, bin, count(*) AS n, max(ratio) AS ratio "
    "      FROM temp.ratio GROUP BY target, operation, type, verdict, bin) g "
    "GROUP BY target, operation, type, verdict;"

    "INSERT INTO main.summary_buckets SELECT (SELECT run FROM temp.summarised), target, "
    "  bucket_id(key), key, verdict, operation, type, count(*), max(ratio), "
    "  (SELECT f.name FROM temp.failure f WHERE f.target = g.target AND f.key = g.key "
    "   ORDER BY f.ratio IS NULL, f.ratio DESC, f.ordinal LIMIT 1), min(ordinal), "
    "  (SELECT f.cause FROM temp.failure f WHERE f.target = g.target AND f.key = g.key AND "
    "   f.cause IS NOT NULL ORDER BY f.ordinal LIMIT 1), "
    "  (SELECT min(f.ordinal) FROM temp.failure f WHERE f.target = g.target AND f.key = g.key AND "
    "   f.cause IS NOT NULL) "
    "FROM temp.failure g GROUP BY target, key;"

    "INSERT INTO main.summary_failures SELECT (SELECT run FROM temp.summarised), target, "
    "  bucket_id(key), ordinal, name, verdict, ratio FROM (SELECT *, row_number() OVER "
    "  (PARTITION BY target, key ORDER BY ordinal) AS place FROM temp.failure) "
    "WHERE place <= (SELECT listed FROM temp.summarised);"

    /* last: the views count the rows of targets that this table does not have */
    "INSERT INTO main.summary_verdicts SELECT t.run, v.target, v.verdict, count(*), "
    "  sum(v.checked), sum(CAST(round(v.ms * 1000) AS INTEGER)) "
    "FROM main.targets t JOIN main.verdicts v USING (target) "
    "WHERE t.run = (SELECT run FROM temp.summarised) GROUP BY v.target, v.verdict;";

static const char find_ratios[] =
    "DROP TABLE IF EXISTS temp.ratio;"
    "CREATE TEMP TABLE ratio AS SELECT run, target, operation, type, verdict, ratio, "
    "  ratio_bin2(ratio) AS bin, name FROM ("
    "    SELECT t.run, v.target, v.verdict, c.name, "
    "      CASE WHEN blamed_output IS NULL THEN operation WHEN instr(blamed_operation, ' ') "
    "        THEN substr(blamed_operation, 1, instr(blamed_operation, ' ') - 1) "
    "        ELSE blamed_operation END AS operation, "
    "      CASE WHEN blamed_output IS NULL THEN v.type ELSE blamed_type END AS type, "
    "      CASE WHEN blamed_output IS NULL THEN ratio ELSE blamed_ratio END AS ratio "
    "    FROM main.targets t JOIN main.verdicts v USING (target) JOIN main.cases c USING (case_id) "
    "    WHERE t.run = (SELECT run FROM temp.summarised) AND "
    "      (v.output IS NOT NULL OR v.blamed_output IS NOT NULL)) "
    "WHERE ratio IS NOT NULL AND operation IS NOT NULL AND type IS NOT NULL;"
    "CREATE INDEX temp.ratio_by_bin ON ratio (target, operation, type, verdict, ratio);";

/* A case stays if it is among the first ones of a bucket; with its verdicts on all targets. */
static const char drop_cases[] =
    "DROP TABLE IF EXISTS temp.staying;"
    "CREATE TEMP TABLE staying AS SELECT DISTINCT case_id FROM (SELECT case_id, row_number() OVER "
    "  (PARTITION BY target, key ORDER BY ordinal) AS place FROM temp.failure) "
    "WHERE place <= (SELECT kept FROM temp.summarised);"
    "UPDATE main.verdicts SET bucket = (SELECT f.key FROM temp.failure f WHERE f.target = "
    "  verdicts.target AND f.case_id = verdicts.case_id) WHERE case_id IN temp.staying;"
    "DELETE FROM main.cases WHERE run = (SELECT run FROM temp.summarised) AND "
    "  case_id NOT IN temp.staying;"
    "DELETE FROM main.coverage_parts WHERE run = (SELECT run FROM temp.summarised);"
    "INSERT INTO main.summary_parts SELECT run, (SELECT key FROM main.shards s WHERE s.run = "
    "  r.run), n_cases, started, coalesce(finished, started), seconds, x.kept, x.listed, NULL "
    "FROM main.runs r JOIN temp.summarised x USING (run);"
    "DROP TABLE temp.failure; DROP TABLE temp.ratio; DROP TABLE temp.staying;"
    "DROP TABLE temp.summarised;";

int results_summarise(struct results *r, uint64_t kept, uint64_t listed, struct why *w)
{
    char sql[256];
    snprintf(sql, sizeof sql,
             "DROP TABLE IF EXISTS temp.summarised;"
             "CREATE TEMP TABLE summarised AS SELECT %lld AS run, %llu AS kept, %llu AS listed",
             (long long) r->run, (unsigned long long) kept,
             (unsigned long long) (listed < kept ? kept : listed));
    TRY(results_commit(r, w));
    if (summary_functions(r->db) != SQLITE_OK)
        return results_failed(r, w);
    TRY(results_exec(r, sql, w));
    TRY(results_exec(r, find_failures, w));
    TRY(results_exec(r, find_ratios, w));
    TRY(results_begin(r, w));
    TRY(results_exec(r, add_up, w));
    TRY(summary_keep_coverage(r, w));
    TRY(results_exec(r, drop_cases, w));
    return results_commit(r, w);
}

int results_is_summary(struct results *r, bool *ret_is, struct why *w)
{
    return results_run_is_summary(r, r->run, ret_is, w);
}

int results_run_is_summary(struct results *r, int64_t run, bool *ret_is, struct why *w)
{
    sqlite3_stmt *s;
    *ret_is = false;
    if (!results_has_table(r, "summary_parts"))
        return 0;
    TRY(results_prepare(r, "SELECT 1 FROM summary_parts WHERE run = ?1", &s, w));
    sqlite3_bind_int64(s, 1, run);
    int step = sqlite3_step(s);
    *ret_is = step == SQLITE_ROW;
    sqlite3_finalize(s);
    return step == SQLITE_ROW || step == SQLITE_DONE ? 0 : results_failed(r, w);
}

static const char select_counts[] =
    "SELECT json_object("
    "  'verdicts', (SELECT json_group_object(verdict, n) FROM summary_verdicts v "
    "    WHERE v.target = t.target), "
    "  'buckets', (SELECT json_group_object(key, json_object('failures', n, "
    "      'ratio', iif(ratio <= 1.7976931348623157e308, ratio, NULL), 'case', name)) "
    "    FROM (SELECT * FROM summary_buckets b WHERE b.target = t.target ORDER BY key)), "
    "  'operations', (SELECT json_group_object(what, json_object('passed', passed, "
    "      'unsupported', unsupported)) FROM (SELECT operation || ' ' || o.type AS what, "
    "      sum(iif(verdict = 'pass', n, 0)) AS passed, "
    "      sum(iif(verdict = 'unsupported', n, 0)) AS unsupported "
    "      FROM summary_operations o WHERE o.target = t.target GROUP BY 1 ORDER BY 1))) "
    "FROM targets t WHERE t.run = ?1 AND t.uri = ?2";

int results_summary_counts(struct results *r, int64_t run, const char *uri, json_t **ret_counts,
                           struct why *w)
{
    sqlite3_stmt *s;
    json_error_t error;
    TRY(results_prepare(r, select_counts, &s, w));
    sqlite3_bind_int64(s, 1, run);
    sqlite3_bind_text(s, 2, uri, -1, SQLITE_STATIC);
    int step = sqlite3_step(s);
    const char *text = step == SQLITE_ROW ? (const char *) sqlite3_column_text(s, 0) : NULL;
    json_t *counts = text ? json_loads(text, 0, &error) : NULL;
    sqlite3_finalize(s);
    if (step != SQLITE_ROW && step != SQLITE_DONE)
        return results_failed(r, w);
    REQUIRE(w, counts, "%s: run %lld, target %s: the summary is damaged", r->path, (long long) run,
            uri);
    *ret_counts = counts;
    return 0;
}

int results_each_known_failure(struct results *r, int64_t run, uint64_t most,
                               int (*each)(const struct known_failure *f, void *user,
                                           struct why *w),
                               void *user, struct why *w)
{
    sqlite3_stmt *s;
    int step = SQLITE_DONE, failed = 0;
    if (summary_functions(r->db) != SQLITE_OK)
        return results_failed(r, w);
    TRY(results_prepare(r,
                        "SELECT key, bucket_id(key), name, text_of(coalesce(shrunk, spec)) FROM "
                        "(SELECT *, row_number() OVER (PARTITION BY key ORDER BY shrunk IS NULL, "
                        "n_operations, run, ordinal, target) AS place FROM (" FAILURES
                        ") WHERE ?1 IN (0, run) AND coalesce(shrunk, spec) IS NOT NULL) "
                        "WHERE place <= ?2 ORDER BY key, place",
                        &s, w));
    sqlite3_bind_int64(s, 1, run);
    sqlite3_bind_int64(s, 2, (int64_t) most);
    while (!failed && (step = sqlite3_step(s)) == SQLITE_ROW) {
        const struct known_failure f = { .key = (const char *) sqlite3_column_text(s, 0),
                                         .bucket = (const char *) sqlite3_column_text(s, 1),
                                         .name = (const char *) sqlite3_column_text(s, 2),
                                         .spec = (const char *) sqlite3_column_text(s, 3) };
        failed = f.key && f.bucket && f.name && f.spec ? each(&f, user, w) : why_no_memory(w);
    }
    sqlite3_finalize(s);
    return failed || step == SQLITE_DONE ? failed : results_failed(r, w);
}

/* ---- what a shard adds
 *
 * Its rows are added one by one, and kept as text: "[verdicts]", and a line for each row with the
 * target's ordinal and the other columns, between tabs.  NULL is "\N"; a backslash, a tab and a
 * line end in a text are "\\", "\t" and "\n". */

/* kinds: of the columns after the target, t a text, i a whole number, r a real one, whose bits are
 * in the text.  insert: ?1 is the run, ?2 the target, then these columns. */
static const struct part_list {
    const char *name, *kinds, *columns, *table, *order, *insert;
} part_lists[SUMMARY_LISTS] = {
    { "verdicts", "tiii", "verdict, n, checked, us", "summary_verdicts", "verdict",
      "INSERT INTO summary_verdicts VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO UPDATE SET "
      "n = n + excluded.n, checked = checked + excluded.checked, us = us + excluded.us" },
    { "operations", "tttiiii", "operation, x.type, verdict, n, beside, checked, us",
      "summary_operations", "operation, x.type, verdict",
      "INSERT INTO summary_operations VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT DO "
      "UPDATE SET n = n + excluded.n, beside = beside + excluded.beside, "
      "checked = checked + excluded.checked, us = us + excluded.us" },
    { "totals", "ttti", "operation, x.type, verdict, n", "summary_totals",
      "operation, x.type, verdict",
      "INSERT INTO summary_totals VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO UPDATE SET "
      "n = n + excluded.n" },
    { "reasons", "ttttitti", "verdict, operation, x.type, gist, n, reason, x.name, first_ordinal",
      "summary_reasons", "verdict, operation, x.type, gist",
      "INSERT INTO summary_reasons VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) ON CONFLICT DO "
      "UPDATE SET n = n + excluded.n, "
      "reason = iif(excluded.first_ordinal < first_ordinal, excluded.reason, reason), "
      "name = iif(excluded.first_ordinal < first_ordinal, excluded.name, name), "
      "first_ordinal = min(first_ordinal, excluded.first_ordinal)" },
    { "ratios", "ttttrt", "operation, x.type, verdict, bins, ratio, x.name", "summary_ratios",
      "operation, x.type, verdict",
      "INSERT INTO summary_ratios VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT DO UPDATE "
      "SET bins = sum_bins(bins, excluded.bins), "
      "name = CASE WHEN excluded.ratio > ratio THEN excluded.name WHEN excluded.ratio < ratio THEN "
      "name ELSE min(name, excluded.name) END, ratio = max(ratio, excluded.ratio)" },
    /* of buckets without a ratio the name is that of the first case */
    { "buckets", "tttttirtiti",
      "bucket, key, verdict, operation, x.type, n, ratio, x.name, first_ordinal, cause, "
      "cause_ordinal",
      "summary_buckets", "bucket",
      "INSERT INTO summary_buckets VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13) "
      "ON CONFLICT DO UPDATE SET n = n + excluded.n, "
      "name = CASE WHEN excluded.ratio IS ratio THEN iif(excluded.first_ordinal < first_ordinal, "
      "excluded.name, name) WHEN ratio IS NULL OR excluded.ratio > ratio THEN excluded.name ELSE "
      "name END, "
      "ratio = coalesce(max(ratio, excluded.ratio), ratio, excluded.ratio), "
      "first_ordinal = min(first_ordinal, excluded.first_ordinal), "
      "cause = CASE WHEN cause_ordinal IS NULL OR excluded.cause_ordinal < cause_ordinal THEN "
      "excluded.cause ELSE cause END, "
      "cause_ordinal = coalesce(min(cause_ordinal, excluded.cause_ordinal), cause_ordinal, "
      "excluded.cause_ordinal)" },
    { "failures", "tittr", "bucket, x.ordinal, x.name, verdict, ratio", "summary_failures",
      "bucket, x.ordinal",
      "INSERT OR IGNORE INTO summary_failures VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)" },
};

int summary_sum_begin(struct results *out, int64_t run, int64_t first_target, uint32_t n_targets,
                      struct summary_sum *ret_sum, struct why *w)
{
    *ret_sum = (struct summary_sum){
        .out = out, .run = run, .first_target = first_target, .n_targets = n_targets
    };
    for (int i = 0; i < SUMMARY_LISTS; i++)
        TRY(results_prepare(out, part_lists[i].insert, &ret_sum->insert[i], w));
    return 0;
}

void summary_sum_done(struct summary_sum *x)
{
    for (int i = 0; i < SUMMARY_LISTS; i++)
        sqlite3_finalize(x->insert[i]);
    *x = (struct summary_sum){ 0 };
}

static int insert_row(struct summary_sum *x, int list, int64_t target, struct why *w)
{
    const struct part_list *l = &part_lists[list];
    sqlite3_stmt *s = x->insert[list];
    REQUIRE(w, target >= 0 && target < (int64_t) x->n_targets, "%s: a row of target %lld of %u",
            l->name, (long long) target, x->n_targets);
    sqlite3_bind_int64(s, 1, x->run);
    sqlite3_bind_int64(s, 2, x->first_target + target);
    int step = sqlite3_step(s);
    sqlite3_reset(s);
    if (step == SQLITE_CONSTRAINT || step == SQLITE_MISMATCH)
        return why_fail(w, WHY_INVALID, "%s: %s", l->name, sqlite3_errmsg(x->out->db));
    return step == SQLITE_DONE ? 0 : results_failed(x->out, w);
}

/* ---- from the tables of a shard */

static void put_text(struct buffer *to, const char *text)
{
    for (size_t plain; *text; text += plain + 1) {
        plain = strcspn(text, "\\\t\n");
        buffer_put(to, text, plain);
        if (!text[plain])
            return;
        buffer_puts(to, text[plain] == '\\' ? "\\\\" : text[plain] == '\t' ? "\\t" : "\\n");
    }
}

/* Binds a column of the shard, and appends it to the text.  Whether it has that kind. */
static bool take_column(sqlite3_stmt *from, int column, char kind, sqlite3_stmt *insert,
                        struct buffer *to)
{
    const int type = sqlite3_column_type(from, column);
    sqlite3_bind_value(insert, column + 2, sqlite3_column_value(from, column));
    buffer_puts(to, "\t");
    if (type == SQLITE_NULL)
        buffer_puts(to, "\\N");
    else if (type == SQLITE_TEXT && kind == 't')
        put_text(to, (const char *) sqlite3_column_text(from, column));
    else if (type == SQLITE_INTEGER && kind == 'i')
        buffer_printf(to, "%lld", (long long) sqlite3_column_int64(from, column));
    else if (type == SQLITE_FLOAT && kind == 'r')
        buffer_printf(to, "%" PRId64, bits_of(sqlite3_column_double(from, column)));
    else
        return false;
    return true;
}

static int take_row(struct summary_sum *x, int list, sqlite3_stmt *from, struct buffer *to,
                    struct why *w)
{
    const struct part_list *l = &part_lists[list];
    const int64_t target = sqlite3_column_int64(from, 0);
    bool valid = true;
    buffer_printf(to, "%lld", (long long) target);
    for (int i = 0; valid && l->kinds[i]; i++)
        valid = take_column(from, i + 1, l->kinds[i], x->insert[list], to);
    buffer_puts(to, "\n");
    REQUIRE(w, valid, "a row of %s is not valid", l->table);
    return insert_row(x, list, target, w);
}

static int take_list(struct summary_sum *x, int list, sqlite3 *db, const char *path, int64_t run,
                     struct buffer *to, struct why *w)
{
    const struct part_list *l = &part_lists[list];
    char sql[512];
    sqlite3_stmt *from;
    int step = SQLITE_DONE, failed = 0;
    buffer_printf(to, "[%s]\n", l->name);
    snprintf(sql, sizeof sql,
             "SELECT t.ordinal, %s FROM %s x JOIN targets t USING (target) WHERE x.run = ?1 "
             "ORDER BY x.target, %s",
             l->columns, l->table, l->order);
    if (sqlite3_prepare_v2(db, sql, -1, &from, NULL) != SQLITE_OK)
        return database_failed(db, path, w);
    sqlite3_bind_int64(from, 1, run);
    while (!failed && (step = sqlite3_step(from)) == SQLITE_ROW)
        failed = take_row(x, list, from, to, w);
    if (!failed && step != SQLITE_DONE)
        failed = database_failed(db, path, w);
    sqlite3_finalize(from);
    return failed;
}

int summary_sum_add_run(struct summary_sum *x, sqlite3 *db, const char *path, int64_t run,
                        struct buffer *text, struct why *w)
{
    for (int i = 0; i < SUMMARY_LISTS; i++)
        TRY(take_list(x, i, db, path, run, text, w));
    return text->failed ? why_no_memory(w) : 0;
}

/* ---- from its text */

/* Replaces the escapes of a text, in place. */
static void read_escapes(char *text)
{
    char *to = strchr(text, '\\');
    for (const char *at = to; at && *at; at++)
        *to++ = *at != '\\' ? *at : *++at == 't' ? '\t' : *at == 'n' ? '\n' : *at;
    if (to)
        *to = 0;
}

static bool bind_text_column(sqlite3_stmt *insert, int i, char kind, char *text)
{
    char *end = text;
    if (!strcmp(text, "\\N"))
        return sqlite3_bind_null(insert, i) == SQLITE_OK;
    if (kind == 't') {
        read_escapes(text);
        return sqlite3_bind_text(insert, i, text, -1, SQLITE_STATIC) == SQLITE_OK;
    }
    int64_t n = strtoll(text, &end, 10);
    if (end == text || *end)
        return false;
    return (kind == 'r' ? sqlite3_bind_double(insert, i, double_of(n))
                        : sqlite3_bind_int64(insert, i, n)) == SQLITE_OK;
}

static int read_row(struct summary_sum *x, int list, char *line, struct why *w)
{
    const struct part_list *l = &part_lists[list];
    const char *target = strsep(&line, "\t");
    bool valid = true;
    for (int i = 0; valid && l->kinds[i]; i++) {
        char *column = strsep(&line, "\t");
        valid = column && bind_text_column(x->insert[list], i + 3, l->kinds[i], column);
    }
    REQUIRE(w, valid && !line, "a row of %s is not valid", l->name);
    return insert_row(x, list, atoll(target), w);
}

int summary_sum_add(struct summary_sum *x, char *text, struct why *w)
{
    int list = -1;
    for (char *line; (line = strsep(&text, "\n"));) {
        if (*line != '[') {
            REQUIRE(w, list >= 0 || !*line, "what a shard adds: '%.40s' is in no list", line);
            if (*line)
                TRY(read_row(x, list, line, w));
            continue;
        }
        line[strcspn(line, "]")] = 0;
        for (list = SUMMARY_LISTS - 1; list >= 0 && strcmp(part_lists[list].name, line + 1) != 0;)
            list--;
        REQUIRE(w, list >= 0, "what a shard adds: an unknown list, '%.40s'", line + 1);
    }
    return 0;
}
