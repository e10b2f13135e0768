/* Signatures of operations: for every form and typing row of the records, ANeuralNetworksModel_
 * addOperation() accepts its operands and rejects them when one is missing, when there is one more,
 * and when one has another type.  What is rejected is known from NNAPI's specification and from the
 * rules that its conformance suites have for such changes, in tables of their own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden/base/logging.h"
#include "golden/model/op.h"
#include "runtime/model/model_builder.h"
#include "tests/runtime/small_models.h"
#include "tests/support/check_main.h"

/* Numbers of inputs and outputs that an operation may have; ">=2": at least 2. */
static const struct {
    const char *name, *in, *out;
} arities[] = {
    { "ADD", "3", "1" },
    { "AVERAGE_POOL_2D", "7,8,10,11", "1" },
    { "CONCATENATION", ">=2", "1" },
    { "CONV_2D", "7,8,10,11,13", "1" },
    { "DEPTHWISE_CONV_2D", "8,9,11,12,14", "1" },
    { "DEPTH_TO_SPACE", "2,3", "1" },
    { "DEQUANTIZE", "1", "1" },
    { "EMBEDDING_LOOKUP", "2", "1" },
    { "FLOOR", "1", "1" },
    { "FULLY_CONNECTED", "4", "1" },
    { "HASHTABLE_LOOKUP", "3", "2" },
    { "L2_NORMALIZATION", "1,2", "1" },
    { "L2_POOL_2D", "7,8,10,11", "1" },
    { "LOCAL_RESPONSE_NORMALIZATION", "5,6", "1" },
    { "LOGISTIC", "1", "1" },
    { "LSH_PROJECTION", "4", "1" },
    { "LSTM", "23,27", "4" },
    { "MAX_POOL_2D", "7,8,10,11", "1" },
    { "MUL", "3", "1" },
    { "RELU", "1", "1" },
    { "RELU1", "1", "1" },
    { "RELU6", "1", "1" },
    { "RESHAPE", "2", "1" },
    { "RESIZE_BILINEAR", "3,4,5,6", "1" },
    { "RNN", "6", "2" },
    { "SOFTMAX", "2,3", "1" },
    { "SPACE_TO_DEPTH", "2,3", "1" },
    { "SVDF", "7", "2" },
    { "TANH", "1", "1" },
    { "BATCH_TO_SPACE_ND", "2,3", "1" },
    { "DIV", "3", "1" },
    { "MEAN", "3", "1" },
    { "PAD", "2", "1" },
    { "SPACE_TO_BATCH_ND", "3,4", "1" },
    { "SQUEEZE", "2", "1" },
    { "STRIDED_SLICE", "7", "1" },
    { "SUB", "3", "1" },
    { "TRANSPOSE", "2", "1" },
    { "ABS", "1", "1" },
    { "ARGMAX", "2", "1" },
    { "ARGMIN", "2", "1" },
    { "AXIS_ALIGNED_BBOX_TRANSFORM", "4", "1" },
    { "BIDIRECTIONAL_SEQUENCE_LSTM", "61", "1,2,5,6" },
    { "BIDIRECTIONAL_SEQUENCE_RNN", "15", "1,2,3,4" },
    { "BOX_WITH_NMS_LIMIT", "9", "4" },
    { "CAST", "1", "1" },
    { "CHANNEL_SHUFFLE", "3", "1" },
    { "DETECTION_POSTPROCESSING", "14", "4" },
    { "EQUAL", "2", "1" },
    { "EXP", "1", "1" },
    { "EXPAND_DIMS", "2", "1" },
    { "GATHER", "3", "1" },
    { "GENERATE_PROPOSALS", "11", "3" },
    { "GREATER", "2", "1" },
    { "GREATER_EQUAL", "2", "1" },
    { "GROUPED_CONV_2D", "9,12", "1" },
    { "HEATMAP_MAX_KEYPOINT", "3", "2" },
    { "INSTANCE_NORMALIZATION", "5", "1" },
    { "LESS", "2", "1" },
    { "LESS_EQUAL", "2", "1" },
    { "LOG", "1", "1" },
    { "LOGICAL_AND", "2", "1" },
    { "LOGICAL_NOT", "1", "1" },
    { "LOGICAL_OR", "2", "1" },
    { "LOG_SOFTMAX", "3", "1" },
    { "MAXIMUM", "2", "1" },
    { "MINIMUM", "2", "1" },
    { "NEG", "1", "1" },
    { "NOT_EQUAL", "2", "1" },
    { "PAD_V2", "3", "1" },
    { "POW", "2", "1" },
    { "PRELU", "2", "1" },
    { "QUANTIZE", "1", "1" },
    { "QUANTIZED_16BIT_LSTM", "15", "2" },
    { "RANDOM_MULTINOMIAL", "3", "1" },
    { "REDUCE_ALL", "3", "1" },
    { "REDUCE_ANY", "3", "1" },
    { "REDUCE_MAX", "3", "1" },
    { "REDUCE_MIN", "3", "1" },
    { "REDUCE_PROD", "3", "1" },
    { "REDUCE_SUM", "3", "1" },
    { "ROI_ALIGN", "10", "1" },
    { "ROI_POOLING", "8", "1" },
    { "RSQRT", "1", "1" },
    { "SELECT", "3", "1" },
    { "SIN", "1", "1" },
    { "SLICE", "3", "1" },
    { "SPLIT", "3", ">=1" },
    { "SQRT", "1", "1" },
    { "TILE", "2", "1" },
    { "TOPK_V2", "2", "2" },
    { "TRANSPOSE_CONV_2D", "9,11", "1" },
    { "UNIDIRECTIONAL_SEQUENCE_LSTM", "28", "1,3" },
    { "UNIDIRECTIONAL_SEQUENCE_RNN", "7", "1,2" },
    { "RESIZE_NEAREST_NEIGHBOR", "4,5,6", "1" },
    { "QUANTIZED_LSTM", "32", "3" },
    { "ELU", "2", "1" },
    { "HARD_SWISH", "1", "1" },
    { "FILL", "2", "1" },
    { "RANK", "1", "1" },
    { "BATCH_MATMUL", "4", "1" },
    { "PACK", ">=2", "1" },
    { "MIRROR_PAD", "3", "1" },
    { "REVERSE", "2", "1" },
};

