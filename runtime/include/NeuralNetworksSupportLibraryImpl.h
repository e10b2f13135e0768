/* Support libraries: an implementation of NNAPI that an application brings along, as a table of
 * functions.
 *
 * A support library exports ANeuralNetworks_getSLDriverImpl() and nothing else.  What it returns
 * begins with the feature level of the table, from which its type follows: NnApiSLDriverImplFL5 to
 * NnApiSLDriverImplFL8, each of which begins with the one before.  Members whose names begin with
 * ANeuralNetworks are those functions of NeuralNetworks.h and NeuralNetworksExtensions.h; members
 * whose names begin with SL_ exist in such a table only. There is no
 * ANeuralNetworksCompilation_create() and no ANeuralNetworksExecution_startCompute().
 *
 * The layout of structures and the values of codes are those of Android. */
#ifndef RUNTIME_NEURAL_NETWORKS_SUPPORT_LIBRARY_IMPL_H
#define RUNTIME_NEURAL_NETWORKS_SUPPORT_LIBRARY_IMPL_H

#include "NeuralNetworksTypes.h"

__BEGIN_DECLS

/* ---- what the driver states of a device */

/* Time and energy of a computation, relative to those on the CPU: 0.5 takes half of them. */
typedef struct {
    float execTime;
    float powerUsage;
} SL_ANeuralNetworksPerformanceInfo;

/* Performance of operations whose first input has this type, in models that are not relaxed. */
typedef struct {
    int32_t operandType; /* OperandCode */
    SL_ANeuralNetworksPerformanceInfo performanceInfo;
} SL_ANeuralNetworksOperandPerformanceInfo;

/* An operand type of a vendor extension. */
typedef struct {
    uint32_t byteSize; /* of the scalar, or of an element of the tensor */
    uint16_t type;     /* its code within the extension */
    bool isTensor;
} SL_ANeuralNetworksExtensionOperandTypeInformation;

/* Performances that do not belong to a type. */
typedef enum {
    /* FLOAT32 and TENSOR_FLOAT32 in relaxed models */
    SL_ANEURALNETWORKS_CAPABILITIES_PERFORMANCE_RELAXED_SCALAR = 0,
    SL_ANEURALNETWORKS_CAPABILITIES_PERFORMANCE_RELAXED_TENSOR = 1,
    /* what IF and WHILE add to the performance of their models */
    SL_ANEURALNETWORKS_CAPABILITIES_PERFORMANCE_IF = 2,
    SL_ANEURALNETWORKS_CAPABILITIES_PERFORMANCE_WHILE = 3
} SL_ANeuralNetworksPerformanceInfoCode;

/* ---- diagnostics: what happened, without the data of the application */

/* Results of functions that load and register support libraries. */
typedef enum {
    ANNDIAG_NO_ERROR = 0,
    ANNDIAG_FAILED_TO_LOAD_SL = 1,
    ANNDIAG_FAILED_TO_REGISTER_SERVICE = 2,
    ANNDIAG_GENERAL_ERROR = 3,
    ANNDIAG_INVALID_ARGUMENT = 4
} ANeuralNetworksDiagnosticResultCode;

/* Element types of the tensors among a model's inputs or outputs, as far as they are of these
 * kinds. */
typedef enum {
    ANNDIAG_DATA_CLASS_UNKNOWN = 0, /* there are no inputs, or outputs */
    ANNDIAG_DATA_CLASS_OTHER = 1,   /* no tensor of the kinds below */
    ANNDIAG_DATA_CLASS_FLOAT32 = 2,
    ANNDIAG_DATA_CLASS_FLOAT16 = 3,
    ANNDIAG_DATA_CLASS_QUANT = 4,
    ANNDIAG_DATA_CLASS_MIXED = 5 /* of more than one kind */
} ANeuralNetworksDiagnosticDataClass;

/* How an execution was started. */
typedef enum {
    ANNDIAG_EXECUTION_MODE_UNKNOWN = 0,
    ANNDIAG_EXECUTION_MODE_ASYNC = 1,
    ANNDIAG_EXECUTION_MODE_SYNC = 2,
    ANNDIAG_EXECUTION_MODE_BURST = 3,
    ANNDIAG_EXECUTION_MODE_ASYNC_WITH_DEPS = 4
} ANeuralNetworksDiagnosticExecutionMode;

