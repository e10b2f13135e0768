/* The executor: order of operations, unknown shapes, arguments, propagation of bounds, limits. */
#include <check.h>
#include <math.h>
#include <string.h>

#include "golden/model/build.h"
#include "tests/support/check_main.h"

static struct build b;
static struct why w;

static void set_up(void)
{
    w = (struct why){ 0 };
    build_init(&b, 1);
}

static void tear_down(void)
{
    build_done(&b);
}

static struct tensor argument(enum dtype dtype, struct shape shape, float scale, int32_t zero,
                              const void *data)
{
    return (struct tensor){ dtype, shape, scale, zero, .data = (void *) data };
}

static int run(const struct tensor *in, const struct exec_options *options, struct result *ret)
{
    struct plan *plan;

    if (plan_new(&b.model, &plan, &w) < 0)
        return -1;
    int rc = plan_run(plan, in, options, ret, &w);
    plan_free(plan);
    return rc;
}

/* z = (x + y) * y in f32, operations declared backwards, temporary of unknown rank */
static void sum_times(void)
{
    uint32_t x = build_operand(&b, LIFE_INPUT, DT_F32, DIMS(0, 2));
    uint32_t y = build_operand(&b, LIFE_INPUT, DT_F32, DIMS(2));
    uint32_t act = build_int(&b, 0);
    uint32_t t = build_operand(&b, LIFE_TEMPORARY, DT_F32, (struct shape){ 0 });
    uint32_t z = build_operand(&b, LIFE_OUTPUT, DT_F32, DIMS(0, 0));

    OPERATION(&b, "MUL", IDS(t, y, act), IDS(z));
    OPERATION(&b, "ADD", IDS(x, y, act), IDS(t));
}

static const float xs[] = { 1, 2, 3, 4, 5, 6 }, ys[] = { 10, 0.5f };

START_TEST(runs_in_dataflow_order_with_shapes_of_the_arguments)
{
    struct tensor in[] = { argument(DT_F32, DIMS(3, 2), 0, 0, xs),
                           argument(DT_F32, DIMS(2), 0, 0, ys) };
    const float want[] = { 110, 1.25f, 130, 2.25f, 150, 3.25f };
    struct result r;

    sum_times();
    ck_assert_msg(run(in, NULL, &r) == 0, "%s", w.text);
    ck_assert_uint_eq(r.n, 1);
    ck_assert_uint_eq(r.out[0].shape.rank, 2);
    ck_assert_uint_eq(r.out[0].shape.dim[0], 3);
    ck_assert_mem_eq(r.out[0].data, want, sizeof want);
    result_done(&r);
}
END_TEST

START_TEST(zero_sized_arguments_give_zero_sized_results)
{
    struct tensor in[] = { argument(DT_F32, DIMS(0, 2), 0, 0, xs),
                           argument(DT_F32, DIMS(2), 0, 0, ys) };
    struct result r;

    sum_times();
    ck_assert_msg(run(in, NULL, &r) == 0, "%s", w.text);
    ck_assert_uint_eq(tensor_count(&r.out[0]), 0);
    result_done(&r);
}
END_TEST

START_TEST(arguments_must_fit_the_declaration)
{
    struct tensor in[] = { argument(DT_F32, DIMS(3, 3), 0, 0, xs),
                           argument(DT_F32, DIMS(2), 0, 0, ys) };
    struct result r;

    sum_times();
    ck_assert_int_lt(run(in, NULL, &r), 0);
    ck_assert_ptr_nonnull(strstr(w.text, "input 0 has shape [3,3], declared [0,2]"));
    in[0] = argument(DT_F16, DIMS(3, 2), 0, 0, xs);
    ck_assert_int_lt(run(in, NULL, &r), 0);
    ck_assert_ptr_nonnull(strstr(w.text, "TENSOR_FLOAT16"));
}
END_TEST

