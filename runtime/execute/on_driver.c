#include "runtime/execute/on_driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "golden/base/trace.h"
#include "runtime/base/failure.h"
#include "sim/base/failure_text.h"
#include "sim/base/fence.h"
#include "sim/client/driver_client.h"
#include "sim/hal/hal_convert.h"
#include "sim/hal/hal_result.h"

#define LOG_TAG "ExecutionBuilder"

int result_of_call(const ANeuralNetworksDevice *d, enum hal_status status, const char *reason)
{
    if (status == HAL_NONE)
        return ANEURALNETWORKS_NO_ERROR;
    if (status == HAL_OUTPUT_INSUFFICIENT_SIZE)
        return ANEURALNETWORKS_OUTPUT_INSUFFICIENT_SIZE;
    return fail_with(LOG_TAG, result_of_status(status), "%s answers %s%s%s", d->name,
                     hal_status_name(status), *reason ? ": " : "", reason);
}

/* ---- request and configuration */

/* Drivers before level 3 report no shapes. */
static int check_known(const struct device_call *c)
{
    for (uint32_t i = 0; i < c->n_outputs && c->device->level < L3; i++)
        if (c->output[i].kind != ARGUMENT_OMITTED && !argument_is_known(&c->output[i]))
            return FAIL(OP_FAILED, "%s of level %d cannot tell the shape of output %u",
                        c->device->name, (int) c->device->level, i);
    return ANEURALNETWORKS_NO_ERROR;
}

static struct hal_execution_config configuration(const struct device_call *c, bool in_burst,
                                                 uint64_t timeout_ns)
{
    const enum level level = c->device->level;
    struct hal_execution_config config = { .deadline = HAL_NO_DEADLINE,
                                           .loop_timeout = HAL_NO_TIME };

    if (level >= L3)
        config.measure = c->is_measured;
    if (level >= (in_burst ? L5 : L4)) {
        config.loop_timeout = c->loop_timeout;
        if (timeout_ns)
            config.deadline = driver_deadline(c->device, timeout_ns);
    }
    if (level >= L8 && c->attributes) {
        config.n_hints = c->attributes->n;
        config.hints = c->attributes->value;
        config.n_extension_prefixes = c->attributes->n_prefixes;
        config.extension_name_to_prefix = c->attributes->prefix;
    }
    return config;
}

int device_call_make(const struct device_call *c, bool in_burst, uint64_t timeout_ns,
                     struct hal_execution_config *ret_config)
{
    TRACE(LR, PIO, "device_call_make");
    PASS(check_known(c));
    PASS(driver_request_make(c->device->level, c->n_inputs, c->input, c->n_outputs, c->output,
                             c->request));
    *ret_config = configuration(c, in_burst, timeout_ns);
    return ANEURALNETWORKS_NO_ERROR;
}

/* ---- reusable executions of the driver */

struct reusable_execution {
    pthread_mutex_t lock;
    struct hal_execution *hal; /* under lock; NULL: a memory has been freed */
    uint32_t n;
    struct watched_memory {
        struct memory_watcher base;
        struct reusable_execution *owner;
    } memory[];
};

static void release(struct reusable_execution *r)
{
    pthread_mutex_lock(&r->lock);
    if (r->hal)
        DRIVER_RELEASE(r->hal);
    r->hal = NULL;
    pthread_mutex_unlock(&r->lock);
}

static void memory_freed(struct memory_watcher *self, const ANeuralNetworksMemory *m)
{
    (void) m;
    release(((struct watched_memory *) self)->owner);
}

void reusable_execution_free(struct reusable_execution *r)
{
    if (!r)
        return;
    for (uint32_t i = 0; i < r->n; i++)
        memory_unwatch(&r->memory[i].base);
    release(r);
    pthread_mutex_destroy(&r->lock);
    free(r);
}

static struct reusable_execution *reusable_new(const struct driver_request *q)
{
    struct reusable_execution *r =
        calloc(1, sizeof(*r) + q->hal.n_pools * sizeof(struct watched_memory));

    if (!r)
        return NULL;
    pthread_mutex_init(&r->lock, NULL);
    for (uint32_t i = 0; i < q->hal.n_pools; i++) {
        struct watched_memory *m = &r->memory[r->n];
        if (!q->memory[i])
            continue;
        m->base.freed = memory_freed;
        m->owner = r;
        memory_watch(q->memory[i], &m->base);
        r->n++;
    }
    return r;
}

