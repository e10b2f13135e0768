/* Random sequences of valid and invalid calls on several models: every call ends as it does alone,
 * whatever came before it, with exact results.  Each rule draws from the calls of its suite. */
#include <string.h>
#include <sys/mman.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "harness/conform/conform_requests.h"
#include "harness/conform/conform_threads.h"
#include "harness/conform/conform_usage.h"
#include "harness/corrupt/cache_files.h"
#include "randgraph/randgraph.h"
#include "sim/base/fence.h"

enum {
    TEXTS = 4,
    SUBJECTS = TEXTS + 2,
    SLOTS = 6,
    FILE_SETS = 3,
    PENDING = 5,
    STEPS = 400,
    REMOTE_STEPS = 120
};

struct slot {
    struct hal_prepared_model *prepared; /* NULL: empty */
    uint32_t subject;
    bool is_relaxed;                /* results are not compared */
    struct hal_execution *reusable; /* of the prepared model; NULL: none */
    struct arena *arena;            /* of its request */
    struct conform_request request;
};

/* Cache files; several models may be saved to the same ones, one after another. */
struct file_set {
    struct files files;
    bool is_saved;
    uint32_t subject; /* whose model was saved last */
};

/* A fenced execution that may still be running. */
struct pending {
    struct hal_fenced_info *info; /* NULL: none */
    int fence;
    struct arena *arena;
    struct conform_request request;
    uint32_t subject;
    bool is_relaxed;
    bool fails;     /* a fence that it waits for fails */
    bool is_beside; /* another execution may have been waiting, too */
};

/* What all threads of a rule share; only sequences on the rule's own thread change it. */
struct world {
    struct conform *conform;
    struct conform_model model[SUBJECTS]; /* texts, then random models, which are not owned */
    struct tensor *expected[SUBJECTS];    /* a random model's: what it computes first */
    int shared_file[SUBJECTS];            /* with the model's inputs, from its second page on */
    uint32_t n_subjects, n_texts;
    struct slot slot[SLOTS];
    struct file_set set[FILE_SETS];
    bool has_kind[EXECUTION_WAYS]; /* by conform_kinds */
    bool is_caching;               /* the driver restores what it has saved */
    bool is_threaded;              /* other threads execute, too */
};

struct sequence {
    struct world *world;
    struct rng rng;
    struct arena *arena; /* of one step */
    struct pending pending[PENDING];
};

static bool chance(struct sequence *q, uint32_t percent)
{
    return rng_below(&q->rng, 100) < percent;
}

static bool is_missed(enum hal_status s)
{
    return s == HAL_MISSED_DEADLINE_TRANSIENT || s == HAL_MISSED_DEADLINE_PERSISTENT;
}

/* ---- deadlines */

enum { MS = 1000000, NEAR_MS = 12 };

/* None, in an hour, or (ret_may_miss) a few milliseconds ahead or past. */
static uint64_t draw_deadline(struct sequence *q, bool *ret_may_miss)
{
    const uint64_t now = hal_now(q->world->conform->version);

    *ret_may_miss = false;
    if (chance(q, 50))
        return HAL_NO_DEADLINE;
    *ret_may_miss = chance(q, 60);
    if (!*ret_may_miss)
        return now + UINT64_C(3600000000000);
    return chance(q, 30) ? now : now + (1 + rng_below(&q->rng, NEAR_MS)) * (uint64_t) MS;
}

/* ---- preparing, saving, restoring, releasing */

static void clear_slot(struct slot *s)
{
    if (s->reusable) {
        s->reusable->methods->release(s->reusable);
        arena_free(s->arena);
    }
    if (s->prepared)
        s->prepared->methods->release(s->prepared);
    *s = (struct slot){ NULL };
}

static struct slot *empty_slot(struct sequence *q)
{
    struct slot *s = &q->world->slot[rng_below(&q->rng, SLOTS)];

    clear_slot(s);
    return s;
}

static struct hal_prepare_config draw_config(struct sequence *q, bool *ret_may_miss)
{
    const enum hal_version v = q->world->conform->version;
    struct hal_prepare_config config = client_default_preparation;

