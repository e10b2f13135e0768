/* A driver that several threads and clients use at once: executions on one and on several prepared
 * models, preparing and releasing meanwhile, callbacks from any thread. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/conform/conform_graphs.h"
#include "harness/conform/conform_requests.h"
#include "harness/conform/conform_threads.h"

enum { THREADS = 12, RUNS = 8, CLIENTS = 4, MODELS = 3, LAUNCHES = 24 };

/* ---- models: a sum of two inputs, whose values each thread chooses */

struct work {
    struct conform *conform;
    struct hal_driver *driver[CLIENTS]; /* by thread; the last ones may be unused */
    unsigned n_drivers;
    struct conform_subject subject[THREADS]; /* each thread's own request; prepared: any */
    struct client_prepare_wait wait[THREADS];
    struct hal_burst *burst;       /* shared by all threads; NULL: none */
    struct conform_request shared; /* its inputs are those of all threads */
    atomic_uint preparing;         /* threads that prepare and release models */
    unsigned n_models;
    struct hal_prepared_model *model[CLIENTS * MODELS];
};

/* A kind of execution that the version and the driver have, another one for each index. */
static const struct conform_kind *kind_of(struct conform *c, const struct hal_prepared_model *p,
                                          unsigned index)
{
    for (int k = 0; k < conform_n_kinds; k++) {
        const struct conform_kind *kind =
            &conform_kinds[(index + (unsigned) k) % (unsigned) conform_n_kinds];
        if (conform_can_run(c, p, kind, c->version))
            return kind;
    }
    conform_must(false, "the driver has no kind of execution");
    return NULL;
}

/* Other small numbers as inputs in each run, and the sum that is expected. */
static void set_values(struct conform_subject *s, unsigned run)
{
    const struct tensor *t = &s->model.example.in[0];
    const struct codec *codec = dtype_info[t->dtype].codec;
    uint8_t *in = s->request.pool[0].memory.address;

    for (unsigned i = 0; i < tensor_count(t); i++) {
        double x = (run + i) % 7, y = (run * 3 + i) % 11, sum = x + y;
        codec->narrow(&x, 1, 0, 1, in + s->request.inputs[0].location.offset + i * codec->size);
        codec->narrow(&y, 1, 0, 1, in + s->request.inputs[1].location.offset + i * codec->size);
        codec->narrow(&sum, 1, 0, 1,
                      (uint8_t *) s->model.example.expected[0].data + i * codec->size);
    }
}

static void run_once(struct conform *c, struct conform_subject *s, struct hal_prepared_model *p,
                     const struct conform_kind *kind, unsigned run)
{
    struct hal_execution_config config = client_config();

    config.measure = run % 2 && c->version >= HAL_1_2;
    conform_subject_reset(s);
    set_values(s, run);
    enum hal_status status = conform_run_beside(kind, p, c->version, &s->request, &config);
    EXPECT(c, status == HAL_NONE && conform_subject_is_correct(s), "%s, run %u: %s%s", kind->name,
           run, hal_status_name(status),
           status == HAL_NONE ? ", but the results of another execution, or wrong ones" : "");
}

/* False: the driver does not support the model.  Every driver prepares `each` models. */
static bool open_work(struct conform *c, struct work *w, unsigned n_drivers, unsigned each)
{
    struct conform_model m;

    memset(w, 0, sizeof *w);
    w->conform = c;
    for (unsigned i = 0; i < THREADS; i++) {
        conform_model_of(&w->subject[i].model, conform_sum(c));
        conform_subject_reset(&w->subject[i]);
        client_prepare_wait_init(&w->wait[i]);
    }
    conform_model_of(&m, conform_sum(c));
    for (unsigned i = 0; i < n_drivers; i++) {
        w->driver[w->n_drivers++] = i ? conform_open(c) : c->driver;
        for (unsigned k = 0; k < each; k++) {
            struct hal_prepared_model *p =
                i ? conform_thread_prepare(c, w->driver[i], &w->wait[0], &m.hal)
                  : conform_prepare_supported(c, &m.hal);
            if (p)
                w->model[w->n_models++] = p;
        }
    }
    conform_model_done(&m);
    if (w->n_models == n_drivers * each)
        return true;
    conform_not_applicable(c, "ADD of float32 and of quant8 is not supported");
    return false;
}

