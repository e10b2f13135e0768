/* Crash tests (docs/conformance.md): many threads and processes, clients that die one by one,
 * models that need much memory, models loaded at random, executions while others compile.  Each
 * rule runs for about conform_stress_seconds, and all the while the driver must stay alive: another
 * client prepares and executes a small model.
 *
 * Rules about processes need a service: of a driver in a library each process has a copy of its
 * own, which dies with it. */
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "golden/base/clock.h"
#include "harness/conform/conform_clients.h"
#include "harness/conform/conform_requests.h"
#include "harness/conform/conform_threads.h"
#include "randgraph/randgraph.h"
#include "sim/base/process_clock.h"

static uint64_t after(double share)
{
    return clock_steady_ns() + (uint64_t) (share * conform_stress_seconds * 1e9);
}

static const struct conform_kind *kind_of(const struct conform *c)
{
    return &conform_kinds[c->version < HAL_1_2];
}

/* ---- one client's calls, which are repeated while the driver is short of resources */

static struct hal_prepared_model *prepare(struct conform *c, struct hal_driver *d,
                                          struct client_prepare_wait *wait,
                                          const struct hal_model *model, const char *name)
{
    struct conform_retry retry = { 0 };
    enum hal_status launched;

    do {
        unsigned calls = wait->calls + 1;
        launched = d->prepare_model(d, c->version, model, &client_default_preparation, &wait->base);
        client_prepare_await(wait, calls, 0);
    } while (conform_try_again(&retry, wait->status, c->version));
    EXPECT(c, launched == HAL_NONE && wait->status == HAL_NONE && wait->prepared,
           "%s: prepare_model: %s, its callback gets %s %s a prepared model", name,
           hal_status_name(launched), hal_status_name(wait->status),
           wait->prepared ? "with" : "without");
    return wait->prepared;
}

/* Executes the model.  first: the result of output 0 alone; NULL: the expected values are exact.
 * False: a check has failed. */
static bool execute(struct conform *c, struct hal_prepared_model *p, const struct conform_model *m,
                    const void *first)
{
    const struct hal_execution_config config = client_config();
    struct arena *a = arena_new(0);
    struct conform_request r;

    conform_request(&m->example, a, &r);
    enum hal_status s = conform_run_beside(kind_of(c), p, c->version, &r, &config);
    const void *value = conform_request_value(&r, &r.outputs[0]);
    bool is_right = !first ? conform_outputs_are(&r, m->example.expected)
                           : c->state->may_fall_back ||
                                 !memcmp(first, value, tensor_bytes(&m->example.expected[0]));
    bool ok = EXPECT(c, s == HAL_NONE && is_right, "%s: %s%s", m->name, hal_status_name(s),
                     s == HAL_NONE ? ", but other results than alone" : "");
    arena_free(a);
    return ok;
}

/* ---- liveness: a small model, prepared, executed and released */

static struct client_prepare_wait live_wait; /* static: a driver may call it late */

/* Opens the small model; false: the driver does not support it. */
static bool open_live(struct conform *c, struct conform_model *ret)
{
    const struct one_op *sum = conform_sum(c);

    conform_model_of(ret, sum);
    client_prepare_wait_init(&live_wait);
    if (sum && conform_supports(c, c->version, &ret->hal))
        return true;
    conform_not_applicable(c, "ADD of float32 and of quant8 is not supported");
    conform_model_done(ret);
    return false;
}

static bool is_alive(struct conform *c, const struct conform_model *m)
{
    struct hal_prepared_model *p = prepare(c, c->driver, &live_wait, &m->hal, "liveness");
    bool ok = p && execute(c, p, m, NULL);

    if (p)
        p->methods->release(p);
    return ok;
}

/* ---- threads of one client: every model that the driver supports, in a random order */

struct at_once {
    const struct conform_model **model;
    struct hal_model *hal; /* as they are prepared */
    void **first;          /* results of output 0 of an execution alone; NULL: only prepared */
    int n;
    struct conform_model live;
    uint64_t until;
    atomic_bool failed;      /* ends all threads */
    struct hal_memory *pool; /* by model: its constants in a file */
    int file, written;       /* descriptors of that file for reading, for writing */
    struct arena *arena;
};

static struct client_prepare_wait thread_wait[CONFORM_MAX_THREADS]; /* static: as live_wait */

