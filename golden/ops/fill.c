#include "golden/bounds.h"

enum { DIMS, VALUE };

static const struct role inputs[] = {
    [DIMS] = { "dims", "dimensions of the output", "r", .slot = FIXED(DT_I32), .draw = DRAW_OP,
               .needs = NEEDS_CONST },
    [VALUE] = { "value", "of every element", .slot = 1 },
};

static const struct role outputs[] = {
    { "output", "the filled tensor", "?" },
};

static const struct form forms[] = {
    { "", { DIMS, VALUE, END } },
};

static const struct typing typings[] = {
    /* since, rank of dims, result, value */
    { L4, RANK(1), { DT_F16, DT_FLOAT16 } },
    { L4, RANK(1), { DT_F32, DT_FLOAT32 } },
    { L4, RANK(1), { DT_I32, DT_INT32 } },
};

static int infer(struct call *c, struct why *w)
{
    struct shape s = { .rank = c->in[DIMS]->shape.dim[0] };
    const int32_t *dim = c->in[DIMS]->data;

    REQUIRE(w, s.rank >= 1 && s.rank <= MAX_RANK, "%s: dims give rank %u", c->op->name, s.rank);
    for (uint32_t i = 0; dim && i < s.rank; i++) {
        REQUIRE(w, dim[i] >= 0, "%s: dims[%u] is %d", c->op->name, i, dim[i]);
        s.dim[i] = (uint32_t) dim[i];
    }
    c->out[0]->shape = s;
    return 0;
}

static int eval(struct call *c, struct why *w)
{
    (void) w;
    size_t n = tensor_count(c->out[0]);
    double value = call_real(c, VALUE);

    for (size_t i = 0; i < n; i++)
        c->y[0][i] = value;
    return 0;
}

static int bound(struct call *c, struct why *w)
{
    (void) c, (void) w;
    return 0;
}

static bool draw(const struct call *c, int role, struct drawer *d, struct tensor *to)
{
    uint32_t rank = 1 + d->below(d, 4);
    int32_t *dim = to->data;

    (void) c, (void) role;
    to->shape = (struct shape){ 1, { rank } };
    for (uint32_t i = 0; i < rank; i++)
        dim[i] = 1 + (int32_t) d->below(d, 6);
    return true;
}

const struct op op_FILL = {
    .code = OP_FILL,
    .name = "FILL",
    .summary = "A tensor of given dimensions, all elements alike.",
    .formula = "out[..] = value",
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
    .infer = infer,
    .eval = eval,
    .bound = bound,
    .draw = draw,
};
