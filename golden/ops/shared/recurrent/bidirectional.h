/* Two cells that run over one sequence in opposite directions: linking of an auxiliary input,
 * merged outputs, states going out.
 *
 * Outputs: of the first cell, of the second one (none when they are merged: the first output then
 * holds both, side by side), then, all or none, the states of the first and of the second. */
#ifndef GOLDEN_BIDIRECTIONAL_H
#define GOLDEN_BIDIRECTIONAL_H

#include "golden/ops/shared/recurrent/cell.h"

enum { MAX_CELL_STATES = 2 };

/* By role. The letters I, A and J are the sizes of input, auxiliary input and second cell's input;
 * the last letter of a state's pattern is its size. */
struct bidirectional {
    int input, aux;
    int forward_aux, backward_aux; /* weights that are there whenever any are */
    int merge, time_major;
    int state[2][MAX_CELL_STATES]; /* of the cells; the first is the output's like */
    uint32_t n_states;
};

#define BIDIRECTIONAL_AUX_ROLE                                                                     \
    {                                                                                              \
        "aux_input", "with weights: input of both cells; without: the only one of the second",     \
            "??A", .optional = true, .draw = DRAW_SHAPE                                            \
    }
#define BIDIRECTIONAL_MERGE_ROLE                                                                   \
    {                                                                                              \
        "merge_outputs", "true: one output with both cells' side by side",                         \
            .slot = FIXED(DT_BOOL), .draw = DRAW_FLAG, .needs = NEEDS_CONST                        \
    }

/* Whether the auxiliary input is the input of the second cell. */
bool bidirectional_parallel(const struct call *c, const struct bidirectional *b);
struct cell_sequence bidirectional_rows(const struct call *c, const struct bidirectional *b);

/* For infer(): linking, number and shapes of the outputs. */
int bidirectional_infer(struct call *c, const struct bidirectional *b, struct why *w);

/* Where the first or the second cell writes. */
struct bidirectional_results {
    struct near_array output;
    size_t stride;
    struct near_array state[MAX_CELL_STATES]; /* x NULL: not wanted */
};
struct bidirectional_results bidirectional_results_of(const struct call *c,
                                                      const struct bidirectional *b, bool second,
                                                      double unit);

/* For draw() and omits(): the size of the second cell's input comes first, then the auxiliary
 * input, then its weights. */
void bidirectional_draw_width(const struct call *c, struct drawer *d, struct tensor *weights);
bool bidirectional_draw_aux(const struct call *c, const struct bidirectional *b, struct drawer *d,
                            struct tensor *to);
bool bidirectional_omits_aux(const struct call *c, struct drawer *d);
bool bidirectional_omits_weights(const struct call *c, const struct bidirectional *b,
                                 struct drawer *d);
/* For results(). */
uint32_t bidirectional_draw_results(const struct call *c, const struct bidirectional *b,
                                    struct drawer *d);

#endif
