/* Bounds of UNIDIRECTIONAL_SEQUENCE_LSTM: after several time steps the results of a plain
 * implementation in single and half precision are accepted, and results with common faults are
 * rejected. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "golden/model/build.h"
#include "tests/support/check_main.h"
#include "tests/support/rounded.h"

enum { STEPS = 6, BATCH = 3, SIZE = 5, UNITS = 7, OUTPUTS = 4, GATES = 4, MOST = 512 };
enum { INPUT_GATE, FORGET_GATE, CELL_GATE, OUTPUT_GATE };

enum fault {
    NO_FAULT,
    NO_BIAS,      /* the bias of the forget gate is omitted */
    OLD_PEEPHOLE, /* the output gate uses the cell state before the step */
    NO_PROJECTION_BIAS,
    SWAPPED_GATES,   /* input and forget gate */
    STATE_FROM_ZERO, /* the state is not carried from the second step to the third */
    LATE_CLIP,       /* the cell state is clipped in the result only */
    FAULTS
};

/* Values of all operands, rounded to half precision, so that both types represent them. */
static struct cell {
    double x[STEPS * BATCH * SIZE], w[GATES][UNITS * SIZE], recurrent[GATES][UNITS * OUTPUTS];
    double peephole[GATES][UNITS], bias[GATES][UNITS], norm[GATES][UNITS];
    double projection[OUTPUTS * UNITS], projection_bias[OUTPUTS];
    double state[BATCH * OUTPUTS], cell[BATCH * UNITS];
    bool normalised;
} v;

static const double cell_clip = 0.375;

static double (*r)(double x); /* rounding to the type under test */

static uint32_t seed;

static void fill(double *to, size_t n, double reach)
{
    for (size_t i = 0; i < n; i++) {
        seed = seed * 1664525 + 1013904223;
        to[i] = rounded_half(reach * ((double) (seed >> 8) / 0x1p23 - 1));
    }
}

static void draw_values(uint32_t from, bool normalised)
{
    seed = from;
    v.normalised = normalised;
    fill(v.x, COUNT(v.x), 2);
    fill(v.w[0], GATES * UNITS * SIZE, 0.5);
    fill(v.recurrent[0], GATES * UNITS * OUTPUTS, 0.5);
    fill(v.peephole[0], GATES * UNITS, 0.5);
    fill(v.bias[0], GATES * UNITS, 0.5);
    fill(v.norm[0], GATES * UNITS, 1);
    fill(v.projection, COUNT(v.projection), 0.5);
    fill(v.projection_bias, OUTPUTS, 0.5);
    fill(v.state, COUNT(v.state), 1);
    fill(v.cell, COUNT(v.cell), 1);
}

/* --- a plain implementation, in which every step rounds */

static double dot(const double *a, const double *b, size_t n, double sum)
{
    for (size_t i = 0; i < n; i++)
        sum = r(sum + r(a[i] * b[i]));
    return sum;
}

static void normalise(double *y, const double *weights)
{
    double sum = 0, squares = 0;

    for (int i = 0; i < UNITS; i++) {
        sum = r(sum + y[i]);
        squares = r(squares + r(y[i] * y[i]));
    }
    double mean = r(sum / UNITS), variance = r(r(squares / UNITS) - r(mean * mean));
    double scale = r(1 / r(sqrt(variance)));
    for (int i = 0; i < UNITS; i++)
        y[i] = r(r(r(y[i] - mean) * scale) * weights[i]);
}

static void sum_gate(int g, const double *x, const double *h, const double *c, enum fault fault,
                     double *y)
{
    bool bias = !(fault == NO_BIAS && g == FORGET_GATE);

    for (int i = 0; i < UNITS; i++) {
        y[i] = v.normalised || !bias ? 0 : v.bias[g][i];
        y[i] = dot(v.w[g] + i * SIZE, x, SIZE, y[i]);
        y[i] = dot(v.recurrent[g] + i * OUTPUTS, h, OUTPUTS, y[i]);
        if (g != CELL_GATE)
            y[i] = r(y[i] + r(v.peephole[g][i] * c[i]));
    }
    if (v.normalised)
        normalise(y, v.norm[g]);
    for (int i = 0; i < UNITS; i++) {
        if (v.normalised && bias)
            y[i] = r(y[i] + v.bias[g][i]);
        y[i] = g == CELL_GATE ? r(tanh(y[i])) : r(1 / r(1 + r(exp(-y[i]))));
    }
}

static double clipped(double x)
{
    return fmin(fmax(x, -cell_clip), cell_clip);
}

