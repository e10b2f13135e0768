/* Prepared models, executions, bursts and buffers of another process. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sim/convert.h"
#include "sim/fence.h"
#include "sim/remote_internal.h"

struct remote_prepared {
    struct hal_prepared_model base;
    struct remote *r;
    uint64_t handle;
};

static const struct hal_prepared_model_methods prepared_methods;

struct hal_prepared_model *remote_prepared_new(struct remote *r, uint64_t handle)
{
    struct remote_prepared *p = malloc(sizeof(*p));

    if (!p) {
        remote_release(r, handle);
        return NULL;
    }
    *p = (struct remote_prepared){ { &prepared_methods }, r, handle };
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

static void no_result(struct hal_result *r)
{
    r->n_shapes = 0;
    r->timing = (struct hal_timing){ HAL_NO_TIME, HAL_NO_TIME };
}

static int put_config(struct remote_call *q, const struct hal_execution_config *config)
{
    Wire__ExecutionConfig *m = arena_alloc(q->a, 1, sizeof(*m));

    if (!m)
        return why_fail(&q->why, WHY_MEMORY, "out of memory");
    wire__execution_config__init(m);
    m->measure = config->measure;
    m->deadline = config->deadline;
    m->loop_timeout = config->loop_timeout;
    m->n_hints = config->n_hints;
    m->hints = remote_put_hints(q->a, config->n_hints, config->hints);
    q->call.execution = m;
    return m->hints ? 0 : why_fail(&q->why, WHY_MEMORY, "out of memory");
}

/* ---- executions that last as long as the call: memory goes through the channel's own */

enum { STAGING_ALIGNMENT = 64 };

static bool is_staged(const struct hal_request_pool *p)
{
    return !p->is_token && p->memory.kind == HAL_MEMORY_ADDRESS && p->memory.address;
}

/* Makes the channel's memory large enough, and tells the service. */
static int grow_staging(struct remote_call *q, uint64_t size)
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
        return -1;
    }
    if (s->address)
        munmap(s->address, s->size);
    *s = (struct wire_staging){ address, size };
    return 0;
}

static int stage(struct remote_call *q, const struct hal_request *request, uint64_t **ret_at)
{
    uint64_t *at = arena_alloc(q->a, request->n_pools, sizeof(*at)), size = 0;

    if (!at)
        return why_fail(&q->why, WHY_MEMORY, "out of memory");
    for (uint32_t i = 0; i < request->n_pools; i++) {
        if (!is_staged(&request->pools[i]))
            continue;
        at[i] = size;
        if (request->pools[i].memory.size > SIZE_MAX / 4 - size)
            return why_fail(&q->why, WHY_INVALID, "pool %u is too large", i);
        size += (request->pools[i].memory.size + STAGING_ALIGNMENT - 1) / STAGING_ALIGNMENT *
                STAGING_ALIGNMENT;
    }
    TRY(grow_staging(q, size));
    for (uint32_t i = 0; i < request->n_pools; i++)
        if (is_staged(&request->pools[i]))
            memcpy(q->c->staging.address + at[i], request->pools[i].memory.address,
                   request->pools[i].memory.size);
    *ret_at = at;
    return 0;
}

static void unstage(const struct remote_call *q, const struct hal_request *request,
                    const uint64_t *at)
{
    for (uint32_t i = 0; i < request->n_pools; i++)
        if (is_staged(&request->pools[i]) && request->pools[i].memory.protection & HAL_MEMORY_WRITE)
            memcpy(request->pools[i].memory.address, q->c->staging.address + at[i],
                   request->pools[i].memory.size);
}

static enum hal_status take_result(struct remote_call *q, enum hal_status status,
                                   struct hal_result *result)
{
    if (remote_take_result(q->reply->n_shapes, q->reply->shapes, q->reply->timing, result))
        return status;
    why_fail(&q->why, WHY_INVALID, "the service answers with %zu shapes for %u outputs",
             q->reply->n_shapes, result->capacity);
    remote_give_up(q->r, &q->why);
    no_result(result);
    return HAL_DEVICE_UNAVAILABLE;
}

/* A call that has been begun, with its object and what belongs to the method. */
static enum hal_status run_staged(struct remote_call *q, const struct hal_request *request,
                                  const struct hal_execution_config *config,
                                  struct hal_result *result)
{
    uint64_t *at;
    enum hal_status status;

