/* --rerun N: a case that does not conform on a target is run again on it N times, each time in a
 * new worker, and so in a new process of the driver.  A case that conforms in some of the N + 1
 * runs is flaky.  It is not complete, and not recorded, before the last run. */
#include <signal.h>
#include <stdio.h>

#include "harness/run/campaign_internal.h"

/* An error of Halcyon's own says nothing about the driver. */
static bool is_rerun(const struct check_result *r)
{
    return !verdict_conforming(r->verdict) && r->verdict != VERDICT_ERROR;
}

/* Chooses the target of the next run. */
static bool next_run(const struct campaign *c, struct active_case *f, uint32_t *ret_step)
{
    for (; f->again < c->n_targets; f->again++) {
        struct check_result *r = &f->verdict[f->again].result;
        if (!is_rerun(r))
            continue;
        if (!r->attempts)
            r->attempts = r->failed_attempts = 1;
        if (r->attempts > c->options->rerun)
            continue;
        f->is_again = f->again_failed = true;
        f->again_kills = 0;
        *ret_step = STEP_AGAIN | f->again;
        return true;
    }
    return false;
}

int campaign_take_again(uint64_t item, uint32_t *ret_step, void *user, struct why *w)
{
    struct campaign *c = user;
    struct active_case *f = campaign_case(c, item);
    struct why incomplete;
    if (!f)
        return why_no_memory(w);
    if (!c->options->rerun || (!f->is_again && campaign_check_verdicts(c, f, &incomplete) < 0))
        return 0;
    if (f->is_again) {
        f->verdict[f->again].result.attempts++;
        f->verdict[f->again].result.failed_attempts += f->again_failed;
    } else {
        campaign_settle_death(c, f);
    }
    if (next_run(c, f, ret_step))
        return 1;
    f->is_again = false;
    for (uint32_t t = 0; t < c->n_targets; t++)
        check_settle_attempts(&f->verdict[t].result);
    return 0;
}

int campaign_count_death(struct active_case *f, const struct worker_pool_death *d,
                         uint32_t *ret_step)
{
    *ret_step = STEP_AGAIN | f->again;
    return d->signal == SIGKILL && ++f->again_kills < KILLS_BELIEVED;
}
