/* Request packets of bursts: with data removed, added, changed or in another order, and parts of
 * packets.  After each rule the burst must still execute a valid request. */
#include <string.h>

#include "harness/corrupt/burst_subject.h"
#include "sim/client/hal_calls.h"
#include "sim/hal/convert.h"

/* ---- invalid packets */

/* A change of the packet: "datum 2 is replaced by a pool". */
struct change {
    const char *what; /* "is replaced by" */
    uint32_t at;      /* index of the datum */
    const char *with; /* "a pool"; NULL: nothing */
};

/* `other`: a status that is right with its results. */
static void refuse_or(struct conform *c, struct burst_subject *s,
                      const struct request_datum *datums, uint32_t n, struct change change,
                      enum hal_status other)
{
    enum hal_status status = raw_burst_run(&s->b, datums, n, &s->r.result);

    EXPECT(c, status != HAL_NONE && (status == other || conform_result_is_empty(&s->r.result)),
           "%s: datum %u of a packet of %u %s%s%s: %s, %u shapes, expected a failure without "
           "shapes and durations",
           s->m->name, change.at, s->n, change.what, change.with ? " " : "",
           change.with ? change.with : "", hal_status_name(status), s->r.result.n_shapes);
}

static void refuse(struct conform *c, struct burst_subject *s, const struct request_datum *datums,
                   uint32_t n, struct change change)
{
    refuse_or(c, s, datums, n, change, HAL_NONE);
}

/* The packet with the length in its header unchanged, and with the length corrected. */
static void refuse_resized(struct conform *c, struct burst_subject *s, struct request_datum *datums,
                           uint32_t n, struct change change)
{
    refuse(c, s, datums, n, change);
    if (!change.at)
        return;
    datums[0].of.packet.size = n;
    refuse(c, s, datums, n, change);
}

static void remove_each(struct conform *c, struct burst_subject *s)
{
    struct request_datum d[BURST_QUEUE_LENGTH];

    for (uint32_t i = 0; i < s->n; i++) {
        memcpy(d, s->datums, i * sizeof *d);
        memcpy(d + i, s->datums + i + 1, (s->n - i - 1) * sizeof *d);
        refuse_resized(c, s, d, s->n - 1, (struct change){ "is missing", i });
    }
}

static const struct bad {
    const char *name;
    struct request_datum datum;
} bad[] = {
    { "a header", { REQUEST_PACKET, 0, .of.packet = { 10, 10, 10, 10 } } },
    { "an input of rank 10", { REQUEST_INPUT, 0, .of.operand = { .n_dims = 10 } } },
    { "an input's dimension", { REQUEST_INPUT_DIMENSION, 0, .of.dimension = 0 } },
    { "an output of rank 10", { REQUEST_OUTPUT, 0, .of.operand = { .n_dims = 10 } } },
    { "an output's dimension", { REQUEST_OUTPUT_DIMENSION, 0, .of.dimension = 0 } },
    { "a pool of slot 2^31 - 1", { REQUEST_POOL, 0, .of.slot = INT32_MAX } },
    { "a measurement", { REQUEST_MEASURE, 0, .of.measure = 1 } },
};

static void add_each(struct conform *c, struct burst_subject *s)
{
    struct request_datum d[BURST_QUEUE_LENGTH];

    for (uint32_t i = 0; i <= s->n; i++)
        for (int k = 0; k < COUNT(bad); k++) {
            memcpy(d, s->datums, i * sizeof *d);
            d[i] = bad[k].datum;
            memcpy(d + i + 1, s->datums + i, (s->n - i) * sizeof *d);
            refuse_resized(c, s, d, s->n + 1, (struct change){ "is preceded by", i, bad[k].name });
        }
}

/* Replacing a dimension by 0, unknown, keeps the packet valid. */
static bool stays_valid(const struct burst_subject *s, const struct request_datum *original,
                        const struct request_datum *other)
{
    bool is_dimension =
        original->tag == REQUEST_INPUT_DIMENSION || original->tag == REQUEST_OUTPUT_DIMENSION;

    return s->has_all_dims && is_dimension && other->tag == original->tag;
}