static bool lists(const char *numbers, uint32_t n)
{
    if (numbers[0] == '>')
        return n >= strtoul(numbers + 2, NULL, 10);
    for (const char *at = numbers; *at;) {
        char *end;
        if (strtoul(at, &end, 10) == n)
            return true;
        at = end + (*end == ',');
    }
    return false;
}

/* The operands of one call. */
enum { MOST_IN = 80, MOST_OUT = 16 };
struct signature {
    const struct op *op;
    uint32_t n_in, n_out;
    ANeuralNetworksOperandType in[MOST_IN], out[MOST_OUT];
};

static const uint32_t twos[] = { 2, 2, 2, 2, 2, 2, 2, 2, 2, 2 };
static const float scales[] = { 1, 1 };

/* Fails the test unless it succeeds; in loops, where Check's notes would take most of the time. */
static void must(int result)
{
    if (result != OK)
        ck_abort_msg("a call that must succeed returns %d", result);
}

/* The result of adding the operation to a model that has these operands and no others. */
static int try(const struct signature *s)
{
    const ANeuralNetworksSymmPerChannelQuantParams p = { 0, 2, scales };
    uint32_t in[MOST_IN], out[MOST_OUT], n = 0;
    ANeuralNetworksModel *m;

    must(ANeuralNetworksModel_create(&m));
    for (uint32_t i = 0; i < s->n_in + s->n_out; i++) {
        const ANeuralNetworksOperandType *t = i < s->n_in ? &s->in[i] : &s->out[i - s->n_in];
        *(i < s->n_in ? &in[i] : &out[i - s->n_in]) = n++;
        must(ANeuralNetworksModel_addOperand(m, t));
        if (t->type == PC8)
            must(ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(m, (int32_t) i, &p));
    }
    int result = operate(m, s->op->code, s->n_in, in, s->n_out, out);
    ANeuralNetworksModel_free(m);
    return result;
}

