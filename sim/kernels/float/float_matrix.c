/* Matrix products in floats: FULLY_CONNECTED and BATCH_MATMUL. */
#include "sim/kernels/float/float_operands.h"
#include <math.h>

static void run_matrix(const struct kernel_call *k, const struct float_matrix *m)
{
    for (size_t r = 0; r < m->rows; r++)
        for (size_t o = 0; o < m->out; o++) {
            struct sum s = { .half = k->half_sums };
            sum_dot(&s, m->x + r * m->in, 1, m->weights + o * m->in, 1, m->in);
            m->y[r * m->out + o] = clamp_apply(m->clamp, sum_value(&s) + m->bias[o]);
        }
}

int float_matrix_multiply(const struct kernel_call *k, const struct float_matrix *m, struct why *w)
{
    int rc = 1;

    if (m->rows && m->in && m->out && k->xnnpack && !k->half_sums)
        TRY(rc = xnn_matrix(k, m, w));
    if (rc == 1)
        run_matrix(k, m);
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

/* Two batches of matrices; float_matrix's rows are the left rows, its weights the right columns. */
struct batch {
    struct matrix_batch of;
    struct clamp clamp;
    const float *left, *right, *no_bias;
    float *rows, *weights; /* scratch for a transposed matrix of each side */
    float *y;
};

/* Multiplies the current pair of matrices. */
static int multiply(const struct kernel_call *k, const struct batch *b, float *y, struct why *w)
{
    const struct matrix_batch *of = &b->of;
    const float *left = b->left + of->at.a * of->rows * of->terms;
    const float *right = b->right + of->at.b * of->terms * of->columns;

    if (of->transpose_left)
        transpose(left, of->terms, of->rows, b->rows);
    if (!of->transpose_right)
        transpose(right, of->terms, of->columns, b->weights);
    struct float_matrix m = {
        .rows = of->rows,
        .in = of->terms,
        .out = of->columns,
        .x = of->transpose_left ? b->rows : left,
        .weights = of->transpose_right ? right : b->weights,
        .bias = b->no_bias,
        .clamp = b->clamp,
        .y = y,
    };
    return float_matrix_multiply(k, &m, w);
}

static int run_batch_matmul(struct kernel_call *k, struct why *w)
{
    struct matrix_batch of = kernel_matrices(k);
    struct batch b = {
        .of = of,
        .clamp = { -INFINITY, INFINITY },
        .left = floats_load(k, k->arg[0]),
        .right = floats_load(k, k->arg[1]),
        .no_bias = arena_alloc(k->scratch, of.columns + 1, sizeof(float)),
        .rows = floats_new(k, of.rows * of.terms),
        .weights = floats_new(k, of.terms * of.columns),
        .y = floats_new(k, tensor_count(k->out[0])),
    };

    if (!b.left || !b.right || !b.no_bias || !b.rows || !b.weights || !b.y)
        return why_no_memory(w);
    for (size_t i = 0; i < of.n; i++, broadcast_step(&b.of.at))
        TRY(multiply(k, &b, b.y + i * of.rows * of.columns, w));
    floats_store(k, b.y, k->out[0]);
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
