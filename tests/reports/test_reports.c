/* graphDump as DOT, as SVG and in the log; the manual of operations. */
#include <check.h>
#include <graphviz/cgraph.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "golden/base/logging.h"
#include "golden/model/build.h"
#include "reports/graph/graph_layout.h"
#include "reports/reports.h"
#include "tests/support/check_main.h"

/* (a + b) + b; both additions have the same activation.  Operands: a, b, activation, temporary,
 * output. */
static struct model *sample(struct build *b, int32_t activation)
{
    build_init(b, 1);
    uint32_t x = build_operand(b, LIFE_INPUT, DT_F32, DIMS(2, 3));
    uint32_t y = build_operand(b, LIFE_INPUT, DT_F32, DIMS(2, 3));
    uint32_t act = build_int(b, activation);
    uint32_t t = build_operand(b, LIFE_TEMPORARY, DT_F32, DIMS(2, 3));
    uint32_t z = build_operand(b, LIFE_OUTPUT, DT_F32, DIMS(2, 3));
    OPERATION(b, "ADD", IDS(x, y, act), IDS(t));
    OPERATION(b, "ADD", IDS(t, y, act), IDS(z));
    model_count_consumers(&b->model);
    return &b->model;
}

/* --- graphDump */

/* noinline: inlined, gcc 12 wrongly assumes that open_memstream() does not change the text. */
__attribute__((noinline)) static char *dot_of(const struct model *m, const char *name, int32_t mark)
{
    struct graph_dump_options options = { .mark_output = mark };
    char *dot = NULL;
    size_t length;
    FILE *to = open_memstream(&dot, &length);
    int r = graph_dump_dot(m, name, &options, to, NULL);
    fclose(to);
    ck_assert_int_eq(r, 0);
    return dot;
}

START_TEST(dot_has_nodes_and_edges)
{
    struct build b;
    char *dot = dot_of(sample(&b, 0), "sample", -1);
    Agraph_t *g = agmemread(dot);
    ck_assert_ptr_nonnull(g);
    /* Inputs, output and two operations; the scalar and the temporary are lines of operations. */
    ck_assert_int_eq(agnnodes(g), 5);
    ck_assert_int_eq(agnedges(g), 5);
    ck_assert_ptr_null(strstr(dot, GRAPH_MARK_COLOR));
    agclose(g);
    free(dot);
    build_done(&b);
}
END_TEST

static void write_line(enum log_level level, const char *tag, const char *text, void *user)
{
    FILE *to = user;
    ck_assert(level == LOG_INFO && strcmp(tag, "GraphDump") == 0);
    fprintf(to, "%s\n", text);
}

/* noinline: as above. */
__attribute__((noinline)) static char *logged(const struct model *m, const char *name)
{
    char *text = NULL;
    size_t length;
    FILE *to = open_memstream(&text, &length);
    log_set_sink(write_line, to);
    int r = graph_dump_log(m, name, NULL);
    log_set_sink(NULL, NULL);
    fclose(to);
    ck_assert_int_eq(r, 0);
    return text;
}

START_TEST(log_has_the_lines_of_the_dot)
{
    struct build b;
    char *dot = dot_of(sample(&b, 0), "sample", -1), *text = logged(&b.model, "sample");
    ck_assert_str_eq(text, dot);
    free(text);
    free(dot);
    build_done(&b);
}
END_TEST

/* Only the failing output is marked: by graph_dump_dot(), and by graph_layout_svg() of a graph that
 * was written before. */
START_TEST(dot_marks_the_failing_output)
{
    struct build b;
    char *dot = dot_of(sample(&b, 0), "sample", 0), *svg = NULL;
    const char *mark = strstr(dot, GRAPH_MARK_COLOR);
    ck_assert_ptr_nonnull(mark);
    bool on_output = strstr(mark, "output0") != NULL, again = strstr(mark + 1, GRAPH_MARK_COLOR);
    ck_assert(on_output && !again);
    free(dot);

    dot = dot_of(&b.model, "sample", -1);
    ck_assert_int_eq(graph_layout_svg(dot, 0, NULL, &svg, NULL), 0);
    ck_assert_ptr_nonnull(strstr(svg, GRAPH_MARK_COLOR));
    free(svg);
    ck_assert_int_eq(graph_layout_svg(dot, 1, NULL, &svg, NULL), 0);
    ck_assert_ptr_null(strstr(svg, GRAPH_MARK_COLOR));
    free(svg);
    free(dot);
    build_done(&b);
}
END_TEST

