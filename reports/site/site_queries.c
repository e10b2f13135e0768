/* The tables, in the order of their creation:
 *
 *   target_list  tid, uri               the targets, numbered as they were given first
 *   shown        vid, ...               the verdicts that the report covers: of a case that was run
 *                                       on a target several times only the newest
 *   pair         pair, operation, type  what cases exercise
 *   cell         pair, tid, ...         verdicts by what they tell of an operation: see enum
 *                                       role_column
 *   bucket_seen  run, bucket, uri       the buckets of the whole database
 *   bucket_bug   bucket, key            the bug that each is (site_buckets.c)
 *   member       vid, key, place        the verdicts that do not conform; equal keys: one bug
 *   bug          bug, key, vid, n       the bugs, most frequent first, with the verdict that shows
 *                                       it best
 *   case_row     row, vid, bug          all verdicts in the order of the data files
 *   bucket_runs  bucket, first, runs    the runs that have a bug, in the whole database
 *   ratios       operation, tid, bin    how near to their bounds results were
 *   covered      tid, operation, ...    calls that were executed
 */
#include "reports/site/site_queries.h"
#include "golden/base/array.h"
#include "reports/site/site_bench_base.h"

#include <ctype.h>
#include <math.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden/model/op.h"
#include "reports/database.h"
#include "reports/gist.h"

/* ---- functions */

/* ratio_bin(ratio): 0: exact; 1 to 10: within the bound, by powers of two, 10 is (1/2, 1]; from
 * RATIO_WITHIN on beyond it; the last one also for NaN. */
static void ratio_bin(sqlite3_context *context, int n, sqlite3_value **value)
{
    bool is_nan = n != 1 || sqlite3_value_type(value[0]) == SQLITE_NULL;
    double ratio = is_nan ? INFINITY : sqlite3_value_double(value[0]);
    int bin = RATIO_BINS - 1;
    if (ratio == 0)
        bin = 0;
    else if (ratio < 0x1p12)
        bin = (int) fmax(1, ceil(log2(ratio)) + 10);
    sqlite3_result_int(context, bin < RATIO_BINS ? bin : RATIO_BINS - 1);
}

/* time_bin(ms): the power of two of microseconds. */
static void time_bin(sqlite3_context *context, int n, sqlite3_value **value)
{
    double us = n == 1 ? sqlite3_value_double(value[0]) * 1000 : 0;
    int bin = us > 1 ? (int) fmin(log2(us), TIME_BINS - 1) : 0;
    sqlite3_result_int(context, bin);
}

/* ---- tables */

/* Gives a database of a version before 5 the columns of version 5; %s: those of version 2, which
 * version 1 lacks. */
static const char as_version_5[] =
    "CREATE TEMP VIEW details AS SELECT *%s, NULL AS blamed_operation, NULL AS blamed_index, "
    "NULL AS blamed_place, NULL AS blamed_expected, NULL AS blamed_actual, NULL AS blamed_bound, "
    "NULL AS blamed_ratio, NULL AS blamed_count, NULL AS blamed_graph, NULL AS blamed_type, "
    "NULL AS blamed_output, NULL AS blamed_why, NULL AS bucket, NULL AS shrunk%s FROM main.details";
static const char as_version_2[] = ", NULL AS confirmed, NULL AS printed, NULL AS backtrace";
static const char as_version_4[] = ", NULL AS attempts, NULL AS failed_attempts";

/* Tables that older databases, or some of the present version, lack. */
static const struct {
    const char *name, *columns;
} later_tables[] = {
    { "unloaded_files", "0 AS run, 0 AS ordinal, '' AS file, '' AS why" },
    { "support_sets", "'' AS digest, '' AS text" },
    { "run_notes", "0 AS run, 0 AS target, '' AS text" },
    { "target_performance", "0 AS run, 0 AS target, '' AS what, 0.0 AS time, 0.0 AS power" },
    { "bench_results",
      "0 AS run, 0 AS target, '' AS model, 0 AS ordinal, '' AS verdict, '' AS why, 0 AS sequences, "
      "0 AS inferences, 0.0 AS first_compile_ns, 0.0 AS first_ns, 0 AS cache_bytes, "
      "0 AS memory_bytes" },
    { "bench_times",
      "0 AS run, 0 AS target, '' AS model, '' AS what, '' AS clock, 0 AS n, 0.0 AS mean_ns, "
      "0.0 AS median_ns, 0.0 AS p90_ns, 0.0 AS p99_ns, 0.0 AS deviation_ns, '' AS buckets" },
    { "bench_noise",
      "0 AS run, 0 AS target, '' AS model, '' AS what, '' AS clock, 0 AS parts, 0.0 AS low_ns, "
      "0.0 AS high_ns" },
    { "bench_metrics",
      "0 AS run, 0 AS target, '' AS model, '' AS key, 0 AS more_is_better, 0.0 AS value, "
      "0.0 AS reference, 0.0 AS expected, 0.0 AS allowed, '' AS worse" },
    { "coverage",
      "0 AS run, 0 AS target, '' AS operation, '' AS form, '' AS types, 0 AS rank, '' AS options, "
      "'' AS value_class, 0 AS ran, 0 AS not_run" },
    { "neighbours",
      "0 AS run, 0 AS target, '' AS producer, '' AS consumer, 0 AS ran, 0 AS not_run" },
    { "summary_parts", "0 AS run, 0 AS n_cases" },
    { "summary_verdicts", "0 AS run, 0 AS target, '' AS verdict, 0 AS n, 0 AS checked, 0 AS us" },
    { "summary_operations",
      "0 AS run, 0 AS target, '' AS operation, '' AS type, '' AS verdict, 0 AS n, 0 AS beside, "
      "0 AS checked, 0 AS us" },
    { "summary_reasons", "0 AS run, 0 AS target, '' AS verdict, '' AS reason, '' AS name, 0 AS n" },
    { "summary_ratios", "0 AS run, 0 AS target, '' AS operation, '[]' AS bins, 0.0 AS ratio" },
    { "summary_coverage", "0 AS run, '' AS key, 0 AS target, '' AS items" },
    { "summary_buckets", "0 AS run, 0 AS target, '' AS key, 0 AS n, '' AS cause" },
};

