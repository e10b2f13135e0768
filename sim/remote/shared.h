/* Memory of this process for another one to see: a memory file with a copy of every pool of kind
 * ADDRESS of a request or a model. */
#ifndef SIM_SHARED_H
#define SIM_SHARED_H

#include "golden/base/arena.h"
#include "golden/base/why.h"
#include "sim/hal.h"

struct shared;

/* The lists of request and model are there.  ret_request: with descriptors in their place, in the
 * arena; what lies there is copied by shared_copy_in(), of a model at once.  *ret_shared: NULL when
 * there is nothing to copy. */
int shared_request(const struct hal_request *hal, struct arena *a, struct shared **ret_shared,
                   struct hal_request *ret_request, struct why *w);
int shared_model(const struct hal_model *hal, struct arena *a, struct shared **ret_shared,
                 struct hal_model *ret_model, struct why *w);
void shared_copy_in(const struct shared *s);
/* Back to where it came from: outputs (sim/hal/request_regions.h). */
void shared_copy_out(const struct shared *s);
/* Whether what may only be read is still as it was copied in. */
bool shared_is_intact(const struct shared *s);
bool shared_has_outputs(const struct shared *s);
/* For one execution at a time, which copies in and out; false: another one has it. */
bool shared_take(struct shared *s);
void shared_leave(struct shared *s);
struct shared *shared_keep(struct shared *s); /* for one more shared_free() */
void shared_free(struct shared *s);

#endif
