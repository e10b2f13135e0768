/* Bursts.  Through the raw queues: request packets with a datum removed, added or changed, result
 * packets larger than their queue, padding bytes.  Through hal.h: identifiers of memories.  After
 * each rule the burst must still execute a valid request. */
#include <stdlib.h>
#include <string.h>

#include "harness/conform/conform_models.h"
#include "harness/conform/conform_requests.h"
#include "harness/conform/raw_burst.h"
#include "sim/hal/convert.h"

/* Each cell tries one model in so many: in process, and over a socket. */
enum { LOCAL_EVERY = 3, REMOTE_EVERY = 9 };

/* A prepared model, its burst, a valid request packet, and the expected outputs. */
struct subject {
    const struct conform_model *m;
    bool has_all_dims; /* the packet gives all dimensions, or only those unknown in the model */
    struct raw_burst b;
    struct conform_request r;
    uint64_t room; /* bytes of the outputs' pool */
    void *out;
    struct request_datum datums[BURST_QUEUE_LENGTH];
    uint32_t n;
};

/* ---- models */

/* Gives dimensions only where the model leaves them unknown. */
static void omit_known_dimensions(struct subject *s)
{
    const struct graph *g = &s->m->example.model.graph[0];

    for (uint32_t i = 0; i < g->n_inputs; i++)
        if (shape_known(&g->operand[g->input[i]].tensor.shape))
            s->r.inputs[i].n_dims = 0;
}

/* The dimensions of all inputs are given already. */
static void give_all_dimensions(struct subject *s)
{
    for (uint32_t i = 0; i < s->r.hal.n_outputs; i++) {
        s->r.outputs[i].n_dims = s->m->example.expected[i].shape.rank;
        s->r.outputs[i].dims = s->m->example.expected[i].shape.dim;
    }
}

/* Opens the burst; the expected outputs are those of a synchronous execution.  False: no burst, or
 * outputs of unknown shape, which a driver need not support. */
static bool begin(struct conform *c, struct subject *s, struct hal_prepared_model *p)
{
    struct hal_execution_config config = client_config();
    struct hal_memory *in = &s->r.pool[0].memory, *out = &s->r.pool[1].memory;
    enum hal_status status =
        p->methods->execute_synchronously(p, c->version, &s->r.hal, &config, &s->r.result);

    if (status == HAL_GENERAL_FAILURE && !conform_request_is_specified(&s->m->example))
        return false;
    if (!EXPECT(c, status == HAL_NONE, "%s, synchronous execution: %s, expected NONE", s->m->name,
                hal_status_name(status)))
        return false;
    status = raw_burst_open(&s->b, p, c->is_remote, c->version, BURST_QUEUE_LENGTH);
    EXPECT(c, status == HAL_NONE, "%s: configure_burst returns %s, expected NONE", s->m->name,
           hal_status_name(status));
    if (status != HAL_NONE)
        return false;
    memcpy(raw_burst_memory(&s->b, 0, in->size), in->address, in->size);
    s->room = out->size;
    s->out = raw_burst_memory(&s->b, 1, out->size);
    (s->has_all_dims ? give_all_dimensions : omit_known_dimensions)(s);
    config.measure = true;
    s->n = raw_burst_packet(&s->r.hal, c->version, &config, s->datums);
    return true;
}

static void end(struct subject *s)
{
    raw_burst_drop(&s->b, 0);
    raw_burst_drop(&s->b, 1);
    raw_burst_close(&s->b);
}

static void expect_correct(struct conform *c, struct subject *s)
{
    enum hal_status status;

    memset(s->out, 0, s->room);
    status = raw_burst_run(&s->b, s->datums, s->n, &s->r.result);
    EXPECT(c, status == HAL_NONE && memcmp(s->out, s->r.pool[1].memory.address, s->room) == 0,
           "%s: the valid request through the burst: %s, or other results than those of a "
           "synchronous execution",
           s->m->name, hal_status_name(status));
}

static void with_burst(struct conform *c, const struct conform_model *m, bool has_all_dims,
                       void (*visit)(struct conform *c, struct subject *s))
{
    const struct conform_kind *burst = conform_kind_named("burst"),
                              *synchronous = conform_kind_named("synchronous");
    struct subject *s;

    conform_doing(c, "%s", m->name);
    struct hal_prepared_model *p = conform_prepare_supported(c, &m->hal);
    if (!p)
        return;
    if (!conform_can_run(c, p, burst, c->version) ||
        !conform_can_run(c, p, synchronous, c->version)) {
        p->methods->release(p);
        return;
    }
    struct arena *a = arena_new(0);
    s = arena_alloc(a, 1, sizeof *s);
    s->m = m;
    s->has_all_dims = has_all_dims;
    conform_request(&m->example, a, &s->r);
    if (begin(c, s, p)) {
        expect_correct(c, s);
        visit(c, s);
        expect_correct(c, s);
        end(s);
    }
    p->methods->release(p);
    arena_free(a);
}

