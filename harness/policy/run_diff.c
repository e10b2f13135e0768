#include "harness/policy/run_diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "golden/base/array.h"
#include "golden/golden.h"
#include "harness/check/blame.h"

const char *const change_name[CHANGE_KINDS] = {
    [CHANGE_BROKEN] = "broken", [CHANGE_LOST] = "lost",       [CHANGE_MENDED] = "mended",
    [CHANGE_GAINED] = "gained", [CHANGE_FAILURE] = "changed", [CHANGE_NEW] = "new",
    [CHANGE_GONE] = "gone",
};

const char *const quantity_name[QUANTITIES] = {
    [QUANTITY_TIME] = "time",
    [QUANTITY_DEVICE_TIME] = "device time",
    [QUANTITY_ERROR] = "error ratio",
};

/* A single execution may wait so long for a processor, memory or a file. */
static const double least_ms = 50;
/* Error ratios below this one do not matter; single cases are shown from the second one on. */
static const double least_ratio = 0.01, least_shown_ratio = 0.1;

bool change_breaks(enum change c)
{
    return c == CHANGE_BROKEN || c == CHANGE_LOST;
}

/* ---- loading */

struct case_list {
    struct arena *arena;
    struct diff_case *item;
    uint32_t n;
};

static int keep_text(struct arena *a, const char *text, const char **ret, struct why *w)
{
    *ret = arena_strdup(a, text ? text : "");
    return *ret ? 0 : why_no_memory(w);
}

static int keep_case(const struct recorded_verdict *v, void *user, struct why *w)
{
    struct case_list *list = user;
    struct diff_case c = { .case_id = v->case_id,
                           .class.verdict = v->was,
                           .class.first = v->first,
                           .measured = !strcmp(v->stage, stage_name[STAGE_DONE]),
                           .ms = v->ms,
                           .device_ns = v->device_ns,
                           .ratio = v->output < 0 ? NAN : v->ratio };
    if (v->was == VERDICT_WAIVED)
        return 0;
    struct diff_case *item = array_room(list->item, list->n, sizeof *item);
    if (!item)
        return why_no_memory(w);
    list->item = item;
    TRY(keep_text(list->arena, v->name, &c.name, w));
    TRY(keep_text(list->arena, v->stage, &c.class.stage, w));
    TRY(keep_text(list->arena, v->status, &c.class.status, w));
    TRY(keep_text(list->arena, blamed_operation(&v->blamed, v->operation), &c.class.operation, w));
    list->item[list->n++] = c;
    return 0;
}

static int by_name(const void *x, const void *y)
{
    const struct diff_case *a = x, *b = y;
    int order = strcmp(a->name, b->name);
    return order ? order : (a->case_id > b->case_id) - (a->case_id < b->case_id);
}

/* Loads the verdicts of a target, sorted by name, into the arena. */
static int load_cases(struct diff_side *side, const char *uri, struct arena *arena,
                      struct case_list *ret, struct why *w)
{
    struct case_list list = { .arena = arena };
    struct recorded_filter f = { .run = side->filter.run, .target = uri };
    int failed = results_each_recorded(side->results, &f, keep_case, &list, w);
    if (!failed && list.n) {
        qsort(list.item, list.n, sizeof *list.item, by_name);
        struct diff_case *item = arena_copy(arena, list.item, list.n * sizeof *item);
        failed = item ? 0 : why_no_memory(w);
        free(list.item);
        list.item = item;
    } else {
        free(list.item);
        list.item = NULL;
    }
    *ret = list;
    return failed;
}

/* ---- verdicts */

