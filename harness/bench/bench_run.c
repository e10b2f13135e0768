#include "harness/bench/bench_run.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "golden/base/clock.h"
#include "harness/bench/bench_times.h"
#include "harness/check/per_op_check.h"
#include "harness/run/devices.h"

enum { MOST_COMPILATIONS = 100 };

/* When a loop of measurements ends: its time counts what is measured only. */
struct limit {
    double ns;
    uint64_t iterations;
};

static struct limit limit_of(const struct bench_options *o, double seconds, uint64_t most)
{
    const uint64_t n = o->iterations ? o->iterations : UINT64_MAX;

    return (struct limit){ seconds * 1e9, n < most ? n : most };
}

/* ---- compilation */

struct cache_files {
    struct hal_cache cache;
    int model[HAL_MAX_CACHE_FILES], data[HAL_MAX_CACHE_FILES];
};

static void cache_close(struct cache_files *f)
{
    for (uint32_t i = 0; i < f->cache.n_model; i++)
        close(f->model[i]);
    for (uint32_t i = 0; i < f->cache.n_data; i++)
        close(f->data[i]);
    f->cache.n_model = f->cache.n_data = 0;
}

static int cache_open(const struct bench_driver *d, struct cache_files *f, struct why *w)
{
    const uint32_t n = d->n_model_cache + d->n_data_cache;

    *f = (struct cache_files){ 0 };
    f->cache = (struct hal_cache){ .model = f->model, .data = f->data, .token = { 0xbe } };
    for (uint32_t i = 0; i < n; i++) {
        const int fd = memfd_create("halcyon-bench-cache", MFD_CLOEXEC);
        if (fd < 0) {
            cache_close(f);
            return why_fail(w, WHY_SYSTEM, "a cache file: %s", strerror(errno));
        }
        if (i < d->n_model_cache)
            f->model[f->cache.n_model++] = fd;
        else
            f->data[f->cache.n_data++] = fd;
    }
    return 0;
}

static uint64_t cache_bytes(const struct cache_files *f)
{
    uint64_t bytes = 0;
    struct stat s;

    for (uint32_t i = 0; i < f->cache.n_model; i++)
        bytes += fstat(f->model[i], &s) == 0 ? (uint64_t) s.st_size : 0;
    for (uint32_t i = 0; i < f->cache.n_data; i++)
        bytes += fstat(f->data[i], &s) == 0 ? (uint64_t) s.st_size : 0;
    return bytes;
}

/* Prepares again and again.  files: written anew each time, or read; NULL: no cache. */
static int compile(struct bench_driver *d, enum bench_what what, struct limit limit,
                   struct cache_files *files, struct bench_durations *to, struct bench_end *e,
                   struct why *w)
{
    double sum = 0;

    for (uint64_t i = 0; i < limit.iterations && (!i || sum < limit.ns); i++) {
        uint64_t ns;
        if (what == BENCH_COMPILE_SAVE) {
            cache_close(files);
            TRY(cache_open(d, files, w));
        }
        if (!bench_driver_prepare(d, what, files ? &files->cache : NULL, &ns, e))
            return 0;
        sum += (double) ns;
        if (to)
            TRY(bench_durations_add(to, ns, w));
    }
    return 0;
}

/* One kind of compilation: warm-up, then measured. */
static int measure_compilation(struct bench_driver *d, enum bench_what what,
                               const struct bench_options *o, struct cache_files *files,
                               struct bench_result *r, struct bench_end *e, struct why *w)
{
    struct bench_durations times = { 0 };
    int failed = compile(d, what, limit_of(o, o->warm_up, MOST_COMPILATIONS), files, NULL, e, w);

    if (!failed && e->verdict == VERDICT_PASS)
        failed = compile(d, what, limit_of(o, o->seconds, MOST_COMPILATIONS), files, &times, e, w);
    if (!failed)
        r->times[what][BENCH_WALL] = bench_times_of(&times);
    bench_durations_done(&times);
    return failed;
}

