/* What the two ends of a crew's pipe agree on. */
#ifndef HARNESS_CREW_INTERNAL_H
#define HARNESS_CREW_INTERNAL_H

#include <stdatomic.h>

#include "harness/check/buffer.h"
#include "harness/run/worker_pool.h"

/* Shared memory of a worker and the parent: says what the worker is at, even when it has died. */
struct crew_slot {
    _Atomic uint64_t since; /* monotonic nanoseconds of the last mark */
    _Atomic uint32_t mark;
    _Atomic uint32_t started; /* start() is done */
    _Atomic uint32_t step;    /* of crew_step() */
};

/* Parent to worker. */
struct crew_job {
    uint64_t item, end;
    uint32_t step;
};

/* Worker to parent: a frame, then `length` bytes. */
enum crew_frame_kind { FRAME_MESSAGE, FRAME_COMPLETE, FRAME_START_FAILED };
struct crew_frame {
    uint32_t kind, length;
};
enum { FRAME_LIMIT = 1u << 30 };

struct crew_link {
    int fd; /* -1: in process */
    struct crew_slot *slot;
    int prints; /* the file that stdout and stderr go to; -1: none */
    /* in process: */
    const struct crew_work *work;
    void *user;
    uint64_t item;
    int failed;
    struct why why;
};

/* Runs in the child until the parent closes its end; does not return. */
_Noreturn void crew_worker(struct crew_link *l, const struct crew_work *work, void *user);
int crew_run_in_process(const struct crew_options *options, const struct crew_work *work,
                        uint64_t n_items, void *user, struct why *w);

#endif
