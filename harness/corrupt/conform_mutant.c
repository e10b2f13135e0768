#include "harness/corrupt/conform_mutant.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "golden/model/extension.h"
#include "harness/conform/conform.h"

static void *extend(struct arena *a, const void *from, uint32_t n, size_t size)
{
    char *to = arena_alloc(a, n + 1, size);

    conform_must(to, "out of memory");
    if (n)
        memcpy(to, from, n * size);
    return to;
}

void mutant_begin(struct conform_walk *w)
{
    struct hal_subgraph *g = &w->mutant.model.main;

    arena_rewind(w->arena, w->start);
    w->mutant.model = *w->original;
    w->mutant.config = client_default_preparation;
    w->operand = extend(w->arena, g->operands, g->n_operands, sizeof *w->operand);
    w->operation = extend(w->arena, g->operations, g->n_operations, sizeof *w->operation);
    g->operands = w->operand;
    g->operations = w->operation;
}

uint32_t *mutant_own_list(struct conform_walk *w, const uint32_t **list, uint32_t n)
{
    uint32_t *own = extend(w->arena, *list, n, sizeof *own);

    *list = own;
    return own;
}

uint32_t *mutant_inputs(struct conform_walk *w, uint32_t operation)
{
    struct hal_operation *o = &w->operation[operation];

    return mutant_own_list(w, &o->inputs, o->n_inputs);
}

uint32_t *mutant_outputs(struct conform_walk *w, uint32_t operation)
{
    struct hal_operation *o = &w->operation[operation];

    return mutant_own_list(w, &o->outputs, o->n_outputs);
}

void mutant_append(struct conform_walk *w, const uint32_t **list, uint32_t *n, uint32_t index)
{
    mutant_own_list(w, list, *n)[*n] = index;
    ++*n;
}

void mutant_drop(struct conform_walk *w, const uint32_t **list, uint32_t *n, uint32_t at)
{
    uint32_t *own = mutant_own_list(w, list, *n);

    memmove(own + at, own + at + 1, (*n - at - 1) * sizeof *own);
    --*n;
}

void mutant_drop_value(struct conform_walk *w, const uint32_t **list, uint32_t *n, uint32_t value)
{
    for (uint32_t i = *n; i-- > 0;)
        if ((*list)[i] == value)
            mutant_drop(w, list, n, i);
}

uint32_t mutant_add(struct conform_walk *w, const struct hal_operand *o)
{
    struct hal_subgraph *g = &w->mutant.model.main;

    w->operand = extend(w->arena, w->operand, g->n_operands, sizeof *w->operand);
    w->operand[g->n_operands] = *o;
    g->operands = w->operand;
    return g->n_operands++;
}

uint32_t mutant_add_like(struct conform_walk *w, uint32_t operand)
{
    struct hal_operand o = w->operand[operand];

    o.lifetime = HAL_TEMPORARY_VARIABLE;
    o.location = (struct hal_location){ 0 };
    o.n_consumers = 0;
    return mutant_add(w, &o);
}

const struct dtype_info *mutant_type_of(int32_t type)
{
    enum dtype t = DT_FOREIGN;

    if (type >= OEM_CODE && type < OEM_CODE + OEM_CODES_TYPES)
        t = extension_type(EXTENSION_oem, (uint16_t) (type - OEM_CODE));
    else if (type >> 16) /* the models have no other extension than this one */
        t = extension_type(EXTENSION_fibonacci, (uint16_t) type);
    else if (type >= 0 && type < DT_FOREIGN)
        t = (enum dtype) type;
    return &dtype_info[t];
}

/* Allocates a constant for the operand at the end of the values; returns its size, 0 if that is not
 * known or above 32 KiB. */
static uint64_t add_constant_value(struct conform_walk *w, struct hal_operand *o)
{
    struct hal_model *m = &w->mutant.model;
    uint64_t size = mutant_type_of(o->type)->codec->size,
             at = (m->operand_values_length + 15) & ~15ull;
    uint8_t *values;

    for (uint32_t d = 0; d < o->n_dims; d++)
        size *= o->dims[d];
    if (!size || size > 1 << 15 || (mutant_type_of(o->type)->tensor && !o->n_dims))
        return 0;
    values = arena_alloc(w->arena, at + size, 1);
    conform_must(values, "out of memory");
    if (m->operand_values_length)
        memcpy(values, m->operand_values, m->operand_values_length);
    m->operand_values = values;
    m->operand_values_length = at + size;
    o->location = (struct hal_location){ .offset = at, .length = size };
    return size;
}

bool mutant_set_lifetime(struct conform_walk *w, uint32_t i, enum hal_lifetime to)
{
    w->operand[i].lifetime = to;
    w->operand[i].location = (struct hal_location){ 0 };
    return to != HAL_CONSTANT_COPY || add_constant_value(w, &w->operand[i]);
}

void mutant_update_lists(struct conform_walk *w, uint32_t i)
{
    struct hal_subgraph *g = &w->mutant.model.main;

    mutant_drop_value(w, &g->inputs, &g->n_inputs, i);
    mutant_drop_value(w, &g->outputs, &g->n_outputs, i);
    if (w->operand[i].lifetime == HAL_SUBGRAPH_INPUT)
        mutant_append(w, &g->inputs, &g->n_inputs, i);
    if (w->operand[i].lifetime == HAL_SUBGRAPH_OUTPUT)
        mutant_append(w, &g->outputs, &g->n_outputs, i);
}

void mutant_exchange(struct hal_model *m, uint32_t subgraph, struct arena *a)
{
    struct hal_subgraph *referenced = extend(a, m->referenced, m->n_referenced, sizeof *referenced);
    struct hal_subgraph main = m->main;

    m->main = referenced[subgraph - 1];
    referenced[subgraph - 1] = main;
    m->referenced = referenced;
}

__attribute__((format(printf, 2, 3))) void mutant_emit(struct conform_walk *w, const char *format,
                                                       ...)
{
    char *what = w->mutant.what;
    size_t size = sizeof w->mutant.what, n = 0;
    va_list ap;

    if (w->subgraph) {
        n = (size_t) snprintf(what, size, "referenced subgraph %u, ", w->subgraph - 1);
        mutant_exchange(&w->mutant.model, w->subgraph, w->arena);
    }
    va_start(ap, format);
    vsnprintf(what + n, size - n, format, ap);
    va_end(ap);
    w->visit(&w->mutant, w->user);
}
