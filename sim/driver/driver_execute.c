/* Executions: opening requests, scheduling and computing them; synchronous and asynchronous entry
 * points. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "golden/base/clock.h"
#include "golden/base/logging.h"
#include "golden/base/trace.h"
#include "sim/driver/driver.h"

#define LOG_TAG "ExecutionBuilder"

/* ---- one request */

static uint64_t loop_limit(const struct hal_execution_config *c)
{
    if (c->loop_timeout == HAL_NO_TIME)
        return HAL_LOOP_TIMEOUT_DEFAULT;
    if (c->loop_timeout <= HAL_LOOP_TIMEOUT_MAX)
        return c->loop_timeout;
    log_write(LOG_WARNING, LOG_TAG, "a loop timeout of %" PRIu64 " ns is reduced to %" PRIu64,
              c->loop_timeout, HAL_LOOP_TIMEOUT_MAX);
    return HAL_LOOP_TIMEOUT_MAX;
}

static void free_own_arena(struct execution *x)
{
    if (!x->is_reused_arena)
        arena_free(x->arena);
}

enum hal_status execution_open(struct execution *x, struct prepared *p, enum hal_version version,
                               const struct hal_request *request,
                               const struct hal_execution_config *config)
{
    return execution_open_reusing(x, p, version, request, config, &(struct execution_reuse){ 0 });
}

enum hal_status execution_open_reusing(struct execution *x, struct prepared *p,
                                       enum hal_version version, const struct hal_request *request,
                                       const struct hal_execution_config *config,
                                       const struct execution_reuse *lent)
{
    const struct engine *e = p->driver->engine;
    struct request_context c = { version, &p->loaded.model, p->number, &p->driver->buffers,
                                 lent->kept };
    struct why w;

    if (hal_execution_config_check(config, version, &w) < 0)
        return driver_log_failure("request", version, &w);
    *x = (struct execution){ .prepared = p,
                             .version = version,
                             .measure = config->measure,
                             .loop_ns = loop_limit(config),
                             .is_reused_arena = lent->arena,
                             .arena = lent->arena ? lent->arena : arena_new((size_t) e->memory) };
    if (!x->arena)
        return hal_status_exhausted(version);
    if (request_open(request, &c, x->arena, &x->request, &w) < 0) {
        free_own_arena(x);
        return driver_log_failure("request", version, &w);
    }
    VLOG(EXECUTION, "client %u: request for model %" PRIu64 ": %u inputs, %u outputs, %u pools%s",
         caller_client(), p->number, request->n_inputs, request->n_outputs, request->n_pools,
         x->measure ? ", to be measured" : "");
    x->caller = caller_ref(caller_get());
    x->start = arena_mark(x->arena);
    x->request.unwritten_bytes = fault_hooks(e->fault)->unwritten_bytes;
    atomic_fetch_add(&p->references, 1);
    return HAL_NONE;
}

void execution_close(struct execution *x)
{
    request_close(&x->request);
    free_own_arena(x);
    caller_unref(x->caller);
    prepared_unref(x->prepared);
}

/* ---- computing */

/* The status of a failure.  TRANSIENT: late only because it waited for the device, so that a retry
 * may succeed. */
static enum hal_status failure(const struct execution *x, const struct why *w)
{
    const struct job *j = &x->job;

    failure_text_set("%s", w->text);
    VLOG(EXECUTION, "execution %" PRIu64 " failed: %s", j->number, w->text);
    if (w->code == WHY_TIMEOUT &&
        clock_sum(schedule_now(x->prepared->driver->schedule), j->ahead) > j->deadline &&
        clock_sum(j->arrival + j->used, j->ahead) <= j->deadline)
        return hal_status_at(HAL_MISSED_DEADLINE_TRANSIENT, x->version);
    return hal_status_from_why(w, x->version);
}

static uint64_t estimate(const struct execution *x)
{
    return x->prepared->driver->engine->methods->estimate(x->prepared->program);
}

