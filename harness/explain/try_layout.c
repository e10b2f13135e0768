/* Hypotheses about where results are written, and what they are results of. */
#include <stdio.h>
#include <string.h>

#include "harness/check/buffer.h"
#include "harness/explain/hypotheses.h"
#include "harness/explain/permutation.h"

/* real[i] becomes the result of element from(i); VARIANT_FILL: a stored or real 0. */
static bool move(struct variant *v, const size_t *from, bool stored_zero)
{
    const struct subject *s = v->s;
    const double step = s->expected->scale != 0 ? (double) s->expected->scale : 1;
    const double fill = stored_zero ? -s->expected->zero * step : 0;
    bool any = false;

    for (size_t i = 0; i < s->n; i++) {
        v->real[i] = from[i] == VARIANT_FILL ? fill : s->real[from[i]];
        v->bound[i] = from[i] == VARIANT_FILL ? 0 : s->bound[from[i]];
        any = any || from[i] != i;
    }
    return any;
}

static size_t *new_map(struct variant *v)
{
    return arena_alloc(v->arena, v->s->n + 1, sizeof(size_t));
}

static bool output_permuted(struct variant *v, int attempt)
{
    const struct shape *shape = &v->s->expected->shape;
    struct permutation p;
    size_t *from = new_map(v);

    if (!from || !permutation_at(shape->rank, attempt, &p))
        return false;
    permutation_map(&p, shape, from);
    permutation_text(&p, v->note, sizeof v->note);
    return move(v, from, false);
}

static bool shifted(struct variant *v, int attempt)
{
    static const int by[] = { 1, -1, 2, -2, 3, -3, 4, -4, 8, -8, 16, -16 };
    const int64_t n = (int64_t) v->s->n;
    size_t *from = new_map(v), out = 0;

    if (!from || n < 2 * by[attempt] || n < -2 * by[attempt])
        return false;
    for (int64_t i = 0; i < n; i++) {
        const int64_t j = i + by[attempt];
        from[i] = j < 0 || j >= n ? VARIANT_FILL : (size_t) j;
        out += from[i] == VARIANT_FILL;
    }
    move(v, from, true);
    for (int64_t i = 0; i < n; i++) /* those shifted in may be anything */
        if (from[i] == VARIANT_FILL) {
            v->real[i] = v->s->value[i];
            v->bound[i] = 0;
        }
    snprintf(v->note, sizeof v->note, "element i holds the result of element i%+d", by[attempt]);
    return out > 0;
}

static bool reversed(struct variant *v, int attempt)
{
    size_t *from = new_map(v);

    (void) attempt;
    for (size_t i = 0; from && i < v->s->n; i++)
        from[i] = v->s->n - 1 - i;
    return from && move(v, from, false);
}

/* Dimension 0 of the output, where that is a batch. */
static bool batches(const struct variant *v, uint32_t *ret_n, size_t *ret_inner)
{
    const struct shape *s = &v->s->expected->shape;

    *ret_n = s->rank > 1 ? s->dim[0] : 0;
    *ret_inner = *ret_n ? v->s->n / *ret_n : 0;
    return *ret_n > 1;
}

static bool first_batch_for_all(struct variant *v, int attempt)
{
    size_t *from = new_map(v), inner;
    uint32_t n;

    (void) attempt;
    if (!from || !batches(v, &n, &inner))
        return false;
    for (size_t i = 0; i < v->s->n; i++)
        from[i] = i % inner;
    return move(v, from, false);
}

static bool previous_batch(struct variant *v, int attempt)
{
    size_t *from = new_map(v), inner;
    uint32_t n;

    if (!from || !batches(v, &n, &inner))
        return false;
    for (size_t i = 0; i < v->s->n; i++)
        from[i] = attempt == 0 ? (i + v->s->n - inner) % v->s->n : i < inner ? i : i - inner;
    strcpy(v->note, attempt == 0 ? "the first holds that of the last" : "");
    return move(v, from, false);
}

static bool only_first_batch(struct variant *v, int attempt)
{
    size_t *from = new_map(v), inner;
    uint32_t n;

    if (!from || !batches(v, &n, &inner))
        return false;
    for (size_t i = 0; i < v->s->n; i++)
        from[i] = i < inner ? i : VARIANT_FILL;
    strcpy(v->note, attempt ? "the others are stored as 0" : "the others are 0");
    return move(v, from, attempt == 1);
}

