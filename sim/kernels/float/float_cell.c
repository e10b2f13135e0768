#include "sim/kernels/float/float_cell.h"

#include <math.h>
#include <string.h>

const struct gate_roles gate_roles[GATES] = {
    [GATE_INPUT] = {
        .input = ROLE_INPUT_TO_INPUT_WEIGHTS,
        .aux = ROLE_AUX_INPUT_TO_INPUT_WEIGHTS,
        .recurrent = ROLE_RECURRENT_TO_INPUT_WEIGHTS,
        .peephole = ROLE_CELL_TO_INPUT_WEIGHTS,
        .bias = ROLE_INPUT_GATE_BIAS,
        .norm = ROLE_INPUT_LAYER_NORM,
        .scale = ROLE_INPUT_INTERMEDIATE_SCALE,
    },
    [GATE_FORGET] = {
        .input = ROLE_INPUT_TO_FORGET_WEIGHTS,
        .aux = ROLE_AUX_INPUT_TO_FORGET_WEIGHTS,
        .recurrent = ROLE_RECURRENT_TO_FORGET_WEIGHTS,
        .peephole = ROLE_CELL_TO_FORGET_WEIGHTS,
        .bias = ROLE_FORGET_GATE_BIAS,
        .norm = ROLE_FORGET_LAYER_NORM,
        .scale = ROLE_FORGET_INTERMEDIATE_SCALE,
    },
    [GATE_CELL] = {
        .input = ROLE_INPUT_TO_CELL_WEIGHTS,
        .aux = ROLE_AUX_INPUT_TO_CELL_WEIGHTS,
        .recurrent = ROLE_RECURRENT_TO_CELL_WEIGHTS,
        .bias = ROLE_CELL_BIAS,
        .norm = ROLE_CELL_LAYER_NORM,
        .scale = ROLE_CELL_INTERMEDIATE_SCALE,
    },
    [GATE_OUTPUT] = {
        .input = ROLE_INPUT_TO_OUTPUT_WEIGHTS,
        .aux = ROLE_AUX_INPUT_TO_OUTPUT_WEIGHTS,
        .recurrent = ROLE_RECURRENT_TO_OUTPUT_WEIGHTS,
        .peephole = ROLE_CELL_TO_OUTPUT_WEIGHTS,
        .bias = ROLE_OUTPUT_GATE_BIAS,
        .norm = ROLE_OUTPUT_LAYER_NORM,
        .scale = ROLE_OUTPUT_INTERMEDIATE_SCALE,
    },
};

const struct kernel_roles lstm_cell_roles = {
    .role = { ROLE_CELL_STATE,
              ROLE_OUTPUT_STATE,
              ROLE_PROJECTION_WEIGHTS,
              ROLE_PROJECTION_BIAS,
              ROLE_CELL_CLIP,
              ROLE_PROJECTION_CLIP,
              ROLE_INPUT_TO_INPUT_WEIGHTS,
              ROLE_RECURRENT_TO_INPUT_WEIGHTS,
              ROLE_CELL_TO_INPUT_WEIGHTS,
              ROLE_INPUT_GATE_BIAS,
              ROLE_INPUT_LAYER_NORM,
              ROLE_INPUT_TO_FORGET_WEIGHTS,
              ROLE_RECURRENT_TO_FORGET_WEIGHTS,
              ROLE_CELL_TO_FORGET_WEIGHTS,
              ROLE_FORGET_GATE_BIAS,
              ROLE_FORGET_LAYER_NORM,
              ROLE_INPUT_TO_CELL_WEIGHTS,
              ROLE_RECURRENT_TO_CELL_WEIGHTS,
              ROLE_CELL_BIAS,
              ROLE_CELL_LAYER_NORM,
              ROLE_INPUT_TO_OUTPUT_WEIGHTS,
              ROLE_RECURRENT_TO_OUTPUT_WEIGHTS,
              ROLE_CELL_TO_OUTPUT_WEIGHTS,
              ROLE_OUTPUT_GATE_BIAS,
              ROLE_OUTPUT_LAYER_NORM },
};

float cell_activation(int32_t code, float x)
{
    switch (code) {
    case 1: return x > 0 ? x : 0;
    case 2: return x > 1 ? 1 : x < -1 ? -1 : x;
    case 3: return x > 6 ? 6 : x > 0 ? x : 0;
    case 4: return tanhf(x);
    case 6: return float_logistic(x);
    default: return x;
    }
}

