/* Planted defects: what a row of the fault table does, where. */
#ifndef SIM_FAULT_H
#define SIM_FAULT_H

#include "sim/hal.h"
#include "sim/kernels/kernel.h"

struct fault; /* sim/sim.h: name, kind, doc, hooks */

/* What a device remembers for faults that need it. */
struct fault_memory {
    uint64_t executions;
    uint8_t *last; /* output bytes of the previous execution */
    size_t last_length;
};

/* Memory of one input or output of a request; address NULL: it has none in a pool. */
struct fault_region {
    uint8_t *address;
    size_t length;
};

/* An execution that is about to be answered. */
struct fault_answer {
    const struct fault_region *in, *out;
    uint32_t n_inputs, n_outputs;
    enum hal_status status;
    struct hal_result *result;
    bool measure;
    struct fault_memory *memory;
};

/* All optional. */
struct fault_hooks {
    unsigned tweaks; /* enum tweak: a step that kernels do wrongly */
    size_t withhold; /* so many bytes at the end of every output are not written */
    /* Before and after an operation has been computed. */
    int (*before)(struct kernel_call *k, struct why *w);
    void (*after)(struct kernel_call *k);
    /* get_supported_operations */
    void (*supported)(bool *supported, uint32_t *n);
    /* Instead of preparing: the status that is notified, or HAL_NONE to go on. */
    enum hal_status (*prepare)(void);
    void (*answer)(struct fault_answer *a);
};

const struct fault_hooks *fault_hooks(const struct fault *f); /* never NULL */
const struct fault *fault_find(const char *name);

#endif
