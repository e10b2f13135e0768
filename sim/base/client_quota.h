/* Per-client quotas on the resources of a device, or of the process that serves it: exceeding one
 * fails that client's call only.  All functions may be called from any thread. */
#ifndef SIM_ACCOUNT_H
#define SIM_ACCOUNT_H

#include <pthread.h>

#include "sim/hal.h"

enum account_kind {
    /* Of a device. */
    ACCOUNT_MODELS,     /* prepared models */
    ACCOUNT_MEMORY,     /* bytes of their constants, and of buffers */
    ACCOUNT_EXECUTIONS, /* running asynchronous and fenced executions */

    /* Of a process (sim/base/process_quota.h). */
    ACCOUNT_FILES,    /* file descriptors */
    ACCOUNT_MAPPINGS, /* mapped files */
    ACCOUNT_THREADS,
    ACCOUNT_OBJECTS, /* driver objects that a session has handles for */
    ACCOUNT_MESSAGES /* bytes of received messages */
};
enum { ACCOUNT_KINDS = ACCOUNT_MESSAGES + 1 };

/* Limits of one client; 0: no limit. */
struct client_limits {
    uint64_t most[ACCOUNT_KINDS];
    uint32_t sessions; /* connections to a service of the driver */
};

/* Default limits: 64 executions, 64 sessions. */
extern const struct client_limits client_limits_default;

struct accounts {
    pthread_mutex_t lock;
    struct client_limits limits;
    /* Amounts for all clients together; a total of 0 is no limit.  With n clients, each may hold at
     * most 1/(n+1) of a total, so that some of it is left for the next client. */
    uint64_t total[ACCOUNT_KINDS], taken[ACCOUNT_KINDS];
    struct account *first; /* list of the clients that hold something */
};

/* Copies the limits; accounts_done() frees what clients still hold. */
void accounts_init(struct accounts *a, const struct client_limits *limits);
void accounts_done(struct accounts *a);

/* Charges n units to the client.  HAL_NONE; HAL_RESOURCE_EXHAUSTED_PERSISTENT: n alone exceeds what
 * a client may hold; HAL_RESOURCE_EXHAUSTED_TRANSIENT: n exceeds it together with what this client
 * or all clients hold, or out of memory. */
enum hal_status account_take(struct accounts *a, uint32_t client, enum account_kind kind,
                             uint64_t n);
/* Releases n units that were charged to the client. */
void account_give(struct accounts *a, uint32_t client, enum account_kind kind, uint64_t n);

#endif
