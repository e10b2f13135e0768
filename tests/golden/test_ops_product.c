/* GROUPED_CONV_2D, TRANSPOSE_CONV_2D, BATCH_MATMUL and normalisations: results computed by hand,
 * invalid operands, and bounds that accept plain implementations and reject wrong results.
 * tests/oracle compares random ones with numpy. */
#include <check.h>
#include <math.h>
#include <string.h>

#include "tests/support/check_main.h"
#include "tests/support/one_op_run.h"
#include "tests/support/rounded.h"

#define I(n)   "INT32: " #n
#define NCHW   "BOOL: 1"
#define NHWC   "BOOL: 0"
#define SAME   I(1)
#define VALID  I(2)
#define SQUARE "F32[1,2,2,1]: 1 2 3 4"

static const struct one_op cases[] = {
    { "grouped: each half of the channels",
      "GROUPED_CONV_2D",
      3,
      { "F32[1,1,1,4]: 1 2 3 4", "F32[2,1,1,2]: 1 10 100 1000", "F32[2]: 0 0.5", VALID, I(1), I(1),
        I(2), I(0), NHWC },
      "F32[1,1,1,2]: 21 4300.5" },
    { "grouped: two outputs a group, one input",
      "GROUPED_CONV_2D",
      3,
      { "F32[1,2,1,1]: 1 2", "F32[4,1,1,1]: 1 2 3 4", "F32[4]: 0 0 0 0", I(0), I(0), I(0), I(0),
        I(1), I(1), I(2), I(1), NCHW },
      "F32[1,4,1,1]: 1 2 6 8" },
    { "transposed: filters side by side",
      "TRANSPOSE_CONV_2D",
      3,
      { SQUARE, "F32[1,2,2,1]: 1 10 100 1000", "F32[1]: 0", I(0), I(0), I(0), I(0), I(2), I(2),
        I(0), NHWC },
      "F32[1,4,4,1]: 1 10 2 20 100 1000 200 2000 3 30 4 40 300 3000 400 4000" },
    { "transposed: filters overlap",
      "TRANSPOSE_CONV_2D",
      3,
      { "F32[1,1,3,1]: 1 2 3", "F32[1,1,3,1]: 1 10 100", "F32[1]: 0.5", I(0), I(0), I(0), I(0),
        I(1), I(1), I(0), NHWC },
      "F32[1,1,5,1]: 1.5 12.5 123.5 230.5 300.5" },
    { "transposed: gaps between filters hold the bias",
      "TRANSPOSE_CONV_2D",
      3,
      { "F32[1,1,2,1]: 1 2", "F32[1,1,1,1]: 3", "F32[1]: 7", I(0), I(0), I(0), I(0), I(3), I(1),
        I(0), NHWC },
      "F32[1,1,4,1]: 10 7 7 13" },
    { "transposed: padding removes, negative padding adds rows",
      "TRANSPOSE_CONV_2D",
      3,
      { "F32[1,1,3,1]: 1 2 3", "F32[1,1,3,1]: 1 10 100", "F32[1]: 0", I(2), I(-2), I(0), I(0), I(1),
        I(1), I(0), NHWC },
      "F32[1,1,5,1]: 123 230 300 0 0" },
    { "transposed: same, the output is longer than the filters reach",
      "TRANSPOSE_CONV_2D",
      3,
      { "F32[1,1,2,1]: 1 2", "F32[1,1,1,1]: 3", "F32[1]: 0", "const I32[4]: 1 1 6 1", SAME, I(3),
        I(1), I(0), NHWC },
      "F32[1,1,6,1]: 3 0 0 6 0 0" },
    { "transposed: output_shape is in the layout of the output",
      "TRANSPOSE_CONV_2D",
      3,
      { "F32[1,1,1,2]: 1 2", "F32[2,1,2,1]: 1 10 2 20", "F32[2]: 0 0", "const I32[4]: 1 2 1 3",
        VALID, I(1), I(1), I(0), NCHW },
      "F32[1,2,1,3]: 1 12 20 2 24 40" },
    { "transposed: products in the order of the input",
      "TRANSPOSE_CONV_2D",
      3,
      { "F32[1,1,3,1]: 1e20 -1e20 1", "F32[1,1,3,1]: 1 1 1", "F32[1]: 0", I(2), I(2), I(0), I(0),
        I(1), I(1), I(0), NHWC },
      "F32[1,1,1,1]: 1" },
    { "transposed: products in the order of the input, reversed",
      "TRANSPOSE_CONV_2D",
      3,
      { "F32[1,1,3,1]: 1 1e20 -1e20", "F32[1,1,3,1]: 1 1 1", "F32[1]: 0", I(2), I(2), I(0), I(0),
        I(1), I(1), I(0), NHWC },
      "F32[1,1,1,1]: 0" },
    { "transposed: removed outputs have no effect",
      "TRANSPOSE_CONV_2D",
      3,
      { "F32[1,1,2,1]: 1 2", "F32[1,1,2,1]: 1 nan", "F32[1]: 0", I(0), I(2), I(0), I(0), I(1), I(1),
        I(0), NHWC },
      "F32[1,1,1,1]: 1" },
    { "transposed: ties go away from zero, then the result saturates",
      "TRANSPOSE_CONV_2D",
      3,
      { "U8[1,1,2,1]*0.5@10: 11 255", "PC8[2,1,1,1]*1,127|0: 1 -127", "const I32[2]*0@0: 0 0", I(0),
        I(0), I(0), I(0), I(1), I(1), I(0), NHWC },
      "U8[1,1,2,2]*1@100: 101 0 223 0" },
    { "matrices: rows times columns",
      "BATCH_MATMUL",
      6,
      { "F32[2,3]: 1 2 3 4 5 6", "F32[3,1]: 1 10 100", NHWC, NHWC },
      "F32[2,1]: 321 654" },
    { "matrices: x adjoint",
      "BATCH_MATMUL",
      6,
      { "F32[3,2]: 1 4 2 5 3 6", "F32[3,1]: 1 10 100", "BOOL: 1", "BOOL: 0" },
      "F32[2,1]: 321 654" },
    { "matrices: both adjoint, two batches",
      "BATCH_MATMUL",
      6,
      { "I32[2,2,1]: 1 2 3 4", "I32[2,2,2]: 1 10 100 1000 5 6 7 8", "BOOL: 1", "BOOL: 1" },
      "I32[2,1,2]: 21 2100 39 53" },
    { "matrices: integers wrap",
      "BATCH_MATMUL",
      6,
      { "I32[1,2]: 2147483647 65536", "I32[2,2]: 2 -2147483648 65536 65537", "BOOL: 0", "BOOL: 0" },
      "I32[1,2]: -2 -2147418112" },
    { "matrices: no products",
      "BATCH_MATMUL",
      6,
      { "S8[1,2]*0.5@3: 4 5", "S8[2,1]*1@0: 0 0", "BOOL: 0", "BOOL: 0" },
      "S8[1,1]*2@-7: -7" },
    { "instance: two channels",
      "INSTANCE_NORMALIZATION",
      3,
      { "F32[1,2,1,2]: 0 5 2 5", "FLOAT32: 3", "FLOAT32: 1", "FLOAT32: 0", NHWC },
      "F32[1,2,1,2]: -2 nan 4 nan" },
    { "response: the ends have fewer neighbours",
      "LOCAL_RESPONSE_NORMALIZATION",
      1,
      { "F32[1,1,1,4]: 1 2 3 4", I(1), "FLOAT32: 1", "FLOAT32: 2", "FLOAT32: 1" },
      "F32[1,1,1,4]: 0x1.745d18p-4 0x1.1a7b96p-4 0x1.a08ad8p-5 0x1.414142p-4" },
    { "response: along another dimension",
      "LOCAL_RESPONSE_NORMALIZATION",
      3,
      { "F32[2,2]: 1 2 3 4", I(5), "FLOAT32: 0", "FLOAT32: 1", "FLOAT32: 0.5", I(0) },
      "F32[2,2]: 0x1.43d136p-2 0x1.c9f25cp-2 0x1.e5b9d2p-1 0x1.c9f25cp-1" },
};

