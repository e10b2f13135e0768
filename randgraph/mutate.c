/* Mutations of an example: chooses them, makes the example consistent again, checks the result. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "randgraph/mutate_internal.h"

enum { TRIES_MUTATION = 60, TRIES_VALUES = 4, TRIES_ATTRIBUTE = 4, MOST_MUTATIONS = 6 };
enum { KIND_VALUES }; /* index in the table */
static const double limit_float = 1e6, limit_half = 1e4, limit_integer = 0x1p30;

/* Shares of the mutations, relative to each other.  alike: those with options.alike.  few: with few
 * outcomes for a small example; such mutations alone are followed by one of values. */
static const struct {
    mutate *apply;
    uint32_t weight, alike;
    bool few;
} table[] = {
    [KIND_VALUES] = { mutate_values, 24, 12, false },
    { mutate_attributes, 20, 20, true },
    { mutate_sizes, 16, 16, false },
    { mutate_types, 8, 0, true },
    { mutate_quantisation, 8, 32, false },
    { mutate_lifetime, 6, 2, true },
    { mutate_optional, 5, 5, true },
    { mutate_replaced, 6, 0, true },
    { mutate_appended, 8, 0, false },
    { mutate_inserted, 6, 0, false },
    { mutate_outputs, 4, 0, true },
    { mutate_removed, 4, 0, true },
    { mutate_relaxed, 2, 0, true },
};

/* ---- calls of the example as if they were being drawn */

int64_t input_of(const struct edit *e, uint32_t operand)
{
    const struct graph *g = &e->e.model.graph[0];
    for (uint32_t k = 0; k < g->n_inputs; k++)
        if (g->input[k] == operand)
            return k;
    return -1;
}

const struct role *result_role(const struct op *op, uint32_t k)
{
    return &op->out[(int) k < op->n_out ? (int) k : op->n_out - 1];
}

bool call_form_of(const struct edit *e, uint32_t operation, struct call_form *ret)
{
    struct call call;
    if (!edit_bind(e, 0, operation, &call) || call.n_in > MAX_CALL || call.n_out > MAX_RESULTS ||
        call.op->control_kind != CONTROL_NONE)
        return false;
    *ret = (struct call_form){ call.op, call.form, call.typing, { 0 }, call.n_in, call.nchw };
    for (uint32_t k = 0; k < call.n_in; k++)
        ret->role[k] = (uint8_t) (call_role(&call, k) - call.op->in);
    return true;
}

/* The operand as a value, NULL where it is omitted.  One that has no known value is all zeros. */
static struct graph_value *value_of(struct builder *b, const struct edit *e, uint32_t operand)
{
    const struct operand *o = &e->e.model.graph[0].operand[operand];
    const int64_t input = input_of(e, operand);
    struct graph_value *k = graph_value_new(b, o->tensor.dtype, o->life);
    if (!k || operand_omitted(o))
        return NULL;
    k->t = input >= 0 ? e->e.in[input] : o->tensor;
    if (!k->t.data)
        k->t.data = arena_alloc(b->arena, tensor_bytes(&k->t) + 1, 1);
    return k->t.data ? k : NULL;
}

void redraft_next(struct draft *d, const struct edit *e, uint32_t operation, uint32_t at)
{
    const struct operation *o = &e->e.model.graph[0].operation[operation];
    const struct role *r = &d->op->in[d->role[at]];
    struct graph_value *k = value_of(d->b, e, o->in[at]);
    d->call.n_in = at;
    d->drawn[at] = true;
    if (!k)
        return;
    if (r->dims) {
        struct shape s = shape_nhwc(d, r, &k->t.shape);
        shape_bind(d, r, &s);
    }
    draft_set(d, at, k);
}

