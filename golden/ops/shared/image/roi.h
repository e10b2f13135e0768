/* Regions of interest: what ROI_ALIGN and ROI_POOLING share.  A region is divided into a grid of
 * bins, each of which gives one output pixel.  Axis 0 is y, axis 1 is x. */
#ifndef GOLDEN_ROI_H
#define GOLDEN_ROI_H

#include "golden/judge/ball.h"

enum roi_role {
    ROI_INPUT,
    ROI_BOXES,
    ROI_BATCHES,
    ROI_OUT_H,
    ROI_OUT_W,
    ROI_STRIDE_H,
    ROI_STRIDE_W,
    ROI_LAYOUT,
    ROI_SAMPLES_H, /* this and the next: ROI_ALIGN only */
    ROI_SAMPLES_W,
    ROI_ROLES
};
enum { ROI_TYPINGS = 4 };

extern const struct role roi_in[ROI_ROLES];
extern const struct typing roi_typings[ROI_TYPINGS];

/* One region, in pixels of its image. */
struct region {
    size_t image; /* index in the batch */
    struct ball from[2], to[2];
};

int roi_infer(struct call *c, struct why *w);

/* Reads region i.  WHY_EXECUTION: it ends before it begins, or exceeds its image. */
int roi_read(const struct call *c, size_t i, struct region *ret_region, struct why *w);

/* Number of pixels of an image, and of bins of the output, along an axis. */
static inline size_t roi_pixels(const struct call *c, int axis)
{
    return c->letter[axis == 0 ? 'H' : 'W'];
}

static inline size_t roi_bins(const struct call *c, int axis)
{
    return c->out[0]->shape.dim[1 + axis];
}

/* bound() if the image indexes have errors: all outputs are undecided. */
void roi_undecided(struct call *c);

bool roi_draw(const struct call *c, int role, struct drawer *d, struct tensor *to);

#endif
