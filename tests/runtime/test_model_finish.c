/* What finish makes of a model, and which models it rejects. */
#include <string.h>

#include "golden/base/logging.h"
#include "golden/model/op.h"
#include "runtime/memory/runtime_memory.h"
#include "runtime/model/model_builder.h"
#include "tests/runtime/small_models.h"
#include "tests/support/check_main.h"

static ANeuralNetworksModel *m;

static void setup(void)
{
    m = model_new();
    log_set_sink(NULL, NULL);
}

static void teardown(void)
{
    ANeuralNetworksModel_free(m);
}

static uint32_t f32(void)
{
    return add(m, TENSOR(F32, 2));
}

static int relu(uint32_t x, uint32_t y)
{
    return operate(m, ANEURALNETWORKS_RELU, LIST(x), LIST(y));
}

static int add_op(uint32_t a, uint32_t b, uint32_t y)
{
    uint32_t none = add_int(m, 0);

    return operate(m, ANEURALNETWORKS_ADD, LIST(a, b, none), LIST(y));
}

static int finish(void)
{
    return ANeuralNetworksModel_finish(m);
}

/* ---- what is rejected */

START_TEST(empty)
{
    ck_assert_int_eq(finish(), BD);
    ck_assert_int_eq(finish(), BS);
    ck_assert_int_eq(relu(0, 1), BS);
    ck_assert_int_eq(m->state, MODEL_INVALID);
}
END_TEST

START_TEST(no_operations)
{
    uint32_t x = f32();

    ck_assert_int_eq(identify(m, LIST(x), 0, &x), OK);
    ck_assert_int_eq(finish(), BD);
}
END_TEST

START_TEST(without_inputs_or_outputs)
{
    uint32_t x = f32(), y = f32();
    const float two[] = { 1, 2 };

    ck_assert_int_eq(ANeuralNetworksModel_setOperandValue(m, (int32_t) x, two, 8), OK);
    ck_assert_int_eq(relu(x, y), OK);
    ck_assert_int_eq(finish(), OK);
}
END_TEST

START_TEST(unwritten)
{
    uint32_t x = f32(), y = f32(), unread = f32();

    (void) unread;
    ck_assert_int_eq(relu(x, y), OK);
    ck_assert_int_eq(identify(m, LIST(x), LIST(y)), OK);
    ck_assert_int_eq(finish(), BD);
}
END_TEST

START_TEST(reads_unwritten)
{
    uint32_t x = f32(), y = f32(), z = f32();

    ck_assert_int_eq(add_op(x, z, y), OK);
    ck_assert_int_eq(identify(m, LIST(x), LIST(y)), OK);
    ck_assert_int_eq(finish(), BD);
}
END_TEST

START_TEST(two_writers)
{
    uint32_t x = f32(), y = f32();

    ck_assert_int_eq(relu(x, y), OK);
    ck_assert_int_eq(relu(x, y), OK);
    ck_assert_int_eq(identify(m, LIST(x), LIST(y)), OK);
    ck_assert_int_eq(finish(), BD);
}
END_TEST

START_TEST(writes_input)
{
    uint32_t x = f32(), y = f32();

    ck_assert_int_eq(relu(x, y), OK);
    ck_assert_int_eq(relu(y, x), OK);
    ck_assert_int_eq(identify(m, LIST(x), LIST(y)), OK);
    ck_assert_int_eq(finish(), BD);
}
END_TEST

START_TEST(writes_constant)
{
    uint32_t x = f32(), y = f32();
    const float two[] = { 1, 2 };

    ck_assert_int_eq(relu(x, y), OK);
    ck_assert_int_eq(ANeuralNetworksModel_setOperandValue(m, (int32_t) y, two, 8), OK);
    ck_assert_int_eq(identify(m, LIST(x), 0, &x), OK);
    ck_assert_int_eq(finish(), BD);
}
END_TEST

START_TEST(cycle)
{
    uint32_t x = f32(), y = f32(), z = f32();

    ck_assert_int_eq(add_op(x, z, y), OK);
    ck_assert_int_eq(relu(y, z), OK);
    ck_assert_int_eq(identify(m, LIST(x), LIST(y)), OK);
    ck_assert_int_eq(finish(), BD);
}
END_TEST

START_TEST(reads_its_output)
{
    uint32_t x = f32(), y = f32();

    ck_assert_int_eq(add_op(x, y, y), OK);
    ck_assert_int_eq(identify(m, LIST(x), LIST(y)), OK);
    ck_assert_int_eq(finish(), BD);
}
END_TEST

