/* What a shard is: the identity of its campaign, a JSON object of all that decides the cases and
 * their verdicts, and which of how many parts it has.  Shards with equal keys have equal cases on
 * every machine. */
#ifndef HARNESS_SHARD_KEY_H
#define HARNESS_SHARD_KEY_H

#include <stdint.h>

#include "golden/base/why.h"
#include "harness/check/cases.h"
#include "harness/cli/options.h"
#include "harness/store/results.h"

enum { SHARD_DIGEST = 17 }; /* bytes of a digest as text */

struct shard_key {
    char *identity;              /* of the campaign; owned */
    char campaign[SHARD_DIGEST]; /* digest of it */
    char key[SHARD_DIGEST];      /* digest of the campaign and the shard */
    uint32_t shard, n_shards;
};

/* recorded: the options as JSON that the run is recorded with.  Reads the files of --baseline. */
int shard_key_make(const struct options *o, const char *recorded, const struct cases *cases,
                   struct shard_key *ret_key, struct why *w);
void shard_key_done(struct shard_key *k);

/* Records the key of the current run, with the machine and the build that computes it. */
int shard_key_record(const struct shard_key *k, struct results *r, bool atomic, struct why *w);
/* Opens the complete shard in a file, a summary or all rows, and selects its run.  WHY_INVALID: it
 * is another one, or none; the reason has what differs. */
int shard_key_open(const struct shard_key *k, const char *path, bool summary,
                   struct results **ret_results, struct why *w);

#endif
