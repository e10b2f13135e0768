/* Priorities and deadlines: a started preparation or execution succeeds, or ends with
 * MISSED_DEADLINE. */
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "golden/base/clock.h"
#include "harness/conform/conform_models.h"
#include "harness/conform/conform_requests.h"
#include "harness/conform/conform_threads.h"
#include "harness/corrupt/conform_mutations.h"
#include "sim/client/hal_calls.h"
#include "sim/hal/convert.h"

enum which { PASSED, SHORT, FAR, UNLIMITED, DEADLINES };

static const char *const names[DEADLINES] = { "passed", "short", "far", "unlimited" };

/* In ns of the version's clock: in 5 ms (short), in an hour (far).  Far detects a driver that reads
 * another clock, by which it may have passed. */
static uint64_t deadline(enum which which, enum hal_version version)
{
    struct timespec t;

    clock_gettime(version >= HAL_FL5 ? CLOCK_BOOTTIME : CLOCK_MONOTONIC, &t);
    uint64_t now = (uint64_t) t.tv_sec * UINT64_C(1000000000) + (uint64_t) t.tv_nsec;
    switch (which) {
    case PASSED: return now;
    case SHORT: return now + 5000000;
    case FAR: return now + UINT64_C(3600000000000);
    default: return HAL_NO_DEADLINE;
    }
}

/* A driver may ignore deadlines.  One that has passed, and a short one, may be missed. */
static bool is_allowed(enum hal_status s, enum which which)
{
    bool missed = s == HAL_MISSED_DEADLINE_TRANSIENT || s == HAL_MISSED_DEADLINE_PERSISTENT;

    return s == HAL_NONE || (missed && which <= SHORT);
}

static void release(struct hal_prepared_model *p)
{
    if (p)
        p->methods->release(p);
}

/* ---- executions that wait for others: only those of a higher priority may starve them */

enum { LOADS = 3, WAITING_RUNS = 5, LOAD_RUNS = 60, PRIORITIES = 3 };

/* When an execution counts as starved: so many others have run since it began, and so long. */
enum { STARVED_RUNS = 300, STARVED_SECONDS = 4 };

static const char *const priority_names[PRIORITIES] = { "low", "medium", "high" };

struct contest {
    struct conform_subject subject[LOADS + 1]; /* the last one's executions wait for the others' */
    const struct conform_kind *kind;
    struct hal_prepared_model *prepared[PRIORITIES];
    int waiting, load; /* priorities */
    atomic_uint runs;  /* of the load */
    atomic_bool has_ended, is_starved;
};

static void run_contest(struct conform *c, struct contest *t, unsigned index, int priority)
{
    const struct hal_execution_config config = client_config();
    struct conform_subject *s = &t->subject[index];

    conform_subject_reset(s);
    enum hal_status status =
        conform_run_beside(t->kind, t->prepared[priority], c->version, &s->request, &config);
    EXPECT(c, status == HAL_NONE && conform_subject_is_correct(s),
           "an execution of %s priority beside others of %s priority: %s, or wrong results",
           priority_names[priority], priority_names[priority == t->load ? t->waiting : t->load],
           hal_status_name(status));
}

/* The load lasts until the waiting executions have ended, or are starved; if it may starve them, it
 * is short. */
static void contend(struct conform *c, unsigned index, void *user)
{
    struct contest *t = user;
    const uint64_t begin = clock_steady_ns();

    if (index == LOADS) {
        while (atomic_load(&t->runs) < LOADS)
            usleep(100);
        for (int i = 0; i < WAITING_RUNS; i++)
            run_contest(c, t, index, t->waiting);
        atomic_store(&t->has_ended, true);
        return;
    }
    for (unsigned i = 0; !atomic_load(&t->has_ended) && !atomic_load(&t->is_starved); i++) {
        if (t->load > t->waiting && i == LOAD_RUNS)
            return;
        run_contest(c, t, index, t->load);
        if (atomic_fetch_add(&t->runs, 1) > STARVED_RUNS &&
            clock_steady_ns() - begin > STARVED_SECONDS * UINT64_C(1000000000))
            atomic_store(&t->is_starved, !atomic_load(&t->has_ended));
    }
}

