/* The verdict of an outcome; options, quoting, case names, shards, generated inputs. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "golden/base/text_escape.h"
#include "golden/model/build.h"
#include "harness/check/cases.h"
#include "harness/check/check.h"
#include "harness/cli/options.h"
#include "harness/run/campaign.h"
#include "tests/support/check_main.h"

/* ---- verdicts: y = RELU(x), x and y of three floats */

static float x[3] = { -1, 0, 2 }, y[3] = { 0, 0, 2 };
static uint32_t in_index[1] = { 0 }, out_index[1] = { 1 };

static void make_example(struct example *e, struct graph *g, struct operand *o, struct operation *p,
                         struct tensor *in, struct tensor *out)
{
    struct tensor t = { .dtype = DT_F32, .shape = { 1, { 3 } } };
    o[0] = (struct operand){ .tensor = t, .life = LIFE_INPUT, .consumers = 1 };
    o[1] = (struct operand){ .tensor = t, .life = LIFE_OUTPUT };
    *p = (struct operation){ OP_RELU, 1, 1, in_index, out_index };
    *g = (struct graph){ o, p, in_index, out_index, 2, 1, 1, 1 };
    *in = *out = t;
    in->data = x;
    out->data = y;
    *e = (struct example){
        .name = "spec/relu", .model = { .graph = g, .n_graphs = 1 }, .in = in, .expected = out
    };
}

struct fixture {
    struct example e;
    struct graph g;
    struct operand o[2];
    struct operation p;
    struct tensor in, out;
    struct check check;
};

static void begin(struct fixture *f, enum judge_kind judge)
{
    struct why w;
    make_example(&f->e, &f->g, f->o, &f->p, &f->in, &f->out);
    ck_assert_int_eq(check_begin(&f->check, &f->e, judge, &w), 0);
    check_reference(&f->check);
    ck_assert_str_eq(f->check.reference_why, "");
}

/* The outcome of a driver that ended at this stage with this status, and n values as its output. */
static struct outcome answer(enum stage stage, enum hal_status status, const float *values,
                             uint32_t n)
{
    struct outcome o = { .stage = stage, .status = status, .arena = arena_new(0), .n_ops = 1 };
    o.supported = arena_alloc(o.arena, 1, sizeof *o.supported);
    o.supported[0] = stage != STAGE_SUPPORTED;
    if (values) {
        o.n_out = 1;
        o.out = arena_alloc(o.arena, 1, sizeof *o.out);
        o.out[0] = (struct tensor){ .dtype = DT_F32, .shape = { 1, { n } } };
        o.out[0].data = arena_copy(o.arena, values, n * sizeof *values);
    }
    return o;
}

static struct check_result judge(struct fixture *f, struct outcome o)
{
    struct check_result r = check_without_outcome(VERDICT_ERROR, f->check.judge);
    check_judge(&f->check, &o, &r, NULL);
    return r;
}

START_TEST(right_numbers_pass)
{
    struct fixture f;
    for (enum judge_kind k = JUDGE_AUTO; k <= JUDGE_BOUND; k++) {
        begin(&f, k);
        struct check_result r = judge(&f, answer(STAGE_DONE, HAL_NONE, y, 3));
        ck_assert_int_eq(r.verdict, VERDICT_PASS);
        ck_assert_uint_eq(r.checked, 3);
        ck_assert_int_eq(r.judge, k == JUDGE_BOUND ? JUDGE_BOUND : JUDGE_CTS);
        check_done(&f.check);
    }
}
END_TEST

START_TEST(the_cost_of_the_reference_extends_the_time_out)
{
    struct fixture f;
    begin(&f, JUDGE_BOUND);
    const uint64_t ns = f.check.reference_ns;
    ck_assert_uint_gt(ns, 0);
    ck_assert_uint_gt(check_extra_ns(&f.check), ns);
    check_reference(&f.check); /* does nothing */
    ck_assert_uint_eq(f.check.reference_ns, ns);
    check_done(&f.check);
}
END_TEST

START_TEST(wrong_numbers_fail_with_the_element)
{
    struct fixture f;
    float wrong[3] = { 0, 0.25f, 2 };
    begin(&f, JUDGE_CTS);
    struct check_result r = judge(&f, answer(STAGE_DONE, HAL_NONE, wrong, 3));
    ck_assert_int_eq(r.verdict, VERDICT_FAIL);
    ck_assert_int_eq(r.output, 0);
    ck_assert_uint_eq(r.element, 1);
    ck_assert_str_eq(r.place, "[1]");
    ck_assert_str_eq(r.operation, "RELU");
    ck_assert_str_eq(r.type, "TENSOR_FLOAT32");
    ck_assert_double_eq(r.actual, 0.25);
    ck_assert_uint_eq(r.wrong, 1);
    check_done(&f.check);
}
END_TEST

