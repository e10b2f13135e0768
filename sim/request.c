#include "sim/request.h"

#include <inttypes.h>
#include <string.h>

#include "sim/convert.h"

static int no_memory(struct why *w)
{
    return why_fail(w, WHY_MEMORY, "request does not fit into the device's memory");
}

static int map_pools(const struct hal_request *hal, struct request *r, struct why *w)
{
    r->pools = arena_alloc(r->arena, hal->n_pools, sizeof(*r->pools));
    if (!r->pools)
        return no_memory(w);
    for (; r->n_pools < hal->n_pools; r->n_pools++) {
        const struct hal_request_pool *pool = &hal->pools[r->n_pools];
        REQUIRE(w, !pool->is_token, "pool %u: unknown token %u", r->n_pools, pool->token);
        bool write = pool->memory.protection & HAL_MEMORY_WRITE;
        if (memory_map(&pool->memory, write, &r->pools[r->n_pools], w) < 0)
            return why_prefix(w, "pool %u", r->n_pools);
    }
    return 0;
}

/* What model and request say of a shape, together. */
static int merge_shape(const struct hal_argument *a, const struct tensor *declared,
                       struct shape *ret_shape, struct why *w)
{
    struct shape s = declared->shape;

    REQUIRE(w, !a->n_dims || a->dims, "no dimensions");
    REQUIRE(w, a->n_dims <= MAX_RANK, "rank %u", a->n_dims);
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

static int find_memory(const struct request *r, const struct hal_argument *a, bool write,
                       const struct hal_request *hal, uint8_t **ret_address, struct why *w)
{
    const struct hal_location *l = &a->location;

    REQUIRE(w, l->pool < r->n_pools, "pool %u of %u", l->pool, r->n_pools);
    REQUIRE(w, mapping_holds(&r->pools[l->pool], l->offset, l->length),
            "%" PRIu64 " bytes at %" PRIu64 " of %" PRIu64, l->length, l->offset,
            r->pools[l->pool].size);
    REQUIRE(w, !write || hal->pools[l->pool].memory.protection & HAL_MEMORY_WRITE,
            "pool %u cannot be written", l->pool);
    *ret_address = r->pools[l->pool].address + l->offset;
    return 0;
}

static bool is_left_out(const struct hal_argument *a)
{
    const struct hal_location *l = &a->location;

    return !l->pool && !l->offset && !l->length && !l->padding && !a->n_dims;
}

/* Dimensions of 0 stay unknown unless the request itself says them of a value without bytes. */
static bool is_complete(const struct hal_argument *a, const struct tensor *t)
{
    if (!dtype_info[t->dtype].tensor)
        return true;
    return t->shape.rank && (shape_known(&t->shape) || (a->n_dims && !a->location.length));
}

static int open_input(const struct hal_request *hal, uint32_t i, const struct tensor *declared,
                      struct request *r, struct why *w)
{
    const struct hal_argument *a = &hal->inputs[i];
    struct tensor *t = &r->in[i];

    *t = *declared;
    if (a->has_no_value) {
        REQUIRE(w, is_left_out(a), "left out, but with a location");
        return 0;
    }
    TRY(merge_shape(a, declared, &t->shape, w));
    REQUIRE(w, is_complete(a, t), "shape is not complete");
    REQUIRE(w, shape_check_size(&t->shape, dtype_info[t->dtype].codec->size) == 0, "too large");
    REQUIRE(w, a->location.length == tensor_bytes(t), "%" PRIu64 " bytes for %zu",
            a->location.length, tensor_bytes(t));
    TRY(find_memory(r, a, false, hal, &r->in_memory[i], w));
    /* The client may change its memory while the device computes. */
    t->data = arena_copy(r->arena, r->in_memory[i], tensor_bytes(t));
    return t->data ? 0 : no_memory(w);
}

static int open_output(const struct hal_request *hal, uint32_t i, const struct tensor *declared,
                       enum hal_version version, struct request *r, struct why *w)
{
    const struct hal_argument *a = &hal->outputs[i];
    struct request_output *o = &r->out[i];