static void close_work(struct work *w)
{
    for (unsigned i = 0; i < w->n_models; i++)
        w->model[i]->methods->release(w->model[i]);
    for (unsigned i = 0; i < THREADS; i++)
        conform_model_done(&w->subject[i].model);
    for (unsigned i = 1; i < w->n_drivers; i++)
        w->driver[i]->close(w->driver[i]);
}

/* A rule: clients, models of each, and what the threads do. */
struct of_threads {
    unsigned drivers, models;
    conform_work *work;
};

static void in_threads(struct conform *c, const void *data)
{
    const struct of_threads *o = data;
    static struct work w; /* the driver may call its callbacks late */

    if (open_work(c, &w, o->drivers, o->models))
        conform_in_threads(c, THREADS, o->work, &w);
    close_work(&w);
}

/* What can be asked at any time. */
static void ask(struct conform *c, struct hal_driver *d, const struct hal_model *model)
{
    struct hal_capabilities caps;
    bool supported[2] = { false };
    uint32_t n = 0;

    enum hal_status s = d->get_supported_operations(d, c->version, model, supported, &n);
    EXPECT(c, s == HAL_NONE && n == 1 && supported[0],
           "get_supported_operations beside other calls, of their model: %s, %u answers, "
           "%ssupported",
           hal_status_name(s), n, supported[0] ? "" : "not ");
    EXPECT_STATUS(c, d->get_capabilities(d, c->version, &caps), HAL_NONE,
                  "get_capabilities beside other calls");
}

/* Thread i uses model i, kind i, and others in later runs. */
static void execute(struct conform *c, unsigned index, void *user)
{
    struct work *w = user;

    for (unsigned run = 0; run < RUNS; run++) {
        run_once(c, &w->subject[index], w->model[(index + run) % w->n_models],
                 kind_of(c, w->model[0], index + run), index * RUNS + run);
        ask(c, w->driver[0], &w->subject[index].model.hal);
    }
}

/* ---- preparing and releasing while others run */

static void prepare_and_release(struct conform *c, unsigned index, void *user)
{
    struct work *w = user;
    struct hal_driver *d = w->driver[index % w->n_drivers];

    for (unsigned run = 0; run < RUNS / 2; run++) {
        struct hal_prepared_model *p =
            conform_thread_prepare(c, d, &w->wait[index], &w->subject[index].model.hal);
        if (!p)
            return;
        run_once(c, &w->subject[index], p, kind_of(c, p, index + run), run);
        p->methods->release(p);
    }
    EXPECT(c, w->wait[index].calls == RUNS / 2, "%u preparations, but %u callbacks", RUNS / 2,
           w->wait[index].calls);
}

enum { MOST_RUNS = 3000 };

/* The other threads execute until all models are released. */
static void prepare_beside(struct conform *c, unsigned index, void *user)
{
    struct work *w = user;

    if (index % 2) {
        atomic_fetch_add(&w->preparing, 1);
        prepare_and_release(c, index, user);
        atomic_fetch_sub(&w->preparing, 1);
        return;
    }
    for (unsigned run = 0; run < RUNS || (run < MOST_RUNS && atomic_load(&w->preparing)); run++)
        run_once(c, &w->subject[index], w->model[(index + run) % w->n_models],
                 kind_of(c, w->model[0], index + run), run);
}

/* The other threads ask the driver until all models are prepared. */
static void ask_beside(struct conform *c, unsigned index, void *user)
{
    struct work *w = user;
    struct hal_driver *d = w->driver[0];

    if (index % 2) {
        prepare_beside(c, index, user);
        return;
    }
    for (unsigned run = 0; run < RUNS || (run < MOST_RUNS && atomic_load(&w->preparing)); run++) {
        enum hal_device_status s = d->get_status(d);
        EXPECT(c, s == HAL_DEVICE_AVAILABLE || s == HAL_DEVICE_BUSY,
               "get_status beside preparations: %d, expected AVAILABLE or BUSY", (int) s);
        ask(c, d, &w->subject[index].model.hal);
    }
}

/* ---- threads whose executions have the same inputs' memory */

