#include "harness/conform_run/conform_run.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "golden/base/array.h"
#include "golden/base/clock.h"
#include "golden/base/suggest.h"
#include "golden/base/text_escape.h"
#include "harness/check/buffer.h"
#include "harness/conform/conform_models.h"
#include "harness/conform_run/conform_worker.h"
#include "harness/run/worker_pool.h"
#include "sim/base/orphans.h"
#include "sim/isolation/scratch_folder.h"

const char *const conform_outcome_name[OUTCOMES] = {
    [OUTCOME_PASS] = "pass",
    [OUTCOME_VIOLATION] = "violation",
    [OUTCOME_CRASH] = "crash",
    [OUTCOME_HANG] = "hang",
    [OUTCOME_NOT_APPLICABLE] = "not applicable",
    [OUTCOME_UNDECIDED] = "undecided",
    [OUTCOME_ERROR] = "error",
};

/* ---- the plan */

static bool is_named(const struct conform_rule *r, const char *name)
{
    size_t n = strlen(r->suite);

    return strncmp(name, r->suite, n) == 0 &&
           (!name[n] || (name[n] == '/' && strcmp(name + n + 1, r->name) == 0));
}

static bool is_selected(const struct conform_options *o, const struct conform_rule *r)
{
    for (uint32_t i = 0; i < o->n_suites; i++)
        if (is_named(r, o->suite[i]))
            return true;
    return o->n_suites == 0;
}

static int unknown_name(const char *name, struct why *w)
{
    struct suggestion s = suggest_for(name);
    char text[SUGGEST_TEXT], rule[64], nearest[64];

    for (int i = 0; i < conform_n_suites; i++)
        suggest_candidate(&s, conform_suites[i].name);
    for (int f = 0; f < conform_n_rules; f++)
        for (int k = 0; k < conform_rules[f]->n; k++) {
            const struct conform_rule *r = &conform_rules[f]->rule[k];
            snprintf(rule, sizeof rule, "%s/%s", r->suite, r->name);
            const size_t before = s.distance;
            suggest_candidate(&s, strchr(name, '/') ? rule : r->name);
            if (s.distance < before) {
                memcpy(nearest, rule, sizeof rule);
                s.name = nearest;
            }
        }
    return why_fail(w, WHY_INVALID, "no suite or rule '%s'%s", name,
                    s.name ? suggest_text(&s, "", text) : " ('halcyon conform --list' lists them)");
}

static int check_names(const struct conform_options *o, struct why *w)
{
    for (uint32_t i = 0; i < o->n_suites; i++) {
        bool found = false;
        for (int f = 0; f < conform_n_rules; f++)
            for (int k = 0; k < conform_rules[f]->n; k++)
                found = found || is_named(&conform_rules[f]->rule[k], o->suite[i]);
        if (!found)
            return unknown_name(o->suite[i], w);
    }
    return 0;
}

struct planning {
    const struct conform_options *o;
    struct conform_run *run;
};

static int add_item(struct planning *p, const struct conform_item *item, struct why *w)
{
    struct conform_run *run = p->run;

    struct conform_item *more = array_room(run->item, run->n_items, sizeof *more);
    if (!more)
        return why_no_memory(w);
    run->item = more;
    run->item[run->n_items++] = *item;
    return 0;
}

static int add_rules(struct planning *p, uint32_t target, enum hal_version version,
                     const char *suite, struct why *w)
{
    for (int f = 0; f < conform_n_rules; f++)
        for (int k = 0; k < conform_rules[f]->n; k++) {
            const struct conform_rule *r = &conform_rules[f]->rule[k];
            if (strcmp(r->suite, suite) || !is_selected(p->o, r))
                continue;
            if (!conform_applies(r, version)) {
                p->run->n_not_of_version++;
                continue;
            }
            TRY(add_item(
                p,
                &(struct conform_item){
                    .target = target, .version = version, .file = conform_rules[f], .rule = r },
                w));
        }
    return 0;
}

static int add_target(struct planning *p, uint32_t target, struct why *w)
{
    const struct conform_target *t = &p->o->target[target];
    enum hal_version asked = p->o->version ? p->o->version : t->version;

    REQUIRE(w, asked >= t->lowest && asked <= t->version,
            "%s has the entry points of HAL %s to %s, not of %s", t->uri,
            hal_version_name(t->lowest), hal_version_name(t->version), hal_version_name(asked));
    for (int v = 0; v < HAL_VERSIONS; v++) {
        bool wanted = p->o->all_versions
                          ? hal_versions[v] >= t->lowest && hal_versions[v] <= t->version
                          : hal_versions[v] == asked;
        for (int s = 0; wanted && s < conform_n_suites; s++)
            TRY(add_rules(p, target, hal_versions[v], conform_suites[s].name, w));
    }
    return 0;
}

