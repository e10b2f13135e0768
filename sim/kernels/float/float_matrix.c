/* Matrix products in floats: FULLY_CONNECTED and BATCH_MATMUL. */
#include "sim/kernels/float/float_operands.h"
#include <math.h>

int float_matrix_multiply(const struct kernel_call *k, const struct float_matrix *m, struct why *w)
{
    int rc = 1;

    if (m->rows && m->in && m->out && k->xnnpack && !k->half_sums)
        TRY(rc = xnn_matrix(k, m, w));
    if (rc != 1)
        return 0;
    for (size_t r = 0; r < m->rows; r++)
        for (size_t o = 0; o < m->out; o++) {
            struct sum s = { .half = k->half_sums };
            sum_dot(&s, m->x + r * m->in, 1, m->weights + o * m->in, 1, m->in);
            m->y[r * m->out + o] = clamp_apply(m->clamp, sum_value(&s) + m->bias[o]);
        }
    return 0;
}

static int run_fully_connected(struct kernel_call *k, struct why *w)
{
    const struct tensor *weights = kernel_in(k, ROLE_WEIGHTS);
    struct tensor *out = k->out[0];
    struct float_matrix m = {
        .rows = out->shape.dim[0],
        .in = weights->shape.dim[1],
        .out = weights->shape.dim[0],
        .x = floats_load(k, k->arg[0]),
        .weights = floats_load(k, weights),
        .bias = floats_load_bias(k, kernel_in(k, ROLE_BIAS), weights),
        .clamp = floats_activation(k),
        .y = floats_new(k, tensor_count(out)),
    };

    if (!m.x || !m.weights || !m.bias || !m.y)
        return why_no_memory(w);
    TRY(float_matrix_multiply(k, &m, w));
    floats_store(k, m.y, out);
    return 0;
}

/* ---- BATCH_MATMUL: products of the last two dimensions, for each index of the others */

/* [rows][columns] becomes [columns][rows]. */
static void transpose(const float *from, size_t rows, size_t columns, float *to)
{
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < columns; c++)
            to[c * rows + r] = from[r * columns + c];
}

/* For float_matrix the left matrix must not be transposed, and the right one must be: its rows are
 * the left rows, its weights the right columns. */
static int run_batch_matmul(struct kernel_call *k, struct why *w)
{
    struct matrix_batch of = kernel_matrices(k);
    const float *lefts = floats_load(k, k->arg[0]), *rights = floats_load(k, k->arg[1]);
    const float *no_bias = arena_alloc(k->scratch, of.columns + 1, sizeof(float));
    float *rows = floats_new(k, of.rows * of.terms); /* of a transposed matrix */
    float *weights = floats_new(k, of.terms * of.columns);
    float *y = floats_new(k, tensor_count(k->out[0]));

    if (!lefts || !rights || !no_bias || !rows || !weights || !y)
        return why_no_memory(w);
    for (size_t i = 0; i < of.n; i++, broadcast_step(&of.at)) {
        const float *left = lefts + of.at.a * of.rows * of.terms;
        const float *right = rights + of.at.b * of.terms * of.columns;
        if (of.transpose_left)
            transpose(left, of.terms, of.rows, rows);
        if (!of.transpose_right)
            transpose(right, of.terms, of.columns, weights);
        struct float_matrix m = {
            .rows = of.rows,
            .in = of.terms,
            .out = of.columns,
            .x = of.transpose_left ? rows : left,
            .weights = of.transpose_right ? right : weights,
            .bias = no_bias,
            .clamp = { -INFINITY, INFINITY },
            .y = y + i * of.rows * of.columns,
        };
        TRY(float_matrix_multiply(k, &m, w));
    }
    floats_store(k, y, k->out[0]);
    return 0;
}

#define ALL (FLOATS | QUANTISED8)

static const struct kernel_roles fully_connected_roles = {
    .role = { ROLE_WEIGHTS, ROLE_BIAS, ROLE_ACTIVATION },
};

const struct device_kernel float_matrix_kernels[] = {
    { "FULLY_CONNECTED", ALL, run_fully_connected, &fully_connected_roles },
    { "BATCH_MATMUL", ALL, run_batch_matmul, &matrices_roles },
    { NULL },
};
