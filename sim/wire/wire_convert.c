/* Memories, models and requests of sim/hal.h as messages. */
#include <inttypes.h>

#include "sim/wire/wire_records.h"

/* ---- memories, whose addresses mean nothing to another process */

static int put_memory(const void *from, struct wire_passing *p, ProtobufCMessage *to, struct why *w)
{
    const struct hal_memory *hal = from;
    Wire__Memory *m = (Wire__Memory *) to;

    REQUIRE(w, hal->kind != HAL_MEMORY_ADDRESS || (hal->address && hal->size),
            "the address of a memory is NULL or its size 0");
    m->kind = (uint32_t) hal->kind;
    m->protection = hal->protection;
    m->offset = hal->kind != HAL_MEMORY_ADDRESS ? hal->offset : p->staged ? p->staged[p->index] : 0;
    m->size = hal->size;
    if (hal->kind != HAL_MEMORY_ADDRESS) {
        TRY(wire_find_or_put_fd(p->fds, hal->fd, &m->fd, w));
        REQUIRE(w, m->fd, "descriptor %d is not open", hal->fd);
    }
    return 0;
}

static int take_memory(const ProtobufCMessage *from, struct wire_passing *p, void *to,
                       struct why *w)
{
    const Wire__Memory *m = (const Wire__Memory *) from;
    const struct wire_staging *s = p->staging;
    struct hal_memory *h = to;

    *h = (struct hal_memory){ .kind = (enum hal_memory_kind) m->kind,
                              .protection = m->protection,
                              .fd = wire_fd(p->received, m->fd),
                              .offset = m->offset,
                              .size = m->size };
    if (m->kind != HAL_MEMORY_ADDRESS)
        return 0;
    REQUIRE(w, s && s->address && m->offset <= s->size && m->size <= s->size - m->offset,
            "%" PRIu64 " bytes at %" PRIu64 " exceed the staging memory", m->size, m->offset);
    h->address = s->address + m->offset;
    h->offset = 0;
    return 0;
}

const struct wire_record wire_memory_record = { .name = "hal_memory",
                                                .size = sizeof(struct hal_memory),
                                                .message = &wire__memory__descriptor,
                                                .put = put_memory,
                                                .take = take_memory };

int wire_encode_memory(const struct hal_memory *hal, uint64_t staged, struct arena *a,
                       struct wire_fds *fds, Wire__Memory **ret_memory, struct why *w)
{
    struct wire_passing p = { .arena = a, .fds = fds, .staged = &staged };

    return wire_put(&wire_memory_record, hal, &p, ret_memory, w);
}

int wire_decode_memory(const Wire__Memory *m, const struct wire_fds *fds,
                       const struct wire_staging *s, struct hal_memory *ret_hal, struct why *w)
{
    struct wire_passing p = { .received = fds, .staging = s };

    return wire_take(&wire_memory_record, m, &p, ret_hal, w);
}

/* ---- models and requests */

int wire_encode_model(const struct hal_model *hal, struct arena *a, struct wire_fds *fds,
                      Wire__Model **ret_model, struct why *w)
{
    struct wire_passing p = { .arena = a, .fds = fds };

    return wire_put(&wire_model_record, hal, &p, ret_model, w);
}

int wire_encode_request(const struct hal_request *hal, const uint64_t *staged, struct arena *a,
                        struct wire_fds *fds, Wire__Request **ret_request, struct why *w)
{
    struct wire_passing p = { .arena = a, .fds = fds, .staged = staged };

    return wire_put(&wire_request_record, hal, &p, ret_request, w);
}

int wire_decode_model(const Wire__Model *m, const struct wire_fds *fds, struct arena *a,
                      struct hal_model *ret_hal, struct why *w)
{
    struct wire_passing p = { .arena = a, .received = fds };

    return wire_take(&wire_model_record, m, &p, ret_hal, w);
}

int wire_decode_request(const Wire__Request *m, const struct wire_fds *fds,
                        const struct wire_staging *s, struct arena *a, struct hal_request *ret_hal,
                        struct why *w)
{
    struct wire_passing p = { .arena = a, .received = fds, .staging = s };

    return wire_take(&wire_request_record, m, &p, ret_hal, w);
}
