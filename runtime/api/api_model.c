/* Entry points for models. */
#include "runtime/api/entry.h"
#include "runtime/include/NeuralNetworksExtensions.h"
#include "runtime/model/runtime_model.h"

int ANeuralNetworksModel_create(ANeuralNetworksModel **model)
{
    ENTER(PP);
    entry_read_vlog();
    return model_create(model);
}

void ANeuralNetworksModel_free(ANeuralNetworksModel *model)
{
    ENTER(PT);
    model_free(model);
}

int ANeuralNetworksModel_finish(ANeuralNetworksModel *model)
{
    ENTER(PP);
    return model_finish(model);
}

int ANeuralNetworksModel_addOperand(ANeuralNetworksModel *model,
                                    const ANeuralNetworksOperandType *type)
{
    ENTER(PP);
    return model_add_operand(model, type);
}

int ANeuralNetworksModel_setOperandValue(ANeuralNetworksModel *model, int32_t index,
                                         const void *buffer, size_t length)
{
    ENTER(PP);
    return model_set_value(model, index, buffer, length);
}

int ANeuralNetworksModel_setOperandValueFromMemory(ANeuralNetworksModel *model, int32_t index,
                                                   const ANeuralNetworksMemory *memory,
                                                   size_t offset, size_t length)
{
    ENTER(PP);
    return model_set_value_from_memory(model, index, memory, offset, length);
}

int ANeuralNetworksModel_setOperandValueFromModel(ANeuralNetworksModel *model, int32_t index,
                                                  const ANeuralNetworksModel *value)
{
    ENTER(PP);
    return model_set_value_from_model(model, index, value);
}

int ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(
    ANeuralNetworksModel *model, int32_t index,
    const ANeuralNetworksSymmPerChannelQuantParams *channelQuant)
{
    ENTER(PP);
    return model_set_channel_scales(model, index, channelQuant);
}

int ANeuralNetworksModel_setOperandExtensionData(ANeuralNetworksModel *model, int32_t index,
                                                 const void *data, size_t length)
{
    ENTER(PP);
    return model_set_extension_data(model, index, data, length);
}

int ANeuralNetworksModel_addOperation(ANeuralNetworksModel *model,
                                      ANeuralNetworksOperationType type, uint32_t inputCount,
                                      const uint32_t *inputs, uint32_t outputCount,
                                      const uint32_t *outputs)
{
    ENTER(PP);
    return model_add_operation(model, type, inputCount, inputs, outputCount, outputs);
}

int ANeuralNetworksModel_identifyInputsAndOutputs(ANeuralNetworksModel *model, uint32_t inputCount,
                                                  const uint32_t *inputs, uint32_t outputCount,
                                                  const uint32_t *outputs)
{
    ENTER(PP);
    return model_identify(model, inputCount, inputs, outputCount, outputs);
}

int ANeuralNetworksModel_relaxComputationFloat32toFloat16(ANeuralNetworksModel *model, bool allow)
{
    ENTER(PP);
    return model_relax(model, allow);
}

int ANeuralNetworksModel_getExtensionOperandType(ANeuralNetworksModel *model,
                                                 const char *extensionName,
                                                 uint16_t operandCodeWithinExtension, int32_t *type)
{
    ENTER(PP);
    return model_extension_code(model, extensionName, operandCodeWithinExtension, type);
}

int ANeuralNetworksModel_getExtensionOperationType(ANeuralNetworksModel *model,
                                                   const char *extensionName,
                                                   uint16_t operationCodeWithinExtension,
                                                   ANeuralNetworksOperationType *type)
{
    ENTER(PP);
    return model_extension_code(model, extensionName, operationCodeWithinExtension, type);
}