static void at_once_add(struct conform *c, struct at_once *x, const struct conform_model *m,
                        bool executes)
{
    if (!conform_model_is_of(m, c) || !conform_supports(c, c->version, &m->hal) ||
        (c->version < HAL_1_2 && !conform_request_is_specified(&m->example)))
        return;
    x->model[x->n] = m;
    x->hal[x->n] = m->hal;
    if (executes) {
        const struct hal_execution_config config = client_config();
        struct hal_prepared_model *p = conform_prepare_supported(c, &m->hal);
        struct conform_request r;
        if (!p)
            return;
        conform_request(&m->example, x->arena, &r);
        enum hal_status s = kind_of(c)->run(p, c->version, &r, &config);
        p->methods->release(p);
        if (s != HAL_NONE)
            return;
        x->first[x->n] = arena_copy(x->arena, conform_request_value(&r, &r.outputs[0]),
                                    tensor_bytes(&m->example.expected[0]) + 1);
        conform_must(x->first[x->n], "out of memory");
    }
    x->n++;
}

/* False: the driver supports none of the models. */
static bool at_once_open(struct conform *c, struct at_once *x, bool executes)
{
    size_t n = (size_t) conform_n_models + 1;

    *x = (struct at_once){ .arena = arena_new(0), .file = -1, .written = -1 };
    conform_must(x->arena, "out of memory");
    x->model = arena_alloc(x->arena, n, sizeof(struct conform_model *));
    x->hal = arena_alloc(x->arena, n, sizeof *x->hal);
    x->first = arena_alloc(x->arena, n, sizeof(void *));
    x->pool = arena_alloc(x->arena, n, sizeof *x->pool);
    conform_must(x->model && x->hal && x->first && x->pool, "out of memory");
    if (!open_live(c, &x->live)) {
        arena_free(x->arena);
        return false;
    }
    for (int i = 0; i < CONFORM_MAX_THREADS; i++)
        client_prepare_wait_init(&thread_wait[i]);
    for (int i = 0; i < conform_n_models; i++)
        at_once_add(c, x, &conform_models[i], executes);
    return true;
}

static void at_once_close(struct at_once *x)
{
    if (x->file >= 0) {
        close(x->file);
        close(x->written);
    }
    conform_model_done(&x->live);
    arena_free(x->arena);
}

static void one_at_random(struct conform *c, struct at_once *x, unsigned index, struct rng *rng)
{
    uint32_t i = rng_below(rng, (uint32_t) x->n);
    struct hal_prepared_model *p =
        prepare(c, c->driver, &thread_wait[index], &x->hal[i], x->model[i]->name);

    if (!p || (x->first[i] && !execute(c, p, x->model[i], x->first[i])))
        x->failed = true;
    if (p)
        p->methods->release(p);
}

/* The last thread is the one that must stay alive. */
static void work_at_once(struct conform *c, unsigned index, void *user)
{
    struct at_once *x = user;
    struct rng rng;

    rng_seed(&rng, conform_seed, index);
    do {
        if (index == conform_crash_threads)
            x->failed |= !is_alive(c, &x->live);
        else
            one_at_random(c, x, index, &rng);
    } while (!x->failed && clock_steady_ns() < x->until);
}

static void run_at_once(struct conform *c, struct at_once *x)
{
    x->until = after(1);
    conform_in_threads(c, conform_crash_threads + 1, work_at_once, x);
}

static void parallel(struct conform *c, const void *data)
{
    struct at_once x;

    (void) data;
    if (!at_once_open(c, &x, true))
        return;
    run_at_once(c, &x);
    at_once_close(&x);
}

/* ---- models whose constants are in a file that is mapped for reading */

/* A new file without a name. */
static void open_file(struct at_once *x)
{
    const char *folder = getenv("TMPDIR");
    char path[512];

    snprintf(path, sizeof path, "%s/halcyon-models-XXXXXX", folder ? folder : "/tmp");
    x->written = mkstemp(path);
    conform_must(x->written >= 0, "no file for models can be made");
    x->file = open(path, O_RDONLY | O_CLOEXEC);
    unlink(path);
    conform_must(x->file >= 0, "a file of models cannot be opened for reading");
}