/* The newest result of each model and target. */
#define BENCH_NOW                                                                                  \
    "WITH rows AS (SELECT b.*, t.uri, row_number() OVER (PARTITION BY b.model, t.uri ORDER BY "    \
    "b.run DESC) AS age FROM bench_results b JOIN targets t ON t.target = b.target "               \
    "WHERE ?1 = 0 OR b.run <= ?1), now AS (SELECT * FROM rows WHERE age = 1 AND ?1 IN (0, run)) "

/* The columns of site_bench.c: x synchronous, u in a burst, v on the device, c compiled, l from a
 * cache; p before, n the noise. */
static const char bench_columns[] = BENCH_NOW
    "SELECT b.model, b.uri, b.verdict, b.why, x.mean_ns, x.median_ns, x.p90_ns, x.p99_ns, "
    "x.deviation_ns, x.buckets, p.median_ns, p.parts, p.low_ns, p.high_ns, n.parts, n.low_ns, "
    "n.high_ns, u.mean_ns, v.mean_ns, c.mean_ns, l.mean_ns, b.cache_bytes, b.memory_bytes "
    "FROM now b "
    "LEFT JOIN bench_times x ON (x.run, x.target, x.model) = (b.run, b.target, b.model) AND "
    "x.what = 'synchronous' AND x.clock = 'wall' "
    "LEFT JOIN bench_times u ON (u.run, u.target, u.model) = (b.run, b.target, b.model) AND "
    "u.what = 'burst' AND u.clock = 'wall' "
    "LEFT JOIN bench_times v ON (v.run, v.target, v.model) = (b.run, b.target, b.model) AND "
    "v.what = 'synchronous' AND v.clock = 'device' "
    "LEFT JOIN bench_times c ON (c.run, c.target, c.model) = (b.run, b.target, b.model) AND "
    "c.what = 'compile' AND c.clock = 'wall' "
    "LEFT JOIN bench_times l ON (l.run, l.target, l.model) = (b.run, b.target, b.model) AND "
    "l.what = 'prepare from cache' AND l.clock = 'wall' "
    "LEFT JOIN bench_noise n ON (n.run, n.target, n.model) = (b.run, b.target, b.model) AND "
    "n.what = 'synchronous' AND n.clock = 'wall' "
    "LEFT JOIN base_times p ON (p.model, p.uri) = (b.model, b.uri) AND p.what = 'synchronous' AND "
    "p.clock = 'wall' "
    "ORDER BY b.ordinal, b.model, b.target";

/* Before version 4, names of random cases lack the options that the graphs were generated with. */
static const char graphs_before_4[] =
    ", (SELECT CASE WHEN json_valid(options) THEN options ->> '$.graphs' END FROM runs "
    "WHERE runs.run = d.run)";

static const char create_targets[] =
    "CREATE TEMP TABLE target_list (tid INTEGER PRIMARY KEY, uri TEXT UNIQUE);"
    "INSERT INTO target_list SELECT row_number() OVER (ORDER BY min(run * 64 + ordinal)) - 1, uri "
    "FROM targets WHERE %lld IN (0, run) GROUP BY uri";

/* Of the columns beside max() SQLite takes the row that has the maximum.  %s: what else
 * distinguishes cases. */
static const char create_shown[] =
    "CREATE TEMP TABLE shown AS SELECT max(d.run) AS run, d.case_id, d.target_ordinal AS ordinal, "
    "d.uri, d.name, CASE WHEN " PASSED_UNDECIDED " THEN 'undecided' ELSE d.verdict END AS verdict, "
    "d.conforming, d.ms, d.device_ns, d.checked, d.n_operations, d.output IS NOT NULL AS compared, "
    "d.operation, d.type, d.ratio, d.blamed_operation AS blamed, d.blamed_type, d.blamed_count, "
    "d.blamed_ratio, d.bucket, (SELECT tid FROM target_list l WHERE l.uri = d.uri) AS tid "
    "FROM details d WHERE %lld IN (0, d.run) "
    "GROUP BY d.name, d.file, d.uri%s";

/* Summaries, whose failures in `shown` are the first ones of each bucket; and all verdicts. */
static const char create_summed[] =
    "CREATE TEMP TABLE summed AS SELECT run, sum(n_cases) AS n_cases FROM summary_parts "
    "WHERE %lld IN (0, run) GROUP BY run;"
    "CREATE TEMP TABLE total AS SELECT tid, verdict, conforming, count(*) AS n, "
    "  sum(checked) AS checked, sum(ms) AS ms FROM shown "
    "  WHERE run NOT IN (SELECT run FROM summed) GROUP BY tid, verdict "
    "UNION ALL SELECT l.tid, v.verdict, "
    "  v.verdict IN ('pass', 'unsupported', 'undecided', 'waived'), v.n, v.checked, v.us / 1000.0 "
    "  FROM summary_verdicts v JOIN summed USING (run) "
    "  JOIN targets t ON t.target = v.target JOIN target_list l ON l.uri = t.uri;";

static const char create_cells[] =
    "CREATE TEMP TABLE pair (pair INTEGER PRIMARY KEY, operation TEXT, type TEXT,"
    "  UNIQUE (operation, type));"
    "INSERT INTO pair SELECT row_number() OVER (ORDER BY operation, type) - 1, operation, type FROM"
    "  (SELECT operation, type FROM case_operations WHERE case_id IN"
    "    (SELECT case_id FROM shown)"
    "   UNION SELECT operation, type FROM summary_operations JOIN summed USING (run));"
    "CREATE TEMP TABLE cell (pair, tid, failed, suspect, other, passed, undecided, waived,"
    "  unsupported, not_run, checked, ms);";

/* pair, tid, verdict, conforming, own, checked, ms of each verdict and operation.  own: whether the
 * operation is blamed; NULL: none is.  blamed is "ADD", or of several operations "ADD (3), MUL
 * (5)". Where the case has the operation in several types, the one that is blamed counts. */
