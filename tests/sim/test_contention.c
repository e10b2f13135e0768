/* Several jobs on one device: scenarios as data, each with its expected schedule, which must be the
 * same for every kind of execution, in process and over sockets, in every run; the status of jobs
 * that are late or too many, and of the same jobs when they are repeated alone. */
#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "tests/support/check_main.h"
#include "tests/support/hal_client.h"

enum { N = 4, MAX_JOBS = 7, CLIENTS = 4, RUNS = 20, RUNS_OVER_SOCKETS = 5 };

/* Virtual ns of a launch and of every operation; the unit of the scenarios' times.  So long that
 * the real time that passes during the test, which counts for deadlines, does not matter. */
#define UNIT 1e12

#define LOW        HAL_PRIORITY_LOW
#define MEDIUM     HAL_PRIORITY_MEDIUM
#define HIGH       HAL_PRIORITY_HIGH
#define LATE       HAL_MISSED_DEADLINE_TRANSIENT
#define IMPOSSIBLE HAL_MISSED_DEADLINE_PERSISTENT
#define EXHAUSTED  HAL_RESOURCE_EXHAUSTED_TRANSIENT

/* An execution takes one unit and one for each of its operations. */
struct job_plan {
    uint32_t client;
    enum hal_priority priority;
    double at; /* arrival, in units */
    uint32_t ops;
    double budget;          /* units to the deadline; 0: none */
    enum hal_status status; /* when repeated alone: HAL_NONE, except IMPOSSIBLE */
};

/* schedule: "TIME JOB<" starts, "-" is suspended, "+" is resumed, ">" ends. */
static const struct scenario {
    const char *name;
    uint32_t depth, priorities;
    struct job_plan job[MAX_JOBS]; /* ops 0 ends the list */
    const char *schedule;
} scenarios[] = {
    { "first come, first served",
      0,
      3,
      { { 1, LOW, 0, 2, 0, HAL_NONE }, { 1, LOW, 0, 1, 0, HAL_NONE } },
      "0 0<  3 0>  3 1<  5 1>  " },
    { "a device is idle between jobs",
      0,
      3,
      { { 1, LOW, 4, 1, 0, HAL_NONE }, { 1, HIGH, 10, 1, 0, HAL_NONE } },
      "4 0<  6 0>  10 1<  12 1>  " },
    { "equal priorities: round robin by client",
      0,
      3,
      { { 1, MEDIUM, 0, 1, 0, HAL_NONE },
        { 1, MEDIUM, 0, 1, 0, HAL_NONE },
        { 1, MEDIUM, 0, 1, 0, HAL_NONE },
        { 2, MEDIUM, 0, 1, 0, HAL_NONE },
        { 2, MEDIUM, 0, 1, 0, HAL_NONE },
        { 3, MEDIUM, 5, 1, 0, HAL_NONE } },
      "0 0<  2 0>  2 3<  4 3>  4 1<  6 1>  6 5<  8 5>  8 4<  10 4>  10 2<  12 2>  " },
    { "a higher priority preempts between two operations",
      0,
      3,
      { { 1, LOW, 0, 3, 0, HAL_NONE }, { 2, HIGH, 1.5, 1, 0, HAL_NONE } },
      "0 0<  2 0-  2 1<  4 1>  4 0+  6 0>  " },
    { "three levels of preemption",
      0,
      3,
      { { 1, LOW, 0, 3, 0, HAL_NONE },
        { 2, MEDIUM, 0.5, 3, 0, HAL_NONE },
        { 3, HIGH, 1.5, 1, 0, HAL_NONE },
        { 3, LOW, 0, 1, 0, HAL_NONE } },
      "0 0<  1 0-  1 1<  2 1-  2 2<  4 2>  4 1+  7 1>  7 0+  10 0>  10 3<  12 3>  " },
    { "a lower priority waits for all higher ones",
      0,
      3,
      { { 1, LOW, 0, 1, 0, HAL_NONE },
        { 2, HIGH, 0, 2, 0, HAL_NONE },
        { 2, HIGH, 2, 2, 0, HAL_NONE },
        { 3, HIGH, 2, 1, 0, HAL_NONE } },
      "0 1<  3 1>  3 3<  5 3>  5 2<  8 2>  8 0<  10 0>  " },
    { "two levels: low and medium are the same",
      0,
      2,
      { { 1, LOW, 0, 2, 0, HAL_NONE },
        { 2, MEDIUM, 0, 2, 0, HAL_NONE },
        { 3, HIGH, 1, 1, 0, HAL_NONE } },
      "0 0<  1 0-  1 2<  3 2>  3 0+  5 0>  5 1<  8 1>  " },
    { "one level: no preemption",
      0,
      1,
      { { 1, LOW, 0, 2, 0, HAL_NONE }, { 2, HIGH, 1, 2, 0, HAL_NONE } },
      "0 0<  3 0>  3 1<  6 1>  " },
    { "a deadline that no execution could meet",
      0,
      3,
      { { 1, LOW, 0, 2, 2.5, IMPOSSIBLE }, { 1, LOW, 0, 2, 3.5, HAL_NONE } },
      "0 0<  3 0>  " },
    { "a deadline that passes while another job runs",
      0,
      3,
      { { 1, LOW, 0, 3, 0, HAL_NONE }, { 2, LOW, 0, 2, 4.5, LATE } },
      "0 0<  4 0>  4 1<  4 1>  " },
    { "a deadline that passes during a suspension",
      0,
      3,
      { { 1, LOW, 0, 3, 5.5, LATE }, { 2, HIGH, 1, 5, 0, HAL_NONE } },
      "0 0<  1 0-  1 1<  7 1>  7 0+  7 0>  " },
    { "a deadline that can no longer be met after a suspension",
      0,
      3,
      { { 1, LOW, 0, 3, 5.5, LATE },
        { 2, HIGH, 1, 2, 0, HAL_NONE },
        { 3, LOW, 0, 1, 0, HAL_NONE } },
      "0 0<  1 0-  1 1<  4 1>  4 0+  4 0>  4 2<  6 2>  " },
    { "a deadline that is just met after a suspension",
      0,
      3,
      { { 1, LOW, 0, 3, 7.001, HAL_NONE }, { 2, HIGH, 1, 2, 0, HAL_NONE } },
      "0 0<  1 0-  1 1<  4 1>  4 0+  7 0>  " },
    { "too many jobs of one client",
      1,
      3,
      { { 1, LOW, 0, 1, 0, HAL_NONE },
        { 1, LOW, 0, 1, 0, HAL_NONE },
        { 1, HIGH, 0, 1, 0, EXHAUSTED },
        { 2, LOW, 0, 1, 0, HAL_NONE } },
      "0 0<  2 0>  2 2<  4 2>  4 1<  6 1>  " },
};

