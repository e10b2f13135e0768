/* What a run lends to the driver's process: model, request, inputs and outputs, in shared memory.
 */
#include <stdio.h>
#include <string.h>

#include "sim/client/hosted.h"
#include "sim/hal/hal_convert.h"
#include "sim/isolation/hal_copy.h"

static bool lend(struct case_run *c, size_t length, struct lent_region *ret)
{
    uint64_t late_of = 0;

    if (!lent_memory_take(&c->t->hosted->process.memory, length, ret, &late_of))
        return false;
    if (late_of && !c->o->late_run) {
        c->o->late_run = late_of;
        snprintf(c->o->late, sizeof c->o->late, "memory was written to after the execution");
    }
    return true;
}

/* Bytes from one input to the next in a pool. */
static size_t input_share(const struct tensor *t)
{
    return (tensor_bytes(t) + 2 * HOSTED_LEAD - 1) / HOSTED_LEAD * HOSTED_LEAD;
}

/* A tensor's value with zeros around it: nothing of an earlier case can be read there. */
static void put_input(uint8_t *at, const struct tensor *t, size_t after)
{
    size_t length = tensor_bytes(t);

    memset(at - HOSTED_LEAD, 0, HOSTED_LEAD);
    if (t->data)
        memcpy(at, t->data, length);
    else
        memset(at, 0, length);
    memset(at + length, 0, after);
}

/* The pools of inputs: all in one, or each in its own where reading behind it traps. */
static bool put_inputs(struct case_run *c, struct lent_arrays *l, bool trapping,
                       struct hal_argument *args, struct hal_request_pool *pools, uint32_t *n_pools)
{
    struct lent_memory *m = &c->t->hosted->process.memory;
    uint32_t n = c->m->graph[0].n_inputs;
    const size_t shift = case_run_shift(c);
    size_t size = HOSTED_LEAD + shift, at = HOSTED_LEAD + shift;
    uint8_t *block = NULL;

    for (uint32_t i = 0; i < n && !trapping; i++)
        size += input_share(&c->in[i]);
    if (!trapping && !(block = arena_alloc_raw(m->arena, size, 1)))
        return false;
    l->block = block;
    l->block_end = block + (block ? size : 0);
    if (!trapping)
        pools[(*n_pools)++].memory =
            (struct hal_memory){ HAL_MEMORY_ADDRESS, HAL_MEMORY_READ, block, -1, 0, size };
    for (uint32_t i = 0; i < n; i++) {
        size_t length = tensor_bytes(&c->in[i]);
        uint8_t *to = trapping ? lent_memory_take_input(m, length + HOSTED_LEAD) : block;
        if (!to)
            return false;
        args[i] =
            case_run_input_argument(c, i, trapping ? *n_pools : 0, trapping ? HOSTED_LEAD : at);
        l->input[i] = to + (trapping ? HOSTED_LEAD : at);
        if (trapping)
            pools[(*n_pools)++].memory =
                (struct hal_memory){ HAL_MEMORY_ADDRESS,  HAL_MEMORY_READ, to, -1, 0,
                                     length + HOSTED_LEAD };
        put_input(l->input[i], &c->in[i], trapping ? 0 : input_share(&c->in[i]) - length);
        at += input_share(&c->in[i]);
    }
    return true;
}

static bool put_outputs(struct case_run *c, struct hal_argument *args,
                        struct hal_request_pool *pools, uint32_t *n_pools)
{
    for (uint32_t i = 0; i < c->m->graph[0].n_outputs; i++) {
        size_t length = c->out_length[i] ? c->out_length[i] : 1;
        const size_t lead = HOSTED_LEAD + case_run_shift(c);
        if (!lend(c, length + lead, &c->region[i]))
            return false;
        c->region[i].at += lead;
        c->region[i].length = length;
        args[i] = case_run_output_argument(c, i, *n_pools, lead);
        pools[(*n_pools)++].memory = (struct hal_memory){
            HAL_MEMORY_ADDRESS, HAL_MEMORY_READ | HAL_MEMORY_WRITE, c->region[i].at - lead, -1, 0,
            length + lead
        };
    }
    return true;
}

/* Bytes of a pool for all outputs. */
static size_t outputs_size(const struct case_run *c)
{
    size_t size = 0;

    for (uint32_t i = 0; i < c->m->graph[0].n_outputs; i++)
        size += (c->out_length[i] + HOSTED_LEAD) / HOSTED_LEAD * HOSTED_LEAD + HOSTED_LEAD +
                case_run_shift(c);
    return size;
}

/* All outputs in one pool, the last one at its end. */
static bool put_outputs_together(struct case_run *c, struct hal_argument *args,
                                 struct hal_request_pool *pools, uint32_t *n_pools)
{
    struct lent_region whole;

