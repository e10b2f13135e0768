#include "golden/ops/shared/elementwise/activation.h"

#include <math.h>

#include "golden/judge/bounds.h"
#include "golden/math/vector_loop.h"

static const struct activation_range range[] = {
    [ACTIVATION_NONE] = { -INFINITY, INFINITY },
    [ACTIVATION_RELU] = { 0, INFINITY },
    [ACTIVATION_RELU1] = { -1, 1 },
    [ACTIVATION_RELU6] = { 0, 6 },
};

struct activation_range activation_range(int32_t code)
{
    return range[code >= 0 && code < COUNT(range) ? code : ACTIVATION_NONE];
}

int activation_check(const struct call *c, int role, struct why *w)
{
    if (role == NO_ROLE || !call_known(c, role))
        return 0;
    int32_t code = call_int(c, role);
    REQUIRE(w, code >= 0 && code < COUNT(range), "%s: activation %d is not in 0..3", c->op->name,
            code);
    REQUIRE(w, code == ACTIVATION_NONE || c->out[0]->dtype != DT_I32,
            "%s: activation %d is not allowed for TENSOR_INT32, must be 0", c->op->name, code);
    return 0;
}

VECTOR_LOOP void activation_apply(const struct call *c, int role, double *restrict y, size_t n)
{
    int32_t code = role == NO_ROLE ? ACTIVATION_NONE : call_int(c, role);
    struct activation_range r = activation_range(code);
    const double lo = r.lo, hi = r.hi;
    if (code == ACTIVATION_NONE)
        return;
    for (size_t i = 0; i < n; i++) {
        double x = y[i] < lo ? lo : y[i];
        y[i] = x > hi ? hi : x;
    }
}

VECTOR_LOOP void activation_bound(const struct call *c, int role, const double *restrict y,
                                  double *restrict ey, size_t n)
{
    int32_t code = role == NO_ROLE ? ACTIVATION_NONE : call_int(c, role);
    struct activation_range r = activation_range(code);
    const double lo = r.lo, hi = r.hi;
    if (code == ACTIVATION_NONE)
        return;
    for (size_t i = 0; i < n; i++) {
        double e = ey[i], most = bound_smaller(e, bound_larger(y[i] - lo, hi - y[i]));
        ey[i] = e == INFINITY ? INFINITY : most; /* y may then be NaN, which is not clamped */
    }
}

void activation_of_cells(const struct ball_array *x, size_t n, int32_t code, double u,
                         const struct ball_array *to)
{
    if (code == CELL_LOGISTIC)
        ball_logistic_all(x, n, u, to);
    for (size_t i = 0; code != CELL_LOGISTIC && i < n; i++)
        ball_put(to, i, activation_of_cell(ball_at(x, i), code, u));
}

struct ball activation_of_cell(struct ball a, int32_t code, double u)
{
    if (code == CELL_TANH)
        return ball_tanh(a, u);
    if (code == CELL_LOGISTIC)
        return ball_logistic(a, u);
    struct activation_range r = activation_range(code);
    return code == CELL_NONE ? a : ball_clamp(a, r.lo, r.hi);
}
