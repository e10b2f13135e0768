#include "golden/ops/shared/elementwise/binary.h"

enum { A, B, ACTIVATION };

static const struct role inputs[] = {
    [A] = { "a", "dividend", "?" },
    [B] = { "b", "divisor; integer division by 0 has an unspecified result", "?",
            .ranks = RANKS(1, 4), .draw = DRAW_BROADCAST, .needs = NEEDS_NONZERO },
    [ACTIVATION] = { "activation", "fused activation: 0 none, 1 ReLU, 2 ReLU1, 3 ReLU6",
                     .slot = FIXED(DT_INT32), .draw = DRAW_ACTIVATION },
};

static const struct typing typings[] = {
    /* since, ranks, operands and result */
    { L2, RANKS(1, 4), { DT_F32 } },
    { L3, RANKS(1, 4), { DT_F16 } },
    { L4, RANKS(1, 4), { DT_I32 } },
};

static double divide(double a, double b)
{
    return a / b;
}

/* Rounds towards minus infinity.  x / 0 is undefined in NNAPI, but must not crash; nor must the one
 * quotient that overflows, which wraps. */
static int32_t divide_int(int32_t a, int32_t b)
{
    if (b == 0)
        return 0;
    int64_t q = (int64_t) a / b;
    if (a % (int64_t) b != 0 && (a < 0) != (b < 0))
        q--;
    return (int32_t) (uint32_t) q;
}

static int eval(struct call *c, struct why *w)
{
    (void) w;
    binary_eval(c, divide);
    fused_apply(c);
    return 0;
}

static void eval_int(struct call *c)
{
    binary_eval_int(c, divide_int);
}

/* Largest |a'/b' - a/b| for a' and b' within their errors; b' = 0 is possible where |b| <= eb. */
static double carry(double a, double b, double ea, double eb)
{
    if (b == 0) /* NNAPI does not define it */
        return INFINITY;
    if (ea == 0 && eb == 0)
        return 0;
    return fabs(b) > eb ? (ea + bound_scaled(a / b, eb)) / (fabs(b) - eb) : INFINITY;
}

/* Floor turns a small error into a step of 1.  Undefined quotients have no bound. */
static double carry_int(double a, double b, double ea, double eb)
{
    if (b == 0 || (a == INT32_MIN && b == -1))
        return INFINITY;
    double e = carry(a, b, ea, eb);
    return e > 0 ? bound_interval(floor(a / b), floor(a / b - e), floor(a / b + e)) : 0;
}

static int bound(struct call *c, struct why *w)
{
    (void) w;
    if (c->out[0]->dtype == DT_I32)
        binary_bound(c, carry_int);
    else
        binary_bound(c, carry);
    fused_bound(c);
    return 0;
}

const struct op op_DIV = {
    .code = OP_DIV,
    .name = "DIV",
    .summary =
        "Divides two tensors, broadcasting, then applies a fused activation; integer quotients are "
        "rounded down.",
    .formula = "out = activation(a / b); integers: floor(a / b)",
    .since = L2,
    .in = inputs,
    .n_in = COUNT(inputs),
    .out = binary_out,
    .n_out = COUNT(binary_out),
    .forms = fused_forms,
    .n_forms = COUNT(fused_forms),
    .typings = typings,
    .n_typings = COUNT(typings),
    .takes_empty = ROLE_BIT(A) | ROLE_BIT(B),
    .error = { ERROR_ELEMENT, .ulps = 2.5, .text = "(ea + |a/b| eb) / (|b| - eb)" },
    .infer = fused_infer,
    .eval = eval,
    .eval_int = eval_int,
    .bound = bound,
};
