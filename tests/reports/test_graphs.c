/* Repeated blocks, the difference of two models, JSON, and drawings as SVG, PNG and PDF. */
#include <check.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "golden/model/build.h"
#include "reports/graph/graph_diff.h"
#include "reports/graph/graph_fold.h"
#include "reports/graph/graph_layout.h"
#include "tests/support/check_main.h"

static uint32_t value(struct build *b, enum lifetime life, uint32_t width)
{
    return build_operand(b, life, DT_F32, DIMS(2, width));
}

/* A chain: RELU, `blocks` times TANH and NEG, LOGISTIC.  odd: the NEG of this block reads the
 * result of RELU; -1: none does. */
static struct model *chain(struct build *b, int blocks, int odd)
{
    build_init(b, 1);
    uint32_t x = value(b, LIFE_INPUT, 3), y = value(b, LIFE_OUTPUT, 3);
    uint32_t first = value(b, LIFE_TEMPORARY, 3), at = first;
    OPERATION(b, "RELU", IDS(x), IDS(first));
    for (int i = 0; i < blocks; i++) {
        uint32_t t = value(b, LIFE_TEMPORARY, 3), u = value(b, LIFE_TEMPORARY, 3);
        OPERATION(b, "TANH", IDS(at), IDS(t));
        OPERATION(b, "NEG", IDS(i == odd ? first : t), IDS(u));
        at = u;
    }
    OPERATION(b, "LOGISTIC", IDS(at), IDS(y));
    model_count_consumers(&b->model);
    return &b->model;
}

/* The blocks of the chain, as "first length count" each. */
static char *blocks_of(const struct graph *g, const uint32_t *kind, char text[128])
{
    struct graph_fold f;
    bool well_formed[64];
    memset(well_formed, 1, sizeof well_formed);
    ck_assert_uint_le(g->n_operations, 64);
    ck_assert_int_eq(graph_fold_find(g, kind, well_formed, &f, NULL), 0);
    text[0] = 0;
    for (uint32_t i = 0; i < f.n_blocks; i++)
        sprintf(text + strlen(text), "%u %u %u;", f.block[i].first, f.block[i].length,
                f.block[i].count);
    graph_fold_done(&f);
    return text;
}

START_TEST(fold_finds_equal_blocks)
{
    struct build b;
    char text[128];
    ck_assert_str_eq(blocks_of(chain(&b, 5, -1)->graph, NULL, text), "1 2 5;");
    build_done(&b);
    ck_assert_str_eq(blocks_of(chain(&b, 2, -1)->graph, NULL, text), ""); /* hides too little */
    build_done(&b);
}
END_TEST

/* Operations of another kind, or connected in another way, are not part of a block. */
START_TEST(fold_keeps_what_differs)
{
    struct build b;
    uint32_t kind[64] = { 0 };
    char text[128];
    struct model *m = chain(&b, 8, -1);
    kind[1 + 2 * 4] = 7; /* the TANH of block 4 */
    ck_assert_str_eq(blocks_of(m->graph, kind, text), "1 2 4;10 2 3;");
    build_done(&b);
    ck_assert_str_eq(blocks_of(chain(&b, 4, 2)->graph, NULL, text), "");
    build_done(&b);
}
END_TEST

/* ---- the difference of two models */

__attribute__((noinline)) static char *difference(const struct model *a, const struct model *b,
                                                  struct arena *arena, struct graph_difference *ret)
{
    char *text = NULL;
    size_t length;
    FILE *to = open_memstream(&text, &length);
    ck_assert_int_eq(graph_diff(a, b, arena, ret, NULL), 0);
    graph_diff_print(ret, to);
    fclose(to);
    return text;
}

START_TEST(diff_of_equal_models)
{
    struct build a, b;
    struct graph_difference d;
    struct arena *arena = arena_new(0);
    char *text = difference(chain(&a, 3, -1), chain(&b, 3, -1), arena, &d);
    ck_assert(!d.is_different);
    ck_assert_str_eq(text, "operations: 8 the same, 0 changed, 0 added, 0 removed\n");
    free(text);
    build_done(&a);
    build_done(&b);
    arena_free(arena);
}
END_TEST

