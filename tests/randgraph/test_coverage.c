/* Coverage: what a call counts as, what there is to count, and drawing by the counts. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "golden/model/build.h"
#include "randgraph/coverage.h"
#include "tests/support/check_main.h"
#include "tests/support/digest.h"

/* ---- the cells of a model */

struct seen {
    char text[2048];
};

static void put_cell(const struct randgraph_cell *c, void *user)
{
    struct seen *s = user;
    size_t used = strlen(s->text);
    snprintf(s->text + used, sizeof s->text - used, "%s|%s|%s|%u|%s|%s\n", c->operation, c->form,
             c->types, c->rank, c->options, c->values);
}

static void put_pair(const char *producer, const char *consumer, void *user)
{
    struct seen *s = user;
    size_t used = strlen(s->text);
    snprintf(s->text + used, sizeof s->text - used, "%s > %s\n", producer, consumer);
}

START_TEST(calls_and_neighbours_are_described)
{
    static const float zeros[4], weights[4] = { 0.5f, 0.25f, 1, 2 };
    struct build b;
    struct seen s = { "" };
    build_init(&b, 1);
    uint32_t x = build_operand(&b, LIFE_INPUT, DT_F32, DIMS(1, 2, 2, 1));
    uint32_t zero = build_constant(&b, DT_F32, DIMS(1, 2, 2, 1), zeros);
    uint32_t filter = build_constant(&b, DT_F32, DIMS(1, 2, 2, 1), weights);
    uint32_t bias = build_constant(&b, DT_F32, DIMS(1), weights);
    uint32_t sum = build_operand(&b, LIFE_TEMPORARY, DT_F32, DIMS(1, 2, 2, 1));
    uint32_t y = build_operand(&b, LIFE_TEMPORARY, DT_F32, DIMS(1, 1, 1, 1));
    uint32_t z = build_operand(&b, LIFE_OUTPUT, DT_F32, DIMS(1, 1, 1, 1));
    OPERATION(&b, "ADD", IDS(x, zero, build_int(&b, 3)), IDS(sum));
    OPERATION(&b, "CONV_2D",
              IDS(sum, filter, bias, build_int(&b, 2), build_int(&b, 1), build_int(&b, 2),
                  build_int(&b, 0)),
              IDS(y));
    OPERATION(&b, "RELU", IDS(y), IDS(z));
    float in[4] = { 1, 2, 3, 4 };
    struct tensor given = { .dtype = DT_F32, .shape = DIMS(1, 2, 2, 1), .data = in };
    struct example e = { .model = b.model, .in = &given };
    ck_assert_int_eq(randgraph_each_cell(&e, b.arena, put_cell, put_pair, &s), 0);
    ck_assert_str_eq(s.text,
                     "ADD||TENSOR_FLOAT32|4|activation=relu6|zeros\n"
                     "CONV_2D|implicit padding|TENSOR_FLOAT32,TENSOR_FLOAT32,TENSOR_FLOAT32,"
                     "TENSOR_FLOAT32|4|padding=valid stride_width=1 stride_height=more "
                     "activation=none nchw=omitted|other\n"
                     "ADD > CONV_2D\n"
                     "RELU||TENSOR_FLOAT32|4||computed\n"
                     "CONV_2D > RELU\n");
    build_done(&b);
}
END_TEST

static const struct {
    const char *class;
    enum dtype type;
    float scale;
    union {
        float f[2];
        uint8_t u[2];
        uint16_t h[2];
    } data;
} classes[] = {
    { "other", DT_F32, 0, { .f = { 0.5f, 1 } } },
    { "whole", DT_F32, 0, { .f = { 0, -3 } } },
    { "zeros", DT_F32, 0, { .f = { 0, -0.0f } } },
    { "subnormal", DT_F32, 0, { .f = { 1e-40f, 1 } } },
    { "large", DT_F32, 0, { .f = { 1e-40f, -10000 } } },
    { "nonfinite", DT_F32, 0, { .f = { NAN, 1e30f } } },
    { "nonfinite", DT_F32, 0, { .f = { 1, -INFINITY } } },
    { "subnormal", DT_F16, 0, { .h = { 0x0001, 0x3c00 } } },
    { "nonfinite", DT_F16, 0, { .h = { 0x7c00, 0x3c00 } } },
    { "limits", DT_U8, 0.5f, { .u = { 255, 7 } } },
    { "limits", DT_U8, 0.5f, { .u = { 0, 0 } } },
    { "zeros", DT_U8, 0.5f, { .u = { 9, 9 } } },
    { "other", DT_U8, 0.5f, { .u = { 9, 8 } } },
};

