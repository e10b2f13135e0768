#include "golden/math/fixed_point.h"
#include "golden/ops/shared/elementwise/activation.h"
#include "golden/ops/shared/recurrent/cell.h"

enum { GATE_INPUT, GATE_FORGET, GATE_CELL, GATE_OUTPUT, GATES };
enum {
    INPUT,
    WEIGHTS,
    RECURRENT = WEIGHTS + GATES,
    BIAS = RECURRENT + GATES,
    CELL = BIAS + GATES,
    STATE
};
enum { CELL_OUT, OUTPUT };

/* Slots of the typing row. */
enum { BYTES, BIASES, CELLS };

#define MATRIX(role, text, dims_)                                                                  \
    {                                                                                              \
        role, text, dims_, .slot = BYTES, .needs = NEEDS_CONST, .q = Q_LIKE, .qlike = WEIGHTS      \
    }
#define BIAS_OF(gate)                                                                              \
    {                                                                                              \
        gate "_bias", "one per unit", "O", .slot = BIASES, .needs = NEEDS_CONST, .q = Q_PRODUCT    \
    }
#define CELL_STATE(text)                                                                           \
    {                                                                                              \
        "cell_state", text, "BO", .slot = CELLS, .q = Q_FIXED, .qscale = 0x1p-11, .qzero = 32768   \
    }
#define STATE_OF(role, text, dims_)                                                                \
    {                                                                                              \
        role, text, dims_, .slot = BYTES, .q = Q_FIXED, .qscale = 0x1p-7, .qzero = 128             \
    }

static const struct role inputs[] = {
    [INPUT] = STATE_OF("input", "one step, [batch_size, input_size]", "BI"),
    [WEIGHTS + GATE_INPUT] = { "input_to_input_weights",
                               "their scale and zero point are those of "
                               "all weights",
                               "OI", .slot = BYTES, .needs = NEEDS_CONST },
    [WEIGHTS + GATE_FORGET] = MATRIX("input_to_forget_weights", "of the forget gate", "OI"),
    [WEIGHTS + GATE_CELL] = MATRIX("input_to_cell_weights", "of the cell gate", "OI"),
    [WEIGHTS + GATE_OUTPUT] = MATRIX("input_to_output_weights", "of the output gate", "OI"),
    [RECURRENT + GATE_INPUT] = MATRIX("recurrent_to_input_weights", "of the input gate", "OO"),
    [RECURRENT + GATE_FORGET] = MATRIX("recurrent_to_forget_weights", "of the forget gate", "OO"),
    [RECURRENT + GATE_CELL] = MATRIX("recurrent_to_cell_weights", "of the cell gate", "OO"),
    [RECURRENT + GATE_OUTPUT] = MATRIX("recurrent_to_output_weights", "of the output gate", "OO"),
    [BIAS + GATE_INPUT] = BIAS_OF("input_gate"),
    [BIAS + GATE_FORGET] = BIAS_OF("forget_gate"),
    [BIAS + GATE_CELL] = BIAS_OF("cell_gate"),
    [BIAS + GATE_OUTPUT] = BIAS_OF("output_gate"),
    [CELL] = CELL_STATE("of the step before, Q4.11"),
    [STATE] = STATE_OF("output_state", "output of the step before", "BO"),
};

static const struct role outputs[] = {
    [CELL_OUT] = CELL_STATE("for the next step, Q4.11"),
    [OUTPUT] = STATE_OF("output", "[batch_size, output_size]", "BO"),
};

static const struct form forms[] = {
    { "",
      { INPUT, WEIGHTS, WEIGHTS + 1, WEIGHTS + 2, WEIGHTS + 3, RECURRENT, RECURRENT + 1,
        RECURRENT + 2, RECURRENT + 3, BIAS, BIAS + 1, BIAS + 2, BIAS + 3, CELL, STATE, END } },
};

static const struct typing typings[] = {
    /*               bytes, biases, cell states */
    { L3, RANK(2), { DT_U8, DT_I32, DT_Q16S } },
};

/* Concatenates each row of a with that of b. */
static struct ball_array join(const struct cell *k, struct ball_array a, size_t na,
                              struct ball_array b, size_t nb, size_t rows, struct why *w)
{
    struct ball_array joined;
    size_t n = na + nb;

    if (cell_array(k, rows * n, &joined, w) < 0)
        return (struct ball_array){ 0 };
    for (size_t r = 0; r < rows; r++)
        for (size_t i = 0; i < n; i++)
            ball_put(&joined, r * n + i,
                     i < na ? ball_at(&a, r * na + i) : ball_at(&b, r * nb + i - na));
    return joined;
}

/* sum = bias + weights * row.  The definition joins input and state to one row, and also their
 * weights, where those of the state come first. */
static int sum_gate(const struct cell *k, int gate, const struct ball_array *sum, struct why *w)
{
    size_t batch = k->rows.batch, inputs_n = k->c->letter['I'], outputs_n = k->c->letter['O'];
    struct ball_array bias = cell_operand(k, BIAS + gate);
    struct cell_matrix m = { .n = outputs_n, .k = inputs_n + outputs_n };
    struct cell_rows row = { .n = batch, .stride = m.k }, to = { *sum, batch, outputs_n };

    row.at = join(k, cell_operand(k, INPUT), inputs_n, cell_operand(k, STATE), outputs_n, batch, w);
    m.weights = join(k, cell_operand(k, RECURRENT + gate), outputs_n,
                     cell_operand(k, WEIGHTS + gate), inputs_n, outputs_n, w);
    if (!row.at.x || !m.weights.x)
        return -1;
    for (size_t i = 0; i < batch * outputs_n; i++)
        ball_put(sum, i, ball_at(&bias, i % outputs_n));
    TRY(cell_matrix_measure(k, &m, w));
    return cell_product(k, &row, &m, m.k, &to, w);
}

