/* LSTM cells: the operands that all LSTM operations share, the rules for omitting them, and running
 * one cell over a sequence.
 *
 *     i = logistic(gate i)    f = logistic(gate f)    g = activation(gate g)
 *     c' = clip(f c + i g)    o = logistic(gate o)    h' = o activation(c')
 *     output = state = clip(projection h' + bias), or h' without a projection
 *
 * The gates are those of golden/ops/shared/recurrent/cell.h; peepholes read c, that of o reads c'.
 * Without the operands of gate i (coupled input and forget gates, CIFG) i = 1 - f. */
#ifndef GOLDEN_LSTM_CELL_H
#define GOLDEN_LSTM_CELL_H

#include "golden/ops/shared/recurrent/cell.h"

/* The operands of one cell in the order of NNAPI's LSTM, relative to the first of them. */
enum lstm_operand {
    LSTM_INPUT_TO_INPUT,
    LSTM_INPUT_TO_FORGET,
    LSTM_INPUT_TO_CELL,
    LSTM_INPUT_TO_OUTPUT,
    LSTM_RECURRENT_TO_INPUT,
    LSTM_RECURRENT_TO_FORGET,
    LSTM_RECURRENT_TO_CELL,
    LSTM_RECURRENT_TO_OUTPUT,
    LSTM_CELL_TO_INPUT,
    LSTM_CELL_TO_FORGET,
    LSTM_CELL_TO_OUTPUT,
    LSTM_INPUT_BIAS,
    LSTM_FORGET_BIAS,
    LSTM_CELL_BIAS,
    LSTM_OUTPUT_BIAS,
    LSTM_PROJECTION,
    LSTM_PROJECTION_BIAS,
    LSTM_STATE,
    LSTM_CELL_STATE,
    LSTM_INPUT_NORM,
    LSTM_FORGET_NORM,
    LSTM_CELL_NORM,
    LSTM_OUTPUT_NORM,
    LSTM_OPERANDS
};
/* The order of gates in every group of operands: that of gate k is that of gate 0, plus k. */
enum lstm_gate { LSTM_GATE_INPUT, LSTM_GATE_FORGET, LSTM_GATE_CELL, LSTM_GATE_OUTPUT, LSTM_GATES };

/* Columns (slots) of the typing rows. */
enum lstm_slot {
    LSTM_VALUE,  /* input, state, output */
    LSTM_MATRIX, /* weight matrices */
    LSTM_VECTOR, /* peepholes, layer norms */
    LSTM_BIAS,
    LSTM_MEMORY, /* cell state */
    LSTM_SCALAR  /* clips */
};

/* The role of a constant operand of a cell. */
#define LSTM_ROLE(slot_, optional_, dims_, role, text)                                             \
    {                                                                                              \
        role, text, dims_, .slot = slot_, .optional = optional_, .placed = optional_,              \
                           .draw = DRAW_SHAPE, .needs = NEEDS_CONST | NEEDS_SMALL,                 \
                           .likes = (slot_) == LSTM_BIAS ? LIKES_LARGE : 0                         \
    }

/* The roles of a cell from index `at` on.  p: prefix of their names; U, O, I: pattern letters for
 * the number of units, the size of the output and that of the input. */
