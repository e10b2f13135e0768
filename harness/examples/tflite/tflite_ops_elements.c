/* Rules of operations that compute each element of the output from elements at its place, or along
 * some dimensions: arithmetic, comparisons, activations, normalisations, reductions. */
#include <math.h>
#include <string.h>

#include "tflite_convert.h"

/* Shapes that are not known are taken to be of at most 4 dimensions, which NNAPI asks of most
 * operations; kernels of TensorFlow Lite that broadcast have no more. */
static bool is_broadcast(struct converter *c)
{
    const struct value *a = input_of(c, 0), *b = input_of(c, 1);

    return a->n_dims != b->n_dims || !a->n_dims ||
           memcmp(a->dims, b->dims, a->n_dims * sizeof(*a->dims)) != 0;
}

static bool require_pair(struct converter *c)
{
    const struct value *a = input_of(c, 0), *b = input_of(c, 1);

    return require(
        c, a && b && a->type == b->type &&
               (!is_broadcast(c) || (a->n_dims && a->n_dims <= 4 && b->n_dims && b->n_dims <= 4)));
}

static void convert_unary(struct converter *c, const struct rule *r)
{
    emit1(c, r->code, in(c, 0), out(c, 0));
}

/* Of the same type and scale as the input. */
static void convert_clamp(struct converter *c, const struct rule *r)
{
    require(c, has_same_scale(input_of(c, 0), output_of(c, 0)));
    convert_unary(c, r);
}

/* ---- arithmetic */

/* Quantised sums: the runtime ends the process if the scale of the output is much smaller than
 * those of the inputs. */
static bool fits_sum(struct converter *c)
{
    const struct value *a = input_of(c, 0), *b = input_of(c, 1), *y = output_of(c, 0);

    return !is_quantised(a) ||
           2.0 * fmax(a->scale, b->scale) < 0.99 * (1 << 20) * (double) y->scale;
}

static void convert_arithmetic(struct converter *c, const struct rule *r)
{
    const int32_t activation = number(c, 2, 0);

    if (require_pair(c) && require(c, fits_sum(c) || r->code == TFL_MUL))
        emit(c, r->code, r->options, &activation, 2, (int32_t[]){ in(c, 0), in(c, 1) }, 1,
             (int32_t[]){ out(c, 0) });
}

/* Integer quotients are rounded down, as FLOOR_DIV does; it rejects a divisor of 0. */
static void convert_int_division(struct converter *c, const struct rule *r)
{
    const int32_t activation = number(c, 2, 0);
    uint32_t n = 0;
    const int32_t *divisor = numbers(c, 1, &n);

    (void) r;
    if (!require_pair(c) || !require(c, divisor && !activation))
        return;
    for (uint32_t i = 0; i < n; i++)
        require(c, divisor[i] != 0);
    emit2(c, TFL_FLOOR_DIV, in(c, 0), in(c, 1), out(c, 0));
}

static void convert_pair(struct converter *c, const struct rule *r)
{
    if (require_pair(c))
        emit2(c, r->code, in(c, 0), in(c, 1), out(c, 0));
}

/* The runtime ends the process if a scale is 1 or more. */
static void convert_comparison(struct converter *c, const struct rule *r)
{
    const struct value *a = input_of(c, 0), *b = input_of(c, 1);

    require(c, !is_quantised(a) || (a->scale < 1 && b->scale < 1));
    convert_pair(c, r);
}

static void convert_extremum(struct converter *c, const struct rule *r)
{
    int32_t a = in(c, 0), b = in(c, 1);

    if (!require_pair(c))
        return;
    if (is_quantised(input_of(c, 0))) {
        a = requantise(c, a, out(c, 0), TFL_OMITTED);
        b = requantise(c, b, out(c, 0), TFL_OMITTED);
    }
    emit2(c, r->code, a, b, out(c, 0));
}

static void convert_select(struct converter *c, const struct rule *r)
{
    const struct value *condition = input_of(c, 0), *a = input_of(c, 1), *b = input_of(c, 2);
    int32_t x = in(c, 1), y = in(c, 2);

    require(c, condition->type == HAL_TYPE_TENSOR_BOOL8 && b && a->type == b->type);
    if (c->supported && is_quantised(a)) {
        x = requantise(c, x, out(c, 0), TFL_OMITTED);
        y = requantise(c, y, out(c, 0), TFL_OMITTED);
    }
    emit(c, r->code, OPTIONS_NONE, NULL, 3, (int32_t[]){ in(c, 0), x, y }, 1,
         (int32_t[]){ out(c, 0) });
}

