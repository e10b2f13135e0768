/* Models whose operations are on several devices, executed: the scenarios of runtime.md 4.7, with
 * drivers that compute as the reference does; results known by hand. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/runtime/client_job.h"
#include "tests/support/check_main.h"

/* ---- 1, 3, 7, 11: values of known size between steps */

static float one[2] = { 1, -2 }, two[2] = { 10, -20 }, three[2] = { 100, 200 }, out[2][4];

/* o2 = a + b; o4 = relu(o2 + i3). */
static ANeuralNetworksModel *simple_model(void)
{
    struct net t = net_new();
    uint32_t a = floats(&t, 2), b = floats(&t, 2), c = floats(&t, 2), o = floats(&t, 2);
    uint32_t sum = fused(&t, ANEURALNETWORKS_ADD, 0, a, b, floats(&t, 2));

    fused(&t, ANEURALNETWORKS_ADD, 1, sum, c, o);
    finish(&t, LIST(a, b, c), LIST(o));
    return t.m;
}

static struct client_job simple_job(void)
{
    struct client_job j = { .model = simple_model() };

    job_input(&j, one, sizeof one);
    job_input(&j, two, sizeof two);
    job_input(&j, three, sizeof three);
    job_output(&j, out[0], 2 * sizeof(float));
    return j;
}

static void check_simple(const struct client_job *j)
{
    expect_floats(j->output[0], 111, 178);
}

/* Scenario 14: the only device that supports the OEM operation fails to prepare it, and the
 * reference does not support it.  _i: mode. */
START_TEST(oem_operation_is_not_prepared)
{
    const ANeuralNetworksDevice *d;
    ANeuralNetworksCompilation *c;
    bool supported;
    struct net t;

    setenv("HALCYON_DEBUG_NN_PARTITION", _i == 1 ? "1" : "2", 1);
    use_devices("%c?name=oem&ops=10000&prepare=2");
    t = net_new();
    uint32_t x = floats(&t, 2), o = floats(&t, 2);
    operate(&t, 10000, LIST(x), LIST(o));
    finish(&t, LIST(x), LIST(o));
    d = device_named("oem");
    OK(ANeuralNetworksModel_getSupportedOperationsForDevices(t.m, &d, 1, &supported));
    ck_assert(supported);
    OK(ANeuralNetworksCompilation_create(t.m, &c));
    EXPECT(ANeuralNetworksCompilation_finish(c), OP_FAILED);
    ANeuralNetworksCompilation_free(c);
    OK(ANeuralNetworksCompilation_createForDevices(t.m, &d, 1, &c));
    EXPECT(ANeuralNetworksCompilation_finish(c), OP_FAILED);
    ANeuralNetworksCompilation_free(c);
    ANeuralNetworksModel_free(t.m);
}
END_TEST

/* By HAL version of both drivers. */
static const int versions[] = { 10, 11, 12, 13, 15, 18 };

START_TEST(two_devices)
{
    char text[256];
    struct client_job j;

    snprintf(text, sizeof text, "%%c?name=a&ops=0.0&hal=%d,%%c?name=b&ops=0.1&hal=%d", versions[_i],
             versions[_i]);
    use_devices(text);
    j = simple_job();
    job_compile(&j);
    /* bursts are since 1.2 */
    if (versions[_i] >= 12) {
        job_run_each_way(&j, "a b ", check_simple);
    } else {
        OK(job_compute(&j));
        ck_assert_str_eq(executed(), "a b ");
        check_simple(&j);
    }
    job_done(&j);
}
END_TEST

/* o2 = D(0,1); o3 = D(0,2); o4 = C(0,3); o5 = C(2,4); o7 = D(3,5); o8 = D(6,7), where D is ADD, on
 * a, and C is MUL, on the reference: three steps, the last one again on a. */
static void check_middle(const struct client_job *j)
{
    expect_floats(j->output[0], 12, 48);    /* 1 * 12, -2 * -24 */
    expect_floats(j->output[1], 244, -880); /* 100 + (12 + 11 * 12), 200 + (-24 + -22 * 48) */
}

