/* FarmHash's 64-bit fingerprint, by which LSH_PROJECTION hashes (published by its authors as stable
 * for ever). */
#ifndef GOLDEN_FINGERPRINT_H
#define GOLDEN_FINGERPRINT_H

#include <stddef.h>
#include <stdint.h>

uint64_t fingerprint64(const void *bytes, size_t n);

#endif
