/* Faults: invalid models that are accepted, and valid ones that are misread. */
#include <string.h>

#include "sim/faulty/faulty.h"
#include "sim/hal_validate.h"

static uint8_t *last_flag(const struct hal_operation *o, const struct hal_operand *operand,
                          uint8_t *values)
{
    for (uint32_t i = o->n_inputs; i > 0; i--) {
        const struct hal_operand *x = &operand[o->inputs[i - 1]];
        if (x->type == HAL_TYPE_BOOL && x->lifetime == HAL_CONSTANT_COPY)
            return values + x->location.offset;
    }
    return NULL;
}

/* The last flag of each operation is false, unless that makes the model invalid. */
static void ignore_last_flag(struct faulty_preparation *p)
{
    struct hal_model *m = p->model ? arena_copy(p->arena, p->model, sizeof *m) : NULL;
    uint8_t *values;

    if (!m || hal_validate_model(p->version, m, NULL, 0) != HAL_NONE)
        return;
    values = arena_copy(p->arena, m->operand_values, (size_t) m->operand_values_length);
    for (uint32_t i = 0; values && i < m->main.n_operations; i++) {
        uint8_t *flag = last_flag(&m->main.operations[i], m->main.operands, values);
        if (!flag || !*flag)
            continue;
        *flag = 0;
        m->operand_values = values;
        if (hal_validate_model(p->version, m, NULL, 0) != HAL_NONE)
            *flag = 1;
        p->model = m;
    }
}

static const struct fault rows[] = {
    ACCEPTS("order-unchecked", "model", RULES("model/M1"),
            "accepts operations that are not in execution order", UNCHECKED(ORDER)),
    ACCEPTS("cycle-accepted", "model", RULES("basic/B12"), "accepts models with a cyclic data flow",
            UNCHECKED(ORDER) | UNCHECKED(CYCLE)),
    ACCEPTS("type-unchecked", "model", RULES("model/M2"), "accepts operand types that do not exist",
            UNCHECKED(TYPE) | UNCHECKED(SCALE) | UNCHECKED(ZERO_POINT)),
    ACCEPTS("rank-unchecked", "model", RULES("model/M3"), "accepts scalars with dimensions",
            UNCHECKED(RANK)),
    ACCEPTS("scale-unchecked", "model", RULES("model/M4"),
            "accepts scales that the operand's type does not allow", UNCHECKED(SCALE)),
    ACCEPTS("zero-point-unchecked", "model", RULES("model/M5"),
            "accepts zero points out of the type's range", UNCHECKED(ZERO_POINT)),
    ACCEPTS("lifetime-unchecked", "model", RULES("model/M6"),
            "accepts lifetimes that contradict what operations read and write",
            UNCHECKED(LIFETIME) | UNCHECKED(LISTS) | UNCHECKED(ORDER) | UNCHECKED(CONSTANT)),
    ACCEPTS("lists-unchecked", "model", RULES("model/M7"),
            "accepts lists of inputs and outputs that contradict the lifetimes", UNCHECKED(LISTS)),
    ACCEPTS("consumers-unchecked", "model", RULES("model/M8"),
            "accepts wrong numbers of consumers (HAL 1.0 to 1.3)", UNCHECKED(CONSUMERS)),
    ACCEPTS("second-writer-accepted", "model", RULES("model/M9"),
            "accepts operands that two operations write",
            UNCHECKED(WRITERS) | UNCHECKED(LIFETIME) | UNCHECKED(LISTS)),
    ACCEPTS("operation-unchecked", "model", RULES("model/M11"),
            "accepts operation codes that do not exist", UNCHECKED(OPERATION)),
    ACCEPTS("input-index-unchecked", "model", RULES("model/M12"),
            "accepts operations whose input indexes are out of range",
            UNCHECKED(INPUT_INDEX) | UNCHECKED(CONSUMERS)),
    ACCEPTS("output-index-unchecked", "model", RULES("model/M13"),
            "accepts operations whose output indexes are out of range",
            UNCHECKED(OUTPUT_INDEX) | UNCHECKED(LIFETIME) | UNCHECKED(ORDER)),
    ACCEPTS("unwritten-accepted", "model", RULES("model/M14"),
            "accepts temporaries that no operation writes", UNCHECKED(LIFETIME) | UNCHECKED(ORDER)),
    ACCEPTS("operations-lost", "model", RULES("model/M15", "model/M16"),
            "accepts models with a missing operand or operation",
            UNCHECKED(LIFETIME) | UNCHECKED(ORDER) | UNCHECKED(CONSUMERS) | UNCHECKED(LISTS) |
                UNCHECKED(INPUT_INDEX) | UNCHECKED(OUTPUT_INDEX) | UNCHECKED(SIGNATURE)),
    ACCEPTS("signature-unchecked", "model", RULES("model/M10", "model/M15", "model/M17"),
            "accepts operands of a number, type or shape that the operation does not have",
            UNCHECKED(SIGNATURE)),
    ACCEPTS("arity-unchecked", "model", RULES("model/M18", "model/M19", "model/M20"),
            "accepts added and removed inputs and outputs",
            UNCHECKED(SIGNATURE) | UNCHECKED(CONSUMERS) | UNCHECKED(LIFETIME) | UNCHECKED(ORDER)),
    ACCEPTS("constant-unchecked", "model", RULES("model/ranges"),
            "accepts constants that do not lie in their pool", UNCHECKED(CONSTANT)),
    ACCEPTS("channels-unchecked", "model", RULES("model/ranges"),
            "accepts scales of channels that do not fit the operand", UNCHECKED(CHANNELS)),
    BREAKS("last-flag-ignored", "numbers", RULES("generated/arguments"),
           "takes the last BOOL constant of each operation as false, where the model stays valid",
           .preparing = ignore_last_flag),
    ACCEPTS("nothing-checked", "model", RULES("model/M1"), "accepts every invalid model",
            UINT64_MAX),
};
const struct fault_group model_faults = { rows, COUNT(rows) };
