/* Error bounds of operations: results of plain implementations in single and half precision are
 * accepted, results wrong by one per cent (half: five) are rejected, and where rounding can change
 * a discrete result either value is accepted. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/check_main.h"
#include "tests/support/one_op_run.h"
#include "tests/support/rounded.h"

enum { ROWS = 64, COLUMNS = 16, N = ROWS * COLUMNS };

/* Rounding to the type under test. */
static double (*r)(double x);

/* Plain implementations, in which every step rounds. */
static void add(const double *a, const double *b, double *y)
{
    for (int i = 0; i < N; i++)
        y[i] = r(a[i] + b[i]);
}

static void sub(const double *a, const double *b, double *y)
{
    for (int i = 0; i < N; i++)
        y[i] = r(a[i] - b[i]);
}

static void mul(const double *a, const double *b, double *y)
{
    for (int i = 0; i < N; i++)
        y[i] = r(a[i] * b[i]);
}

static void div_by_reciprocal(const double *a, const double *b, double *y)
{
    for (int i = 0; i < N; i++)
        y[i] = r(a[i] * r(1 / b[i]));
}

static void maximum(const double *a, const double *b, double *y)
{
    for (int i = 0; i < N; i++)
        y[i] = fmax(a[i], b[i]);
}

static void logistic(const double *a, const double *b, double *y)
{
    (void) b;
    for (int i = 0; i < N; i++)
        y[i] = r(1 / r(1 + r(exp(-a[i]))));
}

static void logistic_by_tanh(const double *a, const double *b, double *y)
{
    (void) b;
    for (int i = 0; i < N; i++)
        y[i] = r(0.5 + r(0.5 * r(tanh(r(0.5 * a[i])))));
}

static void tanh_plain(const double *a, const double *b, double *y)
{
    (void) b;
    for (int i = 0; i < N; i++)
        y[i] = r(tanh(a[i]));
}

static void tanh_by_exp(const double *a, const double *b, double *y)
{
    (void) b;
    for (int i = 0; i < N; i++)
        y[i] = r(1 - r(2 / r(1 + r(exp(r(2 * a[i]))))));
}

static void softmax(const double *a, const double *b, double *y)
{
    (void) b;
    for (int row = 0; row < ROWS; row++, a += COLUMNS, y += COLUMNS) {
        double max = -INFINITY, sum = 0;
        for (int i = 0; i < COLUMNS; i++)
            max = fmax(max, a[i]);
        for (int i = 0; i < COLUMNS; i++)
            sum = r(sum + (y[i] = r(exp(r(a[i] - max)))));
        for (int i = 0; i < COLUMNS; i++)
            y[i] = r(y[i] / sum);
    }
}

static void l2_norm(const double *a, const double *b, double *y)
{
    (void) b;
    for (int row = 0; row < ROWS; row++, a += COLUMNS, y += COLUMNS) {
        double sum = 0;
        for (int i = 0; i < COLUMNS; i++)
            sum = r(sum + r(a[i] * a[i]));
        for (int i = 0; i < COLUMNS; i++)
            y[i] = r(a[i] * r(1 / r(sqrt(sum))));
    }
}

static void mean(const double *a, const double *b, double *y)
{
    (void) b;
    for (int row = 0; row < ROWS; row++, a += COLUMNS) {
        double sum = 0;
        for (int i = COLUMNS; i-- > 0;)
            sum = r(sum + a[i]);
        y[row] = r(sum / COLUMNS);
    }
}

static const struct sample {
    const char *name, *op;
    int operands;
    double lo, hi;
    uint32_t outputs;
    void (*naive)(const double *a, const double *b, double *y);
} samples[] = {
    { "add", "ADD", 2, -8, 8, N, add },
    { "sub", "SUB", 2, -8, 8, N, sub },
    { "mul", "MUL", 2, -8, 8, N, mul },
    { "div by reciprocal", "DIV", 2, 0.5, 8, N, div_by_reciprocal },
    { "maximum", "MAXIMUM", 2, -8, 8, N, maximum },
    { "logistic", "LOGISTIC", 1, -9, 9, N, logistic },
    { "logistic by tanh", "LOGISTIC", 1, -9, 9, N, logistic_by_tanh },
    { "tanh", "TANH", 1, -4, 4, N, tanh_plain },
    { "tanh by exp", "TANH", 1, -4, 4, N, tanh_by_exp },
    { "softmax", "SOFTMAX", 1, -8, 8, N, softmax },
    { "l2", "L2_NORMALIZATION", 1, -8, 8, N, l2_norm },
    { "mean", "MEAN", 1, -8, 8, ROWS, mean },
};