START_TEST(values_have_classes)
{
    for (int i = 0; i < COUNT(classes); i++) {
        struct build b;
        struct seen s = { "" };
        build_init(&b, 1);
        int32_t zero = classes[i].type == DT_U8 ? 9 : 0;
        uint32_t x = build_quant(&b, LIFE_INPUT, classes[i].type, DIMS(2), classes[i].scale, zero);
        uint32_t y = build_quant(&b, LIFE_OUTPUT, classes[i].type, DIMS(2), classes[i].scale, zero);
        OPERATION(&b, "RELU", IDS(x), IDS(y));
        union {
            float f[2];
            uint8_t u[2];
            uint16_t h[2];
        } data;
        memcpy(&data, &classes[i].data, sizeof data);
        struct tensor given = { .dtype = classes[i].type,
                                .shape = DIMS(2),
                                .scale = classes[i].scale,
                                .zero = zero,
                                .data = &data };
        struct example e = { .model = b.model, .in = &given };
        ck_assert_int_eq(randgraph_each_cell(&e, b.arena, put_cell, put_pair, &s), 0);
        char expected[64];
        snprintf(expected, sizeof expected, "RELU||%s|1||%s\n", dtype_info[classes[i].type].name,
                 classes[i].class);
        ck_assert_str_eq(s.text, expected);
        build_done(&b);
    }
}
END_TEST

/* ---- counts */

static void count_cell(const struct randgraph_cell *c, void *user)
{
    randgraph_coverage_add(user, c, (struct randgraph_count){ .ran = 1 });
}

static void count_pair(const char *producer, const char *consumer, void *user)
{
    randgraph_coverage_add_pair(user, producer, consumer, (struct randgraph_count){ .ran = 1 });
}

/* Adds n graphs of the options to the counts.  Returns the number of their operations, and their
 * digest. */
static uint64_t count_graphs(const struct randgraph_options *o, uint64_t seed, uint64_t n,
                             struct randgraph_coverage *c, uint64_t *ret_digest)
{
    struct arena *a = arena_new(0);
    uint64_t operations = 0, digest = DIGEST_NONE;
    for (uint64_t i = 0; i < n; i++) {
        struct example e;
        struct why w;
        struct arena_mark mark = arena_mark(a);
        ck_assert_msg(randgraph_make(o, seed, i, a, &e, &w) == 0, "%s", w.text);
        for (uint32_t k = 0; k < e.model.n_graphs; k++)
            operations += e.model.graph[k].n_operations;
        digest = digest_example(digest, &e);
        if (c)
            ck_assert_int_eq(randgraph_each_cell(&e, a, count_cell, count_pair, c), 0);
        arena_rewind(a, mark);
    }
    arena_free(a);
    *ret_digest = digest;
    return operations;
}

struct sum {
    uint64_t items, ran, seen, most, least;
    char first[64]; /* that has the least */
};

static void sum_item(const struct randgraph_item *i, void *user)
{
    struct sum *s = user;
    s->items++;
    s->ran += i->n.ran;
    s->seen += i->n.ran > 0;
    s->most = i->n.ran > s->most ? i->n.ran : s->most;
    if (i->n.ran < s->least) {
        s->least = i->n.ran;
        snprintf(s->first, sizeof s->first, "%s", i->operation);
    }
}

static struct sum sum_of(const struct randgraph_coverage *c, enum randgraph_facet facet)
{
    struct sum s = { .least = UINT64_MAX };
    randgraph_coverage_each(c, facet, sum_item, &s);
    return s;
}

