/* Executions in progress: models released meanwhile, fences and durations, several executions on
 * one device.  The rules for every kind of execution are in harness/suites/suite_generated.c. */
#include <check.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "golden/base/clock.h"
#include "golden/base/trace.h"
#include "harness/conform/conform_requests.h"
#include "sim/base/fence.h"
#include "sim/device/profile.h"
#include "sim/hal/hal_convert.h"
#include "tests/support/check_main.h"
#include "tests/support/hal_client.h"

enum { N = 4 };

static struct hal_driver *driver;
static struct client_model model;
static struct client_request request;

static void open_with(struct hal_driver *d)
{
    driver = d;
    client_add_model(&model, N, false);
    client_prepare(&model, driver, HAL_PRIORITY_MEDIUM);
    client_fill(&request, N);
}

static void open_in_process(void)
{
    open_with(client_open("cpu", HAL_FL8));
}

static void open_over_socket(void)
{
    open_with(client_over_socket(client_open("cpu", HAL_FL8)));
}

static void close_cpu(void)
{
    client_done(&model);
    driver->close(driver);
}

/* ---- asynchronous */

START_TEST(a_model_may_be_released_while_it_runs)
{
    struct hal_execution_config config = client_config();
    struct client_wait wait[16];
    struct client_request r[16];

    for (int i = 0; i < 16; i++) {
        client_wait_init(&wait[i]);
        client_fill(&r[i], N);
        (void) model.prepared->methods->execute(model.prepared, HAL_1_3, &r[i].hal, &config,
                                                &wait[i].base);
    }
    model.prepared->methods->release(model.prepared);
    model.prepared = NULL;
    for (int i = 0; i < 16; i++)
        if (client_wait(&wait[i]) == HAL_NONE)
            client_check(&r[i], N);
}
END_TEST

/* Memory whose first access blocks, as that of a FUSE file may. */
enum { SLOW_BYTES = 4096 };
static void *slow;
static atomic_bool is_touched, may_continue;

static void block_access(int signal)
{
    const struct timespec pause = { 0, 1000000 };

    (void) signal;
    atomic_store(&is_touched, true);
    while (!atomic_load(&may_continue))
        nanosleep(&pause, NULL);
    mprotect(slow, SLOW_BYTES, PROT_READ | PROT_WRITE);
}

static void *execute_with_slow_memory(void *argument)
{
    struct client_request *r = argument;

    ck_assert_int_eq(client_execute(model.prepared, HAL_1_3, &r->hal, &r->result), HAL_NONE);
    return NULL;
}