START_TEST(result_case)
{
    one_op_check(&cases[_i]);
}
END_TEST

#define TURNED SQUARE, "F32[1,3,3,1]: 1 2 3 4 5 6 7 8 9", "F32[1]: 0"

static const struct {
    const char *reason;
    struct one_op c;
} refusals[] = {
    { "2 groups of 3 channels",
      { "groups do not match the input depth",
        "GROUPED_CONV_2D",
        0,
        { "F32[1,1,1,4]: 1 2 3 4", "F32[2,1,1,3]: 1 1 1 1 1 1", "F32[2]: 0 0", VALID, I(1), I(1),
          I(2), I(0), NHWC },
        "F32[1,1,1,2]: 0 0" } },
    { "are not divisible into 2 groups",
      { "groups do not match the output depth",
        "GROUPED_CONV_2D",
        0,
        { "F32[1,1,1,2]: 1 2", "F32[3,1,1,1]: 1 1 1", "F32[3]: 0 0 0", VALID, I(1), I(1), I(2),
          I(0), NHWC },
        "F32[1,1,1,3]: 0 0 0" } },
    { "output_shape has 6",
      { "impossible output shape",
        "TRANSPOSE_CONV_2D",
        0,
        { TURNED, "const I32[4]: 1 6 5 1", VALID, I(2), I(2), I(0), NHWC },
        "F32[1,0,5,1]:" } },
    { "height of the output is -1",
      { "padding larger than the output",
        "TRANSPOSE_CONV_2D",
        0,
        { TURNED, I(0), I(0), I(3), I(2), I(1), I(1), I(0), NHWC },
        "F32[1,0,0,1]:" } },
    { "height: padding -1",
      { "negative padding at the top",
        "TRANSPOSE_CONV_2D",
        0,
        { TURNED, I(0), I(0), I(-1), I(0), I(1), I(1), I(0), NHWC },
        "F32[1,0,0,1]:" } },
    { "width: stride 0",
      { "stride 0",
        "TRANSPOSE_CONV_2D",
        0,
        { TURNED, "const I32[4]: 1 5 5 1", SAME, I(0), I(2), I(0), NHWC },
        "F32[1,0,0,1]:" } },
    { "height of the output is 4294967298",
      { "the largest strides and padding",
        "TRANSPOSE_CONV_2D",
        0,
        { TURNED, I(0), I(-2147483648), I(0), I(-2147483648), I(2147483647), I(2147483647), I(0),
          NHWC },
        "F32[1,0,0,1]:" } },
    { "depth of x is 3, of y 2",
      { "depths differ",
        "BATCH_MATMUL",
        0,
        { "F32[1,3]: 1 2 3", "F32[2,1]: 1 2", "BOOL: 0", "BOOL: 0" },
        "F32[1,1]: 0" } },
    { "x has 2 batches, y has 1",
      { "batches are not broadcast",
        "BATCH_MATMUL",
        0,
        { "F32[2,1,1]: 1 2", "F32[1,1,1]: 1", "BOOL: 0", "BOOL: 0" },
        "F32[2,1,1]: 0 0" } },
};