    *ret_may_miss = false;
    if (v >= HAL_1_1)
        config.preference = (enum hal_preference) rng_below(&q->rng, 3);
    if (v >= HAL_1_3) {
        config.priority = (enum hal_priority) rng_below(&q->rng, 3);
        config.deadline = draw_deadline(q, ret_may_miss);
    }
    return config;
}

static void prepare(struct sequence *q)
{
    struct world *w = q->world;
    struct slot *s = empty_slot(q);
    bool may_miss;
    const struct hal_prepare_config config = draw_config(q, &may_miss);

    s->subject = rng_below(&q->rng, w->n_subjects);
    struct hal_model hal = w->model[s->subject].hal;
    s->is_relaxed = w->conform->version >= HAL_1_1 && chance(q, 20);
    hal.relaxed = s->is_relaxed;
    struct conform_prepared p = conform_prepare(w->conform, w->conform->version, &hal, &config);
    EXPECT(w->conform, p.status == HAL_NONE || (may_miss && is_missed(p.status)),
           "%s: prepare_model: %s, expected NONE", w->model[s->subject].name,
           hal_status_name(p.status));
    s->prepared = p.model;
}

static void save(struct sequence *q)
{
    struct world *w = q->world;
    struct file_set *f = &w->set[rng_below(&q->rng, FILE_SETS)];
    struct slot *s = empty_slot(q);

    if (!w->is_caching)
        return;
    s->subject = f->subject = rng_below(&q->rng, w->n_subjects);
    for (int i = 0; i < 4; i++)
        f->files.token[i] = (uint8_t) rng_below(&q->rng, 256);
    const struct hal_prepare_config config = files_config(&f->files);
    struct conform_prepared p =
        conform_prepare(w->conform, w->conform->version, &w->model[s->subject].hal, &config);
    EXPECT(w->conform, p.status == HAL_NONE, "%s: prepare_model with a cache: %s, expected NONE",
           w->model[s->subject].name, hal_status_name(p.status));
    s->prepared = p.model;
    f->is_saved = p.model;
}

static void restore(struct sequence *q)
{
    struct world *w = q->world;
    struct file_set *f = &w->set[rng_below(&q->rng, FILE_SETS)];

    if (!w->is_caching || !f->is_saved)
        return;
    struct files wrong = f->files;
    const bool is_right = chance(q, 85);
    wrong.token[HAL_TOKEN_BYTES - 1] ^= is_right ? 0 : 1;
    const struct hal_prepare_config config = files_config(&wrong);
    struct slot *s = empty_slot(q);
    struct conform_prepared p = conform_prepare(w->conform, w->conform->version, NULL, &config);
    EXPECT(w->conform, p.status == (is_right ? HAL_NONE : HAL_GENERAL_FAILURE),
           "%s: prepare_model_from_cache with %s token: %s", w->model[f->subject].name,
           is_right ? "its" : "another", hal_status_name(p.status));
    s->prepared = p.model;
    s->subject = f->subject;
}

static void release(struct sequence *q)
{
    empty_slot(q);
}

/* ---- executions */

/* The pools: as they are, each in a file, or the inputs in a file that all executions share. */
static bool place(struct sequence *q, const struct slot *s, struct conform_request *r)
{
    const uint64_t page = (uint64_t) sysconf(_SC_PAGESIZE);

    switch (rng_below(&q->rng, 3)) {
    case 0: return false;
    case 1: conform_request_use_files(r); return true;
    }
    r->own[0] = NULL;
    r->pool[0].memory = (struct hal_memory){ .kind = HAL_MEMORY_FD,
                                             .protection = HAL_MEMORY_READ,
                                             .fd = q->world->shared_file[s->subject],
                                             .offset = page,
                                             .size = r->pool[0].memory.size };
    return false;
}

/* A prepared model and a kind of execution that it has; NULL: none was drawn. */
static const struct slot *draw_slot(struct sequence *q, const struct conform_kind **ret_kind)
{
    enum { TRIES = 8 };
    struct world *w = q->world;

    for (int i = 0; i < TRIES; i++) {
        const struct slot *s = &w->slot[rng_below(&q->rng, SLOTS)];
        *ret_kind = &conform_kinds[rng_below(&q->rng, (uint32_t) conform_n_kinds)];
        if (s->prepared && conform_can_run(w->conform, s->prepared, *ret_kind, w->conform->version))
            return s;
    }
    return NULL;
}

