/* Plans with IF and WHILE, and the roles of arguments: scenarios 26 to 33 of runtime.md 4.7. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/compile/plan_roles.h"
#include "tests/runtime/plans/plan_case.h"
#include "tests/support/check_main.h"

/* A subgraph of one operation of two inputs. */
static void subgraph(struct plan_case *c, uint32_t index, enum kind kind, const char *letters)
{
    build_graph(&c->b, index);
    plan_case_tensors(c, letters);
    plan_case_op(c, kind, 0, 1, 2);
}

/* o3 = IF(b0, then, else)(i1, i2) */
static void if_model(struct plan_case *c, enum kind then, enum kind otherwise)
{
    plan_case_init(c, 3);
    plan_case_tensors(c, "biio");
    plan_case_control(c, IF_, 1, 2, IDS(0, 1, 2), IDS(3));
    subgraph(c, 1, then, "iio");
    subgraph(c, 2, otherwise, "iio");
}

/* o2 = WHILE(EQUAL(0, 1))(0: body(0, 1)) from i0, i1 */
static void while_model(struct plan_case *c)
{
    plan_case_init(c, 3);
    plan_case_tensors(c, "iio");
    plan_case_control(c, WHILE_, 1, 2, IDS(0, 1), IDS(2));
    subgraph(c, 1, EQUAL_, "iiB");
    subgraph(c, 2, ADD_0, "iio");
}

START_TEST(scenario_26_if_interpreted)
{
    struct plan_case c;
    if_model(&c, ADD_0, ADD_0);
    scripted_device_set_level(plan_case_device(&c, "V1_0", 0.9f, ALL_KINDS), L1);
    plan_case_expect(&c, "IF; V1_0: i0 i1 > o2; GOTO 4; V1_0: i0 i1 > o2");
    const struct plan_step *s = &c.p.step[0];
    ck_assert_uint_eq(s->first_part, 1);
    ck_assert_uint_eq(s->second_part, 3);
    ck_assert_uint_eq(s->to, 4);
    ck_assert_uint_eq(s->construct, 0);
    ck_assert_uint_eq(c.p.n_sources, 3);
    ck_assert_uint_eq(c.p.step[1].source, s->first_source);
    ck_assert_uint_eq(c.p.source[s->first_source].graph, 1);
    ck_assert_uint_eq(c.p.step[3].source, s->second_source);
    ck_assert_uint_eq(c.p.source[s->second_source].graph, 2);
    plan_case_done(&c);
}
END_TEST

START_TEST(scenario_27_while_interpreted)
{
    struct plan_case c;
    while_model(&c);
    scripted_device_set_level(plan_case_device(&c, "V1_0", 0.9f, ALL_KINDS), L1);
    plan_case_expect(&c, "WHILE; CPU: i0 i1 > o2; GOTO 0; V1_0: i0 i1 > o2; GOTO 0");
    const struct plan_step *s = &c.p.step[0];
    ck_assert_uint_eq(s->first_part, 1);
    ck_assert_uint_eq(s->second_part, 3);
    ck_assert_uint_eq(s->to, 5);
    plan_case_done(&c);
}
END_TEST

static void device_of_all(struct plan_case *c)
{
    plan_case_device(c, "ALL", 0.9f, ALL_KINDS | SET(IF_) | SET(WHILE_) | SET(EQUAL_));
}

START_TEST(scenario_28_on_a_driver_that_has_them)
{
    struct plan_case c;
    if_model(&c, ADD_0, ADD_0);
    device_of_all(&c);
    plan_case_expect(&c, "SIMPLE ALL");
    plan_case_done(&c);
    while_model(&c);
    device_of_all(&c);
    plan_case_expect(&c, "SIMPLE ALL");
    plan_case_done(&c);
}
END_TEST

static void forget_dimension(struct graph *g, uint32_t operand)
{
    g->operand[operand].tensor.shape.dim[0] = 0;
}

/* _i: bits of the graphs (main, first, second subgraph) with unknown dimensions, in 1 to 7 of an
 * IF, in 9 to 15 of a WHILE.  Those of the condition are its inputs. */
