#include "golden/model/copy_elements.h"
#include "golden/ops/shared/axis.h"

enum { INPUT, GROUPS, AXIS };

static const struct role inputs[] = {
    [INPUT] = { "input", "the tensor", "*", .slot = 0 },
    [GROUPS] = { "num_groups", "number of groups, must divide the dimension",
                 .slot = FIXED(DT_INT32), .draw = DRAW_OP, .needs = NEEDS_CONST },
    [AXIS] = { "axis", "dimension to shuffle; negative counts from the end",
               .slot = FIXED(DT_INT32), .draw = DRAW_OP, .needs = NEEDS_CONST },
};

static const struct role outputs[] = {
    { "output", "the first elements of all groups, then the second elements, ..", "*", .slot = 0,
      .q = Q_SAME },
};

static const struct form forms[] = {
    { "", { INPUT, GROUPS, AXIS, END } },
};

static const struct typing typings[] = {
    { L3, RANKS(1, 4), { DT_F32 } },
    { L3, RANKS(1, 4), { DT_F16 } },
    { L3, RANKS(1, 4), { DT_U8 } },
    { L4, RANKS(1, 4), { DT_S8 } },
};

static int infer(struct call *c, struct why *w)
{
    TRY(axis_check(c, AXIS, w));
    if (!call_known(c, GROUPS))
        return 0;
    int32_t groups = call_int(c, GROUPS);
    REQUIRE(w, groups >= 1, "num_groups is %d", groups);
    if (!call_known(c, AXIS))
        return 0;
    struct axis a = call_axis(c, AXIS);
    REQUIRE(w, a.len % (size_t) groups == 0,
            "dimension %u of %zu elements cannot be cut into %d groups", a.dim, a.len, groups);
    return 0;
}

static void move(const struct call *c, const struct movement *m)
{
    struct axis a = call_axis(c, AXIS);
    size_t groups = (size_t) call_int(c, GROUPS), each = a.len / groups;
    ptrdiff_t inner = (ptrdiff_t) a.inner, row = (ptrdiff_t) (a.len * a.inner);
    struct copy_axis box[] = {
        { a.outer, row, row },
        { each, inner, (ptrdiff_t) groups * inner },
        { groups, (ptrdiff_t) each * inner, inner },
        { a.inner, 1, 1 },
    };

    copy_elements(m->size, box, COUNT(box), m->from[INPUT], m->to[0]);
}

/* Draws a divisor of some dimension, then a dimension that it divides. */
static bool draw(const struct call *c, int role, struct drawer *d, struct tensor *to)
{
    const struct shape *in = &c->in[INPUT]->shape;
    uint32_t start = d->below(d, in->rank), groups = 1 + d->below(d, 6);

    if (role == GROUPS) {
        while (in->dim[start] % groups)
            groups--;
        *(int32_t *) to->data = (int32_t) groups;
        return true;
    }
    groups = (uint32_t) call_int(c, GROUPS);
    while (in->dim[start] % groups)
        start = (start + 1) % in->rank;
    *(int32_t *) to->data = (int32_t) start - (d->below(d, 2) ? (int32_t) in->rank : 0);
    return true;
}

const struct op op_CHANNEL_SHUFFLE = {
    .code = OP_CHANNEL_SHUFFLE,
    .name = "CHANNEL_SHUFFLE",
    .summary = "Interleaves groups of channels.",
    .formula =
        "output[.., k * num_groups + g, ..] = input[.., g * (channels / num_groups) + k, ..]",
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
    .draw = draw,
};
