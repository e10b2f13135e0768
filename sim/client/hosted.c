/* Targets whose driver has a process of its own (sim/isolation/): one message starts a whole run,
 * then this side judges what came back.
 *
 * A request has one pool for all inputs, or in some cases one for each, and one for each output: a
 * write behind an output traps, in some cases a read behind an input does.  What the driver's
 * process answers is not trusted. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "golden/base/clock.h"
#include "golden/base/logging.h"
#include "golden/base/text_escape.h"
#include "golden/base/trace.h"
#include "sim/client/hosted.h"
#include "sim/hal/hal_convert.h"
#include "sim/hal/hal_result.h"
#include "sim/isolation/hal_copy.h"
#include "sim/remote/remote.h"

#define LOG_TAG "Host"

enum { FIRST_ARENA = 1 << 24, FIRST_LARGEST = 1 << 20, PRINTS = 4096 };

/* ---- deaths */

static void keep_prints(struct host_process *p, struct outcome *o)
{
    char text[PRINTS];

    if (host_take_prints(p, text, sizeof text) && o->arena)
        o->prints = arena_strdup(o->arena, text);
}

static void describe_death(const struct host_death *d, uint64_t memory_limit, const char *at,
                           struct outcome *o)
{
    const char *space = *at ? " " : "";

    if (d->memory)
        snprintf(o->violation, sizeof o->violation,
                 "the driver exceeds the memory limit of %llu MiB%s%s: it uses %.1f MiB",
                 (unsigned long long) (memory_limit >> 20), space, at,
                 (double) d->memory / (1 << 20));
    else if (d->hung)
        snprintf(o->violation, sizeof o->violation, "the driver exceeds the time-out%s%s", space,
                 at);
    else if (d->signal)
        snprintf(o->violation, sizeof o->violation, "the driver crashes with signal %d (%s)%s%s",
                 d->signal, strsignal(d->signal), space, at);
    else
        snprintf(o->violation, sizeof o->violation,
                 "the driver exits the process%s%s with status %d", space, at, d->exit_status);
}

/* What is kept of a death, whatever the driver's process was doing. */
static void note_death(struct hosted *h, const struct host_death *d, const char *at,
                       struct outcome *o)
{
    o->died = true;
    o->hung = d->hung;
    o->signal = d->signal;
    describe_death(d, h->options.memory_limit, at, o);
    keep_prints(&h->process, o);
    if (o->arena && d->signal && d->crash.signal == d->signal && d->crash.text[0])
        o->backtrace = arena_strdup(o->arena, d->crash.text);
}

static const char *step_text(uint32_t step)
{
    return step < TARGET_STEPS ? target_step_text[step] : "";
}

/* ---- the process */

static void disconnect(struct target *t)
{
    if (t->hosted->remote)
        t->hosted->remote->close(t->hosted->remote);
    t->hosted->remote = NULL;
    t->driver = &t->hosted->facade;
}

void target_restart(struct target *t)
{
    if (!t->hosted)
        return;
    disconnect(t);
    host_done(&t->hosted->process);
}

/* Connects the methods that a run does not call.  1: the driver has died or hung meanwhile, for it
 * is asked for its properties. */
static int connect_methods(struct target *t, struct host_death *ret_death, struct why *w)
{
    struct hosted *h = t->hosted;
    int socket = h->process.socket;

    h->process.socket = -1;
    if (host_call(&h->process, &h->options, HOST_SERVE, 0, ret_death) == 1) {
        close(socket);
        return 1;
    }
    const struct reply_timeout timeout = { .seconds = h->options.timeout,
                                           .process = host_driver_process(&h->process) };
    if (remote_open_socket(socket, &timeout, &h->remote, w) == 0) {
        t->driver = h->remote;
        return 0;
    }
    if (host_call(&h->process, &h->options, HOST_SETTLE, 0, ret_death) == 1)
        return 1;
    ret_death->hung = w->code == WHY_TIMEOUT;
    if (ret_death->hung)
        return 1;
    w->code = WHY_INVALID;
    return why_prefix(w, "%s: the driver's properties cannot be read", t->uri);
}

static int take_properties(struct target *t, struct host_death *ret_death, struct why *w)
{
    struct hosted *h = t->hosted;
    const struct host_answers *a = h->process.answers;
    const enum hal_version version = (enum hal_version) a->version;
    const enum hal_version lowest = (enum hal_version) a->lowest_version;

    REQUIRE(w, hal_level(version) && hal_level(lowest),
            "the driver's process reports the HAL versions %d to %d", (int) lowest, (int) version);
    snprintf(h->name, sizeof h->name, "%.*s", (int) sizeof a->name - 1, a->name);
    h->facade = (struct hal_driver){ .abi_version = HAL_ABI_VERSION,
                                     .hal_version = version,
                                     .lowest_version = lowest,
                                     .name = h->name };
    t->driver = &h->facade;
    return h->is_served ? connect_methods(t, ret_death, w) : 0;
}