static uint32_t add_scalars(struct build *b, const struct sample *s, enum dtype type, uint32_t *in)
{
    float one = 1;
    uint16_t half_one = f16_from_double(1);
    int32_t last = -1;
    uint32_t n = (uint32_t) s->operands;

    if (s->operands == 2 && strcmp(s->op, "MAXIMUM"))
        in[n++] = build_int(b, 0);
    if (!strcmp(s->op, "SOFTMAX"))
        in[n++] = type == DT_F16 ? build_constant(b, DT_FLOAT16, (struct shape){ 0 }, &half_one)
                                 : build_constant(b, DT_FLOAT32, (struct shape){ 0 }, &one);
    if (!strcmp(s->op, "MEAN")) {
        in[n++] = build_constant(b, DT_I32, DIMS(1), &last);
        in[n++] = build_int(b, 0);
    }
    return n;
}

struct trial {
    struct build b;
    struct plan *plan;
    struct result result;
    double a[N], c[N], y[N];
};

static void start(struct trial *t, const struct sample *s, enum dtype type)
{
    const struct exec_options options = { .bounds = true };
    struct why w = { 0 };
    uint32_t in[4];

    rounded_fill(1, s->lo, s->hi, r, t->a, N);
    rounded_fill(2, s->lo, s->hi, r, t->c, N);
    build_init(&t->b, 1);
    for (int i = 0; i < s->operands; i++)
        in[i] = build_operand(&t->b, LIFE_INPUT, type, DIMS(ROWS, COLUMNS));
    uint32_t n = add_scalars(&t->b, s, type, in);
    uint32_t out =
        build_operand(&t->b, LIFE_OUTPUT, type, s->outputs == N ? DIMS(ROWS, COLUMNS) : DIMS(ROWS));
    build_operation(&t->b, s->op, in, n, &out, 1);
    struct tensor arg[] = { rounded_tensor(&t->b, type, DIMS(ROWS, COLUMNS), t->a),
                            rounded_tensor(&t->b, type, DIMS(ROWS, COLUMNS), t->c) };
    ck_assert_msg(plan_new(&t->b.model, &t->plan, &w) == 0, "%s: %s", s->name, w.text);
    ck_assert_msg(plan_run(t->plan, arg, &options, &t->result, &w) == 0, "%s: %s", s->name, w.text);
}

static void finish(struct trial *t)
{
    result_done(&t->result);
    plan_free(t->plan);
    build_done(&t->b);
}

/* Multiplies y by the factor and returns how many of its elements are then judged wrong. */
static size_t count_found(struct trial *t, double *y, size_t n, double factor)
{
    for (size_t i = 0; i < n; i++)
        y[i] *= factor;
    return rounded_judge(&t->b, &t->result, 0, y).wrong;
}

static void check_sample(const struct sample *s, enum dtype type)
{
    static struct trial t;

    r = type == DT_F16 ? rounded_half : rounded_single;
    start(&t, s, type);
    s->naive(t.a, t.c, t.y);
    struct judgement j = rounded_judge(&t.b, &t.result, 0, t.y);
    ck_assert_msg(j.ok && j.checked == s->outputs, "%s: %s", s->name, j.why);
    size_t wrong = count_found(&t, t.y, s->outputs, type == DT_F16 ? 1.05 : 1.01);
    size_t least = s->outputs * (type == DT_F16 ? 4 : 9) / 10;
    ck_assert_msg(wrong >= least, "%s: only %zu of %u wrong elements found", s->name, wrong,
                  s->outputs);
    finish(&t);
}

START_TEST(single_precision)
{
    check_sample(&samples[_i], DT_F32);
}
END_TEST

START_TEST(half_precision)
{
    check_sample(&samples[_i], DT_F16);
}
END_TEST