/* An execution begins.  Whether others may be waiting, too: the driver may then be short of
 * resources for it, and for those that are pending. */
static bool begins_beside(struct sequence *q)
{
    bool any = q->world->is_threaded;

    for (int i = 0; i < PENDING; i++)
        if (q->pending[i].info)
            any = q->pending[i].is_beside = true;
    return any;
}

static enum hal_status run(struct sequence *q, const struct conform_kind *k, const struct slot *s,
                           struct conform_request *r, const struct hal_execution_config *config)
{
    const enum hal_version v = q->world->conform->version;

    return begins_beside(q) ? conform_run_beside(k, s->prepared, v, r, config)
                            : k->run(s->prepared, v, r, config);
}

static void expect_outputs(struct sequence *q, uint32_t subject, bool is_relaxed,
                           const struct conform_request *r, enum hal_status status, bool may_miss,
                           const char *kind)
{
    struct world *w = q->world;

    EXPECT(w->conform, status == HAL_NONE || (may_miss && is_missed(status)),
           "%s, %s execution: %s, expected NONE", w->model[subject].name, kind,
           hal_status_name(status));
    if (status == HAL_NONE && !is_relaxed)
        EXPECT(w->conform, conform_outputs_are(r, w->expected[subject]),
               "%s, %s execution: wrong results", w->model[subject].name, kind);
}

static void execute(struct sequence *q)
{
    struct hal_execution_config config = client_config();
    const enum hal_version v = q->world->conform->version;
    const struct conform_kind *k;
    const struct slot *s = draw_slot(q, &k);
    struct conform_request r;
    bool may_miss = false;

    if (!s)
        return;
    conform_request(&q->world->model[s->subject].example, q->arena, &r);
    bool is_in_files = place(q, s, &r);
    config.measure = v >= HAL_1_2 && chance(q, 30);
    if (v >= k->deadlines)
        config.deadline = draw_deadline(q, &may_miss);
    enum hal_status status = run(q, k, s, &r, &config);
    expect_outputs(q, s->subject, s->is_relaxed, &r, status, may_miss, k->name);
    if (is_in_files)
        conform_request_close_files(&r);
}

static void execute_short(struct sequence *q)
{
    const struct hal_execution_config config = client_config();
    struct world *w = q->world;
    const struct conform_kind *k;
    const struct slot *s = draw_slot(q, &k);
    struct conform_request r;

    if (!s || !k->reports || w->conform->version < HAL_1_2)
        return;
    conform_request(&w->model[s->subject].example, q->arena, &r);
    size_t size = tensor_bytes(&w->model[s->subject].example.expected[0]);
    if (size < 2)
        return;
    r.outputs[0].location.length = size - 1;
    enum hal_status status = run(q, k, s, &r, &config);
    EXPECT(w->conform, status == HAL_OUTPUT_INSUFFICIENT_SIZE,
           "%s, %s execution with an output that is too short: %s, expected "
           "OUTPUT_INSUFFICIENT_SIZE",
           w->model[s->subject].name, k->name, hal_status_name(status));
}

static void execute_invalid(struct sequence *q)
{
    const struct hal_execution_config config = client_config();
    struct world *w = q->world;
    const struct conform_kind *k;
    const struct slot *s = draw_slot(q, &k);
    struct conform_request r;

    if (!s)
        return;
    conform_request(&w->model[s->subject].example, q->arena, &r);
    switch (rng_below(&q->rng, 4)) {
    case 0: r.hal.n_outputs--; break;
    case 1: r.outputs[0].location.pool = r.hal.n_pools; break;
    case 2: r.inputs[0].location.length--; break;
    default: r.inputs[0].location.offset = r.pool[0].memory.size - 1; break;
    }
    enum hal_status status = run(q, k, s, &r, &config);
    EXPECT(w->conform, status == HAL_INVALID_ARGUMENT && conform_result_is_empty(&r.result),
           "%s, %s execution of an invalid request: %s, expected INVALID_ARGUMENT",
           w->model[s->subject].name, k->name, hal_status_name(status));
}

