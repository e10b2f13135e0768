#include "harness/explain/pattern.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_wrong(const struct subject *s, size_t i)
{
    return s->verdict[i] == ELEMENT_WRONG;
}

static bool is_right(const struct subject *s, size_t i)
{
    return s->verdict[i] == ELEMENT_RIGHT;
}

__attribute__((format(printf, 2, 3))) static void put(struct buffer *to, const char *fmt, ...)
{
    va_list args;

    buffer_puts(to, "    ");
    va_start(args, fmt);
    buffer_vprintf(to, fmt, args);
    va_end(args);
    buffer_puts(to, "\n");
}

/* ---- one dimension */

/* For each index of a dimension: wrong and right elements. */
struct slices {
    uint32_t n, with_wrong, all_wrong, first, last;
    size_t *wrong, *right;
};

static bool count_slices(const struct subject *s, uint32_t d, struct slices *ret)
{
    uint32_t at[MAX_RANK];

    *ret = (struct slices){ .n = s->expected->shape.dim[d] };
    ret->wrong = arena_alloc(s->arena, ret->n + 1, sizeof(size_t));
    ret->right = arena_alloc(s->arena, ret->n + 1, sizeof(size_t));
    if (!ret->wrong || !ret->right)
        return false;
    for (size_t i = 0; i < s->n; i++) {
        shape_place(&s->expected->shape, i, at);
        ret->wrong[at[d]] += is_wrong(s, i);
        ret->right[at[d]] += is_right(s, i);
    }
    ret->first = ret->n;
    for (uint32_t k = 0; k < ret->n; k++) {
        if (!ret->wrong[k])
            continue;
        ret->with_wrong++;
        ret->all_wrong += !ret->right[k];
        ret->first = ret->first < k ? ret->first : k;
        ret->last = k;
    }
    return true;
}

/* The distance of the indexes with wrong elements if they are first, first + n, ... up to the end;
 * else 0. */
static uint32_t period_of(const struct slices *l)
{
    uint32_t second = l->first + 1;

    while (second <= l->last && !l->wrong[second])
        second++;
    const uint32_t n = second - l->first;
    if (l->with_wrong < 3 || n < 2)
        return 0;
    for (uint32_t k = 0; k < l->n; k++)
        if ((l->wrong[k] != 0) != (k >= l->first && (k - l->first) % n == 0))
            return 0;
    return n;
}

static void put_list(struct buffer *to, const struct slices *l)
{
    uint32_t shown = 0;

    for (uint32_t k = 0; k < l->n && shown < 8; k++)
        if (l->wrong[k])
            buffer_printf(to, "%s%u", shown++ ? ", " : "", k);
    if (l->with_wrong > shown)
        buffer_printf(to, ", ... (%u in all)", l->with_wrong);
}

static void describe_dimension(const struct subject *s, uint32_t d, struct buffer *to)
{
    struct slices l;
    const char *const role = subject_dimension(s, d), *const name = role ? role : "index";

    if (s->expected->shape.dim[d] < 2 || !count_slices(s, d, &l) || !l.with_wrong)
        return;
    if (l.with_wrong == l.n || (2 * l.with_wrong > l.n && l.all_wrong < l.with_wrong))
        return; /* says little */
    const char *all = l.all_wrong == l.with_wrong ? ", all of it wrong" : "";
    const uint32_t period = period_of(&l);
    buffer_puts(to, "    ");
    if (!role)
        buffer_printf(to, "dimension %u: ", d);
    if (l.with_wrong == 1)
        buffer_printf(to, "only %s %u of 0..%u%s%s", name, l.first, l.n - 1,
                      l.first == l.n - 1 ? " (the last)" : "", all);
    else if (period)
        buffer_printf(to, "every %u%s %s, from %u on", period,
                      period == 2   ? "nd"
                      : period == 3 ? "rd"
                                    : "th",
                      name, l.first);
    else if (l.last - l.first + 1 == l.with_wrong && l.last == l.n - 1)
        buffer_printf(to, "from %s %u on; %s 0..%u are right", name, l.first, name, l.first - 1);
    else if (l.last - l.first + 1 == l.with_wrong)
        buffer_printf(to, "only %s %u..%u of 0..%u", name, l.first, l.last, l.n - 1);
    else {
        buffer_printf(to, "%s ", name);
        put_list(to, &l);
        buffer_printf(to, " of 0..%u", l.n - 1);
    }
    buffer_puts(to, "\n");
}

/* ---- the border of an image */

struct border {
    uint32_t top, bottom, left, right;
};

/* Whether rows and columns inside the border have no wrong element.  wrong: [h][w] sums over rows
 * and columns before. */
static bool is_clear(const size_t *sum, uint32_t h, uint32_t w, const struct border *b)
{
    const size_t row = w + 1;
    const uint32_t y0 = b->top, y1 = h - b->bottom, x0 = b->left, x1 = w - b->right;

    return sum[y1 * row + x1] - sum[y0 * row + x1] - sum[y1 * row + x0] + sum[y0 * row + x0] == 0;
}

