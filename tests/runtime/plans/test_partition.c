/* Plans of main graphs: scenarios 1 to 25 and 36 of runtime.md 4.7.  Scenarios 8 to 10 and 14, the
 * executions of 23 to 25, and 34 and 35 need a compilation. */
#include <check.h>
#include <float.h>

#include "golden/model/extension.h"
#include "runtime/compile/choose_device.h"
#include "tests/runtime/plans/plan_case.h"
#include "tests/support/check_main.h"

/* o2 = ADD(i0, i1), o4 = ADD with another activation(o2, i3) */
static void simple_model(struct plan_case *c)
{
    plan_case_init(c, 1);
    plan_case_tensors(c, "iitio");
    plan_case_op(c, ADD_0, 0, 1, 2);
    plan_case_op(c, ADD_0 + 1, 2, 3, 4);
}

START_TEST(scenario_1_best_of_two)
{
    struct plan_case c;
    simple_model(&c);
    plan_case_device(&c, "bad", 0.9f, ALL_KINDS);
    plan_case_device(&c, "good", 0.5f, ALL_KINDS);
    plan_case_expect(&c, "SIMPLE good");
    plan_case_done(&c);
}
END_TEST

START_TEST(scenario_2_tie_with_the_reference)
{
    struct plan_case c;
    simple_model(&c);
    plan_case_device(&c, "bad", 1.1f, ALL_KINDS);
    plan_case_device(&c, "bad2", 1.0f, ALL_KINDS);
    plan_case_expect(&c, "SIMPLE CPU");
    plan_case_done(&c);
}
END_TEST

START_TEST(scenario_3_two_steps)
{
    struct plan_case c;
    simple_model(&c);
    plan_case_device(&c, "0", 0.9f, SET(ADD_0));
    plan_case_device(&c, "1", 0.5f, SET(ADD_0 + 1));
    plan_case_expect(&c, "0: i0 i1 > t2; 1: i3 t2 > o4");
    ck_assert_uint_eq(c.p.n_dynamic + c.p.n_downstream, 0);
    plan_case_done(&c);
}
END_TEST

/* Devices of feature levels 1 to 4, each all of its level. */
static void level_devices(struct plan_case *c, const float performance[4])
{
    static const char *const names[] = { "V1_0", "V1_1", "V1_2", "V1_3" };
    for (int i = 0; i < 4; i++)
        scripted_device_set_level(plan_case_device(c, names[i], performance[i], ALL_KINDS), i + 1);
}

static void slice_model(struct plan_case *c)
{
    plan_case_init(c, 1);
    plan_case_tensors(c, "iiotooo");
    plan_case_op(c, ADD_0, 0, 1, 2);
    plan_case_op(c, ADD_0 + 1, 0, 1, 3);
    plan_case_op(c, DIV_0, 0, 1, 4);
    plan_case_op(c, MAXIMUM_, 2, 3, 5);
    plan_case_op(c, HARD_SWISH_, 2, 0, 6);
}

START_TEST(scenario_4_newest_is_best)
{
    struct plan_case c;
    slice_model(&c);
    level_devices(&c, (const float[]){ 0.8f, 0.7f, 0.6f, 0.5f });
    plan_case_expect(&c, "SIMPLE V1_3");
    plan_case_done(&c);
}
END_TEST

START_TEST(scenario_5_oldest_is_best)
{
    struct plan_case c;
    slice_model(&c);
    level_devices(&c, (const float[]){ 0.6f, 0.7f, 0.8f, 0.9f });
    plan_case_expect(&c, "V1_1: i0 i1 > o4; V1_0: i0 i1 > o2 t3; V1_3: o2 > o6; V1_2: t3 o2 > o5");
    ck_assert_uint_eq(c.p.n_downstream, 1);
    ck_assert_uint_eq(c.p.downstream[0].operand, 2);
    ck_assert_uint_eq(c.p.n_dynamic, 0);
    plan_case_done(&c);
}
END_TEST

START_TEST(scenario_6_nothing_is_left_of_the_slice)
{
    struct plan_case c;
    plan_case_init(&c, 1);
    plan_case_tensors(&c, "io");
    plan_case_op(&c, HARD_SWISH_, 0, 0, 1);
    level_devices(&c, (const float[]){ 0.6f, 0.7f, 0.8f, 0.9f });
    plan_case_expect(&c, "SIMPLE V1_3");
    for (uint32_t i = 0; i < c.n_devices; i++)
        ck_assert_uint_eq(c.device[i].asked, i == 3);
    plan_case_done(&c);
}
END_TEST