static const char select_hits[] =
    "SELECT p.pair, s.tid, s.verdict, s.conforming, CASE WHEN s.verdict = 'pass' THEN 0 "
    "  WHEN s.blamed IS NOT NULL THEN"
    "    instr(', ' || s.blamed || ' (', ', ' || o.operation || ' (') > 0 AND"
    "    (s.blamed_type IS NULL OR s.blamed_type = o.type OR s.blamed_count > 1 OR NOT EXISTS"
    "      (SELECT 1 FROM case_operations x WHERE x.case_id = s.case_id AND"
    "       x.operation = o.operation AND x.type = s.blamed_type))"
    "  WHEN s.n_operations = 1 THEN 1 END, s.checked, s.ms"
    " FROM shown s JOIN case_operations o USING (case_id)"
    " JOIN pair p ON p.operation = o.operation AND p.type = o.type"
    " WHERE s.run NOT IN (SELECT run FROM summed)";

/* A summary has how many verdicts count for the operation, n, and for others, beside. */
static const char add_summed_cells[] =
    "INSERT INTO cell SELECT p.pair, l.tid, iif(bad, n, 0), 0, iif(bad OR verdict = 'waived', "
    "beside, 0), iif(verdict = 'pass', n, 0), iif(verdict = 'undecided', n, 0), iif(verdict = "
    "'waived', n, 0), iif(verdict = 'unsupported', n, 0), iif(verdict = 'unsupported', beside, 0), "
    "checked, us / 1000.0 FROM (SELECT o.*, verdict NOT IN ('pass', 'unsupported', 'undecided', "
    "'waived') AS bad FROM summary_operations o JOIN summed USING (run)) o JOIN pair p ON "
    "p.operation = o.operation AND p.type = o.type JOIN targets t ON t.target = o.target "
    "JOIN target_list l ON l.uri = t.uri;";

/* Failures that were not sorted into a bucket, on a target and with a verdict of which others were
 * (the shrinking of a run is limited in time), are one row after the bugs: their key begins with
 * char(2).  Where none was sorted, failures of one target, verdict, operation, type and reason are
 * one bug; reasons that differ only in numbers count as the same. */
static const char create_bugs[] =
    "CREATE TEMP TABLE sorted AS SELECT DISTINCT uri, verdict FROM shown WHERE bucket IS NOT NULL;"
    "CREATE TEMP TABLE member AS WITH a AS ("
    "  SELECT s.rowid AS vid, s.tid, s.run IN (SELECT run FROM summed) AS is_summed, s.name, "
    "s.verdict, s.n_operations,"
    "    coalesce(s.blamed_ratio, s.ratio) AS ratio, d.shrunk IS NULL AS unshrunk,"
    "    coalesce((SELECT b.key FROM bucket_bug b WHERE b.bucket = s.bucket),"
    "      CASE WHEN (s.uri, s.verdict) IN sorted THEN"
    "      char(2) || s.uri || char(2) || s.verdict END, char(1) || s.uri || char(1) || s.verdict "
    "|| char(1) ||"
    "      CASE WHEN s.blamed_count > 1 THEN gist(s.blamed)"
    "      ELSE coalesce(s.blamed, s.operation, '') END || char(1) ||"
    "      coalesce(s.blamed_type, s.type, '') || char(1) ||"
    "      CASE WHEN s.verdict = 'fail' AND s.blamed_count = 1 THEN '' ELSE gist(d.why) END) AS key"
    "  FROM shown s JOIN details d"
    "    ON d.case_id = s.case_id AND d.target_ordinal = s.ordinal WHERE NOT s.conforming)"
    "SELECT *, row_number() OVER (PARTITION BY key ORDER BY unshrunk, n_operations, name, tid)"
    "  AS place FROM a;"
    "CREATE TEMP TABLE bug (bug INTEGER PRIMARY KEY, key TEXT UNIQUE, n, targets, greatest, vid);"
    "INSERT INTO bug SELECT row_number() OVER (ORDER BY late, n DESC, key) - 1, key, n, targets,"
    "  greatest, vid FROM (SELECT key, sum(NOT is_summed) + coalesce((SELECT sum(b.n) FROM "
    "    summary_buckets b JOIN summed USING (run) JOIN bucket_bug g ON g.bucket = b.key WHERE "
    "g.key = member.key), 0) AS n, "
    "    count(DISTINCT tid) AS targets,"
    "    max(ratio) AS greatest, min(CASE WHEN place = 1 THEN vid END) AS vid,"
    "    min(2 * (key < char(3) AND key >= char(2)) + (verdict IN ('flaky', 'error'))) AS late "
    "FROM member GROUP BY key);"
    "CREATE TEMP TABLE case_row (row INTEGER PRIMARY KEY, vid INTEGER, bug INTEGER, place INTEGER);"
    "INSERT INTO case_row SELECT row_number() OVER (ORDER BY b.bug IS NULL, b.bug, m.place,"
    "    s.verdict = 'pass', s.verdict, s.name, s.uri) - 1, s.rowid, b.bug, m.place"
    "  FROM shown s LEFT JOIN member m ON m.vid = s.rowid LEFT JOIN bug b ON b.key = m.key;"
    "CREATE INDEX temp.rows_of_bug ON case_row (bug, place);"
    "CREATE TEMP TABLE bucket_runs (bucket TEXT PRIMARY KEY, first INTEGER, runs INTEGER);"
    "INSERT INTO bucket_runs SELECT key, min(run), count(DISTINCT run) FROM bucket_seen"
    "  JOIN bucket_bug USING (bucket) GROUP BY key;";

static const char create_ratios[] =
    "CREATE TEMP TABLE ratios AS SELECT operation, tid, ratio_bin(ratio) AS bin, count(*) AS n,"
    "  max(ratio) AS greatest FROM ("
    "  SELECT tid, CASE WHEN own THEN blamed ELSE s.operation END AS operation,"
    "    CASE WHEN own THEN blamed_ratio ELSE ratio END AS ratio FROM"
    "    (SELECT *, NOT conforming AND blamed_count = 1 AND blamed_ratio IS NOT NULL AS own"
    "     FROM shown WHERE compared AND run NOT IN (SELECT run FROM summed)) s)"
    "WHERE operation IS NOT NULL GROUP BY operation, tid, bin "
    "UNION ALL SELECT b.operation, l.tid, ratio_bin(CASE WHEN b.key <= -60 THEN 0 "
    "  WHEN b.key < 0 THEN 1.0 / (1 << -b.key) WHEN b.key < 60 THEN 1.0 * (1 << b.key) END) AS "
    "bin, "
    "  sum(b.value), max(b.ratio) FROM (SELECT operation, target, ratio, value ->> 0 AS "
    "  key, value ->> 1 AS value FROM summary_ratios JOIN summed USING (run), json_each(bins)) b "
    "JOIN targets t ON t.target = b.target JOIN target_list l ON l.uri = t.uri "
    "GROUP BY 1, 2, 3";

