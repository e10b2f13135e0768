/* Operations that move data, and copy_elements(), which they use. */
#include <check.h>
#include <math.h>
#include <string.h>

#include "golden/model/copy_elements.h"
#include "tests/support/check_main.h"
#include "tests/support/one_op_run.h"

#define I(n) "INT32: " #n

static const struct one_op moves[] = {
    { "concatenation: first axis",
      "CONCATENATION",
      1,
      { "F32[1,2]: 1 2", "F32[2,2]: 3 4 5 6", I(0) },
      "F32[3,2]: 1 2 3 4 5 6" },
    { "concatenation: last axis, three",
      "CONCATENATION",
      1,
      { "F32[2,1]: 1 2", "F32[2,2]: 3 4 5 6", "F32[2,1]: 7 8", I(1) },
      "F32[2,4]: 1 3 4 7 2 5 6 8" },
    { "concatenation: middle axis",
      "CONCATENATION",
      1,
      { "F32[2,1,2]: 1 2 3 4", "F32[2,1,2]: 5 6 7 8", I(1) },
      "F32[2,2,2]: 1 2 5 6 3 4 7 8" },
    { "concatenation: of one", "CONCATENATION", 1, { "F32[2]: 1 nan", I(0) }, "F32[2]: 1 nan" },
    { "concatenation: empty parts",
      "CONCATENATION",
      0,
      { "F32[0,2]:", "F32[1,2]: 3 4", I(0) },
      "F32[1,2]: 3 4" },
    { "concatenation: half",
      "CONCATENATION",
      3,
      { "F16[1]: 1", "F16[1]: 2", I(0) },
      "F16[2]: 1 2" },
    { "concatenation: equal quantisation",
      "CONCATENATION",
      1,
      { "U8[1]*0.5@3: 1", "U8[1]*0.5@3: 255", I(0) },
      "U8[2]*0.5@3: 1 255" },
    /* 0.5 * (8-3) = 2.5, 2 * (100-90) = 20, 2 * (0-90) saturates; ties go away from zero */
    { "concatenation: requantised",
      "CONCATENATION",
      3,
      { "U8[2]*0.5@3: 8 2", "U8[2]*2@90: 100 0", I(0) },
      "U8[4]*1@128: 131 127 148 0" },
    { "concatenation: signed, requantised",
      "CONCATENATION",
      4,
      { "S8[1]*0.5@-3: 3", "S8[1]*1@5: 7", I(0) },
      "S8[2]*1@5: 8 7" },

    { "split: two",
      "SPLIT",
      3,
      { "F32[2,2]: 1 2 3 4", I(0), I(2) },
      "F32[1,2]: 1 2; F32[1,2]: 3 4" },
    { "split: from the end, three",
      "SPLIT",
      3,
      { "I32[2,3]: 1 2 3 4 5 6", I(-1), I(3) },
      "I32[2,1]: 1 4; I32[2,1]: 2 5; I32[2,1]: 3 6" },
    { "split: middle",
      "SPLIT",
      3,
      { "F16[2,2,2]: 1 2 3 4 5 6 7 8", I(1), I(2) },
      "F16[2,1,2]: 1 2 5 6; F16[2,1,2]: 3 4 7 8" },
    { "split: one", "SPLIT", 3, { "U8[2]*1@7: 1 2", I(0), I(1) }, "U8[2]*1@7: 1 2" },
    { "split: signed",
      "SPLIT",
      4,
      { "S8[2]*1@7: 1 -2", I(0), I(2) },
      "S8[1]*1@7: 1; S8[1]*1@7: -2" },
    { "split: no elements", "SPLIT", 0, { "F32[0,2]:", I(1), I(2) }, "F32[0,1]:; F32[0,1]:" },

    { "reshape",
      "RESHAPE",
      1,
      { "F32[2,3]: 1 2 3 4 5 6", "const I32[2]: 3 2" },
      "F32[3,2]: 1 2 3 4 5 6" },
    { "reshape: -1",
      "RESHAPE",
      1,
      { "U8[2,3]*1@9: 1 2 3 4 5 6", "const I32[3]: 2 -1 1" },
      "U8[2,3,1]*1@9: 1 2 3 4 5 6" },
    { "reshape: shape is an argument",
      "RESHAPE",
      1,
      { "F32[2,2]: 1 2 3 4", "I32[1]: -1" },
      "F32[4]: 1 2 3 4" },
    { "reshape: half", "RESHAPE", 3, { "F16[1,1]: 5", "const I32[1]: 1" }, "F16[1]: 5" },
    { "reshape: signed",
      "RESHAPE",
      4,
      { "S8[2,1]*1@0: 5 -6", "const I32[1]: -1" },
      "S8[2]*1@0: 5 -6" },
    { "reshape: integers", "RESHAPE", 6, { "I32[2,1]: 5 -6", "const I32[1]: 2" }, "I32[2]: 5 -6" },
    { "reshape: no elements", "RESHAPE", 0, { "F32[0,3]:", "const I32[2]: 3 0" }, "F32[3,0]:" },
    { "reshape: no elements, -1",
      "RESHAPE",
      0,
      { "F32[0,3]:", "const I32[2]: -1 3" },
      "F32[0,3]:" },

    { "squeeze: some", "SQUEEZE", 2, { "F32[1,2,1]: 1 2", "const I32[1]: 2" }, "F32[1,2]: 1 2" },
    { "squeeze: a negative axis, named twice",
      "SQUEEZE",
      2,
      { "F32[1,2,1]: 1 2", "const I32[2]: -3 0" },
      "F32[2,1]: 1 2" },
    { "squeeze: omitted",
      "SQUEEZE",
      2,
      { "U8[1,2,1]*1@1: 1 2", "none I32[1]:" },
      "U8[2]*1@1: 1 2" },
    { "squeeze: F16, omitted", "SQUEEZE", 3, { "F16[1,2,1]: 1 2", "none I32[1]:" }, "F16[2]: 1 2" },
    { "squeeze: empty list", "SQUEEZE", 4, { "S8[1,2,1]*1@1: 1 2", "I32[0]:" }, "S8[2]*1@1: 1 2" },
    { "squeeze: everything", "SQUEEZE", 2, { "F32[1,1]: 7", "const I32[2]: 0 1" }, "F32[1]: 7" },

    { "pad",
      "PAD",
      2,
      { "F32[1,2]: 1 2", "const I32[2,2]: 1 0 0 2" },
      "F32[2,4]: 0 0 0 0 1 2 0 0" },
    { "pad: by 0", "PAD", 2, { "F32[2]: 1 2", "const I32[1,2]: 0 0" }, "F32[2]: 1 2" },
    { "pad: three dimensions",
      "PAD",
      2,
      { "F32[1,2,1]: 1 2", "const I32[3,2]: 0 1 0 0 1 1" },
      "F32[2,2,3]: 0 1 0 0 2 0 0 0 0 0 0 0" },
    { "pad: quantised",
      "PAD",
      2,
      { "U8[2]*1@0: 1 2", "const I32[1,2]: 1 1" },
      "U8[4]*1@0: 0 1 2 0" },
    { "pad: zero point",
      "PAD",
      3,
      { "U8[2]*1@9: 1 2", "const I32[1,2]: 1 1" },
      "U8[4]*1@9: 9 1 2 9" },
    { "pad: signed",
      "PAD",
      4,
      { "S8[2]*1@-9: 1 2", "const I32[1,2]: 2 0" },
      "S8[4]*1@-9: -9 -9 1 2" },
    { "pad: half", "PAD", 3, { "F16[1]: 1", "const I32[1,2]: 1 1" }, "F16[3]: 0 1 0" },
    { "pad: no elements", "PAD", 0, { "F32[0]:", "I32[1,2]: 1 1" }, "F32[2]: 0 0" },

    { "transpose",
      "TRANSPOSE",
      2,
      { "F32[2,3]: 1 2 3 4 5 6", "const I32[2]: 1 0" },
      "F32[3,2]: 1 4 2 5 3 6" },
    { "transpose: reversed",
      "TRANSPOSE",
      2,
      { "U8[2,1,3]*1@5: 1 2 3 4 5 6", "none I32[3]:" },
      "U8[3,1,2]*1@5: 1 4 2 5 3 6" },
    { "transpose: F16, omitted",
      "TRANSPOSE",
      3,
      { "F16[1,2]: 1 2", "none I32[2]:" },
      "F16[2,1]: 1 2" },
    { "transpose: NHWC to NCHW",
      "TRANSPOSE",
      4,
      { "S8[1,2,2,2]*1@5: 1 2 3 4 5 6 7 8", "const I32[4]: 0 3 1 2" },
      "S8[1,2,2,2]*1@5: 1 3 5 7 2 4 6 8" },
    { "transpose: a cycle of three",
      "TRANSPOSE",
      2,
      { "F32[1,2,3]: 1 2 3 4 5 6", "const I32[3]: 1 2 0" },
      "F32[2,3,1]: 1 2 3 4 5 6" },
    { "transpose: no elements", "TRANSPOSE", 0, { "F32[0,3]:", "const I32[2]: 1 0" }, "F32[3,0]:" },
};

