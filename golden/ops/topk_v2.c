#include <stdlib.h>

#include "golden/base/arena.h"
#include "golden/judge/bounds.h"

enum { INPUT, K };
enum { VALUES, INDICES };

static const struct role inputs[] = {
    [INPUT] = { "input", "rows along the last dimension", "?" },
    [K] = { "k", "number of elements per row, 1 to its length", .slot = FIXED(DT_INT32),
            .draw = DRAW_OP },
};

static const struct role outputs[] = {
    [VALUES] = { "values", "the k largest elements of each row, the largest first", "?",
                 .q = Q_SAME },
    [INDICES] = { "indices", "their indexes in the row", "?", .slot = FIXED(DT_I32) },
};

static const struct form forms[] = {
    { "", { INPUT, K, END } },
};

static const struct typing typings[] = {
    /* since, ranks, input and values */
    { L3, RANKS(1, MAX_RANK), { DT_F16 } }, { L3, RANKS(1, MAX_RANK), { DT_F32 } },
    { L3, RANKS(1, MAX_RANK), { DT_I32 } }, { L3, RANKS(1, MAX_RANK), { DT_U8 } },
    { L4, RANKS(1, MAX_RANK), { DT_S8 } },
};

static uint32_t row_length(const struct call *c)
{
    const struct shape *s = &c->arg[INPUT]->shape;
    return s->dim[s->rank - 1];
}

static int infer(struct call *c, struct why *w)
{
    struct shape s = c->arg[INPUT]->shape;
    uint32_t n = row_length(c);

    s.dim[s.rank - 1] = 0;
    if (call_known(c, K)) {
        int32_t k = call_int(c, K);
        REQUIRE(w, k > 0 && (uint32_t) k <= n, "%s: k is %d for rows of %u elements", c->op->name,
                k, n);
        s.dim[s.rank - 1] = (uint32_t) k;
    }
    c->out[VALUES]->shape = c->out[INDICES]->shape = s;
    return 0;
}

struct element {
    double x;
    size_t index;
};

/* Decreasing; NaN last; of equal elements the one with the larger index first. */
static int by_size(const void *a, const void *b)
{
    const struct element *p = a, *q = b;
    int numbers = (int) isnan(p->x) - (int) isnan(q->x);

    if (numbers)
        return numbers;
    if (p->x != q->x && !isnan(p->x))
        return p->x > q->x ? -1 : 1;
    return p->index > q->index ? -1 : p->index < q->index;
}

static void sort_row(const double *x, size_t n, struct element *ret_row)
{
    for (size_t i = 0; i < n; i++)
        ret_row[i] = (struct element){ x[i], i };
    qsort(ret_row, n, sizeof *ret_row, by_size);
}

static int eval(struct call *c, struct why *w)
{
    size_t n = row_length(c), k = (size_t) call_int(c, K), rows = tensor_count(c->out[0]) / k;
    struct element *row = arena_alloc_raw(c->scratch, n, sizeof *row);

    if (!row)
        return why_no_memory_for(w, "%s: %zu elements", c->op->name, n);
    for (size_t r = 0; r < rows; r++) {
        sort_row(c->x[INPUT] + r * n, n, row);
        for (size_t j = 0; j < k; j++) {
            c->y[VALUES][r * k + j] = row[j].x;
            c->y[INDICES][r * k + j] = (double) row[j].index;
        }
    }
    return 0;
}

/* An element without a bound may be NaN, which may have any rank, and change those of others. */
static bool is_open(const double *ex, size_t n)
{
    for (size_t i = 0; ex && i < n; i++)
        if (!(ex[i] < INFINITY))
            return true;
    return false;
}

/* One row: its elements lie between lo[] and hi[], so the j-th largest lies between the j-th
 * largest of those.  The bound of an index is its distance to the farthest element that may have
 * that rank. */
static void bound_row(const struct call *c, size_t r, size_t n, size_t k, struct element *lo,
                      struct element *hi)
{
    const double *x = c->x[INPUT] + r * n, *ex = c->ex[INPUT] ? c->ex[INPUT] + r * n : NULL;

    if (is_open(ex, n)) {
        for (size_t j = 0; j < k; j++)
            c->ey[VALUES][r * k + j] = c->ey[INDICES][r * k + j] = INFINITY;
        return;
    }
    for (size_t i = 0; i < n; i++) {
        lo[i] = (struct element){ x[i] - (ex ? ex[i] : 0), i };
        hi[i] = (struct element){ x[i] + (ex ? ex[i] : 0), i };
    }
    qsort(lo, n, sizeof *lo, by_size);
    qsort(hi, n, sizeof *hi, by_size);
    for (size_t j = 0; j < k; j++) {
        size_t at = r * k + j;
        double far = 0;
        for (size_t i = 0; i < n && by_size(&hi[i], &lo[j]) <= 0; i++) {
            size_t index = hi[i].index;
            struct element least = { x[index] - (ex ? ex[index] : 0), index };
            if (by_size(&least, &hi[j]) >= 0)
                far = fmax(far, fabs((double) index - c->y[INDICES][at]));
        }
        c->ey[INDICES][at] = far;
        c->ey[VALUES][at] = ex ? bound_interval(c->y[VALUES][at], lo[j].x, hi[j].x) : 0;
    }
}

static int bound(struct call *c, struct why *w)
{
    size_t n = row_length(c), k = (size_t) call_int(c, K), rows = tensor_count(c->out[0]) / k;
    struct element *lo = arena_alloc_raw(c->scratch, 2 * n, sizeof *lo);

    if (!lo)
        return why_no_memory_for(w, "%s: %zu elements", c->op->name, n);
    for (size_t r = 0; r < rows; r++)
        bound_row(c, r, n, k, lo, lo + n);
    return 0;
}

/* Rows of one element are usually rejected: they test little. */
static bool draw(const struct call *c, int role, struct drawer *d, struct tensor *to)
{
    uint32_t n = row_length(c);

    (void) role;
    if (n == 0 || (n == 1 && d->below(d, 8) > 0))
        return false;
    *(int32_t *) to->data = 1 + (int32_t) d->below(d, n);
    return true;
}

const struct op op_TOPK_V2 = {
    .code = OP_TOPK_V2,
    .name = "TOPK_V2",
    .summary = "The k largest elements of every row and their indexes.",
    .formula = "values[.., j] = in[.., indices[.., j]] = the j-th largest of in[.., :]; of equal "
               "elements the one with the larger index comes first",
    .since = L3,
    .in = inputs,
    .n_in = COUNT(inputs),
    .out = outputs,
    .n_out = COUNT(outputs),
    .forms = forms,
    .n_forms = COUNT(forms),
    .typings = typings,
    .n_typings = COUNT(typings),
    .error = { ERROR_DISCRETE, .text = "values: interval of the j-th largest; indices: distance to "
                                       "those that may have rank j" },
    .infer = infer,
    .eval = eval,
    .bound = bound,
    .draw = draw,
};
