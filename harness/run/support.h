/* Which operations a target supports, and in which types: asked with small models, one for each
 * operation and type, in a worker process. */
#ifndef HARNESS_SUPPORT_H
#define HARNESS_SUPPORT_H

#include "golden/golden.h"

enum { SUPPORT_OPS = 256 };

/* By index in op_table: bit per enum dtype. */
struct support {
    uint32_t asked[SUPPORT_OPS];
    uint32_t supported[SUPPORT_OPS];
};

/* timeout: seconds for one question.  A driver that hangs or dies at one is not asked any more. */
int support_ask(const char *uri, double timeout, struct support *ret_support, struct why *w);

#endif
