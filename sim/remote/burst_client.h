/* Client side of a burst over queues (sim/service/burst_server.h): encodes requests of hal.h as
 * packets and assigns their memories to slots.  A memory with a descriptor is assigned to a slot
 * under its identifier; memory of kind ADDRESS is copied to and from memory files of this module,
 * which it keeps for later requests. */
#ifndef SIM_BURST_CLIENT_H
#define SIM_BURST_CLIENT_H

#include "sim/remote/reply_wait.h"
#include "sim/service/burst_server.h"

struct burst_client;

/* What the owner of a burst provides. */
struct burst_host {
    /* Sends a release of memory to the service, by a call rather than through the queues. */
    enum hal_status (*release_memory)(void *user, int64_t identifier);
    void *user;
    const struct reply_limit *limit; /* of a result */
};

/* Takes ownership of the link.  NULL: out of memory, and the link is closed. */
struct burst_client *burst_client_new(struct burst_link *link, enum hal_version version,
                                      const struct burst_host *host);
void burst_client_free(struct burst_client *c);

enum burst_outcome {
    BURST_EXECUTED,    /* executed: *ret_status and *result are the service's */
    BURST_NOT_SENT,    /* not sent: not representable in a packet, or another request is in flight
                        */
    BURST_DISCONNECTED /* connection failed: closed, an invalid result, or (WHY_TIMEOUT) no result
                        */
};
/* As hal_burst_methods.execute_synchronously; *result and *ret_status are set on BURST_EXECUTED.
 * One request is in flight at a time.  After BURST_NOT_SENT the caller sends the request as a
 * call. */
enum burst_outcome burst_client_execute(struct burst_client *c, const struct hal_request *request,
                                        uint32_t n_identifiers, const int64_t *identifiers,
                                        const struct hal_execution_config *config,
                                        struct hal_result *result, enum hal_status *ret_status,
                                        struct why *w);
/* As hal_burst_methods.release_memory. */
enum hal_status burst_client_release_memory(struct burst_client *c, int64_t identifier);

#endif
