#include "harness/run/campaign.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/check/buffer.h"
#include "harness/run/campaign_internal.h"

/* A case that a worker is running. */
struct active_case {
    uint64_t item;
    int64_t case_id; /* row of the database; 0: none yet */
    char *detail;    /* for the next verdict */
    bool conforming;
};

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

struct skipping {
    struct campaign *campaign;
    unsigned char *done; /* bit per case */
};

static void count_verdict(uint64_t ordinal, uint32_t target, enum verdict v, void *user)
{
    struct skipping *s = user;
    if (ordinal >= s->campaign->cases->n || target >= s->campaign->n_targets)
        return;
    s->campaign->totals[target].n[v]++;
    s->done[ordinal / 8] |= (unsigned char) (1u << ordinal % 8);
}

int campaign_skip_done(struct campaign *c, struct why *w)
{
    uint64_t n = campaign_shard(c->options, c->cases->n);
    struct skipping s = { c, calloc(c->cases->n / 8 + 1, 1) };
    uint64_t *item = calloc(n + 1, sizeof *item);
    int failed = s.done && item ? results_each_verdict(c->results, count_verdict, &s, w)
                                : why_no_memory_for(w, "%llu cases", (unsigned long long) n);
    uint64_t left = 0;
    for (uint64_t i = 0; !failed && i < n; i++) {
        uint64_t ordinal = campaign_item(c, i);
        if (!(s.done[ordinal / 8] & 1u << ordinal % 8))
            item[left++] = ordinal;
    }
    free(s.done);
    if (failed) {
        free(item);
        return -1;
    }
    c->item = item;
    c->n_items = left;
    return 0;
}

/* ---- cases in progress */

static struct active_case *find_active_case(struct campaign *c, uint64_t item)
{
    for (uint32_t i = 0; i < c->n_active_cases; i++)
        if (c->active_case[i].item == item)
            return &c->active_case[i];
    if (c->n_active_cases == c->active_case_capacity) {
        uint32_t capacity = c->active_case_capacity ? 2 * c->active_case_capacity : 16;
        struct active_case *active_case = realloc(c->active_case, capacity * sizeof *active_case);
        if (!active_case)
            return NULL;
        c->active_case = active_case;
        c->active_case_capacity = capacity;
    }
    c->active_case[c->n_active_cases] = (struct active_case){ .item = item, .conforming = true };
    return &c->active_case[c->n_active_cases++];
}

static int add_case(struct campaign *c, struct active_case *f, int level, uint32_t n_operations,
                    struct why *w)
{
    if (!c->results || f->case_id)
        return 0;
    uint64_t i = campaign_item(c, f->item);
    char name[CASE_NAME];
    cases_name(c->cases, i, name);
    struct case_row row = { .ordinal = i,
                            .name = name,
                            .file = cases_file(c->cases, i),
                            .seed = c->cases->seed,
                            .index = c->cases->first + i,
                            .level = level,
                            .n_operations = n_operations };
    return results_add_case(c->results, &row, &f->case_id, w);
}

/* ---- messages */

static int take_case(struct campaign *c, struct active_case *f, const char *bytes, size_t length,
                     struct why *w)
{
    struct case_message m;
    REQUIRE(w, length >= sizeof m, "a worker's message is too short: %zu bytes", length);
    memcpy(&m, bytes, sizeof m);
    TRY(add_case(c, f, m.level, m.n_operations, w));
    char *lines = strndup(bytes + sizeof m, length - sizeof m), *rest = lines, *line;
    int failed = lines ? 0 : why_no_memory(w);
    while (!failed && c->results && (line = strsep(&rest, "\n")) && *line) {
        char *tab = strchr(line, '\t');
        if (!tab)
            continue;
        *tab = 0;
        failed = results_add_operation(c->results, f->case_id, line, tab + 1, w);
    }
    free(lines);
    return failed;
}

/* The command that runs this case alone on this target. */
static void put_replay(const struct campaign *c, const struct active_case *f, const char *name,
                       uint32_t target, struct buffer *b)
{
    const struct options *o = c->options;
    const char *file = cases_file(c->cases, campaign_item(c, f->item));
    buffer_puts(b, "halcyon replay ");
    buffer_put_quoted(b, file ? file : name);
    if (file) {
        buffer_puts(b, " --case ");
        buffer_put_quoted(b, name);
    } else if (!c->cases->spec) {
        options_put_graphs(b, &c->cases->graphs);
    }
    buffer_puts(b, " -d ");
    buffer_put_quoted(b, c->target[target]);
    if (o->judge != JUDGE_AUTO)
        buffer_printf(b, " --judge %s", judge_name[o->judge]);
    if (o->timeout < 10 || o->timeout > 10)
        buffer_printf(b, " --timeout %g", o->timeout);
}