static int finish_with_bias(float scale, int32_t zero)
{
    ANeuralNetworksOperandType t = TENSOR(I32, 2);

    t.scale = scale;
    t.zeroPoint = zero;
    uint32_t x = add(m, t), y = add(m, TENSOR(I32, 2));
    ck_assert_int_eq(operate(m, ANEURALNETWORKS_ABS, LIST(x), LIST(y)), OK);
    ck_assert_int_eq(identify(m, LIST(x), LIST(y)), OK);
    return finish();
}

START_TEST(scale_of_int32)
{
    ck_assert_int_eq(finish_with_bias(0.5f, 0), OK);
}
END_TEST

START_TEST(negative_scale_of_int32)
{
    ck_assert_int_eq(finish_with_bias(-0.5f, 0), BD);
}
END_TEST

START_TEST(zero_point_of_int32)
{
    ck_assert_int_eq(finish_with_bias(0.5f, 1), BD);
}
END_TEST

/* Values, and quantisation of operands together, are for drivers to check. */
START_TEST(wrong_values)
{
    uint32_t x = f32(), y = f32(), fuse = add_int(m, 999);
    uint32_t q = add(m, TENSOR(U8, 2)), r = add(m, TENSOR(U8, 2));

    ck_assert_int_eq(operate(m, ANEURALNETWORKS_ADD, LIST(x, x, fuse), LIST(y)), OK);
    ck_assert_int_eq(operate(m, ANEURALNETWORKS_TANH, LIST(q), LIST(r)), OK); /* scale 1/256 */
    ck_assert_int_eq(identify(m, LIST(x, q), LIST(y, r)), OK);
    ck_assert_int_eq(finish(), OK);
}
END_TEST

START_TEST(omitted_input)
{
    uint32_t x = f32(), none = f32(), y = f32();

    ck_assert_int_eq(add_op(x, none, y), OK);
    ck_assert_int_eq(ANeuralNetworksModel_setOperandValue(m, (int32_t) none, NULL, 0), OK);
    ck_assert_int_eq(identify(m, LIST(x), LIST(y)), OK);
    ck_assert_int_eq(finish(), OK);
}
END_TEST

START_TEST(oem)
{
    uint32_t x = add(m, SCALAR(10000)), y = add(m, TENSOR(10001, 4));

    ck_assert_int_eq(operate(m, 10000, LIST(x), LIST(y)), OK);
    ck_assert_int_eq(identify(m, LIST(x), LIST(y)), OK);
    ck_assert_int_eq(finish(), OK);
}
END_TEST

START_TEST(extension_operation)
{
    uint32_t x = f32(), y = f32();
    int32_t code;

    ck_assert_int_eq(
        ANeuralNetworksModel_getExtensionOperationType(m, "com.example.none", 5, &code), OK);
    ck_assert_int_eq(operate(m, code, LIST(x, x), LIST(y)), OK);
    ck_assert_int_eq(identify(m, LIST(x), LIST(y)), OK);
    ck_assert_int_eq(finish(), OK);
    ck_assert_int_eq(m->model.n_extensions, 1);
    ck_assert_str_eq(m->model.extension[0].name, "com.example.none");
    ck_assert_int_eq(m->model.extension[0].prefix, code >> 16);
    ck_assert_int_eq(m->level, L3);
}
END_TEST

/* Several extensions, each in several operations: each is named once, prefixes ascending. */
START_TEST(extensions_of_many_operations)
{
    static const char *const names[] = { "com.example.c", "com.example.a", "com.example.b" };
    int32_t code[3];
    uint32_t x = f32(), y = x;

    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(ANeuralNetworksModel_getExtensionOperationType(m, names[i], 1, &code[i]),
                         OK);
    for (int i = 0; i < 6; i++) {
        uint32_t from = y;
        y = f32();
        ck_assert_int_eq(operate(m, code[(5 - i) % 3], LIST(from), LIST(y)), OK);
    }
    ck_assert_int_eq(identify(m, LIST(x), LIST(y)), OK);
    ck_assert_int_eq(finish(), OK);
    ck_assert_int_eq(m->model.n_extensions, 3);
    for (int i = 0; i < 3; i++) {
        ck_assert_str_eq(m->model.extension[i].name, names[i]);
        ck_assert_int_eq(m->model.extension[i].prefix, code[i] >> 16);
    }
}
END_TEST

/* ---- values */

