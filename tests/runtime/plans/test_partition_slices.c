/* What a driver is asked of a model that is too new for it: the introspection table and the rules
 * of runtime.md 4.2; the order of operations (2.3). */
#include <check.h>
#include <string.h>

#include "runtime/model/model_sort.h"
#include "runtime/model/ready_model.h"
#include "tests/runtime/plans/plan_case.h"
#include "tests/support/check_main.h"

/* What the first device supports, in the order in which the operations were added: "true, false".
 */
static void expect_flags(struct plan_case *c, const char *expected)
{
    const bool *supported;
    bool flags[8];
    char text[64] = "";
    uint32_t n = c->b.model.graph[0].n_operations;

    ck_assert_msg(ready_model_make(&c->b.model, c->arena, &c->m, &c->w) >= 0, "%s", c->w.text);
    ck_assert_int_eq(partition_supported(&c->m, 0, &c->device[0].base, c->arena, &supported, &c->w),
                     0);
    for (uint32_t i = 0; i < n; i++)
        flags[c->m.order[i]] = supported[i];
    for (uint32_t i = 0; i < n; i++) {
        strcat(text, i ? ", " : "");
        strcat(text, flags[i] ? "true" : "false");
    }
    ck_assert_str_eq(text, expected);
}

static void two_operations(struct plan_case *c, enum kind first, enum kind second, int level,
                           unsigned kinds)
{
    plan_case_init(c, 1);
    plan_case_tensors(c, "iitio");
    plan_case_op(c, first, 0, 1, 2);
    plan_case_op(c, second, 2, 3, 4);
    scripted_device_set_level(plan_case_device(c, "driver", 0.5f, kinds), level);
}

struct flags_row {
    enum kind first, second;
    int level;
    unsigned kinds;
    const char *flags;
};

static const struct flags_row rows[] = {
    { ADD_0, MAXIMUM_, L2, ALL_KINDS, "true, false" },
    { MAXIMUM_, ADD_0, L2, ALL_KINDS, "false, true" },
    { ADD_0, MUL_0, L2, ALL_KINDS, "true, true" },
    { ADD_0, MUL_0, L4, SET(ADD_0), "true, false" },
    { MUL_0, ADD_0, L4, SET(ADD_0), "false, true" },
};

START_TEST(introspection)
{
    const struct flags_row *r = &rows[_i];
    struct plan_case c;
    two_operations(&c, r->first, r->second, r->level, r->kinds);
    expect_flags(&c, r->flags);
    ck_assert_uint_eq(c.device[0].asked, 1);
    plan_case_done(&c);
}
END_TEST

/* As a compilation for that driver alone: it cannot do the other operation. */
START_TEST(explicit_driver_that_can_do_half)
{
    struct plan_case c;
    two_operations(&c, _i ? MUL_0 : ADD_0, _i ? ADD_0 : MUL_0, L4, SET(ADD_0));
    c.without_reference = true;
    plan_case_expect_failure(&c, ANEURALNETWORKS_BAD_DATA, "No driver can do operation MUL");
    plan_case_device(&c, "other", 0.5f, SET(MUL_0));
    plan_case_expect(&c, _i ? "other: i0 i1 > t2; driver: i3 t2 > o4"
                            : "driver: i0 i1 > t2; other: i3 t2 > o4");
    plan_case_done(&c);
}
END_TEST

/* WHILE(EQUAL(0, 1))(ADD(0, 1)) on operands of graph 0; its subgraphs are `cond` and `cond` + 1. */
static void put_while(struct plan_case *c, uint32_t cond, const char *letters, uint32_t first,
                      uint32_t second, uint32_t out)
{
    build_graph(&c->b, 0);
    plan_case_control(c, WHILE_, cond, cond + 1, IDS(first, second), IDS(out));
    build_graph(&c->b, cond);
    plan_case_tensors(c, letters[0] == 'i' ? "iiB" : "IIB");
    plan_case_op(c, EQUAL_, 0, 1, 2);
    build_graph(&c->b, cond + 1);
    plan_case_tensors(c, letters);
    plan_case_op(c, ADD_0, 0, 1, 2);
}

/* RELU, then WHILE of known sizes.  _i: the driver's feature level. */
START_TEST(introspection_of_while)
{
    struct plan_case c;
    plan_case_init(&c, 3);
    plan_case_tensors(&c, "iito");
    plan_case_op(&c, RELU_, 0, 0, 2);
    put_while(&c, 1, "iio", 2, 1, 3);
    scripted_device_set_level(
        plan_case_device(&c, "driver", 0.5f, SET(RELU_) | SET(WHILE_) | SET(EQUAL_) | SET(ADD_0)),
        _i);
    expect_flags(&c, _i == L2 ? "true, false" : "true, true");
    plan_case_done(&c);
}
END_TEST

