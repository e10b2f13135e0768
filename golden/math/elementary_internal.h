/* Numbers with twice the precision of double, as unevaluated sums with |lo| <= ulp(hi) / 2.  log,
 * pow and sin compute with them where double is not enough for a correctly rounded last bit. */
#ifndef GOLDEN_ELEMENTARY_INTERNAL_H
#define GOLDEN_ELEMENTARY_INTERNAL_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

struct pair {
    double hi, lo;
};

/* a + b, exact, for |a| >= |b| */
static inline struct pair pair_renormal(double a, double b)
{
    double hi = a + b;
    return (struct pair){ hi, b - (hi - a) };
}

/* a + b, exact */
static inline struct pair pair_sum(double a, double b)
{
    double hi = a + b, b2 = hi - a;
    return (struct pair){ hi, (a - (hi - b2)) + (b - b2) };
}

/* a * b, exact */
static inline struct pair pair_product(double a, double b)
{
    double hi = a * b;
    return (struct pair){ hi, fma(a, b, -hi) };
}

static inline struct pair pair_add(struct pair a, struct pair b)
{
    struct pair s = pair_sum(a.hi, b.hi);
    return pair_renormal(s.hi, s.lo + (a.lo + b.lo));
}

static inline struct pair pair_mul(struct pair a, struct pair b)
{
    struct pair p = pair_product(a.hi, b.hi);
    return pair_renormal(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}

#endif
