#include "sim/hal/argument_check.h"

#include <inttypes.h>

/* ---- models */

static int load_pools(const struct hal_model *hal, enum hal_version version, struct loaded_model *l,
                      struct why *w)
{
    REQUIRE(w, !hal->n_pools || hal->pools, "the list of pools is NULL");
    l->pools = arena_alloc(l->arena, hal->n_pools, sizeof(*l->pools));
    if (!l->pools)
        return why_no_memory(w);
    for (; l->n_pools < hal->n_pools; l->n_pools++)
        if (hal_memory_complies(&hal->pools[l->n_pools], version, w) < 0 ||
            memory_map(&hal->pools[l->n_pools], false, &l->pools[l->n_pools], w) < 0)
            return why_prefix(w, "pool %u", l->n_pools);
    return 0;
}

static int load(const struct hal_model *hal, enum hal_version version, extension_set known,
                struct loaded_model *l, struct why *w)
{
    TRY(load_pools(hal, version, l, w));
    TRY(convert_from_hal(hal, version, known, l->pools, l->arena, &l->model, w));
    int level = model_prepare(&l->model, NULL, w);
    TRY(level);
    REQUIRE(w, level <= hal_level(version), "the model needs feature level %d, the call has %d",
            level, hal_level(version));
    return 0;
}

int loaded_model_open(const struct hal_model *hal, enum hal_version version, extension_set known,
                      struct loaded_model *ret_loaded, struct why *w)
{
    struct loaded_model l = { .arena = arena_new(0) };

    if (!l.arena)
        return why_no_memory(w);
    if (load(hal, version, known, &l, w) < 0) {
        loaded_model_close(&l);
        return -1;
    }
    *ret_loaded = l;
    return 0;
}

void loaded_model_close(struct loaded_model *l)
{
    for (uint32_t i = 0; i < l->n_pools; i++)
        memory_unmap(&l->pools[i]);
    arena_free(l->arena);
}

/* ---- configurations */

int hal_prepare_config_check(const struct hal_prepare_config *c, enum hal_version version,
                             struct why *w)
{
    TRY(hal_prepare_config_complies(c, version, w));
    TRY(extension_codes_check_hints(c->n_hints, c->hints, c->n_extension_prefixes,
                                    c->extension_name_to_prefix, w));
    REQUIRE(w, c->preference >= HAL_LOW_POWER && c->preference <= HAL_SUSTAINED_SPEED,
            "preference %d, expected 0 to 2", (int) c->preference);
    REQUIRE(w, c->priority >= HAL_PRIORITY_LOW && c->priority <= HAL_PRIORITY_HIGH,
            "priority %d, expected 0 to 2", (int) c->priority);
    REQUIRE(w, !c->cache.n_model || c->cache.model, "the list of model cache files is NULL");
    REQUIRE(w, !c->cache.n_data || c->cache.data, "the list of data cache files is NULL");
    return 0;
}

int hal_execution_config_check(const struct hal_execution_config *c, enum hal_version version,
                               struct why *w)
{
    TRY(hal_execution_config_complies(c, version, w));
    return extension_codes_check_hints(c->n_hints, c->hints, c->n_extension_prefixes,
                                       c->extension_name_to_prefix, w);
}

/* ---- requests */

int hal_request_check_lists(const struct hal_request *hal, uint32_t n_inputs, uint32_t n_outputs,
                            enum hal_version version, struct why *w)
{
    REQUIRE(w,
            (!hal->n_inputs || hal->inputs) && (!hal->n_outputs || hal->outputs) &&
                (!hal->n_pools || hal->pools),
            "request with a list that is NULL");
    TRY(hal_request_complies(hal, version, w));
    REQUIRE(w, hal->n_inputs == n_inputs && hal->n_outputs == n_outputs,
            "%u inputs and %u outputs; the model has %u and %u", hal->n_inputs, hal->n_outputs,
            n_inputs, n_outputs);
    for (uint32_t i = 0; i < hal->n_pools; i++) {
        const struct hal_memory *m = &hal->pools[i].memory;
        if (!hal->pools[i].is_token && (hal_memory_complies(m, version, w) < 0 ||
                                        memory_check(m, m->protection & HAL_MEMORY_WRITE, w) < 0))
            return why_prefix(w, "pool %u", i);
    }
    return 0;
}

/* The shape that model and request specify together. */
static int merge_shape(const struct hal_argument *a, const struct tensor *declared,
                       struct shape *ret_shape, struct why *w)
{
    struct shape s = declared->shape;

