#include "golden/ops/shared/image/roi.h"

#define I32 FIXED(DT_INT32)

const struct role roi_in[ROI_ROLES] = {
    [ROI_INPUT] = { "input", "the images", "NHWC", .slot = 0, .image = true },
    [ROI_BOXES] = { "roi", "the boxes: x1, y1, x2, y2, in pixels times stride", "M4", .slot = 1,
                    .draw = DRAW_OP, .q = Q_FIXED, .qscale = 0.125 },
    [ROI_BATCHES] = { "batches", "index of each box's image in the batch", "M",
                      .slot = FIXED(DT_I32), .draw = DRAW_OP },
    [ROI_OUT_H] = { "output_height", "rows of bins", .slot = I32, .draw = DRAW_MULTIPLIER },
    [ROI_OUT_W] = { "output_width", "columns of bins", .slot = I32, .draw = DRAW_MULTIPLIER },
    [ROI_STRIDE_H] = { "stride_height", "height of a pixel in units of the boxes", .slot = 2,
                       .draw = DRAW_OP },
    [ROI_STRIDE_W] = { "stride_width", "width of a pixel in units of the boxes", .slot = 2,
                       .draw = DRAW_OP },
    [ROI_LAYOUT] = { "nchw", "true: input and output are NCHW", .slot = FIXED(DT_BOOL),
                     .draw = DRAW_FLAG },
    [ROI_SAMPLES_H] = { "sampling_ratio_height",
                        "rows of samples per bin; 0: height of the bin in pixels, rounded up",
                        .slot = I32, .draw = DRAW_OP },
    [ROI_SAMPLES_W] = { "sampling_ratio_width",
                        "columns of samples per bin; 0: width of the bin in pixels, rounded up",
                        .slot = I32, .draw = DRAW_OP },
};

const struct typing roi_typings[ROI_TYPINGS] = {
    /* since, ranks, images, boxes, strides */
    { L3, RANK(4), { DT_F16, DT_F16, DT_FLOAT16 } },
    { L3, RANK(4), { DT_F32, DT_F32, DT_FLOAT32 } },
    { L3, RANK(4), { DT_U8, DT_Q16A, DT_FLOAT32 } },
    { L4, RANK(4), { DT_S8, DT_Q16A, DT_FLOAT32 } },
};

static int infer_bins(struct call *c, int role, uint32_t *ret_dim, struct why *w)
{
    if (!call_known(c, role))
        return 0;
    REQUIRE(w, call_int(c, role) > 0, "%s: %s is %d, must be positive", c->op->name,
            c->op->in[role].name, call_int(c, role));
    *ret_dim = (uint32_t) call_int(c, role);
    return 0;
}

static int check_stride(struct call *c, int role, struct why *w)
{
    if (call_known(c, role))
        REQUIRE(w, call_real(c, role) > 0, "%s: %s is %g, must be positive", c->op->name,
                c->op->in[role].name, call_real(c, role));
    return 0;
}

int roi_infer(struct call *c, struct why *w)
{
    TRY(infer_bins(c, ROI_OUT_H, &c->out[0]->shape.dim[1], w));
    TRY(infer_bins(c, ROI_OUT_W, &c->out[0]->shape.dim[2], w));
    TRY(check_stride(c, ROI_STRIDE_H, w));
    return check_stride(c, ROI_STRIDE_W, w);
}

int roi_read(const struct call *c, size_t i, struct region *ret_region, struct why *w)
{
    static const int stride[] = { ROI_STRIDE_H, ROI_STRIDE_W };
    double batch = c->x[ROI_BATCHES][i];
    struct region r;

    if (!(batch >= 0 && batch < c->letter['N']))
        return why_fail(w, WHY_EXECUTION, "%s: box %zu refers to image %g of a batch of %u",
                        c->op->name, i, batch, c->letter['N']);
    r.image = (size_t) batch;
    for (int k = 0; k < 2; k++) {
        struct ball unit = ball_exact(call_real(c, stride[k]));
        double pixels = (double) roi_pixels(c, k);
        /* implementations multiply by the reciprocal of the stride: two roundings */
        r.from[k] =
            ball_quotient(ball_operand(c, ROI_BOXES, 4 * i + 1 - (size_t) k), unit, 2 * c->unit);
        r.to[k] =
            ball_quotient(ball_operand(c, ROI_BOXES, 4 * i + 3 - (size_t) k), unit, 2 * c->unit);
        if (!(r.from[k].x >= 0 && r.from[k].x <= r.to[k].x && r.to[k].x <= pixels && pixels > 0))
            return why_fail(w, WHY_EXECUTION,
                            "%s: box %zu spans %g to %g, must be within 0 to %g pixels",
                            c->op->name, i, r.from[k].x, r.to[k].x, pixels);
    }
    *ret_region = r;
    return 0;
}

void roi_undecided(struct call *c)
{
    size_t n = tensor_count(c->out[0]);

    for (size_t i = 0; i < n; i++)
        c->ey[0][i] = INFINITY;
}

enum { MAX_DRAWN_REGIONS = 6, MAX_DRAWN_STRIDES = 3 };

static void draw_boxes(const struct call *c, struct drawer *d, uint32_t n, int32_t *x)
{
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < 2; k++) {
            uint32_t room = MAX_DRAWN_STRIDES * c->letter[k == 0 ? 'W' : 'H'];
            uint32_t from = d->below(d, room), length = 1 + d->below(d, room - from);
            uint32_t border = d->below(d, 8); /* from one to the other, or no area */
            from = border == 0 ? 0 : from;
            length = border <= 1 ? room - from : border == 2 ? 0 : length;
            x[4 * i + k] = (int32_t) from;
            x[4 * i + 2 + k] = (int32_t) (from + length);
        }
}

/* Draws a stride with which every box lies in the image. */
static bool draw_stride(const struct call *c, int axis, struct drawer *d, int32_t *x)
{
    const struct tensor *roi = c->in[ROI_BOXES];
    size_t n = tensor_count(roi);
    double most = 0, pixels = (double) roi_pixels(c, axis);

    if (!roi->data || !(pixels > 0))
        return false;
    for (size_t i = 0; i < n; i += 4)
        most = fmax(most, tensor_at(roi, i + 3 - (size_t) axis));
    x[0] = (int32_t) fmax(ceil(most / pixels), 1) + (int32_t) d->below(d, 2);
    return true;
}

bool roi_draw(const struct call *c, int role, struct drawer *d, struct tensor *to)
{
    int32_t *x = to->data;

    switch (role) {
    case ROI_BOXES:
        to->shape = (struct shape){ 2, { 1 + d->below(d, MAX_DRAWN_REGIONS), 4 } };
        draw_boxes(c, d, to->shape.dim[0], x);
        return true;
    case ROI_BATCHES:
        to->shape = (struct shape){ 1, { c->letter['M'] } };
        for (uint32_t i = 0; i < c->letter['M']; i++)
            x[i] = (int32_t) (i * c->letter['N'] / c->letter['M']);
        return true;
    case ROI_STRIDE_H: return draw_stride(c, 0, d, x);
    case ROI_STRIDE_W: return draw_stride(c, 1, d, x);
    default: x[0] = (int32_t) d->below(d, 4); return true;
    }
}
