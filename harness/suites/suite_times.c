/* Deadlines, priorities and time-outs of loops.  A driver may ignore deadlines, except that one
 * which is far away is never missed; it may not ignore the time-out of a loop. */
#include <math.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "golden/base/clock.h"
#include "harness/conform/conform_requests.h"
#include "harness/conform/conform_threads.h"
#include "harness/conform/conform_usage.h"
#include "harness/corrupt/cache_files.h"
#include "sim/base/process_clock.h"

static bool is_missed(enum hal_status s)
{
    return s == HAL_MISSED_DEADLINE_TRANSIENT || s == HAL_MISSED_DEADLINE_PERSISTENT;
}

static bool has_deadline(struct conform *c, const struct hal_prepared_model *p,
                         const struct conform_kind *kind)
{
    return conform_can_run(c, p, kind, c->version) && c->version >= kind->deadlines;
}

/* ---- deadlines of executions */

static const uint64_t HOUR = UINT64_C(3600000000000);

enum { BUSY_THREADS = 4, BUSY_RUNS = 10 };

struct busy {
    struct conform_subject subject[BUSY_THREADS];
    struct hal_prepared_model *prepared;
};

static void run_until_far(struct conform *c, unsigned index, void *user)
{
    struct busy *b = user;
    struct conform_subject *s = &b->subject[index];
    struct hal_execution_config config = client_config();

    for (int i = 0; i < BUSY_RUNS * conform_n_kinds; i++) {
        const struct conform_kind *kind = &conform_kinds[i % conform_n_kinds];
        if (!has_deadline(c, b->prepared, kind))
            continue;
        conform_subject_reset(s);
        config.deadline =
            i % 4 == 3 ? INT64_MAX : hal_now(c->version) + HOUR * (uint64_t) (1 + i % 4);
        enum hal_status status =
            conform_run_beside(kind, b->prepared, c->version, &s->request, &config);
        EXPECT(c, status == HAL_NONE && conform_subject_is_correct(s),
               "%s on a busy device, deadline in an hour or later: %s", kind->name,
               hal_status_name(status));
    }
}

static void far_deadlines(struct conform *c, const void *data)
{
    struct busy b;

    (void) data;
    for (unsigned i = 0; i < BUSY_THREADS; i++) {
        conform_model_of(&b.subject[i].model, conform_sum(c));
        b.subject[i].prepared = NULL;
    }
    b.prepared = conform_prepare_supported(c, &b.subject[0].model.hal);
    if (b.prepared) {
        conform_in_threads(c, BUSY_THREADS, run_until_far, &b);
        b.prepared->methods->release(b.prepared);
    } else {
        conform_not_applicable(c, "ADD of float32 and of quant8 is not supported");
    }
    for (unsigned i = 0; i < BUSY_THREADS; i++)
        conform_model_done(&b.subject[i].model);
}

/* With a deadline in the past, then without one. */
static void expect_past(struct conform *c, struct conform_subject *s,
                        const struct conform_kind *kind, uint64_t deadline)
{
    struct hal_execution_config config = client_config();

    conform_subject_reset(s);
    config.deadline = deadline;
    config.measure = true;
    enum hal_status status = kind->run(s->prepared, c->version, &s->request, &config);
    EXPECT(c, status == HAL_NONE || is_missed(status), "%s, deadline %llu: %s", kind->name,
           (unsigned long long) deadline, hal_status_name(status));
    EXPECT(c, !kind->launches || s->request.launch == HAL_NONE,
           "%s, deadline %llu: the call itself returns %s", kind->name,
           (unsigned long long) deadline, hal_status_name(s->request.launch));
    EXPECT(c,
           status == HAL_NONE ? conform_subject_is_correct(s)
                              : conform_result_is_empty(&s->request.result),
           "%s, deadline %llu: %s, with wrong results, or with shapes or durations", kind->name,
           (unsigned long long) deadline, hal_status_name(status));
    conform_subject_reset(s);
    config.deadline = HAL_NO_DEADLINE;
    status = kind->run(s->prepared, c->version, &s->request, &config);
    EXPECT(c, status == HAL_NONE && conform_subject_is_correct(s),
           "%s without a deadline, after one that has passed: %s", kind->name,
           hal_status_name(status));
}

