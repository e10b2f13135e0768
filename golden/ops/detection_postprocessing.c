#include <string.h>

#include "golden/base/arena.h"
#include "golden/ops/shared/image/nms.h"

enum {
    SCORES,
    DELTAS,
    ANCHORS,
    SCALE_Y,
    SCALE_X,
    SCALE_H,
    SCALE_W,
    REGULAR,
    LIMIT,
    CLASSES_EACH,
    CLASS_LIMIT,
    THRESHOLD,
    OVERLAP,
    BACKGROUND
};
enum { OUT_SCORES, OUT_ROI, OUT_CLASSES, OUT_COUNT };

static const struct role inputs[] = {
    [SCORES] = { "scores", "of each anchor for each class; class 0 is the background", "BAC",
                 .slot = 0, .draw = DRAW_SHAPE, .needs = NEEDS_NONNEG },
    [DELTAS] = { "deltas", "for each anchor dy, dx, dh, dw; further values are ignored", "BA?",
                 .slot = 0, .draw = DRAW_SHAPE, .needs = NEEDS_SMALL },
    [ANCHORS] = { "anchors", "y and x of the centre, height, width", "A4", .slot = 0,
                  .draw = DRAW_OP },
    [SCALE_Y] = { "scale_y", "divisor of dy", .slot = 1, .draw = DRAW_OP },
    [SCALE_X] = { "scale_x", "divisor of dx", .slot = 1, .draw = DRAW_OP },
    [SCALE_H] = { "scale_h", "divisor of dh", .slot = 1, .draw = DRAW_OP },
    [SCALE_W] = { "scale_w", "divisor of dw", .slot = 1, .draw = DRAW_OP },
    [REGULAR] = { "regular_nms", "true: suppression per class; false: on each anchor's best score",
                  .slot = FIXED(DT_BOOL), .draw = DRAW_FLAG },
    [LIMIT] = { "max_num_detections", "largest number of boxes of an image",
                .slot = FIXED(DT_INT32), .draw = DRAW_OP },
    [CLASSES_EACH] = { "max_classes_per_detection",
                       "number of best classes returned per box; not for "
                       "regular_nms",
                       .slot = FIXED(DT_INT32), .draw = DRAW_OP },
    [CLASS_LIMIT] = { "max_num_detections_per_class",
                      "largest number of boxes of a class; for regular_nms",
                      .slot = FIXED(DT_INT32), .draw = DRAW_OP },
    [THRESHOLD] = { "score_threshold", "only boxes with a greater score are considered", .slot = 1,
                    .draw = DRAW_POSITIVE },
    [OVERLAP] = { "iou_threshold", "IoU from which a box with a better score suppresses another",
                  .slot = 1, .draw = DRAW_POSITIVE },
    [BACKGROUND] = { "background_in_labels",
                     "true: label 0 is the background; false: labels "
                     "begin after the background",
                     .slot = FIXED(DT_BOOL), .draw = DRAW_FLAG },
};

static const struct role outputs[] = {
    [OUT_SCORES] = { "scores", "sorted by decreasing score; 0 after the last", "B?", .slot = 0 },
    [OUT_ROI] = { "roi", "the boxes: y1, x1, y2, x2", "B?4", .slot = 0 },
    [OUT_CLASSES] = { "classes", "label of each box", "B?", .slot = FIXED(DT_I32) },
    [OUT_COUNT] = { "count", "number of detections in each image", "B", .slot = FIXED(DT_I32) },
};

static const struct form forms[] = {
    { "",
      { SCORES, DELTAS, ANCHORS, SCALE_Y, SCALE_X, SCALE_H, SCALE_W, REGULAR, LIMIT, CLASSES_EACH,
        CLASS_LIMIT, THRESHOLD, OVERLAP, BACKGROUND, END } },
};

static const struct typing typings[] = {
    /* since, ranks, tensors, scalars */
    { L3, RANK(3), { DT_F16, DT_FLOAT16 } },
    { L3, RANK(3), { DT_F32, DT_FLOAT32 } },
};

static int check_positive(struct call *c, int role, struct why *w)
{
    if (call_known(c, role))
        REQUIRE(w, call_real(c, role) > 0, "%s: %s is %g, must be positive", c->op->name,
                c->op->in[role].name, call_real(c, role));
    return 0;
}

