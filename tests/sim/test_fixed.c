/* Results of the fixed-point device (sim:dsp) against values computed by hand. */
#include <check.h>

#include "sim/kernels/fixed/fixed.h"
#include "tests/sim/on_device.h"
#include "tests/support/check_main.h"

START_TEST(factors_round_halves_away_from_zero)
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
      { "activations clamp stored values",
        "MUL",
        0,
        { "U8[3]*0.5@10: 20 12 0", "U8[3]*0.5@0: 4 3 2", "INT32: 3" },
        "U8[3]*0.5@7: 19 10 7" } },
    { "sim:dsp",
      false,
      { "per-channel scales of the filter",
        "CONV_2D",
        0,
        { "S8[1,1,1,2]*0.5@-3: 7 -3", "const PC8[2,1,1,2]*1,0.25|0: 2 9 2 9", "const I32[2]: 1 3",
          "INT32: 2", "INT32: 1", "INT32: 1", "INT32: 0" },
        /* (20 + 1) * 0.5 = 10.5 and (20 + 3) * 0.125 = 2.875, in steps of 0.5 */
        "S8[1,1,1,2]*0.5@5: 26 11" } },
    { "sim:dsp",
      false,
      { "NCHW; padding is the zero point",
        "CONV_2D",
        0,
        { "U8[1,1,2,2]*1@10: 11 12 13 14", "const U8[1,2,2,1]*1@5: 6 7 8 9", "const I32[1]*1: 0",
          "INT32: 1", "INT32: 1", "INT32: 1", "INT32: 0", "BOOL: 1" },
        "U8[1,1,2,2]*2@0: 15 7 6 2" } },
    { "sim:dsp",
      false,
      { "depthwise convolution",
        "DEPTHWISE_CONV_2D",
        0,
        { "U8[1,1,2,1]*1@1: 3 4", "const U8[1,1,2,2]*1@0: 1 2 3 4", "const I32[2]*1: 0 0",
          "INT32: 2", "INT32: 1", "INT32: 1", "INT32: 2", "INT32: 0" },
        "U8[1,1,1,2]*2@0: 6 8" } },
    { "sim:dsp",
      false,
      { "matrix product",
        "FULLY_CONNECTED",
        0,
        { "S8[2,2]*1@1: 2 3 -1 1", "const S8[1,2]*1@0: 3 4", "const I32[1]*1: 1", "INT32: 1" },
        "S8[2,1]*2@0: 6 0" } },
    { "sim:dsp",
      false,
      { "mean of a window",
        "AVERAGE_POOL_2D",
        0,
        { "U8[1,1,2,1]*1@5: 6 7", "INT32: 2", "INT32: 1", "INT32: 1", "INT32: 2", "INT32: 1",
          "INT32: 0" },
        "U8[1,1,1,1]*1@5: 7" } },
    { "sim:dsp",
      false,
      { "negative mean rounds away from zero",
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
      { "softmax of equal values",
        "SOFTMAX",
        0,
        { "U8[1,4]*1@0: 9 9 9 9", "FLOAT32: 1" },
        "U8[1,4]*0.00390625@0: 64 64 64 64" } },
    /* 3/5 and 4/5 in steps of 1/128 */
    { "sim:dsp",
      false,
      { "L2 normalization",
        "L2_NORMALIZATION",
        0,
        { "U8[1,2]*2@128: 131 132" },
        "U8[1,2]*0.0078125@128: 205 230" } },
    { "sim:dsp",
      false,
      { "maximum, requantised",
        "MAXIMUM",
        0,
        { "U8[2]*1@0: 3 9", "U8[2]*2@0: 2 4" },
        "U8[2]*0.5@0: 8 18" } },
    { "sim:dsp",
      false,
      { "quantize saturates",
        "QUANTIZE",
        0,
        { "F32[5]: 0.25 -0.25 -1e30 1e30 nan" },
        "U8[5]*0.5@3: 4 2 0 255 0" } },
    { "sim:dsp",
      false,
      { "dequantize per channel",
        "DEQUANTIZE",
        0,
        { "PC8[2,2]*1,0.5|1: 1 2 3 4" },
        "F32[2,2]: 1 1 3 2" } },
    { "sim:dsp",
      false,
      { "slopes with another scale",
        "PRELU",
        0,
        { "S8[2]*1@0: 6 -6", "S8[1]*0.25@0: 2" },
        "S8[2]*0.5@1: 13 -5" } },
    { "sim:dsp",
      false,
      { "hard swish by table", "HARD_SWISH", 0, { "S8[3]*0.5@0: -6 0 6" }, "S8[3]*0.5@0: 0 0 6" } },
    { "sim:dsp",
      false,
      { "maximum along an axis",
        "REDUCE_MAX",
        0,
        { "U8[2,2]*1@3: 1 9 7 4", "const I32[1]: 1", "BOOL: 0" },
        "U8[2]*1@3: 9 7" } },
    { "sim:dsp",
      false,
      { "bilinear interpolation",
        "RESIZE_BILINEAR",
        0,
        { "U8[1,1,2,1]*1@5: 5 10", "INT32: 4", "INT32: 1", "BOOL: 0" },
        "U8[1,1,4,1]*1@5: 5 8 10 10" } },
    { "sim:dsp",
      false,
      { "transposed convolution",
        "TRANSPOSE_CONV_2D",
        0,
        { "U8[1,1,2,1]*1@1: 2 11", "const U8[1,1,3,1]*1@0: 1 2 3", "const I32[1]*1: 0", "INT32: 0",
          "INT32: 0", "INT32: 0", "INT32: 0", "INT32: 2", "INT32: 1", "INT32: 0", "BOOL: 0" },
        "U8[1,1,5,1]*1@0: 1 2 13 20 30" } },
    { "sim:dsp",
      false,
      { "grouped convolution",
        "GROUPED_CONV_2D",
        0,
        { "U8[1,1,1,2]*1@0: 3 5", "const U8[2,1,1,1]*1@0: 2 3", "const I32[2]*1: 0 0", "INT32: 2",
          "INT32: 1", "INT32: 1", "INT32: 2", "INT32: 0", "BOOL: 0" },
        "U8[1,1,1,2]*2@0: 3 8" } },
    { "sim:dsp",
      false,
      { "select, requantised",
        "SELECT",
        0,
        { "B8[2]: 1 0", "U8[2]*1@0: 3 4", "U8[2]*2@1: 6 7" },
        "U8[2]*0.5@0: 6 24" } },
};

START_TEST(fixed_point_device_computes_expected_values)
{
    on_device_check(&fixed[_i]);
}
END_TEST

Suite *fixed_suite(void)
{
    TCase *c = tcase_create("fixed");

    tcase_add_test(c, factors_round_halves_away_from_zero);
    tcase_add_loop_test(c, fixed_point_device_computes_expected_values, 0, COUNT(fixed));
    return make_suite("fixed", c, NULL);
}