static void each_model(struct conform *c, void (*visit)(struct conform *c, struct subject *s))
{
    int every = c->is_remote ? REMOTE_EVERY : LOCAL_EVERY;

    for (int i = 0; i < conform_n_models; i++)
        if (conform_is_mine(c, (uint32_t) i) && conform_model_is_of(&conform_models[i], c) &&
            (i + (int) c->version) % every == 0)
            with_burst(c, &conform_models[i], i % 2, visit);
}

/* ---- invalid packets */

/* `bad` identifies the change in messages.  `other`: a status that is right with its results. */
static void refuse_or(struct conform *c, struct subject *s, const struct request_datum *datums,
                      uint32_t n, uint32_t at, int bad, enum hal_status other)
{
    enum hal_status status = raw_burst_run(&s->b, datums, n, &s->r.result);

    EXPECT(c, status != HAL_NONE && (status == other || conform_result_is_empty(&s->r.result)),
           "%s: a packet of %u data with datum %u changed (change %d): %s, %u shapes, expected a "
           "failure without shapes and durations",
           s->m->name, s->n, at, bad, hal_status_name(status), s->r.result.n_shapes);
}

static void refuse(struct conform *c, struct subject *s, const struct request_datum *datums,
                   uint32_t n, uint32_t at, int bad)
{
    refuse_or(c, s, datums, n, at, bad, HAL_NONE);
}

/* The packet with the length in its header unchanged, and with the length corrected. */
static void refuse_resized(struct conform *c, struct subject *s, struct request_datum *datums,
                           uint32_t n, uint32_t at, int kind)
{
    refuse(c, s, datums, n, at, kind);
    if (!at)
        return;
    datums[0].of.packet.size = n;
    refuse(c, s, datums, n, at, kind);
}

static void remove_each(struct conform *c, struct subject *s)
{
    struct request_datum d[BURST_QUEUE_LENGTH];

    for (uint32_t i = 0; i < s->n; i++) {
        memcpy(d, s->datums, i * sizeof *d);
        memcpy(d + i, s->datums + i + 1, (s->n - i - 1) * sizeof *d);
        refuse_resized(c, s, d, s->n - 1, i, 0);
    }
}

static const struct request_datum bad[] = {
    { REQUEST_PACKET, 0, .of.packet = { 10, 10, 10, 10 } },
    { REQUEST_INPUT, 0, .of.operand = { .n_dims = 10 } },
    { REQUEST_INPUT_DIMENSION, 0, .of.dimension = 0 },
    { REQUEST_OUTPUT, 0, .of.operand = { .n_dims = 10 } },
    { REQUEST_OUTPUT_DIMENSION, 0, .of.dimension = 0 },
    { REQUEST_POOL, 0, .of.slot = INT32_MAX },
    { REQUEST_MEASURE, 0, .of.measure = 1 },
};

static void add_each(struct conform *c, struct subject *s)
{
    struct request_datum d[BURST_QUEUE_LENGTH];

    for (uint32_t i = 0; i <= s->n; i++)
        for (int k = 0; k < COUNT(bad); k++) {
            memcpy(d, s->datums, i * sizeof *d);
            d[i] = bad[k];
            memcpy(d + i + 1, s->datums + i, (s->n - i) * sizeof *d);
            refuse_resized(c, s, d, s->n + 1, i, k);
        }
}

/* Replacing a dimension by 0, unknown, keeps the packet valid. */
static bool stays_valid(const struct subject *s, const struct request_datum *original,
                        const struct request_datum *other)
{
    bool is_dimension =
        original->tag == REQUEST_INPUT_DIMENSION || original->tag == REQUEST_OUTPUT_DIMENSION;

    return s->has_all_dims && is_dimension && other->tag == original->tag;
}

/* The output that datum `at` describes. */
static const struct tensor *output_at(const struct subject *s, uint32_t at)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < at; i++)
        n += s->datums[i].tag == REQUEST_OUTPUT;
    return &s->m->example.expected[n];
}

/* An output of rank 10 becomes one of the same rank without room: the packet is well formed, and
 * OUTPUT_INSUFFICIENT_SIZE, which has shapes, is right, too.  One without elements needs no room.
 */
static void mutate(struct conform *c, struct subject *s, uint32_t at, int k)
{
    const struct request_datum original = s->datums[at];
    bool is_output = original.tag == REQUEST_OUTPUT && bad[k].tag == REQUEST_OUTPUT &&
                     original.of.operand.n_dims == bad[k].of.operand.n_dims;

    if (memcmp(&original, &bad[k], sizeof original) == 0 || stays_valid(s, &original, &bad[k]) ||
        (is_output && !tensor_bytes(output_at(s, at))))
        return;
    s->datums[at] = bad[k];
    refuse_or(c, s, s->datums, s->n, at, k, is_output ? HAL_OUTPUT_INSUFFICIENT_SIZE : HAL_NONE);
    s->datums[at] = original;
}