/* The columns of QUERY_TARGETS. */
static const char create_target_facts[] =
    "CREATE TEMP TABLE target_facts AS "
    "SELECT l.tid, l.uri, t.name, t.version, t.type, t.hal, coalesce(n.checked, 0), "
    "coalesce(n.ms, 0), n.device_ns, (SELECT count(DISTINCT key) FROM member m WHERE "
    "m.tid = l.tid) FROM target_list l "
    "JOIN (SELECT uri, max(target) AS target FROM targets GROUP BY uri) u ON u.uri = l.uri "
    "JOIN targets t ON t.target = u.target LEFT JOIN (SELECT tid, sum(checked) AS checked, "
    "sum(ms) AS ms, (SELECT sum(device_ns) FROM shown s WHERE s.tid = total.tid AND s.run NOT IN "
    "(SELECT run FROM summed)) AS device_ns FROM total GROUP BY tid) n ON n.tid = l.tid ";

static const char create_covered[] =
    "CREATE TEMP TABLE covered AS SELECT l.tid, c.operation, c.form, c.types, c.rank, c.options,"
    "  c.value_class, sum(c.ran) AS ran, sum(c.not_run) AS not_run"
    "  FROM coverage c JOIN targets t ON t.target = c.target JOIN target_list l ON l.uri = t.uri"
    "  WHERE %lld IN (0, c.run) GROUP BY 1, 2, 3, 4, 5, 6, 7";

/* The text of a summary's coverage (randgraph/coverage.h), as far as it is read. */
struct coverage_text {
    const char *counts; /* the next one */
    const char **place; /* [n_places] lines "OPERATION<tab>FORM<tab>TYPES" */
    size_t n_places, at;
    bool is_rank; /* in the facet of ranks */
};

static bool add_place(struct coverage_text *x, const char *line)
{
    const char **more = array_room(x->place, x->n_places, sizeof *more);
    if (!more)
        return false;
    x->place = more;
    x->place[x->at = x->n_places++] = line;
    return true;
}

static int cover_rank(sqlite3_stmt *insert, int64_t tid, const char *place, int rank, int64_t ran,
                      int64_t not_run)
{
    const char *form = strchr(place, '\t'), *types = form ? strchr(form + 1, '\t') : NULL;
    if (!types)
        return 0;
    sqlite3_reset(insert);
    sqlite3_bind_int64(insert, 1, tid);
    sqlite3_bind_text(insert, 2, place, (int) (form - place), SQLITE_TRANSIENT);
    sqlite3_bind_text(insert, 3, form + 1, (int) (types - form - 1), SQLITE_TRANSIENT);
    sqlite3_bind_text(insert, 4, types + 1, (int) strcspn(types + 1, "\n"), SQLITE_TRANSIENT);
    sqlite3_bind_int(insert, 5, rank);
    sqlite3_bind_int64(insert, 6, ran);
    sqlite3_bind_int64(insert, 7, not_run);
    return sqlite3_step(insert) == SQLITE_DONE ? 0 : -1;
}

static int cover_line(struct coverage_text *x, const char *line, sqlite3_stmt *insert, int64_t tid)
{
    if (*line == '[') {
        x->is_rank = !strncmp(line, "[rank]", 6);
        return 0;
    }
    if (*line == '=')
        return add_place(x, line + 1) ? 0 : -1;
    if (*line == '#') {
        x->at += (size_t) (line[1] == '\n' ? 1 : atoi(line + 1));
        return 0;
    }
    char *end;
    int64_t ran = strtoll(x->counts, &end, 10), not_run = *end == ' ' ? strtoll(end, &end, 10) : 0;
    x->counts = *end == '\n' ? end + 1 : end;
    return x->is_rank && x->at < x->n_places
               ? cover_rank(insert, tid, x->place[x->at], atoi(line), ran, not_run)
               : 0;
}

/* Adds the items of ranks to `covered`; what a summary does not have together, options and classes
 * of values, stays empty. */
static int cover_ranks(sqlite3_stmt *insert, int64_t tid, const char *items)
{
    static const char mark[] = "[counts]\n";
    const char *names_end = strstr(items, mark);
    struct coverage_text x = { .counts = names_end ? names_end + strlen(mark) : "" };
    int failed = 0;
    for (const char *at = items; names_end && !failed && at < names_end;
         at = strchr(at, '\n') + 1) /* the mark has one */
        failed = cover_line(&x, at, insert, tid);
    free(x.place);
    return failed;
}

static int cover_summed(sqlite3 *db, const char *path, struct why *w)
{
    sqlite3_stmt *row = NULL, *insert = NULL;
    int step = SQLITE_ERROR, failed = 0;
    if (sqlite3_prepare_v2(db,
                           "SELECT l.tid, text_of(c.items), min(c.key) FROM summary_coverage c "
                           "JOIN summed USING (run) JOIN targets t ON t.target = c.target "
                           "JOIN target_list l ON l.uri = t.uri GROUP BY c.run, c.target",
                           -1, &row, NULL) == SQLITE_OK &&
        sqlite3_prepare_v2(db, "INSERT INTO covered VALUES (?1, ?2, ?3, ?4, ?5, '', '', ?6, ?7)",
                           -1, &insert, NULL) == SQLITE_OK)
        while (!failed && (step = sqlite3_step(row)) == SQLITE_ROW) {
            const char *items = (const char *) sqlite3_column_text(row, 1);
            failed = cover_ranks(insert, sqlite3_column_int64(row, 0), items ? items : "");
        }
    if (failed || step != SQLITE_DONE)
        failed = database_failed(db, path, w);
    sqlite3_finalize(row);
    sqlite3_finalize(insert);
    return failed;
}

static int run_sql(sqlite3 *db, const char *path, const char *format, int64_t run, const char *more,
                   struct why *w)
{
    char sql[4096];
    int n = snprintf(sql, sizeof(sql), format, (long long) run, more);
    REQUIRE(w, n > 0 && n < (int) sizeof(sql), "%s: a query is too long", path);
    return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : database_failed(db, path, w);
}

