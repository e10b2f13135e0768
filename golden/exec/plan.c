/* Making plans from models, and running them graph by graph. */
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "golden/base/clock.h"
#include "golden/base/logging.h"
#include "golden/base/trace.h"
#include "golden/exec/call.h"
#include "golden/exec/const_cache.h"
#include "golden/exec/exec.h"
#include "golden/model/extension.h"

#define LOG_TAG "CpuExecutor"

enum { RESULT_SLOTS = 3, DEFAULT_LOOP_SECONDS = 2, MOST_SPARE = 1 << 26, MOST_PREPARED = 1 << 28 };

/* One operation of a graph, resolved. */
struct step {
    const struct op *op;
    const struct operation *operation;
    uint32_t index;
};

struct plan {
    struct arena *arena;
    const struct model *model;
    struct step **steps;             /* per graph, in order of execution */
    struct value **values;           /* per graph and operand: initial values, constants only */
    struct const_cache *const_cache; /* per constant: its derived forms */
    uint32_t n_const_caches;
    _Atomic size_t *room; /* bytes that derived forms may still take */
    int level;
    /* Scratch memory kept from the last run: new pages cost more than running a small model. */
    _Atomic(struct arena *) *spare;
};

/* One run of a plan. */
struct run {
    const struct plan *plan;
    const struct exec_options *options;
    struct arena *scratch;
    uint64_t operations; /* started so far */
};

/* The execution of one operation that runs subgraphs. */
struct exec_frame {
    struct run *run;
    const struct graph *graph;
    const struct operation *operation;
    struct value **in, **out;
    struct arena *keep;  /* for results of the graph that it belongs to */
    struct arena **slot; /* RESULT_SLOTS arenas per graph, used in turn */
    uint32_t *turn;
    bool undecided;
};

static int fill_plan(struct plan *p, struct why *w)
{
    const struct model *m = p->model;
    size_t n_constants = 0;
    int32_t code;

    p->level = model_prepare(m, NULL, w);
    if (p->level < 0)
        return -1;
    if (model_is_foreign(m, &code))
        return why_fail(w, WHY_UNSUPPORTED, "unknown %s %d",
                        extension_prefix_of(code) ? "extension code" : "OEM code", code);
    for (uint32_t g = 0; g < m->n_graphs; g++)
        for (uint32_t i = 0; i < m->graph[g].n_operands; i++)
            n_constants += operand_constant(&m->graph[g].operand[i]);
    p->steps = arena_alloc(p->arena, m->n_graphs, sizeof *p->steps);
    p->values = arena_alloc(p->arena, m->n_graphs, sizeof *p->values);
    p->spare = arena_alloc(p->arena, 1, sizeof *p->spare);
    p->room = arena_alloc(p->arena, 1, sizeof *p->room);
    p->const_cache = arena_alloc(p->arena, n_constants, sizeof *p->const_cache);
    if (!p->steps || !p->values || !p->spare || !p->room || !p->const_cache)
        return why_no_memory(w);
    atomic_store(p->room, MOST_PREPARED);
    for (size_t i = 0; i < n_constants; i++)
        p->const_cache[i].room = p->room;

    for (uint32_t index = 0; index < m->n_graphs; index++) {
        const struct graph *g = &m->graph[index];
        struct step *steps = arena_alloc(p->arena, g->n_operations + 1, sizeof *steps);
        uint32_t *order = arena_alloc(p->arena, g->n_operations + 1, sizeof *order);
        struct value *values = arena_alloc(p->arena, g->n_operands, sizeof *values);
        if (!steps || !order || !values)
            return why_no_memory(w);
        TRY(graph_order(g, p->arena, order, w));
        for (uint32_t i = 0; i < g->n_operations; i++) {
            const struct operation *o = &g->operation[order[i]];
            steps[i] = (struct step){ op_find(o->code), o, order[i] };
        }
        for (uint32_t i = 0; i < g->n_operands; i++) {
            values[i].tensor = g->operand[i].tensor;
            TRY(tensor_align(&values[i].tensor, p->arena, w));
            if (operand_constant(&g->operand[i]))
                values[i].const_cache = &p->const_cache[p->n_const_caches++];
        }
        p->steps[index] = steps;
        p->values[index] = values;
    }
    return 0;
}

