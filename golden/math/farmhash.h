/* FarmHash's 64-bit fingerprint, the hash function of LSH_PROJECTION; its authors guarantee that it
 * does not change. */
#ifndef GOLDEN_FARMHASH_H
#define GOLDEN_FARMHASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t farmhash64(const void *bytes, size_t n);

#endif
