/* Fenced executions of a driver in another process.
 *
 * If a request has pools of kind ADDRESS, their copies (sim/remote/shared_pools.h) must be filled
 * after the fences to wait for have signalled, and copied back before the caller's fence signals.
 * Threads here relay the signals: the service waits for a local fence instead of the client's, and
 * the client waits for a local fence instead of the service's. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "sim/base/fence.h"
#include "sim/hal/hal_convert.h"
#include "sim/remote/remote_internal.h"

struct info {
    struct hal_fenced_info base;
    struct remote *r;
    uint64_t handle;
};

static enum hal_status get_execution_info(struct hal_fenced_info *self,
                                          struct hal_timing *ret_launched,
                                          struct hal_timing *ret_fenced)
{
    struct info *i = (struct info *) self;
    struct remote_call q;
    enum hal_status status;

    *ret_launched = *ret_fenced = hal_unknown_timing;
    if (remote_begin(i->r, WIRE__METHOD__GET_EXECUTION_INFO, 0, &q) < 0)
        return remote_failure(&q);
    q.call.object = i->handle;
    status = remote_run(&q);
    if (q.reply) {
        *ret_launched = wire_decode_timing(q.reply->timing);
        *ret_fenced = wire_decode_timing(q.reply->fenced);
    }
    remote_end(&q);
    return status;
}

static void release_info(struct hal_fenced_info *self)
{
    struct info *i = (struct info *) self;

    remote_release(i->r, i->handle);
    free(i);
}

static const struct hal_fenced_info_methods info_methods = { get_execution_info, release_info };

struct output_relay {
    struct remote *r;
    int service_fence;
    struct fence local_fence;
    struct shared_pools *shared;
};

static void *relay_outputs(void *argument)
{
    struct output_relay *f = argument;
    struct remote *r = f->r;
    bool ok = fence_wait_or_stop(1, &f->service_fence, HAL_NO_TIME, r->stop) == 1;

    if (ok)
        shared_pools_copy_out(f->shared);
    shared_pools_unlock(f->shared);
    shared_pools_unref(f->shared);
    fence_complete(&f->local_fence, ok);
    close(f->service_fence);
    free(f);
    remote_end_thread(r);
    return NULL;
}

/* Takes ownership of the service's fence and returns the local one for the client; -1: out of
 * memory or threads, and the service's fence is still the caller's. */
static int relay_fence(struct remote *r, int service_fence, struct shared_pools *shared)
{
    struct output_relay *f = malloc(sizeof(*f));
    int wait;

    if (!f || fence_open(&f->local_fence) < 0) {
        free(f);
        return -1;
    }
    f->r = r;
    f->service_fence = service_fence;
    f->shared = shared_pools_ref(shared);
    wait = f->local_fence.wait;
    if (remote_start_thread(r, relay_outputs, f) == 0)
        return wait;
    close(wait);
    fence_complete(&f->local_fence, false);
    shared_pools_unref(f->shared);
    free(f);
    return -1;
}

/* The fence of a driver that returned something other than a descriptor: a number that no
 * descriptor has, so that the client detects the violation. */
enum { NO_DESCRIPTOR = INT_MAX };

/* Sets the client's fence.  -1: out of memory; the execution continues, but its results are not
 * copied back. */
static int take_fence(struct remote_call *q, struct shared_pools *shared, int *ret_fence)
{
    int service_fence = wire_take_fd(&q->reply_fds, q->reply->fd);

    if (service_fence >= 0 && shared) {
        *ret_fence = relay_fence(q->r, service_fence, shared);
        if (*ret_fence >= 0)
            return 0;
        close(service_fence);
        shared_pools_unlock(shared);
        return -1;
    }
    if (service_fence < 0)
        shared_pools_copy_out(shared);
    shared_pools_unlock(shared);
    *ret_fence = service_fence < 0 && q->reply->fd ? NO_DESCRIPTOR : service_fence;
    return 0;
}

