#include "golden/ops/shared/dot.h"

#include <math.h>

#include "golden/base/arena.h"
#include "golden/judge/bounds.h"
#include "golden/math/vector_loop.h"

/* Fixed-point multipliers have 31 bits, float32 ones 24: relative error of a rescaled sum. */
#define RESCALE_ERROR 0x1p-22

static bool is_quantised(const struct call *c, const struct dot *d)
{
    return dtype_info[c->in[d->input]->dtype].codec->integer;
}

static size_t channels(const struct call *c)
{
    const struct shape *s = &c->out[0]->shape;

    return s->dim[s->rank - 1];
}

static double *operand(double **values, const struct call *c, int role)
{
    int at = role == NO_ROLE ? -1 : call_arg(c, role);

    return values && at >= 0 ? values[at] : NULL;
}

void dot_level(struct call *c, const struct dot *d)
{
    const struct tensor *x = c->in[d->input], *w = c->in[d->filter];

    if (x->dtype == DT_U8 && w->dtype == DT_U8 &&
        !((double) c->out[0]->scale > (double) x->scale * (double) w->scale))
        c->level = L3;
}

void dot_level_conv(struct call *c, const struct dot *d)
{
    const struct tensor *x = c->in[d->input], *w = c->in[d->filter];

    dot_level(c, d);
    if (x->dtype == DT_U8 && w->dtype == DT_U8 && !(x->scale > x->scale * w->scale))
        c->level = L3;
}

double *dot_scratch(const struct call *c, size_t n, struct why *w)
{
    double *p = arena_alloc_raw(c->scratch, n, sizeof *p);

    if (!p)
        why_no_memory_for(w, "%zu values", n);
    return p;
}

static int dot_sum(const struct call *c, const struct dot *d, const double *x, const double *f,
                   const double *init, double *y, struct why *w)
{
    struct dot_window v;

    if (!d->window)
        return d->sum(c, x, f, init, y, w);
    d->window(c, &v);
    if (v.groups) {
        struct matmul_conv conv = { v.batch, v.in_c,     v.out_c,      v.groups,     v.y,
                                    v.x,     .image = x, .weights = f, .init = init, .out = y };
        matmul_conv(&conv, c->pool);
    } else {
        struct matmul_depthwise conv = { v.batch,    v.in_c,       v.multiplier, v.y,     v.x,
                                         .image = x, .weights = f, .init = init, .out = y };
        matmul_depthwise(&conv, c->pool);
    }
    return 0;
}

/* y[i][ch] *= input scale * filter scale of ch, for quantised operands.  bare: without the input
 * scale. */
static int rescale(struct call *c, const struct dot *d, bool bare, double *y, struct why *w)
{
    size_t n = tensor_count(c->out[0]), nc = channels(c);
    double input = bare ? 1 : tensor_step(c->in[d->input], 0);

    if (!is_quantised(c, d))
        return 0;
    double *scale = dot_scratch(c, nc, w);
    if (!scale)
        return -1;
    for (size_t ch = 0; ch < nc; ch++)
        scale[ch] = input * tensor_step(c->in[d->filter], (uint32_t) ch);
    for (size_t i = 0; i < n; i += nc)
        for (size_t ch = 0; ch < nc; ch++)
            y[i + ch] *= scale[ch];
    return 0;
}

int dot_eval(struct call *c, const struct dot *d, struct why *w)
{
    double *y = c->y[0];

    TRY(dot_sum(c, d, operand(c->x, c, d->input), operand(c->x, c, d->filter),
                operand(c->x, c, d->bias), y, w));
    TRY(rescale(c, d, false, y, w));
    activation_apply(c, d->activation, y, tensor_count(c->out[0]));
    return 0;
}

/* to[i] = |from[i]| * factor + error[i] */
static double *magnitudes(struct call *c, const double *from, const double *error, double factor,
                          size_t n, struct why *w)
{
    double *to = dot_scratch(c, n, w);

    for (size_t i = 0; to && i < n; i++)
        to[i] = fabs(from[i]) * factor + (error ? error[i] : 0);
    return to;
}

/* ey = sum of (rounding * |x| + ex) * |w|: roundings of the sum, and errors of the input */
static int bound_of_input(struct call *c, const struct dot *d, double rounding, struct why *w)
{
    const struct tensor *input = c->in[d->input], *filter = c->in[d->filter];
    const double *ex = operand(c->ex, c, d->input);

    double *x = magnitudes(c, operand(c->x, c, d->input), ex, rounding * tensor_step(input, 0),
                           tensor_count(input), w);
    double *f = magnitudes(c, operand(c->x, c, d->filter), NULL, 1, tensor_count(filter), w);
    if (!x || !f)
        return -1;
    TRY(dot_sum(c, d, x, f, NULL, c->ey[0], w));
    return rescale(c, d, true, c->ey[0], w);
}

