/* Recurrent cells in floats: one step of a batch, from which every recurrent operation is made. */
#ifndef SIM_FLOAT_CELL_H
#define SIM_FLOAT_CELL_H

#include "sim/kernels/float/floats.h"

/* The functions of recurrent operations: 0 none, 1 ReLU, 2 ReLU1, 3 ReLU6, 4 tanh, 6 logistic. */
float cell_activation(int32_t code, float x);

/* One part of a layer's input: `n` values an item, weights [units][n].  NULL weights: no part. */
struct cell_part {
    const float *weights;
    size_t n;
};

/* y[units] = bias (NULL: 0) + the sum of weights x over the parts, for one item. */
enum { MAX_PARTS = 3 };
struct cell_layer {
    size_t units;
    const float *bias;
    struct cell_part part[MAX_PARTS]; /* input, auxiliary input, state */
};
void cell_sum(const struct kernel_call *k, const struct cell_layer *l,
              const float *const x[MAX_PARTS], float *y);

enum lstm_gate { GATE_INPUT, GATE_FORGET, GATE_CELL, GATE_OUTPUT, GATES };

struct lstm {
    size_t cells, outputs;         /* equal without a projection */
    struct cell_layer gate[GATES]; /* the input gate without weights is 1 - forget gate */
    const float *peephole[GATES];  /* each, and each of these, may be NULL */
    const float *norm[GATES];      /* of layer normalisation, all or none (but the input gate) */
    const float *projection, *projection_bias;
    int32_t activation;
    float cell_clip, projection_clip; /* 0: none */
    float *scratch;                   /* room for (GATES + 1) * cells */
};

/* One item: state and cell go on, y gets the output (may be the state). */
void lstm_step(const struct kernel_call *k, const struct lstm *l, const float *x, const float *aux,
               float *state, float *cell);

#endif
