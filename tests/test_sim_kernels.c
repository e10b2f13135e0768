/* What the devices compute, against numbers worked out by hand. */
#include <check.h>
#include <math.h>
#include <string.h>

#include "sim/fixed.h"
#include "sim/half.h"
#include "sim/sim.h"
#include "tests/one_op.h"

START_TEST(fp16_rounds_to_nearest_even)
{
    static const struct {
        float from, to;
    } cases[] = {
        { 1 + 0x1p-11f, 1 },           /* a tie */
        { 1 + 0x3p-11f, 1 + 0x1p-9f }, /* the other tie */
        { 1 + 0x1.8p-11f, 1 + 0x1p-10f },
        { 2049, 2048 },
        { 2051, 2052 },
        { 65504, 65504 },
        { 65519.9f, 65504 },
        { 65520, INFINITY },
        { -65520, -INFINITY },
        { 0x1p-24f, 0x1p-24f },
        { 0x1p-25f, 0 }, /* a tie with zero */
        { 0x1.8p-25f, 0x1p-24f },
        { 0x1.ffep-15f, 0x1p-14f },
        { INFINITY, INFINITY },
    };

    for (int i = 0; i < COUNT(cases); i++)
        ck_assert_msg(half_round(cases[i].from) == cases[i].to, "%a becomes %a, not %a",
                      (double) cases[i].from, (double) half_round(cases[i].from),
                      (double) cases[i].to);
    ck_assert(isnan(half_round(NAN)) && isnan(half_to_float(half_from_float(NAN))));
    ck_assert(signbit(half_round(-0.0f)));
    for (uint32_t h = 0; h < 0x10000; h++)
        if ((h & 0x7fff) <= 0x7c00)
            ck_assert_uint_eq(half_from_float(half_to_float((uint16_t) h)), h);
}
END_TEST

START_TEST(fixed_point_rounds_halves_away_from_zero)
{
    struct factor half = factor_of(0.5), third = factor_of(1.0 / 3), big = factor_of(1000);

    ck_assert_int_eq(half.mantissa, INT64_C(1) << 30);
    ck_assert_int_eq(half.shift, 31);
    ck_assert_int_eq(factor_apply(5, half, false), 3);
    ck_assert_int_eq(factor_apply(-5, half, false), -3);
    ck_assert_int_eq(factor_apply(5, half, true), 2);
    ck_assert_int_eq(factor_apply(-5, half, true), -2);
    ck_assert_int_eq(factor_apply(100, third, false), 33);
    ck_assert_int_eq(factor_apply(-7, big, false), -7000);
    ck_assert_int_eq(factor_apply(255, factor_of(0), false), 0);
    ck_assert_int_eq(factor_apply(255, factor_of(1e-30), false), 0);
    ck_assert_int_gt(factor_apply(1, factor_of(1e30), false), 1 << 20);
    ck_assert_int_lt(factor_apply(-1, factor_of(1e30), false), -(1 << 20));
    ck_assert_uint_eq(integer_root(99), 9);
    ck_assert_uint_eq(integer_root(100), 10);
    ck_assert_uint_eq(integer_root(UINT64_MAX), UINT32_MAX);
}
END_TEST

/* ---- one operation on a device */

struct on_device {
    const char *uri;
    bool relaxed;
    struct one_op c;
};

static double stored(const struct tensor *t, size_t i)
{
    const struct codec *c = dtype_info[t->dtype].codec;
    double x;

    c->widen((const char *) t->data + i * c->size, 1, 0, 1, &x);
    return x;
}

static void check_output(const struct on_device *d, const struct tensor *got,
                         const struct tensor *want)
{
    ck_assert_msg(shape_equal(&got->shape, &want->shape), "%s: shape", d->c.name);
    for (size_t i = 0; i < tensor_count(want); i++)
        ck_assert_msg(stored(got, i) == stored(want, i),
                      "%s on %s: element %zu is %.17g, not %.17g", d->c.name, d->uri, i,
                      stored(got, i), stored(want, i));
}

