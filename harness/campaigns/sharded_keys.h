/* The keys of a campaign's TOML file: one table, and typed access by it. */
#ifndef HARNESS_SHARDED_KEYS_H
#define HARNESS_SHARDED_KEYS_H

#include "harness/campaigns/sharded_plan.h"

/* Checks that all keys of the file are known, and the types of their values, and stores those that
 * are numbers, times or flags.  Keys of [options] and [engine] beyond `name` and `program` are left
 * to the command and the engine. */
int sharded_keys_read(struct sharded_plan *p, struct why *w);

/* The value of a key of the file ("targets", "engine.name"); NULL: absent. */
const json_t *sharded_key(const struct sharded_plan *p, const char *path);
/* Its text; NULL: absent. */
const char *sharded_key_text(const struct sharded_plan *p, const char *path);

/* A value as an option takes it: a text as it is, a number in decimal.  In the plan's arena; NULL:
 * neither. */
const char *sharded_value_text(const struct sharded_plan *p, const json_t *value);

/* Fails with "FILE: KEY: expected WHAT, found VALUE". */
int sharded_key_fail(const struct sharded_plan *p, const char *path, const char *expected,
                     const json_t *found, struct why *w);

#endif