static int add_functions(sqlite3 *db)
{
    const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC;
    return gist_function(db) |
           sqlite3_create_function(db, "ratio_bin", 1, flags, NULL, ratio_bin, NULL, NULL) |
           sqlite3_create_function(db, "time_bin", 1, flags, NULL, time_bin, NULL, NULL);
}

/* Empty views in the place of tables that the database lacks. */
static int add_later_tables(sqlite3 *db, const char *path, struct why *w)
{
    for (int i = 0; i < COUNT(later_tables); i++) {
        char *sql = sqlite3_mprintf("SELECT 1 FROM %s", later_tables[i].name);
        sqlite3_stmt *s = NULL;
        bool has = sql && sqlite3_prepare_v2(db, sql, -1, &s, NULL) == SQLITE_OK;
        sqlite3_finalize(s);
        sqlite3_free(sql);
        if (has)
            continue;
        sql = sqlite3_mprintf("CREATE TEMP VIEW %s AS SELECT %s WHERE 0", later_tables[i].name,
                              later_tables[i].columns);
        bool made = sql && sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK;
        sqlite3_free(sql);
        if (!made)
            return database_failed(db, path, w);
    }
    return 0;
}

/* ---- cells: summed here, because sorting millions of rows for GROUP BY takes most of the time */

struct sums {
    bool any;
    int64_t n[ROLE_MS];
    double ms;
};

static void add_hit(struct sums *c, sqlite3_stmt *row)
{
    const char *verdict = (const char *) sqlite3_column_text(row, 2);
    bool conforming = sqlite3_column_int(row, 3),
         blames = sqlite3_column_type(row, 4) != SQLITE_NULL;
    bool own = blames && sqlite3_column_int(row, 4);
    int role = ROLE_PASSED;
    if (!verdict)
        return;
    if (!conforming)
        role = own ? ROLE_FAILED : blames ? ROLE_OTHER : ROLE_SUSPECT;
    else if (!strcmp(verdict, "undecided"))
        role = ROLE_UNDECIDED;
    else if (!strcmp(verdict, "waived"))
        role = own || !blames ? ROLE_WAIVED : ROLE_OTHER;
    else if (!strcmp(verdict, "unsupported"))
        role = own ? ROLE_UNSUPPORTED : ROLE_NOT_RUN;
    c->any = true;
    c->n[role]++;
    c->n[ROLE_CHECKED] += sqlite3_column_int64(row, 5);
    c->ms += sqlite3_column_double(row, 6);
}

static int write_cell(sqlite3_stmt *insert, int64_t pair, int64_t tid, const struct sums *c)
{
    sqlite3_reset(insert);
    sqlite3_bind_int64(insert, 1, pair);
    sqlite3_bind_int64(insert, 2, tid);
    for (int i = 0; i < ROLE_MS; i++)
        sqlite3_bind_int64(insert, 3 + i, c->n[i]);
    sqlite3_bind_double(insert, 3 + ROLE_MS, c->ms);
    return sqlite3_step(insert) == SQLITE_DONE ? 0 : -1;
}

static int64_t count_rows(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *row;
    int64_t n = 0;
    if (sqlite3_prepare_v2(db, sql, -1, &row, NULL) == SQLITE_OK && sqlite3_step(row) == SQLITE_ROW)
        n = sqlite3_column_int64(row, 0);
    sqlite3_finalize(row);
    return n;
}

static int fill_cells(sqlite3 *db, const char *path, struct why *w)
{
    int64_t pairs = count_rows(db, "SELECT count(*) FROM pair"),
            targets = count_rows(db, "SELECT count(*) FROM target_list");
    struct sums *cell = calloc((size_t) (pairs * targets + 1), sizeof(*cell));
    sqlite3_stmt *row = NULL, *insert = NULL;
    int step = SQLITE_ERROR, failed = 0;
    if (!cell)
        return why_no_memory(w);
    if (sqlite3_prepare_v2(db, select_hits, -1, &row, NULL) == SQLITE_OK)
        while ((step = sqlite3_step(row)) == SQLITE_ROW) {
            int64_t pair = sqlite3_column_int64(row, 0), tid = sqlite3_column_int64(row, 1);
            if (pair >= 0 && pair < pairs && tid >= 0 && tid < targets)
                add_hit(&cell[pair * targets + tid], row);
        }
    failed = step == SQLITE_DONE ? 0 : database_failed(db, path, w);
    sqlite3_finalize(row);
    if (!failed && sqlite3_prepare_v2(db, "INSERT INTO cell VALUES (?,?,?,?,?,?,?,?,?,?,?,?)", -1,
                                      &insert, NULL) != SQLITE_OK)
        failed = database_failed(db, path, w);
    for (int64_t i = 0; !failed && i < pairs * targets; i++)
        if (cell[i].any && write_cell(insert, i / targets, i % targets, &cell[i]) < 0)
            failed = database_failed(db, path, w);
    sqlite3_finalize(insert);
    free(cell);
    return failed;
}

int site_create_tables(sqlite3 *db, const char *path, const struct report_options *o, int version,
                       struct why *w)
{
    const int64_t run = o->run;
    char view[sizeof(as_version_5) + sizeof(as_version_2) + sizeof(as_version_4)];
    snprintf(view, sizeof(view), as_version_5, version < 2 ? as_version_2 : "",
             version < 4 ? as_version_4 : "");
    if (add_functions(db) != SQLITE_OK ||
        (version < 5 && sqlite3_exec(db, view, NULL, NULL, NULL) != SQLITE_OK))
        return database_failed(db, path, w);
    TRY(add_later_tables(db, path, w));
    TRY(site_create_bench_base(db, path, o, add_later_tables, w));
    TRY(run_sql(db, path, create_targets, run, "", w));
    TRY(run_sql(db, path, create_shown, run, version < 4 ? graphs_before_4 : "", w));
    TRY(run_sql(db, path, create_summed, run, "", w));
    if (sqlite3_exec(db, create_cells, NULL, NULL, NULL) != SQLITE_OK)
        return database_failed(db, path, w);
    TRY(fill_cells(db, path, w));
    TRY(site_join_buckets(db, path, w));
    if (sqlite3_exec(db, add_summed_cells, NULL, NULL, NULL) != SQLITE_OK ||
        sqlite3_exec(db, create_bugs, NULL, NULL, NULL) != SQLITE_OK ||
        sqlite3_exec(db, create_ratios, NULL, NULL, NULL) != SQLITE_OK ||
        sqlite3_exec(db, create_target_facts, NULL, NULL, NULL) != SQLITE_OK)
        return database_failed(db, path, w);
    TRY(run_sql(db, path, create_covered, run, "", w));
    return cover_summed(db, path, w);
}