/* A result of single precision is accepted, one wrong by a thousandth rejected. */
START_TEST(bounds_hold_for_single_precision)
{
    struct tensor in[] = { argument(DT_F32, DIMS(3, 2), 0, 0, xs),
                           argument(DT_F32, DIMS(2), 0, 0, ys) };
    struct exec_options options = { .bounds = true };
    float actual[6];
    struct result r;

    sum_times();
    for (int i = 0; i < 6; i++) {
        float sum = xs[i] + ys[i % 2];
        actual[i] = sum * ys[i % 2];
    }
    ck_assert_int_eq(run(in, &options, &r), 0);
    struct tensor a = r.out[0];
    a.data = actual;
    ck_assert(judge_result(&r, 0, &a).ok);
    actual[4] *= 1.001f;
    struct judgement j = judge_result(&r, 0, &a);
    ck_assert(!j.ok);
    ck_assert_uint_eq(j.worst, 4);
    result_done(&r);
}
END_TEST

/* A relaxed model may compute in half precision, with relative errors of 2^-11; 1 % is rejected. */
START_TEST(bounds_hold_for_relaxed_halves)
{
    float x[] = { 1.2345f, 2.7182f }, y[] = { 3.1415f, 0.7071f };
    struct tensor in[] = { argument(DT_F32, DIMS(1, 2), 0, 0, x),
                           argument(DT_F32, DIMS(2), 0, 0, y) };
    struct exec_options options = { .bounds = true };
    float actual[2];
    struct result r;

    sum_times();
    b.model.relaxed = true;
    for (int i = 0; i < 2; i++) {
        double hx = f16_to_double(f16_from_double((double) x[i]));
        double hy = f16_to_double(f16_from_double((double) y[i]));
        double sum = f16_to_double(f16_from_double(hx + hy));
        actual[i] = (float) f16_to_double(f16_from_double(sum * hy));
    }
    ck_assert_int_eq(run(in, &options, &r), 0);
    struct tensor a = r.out[0];
    a.data = actual;
    ck_assert(judge_result(&r, 0, &a).ok);
    actual[0] *= 1.01f;
    ck_assert(!judge_result(&r, 0, &a).ok);
    result_done(&r);
}
END_TEST

/* RELU after a quantised ADD.  A real sum that is a multiple of the scale allows no other step; one
 * at a tie allows both neighbours, and RELU propagates that. */
START_TEST(quantised_ties_are_propagated_in_steps)
{
    const uint8_t x[] = { 130, 131 }, y[] = { 4, 4 };
    struct tensor in[] = { argument(DT_U8, DIMS(2), 0.5f, 128, x),
                           argument(DT_U8, DIMS(2), 1, 0, y) };
    struct exec_options options = { .bounds = true };
    struct result r;
    uint32_t a = build_quant(&b, LIFE_INPUT, DT_U8, DIMS(2), 0.5f, 128);
    uint32_t c = build_quant(&b, LIFE_INPUT, DT_U8, DIMS(2), 1, 0);
    uint32_t act = build_int(&b, 0);
    uint32_t t = build_quant(&b, LIFE_TEMPORARY, DT_U8, DIMS(2), 1, 10);
    uint32_t z = build_quant(&b, LIFE_OUTPUT, DT_U8, DIMS(2), 1, 10);

    OPERATION(&b, "ADD", IDS(a, c, act), IDS(t));
    OPERATION(&b, "RELU", IDS(t), IDS(z));
    ck_assert_msg(run(in, &options, &r) == 0, "%s", w.text);
    /* sums 5 and 5.5: stored 15, and 16 (ties go away from zero) or 15 */
    const uint8_t *q = r.out[0].data;
    ck_assert_uint_eq(q[0], 15);
    ck_assert_uint_eq(q[1], 16);
    ck_assert_double_lt(r.bound[0][0], 0.9);
    uint8_t actual[] = { 15, 15 };
    struct tensor other = r.out[0];
    other.data = actual;
    ck_assert(judge_result(&r, 0, &other).ok);
    actual[0] = 16;
    ck_assert(!judge_result(&r, 0, &other).ok);
    result_done(&r);
}
END_TEST

