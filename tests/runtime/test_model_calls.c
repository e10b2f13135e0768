/* Arguments of the functions for models: which are wrong, and which of several wrong ones decides
 * the result. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden/base/logging.h"
#include "golden/base/trace.h"
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

/* A type that differs from TENSOR(code, 2, 3) or SCALAR(code) in scale and zero point. */
struct type_case {
    int32_t code;
    uint32_t rank;
    float scale;
    int32_t zero;
    int result;
};

static const struct type_case types[] = {
    { -1, 0, 0, 0, BD },
    { 16, 0, 0, 0, BD },
    { 9999, 0, 0, 0, BD },
    { 10002, 0, 0, 0, BD },
    { 99999, 0, 0, 0, BD },
    { 0x7fff0000, 0, 0, 0, BD }, /* a prefix that no extension has */
    /* scalars */
    { ANEURALNETWORKS_FLOAT32, 0, 0, 0, OK },
    { ANEURALNETWORKS_FLOAT32, 1, 0, 0, BD },
    { ANEURALNETWORKS_FLOAT32, 0, 1, 0, BD },
    { ANEURALNETWORKS_FLOAT32, 0, 0, 1, BD },
    { ANEURALNETWORKS_INT32, 0, 0, 0, OK },
    { ANEURALNETWORKS_INT32, 0, 0, 1, BD },
    { ANEURALNETWORKS_UINT32, 0, 0, 0, OK },
    { ANEURALNETWORKS_BOOL, 0, 0, 0, OK },
    { ANEURALNETWORKS_BOOL, 0, 1, 0, BD },
    { ANEURALNETWORKS_FLOAT16, 0, 0, 0, OK },
    { ANEURALNETWORKS_FLOAT16, 2, 0, 0, BD },
    { ANEURALNETWORKS_MODEL, 0, 0, 0, OK },
    { ANEURALNETWORKS_MODEL, 1, 0, 0, BD },
    { ANEURALNETWORKS_MODEL, 0, 0, 1, BD },
    { 10000, 0, 0, 0, OK },
    { 10000, 0, 2, 3, OK },
    { 10000, 1, 0, 0, BD },
    /* quantised tensors */
    { U8, 2, 0.5f, 0, OK },
    { U8, 2, 0.5f, 255, OK },
    { U8, 2, 0.5f, 256, BD },
    { U8, 2, 0.5f, -1, BD },
    { U8, 2, 0, 0, BD },
    { U8, 2, -1, 0, BD },
    { U8, 2, NAN, 0, BD },
    { ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED, 2, 0.5f, -128, OK },
    { ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED, 2, 0.5f, 127, OK },
    { ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED, 2, 0.5f, -129, BD },
    { ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED, 2, 0.5f, 128, BD },
    { ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED, 2, 0, 0, BD },
    { ANEURALNETWORKS_TENSOR_QUANT8_SYMM, 2, 0.5f, 0, OK },
    { ANEURALNETWORKS_TENSOR_QUANT8_SYMM, 2, 0.5f, 1, BD },
    { ANEURALNETWORKS_TENSOR_QUANT8_SYMM, 2, 0, 0, BD },
    { ANEURALNETWORKS_TENSOR_QUANT16_ASYMM, 2, 0.5f, 65535, OK },
    { ANEURALNETWORKS_TENSOR_QUANT16_ASYMM, 2, 0.5f, 65536, BD },
    { ANEURALNETWORKS_TENSOR_QUANT16_ASYMM, 2, 0.5f, -1, BD },
    { ANEURALNETWORKS_TENSOR_QUANT16_ASYMM, 2, 0, 0, BD },
    { ANEURALNETWORKS_TENSOR_QUANT16_SYMM, 2, 0.5f, 0, OK },
    { ANEURALNETWORKS_TENSOR_QUANT16_SYMM, 2, 0.5f, 1, BD },
    { ANEURALNETWORKS_TENSOR_QUANT16_SYMM, 2, 0, 0, BD },
    { PC8, 2, 0, 0, OK },
    { PC8, 2, 0.5f, 0, BD },
    { PC8, 2, 0, 1, BD },
    /* other tensors */
    { I32, 2, 0, 0, OK },
    { I32, 2, 0.5f, 0, OK },
    { I32, 2, -1, 0, OK }, /* BAD_DATA when the model is finished */
    { I32, 2, 0, 1, OK },
    { F32, 2, 0, 0, OK },
    { F32, 0, 0, 0, OK }, /* unknown rank */
    { F32, 2, 0.5f, 0, BD },
    { F32, 2, 0, 1, BD },
    { ANEURALNETWORKS_TENSOR_FLOAT16, 2, 0, 0, OK },
    { ANEURALNETWORKS_TENSOR_FLOAT16, 2, 1, 0, BD },
    { B8, 2, 0, 0, OK },
    { B8, 2, 0, 1, BD },
    { 10001, 2, 0.5f, 7, OK },
};