static void share_inputs(struct conform *c, unsigned index, void *user)
{
    enum { SHARED_RUNS = 60 };
    struct work *w = user;
    struct conform_subject *s = &w->subject[index];
    const struct hal_execution_config config = client_config();

    for (unsigned run = 0; run < SHARED_RUNS; run++) {
        const struct conform_kind *kind = kind_of(c, w->model[0], index + run);
        conform_subject_reset(s);
        s->request.pool[0] = w->shared.pool[0];
        enum hal_status status =
            conform_run_beside(kind, w->model[0], c->version, &s->request, &config);
        EXPECT(c, status == HAL_NONE && conform_subject_is_correct(s),
               "%s, beside executions with the same inputs: %s, or wrong results", kind->name,
               hal_status_name(status));
    }
}

static void shared_inputs(struct conform *c, const void *data)
{
    static struct work w;

    (void) data;
    if (open_work(c, &w, 1, 1)) {
        conform_request(&w.subject[0].model.example, w.subject[0].model.arena, &w.shared);
        conform_in_threads(c, THREADS, share_inputs, &w);
    }
    close_work(&w);
}

/* ---- threads whose executions of one model have other shapes */

struct shaped {
    struct hal_prepared_model *prepared;
    struct conform_model model[THREADS]; /* with batches of 1, 2, ... */
};

static void run_shaped(struct conform *c, unsigned index, void *user)
{
    enum { SHAPED_RUNS = 60 };
    const struct shaped *s = user;
    const struct conform_model *m = &s->model[index];
    const struct hal_execution_config config = client_config();
    struct arena *a = arena_new(0);
    struct conform_request r;

    for (unsigned run = 0; run < SHAPED_RUNS; run++) {
        const struct conform_kind *kind = kind_of(c, s->prepared, index + run);
        if (kind->needs_shapes)
            continue;
        conform_request(&m->example, a, &r);
        enum hal_status status = conform_run_beside(kind, s->prepared, c->version, &r, &config);
        if (status == HAL_GENERAL_FAILURE) {
            conform_not_applicable(c, "the driver does not support outputs of unknown shape");
            break;
        }
        EXPECT(c,
               status == HAL_NONE && r.result.n_shapes == 1 && r.result.shapes[0].n_dims == 2 &&
                   r.result.shapes[0].dims[0] == index + 1 &&
                   conform_outputs_are(&r, m->example.expected),
               "%s, beside executions of other shapes: %s, a batch of %u, expected %u, or wrong "
               "results",
               kind->name, hal_status_name(status),
               r.result.n_shapes ? r.result.shapes[0].dims[0] : 0, index + 1);
    }
    arena_free(a);
}

static void shapes(struct conform *c, const void *data)
{
    const struct conform_tensor_type types[] = { { "float32", DT_F32, 0, 0, DIMS(0, 5) },
                                                 { "quant8", DT_U8, 1, 128, DIMS(0, 5) } };
    struct shaped s = { .prepared = NULL };

    (void) data;
    for (int k = 0; k < COUNT(types) * conform_n_graphs && !s.prepared; k++) {
        const struct conform_graph *g = &conform_graphs[k / COUNT(types)];
        if (!g->any_rank || g->n_outputs != 1)
            continue;
        for (unsigned i = 0; i < THREADS; i++)
            conform_graph_model(&s.model[i], g, &types[k % COUNT(types)], i + 1);
        conform_doing(c, "%s of %s", g->name, types[k % COUNT(types)].name);
        s.prepared = conform_prepare_supported(c, &s.model[0].hal);
        if (s.prepared) {
            conform_in_threads(c, THREADS, run_shaped, &s);
            s.prepared->methods->release(s.prepared);
        }
        for (unsigned i = 0; i < THREADS; i++)
            conform_model_done(&s.model[i]);
    }
}

/* ---- calls while a callback is running: the callback waits until another thread's call has ended
 */

enum { CALL_MS = 5000 };

struct caller {
    struct conform *conform;
    const struct hal_model *model;
    struct hal_prepared_model *prepared; /* of the execution whose callback is running; or NULL */
    struct conform_request request;
    struct client_wait executed;
    pthread_t thread;
    bool is_started, is_late;
    atomic_bool returned;
};

