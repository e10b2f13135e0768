/* One target in a worker: runs a case and confirms the death of a driver; finds out which case
 * wrote to memory that was not, or no longer, lent. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "golden/base/logging.h"
#include "golden/base/trace.h"
#include "golden/math/farmhash.h"
#include "harness/check/blame.h"
#include "harness/check/per_op_check.h"
#include "harness/check/variation.h"
#include "harness/run/campaign_worker.h"

/* LATE_US: how long late writes of a case that is run again alone are waited for; LATE_LOOKS: how
 * often its memory is compared meanwhile.  MOST_SEARCHES: how often recent cases are run again for
 * that. WARM_RUNS: after so many runs a driver's process should no longer grow. */
enum { LATE_US = 50000, LATE_LOOKS = 10, MOST_SEARCHES = 16, WARM_RUNS = 64 };

/* ---- running and judging */

/* What came of a run, besides the judged result. */
struct ending {
    struct check_result result;
    char *printed, *backtrace; /* NULL: none */
    struct past_run late;      /* an earlier run whose violation was noticed now; run 0: none */
    char late_why[128];
    bool is_callback; /* that violation is known to be of that run */
    uint64_t run;
};

/* Takes ownership of both. */
static void ending_take_texts(struct ending *e, char *printed, char *backtrace)
{
    free(e->printed);
    free(e->backtrace);
    e->printed = printed;
    e->backtrace = backtrace;
}

static void ending_done(struct ending *e)
{
    ending_take_texts(e, NULL, NULL);
    *e = (struct ending){ 0 };
}

/* Begins the section of a run in the trace; false: there is no trace. */
static bool begin_run(const struct check *check, const struct target *target)
{
    char name[512];
    if (!TRACE_IS_ON())
        return false;
    snprintf(name, sizeof name, "%s %s", check->example->name, target_uri(target));
    trace_begin(TRACE_NEST, TRACE_LA, TRACE_PO, name);
    return true;
}

/* The i-th last run, from 1 on; i is at most n_history and HISTORY. */
static const struct past_run *past_run(const struct worker_target *wt, uint64_t i)
{
    return &wt->history[(wt->n_history - i) % HISTORY];
}

/* The case that a run belongs to; the runs of single operations follow that of their case. */
static uint64_t ordinal_of(const struct worker_target *wt, uint64_t run)
{
    for (uint64_t i = 1; i <= HISTORY && i <= wt->n_history; i++)
        if (past_run(wt, i)->run <= run)
            return past_run(wt, i)->ordinal;
    return past_run(wt, 1)->ordinal;
}

static void keep_ending(struct worker_state *s, uint32_t t, const struct outcome *o,
                        struct ending *e)
{
    e->run = o->run;
    e->printed = o->prints ? strdup(o->prints) : NULL;
    e->backtrace = o->backtrace ? strdup(o->backtrace) : NULL;
    if (!o->late_run)
        return;
    e->late = (struct past_run){ o->late_run, ordinal_of(&s->target[t], o->late_run) };
    e->is_callback = o->is_late_callback;
    snprintf(e->late_why, sizeof e->late_why, "%s", o->late);
}

static void judge(struct check *check, struct outcome *o, struct check_result *r,
                  struct buffer *detail)
{
    TRACE(LA, PU, "judge");
    check_judge(check, o, r, detail);
}

static struct ending run_once(struct worker_state *s, struct check *check, uint32_t t,
                              struct buffer *detail)
{
    struct target *target = s->target[t].target;
    struct outcome outcome;
    struct ending e = { 0 };
    struct run_outputs plain;
    bool is_taken = false;
    bool traced = begin_run(check, target);
    worker_mark(s, PHASE_TARGET, t);
    worker_pool_allow(s->link, check_extra_ns(check));
    target_watch(target, worker_pool_step(s->link));
    int ran = check_run(check, target, &outcome, &e.result);
    worker_mark(s, PHASE_JUDGE, t);
    if (ran >= 0) {
        keep_ending(s, t, &outcome, &e);
        is_taken = check->is_varied && run_outputs_take(&outcome, check->arena, &plain);
        judge(check, &outcome, &e.result, detail);
    }
    if (traced)
        trace_end();
    worker_mark(s, PHASE_TARGET, t);
    worker_pool_allow(s->link, check_extra_ns(check));
    if (ran >= 0 && check->is_varied) {
        worker_pool_allow(s->link, 8 * check_extra_ns(check));
        struct variation_texts texts = { NULL, NULL };
        variation_run(check, target, is_taken ? &plain : NULL, &e.result, detail, NULL, &texts);
        if (texts.printed || texts.backtrace)
            ending_take_texts(&e, texts.printed, texts.backtrace);
        worker_mark(s, PHASE_TARGET, t);
        worker_pool_allow(s->link, check_extra_ns(check));
    }
    per_op_check_run(check, target, &e.result, detail);
    return e;
}

