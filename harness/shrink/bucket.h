/* Buckets: failures that probably have one cause. */
#ifndef HARNESS_BUCKET_H
#define HARNESS_BUCKET_H

#include "golden/edit/edit.h"
#include "harness/check/check.h"
#include "harness/shrink/shrink.h"

/* "fail CONV_2D(TENSOR_FLOAT32; stride)": the structure of a shrunk case: the kind of verdict, the
 * operations of the main graph ("fail to reject GATHER(...)" where their execution must fail) with
 * the type of their first tensor (8-bit ones without their sign) and the attributes that are not
 * plain, without side or dimension.  Shapes, values and subgraphs do not count.  s: the way of
 * execution in which it fails, if not plainly, which is part of the name without its numbers: "fail
 * in the way burst" where any operation does.
 */
void bucket_structure(const struct edit *c, const struct check_result *r, const struct shrunk *s,
                      char name[SHRINK_BUCKET]);

/* A kind of failures of which one was shrunk. */
struct bucket_member {
    uint32_t target;
    const char *structure;
    const struct symptom *symptom;
    /* Set by buckets_find(): */
    uint32_t bucket;   /* the first member of its bucket */
    bool way_is_wrong; /* any operation fails in its way, or operations of two kinds do */
};

/* Puts members into one bucket that share what hardly anything but one cause explains: the rules
 * are a table in bucket.c, and in docs/shrinking.md in words.  What shares a bucket with a second
 * member shares it with those of the second. */
void buckets_find(struct bucket_member *m, uint32_t n);

/* A kind of failures of which no case was shrunk. */
struct bucket_rest {
    uint32_t target;
    enum verdict verdict;
    bool is_together; /* several operations fail, only together */
};
/* The bucket that they probably belong to: one with nine of ten of the members with that target and
 * verdict, of several operations or of one, and six kinds of operations (three, if it is not about
 * values), five combinations of operations, or a failure that plain operations have, too.  False:
 * there is none; *ret is undefined. */
bool bucket_of_rest(const struct bucket_member *m, uint32_t n, const struct bucket_rest *rest,
                    uint32_t *ret);

/* The structure, if the members of a bucket have the same one; else "fail ADD, SUB
 * (TENSOR_FLOAT32; activation): broadcast": their operations, types, the attributes that all have,
 * and a hypothesis that at least half of them have. */
void bucket_name(const struct bucket_member *m, uint32_t n, uint32_t bucket,
                 char name[SHRINK_BUCKET]);

#endif