/* The lowest rank of the first input that the row allows. */
static uint32_t rank_of(const struct typing *t)
{
    for (uint32_t r = 1; r < MAX_RANK; r++)
        if (t->ranks >> r & 1)
            return r;
    return 1;
}

static ANeuralNetworksOperandType operand_of(const struct role *r, const struct typing *t,
                                             bool first)
{
    uint32_t rank = rank_of(t);

    if (!r->dims)
        return SCALAR((int32_t) role_type(r, t));
    if (!first && strcmp(r->dims, "*") != 0 && strcmp(r->dims, "?") != 0)
        rank = (uint32_t) strlen(r->dims);
    return type_make((int32_t) role_type(r, t), rank, twos);
}

/* The complete call of a form, two operands for a variadic role; n_out outputs. */
static struct signature signature_of(const struct op *op, const struct form *f,
                                     const struct typing *t, uint32_t n_out)
{
    struct signature s = { .op = op, .n_out = n_out };

    for (int i = 0; f->role[i] != END; i++)
        for (int k = 0; k < (op->in[f->role[i]].many ? 2 : 1); k++, s.n_in++)
            s.in[s.n_in] = operand_of(&op->in[f->role[i]], t, s.n_in == 0);
    for (uint32_t i = 0; i < n_out; i++)
        s.out[i] = operand_of(&op->out[(int) i < op->n_out ? (int) i : op->n_out - 1], t, false);
    return s;
}

/* ---- changes that leave the operation valid */

#define IS(text) (strcmp(s->op->name, text) == 0)

static bool is_one_of(int32_t code, const int32_t *list)
{
    for (; *list >= 0; list++)
        if (*list == code)
            return true;
    return false;
}
#define ONE_OF(code, ...) is_one_of(code, (const int32_t[]){ __VA_ARGS__, -1 })

/* Whether input `at` may be missing. */
static bool may_miss(const struct signature *s, uint32_t at)
{
    uint32_t n = s->n_in;
    bool pool = IS("AVERAGE_POOL_2D") || IS("L2_POOL_2D") || IS("MAX_POOL_2D");

    if (IS("CONCATENATION"))
        return n > 2 && at != n - 1;
    if (IS("PACK"))
        return n > 2 && at != 0;
    if (IS("DEPTHWISE_CONV_2D"))
        return (n == 12 && at == 11) || (n == 9 && at == 8);
    if (IS("CONV_2D") || pool)
        return (n == 11 && at == 10) || (n == 8 && at == 7);
    if (IS("RESIZE_BILINEAR"))
        return n >= 4 && at >= 3;
    if (IS("RESIZE_NEAREST_NEIGHBOR"))
        return n >= 5 && at >= 3;
    if (IS("SPACE_TO_DEPTH") || IS("DEPTH_TO_SPACE") || IS("BATCH_TO_SPACE_ND") || IS("SOFTMAX"))
        return n == 3 && at == 2;
    if (IS("SPACE_TO_BATCH_ND"))
        return n == 4 && at == 3;
    if (IS("L2_NORMALIZATION"))
        return n == 2 && at == 1;
    return IS("LOCAL_RESPONSE_NORMALIZATION") && n == 6 && at == 5;
}

static const int32_t computed[] = { 8, 3, 4, 5, 14, -1 }; /* f16 f32 i32 u8 s8 */

