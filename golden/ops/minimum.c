#include "golden/binary.h"

enum { A, B };

static const struct role inputs[] = {
    [A] = { "a", "first operand", "?" },
    [B] = { "b", "second operand", "?", .draw = DRAW_BROADCAST },
};

static const struct role outputs[] = {
    { "output", "broadcast shape of both operands", "?" },
};

static const struct form forms[] = {
    { "", { A, B, END } },
};

static const struct typing typings[] = {
    /* since, ranks, operands and result */
    { L3, RANKS(1, MAX_RANK), { DT_F16 } }, { L3, RANKS(1, MAX_RANK), { DT_F32 } },
    { L3, RANKS(1, MAX_RANK), { DT_I32 } }, { L3, RANKS(1, MAX_RANK), { DT_U8 } },
    { L4, RANKS(1, MAX_RANK), { DT_S8 } },
};

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

static int eval(struct call *c, struct why *w)
{
    (void) w;
    binary_eval(c, smaller);
    return 0;
}

/* Minimum grows with both operands: its interval is that of the ends. */
static double carry(double a, double b, double ea, double eb)
{
    if (ea == 0 && eb == 0)
        return 0;
    return bound_interval(smaller(a, b), smaller(a - ea, b - eb), smaller(a + ea, b + eb));
}

static int bound(struct call *c, struct why *w)
{
    (void) w;
    binary_bound(c, carry);
    bound_requantised(c);
    return 0;
}

const struct op op_MINIMUM = {
    .code = OP_MINIMUM,
    .name = "MINIMUM",
    .summary = "Element-wise minimum of two tensors, broadcasting.",
    .formula = "out = min(a, b)",
    .since = L3,
    .in = inputs,
    .n_in = COUNT(inputs),
    .out = outputs,
    .n_out = COUNT(outputs),
    .forms = forms,
    .n_forms = COUNT(forms),
    .typings = typings,
    .n_typings = COUNT(typings),
    .error = { ERROR_EXACT,
               .text = "interval of both operands; half a step where their scales differ from "
                       "the result's" },
    .infer = broadcast_infer,
    .eval = eval,
    .bound = bound,
};
