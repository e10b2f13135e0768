/* FarmHash's 64-bit fingerprint, the hash function of LSH_PROJECTION; its authors guarantee that it
 * does not change. */
#ifndef GOLDEN_FINGERPRINT_H
#define GOLDEN_FINGERPRINT_H

#include <stddef.h>
#include <stdint.h>

uint64_t fingerprint64(const void *bytes, size_t n);

#endif
