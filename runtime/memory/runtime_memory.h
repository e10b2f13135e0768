/* Memory objects of the C API: what constants, inputs and outputs lie in.
 *
 * Host memory (of a descriptor or an AHardwareBuffer of format BLOB) is mapped at its first use and
 * stays mapped until it is freed.  A memory from a descriptor
 * (ANeuralNetworksMemory_createFromDesc) may be a buffer of a driver; whatever is behind it, it has
 * roles and contents that are initialised or not. */
#ifndef RUNTIME_MEMORY_H
#define RUNTIME_MEMORY_H

#include <pthread.h>

#include "golden/model/op.h"
#include "runtime/include/NeuralNetworks.h"
#include "sim/hal.h"

/* A use of a memory: an input or output of a compilation. */
struct memory_role {
    const ANeuralNetworksCompilation *compilation; /* of a descriptor; of a memory NULL, because it
                                                      may outlive the compilation */
    uint64_t number;                               /* the compilation's */
    bool is_output;
    uint32_t index;
};

/* What a memory from a descriptor has besides. */
struct described_memory {
    struct arena *arena;   /* owns this and what it points to */
    int32_t foreign;       /* type code of a DT_FOREIGN operand */
    struct tensor operand; /* type, quantisation and declared dimensions; 0: unknown; no data */
    uint32_t n_roles;
    const struct memory_role *role;
    /* The driver's buffer and its token; NULL: the contents are in the host memory. */
    struct hal_buffer *buffer;
    uint32_t token;
    const void *session;           /* of the device that has given them: device_session() */
    struct described_memory *next; /* in the list of memories with buffers */
    /* Under ANeuralNetworksMemory.lock: */
    bool is_initialised;
    struct shape shape; /* of the contents */
};

struct ANeuralNetworksMemory {
    struct hal_memory host; /* kind HAL_MEMORY_FD or HAL_MEMORY_HARDWARE_BUFFER; its address is NULL
                               until memory_address() has mapped it.  size 0: none (a buffer) */
    bool is_opaque;         /* AHardwareBuffer of another format than BLOB: cannot be mapped */
    struct described_memory *described; /* NULL: not from a descriptor */
    pthread_mutex_t lock;               /* of the mapping and of `described` */
    uint64_t number;                    /* unique in the process: identifies it in bursts */
    struct memory_watcher *watchers;    /* bursts and executions that a driver keeps it for */
};

/* Told when a memory is freed, in the thread that frees it.  freed() must not watch or unwatch. */
struct memory_watcher {
    struct memory_watcher *next;
    ANeuralNetworksMemory *memory; /* NULL: nothing is watched (any more) */
    void (*freed)(struct memory_watcher *self, const ANeuralNetworksMemory *m);
};
/* From any thread.  `w` stays valid until it is unwatched, which also waits for its freed(). */
void memory_watch(ANeuralNetworksMemory *m, struct memory_watcher *w);
void memory_unwatch(struct memory_watcher *w);

/* Each returns a code of NeuralNetworksTypes.h. */

/* Memory of a file: duplicates the descriptor. */
int memory_of_fd(size_t size, int protection, int fd, size_t offset, ANeuralNetworksMemory **ret);
/* Memory of an AHardwareBuffer of libnativewindow.so, which may be released afterwards: BAD_DATA
 * for another object.  A format other than BLOB: opaque. */
int memory_of_hardware_buffer(const AHardwareBuffer *buffer, ANeuralNetworksMemory **ret);
/* Shared memory of the library's own (a memfd), mapped for reading and writing. */
int memory_of_size(size_t size, ANeuralNetworksMemory **ret);
/* The contents are in the buffer of d, which the memory then owns.  OP_FAILED: another memory with
 * a buffer of the session has the token. */
int memory_of_buffer(struct described_memory *d, ANeuralNetworksMemory **ret);
/* NULL: nothing happens.  Users of the memory are not looked at. */
void memory_free(ANeuralNetworksMemory *m);

/* Where host memory is mapped; maps it at the first call, from any thread.
 * ANEURALNETWORKS_UNMAPPABLE: it cannot be. */
int memory_address(ANeuralNetworksMemory *m, uint8_t **ret_address);
/* For a driver of that level: with descriptor and address.  Before level 3 there are no hardware
 * buffers: it gets the memory of the descriptor.  ANEURALNETWORKS_UNMAPPABLE. */
int memory_for_driver(ANeuralNetworksMemory *m, enum level level, struct hal_memory *ret);
/* Whether `length` bytes at `offset` may hold a constant, or an argument of an execution:
 * BAD_DATA where they lie outside, are (0, 0), or the memory is opaque or from a descriptor. */
int memory_check_range(const ANeuralNetworksMemory *m, size_t offset, size_t length);

#endif
