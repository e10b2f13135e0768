/* Time-outs of a service that answers late: because its processor is loaded, because the case is
 * expensive, or never. */
#define _GNU_SOURCE
#include <check.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "golden/base/clock.h"
#include "sim/remote/remote.h"
#include "sim/sim.h"
#include "tests/sim/service/service_lab.h"
#include "tests/support/check_main.h"

enum { N = 4, COMPETITORS = 4 };

static const uint64_t MS = 1000000;
static struct why w;

/* ---- the driver: sim:cpu with late callbacks and executions */

/* What the service does before it prepares, asynchronously, and before it executes. */
static void (*delay)(void);

static void compute_300_ms(void)
{
    const uint64_t begun = clock_ns(CLOCK_THREAD_CPUTIME_ID);

    while (clock_ns(CLOCK_THREAD_CPUTIME_ID) - begun < 300 * MS) {
    }
}

static void sleep_500_ms(void)
{
    lab_sleep_ms(500);
}

static struct hal_driver inner; /* the methods of sim:cpu */
static const struct hal_prepared_model_methods *inner_prepared;
static const struct hal_burst_methods *inner_burst;
static struct hal_prepared_model_methods late_prepared;
static struct hal_burst_methods late_burst;

static enum hal_status execute_late(struct hal_prepared_model *self, enum hal_version version,
                                    const struct hal_request *request,
                                    const struct hal_execution_config *config,
                                    struct hal_result *result)
{
    delay();
    return inner_prepared->execute_synchronously(self, version, request, config, result);
}

static enum hal_status execute_in_burst_late(struct hal_burst *self,
                                             const struct hal_request *request,
                                             uint32_t n_identifiers, const int64_t *identifiers,
                                             const struct hal_execution_config *config,
                                             struct hal_result *result)
{
    delay();
    return inner_burst->execute_synchronously(self, request, n_identifiers, identifiers, config,
                                              result);
}

static enum hal_status configure_burst(struct hal_prepared_model *self, enum hal_version version,
                                       struct hal_burst **ret_burst)
{
    enum hal_status status = inner_prepared->configure_burst(self, version, ret_burst);

    if (status == HAL_NONE) {
        inner_burst = (*ret_burst)->methods;
        late_burst = *inner_burst;
        late_burst.execute_synchronously = execute_in_burst_late;
        (*ret_burst)->methods = &late_burst;
    }
    return status;
}

/* A callback whose call a thread delays. */
struct late_callback {
    struct hal_prepare_callback base, *client;
    enum hal_status status;
    struct hal_prepared_model *prepared;
};

static void *call_back_late(void *argument)
{
    struct late_callback *c = argument;

    delay();
    c->client->notify(c->client, c->status, c->prepared);
    free(c);
    return NULL;
}

static void notify(struct hal_prepare_callback *self, enum hal_status status,
                   struct hal_prepared_model *prepared)
{
    struct late_callback *c = (struct late_callback *) self;
    pthread_t t;

    c->status = status;
    c->prepared = prepared;
    if (status == HAL_NONE) {
        inner_prepared = prepared->methods;
        late_prepared = *inner_prepared;
        late_prepared.execute_synchronously = execute_late;
        late_prepared.configure_burst = configure_burst;
        prepared->methods = &late_prepared;
    }
    ck_assert_int_eq(pthread_create(&t, NULL, call_back_late, c), 0);
    pthread_detach(t);
}

static enum hal_status prepare_late(struct hal_driver *self, enum hal_version version,
                                    const struct hal_model *model,
                                    const struct hal_prepare_config *config,
                                    struct hal_prepare_callback *callback)
{
    struct late_callback *c = calloc(1, sizeof *c);

    ck_assert_ptr_nonnull(c);
    c->base.notify = notify;
    c->client = callback;
    return inner.prepare_model(self, version, model, config, &c->base);
}

static struct hal_driver *make_late(void)
{
    struct hal_driver *d = client_open("cpu", HAL_FL8);

    inner = *d;
    d->prepare_model = prepare_late;
    return d;
}

static struct hal_driver *make_late_on_one_processor(void)
{
    pin_to_one_processor();
    return make_late();
}

/* ---- processes that load the processor of the service */

static pid_t competitor[COMPETITORS];

static void start_competitors(void)
{
    const pid_t parent = getpid();

    for (int i = 0; i < COMPETITORS; i++) {
        competitor[i] = fork();
        ck_assert_int_ge(competitor[i], 0);
        if (competitor[i] == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            pin_to_one_processor();
            while (getppid() == parent) {
            }
            _exit(0);
        }
    }
}

static void end_competitors(void)
{
    for (int i = 0; i < COMPETITORS; i++) {
        kill(competitor[i], SIGKILL);
        ck_assert_int_eq(waitpid(competitor[i], NULL, 0), competitor[i]);
    }
}