START_TEST(invalid_case_is_rejected)
{
    one_op_check_rejected(&refusals[_i].c, WHY_EXECUTION, refusals[_i].reason);
}
END_TEST

/* --- bounds --- */

enum { N = 2, PIXELS = 16, CHANNELS = 8, VALUES = N * PIXELS * CHANNELS };

/* Rounding to the type under test. */
static double (*r)(double x);

static const double gamma_ = 1.5, beta_ = -0.25, epsilon = 0x1p-7;

/* Plain implementations, in which every step rounds. */
static void instance(const double *x, double *y)
{
    for (int i = 0; i < N * CHANNELS; i++) {
        int at = i / CHANNELS * PIXELS * CHANNELS + i % CHANNELS;
        double sum = 0, squares = 0;
        for (int k = 0; k < PIXELS; k++)
            sum = r(sum + x[at + k * CHANNELS]);
        double mean = r(sum / PIXELS);
        for (int k = 0; k < PIXELS; k++) {
            double d = r(x[at + k * CHANNELS] - mean);
            squares = r(squares + r(d * d));
        }
        double scale = r(gamma_ / r(sqrt(r(r(squares / PIXELS) + epsilon))));
        for (int k = 0; k < PIXELS; k++)
            y[at + k * CHANNELS] = r(r(r(x[at + k * CHANNELS] - mean) * scale) + beta_);
    }
}