/* ey += sum of (|x| + ex) * ew */
static int bound_of_filter(struct call *c, const struct dot *d, struct why *w)
{
    const struct tensor *input = c->in[d->input];
    const double *ex = operand(c->ex, c, d->input), *ew = operand(c->ex, c, d->filter);
    size_t n = tensor_count(c->out[0]);

    if (!ew)
        return 0;
    double *x = magnitudes(c, operand(c->x, c, d->input), ex, tensor_step(input, 0),
                           tensor_count(input), w);
    double *sum = dot_scratch(c, n, w);
    if (!x || !sum)
        return -1;
    TRY(dot_sum(c, d, x, ew, NULL, sum, w));
    for (size_t i = 0; i < n; i++)
        c->ey[0][i] += sum[i];
    return 0;
}

double dot_rounding(const struct call *c, const struct dot *d)
{
    return is_quantised(c, d) ? 0 : bound_sum(c, d->terms(c) + 1, 1);
}

static void add_bias_error(struct call *c, const struct dot *d, const struct tensor *bias,
                           double *error)
{
    const struct tensor *input = c->in[d->input], *filter = c->in[d->filter];
    const double *eb = operand(c->ex, c, d->bias);
    const double rounding = dot_rounding(c, d);
    /* Without a scale of its own, a bias is in units of the product. */
    const bool units = is_quantised(c, d) && bias->scale == 0;

    for (size_t ch = 0; ch < channels(c); ch++) {
        double step = units ? tensor_step(input, 0) * tensor_step(filter, (uint32_t) ch) : 1;
        error[ch] = rounding > 0 ? fabs(tensor_at(bias, ch)) * rounding : 0;
        if (eb)
            error[ch] += eb[ch] * step;
    }
}

/* The reference leaves out the taps that are in padding; implementations may multiply them by 0. */
static void add_unbounded(struct call *c, const struct dot *d, double *error)
{
    const struct tensor *filter = c->in[d->filter];
    const struct codec *codec = dtype_info[filter->dtype].codec;
    const double *ew = operand(c->ex, c, d->filter);
    const size_t n = tensor_count(filter), nc = channels(c);
    double x[256];

    for (size_t i = 0, k = 0; i < n; i += k) {
        k = n - i < COUNT(x) ? n - i : COUNT(x);
        codec->widen((const char *) filter->data + i * codec->size, k, 0, 1, x);
        for (size_t j = 0; j < k; j++)
            if (!isfinite(x[j]) || (ew && !isfinite(ew[i + j])))
                error[d->padded == 1 ? (i + j) / (n / nc) : (i + j) % nc] = INFINITY;
    }
}

int dot_channel_error(struct call *c, const struct dot *d, double **ret_error, struct why *w)
{
    const struct tensor *bias = d->bias == NO_ROLE ? NULL : c->in[d->bias];
    const bool is_float = dot_rounding(c, d) > 0, padded = is_float && d->padded,
               biased = bias && bias->data && (is_float || operand(c->ex, c, d->bias));
    const size_t nc = channels(c);

    if (!biased && !padded)
        return 0;
    double *error = dot_scratch(c, nc, w);
    if (!error)
        return -1;
    for (size_t ch = 0; ch < nc; ch++)
        error[ch] = 0;
    if (biased)
        add_bias_error(c, d, bias, error);
    if (padded)
        add_unbounded(c, d, error);
    *ret_error = error;
    return 0;
}

VECTOR_LOOP void dot_bound_finish(const struct call *c, const struct dot *d, size_t n,
                                  const double *restrict y, double *restrict ey)
{
    bool rescaled = is_quantised(c, d) && c->out[0]->dtype != DT_I32;
    double rounding = dot_rounding(c, d), lost = (double) d->terms(c) * bound_tiny(c->unit);
    double largest = bound_largest(c->unit) * rounding; /* beyond it partial sums may be infinite */

    if (rounding > 0)
        for (size_t i = 0; i < n; i++) {
            double e = ey[i] > largest ? INFINITY : ey[i] + lost;
            ey[i] = bound_clean(e);
        }
    else
        for (size_t i = 0; i < n; i++)
            ey[i] = bound_clean(ey[i] + (rescaled ? fabs(y[i]) * RESCALE_ERROR : 0));
    activation_bound(c, d->activation, y, ey, n);
}

int dot_bound(struct call *c, const struct dot *d, struct why *w)
{
    size_t n = tensor_count(c->out[0]), nc = channels(c);
    double *error = NULL;

    TRY(bound_of_input(c, d, dot_rounding(c, d), w));
    TRY(bound_of_filter(c, d, w));
    TRY(dot_channel_error(c, d, &error, w));
    for (size_t i = 0; error && i < n; i += nc)
        for (size_t ch = 0; ch < nc; ch++)
            c->ey[0][i + ch] += error[ch];
    dot_bound_finish(c, d, n, c->y[0], c->ey[0]);
    return 0;
}
