#include "golden/judge/bounds.h"

static const struct role inputs[] = {
    { "input", "a tensor of any type", "?" },
};

static const struct role outputs[] = {
    { "output", "its number of dimensions", .slot = FIXED(DT_INT32) },
};

static const struct form forms[] = {
    { "", { 0, END } },
};

static const struct typing typings[] = {
    { L4, RANKS(1, MAX_RANK), { DT_F16 } },  { L4, RANKS(1, MAX_RANK), { DT_F32 } },
    { L4, RANKS(1, MAX_RANK), { DT_I32 } },  { L4, RANKS(1, MAX_RANK), { DT_B8 } },
    { L4, RANKS(1, MAX_RANK), { DT_U8 } },   { L4, RANKS(1, MAX_RANK), { DT_S8 } },
    { L4, RANKS(1, MAX_RANK), { DT_Q16A } }, { L4, RANKS(1, MAX_RANK), { DT_Q16S } },
    { L4, RANKS(1, MAX_RANK), { DT_Q8S } },  { L4, RANKS(1, MAX_RANK), { DT_PC8 } },
};

static int eval(struct call *c, struct why *w)
{
    (void) w;
    c->y[0][0] = c->arg[0]->shape.rank;
    return 0;
}

static int bound(struct call *c, struct why *w)
{
    (void) c, (void) w;
    return 0;
}

const struct op op_RANK = {
    .code = OP_RANK,
    .name = "RANK",
    .summary = "Number of dimensions of a tensor.",
    .formula = "out = rank of in",
    .since = L4,
    .in = inputs,
    .n_in = COUNT(inputs),
    .out = outputs,
    .n_out = COUNT(outputs),
    .forms = forms,
    .n_forms = COUNT(forms),
    .typings = typings,
    .n_typings = COUNT(typings),
    .error = { ERROR_EXACT, .text = "none" },
    .eval = eval,
    .bound = bound,
};
