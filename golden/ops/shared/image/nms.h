/* Greedy selection of boxes by score (non-maximum suppression).
 *
 * The candidate with the largest score is selected; the scores of the others fall with their
 * overlap with it; those that fall below the floor are dropped; and so on.  Of equal scores the
 * first candidate wins.  With bounds, a selection is undecided when an implementation's roundings
 * could make another one of it: an overlap near the threshold, a score near a limit, or two scores
 * near each other whose order matters to what is selected.  Where the order only matters to where
 * in the output they stand, the selection is decided and nms_spread() widens the bounds. */
#ifndef GOLDEN_NMS_H
#define GOLDEN_NMS_H

#include "golden/ops/shared/image/boxes.h"

/* What becomes of a score: HARD: nothing is left of it from the threshold on; LINEAR: times
 * 1 - overlap from the threshold on; GAUSSIAN: times exp(-overlap^2 / sigma). */
enum nms_kernel { NMS_HARD, NMS_LINEAR, NMS_GAUSSIAN, NMS_KERNELS };

struct nms {
    enum nms_kernel kernel;
    double threshold, sigma;
    /* Dropped are scores below it; -INFINITY: those of which HARD leaves nothing, no others. */
    double floor;
    double u; /* unit roundoff; 0: no bounds */
};

struct candidate {
    uint32_t index; /* the caller's; breaks ties */
    uint32_t group; /* the caller's: nms_sort() keeps groups apart */
    struct near score;
    const struct box *box;
};

/* A score that is no number is lower than all others. */
struct candidate nms_candidate(uint32_t index, uint32_t group, struct near score,
                               const struct box *box, const struct nms *rule);

/* Selects at most `limit` of c[0..n): they come first, in the order of selection.  Returns how
 * many. *undecided is set where it is, else left alone. */
size_t nms_select(const struct nms *rule, struct candidate *c, size_t n, size_t limit,
                  bool *undecided);

/* Keeps those with score over `threshold`, in order; returns how many. */
size_t nms_filter(struct candidate *c, size_t n, double threshold, const struct nms *rule,
                  bool *undecided);

/* By falling score, whatever their groups; and the first `limit` of them; returns how many. */
size_t nms_top(struct candidate *c, size_t n, size_t limit, const struct nms *rule,
               bool *undecided);

/* By group, then by falling score. */
void nms_sort(struct candidate *c, size_t n);

/* Places from .. to - 1 of an output, any of whose elements may stand in any of them. */
struct nms_span {
    size_t from, to;
};

/* For sorted candidates: the span of each place. */
void nms_spans(const struct candidate *c, size_t n, struct nms_span *ret_spans);

/* Widens the errors e of y, [n] rows of `width` values, to whatever may stand there. */
void nms_spread(const struct nms_span *spans, size_t n, size_t width, const double *y, double *e);

/* For records: a limit of which negative means none. */
static inline size_t nms_limit(int32_t limit)
{
    return limit < 0 ? SIZE_MAX : (size_t) limit;
}

#endif
