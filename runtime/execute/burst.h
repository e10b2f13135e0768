/* Bursts of the C API: the drivers keep what they need from one execution to the next.
 *
 * Each step's driver has a controller; a memory has an identifier in it until it is freed. */
#ifndef RUNTIME_BURST_H
#define RUNTIME_BURST_H

#include <pthread.h>
#include <stdatomic.h>

#include "runtime/compile/compilation.h"
#include "runtime/execute/driver_request.h"

struct burst_controller {
    uint64_t number; /* unique in the process, not 0 */
    struct hal_burst *hal;
    pthread_mutex_t lock; /* of `kept` */
    struct kept_memory *kept;
};

struct ANeuralNetworksBurst {
    const ANeuralNetworksCompilation *compilation;
    atomic_bool is_busy; /* an execution runs */
    uint32_t n_steps;    /* of the compilation */
    /* Of each step; hal is NULL: the device has none, the step is executed in the ordinary way. */
    struct burst_controller controller[];
};

/* Each is the function of the C API with its name. */
int burst_create(const ANeuralNetworksCompilation *c, ANeuralNetworksBurst **ret);
void burst_free(ANeuralNetworksBurst *b);

/* The controller of a step; NULL: there is no burst (b NULL), or none for the step. */
struct burst_controller *burst_of_step(ANeuralNetworksBurst *b, uint32_t step);
/* Before a request of a running execution: its memories are the driver's until they are freed.
 * False: out of memory. */
bool burst_keep(struct burst_controller *b, struct driver_request *q);

#endif
