#include "tests/runtime/client_job.h"

#include <check.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* ---- models */

struct net net_new(void)
{
    struct net t = { 0 };

    OK(ANeuralNetworksModel_create(&t.m));
    return t;
}

uint32_t operand(struct net *t, int32_t code, uint32_t rank, const uint32_t *dims)
{
    const ANeuralNetworksOperandType type = { code, rank, dims, 0, 0 };

    OK(ANeuralNetworksModel_addOperand(t->m, &type));
    return t->n++;
}

uint32_t floats(struct net *t, uint32_t n)
{
    return operand(t, ANEURALNETWORKS_TENSOR_FLOAT32, 1, &n);
}

uint32_t bools(struct net *t)
{
    return operand(t, ANEURALNETWORKS_TENSOR_BOOL8, 1, (uint32_t[]){ 1 });
}

uint32_t constant(struct net *t, uint32_t operand, const void *value, size_t size)
{
    OK(ANeuralNetworksModel_setOperandValue(t->m, (int32_t) operand, value, size));
    return operand;
}

uint32_t model_operand(struct net *t, ANeuralNetworksModel *value)
{
    uint32_t i = operand(t, ANEURALNETWORKS_MODEL, 0, NULL);

    OK(ANeuralNetworksModel_setOperandValueFromModel(t->m, (int32_t) i, value));
    return i;
}

uint32_t fused(struct net *t, int32_t code, int32_t activation, uint32_t first, uint32_t second,
               uint32_t out)
{
    uint32_t a =
        constant(t, operand(t, ANEURALNETWORKS_INT32, 0, NULL), &activation, sizeof activation);

    operate(t, code, LIST(first, second, a), LIST(out));
    return out;
}

/* ---- executions */

void job_input(struct client_job *j, void *value, size_t size)
{
    j->input[j->n_inputs] = value;
    j->in_size[j->n_inputs++] = size;
}

void job_output(struct client_job *j, void *value, size_t size)
{
    j->output[j->n_outputs] = value;
    j->out_size[j->n_outputs++] = size;
}

void job_compile(struct client_job *j)
{
    j->compilation = compile_on(j->model, NULL);
}

ANeuralNetworksExecution *job_execution(const struct client_job *j)
{
    ANeuralNetworksExecution *e;

    OK(ANeuralNetworksExecution_create(j->compilation, &e));
    for (uint32_t i = 0; i < j->n_inputs; i++)
        OK(ANeuralNetworksExecution_setInput(e, (int32_t) i, NULL, j->input[i], j->in_size[i]));
    for (uint32_t i = 0; i < j->n_outputs; i++)
        OK(ANeuralNetworksExecution_setOutput(e, (int32_t) i, NULL, j->output[i], j->out_size[i]));
    if (j->loop_timeout)
        OK(ANeuralNetworksExecution_setLoopTimeout(e, j->loop_timeout));
    return e;
}

void job_clear_outputs(struct client_job *j)
{
    for (uint32_t i = 0; i < j->n_outputs; i++)
        memset(j->output[i], 0xee, j->out_size[i]);
}

int job_compute(struct client_job *j)
{
    ANeuralNetworksExecution *e = job_execution(j);

    job_clear_outputs(j);
    int result = ANeuralNetworksExecution_compute(e);
    ANeuralNetworksExecution_free(e);
    return result;
}

void job_done(struct client_job *j)
{
    ANeuralNetworksCompilation_free(j->compilation);
    ANeuralNetworksModel_free(j->model);
}

int job_run(ANeuralNetworksExecution *e, enum way way, ANeuralNetworksBurst *burst)
{
    ANeuralNetworksEvent *ev = NULL;
    int result;

    if (way == COMPUTE)
        return ANeuralNetworksExecution_compute(e);
    if (way == BURST)
        return ANeuralNetworksExecution_burstCompute(e, burst);
    result = way == START
                 ? ANeuralNetworksExecution_startCompute(e, &ev)
                 : ANeuralNetworksExecution_startComputeWithDependencies(e, NULL, 0, 0, &ev);
    if (result == ANEURALNETWORKS_NO_ERROR)
        result = ANeuralNetworksEvent_wait(ev);
    ANeuralNetworksEvent_free(ev);
    return result;
}

const char *executed(void)
{
    static char text[1024];
    void *driver = dlopen(getenv("CHOSEN_DRIVER"), RTLD_NOW | RTLD_NOLOAD);
    char *log = driver ? dlsym(driver, "chosen_log") : NULL;

    ck_assert_ptr_nonnull(log);
    strcpy(text, log);
    *log = 0;
    dlclose(driver);
    return text;
}

/* The log of the same executions in bursts. */
static void star(const char *log, char *to)
{
    for (const char *at = log; *at; at++) {
        if (at == log || at[-1] == ' ')
            *to++ = '*';
        *to++ = *at;
    }
    *to = 0;
}

void job_run_each_way(struct client_job *j, const char *log,
                      void (*check)(const struct client_job *))
{
    ANeuralNetworksBurst *burst;
    char starred[2048];

    star(log, starred);
    OK(ANeuralNetworksBurst_create(j->compilation, &burst));
    for (enum way way = 0; way < WAYS; way++) {
        ANeuralNetworksExecution *e = job_execution(j);
        OK(ANeuralNetworksExecution_setReusable(e, true));
        for (int i = 0; i < 2; i++) {
            job_clear_outputs(j);
            OK(job_run(e, way, burst));
            ck_assert_str_eq(executed(), way == BURST                     ? starred
                                         : way == FENCED && j->fenced_log ? j->fenced_log
                                                                          : log);
            check(j);
        }
        ANeuralNetworksExecution_free(e);
    }
    ANeuralNetworksBurst_free(burst);
}
