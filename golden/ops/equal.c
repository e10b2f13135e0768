#include "golden/compare.h"

enum { A, B };

static const struct role inputs[] = {
    [A] = { "a", "left side", "?" },
    [B] = { "b", "right side", "?", .draw = DRAW_BROADCAST },
};

static const struct role outputs[] = {
    { "output", "truth, in the broadcast shape of both operands", "?", .slot = FIXED(DT_B8) },
};

static const struct form forms[] = {
    { "", { A, B, END } },
};

static const struct typing typings[] = {
    /* since, ranks, operands */
    { L3, RANKS(1, MAX_RANK), { DT_B8 } },  { L3, RANKS(1, MAX_RANK), { DT_F16 } },
    { L3, RANKS(1, MAX_RANK), { DT_F32 } }, { L3, RANKS(1, MAX_RANK), { DT_I32 } },
    { L3, RANKS(1, MAX_RANK), { DT_U8 } },  { L4, RANKS(1, MAX_RANK), { DT_S8 } },
};

static double equal(double a, double b)
{
    return a == b;
}

static int eval(struct call *c, struct why *w)
{
    (void) w;
    binary_eval(c, equal);
    return 0;
}

const struct op op_EQUAL = {
    .code = OP_EQUAL,
    .name = "EQUAL",
    .summary = "Whether the left side is equal to the right one, element by element, broadcasting.",
    .formula = "out = a == b",
    .since = L3,
    .in = inputs,
    .n_in = COUNT(inputs),
    .out = outputs,
    .n_out = COUNT(outputs),
    .forms = forms,
    .n_forms = COUNT(forms),
    .typings = typings,
    .n_typings = COUNT(typings),
    .error = { ERROR_DISCRETE, .text = "either answer where the operands' intervals touch" },
    .infer = broadcast_infer,
    .eval = eval,
    .bound = compare_bound,
};