static bool same_text(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

/* CHANGE_KINDS: none. */
static enum change change_of(const struct verdict_class *a, const struct verdict_class *b)
{
    bool was = verdict_conforming(a->verdict), is = verdict_conforming(b->verdict);
    if (was != is)
        return was ? CHANGE_BROKEN : CHANGE_MENDED;
    if (was) {
        bool passed = a->verdict == VERDICT_PASS, passes = b->verdict == VERDICT_PASS;
        return passed == passes ? CHANGE_KINDS : passed ? CHANGE_LOST : CHANGE_GAINED;
    }
    bool same = a->verdict == b->verdict && same_text(a->stage, b->stage) &&
                same_text(a->status, b->status) && same_text(a->operation, b->operation);
    return same ? CHANGE_KINDS : CHANGE_FAILURE;
}

/* The cases on both sides. */
struct pair_list {
    struct case_shift *item; /* before and after are unset */
    uint32_t n;
};

static int by_change(const void *x, const void *y)
{
    const struct case_change *a = x, *b = y;
    if (a->change != b->change)
        return a->change < b->change ? -1 : 1;
    const struct diff_case *p = a->b ? a->b : a->a, *q = b->b ? b->b : b->a;
    int order = strverscmp(p->name, q->name);
    return order ? order : by_name(p, q);
}

static void add_change(struct target_diff *d, enum change c, const struct diff_case *a,
                       const struct diff_case *b)
{
    d->change[d->n_changes++] = (struct case_change){ c, a, b };
    d->n[c]++;
}

/* Pairs the cases of equal names. */
static int pair_cases(const struct case_list *a, const struct case_list *b, struct arena *arena,
                      struct target_diff *d, struct pair_list *ret, struct why *w)
{
    uint32_t i = 0, k = 0;
    struct pair_list pairs = { arena_alloc(arena, a->n < b->n ? a->n : b->n, sizeof *pairs.item),
                               0 };
    d->change = arena_alloc(arena, (size_t) a->n + b->n, sizeof *d->change);
    if (!pairs.item || !d->change)
        return why_no_memory(w);
    while (i < a->n || k < b->n) {
        const struct diff_case *x = i < a->n ? &a->item[i] : NULL;
        const struct diff_case *y = k < b->n ? &b->item[k] : NULL;
        int order = !x ? 1 : !y ? -1 : strcmp(x->name, y->name);
        i += order <= 0;
        k += order >= 0;
        if (order) {
            add_change(d, order < 0 ? CHANGE_GONE : CHANGE_NEW, order < 0 ? x : NULL,
                       order < 0 ? NULL : y);
            continue;
        }
        enum change c = change_of(&x->class, &y->class);
        if (c != CHANGE_KINDS)
            add_change(d, c, x, y);
        pairs.item[pairs.n++] = (struct case_shift){ .a = x, .b = y };
    }
    qsort(d->change, d->n_changes, sizeof *d->change, by_change);
    d->in_both = pairs.n;
    *ret = pairs;
    return 0;
}

/* ---- times and errors */

static double at_least(double x, double least)
{
    return x > least ? x : least;
}

/* A quantity of a pair, false: it does not have it on both sides. */
static bool measure(enum quantity q, const struct case_shift *pair, double *ret_before,
                    double *ret_after)
{
    const struct diff_case *a = pair->a, *b = pair->b;
    double before = a->ms, after = b->ms;
    if (!a->measured || !b->measured)
        return false;
    if (q == QUANTITY_DEVICE_TIME) {
        before = (double) a->device_ns * 1e-6;
        after = (double) b->device_ns * 1e-6;
    } else if (q == QUANTITY_ERROR) {
        before = isfinite(a->ratio) ? at_least(a->ratio, least_ratio) : 0;
        after = isfinite(b->ratio) ? at_least(b->ratio, least_ratio) : 0;
    }
    *ret_before = before;
    *ret_after = after;
    return before > 0 && after > 0;
}

static double log_ratio(const struct case_shift *c)
{
    return log(c->after / c->before);
}

/* Farthest from no change first. */
static int by_distance(double x, double y)
{
    return (fabs(x) < fabs(y)) - (fabs(x) > fabs(y));
}

static int by_case_distance(const void *x, const void *y)
{
    const struct case_shift *a = x, *b = y;
    int order = by_distance(log_ratio(a), log_ratio(b));
    return order ? order : by_name(a->b, b->b);
}

static int by_operation_distance(const void *x, const void *y)
{
    const struct operation_shift *a = x, *b = y;
    int order = by_distance(log(a->shift.median), log(b->shift.median));
    return order ? order : strcmp(a->operation, b->operation);
}

/* Whether a single case is far outside of what varies: its wall-clock time in one run says little,
 * an error ratio is the same in every run of most drivers.  Error ratios of broken cases are shown
 * with them. */
static bool is_far(enum quantity q, const struct case_shift *c, const struct shift *all,
                   double threshold)
{
    double distance = fabs(log_ratio(c) - log(all->median));
    if (q == QUANTITY_ERROR)
        return verdict_conforming(c->a->class.verdict) && verdict_conforming(c->b->class.verdict) &&
               fabs(log_ratio(c)) >= log(threshold) &&
               at_least(c->before, c->after) >= least_shown_ratio;
    if (q == QUANTITY_DEVICE_TIME)
        return distance >= log(threshold);
    return distance >= at_least(2 * log(threshold), 8 * 1.4826 * all->spread) &&
           fabs(c->after - c->before) >= least_ms;
}

/* An operation of a measured case. */
struct operation_sample {
    const char *operation;
    double log_ratio;
};

static int by_operation(const void *x, const void *y)
{
    const struct operation_sample *a = x, *b = y;
    return strcmp(a->operation, b->operation);
}

struct sampling {
    const struct case_shift *pair; /* sorted by case_id of B */
    uint32_t n_pairs;
    double median;
    struct operation_sample *sample;
    size_t n;
    struct arena *arena;
};

static int add_sample(struct sampling *s, const char *operation, double x, struct why *w)
{
    struct operation_sample *sample = array_room(s->sample, s->n, sizeof *sample);
    if (!sample)
        return why_no_memory(w);
    s->sample = sample;
    if (!(operation = arena_strdup(s->arena, operation)))
        return why_no_memory(w);
    s->sample[s->n++] = (struct operation_sample){ operation, x };
    return 0;
}

static int by_case_id(const void *x, const void *y)
{
    const struct case_shift *a = x, *b = y;
    return (a->b->case_id > b->b->case_id) - (a->b->case_id < b->b->case_id);
}

static int sample_operation(int64_t case_id, const char *operation, void *user, struct why *w)
{
    struct sampling *s = user;
    struct diff_case key = { .case_id = case_id };
    struct case_shift pair = { .b = &key };
    const struct case_shift *found =
        s->n_pairs ? bsearch(&pair, s->pair, s->n_pairs, sizeof pair, by_case_id) : NULL;
    return found ? add_sample(s, operation, log_ratio(found) - s->median, w) : 0;
}

/* Samples by operation: of times, every operation of a case; of errors, that of the worst element.
 */
static int take_samples(enum quantity q, struct diff_side *side, struct sampling *s, struct why *w)
{
    if (q != QUANTITY_ERROR)
        return results_each_operation(side->results, side->filter.run, sample_operation, s, w);
    for (uint32_t i = 0; i < s->n_pairs; i++)
        if (*s->pair[i].b->class.operation)
            TRY(add_sample(s, s->pair[i].b->class.operation, log_ratio(&s->pair[i]) - s->median,
                           w));
    return 0;
}

static int find_operations(struct sampling *s, double threshold, struct quantity_diff *d,
                           struct why *w)
{
    double *x = calloc(s->n + 1, sizeof *x);
    d->operation = arena_alloc(s->arena, s->n + 1, sizeof *d->operation);
    int failed = x && d->operation ? 0 : why_no_memory(w);
    if (s->n)
        qsort(s->sample, s->n, sizeof *s->sample, by_operation);
    for (size_t from = 0, to; !failed && from < s->n; from = to) {
        uint32_t n = 0;
        for (to = from; to < s->n && !strcmp(s->sample[from].operation, s->sample[to].operation);
             to++)
            x[n++] = s->sample[to].log_ratio;
        struct shift shift = shift_of(x, n, threshold);
        if (shift.shifted)
            d->operation[d->n_operations++] =
                (struct operation_shift){ s->sample[from].operation, shift };
    }
    free(x);
    if (!failed && d->n_operations)
        qsort(d->operation, d->n_operations, sizeof *d->operation, by_operation_distance);
    return failed;
}

/* The pairs that have the quantity, with its values. */
static uint32_t measure_all(enum quantity q, const struct pair_list *pairs,
                            struct case_shift *ret_measured, double *ret_log)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < pairs->n; i++) {
        struct case_shift c = pairs->item[i];
        if (!measure(q, &c, &c.before, &c.after))
            continue;
        ret_log[n] = log_ratio(&c);
        ret_measured[n++] = c;
    }
    return n;
}