/* ---- deaths */

/* What makes two deaths alike: verdict, stage, signal, and the operations of the case. */
static uint64_t digest_death(const struct check *check, const struct check_result *r)
{
    const struct graph *g = &check->example->model.graph[0];
    struct buffer b = { 0 };
    buffer_printf(&b, "%d %s %d", (int) r->verdict, r->stage, r->signal);
    for (uint32_t i = 0; i < g->n_operations; i++) {
        bool seen = false;
        for (uint32_t k = 0; k < i && !seen; k++)
            seen = g->operation[k].code == g->operation[i].code;
        if (!seen)
            buffer_printf(&b, " %d", (int) g->operation[i].code);
    }
    uint64_t digest = farmhash64(buffer_text(&b), b.length);
    buffer_done(&b);
    return digest;
}

/* NULL: the table is full. */
static struct driver_death *find_death(struct worker_target *wt, uint64_t digest)
{
    for (uint32_t i = 0; i < wt->n_deaths; i++)
        if (wt->death[i].digest == digest)
            return &wt->death[i];
    if (wt->n_deaths == MAX_SIGNATURES)
        return NULL;
    wt->death[wt->n_deaths] = (struct driver_death){ .digest = digest };
    return &wt->death[wt->n_deaths++];
}

static void put_not_repeated(struct worker_state *s, uint32_t t, struct check_result *r)
{
    const struct worker_target *wt = &s->target[t];
    char name[CASE_NAME];
    if (!wt->n_runs) {
        snprintf(r->confirmed, sizeof r->confirmed,
                 "does not repeat; in the first case of its process");
        return;
    }
    cases_name(s->campaign->cases, past_run(wt, 1)->ordinal, name);
    snprintf(r->confirmed, sizeof r->confirmed, "does not repeat; after case %.120s", name);
}

static bool was_killed(const struct check_result *r)
{
    return r->died && r->signal == SIGKILL && r->verdict != VERDICT_HANG;
}

/* Runs the case again, alone in a new process.  After a kill, which may come from outside, up to
 * KILLS_BELIEVED runs are made, and the first one that ends otherwise counts.  "repeats" is also
 * said of a death that is like three that did. */
static void confirm_death(struct worker_state *s, struct check *check, uint32_t t, struct ending *e)
{
    struct worker_target *wt = &s->target[t];
    struct driver_death *death = find_death(wt, digest_death(check, &e->result));
    struct check_result *r = &e->result;
    struct ending second = { 0 };
    bool killed = was_killed(r);
    if (s->campaign->options->gdb)
        return; /* the debugger has shown it; another run would not be traced */
    if (!killed && death && death->n_confirmed >= MOST_CONFIRMED) {
        snprintf(r->confirmed, sizeof r->confirmed, "repeats");
        return;
    }
    for (int kills = 1; kills < KILLS_BELIEVED && (kills == 1 || was_killed(&second.result));
         kills++) {
        ending_done(&second);
        target_restart(wt->target);
        second = run_once(s, check, t, NULL);
    }
    if (killed && !was_killed(&second.result)) {
        ending_done(e);
        *e = second;
        return;
    }
    if (second.result.died) {
        snprintf(r->confirmed, sizeof r->confirmed, "repeats");
        if (death)
            death->n_confirmed++;
    } else {
        put_not_repeated(s, t, r);
    }
    ending_done(&second);
}

/* ---- earlier cases */

