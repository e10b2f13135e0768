/* The requirements on a driver that conformance suites check, as data: one row per rule, with the
 * number or name that the suites' description gives it, the first HAL version that it applies to,
 * and the test program that checks it on every device, in this process and over a socket, at every
 * version (tests/vts_matrix.h).
 *
 * The texts are for authors of drivers: each states what a conforming driver does.  Program and
 * name together identify a rule. */
#ifndef TESTS_VTS_RULES_H
#define TESTS_VTS_RULES_H

#include "sim/hal.h"

struct vts_rule {
    const char *name;              /* "B3" */
    const char *program;           /* tests/test_vts_<program>.c */
    enum hal_version since, until; /* of the driver; until 0: all later versions too */
    const char *text;              /* what the driver must do; one line */
};
extern const struct vts_rule vts_rules[];
extern const int vts_n_rules;

#endif