#define LSTM_ROLES(at, p, U, O, I)                                                                 \
    [(at) +                                                                                        \
        LSTM_INPUT_TO_INPUT] = LSTM_ROLE(LSTM_MATRIX, true, U I, p "input_to_input_weights",       \
                                         "of the input gate; omitted: CIFG"),                      \
        [(at) + LSTM_INPUT_TO_FORGET] =                                                            \
            LSTM_ROLE(LSTM_MATRIX, false, U I, p "input_to_forget_weights", "of the forget gate"), \
        [(at) + LSTM_INPUT_TO_CELL] =                                                              \
            LSTM_ROLE(LSTM_MATRIX, false, U I, p "input_to_cell_weights", "of the cell gate"),     \
        [(at) + LSTM_INPUT_TO_OUTPUT] =                                                            \
            LSTM_ROLE(LSTM_MATRIX, false, U I, p "input_to_output_weights", "of the output gate"), \
        [(at) + LSTM_RECURRENT_TO_INPUT] =                                                         \
            LSTM_ROLE(LSTM_MATRIX, true, U O, p "recurrent_to_input_weights", "omitted: CIFG"),    \
        [(at) + LSTM_RECURRENT_TO_FORGET] = LSTM_ROLE(                                             \
            LSTM_MATRIX, false, U O, p "recurrent_to_forget_weights", "of the forget gate"),       \
        [(at) + LSTM_RECURRENT_TO_CELL] =                                                          \
            LSTM_ROLE(LSTM_MATRIX, false, U O, p "recurrent_to_cell_weights", "of the cell gate"), \
        [(at) + LSTM_RECURRENT_TO_OUTPUT] = LSTM_ROLE(                                             \
            LSTM_MATRIX, false, U O, p "recurrent_to_output_weights", "of the output gate"),       \
        [(at) + LSTM_CELL_TO_INPUT] = LSTM_ROLE(LSTM_VECTOR, true, U, p "cell_to_input_weights",   \
                                                "peephole; omitted with CIFG"),                    \
        [(at) + LSTM_CELL_TO_FORGET] =                                                             \
            LSTM_ROLE(LSTM_VECTOR, true, U, p "cell_to_forget_weights", "peephole"),               \
        [(at) + LSTM_CELL_TO_OUTPUT] =                                                             \
            LSTM_ROLE(LSTM_VECTOR, true, U, p "cell_to_output_weights", "peephole"),               \
        [(at) + LSTM_INPUT_BIAS] =                                                                 \
            LSTM_ROLE(LSTM_BIAS, true, U, p "input_gate_bias", "omitted with CIFG"),               \
        [(at) + LSTM_FORGET_BIAS] =                                                                \
            LSTM_ROLE(LSTM_BIAS, false, U, p "forget_gate_bias", "one per unit"),                  \
        [(at) + LSTM_CELL_BIAS] = LSTM_ROLE(LSTM_BIAS, false, U, p "cell_bias", "one per unit"),   \
        [(at) + LSTM_OUTPUT_BIAS] =                                                                \
            LSTM_ROLE(LSTM_BIAS, false, U, p "output_gate_bias", "one per unit"),                  \
        [(at) + LSTM_PROJECTION] =                                                                 \
            LSTM_ROLE(LSTM_MATRIX, true, O U, p "projection_weights", "from units to the output"), \
        [(at) + LSTM_PROJECTION_BIAS] =                                                            \
            LSTM_ROLE(LSTM_BIAS, true, O, p "projection_bias", "only with a projection"),          \
        [(at) + LSTM_STATE] = { p "output_state",                                                  \
                                "output of the previous step",                                     \
                                "B" O,                                                             \
                                .slot = LSTM_VALUE,                                                \
                                .draw = DRAW_SHAPE,                                                \
                                .needs = NEEDS_SMALL },                                            \
        [(at) + LSTM_CELL_STATE] = { p "cell_state",                                               \
                                     "of the previous step",                                       \
                                     "B" U,                                                        \
                                     .slot = LSTM_MEMORY,                                          \
                                     .draw = DRAW_SHAPE,                                           \
                                     .needs = NEEDS_SMALL,                                         \
                                     .q = Q_POWER,                                                 \
                                     .qscale = 0x1p-9 },                                           \
        [(at) + LSTM_INPUT_NORM] = LSTM_ROLE(LSTM_VECTOR, true, U, p "input_layer_norm",           \
                                             "layer norm; omitted with CIFG"),                     \
        [(at) + LSTM_FORGET_NORM] =                                                                \
            LSTM_ROLE(LSTM_VECTOR, true, U, p "forget_layer_norm", "layer norm"),                  \
        [(at) + LSTM_CELL_NORM] =                                                                  \
            LSTM_ROLE(LSTM_VECTOR, true, U, p "cell_layer_norm", "layer norm"),                    \
        [(at) + LSTM_OUTPUT_NORM] =                                                                \
            LSTM_ROLE(LSTM_VECTOR, true, U, p "output_layer_norm", "layer norm")

