/* Random models: they are valid, run, are connected, and have finite values that are neither
 * constant nor saturated; a seed and an index always give the same model; every typing row and form
 * of the catalogue is drawn. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "randgraph/randgraph.h"
#include "tests/support/check_main.h"
#include "tests/support/digest.h"
#include "tests/support/one_op_run.h"

static struct arena *arena;
static struct example example;
static struct why why;

static void set_up(void)
{
    arena = arena_new(0);
}

static void tear_down(void)
{
    arena_free(arena);
}

/* Options with which all values are finite, no integers wrap, and no results are kept whose
 * elements are all equal. */
static struct randgraph_options finite_options(void)
{
    static struct randgraph_weights weights;
    struct randgraph_options o = randgraph_default;

    weights = randgraph_weights_default;
    weights.degenerate = 0;
    weights.nonfinite = weights.nonfinite_call = weights.wide_integers = weights.wide_floats = 0;
    o.weights = &weights;
    return o;
}

static const struct example *make(const struct randgraph_options *o, uint64_t seed, uint64_t index)
{
    arena_rewind(arena, (struct arena_mark){ 0 });
    if (randgraph_make(o, seed, index, arena, &example, &why) < 0)
        ck_abort_msg("s%d/i%d: %s", (int) seed, (int) index, why.text);
    return &example;
}

/* Counts over all outputs. */
struct tally {
    size_t outputs, constant, elements, undecided, saturated;
    double limit; /* of the magnitude of every value in the graph */
};

static const double fp16_limit = 1e4 * 1.001; /* the largest half is 65504 */

static double values[1 << 16];

static void check_values(const struct exec_event *e, void *user)
{
    const struct tally *t = user;

    for (uint32_t i = 0; i < e->call->n_out; i++) {
        const struct tensor *out = e->call->out[i];
        enum dtype type = out->dtype;
        double limit = type == DT_I32 ? INT32_MAX : type == DT_F16 ? fp16_limit : t->limit;
        tensor_widen(out, values);
        for (size_t k = 0; k < tensor_count(out); k++)
            if (!(fabs(values[k]) <= limit)) /* not ck_assert(), which writes a file at each call */
                ck_abort_msg("%s: operation %u of graph %u (%s) gives %g", example.name,
                             e->operation, e->graph, e->call->op->name, values[k]);
    }
}

/* bound: NULL for random results, which are judged by their distribution */
static void tally_output(struct tally *t, const struct tensor *out, const double *bound)
{
    size_t n = tensor_count(out), at_edge = 0, equal = 0;
    const struct codec *k = dtype_info[out->dtype].codec;

    tensor_widen(out, values);
    for (size_t i = 0; i < n; i++) {
        double x = values[i], q = x / tensor_step(out, 0) + out->zero;
        equal += x == values[0];
        t->undecided += bound && isinf(bound[i]);
        at_edge += k->size == 1 && out->scale > 0 && (q < k->min + 0.5 || q > k->max - 0.5);
    }
    t->outputs++;
    t->elements += n;
    t->constant += n > 1 && equal == n;
    t->saturated += n > 1 && at_edge == n;
}

static void run(const struct example *e, struct tally *t)
{
    struct exec_options options = { .bounds = true, .on_operation = check_values, .user = t };
    struct plan *plan;
    struct result r;

    t->limit = e->model.relaxed ? fp16_limit : 1e6 * 1.001;
    ck_assert_msg(plan_new(&e->model, &plan, &why) == 0, "%s: %s", e->name, why.text);
    ck_assert_msg(plan_run(plan, e->in, &options, &r, &why) == 0, "%s: %s", e->name, why.text);
    for (uint32_t i = 0; i < r.n; i++)
        tally_output(t, &r.out[i], r.distribution[i] ? NULL : r.bound[i]);
    result_done(&r);
    plan_free(plan);
}

