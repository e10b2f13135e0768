/* A model of a hundred megabytes: one layer, z = w x, whose weights lie where the test says. */
#ifndef TESTS_LARGE_MODEL_H
#define TESTS_LARGE_MODEL_H

#include "tests/support/hal_client.h"

enum { LARGE_DEPTH = 1 << 16, LARGE_UNITS = 400 };
enum { LARGE_MB = 100 }; /* LARGE_DEPTH * LARGE_UNITS floats, rounded down */

enum large_kind {
    LARGE_COPY,    /* operand_values */
    LARGE_ADDRESS, /* a pool of this process */
    LARGE_FILE     /* a pool that is a memory file */
};

struct large_model {
    struct client_model m;
    struct hal_memory pool;
    float *weights;
    int fd;
};

/* Fails the test where there is no memory. */
void large_model_init(struct large_model *l, enum large_kind kind);
void large_model_done(struct large_model *l);
/* One execution, checked. */
void large_model_run(struct large_model *l);

/* What a process has, in MB: at its peak since memory_mark(), and now. */
struct memory_use {
    double peak, now, shared; /* shared: of memory files that it has mapped, part of both */
};
struct memory_use memory_use(pid_t pid);
void memory_mark(pid_t pid);

#endif