/* A preparation whose deadline has passed does not affect the next one. */
static void prepare_after_past(struct conform *c, const struct conform_subject *s)
{
    const uint64_t deadlines[] = { 1, hal_now(c->version) + HOUR, INT64_MAX };

    for (int i = 0; i < COUNT(deadlines); i++) {
        struct hal_prepare_config config = client_default_preparation;
        config.deadline = deadlines[i];
        struct conform_prepared p = conform_prepare(c, c->version, &s->model.hal, &config);
        EXPECT(c, p.status == HAL_NONE || (i == 0 && is_missed(p.status)),
               "prepare_model, with a deadline %s: %s",
               i ? "that is far away, after one that has passed" : "that has passed",
               hal_status_name(p.status));
        if (p.model)
            p.model->methods->release(p.model);
    }
}

static void past_deadlines(struct conform *c, const void *data)
{
    struct conform_subject s;

    (void) data;
    conform_subject_open(c, conform_sum(c), &s);
    if (!s.prepared)
        conform_not_applicable(c, "ADD of float32 and of quant8 is not supported");
    if (s.prepared)
        prepare_after_past(c, &s);
    for (int k = 0; s.prepared && k < conform_n_kinds; k++) {
        const uint64_t now = hal_now(c->version), past[] = { 0, 1, now / 2, now - 1, now };
        for (int i = 0; i < COUNT(past) && has_deadline(c, s.prepared, &conform_kinds[k]); i++)
            expect_past(c, &s, &conform_kinds[k], past[i]);
    }
    conform_subject_close(&s);
}

/* ---- deadlines of preparations from a cache */

static void expect_restored(struct conform *c, struct conform_subject *s, const struct files *f,
                            uint64_t deadline, bool must_succeed)
{
    struct hal_prepare_config config = files_config(f);
    struct hal_execution_config run = client_config();

    config.deadline = deadline;
    struct conform_prepared p = conform_prepare(c, c->version, NULL, &config);
    EXPECT(c, p.status == HAL_NONE || (!must_succeed && is_missed(p.status)),
           "prepare_model_from_cache, deadline %llu: %s", (unsigned long long) deadline,
           hal_status_name(p.status));
    if (!p.model)
        return;
    conform_subject_reset(s);
    enum hal_status status = conform_kinds[0].run(p.model, c->version, &s->request, &run);
    EXPECT(c, status == HAL_NONE && conform_subject_is_correct(s),
           "a model that was restored with a deadline: %s", hal_status_name(status));
    p.model->methods->release(p.model);
}

static void restoring(struct conform *c, const void *data)
{
    uint32_t n_model = 0, n_data = 0;
    struct conform_subject s;
    struct files f;

    (void) data;
    if (c->driver->get_number_of_cache_files_needed)
        c->driver->get_number_of_cache_files_needed(c->driver, &n_model, &n_data);
    if (n_model + n_data == 0 || n_model >= MAX_FILES || n_data >= MAX_FILES) {
        conform_not_applicable(c, "no compilation cache, or one of many files");
        return;
    }
    conform_subject_open(c, conform_sum(c), &s);
    files_init(&f, n_model, n_data);
    struct hal_prepare_config config = files_config(&f);
    struct conform_prepared saved = conform_prepare(c, c->version, &s.model.hal, &config),
                            restored = { .status = saved.status };
    if (saved.model)
        restored = conform_prepare(c, c->version, NULL, &config);
    if (restored.model) {
        const uint64_t now = hal_now(c->version);
        expect_restored(c, &s, &f, 1, false);
        expect_restored(c, &s, &f, now, false);
        expect_restored(c, &s, &f, now + HOUR, true);
        restored.model->methods->release(restored.model);
    } else {
        conform_not_applicable(c, "the driver does not cache the model");
    }
    if (saved.model)
        saved.model->methods->release(saved.model);
    files_done(&f);
    conform_subject_close(&s);
}