/* Whether an input of that type can be valid, too. */
static bool may_be(const struct signature *s, uint32_t at, int32_t type)
{
    bool filter = IS("CONV_2D") || IS("DEPTHWISE_CONV_2D") || IS("GROUPED_CONV_2D") ||
                  IS("TRANSPOSE_CONV_2D");

    if (IS("LSH_PROJECTION") && at == 1)
        return true;
    if (IS("RANK") && at == 0)
        return true;
    if ((IS("CAST") || IS("ARGMAX") || IS("ARGMIN")) && at == 0)
        return is_one_of(type, computed);
    if ((IS("QUANTIZE") || IS("RANDOM_MULTINOMIAL")) && at == 0)
        return ONE_OF(type, 3, 8);
    if (IS("DEQUANTIZE") && at == 0)
        return ONE_OF(type, 5, 11, 13, 14);
    if (filter && at == 1)
        return ONE_OF(type, 5, 11, 14);
    if (IS("AXIS_ALIGNED_BBOX_TRANSFORM") && at == 1)
        return ONE_OF(type, 5, 14);
    /* implicit padding with a layout, or explicit padding without */
    if ((IS("CONV_2D") && s->n_in == 10 && at == 7) ||
        (IS("DEPTHWISE_CONV_2D") && s->n_in == 11 && at == 8))
        return ONE_OF(type, 1, 6);
    return false;
}

static bool output_may_be(const struct signature *s, uint32_t at, int32_t type)
{
    if (IS("DEQUANTIZE"))
        return ONE_OF(type, 3, 8);
    if (IS("QUANTIZE"))
        return ONE_OF(type, 5, 14);
    return IS("CAST") && at == 0 && is_one_of(type, computed);
}

/* ---- */

static void expect(const struct signature *s, bool valid, const char *change, uint32_t at,
                   int32_t to)
{
    int result = try(s);

    if (result != (valid ? OK : BD))
        ck_abort_msg("%s, first input %d, %u inputs, %u outputs, %s %u %d: %d", s->op->name,
                     s->in[0].type, s->n_in, s->n_out, change, at, to, result);
}

static void miss_each(const struct signature *s)
{
    for (uint32_t i = 0; i < s->n_in; i++) {
        struct signature less = *s;
        less.n_in--;
        memmove(&less.in[i], &s->in[i + 1], (s->n_in - i - 1) * sizeof *s->in);
        if (less.n_in > 0)
            expect(&less, may_miss(s, i), "without input", i, 0);
    }
}

/* Copies of the first operand after the last one.  in, out: numbers that there may be. */
static void append(const struct signature *s, const char *out)
{
    struct signature more = *s;

    for (uint32_t i = 0; i < (IS("LSTM") ? 3 : 5); i++) {
        more.in[more.n_in++] = s->in[0];
        expect(&more, false, "one more input", i, 0);
    }
    more = *s;
    for (uint32_t i = 0; i < 6 && !IS("SPLIT"); i++) {
        more.out[more.n_out++] = s->out[0];
        expect(&more, lists(out, more.n_out), "one more output", i, 0);
    }
}

static ANeuralNetworksOperandType changed(ANeuralNetworksOperandType from, int32_t type)
{
    bool tensor = type_make(type, 0, NULL).type >= 3 && !ONE_OF(type, 6, 10, 15);

    if (!tensor)
        return SCALAR(type);
    return type_make(type, from.dimensionCount ? from.dimensionCount : 1, twos);
}

static void change_each(const struct signature *s)
{
    for (uint32_t i = 0; i < s->n_in + s->n_out; i++) {
        bool is_in = i < s->n_in;
        uint32_t at = is_in ? i : i - s->n_in;
        for (int32_t type = 0; type < 16; type++) {
            struct signature other = *s;
            ANeuralNetworksOperandType *t = is_in ? &other.in[at] : &other.out[at];
            if (t->type == type || (is_in ? may_be(s, at, type) : output_may_be(s, at, type)))
                continue;
            *t = changed(*t, type);
            expect(&other, false, is_in ? "type of input" : "type of output", at, type);
        }
    }
}

static void miss_output(const struct signature *s, const char *out)
{
    struct signature less = *s;

    less.n_out--;
    if (less.n_out > 0)
        expect(&less, lists(out, less.n_out), "without the last output", less.n_out, 0);
}

