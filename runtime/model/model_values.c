/* Values of operands, and what else an operand can have. */
#include <stdint.h>
#include <string.h>

#include "golden/model/extension.h"
#include "runtime/base/failure.h"
#include "runtime/memory/runtime_memory.h"
#include "runtime/model/model_builder.h"

#define LOG_TAG "ModelBuilder"

enum { MOST_COPIED = ANEURALNETWORKS_MAX_SIZE_OF_IMMEDIATELY_COPIED_VALUES };

static struct operand *operand_of(ANeuralNetworksModel *m, int32_t index)
{
    return &m->builder->graph[0].operand[index];
}

/* Replaces whatever the operand is by a constant of `length` bytes at `data`. */
static void make_constant(ANeuralNetworksModel *m, int32_t index, enum lifetime life,
                          const void *data, size_t length, struct value_source source)
{
    struct operand *o = operand_of(m, index);

    o->life = life;
    o->tensor.data = (void *) data;
    o->length = length;
    o->subgraph = 0;
    m->builder->source[index] = source;
}

/* Checks that the operand can have a value, and that its length is right. */
static int check_length(const struct operand *o, int32_t index, size_t length)
{
    const struct tensor *t = &o->tensor;
    uint64_t size = operand_type_size(t, o->foreign);

    if (operand_type_is_tensor(t, o->foreign) && !shape_known(&t->shape))
        return FAIL(BAD_DATA, "operand %d: a constant must have a complete shape", index);
    if (length > UINT32_MAX)
        return FAIL(BAD_DATA, "operand %d: %zu bytes, at most 2^32 - 1 are allowed", index, length);
    if (length != size && !operand_type_is_oem_scalar(t, o->foreign))
        return FAIL(BAD_DATA, "operand %d: a value of %zu bytes where its type has %llu", index,
                    length, (unsigned long long) size);
    return ANEURALNETWORKS_NO_ERROR;
}

/* The operand's own room for a value of this length, which it keeps when it gets another one. */
static void *room_for(struct model_builder *b, struct operand *o, size_t length)
{
    if (o->life == LIFE_CONSTANT_COPY && o->length == length)
        return o->tensor.data;
    return arena_alloc(b->arena, 1, length);
}

int model_set_value(ANeuralNetworksModel *m, int32_t index, const void *buffer, size_t length)
{
    const struct value_source none = { .memory = NULL };

    REQUIRE_GIVEN(m);
    if (!buffer && length)
        return FAIL(UNEXPECTED_NULL, "buffer is NULL, but length is %zu", length);
    PASS(model_check_building(m));
    PASS(model_check_operand(m, index));
    struct operand *o = operand_of(m, index);

    if (!buffer) {
        make_constant(m, index, LIFE_NO_VALUE, NULL, 0, none);
        return ANEURALNETWORKS_NO_ERROR;
    }
    if (!length)
        return FAIL(BAD_DATA, "operand %d: a buffer of length 0", index);
    PASS(check_length(o, index, length));
    if (length > MOST_COPIED) { /* read when the model is finished */
        make_constant(m, index, LIFE_CONSTANT_REFERENCE, buffer, length, none);
        return ANEURALNETWORKS_NO_ERROR;
    }
    void *copy = room_for(m->builder, o, length);
    if (!copy)
        return FAIL(OUT_OF_MEMORY, "out of memory for the value of operand %d", index);
    memmove(copy, buffer, length);
    make_constant(m, index, LIFE_CONSTANT_COPY, copy, length, none);
    return ANEURALNETWORKS_NO_ERROR;
}

int model_set_value_from_memory(ANeuralNetworksModel *m, int32_t index,
                                const ANeuralNetworksMemory *memory, size_t offset, size_t length)
{
    const struct value_source source = { (ANeuralNetworksMemory *) memory, offset };

    REQUIRE_GIVEN(m);
    REQUIRE_GIVEN(memory);
    PASS(model_check_building(m));
    PASS(model_check_operand(m, index));
    PASS(check_length(operand_of(m, index), index, length));
    PASS(memory_check_range(memory, offset, length));
    make_constant(m, index, LIFE_CONSTANT_REFERENCE, NULL, length, source);
    return ANEURALNETWORKS_NO_ERROR;
}