/* Bounds of a chain of operations, softmax(x + tanh(x * w)), in which every step rounds. */
static void check_chain(enum dtype type)
{
    static struct trial t;
    static double p[N], q[N];
    const struct exec_options options = { .bounds = true };
    struct sample s = { .op = "SOFTMAX", .operands = 4 };
    struct why w = { 0 };
    uint32_t soft[5], id[7];

    r = type == DT_F16 ? rounded_half : rounded_single;
    rounded_fill(3, -2, 2, r, t.a, N);
    rounded_fill(4, -2, 2, r, t.c, N);
    build_init(&t.b, 1);
    for (int i = 0; i < 6; i++)
        id[i] = build_operand(&t.b,
                              i < 2    ? LIFE_INPUT
                              : i == 5 ? LIFE_OUTPUT
                                       : LIFE_TEMPORARY,
                              type, DIMS(ROWS, COLUMNS));
    id[6] = build_int(&t.b, 0);
    OPERATION(&t.b, "MUL", IDS(id[0], id[1], id[6]), IDS(id[2]));
    OPERATION(&t.b, "TANH", IDS(id[2]), IDS(id[3]));
    OPERATION(&t.b, "ADD", IDS(id[0], id[3], id[6]), IDS(id[4]));
    add_scalars(&t.b, &s, type, soft);
    OPERATION(&t.b, "SOFTMAX", IDS(id[4], soft[4]), IDS(id[5]));
    struct tensor arg[] = { rounded_tensor(&t.b, type, DIMS(ROWS, COLUMNS), t.a),
                            rounded_tensor(&t.b, type, DIMS(ROWS, COLUMNS), t.c) };
    ck_assert_msg(plan_new(&t.b.model, &t.plan, &w) == 0, "%s", w.text);
    ck_assert_msg(plan_run(t.plan, arg, &options, &t.result, &w) == 0, "%s", w.text);

    mul(t.a, t.c, p);
    tanh_by_exp(p, NULL, q);
    add(t.a, q, p);
    softmax(p, NULL, t.y);
    struct judgement j = rounded_judge(&t.b, &t.result, 0, t.y);
    ck_assert_msg(j.ok && j.checked == N, "%s", j.why);
    size_t wrong = count_found(&t, t.y, N, type == DT_F16 ? 1.1 : 1.01);
    ck_assert_msg(wrong > N / 2, "only %zu wrong elements found", wrong);
    finish(&t);
}

START_TEST(chain_of_operations)
{
    check_chain(DT_F32);
    check_chain(DT_F16);
}
END_TEST

