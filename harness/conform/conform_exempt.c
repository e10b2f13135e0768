/* Exemptions: mutations that are skipped because the mutated model would be valid. */
#include "harness/conform/conform_exempt.h"

#include "golden/model/op.h"

enum { ANY = -100, ALL_TYPES = 0xffff };
#define OUTPUT(k) (-1 - (k))
#define TYPE(t)   (1u << DT_##t)
#define TENSORS                                                                                    \
    (TYPE(F32) | TYPE(I32) | TYPE(U8) | TYPE(Q16S) | TYPE(F16) | TYPE(B8) | TYPE(PC8) |            \
     TYPE(Q16A) | TYPE(Q8S) | TYPE(S8))

/* Operands whose type may be replaced by one of `types`, since an HAL version. */
static const struct multi_type {
    int32_t code;
    int operand; /* an input's index, OUTPUT(k), or ANY operand of a model with such an operation */
    uint32_t types;
    enum hal_version since;
} multi_type[] = {
    { OP_LSH_PROJECTION, 1, ALL_TYPES, HAL_1_0 },
    { OP_CAST, ANY, TYPE(F16) | TYPE(F32) | TYPE(I32) | TYPE(U8), HAL_1_2 },
    { OP_ARGMAX, ANY, TYPE(F16) | TYPE(F32) | TYPE(I32) | TYPE(U8), HAL_1_2 },
    { OP_ARGMIN, ANY, TYPE(F16) | TYPE(F32) | TYPE(I32) | TYPE(U8), HAL_1_2 },
    { OP_CAST, ANY, TYPE(S8), HAL_1_3 },
    { OP_ARGMAX, ANY, TYPE(S8), HAL_1_3 },
    { OP_ARGMIN, ANY, TYPE(S8), HAL_1_3 },
    { OP_QUANTIZE, 0, TYPE(F16) | TYPE(F32), HAL_1_2 },
    { OP_QUANTIZE, OUTPUT(0), TYPE(U8) | TYPE(S8), HAL_1_3 },
    { OP_RANDOM_MULTINOMIAL, 0, TYPE(F16) | TYPE(F32), HAL_1_2 },
    { OP_DEQUANTIZE, 0, TYPE(U8) | TYPE(Q8S) | TYPE(PC8), HAL_1_2 },
    { OP_DEQUANTIZE, 0, TYPE(S8), HAL_1_3 },
    { OP_DEQUANTIZE, OUTPUT(0), TYPE(F16) | TYPE(F32), HAL_1_2 },
    { OP_CONV_2D, 1, TYPE(U8) | TYPE(PC8), HAL_1_2 },
    { OP_DEPTHWISE_CONV_2D, 1, TYPE(U8) | TYPE(PC8), HAL_1_2 },
    { OP_GROUPED_CONV_2D, 1, TYPE(U8) | TYPE(PC8), HAL_1_2 },
    { OP_TRANSPOSE_CONV_2D, 1, TYPE(U8) | TYPE(PC8), HAL_1_2 },
    { OP_AXIS_ALIGNED_BBOX_TRANSFORM, 1, TYPE(U8) | TYPE(S8), HAL_1_3 },
    { OP_RANK, 0, TENSORS, HAL_1_3 },
};

static bool is_operand_at(const struct hal_operation *o, int place, uint32_t operand)
{
    if (place == ANY)
        return true;
    if (place < 0)
        return (uint32_t) (-1 - place) < o->n_outputs && o->outputs[-1 - place] == operand;
    return (uint32_t) place < o->n_inputs && o->inputs[place] == operand;
}

bool conform_may_have_type(const struct hal_model *m, enum hal_version version, uint32_t operand,
                           int type)
{
    for (uint32_t i = 0; i < m->main.n_operations; i++)
        for (int k = 0; k < COUNT(multi_type); k++) {
            const struct hal_operation *o = &m->main.operations[i];
            if (multi_type[k].code == o->type && version >= multi_type[k].since &&
                multi_type[k].types >> type & 1 && is_operand_at(o, multi_type[k].operand, operand))
                return true;
        }
    return false;
}

/* Optional inputs: an operation with `least` to `most` inputs may lose any input from `first` on,
 * except the last `tail`. */
