/* Models through the table of the support library: built, compiled and executed in every way. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/runtime/sl/sl_client.h"
#include "tests/support/check_main.h"

static const char *const devices[] = { "golden", "sim:cpu", "sim:gpu" };
enum { DEVICES = sizeof devices / sizeof *devices };

static const float a[2] = { 1, 2 }, b[2] = { 10, 20 };

static void expect_sum(float sum[2])
{
    ck_assert_float_eq(sum[0], 11);
    ck_assert_float_eq(sum[1], 22);
    sum[0] = sum[1] = 0;
}

/* No member is missing: a client calls them without looking. */
START_TEST(every_member)
{
    const NnApiSLDriverImplFL5 *nn = load_library("golden");
    void *member[sizeof(NnApiSLDriverImplFL8) / sizeof(void *) - 1];

    ck_assert_uint_eq(sizeof member / sizeof *member, 106);
    ck_assert_int_eq(nn->base.implFeatureLevel, ANEURALNETWORKS_FEATURE_LEVEL_8);
    memcpy(member, (const char *) nn + sizeof nn->base, sizeof member);
    for (int i = 0; i < 106; i++) {
        ck_assert_msg(member[i], "member %d", i);
        for (int k = 0; k < i; k++)
            ck_assert_msg(member[i] != member[k], "members %d and %d are the same", k, i);
    }
}
END_TEST

START_TEST(computes_in_every_way)
{
    const NnApiSLDriverImplFL5 *nn = load_library(devices[_i]);
    const ANeuralNetworksDevice *d = only_device(nn);
    ANeuralNetworksModel *m = sl_add_model(nn, 2);
    ANeuralNetworksEvent *first, *second;
    ANeuralNetworksBurst *burst;
    float sum[2] = { 0, 0 };
    bool supported = false;
    uint64_t ns;

    OK(nn->ANeuralNetworksModel_getSupportedOperationsForDevices(m, &d, 1, &supported));
    ck_assert(supported);
    ANeuralNetworksCompilation *c = sl_compilation(nn, m);
    OK(nn->ANeuralNetworksCompilation_setPreference(c, ANEURALNETWORKS_PREFER_SUSTAINED_SPEED));
    OK(nn->ANeuralNetworksCompilation_setPriority(c, ANEURALNETWORKS_PRIORITY_HIGH));
    OK(nn->ANeuralNetworksCompilation_finish(c));
    ANeuralNetworksExecution *e = sl_execution(nn, c, a, b, sum);
    OK(nn->ANeuralNetworksExecution_setReusable(e, true));
    OK(nn->ANeuralNetworksExecution_setMeasureTiming(e, true));
    OK(nn->ANeuralNetworksExecution_compute(e));
    expect_sum(sum);
    OK(nn->ANeuralNetworksExecution_getDuration(e, ANEURALNETWORKS_DURATION_IN_DRIVER, &ns));
    OK(nn->ANeuralNetworksBurst_create(c, &burst));
    for (int i = 0; i < 3; i++) {
        OK(nn->ANeuralNetworksExecution_burstCompute(e, burst));
        expect_sum(sum);
    }
    nn->ANeuralNetworksBurst_free(burst);
    OK(nn->ANeuralNetworksExecution_startComputeWithDependencies(e, NULL, 0, 0, &first));
    OK(nn->ANeuralNetworksEvent_wait(first));
    expect_sum(sum);
    OK(nn->ANeuralNetworksExecution_startComputeWithDependencies(
        e, (const ANeuralNetworksEvent *const *) &first, 1, 0, &second));
    OK(nn->ANeuralNetworksEvent_wait(second));
    expect_sum(sum);
    nn->ANeuralNetworksEvent_free(first);
    nn->ANeuralNetworksEvent_free(second);
    nn->ANeuralNetworksExecution_free(e);
    nn->ANeuralNetworksCompilation_free(c);
    nn->ANeuralNetworksModel_free(m);
}
END_TEST

