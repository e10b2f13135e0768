#include "golden/math/fixed_point.h"
#include "golden/ops/shared/recurrent/lstm_cell.h"

enum {
    INPUT,
    CELL,
    CELL_CLIP = CELL + LSTM_OPERANDS,
    PROJECTION_CLIP,
    GATE_SCALE,
    HIDDEN_ZERO = GATE_SCALE + LSTM_GATES,
    HIDDEN_SCALE
};
enum { STATE_OUT, CELL_OUT, OUTPUT };

#define GATE_SCALE_ROLE(gate)                                                                      \
    {                                                                                              \
        gate "_intermediate_scale", "of the sum of products, before layer norm or activation",     \
            .slot = LSTM_SCALAR, .draw = DRAW_POSITIVE, .qscale = 0x1p-12                          \
    }

static const struct role inputs[] = {
    [INPUT] = { "input", "one step, [batch_size, input_size]", "BI", .slot = LSTM_VALUE },
    LSTM_ROLES(CELL, "", "U", "O", "I"),
    [CELL_CLIP] = LSTM_CLIP_ROLE("cell_clip", "limit to which the cell state is clipped"),
    [PROJECTION_CLIP] = LSTM_CLIP_ROLE(
        "projection_clip", "limit of the output, in multiples of the projection weights' scale"),
    [GATE_SCALE + LSTM_GATE_INPUT] = GATE_SCALE_ROLE("input"),
    [GATE_SCALE + LSTM_GATE_FORGET] = GATE_SCALE_ROLE("forget"),
    [GATE_SCALE + LSTM_GATE_CELL] = GATE_SCALE_ROLE("cell"),
    [GATE_SCALE + LSTM_GATE_OUTPUT] = GATE_SCALE_ROLE("output"),
    [HIDDEN_ZERO] = { "hidden_state_zero_point", "of the units' output; it is subtracted",
                      .slot = FIXED(DT_INT32), .draw = DRAW_OP },
    [HIDDEN_SCALE] = { "hidden_state_scale", "of the units' output", .slot = LSTM_SCALAR,
                       .draw = DRAW_POSITIVE, .qscale = 0x1p-7 },
};

static const struct role outputs[] = {
    [STATE_OUT] = { "output_state", "the output, for the next step", "BO", .slot = LSTM_VALUE,
                    .q = Q_LIKE, .qlike = CELL + LSTM_STATE },
    [CELL_OUT] = { "cell_state", "for the next step", "BU", .slot = LSTM_MEMORY, .q = Q_LIKE,
                   .qlike = CELL + LSTM_CELL_STATE },
    [OUTPUT] = { "output", "[batch_size, output_size]", "BO", .slot = LSTM_VALUE, .q = Q_LIKE,
                 .qlike = CELL + LSTM_STATE },
};

static const struct form forms[] = {
    { "",
      { INPUT, LSTM_WEIGHT_ORDER(CELL), LSTM_STATE_ORDER(CELL), LSTM_NORM_ORDER(CELL), CELL_CLIP,
        PROJECTION_CLIP, GATE_SCALE, GATE_SCALE + 1, GATE_SCALE + 2, GATE_SCALE + 3, HIDDEN_ZERO,
        HIDDEN_SCALE, END } },
};

static const struct typing typings[] = {
    /*               values, matrices, vectors, biases, cell state, scalars */
    { L4, RANK(2), { DT_S8, DT_Q8S, DT_Q16S, DT_I32, DT_Q16S, DT_FLOAT32 } },
};

static const struct lstm cell = {
    .cell = CELL,
    .input = INPUT,
    .aux = NO_OPERAND,
    .activation = NO_OPERAND,
    .cell_clip = CELL_CLIP,
    .projection_clip = PROJECTION_CLIP,
};

static int check_scale(const struct call *c, int role, struct why *w)
{
    double scale = call_known(c, role) ? call_real(c, role) : 1;

    REQUIRE(w, scale > 0 && scale < INFINITY, "%s: %s is %g, must be over 0", c->op->name,
            c->op->in[role].name, scale);
    return 0;
}

