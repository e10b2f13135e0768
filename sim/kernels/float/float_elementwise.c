/* Element-wise kernels in floats, SELECT and CONCATENATION. */
#include <math.h>

#include "sim/kernels/float/float_operands.h"

/* ---- two operands */

static float add(float a, float b)
{
    return a + b;
}

static float subtract(float a, float b)
{
    return a - b;
}

static float multiply(float a, float b)
{
    return a * b;
}

static float divide(float a, float b)
{
    return a / b;
}

static float larger(float a, float b)
{
    return a > b ? a : b;
}

static float smaller(float a, float b)
{
    return a < b ? a : b;
}

static float leak(float x, float slope)
{
    return x > 0 ? x : slope * x;
}

static int run_two(struct kernel_call *k, struct why *w)
{
    const struct tensor *ta = k->arg[0], *tb = k->arg[1];
    const float *a = floats_load(k, ta), *b = floats_load(k, tb);
    struct clamp clamp = floats_activation(k);
    size_t n = tensor_count(k->out[0]);
    float *y = floats_new(k, n);
    struct broadcast_walk at;

    if (!a || !b || !y)
        return why_no_memory(w);
    broadcast_start(&at, &k->out[0]->shape, &ta->shape, &tb->shape);
    for (size_t i = 0; i < n; i++, broadcast_step(&at))
        y[i] = clamp_apply(clamp, k->kernel->two(a[at.a], b[at.b]));
    floats_store(k, y, k->out[0]);
    return 0;
}

/* ---- one operand */

static float relu(float x)
{
    return x < 0 ? 0 : x;
}

static float relu1(float x)
{
    return x < -1 ? -1 : x > 1 ? 1 : x;
}

static float relu6(float x)
{
    return x < 0 ? 0 : x > 6 ? 6 : x;
}

float float_logistic(float x)
{
    float e = expf(-fabsf(x));

    return x >= 0 ? 1 / (1 + e) : e / (1 + e);
}

static float same(float x)
{
    return x;
}

static float negative(float x)
{
    return -x;
}

static float inverse_root(float x)
{
    return 1 / sqrtf(x);
}

static float hard_swish(float x)
{
    return x * relu6(x + 3) / 6;
}

static int run_one(struct kernel_call *k, struct why *w)
{
    const float *x = floats_load(k, k->arg[0]);
    size_t n = tensor_count(k->out[0]);
    float *y = floats_new(k, n);

    if (!x || !y)
        return why_no_memory(w);
    for (size_t i = 0; i < n; i++)
        y[i] = k->kernel->one(x[i]);
    floats_store(k, y, k->out[0]);
    return 0;
}

static int run_elu(struct kernel_call *k, struct why *w)
{
    const float *x = floats_load(k, k->arg[0]);
    float alpha = kernel_float(k, ROLE_ALPHA, 1);
    size_t n = tensor_count(k->out[0]);
    float *y = floats_new(k, n);

    if (!x || !y)
        return why_no_memory(w);
    for (size_t i = 0; i < n; i++)
        y[i] = x[i] >= 0 ? x[i] : alpha * expm1f(x[i]);
    floats_store(k, y, k->out[0]);
    return 0;
}

/* ---- SELECT */

static int run_select(struct kernel_call *k, struct why *w)
{
    const uint8_t *condition = k->arg[0]->data;
    const float *a = floats_load(k, k->arg[1]), *b = floats_load(k, k->arg[2]);
    size_t n = tensor_count(k->out[0]);
    float *y = floats_new(k, n);

    if (!a || !b || !y)
        return why_no_memory(w);
    if (!(QUANTISED8 >> k->out[0]->dtype & 1u)) {
        kernel_select(k);
        return 0;
    }
    for (size_t i = 0; i < n; i++)
        y[i] = condition[i] ? a[i] : b[i];
    floats_store(k, y, k->out[0]);
    return 0;
}

/* ---- concatenation of operands with different scales */

static int run_concatenation(struct kernel_call *k, struct why *w)
{
    struct tensor *out = k->out[0];
    struct axis_view a = shape_axis_view(&out->shape, kernel_int(k, ROLE_AXIS, 0));
    float *y = floats_new(k, tensor_count(out));
    size_t row = a.n * a.inner, at = 0;

    if (!y)
        return why_no_memory(w);
    for (uint32_t i = k->call.many_at; i < k->call.many_at + k->call.n_many; i++) {
        const float *x = floats_load(k, k->arg[i]);
        size_t part = a.outer ? tensor_count(k->arg[i]) / a.outer : 0;
        if (!x)
            return why_no_memory(w);
        for (size_t o = 0; o < a.outer; o++)
            for (size_t e = 0; e < part; e++)
                y[o * row + at + e] = x[o * part + e];
        at += part;
    }
    floats_store(k, y, out);
    return 0;
}

#define ALL (FLOATS | QUANTISED8)

static const struct kernel_roles two_roles = { .role = { ROLE_ACTIVATION } };

static const struct kernel_roles elu_roles = { .role = { ROLE_ALPHA } };

static const struct kernel_roles concatenation_roles = { .role = { ROLE_AXIS } };

const struct device_kernel float_elementwise_kernels[] = {
    { "ADD", ALL, run_two, &two_roles, .two = add },
    { "SUB", ALL, run_two, &two_roles, .two = subtract },
    { "MUL", ALL, run_two, &two_roles, .two = multiply },
    { "DIV", FLOATS, run_two, &two_roles, .two = divide },
    { "MAXIMUM", ALL, run_two, &two_roles, .two = larger },
    { "MINIMUM", ALL, run_two, &two_roles, .two = smaller },
    { "POW", FLOATS, run_two, &two_roles, .two = powf },
    { "PRELU", ALL, run_two, &two_roles, .two = leak },
    { "RELU", ALL, run_one, .one = relu },
    { "RELU1", ALL, run_one, .one = relu1 },
    { "RELU6", ALL, run_one, .one = relu6 },
    { "LOGISTIC", ALL, run_one, .one = float_logistic },
    { "TANH", ALL, run_one, .one = tanhf },
    { "HARD_SWISH", ALL, run_one, .one = hard_swish },
    { "ABS", FLOATS, run_one, .one = fabsf },
    { "NEG", FLOATS, run_one, .one = negative },
    { "FLOOR", FLOATS, run_one, .one = floorf },
    { "EXP", FLOATS, run_one, .one = expf },
    { "LOG", FLOATS, run_one, .one = logf },
    { "SIN", FLOATS, run_one, .one = sinf },
    { "SQRT", FLOATS, run_one, .one = sqrtf },
    { "RSQRT", ALL, run_one, .one = inverse_root },
    { "ELU", FLOATS, run_elu, &elu_roles },
    { "SELECT", TYPE(B8), run_select },
    { "CONCATENATION", QUANTISED8, run_concatenation, &concatenation_roles },
    { "QUANTIZE", FLOATS, run_one, .one = same },
    { "DEQUANTIZE", QUANTISED8 | TYPE(Q8S) | TYPE(PC8), run_one, .one = same },
    { NULL },
};
