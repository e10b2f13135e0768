#include "golden/ops/shared/axis.h"

struct axis axis_of(const struct shape *s, int32_t index)
{
    struct axis a = { .dim = (uint32_t) (index < 0 ? index + (int32_t) s->rank : index),
                      .outer = 1,
                      .inner = 1 };

    a.len = s->dim[a.dim];
    for (uint32_t i = 0; i < a.dim; i++)
        a.outer *= s->dim[i];
    for (uint32_t i = a.dim + 1; i < s->rank; i++)
        a.inner *= s->dim[i];
    return a;
}

struct shape axis_removed(const struct shape *s, int32_t index)
{
    uint32_t gone = axis_of(s, index).dim;
    struct shape o = { 0 };

    for (uint32_t i = 0; i < s->rank; i++)
        if (i != gone)
            o.dim[o.rank++] = s->dim[i];
    if (o.rank == 0)
        o.dim[o.rank++] = 1;
    return o;
}

struct axis call_axis(const struct call *c, int role)
{
    return axis_of(&c->arg[0]->shape, call_int(c, role));
}

int axis_check(const struct call *c, int role, struct why *w)
{
    if (!call_known(c, role))
        return 0;
    int32_t rank = (int32_t) c->arg[0]->shape.rank, axis = call_int(c, role);
    REQUIRE(w, axis >= -rank && axis < rank, "%s: %s %d is not in %d..%d", c->op->name,
            c->op->in[role].name, axis, -rank, rank - 1);
    return 0;
}
