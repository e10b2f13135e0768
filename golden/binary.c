#include "golden/binary.h"

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
    [B] = { "b", "second operand", "?", .draw = DRAW_BROADCAST },
    [ACTIVATION] = { "activation", "fused activation: 0 none, 1 ReLU, 2 ReLU1, 3 ReLU6",
                     .slot = FIXED(DT_INT32), .draw = DRAW_ACTIVATION },
};

const struct form fused_forms[1] = {
    { "", { A, B, ACTIVATION, END } },
};

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
