#include "sim/remote/reply_wait.h"

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
