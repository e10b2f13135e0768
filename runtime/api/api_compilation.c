/* Entry points: compilations. */
#include "runtime/api/entry.h"
#include "runtime/compile/compilation.h"
#include "runtime/include/NeuralNetworksExtensions.h"

int ANeuralNetworksModel_getSupportedOperationsForDevices(
    const ANeuralNetworksModel *model, const ANeuralNetworksDevice *const *devices,
    uint32_t numDevices, bool *supportedOps)
{
    ENTER(PC);
    return supported_operations(model, devices, numDevices, supportedOps);
}

int ANeuralNetworksCompilation_create(ANeuralNetworksModel *model,
                                      ANeuralNetworksCompilation **compilation)
{
    ENTER(PC);
    return compilation_create(model, compilation);
}

int ANeuralNetworksCompilation_createForDevices(ANeuralNetworksModel *model,
                                                const ANeuralNetworksDevice *const *devices,
                                                uint32_t numDevices,
                                                ANeuralNetworksCompilation **compilation)
{
    ENTER(PC);
    return compilation_create_for(model, devices, numDevices, compilation);
}

void ANeuralNetworksCompilation_free(ANeuralNetworksCompilation *compilation)
{
    ENTER(PT);
    compilation_free(compilation);
}

int ANeuralNetworksCompilation_setPreference(ANeuralNetworksCompilation *compilation,
                                             int32_t preference)
{
    ENTER(PC);
    return compilation_set_preference(compilation, preference);
}

int ANeuralNetworksCompilation_setCaching(ANeuralNetworksCompilation *compilation,
                                          const char *cacheDir, const uint8_t *token)
{
    ENTER(PC);
    return compilation_set_caching(compilation, cacheDir, token);
}

int ANeuralNetworksCompilation_setPriority(ANeuralNetworksCompilation *compilation, int priority)
{
    ENTER(PC);
    return compilation_set_priority(compilation, priority);
}

int ANeuralNetworksCompilation_setTimeout(ANeuralNetworksCompilation *compilation,
                                          uint64_t duration)
{
    ENTER(PC);
    return compilation_set_timeout(compilation, duration);
}

int ANeuralNetworksCompilation_addExtensionAttribute(ANeuralNetworksCompilation *compilation,
                                                     const char *extensionName,
                                                     uint16_t attributeCodeWithinExtension,
                                                     const void *data, size_t length)
{
    ENTER(PC);
    return compilation_add_attribute(compilation, extensionName, attributeCodeWithinExtension, data,
                                     length);
}

int ANeuralNetworksCompilation_finish(ANeuralNetworksCompilation *compilation)
{
    ENTER(PC);
    return compilation_finish(compilation);
}

int ANeuralNetworksCompilation_getPreferredMemoryAlignmentForInput(
    const ANeuralNetworksCompilation *compilation, uint32_t index, uint32_t *alignment)
{
    ENTER(PC);
    return compilation_alignment(compilation, false, index, alignment);
}

int ANeuralNetworksCompilation_getPreferredMemoryPaddingForInput(
    const ANeuralNetworksCompilation *compilation, uint32_t index, uint32_t *padding)
{
    ENTER(PC);
    return compilation_padding(compilation, false, index, padding);
}

int ANeuralNetworksCompilation_getPreferredMemoryAlignmentForOutput(
    const ANeuralNetworksCompilation *compilation, uint32_t index, uint32_t *alignment)
{
    ENTER(PC);
    return compilation_alignment(compilation, true, index, alignment);
}

int ANeuralNetworksCompilation_getPreferredMemoryPaddingForOutput(
    const ANeuralNetworksCompilation *compilation, uint32_t index, uint32_t *padding)
{
    ENTER(PC);
    return compilation_padding(compilation, true, index, padding);
}
