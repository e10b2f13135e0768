/* A service and its clients: many clients at a time, clients that are killed, a service that is
 * killed or hangs. */
#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "golden/base/clock.h"
#include "sim/base/fence.h"
#include "sim/remote/remote.h"
#include "sim/sim.h"
#include "tests/sim/service/service_lab.h"
#include "tests/support/check_main.h"

enum { N = 4, PROCESSES = 6, ROUNDS = 4 };

static struct why w;

START_TEST(killed_clients_leave_no_resources_and_disturb_no_others)
{
    struct holdings before = lab_at_rest(lab_service);
    pid_t client[PROCESSES];
    uint32_t seed = 7;
    int status;

    for (uint32_t round = 0; round < ROUNDS; round++) {
        for (uint32_t i = 0; i < PROCESSES; i++)
            client[i] = lab_start_client(round * PROCESSES + i);
        for (int i = 0; i < PROCESSES / 2; i++) {
            lab_sleep_ms(lab_random(&seed) % 60);
            kill(client[i], SIGKILL);
        }
        for (int i = 0; i < PROCESSES; i++) {
            ck_assert_int_eq(waitpid(client[i], &status, 0), client[i]);
            ck_assert_msg(status == 0 || (i < PROCESSES / 2 && WIFSIGNALED(status)),
                          "client %d of round %u ends with status %x", i, round, (unsigned) status);
        }
    }
    lab_check_at_rest(lab_service, before);
    ck_assert(lab_work(99, LAB_RUNS));
}
END_TEST

START_TEST(clients_of_a_killed_service_release_everything)
{
    ck_assert(lab_work(1, 1));
    struct holdings before = lab_at_rest(getpid());
    for (uint32_t round = 0; round < LAB_LIVES - 1; round++) {
        ck_assert(lab_work(round, 0));
        ck_assert_int_eq(waitpid(lab_service, NULL, 0), lab_service);
        lab_start_service();
    }
    lab_check_at_rest(getpid(), before);
    ck_assert(lab_work(99, LAB_RUNS));
}
END_TEST

/* ---- more concurrent calls than a session has channels */

enum { CALLERS = 100, CALLS = 20 };

struct calling {
    struct hal_driver *d;
    const struct hal_model *model;
    pthread_barrier_t begin;
    atomic_uint failed;
};

static void *query_repeatedly(void *argument)
{
    struct calling *c = argument;
    bool supported;
    uint32_t n;

    pthread_barrier_wait(&c->begin);
    for (int i = 0; i < CALLS; i++)
        c->failed +=
            c->d->get_supported_operations(c->d, HAL_1_3, c->model, &supported, &n) != HAL_NONE;
    return NULL;
}

START_TEST(calls_beyond_the_last_channel_wait)
{
    pthread_t thread[CALLERS];
    struct client_model m;
    struct calling c = { .d = lab_connect(), .model = &m.hal };

    client_add_model(&m, N, false);
    pthread_barrier_init(&c.begin, NULL, CALLERS);
    for (int i = 0; i < CALLERS; i++)
        ck_assert_int_eq(pthread_create(&thread[i], NULL, query_repeatedly, &c), 0);
    for (int i = 0; i < CALLERS; i++)
        pthread_join(thread[i], NULL);
    ck_assert_uint_eq(c.failed, 0);
    pthread_barrier_destroy(&c.begin);
    client_done(&m);
    c.d->close(c.d);
}
END_TEST

/* ---- a target that runs a model */

struct on_target {
    struct target *target;
    struct client_model model;
    struct client_request request;
    struct outcome outcome;
};

static void open_on_target(struct on_target *t, const struct target_host *host)
{
    char uri[100];

    client_add_model(&t->model, N, false);
    client_fill(&t->request, N);
    snprintf(uri, sizeof uri, "unix:%s", lab_path);
    ck_assert_int_eq(target_open(uri, host, &t->target, &w), 0);
}

/* To be ended with outcome_done(). */
static const struct outcome *run_on_target(struct on_target *t)
{
    const struct operand *x = t->model.b.graph->operand;
    struct tensor in[] = { x[0].tensor, x[1].tensor };
    const struct shape shape = DIMS(N);

    in[0].data = t->request.x;
    in[1].data = t->request.y;
    ck_assert_int_eq(target_run(t->target, &t->model.b.model, in, &shape, NULL, &t->outcome, &w),
                     0);
    return &t->outcome;
}

static void close_on_target(struct on_target *t)
{
    target_free(t->target);
    client_done(&t->model);
}

START_TEST(a_target_reports_a_dead_service_and_reconnects)
{
    struct on_target t;

    open_on_target(&t, NULL);
    for (int life = 0; life < LAB_LIVES - 1; life++) {
        const struct outcome *o = run_on_target(&t);
        ck_assert(!o->died && o->status == HAL_NONE);
        outcome_done(&t.outcome);
        kill(lab_service, SIGKILL);
        ck_assert_int_eq(waitpid(lab_service, NULL, 0), lab_service);
        for (int round = 0; round < 2; round++) {
            ck_assert(run_on_target(&t)->died);
            outcome_done(&t.outcome);
        }
        lab_start_service();
    }
    close_on_target(&t);
}
END_TEST

