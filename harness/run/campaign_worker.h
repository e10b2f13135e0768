/* The worker's half of a campaign: the state of a worker, its messages, and one case on one target.
 */
#ifndef HARNESS_CAMPAIGN_WORKER_H
#define HARNESS_CAMPAIGN_WORKER_H

#include "harness/run/campaign_internal.h"
#include "harness/run/debugger.h"
#include "reports/packed_spec.h"
#include "sim/sim.h"

/* RECENT_RUNS: after so many runs the memory that was lent to a hosted driver is compared. */
enum { RECENT_RUNS = 64, HISTORY = 256, MAX_SIGNATURES = 64 };

/* A run of a hosted driver, and the case that it was of. */
struct past_run {
    uint64_t run; /* struct outcome.run */
    uint64_t ordinal;
};

/* Deaths of drivers that are alike, and how many of them were seen again. */
struct driver_death {
    uint64_t digest;
    unsigned n_confirmed;
};

/* A target in a worker. */
struct worker_target {
    struct target *target; /* NULL: not open */
    bool isolated;         /* the driver has a process of its own */
    uint64_t late_of; /* one of these runs, or the current one, may have written late; 0: none */
    struct past_run history[HISTORY]; /* of a hosted driver, in turn */
    uint64_t n_history;
    uint32_t n_recent; /* the last ones of these: their memory has not been compared yet */
    struct driver_death death[MAX_SIGNATURES];
    uint32_t n_deaths;
    uint64_t n_runs;     /* in the driver's present process */
    uint32_t n_searches; /* for cases that wrote to memory which was not lent */
    struct process_size {
        long descriptors, threads, kilobytes;
    } warm; /* of the driver's process, after its first runs */
};

struct worker_state {
    const struct campaign *campaign;
    struct worker_pool_link *link;
    struct worker_target target[MAX_TARGETS];
    struct arena *arena; /* of the case at hand */
    struct spec_packer *packer;
    bool is_again;      /* a run for --rerun: a death is not confirmed by another */
    bool is_blaming;    /* marks are PHASE_BLAME: the verdict has been sent */
    uint64_t open_case; /* 1 + the case whose verdict has been sent, but not its end; 0: none */
    struct debugger debugger;
};

/* What the targets of this worker are opened with. */
struct target_host worker_host(struct worker_state *s);
/* Sets the mark, for the phase of a target. */
void worker_mark(struct worker_state *s, enum phase p, uint32_t target);

/* harness/run/worker_target.c */

/* Runs and judges the case on target t, confirms the death of a driver, and sends the verdict.
 * False: it is not conforming. */
bool worker_run_target(struct worker_state *s, struct check *check, uint64_t ordinal, uint32_t t);
/* For the death of a driver in its worker, whose verdict is known: searches for the operation to
 * blame with that driver in a process of its own. */
void worker_blame_death(struct worker_state *s, struct check *check, uint32_t t);
/* Compares the memory that was lent, closes the driver and amends verdicts accordingly. */
void worker_close_target(struct worker_state *s, uint32_t t);

/* harness/run/worker_messages.c */

/* scratch: NULL without coverage. */
void message_case(struct worker_pool_link *l, const struct example *e, int level,
                  struct arena *scratch);
/* Sends nothing for an empty text. */
void message_text(struct worker_pool_link *l, enum message_kind kind, const char *text);
void message_verdict(struct worker_pool_link *l, uint32_t target, const struct check_result *r);
void message_blame(struct worker_pool_link *l, uint32_t target, const struct blamed *b);
void message_spec(struct worker_pool_link *l, struct spec_packer *k, const struct example *e);
/* Replaces the verdict of an earlier case, of which e is the example.  In one message: several
 * workers may end at the same time. */
void message_amend(struct worker_pool_link *l, struct spec_packer *k, uint32_t target,
                   uint64_t ordinal, const struct check_result *r, const char *printed,
                   const char *backtrace, const struct example *e);
void message_note(struct worker_pool_link *l, uint32_t target, const char *text);

#endif