START_TEST(scenario_7_reference_in_the_middle)
{
    const enum kind d = ADD_0, other = ADD_0 + 1;
    struct plan_case c;
    plan_case_init(&c, 1);
    plan_case_tensors(&c, "iittotito");
    plan_case_op(&c, d, 0, 1, 2);
    plan_case_op(&c, d, 0, 2, 3);
    plan_case_op(&c, other, 0, 3, 4);
    plan_case_op(&c, other, 2, 4, 5);
    plan_case_op(&c, d, 3, 5, 7);
    plan_case_op(&c, d, 6, 7, 8);
    plan_case_device(&c, "1", 0.5f, SET(d));
    plan_case_expect(&c, "1: i0 i1 > t2 t3; CPU: i0 t3 t2 > o4 t5; 1: i6 t3 t5 > o8");
    plan_case_done(&c);
}
END_TEST

START_TEST(scenario_11_output_as_input)
{
    struct plan_case c;
    plan_case_init(&c, 1);
    plan_case_tensors(&c, "iioo");
    plan_case_op(&c, ADD_0, 0, 1, 2);
    plan_case_op(&c, ADD_0 + 1, 2, 2, 3);
    plan_case_device(&c, "0", 0.5f, SET(ADD_0));
    plan_case_device(&c, "1", 0.5f, SET(ADD_0 + 1));
    plan_case_expect(&c, "0: i0 i1 > o2; 1: o2 > o3");
    plan_case_done(&c);
}
END_TEST

/* One OEM operation whose input has that type, of NNAPI or OEM. */
static void oem_model(struct plan_case *c, int32_t type)
{
    plan_case_init(c, 1);
    bool is_oem = type >= OEM_CODE;
    bool is_tensor = is_oem ? type > OEM_CODE : dtype_info[type].tensor;
    uint32_t in = build_operand(&c->b, LIFE_INPUT, is_oem ? DT_FOREIGN : (enum dtype) type,
                                is_tensor ? DIMS(1) : (struct shape){ 0 });
    struct operand *o = &c->b.graph->operand[in];
    const struct dtype_info *info = &dtype_info[o->tensor.dtype];
    static const float scale = 0.5f;
    if (is_oem)
        o->foreign = type;
    if (info->quant == QUANT_AFFINE || info->quant == QUANT_SYMM)
        o->tensor.scale = scale;
    if (info->quant == QUANT_CHANNEL) {
        o->tensor.channel_scale = &scale;
        o->tensor.n_channels = 1;
    }
    plan_case_tensors(c, "o");
    plan_case_op(c, OEM_, in, 0, in + 1);
}

START_TEST(scenario_12_best_with_oem)
{
    struct plan_case c;
    oem_model(&c, DT_F32);
    plan_case_device(&c, "badOEM", 1.5f, ALL_KINDS | SET(OEM_));
    plan_case_device(&c, "noOEM", 0.5f, ALL_KINDS);
    plan_case_device(&c, "goodOEM", 1.2f, ALL_KINDS | SET(OEM_));
    plan_case_expect(&c, "SIMPLE goodOEM");
    plan_case_done(&c);
}
END_TEST

START_TEST(scenarios_13_and_15_nobody_has_oem)
{
    for (int with_driver = 0; with_driver < 2; with_driver++) {
        struct plan_case c;
        oem_model(&c, DT_F32);
        if (with_driver)
            plan_case_device(&c, "noOEM", 0.5f, ALL_KINDS);
        plan_case_expect_failure(&c, ANEURALNETWORKS_BAD_DATA,
                                 "No driver can do operation OEM_OPERATION");
        plan_case_done(&c);
    }
}
END_TEST

START_TEST(scenario_16_relaxed)
{
    for (int relaxed = 0; relaxed < 2; relaxed++) {
        struct plan_case c;
        simple_model(&c);
        c.b.model.relaxed = relaxed;
        plan_case_device(&c, "f32", 0.8f, ALL_KINDS)->base.performance.relaxed_tensor =
            (struct hal_performance){ 0.9f, 0.9f };
        plan_case_device(&c, "f16", 0.9f, ALL_KINDS)->base.performance.relaxed_tensor =
            (struct hal_performance){ 0.8f, 0.8f };
        plan_case_expect(&c, relaxed ? "SIMPLE f16" : "SIMPLE f32");
        ck_assert_int_eq(c.p.step[0].model.relaxed, relaxed);
        plan_case_done(&c);
    }
}
END_TEST