/* For the reference itself the expected values of the example are compared, not its own outputs. */
START_TEST(the_reference_is_compared_with_expected_values)
{
    struct fixture f;
    float wrong[3] = { 0, 0.25f, 2 };

    begin(&f, JUDGE_BOUND);
    f.check.itself = true;
    struct check_result r = judge(&f, answer(STAGE_DONE, HAL_NONE, wrong, 3));
    ck_assert_int_eq(r.verdict, VERDICT_PASS);
    f.out.data = wrong;
    r = judge(&f, answer(STAGE_DONE, HAL_NONE, y, 3));
    ck_assert_int_eq(r.verdict, VERDICT_FAIL);
    ck_assert_double_eq(r.actual, 0.25);
    ck_assert_msg(!strncmp(r.why, "output 0, value expected by the example: ", 41), "%s", r.why);
    f.out.data = NULL;
    r = judge(&f, answer(STAGE_DONE, HAL_NONE, y, 3));
    ck_assert_int_eq(r.verdict, VERDICT_PASS);
    check_done(&f.check);
}
END_TEST

START_TEST(a_wrong_shape_is_a_violation)
{
    struct fixture f;
    begin(&f, JUDGE_BOUND);
    struct check_result r = judge(&f, answer(STAGE_DONE, HAL_NONE, y, 2));
    ck_assert_int_eq(r.verdict, VERDICT_VIOLATION);
    ck_assert_str_eq(r.why, "output 0 has shape [2], expected [3]");
    check_done(&f.check);
}
END_TEST

START_TEST(an_undecided_shape_may_differ)
{
    struct fixture f;
    begin(&f, JUDGE_BOUND);
    f.check.result.open[0] = true;
    struct check_result r = judge(&f, answer(STAGE_DONE, HAL_NONE, y, 2));
    ck_assert_int_eq(r.verdict, VERDICT_UNDECIDED);
    ck_assert_uint_eq(r.checked, 0);
    ck_assert_str_eq(r.why, "no element could be compared: any value is within the error bound");
    r = judge(&f, answer(STAGE_EXECUTE, HAL_OUTPUT_INSUFFICIENT_SIZE, NULL, 0));
    ck_assert_int_eq(r.verdict, VERDICT_UNDECIDED);
    ck_assert_msg(strstr(r.why, "the right number of elements is open"), "%s", r.why);
    /* A shape without elements is no comparison either where the right one is open. */
    r = judge(&f, answer(STAGE_DONE, HAL_NONE, y, 0));
    ck_assert_int_eq(r.verdict, VERDICT_UNDECIDED);
    f.check.result.open[0] = false;
    r = judge(&f, answer(STAGE_EXECUTE, HAL_OUTPUT_INSUFFICIENT_SIZE, NULL, 0));
    ck_assert_int_eq(r.verdict, VERDICT_REFUSED);
    check_done(&f.check);
}
END_TEST

START_TEST(infinite_bounds_are_undecided)
{
    struct fixture f;
    float wrong[3] = { 9, 9, 2 };
    begin(&f, JUDGE_BOUND);
    for (int i = 0; i < 3; i++)
        f.check.result.bound[0][i] = INFINITY;
    struct check_result r = judge(&f, answer(STAGE_DONE, HAL_NONE, wrong, 3));
    ck_assert_int_eq(r.verdict, VERDICT_UNDECIDED);
    ck_assert_uint_eq(r.checked, 0);
    f.check.result.bound[0][2] = 0; /* one element is enough for a comparison */
    r = judge(&f, answer(STAGE_DONE, HAL_NONE, wrong, 3));
    ck_assert_int_eq(r.verdict, VERDICT_PASS);
    ck_assert_uint_eq(r.checked, 1);
    check_done(&f.check);
}
END_TEST

/* Of outputs without elements the shape is all that there is to compare. */
START_TEST(shapes_without_elements_are_compared)
{
    struct fixture f;
    begin(&f, JUDGE_CTS);
    f.check.out_shape[0].dim[0] = f.out.shape.dim[0] = 0;
    struct check_result r = judge(&f, answer(STAGE_DONE, HAL_NONE, y, 0));
    ck_assert_int_eq(r.verdict, VERDICT_PASS);
    ck_assert_uint_eq(r.checked, 0);
    ck_assert_str_eq(r.why, "no output has elements; the shapes were compared");
    r = judge(&f, answer(STAGE_DONE, HAL_NONE, y, 1));
    ck_assert_int_eq(r.verdict, VERDICT_VIOLATION);
    check_done(&f.check);
}
END_TEST