/* The operands of a cell in the order in which every LSTM operation takes them. */
#define LSTM_WEIGHT_ORDER(at)                                                                      \
    (at) + LSTM_INPUT_TO_INPUT, (at) + LSTM_INPUT_TO_FORGET, (at) + LSTM_INPUT_TO_CELL,            \
        (at) + LSTM_INPUT_TO_OUTPUT, (at) + LSTM_RECURRENT_TO_INPUT,                               \
        (at) + LSTM_RECURRENT_TO_FORGET, (at) + LSTM_RECURRENT_TO_CELL,                            \
        (at) + LSTM_RECURRENT_TO_OUTPUT, (at) + LSTM_CELL_TO_INPUT, (at) + LSTM_CELL_TO_FORGET,    \
        (at) + LSTM_CELL_TO_OUTPUT, (at) + LSTM_INPUT_BIAS, (at) + LSTM_FORGET_BIAS,               \
        (at) + LSTM_CELL_BIAS, (at) + LSTM_OUTPUT_BIAS, (at) + LSTM_PROJECTION,                    \
        (at) + LSTM_PROJECTION_BIAS
#define LSTM_STATE_ORDER(at) (at) + LSTM_STATE, (at) + LSTM_CELL_STATE
#define LSTM_NORM_ORDER(at)                                                                        \
    (at) + LSTM_INPUT_NORM, (at) + LSTM_FORGET_NORM, (at) + LSTM_CELL_NORM, (at) + LSTM_OUTPUT_NORM

/* The scalars of the real-valued operations. */
#define LSTM_ACTIVATION_ROLE                                                                       \
    {                                                                                              \
        "activation", "of the cell: 0 none, 1 RELU, 3 RELU6, 4 TANH, 6 LOGISTIC",                  \
            .slot = FIXED(DT_INT32), .draw = DRAW_OP                                               \
    }
#define LSTM_CLIP_ROLE(role, text)                                                                 \
    {                                                                                              \
        role, text "; 0: no limit", .slot = LSTM_SCALAR, .draw = DRAW_OP                           \
    }

/* Typing rows of the real-valued operations. */
#define LSTM_SINGLE                                                                                \
    {                                                                                              \
        DT_F32, DT_F32, DT_F32, DT_F32, DT_F32, DT_FLOAT32                                         \
    }
#define LSTM_HALF                                                                                  \
    {                                                                                              \
        DT_F16, DT_F16, DT_F16, DT_F16, DT_F16, DT_FLOAT16                                         \
    }

/* Input roles of one cell of an operation. */
struct lstm {
    int cell; /* LSTM_INPUT_TO_INPUT; the other operands of the cell follow */
    int input;
    int aux;         /* NO_OPERAND: none */
    int aux_weights; /* those of the input gate; those of the other gates follow */
    int activation, cell_clip, projection_clip; /* activation NO_OPERAND: TANH */
};

/* For infer(): checks that operands are given in complete groups, sizes without a projection, and
 * scalars. */
int lstm_check(const struct call *c, const struct lstm *l, struct why *w);

/* Where lstm_run() writes. */
struct lstm_result {
    struct ball_array output;      /* by row of the sequence */
    size_t stride;                 /* elements from row to row */
    struct ball_array state, cell; /* after the last step; x NULL: not written */
};
/* Runs the cell over the sequence.  unit: as in struct cell; 0: values without error bounds. */
int lstm_run(const struct call *c, const struct lstm *l, struct cell_sequence rows, bool backward,
             double unit, const struct lstm_result *result, struct why *w);

/* For draw(): shapes of a cell's operands, the activation and the clips. */
bool lstm_draw(const struct call *c, const struct lstm *l, int role, struct drawer *d,
               struct tensor *to);
/* For omits(). */
bool lstm_omits(const struct call *c, const struct lstm *l, int role, struct drawer *d);

#endif
