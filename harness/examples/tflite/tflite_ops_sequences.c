/* Rules of matrix products and of recurrent cells.
 *
 * The states of a cell are inputs and outputs in NNAPI, variables in TensorFlow Lite: the state is
 * copied to the variable before the cell, and the variable to the output after it. */
#include <string.h>

#include "tflite_convert.h"

static void convert_fully_connected(struct converter *c, const struct rule *r)
{
    const int32_t activation = number(c, 3, 0);

    require(c, activation >= 0 && activation <= 3 && input_of(c, 1) && input_of(c, 2) &&
                   input_of(c, 1)->type == input_of(c, 0)->type && input_of(c, 1)->n_dims == 2 &&
                   fits_products(input_of(c, 0), input_of(c, 1), output_of(c, 0),
                                 input_of(c, 1)->dims[1]));
    emit(c, r->code, r->options, &activation, 3, (int32_t[]){ in(c, 0), in(c, 1), in(c, 2) }, 1,
         (int32_t[]){ out(c, 0) });
}

static void convert_batch_matmul(struct converter *c, const struct rule *r)
{
    const struct value *x = input_of(c, 0), *y = input_of(c, 1);

    require(c, y && x->type == y->type && x->n_dims == y->n_dims && x->n_dims >= 2 &&
                   fits_products(x, y, output_of(c, 0), x->dims[x->n_dims - 1]));
    emit(c, r->code, r->options, (int32_t[]){ number(c, 2, 0), number(c, 3, 0) }, 2,
         (int32_t[]){ in(c, 0), in(c, 1) }, 1, (int32_t[]){ out(c, 0) });
}

/* ---- states */

/* A variable of the shape of input i, without a value. */
static int32_t variable(struct converter *c, uint32_t i)
{
    struct tfl_tensor t = *tensor_at(c, in(c, i));

    require(c, input_of(c, i) && is_shape_known(input_of(c, i)));
    t.is_variable = true;
    t.data = NULL;
    return tfl_add_tensor(c->to, &t);
}

static int32_t state_in(struct converter *c, uint32_t i)
{
    const int32_t state = variable(c, i);
    return copy(c, in(c, i), state);
}

/* Output i, unless the operation does without it. */
static void state_out(struct converter *c, int32_t state, uint32_t i)
{
    if (i < c->step->n_out)
        copy(c, state, out(c, i));
}

/* Activations of cells: TensorFlow Lite has the codes of NNAPI, but no LOGISTIC (6). */
static int32_t cell_activation(struct converter *c, uint32_t i)
{
    const int32_t activation = number(c, i, 0);

    require(c, activation >= 0 && activation <= 4);
    return activation;
}

static void tensors_in(struct converter *c, uint32_t from, uint32_t n, int32_t *ret)
{
    for (uint32_t i = 0; i < n; i++)
        ret[i] = in(c, from + i);
}

/* ---- simple cells */

static void convert_rnn(struct converter *c, const struct rule *r)
{
    const int32_t activation = cell_activation(c, 5);
    int32_t x[5];

    tensors_in(c, 0, 4, x);
    x[4] = state_in(c, 4);
    emit(c, r->code, r->options, &activation, 5, x, 1, (int32_t[]){ out(c, 1) });
    state_out(c, x[4], 0);
}

static void convert_rnn_sequence(struct converter *c, const struct rule *r)
{
    const int32_t values[] = { number(c, 6, 0) != 0, cell_activation(c, 5) };
    int32_t x[5];

    tensors_in(c, 0, 4, x);
    x[4] = state_in(c, 4);
    emit(c, r->code, r->options, values, 5, x, 1, (int32_t[]){ out(c, 0) });
    state_out(c, x[4], 1);
}

/* Merged outputs are concatenated here: TensorFlow Lite 2.9 merges some wrongly. */
static void merge_ways(struct converter *c, const int32_t *y)
{
    emit(c, TFL_CONCATENATION, OPTIONS_CONCATENATION, (int32_t[]){ 2, 0 }, 2, y, 1,
         (int32_t[]){ out(c, 0) });
}

