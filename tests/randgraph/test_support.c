/* Support sets: what is learned from a driver's answers, graphs within it, its text. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "randgraph/randgraph.h"
#include "tests/support/check_main.h"

/* A driver: a few operations in fp32, convolutions with limits that depend on each other by nothing
 * but the whole call. */
static bool call_supported(const struct graph *g, const struct operation *p)
{
    const struct op *op = op_find(p->code);
    const struct operand *first = &g->operand[p->in[0]], *second = &g->operand[p->in[1]];
    if (first->tensor.dtype != DT_F32)
        return false;
    if (!strcmp(op->name, "RELU"))
        return true;
    if (!strcmp(op->name, "ADD"))
        return first->tensor.shape.rank <= 3 && second->tensor.shape.rank <= 3 &&
               shape_equal(&first->tensor.shape, &second->tensor.shape);
    if (!strcmp(op->name, "CONCATENATION"))
        return p->n_in == 3;
    if (strcmp(op->name, "CONV_2D") != 0)
        return false;
    const struct shape *filter = &second->tensor.shape;
    bool constant = second->life == LIFE_CONSTANT_COPY || second->life == LIFE_CONSTANT_REFERENCE;
    return constant && filter->dim[1] == filter->dim[2] && first->tensor.shape.dim[0] <= 3;
}

static bool graph_supported(const struct model *m)
{
    const struct graph *g = &m->graph[0];
    for (uint32_t i = 0; i < g->n_operations; i++)
        if (!call_supported(g, &g->operation[i]))
            return false;
    return m->n_graphs == 1 && !m->relaxed;
}

/* Asks the driver above about calls of each probe row. */
static struct randgraph_support *learn(uint32_t samples)
{
    uint32_t n = randgraph_probe_rows();
    struct randgraph_limits *limits = calloc(n, sizeof *limits);
    struct randgraph_sample *sample = calloc(samples, sizeof *sample);
    struct randgraph_support *s = NULL;
    struct why w;
    ck_assert(n > 100 && limits && sample);
    for (uint32_t row = 0; row < n; row++) {
        uint32_t k = 0;
        for (uint32_t i = 0; i < samples; i++) {
            struct arena *a = arena_new(0);
            struct example e;
            struct randgraph_limits within;
            bool limited = randgraph_guide(row, i, &limits[row], &within);
            if (randgraph_probe(row, i, 8, limited ? &within : NULL, a, &e, sample[k].trait, &w) ==
                0)
                sample[k++].supported = graph_supported(&e.model);
            if (i % 8 == 7)
                randgraph_learn(row, sample, k, &limits[row]);
            arena_free(a);
        }
        randgraph_learn(row, sample, k, &limits[row]);
        limits[row].without = (1u << RANDGRAPH_VARIANTS) - 1; /* as asked about each variant */
    }
    ck_assert_msg(randgraph_support_new(8, limits, 0, 0, NULL, &s, &w) == 0, "%s", w.text);
    free(limits);
    free(sample);
    return s;
}

START_TEST(graphs_are_within_what_was_learned)
{
    enum { GRAPHS = 400 };
    struct randgraph_support *s = learn(150);
    struct randgraph_options o = randgraph_default;
    uint32_t whole = 0, operations = 0, ops, rows, bad = 0;
    struct why w;
    randgraph_support_count(s, &ops, &rows);
    ck_assert_uint_eq(ops, 4);
    ck_assert_uint_eq(rows, 7); /* CONV_2D has four forms */
    o.support = s;
    o.support_digest = randgraph_support_digest(s);
    o.min_ops = o.max_ops = 10;
    for (uint64_t i = 0; i < GRAPHS; i++) {
        struct arena *a = arena_new(0);
        struct example e;
        ck_assert_msg(randgraph_make(&o, 5, i, a, &e, &w) == 0, "%s", w.text);
        operations += e.model.graph[0].n_operations;
        whole += graph_supported(&e.model);
        bad += !graph_supported(&e.model);
        arena_free(a);
    }
    ck_assert_uint_ge(whole, GRAPHS * 95 / 100);
    ck_assert_uint_ge(operations, 8 * GRAPHS);
    ck_assert_uint_ge(bad, 1); /* the edge is probed, too */
    randgraph_support_free(s);
}
END_TEST

