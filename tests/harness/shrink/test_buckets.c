/* Which shrunk failures share a bucket. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "golden/ops/shared/kin.h"
#include "harness/shrink/bucket.h"
#include "tests/support/check_main.h"

static struct symptom symptom[16];
static char structure[16][SHRINK_BUCKET];
static struct bucket_member m[16];
static uint32_t n;

static void set_up(void)
{
    n = 0;
}

/* A failure of an operation; attribute, hypothesis: NULL for none. */
static struct symptom *add(int32_t code, const char *type, const char *attribute,
                           const char *hypothesis)
{
    struct symptom *s = &symptom[n];
    *s = (struct symptom){ .failure = "fail ", .code = code, .is_accepted = true };
    snprintf(s->type, sizeof s->type, "%s", type);
    if (attribute)
        snprintf(s->attributes.name[s->attributes.n++], SYMPTOM_ATTRIBUTE, "%s", attribute);
    if (hypothesis)
        s->possible.name[s->possible.n++] = s->matching.name[s->matching.n++] = hypothesis;
    snprintf(structure[n], SHRINK_BUCKET, "fail %s(%s%s%s)", op_find(code)->name, type,
             attribute ? "; " : "", attribute ? attribute : "");
    m[n] = (struct bucket_member){ .structure = structure[n], .symptom = s };
    n++;
    return s;
}

/* The number of buckets.  Verdicts are those of the failures' texts. */
static uint32_t count(void)
{
    uint32_t buckets = 0;
    for (uint32_t i = 0; i < n; i++)
        for (int v = 0; v < VERDICT_COUNT; v++)
            if (!strncmp(symptom[i].failure, verdict_name[v], strlen(verdict_name[v])))
                symptom[i].verdict = (enum verdict) v;
    buckets_find(m, n);
    for (uint32_t i = 0; i < n; i++)
        buckets += m[i].bucket == i;
    return buckets;
}

static const char *name_of(uint32_t member)
{
    static char name[SHRINK_BUCKET];
    bucket_name(m, n, m[member].bucket, name);
    return name;
}

START_TEST(operations_computed_alike_share_one)
{
    add(OP_LSTM, "TENSOR_FLOAT32", NULL, NULL);
    add(OP_BIDIRECTIONAL_SEQUENCE_LSTM, "TENSOR_FLOAT16", NULL, NULL);
    add(OP_BIDIRECTIONAL_SEQUENCE_LSTM, "TENSOR_FLOAT32", "merge_outputs", NULL);
    ck_assert_uint_eq(count(), 1);
    ck_assert_str_eq(name_of(2), "fail BIDIRECTIONAL_SEQUENCE_LSTM, LSTM(TENSOR_FLOAT16, "
                                 "TENSOR_FLOAT32)");
}
END_TEST

START_TEST(operations_computed_alike_share_what_they_need)
{
    struct symptom *s;
    add(OP_CONV_2D, "TENSOR_FLOAT32", "stride", NULL);
    s = add(OP_GROUPED_CONV_2D, "TENSOR_FLOAT32", "nchw", NULL);
    ck_assert_uint_eq(count(), 2);
    snprintf(s->attributes.name[s->attributes.n++], SYMPTOM_ATTRIBUTE, "stride");
    ck_assert_uint_eq(count(), 1);
    s->attributes.n = 0;
    ck_assert_uint_eq(count(), 2);
}
END_TEST

START_TEST(different_failures_stay_apart)
{
    add(OP_CONV_2D, "TENSOR_FLOAT32", NULL, NULL);
    add(OP_MAX_POOL_2D, "TENSOR_FLOAT32", NULL, NULL);           /* other code */
    add(OP_DEPTHWISE_CONV_2D, "TENSOR_FLOAT32", "stride", NULL); /* other attributes */
    add(OP_GROUPED_CONV_2D, "TENSOR_QUANT8_ASYMM", NULL, NULL);  /* another type */
    snprintf(add(OP_TRANSPOSE_CONV_2D, "TENSOR_FLOAT32", NULL, NULL)->failure, SYMPTOM_TEXT,
             "crash");
    add(OP_CONV_2D, "TENSOR_FLOAT32", NULL, NULL)->code = -1; /* several operations */
    snprintf(structure[5], SHRINK_BUCKET, "fail CONV_2D(TENSOR_FLOAT32) ADD(TENSOR_FLOAT32)");
    add(OP_CONV_2D, "TENSOR_FLOAT32", NULL, NULL);
    m[6].target = 1;
    snprintf(add(OP_L2_POOL_2D, "TENSOR_FLOAT32", NULL, NULL)->shapes, SYMPTOM_TEXT,
             "input [2,1,1,1] "); /* one element suffices for MAX_POOL_2D */
    ck_assert_uint_eq(count(), 8);
    ck_assert_str_eq(name_of(2), "fail DEPTHWISE_CONV_2D(TENSOR_FLOAT32; stride)");
}
END_TEST

