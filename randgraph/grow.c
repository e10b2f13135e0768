/* Adds operations: chooses a value, then an operation that can consume it, then draws the call. */
#include <string.h>

#include "randgraph/coverage_internal.h"
#include "randgraph/randgraph_internal.h"

enum {
    TRIES_ROW = 16,
    TRIES_STEP = 40,
    FEW_KEEPERS = 8,
    MOST_OPERANDS = 9, /* their part of an operation's share */
    MOST_ROWS = MOST_SHARE - MOST_OPERANDS
};

/* 0..n-1.  Varies with each attempt even when a fuzzer's bytes are used up and draw only 0. */
static uint32_t below_varied(struct builder *b, uint32_t n)
{
    return (rng_below(b->rng, n) + b->attempt++) % n;
}

static bool of_theme(const struct builder *b, enum dtype type)
{
    return b->types >> type & 1;
}

static bool is_open(const struct builder *b, const struct graph_value *k)
{
    return k->result && k->uses == 0 && of_theme(b, k->t.dtype);
}

/* The newest open result, or the one after `skip` others. */
static struct graph_value *open_result(const struct builder *b, uint32_t skip)
{
    for (uint32_t i = b->n_live; i-- > 0;)
        if (is_open(b, b->live[i]) && skip-- == 0)
            return b->live[i];
    return NULL;
}

struct graph_value *grow_pick(struct builder *b)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < b->n_live; i++)
        n += is_open(b, b->live[i]);
    if (n && model_room(b, NULL, MODEL_OUTPUTS) == 0)
        return open_result(b, below_varied(b, n));
    if (n && rng_percent(b->rng, b->weights->newest))
        return open_result(b, 0);
    if (n && rng_percent(b->rng, b->weights->unread))
        return open_result(b, rng_below(b->rng, n));
    for (int i = 0; i < TRIES_ROW && b->n_live; i++) {
        struct graph_value *k = b->live[below_varied(b, b->n_live)];
        if (of_theme(b, k->t.dtype))
            return k;
    }
    return NULL;
}

/* Accepts an operation with a probability proportional to its weight. */
static bool accept_weight(struct builder *b, const struct op *op)
{
    if (b->only)
        return op == b->only;
    return rng_below(b->rng, b->most_weight) < randgraph_weight_of(b->weights, op);
}

static const struct op_rows *pick_any(struct builder *b, const struct op_list *list)
{
    const struct op *only = b->only ? b->only : b->first;

    for (uint32_t i = 0; i < list->n && only; i++)
        if (list->op[i].op == only)
            return &list->op[i];
    if (b->options->steering && !only)
        return steer_op(b, list);
    for (int i = 0; i < TRIES_ROW && list->n && !only; i++) {
        const struct op_rows *rows = &list->op[below_varied(b, list->n)];
        if (accept_weight(b, rows->op))
            return rows;
    }
    return NULL;
}

/* Draws again where the first choice is no sum of products: these reveal the most errors. */
static const struct op_rows *pick_op(struct builder *b, const struct op_list *list)
{
    const struct op_rows *rows = pick_any(b, list);

    if (rows && rows->op->error.kind != ERROR_DOT && rng_percent(b->rng, b->weights->dots))
        return pick_any(b, list);
    return rows;
}

static const struct row *pick_among(struct builder *b, const struct op_rows *rows)
{
    if (!rows)
        return NULL;
    return b->options->steering ? steer_row(b, rows) : &rows->row[below_varied(b, rows->n)];
}

/* The operation that has written the value; NULL: none. */
static const struct op *writer_of(const struct builder *b, const struct graph_value *k)
{
    for (uint32_t i = 0; i < b->n_operations; i++)
        for (uint32_t n = 0; n < b->operation[i].n_out; n++)
            if (k && (int64_t) b->operation[i].out[n] == k->at)
                return op_find(b->operation[i].code);
    return NULL;
}

static enum dtype result_type(const struct row *row)
{
    return role_type(&row->op->out[0], &row->op->typings[row->typing]);
}

static bool row_fits(struct builder *b, const struct row *row, const struct graph_value *k)
{
    const struct typing *t = &row->op->typings[row->typing];
    bool first = row->role == row->op->forms[row->form].role[0];
    uint32_t rank = k->t.shape.rank;

    if (graph_value_empty(k) && !(row->op->takes_empty >> row->role & 1))
        return false;
    if (row->level > b->options->max_level || (row->pattern && row->pattern != rank) ||
        (first && !(t->ranks >> rank & 1)))
        return false;
    return of_theme(b, result_type(row)) || rng_percent(b->rng, b->weights->stray);
}

