/* The protocol between the two halves of a campaign: workers that run and judge cases, and the
 * parent, which records the verdicts.
 *
 * Messages of a worker about a case, by their first field, an enum message_kind:
 *
 *     MESSAGE_CASE     level, n_operations, then lines "OPERATION<tab>TYPE"
 *     MESSAGE_DETAIL   lines about each output, for the verdict that follows
 *     MESSAGE_VERDICT  target, struct check_result
 *     MESSAGE_SPEC     length of the spec, the spec, the graph as DOT
 */
#ifndef HARNESS_CAMPAIGN_INTERNAL_H
#define HARNESS_CAMPAIGN_INTERNAL_H

#include "harness/run/campaign.h"
#include "harness/run/worker_pool.h"

enum message_kind { MESSAGE_CASE, MESSAGE_DETAIL, MESSAGE_VERDICT, MESSAGE_SPEC };

struct case_message {
    uint32_t kind;
    int32_t level;
    uint32_t n_operations;
};

struct verdict_message {
    uint32_t kind, target;
    struct check_result result;
};

struct spec_message {
    uint32_t kind, reserved;
    uint64_t spec_length;
};

/* A mark: the phase that a worker has reached, and the index of the target, 0 where there is none.
 */
enum phase { PHASE_MAKE, PHASE_REFERENCE, PHASE_TARGET, PHASE_JUDGE, PHASE_SPEC };
enum { MARK_PHASE_BITS = 8 };
static inline uint32_t mark_of(enum phase p, uint32_t target)
{
    return target << MARK_PHASE_BITS | (uint32_t) p;
}

/* The step of an item: the index of the first target still to run, and STEP_SPEC when the case
 * failed in an earlier worker, so that its spec must be sent in any case. */
enum { STEP_SPEC = 1 << 30 };

/* Index of a case in c->cases, from its number among those still to run. */
uint64_t campaign_item(const struct campaign *c, uint64_t item);

/* The callbacks start, end and item of struct worker_pool_work; user is the struct campaign. */
int campaign_start_worker(void *user, void **ret_state, struct why *w);
void campaign_end_worker(void *state, void *user);
void campaign_work(struct worker_pool_link *l, uint64_t item, uint32_t step, void *state,
                   void *user);

#endif