START_TEST(hypotheses_that_differ_keep_apart)
{
    add(OP_ADD, "TENSOR_QUANT8_ASYMM", NULL, "truncation");
    add(OP_SUB, "TENSOR_QUANT8_ASYMM", NULL, "inputs-exchanged");
    ck_assert_uint_eq(count(), 2);
    set_up();
    add(OP_ADD, "TENSOR_QUANT8_ASYMM", NULL, "truncation");
    add(OP_SUB, "TENSOR_FLOAT32", NULL, "truncation");
    ck_assert_uint_eq(count(), 1);
    ck_assert_str_eq(name_of(1), "fail ADD, SUB(TENSOR_FLOAT32, TENSOR_QUANT8_ASYMM): truncation");
}
END_TEST

START_TEST(types_share_one_by_shapes)
{
    snprintf(add(OP_LESS, "TENSOR_FLOAT32", NULL, NULL)->shapes, SYMPTOM_TEXT, "a [2] ");
    snprintf(add(OP_LESS, "TENSOR_INT32", NULL, NULL)->shapes, SYMPTOM_TEXT, "a [2] ");
    ck_assert_uint_eq(count(), 1);
    snprintf(symptom[1].shapes, SYMPTOM_TEXT, "a [3] ");
    ck_assert_uint_eq(count(), 2);
}
END_TEST

/* Also of a hypothesis that matches the case as it was; then the attributes do not matter. */
START_TEST(a_hypothesis_joins_operations_computed_alike)
{
    add(OP_CONV_2D, "TENSOR_QUANT8_ASYMM", "nchw", "padding-other-side");
    struct symptom *s = add(OP_GROUPED_CONV_2D, "TENSOR_FLOAT32", NULL, "padding-other-side");
    ck_assert_uint_eq(count(), 1);
    s->matching.n = 0; /* of its shrunk case only */
    ck_assert_uint_eq(count(), 2);
}
END_TEST

START_TEST(two_operations_share_two_pieces_of_evidence)
{
    add(OP_MAX_POOL_2D, "TENSOR_QUANT8_ASYMM", "activation", "activation-ignored");
    add(OP_FULLY_CONNECTED, "TENSOR_QUANT8_ASYMM", "activation", "activation-ignored");
    ck_assert_uint_eq(count(), 1);
    symptom[1].attributes.n = 0;
    ck_assert_uint_eq(count(), 2);
    for (int i = 0; i < 2; i++)
        symptom[i].matching.name[symptom[i].matching.n++] = "narrow-range";
    ck_assert_uint_eq(count(), 1);
    for (int i = 0; i < 2; i++) { /* two attributes are none */
        symptom[i].matching.n = symptom[i].possible.n = 0;
        symptom[i].attributes.n = 2;
        for (int k = 0; k < 2; k++)
            snprintf(symptom[i].attributes.name[k], SYMPTOM_ATTRIBUTE, "attribute %d", k);
    }
    ck_assert_uint_eq(count(), 2);
}
END_TEST

