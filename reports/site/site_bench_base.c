#include "reports/site/site_bench_base.h"

#include <sqlite3.h>

#include "reports/database.h"

static const char create[] =
    "CREATE TEMP TABLE base_results (model TEXT, uri TEXT, run INTEGER, started TEXT, "
    "PRIMARY KEY (model, uri));"
    "CREATE TEMP TABLE base_times (model TEXT, uri TEXT, what TEXT, clock TEXT, median_ns REAL, "
    "parts INTEGER, low_ns REAL, high_ns REAL, PRIMARY KEY (model, uri, what, clock));"
    "CREATE TEMP TABLE base_metrics (model TEXT, uri TEXT, key TEXT, value REAL, "
    "PRIMARY KEY (model, uri, key));";

/* Results that are the base; ?1: the run of the report, 0: the newest; ?2: the run of the base, 0:
 * the one before.  It has to be a temporary table: rows of it are joined below. */
#define CHOSEN                                                                                     \
    "WITH ranked AS (SELECT b.run, b.target, b.model, t.uri, row_number() OVER (PARTITION BY "     \
    "b.model, t.uri ORDER BY b.run DESC) AS age FROM bench_results b JOIN targets t ON "           \
    "t.target = b.target WHERE ?1 = 0 OR ?2 > 0 OR b.run <= ?1), "                                 \
    "chosen AS (SELECT * FROM ranked WHERE run = ?2 OR ?2 = 0 AND age = 2) "

static const struct {
    const char *select, *insert;
} copies[] = {
    { CHOSEN "SELECT c.model, c.uri, c.run, r.started FROM chosen c JOIN runs r ON r.run = c.run",
      "INSERT OR IGNORE INTO base_results VALUES (?, ?, ?, ?)" },
    { CHOSEN "SELECT c.model, c.uri, x.what, x.clock, x.median_ns, coalesce(n.parts, 0), n.low_ns, "
             "n.high_ns FROM chosen c JOIN bench_times x ON x.run = c.run AND x.target = c.target "
             "AND x.model = c.model LEFT JOIN bench_noise n ON n.run = x.run AND n.target = "
             "x.target AND n.model = x.model AND n.what = x.what AND n.clock = x.clock",
      "INSERT OR IGNORE INTO base_times VALUES (?, ?, ?, ?, ?, ?, ?, ?)" },
    { CHOSEN "SELECT c.model, c.uri, m.key, m.value FROM chosen c JOIN bench_metrics m ON "
             "m.run = c.run AND m.target = c.target AND m.model = c.model",
      "INSERT OR IGNORE INTO base_metrics VALUES (?, ?, ?, ?)" },
};

static int copy_rows(sqlite3 *from, sqlite3 *to, int i, const struct report_options *o)
{
    sqlite3_stmt *row = NULL, *insert = NULL;
    int step = sqlite3_prepare_v2(from, copies[i].select, -1, &row, NULL);

    if (step == SQLITE_OK)
        step = sqlite3_prepare_v2(to, copies[i].insert, -1, &insert, NULL);
    if (step == SQLITE_OK) {
        sqlite3_bind_int64(row, 1, o->run);
        sqlite3_bind_int64(row, 2, o->against_run);
        while ((step = sqlite3_step(row)) == SQLITE_ROW) {
            for (int c = 0; c < sqlite3_column_count(row); c++)
                sqlite3_bind_value(insert, c + 1, sqlite3_column_value(row, c));
            sqlite3_step(insert);
            if ((step = sqlite3_reset(insert)) != SQLITE_OK)
                break;
        }
    }
    sqlite3_finalize(row);
    sqlite3_finalize(insert);
    return step == SQLITE_DONE ? 0 : -1;
}

int site_create_bench_base(sqlite3 *db, const char *path, const struct report_options *o,
                           int (*prepare)(sqlite3 *db, const char *path, struct why *w),
                           struct why *w)
{
    sqlite3 *from = db;
    int failed = 0;

    if (sqlite3_exec(db, create, NULL, NULL, NULL) != SQLITE_OK)
        return database_failed(db, path, w);
    if (o->against) {
        TRY(database_read(o->against, &from, w));
        failed = prepare(from, o->against, w);
    }
    for (int i = 0; !failed && i < COUNT(copies); i++)
        if (copy_rows(from, db, i, o) < 0)
            failed = database_failed(from, o->against ? o->against : path, w);
    if (from != db)
        sqlite3_close(from);
    return failed;
}
