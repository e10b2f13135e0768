#include "golden/ops/shared/strided.h"

#include "golden/model/copy_elements.h"

void slice_move(const struct call *c, const struct slice_axis *axis, const struct movement *m)
{
    const struct shape *in = &c->arg[0]->shape;
    struct shape out = { in->rank };
    ptrdiff_t from[MAX_RANK], to[MAX_RANK], at = 0;
    struct mover_axis box[MAX_RANK];

    for (uint32_t i = 0; i < in->rank; i++)
        out.dim[i] = axis[i].count;
    if (shape_count(&out) == 0)
        return;
    mover_strides(in, from);
    mover_strides(&out, to);
    for (uint32_t i = 0; i < in->rank; i++) {
        box[i] = (struct mover_axis){ out.dim[i], (ptrdiff_t) axis[i].step * from[i], to[i] };
        at += (ptrdiff_t) axis[i].begin * from[i];
    }
    mover_copy(m->size, box, in->rank, (const char *) m->from[0] + (size_t) at * m->size, m->to[0]);
}
