/* IF and WHILE in the executor: branches, loops, nesting, limits, undecided conditions, and
 * subgraphs whose shapes or signatures contradict the model. */
#include <check.h>
#include <math.h>
#include <string.h>

#include "golden/model/build.h"
#include "tests/support/check_main.h"

static struct build b;
static struct why w;
static struct plan *plan;
static struct result r;

static const struct shape unknown = { 0 };

static void set_up(void)
{
    w = (struct why){ 0 };
    plan = NULL;
    r = (struct result){ 0 };
}

static void tear_down(void)
{
    result_done(&r);
    plan_free(plan);
    build_done(&b);
}

static struct tensor floats(struct shape shape, const float *data)
{
    return (struct tensor){ DT_F32, shape, .data = (void *) data };
}

static struct tensor truth(const unsigned char *data)
{
    return (struct tensor){ DT_B8, DIMS(1), .data = (void *) data };
}

static struct tensor ints(const int32_t *data)
{
    return (struct tensor){ DT_I32, DIMS(1), .data = (void *) data };
}

static int run(const struct tensor *in, const struct exec_options *options)
{
    result_done(&r);
    plan_free(plan);
    plan = NULL;
    if (plan_new(&b.model, &plan, &w) < 0)
        return -1;
    return plan_run(plan, in, options, &r, &w);
}

#define FAILS(options, reason, part)                                                               \
    do {                                                                                           \
        ck_assert_int_lt(run(in, options), 0);                                                     \
        ck_assert_msg(w.code == (reason) && strstr(w.text, part), "%d: %s", w.code, w.text);       \
    } while (0)

#define RUNS(options) ck_assert_msg(run(in, options) == 0, "%s", w.text)

/* Graph `index`: one float input, out = x NAME x. */
static void binary_graph(uint32_t index, const char *name, struct shape in, struct shape out)
{
    build_graph(&b, index);
    uint32_t x = build_operand(&b, LIFE_INPUT, DT_F32, in);
    uint32_t act = build_int(&b, 0);
    uint32_t y = build_operand(&b, LIFE_OUTPUT, DT_F32, out);
    OPERATION(&b, name, IDS(x, x, act), IDS(y));
}

/* Graph 0: out = condition ? graph then(x) : graph other(x) */
static void branch(uint32_t then, uint32_t other, struct shape out)
{
    build_graph(&b, 0);
    uint32_t c = build_operand(&b, LIFE_INPUT, DT_B8, DIMS(1));
    uint32_t x = build_operand(&b, LIFE_INPUT, DT_F32, DIMS(2));
    uint32_t y = build_operand(&b, LIFE_OUTPUT, DT_F32, out);
    uint32_t a = build_subgraph(&b, then), o = build_subgraph(&b, other);
    OPERATION(&b, "IF", IDS(c, a, o, x), IDS(y));
}

static const float xs[] = { 3, 5 };
static const unsigned char yes[] = { 1 }, no[] = { 0 };

START_TEST(if_takes_the_branch)
{
    struct tensor in[] = { truth(yes), floats(DIMS(2), xs) };
    const float sum[] = { 6, 10 }, product[] = { 9, 25 };

    build_init(&b, 3);
    binary_graph(1, "ADD", DIMS(2), DIMS(2));
    binary_graph(2, "MUL", DIMS(2), DIMS(2));
    branch(1, 2, DIMS(2));
    RUNS(NULL);
    ck_assert_mem_eq(r.out[0].data, sum, sizeof sum);
    in[0] = truth(no);
    RUNS(NULL);
    ck_assert_mem_eq(r.out[0].data, product, sizeof product);
}
END_TEST

START_TEST(if_may_name_one_graph_twice)
{
    struct tensor in[] = { truth(no), floats(DIMS(2), xs) };

    build_init(&b, 2);
    binary_graph(1, "MUL", DIMS(2), DIMS(2));
    branch(1, 1, DIMS(2));
    RUNS(NULL);
    ck_assert_double_eq((double) ((float *) r.out[0].data)[1], 25);
}
END_TEST

START_TEST(shapes_unknown_inside_and_outside)
{
    struct tensor in[] = { truth(yes), floats(DIMS(2), xs) };

    build_init(&b, 2);
    binary_graph(1, "ADD", unknown, unknown);
    branch(1, 1, unknown);
    RUNS(NULL);
    ck_assert(shape_equal(&r.out[0].shape, &DIMS(2)));
}
END_TEST

/* The subgraph declares no shape for its output; the computed one is not what the model declares.
 */
START_TEST(results_must_fit_the_declaration_outside)
{
    struct tensor in[] = { truth(yes), floats(DIMS(2), xs) };

    build_init(&b, 2);
    binary_graph(1, "ADD", unknown, unknown);
    branch(1, 1, DIMS(3));
    FAILS(NULL, WHY_EXECUTION, "output 0 has shape [2], declared [3]");
}
END_TEST

