#include "harness/check/per_op_check.h"

#include <stdio.h>
#include <string.h>

/* Collects the operations of a graph while the reference executes them. */
struct capture {
    const struct example *e;
    struct arena *arena;
    struct example *layer;
    uint32_t n;
    bool failed; /* out of memory */
};

/* Index in the single-operation graph of the model's operand `index`, which is added if it is not
 * there yet.  origin: the model's index of each operand. */
static uint32_t place_operand(struct graph *layer, uint32_t *origin, uint32_t index,
                              const struct operand *o)
{
    for (uint32_t i = 0; i < layer->n_operands; i++)
        if (origin[i] == index)
            return i;
    origin[layer->n_operands] = index;
    layer->operand[layer->n_operands] = *o;
    return layer->n_operands++;
}

/* Turns computed values and model inputs into inputs of the graph; constants stay constants. */
static void place_input(struct example *layer, struct graph *g, uint32_t at,
                        const struct tensor *value)
{
    struct operand *o = &g->operand[at];

    if (operand_constant(o) || o->life == LIFE_NO_VALUE)
        return;
    for (uint32_t i = 0; i < g->n_inputs; i++)
        if (g->input[i] == at)
            return;
    o->tensor.data = NULL;
    o->life = value ? LIFE_INPUT : LIFE_NO_VALUE;
    if (!value)
        return;
    o->tensor.shape = value->shape;
    layer->in[g->n_inputs] = *value;
    g->input[g->n_inputs++] = at;
}

static bool allocate_layer(struct arena *a, const struct operation *o, struct example *layer,
                           struct graph *g, uint32_t **ret_origin)
{
    size_t n = (size_t) o->n_in + o->n_out + 1;

    *g = (struct graph){
        .operand = arena_alloc(a, n, sizeof *g->operand),
        .operation = arena_copy(a, o, sizeof *o),
        .input = arena_alloc(a, n, sizeof *g->input),
        .output = arena_alloc(a, n, sizeof *g->output),
        .n_operations = 1,
    };
    layer->in = arena_alloc(a, n, sizeof *layer->in);
    layer->expected = arena_alloc(a, n, sizeof *layer->expected);
    layer->ignored = arena_alloc(a, n, sizeof *layer->ignored);
    *ret_origin = arena_alloc(a, n, sizeof **ret_origin);
    if (!g->operand || !g->operation || !g->input || !g->output || !layer->in || !layer->expected ||
        !layer->ignored || !*ret_origin)
        return false;
    g->operation->in = arena_copy(a, o->in, o->n_in * sizeof *o->in);
    g->operation->out = arena_copy(a, o->out, o->n_out * sizeof *o->out);
    return g->operation->in && g->operation->out;
}

static bool fill_layer(struct capture *k, const struct exec_event *event, struct example *layer)
{
    const struct graph *from = &k->e->model.graph[0];
    const struct operation *o = &from->operation[event->operation];
    struct graph *g = arena_alloc(k->arena, 1, sizeof *g);
    uint32_t *origin;

    if (!g || !allocate_layer(k->arena, o, layer, g, &origin))
        return false;
    for (uint32_t i = 0; i < o->n_in; i++) {
        uint32_t at = place_operand(g, origin, o->in[i], &from->operand[o->in[i]]);
        g->operation->in[i] = at;
        place_input(layer, g, at, event->call->arg[i]);
    }
    for (uint32_t i = 0; i < o->n_out; i++) {
        uint32_t at = place_operand(g, origin, o->out[i], &from->operand[o->out[i]]);
        g->operation->out[i] = g->output[i] = at;
        g->operand[at].life = LIFE_OUTPUT;
        layer->expected[i] = g->operand[at].tensor;
    }
    g->n_outputs = o->n_out;
    layer->model = k->e->model;
    layer->model.graph = g;
    layer->model.n_graphs = 1;
    model_count_consumers(&layer->model);
    layer->since = k->e->since;
    layer->name =
        arena_printf(k->arena, "operation %u (%s)", event->operation, event->call->op->name);
    return layer->name != NULL;
}

static void capture_operation(const struct exec_event *event, void *user)
{
    struct capture *k = user;

    if (event->graph != 0 || k->failed)
        return;
    if (fill_layer(k, event, &k->layer[k->n]))
        k->n++;
    else
        k->failed = true;
}

int per_op_check_split(const struct example *e, struct arena *arena, struct example **ret_layers,
                       uint32_t *ret_n, struct why *w)
{
    struct capture k = { .e = e, .arena = arena };
    struct exec_options options = { .arena = arena, .on_operation = capture_operation, .user = &k };
    struct plan *plan;
    struct result result;

    k.layer = arena_alloc(arena, e->model.graph[0].n_operations, sizeof *k.layer);
    if (!k.layer)
        return why_no_memory(w);
    TRY(plan_new(&e->model, &plan, w));
    int rc = plan_run(plan, e->in, &options, &result, w);
    plan_free(plan);
    if (rc < 0)
        return rc;
    result_done(&result); /* the values stay in the arena */
    if (k.failed)
        return why_no_memory(w);
    *ret_layers = k.layer;
    *ret_n = k.n;
    return 0;
}

static void check_layer(const struct example *layer, struct target *t, struct check_result *ret)
{
    struct check c;
    struct outcome o;
    struct why why = { 0 };

    *ret = check_without_outcome(VERDICT_ERROR, JUDGE_BOUND);
    if (check_begin(&c, layer, JUDGE_BOUND, &why) < 0) {
        snprintf(ret->why, sizeof ret->why, "%s", why.text);
        return;
    }
    check_reference(&c);
    if (check_run(&c, t, &o, ret) >= 0)
        check_judge(&c, &o, ret, NULL);
    check_done(&c);
}

void per_op_check_run(struct check *c, struct target *t, struct check_result *r,
                      struct buffer *detail)
{
    uint32_t n = 0;
    double worst = 0;
    struct why why = { 0 };

    if (c->judge != JUDGE_BOUND ||
        (r->verdict != VERDICT_PASS && r->verdict != VERDICT_UNDECIDED) ||
        c->example->expect_failure || c->example->model.graph[0].n_operations <= 1 ||
        (!c->by_layers && r->checked))
        return;
    if (!c->layers &&
        per_op_check_split(c->example, c->arena, &c->layers, &c->n_layers, &why) != 0) {
        r->verdict = VERDICT_ERROR;
        snprintf(r->why, sizeof r->why, "operation by operation: %s", why.text);
        return;
    }
    for (uint32_t i = 0; i < c->n_layers && verdict_conforming(r->verdict); i++) {
        struct check_result layer;
        check_layer(&c->layers[i], t, &layer);
        if (layer.verdict == VERDICT_UNSUPPORTED)
            continue; /* perhaps supported only within a larger graph */
        n++;
        r->checked += layer.checked;
        r->wrong += layer.wrong;
        worst = layer.ratio > worst ? layer.ratio : worst;
        if (!verdict_conforming(layer.verdict)) {
            r->verdict = layer.verdict;
            r->died = layer.died;
            r->signal = layer.signal;
            snprintf(r->why, sizeof r->why, "%s alone: %.400s", c->layers[i].name, layer.why);
        }
    }
    if (r->verdict == VERDICT_UNDECIDED && r->checked) {
        r->verdict = VERDICT_PASS;
        snprintf(r->why, sizeof r->why, "compared operation by operation only");
    }
    if (detail)
        buffer_printf(detail, "operation by operation: %u run alone, worst ratio %.3g\n", n, worst);
}