bool redraft(struct mutation *m, const struct edit *e, uint32_t operation,
             const struct call_form *s, uint32_t n_in, struct draft *ret)
{
    const struct operation *o = &e->e.model.graph[0].operation[operation];
    memset(ret, 0, sizeof *ret);
    ret->b = &m->b;
    ret->op = ret->call.op = s->op;
    ret->form = ret->call.form = s->form;
    ret->typing = ret->call.typing = s->typing;
    ret->call.arg = ret->arg;
    ret->call.nchw = s->nchw;
    ret->n_in = ret->call.n_inputs_total = s->n_in;
    memcpy(ret->role, s->role, sizeof s->role);
    if (o->n_in != s->n_in)
        return false;
    for (uint32_t k = 0; k < s->n_in; k++) {
        const struct operand *at = &e->e.model.graph[0].operand[o->in[k]];
        if (s->op->in[s->role[k]].draw == DRAW_KERNEL && operand_constant(at) && at->tensor.data) {
            uint32_t size = (uint32_t) tensor_at(&at->tensor, 0);
            ret->kernel = !ret->kernel || size < ret->kernel ? size : ret->kernel;
        }
    }
    for (uint32_t k = 0; k < n_in; k++)
        redraft_next(ret, e, operation, k);
    ret->call.n_in = n_in;
    return true;
}

bool redraw_attribute(struct mutation *m, struct edit *e, uint32_t operation,
                      const struct call_form *s, uint32_t at)
{
    const struct role *r = &s->op->in[s->role[at]];
    struct operation *o = &e->e.model.graph[0].operation[operation];
    struct draft d;
    const bool follows = (s->op->layout && r == &s->op->in[s->op->layout - 1]) ||
                         (s->op->fanout && r == &s->op->in[s->op->fanout - 1]);
    if ((r->dims && r->draw != DRAW_OP) || follows || r->draw == DRAW_MULTIPLIER ||
        operand_omitted(&e->e.model.graph[0].operand[o->in[at]]) ||
        !redraft(m, e, operation, s, at, &d))
        return false;
    if (r->draw == DRAW_KERNEL) {
        d.kernel = 0;
        scalar_kernels(&d);
    }
    if (scalar_draw(&d, at) < 0)
        return false;
    const struct tensor *t = &d.in[at]->t;
    const int64_t input = input_of(e, o->in[at]);
    if (input >= 0 && e->e.model.graph[0].operand[o->in[at]].consumers == 1) {
        const struct value_ref ref = { 0, o->in[at], input };
        edit_set_value(e, &ref, t);
        return true;
    }
    const struct operand constant = { .tensor = *t,
                                      .life = LIFE_CONSTANT_COPY,
                                      .length = tensor_bytes(t) };
    uint32_t added = edit_add_operand(e, 0, &constant); /* others may read the old one */
    if (added == UINT32_MAX)
        return false;
    e->e.model.graph[0].operation[operation].in[at] = added;
    return true;
}

/* ---- what follows from a change */

/* Draws attributes of an operation anew until it binds. */
static bool fit_attributes(struct mutation *m, struct edit *e, uint32_t operation)
{
    struct call_form s;
    struct call call;
    if (!call_form_of(m->from, operation, &s))
        return false;
    for (uint32_t k = 1; k < s.n_in; k++)
        for (int i = 0; i < TRIES_ATTRIBUTE && redraw_attribute(m, e, operation, &s, k); i++)
            if (edit_bind(e, 0, operation, &call))
                return true;
    return false;
}

bool follow_shapes(struct mutation *m, struct edit *e)
{
    const struct graph *g = &e->e.model.graph[0];
    struct call call;
    struct shape *declared = arena_alloc(e->arena, g->n_operands + 1, sizeof *declared);
    uint32_t n = g->n_operands;
    bool fits = declared != NULL;
    for (uint32_t i = 0; fits && i < n; i++)
        declared[i] = g->operand[i].tensor.shape;
    for (uint32_t i = 0; fits && i < g->n_operations; i++) {
        const struct operation *o = &g->operation[i];
        fits = edit_bind(e, 0, i, &call) || (fit_attributes(m, e, i) && edit_bind(e, 0, i, &call));
        for (uint32_t k = 0; fits && k < o->n_out; k++)
            g->operand[o->out[k]].tensor.shape = call.out[k]->shape;
    }
    /* edit_settle() keeps dimensions unknown that were declared so */
    for (uint32_t i = 0; declared && i < n; i++)
        if (g->operand[i].life == LIFE_TEMPORARY || g->operand[i].life == LIFE_OUTPUT)
            g->operand[i].tensor.shape = declared[i];
    return fits;
}

static bool is_quantised(const struct tensor *t)
{
    enum quant q = dtype_info[t->dtype].quant;
    return q == QUANT_AFFINE || q == QUANT_SYMM || q == QUANT_BIAS;
}

