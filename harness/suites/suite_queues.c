/* What comes back through the queues of a burst, and the memories that its driver fetches: result
 * packets, slots, versions.  Through hal.h: identifiers of memories. */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "harness/corrupt/burst_subject.h"
#include "sim/client/hal_calls.h"
#include "sim/hal/convert.h"

/* ---- results */

enum { SHORT_QUEUE = 8 };

/* The same packet in a burst with a short result queue. */
static void run_short(struct conform *c, struct burst_subject *s)
{
    struct raw_burst b;
    uint32_t n = s->b.n_results;
    enum hal_status status = raw_burst_open(&b, s->b.model, c->is_remote, c->version, SHORT_QUEUE);

    EXPECT_STATUS(c, status, HAL_NONE, s->m->name);
    memcpy(b.memory, s->b.memory, sizeof b.memory);
    for (int i = 0; i < 3; i++) {
        status = raw_burst_run(&b, s->datums, s->n, &s->r.result);
        if (n > SHORT_QUEUE)
            EXPECT(c, status != HAL_NONE && conform_result_is_empty(&s->r.result),
                   "%s: a result of %u datums in a queue of 8: %s", s->m->name, n,
                   hal_status_name(status));
        else
            EXPECT_STATUS(c, status, HAL_NONE, s->m->name);
    }
    raw_burst_close(&b);
}

static void short_queue(struct conform *c, const void *data)
{
    (void) data;
    burst_subject_each(c, run_short);
}

static bool is_zero(const void *bytes, size_t n)
{
    const uint8_t *b = bytes;

    for (size_t i = 0; i < n; i++)
        if (b[i])
            return false;
    return true;
}

static void check_padding(struct conform *c, struct burst_subject *s)
{
    for (uint32_t i = 0; i < s->b.n_results; i++) {
        const struct result_datum *d = &s->b.results[i];
        if (d->tag != RESULT_OPERAND)
            continue;
        const char *last = (const char *) (&d->of.operand.n_dims + 1);
        EXPECT(c,
               !d->zero && is_zero(d->of.operand.zero, sizeof d->of.operand.zero) &&
                   is_zero(last, (size_t) ((const char *) (d + 1) - last)),
               "%s: datum %u of the result has padding other than 0", s->m->name, i);
    }
}

static void sanitized(struct conform *c, const void *data)
{
    (void) data;
    burst_subject_each(c, check_padding);
}

/* ---- the structure of results */

/* Sends a packet; its result, which is well formed, has durations and shapes only if they are due.
 */
static void expect_structure(struct conform *c, struct burst_subject *s,
                             const struct request_datum *d, uint32_t n, const char *what)
{
    const struct hal_result *r = &s->r.result;
    enum hal_status status = raw_burst_run(&s->b, d, n, &s->r.result);
    bool may_have_shapes = status == HAL_NONE || status == HAL_OUTPUT_INSUFFICIENT_SIZE;
    bool has_times = r->timing.on_device != HAL_NO_TIME || r->timing.in_driver != HAL_NO_TIME;

    EXPECT(c, !r->n_shapes || (may_have_shapes && r->n_shapes == s->r.hal.n_outputs),
           "%s, %s: %s and %u shapes", s->m->name, what, hal_status_name(status), r->n_shapes);
    EXPECT(c, !has_times || (status == HAL_NONE && d[s->n - 1].of.measure),
           "%s, %s: %s and durations", s->m->name, what, hal_status_name(status));
}

static void check_structure(struct conform *c, struct burst_subject *s)
{
    enum { NO_MORE_NS = 2000000 };
    struct request_datum d[BURST_QUEUE_LENGTH];
    uint32_t output = 1;

    memcpy(d, s->datums, s->n * sizeof *d);
    expect_structure(c, s, d, s->n, "a valid request");
    d[s->n - 1].of.measure = 0;
    expect_structure(c, s, d, s->n, "a request without measurement");
    while (d[output].tag != REQUEST_OUTPUT)
        output++;
    d[output].of.operand.length = 1;
    expect_structure(c, s, d, s->n, "a request with a short output");
    expect_structure(c, s, d, s->n - 1, "a request without an end");
    EXPECT(c, !raw_burst_await(&s->b, NO_MORE_NS), "%s: more results than requests", s->m->name);
}

