/* Targets whose driver has a process of its own (sim/isolation/): one message starts a whole run,
 * then this side judges what came back.
 *
 * A request has one pool for all inputs, or in some cases one for each, and one for each output: a
 * write behind an output traps, in some cases a read behind an input does.  What the driver's
 * process answers is not trusted. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "golden/base/clock.h"
#include "golden/base/logging.h"
#include "golden/base/text_escape.h"
#include "golden/base/trace.h"
#include "sim/client/hosted.h"
#include "sim/hal/hal_convert.h"
#include "sim/hal/hal_result.h"
#include "sim/remote/remote.h"

#define LOG_TAG "Host"

enum { FIRST_ARENA = 1 << 24, FIRST_LARGEST = 1 << 20, PRINTS = 4096 };

/* ---- deaths */

static void keep_prints(struct host_process *p, struct outcome *o)
{
    char text[PRINTS];

    if (host_take_prints(p, text, sizeof text) && o->arena)
        o->prints = arena_strdup(o->arena, text);
}

static void describe_death(const struct host_death *d, uint64_t memory_limit, const char *at,
                           struct outcome *o)
{
    const char *space = *at ? " " : "";

    if (d->memory)
        snprintf(o->violation, sizeof o->violation,
                 "the driver exceeds the memory limit of %llu MiB%s%s: it uses %.1f MiB",
                 (unsigned long long) (memory_limit >> 20), space, at,
                 (double) d->memory / (1 << 20));
    else if (d->hung)
        snprintf(o->violation, sizeof o->violation, "the driver exceeds the time-out%s%s", space,
                 at);
    else if (d->signal)
        snprintf(o->violation, sizeof o->violation, "the driver crashes with signal %d (%s)%s%s",
                 d->signal, strsignal(d->signal), space, at);
    else
        snprintf(o->violation, sizeof o->violation,
                 "the driver exits the process%s%s with status %d", space, at, d->exit_status);
}

/* What is kept of a death, whatever the driver's process was doing. */
static void note_death(struct hosted *h, const struct host_death *d, const char *at,
                       struct outcome *o)
{
    o->died = true;
    o->hung = d->hung;
    o->signal = d->signal;
    describe_death(d, h->options.memory_limit, at, o);
    keep_prints(&h->process, o);
    if (o->arena && d->signal && d->crash.signal == d->signal && d->crash.text[0])
        o->backtrace = arena_strdup(o->arena, d->crash.text);
}

static const char *step_text(uint32_t step)
{
    return step < TARGET_STEPS ? target_step_text[step] : "";
}

/* ---- the process */

static void disconnect(struct target *t)
{
    if (t->hosted->remote)
        t->hosted->remote->close(t->hosted->remote);
    t->hosted->remote = NULL;
    t->driver = &t->hosted->facade;
}

void target_restart(struct target *t)
{
    if (!t->hosted)
        return;
    disconnect(t);
    host_done(&t->hosted->process);
}

/* Connects the methods that a run does not call.  1: the driver has died or hung meanwhile, for it
 * is asked for its properties. */
static int connect_methods(struct target *t, struct host_death *ret_death, struct why *w)
{
    struct hosted *h = t->hosted;
    int socket = h->process.socket;

    h->process.socket = -1;
    if (host_call(&h->process, &h->options, HOST_SERVE, 0, ret_death) == 1) {
        close(socket);
        return 1;
    }
    const struct reply_timeout timeout = { .seconds = h->options.timeout,
                                           .process = host_driver_process(&h->process) };
    if (remote_open_socket(socket, &timeout, &h->remote, w) == 0) {
        t->driver = h->remote;
        return 0;
    }
    if (host_call(&h->process, &h->options, HOST_SETTLE, 0, ret_death) == 1)
        return 1;
    ret_death->hung = w->code == WHY_TIMEOUT;
    if (ret_death->hung)
        return 1;
    w->code = WHY_INVALID;
    return why_prefix(w, "%s: the driver's properties cannot be read", t->uri);
}

static int take_properties(struct target *t, struct host_death *ret_death, struct why *w)
{
    struct hosted *h = t->hosted;
    const struct host_answers *a = h->process.answers;
    const enum hal_version version = (enum hal_version) a->version;
    const enum hal_version lowest = (enum hal_version) a->lowest_version;

    REQUIRE(w, hal_level(version) && hal_level(lowest),
            "the driver's process reports the HAL versions %d to %d", (int) lowest, (int) version);
    snprintf(h->name, sizeof h->name, "%.*s", (int) sizeof a->name - 1, a->name);
    h->facade = (struct hal_driver){ .abi_version = HAL_ABI_VERSION,
                                     .hal_version = version,
                                     .lowest_version = lowest,
                                     .name = h->name };
    t->driver = &h->facade;
    return h->is_served ? connect_methods(t, ret_death, w) : 0;
}