/* The output that datum `at` describes. */
static const struct tensor *output_at(const struct burst_subject *s, uint32_t at)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < at; i++)
        n += s->datums[i].tag == REQUEST_OUTPUT;
    return &s->m->example.expected[n];
}

/* An output of rank 10 becomes one of the same rank without room: the packet is well formed, and
 * OUTPUT_INSUFFICIENT_SIZE, which has shapes, is right, too.  One without elements needs no room.
 */
static void mutate(struct conform *c, struct burst_subject *s, uint32_t at, int k)
{
    const struct request_datum original = s->datums[at];
    bool is_output = original.tag == REQUEST_OUTPUT && bad[k].datum.tag == REQUEST_OUTPUT &&
                     original.of.operand.n_dims == bad[k].datum.of.operand.n_dims;

    if (memcmp(&original, &bad[k].datum, sizeof original) == 0 ||
        stays_valid(s, &original, &bad[k].datum) || (is_output && !tensor_bytes(output_at(s, at))))
        return;
    s->datums[at] = bad[k].datum;
    refuse_or(c, s, s->datums, s->n, (struct change){ "is replaced by", at, bad[k].name },
              is_output ? HAL_OUTPUT_INSUFFICIENT_SIZE : HAL_NONE);
    s->datums[at] = original;
}

static void mutate_each(struct conform *c, struct burst_subject *s)
{
    for (uint32_t i = 0; i < s->n; i++)
        for (int k = 0; k < COUNT(bad); k++)
            mutate(c, s, i, k);
}

/* The packet's header has another size, or another number of inputs, outputs or pools. */
static void misstate_each(struct conform *c, struct burst_subject *s)
{
    const struct request_datum original = s->datums[0];
    static const char *const names[] = { "size", "number of inputs", "number of outputs",
                                         "number of pools" };
    uint32_t *const number[] = { &s->datums[0].of.packet.size, &s->datums[0].of.packet.n_inputs,
                                 &s->datums[0].of.packet.n_outputs,
                                 &s->datums[0].of.packet.n_pools };

    for (int k = 0; k < COUNT(number); k++) {
        const uint32_t others[] = { *number[k] - 1, *number[k] + 1, 0, UINT32_MAX };
        for (int i = 0; i < COUNT(others); i++) {
            if (others[i] == *number[k])
                continue;
            *number[k] = others[i];
            refuse(c, s, s->datums, s->n, (struct change){ "has another", 0, names[k] });
            s->datums[0] = original;
        }
    }
}

/* The k-th tag to try in place of `original`: all that exist, then some that do not. */
enum { TAGS = REQUEST_LOOP_TIMEOUT + 1, UNKNOWN_TAGS = 5 };

static uint32_t other_tag(uint32_t original, uint32_t k)
{
    const uint32_t unknown[UNKNOWN_TAGS] = { TAGS, UINT32_MAX, original | 1u << 8,
                                             original | 1u << 16, original | 1u << 31 };

    return k < TAGS ? k : unknown[k - TAGS];
}

/* A datum with another tag.  Since feature level 5 a pool may become one that is not cached. */
static void retag_each(struct conform *c, struct burst_subject *s)
{
    for (uint32_t i = 0; i < s->n; i++)
        for (uint32_t k = 0; k < TAGS + UNKNOWN_TAGS; k++) {
            uint32_t original = s->datums[i].tag, tag = other_tag(original, k);
            bool is_valid =
                original == REQUEST_POOL && tag == REQUEST_UNCACHED_POOL && c->version >= HAL_FL5;
            if (tag == original || is_valid)
                continue;
            s->datums[i].tag = tag;
            refuse(c, s, s->datums, s->n, (struct change){ "has another tag", i });
            s->datums[i].tag = original;
        }
}

/* Flags that are neither 0 nor 1, and more dimensions than datums follow. */
static void corrupt_fields_of_each(struct conform *c, struct burst_subject *s)
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
            refuse(c, s, s->datums, s->n,
                   (struct change){ "has", i,
                                    is_operand && k > 1 ? "more dimensions than follow"
                                                        : "a flag other than 0 and 1" });
            *d = original;
        }
    }
}