/* The bound of every element of a single operation on exact operands. */
static const struct exact {
    struct one_op c;
    double bound[4];
} exact[] = {
    { { "clamping is exact", "RELU", 0, { "F32[2]: -1 1" }, "F32[2]: 0 1" }, { 0, 0 } },
    { { "MAXIMUM is exact", "MAXIMUM", 0, { "F32[2]: -1 1", "F32[1]: 0" }, "F32[2]: 0 1" },
      { 0, 0 } },
    { { "integers are exact, even when they wrap",
        "ADD",
        0,
        { "I32[2]: 2147483647 1", "I32[1]: 1", "INT32: 0" },
        "I32[2]: -2147483648 2" },
      { 0, 0 } },
    { { "an integer divided by 0 is not checked",
        "DIV",
        0,
        { "I32[3]: 1 6 -2147483648", "I32[3]: 0 4 -1", "INT32: 0" },
        "I32[3]: 0 1 -2147483648" },
      { INFINITY, 0, INFINITY } },
    { { "comparing exact numbers", "LESS", 0, { "F32[2]: 1 2", "F32[2]: 1 3" }, "B8[2]: 0 1" },
      { 0, 0 } },
    { { "scales differ by less than a step",
        "EQUAL",
        0,
        { "U8[2]*1@0: 3 3", "U8[2]*0.5@0: 7 9" },
        "B8[2]: 0 0" },
      { 1, 0 } },
    { { "ARGMAX of equal elements may be any of them",
        "ARGMAX",
        0,
        { "F32[3,3]: 1 1 1 1 2 2 3 2 1", "INT32: 1" },
        "I32[3]: 0 1 0" },
      { 2, 1, 0 } },
    { { "a cast out of range is not checked",
        "CAST",
        0,
        { "F32[3]: 3e9 -1.5 nan" },
        "I32[3]: 2147483647 -1 0" },
      { INFINITY, 0, INFINITY } },
    { { "rescaling may truncate",
        "MINIMUM",
        0,
        { "U8[1]*1@0: 3", "U8[1]*1@0: 4" },
        "U8[1]*2@0: 2" },
      { 2 } },
    { { "without rescaling the bound is half a step",
        "MINIMUM",
        0,
        { "U8[1]*2@0: 3", "U8[1]*2@0: 4" },
        "U8[1]*2@0: 3" },
      { 1 } },
    { { "cancellation leaves the error of scaling the operands",
        "SUB",
        0,
        { "U8[1]*0x1.010102p-8@0: 255", "U8[1]*1@0: 1", "INT32: 0" },
        "U8[1]*0x1p-30@0: 64" },
      { 0x1p-23 + 0x1p-18 + 0.55 * 0x1p-30 } },
    { { "a vector of zeros",
        "L2_NORMALIZATION",
        0,
        { "U8[2]*2@7: 7 7" },
        "U8[2]*0.0078125@128: 128 128" },
      { 0.75 / 128, 0.75 / 128 } },
    { { "tanh near 1 may be a quotient of polynomials", "TANH", 0, { "F32[1]: 9" }, "F32[1]: 1" },
      { 7 * 0x1p-24 } },
    /* half a step, a quarter for the function and half a step for 1/128 of the input's */
    { { "16-bit arithmetic with a coarse input",
        "HARD_SWISH",
        0,
        { "U8[1]*1@0: 4" },
        "U8[1]*0x1p-6@0: 255" },
      { (0.5 + 0.25 + 0.5) / 64 } },
    /* Truncation of the stored mean 10.9 to 10, which is 0.15 more than rounding may be off. */
    { { "truncated mean",
        "MEAN",
        0,
        { "U8[10]*0.5@12: 10 10 10 10 10 10 10 10 10 19", "I32[1]: 0", "INT32: 0" },
        "U8[1]*0.5@12: 11" },
      { (0.5 + 0.15) / 2 } },
    { { "truncated negative mean",
        "MEAN",
        0,
        { "S8[10]*0.5@-12: -10 -10 -10 -10 -10 -10 -10 -10 -10 -19", "I32[1]: 0", "INT32: 0" },
        "S8[1]*0.5@-12: -11" },
      { (0.5 + 0.15) / 2 } },
    /* Of both channels the second tap is in padding in the second column. */
    { { "an infinite weight in padding may be multiplied by 0",
        "CONV_2D",
        0,
        { "F32[1,1,2,1]: 1 2", "F32[2,1,2,1]: 1 inf 0 0", "F32[2]: 0 0", "INT32: 1", "INT32: 1",
          "INT32: 1", "INT32: 0" },
        "F32[1,1,2,2]: inf 0 2 0" },
      { INFINITY, 0, INFINITY, 0 } },
    { { "an infinite weight of a depthwise convolution in padding",
        "DEPTHWISE_CONV_2D",
        0,
        { "F32[1,1,2,1]: 1 2", "F32[1,1,2,2]: 1 0 inf 0", "F32[2]: 0 0", "INT32: 1", "INT32: 1",
          "INT32: 1", "INT32: 2", "INT32: 0" },
        "F32[1,1,2,2]: inf 0 2 0" },
      { INFINITY, 0, INFINITY, 0 } },
    { { "an infinite weight of a transposed convolution in padding",
        "TRANSPOSE_CONV_2D",
        1,
        { "F32[1,1,1,1]: 1", "F32[2,1,2,1]: 1 inf 0 0", "F32[2]: 0 0", "INT32: 0", "INT32: 0",
          "INT32: 0", "INT32: 0", "INT32: 1", "INT32: 1", "INT32: 0", "BOOL: 0" },
        "F32[1,1,2,2]: 1 0 inf 0" },
      { INFINITY, 0, INFINITY, 0 } },
};

/* The part of the bound for scaling y in single precision, (3 |y| + |y + zero point|) 2^-24. */
static double scaling(const struct tensor *t, double y)
{
    double zero = (double) t->scale * t->zero;

    return t->scale != 0 ? (3 * fabs(y) + fabs(y + zero)) * 0x1p-24 : 0;
}