START_TEST(reference_in_the_middle)
{
    struct net t;
    struct client_job j = { 0 };

    use_devices("%c?name=a&ops=0.0");
    t = net_new();
    uint32_t i0 = floats(&t, 2), i1 = floats(&t, 2), i6 = floats(&t, 2);
    uint32_t o2 = fused(&t, ANEURALNETWORKS_ADD, 0, i0, i1, floats(&t, 2));
    uint32_t o3 = fused(&t, ANEURALNETWORKS_ADD, 0, i0, o2, floats(&t, 2));
    uint32_t o4 = fused(&t, ANEURALNETWORKS_MUL, 0, i0, o3, floats(&t, 2));
    uint32_t o5 = fused(&t, ANEURALNETWORKS_MUL, 0, o2, o4, floats(&t, 2));
    uint32_t o7 = fused(&t, ANEURALNETWORKS_ADD, 0, o3, o5, floats(&t, 2));
    uint32_t o8 = fused(&t, ANEURALNETWORKS_ADD, 0, i6, o7, floats(&t, 2));
    finish(&t, LIST(i0, i1, i6), LIST(o4, o8));
    j.model = t.m;
    job_compile(&j);
    job_input(&j, one, sizeof one);
    job_input(&j, two, sizeof two);
    job_input(&j, three, sizeof three);
    job_output(&j, out[0], 2 * sizeof(float));
    job_output(&j, out[1], 2 * sizeof(float));
    job_run_each_way(&j, "a a ", check_middle);
    job_done(&j);
}
END_TEST

static void check_read_output(const struct client_job *j)
{
    expect_floats(j->output[0], 11, -22);
    expect_floats(j->output[1], 22, 0);
}

/* An output of the model that another step reads. */
START_TEST(output_as_input)
{
    struct net t;
    struct client_job j = { 0 };

    use_devices("%c?name=a&ops=0.0,%c?name=b&ops=0.1");
    t = net_new();
    uint32_t a = floats(&t, 2), b = floats(&t, 2);
    uint32_t o2 = fused(&t, ANEURALNETWORKS_ADD, 0, a, b, floats(&t, 2));
    uint32_t o3 = fused(&t, ANEURALNETWORKS_ADD, 1, o2, o2, floats(&t, 2));
    finish(&t, LIST(a, b), LIST(o2, o3));
    j.model = t.m;
    job_compile(&j);
    job_input(&j, one, sizeof one);
    job_input(&j, two, sizeof two);
    job_output(&j, out[0], 2 * sizeof(float));
    job_output(&j, out[1], 2 * sizeof(float));
    job_run_each_way(&j, "a b ", check_read_output);
    job_done(&j);
}
END_TEST

/* Executions that wait for a fence: with drivers that take fences, and with one that does not. */
START_TEST(fences)
{
    static const char *const devices[] = { "%c?name=a&ops=0.0,%c?name=b&ops=0.1",
                                           "%c?name=a&ops=0.0,%c?name=b&ops=0.1&hal=12" };
    struct client_job j;
    int ends[2];

    use_devices(devices[_i % 2]);
    const bool is_failing = _i / 2, starts_at_once = _i % 2 == 0;
    j = simple_job();
    job_compile(&j);
    ANeuralNetworksExecution *e = job_execution(&j);
    ANeuralNetworksEvent *fence, *ev;
    ck_assert_int_eq(pipe(ends), 0);
    OK(ANeuralNetworksEvent_createFromSyncFenceFd(ends[0], &fence));
    if (!is_failing && !starts_at_once)
        ck_assert_int_eq(write(ends[1], "x", 1), 1);
    if (is_failing && !starts_at_once)
        close(ends[1]);
    job_clear_outputs(&j);
    int result = ANeuralNetworksExecution_startComputeWithDependencies(
        e, (const ANeuralNetworksEvent *const *) &fence, 1, 0, &ev);
    if (starts_at_once) { /* the fence is still open */
        OK(result);
        EXPECT(ANeuralNetworksExecution_compute(e), BAD_STATE);
        if (!is_failing)
            ck_assert_int_eq(write(ends[1], "x", 1), 1);
        close(ends[1]);
        result = ANeuralNetworksEvent_wait(ev);
    }
    ck_assert_int_eq(result, is_failing ? ANEURALNETWORKS_OP_FAILED : ANEURALNETWORKS_NO_ERROR);
    if (!is_failing) {
        OK(ANeuralNetworksEvent_wait(ev));
        check_simple(&j);
        ck_assert_str_eq(executed(), "a b ");
    }
    ANeuralNetworksEvent_free(ev);
    ANeuralNetworksEvent_free(fence);
    ANeuralNetworksExecution_free(e);
    close(ends[0]);
    job_done(&j);
}
END_TEST

