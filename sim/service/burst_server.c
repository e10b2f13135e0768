#define _GNU_SOURCE
#include "sim/service/burst_server.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "golden/base/clock.h"
#include "golden/base/logging.h"
#include "sim/base/process_quota.h"
#include "sim/driver/driver.h"
#include "sim/wire/burst_packet.h"
#include "sim/wire/wire.h"

#define LOG_TAG "BurstServer"

/* Timeout of the client's answer to a request for memories; limit of a request's arena without a
 * caller, and what the arena keeps for the next request, in bytes; descriptors of a burst: the
 * socket, and the client side's until they are sent. */
enum { REPLY_TIMEOUT_MS = 10000, OWN_MEMORY = 1 << 24, KEPT_MEMORY = 1 << 18, QUEUE_FILES = 4 };

/* Memory of a slot, with its own descriptor. */
struct slot {
    unsigned references; /* the table's, and one of the current request */
    bool is_kept;        /* has been in the table: the driver may know it by its slot */
    struct hal_memory memory;
};

struct burst_server {
    struct hal_burst *burst;
    enum hal_version version;
    struct caller *caller;
    uint64_t idle_ns;
    atomic_bool is_ending;

    struct ring request, result; /* reads from request, writes to result */
    int socket;
    bool is_open;
    bool has_quota; /* of descriptors and threads */
    pthread_t thread;
    struct arena *arena; /* for one request */
    struct request_datum *requests;
    struct result_datum *results;
    uint64_t serial; /* of the last request for memories */

    atomic_uint own_kept, *kept; /* memories in this table, or in all that share the count */

    pthread_mutex_t lock; /* protects slots[] */
    struct slot *slots[BURST_SLOTS];
};

static atomic_int newest_version; /* of the server that was created last */

/* ---- descriptors of the client side */

void burst_fds_close(struct burst_fds *fds)
{
    const int all[] = { fds->request, fds->result, fds->socket };

    for (int i = 0; i < 3; i++)
        if (all[i] >= 0)
            close(all[i]);
    *fds = (struct burst_fds){ -1, -1, -1 };
}

int burst_link_open(struct burst_fds *fds, uint32_t request_length, uint32_t result_length,
                    struct burst_link *ret_link, struct why *w)
{
    struct burst_link l = { .socket = fds->socket };
    int rc = ring_open(fds->request, request_length, sizeof(struct request_datum), &l.request, w);

    if (rc == 0)
        rc = ring_open(fds->result, result_length, sizeof(struct result_datum), &l.result, w);
    if (rc == 0 && l.socket < 0)
        rc = why_fail(w, WHY_INVALID, "queues of a burst without a socket");
    if (rc < 0) {
        ring_close(&l.request);
        ring_close(&l.result);
        burst_fds_close(fds);
        return -1;
    }
    fds->socket = -1;
    burst_fds_close(fds);
    *ret_link = l;
    return 0;
}

void burst_link_close(struct burst_link *link)
{
    ring_close(&link->request);
    ring_close(&link->result);
    if (link->socket >= 0)
        close(link->socket);
    link->socket = -1;
}

static uint32_t client_of(const struct burst_server *s)
{
    return s->caller ? s->caller->client : 0;
}

/* ---- slots */

static void slot_unref(struct burst_server *s, struct slot *slot)
{
    if (!slot)
        return;
    pthread_mutex_lock(&s->lock);
    bool last = --slot->references == 0;
    pthread_mutex_unlock(&s->lock);
    if (!last)
        return;
    close(slot->memory.fd);
    process_quota_release(QUOTA_FILES, client_of(s), 1);
    free(slot);
}

/* Adds a reference for the caller; NULL: unknown. */
static struct slot *slot_take(struct burst_server *s, int32_t number)
{
    pthread_mutex_lock(&s->lock);
    struct slot *slot = s->slots[number];
    if (slot)
        slot->references++;
    pthread_mutex_unlock(&s->lock);
    return slot;
}

