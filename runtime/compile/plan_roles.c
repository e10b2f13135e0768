/* Operands of all source models in one numbering; edges lead from an operand to those whose roles
 * it has besides its own. */
#include "runtime/compile/plan_roles.h"

#include <stdlib.h>

struct plan_roles {
    uint32_t *base; /* number of operand 0 of each source */
    uint32_t n;     /* operands of all sources */
    /* Operand i has own[first_own[i]] to own[first_own[i + 1] - 1], and the roles of the operands
     * edge[first_edge[i]] to edge[first_edge[i + 1] - 1]. */
    uint32_t *first_own, *first_edge;
    struct plan_role *own;
    uint32_t *edge;
    /* Of a query. */
    uint32_t *visit; /* by operand: the last query that came to it */
    uint32_t queries;
    uint32_t *stack;
    struct plan_role *found;
};

/* Fills lists of two passes: the first counts, the second stores. */
struct role_pass {
    struct plan_roles *r;
    const ANeuralNetworksModel *m;
    const struct partition *p;
    bool stores;
};

static void put_edge(struct role_pass *s, uint32_t from_source, uint32_t from, uint32_t to_source,
                     uint32_t to)
{
    uint32_t *at = &s->r->first_edge[s->r->base[from_source] + from + 1];
    if (s->stores)
        s->r->edge[*at] = s->r->base[to_source] + to;
    ++*at;
}

static void put_own(struct role_pass *s, const struct step_argument *list, uint32_t n,
                    uint32_t step, bool is_output)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct source_operand *o = &list[i].operand;
        uint32_t *at = &s->r->first_own[s->r->base[o->source] + o->operand + 1];
        if (s->stores)
            s->r->own[*at] = (struct plan_role){ step, is_output, i };
        ++*at;
    }
}

/* The inputs and outputs of both branches lie where those of the IF do. */
static void put_if(struct role_pass *s, const struct plan_step *step, const struct operation *o)
{
    const uint32_t part[] = { step->first_source, step->second_source };
    for (int i = 0; i < COUNT(part); i++) {
        const struct graph *branch = &s->m->model.graph[s->p->source[part[i]].graph];
        const uint32_t *outer = o->in + (o->n_in - branch->n_inputs);
        for (uint32_t k = 0; k < branch->n_inputs; k++)
            put_edge(s, step->source, outer[k], part[i], branch->input[k]);
        for (uint32_t k = 0; k < branch->n_outputs; k++)
            put_edge(s, step->source, o->out[k], part[i], branch->output[k]);
    }
}

/* Condition and body read the initial values, then the body's outputs.  The outputs of the WHILE
 * are copied. */
static void put_while(struct role_pass *s, const struct plan_step *step, const struct operation *o)
{
    uint32_t cond = step->first_source, body = step->second_source;
    const struct graph *c = &s->m->model.graph[s->p->source[cond].graph];
    const struct graph *b = &s->m->model.graph[s->p->source[body].graph];
    const uint32_t *outer = o->in + (o->n_in - b->n_inputs);

    for (uint32_t k = 0; k < b->n_inputs; k++) {
        put_edge(s, step->source, outer[k], cond, c->input[k]);
        put_edge(s, step->source, outer[k], body, b->input[k]);
    }
    for (uint32_t k = 0; k < b->n_outputs; k++) {
        put_edge(s, body, b->output[k], cond, c->input[k]);
        put_edge(s, body, b->output[k], body, b->input[k]);
    }
}

static void put_all(struct role_pass *s)
{
    for (uint32_t i = 0; i < s->p->n_steps; i++) {
        const struct plan_step *step = &s->p->step[i];
        const struct graph *g = &s->m->model.graph[s->p->source[step->source].graph];
        switch (step->kind) {
        case STEP_EXECUTE:
            put_own(s, step->input, step->n_inputs, i, false);
            put_own(s, step->output, step->n_outputs, i, true);
            break;
        case STEP_IF: put_if(s, step, &g->operation[step->construct]); break;
        case STEP_WHILE: put_while(s, step, &g->operation[step->construct]); break;
        case STEP_GOTO: break;
        }
    }
}

/* Turns counts at i + 1 into the places where the second pass stores, at i + 1 too: it moves each
 * to the end of its list, which is the begin of the next. */
static uint32_t sum_counts(uint32_t *first, uint32_t n)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t count = first[i + 1];
        first[i + 1] = sum;
        sum += count;
    }
    return sum;
}

static int allocate(struct plan_roles *r, const ANeuralNetworksModel *m, const struct partition *p,
                    struct arena *a, struct why *w)
{
    r->base = arena_alloc(a, p->n_sources, sizeof *r->base);
    if (!r->base)
        return why_no_memory(w);
    for (uint32_t i = 0; i < p->n_sources; i++) {
        uint32_t n = m->model.graph[p->source[i].graph].n_operands;
        r->base[i] = r->n;
        if (n > UINT32_MAX - r->n)
            return why_no_memory(w);
        r->n += n;
    }
    r->first_own = arena_alloc(a, (size_t) r->n + 1, sizeof *r->first_own);
    r->first_edge = arena_alloc(a, (size_t) r->n + 1, sizeof *r->first_edge);
    r->visit = arena_alloc(a, r->n, sizeof *r->visit);
    r->stack = arena_alloc(a, r->n, sizeof *r->stack);
    return r->first_own && r->first_edge && r->visit && r->stack ? 0 : why_no_memory(w);
}

int plan_roles_make(const ANeuralNetworksModel *m, const struct partition *p, struct arena *a,
                    struct plan_roles **ret_roles, struct why *w)
{
    struct plan_roles *r = arena_alloc(a, 1, sizeof *r);
    struct role_pass pass = { .r = r, .m = m, .p = p };

    if (!r)
        return why_no_memory(w);
    TRY(allocate(r, m, p, a, w));
    put_all(&pass);
    uint32_t n_own = sum_counts(r->first_own, r->n), n_edges = sum_counts(r->first_edge, r->n);
    r->own = arena_alloc(a, n_own, sizeof *r->own);
    r->found = arena_alloc(a, n_own, sizeof *r->found);
    r->edge = arena_alloc(a, n_edges, sizeof *r->edge);
    if (!r->own || !r->found || !r->edge)
        return why_no_memory(w);
    pass.stores = true;
    put_all(&pass);
    *ret_roles = r;
    return 0;
}

static int compare_roles(const void *a, const void *b)
{
    const struct plan_role *x = a, *y = b;
    if (x->step != y->step)
        return x->step < y->step ? -1 : 1;
    if (x->is_output != y->is_output)
        return x->is_output ? 1 : -1;
    return (x->index > y->index) - (x->index < y->index);
}

uint32_t plan_roles_of(struct plan_roles *r, struct source_operand operand,
                       const struct plan_role **ret_role)
{
    uint32_t n = 0, depth = 0, first = r->base[operand.source] + operand.operand;

    r->queries++;
    r->visit[first] = r->queries;
    r->stack[depth++] = first;
    while (depth > 0) {
        uint32_t at = r->stack[--depth];
        for (uint32_t i = r->first_own[at]; i < r->first_own[at + 1]; i++)
            r->found[n++] = r->own[i];
        for (uint32_t i = r->first_edge[at]; i < r->first_edge[at + 1]; i++)
            if (r->visit[r->edge[i]] != r->queries) {
                r->visit[r->edge[i]] = r->queries;
                r->stack[depth++] = r->edge[i];
            }
    }
    qsort(r->found, n, sizeof *r->found, compare_roles);
    *ret_role = r->found;
    return n;
}
