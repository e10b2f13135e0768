#include "golden/ops/shared/arg_min_max.h"

enum { INPUT, AXIS };

const struct role arg_min_max_in[2] = {
    [INPUT] = { "input", "the tensor", "?" },
    [AXIS] = { "axis", "dimension to search, negative counts from the end", .slot = FIXED(DT_INT32),
               .draw = DRAW_AXIS },
};

const struct role arg_min_max_out[1] = {
    { "output", "indexes, in the shape of the input without the axis; [1] for a vector", "?",
      .slot = FIXED(DT_I32) },
};

const struct form arg_min_max_forms[1] = {
    { "", { INPUT, AXIS, END } },
};

const struct typing arg_min_max_typings[5] = {
    /* since, ranks, input */
    { L3, RANKS(1, MAX_RANK), { DT_F16 } }, { L3, RANKS(1, MAX_RANK), { DT_F32 } },
    { L3, RANKS(1, MAX_RANK), { DT_I32 } }, { L3, RANKS(1, MAX_RANK), { DT_U8 } },
    { L3, RANKS(1, MAX_RANK), { DT_S8 } },
};

int arg_min_max_infer(struct call *c, struct why *w)
{
    TRY(axis_check(c, AXIS, w));
    if (call_known(c, AXIS))
        c->out[0]->shape = axis_removed(&c->arg[INPUT]->shape, call_int(c, AXIS));
    return 0;
}

static size_t find_extreme(const double *x, size_t len, size_t step, double sign)
{
    size_t best = 0;

    for (size_t i = 1; i < len; i++)
        if (sign * x[i * step] > sign * x[best * step])
            best = i;
    return best;
}

int arg_min_max_eval(struct call *c, double sign, struct why *w)
{
    struct axis a = call_axis(c, AXIS);

    if (a.len == 0 && a.outer * a.inner > 0)
        return why_fail(w, WHY_EXECUTION, "%s: the dimension to search has no elements",
                        c->op->name);
    for (size_t o = 0; o < a.outer; o++)
        for (size_t i = 0; i < a.inner; i++)
            c->y[0][o * a.inner + i] =
                (double) find_extreme(c->x[INPUT] + o * a.len * a.inner + i, a.len, a.inner, sign);
    return 0;
}

/* The distance from `best` to the farthest index whose element could be the extreme too. */
static double reach(const double *x, const double *ex, const struct axis *a, double sign,
                    size_t best)
{
    double floor = -INFINITY, far = 0;

    for (size_t i = 0; i < a->len; i++)
        floor = fmax(floor, sign * x[i * a->inner] - (ex ? ex[i * a->inner] : 0));
    for (size_t i = 0; i < a->len; i++)
        if (!(sign * x[i * a->inner] + (ex ? ex[i * a->inner] : 0) < floor))
            far = fmax(far, fabs((double) i - (double) best));
    return far;
}

void arg_min_max_bound(struct call *c, double sign)
{
    struct axis a = call_axis(c, AXIS);

    for (size_t o = 0; o < a.outer; o++)
        for (size_t i = 0; i < a.inner; i++) {
            size_t at = o * a.len * a.inner + i, to = o * a.inner + i;
            const double *ex = c->ex[INPUT] ? c->ex[INPUT] + at : NULL;
            c->ey[0][to] = reach(c->x[INPUT] + at, ex, &a, sign, (size_t) c->y[0][to]);
        }
}