/* 0: the process runs; 1: it has died while the driver was opened, *ret_death tells how. */
static int ensure_process(struct target *t, struct host_death *ret_death, struct why *w)
{
    struct hosted *h = t->hosted;

    if (h->process.pid)
        return 0;
    target_restart(t);
    TRACE_SUBTRACT(LR, PI, "start the driver's process");
    *ret_death = (struct host_death){ 0 };
    int rc = host_start(&h->process, &h->options, ret_death, w);
    if (rc == 0)
        rc = take_properties(t, ret_death, w);
    return rc;
}

/* ---- a run */

/* Whether the driver has kept the model of the last run prepared, and this run uses it. */
static bool may_use_kept(const struct case_run *c)
{
    const struct hosted *h = c->t->hosted;

    return c->options->use_prepared && h->process.pid && h->kept_run &&
           h->kept_run + 1 == c->o->run;
}

/* Starts the process if there is none, and lends it the case; a case that does not fit gets a
 * process with more memory.  1: it died meanwhile. */
static int submit(struct case_run *c, const struct hal_model *m, struct lent_arrays *l,
                  struct host_death *ret_death)
{
    bool trapping = c->options->trap_inputs && !c->options->vary;

    c->uses_kept = may_use_kept(c) && hosted_put_case(c, NULL, false, l) == 0;
    if (c->uses_kept)
        return 0;
    c->t->hosted->kept_run = 0;
    for (int attempt = 0; attempt < 3; attempt++) {
        int rc = ensure_process(c->t, ret_death, c->w);
        if (rc)
            return rc;
        rc = hosted_put_case(c, m, trapping && attempt == 0, l);
        if (rc <= 0)
            return rc;
        if (attempt == 0 && trapping)
            continue; /* inputs too large or too many for slots */
        hosted_enlarge(c, m);
        target_restart(c->t);
    }
    return why_fail(c->w, WHY_MEMORY, "the case does not fit into the memory shared with a driver");
}

/* The driver's process may change its answers at any time: they are copied first. */
static struct host_answers copy_answers(const struct host_process *p)
{
    const struct host_answers *from = p->answers;
    struct host_answers a = { .stage = from->stage,
                              .status = from->status,
                              .lacks = from->lacks,
                              .n_answers = from->n_answers,
                              .repeated_run = from->repeated_run };

    memcpy(a.at_once, from->at_once, sizeof a.at_once);
    for (int i = 0; i < HOST_EXECUTIONS; i++)
        a.at_once[i].violation[sizeof a.at_once[i].violation - 1] = 0;
    memcpy(a.violation, from->violation, sizeof a.violation - 1);
    memcpy(a.failure_text, from->failure_text, sizeof a.failure_text - 1);
    memcpy(a.repeated, from->repeated, sizeof a.repeated - 1);
    return a;
}

static int end_by_death(struct case_run *c, const struct lent_arrays *l, const struct host_death *d)
{
    uint32_t step = d->step < TARGET_STEPS ? d->step : TARGET_AT_NOTHING;

    c->o->stage = target_stage_of[step];
    note_death(c->t->hosted, d, step_text(step), c->o);
    hosted_classify_crash(c, l, d);
    hosted_take_back(c, l);
    return 1;
}

/* The calls in the driver's process, as sections of this one. */
static void trace_calls(const struct case_run *c, uint64_t submitted)
{
    static const struct {
        enum target_step step;
        Wire__Method method;
        const char *name; /* NULL: that of the method */
    } calls[] = { { TARGET_AT_SUPPORTED, WIRE__METHOD__GET_SUPPORTED_OPERATIONS, NULL },
                  { TARGET_AT_PREPARE, WIRE__METHOD__PREPARE_MODEL, NULL },
                  { TARGET_AT_EXECUTE_SYNCHRONOUSLY, WIRE__METHOD__EXECUTE_SYNCHRONOUSLY, NULL },
                  { TARGET_AT_EXECUTE, WIRE__METHOD__EXECUTE, NULL },
                  { TARGET_AT_BURST, WIRE__METHOD__BURST_EXECUTE, "burst" },
                  { TARGET_AT_FENCED, WIRE__METHOD__EXECUTE_FENCED, NULL },
                  { TARGET_AT_REUSABLE, WIRE__METHOD__REUSABLE_EXECUTE, "reusable execution" },
                  { TARGET_AT_ONCE, WIRE__METHOD__EXECUTE, "executions at once" },
                  { TARGET_AT_RELEASE, WIRE__METHOD__RELEASE, NULL } };
    enum { CALLS = sizeof calls / sizeof *calls };
    const uint64_t *begun = c->t->hosted->process.answers->begun;
    uint64_t end[CALLS + 1] = { [CALLS] = begun[TARGET_AT_NOTHING] };

    for (int i = CALLS; i-- > 0;) /* each lasts until the next one that was made */
        end[i] = begun[calls[i].step] ? begun[calls[i].step] : end[i + 1];
    for (int i = 0; i < CALLS; i++) {
        const struct wire_method *m = wire_method(calls[i].method);
        if (end[i] >= submitted && end[i] < end[i + 1] && end[i + 1] <= clock_steady_ns())
            trace_past(TRACE_LR, m->phase, calls[i].name ? calls[i].name : m->name, end[i],
                       end[i + 1]);
    }
}