/* Runs while the execution has the device: reads buffers, computes, writes buffers.  Skips
 * executions that are cancelled or cannot meet their deadline. */
static enum hal_status compute(struct execution *x, struct hal_result *result)
{
    struct prepared *p = x->prepared;
    struct run_limits limits = { x->loop_ns, p->driver->schedule, &x->job };
    struct run_output output;
    struct why w;

    if (!job_is_active(&x->job)) {
        VLOG(EXECUTION, "execution %" PRIu64 " is cancelled: its client has disconnected",
             x->job.number);
        return HAL_GENERAL_FAILURE;
    }
    if (clock_sum(schedule_now(p->driver->schedule), estimate(x)) > x->job.deadline) {
        failure_text_set("the execution has waited too long to meet its deadline");
        VLOG(EXECUTION, "execution %" PRIu64 " has waited too long to meet its deadline",
             x->job.number);
        return hal_status_at(HAL_MISSED_DEADLINE_TRANSIENT, x->version);
    }
    TRACE(LD, PIO, "request_read_buffers");
    if (request_read_buffers(&x->request, &w) < 0)
        return failure(x, &w);
    TRACE_SWITCH(LD, PCO, "run");
    if (p->driver->engine->methods->run(p->program, x->request.in, &limits, x->arena, &output, &w) <
        0)
        return failure(x, &w);
    TRACE_SWITCH(LD, PR, "request_write_buffers");
    if (output.in_driver != HAL_NO_TIME)
        x->in_driver = output.in_driver;
    int rc = request_write_buffers(&x->request, output.out, result->shapes, &w);
    if (rc < 0)
        return failure(x, &w);
    x->out = rc == 0 ? output.out : NULL;
    if (x->version >= HAL_1_2)
        result->n_shapes = x->request.n_outputs;
    if (rc == 0 && x->measure)
        result->timing =
            hal_timing_at((struct hal_timing){ output.on_device, output.in_driver }, x->version);
    return rc == 0 ? HAL_NONE : HAL_OUTPUT_INSUFFICIENT_SIZE;
}

static int read_memory(struct execution *x)
{
    struct why w;

    TRACE(LD, PIO, "request_read_memory");
    if (request_read_memory(&x->request, &w) == 0)
        return 0;
    x->refused = failure(x, &w);
    failure_text_get(NULL, x->reason, sizeof(x->reason));
    return -1;
}

void execution_submit(struct execution *x, uint64_t left)
{
    const struct prepared *p = x->prepared;
    const struct job_terms terms = {
        .priority = (int) p->priority * (int) p->driver->engine->priorities / 3,
        .client = p->client,
        .budget = left == HAL_NO_TIME ? SCHEDULE_NEVER : left,
        .gone = x->caller ? &x->caller->is_gone : NULL,
    };

    x->is_queued = false;
    if (left == 0 || estimate(x) > terms.budget) {
        snprintf(x->reason, sizeof(x->reason),
                 "an execution takes %" PRIu64 " ns, the deadline is in %" PRIu64 " ns",
                 estimate(x), terms.budget);
        VLOG(EXECUTION,
             "an execution of model %" PRIu64 " takes %" PRIu64 " ns, the deadline is in %" PRIu64
             " ns",
             p->number, estimate(x), terms.budget);
        x->refused = hal_status_at(HAL_MISSED_DEADLINE_PERSISTENT, x->version);
        return;
    }
    if (read_memory(x) < 0)
        return;
    x->is_queued = schedule_submit(p->driver->schedule, &x->job, &terms) == 0;
    x->refused = hal_status_exhausted(x->version);
    if (!x->is_queued)
        snprintf(x->reason, sizeof(x->reason), "the device's queue is full");
}

static enum hal_status run_queued(struct execution *x, struct hal_result *result)
{
    struct schedule *s = x->prepared->driver->schedule;

