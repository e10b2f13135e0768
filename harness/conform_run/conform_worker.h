/* The worker process of a conformance run: checks rules on one target, whose driver runs in this
 * process.  One that is isolated (target_is_isolated()) is confined first. */
#ifndef HARNESS_CONFORM_WORKER_H
#define HARNESS_CONFORM_WORKER_H

#include "harness/conform_run/conform_run.h"
#include "harness/run/worker_pool.h"

/* A part of a rule's models, or the whole rule. */
struct conform_job {
    struct conform_item *item;
    uint32_t part;
};

/* All jobs of a target. */
struct conform_work {
    const char *uri;
    double timeout;
    const char
        *scratch; /* folder that the confined driver may write to; NULL: it is not confined */
    struct conform_job *job;
    struct conform_progress *progress; /* of each job; shared with the parent */
};

enum { CONFORM_PRINTED = 2048 };

/* What a job sends, once: then up to CONFORM_PRINTED - 1 characters that the driver printed. */
struct conform_message {
    struct conform_result result;
    double ms;
};

/* The callbacks of worker_pool.h; user begins with a struct conform_work. */
int conform_worker_start(void *user, void **ret_state, struct why *w);
void conform_worker_end(struct worker_pool_link *l, void *state, void *user);
void conform_worker_item(struct worker_pool_link *l, uint64_t index, uint32_t step, void *state,
                         void *user);

#endif
