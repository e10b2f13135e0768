/* The protocol between the two halves of a campaign: workers that run and judge cases, and the
 * parent, which records the verdicts.
 *
 * Messages of a worker about a case, by their first field, an enum message_kind:
 *
 *     MESSAGE_CASE       level, n_operations, lines "OPERATION<tab>TYPE", then, from `coverage` on,
 *                        the lines of struct case_row.coverage
 *     MESSAGE_DETAIL     lines about each output, for the verdict that follows
 *     MESSAGE_PRINTED    what the driver printed in this case, for the verdict that follows
 *     MESSAGE_BACKTRACE  of the driver's crash, for the verdict that follows
 *     MESSAGE_VERDICT    target, struct check_result; replaces an earlier one of this case
 *     MESSAGE_BLAME      target, struct blamed: of the failure whose verdict was sent before
 *     MESSAGE_SPEC       length of the spec, the spec, the graph as DOT
 *     MESSAGE_AMEND      replaces the conforming verdict of an earlier case: the new verdict, its
 *                        texts, the spec and graph of that case
 *     MESSAGE_NOTE       target, text: a note about the target for the whole run
 *
 * The parent keeps what belongs to a case in memory until the case is complete, then writes it
 * (campaign_case.c).  When a worker dies in a case, it is run again in a new one
 * (campaign_deaths.c). */
#ifndef HARNESS_CAMPAIGN_INTERNAL_H
#define HARNESS_CAMPAIGN_INTERNAL_H

#include "harness/run/campaign.h"
#include "harness/run/devices.h"
#include "harness/run/worker_pool.h"

/* A death that is like MOST_CONFIRMED others which repeated is believed without running the case
 * again. */
enum { MOST_CONFIRMED = 3 };

enum message_kind {
    MESSAGE_CASE,
    MESSAGE_DETAIL,
    MESSAGE_VERDICT,
    MESSAGE_SPEC,
    MESSAGE_PRINTED,
    MESSAGE_BACKTRACE,
    MESSAGE_AMEND,
    MESSAGE_NOTE,
    MESSAGE_BLAME
};

struct case_message {
    uint32_t kind;
    int32_t level;
    uint32_t n_operations;
    uint32_t coverage; /* length of the lines before it */
};

struct verdict_message {
    uint32_t kind, target;
    struct check_result result;
};

struct blame_message {
    uint32_t kind, target;
    struct blamed blamed;
};

struct spec_message {
    uint32_t kind, reserved;
    uint64_t spec_length;
};

struct amend_message {
    uint32_t kind, target;
    uint64_t ordinal; /* of the case: campaign_item() */
    uint64_t spec_length, printed_length, backtrace_length;
    struct check_result result;
};

struct note_message {
    uint32_t kind, target;
};

/* A mark: the phase that a worker has reached, and the index of the target, 0 where there is none.
 */
enum phase { PHASE_MAKE, PHASE_REFERENCE, PHASE_TARGET, PHASE_JUDGE, PHASE_SPEC, PHASE_BLAME };
enum { MARK_PHASE_BITS = 8 };
static inline uint32_t mark_of(enum phase p, uint32_t target)
{
    return target << MARK_PHASE_BITS | (uint32_t) p;
}

/* The step of an item: the index of the first target still to run, and STEP_SPEC when the case
 * failed in an earlier worker, so that its spec must be sent in any case; with STEP_AGAIN, the only
 * target of a run for --rerun, of which nothing but the verdict is sent; with STEP_BLAME, the
 * driver of the target before has died in its worker: the operation to blame is searched for first.
 */
enum {
    STEP_SPEC = 1 << 30,
    STEP_AGAIN = 1 << 29,
    STEP_BLAME = 1 << 28,
    STEP_FLAGS = STEP_SPEC | STEP_AGAIN | STEP_BLAME
};

/* Index of a case in c->cases, from its number among those still to run. */
uint64_t campaign_item(const struct campaign *c, uint64_t item);

