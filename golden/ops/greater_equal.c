#include "golden/ops/shared/elementwise/compare.h"

static double greater_equal(double a, double b)
{
    return a >= b;
}

static int eval(struct call *c, struct why *w)
{
    (void) w;
    binary_eval(c, greater_equal);
    return 0;
}

const struct op op_GREATER_EQUAL = {
    .code = OP_GREATER_EQUAL,
    .name = "GREATER_EQUAL",
    .summary = "Whether the left side is greater than or equal to the right one, element by "
               "element, broadcasting.",
    .formula = "out = a >= b",
    .eval = eval,
#include "golden/ops/shared/elementwise/compare_record.def"
};
