/* One case against one target: run it, judge what comes out, say why. */
#ifndef HARNESS_CHECK_H
#define HARNESS_CHECK_H

#include "golden/golden.h"
#include "harness/check/buffer.h"
#include "harness/check/verdict.h"
#include "sim/sim.h"

/* AUTO: by what the spec expects where it expects something (cts), else by the reference (bound).
 */
enum judge_kind { JUDGE_AUTO, JUDGE_CTS, JUDGE_BOUND };
extern const char *const judge_name[]; /* "auto", "cts", "bound" */
extern const char *const stage_name[]; /* of enum stage: "supported", ... */

/* Everything that is kept of one case on one target.  Crosses a pipe as it is. */
struct check_result {
    enum verdict verdict;
    enum verdict was; /* of a waived one */
    enum judge_kind judge;
    char stage[16], status[40];
    char why[512];
    bool lost;          /* the target's HAL version could not say all of the model */
    double ms;          /* wall clock of the driver */
    uint64_t device_ns; /* HAL_NO_TIME: it did not say */
    uint64_t checked, wrong;
    /* The worst element. */
    int32_t output; /* -1: no outputs were compared */
    uint64_t element;
    double expected, actual, bound, ratio;
    char place[128], operation[64], type[40];
};

/* A case on its way through the targets.  What it knows of the reference is made when first needed.
 */
struct check {
    const struct example *example;
    enum judge_kind judge; /* CTS or BOUND */
    int level;             /* feature level that the model needs; -1: not known */
    bool referenced, have_result;
    bool itself; /* the target is the reference, always within its bounds: see check_judge() */
    struct plan *plan;
    struct result result;
    struct shape *out_shape; /* of the main graph's outputs: expected, computed or declared */
    char reference_why[480]; /* not empty: why there is no reference */
    bool by_layers;          /* judge operation by operation too: harness/check/per_op_check.h */
    struct example *layers;  /* made when first needed */
    uint32_t n_layers;
    struct arena *arena;
};

/* AUTO, resolved for this example. */
enum judge_kind check_resolve(const struct example *e, enum judge_kind asked);

/* The example must outlive it.  -1 only for faults of ours. */
int check_begin(struct check *c, const struct example *e, enum judge_kind asked, struct why *w);
void check_done(struct check *c);

/* Runs the reference where this judge or the sizes of outputs need it; at most once. */
void check_reference(struct check *c);

/* Runs the case on a target (a crash or hang takes the process with it), then judges: two steps, so
 * that one can tell in which one it died.  *o is done by check_judge(). */
int check_run(struct check *c, struct target *t, struct outcome *ret_outcome,
              struct check_result *ret_result);
/* By bound the reference would be compared with itself: then it is judged whether the values that
 * the example expects lie within the bounds, where it expects some.  detail: what each output looks
 * like, for people; may be NULL. */
void check_judge(struct check *c, struct outcome *o, struct check_result *r, struct buffer *detail);

/* The verdict of a case that did not come so far. */
struct check_result check_without_outcome(enum verdict v, enum judge_kind judge);

/* "CONV_2D", "extension 2:7", "operation 9999": what graphs and people call a code. */
const char *operation_name(int32_t code, char text[48]);
/* The type that stands for an operation's: of its first tensor operand. */
const char *operation_type(const struct graph *g, const struct operation *p);

#endif
