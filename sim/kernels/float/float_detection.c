/* Detection kernels in floats: box transform, non-maximum suppression, region proposals. */
#include <math.h>
#include <string.h>

#include "sim/kernels/float/float_boxes.h"

/* A negative limit is none. */
static size_t limit_of(int32_t limit)
{
    return limit < 0 ? SIZE_MAX : (size_t) limit;
}

static void *list_new(const struct kernel_call *k, size_t n, size_t size)
{
    return arena_alloc(k->scratch, n + 1, size);
}

static int out_of_order(struct why *w, size_t i)
{
    return why_fail(w, WHY_EXECUTION, "box %zu: the second corner is below the first", i);
}

/* ---- AXIS_ALIGNED_BBOX_TRANSFORM */

static struct float_box transformed(const struct float_box *b, const float *delta,
                                    const float *image)
{
    float centre[2], size[2], limit[2] = { image[1], image[0] };

    for (int k = 0; k < 2; k++) {
        centre[k] = (b->lower[k] + b->upper[k]) / 2;
        size[k] = b->upper[k] - b->lower[k];
    }
    return box_clamp(box_regress(centre, size, delta), limit);
}

static int run_transform(struct kernel_call *k, struct why *w)
{
    const float *boxes = floats_load(k, k->arg[0]), *delta = floats_load(k, k->arg[1]);
    const float *images = floats_load(k, k->arg[3]);
    const int32_t *batches = k->arg[2]->data;
    size_t n = k->arg[0]->shape.dim[0], classes = k->arg[1]->shape.dim[1] / 4;
    uint32_t n_images = k->arg[3]->shape.dim[0];
    float *y = floats_new(k, tensor_count(k->out[0]));

    if (!boxes || !delta || !images || !y)
        return why_no_memory(w);
    for (size_t i = 0; i < n; i++) {
        struct float_box b = box_load(boxes + 4 * i);
        if (!box_is_valid(&b))
            return out_of_order(w, i);
        if (batches[i] < 0 || (uint32_t) batches[i] >= n_images)
            return why_fail(w, WHY_EXECUTION, "box %zu: image %d of %u", i, batches[i], n_images);
        for (size_t c = i * classes; c < (i + 1) * classes; c++) {
            struct float_box to = transformed(&b, delta + 4 * c, images + 2 * batches[i]);
            box_store(&to, y + 4 * c);
        }
    }
    floats_store(k, y, k->out[0]);
    return 0;
}

/* ---- results whose size depends on values: scores, boxes, and others of the same length */

struct selection {
    struct scored_box *b;
    struct float_box *box;
    size_t n;
};

static int selection_new(const struct kernel_call *k, size_t n, struct selection *ret_selection,
                         struct why *w)
{
    struct selection s = { list_new(k, n, sizeof *s.b), list_new(k, n, sizeof *s.box), 0 };

    if (!s.b || !s.box)
        return why_no_memory(w);
    *ret_selection = s;
    return 0;
}

static int store_selection(struct kernel_call *k, const struct selection *s, struct why *w)
{
    float *scores = floats_new(k, s->n), *boxes = floats_new(k, 4 * s->n);
    struct shape one = { 1, { (uint32_t) s->n } }, four = { 2, { (uint32_t) s->n, 4 } };

    if (!scores || !boxes)
        return why_no_memory(w);
    for (size_t i = 0; i < s->n; i++) {
        scores[i] = s->b[i].score;
        box_store(s->b[i].box, boxes + 4 * i);
    }
    for (uint32_t i = 0; i < k->call.n_out; i++)
        TRY(kernel_make_result(k, i, i == 1 ? &four : &one, w));
    floats_store(k, scores, k->out[0]);
    floats_store(k, boxes, k->out[1]);
    return 0;
}

/* ---- BOX_WITH_NMS_LIMIT */