static int check_not_negative(struct call *c, int role, struct why *w)
{
    if (call_known(c, role))
        REQUIRE(w, call_real(c, role) >= 0, "%s: %s is %g, must not be negative", c->op->name,
                c->op->in[role].name, call_real(c, role));
    return 0;
}

static bool is_regular(const struct call *c)
{
    return call_real(c, REGULAR) != 0;
}

static int infer_places(struct call *c, struct why *w)
{
    if (!call_known(c, REGULAR) || !call_known(c, LIMIT))
        return 0;
    TRY(check_positive(c, is_regular(c) ? CLASS_LIMIT : CLASSES_EACH, w));
    if (!is_regular(c) && !call_known(c, CLASSES_EACH))
        return 0;
    uint64_t each = is_regular(c) ? 1 : (uint64_t) call_int(c, CLASSES_EACH);
    uint64_t places = each * (uint64_t) call_int(c, LIMIT);
    REQUIRE(w, places <= UINT32_MAX, "%s: %d boxes with %d classes each are too many", c->op->name,
            call_int(c, LIMIT), call_int(c, CLASSES_EACH));
    for (int i = OUT_SCORES; i <= OUT_CLASSES; i++)
        c->out[i]->shape.dim[1] = (uint32_t) places;
    return 0;
}

static int infer(struct call *c, struct why *w)
{
    static const int positive[] = { SCALE_Y, SCALE_X, SCALE_H, SCALE_W, LIMIT };

    REQUIRE(w, c->letter['C'] > 1, "%s: %u classes, must be at least 2 with the background",
            c->op->name, c->letter['C']);
    REQUIRE(w, c->in[DELTAS]->shape.dim[2] >= 4, "%s: deltas of length %u, must be at least 4",
            c->op->name, c->in[DELTAS]->shape.dim[2]);
    for (int i = 0; i < COUNT(positive); i++)
        TRY(check_positive(c, positive[i], w));
    TRY(check_not_negative(c, THRESHOLD, w));
    TRY(check_not_negative(c, OVERLAP, w));
    return infer_places(c, w);
}

/* The selection of boxes in one image. */
struct image {
    struct call *c;
    struct nms rule;
    size_t index;
    struct box *box;        /* of each anchor */
    struct candidate *list; /* room for anchors * classes, and for the classes of one anchor */
    size_t n;
    bool undecided;
};

static struct ball score_of(const struct image *m, size_t anchor, size_t class)
{
    const struct call *c = m->c;

    return ball_operand(c, SCORES, (m->index * c->letter['A'] + anchor) * c->letter['C'] + class);
}

static struct box decode(const struct image *m, size_t anchor)
{
    const struct call *c = m->c;
    size_t length = c->in[DELTAS]->shape.dim[2];
    size_t at = (m->index * c->letter['A'] + anchor) * length;
    struct box_centre b;
    struct ball delta[4];

    for (size_t k = 0; k < 2; k++) {
        b.centre[k] = ball_operand(c, ANCHORS, 4 * anchor + k);
        b.size[k] = ball_operand(c, ANCHORS, 4 * anchor + 2 + k);
    }
    for (size_t d = 0; d < 4; d++)
        delta[d] = ball_quotient(ball_operand(c, DELTAS, at + d),
                                 ball_exact(call_real(c, SCALE_Y + (int) d)), c->unit);
    return box_decode(&b, delta, c->unit);
}

/* Selects per class; a candidate's index is anchor * classes + class. */
static void select_regular(struct image *m)
{
    const struct call *c = m->c;
    size_t classes = c->letter['C'], n;

    m->n = 0;
    for (size_t k = 1; k < classes; k++) {
        struct candidate *add = m->list + m->n;
        for (size_t a = 0; a < c->letter['A']; a++)
            add[a] = nms_candidate((uint32_t) (a * classes + k), 0, score_of(m, a, k), &m->box[a],
                                   &m->rule);
        n = nms_filter(add, c->letter['A'], call_real(c, THRESHOLD), &m->rule, &m->undecided);
        m->n += nms_select(&m->rule, add, n, nms_limit(call_int(c, CLASS_LIMIT)), &m->undecided);
    }
    m->n = nms_top(m->list, m->n, nms_limit(call_int(c, LIMIT)), &m->rule, &m->undecided);
}

static struct ball best_score(const struct image *m, size_t anchor)
{
    struct ball best = score_of(m, anchor, 1);

