#include "golden/judge/bounds.h"

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

/* In relaxed mode the value may be rounded to fp16. */
static int bound(struct call *c, struct why *w)
{
    bool held_in_half = c->out[0]->dtype == DT_F32 && bound_is_half(c->unit);
    double value = fabs(call_real(c, VALUE)), e = value * c->unit;

    (void) w;
    if (value < bound_tiny(c->unit))
        e = value;
    for (size_t i = 0; held_in_half && i < tensor_count(c->out[0]); i++)
        c->ey[0][i] = value > 65504 && value < INFINITY ? INFINITY : value < INFINITY ? e : 0;
    return 0;
}

static bool draw(const struct call *c, int role, struct drawer *d, struct tensor *to)
{
    uint32_t rank = 1 + d->below(d, 4);
    int32_t *dim = to->data;

    (void) c, (void) role;
    to->shape = (struct shape){ 1, { rank } };
    for (uint32_t i = 0; i < rank; i++)
        dim[i] = (int32_t) d->size(d, 6);
    return true;
}

const struct op op_FILL = {
    .code = OP_FILL,
    .name = "FILL",
    .summary = "A tensor of the given dimensions with all elements equal to a value.",
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
    .error = { ERROR_EXACT, .text = "none; relaxed: rounding the value to fp16" },
    .infer = infer,
    .eval = eval,
    .bound = bound,
    .draw = draw,
};
