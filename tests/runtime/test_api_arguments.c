/* Checks of calls in their order: compilations, executions, memories, events, and their states. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/include/NeuralNetworksExtensions.h"
#include "tests/runtime/nnapi_client.h"
#include "tests/support/check_main.h"

enum { N = 3, BYTES = N * sizeof(float) };
static float x[2 * N];
static const uint32_t three = N, two = 2, zero = 0, four = 4;

static ANeuralNetworksModel *m;
static ANeuralNetworksCompilation *c;
static ANeuralNetworksExecution *e;

static void new_execution(void)
{
    ANeuralNetworksExecution_free(e);
    OK(ANeuralNetworksExecution_create(c, &e));
}

/* A model of n elements, compiled for the reference alone; 0: not known. */
static void setup_of(uint32_t n)
{
    use_devices("%s");
    m = add_model(n);
    c = compile_on(m, device_named("nnapi-reference"));
    new_execution();
}

static void teardown(void)
{
    ANeuralNetworksExecution_free(e);
    ANeuralNetworksCompilation_free(c);
    ANeuralNetworksModel_free(m);
    e = NULL;
}

static void set_all(void)
{
    OK(ANeuralNetworksExecution_setInput(e, 0, NULL, x, BYTES));
    OK(ANeuralNetworksExecution_setInput(e, 1, NULL, x, BYTES));
    OK(ANeuralNetworksExecution_setOutput(e, 0, NULL, x + N, BYTES));
}

/* ---- compilations */

START_TEST(creating_compilations)
{
    ANeuralNetworksModel *open;
    ANeuralNetworksCompilation *made = (ANeuralNetworksCompilation *) &made;
    ANeuralNetworksDevice *d[3];

    setup_of(N);
    OK(ANeuralNetworksModel_create(&open));
    d[0] = d[1] = device_at(0);
    d[2] = device_at(1);
    const ANeuralNetworksDevice *const *list = (const ANeuralNetworksDevice *const *) d;
    EXPECT(ANeuralNetworksCompilation_create(NULL, &made), UNEXPECTED_NULL);
    ck_assert_ptr_null(made);
    EXPECT(ANeuralNetworksCompilation_create(m, NULL), UNEXPECTED_NULL);
    EXPECT(ANeuralNetworksCompilation_create(open, &made), BAD_STATE);
    EXPECT(ANeuralNetworksCompilation_createForDevices(m, NULL, 1, &made), UNEXPECTED_NULL);
    EXPECT(ANeuralNetworksCompilation_createForDevices(m, list, 0, &made), BAD_DATA);
    EXPECT(ANeuralNetworksCompilation_createForDevices(m, list, 2, &made), BAD_DATA);
    EXPECT(ANeuralNetworksCompilation_createForDevices(open, list + 1, 2, &made), BAD_STATE);
    d[1] = NULL;
    EXPECT(ANeuralNetworksCompilation_createForDevices(m, list, 2, &made), UNEXPECTED_NULL);
    d[1] = (ANeuralNetworksDevice *) &x;
    EXPECT(ANeuralNetworksCompilation_createForDevices(m, list, 2, &made), BAD_DATA);
    ANeuralNetworksModel_free(open);
    ANeuralNetworksCompilation_free(NULL);
    teardown();
}
END_TEST

