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

/* Puts members into one bucket if they have the same target and (common hypotheses: of .matching)
 * - the same structure;
 * - or the same failure in operations that are computed alike (kin.h), of one kind of types, with
 *   the same attributes, or with one attribute and more of them, or of the same operation with more
 *   of them; one of the hypotheses that match the shrunk cases matches both, or none matches one of
 *   them; and one element suffices for both operations or for neither, unless they have a common
 *   hypothesis.  Of different types: with the same shapes, where one element does not suffice, with
 *   a common hypothesis, if at least two operations fail in both, in one operation where one
 *   element suffices and no hypothesis matches, or in operations that only copy elements or run
 *   subgraphs;
 * - or the same failure, a common hypothesis and a common attribute;
 * - or the same failure and a common hypothesis or attribute, that three kinds of operations have,
 *   or five operations of two kinds; one about storing results, of the shrunk cases only
 *   (.possible) where none matches, that four kinds of operations have;
 * - or the same failure in five kinds of operations of one kind of types, with plain attributes and
 *   no hypothesis that matches;
 * - or failures that are not about values (a rule of the HAL that is broken): whatever they are, in
 *   one operation; the same one in operations that are computed alike, in several operations and
 *   one of these alone, or in three kinds of operations, also with cases of several operations;
 * - or crashes or hangs with a common attribute; a crash or hang and wrong numbers of operations
 * that are computed alike, of one kind of types, where the attributes of one include those of the
 *   other, and are none only in one operation;
 * - or operations that are wrong together only: those that are computed alike, or five combinations
 *   of them, with those in a subgraph of IF or WHILE;
 * - or wrong numbers in the same output, not the first of several, of three kinds of operations;
 * - or a verdict that is not about values, if plain operations that have nothing to do with a case
 *   fail as it does;
 * - or the same way of execution, other than the plain one, in which they fail: if any operation
 *   does in it, or operations of two kinds; or the same failure in ways that have a part in common,
 *   or one of which has all parts of the other: of wrong numbers, if this holds for both, or for
 *   the one with fewer parts;
 * - or the same failure in six kinds of operations that share a bucket by these rules, and in an
 *   operation that no hypothesis explains.
 * What shares a bucket with a second member shares it with those of the second. */
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
