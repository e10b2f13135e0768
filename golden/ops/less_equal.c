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
    .eval = eval,
#include "golden/ops/shared/elementwise/compare_record.def"
};
