/* Lookups by index and key, hashing, and resizing of images: their building blocks, and their
 * bounds where rounding or an uncertain index decides.  tests/oracle compares their values with
 * numpy. */
#include <check.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "golden/math/farmhash.h"
#include "tests/support/check_main.h"
#include "tests/support/one_op_run.h"

#define I(n)  "INT32: " #n
#define B(yn) "BOOL: " #yn

static const struct exec_options with_bounds = { .bounds = true };
static const float third = 1.0f / 3;

/* --- hashing */

/* Values of the authors' implementation, with a length for each of its cases. */
static const struct {
    size_t length;
    uint64_t print;
} prints[] = {
    { 0, 0x9ae16a3b2f90404f },   { 1, 0xbec09cc447469d8b },   { 3, 0x40b4412e33eefd64 },
    { 4, 0xf3c7ee05197a7b92 },   { 8, 0x0c97ecbc1e9d2626 },   { 16, 0x7eda0ed8c837a168 },
    { 17, 0xc9518fe63ebf6127 },  { 32, 0xa53f806f23a314e8 },  { 33, 0xc24f9d7ce864f0e9 },
    { 64, 0x0566266cb579eca2 },  { 65, 0x77e0867714e6b0e4 },  { 128, 0x666823960b3ac271 },
    { 129, 0x98206b8579bca083 }, { 300, 0xdfbced116079af13 },
};

START_TEST(fingerprints_are_those_of_farmhash)
{
    char text[300];

    for (int i = 0; i < COUNT(prints); i++) {
        for (size_t k = 0; k < prints[i].length; k++)
            text[k] = (char) (7 * k + 3);
        ck_assert_msg(farmhash64(text, prints[i].length) == prints[i].print, "%zu bytes",
                      prints[i].length);
    }
    for (size_t k = 0; k < 256; k++)
        text[k] = "test"[k % 4];
    ck_assert_uint_eq(farmhash64(text, 4), (uint64_t) 8581389452482819506);
    ck_assert_uint_eq(farmhash64(text, 32), (uint64_t) -4196240717365766262);
    ck_assert_uint_eq(farmhash64(text, 256), (uint64_t) 3500507768004279527);
}
END_TEST

/* --- resizing: plain implementations in single precision */

struct resizing {
    int h, w, to_h, to_w;
    bool corners, half;
};

static float scale_of(int in, int out, bool corners)
{
    return corners && out > 1 ? (float) (in - 1) / (float) (out - 1) : (float) in / (float) out;
}

static float by_scale(int in, int out, bool corners, int o, float shift)
{
    return ((float) o + shift) * scale_of(in, out, corners);
}

static float by_reciprocal(int in, int out, bool corners, int o, float shift)
{
    bool inner = corners && out > 1;
    float one = 1.0f / (float) (out - inner);

    return ((float) o + shift) * (one * (float) (in - inner));
}

static float by_quotient(int in, int out, bool corners, int o, float shift)
{
    bool inner = corners && out > 1;

    return ((float) o + shift) * (float) (in - inner) / (float) (out - inner);
}

typedef float position_fn(int in, int out, bool corners, int o, float shift);
static position_fn *const position_fns[] = { by_scale, by_reciprocal, by_quotient };

static int clamped(int i, int n)
{
    return i < 0 ? 0 : i < n ? i : n - 1;
}

static int nearest(position_fn *position, int in, int out, const struct resizing *z, int o)
{
    float at = position(in, out, z->corners, o, z->half ? 0.5f : 0);

    return clamped((int) (z->corners ? roundf(at) : floorf(at)), in);
}

static float nearest_pixel(position_fn *position, const struct resizing *z, const float *x, int i,
                           int j)
{
    return x[nearest(position, z->h, z->to_h, z, i) * z->w +
             nearest(position, z->w, z->to_w, z, j)];
}

/* As processors do that read and write subnormal numbers as 0. */
static float flushed(float x)
{
    return fabsf(x) < FLT_MIN ? 0 : x;
}