START_TEST(settings_of_compilations)
{
    const uint8_t token[32] = { 1 };
    ANeuralNetworksCompilation *all, *one;
    ANeuralNetworksExecution *none;
    const ANeuralNetworksDevice *d;
    uint32_t size;

    setup_of(N);
    d = device_at(0);
    OK(ANeuralNetworksCompilation_create(m, &all));
    OK(ANeuralNetworksCompilation_createForDevices(m, &d, 1, &one));
    EXPECT(ANeuralNetworksCompilation_setPreference(NULL, 0), UNEXPECTED_NULL);
    EXPECT(ANeuralNetworksCompilation_setPreference(all, 3), BAD_DATA);
    EXPECT(ANeuralNetworksCompilation_setPreference(all, -1), BAD_DATA);
    OK(ANeuralNetworksCompilation_setPreference(all, ANEURALNETWORKS_PREFER_LOW_POWER));
    EXPECT(ANeuralNetworksCompilation_setPriority(NULL, 90), UNEXPECTED_NULL);
    EXPECT(ANeuralNetworksCompilation_setPriority(all, 91), BAD_DATA);
    OK(ANeuralNetworksCompilation_setPriority(all, ANEURALNETWORKS_PRIORITY_LOW));
    EXPECT(ANeuralNetworksCompilation_setTimeout(NULL, 1), UNEXPECTED_NULL);
    EXPECT(ANeuralNetworksCompilation_setTimeout(all, 1), BAD_DATA);
    OK(ANeuralNetworksCompilation_setTimeout(one, UINT64_MAX));
    EXPECT(ANeuralNetworksCompilation_setCaching(all, NULL, token), UNEXPECTED_NULL);
    EXPECT(ANeuralNetworksCompilation_setCaching(all, "/nowhere", NULL), UNEXPECTED_NULL);
    OK(ANeuralNetworksCompilation_setCaching(all, "/nowhere", token));
    EXPECT(ANeuralNetworksCompilation_addExtensionAttribute(one, NULL, 0, x, 1), UNEXPECTED_NULL);
    EXPECT(ANeuralNetworksCompilation_addExtensionAttribute(one, "a.b", 0, NULL, 1),
           UNEXPECTED_NULL);
    EXPECT(ANeuralNetworksCompilation_addExtensionAttribute(all, "a.b", 0, x, 1), BAD_DATA);
    OK(ANeuralNetworksCompilation_addExtensionAttribute(one, "a.b", 0, x, 1));
    OK(ANeuralNetworksCompilation_addExtensionAttribute(one, "a.b", 1, x, 1));
    EXPECT(ANeuralNetworksCompilation_addExtensionAttribute(one, "a.b", 1, x, 1), BAD_DATA);
    EXPECT(ANeuralNetworksCompilation_getPreferredMemoryAlignmentForInput(one, 0, &size),
           BAD_STATE);
    EXPECT(ANeuralNetworksExecution_create(one, &none), BAD_STATE);
    ck_assert_ptr_null(none);
    EXPECT(ANeuralNetworksCompilation_finish(NULL), UNEXPECTED_NULL);
    OK(ANeuralNetworksCompilation_finish(one));
    OK(ANeuralNetworksCompilation_finish(all));
    EXPECT(ANeuralNetworksCompilation_finish(all), BAD_STATE);
    /* The state comes before the values. */
    EXPECT(ANeuralNetworksCompilation_setPreference(all, 3), BAD_STATE);
    EXPECT(ANeuralNetworksCompilation_setPriority(all, 91), BAD_STATE);
    EXPECT(ANeuralNetworksCompilation_setTimeout(all, 1), BAD_STATE);
    EXPECT(ANeuralNetworksCompilation_setCaching(all, "/", token), BAD_STATE);
    EXPECT(ANeuralNetworksCompilation_addExtensionAttribute(all, "a.b", 2, x, 1), BAD_STATE);
    ANeuralNetworksCompilation_free(one);
    ANeuralNetworksCompilation_free(all);
    teardown();
}
END_TEST

START_TEST(preferred_memory)
{
    static const int hal[] = { 10, 13, 15, 18 };
    static const uint32_t padding[] = { 1, 1, 64, 64 };
    char text[32];
    uint32_t size;

    snprintf(text, sizeof text, "%%s?hal=%d", hal[_i]);
    use_devices(text);
    m = add_model(N);
    c = compile_on(m, device_at(0));
    OK(ANeuralNetworksCompilation_getPreferredMemoryAlignmentForInput(c, 1, &size));
    ck_assert_uint_eq(size, 64);
    OK(ANeuralNetworksCompilation_getPreferredMemoryAlignmentForOutput(c, 0, &size));
    ck_assert_uint_eq(size, 64);
    OK(ANeuralNetworksCompilation_getPreferredMemoryPaddingForInput(c, 0, &size));
    ck_assert_uint_eq(size, padding[_i]);
    OK(ANeuralNetworksCompilation_getPreferredMemoryPaddingForOutput(c, 0, &size));
    ck_assert_uint_eq(size, padding[_i]);
    EXPECT(ANeuralNetworksCompilation_getPreferredMemoryPaddingForInput(c, 2, &size), BAD_DATA);
    EXPECT(ANeuralNetworksCompilation_getPreferredMemoryPaddingForOutput(c, 1, &size), BAD_DATA);
    EXPECT(ANeuralNetworksCompilation_getPreferredMemoryPaddingForOutput(c, 0, NULL),
           UNEXPECTED_NULL);
    EXPECT(ANeuralNetworksCompilation_getPreferredMemoryPaddingForOutput(NULL, 0, &size),
           UNEXPECTED_NULL);
    teardown();
}
END_TEST

