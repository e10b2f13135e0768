/* Error bounds of element-wise operations, reductions and TOPK_V2: results of plain implementations
 * in single and half precision are accepted, on exact operands and on rounded products; results
 * wrong by 1 % (half: 8 %) are rejected. */
#include <check.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/check_main.h"
#include "tests/support/one_op_run.h"
#include "tests/support/rounded.h"

enum { ROWS = 64, COLUMNS = 16, N = ROWS * COLUMNS, K = 4 };

/* Rounding to the type under test. */
static double (*r)(double x);

/* Plain implementations, in which every step rounds. */
static double absolute(double a, double b)
{
    (void) b;
    return fabs(a);
}

static double negate(double a, double b)
{
    (void) b;
    return -a;
}

static double round_down(double a, double b)
{
    (void) b;
    return floor(a);
}

static double exp_plain(double a, double b)
{
    (void) b;
    return r(exp(a));
}

static double exp_by_powers_of_2(double a, double b)
{
    (void) b;
    return r(exp2(r(a * r(1.4426950408889634))));
}

static double log_by_powers_of_2(double a, double b)
{
    (void) b;
    return r(r(log2(a)) * r(0.6931471805599453));
}

/* The sum of the logarithms of fraction and exponent, which cancel near 1. */
static double log_in_parts(double a, double b)
{
    int k;
    double m = frexp(a, &k);

    (void) b;
    return r(r(k * r(0.6931471805599453)) + r(log(m)));
}

static double root(double a, double b)
{
    (void) b;
    return r(a * r(1 / r(sqrt(a))));
}

static double reciprocal_root(double a, double b)
{
    (void) b;
    return r(1 / r(sqrt(a)));
}

static double sine(double a, double b)
{
    double turns = rint(a / 6.283185307179586);

    (void) b;
    return r(sin(r(a - r(turns * r(6.283185307179586)))));
}

static double power(double a, double b)
{
    return r(exp2(r(b * r(log2(a)))));
}

static double elu(double a, double b)
{
    (void) b;
    return a < 0 ? r(r(exp(a)) - 1) : a;
}

static double hard_swish(double a, double b)
{
    (void) b;
    return r(a * fmin(fmax(r(r(a * r(1.0 / 6)) + 0.5), 0), 1));
}

static double prelu(double a, double b)
{
    return r(fmax(a, 0) + r(b * fmin(a, 0)));
}

static double greater(double a, double b)
{
    return a > b;
}

static double less_equal(double a, double b)
{
    return a <= b;
}

static double not_equal(double a, double b)
{
    return a != b;
}

/* On all N elements. */
static void by_element(double (*f)(double a, double b), const double *a, const double *c, double *y)
{
    for (int i = 0; i < N; i++)
        y[i] = f(a[i], c[i]);
}

static void sum_rows(const double *a, double *y)
{
    for (int row = 0; row < ROWS; row++, a += COLUMNS) {
        y[row] = 0;
        for (int i = COLUMNS; i-- > 0;)
            y[row] = r(y[row] + a[i]);
    }
}

static void multiply_rows(const double *a, double *y)
{
    for (int row = 0; row < ROWS; row++, a += COLUMNS) {
        y[row] = 1;
        for (int i = COLUMNS; i-- > 0;)
            y[row] = r(y[row] * a[i]);
    }
}

static void largest_of_rows(const double *a, double *y)
{
    for (int row = 0; row < ROWS; row++, a += COLUMNS) {
        y[row] = a[0];
        for (int i = 1; i < COLUMNS; i++)
            y[row] = fmax(y[row], a[i]);
    }
}

static void smallest_of_rows(const double *a, double *y)
{
    for (int row = 0; row < ROWS; row++, a += COLUMNS) {
        y[row] = a[0];
        for (int i = 1; i < COLUMNS; i++)
            y[row] = fmin(y[row], a[i]);
    }
}

/* The last one of equal elements. */
static void last_smallest(const double *a, double *y)
{
    for (int row = 0; row < ROWS; row++, a += COLUMNS) {
        int best = 0;
        for (int i = 1; i < COLUMNS; i++)
            best = a[i] <= a[best] ? i : best;
        y[row] = best;
    }
}

