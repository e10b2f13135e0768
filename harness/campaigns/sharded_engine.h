/* Engines: programs that run the shards of a list somewhere (harness/engines/README.md). */
#ifndef HARNESS_SHARDED_ENGINE_H
#define HARNESS_SHARDED_ENGINE_H

#include <sys/types.h>

#include "harness/campaigns/sharded_plan.h"

enum { ENGINE_KEYS = 4 };

/* An engine that Halcyon has. */
struct shipped_engine {
    const char *name, *text;           /* its program */
    const char *keys[ENGINE_KEYS + 1]; /* settings that it knows */
};
extern const struct shipped_engine shipped_engines[];
extern const int shipped_engines_n;

/* NULL: there is none of this name. */
const struct shipped_engine *shipped_engine_find(const char *name);

/* Starts the plan's engine on a file with a shard's number on each line.  It gets SIGTERM when this
 * process dies.  Its output is appended to `log`. */
int sharded_engine_start(const struct sharded_plan *p, const char *list, const char *log,
                         pid_t *ret_pid, struct why *w);
/* Whether it has ended; then *ret_status is its exit status, 128 + N after signal N. */
bool sharded_engine_ended(pid_t pid, int *ret_status);
/* Ends it: SIGTERM, after 30 seconds SIGKILL to it and its children. */
void sharded_engine_stop(pid_t pid);

#endif
