/* Regions of interest: what ROI_ALIGN and ROI_POOLING share.  A region is cut into a grid of bins,
 * and every bin gives one output.  Axis 0 is y, axis 1 is x. */
#ifndef GOLDEN_REGION_H
#define GOLDEN_REGION_H

#include "golden/judge/ball.h"

enum region_role {
    REGION_INPUT,
    REGION_ROI,
    REGION_BATCHES,
    REGION_OUT_H,
    REGION_OUT_W,
    REGION_STRIDE_H,
    REGION_STRIDE_W,
    REGION_LAYOUT,
    REGION_SAMPLES_H, /* ROI_ALIGN alone has these */
    REGION_SAMPLES_W,
    REGION_ROLES
};
enum { REGION_TYPINGS = 4 };

extern const struct role region_in[REGION_ROLES];
extern const struct typing region_typings[REGION_TYPINGS];

/* One box, in pixels of the image that it lies in. */
struct region {
    size_t image;
    struct near from[2], to[2];
};

int region_infer(struct call *c, struct why *w);

/* Region i; refused when it ends before it begins, or reaches out of its image. */
int region_read(const struct call *c, size_t i, struct region *ret_region, struct why *w);

/* Pixels of an image along an axis, bins of the output along it. */
static inline size_t region_pixels(const struct call *c, int axis)
{
    return c->letter[axis == 0 ? 'H' : 'W'];
}

static inline size_t region_bins(const struct call *c, int axis)
{
    return c->out[0]->shape.dim[1 + axis];
}

/* All bins of an output are undecided: which image they are cut from is. */
void region_undecided(struct call *c);

bool region_draw(const struct call *c, int role, struct drawer *d, struct tensor *to);

#endif
