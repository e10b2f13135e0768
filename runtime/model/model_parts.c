/* Making one golden model of a finished model and of all that it refers to: the models of IF and
 * WHILE, the memories of constants, the names of extensions. */
#include <stdlib.h>
#include <string.h>

#include "golden/model/extension.h"
#include "runtime/base/failure.h"
#include "runtime/devices/runtime_device.h"
#include "runtime/memory/runtime_memory.h"
#include "runtime/model/model_builder.h"

#define LOG_TAG "ModelBuilder"

/* ---- pools */

/* Values are aligned by their length, at most to 4 bytes. */
static size_t align_value(size_t at, size_t length)
{
    size_t to = length < 2 ? 1 : length < 4 ? 2 : 4;
    return (at + to - 1) & ~(to - 1);
}

static bool is_by_pointer(const struct model_builder *b, uint32_t i)
{
    return b->graph[0].operand[i].life == LIFE_CONSTANT_REFERENCE && !b->source[i].memory;
}

/* Copies the values that were given by pointer to one shared memory, which becomes their source. */
static int copy_large_values(ANeuralNetworksModel *m)
{
    struct model_builder *b = m->builder;
    struct graph *g = &b->graph[0];
    size_t total = 0;
    uint8_t *to;

    for (uint32_t i = 0; i < g->n_operands; i++)
        if (is_by_pointer(b, i))
            total = align_value(total, g->operand[i].length) + g->operand[i].length;
    if (!total)
        return ANEURALNETWORKS_NO_ERROR;
    PASS(memory_of_size(total, &b->large));
    PASS(memory_address(b->large, &to));
    total = 0;
    for (uint32_t i = 0; i < g->n_operands; i++) {
        if (!is_by_pointer(b, i))
            continue;
        total = align_value(total, g->operand[i].length);
        memcpy(to + total, g->operand[i].tensor.data, g->operand[i].length);
        b->source[i] = (struct value_source){ b->large, total };
        total += g->operand[i].length;
    }
    return ANEURALNETWORKS_NO_ERROR;
}

/* Room for all pools of the model: a memory for each operand at most, and those of its parts. */
static bool room_for_pools(ANeuralNetworksModel *m, size_t n)
{
    struct model_builder *b = m->builder;

    m->pool = b->pool = arena_alloc(b->arena, n, sizeof(ANeuralNetworksMemory *));
    m->model.pool = arena_alloc(b->arena, n, sizeof *m->model.pool);
    return b->pool && m->model.pool;
}

/* The index of the pool that the memory is; equal memories are one pool. */
static int find_pool(ANeuralNetworksModel *m, ANeuralNetworksMemory *memory, uint32_t *ret_index)
{
    struct model *to = &m->model;
    uint8_t *address;

    for (uint32_t i = to->n_pools; i-- > 0;)
        if (m->pool[i] == memory) {
            *ret_index = i;
            return ANEURALNETWORKS_NO_ERROR;
        }
    PASS(memory_address(memory, &address));
    m->builder->pool[to->n_pools] = memory;
    to->pool[to->n_pools] = (struct pool){ address, memory->host.size };
    *ret_index = to->n_pools++;
    return ANEURALNETWORKS_NO_ERROR;
}

int model_gather_pools(ANeuralNetworksModel *m)
{
    struct model_builder *b = m->builder;
    struct graph *g = &b->graph[0];
    size_t n = 0;

    PASS(copy_large_values(m));
    for (uint32_t i = 0; i < g->n_operands; i++)
        n += g->operand[i].life == LIFE_CONSTANT_REFERENCE;
    for (uint32_t i = 0; i < b->n_values; i++)
        n += b->value[i]->model.n_pools;
    if (!room_for_pools(m, n))
        return FAIL(OUT_OF_MEMORY, "out of memory for %zu pools", n);
    for (uint32_t i = 0; i < g->n_operands; i++) {
        struct operand *o = &g->operand[i];
        if (o->life != LIFE_CONSTANT_REFERENCE)
            continue;
        PASS(find_pool(m, b->source[i].memory, &o->pool));
        o->tensor.data = (uint8_t *) m->model.pool[o->pool].data + b->source[i].offset;
    }
    return ANEURALNETWORKS_NO_ERROR;
}

/* ---- models of IF and WHILE */

/* Adds a model and those that it refers to, depth first, unless it is there already. */
static void add_part(const ANeuralNetworksModel **part, uint32_t *n,
                     const ANeuralNetworksModel *add)
{
    for (uint32_t i = 1; i < *n; i++)
        if (part[i] == add)
            return;
    part[(*n)++] = add;
    for (uint32_t i = 1; i < add->model.n_graphs; i++)
        add_part(part, n, add->builder->part[i]);
}

static uint32_t find_part(const struct model_builder *b, const ANeuralNetworksModel *model)
{
    uint32_t i = 1;

    while (b->part[i] != model)
        i++;
    return i;
}

