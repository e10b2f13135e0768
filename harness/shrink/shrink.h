/* Shrinking: makes a failing case smaller and plainer while it fails in the same way.
 *
 * A case is changed by one reduction after another (table in shrink.c): fewer operations and
 * operands, smaller dimensions, default attributes, plain values, plain types and quantisation.  A
 * change is kept if the model is valid, the reference runs it, and the target gives the same kind
 * of verdict for it, in a new process of its driver.  The order is fixed and nothing is drawn: the
 * same case, target and number of executions give the same result. */
#ifndef HARNESS_SHRINK_H
#define HARNESS_SHRINK_H

#include <signal.h>
#include <stdio.h>

#include "harness/check/check.h"
#include "harness/shrink/symptom.h"

enum { SHRINK_EXECUTIONS_DEFAULT = 4000, SHRINK_SECONDS_DEFAULT = 60, SHRINK_BUCKET = 512 };

struct shrink_request {
    const struct example *example;
    enum judge_kind judge;             /* as asked for: AUTO is resolved */
    struct ways ways;                  /* in which the case is also run, if plainly it conforms */
    const char *target;                /* URI */
    double timeout;                    /* seconds for one execution */
    uint64_t executions;               /* the most that are made; 0: the default */
    double seconds;                    /* after which it ends at the latest; 0: the default */
    const volatile sig_atomic_t *stop; /* ends it when not 0; NULL: nothing does */
    void (*tick)(void *user);          /* called before each execution; NULL: nothing is */
    void *user;
};

enum shrink_end {
    SHRINK_COMPLETE,   /* no reduction applies any more */
    SHRINK_EXECUTIONS, /* the number of executions is used up */
    SHRINK_SECONDS,    /* the time is */
    SHRINK_STOPPED
};

struct shrunk {
    struct arena *arena;        /* owns the rest */
    struct example example;     /* with operand names; with expected values if CTS judges it */
    struct check_result first;  /* of the case as it was */
    struct check_result result; /* of the example */
    bool is_varied;             /* it fails in another way than plainly: */
    struct variation variation; /* as plain as it can be */
    bool is_any;                /* so do all operations of the case alone */
    bool everywhere;            /* so do plain operations that have nothing to do with the case */
    char structure[SHRINK_BUCKET]; /* of the example: bucket_structure() */
    struct symptom symptom;
    enum shrink_end end;
    uint64_t executions, deaths; /* deaths: of the driver's process */
    double seconds;
    uint32_t n_operations; /* of the main graph */
    size_t n_elements;     /* of the largest operand */
};

/* Shrinks a case.  1: it conforms when it is run alone; ret->first has its verdict.  -1: an error
 * of Halcyon's own, or a case that cannot be shrunk.  The result is freed with shrunk_done(). */
int shrink_case(const struct shrink_request *request, struct shrunk *ret, struct why *w);
void shrunk_done(struct shrunk *s);

/* Writes the example as a specification that reads like a test written by hand: operands are named
 * by their roles, comments give their meaning; the header has the case `name` that it was, the
 * target, the verdict, the worst element and the commands that repeat both.  path: that of the
 * file, for those commands; NULL: none. */
int shrunk_write(const struct shrunk *s, const struct shrink_request *request, const char *name,
                 const char *path, FILE *to, struct why *w);

#endif
