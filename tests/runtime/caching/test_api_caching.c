/* Compilation caching as an application uses it. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/include/NeuralNetworksExtensions.h"
#include "tests/runtime/nnapi_client.h"
#include "tests/runtime/scripted_driver.h"
#include "tests/support/check_main.h"

enum { NAME_LENGTH = 2 * HAL_TOKEN_BYTES };

static const uint8_t some_token[ANEURALNETWORKS_BYTE_SIZE_OF_CACHE_TOKEN] = { 1, 2, 0xab };

/* ---- folders */

static char folder[64];

static void make_folder(void)
{
    snprintf(folder, sizeof folder, "/tmp/halcyon-cache-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

/* Calls each() with the path of every file; returns how many there are. */
static int for_files(void (*each)(const char *path))
{
    char path[512];
    DIR *d = opendir(folder);
    int n = 0;

    ck_assert_ptr_nonnull(d);
    for (struct dirent *e; (e = readdir(d));) {
        if (e->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        if (each)
            each(path);
        n++;
    }
    closedir(d);
    return n;
}

static void remove_file(const char *path)
{
    ck_assert_int_eq(unlink(path), 0);
}

static void remove_folder(void)
{
    for_files(remove_file);
    ck_assert_int_eq(rmdir(folder), 0);
}

static const struct timespec long_ago[2] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };

static void make_old(const char *path)
{
    struct stat st;

    ck_assert_int_eq(stat(path, &st), 0);
    ck_assert_uint_eq(st.st_mode & 0777, 0600);
    ck_assert_int_eq(utimensat(AT_FDCWD, path, long_ago, 0), 0);
}

static int n_old;

static void count_old(const char *path)
{
    struct stat st;

    ck_assert_int_eq(stat(path, &st), 0);
    n_old += st.st_mtime == long_ago[0].tv_sec;
}

/* How many files have not been written since make_old(). */
static int unwritten(void)
{
    n_old = 0;
    for_files(count_old);
    return n_old;
}

/* ---- compilations */

struct options {
    int32_t preference, priority;
    const uint8_t *token; /* NULL: no caching */
};
static const struct options plain = { ANEURALNETWORKS_PREFER_FAST_SINGLE_ANSWER,
                                      ANEURALNETWORKS_PRIORITY_MEDIUM, some_token };

/* On device 0; *ret_result (NULL: it succeeds): of finish. */
static ANeuralNetworksCompilation *compile_with(ANeuralNetworksModel *m, const struct options *o,
                                                const char *where, int *ret_result)
{
    const ANeuralNetworksDevice *d = device_at(0);
    ANeuralNetworksCompilation *c;

    OK(ANeuralNetworksCompilation_createForDevices(m, &d, 1, &c));
    OK(ANeuralNetworksCompilation_setPreference(c, o->preference));
    OK(ANeuralNetworksCompilation_setPriority(c, o->priority));
    if (o->token)
        OK(ANeuralNetworksCompilation_setCaching(c, where, o->token));
    int result = ANeuralNetworksCompilation_finish(c);
    if (ret_result)
        *ret_result = result;
    else
        OK(result);
    return c;
}

/* 1 + 10 */
static void check_sum(ANeuralNetworksCompilation *c)
{
    const float a = 1, b = 10;
    ANeuralNetworksExecution *e;
    float sum = 0;

    OK(ANeuralNetworksExecution_create(c, &e));
    OK(ANeuralNetworksExecution_setInput(e, 0, NULL, &a, sizeof a));
    OK(ANeuralNetworksExecution_setInput(e, 1, NULL, &b, sizeof b));
    OK(ANeuralNetworksExecution_setOutput(e, 0, NULL, &sum, sizeof sum));
    OK(ANeuralNetworksExecution_compute(e));
    ck_assert(sum == 11);
    ANeuralNetworksExecution_free(e);
}

static void compile_and_check(ANeuralNetworksModel *m, const char *where)
{
    ANeuralNetworksCompilation *c = compile_with(m, &plain, where, NULL);

    check_sum(c);
    ANeuralNetworksCompilation_free(c);
}

/* ---- simulated devices: their caches are real */

static const char *const cached[] = { "sim:cpu", "sim:cpu?hal=1.2", "sim:cpu?hal=fl8" };
enum { CACHED = sizeof cached / sizeof *cached };

static void damage(const char *path)
{
    ck_assert_int_eq(truncate(path, 40), 0);
    make_old(path);
}

START_TEST(second_compilation)
{
    use_devices(cached[_i]);
    make_folder();
    ANeuralNetworksModel *m = add_model(1);

    compile_and_check(m, folder);
    int n = for_files(make_old);
    ck_assert_int_gt(n, 0);
    compile_and_check(m, folder); /* restored: nothing is written */
    ck_assert_int_eq(unwritten(), n);
    for_files(damage);
    compile_and_check(m, folder); /* prepared, and cached again */
    ck_assert_int_eq(unwritten(), 0);
    ck_assert_int_eq(for_files(make_old), n);
    compile_and_check(m, folder);
    ck_assert_int_eq(unwritten(), n);
    ANeuralNetworksModel_free(m);
    remove_folder();
}
END_TEST

/* A cache of another model is not used: floor_model() has one input. */
START_TEST(cache_of_another_model)
{
    use_devices("sim:cpu");
    make_folder();
    ANeuralNetworksModel *m = add_model(1), *other = floor_model();

    ANeuralNetworksCompilation_free(compile_with(other, &plain, folder, NULL));
    int n = for_files(make_old);
    compile_and_check(m, folder);
    ck_assert_int_eq(unwritten(), 0);
    ck_assert_int_eq(for_files(NULL), n);
    ANeuralNetworksModel_free(m);
    ANeuralNetworksModel_free(other);
    remove_folder();
}
END_TEST

START_TEST(folder_that_does_not_exist)
{
    use_devices("sim:cpu");
    ANeuralNetworksModel *m = add_model(1);

    compile_and_check(m, "/nonexistent/folder");
    compile_and_check(m, "");
    ANeuralNetworksModel_free(m);
}
END_TEST

/* The reference, sim:gpu, and drivers before level 3 have no caches. */
START_TEST(device_without_a_cache)
{
    static const char *const without[] = { "", "sim:gpu", "sim:cpu?hal=1.1" };

    use_devices(without[_i]);
    make_folder();
    ANeuralNetworksModel *m = add_model(1);
    compile_and_check(m, folder);
    ck_assert_int_eq(for_files(NULL), 0);
    ANeuralNetworksModel_free(m);
    remove_folder();
}
END_TEST

/* ---- what a driver is given */

static struct scripted_record *driver_record(void)
{
    void *library = dlopen(getenv("SCRIPTED_DRIVER"), RTLD_NOW | RTLD_NOLOAD);

    ck_assert_ptr_nonnull(library);
    struct scripted_record *r = dlsym(library, "scripted_record");
    ck_assert_ptr_nonnull(r);
    dlclose(library);
    return r;
}

/* Compiles; checks the numbers of calls and of files of the last one, and the result. */
static void expect_calls(ANeuralNetworksModel *m, const struct options *o, const char *where,
                         uint32_t restored, uint32_t prepared, uint32_t n_model, uint32_t n_data,
                         int expected)
{
    struct scripted_record *r = driver_record();
    int result;

    r->prepared = r->restored = 0;
    ANeuralNetworksCompilation_free(compile_with(m, o, where, &result));
    ck_assert_int_eq(result, expected);
    ck_assert_uint_eq(r->restored, restored);
    ck_assert_uint_eq(r->prepared, prepared);
    ck_assert_uint_eq(r->n_model, n_model);
    ck_assert_uint_eq(r->n_data, n_data);
}

static bool has_token(void)
{
    static const uint8_t zeros[HAL_TOKEN_BYTES];

    return memcmp(driver_record()->token, zeros, sizeof zeros) != 0;
}

/* The name of the file after the folder: the token in letters, the kind, the number. */
static void check_name(const char *path)
{
    const char *name = path + strlen(folder) + 1;
    const uint8_t *token = driver_record()->token;

    for (int i = 0; i < HAL_TOKEN_BYTES; i++) {
        ck_assert_int_eq(name[2 * i], 'A' + token[i] % 16);
        ck_assert_int_eq(name[2 * i + 1], 'A' + token[i] / 16);
    }
    const char *rest = name + NAME_LENGTH;
    ck_assert_msg(!strcmp(rest, "10") || !strcmp(rest, "20") || !strcmp(rest, "21"), "%s", name);
}

/* restores: whether the driver restores from the cache.  result: of its preparations. */
static void check_driver(const char *script, bool restores, int result)
{
    const struct options no_token = { plain.preference, plain.priority, NULL };

    use_devices(script);
    make_folder();
    ANeuralNetworksModel *m = add_model(1);
    device_at(0); /* loads the driver */
    expect_calls(m, &no_token, NULL, 0, 1, 0, 0, result);
    ck_assert(!has_token());
    ck_assert_int_eq(for_files(NULL), 0);
    expect_calls(m, &plain, folder, 0, 1, 1, 2, result); /* no files */
    ck_assert(has_token());
    ck_assert_int_eq(for_files(check_name), 3);
    expect_calls(m, &plain, folder, 1, restores ? 0 : 1, 1, 2,
                 restores ? ANEURALNETWORKS_NO_ERROR : result);
    /* A cache that has another number of inputs. */
    driver_record()->n_inputs = 3;
    expect_calls(m, &plain, folder, 1, 1, 1, 2, result);
    expect_calls(m, &plain, "/nonexistent", 0, 1, 0, 0, result);
    ck_assert(has_token());
    ANeuralNetworksModel_free(m);
    remove_folder();
}

START_TEST(calls_of_the_driver)
{
    switch (_i) {
    case 0: check_driver("%s?models=1&data=2&restore=0", true, ANEURALNETWORKS_NO_ERROR); break;
    case 1: check_driver("%s?models=1&data=2", false, ANEURALNETWORKS_NO_ERROR); break;
    case 2: check_driver("%s?models=1&data=2&prepare=2", false, ANEURALNETWORKS_OP_FAILED); break;
    }
}
END_TEST

START_TEST(numbers_of_files)
{
    static const struct {
        int models, data, counted;
        bool is_listed;
    } rows[] = { { 0, 0, 0, true },   { 0, 1, 0, true },   { 1, 0, 0, true }, { 32, 32, 0, true },
                 { 33, 0, 0, false }, { 0, 33, 0, false }, { 1, 1, 2, false } };
    char script[128];
    uint32_t n;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if ((int) i == _i) {
            snprintf(script, sizeof script, "%%s?models=%d&data=%d&counted=%d", rows[i].models,
                     rows[i].data, rows[i].counted);
            use_devices(script);
            OK(ANeuralNetworks_getDeviceCount(&n));
            ck_assert_uint_eq(n, rows[i].is_listed ? 2 : 1);
        }
}
END_TEST

/* ---- tokens */

/* The token that the driver gets; equal in every repetition. */
static void token_of(uint32_t device, const struct options *o, uint8_t ret[HAL_TOKEN_BYTES])
{
    ANeuralNetworksModel *m = add_model(1);
    const ANeuralNetworksDevice *d = device_at(device);

    for (int i = 0; i < 3; i++) {
        ANeuralNetworksCompilation *c;
        OK(ANeuralNetworksCompilation_createForDevices(m, &d, 1, &c));
        OK(ANeuralNetworksCompilation_setPreference(c, o->preference));
        OK(ANeuralNetworksCompilation_setPriority(c, o->priority));
        OK(ANeuralNetworksCompilation_setCaching(c, "/nonexistent", o->token));
        OK(ANeuralNetworksCompilation_finish(c));
        ANeuralNetworksCompilation_free(c);
        if (i)
            ck_assert_mem_eq(ret, driver_record()->token, HAL_TOKEN_BYTES);
        memcpy(ret, driver_record()->token, HAL_TOKEN_BYTES);
    }
    ANeuralNetworksModel_free(m);
}

START_TEST(tokens_differ)
{
    static const uint8_t other_token[ANEURALNETWORKS_BYTE_SIZE_OF_CACHE_TOKEN] = { 1, 2, 0xac };
    const struct {
        uint32_t device;
        struct options options;
    } rows[] = {
        { 0, plain },
        { 1, plain }, /* another name */
        { 0, { ANEURALNETWORKS_PREFER_LOW_POWER, plain.priority, some_token } },
        { 0, { ANEURALNETWORKS_PREFER_SUSTAINED_SPEED, plain.priority, some_token } },
        { 0, { plain.preference, ANEURALNETWORKS_PRIORITY_LOW, some_token } },
        { 0, { plain.preference, ANEURALNETWORKS_PRIORITY_HIGH, some_token } },
        { 0, { plain.preference, plain.priority, other_token } },
    };
    enum { ROWS = sizeof rows / sizeof *rows };
    uint8_t token[ROWS][HAL_TOKEN_BYTES];

    use_devices("%s?name=a&models=1,%s?name=b&models=1");
    for (int i = 0; i < ROWS; i++) {
        token_of(rows[i].device, &rows[i].options, token[i]);
        for (int k = 0; k < i; k++)
            ck_assert_mem_ne(token[i], token[k], HAL_TOKEN_BYTES);
    }
}
END_TEST

/* SHA-256 of token, name, version, preference 1 and priority 100, by sha256sum. */
START_TEST(token_by_hand)
{
    static const uint8_t expected[HAL_TOKEN_BYTES] = { 0xbc, 0x24, 0xae, 0x11, 0x0d, 0xdc, 0xec,
                                                       0x51, 0xa9, 0x5d, 0xe2, 0xda, 0x08, 0x80,
                                                       0x06, 0x0d, 0x18, 0x9a, 0x7e, 0xb0, 0xc6,
                                                       0x38, 0x5c, 0x59, 0x9c, 0x97, 0xcc, 0xd3,
                                                       0x52, 0xd2, 0x82, 0x62 };
    uint8_t token[HAL_TOKEN_BYTES];

    use_devices("%s?name=a&models=1");
    token_of(0, &plain, token);
    ck_assert_mem_eq(token, expected, sizeof expected);
}
END_TEST

/* The token with attributes 1 and 2 of an extension, added in either order. */
static void token_with(const char *extension, bool reversed, uint8_t second,
                       uint8_t ret[HAL_TOKEN_BYTES])
{
    const uint8_t values[] = { 7, second };
    ANeuralNetworksModel *m = add_model(1);
    const ANeuralNetworksDevice *d = device_at(0);
    ANeuralNetworksCompilation *c;

    OK(ANeuralNetworksCompilation_createForDevices(m, &d, 1, &c));
    for (int i = 0; i < 2; i++) {
        const uint16_t k = i == reversed;
        OK(ANeuralNetworksCompilation_addExtensionAttribute(c, extension, k + 1, &values[k], 1));
    }
    OK(ANeuralNetworksCompilation_setCaching(c, "/nonexistent", some_token));
    OK(ANeuralNetworksCompilation_finish(c));
    memcpy(ret, driver_record()->token, HAL_TOKEN_BYTES);
    ANeuralNetworksCompilation_free(c);
    ANeuralNetworksModel_free(m);
}

START_TEST(tokens_with_attributes)
{
    const char *known = "org.halcyon.example.fibonacci"; /* of sim:dsp */
    uint8_t none[HAL_TOKEN_BYTES], some[HAL_TOKEN_BYTES], again[HAL_TOKEN_BYTES];

    use_devices("%s?models=1,sim:dsp");
    token_of(0, &plain, none);
    token_with(known, false, 8, some);
    ck_assert_mem_ne(some, none, sizeof some);
    token_with(known, true, 8, again);
    ck_assert_mem_eq(some, again, sizeof some);
    token_with(known, false, 9, again);
    ck_assert_mem_ne(some, again, sizeof some);
    token_with("org.example.unknown", false, 8, again);
    ck_assert(!has_token());
}
END_TEST

Suite *api_caching_suite(void)
{
    TCase *devices = tcase_create("devices"), *driver = tcase_create("driver"),
          *tokens = tcase_create("tokens");

    tcase_add_loop_test(devices, second_compilation, 0, CACHED);
    tcase_add_test(devices, cache_of_another_model);
    tcase_add_test(devices, folder_that_does_not_exist);
    tcase_add_loop_test(devices, device_without_a_cache, 0, 3);
    tcase_add_loop_test(driver, calls_of_the_driver, 0, 3);
    tcase_add_loop_test(driver, numbers_of_files, 0, 7);
    tcase_add_test(tokens, tokens_differ);
    tcase_add_test(tokens, token_by_hand);
    tcase_add_test(tokens, tokens_with_attributes);
    return make_suite("api_caching", devices, driver, tokens, NULL);
}