static void step(const double *x, double *h, double *c, enum fault fault)
{
    double gate[GATES][UNITS], old[UNITS], m[UNITS];
    int first = fault == SWAPPED_GATES ? FORGET_GATE : INPUT_GATE;

    memcpy(old, c, sizeof old);
    for (int g = INPUT_GATE; g <= CELL_GATE; g++)
        sum_gate(g, x, h, c, fault, gate[g]);
    for (int i = 0; i < UNITS; i++) {
        double kept = r(gate[FORGET_GATE - first][i] * c[i]);
        double added = r(gate[first][i] * gate[CELL_GATE][i]);
        c[i] = r(kept + added);
        if (fault != LATE_CLIP)
            c[i] = clipped(c[i]);
    }
    sum_gate(OUTPUT_GATE, x, h, fault == OLD_PEEPHOLE ? old : c, fault, gate[OUTPUT_GATE]);
    for (int i = 0; i < UNITS; i++)
        m[i] = r(gate[OUTPUT_GATE][i] * r(tanh(c[i])));
    for (int o = 0; o < OUTPUTS; o++)
        h[o] = dot(v.projection + o * UNITS, m, UNITS,
                   fault == NO_PROJECTION_BIAS ? 0 : v.projection_bias[o]);
}

static void run_plain(enum fault fault, double *y, double *h, double *c)
{
    memcpy(h, v.state, sizeof v.state);
    memcpy(c, v.cell, sizeof v.cell);
    for (int t = 0; t < STEPS; t++) {
        if (fault == STATE_FROM_ZERO && t == 2)
            memset(h, 0, sizeof v.state);
        for (int b = 0; b < BATCH; b++) {
            step(v.x + (t * BATCH + b) * SIZE, h + b * OUTPUTS, c + b * UNITS, fault);
            memcpy(y + (t * BATCH + b) * OUTPUTS, h + b * OUTPUTS, OUTPUTS * sizeof *y);
        }
    }
    for (int i = 0; i < BATCH * UNITS; i++)
        c[i] = clipped(c[i]);
}

/* --- the reference */

static uint32_t constant(struct build *b, enum dtype type, struct shape shape, const double *x)
{
    static char stored[MOST * sizeof(float)];
    struct tensor t = { .dtype = type, .shape = shape, .data = stored };

    ck_assert_uint_le(tensor_bytes(&t), sizeof stored);
    tensor_narrow(x, &t);
    return build_constant(b, type, shape, stored);
}

static uint32_t scalar(struct build *b, enum dtype type, double x)
{
    return constant(b, type == DT_F16 ? DT_FLOAT16 : DT_FLOAT32, (struct shape){ 0 }, &x);
}

static uint32_t omitted(struct build *b, enum dtype type)
{
    return build_operand(b, LIFE_NO_VALUE, type, DIMS(UNITS));
}

static uint32_t flag(struct build *b, bool value)
{
    uint8_t byte = value;

    return build_constant(b, DT_BOOL, (struct shape){ 0 }, &byte);
}

/* The operands of UNIDIRECTIONAL_SEQUENCE_LSTM, with the time first. */
static uint32_t add_operands(struct build *b, enum dtype type, uint32_t *in)
{
    uint32_t n = 0;

    in[n++] = constant(b, type, DIMS(STEPS, BATCH, SIZE), v.x);
    for (int g = 0; g < GATES; g++)
        in[n++] = constant(b, type, DIMS(UNITS, SIZE), v.w[g]);
    for (int g = 0; g < GATES; g++)
        in[n++] = constant(b, type, DIMS(UNITS, OUTPUTS), v.recurrent[g]);
    for (int g = 0; g < GATES; g++)
        if (g != CELL_GATE)
            in[n++] = constant(b, type, DIMS(UNITS), v.peephole[g]);
    for (int g = 0; g < GATES; g++)
        in[n++] = constant(b, type, DIMS(UNITS), v.bias[g]);
    in[n++] = constant(b, type, DIMS(OUTPUTS, UNITS), v.projection);
    in[n++] = constant(b, type, DIMS(OUTPUTS), v.projection_bias);
    in[n++] = build_operand(b, LIFE_INPUT, type, DIMS(BATCH, OUTPUTS));
    in[n++] = constant(b, type, DIMS(BATCH, UNITS), v.cell);
    in[n++] = build_int(b, 4);
    in[n++] = scalar(b, type, cell_clip);
    in[n++] = scalar(b, type, 0);
    in[n++] = flag(b, true);
    for (int g = 0; g < GATES; g++)
        in[n++] = v.normalised ? constant(b, type, DIMS(UNITS), v.norm[g]) : omitted(b, type);
    return n;
}

