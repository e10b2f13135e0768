/* Index of the catalogue: for each element type, the operations that can consume a value of it. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "randgraph/randgraph_internal.h"

static bool is_tensor_role(const struct role *r)
{
    return r->dims != NULL;
}

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

    if (!is_tensor_role(r) || r->q == Q_PRODUCT || r->draw == DRAW_OP)
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

static int level_of(const struct op *op, const struct form *f, const struct typing *t)
{
    int level = (int) op->since;

    if ((int) f->since > level)
        level = (int) f->since;
    return (int) t->since > level ? (int) t->since : level;
}

static uint8_t pattern_rank(const struct role *r)
{
    bool free_rank = !r->dims || !strcmp(r->dims, "?") || r->dims[0] == '*';

    return free_rank ? 0 : (uint8_t) strlen(r->dims);
}

static bool is_bridge(const struct op *op, const struct form *f, const struct typing *t)
{
    const struct role *in = &op->in[f->role[0]];

    return form_len(f) == 1 && op->n_out == 1 && !op->out[0].many && in->dims && op->out[0].dims &&
           role_type(in, t) != role_type(&op->out[0], t);
}

static struct rows table;
static struct row *all_rows; /* by type, then by operation */
static uint32_t n_rows;
static struct row *first_rows; /* by operation */
static uint32_t n_first_rows;

static void add_row(const struct op *op, int form, int typing, int at, struct op_rows *of_op)
{
    const struct form *f = &op->forms[form];
    const struct typing *t = &op->typings[typing];
    const struct role *r = &op->in[f->role[at]];
    struct row *row = &all_rows[n_rows++];
    enum dtype type = role_type(r, t);

    *row = (struct row){ op,
                         (uint8_t) form,
                         (uint8_t) typing,
                         f->role[at],
                         (uint8_t) level_of(op, f, t),
                         pattern_rank(r) };
    of_op->n++;
    if (is_bridge(op, f, t))
        table.bridge[type].row[table.bridge[type].n++] = row;
}

static void add_op(const struct op *op, enum dtype type)
{
    struct op_rows of_op = { op, &all_rows[n_rows], 0 };

    for (int f = 0; f < op->n_forms; f++)
        for (int t = 0; t < op->n_typings; t++)
            for (int at = 0; op->forms[f].role[at] != END; at++)
                if (can_enter(op, &op->forms[f], at) &&
                    role_type(&op->in[op->forms[f].role[at]], &op->typings[t]) == type)
                    add_row(op, f, t, at, &of_op);
    if (of_op.n)
        table.by_type[type].op[table.by_type[type].n++] = of_op;
}

/* Index in the form of the first tensor, with which an operation can begin a graph. */
static int first_tensor(const struct op *op, const struct form *f)
{
    for (int i = 0; f->role[i] != END; i++)
        if (op->in[f->role[i]].dims)
            return i;
    return 0;
}

static void add_first(const struct op *op, enum dtype type)
{
    struct op_rows of_op = { op, &first_rows[n_first_rows], 0 };

    for (int f = 0; f < op->n_forms; f++)
        for (int t = 0; t < op->n_typings; t++) {
            const struct form *form = &op->forms[f];
            const struct role *r = &op->in[form->role[first_tensor(op, form)]];
            const struct role *like =
                r->draw == DRAW_OP ? &op->out[0] : r; /* r is a shape: its type is fixed */
            if (role_type(like, &op->typings[t]) != type)
                continue;
            first_rows[n_first_rows++] =
                (struct row){ op,
                              (uint8_t) f,
                              (uint8_t) t,
                              (uint8_t) (r - op->in),
                              (uint8_t) level_of(op, form, &op->typings[t]),
                              pattern_rank(r) };
            of_op.n++;
        }
    if (of_op.n)
        table.first[type].op[table.first[type].n++] = of_op;
}

static size_t most_rows(void)
{
    size_t n = 1;

    for (int i = 0; i < op_table_n; i++)
        for (int f = 0; f < op_table[i]->n_forms; f++)
            n += (size_t) form_len(&op_table[i]->forms[f]) * (size_t) op_table[i]->n_typings;
    return n;
}

/* The tables are never freed. */
static bool allocate(void)
{
    size_t n = most_rows(), ops = (size_t) op_table_n + 1;
    struct op_rows *op = calloc(2 * ops * DT_COUNT, sizeof *op);
    const struct row **bridge = calloc(n, sizeof(struct row *));

    all_rows = calloc(n, sizeof *all_rows);
    first_rows = calloc(n, sizeof *first_rows);
    if (!op || !bridge || !all_rows || !first_rows) {
        free(op);
        free(bridge);
        free(all_rows);
        free(first_rows);
        return false;
    }
    table.bridge[0].row = bridge;
    for (size_t type = 0; type < DT_COUNT; type++) {
        table.by_type[type].op = op + 2 * ops * type;
        table.first[type].op = op + 2 * ops * type + ops;
    }
    return true;
}

static bool built;

static void build(void)
{
    if (!allocate())
        return;
    for (int type = 0; type < DT_COUNT; type++) {
        if (type > 0)
            table.bridge[type].row = table.bridge[type - 1].row + table.bridge[type - 1].n;
        for (int i = 0; i < op_table_n; i++)
            if (op_table[i]->control_kind == CONTROL_NONE) {
                add_op(op_table[i], (enum dtype) type);
                add_first(op_table[i], (enum dtype) type);
            }
    }
    for (int i = 0; i < op_table_n; i++) {
        if (op_table[i]->control_kind == CONTROL_BRANCH)
            table.branch = op_table[i];
        if (op_table[i]->control_kind == CONTROL_LOOP)
            table.loop = op_table[i];
    }
    built = true;
}

const struct rows *rows_get(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, build);
    return built ? &table : NULL;
}
