#include "golden/ops/shared/recurrent/rnn_cell.h"

#include "golden/ops/shared/elementwise/activation.h"

int rnn_run(const struct call *c, const struct rnn *n, struct cell_sequence rows, bool backward,
            double unit, const struct rnn_result *result, struct why *w)
{
    struct cell k = { .c = c, .rows = rows, .unit = unit };
    struct cell_gate_roles roles = {
        .input = n->input,
        .weights = n->cell + RNN_WEIGHTS,
        .aux = n->aux,
        .aux_weights = n->aux_weights,
        .recurrent = n->cell + RNN_RECURRENT,
        .bias = n->cell + RNN_BIAS,
        .peephole = NO_OPERAND,
        .norm = NO_OPERAND,
    };
    struct cell_gate g;
    struct ball_array state;

    TRY(cell_gate_init(&k, &roles, &g, w));
    size_t count = rows.batch * g.units, steps = count ? rows.time : 0;
    TRY(cell_state(&k, n->cell + RNN_STATE, count, &state, w));
    for (size_t s = 0; s < steps; s++) {
        size_t t = backward ? rows.time - 1 - s : s;
        int32_t activation = call_int(c, n->activation);
        TRY(cell_gate_recur(&k, &g, &state, t, w));
        for (size_t b = 0; b < rows.batch; b++) {
            struct ball_array to = ball_from(&state, b * g.units);
            cell_gate_finish(&k, &g, t, b, NULL, activation, &to);
        }
        for (size_t i = 0; i < count; i++) {
            size_t row = i / g.units * rows.batch_step + t * rows.time_step;
            ball_put(&result->output, row * result->stride + i % g.units, ball_at(&state, i));
        }
    }
    for (size_t i = 0; result->state.x && i < count; i++)
        ball_put(&result->state, i, ball_at(&state, i));
    return 0;
}

int rnn_check_activation(const struct call *c, int role, struct why *w)
{
    const unsigned allowed = 1u << CELL_NONE | 1u << CELL_RELU | 1u << CELL_RELU1 |
                             1u << CELL_RELU6 | 1u << CELL_TANH | 1u << CELL_LOGISTIC;

    return cell_check_activation(c, role, allowed, w);
}

bool rnn_draw(const struct call *c, const struct rnn *n, int role, struct drawer *d,
              struct tensor *to)
{
    static const int32_t activation[] = { CELL_TANH,  CELL_TANH, CELL_RELU1, CELL_LOGISTIC,
                                          CELL_RELU6, CELL_RELU, CELL_NONE };

    if (role != n->activation)
        return cell_draw_shape(c, n->input, role, d, to);
    *(int32_t *) to->data = activation[d->below(d, COUNT(activation))];
    return true;
}
