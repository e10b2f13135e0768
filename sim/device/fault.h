/* Planted faults: what a row of the fault table changes in a simulated device, and where. */
#ifndef SIM_FAULT_H
#define SIM_FAULT_H

#include "sim/hal.h"
#include "sim/kernels/kernel.h"

struct fault; /* sim/sim.h: name, kind, doc, hooks */

/* State that a device keeps between executions for the faults that need it. */
struct fault_memory {
    uint8_t *last; /* output bytes of the previous execution; malloced */
    size_t last_length;
};

/* Memory of one input or output of a request; address NULL: it has none in a pool. */
struct fault_region {
    uint8_t *address;
    size_t length;
};

/* An execution that is computed, before its result is returned to the client. */
struct faulty_execution {
    const struct fault_region *in, *out;
    uint32_t n_inputs, n_outputs;
    enum hal_status status;
    struct hal_result *result;
    bool measure;
    struct fault_memory *memory;
};

/* Points at which a fault acts; 0 and NULL: it does not. */
struct fault_hooks {
    unsigned kernel_faults; /* enum kernel_fault: wrong steps of kernels */
    size_t unwritten_bytes; /* bytes at the end of every output that are not written */
    /* Called before and after an operation is computed; before() may fail with WHY_MEMORY. */
    int (*before)(struct kernel_call *k, struct why *w);
    void (*after)(struct kernel_call *k);
    /* Changes the answer of get_supported_operations. */
    void (*supported)(bool *supported, uint32_t *n);
    /* Called before a model is prepared; a status other than HAL_NONE is notified instead. */
    enum hal_status (*prepare)(void);
    /* Changes status, result or memory of an execution. */
    void (*answer)(struct faulty_execution *a);
};

/* The hooks of f; for NULL, hooks that do nothing. */
const struct fault_hooks *fault_hooks(const struct fault *f);

/* Rows of the fault table; all groups: sim/faulty/fault_list.c. */
struct fault_group {
    const struct fault *fault;
    int n;
};
extern const struct fault_group device_faults;

/* The rules that find a fault: RULES("model/M1", "model/M14"). */
#define RULES(...) ((const char *const[]){ __VA_ARGS__, NULL })

#endif
