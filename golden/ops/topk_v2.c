#include <stdlib.h>
#include <string.h>

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

/* An element without a bound may be NaN, which may have any rank. */
static bool is_open(const double *ex, size_t n)
{
    for (size_t i = 0; ex && i < n; i++)
        if (!(ex[i] < INFINITY))
            return true;
    return false;
}

/* One row: its elements lie between lo and hi, each in decreasing order. */
struct bounded_row {
    const double *x, *ex;
    struct element *lo, *hi;
    size_t n;
    size_t larger; /* elements of hi that are certainly larger than the rank looked at */
};

static struct element least_of(const struct bounded_row *row, size_t index)
{
    return (struct element){ row->x[index] - row->ex[index], index };
}

static void bound_elements(struct bounded_row *row)
{
    for (size_t i = 0; i < row->n; i++) {
        row->lo[i] = least_of(row, i);
        row->hi[i] = (struct element){ row->x[i] + row->ex[i], i };
    }
    qsort(row->lo, row->n, sizeof *row->lo, by_size);
    qsort(row->hi, row->n, sizeof *row->hi, by_size);
}

/* Whether even the least value of element i of hi comes before rank j, and so before all after it.
 */
static bool is_larger(const struct bounded_row *row, size_t i, size_t j)
{
    struct element least = least_of(row, row->hi[i].index);

    return by_size(&least, &row->hi[j]) < 0;
}

/* The elements that may have rank j: at most as many others are certainly larger, and at least as
 * many may be.  Returns their number, *ret_far the largest distance of their indexes from y, and
 * the indexes unless ret_index is NULL.  Called for increasing ranks. */
static size_t candidates(struct bounded_row *row, size_t j, double y, double *ret_far,
                         double *ret_index)
{
    size_t n = 0;

    *ret_far = 0;
    while (row->larger < row->n && is_larger(row, row->larger, j))
        row->larger++;
    for (size_t i = row->larger; i < row->n && by_size(&row->hi[i], &row->lo[j]) <= 0; i++) {
        size_t index = row->hi[i].index;
        if (is_larger(row, i, j))
            continue;
        *ret_far = fmax(*ret_far, fabs((double) index - y));
        if (ret_index)
            ret_index[n] = (double) index;
        n++;
    }
    return n;
}

/* With more choices than this in an output, indexes are judged by their bounds alone. */
enum { MOST_CHOICES = 1 << 24 };

/* Sets the errors of row r, and the numbers of choices in first[], or the choices themselves once
 * those are known. */
static void bound_row(const struct call *c, struct bounded_row *row, size_t r, size_t k,
                      struct choices *choices)
{
    const bool any = is_open(row->ex, row->n), one = any || !row->ex;
    const size_t *first = choices->first + r * k;

    if (choices->value && first[k] - first[0] == k) { /* one choice each */
        for (size_t j = 0; j < k; j++)
            choices->value[first[j]] = c->y[INDICES][r * k + j];
        return;
    }
    if (!one)
        bound_elements(row);
    for (size_t j = 0; j < k; j++) {
        size_t at = r * k + j, n = 1;
        double index = c->y[INDICES][at];
        double *to = choices->value ? choices->value + first[j] : NULL;
        c->ey[VALUES][at] = c->ey[INDICES][at] = any ? INFINITY : 0;
        if (!one) {
            n = candidates(row, j, index, &c->ey[INDICES][at], to);
            c->ey[VALUES][at] = bound_interval(c->y[VALUES][at], row->lo[j].x, row->hi[j].x);
        }
        if (!to)
            choices->first[at + 1] = choices->first[at] + n;
    }
}

static void bound_rows(const struct call *c, size_t rows, size_t k, struct element *ends,
                       struct choices *choices)
{
    size_t n = row_length(c);

    for (size_t r = 0; r < rows; r++) {
        struct bounded_row row = {
            c->x[INPUT] + r * n, c->ex[INPUT] ? c->ex[INPUT] + r * n : NULL, ends, ends + n, n, 0
        };
        bound_row(c, &row, r, k, choices);
    }
}

static int bound(struct call *c, struct why *w)
{
    size_t n = row_length(c), k = (size_t) call_int(c, K), rows = tensor_count(c->out[0]) / k;
    struct element *ends = arena_alloc_raw(c->scratch, 2 * n, sizeof *ends);
    struct choices choices = { arena_alloc(c->scratch, rows * k + 1, sizeof *choices.first), NULL };

    if (!ends || !choices.first)
        return why_no_memory_for(w, "%s: %zu elements", c->op->name, n);
    bound_rows(c, rows, k, ends, &choices);
    size_t n_choices = choices.first[rows * k];
    if (n_choices == rows * k || n_choices > MOST_CHOICES)
        return 0;
    choices.value = arena_alloc_raw(c->scratch, n_choices, sizeof *choices.value);
    if (!choices.value)
        return why_no_memory_for(w, "%s: %zu indexes", c->op->name, n_choices);
    bound_rows(c, rows, k, ends, &choices);
    c->choices[INDICES] = choices;
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
    .fails_above = ROLE_BIT(K),
    .fails_below = ROLE_BIT(K),
    .error = { ERROR_DISCRETE, .text = "values: interval of the j-th largest; indices: those that "
                                       "may have rank j" },
    .infer = infer,
    .eval = eval,
    .bound = bound,
    .draw = draw,
};
