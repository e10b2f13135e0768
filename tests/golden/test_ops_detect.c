/* Detection operations: which selections depend on rounding and are undecided, which later results
 * that affects, and that the results of a plain implementation in single precision are accepted. */
#include <check.h>
#include <math.h>
#include <string.h>

#include "tests/support/check_main.h"
#include "tests/support/one_op_run.h"

static const struct exec_options bounds = { .bounds = true };
static struct why why;

#define NO_SHAPES "F32[0]:; F32[0,4]:; I32[0]:; I32[0]:"

/* Runs BOX_WITH_NMS_LIMIT on two boxes of one class, with bounds.  End with one_op_done(). */
static void select_two(struct one_op_run *r, const char *scores, const char *roi,
                       const char *kernel, const char *limit, const char *out)
{
    const struct one_op c = { .name = "two boxes",
                              .op = "BOX_WITH_NMS_LIMIT",
                              .in = { scores, roi, "I32[2]: 0 0", "FLOAT32: 0.25", limit, kernel,
                                      "FLOAT32: 0.5", "FLOAT32: 0.5", "FLOAT32: 0.1" },
                              .out = out };

    ck_assert_msg(one_op_start(r, &c, &bounds, &why) == 0, "%s", why.text);
}

/* Two boxes of class 1: disjoint; with an overlap (intersection over union) of 0.5; equal. */
#define DISJOINT     "F32[2,8]: 0 0 0 0 0 0 3 1  0 0 0 0 5 5 8 6"
#define HALF_OVERLAP "F32[2,8]: 0 0 0 0 0 0 3 1  0 0 0 0 1 0 4 1"
#define EQUAL        "F32[2,8]: 0 0 0 0 0 0 3 1  0 0 0 0 0 0 3 1"

START_TEST(selections_that_depend_on_rounding_are_undecided)
{
    static const struct {
        const char *scores, *roi, *kernel, *limit;
        bool open;
        size_t n;
    } rows[] = {
        { "F32[2,2]: 0 0.9 0 0.8", DISJOINT, "INT32: 0", "INT32: -1", false, 2 },
        { "F32[2,2]: 0 0.9 0 0.8", EQUAL, "INT32: 0", "INT32: -1", false, 1 },
        { "F32[2,2]: 0 0.9 0 0.8", HALF_OVERLAP, "INT32: 0", "INT32: -1", true, 1 },
        { "F32[2,2]: 0 0.9 0 0.8", HALF_OVERLAP, "INT32: 1", "INT32: -1", true, 2 },
        { "F32[2,2]: 0 0.9 0 0.8", HALF_OVERLAP, "INT32: 2", "INT32: -1", false, 2 },
        { "F32[2,2]: 0 0.9 0 0.25", DISJOINT, "INT32: 0", "INT32: -1", true,
          1 }, /* score at the threshold */
        { "F32[2,2]: 0 0.8 0 0.8", DISJOINT, "INT32: 0", "INT32: -1", false,
          2 }, /* order undecided */
        { "F32[2,2]: 0 0.8 0 0.8", DISJOINT, "INT32: 0", "INT32: 1", true,
          1 }, /* selection undecided */
        { "F32[2,2]: 0 0.8 0 0.8", EQUAL, "INT32: 0", "INT32: -1", true, 1 },
        { "F32[2,2]: 0 0.8 0 0.8", HALF_OVERLAP, "INT32: 2", "INT32: -1", true, 2 },
        { "F32[2,2]: 0 0.1 0 0.1", DISJOINT, "INT32: 0", "INT32: -1", false, 0 },
    };
    struct one_op_run r;

    for (int i = 0; i < COUNT(rows); i++) {
        select_two(&r, rows[i].scores, rows[i].roi, rows[i].kernel, rows[i].limit, NO_SHAPES);
        ck_assert_msg(r.result.open[0] == rows[i].open, "row %d: open %d", i, r.result.open[0]);
        ck_assert_msg(tensor_count(&r.result.out[0]) == rows[i].n, "row %d: %zu boxes", i,
                      tensor_count(&r.result.out[0]));
        for (uint32_t k = 0; k < r.result.n; k++)
            for (size_t j = 0; j < tensor_count(&r.result.out[k]); j++)
                ck_assert_msg(isinf(r.result.bound[k][j]) == rows[i].open, "row %d", i);
        one_op_done(&r);
    }
}
END_TEST