    if (!lend(c, outputs_size(c), &whole))
        return false;
    uint8_t *end = whole.at + whole.length;
    for (uint32_t i = c->m->graph[0].n_outputs; i-- > 0;) {
        struct lent_region *r = &c->region[i];
        r->length = c->out_length[i] ? c->out_length[i] : 1;
        r->at = end - r->length;
        args[i] = case_run_output_argument(c, i, *n_pools, (uint64_t) (r->at - whole.at));
        end -= (c->out_length[i] + HOSTED_LEAD) / HOSTED_LEAD * HOSTED_LEAD + HOSTED_LEAD +
               case_run_shift(c);
    }
    for (uint32_t i = 0; i < c->m->graph[0].n_outputs; i++) /* up to each the pattern remains */
        c->region[i].slot = i ? c->region[i - 1].at + c->region[i - 1].length : whole.slot;
    pools[(*n_pools)++].memory = (struct hal_memory){
        HAL_MEMORY_ADDRESS, HAL_MEMORY_READ | HAL_MEMORY_WRITE, whole.at, -1, 0, whole.length
    };
    return true;
}

/* Gives each input a pool of its own. */
static bool separate_inputs(struct case_run *c, struct hal_argument *in,
                            struct hal_request_pool *pools, uint32_t *n_pools)
{
    const struct hal_request_pool all = pools[0];

    *n_pools = 0;
    case_run_separate_pools(c, c->m->graph[0].n_inputs, in, &all, pools, n_pools);
    return true;
}

static uint8_t *output_at(const struct case_run *c, uint32_t i)
{
    return c->region[i].at;
}

static uint8_t *input_at(const struct case_run *c, uint32_t i)
{
    return c->lent_input[i];
}

static int put_request(struct case_run *c, struct lent_arrays *l, bool trapping)
{
    const struct graph *g = &c->m->graph[0];
    const bool is_other = c->options->vary && c->options->vary->other_pools;
    struct arena *a = c->o->arena;
    struct hal_argument *in = arena_alloc(a, g->n_inputs, sizeof *in);
    struct hal_argument *out = arena_alloc(a, g->n_outputs, sizeof *out);
    struct hal_request_pool *pools =
        arena_alloc(a, (size_t) g->n_inputs + g->n_outputs + 1, sizeof *pools);
    uint32_t n_pools = 0;

    l->input = arena_alloc(a, g->n_inputs, sizeof *l->input);
    c->region = arena_alloc(a, g->n_outputs, sizeof *c->region);
    if (!in || !out || !pools || !l->input || !c->region)
        return why_no_memory(c->w);
    c->lent_input = l->input;
    if (!lend(c, g->n_outputs * sizeof(struct hal_output_shape), &l->shapes) ||
        !put_inputs(c, l, trapping, in, pools, &n_pools) ||
        (is_other && !separate_inputs(c, in, pools, &n_pools)) ||
        !(is_other ? put_outputs_together : put_outputs)(c, out, pools, &n_pools))
        return 1;
    c->request = (struct hal_request){ g->n_inputs, g->n_outputs, n_pools, in, out, pools };
    return hal_request_at(&c->request, target_version(c->t), a, &c->conversion, &c->request, c->w);
}

/* An execution, in shared memory.  1: it does not fit. */
static int put_execution(struct case_run *c, struct lent_arrays *l, bool trapping,
                         struct host_execution *ret)
{
    struct arena *a = c->t->hosted->process.memory.arena;
    struct host_execution e = { .n_shapes = c->m->graph[0].n_outputs };

    TRY(case_run_measure_outputs(c));
    int rc = put_request(c, l, trapping);
    if (rc)
        return rc;
    struct why why;
    if (!hal_copy_request(&c->request, a, &e.request) ||
        case_run_plan_buffers(c, a, &why, input_at, output_at) < 0)
        return 1;
    e.n_buffers = c->n_buffers;
    e.buffer = c->buffer;
    e.shapes = (struct hal_output_shape *) (void *) l->shapes.at;
    *ret = e;
    return 0;
}

/* The request with other inputs.  False: they do not fit. */
static bool put_other(struct case_run *c, const struct lent_arrays *l,
                      const struct hal_request *request, struct hal_request *ret)
{
    struct arena *a = c->t->hosted->process.memory.arena;
    struct hal_request_pool *pools =
        arena_copy(a, request->pools, request->n_pools * sizeof *pools);
    uint8_t *block = pools ? arena_copy(a, l->block, (size_t) (l->block_end - l->block)) : NULL;

    if (!block)
        return false;
    for (uint32_t i = 0; i < c->m->graph[0].n_inputs; i++)
        if (c->in[i].data)
            target_put_other(&c->in[i], 0, block + (l->input[i] - l->block));
    for (uint32_t i = 0; i < request->n_pools; i++) {
        uint8_t *at = pools[i].memory.address;
        if (at >= l->block && at < l->block_end)
            pools[i].memory.address = block + (at - l->block);
    }
    *ret = *request;
    ret->pools = pools;
    return true;
}

