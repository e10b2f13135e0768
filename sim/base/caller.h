/* The client on whose behalf a thread calls the driver: a client of a service, set by its session,
 * or this process.  Once a client has disconnected, its executions are cancelled. */
#ifndef SIM_CALLER_H
#define SIM_CALLER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "golden/base/arena.h"

struct caller {
    uint32_t client;
    atomic_uint references;
    atomic_bool is_gone;
    int gone;                     /* a descriptor that polls readable once is_gone */
    struct arena_budget messages; /* for arenas of its messages: charges QUOTA_MESSAGES */
};

/* One reference.  NULL: out of memory or descriptors, or over the client's quota of descriptors. */
struct caller *caller_new(uint32_t client);
struct caller *caller_ref(struct caller *c); /* both take NULL */
void caller_unref(struct caller *c);
/* Marks the client as disconnected; any thread, any number of times. */
void caller_disconnect(struct caller *c);

/* The caller of this thread, not a reference.  NULL: this process, client 0, never disconnects. */
void caller_set(struct caller *c);
struct caller *caller_get(void);
/* Its client number. */
uint32_t caller_client(void);

#endif