    if (stage(q, request, &at) < 0 || put_config(q, config) < 0 ||
        wire_put_request(request, at, q->a, &q->fds, &q->call.request, &q->why) < 0)
        return hal_status_of(&q->why, HAL_1_3);
    status = remote_run(q);
    unstage(q, request, at);
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

    no_result(result);
    if (remote_begin(p->r, WIRE__METHOD__EXECUTE_SYNCHRONOUSLY, &q) < 0)
        return HAL_DEVICE_UNAVAILABLE;
    q.call.version = (int32_t) version;
    q.call.object = p->handle;
    status = run_staged(&q, request, config, result);
    remote_end(&q);
    return status;
}

/* ---- executions that outlast the call: memory goes through a file of their own */

static int put_shared(struct remote_call *q, const struct hal_request *request,
                      const struct hal_execution_config *config, struct shared **ret_shared)
{
    struct hal_request crossing;

    TRY(shared_request(request, q->a, ret_shared, &crossing, &q->why));
    TRY(put_config(q, config));
    return wire_put_request(&crossing, NULL, q->a, &q->fds, &q->call.request, &q->why);
}

static enum hal_status refuse(struct hal_execution_callback *callback, enum hal_status status)
{
    callback->notify(callback, status, 0, NULL, (struct hal_timing){ HAL_NO_TIME, HAL_NO_TIME });
    return status;
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

    if (remote_begin(p->r, WIRE__METHOD__EXECUTE, &q) < 0)
        return refuse(callback, HAL_DEVICE_UNAVAILABLE);
    q.call.version = (int32_t) version;
    q.call.object = p->handle;
    if (put_shared(&q, request, config, &c.shared) < 0 ||
        !(q.call.callback = remote_await(p->r, &c))) {
        shared_free(c.shared);
        remote_end(&q);
        return refuse(callback, hal_status_of(&q.why, HAL_1_3));
    }
    status = remote_run(&q);
    if (remote_is_dead(&p->r->base, NULL) && remote_forget(p->r, q.call.callback))
        refuse(callback, HAL_DEVICE_UNAVAILABLE);
    remote_end(&q);
    return status;
}

