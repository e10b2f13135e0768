#include "golden/ops/shared/elementwise/binary.h"

enum { A, B, ACTIVATION };

const struct role binary_in[2] = {
    [A] = { "a", "first operand", "?" },
    [B] = { "b", "second operand", "?", .draw = DRAW_BROADCAST },
};

const struct role binary_out[1] = {
    { "output", "broadcast shape of both operands", "?" },
};

const struct form binary_forms[1] = {
    { "", { A, B, END } },
};

const struct role fused_in[3] = {
    [A] = { "a", "first operand", "?" },
    [B] = { "b", "second operand", "?", .ranks = RANKS(1, 4), .draw = DRAW_BROADCAST },
    [ACTIVATION] = { "activation", "fused activation: 0 none, 1 ReLU, 2 ReLU1, 3 ReLU6",
                     .slot = FIXED(DT_INT32), .draw = DRAW_ACTIVATION },
};

const struct form fused_forms[1] = {
    { "", { A, B, ACTIVATION, END } },
};

/* Implementations rescale in single precision, which rounds each operand, or in fixed point with 20
 * bits below twice the larger step, which rounds each operand twice. */
void binary_bound_scaling(struct call *c)
{
    double larger = bound_larger(tensor_step(c->arg[A], 0), tensor_step(c->arg[B], 0));
    struct broadcast it;

    if (c->arg[A]->scale == 0) /* not quantised */
        return;
    for (bool more = broadcast_first(&it, &c->arg[A]->shape, &c->arg[B]->shape); more;
         more = broadcast_next(&it))
        for (size_t i = 0; i < it.run; i++) {
            double a = c->x[A][it.a + i * it.step_a], b = c->x[B][it.b + i * it.step_b];
            c->ey[0][it.at + i] += c->unit * (fabs(a) + fabs(b)) + 0x1p-18 * larger;
        }
}

int fused_infer(struct call *c, struct why *w)
{
    TRY(broadcast_infer(c, w));
    return activation_check(c, ACTIVATION, w);
}

void fused_apply(struct call *c)
{
    activation_apply(c, ACTIVATION, c->y[0], tensor_count(c->out[0]));
}

void fused_bound(struct call *c)
{
    activation_bound(c, ACTIVATION, c->y[0], c->ey[0], tensor_count(c->out[0]));
}