    if (!x->is_queued) {
        failure_text_set("%s", x->reason);
        return x->refused;
    }
    x->in_driver = 0;
    x->out = NULL;
    schedule_begin(s, &x->job);
    enum hal_status status = compute(x, result);
    schedule_end(s, &x->job);
    if (x->out) {
        TRACE(LD, PR, "request_write_memory");
        request_write_memory(&x->request, x->out);
    }
    schedule_sleep_until(s, &x->job, clock_sum(x->job.arrival, x->in_driver));
    return status;
}

void execution_cancel(struct execution *x)
{
    if (x->is_queued)
        schedule_end(x->prepared->driver->schedule, &x->job);
    x->is_queued = false;
    arena_rewind(x->arena, x->start);
}

enum hal_status execution_start_thread(struct execution *x, void (*f)(void *argument),
                                       void *argument)
{
    struct driver *d = x->prepared->driver;
    enum hal_version version = x->version; /* x may be freed once the thread runs */
    enum hal_status status;

    status = client_quota_charge(&d->client_quotas, x->prepared->client, QUOTA_EXECUTIONS, 1);
    if (status == HAL_NONE && driver_start_thread(d, f, argument) < 0) {
        execution_end_thread(x);
        status = HAL_RESOURCE_EXHAUSTED_TRANSIENT;
    }
    if (status != HAL_NONE)
        failure_text_set("the client has as many asynchronous executions as it may");
    return hal_status_at(status, version);
}

void execution_end_thread(struct execution *x)
{
    client_quota_release(&x->prepared->driver->client_quotas, x->prepared->client, QUOTA_EXECUTIONS,
                         1);
}

/* Passes the request's memory to a planted fault; the lists are in the execution's arena. */
static void show_memory(struct execution *x, struct faulty_execution *a)
{
    const struct request *r = &x->request;
    struct fault_region *in = arena_alloc(x->arena, r->n_inputs, sizeof(*in));
    struct fault_region *out = arena_alloc(x->arena, r->n_outputs, sizeof(*out));

    for (uint32_t i = 0; in && i < r->n_inputs; i++)
        in[i] = (struct fault_region){ r->in_place[i].address, tensor_bytes(&r->in[i]) };
    for (uint32_t i = 0; out && i < r->n_outputs; i++)
        out[i] = (struct fault_region){ r->out[i].place.address, r->out[i].place.length };
    a->in = in;
    a->out = out;
    a->n_inputs = in ? r->n_inputs : 0;
    a->n_outputs = out ? r->n_outputs : 0;
}

/* Lets a planted fault change the result. */
static enum hal_status apply_fault(struct execution *x, enum hal_status status,
                                   struct hal_result *result)
{
    struct driver *d = x->prepared->driver;
    const struct fault_hooks *hooks = fault_hooks(d->engine->fault);
    struct faulty_execution a = {
        .status = status, .result = result, .measure = x->measure, .memory = &d->memory
    };

    if (!hooks->answer)
        return status;
    show_memory(x, &a);
    pthread_mutex_lock(&d->lock);
    hooks->answer(&a);
    pthread_mutex_unlock(&d->lock);
    return a.status;
}

enum hal_status execution_run(struct execution *x, struct hal_result *result)
{
    hal_clear_result(result);
    enum hal_status status = apply_fault(x, run_queued(x, result), result);
    VLOG(EXECUTION, "execution of model %" PRIu64 " ends with %s, %lld ns on the device",
         x->prepared->number, hal_status_name(status), (long long) result->timing.on_device);
    arena_rewind(x->arena, x->start);
    return status;
}

/* ---- synchronous */

int driver_check_capacity(const struct hal_result *result, uint32_t n_outputs, struct why *w)
{
    REQUIRE(w, result->capacity >= n_outputs, "space for %u output shapes, the model has %u",
            result->capacity, n_outputs);
    return 0;
}

