/* Entry points: memory. */
#include "runtime/api/entry.h"
#include "runtime/base/failure.h"
#include "runtime/memory/runtime_memory.h"

#define LOG_TAG "NeuralNetworks"

int ANeuralNetworksMemory_createFromFd(size_t size, int prot, int fd, size_t offset,
                                       ANeuralNetworksMemory **memory)
{
    ENTER(PP);
    REQUIRE_GIVEN(memory);
    *memory = NULL;
    return memory_of_fd(size, prot, fd, offset, memory);
}

int ANeuralNetworksMemory_createFromAHardwareBuffer(const AHardwareBuffer *ahwb,
                                                    ANeuralNetworksMemory **memory)
{
    ENTER(PP);
    REQUIRE_GIVEN(memory);
    *memory = NULL;
    REQUIRE_GIVEN(ahwb);
    return memory_of_hardware_buffer(ahwb, memory);
}

void ANeuralNetworksMemory_free(ANeuralNetworksMemory *memory)
{
    ENTER(PT);
    memory_free(memory);
}
