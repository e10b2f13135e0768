#include "harness/campaigns/sharded_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "golden/base/text_escape.h"
#include "harness/campaigns/sharded_engine.h"
#include "harness/cli/console.h"

/* How often the folder is looked at; how long shards are counted between two looks. */
enum { POLL_MS = 200 };
#define COUNT_SECONDS 0.2

struct sharded_loop {
    struct sharded_state *state;
    const volatile sig_atomic_t *stop;
    uint16_t *attempts; /* that failed, of each shard */
    uint64_t *submitted;
    size_t n_submitted;
    uint64_t idle_rounds; /* in a row, in which the engine began nothing */
};

static const struct sharded_plan *plan_of(const struct sharded_loop *l)
{
    return l->state->plan;
}

/* ---- when it ends */

/* SHARDED_COMPLETE: it goes on. */
static enum sharded_end stop_rule(const struct sharded_loop *l)
{
    const struct sharded_plan *p = plan_of(l);
    const struct sharded_state *s = l->state;
    if (*l->stop)
        return SHARDED_INTERRUPTED;
    if (p->stop_seconds && console_now() - s->begun >= (double) p->stop_seconds)
        return SHARDED_TIME;
    if (p->stop_buckets && json_object_size(s->buckets) >= p->stop_buckets)
        return SHARDED_BUCKETS;
    if (p->stop_coverage && s->n_same >= p->stop_coverage)
        return SHARDED_COVERAGE;
    return SHARDED_COMPLETE;
}

/* ---- a round */

static void choose_missing(struct sharded_loop *l)
{
    const struct sharded_plan *p = plan_of(l);
    l->n_submitted = 0;
    for (uint64_t i = 1; i <= p->n_shards; i++)
        if (!l->state->set.done[i] && l->attempts[i] <= p->retries)
            l->submitted[l->n_submitted++] = i;
}

/* The last line that the engine printed. */
static void engine_words(const struct sharded_plan *p, char *ret_text, size_t size)
{
    char path[PATH_MAX], line[300];
    sharded_folder_path(p, "logs/engine", path);
    FILE *f = fopen(path, "re");
    *ret_text = 0;
    while (f && fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = 0;
        if (*line)
            snprintf(ret_text, size, "%s", line);
    }
    if (f)
        fclose(f);
}

/* Counts the attempts that failed.  An attempt that ended as bad usage is not repeated: it would
 * end so again. */
static void count_attempts(struct sharded_loop *l)
{
    const struct sharded_plan *p = plan_of(l);
    bool begun = false;
    for (size_t k = 0; k < l->n_submitted; k++) {
        uint64_t i = l->submitted[k];
        struct attempt a = sharded_folder_attempt(p, i);
        begun |= l->state->set.done[i] || a.state != ATTEMPT_NONE;
        if (l->state->set.done[i] || a.state == ATTEMPT_NONE)
            continue;
        if (a.state == ATTEMPT_FAILED && a.status == EXIT_USAGE)
            l->attempts[i] = (uint16_t) (p->retries + 1);
        else
            l->attempts[i]++;
    }
    l->idle_rounds = begun ? 0 : l->idle_rounds + 1;
}

static int end_round(struct sharded_loop *l, int status, struct why *w)
{
    const struct sharded_plan *p = plan_of(l);
    char words[300];
    TRY(sharded_state_update(l->state, COUNT_SECONDS, w));
    count_attempts(l);
    engine_words(p, words, sizeof words);
    REQUIRE(w, status != EXIT_USAGE && status != 126 && status != 127,
            "engine %s cannot be used: %s", p->engine, *words ? words : "it printed nothing");
    if (l->idle_rounds > p->retries)
        return why_fail(
            w, WHY_SYSTEM, "engine %s began no shard in %llu rounds; exit status %d: %s", p->engine,
            (unsigned long long) l->idle_rounds, status, *words ? words : "it printed nothing");
    return 0;
}

static int watch(struct sharded_loop *l, pid_t engine, enum sharded_end *ret_end, int *ret_status,
                 struct why *w)
{
    for (;;) {
        bool ended = sharded_engine_ended(engine, ret_status);
        int failed = sharded_state_update(l->state, COUNT_SECONDS, w);
        *ret_end = failed ? SHARDED_COMPLETE : stop_rule(l);
        if (failed || *ret_end != SHARDED_COMPLETE) {
            struct why ignored;
            sharded_folder_stop(plan_of(l), &ignored);
            if (!ended)
                sharded_engine_stop(engine);
            return failed;
        }
        if (ended)
            return 0;
        sharded_state_show(l->state);
        usleep(POLL_MS * 1000);
    }
}