/* Selects from the boxes [from, to), which lie in one image; appends to s. */
static void select_image(const struct kernel_call *k, const float *scores, size_t from, size_t to,
                         struct selection *s)
{
    struct suppression_rule rule = { (enum suppression) kernel_int(k, ROLE_NMS_KERNEL, 0),
                                     kernel_float(k, ROLE_IOU_THRESHOLD, 0),
                                     kernel_float(k, ROLE_SIGMA, 1),
                                     kernel_float(k, ROLE_NMS_SCORE_THRESHOLD, 0), true };
    size_t limit = limit_of(kernel_int(k, ROLE_MAX_NUM_DETECTIONS, -1));
    float threshold = kernel_float(k, ROLE_SCORE_THRESHOLD, 0);
    uint32_t classes = k->arg[0]->shape.dim[1];
    struct scored_box *all = s->b + s->n;
    size_t kept = 0;

    for (uint32_t c = 1; c < classes; c++) {
        struct scored_box *b = all + kept;
        size_t n = 0;
        for (size_t i = from; i < to; i++) {
            size_t at = i * classes + c;
            b[n++] = (struct scored_box){ (uint32_t) at, c, scores[at], &s->box[at] };
        }
        n = boxes_above_score(b, n, threshold);
        kept += boxes_suppress(&rule, b, n, limit);
    }
    boxes_sort(all, kept);
    kept = kept > limit ? limit : kept;
    boxes_sort_by_group(all, kept);
    s->n += kept;
}

static int run_box_with_nms_limit(struct kernel_call *k, struct why *w)
{
    const float *scores = floats_load(k, k->arg[0]), *boxes = floats_load(k, k->arg[1]);
    const int32_t *batch = k->arg[2]->data;
    size_t n = k->arg[0]->shape.dim[0], classes = k->arg[0]->shape.dim[1];
    struct selection s;

    if (!scores || !boxes)
        return why_no_memory(w);
    TRY(selection_new(k, n * classes, &s, w));
    for (size_t i = 0; i < n * classes; i++) {
        s.box[i] = box_load(boxes + 4 * i);
        if (i % classes && !box_is_valid(&s.box[i]))
            return out_of_order(w, i);
    }
    for (size_t from = 0, to; from < n; from = to) {
        for (to = from + 1; to < n && batch[to] == batch[from];)
            to++;
        select_image(k, scores, from, to, &s);
    }
    TRY(store_selection(k, &s, w));
    for (size_t i = 0; i < s.n; i++) {
        ((int32_t *) k->out[2]->data)[i] = (int32_t) (s.b[i].index % classes);
        ((int32_t *) k->out[3]->data)[i] = batch[s.b[i].index / classes];
    }
    return 0;
}

/* ---- GENERATE_PROPOSALS */

struct proposals {
    const float *scores, *deltas, *anchors, *images;
    size_t rows, columns, n_anchors;
    float stride[2]; /* from column to column, from row to row */
};

/* Box `at` of an image: the anchors of a grid position are consecutive. */
static struct float_box proposed(const struct proposals *p, size_t image, size_t at)
{
    size_t place = at / p->n_anchors, all = p->rows * p->columns * p->n_anchors;
    const float *anchor = p->anchors + 4 * (at % p->n_anchors);
    const float shift[2] = { (float) (place % p->columns) * p->stride[0],
                             (float) (place / p->columns) * p->stride[1] };
    const float limit[2] = { p->images[2 * image + 1], p->images[2 * image] };
    float centre[2], size[2];

    for (int k = 0; k < 2; k++) {
        centre[k] = (anchor[k] + anchor[2 + k]) / 2 + shift[k];
        size[k] = anchor[2 + k] - anchor[k];
    }
    return box_clamp(box_regress(centre, size, p->deltas + 4 * (image * all + at)), limit);
}

/* Whether the box is larger than `least` on both sides and its centre does not lie beyond the
 * image. */
static bool is_proposal(const struct float_box *b, float least, const float *image)
{
    for (int k = 0; k < 2; k++)
        if (!(b->upper[k] - b->lower[k] > least) ||
            !((b->lower[k] + b->upper[k]) / 2 < image[1 - k]))
            return false;
    return true;
}

