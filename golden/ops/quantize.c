#include <math.h>
#include <string.h>

#include "golden/model/op.h"

static const struct role inputs[] = {
    { "input", "real numbers", "*" },
};

static const struct role outputs[] = {
    { "output", "the nearest quantised numbers", "*", .slot = 1 },
};

static const struct form forms[] = {
    { "", { 0, END } },
};

static const struct typing typings[] = {
    /* since, ranks, input, output */
    { L3, RANKS(1, MAX_RANK), { DT_F16, DT_U8 } },
    { L3, RANKS(1, MAX_RANK), { DT_F32, DT_U8 } },
    { L4, RANKS(1, MAX_RANK), { DT_F16, DT_S8 } },
    { L4, RANKS(1, MAX_RANK), { DT_F32, DT_S8 } },
};

/* The value is copied; narrowing the result quantises it. */
static int eval(struct call *c, struct why *w)
{
    (void) w;
    memcpy(c->y[0], c->x[0], tensor_count(c->arg[0]) * sizeof(double));
    return 0;
}

static int bound(struct call *c, struct why *w)
{
    (void) w;
    size_t n = tensor_count(c->arg[0]);
    for (size_t i = 0; i < n; i++) /* infinities may saturate, or be converted as in C */
        c->ey[0][i] = !isfinite(c->x[0][i]) ? INFINITY : c->ex[0] ? c->ex[0][i] : 0;
    return 0;
}

const struct op op_QUANTIZE = {
    .code = OP_QUANTIZE,
    .name = "QUANTIZE",
    .summary = "Quantises a float tensor with the scale and zero point of the output.",
    .formula = "out = saturate(round(x / scale) + zero)",
    .since = L3,
    .in = inputs,
    .n_in = COUNT(inputs),
    .out = outputs,
    .n_out = COUNT(outputs),
    .forms = forms,
    .n_forms = COUNT(forms),
    .typings = typings,
    .n_typings = COUNT(typings),
    .takes_empty = ROLE_BIT(0),
    .error = { ERROR_ELEMENT, .steps = 0.05, .text = "the input's error" },
    .eval = eval,
    .bound = bound,
};