START_TEST(boxes_of_equal_scores_may_be_exchanged)
{
    struct one_op_run r;

    select_two(&r, "F32[2,2]: 0 0.8 0 0.8", DISJOINT, "INT32: 0", "INT32: -1", NO_SHAPES);
    const float *roi = r.result.out[1].data;
    ck_assert_float_eq(roi[0], 0);
    ck_assert_float_eq(roi[4], 5);
    ck_assert_double_eq_tol(r.result.bound[1][0], 5, 1e-9);
    ck_assert_double_eq_tol(r.result.bound[1][4], 5, 1e-9);
    ck_assert_double_lt(r.result.bound[0][0], 1e-9);
    one_op_done(&r);
}
END_TEST

START_TEST(declared_shapes_are_checked)
{
    struct one_op_run r;
    const struct one_op c = { .op = "BOX_WITH_NMS_LIMIT",
                              .in = { "F32[2,2]: 0 0.9 0 0.8", DISJOINT, "I32[2]: 0 0",
                                      "FLOAT32: 0.25", "INT32: -1", "INT32: 0", "FLOAT32: 0.5",
                                      "FLOAT32: 0.5", "FLOAT32: 0.1" },
                              .out = "F32[3]: 0 0 0; F32[0,4]:; I32[0]:; I32[0]:" };

    ck_assert_int_eq(one_op_start(&r, &c, &bounds, &why), -1);
    ck_assert_int_eq(why.code, WHY_EXECUTION);
    ck_assert_msg(strstr(why.text, "declared [3], but its shape is [2]"), "%s", why.text);
    one_op_done(&r);
    /* A declared shape is certain even if the values are undecided. */
    select_two(&r, "F32[2,2]: 0 0.9 0 0.8", HALF_OVERLAP, "INT32: 0", "INT32: -1",
               "F32[1]: 0; F32[0,4]:; I32[0]:; I32[0]:");
    ck_assert(!r.result.open[0]);
    ck_assert(r.result.open[1]);
    ck_assert(isinf(r.result.bound[0][0]));
    one_op_done(&r);
}
END_TEST

/* scores -> BOX_WITH_NMS_LIMIT -> RELU, and RANK of its boxes. */
static void run_chain(const float *scores, bool ret_open[2], double *ret_bound, uint32_t *ret_n)
{
    static const float roi[] = { 0, 0, 0, 0, 0, 0, 3, 1, 0, 0, 0, 0, 1, 0, 4, 1 };
    static const int32_t batches[2];
    static const float threshold = 0.25f, half = 0.5f, least = 0.1f;
    struct build b;
    struct plan *plan;
    struct result r;

    build_init(&b, 1);
    uint32_t in = build_operand(&b, LIFE_INPUT, DT_F32, DIMS(2, 2));
    uint32_t c[] = { in,
                     build_constant(&b, DT_F32, DIMS(2, 8), roi),
                     build_constant(&b, DT_I32, DIMS(2), batches),
                     build_constant(&b, DT_FLOAT32, (struct shape){ 0 }, &threshold),
                     build_int(&b, -1),
                     build_int(&b, 0),
                     build_constant(&b, DT_FLOAT32, (struct shape){ 0 }, &half),
                     build_constant(&b, DT_FLOAT32, (struct shape){ 0 }, &half),
                     build_constant(&b, DT_FLOAT32, (struct shape){ 0 }, &least) };
    uint32_t found = build_operand(&b, LIFE_TEMPORARY, DT_F32, DIMS(0));
    uint32_t boxes = build_operand(&b, LIFE_TEMPORARY, DT_F32, DIMS(0, 4));
    uint32_t classes = build_operand(&b, LIFE_TEMPORARY, DT_I32, DIMS(0));
    uint32_t images = build_operand(&b, LIFE_TEMPORARY, DT_I32, DIMS(0));
    uint32_t out = build_operand(&b, LIFE_OUTPUT, DT_F32, DIMS(0));
    uint32_t rank = build_operand(&b, LIFE_OUTPUT, DT_INT32, (struct shape){ 0 });
    OPERATION(&b, "RELU", IDS(found), IDS(out));
    OPERATION(&b, "BOX_WITH_NMS_LIMIT", IDS(c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7], c[8]),
              IDS(found, boxes, classes, images));
    OPERATION(&b, "RANK", IDS(boxes), IDS(rank));
    struct tensor arg = { DT_F32, { 2, { 2, 2 } }, .data = (void *) scores };
    ck_assert_msg(plan_new(&b.model, &plan, &why) == 0, "%s", why.text);
    ck_assert_msg(plan_run(plan, &arg, &bounds, &r, &why) == 0, "%s", why.text);
    ret_open[0] = r.open[0];
    ret_open[1] = r.open[1];
    *ret_n = r.out[0].shape.dim[0];
    *ret_bound = *ret_n ? r.bound[0][0] : 0;
    result_done(&r);
    plan_free(plan);
    build_done(&b);
}

