/* Kernels that order elements: comparisons, ARGMAX and ARGMIN, TOPK_V2.  The same on every device.
 */
#include <string.h>

#include "sim/kernels/half.h"
#include "sim/kernels/kernel.h"

double kernel_stored_value(const struct tensor *t, size_t i)
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

/* Exact: a scale has 24 significant bits, a quantised value minus its zero point 9. */
static double real_at(const struct tensor *t, size_t i)
{
    return t->scale != 0 ? (kernel_stored_value(t, i) - t->zero) * (double) t->scale
                         : kernel_stored_value(t, i);
}

/* The kind of a comparison is the set of relations for which it is true. */
enum relation { IS_EQUAL = 1, IS_LESS = 2, IS_GREATER = 4 };

static int run_compare(struct kernel_call *k, struct why *w)
{
    const struct tensor *a = k->arg[0], *b = k->arg[1];
    unsigned truth = (unsigned) k->kernel->kind;
    size_t n = tensor_count(k->out[0]);
    uint8_t *y = k->out[0]->data;
    struct broadcast_walk at;

    (void) w;
    if (k->kernel_faults & KERNEL_FAULT_EQUALITY)
        truth ^= IS_EQUAL;
    broadcast_start(&at, &k->out[0]->shape, &a->shape, &b->shape);
    for (size_t i = 0; i < n; i++, broadcast_step(&at)) {
        double x = real_at(a, at.a), z = real_at(b, at.b);
        bool unordered = x != x || z != z;
        unsigned is = x == z ? IS_EQUAL : x < z ? IS_LESS : IS_GREATER;
        y[i] = unordered ? k->kernel->kind == (IS_LESS | IS_GREATER) : (truth & is) != 0;
    }
    return 0;
}

/* ---- ARGMAX, ARGMIN */

static size_t best_of(const struct tensor *t, bool smallest, size_t at, size_t n, size_t step)
{
    size_t best = 0;

    for (size_t i = 1; i < n; i++) {
        double x = kernel_stored_value(t, at + i * step),
               y = kernel_stored_value(t, at + best * step);
        if (smallest ? x < y : x > y)
            best = i;
    }
    return best;
}

enum extreme { LARGEST, SMALLEST };

static int run_arg(struct kernel_call *k, struct why *w)
{
    const struct tensor *x = k->arg[0];
    struct axis_view a = shape_axis_view(&x->shape, kernel_int(k, ROLE_AXIS, 0));
    size_t n = k->kernel_faults & KERNEL_FAULT_ARGMAX && a.n > 1 ? a.n - 1 : a.n;
    bool smallest = k->kernel->kind == SMALLEST;
    int32_t *y = k->out[0]->data;

    if (!a.n && tensor_count(k->out[0]))
        return why_fail(w, WHY_EXECUTION, "the axis has no elements");
    for (size_t o = 0; o < a.outer; o++)
        for (size_t i = 0; i < a.inner; i++)
            *y++ = (int32_t) best_of(x, smallest, o * a.n * a.inner + i, n, a.inner);
    return 0;
}

/* ---- TOPK_V2 */

struct ranked {
    double value;
    int32_t index;
};

/* Merges from[0..half) and from[half..n): larger values first, of equal ones the later index. */
static void merge(const struct ranked *from, size_t n, size_t half, struct ranked *to)
{
    for (size_t a = 0, b = half, i = 0; i < n; i++)
        to[i] = b >= n || (a < half && from[a].value > from[b].value) ? from[a++] : from[b++];
}

/* Merge sort of x[0..n) with y as scratch space; returns the array that holds the result. */
static const struct ranked *sort(struct ranked *x, struct ranked *y, size_t n)
{
    for (size_t run = 1; run < n; run *= 2) {
        for (size_t i = 0; i < n; i += 2 * run) {
            size_t both = n - i < 2 * run ? n - i : 2 * run;
            merge(x + i, both, both < run ? both : run, y + i);
        }
        struct ranked *swap = x;
        x = y;
        y = swap;
    }
    return x;
}

static int run_topk(struct kernel_call *k, struct why *w)
{
    const struct tensor *x = k->arg[0];
    struct axis_view a = shape_axis_view(&x->shape, -1);
    size_t most = (size_t) k->out[0]->shape.dim[x->shape.rank - 1];
    size_t size = dtype_info[x->dtype].codec->size;
    struct ranked *row = arena_alloc_raw(k->scratch, 2 * a.n + 1, sizeof(*row));
    int32_t *index = k->out[1]->data;
    uint8_t *value = k->out[0]->data;

    if (!row)
        return why_no_memory(w);
    for (size_t o = 0; o < a.outer; o++) {
        for (size_t i = 0; i < a.n; i++)
            row[i] = (struct ranked){ kernel_stored_value(x, o * a.n + i), (int32_t) i };
        const struct ranked *best = sort(row, row + a.n, a.n);
        for (size_t i = 0; i < most; i++, value += size) {
            const struct ranked *r = &best[k->kernel_faults & KERNEL_FAULT_TOPK ? most - 1 - i : i];
            *index++ = r->index;
            memcpy(value, (const uint8_t *) x->data + (o * a.n + (size_t) r->index) * size, size);
        }
    }
    return 0;
}

#define NUMBERS  (FLOATS | QUANTISED8 | TYPE(I32))
#define COMPARED (NUMBERS | TYPE(B8))

static const struct kernel_roles arg_roles = { .role = { ROLE_AXIS } };

const struct device_kernel order_kernels[] = {
    { "EQUAL", COMPARED, run_compare, .kind = IS_EQUAL },
    { "NOT_EQUAL", COMPARED, run_compare, .kind = IS_LESS | IS_GREATER },
    { "LESS", COMPARED, run_compare, .kind = IS_LESS },
    { "LESS_EQUAL", COMPARED, run_compare, .kind = IS_LESS | IS_EQUAL },
    { "GREATER", COMPARED, run_compare, .kind = IS_GREATER },
    { "GREATER_EQUAL", COMPARED, run_compare, .kind = IS_GREATER | IS_EQUAL },
    { "ARGMAX", NUMBERS, run_arg, &arg_roles, .kind = LARGEST },
    { "ARGMIN", NUMBERS, run_arg, &arg_roles, .kind = SMALLEST },
    { "TOPK_V2", NUMBERS, run_topk },
    { NULL },
};
