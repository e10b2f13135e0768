/* The difference between two sets of recorded verdicts of the same cases. */
#ifndef HARNESS_RUN_DIFF_H
#define HARNESS_RUN_DIFF_H

#include "golden/base/arena.h"
#include "harness/policy/baseline.h"
#include "harness/policy/shift.h"
#include "harness/store/recorded.h"

enum change {
    CHANGE_BROKEN,  /* conformed, and does not any more */
    CHANGE_LOST,    /* passed, and conforms without a comparison: not supported any more */
    CHANGE_MENDED,  /* the reverse of broken */
    CHANGE_GAINED,  /* the reverse of lost */
    CHANGE_FAILURE, /* fails in both, with another verdict, stage, status or operation */
    CHANGE_NEW,     /* only in B */
    CHANGE_GONE,    /* only in A */
    CHANGE_KINDS
};
extern const char *const change_name[CHANGE_KINDS]; /* "broken", ... */
/* Whether B is worse for such a change. */
bool change_breaks(enum change c);

/* A verdict of one side.  What a baseline expected counts as the failure that it is; cases that
 * were not run are left out. */
struct diff_case {
    const char *name;
    int64_t case_id;
    struct verdict_class class;
    bool measured; /* the outputs are available: the times are those of a complete execution */
    double ms;
    int64_t device_ns;
    double ratio; /* of the worst error to its bound; NaN: nothing was compared */
};

struct case_change {
    enum change change;
    const struct diff_case *a, *b; /* NULL: not on this side */
};

/* A quantity of the cases on both sides. */
enum quantity { QUANTITY_TIME, QUANTITY_DEVICE_TIME, QUANTITY_ERROR, QUANTITIES };
extern const char *const quantity_name[QUANTITIES]; /* "time", "device time", "error ratio" */

struct operation_shift {
    const char *operation;
    struct shift shift; /* relative to the median of all cases */
};
struct case_shift {
    const struct diff_case *a, *b;
    double before, after;
};
struct quantity_diff {
    struct shift all;
    struct operation_shift *operation; /* those that are shifted, the farthest first */
    uint32_t n_operations;
    struct case_shift *cases; /* likewise, single cases far outside of the usual variation */
    uint32_t n_cases;
};

/* The comparison of two targets. */
struct target_diff {
    const char *a, *b; /* URIs */
    uint64_t in_both;
    uint64_t n[CHANGE_KINDS];
    struct case_change *change; /* by kind, then name */
    uint32_t n_changes;
    struct quantity_diff quantity[QUANTITIES];
};

/* One side: an open database and what of it is compared. */
struct diff_side {
    struct results *results;
    struct recorded_filter filter;
    struct described_run run;
};

/* Compares a target of A with one of B.  Everything is allocated in arena. */
int target_diff(struct diff_side *a, const char *uri_a, struct diff_side *b, const char *uri_b,
                double threshold, struct arena *arena, struct target_diff *ret, struct why *w);

#endif
