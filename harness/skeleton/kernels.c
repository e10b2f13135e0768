/* The kernels of @NAME@: ADD, and SVDF, which has an input that may be omitted and two outputs.
 * kernel_conv_2d.c has another one.  Fill in: yours. */
#include "kernels.h"

#include <stdlib.h>
#include <string.h>

/* ---- what kernels share */

size_t element_size(int32_t type)
{
    switch (type) {
    case HAL_TYPE_TENSOR_FLOAT32:
    case HAL_TYPE_TENSOR_INT32: return 4;
    case HAL_TYPE_TENSOR_QUANT8_ASYMM:
    case HAL_TYPE_TENSOR_QUANT8_SYMM_PER_CHANNEL: return 1;
    default: return 0;
    }
}

uint64_t element_count(const struct operand *o)
{
    uint64_t n = 1;
    bool is_empty = false;

    for (uint32_t i = 0; i < o->n_dims; i++) {
        is_empty = is_empty || o->dims[i] == 0;
        if (o->dims[i] && n <= UINT32_MAX)
            n *= o->dims[i];
    }
    return is_empty ? 0 : n > UINT32_MAX ? UINT64_MAX : n;
}

bool read_constant(const struct arguments *a, uint32_t i, int32_t otherwise, int32_t *ret)
{
    if (i >= a->n_in || a->in[i]->is_omitted)
        *ret = otherwise;
    else if (!a->in[i]->data)
        return false;
    else if (a->in[i]->type == HAL_TYPE_BOOL)
        *ret = a->in[i]->data[0] != 0;
    else if (a->in[i]->type == HAL_TYPE_INT32)
        memcpy(ret, a->in[i]->data, sizeof(*ret));
    else
        return false;
    return true;
}

float activate(float x, int32_t activation)
{
    static const float low[] = { 0, 0, -1, 0 }, high[] = { 0, 0, 1, 6 };

    if (activation && x < low[activation])
        return low[activation];
    return activation > 1 && x > high[activation] ? high[activation] : x;
}

/* memcpy(): data in the client's memory need not be aligned. */
float get_float(const struct operand *o, size_t at)
{
    float x;

    memcpy(&x, o->data + at * sizeof(x), sizeof(x));
    return x;
}

void put_float(const struct operand *o, size_t at, float x)
{
    memcpy(o->data + at * sizeof(x), &x, sizeof(x));
}

/* ---- operations with two inputs that are broadcast against each other */

/* Dimension d, counted from the last one. */
static uint32_t dim_from_end(const struct operand *o, uint32_t d)
{
    return d < o->n_dims ? o->dims[o->n_dims - 1 - d] : 1;
}

bool broadcast_shape(struct arguments *a)
{
    const struct operand *x = a->in[0], *y = a->in[1];
    struct operand *out = a->out[0];

    out->n_dims = x->n_dims > y->n_dims ? x->n_dims : y->n_dims;
    if (out->n_dims > MAX_RANK)
        return false;
    for (uint32_t d = 0; d < out->n_dims; d++) {
        uint32_t of_x = dim_from_end(x, d), of_y = dim_from_end(y, d);
        if (of_x != of_y && of_x != 1 && of_y != 1)
            return false;
        out->dims[out->n_dims - 1 - d] = of_x == 1 ? of_y : of_x;
    }
    return true;
}

size_t broadcast_index(const struct operand *in, const struct operand *out, size_t at)
{
    size_t index = 0, stride = 1;

    for (uint32_t d = 0; d < in->n_dims; d++) {
        const uint32_t n = dim_from_end(in, d);
        index += n == 1 ? 0 : at % dim_from_end(out, d) * stride;
        stride *= n;
        at /= dim_from_end(out, d);
    }
    return index;
}

/* ---- ADD: inputs a and b, broadcast against each other, and the activation */

static bool add_supports(const struct arguments *a)
{
    int32_t activation;

    return a->in[0]->type == HAL_TYPE_TENSOR_FLOAT32 && read_constant(a, 2, 0, &activation) &&
           activation >= 0 && activation <= 3;
}

static void add_run(const struct arguments *a)
{
    const struct operand *out = a->out[0];
    const size_t n = (size_t) element_count(out);
    int32_t activation = 0;

    read_constant(a, 2, 0, &activation);
    for (size_t i = 0; i < n; i++)
        put_float(out, i,
                  activate(get_float(a->in[0], broadcast_index(a->in[0], out, i)) +
                               get_float(a->in[1], broadcast_index(a->in[1], out, i)),
                           activation));
}

/* ---- SVDF: the names of its operands, in their order */

enum { SVDF_INPUT, SVDF_FEATURE, SVDF_TIME, SVDF_BIAS, SVDF_STATE, SVDF_RANK, SVDF_ACTIVATION };
enum { SVDF_STATE_OUT, SVDF_OUTPUT };