static int run_round(struct sharded_loop *l, enum sharded_end *ret_end, struct why *w)
{
    const struct sharded_plan *p = plan_of(l);
    char list[PATH_MAX], log[PATH_MAX];
    pid_t engine;
    int status = 0;
    TRY(sharded_folder_submit(p, l->submitted, l->n_submitted, w));
    sharded_folder_path(p, "list", list);
    sharded_folder_path(p, "logs/engine", log);
    TRY(sharded_engine_start(p, list, log, &engine, w));
    TRY(watch(l, engine, ret_end, &status, w));
    return *ret_end == SHARDED_COMPLETE ? end_round(l, status, w) : 0;
}

/* Between rounds, longer after each that began nothing. */
static void pause_loop(const struct sharded_loop *l)
{
    const uint64_t ms = 100 + 2000 * (l->idle_rounds < 10 ? l->idle_rounds : 10);
    for (uint64_t at = 0; at < ms && !*l->stop; at += 50)
        usleep(50 * 1000);
}

static int run_rounds(struct sharded_loop *l, enum sharded_end *ret_end, struct why *w)
{
    struct sharded_state *s = l->state;
    for (int round = 0;; round++) {
        TRY(sharded_state_update(s, round ? COUNT_SECONDS : 0, w));
        choose_missing(l);
        *ret_end = s->set.n_done == s->plan->n_shards ? SHARDED_COMPLETE : SHARDED_MISSING;
        if (!l->n_submitted)
            return 0;
        if (round && !s->quiet) {
            sharded_state_clear(s);
            fprintf(stderr, "halcyon campaign: %zu shard%s missing: submitted again\n",
                    l->n_submitted, l->n_submitted == 1 ? " is" : "s are");
        }
        TRY(run_round(l, ret_end, w));
        if (*ret_end != SHARDED_COMPLETE)
            return 0;
        if (s->set.n_done < s->plan->n_shards)
            pause_loop(l);
    }
}

int sharded_run(struct sharded_state *s, const volatile sig_atomic_t *stop,
                enum sharded_end *ret_end, struct why *w)
{
    const size_t n = s->plan->n_shards + 1;
    struct sharded_loop l = { .state = s,
                              .stop = stop,
                              .attempts = calloc(n, sizeof *l.attempts),
                              .submitted = calloc(n, sizeof *l.submitted) };
    int failed = l.attempts && l.submitted ? run_rounds(&l, ret_end, w) : why_no_memory(w);
    free(l.attempts);
    free(l.submitted);
    sharded_state_clear(s);
    return failed;
}

void sharded_print_missing(struct sharded_state *s)
{
    enum { MOST_SHOWN = 10 };
    const struct sharded_plan *p = s->plan;
    uint64_t shown = 0;
    for (uint64_t i = 1; i <= p->n_shards && shown < MOST_SHOWN; i++) {
        if (s->set.done[i])
            continue;
        struct attempt a = sharded_folder_attempt(p, i);
        shown++;
        fprintf(stderr, "  shard %llu: ", (unsigned long long) i);
        if (a.state == ATTEMPT_FAILED)
            fprintf(stderr, "exit status %d%s", a.status, *a.last ? ": " : "");
        else
            fputs(a.state == ATTEMPT_KILLED ? "killed, or running elsewhere" : "not begun", stderr);
        text_put(stderr, TEXT_TERMINAL, a.last, 0);
        putc('\n', stderr);
    }
    if (p->n_shards - s->set.n_done > shown)
        fprintf(stderr, "  and %llu more; %s/logs has what they printed\n",
                (unsigned long long) (p->n_shards - s->set.n_done - shown), p->output);
}

int sharded_missing_status(const struct sharded_state *s)
{
    for (uint64_t i = 1; i <= s->plan->n_shards; i++) {
        const struct attempt a =
            s->set.done[i] ? (struct attempt){ 0 } : sharded_folder_attempt(s->plan, i);
        if (!s->set.done[i] && (a.state != ATTEMPT_FAILED || a.status != EXIT_USAGE))
            return EXIT_OURS;
    }
    return EXIT_USAGE;
}