/* ---- fenced: where results have to be copied back, a fence of ours follows theirs */

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

    *ret_launched = *ret_fenced = (struct hal_timing){ HAL_NO_TIME, HAL_NO_TIME };
    if (remote_begin(i->r, WIRE__METHOD__GET_EXECUTION_INFO, &q) < 0)
        return HAL_DEVICE_UNAVAILABLE;
    q.call.object = i->handle;
    status = remote_run(&q);
    if (q.reply) {
        *ret_launched = remote_take_timing(q.reply->timing);
        *ret_fenced = remote_take_timing(q.reply->fenced);
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

struct follower {
    int theirs;
    struct fence ours;
    struct shared *shared;
};

static void *follow(void *argument)
{
    struct follower *f = argument;
    bool ok = fence_wait(1, &f->theirs, HAL_NO_TIME) == 1;

    shared_copy_out(f->shared);
    shared_free(f->shared);
    fence_end(&f->ours, ok);
    close(f->theirs);
    free(f);
    return NULL;
}

/* Takes the fence over; returns the one to hand out, or -1. */
static int follow_fence(int theirs, struct shared *shared)
{
    struct follower *f = malloc(sizeof(*f));
    pthread_t thread;
    int wait;

    if (!f || fence_open(&f->ours) < 0) {
        free(f);
        return -1;
    }
    f->theirs = theirs;
    f->shared = shared_keep(shared);
    wait = f->ours.wait;
    if (pthread_create(&thread, NULL, follow, f) != 0) {
        close(wait);
        fence_end(&f->ours, false);
        shared_free(f->shared);
        free(f);
        return -1;
    }
    pthread_detach(thread);
    return wait;
}

/* The fence that came with the reply, taken out of it. */
static int take_fence(struct remote_call *q)
{
    int fd = wire_fd(&q->reply_fds, q->reply->fd);

    if (fd >= 0)
        q->reply_fds.fd[q->reply->fd - 1] = -1;
    return fd;
}

static enum hal_status take_fenced(struct remote_call *q, struct shared *shared, int *ret_fence,
                                   struct hal_fenced_info **ret_info)
{
    struct info *i = malloc(sizeof(*i));
    int theirs = take_fence(q), fence = theirs;

    if (i && theirs >= 0 && shared_has_outputs(shared))
        fence = follow_fence(theirs, shared);
    else if (theirs < 0)
        shared_copy_out(shared);
    if (!i || (theirs >= 0 && fence < 0)) {
        /* The execution goes on without us, on memory that stays with the service. */
        if (theirs >= 0)
            close(theirs);
        free(i);
        return HAL_RESOURCE_EXHAUSTED_TRANSIENT;
    }
    *i = (struct info){ { &info_methods }, q->r, q->reply->info_object };
    *ret_fence = fence;
    *ret_info = &i->base;
    return HAL_NONE;
}

/* Waits in place of the service, so that memory of this process is copied when its time has come.
 */
struct leader {
    struct fence ours;
    struct shared *shared;
    uint32_t n;
    int wait_for[];
};

static void leader_free(struct leader *l)
{
    for (uint32_t i = 0; i < l->n; i++)
        close(l->wait_for[i]);
    shared_free(l->shared);
    free(l);
}

static void *lead(void *argument)
{
    struct leader *l = argument;
    bool ok = fence_wait(l->n, l->wait_for, HAL_NO_TIME) == 1;

    shared_copy_in(l->shared);
    fence_end(&l->ours, ok);
    leader_free(l);
    return NULL;
}

static struct leader *leader_new(uint32_t n, const int *fences, struct shared *shared)
{
    struct leader *l = calloc(1, sizeof(*l) + n * sizeof(int));

    if (!l)
        return NULL;
    l->shared = shared_keep(shared);
    for (; l->n < n; l->n++)
        if ((l->wait_for[l->n] = fcntl(fences[l->n], F_DUPFD_CLOEXEC, 0)) < 0)
            break;
    if (l->n == n && fence_open(&l->ours) == 0)
        return l;
    leader_free(l);
    return NULL;
}

/* The fence that the service waits for instead, the caller's to close; -1: no threads. */
static int lead_fences(uint32_t n, const int *fences, struct shared *shared)
{
    struct leader *l = leader_new(n, fences, shared);
    pthread_t thread;
    int wait;

    if (!l)
        return -1;
    wait = l->ours.wait;
    if (pthread_create(&thread, NULL, lead, l) == 0) {
        pthread_detach(thread);
        return wait;
    }
    close(wait);
    fence_end(&l->ours, false);
    leader_free(l);
    return -1;
}

static uint32_t *put_fences(struct remote_call *q, uint32_t n, const int *fences)
{
    uint32_t *names = arena_alloc(q->a, n, sizeof(*names));

    for (uint32_t i = 0; names && i < n; i++)
        names[i] = fence_all_open(1, &fences[i]) ? wire_put_fd(&q->fds, fences[i]) : 0;
    q->call.n_wait_for = n;
    q->call.wait_for = names;
    return names;
}

/* What the service is to wait for.  *ret_ours: a descriptor to be closed after the call, or -1. */
static int put_wait_for(struct remote_call *q, uint32_t n, const int *fences, struct shared *shared,
                        int *ret_ours)
{
    *ret_ours = -1;
    if (n && shared && fence_all_open(n, fences)) {
        *ret_ours = lead_fences(n, fences, shared);
        if (*ret_ours < 0)
            return why_fail(&q->why, WHY_MEMORY, "no thread to wait for fences");
        n = 1;
        fences = ret_ours;
    }
    return put_fences(q, n, fences) ? 0 : why_fail(&q->why, WHY_MEMORY, "out of memory");
}

static enum hal_status run_fenced(struct remote_call *q, uint32_t n_wait_for, const int *wait_for,
                                  struct shared *shared, int *ret_fence,
                                  struct hal_fenced_info **ret_info)
{
    enum hal_status status;
    int ours;

    if (put_wait_for(q, n_wait_for, wait_for, shared, &ours) < 0)
        return hal_status_of(&q->why, HAL_1_3);
    status = remote_run(q);
    if (ours >= 0)
        close(ours);
    return status == HAL_NONE ? take_fenced(q, shared, ret_fence, ret_info) : status;
}

static enum hal_status execute_fenced(struct hal_prepared_model *self, enum hal_version version,
                                      const struct hal_request *request, uint32_t n_wait_for,
                                      const int *wait_for,
                                      const struct hal_execution_config *config, uint64_t duration,
                                      int *ret_fence, struct hal_fenced_info **ret_info)
{
    struct remote_prepared *p = (struct remote_prepared *) self;
    struct shared *shared = NULL;
    struct remote_call q;
    enum hal_status status;

    *ret_fence = HAL_NO_FENCE;
    *ret_info = NULL;
    if (remote_begin(p->r, WIRE__METHOD__EXECUTE_FENCED, &q) < 0)
        return HAL_DEVICE_UNAVAILABLE;
    q.call.version = (int32_t) version;
    q.call.object = p->handle;
    q.call.duration = duration;
    if (put_shared(&q, request, config, &shared) < 0)
        status = hal_status_of(&q.why, HAL_1_3);
    else
        status = run_fenced(&q, n_wait_for, wait_for, shared, ret_fence, ret_info);
    shared_free(shared);
    remote_end(&q);
    return status;
}

/* ---- bursts */

struct remote_burst {
    struct hal_burst base;
    struct remote *r;
    uint64_t handle;
};

static enum hal_status burst_execute(struct hal_burst *self, const struct hal_request *request,
                                     uint32_t n_identifiers, const int64_t *identifiers,
                                     const struct hal_execution_config *config,
                                     struct hal_result *result)
{
    struct remote_burst *b = (struct remote_burst *) self;
    struct remote_call q;
    enum hal_status status;

    no_result(result);
    if (remote_begin(b->r, WIRE__METHOD__BURST_EXECUTE, &q) < 0)
        return HAL_DEVICE_UNAVAILABLE;
    q.call.object = b->handle;
    q.call.n_identifiers = n_identifiers;
    q.call.identifiers = (int64_t *) (uintptr_t) identifiers;
    status = run_staged(&q, request, config, result);
    remote_end(&q);
    return status;
}

static enum hal_status burst_release_memory(struct hal_burst *self, int64_t identifier)
{
    struct remote_burst *b = (struct remote_burst *) self;
    struct remote_call q;
    enum hal_status status;

    if (remote_begin(b->r, WIRE__METHOD__BURST_RELEASE_MEMORY, &q) < 0)
        return HAL_DEVICE_UNAVAILABLE;
    q.call.object = b->handle;
    q.call.identifier = identifier;
    status = remote_run(&q);
    remote_end(&q);
    return status;
}

static void release_burst(struct hal_burst *self)
{
    struct remote_burst *b = (struct remote_burst *) self;

    remote_release(b->r, b->handle);
    free(b);
}

static enum hal_status configure_burst(struct hal_prepared_model *self, enum hal_version version,
                                       struct hal_burst **ret_burst)
{
    static const struct hal_burst_methods methods = { burst_execute, burst_release_memory,
                                                      release_burst };
    struct remote_prepared *p = (struct remote_prepared *) self;
    struct remote_burst *b = malloc(sizeof(*b));
    struct remote_call q;
    enum hal_status status;

    if (!b || remote_begin(p->r, WIRE__METHOD__CONFIGURE_BURST, &q) < 0) {
        free(b);
        return HAL_DEVICE_UNAVAILABLE;
    }
    q.call.version = (int32_t) version;
    q.call.object = p->handle;
    status = remote_run(&q);
    if (status == HAL_NONE) {
        *b = (struct remote_burst){ { &methods }, p->r, q.reply->object };
        *ret_burst = &b->base;
    } else {
        free(b);
    }
    remote_end(&q);
    return status;
}

/* ---- reusable executions: their memory file lives as long as they do */

struct remote_execution {
    struct hal_execution base;
    struct remote *r;
    uint64_t handle;
    uint32_t n_outputs;
    struct shared *shared;
};

static enum hal_status reusable_execute(struct hal_execution *self, uint64_t deadline,
                                        struct hal_result *result)
{
    struct remote_execution *x = (struct remote_execution *) self;
    struct remote_call q;
    enum hal_status status;

    no_result(result);
    if (result->capacity < x->n_outputs)
        return HAL_INVALID_ARGUMENT;
    if (remote_begin(x->r, WIRE__METHOD__REUSABLE_EXECUTE, &q) < 0)
        return HAL_DEVICE_UNAVAILABLE;
    q.call.object = x->handle;
    q.call.duration = deadline;
    q.call.size = x->n_outputs;
    shared_copy_in(x->shared);
    status = remote_run(&q);
    shared_copy_out(x->shared);
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
    enum hal_status status = HAL_RESOURCE_EXHAUSTED_TRANSIENT;

    *ret_fence = HAL_NO_FENCE;
    *ret_info = NULL;
    if (remote_begin(x->r, WIRE__METHOD__REUSABLE_EXECUTE_FENCED, &q) < 0)
        return HAL_DEVICE_UNAVAILABLE;
    q.call.object = x->handle;
    q.call.duration = duration;
    shared_copy_in(x->shared);
    if (put_config(&q, &config) == 0)
        status = run_fenced(&q, n_wait_for, wait_for, x->shared, ret_fence, ret_info);
    remote_end(&q);
    return status;
}

static void release_execution(struct hal_execution *self)
{
    struct remote_execution *x = (struct remote_execution *) self;

    remote_release(x->r, x->handle);
    shared_free(x->shared);
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
    struct remote_execution *x = calloc(1, sizeof(*x));
    struct remote_call q;
    enum hal_status status;

    if (!x || remote_begin(p->r, WIRE__METHOD__CREATE_REUSABLE_EXECUTION, &q) < 0) {
        free(x);
        return HAL_DEVICE_UNAVAILABLE;
    }
    q.call.object = p->handle;
    status = put_shared(&q, request, config, &x->shared) < 0 ? hal_status_of(&q.why, HAL_1_3)
                                                             : remote_run(&q);
    if (status == HAL_NONE) {
        x->base.methods = &methods;
        x->r = p->r;
        x->handle = q.reply->object;
        x->n_outputs = request->n_outputs;
        *ret_execution = &x->base;
    } else {
        shared_free(x->shared);
        free(x);
    }
    remote_end(&q);
    return status;
}

static const struct hal_prepared_model_methods prepared_methods = {
    .execute_synchronously = execute_synchronously,
    .execute = execute,
    .execute_fenced = execute_fenced,
    .configure_burst = configure_burst,
    .create_reusable_execution = create_reusable,
    .release = release_prepared,
};

/* ---- buffers */

struct remote_buffer {
    struct hal_buffer base;
    struct remote *r;
    uint64_t handle;
};

/* Memory of this process is copied through the channel's. */
static enum hal_status copy_staged(struct remote_call *q, const struct hal_memory *m, bool back)
{
    bool staged = m->kind == HAL_MEMORY_ADDRESS && m->address;
    enum hal_status status;

    if ((staged && grow_staging(q, m->size) < 0) ||
        wire_put_memory(m, 0, q->a, &q->fds, &q->call.memory, &q->why) < 0)
        return hal_status_of(&q->why, HAL_1_3);
    if (staged && !back)
        memcpy(q->c->staging.address, m->address, m->size);
    status = remote_run(q);
    if (staged && back && status == HAL_NONE)
        memcpy(m->address, q->c->staging.address, m->size);
    return status;
}

static enum hal_status copy_to(struct hal_buffer *self, const struct hal_memory *to)
{
    struct remote_buffer *b = (struct remote_buffer *) self;
    struct remote_call q;
    enum hal_status status;

    if (remote_begin(b->r, WIRE__METHOD__COPY_TO, &q) < 0)
        return HAL_DEVICE_UNAVAILABLE;
    q.call.object = b->handle;
    status = copy_staged(&q, to, true);
    remote_end(&q);
    return status;
}

static enum hal_status copy_from(struct hal_buffer *self, const struct hal_memory *from,
                                 uint32_t n_dims, const uint32_t *dims)
{
    struct remote_buffer *b = (struct remote_buffer *) self;
    struct remote_call q;
    enum hal_status status;

    if (remote_begin(b->r, WIRE__METHOD__COPY_FROM, &q) < 0)
        return HAL_DEVICE_UNAVAILABLE;
    q.call.object = b->handle;
    q.call.n_dims = n_dims;
    q.call.dims = (uint32_t *) (uintptr_t) dims;
    status = copy_staged(&q, from, false);
    remote_end(&q);
    return status;
}

static void release_buffer(struct hal_buffer *self)
{
    struct remote_buffer *b = (struct remote_buffer *) self;

    remote_release(b->r, b->handle);
    free(b);
}

struct hal_buffer *remote_buffer_new(struct remote *r, uint64_t handle)
{
    static const struct hal_buffer_methods methods = { copy_to, copy_from, release_buffer };
    struct remote_buffer *b = malloc(sizeof(*b));

    if (!b) {
        remote_release(r, handle);
        return NULL;
    }
    *b = (struct remote_buffer){ { &methods }, r, handle };
    return &b->base;
}