/* Caches a memory, unless too many are cached: then it is requested again the next time. */
static void slot_keep(struct burst_server *s, int32_t number, struct slot *slot)
{
    if (burst_packet_has_fault(PACKET_FAULT_FETCHES))
        return;
    pthread_mutex_lock(&s->lock);
    if (!s->slots[number] && atomic_fetch_add(s->kept, 1) < BURST_MAX_CACHED) {
        s->slots[number] = slot;
        slot->references++;
        slot->is_kept = true;
    } else if (!s->slots[number]) {
        atomic_fetch_sub(s->kept, 1);
    }
    pthread_mutex_unlock(&s->lock);
}

static struct slot *slot_forget(struct burst_server *s, int64_t number)
{
    struct slot *slot = NULL;

    pthread_mutex_lock(&s->lock);
    if (number >= 0 && number < BURST_SLOTS) {
        slot = s->slots[number];
        s->slots[number] = NULL;
        atomic_fetch_sub(s->kept, slot != NULL);
    }
    pthread_mutex_unlock(&s->lock);
    return slot;
}

enum hal_status burst_server_release_memory(struct burst_server *s, int64_t identifier)
{
    if (!burst_packet_has_fault(PACKET_FAULT_KEEPS))
        slot_unref(s, slot_forget(s, identifier));
    return s->burst->methods->release_memory(s->burst, identifier);
}

static bool caches_memory(struct burst_server *s)
{
    bool any = false;

    pthread_mutex_lock(&s->lock);
    for (int i = 0; i < BURST_SLOTS; i++)
        any |= s->slots[i] != NULL;
    pthread_mutex_unlock(&s->lock);
    return any;
}

/* Also releases them in the driver, which must not cache what the table does not have. */
static void release_all_memory(struct burst_server *s)
{
    for (int64_t i = 0; i < BURST_SLOTS; i++) {
        struct slot *slot = slot_forget(s, i);
        if (slot) {
            VLOG(MEMORY, "burst: %llu bytes of slot %d are released",
                 (unsigned long long) slot->memory.size, (int) i);
            (void) s->burst->methods->release_memory(s->burst, i);
        }
        slot_unref(s, slot);
    }
}

/* ---- requesting memories */

static struct slot *slot_new(struct burst_server *s, const struct hal_memory *m, struct why *w)
{
    struct slot *slot = malloc(sizeof(*slot));
    bool ok = slot && process_quota_charge(QUOTA_FILES, client_of(s), 1);
    int fd = ok ? fcntl(m->fd, F_DUPFD_CLOEXEC, 0) : -1;

    if (fd < 0) {
        why_fail(w, ok && errno == EBADF ? WHY_INVALID : WHY_MEMORY,
                 "no descriptor for memory of a burst");
        process_quota_release(QUOTA_FILES, client_of(s), ok);
        free(slot);
        return NULL;
    }
    *slot = (struct slot){ .references = 1, .memory = *m };
    slot->memory.fd = fd;
    return slot;
}

static int take_memories(struct burst_server *s, const Wire__Memories *m,
                         const struct wire_fds *fds, uint32_t n, struct slot **ret_slots,
                         struct why *w)
{
    REQUIRE(w,
            m->n_memories == n ||
                (m->n_memories > n && burst_packet_has_fault(PACKET_FAULT_MEMORIES)),
            "the client sends %zu memories, expected %u", m->n_memories, n);
    for (uint32_t i = 0; i < n; i++) {
        struct hal_memory memory;
        if (wire_decode_memory(m->memories[i], fds, NULL, &memory, w) < 0 ||
            !(ret_slots[i] = slot_new(s, &memory, w))) {
            while (i--)
                slot_unref(s, ret_slots[i]);
            return -1;
        }
    }
    return 0;
}