/* Valid during the callback only, as are the pointers that the table's getters return. */
typedef struct ANeuralNetworksDiagnosticCompilationInfo ANeuralNetworksDiagnosticCompilationInfo;
typedef struct ANeuralNetworksDiagnosticExecutionInfo ANeuralNetworksDiagnosticExecutionInfo;

/* Called in the thread that finished the compilation or execution, which waits for the return. */
typedef void (*ANeuralNetworksDiagnosticCompilationFinishedCallback)(
    const void *context, const ANeuralNetworksDiagnosticCompilationInfo *info);
typedef void (*ANeuralNetworksDiagnosticExecutionFinishedCallback)(
    const void *context, const ANeuralNetworksDiagnosticExecutionInfo *info);

/* ---- the table */

/* What each table begins with. */
typedef struct NnApiSLDriverImpl {
    int64_t implFeatureLevel; /* FeatureLevelCode of the table, at least
                                 ANEURALNETWORKS_FEATURE_LEVEL_5 */
} NnApiSLDriverImpl;

/* Table of feature level 5. */
typedef struct NnApiSLDriverImplFL5 {
    NnApiSLDriverImpl base;

    /* ---- bursts */
    int (*ANeuralNetworksBurst_create)(ANeuralNetworksCompilation *compilation,
                                       ANeuralNetworksBurst **burst);
    void (*ANeuralNetworksBurst_free)(ANeuralNetworksBurst *burst);

    /* ---- compilations */
    int (*ANeuralNetworksCompilation_createForDevices)(ANeuralNetworksModel *model,
                                                       const ANeuralNetworksDevice *const *devices,
                                                       uint32_t numDevices,
                                                       ANeuralNetworksCompilation **compilation);
    int (*ANeuralNetworksCompilation_finish)(ANeuralNetworksCompilation *compilation);
    void (*ANeuralNetworksCompilation_free)(ANeuralNetworksCompilation *compilation);
    int (*ANeuralNetworksCompilation_getPreferredMemoryAlignmentForInput)(
        const ANeuralNetworksCompilation *compilation, uint32_t index, uint32_t *alignment);
    int (*ANeuralNetworksCompilation_getPreferredMemoryAlignmentForOutput)(
        const ANeuralNetworksCompilation *compilation, uint32_t index, uint32_t *alignment);
    int (*ANeuralNetworksCompilation_getPreferredMemoryPaddingForInput)(
        const ANeuralNetworksCompilation *compilation, uint32_t index, uint32_t *padding);
    int (*ANeuralNetworksCompilation_getPreferredMemoryPaddingForOutput)(
        const ANeuralNetworksCompilation *compilation, uint32_t index, uint32_t *padding);
    int (*ANeuralNetworksCompilation_setCaching)(ANeuralNetworksCompilation *compilation,
                                                 const char *cacheDir, const uint8_t *token);
    int (*ANeuralNetworksCompilation_setPreference)(ANeuralNetworksCompilation *compilation,
                                                    int32_t preference);
    int (*ANeuralNetworksCompilation_setPriority)(ANeuralNetworksCompilation *compilation,
                                                  int priority);
    int (*ANeuralNetworksCompilation_setTimeout)(ANeuralNetworksCompilation *compilation,
                                                 uint64_t duration);

    /* ---- devices */
    int (*ANeuralNetworksDevice_getExtensionSupport)(const ANeuralNetworksDevice *device,
                                                     const char *extensionName,
                                                     bool *isExtensionSupported);
    int (*ANeuralNetworksDevice_getFeatureLevel)(const ANeuralNetworksDevice *device,
                                                 int64_t *featureLevel);
    int (*ANeuralNetworksDevice_getName)(const ANeuralNetworksDevice *device, const char **name);
    int (*ANeuralNetworksDevice_getType)(const ANeuralNetworksDevice *device, int32_t *type);
    int (*ANeuralNetworksDevice_getVersion)(const ANeuralNetworksDevice *device,
                                            const char **version);
    int (*ANeuralNetworksDevice_wait)(const ANeuralNetworksDevice *device);

    /* ---- events */
    int (*ANeuralNetworksEvent_createFromSyncFenceFd)(int sync_fence_fd,
                                                      ANeuralNetworksEvent **event);
    void (*ANeuralNetworksEvent_free)(ANeuralNetworksEvent *event);
    int (*ANeuralNetworksEvent_getSyncFenceFd)(const ANeuralNetworksEvent *event,
                                               int *sync_fence_fd);
    int (*ANeuralNetworksEvent_wait)(ANeuralNetworksEvent *event);

    /* ---- executions */
    int (*ANeuralNetworksExecution_burstCompute)(ANeuralNetworksExecution *execution,
                                                 ANeuralNetworksBurst *burst);
    int (*ANeuralNetworksExecution_compute)(ANeuralNetworksExecution *execution);
    int (*ANeuralNetworksExecution_create)(ANeuralNetworksCompilation *compilation,
                                           ANeuralNetworksExecution **execution);
    int (*ANeuralNetworksExecution_enableInputAndOutputPadding)(ANeuralNetworksExecution *execution,
                                                                bool enable);
    void (*ANeuralNetworksExecution_free)(ANeuralNetworksExecution *execution);
    int (*ANeuralNetworksExecution_getDuration)(const ANeuralNetworksExecution *execution,
                                                int32_t durationCode, uint64_t *duration);
    int (*ANeuralNetworksExecution_getOutputOperandDimensions)(ANeuralNetworksExecution *execution,
                                                               int32_t index, uint32_t *dimensions);
    int (*ANeuralNetworksExecution_getOutputOperandRank)(ANeuralNetworksExecution *execution,
                                                         int32_t index, uint32_t *rank);
    int (*ANeuralNetworksExecution_setInput)(ANeuralNetworksExecution *execution, int32_t index,
                                             const ANeuralNetworksOperandType *type,
                                             const void *buffer, size_t length);
    int (*ANeuralNetworksExecution_setInputFromMemory)(ANeuralNetworksExecution *execution,
                                                       int32_t index,
                                                       const ANeuralNetworksOperandType *type,
                                                       const ANeuralNetworksMemory *memory,
                                                       size_t offset, size_t length);
    int (*ANeuralNetworksExecution_setLoopTimeout)(ANeuralNetworksExecution *execution,
                                                   uint64_t duration);
    int (*ANeuralNetworksExecution_setMeasureTiming)(ANeuralNetworksExecution *execution,
                                                     bool measure);
    int (*ANeuralNetworksExecution_setOutput)(ANeuralNetworksExecution *execution, int32_t index,
                                              const ANeuralNetworksOperandType *type, void *buffer,
                                              size_t length);
    int (*ANeuralNetworksExecution_setOutputFromMemory)(ANeuralNetworksExecution *execution,
                                                        int32_t index,
                                                        const ANeuralNetworksOperandType *type,
                                                        const ANeuralNetworksMemory *memory,
                                                        size_t offset, size_t length);
    int (*ANeuralNetworksExecution_setReusable)(ANeuralNetworksExecution *execution, bool reusable);
    int (*ANeuralNetworksExecution_setTimeout)(ANeuralNetworksExecution *execution,
                                               uint64_t duration);
    int (*ANeuralNetworksExecution_startComputeWithDependencies)(
        ANeuralNetworksExecution *execution, const ANeuralNetworksEvent *const *dependencies,
        uint32_t numDependencies, uint64_t duration, ANeuralNetworksEvent **event);

    /* ---- memory */
    int (*ANeuralNetworksMemoryDesc_addInputRole)(ANeuralNetworksMemoryDesc *desc,
                                                  const ANeuralNetworksCompilation *compilation,
                                                  uint32_t index, float frequency);
    int (*ANeuralNetworksMemoryDesc_addOutputRole)(ANeuralNetworksMemoryDesc *desc,
                                                   const ANeuralNetworksCompilation *compilation,
                                                   uint32_t index, float frequency);
    int (*ANeuralNetworksMemoryDesc_create)(ANeuralNetworksMemoryDesc **desc);
    int (*ANeuralNetworksMemoryDesc_finish)(ANeuralNetworksMemoryDesc *desc);
    void (*ANeuralNetworksMemoryDesc_free)(ANeuralNetworksMemoryDesc *desc);
    int (*ANeuralNetworksMemoryDesc_setDimensions)(ANeuralNetworksMemoryDesc *desc, uint32_t rank,
                                                   const uint32_t *dimensions);
    int (*ANeuralNetworksMemory_copy)(const ANeuralNetworksMemory *src,
                                      const ANeuralNetworksMemory *dst);
    int (*ANeuralNetworksMemory_createFromAHardwareBuffer)(const AHardwareBuffer *ahwb,
                                                           ANeuralNetworksMemory **memory);
    int (*ANeuralNetworksMemory_createFromDesc)(const ANeuralNetworksMemoryDesc *desc,
                                                ANeuralNetworksMemory **memory);
    int (*ANeuralNetworksMemory_createFromFd)(size_t size, int prot, int fd, size_t offset,
                                              ANeuralNetworksMemory **memory);
    void (*ANeuralNetworksMemory_free)(ANeuralNetworksMemory *memory);

    /* ---- models */
    int (*ANeuralNetworksModel_addOperand)(ANeuralNetworksModel *model,
                                           const ANeuralNetworksOperandType *type);
    int (*ANeuralNetworksModel_addOperation)(ANeuralNetworksModel *model,
                                             ANeuralNetworksOperationType type, uint32_t inputCount,
                                             const uint32_t *inputs, uint32_t outputCount,
                                             const uint32_t *outputs);
    int (*ANeuralNetworksModel_create)(ANeuralNetworksModel **model);
    int (*ANeuralNetworksModel_finish)(ANeuralNetworksModel *model);
    void (*ANeuralNetworksModel_free)(ANeuralNetworksModel *model);
    int (*ANeuralNetworksModel_getExtensionOperandType)(ANeuralNetworksModel *model,
                                                        const char *extensionName,
                                                        uint16_t operandCodeWithinExtension,
                                                        int32_t *type);
    int (*ANeuralNetworksModel_getExtensionOperationType)(ANeuralNetworksModel *model,
                                                          const char *extensionName,
                                                          uint16_t operationCodeWithinExtension,
                                                          ANeuralNetworksOperationType *type);
    int (*ANeuralNetworksModel_getSupportedOperationsForDevices)(
        const ANeuralNetworksModel *model, const ANeuralNetworksDevice *const *devices,
        uint32_t numDevices, bool *supportedOps);
    int (*ANeuralNetworksModel_identifyInputsAndOutputs)(ANeuralNetworksModel *model,
                                                         uint32_t inputCount,
                                                         const uint32_t *inputs,
                                                         uint32_t outputCount,
                                                         const uint32_t *outputs);
    int (*ANeuralNetworksModel_relaxComputationFloat32toFloat16)(ANeuralNetworksModel *model,
                                                                 bool allow);
    int (*ANeuralNetworksModel_setOperandExtensionData)(ANeuralNetworksModel *model, int32_t index,
                                                        const void *data, size_t length);
    int (*ANeuralNetworksModel_setOperandSymmPerChannelQuantParams)(
        ANeuralNetworksModel *model, int32_t index,
        const ANeuralNetworksSymmPerChannelQuantParams *channelQuant);
    int (*ANeuralNetworksModel_setOperandValue)(ANeuralNetworksModel *model, int32_t index,
                                                const void *buffer, size_t length);
    int (*ANeuralNetworksModel_setOperandValueFromMemory)(ANeuralNetworksModel *model,
                                                          int32_t index,
                                                          const ANeuralNetworksMemory *memory,
                                                          size_t offset, size_t length);
    int (*ANeuralNetworksModel_setOperandValueFromModel)(ANeuralNetworksModel *model, int32_t index,
                                                         const ANeuralNetworksModel *value);

    /* ---- the library */
    uint64_t (*ANeuralNetworks_getDefaultLoopTimeout)(void);
    int (*ANeuralNetworks_getDevice)(uint32_t devIndex, ANeuralNetworksDevice **device);
    int (*ANeuralNetworks_getDeviceCount)(uint32_t *numDevices);
    uint64_t (*ANeuralNetworks_getMaximumLoopTimeout)(void);
    int64_t (*ANeuralNetworks_getRuntimeFeatureLevel)(void);

    /* ---- caching */

    /* As ANeuralNetworksCompilation_setCaching(), with open files instead of a folder: as many as
     * the device needs. They are duplicated.  token: ANEURALNETWORKS_BYTE_SIZE_OF_CACHE_TOKEN
     * bytes. */
    int (*SL_ANeuralNetworksCompilation_setCachingFromFds)(ANeuralNetworksCompilation *compilation,
                                                           const int *modelCacheFds,
                                                           const uint32_t numModelCacheFiles,
                                                           const int *dataCacheFds,
                                                           const uint32_t numDataCacheFiles,
                                                           const uint8_t *token);
    /* Both 0: the device does not cache. */
    int (*SL_ANeuralNetworksDevice_getNumberOfCacheFilesNeeded)(const ANeuralNetworksDevice *device,
                                                                uint32_t *numModelCacheFiles,
                                                                uint32_t *numDataCacheFiles);

    /* ---- what the driver states of a device */

    /* performanceInfoKind: SL_ANeuralNetworksPerformanceInfoCode; BAD_DATA for others. */
    int (*SL_ANeuralNetworksDevice_getPerformanceInfo)(
        const ANeuralNetworksDevice *device, int32_t performanceInfoKind,
        SL_ANeuralNetworksPerformanceInfo *performanceInfo);
    /* Calls back for each type, in the caller's thread.  context must not be NULL. */
    int (*SL_ANeuralNetworksDevice_forEachOperandPerformanceInfo)(
        const ANeuralNetworksDevice *device, void *context,
        void (*callback)(SL_ANeuralNetworksOperandPerformanceInfo, void *));
    int (*SL_ANeuralNetworksDevice_getVendorExtensionCount)(const ANeuralNetworksDevice *device,
                                                            uint32_t *vendorExtensionCount);
    /* Extensions are numbered from 0; BAD_DATA for other indexes.  The name lives as long as the
     * library. */
    int (*SL_ANeuralNetworksDevice_getVendorExtensionName)(const ANeuralNetworksDevice *device,
                                                           uint32_t vendorExtensionIndex,
                                                           const char **extensionName);
    int (*SL_ANeuralNetworksDevice_forEachVendorExtensionOperandTypeInformation)(
        const ANeuralNetworksDevice *device, uint32_t vendorExtensionIndex, void *context,
        void (*callback)(SL_ANeuralNetworksExtensionOperandTypeInformation, void *));

    /* ---- diagnostics of a compilation */

    /* One number for all that this process reports. */
    int32_t (*SL_ANeuralNetworksDiagnosticCompilationInfo_getSessionId)(
        const ANeuralNetworksDiagnosticCompilationInfo *info);
    /* Feature level of the library. */
    int64_t (*SL_ANeuralNetworksDiagnosticCompilationInfo_getNnApiVersion)(
        const ANeuralNetworksDiagnosticCompilationInfo *info);
    /* 32 bytes: SHA-256 of the model without the values of its constants. */
    const uint8_t *(*SL_ANeuralNetworksDiagnosticCompilationInfo_getModelArchHash)(
        const ANeuralNetworksDiagnosticCompilationInfo *info);
    /* NAME=VERSION of the devices of the plan, sorted, separated by commas. */
    const char *(*SL_ANeuralNetworksDiagnosticCompilationInfo_getDeviceIds)(
        const ANeuralNetworksDiagnosticCompilationInfo *info);
    /* ResultCode */
    int32_t (*SL_ANeuralNetworksDiagnosticCompilationInfo_getErrorCode)(
        const ANeuralNetworksDiagnosticCompilationInfo *info);
    ANeuralNetworksDiagnosticDataClass (
        *SL_ANeuralNetworksDiagnosticCompilationInfo_getInputDataClass)(
        const ANeuralNetworksDiagnosticCompilationInfo *info);
    ANeuralNetworksDiagnosticDataClass (
        *SL_ANeuralNetworksDiagnosticCompilationInfo_getOutputDataClass)(
        const ANeuralNetworksDiagnosticCompilationInfo *info);
    /* Times are in ns; UINT64_MAX: unknown. */
    uint64_t (*SL_ANeuralNetworksDiagnosticCompilationInfo_getCompilationTimeNanos)(
        const ANeuralNetworksDiagnosticCompilationInfo *info);
    bool (*SL_ANeuralNetworksDiagnosticCompilationInfo_isCachingEnabled)(
        const ANeuralNetworksDiagnosticCompilationInfo *info);
    bool (*SL_ANeuralNetworksDiagnosticCompilationInfo_isControlFlowUsed)(
        const ANeuralNetworksDiagnosticCompilationInfo *info);
    /* Whether sizes of values inside the model are known only when it runs. */
    bool (*SL_ANeuralNetworksDiagnosticCompilationInfo_areDynamicTensorsUsed)(
        const ANeuralNetworksDiagnosticCompilationInfo *info);

    /* ---- diagnostics of an execution */

    int32_t (*SL_ANeuralNetworksDiagnosticExecutionInfo_getSessionId)(
        const ANeuralNetworksDiagnosticExecutionInfo *info);
    int64_t (*SL_ANeuralNetworksDiagnosticExecutionInfo_getNnApiVersion)(
        const ANeuralNetworksDiagnosticExecutionInfo *info);
    const uint8_t *(*SL_ANeuralNetworksDiagnosticExecutionInfo_getModelArchHash)(
        const ANeuralNetworksDiagnosticExecutionInfo *info);
    const char *(*SL_ANeuralNetworksDiagnosticExecutionInfo_getDeviceIds)(
        const ANeuralNetworksDiagnosticExecutionInfo *info);
    ANeuralNetworksDiagnosticExecutionMode (
        *SL_ANeuralNetworksDiagnosticExecutionInfo_getExecutionMode)(
        const ANeuralNetworksDiagnosticExecutionInfo *info);
    ANeuralNetworksDiagnosticDataClass (
        *SL_ANeuralNetworksDiagnosticExecutionInfo_getInputDataClass)(
        const ANeuralNetworksDiagnosticExecutionInfo *info);
    ANeuralNetworksDiagnosticDataClass (
        *SL_ANeuralNetworksDiagnosticExecutionInfo_getOutputDataClass)(
        const ANeuralNetworksDiagnosticExecutionInfo *info);
    /* ResultCode */
    uint32_t (*SL_ANeuralNetworksDiagnosticExecutionInfo_getErrorCode)(
        const ANeuralNetworksDiagnosticExecutionInfo *info);
    /* Unknown for an execution with dependencies. */
    uint64_t (*SL_ANeuralNetworksDiagnosticExecutionInfo_getRuntimeExecutionTimeNanos)(
        const ANeuralNetworksDiagnosticExecutionInfo *info);
    /* Known of an execution that measured, from a driver that measures. */
    uint64_t (*SL_ANeuralNetworksDiagnosticExecutionInfo_getDriverExecutionTimeNanos)(
        const ANeuralNetworksDiagnosticExecutionInfo *info);
    uint64_t (*SL_ANeuralNetworksDiagnosticExecutionInfo_getHardwareExecutionTimeNanos)(
        const ANeuralNetworksDiagnosticExecutionInfo *info);
    bool (*SL_ANeuralNetworksDiagnosticExecutionInfo_isCachingEnabled)(
        const ANeuralNetworksDiagnosticExecutionInfo *info);
    bool (*SL_ANeuralNetworksDiagnosticExecutionInfo_isControlFlowUsed)(
        const ANeuralNetworksDiagnosticExecutionInfo *info);
    bool (*SL_ANeuralNetworksDiagnosticExecutionInfo_areDynamicTensorsUsed)(
        const ANeuralNetworksDiagnosticExecutionInfo *info);

    /* From now on the callbacks get the context with what is reported.  NULL: nothing is reported
     * to it. */
    void (*SL_ANeuralNetworksDiagnostic_registerCallbacks)(
        ANeuralNetworksDiagnosticCompilationFinishedCallback compilationCallback,
        ANeuralNetworksDiagnosticExecutionFinishedCallback executionCallback,
        void *callbackContext);
} NnApiSLDriverImplFL5;

/* Tables of feature levels 6 and 7 differ in their feature level only. */
typedef struct NnApiSLDriverImplFL5 NnApiSLDriverImplFL6;
typedef NnApiSLDriverImplFL6 NnApiSLDriverImplFL7;

/* Table of feature level 8. */
typedef struct NnApiSLDriverImplFL8 {
    NnApiSLDriverImplFL7 base;

    int (*ANeuralNetworksCompilation_addExtensionAttribute)(ANeuralNetworksCompilation *compilation,
                                                            const char *extensionName,
                                                            uint16_t attributeCodeWithinExtension,
                                                            const void *data, size_t length);
    int (*ANeuralNetworksExecution_addExtensionAttribute)(ANeuralNetworksExecution *execution,
                                                          const char *extensionName,
                                                          uint16_t attributeCodeWithinExtension,
                                                          const void *data, size_t length);
} NnApiSLDriverImplFL8;

/* What a support library exports.  The table lives as long as the library. */
NnApiSLDriverImpl *ANeuralNetworks_getSLDriverImpl(void);

__END_DECLS

#endif