static const struct {
    struct one_op c;
    enum why_code code;
    const char *text;
} refusals[] = {
    { { "axis", "CONCATENATION", 0, { "F32[1]: 1", "F32[1]: 1", I(1) }, "F32[2]: 0 0" },
      WHY_EXECUTION,
      "axis 1" },
    { { "negative axis", "CONCATENATION", 0, { "F32[1]: 1", "F32[1]: 1", I(-1) }, "F32[2]: 0 0" },
      WHY_EXECUTION,
      "axis -1" },
    { { "other dimensions",
        "CONCATENATION",
        0,
        { "F32[1,2]: 1 2", "F32[2,1]: 1 2", I(1) },
        "F32[1,3]: 0 0 0" },
      WHY_EXECUTION,
      "input 1 is [2,1]" },
    { { "other rank",
        "CONCATENATION",
        0,
        { "F32[1,2]: 1 2", "F32[2]: 1 2", I(1) },
        "F32[1,3]: 0 0 0" },
      WHY_EXECUTION,
      "input 1" },
    { { "declared shape", "CONCATENATION", 0, { "F32[1]: 1", "F32[1]: 1", I(0) }, "F32[1]: 0" },
      WHY_EXECUTION,
      "declared [1]" },
    { { "other type", "CONCATENATION", 0, { "F32[1]: 1", "F16[1]: 1", I(0) }, "F32[2]: 0 0" },
      WHY_INVALID,
      "CONCATENATION" },
    { { "unequal parts", "SPLIT", 0, { "F32[3]: 1 2 3", I(0), I(2) }, "F32[1]: 0; F32[2]: 0 0" },
      WHY_EXECUTION,
      "cannot be cut into 2" },
    { { "number of outputs",
        "SPLIT",
        0,
        { "F32[4]: 1 2 3 4", I(0), I(4) },
        "F32[2]: 0 0; F32[2]: 0 0" },
      WHY_EXECUTION,
      "num_splits is 4" },
    { { "axis", "SPLIT", 0, { "F32[2]: 1 2", I(-2), I(1) }, "F32[2]: 0 0" },
      WHY_EXECUTION,
      "axis -2" },
    { { "elements",
        "RESHAPE",
        0,
        { "F32[4]: 1 2 3 4", "const I32[2]: 2 3" },
        "F32[2,3]: 0 0 0 0 0 0" },
      WHY_EXECUTION,
      "4 elements" },
    { { "two dimensions of -1",
        "RESHAPE",
        0,
        { "F32[4]: 1 2 3 4", "const I32[2]: -1 -1" },
        "F32[2,2]: 0 0 0 0" },
      WHY_EXECUTION,
      "both -1" },
    { { "-1 does not divide",
        "RESHAPE",
        0,
        { "F32[4]: 1 2 3 4", "const I32[2]: -1 3" },
        "F32[2,2]: 0 0 0 0" },
      WHY_EXECUTION,
      "shape[0] cannot be computed" },
    { { "-1 of no elements", "RESHAPE", 0, { "F32[0,4]:", "const I32[2]: -1 0" }, "F32[0,0]:" },
      WHY_EXECUTION,
      "shape[0] cannot be computed" },
    { { "negative",
        "RESHAPE",
        0,
        { "F32[4]: 1 2 3 4", "const I32[2]: -2 -2" },
        "F32[2,2]: 0 0 0 0" },
      WHY_EXECUTION,
      "shape[0] is -2" },
    { { "overflow",
        "RESHAPE",
        0,
        { "F32[4]: 1 2 3 4", "const I32[3]: 2147483647 2147483647 4" },
        "F32[1,1,4]: 0 0 0 0" },
      WHY_EXECUTION,
      "too many" },
    { { "not 1", "SQUEEZE", 0, { "F32[1,2]: 1 2", "const I32[1]: 1" }, "F32[1]: 0" },
      WHY_EXECUTION,
      "must have 1" },
    { { "dimension", "SQUEEZE", 0, { "F32[1,2]: 1 2", "const I32[1]: 2" }, "F32[1,2]: 0 0" },
      WHY_EXECUTION,
      "dimension 2" },
    { { "negative", "PAD", 0, { "F32[2]: 1 2", "const I32[1,2]: -1 0" }, "F32[1]: 0" },
      WHY_EXECUTION,
      "-1" },
    { { "rows", "PAD", 0, { "F32[2]: 1 2", "const I32[2,2]: 0 0 0 0" }, "F32[2]: 0 0" },
      WHY_EXECUTION,
      "paddings" },
    { { "scale", "PAD", 0, { "U8[2]*1@0: 1 2", "const I32[1,2]: 0 0" }, "U8[2]*2@0: 0 0" },
      WHY_INVALID,
      "scale" },
    { { "not a permutation",
        "TRANSPOSE",
        0,
        { "F32[1,2]: 1 2", "const I32[2]: 0 0" },
        "F32[1,2]: 0 0" },
      WHY_EXECUTION,
      "perm[1] = 0" },
    { { "outside", "TRANSPOSE", 0, { "F32[1,2]: 1 2", "const I32[2]: 0 -1" }, "F32[1,2]: 0 0" },
      WHY_EXECUTION,
      "perm[1] = -1" },
};

