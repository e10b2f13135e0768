#include <string.h>

#include "golden/ops/shared/image/boxes.h"

enum { HEATMAP, BOXES, LAYOUT };
enum { OUT_SCORES, OUT_KEYPOINTS };

static const struct role inputs[] = {
    [HEATMAP] = { "heatmap", "a square map for each box and keypoint", "NSSK", .slot = 0,
                  .image = true, .draw = DRAW_SHAPE },
    [BOXES] = { "boxes", "position of each map in its image: x1, y1, x2, y2", "N4", .slot = 1,
                .draw = DRAW_OP, .q = Q_FIXED, .qscale = 0.125 },
    [LAYOUT] = { "nchw", "true: the maps are NCHW", .slot = FIXED(DT_BOOL), .draw = DRAW_FLAG },
};

static const struct role outputs[] = {
    [OUT_SCORES] = { "scores", "the largest value, interpolated between the points of the map",
                     "NK", .slot = 0 },
    [OUT_KEYPOINTS] = { "keypoints", "its position in the image: x, y", "NK2", .slot = 1,
                        .q = Q_FIXED, .qscale = 0.125 },
};

static const struct form forms[] = {
    { "", { HEATMAP, BOXES, LAYOUT, END } },
};

static const struct typing typings[] = {
    /* since, ranks, maps, boxes */
    { L3, RANK(4), { DT_F16, DT_F16 } },
    { L3, RANK(4), { DT_F32, DT_F32 } },
    { L3, RANK(4), { DT_U8, DT_Q16A } },
    { L4, RANK(4), { DT_S8, DT_Q16A } },
};

static int infer(struct call *c, struct why *w)
{
    REQUIRE(w, c->letter['S'] >= 2, "%s: a heatmap of %u points a side, must be at least 2",
            c->op->name, c->letter['S']);
    return 0;
}

/* The map of one box and one keypoint. */
struct map {
    const struct call *c;
    size_t first; /* index of its element 0, 0 */
    size_t side, step;
};

static struct ball map_at(const struct map *m, size_t y, size_t x)
{
    return ball_operand(m->c, HEATMAP, m->first + (y * m->side + x) * m->step);
}

/* Index of the first of the largest elements.  decided: no other may be larger within its error. */
static size_t largest(const struct map *m, bool *ret_decided)
{
    size_t best = 0, n = m->side * m->side;

    for (size_t i = 1; i < n; i++)
        if (map_at(m, 0, i).x > map_at(m, 0, best).x)
            best = i;
    *ret_decided = true;
    for (size_t i = 0; i < n && m->c->unit > 0; i++)
        if (i != best && !ball_decided(map_at(m, 0, i), map_at(m, 0, best)))
            *ret_decided = false;
    return best;
}

/* Coordinate centre + d; beyond the edge the map is mirrored. */
static size_t mirrored(size_t centre, int d, size_t side)
{
    if (d < 0 && centre == 0)
        return 1;
    return d > 0 && centre + 1 == side ? side - 2 : centre + (size_t) d;
}

/* Quadratic approximation around the largest point: value, gradient, second derivatives. */
struct quadratic {
    struct ball value, gradient[2], second[2], mixed; /* of x (0) and y (1) */
};

static struct quadratic quadratic_at(const struct map *m, size_t y, size_t x)
{
    static const struct ball half = { 0.5, 0 }, quarter = { 0.25, 0 }, two = { 2, 0 };
    double u = m->c->unit;
    struct ball g[3][3];
    struct quadratic s;

    for (int i = -1; i <= 1; i++)
        for (int j = -1; j <= 1; j++)
            g[i + 1][j + 1] = map_at(m, mirrored(y, i, m->side), mirrored(x, j, m->side));
    struct ball twice = ball_product(g[1][1], two, 0);
    s.value = g[1][1];
    s.gradient[0] = ball_product(ball_difference(g[1][2], g[1][0], u), half, 0);
    s.gradient[1] = ball_product(ball_difference(g[2][1], g[0][1], u), half, 0);
    s.second[0] = ball_sum(ball_difference(g[1][0], twice, u), g[1][2], u);
    s.second[1] = ball_sum(ball_difference(g[0][1], twice, u), g[2][1], u);
    s.mixed =
        ball_sum(ball_difference(ball_difference(g[2][2], g[2][0], u), g[0][2], u), g[0][0], u);
    s.mixed = ball_product(s.mixed, quarter, 0);
    return s;
}

static struct ball negated(struct ball a)
{
    return (struct ball){ -a.x, a.e };
}

static struct ball magnitude(struct ball a)
{
    return (struct ball){ fabs(a.x), a.e };
}

/* Solves (second derivatives) * delta = -gradient: the offset of the extremum.  false: the matrix
 * is singular.  decided: that does not depend on the errors. */
static bool solve(const struct quadratic *s, double tolerance, double u, struct ball delta[2],
                  bool *decided)
{
    struct ball product = ball_product(s->second[0], s->second[1], u);
    struct ball det = ball_difference(product, ball_product(s->mixed, s->mixed, u), u);
    struct ball least =
        ball_sum(ball_exact(tolerance), ball_product(ball_exact(tolerance), product, u), u);

    *decided = *decided && ball_decided(magnitude(det), least);
    if (fabs(det.x) < least.x)
        return false;
    for (int k = 0; k < 2; k++) {
        struct ball top = ball_difference(ball_product(s->mixed, s->gradient[1 - k], u),
                                          ball_product(s->second[1 - k], s->gradient[k], u), u);
        delta[k] = ball_quotient(top, det, u);
    }
    return true;
}

