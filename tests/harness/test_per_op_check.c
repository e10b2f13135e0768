/* The per-operation check: splitting a model into models of one operation, and their verdict. */
#include <check.h>
#include <string.h>

#include "golden/model/build.h"
#include "harness/check/per_op_check.h"
#include "tests/support/check_main.h"

static struct build b;
static struct example e;
static struct tensor in[2], expected[1];
static const uint8_t xs[] = { 130, 140, 128, 1 }, ys[] = { 4, 0, 8, 255 };

/* z = SQUEEZE(RELU(x + y)), with SQUEEZE's dimensions omitted */
static void set_up(void)
{
    build_init(&b, 1);
    uint32_t x = build_quant(&b, LIFE_INPUT, DT_U8, DIMS(1, 4), 0.5f, 128);
    uint32_t y = build_quant(&b, LIFE_INPUT, DT_U8, DIMS(4), 1, 0);
    uint32_t act = build_int(&b, 0);
    uint32_t sum = build_quant(&b, LIFE_TEMPORARY, DT_U8, (struct shape){ 0 }, 1.5f, 10);
    uint32_t relu = build_quant(&b, LIFE_TEMPORARY, DT_U8, (struct shape){ 0 }, 1.5f, 10);
    uint32_t none = build_operand(&b, LIFE_NO_VALUE, DT_I32, (struct shape){ 0 });
    uint32_t z = build_quant(&b, LIFE_OUTPUT, DT_U8, DIMS(4), 1.5f, 10);

    OPERATION(&b, "ADD", IDS(x, y, act), IDS(sum));
    OPERATION(&b, "RELU", IDS(sum), IDS(relu));
    OPERATION(&b, "SQUEEZE", IDS(relu, none), IDS(z));
    model_count_consumers(&b.model);
    in[0] = b.graph->operand[x].tensor;
    in[1] = b.graph->operand[y].tensor;
    in[0].data = (void *) xs;
    in[1].data = (void *) ys;
    expected[0] = b.graph->operand[z].tensor;
    e = (struct example){
        .name = "cut", .model = b.model, .in = in, .expected = expected, .since = "UNKNOWN"
    };
}

static void tear_down(void)
{
    build_done(&b);
}

START_TEST(models_are_split_into_operations)
{
    struct arena *a = arena_new(0);
    struct example parts[3];
    struct parts all;
    struct why w = { 0 };

    ck_assert_msg(parts_find(&e, a, &all, &w) == 0, "%s", w.text);
    for (uint32_t i = 0; i < 3; i++) {
        ck_assert_int_eq(part_make(&all, &i, 1, a, &parts[i], &w), 0);
        ck_assert_msg(model_validate(&parts[i].model, &w) > 0, "%s", w.text);
        ck_assert_uint_eq(parts[i].model.graph[0].n_operations, 1);
        ck_assert_uint_eq(parts[i].model.graph[0].n_inputs, i == 0 ? 2 : 1);
    }
    ck_assert_str_eq(parts[0].name, "operation 0 (ADD)");
    ck_assert_ptr_eq(parts[0].in[0].data, xs);
    /* x + y = 1 + 4, 6 + 0, 0 + 8, -63.5 + 255 in steps of 1.5 from 10: 13.33, 14, 15.33, 137.67 */
    const uint8_t sums[] = { 13, 14, 15, 138 };
    ck_assert_uint_eq(parts[1].in[0].shape.rank, 2);
    ck_assert_mem_eq(parts[1].in[0].data, sums, sizeof sums);
    arena_free(a);
}
END_TEST

static struct check_result judge(const char *uri)
{
    struct check c;
    struct outcome o;
    struct check_result r;
    struct target *t;
    struct why w = { 0 };

    ck_assert_msg(target_open(uri, NULL, &t, &w) == 0, "%s", w.text);
    ck_assert_int_eq(check_begin(&c, &e, JUDGE_BOUND, &w), 0);
    c.by_layers = true;
    check_reference(&c);
    ck_assert_int_eq(check_run(&c, t, &o, &r), 0);
    check_judge(&c, &o, &r, NULL);
    per_op_check_run(&c, t, &r, NULL);
    check_done(&c);
    target_free(t);
    return r;
}

START_TEST(operations_are_compared_too)
{
    struct check_result r = judge("golden");

    ck_assert_msg(r.verdict == VERDICT_PASS, "%s", r.why);
    ck_assert_uint_eq(r.checked, 4 + 3 * 4);
}
END_TEST

/* The failure of an operation is the verdict even if no output of the model could be compared. */
START_TEST(a_failing_operation_is_the_verdict)
{
    struct check c;
    struct check_result r = check_without_outcome(VERDICT_PASS, JUDGE_BOUND);
    struct target *t;
    struct why w = { 0 };

    ck_assert_msg(target_open("sim:dsp?fault=zero-point-ignored", NULL, &t, &w) == 0, "%s", w.text);
    ck_assert_int_eq(check_begin(&c, &e, JUDGE_BOUND, &w), 0);
    per_op_check_run(&c, t, &r, NULL);
    ck_assert_int_eq(r.verdict, VERDICT_FAIL);
    ck_assert_msg(!strncmp(r.why, "operation 0 (ADD) alone: ", 25), "%s", r.why);
    check_done(&c);
    target_free(t);
}
END_TEST

/* A case whose outputs could not be compared is a pass only if an operation was. */
static struct check_result judge_undecided(const char *uri)
{
    struct check c;
    struct check_result r = check_without_outcome(VERDICT_UNDECIDED, JUDGE_BOUND);
    struct target *t;
    struct why w = { 0 };

    ck_assert_msg(target_open(uri, NULL, &t, &w) == 0, "%s", w.text);
    ck_assert_int_eq(check_begin(&c, &e, JUDGE_BOUND, &w), 0);
    per_op_check_run(&c, t, &r, NULL);
    check_done(&c);
    target_free(t);
    return r;
}

START_TEST(undecided_is_decided_by_operations)
{
    struct check_result r = judge_undecided("golden");
    ck_assert_int_eq(r.verdict, VERDICT_PASS);
    ck_assert_uint_eq(r.checked, 3 * 4);
    ck_assert_str_eq(r.why, "compared operation by operation only");
    r = judge_undecided("null"); /* supports no operation */
    ck_assert_int_eq(r.verdict, VERDICT_UNDECIDED);
    ck_assert_uint_eq(r.checked, 0);
    r = judge_undecided("sim:dsp?fault=zero-point-ignored");
    ck_assert_int_eq(r.verdict, VERDICT_FAIL);
}
END_TEST

Suite *per_op_check_suite(void)
{
    TCase *t = tcase_create("all");

    tcase_add_checked_fixture(t, set_up, tear_down);
    tcase_add_test(t, models_are_split_into_operations);
    tcase_add_test(t, operations_are_compared_too);
    tcase_add_test(t, a_failing_operation_is_the_verdict);
    tcase_add_test(t, undecided_is_decided_by_operations);
    return make_suite("per_op_check", t, NULL);
}
