/* What the NNAPI runtime costs, over a driver that does nothing (zeros_driver.c).
 *
 *   bench_runtime
 *
 * Executions of a model with two inputs and an output, compared with calls of the driver itself on
 * the same memory; building and compiling a model of 100 operations, compared with the validation
 * alone (model_prepare()); memory that a model with 100 MB of constants takes.  Times are processor
 * time of this thread, medians of rounds in which the compared ones take turns. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/include/NeuralNetworks.h"
#include "runtime/model/runtime_model.h"
#include "sim/hal.h"
#include "tests/bench/bench.h"

enum { ROUNDS = 25, TURNS = 2000, ELEMENTS = 4, OPERATIONS = 100, MODELS = 20 };

static void need(int result, const char *what)
{
    if (result == ANEURALNETWORKS_NO_ERROR)
        return;
    fprintf(stderr, "bench_runtime: %s: result %d\n", what, result);
    exit(EXIT_FAILURE);
}
#define NEED(call) need(call, #call)

/* ---- models */

static uint32_t add_operand(ANeuralNetworksModel *m, int32_t type, uint32_t n_dims,
                            const uint32_t *dims, uint32_t *next)
{
    const ANeuralNetworksOperandType t = { type, n_dims, dims, 0, 0 };

    NEED(ANeuralNetworksModel_addOperand(m, &t));
    return (*next)++;
}

/* x + y + y ... of n operations. */
static ANeuralNetworksModel *chain(uint32_t n)
{
    const uint32_t dims[] = { ELEMENTS };
    const int32_t no_activation = ANEURALNETWORKS_FUSED_NONE;
    ANeuralNetworksModel *m;
    uint32_t next = 0;

    NEED(ANeuralNetworksModel_create(&m));
    const uint32_t x = add_operand(m, ANEURALNETWORKS_TENSOR_FLOAT32, 1, dims, &next);
    const uint32_t y = add_operand(m, ANEURALNETWORKS_TENSOR_FLOAT32, 1, dims, &next);
    const uint32_t activation = add_operand(m, ANEURALNETWORKS_INT32, 0, NULL, &next);
    uint32_t sum = x;
    NEED(ANeuralNetworksModel_setOperandValue(m, (int32_t) activation, &no_activation,
                                              sizeof(no_activation)));
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t in[] = { sum, y, activation };
        sum = add_operand(m, ANEURALNETWORKS_TENSOR_FLOAT32, 1, dims, &next);
        NEED(ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_ADD, 3, in, 1, &sum));
    }
    NEED(ANeuralNetworksModel_identifyInputsAndOutputs(m, 2, (uint32_t[]){ x, y }, 1, &sum));
    NEED(ANeuralNetworksModel_finish(m));
    return m;
}

/* On the driver alone. */
static ANeuralNetworksCompilation *compile(ANeuralNetworksModel *m)
{
    ANeuralNetworksCompilation *c;
    ANeuralNetworksDevice *d;

    NEED(ANeuralNetworks_getDevice(0, &d));
    NEED(ANeuralNetworksCompilation_createForDevices(m, (const ANeuralNetworksDevice *const *) &d,
                                                     1, &c));
    NEED(ANeuralNetworksCompilation_finish(c));
    return c;
}

/* ---- executions */

struct bench {
    struct hal_prepared_model *prepared; /* of the driver itself */
    struct hal_burst *driver_burst;
    struct hal_request request;
    ANeuralNetworksCompilation *compilation;
    ANeuralNetworksExecution *execution; /* reusable */
    ANeuralNetworksBurst *burst;
    float x[ELEMENTS], y[ELEMENTS], sum[ELEMENTS];
};

static void driver_turn(struct bench *b)
{
    const struct hal_execution_config config = { .deadline = HAL_NO_DEADLINE,
                                                 .loop_timeout = HAL_NO_TIME };
    struct hal_output_shape shape;
    struct hal_result result = { .shapes = &shape, .capacity = 1 };

    NEED((int) b->prepared->methods->execute_synchronously(b->prepared, HAL_FL7, &b->request,
                                                           &config, &result));
}

