/* Fenced executions: wait for fences, compute, signal a fence. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "golden/base/trace.h"
#include "sim/base/fence.h"
#include "sim/base/process_quota.h"
#include "sim/driver/driver.h"

/* Status and timing, for the client to query after the fence has signalled. */
struct info {
    struct hal_fenced_info base;
    atomic_uint references; /* the client's and the execution's */
    pthread_mutex_t lock;
    enum hal_status status;
    char reason[HAL_TEXT_BYTES]; /* of the status */
    struct hal_timing launched, fenced;
};

struct fenced {
    struct fenced_launch launch;
    struct driver *driver;
    struct info *info;
    struct fence fence;
    uint64_t launched; /* virtual ns */
    bool is_submitted;
    uint32_t client, n_files; /* counted in the client's quota: both ends of the fence, wait_for */
    int wait_for[];
};

static void info_unref(struct info *i)
{
    if (atomic_fetch_sub(&i->references, 1) != 1)
        return;
    pthread_mutex_destroy(&i->lock);
    free(i);
}

static enum hal_status get_execution_info(struct hal_fenced_info *self,
                                          struct hal_timing *ret_launched,
                                          struct hal_timing *ret_fenced)
{
    struct info *i = (struct info *) self;

    pthread_mutex_lock(&i->lock);
    enum hal_status status = i->status;
    failure_text_set("%s", i->reason);
    *ret_launched = i->launched;
    *ret_fenced = i->fenced;
    pthread_mutex_unlock(&i->lock);
    return status;
}

static void release_info(struct hal_fenced_info *self)
{
    info_unref((struct info *) self);
}

static const struct hal_fenced_info_methods info_methods = { get_execution_info, release_info };

static struct info *info_new(void)
{
    struct info *i = calloc(1, sizeof(*i));

    if (!i)
        return NULL;
    /* HAL_GENERAL_FAILURE until the fence has signalled. */
    *i = (struct info){ .base = { &info_methods },
                        .references = 2,
                        .status = HAL_GENERAL_FAILURE,
                        .launched = hal_unknown_timing,
                        .fenced = hal_unknown_timing,
                        .reason = "the execution has not ended" };
    pthread_mutex_init(&i->lock, NULL);
    return i;
}

/* The two timings differ by the time that the driver waited for the fences. */
static void set_info(struct info *i, enum hal_status status, const struct hal_timing *fenced,
                     uint64_t waited, enum hal_version version)
{
    pthread_mutex_lock(&i->lock);
    i->status = status;
    failure_text_get(NULL, i->reason, sizeof(i->reason));
    i->launched = i->fenced = *fenced;
    if (i->launched.on_device != HAL_NO_TIME)
        i->launched.on_device += waited;
    if (i->launched.in_driver != HAL_NO_TIME)
        i->launched.in_driver += waited;
    i->launched = hal_timing_at(i->launched, version);
    pthread_mutex_unlock(&i->lock);
}

/* Submits with the time until the deadline, which includes the wait for the fences, or at most the
 * duration.  An execution without fences is submitted at launch, so that its arrival does not
 * depend on when its thread runs. */
static void submit(struct fenced *f)
{
    uint64_t passed = schedule_now(f->driver->schedule) - f->launched;
    uint64_t left = f->launch.left;

    if (left != HAL_NO_TIME)
        left = passed < left ? left - passed : 0;
    if (left > f->launch.duration)
        left = f->launch.duration;
    execution_submit(f->launch.execution, left);
    f->is_submitted = true;
}

static void cancel_submitted(struct fenced *f)
{
    if (f->is_submitted)
        execution_cancel(f->launch.execution);
}

/* Computes, once all fences have signalled. */
static enum hal_status compute(struct fenced *f, struct hal_timing *ret_timing,
                               uint64_t *ret_waited)
{
    struct execution *x = f->launch.execution;
    uint32_t n = x->request.n_outputs;
    struct hal_result result = { .shapes = calloc(n + 1, sizeof(*result.shapes)), .capacity = n };

    if (!result.shapes) {
        cancel_submitted(f);
        return hal_status_exhausted(x->version);
    }
    if (!f->is_submitted)
        submit(f);
    *ret_waited = x->is_queued && x->job.arrival > f->launched ? x->job.arrival - f->launched : 0;
    enum hal_status status = execution_run(x, &result);
    *ret_timing = result.timing;
    free(result.shapes);
    return status;
}

static void free_fenced(struct fenced *f)
{
    for (uint32_t i = 0; i < f->launch.n_wait_for; i++)
        close(f->wait_for[i]);
    process_quota_release(QUOTA_FILES, f->client, f->n_files);
    info_unref(f->info);
    free(f);
}

/* As fence_wait().  The wait is not counted as time in the driver. */
static int wait_for_fences(const struct fenced *f)
{
    const struct caller *caller = f->launch.execution->caller;

    if (!f->launch.n_wait_for)
        return 1;
    TRACE(LO, PU, "wait for fences");
    return fence_wait_or_stop(f->launch.n_wait_for, f->wait_for, f->launch.left,
                              caller ? caller->gone : f->driver->closing.wait);
}

