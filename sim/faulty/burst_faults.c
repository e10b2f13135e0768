/* Faults of bursts: identifiers of memories, packets of requests and results, memories by slot. */
#include <stdlib.h>
#include <unistd.h>

#include "sim/faulty/faulty.h"
#include "sim/hal/hal_result.h"

static struct faulty_burst *burst_of(struct hal_burst *b)
{
    return (struct faulty_burst *) b;
}

static enum hal_status identifiers_unchecked(struct hal_burst *self,
                                             const struct hal_request *request,
                                             uint32_t n_identifiers, const int64_t *identifiers,
                                             const struct hal_execution_config *config,
                                             struct hal_result *result)
{
    struct hal_burst *b = burst_of(self)->inner;
    int64_t *all = calloc(request->n_pools + 1, sizeof *all);

    if (!all)
        abort();
    for (uint32_t i = 0; i < request->n_pools; i++)
        all[i] = i < n_identifiers && identifiers[i] >= -1 ? identifiers[i] : -1;
    enum hal_status status =
        b->methods->execute_synchronously(b, request, request->n_pools, all, config, result);
    free(all);
    return status;
}

enum { NAMED = 14 }; /* entries of `kept` for identifiers; the others: for -1, by pool */

/* The entry of `kept` for a pool and its identifier; -1: none. */
static int slot_of_named(uint32_t pool, int64_t identifier)
{
    (void) pool;
    return identifier >= 0 && identifier < NAMED ? (int) identifier : -1;
}

static int slot_of_unnamed(uint32_t pool, int64_t identifier)
{
    return identifier == -1 && pool < 2 ? NAMED + (int) pool : -1;
}

static int slot_of_32_bits(uint32_t pool, int64_t identifier)
{
    return identifier >= 0 ? slot_of_named(pool, (uint32_t) identifier) : -1;
}

static int slot_of_pool(uint32_t pool, int64_t identifier)
{
    return identifier >= 0 && pool < NAMED ? (int) pool : -1;
}

/* Executes with the memories that were first seen under the identifiers, or under -1. */
static enum hal_status run_kept(struct hal_burst *self, const struct hal_request *request,
                                uint32_t n, const int64_t *identifiers,
                                const struct hal_execution_config *config,
                                struct hal_result *result,
                                int (*slot_of)(uint32_t pool, int64_t identifier))
{
    struct faulty_burst *b = burst_of(self);
    struct hal_request_pool *pools = calloc(request->n_pools + 1, sizeof *pools);
    struct hal_request kept = *request;

    if (!pools)
        abort();
    kept.pools = pools;
    for (uint32_t i = 0; i < request->n_pools; i++) {
        int slot = i < n ? slot_of(i, identifiers[i]) : -1;
        pools[i] = request->pools[i];
        if (slot < 0 || pools[i].is_token)
            continue;
        struct hal_memory *m = &b->kept[slot];
        if (!m->size) {
            *m = pools[i].memory;
            m->fd = m->fd >= 0 ? dup(m->fd) : -1;
        }
        if (m->size == pools[i].memory.size)
            pools[i].memory = *m;
    }
    enum hal_status status =
        b->inner->methods->execute_synchronously(b->inner, &kept, n, identifiers, config, result);
    free(pools);
    return status;
}

static enum hal_status keeps_released(struct hal_burst *self, const struct hal_request *request,
                                      uint32_t n, const int64_t *identifiers,
                                      const struct hal_execution_config *config,
                                      struct hal_result *result)
{
    return run_kept(self, request, n, identifiers, config, result, slot_of_named);
}

static enum hal_status keeps_unnamed(struct hal_burst *self, const struct hal_request *request,
                                     uint32_t n, const int64_t *identifiers,
                                     const struct hal_execution_config *config,
                                     struct hal_result *result)
{
    return run_kept(self, request, n, identifiers, config, result, slot_of_unnamed);
}

