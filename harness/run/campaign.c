#include "harness/run/campaign.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden/base/sandbox.h"
#include "harness/cli/screen.h"
#include "harness/run/campaign_internal.h"
#include "harness/run/devices.h"
#include "sim/isolation/host_process.h"

/* ---- which cases */

uint64_t campaign_shard(const struct options *o, uint64_t n)
{
    return n < o->shard ? 0 : (n - o->shard) / o->n_shards + 1;
}

uint64_t campaign_item(const struct campaign *c, uint64_t item)
{
    return c->item ? c->item[item]
                   : (uint64_t) (c->options->shard - 1) + item * c->options->n_shards;
}

unsigned char *campaign_verdict(const struct campaign *c, uint64_t ordinal, uint32_t target)
{
    /* A shard has every n_shards-th case: one of so many. */
    uint64_t i = ordinal / c->options->n_shards;
    return i < c->verdict_capacity ? &c->verdict[i * c->n_targets + target] : NULL;
}

static void count_verdict(uint64_t ordinal, uint32_t target, enum verdict v, void *user)
{
    struct campaign *c = user;
    unsigned char *known = target < c->n_targets ? campaign_verdict(c, ordinal, target) : NULL;
    if (ordinal >= c->cases->n || !known)
        return;
    c->totals[target].n[v]++;
    *known = (unsigned char) (v + 1);
}

static int keep_old_note(uint32_t target, const char *text, void *user, struct why *w)
{
    struct campaign *c = user;
    return target < c->n_targets ? campaign_keep_note(c, target, text, w) : 0;
}

int campaign_load_done(struct campaign *c, struct why *w)
{
    TRY(campaign_reserve_verdicts(c, c->cases->n, w)); /* ordinals below it */
    TRY(results_each_note(c->results, keep_old_note, c, w));
    return results_each_verdict(c->results, count_verdict, c, w);
}

bool campaign_is_done(const struct campaign *c, uint64_t ordinal, uint32_t target)
{
    const unsigned char *known = campaign_verdict(c, ordinal, target);
    return known && *known;
}

int campaign_skip_done(struct campaign *c, struct why *w)
{
    uint64_t n = campaign_shard(c->options, c->cases->n), left = 0;
    TRY(campaign_load_done(c, w));
    uint64_t *item = calloc(n + 1, sizeof *item);
    if (!item)
        return why_no_memory_for(w, "%llu cases", (unsigned long long) n);
    for (uint64_t i = 0; i < n; i++) {
        uint64_t ordinal = campaign_item(c, i);
        if (!campaign_is_done(c, ordinal, 0)) /* a case is written with all its verdicts */
            item[left++] = ordinal;
    }
    c->item = item;
    c->n_items = left;
    return 0;
}

/* ---- the campaign */

void campaign_set_fault(struct campaign *c, uint32_t target, const struct device_facts *facts,
                        const struct why *why)
{
    c->fault[target].verdict = facts->fault;
    if (!facts->fault)
        return;
    const char *uri = c->target[target], *text = why->text;
    if (strncmp(text, uri, strlen(uri)) == 0 && strncmp(text + strlen(uri), ": ", 2) == 0)
        text += strlen(uri) + 2;
    snprintf(c->fault[target].why, sizeof c->fault[target].why, "%.250s", text);
    memcpy(c->fault[target].printed, facts->printed, sizeof facts->printed);
    memcpy(c->fault[target].backtrace, facts->backtrace, sizeof facts->backtrace);
    print_error(c->options, why);
}

int campaign_tick(void *user, struct why *w)
{
    struct campaign *c = user;
    console_progress(&c->console, c->done, c->totals, c->n_targets);
    if (!c->results)
        return 0;
    TRY(results_heartbeat(c->results, w));
    return results_commit(c->results, w);
}