/* Moves the constants of a model into the file, from its end on. */
static void move_constants(struct at_once *x, int i, uint64_t *end)
{
    const struct hal_model *m = &x->model[i]->hal;
    uint64_t size = m->operand_values_length, page = (uint64_t) sysconf(_SC_PAGESIZE);
    struct hal_operand *o = arena_copy(x->arena, m->main.operands, m->main.n_operands * sizeof *o);

    conform_must(o && pwrite(x->written, m->operand_values, size, (off_t) *end) == (ssize_t) size,
                 "models cannot be written to a file");
    for (uint32_t k = 0; k < m->main.n_operands; k++)
        if (o[k].lifetime == HAL_CONSTANT_COPY)
            o[k].lifetime = HAL_CONSTANT_REFERENCE;
    x->pool[i] = (struct hal_memory){ HAL_MEMORY_FD, HAL_MEMORY_READ, NULL, x->file, *end, size };
    x->hal[i].main.operands = o;
    x->hal[i].operand_values = NULL;
    x->hal[i].operand_values_length = 0;
    x->hal[i].n_pools = 1;
    x->hal[i].pools = &x->pool[i];
    *end = (*end + size + page - 1) / page * page;
}

static void mapped(struct conform *c, const void *data)
{
    struct at_once x;
    uint64_t end = 0;
    int n = 0;

    (void) data;
    if (!at_once_open(c, &x, false))
        return;
    open_file(&x);
    for (int i = 0; i < x.n; i++) {
        if (x.hal[i].n_referenced || !x.hal[i].operand_values_length || x.hal[i].n_pools)
            continue;
        x.model[n] = x.model[i];
        x.hal[n] = x.model[n]->hal;
        move_constants(&x, n++, &end);
    }
    x.n = n;
    if (n)
        run_at_once(c, &x);
    else
        conform_not_applicable(c, "no model with constants is supported");
    at_once_close(&x);
}

/* ---- models that need much memory */

enum { HUNGRY_BYTES = 32 << 20, HUNGRY_MODELS = 6 };

static bool is_refusal(const struct conform *c, enum hal_status s)
{
    return s == HAL_GENERAL_FAILURE ||
           (c->version >= HAL_1_3 &&
            (s == HAL_RESOURCE_EXHAUSTED_TRANSIENT || s == HAL_RESOURCE_EXHAUSTED_PERSISTENT));
}

/* y = x + a constant of that size; false: the driver does not support it. */
static bool open_large(struct conform *c, uint32_t bytes, struct conform_model *ret)
{
    conform_model_large(ret, DT_F32, bytes / sizeof(float));
    if (conform_supports(c, c->version, &ret->hal))
        return true;
    conform_model_done(ret);
    conform_model_large(ret, DT_U8, bytes);
    bool supports = conform_supports(c, c->version, &ret->hal);
    if (!supports)
        conform_not_applicable(c, "ADD of float32 and of quant8 is not supported");
    return supports;
}

/* Prepares the model as often as the driver has memory for; they exist at the same time. */
static void prepare_hungry(struct conform *c, const struct conform_model *m)
{
    struct hal_prepared_model *model[HUNGRY_MODELS];
    enum hal_status status = HAL_NONE;
    int n = 0;

    while (n < HUNGRY_MODELS && status == HAL_NONE) {
        conform_doing(c, "%s, %d of them prepared", m->name, n);
        struct conform_prepared p =
            conform_prepare(c, c->version, &m->hal, &client_default_preparation);
        status = p.status;
        EXPECT(c, status == HAL_NONE || is_refusal(c, status), "%s, with %d of them prepared: %s",
               m->name, n, hal_status_name(status));
        if (p.model)
            model[n++] = p.model;
    }
    if (n)
        execute(c, model[n - 1], m, NULL);
    for (int i = 0; i < n; i++)
        model[i]->methods->release(model[i]);
}

static void hungry(struct conform *c, const void *data)
{
    struct conform_model live, m;

    (void) data;
    if (!open_live(c, &live))
        return;
    uint64_t end = after(1);
    bool supports = open_large(c, HUNGRY_BYTES, &m);
    while (supports) {
        prepare_hungry(c, &m);
        if (!is_alive(c, &live) || clock_steady_ns() >= end)
            break;
    }
    conform_model_done(&m);
    conform_model_done(&live);
}

/* ---- clients in processes of their own */

/* What a client's process does, with conform_crash_threads threads on one connection. */
struct client_work {
    struct hal_driver *driver;
    struct conform_model *model; /* that is prepared and executed; NULL: every model is prepared */
    const struct conform_clients *all;
    unsigned client;
    uint64_t until; /* one that is to be killed does not end before */
};

