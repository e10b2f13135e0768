#include "sim/remote/burst_client.h"

#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sim/base/memory.h"
#include "sim/hal/request_regions.h"
#include "sim/wire/burst_packet.h"

/* Memory files for pools of kind ADDRESS; bytes for decoded messages of one request. */
enum { MAX_FILES = 16, MESSAGE_MEMORY = 1 << 24 };

enum place_kind { PLACE_FREE, PLACE_KEPT, PLACE_FILE };

/* Contents of a slot.  PLACE_KEPT: memory with a descriptor under its identifier.  PLACE_FILE: a
 * memory file of this module, for pools of kind ADDRESS of one size and protection. */
struct place {
    enum place_kind kind;
    bool is_used; /* by the current request */
    bool
        is_temporary; /* PLACE_KEPT: freed after the current request (identifier -1, or released) */
    uint64_t last_use; /* number of the request */
    int64_t identifier;
    struct memory_identity identity;
    struct hal_memory memory; /* PLACE_KEPT: the caller's, valid during the current request */
    void *address;            /* PLACE_FILE: mapped */
};

struct burst_client {
    struct burst_link link;
    enum hal_version version;
    struct burst_host host;
    pthread_mutex_t busy; /* held while a request is in flight */
    struct arena *arena;
    struct request_datum *requests;
    struct result_datum *results;
    uint64_t n_requests;
    uint32_t n_files;

    pthread_mutex_t lock; /* protects place[] */
    struct place place[BURST_SLOTS];
};

/* ---- slots */

static void place_free(struct burst_client *c, struct place *p)
{
    if (p->kind == PLACE_FILE) {
        munmap(p->address, p->memory.size);
        close(p->memory.fd);
        c->n_files--;
    }
    *p = (struct place){ .kind = PLACE_FREE };
}

/* Frees a slot, also at the service. */
static enum hal_status place_drop(struct burst_client *c, struct place *p)
{
    int64_t slot = p - c->place;

    place_free(c, p);
    return c->host.release_memory(c->host.user, slot);
}

/* The least recently used slot; NULL: all are in use. */
static struct place *oldest(struct burst_client *c, bool only_files)
{
    struct place *found = NULL;

    for (struct place *p = c->place; p < c->place + BURST_SLOTS; p++)
        if (!p->is_used && p->kind != PLACE_FREE && (!only_files || p->kind == PLACE_FILE) &&
            (!found || p->last_use < found->last_use))
            found = p;
    return found;
}

static struct place *place_new(struct burst_client *c, enum place_kind kind)
{
    struct place *p = c->place;

    if (kind == PLACE_FILE && c->n_files >= MAX_FILES) {
        p = oldest(c, true);
    } else {
        while (p < c->place + BURST_SLOTS && p->kind != PLACE_FREE)
            p++;
        if (p == c->place + BURST_SLOTS)
            p = oldest(c, false);
    }
    if (p && p->kind != PLACE_FREE)
        (void) place_drop(c, p);
    return p;
}

static struct place *use(struct burst_client *c, struct place *p)
{
    p->is_used = true;
    p->last_use = c->n_requests;
    return p;
}

static struct place *find_kept(struct burst_client *c, int64_t identifier)
{
    for (struct place *p = c->place; p < c->place + BURST_SLOTS; p++)
        if (p->kind == PLACE_KEPT && !p->is_temporary && p->identifier == identifier)
            return p;
    return NULL;
}

static struct place *use_kept(struct burst_client *c, struct place *p, const struct hal_memory *m)
{
    p->memory = *m;
    return use(c, p);
}

/* The slot for memory with a descriptor.  If the identifier named other memory before, it names
 * this one from now on.  NULL: no slot, or not representable in a packet. */
static struct place *place_kept(struct burst_client *c, const struct hal_memory *m,
                                int64_t identifier)
{
    struct memory_identity identity;
    struct place *p = identifier < 0 ? NULL : find_kept(c, identifier);

    if (p && memory_is_known(&p->identity, m))
        return use_kept(c, p, m);
    if ((identifier < 0 && c->version < HAL_FL5) || memory_identify(m, &identity) < 0)
        return NULL;
    if (p && memory_is_same(&p->identity, &identity))
        return use_kept(c, p, m);
    if (p && p->is_used)
        return NULL;
    if (p)
        (void) place_drop(c, p);
    p = place_new(c, PLACE_KEPT);
    if (!p)
        return NULL;
    p->kind = PLACE_KEPT;
    p->is_temporary = identifier < 0;
    p->identifier = identifier;
    p->identity = identity;
    memory_check_seals(&p->identity);
    return use_kept(c, p, m);
}

