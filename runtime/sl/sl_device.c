/* What only a support library tells of its device, and its way to cache. */
#include "runtime/api/entry.h"
#include "runtime/base/failure.h"
#include "runtime/compile/compilation.h"
#include "runtime/sl/sl_functions.h"

#define LOG_TAG "NeuralNetworks"

int SL_ANeuralNetworksCompilation_setCachingFromFds(ANeuralNetworksCompilation *compilation,
                                                    const int *modelCacheFds,
                                                    const uint32_t numModelCacheFiles,
                                                    const int *dataCacheFds,
                                                    const uint32_t numDataCacheFiles,
                                                    const uint8_t *token)
{
    ENTER(PC);
    return compilation_set_caching_from_fds(compilation, modelCacheFds, numModelCacheFiles,
                                            dataCacheFds, numDataCacheFiles, token);
}

int SL_ANeuralNetworksDevice_getNumberOfCacheFilesNeeded(const ANeuralNetworksDevice *device,
                                                         uint32_t *numModelCacheFiles,
                                                         uint32_t *numDataCacheFiles)
{
    entry_begin(__func__);
    if (numModelCacheFiles)
        *numModelCacheFiles = 0;
    if (numDataCacheFiles)
        *numDataCacheFiles = 0;
    REQUIRE_GIVEN(device);
    REQUIRE_GIVEN(numModelCacheFiles);
    REQUIRE_GIVEN(numDataCacheFiles);
    *numModelCacheFiles = device->n_model_cache;
    *numDataCacheFiles = device->n_data_cache;
    return ANEURALNETWORKS_NO_ERROR;
}

/* ---- performance */

static SL_ANeuralNetworksPerformanceInfo performance_of(struct hal_performance p)
{
    return (SL_ANeuralNetworksPerformanceInfo){ p.exec_time, p.power_usage };
}

int SL_ANeuralNetworksDevice_getPerformanceInfo(const ANeuralNetworksDevice *device,
                                                int32_t performanceInfoKind,
                                                SL_ANeuralNetworksPerformanceInfo *performanceInfo)
{
    entry_begin(__func__);
    if (performanceInfo)
        *performanceInfo = (SL_ANeuralNetworksPerformanceInfo){ 0, 0 };
    REQUIRE_GIVEN(device);
    REQUIRE_GIVEN(performanceInfo);
    const struct hal_capabilities *c = &device->performance;
    switch (performanceInfoKind) {
    case SL_ANEURALNETWORKS_CAPABILITIES_PERFORMANCE_RELAXED_SCALAR:
        *performanceInfo = performance_of(c->relaxed_scalar);
        return ANEURALNETWORKS_NO_ERROR;
    case SL_ANEURALNETWORKS_CAPABILITIES_PERFORMANCE_RELAXED_TENSOR:
        *performanceInfo = performance_of(c->relaxed_tensor);
        return ANEURALNETWORKS_NO_ERROR;
    case SL_ANEURALNETWORKS_CAPABILITIES_PERFORMANCE_IF:
        *performanceInfo = performance_of(c->if_performance);
        return ANEURALNETWORKS_NO_ERROR;
    case SL_ANEURALNETWORKS_CAPABILITIES_PERFORMANCE_WHILE:
        *performanceInfo = performance_of(c->while_performance);
        return ANEURALNETWORKS_NO_ERROR;
    default: break;
    }
    return FAIL(BAD_DATA, "kind of performance %d, expected 0 to 3", performanceInfoKind);
}

int SL_ANeuralNetworksDevice_forEachOperandPerformanceInfo(
    const ANeuralNetworksDevice *device, void *context,
    void (*callback)(SL_ANeuralNetworksOperandPerformanceInfo, void *))
{
    entry_begin(__func__);
    REQUIRE_GIVEN(device);
    REQUIRE_GIVEN(context);
    REQUIRE_GIVEN(callback);
    for (uint32_t i = 0; i < device->performance.n_operands; i++) {
        const struct hal_operand_performance *row = &device->performance.operand[i];
        const SL_ANeuralNetworksOperandPerformanceInfo info = { row->type,
                                                                performance_of(row->info) };
        callback(info, context);
    }
    return ANEURALNETWORKS_NO_ERROR;
}

/* ---- extensions */

int SL_ANeuralNetworksDevice_getVendorExtensionCount(const ANeuralNetworksDevice *device,
                                                     uint32_t *vendorExtensionCount)
{
    entry_begin(__func__);
    if (vendorExtensionCount)
        *vendorExtensionCount = 0;
    REQUIRE_GIVEN(device);
    REQUIRE_GIVEN(vendorExtensionCount);
    *vendorExtensionCount = device->n_extensions;
    return ANEURALNETWORKS_NO_ERROR;
}

static int check_index(const ANeuralNetworksDevice *d, uint32_t index)
{
    return index < d->n_extensions ? ANEURALNETWORKS_NO_ERROR
                                   : FAIL(BAD_DATA, "extension %u of %u", index, d->n_extensions);
}

int SL_ANeuralNetworksDevice_getVendorExtensionName(const ANeuralNetworksDevice *device,
                                                    uint32_t vendorExtensionIndex,
                                                    const char **extensionName)
{
    entry_begin(__func__);
    if (extensionName)
        *extensionName = NULL;
    REQUIRE_GIVEN(device);
    REQUIRE_GIVEN(extensionName);
    PASS(check_index(device, vendorExtensionIndex));
    *extensionName = device->extension[vendorExtensionIndex].name;
    return ANEURALNETWORKS_NO_ERROR;
}

int SL_ANeuralNetworksDevice_forEachVendorExtensionOperandTypeInformation(
    const ANeuralNetworksDevice *device, uint32_t vendorExtensionIndex, void *context,
    void (*callback)(SL_ANeuralNetworksExtensionOperandTypeInformation, void *))
{
    entry_begin(__func__);
    REQUIRE_GIVEN(device);
    REQUIRE_GIVEN(context);
    REQUIRE_GIVEN(callback);
    PASS(check_index(device, vendorExtensionIndex));
    const struct hal_extension *e = &device->extension[vendorExtensionIndex];
    for (uint32_t i = 0; i < e->n_types; i++) {
        const SL_ANeuralNetworksExtensionOperandTypeInformation info = {
            .byteSize = e->type[i].byte_size,
            .type = e->type[i].type,
            .isTensor = e->type[i].is_tensor,
        };
        callback(info, context);
    }
    return ANEURALNETWORKS_NO_ERROR;
}