/* ---- the record */

struct record {
    size_t at;
    char text[1000];
};

static void watch(void *user, enum schedule_event event, const struct job *j, uint64_t now)
{
    struct record *r = user;

    r->at += (size_t) snprintf(r->text + r->at, sizeof r->text - r->at, "%g %llu%c  ",
                               (double) now / UNIT, (unsigned long long) j->number, "<-+>"[event]);
}

/* ---- jobs and clients */

/* A scenario's driver and clients. */
struct setup {
    const struct scenario *scenario;
    struct hal_driver *driver;
    struct schedule *schedule;
    struct caller *caller[CLIENTS];     /* in process */
    struct hal_driver *client[CLIENTS]; /* each client's connection to the driver */
    uint64_t submitted;
};

struct run {
    const struct job_plan *plan;
    struct setup *setup;
    struct client_model model;
    struct client_request request;
    struct hal_execution_config config;
    struct hal_burst *burst;
    struct hal_execution *reusable;
    struct client_wait wait;
    int fence;
    struct hal_fenced_info *info;
    pthread_t thread;
    enum hal_status status;
};

static uint64_t deadline_in(double units, clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return units > 0 ? (uint64_t) t.tv_sec * UINT64_C(1000000000) + (uint64_t) t.tv_nsec +
                           (uint64_t) (units * UNIT)
                     : HAL_NO_DEADLINE;
}

static void check_result(const struct run *a)
{
    for (uint32_t i = 0; a->status == HAL_NONE && i < N; i++)
        ck_assert_float_eq(a->request.z[i], (float) (i + a->plan->ops * 10 * i));
}

