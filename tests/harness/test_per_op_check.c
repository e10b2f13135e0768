/* The per-operation check: splitting a model into models of one operation, and their verdict. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "golden/model/build.h"
#include "harness/check/blame.h"
#include "harness/check/per_op_check.h"
#include "harness/check/variation.h"
#include "sim/client/runtime.h"
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

/* RELU(SLICE(x)) with no elements: what RELU reads cannot be given by a request. */
START_TEST(an_input_without_elements_is_made_by_slice)
{
    static const int32_t begin[] = { 1, 0 }, size[] = { 0, 3 };
    static float data[6];
    struct arena *a = arena_new(0);
    struct build s;
    struct example part;
    struct parts all;
    struct plan *plan;
    struct result r;
    struct why w = { 0 };
    uint32_t relu = 1;

    build_init(&s, 1);
    uint32_t x = build_operand(&s, LIFE_INPUT, DT_F32, DIMS(2, 3));
    uint32_t from = build_constant(&s, DT_I32, DIMS(2), begin);
    uint32_t count = build_constant(&s, DT_I32, DIMS(2), size);
    uint32_t none = build_operand(&s, LIFE_TEMPORARY, DT_F32, DIMS(0, 3));
    uint32_t y = build_operand(&s, LIFE_OUTPUT, DT_F32, DIMS(0, 3));
    OPERATION(&s, "SLICE", IDS(x, from, count), IDS(none));
    OPERATION(&s, "RELU", IDS(none), IDS(y));
    model_count_consumers(&s.model);
    struct tensor given = s.graph->operand[x].tensor, result = s.graph->operand[y].tensor;
    given.data = data;
    const struct example whole = {
        .name = "empty", .model = s.model, .in = &given, .expected = &result, .since = "UNKNOWN"
    };

    ck_assert_msg(parts_find(&whole, a, &all, &w) == 0, "%s", w.text);
    ck_assert_int_eq(part_make(&all, &relu, 1, a, &part, &w), 0);
    ck_assert(!part_has_empty_input(&part));
    ck_assert_msg(model_validate(&part.model, &w) > 0, "%s", w.text);
    ck_assert_uint_eq(part.model.graph[0].n_operations, 2);
    ck_assert_int_eq(part.model.graph[0].operation[0].code, OP_SLICE);
    ck_assert_int_eq(part.model.graph[0].operation[1].code, OP_RELU);
    ck_assert_int_eq(plan_new(&part.model, &plan, &w), 0);
    ck_assert_msg(plan_run(plan, part.in, NULL, &r, &w) == 0, "%s", w.text);
    ck_assert_uint_eq(r.n, 1);
    ck_assert_uint_eq(r.out[0].shape.rank, 2);
    ck_assert_uint_eq(r.out[0].shape.dim[0], 0);
    ck_assert_uint_eq(r.out[0].shape.dim[1], 3);
    result_done(&r);
    plan_free(plan);

    part.in[0].shape.dim[0] = 0; /* as of a type that SLICE does not take */
    ck_assert(part_has_empty_input(&part));
    ck_assert_int_eq(check_part(&part, NULL, NULL).verdict, VERDICT_UNSUPPORTED);
    build_done(&s);
    arena_free(a);
}
END_TEST

