#include "tests/runtime/small_models.h"

#include "runtime/model/model_builder.h"
#include "tests/support/check_main.h"

ANeuralNetworksOperandType type_make(int32_t code, uint32_t rank, const uint32_t *dims)
{
    ANeuralNetworksOperandType t = { .type = code, .dimensionCount = rank, .dimensions = dims };

    switch (code) {
    case ANEURALNETWORKS_TENSOR_QUANT8_ASYMM:
    case ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED:
    case ANEURALNETWORKS_TENSOR_QUANT8_SYMM:
    case ANEURALNETWORKS_TENSOR_QUANT16_ASYMM:
    case ANEURALNETWORKS_TENSOR_QUANT16_SYMM: t.scale = 1.0f / 256; break;
    default: break;
    }
    return t;
}

ANeuralNetworksModel *model_new(void)
{
    ANeuralNetworksModel *m;

    ck_assert_int_eq(ANeuralNetworksModel_create(&m), OK);
    return m;
}

uint32_t add(ANeuralNetworksModel *m, ANeuralNetworksOperandType type)
{
    ck_assert_int_eq(ANeuralNetworksModel_addOperand(m, &type), OK);
    return m->builder->graph[0].n_operands - 1;
}

static uint32_t add_value(ANeuralNetworksModel *m, int32_t code, const void *value, size_t size)
{
    uint32_t i = add(m, SCALAR(code));

    ck_assert_int_eq(ANeuralNetworksModel_setOperandValue(m, (int32_t) i, value, size), OK);
    return i;
}

uint32_t add_int(ANeuralNetworksModel *m, int32_t value)
{
    return add_value(m, ANEURALNETWORKS_INT32, &value, sizeof value);
}

uint32_t add_bool(ANeuralNetworksModel *m, bool value)
{
    uint8_t byte = value;

    return add_value(m, ANEURALNETWORKS_BOOL, &byte, 1);
}

uint32_t add_model(ANeuralNetworksModel *m, const ANeuralNetworksModel *value)
{
    uint32_t i = add(m, SCALAR(ANEURALNETWORKS_MODEL));

    ck_assert_int_eq(ANeuralNetworksModel_setOperandValueFromModel(m, (int32_t) i, value), OK);
    return i;
}

ANeuralNetworksModel *model_relu(ANeuralNetworksOperandType type)
{
    ANeuralNetworksModel *m = model_new();
    uint32_t x = add(m, type), y = add(m, type);

    ck_assert_int_eq(operate(m, ANEURALNETWORKS_RELU, LIST(x), LIST(y)), OK);
    ck_assert_int_eq(identify(m, LIST(x), LIST(y)), OK);
    ck_assert_int_eq(ANeuralNetworksModel_finish(m), OK);
    return m;
}

ANeuralNetworksModel *model_less(ANeuralNetworksOperandType type, ANeuralNetworksOperandType to)
{
    ANeuralNetworksModel *m = model_new();
    uint32_t a = add(m, type), b = add(m, type), y = add(m, to);

    ck_assert_int_eq(operate(m, ANEURALNETWORKS_LESS, LIST(a, b), LIST(y)), OK);
    ck_assert_int_eq(identify(m, LIST(a, b), LIST(y)), OK);
    ck_assert_int_eq(ANeuralNetworksModel_finish(m), OK);
    return m;
}