static void driver_burst_turn(struct bench *b)
{
    const struct hal_execution_config config = { .deadline = HAL_NO_DEADLINE,
                                                 .loop_timeout = HAL_NO_TIME };
    const int64_t identifiers[] = { -1, -1, -1 };
    struct hal_output_shape shape;
    struct hal_result result = { .shapes = &shape, .capacity = 1 };

    NEED((int) b->driver_burst->methods->execute_synchronously(b->driver_burst, &b->request, 3,
                                                               identifiers, &config, &result));
}

static ANeuralNetworksExecution *new_execution(struct bench *b)
{
    ANeuralNetworksExecution *e;

    NEED(ANeuralNetworksExecution_create(b->compilation, &e));
    NEED(ANeuralNetworksExecution_setInput(e, 0, NULL, b->x, sizeof(b->x)));
    NEED(ANeuralNetworksExecution_setInput(e, 1, NULL, b->y, sizeof(b->y)));
    NEED(ANeuralNetworksExecution_setOutput(e, 0, NULL, b->sum, sizeof(b->sum)));
    return e;
}

static void compute_turn(struct bench *b)
{
    NEED(ANeuralNetworksExecution_compute(b->execution));
}

static void burst_turn(struct bench *b)
{
    NEED(ANeuralNetworksExecution_burstCompute(b->execution, b->burst));
}

static void new_compute_turn(struct bench *b)
{
    ANeuralNetworksExecution *e = new_execution(b);

    NEED(ANeuralNetworksExecution_compute(e));
    ANeuralNetworksExecution_free(e);
}

static void new_burst_turn(struct bench *b)
{
    ANeuralNetworksExecution *e = new_execution(b);

    NEED(ANeuralNetworksExecution_burstCompute(e, b->burst));
    ANeuralNetworksExecution_free(e);
}

static const struct way {
    const char *name;
    void (*turn)(struct bench *b);
    int baseline; /* index of the one that it is compared with */
} ways[] = {
    { "the driver itself, synchronous", driver_turn, 0 },
    { "the driver itself, in a burst", driver_burst_turn, 1 },
    { "Execution_compute", compute_turn, 0 },
    { "Execution_burstCompute", burst_turn, 1 },
    { "Execution_compute, a new execution", new_compute_turn, 0 },
    { "Execution_burstCompute, a new execution", new_burst_turn, 1 },
};
enum { WAYS = sizeof(ways) / sizeof(ways[0]) };

struct prepare_waiter {
    struct hal_prepare_callback base;
    struct hal_prepared_model *prepared;
};

static void keep_prepared(struct hal_prepare_callback *self, enum hal_status status,
                          struct hal_prepared_model *prepared)
{
    NEED((int) status);
    ((struct prepare_waiter *) self)->prepared = prepared;
}

/* Prepares without the runtime; the driver looks at the numbers of the model's arguments only. */
static void open_driver(struct bench *b)
{
    const struct hal_model model = { .main = { .n_inputs = 2, .n_outputs = 1 } };
    const struct hal_prepare_config config = { .deadline = HAL_NO_DEADLINE };
    struct prepare_waiter p = { .base.notify = keep_prepared };
    void *library = bench_must(dlopen(ZEROS_DRIVER, RTLD_NOW | RTLD_LOCAL)), *symbol;
    hal_driver_open_fn *open;

    symbol = bench_must(dlsym(library, "hal_driver_open"));
    memcpy(&open, &symbol, sizeof(open));
    struct hal_driver *d = bench_must(open(HAL_ABI_VERSION, "", NULL, 0));
    NEED((int) d->prepare_model(d, HAL_FL7, &model, &config, &p.base));
    b->prepared = p.prepared;
    NEED((int) p.prepared->methods->configure_burst(p.prepared, HAL_FL7, &b->driver_burst));
}

