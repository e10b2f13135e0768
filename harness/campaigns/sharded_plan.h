/* The plan of a campaign of many shards: what its TOML file says. */
#ifndef HARNESS_SHARDED_PLAN_H
#define HARNESS_SHARDED_PLAN_H

#include <jansson.h>

#include "harness/cli/options.h"

enum { MOST_SHARDS = 1000000, MOST_SETTINGS = 32 };

/* A key of the table [engine] that is the engine's own; value: as text, a list with commas. */
struct engine_setting {
    const char *key, *value;
};

struct sharded_plan {
    const char *file; /* as given */
    const char *home; /* absolute: the folder of the file, in which shards run */

    /* What decides the cases; must be the same when a campaign continues. */
    const struct command *command; /* random, conform or run */
    const char *const *word; /* the command line of a shard up to --shard, without the program */
    uint32_t n_words;
    struct options *options;     /* that command line, parsed */
    const char *const *baseline; /* absolute: options.baseline */
    uint64_t n_cases;            /* 0: not known before files or rules are loaded */
    uint64_t n_shards;
    bool summary;
    json_t *identity; /* all of it, and the version of Halcyon */

    /* What may change. */
    const char *output;  /* absolute: the campaign's folder */
    const char *program; /* the halcyon that runs the shards */
    const char *self;    /* this one */
    const char *engine;  /* name of a shipped one, or absolute path of the user's */
    struct engine_setting setting[MOST_SETTINGS];
    uint32_t n_settings;
    uint64_t jobs;             /* shards at a time */
    uint64_t seconds, retries; /* of a shard */
    /* Stop rules; 0: none. */
    uint64_t stop_seconds, stop_buckets;
    uint64_t stop_coverage; /* shards in a row that execute nothing new */
    const char *corpus;     /* absolute: folder of known failures; NULL: none */

    struct arena *arena; /* owns all of this */
    json_t *json;
};

/* Reads a file.  commands: where `random`, `conform` and `run` are.  Checks every key, and the
 * command's options as its command line would; the message names file, key, what was found and what
 * would be right.  Writes nothing. */
int sharded_plan_read(const char *file, struct sharded_plan *ret_plan, struct why *w);
/* The same of the JSON that the TOML of `file` becomes; malformed JSON is WHY_INVALID. */
int sharded_plan_parse(const char *json, const char *file, struct sharded_plan *ret_plan,
                       struct why *w);
void sharded_plan_done(struct sharded_plan *p);

/* Appends the command line of shard i, from 1 to n_shards, for a shell. */
void sharded_plan_put_command(const struct sharded_plan *p, uint64_t i, struct buffer *b);
/* Appends its arguments from --shard on; `shard` and `db` are put as they are. */
void sharded_plan_put_shard(const struct sharded_plan *p, const char *shard, const char *db,
                            struct buffer *b);

/* Fails where the identities of two plans differ: names the first key, its value and what it was.
 * file: of the new one; folder: which has the old one. */
int sharded_plan_compare(const struct sharded_plan *p, const json_t *old, struct why *w);

#endif
