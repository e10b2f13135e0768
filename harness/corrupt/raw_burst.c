#include "harness/corrupt/raw_burst.h"
#include "harness/conform/must.h"

#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sim/remote/remote_internal.h"

static const uint64_t reply_timeout = UINT64_C(20000000000);

static struct why w;

/* ---- opening and closing */

static enum hal_status open_local(struct raw_burst *b, uint32_t result_length,
                                  struct burst_fds *fds)
{
    struct hal_burst *burst;
    enum hal_status s = b->model->methods->configure_burst(b->model, b->version, &burst);

    if (s != HAL_NONE)
        return s;
    b->server = burst_server_new(burst, b->version, NULL);
    MUST(burst_server_open(b->server, BURST_QUEUE_LENGTH, result_length, fds, &w) == 0);
    return HAL_NONE;
}

enum hal_status raw_burst_open(struct raw_burst *b, struct hal_prepared_model *model,
                               bool is_remote, enum hal_version version, uint32_t result_length)
{
    struct burst_fds fds = { -1, -1, -1 };
    enum hal_status s;

    *b = (struct raw_burst){ .model = model, .is_remote = is_remote, .version = version };
    s = is_remote
            ? remote_open_burst(model, version, BURST_QUEUE_LENGTH, result_length, &b->handle, &fds)
            : open_local(b, result_length, &fds);
    if (s == HAL_NONE)
        MUST(burst_link_open(&fds, BURST_QUEUE_LENGTH, result_length, &b->link, &w) == 0);
    return s;
}

static struct remote *remote_of(const struct raw_burst *b)
{
    return ((struct remote_prepared *) b->model)->r;
}

void raw_burst_close(struct raw_burst *b)
{
    if (b->is_remote)
        remote_release(remote_of(b), b->handle);
    burst_server_free(b->server);
    burst_link_close(&b->link);
}

enum hal_status raw_burst_free_memory(struct raw_burst *b, int64_t slot)
{
    struct remote_call q;

    if (!b->is_remote)
        return burst_server_release_memory(b->server, slot);
    MUST(remote_begin(remote_of(b), WIRE__METHOD__BURST_RELEASE_MEMORY, b->version, &q) == 0);
    q.call.object = b->handle;
    q.call.identifier = slot;
    enum hal_status s = remote_run(&q);
    remote_end(&q);
    return s;
}

/* ---- memory */

void *raw_burst_memory(struct raw_burst *b, int32_t slot, uint64_t size)
{
    struct hal_memory *m = &b->memory[slot];

    *m = (struct hal_memory){ .kind = HAL_MEMORY_FD,
                              .protection = HAL_MEMORY_READ | HAL_MEMORY_WRITE,
                              .size = size };
    MUST(wire_memory(size, &m->fd, &m->address, &w) == 0);
    return m->address;
}

void raw_burst_drop(struct raw_burst *b, int32_t slot)
{
    struct hal_memory *m = &b->memory[slot];

    munmap(m->address, m->size);
    close(m->fd);
    *m = (struct hal_memory){ .size = 0 };
}

static void send_memories(struct raw_burst *b, uint64_t serial, const int32_t *slot, size_t n,
                          struct arena *a)
{
    Wire__Memories m = WIRE__MEMORIES__INIT;
    struct wire_fds fds = { 0 };

    m.serial = serial;
    m.n_memories = n;
    m.memories = arena_alloc(a, n + 1, sizeof *m.memories);
    MUST(m.memories);
    for (size_t i = 0; i < n; i++)
        MUST(wire_encode_memory(&b->memory[slot[i]], 0, a, &fds, &m.memories[i], &w) == 0);
    MUST(wire_send(b->link.socket, &m.base, &fds, &w) == 0);
}

static void answer(struct raw_burst *b, const Wire__MemoriesWanted *question, struct arena *a)
{
    size_t n = question->n_slots;
    int32_t *slot = arena_alloc(a, n + 1, sizeof *slot), *late = arena_alloc(a, n, sizeof *late);
    bool all = true;

    MUST(n && slot && late);
    for (size_t i = 0; i < n; i++) {
        slot[i] = question->slots[i];
        late[i] = BURST_SLOTS - 1;
        MUST(slot[i] >= 0 && slot[i] < BURST_SLOTS);
        all = all && b->memory[slot[i]].size;
        b->asked[slot[i]]++;
    }
    slot[n] = slot[0];
    if (b->answer == RAW_BURST_LATE)
        send_memories(b, question->serial - 1, late, n, a);
    if (b->answer == RAW_BURST_MORE)
        n++;
    if (b->answer == RAW_BURST_FEWER)
        n--;
    send_memories(b, question->serial, slot, all ? n : 0, a);
    b->questions++;
}

static void answer_question(struct raw_burst *b)
{
    struct pollfd p = { .fd = b->link.socket, .events = POLLIN };
    struct arena *a;
    struct wire_fds fds;
    ProtobufCMessage *m;

    if (poll(&p, 1, 0) != 1)
        return;
    a = arena_new(0);
    MUST(wire_receive(p.fd, &wire__memories_wanted__descriptor, a, &m, &fds, &w) == 1);
    answer(b, (const Wire__MemoriesWanted *) m, a);
    arena_free(a);
}

/* ---- packets */

bool raw_burst_await(struct raw_burst *b, uint64_t ns)
{
    for (;;) {
        unsigned before = b->questions;
        int rc = ring_wait(&b->link.result, b->link.socket, ns);
        MUST(rc >= 0);
        if (rc > 0)
            break;
        answer_question(b);
        if (b->questions == before)
            return false;
    }
    b->n_results = ring_read(&b->link.result, b->results);
    return true;
}

enum hal_status raw_burst_run(struct raw_burst *b, const struct request_datum *datums, uint32_t n,
                              struct hal_result *result)
{
    enum hal_status s = HAL_NONE;

    MUST(ring_write(&b->link.request, datums, n) == 0);
    MUST(raw_burst_await(b, reply_timeout));
    if (burst_packet_take_result(b->results, b->n_results, &s, result, &w) < 0) {
        why_prefix(&w, "a malformed result packet");
        conform_must(false, w.text);
    }
    return s;
}

uint32_t raw_burst_packet(const struct hal_request *r, enum hal_version version,
                          const struct hal_execution_config *config, struct request_datum *datums)
{
    struct burst_packet_pool pools[BURST_SLOTS];
    const struct burst_packet_request packet = { r->n_inputs, r->n_outputs, r->n_pools, r->inputs,
                                                 r->outputs,  pools,        *config };
    uint32_t n = 0;

    for (uint32_t i = 0; i < r->n_pools; i++)
        pools[i] = (struct burst_packet_pool){ .kind = REQUEST_POOL, .slot = (int32_t) i };
    MUST(burst_packet_put_request(&packet, version, datums, BURST_QUEUE_LENGTH, &n) == 0);
    return n;
}
