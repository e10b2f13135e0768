#include <math.h>

#include "golden/base/arena.h"
#include "golden/judge/bounds.h"
#include "golden/ops/shared/elementwise/activation.h"
#include "golden/ops/shared/image/pooling.h"

static const struct typing typings[] = {
    { L1, RANK(4), { DT_F32 } },
    { L3, RANK(4), { DT_F16 } },
};

static void add_square(const double *x, double *acc, size_t channels)
{
    for (size_t k = 0; k < channels; k++)
        acc[k] += x[k] * x[k];
}

static void root_of_mean(double *acc, size_t channels, double count)
{
    for (size_t k = 0; k < channels; k++)
        acc[k] = sqrt(acc[k] / count);
}

static const struct pooling_reduction root_mean_square = { 0, add_square, root_of_mean, NULL };

static int eval(struct call *c, struct why *w)
{
    (void) w;
    pooling_run(c, &root_mean_square, c->x[0], c->y[0]);
    activation_apply(c, POOL_ACTIVATION, c->y[0], tensor_count(c->out[0]));
    return 0;
}

/* The root mean square is a norm, so the inputs' errors contribute their own root mean square.  The
 * square root halves the relative error of the sum, but not the loss by squares that underflow. */
static int bound(struct call *c, struct why *w)
{
    size_t n = tensor_count(c->out[0]);
    double relative = bound_sum(c, pooling_max_pixels(c), 1), tiny = bound_tiny(c->unit),
           *ey = c->ey[0];

    (void) w;
    for (size_t i = 0; i < n; i++)
        ey[i] = 0;
    if (c->ex[0])
        pooling_run(c, &root_mean_square, c->ex[0], ey);
    for (size_t i = 0; i < n; i++) {
        double y = c->y[0][i];
        ey[i] += y * (relative / 2 + 2 * c->unit) + tiny / (y + sqrt(tiny));
        ey[i] = bound_clean(ey[i]);
    }
    activation_bound(c, POOL_ACTIVATION, c->y[0], ey, n);
    return 0;
}

const struct op op_L2_POOL_2D = {
    .code = OP_L2_POOL_2D,
    .name = "L2_POOL_2D",
    .summary = "Root mean square of each window, excluding padding.",
    .formula = "output[n,y,x,c] = act(sqrt(mean over the i,j of the window in the image of "
               "input[n, y*stride_height + i - pad_top, x*stride_width + j - pad_left, c]^2))",
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
               .text = "root mean square of ex, plus y * factor * sqrt(K) * u / 2" },
    .infer = pooling_infer,
    .eval = eval,
    .bound = bound,
    .draw = pooling_draw,
};