/* ---- arguments of executions */

struct row {
    bool is_output;
    int32_t index;
    const uint32_t *dimension; /* of the type; NULL: no type */
    uint32_t rank;
    bool has_buffer;
    size_t length;
    bool is_padded;
    int expected;
};

static int set(const struct row *r)
{
    const ANeuralNetworksOperandType type = { ANEURALNETWORKS_TENSOR_FLOAT32, r->rank, r->dimension,
                                              0, 0 };
    const ANeuralNetworksOperandType *given = r->dimension ? &type : NULL;
    float *buffer = r->has_buffer ? x : NULL;

    return r->is_output ? ANeuralNetworksExecution_setOutput(e, r->index, given, buffer, r->length)
                        : ANeuralNetworksExecution_setInput(e, r->index, given, buffer, r->length);
}

#define BD ANEURALNETWORKS_BAD_DATA
#define UN ANEURALNETWORKS_UNEXPECTED_NULL
#define NE ANEURALNETWORKS_NO_ERROR

/* The model's dimension is known. */
static const struct row known[] = {
    { 0, 0, NULL, 0, true, BYTES, false, NE },
    { 1, 0, NULL, 0, true, BYTES, false, NE },
    { 0, -1, NULL, 0, true, BYTES, false, BD },
    { 0, 2, NULL, 0, true, BYTES, false, BD },
    { 1, 1, NULL, 0, true, BYTES, false, BD },
    { 0, 0, NULL, 0, false, BYTES, false, UN },
    { 0, 0, NULL, 0, false, 0, false, NE },
    { 1, 0, NULL, 0, false, 0, false, NE },
    { 0, 0, NULL, 0, true, 0, false, BD },
    { 1, 0, NULL, 0, true, 0, false, BD },
    { 0, 0, NULL, 0, true, BYTES - 1, false, BD },
    { 1, 0, NULL, 0, true, BYTES - 1, false, BD },
    { 0, 0, NULL, 0, true, BYTES + 1, false, BD },
    { 1, 0, NULL, 0, true, BYTES + 1, false, BD },
    { 0, 0, NULL, 0, true, BYTES + 1, true, NE },
    { 1, 0, NULL, 0, true, BYTES + 1, true, NE },
    { 0, 0, NULL, 0, true, BYTES - 1, true, BD },
    { 0, 0, &three, 1, true, BYTES, false, NE },
    { 1, 0, &three, 1, true, BYTES, false, NE },
    { 0, 0, &two, 1, true, 8, false, BD },
    { 1, 0, &two, 1, true, 8, false, BD },
    { 1, 0, &zero, 1, true, BYTES, false, BD },
    { 0, 0, (const uint32_t[]){ 3, 1 }, 2, true, BYTES, false, BD },
    { 0, 0, NULL, 0, true, (size_t) 1 << 32, true, BD },
};
/* It is not. */
static const struct row unknown[] = {
    { 0, 0, NULL, 0, true, BYTES, false, BD },   { 0, 0, NULL, 0, false, 0, false, NE },
    { 1, 0, NULL, 0, true, 1, false, NE },       { 1, 0, NULL, 0, true, 0, false, BD },
    { 0, 0, &three, 1, true, BYTES, false, NE }, { 0, 0, &zero, 1, true, BYTES, false, BD },
    { 1, 0, &zero, 1, true, BYTES, false, NE },  { 1, 0, &four, 1, true, BYTES, false, BD },
    { 1, 0, &two, 1, true, BYTES, false, BD },   { 1, 0, &two, 1, true, BYTES, true, NE },
};

static void check_rows(const struct row *rows, size_t n, uint32_t dimension)
{
    setup_of(dimension);
    for (size_t i = 0; i < n; i++) {
        new_execution();
        OK(ANeuralNetworksExecution_enableInputAndOutputPadding(e, rows[i].is_padded));
        int result = set(&rows[i]);
        ck_assert_msg(result == rows[i].expected, "row %zu: %d", i, result);
        /* A failed call changes nothing; one that succeeded may not be repeated. */
        struct row again = { rows[i].is_output,
                             0,
                             &three,
                             1,
                             true,
                             BYTES,
                             rows[i].is_padded,
                             result ? NE : ANEURALNETWORKS_BAD_STATE };
        ck_assert_int_eq(set(&again), again.expected);
    }
    teardown();
}