/* Without info object, which is a violation, *ret_info is NULL, so that the client detects it. */
static enum hal_status take_fenced(struct remote_call *q, struct shared_pools *shared,
                                   int *ret_fence, struct hal_fenced_info **ret_info)
{
    const uint64_t handle = q->reply->info_object;
    struct info *i = malloc(sizeof(*i));

    if (!i)
        shared_pools_unlock(shared);
    if (!i || take_fence(q, shared, ret_fence) < 0) {
        *ret_fence = HAL_NO_FENCE;
        free(i);
        if (handle)
            remote_release(q->r, handle);
        return HAL_RESOURCE_EXHAUSTED_TRANSIENT;
    }
    *i = (struct info){ { &info_methods }, q->r, handle };
    *ret_info = handle ? &i->base : NULL;
    if (!handle)
        free(i);
    return HAL_NONE;
}

/* Waits for the client's fences, copies the inputs, then signals the fence that the service waits
 * for. */
struct input_relay {
    struct remote *r;
    struct fence local_fence;
    struct shared_pools *shared;
    uint32_t execution; /* shared_pools_execution() */
    uint32_t n;
    int wait_for[];
};

static void input_relay_free(struct input_relay *l)
{
    for (uint32_t i = 0; i < l->n; i++)
        close(l->wait_for[i]);
    shared_pools_unref(l->shared);
    free(l);
}

static void *relay_inputs(void *argument)
{
    struct input_relay *l = argument;
    struct remote *r = l->r;
    bool ok = fence_wait_or_stop(l->n, l->wait_for, HAL_NO_TIME, r->stop) == 1;

    if (ok)
        shared_pools_copy_in_late(l->shared, l->execution);
    fence_complete(&l->local_fence, ok);
    input_relay_free(l);
    remote_end_thread(r);
    return NULL;
}

static struct input_relay *input_relay_new(struct remote *r, uint32_t n, const int *fences,
                                           struct shared_pools *shared)
{
    struct input_relay *l = calloc(1, sizeof(*l) + n * sizeof(int));

    if (!l)
        return NULL;
    l->r = r;
    l->shared = shared_pools_ref(shared);
    l->execution = shared_pools_execution(shared);
    for (; l->n < n; l->n++)
        if ((l->wait_for[l->n] = fcntl(fences[l->n], F_DUPFD_CLOEXEC, 0)) < 0)
            break;
    if (l->n == n && fence_open(&l->local_fence) == 0)
        return l;
    input_relay_free(l);
    return NULL;
}

/* Returns the local fence that the service waits for, which the caller closes; -1: out of memory or
 * threads. */
static int relay_wait_fences(struct remote *r, uint32_t n, const int *fences,
                             struct shared_pools *shared)
{
    struct input_relay *l = input_relay_new(r, n, fences, shared);
    int wait;

    if (!l)
        return -1;
    wait = l->local_fence.wait;
    if (remote_start_thread(r, relay_inputs, l) == 0)
        return wait;
    close(wait);
    fence_complete(&l->local_fence, false);
    input_relay_free(l);
    return -1;
}

/* Encodes the fences that the service waits for.  *ret_ours: a descriptor that the caller closes
 * after the call, or -1. */
static int put_wait_for(struct remote_call *q, uint32_t n, const int *fences,
                        struct shared_pools *shared, int *ret_ours)
{
    struct wire_passing p = { .arena = q->a, .fds = &q->fds };

    *ret_ours = -1;
    REQUIRE(&q->why, fences || !n, "the list of fences is NULL");
    if (n && shared && fence_all_open(n, fences)) {
        *ret_ours = relay_wait_fences(q->r, n, fences, shared);
        if (*ret_ours < 0)
            return why_fail(&q->why, WHY_MEMORY, "cannot create a thread to wait for fences");
        n = 1;
        fences = ret_ours;
    }
    q->call.n_wait_for = n;
    return wire_pass_files(fences, n, &p, &q->call.wait_for, &q->why);
}

enum hal_status remote_run_fenced(struct remote_call *q, uint32_t n_wait_for, const int *wait_for,
                                  struct shared_pools *shared, int *ret_fence,
                                  struct hal_fenced_info **ret_info)
{
    int local_fence, rc = put_wait_for(q, n_wait_for, wait_for, shared, &local_fence);
    enum hal_status status = rc == 0 ? remote_run(q) : remote_failure(q);

    if (local_fence >= 0)
        close(local_fence);
    if (rc == 0 && status == HAL_NONE)
        return take_fenced(q, shared, ret_fence, ret_info);
    shared_pools_unlock(shared);
    return status;
}
