/* One case on one target: run it, judge its outputs, and explain the verdict. */
#ifndef HARNESS_CHECK_H
#define HARNESS_CHECK_H

#include "golden/golden.h"
#include "harness/check/buffer.h"
#include "harness/check/variation.h"
#include "harness/check/verdict.h"
#include "sim/sim.h"

/* CTS: with the tolerances of the NNAPI suites, against the outputs that the spec expects.  BOUND:
 * against the reference, within the bound computed for each element.  AUTO: CTS where the spec
 * expects outputs (or a failure), else BOUND.  RULES: the rules of `halcyon conform`, not an
 * option.
 */
enum judge_kind { JUDGE_AUTO, JUDGE_CTS, JUDGE_BOUND, JUDGE_RULES };
extern const char *const judge_name[]; /* "auto", "cts", "bound", "rules" */
extern const char *const stage_name[]; /* of enum stage: "supported", ... */

enum { CHECK_WHY = 2560 }; /* bytes: the findings of a rule (harness/conform) have room */

/* How an output's numbers are stored: real = (stored - zero) * scale. */
struct element_units {
    double scale; /* 0: not quantised, or not known */
    double zero;
    bool is_stored; /* the numbers of a result are stored ones, as the judge `cts` compares them */
};

/* The operations that a failure comes from (harness/check/blame.h), and their own worst element; of
 * `unsupported` the first operation that is not supported. */
struct blamed {
    uint32_t count;     /* of operations; 0: none, `why` may tell the reason */
    uint32_t graph;     /* that they are in; 0: the main graph */
    uint32_t operation; /* index of the first one */
    uint32_t of;        /* operations that the graph has; 0: not known */
    char name[160];     /* "CONV_2D"; several: "CONV_2D (3), RELU (5)", with their indexes */
    char why[480];      /* how they fail alone; of `unsupported`: operation_signature() */
    int32_t output;     /* and what follows: as in struct check_result */
    char place[128], type[40];
    double expected, actual, bound, ratio;
    struct element_units units;
};

/* How much too large the result of an operation is (golden/judge/gain.h). */
struct check_gain {
    uint32_t operation; /* of the main graph */
    int32_t code;
    int32_t dtype; /* of the output */
    struct gain_sample sample;
};

enum { CHECK_GAINS = 8 };

/* The result of one case on one target.  Workers send it through a pipe byte for byte: no pointers.
 */
struct check_result {
    enum verdict verdict;
    enum verdict was; /* of VERDICT_FLAKY: the verdict of the first run; of VERDICT_WAIVED: the
                         verdict that a baseline expects, VERDICT_WAIVED: the case was not run */
    uint32_t attempts, failed_attempts; /* runs with --rerun, the first one included, and those that
                                           did not conform; 0: run once */
    enum judge_kind judge;
    char stage[16], status[40]; /* names, as in the database */
    char why[CHECK_WHY];        /* explanation; "" for a plain pass */
    bool died;                  /* the driver's process, which is not the worker's */
    int32_t signal;             /* that it died of; 0: of none */
    char confirmed[160];        /* of a death that was run again: "repeats", "does not repeat; after
                                   case random/v2/s1/i3"; else "" */
    bool lost;               /* converting the model to the target's HAL version lost something */
    double ms;               /* wall clock in the driver */
    uint64_t device_ns;      /* time on device; HAL_NO_TIME: not reported */
    uint64_t checked, wrong; /* elements compared (a pass with 0: check_judge()); those outside
                                their bound */
    /* The worst element: ratio = |actual - expected| / bound. */
    int32_t output;   /* index among the model's outputs; -1: none was compared */
    uint64_t element; /* row-major index in it */
    double expected, actual, bound, ratio;
    struct element_units units;
    char place[128], operation[64], type[40]; /* "[0,3,2]"; producer and type of the output */
    bool varied;          /* the plain run conforms; the verdict is that of another way of execution
                             (harness/check/variation.h) */
    struct blamed blamed; /* of a verdict that is not conforming, or unsupported */
    /* Of results judged by bound: one per operation, of the first CHECK_GAINS. */
    struct check_gain gain[CHECK_GAINS];
    uint32_t n_gains;
};