START_TEST(arguments)
{
    check_rows(known, sizeof known / sizeof *known, N);
    check_rows(unknown, sizeof unknown / sizeof *unknown, 0);
}
END_TEST

START_TEST(padding_latch)
{
    setup_of(N);
    EXPECT(ANeuralNetworksExecution_enableInputAndOutputPadding(NULL, true), UNEXPECTED_NULL);
    OK(ANeuralNetworksExecution_enableInputAndOutputPadding(e, true));
    OK(ANeuralNetworksExecution_enableInputAndOutputPadding(e, false));
    EXPECT(ANeuralNetworksExecution_setInput(e, 7, NULL, x, BYTES), BAD_DATA);
    EXPECT(ANeuralNetworksExecution_enableInputAndOutputPadding(e, false), BAD_STATE);
    teardown();
}
END_TEST

/* ---- memories */

START_TEST(memories)
{
    ANeuralNetworksMemory *memory = (ANeuralNetworksMemory *) &memory, *readable;
    int fd = memfd_create("test", MFD_CLOEXEC);

    setup_of(N);
    ck_assert_int_eq(ftruncate(fd, 4096), 0);
    EXPECT(ANeuralNetworksMemory_createFromFd(64, PROT_READ, fd, 0, NULL), UNEXPECTED_NULL);
    EXPECT(ANeuralNetworksMemory_createFromFd(64, PROT_READ, -1, 0, &memory), OP_FAILED);
    ck_assert_ptr_null(memory);
    EXPECT(ANeuralNetworksMemory_createFromFd(64, PROT_READ, 9999, 0, &memory), OP_FAILED);
    OK(ANeuralNetworksMemory_createFromFd(64, PROT_READ | PROT_WRITE, fd, 0, &memory));
    OK(ANeuralNetworksMemory_createFromFd(64, PROT_READ, fd, 0, &readable));
    EXPECT(ANeuralNetworksExecution_setInputFromMemory(e, 0, NULL, NULL, 0, BYTES),
           UNEXPECTED_NULL);
    EXPECT(ANeuralNetworksExecution_setInputFromMemory(NULL, 0, NULL, memory, 0, BYTES),
           UNEXPECTED_NULL);
    EXPECT(ANeuralNetworksExecution_setInputFromMemory(e, 2, NULL, memory, 0, BYTES), BAD_DATA);
    EXPECT(ANeuralNetworksExecution_setInputFromMemory(e, 0, NULL, memory, 0, 0), BAD_DATA);
    EXPECT(ANeuralNetworksExecution_setInputFromMemory(e, 0, NULL, memory, 56, BYTES), BAD_DATA);
    EXPECT(ANeuralNetworksExecution_setInputFromMemory(e, 0, NULL, memory, SIZE_MAX - 4, BYTES),
           BAD_DATA);
    EXPECT(ANeuralNetworksExecution_setInputFromMemory(e, 0, NULL, memory, 0, BYTES + 4), BAD_DATA);
    OK(ANeuralNetworksExecution_setInputFromMemory(e, 0, NULL, readable, 52, BYTES));
    EXPECT(ANeuralNetworksExecution_setInputFromMemory(e, 0, NULL, memory, 0, BYTES), BAD_STATE);
    OK(ANeuralNetworksExecution_setInputFromMemory(e, 1, NULL, memory, 0, BYTES));
    OK(ANeuralNetworksExecution_setOutputFromMemory(e, 0, NULL, memory, 16, BYTES));
    OK(ANeuralNetworksExecution_compute(e));
    ANeuralNetworksMemory_free(memory);
    ANeuralNetworksMemory_free(readable);
    ANeuralNetworksMemory_free(NULL);
    close(fd);
    teardown();
}
END_TEST

