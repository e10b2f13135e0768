/* Fenced executions: what they wait for, what they do when a fence fails or is never signalled, how
 * long they may take, and data that one passes to the next.
 *
 * A driver may wait in execute_fenced() itself and return no fence, so that fences are always
 * signalled by another thread. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "golden/base/clock.h"
#include "harness/conform/conform_graphs.h"
#include "harness/conform/conform_requests.h"
#include "harness/conform/conform_threads.h"
#include "sim/base/fence.h"

enum { MANY = 200, DELAY_US = 20000, CHAIN = 8 };

/* ---- one fenced execution */

struct fenced {
    struct hal_execution *reusable; /* that was computed; NULL: it was none */
    enum hal_status launched, status;
    int fence;
    struct hal_fenced_info *info;
    struct hal_timing since_launch, since_fences;
    uint64_t ended; /* clock_steady_ns() after its fence was signalled */
};

/* Whether this file's launches compute reusable executions. */
static bool is_reusable;

static enum hal_status compute(struct hal_prepared_model *p, const struct hal_request *r,
                               const int *wait_for, uint32_t n,
                               const struct hal_execution_config *config, uint64_t duration,
                               struct fenced *f)
{
    enum hal_status s = p->methods->create_reusable_execution(p, r, config, &f->reusable);

    conform_must(s == HAL_NONE && f->reusable, "create_reusable_execution fails");
    return f->reusable->methods->execute_fenced(f->reusable, n, wait_for, HAL_NO_DEADLINE, duration,
                                                &f->fence, &f->info);
}

static void launch(struct conform *c, struct hal_prepared_model *p, const struct conform_request *r,
                   const int *wait_for, uint32_t n, uint64_t duration, struct fenced *ret)
{
    struct hal_execution_config config = client_config();

    config.measure = true;
    *ret = (struct fenced){ .fence = HAL_NO_FENCE };
    ret->launched = is_reusable
                        ? compute(p, &r->hal, wait_for, n, &config, duration, ret)
                        : p->methods->execute_fenced(p, c->version, &r->hal, n, wait_for, &config,
                                                     duration, &ret->fence, &ret->info);
    EXPECT(c, (ret->launched == HAL_NONE) == (ret->info != NULL), "execute_fenced: %s %s an info",
           hal_status_name(ret->launched), ret->info ? "with" : "without");
    EXPECT(c, ret->launched == HAL_NONE || ret->fence == HAL_NO_FENCE,
           "execute_fenced: %s with a fence", hal_status_name(ret->launched));
    ret->status = ret->launched;
}

static bool is_unknown(struct hal_timing t)
{
    return t.on_device == HAL_NO_TIME && t.in_driver == HAL_NO_TIME;
}

/* at most: both unknown, or not longer */
static bool is_at_most(uint64_t a, uint64_t b)
{
    return a == HAL_NO_TIME || b == HAL_NO_TIME || a <= b;
}

static void expect_times(struct conform *c, const struct fenced *f)
{
    const struct hal_timing l = f->since_launch, s = f->since_fences;

    EXPECT(c, is_at_most(l.on_device, l.in_driver) && is_at_most(s.on_device, s.in_driver),
           "more time on the device than in the driver: %llu and %llu ns since the launch, %llu "
           "and %llu ns since the fences",
           (unsigned long long) l.on_device, (unsigned long long) l.in_driver,
           (unsigned long long) s.on_device, (unsigned long long) s.in_driver);
    EXPECT(c, is_at_most(s.in_driver, l.in_driver),
           "%llu ns since the fences, but only %llu ns since the launch",
           (unsigned long long) s.in_driver, (unsigned long long) l.in_driver);
    EXPECT(c, f->status == HAL_NONE || (is_unknown(l) && is_unknown(s)),
           "durations of an execution that ends with %s", hal_status_name(f->status));
}

static void end_reusable(struct fenced *f)
{
    if (f->reusable)
        f->reusable->methods->release(f->reusable);
    f->reusable = NULL;
}

