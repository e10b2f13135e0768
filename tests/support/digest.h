/* A number that stands for every bit of an example: to compare runs, builds and machines. */
#ifndef TESTS_DIGEST_H
#define TESTS_DIGEST_H

#include "golden/golden.h"

enum { DIGEST_NONE = 0 };

uint64_t digest_bytes(uint64_t digest, const void *bytes, size_t n);
uint64_t digest_example(uint64_t digest, const struct example *e);
uint64_t digest_result(uint64_t digest, const struct result *r);

#endif