/* Inputs of other bytes, which may be invalid: any status is right. */
static void execute_other(struct sequence *q)
{
    const struct hal_execution_config config = client_config();
    const struct conform_kind *k;
    const struct slot *s = draw_slot(q, &k);
    struct conform_request r;

    if (!s)
        return;
    conform_request(&q->world->model[s->subject].example, q->arena, &r);
    for (uint64_t i = 0; i < r.pool[0].memory.size; i++)
        ((uint8_t *) r.pool[0].memory.address)[i] ^= (uint8_t) rng_below(&q->rng, 256);
    run(q, k, s, &r, &config);
}

/* ---- reusable executions: each computation has its own deadline */

static bool has_kind(const struct world *w, const char *name)
{
    return w->has_kind[conform_kind_named(name) - conform_kinds];
}

static bool create_reusable(struct sequence *q, struct slot *s)
{
    const struct hal_execution_config config = client_config();
    struct world *w = q->world;

    if (s->reusable)
        return true;
    s->arena = arena_new(0);
    conform_request(&w->model[s->subject].example, s->arena, &s->request);
    enum hal_status status = s->prepared->methods->create_reusable_execution(
        s->prepared, &s->request.hal, &config, &s->reusable);
    EXPECT(w->conform, status == HAL_NONE && s->reusable,
           "%s: create_reusable_execution: %s, expected NONE", w->model[s->subject].name,
           hal_status_name(status));
    if (!s->reusable)
        arena_free(s->arena);
    return s->reusable;
}

static void compute(struct sequence *q)
{
    struct world *w = q->world;
    struct slot *s = &w->slot[rng_below(&q->rng, SLOTS)];
    struct conform_retry retry = { 0 };
    enum hal_status status;
    bool may_miss;

    if (!s->prepared || !has_kind(w, "reusable") || !create_reusable(q, s))
        return;
    memset(s->request.pool[1].memory.address, 0x55, s->request.pool[1].memory.size);
    const uint64_t deadline = draw_deadline(q, &may_miss);
    const bool is_beside = begins_beside(q);
    do
        status =
            s->reusable->methods->execute_synchronously(s->reusable, deadline, &s->request.result);
    while (is_beside && conform_try_again(&retry, status, w->conform->version));
    expect_outputs(q, s->subject, s->is_relaxed, &s->request, status, may_miss, "reusable");
}

/* ---- fenced executions that others overtake */

/* Waits for the execution's end. */
static void finish(struct sequence *q)
{
    struct pending *p = &q->pending[rng_below(&q->rng, PENDING)];
    struct hal_timing t;

    if (!p->info)
        return;
    int ready = p->fence == HAL_NO_FENCE ? 1 : fence_wait(1, &p->fence, HAL_NO_TIME);
    enum hal_status status = p->info->methods->get_execution_info(p->info, &t, &t);
    if (p->fails) {
        EXPECT(q->world->conform, ready != 1 && status == HAL_GENERAL_FAILURE,
               "a fenced execution that waits for a fence which fails: %s, expected "
               "GENERAL_FAILURE",
               hal_status_name(status));
    } else if (!p->is_beside || !conform_is_exhausted(status, q->world->conform->version)) {
        EXPECT(q->world->conform, ready == 1, "the fence of a fenced execution fails");
        expect_outputs(q, p->subject, p->is_relaxed, &p->request, status, false, "fenced");
    }
    p->info->methods->release(p->info);
    if (p->fence >= 0)
        close(p->fence);
    arena_free(p->arena);
    p->info = NULL;
}

/* A fence that is signalled by itself, in 1 to 16 ms, now and then in 200 ms. */
static int timer_fence(struct sequence *q)
{
    int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    long ms = chance(q, 4) ? 200 : 1 + (long) rng_below(&q->rng, 16);
    const struct itimerspec in = { .it_value = { .tv_nsec = ms * MS } };

    conform_must(fd >= 0 && timerfd_settime(fd, 0, &in, NULL) == 0, "timerfd_create fails");
    return fd;
}

/* A fence that has failed. */
static int failed_fence(void)
{
    struct fence f;

    conform_must(fence_open(&f) == 0, "too many open files");
    fence_complete(&f, false);
    return f.wait;
}