/* With the time first, TensorFlow Lite 2.9 gives the backward output the shape of one with the
 * batch first; its elements are right. */
static void convert_rnn_both_ways(struct converter *c, const struct rule *r)
{
    const struct value *v = input_of(c, 0), *units = input_of(c, 7);
    const int32_t merge = number(c, 14, 0), time_major = number(c, 13, 0);
    const int32_t values[] = { time_major, cell_activation(c, 12), 0 };
    int32_t x[12], y[2];

    /* It gives the backward cell an auxiliary input of its own only with the time first, and then
     * reads auxiliary inputs as if they were of the size of the input. */
    require(c, is_omitted(c, 9) || !is_omitted(c, 10) || time_major);
    require(c, is_omitted(c, 9) || !time_major ||
                   (v->n_dims == 3 && input_of(c, 9)->dims[2] == v->dims[2]));
    require(c, !time_major || (is_shape_known(v) && units && is_shape_known(units)));
    tensors_in(c, 0, 12, x);
    x[4] = state_in(c, 4);
    x[8] = state_in(c, 8);
    if (!c->supported)
        return;
    y[0] = merge ? like(c, out(c, 0)) : out(c, 0);
    y[1] = merge || time_major ? like(c, out(c, 0)) : out(c, 1);
    emit(c, r->code, r->options, values, 12, x, 2, y);
    if (time_major)
        y[1] = reshape(
            c, y[1], 3,
            (int32_t[]){ (int32_t) v->dims[0], (int32_t) v->dims[1], (int32_t) units->dims[0] },
            merge ? TFL_OMITTED : out(c, 1));
    if (merge)
        merge_ways(c, y);
    state_out(c, x[4], merge ? 1 : 2);
    state_out(c, x[8], merge ? 2 : 3);
}

/* Each filter of SVDF remembers M numbers, the newest last.  NNAPI's state is shifted by one number
 * after a step, TensorFlow Lite's before it:
 *
 *     NNAPI              [m1, m2, .., 0]
 *     TensorFlow Lite    [any, m1, m2, ..] before a step, [m1, m2, .., new] after it */
static void convert_svdf(struct converter *c, const struct rule *r)
{
    const struct value *state = input_of(c, 4), *time = input_of(c, 2);
    const int32_t values[] = { number(c, 5, 1), cell_activation(c, 6) };
    const int32_t ahead[] = { 0, 0, 0, 0, 1, 0 }, behind[] = { 0, 0, 0, 0, 0, 1 };

    if (!require(c, state && time && is_shape_known(state) && is_shape_known(time) &&
                        time->n_dims == 2 && time->dims[1] >= 2) ||
        !c->supported)
        return;
    const int32_t batch = (int32_t) state->dims[0], filters = (int32_t) time->dims[0];
    const int32_t size = (int32_t) time->dims[1];
    const int32_t parts[] = { batch, filters, size }, less[] = { batch, filters, size - 1 };
    const int32_t flat[] = { batch, filters * size };
    const int32_t memory = variable(c, 4), before = reshape(c, in(c, 4), 3, parts, TFL_OMITTED);
    const int32_t kept = slice(c, before, 3, (int32_t[3]){ 0 }, less, TFL_OMITTED);
    const int32_t shifted = like(c, kept);
    emit2(c, TFL_PAD, kept, constant_int_matrix(c, 3, 2, ahead), shifted);
    reshape(c, shifted, 2, flat, memory);
    emit(c, r->code, r->options, values, 5,
         (int32_t[]){ in(c, 0), in(c, 1), in(c, 2), in(c, 3), memory }, 1,
         (int32_t[]){ out(c, 1) });
    const int32_t after = reshape(c, memory, 3, parts, TFL_OMITTED);
    const int32_t left = slice(c, after, 3, (int32_t[]){ 0, 0, 1 }, less, TFL_OMITTED);
    const int32_t padded = like(c, left);
    emit2(c, TFL_PAD, left, constant_int_matrix(c, 3, 2, behind), padded);
    reshape(c, padded, 2, flat, out(c, 0));
}