/* Replaces the verdict of an earlier case, if that was conforming.  The open case has failed. */
static void amend(struct worker_state *s, uint32_t t, uint64_t ordinal, enum verdict v,
                  const char *why, const char *printed, const char *backtrace)
{
    struct arena *arena = arena_new(0);
    struct example e;
    struct why ignored;
    if (ordinal + 1 != s->open_case && s->link && arena &&
        cases_get(s->campaign->cases, ordinal, arena, &e, &ignored) == 0) {
        struct check_result r = check_without_outcome(v, check_resolve(&e, s->campaign->judge));
        snprintf(r.stage, sizeof r.stage, "%s", stage_name[STAGE_DONE]);
        snprintf(r.why, sizeof r.why, "%s", why);
        message_amend(s->link, s->packer, t, ordinal, &r, printed ? printed : "",
                      backtrace ? backtrace : "", &e);
    }
    arena_free(arena);
}

/* Runs an earlier case again, alone in a new process.  Why it violates the contract; NULL: it does
 * not. */
static const char *trespass_of(struct worker_state *s, uint32_t t, uint64_t ordinal)
{
    struct target *target = s->target[t].target;
    struct arena *arena = arena_new(0);
    const char *found = NULL;
    struct example e;
    struct check check;
    struct why ignored;
    uint64_t run;
    if (arena && cases_get(s->campaign->cases, ordinal, arena, &e, &ignored) == 0 &&
        check_begin(&check, &e, s->campaign->judge, &ignored) == 0) {
        struct outcome o;
        struct check_result r;
        worker_mark(s, PHASE_TARGET, t);
        check_reference(&check);
        target_restart(target);
        if (check_run(&check, target, &o, &r) >= 0)
            outcome_done(&o);
        if (target_sweep(target, &run))
            found = "memory that was not lent was written to";
        for (int i = 0; i < LATE_LOOKS && !found; i++)
            if (usleep(LATE_US / LATE_LOOKS) == 0 && target_sweep(target, &run))
                found = "memory was written to after the call had returned";
        check_done(&check);
    }
    arena_free(arena);
    return found;
}

/* Finds out which of the recent cases wrote to memory.  Where none does so again, or it was
 * searched for often, it is the last one that the memory was lent to. */
static void name_guilty(struct worker_state *s, uint32_t t, uint64_t owner)
{
    struct worker_target *wt = &s->target[t];
    uint64_t ordinal = past_run(wt, 1)->ordinal;
    bool named = false, searched = wt->n_searches++ < MOST_SEARCHES;
    for (uint32_t i = wt->n_recent; i > 0; i--) {
        const struct past_run *p = past_run(wt, i);
        const char *why = searched ? trespass_of(s, t, p->ordinal) : NULL;
        if (why)
            amend(s, t, p->ordinal, VERDICT_VIOLATION, why, NULL, NULL);
        named = named || why;
        if (p->run == owner)
            ordinal = p->ordinal;
    }
    if (!named)
        amend(s, t, ordinal, VERDICT_VIOLATION,
              searched ? "memory was written to after the call had returned; does not repeat"
                       : "memory was written to after the call had returned",
              NULL, NULL);
    target_restart(wt->target);
    wt->n_runs = 0;
}

/* Compares what was lent to the recent cases.  owner: 0, or the run whose memory is known to have
 * changed. */
static void settle_recent(struct worker_state *s, uint32_t t, uint64_t owner)
{
    struct worker_target *wt = &s->target[t];
    uint64_t run = 0;
    if (target_sweep(wt->target, &run) && !owner)
        owner = run;
    if (owner && wt->n_history)
        name_guilty(s, t, owner);
    wt->n_recent = 0;
    wt->late_of = 0;
}

/* ---- growth */

static long count_descriptors(int pid)
{
    char path[64];
    long n = 0;
    snprintf(path, sizeof path, "/proc/%d/fd", pid);
    DIR *dir = opendir(path);
    while (dir && readdir(dir))
        n++;
    if (dir)
        closedir(dir);
    return n;
}

/* All 0 where it cannot be read. */
static struct process_size size_of_process(int pid)
{
    struct process_size z = { .descriptors = count_descriptors(pid) };
    char path[64], line[128];
    snprintf(path, sizeof path, "/proc/%d/status", pid);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file)) {
        sscanf(line, "Threads: %ld", &z.threads);
        sscanf(line, "RssAnon: %ld", &z.kilobytes);
    }
    if (file)
        fclose(file);
    return z;
}

/* Notes a driver that keeps resources from case to case: more than one per 8 cases since the first
 * WARM_RUNS. */
