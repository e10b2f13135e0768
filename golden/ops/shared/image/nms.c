#include "golden/ops/shared/image/nms.h"

#include <stdlib.h>
#include <string.h>

struct candidate nms_candidate(uint32_t index, uint32_t group, struct ball score,
                               const struct box *box, const struct nms *rule)
{
    if (isnan(score.x))
        score = (struct ball){ -INFINITY, rule->u > 0 ? INFINITY : 0 };
    return (struct candidate){ index, group, score, box };
}

static void check(const struct nms *rule, bool decided, bool *undecided)
{
    if (rule->u > 0 && !decided)
        *undecided = true;
}

static bool over(const struct nms *rule, struct ball a, double limit, bool *undecided)
{
    check(rule, ball_decided(a, ball_exact(limit)), undecided);
    return a.x > limit;
}

size_t nms_filter(struct candidate *c, size_t n, double threshold, const struct nms *rule,
                  bool *undecided)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++)
        if (over(rule, c[i].score, threshold, undecided))
            c[kept++] = c[i];
    return kept;
}

/* The factor by which an overlap lowers the score. */
static struct ball kernel(const struct nms *rule, struct ball overlap, bool *undecided)
{
    if (rule->kernel == NMS_GAUSSIAN) {
        if (overlap.x == 0 && overlap.e == 0)
            return ball_exact(1);
        struct ball square = ball_product(overlap, overlap, rule->u);
        square.x = -square.x;
        return ball_exp(ball_quotient(square, ball_exact(rule->sigma), rule->u), rule->u);
    }
    check(rule, ball_decided(overlap, ball_exact(rule->threshold)), undecided);
    if (!(overlap.x >= rule->threshold))
        return ball_exact(1);
    return rule->kernel == NMS_HARD ? ball_exact(0)
                                    : ball_difference(ball_exact(1), overlap, rule->u);
}

/* Lowers the score of c for its overlap with the selected one; false: it is dropped.  The order of
 * the two matters if one lowers the other's score or would drop it: a selected candidate is not
 * compared with the floor. */
static bool survives(const struct nms *rule, const struct candidate *selected, struct candidate *c,
                     bool *undecided)
{
    struct ball by = kernel(rule, box_overlap(selected->box, c->box, rule->u), undecided);
    bool ordered = ball_decided(selected->score, c->score), lowers = by.x != 1 || by.e != 0;

    if (lowers)
        c->score = ball_product(c->score, by, rule->u);
    bool kept;
    if (rule->floor == -INFINITY)
        kept = by.x > 0 || rule->kernel != NMS_HARD;
    else
        kept = over(rule, c->score, rule->floor, undecided) || c->score.x == rule->floor;
    check(rule, ordered || (!lowers && kept), undecided);
    if (!ordered) /* an implementation may select c first */
        over(rule, selected->score, rule->floor, undecided);
    return kept;
}

/* The candidates left out must be surely lower than all that are taken. */
static void check_cut(const struct candidate *c, size_t n, size_t taken, const struct nms *rule,
                      bool *undecided)
{
    double least = INFINITY;

    for (size_t i = 0; i < taken; i++)
        least = fmin(least, c[i].score.x - c[i].score.e);
    for (size_t i = taken; i < n && taken; i++)
        check(rule, c[i].score.x + c[i].score.e < least, undecided);
}

size_t nms_select(const struct nms *rule, struct candidate *c, size_t n, size_t limit,
                  bool *undecided)
{
    size_t taken = 0;

    while (taken < n && taken < limit) {
        size_t best = taken, kept = taken + 1;
        for (size_t i = taken + 1; i < n; i++)
            if (c[i].score.x > c[best].score.x)
                best = i;
        struct candidate selected = c[best];
        memmove(&c[taken + 1], &c[taken], (best - taken) * sizeof *c);
        c[taken] = selected;
        for (size_t i = taken + 1; i < n; i++)
            if (survives(rule, &c[taken], &c[i], undecided))
                c[kept++] = c[i];
        n = kept;
        taken++;
    }
    check_cut(c, n, taken, rule, undecided);
    return taken;
}

static int by_score(const void *a, const void *b)
{
    const struct candidate *p = a, *q = b;

    if (p->score.x != q->score.x)
        return p->score.x > q->score.x ? -1 : 1;
    return p->index < q->index ? -1 : p->index > q->index;
}

static int by_group(const void *a, const void *b)
{
    const struct candidate *p = a, *q = b;

    if (p->group != q->group)
        return p->group < q->group ? -1 : 1;
    return by_score(a, b);
}

size_t nms_top(struct candidate *c, size_t n, size_t limit, const struct nms *rule, bool *undecided)
{
    qsort(c, n, sizeof *c, by_score);
    if (n <= limit)
        return n;
    check_cut(c, n, limit, rule, undecided);
    return limit;
}

void nms_sort(struct candidate *c, size_t n)
{
    qsort(c, n, sizeof *c, by_group);
}

/* The end of the span that begins at `from`: the first position at which all scores before, from
 * `from` on, are surely higher than all scores of the group after. */
static size_t span_end(const struct candidate *c, size_t n, size_t from)
{
    size_t end = from;
    double least = INFINITY;

    for (size_t i = from; i < n && c[i].group == c[from].group; i++)
        if (i == from || c[i].score.x + c[i].score.e >= least)
            for (; end <= i; end++)
                least = fmin(least, c[end].score.x - c[end].score.e);
    return end;
}

void nms_spans(const struct candidate *c, size_t n, struct nms_span *ret_spans)
{
    for (size_t from = 0, to; from < n; from = to) {
        to = span_end(c, n, from);
        for (size_t i = from; i < to; i++)
            ret_spans[i] = (struct nms_span){ from, to };
    }
}

static void spread_column(const struct nms_span *s, size_t width, const double *y, double *e)
{
    double lo = INFINITY, hi = -INFINITY;

    for (size_t i = s->from; i < s->to; i++) {
        lo = fmin(lo, y[i * width] - e[i * width]);
        hi = fmax(hi, y[i * width] + e[i * width]);
    }
    for (size_t i = s->from; i < s->to; i++)
        e[i * width] = bound_interval(y[i * width], lo, hi);
}

void nms_widen_bounds(const struct nms_span *spans, size_t n, size_t width, const double *y,
                      double *e)
{
    for (size_t i = 0; i < n; i = spans[i].to)
        for (size_t k = 0; k < width; k++)
            if (spans[i].to - spans[i].from > 1)
                spread_column(&spans[i], width, y + k, e + k);
}
