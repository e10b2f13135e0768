/* Burst packets: the bytes are datums, as in the queue of a hostile peer.  A packet that a reader
 * accepts must be the same when it is written again; every other packet must be rejected without
 * invalid accesses. */
#include <stdlib.h>
#include <string.h>

#include "sim/wire/burst_packet.h"
#include "tests/fuzz/fuzz.h"

enum { MAX_DATUMS = 128, OUTPUTS = 8, MEMORY = 1 << 20 };

static void must(bool holds)
{
    if (!holds)
        abort();
}

/* ---- requests */

/* Compares the members that the datum's tag defines. */
static bool same_meaning(const struct request_datum *a, const struct request_datum *b)
{
    if (a->tag != b->tag)
        return false;
    switch ((enum request_tag) a->tag) {
    case REQUEST_PACKET: return memcmp(&a->of.packet, &b->of.packet, sizeof a->of.packet) == 0;
    case REQUEST_INPUT:
    case REQUEST_OUTPUT:
        return a->of.operand.has_no_value == b->of.operand.has_no_value &&
               a->of.operand.pool == b->of.operand.pool &&
               a->of.operand.offset == b->of.operand.offset &&
               a->of.operand.length == b->of.operand.length &&
               a->of.operand.padding == b->of.operand.padding &&
               a->of.operand.n_dims == b->of.operand.n_dims;
    case REQUEST_DEADLINE:
    case REQUEST_LOOP_TIMEOUT: return a->of.ns == b->of.ns;
    default: return a->of.dimension == b->of.dimension;
    }
}

/* A datum for "no deadline" or "no time-out", which the writer omits. */
static bool is_omitted(const struct request_datum *d)
{
    return (d->tag == REQUEST_DEADLINE || d->tag == REQUEST_LOOP_TIMEOUT) && d->of.ns == UINT64_MAX;
}

static void check_again(const struct request_datum *d, uint32_t n,
                        const struct burst_packet_request *r, enum hal_version version)
{
    struct request_datum again[MAX_DATUMS];
    uint32_t n_again = 0, k = 0, omitted = 0;

    must(burst_packet_put_request(r, version, again, MAX_DATUMS, &n_again) == 0);
    for (uint32_t i = 0; i < n; i++)
        omitted += is_omitted(&d[i]);
    must(n_again + omitted == n);
    again[0].of.packet.size = n;
    for (uint32_t i = 0; i < n; i++)
        if (!is_omitted(&d[i]))
            must(same_meaning(&d[i], &again[k++]));
    if (n_again)
        must(burst_packet_put_request(r, version, again, n_again - 1, &n_again) < 0);
}

static void read_request(const struct request_datum *d, uint32_t n)
{
    static const enum hal_version versions[] = { HAL_1_2, HAL_1_3, HAL_FL5, HAL_FL8 };
    struct burst_packet_request r;
    struct why w;

    for (int i = 0; i < 4; i++) {
        struct arena *a = arena_new(MEMORY);
        must(a);
        if (burst_packet_take_request(d, n, versions[i], a, &r, &w) == 0)
            check_again(d, n, &r, versions[i]);
        arena_free(a);
    }
}

/* ---- results */

static void read_result(const struct result_datum *d, uint32_t n)
{
    struct hal_output_shape shapes[OUTPUTS];
    struct hal_result r = { .shapes = shapes, .capacity = OUTPUTS };
    struct result_datum again[MAX_DATUMS];
    enum hal_status status = HAL_NONE;
    uint32_t n_again = 0;
    struct why w;

    if (burst_packet_take_result(d, n, &status, &r, &w) < 0)
        return;
    must((unsigned) status < HAL_STATUS_COUNT && r.n_shapes <= OUTPUTS);
    must(burst_packet_put_result(status, &r, again, MAX_DATUMS, &n_again) == 0 && n_again == n);
    for (uint32_t i = 0; i < n; i++)
        must(again[i].tag == d[i].tag);
    must(burst_packet_put_result(status, &r, again, n - 1, &n_again) < 0);
}

/* Bit 0 of the first byte: a request packet, else a result packet. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    bool is_request = length && bytes[0] & 1;
    size_t size = is_request ? sizeof(struct request_datum) : sizeof(struct result_datum), n;
    void *datums;

    if (!length)
        return 0;
    n = (length - 1) / size < MAX_DATUMS ? (length - 1) / size : MAX_DATUMS;
    datums = malloc(
        n * size + 1); /* exactly this size, so that AddressSanitizer detects reads after the end */
    must(datums);
    memcpy(datums, bytes + 1, n * size);
    if (is_request)
        read_request(datums, (uint32_t) n);
    else
        read_result(datums, (uint32_t) n);
    free(datums);
    return 0;
}