/* 0: the process runs; 1: it has died while the driver was opened, *ret_death tells how. */
static int ensure_process(struct target *t, struct host_death *ret_death, struct why *w)
{
    struct hosted *h = t->hosted;

    if (h->process.pid)
        return 0;
    target_restart(t);
    TRACE_SUBTRACT(LR, PI, "start the driver's process");
    *ret_death = (struct host_death){ 0 };
    int rc = host_start(&h->process, &h->options, ret_death, w);
    if (rc == 0)
        rc = take_properties(t, ret_death, w);
    return rc;
}

/* ---- a run's memory */

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

/* Puts everything that the driver needs into shared memory.  1: it does not fit. */
static int put_case(struct case_run *c, const struct hal_model *model, bool trapping,
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

static void enlarge(struct case_run *c, const struct hal_model *m)
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

/* Whether the driver has kept the model of the last run prepared, and this run uses it. */
static bool may_use_kept(const struct case_run *c)
{
    const struct hosted *h = c->t->hosted;

    return c->options->use_prepared && h->process.pid && h->kept_run &&
           h->kept_run + 1 == c->o->run;
}

/* Starts the process if there is none, and lends it the case; a case that does not fit gets a
 * process with more memory.  1: it died meanwhile. */
static int submit(struct case_run *c, const struct hal_model *m, struct lent_arrays *l,
                  struct host_death *ret_death)
{
    bool trapping = c->options->trap_inputs && !c->options->vary;

    c->uses_kept = may_use_kept(c) && put_case(c, NULL, false, l) == 0;
    if (c->uses_kept)
        return 0;
    c->t->hosted->kept_run = 0;
    for (int attempt = 0; attempt < 3; attempt++) {
        int rc = ensure_process(c->t, ret_death, c->w);
        if (rc)
            return rc;
        rc = put_case(c, m, trapping && attempt == 0, l);
        if (rc <= 0)
            return rc;
        if (attempt == 0 && trapping)
            continue; /* inputs too large or too many for slots */
        enlarge(c, m);
        target_restart(c->t);
    }
    return why_fail(c->w, WHY_MEMORY, "the case does not fit into the memory shared with a driver");
}

/* ---- the end of a run */

/* What is written from now on is late. */
static void take_back(const struct case_run *c, const struct lent_arrays *l)
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

static int end_by_death(struct case_run *c, const struct lent_arrays *l, const struct host_death *d)
{
    uint32_t step = d->step < TARGET_STEPS ? d->step : TARGET_AT_NOTHING;

    c->o->stage = target_stage_of[step];
    note_death(c->t->hosted, d, step_text(step), c->o);
    hosted_classify_crash(c, l, d);
    take_back(c, l);
    return 1;
}

/* ---- answers */

static int check_before(struct case_run *c, const struct lent_region *r, const char *what)
{
    size_t before = lent_region_changed_before(r);

    if (!before)
        return 0;
    return case_run_violation(c, "memory before %s was written to: %zu byte%s before its buffer",
                              what, before, before == 1 ? "" : "s");
}

static int check_output_memory(struct case_run *c)
{
    char what[32];

    for (uint32_t i = 0; i < c->m->graph[0].n_outputs; i++) {
        snprintf(what, sizeof what, "output %u", i);
        if (check_before(c, &c->region[i], what))
            return 1;
    }
    return 0;
}

/* Copies the shapes that the driver reported; a bool may have any byte. */
static int take_shapes(struct case_run *c, const struct lent_arrays *l)
{
    uint32_t n = c->m->graph[0].n_outputs;
    const struct hal_output_shape *shapes = (const void *) l->shapes.at;

    c->result.capacity = n;
    c->result.shapes = arena_copy(c->o->arena, shapes, n * sizeof *shapes);
    if (!c->result.shapes)
        return why_no_memory(c->w);
    for (uint32_t i = 0; i < n; i++) {
        uint8_t sufficient;
        memcpy(&sufficient, &c->result.shapes[i].is_sufficient, 1);
        c->result.shapes[i].is_sufficient = sufficient != 0;
    }
    return 0;
}

/* The driver's process may change its answers at any time: they are copied first. */
static struct host_answers copy_answers(const struct host_process *p)
{
    const struct host_answers *from = p->answers;
    struct host_answers a = { .stage = from->stage,
                              .status = from->status,
                              .lacks = from->lacks,
                              .n_answers = from->n_answers,
                              .repeated_run = from->repeated_run };

    memcpy(a.at_once, from->at_once, sizeof a.at_once);
    for (int i = 0; i < HOST_EXECUTIONS; i++)
        a.at_once[i].violation[sizeof a.at_once[i].violation - 1] = 0;
    memcpy(a.violation, from->violation, sizeof a.violation - 1);
    memcpy(a.failure_text, from->failure_text, sizeof a.failure_text - 1);
    memcpy(a.repeated, from->repeated, sizeof a.repeated - 1);
    return a;
}

static void take_result(struct case_run *c, const struct host_result *r)
{
    c->result.n_shapes = r->n_shapes;
    c->result.timing = r->timing;
    c->o->n_buffers = r->n_buffers <= c->n_buffers ? r->n_buffers : 0;
}

/* Of the executions at once, after the first one. */
static int judge_beside(struct case_run *c, const struct host_answers *a,
                        const struct lent_arrays *l)
{
    enum hal_status status[TARGET_MOST_BESIDE];

    for (uint32_t i = 0; i < c->n_beside; i++) {
        struct case_run *b = &c->beside[i];
        const struct host_result *r = &a->at_once[i + 1];
        status[i] = (enum hal_status) r->status;
        take_result(b, r);
        snprintf(b->o->violation, sizeof b->o->violation, "%s", r->violation);
        TRY(take_shapes(b, &l[i + 1]));
        if (check_before(c, &l[i + 1].shapes, "the output shapes"))
            return 1;
    }
    return case_run_check_beside(c, status, check_output_memory);
}

/* The checks of a run in this process, in the same order. */
static int judge_answers(struct case_run *c, const struct hal_model *m,
                         const struct host_answers *a, const struct lent_arrays *l)
{
    enum hal_status status = (enum hal_status) a->status;

    for (uint32_t i = 0; i < m->main.n_operations; i++) /* a bool may have any byte */
        c->o->supported[i] = c->uses_kept || l->supported.at[i] != 0;
    if (check_before(c, &l->supported, "the answers of get_supported_operations") ||
        (!c->options->only_query_support && check_before(c, &l->shapes, "the output shapes")))
        return 1;
    int rc = c->uses_kept ? 0
                          : case_run_check_support(c, m->main.n_operations,
                                                   a->stage == STAGE_SUPPORTED ? status : HAL_NONE,
                                                   a->n_answers);
    if (rc || a->stage == STAGE_SUPPORTED)
        return rc ? rc : case_run_violation(c, "the driver's process sent an invalid answer");
    c->o->stage = STAGE_PREPARE;
    if (c->options->only_query_support)
        return 1;
    memcpy(c->o->violation, a->violation, sizeof a->violation);
    rc = case_run_check_prepared(c, a->stage == STAGE_PREPARE ? status : HAL_NONE);
    if (rc && a->stage == STAGE_PREPARE)
        return rc;
    if (case_run_check_methods(c, a->lacks != HOST_LACKS_RELEASE, a->lacks != HOST_LACKS_EXECUTE))
        return 1;
    if (a->stage != STAGE_EXECUTE)
        return case_run_violation(c, "the driver's process sent an invalid answer");
    c->o->stage = STAGE_EXECUTE;
    TRY(take_shapes(c, l));
    take_result(c, &a->at_once[0]);
    rc = case_run_check_executed(c, status, check_output_memory);
    return rc ? rc : judge_beside(c, a, l);
}

/* The calls in the driver's process, as sections of this one. */
static void trace_calls(const struct case_run *c, uint64_t submitted)
{
    static const struct {
        enum target_step step;
        Wire__Method method;
        const char *name; /* NULL: that of the method */
    } calls[] = { { TARGET_AT_SUPPORTED, WIRE__METHOD__GET_SUPPORTED_OPERATIONS, NULL },
                  { TARGET_AT_PREPARE, WIRE__METHOD__PREPARE_MODEL, NULL },
                  { TARGET_AT_EXECUTE_SYNCHRONOUSLY, WIRE__METHOD__EXECUTE_SYNCHRONOUSLY, NULL },
                  { TARGET_AT_EXECUTE, WIRE__METHOD__EXECUTE, NULL },
                  { TARGET_AT_BURST, WIRE__METHOD__BURST_EXECUTE, "burst" },
                  { TARGET_AT_FENCED, WIRE__METHOD__EXECUTE_FENCED, NULL },
                  { TARGET_AT_REUSABLE, WIRE__METHOD__REUSABLE_EXECUTE, "reusable execution" },
                  { TARGET_AT_ONCE, WIRE__METHOD__EXECUTE, "executions at once" },
                  { TARGET_AT_RELEASE, WIRE__METHOD__RELEASE, NULL } };
    enum { CALLS = sizeof calls / sizeof *calls };
    const uint64_t *begun = c->t->hosted->process.answers->begun;
    uint64_t end[CALLS + 1] = { [CALLS] = begun[TARGET_AT_NOTHING] };

    for (int i = CALLS; i-- > 0;) /* each lasts until the next one that was made */
        end[i] = begun[calls[i].step] ? begun[calls[i].step] : end[i + 1];
    for (int i = 0; i < CALLS; i++) {
        const struct wire_method *m = wire_method(calls[i].method);
        if (end[i] >= submitted && end[i] < end[i + 1] && end[i + 1] <= clock_steady_ns())
            trace_past(TRACE_LR, m->phase, calls[i].name ? calls[i].name : m->name, end[i],
                       end[i + 1]);
    }
}

/* The whole case once more, with outputs that were filled with the other pattern. */
static int check_written(struct case_run *c, const struct lent_arrays *l)
{
    struct hosted *h = c->t->hosted;
    struct host_death death = { 0 };

    if (!case_run_may_be_unwritten(c))
        return 0;
    c->is_second = true;
    for (uint32_t i = 0; i < c->o->n_out; i++)
        lent_region_fill(&c->region[i], true);
    if (host_call(&h->process, &h->options, HOST_RUN, c->options->allowance_ns, &death) == 1)
        return end_by_death(c, l, &death);
    return case_run_check_second(c, h->process.answers->stage == STAGE_EXECUTE
                                        ? (enum hal_status) h->process.answers->status
                                        : HAL_GENERAL_FAILURE);
}

int hosted_begin(struct case_run *c)
{
    struct host_death death = { 0 };
    struct why why = { 0 };
    int rc = ensure_process(c->t, &death, &why);

    if (rc == 1) {
        note_death(c->t->hosted, &death, "while it is opened", c->o);
    } else if (rc < 0 && why.code == WHY_INVALID) { /* it opened when the campaign began */
        case_run_violation(c, "%s", why.text);
        rc = 1;
    } else if (rc < 0) {
        *c->w = why;
    }
    return rc;
}

/* Processes that take over from the first one are not debugged. */
static int attach_debugger(struct hosted *h, struct why *w)
{
    int (*attach)(int pid, void *user, struct why *w) = h->attach;

    h->attach = NULL;
    return attach ? attach((int) host_driver_process(&h->process), h->options.user, w) : 0;
}

int hosted_run(struct case_run *c, const struct hal_model *h)
{
    struct hosted *hosted = c->t->hosted;
    struct lent_arrays l[HOST_EXECUTIONS] = { { .block = NULL } };
    struct host_death death = { 0 };

    const uint64_t submitted = TRACE_IS_ON() ? clock_steady_ns() : 0;
    TRY(case_run_begin_beside(c));
    int rc = submit(c, h, l, &death);
    if (rc < 0)
        return rc;
    if (rc == 1) {
        note_death(hosted, &death, "while it is opened", c->o);
        return 1;
    }
    TRY(attach_debugger(hosted, c->w));
    rc = host_call(&hosted->process, &hosted->options, HOST_RUN, c->options->allowance_ns, &death);
    if (rc == 1)
        return end_by_death(c, l, &death);
    if (TRACE_IS_ON())
        trace_calls(c, submitted);
    struct host_answers a = copy_answers(&hosted->process);
    text_clean(a.failure_text);
    memcpy(c->t->failure_text, a.failure_text, sizeof a.failure_text);
    hosted->kept_run = c->options->keep_prepared && a.stage == STAGE_EXECUTE ? c->o->run : 0;
    rc = judge_answers(c, h, &a, l);
    if (rc == 0)
        rc = check_written(c, l);
    if (a.repeated[0] && a.repeated_run <= c->o->run)
        case_run_note_repeated(c, a.repeated, a.repeated_run);
    if (c->o->died)
        return rc;
    keep_prints(&hosted->process, c->o);
    take_back(c, l);
    return rc;
}

bool target_release_prepared(struct target *t, struct outcome *ret_outcome)
{
    struct hosted *h = t->hosted;
    struct host_death death = { 0 };
    struct outcome o = { .stage = STAGE_DONE, .timing = hal_unknown_timing };

    if (!h || !h->process.pid)
        return false;
    h->kept_run = 0;
    if (host_call(&h->process, &h->options, HOST_RELEASE, 0, &death) == 0 ||
        !(o.arena = arena_new(0)))
        return false;
    note_death(h, &death, step_text(TARGET_AT_RELEASE), &o);
    *ret_outcome = o;
    return true;
}

bool target_sweep(struct target *t, uint64_t *ret_run)
{
    if (!t->hosted || !t->hosted->process.memory.arena)
        return false;
    *ret_run = lent_memory_sweep(&t->hosted->process.memory);
    return *ret_run;
}

bool target_take_late_callback(struct target *t, uint64_t *ret_run, char *ret_text, size_t size)
{
    struct hosted *h = t->hosted;
    struct host_death death = { 0 };

    if (!h || !h->process.pid || host_call(&h->process, &h->options, HOST_SETTLE, 0, &death) == 1)
        return false;
    struct host_answers a = copy_answers(&h->process);
    *ret_run = a.repeated_run;
    snprintf(ret_text, size, "%s called back more than once", a.repeated);
    return a.repeated[0] && a.repeated_run <= t->runs;
}

/* ---- opening and closing */

int hosted_open(const char *uri, const char *profile, const struct target_host *host,
                struct target **ret_target, struct why *w)
{
    struct hosted *h = calloc(1, sizeof *h);
    struct host_death death = { 0 };
    struct target *t = NULL;
    struct outcome o = { 0 };

    if (!h || target_of_driver(uri, NULL, &t, w) < 0) {
        free(h);
        return why_no_memory(w);
    }
    t->hosted = h;
    t->driver = &h->facade;
    h->profile = profile ? strdup(profile) : NULL;
    h->is_served = host->is_served;
    h->attach = host->attach;
    h->options = (struct host_options){ .uri = t->uri,
                                        .profile = h->profile,
                                        .may_use_devices = host->may_use_devices,
                                        .may_be_traced = host->attach,
                                        .may_spin = host->may_spin,
                                        .timeout = host->reply_timeout,
                                        .memory_limit = host->memory_limit,
                                        .arena = FIRST_ARENA,
                                        .largest = FIRST_LARGEST,
                                        .waiting = host->waiting,
                                        .user = host->user };
    host_init(&h->process);
    int rc = profile && !h->profile ? why_no_memory(w)
             : host->is_known       ? 0 /* the first run opens it */
                                    : ensure_process(t, &death, w);
    if (rc == 1) {
        o.arena = arena_new(0);
        note_death(h, &death, "while it is opened", &o);
        rc = why_fail(w, WHY_EXECUTION, "%s: %s", uri, o.violation);
        if (host->died)
            host->died(&o, host->user);
        outcome_done(&o);
    }
    if (rc < 0) {
        hosted_free(t);
        return -1;
    }
    *ret_target = t;
    return 0;
}

bool target_close(struct target *t, struct outcome *ret_outcome)
{
    struct hosted *h = t->hosted;
    struct host_death death = { 0 };
    struct outcome o = { .stage = STAGE_DONE, .timing = hal_unknown_timing };

    if (!h || !h->process.pid || !(o.arena = arena_new(0)))
        return false;
    disconnect(t);
    if (host_close(&h->process, &h->options, &death) == 0 || death.signal == SIGKILL) {
        outcome_done(&o);
        return false;
    }
    note_death(h, &death, "while it is closed", &o);
    *ret_outcome = o;
    return true;
}

bool target_has_failed(struct target *t, struct outcome *ret_outcome)
{
    static const char at[] = "while it describes itself";
    struct hosted *h = t->hosted;
    struct host_death death = { 0 };
    struct why why = { 0 };
    struct outcome o = { .stage = STAGE_SUPPORTED, .timing = hal_unknown_timing };

    if (!h || !h->remote || !remote_is_dead(h->remote, &why) || !(o.arena = arena_new(0)))
        return false;
    bool died = !h->process.pid || host_call(&h->process, &h->options, HOST_SETTLE, 0, &death) == 1;
    death.hung = death.hung || (!died && why.code == WHY_TIMEOUT);
    if (!died && !death.hung) {
        outcome_done(&o);
        return false;
    }
    note_death(h, &death, at, &o);
    *ret_outcome = o;
    return true;
}

void hosted_free(struct target *t)
{
    struct host_death death = { 0 };

    disconnect(t);
    if (t->hosted->process.pid)
        host_close(&t->hosted->process, &t->hosted->options, &death);
    host_done(&t->hosted->process);
    free(t->hosted->profile);
    free(t->hosted);
    target_forget(t);
}

int target_process(const struct target *t)
{
    return t->hosted ? (int) host_driver_process(&t->hosted->process) : 0;
}
