/* Resources that this process uses: descriptors, threads, mappings, memory. */
#ifndef HARNESS_CONFORM_USAGE_H
#define HARNESS_CONFORM_USAGE_H

#include "harness/conform/conform.h"

struct conform_usage {
    long descriptors, threads, mappings, resident_mib;
};
struct conform_usage conform_usage_now(void);

/* Checks that n calls since `before` have left fewer than one descriptor, thread and mapping in ten
 * of them, and less than 128 MiB: allocators keep some. */
void conform_expect_usage(struct conform *c, const struct conform_usage *before, long n,
                          const char *what);

#endif