static void mutate_each(struct conform *c, struct subject *s)
{
    for (uint32_t i = 0; i < s->n; i++)
        for (int k = 0; k < COUNT(bad); k++)
            mutate(c, s, i, k);
}

/* The packet's header has another size, or another number of inputs, outputs or pools. */
static void misstate_each(struct conform *c, struct subject *s)
{
    const struct request_datum original = s->datums[0];
    uint32_t *const number[] = { &s->datums[0].of.packet.size, &s->datums[0].of.packet.n_inputs,
                                 &s->datums[0].of.packet.n_outputs,
                                 &s->datums[0].of.packet.n_pools };

    for (int k = 0; k < COUNT(number); k++) {
        const uint32_t others[] = { *number[k] - 1, *number[k] + 1, 0, UINT32_MAX };
        for (int i = 0; i < COUNT(others); i++) {
            if (others[i] == *number[k])
                continue;
            *number[k] = others[i];
            refuse(c, s, s->datums, s->n, 0, k);
            s->datums[0] = original;
        }
    }
}

/* A datum with another tag.  Since feature level 5 a pool may become one that is not cached. */
static void retag_each(struct conform *c, struct subject *s)
{
    for (uint32_t i = 0; i < s->n; i++)
        for (uint32_t tag = 0; tag <= REQUEST_LOOP_TIMEOUT + 1; tag++) {
            uint32_t original = s->datums[i].tag;
            bool is_valid =
                original == REQUEST_POOL && tag == REQUEST_UNCACHED_POOL && c->version >= HAL_FL5;
            if (tag == original || is_valid)
                continue;
            s->datums[i].tag = tag;
            refuse(c, s, s->datums, s->n, i, (int) tag);
            s->datums[i].tag = original;
        }
}

/* Flags that are neither 0 nor 1, and more dimensions than datums follow. */
static void corrupt_fields_of_each(struct conform *c, struct subject *s)
{
    for (uint32_t i = 0; i < s->n; i++) {
        const struct request_datum original = s->datums[i];
        struct request_datum *d = &s->datums[i];
        bool is_operand = d->tag == REQUEST_INPUT || d->tag == REQUEST_OUTPUT;
        for (int k = 0; k < 4 && (is_operand || d->tag == REQUEST_MEASURE); k++) {
            if (!is_operand)
                d->of.measure = k ? UINT32_MAX >> 8 * k : 2;
            else if (k < 2)
                d->of.operand.has_no_value = k ? 255 : 2;
            else
                d->of.operand.n_dims = k == 2 ? UINT32_MAX : d->of.operand.n_dims + 1;
            refuse(c, s, s->datums, s->n, i, k);
            *d = original;
        }
    }
}

static void retagged(struct conform *c, const void *data)
{
    (void) data;
    each_model(c, retag_each);
}

static void fields(struct conform *c, const void *data)
{
    (void) data;
    each_model(c, corrupt_fields_of_each);
}

static void misstated(struct conform *c, const void *data)
{
    (void) data;
    each_model(c, misstate_each);
}

static void removed(struct conform *c, const void *data)
{
    (void) data;
    each_model(c, remove_each);
}

static void added(struct conform *c, const void *data)
{
    (void) data;
    each_model(c, add_each);
}

static void mutated(struct conform *c, const void *data)
{
    (void) data;
    each_model(c, mutate_each);
}

/* ---- results */

enum { SHORT_QUEUE = 8 };

/* The same packet in a burst with a short result queue. */
static void run_short(struct conform *c, struct subject *s)
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
    each_model(c, run_short);
}

static bool is_zero(const void *bytes, size_t n)
{
    const uint8_t *b = bytes;

    for (size_t i = 0; i < n; i++)
        if (b[i])
            return false;
    return true;
}

static void check_padding(struct conform *c, struct subject *s)
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
    each_model(c, check_padding);
}

/* ---- datums of later versions */

static void with_one(struct conform *c, void (*visit)(struct conform *c, struct subject *s))
{
    const struct one_op *o = conform_relu(c);
    struct conform_model m;

    if (!o)
        return;
    conform_model_of(&m, o);
    with_burst(c, &m, false, visit);
    conform_model_done(&m);
}