/* Real sums of 300 and more: with any error that ADD may make the result saturates to 255. */
START_TEST(saturated_values_are_certain)
{
    const uint8_t x[] = { 200, 250 }, y[] = { 100, 250 };
    struct tensor in[] = { argument(DT_U8, DIMS(2), 1, 0, x), argument(DT_U8, DIMS(2), 1, 0, y) };
    struct exec_options options = { .bounds = true };
    struct result r;
    uint32_t a = build_quant(&b, LIFE_INPUT, DT_U8, DIMS(2), 1, 0);
    uint32_t c = build_quant(&b, LIFE_INPUT, DT_U8, DIMS(2), 1, 0);
    uint32_t act = build_int(&b, 0);
    uint32_t t = build_quant(&b, LIFE_TEMPORARY, DT_U8, DIMS(2), 1, 0);
    uint32_t z = build_quant(&b, LIFE_OUTPUT, DT_U8, DIMS(2), 1, 0);

    OPERATION(&b, "ADD", IDS(a, c, act), IDS(t));
    OPERATION(&b, "RELU", IDS(t), IDS(z));
    ck_assert_msg(run(in, &options, &r) == 0, "%s", w.text);
    for (int i = 0; i < 2; i++) {
        ck_assert_double_eq(r.real[0][i], 255);
        ck_assert_double_lt(r.bound[0][i], 0.9);
    }
    result_done(&r);
}
END_TEST

/* The sum 110000 is infinite in half precision: accepted for a relaxed model only. */
START_TEST(relaxed_sums_may_overflow_halves)
{
    const float x[] = { 60000, 1 }, y[] = { 50000, 1 };
    struct tensor in[] = { argument(DT_F32, DIMS(1, 2), 0, 0, x),
                           argument(DT_F32, DIMS(2), 0, 0, y) };
    struct exec_options options = { .bounds = true };
    float actual[] = { INFINITY, 2 };
    struct result r;

    sum_times();
    for (int relaxed = 0; relaxed < 2; relaxed++) {
        b.model.relaxed = relaxed;
        ck_assert_msg(run(in, &options, &r) == 0, "%s", w.text);
        struct tensor a = r.out[0];
        a.data = actual;
        ck_assert_int_eq(judge_result(&r, 0, &a).ok, relaxed);
        result_done(&r);
    }
}
END_TEST

/* logistic(0) < 0.5 ? logistic(0) : 0.5: the condition is uncertain, and the element that is not
 * selected has an error, although it is equal. */
START_TEST(equal_elements_keep_their_errors_in_selections)
{
    static const float half[] = { 0.5f }, zero[] = { 0 };
    struct tensor in[] = { argument(DT_F32, DIMS(1), 0, 0, zero) };
    struct exec_options options = { .bounds = true };
    struct result r;

    uint32_t x = build_operand(&b, LIFE_INPUT, DT_F32, DIMS(1));
    uint32_t y = build_operand(&b, LIFE_OUTPUT, DT_F32, DIMS(1));
    uint32_t limit = build_constant(&b, DT_F32, DIMS(1), half);
    uint32_t less = build_operand(&b, LIFE_TEMPORARY, DT_B8, DIMS(1));
    uint32_t selected = build_operand(&b, LIFE_OUTPUT, DT_F32, DIMS(1));
    OPERATION(&b, "LOGISTIC", IDS(x), IDS(y));
    OPERATION(&b, "LESS", IDS(y, limit), IDS(less));
    OPERATION(&b, "SELECT", IDS(less, y, limit), IDS(selected));
    ck_assert_msg(run(in, &options, &r) == 0, "%s", w.text);
    ck_assert_double_eq(r.real[1][0], 0.5);
    ck_assert_double_gt(r.bound[0][0], 0);
    ck_assert_double_ge(r.bound[1][0], r.bound[0][0]);
    result_done(&r);
}
END_TEST