/* The output has the shape of the input. */
static void convert_prelu(struct converter *c, const struct rule *r)
{
    const struct value *x = input_of(c, 0), *alpha = input_of(c, 1);

    if (!require_pair(c) || !require(c, alpha->n_dims <= x->n_dims))
        return;
    for (uint32_t i = 0; i < alpha->n_dims; i++) {
        const uint32_t have = x->dims[x->n_dims - alpha->n_dims + i];
        require(c, alpha->dims[i] == 1 || (have && alpha->dims[i] == have));
    }
    convert_pair(c, r);
}

static void convert_elu(struct converter *c, const struct rule *r)
{
    require(c, real(c, 1, 1) == 1);
    convert_unary(c, r);
}

/* ---- conversions */

static void convert_cast(struct converter *c, const struct rule *r)
{
    const uint16_t from = type_bit(input_of(c, 0)->type), to = type_bit(output_of(c, 0)->type);

    if (from == F16 && to == F32)
        emit1(c, TFL_DEQUANTIZE, in(c, 0), out(c, 0));
    else if (require(c, from != F16 && (to == from || (to & (F32 | I32 | U8)))))
        convert_unary(c, r);
}

static void convert_dequantise(struct converter *c, const struct rule *r)
{
    require(c, output_of(c, 0)->type == HAL_TYPE_TENSOR_FLOAT32);
    convert_unary(c, r);
}

/* ---- along one dimension, which the runtime has last */

/* A permutation that exchanges a dimension with the last one; false: it is the last one. */
static bool exchange_with_last(uint32_t n, uint32_t axis, int32_t *perm)
{
    for (uint32_t i = 0; i < n; i++)
        perm[i] = (int32_t) i;
    perm[axis] = (int32_t) n - 1;
    perm[n - 1] = (int32_t) axis;
    return axis + 1 < n;
}

/* An operator along the dimension that input `at` names. */
static void convert_along(struct converter *c, const struct rule *r, uint32_t at, int32_t x,
                          const int32_t *values)
{
    const struct value *v = input_of(c, 0);
    const int32_t given = number(c, at, -1);
    int32_t perm[HAL_MAX_RANK];

    if (given == -1) { /* the rank need not be known */
        emit(c, r->code, r->options, values, 1, &x, 1, (int32_t[]){ out(c, 0) });
        return;
    }
    const uint32_t axis = axis_of(c, v, given);
    if (!c->supported)
        return;
    const bool exchanged = exchange_with_last(v->n_dims, axis, perm);
    if (exchanged)
        x = transpose(c, x, v->n_dims, perm, TFL_OMITTED);
    const int32_t y = exchanged ? like(c, out(c, 0)) : out(c, 0);
    emit(c, r->code, r->options, values, 1, &x, 1, &y);
    if (exchanged)
        transpose(c, y, v->n_dims, perm, out(c, 0));
}

static void convert_softmax(struct converter *c, const struct rule *r)
{
    convert_along(c, r, 2, in(c, 0), (int32_t[]){ bits_of(real(c, 1, 1)) });
}

static void convert_log_softmax(struct converter *c, const struct rule *r)
{
    const float beta = real(c, 1, 1);
    int32_t x = in(c, 0);

    if (beta != 1) {
        const int32_t scaled = like(c, x);
        emit(c, TFL_MUL, OPTIONS_MUL, (int32_t[]){ 0 }, 2, (int32_t[]){ x, constant_real(c, beta) },
             1, &scaled);
        x = scaled;
    }
    convert_along(c, r, 2, x, NULL);
}

static void convert_l2_normalization(struct converter *c, const struct rule *r)
{
    convert_along(c, r, 1, in(c, 0), (int32_t[]){ 0 });
}

