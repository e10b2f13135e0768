#include <string.h>

#include "golden/ops/shared/image/boxes.h"

enum { ROI, DELTAS, BATCHES, IMAGES };

static const struct role inputs[] = {
    [ROI] = { "roi", "the boxes: x1, y1, x2, y2", "N4", .slot = 0, .draw = DRAW_OP, .q = Q_FIXED,
              .qscale = 0.125 },
    [DELTAS] = { "deltas", "for each box and class dx, dy, dw, dh", "N?", .slot = 1,
                 .draw = DRAW_SHAPE, .needs = NEEDS_SMALL },
    [BATCHES] = { "batches", "index of the image that each box lies in", "N", .slot = FIXED(DT_I32),
                  .draw = DRAW_OP },
    [IMAGES] = { "image_info", "height and width of each image", "B2", .slot = 0, .draw = DRAW_OP,
                 .q = Q_FIXED, .qscale = 0.125 },
};

static const struct role outputs[] = {
    { "output", "the transformed boxes, clipped to their images", "N?", .slot = 0, .q = Q_FIXED,
      .qscale = 0.125 },
};

static const struct form forms[] = {
    { "", { ROI, DELTAS, BATCHES, IMAGES, END } },
};

static const struct typing typings[] = {
    /* since, ranks, boxes, deltas */
    { L3, RANK(2), { DT_F16, DT_F16 } },
    { L3, RANK(2), { DT_F32, DT_F32 } },
    { L3, RANK(2), { DT_Q16A, DT_U8 } },
    { L3, RANK(2), { DT_Q16A, DT_S8 } },
};

static int infer(struct call *c, struct why *w)
{
    uint32_t length = c->in[DELTAS]->shape.dim[1];

    REQUIRE(w, length > 0 && length % 4 == 0, "%s: deltas of length %u, must be 4 per class",
            c->op->name, length);
    c->out[0]->shape.dim[1] = length;
    return 0;
}

/* The image that box i lies in: its width and height. */
static int image_of(const struct call *c, size_t i, struct ball ret_limit[2], struct why *w)
{
    double batch = c->x[BATCHES][i];

    if (!(batch >= 0 && batch < c->letter['B']))
        return why_fail(w, WHY_EXECUTION, "%s: box %zu has image index %g of %u images",
                        c->op->name, i, batch, c->letter['B']);
    ret_limit[0] = ball_operand(c, IMAGES, 2 * (size_t) batch + 1);
    ret_limit[1] = ball_operand(c, IMAGES, 2 * (size_t) batch);
    return 0;
}

/* y: the values; NULL: their errors go to e. */
static int transform(struct call *c, double *y, double *e, struct why *w)
{
    size_t classes = c->in[DELTAS]->shape.dim[1] / 4;

    for (size_t i = 0; i < c->letter['N']; i++) {
        struct ball limit[2], delta[4];
        struct box roi = box_read(c, ROI, 4 * i);
        TRY(image_of(c, i, limit, w));
        if (!box_valid(&roi))
            return why_fail(w, WHY_EXECUTION, "%s: box %zu: x2 < x1 or y2 < y1", c->op->name, i);
        struct box_centre centre = box_centre(&roi, c->unit);
        for (size_t k = 0; k < classes; k++) {
            size_t at = 4 * (i * classes + k);
            for (size_t d = 0; d < 4; d++)
                delta[d] = ball_operand(c, DELTAS, at + d);
            struct box box = box_decode(&centre, delta, c->unit);
            box = box_clip(&box, limit);
            box_write(&box, y ? y + at : NULL, y ? NULL : e + at);
        }
    }
    return 0;
}

static int eval(struct call *c, struct why *w)
{
    return transform(c, c->y[0], NULL, w);
}

static int bound(struct call *c, struct why *w)
{
    size_t n = tensor_count(c->out[0]);

    for (size_t i = 0; i < n && c->ex[BATCHES]; i++)
        c->ey[0][i] = INFINITY; /* the image to which the box belongs is uncertain */
    return c->ex[BATCHES] ? 0 : transform(c, NULL, c->ey[0], w);
}

enum { MOST_BOXES = 12, MOST_IMAGES = 3, LARGEST = 60 };

static bool draw(const struct call *c, int role, struct drawer *d, struct tensor *to)
{
    int32_t *x = to->data;

    if (role == DELTAS) {
        to->shape = (struct shape){ 2, { c->letter['N'], 4 * d->size(d, 3) } };
        return true;
    }
    if (role == ROI) {
        uint32_t n = 1 + d->below(d, MOST_BOXES);
        to->shape = (struct shape){ 2, { n, 4 } };
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t k = 0; k < 2; k++) {
                x[4 * i + k] = (int32_t) d->below(d, LARGEST);
                x[4 * i + 2 + k] = x[4 * i + k] + (int32_t) d->below(d, LARGEST);
            }
        return true;
    }
    if (role == BATCHES) {
        to->shape = (struct shape){ 1, { c->letter['N'] } };
        for (uint32_t i = 0; i < c->letter['N']; i++)
            x[i] = (int32_t) (i * MOST_IMAGES / c->letter['N']);
        return true;
    }
    to->shape = (struct shape){ 2, { MOST_IMAGES, 2 } };
    for (uint32_t i = 0; i < 2 * MOST_IMAGES; i++)
        x[i] = LARGEST / 2 + (int32_t) d->below(d, 2 * LARGEST);
    return true;
}

const struct op op_AXIS_ALIGNED_BBOX_TRANSFORM = {
    .code = OP_AXIS_ALIGNED_BBOX_TRANSFORM,
    .name = "AXIS_ALIGNED_BBOX_TRANSFORM",
    .summary = "Moves and scales boxes by predicted deltas, and clips them to their images.",
    .formula = "centre' = centre + (dx, dy) * size; size' = exp((dw, dh)) * size; "
               "output = clip(centre' -+ size' / 2, 0, image)",
    .since = L3,
    .in = inputs,
    .n_in = COUNT(inputs),
    .out = outputs,
    .n_out = COUNT(outputs),
    .forms = forms,
    .n_forms = COUNT(forms),
    .typings = typings,
    .n_typings = COUNT(typings),
    .takes_empty = ROLE_BIT(ROI) | ROLE_BIT(DELTAS) | ROLE_BIT(BATCHES),
    .fails_above = ROLE_BIT(BATCHES),
    .fails_below = ROLE_BIT(BATCHES),
    .error = { ERROR_ELEMENT, .ulps = 1,
               .text = "errors of the operands and of each step, propagated to first order" },
    .infer = infer,
    .eval = eval,
    .bound = bound,
    .draw = draw,
};