START_TEST(gathers_values)
{
    float big[64];
    uint32_t a = add(m, TENSOR(F32, 64)), b = add(m, TENSOR(F32, 64)), c = add(m, TENSOR(F32, 64)),
             small = add_int(m, 0), x = add(m, TENSOR(F32, 64)), y = add(m, TENSOR(F32, 64)),
             z = add(m, TENSOR(F32, 64));
    ANeuralNetworksMemory *memory;
    uint8_t *address;

    for (int i = 0; i < 64; i++)
        big[i] = (float) i;
    ck_assert_int_eq(memory_of_size(1024, &memory), OK);
    ck_assert_int_eq(ANeuralNetworksModel_setOperandValue(m, (int32_t) a, big, 256), OK);
    ck_assert_int_eq(ANeuralNetworksModel_setOperandValueFromMemory(m, (int32_t) b, memory, 0, 256),
                     OK);
    ck_assert_int_eq(
        ANeuralNetworksModel_setOperandValueFromMemory(m, (int32_t) c, memory, 512, 256), OK);
    ck_assert_int_eq(operate(m, ANEURALNETWORKS_ADD, LIST(a, b, small), LIST(x)), OK);
    ck_assert_int_eq(operate(m, ANEURALNETWORKS_ADD, LIST(x, c, small), LIST(y)), OK);
    ck_assert_int_eq(operate(m, ANEURALNETWORKS_RELU, LIST(y), LIST(z)), OK);
    ck_assert_int_eq(identify(m, 0, &x, LIST(z)), OK);
    ck_assert_int_eq(finish(), OK);
    memset(big, 0, sizeof big); /* it has been copied */
    const struct operand *o = m->model.graph[0].operand;
    ck_assert_int_eq(m->model.n_pools, 2);
    ck_assert_int_eq(o[b].pool, o[c].pool);
    ck_assert_int_ne(o[a].pool, o[b].pool);
    ck_assert(m->pool[o[b].pool] == memory);
    ck_assert_int_eq(memory_address(memory, &address), OK);
    ck_assert((uint8_t *) o[c].tensor.data == address + 512);
    ck_assert_float_eq(((const float *) o[a].tensor.data)[63], 63);
    ck_assert_int_eq(o[small].life, LIFE_CONSTANT_COPY);
    ck_assert_int_eq(o[x].consumers, 1);
    memory_free(memory);
}
END_TEST

/* ---- order */

START_TEST(sorts)
{
    /*  x -> 0 -> a -> 2 -> c ; x -> 1 -> b -> 3 -> d, added as 2, 0, 3, 1 */
    uint32_t x = f32(), a = f32(), b = f32(), c = f32(), d = f32();
    const uint32_t expected[] = { 3, 2, 1, 0 };

    ck_assert_int_eq(relu(a, c), OK);
    ck_assert_int_eq(relu(x, a), OK);
    ck_assert_int_eq(relu(b, d), OK);
    ck_assert_int_eq(relu(x, b), OK);
    ck_assert_int_eq(identify(m, LIST(x), LIST(c, d)), OK);
    ck_assert_int_eq(finish(), OK);
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(m->order[i], expected[i]);
    ck_assert_int_eq(m->model.graph[0].operation[0].out[0], b);
}
END_TEST

/* ---- the log */

static int n_dumped;

static void count_lines(enum log_level level, const char *tag, const char *text, void *user)
{
    (void) user;
    n_dumped += level == LOG_INFO && strcmp(tag, "GraphDump") == 0 && strstr(text, "RELU");
}

START_TEST(dumps_the_graph)
{
    uint32_t x = f32(), y = f32();

    ck_assert_int_eq(vlog_set("model", NULL), 0);
    log_set_sink(count_lines, NULL);
    ck_assert_int_eq(relu(x, y), OK);
    ck_assert_int_eq(identify(m, LIST(x), LIST(y)), OK);
    ck_assert_int_eq(finish(), OK);
    log_set_sink(NULL, NULL);
    ck_assert_int_eq(n_dumped, 1);
}
END_TEST

/* ---- levels */

START_TEST(levels)
{
    uint32_t x = f32(), y = f32();

    ck_assert_int_eq(relu(x, y), OK);
    ck_assert_int_eq(ANeuralNetworksModel_relaxComputationFloat32toFloat16(m, true), OK);
    ck_assert_int_eq(identify(m, LIST(x), LIST(y)), OK);
    ck_assert_int_eq(finish(), OK);
    ck_assert_int_eq(m->level, L2);
    ck_assert(m->model.relaxed);
}
END_TEST

