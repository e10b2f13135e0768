#include "sim/remote/shared_pools.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sim/base/memory.h"
#include "sim/hal/request_regions.h"
#include "sim/wire/wire.h"

/* The copy of one pool. */
struct region {
    struct hal_memory from; /* the client's memory */
    uint64_t at;            /* offset in the file */
    uint32_t pool;          /* index in the request */
};

struct shared_pools {
    atomic_uint references;
    atomic_bool is_taken;
    pthread_mutex_t mutex;
    uint32_t execution; /* under mutex: how many have ended */
    int fd;
    uint8_t *address;
    size_t size;
    struct request_regions regions; /* of a request; empty for a model */
    uint32_t n;
    struct region region[];
};

/* Assigns an offset to a memory; hal_memory.offset is a multiple of the page size. */
static int place(struct shared_pools *s, const struct hal_memory *m, struct why *w)
{
    uint64_t page = (uint64_t) sysconf(_SC_PAGESIZE);

    REQUIRE(w, m->size <= SIZE_MAX / 4 - s->size, "a memory of %llu bytes is too large",
            (unsigned long long) m->size);
    s->region[s->n++] = (struct region){ .from = *m, .at = s->size };
    s->size += (size_t) ((m->size + page - 1) / page * page);
    return 0;
}

/* Creates a file for the memories, and replaces each by its region of the file.  *ret_shared: NULL
 * if there are none. */
static int put_into_file(struct hal_memory *const *memory, uint32_t n,
                         struct shared_pools **ret_shared, struct why *w)
{
    struct shared_pools *s = calloc(1, sizeof(*s) + n * sizeof(struct region));
    void *address = NULL;
    int rc = 0;

    if (!s)
        return why_no_memory(w);
    s->references = 1;
    pthread_mutex_init(&s->mutex, NULL);
    s->fd = -1;
    for (uint32_t i = 0; rc == 0 && i < n; i++)
        rc = place(s, memory[i], w);
    if (rc == 0 && s->size)
        rc = wire_memory(s->size, &s->fd, &address, w);
    if (rc < 0) {
        shared_pools_unref(s);
        return -1;
    }
    s->address = address;
    for (uint32_t i = 0; s->size && i < n; i++) {
        memory[i]->kind = HAL_MEMORY_FD;
        memory[i]->address = NULL;
        memory[i]->fd = s->fd;
        memory[i]->offset = s->region[i].at;
    }
    *ret_shared = s->size ? s : NULL;
    if (!s->size)
        shared_pools_unref(s);
    return 0;
}

/* Finds the regions that the request's arguments name, and the pool index of each copied memory. */
static int find_spans(struct shared_pools *s, const struct hal_request *hal, struct why *w)
{
    const size_t most = (size_t) hal->n_inputs + hal->n_outputs;

    s->regions.span = malloc((most + 1) * sizeof(*s->regions.span));
    if (!s->regions.span)
        return why_no_memory(w);
    request_regions_find(hal, &s->regions);
    for (uint32_t i = 0, k = 0; i < hal->n_pools; i++)
        if (!hal->pools[i].is_token && memory_is_plain(&hal->pools[i].memory))
            s->region[k++].pool = i;
    return 0;
}

int shared_pools_of_request(const struct hal_request *hal, struct arena *a,
                            struct shared_pools **ret_shared, struct hal_request *ret_request,
                            struct why *w)
{
    struct hal_request_pool *pools = arena_copy(a, hal->pools, hal->n_pools * sizeof(*pools));
    struct hal_memory **plain = arena_alloc(a, hal->n_pools, sizeof(*plain));
    uint32_t n = 0;

    if (!pools || !plain)
        return why_no_memory(w);
    for (uint32_t i = 0; i < hal->n_pools; i++)
        if (!pools[i].is_token && memory_is_plain(&pools[i].memory))
            plain[n++] = &pools[i].memory;
    struct shared_pools *s = NULL;
    TRY(put_into_file(plain, n, &s, w));
    if (s && find_spans(s, hal, w) < 0) {
        shared_pools_unref(s);
        return -1;
    }
    *ret_shared = s;
    *ret_request = *hal;
    ret_request->pools = pools;
    return 0;
}

int shared_pools_of_model(const struct hal_model *hal, struct arena *a,
                          struct shared_pools **ret_shared, struct hal_model *ret_model,
                          struct why *w)
{
    struct hal_memory *pools = arena_copy(a, hal->pools, hal->n_pools * sizeof(*pools));
    struct hal_memory **plain = arena_alloc(a, hal->n_pools, sizeof(*plain));
    uint32_t n = 0;

    if (!pools || !plain)
        return why_no_memory(w);
    for (uint32_t i = 0; i < hal->n_pools; i++)
        if (memory_is_plain(&pools[i]))
            plain[n++] = &pools[i];
    TRY(put_into_file(plain, n, ret_shared, w));
    shared_pools_copy_in(*ret_shared);
    *ret_model = *hal;
    ret_model->pools = pools;
    return 0;
}

static bool is_output(const struct region *r)
{
    return r->from.protection & HAL_MEMORY_WRITE;
}

void shared_pools_copy_in(const struct shared_pools *s)
{
    for (uint32_t i = 0; s && i < s->n; i++) {
        const struct region *r = &s->region[i];
        if (s->regions.span && is_output(r))
            request_regions_copy_in(&s->regions, r->pool, &r->from, s->address + r->at);
        else
            memcpy(s->address + r->at, r->from.address, r->from.size);
    }
}

void shared_pools_copy_in_late(struct shared_pools *s, uint32_t execution)
{
    if (!s)
        return;
    pthread_mutex_lock(&s->mutex);
    if (s->execution == execution)
        shared_pools_copy_in(s);
    pthread_mutex_unlock(&s->mutex);
}

void shared_pools_copy_out(const struct shared_pools *s)
{
    for (uint32_t i = 0; s && i < s->n; i++)
        if (is_output(&s->region[i]))
            request_regions_copy_back(&s->regions, s->region[i].pool, s->address + s->region[i].at,
                                      &s->region[i].from);
}

bool shared_pools_are_intact(const struct shared_pools *s)
{
    for (uint32_t i = 0; s && i < s->n; i++)
        if (!is_output(&s->region[i]) &&
            memcmp(s->region[i].from.address, s->address + s->region[i].at,
                   s->region[i].from.size) != 0)
            return false;
    return true;
}

bool shared_pools_lock(struct shared_pools *s)
{
    return !s || !atomic_exchange(&s->is_taken, true);
}

void shared_pools_unlock(struct shared_pools *s)
{
    if (!s)
        return;
    pthread_mutex_lock(&s->mutex);
    s->execution++;
    pthread_mutex_unlock(&s->mutex);
    atomic_store(&s->is_taken, false);
}

uint32_t shared_pools_execution(struct shared_pools *s)
{
    if (!s)
        return 0;
    pthread_mutex_lock(&s->mutex);
    const uint32_t execution = s->execution;
    pthread_mutex_unlock(&s->mutex);
    return execution;
}

struct shared_pools *shared_pools_ref(struct shared_pools *s)
{
    if (s)
        atomic_fetch_add(&s->references, 1);
    return s;
}

void shared_pools_unref(struct shared_pools *s)
{
    if (!s || atomic_fetch_sub(&s->references, 1) != 1)
        return;
    if (s->address)
        munmap(s->address, s->size);
    if (s->fd >= 0)
        close(s->fd);
    pthread_mutex_destroy(&s->mutex);
    free(s->regions.span);
    free(s);
}