    if (a->has_no_value) {
        REQUIRE(w, is_left_out(a), "left out, but with a location");
        return 0;
    }
    TRY(merge_shape(a, declared, &o->shape, w));
    REQUIRE(w, version >= HAL_1_2 || !dtype_info[declared->dtype].tensor || shape_known(&o->shape),
            "shape must be known before HAL 1.2");
    TRY(find_memory(r, a, true, hal, &o->address, w));
    o->length = (size_t) a->location.length;
    return 0;
}

static int open_arguments(const struct hal_request *hal, enum hal_version version,
                          const struct model *m, struct request *r, struct why *w)
{
    const struct graph *g = &m->graph[0];

    REQUIRE(w, hal->n_inputs == g->n_inputs && hal->n_outputs == g->n_outputs,
            "%u inputs and %u outputs, the model has %u and %u", hal->n_inputs, hal->n_outputs,
            g->n_inputs, g->n_outputs);
    r->n_inputs = g->n_inputs;
    r->n_outputs = g->n_outputs;
    r->in = arena_alloc(r->arena, g->n_inputs, sizeof(*r->in));
    r->in_memory = arena_alloc(r->arena, g->n_inputs, sizeof(*r->in_memory));
    r->out = arena_alloc(r->arena, g->n_outputs, sizeof(*r->out));
    if (!r->in || !r->in_memory || !r->out)
        return no_memory(w);
    for (uint32_t i = 0; i < g->n_inputs; i++)
        if (open_input(hal, i, &g->operand[g->input[i]].tensor, r, w) < 0)
            return why_prefix(w, "input %u", i);
    for (uint32_t i = 0; i < g->n_outputs; i++)
        if (open_output(hal, i, &g->operand[g->output[i]].tensor, version, r, w) < 0)
            return why_prefix(w, "output %u", i);
    return 0;
}

int request_open(const struct hal_request *hal, enum hal_version version, const struct model *m,
                 struct arena *arena, struct request *ret_request, struct why *w)
{
    struct request r = { .arena = arena };

    REQUIRE(w,
            (!hal->n_inputs || hal->inputs) && (!hal->n_outputs || hal->outputs) &&
                (!hal->n_pools || hal->pools),
            "request without its lists");
    if (map_pools(hal, &r, w) < 0 || open_arguments(hal, version, m, &r, w) < 0) {
        request_close(&r);
        return -1;
    }
    *ret_request = r;
    return 0;
}

void request_close(struct request *r)
{
    for (uint32_t i = 0; i < r->n_pools; i++)
        memory_unmap(&r->pools[i]);
    r->n_pools = 0;
}

static int check_shape(const struct request_output *o, const struct tensor *t, uint32_t i,
                       struct why *w)
{
    char has[SHAPE_TEXT], wants[SHAPE_TEXT];
    bool fits = !o->shape.rank || o->shape.rank == t->shape.rank;

    for (uint32_t d = 0; fits && d < o->shape.rank; d++)
        fits = !o->shape.dim[d] || o->shape.dim[d] == t->shape.dim[d];
    if (fits)
        return 0;
    return why_fail(w, WHY_EXECUTION, "output %u: %s does not fit %s", i,
                    shape_text(&t->shape, has), shape_text(&o->shape, wants));
}

int request_write(const struct request *r, const struct tensor *out,
                  struct hal_output_shape *shapes, struct why *w)
{
    bool insufficient = false;

    for (uint32_t i = 0; i < r->n_outputs; i++) {
        const struct request_output *o = &r->out[i];
        struct hal_output_shape s = { .n_dims = out[i].shape.rank, .is_sufficient = true };
        memcpy(s.dims, out[i].shape.dim, sizeof(uint32_t) * out[i].shape.rank);
        if (o->address) {
            TRY(check_shape(o, &out[i], i, w));
            s.is_sufficient = tensor_bytes(&out[i]) <= o->length;
        }
        insufficient |= !s.is_sufficient;
        shapes[i] = s;
    }
    for (uint32_t i = 0; i < r->n_outputs && !insufficient; i++)
        if (r->out[i].address && tensor_bytes(&out[i]) > r->withhold)
            memcpy(r->out[i].address, out[i].data, tensor_bytes(&out[i]) - r->withhold);
    return insufficient;
}