START_TEST(exact_operands)
{
    const struct exec_options options = { .bounds = true, .arithmetic.quant_steps = 1e-12 };
    const struct exact *e = &exact[_i];
    struct one_op_run run;
    struct why w = { 0 };

    ck_assert_msg(one_op_start(&run, &e->c, &options, &w) == 0, "%s: %s", e->c.name, w.text);
    for (size_t i = 0; i < tensor_count(&run.result.out[0]); i++) {
        double b = run.result.bound[0][i];
        double want = e->bound[i] + scaling(&run.result.out[0], run.result.real[0][i]);
        ck_assert_msg(b == want || fabs(b - want) < 1e-9, "%s: bound %zu is %g", e->c.name, i, b);
    }
    one_op_done(&run);
}
END_TEST

/* Pixels 1, 20000.5 and 40000, the last of which is a mean of a sum that overflows in half
 * precision: ROI_ALIGN with one sample for each box, x1 to x2. */
static double bound_beside_overflow(const char *boxes)
{
    const struct exec_options options = { .bounds = true };
    struct result result;
    struct build b;
    struct plan *plan;
    struct why w = { 0 };

    build_init(&b, 1);
    struct tensor image = one_op_tensor(&b, "F16[1,1,4,1]: 1 1 40000 40000");
    struct tensor rois = one_op_tensor(&b, boxes);
    const uint32_t in = build_operand(&b, LIFE_INPUT, DT_F16, DIMS(1, 1, 4, 1)),
                   box = build_operand(&b, LIFE_INPUT, DT_F16, DIMS(1, 4)),
                   mean = build_operand(&b, LIFE_TEMPORARY, DT_F16, DIMS(1, 1, 3, 1)),
                   out = build_operand(&b, LIFE_OUTPUT, DT_F16, DIMS(1, 1, 1, 1)),
                   zero = build_int(&b, 0), one = build_int(&b, 1), two = build_int(&b, 2),
                   batches = build_constant(&b, DT_I32, DIMS(1), (int32_t[]){ 0 }),
                   stride =
                       build_constant(&b, DT_FLOAT16, (struct shape){ 0 }, (uint16_t[]){ 0x3c00 }),
                   nchw = build_constant(&b, DT_BOOL, (struct shape){ 0 }, (uint8_t[]){ 0 });
    OPERATION(&b, "AVERAGE_POOL_2D", IDS(in, two, one, one, two, one, zero), IDS(mean));
    OPERATION(&b, "ROI_ALIGN", IDS(mean, box, batches, one, one, stride, stride, one, one, nchw),
              IDS(out));
    struct tensor arg[] = { image, rois };
    ck_assert_msg(plan_new(&b.model, &plan, &w) == 0, "%s", w.text);
    ck_assert_msg(plan_run(plan, arg, &options, &result, &w) == 0, "%s", w.text);
    const double bound = result.bound[0][0];
    result_done(&result);
    plan_free(plan);
    build_done(&b);
    return bound;
}

/* The sample at 0.5 is between pixels 0 and 1, that at 1 takes pixel 1 alone, with a weight of 0
 * for pixel 2. */
START_TEST(a_pixel_without_a_bound_has_weight_0)
{
    ck_assert(isfinite(bound_beside_overflow("F16[1,4]: 0 0 1 1")));
    ck_assert(isinf(bound_beside_overflow("F16[1,4]: 0 0 2 1")));
}
END_TEST

/* A vector of (1e8 + 5) - 1e8, which is 8 in the reference and may be 0 elsewhere, and of an exact
 * 0.003: its quotient may be anything from 0.003 / 8 to 1. */