/* The request of the driver itself, on the memory that the executions use, too. */
static void make_request(struct bench *b)
{
    static const uint32_t dims[] = { ELEMENTS };
    static struct hal_request_pool pool[3];
    static struct hal_argument argument[3];
    float *const memory[] = { b->x, b->y, b->sum };

    for (uint32_t i = 0; i < 3; i++) {
        pool[i].memory = (struct hal_memory){ .kind = HAL_MEMORY_ADDRESS,
                                              .protection = HAL_MEMORY_READ | HAL_MEMORY_WRITE,
                                              .address = memory[i],
                                              .fd = -1,
                                              .size = sizeof(b->x) };
        argument[i] = (struct hal_argument){ .location = { .pool = i, .length = sizeof(b->x) },
                                             .n_dims = 1,
                                             .dims = dims };
    }
    b->request = (struct hal_request){ 2, 1, 3, argument, argument + 2, pool };
}

static void measure(struct bench *b, double us[WAYS][ROUNDS])
{
    for (int round = 0; round < ROUNDS; round++)
        for (int way = 0; way < WAYS; way++) {
            double start = bench_now();
            for (int i = 0; i < TURNS; i++)
                ways[way].turn(b);
            us[way][round] = (bench_now() - start) * 1e6 / TURNS;
        }
}

static void bench_executions(void)
{
    static double us[WAYS][ROUNDS];
    struct bench b = { .x = { 1 } };
    ANeuralNetworksModel *m = chain(1);

    make_request(&b);
    open_driver(&b);
    b.compilation = compile(m);
    b.execution = new_execution(&b);
    NEED(ANeuralNetworksExecution_setReusable(b.execution, true));
    NEED(ANeuralNetworksBurst_create(b.compilation, &b.burst));
    measure(&b, us);
    printf("an execution that does nothing\n");
    for (int way = 0; way < WAYS; way++) {
        double median = bench_median(us[way], ROUNDS);
        double baseline = bench_median(us[ways[way].baseline], ROUNDS);
        printf("  %-40s %6.3f us", ways[way].name, median);
        if (way != ways[way].baseline)
            printf(": %.3f us more than %s", median - baseline, ways[ways[way].baseline].name);
        printf("\n");
    }
    ANeuralNetworksBurst_free(b.burst);
    ANeuralNetworksExecution_free(b.execution);
    ANeuralNetworksCompilation_free(b.compilation);
    ANeuralNetworksModel_free(m);
    b.prepared->methods->release(b.prepared);
}

/* ---- compilation */

static void bench_compilation(void)
{
    static double us[3][ROUNDS];

    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < MODELS; i++) {
            double times[4];
            struct why w;
            times[0] = bench_now();
            ANeuralNetworksModel *m = chain(OPERATIONS);
            times[1] = bench_now();
            ANeuralNetworksCompilation *c = compile(m);
            times[2] = bench_now();
            need(model_prepare(&m->model, NULL, &w) < 0, "model_prepare");
            times[3] = bench_now();
            for (int k = 0; k < 3; k++)
                us[k][round] += (times[k + 1] - times[k]) * 1e6 / MODELS;
            ANeuralNetworksCompilation_free(c);
            ANeuralNetworksModel_free(m);
        }
    double built = bench_median(us[0], ROUNDS), compiled = bench_median(us[1], ROUNDS);
    double validated = bench_median(us[2], ROUNDS);
    printf("a model of %d operations\n", OPERATIONS);
    printf("  %-40s %6.1f us\n", "model_prepare alone", validated);
    printf("  %-40s %6.1f us: %.2f of it\n", "built and finished", built, built / validated);
    printf("  %-40s %6.1f us: %.2f of it\n", "compiled", compiled, compiled / validated);
}

/* ---- memory */

/* 100 MB of weights. */
enum { DEPTH = 1 << 16, UNITS = 400 };
enum { WEIGHT_BYTES = UNITS * DEPTH * (int) sizeof(float) };

