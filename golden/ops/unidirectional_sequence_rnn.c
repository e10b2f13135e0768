#include "golden/ops/shared/recurrent/rnn_cell.h"

enum { INPUT, CELL, ACTIVATION = CELL + RNN_OPERANDS, TIME_MAJOR };
enum { OUTPUT, STATE_OUT };

static const struct role inputs[] = {
    [INPUT] = { "input", "[batch_size, max_time, input_size], or with time_major the time first",
                "??I" },
    RNN_ROLES(CELL, "", "U", "I"),
    [ACTIVATION] = RNN_ACTIVATION_ROLE,
    [TIME_MAJOR] = CELL_TIME_MAJOR_ROLE(DT_INT32),
};

static const struct role outputs[] = {
    [OUTPUT] = { "output", "of every step, in the order of the input", "??U" },
    [STATE_OUT] = { "hidden_state", "the output of the last step", "BU", .since = L4,
                    .optional = true },
};

static const struct form forms[] = {
    { "",
      { INPUT, CELL + RNN_WEIGHTS, CELL + RNN_RECURRENT, CELL + RNN_BIAS, CELL + RNN_STATE,
        ACTIVATION, TIME_MAJOR, END } },
};

static const struct typing typings[] = {
    { L3, RANK(3), { DT_F32 } },
    { L3, RANK(3), { DT_F16 } },
};

static const struct rnn cell = { CELL, INPUT, NO_OPERAND, NO_OPERAND, ACTIVATION };

static int infer(struct call *c, struct why *w)
{
    TRY(cell_infer_sequence(c, INPUT, TIME_MAJOR, c->letter['U'], &c->out[OUTPUT]->shape, w));
    return rnn_check_activation(c, ACTIVATION, w);
}

static int run(struct call *c, double unit, struct why *w)
{
    bool major = call_int(c, TIME_MAJOR) != 0;
    struct rnn_result r = { .output = cell_result(c, OUTPUT, unit), .stride = c->letter['U'] };

    if (c->n_out > 1)
        r.state = cell_result(c, STATE_OUT, unit);
    return rnn_run(c, &cell, cell_sequence_of(c->in[INPUT], major), false, unit, &r, w);
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
                              : rnn_draw(c, &cell, role, d, to);
}

static uint32_t results(const struct call *c, struct drawer *d)
{
    (void) c;
    return 1 + d->below(d, 2);
}

const struct op op_UNIDIRECTIONAL_SEQUENCE_RNN = {
    .code = OP_UNIDIRECTIONAL_SEQUENCE_RNN,
    .name = "UNIDIRECTIONAL_SEQUENCE_RNN",
    .summary = "A simple recurrent cell run over a sequence.",
    .formula = "for each step t: h_t = act(weights * input_t + recurrent_weights * h_t-1 + bias)",
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
    .results = results,
};
