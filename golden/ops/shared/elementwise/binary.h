/* Element-wise operations of two broadcast operands: inputs 0 and 1, output 0.
 *
 * An operation passes its scalar function; the loops here are inlined around it, once for each
 * combination of advancing and repeating operands, so that the compiler can vectorise them. */
#ifndef GOLDEN_BINARY_H
#define GOLDEN_BINARY_H

#include <string.h>

#include "golden/judge/bounds.h"
#include "golden/ops/shared/elementwise/activation.h"
#include "golden/ops/shared/elementwise/broadcast.h"

#define BINARY_INLINE static inline __attribute__((always_inline))

/* Roles and form of most of these records: two operands that broadcast. */
extern const struct role binary_in[2], binary_out[1];
extern const struct form binary_forms[1];

/* The same with a fused activation as the third operand.  fused_infer() is the operation's infer();
 * its eval() and bound() end with fused_apply() and fused_bound(). */
extern const struct role fused_in[3];
extern const struct form fused_forms[1];
int fused_infer(struct call *c, struct why *w);
void fused_apply(struct call *c);
void fused_bound(struct call *c);

/* eval(): y = f(a, b) */
BINARY_INLINE void binary_eval(struct call *c, double (*f)(double a, double b))
{
    struct broadcast it;
    const struct shape *sa = &c->arg[0]->shape, *sb = &c->arg[1]->shape;

    for (bool more = broadcast_first(&it, sa, sb); more; more = broadcast_next(&it)) {
        const double *a = c->x[0] + it.a, *b = c->x[1] + it.b;
        double *y = c->y[0] + it.at;
        if (it.step_a && it.step_b)
            for (size_t i = 0; i < it.run; i++)
                y[i] = f(a[i], b[i]);
        else if (it.step_a)
            for (size_t i = 0; i < it.run; i++)
                y[i] = f(a[i], *b);
        else
            for (size_t i = 0; i < it.run; i++)
                y[i] = f(*a, b[i]);
    }
}

/* eval_int(): the same on TENSOR_INT32 data. */
BINARY_INLINE void binary_eval_int(struct call *c, int32_t (*f)(int32_t a, int32_t b))
{
    struct broadcast it;
    const struct tensor *ta = c->arg[0], *tb = c->arg[1];

    for (bool more = broadcast_first(&it, &ta->shape, &tb->shape); more;
         more = broadcast_next(&it)) {
        const int32_t *a = (const int32_t *) ta->data + it.a;
        const int32_t *b = (const int32_t *) tb->data + it.b;
        int32_t *y = (int32_t *) c->out[0]->data + it.at;
        for (size_t i = 0; i < it.run; i++)
            y[i] = f(a[i * it.step_a], b[i * it.step_b]);
    }
}

/* One run of binary_bound(): operands and their errors advance by 1 or 0. */
BINARY_INLINE void binary_bound_run(size_t n, const double *a, const double *ea, size_t step_a,
                                    const double *b, const double *eb, size_t step_b,
                                    double *restrict ey,
                                    double (*carry)(double a, double b, double ea, double eb))
{
    for (size_t i = 0; i < n; i++) {
        size_t k = i * step_a, l = i * step_b;
        double e = bound_clean(carry(a[k], b[l], ea[k], eb[l]));
        ey[i] = ((ea[k] < INFINITY) & (eb[l] < INFINITY)) ? e : INFINITY;
    }
}

/* bound(): ey = carry(a, b, ea, eb).  An operand without a bound may be NaN, and so the result. */
BINARY_INLINE void binary_bound(struct call *c,
                                double (*carry)(double a, double b, double ea, double eb))
{
    struct broadcast it;
    const struct shape *sa = &c->arg[0]->shape, *sb = &c->arg[1]->shape;

    for (bool more = broadcast_first(&it, sa, sb); more; more = broadcast_next(&it)) {
        const double *a = c->x[0] + it.a, *b = c->x[1] + it.b;
        const double *ea = c->ex[0] ? c->ex[0] + it.a : NULL;
        const double *eb = c->ex[1] ? c->ex[1] + it.b : NULL;
        double *ey = c->ey[0] + it.at;
        if (ea && eb && it.step_a && it.step_b)
            binary_bound_run(it.run, a, ea, 1, b, eb, 1, ey, carry);
        else
            for (size_t i = 0; i < it.run; i++) {
                size_t k = i * it.step_a, l = i * it.step_b;
                double da = ea ? ea[k] : 0, db = eb ? eb[l] : 0;
                bool open = !(da < INFINITY && db < INFINITY);
                ey[i] = open ? INFINITY : bound_clean(carry(a[k], b[l], da, db));
            }
    }
}

/* For sums, which may cancel: adds to ey the error of converting quantised operands to a common
 * scale. */
void binary_bound_scaling(struct call *c);

/* For carry(): the error of f(a, b) for an f that is monotone in each operand, so that its extremes
 * over both error intervals are at their corners or at `between`, a value that f takes inside them
 * (y if there is none).  y: f(a, b). */
BINARY_INLINE double binary_corners(double (*f)(double a, double b), double a, double b, double ea,
                                    double eb, double y, double between)
{
    double lo = between, hi = between;

    for (int i = 0; i < 4; i++) {
        if ((i & 1 && ea == 0) || (i & 2 && eb == 0)) /* the same corner again */
            continue;
        double corner = f(i & 1 ? a + ea : a - ea, i & 2 ? b + eb : b - eb);
        if (isnan(corner))
            return INFINITY;
        lo = bound_smaller(lo, corner);
        hi = bound_larger(hi, corner);
    }
    return isnan(y) ? INFINITY : bound_interval(y, lo, hi); /* an infinity times 0, or nearly 0 */
}

/* For carry(): the error of an int32 result whose exact value is `exact`, off by up to e.  INFINITY
 * where the value may leave the range of int32, because it then wraps. */
static inline double binary_wrapping(double exact, double e)
{
    return e > 0 && fabs(exact) + e >= 0x1p31 ? INFINITY : e;
}

#endif