int conform_plan(const struct conform_options *o, struct conform_run *ret_run, struct why *w)
{
    struct planning p = { o, ret_run };

    *ret_run = (struct conform_run){ 0 };
    TRY(check_names(o, w));
    for (uint32_t t = 0; t < o->n_targets; t++)
        TRY(add_target(&p, t, w));
    return 0;
}

void conform_run_done(struct conform_run *run)
{
    for (uint64_t i = 0; i < run->n_items; i++)
        free(run->item[i].printed);
    free(run->item);
    *run = (struct conform_run){ 0 };
}

/* ---- results */

struct running {
    struct conform_work work; /* first member: of the workers */
    uint64_t n_jobs, next;    /* next: the first job whose item is not passed on yet */
    uint64_t n_begun;         /* jobs that workers have been given, with enough() */
    bool caller_failed;       /* one of the caller's functions: nothing more is run */
    struct part_result *result;
    const struct conform_options *o;
    int (*each)(const struct conform_item *item, void *user, struct why *w);
    void *user;
};

/* Of a job; found: NULL until it has a result. */
struct part_result {
    struct conform_result *found;
    enum conform_outcome outcome;
    char *printed;
    double ms;
    bool is_doubled; /* a call returned in a process that the driver forked, too */
    bool is_complete;
    /* With o->rerun, of a job that does not hold: whether each further run does not either. */
    bool *fails_again;
    uint32_t n_again;
};

static void free_part(struct part_result *p)
{
    free(p->found);
    free(p->printed);
    free(p->fails_again);
    p->found = NULL;
    p->printed = NULL;
    p->fails_again = NULL;
}

static bool outcome_fails(enum conform_outcome o)
{
    return o == OUTCOME_VIOLATION || o == OUTCOME_CRASH || o == OUTCOME_HANG;
}

/* Control characters, which a driver may have put into a text, are not printed. */
static void make_printable(char *text, size_t size)
{
    text[size - 1] = 0;
    for (char *at = text; *at; at++)
        if (iscntrl((unsigned char) *at))
            *at = '?';
}

static char *copy_printed(const char *text, size_t n)
{
    char *copy = n ? strndup(text, n) : NULL;

    if (copy)
        text_clean(copy);
    return copy;
}

/* A worker whose memory the driver has written to may send anything. */
static bool makes_sense(const struct conform_result *r)
{
    return r->end <= CONFORM_UNDECIDED && r->n_findings <= CONFORM_FINDINGS &&
           (r->end == CONFORM_FAILED) == (r->failures > 0) &&
           (r->end != CONFORM_PASSED || r->checks);
}

static int take_result(uint64_t index, const void *bytes, size_t length, void *user, struct why *w)
{
    static const enum conform_outcome outcome_of[] = {
        [CONFORM_PASSED] = OUTCOME_PASS,
        [CONFORM_FAILED] = OUTCOME_VIOLATION,
        [CONFORM_NOT_APPLICABLE] = OUTCOME_NOT_APPLICABLE,
        [CONFORM_UNDECIDED] = OUTCOME_UNDECIDED,
    };
    struct running *r = user;
    struct conform_message m;

    if (index == WORKER_POOL_NO_ITEM)
        return 0;
    struct part_result *p = &r->result[index];
    if (length < sizeof m || (p->found && !p->fails_again)) {
        why_fail(w, WHY_INVALID, "a result of %zu bytes, or a second one", length);
        return 1;
    }
    memcpy(&m, bytes, sizeof m);
    if (!makes_sense(&m.result)) {
        why_fail(w, WHY_INVALID, "a result that makes no sense");
        return 1;
    }
    if (p->fails_again) {
        p->fails_again[p->n_again] = m.result.end == CONFORM_FAILED;
        return 0;
    }
    p->found = malloc(sizeof *p->found);
    if (!p->found)
        return why_no_memory(w);
    *p->found = m.result;
    for (uint32_t i = 0; i < CONFORM_FINDINGS; i++)
        make_printable(p->found->finding[i], CONFORM_TEXT);
    make_printable(p->found->reason, CONFORM_TEXT);
    p->outcome = outcome_of[m.result.end];
    p->ms = isfinite(m.ms) && m.ms > 0 ? m.ms : 0;
    p->printed = copy_printed((const char *) bytes + sizeof m, length - sizeof m);
    return 0;
}

