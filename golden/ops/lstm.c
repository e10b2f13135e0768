#include "golden/ops/shared/recurrent/lstm_cell.h"

enum { INPUT, CELL, ACTIVATION = CELL + LSTM_OPERANDS, CELL_CLIP, PROJECTION_CLIP };
enum { SCRATCH, STATE_OUT, CELL_OUT, OUTPUT };

static const struct role inputs[] = {
    [INPUT] = { "input", "one step, [batch_size, input_size]", "BI", .slot = LSTM_VALUE },
    LSTM_ROLES(CELL, "", "U", "O", "I"),
    [ACTIVATION] = LSTM_ACTIVATION_ROLE,
    [CELL_CLIP] = LSTM_CLIP_ROLE("cell_clip", "limit to which the cell state is clipped"),
    [PROJECTION_CLIP] =
        LSTM_CLIP_ROLE("projection_clip", "limit to which the projection is clipped"),
};

static const struct role outputs[] = {
    [SCRATCH] = { "scratch_buffer",
                  "[batch_size, 4 * num_units], with CIFG 3 * num_units; unspecified values", "??",
                  .slot = LSTM_VALUE, .unspecified = true },
    [STATE_OUT] = { "output_state", "the output, for the next step", "BO", .slot = LSTM_VALUE },
    [CELL_OUT] = { "cell_state", "for the next step", "BU", .slot = LSTM_MEMORY },
    [OUTPUT] = { "output", "[batch_size, output_size]", "BO", .slot = LSTM_VALUE },
};

static const struct form forms[] = {
    { "",
      { INPUT, LSTM_WEIGHT_ORDER(CELL), LSTM_STATE_ORDER(CELL), ACTIVATION, CELL_CLIP,
        PROJECTION_CLIP, END } },
    { "layer norm",
      { INPUT, LSTM_WEIGHT_ORDER(CELL), LSTM_STATE_ORDER(CELL), ACTIVATION, CELL_CLIP,
        PROJECTION_CLIP, LSTM_NORM_ORDER(CELL), END },
      L3 },
};

static const struct typing typings[] = {
    /*               values, matrices, vectors, biases, cell state; clips */
    { L1, RANK(2), LSTM_SINGLE },
    { L3, RANK(2), LSTM_HALF },
};

static const struct lstm cell = {
    .cell = CELL,
    .input = INPUT,
    .aux = NO_OPERAND,
    .activation = ACTIVATION,
    .cell_clip = CELL_CLIP,
    .projection_clip = PROJECTION_CLIP,
};

static int infer(struct call *c, struct why *w)
{
    uint32_t gates = c->in[CELL + LSTM_INPUT_TO_INPUT] ? 4 : 3, units = c->letter['U'];

    REQUIRE(w, units <= UINT32_MAX / 4, "%u units", units);
    c->out[SCRATCH]->shape = (struct shape){ 2, { c->letter['B'], gates * units } };
    return lstm_check(c, &cell, w);
}

static int run(struct call *c, double unit, struct why *w)
{
    struct lstm_result r = {
        .output = cell_result(c, OUTPUT, unit),
        .stride = c->letter['O'],
        .state = cell_result(c, STATE_OUT, unit),
        .cell = cell_result(c, CELL_OUT, unit),
    };
    struct ball_array scratch = cell_result(c, SCRATCH, unit);
    size_t n = tensor_count(c->out[SCRATCH]);

    for (size_t i = 0; i < n; i++)
        ball_put(&scratch, i, (struct ball){ 0, INFINITY });
    return lstm_run(c, &cell, cell_sequence_of(c->in[INPUT], false), false, unit, &r, w);
}

/* With bounds, bound() computes the results, too. */
static int eval(struct call *c, struct why *w)
{
    return c->unit > 0 ? 0 : run(c, 0, w);
}

static int bound(struct call *c, struct why *w)
{
    return run(c, c->unit, w);
}

static bool draw(const struct call *c, int role, struct drawer *d, struct tensor *to)
{
    return lstm_draw(c, &cell, role, d, to);
}

static bool omits(const struct call *c, int role, struct drawer *d)
{
    return lstm_omits(c, &cell, role, d);
}

const struct op op_LSTM = {
    .code = OP_LSTM,
    .name = "LSTM",
    .summary = "One step of an LSTM cell, with its states as inputs and outputs.",
    .formula = "i, f, o = logistic(W x + R h + P . c + b), g = act(W x + R h + b), "
               "c' = clip(f . c + i . g), output = clip(projection (o . act(c')) + bias)",
    .since = L1,
    .in = inputs,
    .n_in = COUNT(inputs),
    .out = outputs,
    .n_out = COUNT(outputs),
    .forms = forms,
    .n_forms = COUNT(forms),
    .typings = typings,
    .n_typings = COUNT(typings),
    .error = { ERROR_ELEMENT, .ulps = 1,
               .text =
                   "each gate: min(factor * sqrt(K), K + 2) * u * sum |w*x| and the errors of its "
                   "operands, through the activation by interval, through the products to first "
                   "order" },
    .infer = infer,
    .eval = eval,
    .bound = bound,
    .draw = draw,
    .omits = omits,
};
