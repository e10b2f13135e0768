/* HAL memories, mapped into this process and checked: sizes come from the other side. */
#ifndef SIM_MEMORY_H
#define SIM_MEMORY_H

#include "golden/base/why.h"
#include "sim/hal.h"

/* address: `size` bytes, readable, writable if the memory was and `write` was asked for. */
struct mapping {
    uint8_t *address;
    uint64_t size;
    bool mapped; /* by memory_map(), to be unmapped; what follows is its own */
    uint32_t client, place;
};

/* So many files are mapped at once in a process that outlives them; well below what the system
 * allows (vm.max_map_count). */
enum { MEMORY_MOST_MAPPED = 1 << 15 };

/* Memory of this process alone: it has no descriptor under which another one could see it. */
bool memory_is_plain(const struct hal_memory *memory);

/* Descriptors are mapped shared; one that is shorter than it claims is refused. */
int memory_map(const struct hal_memory *memory, bool write, struct mapping *ret_mapping,
               struct why *w);
void memory_unmap(struct mapping *mapping);

/* Which bytes of which file a memory is: the same file under another descriptor is the same. */
struct memory_identity {
    uint64_t device, inode, offset, size;
    uint32_t kind, protection;
    int fd;
    bool is_sealed; /* its file cannot shrink; false where nobody has looked */
};

/* -1: no file, or one that is shorter than the memory says. */
int memory_identify(const struct hal_memory *memory, struct memory_identity *ret_identity);
bool memory_is_same(const struct memory_identity *a, const struct memory_identity *b);
void memory_look_for_seals(struct memory_identity *identity);
/* Whether that can be told without asking the system: the same part of a sealed file, under a
 * descriptor that has not been closed meanwhile, as the client promises. */
bool memory_is_known(const struct memory_identity *identity, const struct hal_memory *memory);

/* Files may shrink while they are mapped: from then on their lost pages read as zeros, and this
 * process lives.  For processes whose clients are others: takes SIGBUS over, for good. */
int memory_outlive_files(struct why *w);

/* offset + length within the mapping, without overflow. */
bool mapping_holds(const struct mapping *mapping, uint64_t offset, uint64_t length);

#endif