/* ---- priorities: they change when an execution runs, and nothing else */

/* One model in so many. */
enum { PRIORITY_EVERY = 5, PRIORITIES = 3 };

static struct tensor *results_of(struct conform *c, const struct conform_model *m,
                                 enum hal_priority priority, struct arena *a)
{
    struct hal_prepare_config config = client_default_preparation;
    const struct hal_execution_config run = client_config();
    uint32_t n = m->hal.main.n_outputs;
    struct conform_request r;

    config.priority = priority;
    struct conform_prepared p = conform_prepare(c, c->version, &m->hal, &config);
    if (!EXPECT(c, p.model, "%s, priority %d: %s", m->name, (int) priority,
                hal_status_name(p.status)))
        return NULL;
    conform_request(&m->example, a, &r);
    enum hal_status s = conform_kinds[0].run(p.model, c->version, &r, &run);
    p.model->methods->release(p.model);
    if (s != HAL_NONE)
        return NULL;
    struct tensor *t = arena_copy(a, m->example.expected, n * sizeof *t);
    for (uint32_t i = 0; i < n; i++)
        t[i].data = arena_copy(a, conform_request_value(&r, &r.outputs[i]), tensor_bytes(&t[i]));
    return t;
}

static void compare_priorities(struct conform *c, const struct conform_model *m)
{
    struct arena *a = arena_new(0);
    struct tensor *t[PRIORITIES];
    bool same = true;

    for (int k = 0; k < PRIORITIES; k++)
        t[k] = results_of(c, m, (enum hal_priority)(HAL_PRIORITY_LOW + k), a);
    for (int k = 1; k < PRIORITIES; k++)
        for (uint32_t i = 0; same && t[0] && t[k] && i < m->hal.main.n_outputs; i++)
            same = memcmp(t[0][i].data, t[k][i].data, tensor_bytes(&t[0][i])) == 0;
    EXPECT(c, same && !t[0] == !t[1] && !t[0] == !t[2],
           "%s: other results, or another status, at another priority", m->name);
    arena_free(a);
}

static void priority_results(struct conform *c, const void *data)
{
    (void) data;
    conform_not_applicable(c, "no model of this version is supported");
    for (int i = 0; i < conform_n_models; i += PRIORITY_EVERY) {
        const struct conform_model *m = &conform_models[i];
        struct hal_prepared_model *p =
            conform_model_is_of(m, c) ? conform_prepare_supported(c, &m->hal) : NULL;
        if (!p)
            continue;
        p->methods->release(p);
        compare_priorities(c, m);
    }
}

struct mixed {
    struct conform_subject subject[2 * PRIORITIES];
    struct hal_prepared_model *prepared[PRIORITIES];
};

static void run_mixed(struct conform *c, unsigned index, void *user)
{
    struct mixed *m = user;
    struct conform_subject *s = &m->subject[index];
    const struct hal_execution_config config = client_config();

    for (int i = 0; i < BUSY_RUNS * conform_n_kinds; i++) {
        const struct conform_kind *kind = &conform_kinds[i % conform_n_kinds];
        if (!conform_can_run(c, m->prepared[0], kind, c->version))
            continue;
        conform_subject_reset(s);
        enum hal_status status = conform_run_beside(kind, m->prepared[index % PRIORITIES],
                                                    c->version, &s->request, &config);
        EXPECT(c, status == HAL_NONE && conform_subject_is_correct(s),
               "%s at priority %u, beside others: %s", kind->name, index % PRIORITIES,
               hal_status_name(status));
    }
}

