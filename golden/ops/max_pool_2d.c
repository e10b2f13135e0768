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

/* A NaN in the window makes the result NaN. */
VECTOR_LOOP static void take_larger(const double *x, double *acc, size_t channels)
{
    for (size_t k = 0; k < channels; k++)
        acc[k] = x[k] > acc[k] || isnan(x[k]) ? x[k] : acc[k];
}

/* Values with errors are no NaN. */
VECTOR_LOOP static void take_larger_range(const double *restrict x, const double *restrict ex,
                                          double *restrict low, double *restrict high,
                                          size_t channels)
{
    for (size_t k = 0; k < channels; k++) {
        double p = x[k] - ex[k], q = x[k] + ex[k];
        low[k] = p > low[k] ? p : low[k];
        high[k] = q > high[k] ? q : high[k];
    }
}

static const struct pooling_reduction largest = { -INFINITY, take_larger, NULL, take_larger_range };

static int eval(struct call *c, struct why *w)
{
    (void) w;
    pooling_run(c, &largest, c->x[0], c->y[0]);
    activation_apply(c, POOL_ACTIVATION, c->y[0], tensor_count(c->out[0]));
    return 0;
}

/* The true maximum lies between those of x - ex and of x + ex. */
static int bound(struct call *c, struct why *w)
{
    size_t n = tensor_count(c->out[0]);
    const double *ex = c->ex[0];
    double *ey = c->ey[0], *low = arena_alloc_raw(c->scratch, n, sizeof *low);
    double *middle = c->y[0]; /* before the activation */
    bool activated = call_int(c, POOL_ACTIVATION) != ACTIVATION_NONE;

    if (!ex)
        return 0;
    if (activated)
        middle = arena_alloc_raw(c->scratch, n, sizeof *middle);
    if (!low || !middle)
        return why_no_memory_for(w, "a bound of %zu values", n);
    if (activated)
        pooling_run(c, &largest, c->x[0], middle);
    pooling_range(c, &largest, c->x[0], ex, low, ey);
    for (size_t i = 0; i < n; i++)
        ey[i] = bound_interval(middle[i], low[i], ey[i]);
    activation_bound(c, POOL_ACTIVATION, c->y[0], ey, n);
    return 0;
}

const struct op op_MAX_POOL_2D = {
    .code = OP_MAX_POOL_2D,
    .name = "MAX_POOL_2D",
    .summary = "Largest value of each window, excluding padding.",
    .formula = "output[n,y,x,c] = act(max over the i,j of the window in the image of "
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
    .error = { ERROR_EXACT, .text = "the maxima of x - ex and x + ex" },
    .infer = pooling_infer,
    .eval = eval,
    .bound = bound,
    .draw = pooling_draw,
};
