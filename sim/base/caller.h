/* Whom the calls of a thread come from: a client of a service, as a session knows it, or this
 * process.  What a client has under way ends early once it has gone: nobody waits for it. */
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
    int gone;                     /* a descriptor that polls readable once it has */
    struct arena_budget messages; /* for arenas in which its messages are read */
};

/* NULL: no memory, no descriptor, or none of the client's share. */
struct caller *caller_new(uint32_t client);
struct caller *caller_ref(struct caller *c); /* both take NULL */
void caller_unref(struct caller *c);
/* From any thread; once is enough. */
void caller_go(struct caller *c);

/* Of this thread, until it is set again; NULL: this process, which is client 0 and does not go. */
void caller_set(struct caller *c);
struct caller *caller_get(void);
uint32_t caller_client(void);

#endif
