/* What the two ends of a pool's pipe agree on. */
#ifndef HARNESS_POOL_INTERNAL_H
#define HARNESS_POOL_INTERNAL_H

#include <stdatomic.h>

#include "harness/buffer.h"
#include "harness/pool.h"

/* Shared memory of a worker and the parent: says what the worker is at, even when it has died. */
struct pool_slot {
    _Atomic uint64_t since; /* monotonic nanoseconds of the last mark */
    _Atomic uint32_t mark;
    _Atomic uint32_t started; /* start() is done */
};

/* Parent to worker. */
struct pool_job {
    uint64_t item, end;
    uint32_t step;
};

/* Worker to parent: a frame, then `length` bytes. */
enum pool_frame_kind { FRAME_MESSAGE, FRAME_COMPLETE, FRAME_START_FAILED };
struct pool_frame {
    uint32_t kind, length;
};
enum { FRAME_LIMIT = 1u << 30 };

struct pool_link {
    int fd; /* -1: in process */
    struct pool_slot *slot;
    /* in process: */
    const struct pool_work *work;
    void *user;
    uint64_t item;
    int failed;
    struct why why;
};

uint64_t pool_now(void);

/* Runs in the child until the parent closes its end; does not return. */
_Noreturn void pool_worker(struct pool_link *l, const struct pool_work *work, void *user);
int pool_run_in_process(const struct pool_options *options, const struct pool_work *work,
                        uint64_t n_items, void *user, struct why *w);

#endif