bool reusable_execution_applies(const struct device_call *c)
{
    return c->reusable && c->device->level >= L8 && c->prepared->methods->create_reusable_execution;
}

struct hal_execution *reusable_execution_get(const struct device_call *c,
                                             const struct hal_execution_config *config,
                                             enum hal_status *ret_status)
{
    struct hal_execution_config own = *config;
    struct reusable_execution *r = *c->reusable;

    *ret_status = HAL_GENERAL_FAILURE;
    if (r)
        return r->hal;
    r = reusable_new(c->request);
    *ret_status = HAL_RESOURCE_EXHAUSTED_TRANSIENT;
    if (!r)
        return NULL;
    own.deadline = HAL_NO_DEADLINE; /* each computation has its own */
    *ret_status = c->prepared->methods->create_reusable_execution(c->prepared, &c->request->hal,
                                                                  &own, &r->hal);
    if (*ret_status != HAL_NONE || !r->hal) {
        *ret_status = *ret_status == HAL_NONE ? HAL_GENERAL_FAILURE : *ret_status;
        reusable_execution_free(r);
        return NULL;
    }
    *c->reusable = r;
    return r->hal;
}

/* ---- with fences */

bool device_takes_fences(const ANeuralNetworksDevice *d, const struct hal_prepared_model *p)
{
    return !d->is_reference && d->level >= L4 && p->methods->execute_fenced;
}

static enum hal_status launch_reusable(const struct device_call *c, struct device_launch *l,
                                       const struct hal_execution_config *config)
{
    enum hal_status status;
    struct hal_execution *x = reusable_execution_get(c, config, &status);

    return x ? x->methods->execute_fenced(x, l->n_fds, l->fds, config->deadline, l->duration,
                                          &l->fence, &l->info)
             : status;
}

/* A launch that has failed leaves nothing; what the driver gives nevertheless may not be its own,
 * and is neither closed nor released. */
static void forget_launch(struct device_launch *l)
{
    l->fence = HAL_NO_FENCE;
    l->info = NULL;
}

/* The answer of a launch that succeeds. */
static int check_launch(const ANeuralNetworksDevice *d, struct device_launch *l)
{
    const bool is_fence = l->fence == HAL_NO_FENCE || fence_all_open(1, &l->fence);

    if (l->info && is_fence)
        return ANEURALNETWORKS_NO_ERROR;
    if (l->info)
        DRIVER_RELEASE(l->info);
    else if (is_fence && l->fence != HAL_NO_FENCE)
        close(l->fence);
    forget_launch(l);
    return FAIL(OP_FAILED, "%s executes with fences without giving %s", d->name,
                is_fence ? "an info" : "a descriptor as fence");
}

int launch_on_driver(const struct device_call *c, uint64_t timeout_ns, struct device_launch *l)
{
    struct hal_execution_config config;
    struct hal_prepared_model *p = c->prepared;
    char reason[HAL_TEXT_BYTES] = "";

    TRACE(LR, PE, "computeFencedInternal");
    PASS(device_call_make(c, false, timeout_ns, &config));
    enum hal_status status =
        reusable_execution_applies(c)
            ? launch_reusable(c, l, &config)
            : p->methods->execute_fenced(p, c->device->entry, &c->request->hal, l->n_fds, l->fds,
                                         &config, l->duration, &l->fence, &l->info);
    if (status == HAL_NONE)
        return check_launch(c->device, l);
    failure_text_of(c->device->driver, reason);
    forget_launch(l);
    return result_of_call(c->device, status, reason);
}

/* ---- one computation */

/* The ways of execution.  Each leaves in `reason` why the driver fails. */
static enum hal_status run_in_burst(const struct device_call *c, struct burst_controller *b,
                                    const struct hal_execution_config *config,
                                    struct hal_result *result, char reason[HAL_TEXT_BYTES])
{
    struct driver_request *q = c->request;