    for (size_t k = 2; k < m->c->letter['C']; k++)
        best = ball_max(best, score_of(m, anchor, k));
    return best;
}

/* Selects on each anchor's best score; a candidate's index is its anchor. */
static void select_fast(struct image *m)
{
    const struct call *c = m->c;
    size_t n = c->letter['A'];

    for (size_t a = 0; a < n; a++)
        m->list[a] = nms_candidate((uint32_t) a, 0, best_score(m, a), &m->box[a], &m->rule);
    n = nms_filter(m->list, n, call_real(c, THRESHOLD), &m->rule, &m->undecided);
    m->n = nms_select(&m->rule, m->list, n, nms_limit(call_int(c, LIMIT)), &m->undecided);
}

/* Writes detection `at` of the image: its values, or its errors. */
static void put(const struct image *m, bool bounds, size_t at, const struct box *box,
                struct ball score, size_t class)
{
    struct call *c = m->c;
    size_t to = m->index * c->out[OUT_SCORES]->shape.dim[1] + at;

    box_write(box, bounds ? NULL : c->y[OUT_ROI] + 4 * to, bounds ? c->ey[OUT_ROI] + 4 * to : NULL);
    if (bounds) {
        c->ey[OUT_SCORES][to] = score.e;
        return;
    }
    c->y[OUT_SCORES][to] = score.x;
    c->y[OUT_CLASSES][to] = (double) class - (call_real(c, BACKGROUND) != 0 ? 0 : 1);
}

/* Writes the best classes of one anchor in consecutive places; returns their number. */
static size_t put_classes(struct image *m, bool bounds, size_t at, const struct candidate *from)
{
    const struct call *c = m->c;
    size_t classes = c->letter['C'] - 1, most = (size_t) call_int(c, CLASSES_EACH);
    struct candidate *best = m->list + c->letter['A'];

    for (size_t k = 0; k < classes; k++)
        best[k] = nms_candidate((uint32_t) k + 1, 0, score_of(m, from->index, k + 1), from->box,
                                &m->rule);
    most = nms_top(best, classes, most, &m->rule, &m->undecided);
    for (size_t k = 0; k < most; k++) {
        put(m, bounds, at + k, from->box, best[k].score, best[k].index);
        if (m->rule.u > 0 && k && !ball_decided(best[k - 1].score, best[k].score))
            m->undecided = true;
    }
    return most;
}

/* Fills the outputs of an image; returns the number of detections. */
static size_t put_image(struct image *m, bool bounds, size_t *ret_each)
{
    size_t classes = m->c->letter['C'], at = 0;

    *ret_each = 1;
    for (size_t i = 0; i < m->n && is_regular(m->c); i++)
        put(m, bounds, at++, m->list[i].box, m->list[i].score, m->list[i].index % classes);
    for (size_t i = 0; i < m->n && !is_regular(m->c); i++)
        at += *ret_each = put_classes(m, bounds, at, &m->list[i]);
    return at;
}

static int image_new(struct call *c, struct image *ret_image, struct why *w)
{
    size_t n = c->letter['A'], classes = c->letter['C'];

    *ret_image =
        (struct image){ .c = c,
                        .rule = { NMS_HARD, call_real(c, OVERLAP), 0, -INFINITY, c->unit } };
    ret_image->box = arena_alloc_raw(c->scratch, n + 1, sizeof *ret_image->box);
    ret_image->list = arena_alloc_raw(c->scratch, (n + 1) * classes, sizeof *ret_image->list);
    if (!ret_image->box || !ret_image->list)
        return why_no_memory_for(w, "%s: %zu boxes", c->op->name, n);
    return 0;
}

static void select_boxes(struct image *m, size_t index)
{
    m->index = index;
    m->undecided = false;
    for (size_t a = 0; a < m->c->letter['A']; a++)
        m->box[a] = decode(m, a);
    if (is_regular(m->c))
        select_regular(m);
    else
        select_fast(m);
}

static int eval(struct call *c, struct why *w)
{
    size_t n = tensor_count(c->out[OUT_SCORES]), each;
    struct image m;

    TRY(image_new(c, &m, w));
    for (size_t i = 0; i < n; i++)
        c->y[OUT_SCORES][i] = c->y[OUT_CLASSES][i] = 0;
    for (size_t i = 0; i < 4 * n; i++)
        c->y[OUT_ROI][i] = 0;
    for (size_t b = 0; b < c->letter['B']; b++) {
        select_boxes(&m, b);
        c->y[OUT_COUNT][b] = (double) put_image(&m, false, &each);
    }
    return 0;
}

