/* Per-client quotas on the resources of a device, or of the process that serves it: exceeding one
 * fails that client's call only.  All functions may be called from any thread. */
#ifndef SIM_CLIENT_QUOTA_H
#define SIM_CLIENT_QUOTA_H

#include <pthread.h>

#include "sim/hal.h"

enum quota_kind {
    /* Of a device. */
    QUOTA_MODELS,     /* prepared models */
    QUOTA_MEMORY,     /* bytes of their constants, and of buffers */
    QUOTA_EXECUTIONS, /* running asynchronous and fenced executions */

    /* Of a process (sim/base/process_quota.h). */
    QUOTA_FILES,    /* file descriptors */
    QUOTA_MAPPINGS, /* mapped files */
    QUOTA_THREADS,
    QUOTA_OBJECTS, /* driver objects that a session has handles for */
    QUOTA_MESSAGES /* bytes of received messages */
};
enum { QUOTA_KINDS = QUOTA_MESSAGES + 1 };

/* Limits of one client; 0: no limit. */
struct client_limits {
    uint64_t most[QUOTA_KINDS];
    uint32_t sessions; /* connections to a service of the driver */
};

/* Default limits: 64 executions, 64 sessions. */
extern const struct client_limits client_limits_default;

struct client_quotas {
    pthread_mutex_t lock;
    struct client_limits limits;
    /* Amounts for all clients together; a total of 0 is no limit.  With n clients, each may hold at
     * most 1/(n+1) of a total, so that some of it is left for the next client. */
    uint64_t total[QUOTA_KINDS], taken[QUOTA_KINDS];
    struct client_usage *first; /* list of the clients that hold something */
};

/* Copies the limits; client_quotas_done() frees what clients still hold. */
void client_quotas_init(struct client_quotas *a, const struct client_limits *limits);
void client_quotas_done(struct client_quotas *a);

/* Charges n units to the client.  HAL_NONE; HAL_RESOURCE_EXHAUSTED_PERSISTENT: n alone exceeds what
 * a client may hold; HAL_RESOURCE_EXHAUSTED_TRANSIENT: n exceeds it together with what this client
 * or all clients hold, or out of memory. */
enum hal_status client_quota_charge(struct client_quotas *a, uint32_t client, enum quota_kind kind,
                                    uint64_t n);
/* Releases n units that were charged to the client. */
void client_quota_release(struct client_quotas *a, uint32_t client, enum quota_kind kind,
                          uint64_t n);

#endif
