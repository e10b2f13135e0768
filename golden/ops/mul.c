#include "golden/math/vector_loop.h"
#include "golden/ops/shared/elementwise/binary.h"

static const struct role outputs[] = {
    { "output", "broadcast shape of both operands", "?", .q = Q_OVER },
};

static const struct typing typings[] = {
    /* since, ranks, operands and result */
    { L1, RANKS(1, 4), { DT_F32 } }, { L1, RANKS(1, 4), { DT_U8 } },
    { L3, RANKS(1, 4), { DT_F16 } }, { L4, RANKS(1, 4), { DT_S8 } },
    { L4, RANKS(1, 4), { DT_I32 } },
};

static double mul(double a, double b)
{
    return a * b;
}

static int32_t mul_int(int32_t a, int32_t b)
{
    return (int32_t) ((uint32_t) a * (uint32_t) b);
}

static int eval(struct call *c, struct why *w)
{
    (void) w;
    binary_eval(c, mul);
    fused_apply(c);
    return 0;
}

static void eval_int(struct call *c)
{
    binary_eval_int(c, mul_int);
}

static double carry(double a, double b, double ea, double eb)
{
    return bound_scaled(a, eb) + bound_scaled(b, ea) + bound_scaled(ea, eb);
}

static double carry_int(double a, double b, double ea, double eb)
{
    return binary_wrapping(a * b, carry(a, b, ea, eb));
}

VECTOR_LOOP static int bound(struct call *c, struct why *w)
{
    (void) w;
    if (c->out[0]->dtype == DT_I32)
        binary_bound(c, carry_int);
    else
        binary_bound(c, carry);
    fused_bound(c);
    return 0;
}

const struct op op_MUL = {
    .code = OP_MUL,
    .name = "MUL",
    .summary = "Multiplies two tensors, broadcasting, then applies a fused activation.",
    .formula = "out = activation(a * b)",
    .since = L1,
    .in = fused_in,
    .n_in = COUNT(fused_in),
    .out = outputs,
    .n_out = COUNT(outputs),
    .forms = fused_forms,
    .n_forms = COUNT(fused_forms),
    .typings = typings,
    .n_typings = COUNT(typings),
    .takes_empty = ROLE_BIT(0) | ROLE_BIT(1),
    .error = { ERROR_ELEMENT, .ulps = 1, .steps = 0.05, .text = "|a| eb + |b| ea + ea eb" },
    .infer = fused_infer,
    .eval = eval,
    .eval_int = eval_int,
    .bound = bound,
};