static bool svdf_supports(const struct arguments *a)
{
    int32_t rank, activation;

    return a->in[SVDF_INPUT]->type == HAL_TYPE_TENSOR_FLOAT32 &&
           read_constant(a, SVDF_RANK, 1, &rank) && rank > 0 &&
           read_constant(a, SVDF_ACTIVATION, 0, &activation) && activation >= 0 && activation <= 3;
}

static void set_shape_2d(struct operand *o, uint32_t rows, uint32_t columns)
{
    o->n_dims = 2;
    o->dims[0] = rows;
    o->dims[1] = columns;
}

/* An omitted input has no data. */
static bool svdf_shape(struct arguments *a)
{
    const struct operand *input = a->in[SVDF_INPUT], *feature = a->in[SVDF_FEATURE],
                         *time = a->in[SVDF_TIME], *bias = a->in[SVDF_BIAS],
                         *state = a->in[SVDF_STATE];
    int32_t rank = 1;

    read_constant(a, SVDF_RANK, 1, &rank);
    if (input->n_dims != 2 || feature->n_dims != 2 || time->n_dims != 2 || state->n_dims != 2)
        return false;
    const uint32_t units = feature->dims[0] / (uint32_t) rank;
    set_shape_2d(a->out[SVDF_STATE_OUT], input->dims[0], state->dims[1]);
    set_shape_2d(a->out[SVDF_OUTPUT], input->dims[0], units);
    return feature->dims[0] % (uint32_t) rank == 0 && feature->dims[1] == input->dims[1] &&
           time->dims[0] == feature->dims[0] && time->dims[1] > 0 &&
           state->dims[0] == input->dims[0] &&
           state->dims[1] == (uint64_t) time->dims[0] * time->dims[1] &&
           (!bias->data || (bias->n_dims == 1 && bias->dims[0] == units));
}

/* One filter f of one batch b: shifts its memory, and returns its output. */
static float svdf_filter(const struct arguments *a, size_t b, size_t f)
{
    const struct operand *time = a->in[SVDF_TIME], *state = a->in[SVDF_STATE],
                         *state_out = a->out[SVDF_STATE_OUT];
    const size_t n = a->in[SVDF_INPUT]->dims[1], filters = time->dims[0], steps = time->dims[1];
    const size_t memory = (b * filters + f) * steps;
    float newest = 0, sum = 0;

    for (size_t i = 0; i < n; i++)
        newest +=
            get_float(a->in[SVDF_INPUT], b * n + i) * get_float(a->in[SVDF_FEATURE], f * n + i);
    for (size_t t = 0; t < steps; t++) {
        const float x = t + 1 < steps ? get_float(state, memory + t) : newest;
        sum += x * get_float(time, f * steps + t);
        if (t > 0)
            put_float(state_out, memory + t - 1, x);
    }
    put_float(state_out, memory + steps - 1, 0);
    return sum;
}

static void svdf_run(const struct arguments *a)
{
    const struct operand *bias = a->in[SVDF_BIAS], *out = a->out[SVDF_OUTPUT];
    int32_t rank = 1, activation = 0;

    read_constant(a, SVDF_RANK, 1, &rank);
    read_constant(a, SVDF_ACTIVATION, 0, &activation);
    for (size_t b = 0; b < out->dims[0]; b++)
        for (size_t u = 0; u < out->dims[1]; u++) {
            float sum = bias->data ? get_float(bias, u) : 0;
            for (size_t r = 0; r < (size_t) rank; r++)
                sum += svdf_filter(a, b, u * (size_t) rank + r);
            put_float(out, b * out->dims[1] + u, activate(sum, activation));
        }
}

/* ---- the table */

/* Fill in: a row for each form of each operation. */
static const struct kernel kernels[] = {
    { HAL_OP_ADD, 3, 1, 0, add_supports, broadcast_shape, add_run },
    { HAL_OP_SVDF, 7, 2, 1u << SVDF_BIAS, svdf_supports, svdf_shape, svdf_run },
    { HAL_OP_CONV_2D, 7, 1, 0, conv_2d_supports, conv_2d_shape, conv_2d_run },
    { HAL_OP_CONV_2D, 8, 1, 1u << 7, conv_2d_supports, conv_2d_shape, conv_2d_run },
    { HAL_OP_CONV_2D, 10, 1, 1u << 7, conv_2d_supports, conv_2d_shape, conv_2d_run },
    { HAL_OP_CONV_2D, 11, 1, 1u << 10, conv_2d_supports, conv_2d_shape, conv_2d_run },
    { HAL_OP_CONV_2D, 13, 1, 1u << 10, conv_2d_supports, conv_2d_shape, conv_2d_run },
};

const struct kernel *kernel_for(int32_t operation, const struct arguments *a)
{
    for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) {
        const struct kernel *k = &kernels[i];
        if (k->operation == operation && k->n_in == a->n_in && k->n_out == a->n_out &&
            k->supports(a))
            return k;
    }
    return NULL;
}
