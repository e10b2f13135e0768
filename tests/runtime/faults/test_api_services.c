/* Devices that are services (unix:PATH) whose process ends: in each call, and at any time while
 * several threads execute.  The documented result or the fallback, and the next compilation
 * connects to the service that has been started again (runtime.md 4.8, 7). */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/runtime/client_job.h"
#include "tests/runtime/faults/two_devices.h"
#include "tests/support/check_main.h"

/* ---- the service of device "a" */

static char folder[64], path[80];
static pid_t service;

static void end_service(void)
{
    if (service) {
        kill(service, SIGKILL);
        ck_assert_int_eq(waitpid(service, NULL, 0), service);
    }
    service = 0;
}

/* options: of chosen_driver.c, besides name and operation. */
static void start_service(const char *options)
{
    extern char **environ;
    posix_spawn_file_actions_t actions;
    char uri[512], byte;
    int ready[2];

    end_service();
    snprintf(uri, sizeof uri, "lib:%s?name=a&ops=0.0&%s", getenv("CHOSEN_DRIVER"), options);
    ck_assert_int_eq(pipe2(ready, O_CLOEXEC), 0);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ready[1], STDOUT_FILENO);
    char *const arguments[] = { "driver_service", uri, path, NULL };
    ck_assert_int_eq(
        posix_spawn(&service, getenv("DRIVER_SERVICE"), &actions, NULL, arguments, environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    close(ready[1]);
    ck_assert_int_eq(read(ready[0], &byte, 1), 1);
    close(ready[0]);
}

static void open_devices(enum mode mode, const char *options)
{
    char devices[256];

    strcpy(folder, "/tmp/halcyon-services-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/socket", folder);
    start_service(options);
    set_mode(mode);
    snprintf(devices, sizeof devices, "unix:%s,%%c?name=b&ops=0.1", path);
    use_devices(devices);
    device_named("a");
}

static void close_devices(void)
{
    end_service();
    unlink(path);
    ck_assert_int_eq(rmdir(folder), 0);
}

/* ---- death in a call */

/* Results are those of a list; mode 1 falls back unless `is_final`. */
static const struct death {
    const char *call; /* call_faults.h */
    int hal;
    unsigned ways; /* of execution that make the call; 0: the compilation does */
    bool of_reusable, of_others;
    bool is_final;
} deaths[] = {
    { "support", 18, 0, false, false, false },
    { "launch", 18, 0, false, false, false },
    { "prepare", 11, 0, false, false, false },
    { "execute", 18, 1 << COMPUTE | 1 << START, false, true, false },
    { "asynchronous-launch", 11, 1 << COMPUTE | 1 << START | 1 << FENCED, true, true, false },
    { "asynchronous", 11, 1 << COMPUTE | 1 << START | 1 << FENCED, true, true, false },
    { "in-burst", 18, 1 << BURST, true, true, false },
    { "in-burst", 12, 1 << BURST, true, true, false },
    { "burst", 18, 1 << BURST, true, true, false },
    { "reusable", 18, 1 << COMPUTE | 1 << FENCED, true, false, false },
    { "in-reusable", 18, 1 << COMPUTE | 1 << START, true, false, false },
    { "fenced-reusable", 18, 1 << FENCED, true, false, false },
    { "fenced", 18, 1 << FENCED, false, true, false },
    { "info", 18, 1 << FENCED, true, true, true },
};
enum { DEATHS = sizeof deaths / sizeof *deaths };

/* A compilation that is made after the service has been started again works on it; one that was
 * made before does not. */
static void check_restarted(enum mode mode, enum plan plan, struct client_job *old)
{
    struct client_job j = two_devices_job(plan);
    const int without = mode == LISTED ? ANEURALNETWORKS_UNAVAILABLE_DEVICE : 0;

    OK(two_devices_compile(&j, mode, plan));
    OK(job_compute(&j));
    two_devices_check(&j, plan);
    if (old)
        ck_assert_int_eq(job_compute(old), without);
    job_done(&j);
}

/* While nothing is served. */
static void check_dead(enum mode mode, enum plan plan)
{
    const int code = mode == LISTED ? ANEURALNETWORKS_UNAVAILABLE_DEVICE : 0;
    struct client_job j = two_devices_job(plan);

    ck_assert_int_eq(ANeuralNetworksDevice_wait(device_named("a")),
                     ANEURALNETWORKS_UNAVAILABLE_DEVICE);
    ck_assert_int_eq(two_devices_compile(&j, mode, plan), code);
    if (!code) {
        OK(job_compute(&j));
        two_devices_check(&j, plan);
    }
    job_done(&j);
}

static void die_in_execution(const struct death *d, enum mode mode, enum plan plan, enum way way,
                             bool is_reusable)
{
    const int code = mode == LISTED || d->is_final ? ANEURALNETWORKS_UNAVAILABLE_DEVICE
                                                   : ANEURALNETWORKS_NO_ERROR;
    struct client_job j = two_devices_job(plan);
    ANeuralNetworksBurst *burst;
    char sound[16];

    OK(two_devices_compile(&j, mode, plan));
    OK(ANeuralNetworksBurst_create(j.compilation, &burst));
    ANeuralNetworksExecution *e = job_execution(&j);
    OK(ANeuralNetworksExecution_setReusable(e, is_reusable));
    job_clear_outputs(&j);
    const int found = job_run(e, way, burst);
    ck_assert_msg(found == code, "death in %s, mode %d, plan %d, way %d: %d, expected %d", d->call,
                  mode, plan, way, found, code);
    if (found == ANEURALNETWORKS_NO_ERROR)
        two_devices_check(&j, plan);
    ANeuralNetworksExecution_free(e);
    ANeuralNetworksBurst_free(burst);
    ck_assert_int_eq(waitpid(service, NULL, 0), service); /* it has died of the call */
    service = 0;
    check_dead(mode, plan);
    snprintf(sound, sizeof sound, "hal=%d", d->hal);
    start_service(sound);
    check_restarted(mode, plan, &j);
    job_done(&j);
}

static void die_in_compilation(const struct death *d, enum mode mode, enum plan plan)
{
    struct client_job j = two_devices_job(plan);

    ck_assert_int_eq(two_devices_compile(&j, mode, plan),
                     mode == LISTED ? ANEURALNETWORKS_UNAVAILABLE_DEVICE : 0);
    ck_assert_int_eq(waitpid(service, NULL, 0), service);
    service = 0;
    check_dead(mode, plan);
    start_service(d->hal == 11 ? "hal=11" : "");
    check_restarted(mode, plan, NULL);
    job_done(&j);
}

START_TEST(death_in_a_call)
{
    const struct death *d = &deaths[_i / 2];
    const enum mode mode = _i % 2 ? LISTED : WITH_FALLBACK;
    char options[64];
    int n_files = 0;

    snprintf(options, sizeof options, "hal=%d&fault=%s.die", d->hal, d->call);
    open_devices(mode, options);
    for (enum plan plan = 0; plan < LAST_STEP; plan++) {
        /* Steps of a plan of several make no reusable executions of the driver. */
        const bool is_other = plan != ONE_STEP && d->hal == 18 && !d->of_others;
        if (!d->ways) {
            start_service(options);
            die_in_compilation(d, mode, plan);
        }
        for (enum way way = 0; way < WAYS; way++)
            for (int reusable = 0; reusable < 2; reusable++) {
                const bool is_used = reusable && plan == ONE_STEP ? d->of_reusable : d->of_others;
                if (is_other || !(d->ways >> way & 1) || !is_used)
                    continue;
                start_service(options);
                die_in_execution(d, mode, plan, way, reusable);
            }
        if (plan == ONE_STEP)
            n_files = open_files();
    }
    /* Each connection has several descriptors: dead ones are closed. */
    ck_assert(open_files_settle(n_files));
    close_devices();
}
END_TEST

/* Another driver at the same path is not taken for the device. */
START_TEST(another_driver)
{
    struct client_job j = two_devices_job(ONE_STEP);

    open_devices(LISTED, "");
    start_service("name=other");
    EXPECT(ANeuralNetworksDevice_wait(device_named("a")), UNAVAILABLE_DEVICE);
    EXPECT(two_devices_compile(&j, LISTED, ONE_STEP), UNAVAILABLE_DEVICE);
    ANeuralNetworksCompilation_free(j.compilation);
    start_service("hal=13");
    EXPECT(two_devices_compile(&j, LISTED, ONE_STEP), UNAVAILABLE_DEVICE);
    ANeuralNetworksCompilation_free(j.compilation);
    start_service("");
    OK(ANeuralNetworksDevice_wait(device_named("a")));
    OK(two_devices_compile(&j, LISTED, ONE_STEP));
    OK(job_compute(&j));
    two_devices_check(&j, ONE_STEP);
    job_done(&j);
    close_devices();
}
END_TEST

/* ---- death at any time */

enum { THREADS = 3, KILLS = 12 };

static atomic_bool is_over;

struct worker {
    enum mode mode;
    enum plan plan;
    unsigned done, unavailable;
    float out[2];
};

static int work_once(struct worker *w, struct client_job *j, enum way way, bool is_reusable)
{
    ANeuralNetworksBurst *burst;
    int result;

    OK(ANeuralNetworksBurst_create(j->compilation, &burst));
    ANeuralNetworksExecution *e = job_execution(j);
    OK(ANeuralNetworksExecution_setReusable(e, is_reusable));
    job_clear_outputs(j);
    result = job_run(e, way, burst);
    ANeuralNetworksExecution_free(e);
    ANeuralNetworksBurst_free(burst);
    if (result == ANEURALNETWORKS_NO_ERROR) {
        two_devices_check(j, w->plan);
        w->done++;
    }
    return result;
}

static bool is_allowed(const struct worker *w, enum way way, int result)
{
    return result == ANEURALNETWORKS_NO_ERROR ||
           (result == ANEURALNETWORKS_UNAVAILABLE_DEVICE && (w->mode == LISTED || way == FENCED)) ||
           /* the fence fails before the connection is known to */
           (result == ANEURALNETWORKS_OP_FAILED && way == FENCED);
}

static void *work(void *argument)
{
    struct worker *w = argument;

    while (!is_over) {
        struct client_job j = two_devices_job(w->plan);
        j.output[0] = w->out;
        int result = two_devices_compile(&j, w->mode, w->plan);
        ck_assert_msg(is_allowed(w, COMPUTE, result), "mode %d, plan %d: finish %d", w->mode,
                      w->plan, result);
        w->unavailable += result != ANEURALNETWORKS_NO_ERROR;
        for (int i = 0; result == ANEURALNETWORKS_NO_ERROR && i < 4 * WAYS; i++) {
            result = work_once(w, &j, (enum way)(i % WAYS), i / WAYS % 2);
            ck_assert_msg(is_allowed(w, (enum way)(i % WAYS), result),
                          "mode %d, plan %d, way %d: %d", w->mode, w->plan, i % WAYS, result);
            w->unavailable += result != ANEURALNETWORKS_NO_ERROR;
        }
        job_done(&j);
    }
    return NULL;
}

START_TEST(death_at_any_time)
{
    const enum mode mode = _i ? LISTED : WITH_FALLBACK;
    struct worker w[THREADS];
    pthread_t thread[THREADS];

    open_devices(mode, "");
    for (int i = 0; i < THREADS; i++) {
        w[i] = (struct worker){ .mode = mode, .plan = (enum plan)(i % PLANS) };
        ck_assert_int_eq(pthread_create(&thread[i], NULL, work, &w[i]), 0);
    }
    for (int i = 0; i < KILLS; i++) {
        nanosleep(&(struct timespec){ .tv_nsec = 20000000 + i % 7 * 15000000 }, NULL);
        end_service();
        if (i % 3 == 2)
            nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
        start_service("");
    }
    is_over = true;
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        ck_assert_uint_gt(w[i].done, 0);
        ck_assert(mode == WITH_FALLBACK || w[i].unavailable > 0);
    }
    check_restarted(mode, ONE_STEP, NULL);
    close_devices();
}
END_TEST

Suite *api_services_suite(void)
{
    TCase *calls = tcase_create("calls"), *kills = tcase_create("kills");

    tcase_add_loop_test(calls, death_in_a_call, 0, 2 * DEATHS);
    tcase_add_test(calls, another_driver);
    tcase_add_loop_test(kills, death_at_any_time, 0, 2);
    return make_suite("api_services", calls, kills, NULL);
}
