/* Time-outs of the replies of a service, by the clock of its process (sim/base/process_clock.h),
 * and the reason why there comes none any more.
 *
 *     reply_wait_begin(&wait, limit);
 *     while (no reply within reply_limit_look_ns(limit))
 *         TRY(reply_wait_continue(&wait, w));
 */
#ifndef SIM_REPLY_WAIT_H
#define SIM_REPLY_WAIT_H

#include <stdatomic.h>

#include "golden/base/why.h"
#include "sim/base/process_clock.h"

struct reply_timeout {
    double seconds;              /* 0: none */
    void (*waiting)(void *user); /* called when a wait begins and, with a time-out, now and then
                                    while it lasts, from any thread; may be NULL */
    void *user;
    pid_t process; /* of the service; 0: the one that has created the socket's other end */
};

/* Of a connection. */
struct reply_limit {
    struct reply_timeout timeout;
    pid_t process;                   /* of the service; 0: unknown, all time counts */
    atomic_uint_least64_t allowance; /* ns that are added to the time-out */
};

/* The longest time to wait between two looks; UINT64_MAX: there is no time-out. */
uint64_t reply_limit_look_ns(const struct reply_limit *l);

struct reply_wait {
    const struct reply_limit *limit;
    struct process_clock clock;
};

void reply_wait_begin(struct reply_wait *w, const struct reply_limit *l);
/* After a look without a reply.  WHY_TIMEOUT: the time is over. */
int reply_wait_continue(struct reply_wait *w, struct why *why);

/* After an end of the connection, with *w as by wire_receive(): sets *w to whether the service's
 * process has ended, for which it waits a little, or lives; returns -1. */
int reply_limit_ended(const struct reply_limit *l, struct why *w);

#endif
