/* The functions that only a support library has: members of its table
 * (runtime/include/NeuralNetworksSupportLibraryImpl.h), which declares what they do.  Those that
 * return a ResultCode set their outputs to 0 or NULL first, and give UNEXPECTED_NULL for a pointer
 * that is NULL. */
#ifndef RUNTIME_SL_FUNCTIONS_H
#define RUNTIME_SL_FUNCTIONS_H

#include "runtime/include/NeuralNetworksSupportLibraryImpl.h"

int SL_ANeuralNetworksCompilation_setCachingFromFds(ANeuralNetworksCompilation *compilation,
                                                    const int *modelCacheFds,
                                                    const uint32_t numModelCacheFiles,
                                                    const int *dataCacheFds,
                                                    const uint32_t numDataCacheFiles,
                                                    const uint8_t *token);
int SL_ANeuralNetworksDevice_getNumberOfCacheFilesNeeded(const ANeuralNetworksDevice *device,
                                                         uint32_t *numModelCacheFiles,
                                                         uint32_t *numDataCacheFiles);
int SL_ANeuralNetworksDevice_getPerformanceInfo(const ANeuralNetworksDevice *device,
                                                int32_t performanceInfoKind,
                                                SL_ANeuralNetworksPerformanceInfo *performanceInfo);
int SL_ANeuralNetworksDevice_forEachOperandPerformanceInfo(
    const ANeuralNetworksDevice *device, void *context,
    void (*callback)(SL_ANeuralNetworksOperandPerformanceInfo, void *));
int SL_ANeuralNetworksDevice_getVendorExtensionCount(const ANeuralNetworksDevice *device,
                                                     uint32_t *vendorExtensionCount);
int SL_ANeuralNetworksDevice_getVendorExtensionName(const ANeuralNetworksDevice *device,
                                                    uint32_t vendorExtensionIndex,
                                                    const char **extensionName);
int SL_ANeuralNetworksDevice_forEachVendorExtensionOperandTypeInformation(
    const ANeuralNetworksDevice *device, uint32_t vendorExtensionIndex, void *context,
    void (*callback)(SL_ANeuralNetworksExtensionOperandTypeInformation, void *));

/* sl_diagnostic.c: adds the diagnostic functions to the table. */
void sl_diagnostic_fill(NnApiSLDriverImplFL5 *table);

#endif
