/* Threads that use the same objects: two that start one execution, executions of one burst, waits
 * for one event, memories freed beside executions. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/runtime/nnapi_client.h"
#include "tests/support/check_main.h"

enum { N = 3, BYTES = N * sizeof(float), TURNS = 60 };
enum way { COMPUTE, START, BURST, FENCED, WAYS };

struct starter {
    ANeuralNetworksExecution *execution;
    ANeuralNetworksBurst *burst;
    pthread_barrier_t *begin;
    enum way way;
    int result; /* of the start, or else of the wait */
};

static void *start(void *argument)
{
    struct starter *s = argument;
    ANeuralNetworksEvent *ev = NULL;

    pthread_barrier_wait(s->begin);
    switch (s->way) {
    case COMPUTE: s->result = ANeuralNetworksExecution_compute(s->execution); break;
    case BURST: s->result = ANeuralNetworksExecution_burstCompute(s->execution, s->burst); break;
    case START: s->result = ANeuralNetworksExecution_startCompute(s->execution, &ev); break;
    case FENCED:
    case WAYS:
        s->result =
            ANeuralNetworksExecution_startComputeWithDependencies(s->execution, NULL, 0, 0, &ev);
    }
    if (ev)
        s->result = ANeuralNetworksEvent_wait(ev);
    ANeuralNetworksEvent_free(ev);
    return NULL;
}

/* Both at once; the number of those that computed. */
static int start_both(struct starter *s)
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
        ck_assert(s[i].result == ANEURALNETWORKS_NO_ERROR ||
                  s[i].result == ANEURALNETWORKS_BAD_STATE);
        n += s[i].result == ANEURALNETWORKS_NO_ERROR;
    }
    return n;
}

static ANeuralNetworksExecution *add_execution(ANeuralNetworksCompilation *c, bool reusable,
                                               float *in, float *out)
{
    ANeuralNetworksExecution *e;

    OK(ANeuralNetworksExecution_create(c, &e));
    OK(ANeuralNetworksExecution_setReusable(e, reusable));
    OK(ANeuralNetworksExecution_setInput(e, 0, NULL, in, BYTES));
    OK(ANeuralNetworksExecution_setInput(e, 1, NULL, in, BYTES));
    OK(ANeuralNetworksExecution_setOutput(e, 0, NULL, out, BYTES));
    return e;
}

static void two_starts(ANeuralNetworksCompilation *c, enum way first, enum way second)
{
    float in[N] = { 1, 2, 3 }, out[N];
    ANeuralNetworksBurst *burst[2];

    OK(ANeuralNetworksBurst_create(c, &burst[0]));
    OK(ANeuralNetworksBurst_create(c, &burst[1]));
    for (int i = 0; i < TURNS / 10; i++) {
        const bool reusable = i % 2;
        ANeuralNetworksExecution *e = add_execution(c, reusable, in, out);
        struct starter s[2] = { { e, burst[0], NULL, first, 0 }, { e, burst[1], NULL, second, 0 } };
        int n = start_both(s);
        ck_assert(reusable ? n >= 1 : n == 1);
        ck_assert(out[0] == 2 && out[2] == 6);
        ANeuralNetworksExecution_free(e);
    }
    ANeuralNetworksBurst_free(burst[0]);
    ANeuralNetworksBurst_free(burst[1]);
}

static const char *const configured[] = { "", "sim:cpu", "sim:cpu?hal=1.2", "sim:cpu?hal=1.0" };
enum { CONFIGURED = sizeof configured / sizeof *configured };

START_TEST(one_execution_twice)
{
    use_devices(configured[_i]);
    ANeuralNetworksModel *m = add_model(N);
    ANeuralNetworksCompilation *c = compile_on(m, device_at(0));

    for (enum way first = 0; first < WAYS; first++)
        for (enum way second = first; second < WAYS; second++)
            two_starts(c, first, second);
    ANeuralNetworksCompilation_free(c);
    ANeuralNetworksModel_free(m);
}
END_TEST

/* Two executions of one burst: the second may find it busy. */
START_TEST(one_burst_twice)
{
    float in[N] = { 1, 2, 3 }, out[2][N];
    ANeuralNetworksBurst *burst;

    use_devices(configured[_i]);
    ANeuralNetworksModel *m = add_model(N);
    ANeuralNetworksCompilation *c = compile_on(m, device_at(0));
    OK(ANeuralNetworksBurst_create(c, &burst));
    for (int i = 0; i < TURNS; i++) {
        struct starter s[2];
        for (int k = 0; k < 2; k++)
            s[k] = (struct starter){ add_execution(c, false, in, out[k]), burst, NULL, BURST, 0 };
        ck_assert_int_ge(start_both(s), 1);
        for (int k = 0; k < 2; k++)
            ANeuralNetworksExecution_free(s[k].execution);
    }
    ANeuralNetworksBurst_free(burst);
    ANeuralNetworksCompilation_free(c);
    ANeuralNetworksModel_free(m);
}
END_TEST