START_TEST(a_text_stands_for_one_set)
{
    struct randgraph_support *s = learn(60), *again = NULL;
    struct randgraph_support *other = learn(60);
    struct why w;
    const char *text = randgraph_support_text(s);
    ck_assert_str_eq(text, randgraph_support_text(other));
    ck_assert_msg(randgraph_support_parse(text, &again, &w) == 0, "%s", w.text);
    ck_assert_str_eq(text, randgraph_support_text(again));
    ck_assert(randgraph_support_digest(s) == randgraph_support_digest(again));
    char *changed = strdup(text);
    strstr(changed, "level 8")[6] = '7';
    randgraph_support_free(other);
    ck_assert(randgraph_support_parse(changed, &other, &w) == 0);
    ck_assert(randgraph_support_digest(s) != randgraph_support_digest(other));
    free(changed);
    randgraph_support_free(s);
    randgraph_support_free(again);
    randgraph_support_free(other);
}
END_TEST

static const struct {
    const char *text, *why;
} wrong[] = {
    { "", "there is no line with the level" },
    { "halcyon-support 2\n", "line 1: expected 'halcyon-support 1'" },
    { "halcyon-support 1\nlevel 9\n", "line 2: " },
    { "halcyon-support 1\nlevel 3\n", "no operation is supported" },
    { "halcyon-support 1\nlevel 3\nRELU/0/0 TENSOR_FLOAT32", "line 3 does not end" },
    { "halcyon-support 1\nlevel 3\nRELU/0/0 TENSOR_INT32\n", "line 3: RELU has other types" },
    { "halcyon-support 1\nlevel 3\nRELU/1/0 TENSOR_FLOAT32\n", "line 3: " },
    { "halcyon-support 1\nlevel 3\nRELU\n", "line 3: expected OPERATION/FORM/ROW TYPES" },
    { "halcyon-support 1\nlevel 3\nNOTHING/0/0 TENSOR_FLOAT32\n", "line 3: expected OPERATION" },
    { "halcyon-support 1\nlevel 3\nRELU/0/0 TENSOR_FLOAT32 rank=70\n", "line 3: rank: '70'" },
    { "halcyon-support 1\nlevel 3\nRELU/0/0 TENSOR_FLOAT32 rank\n", "line 3: expected TRAIT=" },
    { "halcyon-support 1\nlevel 3\nRELU/0/0 TENSOR_FLOAT32 without=x\n",
      "line 3: unknown variant" },
    { "halcyon-support 1\nlevel 3\nRELU/0/0 TENSOR_FLOAT32 rank=2,1\n", "not as this version" },
    { "halcyon-support 1\nlevel 3\nIF TENSOR_FLOAT\n", "line 3: unknown operand type" },
    { "halcyon-support 1\nlevel 3\nmodels operations=0\n", "line 3: " },
    { "halcyon-support 1\nlevel 3\nmodels without=x\n", "line 3: models can be without pools" },
    { "halcyon-support 1\nlevel 3\nmodels x\n", "line 3: expected MEASURE=N" },
    { "halcyon-support 1\nlevel 3\nmodels colours=3\n",
      "line 3: models have no measure 'colours'" },
    { "halcyon-support 1\nlevel 3\nmodels outputs=0\n", "line 3: " },
    { "halcyon-support 1\nlevel 3\nmodels without=outputs\n", "line 3: models can be without" },
    { "halcyon-support 1\nlevel 3\nmodels pools=0\nRELU/0/0 TENSOR_FLOAT32\n",
      "not as this version" },
    { "halcyon-support 1\nlevel 3\nmodels without=read-outputs,pools\nRELU/0/0 TENSOR_FLOAT32\n",
      "not as this version" },
};

