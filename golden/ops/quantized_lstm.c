#include <float.h>

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

static float peephole_factor(const struct run *r, int weights, float gate_scale)
{
    double product = ldexp((double) scale_of(r->c, weights), r->cell_exponent);

    return (float) (product / (double) gate_scale);
}

static void add_peephole(const struct run *r, int weights, const int16_t *state, float gate_scale,
                         int16_t *gate)
{
    const double *peephole = values(r->c, weights);
    struct fixed_factor f = fixed_factor_of((double) peephole_factor(r, weights, gate_scale));

    for (size_t i = 0; i < r->batch * r->units; i++)
        gate[i] = fixed_saturate_16(gate[i] +
                                    fixed_scale((int32_t) peephole[i % r->units] * state[i], f));
}

/* Mean with 10 fraction bits, and the factor that divides by the standard deviation. */
struct moments {
    int32_t mean;
    struct fixed_factor inverse;
};

static struct moments moments_of(const int16_t *gate, size_t units)
{
    int64_t n = (int64_t) units, sum = 0, squares = 0;

    for (size_t i = 0; i < units; i++) {
        sum += gate[i];
        squares += gate[i] * gate[i];
    }
    int32_t mean = (int32_t) (sum * 1024 / n);
    int64_t variance = (squares * ((1 << 20) / n) - (int64_t) mean * mean) / (1 << 20);
    return (struct moments){ mean, fixed_inverse_root((int32_t) variance) };
}

/* (x - mean) / standard deviation, with 10 fraction bits. */
static int32_t standardised(int16_t x, const struct moments *m)
{
    return fixed_scale(1024 * x - m->mean, m->inverse);
}

/* x / 2^10, rounded. */
static int64_t drop_fraction(int64_t x)
{
    return (x > 0 ? x + 512 : x - 512) / 1024;
}

static struct fixed_factor norm_factor(const struct run *r, int norm)
{
    struct fixed_factor f = fixed_factor_of((double) scale_of(r->c, norm));

    f.shift += 12;
    return f;
}

/* Layer normalisation of one batch, in integers. */
static void normalise(const struct run *r, int norm, int bias, int16_t *gate)
{
    const double *weights = values(r->c, norm), *biases = values(r->c, bias);
    struct fixed_factor scale = norm_factor(r, norm);
    struct moments m = moments_of(gate, r->units);

    for (size_t i = 0; i < r->units; i++) {
        int64_t y = standardised(gate[i], &m) * (int64_t) weights[i] + (int64_t) biases[i];
        gate[i] = fixed_saturate_16(fixed_scale((int32_t) drop_fraction(y), scale));
    }
}

/* The peepholes of the gates. */
static const int peephole_of[] = { LSTM_CELL_TO_INPUT, LSTM_CELL_TO_FORGET, NO_OPERAND,
                                   LSTM_CELL_TO_OUTPUT };

/* From products of two operands to a gate's sum. */
static float product_factor(const struct run *r, int weights, int rows, float gate_scale)
{
    return scale_of(r->c, weights) * scale_of(r->c, rows) / gate_scale;
}

/* Computes gate g: the sum, Q3.12, and its activation, Q0.15. */
static void compute_gate(const struct run *r, int g)
{
    const struct call *c = r->c;
    int weights = CELL + LSTM_INPUT_TO_INPUT + g, recurrent = CELL + LSTM_RECURRENT_TO_INPUT + g;
    int norm = CELL + LSTM_INPUT_NORM + g, bias = CELL + LSTM_INPUT_BIAS + g;
    float scale = (float) call_real(c, GATE_SCALE + g);
    int16_t *gate = r->gate[g];

    accumulate(r, INPUT, weights, c->in[norm] ? NULL : values(c, bias),
               product_factor(r, weights, INPUT, scale), gate);
    accumulate(r, CELL + LSTM_STATE, recurrent, NULL,
               product_factor(r, recurrent, CELL + LSTM_STATE, scale), gate);
    if (peephole_of[g] != NO_OPERAND && c->in[CELL + peephole_of[g]])
        add_peephole(r, CELL + peephole_of[g], r->cell, scale, gate);
    for (size_t b = 0; c->in[norm] && b < r->batch && r->units; b++)
        normalise(r, norm, bias, gate + b * r->units);
    for (size_t i = 0; i < r->batch * r->units; i++)
        gate[i] = g == LSTM_GATE_CELL ? fixed_tanh(gate[i], 3) : fixed_logistic(gate[i]);
}

