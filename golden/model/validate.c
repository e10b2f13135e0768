/* Model validation: operands, then the connections of operations, then each operation against its
 * record, with the shapes inferred so far. */
#include <math.h>
#include <string.h>

#include "golden/base/arena.h"
#include "golden/model/compliance.h"
#include "golden/model/extension.h"

enum { MAX_GRAPHS = 4096, MAX_NESTING = 64, MAX_ARITY = 1 << 20 };

/* The state of one validation. */
struct validation {
    const struct model *model;
    struct arena *scratch;
    level_visitor *each; /* NULL: none */
    void *user;
    bool by_api;           /* model_check_api() */
    struct why impossible; /* first reason why no execution can succeed; no text: none */
};

static int report_need(const struct validation *s, const struct level_requirement *n, struct why *w)
{
    return s->each ? s->each(n, s->user, w) : 0;
}

static int operand_fail(struct why *w, uint32_t graph, uint32_t i)
{
    return graph ? why_prefix(w, "subgraph %u, operand %u", graph, i)
                 : why_prefix(w, "operand %u", i);
}

static int operation_fail(struct why *w, uint32_t graph, uint32_t i)
{
    return graph ? why_prefix(w, "subgraph %u, operation %u", graph, i)
                 : why_prefix(w, "operation %u", i);
}

static int check_channels(const struct tensor *t, struct why *w)
{
    REQUIRE(w, t->channel_scale && t->channel_dim < t->shape.rank,
            "per-channel quantisation of dimension %u, but the rank is %u", t->channel_dim,
            t->shape.rank);
    uint32_t dim = t->shape.dim[t->channel_dim];
    REQUIRE(w, dim != 0 && dim == t->n_channels, "%u channel scales for a dimension of %u",
            t->n_channels, dim);
    for (uint32_t i = 0; i < t->n_channels; i++)
        REQUIRE(w, t->channel_scale[i] > 0 && isfinite(t->channel_scale[i]),
                "channel scale %u is %g, must be positive", i, (double) t->channel_scale[i]);
    return 0;
}

int tensor_check_scale(const struct tensor *t, struct why *w)
{
    const struct dtype_info *info = &dtype_info[t->dtype];
    bool needs_scale = info->quant == QUANT_AFFINE || info->quant == QUANT_SYMM;
    bool needs_zero = info->quant == QUANT_AFFINE;
    int32_t lo = needs_zero ? (int32_t) info->codec->min : 0;
    int32_t hi = needs_zero ? (int32_t) info->codec->max : 0;
    double scale = (double) t->scale;

    if (needs_scale)
        REQUIRE(w, isfinite(scale) && scale > 0, "%s has scale %g, must be positive", info->name,
                scale);
    else if (info->quant == QUANT_BIAS)
        REQUIRE(w, isfinite(scale) && scale >= 0, "%s has scale %g, must not be negative",
                info->name, scale);
    else
        REQUIRE(w, scale == 0, "%s has scale %g, must be 0", info->name, scale);
    REQUIRE(w, t->zero >= lo && t->zero <= hi, "%s has zero point %d, must be in %d..%d",
            info->name, t->zero, lo, hi);
    return 0;
}

static int check_quantisation(const struct tensor *t, const struct dtype_info *info, struct why *w)
{
    TRY(tensor_check_scale(t, w));
    if (info->quant == QUANT_CHANNEL)
        return check_channels(t, w);
    REQUIRE(w, !t->channel_scale, "%s must not have channel scales", info->name);
    return 0;
}

/* Checks extension data, which operands of NNAPI's own types must not have. */
static int check_attached(const struct tensor *t, const struct dtype_info *info, struct why *w)
{
    uint16_t number;
    const struct extension_record *x = extension_table[extension_of_type(t->dtype, &number)];

    REQUIRE(w, t->extension || !t->extension_length, "%s: the extension data is missing",
            info->name);
    if (x && x->check_data)
        return x->check_data(t, w);
    REQUIRE(w, !t->extension_length, "%s has %zu bytes of extension data, must have none",
            info->name, t->extension_length);
    return 0;
}

