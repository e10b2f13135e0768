/* What the executed cases of a target exercise: counted in memory, and written to the table
 * coverage_parts in the transaction of the cases. */
#include <stdlib.h>
#include <string.h>

#include "golden/base/array.h"
#include "golden/math/farmhash.h"
#include "harness/check/buffer.h"
#include "harness/store/results_internal.h"
#include "harness/store/summary_coverage.h"

/* Bytes that are added to the sums, at least, before these are written anew. */
enum { LEAST_ADDED = 1 << 20 };

/* How a case with this result counts on the target. */
static struct randgraph_count count_of(const struct check_result *r)
{
    static const struct randgraph_count ran = { .ran = 1 }, not_run = { .not_run = 1 };
    enum verdict v = !r ? VERDICT_ERROR : r->verdict == VERDICT_WAIVED ? r->was : r->verdict;
    if (v == VERDICT_ERROR || v == VERDICT_WAIVED)
        return (struct randgraph_count){ 0 };
    return v == VERDICT_UNSUPPORTED || v == VERDICT_REFUSED ? not_run : ran;
}

/* ---- the rows that there are */

/* The slot of the row with this digest, or the free one for it.  Different rows have different
 * digests: of a million rows, two are alike with a probability of 3 in 10^8. */
static uint32_t *find_slot(const struct counted_rows *c, uint64_t digest)
{
    size_t at = digest & (c->n_slots - 1);
    while (c->slot[at] && c->row[c->slot[at] - 1].digest != digest)
        at = (at + 1) & (c->n_slots - 1);
    return &c->slot[at];
}

/* Makes room for one more row. */
static int grow(struct counted_rows *c, struct why *w)
{
    size_t n_slots = c->n_slots ? 2 * c->n_slots : 4096;
    if (2 * c->n < c->n_slots)
        return 0;
    struct counted_row *row = realloc(c->row, n_slots / 2 * sizeof *row);
    uint32_t *slot = calloc(n_slots, sizeof *slot);
    c->row = row ? row : c->row;
    if (!row || !slot) {
        free(slot);
        return why_no_memory(w);
    }
    free(c->slot);
    c->slot = slot;
    c->n_slots = n_slots;
    for (size_t i = 0; i < c->n; i++)
        *find_slot(c, row[i].digest) = (uint32_t) i + 1;
    return 0;
}

static struct counted_row *add_row(struct counted_rows *c, const struct counted_row *row,
                                   struct why *w)
{
    if (grow(c, w) < 0)
        return NULL;
    c->row[c->n] = *row;
    *find_slot(c, row->digest) = (uint32_t) c->n + 1;
    return &c->row[c->n++];
}

void counted_rows_done(struct counted_rows *c)
{
    for (size_t i = 0; i < c->n; i++)
        free(c->row[i].json);
    free(c->row);
    free(c->slot);
    free(c->changed);
    *c = (struct counted_rows){ 0 };
}

/* line: the columns of a row, separated by tabs. */
static uint64_t digest_of(uint32_t target, const char *line, size_t length)
{
    return farmhash64(line, length) + target * 0x9e3779b97f4a7c15u;
}

/* The columns of a line as the beginning of a JSON list.  NULL: out of memory. */
static char *json_columns(const char *line, size_t length, size_t *ret_length)
{
    struct buffer b = { 0 };
    const char *at = line, *end = line + length, *tab;
    buffer_puts(&b, "[\"");
    for (; (tab = memchr(at, '\t', (size_t) (end - at))); at = tab + 1) {
        buffer_put(&b, at, (size_t) (tab - at));
        buffer_puts(&b, "\",\"");
    }
    buffer_put(&b, at, (size_t) (end - at));
    buffer_puts(&b, "\",");
    *ret_length = b.length;
    if (b.failed)
        buffer_done(&b);
    return b.data;
}

static int columns_of(const char *line, size_t length)
{
    int n = 1;
    for (size_t i = 0; i < length; i++)
        n += line[i] == '\t';
    return n;
}