static void check_on(const struct on_device *d)
{
    struct target *t = NULL;
    struct shape shapes[ONE_OP_OUTPUTS];
    struct one_op_run r;
    struct outcome o;
    struct why w = { 0 };

    ck_assert_msg(target_open(d->uri, NULL, &t, &w) == 0, "%s", w.text);
    ck_assert_msg(one_op_start(&r, &d->c, NULL, &w) == 0, "%s: %s", d->c.name, w.text);
    r.b.model.relaxed = d->relaxed;
    for (uint32_t i = 0; i < r.n_expected; i++)
        shapes[i] = r.expected[i].shape;
    ck_assert_msg(target_run(t, &r.b.model, r.arg, shapes, NULL, &o, &w) == 0, "%s", w.text);
    ck_assert_msg(o.stage == STAGE_DONE && !o.violation[0], "%s on %s: stage %d, status %d, %s",
                  d->c.name, d->uri, (int) o.stage, (int) o.status, o.violation);
    for (uint32_t i = 0; i < r.n_expected; i++)
        check_output(d, &o.out[i], &r.expected[i]);
    outcome_done(&o);
    one_op_done(&r);
    target_free(t);
}

static const struct on_device floats[] = {
    { "sim:gpu",
      false,
      { "fp32 stays fp32",
        "ADD",
        0,
        { "F32[1]: 1", "F32[1]: 0x1p-11", "INT32: 0" },
        "F32[1]: 0x1.002p0" } },
    { "sim:gpu",
      true,
      { "relaxed fp32 is fp16",
        "ADD",
        0,
        { "F32[1]: 1", "F32[1]: 0x1p-11", "INT32: 0" },
        "F32[1]: 1" } },
    { "sim:cpu",
      true,
      { "relaxed is no duty",
        "ADD",
        0,
        { "F32[1]: 1", "F32[1]: 0x1p-11", "INT32: 0" },
        "F32[1]: 0x1.002p0" } },
    /* 2048 + 1 is a tie in fp16, thrice */
    { "sim:gpu",
      false,
      { "fp16 is summed in fp16",
        "FULLY_CONNECTED",
        0,
        { "F16[1,4]: 2048 1 1 1", "const F16[1,4]: 1 1 1 1", "const F16[1]: 0", "INT32: 0" },
        "F16[1,1]: 2048" } },
    { "sim:cpu",
      false,
      { "fp16 is summed in fp32",
        "FULLY_CONNECTED",
        0,
        { "F16[1,4]: 2048 1 1 1", "const F16[1,4]: 1 1 1 1", "const F16[1]: 0", "INT32: 0" },
        "F16[1,1]: 2052" } },
    { "sim:gpu",
      true,
      { "a result that fp16 has not",
        "MUL",
        0,
        { "F32[1]: 300", "F32[1]: 300", "INT32: 0" },
        "F32[1]: inf" } },
    { "sim:cpu",
      false,
      { "convolution, NCHW, padded, dilated",
        "CONV_2D",
        0,
        { "F32[1,1,3,3]: 1 2 3 4 5 6 7 8 9", "const F32[2,2,2,1]: 1 0 0 10 0 1 0 0",
          "const F32[2]: 0.5 -100", "INT32: 1", "INT32: 1", "INT32: 1", "INT32: 1", "INT32: 2",
          "INT32: 1", "INT32: 1", "BOOL: 1", "INT32: 2", "INT32: 2" },
        /* windows at rows -1, 0, 1 and columns -1, 1; taps two apart; ReLU */
        "F32[1,2,3,2]: 50.5 0.5 80.5 2.5 0.5 5.5 0 0 0 0 0 0" } },
    { "sim:cpu",
      false,
      { "depthwise, two for each channel",
        "DEPTHWISE_CONV_2D",
        0,
        { "F32[1,2,1,2]: 1 10 2 20", "const F32[1,2,1,4]: 1 2 3 4 5 6 7 8", "const F32[4]: 0 0 0 1",
          "INT32: 2", "INT32: 1", "INT32: 1", "INT32: 2", "INT32: 0" },
        "F32[1,1,1,4]: 11 14 170 201" } },
    { "sim:cpu",
      false,
      { "average without padding",
        "AVERAGE_POOL_2D",
        0,
        { "F32[1,2,2,1]: 1 2 3 6", "INT32: 1", "INT32: 1", "INT32: 1", "INT32: 2", "INT32: 2",
          "INT32: 0" },
        "F32[1,2,2,1]: 3 4 4.5 6" } },
    { "sim:gpu",
      false,
      { "root of the mean square",
        "L2_POOL_2D",
        0,
        { "F32[1,1,2,1]: 1 7", "INT32: 2", "INT32: 1", "INT32: 1", "INT32: 2", "INT32: 1",
          "INT32: 0" },
        "F32[1,1,1,1]: 5" } },
    { "sim:cpu",
      false,
      { "logistic of the far left", "LOGISTIC", 0, { "F32[2]: -200 0" }, "F32[2]: 0 0.5" } },
    { "sim:gpu",
      false,
      { "the mean of no axis is the input",
        "MEAN",
        0,
        { "F32[2]: 1 2", "const I32[1]: -1", "INT32: 1" },
        "F32[1]: 1.5" } },
};

