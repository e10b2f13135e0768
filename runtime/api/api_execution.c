/* Entry points: executions, bursts, events. */
#include "runtime/api/entry.h"
#include "runtime/base/failure.h"
#include "runtime/execute/compute.h"
#include "runtime/include/NeuralNetworksExtensions.h"

#define LOG_TAG "NeuralNetworks"

int ANeuralNetworksExecution_create(ANeuralNetworksCompilation *compilation,
                                    ANeuralNetworksExecution **execution)
{
    ENTER(PE);
    return execution_create(compilation, execution);
}

void ANeuralNetworksExecution_free(ANeuralNetworksExecution *execution)
{
    ENTER(PE);
    execution_release(execution);
}

int ANeuralNetworksExecution_setInput(ANeuralNetworksExecution *execution, int32_t index,
                                      const ANeuralNetworksOperandType *type, const void *buffer,
                                      size_t length)
{
    ENTER(PIO);
    const struct given_argument g = {
        .index = index, .type = type, .buffer = (void *) (uintptr_t) buffer, .length = length
    };

    return execution_set_input(execution, &g);
}

int ANeuralNetworksExecution_setInputFromMemory(ANeuralNetworksExecution *execution, int32_t index,
                                                const ANeuralNetworksOperandType *type,
                                                const ANeuralNetworksMemory *memory, size_t offset,
                                                size_t length)
{
    ENTER(PIO);
    const struct given_argument g = { index,  type,
                                      NULL,   (ANeuralNetworksMemory *) (uintptr_t) memory,
                                      offset, length };

    REQUIRE_GIVEN(memory);
    return execution_set_input(execution, &g);
}

int ANeuralNetworksExecution_setOutput(ANeuralNetworksExecution *execution, int32_t index,
                                       const ANeuralNetworksOperandType *type, void *buffer,
                                       size_t length)
{
    ENTER(PIO);
    const struct given_argument g = {
        .index = index, .type = type, .buffer = buffer, .length = length
    };

    return execution_set_output(execution, &g);
}

int ANeuralNetworksExecution_setOutputFromMemory(ANeuralNetworksExecution *execution, int32_t index,
                                                 const ANeuralNetworksOperandType *type,
                                                 const ANeuralNetworksMemory *memory, size_t offset,
                                                 size_t length)
{
    ENTER(PIO);
    const struct given_argument g = { index,  type,
                                      NULL,   (ANeuralNetworksMemory *) (uintptr_t) memory,
                                      offset, length };

    REQUIRE_GIVEN(memory);
    return execution_set_output(execution, &g);
}

int ANeuralNetworksExecution_setMeasureTiming(ANeuralNetworksExecution *execution, bool measure)
{
    ENTER(PE);
    return execution_set_measure(execution, measure);
}

int ANeuralNetworksExecution_setTimeout(ANeuralNetworksExecution *execution, uint64_t duration)
{
    ENTER(PE);
    return execution_set_timeout(execution, duration);
}

int ANeuralNetworksExecution_setLoopTimeout(ANeuralNetworksExecution *execution, uint64_t duration)
{
    ENTER(PE);
    return execution_set_loop_timeout(execution, duration);
}

int ANeuralNetworksExecution_enableInputAndOutputPadding(ANeuralNetworksExecution *execution,
                                                         bool enable)
{
    ENTER(PE);
    return execution_set_padded(execution, enable);
}

int ANeuralNetworksExecution_setReusable(ANeuralNetworksExecution *execution, bool reusable)
{
    ENTER(PE);
    return execution_set_reusable(execution, reusable);
}

uint64_t ANeuralNetworks_getDefaultLoopTimeout(void)
{
    return HAL_LOOP_TIMEOUT_DEFAULT;
}

uint64_t ANeuralNetworks_getMaximumLoopTimeout(void)
{
    return HAL_LOOP_TIMEOUT_MAX;
}

int ANeuralNetworksExecution_addExtensionAttribute(ANeuralNetworksExecution *execution,
                                                   const char *extensionName,
                                                   uint16_t attributeCodeWithinExtension,
                                                   const void *data, size_t length)
{
    ENTER(PE);
    return execution_add_attribute(execution, extensionName, attributeCodeWithinExtension, data,
                                   length);
}

int ANeuralNetworksExecution_compute(ANeuralNetworksExecution *execution)
{
    ENTER(PE);
    return execution_compute(execution);
}

int ANeuralNetworksExecution_burstCompute(ANeuralNetworksExecution *execution,
                                          ANeuralNetworksBurst *burst)
{
    ENTER(PE);
    return execution_compute_in_burst(execution, burst);
}

int ANeuralNetworksExecution_startCompute(ANeuralNetworksExecution *execution,
                                          ANeuralNetworksEvent **event)
{
    ENTER(PE);
    return execution_start(execution, event);
}

int ANeuralNetworksExecution_startComputeWithDependencies(
    ANeuralNetworksExecution *execution, const ANeuralNetworksEvent *const *dependencies,
    uint32_t numDependencies, uint64_t duration, ANeuralNetworksEvent **event)
{
    ENTER(PE);
    return execution_start_fenced(execution, dependencies, numDependencies, duration, event);
}

int ANeuralNetworksExecution_getDuration(const ANeuralNetworksExecution *execution,
                                         int32_t durationCode, uint64_t *duration)
{
    ENTER(PE);
    return execution_duration((ANeuralNetworksExecution *) (uintptr_t) execution, durationCode,
                              duration);
}

int ANeuralNetworksExecution_getOutputOperandRank(ANeuralNetworksExecution *execution,
                                                  int32_t index, uint32_t *rank)
{
    ENTER(PE);
    return execution_output_rank(execution, index, rank);
}

int ANeuralNetworksExecution_getOutputOperandDimensions(ANeuralNetworksExecution *execution,
                                                        int32_t index, uint32_t *dimensions)
{
    ENTER(PE);
    return execution_output_dimensions(execution, index, dimensions);
}

int ANeuralNetworksBurst_create(ANeuralNetworksCompilation *compilation,
                                ANeuralNetworksBurst **burst)
{
    ENTER(PP);
    return burst_create(compilation, burst);
}

void ANeuralNetworksBurst_free(ANeuralNetworksBurst *burst)
{
    ENTER(PT);
    burst_free(burst);
}

int ANeuralNetworksEvent_wait(ANeuralNetworksEvent *event)
{
    ENTER(PE);
    return event_wait(event);
}

void ANeuralNetworksEvent_free(ANeuralNetworksEvent *event)
{
    ENTER(PE);
    event_free(event);
}

int ANeuralNetworksEvent_createFromSyncFenceFd(int sync_fence_fd, ANeuralNetworksEvent **event)
{
    entry_begin(__func__);
    return event_of_fence(sync_fence_fd, event);
}

int ANeuralNetworksEvent_getSyncFenceFd(const ANeuralNetworksEvent *event, int *sync_fence_fd)
{
    entry_begin(__func__);
    return event_fence(event, sync_fence_fd);
}