static struct counted_row *new_row(struct counted_rows *c, uint64_t digest, uint32_t target,
                                   const char *line, size_t length, struct why *w)
{
    struct counted_row row = { .digest = digest,
                               .target = target,
                               .is_pair = columns_of(line, length) == PAIR_COLUMNS };
    row.json = json_columns(line, length, &row.length);
    struct counted_row *added = row.json ? add_row(c, &row, w) : NULL;
    if (!row.json)
        why_no_memory(w);
    if (!added)
        free(row.json);
    return added;
}

static int load_counted(struct results *r, const char *sql, struct why *w)
{
    sqlite3_stmt *s;
    int step = SQLITE_DONE, failed = 0;
    TRY(results_prepare(r, sql, &s, w));
    sqlite3_bind_int64(s, 1, r->run);
    while (!failed && (step = sqlite3_step(s)) == SQLITE_ROW) {
        const char *line = (const char *) sqlite3_column_text(s, 1);
        size_t length = (size_t) sqlite3_column_bytes(s, 1);
        uint32_t target = 0;
        while (target + 1 < r->n_targets && r->target[target] != sqlite3_column_int64(s, 0))
            target++;
        uint64_t digest = digest_of(target, line ? line : "", length);
        struct counted_row *row = new_row(&r->counted, digest, target, line ? line : "", length, w);
        failed = row ? 0 : -1;
        if (row)
            row->n = (struct randgraph_count){ (uint64_t) sqlite3_column_int64(s, 2),
                                               (uint64_t) sqlite3_column_int64(s, 3) };
    }
    sqlite3_finalize(s);
    return failed || step == SQLITE_DONE ? failed : results_failed(r, w);
}

int results_load_counted(struct results *r, struct why *w)
{
    TRY(load_counted(r,
                     "SELECT target, operation || char(9) || form || char(9) || types || char(9) "
                     "|| rank || char(9) || options || char(9) || value_class, ran, not_run "
                     "FROM coverage WHERE run = ?1",
                     w));
    return load_counted(r,
                        "SELECT target, producer || char(9) || consumer, ran, not_run "
                        "FROM neighbours WHERE run = ?1",
                        w);
}

/* ---- counting */

/* The next commit writes the row. */
static int mark_changed(struct counted_rows *c, const struct counted_row *row, struct why *w)
{
    size_t *changed = array_room(c->changed, c->n_changed, sizeof *changed);
    if (!changed)
        return why_no_memory(w);
    c->changed = changed;
    c->changed[c->n_changed++] = (size_t) (row - c->row);
    return 0;
}

static int count_line(struct counted_rows *c, uint32_t target, const char *line, size_t length,
                      struct randgraph_count n, struct why *w)
{
    uint64_t digest = digest_of(target, line, length);
    uint32_t slot = c->n_slots ? *find_slot(c, digest) : 0;
    struct counted_row *row =
        slot ? &c->row[slot - 1] : new_row(c, digest, target, line, length, w);
    if (!row)
        return -1;
    if (!row->more.ran && !row->more.not_run)
        TRY(mark_changed(c, row, w));
    row->n.ran += n.ran;
    row->n.not_run += n.not_run;
    row->more.ran += n.ran;
    row->more.not_run += n.not_run;
    return 0;
}

/* Whether JSON has them as they are. */
static bool are_plain(const char *text, size_t length)
{
    unsigned char wrong = 0; /* no branches: compilers can vectorise the loop */
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char) text[i];
        wrong |= (c < ' ') & (c != '\t');
        wrong |= (c > '~') | (c == '"') | (c == '\\');
    }
    return !wrong;
}

int results_check_coverage(const char *lines, struct why *w)
{
    for (const char *at = lines, *end; *at; at = end + (*end == '\n')) {
        end = at + strcspn(at, "\n");
        size_t length = (size_t) (end - at);
        int n = columns_of(at, length);
        REQUIRE(w, n == COVERAGE_COLUMNS || n == PAIR_COLUMNS, "a line of coverage with %d columns",
                n);
        REQUIRE(w, are_plain(at, length), "a line of coverage with control characters or quotes");
    }
    return 0;
}

