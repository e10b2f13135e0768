#include <string.h>

#include "golden/base/arena.h"
#include "golden/ops/shared/image/nms.h"

enum {
    SCORES,
    DELTAS,
    ANCHORS,
    IMAGES,
    STRIDE_H,
    STRIDE_W,
    BEFORE,
    AFTER,
    OVERLAP,
    LEAST_SIZE,
    LAYOUT
};
enum { OUT_SCORES, OUT_ROI, OUT_BATCHES };

static const struct role inputs[] = {
    [SCORES] = { "scores", "of each anchor at each position", "NHWA", .slot = 0, .image = true,
                 .draw = DRAW_SHAPE },
    [DELTAS] = { "deltas", "dx, dy, dw, dh for each anchor at each position", "NHW?", .slot = 0,
                 .image = true, .draw = DRAW_SHAPE, .needs = NEEDS_SMALL },
    [ANCHORS] = { "anchors", "x1, y1, x2, y2 at position 0, 0", "A4", .slot = 1, .draw = DRAW_OP,
                  .q = Q_FIXED, .qscale = 0.125, .qzero = 32768 },
    [IMAGES] = { "image_info", "height and width of each image", "N2", .slot = 2, .draw = DRAW_OP,
                 .q = Q_FIXED, .qscale = 0.125 },
    [STRIDE_H] = { "stride_height", "distance in the image between rows of positions", .slot = 3,
                   .draw = DRAW_OP },
    [STRIDE_W] = { "stride_width", "distance in the image between columns of positions", .slot = 3,
                   .draw = DRAW_OP },
    [BEFORE] = { "pre_nms_max",
                 "number of best boxes of an image that are considered; 0 or less: all",
                 .slot = FIXED(DT_INT32), .draw = DRAW_OP },
    [AFTER] = { "post_nms_max", "largest number of boxes selected per image; 0 or less: unlimited",
                .slot = FIXED(DT_INT32), .draw = DRAW_OP },
    [OVERLAP] = { "iou_threshold", "IoU from which a box with a better score suppresses another",
                  .slot = 3, .draw = DRAW_POSITIVE },
    [LEAST_SIZE] = { "min_size", "width and height that a box must exceed", .slot = 3,
                     .draw = DRAW_POSITIVE, .qscale = 15.3 },
    [LAYOUT] = { "nchw", "true: scores and deltas are NCHW", .slot = FIXED(DT_BOOL),
                 .draw = DRAW_FLAG },
};

static const struct role outputs[] = {
    [OUT_SCORES] = { "scores", "sorted by image and decreasing score", "M", .slot = 0,
                     .q = Q_SAME },
    [OUT_ROI] = { "roi", "the boxes, clipped to their images: x1, y1, x2, y2", "M4", .slot = 2,
                  .q = Q_FIXED, .qscale = 0.125 },
    [OUT_BATCHES] = { "batches", "index of each box's image", "M", .slot = FIXED(DT_I32) },
};

static const struct form forms[] = {
    { "",
      { SCORES, DELTAS, ANCHORS, IMAGES, STRIDE_H, STRIDE_W, BEFORE, AFTER, OVERLAP, LEAST_SIZE,
        LAYOUT, END } },
};

static const struct typing typings[] = {
    /* since, ranks, scores and deltas, anchors, image sizes and boxes, scalars */
    { L3, RANK(4), { DT_F16, DT_F16, DT_F16, DT_FLOAT16 } },
    { L3, RANK(4), { DT_F32, DT_F32, DT_F32, DT_FLOAT32 } },
    { L3, RANK(4), { DT_U8, DT_Q16S, DT_Q16A, DT_FLOAT32 } },
    { L4, RANK(4), { DT_S8, DT_Q16S, DT_Q16A, DT_FLOAT32 } },
};

static int infer(struct call *c, struct why *w)
{
    uint32_t length = c->in[DELTAS]->shape.dim[3];

    REQUIRE(w, length == 4 * (uint64_t) c->letter['A'], "%s: deltas of length %u for %u anchors",
            c->op->name, length, c->letter['A']);
    return 0;
}

/* The selected candidates; their group is the image. */
struct selection {
    struct nms rule;
    struct box *box; /* of each score */
    struct candidate *c;
    size_t n;
};

