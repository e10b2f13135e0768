#include "golden/ops/shared/elementwise/unary.h"

const struct role unary_in[1] = {
    { "input", "the tensor", "*" },
};

const struct role unary_out[1] = {
    { "output", "same shape as the input", "*", .q = Q_SAME },
};

const struct form unary_forms[1] = {
    { "", { 0, END } },
};

const struct typing unary_floats[2] = {
    /* since, ranks, input and result */
    { L3, RANKS(1, MAX_RANK), { DT_F16 } },
    { L3, RANKS(1, MAX_RANK), { DT_F32 } },
};

const struct typing unary_clamped[4] = {
    /* since, ranks, input and result */
    { L1, RANKS(1, 4), { DT_F32 } },
    { L1, RANKS(1, 4), { DT_U8 } },
    { L3, RANKS(1, 4), { DT_F16 } },
    { L4, RANKS(1, 4), { DT_S8 } },
};

int unary_bound_carried(struct call *c, struct why *w)
{
    (void) w;
    size_t n = tensor_count(c->arg[0]);
    bool wraps = c->out[0]->dtype == DT_I32;

    for (size_t i = 0; i < n; i++) {
        double e = c->ex[0] ? c->ex[0][i] : 0;
        bool undefined = wraps && c->x[0][i] - e <= INT32_MIN;
        c->ey[0][i] = undefined ? INFINITY : e;
    }
    return 0;
}
