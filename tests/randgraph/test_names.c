/* Names of graphs: one for each set of options, seed and index; and the version of the generator.
 */
#include <check.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "golden/base/text_escape.h"
#include "randgraph/randgraph.h"
#include "tests/support/check_main.h"
#include "tests/support/digest.h"

/* ---- text */

static const struct {
    const char *name, *key[4], *value[4];
} named[] = {
    { "random/v2/s7/i123", { NULL }, { NULL } },
    { "random/v2/ops=3-5/s7/i123", { "ops" }, { "3-5" } },
    { "random/v2/ops=3-3/s7/i123", { "ops" }, { "3" } },
    { "random/v2/s7/i123", { "ops", "level" }, { "1-20", "8" } },
    { "random/v2/op=ADD/s7/i123", { "op" }, { "ADD" } },
    { "random/v2/op=ADD,CONV_2D,RELU/s7/i123", { "op" }, { "RELU,ADD,CONV_2D,ADD" } },
    { "random/v2/types=TENSOR_FLOAT32,TENSOR_FLOAT16/s7/i123",
      { "types" },
      { "TENSOR_FLOAT16,TENSOR_FLOAT32,TENSOR_FLOAT16" } },
    { "random/v2/ops=1-5/op=ADD/max-dim=4/level=2/s7/i123",
      { "level", "max-dim", "op", "ops" },
      { "2", "0x4", "ADD", "1-5" } },
    { "random/v2/max-elements=100/s7/i123", { "max-elements" }, { "100" } },
    { "random/v2/level=3/values=edge/s7/i123", { "values", "level" }, { "edge", "3" } },
    { "random/v2/s7/i123", { "values" }, { "mix" } },
    { "random/v2/relaxed=1/constant=0.3/control-flow=0.30000000000000004/s7/i123",
      { "control-flow", "constant", "relaxed" },
      { "0.30000000000000004", "3e-1", "1" } },
};

static struct randgraph_options options_of(int i)
{
    struct randgraph_options o = randgraph_default;
    struct why w;
    for (int k = 0; k < 4 && named[i].key[k]; k++)
        ck_assert_msg(randgraph_set(&o, named[i].key[k], named[i].value[k], &w) == 0, "%s", w.text);
    return o;
}

START_TEST(options_seed_and_index_are_the_name)
{
    char name[RANDGRAPH_NAME];
    for (int i = 0; i < COUNT(named); i++) {
        struct randgraph_options o = options_of(i);
        randgraph_name(&o, 7, 123, name);
        ck_assert_str_eq(name, named[i].name);
    }
}
END_TEST

static bool options_equal(const struct randgraph_options *a, const struct randgraph_options *b)
{
    return a->min_ops == b->min_ops && a->max_ops == b->max_ops && a->max_dim == b->max_dim &&
           a->max_elements == b->max_elements && a->max_level == b->max_level &&
           a->dtypes == b->dtypes && !memcmp(&a->relaxed, &b->relaxed, sizeof a->relaxed) &&
           !memcmp(&a->constant, &b->constant, sizeof a->constant) &&
           !memcmp(&a->control_flow, &b->control_flow, sizeof a->control_flow) &&
           !memcmp(&a->only, &b->only, sizeof a->only) && a->weights == b->weights &&
           a->values == b->values;
}

START_TEST(names_are_parsed)
{
    struct randgraph_options o;
    struct why w;
    uint64_t seed, index;
    for (int i = 0; i < COUNT(named); i++) {
        struct randgraph_options expected = options_of(i);
        int failed = randgraph_parse_name(named[i].name, &o, &seed, &index, &w);
        ck_assert_msg(!failed, "%s", w.text);
        ck_assert_msg(options_equal(&o, &expected), "%s", named[i].name);
        ck_assert_uint_eq(seed, 7);
        ck_assert_uint_eq(index, 123);
    }
    ck_assert_int_eq(randgraph_parse_name("random/v2/s18446744073709551615/i18446744073709551614",
                                          &o, &seed, &index, &w),
                     0);
    ck_assert_uint_eq(seed, UINT64_MAX);
    ck_assert_uint_eq(index, UINT64_MAX - 1);
}
END_TEST