static void log_softmax(const double *a, double *y)
{
    for (int row = 0; row < ROWS; row++, a += COLUMNS, y += COLUMNS) {
        double max = -INFINITY, sum = 0;
        for (int i = 0; i < COLUMNS; i++)
            max = fmax(max, a[i]);
        for (int i = 0; i < COLUMNS; i++)
            sum = r(sum + r(exp(r(a[i] - max))));
        for (int i = 0; i < COLUMNS; i++)
            y[i] = r(r(a[i] - max) - r(log(sum)));
    }
}

/* Selection by repeated search, the last of equal elements first. */
static void top_of_row(const double *a, double *values, double *indices)
{
    bool taken[COLUMNS] = { false };

    for (int j = 0; j < K; j++) {
        int best = -1;
        for (int i = 0; i < COLUMNS; i++)
            if (!taken[i] && (best < 0 || a[i] >= a[best]))
                best = i;
        taken[best] = true;
        values[j] = a[best];
        indices[j] = best;
    }
}

static const struct sample {
    const char *name, *op;
    int operands;
    double lo, hi;
    double (*f)(double a, double b);          /* by element, */
    void (*rows)(const double *a, double *y); /* or by row, or neither: top_of_row() */
    int shape;                                /* elements of a row of the result */
    enum { FLOATS, BOOLS, INDICES } result;
    bool insensitive; /* not checked for detecting a wrong factor */
} samples[] = {
    { "abs", "ABS", 1, -8, 8, absolute, .shape = COLUMNS },
    { "neg", "NEG", 1, -8, 8, negate, .shape = COLUMNS },
    { "floor", "FLOOR", 1, -8, 8, round_down, .shape = COLUMNS, .insensitive = true },
    { "exp", "EXP", 1, -6, 6, exp_plain, .shape = COLUMNS },
    { "exp by powers of 2", "EXP", 1, -6, 6, exp_by_powers_of_2, .shape = COLUMNS },
    { "log by powers of 2", "LOG", 1, 1.5, 90, log_by_powers_of_2, .shape = COLUMNS },
    { "log in parts", "LOG", 1, 0.01, 2, log_in_parts, .shape = COLUMNS, .insensitive = true },
    { "root", "SQRT", 1, 0.01, 90, root, .shape = COLUMNS },
    { "reciprocal root", "RSQRT", 1, 0.01, 90, reciprocal_root, .shape = COLUMNS },
    { "sine", "SIN", 1, 0.3, 2.8, sine, .shape = COLUMNS },
    { "sine of many turns", "SIN", 1, -100, 100, sine, .shape = COLUMNS, .insensitive = true },
    { "power", "POW", 2, 0.3, 4, power, .shape = COLUMNS, .insensitive = true },
    { "elu", "ELU", 1, -4, 4, elu, .shape = COLUMNS },
    { "hard swish", "HARD_SWISH", 1, -2.5, 5, hard_swish, .shape = COLUMNS },
    { "prelu", "PRELU", 2, -8, 8, prelu, .shape = COLUMNS },
    { "greater", "GREATER", 2, -1, 1, greater, .shape = COLUMNS, .result = BOOLS,
      .insensitive = true },
    { "less or equal", "LESS_EQUAL", 2, 0.9, 1, less_equal, .shape = COLUMNS, .result = BOOLS,
      .insensitive = true },
    { "not equal", "NOT_EQUAL", 2, 0.9, 1, not_equal, .shape = COLUMNS, .result = BOOLS,
      .insensitive = true },
    { "sum", "REDUCE_SUM", 1, 0.5, 8, .rows = sum_rows, .shape = 1 },
    { "product", "REDUCE_PROD", 1, 0.7, 1.4, .rows = multiply_rows, .shape = 1 },
    { "largest", "REDUCE_MAX", 1, -8, 8, .rows = largest_of_rows, .shape = 1 },
    { "smallest", "REDUCE_MIN", 1, -8, 8, .rows = smallest_of_rows, .shape = 1 },
    { "index of the smallest", "ARGMIN", 1, 1, 1.02, .rows = last_smallest, .shape = 1,
      .result = INDICES, .insensitive = true },
    { "log softmax", "LOG_SOFTMAX", 1, -8, 8, .rows = log_softmax, .shape = COLUMNS },
    { "top k", "TOPK_V2", 1, 1, 1.02, .shape = K, .insensitive = true },
};

static uint32_t add_float(struct build *b, enum dtype type, double x)
{
    float whole = (float) x;
    uint16_t short_form = f16_from_double(x);

    return type == DT_F16 ? build_constant(b, DT_FLOAT16, (struct shape){ 0 }, &short_form)
                          : build_constant(b, DT_FLOAT32, (struct shape){ 0 }, &whole);
}

