/* Model validation: a correct model, and for each single change of it the reason of rejection. */
#include <check.h>
#include <string.h>

#include "golden/model/build.h"
#include "tests/support/check_main.h"

static struct build b;
static uint32_t x, y, bias, act, sum, out;

/* out = RELU(x + y), TENSOR_QUANT8_ASYMM, and a float constant that no operation reads. */
static void set_up(void)
{
    float one = 1;

    build_init(&b, 1);
    x = build_quant(&b, LIFE_INPUT, DT_U8, DIMS(2, 3), 0.5f, 128);
    y = build_quant(&b, LIFE_INPUT, DT_U8, DIMS(2, 3), 0.25f, 0);
    act = build_int(&b, 0);
    sum = build_quant(&b, LIFE_TEMPORARY, DT_U8, DIMS(2, 3), 1, 100);
    out = build_quant(&b, LIFE_OUTPUT, DT_U8, DIMS(2, 3), 1, 100);
    bias = build_constant(&b, DT_F32, DIMS(1), &one);
    OPERATION(&b, "ADD", IDS(x, y, act), IDS(sum));
    OPERATION(&b, "RELU", IDS(sum), IDS(out));
}

static void tear_down(void)
{
    build_done(&b);
}

static struct operand *operand(uint32_t i)
{
    return &b.graph->operand[i];
}

#define REJECTED(...)                                                                              \
    do {                                                                                           \
        struct why w = { 0 };                                                                      \
        ck_assert_int_lt(model_validate(&b.model, &w), 0);                                         \
        ck_assert_msg(strstr(w.text, __VA_ARGS__), "rejected for another reason: %s", w.text);     \
    } while (0)

START_TEST(correct_model_needs_level_1)
{
    struct why w = { 0 };
    ck_assert_msg(model_validate(&b.model, &w) == 1, "%s", w.text);
}
END_TEST

START_TEST(relaxed_needs_level_2)
{
    b.model.relaxed = true;
    ck_assert_int_eq(model_validate(&b.model, NULL), 2);
}
END_TEST

START_TEST(bad_types)
{
    operand(x)->tensor.dtype = (enum dtype) 9999;
    REJECTED("operand 0: unknown operand type 9999");
    operand(x)->tensor.dtype = (enum dtype) - 1;
    REJECTED("unknown operand type -1");
    operand(x)->tensor.dtype = (enum dtype) OEM_CODE;
    REJECTED("unknown operand type 10000");
    operand(x)->tensor.dtype = DT_FOREIGN;
    REJECTED("extension prefix 0 is not declared by the model");
    operand(x)->foreign = OEM_CODE + 1;
    REJECTED("no typing row accepts");
    operand(x)->tensor.dtype = DT_FIBONACCI_QUANT64;
    REJECTED("extension prefix 2 is not declared by the model");
    operand(x)->tensor.dtype = DT_S8;
    operand(x)->tensor.zero = 0;
    REJECTED("no typing row accepts");
}
END_TEST

START_TEST(bad_ranks)
{
    operand(act)->tensor.shape = DIMS(1);
    REJECTED("scalar INT32 has rank 1");
    operand(act)->tensor.shape = (struct shape){ 0 };
    operand(x)->tensor.shape.rank = MAX_RANK + 1;
    REJECTED("rank 11");
    operand(x)->tensor.shape = DIMS(1, 1, 1, 2, 3);
    REJECTED("rank 5 of");
}
END_TEST

START_TEST(bad_scales)
{
    operand(x)->tensor.scale = 0;
    REJECTED("must be positive");
    operand(x)->tensor.scale = -1;
    REJECTED("must be positive");
    operand(x)->tensor.scale = 0.5f;
    operand(bias)->tensor.scale = 1;
    REJECTED("must be 0");
}
END_TEST

START_TEST(bad_zero_points)
{
    operand(x)->tensor.zero = 256;
    REJECTED("must be in 0..255");
    operand(x)->tensor.zero = -1;
    REJECTED("must be in 0..255");
    operand(x)->tensor.zero = 0;
    operand(act)->tensor.zero = 1;
    REJECTED("must be in 0..0");
}
END_TEST

START_TEST(bad_lifetimes)
{
    operand(sum)->life = LIFE_INPUT;
    REJECTED("lifetime SUBGRAPH_INPUT");
    operand(sum)->life = (enum lifetime) 77;
    REJECTED("unknown lifetime 77");
    operand(sum)->life = LIFE_TEMPORARY;
    operand(x)->life = LIFE_TEMPORARY;
    REJECTED("has lifetime TEMPORARY_VARIABLE");
}
END_TEST

START_TEST(lists_name_each_operand_once)
{
    b.graph->input[1] = x;
    REJECTED("is listed twice");
    b.graph->input[1] = 99;
    REJECTED("operand 99 of 6");
    b.graph->n_inputs = 1;
    REJECTED("2 operands have lifetime SUBGRAPH_INPUT, but 1 are listed");
}
END_TEST

