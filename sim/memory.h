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

/* Files may shrink while they are mapped: from then on their lost pages read as zeros, and this
 * process lives.  For processes whose clients are others: takes SIGBUS over, for good. */
int memory_outlive_files(struct why *w);

/* offset + length within the mapping, without overflow. */
bool mapping_holds(const struct mapping *mapping, uint64_t offset, uint64_t length);

#endif