static void note_growth(struct worker_state *s, uint32_t t)
{
    const struct worker_target *wt = &s->target[t];
    int pid = target_process(wt->target);
    if (!pid || wt->n_runs < (uint64_t) 2 * WARM_RUNS || !wt->warm.threads)
        return;
    struct process_size now = size_of_process(pid);
    long cases = (long) (wt->n_runs - WARM_RUNS);
    if (now.descriptors - wt->warm.descriptors > cases / 8)
        message_note(s->link, t, "the number of the driver's descriptors grows from case to case");
    if (now.threads - wt->warm.threads > cases / 8)
        message_note(s->link, t, "the number of the driver's threads grows from case to case");
    if (now.kilobytes - wt->warm.kilobytes > 16384 + cases * 64)
        message_note(s->link, t, "the driver's memory grows from case to case");
}

/* ---- the course */

static void keep_run(struct worker_target *wt, uint64_t run, uint64_t ordinal)
{
    wt->history[wt->n_history++ % HISTORY] = (struct past_run){ run, ordinal };
    wt->n_recent++;
    if (++wt->n_runs == WARM_RUNS)
        wt->warm = size_of_process(target_process(wt->target));
}

/* A driver that was at fault before the first case.  True: its fault is the verdict. */
static bool apply_fault(const struct worker_state *s, uint32_t t, uint64_t ordinal,
                        struct ending *e)
{
    const struct campaign *c = s->campaign;
    struct check_result *r = &e->result;
    if (!c->fault[t].verdict || ordinal != c->options->shard - 1 || !verdict_conforming(r->verdict))
        return false;
    *r = check_without_outcome(c->fault[t].verdict, r->judge);
    snprintf(r->why, sizeof r->why, "%s", c->fault[t].why);
    ending_take_texts(e, strdup(c->fault[t].printed), strdup(c->fault[t].backtrace));
    return true;
}

/* ---- blame */

struct blame_watch {
    struct worker_state *s;
    const struct check *check;
    uint32_t target;
};

static void watch_blame(void *user)
{
    const struct blame_watch *b = user;
    worker_mark(b->s, PHASE_BLAME, b->target);
    worker_pool_allow(b->s->link, check_extra_ns(b->check));
}

/* What was lent to recent cases and is lost now; what has changed is settled before the next case.
 */
static void compare_lent(void *user)
{
    const struct blame_watch *b = user;
    struct worker_target *wt = &b->s->target[b->target];
    uint64_t run = 0;
    if (wt->n_recent && target_sweep(wt->target, &run) && !wt->late_of)
        wt->late_of = run;
}

/* Whether to search for the operation that a failure comes from: not where a driver that crashes or
 * hangs again would end a process whose death is not handled. */
static bool may_blame(const struct worker_state *s, const struct check *check, uint32_t t,
                      const struct check_result *failed)
{
    const struct options *o = s->campaign->options;
    const bool isolated = s->target[t].isolated;
    return blame_applies(check, failed) && !failed->blamed.count && !s->is_again && !o->gdb &&
           (isolated || (!failed->died && !o->in_process));
}

/* After the verdict was sent: if this process dies meanwhile, only the blame is lost. */
static void find_blame(struct worker_state *s, struct check *check, uint32_t t,
                       const struct check_result *failed)
{
    struct worker_target *wt = &s->target[t];
    struct blame_watch watch = { s, check, t };
    struct blame_options options = { .before_run = watch_blame,
                                     .before_restart = compare_lent,
                                     .user = &watch };
    struct why why;
    struct blame b;
    if (!may_blame(s, check, t, failed))
        return;
    TRACE(LA, PU, "find the operation to blame");
    const int process = target_process(wt->target);
    watch_blame(&watch);
    blame_find(check, wt->target, failed, &options, &b, &why);
    if (target_process(wt->target) != process)
        wt->n_runs = 0;
    struct blamed summary = blame_summary(check, &b);
    message_blame(s->link, t, &summary);
}

static void report_no_blame(struct worker_state *s, uint32_t t, const char *text)
{
    struct blamed none = { .output = -1 };
    snprintf(none.why, sizeof none.why, "not searched for: in a process of its own, %.400s", text);
    message_blame(s->link, t, &none);
}

/* Runs the case with the driver in a process of its own.  If the driver dies there, too, searches
 * for the operation to blame. */
