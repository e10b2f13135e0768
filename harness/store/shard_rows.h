/* The table shards: which part of which campaign a run is, and on what machine it was computed. */
#ifndef HARNESS_SHARD_ROWS_H
#define HARNESS_SHARD_ROWS_H

#include "harness/store/results.h"

struct shard_row {
    const char *key, *campaign; /* digests (harness/shards/shard_key.h) */
    const char *identity;       /* of the campaign, JSON */
    uint32_t shard, n_shards;
    bool atomic; /* the database is whole or not there */
    const char *cpu, *built_with;
};

/* Version of this program, as runs.version has it. */
const char *results_program_version(void);
/* Records what the current run is; replaces what there is of it. */
int results_add_shard(struct results *r, const struct shard_row *row, struct why *w);
/* The finished run of a database that --atomic has written becomes the current one.  1: *ret_row is
 * to be freed with shard_row_done(); 0: the database is none. */
int results_only_shard(struct results *r, struct shard_row *ret_row, struct why *w);
void shard_row_done(struct shard_row *row);

/* Calls each() for every target and verdict of the current run, with the number of verdicts and of
 * elements compared. */
int results_each_total(struct results *r,
                       void (*each)(uint32_t target, enum verdict v, uint64_t n, uint64_t checked,
                                    void *user),
                       void *user, struct why *w);

#endif
