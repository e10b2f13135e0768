/* Compilation caching in files that the client has opened, as a support library gets them. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/compile/compilation.h"
#include "tests/runtime/nnapi_client.h"
#include "tests/runtime/scripted_driver.h"
#include "tests/support/check_main.h"

enum { MOST = HAL_MAX_CACHE_FILES + 1 };

static const uint8_t token[ANEURALNETWORKS_BYTE_SIZE_OF_CACHE_TOKEN] = { 4, 5, 6 };

static ANeuralNetworksCompilation *compilation_for(ANeuralNetworksModel *m)
{
    const ANeuralNetworksDevice *d = device_at(0);
    ANeuralNetworksCompilation *c;

    OK(ANeuralNetworksCompilation_createForDevices(m, &d, 1, &c));
    return c;
}

static void open_files(int *fd, int n)
{
    for (int i = 0; i < n; i++) {
        fd[i] = memfd_create("cache", MFD_CLOEXEC);
        ck_assert_int_ge(fd[i], 0);
    }
}

static void close_files(const int *fd, int n)
{
    for (int i = 0; i < n; i++)
        ck_assert_int_eq(close(fd[i]), 0);
}

/* ---- the arguments */

START_TEST(checks_in_order)
{
    int fd[MOST];

    use_devices("sim:cpu");
    ANeuralNetworksModel *m = add_model(1);
    ANeuralNetworksCompilation *c = compilation_for(m);
    open_files(fd, MOST);
    EXPECT(compilation_set_caching_from_fds(NULL, fd, 1, fd, 1, token), UNEXPECTED_NULL);
    EXPECT(compilation_set_caching_from_fds(c, NULL, 1, fd, 1, token), UNEXPECTED_NULL);
    EXPECT(compilation_set_caching_from_fds(c, fd, 1, NULL, 1, token), UNEXPECTED_NULL);
    EXPECT(compilation_set_caching_from_fds(c, fd, 1, fd, 1, NULL), UNEXPECTED_NULL);
    EXPECT(compilation_set_caching_from_fds(c, fd, MOST, fd, 1, token), BAD_DATA);
    EXPECT(compilation_set_caching_from_fds(c, fd, 1, fd, MOST, token), BAD_DATA);
    EXPECT(compilation_set_caching_from_fds(c, &(int){ -1 }, 1, fd, 1, token), BAD_DATA);
    OK(compilation_set_caching_from_fds(c, fd, MOST - 1, fd, MOST - 1, token));
    OK(compilation_set_caching_from_fds(c, NULL, 0, NULL, 0, token));
    OK(compilation_set_caching_from_fds(c, fd, 2, NULL, 0, token)); /* the last one counts */
    close_files(fd, MOST);
    OK(ANeuralNetworksCompilation_finish(c));
    EXPECT(compilation_set_caching_from_fds(c, fd, 1, fd, 1, NULL), UNEXPECTED_NULL);
    EXPECT(compilation_set_caching_from_fds(c, fd, MOST, fd, 1, token), BAD_STATE);
    ANeuralNetworksCompilation_free(c);
    ANeuralNetworksModel_free(m);
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

/* The driver needs one model file and two data files. */
static const struct {
    const char *script;
    uint32_t n_model, n_data; /* given */
    uint32_t restored, prepared, got_model, got_data;
} calls[] = {
    { "%s?models=1&data=2&restore=0", 1, 2, 1, 0, 1, 2 },
    { "%s?models=1&data=2", 1, 2, 1, 1, 1, 2 },
    { "%s?models=1&data=2&restore=0", 2, 1, 0, 1, 0, 0 },
    { "%s?models=1&data=2&restore=0", 0, 0, 0, 1, 0, 0 },
    { "%s?models=1&data=2&restore=0", 1, 3, 0, 1, 0, 0 },
    { "%s", 1, 2, 0, 1, 0, 0 }, /* needs none */
};
enum { CALLS = sizeof calls / sizeof *calls };

START_TEST(calls_of_the_driver)
{
    int fd[4];

    use_devices(calls[_i].script);
    ANeuralNetworksModel *m = add_model(1);
    ANeuralNetworksCompilation *c = compilation_for(m);
    struct scripted_record *r = driver_record();
    open_files(fd, 4);
    *r = (struct scripted_record){ .n_inputs = 2, .n_outputs = 1 };
    OK(compilation_set_caching_from_fds(c, fd, calls[_i].n_model, fd + 1, calls[_i].n_data, token));
    OK(ANeuralNetworksCompilation_finish(c));
    ck_assert_uint_eq(r->restored, calls[_i].restored);
    ck_assert_uint_eq(r->prepared, calls[_i].prepared);
    ck_assert_uint_eq(r->n_model, calls[_i].got_model);
    ck_assert_uint_eq(r->n_data, calls[_i].got_data);
    ANeuralNetworksCompilation_free(c);
    ANeuralNetworksModel_free(m);
    close_files(fd, 4);
}
END_TEST

/* ---- a simulated device, which really caches */

/* Bytes of the files, one behind the other. */
static size_t contents(const int *fd, int n, uint8_t *to, size_t size)
{
    size_t length = 0;

    for (int i = 0; i < n; i++) {
        ssize_t got = pread(fd[i], to + length, size - length, 0);
        ck_assert_int_ge(got, 0);
        length += (size_t) got;
    }
    return length;
}

/* Compiles with the files, whose descriptors are closed before finish. */
static void compile_in(ANeuralNetworksModel *m, const int *fd, uint32_t n_model, uint32_t n_data)
{
    ANeuralNetworksCompilation *c = compilation_for(m);
    int own[2 * HAL_MAX_CACHE_FILES];

    for (uint32_t i = 0; i < n_model + n_data; i++)
        own[i] = dup(fd[i]);
    OK(compilation_set_caching_from_fds(c, own, n_model, own + n_model, n_data, token));
    close_files(own, (int) (n_model + n_data));
    OK(ANeuralNetworksCompilation_finish(c));
    ANeuralNetworksCompilation_free(c);
}

START_TEST(second_compilation_restores)
{
    static uint8_t first[1 << 16], second[1 << 16];
    int fd[2 * HAL_MAX_CACHE_FILES];

    use_devices("sim:cpu");
    ANeuralNetworksModel *m = add_model(1);
    const ANeuralNetworksDevice *d = device_at(0);
    const int n = (int) (d->n_model_cache + d->n_data_cache);
    open_files(fd, n);
    compile_in(m, fd, d->n_model_cache, d->n_data_cache);
    const size_t length = contents(fd, n, first, sizeof first);
    ck_assert_uint_gt(length, 0);
    for (int i = 0; i < n; i++) { /* a second preparation would fail to write here, or write */
        ck_assert_int_eq(futimens(fd[i], (struct timespec[2]){ { 1000, 0 }, { 1000, 0 } }), 0);
        ck_assert_int_eq(lseek(fd[i], 7, SEEK_SET), 7);
    }
    compile_in(m, fd, d->n_model_cache, d->n_data_cache);
    ck_assert_uint_eq(contents(fd, n, second, sizeof second), length);
    ck_assert_mem_eq(first, second, length);
    for (int i = 0; i < n; i++) {
        struct stat st;
        ck_assert_int_eq(fstat(fd[i], &st), 0);
        ck_assert_int_eq(st.st_mtime, 1000);
    }
    close_files(fd, n);
    ANeuralNetworksModel_free(m);
}
END_TEST

Suite *cache_files_suite(void)
{
    TCase *all = tcase_create("all");

    tcase_add_test(all, checks_in_order);
    tcase_add_loop_test(all, calls_of_the_driver, 0, CALLS);
    tcase_add_test(all, second_compilation_restores);
    return make_suite("cache_files", all, NULL);
}