START_TEST(two_operations_of_two_kinds_share_a_cause)
{
    add(OP_UNIDIRECTIONAL_SEQUENCE_LSTM, "TENSOR_FLOAT32", "sequences", NULL);
    add(OP_BIDIRECTIONAL_SEQUENCE_LSTM, "TENSOR_FLOAT32", "sequences", NULL);
    add(OP_UNIDIRECTIONAL_SEQUENCE_RNN, "TENSOR_FLOAT32", "sequences", NULL);
    ck_assert_uint_eq(count(), 2);
    add(OP_UNIDIRECTIONAL_SEQUENCE_RNN, "TENSOR_FLOAT16", "sequences", NULL);
    ck_assert_uint_eq(count(), 2);
    add(OP_BIDIRECTIONAL_SEQUENCE_RNN, "TENSOR_FLOAT32", "sequences", NULL);
    ck_assert_uint_eq(count(), 1);
    set_up();
    add(OP_CONV_2D, "TENSOR_FLOAT32", "nchw", NULL);
    add(OP_GROUPED_CONV_2D, "TENSOR_FLOAT32", "nchw", NULL);
    add(OP_DEPTHWISE_CONV_2D, "TENSOR_FLOAT32", "nchw", NULL);
    add(OP_ROI_ALIGN, "TENSOR_FLOAT32", "nchw", NULL); /* three of one kind, and one */
    ck_assert_uint_eq(count(), 2);
}
END_TEST

START_TEST(types_do_not_matter_to_copies)
{
    snprintf(add(OP_SLICE, "TENSOR_FLOAT32", NULL, NULL)->shapes, SYMPTOM_TEXT, "input [2] ");
    snprintf(add(OP_SLICE, "TENSOR_QUANT8_ASYMM", NULL, NULL)->shapes, SYMPTOM_TEXT, "input [3] ");
    ck_assert_uint_eq(count(), 1);
    set_up();
    add(OP_WHILE, "TENSOR_QUANT8_ASYMM", NULL, NULL);
    add(OP_IF, "TENSOR_BOOL8", NULL, NULL);
    ck_assert_uint_eq(count(), 1);
    set_up();
    snprintf(add(OP_MEAN, "TENSOR_FLOAT32", NULL, NULL)->shapes, SYMPTOM_TEXT, "input [2] ");
    snprintf(add(OP_MEAN, "TENSOR_QUANT8_ASYMM", NULL, NULL)->shapes, SYMPTOM_TEXT, "input [3] ");
    ck_assert_uint_eq(count(), 2);
}
END_TEST

START_TEST(three_kinds_of_operations_share_a_cause)
{
    add(OP_ADD, "TENSOR_QUANT8_ASYMM", NULL, "wrap-around");
    add(OP_CONV_2D, "TENSOR_QUANT8_ASYMM", NULL, "wrap-around");
    ck_assert_uint_eq(count(), 2);
    add(OP_SUB, "TENSOR_QUANT8_ASYMM", NULL, "wrap-around"); /* like ADD */
    ck_assert_uint_eq(count(), 2);
    add(OP_MEAN, "TENSOR_QUANT8_ASYMM", NULL, "wrap-around");
    ck_assert_uint_eq(count(), 1);
    ck_assert_str_eq(name_of(0), "fail ADD, CONV_2D, MEAN, SUB(TENSOR_QUANT8_ASYMM): wrap-around");
    set_up();
    add(OP_CONV_2D, "TENSOR_FLOAT32", "nchw", NULL);
    add(OP_MAX_POOL_2D, "TENSOR_QUANT8_ASYMM", "nchw", NULL);
    add(OP_ROI_ALIGN, "TENSOR_FLOAT32", "nchw", NULL);
    ck_assert_uint_eq(count(), 1);
    ck_assert_str_eq(name_of(0), "fail CONV_2D, MAX_POOL_2D, ROI_ALIGN(TENSOR_FLOAT32, "
                                 "TENSOR_QUANT8_ASYMM; nchw)");
}
END_TEST

/* A failure of one kind of values, of operations of that many kinds. */
static void add_wide(uint32_t kinds)
{
    static const int32_t code[] = { OP_ADD,  OP_CONV_2D,   OP_MAX_POOL_2D,
                                    OP_MEAN, OP_ROI_ALIGN, OP_TILE };
    for (uint32_t i = 0; i < kinds; i++)
        add(code[i], "TENSOR_FLOAT32", NULL, NULL);
}

