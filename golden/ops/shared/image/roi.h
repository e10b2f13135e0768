/* Regions of interest: what ROI_ALIGN and ROI_POOLING share.  A region is divided into a grid of
 * bins, each of which gives one output pixel.  Axis 0 is y, axis 1 is x. */
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
    REGION_SAMPLES_H, /* this and the next: ROI_ALIGN only */
    REGION_SAMPLES_W,
    REGION_ROLES
};
enum { REGION_TYPINGS = 4 };

extern const struct role region_in[REGION_ROLES];
extern const struct typing region_typings[REGION_TYPINGS];

/* One region, in pixels of its image. */
struct region {
    size_t image; /* index in the batch */
    struct near from[2], to[2];
};

int region_infer(struct call *c, struct why *w);

/* Reads region i.  WHY_EXECUTION: it ends before it begins, or exceeds its image. */
int region_read(const struct call *c, size_t i, struct region *ret_region, struct why *w);

/* Number of pixels of an image, and of bins of the output, along an axis. */
static inline size_t region_pixels(const struct call *c, int axis)
{
    return c->letter[axis == 0 ? 'H' : 'W'];
}

static inline size_t region_bins(const struct call *c, int axis)
{
    return c->out[0]->shape.dim[1 + axis];
}

/* bound() if the image indexes have errors: all outputs are undecided. */
void region_undecided(struct call *c);

bool region_draw(const struct call *c, int role, struct drawer *d, struct tensor *to);

#endif
