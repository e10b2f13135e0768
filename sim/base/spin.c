#define _GNU_SOURCE
#include "sim/base/spin.h"

#include <sched.h>

#include "golden/base/clock.h"

/* How long a wait spins at most: longer than waking a processor takes, so that one side learns that
 * it pays again while the other one still sleeps each time.  How often it looks between two looks
 * at the clock.  After MISSES waits for which spinning was too short only every RETRY-th spins;
 * while both sides share a processor, every RETRY_TOGETHER-th. */
enum { SPIN_NS = 60000, LOOKS = 16, MISSES = 4, RETRY = 32, RETRY_TOGETHER = 256 };

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

/* Whoever is to bring news cannot while we spin on its processor; doing so now and then lets the
 * system move one of us to another one. */
static bool may_pay(struct spin *s)
{
    bool was_apart = s->is_apart;

    s->is_apart = s->other != spin_processor();
    if (s->is_apart && !was_apart)
        s->misses = 0;
    return s->is_apart ? s->misses < MISSES || s->misses % RETRY == 0
                       : s->misses % RETRY_TOGETHER == RETRY_TOGETHER - 1;
}

static bool look(bool (*is_there)(void *user), void *user)
{
    const uint64_t until = clock_steady_ns() + SPIN_NS;

    do {
        for (int i = 0; i < LOOKS; i++) {
            if (is_there(user))
                return true;
            relax();
        }
    } while (clock_steady_ns() < until);
    return false;
}

void spin_until(struct spin *s, bool (*is_there)(void *user), void *user)
{
    bool paid = may_pay(s) && look(is_there, user);

    s->misses = paid ? 0 : s->misses + 1;
}