static int check_constant(const struct model *m, const struct operand *o, struct why *w)
{
    const struct tensor *t = &o->tensor;

    if (o->length == 0)
        return 0; /* omitted */
    REQUIRE(w, t->data, "the constant has no data");
    if (t->dtype != DT_FOREIGN) {
        REQUIRE(w, !dtype_info[t->dtype].tensor || shape_known(&t->shape),
                "a constant must have a complete shape");
        REQUIRE(w, o->length == tensor_bytes(t),
                "a constant of %zu bytes where its shape needs %zu", o->length, tensor_bytes(t));
    }
    if (o->life == LIFE_CONSTANT_REFERENCE) {
        REQUIRE(w, o->pool < m->n_pools, "the constant is in pool %u of %u", o->pool, m->n_pools);
        const struct pool *p = &m->pool[o->pool];
        REQUIRE(w, p->data, "pool %u has no data", o->pool);
        uintptr_t at = (uintptr_t) t->data, base = (uintptr_t) p->data;
        REQUIRE(w, at >= base && o->length <= p->length && at - base <= p->length - o->length,
                "the constant lies outside pool %u", o->pool);
    }
    return 0;
}

static bool declares(const struct model *m, uint32_t prefix)
{
    for (uint32_t i = 0; i < m->n_extensions; i++)
        if (m->extension[i].prefix == prefix)
            return true;
    return false;
}

/* A model must declare the extensions whose types and operations it uses. */
static int check_declared(const struct model *m, uint32_t prefix, struct why *w)
{
    REQUIRE(w, prefix == EXTENSION_oem || declares(m, prefix),
            "extension prefix %u is not declared by the model", prefix);
    return 0;
}

static int check_extension(const struct model *m, const struct operand *o, struct why *w)
{
    uint16_t number;

    if (o->tensor.dtype != DT_FOREIGN)
        return check_declared(m, extension_of_type(o->tensor.dtype, &number), w);
    bool oem = o->foreign >= OEM_CODE && o->foreign < OEM_CODE + OEM_CODES_TYPES;
    return oem ? 0 : check_declared(m, extension_prefix_of(o->foreign), w);
}

/* Returns the feature level that the operand needs. */
static int check_operand(const struct validation *s, uint32_t graph, const struct operand *o,
                         struct why *w)
{
    const struct model *m = s->model;
    const struct tensor *t = &o->tensor;
    const struct dtype_info *info = dtype_find((int32_t) t->dtype);

    REQUIRE(w, info, "unknown operand type %d", (int) t->dtype);
    REQUIRE(w, (unsigned) o->life < LIFE_COUNT, "unknown lifetime %d", (int) o->life);
    REQUIRE(w, t->shape.rank <= MAX_RANK, "rank %u, at most %d are supported", t->shape.rank,
            MAX_RANK);
    REQUIRE(w, info->tensor || t->shape.rank == 0, "scalar %s has rank %u", info->name,
            t->shape.rank);
    REQUIRE(w, shape_check_size(&t->shape, info->codec->size ? info->codec->size : 1) == 0,
            "the operand has more than 2^32 - 1 bytes");
    REQUIRE(w, (o->life == LIFE_SUBGRAPH) == (t->dtype == DT_MODEL), "lifetime %s with type %s",
            lifetime_name[o->life], info->name);
    if (o->life == LIFE_SUBGRAPH)
        REQUIRE(w, o->subgraph > 0 && o->subgraph < m->n_graphs && o->subgraph != graph,
                "refers to subgraph %u of %u", o->subgraph, m->n_graphs - 1);
    if (t->dtype >= DT_COUNT)
        TRY(check_extension(m, o, w));
    if (t->dtype != DT_OEM_BYTE && (t->dtype != DT_FOREIGN || extension_prefix_of(o->foreign)))
        TRY(check_quantisation(t, info, w));
    if (t->dtype != DT_FOREIGN && !(s->by_api && t->dtype > DT_FOREIGN))
        TRY(check_attached(t, info, w));
    if (operand_constant(o))
        TRY(check_constant(m, o, w));
    else
        REQUIRE(w, !t->data && o->length == 0, "lifetime %s has data", lifetime_name[o->life]);
    if (t->dtype == DT_FOREIGN)
        return extension_prefix_of(o->foreign) ? L3 : L1;
    bool unknown_rank = info->tensor && t->shape.rank == 0;
    return unknown_rank && info->since < 3 ? 3 : info->since;
}