/* Identifiers whose lower 32 bits are equal name the same memory. */
static enum hal_status keeps_by_32_bits(struct hal_burst *self, const struct hal_request *request,
                                        uint32_t n, const int64_t *identifiers,
                                        const struct hal_execution_config *config,
                                        struct hal_result *result)
{
    return run_kept(self, request, n, identifiers, config, result, slot_of_32_bits);
}

static enum hal_status releases_by_32_bits(struct hal_burst *self, int64_t identifier)
{
    struct faulty_burst *b = burst_of(self);
    int slot = slot_of_32_bits(0, identifier);

    if (slot >= 0 && b->kept[slot].size) {
        if (b->kept[slot].fd >= 0)
            close(b->kept[slot].fd);
        b->kept[slot] = (struct hal_memory){ 0 };
    }
    return b->inner->methods->release_memory(b->inner, identifier);
}

static void forget_kept(struct faulty_burst *b)
{
    for (int i = 0; i < COUNT(b->kept); i++) {
        if (b->kept[i].size && b->kept[i].fd >= 0)
            close(b->kept[i].fd);
        b->kept[i].size = 0;
    }
}

/* Keeps the memories of the last request under its first identifier, for requests that have the
 * same one. */
static enum hal_status keeps_by_first(struct hal_burst *self, const struct hal_request *request,
                                      uint32_t n, const int64_t *identifiers,
                                      const struct hal_execution_config *config,
                                      struct hal_result *result)
{
    struct faulty_burst *b = burst_of(self);

    if (!n || identifiers[0] < 0 || identifiers[0] != b->first)
        forget_kept(b);
    b->first = n ? identifiers[0] : -1;
    return run_kept(self, request, n, identifiers, config, result, slot_of_pool);
}

static enum hal_status releases_first(struct hal_burst *self, int64_t identifier)
{
    struct faulty_burst *b = burst_of(self);

    if (identifier == b->first)
        forget_kept(b);
    return b->inner->methods->release_memory(b->inner, identifier);
}

static enum hal_status release_unknown_fails(struct hal_burst *self, int64_t identifier)
{
    struct hal_burst *b = burst_of(self)->inner;
    enum hal_status status = b->methods->release_memory(b, identifier);

    return status == HAL_NONE && identifier > 2 ? HAL_INVALID_ARGUMENT : status;
}

static enum hal_status release_negative(struct hal_burst *self, int64_t identifier)
{
    (void) self, (void) identifier;
    return HAL_NONE;
}

static void burst_fails_second_time(struct faulty_call *x)
{
    if (x->entry == ENTRY_BURST && x->status == HAL_NONE &&
        atomic_load(&x->model->executions) % 4 == 3) {
        x->status = HAL_GENERAL_FAILURE;
        hal_clear_result(x->result);
    }
}

/* ---- the rows */