static void launch(struct sequence *q)
{
    struct hal_execution_config config = client_config();
    struct world *w = q->world;
    struct pending *p = &q->pending[rng_below(&q->rng, PENDING)];
    const struct slot *s = &w->slot[rng_below(&q->rng, SLOTS)];
    int fence[2], n = 1 + (int) rng_below(&q->rng, 2);

    if (p->info || !s->prepared || !has_kind(w, "fenced"))
        return;
    const bool is_beside = begins_beside(q);
    *p = (struct pending){ .fence = HAL_NO_FENCE,
                           .is_beside = is_beside,
                           .subject = s->subject,
                           .is_relaxed = s->is_relaxed,
                           .arena = arena_new(0),
                           .fails = chance(q, 25) };
    conform_request(&w->model[s->subject].example, p->arena, &p->request);
    config.measure = chance(q, 30);
    for (int i = 0; i < n; i++)
        fence[i] = p->fails && i == n - 1 ? failed_fence() : timer_fence(q);
    enum hal_status status = s->prepared->methods->execute_fenced(
        s->prepared, w->conform->version, &p->request.hal, (uint32_t) n, fence, &config,
        HAL_NO_TIME, &p->fence, &p->info);
    for (int i = 0; i < n; i++) /* the driver has duplicated them */
        close(fence[i]);
    bool is_exhausted = is_beside && conform_is_exhausted(status, w->conform->version);
    EXPECT(w->conform,
           is_exhausted || (status == HAL_NONE && p->info) ||
               (p->fails && status == HAL_GENERAL_FAILURE),
           "%s: execute_fenced: %s, expected NONE", w->model[s->subject].name,
           hal_status_name(status));
    if (!p->info)
        arena_free(p->arena);
}

static void wait_a_little(struct sequence *q)
{
    usleep(rng_below(&q->rng, NEAR_MS * 1000));
}

/* ---- rules */

enum sequence_call {
    PREPARE,
    SAVE,
    RESTORE,
    RELEASE,
    EXECUTE,
    EXECUTE_SHORT,
    EXECUTE_INVALID,
    EXECUTE_OTHER,
    COMPUTE,
    LAUNCH,
    FINISH,
    WAIT,
    CALLS
};

static const struct {
    const char *doing;
    void (*run)(struct sequence *q);
    enum hal_version since;
} calls[CALLS] = {
    [PREPARE] = { "preparing", prepare, HAL_1_0 },
    [SAVE] = { "preparing with a cache", save, HAL_1_2 },
    [RESTORE] = { "restoring", restore, HAL_1_2 },
    [RELEASE] = { "releasing", release, HAL_1_0 },
    [EXECUTE] = { "executing", execute, HAL_1_0 },
    [EXECUTE_SHORT] = { "executing with a short output", execute_short, HAL_1_2 },
    [EXECUTE_INVALID] = { "executing an invalid request", execute_invalid, HAL_1_0 },
    [EXECUTE_OTHER] = { "executing with other inputs", execute_other, HAL_1_0 },
    [COMPUTE] = { "computing a reusable execution", compute, HAL_FL8 },
    [LAUNCH] = { "launching a fenced execution", launch, HAL_1_3 },
    [FINISH] = { "waiting for a fenced execution", finish, HAL_1_3 },
    [WAIT] = { "waiting", wait_a_little, HAL_1_0 },
};

/* How often a rule makes each call, of the sum of all. */
struct mix {
    uint32_t weight[CALLS];
    bool needs_cache;
    unsigned n_threads; /* that make calls on models which were prepared before; 0: the rule's */
};

static enum sequence_call draw_call(struct sequence *q, const struct mix *m)
{
    uint32_t sum = 0, at;
    int k = 0;

    for (int i = 0; i < CALLS; i++)
        sum += m->weight[i];
    for (at = rng_below(&q->rng, sum); at >= m->weight[k]; k++)
        at -= m->weight[k];
    return (enum sequence_call) k;
}

