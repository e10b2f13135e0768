/* Summaries are added up: the parts of all sources, each key once, whatever database they are in.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden/base/array.h"
#include "harness/check/buffer.h"
#include "harness/store/merge_internal.h"
#include "harness/store/summary.h"
#include "harness/store/summary_coverage.h"
#include "reports/database.h"

/* ---- which shards there are */

static void copy_text(sqlite3_stmt *s, int i, char *to, size_t size)
{
    const char *text = (const char *) sqlite3_column_text(s, i);
    snprintf(to, size, "%s", text ? text : "");
}

/* The columns key, campaign, shard, n_shards, atomic. */
static struct source_shard shard_of(sqlite3_stmt *s)
{
    struct source_shard x = { .shard = (uint32_t) sqlite3_column_int64(s, 2),
                              .n_shards = (uint32_t) sqlite3_column_int64(s, 3),
                              .atomic = sqlite3_column_int(s, 4) != 0 };
    copy_text(s, 0, x.key, sizeof x.key);
    copy_text(s, 1, x.campaign, sizeof x.campaign);
    return x;
}

static int keep_part(struct merge *m, struct source *source, sqlite3_stmt *s, struct why *w)
{
    struct source_part *part = array_room(m->part, m->n_parts, sizeof *part);
    if (!part)
        return why_no_memory(w);
    m->part = part;
    struct source_part *p = &m->part[m->n_parts++];
    *p = (struct source_part){ .source = source,
                               .shard = shard_of(s),
                               .run = sqlite3_column_int64(s, 5),
                               .n_cases = sqlite3_column_int64(s, 6),
                               .seconds = sqlite3_column_double(s, 9),
                               .kept = sqlite3_column_int64(s, 10),
                               .listed = sqlite3_column_int64(s, 11) };
    copy_text(s, 7, p->started, sizeof p->started);
    copy_text(s, 8, p->finished, sizeof p->finished);
    return 0;
}

static int read_parts(struct merge *m, struct source *source, struct why *w)
{
    sqlite3_stmt *s;
    int step = SQLITE_DONE, failed = 0;
    TRY(merge_prepare(source,
                      "SELECT key, campaign, shard, n_shards, atomic, run, p.n_cases, p.started, "
                      "p.finished, p.seconds, p.kept, p.listed FROM summary_parts p "
                      "JOIN shards USING (run, key) ORDER BY run, key",
                      &s, w));
    while (!failed && (step = sqlite3_step(s)) == SQLITE_ROW)
        failed = keep_part(m, source, s, w);
    sqlite3_finalize(s);
    return failed || step == SQLITE_DONE ? failed : database_failed(source->db, source->path, w);
}

int merge_read_shards(struct merge *m, struct source *source, struct why *w)
{
    sqlite3_stmt *s;
    int step;
    if (!merge_has_column(source, "shards", "key"))
        return 0;
    TRY(merge_prepare(source, "SELECT key, campaign, shard, n_shards, atomic, run FROM shards", &s,
                      w));
    while ((step = sqlite3_step(s)) == SQLITE_ROW)
        for (size_t i = m->n_runs; i-- > 0 && m->run[i].source == source;)
            if (m->run[i].run == sqlite3_column_int64(s, 5))
                m->run[i].shard = shard_of(s);
    sqlite3_finalize(s);
    if (step != SQLITE_DONE)
        return database_failed(source->db, source->path, w);
    return merge_has_column(source, "summary_parts", "key") ? read_parts(m, source, w) : 0;
}

/* ---- choosing */

/* Copies of a shard follow each other; the one that began first is kept, wherever it is. */
static int by_key(const void *a, const void *b)
{
    const struct source_part *x = a, *y = b;
    int order = strcmp(x->shard.campaign, y->shard.campaign);
    order = order ? order : strcmp(x->shard.key, y->shard.key);
    order = order ? order : strcmp(x->started, y->started);
    order = order ? order : strcmp(x->finished, y->finished);
    if (order)
        return order;
    return x->seconds < y->seconds ? -1 : x->seconds > y->seconds;
}

static int by_source(const void *a, const void *b)
{
    const struct source_part *x = a, *y = b;
    int order = strcmp(x->shard.campaign, y->shard.campaign);
    if (order)
        return order;
    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    return strcmp(x->shard.key, y->shard.key);
}

