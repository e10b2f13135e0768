/* One model on one driver, from the question what is supported to the result. */
#ifndef SIM_COURSE_H
#define SIM_COURSE_H

#include "golden/model/compliance.h"
#include "sim/base/guarded_memory.h"
#include "sim/client/runtime.h"
#include "sim/remote/shared.h"

struct course {
    struct target *t;
    const struct model *m; /* as the driver is shown it */
    const struct tensor *in;
    const struct shape *out_shape;
    const struct target_run_options *options;
    struct outcome *o;
    struct why *w;

    struct shared *constants; /* for a driver in another process */
    struct hal_prepared_model *prepared;
    struct guarded input, output;
    size_t *in_at, *out_at, *out_length; /* regions */
    uint8_t *input_copy;
    struct hal_request request;
    struct hal_result result;
    struct conversion said; /* in the words of the driver's version */
};

/* Says the model in the words of the driver's version, where it has to.  1: it cannot be said; the
 * outcome tells why, and which operations are too new. */
int course_offer(struct course *c);

/* The first violation of the contract stands.  Returns 1: the course ends here. */
__attribute__((format(printf, 2, 3))) int course_violation(struct course *c, const char *fmt, ...);
int course_no_memory(struct course *c);

/* 1: it is not HAL_NONE.  Codes that the driver's version does not have are as wrong as those that
 * nobody has. */
int course_check_status(struct course *c, const char *method, enum hal_status status);
/* After an execution.  1: memory was written to that is not the outputs'. */
int course_check_memory(struct course *c);
/* 1: its shapes or its timing break the contract. */
int course_check_result(struct course *c, enum hal_status status);

/* As the model declares it. */
const struct tensor *course_output(const struct course *c, uint32_t i);
bool course_is_known(const struct tensor *t);

#endif
