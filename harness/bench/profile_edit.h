/* Execution times in the text of a profile (TOML). */
#ifndef HARNESS_PROFILE_EDIT_H
#define HARNESS_PROFILE_EDIT_H

#include "harness/bench/calibrate.h"
#include "harness/check/buffer.h"

/* Appends the profile's text with the measured times in the sections performance and
 * performance.operand: the time of an entry that is there is replaced, its power and all else stay;
 * an entry that is not there is added, with a power of 1.  WHY_INVALID: an entry is not written as
 * KEY = { time = T, power = P } in one line. */
int profile_edit(const char *text, const struct calibration *c, struct buffer *ret_text,
                 struct why *w);

#endif
