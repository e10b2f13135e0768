/* What becomes of a driver's statuses, shapes and durations: with each way of execution, with and
 * without the reference to fall back to. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/runtime/nnapi_client.h"
#include "tests/support/check_main.h"

/* HAL statuses and the results that belong to them. */
static const int results[] = {
    ANEURALNETWORKS_NO_ERROR,
    ANEURALNETWORKS_UNAVAILABLE_DEVICE,
    ANEURALNETWORKS_OP_FAILED,
    ANEURALNETWORKS_OUTPUT_INSUFFICIENT_SIZE,
    ANEURALNETWORKS_BAD_DATA,
    ANEURALNETWORKS_MISSED_DEADLINE_TRANSIENT,
    ANEURALNETWORKS_MISSED_DEADLINE_PERSISTENT,
    ANEURALNETWORKS_RESOURCE_EXHAUSTED_TRANSIENT,
    ANEURALNETWORKS_RESOURCE_EXHAUSTED_PERSISTENT,
};
enum { STATUSES = sizeof results / sizeof *results, INSUFFICIENT = 3 };
static const int hal_versions[] = { 10, 11, 12, 13, 15, 18 };
enum { VERSIONS = sizeof hal_versions / sizeof *hal_versions };

/* Sets the one driver's arguments. */
__attribute__((format(printf, 1, 2))) static void use_script(const char *format, ...)
{
    char arguments[128], text[160];
    va_list ap;

    va_start(ap, format);
    vsnprintf(arguments, sizeof arguments, format, ap);
    va_end(ap);
    snprintf(text, sizeof text, "%%s?%s", arguments);
    use_devices(text);
}

enum { MARKER = -1, FLOOR_OF_IN = 2 }; /* what the driver and the reference compute from 2.5 */

struct floor_run {
    ANeuralNetworksModel *model;
    ANeuralNetworksCompilation *compilation;
    ANeuralNetworksExecution *execution;
    ANeuralNetworksBurst *burst;
    float in, out;
};

static void floor_open(struct floor_run *r, bool explicit_list, bool reusable)
{
    *r = (struct floor_run){ .in = 2.5f };
    r->model = floor_model();
    r->compilation = compile_on(r->model, explicit_list ? device_at(0) : NULL);
    OK(ANeuralNetworksBurst_create(r->compilation, &r->burst));
    OK(ANeuralNetworksExecution_create(r->compilation, &r->execution));
    OK(ANeuralNetworksExecution_setReusable(r->execution, reusable));
    OK(ANeuralNetworksExecution_setInput(r->execution, 0, NULL, &r->in, sizeof r->in));
    OK(ANeuralNetworksExecution_setOutput(r->execution, 0, NULL, &r->out, sizeof r->out));
}

static void floor_close(struct floor_run *r)
{
    ANeuralNetworksExecution_free(r->execution);
    ANeuralNetworksBurst_free(r->burst);
    ANeuralNetworksCompilation_free(r->compilation);
    ANeuralNetworksModel_free(r->model);
}

static int wait_and_free(ANeuralNetworksEvent *ev)
{
    int result = ANeuralNetworksEvent_wait(ev);

    ANeuralNetworksEvent_free(ev);
    return result;
}

static int compute(struct floor_run *r)
{
    return ANeuralNetworksExecution_compute(r->execution);
}

static int burst(struct floor_run *r)
{
    return ANeuralNetworksExecution_burstCompute(r->execution, r->burst);
}

static int start(struct floor_run *r)
{
    ANeuralNetworksEvent *ev;

    OK(ANeuralNetworksExecution_startCompute(r->execution, &ev));
    return wait_and_free(ev);
}

static int (*const ways[])(struct floor_run *r) = { compute, burst, start };
enum { WAYS = sizeof ways / sizeof *ways };

/* The dimensions of the output, and the result of asking for them. */
static void check_dimensions(struct floor_run *r, int result)
{
    bool readable =
        result == ANEURALNETWORKS_NO_ERROR || result == ANEURALNETWORKS_OUTPUT_INSUFFICIENT_SIZE;
    uint32_t rank, n = 0;

    ck_assert_int_eq(ANeuralNetworksExecution_getOutputOperandDimensions(r->execution, 0, &n),
                     readable ? result : ANEURALNETWORKS_BAD_STATE);
    ck_assert_int_eq(ANeuralNetworksExecution_getOutputOperandRank(r->execution, 0, &rank),
                     readable ? result : ANEURALNETWORKS_BAD_STATE);
    if (readable)
        ck_assert(n == 1 && rank == 1);
}

