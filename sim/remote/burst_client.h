/* The client's end of a burst over queues (sim/service/burst_server.h): puts requests of hal.h into
 * packets, and its memories into slots.  Memory in files goes into the slot of its identifier;
 * plain memory is copied into and out of files of the client's end, which are kept for the next
 * request. */
#ifndef SIM_BURST_CLIENT_H
#define SIM_BURST_CLIENT_H

#include "sim/service/burst_server.h"

struct burst_client;

/* Tells the service that a slot will not be used any more, another way than through the queues. */
struct burst_host {
    enum hal_status (*release_memory)(void *user, int64_t identifier);
    void *user;
    uint64_t patience; /* most ns that a result may take, UINT64_MAX: any number */
};

/* Takes the link over.  NULL: no memory, and the link is closed. */
struct burst_client *burst_client_new(struct burst_link *link, enum hal_version version,
                                      const struct burst_host *host);
void burst_client_free(struct burst_client *c);

enum burst_way {
    BURST_WENT,   /* *ret_status and *result are the answer */
    BURST_CANNOT, /* not said: packets cannot say it, or another request is under way */
    BURST_DEAD    /* the other side is gone, answers nonsense, or (WHY_TIMEOUT) nothing */
};
/* As hal.h's.  result is written when the request went. */
enum burst_way burst_client_execute(struct burst_client *c, const struct hal_request *request,
                                    uint32_t n_identifiers, const int64_t *identifiers,
                                    const struct hal_execution_config *config,
                                    struct hal_result *result, enum hal_status *ret_status,
                                    struct why *w);
enum hal_status burst_client_release_memory(struct burst_client *c, int64_t identifier);

#endif
