#include "reports/graph/graph_fold.h"

#include <stdlib.h>
#include <string.h>

#include "golden/base/array.h"
#include "golden/math/farmhash.h"
#include "reports/graph/graph_parts.h"

/* Blocks are folded where that hides at least this many operations; two blocks only if each has
 * LONG operations. */
enum { HIDDEN = 4, LONG = 6, MOST_LENGTH = 512, MOST_FOUND = 1 << 16 };

/* A search in progress. */
struct search {
    const struct graph *g;
    uint64_t *look;   /* per operation: equal for operations that look alike */
    uint32_t *writer; /* graph_writers() */
    const bool *well_formed;
    struct graph_fold *f;
    struct found {
        uint32_t first, length, end; /* the operations up to `end` repeat with that length */
    } * found;
    uint32_t n_found;
};

static uint32_t hidden_by(uint32_t length, uint32_t count)
{
    return (count - 1) * length;
}

static bool pays(uint32_t length, uint32_t count)
{
    return count > 1 && hidden_by(length, count) >= HIDDEN && (count > 2 || length >= LONG);
}

/* ---- operations that look alike */

static uint64_t add_to(uint64_t hash, const void *bytes, size_t n)
{
    return farmhash64((const char *) bytes, n) + hash * 0x9e3779b97f4a7c15u;
}

static uint64_t look_of_operand(const struct operand *o, uint64_t hash)
{
    uint32_t facts[4] = { (uint32_t) o->tensor.dtype, (uint32_t) o->foreign, o->tensor.shape.rank,
                          o->life == LIFE_SUBGRAPH ? o->subgraph + 1 : 0 };
    hash = add_to(hash, facts, sizeof facts);
    hash = add_to(hash, o->tensor.shape.dim, o->tensor.shape.rank * sizeof(uint32_t));
    if (operand_is_scalar(o) && operand_is_readable(o))
        hash = add_to(hash, o->tensor.data, o->length);
    return o->life == LIFE_NO_VALUE ? ~hash : hash;
}

static void find_looks(struct search *s, const uint32_t *kind)
{
    for (uint32_t i = 0; i < s->g->n_operations; i++) {
        const struct operation *p = &s->g->operation[i];
        uint32_t facts[4] = { (uint32_t) p->code, p->n_in, p->n_out, kind ? kind[i] : 0 };
        uint64_t hash = add_to(1, facts, sizeof facts);
        for (uint32_t k = 0; s->well_formed[i] && k < p->n_in + p->n_out; k++)
            hash =
                look_of_operand(&s->g->operand[k < p->n_in ? p->in[k] : p->out[k - p->n_in]], hash);
        s->look[i] = s->well_formed[i] ? hash : i; /* as good as never equal to another one */
    }
}

/* ---- sequences that repeat */

static bool keep(struct search *s, struct found f)
{
    struct found *more = array_room(s->found, s->n_found, sizeof *more);
    if (!more)
        return false;
    s->found = more;
    s->found[s->n_found++] = f;
    return true;
}

static bool find_repeats(struct search *s)
{
    const uint32_t n = s->g->n_operations;
    for (uint32_t length = 1; length <= n / 2 && length <= MOST_LENGTH; length++)
        for (uint32_t i = 0; i + length < n && s->n_found < MOST_FOUND;) {
            uint32_t end = i;
            while (end + length < n && s->look[end] == s->look[end + length])
                end++;
            uint32_t count = (end - i) / length + 1;
            if (pays(length, count) && !keep(s, (struct found){ i, length, end + length }))
                return false;
            i = end + 1;
        }
    return true;
}

static uint32_t hidden(const struct found *f)
{
    return hidden_by(f->length, (f->end - f->first) / f->length);
}

/* What hides most first; of several the shortest blocks, then the first ones. */
static int by_hidden(const void *a, const void *b)
{
    const struct found *p = a, *q = b;
    if (hidden(p) != hidden(q))
        return hidden(p) > hidden(q) ? -1 : 1;
    if (p->length != q->length)
        return p->length < q->length ? -1 : 1;
    return p->first < q->first ? -1 : p->first > q->first;
}

/* ---- connections */

/* Where an input of a block comes from. */
struct source {
    enum { FROM_OUTSIDE, FROM_BLOCK, FROM_BLOCK_BEFORE } from;
    uint32_t offset, output; /* of the writer in its block */
};

static struct source source_of(const struct search *s, uint32_t operand,
                               const struct graph_block *b, uint32_t which)
{
    struct source from = { FROM_OUTSIDE, 0, 0 };
    const uint32_t start = b->first + which * b->length, writer = s->writer[operand];
    if (writer >= s->g->n_operations || writer + b->length < start || writer < b->first ||
        writer >= start + b->length)
        return from;
    from.from = writer >= start ? FROM_BLOCK : FROM_BLOCK_BEFORE;
    from.offset = writer - start + (writer < start ? b->length : 0);
    while (s->g->operation[writer].out[from.output] != operand)
        from.output++;
    return from;
}

static bool is_same_source(const struct source *a, const struct source *b)
{
    return a->from == b->from && a->offset == b->offset && a->output == b->output;
}

/* Whether every block is connected as the second one, and the first one as well but for what comes
 * from the block before it, and none reads a result of an earlier one than that. */