static bool is_part(const struct merge *m, const struct source_shard *shard)
{
    const struct source_part wanted = { .shard = *shard };
    size_t low = 0, high = m->n_parts;
    while (low < high) { /* by key */
        size_t at = (low + high) / 2;
        int order = strcmp(m->part[at].shard.campaign, wanted.shard.campaign);
        order = order ? order : strcmp(m->part[at].shard.key, wanted.shard.key);
        if (!order)
            return true;
        if (order < 0)
            low = at + 1;
        else
            high = at;
    }
    return false;
}

static int add_campaign(struct merge *m, size_t first, size_t end, struct why *w)
{
    struct source_run *r = merge_add_run(m, w);
    const char *started = m->part[first].started;
    if (!r)
        return -1;
    for (size_t i = first; i < end; i++)
        if (strcmp(m->part[i].started, started) < 0)
            started = m->part[i].started;
    *r = (struct source_run){ .identity = strdup(m->part[first].shard.campaign),
                              .started = strdup(started),
                              .finished = strdup(""),
                              .first = first,
                              .end = end };
    return r->identity && r->started && r->finished ? 0 : why_no_memory(w);
}

int merge_choose_parts(struct merge *m, size_t *ret_repeated, struct why *w)
{
    size_t left = 0;
    *ret_repeated = 0;
    if (!m->n_parts)
        return 0;
    qsort(m->part, m->n_parts, sizeof *m->part, by_key);
    for (size_t i = 0; i < m->n_parts; i++) {
        bool again = left && !strcmp(m->part[left - 1].shard.key, m->part[i].shard.key);
        if (!again)
            m->part[left++] = m->part[i];
    }
    *ret_repeated = m->n_parts - left;
    m->n_parts = left;
    for (size_t i = 0; i < m->n_runs; i++)
        if (m->run[i].shard.atomic && !m->run[i].is_repeated && is_part(m, &m->run[i].shard)) {
            m->run[i].is_repeated = true;
            ++*ret_repeated;
        }
    qsort(m->part, m->n_parts, sizeof *m->part, by_source);
    for (size_t first = 0, end; first < m->n_parts; first = end) {
        for (end = first + 1; end < m->n_parts &&
                              !strcmp(m->part[first].shard.campaign, m->part[end].shard.campaign);)
            end++;
        TRY(add_campaign(m, first, end, w));
    }
    return 0;
}

/* ---- writing */

/* A sum on its way. */
struct sum {
    struct merge *m;
    const struct source_run *campaign;
    int64_t run, first_target, first_case, kept, listed;
    uint32_t n_targets;
    bool several; /* shards */
    struct summary_sum sum;
    struct randgraph_coverage *coverage[MAX_TARGETS];
};

/* The names that the statements below use. */
static int name_run(struct sum *x, struct why *w)
{
    char sql[256];
    snprintf(sql, sizeof sql,
             "DROP VIEW IF EXISTS temp.x; CREATE TEMP VIEW x AS SELECT %lld AS run, %lld AS kept, "
             "%lld AS listed, %lld AS first_case",
             (long long) x->run, (long long) x->kept, (long long) x->listed,
             (long long) x->first_case);
    return results_exec(x->m->out, sql, w);
}

/* The first failures of each bucket are among those that the parts have. */
static const char trim_failures[] =
    "DELETE FROM summary_failures WHERE run = (SELECT run FROM x) AND (target, bucket, ordinal) IN "
    "(SELECT "
    "target, bucket, ordinal FROM (SELECT *, row_number() OVER (PARTITION BY target, bucket ORDER "
    "BY ordinal) AS place FROM summary_failures WHERE run = (SELECT run FROM x)) WHERE place > "
    "(SELECT listed FROM x));"
    "DELETE FROM cases WHERE run = (SELECT run FROM x) AND ordinal NOT IN (SELECT ordinal FROM "
    "(SELECT ordinal, "
    "row_number() OVER (PARTITION BY target, bucket ORDER BY ordinal) AS place FROM "
    "summary_failures WHERE run = (SELECT run FROM x)) WHERE place <= (SELECT kept FROM x));";

