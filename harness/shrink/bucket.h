/* Buckets: failures whose shrunk cases have the same structure. */
#ifndef HARNESS_BUCKET_H
#define HARNESS_BUCKET_H

#include "golden/edit/edit.h"
#include "harness/check/check.h"
#include "harness/shrink/shrink.h"

/* "fail CONV_2D(TENSOR_FLOAT32; stride)": the kind of verdict, the operations of the main graph
 * with the type of their first tensor (8-bit ones without their sign) and the attributes that are
 * not plain, without side or dimension.  Shapes, values and subgraphs do not count.  s: the way of
 * execution in which it fails, if not plainly, which is part of the name without its numbers: "fail
 * in the way burst" where any operation does.
 */
void bucket_name(const struct edit *c, const struct check_result *r, const struct shrunk *s,
                 char name[SHRINK_BUCKET]);

#endif
