/* Prepared models and executions of a driver in another process. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sim/base/memory.h"
#include "sim/hal/request_regions.h"
#include "sim/remote/remote_internal.h"

static const struct hal_prepared_model_methods prepared_methods;

struct hal_prepared_model *remote_prepared_new(struct remote *r, const Wire__Event *e)
{
    struct remote_prepared *p = malloc(sizeof(*p));

    if (!p) {
        remote_release(r, e->object);
        return NULL;
    }
    *p = (struct remote_prepared){ { &prepared_methods, e->n_inputs, e->n_outputs }, r, e->object };
    return &p->base;
}

uint64_t remote_prepared_handle(const struct remote *r, struct hal_prepared_model *m)
{
    const struct remote_prepared *p = (const struct remote_prepared *) m;

    return m && m->methods == &prepared_methods && p->r == r ? p->handle : 0;
}

static void release_prepared(struct hal_prepared_model *self)
{
    struct remote_prepared *p = (struct remote_prepared *) self;

    remote_release(p->r, p->handle);
    free(p);
}

/* ---- requests */

static int put_config(struct remote_call *q, const struct hal_execution_config *config)
{
    struct wire_passing p = { .arena = q->a, .fds = &q->fds };

    return wire_put(&hal_execution_config_record, &wire__execution_config__descriptor, config, &p,
                    &q->call.execution, &q->why);
}

/* ---- executions that end within the call: pools of kind ADDRESS go through the staging memory */

enum { STAGING_ALIGNMENT = 64 };

static bool is_staged(const struct hal_request_pool *p)
{
    return !p->is_token && memory_is_plain(&p->memory);
}

int remote_grow_staging(struct remote_call *q, uint64_t size)
{
    struct wire_staging *s = &q->c->staging;
    Wire__Call call = WIRE__CALL__INIT;
    struct wire_fds fds = { 0 };
    void *address;
    int fd;

    if (size <= s->size)
        return 0;
    size = size < 65536 ? 65536 : size;
    TRY(wire_memory(size, &fd, &address, &q->why));
    call.method = WIRE__METHOD__SET_STAGING;
    call.fd = wire_put_fd(&fds, fd);
    call.size = size;
    int rc = remote_exchange(q->c, &call, &fds, &q->why);
    close(fd);
    if (rc < 0) {
        munmap(address, size);
        if (q->why.code != WHY_MEMORY)
            remote_disconnect(q->r, &q->why);
        return -1;
    }
    if (s->address)
        munmap(s->address, s->size);
    *s = (struct wire_staging){ address, size };
    return 0;
}

/* A request whose pools of kind ADDRESS are in the staging memory. */
struct staged {
    const struct hal_request *request;
    uint64_t *at; /* offset of each pool */
    struct request_regions regions;
};

static bool is_output(const struct hal_request_pool *p)
{
    return is_staged(p) && p->memory.protection & HAL_MEMORY_WRITE;
}

/* Assigns an offset to each pool, makes the staging memory large enough, and copies the pools. */
static int stage(struct remote_call *q, const struct hal_request *request, struct staged *ret)
{
    const size_t most = (size_t) request->n_inputs + request->n_outputs;
    struct staged s = { request,
                        arena_alloc(q->a, request->n_pools, sizeof(*s.at)),
                        { arena_alloc(q->a, most, sizeof(*s.regions.span)), 0 } };
    uint64_t size = 0;

    if (!s.at || !s.regions.span)
        return why_no_memory(&q->why);
    for (uint32_t i = 0; i < request->n_pools; i++) {
        const struct hal_request_pool *p = &request->pools[i];
        if (!is_staged(p))
            continue;
        s.at[i] = size;
        if (p->memory.size > SIZE_MAX / 4 - size)
            return why_fail(&q->why, WHY_INVALID, "pool %u is too large", i);
        size += (p->memory.size + STAGING_ALIGNMENT - 1) / STAGING_ALIGNMENT * STAGING_ALIGNMENT;
    }
    TRY(remote_grow_staging(q, size));
    request_regions_find(request, &s.regions);
    for (uint32_t i = 0; i < request->n_pools; i++) {
        const struct hal_request_pool *p = &request->pools[i];
        if (!is_staged(p))
            continue;
        uint8_t *copy = q->c->staging.address + s.at[i];
        if (is_output(p))
            request_regions_copy_in(&s.regions, i, &p->memory, copy);
        else
            memcpy(copy, p->memory.address, p->memory.size);
    }
    *ret = s;
    return 0;
}

static void unstage(const struct remote_call *q, const struct staged *s)
{
    for (uint32_t i = 0; i < s->request->n_pools; i++)
        if (is_output(&s->request->pools[i]))
            request_regions_copy_back(&s->regions, i, q->c->staging.address + s->at[i],
                                      &s->request->pools[i].memory);
}