static void run_sequence(struct world *w, const struct mix *m, uint64_t index)
{
    const int steps = w->conform->is_remote ? REMOTE_STEPS : STEPS;
    struct sequence q = { .world = w };
    bool is_over = false;

    rng_seed(&q.rng, conform_seed, index);
    for (int i = 0; i < steps; i++) {
        const uint32_t before = w->conform->state->result->failures;
        enum sequence_call k = draw_call(&q, m);
        if (w->conform->version < calls[k].since)
            continue;
        if (!w->is_threaded)
            conform_doing(w->conform, "step %d of a sequence, %s", i, calls[k].doing);
        q.arena = arena_new(0);
        calls[k].run(&q);
        arena_free(q.arena);
        if (!w->is_threaded && w->conform->state->result->failures != before) {
            conform_require(w->conform, false, "this was step %d of a random sequence", i);
            break;
        }
    }
    while (!is_over) {
        finish(&q);
        is_over = true;
        for (int i = 0; i < PENDING; i++)
            is_over = is_over && !q.pending[i].info;
    }
}

/* ---- the models */

static int share_inputs(const struct conform_model *m)
{
    const uint64_t page = (uint64_t) sysconf(_SC_PAGESIZE);
    int fd = memfd_create("inputs", MFD_CLOEXEC);
    struct conform_request r;

    conform_request(&m->example, m->arena, &r);
    const struct hal_memory *in = &r.pool[0].memory;
    conform_must(fd >= 0 && ftruncate(fd, (off_t) (page + in->size)) == 0 &&
                     pwrite(fd, in->address, in->size, (off_t) page) == (ssize_t) in->size,
                 "memfd_create fails");
    return fd;
}

static bool add_subject(struct world *w, const struct conform_model *m)
{
    if (!conform_model_is_of(m, w->conform) || !conform_request_is_specified(&m->example) ||
        !conform_supports(w->conform, w->conform->version, &m->hal))
        return false;
    w->model[w->n_subjects] = *m;
    w->expected[w->n_subjects] = m->example.expected;
    w->shared_file[w->n_subjects++] = share_inputs(m);
    return true;
}

/* Takes the results of the first execution as the expected ones; false: it fails. */
static bool run_first(struct world *w, const struct conform_model *m, struct tensor **ret)
{
    const struct hal_execution_config config = client_config();
    struct hal_prepared_model *p = conform_prepare_supported(w->conform, &m->hal);
    const uint32_t n = m->hal.main.n_outputs;
    struct conform_request r;

    if (!p)
        return false;
    conform_request(&m->example, m->arena, &r);
    enum hal_status s =
        conform_kinds[w->conform->version < HAL_1_2].run(p, w->conform->version, &r, &config);
    *ret = arena_copy(m->arena, m->example.expected, n * sizeof **ret);
    for (uint32_t i = 0; i < n; i++)
        (*ret)[i].data = conform_request_value(&r, &r.outputs[i]);
    p->methods->release(p);
    return s == HAL_NONE;
}

/* Whether an element of output 0, of float32, is not representable in fp16. */
static bool is_fine(const struct tensor *t)
{
    enum { LOST_BITS = 13 };
    const size_t n = tensor_count(t);

    for (size_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, (const char *) t->data + i * sizeof bits, sizeof bits);
        if (bits & ((1u << LOST_BITS) - 1))
            return true;
    }
    return false;
}

static void find_kinds(struct world *w)
{
    struct hal_prepared_model *p = conform_prepare_supported(w->conform, &w->model[0].hal);

    for (int k = 0; p && k < conform_n_kinds; k++)
        w->has_kind[k] = conform_can_run(w->conform, p, &conform_kinds[k], w->conform->version);
    if (p)
        p->methods->release(p);
}

/* Some supported texts, and random models of float32 whose results need its precision. */
static void open_models(struct world *w)
{
    enum { EVERY = 3, EVERY_RANDOM = 3 };

    for (int i = 0; i < conform_n_texts && w->n_subjects < TEXTS; i += EVERY) {
        struct conform_model m;
        conform_model_of(&m, &conform_texts[i]);
        if (!add_subject(w, &m))
            conform_model_done(&m);
    }
    w->n_texts = w->n_subjects;
    for (int i = conform_n_texts; i < conform_n_built_in && w->n_subjects < SUBJECTS;
         i += EVERY_RANDOM) {
        const struct conform_model *m = &conform_models[i];
        struct tensor *first;
        if (!m->hal.relaxed && m->hal.main.n_inputs && m->example.in[0].data &&
            m->example.in[0].dtype == DT_F32 && m->example.expected[0].dtype == DT_F32 &&
            add_subject(w, m)) {
            if (run_first(w, m, &first) && is_fine(first))
                w->expected[w->n_subjects - 1] = first;
            else
                close(w->shared_file[--w->n_subjects]);
        }
    }
    if (w->n_subjects)
        find_kinds(w);
}

