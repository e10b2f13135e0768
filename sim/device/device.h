/* A simulated device: an engine that is described by a profile.  It decides what it supports
 * (device.c), runs graphs (device_run.c, device_control.c) and charges their time to its virtual
 * clock (cost.c, sim/device/schedule.h). */
#ifndef SIM_DEVICE_H
#define SIM_DEVICE_H

#include "sim/device/engine.h"
#include "sim/device/profile.h"
#include "sim/kernels/kernel.h"

struct device {
    struct engine base;
    struct profile *profile;
    struct kernel_set *kernels;
    struct kernel_set *moves; /* of operations that only move bytes; NULL: the records' are used */
};

/* The values of one graph: a tensor per operand; data NULL where it is not known. */
struct graph_values {
    const struct model *model;
    uint32_t graph;
    struct tensor *tensor;
};

/* One operation of a graph, bound to its operands; must not be moved. */
struct bound_operation {
    struct kernel_call k;
    bool *constant; /* per input: whether it is a constant of the model */
};

/* Binds an operation to its record; runtime: as for op_bind().  Memory comes from `a`.  -1 with the
 * reason where the operands do not fit, WHY_UNSUPPORTED without a record, WHY_MEMORY. */
int operation_bind(const struct graph_values *v, uint32_t operation, bool runtime, struct arena *a,
                   struct bound_operation *ret_site, struct why *w);

/* A time of the cost model as whole ns: rounded, at most 2^62 (146 years), which a profile with
 * slow rates can exceed. */
uint64_t device_whole_ns(double ns);
/* Virtual ns that one operation with known shapes takes: operation_ns + operations / rate of the
 * first operand's type + bytes of all operands / bandwidth; at least 1. */
uint64_t device_cost(const struct profile *p, const struct kernel_call *k);

/* An execution that is running. */
struct device_run {
    const struct device *device;
    const struct program *program;
    const struct run_limits *limits;
    uint64_t elapsed; /* virtual ns since the job's arrival */
    struct arena *scratch;
};

struct program {
    const struct device *device;
    const struct model *model;
    struct arena *arena;
    struct tensor **constants; /* [graph][operand]: operands as the device stores them */
    bool half;                 /* fp32 values are stored as fp16 */
    /* [operation of the main graph, and one more]: known virtual ns from its start to the end;
     * operations of unknown shape, IF and WHILE count 0. */
    uint64_t *ahead;
};

/* Fills p->ahead, in p's arena. */
int device_estimate(struct program *p, struct why *w);
/* engine_methods.preparing of a device. */
uint64_t device_preparation_ns(const struct engine *e, const struct model *m,
                               uint64_t constant_bytes, bool is_cached);
/* Advances the virtual clock by ns of work on `what` (for traces); a job of higher priority may run
 * before it returns.  WHY_TIMEOUT when the deadline has passed or the work that is known to remain
 * would end after it, WHY_EXECUTION when the client has gone. */
int device_spend(struct device_run *r, const char *what, uint64_t ns, struct why *w);

/* Runs a graph whose inputs are set in v; sets the other values, with data from `keep`. */
int device_run_graph(struct device_run *r, struct graph_values *v, struct arena *keep,
                     struct why *w);
/* New values of a graph, with its constants set; from `keep`. */
int device_values(const struct device_run *r, uint32_t graph, struct arena *keep,
                  struct graph_values *ret_values, struct why *w);

/* Runs operation o, an IF or WHILE bound to k, with its subgraphs. */
int device_control(struct device_run *r, struct graph_values *v, const struct operation *o,
                   struct kernel_call *k, struct arena *keep, struct why *w);

extern const struct engine_methods device_methods;

#endif
