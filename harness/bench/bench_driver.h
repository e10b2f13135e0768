/* A driver with one model, as the benchmark uses it: asked and prepared once, then executed many
 * times, from several threads, each with memory of its own.
 *
 * Whatever the driver does wrong is a verdict, not an error: crash, hang, refused, unsupported. */
#ifndef HARNESS_BENCH_DRIVER_H
#define HARNESS_BENCH_DRIVER_H

#include "harness/bench/bench_data.h"
#include "sim/client/driver_client.h"
#include "sim/hal/convert.h"

struct bench_driver {
    struct target *target;
    struct driver_client client;
    const struct bench_model *model;
    enum hal_version version;
    struct arena *arena;
    struct hal_model hal; /* the model at the driver's version */
    uint32_t n_model_cache, n_data_cache;
    struct hal_prepared_model *prepared; /* NULL: not yet */
};

/* What came of the driver.  PASS: nothing is wrong. */
struct bench_end {
    enum verdict verdict;
    char why[BENCH_WHY];
};

/* Opens the target and asks whether it supports the model.  timeout: seconds for a reply of a
 * driver in another process.  -1: the target cannot be opened, or out of memory.  Otherwise
 * *ret_driver is to be closed, whatever *ret_end says. */
int bench_driver_open(const char *uri, const struct bench_model *m, double timeout,
                      struct bench_driver *ret_driver, struct bench_end *ret_end, struct why *w);
void bench_driver_close(struct bench_driver *d);

/* Prepares the model anew and keeps it prepared; *ret_ns: the time that it took.  cache: NULL, or
 * files that are written (what COMPILE_SAVE) or read (COMPILE_LOAD). */
bool bench_driver_prepare(struct bench_driver *d, enum bench_what what,
                          const struct hal_cache *cache, uint64_t *ret_ns,
                          struct bench_end *ret_end);

/* Peak of the memory of the driver's process in bytes; 0: it has none of its own. */
uint64_t bench_driver_memory(const struct bench_driver *d);

/* Memory and a request for executions by one thread. */
struct bench_slot {
    struct bench_driver *driver;
    uint8_t *memory;
    size_t size;
    int fd;
    uint8_t **in, **out; /* where the values of inputs and outputs lie */
    struct hal_request request;
    struct hal_output_shape *shapes;
    struct hal_burst *burst; /* configured by the first execution in it; NULL: none */
    struct arena *arena;
};
int bench_slot_init(struct bench_slot *s, struct bench_driver *d, struct why *w);
void bench_slot_done(struct bench_slot *s);

/* Executes once, what: SYNCHRONOUS or BURST.  ret_ns: by clock; HAL_NO_TIME where the driver does
 * not report it.  False: it failed. */
bool bench_slot_execute(struct bench_slot *s, enum bench_what what, uint64_t ret_ns[BENCH_CLOCKS],
                        struct bench_end *ret_end);
/* Writes the inputs of inference i of a sequence; the states are those that the last execution
 * left, for i 0 their values at the begin. */
void bench_slot_put(struct bench_slot *s, const struct bench_sequence *q, uint32_t i);

#endif