/* Waits for the execution's own fence, reads the info twice, and releases it. */
static void finish(struct conform *c, struct fenced *f)
{
    if (!f->info) {
        end_reusable(f);
        return;
    }
    int ready = f->fence == HAL_NO_FENCE ? 1 : fence_wait(1, &f->fence, HAL_NO_TIME);
    f->ended = clock_steady_ns();
    f->status = f->info->methods->get_execution_info(f->info, &f->since_launch, &f->since_fences);
    EXPECT(c, f->fence == HAL_NO_FENCE || (ready == 1) == (f->status == HAL_NONE),
           "the fence %s, but get_execution_info: %s", ready == 1 ? "is signalled" : "fails",
           hal_status_name(f->status));
    expect_times(c, f);
    struct fenced again = *f;
    again.status =
        f->info->methods->get_execution_info(f->info, &again.since_launch, &again.since_fences);
    EXPECT(c,
           again.status == f->status && again.since_launch.in_driver == f->since_launch.in_driver &&
               again.since_fences.in_driver == f->since_fences.in_driver,
           "get_execution_info: %s, called again: %s, or other durations",
           hal_status_name(f->status), hal_status_name(again.status));
    f->info->methods->release(f->info);
    f->info = NULL;
    if (f->fence >= 0)
        close(f->fence);
    end_reusable(f);
}

/* The model of all rules, which are called with data to launch reusable executions; false: there
 * are no fenced executions. */
static bool open_subject(struct conform *c, const void *data, struct conform_subject *s)
{
    is_reusable = data;
    conform_subject_open(c, conform_sum(c), s);
    if (s->prepared && s->prepared->methods->execute_fenced)
        return true;
    conform_not_applicable(c, s->prepared ? "no fenced executions"
                                          : "ADD of float32 and of quant8 is not supported");
    return false;
}

static void expect_end(struct conform *c, const struct fenced *f, enum hal_status expected,
                       const char *what)
{
    EXPECT(c, f->status == expected, "%s: %s, expected %s", what, hal_status_name(f->status),
           hal_status_name(expected));
}

/* ---- waiting for fences that another thread signals */

struct waiting {
    struct conform_subject *subject;
    struct fence fence[MANY];
    uint32_t n;       /* fences */
    uint32_t failing; /* index of the one that fails; n: none */
    uint32_t delay_us;
    bool close_early; /* the client closes its descriptors once execute_fenced() has returned */
    uint64_t duration;
    atomic_bool all_signalled;
    uint64_t last_signal; /* clock_steady_ns() before it */
    struct fenced run;
};

static void signal_all(struct conform *c, unsigned index, void *user)
{
    struct waiting *w = user;

    (void) c, (void) index;
    for (uint32_t i = 0; i < w->n; i++) {
        uint32_t k = (i * 7 + 3) % w->n; /* n is no multiple of 7 */
        usleep(w->delay_us / w->n);
        if (i == w->n - 1) {
            w->last_signal = clock_steady_ns();
            atomic_store(&w->all_signalled, true);
        }
        fence_complete(&w->fence[k], k != w->failing);
    }
}

static void launch_waiting(struct conform *c, struct waiting *w)
{
    int wait_for[MANY];

    for (uint32_t i = 0; i < w->n; i++)
        wait_for[i] = w->fence[i].wait;
    launch(c, w->subject->prepared, &w->subject->request, wait_for, w->n, w->duration, &w->run);
    for (uint32_t i = 0; w->close_early && i < w->n; i++)
        close(wait_for[i]);
    finish(c, &w->run);
}

static void wait_or_signal(struct conform *c, unsigned index, void *user)
{
    struct waiting *w = user;

    if (index) {
        signal_all(c, index, user);
        return;
    }
    launch_waiting(c, w);
    EXPECT(c, w->run.status != HAL_NONE || atomic_load(&w->all_signalled),
           "the execution of %u fences succeeds before all are signalled", w->n);
}

/* The time since the fences does not contain the wait for them.  A simulated device may report
 * longer times than the client sees. */
static void expect_waited(struct conform *c, const struct waiting *w)
{
    enum { SLACK_NS = 100000000 };
    const uint64_t ns = w->run.since_fences.in_driver, seen = w->run.ended - w->last_signal;

    EXPECT(c, w->run.status != HAL_NONE || ns == HAL_NO_TIME || ns <= seen + SLACK_NS,
           "%llu ns since the fences, of which the last was signalled %llu ns before the end",
           (unsigned long long) ns, (unsigned long long) seen);
}

