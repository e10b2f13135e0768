/* Which operation a failure comes from.
 *
 * After a failure each operation is run alone, in order of execution, on the values that the
 * reference computes for it; those of IF's and WHILE's subgraphs too, on the values of their
 * executions 1, 2, 4, 8, ... and the last one.  The first one that fails as the case does is
 * blamed.  Where there is none, the smallest part of the main graph that fails is searched for by
 * leaving out operations at its end, at its beginning, and in between: operations that are right
 * alone and wrong together. */
#ifndef HARNESS_BLAME_H
#define HARNESS_BLAME_H

#include "harness/check/check.h"

enum { BLAMED_TEXT = 768 }; /* bytes of blamed_text() */
enum { BLAME_RUNS = 1024, BLAME_CUT_RUNS = 128, BLAME_HANGS = 8 };

struct blame_options {
    uint32_t most_runs; /* executions in all; 0: BLAME_RUNS */
    /* Before each execution; may be NULL. */
    void (*before_run)(void *user);
    /* Before the driver is restarted, which loses the memory that was lent to it; may be NULL. */
    void (*before_restart)(void *user);
    void *user;
};

struct blame {
    uint32_t graph, operation; /* the blamed operation, of a part the first one; UINT32_MAX: none */
    int32_t code;              /* of that operation */
    bool is_alone;             /* it fails alone; else only together with others */
    bool is_any;               /* so do other operations: the failure is not one of numbers, and not
                                * of this operation; blame_summary() blames none */
    uint32_t first, count;     /* the part: its first operation; number of operations, 0: none */
    uint32_t *member;          /* the operations of the part in order of execution; in the check's
                                * arena */
    uint32_t runs;             /* executions */
    bool ran_out;              /* the limit of executions ended the search: the part may be larger
                                * than necessary, or nothing is blamed */
    char why[240];             /* why nothing is blamed; "": something is */
    struct check_result own;   /* of the part run alone: its own worst element; judged by bound */
};

/* Whether failures with this verdict have a cause that blame_find() can look for: not `error`. */
bool blame_applies(const struct check *c, const struct check_result *failed);
/* Whether a part with this result fails as the case did: both wrong outputs (`fail`, `violation`),
 * or the same verdict. */
bool blame_is_alike(const struct check_result *failed, const struct check_result *part);

/* Searches for the cause of `failed`, the result of c on t.  Restarts the driver after a death.
 * *ret is always set.  -1: the reference does not compute the values, or memory ran out; ret->why
 * and *w have the reason. */
int blame_find(struct check *c, struct target *t, const struct check_result *failed,
               const struct blame_options *options, struct blame *ret, struct why *w);

/* The form in which the blame belongs to a result. */
struct blamed blame_summary(const struct check *c, const struct blame *b);
/* "operation 3 (CONV_2D, TENSOR_FLOAT32) alone: ...", or why none is blamed; "" without a failure.
 * Returns ret_text. */
char *blamed_text(const struct blamed *b, char *ret_text, size_t size);
/* By which operation a verdict is classified: the blamed ones, where nothing is blamed `writer`,
 * that of the worst output (may be NULL). */
const char *blamed_operation(const struct blamed *b, const char *writer);

enum { FAILURE_KIND = 320 };
/* The kind of a failure, besides its target and verdict: the operations by which it is classified,
 * without their indexes, and the type: "CONV_2D TENSOR_FLOAT32".  must_fail: the execution had to
 * fail, by an operation that is known.  Returns the length of the operations. */
size_t failure_kind(const char *operation, const char *type, bool must_fail,
                    char ret_text[FAILURE_KIND]);
/* That of a result.  Returns ret_text. */
char *failure_kind_of(const struct check_result *r, char ret_text[FAILURE_KIND]);

#endif
