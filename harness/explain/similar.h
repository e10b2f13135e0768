/* Cases similar to the one that is explained: its operation with other values, sizes, attributes
 * and quantisation, run on the device.  Several hypotheses may explain one case; they differ in
 * others, also in those where the device is right. */
#ifndef HARNESS_SIMILAR_H
#define HARNESS_SIMILAR_H

#include "harness/check/check.h"
#include "harness/explain/subject.h"

/* What a case is run on, and how. */
struct on_target {
    struct target *t;
    const struct variation *way; /* NULL: plainly */
};

/* Runs an example and judges it by bound, also in another way if there is one; *ret_out: the
 * outputs that *ret is about, in the check's arena; NULL: none.  check_done() follows, but after
 * -1: out of memory.  A process that died is replaced. */
int on_target_run(const struct on_target *on, const struct example *e, struct check *c,
                  struct check_result *ret, struct tensor **ret_out, struct why *w);

/* Mutations with the same operation and types, always the same ones: in turn of the subject's
 * example, and of the last similar case that is wrong. */
struct similar {
    const struct subject *s;
    struct on_target on;
    uint32_t most;  /* cases to be run, at most */
    uint32_t drawn; /* mutations */
    bool died;
    uint32_t run, wrong; /* cases whose results can be compared; those of them that are wrong */
    struct similar_case {
        struct arena *arena; /* NULL: there is none */
        struct example *example;
        struct check check;
        bool is_run, is_wrong;
    } last, last_wrong;
};

void similar_begin(struct similar *c, const struct subject *s, const struct on_target *on);
/* 1: *ret is the next one, until the next call; 0: there is none; -1: out of memory.  A driver that
 * dies ends them. */
int similar_next(struct similar *c, struct subject *ret, struct why *w);
/* Allows more cases, once.  False: there are as many already, or the driver has died. */
bool similar_add_more(struct similar *c);
void similar_end(struct similar *c);

#endif