/* Checks that the list holds exactly the operands of that lifetime, each once. */
static int check_list(const struct graph *g, const uint32_t *list, uint32_t n, enum lifetime life,
                      uint32_t *seen, struct why *w)
{
    uint32_t want = 0;

    memset(seen, 0, sizeof *seen * g->n_operands);
    for (uint32_t i = 0; i < n; i++) {
        REQUIRE(w, list[i] < g->n_operands, "%s list: operand %u of %u", lifetime_name[life],
                list[i], g->n_operands);
        REQUIRE(w, g->operand[list[i]].life == life, "%s list: operand %u has lifetime %s",
                lifetime_name[life], list[i], lifetime_name[g->operand[list[i]].life]);
        REQUIRE(w, !seen[list[i]]++, "%s list: operand %u is listed twice", lifetime_name[life],
                list[i]);
    }
    for (uint32_t i = 0; i < g->n_operands; i++)
        want += g->operand[i].life == life;
    REQUIRE(w, want == n, "%u operands have lifetime %s, but %u are listed", want,
            lifetime_name[life], n);
    return 0;
}

static int check_slots(const struct graph *g, const struct operation *o, struct why *w)
{
    REQUIRE(w, o->n_in <= MAX_ARITY && o->n_out <= MAX_ARITY,
            "%u inputs, %u outputs: at most %d are supported", o->n_in, o->n_out, MAX_ARITY);
    REQUIRE(w, (o->in || !o->n_in) && (o->out || !o->n_out),
            "a list of operand indexes is missing");
    for (uint32_t k = 0; k < o->n_in; k++)
        REQUIRE(w, o->in[k] < g->n_operands, "input %u is operand %u of %u", k, o->in[k],
                g->n_operands);
    for (uint32_t k = 0; k < o->n_out; k++) {
        REQUIRE(w, o->out[k] < g->n_operands, "output %u is operand %u of %u", k, o->out[k],
                g->n_operands);
        enum lifetime life = g->operand[o->out[k]].life;
        REQUIRE(w, life == LIFE_TEMPORARY || life == LIFE_OUTPUT,
                "output %u, operand %u, has lifetime %s", k, o->out[k], lifetime_name[life]);
    }
    return 0;
}

/* Checks that every temporary and output has one writer. */
static int check_writers(const struct graph *g, uint32_t *writers, struct why *w)
{
    memset(writers, 0, sizeof *writers * g->n_operands);
    for (uint32_t i = 0; i < g->n_operations; i++)
        for (uint32_t k = 0; k < g->operation[i].n_out; k++)
            REQUIRE(w, !writers[g->operation[i].out[k]]++, "operand %u is written twice",
                    g->operation[i].out[k]);
    for (uint32_t i = 0; i < g->n_operands; i++) {
        enum lifetime life = g->operand[i].life;
        REQUIRE(w, writers[i] || (life != LIFE_TEMPORARY && life != LIFE_OUTPUT),
                "no operation writes operand %u, a %s", i, lifetime_name[life]);
    }
    return 0;
}

/* Operands list[0..n) of g against the subgraph's inputs or outputs. */
static int check_signature(const struct graph *g, const uint32_t *list, uint32_t n,
                           const struct graph *sub, const uint32_t *sub_list, uint32_t n_sub,
                           const char *what, struct why *w)
{
    REQUIRE(w, n == n_sub, "%u %ss where the subgraph has %u", n, what, n_sub);
    for (uint32_t i = 0; i < n; i++) {
        const struct operand *outside = &g->operand[list[i]], *inside = &sub->operand[sub_list[i]];
        const struct tensor *a = &outside->tensor, *b = &inside->tensor;
        const struct shape *s = &a->shape, *t = &b->shape;
        REQUIRE(w, a->dtype == b->dtype && outside->foreign == inside->foreign,
                "%s %u is %s outside, %s inside the subgraph", what, i, dtype_info[a->dtype].name,
                dtype_info[b->dtype].name);
        REQUIRE(w, tensor_same_quant(a, b),
                "%s %u differs in scale or zero point inside the subgraph", what, i);
        if (s->rank == 0 || t->rank == 0)
            continue;
        REQUIRE(w, s->rank == t->rank, "%s %u has rank %u outside, %u inside the subgraph", what, i,
                s->rank, t->rank);
        for (uint32_t d = 0; d < s->rank; d++)
            REQUIRE(w, !s->dim[d] || !t->dim[d] || s->dim[d] == t->dim[d],
                    "%s %u, dimension %u: %u outside, %u inside the subgraph", what, i, d,
                    s->dim[d], t->dim[d]);
    }
    return 0;
}

int operation_check_control(const struct model *m, const struct graph *g, const struct operation *o,
                            struct why *w)
{
    const struct op *op = op_find(o->code);

