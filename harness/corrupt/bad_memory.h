/* Memories that no driver may use: without an address or descriptor, of an unknown kind, longer
 * than their file. */
#ifndef HARNESS_BAD_MEMORY_H
#define HARNESS_BAD_MEMORY_H

#include "sim/hal.h"

struct bad_memory {
    const char *what; /* "memory without bytes" */
    /* Changes a valid memory with an address.  The size stays as it is, unless it is what is wrong.
     * Descriptors are valid until the next change. */
    void (*change)(struct hal_memory *m);
};
extern const struct bad_memory bad_memories[];
extern const int n_bad_memories;

#endif