START_TEST(type_of_operand)
{
    const struct type_case *c = &types[_i];
    const uint32_t dims[] = { 2, 3 };
    const ANeuralNetworksOperandType type = { c->code, c->rank, c->rank ? dims : NULL, c->scale,
                                              c->zero };

    ck_assert_msg(ANeuralNetworksModel_addOperand(m, &type) == c->result,
                  "type %d, rank %u, scale %g, zero point %d", c->code, c->rank, (double) c->scale,
                  c->zero);
}
END_TEST

START_TEST(shape_of_operand)
{
    const uint32_t dims[] = { 2, 3 }, huge[] = { 65536, 65536 }, most[] = { 0xffffffff },
                   some[] = { 0, 65536, 65536 };
    ANeuralNetworksOperandType t = { F32, 0, dims, 0, 0 };

    ck_assert_int_eq(ANeuralNetworksModel_addOperand(m, &t), BD);
    t = (ANeuralNetworksOperandType){ F32, 2, NULL, 0, 0 };
    ck_assert_int_eq(ANeuralNetworksModel_addOperand(m, &t), BD);
    t = (ANeuralNetworksOperandType){ ANEURALNETWORKS_INT32, 0, dims, 0, 0 };
    ck_assert_int_eq(ANeuralNetworksModel_addOperand(m, &t), BD);
    t = (ANeuralNetworksOperandType){ B8, 2, huge, 0, 0 };
    ck_assert_int_eq(ANeuralNetworksModel_addOperand(m, &t), BD);
    t = (ANeuralNetworksOperandType){ B8, 3, some, 0, 0 };
    ck_assert_int_eq(ANeuralNetworksModel_addOperand(m, &t), BD);
    t = (ANeuralNetworksOperandType){ B8, 1, most, 0, 0 };
    ck_assert_int_eq(ANeuralNetworksModel_addOperand(m, &t), OK);
    t = (ANeuralNetworksOperandType){ F32, 1, most, 0, 0 };
    ck_assert_int_eq(ANeuralNetworksModel_addOperand(m, &t), BD);
}
END_TEST

