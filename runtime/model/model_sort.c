#include "runtime/model/model_sort.h"

/* Whether an operation is to write the operand. */
static bool is_computed(const struct graph *g, uint32_t operand)
{
    enum lifetime life = g->operand[operand].life;
    return life == LIFE_TEMPORARY || life == LIFE_OUTPUT;
}

int readiness_init(struct readiness *r, const struct graph *g, struct arena *a, struct why *w)
{
    size_t n = 0;
    for (uint32_t i = 0; i < g->n_operations; i++)
        n += g->operation[i].n_in;
    uint32_t *missing = arena_alloc(a, g->n_operations, sizeof *missing);
    uint32_t *first = arena_alloc(a, (size_t) g->n_operands + 2, sizeof *first);
    uint32_t *reader = arena_alloc(a, n, sizeof *reader);
    if (!missing || !first || !reader || n > UINT32_MAX)
        return why_no_memory(w);
    /* first[i + 2] counts the readers of operand i, then first[i + 1] is where its next one goes.
     */
    for (uint32_t i = 0; i < g->n_operations; i++)
        for (uint32_t k = 0; k < g->operation[i].n_in; k++)
            if (is_computed(g, g->operation[i].in[k])) {
                first[g->operation[i].in[k] + 2]++;
                missing[i]++;
            }
    for (uint32_t i = 2; i < g->n_operands + 2; i++)
        first[i] += first[i - 1];
    for (uint32_t i = 0; i < g->n_operations; i++)
        for (uint32_t k = 0; k < g->operation[i].n_in; k++)
            if (is_computed(g, g->operation[i].in[k]))
                reader[first[g->operation[i].in[k] + 1]++] = i;
    *r = (struct readiness){ .graph = g, .missing = missing, .first = first, .reader = reader };
    return 0;
}

void readiness_done(struct readiness *r, uint32_t operation,
                    void (*ready)(uint32_t operation, void *user), void *user)
{
    const struct operation *o = &r->graph->operation[operation];
    for (uint32_t k = 0; k < o->n_out; k++)
        for (uint32_t i = r->first[o->out[k]]; i < r->first[o->out[k] + 1]; i++)
            if (--r->missing[r->reader[i]] == 0)
                ready(r->reader[i], user);
}

struct operation_stack {
    uint32_t *operation;
    uint32_t n;
};

static void push(uint32_t operation, void *user)
{
    struct operation_stack *s = user;
    s->operation[s->n++] = operation;
}

int model_sort(const struct graph *g, struct arena *scratch, uint32_t *ret_order, struct why *w)
{
    struct operation_stack s = { .operation =
                                     arena_alloc(scratch, g->n_operations, sizeof *s.operation) };
    struct readiness r;
    uint32_t n = 0;

    if (!s.operation)
        return why_no_memory(w);
    TRY(readiness_init(&r, g, scratch, w));
    for (uint32_t i = 0; i < g->n_operations; i++)
        if (!r.missing[i])
            push(i, &s);
    while (s.n > 0) {
        uint32_t next = s.operation[--s.n];
        ret_order[n++] = next;
        readiness_done(&r, next, push, &s);
    }
    for (uint32_t i = 0; i < g->n_operations; i++)
        REQUIRE(w, !r.missing[i],
                "operation %u cannot be ordered: it reads an operand that no operation before it "
                "writes",
                i);
    return 0;
}
