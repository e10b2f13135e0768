/* Android's Neural Networks API (NNAPI), feature levels 1 to 8, in C and C++.
 *
 * A model is built from operands and operations and finished; compilations prepare it for devices;
 * executions of a compilation compute outputs from inputs.  Functions return a ResultCode unless
 * stated otherwise: UNEXPECTED_NULL for a pointer that must not be NULL, BAD_STATE for a call that
 * comes too early or too late, BAD_DATA for wrong arguments.  A failed call that creates an object
 * sets its result to NULL.  Free functions accept NULL.
 *
 * Finished models and compilations may be used by several threads at once; other objects by one. */
#ifndef RUNTIME_NEURAL_NETWORKS_H
#define RUNTIME_NEURAL_NETWORKS_H

#include "NeuralNetworksTypes.h"

__BEGIN_DECLS

/* ---- devices */

/* Feature level of this library (FeatureLevelCode). */
int64_t ANeuralNetworks_getRuntimeFeatureLevel(void);

int ANeuralNetworks_getDeviceCount(uint32_t *numDevices);
/* Devices live as long as the library, as do the strings below. */
int ANeuralNetworks_getDevice(uint32_t devIndex, ANeuralNetworksDevice **device);
int ANeuralNetworksDevice_getName(const ANeuralNetworksDevice *device, const char **name);
int ANeuralNetworksDevice_getType(const ANeuralNetworksDevice *device, int32_t *type);
int ANeuralNetworksDevice_getVersion(const ANeuralNetworksDevice *device, const char **version);
/* The lower one of the driver's and the library's level. */
int ANeuralNetworksDevice_getFeatureLevel(const ANeuralNetworksDevice *device,
                                          int64_t *featureLevel);
/* Waits until the device answers; an error if it is dead. */
int ANeuralNetworksDevice_wait(const ANeuralNetworksDevice *device);

/* ---- memory */

/* Memory of `size` bytes of a file from `offset` on; prot: PROT_READ, PROT_WRITE.  The descriptor
 * is duplicated. */
int ANeuralNetworksMemory_createFromFd(size_t size, int prot, int fd, size_t offset,
                                       ANeuralNetworksMemory **memory);
/* Memory of a buffer of hardware_buffer.h, which may be released afterwards.  Format BLOB: as
 * memory of a file.  No driver takes other formats: as constants, and in parts, they are BAD_DATA,
 * as arguments of executions UNMAPPABLE when these are started. */
int ANeuralNetworksMemory_createFromAHardwareBuffer(const AHardwareBuffer *ahwb,
                                                    ANeuralNetworksMemory **memory);
/* Memory for what the finished descriptor's roles have in common, where possible of a device. */
int ANeuralNetworksMemory_createFromDesc(const ANeuralNetworksMemoryDesc *desc,
                                         ANeuralNetworksMemory **memory);
int ANeuralNetworksMemory_copy(const ANeuralNetworksMemory *src, const ANeuralNetworksMemory *dst);
void ANeuralNetworksMemory_free(ANeuralNetworksMemory *memory);

int ANeuralNetworksMemoryDesc_create(ANeuralNetworksMemoryDesc **desc);
/* The memory is to be input or output `index` of executions; frequency, in (0, 1]: how likely. */
int ANeuralNetworksMemoryDesc_addInputRole(ANeuralNetworksMemoryDesc *desc,
                                           const ANeuralNetworksCompilation *compilation,
                                           uint32_t index, float frequency);
int ANeuralNetworksMemoryDesc_addOutputRole(ANeuralNetworksMemoryDesc *desc,
                                            const ANeuralNetworksCompilation *compilation,
                                            uint32_t index, float frequency);
int ANeuralNetworksMemoryDesc_setDimensions(ANeuralNetworksMemoryDesc *desc, uint32_t rank,
                                            const uint32_t *dimensions);
int ANeuralNetworksMemoryDesc_finish(ANeuralNetworksMemoryDesc *desc);
void ANeuralNetworksMemoryDesc_free(ANeuralNetworksMemoryDesc *desc);

/* ---- models */

int ANeuralNetworksModel_create(ANeuralNetworksModel **model);
/* The model must not be in use by compilations or other models. */
void ANeuralNetworksModel_free(ANeuralNetworksModel *model);
/* Validates the model; afterwards it cannot be changed.  BAD_DATA: the model is invalid, and can
 * only be freed. */
int ANeuralNetworksModel_finish(ANeuralNetworksModel *model);
/* Operands are numbered from 0 in the order of these calls. */
int ANeuralNetworksModel_addOperand(ANeuralNetworksModel *model,
                                    const ANeuralNetworksOperandType *type);
