#include "golden/ops/shared/reduce.h"

const struct role reduce_in[3] = {
    [REDUCE_INPUT] = { "input", "the tensor", "?" },
    [REDUCE_AXES] = { "axes", "dimensions to reduce, negative counts from the end", "A",
                      .slot = FIXED(DT_I32), .draw = DRAW_OP, .needs = NEEDS_CONST },
    [REDUCE_KEEP] = { "keep_dims", "true: reduced dimensions stay as 1; false: they are removed",
                      .slot = FIXED(DT_BOOL), .draw = DRAW_FLAG },
};

const struct role reduce_out[1] = {
    { "output", "the reduced tensor; [1] if no dimension is left", "?", .q = Q_SAME },
};

const struct form reduce_forms[1] = {
    { "", { REDUCE_INPUT, REDUCE_AXES, REDUCE_KEEP, END } },
};

const struct typing reduce_floats[2] = {
    /* since, ranks, input and result */
    { L3, RANKS(1, 4), { DT_F16 } },
    { L3, RANKS(1, 4), { DT_F32 } },
};

const struct typing reduce_bools[1] = {
    { L3, RANKS(1, 4), { DT_B8 } },
};

const struct typing reduce_ordered[4] = {
    /* since, ranks, input and result */
    { L3, RANKS(1, 4), { DT_F16 } },
    { L3, RANKS(1, 4), { DT_F32 } },
    { L3, RANKS(1, 4), { DT_U8 } },
    { L4, RANKS(1, 4), { DT_S8 } },
};

static const int32_t *axes_of(const struct call *c, size_t *ret_n)
{
    const struct tensor *t = c->in[REDUCE_AXES];
    *ret_n = tensor_count(t);
    return t->data;
}

struct shape reduce_kept_shape(const struct call *c)
{
    struct shape s = c->arg[0]->shape;
    size_t n;
    const int32_t *axis = axes_of(c, &n);

    for (size_t i = 0; i < n; i++)
        s.dim[axis[i] < 0 ? axis[i] + (int32_t) s.rank : axis[i]] = 1;
    return s;
}

/* The shape without the reduced dimensions; [1] if none is left. */
static struct shape drop_axes(const struct call *c)
{
    const struct shape *s = &c->arg[0]->shape;
    struct shape o = { 0 };
    unsigned reduced = 0;
    size_t n;
    const int32_t *axis = axes_of(c, &n);

    for (size_t i = 0; i < n; i++)
        reduced |= 1u << (axis[i] < 0 ? axis[i] + (int32_t) s->rank : axis[i]);
    for (uint32_t i = 0; i < s->rank; i++)
        if (!(reduced >> i & 1))
            o.dim[o.rank++] = s->dim[i];
    if (o.rank == 0)
        o.dim[o.rank++] = 1;
    return o;
}

int reduce_infer(struct call *c, struct why *w)
{
    int32_t rank = (int32_t) c->arg[0]->shape.rank;
    size_t n;

    if (!call_known(c, REDUCE_AXES))
        return 0;
    const int32_t *axis = axes_of(c, &n);
    for (size_t i = 0; i < n; i++)
        REQUIRE(w, axis[i] >= -rank && axis[i] < rank, "%s: %s[%zu] = %d is not in %d..%d",
                c->op->name, c->op->in[REDUCE_AXES].name, i, axis[i], -rank, rank - 1);
    if (call_known(c, REDUCE_KEEP))
        c->out[0]->shape = call_int(c, REDUCE_KEEP) > 0 ? reduce_kept_shape(c) : drop_axes(c);
    return 0;
}

bool reduce_draw(const struct call *c, int role, struct drawer *d, struct tensor *to)
{
    uint32_t rank = c->arg[0]->shape.rank, n = 1 + d->below(d, rank);
    int32_t *axis = to->data, all[MAX_RANK];

    (void) role;
    for (uint32_t i = 0; i < rank; i++)
        all[i] = (int32_t) i;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t k = i + d->below(d, rank - i);
        int32_t chosen = all[k];
        all[k] = all[i];
        axis[i] = d->below(d, 2) ? chosen : chosen - (int32_t) rank;
    }
    uint32_t kind = d->below(d, 8);
    if (kind < 3 && kind > 0 && rank == 4) { /* rows and columns of images */
        n = 2;
        axis[0] = kind == 1 ? 1 : -3;
        axis[1] = kind == 1 ? 2 : -2;
    }
    if (kind == 0) { /* one of them twice */
        int32_t again = axis[d->below(d, n)], size = (int32_t) rank;
        axis[n++] = d->below(d, 2) ? again : again < 0 ? again + size : again - size;
    }
    to->shape = (struct shape){ .rank = 1, .dim = { n } };
    return true;
}

size_t reduce_count(const struct call *c)
{
    size_t outputs = tensor_count(c->out[0]);
    return outputs ? tensor_count(c->arg[0]) / outputs : 0;
}

double *reduce_scratch(const struct call *c, struct why *w)
{
    size_t n = tensor_count(c->out[0]);
    double *to = arena_alloc_raw(c->scratch, n + 1, sizeof(double));

    if (!to)
        why_no_memory_for(w, "%s: %zu elements", c->op->name, n);
    return to;
}

static double add(double acc, double x)
{
    return acc + x;
}

static double add_magnitude(double acc, double x)
{
    return acc + fabs(x);
}

static double smaller(double acc, double x)
{
    return x < acc ? x : acc;
}

static double larger(double acc, double x)
{
    return x > acc ? x : acc;
}

int reduce_bound_sum(struct call *c, struct why *w)
{
    size_t n = tensor_count(c->out[0]), k = reduce_count(c);
    double *magnitude = reduce_scratch(c, w), *lo = reduce_scratch(c, w);
    double *hi = reduce_scratch(c, w), *ey = c->ey[0], terms = (double) k;
    const double *x = c->x[REDUCE_INPUT];

    if (!magnitude || !lo || !hi)
        return -1;
    reduce_fold(c, x, 0, add_magnitude, magnitude);
    reduce_fold(c, x, INFINITY, smaller, lo);
    reduce_fold(c, x, -INFINITY, larger, hi);
    if (c->ex[REDUCE_INPUT])
        reduce_fold(c, c->ex[REDUCE_INPUT], 0, add, ey);
    for (size_t i = 0; i < n; i++) {
        double carried = c->ex[REDUCE_INPUT] ? ey[i] : 0;
        /* the smallest magnitude of the inputs if all have the same sign, else 0 */
        double common = lo[i] > 0 ? lo[i] : hi[i] < 0 ? -hi[i] : 0;
        double alike = k > 0 ? terms * common : 0;
        double rounded = bound_sum(c, k, magnitude[i]) + terms / 2 * c->unit * alike;
        ey[i] = bound_partial_sums(bound_clean(carried + rounded), magnitude[i] + carried, c->unit);
    }
    return 0;
}
