/* Bursts: executions of one model in rapid succession.  A burst caches mappings and the arena from
 * one execution to the next, until it has been idle for a while. */
#include <stdlib.h>
#include <time.h>

#include "golden/base/clock.h"
#include "sim/driver/driver.h"

/* Maximum number of cached mappings of a burst, and of all bursts of a client (others are mapped
 * for each execution); bytes of the largest arena that is cached. */
enum { MAX_KEPT = 64, MAX_KEPT_BY_CLIENT = 256, MAX_ARENA = 1 << 22 };

/* A cached mapping under the client's identifier, which must name the same memory until it is
 * released.  A violation is detected unless the file is sealed; the identifier then names the other
 * memory. */
struct kept {
    struct kept *next;
    int64_t identifier;
    struct memory_identity identity;
    struct mapping mapping;
    unsigned users; /* executions that use it, and 1 while it is in the burst's list */
};

struct burst {
    struct hal_burst base;
    struct prepared *prepared;
    enum hal_version version;

    /* Protected by the lock of struct bursts. */
    struct burst *next;
    struct kept *kept;
    uint32_t n_kept;
    struct arena *arena; /* cached for the next execution; NULL: none */
    unsigned running;    /* executions */
    uint64_t last_use;   /* clock_steady_ns() */
};

static struct bursts *all_of(const struct burst *b)
{
    return &b->prepared->driver->bursts;
}

/* ---- cached mappings */

static void kept_unref(struct kept *k)
{
    if (!k || --k->users)
        return;
    memory_unmap(&k->mapping);
    free(k);
}

/* Removes an identifier's mapping from the cache. */
static void forget(struct burst *b, int64_t identifier)
{
    struct kept **at = &b->kept, *k;

    while (*at && (*at)->identifier != identifier)
        at = &(*at)->next;
    k = *at;
    if (!k)
        return;
    *at = k->next;
    b->n_kept--;
    kept_unref(k);
}

static struct kept *find(const struct burst *b, int64_t identifier)
{
    struct kept *k = b->kept;

    while (k && k->identifier != identifier)
        k = k->next;
    return k;
}

static bool may_keep(const struct burst *b)
{
    uint32_t n = 0;

    for (const struct burst *other = all_of(b)->first; other; other = other->next)
        if (other->prepared->client == b->prepared->client)
            n += other->n_kept;
    return b->n_kept < MAX_KEPT && n < MAX_KEPT_BY_CLIENT;
}

static struct kept *map_memory(int64_t identifier, const struct hal_memory *m,
                               const struct memory_identity *identity)
{
    struct kept *k = malloc(sizeof(*k));
    struct why w;

    if (!k)
        return NULL;
    *k = (struct kept){ NULL, identifier, *identity, .users = 1 };
    if (memory_map(m, m->protection & HAL_MEMORY_WRITE, &k->mapping, &w) < 0) {
        free(k);
        return NULL;
    }
    memory_check_seals(&k->identity);
    return k;
}

/* The mapping of an identifier's memory, from the cache or added to it.  NULL: not cached. Releases
 * the lock during system calls on the client's file, which may block, and then looks again. */
static struct kept *find_or_keep(struct burst *b, const struct hal_memory *m, int64_t identifier)
{
    struct bursts *all = all_of(b);
    struct kept *k = find(b, identifier);
    struct memory_identity identity;

    if (m->address) /* needs no mapping */
        return NULL;
    if (k && memory_is_known(&k->identity, m))
        return k;
    pthread_mutex_unlock(&all->lock);
    int rc = memory_identify(m, &identity);
    pthread_mutex_lock(&all->lock);
    if (rc < 0)
        return NULL;
    k = find(b, identifier);
    if (k && memory_is_same(&k->identity, &identity))
        return k;
    forget(b, identifier);

    if (!may_keep(b))
        return NULL;
    pthread_mutex_unlock(&all->lock);
    k = map_memory(identifier, m, &identity);
    pthread_mutex_lock(&all->lock);
    forget(b, identifier);
    if (!k || !may_keep(b)) {
        kept_unref(k);
        return NULL;
    }
    k->next = b->kept;
    b->kept = k;
    b->n_kept++;
    return k;
}