/* ---- the parent */

/* Texts of a verdict; NULL: none. */
struct case_texts {
    char *detail, *printed, *backtrace;
};

struct target_verdict {
    bool known;
    bool settled; /* the verdict of a death, which messages do not replace */
    struct check_result result;
    struct case_texts texts;
};

/* A case that a worker is running. */
struct active_case {
    uint64_t item;
    int level; /* and what follows up to spec: as in struct case_row */
    uint32_t n_operations;
    char *operations, *coverage;
    char *spec;
    size_t spec_length;
    struct target_verdict *verdict; /* one per target */
    struct case_texts next;         /* of the verdict that follows */

    uint32_t first_step; /* at which the worker began with the case */
    unsigned n_deaths;
    unsigned n_alike; /* deaths in the phase and on the target of `death`, not settled yet */
    struct worker_pool_death death;

    /* --rerun (campaign_reruns.c): */
    bool is_again;        /* all targets have verdicts; the case is being run again */
    bool again_failed;    /* in the run in progress, until a conforming verdict arrives */
    uint32_t again;       /* target that it is run again on */
    unsigned again_kills; /* of this run, by SIGKILL */
};

/* The case of an item; a new one if there is none.  NULL: out of memory. */
struct active_case *campaign_case(struct campaign *c, uint64_t item);
/* Sets the verdict on a target; takes the texts collected for it. */
void campaign_set_verdict(struct active_case *f, uint32_t target, const struct check_result *r);
void campaign_free_texts(struct case_texts *t);
void campaign_free_cases(struct campaign *c);
/* Makes room for the verdicts of the cases with ordinals below `end`. */
int campaign_reserve_verdicts(struct campaign *c, uint64_t end, struct why *w);
/* The place of a verdict in c->verdict; NULL: there is no room for it. */
unsigned char *campaign_verdict(const struct campaign *c, uint64_t ordinal, uint32_t target);
/* The command that runs this case alone on this target. */
void campaign_put_replay(const struct campaign *c, uint64_t ordinal, uint32_t target,
                         struct buffer *b);
/* Counts how much too large the results of a random graph are (campaign_gains.c). */
int campaign_add_gains(struct campaign *c, uint64_t ordinal, uint32_t target,
                       const struct check_result *r, struct why *w);
/* After the last case: keeps a note about each operation whose results are too large or too small.
 */
int campaign_note_gains(struct campaign *c, struct why *w);
/* Keeps a note, once. */
int campaign_keep_note(struct campaign *c, uint32_t target, const char *text, struct why *w);

/* Fails with WHY_INVALID for a case without a verdict on some target. */
int campaign_check_verdicts(const struct campaign *c, const struct active_case *f, struct why *w);

/* The callbacks message, again, complete and died of struct worker_pool_work. */
int campaign_take_message(uint64_t item, const void *bytes, size_t length, void *user,
                          struct why *w);
int campaign_take_again(uint64_t item, uint32_t *ret_step, void *user, struct why *w);
int campaign_take_complete(uint64_t item, void *user, struct why *w);
int campaign_take_death(uint64_t item, const struct worker_pool_death *d, uint32_t *ret_step,
                        void *user, struct why *w);
/* Gives a death that was not seen again its verdict, if it has one.  Does nothing without one. */
void campaign_settle_death(struct campaign *c, struct active_case *f);
void campaign_free_signatures(struct campaign *c);
/* The death of a worker while the case is run again: the result of campaign_take_death(). */
int campaign_count_death(struct active_case *f, const struct worker_pool_death *d,
                         uint32_t *ret_step);

/* ---- the worker */

/* The callbacks start, end and item of struct worker_pool_work; user is the struct campaign. */
int campaign_start_worker(void *user, void **ret_state, struct why *w);
void campaign_end_worker(struct worker_pool_link *l, void *state, void *user);
void campaign_work(struct worker_pool_link *l, uint64_t item, uint32_t step, void *state,
                   void *user);

#endif