static size_t *sums_of(const struct subject *s, uint32_t dy, uint32_t dx)
{
    const uint32_t h = s->expected->shape.dim[dy], w = s->expected->shape.dim[dx];
    size_t *sum = arena_alloc(s->arena, (size_t) (h + 1) * (w + 1), sizeof *sum);
    uint32_t at[MAX_RANK];

    for (size_t i = 0; sum && i < s->n; i++) {
        shape_place(&s->expected->shape, i, at);
        sum[(size_t) (at[dy] + 1) * (w + 1) + at[dx] + 1] += is_wrong(s, i);
    }
    for (uint32_t y = 1; sum && y <= h; y++)
        for (uint32_t x = 1; x <= w; x++)
            sum[(size_t) y * (w + 1) + x] += sum[(size_t) (y - 1) * (w + 1) + x] +
                                             sum[(size_t) y * (w + 1) + x - 1] -
                                             sum[(size_t) (y - 1) * (w + 1) + x - 1];
    return sum;
}

/* The thinnest border that holds all wrong elements.  False: it would be the whole image. */
static bool find_border(const struct subject *s, uint32_t dy, uint32_t dx, struct border *ret)
{
    const uint32_t h = s->expected->shape.dim[dy], w = s->expected->shape.dim[dx];
    const uint32_t my = h / 2 < 4 ? h / 2 : 4, mx = w / 2 < 4 ? w / 2 : 4;
    const size_t *sum = sums_of(s, dy, dx);
    size_t least = SIZE_MAX;

    if (!sum || h < 3 || w < 3)
        return false;
    for (uint32_t k = 0; k < (my + 1) * (my + 1) * (mx + 1) * (mx + 1); k++) {
        const struct border b = { k % (my + 1), k / (my + 1) % (my + 1),
                                  k / (my + 1) / (my + 1) % (mx + 1),
                                  k / (my + 1) / (my + 1) / (mx + 1) };
        const size_t area = (size_t) (b.top + b.bottom) * w + (size_t) (b.left + b.right) * h;
        if (b.top + b.bottom < h && b.left + b.right < w && area < least &&
            is_clear(sum, h, w, &b)) {
            least = area;
            *ret = b;
        }
    }
    return least != SIZE_MAX && least != 0;
}

static void describe_border(const struct subject *s, struct buffer *to)
{
    uint32_t dy = MAX_RANK, dx = MAX_RANK;
    struct border b;

    for (uint32_t d = 0; d < s->expected->shape.rank; d++) {
        const char *name = subject_dimension(s, d);
        dy = name && !strcmp(name, "row") ? d : dy;
        dx = name && !strcmp(name, "column") ? d : dx;
    }
    if (dy == MAX_RANK || dx == MAX_RANK || !find_border(s, dy, dx, &b))
        return;
    buffer_puts(to, "    at the border only:");
    const uint32_t width[] = { b.top, b.bottom, b.left, b.right };
    const char *const side[] = { "first", "last", "first", "last" };
    const char *const what[] = { "row", "row", "column", "column" };
    for (int i = 0, n = 0; i < 4; i++)
        if (width[i] == 1)
            buffer_printf(to, "%s the %s %s", n++ ? "," : "", side[i], what[i]);
        else if (width[i])
            buffer_printf(to, "%s the %s %u %ss", n++ ? "," : "", side[i], width[i], what[i]);
    buffer_puts(to, "\n");
}

/* ---- where */

static void describe_places(const struct subject *s, struct buffer *to)
{
    size_t first = s->n, last = 0, before = 0;
    char text[SHAPE_TEXT];

    for (size_t i = 0; i < s->n; i++)
        if (is_wrong(s, i)) {
            first = first < i ? first : i;
            last = i;
        }
    for (size_t i = first; i <= last; i++)
        before += is_right(s, i);
    if (s->n_wrong == 1) {
        put(to, "one element, %s%s", place_text(&s->expected->shape, first, text),
            first == s->n - 1 ? ", the last" : "");
        return;
    }
    if (!s->n_right) {
        put(to, "every element");
        return;
    }
    const size_t length = buffer_text(to) ? to->length : 0;
    for (uint32_t d = 0; d < s->expected->shape.rank; d++)
        describe_dimension(s, d, to);
    describe_border(s, to);
    if (last == s->n - 1 && before == 0 && first > 0)
        put(to, "the last %zu elements, from %s on", s->n - first,
            place_text(&s->expected->shape, first, text));
    if (to->length == length)
        put(to, "%zu of %zu elements, in no pattern of places", s->n_wrong,
            s->n_wrong + s->n_right);
}

/* ---- values */

static double expected_at(const struct subject *s, size_t i)
{
    return tensor_saturate(s->expected, s->real[i]);
}

