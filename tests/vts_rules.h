/* The rules that conformance suites check of a driver, as data: their names as the suites'
 * description numbers them, the HAL version that they begin with, and the program that tests them
 * on every device, in this process and over a socket, at every version. */
#ifndef TESTS_VTS_RULES_H
#define TESTS_VTS_RULES_H

#include "sim/hal.h"

struct vts_rule {
    const char *name;              /* "B3" */
    const char *program;           /* tests/test_vts_<program>.c */
    enum hal_version since, until; /* until 0: all later ones too */
    const char *text;
};
extern const struct vts_rule vts_rules[];
extern const int vts_n_rules;

#endif
