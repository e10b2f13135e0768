#include "golden/ops/shared/elementwise/compare.h"

static double less(double a, double b)
{
    return a < b;
}

static int eval(struct call *c, struct why *w)
{
    (void) w;
    binary_eval(c, less);
    return 0;
}

const struct op op_LESS = {
    .code = OP_LESS,
    .name = "LESS",
    .summary =
        "Whether the left side is less than the right one, element by element, broadcasting.",
    .formula = "out = a < b",
    .eval = eval,
#include "golden/ops/shared/elementwise/compare_record.def"
};