/* Merges the connected components of the operands of `o`; part[i]: component of operand i. */
static void merge_components(const struct operation *o, const struct graph *g, uint32_t *part)
{
    uint32_t first = o->out[0];

    for (uint32_t i = 0; i < o->n_in + o->n_out; i++) {
        uint32_t k = i < o->n_in ? o->in[i] : o->out[i - o->n_in];
        uint32_t from = part[k], to = part[first];
        if (operand_constant(&g->operand[k]) || g->operand[k].life == LIFE_NO_VALUE)
            continue;
        for (uint32_t j = 0; j < g->n_operands; j++)
            if (part[j] == from)
                part[j] = to;
    }
}

static void check_connected(const struct example *e)
{
    const struct graph *g = &e->model.graph[0];
    uint32_t *part = calloc(g->n_operands, sizeof *part);

    for (uint32_t i = 0; i < g->n_operands; i++)
        part[i] = i;
    for (uint32_t i = 0; i < g->n_operations; i++)
        merge_components(&g->operation[i], g, part);
    for (uint32_t i = 1; i < g->n_operations; i++)
        if (part[g->operation[i].out[0]] != part[g->operation[0].out[0]])
            ck_abort_msg("%s: operation %u is not connected to the others", e->name, i);
    free(part);
}

START_TEST(models_are_valid_and_run)
{
    struct randgraph_options o = finite_options();
    struct tally t = { 0 };

    o.control_flow = 0.3;
    for (uint64_t i = 0; i < 1000; i++) {
        const struct example *e = make(&o, 7, i);
        uint32_t n = e->model.graph[0].n_operations;
        ck_assert_msg(model_validate(&e->model, &why) > 0, "%s: %s", e->name, why.text);
        ck_assert_msg(n >= 1 && n <= o.max_ops, "%s: %u operations", e->name, n);
        run(e, &t);
    }
    ck_assert_msg(t.constant * 50 < t.outputs, "%zu of %zu outputs are constant", t.constant,
                  t.outputs);
    ck_assert_msg(t.saturated * 50 < t.outputs, "%zu of %zu outputs are saturated", t.saturated,
                  t.outputs);
    ck_assert_msg(t.undecided * 50 < t.elements, "%zu of %zu elements have an infinite bound",
                  t.undecided, t.elements);
}
END_TEST

START_TEST(operations_that_read_values_are_connected)
{
    struct randgraph_options o = randgraph_default;
    struct randgraph_weights weights = randgraph_weights_default;

    weights.any_next = weights.afresh = 0;
    weights.wide_integers = weights.wide_floats = 0; /* no operation reads such results */
    o.weights = &weights;
    o.control_flow = 0.3;
    for (uint64_t i = 0; i < 500; i++)
        check_connected(make(&o, 7, i));
}
END_TEST

START_TEST(number_of_operations_is_respected)
{
    struct randgraph_options o = randgraph_default;

    o.control_flow = 0;
    for (uint32_t n = 1; n <= 100; n += 11) {
        o.min_ops = o.max_ops = n;
        for (uint64_t i = 0; i < 20; i++)
            ck_assert_uint_eq(make(&o, 3, i)->model.graph[0].n_operations, n);
    }
}
END_TEST

START_TEST(feature_level_is_respected)
{
    struct randgraph_options o = randgraph_default;

    o.control_flow = 0.5;
    for (o.max_level = 1; o.max_level <= 8; o.max_level++)
        for (uint64_t i = 0; i < 150; i++) {
            int level = model_validate(&make(&o, 5, i)->model, &why);
            ck_assert_msg(level > 0 && level <= o.max_level, "%s: level %d of %d: %s", example.name,
                          level, o.max_level, why.text);
        }
}
END_TEST

/* How often each row of the catalogue was drawn, by operation, form and typing row. */
enum { MAX_OPS = 160, MAX_FORMS = 8, MAX_TYPINGS = 64 };
static unsigned drawn[MAX_OPS][MAX_FORMS][MAX_TYPINGS];

static int op_index(const struct op *op)
{
    for (int i = 0; i < op_table_n; i++)
        if (op_table[i] == op)
            return i;
    ck_abort_msg("%s is not in the catalogue", op->name);
}