static void fill(double *e, size_t n, double with)
{
    for (size_t i = 0; i < n; i++)
        e[i] = with;
}

/* The outputs of one image, `places` each, beginning at `from`. */
static void fill_image(struct call *c, size_t from, size_t places, double with)
{
    fill(c->ey[OUT_SCORES] + from, places, with);
    fill(c->ey[OUT_CLASSES] + from, places, with);
    fill(c->ey[OUT_ROI] + 4 * from, 4 * places, with);
}

/* Detections whose scores differ by less than their errors may be swapped in the order. */
static void spread(struct image *m, size_t from, size_t each, struct nms_span *spans)
{
    struct call *c = m->c;

    nms_spans(m->list, m->n, spans);
    nms_widen_bounds(spans, m->n, each, c->y[OUT_SCORES] + from, c->ey[OUT_SCORES] + from);
    nms_widen_bounds(spans, m->n, each, c->y[OUT_CLASSES] + from, c->ey[OUT_CLASSES] + from);
    nms_widen_bounds(spans, m->n, 4 * each, c->y[OUT_ROI] + 4 * from, c->ey[OUT_ROI] + 4 * from);
}

static int bound(struct call *c, struct why *w)
{
    size_t places = c->out[OUT_SCORES]->shape.dim[1], each;
    struct image m;

    TRY(image_new(c, &m, w));
    struct nms_span *spans =
        arena_alloc_raw(c->scratch, (size_t) c->letter['A'] * c->letter['C'] + 1, sizeof *spans);
    if (!spans)
        return why_no_memory(w);
    for (size_t b = 0; b < c->letter['B']; b++) {
        select_boxes(&m, b);
        fill_image(c, b * places, places, 0);
        put_image(&m, true, &each);
        if (m.undecided)
            fill_image(c, b * places, places, INFINITY);
        else
            spread(&m, b * places, each, spans);
        c->ey[OUT_COUNT][b] = m.undecided ? INFINITY : 0;
    }
    return 0;
}

enum { MOST_IMAGES = 3, MOST_ANCHORS = 12, MOST_CLASSES = 4 };

static bool draw(const struct call *c, int role, struct drawer *d, struct tensor *to)
{
    int32_t *x = to->data;

    switch (role) {
    case SCORES:
        to->shape = (struct shape){ 3,
                                    { 1 + d->below(d, MOST_IMAGES), 1 + d->below(d, MOST_ANCHORS),
                                      1 + d->size(d, MOST_CLASSES - 1) } };
        return true;
    case DELTAS:
        to->shape = (struct shape){ 3, { c->letter['B'], c->letter['A'], 4 + d->below(d, 3) } };
        return true;
    case ANCHORS:
        if (c->letter['A'] > MOST_ANCHORS)
            return false;
        to->shape = (struct shape){ 2, { c->letter['A'], 4 } };
        for (uint32_t i = 0; i < 4 * c->letter['A']; i++)
            x[i] = 1 + (int32_t) d->below(d, 12);
        return true;
    default: x[0] = 1 + (int32_t) d->below(d, 5); return true;
    }
}

const struct op op_DETECTION_POSTPROCESSING = {
    .code = OP_DETECTION_POSTPROCESSING,
    .name = "DETECTION_POSTPROCESSING",
    .summary =
        "Detects objects: decodes boxes from anchors and keeps the best that do not overlap.",
    .formula = "centre = anchor + anchor size * (dy / scale_y, dx / scale_x); size = anchor size * "
               "exp(dh / scale_h, dw / scale_w); non-maximum suppression of scores over "
               "score_threshold",
    .since = L3,
    .in = inputs,
    .n_in = COUNT(inputs),
    .out = outputs,
    .n_out = COUNT(outputs),
    .forms = forms,
    .n_forms = COUNT(forms),
    .typings = typings,
    .n_typings = COUNT(typings),
    .error = { ERROR_DISCRETE, .ulps = 1,
               .text = "carried through each step; an image is undecided where a score or overlap "
                       "is within its error of a limit or of another score" },
    .infer = infer,
    .eval = eval,
    .bound = bound,
    .draw = draw,
};