/* Every function rejects NULL before it looks at the state, and the state before the values. */
START_TEST(order_of_checks)
{
    const ANeuralNetworksOperandType bad = { -1, 0, NULL, 0, 0 };
    const ANeuralNetworksSymmPerChannelQuantParams scales = { 0, 0, NULL };
    ANeuralNetworksModel *done = model_relu(TENSOR(F32, 2)), *none = NULL;
    ANeuralNetworksMemory *memory;
    uint32_t list[] = { 99 };
    int32_t code;

    ck_assert_int_eq(memory_of_size(8, &memory), OK);
    ck_assert_int_eq(ANeuralNetworksModel_create(NULL), UN);
    ck_assert_int_eq(ANeuralNetworksModel_addOperand(none, &bad), UN);
    ck_assert_int_eq(ANeuralNetworksModel_addOperand(done, NULL), UN);
    ck_assert_int_eq(ANeuralNetworksModel_addOperand(done, &bad), BS);
    ck_assert_int_eq(ANeuralNetworksModel_setOperandValue(none, 99, "", 1), UN);
    ck_assert_int_eq(ANeuralNetworksModel_setOperandValue(done, 99, NULL, 1), UN);
    ck_assert_int_eq(ANeuralNetworksModel_setOperandValue(done, 99, "", 1), BS);
    ck_assert_int_eq(ANeuralNetworksModel_setOperandValue(m, 99, NULL, 0), BD);
    ck_assert_int_eq(ANeuralNetworksModel_setOperandValue(m, -1, NULL, 0), BD);
    ck_assert_int_eq(ANeuralNetworksModel_setOperandValueFromMemory(none, 99, memory, 0, 1), UN);
    ck_assert_int_eq(ANeuralNetworksModel_setOperandValueFromMemory(done, 99, NULL, 0, 1), UN);
    ck_assert_int_eq(ANeuralNetworksModel_setOperandValueFromMemory(done, 99, memory, 0, 1), BS);
    ck_assert_int_eq(ANeuralNetworksModel_setOperandValueFromMemory(m, -1, memory, 0, 1), BD);
    ck_assert_int_eq(ANeuralNetworksModel_setOperandValueFromModel(none, 99, done), UN);
    ck_assert_int_eq(ANeuralNetworksModel_setOperandValueFromModel(done, 99, NULL), UN);
    ck_assert_int_eq(ANeuralNetworksModel_setOperandValueFromModel(done, 99, done), BS);
    ck_assert_int_eq(ANeuralNetworksModel_setOperandValueFromModel(m, 99, m), BS); /* unfinished */
    ck_assert_int_eq(ANeuralNetworksModel_setOperandValueFromModel(m, 99, done), BD);
    ck_assert_int_eq(ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(none, 99, &scales),
                     UN);
    ck_assert_int_eq(ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(done, 99, NULL), UN);
    ck_assert_int_eq(ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(done, 99, &scales),
                     BS);
    ck_assert_int_eq(ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(m, 99, &scales), BD);
    ck_assert_int_eq(ANeuralNetworksModel_setOperandExtensionData(none, 99, "", 1), UN);
    ck_assert_int_eq(ANeuralNetworksModel_setOperandExtensionData(done, 99, NULL, 1), UN);
    ck_assert_int_eq(ANeuralNetworksModel_setOperandExtensionData(done, 99, "", 1), BS);
    ck_assert_int_eq(ANeuralNetworksModel_setOperandExtensionData(m, 99, "", 1), BD);
    ck_assert_int_eq(operate(none, -1, 1, list, 1, list), UN);
    ck_assert_int_eq(operate(done, -1, 0, NULL, 1, list), UN);
    ck_assert_int_eq(operate(done, -1, 1, list, 0, NULL), UN);
    ck_assert_int_eq(operate(done, -1, 1, list, 1, list), BS);
    ck_assert_int_eq(identify(none, 1, list, 1, list), UN);
    ck_assert_int_eq(identify(done, 0, NULL, 1, list), UN);
    ck_assert_int_eq(identify(done, 1, list, 0, NULL), UN);
    ck_assert_int_eq(identify(done, 1, list, 1, list), BS);
    ck_assert_int_eq(identify(m, 1, list, 0, list), BD);
    ck_assert_int_eq(ANeuralNetworksModel_relaxComputationFloat32toFloat16(none, true), UN);
    ck_assert_int_eq(ANeuralNetworksModel_relaxComputationFloat32toFloat16(done, true), BS);
    ck_assert_int_eq(ANeuralNetworksModel_relaxComputationFloat32toFloat16(m, true), OK);
    ck_assert_int_eq(ANeuralNetworksModel_finish(none), UN);
    ck_assert_int_eq(ANeuralNetworksModel_finish(done), BS);
    ck_assert_int_eq(ANeuralNetworksModel_getExtensionOperandType(none, "a.b", 1, &code), UN);
    ck_assert_int_eq(ANeuralNetworksModel_getExtensionOperandType(done, NULL, 1, &code), UN);
    ck_assert_int_eq(ANeuralNetworksModel_getExtensionOperandType(done, "a.b", 1, NULL), UN);
    ck_assert_int_eq(ANeuralNetworksModel_getExtensionOperationType(none, "a.b", 1, &code), UN);
    ck_assert_int_eq(ANeuralNetworksModel_getExtensionOperationType(done, NULL, 1, &code), UN);
    ck_assert_int_eq(ANeuralNetworksModel_getExtensionOperationType(done, "a.b", 1, NULL), UN);
    ANeuralNetworksModel_free(NULL);
    ANeuralNetworksModel_free(done);
    memory_free(memory);
}
END_TEST