static void count_operation(const struct graph *g, const struct operation *o)
{
    struct call c;

    one_op_bind(g, o, &c);
    drawn[op_index(c.op)][c.form - c.op->forms][c.typing - c.op->typings]++;
}

static void count_model(const struct model *m)
{
    for (uint32_t i = 0; i < m->n_graphs; i++)
        for (uint32_t k = 0; k < m->graph[i].n_operations; k++)
            count_operation(&m->graph[i], &m->graph[i].operation[k]);
}

/* The name of a row that was not drawn, or NULL. */
static const char *missing(char *text, size_t size)
{
    for (int i = 0; i < op_table_n; i++)
        for (int f = 0; f < op_table[i]->n_forms; f++)
            for (int t = 0; t < op_table[i]->n_typings; t++)
                if (!drawn[i][f][t]) {
                    snprintf(text, size, "%s, form %d (%s), typing row %d", op_table[i]->name, f,
                             op_table[i]->forms[f].name, t);
                    return text;
                }
    return NULL;
}

START_TEST(every_row_is_drawn)
{
    enum { GRAPHS = 20000, STEP = 1000 };
    struct randgraph_options o = randgraph_default;
    char text[160];

    ck_assert_int_le(op_table_n, MAX_OPS);
    o.control_flow = 0.2;
    for (uint64_t i = 0; i < GRAPHS; i += STEP) {
        for (uint64_t k = 0; k < STEP; k++)
            count_model(&make(&o, 11, i + k)->model);
        if (!missing(text, sizeof text))
            return;
    }
    ck_abort_msg("%d graphs do not contain %s", GRAPHS, text);
}
END_TEST

static uint64_t digest_of(uint64_t from, uint64_t to)
{
    uint64_t digest = DIGEST_NONE;

    for (uint64_t i = from; i < to; i++)
        digest = digest_example(digest, make(NULL, 1, i));
    return digest;
}

enum { MOST_CODE = 128 };

/* The operations that read a value without elements. */
struct empties {
    uint32_t results;
    bool read[DT_COUNT][MOST_CODE];
};

static void note_empty(const struct exec_event *e, void *user)
{
    struct empties *n = user;
    const struct call *c = e->call;

    for (uint32_t i = 0; i < c->n_out; i++)
        n->results += tensor_count(c->out[i]) == 0;
    for (uint32_t i = 0; i < c->n_in && c->op->code < MOST_CODE; i++)
        if (c->arg[i] && c->arg[i]->data && tensor_count(c->arg[i]) == 0) {
            if (!(c->op->takes_empty >> (call_role(c, i) - c->op->in) & 1))
                ck_abort_msg("%s: %s reads no elements", example.name, c->op->name);
            n->read[c->arg[i]->dtype][c->op->code] = true;
        }
}

START_TEST(results_without_elements_are_drawn_and_read)
{
    struct randgraph_weights weights = randgraph_weights_default;
    struct randgraph_options o = randgraph_default;
    static struct empties n;
    struct exec_options run = { .on_operation = note_empty, .user = &n };
    uint32_t with = 0, readers = 0;

    weights.failing_graph = 0;
    o.extremes = true;

    o.weights = &weights;
    for (weights.empty_graph = 0; weights.empty_graph <= 100; weights.empty_graph += 100) {
        with = 0;
        for (uint64_t i = 0; i < 400; i++) {
            const struct example *e = make(&o, 5, i);
            struct plan *p;
            struct result r;
            uint32_t before = n.results;
            ck_assert_msg(plan_new(&e->model, &p, &why) == 0, "%s: %s", e->name, why.text);
            ck_assert_msg(plan_run(p, e->in, &run, &r, &why) == 0, "%s: %s", e->name, why.text);
            with += n.results > before;
            for (uint32_t k = 0; k < e->model.graph[0].n_inputs; k++)
                ck_assert_uint_gt(tensor_count(&e->in[k]), 0);
            result_done(&r);
            plan_free(p);
        }
        if (weights.empty_graph == 0)
            ck_assert_uint_eq(with, 0);
    }
    ck_assert_uint_gt(with, 380); /* of 400: the others take IF or WHILE as the first operation */
    for (int t = 0; t < DT_COUNT; t++)
        for (int op = 0; op < MOST_CODE; op++)
            readers += n.read[t][op];
    ck_assert_uint_gt(readers, 45); /* of 81 pairs of operation and type; 59 with this seed */
}
END_TEST

