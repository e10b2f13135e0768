/* Entry points: memory descriptors, and copies between memories. */
#include "runtime/api/entry.h"
#include "runtime/base/failure.h"
#include "runtime/domain/memory_desc.h"

#define LOG_TAG "NeuralNetworks"

int ANeuralNetworksMemoryDesc_create(ANeuralNetworksMemoryDesc **desc)
{
    ENTER(PC);
    REQUIRE_GIVEN(desc);
    *desc = NULL;
    return memory_desc_create(desc);
}

void ANeuralNetworksMemoryDesc_free(ANeuralNetworksMemoryDesc *desc)
{
    ENTER(PT);
    memory_desc_free(desc);
}

int ANeuralNetworksMemoryDesc_addInputRole(ANeuralNetworksMemoryDesc *desc,
                                           const ANeuralNetworksCompilation *compilation,
                                           uint32_t index, float frequency)
{
    ENTER(PC);
    REQUIRE_GIVEN(desc);
    REQUIRE_GIVEN(compilation);
    return memory_desc_add_role(desc, compilation, false, index, frequency);
}

int ANeuralNetworksMemoryDesc_addOutputRole(ANeuralNetworksMemoryDesc *desc,
                                            const ANeuralNetworksCompilation *compilation,
                                            uint32_t index, float frequency)
{
    ENTER(PC);
    REQUIRE_GIVEN(desc);
    REQUIRE_GIVEN(compilation);
    return memory_desc_add_role(desc, compilation, true, index, frequency);
}

int ANeuralNetworksMemoryDesc_setDimensions(ANeuralNetworksMemoryDesc *desc, uint32_t rank,
                                            const uint32_t *dimensions)
{
    ENTER(PC);
    REQUIRE_GIVEN(desc);
    if (rank)
        REQUIRE_GIVEN(dimensions);
    return memory_desc_set_dimensions(desc, rank, dimensions);
}

int ANeuralNetworksMemoryDesc_finish(ANeuralNetworksMemoryDesc *desc)
{
    ENTER(PC);
    REQUIRE_GIVEN(desc);
    return memory_desc_finish(desc);
}

int ANeuralNetworksMemory_createFromDesc(const ANeuralNetworksMemoryDesc *desc,
                                         ANeuralNetworksMemory **memory)
{
    ENTER(PC);
    REQUIRE_GIVEN(memory);
    *memory = NULL;
    REQUIRE_GIVEN(desc);
    return memory_create_from_desc(desc, memory);
}

int ANeuralNetworksMemory_copy(const ANeuralNetworksMemory *src, const ANeuralNetworksMemory *dst)
{
    ENTER(PE);
    REQUIRE_GIVEN(src);
    REQUIRE_GIVEN(dst);
    /* the API's handles are const, as for arguments of executions */
    return memory_copy((ANeuralNetworksMemory *) (uintptr_t) src,
                       (ANeuralNetworksMemory *) (uintptr_t) dst);
}