/* Random results are judged by their distribution, whichever judge is chosen. */
START_TEST(random_results_are_judged_by_distribution)
{
    double p[2] = { 0.5, 0.5 }, relative = 0;
    struct distribution distribution = { 1, 2, p, &relative, 0 };
    int32_t draws[400];
    struct fixture f;
    begin(&f, JUDGE_BOUND);
    f.check.result.distribution[0] = &distribution;
    f.check.out_shape[0] = (struct shape){ 2, { 1, COUNT(draws) } };
    for (int biased = 0; biased < 2; biased++) {
        struct outcome o = answer(STAGE_DONE, HAL_NONE, y, 3);
        for (int i = 0; i < COUNT(draws); i++)
            draws[i] = biased ? i % 4 == 0 : i % 2;
        o.out[0] = (struct tensor){ .dtype = DT_I32, .shape = f.check.out_shape[0], .data = draws };
        struct check_result r = judge(&f, o);
        ck_assert_int_eq(r.verdict, biased ? VERDICT_FAIL : VERDICT_PASS);
        ck_assert_uint_eq(r.wrong, biased ? 2 : 0);
    }
    check_done(&f.check);
}
END_TEST

START_TEST(stages_map_to_verdicts)
{
    static const struct {
        enum stage stage;
        enum hal_status status;
        enum verdict verdict;
    } rows[] = {
        { STAGE_SUPPORTED, HAL_NONE, VERDICT_UNSUPPORTED },
        { STAGE_SUPPORTED, HAL_INVALID_ARGUMENT, VERDICT_VIOLATION },
        { STAGE_PREPARE, HAL_GENERAL_FAILURE, VERDICT_REFUSED },
        { STAGE_EXECUTE, HAL_GENERAL_FAILURE, VERDICT_REFUSED },
    };
    struct fixture f;
    begin(&f, JUDGE_CTS);
    for (int i = 0; i < COUNT(rows); i++) {
        struct check_result r = judge(&f, answer(rows[i].stage, rows[i].status, NULL, 0));
        ck_assert_int_eq(r.verdict, rows[i].verdict);
        ck_assert_str_ne(r.why, "");
    }
    check_done(&f.check);
}
END_TEST

START_TEST(a_contract_violation_takes_precedence)
{
    struct fixture f;
    begin(&f, JUDGE_CTS);
    struct outcome o = answer(STAGE_DONE, HAL_NONE, y, 3);
    snprintf(o.violation, sizeof o.violation, "wrote past\x01 its output");
    struct check_result r = judge(&f, o);
    ck_assert_int_eq(r.verdict, VERDICT_VIOLATION);
    ck_assert_str_eq(r.why, "wrote past? its output");
    check_done(&f.check);
}
END_TEST

START_TEST(expected_failures_must_fail_at_execution)
{
    struct fixture f;
    begin(&f, JUDGE_CTS);
    f.e.expect_failure = true;
    ck_assert_int_eq(judge(&f, answer(STAGE_EXECUTE, HAL_INVALID_ARGUMENT, NULL, 0)).verdict,
                     VERDICT_PASS);
    ck_assert_int_eq(judge(&f, answer(STAGE_PREPARE, HAL_INVALID_ARGUMENT, NULL, 0)).verdict,
                     VERDICT_REFUSED);
    ck_assert_int_eq(judge(&f, answer(STAGE_DONE, HAL_NONE, y, 3)).verdict, VERDICT_FAIL);
    check_done(&f.check);
}
END_TEST