void cell_layer_apply(const struct kernel_call *k, const struct cell_layer *l,
                      const float *const x[MAX_PARTS], float *y)
{
    for (size_t u = 0; u < l->units; u++) {
        struct sum s = { .half = k->half_sums };
        for (int p = 0; p < MAX_PARTS; p++)
            if (l->part[p].weights)
                sum_dot(&s, x[p], 1, l->part[p].weights + u * l->part[p].n, 1, l->part[p].n);
        y[u] = sum_value(&s) + (l->bias ? l->bias[u] : 0);
    }
}

/* Layer normalisation: y = (y - mean) / sqrt(variance) * scale + bias. */
static void normalise(const float *scale, const float *bias, size_t n, float *y)
{
    float mean = floats_sum(y, n, 1) / (float) n, variance = 0;

    for (size_t i = 0; i < n; i++)
        variance += (y[i] - mean) * (y[i] - mean);
    variance /= (float) n;
    float by = 1 / sqrtf(variance > 0 ? variance : 1e-8f);
    for (size_t i = 0; i < n; i++)
        y[i] = (y[i] - mean) * by * scale[i] + bias[i];
}

/* The input of a gate's activation. */
static void gate_sum(const struct kernel_call *k, const struct lstm_weights *l, enum gate_kind g,
                     const float *const x[MAX_PARTS], const float *cell, float *y)
{
    struct cell_layer layer = l->gate[g];

    if (l->norm[g])
        layer.bias = NULL;
    cell_layer_apply(k, &layer, x, y);
    for (size_t i = 0; l->peephole[g] && i < l->cells; i++)
        y[i] += l->peephole[g][i] * cell[i];
    if (l->norm[g])
        normalise(l->norm[g], l->gate[g].bias, l->cells, y);
}

/* CIFG: the input gate is 1 - forget gate. */
static bool couples(const struct lstm_weights *l)
{
    return !l->gate[GATE_INPUT].part[0].weights;
}

static void update_cell(const struct kernel_call *k, const struct lstm_weights *l,
                        const float *const x[MAX_PARTS], float *cell)
{
    float *in = l->scratch, *forget = in + l->cells, *new = forget + l->cells;

    if (!couples(l))
        gate_sum(k, l, GATE_INPUT, x, cell, in);
    gate_sum(k, l, GATE_FORGET, x, cell, forget);
    gate_sum(k, l, GATE_CELL, x, cell, new);
    for (size_t i = 0; i < l->cells; i++) {
        float f = float_logistic(forget[i]), g = couples(l) ? 1 - f : float_logistic(in[i]);
        float c = f * cell[i] + g * cell_activation(l->activation, new[i]);
        if (l->cell_clip > 0)
            c = c > l->cell_clip ? l->cell_clip : c < -l->cell_clip ? -l->cell_clip : c;
        cell[i] = c;
    }
}

/* The output state from the hidden state, by the projection if there is one. */
static void project(const struct kernel_call *k, const struct lstm_weights *l, const float *hidden,
                    float *state)
{
    struct cell_layer layer = { l->outputs, l->projection_bias, { { l->projection, l->cells } } };
    const float *const x[MAX_PARTS] = { hidden };
    float clip = l->projection_clip;

    if (!l->projection) {
        memcpy(state, hidden, l->cells * sizeof(*state));
        return;
    }
    cell_layer_apply(k, &layer, x, state);
    for (size_t i = 0; clip > 0 && i < l->outputs; i++)
        state[i] = state[i] > clip ? clip : state[i] < -clip ? -clip : state[i];
}

void lstm_step(const struct kernel_call *k, const struct lstm_weights *l, const float *x,
               const float *aux, float *state, float *cell)
{
    const float *const from[MAX_PARTS] = { x, aux, state };
    float *hidden = l->scratch + 3 * l->cells;

    update_cell(k, l, from, cell);
    gate_sum(k, l, GATE_OUTPUT, from, cell, hidden);
    for (size_t i = 0; i < l->cells; i++)
        hidden[i] = float_logistic(hidden[i]) * cell_activation(l->activation, cell[i]);
    project(k, l, hidden, state);
}
