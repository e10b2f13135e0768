/* Non-maximum suppression: greedy selection of boxes by score.
 *
 * The candidate with the largest score is selected; the scores of the others are lowered according
 * to their overlap with it; those that fall below the floor are dropped; and so on.  Of equal
 * scores the first candidate is selected.  With bounds, a selection is undecided if an
 * implementation's roundings could change it: an overlap close to the threshold, a score close to a
 * limit, or two close scores whose order affects what is selected.  If only the order of selected
 * boxes in the output is uncertain, the selection is decided and nms_widen_bounds() widens the
 * bounds. */
#ifndef GOLDEN_NMS_H
#define GOLDEN_NMS_H

#include "golden/ops/shared/image/boxes.h"

/* How an overlap lowers a score.  HARD: the candidate is dropped if overlap >= threshold.  LINEAR:
 * score * (1 - overlap) if overlap >= threshold.  GAUSSIAN: score * exp(-overlap^2 / sigma). */
enum nms_kernel { NMS_HARD, NMS_LINEAR, NMS_GAUSSIAN, NMS_KERNELS };

struct nms {
    enum nms_kernel kernel;
    double threshold, sigma;
    /* Candidates with lower scores are dropped; -INFINITY: only those that HARD drops. */
    double floor;
    double u; /* unit roundoff; 0: no bounds */
};

struct candidate {
    uint32_t index; /* set by the caller; the lower one comes first where scores are equal */
    uint32_t group; /* set by the caller; the first sort key of nms_sort() */
    struct ball score;
    const struct box *box;
};

/* A NaN score ranks below all others. */
struct candidate nms_candidate(uint32_t index, uint32_t group, struct ball score,
                               const struct box *box, const struct nms *rule);

/* Selects at most `limit` of c[0..n-1] and moves them to the front, in the order of selection.
 * Returns their number.  Here and below, *undecided is set to true if the selection is undecided,
 * otherwise left unchanged. */
size_t nms_select(const struct nms *rule, struct candidate *c, size_t n, size_t limit,
                  bool *undecided);

/* Keeps the candidates with score > `threshold`, in order; returns their number. */
size_t nms_filter(struct candidate *c, size_t n, double threshold, const struct nms *rule,
                  bool *undecided);

/* Sorts by descending score, regardless of groups, and keeps the first `limit`; returns their
 * number. */
size_t nms_top(struct candidate *c, size_t n, size_t limit, const struct nms *rule,
               bool *undecided);

/* Sorts by group, then by descending score. */
void nms_sort(struct candidate *c, size_t n);

/* Positions from..to-1 of an output whose elements may be in any order. */
struct nms_span {
    size_t from, to;
};

/* For candidates sorted by nms_sort(): the span of each position. */
void nms_spans(const struct candidate *c, size_t n, struct nms_span *ret_spans);

/* Widens the errors e of y, n rows of `width` values, to include every row of a position's span. */
void nms_widen_bounds(const struct nms_span *spans, size_t n, size_t width, const double *y,
                      double *e);

/* For records: a limit operand, where a negative value means no limit. */
static inline size_t nms_limit(int32_t limit)
{
    return limit < 0 ? SIZE_MAX : (size_t) limit;
}

#endif
