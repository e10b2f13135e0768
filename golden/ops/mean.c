#include "golden/arena.h"
#include "golden/reduce.h"

enum { INPUT, AXES, KEEP };

static const struct role inputs[] = {
    [INPUT] = { "input", "the tensor", "?" },
    [AXES] = { "axes", "dimensions to reduce, negative counts from the end", "A",
               .slot = FIXED(DT_I32), .draw = DRAW_OP, .needs = NEEDS_CONST },
    [KEEP] = { "keep_dims", "positive: reduced dimensions stay as 1; else they go",
               .slot = FIXED(DT_INT32), .draw = DRAW_FLAG },
};

static const struct role outputs[] = {
    { "output", "the means; [1] when no dimension is left", "?", .q = Q_SAME },
};

static const struct form forms[] = {
    { "", { INPUT, AXES, KEEP, END } },
};

static const struct typing typings[] = {
    /* since, ranks, input and result */
    { L2, RANKS(1, 4), { DT_F32 } },
    { L2, RANKS(1, 4), { DT_U8 } },
    { L3, RANKS(1, 4), { DT_F16 } },
    { L4, RANKS(1, 4), { DT_S8 } },
};

static int infer(struct call *c, struct why *w)
{
    return reduce_infer(c, AXES, KEEP, w);
}

static double add(double acc, double x)
{
    return acc + x;
}

static double add_abs(double acc, double x)
{
    return acc + fabs(x);
}

static int eval(struct call *c, struct why *w)
{
    size_t n = tensor_count(c->out[0]), k = reduce_count(c);

    if (n > 0 && k == 0)
        return why_fail(w, WHY_EXECUTION, "%s: the mean of no elements", c->op->name);
    reduce_fold(c, AXES, c->x[INPUT], 0, add, c->y[0]);
    for (size_t i = 0; i < n; i++)
        c->y[0][i] /= (double) k;
    return 0;
}

/* (sum of the errors + roundings of the sum) / k */
static int bound(struct call *c, struct why *w)
{
    size_t n = tensor_count(c->out[0]), k = reduce_count(c);
    double *magnitude = arena_alloc_raw(c->scratch, n, sizeof(double)), *ey = c->ey[0];

    if (!magnitude)
        return why_fail(w, WHY_MEMORY, "%s: no memory for %zu elements", c->op->name, n);
    reduce_fold(c, AXES, c->x[INPUT], 0, add_abs, magnitude);
    if (c->ex[INPUT])
        reduce_fold(c, AXES, c->ex[INPUT], 0, add, ey);
    for (size_t i = 0; i < n; i++) {
        double carried = c->ex[INPUT] ? ey[i] : 0;
        ey[i] = bound_clean((carried + bound_sum(c, k, magnitude[i])) / (double) k);
    }
    return 0;
}

static bool draw(const struct call *c, int role, struct drawer *d, struct tensor *to)
{
    (void) role;
    return reduce_draw_axes(c, d, to);
}

const struct op op_MEAN = {
    .code = OP_MEAN,
    .name = "MEAN",
    .summary = "Arithmetic mean over some dimensions.",
    .formula = "out[..] = sum_{i in axes} in[.., i, ..] / number of i",
    .since = L2,
    .in = inputs,
    .n_in = COUNT(inputs),
    .out = outputs,
    .n_out = COUNT(outputs),
    .forms = forms,
    .n_forms = COUNT(forms),
    .typings = typings,
    .n_typings = COUNT(typings),
    .error = { ERROR_DOT, .ulps = 1, .steps = 0.5, .text = "mean of the inputs' errors" },
    .infer = infer,
    .eval = eval,
    .bound = bound,
    .draw = draw,
};