/* A row that consumes the value: sometimes a conversion, in graphs of several types. */
static const struct row *pick_row(struct builder *b, const struct graph_value *k)
{
    enum dtype type = k->t.dtype;
    bool several = (b->types & (b->types - 1)) != 0;
    uint32_t n_bridges = b->rows->bridge[type].n;

    b->follows = b->options->steering ? writer_of(b, k) : NULL;
    if (several && rng_percent(b->rng, b->weights->bridge))
        for (int i = 0; i < TRIES_ROW && n_bridges; i++) {
            const struct row *row = b->rows->bridge[type].row[below_varied(b, n_bridges)];
            if (of_theme(b, result_type(row)) && row_fits(b, row, k) && accept_weight(b, row->op))
                return row;
        }
    for (int i = 0; i < TRIES_ROW; i++) {
        const struct row *row = pick_among(b, pick_op(b, &b->rows->by_type[type]));
        if (row && row_fits(b, row, k))
            return row;
    }
    return NULL;
}

enum dtype grow_type(struct builder *b, uint32_t types)
{
    uint32_t skip = rng_below(b->rng, (uint32_t) __builtin_popcount(types)), type = 0;

    for (;; type++)
        if ((types >> type & 1) && skip-- == 0)
            return (enum dtype) type;
}

/* The types of its first tensor with which the operation can be drawn: those of the graph, or
 * others where it has none of them and the options allow any type. */
static uint32_t types_of_first(const struct builder *b, const struct op *op)
{
    uint32_t types = rows_first_types(b->rows, op);

    return types & b->types || b->options->dtypes ? types & b->types : types;
}

/* A row for an operation whose first operand is not chosen beforehand. */
static const struct row *pick_first(struct builder *b)
{
    uint32_t types = b->first ? types_of_first(b, b->first) : 0;

    if (b->n_operations == 0 && types & b->begin_types)
        types = b->begin_types;
    enum dtype type = grow_type(b, types ? types : b->types);

    b->follows = NULL;
    if (b->forced)
        return b->forced;
    if (b->first && b->first_row && b->n_operations != b->edge)
        return b->first_row;
    for (int i = 0; i < TRIES_ROW; i++) {
        const struct row *row = pick_among(b, pick_op(b, &b->rows->first[type]));
        if (row && row->level <= b->options->max_level)
            return row;
    }
    return NULL;
}

/* Whether an operation may be added that reads no result. */
static bool may_begin(const struct builder *b)
{
    return model_room(b, NULL, MODEL_PARTS) && model_room(b, NULL, MODEL_OUTPUTS);
}

/* Whether the operation draws the operand that it would read, because computed values are hardly
 * ever those at which such operations are wrong. */
static bool begins_afresh(struct builder *b, const struct row *row)
{
    enum { AFRESH = 44 };
    const enum error_kind kind = row->op->error.kind;
    const bool reveals = kind == ERROR_EXACT || kind == ERROR_DISCRETE;

    return reveals && !row->op->move && !b->only && b->depth == 0 && may_begin(b) &&
           rng_percent_aside(b->rng, AFRESH, b->weights->afresh);
}

/* Adds one operation.  -1: the call drawn is illegal or its results unsuitable; it is dropped. */
static int try_step(struct builder *b)
{
    struct draft d;
    bool begins = b->n_operations == 0 || b->first;
    struct graph_value *k = begins ? NULL : grow_pick(b);
    const struct row *row = begins ? pick_first(b) : k ? pick_row(b, k) : NULL;

    if (!row)
        return -1;
    if (k && begins_afresh(b, row))
        k = NULL;
    struct arena_mark mark = arena_mark(b->arena);
    b->rng->drawer.empty = b->empty && (!b->n_operations || rng_percent(b->rng, 25));
    if (draft_call(b, row, k, &d) < 0 || !model_allows(&d) ||
        (b->options->steering && !b->lenient && !steer_keeps(&d)) ||
        (!b->traits && draft_compute(&d, NULL) < 0)) {
        arena_rewind(b->arena, mark);
        return -1;
    }
    if (b->traits) /* the values of a probe's results are not needed */
        traits_of(&d, b->traits);
    return draft_commit(&d);
}

/* The operation at the edge of the support set, which no limit holds for. */
static int try_edge(struct builder *b)
{
    struct builder inside = *b;

    b->rows = b->beyond;
    b->support = NULL;
    b->models = NULL;
    int rc = try_step(b);
    b->rows = inside.rows;
    b->support = inside.support;
    b->models = inside.models;
    return rc;
}

/* Number of operations with a result of the type that they consume: branches and loops need them.
 */
static uint32_t count_keepers(const struct builder *b, enum dtype type)
{
    const struct op_list *list = &b->rows->by_type[type];
    uint32_t n = 0;

    for (uint32_t i = 0; i < list->n; i++) {
        bool keeps = false;
        for (uint32_t r = 0; r < list->op[i].n; r++)
            keeps |= result_type(&list->op[i].row[r]) == type;
        n += keeps;
    }
    return n;
}