static void structure(struct conform *c, const void *data)
{
    (void) data;
    burst_subject_each(c, check_structure);
}

/* ---- slots */

static void free_slots(struct conform *c, struct burst_subject *s)
{
    static const int64_t slots[] = { 0, 0, 1, 5, BURST_SLOTS, INT32_MAX, INT64_MAX };
    unsigned before = s->b.questions;

    burst_subject_expect_correct(c, s);
    EXPECT(c, s->b.questions == before, "the memory of a cached slot is fetched again");
    for (int i = 0; i < COUNT(slots); i++)
        EXPECT_STATUS(c, raw_burst_free_memory(&s->b, slots[i]), HAL_NONE, "freeMemory");
    EXPECT_STATUS(c, raw_burst_free_memory(&s->b, -1), HAL_INVALID_ARGUMENT, "freeMemory of -1");
    burst_subject_expect_correct(c, s);
    EXPECT(c, s->b.questions == before + 1, "the memory of a freed slot is not fetched again");
    for (int32_t slot = 2; slot < BURST_SLOTS; slot += 17) {
        s->datums[s->n - 2].of.slot = slot; /* a slot without memory */
        EXPECT(c, raw_burst_run(&s->b, s->datums, s->n, &s->r.result) != HAL_NONE,
               "a pool in slot %d, which has no memory: NONE, expected a failure", (int) slot);
        EXPECT(c, conform_result_is_empty(&s->r.result),
               "a pool in slot %d, which has no memory: shapes or durations", (int) slot);
    }
    s->datums[s->n - 2].of.slot = 1;
}

static void slots(struct conform *c, const void *data)
{
    (void) data;
    burst_subject_one(c, free_slots);
}

/* The server's next request is for all memories. */
static void free_both(struct burst_subject *s)
{
    for (int64_t slot = 0; slot < 2; slot++)
        (void) raw_burst_free_memory(&s->b, slot);
    memset(s->b.asked, 0, sizeof s->b.asked);
}

/* Answers to a request for memories with a wrong number of them, and a late one. */
static void answer_wrongly(struct conform *c, struct burst_subject *s)
{
    static const char *const names[] = { [RAW_BURST_FEWER] = "fewer", [RAW_BURST_MORE] = "more" };
    const uint64_t size = s->room > s->b.memory[0].size ? s->room : s->b.memory[0].size;

    for (int k = RAW_BURST_FEWER; k <= RAW_BURST_MORE; k++) {
        free_both(s);
        s->b.answer = (enum raw_burst_answer) k;
        enum hal_status status = raw_burst_run(&s->b, s->datums, s->n, &s->r.result);
        EXPECT(c, status != HAL_NONE && conform_result_is_empty(&s->r.result),
               "the client sends %s memories than were requested: %s, expected a failure without "
               "shapes and durations",
               names[k], hal_status_name(status));
        s->b.answer = RAW_BURST_ALL;
        burst_subject_expect_correct(c, s);
    }
    memset(raw_burst_memory(&s->b, BURST_SLOTS - 1, size), 0x5a, size);
    free_both(s);
    s->b.answer = RAW_BURST_LATE;
    conform_doing(c, "%s, after a late answer to an earlier request for memories", s->m->name);
    burst_subject_expect_correct(c, s);
    s->b.answer = RAW_BURST_ALL;
    raw_burst_drop(&s->b, BURST_SLOTS - 1);
}

static void answers(struct conform *c, const void *data)
{
    (void) data;
    burst_subject_one(c, answer_wrongly);
}

/* Each of the two slots was requested so often, and no other. */
static void expect_asked(struct conform *c, const struct burst_subject *s, unsigned times,
                         const char *what)
{
    for (int i = 0; i < BURST_SLOTS; i++)
        EXPECT(c, s->b.asked[i] == (i < 2 ? times : 0),
               "%s: the memory of slot %d is requested %u times, expected %u", what, i,
               s->b.asked[i], i < 2 ? times : 0);
}

