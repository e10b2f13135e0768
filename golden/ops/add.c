#include "golden/math/vector_loop.h"
#include "golden/ops/shared/elementwise/binary.h"

static const struct typing typings[] = {
    /* since, ranks, operands and result */
    { L1, RANKS(1, 4), { DT_F32 } }, { L1, RANKS(1, 4), { DT_U8 } },
    { L3, RANKS(1, 4), { DT_F16 } }, { L4, RANKS(1, 4), { DT_S8 } },
    { L4, RANKS(1, 4), { DT_I32 } },
};

static double add(double a, double b)
{
    return a + b;
}

static int32_t add_int(int32_t a, int32_t b)
{
    return (int32_t) ((uint32_t) a + (uint32_t) b);
}

static int eval(struct call *c, struct why *w)
{
    (void) w;
    binary_eval(c, add);
    fused_apply(c);
    return 0;
}

static void eval_int(struct call *c)
{
    binary_eval_int(c, add_int);
}

static double carry(double a, double b, double ea, double eb)
{
    (void) a, (void) b;
    return ea + eb;
}

static double carry_int(double a, double b, double ea, double eb)
{
    return binary_wrapping(a + b, ea + eb);
}

VECTOR_LOOP static int bound(struct call *c, struct why *w)
{
    (void) w;
    if (c->out[0]->dtype == DT_I32)
        binary_bound(c, carry_int);
    else
        binary_bound(c, carry);
    binary_bound_scaling(c);
    fused_bound(c);
    return 0;
}

const struct op op_ADD = {
    .code = OP_ADD,
    .name = "ADD",
    .summary = "Adds two tensors, broadcasting, then applies a fused activation.",
    .formula = "out = activation(a + b)",
    .since = L1,
    .in = fused_in,
    .n_in = COUNT(fused_in),
    .out = binary_out,
    .n_out = COUNT(binary_out),
    .forms = fused_forms,
    .n_forms = COUNT(fused_forms),
    .typings = typings,
    .n_typings = COUNT(typings),
    .takes_empty = ROLE_BIT(0) | ROLE_BIT(1),
    .error = { ERROR_ELEMENT, .ulps = 1, .steps = 0.05,
               .text = "ea + eb; quantised: and the rounding when both are rescaled to one scale" },
    .infer = fused_infer,
    .eval = eval,
    .eval_int = eval_int,
    .bound = bound,
};
