#include "golden/ops/shared/arg_min_max.h"

#include "golden/base/arena.h"
#include "golden/judge/bounds.h"

enum { INPUT, AXIS };

const struct role arg_min_max_in[2] = {
    [INPUT] = { "input", "the tensor", "?" },
    [AXIS] = { "axis", "dimension to search, negative counts from the end", .slot = FIXED(DT_INT32),
               .draw = DRAW_AXIS },
};

const struct role arg_min_max_out[1] = {
    { "output", "indexes, in the shape of the input without the axis; [1] for a vector", "?",
      .slot = FIXED(DT_I32) },
};

const struct form arg_min_max_forms[1] = {
    { "", { INPUT, AXIS, END } },
};

const struct typing arg_min_max_typings[5] = {
    /* since, ranks, input */
    { L3, RANKS(1, MAX_RANK), { DT_F16 } }, { L3, RANKS(1, MAX_RANK), { DT_F32 } },
    { L3, RANKS(1, MAX_RANK), { DT_I32 } }, { L3, RANKS(1, MAX_RANK), { DT_U8 } },
    { L3, RANKS(1, MAX_RANK), { DT_S8 } },
};

int arg_min_max_infer(struct call *c, struct why *w)
{
    TRY(axis_check(c, AXIS, w));
    if (call_known(c, AXIS))
        c->out[0]->shape = axis_removed(&c->arg[INPUT]->shape, call_int(c, AXIS));
    return 0;
}

static size_t find_extreme(const double *x, size_t len, size_t step, double sign)
{
    size_t best = 0;

    for (size_t i = 1; i < len; i++)
        if (sign * x[i * step] > sign * x[best * step])
            best = i;
    return best;
}

int arg_min_max_eval(struct call *c, double sign, struct why *w)
{
    struct axis a = call_axis(c, AXIS);

    if (a.len == 0 && a.outer * a.inner > 0)
        return why_fail(w, WHY_EXECUTION, "%s: the dimension to search has no elements",
                        c->op->name);
    for (size_t o = 0; o < a.outer; o++)
        for (size_t i = 0; i < a.inner; i++)
            c->y[0][o * a.inner + i] =
                (double) find_extreme(c->x[INPUT] + o * a.len * a.inner + i, a.len, a.inner, sign);
    return 0;
}

/* Lists the indexes whose element may be the extreme: all that are not certainly less than another
 * one.  Returns their number. */
static size_t list_candidates(const double *x, const double *ex, const struct axis *a, double sign,
                              double *ret_index)
{
    double floor = -INFINITY;
    size_t n = 0;

    for (size_t i = 0; i < a->len; i++)
        floor = fmax(floor, sign * x[i * a->inner] - (ex ? ex[i * a->inner] : 0));
    for (size_t i = 0; i < a->len; i++)
        if (!(sign * x[i * a->inner] + (ex ? ex[i * a->inner] : 0) < floor))
            ret_index[n++] = (double) i;
    return n;
}

int arg_min_max_bound(struct call *c, double sign, struct why *w)
{
    struct axis a = call_axis(c, AXIS);
    size_t n = a.outer * a.inner;
    struct choices s = { arena_alloc(c->scratch, n + 1, sizeof *s.first),
                         arena_alloc_raw(c->scratch, n * a.len + 1, sizeof *s.value) };

    if (!s.first || !s.value)
        return why_no_memory_for(w, "%s: %zu indexes", c->op->name, n * a.len);
    for (size_t to = 0; to < n; to++) {
        size_t at = to / a.inner * a.len * a.inner + to % a.inner, first = s.first[to];
        const double *ex = c->ex[INPUT] ? c->ex[INPUT] + at : NULL;
        size_t last = first + list_candidates(c->x[INPUT] + at, ex, &a, sign, s.value + first);
        s.first[to + 1] = last;
        c->ey[0][to] = bound_interval(c->y[0][to], s.value[first], s.value[last - 1]);
    }
    if (s.first[n] > n)
        c->choices[0] = s;
    return 0;
}