enum { WORST_TEXT = 320 };
/* "worst [0,3]: expected 234 (5.22), got 255 (6.25), off by 21 steps, allowed error 0 (0), ratio
 * inf": stored and real numbers of a quantised output, else real ones.  Returns ret_text. */
char *worst_text(const struct check_result *r, char ret_text[WORST_TEXT]);
char *worst_text_of_blamed(const struct blamed *b, char ret_text[WORST_TEXT]);

/* Adds a gain, unless the result has one of that operation. */
void check_add_gain(struct check_result *r, const struct check_gain *g);

struct parts; /* harness/check/part.h */

/* A case while it runs on one target after another.  Reference and single operations are computed
 * when first needed and kept for the next targets. */
struct check {
    const struct example *example;
    enum judge_kind judge; /* CTS or BOUND */
    int level;             /* feature level that the model needs; -1: not known */
    uint64_t reference_ns; /* processor time of check_reference(), of all threads */
    bool referenced, have_result;
    bool itself; /* the target is `golden`: see check_judge() */
    struct plan *plan;
    struct result result;
    bool half;               /* model_is_half() */
    uint32_t *writer;        /* per output of the main graph: the operation; UINT32_MAX: none */
    struct shape *out_shape; /* of the main graph's outputs: expected, computed or declared */
    char reference_why[480]; /* why there is no reference result; "" if there is one or none needed
                              */
    bool is_varied;          /* also run in another way: */
    struct variation variation;
    bool by_layers;      /* also run operation by operation: harness/check/per_op_check.h */
    struct parts *parts; /* check_parts(); NULL: not needed yet, or parts_why */
    char parts_why[240];
    struct arena *arena;
};

/* The judge for this example: `asked`, with AUTO resolved to CTS or BOUND. */
enum judge_kind check_resolve(const struct example *e, enum judge_kind asked);

/* Starts a check of an example, which must outlive it.  Fails only when out of memory. */
int check_begin(struct check *c, const struct example *e, enum judge_kind asked, struct why *w);
void check_done(struct check *c);

/* Determines the model's feature level and, where the judge or the sizes of outputs need it, runs
 * the reference; later calls do nothing.  A failure is kept in reference_why. */
void check_reference(struct check *c);
/* ns by which this case extends the time-out of a target: 20 times the processor time of the
 * reference, whose matrix products are optimised; a driver that simulates its hardware is slower.
 */
uint64_t check_extra_ns(const struct check *c);

/* Runs the case on a target, after check_reference().  Separate from check_judge() so that the
 * parent can distinguish whether a worker died in the driver or while judging.  Returns -1, with
 * verdict `error` and the reason in *ret_result, for an error of Halcyon's own; else *ret_outcome
 * is to be passed to check_judge(), which frees it. */
int check_run(struct check *c, struct target *t, struct outcome *ret_outcome,
              struct check_result *ret_result);
/* The same with these options. */
int check_run_as(struct check *c, struct target *t, const struct target_run_options *options,
                 struct outcome *ret_outcome, struct check_result *ret_result);
/* Judges an outcome into *r and frees it.  A pass compares at least one element, or all that there
 * is: the failure of the execution, where the example requires that, or the shapes, where no output
 * has elements.  Otherwise the verdict is UNDECIDED.  With target `golden` and judge BOUND, where
 * the reference would be compared with itself, the values that the example expects are judged
 * instead, if any. detail: gets lines of text about each output; may be NULL. */
void check_judge(struct check *c, struct outcome *o, struct check_result *r, struct buffer *detail);

/* A result without an outcome: the verdict of a case whose process died or that could not be run.
 */
struct check_result check_without_outcome(enum verdict v, enum judge_kind judge);

/* After the last run of --rerun: says in `confirmed` how many of the attempts failed, and makes a
 * verdict that some of them do not share VERDICT_FLAKY.  Does nothing for a case that was run once.
 */
void check_settle_attempts(struct check_result *r);

/* Name of an operation code: "CONV_2D", "extension 2:7", "operation 9999".  Uses text or returns a
 * static string. */
const char *operation_name(int32_t code, char text[48]);
/* The element type that an operation is counted under: that of its first tensor operand, "none"
 * without one. */
const char *operation_type(const struct graph *g, const struct operation *p);

#endif