START_TEST(move_case)
{
    one_op_check(&moves[_i]);
}
END_TEST

START_TEST(invalid_case_is_rejected)
{
    one_op_check_rejected(&refusals[_i].c, refusals[_i].code, refusals[_i].text);
}
END_TEST

/* --- copy_elements() --- */

static uint64_t seed;

static uint32_t below(uint32_t n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t) (seed >> 33) % n;
}

/* Random boxes of every element size, with positive, negative and zero strides, compared with a
 * copy of one element at a time. */
START_TEST(boxes_are_copied_element_by_element)
{
    enum { ROOM = 4096 };
    static const size_t sizes[] = { 1, 2, 3, 4, 8 };
    static unsigned char from[ROOM * 8], to[ROOM * 8], want[ROOM * 8];

    for (size_t i = 0; i < sizeof from; i++)
        from[i] = (unsigned char) below(256);
    for (int round = 0; round < 500; round++) {
        uint32_t rank = below(5);
        size_t size = sizes[below(5)], total = 1;
        struct copy_axis box[5];
        ptrdiff_t start = 0, step = 1, from_step[5];
        uint32_t order[5] = { 0 };
        for (uint32_t i = 0; i < rank; i++) {
            uint32_t j = below(i + 1);
            order[i] = order[j];
            order[j] = i;
            box[i].n = below(20) ? 1 + below(5) : 0;
            total *= box[i].n;
        }
        for (uint32_t i = 0; i < rank; i++) { /* the source has its axes in another order */
            bool back = below(4) == 0, repeat = below(6) == 0;
            from_step[order[i]] = repeat ? 0 : back ? -step : step;
            start +=
                back && !repeat && box[order[i]].n ? step * (ptrdiff_t) (box[order[i]].n - 1) : 0;
            step *= (ptrdiff_t) (box[order[i]].n + below(2));
        }
        step = 1;
        for (uint32_t i = rank; i-- > 0; step *= (ptrdiff_t) box[i].n) {
            box[i].from = from_step[i];
            box[i].to = step;
        }
        memset(to, 0, sizeof to);
        memset(want, 0, sizeof want);
        for (size_t e = 0; e < total; e++) {
            ptrdiff_t at = start;
            size_t rest = e;
            for (uint32_t i = rank; i-- > 0; rest /= box[i].n)
                at += (ptrdiff_t) (rest % box[i].n) * from_step[i];
            memcpy(want + e * size, from + (size_t) at * size, size);
        }
        copy_elements(size, box, rank, from + (size_t) start * size, to);
        ck_assert_msg(!memcmp(to, want, sizeof to), "round %d", round);
    }
}
END_TEST