static void run_waiting(struct conform *c, struct waiting *w)
{
    conform_subject_reset(w->subject);
    for (uint32_t i = 0; i < w->n; i++)
        conform_must(fence_open(&w->fence[i]) == 0, "too many open files");
    conform_in_threads(c, 2, wait_or_signal, w);
    expect_waited(c, w);
    for (uint32_t i = 0; !w->close_early && i < w->n; i++)
        EXPECT(c, close(w->fence[i].wait) == 0,
               "the driver closes fence %u of %u that it waits for", i, w->n);
}

static void expect_result(struct conform *c, const struct conform_subject *s,
                          const struct fenced *f, const char *what)
{
    expect_end(c, f, HAL_NONE, what);
    EXPECT(c, f->status != HAL_NONE || conform_subject_is_correct(s), "%s: wrong results", what);
}

static void many(struct conform *c, const void *data)
{
    static const uint32_t numbers[] = { 1, 2, 5, MANY };
    struct conform_subject s;

    bool opened = open_subject(c, data, &s);
    for (int i = 0; opened && i < 2 * COUNT(numbers); i++) {
        struct waiting w = { .subject = &s,
                             .n = numbers[i / 2],
                             .failing = MANY,
                             .delay_us = DELAY_US,
                             .close_early = i % 2,
                             .duration = HAL_NO_TIME };
        run_waiting(c, &w);
        expect_result(c, &s, &w.run,
                      w.close_early ? "fences that the client closes at once" : "several fences");
    }
    conform_subject_close(&s);
}

/* Before the call, and while it waits. */
static void failed(struct conform *c, const void *data)
{
    static const uint32_t numbers[] = { 1, 3, 8 };
    struct conform_subject s;

    bool opened = open_subject(c, data, &s);
    for (uint32_t i = 0; opened && i < COUNT(numbers); i++)
        for (uint32_t k = 0; k < numbers[i]; k += 2) {
            struct waiting w = { .subject = &s,
                                 .n = numbers[i],
                                 .failing = k,
                                 .delay_us = i % 2 ? 0 : DELAY_US / 4,
                                 .duration = HAL_NO_TIME };
            run_waiting(c, &w);
            expect_end(c, &w.run, HAL_GENERAL_FAILURE, "a fence that fails");
            w.failing = MANY;
            run_waiting(c, &w);
            expect_result(c, &s, &w.run, "after an execution whose fence has failed");
        }
    conform_subject_close(&s);
}

/* ---- the driver's own fence, once it is signalled */

enum { LATER_US = 30000 };

/* Stays signalled, for this and for duplicated descriptors. */
static void lasting(struct conform *c, const void *data)
{
    struct conform_subject s;
    struct fenced run;

    bool opened = open_subject(c, data, &s);
    for (int i = 0; opened && i < 4; i++) {
        launch(c, s.prepared, &s.request, NULL, 0, HAL_NO_TIME, &run);
        int copy = run.fence >= 0 ? dup(run.fence) : -1;
        bool signalled = run.fence < 0 || fence_wait(1, &run.fence, HAL_NO_TIME) == 1;
        usleep(LATER_US);
        EXPECT(c, signalled && (run.fence < 0 || fence_wait(1, &run.fence, 0) == 1),
               "the fence of an execution is %s", signalled ? "not signalled any more" : "failed");
        EXPECT(c, copy < 0 || fence_wait(1, &copy, 0) == 1, "%s",
               "a duplicate of the fence is not signalled");
        if (copy >= 0)
            close(copy);
        finish(c, &run);
        expect_result(c, &s, &run, "a fence that is read late");
    }
    conform_subject_close(&s);
}

/* ---- many elements: the fence is not signalled before the last of them is written */

static void large(struct conform_graph_subject *s)
{
    struct arena *a = arena_new(0);
    struct conform_request r;
    struct fenced run;

    for (int i = 0; i < 8 && s->prepared->methods->execute_fenced; i++) {
        conform_request(&s->model.example, a, &r);
        memset(r.pool[1].memory.address, 0x55, r.pool[1].memory.size);
        launch(s->conform, s->prepared, &r, NULL, 0, HAL_NO_TIME, &run);
        bool signalled = run.fence < 0 || fence_wait(1, &run.fence, HAL_NO_TIME) == 1;
        EXPECT(s->conform,
               !run.info || (signalled && conform_outputs_are(&r, s->model.example.expected)),
               "%s of %s: the fence is signalled before the results are written, or they are wrong",
               s->graph->name, s->tensor_type->name);
        finish(s->conform, &run);
    }
    arena_free(a);
}