/* The main graph of a finished model as graph of another: its operands refer to the pools and
 * graphs of that one. */
static int copy_part(ANeuralNetworksModel *m, const ANeuralNetworksModel *from, struct graph *ret)
{
    struct graph g = from->model.graph[0];

    g.operand = arena_copy(m->builder->arena, g.operand, g.n_operands * sizeof *g.operand);
    if (!g.operand)
        return FAIL(OUT_OF_MEMORY, "out of memory for a model that another one refers to");
    for (uint32_t i = 0; i < g.n_operands; i++) {
        struct operand *o = &g.operand[i];
        if (o->life == LIFE_CONSTANT_REFERENCE)
            PASS(find_pool(m, from->pool[o->pool], &o->pool));
        if (o->life == LIFE_SUBGRAPH)
            o->subgraph = find_part(m->builder, from->builder->part[o->subgraph]);
    }
    *ret = g;
    return ANEURALNETWORKS_NO_ERROR;
}

/* Prefixes of extensions, each once, ascending. */
struct prefix_list {
    uint16_t *prefix; /* malloced */
    size_t n, room;
};

static bool add_prefix(struct prefix_list *l, uint32_t prefix)
{
    size_t at = l->n;

    if (prefix <= EXTENSION_oem) /* most: none */
        return true;
    while (at > 0 && l->prefix[at - 1] > prefix)
        at--;
    if (at > 0 && l->prefix[at - 1] == prefix)
        return true;
    if (!list_grow(&l->prefix, l->n, &l->room, sizeof *l->prefix))
        return false;
    memmove(l->prefix + at + 1, l->prefix + at, (l->n - at) * sizeof *l->prefix);
    l->prefix[at] = (uint16_t) prefix;
    l->n++;
    return true;
}

static bool list_prefixes(const struct model *m, struct prefix_list *l)
{
    bool ok = true;

    for (uint32_t k = 0; k < m->n_graphs; k++) {
        const struct graph *g = &m->graph[k];
        uint16_t number;
        for (uint32_t i = 0; i < g->n_operations && ok; i++)
            ok = add_prefix(l, extension_prefix_of(g->operation[i].code));
        for (uint32_t i = 0; i < g->n_operands && ok; i++) {
            const struct operand *o = &g->operand[i];
            if (o->tensor.dtype >= DT_COUNT)
                ok = add_prefix(l, o->tensor.dtype == DT_FOREIGN
                                       ? extension_prefix_of(o->foreign)
                                       : extension_of_type(o->tensor.dtype, &number));
        }
    }
    return ok;
}

/* Names the extensions whose types and operations the model has. */
static int name_extensions(ANeuralNetworksModel *m)
{
    struct model *to = &m->model;
    struct prefix_list l = { .n = 0 };
    bool ok = list_prefixes(to, &l);

    to->extension = ok ? arena_alloc(m->builder->arena, l.n, sizeof *to->extension) : NULL;
    for (size_t i = 0; i < l.n && to->extension; i++)
        to->extension[to->n_extensions++] =
            (struct extension){ extension_of_prefix(l.prefix[i]), l.prefix[i] };
    free(l.prefix);
    return to->extension ? ANEURALNETWORKS_NO_ERROR
                         : FAIL(OUT_OF_MEMORY, "out of memory for extensions");
}

int model_gather_parts(ANeuralNetworksModel *m)
{
    struct model_builder *b = m->builder;
    struct graph *g = &b->graph[0];
    uint32_t n = 1, most = 1;

    for (uint32_t i = 0; i < b->n_values; i++)
        most += b->value[i]->model.n_graphs;
    b->part = arena_alloc(b->arena, most, sizeof(ANeuralNetworksModel *));
    struct graph *graph = arena_alloc(b->arena, most, sizeof *graph);
    bool *relaxed = arena_alloc(b->arena, most, sizeof *relaxed);
    if (!b->part || !graph || !relaxed)
        return FAIL(OUT_OF_MEMORY, "out of memory for %u models", most);
    for (uint32_t i = 0; i < g->n_operands; i++)
        if (g->operand[i].life == LIFE_SUBGRAPH)
            add_part(b->part, &n, b->value[g->operand[i].subgraph - 1]);
    for (uint32_t i = 0; i < g->n_operands; i++)
        if (g->operand[i].life == LIFE_SUBGRAPH)
            g->operand[i].subgraph = find_part(b, b->value[g->operand[i].subgraph - 1]);
    graph[0] = *g;
    relaxed[0] = b->relaxed;
    for (uint32_t i = 1; i < n; i++) {
        PASS(copy_part(m, b->part[i], &graph[i]));
        relaxed[i] = b->part[i]->model.relaxed;
    }
    m->model.graph = graph;
    m->model.n_graphs = n;
    m->model.relaxed = b->relaxed;
    m->graph_relaxed = relaxed;
    return name_extensions(m);
}