/* ---- 8, 9, 10, 14, 19 and 4.8: compilations that fail */

/* o1 = HARD_SWISH(constant) on a, o3 = relu(o1 + i2) on b: the step of a has no input. */
static ANeuralNetworksModel *without_input(void)
{
    const float six[2] = { 6, 6 };
    struct net t = net_new();
    uint32_t c = constant(&t, floats(&t, 2), six, sizeof six), o1 = floats(&t, 2);
    uint32_t i2 = floats(&t, 2), o3 = floats(&t, 2);

    operate(&t, ANEURALNETWORKS_HARD_SWISH, LIST(c), LIST(o1));
    fused(&t, ANEURALNETWORKS_ADD, 1, o1, i2, o3);
    finish(&t, LIST(i2), LIST(o3));
    return t.m;
}

static int finish_on_all(ANeuralNetworksModel *m, ANeuralNetworksCompilation **ret)
{
    OK(ANeuralNetworksCompilation_create(m, ret));
    return ANeuralNetworksCompilation_finish(*ret);
}

START_TEST(modes)
{
    static const int results[] = { ANEURALNETWORKS_NO_ERROR, ANEURALNETWORKS_NO_ERROR,
                                   ANEURALNETWORKS_OP_FAILED };
    char mode[2] = { (char) ('0' + _i), 0 };
    struct client_job j = { 0 };

    use_devices("%c?name=a&ops=99,%c?name=b&ops=0.1");
    ck_assert_int_eq(setenv("HALCYON_DEBUG_NN_PARTITION", mode, 1), 0);
    j.model = without_input();
    ck_assert_int_eq(finish_on_all(j.model, &j.compilation), results[_i]);
    if (_i < 2) {
        job_input(&j, one, sizeof one);
        job_output(&j, out[0], 2 * sizeof(float));
        OK(job_compute(&j));
        expect_floats(out[0], 7, 4);
        ck_assert_str_eq(executed(), "");
    }
    job_done(&j);
}
END_TEST

/* The status of one step's preparation. */
START_TEST(step_not_prepared)
{
    static const struct {
        int status, on_all, of_list;
    } rows[] = {
        { 1, ANEURALNETWORKS_NO_ERROR, ANEURALNETWORKS_UNAVAILABLE_DEVICE },
        { 2, ANEURALNETWORKS_NO_ERROR, ANEURALNETWORKS_OP_FAILED },
        { 4, ANEURALNETWORKS_BAD_DATA, ANEURALNETWORKS_BAD_DATA },
        { 5, ANEURALNETWORKS_NO_ERROR, ANEURALNETWORKS_MISSED_DEADLINE_TRANSIENT },
        { 8, ANEURALNETWORKS_NO_ERROR, ANEURALNETWORKS_RESOURCE_EXHAUSTED_PERSISTENT },
    };
    char text[256];
    struct client_job j;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (_i != (int) i)
            continue;
        snprintf(text, sizeof text, "%%c?name=a&ops=0.0,%%c?name=b&ops=0.1&prepare=%d",
                 rows[i].status);
        use_devices(text);
        j = simple_job();
        const ANeuralNetworksDevice *list[] = { device_named("a"), device_named("b") };
        ck_assert_int_eq(finish_on_all(j.model, &j.compilation), rows[i].on_all);
        if (rows[i].on_all == ANEURALNETWORKS_NO_ERROR) {
            OK(job_compute(&j));
            check_simple(&j);
            ck_assert_str_eq(executed(), "");
        }
        ANeuralNetworksCompilation_free(j.compilation);
        OK(ANeuralNetworksCompilation_createForDevices(j.model, list, 2, &j.compilation));
        ck_assert_int_eq(ANeuralNetworksCompilation_finish(j.compilation), rows[i].of_list);
        job_done(&j);
    }
}
END_TEST

/* ---- 34, 35 and 4.8: executions that fail */

