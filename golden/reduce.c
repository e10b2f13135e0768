#include "golden/reduce.h"

static const int32_t *axes_of(const struct call *c, int role, size_t *ret_n)
{
    const struct tensor *t = c->in[role];
    *ret_n = tensor_count(t);
    return t->data;
}

struct shape reduce_kept_shape(const struct call *c, int axes_role)
{
    struct shape s = c->arg[0]->shape;
    size_t n;
    const int32_t *axis = axes_of(c, axes_role, &n);

    for (size_t i = 0; i < n; i++)
        s.dim[axis[i] < 0 ? axis[i] + (int32_t) s.rank : axis[i]] = 1;
    return s;
}

static int check_axes(const struct call *c, int role, struct why *w)
{
    int32_t rank = (int32_t) c->arg[0]->shape.rank;
    size_t n;
    const int32_t *axis = axes_of(c, role, &n);

    for (size_t i = 0; i < n; i++)
        REQUIRE(w, axis[i] >= -rank && axis[i] < rank, "%s: %s[%zu] = %d is outside rank %d",
                c->op->name, c->op->in[role].name, i, axis[i], rank);
    return 0;
}

/* Dimensions that no axis names; [1] when there are none. */
static struct shape drop_axes(const struct call *c, int role)
{
    const struct shape *s = &c->arg[0]->shape;
    struct shape o = { 0 };
    unsigned reduced = 0;
    size_t n;
    const int32_t *axis = axes_of(c, role, &n);

    for (size_t i = 0; i < n; i++)
        reduced |= 1u << (axis[i] < 0 ? axis[i] + (int32_t) s->rank : axis[i]);
    for (uint32_t i = 0; i < s->rank; i++)
        if (!(reduced >> i & 1))
            o.dim[o.rank++] = s->dim[i];
    if (o.rank == 0)
        o.dim[o.rank++] = 1;
    return o;
}

int reduce_infer(struct call *c, int axes_role, int keep_role, struct why *w)
{
    if (!call_known(c, axes_role))
        return 0;
    TRY(check_axes(c, axes_role, w));
    if (!call_known(c, keep_role))
        return 0;
    c->out[0]->shape =
        call_int(c, keep_role) > 0 ? reduce_kept_shape(c, axes_role) : drop_axes(c, axes_role);
    return 0;
}

bool reduce_draw_axes(const struct call *c, struct drawer *d, struct tensor *to)
{
    uint32_t rank = c->arg[0]->shape.rank, n = 1 + d->below(d, rank);
    int32_t *axis = to->data, all[MAX_RANK];

    for (uint32_t i = 0; i < rank; i++)
        all[i] = (int32_t) i;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t k = i + d->below(d, rank - i);
        int32_t chosen = all[k];
        all[k] = all[i];
        axis[i] = d->below(d, 2) ? chosen : chosen - (int32_t) rank;
    }
    to->shape = (struct shape){ .rank = 1, .dim = { n } };
    return true;
}

size_t reduce_count(const struct call *c)
{
    size_t outputs = tensor_count(c->out[0]);
    return outputs ? tensor_count(c->arg[0]) / outputs : 0;
}
