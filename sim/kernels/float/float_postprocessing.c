/* DETECTION_POSTPROCESSING and HEATMAP_MAX_KEYPOINT in floats. */
#include <math.h>
#include <string.h>

#include "sim/kernels/float/float_boxes.h"

/* ---- DETECTION_POSTPROCESSING */

struct detection {
    const float *scores, *deltas, *anchors; /* scores and deltas of the current image */
    size_t n, classes, length;              /* length: deltas per anchor */
    float scale[4];
    struct float_box *box;
    struct scored_box *b; /* room for (n + 1) * classes */
    size_t n_selected;
    struct suppression_rule rule;
    bool regular;
};

static struct float_box decoded(const struct detection *d, size_t i)
{
    const float *anchor = d->anchors + 4 * i;
    float delta[4];

    for (int k = 0; k < 4; k++)
        delta[k] = d->deltas[i * d->length + (size_t) k] / d->scale[k];
    return box_regress(anchor, anchor + 2, delta);
}

/* Regular suppression: for each class separately. */
static void select_by_class(const struct kernel_call *k, struct detection *d)
{
    float threshold = kernel_float(k, ROLE_SCORE_THRESHOLD, 0);
    size_t most = (size_t) kernel_int(k, ROLE_MAX_NUM_DETECTIONS, 1), kept = 0;
    size_t of_class = (size_t) kernel_int(k, ROLE_MAX_NUM_DETECTIONS_PER_CLASS, 1);

    for (size_t c = 1; c < d->classes; c++) {
        struct scored_box *b = d->b + kept;
        for (size_t i = 0; i < d->n; i++) {
            size_t at = i * d->classes + c;
            b[i] = (struct scored_box){ (uint32_t) at, 0, d->scores[at], &d->box[i] };
        }
        kept += boxes_suppress(&d->rule, b, boxes_above_score(b, d->n, threshold), of_class);
    }
    boxes_sort(d->b, kept);
    d->n_selected = kept < most ? kept : most;
}

/* Fast suppression: each box once, by the score of its best class. */
static void select_by_best(const struct kernel_call *k, struct detection *d)
{
    float threshold = kernel_float(k, ROLE_SCORE_THRESHOLD, 0);
    size_t most = (size_t) kernel_int(k, ROLE_MAX_NUM_DETECTIONS, 1);

    for (size_t i = 0; i < d->n; i++) {
        const float *of = d->scores + i * d->classes;
        float best = of[1];
        for (size_t c = 2; c < d->classes; c++)
            best = fmaxf(best, of[c]);
        d->b[i] = (struct scored_box){ (uint32_t) i, 0, best, &d->box[i] };
    }
    d->n_selected = boxes_suppress(&d->rule, d->b, boxes_above_score(d->b, d->n, threshold), most);
}

/* Results of one image, and the number of detections in them. */
struct places {
    float *scores, *boxes;
    int32_t *classes;
    int32_t background; /* label of class 0 */
    size_t n;
};

static void put(struct places *p, const struct float_box *box, float score, size_t class)
{
    p->scores[p->n] = score;
    box_store(box, p->boxes + 4 * p->n);
    p->classes[p->n++] = (int32_t) class + p->background;
}

/* Appends the best classes of an anchor, in descending order of score. */
static void put_best_classes(const struct kernel_call *k, const struct detection *d,
                             const struct scored_box *from, struct places *p)
{
    size_t most = (size_t) kernel_int(k, ROLE_MAX_CLASSES_PER_DETECTION, 1),
           classes = d->classes - 1;
    struct scored_box *best = d->b + d->n;

    for (size_t c = 0; c < classes; c++)
        best[c] = (struct scored_box){ (uint32_t) c + 1, 0,
                                       d->scores[from->index * d->classes + c + 1], from->box };
    boxes_sort(best, classes);
    for (size_t c = 0; c < classes && c < most; c++)
        put(p, from->box, best[c].score, best[c].index);
}

