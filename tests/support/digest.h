/* 64-bit digests of examples and results, to compare them between runs, builds and machines.
 * Equal digests of equal inputs on every machine of the same byte order; not cryptographic. */
#ifndef TESTS_DIGEST_H
#define TESTS_DIGEST_H

#include "golden/golden.h"

enum { DIGEST_NONE = 0 }; /* the digest of nothing: the first call's `digest` */

/* Each returns `digest` extended by: */

/* n bytes and their number; NULL: the number only. */
uint64_t digest_bytes(uint64_t digest, const void *bytes, size_t n);
/* The model (types, shapes, scales, constants, operations) and the values of its inputs. */
uint64_t digest_example(uint64_t digest, const struct example *e);
/* Types, shapes and values of the outputs. */
uint64_t digest_result(uint64_t digest, const struct result *r);

#endif