static void contests(struct conform *c, struct contest *t)
{
    for (int k = 0; k < PRIORITIES * PRIORITIES; k++) {
        t->waiting = k / PRIORITIES;
        t->load = k % PRIORITIES;
        atomic_store(&t->runs, 0);
        atomic_store(&t->has_ended, false);
        atomic_store(&t->is_starved, false);
        conform_doing(c, "executions of %s priority that begin beside others of %s priority",
                      priority_names[t->waiting], priority_names[t->load]);
        conform_in_threads(c, LOADS + 1, contend, t);
        if (!EXPECT(
                c, !t->is_starved,
                "an execution of %s priority has not ended after %d s, in which %u others of %s "
                "priority have run",
                priority_names[t->waiting], STARVED_SECONDS, t->runs, priority_names[t->load]))
            return;
    }
}

static void waiting(struct conform *c, const void *data)
{
    const struct one_op *o = conform_sum(c);
    struct hal_prepare_config config = client_default_preparation;
    struct contest t = { .kind = conform_kinds };
    bool all = true;

    (void) data;
    for (int i = 0; i <= LOADS; i++)
        conform_model_of(&t.subject[i].model, o);
    for (int k = 0; k < PRIORITIES; k++) {
        config.priority = (enum hal_priority)(HAL_PRIORITY_LOW + k);
        t.prepared[k] = conform_prepare(c, c->version, &t.subject[0].model.hal, &config).model;
        all = all && t.prepared[k];
    }
    while (all && t.kind < conform_kinds + conform_n_kinds &&
           !conform_can_run(c, t.prepared[0], t.kind, c->version))
        t.kind++;
    if (all && t.kind < conform_kinds + conform_n_kinds)
        contests(c, &t);
    for (int k = 0; k < PRIORITIES; k++)
        release(t.prepared[k]);
    for (int i = 0; i <= LOADS; i++)
        conform_model_done(&t.subject[i].model);
}

/* ---- preparing */

typedef void visit_model(struct conform *c, const struct conform_model *m,
                         struct hal_prepared_model *p);

/* Over a socket one in four models is tried. */
enum { REMOTE_EVERY = 4 };

static void with_supported(struct conform *c, const struct conform_model *m, visit_model *visit)
{
    conform_doing(c, "%s", m->name);
    struct hal_prepared_model *p = conform_prepare_supported(c, &m->hal);
    if (p)
        visit(c, m, p);
    release(p);
}

static void each_supported(struct conform *c, visit_model *visit)
{
    for (int i = 0; i < conform_n_models; i++)
        if (conform_is_mine(c, (uint32_t) i) && conform_model_is_of(&conform_models[i], c) &&
            (!c->is_remote || i % REMOTE_EVERY == 0))
            with_supported(c, &conform_models[i], visit);
}

static void prepare_at_priorities(struct conform *c, const struct conform_model *m,
                                  struct hal_prepared_model *prepared)
{
    struct hal_prepare_config config = client_default_preparation;

    (void) prepared;
    for (int k = HAL_PRIORITY_LOW; k <= HAL_PRIORITY_HIGH; k++) {
        config.priority = (enum hal_priority) k;
        struct conform_prepared p = conform_prepare(c, c->version, &m->hal, &config);
        EXPECT(c, p.launched == HAL_NONE && p.status == HAL_NONE && p.model,
               "%s, prepared with priority %d: %s, expected NONE", m->name, k,
               hal_status_name(p.status));
        release(p.model);
    }
}

static void prepare_until(struct conform *c, const struct conform_model *m,
                          struct hal_prepared_model *prepared)
{
    struct hal_prepare_config config = client_default_preparation;

    (void) prepared;
    for (enum which k = 0; k < DEADLINES; k++) {
        config.deadline = deadline(k, c->version);
        struct conform_prepared p = conform_prepare(c, c->version, &m->hal, &config);
        EXPECT(c, p.launched == HAL_NONE && is_allowed(p.status, k),
               "%s, deadline %s: prepare_model returns %s, its callback gets %s, expected NONE and "
               "NONE%s",
               m->name, names[k], hal_status_name(p.launched), hal_status_name(p.status),
               k <= SHORT ? " or MISSED_DEADLINE" : "");
        release(p.model);
    }
}