/* The slot of a memory file for a pool of kind ADDRESS; the caller copies the contents. */
static struct place *place_file(struct burst_client *c, const struct hal_memory *m)
{
    struct hal_memory file = { HAL_MEMORY_FD, m->protection, NULL, -1, 0, m->size };
    struct place *p;
    struct why w;
    void *address;

    if (!m->address || !m->size || m->size > SIZE_MAX / 4)
        return NULL;
    for (p = c->place; p < c->place + BURST_SLOTS; p++)
        if (p->kind == PLACE_FILE && !p->is_used && p->memory.size == m->size &&
            p->memory.protection == m->protection)
            break;
    if (p == c->place + BURST_SLOTS) {
        p = place_new(c, PLACE_FILE);
        if (!p || wire_memory((size_t) m->size, &file.fd, &address, &w) < 0)
            return NULL;
        *p = (struct place){ .kind = PLACE_FILE, .memory = file, .address = address };
        c->n_files++;
    }
    return use(c, p);
}

/* ---- a request */

/* Assigns a slot to a pool; false: not representable in a packet. */
static bool place_pool(struct burst_client *c, const struct hal_request_pool *pool,
                       int64_t identifier, struct burst_packet_pool *ret_pool)
{
    struct place *p;

    if (pool->is_token) {
        *ret_pool = (struct burst_packet_pool){ .kind = REQUEST_TOKEN, .token = pool->token };
        return true;
    }
    p = pool->memory.kind == HAL_MEMORY_ADDRESS ? place_file(c, &pool->memory)
                                                : place_kept(c, &pool->memory, identifier);
    if (!p)
        return false;
    *ret_pool = (struct burst_packet_pool){ p->is_temporary ? REQUEST_UNCACHED_POOL : REQUEST_POOL,
                                            (int32_t) (p - c->place), 0 };
    return true;
}

static bool place_pools(struct burst_client *c, const struct hal_request *request,
                        const int64_t *identifiers, struct burst_packet_pool *pools)
{
    bool ok = true;

    pthread_mutex_lock(&c->lock);
    c->n_requests++;
    for (uint32_t i = 0; ok && i < request->n_pools; i++)
        ok = place_pool(c, &request->pools[i], identifiers[i], &pools[i]);
    pthread_mutex_unlock(&c->lock);
    return ok;
}

/* The request in flight. */
struct in_flight {
    const struct hal_request *request;
    struct burst_packet_pool pools[BURST_SLOTS];
    struct request_regions regions;
};

static bool is_file(const struct in_flight *u, uint32_t pool)
{
    return u->pools[pool].kind == REQUEST_POOL &&
           u->request->pools[pool].memory.kind == HAL_MEMORY_ADDRESS;
}

static bool may_be_written(const struct hal_request_pool *p)
{
    return p->memory.protection & HAL_MEMORY_WRITE;
}

/* Copies pools of kind ADDRESS to their memory files. */
static bool copy_in(const struct burst_client *c, struct in_flight *u)
{
    const struct hal_request *r = u->request;
    const size_t most = (size_t) r->n_inputs + r->n_outputs;

    u->regions.span = arena_alloc(c->arena, most, sizeof(*u->regions.span));
    if (!u->regions.span)
        return false;
    request_regions_find(r, &u->regions);
    for (uint32_t i = 0; i < r->n_pools; i++) {
        const struct hal_memory *m = &r->pools[i].memory;
        if (!is_file(u, i))
            continue;
        uint8_t *copy = c->place[u->pools[i].slot].address;
        if (may_be_written(&r->pools[i]))
            request_regions_copy_in(&u->regions, i, m, copy);
        else
            memcpy(copy, m->address, m->size);
    }
    return true;
}

/* Copies outputs from the memory files back to the client's memory. */
static void copy_out(const struct burst_client *c, const struct in_flight *u)
{
    for (uint32_t i = 0; i < u->request->n_pools; i++)
        if (is_file(u, i) && may_be_written(&u->request->pools[i]))
            request_regions_copy_back(&u->regions, i, c->place[u->pools[i].slot].address,
                                      &u->request->pools[i].memory);
}

