#include <check.h>
#include <graphviz/cgraph.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reports/escape.h"
#include "reports/graph_layout.h"
#include "reports/reports.h"

/* --- models by hand */

enum { IN = LIFE_INPUT, OUT = LIFE_OUTPUT, TMP = LIFE_TEMPORARY, COPY = LIFE_CONSTANT_COPY };

static struct operand tensor2(enum lifetime life, uint32_t a, uint32_t b)
{
    return (struct operand){ .tensor = { .dtype = DT_F32, .shape = { 2, { a, b } } },
                             .life = life };
}

static struct operand scalar(int32_t *value)
{
    return (struct operand){ .tensor = { .dtype = DT_INT32, .data = value },
                             .life = COPY,
                             .length = sizeof(*value) };
}

/* out = (a + b) + b, with one constant scalar that both additions read. */
struct sample {
    int32_t none;
    struct operand operand[5];
    uint32_t in[2][3], out[2][1], inputs[2], outputs[1];
    struct operation operation[2];
    struct graph graph;
    struct model model;
};

static struct model *sample_init(struct sample *s)
{
    *s = (struct sample){
        .operand = { tensor2(IN, 2, 3), tensor2(IN, 2, 3), scalar(&s->none), tensor2(TMP, 2, 3),
                     tensor2(OUT, 2, 3) },
        .in = { { 0, 1, 2 }, { 3, 1, 2 } },
        .out = { { 3 }, { 4 } },
        .inputs = { 0, 1 },
        .outputs = { 4 },
    };
    for (int i = 0; i < 2; i++)
        s->operation[i] = (struct operation){ OP_ADD, 3, 1, s->in[i], s->out[i] };
    s->graph = (struct graph){ s->operand, s->operation, s->inputs, s->outputs, 5, 2, 2, 1 };
    s->model = (struct model){ .graph = &s->graph, .n_graphs = 1 };
    model_count_consumers(&s->model);
    return &s->model;
}

/* --- graphDump */

static char *dot_of(const struct model *m, const char *name, int32_t mark)
{
    char *dot = NULL;
    size_t length;
    FILE *to = open_memstream(&dot, &length);
    struct why w;
    ck_assert_int_eq(
        graph_dump_dot(m, name, &(struct graph_dump_options){ .mark_output = mark }, to, &w), 0);
    fclose(to);
    return dot;
}

START_TEST(dot_has_nodes_and_edges)
{
    struct sample s;
    char *dot = dot_of(sample_init(&s), "sample", -1);
    Agraph_t *g = agmemread(dot);
    ck_assert_ptr_nonnull(g);
    /* four tensors and two operations; the scalar is a row of both operations */
    ck_assert_int_eq(agnnodes(g), 6);
    ck_assert_int_eq(agnedges(g), 6);
    ck_assert_ptr_null(strstr(dot, GRAPH_MARK_COLOR));
    agclose(g);
    free(dot);
}
END_TEST

/* the failing output, and only that, is marked; in the text and in a graph that is laid out later
 */
START_TEST(dot_marks_the_failing_output)
{
    struct sample s;
    char *dot = dot_of(sample_init(&s), "sample", 0), *svg = NULL;
    char *mark = strstr(dot, GRAPH_MARK_COLOR);
    ck_assert_ptr_nonnull(mark);
    ck_assert_ptr_nonnull(strstr(mark, "output0"));
    ck_assert_ptr_null(strstr(mark + 1, GRAPH_MARK_COLOR));
    free(dot);

    dot = dot_of(&s.model, "sample", -1);
    ck_assert_int_eq(graph_layout_svg(dot, 0, &svg, NULL), 0);
    ck_assert_ptr_nonnull(strstr(svg, GRAPH_MARK_COLOR));
    free(svg);
    ck_assert_int_eq(graph_layout_svg(dot, 1, &svg, NULL), 0);
    ck_assert_ptr_null(strstr(svg, GRAPH_MARK_COLOR));
    free(svg);
    free(dot);
}
END_TEST

START_TEST(dot_names_roles_and_values)
{
    struct sample s;
    struct model *m = sample_init(&s);
    s.none = 1;
    char *dot = dot_of(m, "sample", -1);
    ck_assert_ptr_nonnull(strstr(dot, ">2 activation<"));
    ck_assert_ptr_nonnull(strstr(dot, "1 (RELU)"));
    ck_assert_ptr_nonnull(strstr(dot, "label=\"0 "));
    ck_assert_ptr_nonnull(strstr(dot, "TENSOR_FLOAT32 [2,3]"));
    free(dot);
}
END_TEST