/* FULLY_CONNECTED with the weights at `weights`, or in `memory` if that is not NULL. */
static ANeuralNetworksModel *large_model(const void *weights, ANeuralNetworksMemory *memory)
{
    static const uint8_t bias[UNITS * sizeof(float)];
    const uint32_t in[] = { 1, DEPTH }, matrix[] = { UNITS, DEPTH };
    const uint32_t units[] = { UNITS }, out[] = { 1, UNITS };
    const int32_t no_activation = ANEURALNETWORKS_FUSED_NONE;
    ANeuralNetworksModel *m;
    uint32_t next = 0;

    NEED(ANeuralNetworksModel_create(&m));
    add_operand(m, ANEURALNETWORKS_TENSOR_FLOAT32, 2, in, &next);
    add_operand(m, ANEURALNETWORKS_TENSOR_FLOAT32, 2, matrix, &next);
    add_operand(m, ANEURALNETWORKS_TENSOR_FLOAT32, 1, units, &next);
    add_operand(m, ANEURALNETWORKS_INT32, 0, NULL, &next);
    add_operand(m, ANEURALNETWORKS_TENSOR_FLOAT32, 2, out, &next);
    if (memory)
        NEED(ANeuralNetworksModel_setOperandValueFromMemory(m, 1, memory, 0, WEIGHT_BYTES));
    else
        NEED(ANeuralNetworksModel_setOperandValue(m, 1, weights, WEIGHT_BYTES));
    NEED(ANeuralNetworksModel_setOperandValue(m, 2, bias, sizeof(bias)));
    NEED(ANeuralNetworksModel_setOperandValue(m, 3, &no_activation, sizeof(no_activation)));
    NEED(ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_FULLY_CONNECTED, 4,
                                           (uint32_t[]){ 0, 1, 2, 3 }, 1, (uint32_t[]){ 4 }));
    NEED(ANeuralNetworksModel_identifyInputsAndOutputs(m, 1, (uint32_t[]){ 0 }, 1,
                                                       (uint32_t[]){ 4 }));
    NEED(ANeuralNetworksModel_finish(m));
    return m;
}

static double peak_megabytes(void)
{
    struct rusage r;

    need(getrusage(RUSAGE_SELF, &r) != 0, "getrusage");
    return (double) r.ru_maxrss * 1024e-6;
}

/* In a process whose peak is its present memory, which contains the weights. */
static void bench_memory(bool by_fd)
{
    const int fd = memfd_create("bench", MFD_CLOEXEC);
    ANeuralNetworksMemory *memory = NULL;

    need(fd < 0 || ftruncate(fd, WEIGHT_BYTES) != 0, "memfd_create");
    void *weights = mmap(NULL, WEIGHT_BYTES, PROT_READ | PROT_WRITE,
                         by_fd ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, by_fd ? fd : -1, 0);
    need(weights == MAP_FAILED, "mmap");
    memset(weights, 1, WEIGHT_BYTES);
    double before = peak_megabytes();
    if (by_fd)
        NEED(ANeuralNetworksMemory_createFromFd(WEIGHT_BYTES, PROT_READ, fd, 0, &memory));
    ANeuralNetworksModel *m = large_model(weights, memory);
    ANeuralNetworksCompilation *c = compile(m);
    printf("  %-40s %6.1f MB more, at most\n", by_fd ? "by fd" : "by pointer",
           peak_megabytes() - before);
    ANeuralNetworksCompilation_free(c);
    ANeuralNetworksModel_free(m);
    ANeuralNetworksMemory_free(memory);
    munmap(weights, WEIGHT_BYTES);
    close(fd);
}

/* The peak of a process does not fall: each measurement has a process of its own. */
static void bench_memory_alone(bool by_fd)
{
    fflush(stdout);
    pid_t pid = fork();
    int status;

    if (pid == 0) {
        bench_memory(by_fd);
        exit(EXIT_SUCCESS);
    }
    need(waitpid(pid, &status, 0) != pid || status != 0, "memory");
}

int main(void)
{
    setenv("HALCYON_DEVICES", "lib:" ZEROS_DRIVER, 1);
    bench_executions();
    bench_compilation();
    printf("building and compiling a model with %.0f MB of constants\n", WEIGHT_BYTES * 1e-6);
    bench_memory_alone(false);
    bench_memory_alone(true);
    return 0;
}