/* Anchor a, translated to row y and column x. */
static struct box anchor_at(const struct call *c, size_t y, size_t x, size_t a)
{
    struct box b = box_read(c, ANCHORS, 4 * a);
    struct ball shift[2] = {
        ball_product(ball_exact((double) x), ball_exact(call_real(c, STRIDE_W)), c->unit),
        ball_product(ball_exact((double) y), ball_exact(call_real(c, STRIDE_H)), c->unit),
    };

    for (int k = 0; k < 2; k++) {
        b.lower[k] = ball_sum(b.lower[k], shift[k], c->unit);
        b.upper[k] = ball_sum(b.upper[k], shift[k], c->unit);
    }
    return b;
}

/* Box `at` of an image, counted by position, then anchor; clipped to the image. */
static struct box decode(const struct call *c, size_t image, size_t at, const struct ball limit[2])
{
    size_t anchors = c->letter['A'], width = c->letter['W'];
    size_t all = c->letter['H'] * width * anchors, place = at / anchors;
    struct box anchor = anchor_at(c, place / width, place % width, at % anchors);
    struct box_centre centre = box_centre(&anchor, c->unit);
    struct ball delta[4];

    for (size_t d = 0; d < 4; d++)
        delta[d] = ball_operand(c, DELTAS, 4 * (image * all + at) + d);
    struct box b = box_decode(&centre, delta, c->unit);
    return box_clip(&b, limit);
}

/* Whether the box is large enough and has its centre in the image. */
static bool is_proposal(struct call *c, const struct box *b, const struct ball limit[2])
{
    struct ball least = ball_exact(call_real(c, LEAST_SIZE));
    struct box_centre centre = box_centre(b, c->unit);
    bool in = true, decided = true;

    for (int k = 0; k < 2; k++) {
        bool large = centre.size[k].x > least.x, inside = centre.centre[k].x < limit[k].x;
        bool large_decided = ball_decided(centre.size[k], least);
        bool inside_decided = ball_decided(centre.centre[k], limit[k]);
        if ((!large && large_decided) || (!inside && inside_decided))
            return false;
        in = in && large && inside;
        decided = decided && large_decided && inside_decided;
    }
    if (c->unit > 0 && !decided)
        c->undecided = true;
    return in;
}

static size_t limit_of(const struct call *c, int role)
{
    int32_t limit = call_int(c, role);

    return nms_limit(limit > 0 ? limit : -1);
}

static void select_image(struct call *c, size_t image, struct selection *s)
{
    size_t n = (size_t) c->letter['H'] * c->letter['W'] * c->letter['A'], kept = 0;
    struct candidate *add = s->c + s->n;
    struct ball limit[2] = { ball_operand(c, IMAGES, 2 * image + 1),
                             ball_operand(c, IMAGES, 2 * image) };

    for (size_t i = 0; i < n; i++) {
        size_t at = image * n + i;
        s->box[at] = decode(c, image, i, limit);
        add[i] = nms_candidate((uint32_t) at, (uint32_t) image, ball_operand(c, SCORES, at),
                               &s->box[at], &s->rule);
    }
    if (n > limit_of(c, BEFORE))
        n = nms_top(add, n, limit_of(c, BEFORE), &s->rule, &c->undecided);
    for (size_t i = 0; i < n; i++)
        if (is_proposal(c, add[i].box, limit))
            add[kept++] = add[i];
    s->n += nms_select(&s->rule, add, kept, limit_of(c, AFTER), &c->undecided);
}

static int check_anchors(const struct call *c, struct why *w)
{
    for (size_t a = 0; a < c->letter['A']; a++) {
        struct box b = box_read(c, ANCHORS, 4 * a);
        if (!box_valid(&b))
            return why_fail(w, WHY_EXECUTION, "%s: anchor %zu: x2 < x1 or y2 < y1", c->op->name, a);
    }
    return 0;
}

static int measure(struct call *c, struct why *w)
{
    size_t n = tensor_count(c->in[SCORES]);
    struct selection *s = arena_alloc(c->scratch, 1, sizeof *s);

    if (s) {
        s->box = arena_alloc_raw(c->scratch, n + 1, sizeof *s->box);
        s->c = arena_alloc_raw(c->scratch, n + 1, sizeof *s->c);
    }
    if (!s || !s->box || !s->c)
        return why_no_memory_for(w, "%s: %zu boxes", c->op->name, n);
    s->rule = (struct nms){ NMS_HARD, call_real(c, OVERLAP), 0, -INFINITY, c->unit };
    TRY(check_anchors(c, w));
    for (size_t image = 0; image < c->letter['N']; image++)
        select_image(c, image, s);
    for (uint32_t i = 0; i < c->n_out; i++)
        c->out[i]->shape.dim[0] = (uint32_t) s->n;
    c->kept = s;
    return 0;
}

