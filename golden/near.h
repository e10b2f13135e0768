/* Values with their errors, for operations in which errors pass through several steps.
 *
 * A struct near is a value and how far an implementation may be from it.  Each function computes
 * as the reference does and carries the errors of its arguments through, to first order or by
 * interval, adding what arithmetic of roundoff u may add.  u = 0: errors are not asked for, and e
 * says nothing. */
#ifndef GOLDEN_NEAR_H
#define GOLDEN_NEAR_H

#include "golden/bounds.h"

struct near {
    double x, e;
};

/* An array of them; e NULL: exact, or not asked for. */
struct near_array {
    double *x, *e;
};

static inline struct near near_at(const struct near_array *a, size_t i)
{
    return (struct near){ a->x[i], a->e ? a->e[i] : 0 };
}

static inline void near_put(const struct near_array *a, size_t i, struct near y)
{
    a->x[i] = y.x;
    if (a->e)
        a->e[i] = bound_clean(y.e);
}

static inline struct near_array near_from(const struct near_array *a, size_t i)
{
    return (struct near_array){ a->x + i, a->e ? a->e + i : NULL };
}

static inline struct near near_sum(struct near a, struct near b, double u)
{
    double x = a.x + b.x;

    return (struct near){ x, a.e + b.e + u * fabs(x) };
}

static inline struct near near_product(struct near a, struct near b, double u)
{
    double x = a.x * b.x;

    return (struct near){ x, bound_scaled(a.x, b.e) + bound_scaled(b.x, a.e) + a.e * b.e +
                                 u * fabs(x) + (u > 0 ? bound_tiny(u) : 0) };
}

/* Into -limit..limit; limit 0: as it is. */
struct near near_clip(struct near a, double limit);

struct near near_logistic(struct near a, double u);

/* The activations of recurrent cells: 0 none, 1 ReLU, 2 ReLU1, 3 ReLU6, 4 tanh, 6 logistic. */
enum { NEAR_NONE, NEAR_RELU, NEAR_RELU1, NEAR_RELU6, NEAR_TANH, NEAR_LOGISTIC = 6 };
struct near near_activation(struct near a, int32_t code, double u);

/* In place: (x - mean) / deviation over n values that follow each other.  A variance of zero, where
 * the quotient has no value, is kept away by an epsilon of 1e-8, as implementations do in one way
 * or another. */
void near_normalise(const struct near_array *a, size_t n, double u, double dot_factor);

#endif