static void describe_death(const struct worker_pool_death *d, char *text, size_t size)
{
    if (d->nonsense[0])
        snprintf(text, size, "the worker sent nonsense: %s", d->nonsense);
    else if (d->memory)
        snprintf(text, size, "exceeds the memory limit: it uses %.1f MiB",
                 (double) d->memory / (1 << 20));
    else if (d->hang)
        snprintf(text, size, "no progress for %.0f s", d->seconds);
    else if (d->signal)
        snprintf(text, size, "crash: %s", strsignal(d->signal));
    else
        snprintf(text, size, "the driver exits the process with status %d", d->exit_status);
}

static int take_death(uint64_t index, const struct worker_pool_death *d, uint32_t *ret_step,
                      void *user, struct why *w)
{
    struct running *r = user;
    struct part_result *p = &r->result[index];
    struct conform_progress *progress = &r->work.progress[index];
    char death[200], *text;

    (void) ret_step;
    if (p->fails_again) {
        p->fails_again[p->n_again] = true;
        return 0;
    }
    describe_death(d, death, sizeof death);
    make_printable(progress->doing, CONFORM_TEXT);
    free_part(p);
    p->found = calloc(1, sizeof *p->found);
    if (!p->found)
        return why_no_memory(w);
    *p->found = (struct conform_result){
        .end = CONFORM_FAILED, .checks = progress->checks, .failures = 1, .n_findings = 1
    };
    text = p->found->finding[0];
    text_append(text, CONFORM_TEXT, "%s after %u checks", death, progress->checks);
    if (progress->doing[0])
        text_append(text, CONFORM_TEXT, ": %s", progress->doing);
    if (d->last_output[0])
        text_append(text, CONFORM_TEXT, "; it printed: %s", d->last_output);
    make_printable(text, CONFORM_TEXT);
    p->outcome = d->hang ? OUTCOME_HANG : OUTCOME_CRASH;
    p->printed = copy_printed(d->printed, strlen(d->printed));
    if (progress->begun)
        p->ms = (double) (clock_steady_ns() - progress->begun) * 1e-6;
    return 0;
}

/* The next of the runs of a job that does not hold; none: 0. */
static int run_again(uint64_t index, uint32_t *ret_step, void *user, struct why *w)
{
    struct running *r = user;
    struct part_result *p = &r->result[index];
    struct conform_progress *progress = &r->work.progress[index];
    bool is_doubled = progress->is_doubled;

    progress->is_doubled = false;
    if (!p->fails_again) {
        p->is_doubled = is_doubled;
        if (!r->o->rerun || !p->found || (!outcome_fails(p->outcome) && !is_doubled))
            return 0;
        p->fails_again = calloc(r->o->rerun, sizeof *p->fails_again);
        if (!p->fails_again)
            return why_no_memory(w);
    } else {
        p->fails_again[p->n_again] |= is_doubled;
        p->n_again++;
    }
    *ret_step = 0;
    return p->n_again < r->o->rerun;
}

static void add_finding(struct conform_result *to, const char *text)
{
    if (to->n_findings < CONFORM_FINDINGS)
        memcpy(to->finding[to->n_findings++], text, CONFORM_TEXT);
}

/* The worst outcome of all parts; one that could not be checked counts only if all are so. */
static void merge_part(struct conform_item *item, struct part_result *p)
{
    static const int rank[OUTCOMES] = {
        [OUTCOME_UNDECIDED] = 0, [OUTCOME_NOT_APPLICABLE] = 1, [OUTCOME_PASS] = 2,
        [OUTCOME_ERROR] = 3,     [OUTCOME_VIOLATION] = 4,      [OUTCOME_HANG] = 5,
        [OUTCOME_CRASH] = 6,
    };
    struct conform_result *to = &item->result;

    if (rank[p->outcome] > rank[item->outcome])
        item->outcome = p->outcome;
    to->checks += p->found->checks;
    to->failures += p->found->failures + p->is_doubled;
    for (uint32_t i = 0; i < p->found->n_findings; i++)
        add_finding(to, p->found->finding[i]);
    if (!to->reason[0])
        memcpy(to->reason, p->found->reason, CONFORM_TEXT);
    item->ms += p->ms;
    if (!item->printed && (outcome_fails(p->outcome) || p->is_doubled)) {
        item->printed = p->printed;
        p->printed = NULL;
    }
    if (!p->is_doubled)
        return;
    if (rank[item->outcome] < rank[OUTCOME_VIOLATION])
        item->outcome = OUTCOME_VIOLATION;
    char text[CONFORM_TEXT] = "a call of the driver returns a second time, in a process that the "
                              "driver forked";
    add_finding(to, text);
}