/* Makes the operand a constant.  A buffer of more than
 * ANEURALNETWORKS_MAX_SIZE_OF_IMMEDIATELY_COPIED_VALUES bytes must stay valid and unchanged until
 * the model is finished.  NULL and 0: the operand has no value, as an omitted optional input. */
int ANeuralNetworksModel_setOperandValue(ANeuralNetworksModel *model, int32_t index,
                                         const void *buffer, size_t length);
/* The memory must outlive the model and everything that is made from it. */
int ANeuralNetworksModel_setOperandValueFromMemory(ANeuralNetworksModel *model, int32_t index,
                                                   const ANeuralNetworksMemory *memory,
                                                   size_t offset, size_t length);
/* value: a finished model, which must outlive this one. */
int ANeuralNetworksModel_setOperandValueFromModel(ANeuralNetworksModel *model, int32_t index,
                                                  const ANeuralNetworksModel *value);
int ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(
    ANeuralNetworksModel *model, int32_t index,
    const ANeuralNetworksSymmPerChannelQuantParams *channelQuant);
/* Adds an operation with operands by number; its operands' types must be right by now. */
int ANeuralNetworksModel_addOperation(ANeuralNetworksModel *model,
                                      ANeuralNetworksOperationType type, uint32_t inputCount,
                                      const uint32_t *inputs, uint32_t outputCount,
                                      const uint32_t *outputs);
/* Declares the operands that are inputs and outputs of the model, in the order of executions. */
int ANeuralNetworksModel_identifyInputsAndOutputs(ANeuralNetworksModel *model, uint32_t inputCount,
                                                  const uint32_t *inputs, uint32_t outputCount,
                                                  const uint32_t *outputs);
/* Whether TENSOR_FLOAT32 may be computed with the range and precision of FLOAT16. */
int ANeuralNetworksModel_relaxComputationFloat32toFloat16(ANeuralNetworksModel *model, bool allow);
/* supportedOps: for each operation, in the order in which they were added, whether one of the
 * devices can execute it. */
int ANeuralNetworksModel_getSupportedOperationsForDevices(
    const ANeuralNetworksModel *model, const ANeuralNetworksDevice *const *devices,
    uint32_t numDevices, bool *supportedOps);

/* ---- compilations */

/* The model must be finished and outlive the compilation.  Operations run on whatever devices the
 * library chooses. */
int ANeuralNetworksCompilation_create(ANeuralNetworksModel *model,
                                      ANeuralNetworksCompilation **compilation);
/* Operations run on these devices only. */
int ANeuralNetworksCompilation_createForDevices(ANeuralNetworksModel *model,
                                                const ANeuralNetworksDevice *const *devices,
                                                uint32_t numDevices,
                                                ANeuralNetworksCompilation **compilation);
void ANeuralNetworksCompilation_free(ANeuralNetworksCompilation *compilation);
int ANeuralNetworksCompilation_setPreference(ANeuralNetworksCompilation *compilation,
                                             int32_t preference);
/* Allows drivers to keep what they compile in files of this folder.  token:
 * ANEURALNETWORKS_BYTE_SIZE_OF_CACHE_TOKEN bytes that identify the model. */
int ANeuralNetworksCompilation_setCaching(ANeuralNetworksCompilation *compilation,
                                          const char *cacheDir, const uint8_t *token);
int ANeuralNetworksCompilation_setPriority(ANeuralNetworksCompilation *compilation, int priority);
/* Time that the compilation may take, in ns; 0: any.  Only for exactly one chosen device, as the
 * time-out and the timing of executions. */
int ANeuralNetworksCompilation_setTimeout(ANeuralNetworksCompilation *compilation,
                                          uint64_t duration);
int ANeuralNetworksCompilation_finish(ANeuralNetworksCompilation *compilation);
/* Alignment of the start and padding of the length, in bytes, with which an input or output needs
 * no copy.  The compilation must be finished. */
int ANeuralNetworksCompilation_getPreferredMemoryAlignmentForInput(
    const ANeuralNetworksCompilation *compilation, uint32_t index, uint32_t *alignment);
int ANeuralNetworksCompilation_getPreferredMemoryPaddingForInput(
    const ANeuralNetworksCompilation *compilation, uint32_t index, uint32_t *padding);
int ANeuralNetworksCompilation_getPreferredMemoryAlignmentForOutput(
    const ANeuralNetworksCompilation *compilation, uint32_t index, uint32_t *alignment);
int ANeuralNetworksCompilation_getPreferredMemoryPaddingForOutput(
    const ANeuralNetworksCompilation *compilation, uint32_t index, uint32_t *padding);

/* ---- executions */

int ANeuralNetworksExecution_create(ANeuralNetworksCompilation *compilation,
                                    ANeuralNetworksExecution **execution);
