#include "golden/ops/shared/reduce.h"

static const struct role inputs[] = {
    [REDUCE_INPUT] = { "input", "the tensor", "?" },
    [REDUCE_AXES] = { "axes", "dimensions to reduce, negative counts from the end", "A",
                      .slot = FIXED(DT_I32), .draw = DRAW_OP, .needs = NEEDS_CONST },
    [REDUCE_KEEP] = { "keep_dims",
                      "positive: reduced dimensions remain with size 1; else they are removed",
                      .slot = FIXED(DT_INT32), .draw = DRAW_FLAG },
};

static const struct typing typings[] = {
    /* since, ranks, input and result */
    { L2, RANKS(1, 4), { DT_F32 } },
    { L2, RANKS(1, 4), { DT_U8 } },
    { L3, RANKS(1, 4), { DT_F16 } },
    { L4, RANKS(1, 4), { DT_S8 } },
};

static double add(double acc, double x)
{
    return acc + x;
}

static int eval(struct call *c, struct why *w)
{
    size_t n = tensor_count(c->out[0]), k = reduce_count(c);

    if (n > 0 && k == 0)
        return why_fail(w, WHY_EXECUTION, "%s: the mean of no elements", c->op->name);
    reduce_fold(c, c->x[REDUCE_INPUT], 0, add, c->y[0]);
    for (size_t i = 0; i < n; i++)
        c->y[0][i] /= (double) k;
    return 0;
}

/* The distance in steps from a mean, carried steps off at most, to the stored integer that a
 * truncating division of the sum of stored values gives. */
static double truncation(double stored, double carried)
{
    double whole = nearbyint(stored), exact = fabs(stored - whole) < 1e-8 ? whole : stored;

    return bound_larger(fabs(stored - trunc(exact - carried)),
                        fabs(stored - trunc(exact + carried)));
}

/* Raises the bound, where rounding does not include it, to that of implementations that divide the
 * sum of the stored values as an integer, which truncates (docs/judging.md). */
static int allow_truncation(struct call *c, double k, struct why *w)
{
    const double rounding = 0.5 + ERROR_QUANT_STEPS; /* the executor adds these steps */
    size_t n = tensor_count(c->out[0]);
    double step = tensor_step(c->out[0], 0), *y = c->y[0], *ey = c->ey[0];
    double *carried = reduce_scratch(c, w);

    if (!carried)
        return -1;
    if (c->ex[REDUCE_INPUT])
        reduce_fold(c, c->ex[REDUCE_INPUT], 0, add, carried);
    for (size_t i = 0; i < n; i++) {
        double from = c->ex[REDUCE_INPUT] ? carried[i] / k / step : 0;
        double most = truncation(y[i] / step + c->out[0]->zero, from);
        ey[i] = bound_clean(bound_larger(ey[i], (most - rounding) * step));
    }
    return 0;
}

static int bound(struct call *c, struct why *w)
{
    size_t n = tensor_count(c->out[0]);
    double k = (double) reduce_count(c);

    TRY(reduce_bound_sum(c, w));
    for (size_t i = 0; i < n; i++)
        c->ey[0][i] /= k;
    return dtype_info[c->out[0]->dtype].quant == QUANT_AFFINE ? allow_truncation(c, k, w) : 0;
}

const struct op op_MEAN = {
    .code = OP_MEAN,
    .name = "MEAN",
    .summary = "Arithmetic mean over some dimensions.",
    .formula = "out[..] = sum_{i in axes} in[.., i, ..] / number of i",
    .since = L2,
    .in = inputs,
    .n_in = COUNT(inputs),
    .out = reduce_out,
    .n_out = COUNT(reduce_out),
    .forms = reduce_forms,
    .n_forms = COUNT(reduce_forms),
    .typings = typings,
    .n_typings = COUNT(typings),
    .error = { ERROR_DOT, .ulps = 1,
               .text = "mean of the inputs' errors; of quantised types also the truncated mean" },
    .infer = reduce_infer,
    .eval = eval,
    .bound = bound,
    .draw = reduce_draw,
};