START_TEST(consumers_of_undecided_results_are_undecided)
{
    static const float clear[] = { 0, 0.9f, 0, 0.2f }, none[] = { 0, 0.1f, 0, 0.2f };
    static const float both[] = { 0, 0.9f, 0, 0.8f };
    bool open[2];
    double bound;
    uint32_t n;

    run_chain(clear, open, &bound, &n);
    ck_assert(!open[0] && !open[1] && n == 1 && bound < 1e-6);
    run_chain(none, open, &bound, &n);
    ck_assert(!open[0] && n == 0);
    run_chain(both, open, &bound, &n);
    ck_assert(open[0] && isinf(bound));
    ck_assert(!open[1]); /* the shape of a scalar is certain */
}
END_TEST

START_TEST(each_image_is_decided_separately)
{
    /* Two anchors at the same place, which in image 0 have the same score. */
    const struct one_op c = {
        .op = "DETECTION_POSTPROCESSING",
        .in = { "F32[2,2,2]: 0 0.8 0 0.8  0 0.9 0 0.8",
                "F32[2,2,4]: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0", "F32[2,4]: 1 1 2 2  1 1 2 2.5",
                "FLOAT32: 1", "FLOAT32: 1", "FLOAT32: 1", "FLOAT32: 1", "BOOL: 1", "INT32: 2",
                "INT32: 1", "INT32: 2", "FLOAT32: 0.25", "FLOAT32: 0.5", "BOOL: 0" },
        .out = "F32[2,2]: 0.8 0 0.9 0; F32[2,2,4]: 0 0 2 2 0 0 0 0 0 0 2 2 0 0 0 0;"
               "I32[2,2]: 0 0 0 0; I32[2]: 1 1"
    };
    struct one_op_run r;

    one_op_check(&c);
    ck_assert_int_eq(one_op_start(&r, &c, &bounds, &why), 0);
    ck_assert(isinf(r.result.bound[0][0]) && isinf(r.result.bound[3][0]));
    ck_assert(r.result.bound[0][2] < 1e-6 && r.result.bound[1][8] < 1e-5);
    ck_assert(r.result.bound[3][1] == 0 && !r.result.open[0]);
    one_op_done(&r);
}
END_TEST

/* A box of width 0 that grows by exp(1000) has NaN corners, which have infinite bounds. */
START_TEST(nan_corners_have_infinite_bounds)
{
    const struct one_op c = { .op = "AXIS_ALIGNED_BBOX_TRANSFORM",
                              .in = { "F32[1,4]: 1 0 1 5", "F32[1,4]: 0 0 1000 0", "I32[1]: 0",
                                      "F32[1,2]: 9 9" },
                              .out = "F32[1,4]: nan 0 nan 5" };
    struct one_op_run r;

    one_op_check(&c);
    ck_assert_int_eq(one_op_start(&r, &c, &bounds, &why), 0);
    ck_assert(isinf(r.result.bound[0][0]) && isinf(r.result.bound[0][2]));
    ck_assert(r.result.bound[0][1] < 1e-5 && r.result.bound[0][3] < 1e-5);
    one_op_done(&r);
}
END_TEST

/* ---- single precision */

enum { BOXES = 12 };

static float overlap(const float *a, const float *b)
{
    float w = fminf(a[2], b[2]) - fmaxf(a[0], b[0]), h = fminf(a[3], b[3]) - fmaxf(a[1], b[1]);
    float common = fmaxf(w, 0) * fmaxf(h, 0);

    return common / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - common);
}

/* NMS with the gaussian kernel, sigma 0.5 and a score threshold of 0.1; returns the number of
 * boxes. */