START_TEST(bad_names_are_rejected)
{
    static const struct {
        const char *name, *reason;
        enum why_code code;
    } bad[] = {
        { "random", "expected random/v2[/PARAMETER=VALUE...]/sSEED/iINDEX", WHY_INVALID },
        { "random/", "expected random/v2[", WHY_INVALID },
        { "random/v2", "expected random/v2[", WHY_INVALID },
        { "random/v2/", "'': expected PARAMETER=VALUE", WHY_INVALID },
        { "random/v2/s7", "'s7': expected PARAMETER=VALUE", WHY_INVALID },
        { "random/v2/s7/", "expected random/v2[", WHY_INVALID },
        { "random/v2/s7/i1/", "'s7': expected PARAMETER=VALUE, or sSEED/iINDEX", WHY_INVALID },
        { "random/v2/s7/i1/x", "'s7': expected PARAMETER=VALUE, or sSEED/iINDEX", WHY_INVALID },
        { "random/v2/s7/op=ADD/i1", "'s7': expected PARAMETER=VALUE", WHY_INVALID },
        { "random/v2/i1/s7", "'i1': expected PARAMETER=VALUE", WHY_INVALID },
        { "random/v2//s7/i1", "'': expected PARAMETER=VALUE", WHY_INVALID },
        { "random/v2/op=ADD", "'op=ADD': expected sSEED/iINDEX after it", WHY_INVALID },
        { "random/v2/s7/x1", "expected random/v2[", WHY_INVALID },
        { "random/v2/s-7/i1", "'s-7': '-7' is not a whole number", WHY_INVALID },
        { "random/v2/s7/i1x", "'i1x': '1x' is not a whole number", WHY_INVALID },
        { "random/v2/s18446744073709551616/i1", "is not a whole number", WHY_INVALID },
        { "random/v2/s07/i1", "expected random/v2/s7/i1 (each", WHY_INVALID },
        { "random/v2/s0x7/i1", "expected random/v2/s7/i1 (each", WHY_INVALID },
        { "random/v02/s7/i1", "expected random/v2/s7/i1 (each", WHY_INVALID },
        { "random/v2/level=8/s7/i1", "expected random/v2/s7/i1 (each", WHY_INVALID },
        { "random/v2/ops=3/s7/i1", "expected random/v2/ops=3-3/s7/i1 (each", WHY_INVALID },
        { "random/v2/level=2/op=ADD/s7/i1", "expected random/v2/op=ADD/level=2/s7/i1 (each",
          WHY_INVALID },
        { "random/v2/op=ADD/op=MUL/s7/i1", "expected random/v2/op=MUL/s7/i1 (each", WHY_INVALID },
        { "random/v2/types=TENSOR_FLOAT16,TENSOR_FLOAT32/s7/i1",
          "expected random/v2/types=TENSOR_FLOAT32,TENSOR_FLOAT16/s7/i1", WHY_INVALID },
        { "random/v2/op=CONV2D/s7/i1",
          "'op=CONV2D': unknown operation 'CONV2D'; did you mean "
          "CONV_2D?",
          WHY_INVALID },
        { "random/v2/op=RELU,ADD/s7/i1", "expected random/v2/op=ADD,RELU/s7/i1 (each",
          WHY_INVALID },
        { "random/v2/op=ADD,ADD/s7/i1", "expected random/v2/op=ADD/s7/i1 (each", WHY_INVALID },
        { "random/v2/op=ADD,/s7/i1", "expected operations separated by commas, found 'ADD,'",
          WHY_INVALID },
        { "random/v2/op=/s7/i1", "expected operations separated by commas", WHY_INVALID },
        { "random/v2/op=ADD,RELLU/s7/i1", "unknown operation 'RELLU'; did you mean RELU?",
          WHY_INVALID },
        { "random/v2/levle=2/s7/i1", "'levle=2': unknown parameter 'levle'; did you mean level?",
          WHY_INVALID },
        { "random/v2/level=9/s7/i1", "'level=9': '9' is not a whole number from 1 to 8",
          WHY_INVALID },
        { "random/v2/values=none/s7/i1",
          "unknown profile of values 'none'; expected mix, uniform, edge, exact or adversarial",
          WHY_INVALID },
        { "random/v2/ops=5-3/s7/i1", "expected MIN-MAX with MIN not above MAX", WHY_INVALID },
        { "random/v2/relaxed=2/s7/i1", "'2' is not a number from 0 to 1", WHY_INVALID },
        { "random/v2/relaxed=nan/s7/i1", "'nan' is not a number from 0 to 1", WHY_INVALID },
        { "random/v2/types=TENSOR_FLOAT32,/s7/i1", "expected operand types separated by commas",
          WHY_INVALID },
        { "random/s7/i1", "version and options of its generator, such as random/v2/op=ADD/s7/i123",
          WHY_INVALID },
        { "random/v1/s7/i1", "version 1 of the generator; this Halcyon has version 2",
          WHY_UNSUPPORTED },
        { "random/v0/op=ADD/s7/i1", "version 0 of the generator", WHY_UNSUPPORTED },
        { "random/v2/weights=0123456789abcdef/s7/i1", "only a digest", WHY_UNSUPPORTED },
        { "random/single/s-CONV_2D-V1_0", "expected random/v2[", WHY_INVALID },
        { "spec/random/v2/s1/i2", "not the name of a random case", WHY_INVALID },
        { "", "not the name of a random case", WHY_INVALID },
    };
    for (int i = 0; i < COUNT(bad); i++) {
        struct randgraph_options o = { .max_ops = 77 };
        uint64_t seed = 77, index = 77;
        struct why w = { 0 };
        ck_assert_msg(randgraph_parse_name(bad[i].name, &o, &seed, &index, &w) == -1, "%s",
                      bad[i].name);
        ck_assert_msg(strstr(w.text, bad[i].reason), "%s: %s", bad[i].name, w.text);
        ck_assert_msg(strstr(w.text, bad[i].name), "%s", w.text);
        ck_assert_int_eq(w.code, bad[i].code);
        ck_assert(o.max_ops == 77 && seed == 77 && index == 77);
    }
    char name[RANDGRAPH_NAME + 1];
    struct randgraph_options o;
    struct why w;
    uint64_t n;
    memset(name, '7', sizeof name);
    name[RANDGRAPH_NAME] = 0;
    ck_assert_int_eq(randgraph_parse_name(name, &o, &n, &n, &w), -1);
    ck_assert_ptr_nonnull(strstr(w.text, "has 3072 bytes, at most 3071"));
}
END_TEST

