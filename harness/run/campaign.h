/* Runs cases on targets: distributes them over worker processes, counts the verdicts, and passes
 * them to the console and to the results database.  Shared by `run`, `random` and `replay`. */
#ifndef HARNESS_CAMPAIGN_H
#define HARNESS_CAMPAIGN_H

#include <signal.h>

#include "harness/check/cases.h"
#include "harness/cli/console.h"
#include "harness/cli/options.h"
#include "harness/policy/expectations.h"
#include "harness/shards/shard_file.h"
#include "harness/shards/shard_key.h"
#include "harness/store/results.h"

struct active_case;
struct death_signature;

/* Why a campaign ended with cases that were not run. */
enum campaign_end { CAMPAIGN_COMPLETE, CAMPAIGN_STOPPED, CAMPAIGN_FAILURES, CAMPAIGN_TIME };

struct campaign {
    /* Set by the caller, who owns what is pointed to. */
    const struct options *options;
    const struct cases *cases;
    enum judge_kind judge;
    const char *const *target; /* URIs */
    uint32_t n_targets;
    struct expectations *expectations; /* NULL: none */
    struct results *results;           /* NULL: nothing is recorded */
    struct shard_key key;              /* of a campaign that is recorded */
    struct shard_file file;            /* with --atomic, until it is complete */
    bool details;                      /* a replay: explain every output, print no replay command */
    /* The driver runs in a process of its own: the death of a worker is not its fault. */
    bool isolated[MAX_TARGETS];
    /* What device_probe() found wrong with a target: the verdict of the shard's first case, unless
     * that has another fault.  VERDICT_PASS: nothing. */
    struct {
        enum verdict verdict;
        char why[256], printed[2048], backtrace[2048];
    } fault[MAX_TARGETS];

    /* Filled in by the run; freed by campaign_done(). */
    struct totals totals[MAX_TARGETS];
    struct console console;
    uint64_t n_planned; /* cases of this shard; of rules: on all targets */
    uint64_t n_items;   /* those of them that are still to run */
    uint64_t *item;     /* their indexes; NULL: every n_shards-th case, from shard - 1 on */
    uint64_t done;
    enum campaign_end end;
    struct active_case *active_case; /* cases in progress */
    uint32_t n_active_cases;
    /* By case of this shard and target: 0: not known, else the verdict + 1. */
    unsigned char *verdict;
    uint64_t verdict_capacity; /* cases */
    struct target_note *note;
    uint32_t n_notes;
    struct bucket_count *bucket; /* harness/shrink/shrink_failures.h; freed by campaign_done() */
    uint32_t n_buckets;
    struct bucket_count *unsupported; /* by signature, the most frequent first; likewise */
    uint32_t n_unsupported;
    struct gain_count *gain; /* by target, operation and type: campaign_gains.c */
    uint32_t n_gains;
    struct death_signature *signature; /* of deaths that were confirmed */
    uint32_t n_signatures;
};

/* After device_probe(): keeps and prints what is wrong with the target, if anything is. */
struct device_facts;
void campaign_set_fault(struct campaign *c, uint32_t target, const struct device_facts *facts,
                        const struct why *why);

/* Number of cases, of `n`, in the shard that the options select. */
uint64_t campaign_shard(const struct options *o, uint64_t n);

/* For a resumed run: counts the verdicts that the database has for the current run, removes their
 * cases from those still to run, and loads its notes. */
int campaign_skip_done(struct campaign *c, struct why *w);
/* Counts the verdicts, makes c->verdict of them, and loads the notes, only. */
int campaign_load_done(struct campaign *c, struct why *w);
/* Whether a verdict of the case on the target is known. */
bool campaign_is_done(const struct campaign *c, uint64_t ordinal, uint32_t target);

/* For cases that are not run by campaign_run(), and end on one target at a time: applies the
 * expectations to the verdict, counts it, and writes it with the case.  `suite` as in struct
 * case_row.  Sets those of `texts` to NULL that a conforming verdict does not have. */
int campaign_add_verdict(struct campaign *c, uint64_t ordinal, uint32_t target, const char *suite,
                         struct check_result *r, struct verdict_texts *texts, struct why *w);
/* Before the first case: notes what confines the drivers of isolated targets, or does not. */
int campaign_begin_isolation(struct campaign *c, struct why *w);
/* Shows the progress and commits what was written; to be called several times a second. */
int campaign_tick(void *campaign, struct why *w);
/* Whether --max-failures or --for end the campaign; sets c->end. */
bool campaign_has_enough(void *campaign);

/* Runs all remaining cases, until --max-failures or --for, or `stop` (see struct
 * worker_pool_options); c->end says which.  -1: an error of Halcyon's own. */
int campaign_run(struct campaign *c, const volatile sig_atomic_t *stop, struct why *w);
void campaign_done(struct campaign *c);

/* Number of verdicts so far that are not conforming. */
uint64_t campaign_failures(const struct campaign *c);

#endif
