/* Sync fences: descriptors that poll readable once their execution has succeeded, and poll an error
 * when it has failed.  A fence is the read end of a pipe: a byte signals it permanently; closing
 * the write end without one is the error, also when the process dies. */
#ifndef SIM_FENCE_H
#define SIM_FENCE_H

#include <stdbool.h>
#include <stdint.h>

struct fence {
    int wait;   /* the read end, which the owner closes; may be duplicated and passed on */
    int signal; /* the write end; -1: signalled or failed */
};

/* -1 with errno. */
int fence_open(struct fence *ret_fence);
/* Signals the fence (ok) or makes it fail; a second call has no effect.  `wait` stays open. */
void fence_complete(struct fence *f, bool ok);

/* Whether all are open descriptors. */
bool fence_all_open(uint32_t n, const int *fds);
/* Waits for all fences.  1: all are signalled; 0: timeout_ns (UINT64_MAX: no limit) have passed;
 * -1: one has failed. */
int fence_wait(uint32_t n, const int *fds, uint64_t timeout_ns);
/* The same; also -1 as soon as the descriptor `stop` (-1: none) polls readable. */
int fence_wait_or_stop(uint32_t n, const int *fds, uint64_t timeout_ns, int stop);

#endif