static void release_places(struct burst_client *c)
{
    pthread_mutex_lock(&c->lock);
    for (struct place *p = c->place; p < c->place + BURST_SLOTS; p++) {
        if (!p->is_used)
            continue;
        p->is_used = false;
        if (p->kind == PLACE_KEPT && p->is_temporary)
            p->identifier < 0 ? place_free(c, p) : (void) place_drop(c, p);
    }
    pthread_mutex_unlock(&c->lock);
}

static bool has_dimensions(uint32_t n, const struct hal_argument *a)
{
    if (n && !a)
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (a[i].n_dims && !a[i].dims)
            return false;
    return true;
}

/* Whether the request's arrays are complete and its numbers within a packet's ranges.  Others are
 * sent as a call, so that the driver rejects them. */
static bool is_representable(const struct hal_request *r, uint32_t n, const int64_t *identifiers,
                             const struct hal_execution_config *config)
{
    bool ok = n == r->n_pools && n <= BURST_SLOTS && (!n || (identifiers && r->pools)) &&
              has_dimensions(r->n_inputs, r->inputs) && has_dimensions(r->n_outputs, r->outputs) &&
              (!config->n_hints || config->hints);

    for (uint32_t i = 0; ok && i < n; i++)
        ok = identifiers[i] >= -1;
    for (uint32_t i = 0; ok && i < config->n_hints; i++)
        ok = config->hints[i].value || !config->hints[i].length;
    return ok;
}

/* ---- requests of the service for memories */

static int put_memories(struct burst_client *c, const Wire__MemoriesWanted *question,
                        Wire__Memories *answer, struct wire_fds *fds, struct why *w)
{
    answer->memories = arena_alloc(c->arena, question->n_slots, sizeof(*answer->memories));
    if (!answer->memories)
        return why_no_memory(w);
    for (size_t i = 0; i < question->n_slots; i++) {
        int32_t k = question->slots[i];
        REQUIRE(w, k >= 0 && k < BURST_SLOTS && c->place[k].is_used,
                "slot %d is not used by the current request", (int) k);
        TRY(wire_encode_memory(&c->place[k].memory, 0, c->arena, fds, &answer->memories[i], w));
    }
    answer->n_memories = question->n_slots;
    return 0;
}

/* After the bell was rung: answers a request for memories, if there is one.  Sends none if a slot
 * is not part of the request in flight, or if they cannot be sent; the service then fails the
 * request. */
static int answer_questions(struct burst_client *c, struct why *w)
{
    struct pollfd p = { .fd = c->link.socket, .events = POLLIN };
    Wire__Memories answer = WIRE__MEMORIES__INIT;
    struct wire_fds received, fds = { 0 };
    struct why unknown;
    ProtobufCMessage *m;

    if (poll(&p, 1, 0) <= 0)
        return 0;
    int rc = wire_receive(p.fd, &wire__memories_wanted__descriptor, c->arena, &m, &received, w);
    if (rc == 0)
        return reply_limit_ended(c->host.limit, w);
    TRY(rc);
    wire_close_fds(&received);
    const Wire__MemoriesWanted *question = (const Wire__MemoriesWanted *) m;
    answer.serial = question->serial;
    pthread_mutex_lock(&c->lock);
    if (put_memories(c, question, &answer, &fds, &unknown) < 0)
        answer.n_memories = fds.n = 0;
    pthread_mutex_unlock(&c->lock);
    rc = wire_send(c->link.socket, &answer.base, &fds, w);
    if (rc == 0 || w->code != WHY_MEMORY)
        return rc;
    answer.n_memories = 0;
    return wire_send(c->link.socket, &answer.base, NULL, w);
}

/* ---- executions */

static int await_result(struct burst_client *c, uint32_t *ret_n, struct why *w)
{
    const uint64_t look = reply_limit_look_ns(c->host.limit);
    struct reply_wait wait;

    reply_wait_begin(&wait, c->host.limit);
    for (;;) {
        int rc = ring_wait(&c->link.result, c->link.socket, look);
        if (rc < 0) {
            why_fail(w, WHY_SYSTEM, "the socket of a burst is hung up");
            return reply_limit_ended(c->host.limit, w);
        }
        if (rc > 0) {
            *ret_n = ring_read(&c->link.result, c->results);
            return 0;
        }
        TRY(answer_questions(c, w));
        TRY(reply_wait_continue(&wait, w));
    }
}

