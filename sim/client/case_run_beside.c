/* Ways in which a run differs from the plain one: executions at once, buffers of the driver, other
 * inputs before. */
#include <string.h>

#include "sim/client/case_run.h"

/* ---- other inputs */

void target_put_other(const struct tensor *t, uint32_t turn, uint8_t *at)
{
    enum { SAME = 16 }; /* bytes at the beginning of a longer input */
    const size_t n = tensor_count(t), size = n ? tensor_bytes(t) / n : 1;
    const size_t same = n * size > 2 * SAME ? SAME / size : 0, others = n - same;
    const uint8_t *from = t->data;

    memcpy(at, from, same * size);
    for (size_t i = 0; i < others; i++)
        memcpy(at + (same + (i + turn) % others) * size, from + (n - 1 - i) * size, size);
}

/* ---- executions at once */

int case_run_begin_beside(struct case_run *c)
{
    const struct target_variation *vary = c->options->vary;
    struct arena *a = c->o->arena;
    const uint32_t n = vary ? vary->n_beside : 0;

    c->beside = arena_alloc(a, n, sizeof(*c->beside));
    c->o->beside = arena_alloc(a, n, sizeof(*c->o->beside));
    if (!c->beside || !c->o->beside)
        return why_no_memory(c->w);
    for (c->n_beside = 0; c->n_beside < n; c->n_beside++) {
        struct case_run *b = &c->beside[c->n_beside];
        *b = *c;
        b->in = vary->beside[c->n_beside].in;
        b->out_shape = vary->beside[c->n_beside].out_shape;
        b->o = &c->o->beside[c->n_beside];
        *b->o = (struct outcome){ .stage = STAGE_EXECUTE, .run = c->o->run, .arena = a };
        b->n_beside = 0;
    }
    return 0;
}

int case_run_check_beside(struct case_run *c, const enum hal_status *status,
                          int (*check_memory)(struct case_run *c))
{
    int rc = 0;

    for (uint32_t i = 0; rc >= 0 && i < c->n_beside; i++) {
        struct case_run *b = &c->beside[i];
        rc = case_run_check_executed(b, status[i], check_memory);
        if (rc == 0)
            b->o->stage = STAGE_DONE;
        b->o->arena = NULL; /* that of c->o */
    }
    c->o->n_beside = c->n_beside;
    return rc < 0 ? rc : 0;
}

/* ---- places of arguments */

int case_run_plan_buffers(struct case_run *c, struct arena *a, struct why *w,
                          uint8_t *(*input_at)(const struct case_run *c, uint32_t i),
                          uint8_t *(*output_at)(const struct case_run *c, uint32_t i))
{
    const struct target_variation *vary = c->options->vary;
    const struct graph *g = &c->m->graph[0];
    const uint32_t n_in = vary && vary->input_buffers ? g->n_inputs : 0;
    const uint32_t n_out = vary && vary->output_buffers ? g->n_outputs : 0;

    c->n_buffers = 0;
    c->buffer = arena_alloc(a, (size_t) n_in + n_out, sizeof(*c->buffer));
    if (!c->buffer)
        return why_no_memory(w);
    for (uint32_t k = 0; target_version(c->t) >= HAL_1_3 && k < n_in + n_out; k++) {
        const bool is_output = k >= n_in;
        const uint32_t i = is_output ? k - n_in : k;
        struct tensor t = is_output ? *case_run_output(c, i) : c->in[i];
        if (is_output && !case_run_is_known(&t) && c->out_shape)
            t.shape = c->out_shape[i];
        if (!dtype_info[t.dtype].tensor || !t.shape.rank || !shape_known(&t.shape) ||
            !tensor_bytes(&t) || (!is_output && !t.data))
            continue; /* scalars and tensors without elements have no buffers */
        struct client_buffer b = {
            .is_output = is_output,
            .index = i,
            .n_dims = t.shape.rank,
            .dims = arena_copy(a, t.shape.dim, t.shape.rank * sizeof(*t.shape.dim)),
            .memory = { HAL_MEMORY_ADDRESS,
                        is_output ? HAL_MEMORY_READ | HAL_MEMORY_WRITE : HAL_MEMORY_READ,
                        is_output ? output_at(c, i) : input_at(c, i), -1, 0, tensor_bytes(&t) }
        };
        if (!b.dims)
            return why_no_memory(w);
        c->buffer[c->n_buffers++] = b;
    }
    return 0;
}

void case_run_separate_pools(const struct case_run *c, uint32_t n, struct hal_argument *args,
                             const struct hal_request_pool *from, struct hal_request_pool *pools,
                             uint32_t *n_pools)
{
    const uint32_t shift = case_run_shift(c);

    for (uint32_t i = 0; i < n; i++) {
        struct hal_location *l = &args[i].location;
        if (args[i].has_no_value)
            continue;
        struct hal_memory m = from[l->pool].memory;
        m.address = (uint8_t *) m.address + l->offset - shift;
        m.size = shift + (l->length ? l->length : 1);
        *l = (struct hal_location){ .pool = *n_pools, .offset = shift, .length = l->length };
        pools[(*n_pools)++] = (struct hal_request_pool){ .memory = m };
    }
}