static void priorities_mixed(struct conform *c, const void *data)
{
    struct hal_prepare_config config = client_default_preparation;
    bool all = true;
    struct mixed m;

    (void) data;
    for (unsigned i = 0; i < 2 * PRIORITIES; i++) {
        conform_model_of(&m.subject[i].model, conform_sum(c));
        m.subject[i].prepared = NULL;
    }
    for (int k = 0; k < PRIORITIES; k++) {
        config.priority = (enum hal_priority)(HAL_PRIORITY_LOW + k);
        m.prepared[k] = conform_prepare(c, c->version, &m.subject[0].model.hal, &config).model;
        all = all && m.prepared[k];
    }
    if (all)
        conform_in_threads(c, 2 * PRIORITIES, run_mixed, &m);
    else
        conform_not_applicable(c, "ADD of float32 and of quant8 is not supported");
    for (int k = 0; k < PRIORITIES; k++)
        if (m.prepared[k])
            m.prepared[k]->methods->release(m.prepared[k]);
    for (unsigned i = 0; i < 2 * PRIORITIES; i++)
        conform_model_done(&m.subject[i].model);
}

/* ---- loops: while (x < limit) x = x + 1, in the type that the driver supports */

struct loop {
    const char *name;
    double limit;  /* below 0: the loop does not end */
    bool nested;   /* in each iteration a second loop runs: to 3, or without end */
    uint32_t more; /* so many more loops alike, one after another, each with an output */
};

static const struct loop endless = { "a loop without end", -1, false },
                         nested = { "a loop without end in a loop", -1, true },
                         five_iterations = { "a loop of 5 iterations", 5, false },
                         ending_nested = { "a loop of loops", 6, true },
                         no_iteration = { "a loop without iterations", 0, false },
                         in_a_row = { "loops one after another", 200, false, 31 };

struct loop_build {
    struct build *b;
    enum dtype type;
    float scale;
};

static uint32_t value(const struct loop_build *l, enum lifetime life)
{
    return build_quant(l->b, life, l->type, DIMS(1), l->scale, 0);
}

static uint32_t number(const struct loop_build *l, double x)
{
    char stored[8];

    dtype_info[l->type].codec->narrow(&x, 1, 0, 1, stored);
    uint32_t i = build_constant(l->b, l->type, DIMS(1), stored);
    l->b->graph->operand[i].tensor.scale = l->scale;
    return i;
}

/* x < limit, or x >= 0 */
static void build_condition(const struct loop_build *l, uint32_t graph, double limit)
{
    build_graph(l->b, graph);
    uint32_t x = value(l, LIFE_INPUT), n = number(l, limit < 0 ? 0 : limit);
    uint32_t y = build_operand(l->b, LIFE_OUTPUT, DT_B8, DIMS(1));

    OPERATION(l->b, limit < 0 ? "GREATER_EQUAL" : "LESS", IDS(x, n), IDS(y));
}

/* x + 1; inner: after the loop of graphs inner and inner + 1. */
static void build_body(const struct loop_build *l, uint32_t graph, uint32_t inner)
{
    build_graph(l->b, graph);
    uint32_t x = value(l, LIFE_INPUT);

    if (inner) {
        uint32_t condition = build_subgraph(l->b, inner), body = build_subgraph(l->b, inner + 1);
        uint32_t t = value(l, LIFE_TEMPORARY);
        OPERATION(l->b, "WHILE", IDS(condition, body, x), IDS(t));
        x = t;
    }
    uint32_t one = number(l, 1), activation = build_int(l->b, 0), y = value(l, LIFE_OUTPUT);
    OPERATION(l->b, "ADD", IDS(x, one, activation), IDS(y));
}

static void loop_model(struct conform_model *m, const struct loop *k, enum dtype type)
{
    struct build b;
    struct loop_build l = { &b, type, type == DT_F32 ? 0 : 1 };

    build_init(&b, k->nested ? 5 : 3);
    uint32_t condition = build_subgraph(&b, 1), body = build_subgraph(&b, 2);
    uint32_t x = value(&l, LIFE_INPUT);
    for (uint32_t i = 0; i <= k->more; i++) {
        uint32_t y = value(&l, LIFE_OUTPUT);
        OPERATION(&b, "WHILE", IDS(condition, body, x), IDS(y));
    }
    build_condition(&l, 1, k->limit < 0 && k->nested ? 200 : k->limit);
    build_body(&l, 2, k->nested ? 3 : 0);
    if (k->nested) {
        build_condition(&l, 3, k->limit < 0 ? -1 : 3);
        build_body(&l, 4, 0);
    }
    build_graph(&b, 0);
    model_count_consumers(&b.model);
    struct tensor *in =
        arena_copy(b.arena, &b.graph->operand[b.graph->input[0]].tensor, sizeof *in);
    struct tensor *out = arena_alloc(b.arena, k->more + 1, sizeof *out);
    conform_must(out, "out of memory");
    for (uint32_t i = 0; i <= k->more; i++)
        out[i] = *in;
    in->data = arena_alloc(b.arena, 8, 1);
    struct example e = { .name = k->name, .model = b.model, .in = in, .expected = out };
    conform_model_init(m, &e, b.arena);
    if (k->limit >= 0)
        conform_model_expect(m);
}