/* Cases are numbered in the order of the plan, from first_case on. */
static const char number_cases[] =
    "PRAGMA defer_foreign_keys = ON;"
    "DROP TABLE IF EXISTS temp.numbered;"
    "CREATE TEMP TABLE numbered AS SELECT case_id AS old, -((SELECT first_case FROM x) - 1 + "
    "row_number() OVER (ORDER "
    "BY ordinal)) AS new FROM main.cases WHERE run = (SELECT run FROM x);"
    "CREATE INDEX temp.numbered_by_old ON numbered (old);"
    "UPDATE main.cases SET case_id = (SELECT new FROM numbered WHERE old = case_id) "
    "WHERE run = (SELECT run FROM x);"
    "UPDATE main.verdicts SET case_id = (SELECT new FROM numbered WHERE old = case_id) "
    "WHERE case_id IN (SELECT old FROM numbered);"
    "UPDATE main.case_operations SET case_id = (SELECT new FROM numbered WHERE old = case_id) "
    "WHERE case_id IN (SELECT old FROM numbered);"
    "UPDATE main.cases SET case_id = -case_id WHERE case_id < 0;"
    "UPDATE main.verdicts SET case_id = -case_id WHERE case_id < 0;"
    "UPDATE main.case_operations SET case_id = -case_id WHERE case_id < 0;"
    "DROP TABLE temp.numbered;";

static int first_free(struct merge *m, const char *sql, int64_t *ret, struct why *w)
{
    const struct source out = { .path = m->out->path, .db = m->out->db };
    TRY(merge_query(&out, sql, 0, ret, w));
    ++*ret;
    return 0;
}

static int copy_of_part(struct sum *x, const struct source_part *p, struct copy *ret_copy,
                        struct why *w)
{
    int64_t first_target = 0;
    TRY(merge_query(p->source, "SELECT min(target) FROM targets WHERE run = ?1", p->run,
                    &first_target, w));
    *ret_copy = (struct copy){ .m = x->m,
                               .source = p->source,
                               .from = p->run,
                               .run = x->run,
                               .more_targets = x->first_target - first_target,
                               .where = "" };
    return 0;
}

/* The run and its targets are those of the first shard that there is. */
static int begin_run(struct sum *x, struct why *w)
{
    static const char *const tables[] = { "runs", "targets", "target_performance" };
    const struct source_part *part = x->m->part, *p = &part[x->campaign->first];
    int64_t n = 0;
    struct copy c;
    for (size_t i = x->campaign->first; i < x->campaign->end; i++)
        if (part[i].shard.shard < p->shard.shard)
            p = &part[i];
    TRY(merge_open(x->m, p->source, w));
    TRY(copy_of_part(x, p, &c, w));
    for (int i = 0; i < COUNT(tables); i++)
        TRY(merge_copy_table(&c, tables[i], w));
    TRY(merge_query(p->source, "SELECT count(*) FROM targets WHERE run = ?1", p->run, &n, w));
    REQUIRE(w, n >= 0 && n <= MAX_TARGETS, "%s: run %lld has %lld targets, at most %d are possible",
            p->source->path, (long long) p->run, (long long) n, MAX_TARGETS);
    x->n_targets = (uint32_t) n;
    for (uint32_t t = 0; t < x->n_targets; t++)
        if (!(x->coverage[t] = randgraph_coverage_new()))
            return why_no_memory(w);
    return summary_sum_begin(x->m->out, x->run, x->first_target, x->n_targets, &x->sum, w);
}

/* What a shard has added to the run of the source; empty: the run is this shard alone. */
static int read_text(const struct source_part *p, struct buffer *text, struct why *w)
{
    sqlite3_stmt *s;
    TRY(merge_prepare(
        p->source, "SELECT text_of(part) FROM summary_parts WHERE run = ?1 AND key = ?2", &s, w));
    sqlite3_bind_int64(s, 1, p->run);
    sqlite3_bind_text(s, 2, p->shard.key, -1, SQLITE_STATIC);
    int step = sqlite3_step(s);
    const char *found = step == SQLITE_ROW ? (const char *) sqlite3_column_text(s, 0) : NULL;
    buffer_puts(text, found ? found : "");
    sqlite3_finalize(s);
    if (step != SQLITE_ROW)
        return database_failed(p->source->db, p->source->path, w);
    return text->failed ? why_no_memory(w) : 0;
}

