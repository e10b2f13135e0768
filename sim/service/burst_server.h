/* Driver side of a burst over queues: requests arrive through a queue in shared memory, results are
 * returned through another; a socket beside them carries descriptors and shows when the peer has
 * hung up.
 *
 * A request refers to memory by slots.  The server requests the memory of an unknown slot from the
 * client over the socket (and rings the result queue's bell so that the client looks at the
 * socket), and caches it until the client releases it or the burst has been idle for a while.  The
 * driver receives the slot as the memory's identifier.  Every packet gets one result; a malformed
 * packet, or one whose result does not fit the queue, gets a failure without shapes and timing.  A
 * client has one request in flight at a time.
 *
 * Only the methods of hal.h are used: any driver can be served, in this process or by a service. */
#ifndef SIM_BURST_SERVER_H
#define SIM_BURST_SERVER_H

#include <stdatomic.h>

#include "sim/base/caller.h"
#include "sim/wire/ring.h"
#include "sim/wire/wire.h"

/* Slots of a burst; memories cached by all bursts that share a count; default length in datums. */
enum { BURST_SLOTS = 64, BURST_MAX_CACHED = 256, BURST_QUEUE_LENGTH = 1024 };

/* Descriptors of the client side; -1: none. */
struct burst_fds {
    int request, result, socket;
};
void burst_fds_close(struct burst_fds *fds);

/* The opened client side: writes to `request`, reads from `result`. */
struct burst_link {
    struct ring request, result;
    int socket;
};
/* Takes ownership of the descriptors, also on failure.  WHY_INVALID or WHY_MEMORY. */
int burst_link_open(struct burst_fds *fds, uint32_t request_length, uint32_t result_length,
                    struct burst_link *ret_link, struct why *w);
void burst_link_close(struct burst_link *link);

struct burst_server;

/* Takes ownership of the driver's burst.  caller: the client on whose behalf it executes; NULL:
 * this process.  NULL: out of memory, and the burst remains the caller's. */
struct burst_server *burst_server_new(struct hal_burst *burst, enum hal_version version,
                                      struct caller *caller);
/* Shares the count of cached memories with other bursts, which together cache at most
 * BURST_MAX_CACHED.  Before burst_server_open(). */
void burst_server_share_count(struct burst_server *s, atomic_uint *kept);
/* Releases cached memories after this many ns without requests; default BURST_IDLE_NS.  Before
 * burst_server_open(). */
void burst_server_set_idle_time(struct burst_server *s, uint64_t ns);
/* Creates the queues, of the given lengths in datums, and starts the thread that serves them.  At
 * most once.  *ret_fds: owned by the caller.  WHY_INVALID or WHY_MEMORY. */
int burst_server_open(struct burst_server *s, uint32_t request_length, uint32_t result_length,
                      struct burst_fds *ret_fds, struct why *w);
struct hal_burst *burst_server_burst(struct burst_server *s);
/* Releases the memory of an identifier, which may be a slot: the cached one and the driver's. */
enum hal_status burst_server_release_memory(struct burst_server *s, int64_t identifier);
/* Waits for the execution in progress, then frees the server and releases the driver's burst. */
void burst_server_free(struct burst_server *s);

#endif
