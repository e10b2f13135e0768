/* Memories, models, requests and results of sim/hal.h as messages. */
#include <inttypes.h>

#include "sim/hal/hal_result.h"
#include "sim/wire/wire_records.h"

/* ---- memories */

int wire_put_memory(const struct hal_memory *hal, struct wire_passing *p, Wire__Memory *ret_message,
                    struct why *w)
{
    Wire__Memory *m = ret_message;

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

int wire_take_memory(const Wire__Memory *m, struct wire_passing *p, struct hal_memory *ret_hal,
                     struct why *w)
{
    const struct wire_staging *s = p->staging;

    *ret_hal = (struct hal_memory){ .kind = (enum hal_memory_kind) m->kind,
                                    .protection = m->protection,
                                    .fd = wire_fd(p->received, m->fd),
                                    .offset = m->offset,
                                    .size = m->size };
    if (m->kind != HAL_MEMORY_ADDRESS)
        return 0;
    REQUIRE(w, s && s->address && m->offset <= s->size && m->size <= s->size - m->offset,
            "%" PRIu64 " bytes at %" PRIu64 " exceed the staging memory", m->size, m->offset);
    ret_hal->address = s->address + m->offset;
    ret_hal->offset = 0;
    return 0;
}

int wire_encode_memory(const struct hal_memory *hal, uint64_t staged, struct arena *a,
                       struct wire_fds *fds, Wire__Memory **ret_memory, struct why *w)
{
    struct wire_passing p = { .arena = a, .fds = fds, .staged = &staged };

    return wire_put(&hal_memory_record, &wire__memory__descriptor, hal, &p, ret_memory, w);
}

int wire_decode_memory(const Wire__Memory *m, const struct wire_fds *fds,
                       const struct wire_staging *s, struct hal_memory *ret_hal, struct why *w)
{
    struct wire_passing p = { .received = fds, .staging = s };

    return wire_take_memory(m, &p, ret_hal, w);
}

/* ---- models and requests */

int wire_encode_model(const struct hal_model *hal, struct arena *a, struct wire_fds *fds,
                      Wire__Model **ret_model, struct why *w)
{
    struct wire_passing p = { .arena = a, .fds = fds };

    return wire_put(&hal_model_record, &wire__model__descriptor, hal, &p, ret_model, w);
}

int wire_encode_request(const struct hal_request *hal, const uint64_t *staged, struct arena *a,
                        struct wire_fds *fds, Wire__Request **ret_request, struct why *w)
{
    struct wire_passing p = { .arena = a, .fds = fds, .staged = staged };

    return wire_put(&hal_request_record, &wire__request__descriptor, hal, &p, ret_request, w);
}

int wire_decode_model(const Wire__Model *m, const struct wire_fds *fds, struct arena *a,
                      struct hal_model *ret_hal, struct why *w)
{
    struct wire_passing p = { .arena = a, .received = fds };

    return wire_take(&hal_model_record, m, &p, ret_hal, w);
}

int wire_decode_request(const Wire__Request *m, const struct wire_fds *fds,
                        const struct wire_staging *s, struct arena *a, struct hal_request *ret_hal,
                        struct why *w)
{
    struct wire_passing p = { .arena = a, .received = fds, .staging = s };

    return wire_take(&hal_request_record, m, &p, ret_hal, w);
}

/* ---- results of executions */

int wire_encode_result(uint32_t n, const struct hal_output_shape *shapes,
                       const struct hal_timing *timing, struct arena *a, size_t *ret_n,
                       Wire__OutputShape ***ret_shapes, Wire__Timing **ret_timing, struct why *w)
{
    struct wire_passing p = { .arena = a };

    TRY(wire_put_list(&hal_output_shape_record, &wire__output_shape__descriptor, shapes, n, &p,
                      ret_shapes, w));
    *ret_n = n;
    return wire_put(&hal_timing_record, &wire__timing__descriptor, timing, &p, ret_timing, w);
}

struct hal_timing wire_decode_timing(const Wire__Timing *m)
{
    struct hal_timing t = hal_unknown_timing;
    struct wire_passing none = { 0 };
    struct why w;

    if (m)
        wire_take(&hal_timing_record, m, &none, &t, &w);
    return t;
}

int wire_decode_result(size_t n, Wire__OutputShape *const *shapes, const Wire__Timing *timing,
                       struct hal_result *result, struct why *w)
{
    struct wire_passing none = { 0 };

    REQUIRE(w, n <= result->capacity, "%zu shapes for %u outputs", n, result->capacity);
    for (size_t i = 0; i < n; i++)
        TRY(wire_take(&hal_output_shape_record, shapes[i], &none, &result->shapes[i], w));
    result->n_shapes = (uint32_t) n;
    result->timing = wire_decode_timing(timing);
    return 0;
}
