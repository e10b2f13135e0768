/* Models, and executions of them, as an application makes them: to be computed in every way, on
 * drivers of chosen_driver.c.  Every function fails the test if a call that must succeed does not.
 */
#ifndef TESTS_CLIENT_JOB_H
#define TESTS_CLIENT_JOB_H

#include <stddef.h>

#include "tests/runtime/nnapi_client.h"

/* ---- models */

struct net {
    ANeuralNetworksModel *m;
    uint32_t n; /* operands */
};
struct net net_new(void);
/* Each adds an operand and returns its index. */
uint32_t operand(struct net *t, int32_t code, uint32_t rank, const uint32_t *dims);
/* TENSOR_FLOAT32 {n}; 0: of unknown dimension. */
uint32_t floats(struct net *t, uint32_t n);
uint32_t bools(struct net *t); /* TENSOR_BOOL8 {1} */
uint32_t model_operand(struct net *t, ANeuralNetworksModel *value);
/* Makes the operand a constant. */
uint32_t constant(struct net *t, uint32_t operand, const void *value, size_t size);

#define LIST(...)                                                                                  \
    sizeof((uint32_t[]){ __VA_ARGS__ }) / sizeof(uint32_t), (uint32_t[])                           \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#define operate(t, code, ...) OK(ANeuralNetworksModel_addOperation((t)->m, code, __VA_ARGS__))
/* out = first op second, with an activation; returns out. */
uint32_t fused(struct net *t, int32_t code, int32_t activation, uint32_t first, uint32_t second,
               uint32_t out);
/* finish(&t, LIST(inputs), LIST(outputs)); */
#define finish(t, ...)                                                                             \
    do {                                                                                           \
        OK(ANeuralNetworksModel_identifyInputsAndOutputs((t)->m, __VA_ARGS__));                    \
        OK(ANeuralNetworksModel_finish((t)->m));                                                   \
    } while (0)

/* ---- executions */

enum { JOB_MOST = 8 };
enum way { COMPUTE, START, BURST, FENCED, WAYS };

struct client_job {
    ANeuralNetworksModel *model;
    ANeuralNetworksCompilation *compilation;
    uint32_t n_inputs, n_outputs;
    void *input[JOB_MOST], *output[JOB_MOST];
    size_t in_size[JOB_MOST], out_size[JOB_MOST];
    uint64_t loop_timeout;  /* ns; 0: default */
    const char *fenced_log; /* of executions with fences; NULL: as of the others */
};
void job_input(struct client_job *j, void *value, size_t size);
void job_output(struct client_job *j, void *value, size_t size);
/* Compiled for all devices. */
void job_compile(struct client_job *j);
/* An execution with the arguments. */
ANeuralNetworksExecution *job_execution(const struct client_job *j);
void job_clear_outputs(struct client_job *j);
/* Computes once; the result. */
int job_compute(struct client_job *j);
/* Frees model and compilation. */
void job_done(struct client_job *j);

/* Starts in that way and waits; the result, of the start or of the wait. */
int job_run(ANeuralNetworksExecution *e, enum way way, ANeuralNetworksBurst *burst);
/* Executes in each way, twice.  Each time the drivers have executed in the order of `log` ("a b ",
 * as executed()), and check() is called. */
void job_run_each_way(struct client_job *j, const char *log,
                      void (*check)(const struct client_job *j));

/* The executions that drivers of chosen_driver.c have noted since the last call. */
const char *executed(void);

#define expect_floats(actual, ...)                                                                 \
    ck_assert_mem_eq(actual, ((float[]){ __VA_ARGS__ }), sizeof((float[]){ __VA_ARGS__ }))

#endif