static const struct on_device fixed[] = {
    /* 10 * 0.5 + 3 * 0.25 = 5.75 = 11.5 steps of 0.5, and its mirror image */
    { "sim:dsp",
      false,
      { "a sum is rounded once",
        "ADD",
        0,
        { "U8[2]*0.5@100: 110 90", "U8[2]*0.25@50: 53 47", "INT32: 0" },
        "U8[2]*0.5@128: 140 116" } },
    { "sim:dsp",
      false,
      { "a sum saturates",
        "SUB",
        0,
        { "S8[2]*1@0: 127 -128", "S8[2]*1@0: -128 127", "INT32: 0" },
        "S8[2]*1@0: 127 -128" } },
    { "sim:dsp",
      false,
      { "activations cut in steps",
        "MUL",
        0,
        { "U8[3]*0.5@10: 20 12 0", "U8[3]*0.5@0: 4 3 2", "INT32: 3" },
        "U8[3]*0.5@7: 19 10 7" } },
    { "sim:dsp",
      false,
      { "a factor for each channel",
        "CONV_2D",
        0,
        { "S8[1,1,1,2]*0.5@-3: 7 -3", "const PC8[2,1,1,2]*1,0.25|0: 2 9 2 9", "const I32[2]: 1 3",
          "INT32: 2", "INT32: 1", "INT32: 1", "INT32: 0" },
        /* (20 + 1) * 0.5 = 10.5 and (20 + 3) * 0.125 = 2.875, in steps of 0.5 */
        "S8[1,1,1,2]*0.5@5: 26 11" } },
    { "sim:dsp",
      false,
      { "NCHW and padding hold zero points",
        "CONV_2D",
        0,
        { "U8[1,1,2,2]*1@10: 11 12 13 14", "const U8[1,2,2,1]*1@5: 6 7 8 9", "const I32[1]*1: 0",
          "INT32: 1", "INT32: 1", "INT32: 1", "INT32: 0", "BOOL: 1" },
        "U8[1,1,2,2]*2@0: 15 7 6 2" } },
    { "sim:dsp",
      false,
      { "depthwise",
        "DEPTHWISE_CONV_2D",
        0,
        { "U8[1,1,2,1]*1@1: 3 4", "const U8[1,1,2,2]*1@0: 1 2 3 4", "const I32[2]*1: 0 0",
          "INT32: 2", "INT32: 1", "INT32: 1", "INT32: 2", "INT32: 0" },
        "U8[1,1,1,2]*2@0: 6 8" } },
    { "sim:dsp",
      false,
      { "a matrix",
        "FULLY_CONNECTED",
        0,
        { "S8[2,2]*1@1: 2 3 -1 1", "const S8[1,2]*1@0: 3 4", "const I32[1]*1: 1", "INT32: 1" },
        "S8[2,1]*2@0: 6 0" } },
    { "sim:dsp",
      false,
      { "a mean of a window",
        "AVERAGE_POOL_2D",
        0,
        { "U8[1,1,2,1]*1@5: 6 7", "INT32: 2", "INT32: 1", "INT32: 1", "INT32: 2", "INT32: 1",
          "INT32: 0" },
        "U8[1,1,1,1]*1@5: 7" } },
    { "sim:dsp",
      false,
      { "a mean below zero",
        "MEAN",
        0,
        { "S8[1,2]*1@0: -1 -2", "const I32[1]: 1", "INT32: 0" },
        "S8[1]*1@0: -2" } },
    { "sim:dsp",
      false,
      { "logistic by table",
        "LOGISTIC",
        0,
        { "U8[3]*1@128: 0 128 255" },
        "U8[3]*0.00390625@0: 0 128 255" } },
    { "sim:dsp",
      false,
      { "tanh by table", "TANH", 0, { "S8[2]*0.5@0: 0 127" }, "S8[2]*0.0078125@0: 0 127" } },
    { "sim:dsp",
      false,
      { "equal shares",
        "SOFTMAX",
        0,
        { "U8[1,4]*1@0: 9 9 9 9", "FLOAT32: 1" },
        "U8[1,4]*0.00390625@0: 64 64 64 64" } },
    /* 3/5 and 4/5 in steps of 1/128 */
    { "sim:dsp",
      false,
      { "unit length",
        "L2_NORMALIZATION",
        0,
        { "U8[1,2]*2@128: 131 132" },
        "U8[1,2]*0.0078125@128: 205 230" } },
    { "sim:dsp",
      false,
      { "the larger, in new steps",
        "MAXIMUM",
        0,
        { "U8[2]*1@0: 3 9", "U8[2]*2@0: 2 4" },
        "U8[2]*0.5@0: 8 18" } },
    { "sim:dsp",
      false,
      { "quantising",
        "QUANTIZE",
        0,
        { "F32[5]: 0.25 -0.25 -1e30 1e30 nan" },
        "U8[5]*0.5@3: 4 2 0 255 0" } },
    { "sim:dsp",
      false,
      { "scales of channels",
        "DEQUANTIZE",
        0,
        { "PC8[2,2]*1,0.5|1: 1 2 3 4" },
        "F32[2,2]: 1 1 3 2" } },
};

