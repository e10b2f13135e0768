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

/* After the death of the driver's process in a run: a crash at an address of the shared memory is
 * an access to what was not lent; the outcome then says to what. */
void hosted_classify_crash(struct case_run *c, const struct lent_arrays *l,
                           const struct host_death *d);

#endif
