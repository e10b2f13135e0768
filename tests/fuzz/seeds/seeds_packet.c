/* Seeds of fuzz_packet: burst packets, as a byte with their kind and the datums. */
#include <check.h>

#include "sim/wire/burst_packet.h"
#include "tests/fuzz/seeds/seeds.h"
#include "tests/support/hal_client.h"

enum { MAX_DATUMS = 64, IS_RESULT = 0, IS_REQUEST = 1 };

/* damage: makes the packet invalid; NULL: it stays valid. */
static void write_request(const char *name, const struct burst_packet_request *r,
                          enum hal_version version, void (*damage)(struct request_datum *d))
{
    struct request_datum d[MAX_DATUMS];
    struct seed s;
    uint32_t n;

    ck_assert_int_eq(burst_packet_put_request(r, version, d, MAX_DATUMS, &n), 0);
    if (damage)
        damage(d);
    seed_begin(&s);
    seed_put(&s, &(uint8_t){ IS_REQUEST }, 1);
    seed_put(&s, d, n * sizeof *d);
    seed_write(&s, "fuzz_packet", name);
}

static void write_result(const char *name, enum hal_status status, const struct hal_result *r)
{
    struct result_datum d[MAX_DATUMS];
    struct seed s;
    uint32_t n;

    ck_assert_int_eq(burst_packet_put_result(status, r, d, MAX_DATUMS, &n), 0);
    seed_begin(&s);
    seed_put(&s, &(uint8_t){ IS_RESULT }, 1);
    seed_put(&s, d, n * sizeof *d);
    seed_write(&s, "fuzz_packet", name);
}

static void set_huge_counts(struct request_datum *d)
{
    d->of.packet.n_inputs = d->of.packet.n_outputs = d->of.packet.n_pools = UINT32_MAX;
}

static void set_wrong_size(struct request_datum *d)
{
    d->of.packet.size++;
}

static void set_newer_tag(struct request_datum *d)
{
    d[1].tag = REQUEST_DEADLINE;
}

static void write_requests(void)
{
    static const uint32_t dims[] = { 2, 0, 3 };
    static const struct burst_packet_pool kept[] = { { REQUEST_POOL, 0, 0 },
                                                     { REQUEST_POOL, 7, 0 },
                                                     { REQUEST_POOL, 1, 0 } },
                                          others[] = { { REQUEST_UNCACHED_POOL, 3, 0 },
                                                       { REQUEST_TOKEN, 0, 5 } };
    const struct hal_execution_config config = client_config(), later = { .measure = true,
                                                                          .deadline = 1000,
                                                                          .loop_timeout = 2000 };
    struct hal_argument in[] = { { .location = { .pool = 0, .length = 16 } },
                                 { .location = { .pool = 1, .offset = 8, .length = 16 } } };
    struct hal_argument out[] = { { .location = { .pool = 2, .length = 16 } } };
    const struct burst_packet_request plain = { 2, 1, 3, in, out, kept, config },
                                      newest = { 2, 1, 2, in, out, others, later };

    write_request("request", &plain, HAL_1_2, NULL);
    write_request("huge", &plain, HAL_1_2, set_huge_counts);
    write_request("longer", &plain, HAL_1_2, set_wrong_size);
    write_request("too_new", &plain, HAL_1_2, set_newer_tag);
    in[0] = (struct hal_argument){ .has_no_value = true };
    write_request("left_out", &plain, HAL_1_3, NULL);
    in[0] = (struct hal_argument){ .location = { .length = 16 }, .n_dims = 3, .dims = dims };
    out[0].n_dims = 2;
    out[0].dims = dims;
    write_request("dimensions", &plain, HAL_FL5, NULL);
    out[0].location.padding = 8;
    write_request("newest", &newest, HAL_FL8, NULL);
}

void seeds_of_packets(void)
{
    struct hal_output_shape shapes[] = { { 2, { 2, 3 }, true }, { 0, { 0 }, true } };
    struct hal_result r = { shapes, 2, 2, { 5, 6 } };

    write_requests();
    write_result("result", HAL_NONE, &r);
    shapes[1] = (struct hal_output_shape){ 1, { 2 }, false };
    write_result("insufficient", HAL_OUTPUT_INSUFFICIENT_SIZE, &r);
    r = (struct hal_result){ .timing = { HAL_NO_TIME, HAL_NO_TIME } };
    write_result("failure", HAL_MISSED_DEADLINE_PERSISTENT, &r);
}