static void follow_inputs(struct draft *d, struct edit *e, uint32_t operation)
{
    const struct operation *o = &e->e.model.graph[0].operation[operation];
    for (uint32_t k = 0; k < d->n_in; k++) {
        const struct operand *at = &e->e.model.graph[0].operand[o->in[k]];
        const struct role *r = &d->op->in[d->role[k]];
        struct tensor t = at->tensor;
        int exponent;
        bool fits = r->q == Q_PRODUCT ? false
                    : r->q == Q_POWER ? quant_exponent((double) t.scale, &exponent)
                                      : scale_fits(d, r, &t);
        if (is_quantised(&t) && !operand_omitted(at) && !fits && scale_for_operand(d, k, &t) == 0)
            edit_set_quant(e, o->in[k], t.scale, t.zero);
        redraft_next(d, e, operation, k);
    }
}

bool follow_quantisation(struct mutation *m, struct edit *e, const struct call_form *like)
{
    const struct graph *g = &e->e.model.graph[0];
    for (uint32_t i = 0; i < g->n_operations; i++) {
        const struct operation *o = &g->operation[i];
        struct call_form form;
        struct draft d;
        if (!like && !call_form_of(m->from, i, &form))
            continue; /* IF and WHILE, and what does not read quantised tensors */
        if (!redraft(m, e, i, like ? &like[i] : &form, 0, &d))
            return false;
        follow_inputs(&d, e, i);
        for (uint32_t k = 0; k < o->n_out; k++) {
            const struct role *r = result_role(d.op, k);
            struct tensor t = g->operand[o->out[k]].tensor;
            struct graph_value free = { .t = t };
            d.out[0] = &free;
            if (!is_quantised(&t) || dtype_info[t.dtype].quant == QUANT_BIAS)
                continue;
            if (scale_is_free(r, t.dtype) && scale_allowed(&d, r, &t))
                continue;
            scale_preliminary(&d, r, &t);
            edit_set_quant(e, o->out[k], t.scale, t.zero);
        }
    }
    return true;
}

/* ---- what the reference computes */

struct observed {
    const struct edit *e;
    struct tensor *value; /* by operand of the main graph */
    bool half;            /* fp32 may be computed in fp16 */
    double largest;       /* magnitude of a result relative to its type's limit; NaN counts as
                             infinite */
    size_t elements;      /* of the largest result */
    bool failed;          /* out of memory */
};

static double limit_of(const struct observed *s, enum dtype dtype)
{
    return dtype == DT_I32 ? limit_integer : dtype == DT_F16 || s->half ? limit_half : limit_float;
}

static void observe_size(struct observed *s, const struct tensor *t)
{
    const size_t n = tensor_count(t);
    s->elements = n > s->elements ? n : s->elements;
    if (t->dtype != DT_F32 && t->dtype != DT_F16 && (t->dtype != DT_I32 || t->scale > 0))
        return;
    for (size_t i = 0; i < n; i++) {
        double x = fabs(tensor_at(t, i)) / limit_of(s, t->dtype);
        s->largest = x <= s->largest ? s->largest : isnan(x) ? (double) INFINITY : x;
    }
}

static void observe(const struct exec_event *event, void *user)
{
    struct observed *s = user;
    const struct operation *o = &s->e->e.model.graph[event->graph].operation[event->operation];
    for (uint32_t k = 0; k < o->n_out; k++) {
        const struct tensor *t = event->call->out[k];
        if (!t->data)
            continue;
        observe_size(s, t);
        if (event->graph || event->call->nchw) /* of NCHW: views */
            continue;
        struct tensor *to = &s->value[o->out[k]];
        *to = *t;
        to->data = arena_copy(s->e->arena, t->data, tensor_bytes(t));
        s->failed |= !to->data;
    }
}

/* Settles the example and returns its feature level; -1: the reason. */
static int settle(struct edit *e, struct observed *ret, struct why *w)
{
    const struct graph *g = &e->e.model.graph[0];
    REQUIRE(w, !e->e.expect_failure, "its execution must fail");
    *ret = (struct observed){ .e = e, .half = e->e.model.relaxed };
    ret->value = arena_alloc(e->arena, g->n_operands + 1, sizeof *ret->value);
    if (!ret->value)
        return why_no_memory(w);
    e->on_operation = observe;
    e->user = ret;
    int failed = edit_settle(e, w);
    e->on_operation = NULL;
    if (failed < 0)
        return -1;
    return ret->failed ? why_no_memory(w) : model_prepare(&e->e.model, NULL, w);
}

