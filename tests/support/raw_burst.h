/* The bare queues of a burst, for tests that put into them what no client would: packets as they
 * are, answers to the service's questions as the test says. */
#ifndef TESTS_RAW_BURST_H
#define TESTS_RAW_BURST_H

#include "sim/service/burst_server.h"
#include "sim/wire/burst_packet.h"
#include "tests/support/hal_client.h"

/* A prepared model of this process (then the server of the queues is ours) or of a service. */
struct raw_burst {
    struct hal_prepared_model *model;
    bool is_remote;
    enum hal_version version;
    struct burst_link link;
    struct burst_server *server; /* NULL: the service's */
    uint64_t handle;

    /* What the client has: memory by slot, size 0: none. */
    struct hal_memory memory[BURST_SLOTS];
    unsigned questions; /* how many the service has asked */

    /* The last result, as it came. */
    struct result_datum results[BURST_QUEUE_LENGTH];
    uint32_t n_results;
};

enum hal_status raw_burst_open(struct raw_burst *b, struct hal_prepared_model *model,
                               bool is_remote, enum hal_version version, uint32_t result_length);
void raw_burst_close(struct raw_burst *b);
enum hal_status raw_burst_free_memory(struct raw_burst *b, int64_t slot);

/* A memory file of that size in a slot; its address, to be unmapped with raw_burst_drop(). */
void *raw_burst_memory(struct raw_burst *b, int32_t slot, uint64_t size);
void raw_burst_drop(struct raw_burst *b, int32_t slot);

/* Sends a packet and waits for its result, which has to come and to be well-formed; the status. */
enum hal_status raw_burst_run(struct raw_burst *b, const struct request_datum *datums, uint32_t n,
                              struct hal_result *result);
/* Only waits; false: nothing came for that long. */
bool raw_burst_await(struct raw_burst *b, uint64_t ns);

/* A request whose pools are slots 0 to n_pools - 1. */
uint32_t raw_burst_packet(const struct hal_request *r, enum hal_version version,
                          const struct hal_execution_config *config, struct request_datum *datums);

#endif