/* What cannot be mapped is found at the execution, not by a signal. */
START_TEST(memories_that_cannot_be_mapped)
{
    static const size_t rows[][2] = { { 64, 1 }, { 8192, 0 }, { 64, 1 << 20 } }; /* size, offset */
    int fd = memfd_create("test", MFD_CLOEXEC);

    setup_of(N);
    ck_assert_int_eq(ftruncate(fd, 4096), 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ANeuralNetworksMemory *memory;
        new_execution();
        OK(ANeuralNetworksMemory_createFromFd(rows[i][0], PROT_READ, fd, rows[i][1], &memory));
        OK(ANeuralNetworksExecution_setInputFromMemory(e, 0, NULL, memory, 0, BYTES));
        OK(ANeuralNetworksExecution_setInput(e, 1, NULL, x, BYTES));
        OK(ANeuralNetworksExecution_setOutput(e, 0, NULL, x + N, BYTES));
        EXPECT(ANeuralNetworksExecution_compute(e), UNMAPPABLE);
        ANeuralNetworksMemory_free(memory);
    }
    close(fd);
    teardown();
}
END_TEST

/* ---- states */

START_TEST(incomplete_executions)
{
    ANeuralNetworksEvent *ev = (ANeuralNetworksEvent *) &ev;
    uint32_t n;

    setup_of(N);
    for (int reusable = 0; reusable < 2; reusable++) {
        new_execution();
        OK(ANeuralNetworksExecution_setReusable(e, reusable));
        OK(ANeuralNetworksExecution_setInput(e, 0, NULL, x, BYTES));
        EXPECT(ANeuralNetworksExecution_startCompute(e, &ev), BAD_DATA);
        ck_assert_ptr_null(ev);
        EXPECT(ANeuralNetworksExecution_setInput(e, 1, NULL, x, BYTES), BAD_STATE);
        ck_assert_int_eq(ANeuralNetworksExecution_compute(e),
                         reusable ? ANEURALNETWORKS_BAD_DATA : ANEURALNETWORKS_BAD_STATE);
        EXPECT(ANeuralNetworksExecution_getOutputOperandRank(e, 0, &n), BAD_STATE);
    }
    teardown();
}
END_TEST

START_TEST(completed_executions)
{
    uint32_t n;

    setup_of(N);
    for (int reusable = 0; reusable < 2; reusable++) {
        new_execution();
        set_all();
        OK(ANeuralNetworksExecution_setReusable(e, reusable));
        OK(ANeuralNetworksExecution_setLoopTimeout(e, UINT64_MAX));
        EXPECT(ANeuralNetworksExecution_getOutputOperandRank(e, 0, &n), BAD_STATE);
        OK(ANeuralNetworksExecution_compute(e));
        EXPECT(ANeuralNetworksExecution_setInput(e, 9, NULL, x, BYTES), BAD_STATE);
        EXPECT(ANeuralNetworksExecution_setOutput(e, 9, NULL, x, BYTES), BAD_STATE);
        EXPECT(ANeuralNetworksExecution_setReusable(e, true), BAD_STATE);
        EXPECT(ANeuralNetworksExecution_setLoopTimeout(e, 1), BAD_STATE);
        EXPECT(ANeuralNetworksExecution_enableInputAndOutputPadding(e, true), BAD_STATE);
        EXPECT(ANeuralNetworksExecution_setTimeout(e, 1), BAD_STATE);
        EXPECT(ANeuralNetworksExecution_addExtensionAttribute(e, "a.b", 1, x, 1), BAD_STATE);
        EXPECT(ANeuralNetworksExecution_getOutputOperandRank(e, 1, &n), BAD_DATA);
        EXPECT(ANeuralNetworksExecution_getOutputOperandRank(e, -1, &n), BAD_DATA);
        EXPECT(ANeuralNetworksExecution_getOutputOperandRank(e, 0, NULL), UNEXPECTED_NULL);
        EXPECT(ANeuralNetworksExecution_getOutputOperandDimensions(NULL, 0, &n), UNEXPECTED_NULL);
        ck_assert_int_eq(ANeuralNetworksExecution_compute(e),
                         reusable ? ANEURALNETWORKS_NO_ERROR : ANEURALNETWORKS_BAD_STATE);
    }
    teardown();
}
END_TEST