/* ---- one mutation after the other */

struct progress {
    struct mutation m;
    struct edit best;      /* the example so far */
    struct observed state; /* of it */
    double largest;        /* as observed.largest, that is allowed */
    size_t elements;       /* likewise */
    uint64_t digest[2 + MOST_MUTATIONS];
    uint32_t n;
};

static bool is_new(const struct progress *p, const struct example *e)
{
    const uint64_t digest = randgraph_example_digest(e);
    for (uint32_t i = 0; i <= p->n; i++)
        if (p->digest[i] == digest)
            return false;
    return true;
}

static bool is_acceptable(const struct progress *p, const struct edit *e, const struct observed *s,
                          int level)
{
    return level <= p->m.b.options->max_level && s->elements <= p->elements &&
           edit_largest(&e->e) <= p->elements && (s->largest <= p->largest || p->m.b.nonfinite) &&
           is_new(p, &e->e);
}

/* The profiles of values, as those of a graph.  Values that are not finite are moved and computed
 * from by one operation only, as what follows is not defined. */
static void draw_profiles(struct builder *b, const struct model *m)
{
    b->values = b->options->values;
    if (b->values == VALUES_MIX && rng_percent(b->rng, b->weights->one_profile))
        b->values = profile_any(b);
    b->call_values = rng_percent(b->rng, b->weights->call_profile) ? profile_any(b) : VALUES_MIX;
    b->nonfinite = b->nonfinite ||
                   (b->values == VALUES_EDGE && m->n_graphs == 1 && m->graph[0].n_operations == 1 &&
                    rng_percent(b->rng, b->weights->nonfinite));
}

/* One try.  False: to be drawn again; nothing has changed. */
static bool try_mutation(struct progress *p, uint32_t kind)
{
    struct arena_mark mark = arena_mark(p->m.b.arena);
    struct builder *b = &p->m.b, before = *b;
    struct edit next;
    struct observed state;
    struct why why;
    p->m.from = &p->best;
    p->m.value = p->state.value;
    draw_profiles(b, &p->best.e.model);
    if (edit_copy(&p->best.e, b->arena, &next, &why) == 0 && table[kind].apply(&p->m, &next)) {
        int level = settle(&next, &state, &why);
        if (level >= 0 && is_acceptable(p, &next, &state, level)) {
            p->digest[++p->n] = randgraph_example_digest(&next.e);
            p->best = next;
            p->state = state;
            before.nonfinite = b->nonfinite;
            *b = before;
            return true;
        }
    }
    arena_rewind(b->arena, mark);
    *b = before;
    return false;
}

static int begin(struct progress *p, const struct randgraph_options *o, struct arena *arena,
                 struct why *w)
{
    TRY(edit_copy(o->from, arena, &p->best, w));
    int level = settle(&p->best, &p->state, w);
    TRY(level);
    REQUIRE(w, level <= o->max_level, "needs feature level %d, at most %d is allowed", level,
            o->max_level);
    size_t largest = edit_largest(&p->best.e);
    p->elements = largest > p->m.b.max_elements ? largest : p->m.b.max_elements;
    p->elements = p->state.elements > p->elements ? p->state.elements : p->elements;
    p->largest = p->state.largest > 0.5 ? 2 * p->state.largest : 1;
    p->digest[0] = randgraph_example_digest(&p->best.e);
    return 0;
}

static uint32_t draw_kind(struct rng *r, bool alike)
{
    uint32_t weight[COUNT(table)];
    for (int i = 0; i < COUNT(table); i++)
        weight[i] = alike ? table[i].alike : table[i].weight;
    return draw_weighted(r, weight, COUNT(table));
}

static uint32_t draw_number(struct rng *r)
{
    uint32_t n = 1;
    while (n < MOST_MUTATIONS && rng_percent(r, 50))
        n++;
    return n;
}