/* False: the driver supports the loop in neither float32 nor quant8. */
static bool open_loop(struct conform *c, const struct loop *k, struct conform_subject *s)
{
    static const enum dtype types[] = { DT_F32, DT_U8 };

    for (int i = 0; i < COUNT(types); i++) {
        loop_model(&s->model, k, types[i]);
        s->prepared = conform_prepare_supported(c, &s->model.hal);
        if (s->prepared)
            return true;
        conform_model_done(&s->model);
    }
    conform_not_applicable(c, "WHILE of float32 and of quant8 is not supported");
    return false;
}

enum ending { ENDS, MISSES, EITHER };

struct timed_loop {
    const struct loop *loop;
    uint64_t timeout;
    enum ending ending;
};

static bool run_loop(struct conform *c, struct conform_subject *s, const struct timed_loop *l,
                     const struct conform_kind *kind, uint64_t deadline)
{
    struct hal_execution_config config = client_config();

    config.loop_timeout = l->timeout;
    config.deadline = deadline;
    conform_subject_reset(s);
    enum hal_status status = kind->run(s->prepared, c->version, &s->request, &config);
    bool ok = status == HAL_NONE ? l->ending != MISSES && conform_subject_is_correct(s)
                                 : l->ending != ENDS && is_missed(status) &&
                                       conform_result_is_empty(&s->request.result);
    return EXPECT(c, ok, "%s, %s, time-out %llu ns: %s, or wrong results", l->loop->name,
                  kind->name, (unsigned long long) l->timeout, hal_status_name(status));
}

static void each_loop(struct conform *c, const struct timed_loop *l, uint64_t time_left)
{
    struct conform_subject s;

    if (!open_loop(c, l->loop, &s))
        return;
    for (int k = 0; k < conform_n_kinds; k++)
        if (has_deadline(c, s.prepared, &conform_kinds[k]))
            run_loop(c, &s, l, &conform_kinds[k],
                     time_left ? hal_now(c->version) + time_left : HAL_NO_DEADLINE);
    conform_subject_close(&s);
}

/* The time-out is that of each loop: several in a row may take longer.  A loop may be late because
 * other processes keep the processor, but not always. */
static void loops_in_a_row(struct conform *c, const void *data)
{
    enum { MEASURED = 4, TRIES = 14, MARGIN = 12 };
    struct hal_execution_config config = client_config();
    struct conform_subject s;
    uint64_t shortest = UINT64_MAX;
    enum hal_status status = HAL_MISSED_DEADLINE_TRANSIENT;

    (void) data;
    if (!open_loop(c, &in_a_row, &s))
        return;
    config.measure = true;
    for (int i = 0; i < TRIES && is_missed(status); i++) {
        const bool is_timed = i >= MEASURED;
        config.loop_timeout = is_timed ? shortest / MARGIN : HAL_NO_TIME;
        conform_subject_reset(&s);
        uint64_t begin = clock_steady_ns();
        status = conform_kinds[0].run(s.prepared, c->version, &s.request, &config);
        uint64_t taken = clock_steady_ns() - begin, reported = s.request.result.timing.on_device;
        taken = reported != HAL_NO_TIME && reported > taken ? reported : taken;
        if (!is_timed && taken < shortest)
            shortest = taken;
        if (status == HAL_NONE)
            EXPECT(c, conform_subject_is_correct(&s), "%s: wrong results", in_a_row.name);
        if (!is_timed && EXPECT_STATUS(c, status, HAL_NONE, in_a_row.name))
            status = HAL_MISSED_DEADLINE_TRANSIENT;
    }
    EXPECT(c, status == HAL_NONE,
           "%u loops, of which each takes about %llu ns, time-out %llu ns: %s, expected NONE",
           in_a_row.more + 1, (unsigned long long) shortest / (in_a_row.more + 1),
           (unsigned long long) config.loop_timeout, hal_status_name(status));
    conform_subject_close(&s);
}