START_TEST(diff_finds_what_is_added_and_connected_otherwise)
{
    struct build a, b;
    struct graph_difference d;
    struct arena *arena = arena_new(0);
    char *text = difference(chain(&a, 1, -1), chain(&b, 1, 0), arena, &d);
    ck_assert_str_eq(text, "operations: 3 the same, 1 changed, 0 added, 0 removed\n"
                           "  ~ n2 NEG\n"
                           "      input: from n1 of A -> from n0 of B\n");
    free(text);
    build_done(&b);
    text = difference(&a.model, chain(&b, 2, -1), arena, &d);
    ck_assert_uint_eq(d.n_added, 2);
    ck_assert_uint_eq(d.n_removed, 0);
    free(text);
    text = difference(&b.model, &a.model, arena, &d);
    ck_assert_uint_eq(d.n_added, 0);
    ck_assert_uint_eq(d.n_removed, 2);

    /* Drawn with the operations that only the first model has. */
    struct model merged;
    struct graph_dump_options options;
    char *dot = NULL;
    ck_assert_int_eq(graph_diff_merge(&d, arena, &merged, &options, NULL), 0);
    ck_assert_uint_eq(merged.graph[0].n_operations, 6);
    ck_assert_int_eq(graph_dump_text(&merged, "merged", &options, &dot, NULL), 0);
    ck_assert_ptr_nonnull(strstr(dot, "operation removed"));
    free(dot);
    free(text);
    build_done(&a);
    build_done(&b);
    arena_free(arena);
}
END_TEST

/* ---- JSON */

START_TEST(json_has_roles_and_notes)
{
    struct build b;
    build_init(&b, 1);
    uint32_t x = value(&b, LIFE_INPUT, 3), y = value(&b, LIFE_INPUT, 3);
    uint32_t act = build_int(&b, 3), z = value(&b, LIFE_OUTPUT, 3);
    OPERATION(&b, "ADD", IDS(x, y, act), IDS(z));
    model_count_consumers(&b.model);
    struct graph_note of_operation = { TONE_WRONG, INFINITY, "one\ntwo" };
    struct graph_notes notes = { .operation = &of_operation };
    struct graph_dump_options options = { .mark_output = 0, .notes = &notes };
    char *text = NULL;
    size_t length;
    FILE *to = open_memstream(&text, &length);
    ck_assert_int_eq(graph_dump_json(&b.model, "a \"name\" \xff", &options, to, NULL), 0);
    fclose(to);

    json_t *all = json_loads(text, 0, NULL);
    ck_assert_ptr_nonnull(all);
    json_t *graph = json_array_get(json_object_get(all, "graphs"), 0);
    json_t *operation = json_array_get(json_object_get(graph, "operations"), 0);
    const char *role = NULL, *meaning = NULL, *name = NULL, *mark = NULL, *ratio = NULL;
    json_t *input = json_array_get(json_object_get(operation, "inputs"), 2);
    ck_assert_int_eq(json_unpack(input, "{s:s,s:s}", "role", &role, "meaning", &meaning), 0);
    ck_assert_str_eq(role, "activation");
    ck_assert_str_eq(meaning, "RELU6");
    ck_assert_int_eq(
        json_unpack(operation, "{s:s,s:s,s:s}", "name", &name, "mark", &mark, "ratio", &ratio), 0);
    ck_assert_str_eq(name, "ADD");
    ck_assert_str_eq(mark, "wrong");
    ck_assert_str_eq(ratio, "Infinity");
    ck_assert_uint_eq(json_array_size(json_object_get(operation, "notes")), 2);
    json_t *operand = json_array_get(json_object_get(graph, "operands"), act);
    ck_assert_int_eq(json_integer_value(json_object_get(operand, "operand")), act);
    ck_assert(json_real_value(json_array_get(json_object_get(operand, "values"), 0)) == 3);
    json_decref(all);
    free(text);
    build_done(&b);
}
END_TEST