/* WHILE of known sizes, then one of unknown ones: the slice would have the first one, and is not
 * valid because of its subgraphs. */
START_TEST(introspection_of_unknown_while)
{
    struct plan_case c;
    plan_case_init(&c, 5);
    plan_case_tensors(&c, "iitO");
    put_while(&c, 1, "iio", 0, 1, 2);
    put_while(&c, 3, "IIO", 2, 1, 3);
    plan_case_device(&c, "driver", 0.5f, ALL_KINDS | SET(WHILE_) | SET(EQUAL_));
    expect_flags(&c, "false, false");
    ck_assert_uint_eq(c.device[0].asked, 0);
    plan_case_done(&c);
}
END_TEST

/* An operation whose output only removed ones read is asked about, too: MAXIMUM(ADD). A middle one
 * gets an input in place of what a removed one writes: ADD(MAXIMUM(ADD)). */
START_TEST(slice_in_the_middle)
{
    struct plan_case c;
    plan_case_init(&c, 1);
    plan_case_tensors(&c, "itto");
    plan_case_op(&c, ADD_0, 0, 0, 1);
    plan_case_op(&c, MAXIMUM_, 1, 0, 2);
    plan_case_op(&c, ADD_0 + 1, 2, 1, 3);
    scripted_device_set_level(plan_case_device(&c, "driver", 0.5f, ALL_KINDS), L1);
    expect_flags(&c, "true, false, true");
    /* What both kinds read is no output. */
    ck_assert_uint_eq(c.device[0].n_inputs, 2);
    ck_assert_uint_eq(c.device[0].n_outputs, 1);
    plan_case_done(&c);
}
END_TEST

/* No operation reads the output of the only operation that is kept: the slice has no outputs. */
START_TEST(slice_without_outputs)
{
    struct plan_case c;
    plan_case_init(&c, 1);
    plan_case_tensors(&c, "ito");
    plan_case_op(&c, ADD_0, 0, 0, 1);
    plan_case_op(&c, MAXIMUM_, 0, 0, 2);
    scripted_device_set_level(plan_case_device(&c, "driver", 0.5f, ALL_KINDS), L1);
    expect_flags(&c, "false, false");
    ck_assert_uint_eq(c.device[0].asked, 0);
    plan_case_done(&c);
}
END_TEST

/* Former inputs that only removed operations read vanish. */
START_TEST(slice_with_an_output_of_its_own)
{
    struct plan_case c;
    plan_case_init(&c, 1);
    plan_case_tensors(&c, "iito");
    plan_case_op(&c, ADD_0, 0, 0, 2);
    plan_case_op(&c, MAXIMUM_, 2, 1, 3);
    scripted_device_set_level(plan_case_device(&c, "driver", 0.5f, ALL_KINDS), L1);
    expect_flags(&c, "true, false");
    ck_assert_uint_eq(c.device[0].n_inputs, 1);
    ck_assert_uint_eq(c.device[0].n_outputs, 1);
    plan_case_done(&c);
}
END_TEST

/* Drivers of level 1 do not know the relaxed flag, and need not. */
START_TEST(relaxed_model_on_an_old_driver)
{
    struct plan_case c;
    two_operations(&c, ADD_0, MUL_0, L1, ALL_KINDS);
    c.b.model.relaxed = true;
    expect_flags(&c, "true, true");
    plan_case_expect(&c, "SIMPLE driver");
    ck_assert(!c.p.step[0].model.relaxed);
    plan_case_done(&c);
}
END_TEST

/* An operand of unknown rank needs level 3. */
START_TEST(unknown_rank_on_an_old_driver)
{
    struct plan_case c;
    two_operations(&c, ADD_0, MUL_0, L2, ALL_KINDS);
    c.b.model.graph[0].operand[4].tensor.shape.rank = 0;
    expect_flags(&c, "true, false");
    plan_case_done(&c);
}
END_TEST

/* ---- parts of models */