/* A run of the item does not hold if one of its parts does not; parts that hold are run once. */
static void count_attempts(struct conform_item *item, const struct part_result *p, uint32_t rerun)
{
    bool is_again = false;

    for (uint32_t i = 0; i < item->n_parts; i++)
        is_again = is_again || p[i].fails_again;
    if (!is_again)
        return;
    item->attempts = rerun + 1;
    item->failed_attempts = 1;
    for (uint32_t k = 0; k < rerun; k++) {
        bool fails = false;
        for (uint32_t i = 0; i < item->n_parts; i++)
            fails = fails || (p[i].fails_again && p[i].fails_again[k]);
        item->failed_attempts += fails;
    }
}

/* The answer of one of the caller's functions. */
static int answer_of(struct running *r, int failed)
{
    r->caller_failed = r->caller_failed || failed < 0;
    return failed;
}

/* The item of which p has the results of all parts. */
static int end_item(struct running *r, struct conform_item *item, struct part_result *p,
                    struct why *w)
{
    item->outcome = OUTCOME_UNDECIDED;
    count_attempts(item, p, r->o->rerun);
    for (uint32_t i = 0; i < item->n_parts; i++) {
        if (p[i].found)
            merge_part(item, &p[i]);
        free_part(&p[i]);
    }
    item->is_done = true;
    return r->o->calls.complete ? answer_of(r, r->o->calls.complete(item, r->user, w)) : 0;
}

/* Ends the item if all its parts are complete, and passes items on in order. */
static int complete(uint64_t index, void *user, struct why *w)
{
    struct running *r = user;
    const struct conform_job *job = &r->work.job[index];
    struct part_result *first = &r->result[index - job->part];

    r->result[index].is_complete = true;
    for (uint32_t i = 0; i < job->item->n_parts; i++)
        if (!first[i].is_complete)
            return 0;
    TRY(end_item(r, job->item, first, w));
    while (r->next < r->n_jobs && r->work.job[r->next].item->is_done) {
        const struct conform_item *item = r->work.job[r->next].item;
        r->next += item->n_parts;
        TRY(answer_of(r, r->each(item, r->user, w)));
    }
    return 0;
}

/* The pool asks once for each job, in their order.  An item that has begun is completed. */
static bool has_enough(void *user)
{
    struct running *r = user;
    bool is_first = r->n_begun == r->n_jobs || r->work.job[r->n_begun].part == 0;

    if (is_first && r->o->calls.enough && r->o->calls.enough(r->user))
        return true;
    r->n_begun++;
    return false;
}

static int tick(void *user, struct why *w)
{
    struct running *r = user;

    return r->o->calls.tick ? answer_of(r, r->o->calls.tick(r->user, w)) : 0;
}

/* ---- running */

/* Calls begin() or end() of every file that an item is of. */
static void each_file(const struct conform_run *run, bool begin)
{
    for (int f = 0; f < conform_n_rules; f++) {
        void (*call)(void) = begin ? conform_rules[f]->begin : conform_rules[f]->end;
        bool used = false;
        for (uint64_t i = 0; i < run->n_items && !used; i++)
            used = run->item[i].file == conform_rules[f];
        if (used && call)
            call();
    }
}

static uint32_t parts_of(const struct conform_rule *rule)
{
    uint32_t n = (uint32_t) (conform_n_models + CONFORM_PART - 1) / CONFORM_PART;

    return rule->is_split && n ? n : 1;
}

static bool is_to_run(const struct conform_item *item, uint32_t target)
{
    return item->target == target && !item->is_done;
}

/* The jobs of the target's items; *ret_first: of them.  Returns their number, 0 if there are none,
 * -1: out of memory. */
static int list_jobs(struct running *r, const struct conform_run *run, uint32_t target,
                     struct why *w)
{
    uint64_t n = 0;

