/* Performance of a driver as its capabilities express it: execution time relative to the CPU, by
 * operand type, of relaxed fp32, and of IF and WHILE. */
#ifndef HARNESS_CALIBRATE_H
#define HARNESS_CALIBRATE_H

#include "harness/bench/bench_model.h"
#include "randgraph/randgraph.h"

struct calibrated {
    const char *key;    /* in a profile: "TENSOR_FLOAT32"; "relaxed_tensor", "if", "while" */
    bool is_operand;    /* a type: of the section performance.operand */
    uint32_t n;         /* workloads; 0: not measured */
    uint32_t n_models;  /* of them, models of the list; the others are drawn */
    double ratio;       /* geometric mean of time on the driver / time on the reference */
    double least, most; /* of one workload */
};
enum { MOST_CALIBRATED = 40 };
struct calibration {
    uint32_t n;
    struct calibrated row[MOST_CALIBRATED];
};

struct calibrate_options {
    const char *reference; /* target that is 1 */
    bool uses_wall;        /* the driver's times are of the wall clock; else as it reports them */
    struct bench_options how;
    const struct randgraph_support *support; /* that they are drawn for; NULL: any driver */
    uint32_t drawn; /* workloads that are drawn for each type that no model of the list has */
};

/* The type that a model is a workload of: that of its first input. */
int calibrate(const char *uri, const struct bench_model *model, uint32_t n_models,
              const struct calibrate_options *o, struct calibration *ret_calibration,
              struct why *w);

#endif
