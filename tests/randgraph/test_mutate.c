/* Mutations of examples: legal, computable, all different, and the same for the same name. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "golden/model/one_op.h"
#include "randgraph/randgraph.h"
#include "tests/support/check_main.h"
#include "tests/support/digest.h"

enum { MUTATIONS = 60 };

static const struct one_op examples[] = {
    { "conv",
      "CONV_2D",
      0,
      { "F32[1,5,5,2]: 1 2 3 4 5 6 7 8 9 1 2 3 4 5 6 7 8 9 1 2 3 4 5 6 7 8 9 1 2 3 4 5 6 7 8 9 1 2 "
        "3 4 5 6 7 8 9 1 2 3 4 5",
        "const F32[1,2,2,2]: 1 -1 0.5 2 -2 1 3 1", "const F32[1]: 0.5", "INT32: 0", "INT32: 0",
        "INT32: 0", "INT32: 0", "INT32: 1", "INT32: 1", "INT32: 0" },
      "F32[1,4,4,1]: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0" },
    { "add",
      "ADD",
      0,
      { "U8[2,3]*0.5@128: 130 126 0 255 1 2", "U8[3]*0.25@0: 1 2 3", "INT32: 0" },
      "U8[2,3]*1@100: 0 0 0 0 0 0" },
    { "softmax",
      "SOFTMAX",
      0,
      { "S8[2,4]*0.125@-3: 1 2 3 4 5 6 7 8", "FLOAT32: 1" },
      "S8[2,4]*0.00390625@-128: 0 0 0 0 0 0 0 0" },
    { "gather",
      "GATHER",
      0,
      { "F16[3,2]: 1 2 3 4 5 6", "INT32: 0", "I32[4]: 0 2 1 1" },
      "F16[4,2]: 0 0 0 0 0 0 0 0" },
    { "reshape",
      "RESHAPE",
      0,
      { "F32[2,6]: 1 2 3 4 5 6 7 8 9 10 11 12", "const I32[2]: 3 4" },
      "F32[3,4]: 0 0 0 0 0 0 0 0 0 0 0 0" },
    { "split",
      "SPLIT",
      0,
      { "F32[4,2]: 1 2 3 4 5 6 7 8", "INT32: 0", "INT32: 2" },
      "F32[2,2]: 0 0 0 0; F32[2,2]: 0 0 0 0" },
};

struct case_example {
    struct build b;
    struct tensor in[ONE_OP_INPUTS], expected[ONE_OP_OUTPUTS];
    struct example e;
};

static void example_begin(struct case_example *c, const struct one_op *o)
{
    one_op_build(&c->b, o, c->in, c->expected);
    c->e = (struct example){
        .name = o->name, .model = c->b.model, .in = c->in, .expected = c->expected
    };
}

static int make(const struct example *from, uint64_t index, struct arena *a, struct example *ret)
{
    struct randgraph_options o = randgraph_default;
    struct why w = { 0 };
    o.from = from;
    o.from_digest = randgraph_example_digest(from);
    int failed = randgraph_make(&o, 7, index, a, ret, &w);
    ck_assert_msg(failed == 0, "%s: mutation %d: %s", from->name, (int) index, w.text);
    return failed;
}

/* By validation, and by the executor with its bounds, which the mutations do not use. */
static void check_runs(const struct example *e, const char *of)
{
    struct why w = { 0 };
    struct plan *plan;
    struct result result;
    struct exec_options options = { .bounds = true };
    ck_assert_msg(model_validate(&e->model, &w) >= 0, "%s of %s: %s", e->name, of, w.text);
    ck_assert_msg(plan_new(&e->model, &plan, &w) == 0, "%s of %s: %s", e->name, of, w.text);
    ck_assert_msg(plan_run(plan, e->in, &options, &result, &w) == 0, "%s of %s: %s", e->name, of,
                  w.text);
    for (uint32_t k = 0; k < result.n; k++)
        ck_assert_msg(shape_equal(&result.out[k].shape, &e->expected[k].shape) ||
                          !shape_known(&e->expected[k].shape),
                      "%s of %s: output %u has another shape", e->name, of, k);
    result_done(&result);
    plan_free(plan);
}

START_TEST(all_run_and_differ)
{
    struct case_example c;
    uint64_t digest[MUTATIONS];
    uint32_t same = 0;
    example_begin(&c, &examples[_i]);
    for (uint64_t i = 0; i < MUTATIONS; i++) {
        struct arena *a = arena_new(0);
        struct example e;
        make(&c.e, i, a, &e);
        check_runs(&e, c.e.name);
        digest[i] = digest_example(DIGEST_NONE, &e);
        ck_assert_msg(digest[i] != digest_example(DIGEST_NONE, &c.e), "%s: nothing has changed",
                      e.name);
        bool is_new = true;
        for (uint64_t k = 0; k < i; k++)
            is_new = is_new && digest[k] != digest[i];
        same += !is_new;
        arena_free(a);
    }
    ck_assert_uint_le(same, MUTATIONS / 20);
    build_done(&c.b);
}
END_TEST

