/* Kernels of integer hardware that use lookup tables, integer roots and reductions; QUANTIZE and
 * DEQUANTIZE. */
#include <math.h>

#include "sim/kernels/fixed/fixed.h"
#include "sim/kernels/half.h"

#define ROUND_DOWN(k) (((k)->kernel_faults & KERNEL_FAULT_TRUNCATE) != 0)

/* ---- lookup tables */

/* A function of one 8-bit operand: a table of all 256 results, as a compiler for such hardware
 * generates it, is indexed by the elements. */
static int run_look_up(struct kernel_call *k, struct why *w)
{
    const struct tensor *x = k->arg[0];
    struct tensor *out = k->out[0];
    struct fixed_range r = fixed_range(out);
    int32_t first = (x->dtype == DT_U8 ? 0 : -128) - x->zero, table[256];
    size_t n = tensor_count(x);

    (void) w;
    for (int i = 0; i < 256; i++) {
        double q = k->kernel->real((double) x->scale * (first + i)) / (double) out->scale;
        q = q > 1000 ? 1000 : q > -1000 ? q : -1000;
        table[i] = (int32_t) (ROUND_DOWN(k) ? trunc(q) : round(q));
    }
    for (size_t i = 0; i < n; i++)
        fixed_store(out, i, table[fixed_at(x, i) - first], r);
    return 0;
}

static double logistic(double x)
{
    return 1 / (1 + exp(-x));
}

static double hard_swish(double x)
{
    return x * fmin(fmax(x + 3, 0), 6) / 6;
}

static double inverse_root(double x)
{
    return 1 / sqrt(x);
}

static void softmax(const struct kernel_call *k, const int64_t *table, size_t at, size_t n,
                    size_t step, struct factor unit)
{
    const struct tensor *x = k->arg[0];
    struct tensor *out = k->out[0];
    struct fixed_range r = fixed_range(out);
    int32_t top = INT32_MIN;
    int64_t total = 0;

    for (size_t i = 0; i < n; i++)
        top = fixed_at(x, at + i * step) > top ? fixed_at(x, at + i * step) : top;
    for (size_t i = 0; i < n; i++)
        total += table[top - fixed_at(x, at + i * step)];
    for (size_t i = 0; i < n; i++) {
        int64_t share = (table[top - fixed_at(x, at + i * step)] << 30) / total;
        fixed_store(out, at + i * step, factor_apply(share, unit, ROUND_DOWN(k)), r);
    }
}

static int run_softmax(struct kernel_call *k, struct why *w)
{
    struct axis_view a = shape_axis_view(&k->out[0]->shape, kernel_int(k, ROLE_AXIS, -1));
    struct factor unit = factor_of(ldexp(1 / (double) k->out[0]->scale, -30));
    double step = (double) kernel_float(k, ROLE_BETA, 1) * (double) k->arg[0]->scale;
    int64_t table[256]; /* exponentials of 0..255 steps below the maximum, in units of 2^-30 */

    (void) w;
    for (int i = 0; i < 256; i++)
        table[i] = llround(ldexp(exp(-step * i), 30));
    for (size_t o = 0; o < a.outer; o++)
        for (size_t i = 0; i < a.inner && a.n; i++)
            softmax(k, table, o * a.n * a.inner + i, a.n, a.inner, unit);
    return 0;
}

/* ---- roots and means */

/* x / sqrt(squares) in units of 1/128, correctly rounded: twice the quotient is an integer root. */
static int64_t normalised(int64_t x, uint64_t squares, bool truncate)
{
    uint64_t twice = (uint64_t) (x < 0 ? -x : x) * 256;
    uint64_t root = squares ? integer_root(twice * twice / squares) : 0;
    int64_t q = (int64_t) ((root + (truncate ? 0 : 1)) / 2);

    return x < 0 ? -q : q;
}

static int run_l2_normalization(struct kernel_call *k, struct why *w)
{
    const struct tensor *x = k->arg[0];
    struct axis_view a = shape_axis_view(&x->shape, kernel_int(k, ROLE_AXIS, -1));
    struct fixed_range r = fixed_range(k->out[0]);

    (void) w;
    for (size_t o = 0; o < a.outer; o++)
        for (size_t i = 0; i < a.inner; i++) {
            size_t at = o * a.n * a.inner + i;
            uint64_t squares = 0;
            for (size_t n = 0; n < a.n; n++) {
                int64_t q = fixed_at(x, at + n * a.inner);
                squares += (uint64_t) (q * q);
            }
            for (size_t n = 0; n < a.n; n++)
                fixed_store(k->out[0], at + n * a.inner,
                            normalised(fixed_at(x, at + n * a.inner), squares, ROUND_DOWN(k)), r);
        }
    return 0;
}