/* ---- LSTM */

enum { OUTPUT_STATE = 18, CELL_STATE = 19, NORMS = 20, MOST = 24 };

/* The inputs of a cell, which are in the order of TensorFlow Lite but for the layer norms, from
 * input `norms` on.  Returns their number. */
static uint32_t cell_inputs(struct converter *c, uint32_t norms, int32_t *x)
{
    tensors_in(c, 0, OUTPUT_STATE, x);
    x[OUTPUT_STATE] = state_in(c, OUTPUT_STATE);
    x[CELL_STATE] = state_in(c, CELL_STATE);
    tensors_in(c, norms, MOST - NORMS, x + NORMS);
    return is_omitted(c, norms + 1) ? NORMS : MOST;
}

/* The scratch buffer has unspecified values: zeros. */
static void fill_scratch(struct converter *c)
{
    const struct value *v = input_of(c, CELL_STATE);
    const int32_t gates = is_omitted(c, 1) ? 3 : 4;

    if (require(c, is_shape_known(v) && v->n_dims == 2))
        emit2(
            c, TFL_FILL,
            constant_ints(c, 2, (int32_t[]){ (int32_t) v->dims[0], gates * (int32_t) v->dims[1] }),
            constant_real(c, 0), out(c, 0));
}

static void convert_lstm(struct converter *c, const struct rule *r)
{
    const int32_t values[] = { cell_activation(c, 20), bits_of(real(c, 21, 0)),
                               bits_of(real(c, 22, 0)), 0 };
    int32_t x[MOST];
    const uint32_t n = cell_inputs(c, 23, x);

    emit(c, r->code, r->options, values, n, x, 1, (int32_t[]){ out(c, 3) });
    state_out(c, x[OUTPUT_STATE], 1);
    state_out(c, x[CELL_STATE], 2);
    fill_scratch(c);
}

static void convert_lstm_sequence(struct converter *c, const struct rule *r)
{
    const int32_t values[] = { cell_activation(c, 20), bits_of(real(c, 21, 0)),
                               bits_of(real(c, 22, 0)), number(c, 23, 0) };
    int32_t x[MOST];
    const uint32_t n = cell_inputs(c, 24, x);

    emit(c, r->code, r->options, values, n, x, 1, (int32_t[]){ out(c, 0) });
    state_out(c, x[OUTPUT_STATE], 1);
    state_out(c, x[CELL_STATE], 2);
}

/* TensorFlow Lite has no layer norm here. */
static void convert_lstm_both_ways(struct converter *c, const struct rule *r)
{
    const int32_t merge = number(c, 51, 0);
    const int32_t values[] = { cell_activation(c, 48), bits_of(real(c, 49, 0)),
                               bits_of(real(c, 50, 0)), 0, number(c, 52, 0) };
    int32_t x[48], y[2];

    for (uint32_t i = 53; i < 61; i++)
        require(c, is_omitted(c, i));
    tensors_in(c, 0, 48, x);
    for (uint32_t i = 35; i < 39; i++)
        x[i] = state_in(c, i);
    y[0] = merge ? like(c, out(c, 0)) : out(c, 0);
    y[1] = merge ? like(c, out(c, 0)) : out(c, 1);
    emit(c, r->code, r->options, values, 48, x, 2, y);
    if (merge)
        merge_ways(c, y);
    for (uint32_t i = 0; i < 4; i++)
        state_out(c, x[35 + i], (merge ? 1 : 2) + i);
}

/* ---- quantised LSTM */

static int32_t quantised_like(struct converter *c, enum tfl_type type, float scale, int32_t zero)
{
    const struct tfl_tensor t = { .type = type, .n_scales = 1, .scales = &scale, .zero = zero };

    require(c, scale > 0);
    return tfl_add_tensor(c->to, &t);
}

/* Without layer norm TensorFlow Lite takes the sums of a gate in steps of 2^-12, NNAPI in those
 * that the operation gives: the scales of all weights of the gate are multiplied by the quotient.
 */
