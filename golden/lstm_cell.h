/* LSTM cells: the operands that all LSTM operations share, the rules by which they come and go, and
 * one cell run over a sequence.
 *
 *     i = logistic(gate i)    f = logistic(gate f)    g = activation(gate g)
 *     c' = clip(f c + i g)    o = logistic(gate o)    h' = o activation(c')
 *     output = state = clip(projection h' + bias), or h' where there is no projection
 *
 * The gates are golden/cell.h's; peepholes look at c, that of o at c'.  Without the operands of
 * gate i (CIFG) i = 1 - f. */
#ifndef GOLDEN_LSTM_CELL_H
#define GOLDEN_LSTM_CELL_H

#include "golden/cell.h"

/* The operands of one cell, in NNAPI's order of those of LSTM, counted from where they begin. */
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
/* Gates in the same order everywhere: operands of gate k are those of the first plus k. */
enum lstm_gate { LSTM_GATE_INPUT, LSTM_GATE_FORGET, LSTM_GATE_CELL, LSTM_GATE_OUTPUT, LSTM_GATES };

/* Columns of the typing rows. */
enum lstm_slot {
    LSTM_VALUE,  /* input, state, output */
    LSTM_MATRIX, /* weights of products */
    LSTM_VECTOR, /* peepholes, layer norms */
    LSTM_BIAS,
    LSTM_MEMORY, /* cell state */
    LSTM_SCALAR  /* clips */
};

#define LSTM_WEIGHTS(role, text, dims_)                                                            \
    {                                                                                              \
        role, text, dims_, .slot = LSTM_MATRIX, .draw = DRAW_SHAPE,                                \
                           .needs = NEEDS_CONST | NEEDS_SMALL                                      \
    }
#define LSTM_OPTIONAL_WEIGHTS(role, text, dims_)                                                   \
    {                                                                                              \
        role, text, dims_, .slot = LSTM_MATRIX, .optional = true, .draw = DRAW_SHAPE,              \
                           .needs = NEEDS_CONST | NEEDS_SMALL                                      \
    }
#define LSTM_OPTIONAL_VECTOR(role, text, dims_)                                                    \
    {                                                                                              \
        role, text, dims_, .slot = LSTM_VECTOR, .optional = true, .draw = DRAW_SHAPE,              \
                           .needs = NEEDS_CONST | NEEDS_SMALL                                      \
    }
#define LSTM_BIASES(role, text, dims_, optional_)                                                  \
    {                                                                                              \
        role, text, dims_, .slot = LSTM_BIAS, .optional = optional_, .draw = DRAW_SHAPE,           \
                           .needs = NEEDS_CONST | NEEDS_SMALL                                      \
    }

/* The roles of a cell from index `at` on.  U, O, I: letters of its number of units, the size of its
 * output and of its input; prefix: of the names. */