START_TEST(an_exact_element_beside_an_uncertain_one)
{
    const struct exec_options options = { .bounds = true };
    struct result result;
    struct build b;
    struct plan *plan;
    struct why w = { 0 };

    build_init(&b, 4);
    const uint32_t large = build_operand(&b, LIFE_INPUT, DT_F32, DIMS(1)),
                   five = build_operand(&b, LIFE_INPUT, DT_F32, DIMS(1)),
                   exact_one = build_operand(&b, LIFE_INPUT, DT_F32, DIMS(1)),
                   sum = build_operand(&b, LIFE_TEMPORARY, DT_F32, DIMS(1)),
                   rest = build_operand(&b, LIFE_TEMPORARY, DT_F32, DIMS(1)),
                   vector = build_operand(&b, LIFE_TEMPORARY, DT_F32, DIMS(2)),
                   out = build_operand(&b, LIFE_OUTPUT, DT_F32, DIMS(2)), zero = build_int(&b, 0);
    OPERATION(&b, "ADD", IDS(large, five, zero), IDS(sum));
    OPERATION(&b, "SUB", IDS(sum, large, zero), IDS(rest));
    OPERATION(&b, "CONCATENATION", IDS(rest, exact_one, zero), IDS(vector));
    OPERATION(&b, "L2_NORMALIZATION", IDS(vector), IDS(out));
    struct tensor arg[] = { one_op_tensor(&b, "F32[1]: 1e8"), one_op_tensor(&b, "F32[1]: 5"),
                            one_op_tensor(&b, "F32[1]: 0.003") };
    ck_assert_msg(plan_new(&b.model, &plan, &w) == 0, "%s", w.text);
    ck_assert_msg(plan_run(plan, arg, &options, &result, &w) == 0, "%s", w.text);
    ck_assert_double_eq_tol(result.real[0][1], 0.003 / 8, 1e-9);
    ck_assert_double_ge(result.real[0][1] + result.bound[0][1], 1);
    ck_assert_double_le(result.bound[0][1], 1);
    result_done(&result);
    plan_free(plan);
    build_done(&b);
}
END_TEST

/* x / (x^2)^1.15 in single precision is 0: the divisor, 2^138, overflows. */
START_TEST(a_power_that_overflows)
{
    static const struct one_op c = { "an overflowing power",
                                     "LOCAL_RESPONSE_NORMALIZATION",
                                     1,
                                     { "F32[1,1,1,1]: 0x1p60", "INT32: 0", "FLOAT32: 0",
                                       "FLOAT32: 1", "FLOAT32: 1.15" },
                                     "F32[1,1,1,1]: 0x1p-78" };
    const struct exec_options options = { .bounds = true };
    struct one_op_run run;
    struct why w = { 0 };

    ck_assert_msg(one_op_start(&run, &c, &options, &w) == 0, "%s", w.text);
    ck_assert_double_gt(run.result.real[0][0], 0);
    ck_assert_double_ge(run.result.bound[0][0], run.result.real[0][0]);
    one_op_done(&run);
}
END_TEST

/* Checks the bounds of an operation on the computed quotients 1/3 and 9/3, which have errors. */
static void after_division(const char *op, const char *operand, enum dtype out_type,
                           const double *bound)
{
    const struct exec_options options = { .bounds = true };
    struct result result;
    struct build b;
    struct plan *plan;
    struct why w = { 0 };
    uint32_t in[2], n = 1;

    build_init(&b, 1);
    struct tensor dividend = one_op_tensor(&b, "F32[2]: 1 9");
    struct tensor divisor = one_op_tensor(&b, "F32[2]: 3 3");
    uint32_t x = build_operand(&b, LIFE_INPUT, DT_F32, DIMS(2));
    uint32_t three = build_constant(&b, DT_F32, DIMS(2), divisor.data);
    in[0] = build_operand(&b, LIFE_TEMPORARY, DT_F32, DIMS(2));
    OPERATION(&b, "DIV", IDS(x, three, build_int(&b, 0)), IDS(in[0]));
    if (operand) {
        struct tensor t = one_op_tensor(&b, operand);
        in[n++] = build_constant(&b, t.dtype, t.shape, t.data);
    }
    uint32_t out = build_operand(&b, LIFE_OUTPUT, out_type, (struct shape){ 0 });
    build_operation(&b, op, in, n, &out, 1);
    ck_assert_msg(plan_new(&b.model, &plan, &w) == 0, "%s", w.text);
    ck_assert_msg(plan_run(plan, &dividend, &options, &result, &w) == 0, "%s", w.text);
    for (size_t i = 0; i < tensor_count(&result.out[0]); i++)
        ck_assert_double_eq(result.bound[0][i], bound[i]);
    result_done(&result);
    plan_free(plan);
    build_done(&b);
}

START_TEST(uncertain_operands)
{
    after_division("LESS", "F32[2]: 0x1.555556p-2 4", DT_B8, (double[]){ 1, 0 });
    after_division("EQUAL", "F32[2]: 0.34 3", DT_B8, (double[]){ 0, 1 });
    after_division("CAST", NULL, DT_I32, (double[]){ 0, 1 });
    after_division("ARGMAX", "INT32: 0", DT_I32, (double[]){ 0 });
}
END_TEST

