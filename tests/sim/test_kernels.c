/* Results of the device kernels against values computed by hand, and the operands that kernels
 * read. */
#include <check.h>
#include <math.h>

#include "sim/kernels/half.h"
#include "sim/kernels/kernel.h"
#include "tests/sim/on_device.h"
#include "tests/support/check_main.h"

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
        ck_assert_msg(half_round(cases[i].from) == cases[i].to, "%a becomes %a, expected %a",
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
      { "relaxed fp32 may stay fp32",
        "ADD",
        0,
        { "F32[1]: 1", "F32[1]: 0x1p-11", "INT32: 0" },
        "F32[1]: 0x1.002p0" } },
    /* 2048 + 1 is a tie in fp16, three times */
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
      { "fp16 overflow", "MUL", 0, { "F32[1]: 300", "F32[1]: 300", "INT32: 0" }, "F32[1]: inf" } },
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
      { "depthwise, multiplier 2",
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
      { "logistic of a large negative value",
        "LOGISTIC",
        0,
        { "F32[2]: -200 0" },
        "F32[2]: 0 0.5" } },
    { "sim:gpu",
      false,
      { "mean along an axis",
        "MEAN",
        0,
        { "F32[2]: 1 2", "const I32[1]: -1", "INT32: 1" },
        "F32[1]: 1.5" } },
    { "sim:cpu",
      false,
      { "grouped convolution",
        "GROUPED_CONV_2D",
        0,
        { "F32[1,1,1,4]: 1 10 100 1000", "const F32[2,1,1,2]: 1 2 3 4", "const F32[2]: 0 1",
          "INT32: 2", "INT32: 1", "INT32: 1", "INT32: 2", "INT32: 0", "BOOL: 0" },
        "F32[1,1,1,2]: 21 4301" } },
    { "sim:gpu",
      false,
      { "transposed convolution",
        "TRANSPOSE_CONV_2D",
        0,
        { "F32[1,1,2,1]: 1 10", "const F32[1,1,3,1]: 1 2 3", "const F32[1]: 0", "INT32: 0",
          "INT32: 0", "INT32: 0", "INT32: 0", "INT32: 2", "INT32: 1", "INT32: 0", "BOOL: 0" },
        "F32[1,1,5,1]: 1 2 13 20 30" } },
    { "sim:cpu",
      false,
      { "odd padding: the larger part is at the end",
        "TRANSPOSE_CONV_2D",
        0,
        { "F32[1,1,2,1]: 1 10", "const F32[1,1,3,1]: 1 2 3", "const F32[1]: 0",
          "const I32[4]: 1 1 4 1", "INT32: 1", "INT32: 2", "INT32: 1", "INT32: 0", "BOOL: 0" },
        "F32[1,1,4,1]: 1 2 13 20" } },
    { "sim:gpu",
      false,
      { "both matrices transposed",
        "BATCH_MATMUL",
        0,
        { "F32[2,2]: 1 3 2 4", "F32[2,2]: 10 100 20 200", "BOOL: 1", "BOOL: 1" },
        "F32[2,2]: 210 420 430 860" } },
    { "sim:cpu",
      false,
      { "bilinear interpolation",
        "RESIZE_BILINEAR",
        0,
        { "F32[1,1,2,1]: 0 8", "INT32: 4", "INT32: 1", "BOOL: 0" },
        "F32[1,1,4,1]: 0 4 8 8" } },
    { "sim:gpu",
      false,
      { "bilinear interpolation with half-pixel centers",
        "RESIZE_BILINEAR",
        0,
        { "F32[1,1,2,1]: 0 8", "INT32: 4", "INT32: 1", "BOOL: 0", "BOOL: 0", "BOOL: 1" },
        "F32[1,1,4,1]: 0 2 6 8" } },
    { "sim:cpu",
      false,
      { "local response normalization along the channels",
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
      { "recurrent state",
        "RNN",
        0,
        { "F32[1,2]: 1 2", "const F32[1,2]: 3 4", "const F32[1,1]: 0.5", "const F32[1]: 1",
          "F32[1,1]: 4", "INT32: 0" },
        "F32[1,1]: 14; F32[1,1]: 14" } },
    /* the state shifts, and 2 * 3 becomes its last element */
    { "sim:gpu",
      false,
      { "SVDF state",
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
      { "integer division rounds down",
        "DIV",
        0,
        { "I32[4]: 5 -5 5 -5", "I32[4]: 2 2 -2 -2", "INT32: 0" },
        "I32[4]: 2 -3 -3 2" } },
    /* 1 < 1, and 1 < 1.25 */
    { "sim:dsp",
      false,
      { "comparison across scales is exact",
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
      { "index of the first maximum",
        "ARGMAX",
        0,
        { "S8[2,3]*1@0: 1 5 5 -3 -3 -4", "INT32: -1" },
        "I32[2]: 1 0" } },
    { "sim:cpu",
      false,
      { "casts truncate and saturate",
        "CAST",
        0,
        { "F32[4]: -1.5 2.9 300 nan" },
        "U8[4]*1@0: 0 2 255 0" } },
    { "sim:gpu",
      false,
      { "casts to integers", "CAST", 0, { "F16[2]: -1.5 2.5" }, "I32[2]: -1 2" } },
    { "sim:dsp",
      false,
      { "transposition of bytes",
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
      { "selection along the last dimension",
        "GATHER",
        0,
        { "U8[2,3]*1@0: 1 2 3 4 5 6", "INT32: -1", "I32[1,2]: 2 0" },
        "U8[2,1,2]*1@0: 3 1 6 4" } },
    { "sim:dsp",
      false,
      { "backwards from the end, without the first dimension",
        "STRIDED_SLICE",
        0,
        { "U8[2,3]*1@0: 1 2 3 4 5 6", "const I32[2]: 1 -1", "const I32[2]: 2 -4",
          "const I32[2]: 1 -2", "INT32: 0", "INT32: 0", "INT32: 1" },
        "U8[2]*1@0: 6 4" } },
    { "sim:dsp",
      false,
      { "blocks of two images",
        "BATCH_TO_SPACE_ND",
        0,
        { "U8[4,1,1,1]*1@0: 1 2 3 4", "const I32[2]: 1 2", "BOOL: 0" },
        "U8[2,1,2,1]*1@0: 1 3 2 4" } },
    { "sim:dsp",
      false,
      { "groups of channels",
        "CHANNEL_SHUFFLE",
        0,
        { "U8[6]*1@0: 1 2 3 4 5 6", "INT32: 2", "INT32: 0" },
        "U8[6]*1@0: 1 4 2 5 3 6" } },
    { "sim:dsp",
      false,
      { "mirror images without the edge",
        "MIRROR_PAD",
        0,
        { "U8[3]*1@0: 1 2 3", "const I32[1,2]: 2 1", "INT32: 0" },
        "U8[6]*1@0: 3 2 1 2 3 2" } },
    { "sim:dsp",
      false,
      { "parts of different sizes",
        "CONCATENATION",
        0,
        { "U8[1,1]*1@0: 1", "U8[1,2]*1@0: 2 3", "U8[1,1]*1@0: 4", "INT32: 1" },
        "U8[1,4]*1@0: 1 2 3 4" } },
    { "sim:dsp",
      false,
      { "nearest pixels between the corners",
        "RESIZE_NEAREST_NEIGHBOR",
        0,
        { "U8[1,1,3,1]*1@0: 1 2 3", "INT32: 4", "INT32: 1", "BOOL: 0", "BOOL: 1", "BOOL: 0" },
        "U8[1,1,4,1]*1@0: 1 2 2 3" } },
    { "sim:dsp",
      false,
      { "concatenation, requantised",
        "CONCATENATION",
        0,
        { "U8[1]*1@0: 3", "U8[2]*0.5@10: 12 13", "INT32: 0" },
        "U8[3]*1@1: 4 2 3" } },
    { "sim:gpu",
      false,
      { "descending order; among equal values the last index first",
        "TOPK_V2",
        0,
        { "F32[1,4]: 2 5 -1 5", "INT32: 3" },
        "F32[1,3]: 5 5 2; I32[1,3]: 3 1 0" } },
    { "sim:dsp",
      false,
      { "index of the first minimum",
        "ARGMIN",
        0,
        { "U8[3]*1@0: 4 2 2", "INT32: 0" },
        "I32[1]: 1" } },
    { "sim:dsp",
      false,
      { "broadcast comparison",
        "GREATER_EQUAL",
        0,
        { "I32[3]: 1 2 3", "I32[1]: 2" },
        "B8[3]: 0 1 1" } },
    { "sim:cpu",
      false,
      { "NaN is unequal to itself",
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
      { "broadcast of booleans", "LOGICAL_AND", 0, { "B8[2]: 1 0", "B8[1]: 1" }, "B8[2]: 1 0" } },
    { "sim:dsp",
      false,
      { "negation of the smallest integer wraps",
        "NEG",
        0,
        { "I32[2]: -2147483648 5" },
        "I32[2]: -2147483648 -5" } },
    { "sim:dsp",
      false,
      { "missing keys give zero",
        "HASHTABLE_LOOKUP",
        0,
        { "I32[2]: 3 4", "const I32[2]: 1 4", "I32[2,1]: 7 8" },
        "I32[2,1]: 0 8; U8[2]*1@0: 0 1" } },
    { "sim:gpu",
      false,
      { "integer matrix products wrap",
        "BATCH_MATMUL",
        0,
        { "I32[1,2]: 2147483647 1", "I32[2,1]: 2 3", "BOOL: 0", "BOOL: 0" },
        "I32[1,1]: 1" } },
    { "sim:gpu",
      false,
      { "space to depth in NCHW",
        "SPACE_TO_DEPTH",
        0,
        { "F32[1,1,2,2]: 1 2 3 4", "INT32: 2", "BOOL: 1" },
        "F32[1,4,1,1]: 1 2 3 4" } },
};

START_TEST(float_devices_compute_expected_values)
{
    on_device_check(&floats[_i]);
}
END_TEST

START_TEST(common_kernels_compute_expected_values)
{
    on_device_check(&common[_i]);
}
END_TEST

/* ---- the operands that kernels read */

static struct kernel_set *bind(const struct device_kernel *const *tables)
{
    struct kernel_set *s = NULL;
    struct why w;

    ck_assert_msg(kernel_set_new(tables, &s, &w) == 0, "%s", w.text);
    return s;
}

static bool reads(const struct kernel_set *s, int role)
{
    for (int i = 0; i < s->n; i++)
        for (int side = 0; side < CELL_SIDES; side++)
            if (s->bound[i].operand[side][role] >= 0)
                return true;
    return false;
}

START_TEST(the_kernel_tables_of_all_devices_bind)
{
    struct kernel_set *floating = bind(float_tables), *fixed = bind(fixed_tables);
    struct kernel_set *moves = bind(fixed_move_tables);

    ck_assert_int_gt(floating->n, fixed->n);
    for (int role = ROLE_NONE + 1; role < N_ROLES; role++)
        ck_assert_msg(reads(floating, role) || reads(fixed, role) || reads(moves, role),
                      "no kernel reads role %d", role);
    kernel_set_free(floating);
    kernel_set_free(fixed);
    kernel_set_free(moves);
}
END_TEST

static int run_nothing(struct kernel_call *k, struct why *w)
{
    (void) k, (void) w;
    return 0;
}

static int run_nothing_else(struct kernel_call *k, struct why *w)
{
    return run_nothing(k, w);
}

static const struct kernel_roles with_groups = { .role = { ROLE_FILTER, ROLE_GROUPS } };

START_TEST(a_role_may_be_absent_in_part_of_the_family)
{
    static const struct device_kernel family[] = {
        { "CONV_2D", FLOATS, run_nothing, &with_groups },
        { "GROUPED_CONV_2D", FLOATS, run_nothing, &with_groups },
        { NULL },
    };
    static const struct device_kernel *const tables[] = { family, NULL };
    struct kernel_set *s = bind(tables);
    const struct op *op = op_by_name("CONV_2D");
    const struct bound_kernel *b = kernel_find(s, op, DT_F32);

    ck_assert_ptr_eq(b->kernel, &family[0]);
    ck_assert_str_eq(op->in[b->operand[0][ROLE_FILTER]].name, "filter");
    ck_assert_int_eq(b->operand[0][ROLE_GROUPS], OPERAND_ABSENT);
    ck_assert_int_eq(b->operand[0][ROLE_BIAS], OPERAND_UNDECLARED);
    ck_assert_ptr_null(kernel_find(s, op, DT_U8));
    b = kernel_find(s, op_by_name("GROUPED_CONV_2D"), DT_F16);
    ck_assert_str_eq(b->op->in[b->operand[0][ROLE_GROUPS]].name, "groups");
    kernel_set_free(s);
}
END_TEST

START_TEST(bidirectional_cells_have_separate_operands)
{
    const char *const name = "BIDIRECTIONAL_SEQUENCE_RNN";
    struct kernel_set *s = bind(float_tables);
    const struct bound_kernel *b = kernel_find(s, op_by_name(name), DT_F32);

    ck_assert_int_eq(b->operand[0][ROLE_BIAS], OPERAND_ABSENT);
    ck_assert_str_eq(b->op->in[b->operand[ROLE_FORWARD >> 8][ROLE_BIAS]].name, "fw_bias");
    ck_assert_str_eq(b->op->in[b->operand[ROLE_BACKWARD >> 8][ROLE_BIAS]].name, "bw_bias");
    kernel_set_free(s);
}
END_TEST

static void refuse(const struct device_kernel *table, const char *reason)
{
    const struct device_kernel *const tables[] = { table, NULL };
    struct kernel_set *s = NULL;
    struct why w;

    ck_assert_int_eq(kernel_set_new(tables, &s, &w), -1);
    ck_assert_ptr_null(s);
    ck_assert_int_eq(w.code, WHY_SYSTEM);
    ck_assert_str_eq(w.text, reason);
}

START_TEST(a_role_unknown_to_the_family_is_rejected)
{
    static const struct device_kernel table[] = {
        { "CONV_2D", FLOATS, run_nothing, &with_groups },
        { "GROUPED_CONV_2D", FLOATS, run_nothing_else, &with_groups },
        { NULL },
    };

    refuse(table, "the kernel of CONV_2D reads an operand \"groups\", which no operation of its "
                  "family has");
}
END_TEST

START_TEST(a_kernel_of_an_unknown_operation_is_rejected)
{
    static const struct device_kernel table[] = { { "CONV_3D", FLOATS, run_nothing }, { NULL } };

    refuse(table, "a kernel of CONV_3D, which is no operation");
}
END_TEST

Suite *kernels_suite(void)
{
    TCase *c = tcase_create("kernels");

    tcase_add_test(c, fp16_rounds_to_nearest_even);
    tcase_add_loop_test(c, float_devices_compute_expected_values, 0, COUNT(floats));
    tcase_add_loop_test(c, common_kernels_compute_expected_values, 0, COUNT(common));
    tcase_add_test(c, the_kernel_tables_of_all_devices_bind);
    tcase_add_test(c, a_role_may_be_absent_in_part_of_the_family);
    tcase_add_test(c, bidirectional_cells_have_separate_operands);
    tcase_add_test(c, a_role_unknown_to_the_family_is_rejected);
    tcase_add_test(c, a_kernel_of_an_unknown_operation_is_rejected);
    return make_suite("kernels", c, NULL);
}