START_TEST(name_determines_mutation)
{
    struct case_example c;
    struct example first, again;
    struct arena *a = arena_new(0);
    struct randgraph_options o;
    struct why w;
    uint64_t seed, index;
    char digest[32];
    example_begin(&c, &examples[_i]);
    make(&c.e, 11, a, &first);
    snprintf(digest, sizeof digest, "/from=%016llx/s7/i11",
             (unsigned long long) randgraph_example_digest(&c.e));
    ck_assert_msg(strstr(first.name, digest) != NULL, "%s lacks %s", first.name, digest);
    ck_assert_int_eq(randgraph_parse_name(first.name, &o, &seed, &index, &w), 0);
    ck_assert_int_lt(randgraph_make(&o, seed, index, a, &again, &w), 0); /* without the example */
    ck_assert_msg(strstr(w.text, "is missing") != NULL, "%s", w.text);
    c.e.name = "another name"; /* which does not count, as expected values do not */
    c.e.expected = NULL;
    o.from = &c.e;
    ck_assert_int_eq(randgraph_make(&o, seed, index, a, &again, &w), 0);
    ck_assert(digest_example(DIGEST_NONE, &again) == digest_example(DIGEST_NONE, &first));
    build_done(&c.b);
    arena_free(a);
}
END_TEST

/* Digests of all that an example consists of differ. */
START_TEST(digest_depends_on_content)
{
    struct case_example c;
    example_begin(&c, &examples[1]);
    const uint64_t before = randgraph_example_digest(&c.e);
    ((uint8_t *) c.in[0].data)[3] ^= 1;
    ck_assert(randgraph_example_digest(&c.e) != before);
    ((uint8_t *) c.in[0].data)[3] ^= 1;
    ck_assert(randgraph_example_digest(&c.e) == before);
    c.e.model.relaxed = true;
    ck_assert(randgraph_example_digest(&c.e) != before);
    c.e.model.relaxed = false;
    *(int32_t *) c.e.model.graph[0].operand[2].tensor.data = 1; /* activation */
    ck_assert(randgraph_example_digest(&c.e) != before);
    build_done(&c.b);
}
END_TEST

/* Long graphs, with control flow and all types, as examples. */
START_TEST(random_graphs_can_be_mutated)
{
    for (uint64_t i = 0; i < 40; i++) {
        struct arena *a = arena_new(0);
        struct example from, e;
        struct why w = { 0 };
        ck_assert_msg(randgraph_make(NULL, 3, i, a, &from, &w) == 0, "%s", w.text);
        ck_assert_msg(randgraph_check_from(&randgraph_default, &from, &w) == 0, "%s: %s", from.name,
                      w.text);
        make(&from, i, a, &e);
        check_runs(&e, from.name);
        arena_free(a);
    }
}
END_TEST

START_TEST(levels_are_kept)
{
    struct randgraph_options o = randgraph_default;
    struct case_example c;
    struct why w;
    example_begin(&c, &examples[0]);
    o.from = &c.e;
    o.from_digest = 1;
    o.max_level = 1;
    for (uint64_t i = 0; i < MUTATIONS; i++) {
        struct arena *a = arena_new(0);
        struct example e;
        ck_assert_int_eq(randgraph_make(&o, 1, i, a, &e, &w), 0);
        ck_assert_int_eq(model_validate(&e.model, &w), 1);
        arena_free(a);
    }
    build_done(&c.b);
    example_begin(&c, &examples[2]); /* signed 8-bit types: feature level 4 */
    ck_assert_int_lt(randgraph_check_from(&o, &c.e, &w), 0);
    ck_assert_msg(strstr(w.text, "feature level 4") != NULL, "%s", w.text);
    build_done(&c.b);
}
END_TEST

Suite *mutate_suite(void)
{
    TCase *c = tcase_create("mutations");

    tcase_set_timeout(c, 120);
    tcase_add_loop_test(c, all_run_and_differ, 0, COUNT(examples));
    tcase_add_loop_test(c, name_determines_mutation, 0, COUNT(examples));
    tcase_add_test(c, digest_depends_on_content);
    tcase_add_test(c, random_graphs_can_be_mutated);
    tcase_add_test(c, levels_are_kept);
    return make_suite("mutate", c, NULL);
}
