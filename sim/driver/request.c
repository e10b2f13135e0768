#include "sim/driver/request.h"

#include <string.h>

#include "sim/hal/argument_check.h"

static int open_pool(const struct hal_request_pool *pool, const struct request_context *c,
                     const struct mapping *kept, struct request_pool *p, struct why *w)
{
    const struct hal_memory *m = &pool->memory;

    if (pool->is_token) {
        p->buffer = buffer_find(c->buffers, pool->token);
        REQUIRE(w, p->buffer, "unknown token %u", pool->token);
        return 0;
    }
    if (!kept || !kept->address)
        return memory_map(m, m->protection & HAL_MEMORY_WRITE, &p->mapping, w);
    p->mapping = (struct mapping){ .address = kept->address, .size = kept->size };
    return 0;
}

static int open_pools(const struct hal_request *hal, const struct request_context *c,
                      struct request *r, struct why *w)
{
    r->pools = arena_alloc(r->arena, hal->n_pools, sizeof(*r->pools));
    if (!r->pools)
        return why_no_memory_for(w, "the request on the device");
    for (; r->n_pools < hal->n_pools; r->n_pools++)
        if (open_pool(&hal->pools[r->n_pools], c, c->kept ? &c->kept[r->n_pools] : NULL,
                      &r->pools[r->n_pools], w) < 0)
            return why_prefix(w, "pool %u", r->n_pools);
    return 0;
}

/* The location of input or output i: memory, or a buffer that was allocated for that role. */
static int find_place(const struct request *r, const struct request_context *c,
                      const struct hal_request *hal, uint32_t i, bool is_output,
                      struct request_location *ret_place, struct why *w)
{
    static uint8_t nowhere; /* address of operands without elements in pools without address */
    const struct hal_location *l = &(is_output ? hal->outputs : hal->inputs)[i].location;

    struct device_buffer *b = r->pools[l->pool].buffer;
    if (!b) {
        const struct mapping *m = &r->pools[l->pool].mapping;
        uint8_t *at = m->address ? m->address + l->offset : &nowhere;
        *ret_place = (struct request_location){ at, (size_t) l->length, NULL };
        return 0;
    }
    REQUIRE(w, buffer_has_role(b, c->number, i, is_output),
            "buffer %u was not allocated for this role", b->token);
    *ret_place = (struct request_location){ .buffer = b };
    return 0;
}

/* Checks the dimensions of the request against those that the buffer was allocated with; its
 * contents are checked when they are read. */
static int open_buffer(const struct hal_argument *a, const struct device_buffer *b, struct why *w)
{
    for (uint32_t d = 0; d < a->n_dims && d < b->declared.shape.rank; d++) {
        uint32_t known = b->declared.shape.dim[d];
        REQUIRE(w, !known || !a->dims[d] || a->dims[d] == known,
                "dimension %u is %u, in buffer %u %u", d, a->dims[d], b->token, known);
    }
    return 0;
}

static int open_input(const struct hal_request *hal, const struct request_context *c, uint32_t i,
                      const struct tensor *declared, struct request *r, struct why *w)
{
    const struct hal_argument *a = &hal->inputs[i];
    struct tensor *t = &r->in[i];

    *t = *declared;
    TRY(hal_request_check_input(hal, i, declared, c->version, &t->shape, w));
    if (a->has_no_value)
        return 0;
    TRY(find_place(r, c, hal, i, false, &r->in_place[i], w));
    return r->in_place[i].buffer ? open_buffer(a, r->in_place[i].buffer, w) : 0;
}

static int open_output(const struct hal_request *hal, const struct request_context *c, uint32_t i,
                       const struct tensor *declared, struct request *r, struct why *w)
{
    const struct hal_argument *a = &hal->outputs[i];
    struct request_output *o = &r->out[i];

    o->is_scalar = !dtype_info[declared->dtype].tensor;
    TRY(hal_request_check_output(hal, i, declared, c->version, &o->shape, w));
    if (a->has_no_value)
        return 0;
    TRY(find_place(r, c, hal, i, true, &o->place, w));
    return o->place.buffer ? open_buffer(a, o->place.buffer, w) : 0;
}

/* A buffer may be any number of inputs; one that is an output must not be used otherwise. */
static int check_buffers(const struct request *r, struct why *w)
{
    for (uint32_t i = 0; i < r->n_outputs; i++) {
        const struct device_buffer *b = r->out[i].place.buffer;
        for (uint32_t k = 0; b && k < r->n_inputs; k++)
            REQUIRE(w, r->in_place[k].buffer != b, "buffer %u is input %u and output %u", b->token,
                    k, i);
        for (uint32_t k = 0; b && k < i; k++)
            REQUIRE(w, r->out[k].place.buffer != b, "buffer %u is outputs %u and %u", b->token, k,
                    i);
    }
    return 0;
}