/* Of a driver with limits on whole models. */
START_TEST(models_are_within_their_limits)
{
    struct randgraph_options o = randgraph_default;
    struct randgraph_support *s = NULL;
    uint32_t most = 0;
    struct why w;
    ck_assert_msg(randgraph_support_parse("halcyon-support 1\nlevel 8\n"
                                          "models operations=6 without=pools,read-outputs\n"
                                          "ADD/0/0 TENSOR_FLOAT32,TENSOR_FLOAT32\n"
                                          "RELU/0/0 TENSOR_FLOAT32\n",
                                          &s, &w) == 0,
                  "%s", w.text);
    o.support = s;
    o.support_digest = randgraph_support_digest(s);
    for (uint64_t i = 0; i < 300; i++) {
        struct arena *a = arena_new(0);
        struct example e;
        ck_assert_msg(randgraph_make(&o, 5, i, a, &e, &w) == 0, "%s", w.text);
        const struct graph *g = &e.model.graph[0];
        most = g->n_operations > most ? g->n_operations : most;
        ck_assert_uint_eq(e.model.n_pools, 0);
        for (uint32_t k = 0; k < g->n_outputs; k++)
            ck_assert_uint_eq(g->operand[g->output[k]].consumers, 0);
        arena_free(a);
    }
    ck_assert_uint_eq(most, 6);
    randgraph_support_free(s);
}
END_TEST

static uint32_t count_of_kind(const struct graph *g, int32_t code)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < g->n_operations; i++)
        n += g->operation[i].code == code;
    return n;
}

/* Each measure of whole models, counted in the model itself; graphs are as deep as without. */
START_TEST(graphs_are_within_each_measure)
{
    static const char rows[] = "ADD/0/0 TENSOR_FLOAT32,TENSOR_FLOAT32\n"
                               "LOGISTIC/0/0 TENSOR_FLOAT32\n"
                               "RELU/0/0 TENSOR_FLOAT32\n"
                               "TANH/0/0 TENSOR_FLOAT32\n";
    static const char *const measure[] = { "inputs=1",         "outputs=1", "operands=9",
                                           "same-operation=2", "reads=1",   "parts=1" };
    for (int m = 0; m < COUNT(measure); m++) {
        struct randgraph_options o = randgraph_default;
        struct randgraph_support *s = NULL;
        uint32_t beyond = 0, operations = 0;
        char text[500];
        struct why w;
        snprintf(text, sizeof text, "halcyon-support 1\nlevel 8\nmodels %s\n%s", measure[m], rows);
        ck_assert_msg(randgraph_support_parse(text, &s, &w) == 0, "%s", w.text);
        o.support = s;
        o.support_digest = randgraph_support_digest(s);
        for (uint64_t i = 0; i < 300; i++) {
            struct arena *a = arena_new(0);
            struct example e;
            ck_assert_msg(randgraph_make(&o, 5, i, a, &e, &w) == 0, "%s", w.text);
            const struct graph *g = &e.model.graph[0];
            uint32_t same = 0, reads = 0, parts = 0;
            for (uint32_t k = 0; k < g->n_operations; k++) {
                const struct operation *op = &g->operation[k];
                bool computed = false;
                for (uint32_t j = 0; j < op->n_in; j++)
                    computed |= g->operand[op->in[j]].life == LIFE_TEMPORARY ||
                                g->operand[op->in[j]].life == LIFE_OUTPUT;
                parts += !computed;
                uint32_t n = count_of_kind(g, op->code);
                same = n > same ? n : same;
            }
            for (uint32_t k = 0; k < g->n_operands; k++)
                if (g->operand[k].life != LIFE_CONSTANT_COPY &&
                    g->operand[k].life != LIFE_CONSTANT_REFERENCE &&
                    g->operand[k].consumers > reads)
                    reads = g->operand[k].consumers;
            beyond += m == 0   ? g->n_inputs > 1
                      : m == 1 ? g->n_outputs > 1
                      : m == 2 ? g->n_operands > 9
                      : m == 3 ? same > 2
                      : m == 4 ? reads > 1
                               : parts > 1;
            operations += g->n_operations;
            arena_free(a);
        }
        /* those with an operation that is drawn without regard to the set */
        ck_assert_msg(beyond <= 300 * RANDGRAPH_EDGE_PERCENT / 100, "%s: %u", measure[m], beyond);
        ck_assert_msg(operations >= 300 * (m == 2 ? 2 : 4), "%s: %u", measure[m], operations);
        randgraph_support_free(s);
    }
}
END_TEST

