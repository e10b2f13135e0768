/* HAL memories: checking them, which come from an untrusted client, and mapping them into this
 * process. */
#ifndef SIM_MEMORY_H
#define SIM_MEMORY_H

#include "golden/base/why.h"
#include "sim/hal.h"

/* `size` bytes at `address`: readable, and writable if memory_map() was called with write. */
struct mapping {
    uint8_t *address;
    uint64_t size;
    bool mapped;            /* created by mmap(): memory_unmap() unmaps it */
    uint32_t client, place; /* internal: client that is charged, entry for the SIGBUS handler */
};

/* Limit of files that are mapped at once in a process that survives their truncation; below the
 * system's default limit (vm.max_map_count). */
enum { MEMORY_MAX_MAPPED = 1 << 15 };

/* Memory of this process only: without a descriptor that could be passed to another process. */
bool memory_is_plain(const struct hal_memory *memory);

/* What memory_map() checks before it looks at a file: size, protection, kind.  WHY_INVALID. */
int memory_check(const struct hal_memory *memory, bool write, struct why *w);
/* Maps the memory; files are mapped MAP_SHARED and charged to the calling client, unless the client
 * has mapped them.  WHY_INVALID: it does not fit its file or lacks the protection (write: must be
 * writable); WHY_MEMORY: too many mappings; WHY_SYSTEM.  The memory must outlive the mapping; its
 * descriptor need not. */
int memory_map(const struct hal_memory *memory, bool write, struct mapping *ret_mapping,
               struct why *w);
/* Unmaps and zeroes the mapping; a zeroed one is allowed. */
void memory_unmap(struct mapping *mapping);

/* The part of a file that a memory refers to, independent of the descriptor. */
struct memory_identity {
    uint64_t device, inode, offset, size;
    uint32_t kind, protection;
    int fd;
    bool is_sealed; /* set by memory_check_seals(): the file cannot shrink */
};

/* -1: not a file, or a file that is shorter than the memory. */
int memory_identify(const struct hal_memory *memory, struct memory_identity *ret_identity);
/* Whether both are the same bytes with the same kind and protection. */
bool memory_is_same(const struct memory_identity *a, const struct memory_identity *b);
/* Sets is_sealed. */
void memory_check_seals(struct memory_identity *identity);
/* Whether the memory is known to have this identity without a system call: the same part of a
 * sealed file by the same descriptor, which the client promises not to have closed since. */
bool memory_is_known(const struct memory_identity *identity, const struct hal_memory *memory);

/* Installs a SIGBUS handler for the rest of the process: when a mapped file shrinks, its lost pages
 * read as zeros instead of killing the process.  For processes that serve other processes. */
int memory_survive_truncation(struct why *w);

/* Whether [offset, offset + length) lies within the mapping; cannot overflow. */
bool mapping_contains(const struct mapping *mapping, uint64_t offset, uint64_t length);

#endif