int plan_new(const struct model *m, struct plan **ret_plan, struct why *w)
{
    struct arena *arena = arena_new(0);
    struct plan *p = arena ? arena_alloc(arena, 1, sizeof *p) : NULL;

    TRACE(LC, PC, "plan_new");
    if (!p) {
        arena_free(arena);
        return why_no_memory(w);
    }
    *p = (struct plan){ .arena = arena, .model = m };
    if (fill_plan(p, w) < 0) {
        plan_free(p);
        return -1;
    }
    *ret_plan = p;
    return 0;
}

void plan_free(struct plan *p)
{
    if (!p)
        return;
    for (uint32_t i = 0; i < p->n_const_caches; i++)
        const_cache_done(&p->const_cache[i]);
    if (p->spare)
        arena_free(atomic_load(p->spare));
    arena_free(p->arena);
}

int plan_level(const struct plan *p)
{
    return p->level;
}

static int run_control(struct run *r, const struct graph *g, struct call *c,
                       const struct operation *o, struct value **in, struct value **out,
                       struct arena *keep, struct why *w);

static bool may_be_open(const struct tensor *declared)
{
    return dtype_info[declared->dtype].tensor && !shape_known(&declared->shape);
}

/* Outputs computed from a value of undecided shape are undecided, and so are their shapes unless
 * the model declares them. */
static int spread_open(const struct graph *g, const struct operation *o, const struct call *c,
                       struct value **in, struct value **out, struct arena *keep, struct why *w)
{
    bool open = c->undecided;

    for (uint32_t k = 0; k < o->n_in; k++)
        open |= in[k] && in[k]->open;
    for (uint32_t k = 0; k < o->n_out && open; k++) {
        out[k]->open = may_be_open(&g->operand[o->out[k]].tensor);
        if (value_undecided(out[k], keep) < 0)
            return why_no_memory(w);
    }
    return 0;
}

static void log_step(const struct step *s, const struct tensor *const *in, uint32_t graph)
{
    char text[480] = "", shape[SHAPE_TEXT];
    size_t at = 0;

    for (uint32_t k = 0; k < s->operation->n_in && at < sizeof text; k++) {
        const char *type = in[k] ? dtype_info[in[k]->dtype].name : "omitted";
        at += (size_t) snprintf(text + at, sizeof text - at, "%s%s%s", k ? ", " : "", type,
                                in[k] ? shape_text(&in[k]->shape, shape) : "");
    }
    log_write(LOG_INFO, LOG_TAG, "graph %u, operation %u: %s(%s)", graph, s->index, s->op->name,
              text);
}

static int run_step(struct run *r, const struct graph *g, const struct step *s,
                    struct value *values, struct arena *keep, uint32_t graph_index, struct why *w)
{
    const struct operation *o = s->operation;
    struct value **in = arena_alloc(r->scratch, o->n_in + o->n_out + 1, sizeof *in);
    const struct tensor **in_tensor = arena_alloc(r->scratch, o->n_in + 1, sizeof *in_tensor);
    struct tensor **out_tensor = arena_alloc(r->scratch, o->n_out + 1, sizeof *out_tensor);
    struct call call;

    if (!in || !in_tensor || !out_tensor)
        return why_no_memory(w);
    if (r->options->max_operations && r->operations++ >= r->options->max_operations)
        return why_fail(w, WHY_TIMEOUT, "more than %llu operations executed",
                        (unsigned long long) r->options->max_operations);
    struct value **out = in + o->n_in;
    for (uint32_t k = 0; k < o->n_in; k++) {
        const struct operand *operand = &g->operand[o->in[k]];
        struct value *v = &values[o->in[k]];
        bool omitted = operand_omitted(operand) || (operand->life == LIFE_INPUT && !v->tensor.data);
        in[k] = omitted ? NULL : v;
        in_tensor[k] = omitted ? NULL : &v->tensor;
    }
    for (uint32_t k = 0; k < o->n_out; k++) {
        out[k] = &values[o->out[k]];
        out_tensor[k] = &out[k]->tensor;
    }
    TRACE(LC, PCO, s->op->name);
    if (VLOG_IS_ON(CPUEXE))
        log_step(s, in_tensor, graph_index);
    if (op_bind(s->op, in_tensor, o->n_in, out_tensor, o->n_out, true, &call, w) < 0) {
        w->code = WHY_EXECUTION;
        return -1;
    }
    if (s->op->control)
        return run_control(r, g, &call, o, in, out, keep, w);
    struct evaluation e = { r->options, r->plan->model->relaxed, keep, r->scratch, true };
    TRY(call_evaluate(&call, in, out, &e, w));
    if (r->options->bounds)
        TRY(spread_open(g, o, &call, in, out, keep, w));
    if (r->options->on_operation) {
        struct exec_event event = { graph_index, s->index, &call };
        r->options->on_operation(&event, r->options->user);
    }
    return 0;
}