/* Adds the scalar operands, and the axes of reductions along rows; returns the operand count. */
static uint32_t add_scalars(struct build *b, const struct sample *s, enum dtype type, uint32_t n,
                            uint32_t *in)
{
    int32_t last = -1;
    uint8_t no = 0;

    if (!strncmp(s->op, "REDUCE", 6)) {
        in[n++] = build_constant(b, DT_I32, DIMS(1), &last);
        in[n++] = build_constant(b, DT_BOOL, (struct shape){ 0 }, &no);
    }
    if (!strcmp(s->op, "ELU") || !strcmp(s->op, "LOG_SOFTMAX"))
        in[n++] = add_float(b, type, 1);
    if (!strcmp(s->op, "ARGMIN") || !strcmp(s->op, "LOG_SOFTMAX"))
        in[n++] = build_int(b, -1);
    if (!strcmp(s->op, "TOPK_V2"))
        in[n++] = build_int(b, K);
    return n;
}

struct trial {
    struct build b;
    struct plan *plan;
    struct result result;
    double a[N], c[N], factor[N], y[2][N];
};

/* Runs the operation on inputs; product: its first operand is the product of an input and a
 * factor. */
static void start(struct trial *t, const struct sample *s, enum dtype type, bool product)
{
    const struct exec_options options = { .bounds = true };
    const enum dtype types[] = { [FLOATS] = type, [BOOLS] = DT_B8, [INDICES] = DT_I32 };
    struct shape shape = s->shape == 1 ? DIMS(ROWS) : DIMS(ROWS, (uint32_t) s->shape);
    struct tensor arg[3];
    struct why w = { 0 };
    uint32_t in[5], out[2], n = 0, n_out = 1, n_arg = 0;
    double *x[] = { t->a, t->c };

    build_init(&t->b, 1);
    for (int i = 0; i < s->operands; i++) {
        in[n++] = build_operand(&t->b, LIFE_INPUT, type, DIMS(ROWS, COLUMNS));
        arg[n_arg++] = rounded_tensor(&t->b, type, DIMS(ROWS, COLUMNS), x[i]);
    }
    if (product) {
        uint32_t factor = build_operand(&t->b, LIFE_INPUT, type, DIMS(ROWS, COLUMNS));
        uint32_t y = build_operand(&t->b, LIFE_TEMPORARY, type, DIMS(ROWS, COLUMNS));
        arg[n_arg++] = rounded_tensor(&t->b, type, DIMS(ROWS, COLUMNS), t->factor);
        OPERATION(&t->b, "MUL", IDS(in[0], factor, build_int(&t->b, 0)), IDS(y));
        in[0] = y;
    }
    n = add_scalars(&t->b, s, type, n, in);
    out[0] = build_operand(&t->b, LIFE_OUTPUT, types[s->result], shape);
    if (!strcmp(s->op, "TOPK_V2"))
        out[n_out++] = build_operand(&t->b, LIFE_OUTPUT, DT_I32, shape);
    build_operation(&t->b, s->op, in, n, out, n_out);
    ck_assert_msg(plan_new(&t->b.model, &t->plan, &w) == 0, "%s: %s", s->name, w.text);
    ck_assert_msg(plan_run(t->plan, arg, &options, &t->result, &w) == 0, "%s: %s", s->name, w.text);
}

static void compute(struct trial *t, const struct sample *s, const double *a)
{
    if (s->f)
        by_element(s->f, a, t->c, t->y[0]);
    else if (s->rows)
        s->rows(a, t->y[0]);
    for (int row = 0; row < ROWS && !s->f && !s->rows; row++)
        top_of_row(a + row * COLUMNS, t->y[0] + row * K, t->y[1] + row * K);
}

static void finish(struct trial *t)
{
    result_done(&t->result);
    plan_free(t->plan);
    build_done(&t->b);
}

static void expect_right(struct trial *t, const struct sample *s)
{
    for (uint32_t i = 0; i < t->result.n; i++) {
        struct judgement j = rounded_judge(&t->b, &t->result, i, t->y[i]);
        size_t n = tensor_count(&t->result.out[i]);
        ck_assert_msg(j.ok, "%s: %s", s->name, j.why);
        ck_assert_msg(j.checked * 10 >= n * 9 || s->result != FLOATS, "%s: only %zu of %zu checked",
                      s->name, j.checked, n);
    }
}

