/* What the main() of a Check program does when its cases have been made. */
#ifndef TESTS_CHECK_MAIN_H
#define TESTS_CHECK_MAIN_H

#include <check.h>

/* Runs the cases, of which the last is followed by NULL, as the suite `name`, in the way that
 * Check's own variables ask for (CK_VERBOSITY, CK_FORK, CK_RUN_CASE ...).  Returns what main()
 * returns: 0 when every test has passed, else 1. */
__attribute__((sentinel)) int check_main(const char *name, TCase *first, ...);

#endif
