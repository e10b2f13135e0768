#include "golden/ops/shared/padding.h"

#include "golden/model/copy_elements.h"

int32_t padding_before(const struct call *c, int role, uint32_t i)
{
    return ((const int32_t *) c->in[role]->data)[2 * i];
}

int32_t padding_after(const struct call *c, int role, uint32_t i)
{
    return ((const int32_t *) c->in[role]->data)[2 * i + 1];
}

int padding_infer(struct call *c, int role, struct why *w)
{
    const struct shape *in = &c->arg[0]->shape;
    struct shape *out = &c->out[0]->shape;

    out->rank = in->rank;
    for (uint32_t i = 0; c->in[role]->data && i < out->rank; i++) {
        int32_t before = padding_before(c, role, i), after = padding_after(c, role, i);
        REQUIRE(w, before >= 0 && after >= 0,
                "paddings %d, %d of dimension %u must not be negative", before, after, i);
        uint64_t size = (uint64_t) in->dim[i] + (uint64_t) before + (uint64_t) after;
        REQUIRE(w, size <= UINT32_MAX, "dimension %u would have %llu elements", i,
                (unsigned long long) size);
        out->dim[i] = (uint32_t) size;
    }
    return 0;
}

void padding_move_inside(const struct call *c, int role, const struct movement *m)
{
    const struct shape *in = &c->arg[0]->shape, *out = &c->out[0]->shape;
    ptrdiff_t from[MAX_RANK], to[MAX_RANK], at = 0;
    struct copy_axis box[MAX_RANK];

    element_strides(in, from);
    element_strides(out, to);
    for (uint32_t i = 0; i < in->rank; i++) {
        box[i] = (struct copy_axis){ in->dim[i], from[i], to[i] };
        at += padding_before(c, role, i) * to[i];
    }
    copy_elements(m->size, box, in->rank, m->from[0], (char *) m->to[0] + (size_t) at * m->size);
}

void padding_move(const struct call *c, int role, const void *fill, const struct movement *m)
{
    fill_elements(m->size, fill, tensor_count(c->out[0]), m->to[0]);
    padding_move_inside(c, role, m);
}

bool padding_draw(const struct call *c, struct drawer *d, struct tensor *to)
{
    uint32_t rank = c->arg[0]->shape.rank;
    int32_t *pad = to->data;

    to->shape = (struct shape){ 2, { rank, 2 } };
    for (uint32_t i = 0; i < 2 * rank; i++)
        pad[i] = (int32_t) d->below(d, d->below(d, 16) ? 3 : 9);
    return true;
}