int results_count_calls(struct results *r, const struct case_row *c, struct why *w)
{
    for (uint32_t t = 0; c->coverage && t < r->n_targets; t++) {
        struct randgraph_count n = count_of(c->verdict[t].result);
        const char *at = c->coverage;
        for (const char *end; (n.ran || n.not_run) && *at; at = end + (*end == '\n')) {
            end = at + strcspn(at, "\n");
            TRY(count_line(&r->counted, t, at, (size_t) (end - at), n, w));
        }
    }
    return 0;
}

/* ---- writing */

/* JSON lists of cells and of pairs. */
struct part {
    struct buffer cells, pairs;
};

static void put_number(struct buffer *b, uint64_t n)
{
    char digits[20];
    size_t at = sizeof digits;
    do
        digits[--at] = (char) ('0' + n % 10);
    while (n /= 10);
    buffer_put(b, &digits[at], sizeof digits - at);
}

static void put_row(struct buffer *b, const struct counted_row *row, struct randgraph_count n)
{
    buffer_puts(b, b->length ? "," : "[");
    buffer_put(b, row->json, row->length);
    put_number(b, n.ran);
    buffer_puts(b, ",");
    put_number(b, n.not_run);
    buffer_puts(b, "]");
}

static int write_part(struct results *r, uint32_t target, struct part *p, struct why *w)
{
    sqlite3_stmt *s = r->statement[STATEMENT_COVERAGE];
    struct buffer *list[] = { &p->cells, &p->pairs };
    sqlite3_bind_int64(s, 1, r->run);
    sqlite3_bind_int64(s, 2, r->target[target]);
    for (int i = 0; i < COUNT(list); i++) {
        buffer_puts(list[i], list[i]->length ? "]" : "[]");
        if (list[i]->failed)
            return why_no_memory(w);
        sqlite3_bind_text64(s, 3 + i, list[i]->data, list[i]->length, SQLITE_STATIC, SQLITE_UTF8);
        r->counted.added += list[i]->length;
    }
    return results_finish(r, s, w);
}

/* Writes the counts since the last commit, or the sums of all rows. */
static int write_rows(struct results *r, bool all, struct why *w)
{
    struct counted_rows *c = &r->counted;
    struct part part[MAX_TARGETS] = { 0 };
    int failed = 0;
    for (size_t i = 0; i < (all ? c->n : c->n_changed); i++) {
        struct counted_row *row = &c->row[all ? i : c->changed[i]];
        struct part *p = &part[row->target];
        put_row(row->is_pair ? &p->pairs : &p->cells, row, all ? row->n : row->more);
        row->more = (struct randgraph_count){ 0 };
    }
    for (uint32_t t = 0; t < r->n_targets; t++) {
        if (!failed && (part[t].cells.length || part[t].pairs.length))
            failed = write_part(r, t, &part[t], w);
        buffer_done(&part[t].cells);
        buffer_done(&part[t].pairs);
    }
    c->n_changed = 0;
    return failed;
}

int results_write_counted(struct results *r, bool at_end, struct why *w)
{
    struct counted_rows *c = &r->counted;
    bool all = c->added > c->whole + LEAST_ADDED || (at_end && c->added);
    if (!c->n_changed && !all)
        return 0;
    if (all) {
        sqlite3_stmt *s = r->statement[STATEMENT_NO_COVERAGE];
        sqlite3_bind_int64(s, 1, r->run);
        TRY(results_finish(r, s, w));
        c->added = 0;
    }
    TRY(write_rows(r, all, w));
    if (all) {
        c->whole = c->added;
        c->added = 0;
    }
    return 0;
}

/* ---- reading */

static const char *text_of(sqlite3_stmt *s, int i)
{
    const char *text = (const char *) sqlite3_column_text(s, i);
    return text ? text : "";
}

static struct randgraph_count count_at(sqlite3_stmt *s, int i)
{
    return (struct randgraph_count){ (uint64_t) sqlite3_column_int64(s, i),
                                     (uint64_t) sqlite3_column_int64(s, i + 1) };
}

