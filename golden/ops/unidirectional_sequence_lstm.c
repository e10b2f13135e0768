#include "golden/ops/shared/recurrent/lstm_cell.h"

enum { INPUT, CELL, ACTIVATION = CELL + LSTM_OPERANDS, CELL_CLIP, PROJECTION_CLIP, TIME_MAJOR };
enum { OUTPUT, STATE_OUT, CELL_OUT };

static const struct role inputs[] = {
    [INPUT] = { "input", "[batch_size, max_time, input_size], or with time_major the time first",
                "??I", .slot = LSTM_VALUE },
    LSTM_ROLES(CELL, "", "U", "O", "I"),
    [ACTIVATION] = LSTM_ACTIVATION_ROLE,
    [CELL_CLIP] = LSTM_CLIP_ROLE("cell_clip", "limit to which the cell state is clipped"),
    [PROJECTION_CLIP] =
        LSTM_CLIP_ROLE("projection_clip", "limit to which the projection is clipped"),
    [TIME_MAJOR] = CELL_TIME_MAJOR_ROLE(DT_BOOL),
};

static const struct role outputs[] = {
    [OUTPUT] = { "output", "of every step, in the order of the input", "??O", .slot = LSTM_VALUE },
    [STATE_OUT] = { "output_state", "the output of the last step", "BO", .slot = LSTM_VALUE,
                    .since = L4, .optional = true },
    [CELL_OUT] = { "cell_state", "after the last step; present with the output state only", "BU",
                   .slot = LSTM_MEMORY, .since = L4, .optional = true },
};

static const struct form forms[] = {
    { "",
      { INPUT, LSTM_WEIGHT_ORDER(CELL), LSTM_STATE_ORDER(CELL), ACTIVATION, CELL_CLIP,
        PROJECTION_CLIP, TIME_MAJOR, LSTM_NORM_ORDER(CELL), END } },
};

static const struct typing typings[] = {
    /*               values, matrices, vectors, biases, cell state; clips */
    { L3, RANK(3), LSTM_SINGLE },
    { L3, RANK(3), LSTM_HALF },
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
    REQUIRE(w, c->n_out == 1 || c->n_out == 3, "%s: %u outputs, must be 1 or 3", c->op->name,
            c->n_out);
    TRY(cell_infer_sequence(c, INPUT, TIME_MAJOR, c->letter['O'], &c->out[OUTPUT]->shape, w));
    return lstm_check(c, &cell, w);
}

static int run(struct call *c, double unit, struct why *w)
{
    bool states = c->n_out > 1, major = call_int(c, TIME_MAJOR) != 0;
    struct lstm_result r = {
        .output = cell_result(c, OUTPUT, unit),
        .stride = c->letter['O'],
    };

    if (states) {
        r.state = cell_result(c, STATE_OUT, unit);
        r.cell = cell_result(c, CELL_OUT, unit);
    }
    return lstm_run(c, &cell, cell_sequence_of(c->in[INPUT], major), false, unit, &r, w);
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
    return role == TIME_MAJOR ? cell_draw_time_major(c, INPUT, d, to)
                              : lstm_draw(c, &cell, role, d, to);
}

static bool omits(const struct call *c, int role, struct drawer *d)
{
    return lstm_omits(c, &cell, role, d);
}

static uint32_t results(const struct call *c, struct drawer *d)
{
    (void) c;
    return d->below(d, 2) ? 3 : 1;
}

const struct op op_UNIDIRECTIONAL_SEQUENCE_LSTM = {
    .code = OP_UNIDIRECTIONAL_SEQUENCE_LSTM,
    .name = "UNIDIRECTIONAL_SEQUENCE_LSTM",
    .summary = "An LSTM cell run over a sequence.",
    .formula = "for each step: i, f, o = logistic(W x + R h + P . c + b), g = act(W x + R h + b), "
               "c' = clip(f . c + i . g), h' = clip(projection (o . act(c')) + bias)",
    .since = L3,
    .in = inputs,
    .n_in = COUNT(inputs),
    .out = outputs,
    .n_out = COUNT(outputs),
    .out_counts = 1u << 1 | 1u << 3,
    .forms = forms,
    .n_forms = COUNT(forms),
    .typings = typings,
    .n_typings = COUNT(typings),
    .error = { ERROR_ELEMENT, .ulps = 1,
               .text =
                   "each gate: min(factor * sqrt(K), K + 2) * u * sum |w*x| and the errors of its "
                   "operands, through the activation by interval, through the products to first "
                   "order, and from step to step" },
    .infer = infer,
    .eval = eval,
    .bound = bound,
    .draw = draw,
    .omits = omits,
    .results = results,
};