static int32_t case_type(int i)
{
    return i < 15 ? i : HAL_TYPE_OEM + i - 15;
}

/* _i: a type, and whether the second device is better or worse at it. */
START_TEST(scenario_17_type_of_first_input)
{
    int32_t type = case_type(_i / 2);
    struct plan_case c;
    oem_model(&c, type);
    plan_case_device(&c, "base", 0.5f, SET(OEM_));
    struct scripted_device *other = plan_case_device(&c, "other", FLT_MAX, SET(OEM_));
    scripted_device_set_type(other, type, _i % 2 ? 0.75f : 0.25f);
    plan_case_expect(&c, _i % 2 ? "SIMPLE base" : "SIMPLE other");
    plan_case_done(&c);
}
END_TEST

START_TEST(scenario_18_lookup)
{
    struct plan_case c;
    plan_case_init(&c, 1);
    struct scripted_device *d = plan_case_device(&c, "d", 0.5f, 0);
    for (int i = 0; i < CASE_ROWS; i++)
        d->row[i].info = (struct hal_performance){ 0.1f * (float) (i + 1), 2 * (float) (i + 1) };
    for (int i = 0; i < CASE_ROWS; i++) {
        struct hal_performance p = device_performance(&d->base, case_type(i), false);
        ck_assert(p.exec_time == 0.1f * (float) (i + 1) && p.power_usage == 2 * (float) (i + 1));
    }
    ck_assert(device_performance(&d->base, 15, false).exec_time == FLT_MAX);
    ck_assert(device_performance(&d->base, 10002, true).power_usage == FLT_MAX);
    plan_case_done(&c);
}
END_TEST

START_TEST(scenario_19_step_without_inputs)
{
    struct plan_case c;
    plan_case_init(&c, 1);
    plan_case_tensors(&c, "ctio");
    plan_case_op(&c, HARD_SWISH_, 0, 0, 1);
    plan_case_op(&c, ADD_0 + 1, 1, 2, 3);
    plan_case_device(&c, "deviceA", 0.8f, ALL_KINDS);
    plan_case_device(&c, "deviceB", 0.5f, SET(ADD_0 + 1));
    plan_case_expect_failure(&c, ANEURALNETWORKS_OP_FAILED, "step 0, on deviceA, has no inputs");
    plan_case_done(&c);
}
END_TEST

START_TEST(scenario_20_step_without_outputs)
{
    struct plan_case c;
    plan_case_init(&c, 1);
    plan_case_tensors(&c, "ioit");
    plan_case_op(&c, HARD_SWISH_, 0, 0, 1);
    plan_case_op(&c, ADD_0 + 1, 1, 2, 3);
    plan_case_device(&c, "deviceA", 0.8f, ALL_KINDS);
    plan_case_device(&c, "deviceB", 0.5f, SET(ADD_0 + 1));
    plan_case_expect_failure(&c, ANEURALNETWORKS_OP_FAILED, "step 1, on deviceB, has no outputs");
    plan_case_done(&c);
}
END_TEST

/* o2 = PAD(i0, i1), t3 = PAD(i0, i1), o4 = ADD(o2, t3, none) */
static void pad_model(struct plan_case *c, struct shape output, struct shape temporary)
{
    plan_case_init(c, 1);
    build_operand(&c->b, LIFE_INPUT, DT_F32, DIMS(2));
    build_operand(&c->b, LIFE_INPUT, DT_I32, DIMS(1, 2));
    build_operand(&c->b, LIFE_OUTPUT, DT_F32, output);
    build_operand(&c->b, LIFE_TEMPORARY, DT_F32, temporary);
    build_operand(&c->b, LIFE_OUTPUT, DT_F32, output);
    plan_case_op(c, PAD_, 0, 1, 2);
    plan_case_op(c, PAD_, 0, 1, 3);
    plan_case_op(c, ADD_0, 2, 3, 4);
    plan_case_device(c, "pad", 0.9f, SET(PAD_));
    plan_case_device(c, "add", 0.9f, SET(ADD_0));
}

static const char pad_plan[] = "pad: i0 i1 > o2 t3; add: t3 o2 > o4";

