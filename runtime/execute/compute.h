/* The four ways to start an execution. */
#ifndef RUNTIME_COMPUTE_H
#define RUNTIME_COMPUTE_H

#include "runtime/execute/burst.h"
#include "runtime/execute/event.h"
#include "runtime/execute/execution.h"

/* Each is the function of the C API with its name: checks, results. */
int execution_compute(ANeuralNetworksExecution *e);
int execution_compute_in_burst(ANeuralNetworksExecution *e, ANeuralNetworksBurst *b);
int execution_start(ANeuralNetworksExecution *e, ANeuralNetworksEvent **ret);
int execution_start_fenced(ANeuralNetworksExecution *e,
                           const ANeuralNetworksEvent *const *dependency, uint32_t n,
                           uint64_t duration, ANeuralNetworksEvent **ret);

/* For the room's own use: computes what execution_begin() has begun, to its end, with the fallback.
 * burst: NULL, or one.  timeout_ns: 0: none. */
int execution_run_begun(ANeuralNetworksExecution *e, ANeuralNetworksBurst *burst,
                        uint64_t timeout_ns);
/* The same on the reference executor, after the device has failed with `failed`. */
int execution_run_fallback(ANeuralNetworksExecution *e, int failed);

#endif