static void detect(const struct kernel_call *k, struct detection *d, struct places *p)
{
    for (size_t i = 0; i < d->n; i++)
        d->box[i] = decoded(d, i);
    if (d->regular)
        select_by_class(k, d);
    else
        select_by_best(k, d);
    for (size_t i = 0; i < d->n_selected; i++)
        if (d->regular)
            put(p, d->b[i].box, d->b[i].score, d->b[i].index % d->classes);
        else
            put_best_classes(k, d, &d->b[i], p);
}

/* Elements beyond the number of detections are 0. */
static int run_detection(struct kernel_call *k, struct why *w)
{
    size_t room = k->out[0]->shape.dim[1], n = tensor_count(k->out[0]);
    int32_t background = kernel_int(k, ROLE_BACKGROUND_IN_LABELS, 0) ? 0 : -1;
    float *scores = arena_alloc(k->scratch, n + 1, sizeof *scores);
    float *boxes = arena_alloc(k->scratch, 4 * n + 1, sizeof *boxes);
    int32_t *classes = k->out[2]->data, *counts = k->out[3]->data;
    const uint32_t *s = k->arg[0]->shape.dim;
    struct detection d = {
        .scores = floats_load(k, k->arg[0]),
        .deltas = floats_load(k, k->arg[1]),
        .anchors = floats_load(k, k->arg[2]),
        .n = s[1],
        .classes = s[2],
        .length = k->arg[1]->shape.dim[2],
        .scale = { kernel_float(k, ROLE_SCALE_Y, 1), kernel_float(k, ROLE_SCALE_X, 1),
                   kernel_float(k, ROLE_SCALE_H, 1), kernel_float(k, ROLE_SCALE_W, 1) },
        .box = arena_alloc(k->scratch, (size_t) s[1] + 1, sizeof *d.box),
        .b = arena_alloc(k->scratch, ((size_t) s[1] + 1) * s[2], sizeof *d.b),
        .rule = { SUPPRESS_HARD, kernel_float(k, ROLE_IOU_THRESHOLD, 0), 1, 0, false },
        .regular = kernel_int(k, ROLE_REGULAR_NMS, 0) != 0,
    };

    if (!scores || !boxes || !d.scores || !d.deltas || !d.anchors || !d.box || !d.b)
        return why_no_memory(w);
    memset(classes, 0, tensor_bytes(k->out[2]));
    for (size_t b = 0; b < s[0]; b++) {
        struct places p = { scores + b * room, boxes + 4 * b * room, classes + b * room, background,
                            0 };
        detect(k, &d, &p);
        counts[b] = (int32_t) p.n;
        d.scores += d.n * d.classes;
        d.deltas += d.n * d.length;
    }
    floats_store(k, scores, k->out[0]);
    floats_store(k, boxes, k->out[1]);
    return 0;
}

/* ---- HEATMAP_MAX_KEYPOINT */

/* The square heat map of one keypoint; step: distance of neighbouring pixels in elements. */
struct map {
    const float *x;
    size_t side, step;
};

static float at(const struct map *m, size_t y, size_t x)
{
    return m->x[(y * m->side + x) * m->step];
}

/* Index of the neighbour at distance d (-1, 0, 1); the map is mirrored at its edges. */
static size_t beside(size_t centre, int d, size_t side)
{
    if (d < 0)
        return centre ? centre - 1 : 1;
    return centre + (size_t) d < side ? centre + (size_t) d : side - 2;
}

/* The maximum of the quadratic surface through the largest pixel and its neighbours (one Newton
 * step, of at most 1.5 pixels): offset from that pixel, and value. */
struct top {
    float delta[2], height; /* x, y */
};

static struct top top_of(const struct map *m, size_t y, size_t x, float tolerance)
{
    float g[3][3];