/* Another memory in the slot, with the same bytes; those of the old one are changed. */
static void replace_memory(struct burst_subject *s, int32_t slot)
{
    const struct hal_memory old = s->b.memory[slot];
    uint8_t *to = raw_burst_memory(&s->b, slot, old.size);

    memcpy(to, old.address, old.size);
    for (uint64_t i = 0; i < old.size; i++)
        ((uint8_t *) old.address)[i] ^= 0x55;
    munmap(old.address, old.size);
    close(old.fd);
    if (slot == 1)
        s->out = to;
}

/* One more pool in the packet, of slot 0, which has the first input. */
static void use_slot_twice(struct conform *c, struct burst_subject *s)
{
    const struct hal_execution_config config = client_config();
    struct request_datum original[BURST_QUEUE_LENGTH];
    const uint32_t n = s->n;

    memcpy(original, s->datums, n * sizeof *original);
    s->r.inputs[0].location.pool = 2;
    s->r.hal.n_pools = 3;
    s->n = raw_burst_packet(&s->r.hal, c->version, &config, s->datums);
    s->datums[s->n - 2].of.slot = 0;
    free_both(s);
    conform_doing(c, "%s, with two pools of the same slot", s->m->name);
    burst_subject_expect_correct(c, s);
    expect_asked(c, s, 1, "two pools of the same slot");
    s->r.inputs[0].location.pool = 0;
    s->r.hal.n_pools = 2;
    s->n = n;
    memcpy(s->datums, original, n * sizeof *original);
}

static void change_slots(struct conform *c, struct burst_subject *s)
{
    free_both(s);
    burst_subject_expect_correct(c, s);
    expect_asked(c, s, 1, "two unknown slots");
    burst_subject_expect_correct(c, s);
    expect_asked(c, s, 1, "two known slots");
    for (int32_t slot = 0; slot < 2; slot++) {
        replace_memory(s, slot);
        (void) raw_burst_free_memory(&s->b, slot);
        conform_doing(c, "%s, with another memory in slot %d after freeMemory", s->m->name,
                      (int) slot);
        burst_subject_expect_correct(c, s);
    }
    use_slot_twice(c, s);
}

static void slot_memories(struct conform *c, const void *data)
{
    (void) data;
    burst_subject_one(c, change_slots);
}

/* ---- bursts of several versions */

/* The valid packet, then with a pool that is not cached, which packets have since feature level 5.
 */
static void run_at(struct conform *c, struct burst_subject *s, struct raw_burst *b)
{
    struct request_datum d[BURST_QUEUE_LENGTH];

    memset(s->out, 0, s->room);
    enum hal_status status = raw_burst_run(b, s->datums, s->n, &s->r.result);
    EXPECT(c, status == HAL_NONE && memcmp(s->out, s->r.pool[1].memory.address, s->room) == 0,
           "a burst of HAL %s beside others: %s, or wrong results", hal_version_name(b->version),
           hal_status_name(status));
    memcpy(d, s->datums, s->n * sizeof *d);
    d[s->n - 2].tag = REQUEST_UNCACHED_POOL;
    status = raw_burst_run(b, d, s->n, &s->r.result);
    EXPECT(c, b->version < HAL_FL5 ? status == HAL_INVALID_ARGUMENT : status == HAL_NONE,
           "a packet of feature level 5 in a burst of HAL %s beside others: %s",
           hal_version_name(b->version), hal_status_name(status));
}

static void run_versions(struct conform *c, struct burst_subject *s)
{
    struct raw_burst b[HAL_VERSIONS];
    int n = 0;

    for (int v = 0; v < HAL_VERSIONS; v++) {
        if (hal_versions[v] < HAL_1_2 || !conform_has_entry(c, hal_versions[v]))
            continue;
        enum hal_status status =
            raw_burst_open(&b[n], s->b.model, c->is_remote, hal_versions[v], BURST_QUEUE_LENGTH);
        if (!EXPECT_STATUS(c, status, HAL_NONE, "configure_burst beside others"))
            continue;
        memcpy(b[n].memory, s->b.memory, sizeof b[n].memory);
        n++;
    }
    for (int i = 0; i < 2 * n; i++)
        run_at(c, s, &b[i % n]);
    for (int i = 0; i < n; i++)
        raw_burst_close(&b[i]);
}

