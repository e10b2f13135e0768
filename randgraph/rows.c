/* Index of the catalogue: for each element type, the operations that can consume a value of it. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "randgraph/randgraph_internal.h"

static bool has_draw(const struct op *op, const struct form *f, enum draw draw)
{
    for (int i = 0; f->role[i] != END; i++)
        if (op->in[f->role[i]].draw == draw)
            return true;
    return false;
}

/* Whether an existing value can be operand `at`, so that the other operands can be drawn to match.
 */
static bool can_enter(const struct op *op, const struct form *f, int at)
{
    const struct role *r = &op->in[f->role[at]], *first = &op->in[f->role[0]];

    if (!r->dims || r->q == Q_PRODUCT || r->draw == DRAW_OP)
        return false;
    if (at == 0 || first->draw == DRAW_OP) /* the record's draw() adapts to it */
        return true;
    if (r->draw == DRAW_SHAPE || first->draw == DRAW_SHAPE || (r->needs & NEEDS_CONST))
        return false;
    if (has_draw(op, f, DRAW_MULTIPLIER))
        return false;
    bool free_first = !strcmp(first->dims ? first->dims : "", "?");
    return r->draw == DRAW_BROADCAST || (!free_first && strcmp(r->dims, "?") != 0);
}

static struct rows table;
static struct row *all_rows; /* by type, then by operation */
static uint32_t n_rows;
static struct row *first_rows; /* by operation */
static uint32_t n_first_rows;
static uint32_t *first_id; /* by index in op_table */

static int index_of(const struct op *op)
{
    int i = op->code >= 0 && op->code < op_table_n && op_table[op->code] == op ? op->code : 0;

    while (op_table[i] != op)
        i++;
    return i;
}

static uint32_t id_of(const struct op *op, int form, int typing)
{
    return first_id[index_of(op)] + (uint32_t) (form * op->n_typings + typing);
}

uint32_t rows_first_types(const struct rows *rows, const struct op *op)
{
    return rows->first_types[index_of(op)];
}

static void set_first_types(struct rows *rows)
{
    for (int type = 0; type < DT_COUNT; type++)
        for (uint32_t i = 0; i < rows->first[type].n; i++)
            rows->first_types[index_of(rows->first[type].op[i].op)] |= 1u << type;
}

static struct row make_row(const struct op *op, const struct form *f, const struct typing *t,
                           const struct role *r)
{
    bool free_rank = !r->dims || !strcmp(r->dims, "?") || r->dims[0] == '*';
    uint32_t level = op->since;

    level = f->since > level ? f->since : level;
    level = t->since > level ? t->since : level;
    return (struct row){
        .op = op,
        .id = id_of(op, (int) (f - op->forms), (int) (t - op->typings)),
        .form = (uint8_t) (f - op->forms),
        .typing = (uint8_t) (t - op->typings),
        .role = (uint8_t) (r - op->in),
        .level = (uint8_t) level,
        .pattern = free_rank ? 0 : (uint8_t) strlen(r->dims),
    };
}

static bool is_bridge(const struct op *op, const struct form *f, const struct typing *t)
{
    const struct role *in = &op->in[f->role[0]];

    return form_len(f) == 1 && op->n_out == 1 && !op->out[0].many && in->dims && op->out[0].dims &&
           role_type(in, t) != role_type(&op->out[0], t);
}

/* Adds the rows with which the operation consumes a value of the type. */
static void add_op(const struct op *op, enum dtype type)
{
    struct op_rows of_op = { op, &all_rows[n_rows], 0 };

    for (int f = 0; f < op->n_forms; f++)
        for (int t = 0; t < op->n_typings; t++)
            for (int at = 0; op->forms[f].role[at] != END; at++) {
                const struct form *form = &op->forms[f];
                const struct typing *typing = &op->typings[t];
                const struct role *r = &op->in[form->role[at]];
                if (!can_enter(op, form, at) || role_type(r, typing) != type)
                    continue;
                struct row *row = &all_rows[n_rows++];
                *row = make_row(op, form, typing, r);
                of_op.n++;
                if (is_bridge(op, form, typing))
                    table.bridge[type].row[table.bridge[type].n++] = row;
            }
    if (of_op.n)
        table.by_type[type].op[table.by_type[type].n++] = of_op;
}

/* Adds the rows with which the operation begins a graph of the type: by its first tensor. */
static void add_first(const struct op *op, enum dtype type)
{
    struct op_rows of_op = { op, &first_rows[n_first_rows], 0 };

    for (int f = 0; f < op->n_forms; f++) {
        const struct form *form = &op->forms[f];
        int at = 0;
        while (form->role[at] != END && !op->in[form->role[at]].dims)
            at++;
        const struct role *r = &op->in[form->role[form->role[at] == END ? 0 : at]];
        const struct role *like =
            r->draw == DRAW_OP ? &op->out[0] : r; /* r is a shape: its type is fixed */
        for (int t = 0; t < op->n_typings; t++) {
            if (role_type(like, &op->typings[t]) != type)
                continue;
            struct row *row = &first_rows[n_first_rows++];
            *row = make_row(op, form, &op->typings[t], r);
            table.by_id[row->id] = row;
            of_op.n++;
        }
    }
    if (of_op.n)
        table.first[type].op[table.first[type].n++] = of_op;
}

static bool built;