static int measure_compilations(struct bench_driver *d, const struct bench_options *o,
                                struct bench_result *r, struct bench_end *e, struct why *w)
{
    struct cache_files files = { 0 };

    TRY(measure_compilation(d, BENCH_COMPILE, o, NULL, r, e, w));
    if (e->verdict != VERDICT_PASS || d->version < HAL_1_2 ||
        d->n_model_cache + d->n_data_cache == 0)
        return 0;
    int failed = measure_compilation(d, BENCH_COMPILE_SAVE, o, &files, r, e, w);
    r->cache_bytes = cache_bytes(&files);
    if (!r->cache_bytes)
        memset(&r->times[BENCH_COMPILE_SAVE], 0, sizeof r->times[BENCH_COMPILE_SAVE]);
    else if (!failed && e->verdict == VERDICT_PASS)
        failed = measure_compilation(d, BENCH_COMPILE_LOAD, o, &files, r, e, w);
    cache_close(&files);
    return failed;
}

/* ---- latency */

static int add_times(const uint64_t ns[BENCH_CLOCKS], struct bench_durations *to, struct why *w)
{
    for (int c = 0; c < BENCH_CLOCKS; c++)
        if (ns[c] != HAL_NO_TIME)
            TRY(bench_durations_add(&to[c], ns[c], w));
    return 0;
}

/* Sequences in turn, each whole unless the iterations are used up.  to: NULL: for warm-up. */
static int execute(struct bench_slot *s, const struct bench_data *data, enum bench_what what,
                   struct limit limit, struct bench_durations *to, struct bench_end *e,
                   struct why *w)
{
    struct arena *a = arena_new(0);
    uint64_t n = 0;
    double sum = 0;
    int failed = a ? 0 : why_no_memory(w);

    for (uint32_t i = 0; !failed && n < limit.iterations && (!n || sum < limit.ns);
         i = (i + 1) % data->n_used) {
        struct bench_sequence q;
        arena_empty(a, (size_t) 64 << 20);
        failed = bench_data_get(data, i, a, &q, w);
        for (uint32_t j = 0; !failed && j < q.n && n < limit.iterations; j++, n++) {
            uint64_t ns[BENCH_CLOCKS];
            bench_slot_put(s, &q, j);
            if (!bench_slot_execute(s, what, ns, e)) {
                arena_free(a);
                return 0;
            }
            sum += (double) ns[BENCH_WALL];
            if (to)
                failed = add_times(ns, to, w);
        }
    }
    arena_free(a);
    return failed;
}

static int measure_latency(struct bench_slot *s, const struct bench_data *data,
                           enum bench_what what, const struct bench_options *o,
                           struct bench_result *r, struct bench_end *e, struct why *w)
{
    struct bench_durations times[BENCH_CLOCKS] = { 0 };
    int failed = execute(s, data, what, limit_of(o, o->warm_up, UINT64_MAX), NULL, e, w);

    if (!failed && e->verdict == VERDICT_PASS)
        failed = execute(s, data, what, limit_of(o, o->seconds, UINT64_MAX), times, e, w);
    for (int c = 0; c < BENCH_CLOCKS; c++) {
        if (!failed)
            r->times[what][c] = bench_times_of(&times[c]);
        bench_durations_done(&times[c]);
    }
    return failed;
}

static int measure_latencies(struct bench_slot *s, const struct bench_data *data,
                             const struct bench_options *o, struct bench_result *r,
                             struct bench_end *e, struct why *w)
{
    TRY(measure_latency(s, data, BENCH_SYNCHRONOUS, o, r, e, w));
    if (e->verdict != VERDICT_PASS || s->driver->version < HAL_1_2 ||
        !s->driver->prepared->methods->configure_burst)
        return 0;
    return measure_latency(s, data, BENCH_BURST, o, r, e, w);
}

/* The first execution of a model that is just prepared, then the times. */
static int measure_executions(struct bench_driver *d, const struct bench_data *data,
                              const struct bench_options *o, struct bench_result *r,
                              struct bench_end *e, struct why *w)
{
    struct bench_durations first[BENCH_CLOCKS] = { 0 };
    struct bench_slot s;

