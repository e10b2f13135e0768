#include <string.h>

#include "golden/base/arena.h"
#include "golden/ops/shared/image/nms.h"

enum { SCORES, ROI, BATCHES, THRESHOLD, LIMIT, KERNEL, OVERLAP, SIGMA, FLOOR };
enum { THRESHOLD_UNIT = 64, ABOVE_ALL_SCORES = 30000 * THRESHOLD_UNIT };
enum { OUT_SCORES, OUT_ROI, OUT_CLASSES, OUT_BATCHES };

static const struct role inputs[] = {
    [SCORES] = { "scores", "of each box for each class; class 0 is the background", "NC", .slot = 0,
                 .draw = DRAW_SHAPE, .needs = NEEDS_NONNEG },
    [ROI] = { "roi", "for each box and class x1, y1, x2, y2", "N?", .slot = 1, .draw = DRAW_OP,
              .q = Q_FIXED, .qscale = 0.125 },
    [BATCHES] = { "batches", "index of the image of each box; boxes of an image are contiguous",
                  "N", .slot = FIXED(DT_I32), .draw = DRAW_OP },
    [THRESHOLD] = { "score_threshold", "only boxes with a greater score are considered", .slot = 2,
                    .draw = DRAW_OP, .qscale = 1.0 / THRESHOLD_UNIT },
    [LIMIT] = { "max_num_detections",
                "largest number of boxes of an image, and of each of its classes; "
                "negative: unlimited",
                .slot = FIXED(DT_INT32), .draw = DRAW_OP },
    [KERNEL] = { "nms_kernel", "0 hard, 1 linear, 2 gaussian", .slot = FIXED(DT_INT32),
                 .draw = DRAW_OP },
    [OVERLAP] = { "iou_threshold", "IoU from which the hard and the linear kernel lower scores",
                  .slot = 2, .draw = DRAW_POSITIVE },
    [SIGMA] = { "sigma", "of the gaussian kernel", .slot = 2, .draw = DRAW_POSITIVE },
    [FLOOR] = { "nms_score_threshold", "boxes whose lowered score is below it are dropped",
                .slot = 2, .draw = DRAW_POSITIVE },
};

static const struct role outputs[] = {
    [OUT_SCORES] = { "scores", "sorted by image, class and decreasing score", "M", .slot = 0,
                     .q = Q_SAME },
    [OUT_ROI] = { "roi", "the boxes", "M4", .slot = 1, .q = Q_FIXED, .qscale = 0.125 },
    [OUT_CLASSES] = { "classes", "of each box", "M", .slot = FIXED(DT_I32) },
    [OUT_BATCHES] = { "batches", "index of each box's image", "M", .slot = FIXED(DT_I32) },
};

static const struct form forms[] = {
    { "", { SCORES, ROI, BATCHES, THRESHOLD, LIMIT, KERNEL, OVERLAP, SIGMA, FLOOR, END } },
};

static const struct typing typings[] = {
    /* since, ranks, scores, boxes, scalars */
    { L3, RANK(2), { DT_F16, DT_F16, DT_FLOAT16 } },
    { L3, RANK(2), { DT_F32, DT_F32, DT_FLOAT32 } },
    { L3, RANK(2), { DT_U8, DT_Q16A, DT_FLOAT32 } },
    { L4, RANK(2), { DT_S8, DT_Q16A, DT_FLOAT32 } },
};

static int infer(struct call *c, struct why *w)
{
    uint32_t classes = c->letter['C'], length = c->in[ROI]->shape.dim[1];

    REQUIRE(w, classes > 1, "%s: %u classes, must be at least 2 with the background", c->op->name,
            classes);
    REQUIRE(w, length == 4 * (uint64_t) classes, "%s: boxes of length %u for %u classes",
            c->op->name, length, classes);
    if (call_known(c, KERNEL))
        REQUIRE(w, call_int(c, KERNEL) >= 0 && call_int(c, KERNEL) < NMS_KERNELS,
                "%s: nms_kernel %d, must be 0 to %d", c->op->name, call_int(c, KERNEL),
                NMS_KERNELS - 1);
    return 0;
}

