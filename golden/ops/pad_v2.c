#include "golden/ops/shared/padding.h"

enum { INPUT, PADDINGS, VALUE };

static const struct role inputs[] = {
    [INPUT] = { "input", "the tensor", "?", .slot = 0 },
    [PADDINGS] = { "paddings", "number of elements before and after, for each dimension", "R2",
                   .slot = FIXED(DT_I32), .draw = DRAW_OP, .needs = NEEDS_CONST },
    [VALUE] = { "pad_value", "padding value; the stored value of a quantised type", .slot = 1,
                .draw = DRAW_OP, .q = Q_SAME },
};

static const struct role outputs[] = {
    { "output", "the input with the value around it", "?", .slot = 0, .q = Q_SAME },
};

static const struct form forms[] = {
    { "", { INPUT, PADDINGS, VALUE, END } },
};

static const struct typing typings[] = {
    /* since, ranks, input, value */
    { L3, RANKS(1, 4), { DT_F32, DT_FLOAT32 } },
    { L3, RANKS(1, 4), { DT_F16, DT_FLOAT16 } },
    { L3, RANKS(1, 4), { DT_U8, DT_INT32 } },
    { L4, RANKS(1, 4), { DT_S8, DT_INT32 } },
};

static int infer(struct call *c, struct why *w)
{
    const struct codec *type = dtype_info[c->in[INPUT]->dtype].codec;

    if (type->integer && call_known(c, VALUE))
        REQUIRE(w, call_int(c, VALUE) >= type->min && call_int(c, VALUE) <= type->max,
                "pad_value %d is outside %g..%g", call_int(c, VALUE), type->min, type->max);
    return padding_infer(c, PADDINGS, w);
}

/* In little-endian order the first byte of the INT32 is the 8-bit value. */
static void move(const struct call *c, const struct movement *m)
{
    padding_move(c, PADDINGS, m->from[VALUE], m);
}

static bool draw(const struct call *c, int role, struct drawer *d, struct tensor *to)
{
    if (role == PADDINGS)
        return padding_draw(c, d, to);
    const struct codec *type = dtype_info[c->in[INPUT]->dtype].codec;
    int32_t lowest = type->integer ? (int32_t) type->min : -8;
    *(int32_t *) to->data = lowest + (int32_t) d->below(d, type->integer ? 256 : 17);
    return true;
}

const struct op op_PAD_V2 = {
    .code = OP_PAD_V2,
    .name = "PAD_V2",
    .summary = "Surrounds a tensor with a value.",
    .formula = "output[i_0, ..] = input[i_0 - paddings[0,0], ..] inside, pad_value outside",
    .since = L3,
    .in = inputs,
    .n_in = COUNT(inputs),
    .out = outputs,
    .n_out = COUNT(outputs),
    .forms = forms,
    .n_forms = COUNT(forms),
    .typings = typings,
    .n_typings = COUNT(typings),
    .fails_below = ROLE_BIT(PADDINGS),
    .error = { ERROR_EXACT, .text = "the errors of the elements move with them" },
    .infer = infer,
    .move = move,
    .draw = draw,
};