    if (!op || op->control_kind == CONTROL_NONE)
        return 0;
    if (op->control_kind == CONTROL_BRANCH) {
        for (uint32_t k = 1; k <= 2; k++) {
            const struct graph *sub = &m->graph[g->operand[o->in[k]].subgraph];
            TRY(check_signature(g, o->in + 3, o->n_in - 3, sub, sub->input, sub->n_inputs, "input",
                                w));
            TRY(check_signature(g, o->out, o->n_out, sub, sub->output, sub->n_outputs, "output",
                                w));
        }
        return 0;
    }
    const struct graph *cond = &m->graph[g->operand[o->in[0]].subgraph];
    const struct graph *body = &m->graph[g->operand[o->in[1]].subgraph];
    TRY(check_signature(g, o->in + 2, o->n_in - 2, cond, cond->input, cond->n_inputs, "input", w));
    TRY(check_signature(g, o->in + 2, o->n_in - 2, body, body->input, body->n_inputs, "input", w));
    REQUIRE(w, cond->n_outputs == 1 && cond->operand[cond->output[0]].tensor.dtype == DT_B8,
            "the condition must have one TENSOR_BOOL8 output");
    REQUIRE(
        w, o->n_out <= body->n_outputs && body->n_outputs <= body->n_inputs,
        "the body has %u inputs and %u outputs, must have at least as many inputs as outputs and "
        "at least %u outputs",
        body->n_inputs, body->n_outputs, o->n_out);
    TRY(check_signature(g, o->out, o->n_out, body, body->output, o->n_out, "output", w));
    TRY(check_signature(body, body->output, body->n_outputs, body, body->input, body->n_outputs,
                        "loop variable", w));
    return check_signature(body, body->output, body->n_outputs, cond, cond->input, body->n_outputs,
                           "loop variable", w);
}

/* Omitted operands have a type too, which must be one allowed for their role. */
static int check_omitted(const struct call *c, const struct graph *g, const struct operation *o,
                         struct why *w)
{
    for (int t = 0; t < c->op->n_typings; t++) {
        bool fits = true;
        for (uint32_t k = 0; k < o->n_in && fits; k++) {
            const struct role *r = call_role(c, k);
            bool any = c->op->control_kind != CONTROL_NONE && r->many;
            fits = any || role_type(r, &c->op->typings[t]) == g->operand[o->in[k]].tensor.dtype;
        }
        if (fits)
            return 0;
    }
    for (uint32_t k = 0; k < o->n_in; k++) {
        enum dtype type = g->operand[o->in[k]].tensor.dtype;
        REQUIRE(w, c->arg[k] || role_type(call_role(c, k), c->typing) == type,
                "%s: the omitted operand %s has type %s, which is not allowed", c->op->name,
                call_role(c, k)->name, dtype_info[type].name);
    }
    return 0;
}

/* Whether NNAPI's runtime accepts the operation although it breaks a rule of drivers; sets the
 * level that it needs. */
static bool has_signature(const struct validation *s, const struct graph *g,
                          const struct operation *o, const struct op *op, struct call *ret_call)
{
    const struct tensor **in = arena_alloc(s->scratch, o->n_in + 1, sizeof *in);
    struct tensor **out = arena_alloc(s->scratch, o->n_out + 1, sizeof *out);

    if (!in || !out)
        return false;
    for (uint32_t k = 0; k < o->n_in; k++)
        in[k] = &g->operand[o->in[k]].tensor;
    for (uint32_t k = 0; k < o->n_out; k++)
        out[k] = &g->operand[o->out[k]].tensor;
    ret_call->level = op_check_signature(op, in, o->n_in, out, o->n_out, NULL);
    return ret_call->level >= 0;
}

/* Binds an operation to its record; shapes[] are the operands with the shapes inferred so far.
 * Returns the feature level that it needs.  Foreign operations are not checked.  An operation that
 * is legal but cannot be executed passes, with the reason in s->impossible. */
static int check_operation(struct validation *s, uint32_t index, uint32_t at, struct tensor *shapes,
                           struct why *w)
{
    const struct graph *g = &s->model->graph[index];
    const struct operation *o = &g->operation[at];
    const struct op *op = op_find(o->code);
    uint32_t prefix = extension_prefix_of(o->code);
    const struct tensor **in = arena_alloc(s->scratch, o->n_in + 1, sizeof *in);
    struct tensor **out = arena_alloc(s->scratch, o->n_out + 1, sizeof *out);
    struct call call;