static void rescale_gates(struct converter *c, int32_t *x)
{
    static const uint32_t peepholes[] = { 9, 10, 0, 11 };

    for (uint32_t gate = 0; gate < 4; gate++) {
        const uint32_t weights[] = { 1 + gate, 5 + gate, peepholes[gate] };
        const float step = real(c, 26 + gate, 1);
        for (uint32_t i = 0; i < 3; i++) {
            if (!weights[i] || x[weights[i]] == TFL_OMITTED)
                continue;
            struct tfl_tensor t = *tensor_at(c, x[weights[i]]);
            if (!require(c, step > 0 && t.n_scales == 1))
                return;
            t.scales = &(float){ t.scales[0] * 0x1p-12F / step };
            x[weights[i]] = tfl_add_tensor(c->to, &t);
        }
    }
}

/* The scales of the gates before the layer norm, and the scale and zero point of the units' output,
 * are those of intermediate tensors. */
static void convert_quantized_lstm(struct converter *c, const struct rule *r)
{
    const struct value *projection = input_of(c, 16), *y = output_of(c, 2);
    const bool is_projected = !is_omitted(c, 16);
    /* A limit in steps of the output here, of the projection's weights in NNAPI. */
    const float limit = real(c, 25, 0) * (is_projected ? y->scale / projection->scale : 1);
    const int32_t values[] = { 4, bits_of(real(c, 24, 0)), bits_of(limit), 0 };
    int32_t x[MOST], intermediates[5];
    const uint32_t n = cell_inputs(c, NORMS, x);

    /* TensorFlow Lite 2.9 takes peepholes to be of the size of the output. */
    require(c, is_omitted(c, 10) || (input_of(c, 10)->n_dims == 1 && y->n_dims == 2 &&
                                     input_of(c, 10)->dims[0] == y->dims[1]));
    /* The runtime reads the weights when it prepares the model. */
    for (uint32_t i = 1; i < MOST; i++)
        require(c, i == OUTPUT_STATE || i == CELL_STATE || is_omitted(c, i) ||
                       input_of(c, i)->constant);
    if (n == NORMS)
        rescale_gates(c, x);
    for (uint32_t i = 0; i < 4; i++)
        intermediates[i] = quantised_like(c, TFL_INT16, real(c, 26 + i, 0), 0);
    intermediates[4] = quantised_like(c, TFL_INT8, real(c, 31, 0), number(c, 30, 0));
    const struct tfl_operator op = { .code = r->code,
                                     .options = r->options,
                                     .values = values,
                                     .n_in = n,
                                     .in = x,
                                     .n_out = 1,
                                     .out = (int32_t[]){ out(c, 2) },
                                     .n_intermediates = 5,
                                     .intermediates = intermediates };
    if (c->supported)
        tfl_add_operator(c->to, &op);
    state_out(c, x[OUTPUT_STATE], 0);
    state_out(c, x[CELL_STATE], 1);
}

/* Constant matrices of `rows` rows side by side (rows > 1), or vectors one after the other. */
static int32_t joined(struct converter *c, uint32_t rows, uint32_t n, const int32_t *x)
{
    struct tfl_tensor t = *tensor_at(c, x[0]);
    size_t length = 0, at = 0;

    for (uint32_t i = 0; i < n; i++)
        length += tensor_at(c, x[i])->length;
    uint8_t *bytes = arena_take(c->to->arena, length, 1);
    for (uint32_t row = 0; bytes && row < rows; row++)
        for (uint32_t i = 0; i < n; i++) {
            const struct tfl_tensor *from = tensor_at(c, x[i]);
            const size_t part = from->length / rows;
            if (!require(c, from->data))
                return TFL_OMITTED;
            memcpy(bytes + at, (const uint8_t *) from->data + row * part, part);
            at += part;
        }
    t.data = bytes;
    t.length = length;
    return tfl_add_tensor(c->to, &t);
}

/* The basic cell of TensorFlow Lite has one matrix: a row for each unit of each gate, the weights
 * of the input before those of the output. */
