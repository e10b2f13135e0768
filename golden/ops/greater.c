#include "golden/ops/shared/elementwise/compare.h"

static double greater(double a, double b)
{
    return a > b;
}

static int eval(struct call *c, struct why *w)
{
    (void) w;
    binary_eval(c, greater);
    return 0;
}

const struct op op_GREATER = {
    .code = OP_GREATER,
    .name = "GREATER",
    .summary =
        "Whether the left side is greater than the right one, element by element, broadcasting.",
    .formula = "out = a > b",
    .eval = eval,
#include "golden/ops/shared/elementwise/compare_record.def"
};
