/* setInput, setOutput and the same with memories: checks in their order. */
#include <stdlib.h>
#include <string.h>

#include "runtime/base/failure.h"
#include "runtime/domain/memory_desc.h"
#include "runtime/execute/execution.h"

#define LOG_TAG "ExecutionBuilder"

/* ---- shapes */

/* The type adds to what the model tells of the shape, and contradicts nothing. */
static int merge_shape(const struct shape *given, struct argument *a)
{
    char actual[SHAPE_TEXT], expected[SHAPE_TEXT];

    if (!argument_is_tensor(a) && given->rank)
        return FAIL(BAD_DATA, "dimensions for a scalar");
    bool fits = !a->shape.rank || given->rank == a->shape.rank;
    for (uint32_t d = 0; d < a->shape.rank && fits; d++)
        fits = !a->shape.dim[d] || given->dim[d] == a->shape.dim[d];
    if (!fits)
        return FAIL(BAD_DATA, "shape %s, in the model %s", shape_text(given, actual),
                    shape_text(&a->shape, expected));
    a->shape = *given;
    return ANEURALNETWORKS_NO_ERROR;
}

/* A memory from a descriptor is given whole, to a use that it was made for. */
static int check_described(const ANeuralNetworksExecution *e, const struct given_argument *g,
                           bool is_output)
{
    const struct described_memory *d = g->memory->described;

    if (g->offset || g->length)
        return FAIL(BAD_DATA,
                    "offset %zu and length %zu, must be 0 with a memory from a descriptor",
                    g->offset, g->length);
    for (uint32_t i = 0; i < d->n_roles; i++)
        if (d->role[i].number == e->compilation->number && d->role[i].is_output == is_output &&
            d->role[i].index == (uint32_t) g->index)
            return ANEURALNETWORKS_NO_ERROR;
    return FAIL(BAD_DATA, "the memory has no role as %s %d of this compilation",
                is_output ? "output" : "input", g->index);
}

/* The declared shape of such a memory adds to that of the argument. */
static int merge_described(const struct described_memory *d, struct argument *a)
{
    char actual[SHAPE_TEXT], expected[SHAPE_TEXT];

    if (shape_merge(&a->shape, &d->operand.shape))
        return ANEURALNETWORKS_NO_ERROR;
    return FAIL(BAD_DATA, "shape %s, that of the memory is %s", shape_text(&a->shape, actual),
                shape_text(&d->operand.shape, expected));
}

static int check_type(const struct given_argument *g, bool is_output, struct argument *a)
{
    const bool is_described = g->memory && g->memory->described;

    char text[SHAPE_TEXT];
    struct tensor type;
    int32_t foreign;

    if (g->type) {
        PASS(operand_type_check(g->type, &type, &foreign));
        PASS(merge_shape(&type.shape, a));
        a->is_shape_given = argument_is_tensor(a);
    }
    /* the shape of an input in a memory from a descriptor may be that of its contents */
    if (!is_output && a->kind != ARGUMENT_OMITTED && (g->type || !is_described) &&
        !argument_is_known(a))
        return FAIL(BAD_DATA, "the shape of an input must be known, %s is not",
                    shape_text(&a->shape, text));
    return is_described ? merge_described(g->memory->described, a) : ANEURALNETWORKS_NO_ERROR;
}

/* ---- lengths */

static int check_length(const struct given_argument *g, bool is_padded, struct argument *a)
{
    const size_t size = argument_element_size(a);

    if (a->kind == ARGUMENT_OMITTED ||
        (g->memory && (g->memory->described || g->memory->is_opaque)))
        return ANEURALNETWORKS_NO_ERROR;
    if (g->length == 0)
        return FAIL(BAD_DATA, "length 0");
    a->length = g->length;
    if (!size || !argument_is_known(a))
        return ANEURALNETWORKS_NO_ERROR;
    const size_t need = size * shape_count(&a->shape);
    if (g->length < need)
        return FAIL(BAD_DATA, "length %zu, the value has %zu bytes", g->length, need);
    if (g->length > need && !is_padded)
        return FAIL(BAD_DATA, "length %zu, the value has %zu bytes, and padding is not enabled",
                    g->length, need);
    a->length = need;
    a->padding = g->length - need;
    return ANEURALNETWORKS_NO_ERROR;
}

static int check_memory(const ANeuralNetworksExecution *e, const struct given_argument *g,
                        bool is_output)
{
    if (!g->memory)
        return ANEURALNETWORKS_NO_ERROR;
    if (g->memory->described)
        return check_described(e, g, is_output);
    if (g->memory->is_opaque && !g->offset && !g->length)
        return ANEURALNETWORKS_NO_ERROR;
    return memory_check_range(g->memory, g->offset, g->length);
}

/* The lock is held. */
static int set(ANeuralNetworksExecution *e, const struct given_argument *g, bool is_output)
{
    const uint32_t n = is_output ? e->n_outputs : e->n_inputs;

    PASS(execution_check_preparing(e));
    e->is_padding_fixed = true;
    if (g->index < 0 || (uint32_t) g->index >= n)
        return FAIL(BAD_DATA, "%s %d of %u", is_output ? "output" : "input", g->index, n);
    struct argument *to = (is_output ? e->output : e->input) + g->index, a = *to;
    a = (struct argument){ .kind = g->memory   ? ARGUMENT_MEMORY
                                   : g->buffer ? ARGUMENT_BUFFER
                                               : ARGUMENT_OMITTED,
                           .operand = to->operand,
                           .shape = to->operand->tensor.shape,
                           .buffer = g->buffer,
                           .memory = g->memory,
                           .offset = g->offset };
    PASS(check_memory(e, g, is_output));
    PASS(check_type(g, is_output, &a));
    if (g->length > UINT32_MAX)
        return FAIL(BAD_DATA, "length %zu, at most %u", g->length, UINT32_MAX);
    PASS(check_length(g, e->is_padded, &a));
    if (to->kind != ARGUMENT_UNSET)
        return FAIL(BAD_STATE, "%s %d is set already", is_output ? "output" : "input", g->index);
    *to = a;
    return ANEURALNETWORKS_NO_ERROR;
}

static int set_locked(ANeuralNetworksExecution *e, const struct given_argument *g, bool is_output)
{
    REQUIRE_GIVEN(e);
    if (!g->memory && !g->buffer && g->length)
        return FAIL(UNEXPECTED_NULL, "buffer is NULL, its length %zu", g->length);
    pthread_mutex_lock(&e->lock);
    int result = set(e, g, is_output);
    pthread_mutex_unlock(&e->lock);
    return result;
}

int execution_set_input(ANeuralNetworksExecution *e, const struct given_argument *g)
{
    return set_locked(e, g, false);
}

int execution_set_output(ANeuralNetworksExecution *e, const struct given_argument *g)
{
    return set_locked(e, g, true);
}