int model_set_value_from_model(ANeuralNetworksModel *m, int32_t index,
                               const ANeuralNetworksModel *value)
{
    REQUIRE_GIVEN(m);
    REQUIRE_GIVEN(value);
    PASS(model_check_building(m));
    if (value->state != MODEL_VALID)
        return FAIL(BAD_STATE, "the value, a model, is %s",
                    value->state == MODEL_INVALID ? "invalid" : "not finished");
    PASS(model_check_operand(m, index));
    struct model_builder *b = m->builder;
    uint32_t at = 0;

    while (at < b->n_values && b->value[at] != value)
        at++;
    if (at == b->n_values) {
        if (!list_grow(&b->value, at, &b->value_room, sizeof *b->value) ||
            !list_grow(&b->graph, at + 1, &b->graph_room, sizeof *b->graph))
            return FAIL(OUT_OF_MEMORY, "out of memory for the value of operand %d", index);
        b->value[at] = value;
        b->graph[1 + at] = value->model.graph[0];
        b->n_values++;
    }
    make_constant(m, index, LIFE_SUBGRAPH, NULL, 0, (struct value_source){ .memory = NULL });
    operand_of(m, index)->subgraph = 1 + at;
    return ANEURALNETWORKS_NO_ERROR;
}

static int check_channels(const struct tensor *t, int32_t index,
                          const ANeuralNetworksSymmPerChannelQuantParams *p)
{
    if ((p->scales == NULL) != (p->scaleCount == 0))
        return FAIL(BAD_DATA, "operand %d: %u scales, but scales is %s", index, p->scaleCount,
                    p->scales ? "not NULL" : "NULL");
    if (dtype_info[t->dtype].quant != QUANT_CHANNEL)
        return FAIL(BAD_DATA, "operand %d, %s, has no scales by channel", index,
                    dtype_info[t->dtype].name);
    if (p->channelDim >= t->shape.rank)
        return FAIL(BAD_DATA, "operand %d: scales along dimension %u, but the rank is %u", index,
                    p->channelDim, t->shape.rank);
    uint32_t dim = t->shape.dim[p->channelDim];
    if (!p->scaleCount || !dim || p->scaleCount != dim)
        return FAIL(BAD_DATA, "operand %d: %u scales for a dimension of %u", index, p->scaleCount,
                    dim);
    for (uint32_t i = 0; i < p->scaleCount; i++)
        if (!(p->scales[i] > 0))
            return FAIL(BAD_DATA, "operand %d: scale %u is %g, must be positive", index, i,
                        (double) p->scales[i]);
    return ANEURALNETWORKS_NO_ERROR;
}

int model_set_channel_scales(ANeuralNetworksModel *m, int32_t index,
                             const ANeuralNetworksSymmPerChannelQuantParams *params)
{
    REQUIRE_GIVEN(m);
    REQUIRE_GIVEN(params);
    PASS(model_check_building(m));
    PASS(model_check_operand(m, index));
    struct tensor *t = &operand_of(m, index)->tensor;

    PASS(check_channels(t, index, params));
    const float *copy =
        arena_copy(m->builder->arena, params->scales, params->scaleCount * sizeof *params->scales);
    if (!copy)
        return FAIL(OUT_OF_MEMORY, "out of memory for %u scales", params->scaleCount);
    t->channel_dim = params->channelDim;
    t->n_channels = params->scaleCount;
    t->channel_scale = copy;
    return ANEURALNETWORKS_NO_ERROR;
}

int model_set_extension_data(ANeuralNetworksModel *m, int32_t index, const void *data,
                             size_t length)
{
    REQUIRE_GIVEN(m);
    if (!data && length)
        return FAIL(UNEXPECTED_NULL, "data is NULL, but length is %zu", length);
    PASS(model_check_building(m));
    PASS(model_check_operand(m, index));
    struct operand *o = operand_of(m, index);
    uint16_t number;

    if (data && !length)
        return FAIL(BAD_DATA, "operand %d: extension data of length 0", index);
    if (o->tensor.dtype == DT_FOREIGN
            ? !extension_prefix_of(o->foreign)
            : extension_of_type(o->tensor.dtype, &number) <= EXTENSION_oem)
        return FAIL(BAD_DATA, "operand %d, %s, has no extension data", index,
                    dtype_info[o->tensor.dtype].name);
    const void *copy = data ? arena_copy(m->builder->arena, data, length) : NULL;
    if (data && !copy)
        return FAIL(OUT_OF_MEMORY, "out of memory for %zu bytes of extension data", length);
    o->tensor.extension = copy;
    o->tensor.extension_length = length;
    return ANEURALNETWORKS_NO_ERROR;
}
