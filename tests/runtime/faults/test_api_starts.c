/* Two threads start one execution at once by any two of the four ways, each pair HALCYON_STARTS
 * times (100; the long test 1000): one of them computes, or both in turn where it is reusable. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tests/runtime/faults/two_devices.h"
#include "tests/support/check_main.h"

enum { TURNS = 100 };

static const struct {
    const char *devices;
    enum plan plan;
} rows[] = {
    { "%c?name=a&ops=0.0,%c?name=b&ops=0.1", ONE_STEP },
    { "%c?name=a&ops=0.0,%c?name=b&ops=0.1", FIRST_STEP },
    { "%c?name=a&ops=0.0&hal=13,%c?name=b&ops=0.1&hal=12", LAST_STEP },
    { "%c?name=a&ops=0.0&hal=11,%c?name=b&ops=0.1&hal=11", FIRST_STEP },
    { "%c?name=a&ops=0.0&execute=2,%c?name=b&ops=0.1", LAST_STEP },
    { "sim:cpu", FIRST_STEP },
    { "", ONE_STEP },
};
enum { ROWS = sizeof rows / sizeof *rows };

struct starter {
    ANeuralNetworksExecution *execution;
    ANeuralNetworksBurst *burst;
    pthread_barrier_t *begin;
    enum way way;
    int result;
};

static void *start(void *argument)
{
    struct starter *s = argument;

    pthread_barrier_wait(s->begin);
    s->result = job_run(s->execution, s->way, s->burst);
    return NULL;
}

static int start_both(struct starter s[2])
{
    pthread_barrier_t begin;
    pthread_t thread;
    int n = 0;

    pthread_barrier_init(&begin, NULL, 2);
    s[0].begin = s[1].begin = &begin;
    ck_assert_int_eq(pthread_create(&thread, NULL, start, &s[1]), 0);
    start(&s[0]);
    pthread_join(thread, NULL);
    pthread_barrier_destroy(&begin);
    for (int i = 0; i < 2; i++) {
        ck_assert_msg(s[i].result == ANEURALNETWORKS_NO_ERROR ||
                          s[i].result == ANEURALNETWORKS_BAD_STATE,
                      "ways %d and %d: %d", s[0].way, s[1].way, s[i].result);
        n += s[i].result == ANEURALNETWORKS_NO_ERROR;
    }
    return n;
}

static void race(struct client_job *j, enum plan plan, enum way first, enum way second, int n)
{
    ANeuralNetworksBurst *burst[2];

    OK(ANeuralNetworksBurst_create(j->compilation, &burst[0]));
    OK(ANeuralNetworksBurst_create(j->compilation, &burst[1]));
    for (int i = 0; i < n; i++) {
        const bool is_reusable = i % 2;
        ANeuralNetworksExecution *e = job_execution(j);
        struct starter s[2] = { { e, burst[0], NULL, first, 0 }, { e, burst[1], NULL, second, 0 } };
        OK(ANeuralNetworksExecution_setReusable(e, is_reusable));
        job_clear_outputs(j);
        const int n_computed = start_both(s);
        ck_assert(is_reusable ? n_computed >= 1 : n_computed == 1);
        two_devices_check(j, plan);
        ANeuralNetworksExecution_free(e);
    }
    ANeuralNetworksBurst_free(burst[0]);
    ANeuralNetworksBurst_free(burst[1]);
}

START_TEST(one_execution)
{
    const char *text = getenv("HALCYON_STARTS");
    struct client_job j;

    use_devices(rows[_i].devices);
    j = two_devices_job(rows[_i].plan);
    OK(two_devices_compile(&j, WITH_FALLBACK, rows[_i].plan));
    for (enum way first = 0; first < WAYS; first++)
        for (enum way second = first; second < WAYS; second++)
            race(&j, rows[_i].plan, first, second, text ? atoi(text) : TURNS);
    job_done(&j);
}
END_TEST

Suite *api_starts_suite(void)
{
    TCase *starts = tcase_create("starts");

    tcase_add_loop_test(starts, one_execution, 0, ROWS);
    tcase_set_timeout(starts, 800);
    return make_suite("api_starts", starts, NULL);
}
