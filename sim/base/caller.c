#include "sim/base/caller.h"

#include <stddef.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "sim/base/process_quota.h"

static _Thread_local struct caller *calling;

/* The caller that contains the budget. */
static struct caller *of_budget(struct arena_budget *b)
{
    return (struct caller *) (void *) ((char *) b - offsetof(struct caller, messages));
}

static bool take_bytes(struct arena_budget *self, size_t bytes)
{
    return process_quota_charge(QUOTA_MESSAGES, of_budget(self)->client, bytes);
}

static void give_bytes(struct arena_budget *self, size_t bytes)
{
    process_quota_release(QUOTA_MESSAGES, of_budget(self)->client, bytes);
}

struct caller *caller_new(uint32_t client)
{
    struct caller *c = malloc(sizeof(*c));

    if (!c || !process_quota_charge(QUOTA_FILES, client, 1)) {
        free(c);
        return NULL;
    }
    *c = (struct caller){ .client = client,
                          .references = 1,
                          .gone = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
                          .messages = { take_bytes, give_bytes } };
    if (c->gone >= 0)
        return c;
    process_quota_release(QUOTA_FILES, client, 1);
    free(c);
    return NULL;
}

struct caller *caller_ref(struct caller *c)
{
    if (c)
        atomic_fetch_add(&c->references, 1);
    return c;
}

void caller_unref(struct caller *c)
{
    if (!c || atomic_fetch_sub(&c->references, 1) != 1)
        return;
    close(c->gone);
    process_quota_release(QUOTA_FILES, c->client, 1);
    free(c);
}

void caller_disconnect(struct caller *c)
{
    uint64_t one = 1;

    atomic_store(&c->is_gone, true);
    ssize_t n = write(c->gone, &one, sizeof(one));
    (void) n; /* fails only when the counter is full, and then it is readable */
}

void caller_set(struct caller *c)
{
    calling = c;
}

struct caller *caller_get(void)
{
    return calling;
}

uint32_t caller_client(void)
{
    return calling ? calling->client : 0;
}