#define LSTM_ROLES(at, prefix, U, O, I)                                                            \
    [(at) +                                                                                        \
        LSTM_INPUT_TO_INPUT] = LSTM_OPTIONAL_WEIGHTS(prefix "input_to_input_weights",              \
                                                     "of the input gate; omitted: CIFG", U I),     \
        [(at) + LSTM_INPUT_TO_FORGET] =                                                            \
            LSTM_WEIGHTS(prefix "input_to_forget_weights", "of the forget gate", U I),             \
        [(at) + LSTM_INPUT_TO_CELL] =                                                              \
            LSTM_WEIGHTS(prefix "input_to_cell_weights", "of the cell gate", U I),                 \
        [(at) + LSTM_INPUT_TO_OUTPUT] =                                                            \
            LSTM_WEIGHTS(prefix "input_to_output_weights", "of the output gate", U I),             \
        [(at) + LSTM_RECURRENT_TO_INPUT] = LSTM_OPTIONAL_WEIGHTS(                                  \
            prefix "recurrent_to_input_weights", "of the input gate; omitted: CIFG", U O),         \
        [(at) + LSTM_RECURRENT_TO_FORGET] =                                                        \
            LSTM_WEIGHTS(prefix "recurrent_to_forget_weights", "of the forget gate", U O),         \
        [(at) + LSTM_RECURRENT_TO_CELL] =                                                          \
            LSTM_WEIGHTS(prefix "recurrent_to_cell_weights", "of the cell gate", U O),             \
        [(at) + LSTM_RECURRENT_TO_OUTPUT] =                                                        \
            LSTM_WEIGHTS(prefix "recurrent_to_output_weights", "of the output gate", U O),         \
        [(at) + LSTM_CELL_TO_INPUT] = LSTM_OPTIONAL_VECTOR(                                        \
            prefix "cell_to_input_weights", "peephole of the input gate; omitted with CIFG", U),   \
        [(at) + LSTM_CELL_TO_FORGET] = LSTM_OPTIONAL_VECTOR(prefix "cell_to_forget_weights",       \
                                                            "peephole of the forget gate", U),     \
        [(at) + LSTM_CELL_TO_OUTPUT] = LSTM_OPTIONAL_VECTOR(prefix "cell_to_output_weights",       \
                                                            "peephole of the output gate", U),     \
        [(at) + LSTM_INPUT_BIAS] =                                                                 \
            LSTM_BIASES(prefix "input_gate_bias", "one a unit; omitted with CIFG", U, true),       \
        [(at) + LSTM_FORGET_BIAS] =                                                                \
            LSTM_BIASES(prefix "forget_gate_bias", "one a unit", U, false),                        \
        [(at) + LSTM_CELL_BIAS] = LSTM_BIASES(prefix "cell_bias", "one a unit", U, false),         \
        [(at) + LSTM_OUTPUT_BIAS] =                                                                \
            LSTM_BIASES(prefix "output_gate_bias", "one a unit", U, false),                        \
        [(at) + LSTM_PROJECTION] =                                                                 \
            LSTM_OPTIONAL_WEIGHTS(prefix "projection_weights", "from units to the output", O U),   \
        [(at) + LSTM_PROJECTION_BIAS] =                                                            \
            LSTM_BIASES(prefix "projection_bias", "only with a projection", O, true),              \
        [(at) + LSTM_STATE] = { prefix "output_state",                                             \
                                "output of the step before",                                       \
                                "B" O,                                                             \
                                .slot = LSTM_VALUE,                                                \
                                .draw = DRAW_SHAPE,                                                \
                                .needs = NEEDS_SMALL },                                            \
        [(at) + LSTM_CELL_STATE] = { prefix "cell_state",                                          \
                                     "cell state of the step before",                              \
                                     "B" U,                                                        \
                                     .slot = LSTM_MEMORY,                                          \
                                     .draw = DRAW_SHAPE,                                           \
                                     .needs = NEEDS_SMALL,                                         \
                                     .q = Q_POWER,                                                 \
                                     .qscale = 0x1p-9 },                                           \
        [(at) + LSTM_INPUT_NORM] =                                                                 \
            LSTM_OPTIONAL_VECTOR(prefix "input_layer_norm", "layer norm; omitted with CIFG", U),   \
        [(at) + LSTM_FORGET_NORM] =                                                                \
            LSTM_OPTIONAL_VECTOR(prefix "forget_layer_norm", "of the forget gate", U),             \
        [(at) + LSTM_CELL_NORM] =                                                                  \
            LSTM_OPTIONAL_VECTOR(prefix "cell_layer_norm", "of the cell gate", U),                 \
        [(at) + LSTM_OUTPUT_NORM] =                                                                \
            LSTM_OPTIONAL_VECTOR(prefix "output_layer_norm", "of the output gate", U)

/* The scalars of the real-valued operations. */
#define LSTM_ACTIVATION_ROLE                                                                       \
    {                                                                                              \
        "activation", "of the cell: 0 none, 1 RELU, 3 RELU6, 4 TANH, 6 LOGISTIC",                  \
            .slot = FIXED(DT_INT32), .draw = DRAW_OP                                               \
    }
#define LSTM_CLIP_ROLE(role, text)                                                                 \
    {                                                                                              \
        role, text ", 0: without limit", .slot = LSTM_SCALAR, .draw = DRAW_OP                      \
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

/* One cell of an operation, by role. */
struct lstm {
    int cell; /* of LSTM_INPUT_TO_INPUT; the rest follows */
    int input;
    int aux;         /* NO_OPERAND: none */
    int aux_weights; /* of the input gate, those of the other gates follow */
    int activation, cell_clip, projection_clip; /* activation NO_OPERAND: TANH */
};

/* For infer(): what comes together or not at all, sizes without a projection, scalars. */
int lstm_check(const struct call *c, const struct lstm *l, struct why *w);

/* Where a run puts what it computes. */
struct lstm_result {
    struct near_array output;      /* by row of the sequence */
    size_t stride;                 /* numbers from row to row */
    struct near_array state, cell; /* after the last step; x NULL: not wanted */
};
/* Runs the cell; unit: struct cell.  values without errors for unit 0. */
int lstm_run(const struct call *c, const struct lstm *l, struct cell_sequence rows, bool backward,
             double unit, const struct lstm_result *result, struct why *w);

/* For draw(): shapes of the operands of a cell, the activation and the clips. */
bool lstm_draw(const struct call *c, const struct lstm *l, int role, struct drawer *d,
               struct tensor *to);
/* For omits(). */
bool lstm_omits(const struct call *c, const struct lstm *l, int role, struct drawer *d);

#endif