/* Every option at once, each as long as it can be. */
static struct randgraph_options longest(const struct randgraph_weights *weights)
{
    struct randgraph_options o = { .min_ops = 100,
                                   .max_ops = 100,
                                   .max_dim = 63,
                                   .max_elements = UINT32_MAX,
                                   .max_level = 7,
                                   .dtypes = UINT32_MAX,
                                   .relaxed = 0.1 + 0.2,
                                   .constant = 1.0 / 3,
                                   .control_flow = 1e-300 / 3,
                                   .values = VALUES_ADVERSARIAL,
                                   .weights = weights };
    for (int i = 0; i < op_table_n; i++)
        randgraph_ops_add(&o.only, op_table[i]);
    return o;
}

START_TEST(names_fit_and_are_safe)
{
    struct randgraph_weights weights = randgraph_weights_default;
    char name[RANDGRAPH_NAME];
    weights.newest = 1;
    struct randgraph_options o = longest(&weights);
    randgraph_name(&o, UINT64_MAX, UINT64_MAX, name);
    static const char end[] = "/s18446744073709551615/i18446744073709551615";
    ck_assert_str_eq(name + strlen(name) - strlen(end), end);
    ck_assert_uint_lt(strlen(name), RANDGRAPH_NAME - 1);
    char *quoted = text_escaped(TEXT_SHELL, name);
    ck_assert_str_eq(quoted, name);
    free(quoted);
    /* As a pattern a name matches itself. */
    ck_assert_int_eq(fnmatch(name, name, 0), 0);
    /* With all operations it is parsed, too; a digest of weights would be rejected. */
    struct randgraph_options again;
    uint64_t seed, index;
    struct why w;
    o.weights = NULL;
    randgraph_name(&o, UINT64_MAX, UINT64_MAX, name);
    ck_assert_msg(randgraph_parse_name(name, &again, &seed, &index, &w) == 0, "%s", w.text);
    ck_assert(!memcmp(&again.only, &o.only, sizeof o.only));
}
END_TEST

START_TEST(weights_are_in_the_name)
{
    struct randgraph_options o = randgraph_default;
    struct randgraph_weights weights = randgraph_weights_default, again;
    char name[RANDGRAPH_NAME], other[RANDGRAPH_NAME];
    o.weights = &weights;
    randgraph_name(&o, 1, 2, name);
    ck_assert_str_eq(name, "random/v2/s1/i2");
    weights.n_ops = 2;
    weights.op[0] = (struct randgraph_op_weight){ op_by_name("ADD"), 3 };
    weights.op[1] = (struct randgraph_op_weight){ op_by_name("MUL"), 4 };
    randgraph_name(&o, 1, 2, name);
    ck_assert_ptr_nonnull(strstr(name, "random/v2/weights="));
    again = weights;
    again.op[0] = weights.op[1];
    again.op[1] = weights.op[0];
    o.weights = &again;
    randgraph_name(&o, 1, 2, other);
    ck_assert_str_eq(name, other); /* the order of a file of weights changes nothing */
    again.op[0].weight++;
    randgraph_name(&o, 1, 2, other);
    ck_assert_str_ne(name, other);
}
END_TEST