    for (uint64_t i = 0; i < run->n_items; i++) {
        run->item[i].n_parts = parts_of(run->item[i].rule);
        n += is_to_run(&run->item[i], target) ? run->item[i].n_parts : 0;
    }
    r->work.job = calloc(n + 1, sizeof *r->work.job);
    r->result = calloc(n + 1, sizeof *r->result);
    if (!r->work.job || !r->result)
        return why_no_memory(w);
    for (uint64_t i = 0; i < run->n_items; i++)
        for (uint32_t k = 0; is_to_run(&run->item[i], target) && k < run->item[i].n_parts; k++)
            r->work.job[r->n_jobs++] = (struct conform_job){ &run->item[i], k };
    return 0;
}

/* Seconds: far more than a rule takes.  A driver may forge the progress that its worker reports. */
static double longest_rule(double timeout)
{
    return timeout > 0 ? 100 * timeout + 2 * conform_stress_seconds : 0;
}

static int run_jobs(struct running *r, struct why *w)
{
    static const struct worker_pool_work work = { .start = conform_worker_start,
                                                  .end = conform_worker_end,
                                                  .item = conform_worker_item,
                                                  .message = take_result,
                                                  .died = take_death,
                                                  .again = run_again,
                                                  .complete = complete,
                                                  .enough = has_enough,
                                                  .tick = tick };
    const uint64_t most = r->work.scratch ? r->o->memory_limit : 0;
    const struct worker_pool_options pool = { .workers = r->o->jobs,
                                              .timeout = r->o->timeout,
                                              .longest = longest_rule(r->o->timeout),
                                              .longest_message =
                                                  sizeof(struct conform_message) + CONFORM_PRINTED,
                                              .in_process = r->o->in_process,
                                              .one_by_one = r->o->rerun || r->o->calls.enough,
                                              .memory = most,
                                              .most = most,
                                              .stop = r->o->stop };
    size_t size = (r->n_jobs + 1) * sizeof(struct conform_progress);

    r->work.progress = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (r->work.progress == MAP_FAILED) {
        r->work.progress = NULL;
        return why_no_memory(w);
    }
    return worker_pool_run(&pool, &work, r->n_jobs, r, w);
}

/* The pool has given up, such as when a driver overwrites the memory that its worker shares with
 * this process: the rules left are not checked, other targets are. */
static int fail_rest(struct running *r, const struct why *reason, struct why *w)
{
    for (uint64_t i = r->next; i < r->n_jobs; i++) {
        struct part_result *p = &r->result[i];
        if (p->is_complete)
            continue;
        free_part(p);
        p->found = calloc(1, sizeof *p->found);
        if (!p->found)
            return why_no_memory(w);
        p->found->failures = p->found->n_findings = 1;
        text_append(p->found->finding[0], CONFORM_TEXT, "not checked: %s", reason->text);
        p->outcome = OUTCOME_ERROR;
        TRY(complete(i, r, w));
    }
    return 0;
}

/* Each target has workers of its own: its driver shares no process and no memory with another
 * target's. */
static int run_target(const struct conform_options *o, const struct conform_run *run,
                      uint32_t target, struct running *r, struct why *w)
{
    struct scratch_folder scratch = SCRATCH_FOLDER_NONE;
    int rc = list_jobs(r, run, target, w);

    r->work.uri = o->target[target].uri;
    r->work.timeout = o->timeout;
    if (rc == 0 && o->target[target].is_isolated && !o->in_process) {
        rc = scratch_folder_make(&scratch, w);
        r->work.scratch = scratch.path;
        orphans_adopt();
    }
    if (rc == 0 && r->n_jobs) {
        struct why reason = { 0 };
        rc = run_jobs(r, &reason);
        if (rc < 0 && r->work.scratch && !r->caller_failed)
            rc = fail_rest(r, &reason, w);
        else if (rc < 0)
            *w = reason;
    }
    if (r->work.scratch) /* no worker is left */
        orphans_kill();
    scratch_folder_remove(&scratch);
    for (uint64_t i = 0; r->result && i < r->n_jobs; i++)
        free_part(&r->result[i]);
    if (r->work.progress)
        munmap(r->work.progress, (r->n_jobs + 1) * sizeof *r->work.progress);
    free(r->result);
    free(r->work.job);
    return rc;
}

int conform_run(const struct conform_options *o, struct conform_run *run,
                int (*each)(const struct conform_item *item, void *user, struct why *w), void *user,
                struct why *w)
{
    int rc = 0;

    scratch_folder_remove_stale();
    each_file(run, true);
    for (uint32_t t = 0; rc == 0 && t < o->n_targets; t++) {
        struct running r = { .o = o, .each = each, .user = user };
        rc = run_target(o, run, t, &r, w);
    }
    each_file(run, false);
    return rc;
}
