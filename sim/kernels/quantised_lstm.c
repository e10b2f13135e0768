/* The LSTM operations in fixed point.  Results may differ by one step from those of the public
 * reference's integer steps (docs/judging.md), so that every device uses the reference's 16-bit
 * fixed-point functions (golden/math/fixed_point.h). */
#include <math.h>
#include <string.h>

#include "golden/math/fixed_point.h"
#include "sim/kernels/float/float_cell.h"

/* Element i without its zero point. */
static int32_t unit_at(const struct tensor *t, size_t i)
{
    return (int32_t) kernel_stored_value(t, i) - t->zero;
}

/* The 32-bit accumulator wraps around. */
static int32_t add_product(int32_t sum, int32_t a, int32_t b)
{
    return (int32_t) ((uint32_t) sum + (uint32_t) (a * b));
}

/* ---- QUANTIZED_16BIT_LSTM */

static const enum kernel_role byte_bias[GATES] = {
    [GATE_INPUT] = ROLE_INPUT_GATE_BIAS,
    [GATE_FORGET] = ROLE_FORGET_GATE_BIAS,
    [GATE_CELL] = ROLE_CELL_GATE_BIAS,
    [GATE_OUTPUT] = ROLE_OUTPUT_GATE_BIAS,
};

struct byte_gate {
    const struct tensor *weights, *recurrent, *bias;
    struct fixed_factor factor;
};

/* The gate's accumulator for unit u of item b.  As NNAPI defines it, the row of input values, then
 * state values, is multiplied by the row of recurrent weights, then input weights. */
static int32_t byte_sum(const struct kernel_call *k, const struct byte_gate *g, size_t b, size_t u)
{
    const struct tensor *x = kernel_in(k, ROLE_INPUT), *h = kernel_in(k, ROLE_OUTPUT_STATE);
    size_t n = x->shape.dim[1], m = h->shape.dim[1];
    int32_t sum = ((const int32_t *) g->bias->data)[u];

    for (size_t i = 0; i < n + m; i++) {
        int32_t value = i < n ? unit_at(x, b * n + i) : unit_at(h, b * m + i - n);
        int32_t weight =
            i < m ? unit_at(g->recurrent, u * m + i) : unit_at(g->weights, u * n + i - m);
        sum = add_product(sum, value, weight);
    }
    return sum;
}

static int run_byte_lstm(struct kernel_call *k, struct why *w)
{
    const struct tensor *cell = kernel_in(k, ROLE_CELL_STATE);
    size_t batch = cell->shape.dim[0], units = cell->shape.dim[1];
    struct byte_gate gate[GATES];
    int16_t value[GATES];

    (void) w;
    for (int g = 0; g < GATES; g++) {
        gate[g] =
            (struct byte_gate){ kernel_in(k, gate_roles[g].input),
                                kernel_in(k, gate_roles[g].recurrent), kernel_in(k, byte_bias[g]) };
        gate[g].factor =
            fixed_factor_of(4096 * (double) kernel_in(k, byte_bias[GATE_INPUT])->scale);
    }
    for (size_t i = 0; i < batch * units; i++) {
        for (int g = 0; g < GATES; g++)
            value[g] = fixed_saturate_16(
                fixed_scale(byte_sum(k, &gate[g], i / units, i % units), gate[g].factor));
        int16_t in = fixed_logistic(value[GATE_INPUT]), forget = fixed_logistic(value[GATE_FORGET]);
        int16_t new = fixed_tanh(value[GATE_CELL], 3), out = fixed_logistic(value[GATE_OUTPUT]);
        int32_t added = fixed_shift_right(fixed_multiply_16(in, new), 4);
        int16_t old = ((const int16_t *) cell->data)[i];
        int16_t next = fixed_saturate_16(added + fixed_multiply_16(forget, old));
        int16_t hidden = fixed_multiply_16(out, fixed_tanh(fixed_saturate_16(2 * next), 3));
        ((int16_t *) k->out[0]->data)[i] = next;
        ((uint8_t *) k->out[1]->data)[i] =
            (uint8_t) (fixed_saturate_8(fixed_shift_right(hidden, 8)) + 128);
    }
    return 0;
}