START_TEST(a_condition_has_one_element)
{
    struct tensor in[] = { truth(yes), floats(DIMS(2), xs) };

    build_init(&b, 2);
    binary_graph(1, "ADD", DIMS(2), DIMS(2));
    branch(1, 1, DIMS(2));
    b.model.graph[0].operand[0].tensor.shape = in[0].shape = DIMS(1, 1);
    ck_assert_int_lt(model_validate(&b.model, &w), 0);
    ck_assert_int_eq(w.code, WHY_EXECUTION);
    FAILS(NULL, WHY_EXECUTION, "condition");
    in[0].data = NULL;
    b.model.graph[0].operand[0].tensor.shape = DIMS(1);
    FAILS(NULL, WHY_EXECUTION, "condition");
}
END_TEST

/* x / 3 < y ? x + x : x * x; for x = 3, y = 1 the condition depends on rounding. */
static void undecided_model(void)
{
    const float third = 1.0f / 3;

    build_init(&b, 3);
    binary_graph(1, "ADD", DIMS(1), DIMS(1));
    binary_graph(2, "MUL", DIMS(1), DIMS(1));
    build_graph(&b, 0);
    uint32_t x = build_operand(&b, LIFE_INPUT, DT_F32, DIMS(1));
    uint32_t y = build_operand(&b, LIFE_INPUT, DT_F32, DIMS(1));
    uint32_t factor = build_constant(&b, DT_F32, DIMS(1), &third), act = build_int(&b, 0);
    uint32_t t = build_operand(&b, LIFE_TEMPORARY, DT_F32, DIMS(1));
    uint32_t c = build_operand(&b, LIFE_TEMPORARY, DT_B8, DIMS(1));
    uint32_t z = build_operand(&b, LIFE_OUTPUT, DT_F32, DIMS(1));
    uint32_t sum = build_subgraph(&b, 1), product = build_subgraph(&b, 2);
    OPERATION(&b, "MUL", IDS(x, factor, act), IDS(t));
    OPERATION(&b, "LESS", IDS(t, y), IDS(c));
    OPERATION(&b, "IF", IDS(c, sum, product, x), IDS(z));
}

START_TEST(undecided_conditions_give_infinite_bounds)
{
    const float x = 3, near = 1, far = 2;
    struct tensor in[] = { floats(DIMS(1), &x), floats(DIMS(1), &near) };
    struct exec_options options = { .bounds = true };

    undecided_model();
    RUNS(&options);
    ck_assert_double_eq(r.bound[0][0], (double) INFINITY);
    in[1] = floats(DIMS(1), &far);
    RUNS(&options);
    ck_assert_double_lt(r.bound[0][0], 1e-5);
    ck_assert_double_eq(r.real[0][0], 6);
}
END_TEST

/* while (i < n) { i = i + step; x = x + x; }; rest: n.  cond is graph 1, body 2. */
static void loop(int32_t step_value, struct shape x_shape)
{
    build_init(&b, 3);
    build_graph(&b, 1);
    uint32_t i = build_operand(&b, LIFE_INPUT, DT_I32, DIMS(1));
    build_operand(&b, LIFE_INPUT, DT_F32, x_shape);
    uint32_t n = build_operand(&b, LIFE_INPUT, DT_I32, DIMS(1));
    uint32_t go_on = build_operand(&b, LIFE_OUTPUT, DT_B8, DIMS(1));
    OPERATION(&b, "LESS", IDS(i, n), IDS(go_on));

    build_graph(&b, 2);
    i = build_operand(&b, LIFE_INPUT, DT_I32, DIMS(1));
    uint32_t x = build_operand(&b, LIFE_INPUT, DT_F32, x_shape);
    build_operand(&b, LIFE_INPUT, DT_I32, DIMS(1));
    uint32_t step = build_constant(&b, DT_I32, DIMS(1), &step_value), act = build_int(&b, 0);
    uint32_t i2 = build_operand(&b, LIFE_OUTPUT, DT_I32, DIMS(1));
    uint32_t x2 = build_operand(&b, LIFE_OUTPUT, DT_F32, x_shape);
    OPERATION(&b, "ADD", IDS(i, step, act), IDS(i2));
    OPERATION(&b, "ADD", IDS(x, x, act), IDS(x2));

    build_graph(&b, 0);
    i = build_operand(&b, LIFE_INPUT, DT_I32, DIMS(1));
    x = build_operand(&b, LIFE_INPUT, DT_F32, x_shape);
    n = build_operand(&b, LIFE_INPUT, DT_I32, DIMS(1));
    i2 = build_operand(&b, LIFE_OUTPUT, DT_I32, DIMS(1));
    x2 = build_operand(&b, LIFE_OUTPUT, DT_F32, x_shape);
    uint32_t cond = build_subgraph(&b, 1), body = build_subgraph(&b, 2);
    OPERATION(&b, "WHILE", IDS(cond, body, i, x, n), IDS(i2, x2));
}