/* The input whose bytes differ between two copies of a pool; -1: none. */
static int find_changed(const struct hal_request *request, uint32_t pool, const uint8_t *before,
                        const uint8_t *after)
{
    uint64_t size = request->pools[pool].memory.size;

    for (uint32_t i = 0; i < request->n_inputs; i++) {
        const struct hal_location *l = &request->inputs[i].location;
        if (l->pool == pool && l->offset <= size && l->length <= size - l->offset &&
            memcmp(before + l->offset, after + l->offset, l->length) != 0)
            return (int) i;
    }
    return -1;
}

/* Compares read-only pools with their copies, which differ if the driver has written to them. */
static void check_read_only(const struct remote_call *q, const struct hal_request *request,
                            const uint64_t *at)
{
    for (uint32_t i = 0; i < request->n_pools; i++) {
        const struct hal_memory *m = &request->pools[i].memory;
        if (!is_staged(&request->pools[i]) || m->protection & HAL_MEMORY_WRITE)
            continue;
        const uint8_t *after = q->c->staging.address + at[i];
        if (memcmp(m->address, after, m->size) == 0)
            continue;
        int input = find_changed(request, i, m->address, after);
        if (input >= 0)
            remote_record_violation(q->r, "input %d was written to", input);
        else
            remote_record_violation(q->r, "read-only pool %u was written to", i);
    }
}

static enum hal_status take_result(struct remote_call *q, enum hal_status status,
                                   struct hal_result *result)
{
    if (wire_decode_result(q->reply->n_shapes, q->reply->shapes, q->reply->timing, result,
                           &q->why) == 0) {
        result->n_shapes += q->reply->more;
        return status;
    }
    why_prefix(&q->why, "the service returned an invalid result");
    remote_disconnect(q->r, &q->why);
    hal_clear_result(result);
    return HAL_DEVICE_UNAVAILABLE;
}

enum hal_status remote_run_staged(struct remote_call *q, const struct hal_request *request,
                                  const struct hal_execution_config *config,
                                  struct hal_result *result)
{
    enum hal_status status;
    struct staged staged;

    if (wire_check_lists(&hal_request_record, request, &q->why) < 0 ||
        stage(q, request, &staged) < 0 || put_config(q, config) < 0 ||
        wire_encode_request(request, staged.at, q->a, &q->fds, &q->call.request, &q->why) < 0)
        return remote_failure(q);
    status = remote_run(q);
    unstage(q, &staged);
    if (q->reply)
        check_read_only(q, request, staged.at);
    return q->reply ? take_result(q, status, result) : status;
}

static enum hal_status execute_synchronously(struct hal_prepared_model *self,
                                             enum hal_version version,
                                             const struct hal_request *request,
                                             const struct hal_execution_config *config,
                                             struct hal_result *result)
{
    struct remote_prepared *p = (struct remote_prepared *) self;
    struct remote_call q;
    enum hal_status status;

    hal_clear_result(result);
    if (remote_begin(p->r, WIRE__METHOD__EXECUTE_SYNCHRONOUSLY, version, &q) < 0)
        return remote_failure(&q);
    q.call.object = p->handle;
    status = remote_run_staged(&q, request, config, result);
    remote_end(&q);
    return status;
}

/* ---- executions that outlast the call: pools of kind ADDRESS are copied to a file of their own */

/* now: copy the pools at once; else the caller does it later, after fences have signalled or before
 * each computation. */
static int put_shared(struct remote_call *q, const struct hal_request *request,
                      const struct hal_execution_config *config, bool now,
                      struct shared_pools **ret_shared)
{
    struct hal_request crossing;

    TRY(wire_check_lists(&hal_request_record, request, &q->why));
    TRY(shared_pools_of_request(request, q->a, ret_shared, &crossing, &q->why));
    if (now)
        shared_pools_copy_in(*ret_shared);
    TRY(put_config(q, config));
    return wire_encode_request(&crossing, NULL, q->a, &q->fds, &q->call.request, &q->why);
}

static enum hal_status execute(struct hal_prepared_model *self, enum hal_version version,
                               const struct hal_request *request,
                               const struct hal_execution_config *config,
                               struct hal_execution_callback *callback)
{
    struct remote_prepared *p = (struct remote_prepared *) self;
    struct remote_callback c = { .execution = callback };
    struct remote_call q;
    enum hal_status status;

    if (remote_begin(p->r, WIRE__METHOD__EXECUTE, version, &q) < 0)
        return hal_fail_execution(callback, remote_failure(&q));
    q.call.object = p->handle;
    if (put_shared(&q, request, config, true, &c.shared) < 0 || remote_add_callback(&q, &c) < 0) {
        shared_pools_unref(c.shared);
        remote_end(&q);
        return hal_fail_execution(callback, remote_failure(&q));
    }
    status = remote_run(&q);
    if (remote_launch_failed(&q, &status))
        hal_fail_execution(callback, status);
    remote_end(&q);
    return status;
}

/* ---- fenced */