START_TEST(every_call_of_a_random_graph_is_counted)
{
    struct randgraph_coverage *c = randgraph_coverage_new();
    struct randgraph_options o = randgraph_default;
    uint64_t digest;
    ck_assert(randgraph_coverage_is_empty(c));
    ck_assert_uint_eq(sum_of(c, FACET_OPERATION).items, (uint64_t) op_table_n);
    uint64_t possible = sum_of(c, FACET_ROW).items;
    o.control_flow = 0;
    o.max_ops = 4;
    uint64_t n = count_graphs(&o, 3, 300, c, &digest);
    ck_assert(!randgraph_coverage_is_empty(c));
    ck_assert_uint_eq(sum_of(c, FACET_OPERATION).ran, n);
    /* each call is legal, so that it has a form, a typing row, a rank and a class of values */
    ck_assert_uint_eq(sum_of(c, FACET_ROW).ran, n);
    ck_assert_uint_eq(sum_of(c, FACET_RANK).ran, n);
    ck_assert_uint_eq(sum_of(c, FACET_VALUES).ran, n);
    ck_assert_uint_eq(sum_of(c, FACET_ROW).items, possible);
    randgraph_coverage_free(c);
}
END_TEST

static char *coverage_text(const struct randgraph_coverage *c)
{
    char *text = NULL;
    size_t length = 0;
    FILE *memory = open_memstream(&text, &length);
    ck_assert_int_eq(randgraph_coverage_write(c, memory), 0);
    ck_assert_int_eq(fclose(memory), 0);
    return text;
}

/* The text of counts, read, gives them again; read twice, twice of them; of two parts, their sum.
 */
START_TEST(counts_are_read_from_their_text)
{
    struct randgraph_options o = randgraph_default;
    struct randgraph_coverage *all = randgraph_coverage_new(), *part[2], *sum;
    struct why w = { 0 };
    uint64_t digest;
    sum = randgraph_coverage_new();
    count_graphs(&o, 5, 60, all, &digest);
    count_graphs(&o, 6, 60, all, &digest);
    for (int i = 0; i < 2; i++) {
        part[i] = randgraph_coverage_new();
        count_graphs(&o, 5 + (uint64_t) i, 60, part[i], &digest);
        char *text = coverage_text(part[i]);
        ck_assert_msg(randgraph_coverage_read(sum, text, &w) == 0, "%s", w.text);
        free(text);
    }
    char *expected = coverage_text(all), *found = coverage_text(sum), *one = coverage_text(part[0]);
    ck_assert_uint_gt(strlen(expected), 10000);
    ck_assert_str_eq(expected, found);
    ck_assert_str_ne(expected, one);
    static const char *const damaged[] = {
        "[rank]\nno counts\n",
        "[rank]\nof nothing\n[counts]\n1\n",
        "[rank]\n=ADD\t\tTENSOR_FLOAT32\n1\n2\n[counts]\n1\n",
        "[rank]\n=ADD\t\tTENSOR_FLOAT32\n1\n[counts]\n1 x\n",
        "[rank]\n=ADD\t\tTENSOR_FLOAT32\n#\n1\n[counts]\n1\n",
        "[rank]\n=ADD\t\tTENSOR_FLOAT32\n#-1\n1\n[counts]\n1\n",
        "[rank]\n=ADD\t\tTENSOR_FLOAT32\n#99999999999999999999\n1\n[counts]\n1\n",
    };
    for (int i = 0; i < COUNT(damaged); i++) {
        struct randgraph_coverage *partly = randgraph_coverage_new();
        w = (struct why){ 0 };
        ck_assert_int_eq(randgraph_coverage_read(partly, damaged[i], &w), -1);
        ck_assert_int_eq(w.code, WHY_INVALID);
        randgraph_coverage_free(partly);
    }
    static const char *const later[] = {
        "[of a later version]\n=ADD\t\t\nx\n[counts]\n1 2\n",
        "[operation]\n=NO_SUCH_OP\t\t\n\n[counts]\n1 2\n",
    };
    for (int i = 0; i < COUNT(later); i++)
        ck_assert_int_eq(randgraph_coverage_read(sum, later[i], &w), 0);
    char *same = coverage_text(sum);
    ck_assert_str_eq(expected, same);
    free(expected);
    free(found);
    free(one);
    free(same);
    randgraph_coverage_free(all);
    randgraph_coverage_free(sum);
    randgraph_coverage_free(part[0]);
    randgraph_coverage_free(part[1]);
}
END_TEST

/* ---- drawing by the counts */

