#include "harness/conform/signed_example.h"
#include "harness/conform/must.h"

#include "golden/model/compliance.h"

uint8_t signed_code(uint8_t code)
{
    return code ^ 0x80; /* code - 128 in two's complement */
}

static void make_signed(struct tensor *t, struct arena *a)
{
    if (t->dtype != DT_U8)
        return;
    uint8_t *code = t->data ? arena_copy(a, t->data, tensor_bytes(t)) : NULL;

    for (size_t i = 0; code && i < tensor_bytes(t); i++)
        code[i] = signed_code(code[i]);
    t->dtype = DT_S8;
    t->zero -= 128;
    t->data = code;
}

/* Marks the main graph's scalars that are stored values with the scale and zero point of the first
 * input. */
static int mark_stored(const struct level_requirement *n, void *is_stored, struct why *w)
{
    const struct call *c = n->graph == 0 ? n->call : NULL;

    (void) w;
    for (uint32_t k = 0; c && k < c->n_in; k++) {
        const struct role *r = call_role(c, k);
        if (c->arg[k] && !r->dims && r->q == Q_SAME)
            ((bool *) is_stored)[c->arg[k] - n->now] = true;
    }
    return 0;
}

static void shift_stored(struct tensor *t, struct arena *a)
{
    int32_t *value = t->data ? arena_copy(a, t->data, sizeof *value) : NULL;

    if (value)
        *value -= 128;
    t->data = value;
}

void signed_example(const struct example *e, struct arena *a, struct example *ret_example)
{
    bool *is_stored = arena_alloc(a, e->model.graph[0].n_operands, sizeof *is_stored);
    struct graph *g;

    *ret_example = *e;
    MUST(is_stored && model_levels(&e->model, mark_stored, is_stored, NULL, NULL) > 0);
    MUST(model_copy(&e->model, a, &ret_example->model) == 0);
    g = &ret_example->model.graph[0];
    ret_example->in = arena_copy(a, e->in, g->n_inputs * sizeof *e->in);
    for (uint32_t i = 0; i < g->n_operands; i++) {
        if (operand_constant(&g->operand[i])) /* its new bytes are in the arena, in no pool */
            g->operand[i].life = LIFE_CONSTANT_COPY;
        make_signed(&g->operand[i].tensor, a);
        if (is_stored[i])
            shift_stored(&g->operand[i].tensor, a);
    }
    for (uint32_t i = 0; i < g->n_inputs; i++) {
        make_signed(&ret_example->in[i], a);
        if (is_stored[g->input[i]])
            shift_stored(&ret_example->in[i], a);
    }
}
