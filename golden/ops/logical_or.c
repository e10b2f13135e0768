#include "golden/ops/shared/elementwise/binary.h"

static const struct typing typings[] = {
    { L3, RANKS(1, MAX_RANK), { DT_B8 } },
};

static double either(double a, double b)
{
    return a > 0 || b > 0;
}

static int eval(struct call *c, struct why *w)
{
    (void) w;
    binary_eval(c, either);
    return 0;
}

static double carry(double a, double b, double ea, double eb)
{
    return binary_corners(either, a, b, ea, eb, either(a, b), either(a, b));
}

static int bound(struct call *c, struct why *w)
{
    (void) w;
    binary_bound(c, carry);
    return 0;
}

const struct op op_LOGICAL_OR = {
    .code = OP_LOGICAL_OR,
    .name = "LOGICAL_OR",
    .summary = "Whether at least one operand is true, element by element, broadcasting.",
    .formula = "out = a || b",
    .since = L3,
    .in = binary_in,
    .n_in = COUNT(binary_in),
    .out = binary_out,
    .n_out = COUNT(binary_out),
    .forms = binary_forms,
    .n_forms = COUNT(binary_forms),
    .typings = typings,
    .n_typings = COUNT(typings),
    .error = { ERROR_EXACT, .text = "undecided where an undecided operand can change the result" },
    .infer = broadcast_infer,
    .eval = eval,
    .bound = bound,
};
