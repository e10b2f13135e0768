/* Executions in other ways.
 *
 * In a share of the cases the model is executed once more after the plain run, which must be
 * conforming: asynchronously, in a burst, with fences or as a reusable execution; several times at
 * once, from threads; with other inputs in between; with its arguments in buffers of the driver, in
 * other pools or at other offsets; prepared with another preference and priority, or from the
 * cache.  Only the last ones prepare it again.  What is drawn depends on the case's name only: on
 * seed and index of a random case. The results are judged like the plain ones.  Another status or
 * shape is a violation.  Other bits are noted, and a violation on the shipped devices. */
#ifndef HARNESS_VARIATION_H
#define HARNESS_VARIATION_H

#include "harness/check/buffer.h"
#include "sim/sim.h"

struct check;
struct check_result;

/* A way of execution. */
struct variation {
    enum execution_way way;
    struct target_variation vary; /* without n_beside */
    uint32_t at_once;             /* executions at once, 1 to 1 + TARGET_MOST_BESIDE */
};
enum { VARIATION_TEXT = 192 };

/* "burst,low-power,at-once=3": first how it is executed, then what is not plain.  Returns ret. */
char *variation_text(const struct variation *v, char ret[VARIATION_TEXT]);
/* WHY_INVALID: not such a text. */
int variation_parse(const char *text, struct variation *ret, struct why *w);
/* Makes part `i` of the way plain or plainer; false: it is already. */
bool variation_simplify(struct variation *v, uint32_t i);
enum { VARIATION_PARTS = 12 };

/* Which cases are run in which way: the value of --ways. */
struct ways {
    double share;  /* of the cases from files; the name of a random case has its own */
    bool is_given; /* all cases in this way: */
    struct variation given;
};
/* "0.2", or as variation_parse(). */
int ways_parse(const char *text, struct ways *ret, struct why *w);
/* Returns ret; "0" for none. */
char *ways_text(const struct ways *ways, char ret[VARIATION_TEXT]);
bool ways_any(const struct ways *ways);
/* Sets whether and how the check is run in another way, which depends on its example's name only.
 */
void variation_choose(struct check *c, const struct ways *ways);
/* Whether the way uses the model as the plain run has prepared it. */
bool variation_uses_prepared(const struct variation *v);

/* The example with the other inputs of execution k + 2 of those at once, without expected values;
 * in the arena.  The reference may reject them.  -1: out of memory. */
int variation_other_inputs(const struct example *of, uint32_t k, struct arena *a,
                           struct example *ret, struct why *w);

/* What came of a run, to compare it with that of another. */
struct run_outputs {
    bool is_done;
    enum hal_status status;
    uint32_t n; /* 0, if it is not done */
    struct shape *shape;
    uint64_t *digest; /* of the bytes */
};
/* Copies it from an outcome, into the arena.  False: the execution did not end, with a status, or
 * out of memory. */
bool run_outputs_take(const struct outcome *o, struct arena *a, struct run_outputs *ret);

/* What the driver's process has printed and its backtrace, malloced; NULL: none. */
struct variation_texts {
    char *printed, *backtrace;
};

/* After a plain run of a check that is varied, with the result *r and these outputs (NULL: it has
 * none), and no run on the target since: if *r conforms, runs and judges the case in its way.  A
 * failure becomes *r; a difference in bits is added to its explanation.  A line to detail, which
 * may be NULL.  Of a failure in wrong outputs of the case's own inputs, *ret_out are its outputs,
 * in the check's arena, else it is unchanged; ret_out may be NULL.  *ret_texts: those
 * of a failure that was found here, both NULL otherwise; may be NULL. */
void variation_run(struct check *c, struct target *t, const struct run_outputs *plain,
                   struct check_result *r, struct buffer *detail, struct tensor **ret_out,
                   struct variation_texts *ret_texts);

/* Runs and judges a check plainly, and in its way if it has one.  *ret_out (may be NULL): the
 * outputs that *r is about, in the check's arena; NULL: none. */
void variation_check(struct check *c, struct target *t, struct check_result *r,
                     struct buffer *detail, struct tensor **ret_out);

/* The explanation of a result without the words about the way. */
const char *variation_reason(const struct check_result *r);

#endif