/* Which of the indexes -2..5 are right for element 0 of an output with indexes of a row of four
 * elements; multiplied: the row is a product, with errors. */
static const struct selection {
    const char *op;
    int argument; /* axis or k */
    bool multiplied;
    double row[4];
    const char *right; /* a digit per right index */
} selections[] = {
    { "ARGMAX", 0, false, { 3, 1, 3, 2 }, "02" },
    { "ARGMIN", 0, false, { 1, 3, 1, 1 }, "023" },
    { "ARGMAX", 0, false, { 3, 1, 3 + 0x1p-22, 2 }, "2" },
    { "ARGMAX", 0, true, { 3, 1, 3 + 0x1p-22, 2 }, "02" },
    { "ARGMIN", 0, true, { 1 + 0x1p-23, 2, 3, 1 }, "03" },
    { "TOPK_V2", 2, false, { 3, 1, 2, 3 }, "3" },
    { "TOPK_V2", 2, false, { 3, 1, 2, 3 + 0x1p-22 }, "3" },
    { "TOPK_V2", 2, true, { 3, 1, 2, 3 + 0x1p-22 }, "03" },
};

START_TEST(indexes_of_ties)
{
    const struct selection *s = &selections[_i];
    const struct exec_options options = { .bounds = true };
    bool top = !strcmp(s->op, "TOPK_V2");
    struct shape shape = top ? DIMS(2) : DIMS(1);
    struct why w = { 0 };
    struct build b;
    struct plan *plan;
    struct result result;

    build_init(&b, 1);
    uint32_t x = build_operand(&b, LIFE_INPUT, DT_F32, DIMS(4)), row = x;
    struct tensor arg = rounded_tensor(&b, DT_F32, DIMS(4), s->row);
    if (s->multiplied) {
        uint32_t one = build_constant(&b, DT_F32, DIMS(1), &(float){ 1 });
        row = build_operand(&b, LIFE_TEMPORARY, DT_F32, DIMS(4));
        OPERATION(&b, "MUL", IDS(x, one, build_int(&b, 0)), IDS(row));
    }
    uint32_t out[2], n = 0, argument = build_int(&b, s->argument);
    if (top)
        out[n++] = build_operand(&b, LIFE_OUTPUT, DT_F32, shape);
    out[n++] = build_operand(&b, LIFE_OUTPUT, DT_I32, shape);
    build_operation(&b, s->op, IDS(row, argument), out, n);
    ck_assert_msg(plan_new(&b.model, &plan, &w) == 0, "%s", w.text);
    ck_assert_msg(plan_run(plan, &arg, &options, &result, &w) == 0, "%s", w.text);

    double y[2];
    tensor_widen(&result.out[n - 1], y);
    for (int index = -2; index < 6; index++) {
        bool right = index >= 0 && strchr(s->right, '0' + index);
        y[0] = index;
        struct judgement j = rounded_judge(&b, &result, n - 1, y);
        ck_assert_msg(j.ok == right, "%s: index %d: %s", s->op, index, j.why);
        ck_assert_msg((judge_result_value(&result, n - 1, 0, index) == ELEMENT_RIGHT) == right,
                      "%s: index %d", s->op, index);
    }
    result_done(&result);
    plan_free(plan);
    build_done(&b);
}
END_TEST

Suite *ops_bounds_suite(void)
{
    TCase *t = tcase_create("bounds");

    tcase_add_loop_test(t, single_precision, 0, COUNT(samples));
    tcase_add_loop_test(t, half_precision, 0, COUNT(samples));
    tcase_add_test(t, chain_of_operations);
    tcase_add_loop_test(t, exact_operands, 0, COUNT(exact));
    tcase_add_test(t, a_pixel_without_a_bound_has_weight_0);
    tcase_add_test(t, an_exact_element_beside_an_uncertain_one);
    tcase_add_test(t, a_power_that_overflows);
    tcase_add_test(t, uncertain_operands);
    tcase_add_loop_test(t, indexes_of_ties, 0, COUNT(selections));
    return make_suite("ops_bounds", t, NULL);
}
