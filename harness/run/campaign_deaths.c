/* Deaths of workers.  After a death the case is run again, from where the worker began with it:
 *
 *     it dies in the same phase    the death gets a verdict, which "repeats"; the next worker
 *                                  continues after that target; if it was the driver that died,
 *                                  it searches first, with the driver in a process of its own,
 *                                  for the operation to blame
 *     it does not die              a signal other than SIGKILL, an exit or a hang in a driver that
 *                                  shares the worker's process gets a verdict that "does not
 *                                  repeat"; after any other death only the second run counts
 *
 * A worker that dies while it searches for the operation to blame has sent the verdict already.
 * The case is run again only after a SIGKILL, which may come from outside.
 *
 * After MOST_CONFIRMED deaths of one signature that repeat, further ones are not run again. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden/base/array.h"
#include "harness/check/buffer.h"
#include "harness/run/campaign_internal.h"

enum { DEATHS_BELIEVED = 2 };

/* What makes two deaths alike, and how many of them were confirmed. */
struct death_signature {
    char *text;
    unsigned n_confirmed;
};

/* ---- where it died */

static enum phase phase_of(const struct worker_pool_death *d)
{
    return d->mark & ((1u << MARK_PHASE_BITS) - 1);
}

static uint32_t target_of(const struct worker_pool_death *d)
{
    return d->mark >> MARK_PHASE_BITS;
}

static const char *who_died(const struct campaign *c, const struct worker_pool_death *d)
{
    switch (phase_of(d)) {
    case PHASE_MAKE: return "the generator";
    case PHASE_REFERENCE: return "the reference";
    case PHASE_TARGET: return c->isolated[target_of(d)] ? "a worker of halcyon" : "the driver";
    case PHASE_JUDGE: return "the judge";
    default: return "the writer of the specification";
    }
}

/* In the driver's code, which shares the worker's process. */
static bool in_driver(const struct campaign *c, const struct worker_pool_death *d)
{
    return phase_of(d) == PHASE_TARGET && !c->isolated[target_of(d)];
}

/* ---- the verdict */

static void describe_death(const struct worker_pool_death *d, const char *who,
                           struct check_result *r)
{
    const char *at = d->step < TARGET_STEPS ? target_step_text[d->step] : "";
    const char *space = *at ? " " : "";
    if (*at)
        snprintf(r->stage, sizeof r->stage, "%s", stage_name[target_stage_of[d->step]]);
    if (d->nonsense[0])
        snprintf(r->why, sizeof r->why, "%s falsifies the worker's messages%s%s: %s", who, space,
                 at, d->nonsense);
    else if (d->hang)
        snprintf(r->why, sizeof r->why, "%s exceeds the time-out%s%s", who, space, at);
    else if (d->signal)
        snprintf(r->why, sizeof r->why, "%s crashes with signal %d (%s)%s%s", who, d->signal,
                 strsignal(d->signal), space, at);
    else
        snprintf(r->why, sizeof r->why, "%s exits the process%s%s with status %d", who, space, at,
                 d->exit_status);
    if (d->last_output[0])
        text_append(r->why, sizeof r->why, "; its output: %s", d->last_output);
    r->ms = d->seconds * 1e3;
}

/* A death in the driver is a crash or hang; in Halcyon's own code it is an error. */
static void set_death(struct campaign *c, struct active_case *f, uint32_t target,
                      const struct worker_pool_death *d, const char *confirmed)
{
    uint64_t i = campaign_item(c, f->item);
    enum judge_kind judge = c->cases->spec ? check_resolve(&c->cases->spec[i].example, c->judge)
                            : c->judge == JUDGE_CTS ? JUDGE_CTS
                                                    : JUDGE_BOUND;
    enum verdict v = !in_driver(c, d) ? VERDICT_ERROR : d->hang ? VERDICT_HANG : VERDICT_CRASH;
    struct check_result r = check_without_outcome(v, judge);
    describe_death(d, who_died(c, d), &r);
    snprintf(r.confirmed, sizeof r.confirmed, "%s", confirmed);
    campaign_set_verdict(f, target, &r);
    f->verdict[target].settled = true;
}

void campaign_settle_death(struct campaign *c, struct active_case *f)
{
    const struct worker_pool_death *d = &f->death;
    if (!f->n_alike)
        return;
    f->n_alike = 0;
    if (!in_driver(c, d) || d->signal == SIGKILL)
        return;
    char confirmed[CASE_NAME + 64] = "does not repeat; in the first case of its process";
    if (!d->is_first) {
        char name[CASE_NAME];
        cases_name(c->cases, campaign_item(c, d->after), name);
        snprintf(confirmed, sizeof confirmed, "does not repeat; after case %s", name);
    }
    set_death(c, f, target_of(d), d, confirmed);
}

/* ---- signatures */

static int compare_lines(const void *a, const void *b)
{
    return strcmp(*(char *const *) a, *(char *const *) b);
}

