/* A simulated device: an engine that a profile describes. */
#ifndef SIM_DEVICE_H
#define SIM_DEVICE_H

#include "sim/device/engine.h"
#include "sim/device/profile.h"
#include "sim/kernels/kernel.h"

struct device {
    struct engine base;
    struct profile *profile;
    const struct kernel *const *kernels; /* tables, ended by NULL */
};

/* The values of one graph: one per operand, with data where it is known. */
struct values {
    const struct model *model;
    uint32_t graph;
    struct tensor *tensor;
};

/* One operation with its operands, bound.  Not to be moved. */
struct site {
    struct kernel_call k;
    bool *constant; /* per input */
};

/* Binds operation i to its record: runtime as for op_bind().  Everything comes from `a`. */
int site_bind(const struct values *v, uint32_t operation, bool runtime, struct arena *a,
              struct site *ret_site, struct why *w);

/* Virtual nanoseconds of one operation. */
double device_cost(const struct profile *p, const struct kernel_call *k);

/* A run under way. */
struct device_run {
    const struct device *device;
    const struct program *program;
    const struct run_limits *limits;
    double elapsed; /* virtual ns since the job's arrival */
    struct arena *scratch;
};

struct program {
    const struct device *device;
    const struct model *model;
    struct arena *arena;
    struct tensor **constants; /* per graph and operand: as the device holds them */
    bool half;                 /* fp32 is held as fp16 */
    double *ahead; /* ns from each operation of the main graph to the end, and 0 at the end: of
                      those whose shapes are known; of loops and branches nothing */
};

/* Fills p->ahead, in its arena. */
int device_estimate(struct program *p, struct why *w);
double device_preparing(const struct engine *e, const struct model *m, uint64_t constant_bytes,
                        bool is_cached);
/* Uses the device for that long: the clock goes on, others may come in between.  what: for traces.
 * WHY_TIMEOUT when the deadline has passed, or will have before the rest is done. */
int device_spend(struct device_run *r, const char *what, double ns, struct why *w);

/* Runs a graph: inputs are set in v; outputs are written into tensors of arena `keep`. */
int device_run_graph(struct device_run *r, struct values *v, struct arena *keep, struct why *w);
/* Fresh values of a graph: constants set. */
int device_values(const struct device_run *r, uint32_t graph, struct arena *keep,
                  struct values *ret_values, struct why *w);

/* IF and WHILE. */
int device_control(struct device_run *r, struct values *v, const struct operation *o,
                   struct kernel_call *k, struct arena *keep, struct why *w);

extern const struct engine_methods device_methods;

#endif