    if (!burst_keep(b, q))
        return HAL_RESOURCE_EXHAUSTED_TRANSIENT;
    hal_clear_result(result);
    enum hal_status status = b->hal->methods->execute_synchronously(b->hal, &q->hal, q->hal.n_pools,
                                                                    q->identifiers, config, result);
    if (status != HAL_NONE)
        failure_text_of(c->device->driver, reason);
    return status;
}

static enum hal_status run_reusable(const struct device_call *c,
                                    const struct hal_execution_config *config,
                                    struct hal_result *result, char reason[HAL_TEXT_BYTES])
{
    enum hal_status status;
    struct hal_execution *x = reusable_execution_get(c, config, &status);

    hal_clear_result(result);
    if (x)
        status = x->methods->execute_synchronously(x, config->deadline, result);
    if (status != HAL_NONE)
        failure_text_of(c->device->driver, reason);
    return status;
}

static enum hal_status run_once(const struct device_call *c,
                                const struct hal_execution_config *config,
                                struct hal_result *result, char reason[HAL_TEXT_BYTES])
{
    const bool is_synchronous =
        c->device->level >= L3 && c->prepared->methods->execute_synchronously;
    struct client_end end;

    if (!is_synchronous && !c->prepared->methods->execute) {
        snprintf(reason, HAL_TEXT_BYTES, "its prepared model has no method to execute with");
        return HAL_GENERAL_FAILURE;
    }
    driver_client_execute(
        c->device->client, is_synchronous ? EXECUTION_SYNCHRONOUS : EXECUTION_ASYNCHRONOUS,
        c->prepared, c->device->entry, &c->request->hal, config, result, NULL, &end);
    /* A second callback changes nothing: it may as well come too late to be seen here. */
    if (end.status == HAL_NONE && (!end.violation[0] || !is_synchronous))
        return HAL_NONE;
    memcpy(reason, end.violation[0] ? end.violation : end.failure_text,
           end.violation[0] ? sizeof(end.violation) : HAL_TEXT_BYTES);
    return end.violation[0] && end.status == HAL_NONE ? HAL_GENERAL_FAILURE : end.status;
}

static enum hal_status run(const struct device_call *c, struct burst_controller *b,
                           const struct hal_execution_config *config, struct hal_result *result,
                           char reason[HAL_TEXT_BYTES])
{
    if (b)
        return run_in_burst(c, b, config, result, reason);
    if (reusable_execution_applies(c))
        return run_reusable(c, config, result, reason);
    return run_once(c, config, result, reason);
}

struct device_call device_call_of(ANeuralNetworksExecution *e)
{
    const ANeuralNetworksCompilation *c = e->compilation;

    return (struct device_call){ .device = c->on,
                                 .prepared = c->prepared,
                                 .request = &e->request,
                                 .n_inputs = e->n_inputs,
                                 .n_outputs = e->n_outputs,
                                 .input = e->input,
                                 .output = e->output,
                                 .is_measured = e->is_measured,
                                 .loop_timeout = e->loop_timeout,
                                 .attributes = &e->attributes,
                                 .reusable = e->is_reusable ? &e->reusable : NULL };
}

void compute_on_driver(const struct device_call *c, struct burst_controller *burst,
                       uint64_t timeout_ns, struct computed *ret)
{
    char reason[HAL_TEXT_BYTES];
    struct hal_execution_config config;

    TRACE(LR, PE, "compute_on_driver");
    *ret = (struct computed){ .durations = unknown_durations };
    ret->result = device_call_make(c, burst, timeout_ns, &config);
    if (ret->result != ANEURALNETWORKS_NO_ERROR)
        return;
    struct hal_result result = { .shapes = c->request->shapes, .capacity = c->n_outputs };
    reason[0] = 0;
    enum hal_status status = run(c, burst, &config, &result, reason);
    ret->result = result_of_call(c->device, status, reason);
    if (!answer_is_valid(status, result.n_shapes, c->request->shapes, c->n_outputs, c->output)) {
        ret->result = FAIL(OP_FAILED, "%s answers %s with shapes that contradict it or the request",
                           c->device->name, hal_status_name(status));
        return;
    }
    if (result.n_shapes)
        ret->shape = c->request->shapes;
    if (c->is_measured && status == HAL_NONE)
        ret->durations = (struct durations){ { result.timing.on_device, result.timing.in_driver,
                                               result.timing.on_device, result.timing.in_driver } };
}