/* ---- idleness */

static bool caches_anything(const struct burst *b)
{
    return b->arena || b->kept;
}

static void free_cached(struct burst *b)
{
    while (b->kept)
        forget(b, b->kept->identifier);
    arena_free(b->arena);
    b->arena = NULL;
}

/* Frees the caches of idle bursts.  Returns the time at which the next one is due; 0: no burst
 * caches anything. */
static uint64_t free_idle(struct driver *d)
{
    const uint64_t timeout = d->engine->burst_idle_ns ? d->engine->burst_idle_ns : BURST_IDLE_NS;
    uint64_t now = clock_steady_ns(), next = 0;

    for (struct burst *b = d->bursts.first; b; b = b->next) {
        uint64_t due = (b->running ? now : b->last_use) + timeout;
        if (!b->running && due <= now)
            free_cached(b);
        if ((b->running || caches_anything(b)) && (!next || due < next))
            next = due;
    }
    return next;
}

/* Thread that frees the caches of idle bursts; it ends when no burst caches anything. */
static void watch(void *argument)
{
    struct driver *d = argument;
    uint64_t next;

    pthread_mutex_lock(&d->bursts.lock);
    while ((next = free_idle(d))) {
        struct timespec until = { (time_t) (next / 1000000000), (long) (next % 1000000000) };
        pthread_cond_timedwait(&d->bursts.changed, &d->bursts.lock, &until);
    }
    d->bursts.is_watched = false;
    pthread_mutex_unlock(&d->bursts.lock);
}

void bursts_init(struct bursts *all)
{
    pthread_condattr_t a;

    *all = (struct bursts){ .first = NULL };
    pthread_mutex_init(&all->lock, NULL);
    pthread_condattr_init(&a);
    pthread_condattr_setclock(&a, CLOCK_MONOTONIC);
    pthread_cond_init(&all->changed, &a);
    pthread_condattr_destroy(&a);
}

void bursts_done(struct bursts *all)
{
    pthread_cond_destroy(&all->changed);
    pthread_mutex_destroy(&all->lock);
}

/* ---- executions */

/* The cached resources that one execution uses: the arena, and a mapping for each pool. */
struct lease {
    struct execution_reuse lent;
    struct kept **kept;
    uint32_t n;
};

static enum hal_status begin(struct burst *b, const struct hal_request *request,
                             const int64_t *identifiers, struct lease *ret_lease)
{
    struct lease t = { .n = request->pools ? request->n_pools : 0 };
    struct mapping *mappings;

    pthread_mutex_lock(&all_of(b)->lock);
    t.lent.arena = b->arena ? b->arena : arena_new((size_t) b->prepared->driver->engine->memory);
    b->arena = NULL;
    t.kept = t.lent.arena ? arena_alloc(t.lent.arena, t.n, sizeof(*t.kept)) : NULL;
    mappings = t.kept ? arena_alloc(t.lent.arena, t.n, sizeof(*mappings)) : NULL;
    for (uint32_t i = 0; mappings && i < t.n; i++) {
        const struct hal_request_pool *p = &request->pools[i];
        /* Not cached: request_open() maps the pool, or reports why it cannot. */
        struct kept *k =
            identifiers[i] < 0 || p->is_token ? NULL : find_or_keep(b, &p->memory, identifiers[i]);
        if (!k)
            continue;
        k->users++;
        t.kept[i] = k;
        mappings[i] = k->mapping;
    }
    b->running += mappings != NULL;
    pthread_mutex_unlock(&all_of(b)->lock);
    if (!t.lent.arena)
        return hal_status_exhausted(b->version);
    if (!mappings) { /* exceeds the memory limit of an execution */
        arena_free(t.lent.arena);
        return hal_status_at(HAL_RESOURCE_EXHAUSTED_PERSISTENT, b->version);
    }
    t.lent.kept = mappings;
    *ret_lease = t;
    return HAL_NONE;
}