/* Whether all wrong elements differ by nearly the same, as a difference or as a factor. */
static bool is_constant(const struct subject *s, bool factor, double *ret)
{
    double lo = INFINITY, hi = -INFINITY, room = 0, sum = 0;
    size_t n = 0;

    for (size_t i = 0; i < s->n; i++) {
        const double e = expected_at(s, i), a = s->value[i];
        if (!is_wrong(s, i) || (factor && fabs(e) <= 4 * s->bound[i]))
            continue;
        const double k = factor ? a / e : a - e, unsure = s->bound[i] / (factor ? fabs(e) : 1);
        lo = fmin(lo, k);
        hi = fmax(hi, k);
        room = fmax(room, unsure);
        sum += k;
        n++;
    }
    if (n < 3 || !(hi - lo <= 2 * room + 1e-6 * fabs(hi)) || (factor && room > 0.1))
        return false;
    *ret = sum / (double) n;
    return true;
}

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *) a, y = *(const double *) b;

    return x < y ? -1 : x > y;
}

/* Whether the device's values are those of the reference in another order. */
static bool is_permuted(const struct subject *s)
{
    double *a = arena_copy(s->arena, s->value, s->n * sizeof *a);
    double *e = arena_alloc(s->arena, s->n + 1, sizeof *e);
    double widest = 0;
    size_t distinct = 1;

    if (!a || !e || s->n < 4)
        return false;
    for (size_t i = 0; i < s->n; i++) {
        e[i] = expected_at(s, i);
        if (!isfinite(e[i]) || !isfinite(a[i]) || !isfinite(s->bound[i]))
            return false;
        widest = fmax(widest, s->bound[i]);
    }
    qsort(a, s->n, sizeof *a, compare_doubles);
    qsort(e, s->n, sizeof *e, compare_doubles);
    for (size_t i = 0; i < s->n; i++) {
        distinct += i && e[i] - e[i - 1] > widest;
        if (fabs(a[i] - e[i]) > widest)
            return false;
    }
    return distinct > 3;
}

static void describe_special(const struct subject *s, struct buffer *to)
{
    size_t nan = 0, inf = 0, zero = 0, negated = 0, low = 0, high = 0;
    const struct codec *c = dtype_info[s->expected->dtype].codec;
    const struct tensor *t = &s->actual[s->output];

    for (size_t i = 0; i < s->n; i++) {
        if (!is_wrong(s, i))
            continue;
        nan += isnan(s->value[i]) ? 1 : 0;
        inf += isinf(s->value[i]) ? 1 : 0;
        zero += s->value[i] == 0;
        negated += s->value[i] != 0 && fabs(s->value[i] + expected_at(s, i)) <= s->bound[i];
        low += (size_t) (c->integer && c->size == 1 && tensor_stored(t, i) == c->min);
        high += (size_t) (c->integer && c->size == 1 && tensor_stored(t, i) == c->max);
    }
    const struct {
        size_t n;
        const char *text;
    } kind[] = { { nan, "are NaN" },
                 { inf, "are infinite" },
                 { zero, "are 0" },
                 { negated, "have the wrong sign" },
                 { low, "are the smallest number of the type" },
                 { high, "are the largest number of the type" } };
    for (int i = 0; i < COUNT(kind); i++)
        if (2 * kind[i].n >= s->n_wrong && s->n_wrong > 1)
            put(to, "%s of the wrong elements %s", kind[i].n == s->n_wrong ? "all" : "most",
                kind[i].text);
}

static void describe_direction(const struct subject *s, struct buffer *to)
{
    size_t more = 0, less = 0, one = 0;

    for (size_t i = 0; i < s->n; i++) {
        const double d = s->value[i] - expected_at(s, i), step = tensor_step_of(s->expected, i);
        more += is_wrong(s, i) && d > 0;
        less += is_wrong(s, i) && d < 0;
        one += is_wrong(s, i) && step > 0 && fabs(d) < 1.5 * step;
    }
    if (s->n_wrong > 2 && (more == s->n_wrong || less == s->n_wrong))
        put(to, "all wrong elements are too %s", more ? "large" : "small");
    if (s->n_wrong > 2 && one == s->n_wrong)
        put(to, "all are off by one step");
}

static void describe_values(const struct subject *s, struct buffer *to)
{
    double k;

    describe_special(s, to);
    describe_direction(s, to);
    if (is_constant(s, false, &k)) {
        const double step = tensor_step_of(s->expected, 0);
        if (step > 0)
            put(to, "all differ by nearly the same: %+.4g steps (%+.6g)", k / step, k);
        else
            put(to, "all differ by nearly the same: %+.6g", k);
    } else if (is_constant(s, true, &k)) {
        put(to, "all differ by nearly the same factor: %.6g", k);
    }
    if (s->n_wrong > 2 && is_permuted(s))
        put(to, "the values are right, in another order");
}

void pattern_describe(const struct subject *s, struct buffer *to)
{
    if (!s->n_wrong)
        return;
    describe_places(s, to);
    describe_values(s, to);
}