static void larger(struct conform *c, const void *data)
{
    (void) data;
    is_reusable = false;
    conform_not_applicable(c, "no fenced executions");
    conform_each_graph(c, false, large);
}

/* Signalled before the call, one of them several times in the list. */
static void signalled(struct conform *c, const void *data)
{
    struct conform_subject s;
    struct fence f[2];
    struct fenced run;

    if (open_subject(c, data, &s)) {
        for (int i = 0; i < 2; i++) {
            conform_must(fence_open(&f[i]) == 0, "too many open files");
            fence_complete(&f[i], i == 0);
        }
        const int good[] = { f[0].wait, f[0].wait, f[0].wait }, bad[] = { f[0].wait, f[1].wait };
        for (uint32_t n = 0; n <= COUNT(good); n++) {
            conform_subject_reset(&s);
            launch(c, s.prepared, &s.request, n ? good : NULL, n, HAL_NO_TIME, &run);
            finish(c, &run);
            expect_result(c, &s, &run, n ? "fences that are signalled" : "no fences");
            EXPECT(c, fence_wait(1, &f[0].wait, 0) == 1, "%s",
                   "the client's fence is not signalled any more after an execution");
        }
        launch(c, s.prepared, &s.request, bad, COUNT(bad), HAL_NO_TIME, &run);
        finish(c, &run);
        expect_end(c, &run, HAL_GENERAL_FAILURE, "a fence that has failed");
        for (int i = 0; i < 2; i++)
            close(f[i].wait);
    }
    conform_subject_close(&s);
}

/* ---- descriptors that are none */

static void descriptors(struct conform *c, const void *data)
{
    struct conform_subject s;
    struct fence f;
    struct fenced run;

    if (open_subject(c, data, &s)) {
        conform_must(fence_open(&f) == 0, "too many open files");
        fence_complete(&f, true);
        const int lists[][2] = { { -1, -1 }, { -2, f.wait }, { f.wait, -1 }, { 1 << 20, f.wait } };
        for (int i = 0; i < COUNT(lists); i++) {
            conform_subject_reset(&s);
            launch(c, s.prepared, &s.request, lists[i], 2, HAL_NO_TIME, &run);
            finish(c, &run);
            expect_end(c, &run, HAL_INVALID_ARGUMENT, "a fence that is no descriptor");
        }
        close(f.wait);
    }
    conform_subject_close(&s);
}

/* ---- durations: they count from the signal of the last fence */

static bool is_missed(enum hal_status s)
{
    return s == HAL_MISSED_DEADLINE_TRANSIENT || s == HAL_MISSED_DEADLINE_PERSISTENT;
}

static void durations(struct conform *c, const void *data)
{
    static const uint64_t none[] = { 0, 1, 1000 },
                          enough[] = { UINT64_C(60000000000), INT64_MAX, HAL_NO_TIME };
    struct conform_subject s;
    struct fenced run;

    bool opened = open_subject(c, data, &s);
    for (int i = 0; opened && i < COUNT(none); i++) {
        launch(c, s.prepared, &s.request, NULL, 0, none[i], &run);
        finish(c, &run);
        EXPECT(c, run.status == HAL_NONE || is_missed(run.status), "at most %llu ns: %s",
               (unsigned long long) none[i], hal_status_name(run.status));
    }
    for (int i = 0; opened && i < COUNT(enough); i++) {
        conform_subject_reset(&s);
        launch(c, s.prepared, &s.request, NULL, 0, enough[i], &run);
        finish(c, &run);
        expect_result(c, &s, &run, "more time than is needed");
    }
    struct waiting w = {
        .subject = &s, .n = 2, .failing = MANY, .delay_us = 1200000, .duration = UINT64_C(300000000)
    };
    if (opened) {
        run_waiting(c, &w);
        if (is_missed(w.run.status)) /* other clients may keep the device busy */
            run_waiting(c, &w);
        expect_result(c, &s, &w.run, "fences that are signalled after 1.2 s, at most 1 s then");
    }
    conform_subject_close(&s);
}

