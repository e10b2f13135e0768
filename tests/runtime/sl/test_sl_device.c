/* Which device a support library has, at which level, what it tells of it, and its cache files.
 * Numbers are those of sim/profiles. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/runtime/scripted_driver.h"
#include "tests/runtime/sl/sl_client.h"
#include "tests/support/check_main.h"

static const char *name_of(const NnApiSLDriverImplFL5 *nn)
{
    const char *name;

    OK(nn->ANeuralNetworksDevice_getName(only_device(nn), &name));
    return name;
}

/* ---- which device */

static const struct {
    const char *device, *devices; /* HALCYON_SL_DEVICE, HALCYON_DEVICES; NULL: not set */
    const char *name;
} choices[] = {
    { NULL, NULL, "halcyon-golden" },
    { NULL, "sim:gpu,sim:cpu", "halcyon-gpu" },
    { "sim:dsp", "sim:gpu,sim:cpu", "halcyon-dsp" },
};

START_TEST(chosen_device)
{
    if (choices[_i].devices)
        setenv("HALCYON_DEVICES", choices[_i].devices, 1);
    ck_assert_str_eq(name_of(load_library(choices[_i].device)), choices[_i].name);
}
END_TEST

/* Without its device the library has none: it does not take another one. */
START_TEST(device_that_cannot_be_opened)
{
    setenv("HALCYON_DEVICES", "sim:gpu", 1);
    const NnApiSLDriverImplFL5 *nn = load_library("sim:nothing");
    uint32_t n = 1;

    OK(nn->ANeuralNetworks_getDeviceCount(&n));
    ck_assert_uint_eq(n, 0);
}
END_TEST

/* ---- levels */

static const struct {
    const char *set;
    int64_t level;
    bool has_pack; /* an operation since level 6 */
} levels[] = {
    { "5", ANEURALNETWORKS_FEATURE_LEVEL_5, false }, { "6", ANEURALNETWORKS_FEATURE_LEVEL_6, true },
    { "7", ANEURALNETWORKS_FEATURE_LEVEL_7, true },  { "8", ANEURALNETWORKS_FEATURE_LEVEL_8, true },
    { "4", ANEURALNETWORKS_FEATURE_LEVEL_8, true }, /* not a level of support libraries */
};

START_TEST(level_of_the_table)
{
    setenv("HALCYON_SL_FEATURE_LEVEL", levels[_i].set, 1);
    const NnApiSLDriverImplFL5 *nn = load_library("sim:cpu");
    const NnApiSLDriverImplFL8 *newest = (const NnApiSLDriverImplFL8 *) nn;
    int64_t level;

    ck_assert_int_eq(nn->base.implFeatureLevel, levels[_i].level);
    ck_assert_int_eq(nn->ANeuralNetworks_getRuntimeFeatureLevel(), levels[_i].level);
    OK(nn->ANeuralNetworksDevice_getFeatureLevel(only_device(nn), &level));
    ck_assert_int_eq(level, levels[_i].level);
    ck_assert_int_eq(newest->ANeuralNetworksCompilation_addExtensionAttribute != NULL,
                     levels[_i].level == ANEURALNETWORKS_FEATURE_LEVEL_8);
    ck_assert_int_eq(newest->ANeuralNetworksExecution_addExtensionAttribute != NULL,
                     levels[_i].level == ANEURALNETWORKS_FEATURE_LEVEL_8);
}
END_TEST

