/* Models by the C API, for tests.  Every function fails the test if a call that must succeed does
 * not. */
#ifndef TESTS_SMALL_MODELS_H
#define TESTS_SMALL_MODELS_H

#include "runtime/include/NeuralNetworks.h"
#include "runtime/include/NeuralNetworksExtensions.h"

/* Short names of results and types. */
enum {
    OK = ANEURALNETWORKS_NO_ERROR,
    UN = ANEURALNETWORKS_UNEXPECTED_NULL,
    BD = ANEURALNETWORKS_BAD_DATA,
    BS = ANEURALNETWORKS_BAD_STATE,
    F32 = ANEURALNETWORKS_TENSOR_FLOAT32,
    I32 = ANEURALNETWORKS_TENSOR_INT32,
    U8 = ANEURALNETWORKS_TENSOR_QUANT8_ASYMM,
    B8 = ANEURALNETWORKS_TENSOR_BOOL8,
    PC8 = ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL
};

/* A type with the least quantisation that it must have: scale 1/256 where one is needed. */
ANeuralNetworksOperandType type_make(int32_t code, uint32_t rank, const uint32_t *dims);
#define SCALAR(code) type_make(code, 0, NULL)
#define TENSOR(code, ...)                                                                          \
    type_make(code, sizeof((uint32_t[]){ __VA_ARGS__ }) / sizeof(uint32_t),                        \
              (const uint32_t[]){ __VA_ARGS__ })

ANeuralNetworksModel *model_new(void);
/* Each adds an operand and returns its index. */
uint32_t add(ANeuralNetworksModel *m, ANeuralNetworksOperandType type);
uint32_t add_int(ANeuralNetworksModel *m, int32_t value);
uint32_t add_bool(ANeuralNetworksModel *m, bool value);
uint32_t add_model(ANeuralNetworksModel *m, const ANeuralNetworksModel *value);

#define LIST(...)                                                                                  \
    sizeof((uint32_t[]){ __VA_ARGS__ }) / sizeof(uint32_t), (uint32_t[])                           \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
/* ANeuralNetworksModel_addOperation(): operate(m, code, LIST(inputs), LIST(outputs)). */
#define operate(m, code, ...) ANeuralNetworksModel_addOperation(m, code, __VA_ARGS__)
#define identify(m, ...)      ANeuralNetworksModel_identifyInputsAndOutputs(m, __VA_ARGS__)

/* output = RELU(input), of these types; finished. */
ANeuralNetworksModel *model_relu(ANeuralNetworksOperandType type);
/* b8[1] = (a < b); finished. */
ANeuralNetworksModel *model_less(ANeuralNetworksOperandType type, ANeuralNetworksOperandType to);

#endif