/* Whether the driver restores the first model from the files that it was saved to. */
static bool opens_caches(struct world *w)
{
    struct conform *c = w->conform;
    uint32_t n_model = 0, n_data = 0;
    enum hal_status status;

    if (c->version < HAL_1_2 || !c->driver->get_number_of_cache_files_needed ||
        c->driver->get_number_of_cache_files_needed(c->driver, &n_model, &n_data) != HAL_NONE ||
        n_model + n_data == 0 || n_model >= MAX_FILES || n_data >= MAX_FILES)
        return false;
    for (int i = 0; i < FILE_SETS; i++)
        files_init(&w->set[i].files, n_model, n_data);
    const struct hal_prepare_config config = files_config(&w->set[0].files);
    struct conform_prepared p = conform_prepare(c, c->version, &w->model[0].hal, &config);
    if (p.model)
        p.model->methods->release(p.model);
    p = conform_prepare(c, c->version, NULL, &config);
    status = p.status;
    if (p.model)
        p.model->methods->release(p.model);
    for (int i = 0; i < FILE_SETS && status != HAL_NONE; i++)
        files_done(&w->set[i].files);
    return status == HAL_NONE;
}

static void close_world(struct world *w)
{
    for (int i = 0; i < SLOTS; i++)
        clear_slot(&w->slot[i]);
    for (int i = 0; i < FILE_SETS && w->is_caching; i++)
        files_done(&w->set[i].files);
    for (uint32_t i = 0; i < w->n_subjects; i++) {
        close(w->shared_file[i]);
        if (i < w->n_texts)
            conform_model_done(&w->model[i]);
    }
}

/* ---- on several threads */

struct threaded {
    struct world *world;
    const struct mix *mix;
};

static void run_thread(struct conform *c, unsigned index, void *user)
{
    const struct threaded *t = user;

    (void) c;
    run_sequence(t->world, t->mix, 1 + index);
}

static void run_threads(struct world *w, const struct mix *m)
{
    struct threaded t = { w, m };

    for (uint32_t i = 0; i < SLOTS; i++) {
        w->slot[i].subject = i % w->n_subjects;
        w->slot[i].prepared =
            conform_prepare_supported(w->conform, &w->model[w->slot[i].subject].hal);
    }
    w->is_threaded = true;
    conform_in_threads(w->conform, m->n_threads, run_thread, &t);
}

static void run_mix(struct conform *c, const struct mix *m, uint64_t index)
{
    struct world w = { .conform = c };

    open_models(&w);
    w.is_caching = m->weight[SAVE] && w.n_subjects && opens_caches(&w);
    if (!w.n_subjects)
        conform_not_applicable(c, "the driver supports none of the small operations");
    else if (m->needs_cache && !w.is_caching)
        conform_not_applicable(c, "the driver does not save models to a cache");
    else if (m->n_threads)
        run_threads(&w, m);
    else
        run_sequence(&w, m, index);
    close_world(&w);
}

static void sequences(struct conform *c, const void *data)
{
    run_mix(c, data, 0);
}

static const struct mix
    of_all = { .weight = { [PREPARE] = 8,
                           [SAVE] = 4,
                           [RESTORE] = 8,
                           [RELEASE] = 3,
                           [EXECUTE] = 40,
                           [EXECUTE_SHORT] = 8,
                           [EXECUTE_INVALID] = 8,
                           [EXECUTE_OTHER] = 6,
                           [COMPUTE] = 8,
                           [LAUNCH] = 6,
                           [FINISH] = 6,
                           [WAIT] = 3 } },
    of_caches = { .weight = { [PREPARE] = 3,
                              [SAVE] = 10,
                              [RESTORE] = 25,
                              [RELEASE] = 5,
                              [EXECUTE] = 57 },
                  .needs_cache = true },
    of_deadlines = { .weight = { [PREPARE] = 15, [EXECUTE] = 55, [COMPUTE] = 20, [WAIT] = 10 } },
    of_priorities = { .weight = { [PREPARE] = 30, [RELEASE] = 10, [EXECUTE] = 60 } },
    of_fences = { .weight = { [PREPARE] = 8,
                              [RELEASE] = 4,
                              [EXECUTE] = 28,
                              [LAUNCH] = 30,
                              [FINISH] = 30 } },
    of_requests = { .weight = { [PREPARE] = 10,
                                [EXECUTE] = 30,
                                [EXECUTE_SHORT] = 25,
                                [EXECUTE_INVALID] = 35 } },
    of_threads = { .weight = { [EXECUTE] = 80,
                               [EXECUTE_SHORT] = 8,
                               [EXECUTE_INVALID] = 8,
                               [LAUNCH] = 2,
                               [FINISH] = 2 },
                   .n_threads = 4 },
    of_preparations = { .weight = { [PREPARE] = 80, [RELEASE] = 10, [EXECUTE] = 10 } };

