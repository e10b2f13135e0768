/* Feature levels that models need (model_complies()), and their conversion to lower levels
 * (model_convert()). */
#include <check.h>
#include <string.h>

#include "golden/golden.h"
#include "golden/model/build.h"
#include "randgraph/randgraph.h"
#include "tests/support/check_main.h"
#include "tests/support/digest.h"

/* CONV_2D of one pixel with the operands that feature level 3 added. */
static void conv(struct build *b, bool nchw, int32_t dilation, enum dtype dtype)
{
    static const char ones[8] = { 0 };
    bool layout = nchw;

    build_init(b, 1);
    uint32_t x = build_operand(b, LIFE_INPUT, dtype, DIMS(1, 1, 1, 1));
    uint32_t f = build_constant(b, dtype, DIMS(1, 1, 1, 1), ones);
    uint32_t bias = build_constant(b, dtype, DIMS(1), ones);
    uint32_t valid = build_int(b, 2), one = build_int(b, 1), act = build_int(b, 0);
    uint32_t flag = build_constant(b, DT_BOOL, (struct shape){ 0 }, &layout);
    uint32_t d = build_int(b, dilation);
    uint32_t y = build_operand(b, LIFE_OUTPUT, dtype, DIMS(1, 1, 1, 1));
    OPERATION(b, "CONV_2D", IDS(x, f, bias, valid, one, one, act, flag, d, d), IDS(y));
    model_count_consumers(&b->model);
}

static void check_rejected(const struct build *b, int level, const char *text)
{
    struct conversion c;
    struct why w = { 0 };

    ck_assert_int_lt(model_complies(&b->model, level, &w), 0);
    ck_assert_int_eq(w.code, WHY_UNSUPPORTED);
    ck_assert_str_eq(w.text, text);
    memset(&w, 0, sizeof w);
    ck_assert_int_lt(model_convert(&b->model, level, b->arena, &c, &w), 0);
    ck_assert_int_eq(w.code, WHY_UNSUPPORTED);
}

START_TEST(default_operands_are_removed)
{
    struct build b;
    struct conversion c;
    struct why w = { 0 };

    conv(&b, false, 1, DT_F32);
    ck_assert_int_eq(model_validate(&b.model, &w), 3);
    ck_assert_int_eq(model_complies(&b.model, 3, &w), 0);
    ck_assert_int_eq(model_convert(&b.model, 1, b.arena, &c, &w), 0);
    ck_assert_int_eq(c.level, 1);
    ck_assert_int_eq(model_validate(&c.model, &w), 1);
    ck_assert_uint_eq(c.model.graph[0].operation[0].n_in, 7);
    ck_assert_uint_eq(c.model.graph[0].n_operands, 7); /* without flag and dilation */
    ck_assert_uint_eq(c.n_notes, 1);
    ck_assert(!c.note[0].lost);
    ck_assert_str_eq(c.note[0].text,
                     "operation 0, CONV_2D: the last 3 of 10 inputs are left off: they "
                     "hold the defaults");
    ck_assert_int_eq(model_convert(&b.model, 3, b.arena, &c, &w), 0);
    ck_assert_uint_eq(c.n_notes, 0);
    ck_assert_uint_eq(c.model.graph[0].operation[0].n_in, 10);
    build_done(&b);
}
END_TEST

START_TEST(operands_without_defaults_are_not_removed)
{
    struct build b;

    conv(&b, true, 1, DT_F32);
    check_rejected(&b, 2, "operation 0, CONV_2D: nchw needs feature level 3 (HAL 1.2)");
    build_done(&b);
    conv(&b, false, 2, DT_F32);
    check_rejected(&b, 2, "operation 0, CONV_2D: dilation_width needs feature level 3 (HAL 1.2)");
    build_done(&b);
    conv(&b, false, 1, DT_F16);
    check_rejected(
        &b, 1, "operation 0, CONV_2D: TENSOR_FLOAT16 of rank 4 needs feature level 3 (HAL 1.2)");
    build_done(&b);
}
END_TEST