static void expect_wrong(struct trial *t, const struct sample *s, double factor)
{
    size_t n = tensor_count(&t->result.out[0]);

    for (size_t i = 0; i < n; i++)
        t->y[0][i] *= factor;
    size_t wrong = rounded_judge(&t->b, &t->result, 0, t->y[0]).wrong;
    ck_assert_msg(wrong * 10 >= n * 8, "%s: only %zu of %zu wrong elements found", s->name, wrong,
                  n);
}

static void check_sample(const struct sample *s, enum dtype type)
{
    static struct trial t;
    static double product[N];

    r = type == DT_F16 ? rounded_half : rounded_single;
    rounded_fill(1, s->lo, s->hi, r, t.a, N);
    rounded_fill(2, s->lo, s->hi, r, t.c, N);
    rounded_fill(3, 0.9, 1.1, r, t.factor, N);
    start(&t, s, type, false);
    compute(&t, s, t.a);
    expect_right(&t, s);
    if (!s->insensitive)
        expect_wrong(&t, s, type == DT_F16 ? 1.08 : 1.01);
    finish(&t);
    for (int i = 0; i < N; i++)
        product[i] = r(t.a[i] * t.factor[i]);
    start(&t, s, type, true);
    compute(&t, s, product);
    expect_right(&t, s);
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

/* A sum of equal elements, whose roundings all have the same sign, is within the bound. */
START_TEST(equal_summands)
{
    const struct exec_options options = { .bounds = true };
    enum { LENGTH = 20000 };
    static float x[LENGTH];
    struct tensor in = { DT_F32, DIMS(LENGTH), .data = x };
    int32_t axis = 0;
    uint8_t no = 0;
    float sum = 0;
    struct build b;
    struct plan *plan;
    struct result result;

    for (int i = 0; i < LENGTH; i++) {
        x[i] = 0.1f;
        sum += x[i];
    }
    build_init(&b, 1);
    uint32_t a = build_operand(&b, LIFE_INPUT, DT_F32, DIMS(LENGTH));
    uint32_t out = build_operand(&b, LIFE_OUTPUT, DT_F32, DIMS(1));
    OPERATION(&b, "REDUCE_SUM",
              IDS(a, build_constant(&b, DT_I32, DIMS(1), &axis),
                  build_constant(&b, DT_BOOL, (struct shape){ 0 }, &no)),
              IDS(out));
    ck_assert_int_eq(plan_new(&b.model, &plan, NULL), 0);
    ck_assert_int_eq(plan_run(plan, &in, &options, &result, NULL), 0);
    ck_assert(fabs((double) sum - result.real[0][0]) < result.bound[0][0]);
    ck_assert(result.bound[0][0] < 5);
    result_done(&result);
    plan_free(plan);
    build_done(&b);
}
END_TEST

/* The bound of every element of a single operation on exact operands. */
static const struct exact {
    struct one_op c;
    uint32_t output;
    double bound[4];
} exact[] = {
    { { "signs are exact; a subnormal number may be flushed to zero",
        "NEG",
        0,
        { "F32[2]: -1.5 1e-45" },
        "F32[2]: 1.5 -1e-45" },
      0,
      { 0, 0x1p-149 } },
    { { "the absolute value of INT32_MIN is not checked",
        "ABS",
        0,
        { "I32[2]: -2147483648 -5" },
        "I32[2]: -2147483648 5" },
      0,
      { INFINITY, 0 } },
    { { "whole numbers are exact", "FLOOR", 0, { "F16[3]: 2 1.999 -0.5" }, "F16[3]: 2 1 -1" },
      0,
      { 0, 0, 0 } },
    { { "logarithms of 0, -1 and infinity are exact",
        "LOG",
        0,
        { "F32[3]: 0 -1 inf" },
        "F32[3]: -inf nan inf" },
      0,
      { 0, 0, 0 } },
    { { "the root of a negative number is NaN",
        "SQRT",
        0,
        { "F32[2]: -1 inf" },
        "F32[2]: nan inf" },
      0,
      { 0, 0 } },
    { { "the sign of zero may be lost", "RSQRT", 0, { "F32[2]: 0 -0x0p0" }, "F32[2]: inf -inf" },
      0,
      { INFINITY, INFINITY } },
    { { "the power of a zero of either sign",
        "POW",
        0,
        { "F32[3]: 0 -0x0p0 0", "F32[3]: -1 -1 1" },
        "F32[3]: inf -inf 0" },
      0,
      { INFINITY, INFINITY, FLT_MIN } },
    { { "a sum whose partial sums may be infinite in half precision",
        "REDUCE_SUM",
        0,
        { "F16[3]: 60000 -30000 -30000", "const I32[1]: 0", "BOOL: 0" },
        "F16[1]: 0" },
      0,
      { INFINITY } },
    { { "a mean whose sum may be infinite in half precision",
        "AVERAGE_POOL_2D",
        0,
        { "F16[1,1,2,1]: 40000 40000", "INT32: 2", "INT32: 1", "INT32: 1", "INT32: 2", "INT32: 1",
          "INT32: 0" },
        "F16[1,1,1,1]: 40000" },
      0,
      { INFINITY } },
    { { "a pixel that is NaN may be multiplied by 0",
        "RESIZE_BILINEAR",
        0,
        { "F32[1,1,2,1]: 1 nan", "INT32: 2", "INT32: 1" },
        "F32[1,1,2,1]: 1 nan" },
      0,
      { INFINITY, INFINITY } },
    { { "a quantised root of a negative number is not checked",
        "RSQRT",
        0,
        { "U8[2]*1@10: 10 9" },
        "U8[2]*1@3: 255 3" },
      0,
      { 0.75 + 0.25, INFINITY } },
    { { "a fractional power of a negative number is NaN",
        "POW",
        0,
        { "F32[1]: -8", "F32[1]: 0.5" },
        "F32[1]: nan" },
      0,
      { 0 } },
    { { "of equal elements the last one comes first",
        "TOPK_V2",
        0,
        { "F32[4]: 1 3 3 2", "INT32: 3" },
        "F32[3]: 3 3 2; I32[3]: 2 1 3" },
      1,
      { 0, 0, 0 } },
    { { "the values of equal elements are exact",
        "TOPK_V2",
        0,
        { "F32[4]: 1 3 3 2", "INT32: 3" },
        "F32[3]: 3 3 2; I32[3]: 2 1 3" },
      0,
      { 0, 0, 0 } },
    { { "NaN may have any rank",
        "TOPK_V2",
        0,
        { "F32[4]: 1 nan 3 2", "INT32: 2" },
        "F32[2]: 3 2; I32[2]: 2 3" },
      0,
      { INFINITY, INFINITY } },
    { { "a sum that is infinite in half precision, times 0",
        "SVDF",
        0,
        { "F16[1,1]: 1000", "F16[1,1]: 255", "F16[1,1]: 0", "F16[1]: 0", "F16[1,1]: 0", "INT32: 1",
          "INT32: 3" },
        "F16[1,1]: 0; F16[1,1]: 0" },
      1,
      { INFINITY } },
    { { "a product of one factor 0",
        "REDUCE_PROD",
        0,
        { "F32[3]: 0 5 7", "const I32[1]: 0", "BOOL: 0" },
        "F32[1]: 0" },
      0,
      { FLT_MIN } },
    { { "a product whose partial products may overflow",
        "REDUCE_PROD",
        0,
        { "F32[3]: 1e30 1e30 1e-30", "const I32[1]: 0", "BOOL: 0" },
        "F32[1]: 1e30" },
      0,
      { INFINITY } },
};

START_TEST(exact_operands)
{
    const struct exec_options options = { .bounds = true };
    const struct exact *e = &exact[_i];
    struct one_op_run run;
    struct why w = { 0 };

    one_op_check(&e->c);
    ck_assert_msg(one_op_start(&run, &e->c, &options, &w) == 0, "%s: %s", e->c.name, w.text);
    for (size_t i = 0; i < tensor_count(&run.result.out[e->output]); i++)
        ck_assert_msg(run.result.bound[e->output][i] == e->bound[i], "%s: bound %zu is %g",
                      e->c.name, i, run.result.bound[e->output][i]);
    one_op_done(&run);
}
END_TEST

Suite *ops_bounds_elementwise_suite(void)
{
    TCase *t = tcase_create("bounds");

    tcase_add_loop_test(t, single_precision, 0, COUNT(samples));
    tcase_add_loop_test(t, half_precision, 0, COUNT(samples));
    tcase_add_test(t, equal_summands);
    tcase_add_loop_test(t, exact_operands, 0, COUNT(exact));
    return make_suite("ops_bounds_elementwise", t, NULL);
}