static int infer(struct call *c, struct why *w)
{
    for (int g = 0; g < LSTM_GATES; g++)
        TRY(check_scale(c, GATE_SCALE + g, w));
    TRY(check_scale(c, HIDDEN_SCALE, w));
    return lstm_check(c, &cell, w);
}

/* --- the integer steps */

/* State of one time step: sizes, exponent of the cell state's scale, values of the units. */
struct run {
    const struct call *c;
    size_t batch, units, outputs;
    int cell_exponent;
    int16_t *gate[LSTM_GATES], *cell;
    double *sums; /* sums of products, exact */
};

static const double *values(const struct call *c, int role)
{
    int at = call_arg(c, role);

    return at >= 0 ? c->x[at] : NULL;
}

static float scale_of(const struct call *c, int role)
{
    return c->in[role]->scale;
}

/* sums = init + rows * weights, with as many rows as the batch has */
static void multiply(const struct run *r, const double *rows, int weights, const double *init)
{
    const uint32_t *dim = r->c->in[weights]->shape.dim;
    struct matmul product = { .m = r->batch,
                              .n = dim[0],
                              .k = dim[1],
                              .a = rows,
                              .b = values(r->c, weights),
                              .init = init,
                              .c = r->sums };

    matmul(&product, r->c->pool);
}

/* gate += (init + rows * weights) * factor, rounded and saturated */
static void accumulate(const struct run *r, int rows, int weights, const double *init, float factor,
                       int16_t *gate)
{
    struct fixed_factor f = fixed_factor_of((double) factor);

    multiply(r, values(r->c, rows), weights, init);
    for (size_t i = 0; i < r->batch * r->units; i++)
        gate[i] = fixed_saturate_16(gate[i] + fixed_scale(fixed_accumulator(r->sums[i]), f));
}

static void add_peephole(const struct run *r, int weights, const int16_t *state, float gate_scale,
                         int16_t *gate)
{
    const double *peephole = values(r->c, weights);
    float factor =
        (float) (ldexp((double) scale_of(r->c, weights), r->cell_exponent) / (double) gate_scale);
    struct fixed_factor f = fixed_factor_of((double) factor);

    for (size_t i = 0; i < r->batch * r->units; i++)
        gate[i] = fixed_saturate_16(gate[i] +
                                    fixed_scale((int32_t) peephole[i % r->units] * state[i], f));
}

/* Layer normalisation of one batch with integer mean and variance; the quotient has 10 fraction
 * bits. */
static void normalise(const struct run *r, int norm, int bias, int16_t *gate)
{
    const double *weights = values(r->c, norm), *biases = values(r->c, bias);
    struct fixed_factor scale = fixed_factor_of((double) scale_of(r->c, norm));
    int64_t n = (int64_t) r->units, sum = 0, squares = 0;

    scale.shift += 12;
    for (size_t i = 0; i < r->units; i++) {
        sum += gate[i];
        squares += gate[i] * gate[i];
    }
    int32_t mean = (int32_t) (sum * 1024 / n);
    int64_t variance = (squares * ((1 << 20) / n) - (int64_t) mean * mean) / (1 << 20);
    struct fixed_factor inverse = fixed_inverse_root((int32_t) variance);
    for (size_t i = 0; i < r->units; i++) {
        int64_t z = fixed_scale(1024 * gate[i] - mean, inverse);
        int64_t y = z * (int64_t) weights[i] + (int64_t) biases[i];
        gate[i] =
            fixed_saturate_16(fixed_scale((int32_t) ((y > 0 ? y + 512 : y - 512) / 1024), scale));
    }
}