static void end(struct burst *b, struct lease *t)
{
    struct bursts *all = all_of(b);

    pthread_mutex_lock(&all->lock);
    for (uint32_t i = 0; i < t->n; i++)
        kept_unref(t->kept[i]);
    arena_rewind(t->lent.arena, (struct arena_mark){ 0 });
    /* Caches the arena only if it uses a small part of an execution's memory limit: the next
     * execution may need blocks of other sizes. */
    size_t most = (size_t) b->prepared->driver->engine->memory / 8, n = arena_bytes(t->lent.arena);
    if (!b->arena && n <= MAX_ARENA && (!most || n <= most))
        b->arena = t->lent.arena;
    else
        arena_free(t->lent.arena);
    b->running--;
    b->last_use = clock_steady_ns();
    if (!all->is_watched && caches_anything(b)) {
        all->is_watched = driver_start_thread(b->prepared->driver, watch, b->prepared->driver) == 0;
        if (!all->is_watched)
            free_cached(b);
    }
    pthread_mutex_unlock(&all->lock);
}

static int check_identifiers(const struct hal_request *request, uint32_t n,
                             const int64_t *identifiers, struct why *w)
{
    REQUIRE(w, n == request->n_pools && (!n || identifiers), "%u identifiers for %u pools", n,
            request->n_pools);
    for (uint32_t i = 0; i < n; i++)
        REQUIRE(w, identifiers[i] >= -1, "identifier %lld, expected -1 or more",
                (long long) identifiers[i]);
    return 0;
}

static enum hal_status execute_synchronously(struct hal_burst *self,
                                             const struct hal_request *request,
                                             uint32_t n_identifiers, const int64_t *identifiers,
                                             const struct hal_execution_config *config,
                                             struct hal_result *result)
{
    struct burst *b = (struct burst *) self;
    struct lease t;
    struct why w;

    failure_text_clear();
    hal_clear_result(result);
    if (check_identifiers(request, n_identifiers, identifiers, &w) < 0 ||
        hal_burst_config_complies(config, b->version, &w) < 0)
        return driver_log_failure("burst", b->version, &w);
    enum hal_status status = begin(b, request, identifiers, &t);
    if (status != HAL_NONE)
        return driver_log_status("burst", b->version, status);
    status = execution_run_now(b->prepared, b->version, request, config, &t.lent, result);
    end(b, &t);
    return status;
}

static enum hal_status release_memory(struct hal_burst *self, int64_t identifier)
{
    struct burst *b = (struct burst *) self;

    if (identifier < 0) {
        failure_text_set("identifier %lld, expected 0 or more", (long long) identifier);
        return HAL_INVALID_ARGUMENT;
    }
    pthread_mutex_lock(&all_of(b)->lock);
    forget(b, identifier);
    pthread_mutex_unlock(&all_of(b)->lock);
    return HAL_NONE;
}

static void release(struct hal_burst *self)
{
    struct burst *b = (struct burst *) self, **at;
    struct bursts *all = all_of(b);

    pthread_mutex_lock(&all->lock);
    for (at = &all->first; *at != b;)
        at = &(*at)->next;
    *at = b->next;
    free_cached(b);
    pthread_cond_signal(&all->changed);
    pthread_mutex_unlock(&all->lock);
    prepared_unref(b->prepared);
    free(b);
}

static const struct hal_burst_methods methods = { execute_synchronously, release_memory, release };

enum hal_status driver_configure_burst(struct hal_prepared_model *self, enum hal_version version,
                                       struct hal_burst **ret_burst)
{
    struct prepared *p = (struct prepared *) self;
    struct bursts *all = &p->driver->bursts;
    struct burst *b;
    struct why w;

    failure_text_clear();
    if (driver_check_entry(p->driver, version, WIRE__METHOD__CONFIGURE_BURST, &w) < 0)
        return driver_log_failure("configure_burst", version, &w);
    b = calloc(1, sizeof(*b));
    if (!b)
        return hal_status_exhausted(version);
    atomic_fetch_add(&p->references, 1);
    pthread_mutex_lock(&all->lock);
    *b = (struct burst){ { &methods }, p, version, .next = all->first };
    all->first = b;
    pthread_mutex_unlock(&all->lock);
    *ret_burst = &b->base;
    return driver_log_status("configure_burst", version, HAL_NONE);
}