/* ---- the client */

static atomic_uint calls_of_waiting;

static void count_waiting(void *user)
{
    (void) user;
    calls_of_waiting++;
}

START_TEST(replies_of_a_loaded_service_are_in_time)
{
    static const int64_t none[] = { -1, -1, -1 };
    const struct reply_timeout timeout = { .seconds = 1, .waiting = count_waiting };
    const struct hal_execution_config config = client_config();
    const bool in_burst = _i;
    struct hal_driver *d = NULL;
    struct hal_burst *burst;
    struct client_request r;
    struct client_model m;

    delay = compute_300_ms;
    lab_open_of(make_late_on_one_processor, 1);
    ck_assert_msg(remote_open(lab_path, &timeout, &d, &w) == 0, "%s", w.text);
    client_add_model(&m, N, false);
    client_prepare(&m, d, HAL_PRIORITY_LOW);
    client_fill(&r, N);
    ck_assert_int_eq(m.prepared->methods->configure_burst(m.prepared, HAL_FL8, &burst), HAL_NONE);
    start_competitors();
    calls_of_waiting = 0;
    const uint64_t begun = clock_steady_ns();
    enum hal_status status =
        in_burst ? burst->methods->execute_synchronously(burst, &r.hal, 3, none, &config, &r.result)
                 : client_execute(m.prepared, HAL_FL8, &r.hal, &r.result);
    const uint64_t passed = clock_steady_ns() - begun;
    end_competitors();
    ck_assert_int_eq(status, HAL_NONE);
    client_check(&r, N);
    ck_assert_uint_gt(passed, 1000 * MS);
    ck_assert_uint_ge(calls_of_waiting, passed / (200 * MS));
    burst->methods->release(burst);
    client_done(&m);
    d->close(d);
    lab_close();
}
END_TEST

/* A run of a target at the service.  Returns what it takes; to be ended with outcome_done(). */
static uint64_t run_target(double seconds, uint64_t allowance, struct outcome *ret_outcome)
{
    const struct target_host host = { .reply_timeout = seconds, .waiting = count_waiting };
    const struct target_run_options options = { .allowance_ns = allowance };
    const struct shape shape = DIMS(N);
    struct client_request r;
    struct client_model m;
    struct target *t;
    char uri[100];

    client_add_model(&m, N, false);
    client_fill(&r, N);
    snprintf(uri, sizeof uri, "unix:%s", lab_path);
    ck_assert_msg(target_open(uri, &host, &t, &w) == 0, "%s", w.text);
    struct tensor in[] = { m.b.graph->operand[0].tensor, m.b.graph->operand[1].tensor };
    in[0].data = r.x;
    in[1].data = r.y;
    calls_of_waiting = 0;
    const uint64_t begun = clock_steady_ns();
    ck_assert_int_eq(target_run(t, &m.b.model, in, &shape, &options, ret_outcome, &w), 0);
    const uint64_t passed = clock_steady_ns() - begun;
    target_free(t);
    client_done(&m);
    return passed;
}

START_TEST(runs_on_a_loaded_service_are_in_time)
{
    struct outcome o;

    delay = compute_300_ms;
    lab_open_of(make_late_on_one_processor, 1);
    start_competitors();
    const uint64_t passed = run_target(1, 0, &o);
    end_competitors();
    ck_assert_msg(o.stage == STAGE_DONE && !o.died, "%s", o.violation);
    ck_assert_uint_gt(passed, 2000 * MS);
    outcome_done(&o);
    lab_close();
}
END_TEST

START_TEST(runs_have_the_time_that_is_allowed)
{
    struct outcome o;

    delay = sleep_500_ms;
    lab_open_of(make_late, 1);
    run_target(0.2, 1000 * MS, &o);
    ck_assert_msg(o.stage == STAGE_DONE && !o.died, "%s", o.violation);
    ck_assert_uint_ge(calls_of_waiting, 8);
    outcome_done(&o);
    const uint64_t passed = run_target(0.2, 0, &o);
    ck_assert(o.hung && o.died && o.stage == STAGE_PREPARE);
    ck_assert_str_eq(o.violation, "the other process does not answer in time, between "
                                  "prepare_model and its callback");
    ck_assert_uint_ge(passed, 150 * MS);
    ck_assert_uint_le(passed, 4000 * MS);
    outcome_done(&o);
    lab_sleep_ms(500); /* until the service has called back */
    lab_close();
}
END_TEST

Suite *service_timeouts_suite(void)
{
    TCase *c = tcase_create("service_timeouts");

    tcase_add_loop_test(c, replies_of_a_loaded_service_are_in_time, 0, 2);
    tcase_add_test(c, runs_on_a_loaded_service_are_in_time);
    tcase_add_test(c, runs_have_the_time_that_is_allowed);
    return make_suite("service_timeouts", c, NULL);
}
