/* Work in child processes: drivers crash, hang and exit, and the harness must not.
 *
 * Items 0..n-1 are handed out to forked workers, which have 8 GiB of address space each.  A worker
 * sends messages about an item, and says with marks what it is doing; when it dies or is too slow,
 * the parent learns at which mark, and a new worker goes on from there.
 *
 *     parent                                     worker (forked, so it shares the parent's memory)
 *     job [item, end), step  ---------------->   start() once
 *                            <----------------   item(): crew_mark(), crew_send() ...
 *     message()
 *     died(): which step to go on with
 */
#ifndef HARNESS_CREW_H
#define HARNESS_CREW_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "golden/base/why.h"

struct crew_options {
    unsigned workers;
    double timeout;  /* seconds that a worker may spend between two marks; 0: for ever */
    bool in_process; /* no workers: everything in this process, for a debugger */
    bool loud;       /* what workers print goes to stderr; else it is kept for the death of one */
    const volatile sig_atomic_t *stop; /* not 0: stop soon; may be NULL */
};

struct crew_death {
    bool hang;       /* killed by us, for being too slow */
    int signal;      /* that ended it, or 0 */
    int exit_status; /* when it ended without a signal */
    uint32_t mark;   /* the last one set in this item */
    uint32_t step;   /* what *crew_step() said */
    double seconds;  /* since that mark */
    char said[200];  /* the line that tells most of what it printed in this item, or "" */
};

/* A worker's way back. */
struct crew_link;
void crew_mark(struct crew_link *l, uint32_t mark);
/* Where the worker may keep what it is at in detail: a mark sets it to 0. */
_Atomic uint32_t *crew_step(struct crew_link *l);
void crew_send(struct crew_link *l, const void *bytes, size_t length);

struct crew_work {
    /* In a new worker, before its first item.  ret_state is what item() gets. */
    int (*start)(void *user, void **ret_state, struct why *w);
    /* In a worker that has nothing left to do.  May be NULL. */
    void (*end)(void *state, void *user);
    /* In a worker: one item, from `step` on (0 for a fresh one). */
    void (*item)(struct crew_link *l, uint64_t item, uint32_t step, void *state, void *user);

    /* In the parent: a message.  -1 ends everything with the reason. */
    int (*message)(uint64_t item, const void *bytes, size_t length, void *user, struct why *w);
    /* In the parent: the worker died in this item.  1: go on with *ret_step; 0: leave the item. */
    int (*died)(uint64_t item, const struct crew_death *d, uint32_t *ret_step, void *user,
                struct why *w);
    /* In the parent: an item is complete. */
    int (*complete)(uint64_t item, void *user, struct why *w);
    /* In the parent, about 20 times a second.  May be NULL. */
    int (*tick)(void *user, struct why *w);
};

/* 0: all items are complete; 1: stopped; -1: a callback failed, or workers cannot be started. */
int crew_run(const struct crew_options *options, const struct crew_work *work, uint64_t n_items,
             void *user, struct why *w);

#endif
