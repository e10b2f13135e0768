#include "golden/axis.h"
#include "golden/bounds.h"

enum { INPUT, AXIS };

static const struct role inputs[] = {
    [INPUT] = { "input", "the tensor", "?" },
    [AXIS] = { "axis", "dimension to search, negative counts from the end", .slot = FIXED(DT_INT32),
               .draw = DRAW_AXIS },
};

static const struct role outputs[] = {
    { "output", "indexes, in the shape of the input without the axis; [1] for a vector", "?",
      .slot = FIXED(DT_I32) },
};

static const struct form forms[] = {
    { "", { INPUT, AXIS, END } },
};

static const struct typing typings[] = {
    /* since, ranks, input */
    { L3, RANKS(1, MAX_RANK), { DT_F16 } }, { L3, RANKS(1, MAX_RANK), { DT_F32 } },
    { L3, RANKS(1, MAX_RANK), { DT_I32 } }, { L3, RANKS(1, MAX_RANK), { DT_U8 } },
    { L3, RANKS(1, MAX_RANK), { DT_S8 } },
};

static int infer(struct call *c, struct why *w)
{
    TRY(axis_check(c, AXIS, w));
    if (call_known(c, AXIS))
        c->out[0]->shape = axis_dropped(&c->arg[INPUT]->shape, call_int(c, AXIS));
    return 0;
}

/* The first of equal elements wins. */
static size_t argmax(const double *x, size_t len, size_t step)
{
    size_t best = 0;
    for (size_t i = 1; i < len; i++)
        if (x[i * step] > x[best * step])
            best = i;
    return best;
}

static int eval(struct call *c, struct why *w)
{
    struct axis a = call_axis(c, AXIS);

    if (a.len == 0 && a.outer * a.inner > 0)
        return why_fail(w, WHY_EXECUTION, "%s: no largest element among none", c->op->name);
    for (size_t o = 0; o < a.outer; o++)
        for (size_t i = 0; i < a.inner; i++)
            c->y[0][o * a.inner + i] =
                (double) argmax(c->x[INPUT] + o * a.len * a.inner + i, a.len, a.inner);
    return 0;
}

/* How far from `best` lies an index whose element could be the largest too?  NNAPI does not say
 * which of equal elements wins. */
static double reach(const double *x, const double *ex, size_t len, size_t step, size_t best)
{
    double floor = -INFINITY, far = 0;

    for (size_t i = 0; i < len; i++)
        floor = fmax(floor, x[i * step] - (ex ? ex[i * step] : 0));
    for (size_t i = 0; i < len; i++)
        if (x[i * step] + (ex ? ex[i * step] : 0) >= floor)
            far = fmax(far, fabs((double) i - (double) best));
    return far;
}

static int bound(struct call *c, struct why *w)
{
    (void) w;
    struct axis a = call_axis(c, AXIS);

    for (size_t o = 0; o < a.outer; o++)
        for (size_t i = 0; i < a.inner; i++) {
            size_t at = o * a.len * a.inner + i;
            const double *ex = c->ex[INPUT] ? c->ex[INPUT] + at : NULL;
            c->ey[0][o * a.inner + i] =
                reach(c->x[INPUT] + at, ex, a.len, a.inner, (size_t) c->y[0][o * a.inner + i]);
        }
    return 0;
}

const struct op op_ARGMAX = {
    .code = OP_ARGMAX,
    .name = "ARGMAX",
    .summary = "Index of the largest element along a dimension; the first of equal ones.",
    .formula = "out[..] = argmax_i in[.., i, ..]",
    .since = L3,
    .in = inputs,
    .n_in = COUNT(inputs),
    .out = outputs,
    .n_out = COUNT(outputs),
    .forms = forms,
    .n_forms = COUNT(forms),
    .typings = typings,
    .n_typings = COUNT(typings),
    .error = { ERROR_DISCRETE, .text = "distance to the indexes that could win" },
    .infer = infer,
    .eval = eval,
    .bound = bound,
};