/* ---- queries */

/* The columns of enum case_column; r: case_row, s: shown, d: details. */
#define CASE_COLUMNS                                                                               \
    "r.row, s.uri, s.name, s.verdict, d.why, d.stage, d.status, d.judge, d.ms, d.device_ns, "      \
    "d.level, d.n_operations, d.checked, d.wrong, d.output, d.place, d.operation, d.type, "        \
    "d.expected, d.actual, d.bound, d.ratio, d.replay, text_of(d.spec), d.confirmed, d.printed, "  \
    "d.backtrace, d.blamed_count, d.blamed_graph, d.blamed_index, d.blamed_operation, "            \
    "d.blamed_type, d.blamed_why, d.blamed_output, d.blamed_place, d.blamed_expected, "            \
    "d.blamed_actual, d.blamed_bound, d.blamed_ratio, d.bucket, text_of(d.shrunk), d.was, r.place"
#define DETAILS_OF_SHOWN "details d ON d.case_id = s.case_id AND d.target_ordinal = s.ordinal"
#define ROLES                                                                                      \
    "sum(failed), sum(suspect), sum(other), sum(passed), sum(undecided), sum(waived), "            \
    "sum(unsupported), sum(not_run), sum(checked), sum(ms)"
/* The rows of unloaded_files that are shown: of runs of the same cases the newest one's; what all
 * shards of a campaign have once. */
#define SHOWN_FILES                                                                                \
    "(SELECT max(run) AS run, min(ordinal) AS ordinal, file, why FROM unloaded_files "             \
    "WHERE ?1 = run OR ?1 = 0 AND run IN (SELECT max(run) FROM runs GROUP BY kind, options) "      \
    "GROUP BY file, why) f"
/* Why cases were not compared, the most frequent first: reasons that are alike with the first case.
 * A summary has them by operation and type. */
#define NOT_COMPARED(why, alike, verdict)                                                          \
    "SELECT s.uri, " why " AS reason, s.name, count(*), min(s.case_id) FROM shown s "              \
    "JOIN " DETAILS_OF_SHOWN " WHERE s.verdict = '" verdict "' AND s.run NOT IN (SELECT run FROM " \
    "summed) GROUP BY s.uri, " alike " UNION ALL SELECT t.uri, x.reason, x.name, x.n, NULL "       \
    "FROM summary_reasons x JOIN summed USING (run) JOIN targets t ON t.target = x.target "        \
    "WHERE x.verdict = '" verdict "' ORDER BY 4 DESC, 1, 2 LIMIT 100"

/* Since when a verdict is recorded: the columns since, days until the newest run, runs; x: details,
 * ru: its run. */
#define AGE                                                                                        \
    "substr(min(ru.started), 1, 10), CAST((SELECT julianday(max(started)) FROM runs) - "           \
    "julianday(min(ru.started)) AS INTEGER), count(DISTINCT x.run)"