START_TEST(wide_buckets_take_what_nothing_explains)
{
    add_wide(5);
    add(OP_HEATMAP_MAX_KEYPOINT, "TENSOR_FLOAT32", "nchw", NULL);
    add(OP_SELECT, "TENSOR_BOOL8", NULL, NULL);
    ck_assert_uint_eq(count(), 7);
    set_up();
    add_wide(6);
    add(OP_HEATMAP_MAX_KEYPOINT, "TENSOR_FLOAT32", "nchw", NULL);
    add(OP_SELECT, "TENSOR_BOOL8", NULL, NULL);
    ck_assert_uint_eq(count(), 1);
    add(OP_SOFTMAX, "TENSOR_FLOAT32", "axis", "beta-ignored");
    ck_assert_uint_eq(count(), 2);
    snprintf(add(OP_SPLIT, "TENSOR_FLOAT32", "axis", NULL)->failure, SYMPTOM_TEXT,
             "fail to reject ");
    ck_assert_uint_eq(count(), 3);
}
END_TEST

static struct symptom *add_breach(int32_t code, const char *attribute, enum verdict verdict,
                                  const char *failure)
{
    struct symptom *s = add(code, "TENSOR_FLOAT32", attribute, NULL);
    snprintf(s->failure, SYMPTOM_TEXT, "%s", failure);
    snprintf(structure[n - 1], SHRINK_BUCKET, "%s %s(TENSOR_FLOAT32%s%s)", verdict_name[verdict],
             op_find(code)->name, attribute ? "; " : "", attribute ? attribute : "");
    return s;
}

/* A case that fails with several operations only. */
static void add_several(const char *failure, const char *of)
{
    snprintf(structure[n], SHRINK_BUCKET, "%s", of);
    symptom[n] = (struct symptom){ .code = -1 };
    snprintf(symptom[n].failure, SYMPTOM_TEXT, "%s", failure);
    m[n] = (struct bucket_member){ .structure = structure[n], .symptom = &symptom[n] };
    n++;
}

static void add_together(int32_t first, int32_t second)
{
    char text[SHRINK_BUCKET];
    snprintf(text, sizeof text, "fail %s(TENSOR_FLOAT32) %s(TENSOR_FLOAT32)", op_find(first)->name,
             op_find(second)->name);
    add_several("fail ", text);
    symptom[n - 1].several[0] = first;
    symptom[n - 1].several[1] = second;
    symptom[n - 1].n_several = 2;
}

START_TEST(what_fails_together_only_is_one)
{
    const struct bucket_rest together = { .verdict = VERDICT_FAIL, .is_together = true },
                             alone = { .verdict = VERDICT_FAIL };
    uint32_t bucket;
    add_together(OP_CONV_2D, OP_RELU);
    add_together(OP_TILE, OP_MEAN);
    ck_assert_uint_eq(count(), 2);
    add_together(OP_DEPTHWISE_CONV_2D, OP_RELU6); /* computed like the first */
    ck_assert_uint_eq(count(), 2);
    ck_assert_str_eq(name_of(0), "fail CONV_2D, DEPTHWISE_CONV_2D, RELU, RELU6, only together");
    add_together(OP_SLICE, OP_MEAN);
    add_together(OP_SLICE, OP_ADD);
    ck_assert_uint_eq(count(), 4);
    ck_assert(!bucket_of_rest(m, n, &together, &bucket));
    add_together(OP_ADD, OP_TILE);
    ck_assert_uint_eq(count(), 1);
    ck_assert(bucket_of_rest(m, n, &together, &bucket));
    ck_assert(!bucket_of_rest(m, n, &alone, &bucket));
    add(OP_MEAN, "TENSOR_FLOAT32", NULL, NULL);
    ck_assert_uint_eq(count(), 2);
    struct symptom *s = add(OP_IF, "TENSOR_BOOL8", NULL, NULL); /* with one operation in a branch */
    ck_assert_uint_eq(count(), 3);
    s->is_compound = true;
    ck_assert_uint_eq(count(), 2);
    ck_assert_uint_eq(m[n - 1].bucket, 0);
    ck_assert_str_eq(name_of(0),
                     "fail ADD, CONV_2D, DEPTHWISE_CONV_2D, IF, MEAN, RELU, RELU6, SLICE "
                     "and 1 others, only together");
}
END_TEST