START_TEST(values)
{
    float big[100] = { 0 };
    int32_t x = (int32_t) add(m, TENSOR(F32, 2)), large = (int32_t) add(m, TENSOR(F32, 10, 10)),
            rank = (int32_t) add(m, SCALAR(F32)), partly = (int32_t) add(m, TENSOR(F32, 0, 1)),
            oem = (int32_t) add(m, SCALAR(10000)), flag = (int32_t) add(m, SCALAR(6));

    ck_assert_int_eq(ANeuralNetworksModel_setOperandValue(m, x, big, 8), OK);
    ck_assert_int_eq(m->builder->graph[0].operand[x].life, LIFE_CONSTANT_COPY);
    ck_assert_int_eq(ANeuralNetworksModel_setOperandValue(m, x, big, 0), BD);
    ck_assert_int_eq(ANeuralNetworksModel_setOperandValue(m, x, big, 7), BD);
    ck_assert_int_eq(ANeuralNetworksModel_setOperandValue(m, x, big, 9), BD);
    ck_assert_int_eq(ANeuralNetworksModel_setOperandValue(m, x, big, (size_t) 1 << 32), BD);
    ck_assert_int_eq(m->builder->graph[0].operand[x].life, LIFE_CONSTANT_COPY);
    ck_assert_int_eq(ANeuralNetworksModel_setOperandValue(m, x, NULL, 0), OK);
    ck_assert_int_eq(m->builder->graph[0].operand[x].life, LIFE_NO_VALUE);
    ck_assert_int_eq(ANeuralNetworksModel_setOperandValue(m, x, big, 8), OK);
    ck_assert_int_eq(ANeuralNetworksModel_setOperandValue(m, large, big, 400), OK);
    ck_assert_int_eq(m->builder->graph[0].operand[large].life, LIFE_CONSTANT_REFERENCE);
    ck_assert_int_eq(ANeuralNetworksModel_setOperandValue(m, large, NULL, 0), OK);
    ck_assert_int_eq(m->builder->graph[0].operand[large].life, LIFE_NO_VALUE);
    ck_assert_int_eq(ANeuralNetworksModel_setOperandValue(m, rank, big, 4), BD);
    ck_assert_int_eq(ANeuralNetworksModel_setOperandValue(m, partly, big, 4), BD);
    ck_assert_int_eq(ANeuralNetworksModel_setOperandValue(m, partly, NULL, 0), OK);
    ck_assert_int_eq(ANeuralNetworksModel_setOperandValue(m, oem, big, 0), BD);
    ck_assert_int_eq(ANeuralNetworksModel_setOperandValue(m, oem, big, 3), OK);
    ck_assert_int_eq(ANeuralNetworksModel_setOperandValue(m, oem, big, 300), OK);
    ck_assert_int_eq(ANeuralNetworksModel_setOperandValue(m, flag, big, 1), OK);
    ck_assert_int_eq(ANeuralNetworksModel_setOperandValue(m, flag, big, 4), BD);
    ck_assert_int_eq(ANeuralNetworksModel_setOperandValue(m, flag + 1, big, 1), BD);
}
END_TEST

START_TEST(values_from_memory)
{
    int32_t x = (int32_t) add(m, TENSOR(F32, 2)), partly = (int32_t) add(m, TENSOR(F32, 0));
    ANeuralNetworksMemory *memory;

    ck_assert_int_eq(memory_of_size(16, &memory), OK);
    ck_assert_int_eq(ANeuralNetworksModel_setOperandValueFromMemory(m, x, memory, 8, 8), OK);
    ck_assert_int_eq(m->builder->graph[0].operand[x].life, LIFE_CONSTANT_REFERENCE);
    ck_assert_int_eq(ANeuralNetworksModel_setOperandValueFromMemory(m, x, memory, 9, 8), BD);
    ck_assert_int_eq(ANeuralNetworksModel_setOperandValueFromMemory(m, x, memory, SIZE_MAX, 8), BD);
    ck_assert_int_eq(ANeuralNetworksModel_setOperandValueFromMemory(m, x, memory, 0, 7), BD);
    ck_assert_int_eq(ANeuralNetworksModel_setOperandValueFromMemory(m, x, memory, 0, 0), BD);
    ck_assert_int_eq(ANeuralNetworksModel_setOperandValueFromMemory(m, partly, memory, 0, 8), BD);
    memory_free(memory);
}
END_TEST

