#include "harness/explain/hypotheses.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Elements of all operands from which on only a few variants of a hypothesis are tried. */
enum { LARGE = 1 << 20, FEW = 4 };

const struct hypothesis *hypothesis_at(int i)
{
    static const struct hypothesis *const family[] = { window_hypotheses, operand_hypotheses,
                                                       attribute_hypotheses, storing_hypotheses,
                                                       layout_hypotheses };

    for (int f = 0; f < COUNT(family); f++)
        for (const struct hypothesis *h = family[f]; h->name; h++)
            if (i-- == 0)
                return h;
    return NULL;
}

/* The unit of distances: a step, or the allowed error. */
static double unit_of(const struct subject *s, size_t i)
{
    double step = tensor_step_of(s->expected, i);

    return step != 0 ? step : s->bound[i] > 0 && s->bound[i] < INFINITY ? s->bound[i] : 1;
}

static void compare(const struct subject *s, const struct variant *v, struct hypothesis_result *ret)
{
    double sum = 0;
    size_t open = 0; /* wrong elements of which the variant does not say anything */

    for (size_t i = 0; i < s->n; i++) {
        enum element_verdict is = judge_value(s->expected, v->real[i], v->bound[i], s->value[i]);
        double d = fabs(s->value[i] - tensor_saturate(s->expected, v->real[i])) / unit_of(s, i);
        ret->explained += s->verdict[i] == ELEMENT_WRONG && is == ELEMENT_RIGHT;
        open += s->verdict[i] == ELEMENT_WRONG && is == ELEMENT_UNDECIDED;
        ret->contradicted += s->verdict[i] == ELEMENT_RIGHT && is == ELEMENT_WRONG;
        sum += s->verdict[i] == ELEMENT_UNDECIDED ? 0 : d < 1 ? d : 1;
    }
    ret->matches = ret->explained + open == s->n_wrong && ret->explained >= open &&
                   ret->explained > 0 && ret->contradicted == 0;
    ret->distance = sum / (double) (s->n ? s->n : 1);
    snprintf(ret->note, sizeof ret->note, "%s", v->note);
}

/* Whether a is the better explanation. */
static bool is_better(const struct hypothesis_result *a, const struct hypothesis_result *b)
{
    if (a->matches != b->matches)
        return a->matches;
    if (a->hypothesis->loose != b->hypothesis->loose)
        return b->hypothesis->loose;
    if (a->matches)
        return a->distance < b->distance;
    return (double) a->explained - (double) a->contradicted >
           (double) b->explained - (double) b->contradicted;
}

/* Whether it explains at least half of the wrong elements, and few others. */
static bool is_near(const struct subject *s, const struct hypothesis_result *f)
{
    return f->explained >= f->contradicted && 2 * (f->explained - f->contradicted) >= s->n_wrong &&
           f->explained > 0;
}

static void keep(struct hypothesis_results *all, const struct hypothesis_result *f)
{
    int at = all->n;

    while (at > 0 && is_better(f, &all->best[at - 1]))
        at--;
    if (at == MOST_FINDINGS)
        return;
    int last = all->n < MOST_FINDINGS ? all->n++ : MOST_FINDINGS - 1;
    memmove(&all->best[at + 1], &all->best[at], (size_t) (last - at) * sizeof *f);
    all->best[at] = *f;
}

static bool is_large(const struct subject *s)
{
    size_t n = s->n;

    for (uint32_t i = 0; i < s->operation->n_in; i++)
        n += s->arg[i] ? tensor_count(s->arg[i]) : 0;
    return n > LARGE;
}

/* The best variant of one hypothesis.  1: there is one; 0: it does not apply. */
static int try_one(const struct subject *s, const struct hypothesis *h, int attempts,
                   struct arena *a, struct hypothesis_result *ret, struct why *w)
{
    int any = 0;

    for (int i = 0; i < attempts; i++) {
        struct arena_mark mark = arena_mark(a);
        struct hypothesis_result f = { .hypothesis = h };
        struct variant v;
        if (variant_begin(&v, s, a) < 0)
            return why_no_memory(w);
        if (h->make(&v, i)) {
            compare(s, &v, &f);
            if (!any || is_better(&f, ret))
                *ret = f;
            any = 1;
        }
        arena_rewind(a, mark);
    }
    return any;
}

int hypotheses_try(const struct subject *s, struct hypothesis_results *ret, struct why *w)
{
    struct hypothesis_results all = { 0 };
    struct arena *a = arena_new(0);
    const struct hypothesis *h;
    const bool large = is_large(s);

    if (!a)
        return why_no_memory(w);
    for (int i = 0; s->n_wrong && (h = hypothesis_at(i)); i++) {
        struct hypothesis_result f = { 0 };
        int most = h->attempts ? h->attempts : 1;
        int attempts = large && most > FEW ? FEW : most;
        int tried = try_one(s, h, attempts, a, &f, w);
        if (tried < 0) {
            arena_free(a);
            return -1;
        }
        all.of++;
        all.tried += tried;
        all.too_large += attempts < most;
        if (tried && (f.matches || is_near(s, &f)))
            keep(&all, &f);
    }
    arena_free(a);
    *ret = all;
    return 0;
}