START_TEST(an_operation_that_must_fail_is_blamed)
{
    static const int32_t beyond = 3;
    struct build b;
    struct fixture f;
    struct why w;

    build_init(&b, 1);
    uint32_t from = build_operand(&b, LIFE_INPUT, DT_F32, DIMS(3));
    uint32_t indices = build_operand(&b, LIFE_INPUT, DT_I32, DIMS(1));
    uint32_t relu = build_operand(&b, LIFE_TEMPORARY, DT_F32, DIMS(3));
    uint32_t one = build_operand(&b, LIFE_OUTPUT, DT_F32, DIMS(1)), axis = build_int(&b, 0);
    OPERATION(&b, "RELU", IDS(from), IDS(relu));
    OPERATION(&b, "GATHER", IDS(relu, axis, indices), IDS(one));
    model_count_consumers(&b.model);
    struct tensor in[2] = { b.graph->operand[from].tensor, b.graph->operand[indices].tensor };
    struct tensor out = b.graph->operand[one].tensor;
    in[0].data = x;
    in[1].data = (void *) &beyond;
    f.e = (struct example){
        .name = "must fail", .model = b.model, .in = in, .expected = &out, .expect_failure = true
    };
    ck_assert_int_eq(check_begin(&f.check, &f.e, JUDGE_AUTO, &w), 0);
    check_reference(&f.check);
    ck_assert_int_eq(judge(&f, answer(STAGE_EXECUTE, HAL_GENERAL_FAILURE, NULL, 0)).verdict,
                     VERDICT_PASS);
    struct check_result r = judge(&f, answer(STAGE_DONE, HAL_NONE, y, 1));
    ck_assert_int_eq(r.verdict, VERDICT_FAIL);
    ck_assert_ptr_nonnull(strstr(r.why, "must fail at execution; the driver returned NONE"));
    ck_assert_uint_eq(r.blamed.count, 1);
    ck_assert_uint_eq(r.blamed.operation, 1);
    ck_assert_str_eq(r.blamed.name, "GATHER");
    ck_assert_ptr_nonnull(strstr(r.blamed.why, "indices is 3, must be from 0 to below 3"));
    check_done(&f.check);
    build_done(&b);
}
END_TEST

START_TEST(ignored_outputs_are_not_compared)
{
    struct fixture f;
    bool ignored = true;
    float wrong[3] = { 9, 9, 9 };
    begin(&f, JUDGE_CTS);
    f.e.ignored = &ignored;
    struct check_result r = judge(&f, answer(STAGE_DONE, HAL_NONE, wrong, 3));
    ck_assert_int_eq(r.verdict, VERDICT_UNDECIDED);
    ck_assert_uint_eq(r.checked, 0);
    ck_assert_str_eq(r.why,
                     "no element could be compared: the example ignores the values of every output "
                     "(--judge bound compares them)");
    check_done(&f.check);
}
END_TEST

START_TEST(only_four_verdicts_conform)
{
    int n = 0;
    for (int v = 0; v < VERDICT_COUNT; v++) {
        n += verdict_conforming((enum verdict) v);
        ck_assert_int_eq(verdict_by_name(verdict_name[v]), v);
    }
    ck_assert_int_eq(n, 4);
    ck_assert_int_eq(verdict_by_name("skipped"), -1);
}
END_TEST

/* ---- options */

static int parse(struct options *ret, struct why *w, const char *line)
{
    static const struct command random = { .name = "random", .bit = CMD_RANDOM };
    static char text[256];
    static char *argv[32];
    int argc = 0;
    snprintf(text, sizeof text, "%s", line);
    for (char *word = strtok(text, " "); word && argc < 31; word = strtok(NULL, " "))
        argv[argc++] = word;
    argv[argc] = NULL;
    return options_parse(&random, argc, argv, ret, w);
}

START_TEST(options_are_parsed)
{
    struct options o;
    struct why w;
    ck_assert_int_eq(parse(&o, &w,
                           "random -d golden --seed 0x10 -dsim:cpu --count=5 --ops 2-9 "
                           "--shard 2/3 -j 4 --judge cts -q --types "
                           "TENSOR_FLOAT32,TENSOR_FLOAT16"),
                     0);
    ck_assert_uint_eq(o.n_targets, 2);
    ck_assert_str_eq(o.target[1], "sim:cpu");
    ck_assert_uint_eq(o.seed, 16);
    ck_assert_uint_eq(o.count, 5);
    ck_assert_uint_eq(o.graphs.min_ops, 2);
    ck_assert_uint_eq(o.graphs.max_ops, 9);
    ck_assert_uint_eq(o.shard, 2);
    ck_assert_uint_eq(o.n_shards, 3);
    ck_assert_int_eq(o.judge, JUDGE_CTS);
    ck_assert_int_eq(o.verbosity, -1);
    ck_assert_uint_eq(o.graphs.dtypes, 1u << DT_F32 | 1u << DT_F16);
    ck_assert_str_eq(o.db, "halcyon.db");
    ck_assert(!o.db_given);
}
END_TEST