#define CHOSEN                                                                                     \
    " JOIN targets t USING (target) JOIN runs r ON r.run = c.run "                                 \
    "WHERE (?1 IS NULL OR c.run IN (SELECT value FROM json_each(?1))) AND "                        \
    "(?2 IS NULL OR t.uri IN (SELECT value FROM json_each(?2))) AND "                              \
    "(?3 IS NULL OR r.kind = ?3) "

static int prepare_chosen(struct results *r, const char *sql, const struct coverage_filter *f,
                          sqlite3_stmt **ret, struct why *w)
{
    TRY(results_prepare(r, sql, ret, w));
    sqlite3_bind_text(*ret, 1, f->runs, -1, SQLITE_STATIC); /* of NULL: binds NULL */
    sqlite3_bind_text(*ret, 2, f->targets, -1, SQLITE_STATIC);
    sqlite3_bind_text(*ret, 3, f->kind, -1, SQLITE_STATIC);
    return 0;
}

static int read_cells(struct results *r, const struct coverage_filter *f,
                      struct randgraph_coverage *c, struct why *w)
{
    sqlite3_stmt *s;
    int step;
    TRY(prepare_chosen(r,
                       "SELECT operation, form, types, rank, c.options, value_class, sum(ran), "
                       "sum(not_run) FROM coverage c" CHOSEN "GROUP BY 1, 2, 3, 4, 5, 6",
                       f, &s, w));
    while ((step = sqlite3_step(s)) == SQLITE_ROW) {
        struct randgraph_cell cell = { .operation = text_of(s, 0),
                                       .form = text_of(s, 1),
                                       .types = text_of(s, 2),
                                       .rank = (uint32_t) sqlite3_column_int(s, 3),
                                       .options = text_of(s, 4),
                                       .values = text_of(s, 5) };
        randgraph_coverage_add(c, &cell, count_at(s, 6));
    }
    sqlite3_finalize(s);
    return step == SQLITE_DONE ? 0 : results_failed(r, w);
}

static int read_neighbours(struct results *r, const struct coverage_filter *f,
                           struct randgraph_coverage *c, struct why *w)
{
    sqlite3_stmt *s;
    int step;
    TRY(prepare_chosen(r,
                       "SELECT producer, consumer, sum(ran), sum(not_run) FROM neighbours c" CHOSEN
                       "GROUP BY 1, 2",
                       f, &s, w));
    while ((step = sqlite3_step(s)) == SQLITE_ROW)
        randgraph_coverage_add_pair(c, text_of(s, 0), text_of(s, 1), count_at(s, 2));
    sqlite3_finalize(s);
    return step == SQLITE_DONE ? 0 : results_failed(r, w);
}
/* Of summaries: the sum of their shards, or the one shard. */
static int read_summaries(struct results *r, const struct coverage_filter *f,
                          struct randgraph_coverage *c, struct why *w)
{
    sqlite3_stmt *s;
    int step, failed = 0;
    TRY(prepare_chosen(r,
                       "SELECT c.run, min(c.key), c.target FROM summary_coverage c" CHOSEN
                       "GROUP BY c.run, c.target",
                       f, &s, w));
    while (!failed && (step = sqlite3_step(s)) == SQLITE_ROW)
        failed = summary_read_coverage(r->db, r->path, sqlite3_column_int64(s, 0), text_of(s, 1),
                                       sqlite3_column_int64(s, 2), c, w);
    if (!failed && step != SQLITE_DONE)
        failed = results_failed(r, w);
    sqlite3_finalize(s);
    return failed;
}
#undef CHOSEN

int results_read_coverage(struct results *r, const struct coverage_filter *f,
                          struct randgraph_coverage *c, struct why *w)
{
    if (!results_has_table(r, "coverage_parts"))
        return 0;
    TRY(read_cells(r, f, c, w));
    TRY(read_neighbours(r, f, c, w));
    return results_has_table(r, "summary_coverage") ? read_summaries(r, f, c, w) : 0;
}
