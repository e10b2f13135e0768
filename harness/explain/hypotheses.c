#include "harness/explain/hypotheses.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/explain/similar.h"

/* Elements of all operands from which on only a few variants of a hypothesis are tried. */
enum { LARGE = 1 << 20, FEW = 4 };

const struct hypothesis *hypothesis_at(int i)
{
    static const struct hypothesis *const family[] = { window_hypotheses,  operand_hypotheses,
                                                       sum_hypotheses,     attribute_hypotheses,
                                                       storing_hypotheses, layout_hypotheses };

    for (int f = 0; f < COUNT(family); f++)
        for (const struct hypothesis *h = family[f]; h->name; h++)
            if (i-- == 0)
                return h;
    return NULL;
}

const char *hypothesis_sentence(const char *name)
{
    const struct hypothesis *h;

    for (int i = 0; (h = hypothesis_at(i)); i++)
        if (!strcmp(h->name, name))
            return h->sentence;
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

uint32_t hypothesis_rank(const struct hypothesis_result *f)
{
    return f->similar * (f->hypothesis->loose ? 4 : 5);
}

/* Whether a is the better explanation. */
static bool is_better(const struct hypothesis_result *a, const struct hypothesis_result *b)
{
    if (a->matches != b->matches)
        return a->matches;
    if (hypothesis_rank(a) != hypothesis_rank(b))
        return hypothesis_rank(a) > hypothesis_rank(b);
    if (a->hypothesis->loose != b->hypothesis->loose)
        return b->hypothesis->loose;
    const double explains = (double) a->explained - (double) a->contradicted,
                 b_explains = (double) b->explained - (double) b->contradicted;
    if (!a->matches && explains != b_explains)
        return explains > b_explains;
    return a->distance != b->distance ? a->distance < b->distance : a->order < b->order;
}

static int compare_results(const void *a, const void *b)
{
    return is_better(a, b) ? -1 : is_better(b, a);
}

/* Whether it explains at least half of the wrong elements, and few others. */
static bool is_near(const struct subject *s, const struct hypothesis_result *f)
{
    return f->explained >= f->contradicted && 2 * (f->explained - f->contradicted) >= s->n_wrong &&
           f->explained > 0;
}

/* ---- the subject itself */

/* Variants that explain the subject, or part of it. */
struct findings {
    struct hypothesis_result *of;
    int n;
};

static int attempts_of(const struct hypothesis *h)
{
    return h->attempts ? h->attempts : 1;
}

/* 1: the variant exists, with *ret; 0: it does not; -1: out of memory. */
static int try_attempt(const struct subject *s, const struct hypothesis *h, int attempt,
                       struct arena *a, struct hypothesis_result *ret, struct why *w)
{
    const struct arena_mark mark = arena_mark(a);
    struct variant v;

    *ret = (struct hypothesis_result){ .hypothesis = h, .attempt = attempt };
    if (variant_begin(&v, s, a) < 0)
        return why_no_memory(w);
    const bool made = h->make(&v, attempt);
    if (made)
        compare(s, &v, ret);
    arena_rewind(a, mark);
    return made;
}

/* Adds the variants that match; if there is none, the one that comes nearest.  1: the hypothesis
 * applies; 0: it does not. */
static int try_hypothesis(const struct subject *s, const struct hypothesis *h, int attempts,
                          struct arena *a, struct findings *to, struct why *w)
{
    struct hypothesis_result nearest = { 0 };
    const int before = to->n;
    int any = 0;

    for (int i = 0; i < attempts; i++) {
        struct hypothesis_result f;
        const int made = try_attempt(s, h, i, a, &f, w);
        if (made < 0)
            return -1;
        if (made && f.matches)
            to->of[to->n++] = f;
        else if (made && is_near(s, &f) && (!nearest.hypothesis || is_better(&f, &nearest)))
            nearest = f;
        any = any || made;
    }
    for (int i = before; i < to->n; i++)
        to->of[i].order = i;
    nearest.order = to->n;
    if (to->n == before && nearest.hypothesis)
        to->of[to->n++] = nearest;
    return any;
}

static int try_all(const struct subject *s, struct arena *a, struct findings *to,
                   struct hypothesis_results *all, struct why *w)
{
    const bool large = subject_elements(s) > LARGE;
    const struct hypothesis *h;

    for (int i = 0; (h = hypothesis_at(i)); i++) {
        const int most = attempts_of(h), attempts = large && most > FEW ? FEW : most;
        const int tried = try_hypothesis(s, h, attempts, a, to, w);
        TRY(tried);
        all->of++;
        all->tried += tried;
        all->too_large += attempts < most;
    }
    return 0;
}

/* ---- similar cases */

/* Whether the device computes what the variant does; a variant that changes nothing computes the
 * right results. */
static int agrees(const struct subject *s, const struct hypothesis_result *f, struct arena *a,
                  struct why *w)
{
    struct hypothesis_result here;
    const int made = try_attempt(s, f->hypothesis, f->attempt, a, &here, w);

    TRY(made);
    return !made || !s->n_wrong ? !s->n_wrong && !here.contradicted : here.matches;
}

/* Whether two hypotheses are the best on the similar cases so far. */
static bool is_tied(const struct findings *all)
{
    const struct hypothesis_result *best = NULL;
    bool tied = false;

    for (int i = 0; i < all->n; i++) {
        const struct hypothesis_result *f = &all->of[i];
        if (!best || hypothesis_rank(f) > hypothesis_rank(best)) {
            best = f;
            tied = false;
        } else if (hypothesis_rank(f) == hypothesis_rank(best) &&
                   f->hypothesis != best->hypothesis) {
            tied = true;
        }
    }
    return tied;
}

static int try_similar(struct similar *similar, struct arena *a, struct findings *all,
                       struct why *w)
{
    struct subject s;
    int more;

    while ((more = similar_next(similar, &s, w)) > 0 ||
           (more == 0 && is_tied(all) && similar_add_more(similar))) {
        for (int i = 0; more && i < all->n; i++) {
            const int is = agrees(&s, &all->of[i], a, w);
            TRY(is);
            all->of[i].similar += (uint32_t) is;
            all->of[i].similar_wrong += is && s.n_wrong;
        }
    }
    return more;
}

/* ---- the result */

/* Leaves out those that only come near, where others match. */
static void keep_best(struct findings *all)
{
    int n = 0;
    bool any = false;

    for (int i = 0; i < all->n; i++)
        any = any || all->of[i].matches;
    for (int i = 0; i < all->n; i++)
        if (all->of[i].matches == any)
            all->of[n++] = all->of[i];
    all->n = n;
}

/* Sorts them, and leaves the best variant of each hypothesis. */
static void rank(struct findings *all)
{
    int n = 0;

    qsort(all->of, (size_t) all->n, sizeof *all->of, compare_results);
    for (int i = 0; i < all->n; i++) {
        bool again = false;
        for (int k = 0; k < n; k++)
            again = again || all->of[k].hypothesis == all->of[i].hypothesis;
        if (!again)
            all->of[n++] = all->of[i];
    }
    all->n = n;
}

static int try_in(struct arena *a, const struct subject *s, struct similar *similar,
                  struct findings *findings, struct hypothesis_results *ret, struct why *w)
{
    TRY(try_all(s, a, findings, ret, w));
    keep_best(findings);
    if (similar && findings->n)
        TRY(try_similar(similar, a, findings, w));
    rank(findings);
    return 0;
}

int hypotheses_try(const struct subject *s, struct similar *similar, struct hypothesis_results *ret,
                   struct why *w)
{
    struct hypothesis_results all = { 0 };
    struct findings findings = { 0 };
    const struct hypothesis *h;
    size_t most = 1;

    *ret = all;
    if (!s->n_wrong)
        return 0;
    for (int i = 0; (h = hypothesis_at(i)); i++)
        most += (size_t) attempts_of(h);
    findings.of = arena_alloc(s->arena, most, sizeof *findings.of);
    struct arena *a = arena_new(0);
    if (!a || !findings.of) {
        arena_free(a);
        return why_no_memory(w);
    }
    const int failed = try_in(a, s, similar, &findings, &all, w);
    arena_free(a);
    all.best = findings.of;
    all.n = findings.n;
    all.similar = similar ? similar->run : 0;
    all.similar_wrong = similar ? similar->wrong : 0;
    *ret = all;
    return failed;
}