static float bilinear_pixel(position_fn *position, const struct resizing *z, const float *x, int i,
                            int j)
{
    float shift = z->half ? 0.5f : 0;
    float y = position(z->h, z->to_h, z->corners, i, shift) - shift;
    float v = position(z->w, z->to_w, z->corners, j, shift) - shift;
    int y0 = clamped((int) floorf(y), z->h), y1 = clamped((int) floorf(y) + 1, z->h);
    int v0 = clamped((int) floorf(v), z->w), v1 = clamped((int) floorf(v) + 1, z->w);
    float dy = y - floorf(y), dv = v - floorf(v);

    return flushed(flushed(x[y0 * z->w + v0] * (1 - dy)) * (1 - dv)) +
           flushed(flushed(x[y1 * z->w + v0] * dy) * (1 - dv)) +
           flushed(flushed(x[y0 * z->w + v1] * (1 - dy)) * dv) +
           flushed(flushed(x[y1 * z->w + v1] * dy) * dv);
}

typedef float resize_fn(position_fn *position, const struct resizing *z, const float *x, int i,
                        int j);

static uint64_t seed;

static uint32_t below(uint32_t n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t) (seed >> 33) % n;
}

enum { MOST = 40 };
static float pixels[MOST * MOST], unit = 1; /* of the pixels */

static struct resizing draw_resizing(void)
{
    uint32_t mode = below(3);
    struct resizing z = { 1 + (int) below(MOST),
                          1 + (int) below(MOST),
                          1 + (int) below(MOST),
                          1 + (int) below(MOST),
                          mode == 1,
                          mode == 2 };

    for (int i = 0; i < z.h * z.w; i++)
        pixels[i] = ((float) below(20001) / 100 - 100) * unit;
    return z;
}

static void resize(const char *op, const struct resizing *z, struct build *b,
                   struct plan **ret_plan, struct result *ret_result)
{
    struct why w = { 0 };
    uint8_t flag[] = { 0, z->corners, z->half };
    uint32_t in[6];

    build_init(b, 1);
    in[0] = build_operand(b, LIFE_INPUT, DT_F32, DIMS(1, (uint32_t) z->h, (uint32_t) z->w, 1));
    in[1] = build_int(b, z->to_w);
    in[2] = build_int(b, z->to_h);
    for (int i = 0; i < 3; i++)
        in[3 + i] = build_constant(b, DT_BOOL, (struct shape){ 0 }, &flag[i]);
    uint32_t out =
        build_operand(b, LIFE_OUTPUT, DT_F32, DIMS(1, (uint32_t) z->to_h, (uint32_t) z->to_w, 1));
    build_operation(b, op, in, 6, &out, 1);
    struct tensor image = b->graph->operand[in[0]].tensor;
    image.data = pixels;
    ck_assert_msg(plan_new(&b->model, ret_plan, &w) >= 0, "%s", w.text);
    ck_assert_msg(plan_run(*ret_plan, &image, &with_bounds, ret_result, &w) == 0, "%s", w.text);
}

/* The number of results of an implementation that lie outside the bounds with any of the three ways
 * to compute positions; by: factor of each result; ret_loose: the number of bounds above 0.01. */
static int count_outside(const char *op, resize_fn *f, float by, int *ret_loose)
{
    int outside = 0, loose = 0;

    for (int round = 0; round < 300; round++) {
        struct resizing z = draw_resizing();
        struct build b;
        struct plan *plan;
        struct result r;
        resize(op, &z, &b, &plan, &r);
        for (int at = 0; at < z.to_h * z.to_w; at++) {
            double real = r.real[0] ? r.real[0][at] : tensor_at(&r.out[0], (size_t) at);
            double bound = r.bound[0] ? r.bound[0][at] : 0;
            bool out = false;
            for (int k = 0; k < COUNT(position_fns); k++)
                out |= !(
                    fabs((double) (f(position_fns[k], &z, pixels, at / z.to_w, at % z.to_w) * by) -
                         real) <= bound);
            outside += out;
            loose += bound > 0.01;
        }
        result_done(&r);
        plan_free(plan);
        build_done(&b);
    }
    *ret_loose = loose;
    return outside;
}