START_TEST(bad_indexes)
{
    b.graph->operation[0].in[1] = 6;
    REJECTED("operation 0: input 1 is operand 6 of 6");
    b.graph->operation[0].in[1] = y;
    b.graph->operation[1].out[0] = UINT32_MAX;
    REJECTED("operation 1: output 0 is operand 4294967295 of 6");
}
END_TEST

START_TEST(one_writer_each)
{
    b.graph->operation[1].out[0] = sum;
    REJECTED("written twice");
    b.graph->n_operations = 1;
    REJECTED("no operation writes operand 4, a SUBGRAPH_OUTPUT");
    b.graph->operation[0] = b.graph->operation[1];
    b.graph->operation[0].out[0] = out;
    REJECTED("no operation writes operand 3, a TEMPORARY_VARIABLE");
}
END_TEST

START_TEST(a_temporary_that_nothing_reads_is_written)
{
    build_quant(&b, LIFE_TEMPORARY, DT_U8, DIMS(2, 3), 1, 100);
    REJECTED("no operation writes operand 6, a TEMPORARY_VARIABLE");
}
END_TEST

START_TEST(no_cycles)
{
    b.graph->operation[0].in[0] = sum;
    REJECTED("cycle");
}
END_TEST

START_TEST(any_order_of_operations_is_accepted)
{
    struct operation first = b.graph->operation[0];

    b.graph->operation[0] = b.graph->operation[1];
    b.graph->operation[1] = first;
    ck_assert_int_eq(model_validate(&b.model, NULL), 1);
}
END_TEST

START_TEST(bad_operations)
{
    b.graph->operation[0].code = -1;
    REJECTED("unknown operation -1");
    b.graph->operation[0].code = 9999;
    REJECTED("unknown operation 9999");
    b.graph->operation[0].code = OP_ADD;
    b.graph->operation[0].n_in = 2;
    REJECTED("no form takes 2 inputs");
    b.graph->operation[0].n_in = 3;
    b.graph->operation[1].n_out = 0;
    REJECTED("no operation writes operand 4, a SUBGRAPH_OUTPUT");
    b.graph->n_operations = 0;
    REJECTED("no operations");
}
END_TEST

START_TEST(inferred_shapes_match_the_declared)
{
    operand(out)->tensor.shape = DIMS(2, 4);
    REJECTED("declared [2,4], but its shape is [2,3]");
    operand(out)->tensor.shape = DIMS(2, 0); /* unknown */
    ck_assert_int_eq(model_validate(&b.model, NULL), 1);
    operand(sum)->tensor.shape = (struct shape){ 0 };
    ck_assert_int_eq(model_validate(&b.model, NULL), 3); /* unknown rank */
    operand(y)->tensor.shape = DIMS(2, 4);
    REJECTED("broadcast");
}
END_TEST

START_TEST(operations_that_cannot_run_still_need_their_level)
{
    struct why impossible = { 0 }, w = { 0 };
    uint32_t wide = build_operand(&b, LIFE_INPUT, DT_F32, DIMS(2, 3));
    uint32_t narrow = build_operand(&b, LIFE_OUTPUT, DT_F32, DIMS(2, 2));

    OPERATION(&b, "EXP", IDS(wide), IDS(narrow));
    ck_assert_msg(model_prepare(&b.model, &impossible, &w) == 3, "%s", w.text);
    ck_assert_msg(strstr(impossible.text, "EXP"), "%s", impossible.text);
    ck_assert_int_lt(model_complies(&b.model, 2, &w), 0);
    ck_assert_msg(strstr(w.text, "EXP: the operation needs feature level 3"), "%s", w.text);

    uint32_t flat = build_operand(&b, LIFE_INPUT, DT_F32, DIMS(5));
    uint32_t pixels = build_operand(&b, LIFE_OUTPUT, DT_F32, DIMS(5));
    uint32_t no = build_constant(&b, DT_BOOL, (struct shape){ 0 }, (uint8_t[]){ 0 });
    OPERATION(&b, "RESIZE_NEAREST_NEIGHBOR",
              IDS(flat, build_int(&b, 2), build_int(&b, 2), no, no, no), IDS(pixels));
    ck_assert_int_ge(model_prepare(&b.model, NULL, &w), 3);
    ck_assert_int_lt(model_complies(&b.model, 2, &w), 0);
}
END_TEST

START_TEST(constants_have_their_bytes)
{
    operand(bias)->length = 3;
    REJECTED("a constant of 3 bytes where its shape needs 4");
    operand(bias)->length = 4;
    operand(bias)->tensor.shape = DIMS(0);
    REJECTED("complete shape");
    operand(bias)->tensor.shape = DIMS(1);
    operand(bias)->tensor.data = NULL;
    REJECTED("the constant has no data");
}
END_TEST

START_TEST(references_stay_in_their_pool)
{
    float values[4] = { 0 };
    struct pool pool = { values, sizeof values };

    b.model.pool = &pool;
    b.model.n_pools = 1;
    operand(bias)->life = LIFE_CONSTANT_REFERENCE;
    REJECTED("outside pool 0");
    operand(bias)->tensor.data = values + 3;
    ck_assert_int_eq(model_validate(&b.model, NULL), 1);
    operand(bias)->tensor.data = (char *) (values + 3) + 1;
    REJECTED("outside pool 0");
    operand(bias)->pool = 1;
    REJECTED("pool 1 of 1");
}
END_TEST