static const int32_t zero = 0, ten = 10;

START_TEST(while_iterates)
{
    struct tensor in[] = { ints(&zero), floats(DIMS(2), xs), ints(&ten) };
    struct exec_options options = { .bounds = true };

    loop(1, DIMS(2));
    RUNS(&options);
    ck_assert_int_eq(*(int32_t *) r.out[0].data, 10);
    ck_assert_double_eq(r.real[1][1], 5 * 1024);
    ck_assert_double_gt(r.bound[1][1], 0);
    ck_assert_double_lt(r.bound[1][1], 0.01);
}
END_TEST

START_TEST(a_loop_without_iterations_returns_its_arguments)
{
    struct tensor in[] = { ints(&ten), floats(DIMS(2), xs), ints(&ten) };

    loop(1, DIMS(2));
    RUNS(NULL);
    ck_assert_mem_eq(r.out[1].data, xs, sizeof xs);
    in[1].data = NULL;
    FAILS(NULL, WHY_EXECUTION, "output 1 has no value");
}
END_TEST

START_TEST(endless_loops_time_out)
{
    struct tensor in[] = { ints(&zero), floats(DIMS(2), xs), ints(&ten) };
    struct exec_options options = { .loop_timeout = 0.05 };

    loop(0, DIMS(2));
    FAILS(&options, WHY_TIMEOUT, "a loop ran for more than 0.05 s");
    options = (struct exec_options){ .max_iterations = 100 };
    FAILS(&options, WHY_TIMEOUT, "a loop exceeded 100 iterations");
    options = (struct exec_options){ .max_operations = 1000 };
    FAILS(&options, WHY_TIMEOUT, "more than 1000 operations");
}
END_TEST

/* The body concatenates x with itself: 2^41 elements after 40 iterations. */
START_TEST(growing_loops_run_out_of_memory)
{
    const int32_t n = 40;
    struct tensor in[] = { ints(&zero), floats(DIMS(2), xs), ints(&n) };
    struct exec_options options = { .memory_limit = 1 << 20 };

    loop(1, unknown);
    struct graph *body = &b.model.graph[2];
    struct operation *join = &body->operation[1];
    build_graph(&b, 2);
    uint32_t axis = build_int(&b, 0);
    b.graph->n_operations = 1;
    OPERATION(&b, "CONCATENATION", IDS(join->in[0], join->in[1], axis), IDS(join->out[0]));
    FAILS(&options, WHY_MEMORY, "");
    ck_assert_int_eq(w.code, WHY_MEMORY);
}
END_TEST

/* The signature is checked at preparation although the condition's shape, which is an execution
 * failure, is wrong too. */
START_TEST(signatures_are_checked_even_if_shapes_contradict)
{
    build_init(&b, 2);
    binary_graph(1, "ADD", DIMS(2), DIMS(2));
    branch(1, 1, DIMS(2));
    b.graph->operand[0].tensor.shape = DIMS(1, 1);
    b.graph->operation[0].n_in = 3;
    ck_assert_int_lt(plan_new(&b.model, &plan, &w), 0);
    ck_assert_int_eq(w.code, WHY_INVALID);
    ck_assert_msg(strstr(w.text, "IF: 0 inputs where the subgraph has 1"), "%s", w.text);
}
END_TEST

/* Graph i is an IF over graph i + 1. */
static void tower(uint32_t n)
{
    build_init(&b, n);
    for (uint32_t g = 1; g < n - 1; g++) {
        build_graph(&b, g);
        uint32_t x = build_operand(&b, LIFE_INPUT, DT_F32, DIMS(2));
        uint32_t c = build_constant(&b, DT_B8, DIMS(1), yes);
        uint32_t y = build_operand(&b, LIFE_OUTPUT, DT_F32, DIMS(2));
        uint32_t next = build_subgraph(&b, g + 1);
        OPERATION(&b, "IF", IDS(c, next, next, x), IDS(y));
    }
    binary_graph(n - 1, "ADD", DIMS(2), DIMS(2));
    branch(1, 1, DIMS(2));
}

START_TEST(deep_nesting_is_limited)
{
    struct tensor in[] = { truth(yes), floats(DIMS(2), xs) };

    tower(64);
    RUNS(NULL);
    ck_assert_double_eq((double) ((float *) r.out[0].data)[0], 6);
    build_done(&b);
    tower(65);
    FAILS(NULL, WHY_INVALID, "nested more than 64 deep");
}
END_TEST

/* The main graph refers to the deepest graphs first, so each has a small depth when it is visited.
 */