/* ---- drawings */

/* A chain of n nodes, in which every node also reads the first one; some in a box. */
static char *dot_chain(int n)
{
    char *dot = NULL;
    size_t length;
    FILE *to = open_memstream(&dot, &length);
    fputs("digraph g {\n label=<<B>chain</B>>;\n", to);
    for (int i = 1; i < n; i++)
        fprintf(to, " n%d -> n%d; n0 -> n%d;\n", i - 1, i, i);
    fputs(" subgraph cluster_box0_0 { label=\"box\"; n1; n2; }\n}\n", to);
    fclose(to);
    return dot;
}

static uint32_t big_endian32(const unsigned char *p)
{
    return (uint32_t) p[0] << 24 | (uint32_t) p[1] << 16 | (uint32_t) p[2] << 8 | p[3];
}

static void check_png(const struct graph_picture *p)
{
    ck_assert_uint_gt(p->length, 100);
    ck_assert(!memcmp(p->data, "\x89PNG\r\n\x1a\n", 8));
    const unsigned char *size = (const unsigned char *) p->data + 16; /* of IHDR */
    const uint64_t width = big_endian32(size), height = big_endian32(size + 4);
    ck_assert_uint_le(width * height, GRAPH_PIXELS);
    ck_assert_uint_gt(width * height, 0);
}

/* Whatever is written, a graph that takes Graphviz minutes gets the simple layout. */
START_TEST(drawings_have_a_budget)
{
    static const char begins[][6] = { "<?xml", "\x89PNG\r", "%PDF-" };
    char *small = dot_chain(6), *large = dot_chain(302);
    for (int image = GRAPH_SVG; image <= GRAPH_PDF; image++) {
        struct graph_picture p, q;
        ck_assert_int_eq(graph_layout_draw(small, (enum graph_image) image, &p, NULL), 0);
        ck_assert_str_eq(p.remark, "");
        ck_assert(!memcmp(p.data, begins[image], 5));
        free(p.data);
        ck_assert_int_eq(graph_layout_draw(large, (enum graph_image) image, &p, NULL), 0);
        ck_assert_ptr_nonnull(strstr(p.remark, "fast layout: the edges cross"));
        ck_assert(!memcmp(p.data, begins[image], 5));
        if (image == GRAPH_PNG)
            check_png(&p);
        ck_assert_int_eq(graph_layout_draw(large, (enum graph_image) image, &q, NULL), 0);
        ck_assert_uint_eq(p.length, q.length);
        ck_assert(!memcmp(p.data, q.data, p.length));
        free(p.data);
        free(q.data);
    }
    free(small);
    free(large);
}
END_TEST

START_TEST(boxes_are_drawn_where_there_is_time)
{
    char *small = dot_chain(6), *large = dot_chain(302);
    struct graph_picture p;
    ck_assert_int_eq(graph_layout_draw(small, GRAPH_SVG, &p, NULL), 0);
    ck_assert_ptr_nonnull(strstr(p.data, "class=\"cluster\""));
    free(p.data);
    ck_assert_int_eq(graph_layout_draw(large, GRAPH_SVG, &p, NULL), 0);
    ck_assert_ptr_null(strstr(p.data, "class=\"cluster\""));
    free(p.data);
    free(small);
    free(large);
}
END_TEST

Suite *graphs_suite(void)
{
    Suite *s = suite_create("graphs");
    TCase *model = tcase_create("models"), *picture = tcase_create("pictures");
    tcase_add_test(model, fold_finds_equal_blocks);
    tcase_add_test(model, fold_keeps_what_differs);
    tcase_add_test(model, diff_of_equal_models);
    tcase_add_test(model, diff_finds_what_is_added_and_connected_otherwise);
    tcase_add_test(model, json_has_roles_and_notes);
    tcase_add_test(picture, drawings_have_a_budget);
    tcase_add_test(picture, boxes_are_drawn_where_there_is_time);
    suite_add_tcase(s, model);
    suite_add_tcase(s, picture);
    return s;
}