/* The selected candidates: their index is that of a score, their group the class. */
struct selection {
    struct nms rule;
    struct box *box; /* by index */
    struct candidate *c;
    size_t n;
};

/* Appends to the selection from the boxes from..to - 1, all of one image, for all classes. */
static void select_image(struct call *c, size_t from, size_t to, struct selection *s)
{
    uint32_t classes = c->letter['C'];
    size_t limit = nms_limit(call_int(c, LIMIT)), first = s->n, n;
    double threshold = call_real(c, THRESHOLD);

    for (uint32_t k = 1; k < classes; k++) {
        struct candidate *add = s->c + s->n;
        n = 0;
        for (size_t i = from; i < to; i++) {
            size_t at = i * classes + k;
            add[n++] =
                nms_candidate((uint32_t) at, k, ball_operand(c, SCORES, at), &s->box[at], &s->rule);
        }
        n = nms_filter(add, n, threshold, &s->rule, &c->undecided);
        s->n += nms_select(&s->rule, add, n, limit, &c->undecided);
    }
    n = nms_top(s->c + first, s->n - first, limit, &s->rule, &c->undecided);
    nms_sort(s->c + first, n);
    s->n = first + n;
}

static int read_boxes(struct call *c, struct selection *s, struct why *w)
{
    size_t n = tensor_count(c->in[SCORES]);

    s->box = arena_alloc_raw(c->scratch, n + 1, sizeof *s->box);
    s->c = arena_alloc_raw(c->scratch, n + 1, sizeof *s->c);
    if (!s->box || !s->c)
        return why_no_memory_for(w, "%s: %zu boxes", c->op->name, n);
    for (size_t i = 0; i < n; i++) {
        s->box[i] = box_read(c, ROI, 4 * i);
        if (i % c->letter['C'] && !box_valid(&s->box[i]))
            return why_fail(w, WHY_EXECUTION, "%s: box %zu of class %zu: x2 < x1 or y2 < y1",
                            c->op->name, i / c->letter['C'], i % c->letter['C']);
    }
    return 0;
}

static int measure(struct call *c, struct why *w)
{
    struct selection *s = arena_alloc(c->scratch, 1, sizeof *s);
    size_t n = c->letter['N'];

    if (!s)
        return why_no_memory(w);
    s->rule = (struct nms){ (enum nms_kernel) call_int(c, KERNEL), call_real(c, OVERLAP),
                            call_real(c, SIGMA), call_real(c, FLOOR), c->unit };
    TRY(read_boxes(c, s, w));
    for (size_t from = 0, to; from < n; from = to) {
        for (to = from + 1; to < n && c->x[BATCHES][to] == c->x[BATCHES][from];)
            to++;
        select_image(c, from, to, s);
    }
    c->undecided |= c->ex[BATCHES] != NULL;
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
        uint32_t at = s->c[i].index;
        c->y[OUT_SCORES][i] = s->c[i].score.x;
        box_write(s->c[i].box, c->y[OUT_ROI] + 4 * i, NULL);
        c->y[OUT_CLASSES][i] = at % c->letter['C'];
        c->y[OUT_BATCHES][i] = c->x[BATCHES][at / c->letter['C']];
    }
    return 0;
}

/* Boxes whose scores differ by less than their errors may be swapped in the order. */
static int bound(struct call *c, struct why *w)
{
    const struct selection *s = c->kept;
    struct nms_span *spans = arena_alloc_raw(c->scratch, s->n + 1, sizeof *spans);

    if (!spans)
        return why_no_memory(w);
    for (size_t i = 0; i < s->n; i++) {
        c->ey[OUT_SCORES][i] = s->c[i].score.e;
        for (size_t k = 0; k < 4; k++)
            c->ey[OUT_ROI][4 * i + k] = c->ex[ROI] ? c->ex[ROI][4 * (size_t) s->c[i].index + k] : 0;
    }
    for (size_t i = 0, to; i < s->n; i = to) { /* per image; the candidates' groups are classes */
        for (to = i + 1; to < s->n && c->y[OUT_BATCHES][to] == c->y[OUT_BATCHES][i];)
            to++;
        nms_spans(s->c + i, to - i, spans);
        nms_widen_bounds(spans, to - i, 1, c->y[OUT_SCORES] + i, c->ey[OUT_SCORES] + i);
        nms_widen_bounds(spans, to - i, 4, c->y[OUT_ROI] + 4 * i, c->ey[OUT_ROI] + 4 * i);
    }
    return 0;
}

