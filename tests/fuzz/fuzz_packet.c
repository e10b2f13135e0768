/* The packets of bursts: the bytes are datums, as the other side's memory holds them.  What a
 * reader takes, written again, is the same packet; everything else it refuses, and leaves its
 * memory alone.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/wire/burst_packet.h"
#include "tests/fuzz/fuzz.h"

enum { MOST = 128, OUTPUTS = 8, MEMORY = 1 << 20 };

static void must(bool holds)
{
    if (!holds)
        abort();
}

/* ---- requests */

/* What a datum means of its bytes. */
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
    case REQUEST_HINT: return memcmp(&a->of.hint, &b->of.hint, sizeof a->of.hint) == 0;
    case REQUEST_HINT_BYTES: return true; /* the last ones are not all of them used */
    default: return a->of.dimension == b->of.dimension;
    }
}

/* A deadline or time-out that says that there is none is left out when written. */
static bool says_nothing(const struct request_datum *d)
{
    return (d->tag == REQUEST_DEADLINE || d->tag == REQUEST_LOOP_TIMEOUT) && d->of.ns == UINT64_MAX;
}

static void check_again(const struct request_datum *d, uint32_t n,
                        const struct burst_packet_request *r, enum hal_version version)
{
    struct request_datum again[MOST];
    uint32_t n_again = 0, k = 0, left_out = 0;

    must(burst_packet_put_request(r, version, again, MOST, &n_again) == 0);
    for (uint32_t i = 0; i < n; i++)
        left_out += says_nothing(&d[i]);
    must(n_again + left_out == n);
    again[0].of.packet.size = n;
    for (uint32_t i = 0; i < n; i++)
        if (!says_nothing(&d[i]))
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
    struct result_datum again[MOST];
    enum hal_status status = HAL_NONE;
    uint32_t n_again = 0;
    struct why w;

    if (burst_packet_take_result(d, n, &status, &r, &w) < 0)
        return;
    must((unsigned) status < HAL_STATUS_COUNT && r.n_shapes <= OUTPUTS);
    must(burst_packet_put_result(status, &r, again, MOST, &n_again) == 0 && n_again == n);
    for (uint32_t i = 0; i < n; i++)
        must(again[i].tag == d[i].tag);
    must(burst_packet_put_result(status, &r, again, n - 1, &n_again) < 0);
}

/* The first byte says which of the two. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    bool is_request = length && bytes[0] & 1;
    size_t size = is_request ? sizeof(struct request_datum) : sizeof(struct result_datum), n;
    void *datums;

    if (!length)
        return 0;
    n = (length - 1) / size < MOST ? (length - 1) / size : MOST;
    datums = malloc(n * size + 1); /* exactly as many, for AddressSanitizer to see */
    must(datums);
    memcpy(datums, bytes + 1, n * size);
    if (is_request)
        read_request(datums, (uint32_t) n);
    else
        read_result(datums, (uint32_t) n);
    free(datums);
    return 0;
}
