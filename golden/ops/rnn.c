#include "golden/ops/shared/recurrent/rnn_cell.h"

enum { INPUT, CELL, ACTIVATION = CELL + RNN_OPERANDS };
enum { STATE_OUT, OUTPUT };

static const struct role inputs[] = {
    [INPUT] = { "input", "one step, [batch_size, input_size]", "BI" },
    RNN_ROLES(CELL, "", "U", "I"),
    [ACTIVATION] = RNN_ACTIVATION_ROLE,
};

static const struct role outputs[] = {
    [STATE_OUT] = { "hidden_state", "the output, for the next step", "BU" },
    [OUTPUT] = { "output", "[batch_size, num_units]", "BU" },
};

static const struct form forms[] = {
    { "",
      { INPUT, CELL + RNN_WEIGHTS, CELL + RNN_RECURRENT, CELL + RNN_BIAS, CELL + RNN_STATE,
        ACTIVATION, END } },
};

static const struct typing typings[] = {
    { L1, RANK(2), { DT_F32 } },
    { L3, RANK(2), { DT_F16 } },
};

static const struct rnn cell = { CELL, INPUT, NO_OPERAND, NO_OPERAND, ACTIVATION };

static int infer(struct call *c, struct why *w)
{
    return rnn_check_activation(c, ACTIVATION, w);
}

static int run(struct call *c, double unit, struct why *w)
{
    struct rnn_result r = { cell_result(c, OUTPUT, unit), c->letter['U'],
                            cell_result(c, STATE_OUT, unit) };

    return rnn_run(c, &cell, cell_sequence_of(c->in[INPUT], false), false, unit, &r, w);
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
    return rnn_draw(c, &cell, role, d, to);
}

const struct op op_RNN = {
    .code = OP_RNN,
    .name = "RNN",
    .summary = "One step of a simple recurrent cell, with its state as input and output.",
    .formula = "output = state' = act(weights * input + recurrent_weights * state + bias)",
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
                   "min(factor * sqrt(K), K + 2) * u * sum |w*x| and the errors of the operands, "
                   "through the activation by interval" },
    .infer = infer,
    .eval = eval,
    .bound = bound,
    .draw = draw,
};