START_TEST(invalid_options_are_reported)
{
    static const char *const rows[][2] = {
        { "random --seed x", "--seed: 'x'" },
        { "random --seed -1", "--seed: '-1'" },
        { "random --count 0", "--count: '0'" },
        { "random --ops 9-2", "--ops: expected MIN-MAX with MIN not above MAX, found '9-2'" },
        { "random --ops 0-2", "--ops: '0'" },
        { "random --shard 4/3", "--shard: expected I/N with I from 1 to N, found '4/3'" },
        { "random --judge maybe", "--judge: expected cts or bound, found 'maybe'" },
        { "random --op NONSENSE", "--op: unknown operation 'NONSENSE' ('halcyon ops'" },
        { "random --types FLOAT", "--types: unknown operand type 'FLOAT' (expected" },
        { "random --timeout 0", "--timeout: '0'" },
        { "random -d", "--target: missing argument TARGET" },
        { "random --db", "--db: missing argument FILE" },
        { "random --nonsense", "unknown option --nonsense ('halcyon random --help'" },
        { "random --coutn 3", "unknown option --coutn; did you mean --count?" },
        { "random x --coutn=3", "unknown option --coutn; did you mean --count?" },
        { "random --re", "ambiguous option --re: --rerun or --resume?" },
        { "random --output x", "--output is not an option of this command" },
        { "random --help=1", "--help takes no argument" },
        { "random --op ADD,", "--op: expected operations separated by commas, found 'ADD,'" },
        { "random --hal all", "--hal: expected 1.0, 1.1, 1.2, 1.3, fl5, fl6, fl7 or fl8" },
        { "random --op conv2d", "unknown operation 'conv2d'; did you mean CONV_2D?" },
        { "random --types TENSR_FLOAT32", "did you mean TENSOR_FLOAT32?" },
        { "random -x", "unknown option -x" },
        { "random --json=1", "--json takes no argument" },
        { "random -d a -d a", "'a' is given twice" },
        { "random -o x", "unknown option -o" },
    };
    for (int i = 0; i < COUNT(rows); i++) {
        struct options o;
        struct why w;
        ck_assert_int_eq(parse(&o, &w, rows[i][0]), -1);
        ck_assert_msg(strstr(w.text, rows[i][1]), "%s: %s", rows[i][0], w.text);
    }
}
END_TEST

START_TEST(options_of_the_generator_are_written_back)
{
    struct options o;
    struct why w;
    struct buffer b = { 0 };
    ck_assert_int_eq(parse(&o, &w, "random"), 0);
    options_put_graphs(&b, &o.graphs);
    ck_assert_str_eq(buffer_text(&b), "");
    ck_assert_int_eq(parse(&o, &w, "random --level 2 --ops 3 --op ADD --types TENSOR_FLOAT16"), 0);
    options_put_graphs(&b, &o.graphs);
    ck_assert_str_eq(buffer_text(&b), " --ops 3-3 --op ADD --types TENSOR_FLOAT16 --level 2");
    buffer_done(&b);
    ck_assert_int_eq(parse(&o, &w, "random --op RELU,CONV_2D --hal 1.2 --op ADD"), 0);
    options_put_graphs(&b, &o.graphs);
    options_put_hal(&b, &o);
    ck_assert_str_eq(buffer_text(&b), " --op ADD,CONV_2D,RELU --level 3 --hal 1.2");
    buffer_done(&b);
    ck_assert_int_eq(parse(&o, &w, "random --hal fl8 --level 2"), 0);
    ck_assert_int_eq(o.graphs.max_level, 2);
}
END_TEST

/* ---- text */

START_TEST(arguments_are_quoted_for_a_shell)
{
    struct buffer b = { 0 };
    buffer_put_quoted(&b, "random/v2/s7/i1");
    buffer_puts(&b, " ");
    buffer_put_quoted(&b, "sim:cpu?fault=nan");
    buffer_puts(&b, " ");
    buffer_put_quoted(&b, "it's");
    buffer_puts(&b, " ");
    buffer_put_quoted(&b, "");
    ck_assert_str_eq(buffer_text(&b), "random/v2/s7/i1 'sim:cpu?fault=nan' 'it'\\''s' ''");
    buffer_done(&b);
}
END_TEST

START_TEST(driver_text_is_sanitised)
{
    char text[] = "a\x1b[0m \xc3\xa9 \xff \xc0\xaf \xed\xa0\x80\n";
    text_clean(text);
    ck_assert_str_eq(text, "a?[0m \xc3\xa9 ? ?? ???\n");
}
END_TEST

/* ---- cases */