/* The driver is asked at the level of the library: it gets no model of a later one. */
START_TEST(operation_of_a_later_level)
{
    setenv("HALCYON_SL_FEATURE_LEVEL", levels[_i].set, 1);
    const NnApiSLDriverImplFL5 *nn = load_library("sim:cpu");
    const ANeuralNetworksDevice *d = only_device(nn);
    const uint32_t two = 2, pair[] = { 2, 2 }, in[] = { 0, 1, 2 }, out = 3;
    const ANeuralNetworksOperandType scalar = { ANEURALNETWORKS_INT32, 0, NULL, 0, 0 };
    const ANeuralNetworksOperandType row = { ANEURALNETWORKS_TENSOR_FLOAT32, 1, &two, 0, 0 };
    const ANeuralNetworksOperandType rows = { ANEURALNETWORKS_TENSOR_FLOAT32, 2, pair, 0, 0 };
    const int32_t axis = 0;
    ANeuralNetworksModel *m;
    bool supported;

    OK(nn->ANeuralNetworksModel_create(&m));
    OK(nn->ANeuralNetworksModel_addOperand(m, &scalar));
    OK(nn->ANeuralNetworksModel_addOperand(m, &row));
    OK(nn->ANeuralNetworksModel_addOperand(m, &row));
    OK(nn->ANeuralNetworksModel_addOperand(m, &rows));
    OK(nn->ANeuralNetworksModel_setOperandValue(m, 0, &axis, sizeof axis));
    OK(nn->ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_PACK, 3, in, 1, &out));
    OK(nn->ANeuralNetworksModel_identifyInputsAndOutputs(m, 2, in + 1, 1, &out));
    OK(nn->ANeuralNetworksModel_finish(m));
    OK(nn->ANeuralNetworksModel_getSupportedOperationsForDevices(m, &d, 1, &supported));
    ck_assert_int_eq(supported, levels[_i].has_pack);
    nn->ANeuralNetworksModel_free(m);
}
END_TEST

/* ---- performance */

static void expect_performance(const NnApiSLDriverImplFL5 *nn, int32_t kind, float time,
                               float power)
{
    SL_ANeuralNetworksPerformanceInfo p;

    OK(nn->SL_ANeuralNetworksDevice_getPerformanceInfo(only_device(nn), kind, &p));
    ck_assert_float_eq(p.execTime, time);
    ck_assert_float_eq(p.powerUsage, power);
}

struct rows {
    uint32_t n;
    SL_ANeuralNetworksOperandPerformanceInfo row[64];
};

static void add_row(SL_ANeuralNetworksOperandPerformanceInfo row, void *context)
{
    struct rows *rows = context;

    rows->row[rows->n++] = row;
}

START_TEST(performance)
{
    const NnApiSLDriverImplFL5 *nn = load_library("sim:gpu");
    const ANeuralNetworksDevice *d = only_device(nn);
    SL_ANeuralNetworksPerformanceInfo p = { 7, 7 };
    struct rows rows = { 0 };
    bool found = false;

    expect_performance(nn, 0, 0.5f, 0.6f);
    expect_performance(nn, 1, 0.25f, 0.5f);
    expect_performance(nn, 2, 2, 1.5f);
    expect_performance(nn, 3, 2, 1.5f);
    EXPECT(nn->SL_ANeuralNetworksDevice_getPerformanceInfo(d, 4, &p), BAD_DATA);
    ck_assert(p.execTime == 0 && p.powerUsage == 0);
    EXPECT(nn->SL_ANeuralNetworksDevice_getPerformanceInfo(d, -1, &p), BAD_DATA);
    EXPECT(nn->SL_ANeuralNetworksDevice_getPerformanceInfo(NULL, 0, &p), UNEXPECTED_NULL);
    EXPECT(nn->SL_ANeuralNetworksDevice_getPerformanceInfo(d, 0, NULL), UNEXPECTED_NULL);
    OK(nn->SL_ANeuralNetworksDevice_forEachOperandPerformanceInfo(d, &rows, add_row));
    ck_assert_uint_eq(rows.n, 15);
    for (uint32_t i = 0; i < rows.n; i++)
        if (rows.row[i].operandType == ANEURALNETWORKS_TENSOR_QUANT16_SYMM) {
            found = true;
            ck_assert_float_eq(rows.row[i].performanceInfo.execTime, 3);
            ck_assert_float_eq(rows.row[i].performanceInfo.powerUsage, 2.5f);
        }
    ck_assert(found);
    EXPECT(nn->SL_ANeuralNetworksDevice_forEachOperandPerformanceInfo(NULL, &rows, add_row),
           UNEXPECTED_NULL);
    EXPECT(nn->SL_ANeuralNetworksDevice_forEachOperandPerformanceInfo(d, NULL, add_row),
           UNEXPECTED_NULL);
    EXPECT(nn->SL_ANeuralNetworksDevice_forEachOperandPerformanceInfo(d, &rows, NULL),
           UNEXPECTED_NULL);
    ck_assert_uint_eq(rows.n, 15);
}
END_TEST

