/* The two halves of a campaign: workers that judge cases, the parent that keeps the verdicts.
 *
 * Messages of a worker about a case, by their first byte:
 *
 *     MESSAGE_CASE     level, n_operations, then lines "OPERATION<tab>TYPE"
 *     MESSAGE_DETAIL   lines about each output, for the verdict that follows
 *     MESSAGE_VERDICT  target, struct check_result
 *     MESSAGE_SPEC     length of the spec, the spec, the graph as dot
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

/* What a worker is at: phase, and the target where it has one. */
enum phase { PHASE_MAKE, PHASE_REFERENCE, PHASE_TARGET, PHASE_JUDGE, PHASE_SPEC };
enum { MARK_PHASE_BITS = 8 };
static inline uint32_t mark_of(enum phase p, uint32_t target)
{
    return target << MARK_PHASE_BITS | (uint32_t) p;
}

/* A step of an item is the first target that is still to run, and whether the case's spec is to be
 * sent although this worker has not seen it fail. */
enum { STEP_SPEC = 1 << 30 };

uint64_t campaign_item(const struct campaign *c, uint64_t item);

/* struct crew_work of the worker; user is the struct campaign. */
int campaign_start_worker(void *user, void **ret_state, struct why *w);
void campaign_end_worker(void *state, void *user);
void campaign_work(struct crew_link *l, uint64_t item, uint32_t step, void *state, void *user);

#endif