/* A relaxed model may store in half precision, rounded either way, so with an
 * error of less than an ulp; 1.5 is stored exactly, and subnormal halves may be flushed to zero. */
START_TEST(relaxed_values_are_stored_as_halves)
{
    enum { N = 4 };
    const float x[N] = { 1 + 0x1.cp-11f, 1.5f, 2 - 0x1p-14f, 0x1.8p-16f };
    const double right[][N] = { { 1, 1.5, 2 - 0x1p-10, 0 }, { 1 + 0x1.cp-11, 1.5, 2, 0x1.8p-16 } };
    const double wrong[][N] = { { 1 - 0x1p-11, 1.5 - 0x1p-10, 2 - 0x1p-9, -0x1p-24 },
                                { 1 + 0x1p-9, 1.5 + 0x1p-10, 2 + 0x1p-9, 0x1.9p-15 } };
    struct tensor in[] = { argument(DT_F32, DIMS(N), 0, 0, x) };
    struct exec_options options = { .bounds = true };
    struct result r;

    uint32_t from = build_operand(&b, LIFE_INPUT, DT_F32, DIMS(N));
    uint32_t to = build_operand(&b, LIFE_OUTPUT, DT_F32, DIMS(N));
    OPERATION(&b, "ABS", IDS(from), IDS(to));
    b.model.relaxed = true;
    ck_assert_msg(run(in, &options, &r) == 0, "%s", w.text);
    for (int way = 0; way < 2; way++)
        for (size_t i = 0; i < N; i++) {
            ck_assert_int_eq(judge_result_value(&r, 0, i, right[way][i]), ELEMENT_RIGHT);
            ck_assert_int_eq(judge_result_value(&r, 0, i, wrong[way][i]), ELEMENT_WRONG);
        }
    result_done(&r);
}
END_TEST

/* 2 * 60000 - 2 * 59999: the first product is infinite in half precision, the sum is 2. */
START_TEST(partial_sums_of_cells_may_overflow_halves)
{
    static const float weights[] = { 2, -2 }, zero[] = { 0 }, x[] = { 60000, 59999 };
    uint32_t input = build_operand(&b, LIFE_INPUT, DT_F32, DIMS(1, 2));
    uint32_t feature = build_constant(&b, DT_F32, DIMS(1, 2), weights);
    uint32_t recurrent = build_constant(&b, DT_F32, DIMS(1, 1), zero);
    uint32_t bias = build_constant(&b, DT_F32, DIMS(1), zero);
    uint32_t state = build_constant(&b, DT_F32, DIMS(1, 1), zero), none = build_int(&b, 0);
    uint32_t new_state = build_operand(&b, LIFE_OUTPUT, DT_F32, DIMS(1, 1));
    uint32_t out = build_operand(&b, LIFE_OUTPUT, DT_F32, DIMS(1, 1));
    struct tensor in[] = { argument(DT_F32, DIMS(1, 2), 0, 0, x) };
    struct exec_options options = { .bounds = true };
    struct result r;

    OPERATION(&b, "RNN", IDS(input, feature, recurrent, bias, state, none), IDS(new_state, out));
    for (int relaxed = 0; relaxed < 2; relaxed++) {
        b.model.relaxed = relaxed;
        ck_assert_msg(run(in, &options, &r) == 0, "%s", w.text);
        ck_assert_double_eq(r.real[1][0], 2);
        ck_assert_int_eq(r.bound[1][0] == INFINITY, relaxed);
        result_done(&r);
    }
}
END_TEST