    REQUIRE(w, !a->n_dims || a->dims, "dimensions are missing");
    REQUIRE(w, a->n_dims <= MAX_RANK, "rank %u, at most %d", a->n_dims, MAX_RANK);
    REQUIRE(w, !a->n_dims || dtype_info[declared->dtype].tensor, "a scalar with dimensions");
    REQUIRE(w, !a->n_dims || !s.rank || a->n_dims == s.rank, "rank %u, declared %u", a->n_dims,
            s.rank);
    for (uint32_t d = 0; d < a->n_dims; d++) {
        bool open = d >= s.rank || s.dim[d] == 0;
        REQUIRE(w, open || !a->dims[d] || a->dims[d] == s.dim[d], "dimension %u is %u, declared %u",
                d, a->dims[d], s.dim[d]);
        s.dim[d] = open ? a->dims[d] : s.dim[d];
    }
    s.rank = a->n_dims ? a->n_dims : s.rank;
    *ret_shape = s;
    return 0;
}

static int check_location(const struct hal_request *hal, const struct hal_location *l,
                          bool is_output, struct why *w)
{
    REQUIRE(w, l->pool < hal->n_pools, "pool %u of %u", l->pool, hal->n_pools);
    const struct hal_request_pool *p = &hal->pools[l->pool];
    const struct mapping pool = { .size = p->memory.size };

    if (p->is_token) {
        REQUIRE(w, !l->offset && !l->length && !l->padding,
                "buffer %u with an offset, length or padding", p->token);
        return 0;
    }
    REQUIRE(w, !is_output || p->memory.protection & HAL_MEMORY_WRITE, "pool %u is not writable",
            l->pool);
    REQUIRE(w, mapping_contains(&pool, l->offset, l->length),
            "%" PRIu64 " bytes at offset %" PRIu64 " of %" PRIu64, l->length, l->offset, pool.size);
    REQUIRE(w, mapping_contains(&pool, l->offset + l->length, l->padding),
            "%" PRIu64 " bytes of padding at offset %" PRIu64 " of %" PRIu64, l->padding,
            l->offset + l->length, pool.size);
    return 0;
}

static int check_left_out(const struct hal_argument *a, struct why *w)
{
    const struct hal_location *l = &a->location;

    REQUIRE(w, !l->pool && !l->offset && !l->length && !l->padding && !a->n_dims,
            "omitted, but with a location or dimensions");
    return 0;
}

/* The shape of an input in memory, and its length. */
static int check_memory_input(const struct hal_argument *a, enum hal_version version,
                              const struct tensor *t, struct why *w)
{
    const struct dtype_info *info = &dtype_info[t->dtype];
    bool known = !info->tensor || shape_known(&t->shape);

    if (t->dtype == DT_FOREIGN)
        return 0;
    /* A dimension of 0 is unknown, unless the request itself specifies it and the value has no
     * bytes. */
    REQUIRE(w, !info->tensor || (t->shape.rank && (known || (a->n_dims && !a->location.length))),
            "shape is not fully specified");
    REQUIRE(w, version >= HAL_1_2 || known, "a dimension of 0 before HAL 1.2");
    REQUIRE(w, shape_check_size(&t->shape, info->codec->size) == 0, "too large");
    REQUIRE(w, a->location.length == tensor_bytes(t), "%" PRIu64 " bytes, expected %zu",
            a->location.length, tensor_bytes(t));
    return 0;
}

int hal_request_check_input(const struct hal_request *hal, uint32_t i,
                            const struct tensor *declared, enum hal_version version,
                            struct shape *ret_shape, struct why *w)
{
    const struct hal_argument *a = &hal->inputs[i];
    struct tensor t = *declared;

    if (a->has_no_value) {
        TRY(check_left_out(a, w));
    } else {
        TRY(merge_shape(a, declared, &t.shape, w));
        TRY(check_location(hal, &a->location, false, w));
        if (!hal->pools[a->location.pool].is_token)
            TRY(check_memory_input(a, version, &t, w));
    }
    *ret_shape = t.shape;
    return 0;
}

int hal_request_check_output(const struct hal_request *hal, uint32_t i,
                             const struct tensor *declared, enum hal_version version,
                             struct shape *ret_shape, struct why *w)
{
    const struct hal_argument *a = &hal->outputs[i];
    struct shape shape = declared->shape;

    if (a->has_no_value) {
        TRY(check_left_out(a, w));
    } else {
        TRY(merge_shape(a, declared, &shape, w));
        REQUIRE(w, version >= HAL_1_2 || !dtype_info[declared->dtype].tensor || shape_known(&shape),
                "shape must be known before HAL 1.2");
        TRY(check_location(hal, &a->location, true, w));
    }
    *ret_shape = shape;
    return 0;
}