static void prepare_any(struct conform *c, const struct client_work *w, unsigned index,
                        struct rng *rng)
{
    const struct conform_model *m = &conform_models[rng_below(rng, (uint32_t) conform_n_models)];

    if (!conform_model_is_of(m, c) || !conform_supports(c, c->version, &m->hal))
        return;
    struct hal_prepared_model *p = prepare(c, w->driver, &thread_wait[index], &m->hal, m->name);
    if (p)
        p->methods->release(p);
}

static void execute_often(struct conform *c, const struct client_work *w, unsigned index)
{
    struct hal_prepared_model *p =
        prepare(c, w->driver, &thread_wait[index], &w->model->hal, w->model->name);

    for (int i = 0; p && i < 10 && execute(c, p, w->model, NULL); i++)
        ;
    if (p)
        p->methods->release(p);
}

static void work_of_thread(struct conform *c, unsigned index, void *user)
{
    const struct client_work *w = user;
    struct rng rng;

    rng_seed(&rng, conform_seed, w->client * CONFORM_MAX_THREADS + index);
    while (clock_steady_ns() < w->until && !c->state->result->failures)
        if (w->model)
            execute_often(c, w, index);
        else
            prepare_any(c, w, index, &rng);
}

static void work_of_client(struct conform *c, unsigned index, void *user)
{
    struct client_work w = *(struct client_work *) user;

    w.client = index;
    w.until = w.all->client[index].dies ? UINT64_MAX : w.until;
    w.driver = conform_open(c);
    c->driver = w.driver;
    for (int i = 0; i < CONFORM_MAX_THREADS; i++)
        client_prepare_wait_init(&thread_wait[i]);
    conform_in_threads(c, conform_crash_threads, work_of_thread, &w);
}

/* Of a percentage of the clients, chosen at random, each is killed at a random time. */
static void choose_deaths(struct conform_clients *all, unsigned percent, struct rng *rng)
{
    uint64_t begin = clock_steady_ns(), time = all->until - begin;

    for (unsigned i = 0; i < all->n; i++)
        if (rng_below(rng, 100) < percent)
            all->client[i].dies = begin + (uint64_t) (rng_unit(rng) * 0.9 * (double) time);
}

struct of_processes {
    bool executes;
    unsigned n_rates, percent[3]; /* of clients that are killed, in one part of the time each */
};

static void run_processes(struct conform *c, const struct conform_model *live, bool executes,
                          unsigned percent, double share)
{
    struct conform_clients all = { .n = conform_crash_processes, .until = after(share) };
    struct client_work w = { .model = executes ? (struct conform_model *) (uintptr_t) live : NULL,
                             .all = &all,
                             .until = all.until };
    bool alive = true;
    char what[64];
    struct rng rng;

    rng_seed(&rng, conform_seed, percent);
    choose_deaths(&all, percent, &rng);
    snprintf(what, sizeof what, "%u %% of the clients are killed", percent);
    conform_doing(c, "%s", what);
    conform_clients_start(c, &all, work_of_client, &w);
    while (conform_clients_run(&all))
        if (alive)
            alive = is_alive(c, live);
        else
            usleep(1000);
    conform_clients_expect(c, &all, what);
    if (alive)
        is_alive(c, live);
}

static void processes(struct conform *c, const void *data)
{
    const struct of_processes *o = data;
    struct conform_model live;

    if (!c->is_remote) {
        conform_not_applicable(c, "the driver is in the client's process, and dies with it");
        return;
    }
    if (!open_live(c, &live))
        return;
    for (unsigned i = 0; i < o->n_rates; i++)
        run_processes(c, &live, o->executes, o->percent[i], 1. / o->n_rates);
    conform_model_done(&live);
}

#define PROCESSES(...)                                                                             \
    &(const struct of_processes)                                                                   \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

/* ---- random graphs: results are not compared (suite random) */

