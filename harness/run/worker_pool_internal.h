/* Shared by the two ends of a worker's connection: frames, jobs, and the memory of marks. */
#ifndef HARNESS_WORKER_POOL_INTERNAL_H
#define HARNESS_WORKER_POOL_INTERNAL_H

#include <stdatomic.h>

#include "harness/check/buffer.h"
#include "harness/run/worker_pool.h"

/* In memory shared by a worker and the parent: the worker's progress, readable after its death.  A
 * driver in the worker may write anything to it. */
struct worker_pool_slot {
    _Atomic uint64_t since;   /* monotonic nanoseconds of the last mark */
    _Atomic uint64_t allowed; /* by worker_pool_allow(), since that mark */
    _Atomic uint32_t mark;
    _Atomic uint32_t step; /* of worker_pool_step() */
};

/* Parent to worker: run items [item, end), the first from `step` on. */
struct worker_pool_job {
    uint64_t item, end;
    uint32_t step;
};

/* Worker to parent: a frame, then `length` bytes.  FRAME_STARTED: start() has returned. */
enum worker_pool_frame_kind { FRAME_MESSAGE, FRAME_COMPLETE, FRAME_START_FAILED, FRAME_STARTED };
struct worker_pool_frame {
    uint32_t kind, length;
};
enum { FRAME_LIMIT = 1u << 30 };

struct worker_pool_link {
    int fd; /* -1: in process */
    struct worker_pool_slot *slot;
    int prints; /* memory file that receives stdout and stderr; -1: none */
    /* only in process: */
    const struct worker_pool_work *work;
    void *user;
    uint64_t item;
    int failed;
    struct why why;
};

/* Reads the end of a file of output, at most size - 1 bytes and a 0; returns their number. */
size_t worker_pool_read_end(int file, char *text, size_t size);

/* The child's main loop: runs jobs until the parent closes its end, then exits. */
_Noreturn void worker_pool_worker(struct worker_pool_link *l, const struct worker_pool_work *work,
                                  void *user);
/* worker_pool_run() without child processes. */
int worker_pool_run_in_process(const struct worker_pool_options *options,
                               const struct worker_pool_work *work, uint64_t n_items, void *user,
                               struct why *w);

#endif
