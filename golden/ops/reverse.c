#include "golden/ops/shared/strided.h"

enum { INPUT, AXIS };

static const struct role inputs[] = {
    [INPUT] = { "input", "the tensor", "*", .slot = 0 },
    [AXIS] = { "axis", "the dimension to reverse", "1", .slot = FIXED(DT_I32), .draw = DRAW_OP,
               .needs = NEEDS_CONST },
};

static const struct role outputs[] = {
    { "output", "the same elements, in reverse order along the axis", "*", .slot = 0, .q = Q_SAME },
};

static const struct form forms[] = {
    { "", { INPUT, AXIS, END } },
};

static const struct typing typings[] = {
    { L7, RANKS(1, 8), { DT_F32 } }, { L7, RANKS(1, 8), { DT_F16 } },
    { L7, RANKS(1, 8), { DT_I32 } }, { L7, RANKS(1, 8), { DT_U8 } },
    { L7, RANKS(1, 8), { DT_S8 } },
};

static int infer(struct call *c, struct why *w)
{
    int32_t rank = (int32_t) c->in[INPUT]->shape.rank;

    if (call_known(c, AXIS))
        REQUIRE(w, call_int(c, AXIS) >= 0 && call_int(c, AXIS) < rank, "axis %d is outside rank %d",
                call_int(c, AXIS), rank);
    return 0;
}

static void move(const struct call *c, const struct movement *m)
{
    const struct shape *in = &c->in[INPUT]->shape;
    struct strided_axis axis[MAX_RANK];

    for (uint32_t i = 0; i < in->rank; i++)
        axis[i] = (struct strided_axis){ in->dim[i], 0, 1 };
    uint32_t turned = (uint32_t) call_int(c, AXIS);
    axis[turned] = (struct strided_axis){ in->dim[turned], (int64_t) in->dim[turned] - 1, -1 };
    strided_copy(c, axis, m);
}

static bool draw(const struct call *c, int role, struct drawer *d, struct tensor *to)
{
    (void) role;
    to->shape = (struct shape){ 1, { 1 } };
    *(int32_t *) to->data = (int32_t) d->below(d, c->in[INPUT]->shape.rank);
    return true;
}

const struct op op_REVERSE = {
    .code = OP_REVERSE,
    .name = "REVERSE",
    .summary = "Reverses the order of elements along one dimension.",
    .formula = "output[.., i, ..] = input[.., dimension - 1 - i, ..]",
    .since = L7,
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
    .draw = draw,
};
