#include "harness/store/shard_rows.h"

#include <stdlib.h>
#include <string.h>

#include "harness/store/results_internal.h"
#include "harness/store/summary.h"

const char *results_program_version(void)
{
    return HALCYON_VERSION;
}

static int run_statement(struct results *r, sqlite3_stmt *s, struct why *w)
{
    int failed = sqlite3_step(s) == SQLITE_DONE ? 0 : results_failed(r, w);
    sqlite3_finalize(s);
    return failed;
}

int results_add_shard(struct results *r, const struct shard_row *row, struct why *w)
{
    const char *const text[] = { row->key, row->campaign, row->cpu, row->built_with };
    const int at[] = { 2, 3, 7, 8 };
    sqlite3_stmt *s;
    TRY(results_keep_set(r, SET_CAMPAIGN, row->campaign, row->identity, w));
    TRY(results_prepare(r,
                        "INSERT OR REPLACE INTO shards (run, key, campaign, shard, n_shards, "
                        "atomic, cpu, built_with) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
                        &s, w));
    sqlite3_bind_int64(s, 1, r->run);
    sqlite3_bind_int64(s, 4, row->shard);
    sqlite3_bind_int64(s, 5, row->n_shards);
    sqlite3_bind_int(s, 6, row->atomic);
    for (int i = 0; i < 4; i++)
        sqlite3_bind_text(s, at[i], text[i], -1, SQLITE_STATIC);
    return run_statement(r, s, w);
}

/* ---- reading */

static const char *copy_of(sqlite3_stmt *s, int i)
{
    const char *text = (const char *) sqlite3_column_text(s, i);
    return strdup(text ? text : "");
}

static int load_targets(struct results *r, struct why *w)
{
    sqlite3_stmt *s;
    int step;
    TRY(results_prepare(r, "SELECT target FROM targets WHERE run = ?1 ORDER BY ordinal", &s, w));
    sqlite3_bind_int64(s, 1, r->run);
    r->n_targets = 0;
    while (r->n_targets < MAX_TARGETS && (step = sqlite3_step(s)) == SQLITE_ROW)
        r->target[r->n_targets++] = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    return step == SQLITE_DONE || step == SQLITE_ROW ? 0 : results_failed(r, w);
}

int results_only_shard(struct results *r, struct shard_row *ret_row, struct why *w)
{
    sqlite3_stmt *s;
    if (!results_has_table(r, "shards"))
        return 0;
    TRY(results_prepare(r,
                        "SELECT key, campaign, text, shard, n_shards, cpu, built_with, run "
                        "FROM shards JOIN campaigns ON digest = campaign JOIN runs USING (run) "
                        "WHERE atomic AND finished IS NOT NULL AND "
                        "(SELECT count(*) FROM runs) = 1 AND (SELECT count(*) FROM shards) = 1",
                        &s, w));
    int step = sqlite3_step(s);
    if (step == SQLITE_ROW) {
        *ret_row = (struct shard_row){ .key = copy_of(s, 0),
                                       .campaign = copy_of(s, 1),
                                       .identity = copy_of(s, 2),
                                       .shard = (uint32_t) sqlite3_column_int64(s, 3),
                                       .n_shards = (uint32_t) sqlite3_column_int64(s, 4),
                                       .atomic = true,
                                       .cpu = copy_of(s, 5),
                                       .built_with = copy_of(s, 6) };
        r->run = sqlite3_column_int64(s, 7);
    }
    sqlite3_finalize(s);
    if (step != SQLITE_ROW)
        return step == SQLITE_DONE ? 0 : results_failed(r, w);
    const struct shard_row *row = ret_row;
    if (!row->key || !row->campaign || !row->identity || !row->cpu || !row->built_with)
        return why_no_memory(w);
    return load_targets(r, w) < 0 ? -1 : 1;
}

void shard_row_done(struct shard_row *row)
{
    const char *const text[] = { row->key, row->campaign, row->identity, row->cpu,
                                 row->built_with };
    for (int i = 0; i < COUNT(text); i++)
        free((char *) text[i]);
    *row = (struct shard_row){ 0 };
}

int results_each_total(struct results *r,
                       void (*each)(uint32_t target, enum verdict v, uint64_t n, uint64_t checked,
                                    void *user),
                       void *user, struct why *w)
{
    sqlite3_stmt *s;
    int step;
    bool summary = false;
    TRY(results_is_summary(r, &summary, w));
    TRY(results_prepare(r,
                        summary ? "SELECT t.ordinal, verdict, n, checked FROM summary_verdicts "
                                  "JOIN targets t USING (target) WHERE t.run = ?1"
                                : "SELECT t.ordinal, v.verdict, count(*), sum(v.checked) FROM "
                                  "targets t JOIN verdicts v USING (target) WHERE t.run = ?1 "
                                  "GROUP BY 1, 2",
                        &s, w));
    sqlite3_bind_int64(s, 1, r->run);
    while ((step = sqlite3_step(s)) == SQLITE_ROW) {
        const char *name = (const char *) sqlite3_column_text(s, 1);
        int v = name ? verdict_by_name(name) : -1;
        if (v >= 0)
            each((uint32_t) sqlite3_column_int64(s, 0), (enum verdict) v,
                 (uint64_t) sqlite3_column_int64(s, 2), (uint64_t) sqlite3_column_int64(s, 3),
                 user);
    }
    sqlite3_finalize(s);
    return step == SQLITE_DONE ? 0 : results_failed(r, w);
}
