#include "golden/ops/shared/recurrent/bidirectional.h"
#include "golden/ops/shared/recurrent/lstm_cell.h"

enum {
    INPUT,
    FORWARD,
    BACKWARD = FORWARD + LSTM_OPERANDS,
    AUX = BACKWARD + LSTM_OPERANDS,
    FORWARD_AUX,
    BACKWARD_AUX = FORWARD_AUX + LSTM_GATES,
    ACTIVATION = BACKWARD_AUX + LSTM_GATES,
    CELL_CLIP,
    PROJECTION_CLIP,
    MERGE,
    TIME_MAJOR
};

/* Weights of the auxiliary input, one matrix per gate. */
#define AUX_ROLES(at, p, U)                                                                        \
    [(at) + LSTM_GATE_INPUT] =                                                                     \
        LSTM_ROLE(LSTM_MATRIX, true, U "A", p "aux_input_to_input_weights", "omitted with CIFG"),  \
            [(at) + LSTM_GATE_FORGET] = LSTM_ROLE(                                                 \
                LSTM_MATRIX, true, U "A", p "aux_input_to_forget_weights", "of the forget gate"),  \
            [(at) + LSTM_GATE_CELL] = LSTM_ROLE(                                                   \
                LSTM_MATRIX, true, U "A", p "aux_input_to_cell_weights", "of the cell gate"),      \
            [(at) + LSTM_GATE_OUTPUT] = LSTM_ROLE(                                                 \
                LSTM_MATRIX, true, U "A", p "aux_input_to_output_weights", "of the output gate")

static const struct role inputs[] = {
    [INPUT] = { "input", "[batch_size, max_time, input_size], or with time_major the time first",
                "??I", .slot = LSTM_VALUE },
    LSTM_ROLES(FORWARD, "fw_", "U", "O", "I"),
    LSTM_ROLES(BACKWARD, "bw_", "V", "P", "J"),
    [AUX] = BIDIRECTIONAL_AUX_ROLE,
    AUX_ROLES(FORWARD_AUX, "fw_", "U"),
    AUX_ROLES(BACKWARD_AUX, "bw_", "V"),
    [ACTIVATION] = LSTM_ACTIVATION_ROLE,
    [CELL_CLIP] = LSTM_CLIP_ROLE("cell_clip", "limit to which the cell states are clipped"),
    [PROJECTION_CLIP] =
        LSTM_CLIP_ROLE("projection_clip", "limit to which the projections are clipped"),
    [MERGE] = BIDIRECTIONAL_MERGE_ROLE,
    [TIME_MAJOR] = CELL_TIME_MAJOR_ROLE(DT_BOOL),
};

/* With merged outputs bw_output is absent, and the outputs after it move up by one. */
static const struct role outputs[] = {
    { "fw_output", "of every step, in the order of the input; merged: both, forward first", "?",
      .slot = LSTM_VALUE },
    { "bw_output", "of every step, in the order of the input; merged: fw_output_state", "?",
      .slot = LSTM_VALUE, .optional = true },
    { "fw_output_state", "after the last step; merged: fw_cell_state", "?", .slot = LSTM_VALUE,
      .since = L4, .optional = true },
    { "fw_cell_state", "after the last step; merged: bw_output_state", "?", .slot = LSTM_VALUE,
      .since = L4, .optional = true },
    { "bw_output_state", "after the first step, which it processes last; merged: bw_cell_state",
      "?", .slot = LSTM_VALUE, .since = L4, .optional = true },
    { "bw_cell_state", "after the first step; merged: none", "?", .slot = LSTM_VALUE, .since = L4,
      .optional = true },
};

static const struct form forms[] = {
    { "",
      { INPUT,
        LSTM_WEIGHT_ORDER(FORWARD),
        LSTM_WEIGHT_ORDER(BACKWARD),
        LSTM_STATE_ORDER(FORWARD),
        LSTM_STATE_ORDER(BACKWARD),
        AUX,
        FORWARD_AUX,
        FORWARD_AUX + 1,
        FORWARD_AUX + 2,
        FORWARD_AUX + 3,
        BACKWARD_AUX,
        BACKWARD_AUX + 1,
        BACKWARD_AUX + 2,
        BACKWARD_AUX + 3,
        ACTIVATION,
        CELL_CLIP,
        PROJECTION_CLIP,
        MERGE,
        TIME_MAJOR,
        LSTM_NORM_ORDER(FORWARD),
        LSTM_NORM_ORDER(BACKWARD),
        END } },
};

static const struct typing typings[] = {
    /*               values, matrices, vectors, biases, cell state; clips */
    { L3, RANK(3), LSTM_SINGLE },
    { L3, RANK(3), LSTM_HALF },
};