enum { RADIUS = 2 };
static const double response_bias = 1, response_alpha = 0.25, response_beta = 0.75;

static void response(const double *x, double *y)
{
    for (int i = 0; i < VALUES; i++) {
        int c = i % CHANNELS;
        double sum = 0;
        for (int k = c - RADIUS; k <= c + RADIUS; k++)
            if (k >= 0 && k < CHANNELS)
                sum = r(sum + r(x[i - c + k] * x[i - c + k]));
        double d = r(response_bias + r(response_alpha * sum));
        y[i] = r(x[i] * r(exp(r(-response_beta * r(log(d))))));
    }
}

/* The same with a sum that is updated from channel to channel. */
static void response_running(const double *x, double *y)
{
    for (int i = 0; i < VALUES; i += CHANNELS) {
        double sum = 0;
        for (int k = 0; k < RADIUS; k++)
            sum = r(sum + r(x[i + k] * x[i + k]));
        for (int c = 0; c < CHANNELS; c++) {
            int next = c + RADIUS, last = c - RADIUS - 1;
            if (next < CHANNELS)
                sum = r(sum + r(x[i + next] * x[i + next]));
            if (last >= 0)
                sum = r(sum - r(x[i + last] * x[i + last]));
            double d = r(response_bias + r(response_alpha * sum));
            y[i + c] = r(x[i + c] * r(exp(r(-response_beta * r(log(d))))));
        }
    }
}

/* x times its transpose: [N, PIXELS, PIXELS]. */
static void matrices(const double *x, double *y)
{
    for (int n = 0; n < N; n++, x += PIXELS * CHANNELS)
        for (int i = 0; i < PIXELS; i++)
            for (int j = 0; j < PIXELS; j++) {
                double sum = 0;
                for (int k = CHANNELS; k-- > 0;)
                    sum = r(sum + r(x[i * CHANNELS + k] * x[j * CHANNELS + k]));
                *y++ = sum;
            }
}

static uint32_t real_scalar(struct build *b, enum dtype type, double x)
{
    float single_x = (float) x;
    uint16_t half_x = f16_from_double(x);

    return type == DT_F16 ? build_constant(b, DT_FLOAT16, (struct shape){ 0 }, &half_x)
                          : build_constant(b, DT_FLOAT32, (struct shape){ 0 }, &single_x);
}

static uint32_t flag(struct build *b, bool value)
{
    return build_constant(b, DT_BOOL, (struct shape){ 0 }, &value);
}

static uint32_t instance_operands(struct build *b, enum dtype type, uint32_t *in)
{
    in[1] = real_scalar(b, type, gamma_);
    in[2] = real_scalar(b, type, beta_);
    in[3] = real_scalar(b, type, epsilon);
    in[4] = flag(b, false);
    return 5;
}

static uint32_t response_operands(struct build *b, enum dtype type, uint32_t *in)
{
    in[1] = build_int(b, RADIUS);
    in[2] = real_scalar(b, type, response_bias);
    in[3] = real_scalar(b, type, response_alpha);
    in[4] = real_scalar(b, type, response_beta);
    return 5;
}