START_TEST(a_later_output_that_is_wrong_is_one)
{
    add(OP_SPLIT, "TENSOR_FLOAT32", NULL, NULL)->later_output = 1;
    add(OP_LSTM, "TENSOR_FLOAT32", NULL, "not-written")->later_output = 1;
    add_together(OP_ABS, OP_TILE);
    symptom[n - 1].later_output = 1;
    ck_assert_uint_eq(count(), 3);
    add(OP_SVDF, "TENSOR_FLOAT16", NULL, "truncation")->later_output = 1;
    ck_assert_uint_eq(count(), 1);
    add(OP_TOPK_V2, "TENSOR_FLOAT32", NULL, NULL)->later_output = 2;
    add(OP_RNN, "TENSOR_FLOAT32", NULL, NULL);
    ck_assert_uint_eq(count(), 3);
}
END_TEST

START_TEST(what_fails_everywhere_is_one)
{
    const struct bucket_rest rest = { .verdict = VERDICT_VIOLATION };
    uint32_t bucket;
    add_breach(OP_TILE, NULL, VERDICT_VIOLATION, "violation shape");
    add_breach(OP_ADD, NULL, VERDICT_VIOLATION, "violation status");
    add_breach(OP_MEAN, NULL, VERDICT_CRASH, "crash 11");
    ck_assert_uint_eq(count(), 3);
    ck_assert(!bucket_of_rest(m, n, &rest, &bucket));
    symptom[1].everywhere = true;
    ck_assert_uint_eq(count(), 2);
    ck_assert(bucket_of_rest(m, n, &rest, &bucket));
    ck_assert_uint_eq(bucket, m[1].bucket);
}
END_TEST

START_TEST(three_kinds_of_operations_break_one_rule)
{
    static const char rule[] = "violation output has shape";
    static const struct {
        int32_t code;
        const char *type, *attribute;
    } calls[] = { { OP_SPLIT, "TENSOR_FLOAT32", NULL },
                  { OP_TOPK_V2, "TENSOR_INT32", NULL },
                  { OP_HEATMAP_MAX_KEYPOINT, "TENSOR_QUANT8_ASYMM", "nchw" } };

    add_several(rule, "violation ADD(TENSOR_FLOAT32) SPLIT(TENSOR_FLOAT32)");
    for (int i = 0; i < COUNT(calls); i++) {
        ck_assert_uint_eq(count(), n);
        snprintf(add(calls[i].code, calls[i].type, calls[i].attribute, NULL)->failure, SYMPTOM_TEXT,
                 "%s", rule);
    }
    ck_assert_uint_eq(count(), 1);
    ck_assert_ptr_nonnull(strstr(name_of(0), "HEATMAP_MAX_KEYPOINT, SPLIT, TOPK_V2("));
    add_several("violation other", "violation ADD(TENSOR_FLOAT32) TILE(TENSOR_FLOAT32)");
    add_several("fail ", "fail ADD(TENSOR_FLOAT32) TILE(TENSOR_FLOAT32)");
    ck_assert_uint_eq(count(), 3);
}
END_TEST

/* A failure in another way of execution. */
static struct symptom *add_in_way(int32_t code, const char *failure, const char *way)
{
    struct symptom *s = add(code, "TENSOR_FLOAT32", NULL, NULL);
    snprintf(s->failure, SYMPTOM_TEXT, "%s", failure);
    snprintf(s->way, VARIATION_TEXT, "%s", way);
    text_append(structure[n - 1], SHRINK_BUCKET, " in the way %s", way);
    return s;
}

START_TEST(an_operation_that_breaks_rules_is_one)
{
    add_breach(OP_TOPK_V2, NULL, VERDICT_CRASH, "crash 11");
    add_breach(OP_TOPK_V2, "k", VERDICT_VIOLATION, "violation shape");
    ck_assert_uint_eq(count(), 1);
    ck_assert_str_eq(name_of(0), "crash, violation TOPK_V2(TENSOR_FLOAT32)");
    add_breach(OP_ARGMAX, "axis", VERDICT_CRASH, "crash 11"); /* of the same kind */
    ck_assert_uint_eq(count(), 1);
    add_breach(OP_TILE, NULL, VERDICT_CRASH, "crash 11");
    add(OP_TOPK_V2, "TENSOR_INT32", NULL, NULL); /* wrong numbers of another type are apart */
    ck_assert_uint_eq(count(), 3);
}
END_TEST