/* The whole case once more, with outputs that were filled with the other pattern. */
static int check_written(struct case_run *c, const struct lent_arrays *l)
{
    struct hosted *h = c->t->hosted;
    struct host_death death = { 0 };

    if (!case_run_may_be_unwritten(c))
        return 0;
    c->is_second = true;
    for (uint32_t i = 0; i < c->o->n_out; i++)
        lent_region_fill(&c->region[i], true);
    if (host_call(&h->process, &h->options, HOST_RUN, c->options->allowance_ns, &death) == 1)
        return end_by_death(c, l, &death);
    return case_run_check_second(c, h->process.answers->stage == STAGE_EXECUTE
                                        ? (enum hal_status) h->process.answers->status
                                        : HAL_GENERAL_FAILURE);
}

int hosted_begin(struct case_run *c)
{
    struct host_death death = { 0 };
    struct why why = { 0 };
    int rc = ensure_process(c->t, &death, &why);

    if (rc == 1) {
        note_death(c->t->hosted, &death, "while it is opened", c->o);
    } else if (rc < 0 && why.code == WHY_INVALID) { /* it opened when the campaign began */
        case_run_violation(c, "%s", why.text);
        rc = 1;
    } else if (rc < 0) {
        *c->w = why;
    }
    return rc;
}

/* Processes that take over from the first one are not debugged. */
static int attach_debugger(struct hosted *h, struct why *w)
{
    int (*attach)(int pid, void *user, struct why *w) = h->attach;

    h->attach = NULL;
    return attach ? attach((int) host_driver_process(&h->process), h->options.user, w) : 0;
}

int hosted_run(struct case_run *c, const struct hal_model *h)
{
    struct hosted *hosted = c->t->hosted;
    struct lent_arrays l[HOST_EXECUTIONS] = { { .block = NULL } };
    struct host_death death = { 0 };

    const uint64_t submitted = TRACE_IS_ON() ? clock_steady_ns() : 0;
    TRY(case_run_begin_beside(c));
    int rc = submit(c, h, l, &death);
    if (rc < 0)
        return rc;
    if (rc == 1) {
        note_death(hosted, &death, "while it is opened", c->o);
        return 1;
    }
    TRY(attach_debugger(hosted, c->w));
    rc = host_call(&hosted->process, &hosted->options, HOST_RUN, c->options->allowance_ns, &death);
    if (rc == 1)
        return end_by_death(c, l, &death);
    if (TRACE_IS_ON())
        trace_calls(c, submitted);
    struct host_answers a = copy_answers(&hosted->process);
    text_clean(a.failure_text);
    memcpy(c->t->failure_text, a.failure_text, sizeof a.failure_text);
    hosted->kept_run = c->options->keep_prepared && a.stage == STAGE_EXECUTE ? c->o->run : 0;
    rc = hosted_judge_answers(c, h, &a, l);
    if (rc == 0)
        rc = check_written(c, l);
    if (a.repeated[0] && a.repeated_run <= c->o->run)
        case_run_note_repeated(c, a.repeated, a.repeated_run);
    if (c->o->died)
        return rc;
    keep_prints(&hosted->process, c->o);
    hosted_take_back(c, l);
    return rc;
}

bool target_release_prepared(struct target *t, struct outcome *ret_outcome)
{
    struct hosted *h = t->hosted;
    struct host_death death = { 0 };
    struct outcome o = { .stage = STAGE_DONE, .timing = hal_unknown_timing };

    if (!h || !h->process.pid)
        return false;
    h->kept_run = 0;
    if (host_call(&h->process, &h->options, HOST_RELEASE, 0, &death) == 0 ||
        !(o.arena = arena_new(0)))
        return false;
    note_death(h, &death, step_text(TARGET_AT_RELEASE), &o);
    *ret_outcome = o;
    return true;
}