START_TEST(scenario_21_dynamic_temporary)
{
    struct plan_case c;
    pad_model(&c, (struct shape){ 0 }, (struct shape){ 0 });
    plan_case_expect(&c, pad_plan);
    ck_assert_uint_eq(c.p.n_dynamic, 1);
    ck_assert_uint_eq(c.p.dynamic[0].operand, 3);
    ck_assert_uint_eq(c.p.n_downstream, 1);
    ck_assert_uint_eq(c.p.downstream[0].operand, 2);
    plan_case_done(&c);
}
END_TEST

START_TEST(scenario_22_temporary_of_known_size)
{
    struct plan_case c;
    pad_model(&c, (struct shape){ 0 }, DIMS(4));
    plan_case_expect(&c, pad_plan);
    ck_assert_uint_eq(c.p.n_dynamic, 0);
    ck_assert_uint_eq(c.p.n_downstream, 1);
    plan_case_done(&c);
}
END_TEST

/* _i: feature level of both drivers. */
START_TEST(scenarios_23_and_24_old_drivers)
{
    struct plan_case c;
    pad_model(&c, DIMS(4), DIMS(0));
    for (uint32_t i = 0; i < c.n_devices; i++)
        scripted_device_set_level(&c.device[i], _i);
    if (_i == L3) {
        plan_case_expect(&c, pad_plan);
        ck_assert_uint_eq(c.p.n_dynamic, 1);
    } else {
        plan_case_expect_failure(
            &c, ANEURALNETWORKS_OP_FAILED,
            "step 0, on pad of feature level 2, writes operand 3, which another step reads and "
            "whose size is not known; that needs feature level 3");
    }
    plan_case_done(&c);
}
END_TEST

START_TEST(unknown_output_of_an_old_driver_that_is_read)
{
    struct plan_case c;
    pad_model(&c, DIMS(0), DIMS(4));
    scripted_device_set_level(&c.device[0], L2);
    plan_case_expect_failure(
        &c, ANEURALNETWORKS_OP_FAILED,
        "step 0, on pad of feature level 2, writes operand 2, which another step reads and whose "
        "size is not known; that needs feature level 3");
    plan_case_done(&c);
}
END_TEST

START_TEST(scenario_36_three_operations)
{
    struct plan_case c;
    plan_case_init(&c, 1);
    plan_case_tensors(&c, "iiioto");
    plan_case_op(&c, ADD_0, 0, 1, 3);
    plan_case_op(&c, SUB_0, 1, 2, 4);
    plan_case_op(&c, MUL_0, 3, 4, 5);
    plan_case_device(&c, "add", 0.5f, SET(ADD_0));
    plan_case_device(&c, "sub", 0.5f, SET(SUB_0));
    plan_case_device(&c, "mul", 0.5f, SET(MUL_0));
    plan_case_expect(&c, "sub: i1 i2 > t4; add: i0 i1 > o3; mul: t4 o3 > o5");
    plan_case_done(&c);
}
END_TEST

/* ---- rules of the choice that no scenario has */

START_TEST(ties)
{
    struct plan_case c;
    simple_model(&c);
    plan_case_device(&c, "first", 0.5f, ALL_KINDS);
    plan_case_device(&c, "second", 0.5f, ALL_KINDS);
    plan_case_expect(&c, "SIMPLE first");
    plan_case_done(&c);
}
END_TEST

/* Temporaries leave a step in the order of their numbers, enter one in the order of their use. */
START_TEST(order_of_temporaries)
{
    struct plan_case c;
    plan_case_init(&c, 1);
    plan_case_tensors(&c, "itto");
    plan_case_op(&c, ADD_0, 0, 0, 2);
    plan_case_op(&c, ADD_0, 2, 0, 1);
    plan_case_op(&c, MUL_0, 2, 1, 3);
    plan_case_device(&c, "add", 0.5f, SET(ADD_0));
    plan_case_device(&c, "mul", 0.5f, SET(MUL_0));
    plan_case_expect(&c, "add: i0 > t1 t2; mul: t2 t1 > o3");
    plan_case_done(&c);
}
END_TEST

/* In a list of the client's, the reference may come first. */
START_TEST(tie_with_a_reference_that_comes_first)
{
    struct plan_case c;
    simple_model(&c);
    plan_case_device(&c, "equal", 1.0f, ALL_KINDS);
    const ANeuralNetworksDevice *list[] = { scripted_reference(), &c.device[0].base };
    ck_assert_int_eq(plan_case_make(&c), ANEURALNETWORKS_NO_ERROR);
    ck_assert_int_eq(partition_make(&c.m, 2, list, c.preference, c.arena, &c.p, &c.w), 0);
    ck_assert_str_eq(plan_case_text(&c), "SIMPLE CPU");
    plan_case_done(&c);
}
END_TEST

