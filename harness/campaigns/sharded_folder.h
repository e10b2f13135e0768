/* The folder of a campaign:
 *
 *     campaign.json   what decides its cases: a changed plan is rejected
 *     shards/I.db     shard I is done; anything else in there is not
 *     shard           the script that runs shard I on any machine that sees the folder
 *     engine          the engine's program, of a shipped engine
 *     list            the shards that the engine is to run
 *     logs/I.running  shard I is being run, or was when it was killed; what it printed
 *     logs/I.failed   the last attempt at shard I failed; the last line has its exit status
 *     logs/engine     what the engine printed
 *     stop            the campaign has ended: nothing is to begin
 *     lock            held by the campaign that runs
 *     merged.db, report/   the result
 */
#ifndef HARNESS_SHARDED_FOLDER_H
#define HARNESS_SHARDED_FOLDER_H

#include <limits.h>

#include "harness/campaigns/sharded_plan.h"

/* The state of the shards; index: the shard's number, from 1. */
struct shard_set {
    bool *done;
    uint64_t n_done, n_running;
};

/* Creates the folder or opens one that the plan had begun, takes its lock and writes what engines
 * need.  *ret_lock is closed by sharded_folder_close().  WHY_INVALID: it has another campaign, or
 * one runs in it, or it has other files. */
int sharded_folder_open(const struct sharded_plan *p, int *ret_lock, struct why *w);
void sharded_folder_close(int lock);

/* Looks which shards are done, and counts those that run.  Calls arrived() for each that is new.
 * set->done has n_shards + 1 members.  A folder that does not exist has none. */
int sharded_folder_scan(const struct sharded_plan *p, struct shard_set *set,
                        void (*arrived)(uint64_t shard, void *user), void *user, struct why *w);

/* Begins a round: removes what earlier attempts at the n shards have left, writes their list. */
int sharded_folder_submit(const struct sharded_plan *p, const uint64_t *shard, size_t n,
                          struct why *w);

/* How the last attempt at a shard ended. */
enum attempt_state {
    ATTEMPT_NONE,   /* it has not begun */
    ATTEMPT_KILLED, /* without a word, or it still runs somewhere */
    ATTEMPT_FAILED  /* with an exit status */
};
struct attempt {
    enum attempt_state state;
    int status;     /* of ATTEMPT_FAILED */
    char last[200]; /* the last line that it printed */
};
struct attempt sharded_folder_attempt(const struct sharded_plan *p, uint64_t shard);

/* Writes `stop`, so that shards that were handed out do not begin. */
int sharded_folder_stop(const struct sharded_plan *p, struct why *w);

/* "OUTPUT/NAME" */
void sharded_folder_path(const struct sharded_plan *p, const char *name, char ret_path[PATH_MAX]);

#endif