static int64_t now_ms(void)
{
    return (int64_t) (clock_steady_ns() / 1000000);
}

static bool has_message(int socket, int64_t until)
{
    struct pollfd p = { .fd = socket, .events = POLLIN };
    int rc;

    do {
        int64_t left = until - now_ms();
        rc = poll(&p, 1, left > 0 ? (int) left : 0);
    } while (rc < 0 && errno == EINTR);
    return rc > 0;
}

/* Requests the memories of slots from the client; skips late answers to earlier requests. */
static int request_memories(struct burst_server *s, uint32_t n, int32_t *numbers,
                            struct slot **ret_slots, struct why *w)
{
    Wire__MemoriesWanted question = WIRE__MEMORIES_WANTED__INIT;
    int64_t until = now_ms() + REPLY_TIMEOUT_MS;
    ProtobufCMessage *m;
    struct counted_fds fds;

    question.serial = ++s->serial;
    question.n_slots = n;
    question.slots = numbers;
    TRY(wire_send_nonblocking(s->socket, &question.base, w));
    ring_bell(&s->result);
    for (;;) {
        if (!has_message(s->socket, until))
            return why_fail(w, WHY_SYSTEM, "the client does not send memories within %d ms",
                            REPLY_TIMEOUT_MS);
        int rc = wire_receive_counted(client_of(s), s->socket, &wire__memories__descriptor,
                                      s->arena, &m, &fds, w);
        if (rc <= 0)
            return rc < 0 ? -1 : why_fail(w, WHY_SYSTEM, "the client has closed the connection");
        const Wire__Memories *answer = (const Wire__Memories *) m;
        bool is_answer = answer->serial == s->serial || burst_packet_has_fault(PACKET_FAULT_SERIAL);
        rc = is_answer ? take_memories(s, answer, &fds.fds, n, ret_slots, w) : 1;
        wire_close_counted_fds(&fds);
        if (rc <= 0)
            return rc;
    }
}

/* ---- one request */

/* The memories of a request: by slot, and as pools and identifiers for the driver. */
struct resolved {
    struct slot *of[BURST_SLOTS];
    struct hal_request_pool *pools;
    int64_t *identifiers;
};

/* Finds the memories of a request's slots; requests unknown ones from the client, each once. */
static int fetch(struct burst_server *s, const struct burst_packet_request *r, struct resolved *g,
                 struct why *w)
{
    bool is_wanted[BURST_SLOTS] = { false };
    int32_t wanted[BURST_SLOTS];
    struct slot *found[BURST_SLOTS];
    uint32_t n = 0;

    for (uint32_t i = 0; i < r->n_pools; i++) {
        int32_t k = r->pools[i].slot;
        if (r->pools[i].kind == REQUEST_TOKEN)
            continue;
        REQUIRE(w, k >= 0 && k < BURST_SLOTS, "slot %d, expected 0 to %d", (int) k,
                BURST_SLOTS - 1);
        if (g->of[k] || is_wanted[k] || (g->of[k] = slot_take(s, k)))
            continue;
        is_wanted[k] = true;
        wanted[n++] = k;
    }
    if (!n)
        return 0;
    TRY(request_memories(s, n, wanted, found, w));
    for (uint32_t i = 0; i < n; i++)
        g->of[wanted[i]] = found[i];
    for (uint32_t i = 0; i < r->n_pools; i++)
        if (r->pools[i].kind == REQUEST_POOL)
            slot_keep(s, r->pools[i].slot, g->of[r->pools[i].slot]);
    return 0;
}

