#include "golden/edit/ties.h"

#include <string.h>

static uint32_t root_of(const struct ties *t, uint32_t node)
{
    while (t->parent[node] != node)
        node = t->parent[node];
    return node;
}

static uint32_t node_of(uint32_t operand, uint32_t dim)
{
    return operand * MAX_RANK + dim;
}

static void tie(struct ties *t, uint32_t a, uint32_t b)
{
    t->parent[root_of(t, a)] = root_of(t, b);
}

/* The letter of a dimension in a role's pattern; 0: none. */
static int letter_of(const struct role *r, const struct call *call, uint32_t rank, uint32_t dim)
{
    static const uint32_t nhwc[] = { 0, 3, 1, 2 };
    if (!r->dims || !strcmp(r->dims, "?"))
        return 0;
    if (r->dims[0] == '*')
        return 1 + (int) dim;
    if (strlen(r->dims) != rank)
        return 0;
    char letter = r->dims[r->image && call->nchw && rank == 4 ? nhwc[dim] : dim];
    return letter == '?' || (letter >= '0' && letter <= '9') ? 0 : letter;
}

static void tie_operation(struct ties *t, const struct graph *g, const struct operation *o,
                          const struct call *call)
{
    uint32_t first[128];
    memset(first, 0xff, sizeof first);
    for (uint32_t k = 0; k < o->n_in + o->n_out; k++) {
        bool is_out = k >= o->n_in;
        uint32_t at = is_out ? o->out[k - o->n_in] : o->in[k];
        if (!is_out && !call->arg[k])
            continue;
        uint32_t last = (uint32_t) call->op->n_out - 1, out = is_out ? k - o->n_in : 0;
        const struct role *r =
            is_out ? &call->op->out[out < last ? out : last] : call_role(call, k);
        uint32_t rank = g->operand[at].tensor.shape.rank;
        for (uint32_t d = 0; d < rank; d++) {
            int letter = letter_of(r, call, rank, d) & 127;
            if (letter && first[letter] == UINT32_MAX)
                first[letter] = node_of(at, d);
            if (letter)
                tie(t, node_of(at, d), first[letter]);
        }
    }
}

bool ties_find(const struct edit *c, struct ties *t)
{
    const struct graph *g = &c->e.model.graph[0];
    t->parent = arena_alloc(c->arena, g->n_operands, MAX_RANK * sizeof *t->parent);
    if (!t->parent)
        return false;
    for (uint32_t i = 0; i < g->n_operands * MAX_RANK; i++)
        t->parent[i] = i;
    for (uint32_t i = 0; i < g->n_operations; i++) {
        struct call call;
        if (edit_bind(c, 0, i, &call))
            tie_operation(t, g, &g->operation[i], &call);
    }
    return true;
}

bool goes_together(const struct ties *t, enum together kind, const struct value_ref *a,
                   uint32_t a_dim, const struct value_ref *b, uint32_t b_dim, bool equal)
{
    if (a->graph == b->graph && a->operand == b->operand)
        return a_dim == b_dim || (kind == EQUAL && equal);
    if (kind == ALONE || !equal)
        return false;
    return kind == EQUAL ||
           (a->graph == 0 && b->graph == 0 &&
            root_of(t, node_of(a->operand, a_dim)) == root_of(t, node_of(b->operand, b_dim)));
}