START_TEST(channel_scales)
{
    const float two[] = { 1, 2 }, bad[] = { 1, 0 }, less[] = { 1, -1 }, nan[] = { 1, NAN };
    const struct {
        ANeuralNetworksSymmPerChannelQuantParams p;
        int result;
    } cases[] = {
        { { 0, 2, two }, OK },  { { 0, 2, NULL }, BD }, { { 0, 0, two }, BD },
        { { 0, 0, NULL }, BD }, { { 2, 2, two }, BD },  { { 0, 1, two }, BD },
        { { 1, 2, two }, BD },  { { 0, 2, bad }, BD },  { { 0, 2, less }, BD },
        { { 0, 2, nan }, BD },
    };
    int32_t x = (int32_t) add(m, TENSOR(PC8, 2, 3)), other = (int32_t) add(m, TENSOR(U8, 2, 3)),
            open = (int32_t) add(m, TENSOR(PC8, 0, 3));

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ck_assert_msg(ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(m, x, &cases[i].p) ==
                          cases[i].result,
                      "case %zu", i);
    ck_assert_int_eq(ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(m, x, &cases[0].p),
                     OK);
    ck_assert_int_eq(
        ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(m, other, &cases[0].p), BD);
    ck_assert_int_eq(ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(m, open, &cases[0].p),
                     BD);
}
END_TEST

START_TEST(identifies)
{
    uint32_t x = add(m, TENSOR(F32, 2)), y = add(m, TENSOR(F32, 2)), c = add_int(m, 0),
             none = add(m, TENSOR(F32, 2)), z = add(m, TENSOR(F32, 2));

    ck_assert_int_eq(ANeuralNetworksModel_setOperandValue(m, (int32_t) none, NULL, 0), OK);
    ck_assert_int_eq(identify(m, LIST(x, x), LIST(y)), BD);
    ck_assert_int_eq(identify(m, LIST(x), LIST(y, y)), BD);
    ck_assert_int_eq(identify(m, LIST(x), LIST(x)), BD);
    ck_assert_int_eq(identify(m, LIST(x, c), LIST(y)), BD);
    ck_assert_int_eq(identify(m, LIST(x), LIST(c)), BD);
    ck_assert_int_eq(identify(m, LIST(none), LIST(y)), BD);
    ck_assert_int_eq(identify(m, LIST(x), LIST(99)), BD);
    /* A failed call has changed nothing. */
    ck_assert_int_eq(identify(m, LIST(x), LIST(y)), OK);
    ck_assert_int_eq(identify(m, LIST(x), LIST(z)), BD);
    ck_assert_int_eq(m->builder->graph[0].operand[x].life, LIFE_INPUT);
    ck_assert_int_eq(m->builder->graph[0].operand[y].life, LIFE_OUTPUT);
    /* Another list replaces it. */
    ck_assert_int_eq(identify(m, 1, &z, 0, &z), OK);
    ck_assert_int_eq(m->builder->graph[0].operand[z].life, LIFE_INPUT);
    ck_assert_int_eq(m->builder->graph[0].operand[y].life, LIFE_TEMPORARY);
}
END_TEST

START_TEST(operation_codes)
{
    uint32_t x = add(m, TENSOR(F32, 2)), y = add(m, TENSOR(F32, 2));
    int32_t foreign;

    ck_assert_int_eq(operate(m, -1, LIST(x), LIST(y)), BD);
    ck_assert_int_eq(operate(m, 106, LIST(x), LIST(y)), BD);
    ck_assert_int_eq(operate(m, 9999, LIST(x), LIST(y)), BD);
    ck_assert_int_eq(operate(m, 10001, LIST(x), LIST(y)), BD);
    ck_assert_int_eq(operate(m, 20000, LIST(x), LIST(y)), BD); /* experimental */
    ck_assert_int_eq(operate(m, 0x7fff0001, LIST(x), LIST(y)), BD);
    ck_assert_int_eq(operate(m, ANEURALNETWORKS_RELU, LIST(x), LIST(7)), BD);
    ck_assert_int_eq(operate(m, ANEURALNETWORKS_RELU, LIST(7), LIST(y)), BD);
    ck_assert_int_eq(operate(m, ANEURALNETWORKS_RELU, LIST(x), LIST(y)), OK);
    /* The OEM's and extensions' are not checked. */
    ck_assert_int_eq(operate(m, 10000, LIST(x, x, x), LIST(y)), OK);
    ck_assert_int_eq(
        ANeuralNetworksModel_getExtensionOperationType(m, "com.example.none", 5, &foreign), OK);
    ck_assert_int_eq(foreign & 0xffff, 5);
    ck_assert_int_gt(foreign >> 16, 0);
    ck_assert_int_eq(operate(m, foreign, LIST(x, x), LIST(y, y)), OK);
}
END_TEST

