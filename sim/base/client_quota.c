#include "sim/base/client_quota.h"

#include <inttypes.h>
#include <stdlib.h>

#include "golden/base/logging.h"

#define LOG_TAG "Account"

const struct client_limits client_limits_default = { .most = { [QUOTA_EXECUTIONS] = 64 },
                                                     .sessions = 64 };

struct client_usage {
    struct client_usage *next;
    uint32_t client;
    uint64_t held[QUOTA_KINDS];
};

void client_quotas_init(struct client_quotas *a, const struct client_limits *limits)
{
    *a = (struct client_quotas){ .limits = *limits };
    pthread_mutex_init(&a->lock, NULL);
}

void client_quotas_done(struct client_quotas *a)
{
    while (a->first) {
        struct client_usage *next = a->first->next;
        free(a->first);
        a->first = next;
    }
    pthread_mutex_destroy(&a->lock);
}

/* The link to the client's entry, or the end of the list. */
static struct client_usage **find(struct client_quotas *a, uint32_t client)
{
    struct client_usage **at = &a->first;

    while (*at && (*at)->client != client)
        at = &(*at)->next;
    return at;
}

static const char *const unit[] = {
    [QUOTA_MODELS] = "prepared models", [QUOTA_MEMORY] = "bytes",
    [QUOTA_EXECUTIONS] = "executions",  [QUOTA_FILES] = "descriptors",
    [QUOTA_MAPPINGS] = "mappings",      [QUOTA_THREADS] = "threads",
    [QUOTA_OBJECTS] = "objects",        [QUOTA_MESSAGES] = "bytes of messages"
};

static enum hal_status take(struct client_quotas *a, uint32_t client, enum quota_kind kind,
                            uint64_t n)
{
    struct client_usage **at = find(a, client);
    uint64_t most = a->limits.most[kind] ? a->limits.most[kind] : UINT64_MAX;
    uint64_t total = a->total[kind] ? a->total[kind] : UINT64_MAX, free = total - a->taken[kind];
    uint64_t held = *at ? (*at)->held[kind] : 0;

    if (n > most || n > total / 2)
        return HAL_RESOURCE_EXHAUSTED_PERSISTENT;
    if (held > most - n || n > free || held + n > free - n)
        return HAL_RESOURCE_EXHAUSTED_TRANSIENT;
    if (!*at && !(*at = calloc(1, sizeof(**at))))
        return HAL_RESOURCE_EXHAUSTED_TRANSIENT;
    (*at)->client = client;
    (*at)->held[kind] += n;
    a->taken[kind] += n;
    return HAL_NONE;
}

enum hal_status client_quota_charge(struct client_quotas *a, uint32_t client, enum quota_kind kind,
                                    uint64_t n)
{
    pthread_mutex_lock(&a->lock);
    enum hal_status status = n ? take(a, client, kind, n) : HAL_NONE;
    pthread_mutex_unlock(&a->lock);
    if (status != HAL_NONE)
        VLOG(DRIVER, "client %u: %" PRIu64 " more %s exceed its quota", client, n, unit[kind]);
    return status;
}

static bool is_empty(const struct client_usage *c)
{
    uint64_t any = 0;

    for (int i = 0; i < QUOTA_KINDS; i++)
        any |= c->held[i];
    return !any;
}

void client_quota_release(struct client_quotas *a, uint32_t client, enum quota_kind kind,
                          uint64_t n)
{
    if (!n)
        return;
    pthread_mutex_lock(&a->lock);
    struct client_usage **at = find(a, client), *c = *at;
    c->held[kind] -= n;
    a->taken[kind] -= n;
    if (is_empty(c)) {
        *at = c->next;
        free(c);
    }
    pthread_mutex_unlock(&a->lock);
}