START_TEST(resized_images_lie_within_the_bounds)
{
    int loose;

    ck_assert_int_eq(count_outside("RESIZE_BILINEAR", bilinear_pixel, 1, &loose), 0);
    ck_assert_int_eq(loose, 0);
    ck_assert_int_gt(count_outside("RESIZE_BILINEAR", bilinear_pixel, 1.001f, &loose), 100000);
}
END_TEST

START_TEST(products_below_the_normal_numbers_may_be_lost)
{
    int loose;

    unit = 0x1p-130f;
    int outside = count_outside("RESIZE_BILINEAR", bilinear_pixel, 1, &loose);
    unit = 1;
    ck_assert_int_eq(outside, 0);
}
END_TEST

/* Either neighbour is accepted where the position depends on rounding, which is rare. */
START_TEST(nearest_pixels_lie_within_the_bounds)
{
    int loose;

    ck_assert_int_eq(count_outside("RESIZE_NEAREST_NEIGHBOR", nearest_pixel, 1, &loose), 0);
    ck_assert_int_gt(loose, 0);
    ck_assert_int_lt(loose, 30000);
    ck_assert_int_gt(count_outside("RESIZE_NEAREST_NEIGHBOR", nearest_pixel, 1.001f, &loose),
                     80000);
}
END_TEST

/* Resizing 3 pixels to 9: the positions of outputs 3 and 6 lie on borders between pixels, which
 * single precision may miss. */
START_TEST(positions_on_borders_are_uncertain)
{
    struct one_op_run r;
    struct why w = { 0 };
    struct one_op c = { "thirds",
                        "RESIZE_NEAREST_NEIGHBOR",
                        3,
                        { "F32[1,1,3,1]: 1 2 4", I(9), I(1), B(0) },
                        "F32[1,1,9,1]: 1 1 1 2 2 2 4 4 4" };
    static const double bound[] = { 0, 0, 0, 1, 0, 0, 2, 0, 0 };

    one_op_check(&c);
    ck_assert_msg(one_op_start(&r, &c, &with_bounds, &w) == 0, "%s", w.text);
    for (int i = 0; i < 9; i++)
        ck_assert_double_eq(r.result.bound[0][i], bound[i]);
    one_op_done(&r);
}
END_TEST

static const struct one_op resizes[] = {
    { "nearest: twice the size is certain",
      "RESIZE_NEAREST_NEIGHBOR",
      3,
      { "F32[1,2,2,1]: 1 2 3 4", I(4), I(2), B(0) },
      "F32[1,2,4,1]: 1 1 2 2 3 3 4 4" },
    { "nearest: halves round up",
      "RESIZE_NEAREST_NEIGHBOR",
      4,
      { "U8[1,1,2,1]*1@0: 10 20", I(3), I(1), B(0), B(1) },
      "U8[1,1,3,1]*1@0: 10 20 20" },
    { "nearest: more columns than one block holds",
      "RESIZE_NEAREST_NEIGHBOR",
      4,
      { "S8[1,1,1,2]*1@0: 3 -4", "INT32: 2", I(1), B(0), B(0), B(1) },
      "S8[1,1,2,2]*1@0: 3 -4 3 -4" },
    { "nearest: a scale just below a whole number of pixels",
      "RESIZE_NEAREST_NEIGHBOR",
      3,
      { "F32[1,1,10,1]: 0 1 2 3 4 5 6 7 8 9", "FLOAT32: 0.7", "FLOAT32: 1", B(0) },
      "F32[1,1,7,1]: 0 1 2 4 5 7 8" },
    { "bilinear: outside the centres of the border pixels",
      "RESIZE_BILINEAR",
      4,
      { "F32[1,1,2,1]: 1 3", I(4), I(1), B(0), B(0), B(1) },
      "F32[1,1,4,1]: 1 1.5 2.5 3" },
    { "bilinear: ties go away from zero",
      "RESIZE_BILINEAR",
      4,
      { "S8[1,1,2,1]*1@0: -1 0", I(4), I(1), B(0) },
      "S8[1,1,4,1]*1@0: -1 -1 0 0" },
    { "bilinear: infinite pixels",
      "RESIZE_BILINEAR",
      1,
      { "F32[1,1,2,1]: inf 1", I(1), I(1) },
      "F32[1,1,1,1]: inf" },
};