static uint32_t soft_nms(const float *score, const float *roi, float *scores, float *boxes)
{
    float s[BOXES];
    uint32_t n = 0;

    for (int i = 0; i < BOXES; i++)
        s[i] = score[2 * i + 1] > 0.25f ? score[2 * i + 1] : -1;
    for (;;) {
        int best = 0;
        for (int i = 1; i < BOXES; i++)
            best = s[i] > s[best] ? i : best;
        if (s[best] < 0)
            return n;
        scores[n] = s[best];
        memcpy(boxes + 4 * n++, roi + 8 * best + 4, 4 * sizeof *boxes);
        s[best] = -1;
        for (int i = 0; i < BOXES; i++) {
            float o = overlap(roi + 8 * i + 4, roi + 8 * best + 4);
            s[i] *= s[i] < 0 ? 1 : expf(-o * o / 0.5f);
            if (s[i] < 0.1f)
                s[i] = -1;
        }
    }
}

static float uniform(uint32_t *state, float most)
{
    *state = *state * 1664525u + 1013904223u;
    return (float) (*state >> 8) * 0x1p-24f * most;
}

static const char *zeros(const char *type, int n, char *text)
{
    strcpy(text, type);
    while (n-- > 0)
        strcat(text, " 0");
    return text;
}

START_TEST(single_precision_is_within_the_bounds)
{
    static const char *const scalars[] = { "FLOAT32: 0.25", "INT32: -1",    "INT32: 2",
                                           "FLOAT32: 0.5",  "FLOAT32: 0.5", "FLOAT32: 0.1" };
    struct one_op c = { .op = "BOX_WITH_NMS_LIMIT", .in = { NULL }, .out = NO_SHAPES };
    char in[3][32 + 2 * 8 * BOXES + 1];
    uint32_t state = 1, decided = 0;
    enum { CASES = 300 };

    c.in[0] = zeros("F32[12,2]:", 2 * BOXES, in[0]);
    c.in[1] = zeros("F32[12,8]:", 8 * BOXES, in[1]);
    c.in[2] = zeros("I32[12]:", BOXES, in[2]);
    memcpy(c.in + 3, scalars, sizeof scalars);
    for (int i = 0; i < CASES; i++) {
        struct one_op_run r;
        float scores[BOXES], boxes[4 * BOXES];
        ck_assert_int_eq(one_op_start(&r, &c, &bounds, &why), 0);
        result_done(&r.result);
        float *score = r.arg[0].data, *roi = r.arg[1].data;
        for (int k = 0; k < 2 * BOXES; k++)
            score[k] = uniform(&state, 1);
        for (int k = 0; k < 8 * BOXES; k++)
            roi[k] = k % 4 < 2 ? uniform(&state, 10) : roi[k - 2] + uniform(&state, 20);
        ck_assert_msg(plan_run(r.plan, r.arg, &bounds, &r.result, &why) == 0, "%s", why.text);
        if (!r.result.open[0]) {
            uint32_t n = soft_nms(score, roi, scores, boxes);
            struct tensor s = { DT_F32, { 1, { n } }, .data = scores };
            struct tensor b = { DT_F32, { 2, { n, 4 } }, .data = boxes };
            const struct result *g = &r.result;
            struct judgement j = judge_result(g, 0, &s);
            ck_assert_msg(j.ok, "case %d: %s", i, j.why);
            j = judge_result(g, 1, &b);
            ck_assert_msg(j.ok, "case %d: %s", i, j.why);
            scores[n / 2] *= 1.0001f;
            j = judge_result(g, 0, &s);
            ck_assert_msg(!j.ok, "case %d: a score wrong by 1e-4 is accepted", i);
            decided++;
        }
        one_op_done(&r);
    }
    ck_assert_uint_gt(decided, CASES * 9 / 10);
}
END_TEST

Suite *ops_detect_suite(void)
{
    TCase *t = tcase_create("ops_detect");

    tcase_add_test(t, selections_that_depend_on_rounding_are_undecided);
    tcase_add_test(t, boxes_of_equal_scores_may_be_exchanged);
    tcase_add_test(t, declared_shapes_are_checked);
    tcase_add_test(t, consumers_of_undecided_results_are_undecided);
    tcase_add_test(t, each_image_is_decided_separately);
    tcase_add_test(t, nan_corners_have_infinite_bounds);
    tcase_add_test(t, single_precision_is_within_the_bounds);
    return make_suite("ops_detect", t, NULL);
}