/* ---- extensions */

struct types {
    uint32_t n;
    SL_ANeuralNetworksExtensionOperandTypeInformation type[8];
};

static void add_type(SL_ANeuralNetworksExtensionOperandTypeInformation type, void *context)
{
    struct types *types = context;

    types->type[types->n++] = type;
}

START_TEST(extensions)
{
    const NnApiSLDriverImplFL5 *nn = load_library("sim:dsp");
    const ANeuralNetworksDevice *d = only_device(nn);
    struct types t = { 0 };
    const char *name;
    bool has = false;
    uint32_t n = 7;

    EXPECT(nn->SL_ANeuralNetworksDevice_getVendorExtensionCount(NULL, &n), UNEXPECTED_NULL);
    ck_assert_uint_eq(n, 0);
    OK(nn->SL_ANeuralNetworksDevice_getVendorExtensionCount(d, &n));
    ck_assert_uint_eq(n, 1);
    OK(nn->SL_ANeuralNetworksDevice_getVendorExtensionName(d, 0, &name));
    ck_assert_str_eq(name, "org.halcyon.example.fibonacci");
    OK(nn->ANeuralNetworksDevice_getExtensionSupport(d, name, &has));
    ck_assert(has);
    OK(nn->SL_ANeuralNetworksDevice_forEachVendorExtensionOperandTypeInformation(d, 0, &t,
                                                                                 add_type));
    ck_assert_uint_eq(t.n, 2);
    for (uint32_t i = 0; i < 2; i++) {
        ck_assert_uint_eq(t.type[i].byteSize, 8);
        ck_assert_int_eq(t.type[i].isTensor, t.type[i].type == 1);
    }
    ck_assert_uint_ne(t.type[0].type, t.type[1].type);
    EXPECT(nn->SL_ANeuralNetworksDevice_getVendorExtensionName(d, 1, &name), BAD_DATA);
    ck_assert_ptr_null(name);
    EXPECT(nn->SL_ANeuralNetworksDevice_getVendorExtensionName(d, 0, NULL), UNEXPECTED_NULL);
    EXPECT(nn->SL_ANeuralNetworksDevice_forEachVendorExtensionOperandTypeInformation(d, 1, &t,
                                                                                     add_type),
           BAD_DATA);
    EXPECT(nn->SL_ANeuralNetworksDevice_forEachVendorExtensionOperandTypeInformation(d, 0, NULL,
                                                                                     add_type),
           UNEXPECTED_NULL);
    EXPECT(
        nn->SL_ANeuralNetworksDevice_forEachVendorExtensionOperandTypeInformation(d, 0, &t, NULL),
        UNEXPECTED_NULL);
}
END_TEST

/* ---- caching */

START_TEST(numbers_of_cache_files)
{
    const NnApiSLDriverImplFL5 *nn = load_library("sim:dsp");
    const ANeuralNetworksDevice *d = only_device(nn);
    uint32_t n_model = 9, n_data = 9;

    EXPECT(nn->SL_ANeuralNetworksDevice_getNumberOfCacheFilesNeeded(NULL, &n_model, &n_data),
           UNEXPECTED_NULL);
    ck_assert(n_model == 0 && n_data == 0);
    n_model = 9;
    EXPECT(nn->SL_ANeuralNetworksDevice_getNumberOfCacheFilesNeeded(d, &n_model, NULL),
           UNEXPECTED_NULL);
    ck_assert_uint_eq(n_model, 0);
    OK(nn->SL_ANeuralNetworksDevice_getNumberOfCacheFilesNeeded(d, &n_model, &n_data));
    ck_assert(n_model == 2 && n_data == 1);
}
END_TEST