/* An additional datum at the end, or another kind of pool, in a packet of the corrected length. */
static const struct newer {
    const char *what;
    struct request_datum datum;
    bool is_pool;
    enum hal_version since;
    enum hal_status status; /* since that version; before, HAL_INVALID_ARGUMENT */
} newer[] = {
    { "a deadline in the far future",
      { REQUEST_DEADLINE, 0, .of.ns = INT64_MAX - 1 },
      false,
      HAL_FL5,
      HAL_NONE },
    { "a deadline that has passed",
      { REQUEST_DEADLINE, 0, .of.ns = 1 },
      false,
      HAL_FL5,
      HAL_MISSED_DEADLINE_PERSISTENT }, /* or NONE: a driver may ignore deadlines */
    { "a loop time-out", { REQUEST_LOOP_TIMEOUT, 0, .of.ns = 1000 }, false, HAL_FL5, HAL_NONE },
    { "a pool that is not cached",
      { REQUEST_UNCACHED_POOL, 0, .of.slot = 0 },
      true,
      HAL_FL5,
      HAL_NONE },
    { "an unknown token",
      { REQUEST_TOKEN, 0, .of.token = 9999 },
      true,
      HAL_FL5,
      HAL_INVALID_ARGUMENT },
};

static void run_newer(struct conform *c, struct subject *s)
{
    for (int i = 0; i < COUNT(newer); i++) {
        struct request_datum d[BURST_QUEUE_LENGTH];
        uint32_t n = s->n + !newer[i].is_pool;
        memcpy(d, s->datums, s->n * sizeof *d);
        d[0].of.packet.size = n;
        d[newer[i].is_pool ? s->n - 3 : s->n] = newer[i].datum;
        enum hal_status status = raw_burst_run(&s->b, d, n, &s->r.result);
        enum hal_status expected =
            c->version < newer[i].since ? HAL_INVALID_ARGUMENT : newer[i].status;
        bool ok = expected == HAL_MISSED_DEADLINE_PERSISTENT
                      ? status == HAL_NONE || status == HAL_MISSED_DEADLINE_TRANSIENT ||
                            status == expected
                      : status == expected;
        EXPECT(c, ok && (status == HAL_NONE || conform_result_is_empty(&s->r.result)),
               "%s: a packet with %s: %s, expected %s", s->m->name, newer[i].what,
               hal_status_name(status), hal_status_name(expected));
    }
}

static void newer_datums(struct conform *c, const void *data)
{
    (void) data;
    with_one(c, run_newer);
}

/* ---- slots */

static void free_slots(struct conform *c, struct subject *s)
{
    static const int64_t slots[] = { 0, 0, 1, 5, BURST_SLOTS, INT32_MAX, INT64_MAX };
    unsigned before = s->b.questions;

    expect_correct(c, s);
    EXPECT(c, s->b.questions == before, "the memory of a cached slot is fetched again");
    for (int i = 0; i < COUNT(slots); i++)
        EXPECT_STATUS(c, raw_burst_free_memory(&s->b, slots[i]), HAL_NONE, "freeMemory");
    EXPECT_STATUS(c, raw_burst_free_memory(&s->b, -1), HAL_INVALID_ARGUMENT, "freeMemory of -1");
    expect_correct(c, s);
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
    with_one(c, free_slots);
}

/* ---- identifiers */

static void run_identifiers(struct conform *c, struct subject *s)
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
    with_one(c, run_identifiers);
}

static const struct conform_rule rules_of_file[] = {
    { "burst", "misstated", HAL_1_2, 0, "rejects a packet whose header has a wrong size or count",
      misstated, NULL, true },
    { "burst", "removed", HAL_1_2, 0, "rejects a packet with one datum removed", removed, NULL,
      true },
    { "burst", "added", HAL_1_2, 0, "rejects a packet with an additional datum", added, NULL,
      true },
    { "burst", "mutated", HAL_1_2, 0, "rejects a packet with one datum replaced by another",
      mutated, NULL, true },
    { "burst", "retagged", HAL_1_2, 0, "rejects a packet with one datum under another tag",
      retagged, NULL, true },
    { "burst", "fields", HAL_1_2, 0,
      "rejects flags that are neither 0 nor 1, and wrong numbers of dimensions", fields, NULL,
      true },
    { "burst", "short-queue", HAL_1_2, 0,
      "fails when the result packet is larger than the result queue", short_queue, NULL, true },
    { "burst", "sanitized", HAL_1_2, 0, "padding bytes of result packets are zero", sanitized, NULL,
      true },
    { "burst", "newer", HAL_1_2, 0, "rejects datums of a later version than the driver's",
      newer_datums },
    { "burst", "slots", HAL_1_2, 0,
      "fetches a memory once per slot; freeing a known, unknown or freed slot succeeds", slots },
    { "burst", "identifiers", HAL_1_2, 0,
      "rejects a wrong number of memory identifiers, and negative ones other than -1",
      identifiers },
};
const struct conform_rules conform_rules_burst = { rules_of_file, COUNT(rules_of_file),
                                                   conform_models_draw, conform_models_free };