/* What the driver's process may do that it usually may not. */
static int note_containment(struct campaign *c, uint32_t target, struct why *w)
{
    struct sandbox_state s = sandbox_available();
    char parts[SANDBOX_TEXT], text[SANDBOX_TEXT + 64];
    if (c->options->allow_devices)
        TRY(campaign_keep_note(
            c, target, "its process may use device nodes and the network (--allow-devices)", w));
    if (s.seccomp && s.landlock)
        return 0;
    snprintf(text, sizeof text, "its process is confined by %s only (docs/security.md)",
             sandbox_describe(&s, parts, sizeof parts));
    return campaign_keep_note(c, target, text, w);
}

int campaign_begin_isolation(struct campaign *c, struct why *w)
{
    for (uint32_t t = 0; t < c->n_targets; t++) {
        c->isolated[t] = target_is_isolated(c->target[t], harness_host.isolation);
        devices_protect_from(c->target[t]);
        if (c->isolated[t])
            TRY(note_containment(c, t, w));
        else if (c->options->memory_limit)
            TRY(campaign_keep_note(
                c, t, "--memory-limit does not apply: the driver has no process of this command",
                w));
    }
    scratch_folder_remove_stale();
    return 0;
}

bool campaign_has_enough(void *user)
{
    struct campaign *c = user;
    const struct options *o = c->options;
    if (o->max_failures && c->console.progress.failures >= o->max_failures)
        c->end = CAMPAIGN_FAILURES;
    else if (o->duration && console_now() - c->console.progress.begun >= (double) o->duration)
        c->end = CAMPAIGN_TIME;
    return c->end != CAMPAIGN_COMPLETE;
}

int campaign_run(struct campaign *c, const volatile sig_atomic_t *stop, struct why *w)
{
    static const struct worker_pool_work work = { .start = campaign_start_worker,
                                                  .end = campaign_end_worker,
                                                  .item = campaign_work,
                                                  .message = campaign_take_message,
                                                  .died = campaign_take_death,
                                                  .again = campaign_take_again,
                                                  .complete = campaign_take_complete,
                                                  .enough = campaign_has_enough,
                                                  .tick = campaign_tick };
    const struct options *o = c->options;
    struct worker_pool_options crew = { .workers = o->jobs,
                                        .timeout = o->timeout,
                                        .in_process = o->in_process,
                                        .one_by_one = o->rerun || o->max_failures || o->duration,
                                        .memory = o->memory_limit,
                                        .loud = o->verbosity > 0,
                                        .stop = stop };
    TRY(campaign_begin_isolation(c, w));
    c->n_planned = campaign_shard(o, c->cases->n);
    if (!c->item)
        c->n_items = c->n_planned;
    c->console = console_start(o, c->n_items);
    int r = worker_pool_run(&crew, &work, c->n_items, c, w);
    screen_clear();
    if (r >= 0)
        TRY(campaign_note_gains(c, w));
    if (c->results && results_commit(c->results, r < 0 ? NULL : w) < 0)
        return -1;
    c->end = r == 0 ? CAMPAIGN_COMPLETE : r == 1 ? CAMPAIGN_STOPPED : c->end;
    return r < 0 ? -1 : 0;
}

static void free_counts(struct bucket_count *list, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        free(list[i].bucket);
        free(list[i].first);
    }
    free(list);
}

void campaign_done(struct campaign *c)
{
    campaign_free_cases(c);
    campaign_free_signatures(c);
    for (uint32_t i = 0; i < c->n_notes; i++)
        free(c->note[i].text);
    free_counts(c->bucket, c->n_buckets);
    free_counts(c->unsupported, c->n_unsupported);
    free(c->note);
    free(c->gain);
    free(c->verdict);
    free(c->item);
    c->note = NULL;
    c->gain = NULL;
    c->n_gains = 0;
    c->bucket = c->unsupported = NULL;
    c->n_buckets = c->n_unsupported = 0;
    c->verdict = NULL;
    c->verdict_capacity = 0;
    c->item = NULL;
    c->n_notes = 0;
}

uint64_t campaign_failures(const struct campaign *c)
{
    uint64_t n = 0;
    for (uint32_t t = 0; t < c->n_targets; t++)
        for (int v = 0; v < VERDICT_COUNT; v++)
            n += verdict_conforming((enum verdict) v) ? 0 : c->totals[t].n[v];
    return n;
}