/* ---- the hash */

static void hash_of(float scale, float value, bool chained, uint8_t ret[32])
{
    ANeuralNetworksModel *n = model_new();
    ANeuralNetworksOperandType t = TENSOR(U8, 2);
    const float two[] = { value, value };

    t.scale = scale;
    uint32_t x = add(n, t), y = add(n, t), z = add(n, t), c = add(n, TENSOR(F32, 2)),
             d = add(n, TENSOR(F32, 2));
    ck_assert_int_eq(ANeuralNetworksModel_setOperandValue(n, (int32_t) c, two, 8), OK);
    ck_assert_int_eq(operate(n, ANEURALNETWORKS_RELU, LIST(c), LIST(d)), OK);
    ck_assert_int_eq(operate(n, ANEURALNETWORKS_RELU, LIST(x), LIST(y)), OK);
    ck_assert_int_eq(operate(n, ANEURALNETWORKS_RELU, 1, chained ? &y : &x, LIST(z)), OK);
    ck_assert_int_eq(identify(n, LIST(x), LIST(y, z)), OK);
    ck_assert_int_eq(ANeuralNetworksModel_finish(n), OK);
    memcpy(ret, model_hash(n), 32);
    ANeuralNetworksModel_free(n);
}

START_TEST(hashes_structure)
{
    uint8_t a[32], b[32];

    hash_of(1, 1, true, a);
    hash_of(1, 2, true, b);
    ck_assert_mem_eq(a, b, 32);
    hash_of(2, 1, true, b);
    ck_assert_mem_ne(a, b, 32);
    hash_of(1, 1, false, b);
    ck_assert_mem_ne(a, b, 32);
}
END_TEST

/* ---- default arguments */

/* An operation on f32[1,2,2,2] tensors (T), weights for it (W, D, B), and constants: i0, i1, i-1 an
 * INT32, f0, f1 a BOOL, s1 FLOAT32 1.0, v an INT32[1] input, x an INT32 that is a model input; the
 * number of inputs that are left. */
