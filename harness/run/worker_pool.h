/* A pool of worker processes, so that a driver that crashes, hangs or exits does not end the
 * harness.
 *
 * Items 0..n-1 are distributed over forked workers, each limited to 8 GiB of address space.  A
 * worker sends messages about its item, and records its progress in marks in shared memory.
 * When a worker dies or exceeds the time-out, the parent reads its last mark, and a new worker
 * continues from the step that the parent chooses.
 *
 *     parent                                     worker (forked: sees the parent's memory)
 *     job [item, end), step  ---------------->   start() once
 *                            <----------------   item(): worker_pool_mark(), worker_pool_send() ...
 *     message()
 *     died(): the step to continue with
 */
#ifndef HARNESS_WORKER_POOL_H
#define HARNESS_WORKER_POOL_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "golden/base/why.h"

struct worker_pool_options {
    unsigned workers;
    double timeout; /* seconds a worker may spend between marks or messages, by its process_clock;
                     * 0: unlimited */
    double longest; /* seconds an item may take in all, whatever its worker does; 0: unlimited */
    uint32_t longest_message; /* bytes; 0: 1 GiB */
    bool in_process;          /* no workers: everything in this process, for a debugger */
    bool one_by_one; /* a worker gets an item at a time: required for again(), exact for enough() */
    uint64_t memory; /* bytes of address space in addition, for drivers that may use more */
    uint64_t most;   /* bytes of anonymous memory that a worker may use more than at its start, when
                      * drivers run in it; 0: any */
    bool loud;       /* output of workers goes to stderr; else it is kept to explain a death */
    const volatile sig_atomic_t *stop; /* not 0: stop soon; may be NULL */
};

/* How a worker ended in the middle of an item. */
struct worker_pool_death {
    bool hang;          /* killed by the parent after a time-out */
    uint64_t memory;    /* killed by the parent when it used so many bytes; 0: it was not */
    bool is_first;      /* in the first item of this worker */
    uint64_t after;     /* else: the item that it completed before */
    char nonsense[160]; /* killed by the parent because its messages made no sense: why; else "" */
    int signal;         /* that ended it, or 0 */
    int exit_status;    /* when it ended without a signal */
    uint32_t mark;      /* the last one set in this item */
    uint32_t step;      /* value of *worker_pool_step() */
    double seconds;     /* since that mark */
    char printed[2048]; /* the end of its output in this item */
    char last_output[200]; /* of that: a sanitizer's summary, else the last line */
};

/* A worker's connection to the parent. */
struct worker_pool_link;
/* Sets the mark and restarts the time-out; sets *worker_pool_step() to 0. */
void worker_pool_mark(struct worker_pool_link *l, uint32_t mark);
/* Restarts the time-out; from any thread. */
void worker_pool_keep_alive(struct worker_pool_link *l);
/* Adds ns to the time-out until the next mark. */
void worker_pool_allow(struct worker_pool_link *l, uint64_t ns);
/* A word in shared memory for finer progress than marks, readable by the parent after a death. */
_Atomic uint32_t *worker_pool_step(struct worker_pool_link *l);
/* Copies the end of what was printed in this item, at most size - 1 bytes and a 0; returns their
 * number. */
size_t worker_pool_printed(const struct worker_pool_link *l, char *text, size_t size);
/* Sends a message to the parent and restarts the time-out.  Over 1 GiB, an empty one is sent. */
void worker_pool_send(struct worker_pool_link *l, const void *bytes, size_t length);

#define WORKER_POOL_NO_ITEM UINT64_MAX

/* Callbacks.  Those that return int return -1 on failure, which ends the whole run with the reason.
 * message() and complete() return 1 if what the worker sent makes no sense, with the reason: it is
 * killed, and this counts as its death. */
struct worker_pool_work {
    /* In a new worker, before its first item.  *ret_state is passed to item() and end(). */
    int (*start)(void *user, void **ret_state, struct why *w);
    /* In a worker, after its last item.  It may send messages, which belong to no item.  May be
     * NULL. */
    void (*end)(struct worker_pool_link *l, void *state, void *user);
    /* In a worker: runs one item, from `step` on (0 for a new one). */
    void (*item)(struct worker_pool_link *l, uint64_t item, uint32_t step, void *state, void *user);

    /* In the parent: a message about an item arrived; WORKER_POOL_NO_ITEM: from end(). */
    int (*message)(uint64_t item, const void *bytes, size_t length, void *user, struct why *w);
    /* In the parent: the worker died in this item.  1: continue it at *ret_step; 0: skip the rest.
     */
    int (*died)(uint64_t item, const struct worker_pool_death *d, uint32_t *ret_step, void *user,
                struct why *w);
    /* In the parent, at the end of an item.  1: it is run again, from *ret_step on, in a new
     * worker; 0: it is complete.  May be NULL: always complete. */
    int (*again)(uint64_t item, uint32_t *ret_step, void *user, struct why *w);
    /* In the parent: an item is complete. */
    int (*complete)(uint64_t item, void *user, struct why *w);
    /* In the parent, before an item is begun: whether no more are.  May be NULL. */
    bool (*enough)(void *user);
    /* In the parent, about 20 times a second.  May be NULL. */
    int (*tick)(void *user, struct why *w);
};

/* Runs all items.  0: all are complete; 1: stopped; 2: enough() left some; -1: a callback failed,
 * or workers cannot be started. */
int worker_pool_run(const struct worker_pool_options *options, const struct worker_pool_work *work,
                    uint64_t n_items, void *user, struct why *w);

#endif
