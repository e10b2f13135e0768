#include "golden/ops/shared/elementwise/compare.h"

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
    .eval = eval,
#include "golden/ops/shared/elementwise/compare_record.def"
};
