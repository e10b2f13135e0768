/* HAL memories, mapped into this process and checked: sizes come from the other side. */
#ifndef SIM_MEMORY_H
#define SIM_MEMORY_H

#include "golden/why.h"
#include "sim/hal.h"

/* address: `size` bytes, readable, writable if the memory was and `write` was asked for. */
struct mapping {
    uint8_t *address;
    uint64_t size;
    bool mapped; /* by memory_map(), to be unmapped */
};

/* Descriptors are mapped shared; one that is shorter than it claims is refused. */
int memory_map(const struct hal_memory *memory, bool write, struct mapping *ret_mapping,
               struct why *w);
void memory_unmap(struct mapping *mapping);

/* offset + length within the mapping, without overflow. */
bool mapping_holds(const struct mapping *mapping, uint64_t offset, uint64_t length);

#endif