static const struct {
    const char *op, *in;
    uint32_t left;
} defaults[] = {
    { "AVERAGE_POOL_2D", "T i0 i0 i0 i0 i1 i1 i1 i1 i0 f0", 10 },
    { "AVERAGE_POOL_2D", "T i0 i0 i0 i0 i1 i1 i1 i1 i0 f1", 11 },
    { "AVERAGE_POOL_2D", "T i1 i1 i1 i1 i1 i0 f0", 7 },
    { "L2_POOL_2D", "T i1 i1 i1 i1 i1 i0 f0", 7 },
    { "MAX_POOL_2D", "T i1 i1 i1 i1 i1 i0 f0", 7 },
    { "MAX_POOL_2D", "T i1 i1 i1 i1 i1 i0 f1", 8 },
    { "CONV_2D", "T W B i0 i0 i0 i0 i1 i1 i0 f0", 10 },
    { "CONV_2D", "T W B i0 i0 i0 i0 i1 i1 i0 f0 i1 i1", 10 },
    { "CONV_2D", "T W B i0 i0 i0 i0 i1 i1 i0 f1 i1 i1", 11 },
    { "CONV_2D", "T W B i0 i0 i0 i0 i1 i1 i0 f0 i1 i0", 13 },
    { "CONV_2D", "T W B i0 i0 i0 i0 i1 i1 i0 f0 i0 i1", 13 },
    { "CONV_2D", "T W B i0 i0 i0 i0 i1 i1 i0 f0 i1 x", 13 },
    { "CONV_2D", "T W B i1 i1 i1 i0 f0", 7 },
    { "CONV_2D", "T W B i1 i1 i1 i0 f0 i1 i1", 7 },
    { "CONV_2D", "T W B i1 i1 i1 i0 f1 i1 i1", 8 },
    { "CONV_2D", "T W B i1 i1 i1 i0 f0 i0 i1", 10 },
    { "DEPTHWISE_CONV_2D", "T D B i0 i0 i0 i0 i1 i1 i1 i0 f0", 11 },
    { "DEPTHWISE_CONV_2D", "T D B i0 i0 i0 i0 i1 i1 i1 i0 f0 i1 i1", 11 },
    { "DEPTHWISE_CONV_2D", "T D B i0 i0 i0 i0 i1 i1 i1 i0 f1 i1 i1", 12 },
    { "DEPTHWISE_CONV_2D", "T D B i1 i1 i1 i1 i0 f0", 8 },
    { "DEPTHWISE_CONV_2D", "T D B i1 i1 i1 i1 i0 f0 i1 i1", 8 },
    { "DEPTHWISE_CONV_2D", "T D B i1 i1 i1 i1 i0 f0 i0 i1", 11 },
    { "DEPTH_TO_SPACE", "T i1 f0", 2 },
    { "DEPTH_TO_SPACE", "T i1 f1", 3 },
    { "SPACE_TO_DEPTH", "T i1 f0", 2 },
    { "BATCH_TO_SPACE_ND", "T V f0", 2 },
    { "BATCH_TO_SPACE_ND", "T V f1", 3 },
    { "SPACE_TO_BATCH_ND", "T V P f0", 3 },
    { "L2_NORMALIZATION", "T i-1", 1 },
    { "L2_NORMALIZATION", "T i1", 2 },
    { "L2_NORMALIZATION", "T x", 2 },
    { "LOCAL_RESPONSE_NORMALIZATION", "T i1 s1 s1 s1 i-1", 5 },
    { "LOCAL_RESPONSE_NORMALIZATION", "T i1 s1 s1 s1 i1", 6 },
    { "SOFTMAX", "T s1 i-1", 2 },
    { "SOFTMAX", "T s1 i1", 3 },
    { "RESIZE_BILINEAR", "T i1 i1 f0", 3 },
    { "RESIZE_BILINEAR", "T i1 i1 f1", 4 },
    { "RESIZE_BILINEAR", "T i1 i1 f0 f0", 3 },
    { "RESIZE_BILINEAR", "T i1 i1 f0 f0 f0", 3 },
    { "RESIZE_BILINEAR", "T s1 s1 f1 f0 f0", 4 },
    { "RESIZE_BILINEAR", "T s1 s1 f0 f0 f1", 6 },
    { "RESIZE_BILINEAR", "T s1 s1 f0 f1 f0", 5 },
    { "RESIZE_NEAREST_NEIGHBOR", "T i1 i1 f0 f0 f0", 4 },
    { "RESIZE_NEAREST_NEIGHBOR", "T i1 i1 f0 f0 f1", 6 },
    { "RESIZE_NEAREST_NEIGHBOR", "T i1 i1 f0 f1 f0", 5 },
    /* others have none */
    { "ADD", "T T i0", 3 },
    { "MEAN", "T V i0", 3 },
    { "CHANNEL_SHUFFLE", "T i1 i0", 3 },
    { "RESHAPE", "T V", 2 },
};

static uint32_t operand(const char *text, uint32_t *inputs, uint32_t *n_inputs)
{
    float one = 1;
    uint32_t i;

    switch (text[0]) {
    case 'i': return add_int(m, text[1] == '-' ? -1 : text[1] - '0');
    case 'f': return add_bool(m, text[1] == '1');
    case 's':
        i = add(m, SCALAR(ANEURALNETWORKS_FLOAT32));
        ck_assert_int_eq(ANeuralNetworksModel_setOperandValue(m, (int32_t) i, &one, 4), OK);
        return i;
    case 'T': i = add(m, TENSOR(F32, 1, 2, 2, 2)); break;
    case 'W': i = add(m, TENSOR(F32, 2, 1, 1, 2)); break;
    case 'D': i = add(m, TENSOR(F32, 1, 1, 1, 2)); break;
    case 'B': i = add(m, TENSOR(F32, 2)); break;
    case 'V': i = add(m, TENSOR(I32, 2)); break;
    case 'P': i = add(m, TENSOR(I32, 2, 2)); break;
    default: i = add(m, SCALAR(ANEURALNETWORKS_INT32)); break;
    }
    inputs[(*n_inputs)++] = i;
    return i;
}

START_TEST(leaves_off_defaults)
{
    uint32_t in[16], inputs[16], n_in = 0, n_inputs = 0, y;
    const struct op *op = op_by_name(defaults[_i].op);

    for (const char *at = defaults[_i].in; *at; at += strcspn(at, " "), at += *at == ' ')
        in[n_in++] = operand(at, inputs, &n_inputs);
    y = add(m, SCALAR(F32)); /* of unknown rank */
    ck_assert_int_eq(operate(m, op->code, n_in, in, LIST(y)), OK);
    ck_assert_int_eq(identify(m, n_inputs, inputs, LIST(y)), OK);
    ck_assert_int_eq(finish(), OK);
    ck_assert_msg(m->model.graph[0].operation[0].n_in == defaults[_i].left, "%s %s: %u",
                  defaults[_i].op, defaults[_i].in, m->model.graph[0].operation[0].n_in);
}
END_TEST

