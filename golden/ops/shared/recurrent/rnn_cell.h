/* The basic recurrent cell, h' = activation(input * W + auxiliary * A + h * R + bias), run over a
 * sequence. */
#ifndef GOLDEN_RNN_CELL_H
#define GOLDEN_RNN_CELL_H

#include "golden/ops/shared/recurrent/cell.h"

/* The operands of one cell in NNAPI's order, relative to the first of them. */
enum rnn_operand { RNN_WEIGHTS, RNN_RECURRENT, RNN_BIAS, RNN_STATE, RNN_OPERANDS };

/* Their roles from index `at` on.  U, I: pattern letters for the number of units and the input's
 * size. */
#define RNN_ROLES(at, prefix, U, I)                                                                \
    [(at) + RNN_WEIGHTS] = { prefix "weights", "of the input", U I, .draw = DRAW_SHAPE,            \
                             .needs = NEEDS_CONST | NEEDS_SMALL },                                 \
            [(at) + RNN_RECURRENT] = { prefix "recurrent_weights", "of the hidden state", U U,     \
                                       .draw = DRAW_SHAPE, .needs = NEEDS_CONST | NEEDS_SMALL },   \
            [(at) + RNN_BIAS] = { prefix "bias", "one per unit", U, .draw = DRAW_SHAPE,            \
                                  .needs = NEEDS_CONST | NEEDS_SMALL },                            \
            [(at) + RNN_STATE] = { prefix "hidden_state", "output of the previous step", "B" U,    \
                                   .draw = DRAW_SHAPE, .needs = NEEDS_SMALL }

#define RNN_ACTIVATION_ROLE                                                                        \
    {                                                                                              \
        "activation", "0 none, 1 RELU, 2 RELU1, 3 RELU6, 4 TANH, 6 LOGISTIC",                      \
            .slot = FIXED(DT_INT32), .draw = DRAW_OP                                               \
    }

/* Input roles of one cell of an operation. */
struct rnn {
    int cell; /* RNN_WEIGHTS; the other operands of the cell follow */
    int input;
    int aux, aux_weights; /* NO_OPERAND: none */
    int activation;
};

struct rnn_result {
    struct ball_array output; /* by row of the sequence */
    size_t stride;            /* elements from row to row */
    struct ball_array state;  /* after the last step; x NULL: not written */
};
/* Runs the cell over the sequence.  unit: as in struct cell; 0: values without error bounds. */
int rnn_run(const struct call *c, const struct rnn *n, struct cell_sequence rows, bool backward,
            double unit, const struct rnn_result *result, struct why *w);

/* For infer(). */
int rnn_check_activation(const struct call *c, int role, struct why *w);
/* For draw(): shapes of a cell's operands, and the activation. */
bool rnn_draw(const struct call *c, const struct rnn *n, int role, struct drawer *d,
              struct tensor *to);

#endif
