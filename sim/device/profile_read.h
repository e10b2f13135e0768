/* Reading typed values out of a profile's JSON, with messages that name the key. */
#ifndef SIM_PROFILE_READ_H
#define SIM_PROFILE_READ_H

#include <jansson.h>

#include "sim/device/profile.h"

struct reader {
    const char *file;
    struct arena *arena;
    struct why *w;
};

/* Where in the file: "performance.operand.FLOAT32".  The root has no parent. */
struct place {
    const struct place *parent;
    const char *key; /* NULL: an element of an array */
    size_t index;
};

/* "FILE: KEY: expected WHAT, found VALUE"; -1. */
int read_complain(const struct reader *r, const struct place *at, const char *expected,
                  const json_t *found);

/* Every key of the object is one of `known` (ended by NULL). */
int read_known(const struct reader *r, const struct place *at, const json_t *object,
               const char *const *known);

/* Members of an object; absent ones leave *ret as it is, unless they are required. */
struct member {
    const struct place *at; /* of the object */
    const json_t *object;
    const char *key;
    bool required;
};
int read_text(const struct reader *r, struct member m, const char **ret);
int read_number(const struct reader *r, struct member m, double least, double *ret);
int read_count(const struct reader *r, struct member m, uint64_t most, uint64_t *ret);
int read_count32(const struct reader *r, struct member m, uint32_t most, uint32_t *ret);
int read_flag(const struct reader *r, struct member m, bool *ret);
/* An object or array; *ret NULL when absent. */
int read_object(const struct reader *r, struct member m, const json_t **ret);
int read_array(const struct reader *r, struct member m, const json_t **ret);

/* One of a list of words; ret: its index. */
int read_word(const struct reader *r, struct member m, const char *const *words, int *ret);

#endif