START_TEST(executions_that_fail_and_wrong_numbers_are_one)
{
    struct symptom *s =
        add_breach(OP_GENERATE_PROPOSALS, NULL, VERDICT_REFUSED, "refused execute 0 size");
    add(OP_GENERATE_PROPOSALS, "TENSOR_FLOAT32", "nchw", NULL);
    ck_assert_uint_eq(count(), 1);
    add(OP_AXIS_ALIGNED_BBOX_TRANSFORM, "TENSOR_FLOAT32", NULL, NULL); /* another operation */
    ck_assert_uint_eq(count(), 2);
    s->is_accepted = false; /* a model that is not prepared is another matter */
    ck_assert_uint_eq(count(), 3);
}
END_TEST

/* Memory beyond an operand may hold wrong numbers, or none. */
START_TEST(crashes_and_wrong_numbers_are_one)
{
    add_breach(OP_PACK, NULL, VERDICT_CRASH, "crash execute 11 ");
    add(OP_PACK, "TENSOR_FLOAT32", "axis", NULL);
    ck_assert_uint_eq(count(), 1);
    add(OP_CONCATENATION, "TENSOR_FLOAT32", NULL,
        NULL); /* computed alike, but without attributes */
    ck_assert_uint_eq(count(), 2);
    set_up();
    add_breach(OP_CONV_2D, "stride", VERDICT_HANG, "hang execute 0 ");
    add_breach(OP_MAX_POOL_2D, "stride", VERDICT_HANG, "hang execute 0 ");
    add(OP_L2_POOL_2D, "TENSOR_FLOAT32", "stride", NULL); /* computed like MAX_POOL_2D */
    ck_assert_uint_eq(count(), 1);
    add_breach(OP_TILE, "multiples", VERDICT_HANG, "hang execute 0 ");
    ck_assert_uint_eq(count(), 1); /* three kinds hang */
    add(OP_L2_POOL_2D, "TENSOR_FLOAT32", "activation", "activation-ignored");
    ck_assert_uint_eq(count(), 2);
}
END_TEST

START_TEST(several_operations_break_the_rule_of_one)
{
    add_several("crash 11", "crash TANH(TENSOR_FLOAT32) TOPK_V2(TENSOR_FLOAT32)");
    symptom[0].several[0] = OP_TANH;
    symptom[0].several[1] = OP_TOPK_V2;
    symptom[0].n_several = 2;
    add_breach(OP_TILE, NULL, VERDICT_CRASH, "crash 11");
    ck_assert_uint_eq(count(), 2);
    add_breach(OP_TOPK_V2, NULL, VERDICT_CRASH, "crash 11");
    ck_assert_uint_eq(count(), 2);
    ck_assert_uint_eq(m[2].bucket, m[0].bucket);
}
END_TEST

START_TEST(four_kinds_share_what_their_shrunk_cases_match)
{
    static const int32_t code[] = { OP_CONV_2D, OP_MUL, OP_FULLY_CONNECTED, OP_CONCATENATION };
    for (int i = 0; i < COUNT(code); i++) {
        ck_assert_uint_eq(count(), (uint32_t) i);
        struct symptom *s = add(code[i], "TENSOR_QUANT8_ASYMM", "activation", NULL);
        snprintf(s->attributes.name[0], SYMPTOM_ATTRIBUTE, "attribute %d", i);
        s->possible.name[s->possible.n++] = "one-step-off";
    }
    ck_assert_uint_eq(count(), 1);
    symptom[3].matching.name[symptom[3].matching.n++] = "index-left-out"; /* another cause */
    ck_assert_uint_eq(count(), 4);
}
END_TEST

START_TEST(a_way_that_is_wrong_is_one)
{
    add_in_way(OP_ADD, "fail ", "burst");
    add_in_way(OP_SUB, "violation other bits ", "burst");
    ck_assert_uint_eq(count(), 2);
    add_in_way(OP_TILE, "fail ", "burst");
    ck_assert_uint_eq(count(), 1);
    ck_assert_str_eq(name_of(0), "fail, violation ADD, SUB, TILE(TENSOR_FLOAT32) in the way burst");
    add_in_way(OP_TILE, "fail ", "fenced");
    add(OP_TILE, "TENSOR_FLOAT32", NULL, NULL); /* of one cause with the failure before */
    ck_assert_uint_eq(count(), 2);
    struct symptom *s = add_in_way(OP_ADD, "fail ", "fenced"); /* and so do all others */
    s->is_any = true;
    s->code = -1;
    snprintf(structure[n - 1], SHRINK_BUCKET, "fail in the way fenced");
    ck_assert_uint_eq(count(), 3);
    ck_assert_uint_eq(m[n - 1].bucket, m[n - 3].bucket);
    ck_assert_str_eq(name_of(n - 1), "fail in the way fenced");
}
END_TEST