/* while (x >= 0) x = x - 1, from 4 on: the condition is computed 6 times, the body 5 times. */
START_TEST(the_last_turn_of_a_loop_is_kept)
{
    static const struct {
        uint64_t call;
        float x;
    } kept[][4] = { { { 1, 4 }, { 2, 3 }, { 4, 1 }, { 6, -1 } },
                    { { 1, 4 }, { 2, 3 }, { 4, 1 }, { 5, 0 } } };
    struct arena *a = arena_new(0);
    struct build s;
    struct parts all;
    struct why w = { 0 };
    float from = 4;
    uint32_t n[2] = { 0, 0 };

    build_init(&s, 3);
    uint32_t cond = build_subgraph(&s, 1), body = build_subgraph(&s, 2);
    uint32_t x = build_operand(&s, LIFE_INPUT, DT_F32, DIMS(1));
    uint32_t y = build_operand(&s, LIFE_OUTPUT, DT_F32, DIMS(1));
    OPERATION(&s, "WHILE", IDS(cond, body, x), IDS(y));
    struct tensor given = s.graph->operand[x].tensor, result = s.graph->operand[y].tensor;
    given.data = &from;
    for (uint32_t g = 1; g < 3; g++) {
        build_graph(&s, g);
        x = build_operand(&s, LIFE_INPUT, DT_F32, DIMS(1));
        uint32_t by = build_constant(&s, DT_F32, DIMS(1), &(float){ g == 2 });
        uint32_t act = build_int(&s, 0);
        y = build_operand(&s, LIFE_OUTPUT, g == 1 ? DT_B8 : DT_F32, DIMS(1));
        if (g == 1)
            OPERATION(&s, "GREATER_EQUAL", IDS(x, by), IDS(y));
        else
            OPERATION(&s, "SUB", IDS(x, by, act), IDS(y));
    }
    build_graph(&s, 0);
    model_count_consumers(&s.model);
    const struct example whole = {
        .name = "loop", .model = s.model, .in = &given, .expected = &result, .since = "UNKNOWN"
    };

    ck_assert_msg(parts_find(&whole, a, &all, &w) == 0, "%s", w.text);
    ck_assert_uint_eq(all.n_bodies, 8);
    for (uint32_t i = 0; i < all.n_bodies; i++) {
        const struct body_call *call = &all.body[i];
        const uint32_t g = call->graph - 1, k = n[g]++;
        ck_assert_uint_eq(call->call, kept[g][k].call);
        ck_assert_float_eq(*(const float *) call->in[0].data, kept[g][k].x);
    }
    build_done(&s);
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

/* ---- blame */

static const float x3[] = { -3, 2, 8 }, y3[] = { 1, 2, 3 };
static const uint8_t yes = 1;

static uint32_t floats(enum lifetime life)
{
    return build_operand(&b, life, DT_F32, DIMS(3));
}

/* Takes over the model that was built, of inputs x (of 3 floats) and y. */
static void set_example(const void *x, const void *y)
{
    model_count_consumers(&b.model);
    for (uint32_t i = 0; i < b.model.graph[0].n_inputs; i++) {
        in[i] = b.model.graph[0].operand[b.model.graph[0].input[i]].tensor;
        in[i].data = (void *) (i ? y : x);
    }
    expected[0] = b.model.graph[0].operand[b.model.graph[0].output[0]].tensor;
    e = (struct example){
        .name = "blame", .model = b.model, .in = in, .expected = expected, .since = "UNKNOWN"
    };
}

static void begin_model(uint32_t n_graphs)
{
    build_done(&b);
    build_init(&b, n_graphs);
}

/* z = -(relu(x + y) ): the second of three operations has the activation */
static void build_middle(void)
{
    begin_model(1);
    uint32_t x = floats(LIFE_INPUT), y = floats(LIFE_INPUT), relu = build_int(&b, 1);
    uint32_t s = floats(LIFE_TEMPORARY), t = floats(LIFE_TEMPORARY), z = floats(LIFE_OUTPUT);
    OPERATION(&b, "FLOOR", IDS(x), IDS(s));
    OPERATION(&b, "ADD", IDS(s, y, relu), IDS(t));
    OPERATION(&b, "NEG", IDS(t), IDS(z));
    set_example(x3, y3);
}

/* NEG, if it computes in place, overwrites the result of FLOOR, which MAXIMUM reads later. */
static void build_pair(void)
{
    begin_model(1);
    uint32_t x = floats(LIFE_INPUT), y = floats(LIFE_INPUT);
    uint32_t f = floats(LIFE_TEMPORARY), a = floats(LIFE_TEMPORARY), n = floats(LIFE_TEMPORARY);
    uint32_t m = floats(LIFE_TEMPORARY), z = floats(LIFE_OUTPUT);
    OPERATION(&b, "FLOOR", IDS(x), IDS(f));
    OPERATION(&b, "ABS", IDS(y), IDS(a));
    OPERATION(&b, "NEG", IDS(f), IDS(n));
    OPERATION(&b, "MAXIMUM", IDS(f, n), IDS(m));
    OPERATION(&b, "ADD", IDS(m, a, build_int(&b, 0)), IDS(z));
    set_example(x3, y3);
}

/* z = -(condition ? floor(relu(x + x)) : x) */
static void build_if(void)
{
    begin_model(3);
    uint32_t x = floats(LIFE_INPUT);
    uint32_t c = build_operand(&b, LIFE_INPUT, DT_B8, DIMS(1));
    uint32_t then = build_subgraph(&b, 1), otherwise = build_subgraph(&b, 2);
    uint32_t t = floats(LIFE_TEMPORARY), z = floats(LIFE_OUTPUT);
    OPERATION(&b, "IF", IDS(c, then, otherwise, x), IDS(t));
    OPERATION(&b, "NEG", IDS(t), IDS(z));
    build_graph(&b, 1);
    uint32_t p = floats(LIFE_INPUT), relu = build_int(&b, 1);
    uint32_t q = floats(LIFE_TEMPORARY), r = floats(LIFE_OUTPUT);
    OPERATION(&b, "FLOOR", IDS(p), IDS(q));
    OPERATION(&b, "ADD", IDS(q, q, relu), IDS(r));
    build_graph(&b, 2);
    uint32_t s = floats(LIFE_INPUT), o = floats(LIFE_OUTPUT);
    OPERATION(&b, "ABS", IDS(s), IDS(o));
    build_graph(&b, 0);
    set_example(x3, &yes);
}

/* Runs the example on a target where it does not conform, and blames. */
static struct blame blame_on(const char *uri, uint32_t most_runs, struct check *c)
{
    struct blame_options options = { .most_runs = most_runs };
    struct check_result r;
    struct blame found;
    struct outcome o;
    struct target *t;
    struct why w = { 0 };

    ck_assert_msg(target_open(uri, NULL, &t, &w) == 0, "%s", w.text);
    ck_assert_int_eq(check_begin(c, &e, JUDGE_BOUND, &w), 0);
    check_reference(c);
    ck_assert_msg(!c->reference_why[0], "%s", c->reference_why);
    ck_assert_int_eq(check_run(c, t, &o, &r), 0);
    check_judge(c, &o, &r, NULL);
    ck_assert_msg(blame_applies(c, &r), "%s: %s", verdict_name[r.verdict], r.why);
    ck_assert_msg(blame_find(c, t, &r, &options, &found, &w) == 0, "%s", w.text);
    target_free(t);
    return found;
}

START_TEST(an_operation_in_the_middle_is_blamed)
{
    struct check c;
    char text[BLAMED_TEXT];

    build_middle();
    struct blame found = blame_on("sim:cpu?fault=activation-lost", 0, &c);
    ck_assert_uint_eq(found.graph, 0);
    ck_assert_uint_eq(found.operation, 1);
    ck_assert_int_eq(found.code, op_by_name("ADD")->code);
    ck_assert(found.is_alone && !found.is_any && !found.ran_out);
    ck_assert_uint_eq(found.count, 1);
    /* floor(-3) + 1, with ReLU 0 and without it -2; the other sums are positive */
    ck_assert_double_eq(found.own.expected, 0);
    ck_assert_double_eq(found.own.actual, -2);
    ck_assert_str_eq(found.own.place, "[0]");
    ck_assert_uint_eq(found.own.wrong, 1);
    struct blamed summary = blame_summary(&c, &found);
    ck_assert_str_eq(summary.name, "ADD");
    ck_assert_ptr_nonnull(strstr(blamed_text(&summary, text, sizeof text),
                                 "operation 1 (ADD, TENSOR_FLOAT32) alone: "));
    check_done(&c);
}
END_TEST

START_TEST(operations_that_are_wrong_together_are_blamed)
{
    struct check c;

    build_pair();
    struct blame found = blame_on("sim:cpu?fault=in-place", 0, &c);
    ck_assert(!found.is_alone && !found.ran_out);
    ck_assert_uint_eq(found.count, 2);
    ck_assert_uint_eq(found.first, 0);
    ck_assert_uint_eq(found.member[0], 0);
    ck_assert_uint_eq(found.member[1], 2);
    ck_assert_str_eq(blame_summary(&c, &found).name, "FLOOR (0), NEG (2)");
    check_done(&c);
}
END_TEST

START_TEST(an_operation_of_a_subgraph_is_blamed)
{
    struct check c;

    build_if();
    struct blame found = blame_on("sim:cpu?fault=activation-lost", 0, &c);
    ck_assert_uint_eq(found.graph, 1);
    ck_assert_uint_eq(found.operation, 1);
    ck_assert_int_eq(found.code, op_by_name("ADD")->code);
    ck_assert_double_eq(found.own.actual, -6); /* floor(-3) + floor(-3) */
    check_done(&c);
}
END_TEST

START_TEST(control_flow_itself_is_blamed)
{
    struct check c;

    build_if();
    struct blame found = blame_on("sim:cpu?fault=branches-swapped", 0, &c);
    ck_assert_uint_eq(found.graph, 0);
    ck_assert_uint_eq(found.operation, 0);
    ck_assert_int_eq(found.code, op_by_name("IF")->code);
    ck_assert(found.is_alone);
    check_done(&c);
}
END_TEST

START_TEST(a_failure_of_every_operation_is_not_that_of_the_first)
{
    struct check c;

    build_middle();
    struct blame found = blame_on("sim:cpu?fault=refused", 0, &c);
    ck_assert(found.is_alone && found.is_any);
    ck_assert_uint_eq(found.operation, 0);
    ck_assert_uint_eq(blame_summary(&c, &found).count, 0);
    check_done(&c);
}
END_TEST

START_TEST(executions_are_limited)
{
    struct check c;

    build_middle();
    struct blame found = blame_on("sim:cpu?fault=activation-lost", 1, &c);
    ck_assert(found.ran_out);
    ck_assert_uint_eq(found.runs, 1);
    ck_assert_uint_eq(found.operation, UINT32_MAX);
    ck_assert_str_eq(found.why, "not found in 1 executions");
    check_done(&c);
    build_pair(); /* 5 alone, all together, one more: the part is larger than necessary */
    found = blame_on("sim:cpu?fault=in-place", 7, &c);
    ck_assert(found.ran_out);
    ck_assert_uint_ge(found.count, 3);
    check_done(&c);
}
END_TEST

/* ---- other ways of execution */

/* The verdict of the example under this name, with the explanation: plainly, and if it conforms, in
 * these ways. */
static struct check_result run_varied(struct target *t, const char *name, const char *ways)
{
    struct check_result r;
    struct ways asked;
    struct check c;
    struct why w = { 0 };

    e.name = name;
    ck_assert_msg(ways_parse(ways, &asked, &w) == 0, "%s", w.text);
    ck_assert_int_eq(check_begin(&c, &e, JUDGE_BOUND, &w), 0);
    variation_choose(&c, &asked);
    ck_assert(c.is_varied);
    variation_check(&c, t, &r, NULL, NULL);
    ck_assert_msg(verdict_conforming(r.verdict) || r.varied, "%s", r.why);
    ck_assert_msg(!r.varied || strstr(r.why, "executed in another way ("), "%s", r.why);
    check_done(&c);
    return r;
}

static struct target *open_isolated(const char *uri, enum isolation isolation)
{
    struct target_host host = { .isolation = isolation, .reply_timeout = 60 };
    struct target *t;
    struct why w = { 0 };

    ck_assert_msg(target_open(uri, &host, &t, &w) == 0, "%s", w.text);
    return t;
}

/* The number of 40 names whose ways do not conform; all plain runs do. */
static int count_varied(const char *uri)
{
    struct target *t = open_isolated(uri, ISOLATE_NONE);
    int n = 0;

    for (int i = 0; i < 40; i++) {
        char name[24];
        snprintf(name, sizeof name, "ways/%d", i);
        n += !verdict_conforming(run_varied(t, name, "1").verdict);
    }
    target_free(t);
    return n;
}

static const struct ways_case {
    const char *uri;
    bool is_wrong;
} ways_cases[] = {
    { "sim:cpu?fault=asynchronous-wrong&hal=1.2", true },
    { "sim:cpu?fault=burst-wrong", true },
    { "sim:cpu?fault=info-failed", true },
    { "sim:cpu?fault=second-wrong", true },
    { "sim:cpu?fault=restored-wrong", true },
    { "sim:cpu?fault=low-priority-wrong", true },
    { "sim:cpu?fault=sustained-speed-wrong", true },
    { "sim:cpu?fault=unaligned-wrong", true },
    { "sim:cpu", false },
    { "sim:cpu?hal=1.2", false },
};

START_TEST(ways_find_what_the_plain_execution_does_not)
{
    build_middle();
    ck_assert_int_eq(count_varied(ways_cases[_i].uri) > 0, ways_cases[_i].is_wrong);
}
END_TEST

/* fault, way, verdict and what the explanation contains */
static const struct way_case {
    const char *fault, *ways;
    enum verdict verdict;
    const char *text;
} way_cases[] = {
    { "thread-dependent", "synchronous,at-once=2", VERDICT_FAIL, "execution 2 of 2 at once, with" },
    { "shared-scratch", "synchronous,at-once=4", VERDICT_FAIL, "at-once=4): " },
    { "second-refused", "synchronous,at-once=3", VERDICT_VIOLATION,
      " ends with INVALID_ARGUMENT, the plain execution with NONE" },
    { "copy-short", "synchronous,output-buffers", VERDICT_FAIL, "output-buffers): output 0" },
    { "buffers-refused", "burst,input-buffers", VERDICT_VIOLATION,
      "ends with INVALID_ARGUMENT, the plain execution with NONE" },
    { "copy-once", "synchronous,input-buffers", VERDICT_VIOLATION,
      "ends with GENERAL_FAILURE, the plain execution with NONE" },
    { "unaligned-wrong", "synchronous,shift=4", VERDICT_FAIL, "(synchronous,shift=4): output 0" },
};

START_TEST(each_way_finds_its_fault)
{
    const struct way_case *k = &way_cases[_i / 2];
    char uri[96];

    build_middle();
    snprintf(uri, sizeof uri, "sim:cpu?fault=%s", k->fault);
    struct target *t = open_isolated(uri, _i % 2 ? ISOLATE_ALL : ISOLATE_NONE);
    struct check_result r = run_varied(t, "way", k->ways);
    for (int i = 0; i < 50 && !r.varied; i++) /* executions at once that did not meet */
        r = run_varied(t, "way", k->ways);
    ck_assert_msg(r.varied && (r.verdict == k->verdict || r.verdict == VERDICT_VIOLATION),
                  "%s, %s: %s, %s", uri, k->ways, verdict_name[r.verdict], r.why);
    ck_assert_msg(strstr(r.why, k->text), "%s", r.why);
    target_free(t);
    t = open_isolated("sim:cpu", _i % 2 ? ISOLATE_ALL : ISOLATE_NONE);
    r = run_varied(t, "way", k->ways);
    ck_assert_msg(r.verdict == VERDICT_PASS && !r.why[0], "%s", r.why);
    target_free(t);
}
END_TEST

START_TEST(the_first_preparation_is_used)
{
    struct target *t = open_isolated("sim:cpu?fault=second-wrong", ISOLATE_ALL);

    build_middle();
    ck_assert(run_varied(t, "way", "synchronous").varied);
    ck_assert(!run_varied(t, "way", "synchronous,low-power").varied);
    ck_assert(run_varied(t, "way", "synchronous,after-other,low-power").varied);
    target_free(t);
}
END_TEST

/* The fault changes the last bits, within the bound of fp16. */
START_TEST(other_bits_are_a_violation_of_shipped_devices_only)
{
    struct target *t = open_isolated("sim:cpu?fault=burst-wrong", ISOLATE_NONE), *mine;
    struct why w = { 0 };

    build_middle();
    e.model.relaxed = true;
    struct check_result r = run_varied(t, "way", "burst");
    ck_assert_int_eq(r.verdict, VERDICT_VIOLATION);
    ck_assert_uint_eq(r.wrong, 0);
    ck_assert_ptr_nonnull(strstr(r.why, "(burst): output 0 has other bits than in the plain"));
    ck_assert_int_eq(target_of_driver("mine", t->driver, &mine, &w), 0);
    r = run_varied(mine, "way", "burst");
    ck_assert_int_eq(r.verdict, VERDICT_PASS);
    ck_assert_str_eq(r.why, "output 0 has other bits than in the plain execution (burst)");
    target_forget(mine);
    target_free(t);
}
END_TEST

START_TEST(ways_are_read_as_they_are_written)
{
    static const char *const right[] = {
        "synchronous",
        "fenced,low-power,high-priority,from-cache,after-other,other-pools,input-buffers,"
        "output-buffers,shift=124,at-once=4",
    };
    static const char *const wrong[] = { "brust",     "burst,",    "shift=2",
                                         "shift=128", "at-once=5", "at-once=" };
    char text[VARIATION_TEXT];
    struct ways ways;
    struct why w;

    for (int i = 0; i < COUNT(right); i++) {
        ck_assert_msg(ways_parse(right[i], &ways, &w) == 0, "%s", w.text);
        ck_assert_str_eq(ways_text(&ways, text), right[i]);
        for (uint32_t k = 0; k < VARIATION_PARTS; k++)
            variation_simplify(&ways.given, k);
        ck_assert_str_eq(ways_text(&ways, text), "synchronous");
    }
    for (int i = 0; i < COUNT(wrong); i++)
        ck_assert_msg(ways_parse(wrong[i], &ways, &w) < 0, "%s", wrong[i]);
    ck_assert_int_eq(ways_parse("0.25", &ways, &w), 0);
    ck_assert_str_eq(ways_text(&ways, text), "0.25");
}
END_TEST

Suite *per_op_check_suite(void)
{
    TCase *t = tcase_create("all");

    tcase_add_checked_fixture(t, set_up, tear_down);
    tcase_add_test(t, models_are_split_into_operations);
    tcase_add_test(t, the_last_turn_of_a_loop_is_kept);
    tcase_add_test(t, an_input_without_elements_is_made_by_slice);
    tcase_add_test(t, operations_are_compared_too);
    tcase_add_test(t, a_failing_operation_is_the_verdict);
    tcase_add_test(t, undecided_is_decided_by_operations);
    tcase_add_test(t, an_operation_in_the_middle_is_blamed);
    tcase_add_test(t, operations_that_are_wrong_together_are_blamed);
    tcase_add_test(t, an_operation_of_a_subgraph_is_blamed);
    tcase_add_test(t, control_flow_itself_is_blamed);
    tcase_add_test(t, a_failure_of_every_operation_is_not_that_of_the_first);
    tcase_add_test(t, executions_are_limited);
    tcase_add_loop_test(t, ways_find_what_the_plain_execution_does_not, 0, COUNT(ways_cases));
    tcase_add_loop_test(t, each_way_finds_its_fault, 0, 2 * COUNT(way_cases));
    tcase_add_test(t, the_first_preparation_is_used);
    tcase_add_test(t, other_bits_are_a_violation_of_shipped_devices_only);
    tcase_add_test(t, ways_are_read_as_they_are_written);
    return make_suite("per_op_check", t, NULL);
}
