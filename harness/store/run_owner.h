/* The process that writes a run. */
#ifndef HARNESS_RUN_OWNER_H
#define HARNESS_RUN_OWNER_H

#include <stdbool.h>
#include <stdint.h>

struct run_owner {
    int64_t pid, start; /* start: ticks since boot, which distinguishes processes with one pid */
    char place[192];    /* where the pid has a meaning: host, boot, PID namespace */
    int64_t heartbeat;  /* seconds since 1970 */
};

/* This process, now. */
struct run_owner run_owner_self(void);
/* Whether that process still exists.  In another place (another machine or container), where this
 * cannot be seen: whether its heartbeat is less than a minute old. */
bool run_owner_is_alive(const struct run_owner *o);

#endif