static const struct removable {
    int32_t code;
    uint32_t least, most;
    uint32_t first, tail;
} removable[] = {
    { OP_CONCATENATION, 3, UINT32_MAX, 0, 1 },
    { OP_CONV_2D, 8, 8, 7, 0 },
    { OP_CONV_2D, 11, 11, 10, 0 },
    { OP_DEPTHWISE_CONV_2D, 9, 9, 8, 0 },
    { OP_DEPTHWISE_CONV_2D, 12, 12, 11, 0 },
    { OP_AVERAGE_POOL_2D, 8, 8, 7, 0 },
    { OP_AVERAGE_POOL_2D, 11, 11, 10, 0 },
    { OP_MAX_POOL_2D, 8, 8, 7, 0 },
    { OP_MAX_POOL_2D, 11, 11, 10, 0 },
    { OP_L2_POOL_2D, 8, 8, 7, 0 },
    { OP_L2_POOL_2D, 11, 11, 10, 0 },
    { OP_RESIZE_BILINEAR, 4, 6, 3, 0 },
    { OP_RESIZE_NEAREST_NEIGHBOR, 5, 6, 3, 0 },
    { OP_SPACE_TO_DEPTH, 3, 3, 2, 0 },
    { OP_DEPTH_TO_SPACE, 3, 3, 2, 0 },
    { OP_BATCH_TO_SPACE_ND, 3, 3, 2, 0 },
    { OP_SPACE_TO_BATCH_ND, 4, 4, 3, 0 },
    { OP_L2_NORMALIZATION, 2, 2, 1, 0 },
    { OP_LOCAL_RESPONSE_NORMALIZATION, 6, 6, 5, 0 },
    { OP_SOFTMAX, 3, 3, 2, 0 },
    { OP_PACK, 3, UINT32_MAX, 1, 0 },
    { OP_DENSIFY, 6, UINT32_MAX, 1, 0 }, /* experimental, in no suite: takes any number of lists */
};

bool conform_may_lose_input(const struct hal_model *m, enum hal_version version, uint32_t operation,
                            uint32_t input)
{
    const struct hal_operation *o = &m->main.operations[operation];

    (void) version;
    for (int k = 0; k < COUNT(removable); k++) {
        const struct removable *r = &removable[k];
        if (r->code == o->type && o->n_inputs >= r->least && o->n_inputs <= r->most &&
            input >= r->first && input < o->n_inputs - r->tail)
            return true;
    }
    return false;
}

/* Operations with `least` to `most` inputs whose next input is an optional INT32. */
static const struct extensible {
    int32_t code;
    uint32_t least, most;
    enum hal_version since;
} extensible[] = {
    { OP_L2_NORMALIZATION, 1, 1, HAL_1_2 },
    { OP_LOCAL_RESPONSE_NORMALIZATION, 5, 5, HAL_1_2 },
    { OP_SOFTMAX, 2, 2, HAL_1_2 },
    { OP_RESIZE_BILINEAR, 0, 5, HAL_1_3 },
    { OP_RESIZE_NEAREST_NEIGHBOR, 0, 5, HAL_1_3 },
};

bool conform_may_gain_input(const struct hal_operation *o, enum hal_version version)
{
    for (int k = 0; k < COUNT(extensible); k++)
        if (extensible[k].code == o->type && o->n_inputs >= extensible[k].least &&
            o->n_inputs <= extensible[k].most && version >= extensible[k].since)
            return true;
    return false;
}

/* Operations that are valid with fewer outputs: the number of outputs selects a variant. */
static const struct variable_outputs {
    int32_t code;
    enum hal_version since;
} variable_outputs[] = {
    { OP_SPLIT, HAL_1_2 },
    { OP_BIDIRECTIONAL_SEQUENCE_LSTM, HAL_1_2 },
    { OP_BIDIRECTIONAL_SEQUENCE_RNN, HAL_1_2 },
    { OP_UNIDIRECTIONAL_SEQUENCE_LSTM, HAL_1_3 },
    { OP_UNIDIRECTIONAL_SEQUENCE_RNN, HAL_1_3 },
};

static bool has_output(const struct hal_operation *o, uint32_t operand)
{
    for (uint32_t k = 0; k < o->n_outputs; k++)
        if (o->outputs[k] == operand)
            return true;
    return false;
}

bool conform_may_lose_operand(const struct hal_model *m, enum hal_version version, uint32_t operand)
{
    if (version >= HAL_1_3 && !m->main.operands[operand].n_consumers)
        return true;
    for (uint32_t i = 0; i < m->main.n_operations; i++)
        for (int k = 0; k < COUNT(variable_outputs); k++)
            if (variable_outputs[k].code == m->main.operations[i].type &&
                version >= variable_outputs[k].since && has_output(&m->main.operations[i], operand))
                return true;
    return false;
}
