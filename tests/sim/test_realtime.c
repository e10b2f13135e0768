/* Real time: executions last as long as on the device.  The tests check only that nothing ends too
 * early, since a loaded machine may be arbitrarily late. */
#include <check.h>
#include <pthread.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "golden/base/clock.h"
#include "sim/base/fence.h"
#include "tests/support/check_main.h"
#include "tests/support/hal_client.h"

enum { N = 4 };

static const double MS = 1e6;

static struct hal_driver *driver;
static struct schedule *schedule;
static struct client_model model;

static double now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double) t.tv_sec * 1e9 + (double) t.tv_nsec;
}

/* Launch and operation take 10 ms each. */
static void open_slow(void)
{
    driver = client_open_slow("cpu", 10 * MS);
    schedule = ((struct driver *) driver)->schedule;
    schedule_set_realtime(schedule);
    client_add_model(&model, N, false);
    client_prepare(&model, driver, HAL_PRIORITY_LOW);
}

static void close_slow(void)
{
    client_done(&model);
    driver->close(driver);
}

static enum hal_status execute(const struct client_model *m, const struct hal_execution_config *c,
                               struct hal_result *ret_result)
{
    struct client_request r;

    client_fill(&r, N);
    enum hal_status s =
        m->prepared->methods->execute_synchronously(m->prepared, HAL_1_3, &r.hal, c, &r.result);
    if (s == HAL_NONE)
        client_check(&r, N);
    *ret_result = r.result;
    return s;
}

START_TEST(executions_take_as_long_as_the_device_would)
{
    struct hal_execution_config config = client_config();
    struct hal_result result;
    double start_time = now_ns();

    config.measure = true;
    for (int i = 1; i <= 5; i++) {
        ck_assert_int_eq(execute(&model, &config, &result), HAL_NONE);
        ck_assert(now_ns() - start_time >= 20 * i * MS);
        ck_assert((double) result.timing.on_device >= 20 * MS);
        ck_assert((double) result.timing.on_device <= now_ns() - start_time);
    }
}
END_TEST

/* Late wake-ups do not accumulate: the end of every operation is a fixed point in time. */
START_TEST(the_device_clock_follows_the_system_clock)
{
    struct job_terms terms = { .budget = SCHEDULE_NEVER };
    const uint64_t step = 200000;
    uint64_t epoch = clock_steady_ns(), start_time = schedule_now(schedule);
    struct job j;

    ck_assert_int_eq(schedule_submit(schedule, &j, &terms), 0);
    schedule_begin(schedule, &j);
    for (unsigned i = 0; i < 200; i++) {
        ck_assert_uint_ge(schedule_spend(schedule, &j, step), step * (i + 1));
        ck_assert_uint_le(schedule_now(schedule) - start_time,
                          clock_steady_ns() - epoch + step / 2);
    }
    schedule_end(schedule, &j);
}
END_TEST

START_TEST(deadlines_are_points_in_real_time)
{
    struct hal_execution_config config = client_config();
    struct hal_result result;

    config.deadline = (uint64_t) (now_ns() + 19 * MS); /* 20 ms are needed */
    ck_assert_int_eq(execute(&model, &config, &result), HAL_MISSED_DEADLINE_PERSISTENT);
    config.deadline = (uint64_t) (now_ns() + 60e3 * MS);
    ck_assert_int_eq(execute(&model, &config, &result), HAL_NONE);
}
END_TEST

/* ---- several executions */

struct started {
    struct client_request request;
    struct client_wait wait;
    double ended; /* 0: not yet */
};

static void start(const struct client_model *m, struct started *s)
{
    const struct hal_execution_config config = client_config();

    client_fill(&s->request, N);
    client_wait_init(&s->wait);
    ck_assert_int_eq(m->prepared->methods->execute(m->prepared, HAL_1_3, &s->request.hal, &config,
                                                   &s->wait.base),
                     HAL_NONE);
}

static void record(void *user, enum schedule_event event, const struct job *j, uint64_t now)
{
    char *at = user;

    (void) now;
    at += strlen(at);
    *at++ = "<-+>"[event];
    *at++ = (char) ('0' + j->number);
    *at = 0;
}

