/* Suites of Check, one per test file.  The test files of a room are linked into one program, which
 * `room_main.c` gives its main(): test_x.c defines `Suite *x_suite(void)`, and the build defines
 * SUITES as SUITE(x) of each file of the room. */
#ifndef TESTS_CHECK_MAIN_H
#define TESTS_CHECK_MAIN_H

#include <check.h>

#ifdef SUITES
#define SUITE(name) Suite *name##_suite(void);
SUITES
#undef SUITE
#endif

/* Returns a new suite of the cases, the last of which is followed by NULL. */
__attribute__((sentinel)) Suite *make_suite(const char *name, TCase *first, ...);

/* Runs the runner's suites as Check's variables specify (CK_VERBOSITY, CK_FORK, CK_RUN_CASE ...)
 * and frees it.  Returns main()'s exit status: 0 if every test has passed, else 1. */
int run_suites(SRunner *runner);

/* The same for one suite. */
int run_suite(Suite *suite);

/* Moves this process to the first processor that it may use; fails the test if it cannot. */
void pin_to_one_processor(void);

#endif