START_TEST(only_exact_operands_give_dot_product_errors)
{
    uint32_t x = build_operand(&b, LIFE_INPUT, DT_F32, DIMS(1, 2));
    uint32_t weights = build_constant(&b, DT_F32, DIMS(2, 2), xs);
    uint32_t bias = build_constant(&b, DT_F32, DIMS(2), ys), act = build_int(&b, 0);
    uint32_t t = build_operand(&b, LIFE_OUTPUT, DT_F32, DIMS(1, 2));
    uint32_t z = build_operand(&b, LIFE_OUTPUT, DT_F32, DIMS(1, 2));
    struct tensor in[] = { argument(DT_F32, DIMS(1, 2), 0, 0, xs) };
    struct exec_options options = { .bounds = true };
    struct result r;

    OPERATION(&b, "FULLY_CONNECTED", IDS(x, weights, bias, act), IDS(t));
    OPERATION(&b, "FULLY_CONNECTED", IDS(t, weights, bias, act), IDS(z));
    ck_assert_msg(run(in, &options, &r) == 0, "%s", w.text);
    ck_assert_int_eq(r.kind[0], ERROR_DOT);
    ck_assert_int_eq(r.kind[1], ERROR_ELEMENT);
    result_done(&r);
}
END_TEST

START_TEST(memory_is_limited)
{
    enum { N = 1 << 16 };
    static float big[N];
    uint32_t x = build_operand(&b, LIFE_INPUT, DT_F32, DIMS(N));
    uint32_t z = build_operand(&b, LIFE_OUTPUT, DT_F32, DIMS(N));
    struct tensor in[] = { argument(DT_F32, DIMS(N), 0, 0, big) };
    struct exec_options options = { .memory_limit = 1 << 16 };
    struct result r;

    OPERATION(&b, "RELU", IDS(x), IDS(z));
    ck_assert_int_lt(run(in, &options, &r), 0);
    ck_assert_int_eq(w.code, WHY_MEMORY);
    options.memory_limit = 0;
    ck_assert_int_eq(run(in, &options, &r), 0);
    result_done(&r);
}
END_TEST

START_TEST(ranks_of_arguments_are_checked)
{
    struct tensor in[] = { argument(DT_F32, DIMS(3, 2), 0, 0, xs),
                           argument(DT_F32, DIMS(2), 0, 0, ys) };
    struct result r;

    sum_times();
    b.graph->operand[0].tensor.shape = (struct shape){ 0 };
    b.graph->operand[4].tensor.shape = (struct shape){ 0 };
    in[0].shape.rank = 4000;
    ck_assert_int_lt(run(in, NULL, &r), 0);
    ck_assert_ptr_nonnull(strstr(w.text, "input 0 has shape"));
    in[0].shape.rank = 0; /* an argument needs a rank */
    ck_assert_int_lt(run(in, NULL, &r), 0);
    in[0].shape = DIMS(1, 2);
    in[0].dtype = (enum dtype) 4711;
    ck_assert_int_lt(run(in, NULL, &r), 0);
    ck_assert_ptr_nonnull(strstr(w.text, "unknown type"));
}
END_TEST

/* Arguments and constants may be at any offset of a pool, so they need not be aligned. */
START_TEST(data_need_not_be_aligned)
{
    char bytes[1 + sizeof xs], paddings[1 + 4 * sizeof(int32_t)] = { 0, 1 };
    struct tensor in[] = { argument(DT_F32, DIMS(3, 2), 0, 0, bytes + 1) };
    struct result r;
    uint32_t x = build_operand(&b, LIFE_INPUT, DT_F32, DIMS(3, 2));
    uint32_t pad = build_constant(&b, DT_I32, DIMS(2, 2), paddings);
    uint32_t z = build_operand(&b, LIFE_OUTPUT, DT_F32, DIMS(4, 2));

    memcpy(bytes + 1, xs, sizeof xs);
    OPERATION(&b, "PAD", IDS(x, pad), IDS(z));
    b.graph->operand[pad].tensor.data = paddings + 1;
    ck_assert_msg(run(in, NULL, &r) == 0, "%s", w.text);
    ck_assert_mem_eq((float *) r.out[0].data + 2, xs, sizeof xs);
    result_done(&r);
}
END_TEST

