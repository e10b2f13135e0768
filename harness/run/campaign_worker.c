/* The worker's half of a campaign: runs one case at a time on every target and sends the verdicts.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden/base/logging.h"
#include "golden/base/trace.h"
#include "harness/check/per_op_check.h"
#include "harness/run/campaign_worker.h"
#include "harness/run/devices.h"
#include "reports/reports.h"

void worker_mark(struct worker_state *s, enum phase p, uint32_t target)
{
    worker_pool_mark(s->link, mark_of(s->is_blaming ? PHASE_BLAME : p, target));
}

/* A driver in another process has a time-out of its own. */
static void keep_alive(void *user)
{
    struct worker_state *s = user;
    if (s->link)
        worker_pool_keep_alive(s->link);
    debugger_look(&s->debugger);
}

static int attach_debugger(int pid, void *user, struct why *w)
{
    struct worker_state *s = user;
    return debugger_attach(&s->debugger, pid, w);
}

void campaign_end_worker(struct worker_pool_link *l, void *state, void *user)
{
    (void) user;
    struct worker_state *s = state;
    TRACE(LA, PT, "close the targets");
    s->link = l;
    for (uint32_t i = 0; i < MAX_TARGETS; i++)
        if (s->target[i].target)
            worker_close_target(s, i);
    debugger_wait(&s->debugger);
    arena_free(s->arena);
    spec_packer_free(s->packer);
    free(s);
}

/* Whether the workers and the processes of their drivers have a processor each. */
static bool has_processors(const struct campaign *c)
{
    uint64_t processes = 1;
    cpu_set_t set;
    for (uint32_t i = 0; i < c->n_targets; i++)
        processes += c->isolated[i];
    return sched_getaffinity(0, sizeof set, &set) == 0 &&
           c->options->jobs * processes <= (uint64_t) CPU_COUNT(&set);
}

struct target_host worker_host(struct worker_state *s)
{
    const struct campaign *c = s->campaign;
    struct target_host host = harness_host;
    host.reply_timeout = c->options->timeout;
    host.is_known = true;
    host.may_spin = has_processors(c);
    host.waiting = keep_alive;
    host.attach = c->options->gdb ? attach_debugger : NULL;
    host.user = s;
    return host;
}

int campaign_start_worker(void *user, void **ret_state, struct why *w)
{
    const struct campaign *c = user;
    struct worker_state *s = calloc(1, sizeof *s);
    TRACE(LA, PI, "open the targets");
    if (!s || !(s->arena = arena_new(0)) || !(s->packer = spec_packer_new())) {
        arena_free(s ? s->arena : NULL);
        free(s);
        return why_no_memory_for(w, "a worker");
    }
    s->campaign = c;
    const struct target_host host = worker_host(s);
    for (uint32_t i = 0; i < c->n_targets; i++) {
        s->target[i].isolated = c->isolated[i];
        if (target_open(c->target[i], &host, &s->target[i].target, w) < 0) {
            campaign_end_worker(NULL, s, user);
            return -1;
        }
    }
    *ret_state = s;
    return 0;
}

/* ---- a case */

static void send_error(struct worker_pool_link *l, const struct campaign *c, uint32_t from,
                       const struct why *w)
{
    struct check_result r = check_without_outcome(VERDICT_ERROR, c->judge);
    snprintf(r.why, sizeof r.why, "%s", w->text);
    for (uint32_t t = from; t < c->n_targets; t++)
        message_verdict(l, t, &r);
}

static void find_reference(struct check *check)
{
    TRACE(LA, PU, "reference");
    check_reference(check);
}

static int make_case(const struct cases *cases, uint64_t i, struct arena *a, struct example *ret,
                     struct why *w)
{
    TRACE(LA, PU, "make the case");
    TRY(cases_get(cases, i, a, ret, w));
    return VLOG_IS_ON(MODEL) ? graph_dump_log(&ret->model, ret->name, w) : 0;
}

/* The first target from `from` on that the case is to be run on; n_targets: none. */
static uint32_t first_to_run(const struct campaign *c, uint64_t ordinal, uint32_t from)
{
    struct check_result r;
    char name[CASE_NAME];
    cases_name(c->cases, ordinal, name);
    while (from < c->n_targets && expectations_skip(c->expectations, from, name, &r))
        from++;
    return from;
}

/* Runs the case on a target, unless a baseline skips it there.  False: it is not conforming. */
static bool run_target(struct worker_state *s, struct check *check, uint64_t ordinal, uint32_t t)
{
    const struct campaign *c = s->campaign;
    struct check_result r;
    char name[CASE_NAME];
    cases_name(c->cases, ordinal, name);
    if (!expectations_skip(c->expectations, t, name, &r))
        return worker_run_target(s, check, ordinal, t);
    r.judge = check->judge;
    message_verdict(s->link, t, &r);
    return true;
}

static void run_targets(struct worker_state *s, const struct example *e, uint64_t ordinal,
                        uint32_t step)
{
    const struct campaign *c = s->campaign;
    const uint32_t from = step & ~(uint32_t) STEP_FLAGS;
    uint32_t first = first_to_run(c, ordinal, from);
    struct check check;
    struct why why = { 0 };
    bool wants_spec = step & STEP_SPEC;
    uint32_t end = s->is_again ? from + 1 : c->n_targets;
    if (check_begin(&check, e, c->judge, &why) < 0) {
        send_error(s->link, c, from, &why);
        return;
    }
    variation_choose(&check, &c->cases->ways);
    check.by_layers = c->cases->spec || per_op_check_is_drawn(e->name); /* files: deep models */
    if (step & STEP_BLAME || first < c->n_targets) {
        worker_mark(s, PHASE_REFERENCE, first < c->n_targets ? first : 0);
        find_reference(&check);
    }
    if (from == 0 && !s->is_again)
        message_case(s->link, e, check.level, c->results ? s->arena : NULL);
    if (step & STEP_BLAME)
        worker_blame_death(s, &check, from - 1);
    for (uint32_t t = from; t < end; t++)
        if (!run_target(s, &check, ordinal, t))
            wants_spec = true;
    check_done(&check);
    if (wants_spec && c->results && !s->is_again) {
        worker_mark(s, PHASE_SPEC, 0);
        message_spec(s->link, s->packer, e);
    }
}

void campaign_work(struct worker_pool_link *l, uint64_t item, uint32_t step, void *state,
                   void *user)
{
    const struct campaign *c = user;
    struct worker_state *s = state;
    struct arena_mark mark = arena_mark(s->arena);
    struct example e;
    struct why why = { 0 };
    uint32_t from = step & ~(uint32_t) STEP_FLAGS;
    s->link = l;
    s->is_again = step & STEP_AGAIN;
    worker_mark(s, PHASE_MAKE, from);
    if (make_case(c->cases, campaign_item(c, item), s->arena, &e, &why) < 0)
        send_error(l, c, from, &why);
    else
        run_targets(s, &e, campaign_item(c, item), step);
    arena_rewind(s->arena, mark);
}
