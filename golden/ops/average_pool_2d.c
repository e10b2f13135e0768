#include <math.h>

#include "golden/base/arena.h"
#include "golden/judge/bounds.h"
#include "golden/math/vector_loop.h"
#include "golden/ops/shared/elementwise/activation.h"
#include "golden/ops/shared/image/pooling.h"

static const struct typing typings[] = {
    { L1, RANK(4), { DT_F32 } },
    { L1, RANK(4), { DT_U8 } },
    { L3, RANK(4), { DT_F16 } },
    { L4, RANK(4), { DT_S8 } },
};

static int eval(struct call *c, struct why *w)
{
    (void) w;
    pooling_run(c, &pooling_mean, c->x[0], c->y[0]);
    activation_apply(c, POOL_ACTIVATION, c->y[0], tensor_count(c->out[0]));
    return 0;
}

/* Sets e to the largest magnitudes of the input; whether one is above limit. */
VECTOR_LOOP static bool input_magnitudes(const struct call *c, size_t n, double limit,
                                         double *restrict e)
{
    const double *restrict x = c->x[0], *restrict ex = c->ex[0];
    uint64_t above = 0;

    for (size_t i = 0; i < n; i++)
        e[i] = fabs(x[i]);
    for (size_t i = 0; ex && i < n; i++)
        e[i] += ex[i];
    for (size_t i = 0; i < n; i++)
        above |= e[i] > limit ? 1 : 0;
    return above;
}

/* Where a partial sum of a window may be infinite, there is no bound.  e: scratch of the input's
 * size. */
static int open_large_sums(struct call *c, double *e, struct why *w)
{
    size_t n = tensor_count(c->arg[0]), n_out = tensor_count(c->out[0]);
    double limit = bound_largest(c->unit) / (double) pooling_max_pixels(c), *sums;

    if (!input_magnitudes(c, n, limit, e))
        return 0;
    sums = arena_alloc_raw(c->scratch, n_out, sizeof *sums);
    if (!sums)
        return why_no_memory_for(w, "sums of %zu windows", n_out);
    pooling_run(c, &pooling_sum, e, sums);
    for (size_t i = 0; i < n_out; i++)
        c->ey[0][i] = bound_partial_sums(c->ey[0][i], sums[i], c->unit);
    return 0;
}

/* Mean over the window of the inputs' errors and the rounding of a float sum.  Integer sums are
 * exact. */
static int bound(struct call *c, struct why *w)
{
    bool exact = dtype_info[c->arg[0]->dtype].codec->integer;
    double rounding = exact ? 0 : bound_sum(c, pooling_max_pixels(c), 1);
    double tiny = exact ? 0 : bound_tiny(c->unit);
    size_t n = tensor_count(c->arg[0]);
    double *e = arena_alloc_raw(c->scratch, n, sizeof *e);

    if (!e)
        return why_no_memory_for(w, "a bound of %zu values", n);
    for (size_t i = 0; i < n; i++)
        e[i] = (c->ex[0] ? c->ex[0][i] : 0) + rounding * fabs(c->x[0][i]) + tiny;
    pooling_run(c, &pooling_mean, e, c->ey[0]);
    for (size_t i = 0; i < tensor_count(c->out[0]); i++)
        c->ey[0][i] = bound_clean(c->ey[0][i]);
    if (!exact)
        TRY(open_large_sums(c, e, w));
    activation_bound(c, POOL_ACTIVATION, c->y[0], c->ey[0], tensor_count(c->out[0]));
    return 0;
}

const struct op op_AVERAGE_POOL_2D = {
    .code = OP_AVERAGE_POOL_2D,
    .name = "AVERAGE_POOL_2D",
    .summary = "Mean of each window, excluding padding.",
    .formula = "output[n,y,x,c] = act(mean over the i,j of the window in the image of "
               "input[n, y*stride_height + i - pad_top, x*stride_width + j - pad_left, c])",
    .since = L1,
    .in = pooling_in,
    .n_in = POOL_ROLES,
    .out = pooling_out,
    .n_out = COUNT(pooling_out),
    .forms = pooling_forms,
    .n_forms = POOL_FORMS,
    .typings = typings,
    .n_typings = COUNT(typings),
    .layout = 1 + POOL_LAYOUT,
    .takes_empty = ROLE_BIT(POOL_INPUT),
    .error = { ERROR_ELEMENT, .ulps = 1,
               .text = "mean of ex, plus factor * sqrt(K) * u * mean |x| for floats" },
    .infer = pooling_infer,
    .eval = eval,
    .bound = bound,
    .draw = pooling_draw,
};