static struct randgraph_steering *steer(const struct randgraph_coverage *c)
{
    struct randgraph_steering *s;
    struct why w;
    ck_assert_int_eq(randgraph_steering_new(c, NULL, &s, &w), 0);
    return s;
}

START_TEST(what_was_seen_least_is_drawn_more)
{
    enum { GRAPHS = 500 };
    struct randgraph_coverage *plain = randgraph_coverage_new(), *more = randgraph_coverage_new();
    struct randgraph_options o = randgraph_default;
    uint64_t digest, again;
    o.max_ops = 5;
    count_graphs(&o, 1, GRAPHS, plain, &digest);
    count_graphs(&o, 1, GRAPHS, more, &digest);
    struct randgraph_steering *s = steer(plain);
    count_graphs(&o, 2, GRAPHS, plain, &digest);
    o.steering = s;
    o.steering_digest = randgraph_steering_digest(s);
    count_graphs(&o, 2, GRAPHS, more, &digest);
    double gain = 0;
    for (int f = 0; f < RANDGRAPH_FACETS; f++) {
        struct sum a = sum_of(plain, (enum randgraph_facet) f),
                   b = sum_of(more, (enum randgraph_facet) f);
        gain += (double) b.seen / (double) a.seen - 1;
        ck_assert_msg(100 * b.seen >= 98 * a.seen, "%s: %d of %d seen, %d without",
                      randgraph_facet_name[f], (int) b.seen, (int) b.items, (int) a.seen);
        if (f == FACET_OPERATION) /* fewer times between the most frequent and the rarest */
            ck_assert_msg(b.most * (a.least + 1) < a.most * (b.least + 1),
                          "%d to %d times, %d to %d without", (int) b.least, (int) b.most,
                          (int) a.least, (int) a.most);
    }
    ck_assert_double_gt(gain, 0.05);
    count_graphs(&o, 2, GRAPHS, NULL, &again);
    ck_assert_uint_eq(digest, again);
    randgraph_steering_free(s);
    randgraph_coverage_free(plain);
    randgraph_coverage_free(more);
}
END_TEST

/* Marks the operations of the main graphs, by index in op_table; their tensors have these types. */
static void mark_drawn(const struct randgraph_options *o, uint32_t types, bool *drawn)
{
    struct arena *a = arena_new(0);
    for (uint64_t i = 0; i < 60; i++) {
        struct example e;
        struct why w;
        ck_assert_msg(randgraph_make(o, 4, i, a, &e, &w) == 0, "%s", w.text);
        const struct graph *g = &e.model.graph[0];
        for (uint32_t k = 0; k < g->n_operations; k++) {
            const struct tensor *t = &g->operand[g->operation[k].in[0]].tensor;
            ck_assert_msg(types >> t->dtype & 1, "%s", dtype_info[t->dtype].name);
            for (int op = 0; op < op_table_n; op++)
                drawn[op] |= op_table[op]->code == g->operation[k].code;
        }
    }
    arena_free(a);
}

START_TEST(steered_graphs_keep_to_the_options)
{
    struct randgraph_coverage *c = randgraph_coverage_new();
    struct randgraph_options o = randgraph_default;
    uint64_t digest;
    count_graphs(&o, 1, 60, c, &digest);
    struct randgraph_steering *s = steer(c);
    o.steering = s;
    o.steering_digest = randgraph_steering_digest(s);
    o.dtypes = 1u << DT_F32;
    o.max_level = 2;
    for (int n = 1; n <= 3; n++) {
        static const char *const name[] = { "ADD", "CONV_2D", "PAD" };
        bool drawn[RANDGRAPH_OPS] = { false };
        randgraph_ops_add(&o.only, op_by_name(name[n - 1]));
        mark_drawn(&o, o.dtypes, drawn);
        for (int i = 0; i < op_table_n; i++)
            ck_assert_msg(drawn[i] == randgraph_ops_has(&o.only, op_table[i]), "%d operations: %s",
                          n, op_table[i]->name);
    }
    randgraph_steering_free(s);
    randgraph_coverage_free(c);
}
END_TEST