/* As add_in_way(), where any operation fails in that way. */
static void add_way(const char *failure, const char *way)
{
    struct symptom *s = add_in_way(OP_ADD, failure, way);
    s->is_any = true;
    s->code = -1;
    snprintf(structure[n - 1], SHRINK_BUCKET, "%sin the way %s", failure, way);
}

START_TEST(ways_with_common_parts_are_one)
{
    add_way("fail ", "burst,low-power");
    add_way("fail ", "fenced,shift");
    ck_assert_uint_eq(count(), 2);
    add_way("fail ", "reusable-fenced");
    add_way("fail ", "synchronous,low-power,after-other");
    ck_assert_uint_eq(count(), 2);
    add_way("violation other bits ", "burst");
    ck_assert_uint_eq(count(), 3);
    add_way("fail ", "synchronous,input-buffers");
    add_way("fail ", "synchronous,at-once,output-buffers");
    ck_assert_uint_eq(count(), 4);
    add_way("fail ", "synchronous"); /* whatever else the way has */
    ck_assert_uint_eq(count(), 2);
}
END_TEST

/* It also fails plainly, or in other ways. */
START_TEST(a_way_in_which_one_operation_fails_is_not_the_cause)
{
    add_breach(OP_GENERATE_PROPOSALS, NULL, VERDICT_VIOLATION, "violation shape ");
    add_in_way(OP_GENERATE_PROPOSALS, "refused execute ", "synchronous,output-buffers");
    ck_assert_uint_eq(count(), 1);
    add(OP_FILL, "TENSOR_INT32", NULL, NULL);
    snprintf(add_in_way(OP_FILL, "fail ", "synchronous,from-cache")->type, SYMPTOM_TYPE,
             "TENSOR_INT32");
    ck_assert_uint_eq(count(), 2);
    add_in_way(OP_TILE, "fail ", "synchronous,from-cache"); /* now the way is */
    ck_assert_uint_eq(count(), 3);
    ck_assert_uint_eq(m[n - 1].bucket, m[n - 2].bucket);
}
END_TEST

START_TEST(one_operation_keeps_ways_apart)
{
    add_in_way(OP_ADD, "fail ", "burst");
    add_in_way(OP_TILE, "fail ", "burst,shift");
    ck_assert_uint_eq(count(), 2);
    add_in_way(OP_SUB, "crash execute 11 ", "burst,low-power")->verdict = VERDICT_CRASH;
    add_in_way(OP_SLICE, "crash execute 11 ", "burst,from-cache")->verdict = VERDICT_CRASH;
    ck_assert_uint_eq(count(), 3);
}
END_TEST

START_TEST(what_was_not_shrunk_is_of_the_widest)
{
    const struct bucket_rest rest = { .verdict = VERDICT_FAIL },
                             crash = { .verdict = VERDICT_CRASH },
                             other = { .target = 1, .verdict = VERDICT_FAIL };
    uint32_t bucket;
    add_wide(6);
    ck_assert_uint_eq(count(), 1);
    ck_assert(bucket_of_rest(m, n, &rest, &bucket));
    ck_assert_uint_eq(bucket, 0);
    ck_assert(!bucket_of_rest(m, n, &crash, &bucket));
    ck_assert(!bucket_of_rest(m, n, &other, &bucket));
    add(OP_SOFTMAX, "TENSOR_FLOAT32", "axis", "beta-ignored"); /* one of seven is another bug */
    ck_assert_uint_eq(count(), 2);
    ck_assert(!bucket_of_rest(m, n, &rest, &bucket));
    set_up();
    add_wide(5);
    count();
    ck_assert(!bucket_of_rest(m, n, &rest, &bucket));
}
END_TEST

