/* IF and WHILE: the branch and the number of iterations, conditions that depend on rounding, and
 * limits of endless loops. */
#include <check.h>
#include <math.h>
#include <string.h>

#include "tests/support/check_main.h"
#include "tests/support/one_op_run.h"

struct control {
    struct build b;
    struct plan *plan;
    struct result r;
    struct why w;
};

static int control_run(struct control *c, const struct tensor *in, const struct exec_options *o)
{
    if (plan_new(&c->b.model, &c->plan, &c->w) < 0)
        return -1;
    return plan_run(c->plan, in, o, &c->r, &c->w);
}

static void control_done(struct control *c)
{
    result_done(&c->r);
    plan_free(c->plan);
    build_done(&c->b);
}

/* A subgraph y = OP(x, constant) of scalars in shape [1]. */
static void build_binary(struct build *b, uint32_t graph, const char *op, float with)
{
    build_graph(b, graph);
    uint32_t x = build_operand(b, LIFE_INPUT, DT_F32, DIMS(1));
    uint32_t k = build_constant(b, DT_F32, DIMS(1), &with), none = build_int(b, 0);
    uint32_t y = build_operand(b, LIFE_OUTPUT, DT_F32, DIMS(1));
    OPERATION(b, op, IDS(x, k, none), IDS(y));
}

/* if (x < 2) x + 10 else x * 10, in float */
static void build_branch(struct control *c)
{
    float two = 2;

    *c = (struct control){ 0 };
    build_init(&c->b, 3);
    build_binary(&c->b, 1, "ADD", 10);
    build_binary(&c->b, 2, "MUL", 10);
    build_graph(&c->b, 0);
    uint32_t x = build_operand(&c->b, LIFE_INPUT, DT_F32, DIMS(1)), none = build_int(&c->b, 0);
    uint32_t third = build_operand(&c->b, LIFE_TEMPORARY, DT_F32, DIMS(1));
    uint32_t limit = build_constant(&c->b, DT_F32, DIMS(1), &two);
    uint32_t less = build_operand(&c->b, LIFE_TEMPORARY, DT_B8, DIMS(1));
    uint32_t y = build_operand(&c->b, LIFE_OUTPUT, DT_F32, DIMS(1));
    float three = 3;
    OPERATION(&c->b, "DIV", IDS(x, build_constant(&c->b, DT_F32, DIMS(1), &three), none),
              IDS(third));
    OPERATION(&c->b, "LESS", IDS(third, limit), IDS(less));
    OPERATION(&c->b, "IF", IDS(less, build_subgraph(&c->b, 1), build_subgraph(&c->b, 2), x),
              IDS(y));
}

START_TEST(if_takes_one_branch)
{
    static const float xs[] = { 3, 30 }, ys[] = { 13, 300 };
    struct exec_options options = { .bounds = true };

    for (int i = 0; i < 2; i++) {
        struct control c;
        float x = xs[i];
        build_branch(&c);
        struct tensor in = { .dtype = DT_F32, .shape = DIMS(1), .data = &x };
        ck_assert_msg(control_run(&c, &in, &options) == 0, "%s", c.w.text);
        ck_assert_float_eq(*(float *) c.r.out[0].data, ys[i]);
        ck_assert(c.r.bound[0][0] < 1e-4);
        ck_assert_int_eq(plan_level(c.plan), 4);
        control_done(&c);
    }
}
END_TEST

/* 6 / 3 equals the limit 2 up to rounding, so an implementation may take the other branch. */
START_TEST(if_whose_condition_depends_on_rounding_is_undecided)
{
    struct exec_options options = { .bounds = true };
    struct control c;
    float x = 6;

    build_branch(&c);
    struct tensor in = { .dtype = DT_F32, .shape = DIMS(1), .data = &x };
    ck_assert_msg(control_run(&c, &in, &options) == 0, "%s", c.w.text);
    ck_assert_float_eq(*(float *) c.r.out[0].data, 60);
    ck_assert(isinf(c.r.bound[0][0]));
    control_done(&c);
}
END_TEST

START_TEST(if_without_arguments)
{
    struct control c = { 0 };
    bool truth = true;
    float one = 1, two = 2;

    build_init(&c.b, 3);
    for (uint32_t g = 1; g <= 2; g++) {
        build_graph(&c.b, g);
        uint32_t k = build_constant(&c.b, DT_F32, DIMS(1), g == 1 ? &one : &two);
        OPERATION(&c.b, "RELU", IDS(k), IDS(build_operand(&c.b, LIFE_OUTPUT, DT_F32, DIMS(1))));
    }
    build_graph(&c.b, 0);
    uint32_t condition = build_operand(&c.b, LIFE_INPUT, DT_B8, DIMS(1));
    OPERATION(&c.b, "IF", IDS(condition, build_subgraph(&c.b, 1), build_subgraph(&c.b, 2)),
              IDS(build_operand(&c.b, LIFE_OUTPUT, DT_F32, DIMS(1))));
    struct tensor in = { .dtype = DT_B8, .shape = DIMS(1), .data = &truth };
    ck_assert_msg(control_run(&c, &in, NULL) == 0, "%s", c.w.text);
    ck_assert_float_eq(*(float *) c.r.out[0].data, 1);
    control_done(&c);
}
END_TEST

