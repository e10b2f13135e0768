/* Smaller subgraphs of IF and WHILE, and chains of operations that pass a value through. */
#include <string.h>

#include "harness/shrink/reductions.h"

static bool same_type(const struct operand *a, const struct operand *b)
{
    return a->tensor.dtype == b->tensor.dtype && tensor_same_quant(&a->tensor, &b->tensor);
}

/* ---- operations that are bypassed */

static void replace(uint32_t *list, uint32_t n, uint32_t from, uint32_t to)
{
    for (uint32_t i = 0; i < n; i++)
        if (list[i] == from)
            list[i] = to;
}

static bool is_listed(const uint32_t *list, uint32_t n, uint32_t operand)
{
    for (uint32_t i = 0; i < n; i++)
        if (list[i] == operand)
            return true;
    return false;
}

/* What reads the result of an operation reads its input k instead. */
static enum reduced bypass(struct graph *g, const struct operation *o, uint32_t k)
{
    uint32_t from = o->out[0], to = o->in[k];
    struct operand *source = &g->operand[to];
    bool is_output = is_listed(g->output, g->n_outputs, from);
    if (o->n_out != 1 || !same_type(source, &g->operand[from]) || source->life == LIFE_NO_VALUE ||
        (is_output && source->life != LIFE_TEMPORARY))
        return REDUCE_NOTHING;
    for (uint32_t i = 0; i < g->n_operations; i++)
        replace(g->operation[i].in, g->operation[i].n_in, from, to);
    if (is_output) {
        source->life = LIFE_OUTPUT;
        g->operand[from].life = LIFE_TEMPORARY;
        replace(g->output, g->n_outputs, from, to);
    }
    return REDUCE_DONE;
}

enum reduced shrink_chains(struct edit *c, uint32_t site)
{
    if (c->e.model.graph[0].n_operations <= 1 && c->e.model.n_graphs <= 1)
        return REDUCE_END;
    for (uint32_t g = 0; g < c->e.model.n_graphs; g++) {
        struct graph *graph = &c->e.model.graph[g];
        for (uint32_t i = 0; i < graph->n_operations; i++) {
            if (site < graph->operation[i].n_in)
                return bypass(graph, &graph->operation[i], site);
            site -= graph->operation[i].n_in;
        }
    }
    return REDUCE_END;
}

/* ---- signatures of subgraphs */

/* An operation that runs subgraphs. */
struct control {
    struct graph *g;
    struct operation *o;
    enum control_kind kind;
    struct graph *sub[2];
    uint32_t first; /* its first argument */
};

/* The `*index`-th such operation of all graphs; *index counts down. */
static bool control_at(struct edit *c, uint32_t *index, struct control *ret)
{
    for (uint32_t g = 0; g < c->e.model.n_graphs; g++) {
        struct graph *graph = &c->e.model.graph[g];
        for (uint32_t i = 0; i < graph->n_operations; i++) {
            struct operation *o = &graph->operation[i];
            const struct op *op = op_find(o->code);
            if (!op || op->control_kind == CONTROL_NONE || (*index)-- > 0)
                continue;
            uint32_t at = op->control_kind == CONTROL_BRANCH ? 1 : 0;
            *ret =
                (struct control){ .g = graph, .o = o, .kind = op->control_kind, .first = at + 2 };
            for (uint32_t k = 0; k < 2; k++)
                ret->sub[k] = &c->e.model.graph[graph->operand[o->in[at + k]].subgraph];
            return true;
        }
    }
    return false;
}

static void remove_at(uint32_t *list, uint32_t *n, uint32_t k)
{
    memmove(&list[k], &list[k + 1], (*n - k - 1) * sizeof *list);
    (*n)--;
}

static bool is_read(const struct graph *g, uint32_t operand)
{
    for (uint32_t i = 0; i < g->n_operations; i++)
        if (is_listed(g->operation[i].in, g->operation[i].n_in, operand))
            return true;
    return is_listed(g->output, g->n_outputs, operand);
}

/* Removes argument k, which neither subgraph reads. */
static enum reduced drop_argument(struct control *x, uint32_t k)
{
    for (int i = 0; i < 2; i++)
        if (k >= x->sub[i]->n_inputs || is_read(x->sub[i], x->sub[i]->input[k]))
            return REDUCE_NOTHING;
    if (x->sub[0] == x->sub[1] || (x->kind == CONTROL_LOOP && k < x->sub[1]->n_outputs))
        return REDUCE_NOTHING;
    for (int i = 0; i < 2; i++) {
        x->sub[i]->operand[x->sub[i]->input[k]].life = LIFE_TEMPORARY; /* removed as unused */
        remove_at(x->sub[i]->input, &x->sub[i]->n_inputs, k);
    }
    remove_at(x->o->in, &x->o->n_in, x->first + k);
    return REDUCE_DONE;
}

/* Removes result k of a branch, which nothing reads. */
static enum reduced drop_result(struct edit *c, struct control *x, uint32_t k)
{
    uint32_t operand = k < x->o->n_out ? x->o->out[k] : UINT32_MAX;
    if (x->kind != CONTROL_BRANCH || x->o->n_out <= 1 || operand == UINT32_MAX ||
        x->sub[0] == x->sub[1])
        return REDUCE_NOTHING;
    struct graph *main = &c->e.model.graph[0];
    for (uint32_t i = main->n_outputs; x->g == main && i-- > 0;)
        if (main->output[i] == operand)
            edit_remove_output(c, i);
    if (is_read(x->g, operand))
        return REDUCE_NOTHING;
    for (int i = 0; i < 2; i++) {
        x->sub[i]->operand[x->sub[i]->output[k]].life = LIFE_TEMPORARY;
        remove_at(x->sub[i]->output, &x->sub[i]->n_outputs, k);
    }
    remove_at(x->o->out, &x->o->n_out, k);
    return REDUCE_DONE;
}

enum reduced shrink_signatures(struct edit *c, uint32_t site)
{
    enum { ARGUMENTS = 32, SITES = 2 * ARGUMENTS };
    struct control x;
    uint32_t index = site / SITES, k = site % SITES;
    if (c->e.model.n_graphs <= 1 || !control_at(c, &index, &x))
        return REDUCE_END;
    return k < ARGUMENTS ? drop_argument(&x, k) : drop_result(c, &x, k - ARGUMENTS);
}