    for (int i = -1; i <= 1; i++)
        for (int j = -1; j <= 1; j++)
            g[i + 1][j + 1] = at(m, beside(y, i, m->side), beside(x, j, m->side));
    float sx = (g[1][2] - g[1][0]) / 2, sy = (g[2][1] - g[0][1]) / 2;
    float xx = g[1][0] - 2 * g[1][1] + g[1][2], yy = g[0][1] - 2 * g[1][1] + g[2][1];
    float xy = (g[2][2] - g[2][0] - g[0][2] + g[0][0]) / 4, det = xx * yy - xy * xy;

    if (fabsf(det) < tolerance + tolerance * (xx * yy))
        return (struct top){ { 0, 0 }, g[1][1] };
    float dx = (xy * sy - yy * sx) / det, dy = (xy * sx - xx * sy) / det;
    float longest = fmaxf(fabsf(dx), fabsf(dy));
    if (longest > 1.5f) {
        dx *= 1.5f / longest;
        dy *= 1.5f / longest;
    }
    float bend = (xx * dx + xy * dy) * dx + (xy * dx + yy * dy) * dy;
    return (struct top){ { dx, dy }, g[1][1] + sx * dx + sy * dy + bend / 2 };
}

static size_t largest(const struct map *m)
{
    size_t best = 0;

    for (size_t i = 1; i < m->side * m->side; i++)
        if (at(m, 0, i) > at(m, 0, best))
            best = i;
    return best;
}

static void find_keypoint(const struct map *m, const float *box, float tolerance, float *score,
                          float *place)
{
    size_t best = largest(m), where[2] = { best % m->side, best / m->side };
    struct top top = top_of(m, where[1], where[0], tolerance);

    *score = top.height;
    for (int i = 0; i < 2; i++)
        place[i] =
            ((float) where[i] + 0.5f + top.delta[i]) / (float) m->side * (box[2 + i] - box[i]) +
            box[i];
}

static int run_heatmap(struct kernel_call *k, struct why *w)
{
    bool nchw = kernel_int(k, ROLE_NCHW, 0) != 0;
    const float *maps = floats_load_image(k, k->arg[0], nchw), *boxes = floats_load(k, k->arg[1]);
    size_t n = k->out[0]->shape.dim[0], points = k->out[0]->shape.dim[1];
    size_t side = k->arg[0]->shape.dim[2];
    float tolerance = k->arg[0]->dtype == DT_F16 ? 1e-3f : 1e-5f;
    float *scores = floats_new(k, n * points), *places = floats_new(k, 2 * n * points);

    if (!maps || !boxes || !scores || !places)
        return why_no_memory(w);
    for (size_t i = 0; i < n; i++) {
        struct float_box b = box_load(boxes + 4 * i);
        if (!box_is_valid(&b))
            return why_fail(w, WHY_EXECUTION, "box %zu: the second corner is below the first", i);
        for (size_t p = 0; p < points; p++) {
            struct map m = { maps + i * side * side * points + p, side, points };
            find_keypoint(&m, boxes + 4 * i, tolerance, &scores[i * points + p],
                          &places[2 * (i * points + p)]);
        }
    }
    floats_store(k, scores, k->out[0]);
    floats_store(k, places, k->out[1]);
    return 0;
}

#define ALL (FLOATS | QUANTISED8)

static const struct kernel_roles detection_roles = {
    .role = { ROLE_SCORE_THRESHOLD, ROLE_MAX_NUM_DETECTIONS, ROLE_MAX_NUM_DETECTIONS_PER_CLASS,
              ROLE_MAX_CLASSES_PER_DETECTION, ROLE_SCALE_Y, ROLE_SCALE_X, ROLE_SCALE_H,
              ROLE_SCALE_W, ROLE_IOU_THRESHOLD, ROLE_REGULAR_NMS, ROLE_BACKGROUND_IN_LABELS },
};

static const struct kernel_roles heatmap_roles = { .role = { ROLE_NCHW } };

const struct device_kernel float_keypoint_kernels[] = {
    { "DETECTION_POSTPROCESSING", FLOATS, run_detection, &detection_roles },
    { "HEATMAP_MAX_KEYPOINT", ALL, run_heatmap, &heatmap_roles },
    { NULL },
};