    /* of a declared extension that is not listed, or the OEM operation */
    bool foreign = o->code == OEM_CODE || (prefix >= EXTENSION_END && declares(s->model, prefix));
    if ((!op && foreign) || (s->by_api && prefix))
        return prefix ? L3 : L1;
    REQUIRE(w, op, "unknown operation %d", o->code);
    if (prefix)
        TRY(check_declared(s->model, prefix, w));
    if (!in || !out)
        return why_no_memory(w);
    for (uint32_t k = 0; k < o->n_in; k++)
        in[k] = operand_omitted(&g->operand[o->in[k]]) ? NULL : &shapes[o->in[k]];
    for (uint32_t k = 0; k < o->n_out; k++)
        out[k] = &shapes[o->out[k]];
    int level = op_bind(op, in, o->n_in, out, o->n_out, false, &call, w);
    if (level < 0 && w->code != WHY_EXECUTION && !(s->by_api && has_signature(s, g, o, op, &call)))
        return -1;
    struct why control;
    if (operation_check_control(s->model, g, o, &control) < 0) { /* takes precedence over shapes */
        *w = control;
        return why_prefix(w, "%s", op->name);
    }
    if (level >= 0 && !s->by_api)
        TRY(check_omitted(&call, g, o, w));
    if (level < 0) {
        level = call.level > 0 ? call.level : (int) op->since;
        operation_fail(w, index, at);
        if (!s->impossible.text[0])
            s->impossible = *w;
    }
    TRY(report_need(s, &(struct level_requirement){ level, index, at, &call, shapes }, w));
    return level;
}

static int check_operations(struct validation *s, uint32_t index, struct why *w)
{
    const struct graph *g = &s->model->graph[index];
    struct tensor *shapes = arena_alloc_raw(s->scratch, g->n_operands + 1, sizeof *shapes);
    uint32_t *order = arena_alloc(s->scratch, g->n_operations + 1, sizeof *order);
    int level = 1;

    if (!shapes || !order)
        return why_no_memory(w);
    for (uint32_t i = 0; i < g->n_operands; i++) {
        shapes[i] = g->operand[i].tensor;
        TRY(tensor_align(&shapes[i], s->scratch, w));
    }
    TRY(graph_order(g, s->scratch, order, w));
    for (uint32_t i = 0; i < g->n_operations; i++) {
        int need = check_operation(s, index, order[i], shapes, w);
        if (need < 0) {
            operation_fail(w, index, order[i]);
            return -1;
        }
        level = need > level ? need : level;
    }
    return level;
}

/* Checks the structure of a graph, without using operation records. */
static int check_structure(const struct validation *s, uint32_t index, struct why *w)
{
    const struct graph *g = &s->model->graph[index];

    REQUIRE(w, g->operand || !g->n_operands, "the list of %u operands is missing", g->n_operands);
    REQUIRE(w, g->operation || !g->n_operations, "the list of %u operations is missing",
            g->n_operations);
    REQUIRE(w, g->input || !g->n_inputs, "the list of %u inputs is missing", g->n_inputs);
    REQUIRE(w, g->output || !g->n_outputs, "the list of %u outputs is missing", g->n_outputs);
    uint32_t *seen = arena_alloc_raw(s->scratch, g->n_operands + 1, sizeof *seen);
    int level = 1;
    if (!seen)
        return why_no_memory(w);
    for (uint32_t i = 0; i < g->n_operands; i++) {
        int need = check_operand(s, index, &g->operand[i], w);
        if (need < 0)
            return operand_fail(w, index, i);
        if (report_need(s, &(struct level_requirement){ need, index, i, NULL, NULL }, w) < 0)
            return operand_fail(w, index, i);
        level = need > level ? need : level;
    }
    TRY(check_list(g, g->input, g->n_inputs, LIFE_INPUT, seen, w));
    TRY(check_list(g, g->output, g->n_outputs, LIFE_OUTPUT, seen, w));
    for (uint32_t i = 0; i < g->n_operations; i++)
        if (check_slots(g, &g->operation[i], w) < 0)
            return operation_fail(w, index, i);
    TRY(check_writers(g, seen, w));
    return level;
}

enum { UNSEEN = 0, OPEN = MAX_NESTING + 1 };

/* Nesting is limited because running a subgraph takes stack.  height[i]: nesting depth of graph i,
 * itself included, once it is known. */