static void run_fenced(void *argument)
{
    struct fenced *f = argument;
    struct hal_timing timing = hal_unknown_timing;
    uint64_t waited = 0;
    enum hal_status status = HAL_GENERAL_FAILURE;
    int ready = wait_for_fences(f);

    TRACE(LD, PE, "execution");
    if (ready == 0)
        failure_text_set("the fences have not signalled before the deadline");
    else if (ready < 0)
        failure_text_set("a fence reports an error, or the client has disconnected");
    if (ready == 0)
        status = f->launch.left ? HAL_MISSED_DEADLINE_TRANSIENT : HAL_MISSED_DEADLINE_PERSISTENT;
    else if (ready > 0)
        status = compute(f, &timing, &waited);
    set_info(f->info, status, &timing, waited, f->launch.execution->version);
    execution_end_thread(f->launch.execution);
    if (f->launch.done)
        f->launch.done(f->launch.execution);
    fence_complete(&f->fence, status == HAL_NONE);
    free_fenced(f);
}

static struct fenced *fenced_new(const struct fenced_launch *launch)
{
    struct fenced *f = calloc(1, sizeof(*f) + launch->n_wait_for * sizeof(int));
    struct info *info = info_new();
    uint32_t client = caller_client(), n_files = launch->n_wait_for + 2;

    if (!f || !info || !process_quota_charge(QUOTA_FILES, client, n_files)) {
        free(f);
        free(info);
        return NULL;
    }
    f->client = client;
    f->n_files = n_files;
    f->launch = *launch;
    f->launch.n_wait_for = 0;
    f->driver = launch->execution->prepared->driver;
    f->info = info;
    f->launched = schedule_now(f->driver->schedule);
    /* Duplicates: the client may close its descriptors after the call. */
    for (; f->launch.n_wait_for < launch->n_wait_for; f->launch.n_wait_for++) {
        int fd = fcntl(launch->wait_for[f->launch.n_wait_for], F_DUPFD_CLOEXEC, 0);
        if (fd < 0)
            break;
        f->wait_for[f->launch.n_wait_for] = fd;
    }
    if (f->launch.n_wait_for == launch->n_wait_for && fence_open(&f->fence) == 0)
        return f;
    info_unref(info);
    free_fenced(f);
    return NULL;
}

static enum hal_status fail_launch(const struct fenced_launch *launch, enum hal_status status)
{
    if (launch->done)
        launch->done(launch->execution);
    return status;
}

static int check_launch(const struct fenced_launch *launch, struct why *w)
{
    REQUIRE(w, request_is_specified(&launch->execution->request),
            "an output whose shape is not fully specified");
    REQUIRE(w, !launch->n_wait_for || launch->wait_for, "the list of fences is NULL");
    REQUIRE(w, fence_all_open(launch->n_wait_for, launch->wait_for),
            "a fence is not an open descriptor");
    return 0;
}

enum hal_status execution_run_fenced(const struct fenced_launch *launch, int *ret_fence,
                                     struct hal_fenced_info **ret_info)
{
    enum hal_version version = launch->execution->version;
    enum hal_status status;
    struct fenced *f;
    struct info *info;
    struct why w;
    int fence;

    if (check_launch(launch, &w) < 0)
        return fail_launch(launch, driver_log_failure("execute_fenced", version, &w));
    f = fenced_new(launch);
    if (!f)
        return fail_launch(launch, HAL_RESOURCE_EXHAUSTED_TRANSIENT);
    info = f->info;
    fence = f->fence.wait;
    if (!launch->n_wait_for)
        submit(f);
    status = execution_start_thread(launch->execution, run_fenced, f);
    if (status != HAL_NONE) {
        cancel_submitted(f);
        close(fence);
        fence_complete(&f->fence, false);
        info_unref(info);
        free_fenced(f);
        return fail_launch(launch, status);
    }
    *ret_fence = fence;
    *ret_info = &info->base;
    return driver_log_status("execute_fenced", version, HAL_NONE);
}

static void close_and_free(struct execution *x)
{
    execution_close(x);
    free(x);
}

enum hal_status driver_execute_fenced(struct hal_prepared_model *self, enum hal_version version,
                                      const struct hal_request *request, uint32_t n_wait_for,
                                      const int *wait_for,
                                      const struct hal_execution_config *config, uint64_t duration,
                                      int *ret_fence, struct hal_fenced_info **ret_info)
{
    struct execution *x;
    enum hal_status status;
    struct why w;

    TRACE(LD, PE, "execute_fenced");
    failure_text_clear();
    *ret_fence = HAL_NO_FENCE;
    *ret_info = NULL;
    if (driver_check_entry(((struct prepared *) self)->driver, version,
                           WIRE__METHOD__EXECUTE_FENCED, &w) < 0 ||
        hal_check_time("a duration", duration, version, &w) < 0)
        return driver_log_failure("execute_fenced", version, &w);
    x = malloc(sizeof(*x));
    if (!x)
        return hal_status_exhausted(version);
    status = execution_open(x, (struct prepared *) self, version, request, config);
    if (status != HAL_NONE) {
        free(x);
        return status;
    }
    return execution_run_fenced(
        &(struct fenced_launch){ x, n_wait_for, wait_for,
                                 driver_time_left(config->deadline, version), duration,
                                 close_and_free },
        ret_fence, ret_info);
}
