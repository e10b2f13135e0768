/* Checks one rule on an open driver, and after it that the driver answers and executes as before.
 */
#ifndef HARNESS_CONFORM_CHECK_H
#define HARNESS_CONFORM_CHECK_H

#include "harness/conform/conform.h"

/* Opens the driver for rules at that version (0: the driver's own).  *s holds open, keep_alive,
 * user and may_fall_back. */
int conform_begin(struct conform *c, struct conform_state *s, enum hal_version version,
                  struct why *w);
/* Checks a rule that applies; then, that the driver answers as before its first rule, is available,
 * and executes a small model as after earlier rules, in the ways in which rules have executed. */
void conform_check(struct conform *c, const struct conform_rule *r,
                   struct conform_progress *progress, struct conform_result *ret_result);
/* Closes the driver. */
void conform_end(struct conform *c);

#endif