START_TEST(resize_case)
{
    one_op_check(&resizes[_i]);
}
END_TEST

/* --- uncertain indexes */

/* The bound of y = table[cast(x / 3)]. */
static double bound_of_row(float x)
{
    static float table[] = { 1, 2, 4, 8 };
    struct build b;
    struct plan *plan;
    struct result r;
    struct why w = { 0 };

    build_init(&b, 1);
    uint32_t in = build_operand(&b, LIFE_INPUT, DT_F32, DIMS(1));
    uint32_t real = build_operand(&b, LIFE_TEMPORARY, DT_F32, DIMS(1));
    uint32_t index = build_operand(&b, LIFE_TEMPORARY, DT_I32, DIMS(1));
    uint32_t out = build_operand(&b, LIFE_OUTPUT, DT_F32, DIMS(1));
    OPERATION(&b, "MUL", IDS(in, build_constant(&b, DT_F32, DIMS(1), &third), build_int(&b, 0)),
              IDS(real));
    OPERATION(&b, "CAST", IDS(real), IDS(index));
    OPERATION(&b, "GATHER",
              IDS(build_constant(&b, DT_F32, DIMS(4), table), build_int(&b, 0), index), IDS(out));
    struct tensor arg = { .dtype = DT_F32, .shape = DIMS(1), .data = &x };
    ck_assert_msg(plan_new(&b.model, &plan, &w) >= 0, "%s", w.text);
    ck_assert_msg(plan_run(plan, &arg, &with_bounds, &r, &w) == 0, "%s", w.text);
    double bound = r.bound[0] ? r.bound[0][0] : 0;
    result_done(&r);
    plan_free(plan);
    build_done(&b);
    return bound;
}

START_TEST(rows_of_uncertain_indexes_have_infinite_bounds)
{
    ck_assert_double_eq(bound_of_row(4), 0);
    ck_assert(isinf(bound_of_row(6)));
}
END_TEST

/* A lookup may find any of several equal keys. */
START_TEST(equal_keys_may_give_any_of_their_rows)
{
    struct one_op c = { "equal keys",
                        "HASHTABLE_LOOKUP",
                        1,
                        { "I32[2]: 7 9", "I32[3]: 7 7 9", "F32[3,1]: 1 5 3" },
                        "F32[2,1]: 1 3; U8[2]*1@0: 1 1" };
    struct one_op_run r;
    struct why w = { 0 };

    one_op_check(&c);
    ck_assert_msg(one_op_start(&r, &c, &with_bounds, &w) == 0, "%s", w.text);
    ck_assert_double_eq(r.result.bound[0][0], 4);
    ck_assert_double_eq(r.result.bound[0][1], 0);
    one_op_done(&r);
}
END_TEST