void ANeuralNetworksExecution_free(ANeuralNetworksExecution *execution);
/* Buffers must stay valid until the execution is complete.  type: with its dimensions where the
 * model's are not known; else NULL.  buffer NULL and length 0: the argument is omitted. */
int ANeuralNetworksExecution_setInput(ANeuralNetworksExecution *execution, int32_t index,
                                      const ANeuralNetworksOperandType *type, const void *buffer,
                                      size_t length);
int ANeuralNetworksExecution_setInputFromMemory(ANeuralNetworksExecution *execution, int32_t index,
                                                const ANeuralNetworksOperandType *type,
                                                const ANeuralNetworksMemory *memory, size_t offset,
                                                size_t length);
int ANeuralNetworksExecution_setOutput(ANeuralNetworksExecution *execution, int32_t index,
                                       const ANeuralNetworksOperandType *type, void *buffer,
                                       size_t length);
int ANeuralNetworksExecution_setOutputFromMemory(ANeuralNetworksExecution *execution, int32_t index,
                                                 const ANeuralNetworksOperandType *type,
                                                 const ANeuralNetworksMemory *memory, size_t offset,
                                                 size_t length);
int ANeuralNetworksExecution_setMeasureTiming(ANeuralNetworksExecution *execution, bool measure);
/* Time that the execution may take, in ns; 0: any. */
int ANeuralNetworksExecution_setTimeout(ANeuralNetworksExecution *execution, uint64_t duration);
/* Time that each WHILE may take, in ns. */
int ANeuralNetworksExecution_setLoopTimeout(ANeuralNetworksExecution *execution, uint64_t duration);
uint64_t ANeuralNetworks_getDefaultLoopTimeout(void);
uint64_t ANeuralNetworks_getMaximumLoopTimeout(void);
/* Whether lengths of arguments may exceed the sizes of their values. */
int ANeuralNetworksExecution_enableInputAndOutputPadding(ANeuralNetworksExecution *execution,
                                                         bool enable);
/* Whether the execution may be computed several times. */
int ANeuralNetworksExecution_setReusable(ANeuralNetworksExecution *execution, bool reusable);

/* Computes, and returns when the outputs are complete. */
int ANeuralNetworksExecution_compute(ANeuralNetworksExecution *execution);
int ANeuralNetworksExecution_burstCompute(ANeuralNetworksExecution *execution,
                                          ANeuralNetworksBurst *burst);
/* Starts to compute; the event tells when it is complete. */
int ANeuralNetworksExecution_startCompute(ANeuralNetworksExecution *execution,
                                          ANeuralNetworksEvent **event);
/* Starts to compute when all dependencies are signalled.  duration: time that it may take from then
 * on, in ns; 0: any. */
int ANeuralNetworksExecution_startComputeWithDependencies(
    ANeuralNetworksExecution *execution, const ANeuralNetworksEvent *const *dependencies,
    uint32_t numDependencies, uint64_t duration, ANeuralNetworksEvent **event);

/* Of a complete execution that measured: a DurationCode's in ns, UINT64_MAX if it is not known. */
int ANeuralNetworksExecution_getDuration(const ANeuralNetworksExecution *execution,
                                         int32_t durationCode, uint64_t *duration);
/* Shapes of outputs of a complete execution.  OUTPUT_INSUFFICIENT_SIZE: the shape that the output
 * needs, which its buffer was too small for. */
int ANeuralNetworksExecution_getOutputOperandRank(ANeuralNetworksExecution *execution,
                                                  int32_t index, uint32_t *rank);
int ANeuralNetworksExecution_getOutputOperandDimensions(ANeuralNetworksExecution *execution,
                                                        int32_t index, uint32_t *dimensions);

/* ---- bursts: executions of a compilation in rapid succession */

int ANeuralNetworksBurst_create(ANeuralNetworksCompilation *compilation,
                                ANeuralNetworksBurst **burst);
void ANeuralNetworksBurst_free(ANeuralNetworksBurst *burst);

/* ---- events: completion of executions */

/* Waits for the execution and returns its result. */
int ANeuralNetworksEvent_wait(ANeuralNetworksEvent *event);
/* Waits, too. */
void ANeuralNetworksEvent_free(ANeuralNetworksEvent *event);
/* An event that a sync fence signals.  The descriptor is duplicated. */
int ANeuralNetworksEvent_createFromSyncFenceFd(int sync_fence_fd, ANeuralNetworksEvent **event);
/* A descriptor that the caller closes; -1 with BAD_DATA: the event has none. */
int ANeuralNetworksEvent_getSyncFenceFd(const ANeuralNetworksEvent *event, int *sync_fence_fd);

__END_DECLS

#endif
