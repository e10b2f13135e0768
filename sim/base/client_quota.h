/* What every client holds of a device, or of the process that serves it, and how much one may: who
 * takes too much is told, and the others do not notice. */
#ifndef SIM_ACCOUNT_H
#define SIM_ACCOUNT_H

#include <pthread.h>

#include "sim/hal.h"

enum account_kind {
    ACCOUNT_MODELS,     /* prepared */
    ACCOUNT_MEMORY,     /* bytes of their constants, and of buffers */
    ACCOUNT_EXECUTIONS, /* asynchronous and fenced ones under way */

    /* Of a process (sim/base/process_quota.h). */
    ACCOUNT_FILES,    /* descriptors */
    ACCOUNT_MAPPINGS, /* of files */
    ACCOUNT_THREADS,
    ACCOUNT_OBJECTS, /* of the driver's, that it has handles of */
    ACCOUNT_MESSAGES /* bytes of messages, as they are read */
};
enum { ACCOUNT_KINDS = ACCOUNT_MESSAGES + 1 };

/* Of one client; 0: no limit. */
struct client_limits {
    uint64_t most[ACCOUNT_KINDS];
    uint32_t sessions; /* connections to a service of the driver */
};

/* Where nobody says anything else. */
extern const struct client_limits client_limits_default;

struct accounts {
    pthread_mutex_t lock;
    struct client_limits limits;
    /* What there is for all clients; 0: no limit.  None gets more than it leaves: two have a third
     * each at most, and there is always something for the next one. */
    uint64_t total[ACCOUNT_KINDS], taken[ACCOUNT_KINDS];
    struct account *first; /* of clients that hold something */
};

void accounts_init(struct accounts *a, const struct client_limits *limits);
void accounts_done(struct accounts *a);

/* HAL_NONE; RESOURCE_EXHAUSTED_PERSISTENT where n alone is more than a client may have,
 * RESOURCE_EXHAUSTED_TRANSIENT where it is with what the client has already. */
enum hal_status account_take(struct accounts *a, uint32_t client, enum account_kind kind,
                             uint64_t n);
/* What has been taken. */
void account_give(struct accounts *a, uint32_t client, enum account_kind kind, uint64_t n);

#endif