/* IF with two subgraphs; catalogue or not, everything is drawn. */
START_TEST(dot_draws_subgraphs)
{
    static uint8_t yes = 1;
    struct operand main_[] = {
        { .tensor = { .dtype = DT_BOOL, .data = &yes }, .life = COPY, .length = 1 },
        { .tensor = { .dtype = DT_MODEL }, .life = LIFE_SUBGRAPH, .subgraph = 1 },
        { .tensor = { .dtype = DT_MODEL }, .life = LIFE_SUBGRAPH, .subgraph = 2 },
        tensor2(IN, 2, 2),
        tensor2(OUT, 2, 2),
    };
    struct operand then_[] = { tensor2(IN, 2, 2), tensor2(OUT, 2, 2) };
    uint32_t in[] = { 0, 1, 2, 3 }, out[] = { 4 }, zero[] = { 0 }, one[] = { 1 }, three[] = { 3 };
    struct operation branch = { 118, 4, 1, in, out }, relu = { 19, 1, 1, zero, one };
    struct graph graphs[] = {
        { main_, &branch, three, out, 5, 1, 1, 1 },
        { then_, &relu, zero, one, 2, 1, 1, 1 },
        { then_, &relu, zero, one, 2, 1, 1, 1 },
    };
    struct model m = { .graph = graphs, .n_graphs = 3 };
    char *dot = dot_of(&m, "branch", -1);
    Agraph_t *g = agmemread(dot);
    ck_assert_ptr_nonnull(g);
    ck_assert_int_eq(agnnodes(g), 3 + 3 + 3);
    ck_assert_int_eq(agnedges(g), 2 + 2 + 2 + 2); /* two into the clusters */
    ck_assert_ptr_nonnull(agsubg(g, (char[]){ "cluster_1" }, 0));
    ck_assert_ptr_nonnull(agsubg(g, (char[]){ "cluster_2" }, 0));
    agclose(g);
    free(dot);
}
END_TEST

/* names, types, indexes and lengths that lie */
START_TEST(dot_survives_hostile_models)
{
    struct sample s;
    struct model *m = sample_init(&s);
    char *svg = NULL;
    struct why w;
    s.operand[0].name = "</td>\"]; evil -> evil [label=\"\\\xff\x01\n<&>";
    s.operand[1].tensor.dtype = (enum dtype) 4711;
    s.operand[2].length = 1;
    s.operand[3].tensor.shape.rank = 4000;
    s.operand[4].life = (enum lifetime) 99;
    s.in[1][0] = 123456;
    s.out[1][0] = 654321;
    s.operation[0].code = -5;
    char *dot = dot_of(m, "name \"]; <b> \xc3( \x02", 7);
    Agraph_t *g = agmemread(dot);
    ck_assert_ptr_nonnull(g);
    ck_assert_ptr_null(agnode(g, (char[]){ "evil" }, 0));
    agclose(g);
    free(dot);
    ck_assert_int_eq(graph_dump_svg(m, "x", NULL, &svg, &w), 0);
    ck_assert_ptr_nonnull(strstr(svg, "&lt;/td&gt;"));
    free(svg);
}
END_TEST

START_TEST(layout_refuses_what_is_no_graph)
{
    char *svg = NULL;
    struct why w;
    ck_assert_int_eq(graph_layout_svg("digraph {", -1, &svg, &w), -1);
    ck_assert_ptr_null(svg);
    ck_assert_ptr_nonnull(strstr(w.text, "syntax error"));
}
END_TEST

/* --- text */

static char *escaped(const char *text, size_t most)
{
    char *to_text = NULL;
    size_t length;
    FILE *to = open_memstream(&to_text, &length);
    escape_put(text, most, to);
    fclose(to);
    return to_text;
}

START_TEST(escape_makes_text_harmless)
{
    static const struct {
        const char *in, *out;
        size_t most;
    } rows[] = {
        { "a<b>&\"'", "a&lt;b&gt;&amp;&quot;&#39;", 0 },
        { "tab\tline\n", "tab\tline\n", 0 },
        { "\x01\x7f", "\xef\xbf\xbd\x7f", 0 },
        { "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", 0 },
        { "\xc3(", "\xef\xbf\xbd(", 0 },                               /* cut short */
        { "\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd", 0 },                 /* too long a form */
        { "\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd", 0 }, /* surrogate */
        { "abc", "ab\xe2\x80\xa6", 2 },
        { "abc", "abc", 3 },
        { NULL, "", 0 },
    };
    char *text = escaped(rows[_i].in, rows[_i].most);
    ck_assert_str_eq(text, rows[_i].out);
    free(text);
}
END_TEST

/* --- the manual */

START_TEST(manual_tells_every_operation)
{
    for (int i = 0; i < op_table_n; i++) {
        char *text = NULL, *markdown = NULL;
        size_t length;
        FILE *to = open_memstream(&text, &length);
        op_manual_text(op_table[i], to);
        fclose(to);
        to = open_memstream(&markdown, &length);
        op_manual_markdown(op_table[i], to);
        fclose(to);
        ck_assert_ptr_nonnull(strstr(text, op_table[i]->name));
        ck_assert_ptr_nonnull(strstr(text, op_table[i]->summary));
        ck_assert_ptr_nonnull(strstr(text, "Outputs"));
        ck_assert_ptr_nonnull(strstr(markdown, "| level |"));
        for (int r = 0; r < op_table[i]->n_in; r++)
            ck_assert_ptr_nonnull(strstr(text, op_table[i]->in[r].name));
        free(text);
        free(markdown);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("reports");
    TCase *dot = tcase_create("graph_dump"), *text = tcase_create("text");
    tcase_add_test(dot, dot_has_nodes_and_edges);
    tcase_add_test(dot, dot_marks_the_failing_output);
    tcase_add_test(dot, dot_names_roles_and_values);
    tcase_add_test(dot, dot_draws_subgraphs);
    tcase_add_test(dot, dot_survives_hostile_models);
    tcase_add_test(dot, layout_refuses_what_is_no_graph);
    tcase_add_loop_test(text, escape_makes_text_harmless, 0, 10);
    tcase_add_test(text, manual_tells_every_operation);
    suite_add_tcase(suite, dot);
    suite_add_tcase(suite, text);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