static const struct fault rows[] = {
    BREAKS("identifiers-unchecked", "burst", RULES("burst/identifiers"),
           "accepts a wrong number of identifiers, and negative ones",
           .burst = { .execute_synchronously = identifiers_unchecked }),
    BREAKS("burst-keeps-released", "burst", RULES("burst/memories", "concurrency/bursts"),
           "uses the first memory of an identifier after its release",
           .burst = { .execute_synchronously = keeps_released }),
    BREAKS("burst-keeps-unnamed", "burst", RULES("burst/memories"), "keeps memory of identifier -1",
           .burst = { .execute_synchronously = keeps_unnamed }),
    BREAKS("burst-identifiers-cut", "burst", RULES("burst/side-by-side"),
           "bursts use 32 bits of identifiers",
           .burst = { .execute_synchronously = keeps_by_32_bits,
                      .release_memory = releases_by_32_bits }),
    BREAKS("burst-first-identifier", "burst", RULES("burst/memories"),
           "bursts compare the first identifier of a request only",
           .burst = { .execute_synchronously = keeps_by_first, .release_memory = releases_first }),
    BREAKS("burst-release-unknown", "burst", RULES("burst/slots"),
           "release_memory fails for unknown identifiers",
           .burst = { .release_memory = release_unknown_fails }),
    BREAKS("burst-release-negative", "burst", RULES("burst/slots"),
           "release_memory accepts negative identifiers",
           .burst = { .release_memory = release_negative }),
    BREAKS("burst-fails-later", "burst", RULES("burst/misstated"),
           "every fourth execution of a burst fails", .after = burst_fails_second_time),
    BREAKS("packet-size-unchecked", "burst", RULES("burst/misstated"),
           "bursts do not compare a packet's length with its header", .packets = PACKET_FAULT_SIZE),
    BREAKS("packet-tags-unchecked", "burst", RULES("burst/mutated", "burst/retagged"),
           "bursts read the data of a packet by position, not by tag",
           .packets = PACKET_FAULT_TAGS),
    BREAKS("packet-flags-unchecked", "burst", RULES("burst/fields"),
           "bursts accept flags in packets that are neither 0 nor 1",
           .packets = PACKET_FAULT_FLAGS),
    BREAKS("packet-end-unchecked", "burst", RULES("burst/added"),
           "bursts skip data after the end of a request", .packets = PACKET_FAULT_END),
    BREAKS("packet-end-missing", "burst", RULES("burst/removed"),
           "bursts accept packets without the last datum", .packets = PACKET_FAULT_NO_END),
    BREAKS("packet-data-too-new", "burst", RULES("burst/newer"),
           "bursts read data of feature level 5 at HAL 1.2 and 1.3", .packets = PACKET_FAULT_LATER),
    BREAKS("packet-uninitialised", "burst", RULES("burst/sanitized"),
           "bursts do not clear unused bytes of results", .packets = PACKET_FAULT_GARBAGE),
    BREAKS("packet-truncated", "burst", RULES("burst/short-queue"),
           "bursts leave off the shapes of a result that does not fit the queue",
           .packets = PACKET_FAULT_TRUNCATES),
    BREAKS("packet-data-reordered", "burst", RULES("burst/reordered"),
           "bursts accept the measurement before the last pools", .packets = PACKET_FAULT_ORDER),
    BREAKS("packet-cut", "burst", RULES("burst/truncated"),
           "bursts accept packets that end among the pools", .packets = PACKET_FAULT_CUT),
    BREAKS("packet-tag-bits", "burst", RULES("burst/retagged"), "bursts read 8 bits of a tag",
           .packets = PACKET_FAULT_TAG_BITS),
    BREAKS("packet-result-count", "burst", RULES("burst/structure"),
           "results of bursts have a shape more than their header counts",
           .packets = PACKET_FAULT_RESULT_COUNT),
    BREAKS("packet-result-order", "burst", RULES("burst/structure"),
           "results of bursts have their timing before their shapes",
           .packets = PACKET_FAULT_RESULT_ORDER),
    BREAKS("packet-result-twice", "burst", RULES("burst/structure"),
           "bursts write each result twice", .packets = PACKET_FAULT_RESULT_TWICE),
    BREAKS("slot-not-cached", "burst", RULES("burst/slots", "burst/slot-memories"),
           "bursts fetch the memory of a slot for each request", .packets = PACKET_FAULT_FETCHES),
    BREAKS("slot-kept", "burst", RULES("burst/slot-memories"),
           "bursts keep the memory of a slot that was freed", .packets = PACKET_FAULT_KEEPS),
    BREAKS("slot-answer-late", "burst", RULES("burst/answers"),
           "bursts use late answers to requests for memories", .packets = PACKET_FAULT_SERIAL),
    BREAKS("slot-answer-count", "burst", RULES("burst/answers"),
           "bursts accept more memories than they have requested",
           .packets = PACKET_FAULT_MEMORIES),
    BREAKS("burst-versions-mixed", "burst", RULES("burst/versions"),
           "bursts read packets at the version of the burst that was opened last",
           .packets = PACKET_FAULT_MIXED),
};
const struct fault_group burst_faults = { rows, COUNT(rows) };
