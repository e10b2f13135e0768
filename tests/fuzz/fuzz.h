/* The entry point that every fuzz target defines; libFuzzer calls it, and replay.c without
 * libFuzzer. */
#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* Passes the bytes to the code under test; aborts if a property does not hold.  Returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

#endif