/* A step gets the pools that its constants are in, and no others. */
START_TEST(pools_of_steps)
{
    static const float data[2][1] = { { 1 }, { 2 } };
    struct plan_case c;
    two_operations(&c, ADD_0, MUL_0, L4, SET(ADD_0));
    c.b.model.pool = (struct pool[]){ { data[0], 4 }, { data[1], 4 } };
    c.b.model.n_pools = 2;
    for (uint32_t i = 0; i < 2; i++) { /* the second operands of ADD and MUL */
        struct operand *o = &c.b.graph->operand[i ? 3 : 1];
        o->life = LIFE_CONSTANT_REFERENCE;
        o->pool = i;
        o->length = 4;
        o->tensor.data = (void *) (uintptr_t) data[i];
    }
    c.b.graph->n_inputs = 1;
    plan_case_expect(&c, "driver: i0 > t2; CPU: t2 > o4");
    for (uint32_t i = 0; i < 2; i++) {
        ck_assert_uint_eq(c.p.step[i].model.n_pools, 1);
        ck_assert_ptr_eq(c.p.step[i].model.pool[0].data, data[i]);
        ck_assert_uint_eq(c.p.step[i].model.graph[0].operand[1].pool, 0);
    }
    plan_case_done(&c);
}
END_TEST

/* ---- order */

static void expect_order(struct plan_case *c, const uint32_t *expected, uint32_t n)
{
    uint32_t order[8];
    ck_assert_msg(model_sort(c->b.graph, c->arena, order, &c->w) >= 0, "%s", c->w.text);
    ck_assert_uint_eq(c->b.graph->n_operations, n);
    for (uint32_t i = 0; i < n; i++)
        ck_assert_msg(order[i] == expected[i], "place %u: operation %u, expected %u", i, order[i],
                      expected[i]);
}

START_TEST(independent_operations_come_in_reverse)
{
    struct plan_case c;
    plan_case_init(&c, 1);
    plan_case_tensors(&c, "iooo");
    for (uint32_t i = 1; i < 4; i++)
        plan_case_op(&c, ADD_0, 0, 0, i);
    expect_order(&c, IDS(2, 1, 0));
    plan_case_done(&c);
}
END_TEST

/* 0 and 1 are ready; 1 comes first and makes 2 ready, which comes before 0; then 0 makes 3 ready.
 */
START_TEST(what_becomes_ready_comes_next)
{
    struct plan_case c;
    plan_case_init(&c, 1);
    plan_case_tensors(&c, "itoot");
    plan_case_op(&c, ADD_0, 0, 0, 1); /* 0 */
    plan_case_op(&c, ADD_0, 0, 0, 4); /* 1 */
    plan_case_op(&c, ADD_0, 4, 4, 2); /* 2 */
    plan_case_op(&c, ADD_0, 1, 4, 3); /* 3 */
    expect_order(&c, IDS(1, 2, 0, 3));
    plan_case_done(&c);
}
END_TEST

/* _i 0: a cycle of two, 1: an operation that reads its output, 2: a temporary that none writes. */
START_TEST(no_order)
{
    static const uint32_t operands[][4] = { { 1, 2, 2, 1 }, { 1, 1, 1, 2 }, { 0, 2, 1, 3 } };
    const uint32_t *o = operands[_i];
    uint32_t order[2];
    struct plan_case c;
    plan_case_init(&c, 1);
    plan_case_tensors(&c, "itto");
    plan_case_op(&c, ADD_0, o[0], o[0], o[1]);
    plan_case_op(&c, ADD_0, o[2], o[2], o[3]);
    if (_i == 2)
        plan_case_op(&c, ADD_0, 1, 1, 3);
    uint32_t more[3];
    ck_assert_int_lt(model_sort(c.b.graph, c.arena, _i == 2 ? more : order, &c.w), 0);
    ck_assert_int_eq(c.w.code, WHY_INVALID);
    plan_case_done(&c);
}
END_TEST

Suite *partition_slices_suite(void)
{
    Suite *s = suite_create("partition_slices");
    TCase *t = tcase_create("slices"), *order = tcase_create("order");
    tcase_add_loop_test(t, introspection, 0, COUNT(rows));
    tcase_add_loop_test(t, explicit_driver_that_can_do_half, 0, 2);
    tcase_add_test(t, introspection_of_unknown_while);
    tcase_add_loop_test(t, introspection_of_while, L2, L2 + 1);
    tcase_add_loop_test(t, introspection_of_while, L4, L4 + 1);
    tcase_add_test(t, slice_in_the_middle);
    tcase_add_test(t, slice_with_an_output_of_its_own);
    tcase_add_test(t, slice_without_outputs);
    tcase_add_test(t, relaxed_model_on_an_old_driver);
    tcase_add_test(t, unknown_rank_on_an_old_driver);
    tcase_add_test(t, pools_of_steps);
    tcase_add_test(order, independent_operations_come_in_reverse);
    tcase_add_test(order, what_becomes_ready_comes_next);
    tcase_add_loop_test(order, no_order, 0, 3);
    suite_add_tcase(s, t);
    suite_add_tcase(s, order);
    return s;
}