/* The bits of a hash are uncertain if the hashed items or the seeds are. */
START_TEST(hashes_of_uncertain_items_are_uncertain)
{
    struct build b;
    struct plan *plan;
    struct result r;
    struct why w = { 0 };
    float x[] = { 1, 2 };
    static float seeds[] = { 0.5f, 1.5f, 2.5f };

    build_init(&b, 1);
    uint32_t in = build_operand(&b, LIFE_INPUT, DT_F32, DIMS(2));
    uint32_t item = build_operand(&b, LIFE_TEMPORARY, DT_F32, DIMS(2));
    uint32_t sure = build_operand(&b, LIFE_OUTPUT, DT_I32, DIMS(1));
    uint32_t hash = build_operand(&b, LIFE_OUTPUT, DT_I32, DIMS(1));
    uint32_t none = build_operand(&b, LIFE_NO_VALUE, DT_F32, DIMS(2));
    uint32_t seed_list = build_constant(&b, DT_F32, DIMS(1, 3), seeds);
    OPERATION(&b, "MUL", IDS(in, build_constant(&b, DT_F32, DIMS(1), &third), build_int(&b, 0)),
              IDS(item));
    OPERATION(&b, "LSH_PROJECTION", IDS(seed_list, in, none, build_int(&b, 3)), IDS(sure));
    OPERATION(&b, "LSH_PROJECTION", IDS(seed_list, item, none, build_int(&b, 3)), IDS(hash));
    struct tensor arg = { .dtype = DT_F32, .shape = DIMS(2), .data = x };
    ck_assert_msg(plan_new(&b.model, &plan, &w) >= 0, "%s", w.text);
    ck_assert_msg(plan_run(plan, &arg, &with_bounds, &r, &w) == 0, "%s", w.text);
    ck_assert_double_eq(r.bound[0][0], 0);
    ck_assert_double_eq(r.bound[1][0], 7);
    result_done(&r);
    plan_free(plan);
    build_done(&b);
}
END_TEST

static const struct {
    struct one_op c;
    const char *text;
} refusals[] = {
    { { "index out of range",
        "GATHER",
        0,
        { "F32[2]: 1 2", I(0), "I32[3]: 0 1 2" },
        "F32[3]: 0 0 0" },
      "element 2 of indices is 2, must be from 0 to below 2" },
    { { "row out of range",
        "EMBEDDING_LOOKUP",
        0,
        { "I32[1]: -1", "F32[2,1]: 1 2" },
        "F32[1,1]: 0" },
      "element 0 of lookups is -1, must be from 0 to below 2" },
    { { "which key",
        "HASHTABLE_LOOKUP",
        0,
        { "I32[1]: 1", "I32[3]: 1 3 2", "F32[3,1]: 1 2 3" },
        "F32[1,1]: 0; U8[1]*1@0: 0" },
      "keys[2] = 2 follows 3" },
    { { "which sparse index",
        "DENSIFY",
        0,
        { "F32[2]: 1 2", "I32[1]: 0", "none I32[1]:", "I32[1]: 1", "I32[1]: 3", "I32[2]: 0 2",
          "I32[2]: 0 3" },
        "F32[3]: 0 0 0" },
      "array_indices[1] = 3: must be below 3" },
    { { "what is not stored",
        "DENSIFY",
        0,
        { "F32[2]: 1 2", "I32[1]: 0", "none I32[1]:", "I32[1]: 0", "I32[1]: 3",
          "none I32[1]:", "none I32[1]:" },
        "F32[3]: 0 0 0" },
      "3 values are traversed, but only 2 are stored" },
};

START_TEST(invalid_case_is_rejected)
{
    one_op_check_rejected(&refusals[_i].c, WHY_EXECUTION, refusals[_i].text);
}
END_TEST

static void set_up(void)
{
    seed = 20240301;
}

Suite *ops_lookup_suite(void)
{
    TCase *t = tcase_create("results");

    tcase_add_checked_fixture(t, set_up, NULL);
    tcase_set_timeout(t, 60);
    tcase_add_test(t, fingerprints_are_those_of_farmhash);
    tcase_add_test(t, resized_images_lie_within_the_bounds);
    tcase_add_test(t, products_below_the_normal_numbers_may_be_lost);
    tcase_add_test(t, nearest_pixels_lie_within_the_bounds);
    tcase_add_test(t, positions_on_borders_are_uncertain);
    tcase_add_loop_test(t, resize_case, 0, COUNT(resizes));
    tcase_add_test(t, rows_of_uncertain_indexes_have_infinite_bounds);
    tcase_add_test(t, equal_keys_may_give_any_of_their_rows);
    tcase_add_test(t, hashes_of_uncertain_items_are_uncertain);
    tcase_add_loop_test(t, invalid_case_is_rejected, 0, COUNT(refusals));
    return make_suite("ops_lookup", t, NULL);
}
