#include "golden/ops/shared/lookup.h"

enum { LOOKUPS, VALUES };

static const struct role inputs[] = {
    [LOOKUPS] = { "lookups", "indexes of rows", "k", .slot = FIXED(DT_I32), .draw = DRAW_OP },
    [VALUES] = { "values", "the table; its first dimension counts the rows", "?", .slot = 0,
                 .draw = DRAW_SHAPE },
};

static const struct role outputs[] = {
    { "output", "the rows that were looked up", "?", .slot = 0, .q = Q_LIKE, .qlike = VALUES },
};

static const struct form forms[] = {
    { "", { LOOKUPS, VALUES, END } },
};

static const struct typing typings[] = {
    { L1, RANK(1), { DT_F32 } }, { L3, RANK(1), { DT_I32 } }, { L3, RANK(1), { DT_U8 } },
    { L4, RANK(1), { DT_F16 } }, { L4, RANK(1), { DT_S8 } },
};

static int infer(struct call *c, struct why *w)
{
    const struct shape *values = &c->in[VALUES]->shape;

    REQUIRE(w, values->rank >= 2, "values have rank %u, must be at least 2", values->rank);
    c->out[0]->shape = *values;
    c->out[0]->shape.dim[0] = c->in[LOOKUPS]->shape.dim[0];
    return lookup_check(c, LOOKUPS, values->dim[0], w);
}

static void move(const struct call *c, const struct movement *m)
{
    struct axis rows = axis_of(&c->in[VALUES]->shape, 0);

    lookup_move(m->size, &rows, c->in[LOOKUPS]->data, tensor_count(c->in[LOOKUPS]), m->from[VALUES],
                m->to[0]);
}

static uint32_t rows_needed(const struct tensor *lookups)
{
    const int32_t *row = lookups->data;
    int32_t most = 0;

    for (size_t i = 0; i < tensor_count(lookups); i++)
        most = row[i] > most ? row[i] : most;
    return (uint32_t) most + 1;
}

/* Lookups or values may be drawn first. */
static bool draw(const struct call *c, int role, struct drawer *d, struct tensor *to)
{
    if (role == LOOKUPS)
        return lookup_draw(d, 1, 8, c->in[VALUES] ? c->in[VALUES]->shape.dim[0] : 6, to);
    to->shape = (struct shape){ 2 + d->below(d, 3), { rows_needed(c->in[LOOKUPS]) } };
    for (uint32_t i = 1; i < to->shape.rank; i++)
        to->shape.dim[i] = d->size(d, 6);
    return true;
}

const struct op op_EMBEDDING_LOOKUP = {
    .code = OP_EMBEDDING_LOOKUP,
    .name = "EMBEDDING_LOOKUP",
    .summary = "Selects rows of a table by their indexes.",
    .formula = "output[k, ..] = values[lookups[k], ..]",
    .since = L1,
    .in = inputs,
    .n_in = COUNT(inputs),
    .out = outputs,
    .n_out = COUNT(outputs),
    .forms = forms,
    .n_forms = COUNT(forms),
    .typings = typings,
    .n_typings = COUNT(typings),
    .fails_above = ROLE_BIT(LOOKUPS),
    .fails_below = ROLE_BIT(LOOKUPS),
    .error = { ERROR_EXACT, .text = "the errors of the elements move with them" },
    .infer = infer,
    .move = move,
    .draw = draw,
};