static void note_operation(const struct exec_event *e, void *user)
{
    bool *done = user;

    if (e->graph == 0)
        done[e->operation] = true;
}

/* The operation with which the reference fails must be one whose record has such a value. */
START_TEST(graphs_that_must_fail_do)
{
    struct randgraph_weights weights = randgraph_weights_default;
    struct randgraph_options o = randgraph_default;
    static bool kinds[MOST_CODE];
    uint32_t failing = 0, n_kinds = 0;

    o.weights = &weights;
    o.control_flow = 0;
    o.extremes = true;
    weights.failing_graph = 100;
    for (uint64_t i = 0; i < 400; i++) {
        const struct example *e = make(&o, 6, i);
        const struct graph *g = &e->model.graph[0];
        bool done[128] = { false };
        struct exec_options run = { .on_operation = note_operation, .user = done };
        struct plan *p;
        struct result r;
        uint32_t at = 0;
        ck_assert_msg(plan_new(&e->model, &p, &why) == 0, "%s: %s", e->name, why.text);
        int rc = plan_run(p, e->in, &run, &r, &why);
        plan_free(p);
        if (!e->expect_failure)
            ck_assert_msg(rc == 0, "%s: %s", e->name, why.text);
        if (rc == 0)
            result_done(&r);
        if (!e->expect_failure)
            continue;
        ck_assert_msg(rc < 0 && why.code == WHY_EXECUTION, "%s: does not fail", e->name);
        while (done[at])
            at++;
        const struct op *op = op_find(g->operation[at].code);
        ck_assert_msg(op->fails_above || op->fails_below, "%s: %s", e->name, op->name);
        n_kinds += !kinds[op->code];
        kinds[op->code] = true;
        failing++;
    }
    ck_assert_uint_gt(failing, 240); /* of 400 */
    ck_assert_uint_gt(n_kinds, 22);  /* of 33 operations */
}
END_TEST

START_TEST(seed_and_index_determine_the_model)
{
    uint64_t first = digest_of(0, 300);

    digest_of(700, 800);
    ck_assert_uint_eq(digest_of(0, 300), first);
    ck_assert_str_eq(make(NULL, 1, 299)->name, "random/v2/s1/i299");
    uint64_t one = digest_example(DIGEST_NONE, make(NULL, 1, 5));
    ck_assert_uint_ne(one, digest_example(DIGEST_NONE, make(NULL, 1, 6)));
    ck_assert_uint_ne(one, digest_example(DIGEST_NONE, make(NULL, 2, 5)));
}
END_TEST

/* The numbers are pinned: other numbers would give other models under the same case names. */
START_TEST(the_generator_is_uniform_and_pinned)
{
    struct rng r;
    unsigned count[7] = { 0 };

    rng_seed(&r, 1, 2);
    ck_assert_uint_eq(rng_next(&r), 17343244953536433221u);
    for (int i = 0; i < 70000; i++)
        count[rng_below(&r, 7)]++;
    for (int i = 0; i < 7; i++)
        ck_assert_msg(count[i] > 9600 && count[i] < 10400, "%d: %u times", i, count[i]);
    for (int i = 0; i < 1000; i++) {
        double x = rng_unit(&r);
        ck_assert(x >= 0 && x < 1);
    }
}
END_TEST

