/* The driver's end of a burst: requests come through a queue in shared memory, results go through
 * another, and a socket beside them says that the other side lives and carries descriptors.
 *
 * A request names memory by slots.  A slot that is not known is asked for over the socket (the
 * result queue's bell tells the client that there is a question) and kept until the client frees it
 * or has asked for nothing for a while; the driver gets the slot as the memory's identifier.  Every
 * packet is answered by one result, malformed ones and those whose result does not fit the queue by
 * a failure without shapes and timing.  Clients write one request at a time.
 *
 * It works on the methods of hal.h alone, for any driver, in this process and in a service. */
#ifndef SIM_BURST_SERVER_H
#define SIM_BURST_SERVER_H

#include <stdatomic.h>

#include "sim/base/caller.h"
#include "sim/wire/ring.h"
#include "sim/wire/wire.h"

enum { BURST_SLOTS = 64, BURST_KEPT_MOST = 256, BURST_QUEUE_LENGTH = 1024 };

/* The client's end, as descriptors; -1: none. */
struct burst_fds {
    int request, result, socket;
};
void burst_fds_close(struct burst_fds *fds);

/* The same, opened: writes into `request`, reads from `result`. */
struct burst_link {
    struct ring request, result;
    int socket;
};
/* Takes the descriptors over, also on failure. */
int burst_link_open(struct burst_fds *fds, uint32_t request_length, uint32_t result_length,
                    struct burst_link *ret_link, struct why *w);
void burst_link_close(struct burst_link *link);

struct burst_server;

/* Takes the driver's burst over; caller: on whose behalf it executes.  NULL: no memory, and the
 * burst is whose it was. */
struct burst_server *burst_server_new(struct hal_burst *burst, enum hal_version version,
                                      struct caller *caller);
/* Shares the count of kept memories with other bursts, which together keep BURST_KEPT_MOST; before
 * burst_server_open(). */
void burst_server_share(struct burst_server *s, atomic_uint *kept);
/* After so many ns without requests memories are given up; before burst_server_open(). */
void burst_server_set_idle(struct burst_server *s, uint64_t ns);
/* Makes the queues and begins to serve them; at most once. */
int burst_server_open(struct burst_server *s, uint32_t request_length, uint32_t result_length,
                      struct burst_fds *ret_fds, struct why *w);
struct hal_burst *burst_server_burst(struct burst_server *s);
/* A slot, or another identifier: the memory is not kept any more. */
enum hal_status burst_server_release_memory(struct burst_server *s, int64_t identifier);
/* When the execution under way is over; with the driver's burst. */
void burst_server_free(struct burst_server *s);

#endif
