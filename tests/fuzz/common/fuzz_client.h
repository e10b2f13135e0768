/* A hostile client of a driver, in process: damage to models, controlled by the fuzzer's bytes, and
 * the properties that must hold for every driver and every input. */
#ifndef TESTS_FUZZ_CLIENT_H
#define TESTS_FUZZ_CLIENT_H

#include "randgraph/randgraph.h"
#include "sim/hal/extension_codes.h"
#include "tests/fuzz/fuzz.h"

/* Aborts the process unless the property holds. */
void fuzz_must(bool holds);
/* A boundary value (0, powers of two, maxima), or any number below 64. */
uint64_t fuzz_hostile(struct rng *r);
/* A writable copy of n elements, in the arena. */
void *fuzz_own(struct arena *a, const void *from, size_t n, size_t size);

/* Calls of a preparation's callback, and the arguments of the last one. */
struct fuzz_prepared {
    struct hal_prepare_callback base;
    unsigned calls;
    enum hal_status status;
    struct hal_prepared_model *model;
};
void fuzz_prepared_init(struct fuzz_prepared *p);
/* Aborts unless the callback was called once, and its arguments agree with the status that
 * prepare_model returned. */
void fuzz_prepared_check(const struct fuzz_prepared *p, enum hal_status launched);

/* A driver of a shipped device with little memory, which also supports these extensions. */
struct hal_driver *fuzz_open_driver(const char *profile, extension_set extensions);

/* Changes one part of the model; lists stay at least as long as their counts, since they are read
 * in this process. */
void fuzz_damage(struct rng *r, struct arena *a, struct hal_model *h);

/* A request for the model, part of which may be damaged; in the arena. */
const struct hal_request *fuzz_draw_request(struct rng *r, struct arena *a,
                                            const struct hal_model *h);

/* Neutral arguments, valid in every version. */
extern const struct hal_prepare_config fuzz_prepare_config;

/* Queries support, prepares and executes twice through the entry points of that version.  request:
 * NULL: does not execute.  Aborts unless the driver returns valid statuses and calls back once;
 * sanitizers detect accesses outside the request's memory. */
void fuzz_converse(struct arena *a, struct hal_driver *d, enum hal_version version,
                   const struct hal_model *h, const struct hal_prepare_config *config,
                   const struct hal_request *request);

#endif
