/* Models of the C API, from ANeuralNetworksModel_create() to finish.
 *
 * While it is built, a model is lists of operands and operations, each checked when it is added.
 * Finished, it is a golden model (golden/model/model.h), which any number of compilations read from
 * any thread. */
#ifndef RUNTIME_MODEL_H
#define RUNTIME_MODEL_H

#include "golden/model/model.h"
#include "golden/model/op.h"
#include "runtime/include/NeuralNetworks.h"

enum model_state { MODEL_BUILDING, MODEL_VALID, MODEL_INVALID };

struct model_builder; /* runtime/model/model_builder.h: what building needs */

struct ANeuralNetworksModel {
    enum model_state state;
    struct model_builder *builder;

    /* Once it is MODEL_VALID: */

    /* graph[0]: its operations in the order of runtime.md 2.3, without trailing default arguments.
     * graph[1..]: the models that IF and WHILE refer to, and theirs, depth first, each once.  A
     * foreign extension's types and operations have the process's prefixes. */
    struct model model;
    const bool *graph_relaxed; /* by graph: its own relaxed flag; NULL: all have that of the main */
    ANeuralNetworksMemory *const *pool; /* behind model.pool[i] */
    /* Of the main graph: the operation that was added as number order[i] is operation i. */
    const uint32_t *order;
    enum level level; /* that the model needs; RUNTIME_ONLY: no driver's suffices */
};

/* Above every driver's level: IF or WHILE with operands of unknown size. */
enum { RUNTIME_ONLY = 1000 };

/* Each is the function of the C API with its name: checks, results. */
int model_create(ANeuralNetworksModel **ret);
void model_free(ANeuralNetworksModel *m);
int model_add_operand(ANeuralNetworksModel *m, const ANeuralNetworksOperandType *type);
int model_set_value(ANeuralNetworksModel *m, int32_t index, const void *buffer, size_t length);
int model_set_value_from_memory(ANeuralNetworksModel *m, int32_t index,
                                const ANeuralNetworksMemory *memory, size_t offset, size_t length);
int model_set_value_from_model(ANeuralNetworksModel *m, int32_t index,
                               const ANeuralNetworksModel *value);
int model_set_channel_scales(ANeuralNetworksModel *m, int32_t index,
                             const ANeuralNetworksSymmPerChannelQuantParams *params);
int model_set_extension_data(ANeuralNetworksModel *m, int32_t index, const void *data,
                             size_t length);
int model_add_operation(ANeuralNetworksModel *m, int32_t code, uint32_t n_in, const uint32_t *in,
                        uint32_t n_out, const uint32_t *out);
int model_identify(ANeuralNetworksModel *m, uint32_t n_in, const uint32_t *in, uint32_t n_out,
                   const uint32_t *out);
int model_relax(ANeuralNetworksModel *m, bool relaxed);
int model_finish(ANeuralNetworksModel *m);

/* SHA-256 of the structure of all graphs of a finished model, as it was before arguments were left
 * off, without values and names: 32 bytes, which belong to the model.  Computed at the first call,
 * from any thread. */
const uint8_t *model_hash(const ANeuralNetworksModel *m);

/* ANeuralNetworksModel_getExtensionOperandType() and getExtensionOperationType(). */
int model_extension_code(const ANeuralNetworksModel *m, const char *extension, uint16_t number,
                         int32_t *ret);

/* A type argument of ANeuralNetworksModel_addOperand() or of an execution's setInput and setOutput:
 * BAD_DATA where it breaks a rule of runtime.md 1.3.  *ret: without data.  A type of an extension:
 * DT_FOREIGN, or the listed extension's; *ret_foreign is its code. */
int operand_type_check(const ANeuralNetworksOperandType *type, struct tensor *ret,
                       int32_t *ret_foreign);
/* Of a checked type: bytes of a value; 0 while a dimension is not known, and for types without data
 * or whose values have any length. */
uint64_t operand_type_size(const struct tensor *t, int32_t foreign);
/* Bytes of a scalar or of one element; 0: it has no data, or any number. */
uint32_t operand_type_element_size(const struct tensor *t, int32_t foreign);
bool operand_type_is_tensor(const struct tensor *t, int32_t foreign);
/* The OEM scalar, whose values have any length. */
bool operand_type_is_oem_scalar(const struct tensor *t, int32_t foreign);

#endif
