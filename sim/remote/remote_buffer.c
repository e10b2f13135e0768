/* Buffers (memory domains) of a driver in another process. */
#include <stdlib.h>
#include <string.h>

#include "sim/base/memory.h"
#include "sim/remote/remote_internal.h"

struct remote_buffer {
    struct hal_buffer base;
    struct remote *r;
    uint64_t handle;
};

/* Copies memory of kind ADDRESS through the channel's staging memory. */
static enum hal_status copy_staged(struct remote_call *q, const struct hal_memory *m, bool back)
{
    bool staged = memory_is_plain(m);
    enum hal_status status;

    if (staged && m->size > SIZE_MAX / 4)
        return HAL_INVALID_ARGUMENT;
    if ((staged && remote_grow_staging(q, m->size) < 0) ||
        wire_encode_memory(m, 0, q->a, &q->fds, &q->call.memory, &q->why) < 0)
        return remote_failure(q);
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

    if (remote_begin(b->r, WIRE__METHOD__COPY_TO, 0, &q) < 0)
        return remote_failure(&q);
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

    if (n_dims && !dims)
        return HAL_INVALID_ARGUMENT;
    if (remote_begin(b->r, WIRE__METHOD__COPY_FROM, 0, &q) < 0)
        return remote_failure(&q);
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
