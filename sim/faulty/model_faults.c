/* Faults: invalid models that are accepted. */
#include "sim/faulty/faulty.h"

#define ACCEPTS(name, suite, doc, bits)                                                            \
    {                                                                                              \
        name, "model", suite, doc, .contract = CONTRACT(.unchecked = bits)                         \
    }

static const struct fault rows[] = {
    ACCEPTS("order-unchecked", "model", "accepts operations that are not in execution order",
            UNCHECKED(ORDER)),
    ACCEPTS("cycle-accepted", "basic", "accepts models with a cyclic data flow",
            UNCHECKED(ORDER) | UNCHECKED(CYCLE)),
    ACCEPTS("type-unchecked", "model", "accepts operand types that do not exist",
            UNCHECKED(TYPE) | UNCHECKED(SCALE) | UNCHECKED(ZERO_POINT)),
    ACCEPTS("rank-unchecked", "model", "accepts scalars with dimensions", UNCHECKED(RANK)),
    ACCEPTS("scale-unchecked", "model", "accepts scales that the operand's type does not allow",
            UNCHECKED(SCALE)),
    ACCEPTS("zero-point-unchecked", "model", "accepts zero points out of the type's range",
            UNCHECKED(ZERO_POINT)),
    ACCEPTS("lifetime-unchecked", "model",
            "accepts lifetimes that contradict what operations read and write",
            UNCHECKED(LIFETIME) | UNCHECKED(LISTS) | UNCHECKED(ORDER) | UNCHECKED(CONSTANT)),
    ACCEPTS("lists-unchecked", "model",
            "accepts lists of inputs and outputs that contradict the lifetimes", UNCHECKED(LISTS)),
    ACCEPTS("consumers-unchecked", "model", "accepts wrong numbers of consumers (HAL 1.0 to 1.3)",
            UNCHECKED(CONSUMERS)),
    ACCEPTS("second-writer-accepted", "model", "accepts operands that two operations write",
            UNCHECKED(WRITERS) | UNCHECKED(LIFETIME) | UNCHECKED(LISTS)),
    ACCEPTS("operation-unchecked", "model", "accepts operation codes that do not exist",
            UNCHECKED(OPERATION)),
    ACCEPTS("input-index-unchecked", "model",
            "accepts operations whose input indexes are out of range",
            UNCHECKED(INPUT_INDEX) | UNCHECKED(CONSUMERS)),
    ACCEPTS("output-index-unchecked", "model",
            "accepts operations whose output indexes are out of range",
            UNCHECKED(OUTPUT_INDEX) | UNCHECKED(LIFETIME) | UNCHECKED(ORDER)),
    ACCEPTS("unwritten-accepted", "model", "accepts temporaries that no operation writes",
            UNCHECKED(LIFETIME) | UNCHECKED(ORDER)),
    ACCEPTS("operations-lost", "model", "accepts models with a missing operand or operation",
            UNCHECKED(LIFETIME) | UNCHECKED(ORDER) | UNCHECKED(CONSUMERS) | UNCHECKED(LISTS) |
                UNCHECKED(INPUT_INDEX) | UNCHECKED(OUTPUT_INDEX) | UNCHECKED(SIGNATURE)),
    ACCEPTS("signature-unchecked", "model",
            "accepts operands of a number, type or shape that the operation does not have",
            UNCHECKED(SIGNATURE)),
    ACCEPTS("arity-unchecked", "model", "accepts added and removed inputs and outputs",
            UNCHECKED(SIGNATURE) | UNCHECKED(CONSUMERS) | UNCHECKED(LIFETIME) | UNCHECKED(ORDER)),
    ACCEPTS("constant-unchecked", "version", "accepts constants that do not lie in their pool",
            UNCHECKED(CONSTANT)),
    ACCEPTS("nothing-checked", "model", "accepts every invalid model", UINT64_MAX),
};
const struct fault_group model_faults = { rows, COUNT(rows) };