/* The status of every version, with an explicit list: the mapped result, no fallback.  Before HAL
 * 1.2 there are no shapes, so that an output that is too small is a broken protocol. */
START_TEST(statuses)
{
    const int hal = hal_versions[_i / STATUSES], status = _i % STATUSES;
    int expected = results[status];

    if (status == INSUFFICIENT && hal < 12)
        expected = ANEURALNETWORKS_OP_FAILED;
    use_script("hal=%d&execute=%d&shapes=%d", hal, status, status == INSUFFICIENT ? 2 : 0);
    for (int way = 0; way < WAYS; way++)
        for (int reusable = 0; reusable < 2; reusable++) {
            struct floor_run r;
            floor_open(&r, true, reusable);
            for (int i = 0; i <= reusable; i++) {
                ck_assert_int_eq(ways[way](&r), expected);
                check_dimensions(&r, expected);
                ck_assert(status != 0 || r.out == MARKER);
            }
            floor_close(&r);
        }
}
END_TEST

/* In a list that the library chooses from, the reference computes what the driver fails at. */
START_TEST(fallback_of_executions)
{
    const int status = _i;

    use_script("hal=13&execute=%d&shapes=%d", status, status == INSUFFICIENT ? 2 : 0);
    for (int way = 0; way < WAYS; way++) {
        struct floor_run r;
        const bool is_final = status == 0 || status == INSUFFICIENT;
        floor_open(&r, false, true);
        for (int i = 0; i < 2; i++) {
            r.out = 0;
            ck_assert_int_eq(ways[way](&r), is_final ? results[status] : 0);
            ck_assert(status == INSUFFICIENT || r.out == (status ? FLOOR_OF_IN : MARKER));
        }
        floor_close(&r);
    }
}
END_TEST

/* Without it: partition 2. */
START_TEST(no_fallback_without_leave)
{
    struct floor_run r;

    setenv("HALCYON_DEBUG_NN_PARTITION", "2", 1);
    use_devices("%s?execute=2");
    floor_open(&r, false, false);
    EXPECT(compute(&r), OP_FAILED);
    floor_close(&r);
}
END_TEST

START_TEST(partition_0_uses_the_reference)
{
    struct floor_run r;

    setenv("HALCYON_DEBUG_NN_PARTITION", "0", 1);
    use_devices("%s");
    floor_open(&r, false, false);
    OK(compute(&r));
    ck_assert(r.out == FLOOR_OF_IN);
    floor_close(&r);
}
END_TEST

START_TEST(cpuonly_uses_the_reference)
{
    struct floor_run r;

    setenv("HALCYON_DEBUG_NN_CPUONLY", "1", 1);
    use_devices("%s");
    floor_open(&r, false, false);
    OK(compute(&r));
    ck_assert(r.out == FLOOR_OF_IN);
    floor_close(&r);
}
END_TEST

/* Compilations: INVALID_ARGUMENT is never recovered, other failures are where that is allowed. */
START_TEST(statuses_of_preparations)
{
    const int status = _i, expected = results[status];
    ANeuralNetworksModel *m;
    ANeuralNetworksCompilation *c;
    ANeuralNetworksExecution *e = NULL;
    ANeuralNetworksDevice *d;

    use_script("prepare=%d", status);
    d = device_at(0);
    m = floor_model();
    for (int explicit_list = 0; explicit_list < 2; explicit_list++) {
        if (explicit_list)
            OK(ANeuralNetworksCompilation_createForDevices(
                m, (const ANeuralNetworksDevice *const *) &d, 1, &c));
        else
            OK(ANeuralNetworksCompilation_create(m, &c));
        bool recovers = !explicit_list && expected != ANEURALNETWORKS_BAD_DATA;
        int result = ANeuralNetworksCompilation_finish(c);
        ck_assert_int_eq(result, recovers ? ANEURALNETWORKS_NO_ERROR : expected);
        EXPECT(ANeuralNetworksCompilation_finish(c), BAD_STATE);
        ck_assert_int_eq(ANeuralNetworksExecution_create(c, &e),
                         result ? ANEURALNETWORKS_BAD_STATE : ANEURALNETWORKS_NO_ERROR);
        ck_assert_int_eq(e != NULL, result == ANEURALNETWORKS_NO_ERROR);
        ANeuralNetworksExecution_free(e);
        ANeuralNetworksCompilation_free(c);
    }
    ANeuralNetworksModel_free(m);
}
END_TEST