/* A chain of n nodes, in which every node also reads the first one. */
static char *chain_with_skips(int n)
{
    char *dot = NULL;
    size_t length;
    FILE *to = open_memstream(&dot, &length);
    fputs("digraph g {\n label=<<B>chain</B>>;\n", to);
    for (int i = 0; i < n; i++)
        fprintf(to, " n%d [shape=box];\n", i);
    for (int i = 1; i < n; i++)
        fprintf(to, " n%d -> n%d; n0 -> n%d;\n", i - 1, i, i);
    fputs("}\n", to);
    fclose(to);
    return dot;
}

static int occurrences(const char *text, const char *of)
{
    int n = 0;
    for (; (text = strstr(text, of)); text++)
        n++;
    return n;
}

/* The edges of the large chain cross 301 + 1 + 2 + ... + 301 = 45,752 layers, those of the small
 * one 9 + 45. */
START_TEST(layout_has_a_budget)
{
    char *large = chain_with_skips(302), *small = chain_with_skips(10), *svg = NULL, *again = NULL;
    struct graph_budget budget = { 100 };
    ck_assert_int_eq(graph_layout_svg(large, -1, NULL, &svg, NULL), 0);
    ck_assert_ptr_nonnull(strstr(svg, "fast layout: the edges cross 45752 layers, more than 1500"));
    ck_assert_ptr_nonnull(strstr(svg, "chain"));
    ck_assert_int_eq(occurrences(svg, "class=\"node\""), 302);
    ck_assert_int_eq(occurrences(svg, "class=\"edge\""), 602);
    ck_assert_int_eq(occurrences(svg, "<path "), 602);
    ck_assert_int_eq(graph_layout_svg(large, -1, NULL, &again, NULL), 0);
    ck_assert_str_eq(svg, again);
    free(svg);
    free(again);

    ck_assert_int_eq(graph_layout_svg(small, -1, &budget, &svg, NULL), 0);
    ck_assert_ptr_null(strstr(svg, "fast layout"));
    ck_assert_uint_eq(budget.left, 100 - 54);
    free(svg);
    ck_assert_int_eq(graph_layout_svg(small, -1, &budget, &svg, NULL), 0);
    ck_assert_ptr_nonnull(strstr(svg, "the graphs before it"));
    free(svg);
    free(large);
    free(small);
}
END_TEST

START_TEST(dot_names_roles_and_values)
{
    struct build b;
    char *dot = dot_of(sample(&b, 1), "sample", -1);
    ck_assert_ptr_nonnull(strstr(dot, ">2 activation&#160;<"));
    ck_assert_ptr_nonnull(strstr(dot, "1 (RELU)"));
    ck_assert_ptr_nonnull(strstr(dot, "label=\"0 "));
    ck_assert_ptr_nonnull(strstr(dot, "TENSOR_FLOAT32 [2,3]"));
    free(dot);
    build_done(&b);
}
END_TEST