    TRY(bench_slot_init(&s, d, w));
    int failed = execute(&s, data, BENCH_SYNCHRONOUS, (struct limit){ INFINITY, 1 }, first, e, w);
    if (!failed && first[BENCH_WALL].n)
        r->first_ns = (double) first[BENCH_WALL].ns[0];
    for (int c = 0; c < BENCH_CLOCKS; c++)
        bench_durations_done(&first[c]);
    if (!failed && e->verdict == VERDICT_PASS && !o->no_latency)
        failed = measure_latencies(&s, data, o, r, e, w);
    bench_slot_done(&s);
    return failed;
}

/* ---- accuracy */

/* The reference itself has these scores already. */
static int score_reference(const struct bench_scores *s, struct bench_result *r, struct why *w)
{
    r->n_sequences = s->data->n_used;
    r->n_inferences = s->n_inferences;
    return bench_metrics_make(s, s, r, w);
}

static int score(struct bench_driver *d, const struct bench_data *data,
                 const struct bench_scores *reference, const struct bench_options *o,
                 struct bench_result *r, struct bench_end *e, struct why *w)
{
    struct bench_scores s;

    if (reference && strcmp(target_uri(d->target), "golden") == 0)
        return score_reference(reference, r, w);
    TRY(bench_scores_make(d, data, reference, false, o->jobs, &s, e, w));
    int failed = 0;
    if (e->verdict == VERDICT_PASS) {
        r->n_sequences = data->n_used;
        r->n_inferences = s.n_inferences;
        failed = bench_metrics_make(&s, reference, r, w);
    }
    bench_scores_done(&s);
    return failed;
}

/* Without an evaluator, outputs are judged by their error bounds: of the first inference of some
 * sequences, as `halcyon run` does with its cases. */
static int judge_one(struct target *t, const struct bench_data *data, uint32_t i, struct arena *a,
                     struct bench_result *r, struct why *w)
{
    const struct bench_model *m = data->model;
    const uint32_t n_in = m->model.graph[0].n_inputs, n_out = m->model.graph[0].n_outputs;
    struct example e = { .name = m->name, .model = m->model };
    struct bench_sequence q;
    struct check check;
    struct check_result c;
    struct outcome o;

    TRY(bench_data_get(data, i, a, &q, w));
    e.in = arena_copy(a, m->in, n_in * sizeof(*e.in));
    e.expected = arena_copy(a, m->out, n_out * sizeof(*e.expected));
    e.ignored = arena_alloc(a, n_out, sizeof(bool));
    if (!e.in || !e.expected || !e.ignored)
        return why_no_memory(w);
    for (uint32_t k = 0; k < m->n_data; k++)
        e.in[m->data[k]].data = (void *) (uintptr_t) q.in[k];
    for (uint32_t k = 0; k < m->n_states; k++) {
        struct tensor *in = &e.in[m->state[k].in];
        in->data = arena_alloc(a, tensor_bytes(in) + 1, 1);
        if (!in->data)
            return why_no_memory(w);
        bench_model_reset(in, in->data);
    }
    TRY(check_begin(&check, &e, JUDGE_BOUND, w));
    check_reference(&check);
    if (check_run(&check, t, &o, &c) >= 0) {
        check_judge(&check, &o, &c, NULL);
        per_op_check_run(&check, t, &c, NULL);
    }
    check_done(&check);
    if (c.verdict != VERDICT_PASS && r->verdict <= VERDICT_UNDECIDED) {
        r->verdict = c.verdict;
        snprintf(r->why, sizeof r->why, "inference 0 of sequence %u: %.350s", q.index, c.why);
    }
    return 0;
}