static int eval(struct call *c, struct why *w)
{
    const struct selection *s = c->kept;

    (void) w;
    for (size_t i = 0; i < s->n; i++) {
        c->y[OUT_SCORES][i] = c->x[SCORES][s->c[i].index];
        box_write(s->c[i].box, c->y[OUT_ROI] + 4 * i, NULL);
        c->y[OUT_BATCHES][i] = s->c[i].group;
    }
    return 0;
}

/* Boxes of an image whose scores differ by less than their errors may be swapped in the order. */
static int bound(struct call *c, struct why *w)
{
    const struct selection *s = c->kept;
    struct nms_span *spans = arena_alloc_raw(c->scratch, s->n + 1, sizeof *spans);

    if (!spans)
        return why_no_memory(w);
    for (size_t i = 0; i < s->n; i++) {
        c->ey[OUT_SCORES][i] = s->c[i].score.e;
        box_write(s->c[i].box, NULL, c->ey[OUT_ROI] + 4 * i);
    }
    nms_spans(s->c, s->n, spans);
    nms_widen_bounds(spans, s->n, 1, c->y[OUT_SCORES], c->ey[OUT_SCORES]);
    nms_widen_bounds(spans, s->n, 4, c->y[OUT_ROI], c->ey[OUT_ROI]);
    return 0;
}

enum { MOST_SIDE = 5, MOST_ANCHORS = 4, MOST_IMAGES = 3, LARGEST = 40 };

static bool draw_pairs(struct drawer *d, uint32_t n, uint32_t width, struct tensor *to)
{
    int32_t *x = to->data;

    if (n * width > 64)
        return false;
    to->shape = (struct shape){ 2, { n, width } };
    for (uint32_t i = 0; i < n * width; i++)
        x[i] = i % width < 2 ? (int32_t) d->below(d, LARGEST) - LARGEST / 4
                             : x[i - 2] + 1 + (int32_t) d->below(d, LARGEST);
    for (uint32_t i = 0; i < n * width && width == 2; i++)
        x[i] = LARGEST + (int32_t) d->below(d, 2 * LARGEST);
    return true;
}

static bool draw(const struct call *c, int role, struct drawer *d, struct tensor *to)
{
    int32_t *x = to->data;

    switch (role) {
    case SCORES:
        to->shape = (struct shape){ 4,
                                    { 1 + d->below(d, MOST_IMAGES), 1 + d->below(d, MOST_SIDE),
                                      1 + d->below(d, MOST_SIDE), 1 + d->below(d, MOST_ANCHORS) } };
        return true;
    case DELTAS:
        to->shape = c->in[SCORES]->shape;
        to->shape.dim[3] *= 4;
        return true;
    case ANCHORS: return draw_pairs(d, c->letter['A'], 4, to);
    case IMAGES: return draw_pairs(d, c->letter['N'], 2, to);
    case STRIDE_H:
    case STRIDE_W: x[0] = 4 << d->below(d, 3); return true;
    default: x[0] = (int32_t) d->below(d, 30) - 1; return true;
    }
}

const struct op op_GENERATE_PROPOSALS = {
    .code = OP_GENERATE_PROPOSALS,
    .name = "GENERATE_PROPOSALS",
    .summary = "Decodes boxes from anchors at every position of a map and selects the best that do "
               "not overlap.",
    .formula = "box = clip(anchor + position * stride, moved and scaled by deltas); non-maximum "
               "suppression of the best pre_nms_max boxes that are over min_size and centred in "
               "the image",
    .since = L3,
    .in = inputs,
    .n_in = COUNT(inputs),
    .out = outputs,
    .n_out = COUNT(outputs),
    .forms = forms,
    .n_forms = COUNT(forms),
    .typings = typings,
    .n_typings = COUNT(typings),
    .layout = 1 + LAYOUT,
    .error = { ERROR_DISCRETE, .ulps = 1,
               .text = "carried through each step; the selection is undecided where a score, size "
                       "or overlap is within its error of a limit or of another score" },
    .infer = infer,
    .measure = measure,
    .eval = eval,
    .bound = bound,
    .draw = draw,
};
