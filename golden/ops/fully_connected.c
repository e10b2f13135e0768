#include "golden/ops/shared/dot.h"

enum { INPUT, WEIGHTS, BIAS, ACTIVATION };

static const struct role inputs[] = {
    [INPUT] = { "input", "flattened to [batch_size, input_size]", "?", .slot = 0 },
    [WEIGHTS] = { "weights", "[num_units, input_size]", "UI", .slot = 0, .ranks = RANK(2),
                  .draw = DRAW_SHAPE, .needs = NEEDS_CONST },
    [BIAS] = { "bias", "one value per unit", "U", .slot = 1, .ranks = RANK(1), .q = Q_PRODUCT,
               .needs = NEEDS_CONST },
    [ACTIVATION] = { "activation", "fused activation: 0 none, 1 RELU, 2 RELU1, 3 RELU6",
                     .slot = FIXED(DT_INT32), .draw = DRAW_ACTIVATION },
};

static const struct role outputs[] = {
    { "output", "[batch_size, num_units]", "?U", .slot = 0 },
};

static const struct form forms[] = {
    { "", { INPUT, WEIGHTS, BIAS, ACTIVATION, END } },
};

static const struct typing typings[] = {
    /*                     input, weights, output; bias */
    { L1, RANKS(2, 4), { DT_F32, DT_F32 } },
    { L1, RANKS(2, 4), { DT_U8, DT_I32 } },
    { L3, RANKS(2, 4), { DT_F16, DT_F16 } },
    { L4, RANKS(2, 4), { DT_S8, DT_I32 } },
};

static void shape(const struct call *c, struct dot_window *ret)
{
    const size_t rows = c->out[0]->shape.dim[0];
    const struct matmul_axis one = { .in = 1, .out = 1, .kernel = 1, .stride = 1, .dilation = 1 };

    *ret = (struct dot_window){
        .y = one, .x = one, .batch = 1, .in_c = c->letter['I'], .out_c = c->letter['U'], .groups = 1
    };
    ret->y.in = ret->y.out = rows;
}

static size_t terms(const struct call *c)
{
    return c->letter['I'];
}

static const struct dot dot = { INPUT, WEIGHTS, BIAS, ACTIVATION, NULL, terms, shape };

static int infer(struct call *c, struct why *w)
{
    size_t count = tensor_count(c->in[INPUT]), size = c->letter['I'];

    REQUIRE(w, size > 0, "input_size is 0");
    REQUIRE(w, count % size == 0, "the %zu elements of the input are no multiple of input_size %zu",
            count, size);
    c->out[0]->shape.dim[0] = (uint32_t) (count / size);
    dot_level(c, &dot);
    return activation_check(c, ACTIVATION, w);
}

static int eval(struct call *c, struct why *w)
{
    return dot_eval(c, &dot, w);
}

static int eval_stored(struct call *c, struct why *w)
{
    return dot_eval_stored(c, &dot, w);
}

static int bound(struct call *c, struct why *w)
{
    return dot_bound(c, &dot, w);
}

/* Draws an input_size that is the product of the input's innermost dimensions. */
static bool draw(const struct call *c, int role, struct drawer *d, struct tensor *to)
{
    const struct shape *s = &c->in[INPUT]->shape;
    uint32_t size = s->dim[s->rank - 1];

    (void) role;
    for (uint32_t i = s->rank - 1; i > 1 && d->below(d, 2); i--)
        size *= s->dim[i - 1];
    to->shape = (struct shape){ 2, { d->size(d, 8), size } };
    return true;
}

const struct op op_FULLY_CONNECTED = {
    .code = OP_FULLY_CONNECTED,
    .name = "FULLY_CONNECTED",
    .summary = "Weighted sums of each input row, one per unit, with bias and fused activation.",
    .formula = "output[b,u] = act(bias[u] + sum over i of input[b,i] * weights[u,i])",
    .since = L1,
    .in = inputs,
    .n_in = COUNT(inputs),
    .out = outputs,
    .n_out = COUNT(outputs),
    .forms = forms,
    .n_forms = COUNT(forms),
    .typings = typings,
    .n_typings = COUNT(typings),
    .units = true,
    .takes_empty = ROLE_BIT(INPUT),
    .error = { ERROR_DOT, .ulps = 1,
               .text = "factor * sqrt(K) * u * (|bias| + sum |w*x|) + sum |w|*ex + sum |x|*ew" },
    .infer = infer,
    .eval = eval,
    .eval_stored = eval_stored,
    .bound = bound,
    .draw = draw,
};