/* ---- the graphs of names */

static void add(uint64_t *digest, const struct randgraph_options *o, uint64_t seed, uint64_t index,
                struct arena *a)
{
    struct example e;
    struct why w;
    char name[RANDGRAPH_NAME];
    struct arena_mark empty = arena_mark(a);
    randgraph_name(o, seed, index, name);
    ck_assert_msg(randgraph_make(o, seed, index, a, &e, &w) == 0, "%s: %s", name, w.text);
    ck_assert_str_eq(e.name, name);
    *digest = digest_example(*digest, &e);
    arena_rewind(a, empty);
}

START_TEST(a_name_gives_the_graph_again)
{
    struct arena *a = arena_new(0);
    for (int i = 0; i < COUNT(named); i++) {
        struct randgraph_options o = options_of(i), parsed;
        uint64_t seed, index, direct = DIGEST_NONE, by_name = DIGEST_NONE;
        struct why w;
        char name[RANDGRAPH_NAME];
        randgraph_name(&o, 5, (uint64_t) i, name);
        ck_assert_int_eq(randgraph_parse_name(name, &parsed, &seed, &index, &w), 0);
        add(&direct, &o, 5, (uint64_t) i, a);
        add(&by_name, &parsed, seed, index, a);
        ck_assert_uint_eq(direct, by_name);
    }
    arena_free(a);
}
END_TEST

/* Graphs of any options, of each operation, level and type. */
static uint64_t digest_of_generator(void)
{
    struct arena *a = arena_new(0);
    struct randgraph_options o = randgraph_default;
    uint64_t digest = DIGEST_NONE;
    for (uint64_t i = 0; i < 200; i++)
        add(&digest, &o, 1, i, a);
    o.control_flow = 1;
    for (uint64_t i = 0; i < 20; i++)
        add(&digest, &o, 2, i, a);
    for (o.max_level = 1; o.max_level <= 8; o.max_level++)
        for (uint64_t i = 0; i < 10; i++)
            add(&digest, &o, 3, i, a);
    o = randgraph_default;
    o.max_ops = 2;
    for (int k = 0; k < op_table_n; k++) {
        o.only = randgraph_only(op_table[k]->name);
        for (uint64_t i = 0; i < 3; i++)
            add(&digest, &o, 4, i, a);
    }
    o.only = randgraph_only(NULL);
    for (int v = VALUES_MIX; v < VALUES_END; v++) {
        o.values = (enum randgraph_values) v;
        for (uint64_t i = 0; i < 20; i++)
            add(&digest, &o, 7, i, a);
    }
    o.values = VALUES_MIX;
    static const enum dtype types[] = { DT_F32, DT_F16, DT_U8, DT_S8, DT_I32, DT_B8, DT_Q16S };
    for (int t = 0; t < COUNT(types); t++) {
        o.dtypes = 1u << types[t];
        for (uint64_t i = 0; i < 5; i++)
            add(&digest, &o, 5, i, a);
    }
    o = randgraph_default;
    for (o.max_dim = 1; o.max_dim <= 64; o.max_dim *= 4)
        for (uint64_t i = 0; i < 5; i++)
            add(&digest, &o, 6, i, a);
    arena_free(a);
    return digest;
}

/* One name must not mean two graphs.  A change of the generator, of the catalogue or of the
 * reference that changes any of these graphs needs a new version. */
START_TEST(the_version_determines_the_graphs)
{
    static const struct {
        int version;
        uint64_t digest;
    } pinned = { 2, 0x8b010e298f46c0c2 };
    uint64_t digest = digest_of_generator();
    ck_assert_msg(RANDGRAPH_VERSION == pinned.version && digest == pinned.digest,
                  "version %d gives graphs with the digest 0x%016llx, version %d had 0x%016llx: "
                  "raise RANDGRAPH_VERSION in randgraph/randgraph.h, and set both here",
                  RANDGRAPH_VERSION, (unsigned long long) digest, pinned.version,
                  (unsigned long long) pinned.digest);
}
END_TEST

Suite *names_suite(void)
{
    TCase *c = tcase_create("names");

    tcase_add_test(c, options_seed_and_index_are_the_name);
    tcase_add_test(c, names_are_parsed);
    tcase_add_test(c, bad_names_are_rejected);
    tcase_add_test(c, names_fit_and_are_safe);
    tcase_add_test(c, weights_are_in_the_name);
    tcase_add_test(c, a_name_gives_the_graph_again);
    tcase_add_test(c, the_version_determines_the_graphs);
    return make_suite("names", c, NULL);
}
