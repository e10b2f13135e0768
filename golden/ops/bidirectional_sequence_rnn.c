#include "golden/ops/shared/recurrent/bidirectional.h"
#include "golden/ops/shared/recurrent/rnn_cell.h"

enum {
    INPUT,
    FORWARD,
    BACKWARD = FORWARD + RNN_OPERANDS,
    AUX = BACKWARD + RNN_OPERANDS,
    FORWARD_AUX,
    BACKWARD_AUX,
    ACTIVATION,
    TIME_MAJOR,
    MERGE
};

static const struct role inputs[] = {
    [INPUT] = { "input", "[batch_size, max_time, input_size], or with time_major the time first",
                "??I" },
    RNN_ROLES(FORWARD, "fw_", "U", "I"),
    RNN_ROLES(BACKWARD, "bw_", "V", "J"),
    [AUX] = BIDIRECTIONAL_AUX_ROLE,
    [FORWARD_AUX] = { "fw_aux_weights", "of the auxiliary input", "UA", .optional = true,
                      .draw = DRAW_SHAPE, .needs = NEEDS_CONST | NEEDS_SMALL },
    [BACKWARD_AUX] = { "bw_aux_weights", "of the auxiliary input", "VA", .optional = true,
                       .draw = DRAW_SHAPE, .needs = NEEDS_CONST | NEEDS_SMALL },
    [ACTIVATION] = RNN_ACTIVATION_ROLE,
    [TIME_MAJOR] = CELL_TIME_MAJOR_ROLE(DT_BOOL),
    [MERGE] = BIDIRECTIONAL_MERGE_ROLE,
};

/* With merged outputs bw_output is absent, and the outputs after it move up by one. */
static const struct role outputs[] = {
    { "fw_output", "of every step, in the order of the input; merged: both, forward first", "?" },
    { "bw_output", "of every step, in the order of the input; merged: fw_hidden_state", "?",
      .optional = true },
    { "fw_hidden_state", "after the last step; merged: bw_hidden_state", "?", .since = L4,
      .optional = true },
    { "bw_hidden_state", "after the first step, which it processes last; merged: none", "?",
      .since = L4, .optional = true },
};

static const struct form forms[] = {
    { "",
      { INPUT, FORWARD + RNN_WEIGHTS, FORWARD + RNN_RECURRENT, FORWARD + RNN_BIAS,
        FORWARD + RNN_STATE, BACKWARD + RNN_WEIGHTS, BACKWARD + RNN_RECURRENT, BACKWARD + RNN_BIAS,
        BACKWARD + RNN_STATE, AUX, FORWARD_AUX, BACKWARD_AUX, ACTIVATION, TIME_MAJOR, MERGE,
        END } },
};

static const struct typing typings[] = {
    { L3, RANK(3), { DT_F32 } },
    { L3, RANK(3), { DT_F16 } },
};

static const struct rnn forward = { FORWARD, INPUT, AUX, FORWARD_AUX, ACTIVATION };
static const struct rnn backward = { BACKWARD, INPUT, AUX, BACKWARD_AUX, ACTIVATION };

static const struct bidirectional directions = {
    .input = INPUT,
    .aux = AUX,
    .forward_aux = FORWARD_AUX,
    .backward_aux = BACKWARD_AUX,
    .merge = MERGE,
    .time_major = TIME_MAJOR,
    .state = { { FORWARD + RNN_STATE }, { BACKWARD + RNN_STATE } },
    .n_states = 1,
};

static int infer(struct call *c, struct why *w)
{
    TRY(rnn_check_activation(c, ACTIVATION, w));
    return bidirectional_infer(c, &directions, w);
}

static int run_direction(struct call *c, bool second, double unit, struct why *w)
{
    struct rnn cell = second ? backward : forward;
    struct bidirectional_results r = bidirectional_results_of(c, &directions, second, unit);
    struct rnn_result result = { r.output, r.stride, r.state[0] };

    if (bidirectional_parallel(c, &directions)) {
        cell.input = second ? AUX : INPUT;
        cell.aux = NO_OPERAND;
    }
    return rnn_run(c, &cell, bidirectional_rows(c, &directions), second, unit, &result, w);
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
    rnn_draw(c, &forward, role, d, to);
    if (role == BACKWARD + RNN_WEIGHTS)
        bidirectional_draw_width(c, d, to);
    return true;
}

static bool omits(const struct call *c, int role, struct drawer *d)
{
    if (role == AUX)
        return bidirectional_omits_aux(c, d);
    return role == FORWARD_AUX ? bidirectional_omits_weights(c, &directions, d)
                               : !c->in[FORWARD_AUX];
}

static uint32_t results(const struct call *c, struct drawer *d)
{
    return bidirectional_draw_results(c, &directions, d);
}

const struct op op_BIDIRECTIONAL_SEQUENCE_RNN = {
    .code = OP_BIDIRECTIONAL_SEQUENCE_RNN,
    .name = "BIDIRECTIONAL_SEQUENCE_RNN",
    .summary = "Two simple recurrent cells run over a sequence, one forwards and one backwards; an "
               "auxiliary input with weights feeds both (cross-linking), one without weights only "
               "the backward cell (parallel linking).",
    .formula = "for each step t and direction: h' = act(weights * input_t + aux_weights * aux_t + "
               "recurrent_weights * h + bias)",
    .since = L3,
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
                   "min(factor * sqrt(K), K + 2) * u * sum |w*x| and the errors of the operands, "
                   "through the activation by interval, and from step to step" },
    .infer = infer,
    .eval = eval,
    .bound = bound,
    .draw = draw,
    .omits = omits,
    .results = results,
};