enum { MAX_LOOPS = 8 };

struct of_loops {
    uint64_t time_left; /* ns until the deadline; 0: none */
    struct timed_loop loop[MAX_LOOPS];
};

static void loops(struct conform *c, const void *data)
{
    const struct of_loops *o = data;

    for (int i = 0; i < MAX_LOOPS && o->loop[i].loop; i++)
        each_loop(c, &o->loop[i], o->time_left);
}

/* The time-out is that of each execution: it does not add up. */
static void finite_again(struct conform *c, const void *data)
{
    enum { AGAIN = 30 };
    const struct of_loops *o = data;
    struct conform_subject s;

    loops(c, data);
    if (!open_loop(c, o->loop[0].loop, &s))
        return;
    for (int i = 0; i < AGAIN; i++)
        run_loop(c, &s, &o->loop[0], &conform_kinds[0], HAL_NO_DEADLINE);
    conform_subject_close(&s);
}

#define MS     UINT64_C(1000000)
#define SECOND UINT64_C(1000000000)

/* After the time-out of a loop has passed, the same model runs again. */
static const struct of_loops
    nested_loops = { 0, { { &nested, MS, MISSES }, { &nested, 20 * MS, MISSES } } },
    zero_timeout = { 0,
                     { { &endless, 0, MISSES },
                       { &nested, 0, MISSES },
                       { &five_iterations, 0, EITHER },
                       { &no_iteration, 0, EITHER } } },
    finite_loops = { 0,
                     { { &five_iterations, 10 * SECOND, ENDS },
                       { &five_iterations, HAL_NO_TIME, ENDS },
                       { &ending_nested, 10 * SECOND, ENDS },
                       { &no_iteration, 10 * SECOND, ENDS },
                       { &five_iterations, HAL_LOOP_TIMEOUT_MAX + 1, ENDS },
                       { &five_iterations, INT64_MAX, ENDS } } },
    until_deadline = { 20 * MS, { { &endless, SECOND, MISSES }, { &nested, SECOND, MISSES } } };

/* ---- short time-outs end a loop soon: long before the default time-out */

enum { PROMPT_RUNS = 3 };
static const uint64_t at_once_ns = 100 * MS, prompt_ns = SECOND;

static uint64_t timed_run(struct conform *c, struct conform_subject *s, const struct timed_loop *l,
                          const struct conform_kind *kind)
{
    uint64_t begin = clock_steady_ns();

    run_loop(c, s, l, kind, HAL_NO_DEADLINE);
    return clock_steady_ns() - begin;
}

/* The shortest of some runs, as other processes may keep the processor. */
static uint64_t shortest_run(struct conform *c, struct conform_subject *s,
                             const struct timed_loop *l, const struct conform_kind *kind)
{
    uint64_t shortest = UINT64_MAX;

    for (int run = 0; run < PROMPT_RUNS && shortest > at_once_ns; run++) {
        uint64_t taken = timed_run(c, s, l, kind);
        shortest = taken < shortest ? taken : shortest;
    }
    return shortest;
}

/* Whether a loop that has run so long has ended for its own short time-out.  The default time-out
 * may take less than its two seconds, where a driver counts time on the device. */
static bool is_prompt(struct conform *c, struct conform_subject *s, uint64_t taken,
                      const struct conform_kind *kind)
{
    static const struct timed_loop by_default = { &endless, HAL_NO_TIME, MISSES };

    return taken <= at_once_ns ||
           (taken < prompt_ns && taken < timed_run(c, s, &by_default, kind) / 2);
}

