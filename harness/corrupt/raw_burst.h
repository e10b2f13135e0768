/* Direct access to the message queues of a burst, for tests that send packets and answer requests
 * for memory in ways that the client of the product does not.  Functions fail the test if a step
 * fails whose status they do not return. */
#ifndef HARNESS_RAW_BURST_H
#define HARNESS_RAW_BURST_H

#include "sim/client/hal_calls.h"
#include "sim/service/burst_server.h"
#include "sim/wire/burst_packet.h"

/* How the client answers a request for memories. */
enum raw_burst_answer {
    RAW_BURST_ALL,   /* with all of them; if one of them is empty, with none */
    RAW_BURST_FEWER, /* with one fewer */
    RAW_BURST_MORE,  /* with one more */
    RAW_BURST_LATE   /* before the right answer, with one to an earlier request: the last slot's
                        memory for every slot */
};

/* A burst of a prepared model, local (its server runs in this process) or of a service. */
struct raw_burst {
    struct hal_prepared_model *model;
    bool is_remote;
    enum hal_version version;
    struct burst_link link;
    struct burst_server *server; /* NULL if remote */
    uint64_t handle;             /* of the burst at the service, if remote */

    /* The client's memory by slot; size 0: none. */
    struct hal_memory memory[BURST_SLOTS];
    enum raw_burst_answer answer;
    unsigned questions;          /* number of the server's requests for memory so far */
    unsigned asked[BURST_SLOTS]; /* how often the memory of each slot was requested */

    /* The packet of the last result. */
    struct result_datum results[BURST_QUEUE_LENGTH];
    uint32_t n_results;
};

/* Opens the burst; result_length: of the result queue, in data.  Returns the driver's status. */
enum hal_status raw_burst_open(struct raw_burst *b, struct hal_prepared_model *model,
                               bool is_remote, enum hal_version version, uint32_t result_length);
void raw_burst_close(struct raw_burst *b);
/* Calls the burst's release of the memory in a slot; returns its status. */
enum hal_status raw_burst_free_memory(struct raw_burst *b, int64_t slot);

/* Puts a new memory file of `size` bytes into a slot and returns its address, valid until
 * raw_burst_drop(). */
void *raw_burst_memory(struct raw_burst *b, int32_t slot, uint64_t size);
/* Unmaps and closes the memory of a slot, which is then empty. */
void raw_burst_drop(struct raw_burst *b, int32_t slot);

/* Sends a packet of n data, waits for its result (at most 20 s), which must be well formed, and
 * returns its status. */
enum hal_status raw_burst_run(struct raw_burst *b, const struct request_datum *datums, uint32_t n,
                              struct hal_result *result);
/* Waits for a result and answers requests for memory meanwhile; false: nothing arrived for ns
 * nanoseconds. */
bool raw_burst_await(struct raw_burst *b, uint64_t ns);

/* Writes the packet of a request whose pools are the slots 0 to n_pools - 1 into datums, which has
 * room for BURST_QUEUE_LENGTH; returns the packet's length in data. */
uint32_t raw_burst_packet(const struct hal_request *r, enum hal_version version,
                          const struct hal_execution_config *config, struct request_datum *datums);

#endif