static int compare_quantity(enum quantity q, struct diff_side *b, const struct pair_list *pairs,
                            double threshold, struct arena *arena, struct quantity_diff *d,
                            struct why *w)
{
    struct case_shift *measured = arena_alloc(arena, (size_t) pairs->n + 1, sizeof *measured);
    double *x = arena_alloc(arena, (size_t) pairs->n + 1, sizeof *x);
    d->cases = arena_alloc(arena, (size_t) pairs->n + 1, sizeof *d->cases);
    if (!measured || !x || !d->cases)
        return why_no_memory(w);
    uint32_t n = measure_all(q, pairs, measured, x);
    d->all = shift_of(x, n, threshold);
    for (uint32_t i = 0; i < n; i++)
        if (is_far(q, &measured[i], &d->all, threshold))
            d->cases[d->n_cases++] = measured[i];
    if (d->n_cases)
        qsort(d->cases, d->n_cases, sizeof *d->cases, by_case_distance);
    if (n)
        qsort(measured, n, sizeof *measured, by_case_id);
    struct sampling s = {
        .pair = measured, .n_pairs = n, .median = log(d->all.median), .arena = arena
    };
    int failed = take_samples(q, b, &s, w);
    if (!failed)
        failed = find_operations(&s, threshold, d, w);
    free(s.sample);
    return failed;
}

int target_diff(struct diff_side *a, const char *uri_a, struct diff_side *b, const char *uri_b,
                double threshold, struct arena *arena, struct target_diff *ret, struct why *w)
{
    struct target_diff d = { .a = uri_a, .b = uri_b };
    struct case_list before, after;
    struct pair_list pairs;
    TRY(load_cases(a, uri_a, arena, &before, w));
    TRY(load_cases(b, uri_b, arena, &after, w));
    TRY(pair_cases(&before, &after, arena, &d, &pairs, w));
    for (int q = 0; q < QUANTITIES; q++)
        TRY(compare_quantity((enum quantity) q, b, &pairs, threshold, arena, &d.quantity[q], w));
    *ret = d;
    return 0;
}