static void hash_of_pool(bool is_full, uint8_t ret[32])
{
    ANeuralNetworksModel *n = model_new();
    uint32_t x = add(n, TENSOR(F32, 1, 2, 2, 2)), y = add(n, SCALAR(F32));
    uint32_t one = add_int(n, 1), no_activation = add_int(n, 0), nhwc = add_bool(n, false);
    const uint32_t in[] = { x, one, one, one, one, one, no_activation, nhwc };

    ck_assert_int_eq(operate(n, ANEURALNETWORKS_MAX_POOL_2D, is_full ? 8 : 7, in, LIST(y)), OK);
    ck_assert_int_eq(identify(n, LIST(x), LIST(y)), OK);
    ck_assert_int_eq(ANeuralNetworksModel_finish(n), OK);
    ck_assert_int_eq(n->model.graph[0].operation[0].n_in, 7);
    memcpy(ret, model_hash(n), 32);
    ANeuralNetworksModel_free(n);
}

/* The hash is of the model as the client has built it. */
START_TEST(hashes_defaults)
{
    uint8_t with[32], again[32], without[32];

    hash_of_pool(true, with);
    hash_of_pool(true, again);
    hash_of_pool(false, without);
    ck_assert_mem_eq(with, again, 32);
    ck_assert_mem_ne(with, without, 32);
}
END_TEST

/* The level is that of the shorter operation. */
START_TEST(lowers_the_level)
{
    uint32_t x = add(m, TENSOR(F32, 1, 2, 2, 2)), axis = add_int(m, -1),
             y = add(m, TENSOR(F32, 1, 2, 2, 2));

    ck_assert_int_eq(operate(m, ANEURALNETWORKS_L2_NORMALIZATION, LIST(x, axis), LIST(y)), OK);
    ck_assert_int_eq(identify(m, LIST(x), LIST(y)), OK);
    ck_assert_int_eq(finish(), OK);
    ck_assert_int_eq(m->level, L1);
}
END_TEST

/* ---- control flow */

static int add_if(const ANeuralNetworksModel *then, const ANeuralNetworksModel *other,
                  ANeuralNetworksOperandType condition, ANeuralNetworksOperandType data)
{
    uint32_t c = add(m, condition), t = add_model(m, then), e = add_model(m, other),
             x = add(m, data), y = add(m, data);
    int result = operate(m, ANEURALNETWORKS_IF, LIST(c, t, e, x), LIST(y));

    if (result == OK)
        ck_assert_int_eq(identify(m, LIST(c, x), LIST(y)), OK);
    return result;
}

START_TEST(branches)
{
    ANeuralNetworksModel *f = model_relu(TENSOR(F32, 2)), *q = model_relu(TENSOR(U8, 2)),
                         *open = model_relu(SCALAR(F32)), *part = model_relu(TENSOR(F32, 0));

    ck_assert_int_eq(add_if(f, q, TENSOR(B8, 1), TENSOR(F32, 2)), BD);
    ck_assert_int_eq(add_if(f, f, TENSOR(B8, 1), TENSOR(F32, 3)), BD);
    ck_assert_int_eq(add_if(f, f, TENSOR(B8, 1), TENSOR(F32, 2, 1)), BD);
    ck_assert_int_eq(add_if(f, f, TENSOR(B8, 2), TENSOR(F32, 2)), BD);
    ck_assert_int_eq(add_if(f, f, TENSOR(B8, 1, 1), TENSOR(F32, 2)), BD);
    ck_assert_int_eq(add_if(f, f, TENSOR(F32, 1), TENSOR(F32, 2)), BD);
    ck_assert_int_eq(add_if(f, open, SCALAR(B8), TENSOR(F32, 2)), OK);
    ck_assert_int_eq(add_if(part, f, TENSOR(B8, 0), SCALAR(F32)), OK);
    /* a model operand that has no value yet */
    uint32_t c = add(m, TENSOR(B8, 1)), t = add(m, SCALAR(ANEURALNETWORKS_MODEL)),
             x = add(m, TENSOR(F32, 2)), y = add(m, TENSOR(F32, 2)), v = add_model(m, f);
    ck_assert_int_eq(operate(m, ANEURALNETWORKS_IF, LIST(c, t, t, x), LIST(y)), BD);
    /* a model as the value of another type */
    ck_assert_int_eq(ANeuralNetworksModel_setOperandValueFromModel(m, (int32_t) x, f), OK);
    ck_assert_int_eq(operate(m, ANEURALNETWORKS_IF, LIST(c, v, x, x), LIST(y)), BD);
    ck_assert_int_eq(operate(m, ANEURALNETWORKS_IF, LIST(c, v, v), LIST(y)), BD);
    ck_assert_int_eq(operate(m, ANEURALNETWORKS_IF, LIST(c, v, v, y, y), LIST(y)), BD);
    ck_assert_int_eq(operate(m, ANEURALNETWORKS_IF, LIST(c, v, v, y), LIST(y, y)), BD);
    ck_assert_int_eq(operate(m, ANEURALNETWORKS_IF, LIST(c, v), LIST(y)), BD);
    ck_assert_int_eq(operate(m, ANEURALNETWORKS_IF, LIST(c, v, v, y), 0, &y), BD);
    ANeuralNetworksModel_free(m);
    m = model_new();
    ANeuralNetworksModel_free(f);
    ANeuralNetworksModel_free(q);
    ANeuralNetworksModel_free(open);
    ANeuralNetworksModel_free(part);
}
END_TEST

