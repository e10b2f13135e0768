/* Boxes of the detection kernels, in floats: decoding, intersection over union, and greedy
 * non-maximum suppression. */
#ifndef SIM_FLOAT_BOXES_H
#define SIM_FLOAT_BOXES_H

#include "sim/kernels/float/float_operands.h"

/* Corners; the order of the two axes is the operation's. */
struct float_box {
    float lower[2], upper[2];
};

/* From and to four numbers: lower corner, upper corner. */
struct float_box box_load(const float *from);
void box_store(const struct float_box *b, float *to);

/* Whether lower <= upper on both axes. */
bool box_is_valid(const struct float_box *b);

/* Box regression: the centre moves by delta[0..1] * size, the size is scaled by exp(delta[2..3]).
 */
struct float_box box_regress(const float centre[2], const float size[2], const float delta[4]);
/* Clips the corners to [0, limit]. */
struct float_box box_clamp(struct float_box b, const float limit[2]);

/* A scored candidate; index and group (class or image) are the caller's, and order equal scores. */
struct scored_box {
    uint32_t index, group;
    float score;
    const struct float_box *box;
};

enum suppression { SUPPRESS_HARD, SUPPRESS_LINEAR, SUPPRESS_GAUSSIAN };

/* How a selected box lowers the scores of the others, by their intersection over union (IoU):
 * HARD to 0 where IoU >= overlap, LINEAR by 1 - IoU there, GAUSSIAN by exp(-IoU^2 / sigma). */
struct suppression_rule {
    enum suppression kind;
    float overlap, sigma;
    float floor;    /* boxes with a lower score are dropped ... */
    bool has_floor; /* ... if set; else those that HARD sets to 0 */
};

/* Non-maximum suppression of b[0..n): moves the selected boxes to the front, best first, and
 * returns their number, at most `limit`.  Overwrites the rest. */
size_t boxes_suppress(const struct suppression_rule *r, struct scored_box *b, size_t n,
                      size_t limit);
/* Moves the boxes with a score above `score` to the front, in order; returns their number. */
size_t boxes_above_score(struct scored_box *b, size_t n, float score);
/* Sorts by descending score, equal ones by index; the second by group first. */
void boxes_sort(struct scored_box *b, size_t n);
void boxes_sort_by_group(struct scored_box *b, size_t n);

#endif