/* The loop without end, whose condition is x >= 0, with x = -1: after it has exceeded its time-out,
 * the same model can run to its end. */
static void expect_end_at_once(struct conform *c, struct conform_subject *s)
{
    const struct hal_execution_config config = client_config();
    const float x = -1;

    for (int k = 0; s->model.example.in[0].dtype == DT_F32 && k < conform_n_kinds; k++) {
        if (!has_deadline(c, s->prepared, &conform_kinds[k]))
            continue;
        conform_subject_reset(s);
        memcpy(conform_request_value(&s->request, &s->request.inputs[0]), &x, sizeof x);
        enum hal_status status =
            conform_kinds[k].run(s->prepared, c->version, &s->request, &config);
        EXPECT(c,
               status == HAL_NONE &&
                   memcmp(conform_request_value(&s->request, &s->request.outputs[0]), &x,
                          sizeof x) == 0,
               "%s, a loop that ends at once, of a model that has exceeded its time-out: %s, or "
               "wrong results",
               conform_kinds[k].name, hal_status_name(status));
    }
}

static void prompt(struct conform *c, const void *data)
{
    static const struct timed_loop short_loops[] = { { &endless, 0, MISSES },
                                                     { &endless, 5 * MS, MISSES } };
    struct conform_subject s;

    (void) data;
    if (!open_loop(c, &endless, &s))
        return;
    for (int k = 0; k < 2 * conform_n_kinds; k++) {
        const struct conform_kind *kind = &conform_kinds[k / 2];
        const struct timed_loop *l = &short_loops[k % 2];
        if (!has_deadline(c, s.prepared, kind))
            continue;
        uint64_t taken = shortest_run(c, &s, l, kind);
        if (!EXPECT(c, is_prompt(c, &s, taken, kind),
                    "%s, time-out %llu ns: it takes %.1f s or more, as with a longer time-out",
                    kind->name, (unsigned long long) l->timeout, (double) taken / 1e9))
            break; /* the other kinds would take seconds, too */
    }
    expect_end_at_once(c, &s);
    conform_subject_close(&s);
}

/* ---- many time-outs: loops that exceed theirs must free what they have allocated */

enum { LOST_RUNS = 600, LOST_WARM = 20 };

static void lost(struct conform *c, const void *data)
{
    static const struct timed_loop at_once = { &endless, 0, MISSES };
    struct conform_usage before = { 0 };
    struct conform_subject s;

    (void) data;
    if (c->is_remote) {
        conform_not_applicable(c, "the driver is in another process");
        return;
    }
    if (!open_loop(c, &endless, &s))
        return;
    for (int i = 0; i < LOST_WARM + LOST_RUNS; i++) {
        if (i == LOST_WARM)
            before = conform_usage_now();
        run_loop(c, &s, &at_once, &conform_kinds[c->version > HAL_1_3 ? 0 : i % 2],
                 HAL_NO_DEADLINE);
    }
    conform_expect_usage(c, &before, LOST_RUNS, "loops that exceed their time-out");
    conform_subject_close(&s);
}

/* ---- long time-outs: one execution, if the driver does not simulate a slower device, whose
 * seconds take longer than real ones */

/* For which the rule waits: four times the longest time-out, since a busy machine shares its
 * processors. */
enum { MOST_SECONDS = 60 };

struct long_loop {
    struct conform_subject subject;
    struct timed_loop loop;
    atomic_bool ended;
    struct process_clock clock; /* without the time that this process waits for a processor */
};

static void run_or_keep_alive(struct conform *c, unsigned index, void *user)
{
    struct long_loop *l = user;

    if (index == 0) {
        run_loop(c, &l->subject, &l->loop, &conform_kinds[0], HAL_NO_DEADLINE);
        atomic_store(&l->ended, true);
        return;
    }
    process_clock_start(&l->clock, getpid());
    while (!atomic_load(&l->ended) &&
           process_clock_elapsed(&l->clock) < MOST_SECONDS * UINT64_C(1000000000)) {
        usleep(PROCESS_CLOCK_LOOK_MS * 1000);
        if (c->state->keep_alive)
            c->state->keep_alive(c->state->user);
    }
}