static void blame_in_process(struct worker_state *s, struct check *check, uint32_t t)
{
    s->is_blaming = true;
    struct ending e = run_once(s, check, t, NULL);
    s->is_blaming = false;
    target_restart(s->target[t].target);
    if (e.result.died)
        find_blame(s, check, t, &e.result);
    else
        report_no_blame(s, t, "the driver does not die");
    ending_done(&e);
}

void worker_blame_death(struct worker_state *s, struct check *check, uint32_t t)
{
    struct worker_target *wt = &s->target[t];
    const struct worker_target shared = *wt;
    struct target_host host = worker_host(s);
    struct why why;
    host.isolation = ISOLATE_ALL;
    *wt = (struct worker_target){ .isolated = true };
    if (target_open(s->campaign->target[t], &host, &wt->target, &why) == 0) {
        blame_in_process(s, check, t);
        target_free(wt->target);
    } else {
        report_no_blame(s, t, why.text);
    }
    *wt = shared;
}

bool worker_run_target(struct worker_state *s, struct check *check, uint64_t ordinal, uint32_t t)
{
    struct worker_target *wt = &s->target[t];
    struct buffer detail = { 0 };
    if (wt->n_recent == RECENT_RUNS || wt->late_of)
        settle_recent(s, t, wt->late_of);
    struct ending e = run_once(s, check, t, s->campaign->details ? &detail : NULL);
    if (e.late.run && e.is_callback)
        amend(s, t, e.late.ordinal, VERDICT_VIOLATION, e.late_why, NULL, NULL);
    else if (e.late.run)
        wt->late_of = e.late.run;
    bool died = wt->isolated && e.result.died;
    if (died) {
        if (wt->n_recent)
            settle_recent(s, t, wt->late_of);
        if (!s->is_again)
            confirm_death(s, check, t, &e);
        target_restart(wt->target);
        wt->late_of = 0;
        wt->n_runs = 0;
    } else if (wt->isolated) {
        keep_run(wt, e.run, ordinal);
    }
    bool is_fault = apply_fault(s, t, ordinal, &e);
    message_text(s->link, MESSAGE_DETAIL, buffer_text(&detail));
    if (!verdict_conforming(e.result.verdict)) {
        message_text(s->link, MESSAGE_PRINTED, e.printed ? e.printed : "");
        message_text(s->link, MESSAGE_BACKTRACE, e.backtrace ? e.backtrace : "");
    } else if (e.printed && (s->campaign->options->verbosity > 0 || atomic_load(&vlog_mask))) {
        fputs(e.printed, stderr);
    }
    message_verdict(s->link, t, &e.result);
    s->open_case = ordinal + 1;
    if (!is_fault)
        find_blame(s, check, t, &e.result);
    s->open_case = 0;
    bool conforming = verdict_conforming(e.result.verdict);
    buffer_done(&detail);
    ending_done(&e);
    return conforming;
}

/* Whether a process has threads or children besides the one that waits for the next case. */
static bool process_may_act(int pid)
{
    char path[64];
    int child = 0;
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", pid, pid);
    FILE *file = fopen(path, "re");
    bool has_child = file && fscanf(file, "%d", &child) == 1;
    if (file)
        fclose(file);
    return has_child || size_of_process(pid).threads > 1;
}

/* Second callbacks that came after the last case. */
static void amend_callbacks(struct worker_state *s, uint32_t t)
{
    struct worker_target *wt = &s->target[t];
    char why[128];
    uint64_t run = 0;
    for (int i = 0; i < HISTORY && target_take_late_callback(wt->target, &run, why, sizeof why);
         i++)
        amend(s, t, ordinal_of(wt, run), VERDICT_VIOLATION, why, NULL, NULL);
}

void worker_close_target(struct worker_state *s, uint32_t t)
{
    struct worker_target *wt = &s->target[t];
    struct outcome o;
    if (s->link && wt->isolated) {
        note_growth(s, t);
        if (process_may_act(target_process(wt->target)))
            usleep(LATE_US);
        worker_mark(s, PHASE_TARGET, t);
        amend_callbacks(s, t);
        settle_recent(s, t, wt->late_of);
        if (target_close(wt->target, &o)) {
            if (wt->n_runs)
                amend(s, t, past_run(wt, 1)->ordinal, o.hung ? VERDICT_HANG : VERDICT_CRASH,
                      o.violation, o.prints, o.backtrace);
            outcome_done(&o);
        }
    }
    target_free(wt->target);
    wt->target = NULL;
}