const char *const site_sql[N_QUERIES] = {
    [QUERY_VERDICTS] = "SELECT verdict, sum(n), conforming FROM total GROUP BY verdict",
    [QUERY_UNFINISHED] = "SELECT count(*) FROM runs WHERE finished IS NULL AND run IN "
                         "(SELECT run FROM shown)",
    [QUERY_COMPARED] = "SELECT coalesce(sum(checked), 0) FROM total",
    [QUERY_CASES] =
        "SELECT (SELECT count(DISTINCT case_id) FROM shown WHERE run NOT IN (SELECT run "
        "FROM summed)) + (SELECT coalesce(sum(n_cases), 0) FROM summed)",
    [QUERY_SUMMED] = "SELECT coalesce(sum(n_cases), 0) FROM summed",
    [QUERY_N_TARGETS] = "SELECT count(*) FROM target_list",
    [QUERY_N_UNLOADED] = "SELECT count(*) FROM " SHOWN_FILES,
    [QUERY_N_BUGS] = "SELECT count(*) FROM bug WHERE NOT (key >= char(2) AND key < char(3))",
    [QUERY_N_ROWS_OF_BUGS] = "SELECT count(*) FROM bug",
    [QUERY_N_UNSORTED] = "SELECT coalesce(sum(n), 0) FROM bug WHERE key >= char(2) AND "
                         "key < char(3)",
    [QUERY_BUGS] =
        "SELECT b.bug, b.key, coalesce((SELECT cause FROM bucket_cause c WHERE c.bucket = s.bucket "
        "AND place = 1), s.bucket), b.n, b.targets, b.greatest, r.row, "
        "text_of(d.shrunk), " CASE_COLUMNS
        " FROM bug b CROSS JOIN case_row r ON r.bug = b.bug AND r.place = 1 "
        "CROSS JOIN shown s ON s.rowid = b.vid CROSS JOIN " DETAILS_OF_SHOWN
        " WHERE b.bug >= ?1 AND b.bug < ?1 + ?2 ORDER BY b.bug",
    [QUERY_BUG_TARGETS] =
        "SELECT uri, sum(n) AS n FROM (SELECT s.uri, count(*) AS n FROM case_row r JOIN "
        "shown s ON "
        "s.rowid = r.vid WHERE r.bug = ?1 AND s.run NOT IN (SELECT run FROM summed) GROUP "
        "BY s.uri "
        "UNION ALL SELECT t.uri, b.n FROM bug g JOIN bucket_bug x ON x.key = g.key "
        "JOIN summary_buckets b ON b.key = x.bucket "
        "JOIN summed USING (run) JOIN targets t ON t.target = b.target WHERE g.bug = ?1) "
        "GROUP BY uri ORDER BY n DESC, uri",
    [QUERY_BUG_BLAMED] =
        "SELECT CASE WHEN s.blamed_count > 1 THEN 'several operations together' "
        "ELSE coalesce(s.blamed, 'none alone') END AS operation, "
        "CASE WHEN s.blamed_count > 1 THEN '' ELSE coalesce(s.blamed_type, '') END, "
        "count(*) FROM case_row r JOIN shown s ON s.rowid = r.vid WHERE r.bug = ?1 "
        "GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT 12",
    [QUERY_BUG_RUNS] =
        "SELECT h.first, substr(ru.started, 1, 10), h.runs FROM bug b JOIN bucket_runs h "
        "ON h.bucket = b.key JOIN runs ru ON ru.run = h.first WHERE b.bug = ?1",
    [QUERY_TARGETS] = "SELECT * FROM target_facts ORDER BY tid",
    [QUERY_TARGET_TOTALS] = "SELECT tid, verdict, sum(n) FROM total GROUP BY 1, 2 ORDER BY 1",
    /* conform/1.3/model/M9 */
    [QUERY_SUITES] = "SELECT substr(rule, 1, instr(rule, '/') - 1) AS suite, verdict, "
                     "count(*), sum(checked), "
                     "sum(ms) FROM (SELECT *, substr(name, 9 + instr(substr(name, 9), "
                     "'/')) AS rule FROM shown "
                     "WHERE name GLOB 'conform/*') GROUP BY 1, 2 ORDER BY 1",
    [QUERY_OPERATIONS] = "SELECT operation, " ROLES " FROM cell JOIN pair USING (pair) "
                         "GROUP BY operation ORDER BY sum(failed) DESC, sum(suspect) DESC, 1",
    [QUERY_TYPES] = "SELECT type, " ROLES " FROM cell JOIN pair USING (pair) "
                    "GROUP BY type ORDER BY sum(failed) DESC, sum(suspect) DESC, 1",
    [QUERY_PAIRS] = "SELECT operation, type FROM pair ORDER BY pair",
    [QUERY_CELLS] = "SELECT pair, tid, " ROLES " FROM cell GROUP BY pair, tid ORDER BY pair, tid",
    [QUERY_CELL_BUGS] =
        "SELECT p.pair, m.tid, b.bug, count(*) FROM member m JOIN bug b USING (key) "
        "JOIN shown s ON s.rowid = m.vid JOIN case_operations o ON o.case_id = s.case_id "
        "JOIN pair p ON p.operation = o.operation AND p.type = o.type "
        "WHERE s.blamed IS NULL OR instr(', ' || s.blamed || ' (', ', ' || o.operation || "
        "' (') > "
        "0 "
        "GROUP BY 1, 2, 3 ORDER BY 1, 2, 4 DESC, 3",
    [QUERY_COVERED] =
        "SELECT tid, count(DISTINCT operation), count(DISTINCT operation || '/' || form || "
        "'/' || "
        "types), count(DISTINCT operation || '/' || form || '/' || types || '/' || rank), "
        "count(DISTINCT operation || '/' || form || '/' || types || '/' || options), "
        "count(DISTINCT operation || '/' || form || '/' || types || '/' || value_class), "
        "sum(ran), "
        "(SELECT sum(not_run) FROM covered n WHERE n.tid = c.tid) FROM covered c WHERE ran "
        "> 0 "
        "GROUP BY tid",
    [QUERY_COVERED_OPERATIONS] = "SELECT operation, count(DISTINCT CASE WHEN ran > 0 THEN "
                                 "form || '/' || types END), "
                                 "sum(ran), sum(not_run), count(DISTINCT CASE WHEN ran > 0 "
                                 "THEN tid END) FROM covered "
                                 "GROUP BY operation ORDER BY 3, 1",
    [QUERY_PAIRS_COVERED] =
        "SELECT l.tid, count(DISTINCT n.producer || '/' || n.consumer) FROM neighbours n "
        "JOIN targets t ON t.target = n.target JOIN target_list l ON l.uri = t.uri "
        "WHERE n.ran > 0 AND ?1 IN (0, n.run) GROUP BY 1",
    [QUERY_RATIOS] = "SELECT operation, tid, bin, n, greatest FROM ratios ORDER BY operation, tid",
    [QUERY_WALL_TIMES] = "SELECT tid, time_bin(ms) AS bin, count(*) FROM shown "
                         "WHERE verdict <> 'unsupported' AND run NOT IN (SELECT run FROM summed) "
                         "GROUP BY 1, 2 ORDER BY 1, 2",
    [QUERY_SLOWEST] = "SELECT name, uri, verdict, ms, device_ns, n_operations FROM shown "
                      "WHERE run NOT IN (SELECT run FROM summed) ORDER BY ms DESC, name LIMIT 10",
    [QUERY_PERFORMANCE] =
        "SELECT l.tid, p.what, p.time, p.power FROM target_list l JOIN (SELECT uri, "
        "max(target) AS "
        "target FROM targets GROUP BY uri) u ON u.uri = l.uri JOIN target_performance p ON "
        "p.target = u.target ORDER BY p.what, l.tid",
    [QUERY_BENCH] = bench_columns,
    [QUERY_BENCH_BASE] = "SELECT DISTINCT run, started FROM base_results ORDER BY run",
    [QUERY_BENCH_CHANGES] = BENCH_NOW
    "SELECT b.model, b.uri, x.what, x.clock, r.run, p.median_ns, p.parts, p.low_ns, "
    "p.high_ns, x.median_ns, coalesce(n.parts, 0), n.low_ns, n.high_ns FROM now b "
    "JOIN bench_times x ON x.run = b.run AND x.target = b.target AND x.model = b.model "
    "JOIN base_times p ON p.model = b.model AND p.uri = b.uri AND p.what = x.what AND "
    "p.clock = x.clock JOIN base_results r ON r.model = b.model AND r.uri = b.uri "
    "LEFT JOIN bench_noise n ON n.run = x.run AND n.target = x.target AND "
    "n.model = x.model AND n.what = x.what AND n.clock = x.clock "
    "ORDER BY b.ordinal, b.model, b.target, x.what, x.clock",
    [QUERY_BENCH_METRICS] = BENCH_NOW
    "SELECT b.model, b.uri, m.key, m.value, m.reference, m.expected, m.allowed, m.worse, "
    "o.value, m.more_is_better FROM now b JOIN bench_metrics m ON "
    "m.run = b.run AND m.target = b.target AND m.model = b.model LEFT JOIN base_metrics o "
    "ON o.model = b.model AND o.uri = b.uri AND o.key = m.key "
    "ORDER BY b.ordinal, b.model, b.target, m.key LIKE '%reference%', m.key",
    [QUERY_N_BENCH] = BENCH_NOW "SELECT count(*) FROM now",
    [QUERY_N_BENCH_BAD] = BENCH_NOW /* of the verdicts that a benchmark gives */
    "SELECT count(*) FROM now WHERE verdict NOT IN ('pass', 'undecided', 'unsupported')",
    [QUERY_FLAKES] = "SELECT s.name, s.uri, d.was, d.failed_attempts, d.attempts, " AGE
                     " FROM shown s JOIN " DETAILS_OF_SHOWN
                     " JOIN details x ON x.name = s.name AND x.uri = s.uri AND "
                     "x.verdict = 'flaky' JOIN runs ru ON ru.run = x.run WHERE s.verdict = 'flaky' "
                     "GROUP BY s.rowid ORDER BY 4 * 1.0 / 5 DESC, 1, 2 LIMIT 200",
    [QUERY_WAIVERS] =
        "SELECT CASE WHEN instr(d.why, ' (' || d.was || ': ') > 0 THEN "
        "substr(d.why, 1, instr(d.why, ' (' || d.was || ': ')) ELSE d.why END AS reason, "
        "s.uri, "
        "d.was, "
        "count(DISTINCT s.rowid), min(s.name), " AGE " FROM shown s JOIN " DETAILS_OF_SHOWN
        " JOIN details x ON x.name = s.name AND "
        "x.uri = s.uri AND x.verdict = 'waived' JOIN runs ru ON ru.run = x.run "
        "WHERE s.verdict = 'waived' GROUP BY gist(reason), s.uri, d.was ORDER BY 4 DESC, "
        "1, 2 "
        "LIMIT 200",
    [QUERY_TREND] =
        "SELECT d.run, replace(substr(ru.started, 1, 16), 'T', ' '), ru.kind, d.verdict, "
        "sum(d.n), "
        "d.conforming FROM (SELECT run, verdict, conforming, 1 AS n FROM details WHERE run "
        "NOT IN "
        "(SELECT run FROM summary_parts) UNION ALL SELECT run, verdict, verdict IN "
        "('pass', "
        "'unsupported', 'undecided', 'waived'), n FROM summary_verdicts) d JOIN runs ru ON "
        "ru.run = d.run WHERE d.run IN (SELECT run FROM runs ORDER BY run DESC LIMIT 60) "
        "GROUP BY d.run, d.verdict ORDER BY d.run",
    [QUERY_NEW_BUGS] = "SELECT first, count(*) FROM bucket_runs GROUP BY first",
    [QUERY_UNDECIDED] = NOT_COMPARED("d.why", "gist(d.why)", "undecided"),
    [QUERY_UNSUPPORTED] = NOT_COMPARED("coalesce(d.blamed_why, d.why)", "reason", "unsupported"),
    [QUERY_RUNS] =
        "SELECT run, replace(substr(started, 1, 19), 'T', ' '), command, judge, version, "
        "seconds, n_cases, coalesce((SELECT n_cases FROM summed s WHERE s.run = runs.run), "
        "(SELECT count(*) FROM cases c WHERE c.run = runs.run AND "
        "EXISTS (SELECT 1 FROM verdicts v WHERE v.case_id = c.case_id))), finished "
        "FROM runs WHERE ?1 IN (0, run) ORDER BY run DESC LIMIT 200",
    [QUERY_UNLOADED] = "SELECT run, why FROM " SHOWN_FILES " ORDER BY run, ordinal LIMIT 1000",
    [QUERY_SUPPORT] = "SELECT DISTINCT t.uri, s.digest, s.text FROM runs r, "
                      "json_each(CASE WHEN json_valid(r.options) THEN r.options ELSE '{}' "
                      "END, '$.for') f "
                      "JOIN targets t ON t.run = r.run AND t.ordinal = f.key "
                      "JOIN support_sets s ON s.digest = f.value WHERE ?1 IN (0, r.run) "
                      "ORDER BY t.uri, s.digest",
    [QUERY_NOTES] = "SELECT n.run, t.uri, n.text FROM run_notes n JOIN targets t ON "
                    "t.target = n.target WHERE ?1 IN (0, n.run) ORDER BY 1, 2, 3 LIMIT 500",
    [QUERY_ROWS] =
        "SELECT s.name, s.tid, s.verdict, s.ms, coalesce(s.blamed_ratio, s.ratio), r.bug, "
        "(SELECT group_concat(p.pair) FROM case_operations o JOIN pair p ON "
        "p.operation = o.operation AND p.type = o.type WHERE o.case_id = s.case_id) "
        "FROM case_row r CROSS JOIN shown s ON s.rowid = r.vid "
        "WHERE r.row >= ?1 AND r.row < ?2 ORDER BY r.row",
    [QUERY_N_ROWS] = "SELECT count(*) FROM case_row",
    [QUERY_VERDICT_ROWS] = "SELECT s.verdict, min(r.row), count(*) FROM case_row r JOIN shown s ON "
                           "s.rowid = r.vid WHERE r.bug IS NULL GROUP BY 1 ORDER BY 2",
    [QUERY_TEXTS] = "SELECT r.place, sum(coalesce(length(text_of(d.spec)), 0) + "
                    "coalesce(length(d.printed), 0) "
                    "+ "
                    "coalesce(length(d.backtrace), 0) + "
                    "coalesce(length(text_of(d.shrunk)), 0)) FROM case_row "
                    "r "
                    "CROSS JOIN shown s ON s.rowid = r.vid CROSS JOIN " DETAILS_OF_SHOWN
                    " WHERE r.bug IS NOT NULL GROUP BY r.place ORDER BY r.place",
    [QUERY_DETAILS] = "SELECT " CASE_COLUMNS " FROM case_row r CROSS JOIN shown s ON "
                      "s.rowid = r.vid CROSS JOIN " DETAILS_OF_SHOWN
                      " WHERE r.row < ?1 AND r.bug IS NOT NULL ORDER BY r.row",
};
