/* Compilation caching of models on several devices: each step of the plan has files of its own. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/runtime/chosen_driver.h"
#include "tests/runtime/client_job.h"
#include "tests/support/check_main.h"

static const uint8_t some_token[ANEURALNETWORKS_BYTE_SIZE_OF_CACHE_TOKEN] = { 1, 2, 0xab };
static const uint8_t other_token[ANEURALNETWORKS_BYTE_SIZE_OF_CACHE_TOKEN] = { 1, 2, 0xac };

/* ---- folder */

static char folder[64];

static void make_folder(void)
{
    snprintf(folder, sizeof folder, "/tmp/halcyon-cache-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

/* How many files there are; those whose name begins with `prefix` are removed. */
static int files(const char *prefix)
{
    DIR *d = opendir(folder);
    int n = 0;

    ck_assert_ptr_nonnull(d);
    for (struct dirent *e; (e = readdir(d));) {
        if (e->d_name[0] == '.')
            continue;
        n++;
        if (prefix && strncmp(e->d_name, prefix, strlen(prefix)) == 0)
            ck_assert_int_eq(unlinkat(dirfd(d), e->d_name, 0), 0);
    }
    closedir(d);
    return n;
}

static void remove_folder(void)
{
    files("");
    ck_assert_int_eq(rmdir(folder), 0);
}

/* The name of a token's files, without kind and number. */
static void name_of(const uint8_t *token, char ret[2 * HAL_TOKEN_BYTES + 1])
{
    for (int i = 0; i < HAL_TOKEN_BYTES; i++)
        sprintf(ret + 2 * (size_t) i, "%c%c", 'A' + token[i] % 16, 'A' + token[i] / 16);
}

/* ---- compilations */

static struct chosen_record *driver_record(void)
{
    device_at(0); /* loads the drivers */
    void *library = dlopen(getenv("CHOSEN_DRIVER"), RTLD_NOW | RTLD_NOLOAD);

    ck_assert_ptr_nonnull(library);
    struct chosen_record *r = dlsym(library, "chosen_record");
    ck_assert_ptr_nonnull(r);
    dlclose(library);
    return r;
}

struct options {
    int32_t preference, priority;
    const uint8_t *token; /* NULL: no caching */
};
static const struct options plain = { ANEURALNETWORKS_PREFER_FAST_SINGLE_ANSWER,
                                      ANEURALNETWORKS_PRIORITY_MEDIUM, some_token };

/* For all devices. */
static ANeuralNetworksCompilation *compile_with(ANeuralNetworksModel *m, const struct options *o,
                                                const char *where)
{
    ANeuralNetworksCompilation *c;

    driver_record()->n = 0;
    OK(ANeuralNetworksCompilation_create(m, &c));
    OK(ANeuralNetworksCompilation_setPreference(c, o->preference));
    OK(ANeuralNetworksCompilation_setPriority(c, o->priority));
    if (o->token)
        OK(ANeuralNetworksCompilation_setCaching(c, where, o->token));
    OK(ANeuralNetworksCompilation_finish(c));
    return c;
}

/* o = relu((a + b) + c): FUSED_NONE, then FUSED_RELU. */
static ANeuralNetworksModel *chain_model(void)
{
    struct net t = net_new();
    uint32_t a = floats(&t, 2), b = floats(&t, 2), c = floats(&t, 2);
    uint32_t sum = fused(&t, ANEURALNETWORKS_ADD, 0, a, b, floats(&t, 2));
    uint32_t o = fused(&t, ANEURALNETWORKS_ADD, 1, sum, c, floats(&t, 2));

    finish(&t, LIST(a, b, c), LIST(o));
    return t.m;
}

static void check_chain(ANeuralNetworksModel *m, ANeuralNetworksCompilation *c)
{
    static float one[2] = { 1, -2 }, two[2] = { 10, -20 }, three[2] = { 100, 7 }, out[2];
    struct client_job j = { .model = m, .compilation = c };

    job_input(&j, one, sizeof one);
    job_input(&j, two, sizeof two);
    job_input(&j, three, sizeof three);
    job_output(&j, out, sizeof out);
    OK(job_compute(&j));
    expect_floats(out, 111, 0);
}

/* Compiles, computes, and checks whether a's step and b's were restored. */
static void compile_chain(ANeuralNetworksModel *m, const struct options *o, const char *where,
                          bool a_restored, bool b_restored, bool has_files)
{
    const struct chosen_record *r = driver_record();
    ANeuralNetworksCompilation *c = compile_with(m, o, where);

    ck_assert_uint_eq(r->n, 2);
    for (int i = 0; i < 2; i++) {
        const struct chosen_preparation *p = &r->preparation[i];
        ck_assert_str_eq(p->name, i ? "b" : "a");
        ck_assert_int_eq(p->is_restored, i ? b_restored : a_restored);
        ck_assert_int_eq(p->n_files > 0, has_files);
    }
    check_chain(m, c);
    ANeuralNetworksCompilation_free(c);
}

#define CACHING_DRIVERS                                                                            \
    "%c?name=a&ops=0.0&inner=sim:cpu,"                                                             \
    "%c?name=b&ops=0.1&inner=sim:cpu"

START_TEST(steps_are_restored)
{
    char b_files[2 * HAL_TOKEN_BYTES + 1];

    use_devices(CACHING_DRIVERS);
    make_folder();
    ANeuralNetworksModel *m = chain_model();
    compile_chain(m, &plain, folder, false, false, true);
    name_of(driver_record()->preparation[1].token, b_files);
    const int n = files(NULL);
    compile_chain(m, &plain, folder, true, true, true);
    ck_assert_int_eq(files(b_files), n);
    ck_assert_int_eq(files(NULL), n / 2);
    compile_chain(m, &plain, folder, true, false, true); /* b's are written again */
    compile_chain(m, &plain, folder, true, true, true);
    ANeuralNetworksModel_free(m);
    remove_folder();
}
END_TEST

START_TEST(steps_without_files)
{
    const struct options no_token = { plain.preference, plain.priority, NULL };
    static const uint8_t zeros[HAL_TOKEN_BYTES];
    const struct chosen_record *r;

    use_devices(CACHING_DRIVERS);
    make_folder();
    r = driver_record();
    ANeuralNetworksModel *m = chain_model();
    for (int i = 0; i < 2; i++) {
        compile_chain(m, &no_token, NULL, false, false, false);
        ck_assert_mem_eq(r->preparation[0].token, zeros, sizeof zeros);
        ck_assert_mem_eq(r->preparation[1].token, zeros, sizeof zeros);
    }
    ck_assert_int_eq(files(NULL), 0);
    compile_chain(m, &plain, "/nonexistent", false, false, false);
    ck_assert_mem_ne(r->preparation[0].token, zeros, sizeof zeros);
    ANeuralNetworksModel_free(m);
    remove_folder();
}
END_TEST

/* Only the device that needs cache files gets some. */
START_TEST(step_on_a_device_without_a_cache)
{
    use_devices("%c?name=a&ops=0.0&inner=sim:cpu,%c?name=b&ops=0.1");
    make_folder();
    ANeuralNetworksModel *m = chain_model();
    for (int i = 0; i < 2; i++) {
        ANeuralNetworksCompilation *c = compile_with(m, &plain, folder);
        const struct chosen_record *r = driver_record();
        ck_assert_uint_eq(r->n, 2);
        ck_assert_int_eq(r->preparation[0].is_restored, i == 1);
        ck_assert_uint_eq(r->preparation[1].n_files, 0);
        check_chain(m, c);
        ANeuralNetworksCompilation_free(c);
    }
    ANeuralNetworksModel_free(m);
    remove_folder();
}
END_TEST

/* ---- tokens */

/* Compiles three times; the tokens of the steps, which are equal each time. */
static uint32_t tokens_of(ANeuralNetworksModel *m, const struct options *o,
                          uint8_t ret[][HAL_TOKEN_BYTES])
{
    const struct chosen_record *r = driver_record();

    for (int i = 0; i < 3; i++) {
        ANeuralNetworksCompilation_free(compile_with(m, o, "/nonexistent"));
        for (uint32_t k = 0; k < r->n; k++) {
            if (i)
                ck_assert_mem_eq(ret[k], r->preparation[k].token, HAL_TOKEN_BYTES);
            memcpy(ret[k], r->preparation[k].token, HAL_TOKEN_BYTES);
        }
    }
    return r->n;
}

/* SHA-256, by hashlib of Python, of token, (model 0, operation 0) or (0, 1), "a" or "b", "chosen
 * 1", preference 1 and priority 100. */
START_TEST(tokens_by_hand)
{
    static const uint8_t expected[2][HAL_TOKEN_BYTES] = {
        { 0xd9, 0xca, 0xc5, 0x1d, 0xc3, 0x6a, 0x89, 0x97, 0x90, 0x58, 0x3e,
          0xcc, 0x88, 0x33, 0x80, 0x4d, 0xcd, 0xd3, 0x86, 0xcc, 0xa4, 0x9b,
          0x83, 0x53, 0x55, 0x38, 0xf5, 0xc8, 0xfb, 0x75, 0x82, 0xd6 },
        { 0x9d, 0xd2, 0xc7, 0xaa, 0x89, 0x6c, 0xc7, 0x81, 0xbc, 0x75, 0x11,
          0xcf, 0x4e, 0x04, 0x99, 0x75, 0xdd, 0xf5, 0x4f, 0xf5, 0x28, 0xce,
          0xcb, 0x74, 0xf6, 0x9c, 0xb3, 0x7a, 0x40, 0xd7, 0x9b, 0xd0 },
    };
    uint8_t token[2][HAL_TOKEN_BYTES];

    use_devices(CACHING_DRIVERS);
    ANeuralNetworksModel *m = chain_model();
    ck_assert_uint_eq(tokens_of(m, &plain, token), 2);
    ck_assert_mem_eq(token[0], expected[0], HAL_TOKEN_BYTES);
    ck_assert_mem_eq(token[1], expected[1], HAL_TOKEN_BYTES);
    ANeuralNetworksModel_free(m);
}
END_TEST

START_TEST(tokens_differ_by_options)
{
    static const struct options rows[] = {
        { ANEURALNETWORKS_PREFER_FAST_SINGLE_ANSWER, ANEURALNETWORKS_PRIORITY_MEDIUM, some_token },
        { ANEURALNETWORKS_PREFER_FAST_SINGLE_ANSWER, ANEURALNETWORKS_PRIORITY_MEDIUM, other_token },
        { ANEURALNETWORKS_PREFER_LOW_POWER, ANEURALNETWORKS_PRIORITY_MEDIUM, some_token },
        { ANEURALNETWORKS_PREFER_SUSTAINED_SPEED, ANEURALNETWORKS_PRIORITY_MEDIUM, some_token },
        { ANEURALNETWORKS_PREFER_FAST_SINGLE_ANSWER, ANEURALNETWORKS_PRIORITY_LOW, some_token },
        { ANEURALNETWORKS_PREFER_FAST_SINGLE_ANSWER, ANEURALNETWORKS_PRIORITY_HIGH, some_token },
    };
    enum { ROWS = sizeof rows / sizeof *rows };
    uint8_t token[2 * ROWS][HAL_TOKEN_BYTES];

    use_devices(CACHING_DRIVERS);
    ANeuralNetworksModel *m = chain_model();
    for (int i = 0; i < ROWS; i++)
        ck_assert_uint_eq(tokens_of(m, &rows[i], token + 2 * (size_t) i), 2);
    for (int i = 0; i < 2 * ROWS; i++)
        for (int k = 0; k < i; k++)
            ck_assert_mem_ne(token[i], token[k], HAL_TOKEN_BYTES);
    ANeuralNetworksModel_free(m);
}
END_TEST

/* Whether two configurations of the first step's device give the step the same token. */
static const struct {
    const char *first, *second;
    bool is_equal;
} devices_of_step[] = {
    { "a&ops=0.0", "a&ops=0.0", true },
    { "a&ops=0.0", "a&ops=0.0&row=0.4", true },
    { "a&ops=0.0", "c&ops=0.0", false },
    { "a&ops=0.0", "a&ops=0.0&version=2", false },
};
enum { DEVICES = sizeof devices_of_step / sizeof *devices_of_step };

/* The token of the first step, from a process of its own: the devices of a process do not change.
 */
static void token_with_device(const char *arguments, uint8_t ret[HAL_TOKEN_BYTES])
{
    int ends[2], status;

    ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        uint8_t token[2][HAL_TOKEN_BYTES];
        char text[256];
        snprintf(text, sizeof text, "%%c?inner=sim:cpu&name=%s,%%c?name=b&ops=0.1", arguments);
        use_devices(text);
        ANeuralNetworksModel *m = chain_model();
        const bool is_right =
            tokens_of(m, &plain, token) == 2 &&
            write(ends[1], token[0], HAL_TOKEN_BYTES) == (ssize_t) HAL_TOKEN_BYTES;
        ANeuralNetworksModel_free(m);
        _exit(!is_right);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    ck_assert_int_eq(read(ends[0], ret, HAL_TOKEN_BYTES), HAL_TOKEN_BYTES);
    close(ends[0]);
    close(ends[1]);
}

START_TEST(tokens_and_devices)
{
    uint8_t first[HAL_TOKEN_BYTES], second[HAL_TOKEN_BYTES];

    token_with_device(devices_of_step[_i].first, first);
    token_with_device(devices_of_step[_i].second, second);
    ck_assert_int_eq(memcmp(first, second, HAL_TOKEN_BYTES) == 0, devices_of_step[_i].is_equal);
}
END_TEST

/* The step on a has one operation, then two. */
START_TEST(tokens_and_operations)
{
    uint8_t one[2][HAL_TOKEN_BYTES], two[2][HAL_TOKEN_BYTES];

    use_devices(CACHING_DRIVERS);
    ANeuralNetworksModel *m = chain_model();
    struct net t = net_new();
    uint32_t a = floats(&t, 2), b = floats(&t, 2);
    uint32_t first = fused(&t, ANEURALNETWORKS_ADD, 0, a, b, floats(&t, 2));
    uint32_t second = fused(&t, ANEURALNETWORKS_ADD, 0, first, b, floats(&t, 2));
    uint32_t o = fused(&t, ANEURALNETWORKS_ADD, 1, second, b, floats(&t, 2));
    finish(&t, LIST(a, b), LIST(o));
    ck_assert_uint_eq(tokens_of(m, &plain, one), 2);
    ck_assert_uint_eq(tokens_of(t.m, &plain, two), 2);
    ck_assert_mem_ne(one[0], two[0], HAL_TOKEN_BYTES);
    ck_assert_mem_ne(one[1], two[1], HAL_TOKEN_BYTES);
    ANeuralNetworksModel_free(m);
    ANeuralNetworksModel_free(t.m);
}
END_TEST

/* o = a + b */
static ANeuralNetworksModel *branch_model(int32_t activation)
{
    struct net t = net_new();
    uint32_t a = floats(&t, 2), b = floats(&t, 2);
    uint32_t o = fused(&t, ANEURALNETWORKS_ADD, activation, a, b, floats(&t, 2));

    finish(&t, LIST(a, b), LIST(o));
    return t.m;
}

/* The same operation of the same device in both branches, and one of another device. */
START_TEST(tokens_of_referenced_models)
{
    uint8_t token[4][HAL_TOKEN_BYTES];

    use_devices(CACHING_DRIVERS);
    ANeuralNetworksModel *branch[2] = { branch_model(0), branch_model(1) }, *m[2];
    for (int i = 0; i < 2; i++) {
        struct net t = net_new();
        uint32_t c = bools(&t), a = floats(&t, 2), b = floats(&t, 2), o = floats(&t, 2);
        uint32_t then = model_operand(&t, branch[0]), other = model_operand(&t, branch[i]);
        operate(&t, ANEURALNETWORKS_IF, LIST(c, then, other, a, b), LIST(o));
        finish(&t, LIST(c, a, b), LIST(o));
        m[i] = t.m;
        ck_assert_uint_eq(tokens_of(m[i], &plain, token + 2 * (size_t) i), 2);
    }
    ck_assert_mem_ne(token[0], token[1], HAL_TOKEN_BYTES);
    ck_assert_mem_eq(token[0], token[2], HAL_TOKEN_BYTES);
    ck_assert_mem_ne(token[1], token[3], HAL_TOKEN_BYTES);
    for (int i = 0; i < 2; i++) {
        ANeuralNetworksModel_free(m[i]);
        ANeuralNetworksModel_free(branch[i]);
    }
}
END_TEST

Suite *api_step_caching_suite(void)
{
    TCase *steps = tcase_create("steps"), *tokens = tcase_create("tokens");

    tcase_add_test(steps, steps_are_restored);
    tcase_add_test(steps, steps_without_files);
    tcase_add_test(steps, step_on_a_device_without_a_cache);
    tcase_add_test(tokens, tokens_by_hand);
    tcase_add_test(tokens, tokens_differ_by_options);
    tcase_add_loop_test(tokens, tokens_and_devices, 0, DEVICES);
    tcase_add_test(tokens, tokens_and_operations);
    tcase_add_test(tokens, tokens_of_referenced_models);
    return make_suite("api_step_caching", steps, tokens, NULL);
}
