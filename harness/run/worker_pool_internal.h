/* Shared by the two ends of a worker's connection: frames, jobs, and the memory of marks. */
#ifndef HARNESS_CREW_INTERNAL_H
#define HARNESS_CREW_INTERNAL_H

#include <stdatomic.h>

#include "harness/check/buffer.h"
#include "harness/run/worker_pool.h"

/* In memory shared by a worker and the parent: the worker's progress, readable after its death. */
struct crew_slot {
    _Atomic uint64_t since; /* monotonic nanoseconds of the last mark */
    _Atomic uint32_t mark;
    _Atomic uint32_t started; /* start() has returned */
    _Atomic uint32_t step;    /* of crew_step() */
};

/* Parent to worker: run items [item, end), the first from `step` on. */
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
    int prints; /* memory file that receives stdout and stderr; -1: none */
    /* only in process: */
    const struct crew_work *work;
    void *user;
    uint64_t item;
    int failed;
    struct why why;
};

/* The child's main loop: runs jobs until the parent closes its end, then exits. */
_Noreturn void crew_worker(struct crew_link *l, const struct crew_work *work, void *user);
/* crew_run() without child processes. */
int crew_run_in_process(const struct crew_options *options, const struct crew_work *work,
                        uint64_t n_items, void *user, struct why *w);

#endif
