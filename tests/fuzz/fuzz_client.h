/* Hostile clients of a driver, in process: models damaged as bytes say, and what every driver must
 * hold to whatever it is sent. */
#ifndef TESTS_FUZZ_CLIENT_H
#define TESTS_FUZZ_CLIENT_H

#include "randgraph/randgraph.h"
#include "sim/hal/extension_codes.h"
#include "tests/fuzz/fuzz.h"

/* Ends the process unless it holds. */
void fuzz_must(bool holds);
/* A number of the kind that breaks things, or any. */
uint64_t fuzz_hostile(struct rng *r);
/* A copy of a list, to be damaged. */
void *fuzz_own(struct arena *a, const void *from, size_t n, size_t size);

/* What a preparation's callback got. */
struct fuzz_prepared {
    struct hal_prepare_callback base;
    unsigned calls;
    enum hal_status status;
    struct hal_prepared_model *model;
};
void fuzz_prepared_init(struct fuzz_prepared *p);
/* Ends the process unless what a driver returned and what it called back with agree. */
void fuzz_prepared_check(const struct fuzz_prepared *p, enum hal_status launched);

/* A shipped device with little memory, serving these extensions too. */
struct hal_driver *fuzz_open_driver(const char *profile, extension_set extensions);

/* One piece of damage; lists stay as long as their counts say, for they are this process's own. */
void fuzz_damage(struct rng *r, struct arena *a, struct hal_model *h);

/* Asks, prepares and executes through the entry points of that version.  The driver must answer by
 * a status that exists, call back once, and stay within the memory that it was lent. */
void fuzz_converse(struct rng *r, struct arena *a, struct hal_driver *d, enum hal_version version,
                   const struct hal_model *h);

#endif