static void put_index(struct variant *v, uint32_t d, uint32_t index)
{
    const char *name = subject_dimension(v->s, d);

    if (name)
        snprintf(v->note, sizeof v->note, "%s %u", name, index);
    else
        snprintf(v->note, sizeof v->note, "index %u of dimension %u", index, d);
}

/* Of each dimension: 0, 1: the last index is 0, or stored as 0; 2, 3: the first. */
static bool index_left_out(struct variant *v, int attempt)
{
    const struct shape *s = &v->s->expected->shape;
    const uint32_t back = (uint32_t) attempt / 4, d = s->rank - 1 - back;
    const bool last = attempt % 4 < 2, stored = attempt % 2;
    size_t *from = new_map(v);
    uint32_t at[MAX_RANK];

    if (!from || back >= s->rank || s->dim[d] < 2)
        return false;
    const uint32_t missing = last ? s->dim[d] - 1 : 0;
    for (size_t i = 0; i < v->s->n; i++) {
        shape_place(s, i, at);
        from[i] = at[d] == missing ? VARIANT_FILL : i;
    }
    put_index(v, d, missing);
    text_append(v->note, sizeof v->note, "%s", stored ? ", stored as 0" : "");
    return move(v, from, stored);
}

/* Most elements of an index of a dimension are wrong, and none of the others: of each dimension the
 * last index, then the first. */
static bool index_not_written(struct variant *v, int attempt)
{
    const struct shape *s = &v->s->expected->shape;
    const uint32_t back = (uint32_t) attempt / 2, d = s->rank - 1 - back;
    size_t wrong = 0, all = 0;
    uint32_t at[MAX_RANK];

    if (back >= s->rank || s->dim[d] < 2)
        return false;
    const uint32_t index = attempt % 2 ? 0 : s->dim[d] - 1;
    for (size_t i = 0; i < v->s->n; i++) {
        shape_place(s, i, at);
        if (at[d] != index)
            continue;
        all++;
        wrong += v->s->verdict[i] == ELEMENT_WRONG;
        v->real[i] = v->s->value[i];
        v->bound[i] = 0;
    }
    put_index(v, d, index);
    return all > 1 && 4 * wrong > 3 * all;
}

/* The device's results are 0, or stored as 0, from an element on. */
static bool rest_left_out(struct variant *v, int attempt)
{
    const double step = v->s->expected->scale != 0 ? (double) v->s->expected->scale : 1;
    const double zero = attempt ? -v->s->expected->zero * step : 0;
    size_t *from = new_map(v), n = v->s->n;

    while (n && v->s->value[n - 1] == zero)
        n--;
    if (!from || n == 0 || n == v->s->n)
        return false;
    for (size_t i = 0; i < v->s->n; i++)
        from[i] = i < n ? i : VARIANT_FILL;
    snprintf(v->note, sizeof v->note, "%zu were%s", n, attempt ? ", the rest is stored as 0" : "");
    return move(v, from, attempt);
}

static bool every_nth(struct variant *v, int attempt)
{
    static const size_t lanes[] = { 2, 4, 8, 16 };
    size_t *from = new_map(v);

    if (!from || v->s->n < 2 * lanes[attempt])
        return false;
    for (size_t i = 0; i < v->s->n; i++)
        from[i] = i - i % lanes[attempt];
    snprintf(v->note, sizeof v->note, "the first of %zu for all of them", lanes[attempt]);
    return move(v, from, false);
}

const struct hypothesis layout_hypotheses[] = {
    { "output-dimensions-permuted", "the output is written with its dimensions in another order",
      23, .make = output_permuted },
    { "output-shifted", "the output is shifted", 12, .make = shifted },
    { "output-reversed", "the output is written in reverse", .make = reversed },
    { "first-batch-for-all", "every batch holds the results of the first",
      .make = first_batch_for_all },
    { "previous-batch", "each batch holds the results of the one before", 2,
      .make = previous_batch },
    { "only-first-batch", "only the first batch was computed", 2, .make = only_first_batch },
    { "index-left-out", "one channel, row, column or batch was not computed", 16,
      .make = index_left_out },
    { "index-not-written", "one channel, row, column or batch holds other values", 8, true,
      index_not_written },
    { "rest-left-out", "only the first elements were computed", 2, true, rest_left_out },
    { "lanes-repeated", "a vector holds one result in all of its lanes", 4, .make = every_nth },
    { 0 },
};
