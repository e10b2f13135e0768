/* Reads typed values from a profile's JSON; messages name file, key, expected and found value.
 * Functions return 0, or -1 with the reason in the reader's w. */
#ifndef SIM_PROFILE_READ_H
#define SIM_PROFILE_READ_H

#include <jansson.h>

#include "sim/device/profile.h"

struct profile_reader {
    const char *file;
    struct arena *arena;
    struct why *w;
};

/* A path in the file, such as "performance.operand.FLOAT32"; NULL is the root. */
struct key_path {
    const struct key_path *parent;
    const char *key; /* NULL: an element of an array */
    size_t index;
};

/* Reports "FILE: KEY: expected WHAT, found VALUE"; returns -1.  found: NULL for a missing key. */
int read_fail(const struct profile_reader *r, const struct key_path *at, const char *expected,
              const json_t *found);

/* Checks that every key of the object is one of `known` (terminated by NULL). */
int read_check_keys(const struct profile_reader *r, const struct key_path *at, const json_t *object,
                    const char *const *known);

/* A member of an object.  An absent one leaves *ret unchanged, or is an error if required. */
struct key {
    const struct key_path *at; /* the object's path */
    const json_t *object;
    const char *key;
    bool required;
};
/* A string that is not empty; the copy lives in the reader's arena. */
int read_text(const struct profile_reader *r, struct key m, const char **ret);
/* A finite number >= least. */
int read_number(const struct profile_reader *r, struct key m, double least, double *ret);
/* An integer from 0 to most. */
int read_count(const struct profile_reader *r, struct key m, uint64_t most, uint64_t *ret);
int read_count32(const struct profile_reader *r, struct key m, uint32_t most, uint32_t *ret);
/* true or false. */
int read_flag(const struct profile_reader *r, struct key m, bool *ret);
/* An object or an array, owned by m.object; *ret is NULL if it is absent. */
int read_object(const struct profile_reader *r, struct key m, const json_t **ret);
int read_array(const struct profile_reader *r, struct key m, const json_t **ret);

/* One of the words (terminated by NULL); *ret: its index. */
int read_word(const struct profile_reader *r, struct key m, const char *const *words, int *ret);

#endif
