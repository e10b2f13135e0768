/* Kernels that are the same on every device: integers, truth values, conversions, comparisons. */
#include <math.h>
#include <string.h>

#include "sim/half.h"
#include "sim/kernel.h"

/* ---- TENSOR_INT32 */

typedef int32_t int_fn(int32_t a, int32_t b);

static int32_t add(int32_t a, int32_t b)
{
    return (int32_t) ((uint32_t) a + (uint32_t) b);
}

static int32_t subtract(int32_t a, int32_t b)
{
    return (int32_t) ((uint32_t) a - (uint32_t) b);
}

static int32_t multiply(int32_t a, int32_t b)
{
    return (int32_t) ((uint32_t) a * (uint32_t) b);
}

/* Towards minus infinity; whatever has no quotient gives 0. */
static int32_t divide(int32_t a, int32_t b)
{
    if (b == 0 || (a == INT32_MIN && b == -1))
        return 0;
    return a / b - (a % b && (a < 0) != (b < 0));
}

static int32_t larger(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

static int32_t smaller(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

static int integers(struct kernel_call *k, int_fn *f)
{
    const int32_t *a = k->arg[0]->data, *b = k->arg[1]->data;
    size_t n = tensor_count(k->out[0]);
    int32_t *y = k->out[0]->data;
    struct walk at;

    walk_start(&at, &k->out[0]->shape, &k->arg[0]->shape, &k->arg[1]->shape);
    for (size_t i = 0; i < n; i++, walk_step(&at))
        y[i] = f(a[at.a], b[at.b]);
    return 0;
}

static int run_add(struct kernel_call *k, struct why *w)
{
    (void) w;
    return integers(k, add);
}

static int run_sub(struct kernel_call *k, struct why *w)
{
    (void) w;
    return integers(k, subtract);
}

static int run_mul(struct kernel_call *k, struct why *w)
{
    (void) w;
    return integers(k, multiply);
}

static int run_div(struct kernel_call *k, struct why *w)
{
    (void) w;
    return integers(k, divide);
}

static int run_maximum(struct kernel_call *k, struct why *w)
{
    (void) w;
    return integers(k, larger);
}

static int run_minimum(struct kernel_call *k, struct why *w)
{
    (void) w;
    return integers(k, smaller);
}

/* ---- order */

/* Element i as it is stored: exact for every type that is compared. */
static double stored(const struct tensor *t, size_t i)
{
    switch (t->dtype) {
    case DT_F32: return (double) ((const float *) t->data)[i];
    case DT_F16: return (double) half_to_float(((const uint16_t *) t->data)[i]);
    case DT_I32: return ((const int32_t *) t->data)[i];
    case DT_U8: return ((const uint8_t *) t->data)[i];
    case DT_Q16A: return ((const uint16_t *) t->data)[i];
    case DT_Q16S: return ((const int16_t *) t->data)[i];
    case DT_B8: return ((const uint8_t *) t->data)[i] != 0;
    default: return ((const int8_t *) t->data)[i];
    }
}

/* A quantised number times its scale is exact: 24 bits times 9. */
static double real_at(const struct tensor *t, size_t i)
{
    return t->scale != 0 ? (stored(t, i) - t->zero) * (double) t->scale : stored(t, i);
}

static int compare(struct kernel_call *k, bool less)
{
    const struct tensor *a = k->arg[0], *b = k->arg[1];
    size_t n = tensor_count(k->out[0]);
    uint8_t *y = k->out[0]->data;
    struct walk at;

    walk_start(&at, &k->out[0]->shape, &a->shape, &b->shape);
    for (size_t i = 0; i < n; i++, walk_step(&at)) {
        double x = real_at(a, at.a), z = real_at(b, at.b);
        y[i] = less ? x < z : x == z;
        if (k->tweaks & TWEAK_EQUALITY && x == z)
            y[i] = !y[i];
    }
    return 0;
}

static int run_equal(struct kernel_call *k, struct why *w)
{
    (void) w;
    return compare(k, false);
}

static int run_less(struct kernel_call *k, struct why *w)
{
    (void) w;
    return compare(k, true);
}

static size_t largest(const struct tensor *t, size_t at, size_t n, size_t step)
{
    size_t best = 0;

    for (size_t i = 1; i < n; i++)
        if (stored(t, at + i * step) > stored(t, at + best * step))
            best = i;
    return best;
}

static int run_argmax(struct kernel_call *k, struct why *w)
{
    const struct tensor *x = k->arg[0];
    struct along a = shape_along(&x->shape, kernel_int(k, "axis", 0));
    size_t n = k->tweaks & TWEAK_ARGMAX && a.n > 1 ? a.n - 1 : a.n;
    int32_t *y = k->out[0]->data;

    if (!a.n && tensor_count(k->out[0]))
        return why_fail(w, WHY_EXECUTION, "the largest of no elements");
    for (size_t o = 0; o < a.outer; o++)
        for (size_t i = 0; i < a.inner; i++)
            *y++ = (int32_t) largest(x, o * a.n * a.inner + i, n, a.inner);
    return 0;
}

/* ---- conversion */

static double cut(double x, double lo, double hi)
{
    return x >= lo ? (x < hi ? trunc(x) : hi) : x < lo ? lo : 0; /* NaN: 0 */
}

static void convert(double x, struct tensor *t, size_t i)
{
    switch (t->dtype) {
    case DT_F32: ((float *) t->data)[i] = (float) x; break;
    case DT_F16: ((uint16_t *) t->data)[i] = half_from_float((float) x); break;
    case DT_I32: ((int32_t *) t->data)[i] = (int32_t) cut(x, INT32_MIN, INT32_MAX); break;
    case DT_U8: ((uint8_t *) t->data)[i] = (uint8_t) cut(x, 0, 255); break;
    default: ((int8_t *) t->data)[i] = (int8_t) cut(x, -128, 127); break;
    }
}

/* Numbers as they are stored; between equal types bytes. */
static int run_cast(struct kernel_call *k, struct why *w)
{
    const struct tensor *x = k->arg[0];
    struct tensor *out = k->out[0];
    size_t n = tensor_count(x);

    (void) w;
    if (x->dtype == out->dtype) {
        if (n)
            memcpy(out->data, x->data, tensor_bytes(x));
        return 0;
    }
    for (size_t i = 0; i < n; i++)
        convert(stored(x, i), out, i);
    if (k->half && out->dtype == DT_F32)
        for (size_t i = 0; i < n; i++)
            ((float *) out->data)[i] = half_round(((float *) out->data)[i]);
    return 0;
}

#define COMPARED (FLOATS | QUANTISED8 | TYPE(I32) | TYPE(B8))

const struct kernel common_kernels[] = {
    { "ADD", TYPE(I32), run_add },
    { "SUB", TYPE(I32), run_sub },
    { "MUL", TYPE(I32), run_mul },
    { "DIV", TYPE(I32), run_div },
    { "MAXIMUM", TYPE(I32), run_maximum },
    { "MINIMUM", TYPE(I32), run_minimum },
    { "EQUAL", COMPARED, run_equal },
    { "LESS", COMPARED, run_less },
    { "ARGMAX", FLOATS | QUANTISED8 | TYPE(I32), run_argmax },
    { "CAST", UINT32_MAX, run_cast },
    { NULL },
};