static int judge_outputs(const char *uri, const struct bench_data *data,
                         const struct bench_options *o, struct bench_result *r, struct why *w)
{
    enum { JUDGED = 2 };
    struct target_host host = harness_host;
    struct arena *a = arena_new(0);
    struct target *t;
    int failed = a ? 0 : why_no_memory(w);

    host.reply_timeout = o->timeout;
    if (!failed && target_open(uri, &host, &t, w) < 0)
        failed = -1;
    if (!failed) {
        for (uint32_t i = 0; !failed && i < JUDGED && i < data->n_used; i++)
            failed = judge_one(t, data, i, a, r, w);
        target_free(t);
    }
    arena_free(a);
    return failed;
}

/* ---- all of it */

static int measure(struct bench_driver *d, const struct bench_data *data,
                   const struct bench_scores *reference, const struct bench_options *o,
                   struct bench_result *r, struct bench_end *e, struct why *w)
{
    uint64_t ns;

    if (!bench_driver_prepare(d, BENCH_COMPILE, NULL, &ns, e))
        return 0;
    r->first_compile_ns = (double) ns;
    TRY(measure_executions(d, data, o, r, e, w));
    if (e->verdict == VERDICT_PASS && !o->no_compile && !o->no_latency) {
        TRY(measure_compilations(d, o, r, e, w));
        if (e->verdict == VERDICT_PASS)
            bench_driver_prepare(d, BENCH_COMPILE, NULL, &ns, e);
    }
    if (e->verdict == VERDICT_PASS && !o->no_accuracy)
        TRY(score(d, data, reference, o, r, e, w));
    r->memory_bytes = bench_driver_memory(d);
    return 0;
}

static void conclude(struct bench_result *r, const struct bench_end *e, const struct bench_data *d,
                     const struct bench_options *o)
{
    r->verdict = e->verdict;
    snprintf(r->why, sizeof r->why, "%s", e->why);
    if (e->verdict != VERDICT_PASS)
        return;
    for (uint32_t i = 0; i < r->n_metrics && r->verdict == VERDICT_PASS; i++)
        if (r->metric[i].why[0]) {
            r->verdict = VERDICT_FAIL;
            snprintf(r->why, sizeof r->why, "%s", r->metric[i].why);
        }
    if (o->no_accuracy) {
        r->verdict = VERDICT_UNDECIDED;
        snprintf(r->why, sizeof r->why, "accuracy was not measured");
    } else if (d->entry->golden_remark && r->verdict == VERDICT_PASS) {
        snprintf(r->why, sizeof r->why, "%s", d->entry->golden_remark);
    }
}

int bench_run(const char *uri, const struct bench_model *m, const struct bench_data *data,
              const struct bench_scores *reference, const struct bench_options *o,
              struct bench_result *ret_result, struct why *w)
{
    struct bench_result r = { .verdict = VERDICT_PASS };
    struct bench_driver d;
    struct bench_end e;

    TRY(bench_driver_open(uri, m, o->timeout, &d, &e, w));
    int failed = e.verdict == VERDICT_PASS ? measure(&d, data, reference, o, &r, &e, w) : 0;
    bench_driver_close(&d);
    TRY(failed);
    conclude(&r, &e, data, o);
    if (r.verdict == VERDICT_PASS && data->entry->evaluator == EVALUATE_OUTPUTS &&
        strcmp(uri, "golden") != 0)
        TRY(judge_outputs(uri, data, o, &r, w));
    *ret_result = r;
    return 0;
}

int bench_run_reference(const struct bench_model *m, const struct bench_data *data,
                        const struct bench_options *o, struct bench_scores *ret_scores,
                        struct why *w)
{
    struct bench_driver d;
    struct bench_end e;
    uint64_t ns;
    int failed = 0;

    TRY(bench_driver_open("golden", m, 0, &d, &e, w));
    if (e.verdict == VERDICT_PASS && bench_driver_prepare(&d, BENCH_COMPILE, NULL, &ns, &e))
        failed = bench_scores_make(&d, data, NULL, true, o->jobs, ret_scores, &e, w);
    if (!failed && e.verdict != VERDICT_PASS) {
        if (ret_scores->arena)
            bench_scores_done(ret_scores);
        failed = why_fail(w, WHY_EXECUTION, "the reference: %.300s", e.why);
    }
    bench_driver_close(&d);
    return failed;
}
