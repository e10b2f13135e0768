#include "sim/base/client_quota.h"

#include <inttypes.h>
#include <stdlib.h>

#include "golden/base/logging.h"

#define LOG_TAG "Account"

const struct client_limits client_limits_default = { .most = { [ACCOUNT_EXECUTIONS] = 64 },
                                                     .sessions = 64 };

struct account {
    struct account *next;
    uint32_t client;
    uint64_t held[ACCOUNT_KINDS];
};

void accounts_init(struct accounts *a, const struct client_limits *limits)
{
    *a = (struct accounts){ .limits = *limits };
    pthread_mutex_init(&a->lock, NULL);
}

void accounts_done(struct accounts *a)
{
    while (a->first) {
        struct account *next = a->first->next;
        free(a->first);
        a->first = next;
    }
    pthread_mutex_destroy(&a->lock);
}

/* The link to the client's entry, or the end of the list. */
static struct account **find(struct accounts *a, uint32_t client)
{
    struct account **at = &a->first;

    while (*at && (*at)->client != client)
        at = &(*at)->next;
    return at;
}

static const char *const unit[] = {
    [ACCOUNT_MODELS] = "prepared models", [ACCOUNT_MEMORY] = "bytes",
    [ACCOUNT_EXECUTIONS] = "executions",  [ACCOUNT_FILES] = "descriptors",
    [ACCOUNT_MAPPINGS] = "mappings",      [ACCOUNT_THREADS] = "threads",
    [ACCOUNT_OBJECTS] = "objects",        [ACCOUNT_MESSAGES] = "bytes of messages"
};

/* The status of charging n units to a client that holds `held`. */
static enum hal_status check(const struct accounts *a, enum account_kind kind, uint64_t held,
                             uint64_t n)
{
    uint64_t most = a->limits.most[kind] ? a->limits.most[kind] : UINT64_MAX;
    uint64_t total = a->total[kind] ? a->total[kind] : UINT64_MAX, free = total - a->taken[kind];

    if (n > most || n > total / 2)
        return HAL_RESOURCE_EXHAUSTED_PERSISTENT;
    if (held > most - n || n > free || held + n > free - n)
        return HAL_RESOURCE_EXHAUSTED_TRANSIENT;
    return HAL_NONE;
}

static enum hal_status take(struct accounts *a, uint32_t client, enum account_kind kind, uint64_t n)
{
    struct account **at = find(a, client);
    enum hal_status status = check(a, kind, *at ? (*at)->held[kind] : 0, n);

    if (status != HAL_NONE)
        return status;
    if (!*at && !(*at = calloc(1, sizeof(**at))))
        return HAL_RESOURCE_EXHAUSTED_TRANSIENT;
    (*at)->client = client;
    (*at)->held[kind] += n;
    a->taken[kind] += n;
    return HAL_NONE;
}

enum hal_status account_take(struct accounts *a, uint32_t client, enum account_kind kind,
                             uint64_t n)
{
    pthread_mutex_lock(&a->lock);
    enum hal_status status = n ? take(a, client, kind, n) : HAL_NONE;
    pthread_mutex_unlock(&a->lock);
    if (status != HAL_NONE)
        VLOG(DRIVER, "client %u: %" PRIu64 " more %s exceed its quota", client, n, unit[kind]);
    return status;
}

static bool is_empty(const struct account *c)
{
    uint64_t any = 0;

    for (int i = 0; i < ACCOUNT_KINDS; i++)
        any |= c->held[i];
    return !any;
}

void account_give(struct accounts *a, uint32_t client, enum account_kind kind, uint64_t n)
{
    if (!n)
        return;
    pthread_mutex_lock(&a->lock);
    struct account **at = find(a, client), *c = *at;
    c->held[kind] -= n;
    a->taken[kind] -= n;
    if (is_empty(c)) {
        *at = c->next;
        free(c);
    }
    pthread_mutex_unlock(&a->lock);
}