static int resolve(struct burst_server *s, const struct burst_packet_request *r, struct resolved *g,
                   struct why *w)
{
    g->pools = arena_alloc(s->arena, r->n_pools, sizeof(*g->pools));
    g->identifiers = arena_alloc(s->arena, r->n_pools, sizeof(*g->identifiers));
    if (!g->pools || !g->identifiers)
        return why_no_memory(w);
    TRY(fetch(s, r, g, w));
    for (uint32_t i = 0; i < r->n_pools; i++) {
        const struct burst_packet_pool *p = &r->pools[i];
        g->identifiers[i] = -1;
        if (p->kind == REQUEST_TOKEN) {
            g->pools[i] = (struct hal_request_pool){ .is_token = true, .token = p->token };
            continue;
        }
        g->pools[i].memory = g->of[p->slot]->memory;
        if (p->kind == REQUEST_POOL && g->of[p->slot]->is_kept)
            g->identifiers[i] = p->slot;
    }
    return 0;
}

static enum hal_status refuse(struct burst_server *s, const struct why *w)
{
    return driver_log_failure("burst packet", s->version, w);
}

/* The version at which packets are read; a planted fault: that of another burst. */
static enum hal_version version_of(const struct burst_server *s)
{
    return burst_packet_has_fault(PACKET_FAULT_MIXED)
               ? (enum hal_version) atomic_load(&newest_version)
               : s->version;
}

/* Reads the next packet and executes it. */
static enum hal_status compute(struct burst_server *s, struct hal_result *result)
{
    uint32_t n = ring_read(&s->request, s->requests);
    struct resolved g = { .pools = NULL };
    struct burst_packet_request r;
    enum hal_status status;
    struct why w;

    if (burst_packet_take_request(s->requests, n, version_of(s), s->arena, &r, &w) < 0)
        return refuse(s, &w);
    result->shapes = arena_alloc(s->arena, r.n_outputs, sizeof(*result->shapes));
    result->capacity = r.n_outputs;
    if (!result->shapes)
        return HAL_GENERAL_FAILURE;
    if (resolve(s, &r, &g, &w) == 0) {
        const struct hal_request request = { r.n_inputs, r.n_outputs, r.n_pools,
                                             r.inputs,   r.outputs,   g.pools };
        status = s->burst->methods->execute_synchronously(s->burst, &request, r.n_pools,
                                                          g.identifiers, &r.config, result);
        if (result->n_shapes > result->capacity)
            result->n_shapes = result->capacity;
    } else {
        status = refuse(s, &w);
    }
    for (int i = 0; i < BURST_SLOTS; i++)
        slot_unref(s, g.of[i]);
    return status;
}

static int send_result(struct burst_server *s, enum hal_status status,
                       const struct hal_result *result)
{
    uint32_t n = 0;

    TRY(burst_packet_put_result(status, result, s->results, s->result.length, &n));
    TRY(ring_write(&s->result, s->results, n));
    if (burst_packet_has_fault(PACKET_FAULT_RESULT_TWICE))
        (void) ring_write(&s->result, s->results, n);
    return 0;
}

/* Executes the next packet and sends its result.  If even a failure does not fit into the queue,
 * the client does not read its results, and nothing is sent. */
static void answer(struct burst_server *s)
{
    const struct hal_result none = { .timing = hal_unknown_timing };
    struct hal_result result = none;
    enum hal_status status = compute(s, &result);

    if (send_result(s, status, &result) < 0)
        (void) send_result(s, status == HAL_NONE ? HAL_GENERAL_FAILURE : status, &none);
    arena_empty(s->arena, KEPT_MEMORY);
}

static void *serve(void *argument)
{
    struct burst_server *s = argument;
    int rc = 0;

    pthread_setname_np(pthread_self(), "burst");
    caller_set(s->caller);
    while (rc >= 0 && !atomic_load(&s->is_ending)) {
        rc = ring_wait(&s->request, s->socket, caches_memory(s) ? s->idle_ns : UINT64_MAX);
        if (rc > 0)
            answer(s);
        else
            release_all_memory(s);
    }
    return NULL;
}

/* ---- construction */

struct burst_server *burst_server_new(struct hal_burst *burst, enum hal_version version,
                                      struct caller *caller)
{
    struct burst_server *s = calloc(1, sizeof(*s));

