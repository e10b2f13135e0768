#include "golden/ops/shared/padding.h"

enum { INPUT, PADDINGS };

static const struct role inputs[] = {
    [INPUT] = { "input", "the tensor", "?", .slot = 0 },
    [PADDINGS] = { "paddings", "number of zeros before and after, for each dimension", "R2",
                   .slot = FIXED(DT_I32), .draw = DRAW_OP, .needs = NEEDS_CONST },
};

static const struct role outputs[] = {
    { "output", "the input with real zeros around it", "?", .slot = 0, .q = Q_SAME },
};

static const struct form forms[] = {
    { "", { INPUT, PADDINGS, END } },
};

static const struct typing typings[] = {
    { L2, RANKS(1, 4), { DT_F32 } },
    { L2, RANKS(1, 4), { DT_U8 } },
    { L3, RANKS(1, 4), { DT_F16 } },
    { L4, RANKS(1, 4), { DT_S8 } },
};

static int infer(struct call *c, struct why *w)
{
    if (c->in[INPUT]->dtype == DT_U8 && c->in[INPUT]->zero != 0)
        c->level = L3; /* lower levels do not define the padding value */
    return padding_infer(c, PADDINGS, w);
}

static void move(const struct call *c, const struct movement *m)
{
    padding_move(c, PADDINGS, m->fill, m);
}

static bool draw(const struct call *c, int role, struct drawer *d, struct tensor *to)
{
    (void) role;
    return padding_draw(c, d, to);
}

const struct op op_PAD = {
    .code = OP_PAD,
    .name = "PAD",
    .summary = "Surrounds a tensor with zeros.",
    .formula = "output[i_0, ..] = input[i_0 - paddings[0,0], ..] inside, real 0 outside",
    .since = L2,
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