int mutate_example(const struct randgraph_options *o, struct rng *r, struct arena *arena,
                   struct example *ret_example, struct why *w)
{
    struct progress p = { 0 };
    struct randgraph_weights weights = o->weights ? *o->weights : randgraph_weights_default;
    weights.input_scalar = 0; /* attributes stay what they are, constants or inputs */
    weights.any_next = 0;     /* an operation that is appended reads what there is */
    TRY(builder_begin(&p.m.b, o, r, arena, w));
    p.m.b.weights = &weights;
    int failed = begin(&p, o, arena, w);
    uint32_t wanted = draw_number(r);
    bool few = true;
    for (int i = 0; !failed && i < TRIES_MUTATION && p.n < wanted; i++) {
        uint32_t kind = draw_kind(r, o->alike);
        if (try_mutation(&p, kind)) {
            few = few && table[kind].few;
            i = 0;
        }
    }
    for (int i = 0; !failed && few && i < TRIES_VALUES && !try_mutation(&p, KIND_VALUES); i++)
        continue;
    arena_free(p.m.b.scratch);
    if (failed)
        return why_prefix(w, "%s: cannot be mutated", o->from->name ? o->from->name : "example");
    REQUIRE(w, p.n, "%s: cannot be mutated: found nothing in it that can be changed",
            o->from->name ? o->from->name : "example");
    *ret_example = p.best.e;
    return 0;
}

int randgraph_check_from(const struct randgraph_options *o, const struct example *e, struct why *w)
{
    struct arena *arena = arena_new(0);
    struct edit copy;
    struct observed state;
    if (!arena)
        return why_no_memory(w);
    int level = edit_copy(e, arena, &copy, w) < 0 ? -1 : settle(&copy, &state, w);
    arena_free(arena);
    TRY(level);
    REQUIRE(w, level <= o->max_level, "needs feature level %d, at most %d is allowed", level,
            o->max_level);
    return 0;
}

/* ---- digest */

static uint64_t add_bytes(uint64_t hash, const void *bytes, size_t n)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ at[i]) * 0x100000001b3u; /* FNV-1a */
    return hash;
}

static uint64_t add_number(uint64_t hash, int64_t n)
{
    return add_bytes(hash, &n, sizeof n);
}

static uint64_t add_tensor(uint64_t hash, const struct tensor *t)
{
    hash = add_number(add_number(hash, (int64_t) t->dtype), t->shape.rank);
    hash = add_bytes(hash, t->shape.dim, t->shape.rank * sizeof t->shape.dim[0]);
    hash = add_number(add_bytes(hash, &t->scale, sizeof t->scale), t->zero);
    if (t->channel_scale) {
        hash = add_number(hash, t->channel_dim);
        hash = add_bytes(hash, t->channel_scale, t->n_channels * sizeof *t->channel_scale);
    }
    if (t->extension)
        hash = add_bytes(hash, t->extension, t->extension_length);
    return t->data ? add_bytes(hash, t->data, tensor_bytes(t)) : add_number(hash, -1);
}

static uint64_t add_list(uint64_t hash, const uint32_t *list, uint32_t n)
{
    return add_bytes(add_number(hash, n), list, n * sizeof *list);
}

static uint64_t add_graph(uint64_t hash, const struct graph *g)
{
    for (uint32_t i = 0; i < g->n_operands; i++) {
        hash = add_number(hash, (int64_t) g->operand[i].life << 32 | g->operand[i].subgraph);
        hash = add_number(add_tensor(hash, &g->operand[i].tensor), g->operand[i].foreign);
    }
    for (uint32_t i = 0; i < g->n_operations; i++) {
        const struct operation *o = &g->operation[i];
        hash = add_number(hash, o->code);
        hash = add_list(add_list(hash, o->in, o->n_in), o->out, o->n_out);
    }
    return add_list(add_list(hash, g->input, g->n_inputs), g->output, g->n_outputs);
}

uint64_t randgraph_example_digest(const struct example *e)
{
    uint64_t hash = add_number(0xcbf29ce484222325u, e->model.relaxed);
    for (uint32_t g = 0; g < e->model.n_graphs; g++)
        hash = add_graph(add_number(hash, g), &e->model.graph[g]);
    for (uint32_t k = 0; k < e->model.graph[0].n_inputs; k++)
        hash = add_tensor(hash, &e->in[k]);
    return hash ? hash : 1; /* 0: none */
}