    if (!s)
        return NULL;
    s->burst = burst;
    s->version = version;
    atomic_store(&newest_version, (int) version);
    s->caller = caller_ref(caller);
    s->idle_ns = BURST_IDLE_NS;
    s->kept = &s->own_kept;
    s->socket = -1;
    pthread_mutex_init(&s->lock, NULL);
    return s;
}

void burst_server_share_count(struct burst_server *s, atomic_uint *kept)
{
    s->kept = kept;
}

void burst_server_set_idle_time(struct burst_server *s, uint64_t ns)
{
    s->idle_ns = ns;
}

struct hal_burst *burst_server_burst(struct burst_server *s)
{
    return s->burst;
}

static bool take_quota(const struct burst_server *s)
{
    bool files = process_quota_charge(QUOTA_FILES, client_of(s), QUEUE_FILES);

    if (files && process_quota_charge(QUOTA_THREADS, client_of(s), 1))
        return true;
    process_quota_release(QUOTA_FILES, client_of(s), files ? QUEUE_FILES : 0);
    return false;
}

static int create_queues(struct burst_server *s, uint32_t request_length, uint32_t result_length,
                         struct burst_fds *fds, struct why *w)
{
    int pair[2];

    if (!(s->has_quota = take_quota(s)))
        return why_fail(w, WHY_MEMORY,
                        "the client has reached its quota of descriptors or threads");
    TRY(ring_make(request_length, sizeof(*s->requests), &fds->request, &s->request, w));
    TRY(ring_make(result_length, sizeof(*s->results), &fds->result, &s->result, w));
    s->arena = s->caller ? arena_new_within(&s->caller->messages) : arena_new(OWN_MEMORY);
    s->requests = malloc(request_length * sizeof(*s->requests));
    s->results = malloc(result_length * sizeof(*s->results));
    if (!s->arena || !s->requests || !s->results ||
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        return why_no_memory_for(w, "a burst's queues");
    s->socket = pair[0];
    fds->socket = pair[1];
    return 0;
}

static void free_queues(struct burst_server *s)
{
    ring_close(&s->request);
    ring_close(&s->result);
    arena_free(s->arena);
    free(s->requests);
    free(s->results);
    if (s->socket >= 0)
        close(s->socket);
    process_quota_release(QUOTA_FILES, client_of(s), s->has_quota ? QUEUE_FILES : 0);
    process_quota_release(QUOTA_THREADS, client_of(s), s->has_quota);
    s->has_quota = false;
    s->arena = NULL;
    s->requests = NULL;
    s->results = NULL;
    s->socket = -1;
}

int burst_server_open(struct burst_server *s, uint32_t request_length, uint32_t result_length,
                      struct burst_fds *ret_fds, struct why *w)
{
    struct burst_fds fds = { -1, -1, -1 };
    int rc = s->is_open ? why_fail(w, WHY_INVALID, "the burst has queues already")
                        : create_queues(s, request_length, result_length, &fds, w);

    if (rc == 0 && pthread_create(&s->thread, NULL, serve, s) != 0)
        rc = why_fail(w, WHY_MEMORY, "cannot create a thread for a burst");
    if (rc < 0) {
        burst_fds_close(&fds);
        if (!s->is_open)
            free_queues(s);
        return -1;
    }
    s->is_open = true;
    *ret_fds = fds;
    return 0;
}

void burst_server_free(struct burst_server *s)
{
    if (!s)
        return;
    if (s->is_open) {
        atomic_store(&s->is_ending, true);
        shutdown(s->socket, SHUT_RDWR);
        ring_bell(&s->request);
        pthread_join(s->thread, NULL);
    }
    release_all_memory(s);
    s->burst->methods->release(s->burst);
    free_queues(s);
    caller_unref(s->caller);
    pthread_mutex_destroy(&s->lock);
    free(s);
}
