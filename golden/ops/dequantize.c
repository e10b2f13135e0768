#include <string.h>

#include "golden/model/op.h"

static const struct role inputs[] = {
    { "input", "quantised numbers", "*" },
};

static const struct role outputs[] = {
    { "output", "real numbers", "*", .slot = 1 },
};

static const struct form forms[] = {
    { "", { 0, END } },
};

static const struct typing typings[] = {
    /* since, ranks, input, output */
    { L1, RANKS(1, 4), { DT_U8, DT_F32 } },  { L3, RANKS(1, 4), { DT_U8, DT_F16 } },
    { L3, RANKS(1, 4), { DT_S8, DT_F32 } },  { L3, RANKS(1, 4), { DT_S8, DT_F16 } },
    { L3, RANKS(1, 4), { DT_Q8S, DT_F32 } }, { L3, RANKS(1, 4), { DT_Q8S, DT_F16 } },
    { L3, RANKS(1, 4), { DT_PC8, DT_F32 } }, { L3, RANKS(1, 4), { DT_PC8, DT_F16 } },
};

/* Widening the input has applied scale and zero point: the value is copied. */
static int eval(struct call *c, struct why *w)
{
    (void) w;
    memcpy(c->y[0], c->x[0], tensor_count(c->arg[0]) * sizeof(double));
    return 0;
}

static int bound(struct call *c, struct why *w)
{
    (void) w;
    size_t size = tensor_count(c->arg[0]) * sizeof(double);
    if (c->ex[0])
        memcpy(c->ey[0], c->ex[0], size);
    else
        memset(c->ey[0], 0, size);
    return 0;
}

const struct op op_DEQUANTIZE = {
    .code = OP_DEQUANTIZE,
    .name = "DEQUANTIZE",
    .summary = "Converts quantised numbers to real ones.",
    .formula = "out = (q - zero) * scale",
    .since = L1,
    .in = inputs,
    .n_in = COUNT(inputs),
    .out = outputs,
    .n_out = COUNT(outputs),
    .forms = forms,
    .n_forms = COUNT(forms),
    .typings = typings,
    .n_typings = COUNT(typings),
    .takes_empty = ROLE_BIT(0),
    .error = { ERROR_ELEMENT, .ulps = 2, .text = "the input's error" },
    .eval = eval,
    .bound = bound,
};