/* Runs one graph.  values: one per operand; those of inputs are set. */
static int run_graph(struct run *r, uint32_t index, struct value *values, struct arena *keep,
                     struct why *w)
{
    const struct graph *g = &r->plan->model->graph[index];

    for (uint32_t i = 0; i < g->n_operations; i++) {
        const struct step *s = &r->plan->steps[index][i];
        struct arena_mark mark = arena_mark(r->scratch);
        int rc = run_step(r, g, s, values, keep, index, w);
        arena_rewind(r->scratch, mark);
        if (rc < 0)
            return index ? why_prefix(w, "subgraph %u, operation %u", index, s->index)
                         : why_prefix(w, "operation %u", s->index);
    }
    return 0;
}

static struct value *new_values(const struct plan *p, uint32_t graph, struct arena *keep)
{
    size_t n = p->model->graph[graph].n_operands;

    return arena_copy(keep, p->values[graph], n * sizeof(struct value));
}

/* Checks type and complete shape of an input or output against the model's declaration. */
static int check_fits(const struct tensor *declared, const struct tensor *given, const char *what,
                      uint32_t i, struct why *w)
{
    const struct dtype_info *info = dtype_find((int32_t) given->dtype);
    const struct shape *d = &declared->shape, *s = &given->shape;
    char a[SHAPE_TEXT], b[SHAPE_TEXT];

    REQUIRE(w, given->dtype == declared->dtype, "%s %u is %s, declared %s", what, i,
            info ? info->name : "of an unknown type", dtype_info[declared->dtype].name);
    bool fits = s->rank <= MAX_RANK && (info->tensor ? s->rank > 0 : s->rank == 0);
    if (d->rank)
        fits = fits && d->rank == s->rank;
    for (uint32_t k = 0; fits && k < d->rank; k++)
        fits = d->dim[k] == 0 || d->dim[k] == s->dim[k];
    REQUIRE(w, fits, "%s %u has shape %s, declared %s", what, i, shape_text(s, a),
            shape_text(d, b));
    REQUIRE(w, shape_check_size(s, info->codec->size) == 0, "%s %u is too large", what, i);
    return 0;
}

static int check_argument(const struct tensor *declared, const struct tensor *given, uint32_t i,
                          struct why *w)
{
    return given->data ? check_fits(declared, given, "input", i, w) : 0; /* NULL: omitted */
}

/* Runs the main graph and stores its outputs; with bounds, every output gets real and bound. */
static int run_main(struct run *r, const struct tensor *in, struct result *ret, struct why *w)
{
    const struct graph *g = &r->plan->model->graph[0];
    struct arena *a = ret->arena;
    struct value *values = new_values(r->plan, 0, a);
    bool bounds = r->options->bounds;

    ret->n = g->n_outputs;
    ret->out = arena_alloc(a, g->n_outputs + 1, sizeof *ret->out);
    ret->kind = arena_alloc(a, g->n_outputs + 1, sizeof *ret->kind);
    ret->open = arena_alloc(a, g->n_outputs + 1, sizeof *ret->open);
    ret->distribution = arena_alloc(a, g->n_outputs + 1, sizeof(struct distribution *));
    ret->choices = arena_alloc(a, g->n_outputs + 1, sizeof(struct choices *));
    if (bounds) {
        ret->real = arena_alloc(a, g->n_outputs + 1, sizeof *ret->real);
        ret->bound = arena_alloc(a, g->n_outputs + 1, sizeof *ret->bound);
    }
    if (!values || !ret->out || !ret->kind || !ret->open || !ret->distribution || !ret->choices ||
        (bounds && (!ret->real || !ret->bound)))
        return why_no_memory(w);
    for (uint32_t i = 0; i < g->n_inputs; i++) {
        struct value *v = &values[g->input[i]];
        TRY(check_argument(&v->tensor, &in[i], i, w));
        v->tensor.data = in[i].data;
        v->tensor.shape = in[i].shape;
        TRY(tensor_align(&v->tensor, a, w));
    }
    TRY(run_graph(r, 0, values, a, w));
    for (uint32_t i = 0; i < g->n_outputs; i++) {
        struct value *v = &values[g->output[i]];
        size_t n = tensor_count(&v->tensor);
        ret->out[i] = v->tensor;
        ret->kind[i] = v->kind;
        ret->open[i] = v->open;
        ret->distribution[i] = v->distribution;
        ret->choices[i] = v->choices;
        if (!bounds)
            continue;
        if (!v->real) {
            v->real = arena_alloc_raw(a, n + 1, sizeof(double));
            if (v->real)
                tensor_widen(&v->tensor, v->real);
        }
        if (!v->bound)
            v->bound = arena_alloc(a, n + 1, sizeof(double));
        if (!v->real || !v->bound)
            return why_no_memory(w);
        ret->real[i] = v->real;
        ret->bound[i] = v->bound;
    }
    return 0;
}