/* ---- QUANTIZED_LSTM */

struct quantised_lstm {
    const struct kernel_call *k;
    const struct tensor *x, *h; /* input, output state */
    size_t batch, units, outputs;
    int exponent; /* the cell state's scale is 2^exponent */
    int16_t *gate[GATES], *cell;
};

/* gate += (bias + weights * rows) * factor, saturated to 16 bits */
static void accumulate(const struct quantised_lstm *q, const struct tensor *rows,
                       const struct tensor *weights, const int32_t *bias, float factor,
                       int16_t *gate)
{
    struct fixed_factor f = fixed_factor_of((double) factor);
    size_t n = weights->shape.dim[1];

    for (size_t i = 0; i < q->batch * q->units; i++) {
        size_t b = i / q->units, u = i % q->units;
        int32_t sum = bias ? bias[u] : 0;
        for (size_t j = 0; j < n; j++)
            sum = add_product(sum, unit_at(rows, b * n + j), unit_at(weights, u * n + j));
        gate[i] = fixed_saturate_16(gate[i] + fixed_scale(sum, f));
    }
}

static void add_peephole(const struct quantised_lstm *q, const struct tensor *peephole, float scale,
                         int16_t *gate)
{
    float factor = (float) (ldexp((double) peephole->scale, q->exponent) / (double) scale);
    struct fixed_factor f = fixed_factor_of((double) factor);

    for (size_t i = 0; i < q->batch * q->units; i++) {
        int32_t product = unit_at(peephole, i % q->units) * q->cell[i];
        gate[i] = fixed_saturate_16(gate[i] + fixed_scale(product, f));
    }
}

/* Layer normalisation of one item, with 10 fractional bits and sums in 64 bits. */
static void normalise(const struct quantised_lstm *q, const struct tensor *norm,
                      const struct tensor *bias, int16_t *gate)
{
    struct fixed_factor scale = fixed_factor_of((double) norm->scale);
    int64_t n = (int64_t) q->units, sum = 0, squares = 0;

    scale.shift += 12;
    for (size_t i = 0; i < q->units; i++) {
        sum += gate[i];
        squares += gate[i] * gate[i];
    }
    int32_t mean = (int32_t) (sum * 1024 / n);
    int64_t variance = (squares * ((1 << 20) / n) - (int64_t) mean * mean) / (1 << 20);
    struct fixed_factor inverse = fixed_inverse_root((int32_t) variance);
    for (size_t i = 0; i < q->units; i++) {
        int64_t z = fixed_scale(1024 * gate[i] - mean, inverse);
        int64_t y = z * unit_at(norm, i) + ((const int32_t *) bias->data)[i];
        int32_t rounded = (int32_t) ((y > 0 ? y + 512 : y - 512) / 1024);
        gate[i] = fixed_saturate_16(fixed_scale(rounded, scale));
    }
}

static void compute_gate(const struct quantised_lstm *q, enum gate_kind g)
{
    const struct kernel_call *k = q->k;
    const struct tensor *weights = kernel_in(k, gate_roles[g].input);
    const struct tensor *recurrent = kernel_in(k, gate_roles[g].recurrent);
    const struct tensor *peephole = kernel_in(k, gate_roles[g].peephole);
    const struct tensor *bias = kernel_in(k, gate_roles[g].bias);
    const struct tensor *norm = kernel_in(k, gate_roles[g].norm);
    float scale = *(const float *) kernel_in(k, gate_roles[g].scale)->data;
    int16_t *gate = q->gate[g];

    accumulate(q, q->x, weights, norm ? NULL : bias->data, weights->scale * q->x->scale / scale,
               gate);
    accumulate(q, q->h, recurrent, NULL, recurrent->scale * q->h->scale / scale, gate);
    if (peephole)
        add_peephole(q, peephole, scale, gate);
    for (size_t b = 0; norm && q->units && b < q->batch; b++)
        normalise(q, norm, bias, gate + b * q->units);
    for (size_t i = 0; i < q->batch * q->units; i++)
        gate[i] = g == GATE_CELL ? fixed_tanh(gate[i], 3) : fixed_logistic(gate[i]);
}