static void *call_driver(void *user)
{
    struct caller *k = user;
    struct hal_driver *d = k->conform->driver;
    const struct hal_execution_config config = client_config();
    bool supported[4];
    uint32_t n;

    if (k->prepared)
        k->prepared->methods->execute(k->prepared, k->conform->version, &k->request.hal, &config,
                                      &k->executed.base);
    d->get_status(d);
    d->get_supported_operations(d, k->conform->version, k->model, supported, &n);
    atomic_store(&k->returned, true);
    return NULL;
}

static void call_meanwhile(struct caller *k)
{
    k->is_started = pthread_create(&k->thread, NULL, call_driver, k) == 0;
    for (int i = 0; k->is_started && i < CALL_MS && !atomic_load(&k->returned); i++)
        usleep(1000);
    k->is_late = k->is_started && !atomic_load(&k->returned);
}

static void expect_call(struct conform *c, struct caller *k, const char *what)
{
    if (k->is_started)
        pthread_join(k->thread, NULL);
    EXPECT(c, !k->is_late, "calls of the driver wait while the callback of %s is running", what);
}

struct calling_preparation {
    struct client_prepare_wait wait;
    void (*notify)(struct hal_prepare_callback *self, enum hal_status status,
                   struct hal_prepared_model *prepared);
    struct caller caller;
};

static void prepared_and_call(struct hal_prepare_callback *self, enum hal_status status,
                              struct hal_prepared_model *prepared)
{
    struct calling_preparation *p = (struct calling_preparation *) self;

    call_meanwhile(&p->caller);
    p->notify(self, status, prepared);
}

struct calling_execution {
    struct client_wait wait;
    void (*notify)(struct hal_execution_callback *self, enum hal_status status, uint32_t n_shapes,
                   const struct hal_output_shape *shapes, struct hal_timing timing);
    struct caller caller;
};

static void executed_and_call(struct hal_execution_callback *self, enum hal_status status,
                              uint32_t n_shapes, const struct hal_output_shape *s,
                              struct hal_timing timing)
{
    struct calling_execution *x = (struct calling_execution *) self;

    call_meanwhile(&x->caller);
    x->notify(self, status, n_shapes, s, timing);
}

static void call_in_execution(struct conform *c, struct conform_subject *s)
{
    static struct calling_execution x; /* the driver may call late */
    const struct hal_execution_config config = client_config();

    x = (struct calling_execution){ .caller = { c, &s->model.hal, s->prepared } };
    client_wait_init(&x.wait);
    client_wait_init(&x.caller.executed);
    x.notify = x.wait.base.notify;
    x.wait.base.notify = executed_and_call;
    conform_request(&s->model.example, s->model.arena, &x.caller.request);
    s->prepared->methods->execute(s->prepared, c->version, &s->request.hal, &config, &x.wait.base);
    EXPECT_STATUS(c, client_wait(&x.wait), HAL_NONE, "execute");
    expect_call(c, &x.caller, "an execution");
    EXPECT_STATUS(c, client_wait(&x.caller.executed), HAL_NONE, "execute in a callback");
}

static void calling_callbacks(struct conform *c, const void *data)
{
    static struct calling_preparation p; /* likewise */
    struct conform_subject s;

    (void) data;
    if (c->is_remote) {
        conform_not_applicable(c, "the callbacks of a service's client come from its connection");
        return;
    }
    if (conform_subject_open(c, conform_sum(c), &s)) {
        p = (struct calling_preparation){ .caller = { c, &s.model.hal, NULL } };
        client_prepare_wait_init(&p.wait);
        p.notify = p.wait.base.notify;
        p.wait.base.notify = prepared_and_call;
        struct hal_prepared_model *prepared =
            conform_thread_prepare(c, c->driver, &p.wait, &s.model.hal);
        expect_call(c, &p.caller, "a preparation");
        if (prepared)
            prepared->methods->release(prepared);
        if (c->version <= HAL_1_3 && s.prepared->methods->execute)
            call_in_execution(c, &s);
    }
    conform_subject_close(&s);
}

