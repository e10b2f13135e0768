/* What holds after every execution, whatever the rule that executes is about: the result has the
 * shapes and durations of its status, and no byte outside of the outputs is written. */
#ifndef HARNESS_CONFORM_GUARD_H
#define HARNESS_CONFORM_GUARD_H

#include "harness/conform/conform_requests.h"

/* The memory of a request before the execution. */
struct conform_guard {
    uint8_t *copy[CONFORM_OWN]; /* NULL: not compared */
};
void conform_guard_begin(const struct conform_request *r, struct conform_guard *ret_guard);

/* Ends the guard.  Returns what the execution has violated; NULL: nothing. */
const char *conform_guard_end(struct conform_guard *g, const struct conform_request *r,
                              enum execution_way way, enum hal_version version,
                              const struct hal_execution_config *config, enum hal_status status);

#endif