static int check_nesting(const struct model *m, uint32_t index, unsigned char *height, int depth,
                         struct why *w)
{
    const struct graph *g = &m->graph[index];
    unsigned char highest = 0;

    REQUIRE(w, height[index] != OPEN, "subgraph %u contains itself", index);
    REQUIRE(w, depth + (height[index] ? height[index] : 1) <= MAX_NESTING,
            "subgraphs are nested more than %d deep", MAX_NESTING);
    if (height[index] != UNSEEN)
        return 0;
    height[index] = OPEN;
    for (uint32_t i = 0; i < g->n_operands; i++) {
        uint32_t sub = g->operand[i].subgraph;
        if (g->operand[i].life != LIFE_SUBGRAPH)
            continue;
        TRY(check_nesting(m, sub, height, depth + 1, w));
        highest = height[sub] > highest ? height[sub] : highest;
    }
    height[index] = highest + 1;
    return 0;
}

static int check_extensions(const struct model *m, struct why *w)
{
    REQUIRE(w, m->pool || !m->n_pools, "the list of %u pools is missing", m->n_pools);
    REQUIRE(w, m->extension || !m->n_extensions, "the list of %u extensions is missing",
            m->n_extensions);
    for (uint32_t i = 0; i < m->n_extensions; i++) {
        const struct extension *x = &m->extension[i];
        REQUIRE(w, x->name, "extension %u has no name", i);
        REQUIRE(w, extension_name_is_legal(x->name), "extension %u has the invalid name \"%.80s\"",
                i, x->name);
        enum extension_prefix known = extension_by_name(x->name);
        REQUIRE(w, x->prefix >= EXTENSION_END || (x->prefix && x->prefix == known),
                "extension %u, %.80s, has the invalid prefix %u", i, x->name, x->prefix);
    }
    return 0;
}

static int validate(struct validation *s, struct why *w)
{
    const struct model *m = s->model;
    int level = m->n_extensions ? L3 : m->relaxed ? L2 : L1;

    REQUIRE(w, m->graph && m->n_graphs >= 1 && m->n_graphs <= MAX_GRAPHS,
            "the model has %u graphs, must be 1..%d", m->n_graphs, MAX_GRAPHS);
    REQUIRE(w, m->graph[0].n_operations > 0, "the model has no operations");
    TRY(check_extensions(m, w));
    unsigned char *height = arena_alloc(s->scratch, m->n_graphs, 1);
    if (!height)
        return why_no_memory(w);
    for (uint32_t g = 0; g < m->n_graphs; g++) {
        int need = check_structure(s, g, w);
        if (need < 0)
            return -1;
        level = need > level ? need : level;
    }
    for (uint32_t g = 0; g < m->n_graphs; g++)
        TRY(check_nesting(m, g, height, 0, w));
    for (uint32_t g = 0; g < m->n_graphs; g++) {
        int need = check_operations(s, g, w);
        if (need < 0)
            return -1;
        level = need > level ? need : level;
    }
    return level;
}

int model_levels(const struct model *m, level_visitor *each, void *user, struct why *ret_impossible,
                 struct why *w)
{
    struct validation s = { .model = m, .scratch = arena_new(0), .each = each, .user = user };
    struct why unused;

    if (!s.scratch)
        return why_no_memory(w);
    int level = validate(&s, w ? w : &unused);
    arena_free(s.scratch);
    if (level >= 0 && ret_impossible)
        *ret_impossible = s.impossible;
    return level;
}

int model_prepare(const struct model *m, struct why *ret_impossible, struct why *w)
{
    return model_levels(m, NULL, NULL, ret_impossible, w);
}

int model_api_levels(const struct model *m, level_visitor *each, void *user, struct why *w)
{
    struct validation s = {
        .model = m, .scratch = arena_new(0), .each = each, .user = user, .by_api = true
    };

    if (!s.scratch)
        return why_no_memory(w);
    int level = validate(&s, w);
    arena_free(s.scratch);
    return level;
}

int model_check_api(const struct model *m, struct why *w)
{
    return model_api_levels(m, NULL, NULL, w);
}

int model_validate(const struct model *m, struct why *w)
{
    struct why impossible;
    int level = model_prepare(m, &impossible, w);

    if (level < 0 || !impossible.text[0])
        return level;
    return why_fail(w, WHY_EXECUTION, "%s", impossible.text);
}
