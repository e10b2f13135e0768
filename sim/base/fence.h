/* Fences: descriptors that poll readable once what they stand for is done, and poll an error when
 * it has failed.  A fence is the reading end of a pipe: a byte signals it for good, closing the
 * other end without one is the error, which is also what a process that dies leaves behind. */
#ifndef SIM_FENCE_H
#define SIM_FENCE_H

#include <stdbool.h>
#include <stdint.h>

struct fence {
    int wait;   /* for whoever waits; may be duplicated and passed on */
    int signal; /* -1: done */
};

/* -1 with errno. */
int fence_open(struct fence *ret_fence);
/* Signals it, or lets it fail; `wait` stays. */
void fence_end(struct fence *f, bool ok);

/* Whether these are descriptors. */
bool fence_all_open(uint32_t n, const int *fds);
/* Waits until all are signalled: 1; 0 when timeout_ns (UINT64_MAX: none) have passed, -1 when one
 * fails. */
int fence_wait(uint32_t n, const int *fds, uint64_t timeout_ns);
/* The same, but gives up, as if one had failed, when the descriptor `stop` polls readable; -1:
 * none. */
int fence_wait_or_stop(uint32_t n, const int *fds, uint64_t timeout_ns, int stop);

#endif