static const struct lstm forward = {
    .cell = FORWARD,
    .input = INPUT,
    .aux = AUX,
    .aux_weights = FORWARD_AUX,
    .activation = ACTIVATION,
    .cell_clip = CELL_CLIP,
    .projection_clip = PROJECTION_CLIP,
};
static const struct lstm backward = {
    .cell = BACKWARD,
    .input = INPUT,
    .aux = AUX,
    .aux_weights = BACKWARD_AUX,
    .activation = ACTIVATION,
    .cell_clip = CELL_CLIP,
    .projection_clip = PROJECTION_CLIP,
};

static const struct bidirectional directions = {
    .input = INPUT,
    .aux = AUX,
    .forward_aux = FORWARD_AUX + LSTM_GATE_OUTPUT,
    .backward_aux = BACKWARD_AUX + LSTM_GATE_OUTPUT,
    .merge = MERGE,
    .time_major = TIME_MAJOR,
    .state = { { FORWARD + LSTM_STATE, FORWARD + LSTM_CELL_STATE },
               { BACKWARD + LSTM_STATE, BACKWARD + LSTM_CELL_STATE } },
    .n_states = 2,
};

static int infer(struct call *c, struct why *w)
{
    TRY(lstm_check(c, &forward, w));
    TRY(lstm_check(c, &backward, w));
    return bidirectional_infer(c, &directions, w);
}

static int run_direction(struct call *c, bool second, double unit, struct why *w)
{
    struct lstm cell = second ? backward : forward;
    struct bidirectional_results r = bidirectional_results_of(c, &directions, second, unit);
    struct lstm_result result = { r.output, r.stride, r.state[0], r.state[1] };

    if (bidirectional_parallel(c, &directions)) {
        cell.input = second ? AUX : INPUT;
        cell.aux = NO_OPERAND;
    }
    return lstm_run(c, &cell, bidirectional_rows(c, &directions), second, unit, &result, w);
}

static int run(struct call *c, double unit, struct why *w)
{
    TRY(run_direction(c, false, unit, w));
    return run_direction(c, true, unit, w);
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
    if (role == TIME_MAJOR)
        return cell_draw_time_major(c, INPUT, d, to);
    if (role == AUX)
        return bidirectional_draw_aux(c, &directions, d, to);
    lstm_draw(c, role >= BACKWARD ? &backward : &forward, role, d, to);
    if (role >= BACKWARD + LSTM_INPUT_TO_INPUT && role <= BACKWARD + LSTM_INPUT_TO_OUTPUT)
        bidirectional_draw_width(c, d, to);
    return true;
}

static int first_gate(const struct call *c, const struct lstm *l)
{
    return c->in[l->cell + LSTM_INPUT_TO_INPUT] ? LSTM_GATE_INPUT : LSTM_GATE_FORGET;
}

/* All auxiliary weights are omitted or given together: the forward cell's first gate decides. */
static bool omits_aux_weights(const struct call *c, const struct lstm *l, int role,
                              struct drawer *d)
{
    int leader = FORWARD_AUX + first_gate(c, &forward);

    if (role < l->aux_weights + first_gate(c, l))
        return true;
    return role == leader ? bidirectional_omits_weights(c, &directions, d) : !c->in[leader];
}

static bool omits(const struct call *c, int role, struct drawer *d)
{
    if (role == AUX)
        return bidirectional_omits_aux(c, d);
    if (role >= BACKWARD_AUX)
        return omits_aux_weights(c, &backward, role, d);
    if (role >= FORWARD_AUX)
        return omits_aux_weights(c, &forward, role, d);
    return lstm_omits(c, role >= BACKWARD ? &backward : &forward, role, d);
}

static uint32_t results(const struct call *c, struct drawer *d)
{
    return bidirectional_draw_results(c, &directions, d);
}

const struct op op_BIDIRECTIONAL_SEQUENCE_LSTM = {
    .code = OP_BIDIRECTIONAL_SEQUENCE_LSTM,
    .name = "BIDIRECTIONAL_SEQUENCE_LSTM",
    .summary = "Two LSTM cells run over a sequence, one forwards and one backwards; an auxiliary "
               "input with weights feeds both (cross-linking), one without weights only the "
               "backward cell (parallel linking).",
    .formula = "for each step and direction: i, f, o = logistic(W x + A aux + R h + P . c + b), "
               "g = act(W x + A aux + R h + b), c' = clip(f . c + i . g), "
               "h' = clip(projection (o . act(c')) + bias)",
    .since = L3,
    .in = inputs,
    .n_in = COUNT(inputs),
    .out = outputs,
    .n_out = COUNT(outputs),
    .out_counts = 1u << 1 | 1u << 2 | 1u << 5 | 1u << 6,
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