static int open_arguments(const struct hal_request *hal, const struct request_context *c,
                          struct request *r, struct why *w)
{
    const struct graph *g = &c->model->graph[0];

    r->n_inputs = g->n_inputs;
    r->n_outputs = g->n_outputs;
    r->in = arena_alloc(r->arena, g->n_inputs, sizeof(*r->in));
    r->in_place = arena_alloc(r->arena, g->n_inputs, sizeof(*r->in_place));
    r->out = arena_alloc(r->arena, g->n_outputs, sizeof(*r->out));
    if (!r->in || !r->in_place || !r->out)
        return why_no_memory_for(w, "the request on the device");
    for (uint32_t i = 0; i < g->n_inputs; i++)
        if (open_input(hal, c, i, &g->operand[g->input[i]].tensor, r, w) < 0)
            return why_prefix(w, "input %u", i);
    for (uint32_t i = 0; i < g->n_outputs; i++)
        if (open_output(hal, c, i, &g->operand[g->output[i]].tensor, r, w) < 0)
            return why_prefix(w, "output %u", i);
    return check_buffers(r, w);
}

int request_open(const struct hal_request *hal, const struct request_context *c,
                 struct arena *arena, struct request *ret_request, struct why *w)
{
    const struct graph *g = &c->model->graph[0];
    struct request r = { .arena = arena };

    TRY(hal_request_check_lists(hal, g->n_inputs, g->n_outputs, c->version, w));
    if (open_pools(hal, c, &r, w) < 0 || open_arguments(hal, c, &r, w) < 0) {
        request_close(&r);
        return -1;
    }
    *ret_request = r;
    return 0;
}

void request_close(struct request *r)
{
    for (uint32_t i = 0; i < r->n_pools; i++) {
        memory_unmap(&r->pools[i].mapping);
        if (r->pools[i].buffer)
            buffer_unref(r->pools[i].buffer);
    }
    r->n_pools = 0;
}

int request_read_memory(struct request *r, struct why *w)
{
    for (uint32_t i = 0; i < r->n_inputs; i++) {
        const struct request_location *p = &r->in_place[i];
        if (!p->address)
            continue;
        r->in[i].data = arena_copy(r->arena, p->address, p->length);
        if (!r->in[i].data)
            return why_no_memory_for(w, "the request on the device");
    }
    return 0;
}

int request_read_buffers(struct request *r, struct why *w)
{
    for (uint32_t i = 0; i < r->n_inputs; i++) {
        struct device_buffer *buffer = r->in_place[i].buffer;
        struct tensor *t = &r->in[i];
        struct shape asked = t->shape;
        if (!buffer)
            continue;
        TRY(buffer_read(buffer, r->arena, &t->shape, &t->data, w));
        if (!shape_matches(&t->shape, &asked))
            return why_fail(w, WHY_EXECUTION, "input %u: buffer %u holds another shape", i,
                            buffer->token);
    }
    return 0;
}

bool request_is_specified(const struct request *r)
{
    for (uint32_t i = 0; i < r->n_outputs; i++) {
        const struct request_output *o = &r->out[i];
        bool left_out = !o->place.address && !o->place.buffer;
        if (!left_out && !o->is_scalar && !shape_known(&o->shape))
            return false;
    }
    return true;
}

int request_write_buffers(const struct request *r, const struct tensor *out,
                          struct hal_output_shape *shapes, struct why *w)
{
    bool insufficient = false;

    for (uint32_t i = 0; i < r->n_outputs; i++) {
        const struct request_output *o = &r->out[i];
        struct hal_output_shape s = { .n_dims = out[i].shape.rank, .is_sufficient = true };
        memcpy(s.dims, out[i].shape.dim, sizeof(uint32_t) * out[i].shape.rank);
        char actual[SHAPE_TEXT], expected[SHAPE_TEXT];
        if ((o->place.address || o->place.buffer) && !shape_matches(&out[i].shape, &o->shape))
            return why_fail(w, WHY_EXECUTION, "output %u has shape %s, the request specifies %s", i,
                            shape_text(&out[i].shape, actual), shape_text(&o->shape, expected));
        if (o->place.address)
            s.is_sufficient = tensor_bytes(&out[i]) <= o->place.length;
        insufficient |= !s.is_sufficient;
        shapes[i] = s;
    }
    for (uint32_t i = 0; i < r->n_outputs && !insufficient; i++)
        if (r->out[i].place.buffer)
            TRY(buffer_write(r->out[i].place.buffer, &out[i], w));
    return insufficient;
}

void request_write_memory(const struct request *r, const struct tensor *out)
{
    for (uint32_t i = 0; i < r->n_outputs; i++) {
        size_t bytes = tensor_bytes(&out[i]);
        if (r->out[i].place.address && bytes > r->unwritten_bytes)
            memcpy(r->out[i].place.address, out[i].data, bytes - r->unwritten_bytes);
    }
}