START_TEST(scenario_29_unknown_sizes)
{
    bool is_while = _i & 8;
    struct plan_case c;
    if (is_while)
        while_model(&c);
    else
        if_model(&c, ADD_0, ADD_0);
    if (_i & 1)
        for (uint32_t i = !is_while; i < (is_while ? 3 : 4); i++)
            forget_dimension(&c.b.model.graph[0], i);
    for (int g = 1; g < 3; g++)
        for (uint32_t i = 0; i < (is_while && g == 1 ? 2 : 3) && (_i & 1 << g); i++)
            forget_dimension(&c.b.model.graph[g], i);
    device_of_all(&c);
    plan_case_expect(&c, "SIMPLE CPU");
    c.without_reference = true;
    plan_case_expect_failure(&c, ANEURALNETWORKS_BAD_DATA,
                             is_while ? "No driver can do operation WHILE"
                                      : "No driver can do operation IF");
    plan_case_done(&c);
}
END_TEST

/* ---- roles */

static struct plan_roles *roles_of(struct plan_case *c, const char *plan)
{
    struct plan_roles *r;
    plan_case_expect(c, plan);
    ck_assert_int_eq(plan_roles_make(&c->m, &c->p, c->arena, &r, &c->w), 0);
    return r;
}

/* The roles of an operand as "A in, B out", by name of the device and each once. */
static void expect_roles(struct plan_case *c, struct plan_roles *r, uint32_t source,
                         uint32_t operand, const char *expected)
{
    const struct plan_role *role;
    uint32_t n = plan_roles_of(r, (struct source_operand){ source, operand }, &role);
    char text[128] = "";
    int at = 0;
    for (uint32_t i = 0; i < n; i++) {
        ck_assert_uint_lt(role[i].index, role[i].is_output ? c->p.step[role[i].step].n_outputs
                                                           : c->p.step[role[i].step].n_inputs);
        at += snprintf(text + at, sizeof text - (size_t) at, "%s%s %s", i ? ", " : "",
                       c->p.step[role[i].step].device->name, role[i].is_output ? "out" : "in");
    }
    ck_assert_msg(!strcmp(text, expected), "operand %u of source %u: %s, expected %s", operand,
                  source, text, expected);
}

START_TEST(scenario_30_roles)
{
    struct plan_case c;
    plan_case_init(&c, 1);
    plan_case_tensors(&c, "iioito");
    plan_case_op(&c, ADD_0, 0, 1, 2);
    plan_case_op(&c, ADD_0 + 1, 1, 3, 4);
    plan_case_op(&c, ADD_0 + 2, 2, 4, 5);
    plan_case_device(&c, "A", 0.8f, ALL_KINDS);
    plan_case_device(&c, "B", 0.5f, SET(ADD_0 + 1));
    plan_case_device(&c, "C", 0.5f, SET(ADD_0 + 2));
    struct plan_roles *r = roles_of(&c, "B: i1 i3 > t4; A: i0 i1 > o2; C: t4 o2 > o5");
    expect_roles(&c, r, 0, 0, "A in");
    expect_roles(&c, r, 0, 1, "B in, A in");
    expect_roles(&c, r, 0, 3, "B in");
    expect_roles(&c, r, 0, 2, "A out, C in");
    expect_roles(&c, r, 0, 5, "C out");
    expect_roles(&c, r, 0, 4, "B out, C in");
    plan_case_done(&c);
}
END_TEST

START_TEST(scenario_31_roles_of_if)
{
    struct plan_case c;
    if_model(&c, ADD_0, ADD_0 + 1);
    plan_case_device(&c, "A", 0.8f, ALL_KINDS);
    plan_case_device(&c, "B", 0.5f, SET(ADD_0 + 1));
    struct plan_roles *r = roles_of(&c, "IF; A: i0 i1 > o2; GOTO 4; B: i0 i1 > o2");
    expect_roles(&c, r, 0, 0, "");
    expect_roles(&c, r, 0, 1, "A in, B in");
    expect_roles(&c, r, 0, 2, "A in, B in");
    expect_roles(&c, r, 0, 3, "A out, B out");
    plan_case_done(&c);
}
END_TEST