/* ---- kinds of execution: begin() returns when the job is queued or rejected, end() when it has
 * ended. Calls that block until the end have a thread. */

static void *run_synchronous(void *argument)
{
    struct run *a = argument;
    struct hal_prepared_model *p = a->model.prepared;

    caller_set(a->setup->caller[a->plan->client]);
    a->status = p->methods->execute_synchronously(p, HAL_1_3, &a->request.hal, &a->config,
                                                  &a->request.result);
    return NULL;
}

static void *run_burst(void *argument)
{
    static const int64_t none[] = { -1, -1, -1 };
    struct run *a = argument;

    caller_set(a->setup->caller[a->plan->client]);
    a->status = a->burst->methods->execute_synchronously(a->burst, &a->request.hal, 3, none,
                                                         &a->config, &a->request.result);
    return NULL;
}

static void *run_reusable(void *argument)
{
    struct run *a = argument;

    caller_set(a->setup->caller[a->plan->client]);
    a->status = a->reusable->methods->execute_synchronously(
        a->reusable, deadline_in(a->plan->budget, CLOCK_BOOTTIME), &a->request.result);
    return NULL;
}

static void begin_thread(struct run *a, void *(*run)(void *argument))
{
    ck_assert_int_eq(pthread_create(&a->thread, NULL, run, a), 0);
    if (a->plan->status == IMPOSSIBLE || a->plan->status == EXHAUSTED)
        pthread_join(a->thread, NULL);
    else
        schedule_await_submissions(a->setup->schedule, ++a->setup->submitted);
}

static void end_thread(struct run *a)
{
    if (a->plan->status != IMPOSSIBLE && a->plan->status != EXHAUSTED)
        pthread_join(a->thread, NULL);
}

static void begin_synchronous(struct run *a)
{
    begin_thread(a, run_synchronous);
}

static void begin_burst(struct run *a)
{
    ck_assert_int_eq(
        a->model.prepared->methods->configure_burst(a->model.prepared, HAL_FL8, &a->burst),
        HAL_NONE);
    a->config.deadline = deadline_in(a->plan->budget, CLOCK_BOOTTIME);
    begin_thread(a, run_burst);
}

static void begin_reusable(struct run *a)
{
    ck_assert_int_eq(a->model.prepared->methods->create_reusable_execution(
                         a->model.prepared, &a->request.hal, &a->config, &a->reusable),
                     HAL_NONE);
    begin_thread(a, run_reusable);
}

static void end_burst(struct run *a)
{
    end_thread(a);
    a->burst->methods->release(a->burst);
}

static void end_reusable(struct run *a)
{
    end_thread(a);
    a->reusable->methods->release(a->reusable);
}

static void begin_asynchronous(struct run *a)
{
    client_wait_init(&a->wait);
    (void) a->model.prepared->methods->execute(a->model.prepared, HAL_1_3, &a->request.hal,
                                               &a->config, &a->wait.base);
}

static void end_asynchronous(struct run *a)
{
    a->status = client_wait(&a->wait);
    ck_assert_uint_eq(a->wait.calls, 1);
}

static void begin_fenced(struct run *a)
{
    ck_assert_int_eq(a->model.prepared->methods->execute_fenced(
                         a->model.prepared, HAL_1_3, &a->request.hal, 0, NULL, &a->config,
                         HAL_NO_TIME, &a->fence, &a->info),
                     HAL_NONE);
}

static void end_fenced(struct run *a)
{
    a->status = client_end_fenced(HAL_NONE, a->fence, a->info);
}

static const struct kind {
    const char *name;
    void (*begin)(struct run *a);
    void (*end)(struct run *a);
} kinds[] = {
    { "synchronous", begin_synchronous, end_thread },
    { "asynchronous", begin_asynchronous, end_asynchronous },
    { "fenced", begin_fenced, end_fenced },
    { "burst", begin_burst, end_burst },
    { "reusable", begin_reusable, end_reusable },
};

/* ---- running a scenario */

