/* A model with 100 MB of weights: FULLY_CONNECTED, TENSOR_FLOAT32 [1,LARGE_DEPTH] ->
 * [1,LARGE_UNITS], whose weights lie in the memory that the test chooses; and the memory that a
 * process uses.  All functions fail the test if a step fails. */
#ifndef TESTS_LARGE_MODEL_H
#define TESTS_LARGE_MODEL_H

#include "tests/support/hal_client.h"

enum { LARGE_DEPTH = 1 << 16, LARGE_UNITS = 400 };
enum { LARGE_MB = 100 }; /* LARGE_DEPTH * LARGE_UNITS floats, rounded down */

/* Where the weights are. */
enum large_kind {
    LARGE_COPY,    /* in the model's operand_values */
    LARGE_ADDRESS, /* in a pool in memory of this process */
    LARGE_FILE     /* in a pool that is a memory file */
};

struct large_model {
    struct client_model m;
    struct hal_memory pool;
    float *weights;
    int fd;
};

/* Builds and converts the model; client_prepare() prepares it.  One model at a time: its pool
 * record is static. */
void large_model_init(struct large_model *l, enum large_kind kind);
/* Frees the model and its weights. */
void large_model_done(struct large_model *l);
/* Executes the prepared model once and checks the first and the last output. */
void large_model_run(struct large_model *l);

/* Resident memory of a process in MB: its maximum since memory_mark(), and now. */
struct memory_use {
    double peak, now, shared; /* shared: of mapped memory files, now; included in both */
};
struct memory_use memory_use(pid_t pid);
/* Resets the peak of a process to its present use. */
void memory_mark(pid_t pid);

#endif
