#include "golden/judge/bounds.h"

static bool is_quantised(const struct tensor *t)
{
    return dtype_info[t->dtype].quant == QUANT_AFFINE;
}

void bound_requantisation(struct call *c)
{
    const struct tensor *out = c->out[0];
    size_t n = tensor_count(out);
    bool same = true;

    for (uint32_t i = 0; i < c->n_in; i++)
        same &= !c->arg[i] || !is_quantised(c->arg[i]) || tensor_same_quant(c->arg[i], out);
    for (size_t i = 0; i < n && !same; i++)
        c->ey[0][i] += tensor_step(out, 0) / 2;
}