START_TEST(scenario_32_roles_of_while)
{
    struct plan_case c;
    plan_case_init(&c, 3);
    plan_case_tensors(&c, "iiio");
    plan_case_control(&c, WHILE_, 1, 2, IDS(0, 1, 2), IDS(3));
    build_graph(&c.b, 1);
    plan_case_tensors(&c, "iiitB");
    plan_case_op(&c, ADD_0, 0, 1, 3);
    plan_case_op(&c, EQUAL_, 2, 3, 4);
    build_graph(&c.b, 2);
    plan_case_tensors(&c, "iiioo");
    plan_case_op(&c, ADD_0 + 1, 0, 1, 3);
    plan_case_op(&c, ADD_0 + 1, 0, 2, 4);
    plan_case_device(&c, "A", 0.8f, ALL_KINDS | SET(EQUAL_));
    plan_case_device(&c, "B", 0.5f, SET(ADD_0 + 1));
    struct plan_roles *r =
        roles_of(&c, "WHILE; A: i0 i1 i2 > o4; GOTO 0; B: i0 i2 i1 > o4 o3; GOTO 0");
    for (uint32_t i = 0; i < 3; i++)
        expect_roles(&c, r, 0, i, "A in, B in");
    expect_roles(&c, r, 0, 3, "");
    expect_roles(&c, r, 1, 4, "A out");
    expect_roles(&c, r, 2, 3, "A in, B in, B out");
    expect_roles(&c, r, 2, 4, "A in, B in, B out");
    plan_case_done(&c);
}
END_TEST

START_TEST(scenario_33_roles_nested)
{
    struct plan_case c;
    plan_case_init(&c, 5);
    plan_case_tensors(&c, "iibo");
    plan_case_control(&c, WHILE_, 1, 2, IDS(0, 1, 2), IDS(3));
    build_graph(&c.b, 1);
    plan_case_tensors(&c, "iibB");
    plan_case_op(&c, EQUAL_, 0, 1, 3);
    build_graph(&c.b, 2);
    plan_case_tensors(&c, "iibo");
    plan_case_control(&c, IF_, 3, 4, IDS(2, 0, 1), IDS(3));
    subgraph(&c, 3, ADD_0, "iio");
    subgraph(&c, 4, ADD_0 + 1, "iio");
    plan_case_device(&c, "A", 0.8f, ALL_KINDS | SET(EQUAL_));
    plan_case_device(&c, "B", 0.5f, SET(ADD_0));
    plan_case_device(&c, "C", 0.5f, SET(ADD_0 + 1));
    struct plan_roles *r = roles_of(&c, "WHILE; A: i0 i1 > o3; GOTO 0; IF; B: i0 i1 > o2; GOTO 7; "
                                        "C: i0 i1 > o2; GOTO 0");
    /* Both models of a construct are numbered before their insides. */
    ck_assert_uint_eq(c.p.step[3].source, 2);
    ck_assert_uint_eq(c.p.step[4].source, 3);
    ck_assert_uint_eq(c.p.source[3].parent, 2);
    expect_roles(&c, r, 0, 0, "A in, B in, C in");
    expect_roles(&c, r, 0, 1, "A in, B in, C in");
    expect_roles(&c, r, 0, 2, "");
    expect_roles(&c, r, 0, 3, "");
    expect_roles(&c, r, 1, 3, "A out");
    expect_roles(&c, r, 2, 3, "A in, B in, B out, C in, C out");
    plan_case_done(&c);
}
END_TEST

/* ---- costs */

/* A driver that has IF, WHILE and one that has not: .6 + .5 * (.6 + .6) = 1.2 < 1 + .5 * 2, and
 * .6 + .6 + .6 = 1.8 < 3.  _i: with a performance of IF and WHILE that makes it lose. */
START_TEST(costs_of_control_flow)
{
    const float slow = _i ? 1.41f : 1.39f, slow_loop = _i ? 1.81f : 1.79f;
    struct plan_case c;
    if_model(&c, ADD_0, ADD_0);
    device_of_all(&c);
    for (int i = 0; i < CASE_ROWS; i++)
        c.device[0].row[i].info = (struct hal_performance){ 0.6f, 0.6f };
    c.device[0].base.performance.if_performance = (struct hal_performance){ slow, slow };
    plan_case_expect(&c, _i ? "IF; ALL: i0 i1 > o2; GOTO 4; ALL: i0 i1 > o2" : "SIMPLE ALL");
    plan_case_done(&c);

    while_model(&c);
    device_of_all(&c);
    for (int i = 0; i < CASE_ROWS; i++)
        c.device[0].row[i].info = (struct hal_performance){ 0.6f, 0.6f };
    c.device[0].base.performance.while_performance =
        (struct hal_performance){ slow_loop, slow_loop };
    plan_case_expect(&c,
                     _i ? "WHILE; ALL: i0 i1 > o2; GOTO 0; ALL: i0 i1 > o2; GOTO 0" : "SIMPLE ALL");
    plan_case_done(&c);
}
END_TEST