/* Of 4 dimensions only: smaller ranks get dimensions of 1 in front. */
static void convert_response_normalization(struct converter *c, const struct rule *r)
{
    const struct value *v = input_of(c, 0);
    const int32_t values[] = { number(c, 1, 0), bits_of(real(c, 2, 0)), bits_of(real(c, 3, 0)),
                               bits_of(real(c, 4, 0)) };
    const uint32_t axis = axis_of(c, v, number(c, 5, -1));
    int32_t perm[4], dims[4] = { 1, 1, 1, 1 }, x = in(c, 0);
    const uint32_t n = v->n_dims;

    if (!require(c, n == 4 || is_shape_known(v)) || !c->supported)
        return;
    const bool exchanged = exchange_with_last(n, axis, perm);
    if (exchanged)
        x = transpose(c, x, n, perm, TFL_OMITTED);
    for (uint32_t i = 0; i < n; i++)
        dims[4 - n + i] = (int32_t) v->dims[perm[i]];
    if (n < 4)
        x = reshape(c, x, 4, dims, TFL_OMITTED);
    int32_t y = n < 4 || exchanged ? like(c, x) : out(c, 0);
    emit(c, r->code, r->options, values, 1, &x, 1, &y);
    if (n < 4)
        y = reshape(c, y, n, dims + 4 - n, exchanged ? TFL_OMITTED : out(c, 0));
    if (exchanged)
        transpose(c, y, n, perm, out(c, 0));
}

/* (x - mean) / sqrt(variance + epsilon) * gamma + beta */
static void convert_instance_normalization(struct converter *c, const struct rule *r)
{
    const bool nchw = number(c, 4, 0);
    const int32_t x = image_in(c, 0, nchw), axes = constant_ints(c, 2, (int32_t[]){ 1, 2 });
    const int32_t none = 0, keep = 1;
    int32_t t[7];

    (void) r;
    for (int i = 0; i < 7; i++)
        t[i] = like(c, x);
    const int32_t y = image_out(c, nchw);
    emit(c, TFL_MEAN, OPTIONS_REDUCER, &keep, 2, (int32_t[]){ x, axes }, 1, &t[0]);
    emit(c, TFL_SUB, OPTIONS_SUB, &none, 2, (int32_t[]){ x, t[0] }, 1, &t[1]);
    emit(c, TFL_MUL, OPTIONS_MUL, &none, 2, (int32_t[]){ t[1], t[1] }, 1, &t[2]);
    emit(c, TFL_MEAN, OPTIONS_REDUCER, &keep, 2, (int32_t[]){ t[2], axes }, 1, &t[3]);
    emit(c, TFL_ADD, OPTIONS_ADD, &none, 2, (int32_t[]){ t[3], constant_real(c, real(c, 3, 0)) }, 1,
         &t[4]);
    emit1(c, TFL_RSQRT, t[4], t[5]);
    const int32_t factor = like(c, x);
    emit(c, TFL_MUL, OPTIONS_MUL, &none, 2, (int32_t[]){ t[5], constant_real(c, real(c, 1, 0)) }, 1,
         &factor);
    emit(c, TFL_MUL, OPTIONS_MUL, &none, 2, (int32_t[]){ t[1], factor }, 1, &t[6]);
    emit(c, TFL_ADD, OPTIONS_ADD, &none, 2, (int32_t[]){ t[6], constant_real(c, real(c, 2, 0)) }, 1,
         &y);
    finish_image(c, nchw, y);
}

/* ---- reductions */

/* If no dimension is left, the output is [1] in NNAPI and a scalar in TensorFlow Lite, which ends
 * the process if there are more axes than dimensions: each is named once. */
static void convert_reduction(struct converter *c, const struct rule *r)
{
    const struct value *v = input_of(c, 0), *y = output_of(c, 0);
    const int32_t keep = number(c, 2, 0) > 0;
    uint32_t n = 0, reduced = 0, n_unique = 0;
    const int32_t *axes = numbers(c, 1, &n);
    int32_t unique[HAL_MAX_RANK];

    require(c, axes && (!is_quantised(v) || has_same_scale(v, y)));
    for (uint32_t i = 0; c->supported && i < n; i++)
        reduced |= 1u << axis_of(c, v, axes[i]);
    for (uint32_t i = 0; i < v->n_dims; i++)
        if (reduced & 1u << i)
            unique[n_unique++] = (int32_t) i;
    const bool all = !keep && n_unique == v->n_dims;
    const int32_t to = all ? like(c, out(c, 0)) : out(c, 0);
    emit(c, r->code, r->options, &keep, 2,
         (int32_t[]){ in(c, 0), constant_ints(c, n_unique, unique) }, 1, &to);
    if (all)
        reshape(c, to, 1, (int32_t[]){ 1 }, out(c, 0));
}

