/* Reusable executions: one request, checked and mapped once, computed any number of times. */
#include <stdlib.h>

#include "golden/base/trace.h"
#include "sim/driver/driver.h"

struct reusable {
    struct hal_execution base;
    struct execution execution;
    atomic_bool busy;
    atomic_uint references; /* the client's, and that of a running fenced computation */
};

static void unref(struct reusable *r)
{
    if (atomic_fetch_sub(&r->references, 1) != 1)
        return;
    execution_close(&r->execution);
    free(r);
}

static enum hal_status busy(void)
{
    failure_text_set("the previous computation has not ended");
    return HAL_GENERAL_FAILURE;
}

static enum hal_status execute_synchronously(struct hal_execution *self, uint64_t deadline,
                                             struct hal_result *result)
{
    struct reusable *r = (struct reusable *) self;
    enum hal_status status;
    struct why w;

    TRACE(LD, PE, "execute_synchronously");
    failure_text_clear();
    hal_clear_result(result);
    if (driver_check_capacity(result, r->execution.request.n_outputs, &w) < 0 ||
        hal_check_time("a deadline", deadline, HAL_FL8, &w) < 0)
        return driver_log_failure("execute_synchronously", HAL_FL8, &w);
    if (atomic_exchange(&r->busy, true))
        return busy();
    execution_submit(&r->execution, driver_time_left(deadline, HAL_FL8));
    status = execution_run(&r->execution, result);
    atomic_store(&r->busy, false);
    return status;
}

static void done(struct execution *x)
{
    struct reusable *r =
        (struct reusable *) (void *) ((char *) x - offsetof(struct reusable, execution));

    atomic_store(&r->busy, false);
    unref(r);
}

static enum hal_status execute_fenced(struct hal_execution *self, uint32_t n_wait_for,
                                      const int *wait_for, uint64_t deadline, uint64_t duration,
                                      int *ret_fence, struct hal_fenced_info **ret_info)
{
    struct reusable *r = (struct reusable *) self;
    struct why w;

    TRACE(LD, PE, "execute_fenced");
    failure_text_clear();
    *ret_fence = HAL_NO_FENCE;
    *ret_info = NULL;
    if (hal_check_time("a deadline", deadline, HAL_FL8, &w) < 0 ||
        hal_check_time("a duration", duration, HAL_FL8, &w) < 0)
        return driver_log_failure("execute_fenced", HAL_FL8, &w);
    if (atomic_exchange(&r->busy, true))
        return busy();
    atomic_fetch_add(&r->references, 1);
    return execution_run_fenced(&(struct fenced_launch){ &r->execution, n_wait_for, wait_for,
                                                         driver_time_left(deadline, HAL_FL8),
                                                         duration, done },
                                ret_fence, ret_info);
}

static void release(struct hal_execution *self)
{
    unref((struct reusable *) self);
}

static const struct hal_execution_methods methods = { execute_synchronously, execute_fenced,
                                                      release };

enum hal_status driver_create_reusable_execution(struct hal_prepared_model *self,
                                                 const struct hal_request *request,
                                                 const struct hal_execution_config *config,
                                                 struct hal_execution **ret_execution)
{
    struct prepared *p = (struct prepared *) self;
    struct reusable *r;
    enum hal_status status;

    failure_text_clear();
    if (p->driver->engine->hal < HAL_FL8)
        return driver_log_status("create_reusable_execution", HAL_FL8, driver_too_old(HAL_FL8));
    r = calloc(1, sizeof(*r));
    if (!r)
        return hal_status_exhausted(HAL_FL8);
    status = execution_open(&r->execution, p, HAL_FL8, request, config);
    if (status != HAL_NONE) {
        free(r);
        return status;
    }
    r->base.methods = &methods;
    r->references = 1;
    *ret_execution = &r->base;
    return driver_log_status("create_reusable_execution", HAL_FL8, HAL_NONE);
}