static void versions(struct conform *c, const void *data)
{
    (void) data;
    burst_subject_one(c, run_versions);
}

/* ---- identifiers */

static void run_identifiers(struct conform *c, struct burst_subject *s)
{
    static const struct {
        uint32_t n;
        int64_t id[3];
        enum hal_status status;
    } rows[] = {
        { 1, { 1 }, HAL_INVALID_ARGUMENT },
        { 3, { 1, 2, 3 }, HAL_INVALID_ARGUMENT },
        { 2, { -2, 2 }, HAL_INVALID_ARGUMENT },
        { 2, { 1, -2 }, HAL_INVALID_ARGUMENT },
        { 2, { INT64_MIN, -1 }, HAL_INVALID_ARGUMENT },
        { 2, { -1, -1 }, HAL_NONE },
        { 2, { 0, INT64_MAX }, HAL_NONE },
        { 2, { 5, -1 }, HAL_NONE },
        { 2, { 5, 0 }, HAL_NONE },
    };
    struct hal_prepared_model *p = s->b.model;
    struct hal_execution_config config = client_config();
    struct hal_burst *b;

    EXPECT_STATUS(c, p->methods->configure_burst(p, c->version, &b), HAL_NONE, "configure");
    for (int k = 0; k < 2 * COUNT(rows); k++) {
        struct hal_request r = s->r.hal;
        struct hal_request_pool pools[] = { { .memory = s->b.memory[0] },
                                            { .memory = s->b.memory[1] } };
        pools[0].memory.address = pools[1].memory.address = NULL;
        r.pools = k % 2 ? pools : s->r.hal.pools;
        enum hal_status status = b->methods->execute_synchronously(
            b, &r, rows[k / 2].n, rows[k / 2].id, &config, &s->r.result);
        EXPECT(c,
               status == rows[k / 2].status &&
                   (status == HAL_NONE || conform_result_is_empty(&s->r.result)),
               "%u memory identifiers for 2 pools, the first %lld: %s, expected %s", rows[k / 2].n,
               (long long) rows[k / 2].id[0], hal_status_name(status),
               hal_status_name(rows[k / 2].status));
    }
    EXPECT_STATUS(c, b->methods->release_memory(b, -2), HAL_INVALID_ARGUMENT, "release -2");
    EXPECT_STATUS(c, b->methods->release_memory(b, 0), HAL_NONE, "release 0");
    EXPECT_STATUS(c, b->methods->release_memory(b, 0), HAL_NONE, "release 0 again");
    EXPECT_STATUS(c, b->methods->release_memory(b, 77), HAL_NONE, "release 77");
    b->methods->release(b);
}

static void identifiers(struct conform *c, const void *data)
{
    (void) data;
    burst_subject_one(c, run_identifiers);
}

static const struct conform_rule rules_of_file[] = {
    { "burst", "short-queue", HAL_1_2, 0,
      "fails when the result packet is larger than the result queue", short_queue, NULL, true },
    { "burst", "sanitized", HAL_1_2, 0, "padding bytes of result packets are zero", sanitized, NULL,
      true },
    { "burst", "structure", HAL_1_2, 0,
      "each request has one well-formed result, with shapes and durations where due", structure,
      NULL, true },
    { "burst", "slots", HAL_1_2, 0,
      "fetches a memory once per slot; freeing a known, unknown or freed slot succeeds", slots },
    { "burst", "slot-memories", HAL_1_2, 0,
      "uses the new memory of a slot that was freed; fetches that of two equal slots once",
      slot_memories },
    { "burst", "answers", HAL_1_2, 0,
      "fails if the client sends a wrong number of memories; a late answer is not used", answers },
    { "burst", "versions", HAL_1_2, 0,
      "bursts of several versions at a time: each reads packets of its own version", versions },
    { "burst", "identifiers", HAL_1_2, 0,
      "rejects a wrong number of memory identifiers, and negative ones other than -1",
      identifiers },
};
const struct conform_rules conform_rules_queues = { rules_of_file, COUNT(rules_of_file),
                                                    conform_models_draw, conform_models_free };