/* The attributes of a call of BIDIRECTIONAL_SEQUENCE_RNN that has no other operands. */
static struct call_attributes attributes_of_sequences(uint32_t batches, uint32_t steps)
{
    static const uint8_t yes = 1, no = 0;
    const struct op *op = op_find(OP_BIDIRECTIONAL_SEQUENCE_RNN);
    const struct tensor input = { .dtype = DT_F32,
                                  .shape = { .rank = 3, .dim = { batches, steps, 1 } } },
                        merge = { .dtype = DT_BOOL, .data = (void *) &yes },
                        time_major = { .dtype = DT_BOOL, .data = (void *) &no };
    const struct tensor *arg[32] = { &input };
    struct call call = { .op = op, .form = &op->forms[0], .arg = arg };
    for (; call.form->role[call.n_in] != END; call.n_in++) {
        const char *name = call_role(&call, call.n_in)->name;
        if (!strcmp(name, "merge_outputs"))
            arg[call.n_in] = &merge;
        if (!strcmp(name, "time_major"))
            arg[call.n_in] = &time_major;
    }
    struct call_attributes a;
    attributes_of(&call, &a);
    return a;
}

START_TEST(several_sequences_are_an_attribute)
{
    ck_assert_int_eq(attributes_of_sequences(1, 3).n, 0);
    ck_assert_int_eq(attributes_of_sequences(2, 1).n, 0);
    const struct call_attributes a = attributes_of_sequences(2, 3);
    ck_assert_int_eq(a.n, 1);
    ck_assert_str_eq(a.name[0], "sequences");
}
END_TEST

START_TEST(every_operation_has_one_kind)
{
    for (int i = 0; kin_at(i); i++)
        for (const int32_t *code = kin_at(i); *code >= 0; code++) {
            ck_assert_ptr_nonnull(op_find(*code));
            ck_assert_msg(kin_of(*code) == kin_at(i)[0], "%s is in two rows", op_find(*code)->name);
        }
    ck_assert_int_eq(kin_of(OP_TILE), OP_TILE);
}
END_TEST

Suite *buckets_suite(void)
{
    TCase *t = tcase_create("buckets");
    tcase_add_checked_fixture(t, set_up, NULL);
    tcase_add_test(t, operations_computed_alike_share_one);
    tcase_add_test(t, operations_computed_alike_share_what_they_need);
    tcase_add_test(t, different_failures_stay_apart);
    tcase_add_test(t, hypotheses_that_differ_keep_apart);
    tcase_add_test(t, types_share_one_by_shapes);
    tcase_add_test(t, a_hypothesis_joins_operations_computed_alike);
    tcase_add_test(t, two_operations_share_two_pieces_of_evidence);
    tcase_add_test(t, two_operations_of_two_kinds_share_a_cause);
    tcase_add_test(t, types_do_not_matter_to_copies);
    tcase_add_test(t, three_kinds_of_operations_share_a_cause);
    tcase_add_test(t, wide_buckets_take_what_nothing_explains);
    tcase_add_test(t, what_fails_together_only_is_one);
    tcase_add_test(t, a_later_output_that_is_wrong_is_one);
    tcase_add_test(t, what_fails_everywhere_is_one);
    tcase_add_test(t, three_kinds_of_operations_break_one_rule);
    tcase_add_test(t, an_operation_that_breaks_rules_is_one);
    tcase_add_test(t, executions_that_fail_and_wrong_numbers_are_one);
    tcase_add_test(t, crashes_and_wrong_numbers_are_one);
    tcase_add_test(t, several_operations_break_the_rule_of_one);
    tcase_add_test(t, four_kinds_share_what_their_shrunk_cases_match);
    tcase_add_test(t, a_way_that_is_wrong_is_one);
    tcase_add_test(t, ways_with_common_parts_are_one);
    tcase_add_test(t, a_way_in_which_one_operation_fails_is_not_the_cause);
    tcase_add_test(t, one_operation_keeps_ways_apart);
    tcase_add_test(t, what_was_not_shrunk_is_of_the_widest);
    tcase_add_test(t, several_sequences_are_an_attribute);
    tcase_add_test(t, every_operation_has_one_kind);
    return make_suite("buckets", t, NULL);
}