/* An IF with two subgraphs. */
START_TEST(dot_draws_subgraphs)
{
    struct build b;
    build_init(&b, 3);
    uint32_t condition = build_operand(&b, LIFE_INPUT, DT_B8, DIMS(1));
    uint32_t then_graph = build_subgraph(&b, 1), else_graph = build_subgraph(&b, 2);
    uint32_t x = build_operand(&b, LIFE_INPUT, DT_F32, DIMS(2, 2));
    uint32_t y = build_operand(&b, LIFE_OUTPUT, DT_F32, DIMS(2, 2));
    OPERATION(&b, "IF", IDS(condition, then_graph, else_graph, x), IDS(y));
    for (uint32_t i = 1; i < 3; i++) {
        build_graph(&b, i);
        x = build_operand(&b, LIFE_INPUT, DT_F32, DIMS(2, 2));
        y = build_operand(&b, LIFE_OUTPUT, DT_F32, DIMS(2, 2));
        OPERATION(&b, "RELU", IDS(x), IDS(y));
    }
    char *dot = dot_of(&b.model, "branch", -1);
    Agraph_t *g = agmemread(dot);
    ck_assert_ptr_nonnull(g);
    ck_assert_int_eq(agnnodes(g), 4 + 3 + 3);
    ck_assert_int_eq(agnedges(g), 3 + 2 + 2 + 2); /* two lead into the clusters */
    ck_assert_ptr_nonnull(agsubg(g, (char[]){ "cluster_1" }, 0));
    ck_assert_ptr_nonnull(agsubg(g, (char[]){ "cluster_2" }, 0));
    agclose(g);
    free(dot);
    build_done(&b);
}
END_TEST

/* Names that need escaping; invalid types, indexes, ranks and lengths. */
START_TEST(dot_of_invalid_models)
{
    struct build b;
    struct model *m = sample(&b, 0);
    struct operand *operand = m->graph[0].operand;
    char *svg = NULL;
    struct why w;
    operand[0].name = "</td>\"]; evil -> evil [label=\"\\\xff\x01\n<&>";
    operand[1].tensor.dtype = (enum dtype) 4711;
    operand[2].length = 1;
    operand[3].tensor.shape.rank = 4000;
    operand[4].life = (enum lifetime) 99;
    m->graph[0].operation[1].in[0] = 123456;
    m->graph[0].operation[1].out[0] = 654321;
    m->graph[0].operation[0].code = -5;
    char *dot = dot_of(m, "name \"]; <b> \xc3( \x02", 7);
    Agraph_t *g = agmemread(dot);
    ck_assert_ptr_nonnull(g);
    ck_assert_ptr_null(agnode(g, (char[]){ "evil" }, 0));
    agclose(g);
    free(dot);
    ck_assert_int_eq(graph_dump_svg(m, "x", NULL, &svg, &w), 0);
    ck_assert_ptr_nonnull(strstr(svg, "&lt;/td&gt;"));
    free(svg);
    build_done(&b);
}
END_TEST

START_TEST(layout_rejects_invalid_dot)
{
    char *svg = NULL;
    struct why w;
    ck_assert_int_eq(graph_layout_svg("digraph {", -1, NULL, &svg, &w), -1);
    ck_assert_ptr_null(svg);
    ck_assert_ptr_nonnull(strstr(w.text, "syntax error"));
}
END_TEST

/* --- the manual */

START_TEST(manual_describes_every_operation)
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
        bool any = op_table[i]->control_kind != CONTROL_NONE; /* accepts all types */
        ck_assert_msg(any == !strstr(markdown, "| level |"), "%s", op_table[i]->name);
        for (int r = 0; r < op_table[i]->n_in; r++)
            ck_assert_ptr_nonnull(strstr(text, op_table[i]->in[r].name));
        free(text);
        free(markdown);
    }
}
END_TEST

Suite *reports_suite(void)
{
    TCase *dot = tcase_create("graph_dump"), *text = tcase_create("text");
    tcase_add_test(dot, dot_has_nodes_and_edges);
    tcase_add_test(dot, log_has_the_lines_of_the_dot);
    tcase_add_test(dot, dot_marks_the_failing_output);
    tcase_add_test(dot, layout_has_a_budget);
    tcase_add_test(dot, dot_names_roles_and_values);
    tcase_add_test(dot, dot_draws_subgraphs);
    tcase_add_test(dot, dot_of_invalid_models);
    tcase_add_test(dot, layout_rejects_invalid_dot);
    tcase_add_test(text, manual_describes_every_operation);
    return make_suite("reports", dot, text, NULL);
}
