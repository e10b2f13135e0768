#include "harness/store/summary_coverage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/store/results_internal.h"
#include "reports/database.h"

int summary_write_coverage(struct results *r, int64_t run, const char *key, int64_t target,
                           const struct randgraph_coverage *c, struct why *w)
{
    char *text = NULL;
    size_t length = 0;
    sqlite3_stmt *s = NULL;
    FILE *memory = open_memstream(&text, &length);
    if (!memory)
        return why_no_memory(w);
    int failed = randgraph_coverage_write(c, memory) < 0 ? why_no_memory(w) : 0;
    if (fclose(memory) != 0 && !failed)
        failed = why_no_memory(w);
    if (!failed)
        failed = results_prepare(
            r, "INSERT OR REPLACE INTO summary_coverage VALUES (?1, ?2, ?3, packed_small(?4))", &s,
            w);
    if (!failed) {
        sqlite3_bind_int64(s, 1, run);
        sqlite3_bind_text(s, 2, key, -1, SQLITE_STATIC);
        sqlite3_bind_int64(s, 3, target);
        sqlite3_bind_text64(s, 4, text, length, SQLITE_STATIC, SQLITE_UTF8);
        failed = sqlite3_step(s) == SQLITE_DONE ? 0 : results_failed(r, w);
    }
    sqlite3_finalize(s);
    free(text);
    return failed;
}

int summary_read_coverage(sqlite3 *db, const char *path, int64_t run, const char *key,
                          int64_t target, struct randgraph_coverage *c, struct why *w)
{
    sqlite3_stmt *s;
    int step, failed = 0;
    if (sqlite3_prepare_v2(db,
                           "SELECT text_of(items) FROM summary_coverage WHERE run = ?1 AND "
                           "key = ?2 AND target = ?3",
                           -1, &s, NULL) != SQLITE_OK)
        return database_failed(db, path, w);
    sqlite3_bind_int64(s, 1, run);
    sqlite3_bind_text(s, 2, key, -1, SQLITE_STATIC);
    sqlite3_bind_int64(s, 3, target);
    while (!failed && (step = sqlite3_step(s)) == SQLITE_ROW) {
        const char *text = (const char *) sqlite3_column_text(s, 0);
        failed = randgraph_coverage_read(c, text ? text : "", w);
        if (failed)
            why_prefix(w, "%s: run %lld", path, (long long) run);
    }
    if (!failed && step != SQLITE_DONE)
        failed = database_failed(db, path, w);
    sqlite3_finalize(s);
    return failed;
}

/* ---- of a run that becomes a summary */

static int shard_key(struct results *r, char ret_key[32], struct why *w)
{
    sqlite3_stmt *s;
    TRY(results_prepare(r, "SELECT key FROM shards WHERE run = ?1", &s, w));
    sqlite3_bind_int64(s, 1, r->run);
    int step = sqlite3_step(s);
    const char *key = step == SQLITE_ROW ? (const char *) sqlite3_column_text(s, 0) : NULL;
    snprintf(ret_key, 32, "%s", key ? key : "");
    sqlite3_finalize(s);
    REQUIRE(w, *ret_key, "%s: run %lld is not a shard", r->path, (long long) r->run);
    return 0;
}

static int keep_target(struct results *r, uint32_t target, const char *key, struct why *w)
{
    char runs[32], uri[4096] = "[]";
    sqlite3_stmt *s;
    snprintf(runs, sizeof runs, "[%lld]", (long long) r->run);
    TRY(results_prepare(r, "SELECT json_array(uri) FROM targets WHERE target = ?1", &s, w));
    sqlite3_bind_int64(s, 1, r->target[target]);
    if (sqlite3_step(s) == SQLITE_ROW)
        snprintf(uri, sizeof uri, "%s", (const char *) sqlite3_column_text(s, 0));
    sqlite3_finalize(s);
    struct randgraph_coverage *c = randgraph_coverage_new();
    struct coverage_filter f = { .runs = runs, .targets = uri };
    int failed = c ? results_read_coverage(r, &f, c, w) : why_no_memory(w);
    if (!failed)
        failed = summary_write_coverage(r, r->run, key, r->target[target], c, w);
    randgraph_coverage_free(c);
    return failed;
}

int summary_keep_coverage(struct results *r, struct why *w)
{
    char key[32];
    TRY(shard_key(r, key, w));
    for (uint32_t t = 0; t < r->n_targets; t++)
        TRY(keep_target(r, t, key, w));
    return 0;
}
