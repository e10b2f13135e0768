#include "golden/ops/shared/image/boxes.h"

#define BOXES_INLINE static inline __attribute__((always_inline))

static const struct ball zero = { 0, 0 }, half = { 0.5, 0 };

struct box box_read(const struct call *c, int arg, size_t at)
{
    struct box b;

    for (size_t k = 0; k < 2; k++) {
        b.lower[k] = ball_operand(c, arg, at + k);
        b.upper[k] = ball_operand(c, arg, at + 2 + k);
    }
    return b;
}

bool box_valid(const struct box *b)
{
    return b->lower[0].x <= b->upper[0].x && b->lower[1].x <= b->upper[1].x;
}

struct box_centre box_centre(const struct box *b, double u)
{
    struct box_centre c;

    for (int k = 0; k < 2; k++) {
        c.centre[k] = ball_product(ball_sum(b->lower[k], b->upper[k], u), half, 0);
        c.size[k] = ball_difference(b->upper[k], b->lower[k], u);
    }
    return c;
}

struct box box_decode(const struct box_centre *b, const struct ball delta[4], double u)
{
    struct box to;

    for (int k = 0; k < 2; k++) {
        struct ball centre = ball_sum(b->centre[k], ball_product(delta[k], b->size[k], u), u);
        struct ball size = ball_product(ball_exp(delta[2 + k], u), b->size[k], u);
        to.lower[k] = ball_difference(centre, ball_product(size, half, 0), u);
        to.upper[k] = ball_sum(centre, ball_product(size, half, 0), u);
    }
    return to;
}

struct box box_clip(const struct box *b, const struct ball limit[2])
{
    struct box to;

    for (int k = 0; k < 2; k++) {
        to.lower[k] = ball_min(ball_max(b->lower[k], zero), limit[k]);
        to.upper[k] = ball_min(ball_max(b->upper[k], zero), limit[k]);
    }
    return to;
}

BOXES_INLINE struct ball area(const struct box *b, double u)
{
    return ball_product(ball_difference(b->upper[0], b->lower[0], u),
                        ball_difference(b->upper[1], b->lower[1], u), u);
}

BOXES_INLINE struct ball common_side(const struct box *a, const struct box *b, int k, double u)
{
    struct ball from = ball_max(a->lower[k], b->lower[k]);
    struct ball to = ball_min(a->upper[k], b->upper[k]);

    return ball_max(ball_difference(to, from, u), zero);
}

BOXES_INLINE bool surely_before(struct ball a, struct ball b)
{
    return a.x + a.e < b.x - b.e;
}

/* Whether, within the errors, both boxes have an area and do not touch. */
BOXES_INLINE bool surely_apart(const struct box *a, const struct box *b)
{
    for (int k = 0; k < 2; k++)
        if (!surely_before(a->lower[k], a->upper[k]) || !surely_before(b->lower[k], b->upper[k]))
            return false;
    for (int k = 0; k < 2; k++)
        if (surely_before(a->upper[k], b->lower[k]) || surely_before(b->upper[k], a->lower[k]))
            return true;
    return false;
}

BOXES_INLINE struct ball overlap_of(const struct box *a, const struct box *b, double u)
{
    if (surely_apart(a, b))
        return zero;
    struct ball side = common_side(a, b, 0, u), other = common_side(a, b, 1, u);
    struct ball common = ball_product(side, other, u);
    struct ball all = ball_difference(ball_sum(area(a, u), area(b, u), u), common, u);
    bool touch = (side.x == 0 && side.e == 0) || (other.x == 0 && other.e == 0);

    if (touch && all.x > all.e)
        return zero;
    struct ball overlap = ball_quotient(common, all, u);
    if (isnan(overlap.x))
        return (struct ball){ 0, u > 0 ? INFINITY : 0 };
    return overlap;
}

void box_write(const struct box *b, double *y, double *e)
{
    for (int k = 0; k < 2; k++) {
        if (y) {
            y[k] = b->lower[k].x;
            y[2 + k] = b->upper[k].x;
        } else {
            e[k] = b->lower[k].e;
            e[2 + k] = b->upper[k].e;
        }
    }
}

/* Non-maximum suppression spends most of its time here; with the constant u = 0 the compiler
 * removes the computation of errors. */
struct ball box_overlap(const struct box *a, const struct box *b, double u)
{
    return u == 0 ? ball_exact(overlap_of(a, b, 0).x) : overlap_of(a, b, u);
}