/* Runs may overlap: one of them takes the spare arena, the others create one.  With a memory limit
 * every run creates its own, so that the outcome does not depend on earlier runs. */
static struct arena *take_scratch(const struct plan *p, size_t limit)
{
    struct arena *a = limit ? NULL : atomic_exchange(p->spare, NULL);

    return a ? a : arena_new(limit);
}

static void return_scratch(const struct plan *p, size_t limit, struct arena *a)
{
    if (a && !limit && arena_bytes(a) <= MOST_SPARE) {
        arena_rewind(a, (struct arena_mark){ 0 });
        a = atomic_exchange(p->spare, a);
    }
    arena_free(a);
}

int plan_run(const struct plan *p, const struct tensor *in, const struct exec_options *options,
             struct result *ret_result, struct why *w)
{
    static const struct exec_options defaults;
    struct why unused;
    struct result result = { 0 };
    struct run r = { .plan = p, .options = options ? options : &defaults };

    TRACE(LC, PU, "plan_run");
    w = w ? w : &unused;
    result.owns_arena = !r.options->arena;
    result.arena = r.options->arena ? r.options->arena : arena_new(r.options->memory_limit);
    r.scratch = take_scratch(p, r.options->memory_limit);
    int rc = !result.arena || !r.scratch ? why_no_memory(w) : run_main(&r, in, &result, w);
    return_scratch(p, r.options->memory_limit, r.scratch);
    if (rc < 0)
        result_done(&result);
    else
        *ret_result = result;
    return rc;
}

void result_done(struct result *r)
{
    if (r && r->owns_arena)
        arena_free(r->arena);
    if (r)
        *r = (struct result){ 0 };
}

static int keep_bytes(struct arena *keep, void **p, size_t length)
{
    if (!*p)
        return 0;
    *p = arena_copy(keep, *p, length);
    return *p ? 0 : -1;
}

/* Copies output i from the frame's arenas to those of its graph. */
static int keep_output(struct exec_frame *f, uint32_t i, struct why *w)
{
    struct value *v = f->out[i];
    const struct tensor *declared = &f->graph->operand[f->operation->out[i]].tensor;
    void *real = v->real, *bound = v->bound;

    if (!v->tensor.data) /* an omitted argument, returned by a loop without iterations */
        return why_fail(w, WHY_EXECUTION, "output %u has no value", i);
    TRY(check_fits(declared, &v->tensor, "output", i, w));
    size_t n = tensor_count(&v->tensor);
    v->tensor.data = arena_copy(f->keep, v->tensor.data, tensor_bytes(&v->tensor));
    if (!v->tensor.data || keep_bytes(f->keep, &real, n * sizeof(double)) < 0 ||
        keep_bytes(f->keep, &bound, n * sizeof(double)) < 0)
        return why_no_memory(w);
    v->real = real;
    v->bound = bound;
    v->const_cache = NULL;
    v->distribution = NULL; /* its bounds are INFINITY */
    v->choices = NULL;      /* in memory of the subgraph; the bounds remain */
    int rc = 0;
    if (f->undecided) {
        v->open |= may_be_open(declared);
        rc = value_undecided(v, f->keep);
    } else if (f->run->options->bounds && f->run->plan->model->relaxed)
        rc = value_stored_in_half(v, f->keep); /* a loop may return an input of the model */
    return rc < 0 ? why_no_memory(w) : 0;
}

