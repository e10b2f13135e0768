/* Where the operations of a model run: which device does each, and the steps of a plan.
 *
 * Independent of the C API's objects: from a valid model and a list of devices.
 *
 *     choose_device.h   which device can do an operation, and which one does it best
 *     partition.c       the order of the steps
 *     step_model.c      the model that each step gives its device */
#ifndef RUNTIME_PARTITION_H
#define RUNTIME_PARTITION_H

#include "golden/base/arena.h"
#include "runtime/devices/runtime_device.h"
#include "runtime/model/runtime_model.h"

/* An operand of a source model: of graph `graph` as one construct uses it.  Main is source 0; every
 * occurrence of a subgraph in an IF or WHILE has its own number. */
struct source_operand {
    uint32_t source, operand;
};

/* What an operand of a step's model is in its source. */
enum argument_from {
    ARGUMENT_SOURCE_INPUT,  /* an input of the source model: of main, the client's */
    ARGUMENT_SOURCE_OUTPUT, /* an output of the source model */
    ARGUMENT_TEMPORARY      /* written by one step and read by others */
};
struct step_argument {
    enum argument_from from;
    struct source_operand operand;
};

enum step_kind { STEP_EXECUTE, STEP_IF, STEP_WHILE, STEP_GOTO };

struct plan_step {
    enum step_kind kind;
    uint32_t source; /* the source model that it belongs to; of GOTO, that of the construct */

    /* STEP_EXECUTE */
    const ANeuralNetworksDevice *device;
    uint32_t n_operations;
    const uint32_t *operation; /* of the source's graph, in the order in which they joined */
    struct model model;        /* what the device is given; not relaxed before level 2 */
    ANeuralNetworksMemory *const *pool; /* behind model.pool[i]; NULL: the model had none, either */
    /* Of that model.  Inputs: those of the source model, temporaries, outputs of the source model
     * that another step writes; each group in the order of first use.  Outputs: those of the source
     * model in the order of definition, then temporaries ascending by operand. */
    uint32_t n_inputs, n_outputs;
    const struct step_argument *input, *output;

    /* STEP_GOTO: where it goes.  STEP_IF, STEP_WHILE: after the construct. */
    uint32_t to;
    /* STEP_IF, STEP_WHILE: the operation in the source's graph, the steps at which its parts (then
     * and else; condition and body) begin, and the numbers of their source models. */
    uint32_t construct;
    uint32_t first_part, second_part;
    uint32_t first_source, second_source;
};

struct source_model {
    uint32_t graph;  /* of the model */
    uint32_t parent; /* source of the construct; of main 0 */
};

enum plan_kind { PLAN_SIMPLE, PLAN_COMPOUND };

struct partition {
    enum plan_kind kind; /* SIMPLE: one step, the whole model */
    uint32_t n_steps, n_sources, n_dynamic, n_downstream;
    const struct plan_step *step;
    const struct source_model *source;
    /* Temporaries between steps whose size is not known. */
    const struct source_operand *dynamic;
    /* Outputs of source models that a step writes and another one reads: the shape must be known
     * before that one starts. */
    const struct source_operand *downstream;
};

/* Failures are not logged: *w has the reason.  ANEURALNETWORKS_BAD_DATA: no device can do an
 * operation; ANEURALNETWORKS_UNAVAILABLE_DEVICE: nor can one be asked whose service has ended.
 * ANEURALNETWORKS_OP_FAILED: a step without inputs or outputs, or a driver before level
 * 3 would have to write an operand of unknown size that another step reads.  Everything is
 * allocated in `a`; operands' values stay where they are in m, which must outlive the partition. */
int partition_make(const ANeuralNetworksModel *m, uint32_t n_devices,
                   const ANeuralNetworksDevice *const *device, int32_t preference, struct arena *a,
                   struct partition *ret, struct why *w);

/* The same with the devices, preference and answers of a chooser (choose_device.h); a step may have
 * a model in the arena of the chooser. */
struct device_chooser;
int partition_make_chosen(struct device_chooser *chooser, struct arena *a, struct partition *ret,
                          struct why *w);

/* What each device can do: *ret_supported[i] belongs to operation i of graph `graph`. */
int partition_supported(const ANeuralNetworksModel *m, uint32_t graph,
                        const ANeuralNetworksDevice *device, struct arena *a,
                        const bool **ret_supported, struct why *w);

#endif