START_TEST(if_without_condition_prepares_but_does_not_run)
{
    struct control c;

    build_branch(&c);
    struct operation *last = &c.b.model.graph[0].operation[2];
    build_graph(&c.b, 0);
    last->in[0] = build_operand(&c.b, LIFE_NO_VALUE, DT_B8, DIMS(1));
    float x = 1;
    struct tensor in = { .dtype = DT_F32, .shape = DIMS(1), .data = &x };
    ck_assert_int_lt(control_run(&c, &in, NULL), 0);
    ck_assert_msg(c.w.code == WHY_EXECUTION && strstr(c.w.text, "condition"), "%s", c.w.text);
    ck_assert_ptr_nonnull(c.plan);
    control_done(&c);
}
END_TEST

/* while (n < limit) { x = x + x; n = n + 1 }: x is an output, n is internal state, limit is
 * constant.  endless: n does not change. */
static void build_loop(struct control *c, bool endless)
{
    static const int32_t one = 1, zero = 0;

    *c = (struct control){ 0 };
    build_init(&c->b, 3);
    for (uint32_t g = 1; g <= 2; g++) {
        build_graph(&c->b, g);
        uint32_t x = build_operand(&c->b, LIFE_INPUT, DT_F32, DIMS(2));
        uint32_t n = build_operand(&c->b, LIFE_INPUT, DT_I32, DIMS(1));
        uint32_t limit = build_operand(&c->b, LIFE_INPUT, DT_I32, DIMS(1));
        uint32_t none = build_int(&c->b, 0);
        uint32_t step = build_constant(&c->b, DT_I32, DIMS(1), endless ? &zero : &one);
        if (g == 1) {
            OPERATION(&c->b, "LESS", IDS(n, limit),
                      IDS(build_operand(&c->b, LIFE_OUTPUT, DT_B8, DIMS(1))));
        } else {
            OPERATION(&c->b, "ADD", IDS(x, x, none),
                      IDS(build_operand(&c->b, LIFE_OUTPUT, DT_F32, DIMS(2))));
            OPERATION(&c->b, "ADD", IDS(n, step, none),
                      IDS(build_operand(&c->b, LIFE_OUTPUT, DT_I32, DIMS(1))));
        }
    }
    build_graph(&c->b, 0);
    uint32_t x = build_operand(&c->b, LIFE_INPUT, DT_F32, DIMS(2));
    uint32_t limit = build_operand(&c->b, LIFE_INPUT, DT_I32, DIMS(1));
    uint32_t n = build_constant(&c->b, DT_I32, DIMS(1), &zero);
    uint32_t y = build_operand(&c->b, LIFE_OUTPUT, DT_F32, DIMS(2));
    OPERATION(&c->b, "WHILE", IDS(build_subgraph(&c->b, 1), build_subgraph(&c->b, 2), x, n, limit),
              IDS(y));
}

static int loop_run(struct control *c, int32_t count, const struct exec_options *o)
{
    static float x[2] = { 1, -3 };
    struct tensor in[] = { { .dtype = DT_F32, .shape = DIMS(2), .data = x },
                           { .dtype = DT_I32, .shape = DIMS(1), .data = &count } };

    return control_run(c, in, o);
}

START_TEST(while_iterates)
{
    static const int32_t counts[] = { 0, 1, 2, 7, 20 };
    struct exec_options options = { .bounds = true };
    struct control c;

    build_loop(&c, false);
    ck_assert_msg(loop_run(&c, counts[_i], &options) == 0, "%s", c.w.text);
    const float *y = c.r.out[0].data;
    ck_assert_float_eq(y[0], ldexpf(1, counts[_i]));
    ck_assert_float_eq(y[1], ldexpf(-3, counts[_i]));
    ck_assert(counts[_i] == 0 ? c.r.bound[0][0] == 0 : c.r.bound[0][0] > 0);
    ck_assert(c.r.bound[0][0] < 1e-5 * (double) y[0]);
    control_done(&c);
}
END_TEST

START_TEST(endless_loops_time_out)
{
    struct exec_options limits[] = { { .loop_timeout = 0.05 }, { .max_iterations = 1000 } };
    struct control c;

    for (int i = 0; i < COUNT(limits); i++) {
        build_loop(&c, true);
        ck_assert_int_lt(loop_run(&c, 1, &limits[i]), 0);
        ck_assert_msg(c.w.code == WHY_TIMEOUT, "%s", c.w.text);
        control_done(&c);
    }
}
END_TEST

Suite *ops_control_suite(void)
{
    TCase *t = tcase_create("results");

    tcase_add_test(t, if_takes_one_branch);
    tcase_add_test(t, if_whose_condition_depends_on_rounding_is_undecided);
    tcase_add_test(t, if_without_arguments);
    tcase_add_test(t, if_without_condition_prepares_but_does_not_run);
    tcase_add_loop_test(t, while_iterates, 0, 5);
    tcase_add_test(t, endless_loops_time_out);
    return make_suite("ops_control", t, NULL);
}
