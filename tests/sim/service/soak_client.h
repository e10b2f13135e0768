/* A client of the soak: executes in every way, and holds each result against what the same device
 * gives it alone. */
#ifndef TESTS_SOAK_CLIENT_H
#define TESTS_SOAK_CLIENT_H

#include "tests/support/hal_client.h"

/* The device of the soak. */
struct hal_driver *soak_device(void);

/* So many turns against the service at lab_path, which may die at any time: then it connects anew.
 * NULL, or what was wrong, with the turn's number. */
const char *soak_client_run(uint32_t seed, int turns);

#endif
