/* Fenced executions: events of the C API. */
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime/adapter/adapter.h"
#include "sim/base/failure_text.h"
#include "sim/base/fence.h"
#include "sim/hal/hal_result.h"

struct adapter_fenced {
    struct hal_fenced_info base;
    struct adapter_fenced *next; /* among the unfinished ones */
    struct adapter_execution *execution;
    ANeuralNetworksEvent *event; /* NULL: it was not started, its deadline had passed */
    int fence;                   /* HAL_NO_FENCE: it has ended */
};

static bool has_ended(const struct adapter_fenced *f)
{
    struct pollfd p = { .fd = f->fence, .events = POLLIN };

    return f->fence == HAL_NO_FENCE || poll(&p, 1, 0) > 0;
}

/* Waits until it has ended. */
static void fenced_free(struct adapter_fenced *f)
{
    f->execution->prepared->adapter->api.Event_free(f->event);
    adapter_execution_unref(f->execution);
    if (f->fence != HAL_NO_FENCE)
        close(f->fence);
    free(f);
}

void adapter_free_ended(struct adapter *a)
{
    struct adapter_fenced *ended = NULL, *f;

    pthread_mutex_lock(&a->lock);
    for (struct adapter_fenced **at = &a->unfinished; (f = *at);)
        if (has_ended(f)) {
            *at = f->next;
            f->next = ended;
            ended = f;
        } else {
            at = &f->next;
        }
    pthread_mutex_unlock(&a->lock);
    for (; ended; ended = f) {
        f = ended->next;
        fenced_free(ended);
    }
}

static enum hal_status get_execution_info(struct hal_fenced_info *self,
                                          struct hal_timing *ret_launched,
                                          struct hal_timing *ret_fenced)
{
    struct adapter_fenced *f = (struct adapter_fenced *) self;
    const struct adapter_execution *x = f->execution;
    enum hal_status status = HAL_NONE;

    failure_text_clear();
    *ret_launched = *ret_fenced = hal_unknown_timing;
    if (!f->event)
        return adapter_missed_deadline("the execution");
    if (!has_ended(f))
        return adapter_fail(HAL_GENERAL_FAILURE, "the execution has not ended");
    if (!adapter_ok(&status, x->prepared->adapter->api.Event_wait(f->event), "Event_wait",
                    "a fenced execution"))
        return status;
    *ret_launched =
        (struct hal_timing){ .on_device = adapter_duration(x, ANEURALNETWORKS_DURATION_ON_HARDWARE),
                             .in_driver = adapter_duration(x, ANEURALNETWORKS_DURATION_IN_DRIVER) };
    *ret_fenced = (struct hal_timing){
        .on_device = adapter_duration(x, ANEURALNETWORKS_FENCED_DURATION_ON_HARDWARE),
        .in_driver = adapter_duration(x, ANEURALNETWORKS_FENCED_DURATION_IN_DRIVER)
    };
    return HAL_NONE;
}

/* What has not ended waits for a fence, perhaps for one that the client signals later. */
static void release(struct hal_fenced_info *self)
{
    struct adapter_fenced *f = (struct adapter_fenced *) self;
    struct adapter *a = f->execution->prepared->adapter;

    if (has_ended(f)) {
        fenced_free(f);
        return;
    }
    pthread_mutex_lock(&a->lock);
    f->next = a->unfinished;
    a->unfinished = f;
    pthread_mutex_unlock(&a->lock);
}

static const struct hal_fenced_info_methods methods = { get_execution_info, release };

/* ---- launching */

static void free_events(const struct api_library *api, uint32_t n, ANeuralNetworksEvent **event)
{
    for (uint32_t i = 0; i < n; i++)
        api->Event_free(event[i]);
    free(event);
}

/* The C API takes no descriptor 0: it is duplicated to another number. */
static int event_of_fence(const struct api_library *api, int fence, ANeuralNetworksEvent **ret)
{
    if (fence > 0)
        return api->Event_createFromSyncFenceFd(fence, ret);
    int other = fcntl(fence, F_DUPFD_CLOEXEC, 1);
    int result =
        other < 0 ? ANEURALNETWORKS_BAD_DATA : api->Event_createFromSyncFenceFd(other, ret);
    if (other >= 0)
        close(other);
    return result;
}

static enum hal_status make_events(const struct api_library *api, uint32_t n, const int *wait_for,
                                   ANeuralNetworksEvent ***ret_event)
{
    ANeuralNetworksEvent **event = calloc((size_t) n + 1, sizeof(ANeuralNetworksEvent *));
    enum hal_status status;

    if (!event)
        return adapter_fail(HAL_RESOURCE_EXHAUSTED_TRANSIENT, "out of memory for fences");
    for (uint32_t i = 0; i < n; i++)
        if (!adapter_ok(&status, event_of_fence(api, wait_for[i], &event[i]),
                        "Event_createFromSyncFenceFd", "fence %u", i)) {
            free_events(api, i, event);
            return status;
        }
    *ret_event = event;
    return HAL_NONE;
}