START_TEST(any_bytes_give_a_model)
{
    struct randgraph_options o = finite_options();
    uint8_t bytes[600];
    struct tally t = { 0 };
    struct rng r, from;

    rng_seed(&r, 4, 4);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t) rng_next(&r);
    for (size_t n = 0; n < sizeof bytes; n += 13) {
        arena_rewind(arena, (struct arena_mark){ 0 });
        rng_bytes(&from, bytes, n);
        ck_assert_msg(randgraph_from(&o, &from, arena, &example, &why) == 0, "%zu bytes: %s", n,
                      why.text);
        example.name = "bytes";
        run(&example, &t);
    }
    rng_bytes(&from, NULL, 0);
    ck_assert_uint_eq(rng_next(&from), 0);
    ck_assert_uint_eq(rng_below(&from, 3), 0);
}
END_TEST

START_TEST(main_types_are_respected)
{
    struct randgraph_options o = randgraph_default;

    o.dtypes = 1u << DT_S8;
    for (uint64_t i = 0; i < 100; i++) {
        const struct graph *g = &make(&o, 9, i)->model.graph[0];
        const struct operation *first = &g->operation[0];
        bool found =
            g->operand[first->out[0]].tensor.dtype == DT_S8; /* a lookup has its type there */
        for (uint32_t k = 0; k < first->n_in; k++)
            found |= g->operand[first->in[k]].tensor.dtype == DT_S8;
        ck_assert_msg(found, "%s", example.name);
    }
}
END_TEST

START_TEST(option_only_restricts_the_operations)
{
    struct randgraph_options o = finite_options();
    struct tally t = { 0 };

    o.max_ops = 5;
    for (int k = 0; k < op_table_n; k++) {
        o.only = randgraph_only(op_table[k]->name);
        for (uint64_t i = 0; i < 20; i++) {
            const struct graph *g = &make(&o, 2, i)->model.graph[0];
            for (uint32_t j = 0; j < g->n_operations; j++)
                ck_assert_int_eq(g->operation[j].code, op_table[k]->code);
            run(&example, &t);
        }
    }
}
END_TEST

/* Counts the operations of all graphs of the example; fails for one that is not in the list. */
static void count_ops(const struct randgraph_options *o, const char *const *name, int n,
                      uint32_t *count)
{
    for (uint32_t k = 0; k < example.model.n_graphs; k++) {
        const struct graph *g = &example.model.graph[k];
        for (uint32_t i = 0; i < g->n_operations; i++) {
            int at = 0;
            while (at < n && op_by_name(name[at])->code != g->operation[i].code)
                at++;
            ck_assert_msg(at < n, "%s has operation %d", example.name, g->operation[i].code);
            count[at]++;
        }
    }
    ck_assert(randgraph_ops_count(&o->only) > 1);
}

START_TEST(several_operations_can_be_chosen)
{
    static const char *const plain[] = { "ADD", "CONV_2D", "TOPK_V2" };
    static const char *const control[] = { "MUL", "IF", "WHILE", "LESS", "ADD" };
    struct randgraph_options o = finite_options();
    uint32_t count[5] = { 0 };
    struct tally t = { 0 };

    for (int i = 0; i < COUNT(plain); i++)
        randgraph_ops_add(&o.only, op_by_name(plain[i]));
    for (uint64_t i = 0; i < 200; i++) {
        make(&o, 3, i);
        count_ops(&o, plain, COUNT(plain), count);
        run(&example, &t);
    }
    for (int i = 0; i < COUNT(plain); i++)
        ck_assert_msg(count[i] >= 50, "%s %u times", plain[i], count[i]);
    memset(count, 0, sizeof count);
    o.only = (struct randgraph_ops){ { 0 } };
    for (int i = 0; i < 3; i++) /* LESS and ADD are those of conditions and counters */
        randgraph_ops_add(&o.only, op_by_name(control[i]));
    for (uint64_t i = 0; i < 200; i++) {
        make(&o, 3, i);
        count_ops(&o, control, COUNT(control), count);
    }
    for (int i = 0; i < 3; i++)
        ck_assert_msg(count[i] >= 20, "%s %u times", control[i], count[i]);
}
END_TEST