/* The limit of the cell state; 0: none. */
static int32_t cell_clip(const struct run *r)
{
    float limit = (float) call_real(r->c, CELL_CLIP) / scale_of(r->c, CELL + LSTM_CELL_STATE);

    return limit > 0 ? (int32_t) fminf(limit, INT16_MAX) : 0;
}

/* c' = clip(f c + i g); without an input gate i = 1 - f. */
static void update_cell(const struct run *r)
{
    const struct call *c = r->c;
    bool cifg = !c->in[CELL + LSTM_INPUT_TO_INPUT];
    int32_t clip = cell_clip(r);

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

static struct fixed_factor hidden_factor(const struct run *r)
{
    return fixed_factor_of((double) (float) (0x1p-30 / call_real(r->c, HIDDEN_SCALE)));
}

/* The hidden state o tanh(c'), quantised for the projection. */
static void compute_hidden(const struct run *r, double *ret_hidden)
{
    const struct call *c = r->c;
    struct fixed_factor f = hidden_factor(r);
    int8_t zero = (int8_t) call_int(c, HIDDEN_ZERO);

    for (size_t i = 0; i < r->batch * r->units; i++) {
        int32_t activated = fixed_tanh(r->cell[i], r->cell_exponent + 15);
        int32_t y = fixed_scale(activated * r->gate[LSTM_GATE_OUTPUT][i], f);
        ret_hidden[i] = fixed_saturate_8(y - zero);
    }
}

static struct fixed_factor projection_factor(const struct run *r)
{
    const struct tensor *state = r->c->in[CELL + LSTM_STATE];
    float from = scale_of(r->c, CELL + LSTM_PROJECTION) * (float) call_real(r->c, HIDDEN_SCALE);

    return fixed_factor_of((double) (from / state->scale));
}

/* The limit of the output; 0: none. */
static int32_t projection_clip(const struct run *r)
{
    float limit = (float) call_real(r->c, PROJECTION_CLIP) / scale_of(r->c, CELL + LSTM_PROJECTION);

    return limit > 0 ? (int32_t) fminf(limit, INT8_MAX) : 0;
}

/* output = projection * (hidden + zero point) + bias: the zero point that compute_hidden()
 * subtracts is added back. */
static void project(const struct run *r, const double *hidden, double *shifted, double *ret_output)
{
    const struct call *c = r->c;
    const struct tensor *state = c->in[CELL + LSTM_STATE];
    struct fixed_factor f = projection_factor(r);
    int32_t clip = projection_clip(r);
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

/* --- bounds where the operands have errors: the range of each integer of each step, for operands
 * anywhere within their errors */

struct range {
    int64_t lo, hi;
};

/* Twice the relative error of fixed_inverse_root(). */
static const double root_slack = 0x1p-15;

static int64_t clamp(int64_t x, int64_t lo, int64_t hi)
{
    return x < lo ? lo : x > hi ? hi : x;
}

static struct range range_clamp(struct range a, int64_t lo, int64_t hi)
{
    return (struct range){ clamp(a.lo, lo, hi), clamp(a.hi, lo, hi) };
}

static struct range range_words(struct range a)
{
    return range_clamp(a, INT16_MIN, INT16_MAX);
}

/* All integers if some of the range are not those of 32 bits, and wrap around. */
static struct range range_wrap(struct range a)
{
    bool fits = a.lo >= INT32_MIN && a.hi <= INT32_MAX;

    return fits ? a : (struct range){ INT32_MIN, INT32_MAX };
}

/* Of an integer, or sum of products of integers, as held by a 32-bit accumulator. */
static struct range range_of(struct ball a)
{
    int32_t x = fixed_accumulator(a.x);
    int64_t e = (int64_t) ceil(fmin(a.e, 0x1p32) * (1 + 0x1p-30));

    return range_wrap((struct range){ x - e, x + e });
}

static struct range range_sum(struct range a, struct range b)
{
    return (struct range){ a.lo + b.lo, a.hi + b.hi };
}

static struct range range_product(struct range a, struct range b)
{
    int64_t p[] = { a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi };
    struct range y = { p[0], p[0] };

    for (int i = 1; i < COUNT(p); i++) {
        y.lo = p[i] < y.lo ? p[i] : y.lo;
        y.hi = p[i] > y.hi ? p[i] : y.hi;
    }
    return y;
}

/* fixed_scale() and fixed_shift_right() grow with their argument. */
static struct range range_scale(struct range a, struct fixed_factor f)
{
    return (struct range){ fixed_scale((int32_t) a.lo, f), fixed_scale((int32_t) a.hi, f) };
}

static struct range range_shift_right(struct range a, int bits)
{
    return (struct range){ fixed_shift_right((int32_t) a.lo, bits),
                           fixed_shift_right((int32_t) a.hi, bits) };
}

/* bits: of the argument of fixed_tanh(); 0 and tanh false: fixed_logistic() */
static struct range range_activation(struct range x, bool tanh, int bits)
{
    int16_t lo = (int16_t) x.lo, hi = (int16_t) x.hi;
    int slack = lo == hi ? 0 : FIXED_ACTIVATION_DROP;
    struct range y = { tanh ? fixed_tanh(lo, bits) : fixed_logistic(lo),
                       tanh ? fixed_tanh(hi, bits) : fixed_logistic(hi) };

    return range_words((struct range){ y.lo - slack, y.hi + slack });
}

/* The ranges of a run. */
struct ranges {
    struct run run;
    struct call units; /* the call, errors in units too */
    struct cell k;
    struct range *gate[LSTM_GATES], *cell, *hidden, *output;
    struct ball_array sums;
};

/* sums = init + rows * weights, with as many rows as the batch has */
static int multiply_ranges(struct ranges *r, struct ball_array rows, int weights,
                           struct ball_array init, struct why *w)
{
    struct cell_matrix m;

    TRY(cell_matrix_init(&r->k, weights, false, &m, w));
    for (size_t i = 0; i < r->run.batch * m.n; i++)
        ball_put(&r->sums, i, init.x ? ball_at(&init, i % m.n) : (struct ball){ 0, 0 });
    struct cell_rows from = { rows, r->run.batch, m.k }, to = { r->sums, r->run.batch, m.n };
    return cell_product(&r->k, &from, &m, m.k, &to, w);
}

/* As accumulate(). */
static int accumulate_ranges(struct ranges *r, int rows, int weights, struct ball_array init,
                             float factor, struct range *gate, struct why *w)
{
    struct fixed_factor f = fixed_factor_of((double) factor);

    TRY(multiply_ranges(r, cell_operand(&r->k, rows), weights, init, w));
    for (size_t i = 0; i < r->run.batch * r->run.units; i++) {
        struct range x = range_scale(range_of(ball_at(&r->sums, i)), f);
        gate[i] = range_words(range_wrap(range_sum(gate[i], x)));
    }
    return 0;
}

/* As add_peephole(). */
static void add_peephole_ranges(const struct ranges *r, int weights, float gate_scale,
                                struct range *gate)
{
    struct ball_array peephole = cell_operand(&r->k, weights);
    struct fixed_factor f = fixed_factor_of((double) peephole_factor(&r->run, weights, gate_scale));

    for (size_t i = 0; i < r->run.batch * r->run.units; i++) {
        struct range p = range_words(range_of(ball_at(&peephole, i % r->run.units)));
        struct range x = range_scale(range_product(p, r->cell[i]), f);
        gate[i] = range_words(range_wrap(range_sum(gate[i], x)));
    }
}

/* Ranges of the factor with which normalise() divides by the standard deviation, and of the
 * differences from the mean, in 2^-10. */
struct spread {
    double mean, errors; /* mean of the middles of the ranges, sum of their half widths */
    double least, most;  /* of the factor */
};

/* The deviation of the middles changes by at most the root mean square of the half widths.  The
 * integer variance is less than the real one by the rest of 2^20 / n, and more by that of the
 * mean. */
static struct spread spread_of(const struct range *gate, size_t n)
{
    double count = (double) n, sum = 0, squares = 0, errors = 0, square_errors = 0, largest = 0;
    const double lost_of_mean = 64;

    for (size_t i = 0; i < n; i++) {
        double e = (double) (gate[i].hi - gate[i].lo) / 2;
        double outer = (double) (-gate[i].lo > gate[i].hi ? -gate[i].lo : gate[i].hi);
        sum += (double) gate[i].lo + e;
        errors += e;
        square_errors += e * e;
        largest += outer * outer;
    }
    for (size_t i = 0; i < n; i++) {
        double d = (double) (gate[i].lo + gate[i].hi) / 2 - sum / count;
        squares += d * d;
    }
    double deviation = sqrt(squares / count), off = sqrt(square_errors / count);
    double lo = fmax(deviation - off, 0), hi = deviation + off;
    struct fixed_factor most =
        fixed_inverse_root((int32_t) floor(fmax(lo * lo - largest * 0x1p-20 - 2, 0)));
    struct fixed_factor least = fixed_inverse_root((int32_t) ceil(hi * hi + lost_of_mean + 2));
    return (struct spread){ sum / count, errors,
                            ldexp(least.mantissa, least.shift - 31) * (1 - root_slack),
                            ldexp(most.mantissa, most.shift - 31) * (1 + root_slack) };
}

/* The range of a normalised value, with 10 fraction bits; 2 and 1: for rounding it and the mean. */
static struct range normalised(struct range gate, const struct spread *s, size_t n)
{
    double count = (double) n, e = (double) (gate.hi - gate.lo) / 2;
    double d = 1024 * ((double) gate.lo + e - s->mean);
    double off = 1024 * ((count - 1) / count * e + (s->errors - e) / count) + 1;
    double lo = d - off, hi = d + off;

    return (struct range){ (int64_t) floor(lo * (lo < 0 ? s->most : s->least)) - 2,
                           (int64_t) ceil(hi * (hi > 0 ? s->most : s->least)) + 2 };
}

/* As normalise(). */
static void normalise_ranges(const struct ranges *r, int norm, int bias, struct range *gate)
{
    struct ball_array weights = cell_operand(&r->k, norm), biases = cell_operand(&r->k, bias);
    struct fixed_factor scale = norm_factor(&r->run, norm);
    size_t n = r->run.units;
    struct spread s = spread_of(gate, n);
    int16_t *words = r->run.gate[0];
    struct moments m;

    for (size_t i = 0; i < n; i++)
        words[i] = (int16_t) gate[i].lo;
    m = moments_of(words, n);
    for (size_t i = 0; i < n; i++) {
        int32_t z = standardised(words[i], &m);
        struct range x = s.errors > 0 ? normalised(gate[i], &s, n) : (struct range){ z, z };
        struct range y = range_sum(range_product(x, range_words(range_of(ball_at(&weights, i)))),
                                   range_of(ball_at(&biases, i)));
        y = range_wrap((struct range){ drop_fraction(y.lo), drop_fraction(y.hi) });
        gate[i] = range_words(range_scale(y, scale));
    }
}

/* As compute_gate(). */
static int gate_ranges(struct ranges *r, int g, struct why *w)
{
    const struct run *run = &r->run;
    const struct call *c = run->c;
    int weights = CELL + LSTM_INPUT_TO_INPUT + g, recurrent = CELL + LSTM_RECURRENT_TO_INPUT + g;
    int norm = CELL + LSTM_INPUT_NORM + g, bias = CELL + LSTM_INPUT_BIAS + g;
    float scale = (float) call_real(c, GATE_SCALE + g);
    struct ball_array none = { 0 }, init = c->in[norm] ? none : cell_operand(&r->k, bias);
    struct range *gate = r->gate[g];

    TRY(accumulate_ranges(r, INPUT, weights, init, product_factor(run, weights, INPUT, scale), gate,
                          w));
    TRY(accumulate_ranges(r, CELL + LSTM_STATE, recurrent, none,
                          product_factor(run, recurrent, CELL + LSTM_STATE, scale), gate, w));
    if (peephole_of[g] != NO_OPERAND && c->in[CELL + peephole_of[g]])
        add_peephole_ranges(r, CELL + peephole_of[g], scale, gate);
    for (size_t b = 0; c->in[norm] && b < run->batch && run->units; b++)
        normalise_ranges(r, norm, bias, gate + b * run->units);
    for (size_t i = 0; i < run->batch * run->units; i++)
        gate[i] = range_activation(gate[i], g == LSTM_GATE_CELL, 3);
    return 0;
}

/* As update_cell(). */
static void update_cell_ranges(const struct ranges *r)
{
    bool cifg = !r->run.c->in[CELL + LSTM_INPUT_TO_INPUT];
    int32_t clip = cell_clip(&r->run);

    for (size_t i = 0; i < r->run.batch * r->run.units; i++) {
        struct range forget = r->gate[LSTM_GATE_FORGET][i];
        struct range in = cifg ? (struct range){ INT16_MAX - forget.hi, INT16_MAX - forget.lo }
                               : r->gate[LSTM_GATE_INPUT][i];
        struct range kept = range_shift_right(range_product(forget, r->cell[i]), 15);
        struct range added = range_shift_right(range_product(in, r->gate[LSTM_GATE_CELL][i]),
                                               30 + r->run.cell_exponent);
        struct range next = range_words(range_sum(kept, added));
        r->cell[i] = clip > 0 ? range_clamp(next, -clip, clip) : next;
    }
}

/* As compute_hidden() and, with a projection, project(). */
static int output_ranges(struct ranges *r, struct why *w)
{
    const struct run *run = &r->run;
    const struct call *c = run->c;
    int8_t zero = (int8_t) call_int(c, HIDDEN_ZERO);
    struct ball_array shifted;

    for (size_t i = 0; i < run->batch * run->units; i++) {
        struct range y = range_activation(r->cell[i], true, run->cell_exponent + 15);
        y = range_scale(range_product(y, r->gate[LSTM_GATE_OUTPUT][i]), hidden_factor(run));
        y = range_wrap((struct range){ y.lo - zero, y.hi - zero });
        r->hidden[i] = range_clamp(y, INT8_MIN, INT8_MAX);
    }
    if (!c->in[CELL + LSTM_PROJECTION])
        return 0;
    TRY(cell_array(&r->k, run->batch * run->units, &shifted, w));
    for (size_t i = 0; i < run->batch * run->units; i++) {
        int64_t lo = r->hidden[i].lo, hi = r->hidden[i].hi, middle = lo + (hi - lo) / 2;
        ball_put(&shifted, i, (struct ball){ (double) (middle + zero), (double) (hi - middle) });
    }
    TRY(multiply_ranges(r, shifted, CELL + LSTM_PROJECTION,
                        cell_operand(&r->k, CELL + LSTM_PROJECTION_BIAS), w));
    for (size_t i = 0; i < run->batch * run->outputs; i++) {
        struct range y = range_scale(range_of(ball_at(&r->sums, i)), projection_factor(run));
        int32_t state_zero = c->in[CELL + LSTM_STATE]->zero, clip = projection_clip(run);
        y = range_clamp((struct range){ y.lo + state_zero, y.hi + state_zero }, INT8_MIN, INT8_MAX);
        r->output[i] = clip > 0 ? range_clamp(y, -clip, clip) : y;
    }
    return 0;
}

/* A copy of the call with errors as multiples of the operands' units. */
static int units_call(const struct call *c, struct call *ret_units, struct why *w)
{
    struct call units = *c;

    units.dot_factor = 0; /* sums of products are exact */
    units.ex = arena_alloc(c->scratch, c->n_in + 1, sizeof *units.ex);
    for (uint32_t i = 0; units.ex && i < c->n_in; i++) {
        if (!c->ex[i])
            continue;
        size_t n = tensor_count(c->arg[i]);
        double *e = arena_alloc_raw(c->scratch, n + 1, sizeof *e);
        if (!e)
            return why_no_memory_for(w, "%s: %zu values", c->op->name, n);
        for (size_t j = 0; j < n; j++) /* more than 2^32 is the same as 2^32 */
            e[j] = fmin(c->ex[i][j] / tensor_step(c->arg[i], 0), 0x1p32);
        units.ex[i] = e;
    }
    if (!units.ex)
        return why_no_memory_for(w, "%s", c->op->name);
    *ret_units = units;
    return 0;
}

static struct range *new_ranges(const struct call *c, size_t n, struct why *w)
{
    struct range *ranges = arena_alloc(c->scratch, n + 1, sizeof *ranges);

    if (!ranges)
        why_no_memory_for(w, "%s: %zu ranges", c->op->name, n);
    return ranges;
}

static int ranges_init(struct ranges *r, struct call *c, struct why *w)
{
    r->run.c = c;
    TRY(run_init(&r->run, w));
    TRY(units_call(c, &r->units, w));
    r->k = (struct cell){ &r->units, cell_sequence_of(c->in[INPUT], false), DBL_EPSILON };
    size_t n = r->run.batch * r->run.units, n_out = r->run.batch * r->run.outputs;
    struct ball_array state = cell_operand(&r->k, CELL + LSTM_CELL_STATE);
    for (int g = 0; g < LSTM_GATES; g++)
        if (!(r->gate[g] = new_ranges(c, n, w)))
            return -1;
    TRY(cell_array(&r->k, n > n_out ? n : n_out, &r->sums, w));
    if (!(r->cell = new_ranges(c, n, w)) || !(r->hidden = new_ranges(c, n, w)))
        return -1;
    r->output = r->hidden;
    if (c->in[CELL + LSTM_PROJECTION] && !(r->output = new_ranges(c, n_out, w)))
        return -1;
    for (size_t i = 0; i < n; i++)
        r->cell[i] = range_words(range_of(ball_at(&state, i)));
    return 0;
}

/* The largest distance of a range from a result, real. */
static double distance(struct range a, int32_t zero, double step, double y)
{
    double lo = (double) (a.lo - zero) * step, hi = (double) (a.hi - zero) * step;

    return bound_interval(y, lo, hi);
}

static int bound(struct call *c, struct why *w)
{
    struct ranges r = { .run.c = c };
    const struct tensor *out = c->out[OUTPUT];

    if (!cell_inexact(c))
        return 0;
    TRY(ranges_init(&r, c, w));
    for (int g = 0; g < LSTM_GATES; g++) {
        if (g == LSTM_GATE_OUTPUT)
            update_cell_ranges(&r);
        if (g != LSTM_GATE_INPUT || c->in[CELL + LSTM_INPUT_TO_INPUT])
            TRY(gate_ranges(&r, g, w));
    }
    TRY(output_ranges(&r, w));
    for (size_t i = 0; i < r.run.batch * r.run.units; i++)
        c->ey[CELL_OUT][i] =
            distance(r.cell[i], 0, tensor_step(c->out[CELL_OUT], 0), c->y[CELL_OUT][i]);
    for (size_t i = 0; i < r.run.batch * r.run.outputs; i++)
        c->ey[OUTPUT][i] = c->ey[STATE_OUT][i] =
            distance(r.output[i], out->zero, tensor_step(out, 0), c->y[OUTPUT][i]);
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
               .text =
                   "the integer steps are those of the public reference; NNAPI's text has none, "
                   "and the suites allow one step; errors of operands propagate as ranges of the "
                   "integers of every "
                   "step" },
    .infer = infer,
    .eval = eval,
    .bound = bound,
    .draw = draw,
    .omits = omits,
};