static void convert_quantized_16bit_lstm(struct converter *c, const struct rule *r)
{
    static const uint32_t gates[] = { 0, 2, 1, 3 }; /* input, cell, forget, output */
    int32_t rows[4], biases[4];

    const struct value *state = input_of(c, 14), *first = input_of(c, 1);
    if (!require(c, state && first && state->n_dims == 2 && first->n_dims == 2))
        return;
    const uint32_t units = state->dims[1], columns = first->dims[1] + units;
    for (uint32_t i = 0; i < 4; i++) {
        rows[i] = joined(c, units, 2, (int32_t[]){ in(c, 1 + gates[i]), in(c, 5 + gates[i]) });
        biases[i] = in(c, 9 + gates[i]);
    }
    const int32_t weights = joined(c, 1, 4, rows), bias = joined(c, 1, 4, biases);
    if (!c->supported || c->to->arena->failed)
        return;
    c->to->tensor[weights].dims[0] = c->to->tensor[bias].dims[0] = 4 * (int32_t) units;
    c->to->tensor[weights].dims[1] = (int32_t) columns;
    const struct tfl_tensor gate = { .type = TFL_INT16 };
    const int32_t values[] = { 4, 0, 0, 1 };
    const int32_t outputs[] = { out(c, 1), out(c, 0), like(c, in(c, 0)),
                                tfl_add_tensor(c->to, &gate) };
    emit(c, r->code, r->options, values, 5,
         (int32_t[]){ in(c, 0), in(c, 14), weights, bias, in(c, 13) }, 4, outputs);
}

const struct rule sequence_rules[] = {
    { HAL_OP_FULLY_CONNECTED, 4, 4, 0, REAL, 4, TFL_FULLY_CONNECTED, OPTIONS_FULLY_CONNECTED,
      convert_fully_connected },
    { HAL_OP_LSTM, 23, 27, 0, F32, 2, TFL_LSTM, OPTIONS_LSTM, convert_lstm },
    { HAL_OP_RNN, 6, 6, 0, F32, 2, TFL_RNN, OPTIONS_RNN, convert_rnn },
    { HAL_OP_SVDF, 7, 7, 0, F32, 2, TFL_SVDF, OPTIONS_SVDF, convert_svdf },
    { HAL_OP_BIDIRECTIONAL_SEQUENCE_LSTM, 53, 61, 0, F32, 3, TFL_BIDIRECTIONAL_SEQUENCE_LSTM,
      OPTIONS_BIDIRECTIONAL_SEQUENCE_LSTM, convert_lstm_both_ways },
    { HAL_OP_BIDIRECTIONAL_SEQUENCE_RNN, 15, 15, 0, F32, 3, TFL_BIDIRECTIONAL_SEQUENCE_RNN,
      OPTIONS_BIDIRECTIONAL_SEQUENCE_RNN, convert_rnn_both_ways },
    { HAL_OP_QUANTIZED_16BIT_LSTM, 15, 15, 0, U8, 2, TFL_LSTM, OPTIONS_LSTM,
      convert_quantized_16bit_lstm },
    { HAL_OP_UNIDIRECTIONAL_SEQUENCE_LSTM, 24, 28, 0, F32, 3, TFL_UNIDIRECTIONAL_SEQUENCE_LSTM,
      OPTIONS_UNIDIRECTIONAL_SEQUENCE_LSTM, convert_lstm_sequence },
    { HAL_OP_UNIDIRECTIONAL_SEQUENCE_RNN, 7, 7, 0, F32, 3, TFL_UNIDIRECTIONAL_SEQUENCE_RNN,
      OPTIONS_SEQUENCE_RNN, convert_rnn_sequence },
    { HAL_OP_QUANTIZED_LSTM, 32, 32, 0, S8, 2, TFL_LSTM, OPTIONS_LSTM, convert_quantized_lstm },
    { HAL_OP_BATCH_MATMUL, 4, 4, 0, F32 | S8, 4, TFL_BATCH_MATMUL, OPTIONS_BATCH_MATMUL,
      convert_batch_matmul },
    { 0 },
};