enum { MOST_VALUES = 160, LARGEST = 40 };

/* Draws boxes that often overlap; a few have no area, or end at the largest number of their
 * quantised type. */
static void draw_boxes(struct drawer *d, bool quantised, size_t n, int32_t *x)
{
    static const int32_t quantised_end = 65535 / 8;

    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < 2; k++) {
            int32_t from = (int32_t) d->below(d, LARGEST / 4);
            int32_t to = from + 1 + (int32_t) d->below(d, LARGEST);
            uint32_t extreme = d->below(d, 16);
            x[4 * i + k] = from;
            x[4 * i + 2 + k] = extreme == 0 ? from : extreme == 1 && quantised ? quantised_end : to;
        }
}

static bool draw(const struct call *c, int role, struct drawer *d, struct tensor *to)
{
    uint32_t n = c->letter['N'], classes = c->letter['C'];
    int32_t *x = to->data;

    switch (role) {
    case SCORES:
        classes = 2 + d->below(d, 2);
        to->shape = (struct shape){ 2, { 1 + d->below(d, MOST_VALUES / 4 / classes), classes } };
        return true;
    case ROI:
        if (classes < 2 || n * classes > MOST_VALUES / 4)
            return false;
        to->shape = (struct shape){ 2, { n, 4 * classes } };
        draw_boxes(d, c->typing->slot[1] == DT_Q16A, (size_t) n * classes, x);
        return true;
    case BATCHES:
        to->shape = (struct shape){ 1, { n } };
        for (uint32_t i = 0, cut = d->below(d, n + 1); i < n; i++)
            x[i] = i >= cut;
        return true;
    case THRESHOLD: /* half of them above some scores, but not whole as many scores are */
        x[0] = d->empty         ? ABOVE_ALL_SCORES
               : d->below(d, 2) ? -THRESHOLD_UNIT
                                : 1 + 2 * (int32_t) d->below(d, THRESHOLD_UNIT);
        return true;
    case LIMIT: x[0] = (int32_t) d->below(d, 8) - 1; return x[0] != 0;
    default: x[0] = (int32_t) d->below(d, NMS_KERNELS); return true;
    }
}

const struct op op_BOX_WITH_NMS_LIMIT = {
    .code = OP_BOX_WITH_NMS_LIMIT,
    .name = "BOX_WITH_NMS_LIMIT",
    .summary = "Selects boxes by score, class by class, lowering the scores of boxes that overlap "
               "selected ones.",
    .formula = "select the best; score' = score * (hard: iou < threshold; linear: iou < threshold "
               "? 1 : 1 - iou; gaussian: exp(-iou^2 / sigma)); drop below nms_score_threshold",
    .since = L3,
    .in = inputs,
    .n_in = COUNT(inputs),
    .out = outputs,
    .n_out = COUNT(outputs),
    .forms = forms,
    .n_forms = COUNT(forms),
    .typings = typings,
    .n_typings = COUNT(typings),
    .takes_empty = ROLE_BIT(SCORES) | ROLE_BIT(ROI) | ROLE_BIT(BATCHES),
    .makes_empty = true,
    .error = { ERROR_DISCRETE,
               .text = "errors of the inputs; the selection is undecided where a score or overlap "
                       "is within its error of a limit or of another score" },
    .infer = infer,
    .measure = measure,
    .eval = eval,
    .bound = bound,
    .draw = draw,
};
