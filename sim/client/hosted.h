/* Internals of targets whose driver has a process of its own: what sim/client/hosted*.c share. */
#ifndef SIM_HOSTED_H
#define SIM_HOSTED_H

#include "sim/client/case_run.h"
#include "sim/isolation/host_process.h"

/* Bytes of a pool before its output, and around each input. */
enum { HOSTED_LEAD = 64 };

struct hosted {
    struct host_process process;
    struct host_options options;
    struct hal_driver facade;  /* name and version, without methods */
    struct hal_driver *remote; /* all methods; NULL: not connected */
    bool is_served;
    uint64_t kept_run; /* that has kept its model prepared; 0: none */
    int (*attach)(int pid, void *user, struct why *w); /* as in struct target_host; NULL: done */
    char *profile;
    char name[64];
};

/* Memory of one run, or of an execution beside it, besides the outputs. */
struct lent_arrays {
    struct lent_region supported; /* of the run */
    struct lent_region shapes;
    uint8_t *block, *block_end; /* in which all inputs lie; NULL: each has a slot */
    uint8_t **input;            /* where each input lies; NULL: not lent */
};

/* Puts everything that the driver needs into shared memory; model NULL: for the one that it has
 * kept prepared.  l: of the run and of each execution beside it.  1: it does not fit. */
int hosted_put_case(struct case_run *c, const struct hal_model *model, bool trapping,
                    struct lent_arrays *l);
/* Sizes of the next process's memory that suffice for this case. */
void hosted_enlarge(struct case_run *c, const struct hal_model *m);
/* What the driver writes from now on is late. */
void hosted_take_back(const struct case_run *c, const struct lent_arrays *l);

/* The checks of a run in this process, in the same order.  As case_run_check_support(). */
int hosted_judge_answers(struct case_run *c, const struct hal_model *m,
                         const struct host_answers *a, const struct lent_arrays *l);
/* Whether the driver wrote before an output, as case_run_check_executed() wants to know. */
int hosted_check_output_memory(struct case_run *c);

/* After the death of the driver's process in a run: a crash at an address of the shared memory is
 * an access to what was not lent; the outcome then says to what. */
void hosted_classify_crash(struct case_run *c, const struct lent_arrays *l,
                           const struct host_death *d);

#endif