START_TEST(large_transpositions_are_right)
{
    enum { ROWS = 150, COLUMNS = 333 };
    static uint16_t from[ROWS * COLUMNS], to[ROWS * COLUMNS];
    struct copy_axis box[] = { { COLUMNS, 1, ROWS }, { ROWS, COLUMNS, 1 } };

    for (size_t i = 0; i < ROWS * COLUMNS; i++)
        from[i] = (uint16_t) below(65536);
    copy_elements(2, box, 2, from, to);
    for (size_t r = 0; r < ROWS; r++)
        for (size_t c = 0; c < COLUMNS; c++)
            ck_assert_uint_eq(to[c * ROWS + r], from[r * COLUMNS + c]);
}
END_TEST

START_TEST(fills_repeat_the_value)
{
    static const size_t sizes[] = { 1, 2, 3, 4, 8 };
    static const unsigned char value[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
    unsigned char to[8 * 100 + 1];

    for (int s = 0; s < COUNT(sizes); s++)
        for (size_t n = 0; n <= 100; n++) {
            memset(to, 99, sizeof to);
            fill_elements(sizes[s], value, n, to);
            for (size_t i = 0; i < n * sizes[s]; i++)
                ck_assert_uint_eq(to[i], value[i % sizes[s]]);
            ck_assert_uint_eq(to[n * sizes[s]], 99);
        }
}
END_TEST

/* --- bounds --- */

/* y = PAD(x + x): every element of the result has the bound of the element it was copied from. */
START_TEST(bounds_move_with_the_values)
{
    struct build b;
    struct plan *plan;
    struct result r;
    struct why w = { 0 };
    struct exec_options options = { .bounds = true };
    float x[6] = { 1, 0.1f, 100, 1e-3f, 10, 1e4f };
    int32_t perm[] = { 1, 0 }, paddings[] = { 0, 0, 1, 0 };

    build_init(&b, 1);
    uint32_t in = build_operand(&b, LIFE_INPUT, DT_F32, DIMS(2, 3)), none = build_int(&b, 0);
    float third = 1.0f / 3;
    uint32_t by = build_constant(&b, DT_F32, DIMS(1), &third);
    uint32_t sum = build_operand(&b, LIFE_OUTPUT, DT_F32, DIMS(2, 3));
    uint32_t turned = build_operand(&b, LIFE_TEMPORARY, DT_F32, DIMS(3, 2));
    uint32_t out = build_operand(&b, LIFE_OUTPUT, DT_F32, DIMS(3, 3));
    OPERATION(&b, "MUL", IDS(in, by, none), IDS(sum));
    OPERATION(&b, "TRANSPOSE", IDS(sum, build_constant(&b, DT_I32, DIMS(2), perm)), IDS(turned));
    OPERATION(&b, "PAD", IDS(turned, build_constant(&b, DT_I32, DIMS(2, 2), paddings)), IDS(out));
    struct tensor arg = { .dtype = DT_F32, .shape = DIMS(2, 3), .data = x };
    ck_assert_msg(plan_new(&b.model, &plan, &w) >= 0, "%s", w.text);
    ck_assert_msg(plan_run(plan, &arg, &options, &r, &w) == 0, "%s", w.text);
    for (int i = 0; i < 3; i++) {
        ck_assert_double_eq(r.bound[1][3 * i], 0); /* padding */
        for (int j = 0; j < 2; j++) {
            double was = r.bound[0][3 * j + i], is = r.bound[1][3 * i + 1 + j];
            /* The rounding error of the sum is part of the moved value's bound. */
            ck_assert_msg(is >= was && is <= 2 * was && was > 0, "[%d,%d]: %g, was %g", i, j, is,
                          was);
        }
    }
    result_done(&r);
    plan_free(plan);
    build_done(&b);
}
END_TEST

static void set_up(void)
{
    seed = 20240301;
}

Suite *ops_move_suite(void)
{
    TCase *t = tcase_create("results");

    tcase_add_checked_fixture(t, set_up, NULL);
    tcase_add_loop_test(t, move_case, 0, COUNT(moves));
    tcase_add_loop_test(t, invalid_case_is_rejected, 0, COUNT(refusals));
    tcase_add_test(t, boxes_are_copied_element_by_element);
    tcase_add_test(t, large_transpositions_are_right);
    tcase_add_test(t, fills_repeat_the_value);
    tcase_add_test(t, bounds_move_with_the_values);
    return make_suite("ops_move", t, NULL);
}