static void propose(const struct kernel_call *k, const struct proposals *p, size_t image,
                    struct selection *s)
{
    struct suppression_rule rule = { SUPPRESS_HARD, kernel_float(k, ROLE_IOU_THRESHOLD, 0), 1, 0,
                                     false };
    int32_t before = kernel_int(k, ROLE_PRE_NMS_MAX, 0),
            after = kernel_int(k, ROLE_POST_NMS_MAX, 0);
    size_t n = p->rows * p->columns * p->n_anchors, kept = 0;
    float least = kernel_float(k, ROLE_MIN_SIZE, 0);
    struct scored_box *b = s->b + s->n;

    for (size_t i = 0; i < n; i++) {
        size_t at = image * n + i;
        s->box[at] = proposed(p, image, i);
        b[i] = (struct scored_box){ (uint32_t) at, (uint32_t) image, p->scores[at], &s->box[at] };
    }
    if (before > 0 && n > (size_t) before) {
        boxes_sort(b, n);
        n = (size_t) before;
    }
    for (size_t i = 0; i < n; i++)
        if (is_proposal(b[i].box, least, p->images + 2 * image))
            b[kept++] = b[i];
    s->n += boxes_suppress(&rule, b, kept, after > 0 ? (size_t) after : SIZE_MAX);
}

static int run_generate_proposals(struct kernel_call *k, struct why *w)
{
    bool nchw = kernel_int(k, ROLE_NCHW, 0) != 0;
    const uint32_t *d = k->arg[0]->shape.dim;
    struct proposals p = {
        .scores = floats_load_image(k, k->arg[0], nchw),
        .deltas = floats_load_image(k, k->arg[1], nchw),
        .anchors = floats_load(k, k->arg[2]),
        .images = floats_load(k, k->arg[3]),
        .rows = d[nchw ? 2 : 1],
        .columns = d[nchw ? 3 : 2],
        .n_anchors = d[nchw ? 1 : 3],
        .stride = { kernel_float(k, ROLE_STRIDE_WIDTH, 1), kernel_float(k, ROLE_STRIDE_HEIGHT, 1) },
    };
    struct selection s;

    if (!p.scores || !p.deltas || !p.anchors || !p.images)
        return why_no_memory(w);
    for (size_t a = 0; a < p.n_anchors; a++) {
        struct float_box b = box_load(p.anchors + 4 * a);
        if (!box_is_valid(&b))
            return out_of_order(w, a);
    }
    TRY(selection_new(k, tensor_count(k->arg[0]), &s, w));
    for (size_t image = 0; image < d[0]; image++)
        propose(k, &p, image, &s);
    TRY(store_selection(k, &s, w));
    for (size_t i = 0; i < s.n; i++)
        ((int32_t *) k->out[2]->data)[i] = (int32_t) s.b[i].group;
    return 0;
}

#define ALL (FLOATS | QUANTISED8)

static const struct kernel_roles limit_roles = {
    .role = { ROLE_NMS_KERNEL, ROLE_IOU_THRESHOLD, ROLE_SIGMA, ROLE_NMS_SCORE_THRESHOLD,
              ROLE_MAX_NUM_DETECTIONS, ROLE_SCORE_THRESHOLD },
};

static const struct kernel_roles proposals_roles = {
    .role = { ROLE_IOU_THRESHOLD, ROLE_PRE_NMS_MAX, ROLE_POST_NMS_MAX, ROLE_MIN_SIZE, ROLE_NCHW,
              ROLE_STRIDE_WIDTH, ROLE_STRIDE_HEIGHT },
};

const struct device_kernel float_detection_kernels[] = {
    { "AXIS_ALIGNED_BBOX_TRANSFORM", FLOATS | TYPE(Q16A), run_transform },
    { "BOX_WITH_NMS_LIMIT", ALL, run_box_with_nms_limit, &limit_roles },
    { "GENERATE_PROPOSALS", ALL, run_generate_proposals, &proposals_roles },
    { NULL },
};