START_TEST(newer_operations_are_rejected)
{
    struct build b;
    bool flag = true;

    build_init(&b, 2);
    uint32_t c = build_constant(&b, DT_B8, DIMS(1), &flag);
    uint32_t x = build_operand(&b, LIFE_INPUT, DT_F32, DIMS(2));
    uint32_t y = build_operand(&b, LIFE_OUTPUT, DT_F32, DIMS(2));
    uint32_t branch = build_subgraph(&b, 1);
    OPERATION(&b, "IF", IDS(c, branch, branch, x), IDS(y));
    build_graph(&b, 1);
    uint32_t in = build_operand(&b, LIFE_INPUT, DT_F32, DIMS(2));
    uint32_t out = build_operand(&b, LIFE_OUTPUT, DT_F32, DIMS(2));
    OPERATION(&b, "RELU", IDS(in), IDS(out));
    model_count_consumers(&b.model);
    check_rejected(&b, 3, "operation 0, IF: the operation needs feature level 4 (HAL 1.3)");
    build_done(&b);
}
END_TEST

START_TEST(relaxed_computation_is_dropped)
{
    struct build b;
    struct conversion c;
    struct why w = { 0 };

    build_init(&b, 1);
    uint32_t x = build_operand(&b, LIFE_INPUT, DT_F32, DIMS(2));
    uint32_t y = build_operand(&b, LIFE_OUTPUT, DT_F32, DIMS(2));
    OPERATION(&b, "RELU", IDS(x), IDS(y));
    b.model.relaxed = true;
    ck_assert_int_lt(model_complies(&b.model, 1, &w), 0);
    ck_assert_str_eq(w.text, "relaxed computation needs feature level 2 (HAL 1.1)");
    ck_assert_int_eq(model_convert(&b.model, 1, b.arena, &c, &w), 0);
    ck_assert_uint_eq(c.n_notes, 1);
    ck_assert(c.note[0].lost);
    ck_assert(!c.model.relaxed);
    build_done(&b);
}
END_TEST

START_TEST(inferred_ranks_are_declared)
{
    struct build b;
    struct conversion c;
    struct why w = { 0 };

    build_init(&b, 1);
    uint32_t x = build_operand(&b, LIFE_INPUT, DT_F32, DIMS(2, 0));
    uint32_t t = build_operand(&b, LIFE_TEMPORARY, DT_F32, (struct shape){ 0 });
    uint32_t y = build_operand(&b, LIFE_OUTPUT, DT_F32, DIMS(2, 0));
    OPERATION(&b, "RELU", IDS(x), IDS(t));
    OPERATION(&b, "RELU", IDS(t), IDS(y));
    model_count_consumers(&b.model);
    ck_assert_int_lt(model_complies(&b.model, 2, &w), 0);
    ck_assert_str_eq(w.text, "operand 1, TENSOR_FLOAT32 of unknown rank, needs feature level 3 "
                             "(HAL 1.2)");
    ck_assert_int_eq(model_convert(&b.model, 1, b.arena, &c, &w), 0);
    ck_assert_str_eq(c.note[0].text, "operation 0, RELU: the shape of output 0 is declared: [2,0]");
    build_done(&b);
}
END_TEST

START_TEST(unused_operands_need_no_level)
{
    static const uint16_t halves[2] = { 0 };
    struct build b;
    struct conversion c;
    struct why w = { 0 };

    build_init(&b, 1);
    uint32_t x = build_operand(&b, LIFE_INPUT, DT_F32, DIMS(2));
    build_constant(&b, DT_F16, DIMS(2), halves);
    uint32_t y = build_operand(&b, LIFE_OUTPUT, DT_F32, DIMS(2));
    OPERATION(&b, "RELU", IDS(x), IDS(y));
    ck_assert_int_eq(model_validate(&b.model, &w), 3);
    ck_assert_int_eq(model_convert(&b.model, 1, b.arena, &c, &w), 0);
    ck_assert_str_eq(c.note[0].text, "1 unused operands are removed");
    ck_assert_uint_eq(c.model.graph[0].output[0], 1);
    build_done(&b);
}
END_TEST