START_TEST(a_higher_priority_preempts)
{
    struct client_model urgent;
    struct started low, high;
    char events[64] = "";

    client_add_model(&urgent, N, false);
    client_prepare(&urgent, driver, HAL_PRIORITY_HIGH);
    schedule_set_watch(schedule, record, events);
    start(&model, &low);
    start(&urgent, &high);
    ck_assert_int_eq(client_wait(&high.wait), HAL_NONE);
    ck_assert_int_eq(client_wait(&low.wait), HAL_NONE);
    schedule_set_watch(schedule, NULL, NULL);
    client_done(&urgent);
    /* If this process was suspended for 20 ms in between, they may have run one after the other. */
    ck_assert_msg(!strcmp(events, "<0-0<1>1+0>0") || !strcmp(events, "<0>0<1>1"), "%s", events);
}
END_TEST

/* Executions that are submitted together run one after the other. */
START_TEST(a_device_runs_one_execution_at_a_time)
{
    struct started s[3];
    double start_time = now_ns();

    for (int i = 0; i < 3; i++)
        start(&model, &s[i]);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(client_wait(&s[i].wait), HAL_NONE);
    ck_assert(now_ns() - start_time >= 60 * MS);
}
END_TEST

START_TEST(fences_signal_at_the_end_of_the_execution)
{
    struct hal_execution_config config = client_config();
    struct hal_timing launched, fenced;
    struct hal_fenced_info *info;
    struct client_request r;
    struct fence before;
    int fence;

    client_fill(&r, N);
    config.measure = true;
    ck_assert_int_eq(fence_open(&before), 0);
    double start_time = now_ns();
    ck_assert_int_eq(model.prepared->methods->execute_fenced(model.prepared, HAL_1_3, &r.hal, 1,
                                                             &before.wait, &config, HAL_NO_TIME,
                                                             &fence, &info),
                     HAL_NONE);
    nanosleep(&(struct timespec){ .tv_nsec = 30000000 }, NULL);
    fence_complete(&before, true);
    ck_assert_int_eq(fence_wait(1, &fence, HAL_NO_TIME), 1);
    ck_assert(now_ns() - start_time >= 50 * MS);
    ck_assert_int_eq(info->methods->get_execution_info(info, &launched, &fenced), HAL_NONE);
    ck_assert((double) launched.on_device >= 50 * MS && (double) fenced.on_device >= 20 * MS);
    ck_assert(launched.on_device - fenced.on_device >= (uint64_t) (29 * MS));
    info->methods->release(info);
    close(fence);
    close(before.wait);
}
END_TEST

/* The execution would take hours. */
START_TEST(executions_of_disconnected_clients_end_at_once)
{
    struct hal_driver *slow = client_open_slow("cpu", 3600e9);
    struct caller *caller = caller_new(3);
    struct client_model m;
    struct started s;

    schedule_set_realtime(((struct driver *) slow)->schedule);
    client_add_model(&m, N, false);
    caller_set(caller);
    client_prepare(&m, slow, HAL_PRIORITY_LOW);
    start(&m, &s);
    caller_set(NULL);
    nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
    caller_disconnect(caller);
    ck_assert_int_eq(client_wait(&s.wait), HAL_GENERAL_FAILURE);
    client_done(&m);
    slow->close(slow);
    caller_unref(caller);
}
END_TEST

Suite *realtime_suite(void)
{
    TCase *c = tcase_create("real time");

    tcase_add_checked_fixture(c, open_slow, close_slow);
    tcase_add_test(c, executions_take_as_long_as_the_device_would);
    tcase_add_test(c, the_device_clock_follows_the_system_clock);
    tcase_add_test(c, deadlines_are_points_in_real_time);
    tcase_add_test(c, a_higher_priority_preempts);
    tcase_add_test(c, a_device_runs_one_execution_at_a_time);
    tcase_add_test(c, fences_signal_at_the_end_of_the_execution);
    tcase_add_test(c, executions_of_disconnected_clients_end_at_once);
    return make_suite("realtime", c, NULL);
}