static int run_mean(struct kernel_call *k, struct why *w)
{
    const struct tensor *x = k->arg[0];
    struct tensor *out = k->out[0];
    size_t n = tensor_count(x), n_out = tensor_count(out);
    int64_t *sums = arena_alloc(k->scratch, n_out + 1, sizeof(*sums));
    struct fixed_range r = fixed_range(out);
    uint32_t axes = kernel_axes(k);

    if (!sums)
        return why_no_memory(w);
    if (!n && n_out)
        return why_fail(w, WHY_EXECUTION, "mean of no elements");
    for (size_t i = 0; i < n; i++)
        sums[reduced_offset(&x->shape, axes, i)] += fixed_at(x, i);
    for (size_t i = 0; i < n_out; i++) {
        int64_t count = (int64_t) (n / n_out), half = ROUND_DOWN(k) ? 0 : count / 2;
        fixed_store(out, i, (sums[i] < 0 ? sums[i] - half : sums[i] + half) / count, r);
    }
    return 0;
}

enum extreme { LARGEST, SMALLEST };

static int run_extreme(struct kernel_call *k, struct why *w)
{
    const struct tensor *x = k->arg[0];
    bool largest = k->kernel->kind == LARGEST;
    struct tensor *out = k->out[0];
    size_t n = tensor_count(x), n_out = tensor_count(out);
    int32_t *best = arena_alloc(k->scratch, n_out + 1, sizeof(*best));
    struct fixed_range r = fixed_range(out);
    uint32_t axes = kernel_axes(k);

    if (!best)
        return why_no_memory(w);
    for (size_t i = 0; i < n_out; i++)
        best[i] = largest ? INT32_MIN : INT32_MAX;
    for (size_t i = 0; i < n; i++) {
        int32_t q = fixed_at(x, i), *b = &best[reduced_offset(&x->shape, axes, i)];
        if (largest ? q > *b : q < *b)
            *b = q;
    }
    for (size_t i = 0; i < n_out; i++)
        fixed_store(out, i, best[i], r);
    return 0;
}

/* ---- conversion to and from floats: the only float arithmetic on elements */

static int run_quantize(struct kernel_call *k, struct why *w)
{
    const struct tensor *x = k->arg[0];
    struct tensor *out = k->out[0];
    struct fixed_range r = fixed_range(out);
    size_t n = tensor_count(x);

    (void) w;
    for (size_t i = 0; i < n; i++) {
        float real = x->dtype == DT_F16 ? half_to_float(((const uint16_t *) x->data)[i])
                                        : ((const float *) x->data)[i];
        float q = real / out->scale;
        q = q > 1000 ? 1000 : q > -1000 ? q : -1000;
        fixed_store(out, i, ROUND_DOWN(k) ? (int64_t) q : llroundf(q), r);
    }
    return 0;
}

/* The scale of element i. */
static float scale_at(const struct tensor *t, size_t i)
{
    if (!t->n_channels)
        return t->scale;
    struct axis_view a = shape_axis_view(&t->shape, (int32_t) t->channel_dim);
    return t->channel_scale[i / a.inner % a.n];
}

static int run_dequantize(struct kernel_call *k, struct why *w)
{
    const struct tensor *x = k->arg[0];
    struct tensor *out = k->out[0];
    size_t n = tensor_count(x);

    (void) w;
    for (size_t i = 0; i < n; i++) {
        float real = (float) fixed_at(x, i) * scale_at(x, i);
        if (out->dtype == DT_F16)
            ((uint16_t *) out->data)[i] = half_from_float(real);
        else
            ((float *) out->data)[i] = real;
    }
    return 0;
}

static const struct kernel_roles softmax_roles = { .role = { ROLE_AXIS, ROLE_BETA } };

static const struct kernel_roles l2_roles = { .role = { ROLE_AXIS } };

const struct device_kernel fixed_table_kernels[] = {
    { "LOGISTIC", QUANTISED8, run_look_up, .real = logistic },
    { "TANH", QUANTISED8, run_look_up, .real = tanh },
    { "HARD_SWISH", QUANTISED8, run_look_up, .real = hard_swish },
    { "RSQRT", QUANTISED8, run_look_up, .real = inverse_root },
    { "SOFTMAX", QUANTISED8, run_softmax, &softmax_roles },
    { "L2_NORMALIZATION", QUANTISED8, run_l2_normalization, &l2_roles },
    { "MEAN", QUANTISED8, run_mean, &axes_roles },
    { "REDUCE_MAX", QUANTISED8, run_extreme, &axes_roles, .kind = LARGEST },
    { "REDUCE_MIN", QUANTISED8, run_extreme, &axes_roles, .kind = SMALLEST },
    { "QUANTIZE", FLOATS, run_quantize },
    { "DEQUANTIZE", QUANTISED8 | TYPE(Q8S) | TYPE(PC8), run_dequantize },
    { NULL },
};