/* Computes gate g: the sum, Q3.12, and its activation, Q0.15. */
static void compute_gate(const struct run *r, int g)
{
    static const int peephole[] = { LSTM_CELL_TO_INPUT, LSTM_CELL_TO_FORGET, NO_OPERAND,
                                    LSTM_CELL_TO_OUTPUT };
    const struct call *c = r->c;
    int weights = CELL + LSTM_INPUT_TO_INPUT + g, recurrent = CELL + LSTM_RECURRENT_TO_INPUT + g;
    int norm = CELL + LSTM_INPUT_NORM + g, bias = CELL + LSTM_INPUT_BIAS + g;
    float scale = (float) call_real(c, GATE_SCALE + g);
    int16_t *gate = r->gate[g];

    accumulate(r, INPUT, weights, c->in[norm] ? NULL : values(c, bias),
               scale_of(c, weights) * scale_of(c, INPUT) / scale, gate);
    accumulate(r, CELL + LSTM_STATE, recurrent, NULL,
               scale_of(c, recurrent) * scale_of(c, CELL + LSTM_STATE) / scale, gate);
    if (peephole[g] != NO_OPERAND && c->in[CELL + peephole[g]])
        add_peephole(r, CELL + peephole[g], r->cell, scale, gate);
    for (size_t b = 0; c->in[norm] && b < r->batch && r->units; b++)
        normalise(r, norm, bias, gate + b * r->units);
    for (size_t i = 0; i < r->batch * r->units; i++)
        gate[i] = g == LSTM_GATE_CELL ? fixed_tanh(gate[i], 3) : fixed_logistic(gate[i]);
}

/* c' = clip(f c + i g); without an input gate i = 1 - f. */
static void update_cell(const struct run *r)
{
    const struct call *c = r->c;
    float limit = (float) call_real(c, CELL_CLIP) / scale_of(c, CELL + LSTM_CELL_STATE);
    bool cifg = !c->in[CELL + LSTM_INPUT_TO_INPUT];
    int32_t clip = limit > 0 ? (int32_t) fminf(limit, INT16_MAX) : 0;

    for (size_t i = 0; i < r->batch * r->units; i++) {
        int32_t forget = r->gate[LSTM_GATE_FORGET][i];
        int32_t in = cifg ? INT16_MAX - forget : r->gate[LSTM_GATE_INPUT][i];
        int32_t kept = fixed_shift_right(forget * r->cell[i], 15);
        int32_t added = fixed_shift_right(in * r->gate[LSTM_GATE_CELL][i], 30 + r->cell_exponent);
        int16_t next = fixed_saturate_16(kept + added);
        if (clip > 0)
            next = (int16_t) (next > clip ? clip : next < -clip ? -clip : next);
        r->cell[i] = next;
    }
}

/* The hidden state o tanh(c'), quantised for the projection. */
static void compute_hidden(const struct run *r, double *ret_hidden)
{
    const struct call *c = r->c;
    float factor = (float) (0x1p-30 / call_real(c, HIDDEN_SCALE));
    struct fixed_factor f = fixed_factor_of((double) factor);
    int8_t zero = (int8_t) call_int(c, HIDDEN_ZERO);

    for (size_t i = 0; i < r->batch * r->units; i++) {
        int32_t activated = fixed_tanh(r->cell[i], r->cell_exponent + 15);
        int32_t y = fixed_scale(activated * r->gate[LSTM_GATE_OUTPUT][i], f);
        ret_hidden[i] = fixed_saturate_8(y - zero);
    }
}

/* output = projection * (hidden + zero point) + bias: the zero point that compute_hidden()
 * subtracts is added back. */
static void project(const struct run *r, const double *hidden, double *shifted, double *ret_output)
{
    const struct call *c = r->c;
    const struct tensor *state = c->in[CELL + LSTM_STATE], *to = c->in[CELL + LSTM_PROJECTION];
    float factor = to->scale * (float) call_real(c, HIDDEN_SCALE) / state->scale;
    struct fixed_factor f = fixed_factor_of((double) factor);
    float limit = (float) call_real(c, PROJECTION_CLIP) / to->scale;
    int32_t clip = limit > 0 ? (int32_t) fminf(limit, INT8_MAX) : 0;
    double zero = (int8_t) call_int(c, HIDDEN_ZERO);

    for (size_t i = 0; i < r->batch * r->units; i++)
        shifted[i] = hidden[i] + zero;
    multiply(r, shifted, CELL + LSTM_PROJECTION, values(c, CELL + LSTM_PROJECTION_BIAS));
    for (size_t i = 0; i < r->batch * r->outputs; i++) {
        int64_t y = (int64_t) fixed_scale(fixed_accumulator(r->sums[i]), f) + state->zero;
        int32_t q = y < INT8_MIN ? INT8_MIN : y > INT8_MAX ? INT8_MAX : (int32_t) y;
        if (clip > 0)
            q = q > clip ? clip : q < -clip ? -clip : q;
        ret_output[i] = q;
    }
}