static void begin(struct run *a, const struct kind *kind)
{
    client_fill(&a->request, N);
    a->config = client_config();
    a->config.deadline = deadline_in(a->plan->budget, CLOCK_MONOTONIC);
    kind->begin(a);
}

static void prepare_job(struct setup *p, struct run *a, const struct job_plan *plan)
{
    *a = (struct run){ .plan = plan, .setup = p };
    caller_set(p->caller[plan->client]);
    client_add_chain(&a->model, N, plan->ops);
    client_prepare(&a->model, p->client[plan->client], plan->priority);
}

/* Repeats a failed job alone: a transient status must not occur again. */
static void repeat_alone(struct run *a, const struct kind *kind)
{
    const bool is_impossible = a->plan->status == IMPOSSIBLE;

    if (a->plan->status == HAL_NONE)
        return;
    caller_set(a->setup->caller[a->plan->client]);
    struct job_plan alone = *a->plan;
    alone.status = is_impossible ? IMPOSSIBLE : HAL_NONE;
    a->plan = &alone;
    begin(a, kind);
    kind->end(a);
    ck_assert_int_eq(a->status, alone.status);
    check_result(a);
}

static void open_setup(struct setup *p, const struct scenario *s, bool over_socket)
{
    *p = (struct setup){ .scenario = s,
                         .driver = client_open_queue("cpu", UNIT, s->depth, s->priorities) };
    p->schedule = ((struct driver *) p->driver)->schedule;
    for (uint32_t i = 1; i < CLIENTS; i++) {
        ck_assert_ptr_nonnull(p->caller[i] = caller_new(i));
        p->client[i] = over_socket ? client_join(p->driver, i) : p->driver;
    }
}

static void close_setup(struct setup *p)
{
    caller_set(NULL);
    for (int i = 1; i < CLIENTS; i++)
        if (p->client[i] != p->driver)
            p->client[i]->close(p->client[i]);
    p->driver->close(p->driver);
    for (int i = 1; i < CLIENTS; i++)
        caller_unref(p->caller[i]);
}

static void run_scenario(const struct scenario *s, bool over_socket, const struct kind *kind,
                         struct record *r)
{
    struct setup p;
    struct run job_runs[MAX_JOBS];
    int n = 0;

    open_setup(&p, s, over_socket);
    schedule_set_watch(p.schedule, watch, r);
    schedule_hold(p.schedule);
    for (; n < MAX_JOBS && s->job[n].ops; n++) {
        prepare_job(&p, &job_runs[n], &s->job[n]);
        schedule_set_arrival(p.schedule, (uint64_t) (s->job[n].at * UNIT));
        begin(&job_runs[n], kind);
    }
    schedule_release(p.schedule);
    for (int i = 0; i < n; i++) {
        kind->end(&job_runs[i]);
        ck_assert_msg(job_runs[i].status == s->job[i].status, "%s, %s: job %d ends with %s",
                      s->name, kind->name, i, hal_status_name(job_runs[i].status));
        check_result(&job_runs[i]);
    }
    schedule_set_watch(p.schedule, NULL, NULL);
    for (int i = 0; i < n; i++) {
        repeat_alone(&job_runs[i], kind);
        client_done(&job_runs[i].model);
    }
    close_setup(&p);
}

/* Each kind RUNS times in process, RUNS_OVER_SOCKETS times over sockets. */
START_TEST(a_scenario_always_gives_the_same_schedule)
{
    const struct scenario *s = &scenarios[_i / 2];
    const int runs = _i % 2 ? RUNS_OVER_SOCKETS : RUNS;

    for (int run = 0; run < runs * COUNT(kinds); run++) {
        const struct kind *kind = &kinds[run % COUNT(kinds)];
        struct record r = { 0 };
        run_scenario(s, _i % 2, kind, &r);
        ck_assert_msg(strcmp(r.text, s->schedule) == 0, "%s, %s: schedule\n%s\nexpected\n%s",
                      s->name, kind->name, r.text, s->schedule);
    }
}
END_TEST

Suite *contention_suite(void)
{
    TCase *c = tcase_create("contention");

    tcase_add_loop_test(c, a_scenario_always_gives_the_same_schedule, 0, 2 * COUNT(scenarios));
    return make_suite("contention", c, NULL);
}