/* ---- a service that hangs */

/* Suspends all threads of the service. */
static void stop_service(void)
{
    int status;

    kill(lab_service, SIGSTOP);
    ck_assert_int_eq(waitpid(lab_service, &status, WUNTRACED), lab_service);
    ck_assert(WIFSTOPPED(status));
}

static const struct reply_timeout short_timeout = { .seconds = 0.2 };

static struct hal_driver *connect_with_timeout(void)
{
    struct hal_driver *d = NULL;

    ck_assert_msg(remote_open(lab_path, &short_timeout, &d, &w) == 0, "%s", w.text);
    return d;
}

START_TEST(a_call_to_a_hung_service_times_out)
{
    static const int64_t none[] = { -1, -1, -1 };
    const bool in_burst = _i;
    struct hal_driver *d = connect_with_timeout();
    struct hal_execution_config config = client_config();
    struct hal_burst *burst;
    struct client_request r;
    struct client_model m;

    client_add_model(&m, N, false);
    client_prepare(&m, d, HAL_PRIORITY_LOW);
    client_fill(&r, N);
    lab_sleep_ms(500); /* an idle connection does not time out */
    ck_assert_int_eq(client_execute(m.prepared, HAL_FL8, &r.hal, &r.result), HAL_NONE);
    ck_assert_int_eq(m.prepared->methods->configure_burst(m.prepared, HAL_FL8, &burst), HAL_NONE);
    ck_assert_int_eq(
        burst->methods->execute_synchronously(burst, &r.hal, 3, none, &config, &r.result),
        HAL_NONE);
    stop_service();
    const uint64_t begun = clock_steady_ns();
    ck_assert_int_eq(
        in_burst ? burst->methods->execute_synchronously(burst, &r.hal, 3, none, &config, &r.result)
                 : client_execute(m.prepared, HAL_FL8, &r.hal, &r.result),
        HAL_DEVICE_UNAVAILABLE);
    const uint64_t passed = clock_steady_ns() - begun;
    ck_assert(passed > 150000000 && passed < 4000000000);
    ck_assert(remote_is_dead(d, &w) && w.code == WHY_TIMEOUT);
    burst->methods->release(burst);
    client_done(&m);
    d->close(d);
    ck_assert_int_lt(remote_open(lab_path, &short_timeout, &d, &w), 0);
    ck_assert_int_eq(w.code, WHY_TIMEOUT);
    kill(lab_service, SIGCONT);
    ck_assert(lab_work(5, LAB_RUNS));
}
END_TEST

/* The service hangs while an execution waits for a fence that the client has not signalled. */
START_TEST(pending_fences_of_a_hung_service_fail)
{
    struct hal_driver *d = connect_with_timeout();
    struct hal_fenced_info *info;
    struct client_request r;
    struct client_model m;
    struct fence before;

    client_add_model(&m, N, false);
    client_prepare(&m, d, HAL_PRIORITY_LOW);
    client_fill(&r, N);
    ck_assert_int_eq(fence_open(&before), 0);
    int fence = client_execute_after(before.wait, m.prepared, &r.hal, &info);
    ck_assert_int_eq(fence_wait(1, &fence, UINT64_C(700000000)), 0); /* the service still replies */
    stop_service();
    ck_assert_int_eq(fence_wait(1, &fence, HAL_NO_TIME), -1);
    ck_assert(remote_is_dead(d, &w) && w.code == WHY_TIMEOUT);
    info->methods->release(info);
    client_done(&m);
    d->close(d);
    kill(lab_service, SIGCONT);
    close(fence);
    close(before.wait);
    fence_complete(&before, false);
}
END_TEST

START_TEST(a_target_distinguishes_a_hung_service)
{
    const struct target_host host = { .reply_timeout = 0.2, .is_known = true };
    struct on_target t;

    open_on_target(&t, &host);
    for (int round = 0; round < 4; round++) {
        bool is_stopped = round % 2 == 0;
        if (is_stopped)
            stop_service();
        else
            kill(lab_service, SIGCONT);
        const struct outcome *o = run_on_target(&t);
        ck_assert(o->hung == is_stopped && o->died == is_stopped);
        ck_assert(is_stopped || (o->stage == STAGE_DONE && o->status == HAL_NONE));
        outcome_done(&t.outcome);
    }
    close_on_target(&t);
}
END_TEST

Suite *service_suite(void)
{
    TCase *c = tcase_create("service");

    tcase_add_checked_fixture(c, lab_open, lab_close);
    tcase_add_test(c, killed_clients_leave_no_resources_and_disturb_no_others);
    tcase_add_test(c, clients_of_a_killed_service_release_everything);
    tcase_add_test(c, calls_beyond_the_last_channel_wait);
    tcase_add_test(c, a_target_reports_a_dead_service_and_reconnects);
    tcase_add_loop_test(c, a_call_to_a_hung_service_times_out, 0, 2);
    tcase_add_test(c, pending_fences_of_a_hung_service_fail);
    tcase_add_test(c, a_target_distinguishes_a_hung_service);
    return make_suite("service", c, NULL);
}