/* The call of a form and row, complete and without what can be left off at its end. */
static void check_row(const struct op *op, const struct form *f, const struct typing *t,
                      const char *in, const char *out)
{
    uint32_t least = 0;

    while ((int) least < op->n_out && !op->out[least].optional)
        least++;
    struct signature all = signature_of(op, f, t, least), *s = &all;
    for (;;) {
        if (!lists(in, s->n_in) || !lists(out, s->n_out))
            ck_abort_msg("%s: %u inputs, %u outputs", op->name, s->n_in, s->n_out);
        expect(s, true, "unchanged", 0, 0);
        miss_each(s);
        miss_output(s, out);
        append(s, out);
        change_each(s);
        if (IS("LSTM") && s->n_in == 27)
            s->n_in = 23;
        else if (may_miss(s, s->n_in - 1))
            s->n_in--;
        else
            break;
    }
}

static void setup(void)
{
    ANeuralNetworksModel_free(model_new());
    log_set_sink(NULL, NULL); /* thousands of rejected operations */
}

START_TEST(signatures)
{
    const struct op *op = op_by_name(arities[_i].name);

    ck_assert_msg(op, "%s", arities[_i].name);
    for (int f = 0; f < op->n_forms; f++)
        for (int t = 0; t < op->n_typings; t++)
            check_row(op, &op->forms[f], &op->typings[t], arities[_i].in, arities[_i].out);
}
END_TEST

START_TEST(has_all_operations)
{
    int n = 0;

    for (int i = 0; i < op_table_n; i++)
        n += op_table[i]->control_kind == CONTROL_NONE && op_table[i]->code < 10000;
    ck_assert_int_eq(n, sizeof arities / sizeof *arities);
}
END_TEST

/* ---- ranks */

/* Ranks of an input that NNAPI's runtime accepts when an operation is added; the other operands
 * keep theirs. */
static const struct {
    const char *op;
    uint32_t input, least, most;
} ranks[] = {
    { "ADD", 0, 1, 4 },
    { "ADD", 1, 1, 4 },
    { "SUB", 0, 1, 4 },
    { "SUB", 1, 1, 4 },
    { "MUL", 0, 1, 4 },
    { "MUL", 1, 1, 4 },
    { "DIV", 0, 1, 4 },
    { "DIV", 1, 1, 4 },
    { "FLOOR", 0, 1, 4 },
    { "LOGISTIC", 0, 1, 4 },
    { "RELU", 0, 1, 4 },
    { "RELU1", 0, 1, 4 },
    { "RELU6", 0, 1, 4 },
    { "TANH", 0, 1, 4 },
    { "DEQUANTIZE", 0, 1, 4 },
    { "RESHAPE", 0, 1, 4 },
    { "MEAN", 0, 1, 4 },
    { "PAD", 0, 1, 4 },
    { "PAD_V2", 0, 1, 4 },
    { "SOFTMAX", 0, 1, 4 },
    { "TRANSPOSE", 0, 1, 4 },
    { "SQUEEZE", 0, 1, 4 },
    { "CONV_2D", 1, 4, 4 },
    { "CONV_2D", 0, 4, 4 },
    { "FULLY_CONNECTED", 0, 2, 4 },
    { "FULLY_CONNECTED", 1, 2, 2 },
    { "FULLY_CONNECTED", 2, 1, 1 },
    { "CONCATENATION", 0, 1, 4 },
    { "CONCATENATION", 1, 1, 4 },
    { "STRIDED_SLICE", 0, 1, 4 },
    { "CHANNEL_SHUFFLE", 0, 1, 4 },
    { "L2_NORMALIZATION", 0, 1, 4 },
    { "LOCAL_RESPONSE_NORMALIZATION", 0, 1, 4 },
    { "REDUCE_PROD", 0, 1, 4 },
    { "REDUCE_SUM", 0, 1, 4 },
    { "REDUCE_MAX", 0, 1, 4 },
    { "REDUCE_MIN", 0, 1, 4 },
    { "REDUCE_ANY", 0, 1, 4 },
    { "REDUCE_ALL", 0, 1, 4 },
};