/* A clipping limit in steps of the scale, rounded down; 0: none. */
static int32_t whole_clip(float limit, int32_t most)
{
    return limit > 0 ? (int32_t) fminf(limit, (float) most) : 0;
}

static int32_t clipped(int32_t x, int32_t clip)
{
    return clip > 0 ? x > clip ? clip : x < -clip ? -clip : x : x;
}

static void update_cell(const struct quantised_lstm *q)
{
    const struct kernel_call *k = q->k;
    float scale = kernel_in(k, ROLE_CELL_STATE)->scale;
    int32_t clip = whole_clip(kernel_float(k, ROLE_CELL_CLIP, 0) / scale, INT16_MAX);
    bool coupled = !kernel_in(k, ROLE_INPUT_TO_INPUT_WEIGHTS);

    for (size_t i = 0; i < q->batch * q->units; i++) {
        int32_t forget = q->gate[GATE_FORGET][i];
        int32_t in = coupled ? INT16_MAX - forget : q->gate[GATE_INPUT][i];
        int32_t kept = fixed_shift_right(forget * q->cell[i], 15);
        int32_t added = fixed_shift_right(in * q->gate[GATE_CELL][i], 30 + q->exponent);
        q->cell[i] = (int16_t) clipped(fixed_saturate_16(kept + added), clip);
    }
}

/* The hidden state before the projection, as stored. */
static void compute_hidden(const struct quantised_lstm *q, int8_t *hidden)
{
    float factor = (float) (0x1p-30 / (double) kernel_float(q->k, ROLE_HIDDEN_STATE_SCALE, 1));
    struct fixed_factor f = fixed_factor_of((double) factor);
    int8_t zero = (int8_t) kernel_int(q->k, ROLE_HIDDEN_STATE_ZERO_POINT, 0);

    for (size_t i = 0; i < q->batch * q->units; i++) {
        int32_t product = fixed_tanh(q->cell[i], q->exponent + 15) * q->gate[GATE_OUTPUT][i];
        hidden[i] = fixed_saturate_8(fixed_scale(product, f) - zero);
    }
}

static void project(const struct quantised_lstm *q, const struct tensor *weights,
                    const int8_t *hidden, int8_t *output)
{
    const struct tensor *bias = kernel_in(q->k, ROLE_PROJECTION_BIAS);
    float hidden_scale = kernel_float(q->k, ROLE_HIDDEN_STATE_SCALE, 1);
    struct fixed_factor f = fixed_factor_of((double) (weights->scale * hidden_scale / q->h->scale));
    float limit = kernel_float(q->k, ROLE_PROJECTION_CLIP, 0) / weights->scale;
    int32_t clip = whole_clip(limit, INT8_MAX);
    int8_t zero = (int8_t) kernel_int(q->k, ROLE_HIDDEN_STATE_ZERO_POINT, 0);

    for (size_t i = 0; i < q->batch * q->outputs; i++) {
        size_t b = i / q->outputs, o = i % q->outputs;
        int32_t sum = bias ? ((const int32_t *) bias->data)[o] : 0;
        for (size_t u = 0; u < q->units; u++)
            sum = add_product(sum, hidden[b * q->units + u] + zero,
                              unit_at(weights, o * q->units + u));
        int64_t y = (int64_t) fixed_scale(sum, f) + q->h->zero;
        output[i] = (int8_t) clipped((int32_t) (y < INT8_MIN   ? INT8_MIN
                                                : y > INT8_MAX ? INT8_MAX
                                                               : y),
                                     clip);
    }
}