/* Appends the names of the operations, each once, in order of their names. */
static void put_operations(const char *operations, struct buffer *b)
{
    char *copy = strdup(operations ? operations : ""), *rest = copy, *line;
    size_t n = 0, lines = 1;
    for (const char *at = copy; at && (at = strchr(at, '\n')); at++)
        lines++;
    char **name = calloc(lines, sizeof *name);
    while (copy && name && (line = strsep(&rest, "\n"))) {
        line[strcspn(line, "\t")] = 0;
        name[n++] = line;
    }
    if (name)
        qsort(name, n, sizeof *name, compare_lines);
    for (size_t i = 0; i < n; i++)
        if (!i || strcmp(name[i], name[i - 1]) != 0)
            buffer_printf(b, " %s", name[i]);
    free(name);
    free(copy);
}

/* NULL: out of memory, and the death is confirmed. */
static struct death_signature *signature_of(struct campaign *c, const struct active_case *f,
                                            const struct worker_pool_death *d)
{
    struct buffer b = { 0 };
    buffer_printf(&b, "%u %u %d %d %d %s", d->mark, d->step, d->hang, d->signal, d->exit_status,
                  d->nonsense);
    put_operations(f->operations, &b);
    for (uint32_t i = 0; i < c->n_signatures; i++)
        if (!strcmp(c->signature[i].text, buffer_text(&b))) {
            buffer_done(&b);
            return &c->signature[i];
        }
    struct death_signature *all = array_room(c->signature, c->n_signatures, sizeof *all);
    if (all)
        c->signature = all;
    if (!all || b.failed) {
        buffer_done(&b);
        return NULL;
    }
    all[c->n_signatures] = (struct death_signature){ .text = b.data };
    return &all[c->n_signatures++];
}

void campaign_free_signatures(struct campaign *c)
{
    for (uint32_t i = 0; i < c->n_signatures; i++)
        free(c->signature[i].text);
    free(c->signature);
    c->signature = NULL;
    c->n_signatures = 0;
}

/* ---- believing */

/* Counts the death, and decides whether it is believed. */
static bool believe(struct campaign *c, struct active_case *f, const struct worker_pool_death *d)
{
    bool alike = f->n_alike && f->death.mark == d->mark;
    if (!alike)
        campaign_settle_death(c, f);
    f->n_alike++;
    f->n_deaths++;
    f->death = *d;
    struct death_signature *s = d->signal == SIGKILL ? NULL : signature_of(c, f, d);
    if (s && s->n_confirmed >= MOST_CONFIRMED)
        return true;
    if (f->n_alike < (d->signal == SIGKILL ? KILLS_BELIEVED : DEATHS_BELIEVED) &&
        f->n_deaths < KILLS_BELIEVED * (c->n_targets + 1))
        return false;
    if (s)
        s->n_confirmed++;
    return true;
}

/* Discards what the dead worker sent: the next one sends it again. */
static void begin_again(const struct campaign *c, struct active_case *f)
{
    for (uint32_t t = f->first_step & ~(uint32_t) STEP_FLAGS; t < c->n_targets; t++)
        f->verdict[t].known = f->verdict[t].settled;
    campaign_free_texts(&f->next);
}

/* In the search for the operation to blame: the verdict is known already. */
static int lose_blame(struct active_case *f, const struct worker_pool_death *d, uint32_t *ret_step)
{
    struct blamed *b = &f->verdict[target_of(d)].result.blamed;
    *b = (struct blamed){ .output = -1 };
    snprintf(b->why, sizeof b->why, "not known: the search for it %s",
             d->hang ? "exceeded the time-out" : "ended the process of its worker");
    *ret_step = f->first_step = (target_of(d) + 1) | STEP_SPEC;
    return 1;
}

int campaign_take_death(uint64_t item, const struct worker_pool_death *death, uint32_t *ret_step,
                        void *user, struct why *w)
{
    struct campaign *c = user;
    struct active_case *f = campaign_case(c, item);
    struct worker_pool_death d = *death;
    if (!f)
        return why_no_memory(w);
    if (f->is_again)
        return campaign_count_death(f, death, ret_step);
    if (phase_of(&d) > PHASE_BLAME || target_of(&d) >= c->n_targets)
        d.mark = mark_of(PHASE_MAKE, 0); /* or overwritten by a driver */
    bool in_blame = phase_of(&d) == PHASE_BLAME && f->verdict[target_of(&d)].known;
    if (in_blame && (d.hang || d.signal != SIGKILL || believe(c, f, &d)))
        return lose_blame(f, &d, ret_step);
    if (in_blame || !believe(c, f, &d)) {
        begin_again(c, f);
        *ret_step = f->first_step | STEP_SPEC;
        return 1;
    }
    f->n_alike = 0;
    enum phase phase = phase_of(&d);
    uint32_t target = target_of(&d);
    if (phase == PHASE_TARGET || phase == PHASE_JUDGE) {
        set_death(c, f, target, &d, "repeats");
        f->first_step = (target + 1) | STEP_SPEC | (in_driver(c, &d) ? STEP_BLAME : 0);
        *ret_step = f->first_step;
        return 1;
    }
    for (uint32_t t = 0; t < c->n_targets; t++)
        if (!f->verdict[t].known)
            set_death(c, f, t, &d, "repeats");
    *ret_step = f->first_step = c->n_targets | STEP_SPEC;
    return phase == PHASE_REFERENCE;
}