static int write_part(struct sum *x, const struct source_part *p, const struct buffer *text,
                      struct why *w)
{
    sqlite3_stmt *s;
    TRY(results_prepare(x->m->out,
                        "INSERT INTO summary_parts VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, "
                        "packed_quick(?9))",
                        &s, w));
    sqlite3_bind_int64(s, 1, x->run);
    sqlite3_bind_text(s, 2, p->shard.key, -1, SQLITE_STATIC);
    sqlite3_bind_int64(s, 3, p->n_cases);
    sqlite3_bind_text(s, 4, p->started, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 5, p->finished, -1, SQLITE_STATIC);
    sqlite3_bind_double(s, 6, p->seconds);
    sqlite3_bind_int64(s, 7, p->kept);
    sqlite3_bind_int64(s, 8, p->listed);
    if (x->several)
        sqlite3_bind_text64(s, 9, text->data, text->length, SQLITE_STATIC, SQLITE_UTF8);
    int failed = sqlite3_step(s) == SQLITE_DONE ? 0 : results_failed(x->m->out, w);
    sqlite3_finalize(s);
    return failed;
}

/* Rows of a part that a key, or the positions of its cases, tell from those of others. */
static int copy_part_rows(struct sum *x, const struct source_part *p, struct why *w)
{
    static const char *const tables[] = { "cases", "case_operations", "verdicts" };
    char cases[80], key[64];
    struct copy c;
    int64_t first_case = 0, n = 0;
    TRY(copy_of_part(x, p, &c, w));
    snprintf(key, sizeof key, " AND key = '%s'", p->shard.key);
    c.where = key;
    TRY(merge_copy_table(&c, "shards", w));
    TRY(merge_copy_table(&c, "summary_coverage", w));
    snprintf(cases, sizeof cases, " AND ordinal %% %u = %u", p->shard.n_shards, p->shard.shard - 1);
    c.where = cases;
    TRY(merge_query(p->source, "SELECT min(case_id) FROM cases WHERE run = ?1", p->run, &first_case,
                    w));
    if (!first_case)
        return 0;
    TRY(first_free(x->m, "SELECT max(case_id) + ?1 - ?1 FROM cases", &n, w));
    c.more_cases = n - first_case;
    for (int i = 0; i < COUNT(tables); i++)
        TRY(merge_copy_table(&c, tables[i], w));
    return 0;
}

static int add_coverage(struct sum *x, const struct source_part *p, struct why *w)
{
    int64_t first = 0;
    TRY(merge_query(p->source, "SELECT min(target) FROM targets WHERE run = ?1", p->run, &first,
                    w));
    for (uint32_t t = 0; x->several && t < x->n_targets; t++)
        TRY(summary_read_coverage(p->source->db, p->source->path, p->run, p->shard.key, first + t,
                                  x->coverage[t], w));
    return 0;
}

/* Adds the counts of a part, and remembers them. */
static int add_counts(struct sum *x, const struct source_part *p, struct buffer *text,
                      struct why *w)
{
    TRY(read_text(p, text, w));
    if (!text->length) {
        TRY(summary_sum_add_run(&x->sum, p->source->db, p->source->path, p->run, text, w));
        return write_part(x, p, text, w);
    }
    TRY(write_part(x, p, text, w)); /* before it is taken apart */
    return summary_sum_add(&x->sum, text->data, w);
}

static int add_part(struct sum *x, const struct source_part *p, struct why *w)
{
    struct buffer text = { 0 };
    TRY(merge_open(x->m, p->source, w));
    int failed = add_counts(x, p, &text, w);
    buffer_done(&text);
    if (failed)
        why_prefix(w, "%s: run %lld", p->source->path, (long long) p->run);
    TRY(failed);
    TRY(copy_part_rows(x, p, w));
    return add_coverage(x, p, w);
}

/* What the shards noticed, and the files that they could not load, which are the same for all. */
static int add_notes(struct sum *x, const struct source_part *p, struct why *w)
{
    static const char *const tables[] = { "run_notes", "unloaded_files" };
    struct copy c;
    TRY(copy_of_part(x, p, &c, w));
    c.source_is_one_of_several = true;
    for (int i = 0; i < COUNT(tables); i++)
        TRY(merge_copy_table(&c, tables[i], w));
    return 0;
}

static int end_run(struct sum *x, struct why *w)
{
    TRY(results_exec(x->m->out, trim_failures, w));
    TRY(results_exec(x->m->out, number_cases, w));
    for (uint32_t t = 0; x->several && t < x->n_targets; t++)
        TRY(summary_write_coverage(x->m->out, x->run, "", x->first_target + t, x->coverage[t], w));
    return results_exec(
        x->m->out,
        "UPDATE runs SET (started, finished, n_cases, seconds) = (SELECT min(started), "
        "max(finished), sum(n_cases), (SELECT sum(seconds) FROM (SELECT seconds FROM summary_parts "
        "WHERE run = (SELECT run FROM x) ORDER BY key)) FROM summary_parts WHERE run = (SELECT run "
        "FROM x)) WHERE run = (SELECT run FROM x)",
        w);
}