/* Results: output state, cell state, output. */
static int run_quantised_lstm(struct kernel_call *k, struct why *w)
{
    const struct tensor *projection = kernel_in(k, ROLE_PROJECTION_WEIGHTS);
    const struct tensor *cell = kernel_in(k, ROLE_CELL_STATE), *h = kernel_in(k, ROLE_OUTPUT_STATE);
    size_t n = tensor_count(cell);
    struct quantised_lstm q = { .k = k,
                                .x = kernel_in(k, ROLE_INPUT),
                                .h = h,
                                .batch = cell->shape.dim[0],
                                .units = cell->shape.dim[1],
                                .outputs = h->shape.dim[1],
                                .exponent = (int) lrint(log2((double) cell->scale)),
                                .cell = arena_alloc(k->scratch, n + 1, sizeof(int16_t)) };
    int8_t *hidden = arena_alloc(k->scratch, n + 1, 1), *output = k->out[2]->data;

    if (!q.cell || !hidden)
        return why_no_memory(w);
    for (int g = 0; g < GATES; g++)
        if (!(q.gate[g] = arena_alloc(k->scratch, n + 1, sizeof(int16_t))))
            return why_no_memory(w);
    if (n)
        memcpy(q.cell, cell->data, n * sizeof(int16_t));
    if (kernel_in(k, ROLE_INPUT_TO_INPUT_WEIGHTS))
        compute_gate(&q, GATE_INPUT);
    compute_gate(&q, GATE_FORGET);
    compute_gate(&q, GATE_CELL);
    update_cell(&q);
    compute_gate(&q, GATE_OUTPUT); /* its peephole uses the new cell state */
    compute_hidden(&q, projection ? hidden : output);
    if (projection)
        project(&q, projection, hidden, output);
    memcpy(k->out[0]->data, output, tensor_bytes(k->out[2]));
    memcpy(k->out[1]->data, q.cell, tensor_bytes(k->out[1]));
    return 0;
}

static const struct kernel_roles byte_roles = {
    .role = { ROLE_INPUT, ROLE_CELL_STATE, ROLE_OUTPUT_STATE, ROLE_INPUT_TO_INPUT_WEIGHTS,
              ROLE_RECURRENT_TO_INPUT_WEIGHTS, ROLE_INPUT_TO_FORGET_WEIGHTS,
              ROLE_RECURRENT_TO_FORGET_WEIGHTS, ROLE_INPUT_TO_CELL_WEIGHTS,
              ROLE_RECURRENT_TO_CELL_WEIGHTS, ROLE_INPUT_TO_OUTPUT_WEIGHTS,
              ROLE_RECURRENT_TO_OUTPUT_WEIGHTS, ROLE_INPUT_GATE_BIAS, ROLE_FORGET_GATE_BIAS,
              ROLE_CELL_GATE_BIAS, ROLE_OUTPUT_GATE_BIAS },
};

static const struct kernel_roles quantised_roles = {
    &lstm_cell_roles,
    { ROLE_INPUT, ROLE_HIDDEN_STATE_SCALE, ROLE_HIDDEN_STATE_ZERO_POINT,
      ROLE_INPUT_INTERMEDIATE_SCALE, ROLE_FORGET_INTERMEDIATE_SCALE, ROLE_CELL_INTERMEDIATE_SCALE,
      ROLE_OUTPUT_INTERMEDIATE_SCALE },
};

const struct device_kernel quantised_cell_kernels[] = {
    { "QUANTIZED_16BIT_LSTM", TYPE(U8), run_byte_lstm, &byte_roles },
    { "QUANTIZED_LSTM", TYPE(S8), run_quantised_lstm, &quantised_roles },
    { NULL },
};