START_TEST(bursts_and_events)
{
    ANeuralNetworksCompilation *other;
    ANeuralNetworksBurst *burst = (ANeuralNetworksBurst *) &burst;
    ANeuralNetworksEvent *ev = (ANeuralNetworksEvent *) &ev;
    int fd, ends[2];

    setup_of(N);
    OK(ANeuralNetworksCompilation_create(m, &other));
    EXPECT(ANeuralNetworksBurst_create(NULL, &burst), UNEXPECTED_NULL);
    ck_assert_ptr_null(burst);
    EXPECT(ANeuralNetworksBurst_create(c, NULL), UNEXPECTED_NULL);
    EXPECT(ANeuralNetworksBurst_create(other, &burst), BAD_STATE);
    OK(ANeuralNetworksCompilation_finish(other));
    OK(ANeuralNetworksBurst_create(other, &burst));
    set_all();
    EXPECT(ANeuralNetworksExecution_burstCompute(e, burst), BAD_DATA);
    EXPECT(ANeuralNetworksExecution_burstCompute(NULL, burst), UNEXPECTED_NULL);
    EXPECT(ANeuralNetworksExecution_burstCompute(e, NULL), UNEXPECTED_NULL);
    ANeuralNetworksBurst_free(burst);
    ANeuralNetworksBurst_free(NULL);
    ANeuralNetworksCompilation_free(other);

    EXPECT(ANeuralNetworksExecution_startCompute(NULL, &ev), UNEXPECTED_NULL);
    ck_assert_ptr_null(ev);
    EXPECT(ANeuralNetworksExecution_startCompute(e, NULL), UNEXPECTED_NULL);
    EXPECT(ANeuralNetworksExecution_startComputeWithDependencies(e, NULL, 1, 0, &ev),
           UNEXPECTED_NULL);
    EXPECT(ANeuralNetworksExecution_startComputeWithDependencies(
               e, (const ANeuralNetworksEvent *const[]){ NULL }, 1, 0, &ev),
           UNEXPECTED_NULL);
    EXPECT(ANeuralNetworksEvent_wait(NULL), UNEXPECTED_NULL);
    ANeuralNetworksEvent_free(NULL);
    EXPECT(ANeuralNetworksEvent_createFromSyncFenceFd(0, &ev), BAD_DATA);
    ck_assert_ptr_null(ev);
    EXPECT(ANeuralNetworksEvent_createFromSyncFenceFd(-1, &ev), BAD_DATA);
    EXPECT(ANeuralNetworksEvent_createFromSyncFenceFd(3, NULL), UNEXPECTED_NULL);
    EXPECT(ANeuralNetworksEvent_getSyncFenceFd(NULL, &fd), UNEXPECTED_NULL);
    ck_assert_int_eq(fd, -1);

    /* A fence that fails: the event, and an execution that depends on it. */
    ck_assert_int_eq(pipe(ends), 0);
    OK(ANeuralNetworksEvent_createFromSyncFenceFd(ends[0], &ev));
    EXPECT(ANeuralNetworksEvent_getSyncFenceFd(ev, NULL), UNEXPECTED_NULL);
    close(ends[0]);
    close(ends[1]);
    ANeuralNetworksEvent *failed = ev;
    EXPECT(ANeuralNetworksExecution_startComputeWithDependencies(
               e, (const ANeuralNetworksEvent *const *) &failed, 1, 0, &ev),
           OP_FAILED);
    ck_assert_ptr_null(ev);
    EXPECT(ANeuralNetworksEvent_wait(failed), OP_FAILED);
    ANeuralNetworksEvent_free(failed);

    new_execution();
    set_all();
    OK(ANeuralNetworksExecution_startCompute(e, &ev));
    EXPECT(ANeuralNetworksEvent_getSyncFenceFd(ev, &fd), BAD_DATA);
    OK(ANeuralNetworksEvent_wait(ev));
    ANeuralNetworksEvent_free(ev);
    ANeuralNetworksExecution_free(NULL);
    teardown();
}
END_TEST

Suite *api_arguments_suite(void)
{
    TCase *compilations = tcase_create("compilations"), *given = tcase_create("arguments"),
          *states = tcase_create("states");

    tcase_add_test(compilations, creating_compilations);
    tcase_add_test(compilations, settings_of_compilations);
    tcase_add_loop_test(compilations, preferred_memory, 0, 4);
    tcase_add_test(given, arguments);
    tcase_add_test(given, padding_latch);
    tcase_add_test(given, memories);
    tcase_add_test(given, memories_that_cannot_be_mapped);
    tcase_add_test(states, incomplete_executions);
    tcase_add_test(states, completed_executions);
    tcase_add_test(states, bursts_and_events);
    return make_suite("api_arguments", compilations, given, states, NULL);
}