static int run_control(struct run *r, const struct graph *g, struct call *c,
                       const struct operation *o, struct value **in, struct value **out,
                       struct arena *keep, struct why *w)
{
    uint32_t n_graphs = r->plan->model->n_graphs;
    struct exec_frame f = {
        .run = r,
        .graph = g,
        .operation = o,
        .in = in,
        .out = out,
        .keep = keep,
        .slot = arena_alloc(r->scratch, n_graphs, RESULT_SLOTS * sizeof *f.slot),
        .turn = arena_alloc(r->scratch, n_graphs, sizeof *f.turn),
    };

    if (!f.slot || !f.turn)
        return why_no_memory(w);
    c->scratch = r->scratch;
    c->pool = r->options->pool;
    int rc = c->op->control(c, &f, w);
    for (uint32_t i = 0; i < o->n_out && rc >= 0; i++)
        rc = keep_output(&f, i, w);
    if (rc < 0 && w->code == WHY_INVALID)
        w->code = WHY_EXECUTION;
    for (uint32_t i = 0; i < n_graphs * RESULT_SLOTS; i++)
        arena_free(f.slot[i]);
    return rc;
}

struct value *frame_in(struct exec_frame *f, uint32_t i)
{
    return f->in[i];
}

struct value *frame_out(struct exec_frame *f, uint32_t i)
{
    return f->out[i];
}

uint32_t frame_subgraph(const struct exec_frame *f, uint32_t i)
{
    return f->graph->operand[f->operation->in[i]].subgraph;
}

uint32_t frame_n_outputs(const struct exec_frame *f, uint32_t graph)
{
    return f->run->plan->model->graph[graph].n_outputs;
}

void frame_undecided(struct exec_frame *f)
{
    f->undecided = true;
}

/* The arena for this call's values: the least recently used. */
static struct arena *next_slot(struct exec_frame *f, uint32_t graph)
{
    struct arena **a = &f->slot[graph * RESULT_SLOTS + f->turn[graph]++ % RESULT_SLOTS];

    if (!*a)
        *a = arena_new(f->run->options->memory_limit);
    else
        arena_rewind(*a, (struct arena_mark){ 0 });
    return *a;
}

int frame_call(struct exec_frame *f, uint32_t graph, const struct value *in, uint32_t n_in,
               struct value *ret_out, uint32_t n_out, struct why *w)
{
    const struct graph *g = &f->run->plan->model->graph[graph];
    struct arena *keep = next_slot(f, graph);
    struct value *values = keep ? new_values(f->run->plan, graph, keep) : NULL;

    if (!values)
        return why_no_memory(w);
    REQUIRE(w, n_in == g->n_inputs && n_out == g->n_outputs,
            "subgraph %u has %u inputs and %u outputs", graph, g->n_inputs, g->n_outputs);
    for (uint32_t i = 0; i < n_in; i++) {
        struct value *v = &values[g->input[i]];
        struct tensor declared = v->tensor;
        TRY(check_argument(&declared, &in[i].tensor, i, w));
        *v = in[i];
        v->tensor = declared;
        v->tensor.shape = in[i].tensor.shape;
        v->tensor.data = in[i].tensor.data;
        v->const_cache = NULL; /* not a constant: it differs between calls */
    }
    TRY(run_graph(f->run, graph, values, keep, w));
    for (uint32_t i = 0; i < n_out; i++)
        ret_out[i] = values[g->output[i]];
    return 0;
}

double frame_now(void)
{
    return 1e-9 * (double) clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

int frame_check_loop(const struct exec_frame *f, double since, uint64_t iterations, struct why *w)
{
    const struct exec_options *o = f->run->options;
    double limit = o->loop_timeout > 0 ? o->loop_timeout : DEFAULT_LOOP_SECONDS;

    if (o->max_iterations && iterations > o->max_iterations)
        return why_fail(w, WHY_TIMEOUT, "a loop exceeded %llu iterations",
                        (unsigned long long) o->max_iterations);
    if (frame_now() - since > limit)
        return why_fail(w, WHY_TIMEOUT, "a loop ran for more than %g s", limit);
    return 0;
}