static off_t size_of(int fd)
{
    struct stat s;

    ck_assert_int_eq(fstat(fd, &s), 0);
    return s.st_size;
}

static const uint8_t token[ANEURALNETWORKS_BYTE_SIZE_OF_CACHE_TOKEN] = { 9 };

/* The first compilation writes the files, the second one has them. */
START_TEST(files_are_written)
{
    const NnApiSLDriverImplFL5 *nn = load_library("sim:cpu");
    ANeuralNetworksModel *m = sl_add_model(nn, 2);
    const int fd[] = { memfd_create("model", MFD_CLOEXEC), memfd_create("data", MFD_CLOEXEC) };

    for (int time = 0; time < 2; time++) {
        ANeuralNetworksCompilation *c = sl_compilation(nn, m);
        OK(nn->SL_ANeuralNetworksCompilation_setCachingFromFds(c, fd, 1, fd + 1, 1, token));
        OK(nn->ANeuralNetworksCompilation_finish(c));
        EXPECT(nn->SL_ANeuralNetworksCompilation_setCachingFromFds(c, fd, 1, fd + 1, 1, token),
               BAD_STATE);
        nn->ANeuralNetworksCompilation_free(c);
        ck_assert_int_gt(size_of(fd[0]), 0);
    }
    close(fd[0]);
    close(fd[1]);
    nn->ANeuralNetworksModel_free(m);
}
END_TEST

START_TEST(driver_is_given_the_files)
{
    char uri[512];
    int fd[3];

    snprintf(uri, sizeof uri, "lib:%s?models=2&data=1&restore=0", getenv("SCRIPTED_DRIVER"));
    const NnApiSLDriverImplFL5 *nn = load_library(uri);
    ANeuralNetworksModel *m = sl_add_model(nn, 2);
    ANeuralNetworksCompilation *c = sl_compilation(nn, m);
    void *library = dlopen(getenv("SCRIPTED_DRIVER"), RTLD_NOW | RTLD_NOLOAD);
    ck_assert_ptr_nonnull(library);
    struct scripted_record *r = dlsym(library, "scripted_record");
    ck_assert_ptr_nonnull(r);
    *r = (struct scripted_record){ .n_inputs = 2, .n_outputs = 1 };
    for (int i = 0; i < 3; i++)
        fd[i] = memfd_create("cache", MFD_CLOEXEC);
    OK(nn->SL_ANeuralNetworksCompilation_setCachingFromFds(c, fd, 2, fd + 2, 1, token));
    OK(nn->ANeuralNetworksCompilation_finish(c));
    ck_assert_uint_eq(r->restored, 1);
    ck_assert_uint_eq(r->prepared, 0);
    ck_assert(r->n_model == 2 && r->n_data == 1);
    nn->ANeuralNetworksCompilation_free(c);
    nn->ANeuralNetworksModel_free(m);
    dlclose(library);
    for (int i = 0; i < 3; i++)
        close(fd[i]);
}
END_TEST

Suite *sl_device_suite(void)
{
    TCase *t = tcase_create("sl_device");

    tcase_add_loop_test(t, chosen_device, 0, sizeof choices / sizeof *choices);
    tcase_add_test(t, device_that_cannot_be_opened);
    tcase_add_loop_test(t, level_of_the_table, 0, sizeof levels / sizeof *levels);
    tcase_add_loop_test(t, operation_of_a_later_level, 0, sizeof levels / sizeof *levels);
    tcase_add_test(t, performance);
    tcase_add_test(t, extensions);
    tcase_add_test(t, numbers_of_cache_files);
    tcase_add_test(t, files_are_written);
    tcase_add_test(t, driver_is_given_the_files);
    return make_suite("sl_device", t, NULL);
}