/* ---- the info is released before the fence is signalled */

struct early {
    struct conform_subject *subject;
    struct fence before;
    struct fenced run;
};

static void release_early(struct conform *c, unsigned index, void *user)
{
    struct early *e = user;

    if (index) {
        usleep(DELAY_US);
        fence_complete(&e->before, true);
        return;
    }
    launch(c, e->subject->prepared, &e->subject->request, &e->before.wait, 1, HAL_NO_TIME, &e->run);
    if (e->run.info)
        e->run.info->methods->release(e->run.info);
    EXPECT(c, e->run.fence == HAL_NO_FENCE || fence_wait(1, &e->run.fence, HAL_NO_TIME) == 1,
           "the fence fails after its info %s", "was released");
    if (e->run.fence >= 0)
        close(e->run.fence);
}

static void early_release(struct conform *c, const void *data)
{
    struct conform_subject s;
    struct early e = { .subject = &s };

    if (open_subject(c, data, &s)) {
        conform_must(fence_open(&e.before) == 0, "too many open files");
        conform_in_threads(c, 2, release_early, &e);
        expect_result(c, &s, &e.run, "an execution whose info was released early");
        close(e.before.wait);
    }
    conform_subject_close(&s);
}

/* ---- data: each execution adds 1 to the result of the one before */

struct chain {
    struct conform_subject *subject;
    struct fence before;
    struct conform_request request[CHAIN];
    struct fenced run[CHAIN];
};

static void put(const struct tensor *t, void *at, double x)
{
    const struct codec *codec = dtype_info[t->dtype].codec;

    for (size_t i = 0; i < tensor_count(t); i++)
        codec->narrow(&x, 1, 0, 1, (char *) at + i * codec->size);
}

static void open_chain(struct chain *k)
{
    const struct conform_model *m = &k->subject->model;

    for (int i = 0; i < CHAIN; i++) {
        struct conform_request *r = &k->request[i], *before = i ? &k->request[i - 1] : NULL;
        conform_request(&m->example, m->arena, r);
        conform_request_use_files(r);
        put(&m->example.in[0], conform_request_value(r, &r->inputs[0]), 0);
        put(&m->example.in[1], conform_request_value(r, &r->inputs[1]), 1);
        if (!before)
            continue;
        r->pool[r->hal.n_pools] = before->pool[1];
        r->inputs[0].location = before->outputs[0].location;
        r->inputs[0].location.length = tensor_bytes(&m->example.in[0]);
        r->inputs[0].location.pool = r->hal.n_pools++;
    }
}

static void run_chain(struct conform *c, unsigned index, void *user)
{
    struct chain *k = user;

    if (index) {
        usleep(DELAY_US);
        fence_complete(&k->before, true);
        return;
    }
    for (int i = 0; i < CHAIN; i++) {
        int before = i ? k->run[i - 1].fence : k->before.wait;
        launch(c, k->subject->prepared, &k->request[i], &before, before >= 0, HAL_NO_TIME,
               &k->run[i]);
    }
    for (int i = CHAIN; i-- > 0;)
        finish(c, &k->run[i]);
}

static void chained(struct conform *c, const void *data)
{
    struct conform_subject s;
    struct chain k = { .subject = &s };

    if (open_subject(c, data, &s)) {
        conform_must(fence_open(&k.before) == 0, "too many open files");
        open_chain(&k);
        conform_in_threads(c, 2, run_chain, &k);
        for (int i = 0; i < CHAIN; i++) {
            expect_end(c, &k.run[i], HAL_NONE, "an execution of a chain");
            put(&s.model.example.expected[0], s.model.example.expected[0].data, i + 1);
            EXPECT(c, conform_outputs_are(&k.request[i], s.model.example.expected),
                   "execution %d of a chain does not read the result of the one before", i);
        }
        for (int i = 0; i < CHAIN; i++)
            conform_request_close_files(&k.request[i]);
        close(k.before.wait);
    }
    conform_subject_close(&s);
}

/* ---- releasing the model and the driver before the awaited fence is signalled */

