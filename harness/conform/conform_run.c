#include "harness/conform/conform_run.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "harness/check/buffer.h"
#include "harness/conform/conform_models.h"
#include "harness/conform/conform_worker.h"
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

static int check_names(const struct conform_options *o, struct why *w)
{
    for (uint32_t i = 0; i < o->n_suites; i++) {
        bool found = false;
        for (int f = 0; f < conform_n_rules; f++)
            for (int k = 0; k < conform_rules[f]->n; k++)
                found = found || is_named(&conform_rules[f]->rule[k], o->suite[i]);
        REQUIRE(w, found, "no suite or rule '%s' ('halcyon conform --list' lists them)",
                o->suite[i]);
    }
    return 0;
}

struct planning {
    const struct conform_options *o;
    struct conform_run *run;
    uint64_t capacity;
};

static int add_item(struct planning *p, const struct conform_item *item, struct why *w)
{
    struct conform_run *run = p->run;

    if (run->n_items == p->capacity) {
        p->capacity = p->capacity ? 2 * p->capacity : 256;
        struct conform_item *more = realloc(run->item, p->capacity * sizeof *more);
        if (!more)
            return why_no_memory(w);
        run->item = more;
    }
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
    struct planning p = { o, ret_run, 0 };

    *ret_run = (struct conform_run){ 0 };
    TRY(check_names(o, w));
    for (uint32_t t = 0; t < o->n_targets; t++)
        TRY(add_target(&p, t, w));
    return 0;
}

void conform_run_done(struct conform_run *run)
{
    free(run->item);
    *run = (struct conform_run){ 0 };
}

/* ---- results */

struct running {
    struct conform_work work; /* first member: of the workers */
    uint64_t n_jobs, next;    /* next: the first job whose item is not complete */
    struct part_result *result;
    const struct conform_options *o;
    int (*each)(const struct conform_item *item, void *user, struct why *w);
    void *user;
};

/* Of a job; found: NULL until it has a result. */
struct part_result {
    struct conform_result *found;
    enum conform_outcome outcome;
    bool is_complete;
};

/* Control characters, which a driver may have put into a text, are not printed. */
static void make_printable(char *text, size_t size)
{
    text[size - 1] = 0;
    for (char *at = text; *at; at++)
        if (iscntrl((unsigned char) *at))
            *at = '?';
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
    struct conform_result *result;

    if (index == WORKER_POOL_NO_ITEM)
        return 0;
    if (length != sizeof *result || r->result[index].found) {
        why_fail(w, WHY_INVALID, "a result of %zu bytes, or a second one", length);
        return 1;
    }
    result = malloc(sizeof *result);
    if (!result)
        return why_no_memory(w);
    memcpy(result, bytes, length);
    r->result[index].found = result;
    if (result->end > CONFORM_UNDECIDED || result->n_findings > CONFORM_FINDINGS ||
        (result->end == CONFORM_FAILED) != (result->failures > 0) ||
        (result->end == CONFORM_PASSED && !result->checks)) {
        why_fail(w, WHY_INVALID, "a result that makes no sense");
        return 1;
    }
    for (uint32_t i = 0; i < CONFORM_FINDINGS; i++)
        make_printable(result->finding[i], CONFORM_TEXT);
    make_printable(result->reason, CONFORM_TEXT);
    r->result[index].outcome = outcome_of[result->end];
    return 0;
}

static void describe_death(const struct worker_pool_death *d, char *text, size_t size)
{
    if (d->nonsense[0])
        snprintf(text, size, "the worker sent nonsense: %s", d->nonsense);
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
    describe_death(d, death, sizeof death);
    make_printable(progress->doing, CONFORM_TEXT);
    free(p->found);
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
    return 0;
}

static void add_finding(struct conform_result *to, const char *text)
{
    if (to->n_findings < CONFORM_FINDINGS)
        memcpy(to->finding[to->n_findings++], text, CONFORM_TEXT);
}

