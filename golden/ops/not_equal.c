#include "golden/ops/shared/elementwise/compare.h"

static double not_equal(double a, double b)
{
    return a != b;
}

static int eval(struct call *c, struct why *w)
{
    (void) w;
    binary_eval(c, not_equal);
    return 0;
}

const struct op op_NOT_EQUAL = {
    .code = OP_NOT_EQUAL,
    .name = "NOT_EQUAL",
    .summary =
        "Whether the left side is different from the right one, element by element, broadcasting.",
    .formula = "out = a != b",
    .eval = eval,
#include "golden/ops/shared/elementwise/compare_record.def"
};
