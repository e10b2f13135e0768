/* A shared library that implements the C API of NNAPI, as a table of its functions. */
#ifndef RUNTIME_API_LIBRARY_H
#define RUNTIME_API_LIBRARY_H

#include "golden/base/why.h"
#include "runtime/include/NeuralNetworksExtensions.h"

/* Functions that are used of every library, without their prefix ANeuralNetworks. */
#define API_FUNCTIONS(X)                                                                           \
    X(_getDeviceCount)                                                                             \
    X(_getRuntimeFeatureLevel)                                                                     \
    X(_getDevice)                                                                                  \
    X(Device_getName)                                                                              \
    X(Device_getType)                                                                              \
    X(Device_getVersion)                                                                           \
    X(Device_getFeatureLevel)                                                                      \
    X(Device_wait)                                                                                 \
    X(Model_create)                                                                                \
    X(Model_free)                                                                                  \
    X(Model_finish)                                                                                \
    X(Model_addOperand)                                                                            \
    X(Model_setOperandValue)                                                                       \
    X(Model_setOperandValueFromMemory)                                                             \
    X(Model_setOperandValueFromModel)                                                              \
    X(Model_setOperandSymmPerChannelQuantParams)                                                   \
    X(Model_addOperation)                                                                          \
    X(Model_identifyInputsAndOutputs)                                                              \
    X(Model_relaxComputationFloat32toFloat16)                                                      \
    X(Model_getSupportedOperationsForDevices)                                                      \
    X(Model_getExtensionOperandType)                                                               \
    X(Model_getExtensionOperationType)                                                             \
    X(Model_setOperandExtensionData)                                                               \
    X(Compilation_createForDevices)                                                                \
    X(Compilation_free)                                                                            \
    X(Compilation_setPreference)                                                                   \
    X(Compilation_setPriority)                                                                     \
    X(Compilation_setTimeout)                                                                      \
    X(Compilation_finish)                                                                          \
    X(Execution_create)                                                                            \
    X(Execution_free)                                                                              \
    X(Execution_setInput)                                                                          \
    X(Execution_setInputFromMemory)                                                                \
    X(Execution_setOutput)                                                                         \
    X(Execution_setOutputFromMemory)                                                               \
    X(Execution_setMeasureTiming)                                                                  \
    X(Execution_setTimeout)                                                                        \
    X(Execution_setLoopTimeout)                                                                    \
    X(Execution_enableInputAndOutputPadding)                                                       \
    X(Execution_setReusable)                                                                       \
    X(Execution_compute)                                                                           \
    X(Execution_burstCompute)                                                                      \
    X(Execution_startComputeWithDependencies)                                                      \
    X(Execution_getDuration)                                                                       \
    X(Execution_getOutputOperandRank)                                                              \
    X(Execution_getOutputOperandDimensions)                                                        \
    X(Burst_create)                                                                                \
    X(Burst_free)                                                                                  \
    X(Event_wait)                                                                                  \
    X(Event_free)                                                                                  \
    X(Event_createFromSyncFenceFd)                                                                 \
    X(Event_getSyncFenceFd)                                                                        \
    X(Memory_createFromFd)                                                                         \
    X(Memory_createFromDesc)                                                                       \
    X(Memory_copy)                                                                                 \
    X(Memory_free)                                                                                 \
    X(MemoryDesc_create)                                                                           \
    X(MemoryDesc_addInputRole)                                                                     \
    X(MemoryDesc_addOutputRole)                                                                    \
    X(MemoryDesc_setDimensions)                                                                    \
    X(MemoryDesc_finish)                                                                           \
    X(MemoryDesc_free)

#define API_MEMBER(name) __typeof__(&ANeuralNetworks##name) name;

struct NnApiSLDriverImplFL5;

struct api_library {
    API_FUNCTIONS(API_MEMBER)
    /* NULL: a support library, where only chosen devices compile. */
    API_MEMBER(Compilation_create)
    /* NULL: the library is older than feature level 8. */
    API_MEMBER(Compilation_addExtensionAttribute)
    API_MEMBER(Execution_addExtensionAttribute)
    /* What only support libraries have; NULL: libneuralnetworks.so. */
    const struct NnApiSLDriverImplFL5 *support;
};

/* Both load the library, which stays loaded: its threads may outlive every use of it.  WHY_INVALID:
 * it cannot be loaded, or it lacks a function. */
int api_library_runtime(const char *path, struct api_library *ret_api, struct why *w);
int api_library_support(const char *path, struct api_library *ret_api, struct why *w);

#endif