/* The worst outcome of all parts; one that could not be checked counts only if all are so. */
static void merge(struct conform_item *item, const struct part_result *p, bool is_doubled)
{
    static const int rank[OUTCOMES] = {
        [OUTCOME_UNDECIDED] = 0, [OUTCOME_NOT_APPLICABLE] = 1, [OUTCOME_PASS] = 2,
        [OUTCOME_VIOLATION] = 3, [OUTCOME_HANG] = 4,           [OUTCOME_CRASH] = 5,
    };
    struct conform_result *to = &item->result;

    if (rank[p->outcome] > rank[item->outcome])
        item->outcome = p->outcome;
    to->checks += p->found->checks;
    to->failures += p->found->failures + is_doubled;
    for (uint32_t i = 0; i < p->found->n_findings; i++)
        add_finding(to, p->found->finding[i]);
    if (!to->reason[0])
        memcpy(to->reason, p->found->reason, CONFORM_TEXT);
    if (!is_doubled)
        return;
    if (rank[item->outcome] < rank[OUTCOME_VIOLATION])
        item->outcome = OUTCOME_VIOLATION;
    char text[CONFORM_TEXT] = "a call of the driver returns a second time, in a process that the "
                              "driver forked";
    add_finding(to, text);
}

/* Passes the items on whose parts are all complete, in order. */
static int complete(uint64_t index, void *user, struct why *w)
{
    struct running *r = user;

    r->result[index].is_complete = true;
    while (r->next < r->n_jobs) {
        struct conform_item *item = r->work.job[r->next].item;
        uint64_t end = r->next + item->n_parts;
        for (uint64_t i = r->next; i < end; i++)
            if (!r->result[i].is_complete)
                return 0;
        item->outcome = OUTCOME_UNDECIDED;
        for (; r->next < end; r->next++) {
            if (r->result[r->next].found)
                merge(item, &r->result[r->next],
                      r->work.progress && r->work.progress[r->next].is_doubled);
            free(r->result[r->next].found);
            r->result[r->next].found = NULL;
        }
        TRY(r->each(item, r->user, w));
    }
    return 0;
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

/* The jobs of the target's items; *ret_first: of them.  Returns their number, 0 if there are none,
 * -1: out of memory. */
static int list_jobs(struct running *r, const struct conform_run *run, uint32_t target,
                     struct why *w)
{
    uint64_t n = 0;

    for (uint64_t i = 0; i < run->n_items; i++) {
        run->item[i].n_parts = parts_of(run->item[i].rule);
        n += run->item[i].target == target ? run->item[i].n_parts : 0;
    }
    r->work.job = calloc(n + 1, sizeof *r->work.job);
    r->result = calloc(n + 1, sizeof *r->result);
    if (!r->work.job || !r->result)
        return why_no_memory(w);
    for (uint64_t i = 0; i < run->n_items; i++)
        for (uint32_t k = 0; run->item[i].target == target && k < run->item[i].n_parts; k++)
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
                                                  .complete = complete };
    const struct worker_pool_options pool = { .workers = r->o->jobs,
                                              .timeout = r->o->timeout,
                                              .longest = longest_rule(r->o->timeout),
                                              .longest_message = sizeof(struct conform_result),
                                              .in_process = r->o->in_process,
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
        free(p->found);
        p->found = calloc(1, sizeof *p->found);
        if (!p->found)
            return why_no_memory(w);
        p->found->failures = p->found->n_findings = 1;
        text_append(p->found->finding[0], CONFORM_TEXT, "not checked: %s", reason->text);
        p->outcome = OUTCOME_CRASH;
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
        if (rc < 0 && r->work.scratch)
            rc = fail_rest(r, &reason, w);
        else if (rc < 0)
            *w = reason;
    }
    if (r->work.scratch) /* no worker is left */
        orphans_kill();
    scratch_folder_remove(&scratch);
    for (uint64_t i = 0; r->result && i < r->n_jobs; i++)
        free(r->result[i].found);
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
