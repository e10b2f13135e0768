#include "golden/ops/shared/elementwise/compare.h"

static double less_equal(double a, double b)
{
    return a <= b;
}

static int eval(struct call *c, struct why *w)
{
    (void) w;
    binary_eval(c, less_equal);
    return 0;
}

const struct op op_LESS_EQUAL = {
    .code = OP_LESS_EQUAL,
    .name = "LESS_EQUAL",
    .summary = "Whether the left side is less than or equal to the right one, element by element, "
               "broadcasting.",
    .formula = "out = a <= b",
    .since = L3,
    .in = compare_in,
    .n_in = COUNT(compare_in),
    .out = compare_out,
    .n_out = COUNT(compare_out),
    .forms = binary_forms,
    .n_forms = COUNT(binary_forms),
    .typings = compare_typings,
    .n_typings = COUNT(compare_typings),
    .error = { ERROR_DISCRETE, .text = "either answer where the operands' intervals touch" },
    .infer = broadcast_infer,
    .eval = eval,
    .bound = compare_bound,
};