/* Converts a sum of products to the activations' input, Q3.12. */
static int16_t gate_input(const struct call *c, double sum)
{
    struct fixed_factor f = fixed_factor_of(4096 * (double) c->in[BIAS]->scale);

    return fixed_saturate_16(fixed_scale(fixed_accumulator(sum), f));
}

/* One unit: the cell state is Q4.11, the results of gates and tanh are Q0.15. */
static void step(struct call *c, size_t i, const int16_t gate[GATES])
{
    int16_t in = fixed_logistic(gate[GATE_INPUT]), forget = fixed_logistic(gate[GATE_FORGET]);
    int16_t out = fixed_logistic(gate[GATE_OUTPUT]), modulation = fixed_tanh(gate[GATE_CELL], 3);

    int16_t added = (int16_t) fixed_shift_right(fixed_multiply_16(in, modulation), 4);
    int16_t kept = fixed_multiply_16(forget, (int16_t) c->x[CELL][i]);
    int16_t cell = fixed_saturate_16(added + kept);
    int16_t shown = fixed_multiply_16(out, fixed_tanh(fixed_saturate_16(2 * cell), 3));

    c->y[CELL_OUT][i] = cell * 0x1p-11;
    c->y[OUTPUT][i] = fixed_saturate_8(fixed_shift_right(shown, 8)) * 0x1p-7;
}

static int eval(struct call *c, struct why *w)
{
    struct cell k = { .c = c, .rows = cell_sequence_of(c->in[INPUT], false) };
    size_t n = tensor_count(c->in[CELL]);
    struct ball_array sum[GATES];

    for (int g = 0; g < GATES; g++) {
        TRY(cell_array(&k, n, &sum[g], w));
        TRY(sum_gate(&k, g, &sum[g], w));
    }
    for (size_t i = 0; i < n; i++) {
        int16_t gate[GATES];
        for (int g = 0; g < GATES; g++)
            gate[g] = gate_input(c, sum[g].x[i]);
        step(c, i, gate);
    }
    return 0;
}

/* A sum that may be beyond 32 bits wraps around: any value. */
static struct ball gate_sum(const struct call *c, struct ball sum)
{
    if (!(fabs(sum.x) + sum.e < 0x1p31 * tensor_step(c->in[BIAS], 0)))
        sum.e = INFINITY;
    return sum;
}

/* Errors of the operands are propagated through the real-valued cell; the integer steps deviate
 * from it about as much as arithmetic with a precision of 12 bits. */
static void bound_unit(struct call *c, const struct ball_array sum[GATES], struct ball cell,
                       size_t i)
{
    static const double u = 0x1p-12;
    struct ball value[GATES], kept, added, next, output;

    for (int g = 0; g < GATES; g++)
        value[g] = activation_of_cell(gate_sum(c, ball_at(&sum[g], i)),
                                      g == GATE_CELL ? CELL_TANH : CELL_LOGISTIC, u);
    kept = ball_product(value[GATE_FORGET], cell, u);
    added = ball_product(value[GATE_INPUT], value[GATE_CELL], u);
    next = ball_sum(kept, added, u);
    output = ball_product(value[GATE_OUTPUT], activation_of_cell(next, CELL_TANH, u), u);
    c->ey[CELL_OUT][i] = bound_clean(next.e + fabs(next.x - c->y[CELL_OUT][i]));
    c->ey[OUTPUT][i] = bound_clean(output.e + fabs(output.x - c->y[OUTPUT][i]));
}

static int bound(struct call *c, struct why *w)
{
    size_t n = tensor_count(c->in[CELL]);
    struct ball_array sum[GATES];
    struct call real;

    if (!cell_inexact(c))
        return 0;
    TRY(cell_real_call(c, &real, w));
    struct cell k = { .c = &real, .rows = cell_sequence_of(c->in[INPUT], false), .unit = c->unit };
    struct ball_array cell = cell_operand(&k, CELL);
    for (int g = 0; g < GATES; g++) {
        TRY(cell_array(&k, n, &sum[g], w));
        TRY(sum_gate(&k, g, &sum[g], w));
    }
    for (size_t i = 0; i < n; i++)
        bound_unit(c, sum, ball_at(&cell, i), i);
    return 0;
}

const struct op op_QUANTIZED_16BIT_LSTM = {
    .code = OP_QUANTIZED_16BIT_LSTM,
    .name = "QUANTIZED_16BIT_LSTM",
    .summary = "One step of an LSTM cell in fixed point: 8-bit products, 16-bit gates and cell "
               "state.",
    .formula = "i, f, o = logistic(W x + R h + b), g = tanh(W x + R h + b), c' = f . c + i . g, "
               "output = o . tanh(c'); gates Q3.12 to Q0.15, c Q4.11, each step rounded",
    .since = L3,
    .in = inputs,
    .n_in = COUNT(inputs),
    .out = outputs,
    .n_out = COUNT(outputs),
    .forms = forms,
    .n_forms = COUNT(forms),
    .typings = typings,
    .n_typings = COUNT(typings),
    .units = true,
    .error = { ERROR_EXACT, .steps = 1,
               .text =
                   "the integer steps are those of the public reference; NNAPI's text has none, "
                   "and the suites allow one step; errors of operands propagate as in the "
                   "real-valued cell" },
    .eval = eval,
    .bound = bound,
};