START_TEST(extension_types)
{
    int32_t a, b, c;
    ANeuralNetworksOperandType t;

    ck_assert_int_eq(ANeuralNetworksModel_getExtensionOperandType(m, "com.example.none", 1, &a),
                     OK);
    ck_assert_int_eq(ANeuralNetworksModel_getExtensionOperandType(m, "com.example.none", 2, &b),
                     OK);
    ck_assert_int_eq(ANeuralNetworksModel_getExtensionOperandType(m, "com.example.more", 1, &c),
                     OK);
    ck_assert_int_eq(a >> 16, b >> 16);
    ck_assert_int_ne(a >> 16, c >> 16);
    ck_assert_int_eq(b & 0xffff, 2);
    t = SCALAR(a); /* no device knows the extension */
    ck_assert_int_eq(ANeuralNetworksModel_addOperand(m, &t), BD);
    uint32_t x = add(m, TENSOR(F32, 2));
    ck_assert_int_eq(ANeuralNetworksModel_setOperandExtensionData(m, (int32_t) x, "a", 1), BD);
    ck_assert_int_eq(ANeuralNetworksModel_setOperandExtensionData(m, (int32_t) x, "a", 0), BD);
}
END_TEST

/* Types that a device states. */
START_TEST(extension_types_of_devices)
{
    static const char *const name = "org.halcyon.example.fibonacci";
    const uint32_t two[] = { 2 };
    const uint8_t bytes[32] = { 0 };
    int32_t int64, quant64, unknown, code;
    ANeuralNetworksOperandType t;

    setenv("HALCYON_DEVICES", "sim:dsp", 1);
    ck_assert_int_eq(ANeuralNetworksModel_getExtensionOperandType(m, name, 0, &int64), OK);
    ck_assert_int_eq(ANeuralNetworksModel_getExtensionOperandType(m, name, 1, &quant64), OK);
    ck_assert_int_eq(ANeuralNetworksModel_getExtensionOperandType(m, name, 9, &unknown), OK);
    ck_assert_int_eq(ANeuralNetworksModel_getExtensionOperationType(m, name, 0, &code), OK);
    t = SCALAR(unknown);
    ck_assert_int_eq(ANeuralNetworksModel_addOperand(m, &t), BD);
    t = type_make(int64, 1, two);
    ck_assert_int_eq(ANeuralNetworksModel_addOperand(m, &t), BD);
    t = SCALAR(int64);
    t.scale = 1;
    ck_assert_int_eq(ANeuralNetworksModel_addOperand(m, &t), BD);
    t.scale = 0;
    t.zeroPoint = 1;
    ck_assert_int_eq(ANeuralNetworksModel_addOperand(m, &t), BD);
    int32_t n = (int32_t) add(m, SCALAR(int64)), x = (int32_t) add(m, TENSOR(quant64, 2)),
            base = (int32_t) add(m, TENSOR(F32, 2)), y = (int32_t) add(m, TENSOR(quant64, 2));
    ck_assert_int_eq(m->builder->graph[0].operand[n].tensor.dtype, DT_FIBONACCI_INT64);
    ck_assert_int_eq(ANeuralNetworksModel_setOperandValue(m, n, bytes, 4), BD);
    ck_assert_int_eq(ANeuralNetworksModel_setOperandValue(m, n, bytes, 8), OK);
    ck_assert_int_eq(ANeuralNetworksModel_setOperandValue(m, x, bytes, 8), BD);
    ck_assert_int_eq(ANeuralNetworksModel_setOperandValue(m, x, bytes, 16), OK);
    ck_assert_int_eq(ANeuralNetworksModel_setOperandExtensionData(m, x, bytes, 5), OK);
    ck_assert_int_eq(ANeuralNetworksModel_setOperandExtensionData(m, x, NULL, 0), OK);
    ck_assert_int_eq(ANeuralNetworksModel_setOperandExtensionData(m, x, NULL, 1), UN);
    ck_assert_int_eq(ANeuralNetworksModel_setOperandExtensionData(m, base, bytes, 5), BD);
    /* Neither operands nor extension data are checked. */
    ck_assert_int_eq(operate(m, code, LIST((uint32_t) n, (uint32_t) x), LIST((uint32_t) y)), OK);
    ck_assert_int_eq(identify(m, LIST((uint32_t) base), LIST((uint32_t) y)), OK);
    ck_assert_int_eq(ANeuralNetworksModel_finish(m), OK);
    ck_assert_int_eq(m->model.n_extensions, 1);
    ck_assert_str_eq(m->model.extension[0].name, name);
}
END_TEST