/* The first argument of a graph that consists of IF or WHILE only. */
static int add_input(struct builder *b)
{
    static const struct role any = { .dims = "?" };
    enum dtype type = grow_type(b, b->types);

    for (int i = 0; i < TRIES_ROW && count_keepers(b, type) < FEW_KEEPERS; i++)
        type = grow_type(b, b->types); /* few operations, or none, preserve the rarest types */
    struct graph_value *k = graph_value_new(b, type, LIFE_INPUT);
    if (!k)
        return -1;
    k->t.shape = shape_random(b, builder_rank(b, RANKS(1, 4)));
    scale_random(b, 2, &k->t);
    if (graph_value_allocate(b, k) < 0 || fill_values(b, NULL, &any, &k->t) < 0)
        return -1;
    graph_value_measure(k);
    return builder_add(b, k);
}

static int try_control(struct builder *b)
{
    struct graph_value *unused;

    if (b->n_live == 0)
        TRY(add_input(b));
    for (int i = 0; i < (b->only_control ? TRIES_STEP : 1); i++) {
        struct graph_value *from = grow_pick(b);
        if (from && grow_control(b, from, &unused) == 0)
            return 0;
    }
    return -1;
}

/* Any operation of the set, or of the catalogue where it has none. */
static const struct op *draw_op(struct builder *b)
{
    const struct randgraph_ops *set = &b->options->only;
    uint32_t n = randgraph_ops_count(set);
    uint32_t k = rng_below(b->rng, n ? n : (uint32_t) op_table_n);

    for (int i = 0; n; i++)
        if (randgraph_ops_has(set, op_table[i]) && k-- == 0)
            return op_table[i];
    return op_table[k];
}

uint32_t grow_share(const struct op *op)
{
    const int operands = op->n_in + 2, rows = op->n_forms * op->n_typings / 2;

    return (uint32_t) ((operands < MOST_OPERANDS ? operands : MOST_OPERANDS) +
                       (rows < MOST_ROWS ? rows : MOST_ROWS));
}

const struct op *grow_any(struct builder *b)
{
    for (;;) {
        const struct op *op = draw_op(b);
        if (rng_below(b->rng, MOST_SHARE) < grow_share(op))
            return op;
        /* a fuzzer's bytes that are used up draw the first operation */
        if (b->rng->bytes && b->rng->bytes == b->rng->end)
            return op;
    }
}

/* Any operation; NULL: none that can be drawn was found. */
static const struct op *pick_next(struct builder *b)
{
    if (b->options->steering)
        return steer_first(b);
    for (int i = 0; i < TRIES_ROW; i++) {
        const struct op *op = grow_any(b);
        if (types_of_first(b, op) && randgraph_weight_of(b->weights, op))
            return op;
    }
    return NULL;
}

static int step(struct builder *b)
{
    struct rng *r = b->rng;
    bool control = b->control && b->n_operations && rng_percent(r, b->weights->control);

    if (b->n_operations)
        b->first = NULL;
    if ((control || b->only_control) && try_control(b) == 0)
        return 0;
    /* rather an operation that reads the empty result */
    if (b->n_operations && b->depth == 0 && !b->only && !b->empty && may_begin(b) &&
        rng_percent(r, b->weights->any_next))
        b->first = pick_next(b);
    int tries = b->within ? TRIES_STEP / 2 : TRIES_STEP;
    for (int i = 0; i < tries && !b->only_control; i++) {
        if (i > tries / 2)
            b->first = NULL;
        b->lenient = i > TRIES_STEP / 2 || rng_percent(r, b->weights->degenerate);
        if ((b->n_operations == b->edge ? try_edge(b) : try_step(b)) == 0)
            return 0;
        /* a fuzzer's bytes that are used up would repeat the same choice */
        if (i > TRIES_STEP / 2 && r->bytes && r->bytes == r->end)
            rng_seed(r, 0, (uint64_t) i);
    }
    return -1;
}

int grow_graph(struct builder *b, uint32_t operations)
{
    b->goal = operations;
    while (b->n_operations < operations && step(b) == 0)
        continue;
    return b->n_operations ? 0 : -1;
}

int grow_matching(struct builder *b, struct graph_value *from, const struct tensor *like,
                  struct graph_value **ret_result)
{
    for (int i = 0; i < TRIES_STEP; i++) {
        struct draft d;
        const struct row *row = pick_row(b, from);
        struct arena_mark mark = arena_mark(b->arena);
        if (row && (row->op->n_out > 1 || result_type(row) != like->dtype))
            continue; /* without drawing the call */
        if (row && draft_call(b, row, from, &d) == 0 && draft_compute(&d, like) == 0) {
            TRY(draft_commit(&d));
            *ret_result = d.out[0];
            return 0;
        }
        arena_rewind(b->arena, mark);
    }
    return -1;
}