static enum hal_status execute_fenced(struct hal_prepared_model *self, enum hal_version version,
                                      const struct hal_request *request, uint32_t n_wait_for,
                                      const int *wait_for,
                                      const struct hal_execution_config *config, uint64_t duration,
                                      int *ret_fence, struct hal_fenced_info **ret_info)
{
    struct remote_prepared *p = (struct remote_prepared *) self;
    struct shared_pools *shared = NULL;
    struct remote_call q;
    enum hal_status status;

    *ret_fence = HAL_NO_FENCE;
    *ret_info = NULL;
    if (remote_begin(p->r, WIRE__METHOD__EXECUTE_FENCED, version, &q) < 0)
        return remote_failure(&q);
    q.call.object = p->handle;
    q.call.duration = duration;
    if (put_shared(&q, request, config, n_wait_for == 0, &shared) < 0)
        status = remote_failure(&q);
    else
        status = remote_run_fenced(&q, n_wait_for, wait_for, shared, ret_fence, ret_info);
    shared_pools_unref(shared);
    remote_end(&q);
    return status;
}

/* ---- reusable executions: one memory file for all computations */

struct remote_execution {
    struct hal_execution base;
    struct remote *r;
    uint64_t handle;
    uint32_t n_outputs;
    struct shared_pools *shared;
};

static enum hal_status reusable_execute(struct hal_execution *self, uint64_t deadline,
                                        struct hal_result *result)
{
    struct remote_execution *x = (struct remote_execution *) self;
    struct remote_call q;
    enum hal_status status;

    hal_clear_result(result);
    if (result->capacity < x->n_outputs)
        return remote_reject("there is no space for the shapes of all outputs");
    if (remote_begin(x->r, WIRE__METHOD__REUSABLE_EXECUTE, 0, &q) < 0)
        return remote_failure(&q);
    if (!shared_pools_lock(x->shared)) {
        remote_end(&q);
        failure_text_set("the previous computation has not ended");
        return HAL_GENERAL_FAILURE;
    }
    q.call.object = x->handle;
    q.call.duration = deadline;
    shared_pools_copy_in(x->shared);
    status = remote_run(&q);
    shared_pools_copy_out(x->shared);
    shared_pools_unlock(x->shared);
    if (q.reply)
        status = take_result(&q, status, result);
    remote_end(&q);
    return status;
}

static enum hal_status reusable_fenced(struct hal_execution *self, uint32_t n_wait_for,
                                       const int *wait_for, uint64_t deadline, uint64_t duration,
                                       int *ret_fence, struct hal_fenced_info **ret_info)
{
    const struct hal_execution_config config = { .deadline = deadline,
                                                 .loop_timeout = HAL_NO_TIME };
    struct remote_execution *x = (struct remote_execution *) self;
    struct remote_call q;
    enum hal_status status;

    *ret_fence = HAL_NO_FENCE;
    *ret_info = NULL;
    if (remote_begin(x->r, WIRE__METHOD__REUSABLE_EXECUTE_FENCED, 0, &q) < 0)
        return remote_failure(&q);
    q.call.object = x->handle;
    q.call.duration = duration;
    if (put_config(&q, &config) < 0) {
        status = remote_failure(&q);
    } else if (!shared_pools_lock(x->shared)) {
        failure_text_set("the previous computation has not ended");
        status = HAL_GENERAL_FAILURE;
    } else {
        if (n_wait_for == 0)
            shared_pools_copy_in(x->shared);
        status = remote_run_fenced(&q, n_wait_for, wait_for, x->shared, ret_fence, ret_info);
    }
    remote_end(&q);
    return status;
}

static void release_execution(struct hal_execution *self)
{
    struct remote_execution *x = (struct remote_execution *) self;

    remote_release(x->r, x->handle);
    shared_pools_unref(x->shared);
    free(x);
}

static enum hal_status create_reusable(struct hal_prepared_model *self,
                                       const struct hal_request *request,
                                       const struct hal_execution_config *config,
                                       struct hal_execution **ret_execution)
{
    static const struct hal_execution_methods methods = { reusable_execute, reusable_fenced,
                                                          release_execution };
    struct remote_prepared *p = (struct remote_prepared *) self;
    struct remote_execution *x = malloc(sizeof(*x));
    struct shared_pools *shared = NULL;
    struct remote_call q;
    enum hal_status status;

    if (!x)
        return HAL_RESOURCE_EXHAUSTED_TRANSIENT;
    if (remote_begin(p->r, WIRE__METHOD__CREATE_REUSABLE_EXECUTION, 0, &q) < 0) {
        free(x);
        return remote_failure(&q);
    }
    q.call.object = p->handle;
    status =
        put_shared(&q, request, config, false, &shared) < 0 ? remote_failure(&q) : remote_run(&q);
    if (status == HAL_NONE && q.reply->object) { /* without object: a violation for the client */
        *x = (struct remote_execution){
            { &methods }, p->r, q.reply->object, request->n_outputs, shared
        };
        *ret_execution = &x->base;
    } else {
        shared_pools_unref(shared);
        free(x);
    }
    remote_end(&q);
    return status;
}

static const struct hal_prepared_model_methods prepared_methods = {
    .execute_synchronously = execute_synchronously,
    .execute = execute,
    .execute_fenced = execute_fenced,
    .configure_burst = remote_configure_burst,
    .create_reusable_execution = create_reusable,
    .release = release_prepared,
};