/* Scales delta down so that no component exceeds 1.5. */
static void limit_delta(struct ball delta[2], double u)
{
    struct ball limit = ball_exact(1.5);
    struct ball longest = ball_max(magnitude(delta[0]), magnitude(delta[1]));

    if (!(longest.x + longest.e > limit.x))
        return;
    struct ball by = ball_min(ball_quotient(limit, longest, u), ball_exact(1));
    for (int k = 0; k < 2; k++)
        delta[k] = ball_product(delta[k], by, u);
}

/* value + gradient * delta + delta * (second derivatives) * delta / 2 */
static struct ball value_at(const struct quadratic *s, const struct ball delta[2], double u)
{
    static const struct ball half = { 0.5, 0 };
    struct ball y = s->value, curvature = ball_exact(0);

    for (int k = 0; k < 2; k++) {
        struct ball along = ball_sum(ball_product(s->second[k], delta[k], u),
                                     ball_product(s->mixed, delta[1 - k], u), u);
        y = ball_difference(y, ball_product(negated(s->gradient[k]), delta[k], u), u);
        curvature = ball_sum(curvature, ball_product(along, delta[k], u), u);
    }
    return ball_sum(y, ball_product(curvature, half, 0), u);
}

struct keypoint {
    struct ball score, position[2];
    bool decided;
};

static struct keypoint keypoint_of(const struct map *m, const struct box *box)
{
    const struct call *c = m->c;
    double u = c->unit, tolerance = c->arg[HEATMAP]->dtype == DT_F16 ? 1e-3 : 1e-5;
    struct ball delta[2] = { { 0, 0 }, { 0, 0 } }, side = ball_exact((double) m->side);
    struct keypoint k;
    size_t best = largest(m, &k.decided);
    size_t at[2] = { best % m->side, best / m->side };
    struct quadratic s = quadratic_at(m, at[1], at[0]);

    k.score = s.value;
    if (solve(&s, tolerance, u, delta, &k.decided)) {
        limit_delta(delta, u);
        k.score = value_at(&s, delta, u);
    }
    for (int i = 0; i < 2; i++) {
        struct ball point = ball_sum(ball_exact((double) at[i] + 0.5), delta[i], u);
        struct ball size = ball_difference(box->upper[i], box->lower[i], u);
        struct ball inside = ball_product(ball_quotient(point, side, u), size, u);
        k.position[i] = ball_sum(inside, box->lower[i], u);
    }
    return k;
}

static void write_value(struct call *c, size_t i, const struct keypoint *k)
{
    c->y[OUT_SCORES][i] = k->score.x;
    c->y[OUT_KEYPOINTS][2 * i] = k->position[0].x;
    c->y[OUT_KEYPOINTS][2 * i + 1] = k->position[1].x;
}

static void write_error(struct call *c, size_t i, const struct keypoint *k)
{
    c->ey[OUT_SCORES][i] = k->decided ? bound_clean(k->score.e) : INFINITY;
    for (size_t j = 0; j < 2; j++)
        c->ey[OUT_KEYPOINTS][2 * i + j] = k->decided ? bound_clean(k->position[j].e) : INFINITY;
}

static int each_keypoint(struct call *c,
                         void (*write)(struct call *, size_t, const struct keypoint *),
                         struct why *w)
{
    size_t side = c->letter['S'], keypoints = c->letter['K'];

    for (size_t i = 0; i < c->letter['N']; i++) {
        struct box box = box_read(c, BOXES, 4 * i);
        if (!box_valid(&box))
            return why_fail(w, WHY_EXECUTION, "%s: box %zu: x2 < x1 or y2 < y1", c->op->name, i);
        for (size_t k = 0; k < keypoints; k++) {
            struct map m = { c, i * side * side * keypoints + k, side, keypoints };
            struct keypoint point = keypoint_of(&m, &box);
            write(c, i * keypoints + k, &point);
        }
    }
    return 0;
}

static int eval(struct call *c, struct why *w)
{
    return each_keypoint(c, write_value, w);
}

static int bound(struct call *c, struct why *w)
{
    return each_keypoint(c, write_error, w);
}

enum { MOST_BOXES = 4, MOST_POINTS = 7, MOST_KEYPOINTS = 4, LARGEST = 60 };

static bool draw(const struct call *c, int role, struct drawer *d, struct tensor *to)
{
    int32_t *x = to->data;

    if (role == HEATMAP) {
        uint32_t side = 2 + d->below(d, MOST_POINTS - 1);
        to->shape = (struct shape){
            4, { 1 + d->below(d, MOST_BOXES), side, side, d->size(d, MOST_KEYPOINTS) }
        };
        return true;
    }
    if (c->letter['N'] > 16)
        return false;
    to->shape = (struct shape){ 2, { c->letter['N'], 4 } };
    for (uint32_t i = 0; i < c->letter['N']; i++)
        for (uint32_t k = 0; k < 2; k++) {
            x[4 * i + k] = (int32_t) d->below(d, LARGEST);
            x[4 * i + 2 + k] = x[4 * i + k] + (int32_t) d->below(d, LARGEST);
        }
    return true;
}

const struct op op_HEATMAP_MAX_KEYPOINT = {
    .code = OP_HEATMAP_MAX_KEYPOINT,
    .name = "HEATMAP_MAX_KEYPOINT",
    .summary = "Finds the largest value of each heatmap and its position between the points.",
    .formula =
        "p = argmax heatmap; delta = -A^-1 b, at most 1.5, for the gradient b and the second "
        "derivatives A at p; score = heatmap[p] + b delta + delta A delta / 2; "
        "keypoint = (p + delta + 0.5) / S * box size + box corner",
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
    .error = { ERROR_ELEMENT, .ulps = 1,
               .text = "carried through each step; undecided where another point may be the "
                       "largest, or the second derivatives may be singular" },
    .infer = infer,
    .eval = eval,
    .bound = bound,
    .draw = draw,
};