START_TEST(lists_of_graphs_are_present)
{
    struct graph kept = *b.graph;

    b.graph->operand = NULL;
    REJECTED("the list of 6 operands is missing");
    *b.graph = kept;
    b.graph->operation = NULL;
    REJECTED("the list of 2 operations is missing");
    *b.graph = kept;
    b.graph->input = NULL;
    REJECTED("the list of 2 inputs is missing");
    *b.graph = kept;
    b.graph->output = NULL;
    REJECTED("the list of 1 outputs is missing");
    *b.graph = kept;
    b.graph->operation[1].out = NULL;
    REJECTED("operation 1: a list of operand indexes is missing");
}
END_TEST

START_TEST(lists_of_models_are_present)
{
    struct extension nameless = { 0 };

    b.model.n_pools = 1;
    REJECTED("the list of 1 pools is missing");
    b.model.n_pools = 0;
    b.model.n_extensions = 1;
    REJECTED("the list of 1 extensions is missing");
    b.model.extension = &nameless;
    REJECTED("extension 0 has no name");
    nameless.name = "Not.Legal";
    REJECTED("extension 0 has the invalid name \"Not.Legal\"");
    nameless.name = "org.elsewhere";
    REJECTED("extension 0, org.elsewhere, has the invalid prefix 0");
    nameless.prefix = EXTENSION_fibonacci; /* belongs to another extension */
    REJECTED("extension 0, org.elsewhere, has the invalid prefix 2");
    b.model.n_extensions = 0;
    b.model.n_graphs = UINT32_MAX; /* rejected before anything is allocated */
    REJECTED("4294967295 graphs");
    b.model.n_graphs = 1;
    b.model.graph = NULL;
    REJECTED("1 graphs");
}
END_TEST

/* The limit is in bytes, so the number of elements depends on the type. */
START_TEST(outputs_may_have_4_gigabytes)
{
    for (uint32_t i = 0; i < 5; i++)
        if (i != act)
            operand(i)->tensor.shape = DIMS(2, 1u << 30);
    ck_assert_int_eq(model_validate(&b.model, NULL), 1);
    operand(out)->tensor.shape = DIMS(4, 1u << 30);
    REJECTED("more than 2^32 - 1 bytes");
}
END_TEST

START_TEST(a_copied_model_is_independent)
{
    struct arena *a = arena_new(0);
    struct model copy;

    float values[] = { 5, 6 };
    struct pool pool = { values, sizeof values };

    b.model.pool = &pool;
    b.model.n_pools = 1;
    operand(bias)->life = LIFE_CONSTANT_REFERENCE;
    operand(bias)->tensor.data = values + 1;
    ck_assert_int_eq(model_copy(&b.model, a, &copy), 0);
    values[1] = 7;
    ck_assert_double_eq((double) *(float *) copy.graph[0].operand[bias].tensor.data, 6);
    memset(b.graph->operand, 0xff, sizeof *b.graph->operand * b.graph->n_operands);
    ck_assert_int_eq(model_validate(&copy, NULL), 1);
    arena_free(a);
}
END_TEST

START_TEST(consumers_are_counted)
{
    b.graph->operation[0].in[1] = x;
    model_count_consumers(&b.model);
    ck_assert_uint_eq(operand(x)->consumers, 2);
    ck_assert_uint_eq(operand(y)->consumers, 0);
    ck_assert_uint_eq(operand(sum)->consumers, 1);
}
END_TEST

Suite *validate_suite(void)
{
    TCase *t = tcase_create("all");

    tcase_add_checked_fixture(t, set_up, tear_down);
    tcase_add_test(t, correct_model_needs_level_1);
    tcase_add_test(t, relaxed_needs_level_2);
    tcase_add_test(t, bad_types);
    tcase_add_test(t, bad_ranks);
    tcase_add_test(t, bad_scales);
    tcase_add_test(t, bad_zero_points);
    tcase_add_test(t, bad_lifetimes);
    tcase_add_test(t, lists_name_each_operand_once);
    tcase_add_test(t, bad_indexes);
    tcase_add_test(t, one_writer_each);
    tcase_add_test(t, a_temporary_that_nothing_reads_is_written);
    tcase_add_test(t, no_cycles);
    tcase_add_test(t, any_order_of_operations_is_accepted);
    tcase_add_test(t, bad_operations);
    tcase_add_test(t, inferred_shapes_match_the_declared);
    tcase_add_test(t, operations_that_cannot_run_still_need_their_level);
    tcase_add_test(t, constants_have_their_bytes);
    tcase_add_test(t, references_stay_in_their_pool);
    tcase_add_test(t, lists_of_graphs_are_present);
    tcase_add_test(t, lists_of_models_are_present);
    tcase_add_test(t, outputs_may_have_4_gigabytes);
    tcase_add_test(t, a_copied_model_is_independent);
    tcase_add_test(t, consumers_are_counted);
    return make_suite("validate", t, NULL);
}