/* body: outputs[0..n_out) = RELU(inputs[i]), n_in inputs. */
static ANeuralNetworksModel *body_of(uint32_t n_in, uint32_t n_out, ANeuralNetworksOperandType type,
                                     ANeuralNetworksOperandType result)
{
    ANeuralNetworksModel *b = model_new();
    uint32_t in[4], out[4];

    for (uint32_t i = 0; i < n_in; i++)
        in[i] = add(b, type);
    for (uint32_t i = 0; i < n_out; i++) {
        out[i] = add(b, result);
        ck_assert_int_eq(operate(b, ANEURALNETWORKS_RELU, LIST(in[i % n_in]), LIST(out[i])), OK);
    }
    ck_assert_int_eq(identify(b, n_in, in, n_out, out), OK);
    ck_assert_int_eq(ANeuralNetworksModel_finish(b), OK);
    return b;
}

static int add_while(ANeuralNetworksModel *condition, ANeuralNetworksModel *body, uint32_t n_in,
                     uint32_t n_out)
{
    uint32_t in[6] = { add_model(m, condition), add_model(m, body) }, out[4];

    for (uint32_t i = 0; i < n_in; i++)
        in[2 + i] = f32();
    for (uint32_t i = 0; i < n_out; i++)
        out[i] = f32();
    int result = operate(m, ANEURALNETWORKS_WHILE, 2 + n_in, in, n_out, out);
    ANeuralNetworksModel_free(m);
    m = model_new();
    ANeuralNetworksModel_free(condition);
    ANeuralNetworksModel_free(body);
    return result;
}

START_TEST(loops)
{
#define T2   TENSOR(F32, 2)
#define LESS model_less(T2, TENSOR(B8, 1))
#define BODY body_of(2, 1, T2, T2)
    ck_assert_int_eq(add_while(LESS, BODY, 2, 1), OK);
    ck_assert_int_eq(add_while(LESS, body_of(2, 2, T2, T2), 2, 1), OK);
    ck_assert_int_eq(add_while(LESS, body_of(2, 2, T2, T2), 2, 2), OK);
    ck_assert_int_eq(add_while(LESS, BODY, 2, 2), BD);
    ck_assert_int_eq(add_while(LESS, BODY, 1, 1), BD);
    ck_assert_int_eq(add_while(LESS, BODY, 3, 1), BD);
    ck_assert_int_eq(add_while(LESS, body_of(3, 1, T2, T2), 3, 1), BD);
    ck_assert_int_eq(add_while(LESS, body_of(2, 3, T2, T2), 2, 1), BD);
    ck_assert_int_eq(add_while(model_less(T2, SCALAR(B8)), BODY, 2, 1), OK);
    ck_assert_int_eq(add_while(model_less(T2, TENSOR(B8, 2)), BODY, 2, 1), BD);
    ck_assert_int_eq(add_while(BODY, BODY, 2, 1), BD);
    ck_assert_int_eq(add_while(model_less(TENSOR(F32, 3), TENSOR(B8, 1)), BODY, 2, 1), BD);
    ck_assert_int_eq(add_while(LESS, body_of(2, 1, TENSOR(U8, 2), TENSOR(U8, 2)), 2, 1), BD);
    /* The state that is no output cannot be an input of the condition. */
    ck_assert_int_eq(add_while(LESS, body_of(2, 1, SCALAR(F32), TENSOR(F32, 3)), 2, 1), BD);
#undef T2
#undef LESS
#undef BODY
}
END_TEST