/* Runs of a plan share scratch memory, but each has its own result, and a failed run has no effect
 * on later ones. */
START_TEST(runs_of_a_plan_are_independent)
{
    struct tensor in[] = { argument(DT_F32, DIMS(3, 2), 0, 0, xs),
                           argument(DT_F32, DIMS(2), 0, 0, ys) };
    struct exec_options options = { .bounds = true };
    struct result first, second;
    struct plan *plan;

    sum_times();
    ck_assert_int_eq(plan_new(&b.model, &plan, &w), 0);
    ck_assert_int_eq(plan_run(plan, in, &options, &first, &w), 0);
    in[1].shape = DIMS(3); /* does not broadcast */
    ck_assert_int_lt(plan_run(plan, in, &options, &second, &w), 0);
    in[1].shape = DIMS(2);
    ck_assert_int_eq(plan_run(plan, in, &options, &second, &w), 0);
    plan_free(plan);
    ck_assert_mem_eq(first.out[0].data, second.out[0].data, 6 * sizeof(float));
    ck_assert_mem_eq(first.real[0], second.real[0], 6 * sizeof(double));
    ck_assert_mem_eq(first.bound[0], second.bound[0], 6 * sizeof(double));
    result_done(&first);
    result_done(&second);
}
END_TEST

START_TEST(contradicting_shapes_prepare_but_do_not_run)
{
    uint32_t x = build_operand(&b, LIFE_INPUT, DT_F32, DIMS(2));
    uint32_t z = build_operand(&b, LIFE_OUTPUT, DT_F32, DIMS(3));
    struct tensor in[] = { argument(DT_F32, DIMS(2), 0, 0, xs) };
    struct plan *plan;
    struct result r;

    OPERATION(&b, "RELU", IDS(x), IDS(z));
    ck_assert_int_lt(model_validate(&b.model, &w), 0);
    ck_assert_int_eq(w.code, WHY_EXECUTION);
    ck_assert_int_eq(plan_new(&b.model, &plan, &w), 0);
    ck_assert_int_lt(plan_run(plan, in, NULL, &r, &w), 0);
    ck_assert_int_eq(w.code, WHY_EXECUTION);
    plan_free(plan);
}
END_TEST

Suite *plan_suite(void)
{
    TCase *t = tcase_create("all");

    tcase_add_checked_fixture(t, set_up, tear_down);
    tcase_add_test(t, runs_in_dataflow_order_with_shapes_of_the_arguments);
    tcase_add_test(t, zero_sized_arguments_give_zero_sized_results);
    tcase_add_test(t, arguments_must_fit_the_declaration);
    tcase_add_test(t, bounds_hold_for_single_precision);
    tcase_add_test(t, bounds_hold_for_relaxed_halves);
    tcase_add_test(t, quantised_ties_are_propagated_in_steps);
    tcase_add_test(t, saturated_values_are_certain);
    tcase_add_test(t, relaxed_sums_may_overflow_halves);
    tcase_add_test(t, equal_elements_keep_their_errors_in_selections);
    tcase_add_test(t, relaxed_values_are_stored_as_halves);
    tcase_add_test(t, partial_sums_of_cells_may_overflow_halves);
    tcase_add_test(t, only_exact_operands_give_dot_product_errors);
    tcase_add_test(t, memory_is_limited);
    tcase_add_test(t, ranks_of_arguments_are_checked);
    tcase_add_test(t, data_need_not_be_aligned);
    tcase_add_test(t, runs_of_a_plan_are_independent);
    tcase_add_test(t, contradicting_shapes_prepare_but_do_not_run);
    return make_suite("plan", t, NULL);
}
