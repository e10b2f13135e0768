#include "golden/ops/shared/strided.h"

#include "golden/model/copy_elements.h"

void strided_copy(const struct call *c, const struct strided_axis *axis, const struct movement *m)
{
    const struct shape *in = &c->arg[0]->shape;
    struct shape out = { in->rank };
    ptrdiff_t from[MAX_RANK], to[MAX_RANK], at = 0;
    struct copy_axis box[MAX_RANK];

    for (uint32_t i = 0; i < in->rank; i++)
        out.dim[i] = axis[i].count;
    if (shape_count(&out) == 0)
        return;
    element_strides(in, from);
    element_strides(&out, to);
    for (uint32_t i = 0; i < in->rank; i++) {
        box[i] = (struct copy_axis){ out.dim[i], (ptrdiff_t) axis[i].step * from[i], to[i] };
        at += (ptrdiff_t) axis[i].begin * from[i];
    }
    copy_elements(m->size, box, in->rank, (const char *) m->from[0] + (size_t) at * m->size,
                  m->to[0]);
}