/* A model within a model within a model, one of them twice. */
START_TEST(gathers_models)
{
    ANeuralNetworksModel *inner = model_relu(TENSOR(F32, 2)), *outer = m, *middle;
    float big[2] = { 1, 2 };

    m = middle = model_new();
    ck_assert_int_eq(add_if(inner, inner, TENSOR(B8, 1), TENSOR(F32, 2)), OK);
    ck_assert_int_eq(finish(), OK);
    ck_assert_int_eq(middle->model.n_graphs, 2);
    ck_assert_int_eq(middle->level, L4);
    m = outer;
    uint32_t c = add(m, TENSOR(B8, 1)), t = add_model(m, middle), e = add_model(m, middle),
             x = f32(), y = f32(), z = f32(), u = add_model(m, inner), k = f32();
    ck_assert_int_eq(ANeuralNetworksModel_setOperandValue(m, (int32_t) k, big, 8), OK);
    ck_assert_int_eq(operate(m, ANEURALNETWORKS_IF, LIST(c, t, e, c, x), LIST(y)), OK);
    ck_assert_int_eq(operate(m, ANEURALNETWORKS_IF, LIST(c, u, u, k), LIST(z)), OK);
    ck_assert_int_eq(identify(m, LIST(c, x), LIST(y, z)), OK);
    ck_assert_int_eq(finish(), OK);
    ck_assert_int_eq(m->model.n_graphs, 3);
    ck_assert_int_eq(m->model.graph[0].operand[t].subgraph, 1);
    ck_assert_int_eq(m->model.graph[0].operand[e].subgraph, 1);
    ck_assert_int_eq(m->model.graph[0].operand[u].subgraph, 2);
    ck_assert_int_eq(m->model.graph[1].operand[1].subgraph, 2);
    ck_assert_int_eq(m->model.graph[2].n_operations, 1);
    ANeuralNetworksModel_free(outer);
    ANeuralNetworksModel_free(middle);
    ANeuralNetworksModel_free(inner);
    m = NULL;
}
END_TEST

START_TEST(control_of_unknown_size)
{
    ANeuralNetworksModel *open = model_relu(SCALAR(F32));

    ck_assert_int_eq(add_if(open, open, TENSOR(B8, 1), TENSOR(F32, 2)), OK);
    ck_assert_int_eq(finish(), OK);
    ck_assert_int_eq((int) m->level, RUNTIME_ONLY);
    ANeuralNetworksModel_free(m);
    ANeuralNetworksModel_free(open);
    m = NULL;
}
END_TEST

Suite *model_finish_suite(void)
{
    Suite *s = suite_create("model_finish");
    TCase *c = tcase_create("finish");

    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, empty);
    tcase_add_test(c, no_operations);
    tcase_add_test(c, without_inputs_or_outputs);
    tcase_add_test(c, unwritten);
    tcase_add_test(c, reads_unwritten);
    tcase_add_test(c, two_writers);
    tcase_add_test(c, writes_input);
    tcase_add_test(c, writes_constant);
    tcase_add_test(c, cycle);
    tcase_add_test(c, reads_its_output);
    tcase_add_test(c, scale_of_int32);
    tcase_add_test(c, negative_scale_of_int32);
    tcase_add_test(c, zero_point_of_int32);
    tcase_add_test(c, wrong_values);
    tcase_add_test(c, omitted_input);
    tcase_add_test(c, oem);
    tcase_add_test(c, extension_operation);
    tcase_add_test(c, extensions_of_many_operations);
    tcase_add_test(c, gathers_values);
    tcase_add_test(c, sorts);
    tcase_add_test(c, dumps_the_graph);
    tcase_add_test(c, levels);
    tcase_add_test(c, hashes_structure);
    tcase_add_test(c, hashes_defaults);
    tcase_add_loop_test(c, leaves_off_defaults, 0, sizeof defaults / sizeof *defaults);
    tcase_add_test(c, lowers_the_level);
    tcase_add_test(c, branches);
    tcase_add_test(c, loops);
    tcase_add_test(c, gathers_models);
    tcase_add_test(c, control_of_unknown_size);
    suite_add_tcase(s, c);
    return s;
}
