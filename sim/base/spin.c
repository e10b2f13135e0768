#define _GNU_SOURCE
#include "sim/base/spin.h"

#include <sched.h>

#include "golden/base/clock.h"

/* SPIN_NS: the longest spin; longer than waking a processor takes, so that a side finds out that
 * spinning helps again even while the other side sleeps each time.  LOOKS: polls between two
 * readings of the clock.  After MISSES waits that outlasted a spin, only every RETRY-th wait spins;
 * while both sides share a processor, every RETRY_TOGETHER-th.  LOST_NS: between two readings of
 * the clock; something else ran. */
enum { SPIN_NS = 60000, LOOKS = 16, MISSES = 4, RETRY = 32, RETRY_TOGETHER = 256, LOST_NS = 50000 };

int spin_processor(void)
{
    return sched_getcpu() + 1;
}

static void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Spinning on the other side's processor keeps that side from running; the rare retries there let
 * the kernel's scheduler move one of both to another processor. */
static bool may_pay(struct spin *s)
{
    bool was_apart = s->is_apart;

    s->is_apart = s->other != spin_processor();
    if (s->is_apart && !was_apart)
        s->misses = 0;
    return s->is_apart ? s->misses < MISSES || s->misses % RETRY == 0
                       : s->misses % RETRY_TOGETHER == RETRY_TOGETHER - 1;
}

static bool poll_for(struct spin *s, bool (*is_there)(void *user), void *user)
{
    uint64_t before, now = clock_steady_ns();
    const uint64_t until = now + (s->limit_ns ? s->limit_ns : SPIN_NS);

    do {
        for (int i = 0; i < LOOKS; i++) {
            if (is_there(user))
                return true;
            relax();
        }
        before = now;
        now = clock_steady_ns();
    } while (now < until && now - before < LOST_NS);
    if (now - before >= LOST_NS)
        s->misses = MISSES;
    return false;
}

void spin_until(struct spin *s, bool (*is_there)(void *user), void *user)
{
    bool paid = may_pay(s) && poll_for(s, is_there, user);

    s->misses = paid ? 0 : s->misses + 1;
}