static bool is_connected_alike(const struct search *s, const struct graph_block *b)
{
    for (uint32_t which = 0; which < b->count; which++)
        for (uint32_t i = 0; i < b->length; i++) {
            const struct operation *model = &s->g->operation[b->first + b->length + i];
            const struct operation *p = &s->g->operation[b->first + which * b->length + i];
            for (uint32_t k = 0; k < p->n_in; k++) {
                struct source want = source_of(s, model->in[k], b, 1);
                struct source have = source_of(s, p->in[k], b, which);
                const uint32_t writer = s->writer[p->in[k]];
                bool from_older = have.from == FROM_OUTSIDE && writer < s->g->n_operations &&
                                  writer >= b->first && writer < b->first + b->count * b->length;
                if (from_older)
                    return false;
                if (!which && want.from == FROM_BLOCK_BEFORE && have.from == FROM_OUTSIDE)
                    continue;
                if (!is_same_source(&want, &have))
                    return false;
            }
        }
    return true;
}

/* ---- folding */

static bool is_free(const struct search *s, const struct graph_block *b)
{
    for (uint32_t i = b->first; i < b->first + b->length * b->count; i++)
        if (s->f->block_of[i] != UINT32_MAX || !s->well_formed[i])
            return false;
    return true;
}

/* Hides an operand behind the one in its place in the first block. */
static void hide_operand(struct search *s, uint32_t operand, uint32_t behind)
{
    const struct operand *o = &s->g->operand[operand];
    if (operand != behind && s->f->operand[operand] == operand && o->life != LIFE_INPUT &&
        o->life != LIFE_OUTPUT)
        s->f->operand[operand] = behind;
}

/* Whether what blocks read from outside are results of the same operation. */
static bool is_alike_outside(const struct search *s, uint32_t a, uint32_t b)
{
    return s->writer[a] < s->g->n_operations && s->writer[a] == s->writer[b];
}

static void fold(struct search *s, const struct graph_block *b)
{
    struct graph_fold *f = s->f;
    for (uint32_t which = 0; which < b->count; which++)
        for (uint32_t i = 0; i < b->length; i++) {
            const uint32_t at = b->first + which * b->length + i;
            const struct operation *shown = &s->g->operation[b->first + i];
            const struct operation *p = &s->g->operation[at];
            f->block_of[at] = f->n_blocks;
            f->operation[at] = b->first + i;
            for (uint32_t k = 0; k < p->n_out; k++)
                hide_operand(s, p->out[k], shown->out[k]);
            for (uint32_t k = 0; k < p->n_in; k++)
                if (source_of(s, p->in[k], b, which).from == FROM_OUTSIDE &&
                    is_alike_outside(s, p->in[k], shown->in[k]))
                    hide_operand(s, p->in[k], shown->in[k]);
        }
    f->block[f->n_blocks++] = *b;
}

/* A repeated sequence may be cut into blocks at any of its operations. */
static void fold_found(struct search *s, const struct found *r)
{
    for (uint32_t shift = 0; shift < r->length; shift++) {
        struct graph_block b = { r->first + shift, r->length,
                                 (r->end - r->first - shift) / r->length };
        if (pays(b.length, b.count) && is_free(s, &b) && is_connected_alike(s, &b)) {
            fold(s, &b);
            return;
        }
    }
}

int graph_fold_none(const struct graph *g, struct graph_fold *ret, struct why *w)
{
    const size_t n = (size_t) g->n_operations + 1, m = (size_t) g->n_operands + 1;
    struct graph_fold f = { .operation = malloc(n * sizeof *f.operation),
                            .operand = malloc(m * sizeof *f.operand),
                            .block_of = malloc(n * sizeof *f.block_of),
                            .block = calloc(n, sizeof *f.block) };
    if (!f.operation || !f.operand || !f.block_of || !f.block) {
        graph_fold_done(&f);
        return why_no_memory_for(w, "%u operations", g->n_operations);
    }
    for (uint32_t i = 0; i < n; i++) {
        f.operation[i] = i;
        f.block_of[i] = UINT32_MAX;
    }
    for (uint32_t i = 0; i < m; i++)
        f.operand[i] = i;
    *ret = f;
    return 0;
}

int graph_fold_find(const struct graph *g, const uint32_t *kind, const bool *well_formed,
                    struct graph_fold *ret, struct why *w)
{
    TRY(graph_fold_none(g, ret, w));
    struct search s = { .g = g,
                        .look = calloc((size_t) g->n_operations + 1, sizeof *s.look),
                        .writer = graph_writers(g),
                        .well_formed = well_formed,
                        .f = ret };
    bool ok = s.look && s.writer;
    if (ok) {
        find_looks(&s, kind);
        ok = find_repeats(&s);
    }
    if (ok && s.n_found)
        qsort(s.found, s.n_found, sizeof *s.found, by_hidden);
    for (uint32_t i = 0; ok && i < s.n_found; i++)
        fold_found(&s, &s.found[i]);
    free(s.look);
    free(s.writer);
    free(s.found);
    if (ok)
        return 0;
    graph_fold_done(ret);
    return why_no_memory_for(w, "%u operations", g->n_operations);
}

void graph_fold_done(struct graph_fold *f)
{
    free(f->operation);
    free(f->operand);
    free(f->block_of);
    free(f->block);
    *f = (struct graph_fold){ 0 };
}

bool graph_fold_is_carried(const struct graph_fold *f, uint32_t writer, uint32_t at)
{
    const uint32_t k = f->block_of[at];
    if (k == UINT32_MAX || f->block_of[writer] != k)
        return false;
    const struct graph_block *b = &f->block[k];
    return (writer - b->first) / b->length < (at - b->first) / b->length;
}