START_TEST(known_ranks)
{
    const struct op *op = op_by_name(ranks[_i].op);
    struct signature s = signature_of(op, op->forms, op->typings, 1);

    for (uint32_t r = 1; r <= 6; r++) {
        s.in[ranks[_i].input] = type_make(s.in[ranks[_i].input].type, r, twos);
        expect(&s, r >= ranks[_i].least && r <= ranks[_i].most, "rank of input", ranks[_i].input,
               (int32_t) r);
    }
    s.in[ranks[_i].input] = SCALAR(s.in[ranks[_i].input].type); /* unknown */
    expect(&s, true, "unknown rank of input", ranks[_i].input, 0);
}
END_TEST

/* Operands that contradict each other, and that the runtime accepts nevertheless. */
START_TEST(accepts_contradictions)
{
    const struct op *op = op_by_name("TANH");
    struct signature s = { op, 1, 1, { TENSOR(U8, 2) }, { TENSOR(U8, 3, 3) } };

    expect(&s, true, "scale 1/256", 0, 0);
    s = (struct signature){
        op_by_name("PAD"), 2, 1, { TENSOR(F32, 2, 2), TENSOR(I32, 4) }, { TENSOR(F32, 7, 1) }
    };
    expect(&s, true, "paddings of rank 1", 0, 0);
    s = (struct signature){ op_by_name("SPACE_TO_BATCH_ND"),
                            3,
                            1,
                            { TENSOR(F32, 2, 2, 2, 2), TENSOR(I32, 2), TENSOR(I32, 2) },
                            { TENSOR(F32, 2, 2, 2, 2) } };
    expect(&s, true, "paddings of rank 1", 0, 0);
    s = (struct signature){
        op_by_name("ADD"), 3, 1, { TENSOR(F32, 2), TENSOR(F32, 3), SCALAR(1) }, { TENSOR(F32, 9) }
    };
    expect(&s, true, "shapes that do not broadcast", 0, 0);
}
END_TEST

START_TEST(product_scale)
{
    struct signature s = {
        op_by_name("MUL"), 3, 1, { TENSOR(U8, 2), TENSOR(U8, 2), SCALAR(1) }, { TENSOR(U8, 2) }
    };

    s.in[0].scale = s.in[1].scale = 1;
    s.out[0].scale = 0.5f;
    expect(&s, false, "scale of the output", 0, 0);
    s.out[0].scale = 1.5f;
    expect(&s, true, "scale of the output", 0, 0);
}
END_TEST

/* Scales may come later. */
START_TEST(missing_scales)
{
    ANeuralNetworksModel *m = model_new();
    uint32_t x = add(m, TENSOR(PC8, 2, 2)), y = add(m, TENSOR(F32, 2, 2));

    ck_assert_int_eq(operate(m, op_by_name("DEQUANTIZE")->code, LIST(x), LIST(y)), OK);
    ck_assert_int_eq(identify(m, LIST(x), LIST(y)), OK);
    ck_assert_int_eq(ANeuralNetworksModel_finish(m), BD);
    ANeuralNetworksModel_free(m);
}
END_TEST

Suite *model_signatures_suite(void)
{
    Suite *s = suite_create("model_signatures");
    TCase *c = tcase_create("signatures");

    tcase_add_checked_fixture(c, setup, NULL);
    tcase_add_loop_test(c, signatures, 0, sizeof arities / sizeof *arities);
    tcase_add_test(c, has_all_operations);
    tcase_add_loop_test(c, known_ranks, 0, sizeof ranks / sizeof *ranks);
    tcase_add_test(c, accepts_contradictions);
    tcase_add_test(c, product_scale);
    tcase_add_test(c, missing_scales);
    suite_add_tcase(s, c);
    return s;
}
