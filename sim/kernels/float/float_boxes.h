/* Boxes in floats: decoding, overlap, and the greedy selection of the best. */
#ifndef SIM_FLOAT_BOXES_H
#define SIM_FLOAT_BOXES_H

#include "sim/kernels/float/floats.h"

struct float_box {
    float lower[2], upper[2];
};

/* Four numbers: lower corner, upper corner. */
struct float_box box_load(const float *from);
void box_store(const struct float_box *b, float *to);

/* Whether the corners are in order. */
bool box_in_order(const struct float_box *b);

/* Moves the centre by delta[0..1] sizes, scales the sizes by exp(delta[2..3]). */
struct float_box box_moved(const float centre[2], const float size[2], const float delta[4]);
struct float_box box_cut(struct float_box b, const float limit[2]);

/* A box that may be selected. */
struct bidder {
    uint32_t index, group;
    float score;
    const struct float_box *box;
};

enum suppression { SUPPRESS_HARD, SUPPRESS_LINEAR, SUPPRESS_GAUSSIAN };

/* From which overlap on a better box lowers the score of another, and below which score boxes are
 * dropped; without a floor those of which nothing is left. */
struct suppression_rule {
    enum suppression kind;
    float overlap, sigma, floor;
    bool has_floor;
};

/* Selects at most `limit`, best first; they come first.  Returns how many. */
size_t boxes_select(const struct suppression_rule *r, struct bidder *b, size_t n, size_t limit);
/* Those over the score, in order. */
size_t boxes_over(struct bidder *b, size_t n, float score);
/* By falling score; and by group, then by falling score. */
void boxes_sort(struct bidder *b, size_t n);
void boxes_sort_groups(struct bidder *b, size_t n);

#endif