/* ---- fenced */

/* At the launch: from the start, without an event. */
START_TEST(statuses_of_launches)
{
    const int hal = hal_versions[3 + _i / STATUSES], status = _i % STATUSES;

    if (status == INSUFFICIENT)
        return; /* outputs of fenced executions are known */
    use_script("hal=%d&fenced=%d", hal, status);
    for (int explicit_list = 0; explicit_list < 2; explicit_list++)
        for (int reusable = 0; reusable < 2; reusable++) {
            struct floor_run r;
            ANeuralNetworksEvent *ev;
            int expected = explicit_list ? results[status] : ANEURALNETWORKS_NO_ERROR;
            floor_open(&r, explicit_list, reusable);
            ck_assert_int_eq(
                ANeuralNetworksExecution_startComputeWithDependencies(r.execution, NULL, 0, 0, &ev),
                expected);
            ck_assert_int_eq(ev != NULL, expected == 0);
            if (ev)
                OK(wait_and_free(ev));
            else
                EXPECT(ANeuralNetworksEvent_wait(ev), UNEXPECTED_NULL);
            check_dimensions(&r, expected);
            ck_assert(expected || r.out == (status ? FLOOR_OF_IN : MARKER));
            floor_close(&r);
        }
}
END_TEST

/* At the end: from the event, each time that it is waited for. */
START_TEST(statuses_at_the_fence)
{
    const int fence = _i / STATUSES, status = _i % STATUSES;
    int expected = results[status];
    struct floor_run r;
    ANeuralNetworksEvent *ev;
    uint32_t n;
    int fd;

    if (fence == 2 && !status)
        expected = ANEURALNETWORKS_OP_FAILED;
    if (status == INSUFFICIENT)
        return;
    use_script("hal=13&wait=%d&fence=%d", status, fence);
    floor_open(&r, true, false);
    OK(ANeuralNetworksExecution_startComputeWithDependencies(r.execution, NULL, 0, 0, &ev));
    EXPECT(ANeuralNetworksExecution_getOutputOperandRank(r.execution, 0, &n), BAD_STATE);
    EXPECT(compute(&r), BAD_STATE);
    ck_assert_int_eq(ANeuralNetworksEvent_getSyncFenceFd(ev, &fd),
                     fence ? ANEURALNETWORKS_NO_ERROR : ANEURALNETWORKS_BAD_DATA);
    ck_assert_int_eq(fd >= 0, fence != 0);
    ck_assert_int_eq(ANeuralNetworksEvent_wait(ev), expected);
    ck_assert_int_eq(wait_and_free(ev), expected);
    check_dimensions(&r, expected);
    floor_close(&r);
}
END_TEST

/* ---- shapes */

/* A driver that contradicts the request: {2} for an output of {1}; shapes with a failure; a shape
 * that is insufficient with success; none with an output that is too small. */
START_TEST(broken_shapes)
{
    static const int rows[][2] = { { 0, 3 }, { 2, 1 }, { 0, 2 }, { 3, 0 }, { 3, 1 }, { 3, 3 } };

    use_script("hal=13&execute=%d&shapes=%d", rows[_i][0], rows[_i][1]);
    for (int way = 0; way < WAYS; way++) {
        struct floor_run r;
        floor_open(&r, true, false);
        EXPECT(ways[way](&r), OP_FAILED);
        check_dimensions(&r, ANEURALNETWORKS_OP_FAILED);
        floor_close(&r);
    }
}
END_TEST

/* ---- durations */