static void *wait_for(void *event)
{
    return (void *) (intptr_t) ANeuralNetworksEvent_wait(event);
}

/* Any number of threads wait for one event. */
START_TEST(one_event_many_waits)
{
    float in[N] = { 1, 2, 3 }, out[N];

    use_devices(configured[_i]);
    ANeuralNetworksModel *m = add_model(N);
    ANeuralNetworksCompilation *c = compile_on(m, device_at(0));
    for (int i = 0; i < TURNS; i++) {
        ANeuralNetworksExecution *e = add_execution(c, false, in, out);
        ANeuralNetworksEvent *ev;
        pthread_t thread[3];
        OK(i % 2 ? ANeuralNetworksExecution_startCompute(e, &ev)
                 : ANeuralNetworksExecution_startComputeWithDependencies(e, NULL, 0, 0, &ev));
        for (int k = 0; k < 3; k++)
            ck_assert_int_eq(pthread_create(&thread[k], NULL, wait_for, ev), 0);
        for (int k = 0; k < 3; k++) {
            void *result;
            pthread_join(thread[k], &result);
            ck_assert_ptr_null(result);
        }
        ck_assert(out[1] == 4);
        ANeuralNetworksEvent_free(ev);
        ANeuralNetworksExecution_free(e);
    }
    ANeuralNetworksCompilation_free(c);
    ANeuralNetworksModel_free(m);
}
END_TEST

/* ---- executions of one compilation at once, each with its own memory, freed in between */

struct worker {
    ANeuralNetworksCompilation *compilation;
    ANeuralNetworksBurst *burst; /* of this thread */
    int fd;
};

static void *work(void *argument)
{
    const struct worker *w = argument;

    for (int i = 0; i < TURNS; i++) {
        float in[N] = { 1, 2, (float) i }, out[N] = { 0 };
        ANeuralNetworksExecution *e;
        ANeuralNetworksMemory *memory;
        OK(ANeuralNetworksMemory_createFromFd(BYTES, PROT_READ | PROT_WRITE, w->fd, 0, &memory));
        OK(ANeuralNetworksExecution_create(w->compilation, &e));
        OK(ANeuralNetworksExecution_setReusable(e, i % 2));
        OK(ANeuralNetworksExecution_setInput(e, 0, NULL, in, BYTES));
        OK(ANeuralNetworksExecution_setInputFromMemory(e, 1, NULL, memory, 0, BYTES));
        OK(ANeuralNetworksExecution_setOutput(e, 0, NULL, out, BYTES));
        OK(i % 3 ? ANeuralNetworksExecution_burstCompute(e, w->burst)
                 : ANeuralNetworksExecution_compute(e));
        ck_assert(out[0] == 1 && out[2] == (float) i);
        ANeuralNetworksMemory_free(memory);
        ANeuralNetworksExecution_free(e);
    }
    return NULL;
}

START_TEST(many_executions_at_once)
{
    enum { THREADS = 4 };
    struct worker w[THREADS];
    pthread_t thread[THREADS];

    use_devices(configured[_i]);
    ANeuralNetworksModel *m = add_model(N);
    ANeuralNetworksCompilation *c = compile_on(m, device_at(0));
    for (int i = 0; i < THREADS; i++) {
        w[i] = (struct worker){ c, NULL, memfd_create("test", MFD_CLOEXEC) };
        ck_assert_int_eq(ftruncate(w[i].fd, BYTES), 0);
        OK(ANeuralNetworksBurst_create(c, &w[i].burst));
        ck_assert_int_eq(pthread_create(&thread[i], NULL, work, &w[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        ANeuralNetworksBurst_free(w[i].burst);
        close(w[i].fd);
    }
    ANeuralNetworksCompilation_free(c);
    ANeuralNetworksModel_free(m);
}
END_TEST

Suite *api_races_suite(void)
{
    TCase *starts = tcase_create("starts"), *at_once = tcase_create("at once");

    tcase_add_loop_test(starts, one_execution_twice, 0, CONFIGURED);
    tcase_add_loop_test(starts, one_burst_twice, 0, CONFIGURED);
    tcase_add_loop_test(starts, one_event_many_waits, 0, CONFIGURED);
    tcase_add_loop_test(at_once, many_executions_at_once, 0, CONFIGURED);
    return make_suite("api_races", starts, at_once, NULL);
}