/* ---- the log */

static char logged[4000];
static int n_logged;

static void keep_line(enum log_level level, const char *tag, const char *text, void *user)
{
    (void) user;
    n_logged++;
    snprintf(logged, sizeof logged, "%d %s: %s", (int) level, tag, text);
}

START_TEST(logs_failures)
{
    log_set_sink(keep_line, NULL);
    ck_assert_int_eq(ANeuralNetworksModel_setOperandValue(m, 3, "", 1), BD);
    ck_assert_int_eq(n_logged, 1);
    ck_assert_str_eq(logged, "2 ModelBuilder: ANeuralNetworksModel_setOperandValue: operand 3: the "
                             "model has 0 operands (BAD_DATA)");
    ck_assert_int_eq(operate(m, 0, 0, (uint32_t[]){ 0 }, 0, NULL), UN);
    ck_assert_int_eq(n_logged, 2);
    ck_assert_str_eq(logged, "2 ModelBuilder: ANeuralNetworksModel_addOperation: out is NULL "
                             "(UNEXPECTED_NULL)");
    ck_assert_int_eq(ANeuralNetworksModel_finish(m), BD);
    ck_assert_int_eq(n_logged, 3);
    ck_assert_int_eq(ANeuralNetworksModel_finish(m), BS);
    ck_assert_int_eq(n_logged, 4);
    log_set_sink(NULL, NULL);
}
END_TEST

/* ---- traces */

static char traced[200];

static void keep_section(const struct trace_event *e, void *user)
{
    (void) user;
    if (e->kind == TRACE_BEGIN)
        snprintf(traced, sizeof traced, "%s %s %s", trace_layer_name[e->layer],
                 trace_phase_name[e->phase], e->name);
}

START_TEST(traces_calls)
{
    ANeuralNetworksModel *other;

    trace_set_sink(keep_section, NULL);
    ck_assert_int_eq(ANeuralNetworksModel_create(&other), OK);
    ck_assert_str_eq(traced, "LR PP ANeuralNetworksModel_create");
    ck_assert_int_eq(ANeuralNetworksModel_finish(other), BD);
    ck_assert_str_eq(traced, "LR PP ANeuralNetworksModel_finish");
    ck_assert_int_eq(identify(other, 0, NULL, 0, NULL), UN);
    ck_assert_str_eq(traced, "LR PP ANeuralNetworksModel_identifyInputsAndOutputs");
    ANeuralNetworksModel_free(other);
    ck_assert_str_eq(traced, "LR PT ANeuralNetworksModel_free");
    trace_set_sink(NULL, NULL);
}
END_TEST

Suite *model_calls_suite(void)
{
    Suite *s = suite_create("model_calls");
    TCase *c = tcase_create("arguments");

    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_loop_test(c, type_of_operand, 0, sizeof types / sizeof *types);
    tcase_add_test(c, shape_of_operand);
    tcase_add_test(c, order_of_checks);
    tcase_add_test(c, values);
    tcase_add_test(c, values_from_memory);
    tcase_add_test(c, channel_scales);
    tcase_add_test(c, identifies);
    tcase_add_test(c, operation_codes);
    tcase_add_test(c, extension_types);
    tcase_add_test(c, extension_types_of_devices);
    tcase_add_test(c, logs_failures);
    tcase_add_test(c, traces_calls);
    suite_add_tcase(s, c);
    return s;
}