START_TEST(a_text_stands_for_one_set)
{
    struct randgraph_coverage *c = randgraph_coverage_new();
    struct randgraph_options o = randgraph_default;
    struct randgraph_steering *again;
    uint64_t digest, same;
    struct why w;
    count_graphs(&o, 1, 60, c, &digest);
    struct randgraph_steering *s = steer(c);
    const char *text = randgraph_steering_text(s);
    ck_assert_msg(randgraph_steering_parse(text, &again, &w) == 0, "%s", w.text);
    ck_assert_str_eq(randgraph_steering_text(again), text);
    ck_assert_uint_eq(randgraph_steering_digest(again), randgraph_steering_digest(s));
    o.steering_digest = randgraph_steering_digest(s);
    o.steering = s;
    count_graphs(&o, 1, 40, NULL, &digest);
    o.steering = again;
    count_graphs(&o, 1, 40, NULL, &same);
    ck_assert_uint_eq(digest, same);
    randgraph_steering_free(s);
    randgraph_steering_free(again);
    randgraph_coverage_free(c);
}
END_TEST

static const struct {
    const char *text, *why;
} wrong[] = {
    { "halcyon-steering 2\n", "line 1: expected 'halcyon-steering 1'" },
    { "halcyon-steering 1\n", "not as this version" },
    { "halcyon-steering 1\nADD\n", "line 2: expected OPERATION LEVEL, found 'ADD'" },
    { "halcyon-steering 1\nNOTHING 3\n", "line 2: expected OPERATION" },
    { "halcyon-steering 1\nADD 7\n", "line 2: expected 1 digits from 0 to 6" },
    { "halcyon-steering 1\nADD 3 ranks=12\n", "line 2: ADD: expected 11 digits" },
    { "halcyon-steering 1\nADD 3 ranks\n", "line 2: ADD: expected NAME=LEVELS" },
    { "halcyon-steering 1\nADD 3 option.colour=1\n", "line 2: ADD: unknown name 'option.colour'" },
};

START_TEST(wrong_texts_are_rejected)
{
    for (int i = 0; i < COUNT(wrong); i++) {
        struct randgraph_steering *s;
        struct why w;
        ck_assert_msg(randgraph_steering_parse(wrong[i].text, &s, &w) < 0, "%s", wrong[i].text);
        ck_assert_int_eq(w.code, WHY_INVALID);
        ck_assert_msg(strstr(w.text, wrong[i].why), "%s", w.text);
    }
}
END_TEST

START_TEST(a_name_has_the_digest_of_its_set)
{
    struct randgraph_options o;
    uint64_t seed, index;
    struct arena *a = arena_new(0);
    struct example e;
    struct why w;
    const char *name = "random/v2/for=00000000000000ab/cov=00000000000000cd/s7/i1";
    ck_assert_int_eq(randgraph_parse_name(name, &o, &seed, &index, &w), 0);
    ck_assert_uint_eq(o.steering_digest, 0xcd);
    ck_assert_uint_eq(o.support_digest, 0xab);
    ck_assert_int_eq(randgraph_parse_name("random/v2/cov=cd/s7/i1", &o, &seed, &index, &w), -1);
    ck_assert_ptr_nonnull(strstr(w.text, "expected the 16 hexadecimal digits"));
    name = "random/v2/cov=00000000000000cd/s7/i1";
    ck_assert_int_eq(randgraph_parse_name(name, &o, &seed, &index, &w), 0);
    ck_assert_int_eq(randgraph_make(&o, seed, index, a, &e, &w), -1);
    ck_assert_ptr_nonnull(strstr(w.text, "steering set 00000000000000cd"));
    arena_free(a);
}
END_TEST

Suite *coverage_suite(void)
{
    TCase *c = tcase_create("coverage");

    tcase_add_test(c, calls_and_neighbours_are_described);
    tcase_add_test(c, values_have_classes);
    tcase_add_test(c, every_call_of_a_random_graph_is_counted);
    tcase_add_test(c, counts_are_read_from_their_text);
    tcase_add_test(c, what_was_seen_least_is_drawn_more);
    tcase_add_test(c, steered_graphs_keep_to_the_options);
    tcase_add_test(c, a_text_stands_for_one_set);
    tcase_add_test(c, wrong_texts_are_rejected);
    tcase_add_test(c, a_name_has_the_digest_of_its_set);
    return make_suite("coverage", c, NULL);
}