START_TEST(preference_selects_time_or_power)
{
    static const char *const expected[] = { "SIMPLE frugal", "SIMPLE fast", "SIMPLE fast" };
    struct plan_case c;
    simple_model(&c);
    struct scripted_device *fast = plan_case_device(&c, "fast", 0.9f, ALL_KINDS);
    struct scripted_device *frugal = plan_case_device(&c, "frugal", 0.9f, ALL_KINDS);
    for (int i = 0; i < CASE_ROWS; i++) {
        fast->row[i].info.exec_time = 0.1f;
        frugal->row[i].info.power_usage = 0.1f;
    }
    for (c.preference = 0; c.preference < 3; c.preference++)
        plan_case_expect(&c, expected[c.preference]);
    plan_case_done(&c);
}
END_TEST

START_TEST(unlisted_type_is_still_a_candidate)
{
    struct plan_case c;
    simple_model(&c);
    c.without_reference = true;
    plan_case_device(&c, "only", 0.5f, ALL_KINDS)->base.performance.n_operands = 0;
    plan_case_expect(&c, "SIMPLE only");
    plan_case_done(&c);
}
END_TEST

/* _i 0: a driver that fails, 1: one that answers for too many operations. */
START_TEST(driver_without_a_valid_answer)
{
    struct plan_case c;
    simple_model(&c);
    struct scripted_device *broken = plan_case_device(&c, "broken", 0.1f, ALL_KINDS);
    plan_case_device(&c, "good", 0.5f, ALL_KINDS);
    broken->status = _i ? HAL_NONE : HAL_GENERAL_FAILURE;
    broken->answers_more = (uint32_t) _i;
    plan_case_expect(&c, "SIMPLE good");
    c.n_devices = 1;
    c.without_reference = true;
    plan_case_expect_failure(&c, ANEURALNETWORKS_BAD_DATA, "No driver can do operation ADD");
    plan_case_done(&c);
}
END_TEST

static TCase *scenarios(void)
{
    TCase *t = tcase_create("scenarios");
    tcase_add_test(t, scenario_1_best_of_two);
    tcase_add_test(t, scenario_2_tie_with_the_reference);
    tcase_add_test(t, scenario_3_two_steps);
    tcase_add_test(t, scenario_4_newest_is_best);
    tcase_add_test(t, scenario_5_oldest_is_best);
    tcase_add_test(t, scenario_6_nothing_is_left_of_the_slice);
    tcase_add_test(t, scenario_7_reference_in_the_middle);
    tcase_add_test(t, scenario_11_output_as_input);
    tcase_add_test(t, scenario_12_best_with_oem);
    tcase_add_test(t, scenarios_13_and_15_nobody_has_oem);
    tcase_add_test(t, scenario_16_relaxed);
    tcase_add_loop_test(t, scenario_17_type_of_first_input, 0, 2 * CASE_ROWS);
    tcase_add_test(t, scenario_18_lookup);
    tcase_add_test(t, scenario_19_step_without_inputs);
    tcase_add_test(t, scenario_20_step_without_outputs);
    tcase_add_test(t, scenario_21_dynamic_temporary);
    tcase_add_test(t, scenario_22_temporary_of_known_size);
    tcase_add_loop_test(t, scenarios_23_and_24_old_drivers, L2, L3 + 1);
    tcase_add_test(t, scenario_36_three_operations);
    return t;
}

Suite *partition_suite(void)
{
    Suite *s = suite_create("partition");
    TCase *t = tcase_create("choice");
    tcase_add_test(t, unknown_output_of_an_old_driver_that_is_read);
    tcase_add_test(t, ties);
    tcase_add_test(t, order_of_temporaries);
    tcase_add_test(t, tie_with_a_reference_that_comes_first);
    tcase_add_test(t, preference_selects_time_or_power);
    tcase_add_test(t, unlisted_type_is_still_a_candidate);
    tcase_add_loop_test(t, driver_without_a_valid_answer, 0, 2);
    suite_add_tcase(s, scenarios());
    suite_add_tcase(s, t);
    return s;
}
