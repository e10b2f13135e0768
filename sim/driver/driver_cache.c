/* Compilation caching: writes prepared models to the client's cache files and reads them back. */
#include <string.h>

#include "golden/base/logging.h"
#include "golden/base/trace.h"
#include "sim/driver/compilation_cache.h"
#include "sim/driver/driver.h"
#include "sim/wire/wire.h"

#define LOG_TAG "CompilationCache"

/* Alignment within operand_values of a constant by reference, sufficient for every element type. */
enum { ALIGNMENT = 64 };

static struct cache_owner owner_of(const struct engine *e)
{
    bool has_caches = e->hal >= HAL_1_2;

    return (struct cache_owner){ e->name, e->version, has_caches ? e->model_cache_files : 0,
                                 has_caches ? e->data_cache_files : 0 };
}

void driver_cache_files(const struct engine *e, uint32_t *ret_n_model, uint32_t *ret_n_data)
{
    struct cache_owner o = owner_of(e);

    *ret_n_model = o.n_model;
    *ret_n_data = o.n_data;
}

/* ---- saving: constants by reference become constants by copy */

static uint64_t aligned(uint64_t n)
{
    return (n + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* Turns a graph's constants by reference into constants by copy, at offsets from *at on. */
static int place_constants(const struct hal_subgraph *from, struct arena *a,
                           struct hal_subgraph *to, uint64_t *at, struct why *w)
{
    struct hal_operand *o = arena_copy(a, from->operands, from->n_operands * sizeof(*o));

    if (!o)
        return why_no_memory(w);
    *to = *from;
    to->operands = o;
    for (uint32_t i = 0; i < from->n_operands; i++)
        if (o[i].lifetime == HAL_CONSTANT_REFERENCE) {
            o[i].lifetime = HAL_CONSTANT_COPY;
            o[i].location.pool = 0;
            o[i].location.offset = *at;
            *at = aligned(*at + o[i].location.length);
            REQUIRE(w, *at <= WIRE_MAX, "a model with more than %d bytes of constants", WIRE_MAX);
        }
    return 0;
}

static void copy_constants(const struct hal_subgraph *from, const struct hal_subgraph *to,
                           const struct mapping *pools, uint8_t *values)
{
    for (uint32_t i = 0; i < from->n_operands; i++) {
        const struct hal_operand *o = &from->operands[i];
        if (o->lifetime == HAL_CONSTANT_REFERENCE)
            memcpy(values + to->operands[i].location.offset,
                   pools[o->location.pool].address + o->location.offset, o->location.length);
    }
}

/* The same model without pools.  hal: a model whose locations convert_from_hal() has checked. */
static int inline_pools(const struct hal_model *hal, const struct mapping *pools, struct arena *a,
                        struct hal_model *ret_hal, struct why *w)
{
    struct hal_subgraph *referenced = arena_alloc(a, hal->n_referenced, sizeof(*referenced));
    struct hal_model h = *hal;
    uint64_t n = hal->operand_values_length;
    uint8_t *values;

    if (!referenced)
        return why_no_memory(w);
    REQUIRE(w, n <= WIRE_MAX, "a model with more than %d bytes of constants", WIRE_MAX);
    n = aligned(n);
    TRY(place_constants(&hal->main, a, &h.main, &n, w));
    for (uint32_t i = 0; i < hal->n_referenced; i++)
        TRY(place_constants(&hal->referenced[i], a, &referenced[i], &n, w));
    if (!(values = arena_alloc(a, n, 1)))
        return why_no_memory(w);
    if (hal->operand_values_length)
        memcpy(values, hal->operand_values, hal->operand_values_length);
    copy_constants(&hal->main, &h.main, pools, values);
    for (uint32_t i = 0; i < hal->n_referenced; i++)
        copy_constants(&hal->referenced[i], &referenced[i], pools, values);
    h.referenced = referenced;
    h.n_pools = 0;
    h.operand_values = values;
    h.operand_values_length = n;
    *ret_hal = h;
    return 0;
}

static int save(const struct cache_owner *o, const struct hal_cache *cache,
                const struct hal_model *hal, struct cache_entry e, const struct mapping *pools,
                struct arena *a, struct why *w)
{
    struct wire_fds none = { 0 };
    struct hal_model alone;
    Wire__Model *m;

    TRY(inline_pools(hal, pools, a, &alone, w));
    TRY(wire_encode_model(&alone, a, &none, &m, w));
    m->operand_values = (ProtobufCBinaryData){ 0 };
    size_t n = protobuf_c_message_get_packed_size(&m->base);
    uint8_t *graph = arena_alloc_raw(a, n, 1);
    if (!graph)
        return why_no_memory(w);
    protobuf_c_message_pack(&m->base, graph);
    e.graph = graph;
    e.n_graph = n;
    e.constants = alone.operand_values;
    e.n_constants = alone.operand_values_length;
    return cache_write(o, cache, &e, w);
}

void driver_cache_save(const struct driver *d, const struct hal_cache *cache,
                       const struct hal_model *hal, enum hal_version version,
                       enum hal_priority priority, const struct loaded_model *l)
{
    const struct cache_entry e = { .version = version, .priority = priority };
    struct cache_owner o = owner_of(d->engine);
    struct arena *a;
    struct why w;

    TRACE(LD, PC, "write the cache");
    if (version < HAL_1_2 || !cache_has_files(&o, cache) || !(a = arena_new(0)))
        return;
    if (save(&o, cache, hal, e, l->pools, a, &w) < 0)
        VLOG(COMPILATION, "the model is not cached: %s", w.text);
    else
        VLOG(COMPILATION, "the model is cached in %u model and %u data files", o.n_model, o.n_data);
    arena_free(a);
}

/* ---- restoring */

static void *arena_take(void *a, size_t size)
{
    return arena_alloc_raw(a, size, 1);
}

static void arena_keep(void *a, void *pointer)
{
    (void) a, (void) pointer;
}

enum hal_status driver_cache_load(const struct driver *d, const struct hal_cache *cache,
                                  struct arena *a, struct hal_model *ret_hal,
                                  enum hal_version *ret_version, enum hal_priority *ret_priority)
{
    ProtobufCAllocator allocator = { arena_take, arena_keep, a };
    struct cache_owner o = owner_of(d->engine);
    const struct wire_fds none = { 0 };
    struct cache_entry e;
    struct why w;

    if ((o.n_model || o.n_data) && !cache_has_files(&o, cache)) {
        VLOG(COMPILATION, "%u model and %u data cache files, expected %u and %u", cache->n_model,
             cache->n_data, o.n_model, o.n_data);
        return HAL_INVALID_ARGUMENT;
    }
    if (cache_read(&o, cache, a, &e, &w) < 0) {
        VLOG(COMPILATION, "the cache is not used: %s", w.text);
        return HAL_GENERAL_FAILURE;
    }
    Wire__Model *m = wire__model__unpack(&allocator, e.n_graph, e.graph);
    if (!m || wire_decode_model(m, &none, a, ret_hal, &w) < 0) {
        VLOG(COMPILATION, "the cache is not used: it does not contain a model");
        return HAL_GENERAL_FAILURE;
    }
    VLOG(COMPILATION, "the model is restored from the cache");
    ret_hal->operand_values = e.constants;
    ret_hal->operand_values_length = e.n_constants;
    *ret_version = e.version;
    *ret_priority = e.priority;
    return HAL_NONE;
}
