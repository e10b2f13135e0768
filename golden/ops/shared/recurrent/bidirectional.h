/* Bidirectional recurrent operations: a forward and a backward cell over one sequence, with an
 * optional auxiliary input, optionally merged outputs and optional state outputs.
 *
 * Outputs: that of the forward cell, that of the backward cell (absent when merged: the first
 * output then holds both, concatenated along the last dimension), then either no states or those of
 * the forward and of the backward cell. */
#ifndef GOLDEN_BIDIRECTIONAL_H
#define GOLDEN_BIDIRECTIONAL_H

#include "golden/ops/shared/recurrent/cell.h"

enum { MAX_CELL_STATES = 2 };

/* Input roles of an operation.  The letters I, A and J of its shape patterns are the sizes of the
 * input, of the auxiliary input and of the backward cell's input; the last letter of a state's
 * pattern is the state's size. */
struct bidirectional {
    int input, aux;
    int forward_aux, backward_aux; /* auxiliary weights that are given if any are */
    int merge, time_major;
    int state[2][MAX_CELL_STATES]; /* of forward and backward cell; [0]: output state */
    uint32_t n_states;
};

#define BIDIRECTIONAL_AUX_ROLE                                                                     \
    {                                                                                              \
        "aux_input",                                                                               \
            "with weights: auxiliary input of both cells; without: input of the backward cell",    \
            "??A", .optional = true, .draw = DRAW_SHAPE                                            \
    }
#define BIDIRECTIONAL_MERGE_ROLE                                                                   \
    {                                                                                              \
        "merge_outputs", "true: one output, the outputs of both cells concatenated",               \
            .slot = FIXED(DT_BOOL), .draw = DRAW_FLAG, .needs = NEEDS_CONST                        \
    }

/* Whether the auxiliary input is given without weights: it is then the backward cell's input. */
bool bidirectional_parallel(const struct call *c, const struct bidirectional *b);
/* The layout of the input sequence. */
struct cell_sequence bidirectional_rows(const struct call *c, const struct bidirectional *b);

/* For infer(): checks the auxiliary operands and the number of outputs; sets output shapes. */
int bidirectional_infer(struct call *c, const struct bidirectional *b, struct why *w);

/* Where the forward (second false) or the backward cell writes its results: values for unit 0, else
 * their error bounds too. */
struct bidirectional_results {
    struct ball_array output;
    size_t stride;                            /* elements from row to row of the output */
    struct ball_array state[MAX_CELL_STATES]; /* x NULL: no such output */
};
struct bidirectional_results bidirectional_results_of(const struct call *c,
                                                      const struct bidirectional *b, bool second,
                                                      double unit);

/* For draw() and omits().  Operands are drawn in this order: the backward cell's weights, which
 * choose its input size, the auxiliary input, the auxiliary weights. */
void bidirectional_draw_width(const struct call *c, struct drawer *d, struct tensor *weights);
bool bidirectional_draw_aux(const struct call *c, const struct bidirectional *b, struct drawer *d,
                            struct tensor *to);
bool bidirectional_omits_aux(const struct call *c, struct drawer *d);
bool bidirectional_omits_weights(const struct call *c, const struct bidirectional *b,
                                 struct drawer *d);
/* For results(): the number of outputs. */
uint32_t bidirectional_draw_results(const struct call *c, const struct bidirectional *b,
                                    struct drawer *d);

#endif
