#include "harness/conform/conform_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "harness/check/buffer.h"
#include "harness/run/devices.h"
#include "harness/run/worker_pool.h"

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

/* ---- workers */

struct running {
    const struct conform_options *o;
    struct conform_run *run;
    struct conform_progress *progress; /* of each item; shared with the workers */
    bool *complete;
    uint64_t next; /* the first item that was not passed to each() */
    int (*each)(const struct conform_item *item, void *user, struct why *w);
    void *user;
};

struct worker {
    const struct conform_options *o;
    struct worker_pool_link *link;
    struct conform conform;
    struct conform_state state;
    const struct conform_item *open; /* whose target and version the driver has; NULL: none */
};

static int open_target(void *user, struct hal_driver **ret_driver, bool *ret_is_remote,
                       struct why *w)
{
    const struct worker *k = user;
    const char *uri = k->o->target[k->open->target].uri;
    struct target_host host = harness_host;
    struct target *t = NULL;

    host.isolation = ISOLATE_NONE;
    host.reply_timeout = k->o->timeout;
    TRY(target_open(uri, &host, &t, w));
    *ret_is_remote = strncmp(uri, "unix:", 5) == 0;
    *ret_driver = target_take_driver(t);
    return 0;
}

static void keep_alive(void *user)
{
    worker_pool_keep_alive(((struct worker *) user)->link);
}

static int start_worker(void *user, void **ret_state, struct why *w)
{
    const struct running *r = user;
    struct worker *k = calloc(1, sizeof *k);

    if (!k)
        return why_no_memory(w);
    k->o = r->o;
    k->state = (struct conform_state){ .open = open_target, .keep_alive = keep_alive, .user = k };
    *ret_state = k;
    return 0;
}

static void end_worker(struct worker_pool_link *l, void *state, void *user)
{
    struct worker *k = state;

    (void) user;
    k->link = l;
    if (k->open)
        conform_end(&k->conform);
    free(k);
}

static bool is_of(const struct conform_item *a, const struct conform_item *b)
{
    return a && a->target == b->target && a->version == b->version;
}

static int open_for(struct worker *k, const struct conform_item *item, struct why *w)
{
    if (is_of(k->open, item))
        return 0;
    if (k->open)
        conform_end(&k->conform);
    k->open = item;
    if (conform_begin(&k->conform, &k->state, item->version, w) == 0)
        return 0;
    k->open = NULL;
    return -1;
}

static void run_item(struct worker_pool_link *l, uint64_t index, uint32_t step, void *state,
                     void *user)
{
    struct running *r = user;
    struct worker *k = state;
    const struct conform_item *item = &r->run->item[index];
    struct conform_result result = { .end = CONFORM_FAILED, .failures = 1, .n_findings = 1 };
    struct why why = { 0 };

    (void) step;
    k->link = l;
    worker_pool_mark(l, 1);
    snprintf(r->progress[index].doing, CONFORM_TEXT, "opening the driver");
    if (open_for(k, item, &why) < 0)
        text_append(result.finding[0], CONFORM_TEXT, "%s", why.text);
    else
        conform_check(&k->conform, item->rule, &r->progress[index], &result);
    worker_pool_send(l, &result, sizeof result);
}

/* ---- the parent */

static int take_result(uint64_t index, const void *bytes, size_t length, void *user, struct why *w)
{
    static const enum conform_outcome outcome_of[] = {
        [CONFORM_PASSED] = OUTCOME_PASS,
        [CONFORM_FAILED] = OUTCOME_VIOLATION,
        [CONFORM_NOT_APPLICABLE] = OUTCOME_NOT_APPLICABLE,
        [CONFORM_UNDECIDED] = OUTCOME_UNDECIDED,
    };
    struct running *r = user;

    if (index == WORKER_POOL_NO_ITEM)
        return 0;
    struct conform_item *item = &r->run->item[index];
    if (length != sizeof item->result) {
        why_fail(w, WHY_INVALID, "a result of %zu bytes", length);
        return 1;
    }
    memcpy(&item->result, bytes, length);
    struct conform_result *result = &item->result;
    if (result->end > CONFORM_UNDECIDED || result->n_findings > CONFORM_FINDINGS) {
        why_fail(w, WHY_INVALID, "a result that makes no sense");
        return 1;
    }
    for (uint32_t i = 0; i < CONFORM_FINDINGS; i++)
        result->finding[i][CONFORM_TEXT - 1] = 0;
    result->reason[CONFORM_TEXT - 1] = 0;
    item->outcome = outcome_of[result->end];
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
    struct conform_item *item = &r->run->item[index];
    struct conform_progress *p = &r->progress[index];
    char death[200], *text;

    (void) ret_step, (void) w;
    describe_death(d, death, sizeof death);
    p->doing[CONFORM_TEXT - 1] = 0;
    item->result = (struct conform_result){
        .end = CONFORM_FAILED, .checks = p->checks, .failures = 1, .n_findings = 1
    };
    text = item->result.finding[0];
    text_append(text, CONFORM_TEXT, "%s after %u checks", death, p->checks);
    if (p->doing[0])
        text_append(text, CONFORM_TEXT, ": %s", p->doing);
    if (d->last_output[0])
        text_append(text, CONFORM_TEXT, "; it printed: %s", d->last_output);
    item->outcome = d->hang ? OUTCOME_HANG : OUTCOME_CRASH;
    return 0;
}

static int complete(uint64_t index, void *user, struct why *w)
{
    struct running *r = user;

    r->complete[index] = true;
    for (; r->next < r->run->n_items && r->complete[r->next]; r->next++)
        TRY(r->each(&r->run->item[r->next], r->user, w));
    return 0;
}

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

int conform_run(const struct conform_options *o, struct conform_run *run,
                int (*each)(const struct conform_item *item, void *user, struct why *w), void *user,
                struct why *w)
{
    static const struct worker_pool_work work = { .start = start_worker,
                                                  .end = end_worker,
                                                  .item = run_item,
                                                  .message = take_result,
                                                  .died = take_death,
                                                  .complete = complete };
    const struct worker_pool_options pool = {
        .workers = o->jobs, .timeout = o->timeout, .in_process = o->in_process, .stop = o->stop
    };
    size_t size = (run->n_items + 1) * sizeof(struct conform_progress);
    struct running r = { .o = o, .run = run, .each = each, .user = user };

    r.complete = calloc(run->n_items + 1, sizeof *r.complete);
    r.progress = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (!r.complete || r.progress == MAP_FAILED) {
        free(r.complete);
        return why_no_memory(w);
    }
    each_file(run, true);
    int rc = worker_pool_run(&pool, &work, run->n_items, &r, w);
    each_file(run, false);
    munmap(r.progress, size);
    free(r.complete);
    return rc;
}
