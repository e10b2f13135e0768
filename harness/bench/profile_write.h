/* Profiles as TOML. */
#ifndef HARNESS_PROFILE_WRITE_H
#define HARNESS_PROFILE_WRITE_H

#include "harness/check/buffer.h"

struct json_t;

/* Appends an object as TOML: members of it that contain objects become sections, other objects
 * inline tables.  What a profile does not have (null) is left out. */
void profile_write(const struct json_t *profile, struct buffer *to);

#endif
