/* Recurrent cells in floats: one time step of one batch item, which the recurrent operations
 * (float_recurrent.c) run over batch and time. */
#ifndef SIM_FLOAT_CELL_H
#define SIM_FLOAT_CELL_H

#include "sim/kernels/float/float_operands.h"

/* Activation of a recurrent operation, by its code: 1 ReLU, 2 ReLU1, 3 ReLU6, 4 tanh, 6 logistic,
 * others none. */
float cell_activation(int32_t code, float x);

/* One of a layer's inputs: n values per item, weights [units][n].  NULL weights: not present. */
struct cell_part {
    const float *weights;
    size_t n;
};

/* y[units] = bias (NULL: 0) + the sum of weights * x over the parts; x[i] has part[i].n values. */
enum { MAX_PARTS = 3 };
struct cell_layer {
    size_t units;
    const float *bias;
    struct cell_part part[MAX_PARTS]; /* input, auxiliary input, state */
};
void cell_layer_apply(const struct kernel_call *k, const struct cell_layer *l,
                      const float *const x[MAX_PARTS], float *y);

enum gate_kind { GATE_INPUT, GATE_FORGET, GATE_CELL, GATE_OUTPUT, GATES };

/* The operands of each gate; ROLE_NONE: none (the cell gate has no peephole).  scale: only in
 * QUANTIZED_LSTM. */
struct gate_roles {
    enum kernel_role input, aux, recurrent, peephole, bias, norm, scale;
};
extern const struct gate_roles gate_roles[GATES];
/* What an LSTM cell reads: states, gates without `aux` and `scale`, projection, clips. */
extern const struct kernel_roles lstm_cell_roles;

/* Weights of an LSTM cell; optional ones may be NULL. */
struct lstm_weights {
    size_t cells, outputs;         /* equal without a projection */
    struct cell_layer gate[GATES]; /* an input gate without weights is 1 - forget gate (CIFG) */
    const float *peephole[GATES];  /* [cells]; optional */
    const float *norm[GATES];      /* layer normalisation, [cells]; optional */
    const float *projection;       /* [outputs][cells]; optional */
    const float *projection_bias;  /* [outputs]; optional */
    int32_t activation;
    float cell_clip, projection_clip; /* 0: none */
    float *scratch;                   /* room for (GATES + 1) * cells */
};

/* One time step of one item: x and aux (NULL: none) in; updates state[outputs], which is also the
 * output, and cell[cells]. */
void lstm_step(const struct kernel_call *k, const struct lstm_weights *l, const float *x,
               const float *aux, float *state, float *cell);

#endif