/* Draws a graph; false: the options allow none, or the driver does not support it. */
static bool run_random(struct conform *c, const struct randgraph_options *o, uint64_t index)
{
    const struct hal_execution_config config = client_config();
    struct arena *a = arena_new(0);
    struct conform_model m;
    struct conform_request r;
    struct example e;
    struct why w;

    if (!a || randgraph_make(o, conform_seed, index, a, &e, &w) < 0) {
        arena_free(a);
        return false;
    }
    conform_model_init(&m, &e, a);
    conform_doing(c, "%s", m.name);
    struct hal_prepared_model *p = conform_prepare_supported(c, &m.hal);
    if (p && (c->version >= HAL_1_2 || conform_request_is_specified(&m.example))) {
        conform_request(&m.example, a, &r);
        enum hal_status s = conform_run_beside(kind_of(c), p, c->version, &r, &config);
        EXPECT(c, s == HAL_NONE || s == HAL_OUTPUT_INSUFFICIENT_SIZE || is_refusal(c, s), "%s: %s",
               m.name, hal_status_name(s));
    }
    if (p)
        p->methods->release(p);
    conform_model_done(&m);
    return p;
}

/* Some operations on large tensors, and many on small ones, in turn. */
static void random_graphs(struct conform *c, const void *data)
{
    static const struct {
        uint32_t min_ops, max_ops, max_dim;
    } size[] = { { 8, 12, 64 }, { 80, 100, 10 } };
    struct randgraph_options options = randgraph_default;
    struct randgraph_weights weights;
    struct conform_model live;
    unsigned run = 0;

    (void) data;
    if (!open_live(c, &live))
        return;
    conform_supported_operations(c, &weights);
    options.weights = &weights;
    options.max_level = hal_level(c->version);
    options.relaxed = c->version >= HAL_1_1 ? options.relaxed : 0;
    options.control_flow = 0;
    uint64_t end = after(1);
    for (uint64_t i = 0; i < 16 || clock_steady_ns() < end; i++) {
        options.min_ops = size[i % 2].min_ops;
        options.max_ops = size[i % 2].max_ops;
        options.max_dim = size[i % 2].max_dim;
        run += run_random(c, &options, i);
        if (!is_alive(c, &live))
            break;
    }
    if (!run)
        conform_not_applicable(c, "no random graph is supported");
    conform_model_done(&live);
}

/* ---- executions while another thread prepares models */

/* ATTEMPTS_A_TIME: share the rule's time; further ones are made only while each finds a slow
 * driver. */
enum {
    BESIDE_BYTES = 1 << 14,
    WINDOWS = 10,
    ATTEMPTS_A_TIME = 5,
    ATTEMPTS = 25,
    MOST_PERCENT = 100
};

struct beside {
    struct conform_model live, model;
    struct at_once all; /* the models that are prepared meanwhile */
    struct hal_prepared_model *prepared;
    atomic_int doing;        /* what the other thread does */
    atomic_uint task;        /* counts its spins (even) and preparations (odd); 0: it is in none */
    uint64_t preparation_ns; /* of the last one; a spin is as long */
    double slowest[2]; /* ms of the slowest execution in a task of that kind: the lower quartile of
                        * the tasks, which other programs disturb least; 0: there was none */
};
enum { SPIN, PREPARE, STOP };

