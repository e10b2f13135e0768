#define _POSIX_C_SOURCE 200809L
#include "sim/remote/reply_wait.h"

#include <time.h>

static uint64_t limit_ns(const struct reply_limit *l)
{
    return l->timeout.seconds > 0 ? (uint64_t) (l->timeout.seconds * 1e9) : UINT64_MAX;
}

uint64_t reply_limit_look_ns(const struct reply_limit *l)
{
    const uint64_t look = (uint64_t) PROCESS_CLOCK_LOOK_MS * 1000000, limit = limit_ns(l);

    return limit == UINT64_MAX || limit < look ? limit : look;
}

static void tell_waiting(const struct reply_limit *l)
{
    if (l->timeout.waiting)
        l->timeout.waiting(l->timeout.user);
}

void reply_wait_begin(struct reply_wait *w, const struct reply_limit *l)
{
    tell_waiting(l);
    w->limit = l;
    process_clock_start(&w->clock, l->process);
}

int reply_wait_continue(struct reply_wait *w, struct why *why)
{
    const struct reply_limit *l = w->limit;

    if (!(l->timeout.seconds > 0))
        return 0;
    if (process_clock_elapsed(&w->clock) >= limit_ns(l) + atomic_load(&l->allowance))
        return why_fail(why, WHY_TIMEOUT, "the other process does not answer in time");
    tell_waiting(l);
    return 0;
}

/* 1: it has ended, 0: it lives, -1: not known.  A process that ends closes its descriptors a moment
 * before it counts as ended. */
static int has_ended(pid_t process)
{
    enum { LOOKS = 50 };
    const struct timespec look = { 0, 4000000 };
    int64_t start = -1;

    for (int i = 0; process && i < LOOKS && (start = process_start(process)) > 0; i++)
        nanosleep(&look, NULL);
    return start < 0 ? -1 : start == 0;
}

int reply_limit_ended(const struct reply_limit *l, struct why *w)
{
    const struct why how = *w;

    switch (has_ended(l->process)) {
    case 1: return why_fail(w, WHY_SYSTEM, "the driver's process has ended");
    case 0:
        return why_fail(w, WHY_SYSTEM,
                        "the service has closed the connection (%s): its process %d "
                        "still runs",
                        how.text, (int) l->process);
    default:
        return why_fail(w, WHY_SYSTEM,
                        "the driver's process has ended or has closed the "
                        "connection (%s)",
                        how.text);
    }
}