/* ---- data in another order, and parts of packets */

static void exchange(struct request_datum *a, struct request_datum *b)
{
    const struct request_datum was = *a;

    *a = *b;
    *b = was;
}

/* Neighbours exchanged, unless that makes another valid packet; then the last datum, the
 * measurement, at each other place. */
static void reorder_each(struct conform *c, struct burst_subject *s)
{
    struct request_datum d[BURST_QUEUE_LENGTH];

    memcpy(d, s->datums, s->n * sizeof *d);
    for (uint32_t i = 0; i + 1 < s->n; i++) {
        if (d[i].tag == d[i + 1].tag)
            continue;
        exchange(&d[i], &d[i + 1]);
        refuse(c, s, d, s->n, (struct change){ "is exchanged with the next", i });
        exchange(&d[i], &d[i + 1]);
    }
    for (uint32_t i = s->n - 1; i > 0; i--) {
        exchange(&d[i], &d[i - 1]);
        refuse(c, s, d, s->n, (struct change){ "is preceded by the last", i - 1 });
    }
}

/* The first i data, then the others; and the whole packet twice at once. */
static void cut_each(struct conform *c, struct burst_subject *s)
{
    struct request_datum d[BURST_QUEUE_LENGTH];

    memcpy(d, s->datums, s->n * sizeof *d);
    for (uint32_t i = 1; i < s->n; i++) {
        refuse_resized(c, s, d, i, (struct change){ "and those after it are missing", i });
        d[0].of.packet.size = s->n;
        refuse(c, s, d + i, s->n - i, (struct change){ "is the first that is sent", i });
    }
    if (2 * s->n > BURST_QUEUE_LENGTH)
        return;
    memcpy(d + s->n, s->datums, s->n * sizeof *d);
    refuse_resized(c, s, d, 2 * s->n, (struct change){ "is the first of a second packet", s->n });
}

/* data: the function that is called for each burst. */
static void each_burst(struct conform *c, const void *data)
{
    visit_burst *const *visit = data;

    burst_subject_each(c, *visit);
}

/* ---- datums of later versions */

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

static void run_newer(struct conform *c, struct burst_subject *s)
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
    burst_subject_one(c, run_newer);
}

static const struct conform_rule rules_of_file[] = {
    { "burst", "misstated", HAL_1_2, 0, "rejects a packet whose header has a wrong size or count",
      each_burst, &(visit_burst *const){ misstate_each }, true },
    { "burst", "removed", HAL_1_2, 0, "rejects a packet with one datum removed", each_burst,
      &(visit_burst *const){ remove_each }, true },
    { "burst", "added", HAL_1_2, 0, "rejects a packet with an additional datum", each_burst,
      &(visit_burst *const){ add_each }, true },
    { "burst", "mutated", HAL_1_2, 0, "rejects a packet with one datum replaced by another",
      each_burst, &(visit_burst *const){ mutate_each }, true },
    { "burst", "retagged", HAL_1_2, 0,
      "rejects a packet with one datum under another tag, also one that does not exist", each_burst,
      &(visit_burst *const){ retag_each }, true },
    { "burst", "reordered", HAL_1_2, 0, "rejects a packet whose data are in another order",
      each_burst, &(visit_burst *const){ reorder_each }, true },
    { "burst", "truncated", HAL_1_2, 0, "rejects the parts of a packet, and two packets at once",
      each_burst, &(visit_burst *const){ cut_each }, true },
    { "burst", "fields", HAL_1_2, 0,
      "rejects flags that are neither 0 nor 1, and wrong numbers of dimensions", each_burst,
      &(visit_burst *const){ corrupt_fields_of_each }, true },
    { "burst", "newer", HAL_1_2, 0, "rejects datums of a later version than the driver's",
      newer_datums },
};
const struct conform_rules conform_rules_burst = { rules_of_file, COUNT(rules_of_file),
                                                   conform_models_draw, conform_models_free };