START_TEST(deep_nesting_is_found_in_any_order)
{
    tower(400);
    struct graph *main = &b.model.graph[0];
    struct operand all[400 + BUILD_MAX];
    uint32_t n = main->n_operands;

    memcpy(all, main->operand, n * sizeof *all);
    for (uint32_t g = 399; g >= 2; g--) {
        all[n] = all[n - 1];
        all[n].life = LIFE_SUBGRAPH;
        all[n].tensor = (struct tensor){ .dtype = DT_MODEL };
        all[n++].subgraph = g;
    }
    main->operand = all; /* operands 3 and 4 refer to graph 1 */
    for (uint32_t i = 3; i < 5; i++) {
        struct operand shallow = all[i];
        all[i] = all[n - 5 + i];
        all[n - 5 + i] = shallow;
        main->operation[0].in[i - 2] = n - 5 + i;
    }
    main->n_operands = n;
    ck_assert_int_lt(model_validate(&b.model, &w), 0);
    ck_assert_msg(strstr(w.text, "nested more than 64 deep"), "%s", w.text);
}
END_TEST

/* Each graph runs the next one twice: 2^40 operations without a loop. */
START_TEST(exponential_graphs_time_out)
{
    enum { N = 40 };
    struct tensor in[] = { truth(yes), floats(DIMS(2), xs) };
    struct exec_options options = { .max_operations = 10000 };

    tower(N);
    for (uint32_t g = 1; g < N - 1; g++) {
        build_graph(&b, g);
        uint32_t t = build_operand(&b, LIFE_TEMPORARY, DT_F32, DIMS(2));
        struct operation *first = &b.graph->operation[0];
        OPERATION(&b, "IF", IDS(first->in[0], first->in[1], first->in[2], t), IDS(first->out[0]));
        first->out[0] = t;
    }
    FAILS(&options, WHY_TIMEOUT, "more than 10000 operations");
}
END_TEST

START_TEST(subgraphs_may_not_contain_themselves)
{
    tower(4);
    b.model.graph[2].operand[3].subgraph = 1;
    ck_assert_int_lt(model_validate(&b.model, &w), 0);
    ck_assert_msg(strstr(w.text, "contains itself"), "%s", w.text);
}
END_TEST

START_TEST(quantisation_per_channel_is_part_of_a_signature)
{
    static const float outside[] = { 0.5f, 0.25f }, inside[] = { 0.5f, 1 };
    struct graph *sub;

    build_init(&b, 2);
    build_graph(&b, 1);
    uint32_t x = build_operand(&b, LIFE_INPUT, DT_PC8, DIMS(2));
    uint32_t y = build_operand(&b, LIFE_OUTPUT, DT_F32, DIMS(2));
    OPERATION(&b, "DEQUANTIZE", IDS(x), IDS(y));
    sub = b.graph;
    branch(1, 1, DIMS(2));
    b.graph->operand[1].tensor.dtype = DT_PC8;
    b.graph->operand[1].tensor.n_channels = sub->operand[x].tensor.n_channels = 2;
    b.graph->operand[1].tensor.channel_scale = outside;
    sub->operand[x].tensor.channel_scale = inside;
    ck_assert_int_lt(model_validate(&b.model, &w), 0);
    ck_assert_msg(strstr(w.text, "differs in scale"), "%s", w.text);
    sub->operand[x].tensor.channel_scale = outside;
    ck_assert_msg(model_validate(&b.model, &w) == 4, "%s", w.text);
}
END_TEST

Suite *plan_control_suite(void)
{
    TCase *t = tcase_create("all");

    tcase_add_checked_fixture(t, set_up, tear_down);
    tcase_add_test(t, if_takes_the_branch);
    tcase_add_test(t, if_may_name_one_graph_twice);
    tcase_add_test(t, shapes_unknown_inside_and_outside);
    tcase_add_test(t, results_must_fit_the_declaration_outside);
    tcase_add_test(t, a_condition_has_one_element);
    tcase_add_test(t, undecided_conditions_give_infinite_bounds);
    tcase_add_test(t, while_iterates);
    tcase_add_test(t, a_loop_without_iterations_returns_its_arguments);
    tcase_add_test(t, endless_loops_time_out);
    tcase_add_test(t, growing_loops_run_out_of_memory);
    tcase_add_test(t, signatures_are_checked_even_if_shapes_contradict);
    tcase_add_test(t, deep_nesting_is_limited);
    tcase_add_test(t, deep_nesting_is_found_in_any_order);
    tcase_add_test(t, exponential_graphs_time_out);
    tcase_add_test(t, subgraphs_may_not_contain_themselves);
    tcase_add_test(t, quantisation_per_channel_is_part_of_a_signature);
    return make_suite("plan_control", t, NULL);
}