static enum burst_outcome exchange(struct burst_client *c,
                                   const struct burst_packet_request *request,
                                   struct hal_result *result, enum hal_status *ret_status,
                                   struct why *w)
{
    uint32_t n = 0;

    if (burst_packet_put_request(request, c->version, c->requests, c->link.request.length, &n) < 0)
        return BURST_NOT_SENT;
    if (ring_write(&c->link.request, c->requests, n) < 0) {
        why_fail(w, WHY_INVALID, "the service does not read requests of a burst");
        return BURST_DISCONNECTED;
    }
    if (await_result(c, &n, w) < 0 ||
        burst_packet_take_result(c->results, n, ret_status, result, w) < 0)
        return BURST_DISCONNECTED;
    return BURST_EXECUTED;
}

static enum burst_outcome run(struct burst_client *c, const struct hal_request *r,
                              const int64_t *identifiers, const struct hal_execution_config *config,
                              struct hal_result *result, enum hal_status *ret_status, struct why *w)
{
    struct in_flight u;
    const struct burst_packet_request packet = { r->n_inputs, r->n_outputs, r->n_pools, r->inputs,
                                                 r->outputs,  u.pools,      *config };
    enum burst_outcome way = BURST_NOT_SENT;

    u.request = r;
    if (place_pools(c, r, identifiers, u.pools) && copy_in(c, &u))
        way = exchange(c, &packet, result, ret_status, w);
    if (way == BURST_EXECUTED)
        copy_out(c, &u);
    release_places(c);
    arena_rewind(c->arena, (struct arena_mark){ 0 });
    return way;
}

enum burst_outcome burst_client_execute(struct burst_client *c, const struct hal_request *request,
                                        uint32_t n_identifiers, const int64_t *identifiers,
                                        const struct hal_execution_config *config,
                                        struct hal_result *result, enum hal_status *ret_status,
                                        struct why *w)
{
    if (!is_representable(request, n_identifiers, identifiers, config) ||
        pthread_mutex_trylock(&c->busy) != 0)
        return BURST_NOT_SENT;
    enum burst_outcome way = run(c, request, identifiers, config, result, ret_status, w);
    pthread_mutex_unlock(&c->busy);
    return way;
}

/* The driver knows memories by their slots.  Maps an identifier without a slot to one that the
 * driver does not know. */
static int64_t unused_identifier(int64_t identifier)
{
    return identifier < 0 || identifier > INT64_MAX - BURST_SLOTS ? identifier
                                                                  : identifier + BURST_SLOTS;
}

enum hal_status burst_client_release_memory(struct burst_client *c, int64_t identifier)
{
    enum hal_status status = HAL_NONE;

    pthread_mutex_lock(&c->lock);
    struct place *p = identifier < 0 ? NULL : find_kept(c, identifier);
    if (p && p->is_used)
        p->is_temporary = true; /* freed after the request */
    else if (p)
        status = place_drop(c, p);
    pthread_mutex_unlock(&c->lock);
    return p ? status : c->host.release_memory(c->host.user, unused_identifier(identifier));
}

/* ---- construction */

struct burst_client *burst_client_new(struct burst_link *link, enum hal_version version,
                                      const struct burst_host *host)
{
    struct burst_client *c = calloc(1, sizeof(*c));
    struct arena *a = arena_new(MESSAGE_MEMORY);
    struct request_datum *requests = malloc(link->request.length * sizeof(*requests));
    struct result_datum *results = malloc(link->result.length * sizeof(*results));

    if (!c || !a || !requests || !results) {
        free(c);
        arena_free(a);
        free(requests);
        free(results);
        burst_link_close(link);
        return NULL;
    }
    c->link = *link;
    c->version = version;
    c->host = *host;
    c->arena = a;
    c->requests = requests;
    c->results = results;
    pthread_mutex_init(&c->busy, NULL);
    pthread_mutex_init(&c->lock, NULL);
    return c;
}

void burst_client_free(struct burst_client *c)
{
    if (!c)
        return;
    for (struct place *p = c->place; p < c->place + BURST_SLOTS; p++)
        place_free(c, p);
    burst_link_close(&c->link);
    arena_free(c->arena);
    free(c->requests);
    free(c->results);
    pthread_mutex_destroy(&c->busy);
    pthread_mutex_destroy(&c->lock);
    free(c);
}