/* A graph that two constructs refer to is in the plan twice, and each device is asked once. */
START_TEST(graph_that_occurs_twice)
{
    struct plan_case c;
    plan_case_init(&c, 2);
    plan_case_tensors(&c, "biito");
    plan_case_control(&c, IF_, 1, 1, IDS(0, 1, 2), IDS(3));
    plan_case_control(&c, IF_, 1, 1, IDS(0, 1, 3), IDS(4));
    subgraph(&c, 1, ADD_0, "iio");
    scripted_device_set_level(plan_case_device(&c, "V1_0", 0.9f, ALL_KINDS), L1);
    plan_case_expect(&c, "IF; V1_0: i0 i1 > o2; GOTO 4; V1_0: i0 i1 > o2; "
                         "IF; V1_0: i0 i1 > o2; GOTO 8; V1_0: i0 i1 > o2");
    ck_assert_uint_eq(c.p.n_sources, 5);
    ck_assert_uint_eq(c.device[0].asked, 1);
    plan_case_done(&c);
}
END_TEST

/* A construct's outputs are temporaries of its source, which other steps and constructs read. */
START_TEST(steps_around_a_construct)
{
    struct plan_case c;
    plan_case_init(&c, 3);
    plan_case_tensors(&c, "biitto");
    plan_case_op(&c, ADD_0, 1, 2, 3);
    plan_case_control(&c, IF_, 1, 2, IDS(0, 1, 3), IDS(4));
    plan_case_op(&c, MUL_0, 3, 4, 5);
    subgraph(&c, 1, ADD_0, "iio");
    subgraph(&c, 2, ADD_0, "iio");
    plan_case_device(&c, "A", 0.8f, ALL_KINDS);
    plan_case_expect(&c, "A: i1 i2 > t3; IF; A: i0 i1 > o2; GOTO 5; A: i0 i1 > o2; "
                         "A: t3 t4 > o5");
    plan_case_done(&c);
}
END_TEST

/* 2^20 occurrences. */
START_TEST(too_many_occurrences)
{
    enum { DEPTH = 20 };
    struct plan_case c;
    plan_case_init(&c, DEPTH + 1);
    for (uint32_t g = 0; g < DEPTH; g++) {
        build_graph(&c.b, g);
        plan_case_tensors(&c, "bio");
        plan_case_control(&c, IF_, g + 1, g + 1,
                          g + 1 < DEPTH ? (uint32_t[]){ 0, 0, 1 } : (uint32_t[]){ 0, 1, 1 }, 3,
                          IDS(2));
    }
    subgraph(&c, DEPTH, ADD_0, "iio");
    plan_case_device(&c, "A", 0.8f, ALL_KINDS);
    plan_case_expect_failure(&c, ANEURALNETWORKS_OP_FAILED,
                             "the subgraphs of IF and WHILE occur more than 16384 times");
    plan_case_done(&c);
}
END_TEST

Suite *partition_control_suite(void)
{
    Suite *s = suite_create("partition_control");
    TCase *t = tcase_create("scenarios"), *more = tcase_create("more");
    tcase_add_test(t, scenario_26_if_interpreted);
    tcase_add_test(t, scenario_27_while_interpreted);
    tcase_add_test(t, scenario_28_on_a_driver_that_has_them);
    tcase_add_loop_test(t, scenario_29_unknown_sizes, 1, 8);
    tcase_add_loop_test(t, scenario_29_unknown_sizes, 9, 16);
    tcase_add_test(t, scenario_30_roles);
    tcase_add_test(t, scenario_31_roles_of_if);
    tcase_add_test(t, scenario_32_roles_of_while);
    tcase_add_test(t, scenario_33_roles_nested);
    tcase_add_loop_test(more, costs_of_control_flow, 0, 2);
    tcase_add_test(more, graph_that_occurs_twice);
    tcase_add_test(more, steps_around_a_construct);
    tcase_add_test(more, too_many_occurrences);
    suite_add_tcase(s, t);
    suite_add_tcase(s, more);
    return s;
}
