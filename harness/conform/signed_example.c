#include "harness/conform/signed_example.h"
#include "harness/conform/must.h"

#include "golden/golden.h"

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

/* Whether the operand is a scalar with the scale and zero point of the first operand. */
static bool is_stored_value(const struct operation *o, uint32_t operand)
{
    enum { PAD_VALUE = 2 };

    return o->code == OP_PAD_V2 && o->in[PAD_VALUE] == operand;
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
    struct graph *g;

    *ret_example = *e;
    MUST(model_copy(&e->model, a, &ret_example->model) == 0);
    g = &ret_example->model.graph[0];
    ret_example->in = arena_copy(a, e->in, g->n_inputs * sizeof *e->in);
    for (uint32_t i = 0; i < g->n_operands; i++) {
        if (operand_constant(&g->operand[i])) /* its new bytes are in the arena, in no pool */
            g->operand[i].life = LIFE_CONSTANT_COPY;
        make_signed(&g->operand[i].tensor, a);
        if (is_stored_value(&g->operation[0], i))
            shift_stored(&g->operand[i].tensor, a);
    }
    for (uint32_t i = 0; i < g->n_inputs; i++) {
        make_signed(&ret_example->in[i], a);
        if (is_stored_value(&g->operation[0], g->input[i]))
            shift_stored(&ret_example->in[i], a);
    }
}