static int run_init(struct run *r, struct why *w)
{
    const struct call *c = r->c;
    size_t n, widest;

    r->batch = c->letter['B'];
    r->units = c->letter['U'];
    r->outputs = c->letter['O'];
    quant_exponent((double) scale_of(c, CELL + LSTM_CELL_STATE), &r->cell_exponent);
    n = r->batch * r->units;
    widest = r->units > r->outputs ? r->units : r->outputs;
    for (int g = 0; g < LSTM_GATES; g++)
        r->gate[g] = arena_alloc(c->scratch, n + 1, sizeof(int16_t));
    r->cell = arena_alloc(c->scratch, n + 1, sizeof *r->cell);
    r->sums = arena_alloc_raw(c->scratch, r->batch * widest + 1, sizeof *r->sums);
    if (!r->gate[LSTM_GATE_OUTPUT] || !r->cell || !r->sums)
        return why_no_memory_for(w, "%s: %zu gates", c->op->name, n);
    for (size_t i = 0; i < n; i++)
        r->cell[i] = (int16_t) values(c, CELL + LSTM_CELL_STATE)[i];
    return 0;
}

static int eval(struct call *c, struct why *w)
{
    struct run r = { c };
    const struct tensor *out = c->out[OUTPUT];

    TRY(run_init(&r, w));
    size_t units = r.batch * r.units, n_out = r.batch * r.outputs;
    double *hidden = arena_alloc_raw(c->scratch, 2 * units + n_out + 1, sizeof *hidden);
    if (!hidden)
        return why_no_memory_for(w, "%s: %zu values", c->op->name, n_out);
    double *output = c->in[CELL + LSTM_PROJECTION] ? hidden + 2 * units : hidden;
    for (int g = 0; g < LSTM_GATES; g++) {
        if (g == LSTM_GATE_OUTPUT)
            update_cell(&r); /* the output gate's peephole reads the new cell state */
        if (g != LSTM_GATE_INPUT || c->in[CELL + LSTM_INPUT_TO_INPUT])
            compute_gate(&r, g);
    }
    compute_hidden(&r, hidden);
    if (output != hidden)
        project(&r, hidden, hidden + units, output);
    for (size_t i = 0; i < units; i++)
        c->y[CELL_OUT][i] = r.cell[i] * tensor_step(c->out[CELL_OUT], 0);
    for (size_t i = 0; i < n_out; i++)
        c->y[OUTPUT][i] = c->y[STATE_OUT][i] = (output[i] - out->zero) * tensor_step(out, 0);
    return 0;
}

/* --- bounds where the operands have errors: propagated through the real-valued cell */

/* Factor for the real values of a cell operand, so that the real-valued cell computes the same
 * gates: these take the rescaled sums of products as multiples of 2^-12, independently of the
 * operands' scales. */
static double operand_factor(const struct call *c, int operand)
{
    static const int gate_of[LSTM_OPERANDS] = { 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 3, 0, 1, 2, 3 };
    int g = gate_of[operand], norm = CELL + LSTM_INPUT_NORM + g, weights = CELL + g;
    double gate = 0x1p-12 / call_real(c, GATE_SCALE + g),
           step = tensor_step(c->in[CELL + operand], 0);

    if (operand < LSTM_INPUT_BIAS)
        return gate;
    if (operand <= LSTM_OUTPUT_BIAS && c->in[norm])
        return 0x1p-10 * (double) scale_of(c, norm) / step;
    if (operand <= LSTM_OUTPUT_BIAS)
        return gate * (double) scale_of(c, weights) * (double) scale_of(c, INPUT) / step;
    if (operand == LSTM_PROJECTION_BIAS)
        return (double) scale_of(c, CELL + LSTM_PROJECTION) * call_real(c, HIDDEN_SCALE) / step;
    return 1;
}

