/* Copies of pools of kind ADDRESS in one memory file, to pass a request or model to another
 * process.
 *
 * All functions accept NULL for "nothing to copy". */
#ifndef SIM_SHARED_H
#define SIM_SHARED_H

#include "golden/base/arena.h"
#include "golden/base/why.h"
#include "sim/hal.h"

struct shared;

/* Creates the memory file.  The arrays of request and model are not NULL.  *ret_request,
 * *ret_model: the same with descriptors instead of addresses, allocated in the arena.  Contents of
 * a model are copied at once, those of a request by shared_copy_in().  *ret_shared: NULL if there
 * is nothing to copy.  WHY_INVALID or WHY_MEMORY. */
int shared_request(const struct hal_request *hal, struct arena *a, struct shared **ret_shared,
                   struct hal_request *ret_request, struct why *w);
int shared_model(const struct hal_model *hal, struct arena *a, struct shared **ret_shared,
                 struct hal_model *ret_model, struct why *w);
void shared_copy_in(const struct shared *s);
/* Copies the locations of outputs back to the client's memory. */
void shared_copy_out(const struct shared *s);
/* Whether the read-only pools are unchanged. */
bool shared_is_intact(const struct shared *s);
/* Whether a pool is writable. */
bool shared_has_outputs(const struct shared *s);
/* Locks the memory for one execution, which copies in and out; false: another one has the lock. */
bool shared_take(struct shared *s);
void shared_leave(struct shared *s);
/* Adds a reference, dropped by shared_free(). */
struct shared *shared_keep(struct shared *s);
void shared_free(struct shared *s);

#endif