enum hal_status execution_run_now(struct prepared *p, enum hal_version version,
                                  const struct hal_request *request,
                                  const struct hal_execution_config *config,
                                  const struct execution_reuse *lent, struct hal_result *result)
{
    struct execution x;
    enum hal_status status;
    struct why w;

    TRACE(LD, PE, "execute_synchronously");
    failure_text_clear();
    hal_clear_result(result);
    if (driver_check_entry(p->driver, version, WIRE__METHOD__EXECUTE_SYNCHRONOUSLY, &w) < 0 ||
        driver_check_capacity(result, p->base.n_outputs, &w) < 0)
        return driver_log_failure("execute_synchronously", version, &w);
    status = execution_open_reusing(&x, p, version, request, config, lent);
    if (status != HAL_NONE)
        return status;
    execution_submit(&x, driver_time_left(config->deadline, version));
    status = execution_run(&x, result);
    execution_close(&x);
    return driver_log_status("execute_synchronously", version, status);
}

static enum hal_status execute_synchronously(struct hal_prepared_model *self,
                                             enum hal_version version,
                                             const struct hal_request *request,
                                             const struct hal_execution_config *config,
                                             struct hal_result *result)
{
    return execution_run_now((struct prepared *) self, version, request, config,
                             &(struct execution_reuse){ 0 }, result);
}

/* ---- asynchronous */

struct launch {
    struct execution execution;
    struct hal_execution_callback *callback;
};

static void run_launched(void *argument)
{
    struct launch *l = argument;
    uint32_t n = l->execution.request.n_outputs;
    struct hal_result result = { .shapes = calloc(n + 1, sizeof(*result.shapes)),
                                 .capacity = n,
                                 .timing = hal_unknown_timing };
    enum hal_status status = hal_status_exhausted(l->execution.version);

    TRACE(LD, PE, "execution");
    if (result.shapes)
        status = execution_run(&l->execution, &result);
    else
        execution_cancel(&l->execution);

    /* The client may release the model as soon as it is notified. */
    execution_end_thread(&l->execution);
    execution_close(&l->execution);
    l->callback->notify(l->callback, status, result.n_shapes, result.shapes, result.timing);
    free(result.shapes);
    free(l);
}

static enum hal_status execute(struct hal_prepared_model *self, enum hal_version version,
                               const struct hal_request *request,
                               const struct hal_execution_config *config,
                               struct hal_execution_callback *callback)
{
    struct prepared *p = (struct prepared *) self;
    struct launch *l;
    enum hal_status status;
    struct why w;

    TRACE(LD, PE, "execute");
    failure_text_clear();
    if (driver_check_entry(p->driver, version, WIRE__METHOD__EXECUTE, &w) < 0)
        return hal_fail_execution(callback, driver_log_failure("execute", version, &w));
    l = calloc(1, sizeof(*l));
    if (!l)
        return hal_fail_execution(callback, hal_status_exhausted(version));
    status = execution_open(&l->execution, p, version, request, config);
    if (status != HAL_NONE) {
        free(l);
        return hal_fail_execution(callback, status);
    }
    l->callback = callback;
    execution_submit(&l->execution, driver_time_left(config->deadline, version));
    status = execution_start_thread(&l->execution, run_launched, l);
    if (status != HAL_NONE) {
        execution_cancel(&l->execution);
        execution_close(&l->execution);
        free(l);
        return hal_fail_execution(callback, status);
    }
    return driver_log_status("execute", version, HAL_NONE);
}

static void release(struct hal_prepared_model *self)
{
    TRACE(LD, PT, "release");
    prepared_unref((struct prepared *) self);
}

const struct hal_prepared_model_methods prepared_methods = {
    .execute_synchronously = execute_synchronously,
    .execute = execute,
    .execute_fenced = driver_execute_fenced,
    .configure_burst = driver_configure_burst,
    .create_reusable_execution = driver_create_reusable_execution,
    .release = release,
};