/* _i: index of the slow pool, of an input or of the output. */
START_TEST(slow_memory_does_not_block_other_executions)
{
    const struct sigaction action = { .sa_handler = block_access };
    struct client_request other;
    pthread_t thread;

    slow = mmap(NULL, SLOW_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(slow, MAP_FAILED);
    ck_assert_int_eq(sigaction(SIGSEGV, &action, NULL), 0);
    client_fill(&other, N);
    request.pool[_i].memory.address = slow;
    ck_assert_int_eq(pthread_create(&thread, NULL, execute_with_slow_memory, &request), 0);
    while (!atomic_load(&is_touched))
        sched_yield();
    ck_assert_int_eq(client_execute(model.prepared, HAL_1_3, &other.hal, &other.result), HAL_NONE);
    client_check(&other, N);
    atomic_store(&may_continue, true);
    pthread_join(thread, NULL);
    munmap(slow, SLOW_BYTES);
}
END_TEST

/* A buffer for the roles of x and z. */
static struct hal_buffer *allocate(uint32_t *ret_token)
{
    const struct hal_buffer_role role = { 0, 0, 1 };
    const struct hal_buffer_desc desc = { 0 };
    struct hal_buffer *b;

    ck_assert_int_eq(
        driver->allocate(driver, &desc, 1, &model.prepared, 1, &role, 1, &role, &b, ret_token),
        HAL_NONE);
    return b;
}

static struct hal_buffer *buffer;

static void *copy_with_slow_memory(void *argument)
{
    const struct hal_memory m = {
        HAL_MEMORY_ADDRESS, HAL_MEMORY_READ | HAL_MEMORY_WRITE, slow, -1, 0, N * sizeof(float)
    };
    const bool *is_out = argument;

    ck_assert_int_eq(*is_out ? buffer->methods->copy_to(buffer, &m)
                             : buffer->methods->copy_from(buffer, &m, 0, NULL),
                     HAL_NONE);
    return NULL;
}

/* An execution may use the buffer meanwhile.  _i: 0 copy_from, 1 copy_to. */
START_TEST(slow_copies_do_not_block_executions)
{
    const struct sigaction action = { .sa_handler = block_access };
    struct hal_execution_config config = client_config();
    bool is_out = _i;
    pthread_t thread;
    uint32_t token;
    float x[N] = { 1, 2, 3, 4 };
    struct hal_memory from = { HAL_MEMORY_ADDRESS, HAL_MEMORY_READ, x, -1, 0, sizeof(x) };

    buffer = allocate(&token);
    ck_assert_int_eq(buffer->methods->copy_from(buffer, &from, 0, NULL), HAL_NONE);
    slow = mmap(NULL, SLOW_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(slow, MAP_FAILED);
    ck_assert_int_eq(sigaction(SIGSEGV, &action, NULL), 0);
    ck_assert_int_eq(pthread_create(&thread, NULL, copy_with_slow_memory, &is_out), 0);
    while (!atomic_load(&is_touched))
        sched_yield();
    request.in[0].location = (struct hal_location){ .pool = 0 };
    request.pool[0] = (struct hal_request_pool){ .is_token = true, .token = token };
    ck_assert_int_eq(model.prepared->methods->execute_synchronously(
                         model.prepared, HAL_1_3, &request.hal, &config, &request.result),
                     HAL_NONE);
    for (int i = 0; i < N; i++)
        ck_assert_float_eq(request.z[i], x[i] + request.y[i]);
    atomic_store(&may_continue, true);
    pthread_join(thread, NULL);
    buffer->methods->release(buffer);
    munmap(slow, SLOW_BYTES);
}
END_TEST

/* ---- fenced */

static enum hal_status run_fenced(uint32_t n, const int *wait_for, uint64_t duration,
                                  int *ret_fence, struct hal_fenced_info **ret_info)
{
    struct hal_execution_config config = client_config();

    config.measure = true;
    return model.prepared->methods->execute_fenced(
        model.prepared, HAL_FL8, &request.hal, n, wait_for, &config, duration, ret_fence, ret_info);
}

static bool is_signalled(int fence)
{
    struct pollfd p = { .fd = fence, .events = POLLIN };

    return poll(&p, 1, 0) == 1;
}

START_TEST(a_fenced_execution_waits_and_signals)
{
    struct hal_timing launched, fenced;
    struct hal_fenced_info *info;
    struct fence before;
    int fence;

    ck_assert_int_eq(fence_open(&before), 0);
    ck_assert_int_eq(run_fenced(1, &before.wait, HAL_NO_TIME, &fence, &info), HAL_NONE);
    ck_assert(!is_signalled(fence));
    request.x[1] = 100; /* not read before the fence is signalled */
    fence_complete(&before, true);
    ck_assert_int_eq(fence_wait(1, &fence, HAL_NO_TIME), 1);
    ck_assert_float_eq(request.z[1], 110);
    ck_assert_int_eq(info->methods->get_execution_info(info, &launched, &fenced), HAL_NONE);
    ck_assert(fenced.on_device != HAL_NO_TIME && fenced.on_device <= fenced.in_driver);
    ck_assert(launched.on_device >= fenced.on_device && launched.on_device <= launched.in_driver);
    info->methods->release(info);
    close(fence);
    close(before.wait);
}
END_TEST

/* Transient: the fences may be signalled earlier another time. */
START_TEST(a_deadline_before_the_fences_signal_is_missed_transiently)
{
    struct hal_execution_config config = client_config();
    struct hal_timing launched, fenced;
    struct hal_fenced_info *info;
    struct fence before;
    struct timespec t;
    int fence;

    ck_assert_int_eq(fence_open(&before), 0);
    clock_gettime(CLOCK_BOOTTIME, &t);
    config.deadline = (uint64_t) t.tv_sec * UINT64_C(1000000000) + (uint64_t) t.tv_nsec + 20000000;
    ck_assert_int_eq(model.prepared->methods->execute_fenced(model.prepared, HAL_FL8, &request.hal,
                                                             1, &before.wait, &config, HAL_NO_TIME,
                                                             &fence, &info),
                     HAL_NONE);
    ck_assert_int_eq(fence_wait(1, &fence, HAL_NO_TIME), -1);
    ck_assert_int_eq(info->methods->get_execution_info(info, &launched, &fenced),
                     HAL_MISSED_DEADLINE_TRANSIENT);
    ck_assert(launched.on_device == HAL_NO_TIME && fenced.on_device == HAL_NO_TIME);
    info->methods->release(info);
    close(fence);
    fence_complete(&before, true);
    close(before.wait);
}
END_TEST

START_TEST(a_duration_starts_when_the_fences_signal)
{
    struct hal_timing launched, fenced;
    struct hal_fenced_info *info;
    int fence;

    ck_assert_int_eq(run_fenced(0, NULL, 1, &fence, &info), HAL_NONE);
    ck_assert_int_eq(fence_wait(1, &fence, HAL_NO_TIME), -1);
    ck_assert_int_eq(info->methods->get_execution_info(info, &launched, &fenced),
                     HAL_MISSED_DEADLINE_PERSISTENT);
    info->methods->release(info);
    close(fence);
}
END_TEST

/* ---- reusable */

START_TEST(a_reusable_execution_runs_once_at_a_time)
{
    struct hal_execution_config config = client_config();
    struct hal_fenced_info *info;
    struct hal_execution *x;
    struct fence before;
    int fence;

    ck_assert_int_eq(model.prepared->methods->create_reusable_execution(model.prepared,
                                                                        &request.hal, &config, &x),
                     HAL_NONE);
    ck_assert_int_eq(fence_open(&before), 0);
    ck_assert_int_eq(
        x->methods->execute_fenced(x, 1, &before.wait, HAL_NO_DEADLINE, HAL_NO_TIME, &fence, &info),
        HAL_NONE);
    ck_assert_int_eq(x->methods->execute_synchronously(x, HAL_NO_DEADLINE, &request.result),
                     HAL_GENERAL_FAILURE);
    x->methods->release(x); /* the execution in progress continues */
    fence_complete(&before, true);
    ck_assert_int_eq(fence_wait(1, &fence, HAL_NO_TIME), 1);
    client_check(&request, N);
    info->methods->release(info);
    close(fence);
    close(before.wait);
}
END_TEST

/* ---- contention: a script of executions */

enum { ADDS = 5 }; /* operations, between which an execution may be suspended */

struct record {
    size_t at;
    char text[4000];
};

static void watch(void *user, enum schedule_event event, const struct job *j, uint64_t now)
{
    static const char *const names[] = { "starts", "stops", "resumes", "ends" };
    struct record *r = user;
    int n = snprintf(r->text + r->at, sizeof r->text - r->at, "%g: %llu %s\n", (double) now * 1e-9,
                     (unsigned long long) j->number, names[event]);

    r->at += (size_t) n;
}

/* The same from a trace: the events of the device's track. */
static void record_event(const struct trace_event *e, void *user)
{
    static const char *const kinds[] = { [TRACE_BEGIN] = "{", [TRACE_END] = "}" };
    static double origin;
    struct record *r = user;

    if (e->kind == TRACE_TRACK)
        origin = e->ns;
    if (!e->track || (e->kind != TRACE_BEGIN && e->kind != TRACE_END && e->kind != TRACE_SLICE))
        return;
    double at = (e->ns - origin) * 1e-9;
    int n = e->kind == TRACE_SLICE
                ? snprintf(r->text + r->at, sizeof r->text - r->at, "%.0f: %s for %.0f\n", at,
                           e->name, e->duration * 1e-9)
                : snprintf(r->text + r->at, sizeof r->text - r->at, "%.0f: %s %s\n", at,
                           kinds[e->kind], e->name);
    r->at += (size_t) n;
}

#define SECONDS 1e9

static const struct step {
    enum hal_priority priority;
    double at;
    uint64_t budget; /* ns; 0: no deadline */
    enum hal_status status;
} steps[] = {
    { HAL_PRIORITY_LOW, 0, 0, HAL_NONE },
    { HAL_PRIORITY_LOW, 0.5, UINT64_C(8000000000), HAL_MISSED_DEADLINE_TRANSIENT },
    { HAL_PRIORITY_MEDIUM, 1.5, 0, HAL_NONE },
    { HAL_PRIORITY_MEDIUM, 1.5, 0, HAL_NONE },
    { HAL_PRIORITY_HIGH, 2.5, 0, HAL_NONE },
    { HAL_PRIORITY_HIGH, 30, 0, HAL_NONE },
    { HAL_PRIORITY_HIGH, 30, UINT64_C(4000000000), HAL_MISSED_DEADLINE_PERSISTENT },
};

/* Computed by hand: an execution takes a second for its launch and one for each operation. */
static const char schedule[] = "0: 0 starts\n"
                               "2: 0 stops\n"
                               "2: 2 starts\n"
                               "3: 2 stops\n"
                               "3: 4 starts\n"
                               "9: 4 ends\n"
                               "9: 2 resumes\n"
                               "14: 2 ends\n"
                               "14: 3 starts\n"
                               "20: 3 ends\n"
                               "20: 0 resumes\n"
                               "24: 0 ends\n"
                               "24: 1 starts\n"
                               "24: 1 ends\n"
                               "30: 5 starts\n"
                               "36: 5 ends\n";

struct scripted {
    struct client_model model;
    struct client_request request;
    struct client_wait wait;
};

static void launch(struct scripted *x, const struct step *step, struct hal_driver *d)
{
    struct hal_execution_config config = client_config();
    struct timespec t;

    client_add_chain(&x->model, N, ADDS);
    client_prepare(&x->model, d, step->priority);
    client_fill(&x->request, N);
    client_wait_init(&x->wait);
    clock_gettime(CLOCK_MONOTONIC, &t);
    if (step->budget)
        config.deadline =
            (uint64_t) t.tv_sec * UINT64_C(1000000000) + (uint64_t) t.tv_nsec + step->budget;
    schedule_set_arrival(((struct driver *) d)->schedule, (uint64_t) (step->at * SECONDS));
    ck_assert_int_eq(x->model.prepared->methods->execute(x->model.prepared, HAL_1_3,
                                                         &x->request.hal, &config, &x->wait.base),
                     HAL_NONE);
}

static void run_script(struct record *r)
{
    struct hal_driver *d = client_open_slow("cpu", SECONDS);
    struct schedule *s = ((struct driver *) d)->schedule;
    struct scripted x[COUNT(steps)];

    schedule_set_watch(s, watch, r);
    schedule_hold(s);
    for (int i = 0; i < COUNT(steps); i++)
        launch(&x[i], &steps[i], d);
    schedule_release(s);
    for (int i = 0; i < COUNT(steps); i++) {
        ck_assert_int_eq(client_wait(&x[i].wait), steps[i].status);
        client_done(&x[i].model);
    }
    d->close(d);
}

START_TEST(a_script_always_gives_the_same_schedule)
{
    for (int run = 0; run < 20; run++) {
        struct record r = { 0 };
        run_script(&r);
        ck_assert_str_eq(r.text, schedule);
    }
}
END_TEST

START_TEST(a_trace_shows_the_schedule)
{
    struct record watched = { 0 }, traced = { 0 };

    trace_set_sink(record_event, &traced);
    run_script(&watched);
    trace_set_sink(NULL, NULL);
    const char *end = strstr(traced.text, "9: } execution 4\n");
    ck_assert_ptr_nonnull(end);
    traced.at = (size_t) (end - traced.text);
    traced.text[traced.at] = 0;
    ck_assert_str_eq(traced.text, "0: { execution 0\n"
                                  "0: launch for 1\n"
                                  "1: ADD for 1\n"
                                  "2: } execution 0\n"
                                  "2: { execution 2\n"
                                  "2: launch for 1\n"
                                  "3: } execution 2\n"
                                  "3: { execution 4\n"
                                  "3: launch for 1\n"
                                  "4: ADD for 1\n"
                                  "5: ADD for 1\n"
                                  "6: ADD for 1\n"
                                  "7: ADD for 1\n"
                                  "8: ADD for 1\n");
}
END_TEST

/* ---- durations */

/* Times whose sum is a whole number only up to rounding errors. */
static void cost_fractions(struct profile *p)
{
    p->launch_ns = 1000.4;
    p->operation_ns = 100.8;
    p->bandwidth = p->rate[DT_F32] = 1e30;
}

/* Its duration does not depend on what the device has run before. */
START_TEST(an_execution_always_takes_the_same_time)
{
    struct hal_driver *d = client_open_changed("cpu", cost_fractions);
    struct hal_execution_config config = client_config();
    struct client_model m;
    struct client_request r;
    uint64_t first = 0;

    config.measure = true;
    client_add_chain(&m, N, 7);
    client_prepare(&m, d, HAL_PRIORITY_MEDIUM);
    for (int i = 0; i < 1000; i++) {
        client_fill(&r, N);
        ck_assert_int_eq(m.prepared->methods->execute_synchronously(m.prepared, HAL_FL8, &r.hal,
                                                                    &config, &r.result),
                         HAL_NONE);
        first = i ? first : r.result.timing.on_device;
        ck_assert_uint_eq(r.result.timing.on_device, first);
    }
    client_done(&m);
    d->close(d);
}
END_TEST

/* Operations take the ns of a profile: with 1 ns this machine is slower than the device. */
START_TEST(an_endless_loop_ends_in_less_than_twice_its_limit)
{
    static const double operation_ns[] = { 1000, 1 };
    const uint64_t limit = 200000000;
    struct hal_driver *d = client_open_slow("cpu", operation_ns[_i]);
    struct hal_execution_config config = client_config();
    struct client_model m;
    struct client_request r;

    config.loop_timeout = limit;
    client_add_endless(&m);
    client_prepare(&m, d, HAL_PRIORITY_MEDIUM);
    client_fill(&r, 1);
    r.hal.n_inputs = r.hal.n_outputs = 1;
    uint64_t begun = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    ck_assert_int_eq(
        m.prepared->methods->execute_synchronously(m.prepared, HAL_FL8, &r.hal, &config, &r.result),
        HAL_MISSED_DEADLINE_PERSISTENT);
    ck_assert_uint_le(clock_ns(CLOCK_THREAD_CPUTIME_ID) - begun, 2 * limit);
    client_done(&m);
    d->close(d);
}
END_TEST

/* ---- every kind of execution on the simulated devices, which promise more than the HAL: durations
 * that are measured are reported, and the same in each kind; a deadline that has passed is missed
 */

enum { SIMULATED = 2 }; /* the first of these */
static const char *const devices[] = { "cpu", "gpu", "golden" };

typedef void visit_kind(const char *device, enum hal_version version,
                        const struct conform_kind *kind, struct hal_prepared_model *p);

/* Executes a chain of ADD. */
static enum hal_status run_kind(const struct conform_kind *kind, struct hal_prepared_model *p,
                                enum hal_version version, const struct hal_execution_config *config,
                                struct hal_timing *ret_timing)
{
    struct client_request c;
    struct conform_request r;

    client_fill(&c, N);
    r = (struct conform_request){ .hal = c.hal, .result = c.result };
    enum hal_status status = kind->run(p, version, &r, config);
    *ret_timing = r.result.timing;
    return status;
}

static void each_kind(const char *device, visit_kind *visit)
{
    for (int v = 0; v < HAL_VERSIONS; v++) {
        struct hal_driver *d = client_open(device, hal_versions[v]);
        struct client_model m;
        client_add_chain(&m, N, 3);
        client_prepare(&m, d, HAL_PRIORITY_MEDIUM);
        for (int k = 0; k < conform_n_kinds; k++)
            if (conform_kind_is_of(&conform_kinds[k], hal_versions[v]))
                visit(device, hal_versions[v], &conform_kinds[k], m.prepared);
        client_done(&m);
        d->close(d);
    }
}

/* Of the version's first kind. */
static struct hal_timing first_timing;
static enum hal_version version_of_first;

static void expect_durations(const char *device, enum hal_version version,
                             const struct conform_kind *kind, struct hal_prepared_model *p)
{
    struct hal_execution_config config = client_config();
    struct hal_timing t;

    if (version < HAL_1_2) /* without measurement */
        return;
    config.measure = true;
    ck_assert_int_eq(run_kind(kind, p, version, &config, &t), HAL_NONE);
    ck_assert_msg(t.on_device != HAL_NO_TIME && t.in_driver != HAL_NO_TIME && t.on_device > 0,
                  "%s at HAL %s, %s: no durations", device, hal_version_name(version), kind->name);
    if (version_of_first != version)
        first_timing = t;
    version_of_first = version;
    ck_assert_msg(t.on_device == first_timing.on_device && t.in_driver == first_timing.in_driver,
                  "%s at HAL %s, %s: %llu and %llu ns, in the first kind %llu and %llu ns", device,
                  hal_version_name(version), kind->name, (unsigned long long) t.on_device,
                  (unsigned long long) t.in_driver, (unsigned long long) first_timing.on_device,
                  (unsigned long long) first_timing.in_driver);
}

START_TEST(every_kind_reports_the_same_durations)
{
    each_kind(devices[_i], expect_durations);
}
END_TEST

static void expect_missed(const char *device, enum hal_version version,
                          const struct conform_kind *kind, struct hal_prepared_model *p)
{
    const uint64_t passed[] = { 1, hal_now(version) };
    struct hal_timing t;

    for (int i = 0; i < COUNT(passed) && version >= kind->deadlines; i++) {
        struct hal_execution_config config = client_config();
        config.deadline = passed[i];
        enum hal_status s = run_kind(kind, p, version, &config, &t);
        ck_assert_msg(s == HAL_MISSED_DEADLINE_TRANSIENT || s == HAL_MISSED_DEADLINE_PERSISTENT,
                      "%s at HAL %s, %s, deadline %llu: %s", device, hal_version_name(version),
                      kind->name, (unsigned long long) passed[i], hal_status_name(s));
    }
}

START_TEST(a_passed_deadline_is_missed_in_every_kind)
{
    each_kind(devices[_i], expect_missed);
}
END_TEST

/* ---- requests that a device cannot compute */

/* WHILE x >= 0: s = s + 1. */
static void count_model(struct client_model *m)
{
    build_init(&m->b, 3);
    uint32_t condition = build_subgraph(&m->b, 1), body = build_subgraph(&m->b, 2);
    for (uint32_t g = 0; g < 3; g++) {
        build_graph(&m->b, g);
        uint32_t s = build_operand(&m->b, LIFE_INPUT, DT_F32, DIMS(1));
        uint32_t x = build_operand(&m->b, LIFE_INPUT, DT_F32, DIMS(1));
        uint32_t one = g ? build_constant(&m->b, DT_F32, DIMS(1), &(float){ g == 2 }) : 0;
        uint32_t none = g == 2 ? build_int(&m->b, 0) : 0;
        uint32_t out = build_operand(&m->b, LIFE_OUTPUT, g == 1 ? DT_B8 : DT_F32, DIMS(1));
        if (g == 0)
            OPERATION(&m->b, "WHILE", IDS(condition, body, s, x), IDS(out));
        else if (g == 1)
            OPERATION(&m->b, "GREATER_EQUAL", IDS(x, one), IDS(out));
        else
            OPERATION(&m->b, "ADD", IDS(s, one, none), IDS(out));
    }
    build_graph(&m->b, 0);
    model_count_consumers(&m->b.model);
    client_convert(m);
}

START_TEST(a_loop_cannot_return_an_omitted_input)
{
    struct hal_driver *d = client_open(devices[_i], 0);
    const struct hal_execution_config config = client_config();
    struct client_model m;
    struct client_request c;

    count_model(&m);
    client_prepare(&m, d, HAL_PRIORITY_MEDIUM);
    client_fill(&c, 1);
    c.y[0] = -1;
    c.in[0] = (struct hal_argument){ .has_no_value = true };
    ck_assert_int_eq(
        m.prepared->methods->execute_synchronously(m.prepared, HAL_FL8, &c.hal, &config, &c.result),
        HAL_GENERAL_FAILURE);
    client_done(&m);
    d->close(d);
}
END_TEST

static TCase *kinds(const char *name, void (*open)(void))
{
    TCase *c = tcase_create(name);

    tcase_add_checked_fixture(c, open, close_cpu);
    tcase_add_test(c, a_model_may_be_released_while_it_runs);
    tcase_add_test(c, a_fenced_execution_waits_and_signals);
    tcase_add_test(c, a_deadline_before_the_fences_signal_is_missed_transiently);
    tcase_add_test(c, a_duration_starts_when_the_fences_signal);
    tcase_add_test(c, a_reusable_execution_runs_once_at_a_time);
    return c;
}

Suite *executions_suite(void)
{
    TCase *here = kinds("in process", open_in_process),
          *there = kinds("over a socket", open_over_socket);
    TCase *contention = tcase_create("contention"), *durations = tcase_create("durations");
    TCase *every = tcase_create("every kind");

    tcase_add_loop_test(here, slow_memory_does_not_block_other_executions, 0, 3);
    tcase_add_loop_test(here, slow_copies_do_not_block_executions, 0, 2);
    tcase_add_test(contention, a_script_always_gives_the_same_schedule);
    tcase_add_test(contention, a_trace_shows_the_schedule);
    tcase_add_test(durations, an_execution_always_takes_the_same_time);
    tcase_add_loop_test(durations, an_endless_loop_ends_in_less_than_twice_its_limit, 0, 2);
    tcase_add_loop_test(every, every_kind_reports_the_same_durations, 0, SIMULATED);
    tcase_add_loop_test(every, a_passed_deadline_is_missed_in_every_kind, 0, SIMULATED);
    tcase_add_loop_test(every, a_loop_cannot_return_an_omitted_input, 0, COUNT(devices));
    return make_suite("executions", here, there, contention, durations, every, NULL);
}
