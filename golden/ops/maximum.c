#include "golden/ops/shared/elementwise/binary.h"

static const struct typing typings[] = {
    /* since, ranks, operands and result */
    { L3, RANKS(1, MAX_RANK), { DT_F16 } }, { L3, RANKS(1, MAX_RANK), { DT_F32 } },
    { L3, RANKS(1, MAX_RANK), { DT_I32 } }, { L3, RANKS(1, MAX_RANK), { DT_U8 } },
    { L4, RANKS(1, MAX_RANK), { DT_S8 } },
};

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static int eval(struct call *c, struct why *w)
{
    (void) w;
    binary_eval(c, larger);
    return 0;
}

/* Monotone in both operands: the extremes are at the ends of their intervals. */
static double carry(double a, double b, double ea, double eb)
{
    if (ea == 0 && eb == 0)
        return 0;
    return bound_interval(larger(a, b), larger(a - ea, b - eb), larger(a + ea, b + eb));
}

static int bound(struct call *c, struct why *w)
{
    (void) w;
    binary_bound(c, carry);
    bound_requantisation(c);
    return 0;
}

const struct op op_MAXIMUM = {
    .code = OP_MAXIMUM,
    .name = "MAXIMUM",
    .summary = "Element-wise maximum of two tensors, broadcasting.",
    .formula = "out = max(a, b)",
    .since = L3,
    .in = binary_in,
    .n_in = COUNT(binary_in),
    .out = binary_out,
    .n_out = COUNT(binary_out),
    .forms = binary_forms,
    .n_forms = COUNT(binary_forms),
    .typings = typings,
    .n_typings = COUNT(typings),
    .error = { ERROR_EXACT,
               .text = "interval of both operands; half a step where their scales differ from "
                       "the result's" },
    .infer = broadcast_infer,
    .eval = eval,
    .bound = bound,
};