/* One client opens and closes the target while others run. */
static void open_beside(struct conform *c, unsigned index, void *user)
{
    struct work *w = user;

    if (index != 1) {
        execute(c, index, user);
        return;
    }
    for (unsigned run = 0; run < 4; run++) {
        struct hal_driver *d = conform_open(c);
        struct hal_prepared_model *p =
            conform_thread_prepare(c, d, &w->wait[index], &w->subject[index].model.hal);
        if (p) {
            run_once(c, &w->subject[index], p, kind_of(c, p, run), run);
            p->methods->release(p);
        }
        d->close(d);
    }
}

/* ---- asynchronous executions: many launched before any is waited for */

struct launch {
    struct conform_subject *subject;
    struct conform_request request;
    struct client_wait wait;
    enum hal_status launched;
};

static void await(struct conform *c, struct launch *l)
{
    enum hal_status s = client_wait(&l->wait);

    EXPECT(c, l->launched == HAL_NONE || l->launched == s, "execute: %s, its callback: %s",
           hal_status_name(l->launched), hal_status_name(s));
    EXPECT(
        c,
        conform_is_exhausted(s, c->version) ||
            (s == HAL_NONE && conform_outputs_are(&l->request, l->subject->model.example.expected)),
        "%s, or wrong results", hal_status_name(s));
}

static void launch_many(struct conform *c, unsigned index, void *user)
{
    struct work *w = user;
    struct conform_subject *s = &w->subject[index];
    struct hal_prepared_model *p = w->model[0];
    const struct hal_execution_config config = client_config();
    enum hal_version entry = c->version < HAL_1_3 ? c->version : HAL_1_3;
    struct launch *l = arena_alloc(s->model.arena, LAUNCHES, sizeof *l);

    conform_must(l, "out of memory");
    for (unsigned i = 0; i < LAUNCHES; i++) {
        client_wait_init(&l[i].wait);
        l[i].subject = s;
        conform_request(&s->model.example, s->model.arena, &l[i].request);
        l[i].launched = p->methods->execute(p, entry, &l[i].request.hal, &config, &l[i].wait.base);
    }
    for (unsigned i = 0; i < LAUNCHES; i++)
        await(c, &l[LAUNCHES - 1 - i]);
    usleep(2000); /* for a second call that should not come */
    for (unsigned i = 0; i < LAUNCHES; i++)
        EXPECT(c, l[i].wait.calls == 1, "the callback of an execution was called %u times",
               l[i].wait.calls);
}

static void launches(struct conform *c, const void *data)
{
    struct conform_subject s;

    conform_subject_open(c, conform_sum(c), &s);
    bool available = s.prepared && s.prepared->methods->execute;
    conform_subject_close(&s);
    if (available)
        in_threads(c, data);
    else
        conform_not_applicable(c, "no asynchronous execution");
}

/* ---- one burst used by several threads, and one burst per thread */

/* The contract lets any thread call any method at any time; a burst has one queue, and a driver may
 * refuse concurrent use of it as it refuses for lack of resources. */
static void run_in_burst(struct conform *c, struct conform_subject *s, struct hal_burst *b,
                         unsigned run, int64_t first)
{
    const int64_t identifiers[2] = { first, first + 1 };
    const struct hal_execution_config config = client_config();
    struct conform_retry retry = { 0 };
    enum hal_status status;

    conform_subject_reset(s);
    set_values(s, run);
    do
        status = b->methods->execute_synchronously(b, &s->request.hal, 2, identifiers, &config,
                                                   &s->request.result);
    while (conform_try_again(&retry, status, c->version));
    EXPECT(c, status == HAL_NONE && conform_subject_is_correct(s), "burst, run %u: %s%s", run,
           hal_status_name(status), status == HAL_NONE ? ", but wrong results" : "");
    for (int i = 0; i < 2; i++)
        EXPECT_STATUS(c, b->methods->release_memory(b, identifiers[i]), HAL_NONE, "release_memory");
}

static void burst_each(struct conform *c, unsigned index, void *user)
{
    struct work *w = user;
    struct hal_prepared_model *p = w->model[index % w->n_models];
    struct hal_burst *b = NULL;

    enum hal_status status = p->methods->configure_burst(p, c->version, &b);
    if (!EXPECT(c, status == HAL_NONE && b, "configure_burst: %s", hal_status_name(status)))
        return;
    for (unsigned run = 0; run < RUNS; run++)
        run_in_burst(c, &w->subject[index], b, index * RUNS + run, 2 * (run % 4));
    b->methods->release(b);
}

