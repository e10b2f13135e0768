#include <string.h>

#include "golden/model/op.h"

enum { INPUT, AXIS };

static const struct role inputs[] = {
    [INPUT] = { "input", "the tensor", "?", .slot = 0 },
    [AXIS] = { "axis", "index of the new dimension in the output; negative counts from the end",
               .slot = FIXED(DT_INT32), .draw = DRAW_AXIS, .needs = NEEDS_CONST },
};

static const struct role outputs[] = {
    { "output", "the same elements with one more dimension", "?", .slot = 0, .q = Q_SAME },
};

static const struct form forms[] = {
    { "", { INPUT, AXIS, END } },
};

static const struct typing typings[] = {
    { L3, RANKS(1, MAX_RANK - 1), { DT_F32 } }, { L3, RANKS(1, MAX_RANK - 1), { DT_F16 } },
    { L3, RANKS(1, MAX_RANK - 1), { DT_I32 } }, { L3, RANKS(1, MAX_RANK - 1), { DT_U8 } },
    { L4, RANKS(1, MAX_RANK - 1), { DT_S8 } },
};

static int infer(struct call *c, struct why *w)
{
    const struct shape *in = &c->in[INPUT]->shape;
    struct shape *out = &c->out[0]->shape;
    int32_t rank = (int32_t) in->rank + 1, axis = call_int(c, AXIS);

    out->rank = (uint32_t) rank;
    if (!call_known(c, AXIS))
        return 0;
    REQUIRE(w, axis >= -rank && axis < rank, "axis %d is outside the output's rank %d", axis, rank);
    axis += axis < 0 ? rank : 0;
    for (int32_t i = 0; i < rank; i++)
        out->dim[i] = i == axis ? 1 : in->dim[i - (i > axis)];
    return 0;
}

static void move(const struct call *c, const struct movement *m)
{
    memcpy(m->to[0], m->from[INPUT], tensor_count(c->in[INPUT]) * m->size);
}

const struct op op_EXPAND_DIMS = {
    .code = OP_EXPAND_DIMS,
    .name = "EXPAND_DIMS",
    .summary = "Inserts a dimension of size 1.",
    .formula = "output[i] = input[i], i counting elements in row-major order",
    .since = L3,
    .in = inputs,
    .n_in = COUNT(inputs),
    .out = outputs,
    .n_out = COUNT(outputs),
    .forms = forms,
    .n_forms = COUNT(forms),
    .typings = typings,
    .n_typings = COUNT(typings),
    .fails_above = ROLE_BIT(AXIS),
    .fails_below = ROLE_BIT(AXIS),
    .error = { ERROR_EXACT, .text = "the errors of the elements move with them" },
    .infer = infer,
    .move = move,
};