/* The same call with real operands, for the real-valued cell. */
static int real_call(const struct call *c, struct call *ret_real, struct why *w)
{
    struct call real;

    TRY(cell_real_call(c, &real, w));
    for (uint32_t i = 0; i < c->n_in; i++) {
        int operand = c->form->role[i] - CELL;
        if (!c->arg[i] || operand < 0 || operand >= LSTM_OPERANDS)
            continue;
        double factor = operand_factor(c, operand);
        size_t n = tensor_count(c->arg[i]);
        for (size_t j = 0; j < n; j++)
            real.x[i][j] *= factor;
        for (size_t j = 0; c->ex[i] && j < n; j++)
            c->ex[i][j] *= factor;
    }
    real.in[PROJECTION_CLIP] = NULL; /* has another unit than the real cell's clip */
    *ret_real = real;
    return 0;
}

/* The error in the output from rounding the hidden state: its step times the weights. */
static double hidden_error(const struct call *c, size_t output)
{
    const double *weights = values(c, CELL + LSTM_PROJECTION);
    size_t units = c->letter['U'];
    double sum = 0;

    if (!weights)
        return tensor_step(c->out[OUTPUT], 0);
    for (size_t i = 0; i < units; i++)
        sum += fabs(weights[output * units + i]);
    return sum * (double) scale_of(c, CELL + LSTM_PROJECTION) * call_real(c, HIDDEN_SCALE);
}

static int bound(struct call *c, struct why *w)
{
    static const double u = 0x1p-12;
    struct cell k = { .c = c, .rows = cell_sequence_of(c->in[INPUT], false), .unit = u };
    size_t width = c->letter['O'], n = k.rows.batch * width;
    struct lstm_result r = { .stride = width };
    struct lstm saturating = cell;
    struct call real;
    double unit = 1;

    if (!cell_inexact(c))
        return 0;
    TRY(real_call(c, &real, w));
    TRY(cell_array(&k, n, &r.output, w));
    TRY(cell_array(&k, k.rows.batch * c->letter['U'], &r.cell, w));
    saturating.gate_limit = 8; /* Q3.12 */
    saturating.cell_limit = 0x1p15 * (double) scale_of(c, CELL + LSTM_CELL_STATE);
    TRY(lstm_run(&real, &saturating, k.rows, false, u, &r, w));
    if (!c->in[CELL + LSTM_PROJECTION]) /* the output has the hidden state's stored values */
        unit = tensor_step(c->out[OUTPUT], 0) / call_real(c, HIDDEN_SCALE);
    for (size_t i = 0; i < n; i++) {
        double e = r.output.e[i] * unit + fabs(r.output.x[i] * unit - c->y[OUTPUT][i]);
        c->ey[OUTPUT][i] = c->ey[STATE_OUT][i] = bound_clean(e + hidden_error(c, i % width));
    }
    for (size_t i = 0; i < k.rows.batch * c->letter['U']; i++)
        c->ey[CELL_OUT][i] = bound_clean(r.cell.e[i] + fabs(r.cell.x[i] - c->y[CELL_OUT][i]));
    return 0;
}

static bool draw(const struct call *c, int role, struct drawer *d, struct tensor *to)
{
    if (role != HIDDEN_ZERO)
        return lstm_draw(c, &cell, role, d, to);
    *(int32_t *) to->data = (int32_t) d->below(d, 17) - 8;
    return true;
}

static bool omits(const struct call *c, int role, struct drawer *d)
{
    return lstm_omits(c, &cell, role, d);
}

const struct op op_QUANTIZED_LSTM = {
    .code = OP_QUANTIZED_LSTM,
    .name = "QUANTIZED_LSTM",
    .summary = "One step of an LSTM cell in fixed point, with peepholes, projection and layer "
               "normalisation.",
    .formula =
        "i, f, o = logistic(W x + R h + P . c + b), g = tanh(W x + R h + b), "
        "c' = clip(f . c + i . g), output = clip(projection (o . tanh(c')) + bias); gates "
        "Q3.12 to Q0.15, each step rounded; the unit of a bias is that of the products, with "
        "layer normalisation 2^-10 of its weights' steps",
    .since = L4,
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
               .text = "the integer steps are the definition; one step is allowed for other "
                       "rounding; errors of operands propagate as in the real-valued cell" },
    .infer = infer,
    .eval = eval,
    .bound = bound,
    .draw = draw,
    .omits = omits,
};
