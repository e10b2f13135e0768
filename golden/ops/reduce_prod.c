#include "golden/math/elementary.h"
#include "golden/ops/shared/reduce.h"

static double multiply(double acc, double x)
{
    return acc * x;
}

static double multiply_above_1(double acc, double x)
{
    return acc * fmax(x, 1);
}

static double multiply_below_1(double acc, double x)
{
    return acc * fmin(x, 1);
}

static int eval(struct call *c, struct why *w)
{
    (void) w;
    reduce_fold(c, c->x[REDUCE_INPUT], 1, multiply, c->y[0]);
    return 0;
}

/* A product of k factors is rounded k - 1 times.  In another order a partial product may leave the
 * type's range: after an overflow there is no bound; an underflow loses less than the smallest
 * normal number, multiplied by the remaining factors. */
static double error(const struct call *c, double y, double largest, double most, double least)
{
    double range = dtype_info[c->out[0]->dtype].codec->max, u = c->unit;
    double max = bound_is_half(u) ? fmin(range, 65504) : range;
    double grown = elementary_expm1(2 * u * (double) reduce_count(c));
    double rounded = fabs(y) * grown, lost = least < bound_tiny(u) ? bound_tiny(u) * most : 0;

    if (largest == 0 && most * (1 + grown) <= max)
        return 0;
    return most * (1 + grown) > max ? INFINITY : (largest - fabs(y)) * (1 + grown) + rounded + lost;
}

/* largest: the product of the largest magnitudes of the inputs within their errors. */
static int bound(struct call *c, struct why *w)
{
    size_t n = tensor_count(c->out[0]), inputs = tensor_count(c->arg[REDUCE_INPUT]);
    double *largest = reduce_scratch(c, w), *most = reduce_scratch(c, w);
    double *least = reduce_scratch(c, w), *y = c->y[0];
    double *magnitude = arena_alloc_raw(c->scratch, inputs + 1, sizeof(double));

    if (!largest || !most || !least || !magnitude)
        return why_no_memory_for(w, "%s: %zu elements", c->op->name, inputs);
    for (size_t i = 0; i < inputs; i++)
        magnitude[i] =
            fabs(c->x[REDUCE_INPUT][i]) + (c->ex[REDUCE_INPUT] ? c->ex[REDUCE_INPUT][i] : 0);
    reduce_fold(c, magnitude, 1, multiply, largest);
    reduce_fold(c, magnitude, 1, multiply_above_1, most);
    reduce_fold(c, magnitude, 1, multiply_below_1, least);
    for (size_t i = 0; i < n; i++)
        c->ey[0][i] = bound_clean(error(c, y[i], largest[i], most[i], least[i]));
    return 0;
}

const struct op op_REDUCE_PROD = {
    .code = OP_REDUCE_PROD,
    .name = "REDUCE_PROD",
    .summary = "Product over some dimensions; 1 for no elements.",
    .formula = "out[..] = prod_{i in axes} in[.., i, ..]",
    .since = L3,
    .in = reduce_in,
    .n_in = COUNT(reduce_in),
    .out = reduce_out,
    .n_out = COUNT(reduce_out),
    .forms = reduce_forms,
    .n_forms = COUNT(reduce_forms),
    .typings = reduce_floats,
    .n_typings = COUNT(reduce_floats),
    .fails_above = ROLE_BIT(REDUCE_AXES),
    .fails_below = ROLE_BIT(REDUCE_AXES),
    .error = { ERROR_ELEMENT, .ulps = 1,
               .text =
                   "product of the inputs' largest magnitudes minus the result's; (1 + 2u)^k for "
                   "the roundings" },
    .infer = reduce_infer,
    .eval = eval,
    .bound = bound,
    .draw = reduce_draw,
};