static void check_rejected(struct randgraph_options o, const char *reason)
{
    ck_assert_int_eq(randgraph_make(&o, 1, 1, arena, &example, &why), -1);
    ck_assert_msg(strstr(why.text, reason), "%s", why.text);
}

START_TEST(invalid_options_are_rejected)
{
    struct randgraph_options o = randgraph_default;

    o.min_ops = 0;
    check_rejected(o, "0 to 20 operations");
    o = randgraph_default;
    o.max_ops = 101;
    check_rejected(o, "101 operations");
    o = randgraph_default;
    o.max_dim = 65;
    check_rejected(o, "dimension 65");
    o = randgraph_default;
    o.max_level = 9;
    check_rejected(o, "level 9");
    o = randgraph_default;
    o.only = randgraph_only("PACK");
    o.max_level = 5;
    check_rejected(o, "no operation named PACK takes");
    randgraph_ops_add(&o.only, op_by_name("ADD"));
    check_rejected(o, "no operation named PACK takes");
    o = randgraph_default;
    o.only = randgraph_only("IF");
    o.max_level = 3;
    check_rejected(o, "no operation named IF takes");
    o = randgraph_default;
    o.dtypes = 1u << DT_MODEL;
    check_rejected(o, "no operation");
}
END_TEST

START_TEST(weights_are_loaded_and_dumped)
{
    struct randgraph_weights w, again;
    struct randgraph_options o = randgraph_default;

    const char *text = "# no casts\n\nnewest 90\n  op CAST 0\n";
    ck_assert_msg(randgraph_weights_parse(text, &w, &why) == 0, "%s", why.text);
    ck_assert_uint_eq(w.newest, 90);
    ck_assert_uint_eq(w.reuse, randgraph_weights_default.reuse);
    char *dump = randgraph_weights_dump(&w, arena);
    ck_assert_msg(randgraph_weights_parse(dump, &again, &why) == 0, "%s", why.text);
    ck_assert_mem_eq(&w, &again, offsetof(struct randgraph_weights, op));
    o.weights = &w;
    o.control_flow = 0;
    for (uint64_t i = 0; i < 200; i++) {
        const struct graph *g = &make(&o, 2, i)->model.graph[0];
        for (uint32_t j = 0; j < g->n_operations; j++)
            ck_assert_int_ne(g->operation[j].code, op_by_name("CAST")->code);
    }
    ck_assert_int_eq(randgraph_weights_parse("newest 90\nbogus 3\n", &w, &why), -1);
    ck_assert_msg(strstr(why.text, "line 2") && strstr(why.text, "bogus"), "%s", why.text);
    ck_assert_int_eq(randgraph_weights_parse("newest ninety", &w, &why), -1);
    ck_assert_int_eq(randgraph_weights_parse("newest -1", &w, &why), -1);
    ck_assert_int_eq(randgraph_weights_parse("op NOTHING 3", &w, &why), -1);
}
END_TEST

Suite *randgraph_suite(void)
{
    TCase *c = tcase_create("randgraph");

    tcase_add_checked_fixture(c, set_up, tear_down);
    tcase_add_test(c, models_are_valid_and_run);
    tcase_add_test(c, operations_that_read_values_are_connected);
    tcase_add_test(c, number_of_operations_is_respected);
    tcase_add_test(c, feature_level_is_respected);
    tcase_add_test(c, every_row_is_drawn);
    tcase_add_test(c, results_without_elements_are_drawn_and_read);
    tcase_add_test(c, graphs_that_must_fail_do);
    tcase_add_test(c, seed_and_index_determine_the_model);
    tcase_add_test(c, the_generator_is_uniform_and_pinned);
    tcase_add_test(c, any_bytes_give_a_model);
    tcase_add_test(c, main_types_are_respected);
    tcase_add_test(c, option_only_restricts_the_operations);
    tcase_add_test(c, several_operations_can_be_chosen);
    tcase_add_test(c, invalid_options_are_rejected);
    tcase_add_test(c, weights_are_loaded_and_dumped);
    return make_suite("randgraph", c, NULL);
}