static void apply_waiver(const struct campaign *c, const char *name, uint32_t target,
                         struct check_result *r)
{
    if (verdict_conforming(r->verdict))
        return;
    const char *reason = waivers_find(c->waivers, name, c->target[target]);
    if (!reason)
        return;
    char was[sizeof r->why];
    memcpy(was, r->why, sizeof was);
    r->was = r->verdict;
    r->verdict = VERDICT_WAIVED;
    snprintf(r->why, sizeof r->why, "%.200s (%s: %.250s)", reason, verdict_name[r->was], was);
}

static int keep_verdict(struct campaign *c, struct active_case *f, uint32_t target,
                        const struct check_result *judged, struct why *w)
{
    struct check_result r = *judged;
    char name[CASE_NAME];
    cases_name(c->cases, campaign_item(c, f->item), name);
    TRY(add_case(c, f, -1, 0, w));
    apply_waiver(c, name, target, &r);
    struct buffer replay = { 0 };
    if (!verdict_conforming(r.verdict) && !c->details)
        put_replay(c, f, name, target, &replay);
    const char *line = replay.length ? buffer_text(&replay) : NULL;
    c->totals[target].n[r.verdict]++;
    f->conforming = f->conforming && verdict_conforming(r.verdict);
    console_verdict(&c->console, name, c->target[target], &r, line, f->detail);
    int failed = 0;
    if (c->results)
        failed = results_add_verdict(c->results, f->case_id, target, &r, line, w);
    buffer_done(&replay);
    free(f->detail);
    f->detail = NULL;
    return failed;
}

static int take_verdict(struct campaign *c, struct active_case *f, const char *bytes, size_t length,
                        struct why *w)
{
    struct verdict_message m;
    REQUIRE(w, length == sizeof m, "a worker's verdict has %zu bytes, expected %zu", length,
            sizeof m);
    memcpy(&m, bytes, sizeof m);
    REQUIRE(w, m.target < c->n_targets && m.result.verdict < VERDICT_COUNT,
            "a worker's verdict is out of range: target %u, verdict %u", m.target,
            (unsigned) m.result.verdict);
    return keep_verdict(c, f, m.target, &m.result, w);
}

static int take_spec(struct campaign *c, struct active_case *f, const char *bytes, size_t length,
                     struct why *w)
{
    struct spec_message m;
    REQUIRE(w, length >= sizeof m, "a worker's message is too short: %zu bytes", length);
    memcpy(&m, bytes, sizeof m);
    REQUIRE(w, m.spec_length <= length - sizeof m, "a worker's spec is cut off");
    const char *spec = bytes + sizeof m, *dot = spec + m.spec_length;
    size_t dot_length = length - sizeof m - m.spec_length;
    if (!c->results || f->conforming || !f->case_id)
        return 0;
    char *graph = dot_length ? strndup(dot, dot_length) : NULL;
    int failed = results_add_spec(c->results, f->case_id, spec, m.spec_length, graph, w);
    free(graph);
    return failed;
}

static int on_message(uint64_t item, const void *bytes, size_t length, void *user, struct why *w)
{
    struct campaign *c = user;
    struct active_case *f = find_active_case(c, item);
    uint32_t kind;
    if (!f)
        return why_no_memory(w);
    REQUIRE(w, length >= sizeof kind, "a worker's message is too short: %zu bytes", length);
    memcpy(&kind, bytes, sizeof kind);
    switch (kind) {
    case MESSAGE_CASE: return take_case(c, f, bytes, length, w);
    case MESSAGE_VERDICT: return take_verdict(c, f, bytes, length, w);
    case MESSAGE_SPEC: return take_spec(c, f, bytes, length, w);
    case MESSAGE_DETAIL:
        free(f->detail);
        f->detail = strndup((const char *) bytes + sizeof kind, length - sizeof kind);
        return 0;
    default: return why_fail(w, WHY_SYSTEM, "a worker's message has the unknown kind %u", kind);
    }
}

/* ---- deaths */

static const enum stage stage_of[TARGET_STEPS] = {
    [TARGET_AT_SUPPORTED] = STAGE_SUPPORTED, [TARGET_AT_PREPARE] = STAGE_PREPARE,
    [TARGET_AT_PREPARED] = STAGE_PREPARE,    [TARGET_AT_EXECUTE_SYNCHRONOUSLY] = STAGE_EXECUTE,
    [TARGET_AT_EXECUTE] = STAGE_EXECUTE,     [TARGET_AT_EXECUTED] = STAGE_EXECUTE,
    [TARGET_AT_RELEASE] = STAGE_DONE,
};