static void burst_shared(struct conform *c, unsigned index, void *user)
{
    struct work *w = user;

    for (unsigned run = 0; run < RUNS; run++)
        run_in_burst(c, &w->subject[index], w->burst, index * RUNS + run, 2 * (int64_t) index);
}

static bool has_bursts(struct conform *c, const struct work *w)
{
    if (w->model[0]->methods->configure_burst)
        return true;
    conform_not_applicable(c, "no bursts");
    return false;
}

static void bursts(struct conform *c, const void *data)
{
    static struct work w;

    (void) data;
    if (open_work(c, &w, 1, 2) && has_bursts(c, &w)) {
        conform_in_threads(c, THREADS, burst_each, &w);
        enum hal_status status =
            w.model[0]->methods->configure_burst(w.model[0], c->version, &w.burst);
        if (EXPECT_STATUS(c, status, HAL_NONE, "configure_burst")) {
            conform_in_threads(c, THREADS, burst_shared, &w);
            w.burst->methods->release(w.burst);
        }
    }
    close_work(&w);
}

/* ---- objects released by another thread than the one that made them, in any order */

static void release_one(struct conform *c, unsigned index, void *user)
{
    struct work *w = user;

    (void) c;
    for (unsigned i = index; i < w->n_models; i += THREADS)
        w->model[i]->methods->release(w->model[i]);
}

static void releases(struct conform *c, const void *data)
{
    static struct work w;

    (void) data;
    bool opened = open_work(c, &w, 1, 12);
    if (opened) {
        conform_in_threads(c, THREADS, execute, &w);
        conform_in_threads(c, THREADS, release_one, &w);
        w.n_models = 0;
        struct conform_subject s;
        conform_subject_open(c, conform_sum(c), &s);
        if (EXPECT(c, s.prepared, "after releasing from several threads no model can be prepared"))
            run_once(c, &s, s.prepared, kind_of(c, s.prepared, 0), 1);
        conform_subject_close(&s);
    }
    close_work(&w);
}

#define WORK(...)                                                                                  \
    &(const struct of_threads)                                                                     \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

static const struct conform_rule rules_of_file[] = {
    { "concurrency", "one-model", HAL_1_0, 0,
      "several threads execute one prepared model, in every kind of execution, and ask the driver",
      in_threads, WORK(1, 1, execute) },
    { "concurrency", "several-models", HAL_1_0, 0, "several threads execute several models",
      in_threads, WORK(1, MODELS, execute) },
    { "concurrency", "clients", HAL_1_0, 0,
      "several clients prepare and execute models at the same time", in_threads,
      WORK(CLIENTS, 1, execute) },
    { "concurrency", "preparing", HAL_1_0, 0,
      "models are prepared and released while others execute; each preparation calls back once",
      in_threads, WORK(2, 1, prepare_beside) },
    { "concurrency", "asking", HAL_1_0, 0,
      "status, capabilities and supported operations are answered while models are prepared",
      in_threads, WORK(1, 1, ask_beside) },
    { "concurrency", "shared-inputs", HAL_1_0, 0,
      "executions at the same time may have the same memory as inputs", shared_inputs },
    { "concurrency", "shapes", HAL_1_2, 0,
      "executions of one model with other shapes at the same time report their own", shapes },
    { "concurrency", "calls-in-callbacks", HAL_1_0, 0,
      "other threads can call the driver while it calls a callback", calling_callbacks },
    { "concurrency", "opening", HAL_1_0, 0, "clients come and go while others execute", in_threads,
      WORK(1, 1, open_beside) },
    { "concurrency", "launches", HAL_1_0, HAL_1_3,
      "many asynchronous executions at once: each calls back exactly once, with its own results",
      launches, WORK(1, 1, launch_many) },
    { "concurrency", "bursts", HAL_1_2, 0, "a burst per thread, and one burst from several threads",
      bursts },
    { "concurrency", "releasing", HAL_1_0, 0,
      "models are released from other threads than they were prepared on", releases },
};
const struct conform_rules conform_rules_threads = { rules_of_file, COUNT(rules_of_file), NULL,
                                                     NULL };
