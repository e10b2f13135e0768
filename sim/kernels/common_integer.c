/* Kernels on 32-bit integers, which wrap, and booleans: the same on every device. */
#include "sim/kernels/kernel.h"

/* ---- one operand */

static int32_t absolute(int32_t a)
{
    return a < 0 ? (int32_t) (0u - (uint32_t) a) : a;
}

static int32_t negative(int32_t a)
{
    return (int32_t) (0u - (uint32_t) a);
}

static int run_one(struct kernel_call *k, struct why *w)
{
    const int32_t *x = k->arg[0]->data;
    size_t n = tensor_count(k->out[0]);
    int32_t *y = k->out[0]->data;

    (void) w;
    for (size_t i = 0; i < n; i++)
        y[i] = k->kernel->integer(x[i]);
    return 0;
}

/* ---- two operands */

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

/* Rounds towards minus infinity; 0 for a zero divisor and for INT32_MIN / -1. */
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

static int run_two(struct kernel_call *k, struct why *w)
{
    const int32_t *a = k->arg[0]->data, *b = k->arg[1]->data;
    size_t n = tensor_count(k->out[0]);
    int32_t *y = k->out[0]->data;
    struct broadcast_walk at;

    (void) w;
    broadcast_start(&at, &k->out[0]->shape, &k->arg[0]->shape, &k->arg[1]->shape);
    for (size_t i = 0; i < n; i++, broadcast_step(&at))
        y[i] = k->kernel->integers(a[at.a], b[at.b]);
    return 0;
}

/* ---- matrix products */

static int run_batch_matmul(struct kernel_call *k, struct why *w)
{
    struct matrix_batch m = kernel_matrices(k);
    const int32_t *l = k->arg[0]->data, *r = k->arg[1]->data;
    int32_t *y = k->out[0]->data;

    (void) w;
    for (size_t b = 0; b < m.n; b++, broadcast_step(&m.at))
        for (size_t i = 0; i < m.rows; i++)
            for (size_t j = 0; j < m.columns; j++) {
                uint32_t sum = 0;
                for (size_t e = 0; e < m.terms; e++)
                    sum += (uint32_t) l[matrices_left(&m, i, e)] *
                           (uint32_t) r[matrices_right(&m, e, j)];
                *y++ = (int32_t) sum;
            }
    return 0;
}

/* ---- booleans */

enum logic { LOGIC_AND, LOGIC_OR };

static int run_logic(struct kernel_call *k, struct why *w)
{
    const uint8_t *a = k->arg[0]->data, *b = k->arg[1]->data;
    bool either = k->kernel->kind == LOGIC_OR;
    size_t n = tensor_count(k->out[0]);
    uint8_t *y = k->out[0]->data;
    struct broadcast_walk at;

    (void) w;
    broadcast_start(&at, &k->out[0]->shape, &k->arg[0]->shape, &k->arg[1]->shape);
    for (size_t i = 0; i < n; i++, broadcast_step(&at))
        y[i] = either ? a[at.a] || b[at.b] : a[at.a] && b[at.b];
    return 0;
}

static int run_not(struct kernel_call *k, struct why *w)
{
    const uint8_t *x = k->arg[0]->data;
    size_t n = tensor_count(k->out[0]);
    uint8_t *y = k->out[0]->data;

    (void) w;
    for (size_t i = 0; i < n; i++)
        y[i] = !x[i];
    return 0;
}

/* Over no elements REDUCE_ALL is true, REDUCE_ANY false. */
static int run_reduce(struct kernel_call *k, struct why *w)
{
    const struct tensor *x = k->arg[0];
    bool any = k->kernel->kind == LOGIC_OR;
    size_t n = tensor_count(x), n_out = tensor_count(k->out[0]);
    uint32_t axes = kernel_axes(k);
    uint8_t *y = k->out[0]->data;

    (void) w;
    for (size_t i = 0; i < n_out; i++)
        y[i] = !any;
    for (size_t i = 0; i < n; i++)
        if ((((const uint8_t *) x->data)[i] != 0) == any)
            y[reduced_offset(&x->shape, axes, i)] = any;
    return 0;
}

const struct device_kernel integer_kernels[] = {
    { "ABS", TYPE(I32), run_one, .integer = absolute },
    { "NEG", TYPE(I32), run_one, .integer = negative },
    { "ADD", TYPE(I32), run_two, .integers = add },
    { "SUB", TYPE(I32), run_two, .integers = subtract },
    { "MUL", TYPE(I32), run_two, .integers = multiply },
    { "DIV", TYPE(I32), run_two, .integers = divide },
    { "MAXIMUM", TYPE(I32), run_two, .integers = larger },
    { "MINIMUM", TYPE(I32), run_two, .integers = smaller },
    { "BATCH_MATMUL", TYPE(I32), run_batch_matmul, &matrices_roles },
    { "LOGICAL_AND", TYPE(B8), run_logic, .kind = LOGIC_AND },
    { "LOGICAL_OR", TYPE(B8), run_logic, .kind = LOGIC_OR },
    { "LOGICAL_NOT", TYPE(B8), run_not },
    { "REDUCE_ALL", TYPE(B8), run_reduce, &axes_roles, .kind = LOGIC_AND },
    { "REDUCE_ANY", TYPE(B8), run_reduce, &axes_roles, .kind = LOGIC_OR },
    { NULL },
};