static int ascending(const void *a, const void *b)
{
    const double *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

enum { MOST_TASKS = 20000 };

struct tasks {
    double ms[MOST_TASKS]; /* of the slowest execution that began in each */
    size_t n;
};

/* A driver that locks a part of each preparation has fast executions beside the rest. */
static void count_slowest(struct tasks *t, bool is_new, double ms)
{
    if (is_new && t->n < MOST_TASKS)
        t->ms[t->n++] = ms;
    else if (t->n && ms > t->ms[t->n - 1])
        t->ms[t->n - 1] = ms;
}

/* Executes for some time, in windows that alternate, so that other programs slow down both alike;
 * and without the time for which this thread waits for a processor. */
static void measure(struct conform *c, struct beside *b)
{
    static struct tasks tasks[2];
    const struct hal_execution_config config = client_config();
    enum hal_status s = HAL_NONE;
    struct conform_request r;
    unsigned last = 0;
    int waits = thread_waits_open();

    tasks[SPIN].n = tasks[PREPARE].n = 0;
    conform_request(&b->model.example, b->model.arena, &r);
    for (int window = 0; window < WINDOWS; window++) {
        int doing = window % 2;
        b->doing = doing;
        uint64_t end = after(1. / WINDOWS / ATTEMPTS_A_TIME);
        do {
            unsigned task = b->task;
            uint64_t begun = clock_steady_ns() - thread_waited_ns(waits);
            s = conform_run_beside(kind_of(c), b->prepared, c->version, &r, &config);
            uint64_t ended = clock_steady_ns() - thread_waited_ns(waits);
            if (task && task % 2 == (unsigned) doing)
                count_slowest(&tasks[doing], task != last, (double) (ended - begun) * 1e-6);
            last = task;
        } while (s == HAL_NONE && clock_steady_ns() < end);
    }
    b->doing = STOP;
    close(waits);
    conform_require(c, s == HAL_NONE, "%s: %s", b->model.name, hal_status_name(s));
    for (int i = 0; i < 2; i++) {
        struct tasks *t = &tasks[i];
        qsort(t->ms, t->n, sizeof t->ms[0], ascending);
        b->slowest[i] = t->n ? t->ms[t->n / 4] : 0;
    }
}

static void work_beside(struct conform *c, unsigned index, void *user)
{
    struct beside *b = user;
    unsigned tasks = 0;
    uint64_t begun;
    struct rng rng;

    if (index == 0) {
        measure(c, b);
        return;
    }
    rng_seed(&rng, conform_seed, 0);
    for (int doing; (doing = b->doing) != STOP; b->task = 0) {
        begun = clock_steady_ns();
        b->task = 2 * ++tasks + (unsigned) doing;
        if (doing == PREPARE) {
            one_at_random(c, &b->all, index, &rng);
            b->preparation_ns = clock_steady_ns() - begun;
        }
        while (b->doing == SPIN && clock_steady_ns() < begun + b->preparation_ns)
            ;
    }
}

/* The time of the slowest execution beside a thread that only uses a processor is compared with
 * that beside one that prepares a model, for as long: what another program does is in both.  Only a
 * driver that is slower in every attempt is slow. */
static void degradation(struct conform *c, const void *data)
{
    static struct beside b;
    bool is_measured = false;
    double percent = 0;

    (void) data;
    b = (struct beside){ .doing = SPIN };
    if (!at_once_open(c, &b.all, false))
        return;
    if (open_large(c, BESIDE_BYTES, &b.model))
        b.prepared = conform_prepare_supported(c, &b.model.hal);
    for (int i = 0; b.prepared && b.all.n && i < ATTEMPTS; i++) {
        b.doing = SPIN;
        conform_in_threads(c, 2, work_beside, &b);
        if (!(b.slowest[SPIN] > 0 && b.slowest[PREPARE] > 0))
            continue;
        percent = 100 * (b.slowest[PREPARE] / b.slowest[SPIN] - 1);
        is_measured = true;
        if (percent <= MOST_PERCENT)
            break;
    }
    if (is_measured)
        EXPECT(c, percent <= MOST_PERCENT,
               "the slowest execution takes %.3f ms while a model is prepared, else %.3f ms: "
               "%.0f %% more, expected at most %d %%",
               b.slowest[PREPARE], b.slowest[SPIN], percent, MOST_PERCENT);
    if (b.prepared)
        b.prepared->methods->release(b.prepared);
    conform_model_done(&b.model);
    at_once_close(&b.all);
}

static const struct conform_rule rules_of_file[] = {
    { "crash", "parallel", HAL_1_0, 0,
      "threads prepare and execute all models at once, with the same results as alone", parallel },
    { "crash", "mapped-models", HAL_1_0, 0,
      "threads prepare models whose constants are in a file that is only readable", mapped },
    { "crash", "hungry-models", HAL_1_0, 0,
      "models of 32 MiB: prepared, or refused for lack of resources", hungry },
    { "crash", "random-models", HAL_1_0, 0,
      "random graphs of 10 operations on large tensors, and of 100 on small ones", random_graphs },
    { "crash", "degradation", HAL_1_0, 0,
      "executions take at most twice the time while others prepare models", degradation },
    { "crash", "client-deaths", HAL_1_0, 0,
      "a service goes on while clients that prepare models are killed one by one", processes,
      PROCESSES(false, 1, { 100 }) },
    { "crash", "processes", HAL_1_0, 0,
      "clients in processes execute, none or 80 % of them are killed", processes,
      PROCESSES(true, 2, { 0, 80 }) },
    { "crash", "loading-processes", HAL_1_0, 0,
      "clients in processes prepare models, none, half or all of them are killed", processes,
      PROCESSES(false, 3, { 0, 50, 100 }) },
};
const struct conform_rules conform_rules_crash = { rules_of_file, COUNT(rules_of_file),
                                                   conform_models_draw, conform_models_free };