START_TEST(shards_cover_all_cases_once)
{
    for (uint64_t n = 0; n < 12; n++) {
        uint64_t all = 0;
        for (uint32_t shard = 1; shard <= 5; shard++)
            all += campaign_shard(&(struct options){ .shard = shard, .n_shards = 5 }, n);
        ck_assert_uint_eq(all, n);
    }
}
END_TEST

/* Inputs generated for models without values: unknown dimensions become 1, the values cover the
 * whole range and depend on the name only. */
START_TEST(generated_inputs_depend_on_the_name)
{
    struct arena *arena = arena_new(0);
    struct tensor a = { .dtype = DT_U8, .shape = { 2, { 0, 500 } }, .scale = 0.5f, .zero = 7 };
    struct tensor b = a, c = a;
    struct why w;
    ck_assert_int_eq(inputs_generate("model", &a, 1, arena, &w), 0);
    ck_assert_int_eq(inputs_generate("model", &b, 1, arena, &w), 0);
    ck_assert_int_eq(inputs_generate("other", &c, 1, arena, &w), 0);
    ck_assert_uint_eq(a.shape.dim[0], 1);
    ck_assert_mem_eq(a.data, b.data, 500);
    ck_assert_mem_ne(a.data, c.data, 500);
    const uint8_t *q = a.data;
    uint8_t least = 255, most = 0;
    for (int i = 0; i < 500; i++) {
        least = q[i] < least ? q[i] : least;
        most = q[i] > most ? q[i] : most;
    }
    ck_assert_uint_lt(least, 8);
    ck_assert_uint_gt(most, 247);
    arena_free(arena);
}
END_TEST

START_TEST(worst_elements_in_steps)
{
    char text[WORST_TEXT];
    struct check_result r = {
        .place = "[0,3]", .expected = 3, .actual = 2, .bound = .5, .ratio = 2
    };
    struct blamed b = { .place = "[1]", .expected = 125, .actual = 127, .bound = 1, .ratio = 2 };

    ck_assert_str_eq(worst_text(&r, text),
                     "worst [0,3]: expected 3, got 2, allowed error 0.5, ratio 2");
    r.units = (struct element_units){ .scale = .5, .zero = 128 };
    ck_assert_str_eq(worst_text(&r, text), "worst [0,3]: expected 134 (3), got 132 (2), off by 2 "
                                           "steps, allowed error 1 (0.5), ratio 2");
    r.actual = 2.5;
    ck_assert_ptr_nonnull(strstr(worst_text(&r, text), "got 133 (2.5), off by 1 step, "));
    b.units = (struct element_units){ .scale = .25, .zero = 125, .is_stored = true };
    ck_assert_str_eq(worst_text_of_blamed(&b, text),
                     "worst [1]: expected 125 (0), got 127 (0.5), off by 2 steps, allowed error 1 "
                     "(0.25), ratio 2");
}
END_TEST

Suite *check_suite(void)
{
    TCase *t = tcase_create("check");
    tcase_add_test(t, right_numbers_pass);
    tcase_add_test(t, the_cost_of_the_reference_extends_the_time_out);
    tcase_add_test(t, wrong_numbers_fail_with_the_element);
    tcase_add_test(t, the_reference_is_compared_with_expected_values);
    tcase_add_test(t, a_wrong_shape_is_a_violation);
    tcase_add_test(t, an_undecided_shape_may_differ);
    tcase_add_test(t, infinite_bounds_are_undecided);
    tcase_add_test(t, shapes_without_elements_are_compared);
    tcase_add_test(t, random_results_are_judged_by_distribution);
    tcase_add_test(t, stages_map_to_verdicts);
    tcase_add_test(t, a_contract_violation_takes_precedence);
    tcase_add_test(t, expected_failures_must_fail_at_execution);
    tcase_add_test(t, an_operation_that_must_fail_is_blamed);
    tcase_add_test(t, ignored_outputs_are_not_compared);
    tcase_add_test(t, only_four_verdicts_conform);
    tcase_add_test(t, options_are_parsed);
    tcase_add_test(t, invalid_options_are_reported);
    tcase_add_test(t, options_of_the_generator_are_written_back);
    tcase_add_test(t, arguments_are_quoted_for_a_shell);
    tcase_add_test(t, driver_text_is_sanitised);
    tcase_add_test(t, shards_cover_all_cases_once);
    tcase_add_test(t, generated_inputs_depend_on_the_name);
    tcase_add_test(t, worst_elements_in_steps);
    return make_suite("check", t, NULL);
}
