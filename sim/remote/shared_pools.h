/* Copies of pools of kind ADDRESS in one memory file, to pass a request or model to another
 * process.
 *
 * All functions accept NULL for "nothing to copy". */
#ifndef SIM_SHARED_POOLS_H
#define SIM_SHARED_POOLS_H

#include "golden/base/arena.h"
#include "golden/base/why.h"
#include "sim/hal.h"

struct shared_pools;

/* Creates the memory file.  The arrays of request and model are not NULL.  *ret_request,
 * *ret_model: the same with descriptors instead of addresses, allocated in the arena.  Contents of
 * a model are copied at once, those of a request by shared_pools_copy_in().  *ret_shared: NULL if
 * there is nothing to copy.  WHY_INVALID or WHY_MEMORY. */
int shared_pools_of_request(const struct hal_request *hal, struct arena *a,
                            struct shared_pools **ret_shared, struct hal_request *ret_request,
                            struct why *w);
int shared_pools_of_model(const struct hal_model *hal, struct arena *a,
                          struct shared_pools **ret_shared, struct hal_model *ret_model,
                          struct why *w);
void shared_pools_copy_in(const struct shared_pools *s);
/* The same in a thread beside the execution with that number (shared_pools_execution()).  Does
 * nothing after its shared_pools_unlock(): the memory is the client's again. */
void shared_pools_copy_in_late(struct shared_pools *s, uint32_t execution);
/* Copies the locations of outputs back to the client's memory. */
void shared_pools_copy_out(const struct shared_pools *s);
/* Whether the read-only pools are unchanged. */
bool shared_pools_are_intact(const struct shared_pools *s);
/* Locks the memory for one execution, which copies in and out; false: another one has the lock. */
bool shared_pools_lock(struct shared_pools *s);
/* Ends the execution: from here on the client's memory is not read or written. */
void shared_pools_unlock(struct shared_pools *s);
/* The number of the present execution with this memory. */
uint32_t shared_pools_execution(struct shared_pools *s);
/* Adds a reference, dropped by shared_pools_unref(). */
struct shared_pools *shared_pools_ref(struct shared_pools *s);
void shared_pools_unref(struct shared_pools *s);

#endif