static void describe_death(const struct worker_pool_death *d, const char *who,
                           struct check_result *r)
{
    const char *at = d->step < TARGET_STEPS ? target_step_text[d->step] : "";
    const char *space = *at ? " " : "";
    if (*at)
        snprintf(r->stage, sizeof r->stage, "%s", stage_name[stage_of[d->step]]);
    if (d->hang)
        snprintf(r->why, sizeof r->why, "%s exceeds the time-out%s%s (killed after %.2f s)", who,
                 space, at, d->seconds);
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

static int keep_death(struct campaign *c, struct active_case *f, uint32_t target, enum verdict v,
                      const char *where, const struct worker_pool_death *d, struct why *w)
{
    uint64_t i = campaign_item(c, f->item);
    enum judge_kind judge = c->cases->spec ? check_resolve(&c->cases->spec[i].example, c->judge)
                            : c->judge == JUDGE_CTS ? JUDGE_CTS
                                                    : JUDGE_BOUND;
    struct check_result r = check_without_outcome(v, judge);
    describe_death(d, where, &r);
    return keep_verdict(c, f, target, &r, w);
}

/* A death in the driver is a crash or hang; in Halcyon's own code it is an error.  The worker that
 * follows continues with the next target. */
static int on_death(uint64_t item, const struct worker_pool_death *d, uint32_t *ret_step,
                    void *user, struct why *w)
{
    struct campaign *c = user;
    struct active_case *f = find_active_case(c, item);
    if (!f)
        return why_no_memory(w);
    uint32_t target = d->mark >> MARK_PHASE_BITS;
    enum phase phase = d->mark & ((1u << MARK_PHASE_BITS) - 1);
    if (phase == PHASE_SPEC) /* all verdicts are recorded already */
        return 0;
    if (phase == PHASE_TARGET || phase == PHASE_JUDGE) {
        enum verdict v = phase == PHASE_JUDGE ? VERDICT_ERROR
                         : d->hang            ? VERDICT_HANG
                                              : VERDICT_CRASH;
        const char *where = phase == PHASE_JUDGE ? "the judge" : "the driver";
        TRY(keep_death(c, f, target, v, where, d, w));
        *ret_step = (target + 1) | STEP_SPEC;
        return 1;
    }
    const char *where = phase == PHASE_MAKE ? "the generator" : "the reference";
    for (uint32_t t = target; t < c->n_targets; t++)
        TRY(keep_death(c, f, t, VERDICT_ERROR, where, d, w));
    *ret_step = c->n_targets | STEP_SPEC;
    return phase == PHASE_REFERENCE;
}

/* ---- the campaign */

static int on_complete(uint64_t item, void *user, struct why *w)
{
    (void) w;
    struct campaign *c = user;
    for (uint32_t i = 0; i < c->n_active_cases; i++)
        if (c->active_case[i].item == item) {
            free(c->active_case[i].detail);
            c->active_case[i] = c->active_case[--c->n_active_cases];
            break;
        }
    c->done++;
    return 0;
}

static int on_tick(void *user, struct why *w)
{
    struct campaign *c = user;
    console_progress(&c->console, c->done);
    return c->results ? results_commit(c->results, w) : 0;
}

int campaign_run(struct campaign *c, const volatile sig_atomic_t *stop, struct why *w)
{
    static const struct worker_pool_work work = { .start = campaign_start_worker,
                                                  .end = campaign_end_worker,
                                                  .item = campaign_work,
                                                  .message = on_message,
                                                  .died = on_death,
                                                  .complete = on_complete,
                                                  .tick = on_tick };
    const struct options *o = c->options;
    struct worker_pool_options crew = { .workers = o->jobs,
                                        .timeout = o->timeout,
                                        .in_process = o->in_process,
                                        .loud = o->verbosity > 0,
                                        .stop = stop };
    if (!c->item)
        c->n_items = campaign_shard(o, c->cases->n);
    c->console = console_start(o->json, o->verbosity, c->n_items);
    int r = worker_pool_run(&crew, &work, c->n_items, c, w);
    console_clear(&c->console);
    if (c->results && results_commit(c->results, r < 0 ? NULL : w) < 0)
        return -1;
    return r;
}

void campaign_done(struct campaign *c)
{
    for (uint32_t i = 0; i < c->n_active_cases; i++)
        free(c->active_case[i].detail);
    free(c->active_case);
    free(c->item);
    c->active_case = NULL;
    c->item = NULL;
    c->n_active_cases = c->active_case_capacity = 0;
}

uint64_t campaign_failures(const struct campaign *c)
{
    uint64_t n = 0;
    for (uint32_t t = 0; t < c->n_targets; t++)
        for (int v = 0; v < VERDICT_COUNT; v++)
            n += verdict_conforming((enum verdict) v) ? 0 : c->totals[t].n[v];
    return n;
}
