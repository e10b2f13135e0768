/* Packets in the two queues of a burst, one for requests and one for results: sequences of tagged
 * datums, in the order of HAL 1.2's FmqRequestDatum and FmqResultDatum.
 *
 *   request  REQUEST_PACKET, each input and its dimensions, each output and its dimensions, each
 *            pool, REQUEST_MEASURE; since feature level 5 a deadline, a loop timeout
 *   result   RESULT_PACKET, each shape and its dimensions, RESULT_TIMING
 *
 * A pool is given by its slot number; the service requests the memory of a slot that it does not
 * know from the client.  Tags of feature level 5 and later are malformed in HAL 1.2 and 1.3. Unused
 * bytes are zero.  Packets are untrusted: one with a missing, unexpected or extra datum is
 * malformed. */
#ifndef SIM_BURST_PACKET_H
#define SIM_BURST_PACKET_H

#include <stdatomic.h>

#include "golden/base/arena.h"
#include "golden/base/why.h"
#include "sim/hal.h"

enum request_tag {
    REQUEST_PACKET = 0,
    REQUEST_INPUT = 1,
    REQUEST_INPUT_DIMENSION = 2,
    REQUEST_OUTPUT = 3,
    REQUEST_OUTPUT_DIMENSION = 4,
    REQUEST_POOL = 5, /* slot whose memory is cached */
    REQUEST_MEASURE = 6,
    /* since feature level 5 */
    REQUEST_UNCACHED_POOL = 7, /* slot whose memory is used by this request only */
    REQUEST_TOKEN = 8,         /* pool that is a buffer of the driver */
    REQUEST_DEADLINE = 9,
    REQUEST_LOOP_TIMEOUT = 10
};

enum { REQUEST_BYTES = 40 }; /* payload of a request datum */

struct request_datum {
    uint32_t tag, zero;
    union {
        struct {
            uint32_t size, n_inputs, n_outputs, n_pools; /* size: datums, this one included */
        } packet;
        struct {
            uint8_t has_no_value, zero[3];
            uint32_t pool;
            uint64_t offset, length, padding; /* padding: since feature level 5 */
            uint32_t n_dims, zero2;
        } operand;
        uint32_t dimension;
        int32_t slot;
        uint32_t measure; /* 0 or 1 */
        uint32_t token;
        uint64_t ns;
        uint8_t bytes[REQUEST_BYTES];
    } of;
};

enum result_tag { RESULT_PACKET = 0, RESULT_OPERAND = 1, RESULT_DIMENSION = 2, RESULT_TIMING = 3 };

struct result_datum {
    uint32_t tag, zero;
    union {
        struct {
            uint32_t size, status, n_operands;
        } packet;
        struct {
            uint8_t is_sufficient, zero[3];
            uint32_t n_dims;
        } operand;
        uint32_t dimension;
        struct hal_timing timing;
    } of;
};

/* A pool in a packet. */
struct burst_packet_pool {
    enum request_tag kind; /* REQUEST_POOL, REQUEST_UNCACHED_POOL: slot; REQUEST_TOKEN: token */
    int32_t slot;
    uint32_t token;
};

struct burst_packet_request {
    uint32_t n_inputs, n_outputs, n_pools;
    const struct hal_argument *inputs, *outputs;
    const struct burst_packet_pool *pools;
    struct hal_execution_config config;
};

/* Defects of the reading of requests, the writing of results and the fetching of memories, planted
 * to test the harness. */
enum burst_packet_fault {
    PACKET_FAULT_SIZE = 1 << 0,      /* the header's size is not compared with what has arrived */
    PACKET_FAULT_TAGS = 1 << 1,      /* data are taken by their position, whatever their tags are */
    PACKET_FAULT_FLAGS = 1 << 2,     /* flags other than 0 and 1 are accepted */
    PACKET_FAULT_END = 1 << 3,       /* data after the end of a request are skipped */
    PACKET_FAULT_NO_END = 1 << 4,    /* a request may end before REQUEST_MEASURE */
    PACKET_FAULT_LATER = 1 << 5,     /* data of feature level 5 are read at every version */
    PACKET_FAULT_GARBAGE = 1 << 6,   /* unused bytes of results are not zero */
    PACKET_FAULT_TRUNCATES = 1 << 7, /* a result that does not fit loses its shapes */
    PACKET_FAULT_ORDER = 1 << 8,     /* REQUEST_MEASURE may stand before pools */
    PACKET_FAULT_CUT = 1 << 9, /* a request may end among its pools: the next slots are used */
    PACKET_FAULT_TAG_BITS = 1 << 10,     /* tags have 8 bits */
    PACKET_FAULT_RESULT_COUNT = 1 << 11, /* the header of a result counts one shape too few */
    PACKET_FAULT_RESULT_ORDER = 1 << 12, /* the timing of a result stands before its shapes */
    PACKET_FAULT_RESULT_TWICE = 1 << 13, /* each result is written twice */
    PACKET_FAULT_FETCHES = 1 << 14,      /* memories are not cached */
    PACKET_FAULT_KEEPS = 1 << 15,        /* memories stay cached when they are released */
    PACKET_FAULT_SERIAL = 1 << 16,       /* late answers to requests for memories are used */
    PACKET_FAULT_MEMORIES = 1 << 17,     /* more memories than requested are accepted */
    PACKET_FAULT_MIXED = 1 << 18         /* packets are read at the version of the newest burst */
};
/* Those of this process; 0: none. */
extern atomic_uint burst_packet_faults;
bool burst_packet_has_fault(enum burst_packet_fault f);

/* Encodes a request; *ret_n: number of datums.  -1: more than `most` datums, or not representable
 * in that version, or with hints, which packets do not have. */
int burst_packet_put_request(const struct burst_packet_request *request, enum hal_version version,
                             struct request_datum *datums, uint32_t most, uint32_t *ret_n);
/* Decodes a request; its arrays are allocated in the arena.  WHY_INVALID: malformed; WHY_MEMORY. */
int burst_packet_take_request(const struct request_datum *datums, uint32_t n,
                              enum hal_version version, struct arena *a,
                              struct burst_packet_request *ret_request, struct why *w);

/* Encodes a result, BURST_PACKET_MIN_RESULT datums if without shapes; -1: more than `most` datums.
 */
enum { BURST_PACKET_MIN_RESULT = 2 };
int burst_packet_put_result(enum hal_status status, const struct hal_result *result,
                            struct result_datum *datums, uint32_t most, uint32_t *ret_n);
/* Decodes a result into result->shapes, which has result->capacity elements.  -1, malformed: only
 * the elements of result->shapes may have been written. */
int burst_packet_take_result(const struct result_datum *datums, uint32_t n,
                             enum hal_status *ret_status, struct hal_result *result, struct why *w);

#endif