static uint32_t matrix_operands(struct build *b, enum dtype type, uint32_t *in)
{
    (void) type;
    in[1] = in[0];
    in[2] = flag(b, false);
    in[3] = flag(b, true);
    return 4;
}

static const struct sample {
    const char *op;
    struct shape in, out;
    uint32_t (*operands)(struct build *b, enum dtype type, uint32_t *in);
    void (*plain)(const double *x, double *y);
    double peak; /* of the first channel; 0: like the others; single precision only */
} samples[] = {
    { "INSTANCE_NORMALIZATION",
      { 4, { N, 4, 4, CHANNELS } },
      { 4, { N, 4, 4, CHANNELS } },
      instance_operands,
      instance },
    { "LOCAL_RESPONSE_NORMALIZATION",
      { 4, { N, 4, 4, CHANNELS } },
      { 4, { N, 4, 4, CHANNELS } },
      response_operands,
      response },
    { "LOCAL_RESPONSE_NORMALIZATION",
      { 4, { N, 4, 4, CHANNELS } },
      { 4, { N, 4, 4, CHANNELS } },
      response_operands,
      response_running,
      100 },
    { "BATCH_MATMUL",
      { 3, { N, PIXELS, CHANNELS } },
      { 3, { N, PIXELS, PIXELS } },
      matrix_operands,
      matrices },
};

static void check_sample(const struct sample *s, enum dtype type)
{
    static double x[VALUES], y[N * PIXELS * PIXELS];
    const struct exec_options options = { .bounds = true };
    struct result result;
    struct plan *plan;
    struct build b;
    struct why w = { 0 };
    uint32_t in[8];
    size_t n = shape_count(&s->out);

    r = type == DT_F16 ? rounded_half : rounded_single;
    rounded_fill(3, -4, 4, r, x, VALUES);
    for (int i = 0; s->peak != 0 && i < VALUES; i += CHANNELS)
        x[i] = s->peak;
    build_init(&b, 1);
    in[0] = build_operand(&b, LIFE_INPUT, type, s->in);
    uint32_t n_in = s->operands(&b, type, in);
    uint32_t out = build_operand(&b, LIFE_OUTPUT, type, s->out);
    build_operation(&b, s->op, in, n_in, &out, 1);
    struct tensor arg = rounded_tensor(&b, type, s->in, x);
    ck_assert_msg(plan_new(&b.model, &plan, &w) == 0, "%s: %s", s->op, w.text);
    ck_assert_msg(plan_run(plan, &arg, &options, &result, &w) == 0, "%s: %s", s->op, w.text);
    s->plain(x, y);
    struct judgement j = rounded_judge(&b, &result, 0, y);
    ck_assert_msg(j.ok && j.checked == n, "%s: %s", s->op, j.why);
    for (size_t i = 0; i < n; i++)
        y[i] *= type == DT_F16 ? 1.1 : 1.001;
    size_t wrong = rounded_judge(&b, &result, 0, y).wrong;
    ck_assert_msg(wrong >= n * 3 / 4, "%s: only %zu of %zu wrong elements found", s->op, wrong, n);
    result_done(&result);
    plan_free(plan);
    build_done(&b);
}

START_TEST(bounds_accept_plain_and_reject_wrong_results)
{
    check_sample(&samples[_i], DT_F32);
    if (samples[_i].peak == 0)
        check_sample(&samples[_i], DT_F16);
}
END_TEST

Suite *ops_product_suite(void)
{
    TCase *t = tcase_create("results");

    tcase_add_loop_test(t, result_case, 0, COUNT(cases));
    tcase_add_loop_test(t, invalid_case_is_rejected, 0, COUNT(refusals));
    tcase_add_loop_test(t, bounds_accept_plain_and_reject_wrong_results, 0, COUNT(samples));
    return make_suite("ops_product", t, NULL);
}
