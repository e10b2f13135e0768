/* What the devices compute, against numbers worked out by hand. */
#include <check.h>
#include <math.h>

#include "sim/half.h"
#include "sim/kernel.h"
#include "tests/on_device.h"

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
    { "sim:cpu",
      false,
      { "each group has channels of its own",
        "GROUPED_CONV_2D",
        0,
        { "F32[1,1,1,4]: 1 10 100 1000", "const F32[2,1,1,2]: 1 2 3 4", "const F32[2]: 0 1",
          "INT32: 2", "INT32: 1", "INT32: 1", "INT32: 2", "INT32: 0", "BOOL: 0" },
        "F32[1,1,1,2]: 21 4301" } },
    { "sim:gpu",
      false,
      { "every pixel spreads over a window",
        "TRANSPOSE_CONV_2D",
        0,
        { "F32[1,1,2,1]: 1 10", "const F32[1,1,3,1]: 1 2 3", "const F32[1]: 0", "INT32: 0",
          "INT32: 0", "INT32: 0", "INT32: 0", "INT32: 2", "INT32: 1", "INT32: 0", "BOOL: 0" },
        "F32[1,1,5,1]: 1 2 13 20 30" } },
    { "sim:cpu",
      false,
      { "of an odd padding more is after",
        "TRANSPOSE_CONV_2D",
        0,
        { "F32[1,1,2,1]: 1 10", "const F32[1,1,3,1]: 1 2 3", "const F32[1]: 0",
          "const I32[4]: 1 1 4 1", "INT32: 1", "INT32: 2", "INT32: 1", "INT32: 0", "BOOL: 0" },
        "F32[1,1,4,1]: 1 2 13 20" } },
    { "sim:gpu",
      false,
      { "both matrices turned",
        "BATCH_MATMUL",
        0,
        { "F32[2,2]: 1 3 2 4", "F32[2,2]: 10 100 20 200", "BOOL: 1", "BOOL: 1" },
        "F32[2,2]: 210 420 430 860" } },
    { "sim:cpu",
      false,
      { "between pixels",
        "RESIZE_BILINEAR",
        0,
        { "F32[1,1,2,1]: 0 8", "INT32: 4", "INT32: 1", "BOOL: 0" },
        "F32[1,1,4,1]: 0 4 8 8" } },
    { "sim:gpu",
      false,
      { "pixels have their middle at halves",
        "RESIZE_BILINEAR",
        0,
        { "F32[1,1,2,1]: 0 8", "INT32: 4", "INT32: 1", "BOOL: 0", "BOOL: 0", "BOOL: 1" },
        "F32[1,1,4,1]: 0 2 6 8" } },
    { "sim:cpu",
      false,
      { "neighbours along the channels",
        "LOCAL_RESPONSE_NORMALIZATION",
        0,
        { "F32[1,1,1,3]: 2 1 0", "INT32: 1", "FLOAT32: 3", "FLOAT32: 1", "FLOAT32: 1" },
        "F32[1,1,1,3]: 0.25 0.125 0" } },
    /* bins of 1 x 2 pixels, one sample in the middle of each: (0.5, 1) and (1.5, 1) */
    { "sim:cpu",
      false,
      { "a region of two bins",
        "ROI_ALIGN",
        0,
        { "F32[1,2,2,1]: 0 4 8 12", "F32[1,4]: 0 0 2 2", "const I32[1]: 0", "INT32: 1", "INT32: 2",
          "FLOAT32: 1", "FLOAT32: 1", "INT32: 1", "INT32: 1", "BOOL: 0" },
        "F32[1,1,2,1]: 10 12" } },
    { "sim:gpu",
      false,
      { "the largest pixel of a bin",
        "ROI_POOLING",
        0,
        { "F32[1,2,2,1]: 0 4 8 12", "F32[1,4]: 0 0 1 1", "const I32[1]: 0", "INT32: 1", "INT32: 2",
          "FLOAT32: 1", "FLOAT32: 1", "BOOL: 0" },
        "F32[1,1,2,1]: 8 12" } },
    { "sim:cpu",
      false,
      { "a state that is read and written",
        "RNN",
        0,
        { "F32[1,2]: 1 2", "const F32[1,2]: 3 4", "const F32[1,1]: 0.5", "const F32[1]: 1",
          "F32[1,1]: 4", "INT32: 0" },
        "F32[1,1]: 14; F32[1,1]: 14" } },
    /* 2 * 3 takes the place of the last number, 5 */
    { "sim:gpu",
      false,
      { "a filter remembers",
        "SVDF",
        0,
        { "F32[1,1]: 3", "const F32[1,1]: 2", "const F32[1,2]: 10 1", "const F32[1]: 0.5",
          "F32[1,2]: 7 5", "INT32: 1", "INT32: 0" },
        "F32[1,2]: 6 0; F32[1,1]: 76.5" } },
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
    { "sim:gpu",
      false,
      { "the largest come first, of equal ones the last",
        "TOPK_V2",
        0,
        { "F32[1,4]: 2 5 -1 5", "INT32: 3" },
        "F32[1,3]: 5 5 2; I32[1,3]: 3 1 0" } },
    { "sim:dsp",
      false,
      { "the first of the smallest",
        "ARGMIN",
        0,
        { "U8[3]*1@0: 4 2 2", "INT32: 0" },
        "I32[1]: 1" } },
    { "sim:dsp",
      false,
      { "not less is not all",
        "GREATER_EQUAL",
        0,
        { "I32[3]: 1 2 3", "I32[1]: 2" },
        "B8[3]: 0 1 1" } },
    { "sim:cpu",
      false,
      { "no number is unequal to itself",
        "NOT_EQUAL",
        0,
        { "F32[2]: nan 1", "F32[2]: nan 1" },
        "B8[2]: 1 0" } },
    { "sim:gpu",
      false,
      { "any of a row",
        "REDUCE_ANY",
        0,
        { "B8[2,2]: 0 0 0 1", "const I32[1]: -1", "BOOL: 0" },
        "B8[2]: 0 1" } },
    { "sim:cpu",
      false,
      { "truths broadcast", "LOGICAL_AND", 0, { "B8[2]: 1 0", "B8[1]: 1" }, "B8[2]: 1 0" } },
    { "sim:dsp",
      false,
      { "the smallest integer has no opposite",
        "NEG",
        0,
        { "I32[2]: -2147483648 5" },
        "I32[2]: -2147483648 -5" } },
    { "sim:dsp",
      false,
      { "what is not found is zero",
        "HASHTABLE_LOOKUP",
        0,
        { "I32[2]: 3 4", "const I32[2]: 1 4", "I32[2,1]: 7 8" },
        "I32[2,1]: 0 8; U8[2]*1@0: 0 1" } },
    { "sim:gpu",
      false,
      { "matrices of integers wrap",
        "BATCH_MATMUL",
        0,
        { "I32[1,2]: 2147483647 1", "I32[2,1]: 2 3", "BOOL: 0", "BOOL: 0" },
        "I32[1,1]: 1" } },
    { "sim:gpu",
      false,
      { "pixels of NCHW move",
        "SPACE_TO_DEPTH",
        0,
        { "F32[1,1,2,2]: 1 2 3 4", "INT32: 2", "BOOL: 1" },
        "F32[1,4,1,1]: 1 2 3 4" } },
};

START_TEST(float_devices_compute)
{
    on_device_check(&floats[_i]);
}
END_TEST

START_TEST(all_devices_have_the_common_kernels)
{
    on_device_check(&common[_i]);
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
    tcase_add_loop_test(c, float_devices_compute, 0, COUNT(floats));
    tcase_add_loop_test(c, all_devices_have_the_common_kernels, 0, COUNT(common));
    tcase_add_test(c, kernels_name_operations_of_the_catalogue);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