static enum hal_status start(struct adapter_fenced *f, uint32_t n_wait_for, const int *wait_for,
                             uint64_t duration)
{
    const struct adapter *a = f->execution->prepared->adapter;
    ANeuralNetworksEvent **dependency = NULL;
    enum hal_status status = make_events(&a->api, n_wait_for, wait_for, &dependency);

    if (status != HAL_NONE)
        return status;
    /* 0 is no limit in the C API, and a limit exists for one chosen device only. */
    uint64_t limit = duration == HAL_NO_TIME || a->is_runtime ? 0 : duration ? duration : 1;
    adapter_ok(&status,
               a->api.Execution_startComputeWithDependencies(
                   f->execution->execution, (const ANeuralNetworksEvent *const *) dependency,
                   n_wait_for, limit, &f->event),
               "Execution_startComputeWithDependencies", "%u fences", n_wait_for);
    free_events(&a->api, n_wait_for, dependency);
    return status;
}

/* A fence that reports an error, of an execution that is not started. */
static enum hal_status fail_fence(int *ret_fence)
{
    struct fence fence;

    if (fence_open(&fence) < 0)
        return adapter_fail(HAL_RESOURCE_EXHAUSTED_TRANSIENT, "no descriptor for a fence");
    fence_complete(&fence, false);
    *ret_fence = fence.wait;
    return HAL_NONE;
}

/* Without a fence it has ended: a failure is then one of the launch. */
static enum hal_status take_fence(struct adapter_fenced *f, int *ret_fence)
{
    const struct api_library *api = &f->execution->prepared->adapter->api;
    enum hal_status status = HAL_NONE;

    f->fence = HAL_NO_FENCE;
    *ret_fence = HAL_NO_FENCE;
    if (api->Event_getSyncFenceFd(f->event, &f->fence) != ANEURALNETWORKS_NO_ERROR ||
        f->fence < 0) {
        f->fence = HAL_NO_FENCE;
        adapter_ok(&status, api->Event_wait(f->event), "Event_wait", "a fenced execution");
        return status;
    }
    *ret_fence = fcntl(f->fence, F_DUPFD_CLOEXEC, 0);
    return *ret_fence >= 0
               ? HAL_NONE
               : adapter_fail(HAL_RESOURCE_EXHAUSTED_TRANSIENT, "no descriptor for a fence");
}

static enum hal_status check(const struct adapter_execution *x, uint32_t n_wait_for,
                             const int *wait_for, uint64_t duration)
{
    if (!fence_all_open(n_wait_for, wait_for))
        return adapter_fail(HAL_INVALID_ARGUMENT, "a fence is not a descriptor");
    if (x->has_unknown_output)
        return adapter_fail(HAL_INVALID_ARGUMENT, "an output of unknown size");
    if (x->n_longer)
        return adapter_fail(HAL_OUTPUT_INSUFFICIENT_SIZE, "%u outputs are too short", x->n_longer);
    return adapter_check_time("a duration", duration);
}

enum hal_status adapter_launch(struct adapter_execution *x, uint32_t n_wait_for,
                               const int *wait_for, uint64_t time_left, uint64_t duration,
                               int *ret_fence, struct hal_fenced_info **ret_info)
{
    adapter_free_ended(x->prepared->adapter);
    enum hal_status status = check(x, n_wait_for, wait_for, duration);
    if (status != HAL_NONE)
        return status;
    struct adapter_fenced *f = calloc(1, sizeof(*f));
    if (!f)
        return adapter_fail(HAL_RESOURCE_EXHAUSTED_TRANSIENT, "out of memory for an execution");
    *f = (struct adapter_fenced){ .base = { &methods }, .execution = x, .fence = HAL_NO_FENCE };
    if (time_left)
        status = start(f, n_wait_for, wait_for, duration);
    if (status != HAL_NONE) {
        free(f);
        return status;
    }
    atomic_fetch_add(&x->references, 1);
    status = time_left ? take_fence(f, ret_fence) : fail_fence(ret_fence);
    if (status != HAL_NONE) {
        *ret_fence = HAL_NO_FENCE;
        release(&f->base);
        return status;
    }
    *ret_info = &f->base;
    return HAL_NONE;
}

enum hal_status adapter_execute_fenced(struct hal_prepared_model *self, enum hal_version version,
                                       const struct hal_request *request, uint32_t n_wait_for,
                                       const int *wait_for,
                                       const struct hal_execution_config *config, uint64_t duration,
                                       int *ret_fence, struct hal_fenced_info **ret_info)
{
    struct adapter_prepared *p = (struct adapter_prepared *) self;
    const struct adapter_setup setup = { .version = version,
                                         .config = config,
                                         .time_left = adapter_time_left(config->deadline) };
    struct adapter_execution *x = NULL;

    failure_text_clear();
    *ret_fence = HAL_NO_FENCE;
    *ret_info = NULL;
    if (!adapter_has_entry(p->adapter, version))
        return HAL_INVALID_ARGUMENT;
    enum hal_status status = adapter_execution_new(p, request, &setup, &x);
    if (status == HAL_NONE)
        status =
            adapter_launch(x, n_wait_for, wait_for, setup.time_left, duration, ret_fence, ret_info);
    adapter_execution_unref(x); /* the launch has its own reference */
    return status;
}
