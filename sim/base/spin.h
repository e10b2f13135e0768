/* Busy-waiting for another process or thread before the caller sleeps: waking a sleeping processor
 * takes longer than most answers.  Spinning is skipped, but for a retry now and then, while both
 * sides run on one processor, after several waits that outlasted a spin, and after others took the
 * spinning processor. */
#ifndef SIM_SPIN_H
#define SIM_SPIN_H

#include <stdbool.h>
#include <stdint.h>

/* History of a caller's waits for one other side; starts zeroed. */
struct spin {
    int other; /* last known processor of the other side, as spin_processor(); set by user */
    uint32_t limit_ns; /* the longest spin; set by user; 0: 60 us */
    uint32_t misses;   /* consecutive waits that did not end while spinning */
    bool is_apart;     /* whether the sides ran on different processors at the last wait */
};

/* Number of the caller's processor plus 1; 0: unknown. */
int spin_processor(void);

/* Calls is_there(user) until it returns true, until the limit, or not at all where the history
 * shows that spinning does not help; updates the history.  The caller then checks and sleeps. */
void spin_until(struct spin *s, bool (*is_there)(void *user), void *user);

#endif