START_TEST(memory_of_files_and_descriptors)
{
    const NnApiSLDriverImplFL5 *nn = load_library(devices[_i]);
    ANeuralNetworksModel *m = sl_add_model(nn, 2);
    ANeuralNetworksCompilation *c = sl_compilation(nn, m);
    ANeuralNetworksMemory *file, *own;
    ANeuralNetworksMemoryDesc *desc;
    ANeuralNetworksExecution *e;
    int fd = memfd_create("arguments", MFD_CLOEXEC);

    ck_assert_int_eq(ftruncate(fd, 4096), 0);
    float *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    ck_assert_ptr_ne(at, MAP_FAILED);
    memcpy(at, a, sizeof a);
    memcpy(at + 64, b, sizeof b);
    OK(nn->ANeuralNetworksCompilation_finish(c));
    OK(nn->ANeuralNetworksMemory_createFromFd(4096, PROT_READ | PROT_WRITE, fd, 0, &file));
    OK(nn->ANeuralNetworksMemoryDesc_create(&desc));
    OK(nn->ANeuralNetworksMemoryDesc_addOutputRole(desc, c, 0, 1));
    OK(nn->ANeuralNetworksMemoryDesc_finish(desc));
    OK(nn->ANeuralNetworksMemory_createFromDesc(desc, &own));
    nn->ANeuralNetworksMemoryDesc_free(desc);
    OK(nn->ANeuralNetworksExecution_create(c, &e));
    OK(nn->ANeuralNetworksExecution_setInputFromMemory(e, 0, NULL, file, 0, sizeof a));
    OK(nn->ANeuralNetworksExecution_setInputFromMemory(e, 1, NULL, file, 256, sizeof b));
    OK(nn->ANeuralNetworksExecution_setOutputFromMemory(e, 0, NULL, own, 0, 0));
    OK(nn->ANeuralNetworksExecution_compute(e));
    nn->ANeuralNetworksExecution_free(e);
    ANeuralNetworksMemory *result;
    int out = memfd_create("result", MFD_CLOEXEC);
    ck_assert_int_eq(ftruncate(out, 2 * sizeof(float)), 0);
    float *sum = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, out, 0);
    ck_assert_ptr_ne(sum, MAP_FAILED);
    OK(nn->ANeuralNetworksMemory_createFromFd(2 * sizeof(float), PROT_READ | PROT_WRITE, out, 0,
                                              &result));
    OK(nn->ANeuralNetworksMemory_copy(own, result));
    expect_sum(sum);
    nn->ANeuralNetworksMemory_free(own);
    nn->ANeuralNetworksMemory_free(file);
    nn->ANeuralNetworksMemory_free(result);
    nn->ANeuralNetworksCompilation_free(c);
    nn->ANeuralNetworksModel_free(m);
    munmap(at, 4096);
    munmap(sum, 4096);
    close(fd);
    close(out);
}
END_TEST

/* There is no fallback: what the driver does not support is the client's. */
START_TEST(unsupported_operation)
{
    const NnApiSLDriverImplFL5 *nn = load_library("null");
    ANeuralNetworksModel *m = sl_add_model(nn, 2);
    const ANeuralNetworksDevice *d = only_device(nn);
    ANeuralNetworksCompilation *c = sl_compilation(nn, m);
    bool supported = true;

    OK(nn->ANeuralNetworksModel_getSupportedOperationsForDevices(m, &d, 1, &supported));
    ck_assert(!supported);
    EXPECT(nn->ANeuralNetworksCompilation_finish(c), BAD_DATA);
    nn->ANeuralNetworksCompilation_free(c);
    nn->ANeuralNetworksModel_free(m);
}
END_TEST

Suite *sl_table_suite(void)
{
    TCase *t = tcase_create("sl_table");

    tcase_add_test(t, every_member);
    tcase_add_loop_test(t, computes_in_every_way, 0, DEVICES);
    tcase_add_loop_test(t, memory_of_files_and_descriptors, 0, DEVICES);
    tcase_add_test(t, unsupported_operation);
    return make_suite("sl_table", t, NULL);
}
