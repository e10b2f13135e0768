/* Products of matrices in floats. */
#include <string.h>

#include "sim/floats.h"

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
    const struct tensor *weights = kernel_in(k, "weights");
    struct tensor *out = k->out[0];
    struct float_matrix m = {
        .rows = out->shape.dim[0],
        .in = weights->shape.dim[1],
        .out = weights->shape.dim[0],
        .x = floats_load(k, k->arg[0]),
        .weights = floats_load(k, weights),
        .bias = floats_load_bias(k, kernel_in(k, "bias"), weights),
        .clamp = floats_activation(k),
        .y = floats_new(k, tensor_count(out)),
    };

    if (!m.x || !m.weights || !m.bias || !m.y)
        return kernel_no_memory(w);
    TRY(float_matrix_multiply(k, &m, w));
    floats_store(k, m.y, out);
    return 0;
}

/* ---- products of the last two dimensions, for each index of those before */

/* [rows][columns] becomes [columns][rows]. */
static void transpose(const float *from, size_t rows, size_t columns, float *to)
{
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < columns; c++)
            to[c * rows + r] = from[r * columns + c];
}

/* The dimensions before the last two. */
static struct shape batches_of(const struct shape *s)
{
    struct shape b = *s;

    b.rank -= 2;
    return b;
}

/* Two batches of matrices: rows come from the left ones, weights are columns of the right ones. */
struct batch {
    struct float_matrix m;
    const float *left, *right, *no_bias;
    float *rows, *weights; /* transposed copies */
    bool turn_left, turn_right;
    struct walk at; /* indexes of matrices */
};

static int multiply_one(const struct kernel_call *k, struct batch *b, size_t i, struct why *w)
{
    struct float_matrix m = b->m;

    m.x = b->left + b->at.a * m.rows * m.in;
    m.weights = b->right + b->at.b * m.in * m.out;
    m.bias = b->no_bias;
    m.y += i * m.rows * m.out;
    if (b->turn_left) {
        transpose(m.x, m.in, m.rows, b->rows);
        m.x = b->rows;
    }
    if (b->turn_right) {
        transpose(m.weights, m.in, m.out, b->weights);
        m.weights = b->weights;
    }
    return float_matrix_multiply(k, &m, w);
}

static float *zeros(const struct kernel_call *k, size_t n)
{
    return arena_alloc(k->scratch, n + 1, sizeof(float));
}

static int run_batch_matmul(struct kernel_call *k, struct why *w)
{
    const struct shape *l = &k->arg[0]->shape, *r = &k->arg[1]->shape, *o = &k->out[0]->shape;
    struct shape bl = batches_of(l), br = batches_of(r), bo = batches_of(o);
    bool turn_left = kernel_int(k, "adj_x", 0) != 0, turn_right = kernel_int(k, "adj_y", 0) == 0;
    struct batch b = {
        .m = { .rows = o->dim[o->rank - 2],
               .in = l->dim[l->rank - (turn_left ? 2 : 1)],
               .out = o->dim[o->rank - 1],
               .clamp = floats_activation(k),
               .y = floats_new(k, tensor_count(k->out[0])) },
        .left = floats_load(k, k->arg[0]),
        .right = floats_load(k, k->arg[1]),
        .turn_left = turn_left,
        .turn_right = turn_right,
    };

    b.no_bias = zeros(k, b.m.out);
    b.rows = floats_new(k, b.m.rows * b.m.in);
    b.weights = floats_new(k, b.m.in * b.m.out);
    if (!b.m.y || !b.left || !b.right || !b.no_bias || !b.rows || !b.weights)
        return kernel_no_memory(w);
    walk_start(&b.at, &bo, &bl, &br);
    for (size_t i = 0; i < shape_count(&bo); i++, walk_step(&b.at))
        TRY(multiply_one(k, &b, i, w));
    floats_store(k, b.m.y, k->out[0]);
    return 0;
}

#define ALL (FLOATS | QUANTISED8)

const struct kernel float_matrix_kernels[] = {
    { "FULLY_CONNECTED", ALL, run_fully_connected },
    { "BATCH_MATMUL", ALL, run_batch_matmul },
    { NULL },
};