/* Seconds that the driver takes for a time-out of 20 ms, for each second of the time-out: the least
 * of several, as the machine may be loaded; 0: that fails already. */
static double seconds_per_second(struct conform *c, struct conform_subject *s)
{
    static const struct timed_loop l = { &endless, 20 * MS, MISSES };
    double least = INFINITY;

    for (int i = 0; i < 5; i++) {
        uint64_t begin = clock_steady_ns();
        if (!run_loop(c, s, &l, &conform_kinds[0], HAL_NO_DEADLINE))
            return 0;
        least = fmin(least, (double) (clock_steady_ns() - begin) / (double) l.timeout);
    }
    return least;
}

static void long_timeout(struct conform *c, const void *data)
{
    const struct timed_loop *loop = data;
    uint64_t timeout =
        loop->timeout == HAL_NO_TIME ? HAL_LOOP_TIMEOUT_DEFAULT : HAL_LOOP_TIMEOUT_MAX;
    struct long_loop l = { .loop = *loop };

    if (!open_loop(c, loop->loop, &l.subject))
        return;
    double factor = seconds_per_second(c, &l.subject);
    if (factor > 0 && factor < 1.5)
        conform_in_threads(c, 2, run_or_keep_alive, &l);
    else if (factor > 0)
        conform_not_applicable(c, "the device is simulated: its %.0f s would take %.0f s",
                               (double) timeout * 1e-9, factor * (double) timeout * 1e-9);
    conform_subject_close(&l.subject);
}

static const struct timed_loop default_timeout = { &endless, HAL_NO_TIME, MISSES },
                               clamped_timeout = { &endless, INT64_MAX, MISSES };

static const struct conform_rule rules_of_file[] = {
    { "deadline", "far", HAL_1_3, 0,
      "a deadline that is far away is not missed, on a busy device either", far_deadlines },
    { "deadline", "past", HAL_1_3, 0,
      "a deadline in the past: success or MISSED_DEADLINE; the next call is not affected",
      past_deadlines },
    { "deadline", "cache", HAL_1_3, 0, "deadlines of preparations from a cache", restoring },
    { "deadline", "loop", HAL_1_3, 0,
      "a loop without end ends with MISSED_DEADLINE, by the deadline or its time-out", loops,
      &until_deadline },
    { "priority", "results", HAL_1_3, 0, "results do not depend on the priority",
      priority_results },
    { "priority", "mixed", HAL_1_3, 0, "models of all priorities execute at the same time",
      priorities_mixed },
    { "loop-timeout", "nested", HAL_1_3, 0, "a loop without end within a loop exceeds its time-out",
      loops, &nested_loops },
    { "loop-timeout", "zero", HAL_1_3, 0, "with a time-out of 0 a loop without end ends at once",
      loops, &zero_timeout },
    { "loop-timeout", "finite", HAL_1_3, 0,
      "loops that end within their time-out have the right results, however many", finite_again,
      &finite_loops },
    { "loop-timeout", "in-a-row", HAL_1_3, 0,
      "the time-out is that of each loop: several in a row may take longer", loops_in_a_row },
    { "loop-timeout", "prompt", HAL_1_3, 0,
      "with a short time-out a loop without end ends soon; the model can run again", prompt },
    { "stress", "loops", HAL_1_3, 0, "nothing is lost by loops that exceed their time-out", lost },
    { "loop-timeout", "default", HAL_1_3, 0,
      "a loop without end ends after the default time-out of 2 s", long_timeout, &default_timeout },
    { "loop-timeout", "clamped", HAL_1_3, 0,
      "a time-out above the maximum of 15 s is clamped to it", long_timeout, &clamped_timeout },
};
const struct conform_rules conform_rules_times = { rules_of_file, COUNT(rules_of_file),
                                                   conform_models_draw, conform_models_free };