/* ---- resources after sequences, which release all that they make */

static bool is_more(const struct conform_usage *x)
{
    enum { MOST = 16, MOST_MAPPINGS = 64, MOST_MIB = 64 }; /* of about 700 calls */

    return x->descriptors >= MOST || x->threads >= MOST || x->mappings >= MOST_MAPPINGS ||
           x->resident_mib >= MOST_MIB;
}

/* How much the usage of resources grows during n further sequences. */
static struct conform_usage usage_of_turn(struct conform *c, const struct mix *mix, uint64_t turn,
                                          uint64_t n)
{
    const struct conform_usage before = conform_usage_now();

    for (uint64_t i = 0; i < n; i++)
        run_mix(c, mix, turn * n + i);
    const struct conform_usage after = conform_usage_now();
    return (struct conform_usage){ after.descriptors - before.descriptors,
                                   after.threads - before.threads, after.mappings - before.mappings,
                                   after.resident_mib - before.resident_mib };
}

/* A leak grows in every turn; memory that an allocator keeps for reuse grows in the first turns
 * only. */
static void without_losses(struct conform *c, const void *data)
{
    enum { SEQUENCES = 12, TURNS = 4 };
    static const struct mix *const mixes[] = { &of_all, &of_preparations };

    (void) data;
    if (c->is_remote) {
        conform_not_applicable(c, "the driver is in another process");
        return;
    }
    for (int k = 0; k < COUNT(mixes); k++) {
        struct conform_usage lost = usage_of_turn(c, mixes[k], 0, SEQUENCES);
        for (uint64_t turn = 1; is_more(&lost) && turn < TURNS; turn++)
            lost = usage_of_turn(c, mixes[k], turn, SEQUENCES);
        EXPECT(c, !is_more(&lost),
               "%d random sequences: %ld descriptors, %ld threads, %ld mappings, %ld MiB more",
               SEQUENCES, lost.descriptors, lost.threads, lost.mappings, lost.resident_mib);
    }
}

static const struct conform_rule rules_of_file[] = {
    { "consistency", "sequences", HAL_1_0, 0,
      "in random sequences of valid and invalid calls, each ends as it does alone", sequences,
      &of_all },
    { "request", "sequences", HAL_1_0, 0,
      "in random sequences of requests, invalid ones are rejected, and valid ones executed",
      sequences, &of_requests },
    { "cache", "sequences", HAL_1_2, 0,
      "models saved, restored and executed in random order compute their own results", sequences,
      &of_caches },
    { "deadline", "sequences", HAL_1_3, 0,
      "deadlines of random preparations and executions do not concern later ones", sequences,
      &of_deadlines },
    { "priority", "sequences", HAL_1_3, 0,
      "models prepared and released at random priorities compute the same results", sequences,
      &of_priorities },
    { "fenced", "sequences", HAL_1_3, 0,
      "fenced executions that random others overtake end as they do alone", sequences, &of_fences },
    { "concurrency", "sequences", HAL_1_0, 0,
      "random requests of several threads on several models end as they do alone", sequences,
      &of_threads },
    { "stress", "sequences", HAL_1_0, 0, "nothing is lost by random sequences of calls",
      without_losses },
};
const struct conform_rules conform_rules_sequences = { rules_of_file, COUNT(rules_of_file),
                                                       conform_models_draw, conform_models_free };
