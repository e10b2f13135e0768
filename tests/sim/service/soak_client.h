/* A client of the soak test: executes in every kind of execution, and compares each result with
 * that of the same device in its own process. */
#ifndef TESTS_SOAK_CLIENT_H
#define TESTS_SOAK_CLIENT_H

#include "tests/support/hal_client.h"

/* The device of the soak test; closed by the caller. */
struct hal_driver *soak_device(void);

/* Runs `runs` executions against the service at lab_path, and connects again whenever that dies.
 * Returns NULL, or a text with the first wrong result or status; it is overwritten by the next
 * call. */
const char *soak_client_run(uint32_t seed, int runs);

#endif
