#include "golden/ops/shared/lookup.h"

enum { INPUT, AXIS, INDICES };

static const struct role inputs[] = {
    [INPUT] = { "input", "the tensor", "?", .slot = 0 },
    [AXIS] = { "axis", "dimension in which elements are selected; negative counts from the end",
               .slot = FIXED(DT_INT32), .draw = DRAW_AXIS, .needs = NEEDS_CONST },
    [INDICES] = { "indices", "indexes of elements in the dimension, in any shape", "?",
                  .slot = FIXED(DT_I32), .draw = DRAW_OP },
};

static const struct role outputs[] = {
    { "output", "the input, with the dimension replaced by the shape of the indices", "?",
      .slot = 0, .q = Q_SAME },
};

static const struct form forms[] = {
    { "", { INPUT, AXIS, INDICES, END } },
};

static const struct typing typings[] = {
    { L3, RANKS(1, MAX_RANK), { DT_F32 } }, { L3, RANKS(1, MAX_RANK), { DT_F16 } },
    { L3, RANKS(1, MAX_RANK), { DT_I32 } }, { L3, RANKS(1, MAX_RANK), { DT_U8 } },
    { L4, RANKS(1, MAX_RANK), { DT_S8 } },
};

static int infer(struct call *c, struct why *w)
{
    const struct shape *in = &c->in[INPUT]->shape, *indices = &c->in[INDICES]->shape;
    struct shape out = { 0 };

    TRY(axis_check(c, AXIS, w));
    REQUIRE(w, indices->rank >= 1 && in->rank - 1 + indices->rank <= MAX_RANK, "indices of rank %u",
            indices->rank);
    c->out[0]->shape.rank = in->rank - 1 + indices->rank;
    if (!call_known(c, AXIS))
        return 0;
    struct axis a = call_axis(c, AXIS);
    for (uint32_t i = 0; i < in->rank; i++) {
        if (i != a.dim)
            out.dim[out.rank++] = in->dim[i];
        for (uint32_t k = 0; i == a.dim && k < indices->rank; k++)
            out.dim[out.rank++] = indices->dim[k];
    }
    c->out[0]->shape = out;
    return lookup_check(c, INDICES, a.len, w);
}

static void move(const struct call *c, const struct movement *m)
{
    struct axis a = call_axis(c, AXIS);

    lookup_move(m->size, &a, c->in[INDICES]->data, tensor_count(c->in[INDICES]), m->from[INPUT],
                m->to[0]);
}

enum { MOST_INDICES = 8 };

/* Sometimes as many indexes as elements: the output then has the input's shape. */
static bool draw(const struct call *c, int role, struct drawer *d, struct tensor *to)
{
    uint32_t len = (uint32_t) call_axis(c, AXIS).len;
    bool alike = len <= MOST_INDICES && d->below(d, 4) == 0;

    (void) role;
    if (!lookup_draw(d, alike ? 1 : 1 + d->below(d, 3), MOST_INDICES, len, to))
        return false;
    for (uint32_t i = to->shape.dim[0]; alike && i < len; i++)
        ((int32_t *) to->data)[i] = (int32_t) d->below(d, len);
    to->shape.dim[0] = alike ? len : to->shape.dim[0];
    return true;
}

const struct op op_GATHER = {
    .code = OP_GATHER,
    .name = "GATHER",
    .summary = "Selects elements of one dimension by their indexes.",
    .formula = "output[i_0, .., k_0, .., i_n] = input[i_0, .., indices[k_0, ..], .., i_n]",
    .since = L3,
    .in = inputs,
    .n_in = COUNT(inputs),
    .out = outputs,
    .n_out = COUNT(outputs),
    .forms = forms,
    .n_forms = COUNT(forms),
    .typings = typings,
    .n_typings = COUNT(typings),
    .fails_above = ROLE_BIT(AXIS) | ROLE_BIT(INDICES),
    .fails_below = ROLE_BIT(AXIS) | ROLE_BIT(INDICES),
    .error = { ERROR_EXACT, .text = "the errors of the elements move with them" },
    .infer = infer,
    .move = move,
    .draw = draw,
};
