/* Finds out which operations a target supports, and in which types, with small random models of one
 * operation each, in a worker process. */
#ifndef HARNESS_OP_SUPPORT_H
#define HARNESS_OP_SUPPORT_H

#include "golden/golden.h"

enum { SUPPORT_OPS = 256 };

/* By index in op_table; in each word a bit per enum dtype. */
struct support {
    uint32_t asked[SUPPORT_OPS];     /* a model could be generated */
    uint32_t supported[SUPPORT_OPS]; /* a model was supported */
};

/* timeout: seconds for one operation and type.  A driver that hangs or dies ends the query with
 * WHY_INVALID. */
int support_query(const char *uri, double timeout, struct support *ret_support, struct why *w);

#endif