struct never {
    struct hal_driver *driver;
    struct conform_subject *subject;
    struct fence before;
    struct fenced run;
    atomic_bool returned;
};

static void launch_never(struct conform *c, unsigned index, void *user)
{
    struct never *n = user;

    if (index == 0) {
        launch(c, n->subject->prepared, &n->subject->request, &n->before.wait, 1, HAL_NO_TIME,
               &n->run);
        atomic_store(&n->returned, true);
        return;
    }
    for (int i = 0; i < 100 && !atomic_load(&n->returned); i++)
        usleep(10000);
    if (!atomic_load(
            &n->returned)) /* the driver waits for fences inside the call, which must end */
        fence_complete(&n->before, true);
}

static void never_signalled(struct conform *c, const void *data)
{
    static struct client_prepare_wait wait;
    struct conform_subject s;
    struct never n = { .subject = &s };

    bool opened = open_subject(c, data, &s);
    conform_subject_close(&s);
    if (!opened)
        return;
    n.driver = conform_open(c);
    conform_model_of(&s.model, conform_sum(c));
    client_prepare_wait_init(&wait);
    s.prepared = conform_thread_prepare(c, n.driver, &wait, &s.model.hal);
    conform_must(s.prepared, "the model is prepared once, but not a second time");
    conform_subject_reset(&s);
    conform_must(fence_open(&n.before) == 0, "too many open files");
    conform_in_threads(c, 2, launch_never, &n);
    conform_doing(c, "releasing an execution whose fence is never signalled");
    EXPECT(c, n.run.launched == HAL_NONE, "execute_fenced: %s", hal_status_name(n.run.launched));
    if (n.run.info)
        n.run.info->methods->release(n.run.info);
    s.prepared->methods->release(s.prepared);
    n.driver->close(n.driver);
    EXPECT(c,
           n.before.signal < 0 || n.run.fence < 0 || fence_wait(1, &n.run.fence, 0) != 1 ||
               !conform_subject_is_correct(&s),
           "an execution succeeds %s", "whose fence was never signalled");
    if (n.run.fence >= 0)
        close(n.run.fence);
    fence_complete(&n.before, false);
    close(n.before.wait);
    s.prepared = NULL;
    conform_subject_close(&s);
}

/* ---- the same with reusable executions */

typedef void check_fences(struct conform *c, const void *data);

static void reusable(struct conform *c, const void *data)
{
    static check_fences *const rules[] = { many, failed, signalled, descriptors, lasting, chained };
    struct conform_subject s;

    bool opened =
        open_subject(c, data, &s) &&
        conform_can_run(c, s.prepared, conform_kind_named("reusable, fenced"), c->version);
    conform_subject_close(&s);
    for (int i = 0; opened && i < COUNT(rules); i++)
        rules[i](c, &is_reusable);
}

static const struct conform_rule rules_of_file[] = {
    { "fenced", "many", HAL_1_3, 0,
      "an execution waits for all its fences, which the client may close after the call", many },
    { "fenced", "failed", HAL_1_3, 0,
      "a fence that fails makes the execution fail, and none after it", failed },
    { "fenced", "signalled", HAL_1_3, 0,
      "fences may be signalled or have failed before the call, or be repeated", signalled },
    { "fenced", "lasting", HAL_1_3, 0, "the fence of an execution stays signalled", lasting },
    { "fenced", "complete", HAL_1_3, 0,
      "the fence of an execution is signalled after all results are written", larger },
    { "fenced", "descriptors", HAL_1_3, 0, "a fence that is no open descriptor is rejected",
      descriptors },
    { "fenced", "durations", HAL_1_3, 0,
      "the maximum duration counts from the signal of the last fence", durations },
    { "fenced", "early-release", HAL_1_3, 0,
      "an info may be released before the fence is signalled", early_release },
    { "fenced", "data", HAL_1_3, 0, "an execution reads what the execution before it has written",
      chained },
    { "fenced", "reusable", HAL_FL8, 0,
      "reusable executions wait for fences and signal their own as others do", reusable },
    { "fenced", "never", HAL_1_3, 0,
      "model and driver can be released while an execution waits for a fence", never_signalled },
};
const struct conform_rules conform_rules_fences = { rules_of_file, COUNT(rules_of_file), NULL,
                                                    NULL };