bool target_sweep(struct target *t, uint64_t *ret_run)
{
    if (!t->hosted || !t->hosted->process.memory.arena)
        return false;
    *ret_run = lent_memory_sweep(&t->hosted->process.memory);
    return *ret_run;
}

bool target_take_late_callback(struct target *t, uint64_t *ret_run, char *ret_text, size_t size)
{
    struct hosted *h = t->hosted;
    struct host_death death = { 0 };

    if (!h || !h->process.pid || host_call(&h->process, &h->options, HOST_SETTLE, 0, &death) == 1)
        return false;
    struct host_answers a = copy_answers(&h->process);
    *ret_run = a.repeated_run;
    snprintf(ret_text, size, "%s called back more than once", a.repeated);
    return a.repeated[0] && a.repeated_run <= t->runs;
}

/* ---- opening and closing */

int hosted_open(const char *uri, const char *profile, const struct target_host *host,
                struct target **ret_target, struct why *w)
{
    struct hosted *h = calloc(1, sizeof *h);
    struct host_death death = { 0 };
    struct target *t = NULL;
    struct outcome o = { 0 };

    if (!h || target_of_driver(uri, NULL, &t, w) < 0) {
        free(h);
        return why_no_memory(w);
    }
    t->hosted = h;
    t->driver = &h->facade;
    h->profile = profile ? strdup(profile) : NULL;
    h->is_served = host->is_served;
    h->attach = host->attach;
    h->options = (struct host_options){ .uri = t->uri,
                                        .profile = h->profile,
                                        .may_use_devices = host->may_use_devices,
                                        .may_be_traced = host->attach,
                                        .may_spin = host->may_spin,
                                        .timeout = host->reply_timeout,
                                        .memory_limit = host->memory_limit,
                                        .arena = FIRST_ARENA,
                                        .largest = FIRST_LARGEST,
                                        .waiting = host->waiting,
                                        .user = host->user };
    host_init(&h->process);
    int rc = profile && !h->profile ? why_no_memory(w)
             : host->is_known       ? 0 /* the first run opens it */
                                    : ensure_process(t, &death, w);
    if (rc == 1) {
        o.arena = arena_new(0);
        note_death(h, &death, "while it is opened", &o);
        rc = why_fail(w, WHY_EXECUTION, "%s: %s", uri, o.violation);
        if (host->died)
            host->died(&o, host->user);
        outcome_done(&o);
    }
    if (rc < 0) {
        hosted_free(t);
        return -1;
    }
    *ret_target = t;
    return 0;
}

bool target_close(struct target *t, struct outcome *ret_outcome)
{
    struct hosted *h = t->hosted;
    struct host_death death = { 0 };
    struct outcome o = { .stage = STAGE_DONE, .timing = hal_unknown_timing };

    if (!h || !h->process.pid || !(o.arena = arena_new(0)))
        return false;
    disconnect(t);
    if (host_close(&h->process, &h->options, &death) == 0 || death.signal == SIGKILL) {
        outcome_done(&o);
        return false;
    }
    note_death(h, &death, "while it is closed", &o);
    *ret_outcome = o;
    return true;
}

bool target_has_failed(struct target *t, struct outcome *ret_outcome)
{
    static const char at[] = "while it describes itself";
    struct hosted *h = t->hosted;
    struct host_death death = { 0 };
    struct why why = { 0 };
    struct outcome o = { .stage = STAGE_SUPPORTED, .timing = hal_unknown_timing };

    if (!h || !h->remote || !remote_is_dead(h->remote, &why) || !(o.arena = arena_new(0)))
        return false;
    bool died = !h->process.pid || host_call(&h->process, &h->options, HOST_SETTLE, 0, &death) == 1;
    death.hung = death.hung || (!died && why.code == WHY_TIMEOUT);
    if (!died && !death.hung) {
        outcome_done(&o);
        return false;
    }
    note_death(h, &death, at, &o);
    *ret_outcome = o;
    return true;
}

void hosted_free(struct target *t)
{
    struct host_death death = { 0 };

    disconnect(t);
    if (t->hosted->process.pid)
        host_close(&t->hosted->process, &t->hosted->options, &death);
    host_done(&t->hosted->process);
    free(t->hosted->profile);
    free(t->hosted);
    target_forget(t);
}

int target_process(const struct target *t)
{
    return t->hosted ? (int) host_driver_process(&t->hosted->process) : 0;
}