int hosted_put_case(struct case_run *c, const struct hal_model *model, bool trapping,
                    struct lent_arrays *l)
{
    struct host_process *p = &c->t->hosted->process;
    struct arena *a = p->memory.arena;
    const struct target_variation *vary = c->options->vary;
    struct hal_model copy;

    if (model) /* else memory of the one that was kept prepared stays as it is */
        lent_memory_reset(&p->memory);
    p->memory.user = c->o->run;
    struct host_case *run = arena_alloc(a, 1, sizeof *run);
    struct hal_model *m = arena_alloc(a, 1, sizeof *m);
    if (!run || !m || (model && !hal_copy_model(model, a, &copy)))
        return 1;
    if (model)
        *m = copy;
    *run = (struct host_case){ .number = c->o->run,
                               .model = model ? m : NULL,
                               .n_at_once = 1 + c->n_beside,
                               .way = case_run_way(c),
                               .version = target_version(c->t),
                               .only_query_support = c->options->only_query_support,
                               .from_cache = vary && vary->from_cache,
                               .keep = c->options->keep_prepared || !model };
    TRY(case_run_configure_preparation(c, &run->prepare));
    TRY(case_run_configure_execution(c, &run->execution));
    if (!lend(c, c->o->n_ops * sizeof(bool), &l->supported))
        return 1;
    run->supported = (bool *) (void *) l->supported.at;
    for (uint32_t i = 0; i < run->n_at_once && !c->options->only_query_support; i++) {
        int rc = put_execution(i ? &c->beside[i - 1] : c, &l[i], trapping, &run->at_once[i]);
        if (rc)
            return rc;
    }
    if (vary && vary->after_other && !put_other(c, l, &run->at_once[0].request, &run->other))
        return 1;
    p->calls->run = run;
    return 0;
}

/* Sizes that suffice for this model; generous, because structures count, too. */
static void enlarge_for(const struct case_run *c, size_t *arena, size_t *largest)
{
    const struct graph *g = &c->m->graph[0];
    const size_t lead = HOSTED_LEAD + case_run_shift(c);
    const bool together = c->options->vary && c->options->vary->other_pools;

    for (uint32_t i = 0; i < g->n_inputs; i++)
        *arena += 2 * (tensor_bytes(&c->in[i]) + 4 * lead); /* other ones, too */
    for (uint32_t i = 0; i < g->n_outputs; i++) {
        const size_t size = together ? outputs_size(c) : c->out_length[i] + lead;
        *largest = size > *largest ? size : *largest;
    }
}

void hosted_enlarge(struct case_run *c, const struct hal_model *m)
{
    struct host_options *o = &c->t->hosted->options;
    const uint32_t regions =
        (c->m->graph[0].n_outputs + 2) * (1 + c->n_beside); /* and the arrays */
    size_t arena = 1 << 20, largest = 1 << 16;

    arena += 2 * m->operand_values_length;
    for (uint32_t i = 0; i < m->n_pools; i++)
        arena += m->pools[i].size + HOSTED_LEAD;
    enlarge_for(c, &arena, &largest);
    for (uint32_t i = 0; i < c->n_beside; i++)
        enlarge_for(&c->beside[i], &arena, &largest);
    for (uint32_t k = 0; k <= m->n_referenced; k++) {
        const struct hal_subgraph *s = k ? &m->referenced[k - 1] : &m->main;
        arena += s->n_operands * (size_t) 1024 + s->n_operations * (size_t) 1024;
        for (uint32_t i = 0; i < s->n_operands; i++)
            arena += s->operands[i].n_channel_scales * (size_t) 8 + s->operands[i].extension_length;
    }
    o->arena = 2 * arena > o->arena ? 2 * arena : o->arena;
    o->largest = largest > o->largest ? largest : o->largest;
    o->regions = regions > o->regions ? regions : o->regions;
}

void hosted_take_back(const struct case_run *c, const struct lent_arrays *l)
{
    lent_region_fill(&l->supported, false);
    for (uint32_t k = 0; k <= c->n_beside; k++) {
        const struct case_run *of = k ? &c->beside[k - 1] : c;
        if (!of->region)
            continue;
        lent_region_fill(&l[k].shapes, false);
        for (uint32_t i = 0; i < c->m->graph[0].n_outputs; i++)
            lent_region_fill(&of->region[i], false);
    }
}
