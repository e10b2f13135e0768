#include "sim/kernels/float/float_boxes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct float_box box_load(const float *from)
{
    return (struct float_box){ { from[0], from[1] }, { from[2], from[3] } };
}

void box_store(const struct float_box *b, float *to)
{
    memcpy(to, b->lower, sizeof b->lower);
    memcpy(to + 2, b->upper, sizeof b->upper);
}

bool box_is_valid(const struct float_box *b)
{
    return b->lower[0] <= b->upper[0] && b->lower[1] <= b->upper[1];
}

struct float_box box_regress(const float centre[2], const float size[2], const float delta[4])
{
    struct float_box b;

    for (int k = 0; k < 2; k++) {
        float middle = centre[k] + delta[k] * size[k], half = expf(delta[2 + k]) * size[k] / 2;
        b.lower[k] = middle - half;
        b.upper[k] = middle + half;
    }
    return b;
}

struct float_box box_clamp(struct float_box b, const float limit[2])
{
    for (int k = 0; k < 2; k++) {
        b.lower[k] = fminf(fmaxf(b.lower[k], 0), limit[k]);
        b.upper[k] = fminf(fmaxf(b.upper[k], 0), limit[k]);
    }
    return b;
}

static float area(const struct float_box *b)
{
    return (b->upper[0] - b->lower[0]) * (b->upper[1] - b->lower[1]);
}

/* Intersection over union. */
static float overlap_of(const struct float_box *a, const struct float_box *b)
{
    float common = 1;

    for (int k = 0; k < 2; k++)
        common *= fmaxf(fminf(a->upper[k], b->upper[k]) - fmaxf(a->lower[k], b->lower[k]), 0);
    return common > 0 ? common / (area(a) + area(b) - common) : 0;
}

/* The factor by which the overlap with a selected box lowers a score. */
static float score_factor(const struct suppression_rule *r, float overlap)
{
    if (r->kind == SUPPRESS_GAUSSIAN)
        return expf(-overlap * overlap / r->sigma);
    if (overlap < r->overlap)
        return 1;
    return r->kind == SUPPRESS_HARD ? 0 : 1 - overlap;
}

/* Lowers b's score by its overlap with a selected box; whether b remains a candidate. */
static bool survives(const struct suppression_rule *r, const struct scored_box *best,
                     struct scored_box *b)
{
    float factor = score_factor(r, overlap_of(best->box, b->box));

    b->score *= factor;
    return r->has_floor ? b->score >= r->floor : factor > 0 || r->kind != SUPPRESS_HARD;
}

static void best_to_front(struct scored_box *b, size_t n)
{
    size_t best = 0;

    for (size_t i = 1; i < n; i++)
        if (b[i].score > b[best].score)
            best = i;
    struct scored_box front = b[best];
    memmove(b + 1, b, best * sizeof *b);
    b[0] = front;
}

size_t boxes_suppress(const struct suppression_rule *r, struct scored_box *b, size_t n,
                      size_t limit)
{
    size_t taken = 0;

    while (taken < n && taken < limit) {
        best_to_front(b + taken, n - taken);
        size_t kept = taken + 1;
        for (size_t i = kept; i < n; i++)
            if (survives(r, &b[taken], &b[i]))
                b[kept++] = b[i];
        n = kept;
        taken++;
    }
    return taken;
}

size_t boxes_above_score(struct scored_box *b, size_t n, float score)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++)
        if (b[i].score > score)
            b[kept++] = b[i];
    return kept;
}

static int by_score(const void *a, const void *b)
{
    const struct scored_box *p = a, *q = b;

    if (p->score != q->score)
        return p->score > q->score ? -1 : 1;
    return p->index < q->index ? -1 : p->index > q->index;
}

static int by_group(const void *a, const void *b)
{
    const struct scored_box *p = a, *q = b;

    return p->group != q->group ? p->group < q->group ? -1 : 1 : by_score(a, b);
}

void boxes_sort(struct scored_box *b, size_t n)
{
    qsort(b, n, sizeof *b, by_score);
}

void boxes_sort_by_group(struct scored_box *b, size_t n)
{
    qsort(b, n, sizeof *b, by_group);
}
