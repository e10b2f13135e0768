/* The entry point that every fuzz target defines; libFuzzer calls it, and replay.c without
 * libFuzzer. */
#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* Passes the bytes to the code under test; aborts if a property does not hold.  Returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

/* A target with a structure-aware mutator (tests/fuzz/mutate/) defines these, too. */

/* Changes the input, which has room for `max` bytes; returns its new length. */
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t length, size_t max, unsigned seed);
/* Writes a mixture of two inputs to `to`, which has `max` bytes; returns its length, 0: none. */
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t n_a, const uint8_t *b, size_t n_b,
                                 uint8_t *to, size_t max, unsigned seed);

#endif