static const struct on_device common[] = {
    { "sim:dsp",
      false,
      { "integers wrap",
        "ADD",
        0,
        { "I32[2]: 2147483647 -5", "I32[2]: 1 2", "INT32: 0" },
        "I32[2]: -2147483648 -3" } },
    { "sim:gpu",
      false,
      { "integers divide down",
        "DIV",
        0,
        { "I32[4]: 5 -5 5 -5", "I32[4]: 2 2 -2 -2", "INT32: 0" },
        "I32[4]: 2 -3 -3 2" } },
    /* 1 against 1, and 1 against 1.25 */
    { "sim:dsp",
      false,
      { "exact order of different scales",
        "LESS",
        0,
        { "U8[2]*0.5@1: 3 3", "U8[2]*0.25@0: 4 5" },
        "B8[2]: 0 1" } },
    { "sim:cpu",
      false,
      { "equality across scales",
        "EQUAL",
        0,
        { "U8[2]*0.5@1: 3 3", "U8[2]*0.25@0: 4 5" },
        "B8[2]: 1 0" } },
    { "sim:dsp",
      false,
      { "the first of the largest",
        "ARGMAX",
        0,
        { "S8[2,3]*1@0: 1 5 5 -3 -3 -4", "INT32: -1" },
        "I32[2]: 1 0" } },
    { "sim:cpu",
      false,
      { "casts cut and saturate",
        "CAST",
        0,
        { "F32[4]: -1.5 2.9 300 nan" },
        "U8[4]*1@0: 0 2 255 0" } },
    { "sim:gpu",
      false,
      { "casts to integers", "CAST", 0, { "F16[2]: -1.5 2.5" }, "I32[2]: -1 2" } },
    { "sim:dsp",
      false,
      { "bytes are moved",
        "TRANSPOSE",
        0,
        { "S8[2,2]*1@0: 1 2 3 4", "const I32[2]: 1 0" },
        "S8[2,2]*1@0: 1 3 2 4" } },
    { "sim:dsp",
      false,
      { "padding is the zero point",
        "PAD",
        0,
        { "U8[1]*1@7: 1", "const I32[1,2]: 1 2" },
        "U8[4]*1@7: 7 1 7 7" } },
    { "sim:dsp",
      false,
      { "joined in new steps",
        "CONCATENATION",
        0,
        { "U8[1]*1@0: 3", "U8[2]*0.5@10: 12 13", "INT32: 0" },
        "U8[3]*1@1: 4 2 3" } },
};

START_TEST(float_devices_compute)
{
    check_on(&floats[_i]);
}
END_TEST

START_TEST(the_fixed_point_device_computes)
{
    check_on(&fixed[_i]);
}
END_TEST

START_TEST(all_devices_have_the_common_kernels)
{
    check_on(&common[_i]);
}
END_TEST

/* Every kernel is for an operation that the catalogue has. */
START_TEST(kernels_name_operations_of_the_catalogue)
{
    const struct kernel *const *const tables[] = { float_tables, fixed_tables };

    for (int d = 0; d < COUNT(tables); d++)
        for (int t = 0; tables[d][t]; t++)
            for (const struct kernel *k = tables[d][t]; k->op; k++)
                ck_assert_msg(op_by_name(k->op), "%s", k->op);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("sim kernels");
    TCase *c = tcase_create("kernels");

    tcase_add_test(c, fp16_rounds_to_nearest_even);
    tcase_add_test(c, fixed_point_rounds_halves_away_from_zero);
    tcase_add_loop_test(c, float_devices_compute, 0, COUNT(floats));
    tcase_add_loop_test(c, the_fixed_point_device_computes, 0, COUNT(fixed));
    tcase_add_loop_test(c, all_devices_have_the_common_kernels, 0, COUNT(common));
    tcase_add_test(c, kernels_name_operations_of_the_catalogue);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