static void check_durations(struct floor_run *r, int result, uint64_t expected)
{
    for (int32_t code = 0; code < 4; code++) {
        uint64_t ns = 1;
        ck_assert_int_eq(ANeuralNetworksExecution_getDuration(r->execution, code, &ns), result);
        ck_assert_uint_eq(ns, expected);
    }
}

START_TEST(durations)
{
    const int hal = hal_versions[_i];
    struct floor_run r;
    uint64_t ns;

    use_script("hal=%d&ns=5000", hal);
    for (int way = 0; way < WAYS; way++)
        for (int measured = 0; measured < 2; measured++) {
            floor_open(&r, true, false);
            OK(ANeuralNetworksExecution_setMeasureTiming(r.execution, measured));
            check_durations(&r, ANEURALNETWORKS_BAD_STATE, UINT64_MAX);
            OK(ways[way](&r));
            check_durations(&r, measured ? ANEURALNETWORKS_NO_ERROR : ANEURALNETWORKS_BAD_STATE,
                            measured && hal >= 12 ? 5000 : UINT64_MAX);
            EXPECT(ANeuralNetworksExecution_getDuration(r.execution, -1, &ns), BAD_DATA);
            EXPECT(ANeuralNetworksExecution_getDuration(r.execution, 4, &ns), BAD_DATA);
            EXPECT(ANeuralNetworksExecution_setMeasureTiming(r.execution, true), BAD_STATE);
            floor_close(&r);
        }
    /* Not exactly one device: that comes first, whatever the state. */
    floor_open(&r, false, false);
    EXPECT(ANeuralNetworksExecution_setMeasureTiming(r.execution, true), BAD_DATA);
    EXPECT(ANeuralNetworksExecution_setTimeout(r.execution, 1), BAD_DATA);
    OK(compute(&r));
    EXPECT(ANeuralNetworksExecution_setMeasureTiming(r.execution, true), BAD_DATA);
    EXPECT(ANeuralNetworksExecution_setTimeout(r.execution, 1), BAD_DATA);
    floor_close(&r);
}
END_TEST

START_TEST(durations_after_failures)
{
    struct floor_run r;

    use_devices("%s?execute=2&ns=5000");
    for (int way = 0; way < WAYS; way++) {
        floor_open(&r, true, false);
        OK(ANeuralNetworksExecution_setMeasureTiming(r.execution, true));
        EXPECT(ways[way](&r), OP_FAILED);
        check_durations(&r, ANEURALNETWORKS_BAD_STATE, UINT64_MAX);
        floor_close(&r);
    }
}
END_TEST

/* The reference: time-outs that have passed, unknown durations are allowed. */
START_TEST(time_out_of_the_reference)
{
    struct floor_run r;
    int result;

    unsetenv("HALCYON_DEVICES");
    floor_open(&r, true, true);
    OK(ANeuralNetworksExecution_setTimeout(r.execution, 1));
    result = compute(&r);
    ck_assert(result == ANEURALNETWORKS_MISSED_DEADLINE_PERSISTENT ||
              result == ANEURALNETWORKS_MISSED_DEADLINE_TRANSIENT);
    floor_close(&r);
}
END_TEST

Suite *api_status_suite(void)
{
    TCase *executions = tcase_create("executions"), *preparations = tcase_create("preparations"),
          *fenced = tcase_create("fenced"), *times = tcase_create("times");

    tcase_add_loop_test(executions, statuses, 0, STATUSES * VERSIONS);
    tcase_add_loop_test(executions, fallback_of_executions, 0, STATUSES);
    tcase_add_test(executions, no_fallback_without_leave);
    tcase_add_test(executions, partition_0_uses_the_reference);
    tcase_add_test(executions, cpuonly_uses_the_reference);
    tcase_add_loop_test(executions, broken_shapes, 0, 6);
    tcase_add_loop_test(preparations, statuses_of_preparations, 0, STATUSES);
    tcase_add_loop_test(fenced, statuses_of_launches, 0, 3 * STATUSES);
    tcase_add_loop_test(fenced, statuses_at_the_fence, 0, 3 * STATUSES);
    tcase_add_loop_test(times, durations, 0, VERSIONS);
    tcase_add_test(times, durations_after_failures);
    tcase_add_test(times, time_out_of_the_reference);
    return make_suite("api_status", executions, preparations, fenced, times, NULL);
}