static int write_sum(struct sum *x, struct why *w)
{
    enum { TRIM_EVERY = 64 };
    const struct source_part *last = NULL;
    TRY(first_free(x->m, "SELECT max(target) + ?1 - ?1 FROM targets", &x->first_target, w));
    TRY(first_free(x->m, "SELECT max(case_id) + ?1 - ?1 FROM cases", &x->first_case, w));
    TRY(name_run(x, w));
    TRY(begin_run(x, w));
    for (size_t i = x->campaign->first; i < x->campaign->end; i++) {
        const struct source_part *p = &x->m->part[i];
        TRY(add_part(x, p, w));
        if (!last || last->source != p->source || last->run != p->run)
            TRY(add_notes(x, p, w));
        last = p;
        if (i % TRIM_EVERY == TRIM_EVERY - 1)
            TRY(results_exec(x->m->out, trim_failures, w));
    }
    return end_run(x, w);
}

int merge_write_summary(struct merge *m, const struct source_run *campaign, int64_t run,
                        struct why *w)
{
    struct sum x = { .m = m,
                     .campaign = campaign,
                     .run = run,
                     .kept = INT64_MAX,
                     .listed = INT64_MAX,
                     .several = campaign->end - campaign->first > 1 };
    for (size_t i = campaign->first; i < campaign->end; i++) {
        x.kept = m->part[i].kept < x.kept ? m->part[i].kept : x.kept;
        x.listed = m->part[i].listed < x.listed ? m->part[i].listed : x.listed;
    }
    int failed = write_sum(&x, w);
    summary_sum_done(&x.sum);
    for (int t = 0; t < MAX_TARGETS; t++)
        randgraph_coverage_free(x.coverage[t]);
    return failed;
}

/* ---- what is missing */

static int by_shard(const void *a, const void *b)
{
    const struct source_shard *x = a, *y = b;
    int order = strcmp(x->campaign, y->campaign);
    return order ? order : x->shard < y->shard ? -1 : x->shard > y->shard;
}

/* shard[0 .. n - 1]: of one campaign, in order. */
static void put_missing(struct buffer *b, const struct source_shard *shard, size_t n)
{
    enum { MOST_NAMED = 20 };
    const uint32_t of = shard[0].n_shards;
    uint64_t there = 0, named = 0;
    for (size_t i = 0; i < n; i++)
        there += !i || shard[i].shard != shard[i - 1].shard;
    if (there >= of)
        return;
    buffer_printf(b, "campaign %s: %llu of its %u shards %s missing:", shard[0].campaign,
                  (unsigned long long) (of - there), of, of - there == 1 ? "is" : "are");
    size_t at = 0;
    for (uint32_t i = 1; i <= of && named < MOST_NAMED; i++) {
        while (at < n && shard[at].shard < i)
            at++;
        if (at < n && shard[at].shard == i)
            continue;
        buffer_printf(b, "%s %u/%u", named++ ? "," : "", i, of);
    }
    if (of - there > named)
        buffer_printf(b, " and %llu more", (unsigned long long) (of - there - named));
    buffer_puts(b, "\n");
}

char *merge_missing(const struct merge *m)
{
    struct buffer b = { 0 };
    struct source_shard *all = calloc(m->n_runs + m->n_parts + 1, sizeof *all);
    size_t n = 0;
    for (size_t i = 0; all && i < m->n_runs; i++)
        if (m->run[i].shard.n_shards > 1 && *m->run[i].finished)
            all[n++] = m->run[i].shard;
    for (size_t i = 0; all && i < m->n_parts; i++)
        all[n++] = m->part[i].shard;
    if (n)
        qsort(all, n, sizeof *all, by_shard);
    for (size_t first = 0, end; first < n; first = end) {
        for (end = first + 1; end < n && !strcmp(all[first].campaign, all[end].campaign);)
            end++;
        put_missing(&b, &all[first], end - first);
    }
    free(all);
    if (!b.length)
        buffer_puts(&b, "");
    return b.data ? b.data : all ? strdup("") : NULL;
}
