/* Models of the C API: their life, operands and the lists of inputs and outputs. */
#include "runtime/model/runtime_model.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/failure.h"
#include "runtime/memory/runtime_memory.h"
#include "runtime/model/model_builder.h"

#define LOG_TAG "ModelBuilder"

static const uint32_t most = 0xfffffffe; /* operands, and operations */

int model_create(ANeuralNetworksModel **ret)
{
    REQUIRE_GIVEN(ret);
    *ret = NULL;
    ANeuralNetworksModel *m = calloc(1, sizeof *m);
    struct model_builder *b = calloc(1, sizeof *b);
    if (b)
        b->arena = arena_new(0);
    if (!m || !b || !b->arena || !list_grow(&b->graph, 0, &b->graph_room, sizeof *b->graph)) {
        if (b)
            arena_free(b->arena);
        free(b);
        free(m);
        return FAIL(OUT_OF_MEMORY, "out of memory");
    }
    b->graph[0] = (struct graph){ .n_operands = 0 };
    m->builder = b;
    *ret = m;
    return ANEURALNETWORKS_NO_ERROR;
}

void model_free(ANeuralNetworksModel *m)
{
    if (!m)
        return;
    struct model_builder *b = m->builder;
    memory_free(b->large);
    free(b->graph[0].operand);
    free(b->graph[0].operation);
    free(b->graph);
    free(b->source);
    free(b->value);
    arena_free(b->arena);
    free(b);
    free(m);
}

bool list_grow(void *list, size_t n, size_t *room, size_t size)
{
    void **items = list, *more;

    if (n < *room)
        return true;
    size_t wanted = *room ? 2 * *room : 16;
    more = realloc(*items, wanted * size);
    if (!more)
        return false;
    *items = more;
    *room = wanted;
    return true;
}

int model_check_building(const ANeuralNetworksModel *m)
{
    if (m->state != MODEL_BUILDING)
        return FAIL(BAD_STATE, "the model is finished%s",
                    m->state == MODEL_INVALID ? ", and it is invalid" : "");
    return ANEURALNETWORKS_NO_ERROR;
}

int model_check_operand(const ANeuralNetworksModel *m, int64_t index)
{
    uint32_t n = m->builder->graph[0].n_operands;

    if (index < 0 || index >= n)
        return FAIL(BAD_DATA, "operand %lld: the model has %u operands", (long long) index, n);
    return ANEURALNETWORKS_NO_ERROR;
}

int model_add_operand(ANeuralNetworksModel *m, const ANeuralNetworksOperandType *type)
{
    REQUIRE_GIVEN(m);
    REQUIRE_GIVEN(type);
    PASS(model_check_building(m));
    struct model_builder *b = m->builder;
    struct graph *g = &b->graph[0];
    struct operand o = { .life = LIFE_TEMPORARY };

    PASS(operand_type_check(type, &o.tensor, &o.foreign));
    if (g->n_operands >= most)
        return FAIL(BAD_DATA, "a model may have %u operands at most", most);
    if (!list_grow(&g->operand, g->n_operands, &b->operand_room, sizeof *g->operand) ||
        !list_grow(&b->source, g->n_operands, &b->source_room, sizeof *b->source))
        return FAIL(OUT_OF_MEMORY, "out of memory for operand %u", g->n_operands);
    b->source[g->n_operands] = (struct value_source){ .memory = NULL };
    g->operand[g->n_operands++] = o;
    return ANEURALNETWORKS_NO_ERROR;
}

/* Checks that all listed operands are neither constants nor anything else yet, and marks them in
 * `seen`, so that none is listed twice. */
static int check_list(const ANeuralNetworksModel *m, const uint32_t *list, uint32_t n,
                      const char *what, bool *seen)
{
    const struct graph *g = &m->builder->graph[0];

    for (uint32_t i = 0; i < n; i++) {
        PASS(model_check_operand(m, list[i]));
        if (g->operand[list[i]].life != LIFE_TEMPORARY)
            return FAIL(BAD_DATA, "%s %u: operand %u is a %s already", what, i, list[i],
                        lifetime_name[g->operand[list[i]].life]);
        if (seen[list[i]])
            return FAIL(BAD_DATA, "%s %u: operand %u is listed before", what, i, list[i]);
        seen[list[i]] = true;
    }
    return ANEURALNETWORKS_NO_ERROR;
}

static void mark(struct graph *g, const uint32_t *list, uint32_t n, enum lifetime from,
                 enum lifetime to)
{
    for (uint32_t i = 0; i < n; i++)
        if (g->operand[list[i]].life == from)
            g->operand[list[i]].life = to;
}

static int identify(ANeuralNetworksModel *m, uint32_t n_in, const uint32_t *in, uint32_t n_out,
                    const uint32_t *out, bool *seen)
{
    struct graph *g = &m->builder->graph[0];

    if (!seen)
        return FAIL(OUT_OF_MEMORY, "out of memory for %u operands", g->n_operands);
    PASS(check_list(m, in, n_in, "input", seen));
    PASS(check_list(m, out, n_out, "output", seen));
    uint32_t *input = arena_copy(m->builder->arena, in, n_in * sizeof *in);
    uint32_t *output = arena_copy(m->builder->arena, out, n_out * sizeof *out);
    if (!input || !output)
        return FAIL(OUT_OF_MEMORY, "out of memory for the lists of inputs and outputs");
    /* A second call replaces the first one's lists. */
    mark(g, g->input, g->n_inputs, LIFE_INPUT, LIFE_TEMPORARY);
    mark(g, g->output, g->n_outputs, LIFE_OUTPUT, LIFE_TEMPORARY);
    mark(g, input, n_in, LIFE_TEMPORARY, LIFE_INPUT);
    mark(g, output, n_out, LIFE_TEMPORARY, LIFE_OUTPUT);
    g->input = input;
    g->output = output;
    g->n_inputs = n_in;
    g->n_outputs = n_out;
    return ANEURALNETWORKS_NO_ERROR;
}

int model_identify(ANeuralNetworksModel *m, uint32_t n_in, const uint32_t *in, uint32_t n_out,
                   const uint32_t *out)
{
    REQUIRE_GIVEN(m);
    REQUIRE_GIVEN(in);
    REQUIRE_GIVEN(out);
    PASS(model_check_building(m));
    bool *seen = calloc((size_t) m->builder->graph[0].n_operands + 1, sizeof *seen);
    int result = identify(m, n_in, in, n_out, out, seen);

    free(seen);
    return result;
}

int model_relax(ANeuralNetworksModel *m, bool relaxed)
{
    REQUIRE_GIVEN(m);
    PASS(model_check_building(m));
    m->builder->relaxed = relaxed;
    return ANEURALNETWORKS_NO_ERROR;
}