static void run_reference(enum dtype type, struct arena *arena, struct result *ret_result)
{
    struct build b;
    struct plan *plan = NULL;
    struct why w = { 0 };
    uint32_t in[32], out[3];
    static char state[sizeof v.state];
    struct tensor given = { .dtype = type, .shape = DIMS(BATCH, OUTPUTS), .data = state };
    struct exec_options options = { .bounds = true, .arena = arena };

    build_init(&b, 1);
    uint32_t n = add_operands(&b, type, in);
    out[0] = build_operand(&b, LIFE_OUTPUT, type, DIMS(STEPS, BATCH, OUTPUTS));
    out[1] = build_operand(&b, LIFE_OUTPUT, type, DIMS(BATCH, OUTPUTS));
    out[2] = build_operand(&b, LIFE_OUTPUT, type, DIMS(BATCH, UNITS));
    build_operation(&b, "UNIDIRECTIONAL_SEQUENCE_LSTM", in, n, out, 3);
    tensor_narrow(v.state, &given);
    ck_assert_msg(plan_new(&b.model, &plan, &w) == 0, "%s", w.text);
    ck_assert_int_eq(plan_level(plan), L4);
    ck_assert_msg(plan_run(plan, &given, &options, ret_result, &w) == 0, "%s", w.text);
    plan_free(plan);
    build_done(&b);
}

/* The largest error of output i, divided by its bound. */
static double worst_ratio(const struct result *expected, uint32_t i, const double *actual)
{
    size_t n = tensor_count(&expected->out[i]);
    double worst = 0;

    for (size_t k = 0; k < n; k++) {
        double d = fabs(r(actual[k]) - expected->real[i][k]), bound = expected->bound[i][k];
        ck_assert_msg(bound > 0 && bound < INFINITY, "output %u [%zu]: bound %g", i, k, bound);
        worst = fmax(worst, d / bound);
    }
    return worst;
}

static double worst_of(const struct result *expected, enum fault fault)
{
    double y[STEPS * BATCH * OUTPUTS], h[BATCH * OUTPUTS], c[BATCH * UNITS];

    run_plain(fault, y, h, c);
    return fmax(worst_ratio(expected, 0, y),
                fmax(worst_ratio(expected, 1, h), worst_ratio(expected, 2, c)));
}

enum { SEEDS = 20 };

/* The number of faults that are detected with every seed; fails the test if right results are
 * rejected. */
static int check_bounds(enum dtype type, bool normalised)
{
    int seen[FAULTS] = { 0 }, always = 0;

    for (uint32_t i = 0; i < SEEDS; i++) {
        struct arena *arena = arena_new(0);
        struct result expected;
        draw_values(i, normalised);
        run_reference(type, arena, &expected);
        double ratio = worst_of(&expected, NO_FAULT);
        ck_assert_msg(ratio <= 1, "seed %u: %g times its bound", i, ratio);
        for (int f = NO_FAULT + 1; f < FAULTS; f++)
            seen[f] += worst_of(&expected, (enum fault) f) > 1;
        result_done(&expected);
        arena_free(arena);
    }
    for (int f = NO_FAULT + 1; f < FAULTS; f++)
        always += seen[f] == SEEDS;
    return always;
}

START_TEST(single_precision_is_bounded)
{
    r = rounded_single;
    ck_assert_int_eq(check_bounds(DT_F32, false), FAULTS - 1);
    ck_assert_int_eq(check_bounds(DT_F32, true), FAULTS - 1);
}
END_TEST

/* Some faults are as small as the errors of half precision after six steps. */
START_TEST(half_precision_is_bounded)
{
    r = rounded_half;
    ck_assert_int_ge(check_bounds(DT_F16, false), 3);
    ck_assert_int_ge(check_bounds(DT_F16, true), 3);
}
END_TEST

/* The bound does not grow by orders of magnitude over the steps. */
START_TEST(bounds_stay_small)
{
    struct arena *arena = arena_new(0);
    struct result expected;

    r = rounded_single;
    draw_values(7, false);
    run_reference(DT_F32, arena, &expected);
    size_t n = tensor_count(&expected.out[0]);
    for (size_t i = 0; i < n; i++)
        ck_assert_msg(expected.bound[0][i] < 1e-4, "[%zu]: bound %g", i, expected.bound[0][i]);
    result_done(&expected);
    arena_free(arena);
}
END_TEST

Suite *ops_recurrent_suite(void)
{
    TCase *t = tcase_create("bounds");

    tcase_add_test(t, single_precision_is_bounded);
    tcase_add_test(t, half_precision_is_bounded);
    tcase_add_test(t, bounds_stay_small);
    return make_suite("ops_recurrent", t, NULL);
}