/* The tables are never freed. */
static void build(void)
{
    size_t n = 1, ops = (size_t) op_table_n + 1;

    first_id = calloc(ops, sizeof *first_id);
    for (int i = 0; i < op_table_n && first_id; i++) {
        bool is_control = op_table[i]->control_kind != CONTROL_NONE;
        first_id[i] = table.n_ids;
        table.n_ids += is_control ? 0 : (uint32_t) (op_table[i]->n_forms * op_table[i]->n_typings);
    }
    table.by_id = calloc(table.n_ids + 1, sizeof *table.by_id);
    for (int i = 0; i < op_table_n; i++)
        for (int f = 0; f < op_table[i]->n_forms; f++)
            n += (size_t) form_len(&op_table[i]->forms[f]) * (size_t) op_table[i]->n_typings;
    struct op_rows *op = calloc(2 * ops * DT_COUNT, sizeof *op);
    const struct row **bridge = calloc(n, sizeof(struct row *));
    all_rows = calloc(n, sizeof *all_rows);
    first_rows = calloc(n, sizeof *first_rows);
    table.first_types = calloc(ops, sizeof *table.first_types);
    if (!op || !bridge || !all_rows || !first_rows || !first_id || !table.by_id ||
        !table.first_types) {
        free(op);
        free(bridge);
        free(all_rows);
        free(first_rows);
        free(first_id);
        free(table.by_id);
        free(table.first_types);
        return;
    }
    for (int type = 0; type < DT_COUNT; type++) {
        table.by_type[type].op = op + 2 * ops * (size_t) type;
        table.first[type].op = table.by_type[type].op + ops;
        table.bridge[type].row = bridge;
        for (int i = 0; i < op_table_n; i++)
            if (op_table[i]->control_kind == CONTROL_NONE) {
                add_op(op_table[i], (enum dtype) type);
                add_first(op_table[i], (enum dtype) type);
            }
        bridge += table.bridge[type].n;
    }
    for (int i = 0; i < op_table_n; i++) {
        if (op_table[i]->control_kind == CONTROL_BRANCH)
            table.branch = op_table[i];
        if (op_table[i]->control_kind == CONTROL_LOOP)
            table.loop = op_table[i];
    }
    set_first_types(&table);
    built = true;
}

const struct rows *rows_get(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, build);
    return built ? &table : NULL;
}

/* ---- a part of the rows */

static int filter_list(const struct op_list *from, const bool *keep, struct arena *a,
                       struct op_list *ret)
{
    *ret = (struct op_list){ .op = arena_alloc(a, from->n + 1, sizeof *ret->op) };
    if (!ret->op)
        return -1;
    for (uint32_t i = 0; i < from->n; i++) {
        const struct op_rows *all = &from->op[i];
        struct row *row = arena_alloc_raw(a, all->n + 1, sizeof *row);
        struct op_rows kept = { all->op, row, 0 };
        if (!row)
            return -1;
        for (uint32_t k = 0; k < all->n; k++)
            if (keep[all->row[k].id])
                row[kept.n++] = all->row[k];
        if (kept.n)
            ret->op[ret->n++] = kept;
    }
    return 0;
}

int rows_filter(const struct rows *all, const bool *keep, struct arena *a, struct rows *ret)
{
    *ret = *all;
    ret->first_types = arena_alloc(a, (size_t) op_table_n + 1, sizeof *ret->first_types);
    if (!ret->first_types)
        return -1;
    for (int type = 0; type < DT_COUNT; type++) {
        uint32_t n = all->bridge[type].n;
        TRY(filter_list(&all->by_type[type], keep, a, &ret->by_type[type]));
        TRY(filter_list(&all->first[type], keep, a, &ret->first[type]));
        ret->bridge[type].row = arena_alloc_raw(a, n + 1, sizeof *ret->bridge[type].row);
        if (!ret->bridge[type].row)
            return -1;
        ret->bridge[type].n = 0;
        for (uint32_t i = 0; i < n; i++)
            if (keep[all->bridge[type].row[i]->id])
                ret->bridge[type].row[ret->bridge[type].n++] = all->bridge[type].row[i];
    }
    set_first_types(ret);
    return 0;
}

/* ---- sets of operations */

void randgraph_ops_add(struct randgraph_ops *s, const struct op *op)
{
    int i = index_of(op);

    s->bits[i / 64] |= (uint64_t) 1 << i % 64;
}

bool randgraph_ops_has(const struct randgraph_ops *s, const struct op *op)
{
    int i = index_of(op);

    return s->bits[i / 64] >> i % 64 & 1;
}

uint32_t randgraph_ops_count(const struct randgraph_ops *s)
{
    uint32_t n = 0;

    for (int i = 0; i < COUNT(s->bits); i++)
        n += (uint32_t) __builtin_popcountll(s->bits[i]);
    return n;
}

struct randgraph_ops randgraph_only(const char *name)
{
    struct randgraph_ops s = { { 0 } };

    if (name)
        randgraph_ops_add(&s, op_by_name(name));
    return s;
}

int rows_of_ops(const struct rows *all, const struct randgraph_ops *ops, struct arena *a,
                struct rows *ret)
{
    bool *keep = arena_alloc(a, all->n_ids + 1, sizeof *keep);

    for (uint32_t i = 0; keep && i < all->n_ids; i++)
        keep[i] = randgraph_ops_has(ops, all->by_id[i]->op);
    return keep ? rows_filter(all, keep, a, ret) : -1;
}