/* The status of one step's execution, with and without the reference to fall back to. */
START_TEST(step_fails)
{
    static const int results[] = {
        0,
        ANEURALNETWORKS_UNAVAILABLE_DEVICE,
        ANEURALNETWORKS_OP_FAILED,
        0,
        ANEURALNETWORKS_BAD_DATA,
        ANEURALNETWORKS_MISSED_DEADLINE_TRANSIENT,
        ANEURALNETWORKS_MISSED_DEADLINE_PERSISTENT,
        ANEURALNETWORKS_RESOURCE_EXHAUSTED_TRANSIENT,
        ANEURALNETWORKS_RESOURCE_EXHAUSTED_PERSISTENT,
    };
    char text[256];
    struct client_job j;

    if (!results[_i])
        return;
    snprintf(text, sizeof text, "%%c?name=a&ops=0.0&execute=%d,%%c?name=b&ops=0.1", _i);
    use_devices(text);
    j = simple_job();
    const ANeuralNetworksDevice *list[] = { device_named("a"), device_named("b") };
    job_compile(&j);
    /* that step on the reference, the next one on b; with fences all on the reference */
    j.fenced_log = "a ";
    job_run_each_way(&j, "a b ", check_simple);
    ANeuralNetworksCompilation_free(j.compilation);
    OK(ANeuralNetworksCompilation_createForDevices(j.model, list, 2, &j.compilation));
    OK(ANeuralNetworksCompilation_finish(j.compilation));
    ck_assert_int_eq(job_compute(&j), results[_i]);
    ck_assert_str_eq(executed(), "a ");
    job_done(&j);
}
END_TEST

/* ---- 30, 36: memory for arguments */

/* o0 = ADD(0, 1), t = SUB(1, 2), o1 = MUL(o0, t); the dimension of o1 is not known. */
static ANeuralNetworksModel *three_operations(void)
{
    struct net t = net_new();
    uint32_t i0 = floats(&t, 2), i1 = floats(&t, 2), i2 = floats(&t, 2);
    uint32_t o0 = fused(&t, ANEURALNETWORKS_ADD, 0, i0, i1, floats(&t, 2));
    uint32_t sub = fused(&t, ANEURALNETWORKS_SUB, 0, i1, i2, floats(&t, 2));
    uint32_t o1 = fused(&t, ANEURALNETWORKS_MUL, 0, o0, sub, floats(&t, 0));

    finish(&t, LIST(i0, i1, i2), LIST(o0, o1));
    return t.m;
}

static struct client_job three_job(bool is_explicit)
{
    const ANeuralNetworksDevice *list[] = { device_named("add"), device_named("sub"),
                                            device_named("mul") };
    struct client_job j = { .model = three_operations() };

    if (is_explicit)
        OK(ANeuralNetworksCompilation_createForDevices(j.model, list, 3, &j.compilation));
    else
        OK(ANeuralNetworksCompilation_create(j.model, &j.compilation));
    OK(ANeuralNetworksCompilation_finish(j.compilation));
    return j;
}

/* A memory for one argument; NULL: there is none. */
static ANeuralNetworksMemory *memory_for(const struct client_job *j, bool is_output, uint32_t index)
{
    ANeuralNetworksMemoryDesc *d;
    ANeuralNetworksMemory *m;

    OK(ANeuralNetworksMemoryDesc_create(&d));
    OK(is_output ? ANeuralNetworksMemoryDesc_addOutputRole(d, j->compilation, index, 1)
                 : ANeuralNetworksMemoryDesc_addInputRole(d, j->compilation, index, 1));
    OK(ANeuralNetworksMemoryDesc_finish(d));
    int result = ANeuralNetworksMemory_createFromDesc(d, &m);
    ck_assert_int_eq(result, m ? ANEURALNETWORKS_NO_ERROR : ANEURALNETWORKS_OP_FAILED);
    ANeuralNetworksMemoryDesc_free(d);
    return m;
}

/* Which driver is asked for the memory of an argument, and whether it is there: made for a list of
 * devices, and for all. */
