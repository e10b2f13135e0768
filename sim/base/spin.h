/* Waiting by spinning, before one sleeps until another process or thread has news: waking a
 * processor that sleeps takes longer than most answers do.  It cannot pay while both sides share a
 * processor, nor where the news lately took longer than a spin. */
#ifndef SIM_SPIN_H
#define SIM_SPIN_H

#include <stdbool.h>
#include <stdint.h>

/* What one who waits again and again for the same side has learned; zero to begin with. */
struct spin {
    int other;       /* the processor that the other side was last seen on, as spin_processor() */
    uint32_t misses; /* waits since spinning last paid */
    bool is_apart;   /* whether the last wait was on another processor */
};

/* That of the caller, plus 1; 0: unknown. */
int spin_processor(void);

/* Calls `is_there` with `user` for a short while, if that may pay, until it says true; learns from
 * the outcome. */
void spin_until(struct spin *s, bool (*is_there)(void *user), void *user);

#endif