START_TEST(inputs_of_unknown_rank_are_rejected)
{
    struct build b;

    build_init(&b, 1);
    uint32_t x = build_operand(&b, LIFE_INPUT, DT_F32, (struct shape){ 0 });
    uint32_t y = build_operand(&b, LIFE_OUTPUT, DT_F32, DIMS(2));
    OPERATION(&b, "RELU", IDS(x), IDS(y));
    check_rejected(&b, 2,
                   "operand 0, TENSOR_FLOAT32 of unknown rank, needs feature level 3 (HAL 1.2)");
    build_done(&b);
}
END_TEST

START_TEST(invalid_models_have_no_level)
{
    struct build b;
    struct conversion c;
    struct why w = { 0 };

    build_init(&b, 1);
    uint32_t x = build_operand(&b, LIFE_INPUT, DT_F32, DIMS(2));
    uint32_t y = build_operand(&b, LIFE_OUTPUT, DT_I32, DIMS(2));
    OPERATION(&b, "RELU", IDS(x), IDS(y));
    ck_assert_int_lt(model_complies(&b.model, 8, &w), 0);
    ck_assert_int_eq(w.code, WHY_INVALID);
    ck_assert_int_lt(model_convert(&b.model, 8, b.arena, &c, &w), 0);
    ck_assert_int_eq(w.code, WHY_INVALID);
    ck_assert_str_eq(level_name(0), "?");
    ck_assert_str_eq(level_name(8), "AIDL 4");
    build_done(&b);
}
END_TEST

static uint64_t digest_of(const struct model *m, const struct tensor *in)
{
    struct exec_options options = { .max_iterations = 1000, .loop_timeout = 1000 };
    struct plan *plan;
    struct result r;
    struct why w = { 0 };
    uint64_t digest = DIGEST_NONE;

    ck_assert_msg(plan_new(m, &plan, &w) == 0, "%s", w.text);
    if (plan_run(plan, in, &options, &r, &w) == 0) {
        digest = digest_result(digest, &r);
        result_done(&r);
    }
    plan_free(plan);
    return digest;
}

/* A converted graph complies with its level and computes the same bits; a failed conversion has
 * WHY_UNSUPPORTED and a reason. */
START_TEST(converted_graphs_give_the_same)
{
    enum { GRAPHS = 1000 };
    struct randgraph_options options = randgraph_default;
    struct arena *a = arena_new(0);
    unsigned converted = 0, rejected = 0;

    options.max_level = 3;
    options.max_ops = 3;
    options.dtypes = 1u << DT_F32 | 1u << DT_U8; /* types of feature level 1 */
    options.relaxed = 0.1;
    for (uint64_t i = 0; i < GRAPHS; i++) {
        struct example e;
        struct conversion c;
        struct why w = { 0 };
        ck_assert_int_eq(randgraph_make(&options, 99, i, a, &e, &w), 0);
        int need = model_prepare(&e.model, NULL, &w);
        for (int level = 1; level < need; level++) {
            if (model_convert(&e.model, level, a, &c, &w) < 0) {
                rejected++;
                ck_assert_msg(w.code == WHY_UNSUPPORTED && *w.text, "%s: %s", e.name, w.text);
                continue;
            }
            converted++;
            ck_assert_msg(c.n_notes > 0 && c.level <= level, "%s", e.name);
            ck_assert_msg(model_complies(&c.model, level, &w) == 0, "%s: %s", e.name, w.text);
            ck_assert_uint_eq(digest_of(&c.model, e.in), digest_of(&e.model, e.in));
        }
        arena_rewind(a, (struct arena_mark){ 0 });
    }
    ck_assert_msg(converted > GRAPHS / 50 && rejected > GRAPHS / 2, "%u converted, %u rejected",
                  converted, rejected);
    arena_free(a);
}
END_TEST

Suite *compliance_suite(void)
{
    TCase *t = tcase_create("models");

    tcase_add_test(t, default_operands_are_removed);
    tcase_add_test(t, operands_without_defaults_are_not_removed);
    tcase_add_test(t, newer_operations_are_rejected);
    tcase_add_test(t, relaxed_computation_is_dropped);
    tcase_add_test(t, inferred_ranks_are_declared);
    tcase_add_test(t, unused_operands_need_no_level);
    tcase_add_test(t, inputs_of_unknown_rank_are_rejected);
    tcase_add_test(t, invalid_models_have_no_level);
    tcase_add_test(t, converted_graphs_give_the_same);
    return make_suite("compliance", t, NULL);
}