/* A driver that takes models of one output, and at most three inputs. */
START_TEST(limits_on_models_are_learned)
{
    struct randgraph_model_sample sample[64] = { 0 };
    struct randgraph_model_limits l;
    uint32_t state = 1;
    for (int i = 0; i < COUNT(sample); i++) {
        for (int m = 0; m < RANDGRAPH_MODEL_MEASURES; m++) {
            state = state * 1103515245 + 12345;
            sample[i].value[m] = 1 + (state >> 16) % 5;
        }
        sample[i].supported =
            sample[i].value[MODEL_OUTPUTS] == 1 && sample[i].value[MODEL_INPUTS] <= 3;
    }
    randgraph_learn_models(sample, COUNT(sample), &l);
    for (int m = 0; m < RANDGRAPH_MODEL_MEASURES; m++)
        ck_assert_uint_eq(l.above[m], m == MODEL_OUTPUTS ? 2 : m == MODEL_INPUTS ? 4 : 0);
    for (int i = 0; i < COUNT(sample); i++)
        ck_assert(randgraph_model_is_within(&l, &sample[i]) == sample[i].supported);
    /* two refusals may have other reasons */
    for (int i = 0; i < COUNT(sample); i++)
        sample[i].supported = i > 1;
    randgraph_learn_models(sample, COUNT(sample), &l);
    ck_assert_uint_eq(randgraph_count_model_limits(&l), 0);
}
END_TEST

START_TEST(wrong_texts_are_rejected)
{
    for (int i = 0; i < COUNT(wrong); i++) {
        struct randgraph_support *s = NULL;
        struct why w;
        ck_assert_msg(randgraph_support_parse(wrong[i].text, &s, &w) < 0, "%s", wrong[i].text);
        ck_assert_ptr_null(s);
        ck_assert_msg(!strncmp(w.text, wrong[i].why, strlen(wrong[i].why)), "%s: %s", wrong[i].text,
                      w.text);
    }
}
END_TEST

START_TEST(a_name_needs_its_set)
{
    struct randgraph_options o;
    struct arena *a = arena_new(0);
    struct example e;
    struct why w;
    uint64_t seed, index;
    char text[RANDGRAPH_NAME], name[RANDGRAPH_NAME];
    snprintf(text, sizeof text, "random/v%d/for=00000000000000ab/s7/i1", RANDGRAPH_VERSION);
    ck_assert_msg(randgraph_parse_name(text, &o, &seed, &index, &w) == 0, "%s", w.text);
    ck_assert(o.support_digest == 0xab);
    randgraph_name(&o, seed, index, name);
    ck_assert_str_eq(name, text);
    ck_assert(randgraph_make(&o, seed, index, a, &e, &w) < 0);
    ck_assert(strstr(w.text, "00000000000000ab") && w.code == WHY_INVALID);
    ck_assert(randgraph_set(&o, "for", "00AB", &w) < 0);
    ck_assert(randgraph_set(&o, "for", "00000000000000AB", &w) < 0);
    arena_free(a);
}
END_TEST

Suite *support_suite(void)
{
    TCase *c = tcase_create("support");

    tcase_add_test(c, graphs_are_within_what_was_learned);
    tcase_add_test(c, a_text_stands_for_one_set);
    tcase_add_test(c, models_are_within_their_limits);
    tcase_add_test(c, graphs_are_within_each_measure);
    tcase_add_test(c, limits_on_models_are_learned);
    tcase_add_test(c, wrong_texts_are_rejected);
    tcase_add_test(c, a_name_needs_its_set);
    return make_suite("support", c, NULL);
}