static void convert_arg(struct converter *c, const struct rule *r)
{
    const struct value *v = input_of(c, 0);
    const int32_t axis = (int32_t) axis_of(c, v, number(c, 1, 0)), type = TFL_INT32;
    const bool all = v->n_dims == 1;
    const int32_t to = all ? like(c, out(c, 0)) : out(c, 0);

    emit(c, r->code, r->options, &type, 2, (int32_t[]){ in(c, 0), constant_int(c, axis) }, 1, &to);
    if (all)
        reshape(c, to, 1, (int32_t[]){ 1 }, out(c, 0));
}

const struct rule element_rules[] = {
    { HAL_OP_ADD, 3, 3, 0, REAL | I32, 4, TFL_ADD, OPTIONS_ADD, convert_arithmetic },
    { HAL_OP_DEQUANTIZE, 1, 1, 0, U8 | S8 | Y8 | C8, 0, TFL_DEQUANTIZE, 0, convert_dequantise },
    { HAL_OP_FLOOR, 1, 1, 0, F32, 0, TFL_FLOOR, 0, convert_unary },
    { HAL_OP_L2_NORMALIZATION, 1, 2, 0, REAL, 4, TFL_L2_NORMALIZATION, OPTIONS_L2_NORM,
      convert_l2_normalization },
    { HAL_OP_LOCAL_RESPONSE_NORMALIZATION, 5, 6, 0, F32, 4, TFL_LOCAL_RESPONSE_NORMALIZATION,
      OPTIONS_LOCAL_RESPONSE_NORMALIZATION, convert_response_normalization },
    { HAL_OP_LOGISTIC, 1, 1, 0, REAL, 0, TFL_LOGISTIC, 0, convert_unary },
    { HAL_OP_MUL, 3, 3, 0, REAL | I32, 4, TFL_MUL, OPTIONS_MUL, convert_arithmetic },
    { HAL_OP_RELU, 1, 1, 0, REAL, 0, TFL_RELU, 0, convert_clamp },
    { HAL_OP_RELU1, 1, 1, 0, REAL, 0, TFL_RELU_N1_TO_1, 0, convert_clamp },
    { HAL_OP_RELU6, 1, 1, 0, REAL, 0, TFL_RELU6, 0, convert_clamp },
    { HAL_OP_SOFTMAX, 2, 3, 0, REAL, 4, TFL_SOFTMAX, OPTIONS_SOFTMAX, convert_softmax },
    { HAL_OP_TANH, 1, 1, 0, REAL, 0, TFL_TANH, 0, convert_unary },
    { HAL_OP_DIV, 3, 3, 0, F32, 4, TFL_DIV, OPTIONS_DIV, convert_arithmetic },
    { HAL_OP_DIV, 3, 3, 0, I32, 4, TFL_FLOOR_DIV, 0, convert_int_division },
    { HAL_OP_MEAN, 3, 3, 0, REAL, 4, TFL_MEAN, OPTIONS_REDUCER, convert_reduction },
    { HAL_OP_SUB, 3, 3, 0, REAL | I32, 4, TFL_SUB, OPTIONS_SUB, convert_arithmetic },
    { HAL_OP_ABS, 1, 1, 0, F32 | I32, 0, TFL_ABS, 0, convert_unary },
    { HAL_OP_ARGMAX, 2, 2, 0, REAL | I32, HAL_MAX_RANK, TFL_ARG_MAX, OPTIONS_ARG_MAX, convert_arg },
    { HAL_OP_ARGMIN, 2, 2, 0, REAL | I32, HAL_MAX_RANK, TFL_ARG_MIN, OPTIONS_ARG_MIN, convert_arg },
    { HAL_OP_CAST, 1, 1, 0, REAL | I32 | B8 | F16 | Y8 | S16, 0, TFL_CAST, 0, convert_cast },
    { HAL_OP_EQUAL, 2, 2, 0, REAL | I32 | B8, 0, TFL_EQUAL, 0, convert_comparison },
    { HAL_OP_EXP, 1, 1, 0, F32, 0, TFL_EXP, 0, convert_unary },
    { HAL_OP_GREATER, 2, 2, 0, REAL | I32, 0, TFL_GREATER, 0, convert_comparison },
    { HAL_OP_GREATER_EQUAL, 2, 2, 0, REAL | I32, 0, TFL_GREATER_EQUAL, 0, convert_comparison },
    { HAL_OP_INSTANCE_NORMALIZATION, 5, 5, 0, F32, 4, TFL_MEAN, 0, convert_instance_normalization },
    { HAL_OP_LESS, 2, 2, 0, REAL | I32, 0, TFL_LESS, 0, convert_comparison },
    { HAL_OP_LESS_EQUAL, 2, 2, 0, REAL | I32, 0, TFL_LESS_EQUAL, 0, convert_comparison },
    { HAL_OP_LOG, 1, 1, 0, F32, 0, TFL_LOG, 0, convert_unary },
    { HAL_OP_LOGICAL_AND, 2, 2, 0, B8, 0, TFL_LOGICAL_AND, 0, convert_pair },
    { HAL_OP_LOGICAL_NOT, 1, 1, 0, B8, 0, TFL_LOGICAL_NOT, 0, convert_unary },
    { HAL_OP_LOGICAL_OR, 2, 2, 0, B8, 0, TFL_LOGICAL_OR, 0, convert_pair },
    { HAL_OP_LOG_SOFTMAX, 3, 3, 0, F32, 0, TFL_LOG_SOFTMAX, 0, convert_log_softmax },
    { HAL_OP_MAXIMUM, 2, 2, 0, REAL | I32, 0, TFL_MAXIMUM, 0, convert_extremum },
    { HAL_OP_MINIMUM, 2, 2, 0, REAL | I32, 0, TFL_MINIMUM, 0, convert_extremum },
    { HAL_OP_NEG, 1, 1, 0, F32 | I32, 0, TFL_NEG, 0, convert_unary },
    { HAL_OP_NOT_EQUAL, 2, 2, 0, REAL | I32 | B8, 0, TFL_NOT_EQUAL, 0, convert_comparison },
    { HAL_OP_POW, 2, 2, 0, F32, 0, TFL_POW, 0, convert_pair },
    { HAL_OP_PRELU, 2, 2, 0, REAL, 4, TFL_PRELU, 0, convert_prelu },
    { HAL_OP_QUANTIZE, 1, 1, 0, F32, 0, TFL_QUANTIZE, 0, convert_unary },
    { HAL_OP_REDUCE_ALL, 3, 3, 0, B8, 4, TFL_REDUCE_ALL, OPTIONS_REDUCER, convert_reduction },
    { HAL_OP_REDUCE_ANY, 3, 3, 0, B8, 4, TFL_REDUCE_ANY, OPTIONS_REDUCER, convert_reduction },
    { HAL_OP_REDUCE_MAX, 3, 3, 0, REAL, 4, TFL_REDUCE_MAX, OPTIONS_REDUCER, convert_reduction },
    { HAL_OP_REDUCE_MIN, 3, 3, 0, REAL, 4, TFL_REDUCE_MIN, OPTIONS_REDUCER, convert_reduction },
    { HAL_OP_REDUCE_PROD, 3, 3, 0, F32, 4, TFL_REDUCE_PROD, OPTIONS_REDUCER, convert_reduction },
    { HAL_OP_REDUCE_SUM, 3, 3, 0, F32, 4, TFL_SUM, OPTIONS_REDUCER, convert_reduction },
    { HAL_OP_RSQRT, 1, 1, 0, F32, 0, TFL_RSQRT, 0, convert_unary },
    { HAL_OP_SELECT, 3, 3, 1, REAL | I32, 0, TFL_SELECT, 0, convert_select },
    { HAL_OP_SIN, 1, 1, 0, F32, 0, TFL_SIN, 0, convert_unary },
    { HAL_OP_SQRT, 1, 1, 0, F32, 0, TFL_SQRT, 0, convert_unary },
    { HAL_OP_ELU, 2, 2, 0, F32, 0, TFL_ELU, 0, convert_elu },
    { HAL_OP_HARD_SWISH, 1, 1, 0, REAL, 0, TFL_HARD_SWISH, 0, convert_unary },
    { HAL_OP_RANK, 1, 1, 0, REAL | I32 | B8 | S16 | Y8 | C8, 0, TFL_RANK, 0, convert_unary },
    { 0 },
};