static void priorities(struct conform *c, const void *data)
{
    (void) data;
    each_supported(c, prepare_at_priorities);
}

static void preparing(struct conform *c, const void *data)
{
    (void) data;
    each_supported(c, prepare_until);
}

/* ---- executing */

static bool are_shapes_exact(const struct hal_result *r, const struct conform_model *m)
{
    for (uint32_t i = 0; i < r->n_shapes; i++) {
        const struct shape *s = &m->example.expected[i].shape;
        if (!r->shapes[i].is_sufficient || r->shapes[i].n_dims != s->rank ||
            memcmp(r->shapes[i].dims, s->dim, s->rank * sizeof *s->dim) != 0)
            return false;
    }
    return true;
}

static void expect_end(struct conform *c, const struct conform_model *m,
                       const struct conform_request *request, const struct conform_kind *kind,
                       enum which which, enum hal_status status)
{
    const struct hal_result *r = &request->result;
    bool reports = status == HAL_NONE && kind->reports;

    EXPECT(c, is_allowed(status, which), "%s, %s execution, deadline %s: %s, expected NONE%s",
           m->name, kind->name, names[which], hal_status_name(status),
           which <= SHORT ? " or MISSED_DEADLINE" : "");
    EXPECT(
        c, !kind->launches || kind->needs_shapes || request->launch == HAL_NONE,
        "%s, %s execution, deadline %s: the call returns %s, expected NONE (a missed deadline is "
        "reported at the end)",
        m->name, kind->name, names[which], hal_status_name(request->launch));
    EXPECT(c, r->timing.on_device == HAL_NO_TIME && r->timing.in_driver == HAL_NO_TIME,
           "%s, %s, deadline %s: durations without measurement", m->name, kind->name, names[which]);
    EXPECT(c,
           (!r->n_shapes || (reports && r->n_shapes == m->hal.main.n_outputs)) &&
               are_shapes_exact(r, m),
           "%s, %s execution, deadline %s: %u shapes, expected none or the exact ones", m->name,
           kind->name, names[which], r->n_shapes);
    if (status == HAL_NONE && m->is_exact)
        EXPECT(c, conform_outputs_are(request, m->example.expected),
               "%s, %s, deadline %s: wrong results", m->name, kind->name, names[which]);
}

static void execute_until(struct conform *c, const struct conform_model *m,
                          struct hal_prepared_model *p)
{
    bool specified = conform_request_is_specified(&m->example);
    struct hal_execution_config config = client_config();
    struct arena *a = arena_new(0);
    struct conform_request r;

    for (int k = 0; k < conform_n_kinds * DEADLINES; k++) {
        const struct conform_kind *kind = &conform_kinds[k / DEADLINES];
        enum which which = (enum which)(k % DEADLINES);
        if (c->version < kind->deadlines || !specified || !conform_can_run(c, p, kind, c->version))
            continue;
        conform_request(&m->example, a, &r);
        config.deadline = deadline(which, c->version);
        expect_end(c, m, &r, kind, which, kind->run(p, c->version, &r, &config));
    }
    arena_free(a);
}

static void executing(struct conform *c, const void *data)
{
    (void) data;
    each_supported(c, execute_until);
}

static const struct conform_rule rules_of_file[] = {
    { "priority", "Q1", HAL_1_3, 0, "models prepare at every priority", priorities, NULL, true },
    { "priority", "waiting", HAL_1_3, 0,
      "executions end beside others of the same or a lower priority, and after those of a higher",
      waiting },
    { "deadline", "Q2", HAL_1_3, 0,
      "preparation with a deadline starts, and succeeds or ends with MISSED_DEADLINE", preparing,
      NULL, true },
    { "deadline", "Q3", HAL_1_3, 0,
      "execution with a deadline starts, and succeeds or ends with MISSED_DEADLINE", executing,
      NULL, true },
};
const struct conform_rules conform_rules_deadline = { rules_of_file, COUNT(rules_of_file),
                                                      conform_models_draw, conform_models_free };
