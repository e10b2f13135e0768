#include "sim/caller.h"

#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

static _Thread_local struct caller *calling;

struct caller *caller_new(uint32_t client)
{
    struct caller *c = malloc(sizeof(*c));
    int gone = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

    if (!c || gone < 0) {
        free(c);
        if (gone >= 0)
            close(gone);
        return NULL;
    }
    *c = (struct caller){ .client = client, .references = 1, .gone = gone };
    return c;
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
    free(c);
}

void caller_go(struct caller *c)
{
    uint64_t one = 1;

    atomic_store(&c->is_gone, true);
    ssize_t n = write(c->gone, &one, sizeof(one));
    (void) n; /* full: it is readable already */
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