START_TEST(memories_of_drivers)
{
    static const struct {
        bool is_output;
        uint32_t index;
        const char *asked;
        bool has_known_size;
    } rows[] = { { false, 0, "+add ", true },
                 { false, 1, "", true },
                 { false, 2, "+sub ", true },
                 { true, 0, "", true },
                 { true, 1, "+mul ", false } };
    const bool fails = _i & 1, is_explicit = _i & 2;
    char text[256];
    struct client_job j;

    snprintf(text, sizeof text,
             "%%c?name=add&ops=0&allocate=%d,%%c?name=sub&ops=36&allocate=%d,"
             "%%c?name=mul&ops=18&allocate=%d",
             2 * fails, 2 * fails, 2 * fails);
    use_devices(text);
    j = three_job(is_explicit);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ANeuralNetworksMemory *m = memory_for(&j, rows[i].is_output, rows[i].index);
        const char *asked = executed();
        const bool is_driver = *rows[i].asked && !fails;
        ck_assert_str_eq(asked, rows[i].asked);
        ck_assert_msg((m != NULL) == (is_driver || (!is_explicit && rows[i].has_known_size)),
                      "row %zu", i);
        ANeuralNetworksMemory_free(m);
    }
    job_done(&j);
}
END_TEST

/* Arguments in buffers of two drivers: also when one fails, so that all is repeated with copies. */
START_TEST(arguments_in_drivers)
{
    ANeuralNetworksMemory *in, *result;
    ANeuralNetworksExecution *e;
    float *at;
    struct client_job j;

    use_devices(_i ? "%c?name=add&ops=0,%c?name=sub&ops=36,%c?name=mul&ops=18&execute=2"
                   : "%c?name=add&ops=0,%c?name=sub&ops=36,%c?name=mul&ops=18");
    j = three_job(false);
    in = memory_for(&j, false, 0);
    result = memory_for(&j, true, 1);
    ck_assert_str_eq(executed(), "+add +mul ");
    int fd = memfd_create("test", MFD_CLOEXEC);
    ck_assert_int_eq(ftruncate(fd, sizeof one), 0);
    at = mmap(NULL, sizeof one, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    memcpy(at, one, sizeof one);
    ANeuralNetworksMemory *host;
    OK(ANeuralNetworksMemory_createFromFd(sizeof one, PROT_READ | PROT_WRITE, fd, 0, &host));
    OK(ANeuralNetworksMemory_copy(host, in));
    OK(ANeuralNetworksExecution_create(j.compilation, &e));
    OK(ANeuralNetworksExecution_setInputFromMemory(e, 0, NULL, in, 0, 0));
    OK(ANeuralNetworksExecution_setInput(e, 1, NULL, two, sizeof two));
    OK(ANeuralNetworksExecution_setInput(e, 2, NULL, three, sizeof three));
    OK(ANeuralNetworksExecution_setOutput(e, 0, NULL, out[0], 2 * sizeof(float)));
    OK(ANeuralNetworksExecution_setOutputFromMemory(e, 1, NULL, result, 0, 0));
    if (_i) { /* the size of the copy is not known */
        EXPECT(ANeuralNetworksExecution_compute(e), OP_FAILED);
    } else {
        OK(ANeuralNetworksExecution_compute(e));
        expect_floats(out[0], 11, -22);
        OK(ANeuralNetworksMemory_copy(result, host));
        expect_floats(at, 11 * -90, -22 * -220);
    }
    ck_assert_str_eq(executed(), "sub add mul ");
    ANeuralNetworksExecution_free(e);
    ANeuralNetworksMemory_free(in);
    ANeuralNetworksMemory_free(result);
    ANeuralNetworksMemory_free(host);
    munmap(at, sizeof one);
    close(fd);
    job_done(&j);
}
END_TEST

/* An output in the buffer of a driver that writes it in its first step and reads it in its second
 * one; the reference has one between them. */
START_TEST(output_read_from_driver)
{
    struct client_job j = { 0 };
    ANeuralNetworksMemory *m, *back;
    ANeuralNetworksExecution *e;
    struct net t;

    use_devices("%c?name=a&ops=0");
    t = net_new();
    uint32_t i0 = floats(&t, 2), i1 = floats(&t, 2);
    uint32_t o0 = fused(&t, ANEURALNETWORKS_ADD, 0, i0, i1, floats(&t, 2));
    uint32_t x = fused(&t, ANEURALNETWORKS_ADD, 0, i0, i0, floats(&t, 2));
    uint32_t y = fused(&t, ANEURALNETWORKS_MUL, 0, x, i1, floats(&t, 2));
    uint32_t o1 = fused(&t, ANEURALNETWORKS_ADD, 0, o0, y, floats(&t, 2));
    finish(&t, LIST(i0, i1), LIST(o0, o1));
    j.model = t.m;
    job_compile(&j);
    m = memory_for(&j, true, 0);
    ck_assert_str_eq(executed(), "+a ");
    float copied[2];
    FILE *file = tmpfile();
    ck_assert_int_eq(ftruncate(fileno(file), sizeof copied), 0);
    OK(ANeuralNetworksMemory_createFromFd(sizeof copied, PROT_READ | PROT_WRITE, fileno(file), 0,
                                          &back));
    OK(ANeuralNetworksExecution_create(j.compilation, &e));
    OK(ANeuralNetworksExecution_setInput(e, 0, NULL, one, sizeof one));
    OK(ANeuralNetworksExecution_setInput(e, 1, NULL, two, sizeof two));
    OK(ANeuralNetworksExecution_setOutputFromMemory(e, 0, NULL, m, 0, 0));
    OK(ANeuralNetworksExecution_setOutput(e, 1, NULL, out[0], 2 * sizeof(float)));
    OK(ANeuralNetworksExecution_compute(e));
    ck_assert_str_eq(executed(), "a a ");
    expect_floats(out[0], 11 + 2 * 10, -22 + -4 * -20);
    OK(ANeuralNetworksMemory_copy(m, back));
    ck_assert_int_eq(pread(fileno(file), copied, sizeof copied, 0), sizeof copied);
    expect_floats(copied, 11, -22);
    ANeuralNetworksExecution_free(e);
    ANeuralNetworksMemory_free(m);
    ANeuralNetworksMemory_free(back);
    fclose(file);
    job_done(&j);
}
END_TEST

/* The preferred padding is the largest one of the steps that use the argument. */
START_TEST(preferred_memory)
{
    static const uint32_t padding[] = { 64, 64, 1, 64, 1 };
    struct client_job j;

    use_devices("%c?name=add&ops=0,%c?name=sub&ops=36&hal=13,%c?name=mul&ops=18&hal=13");
    j = three_job(false);
    for (int i = 0; i < 5; i++) {
        uint32_t alignment, found;
        if (i < 3) {
            OK(ANeuralNetworksCompilation_getPreferredMemoryAlignmentForInput(
                j.compilation, (uint32_t) i, &alignment));
            OK(ANeuralNetworksCompilation_getPreferredMemoryPaddingForInput(j.compilation,
                                                                            (uint32_t) i, &found));
        } else {
            OK(ANeuralNetworksCompilation_getPreferredMemoryAlignmentForOutput(
                j.compilation, (uint32_t) i - 3, &alignment));
            OK(ANeuralNetworksCompilation_getPreferredMemoryPaddingForOutput(
                j.compilation, (uint32_t) i - 3, &found));
        }
        ck_assert_uint_eq(alignment, 64);
        ck_assert_uint_eq(found, padding[i]);
    }
    job_done(&j);
}
END_TEST

Suite *api_plans_suite(void)
{
    TCase *steps = tcase_create("steps"), *failures = tcase_create("failures"),
          *memories = tcase_create("memories");

    tcase_add_loop_test(steps, oem_operation_is_not_prepared, 1, 3);
    tcase_add_loop_test(steps, two_devices, 0, sizeof versions / sizeof *versions);
    tcase_add_test(steps, reference_in_the_middle);
    tcase_add_test(steps, output_as_input);
    tcase_add_loop_test(steps, fences, 0, 4);
    tcase_add_loop_test(failures, modes, 0, 3);
    tcase_add_loop_test(failures, step_not_prepared, 0, 5);
    tcase_add_loop_test(failures, step_fails, 1, 9);
    tcase_add_loop_test(memories, memories_of_drivers, 0, 4);
    tcase_add_loop_test(memories, arguments_in_drivers, 0, 2);
    tcase_add_test(memories, output_read_from_driver);
    tcase_add_test(memories, preferred_memory);
    return make_suite("api_plans", steps, failures, memories, NULL);
}
