/* Nothing stays behind: models are built, compiled, executed in every way and freed, again and
 * again; memory and descriptors of the process are counted.  HALCYON_LEAK_MODELS: how many of each
 * kind of devices (400). */
#define _GNU_SOURCE
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/runtime/faults/two_devices.h"
#include "tests/support/check_main.h"

/* Defined only in builds with AddressSanitizer, where mallinfo2() counts nothing. */
__attribute__((weak)) size_t __sanitizer_get_current_allocated_bytes(void);

/* The first models fill what is kept for later use: of each device the last 256 callbacks, idle
 * threads, lists.  Few of them are executed. */
enum { WARM_UP = 1600, EXECUTED = 8, MODELS = 400, N = 64, SIZE = N * sizeof(float) };
/* Bytes that may come and go, as lists of free memory of threads do: less than the smallest object
 * of each model. */
static size_t noise(int n_models)
{
    return 2048 + 4 * (size_t) n_models;
}

static size_t allocated(void)
{
    if (__sanitizer_get_current_allocated_bytes)
        return __sanitizer_get_current_allocated_bytes();
    const struct mallinfo2 m = mallinfo2();
    return m.uordblks + m.hblkhd;
}

static int number_of_models(void)
{
    const char *text = getenv("HALCYON_LEAK_MODELS");

    return text ? atoi(text) : MODELS;
}

/* ---- models with constants of every kind */

static float kept[N], input[N], output[N];

/* output = (input + 1) + 2, where 1 is given by pointer, 2 in a memory; on "a" and the reference.
 */
static struct client_job constants_job(ANeuralNetworksMemory *constants)
{
    struct client_job j = { 0 };
    struct net t = net_new();
    uint32_t x = floats(&t, N), one = floats(&t, N), two = floats(&t, N), o = floats(&t, N);

    constant(&t, one, kept, SIZE);
    OK(ANeuralNetworksModel_setOperandValueFromMemory(t.m, (int32_t) two, constants, 0, SIZE));
    uint32_t sum = fused(&t, ANEURALNETWORKS_ADD, 0, x, one, floats(&t, N));
    uint32_t clipped = fused(&t, ANEURALNETWORKS_ADD, 3, sum, two, floats(&t, N));
    fused(&t, ANEURALNETWORKS_ADD, 0, clipped, two, o);
    finish(&t, LIST(x), LIST(o));
    j.model = t.m;
    job_input(&j, input, SIZE);
    job_output(&j, output, SIZE);
    return j;
}

static void check_constants(const struct client_job *j)
{
    expect_floats(j->output[0], 6, 5); /* min(1 + 1 + 2, 6) + 2, min(0 + 1 + 2, 6) + 2 */
}

/* ---- one model */

static ANeuralNetworksMemory *new_memory(float value)
{
    ANeuralNetworksMemory *m;
    int fd = memfd_create("test", MFD_CLOEXEC);

    for (int i = 0; i < N; i++)
        ck_assert_int_eq(write(fd, &value, sizeof value), sizeof value);
    OK(ANeuralNetworksMemory_createFromFd(SIZE, PROT_READ | PROT_WRITE, fd, 0, &m));
    close(fd);
    return m;
}

/* A memory for an input, filled by a copy. */
static void use_descriptor(const struct client_job *j, bool is_listed)
{
    ANeuralNetworksMemory *m, *host = new_memory(3), *twice = NULL;
    ANeuralNetworksMemoryDesc *d;

    OK(ANeuralNetworksMemoryDesc_create(&d));
    OK(ANeuralNetworksMemoryDesc_addInputRole(d, j->compilation, 0, 1));
    OK(ANeuralNetworksMemoryDesc_finish(d));
    if (ANeuralNetworksMemory_createFromDesc(d, &m) == ANEURALNETWORKS_NO_ERROR) {
        OK(ANeuralNetworksMemory_createFromDesc(d, &twice));
        ANeuralNetworksMemory_copy(host, m); /* of another size in two_devices_job() */
        ANeuralNetworksMemory_copy(m, twice);
    } else {
        ck_assert(is_listed);
    }
    ANeuralNetworksMemory_free(m);
    ANeuralNetworksMemory_free(twice);
    ANeuralNetworksMemory_free(host);
    ANeuralNetworksMemoryDesc_free(d);
}

static void run_each_way(struct client_job *j)
{
    ANeuralNetworksBurst *burst;

    OK(ANeuralNetworksBurst_create(j->compilation, &burst));
    for (int i = 0; i < 2 * WAYS; i++) {
        ANeuralNetworksExecution *e = job_execution(j);
        OK(ANeuralNetworksExecution_setReusable(e, i % 2));
        OK(job_run(e, (enum way)(i / 2), burst));
        ANeuralNetworksExecution_free(e);
    }
    ANeuralNetworksBurst_free(burst);
}

static void live(int turn, enum mode mode, bool is_executed)
{
    const enum plan plan = (enum plan)(turn % PLANS);
    const bool has_constants = mode != LISTED && turn % 2;
    ANeuralNetworksMemory *constants = new_memory(2);
    struct client_job j = has_constants ? constants_job(constants) : two_devices_job(plan);

    if (two_devices_compile(&j, mode, plan) == ANEURALNETWORKS_NO_ERROR && is_executed) {
        run_each_way(&j);
        use_descriptor(&j, mode == LISTED);
        if (has_constants)
            check_constants(&j);
        else
            two_devices_check(&j, plan);
    }
    job_done(&j);
    ANeuralNetworksMemory_free(constants);
}

static const struct {
    const char *devices;
    enum mode mode;
} rows[] = {
    { "%c?name=a&ops=0.0,%c?name=b&ops=0.1", WITH_FALLBACK },
    { "%c?name=a&ops=0.0,%c?name=b&ops=0.1", LISTED },
    { "%c?name=a&ops=0.0&hal=11,%c?name=b&ops=0.1&hal=12", WITH_FALLBACK },
    { "%c?name=a&ops=0.0&fault=prepare.2,%c?name=b&ops=0.1", WITH_FALLBACK },
    { "%c?name=a&ops=0.0&fault=execute.2,%c?name=b&ops=0.1", WITH_FALLBACK },
    { "%c?name=a&ops=0.0&fault=arity,%c?name=b&ops=0.1", LISTED },
    { "sim:cpu", WITH_FALLBACK },
    { "", NO_DEVICES },
};
enum { ROWS = sizeof rows / sizeof *rows };

START_TEST(many_models)
{
    const int n = number_of_models();
    size_t bytes = 0;
    int n_files = 0;

    for (int i = 0; i < N; i++) {
        kept[i] = 1;
        input[i] = i == 0 ? 1 : 0;
    }
    set_mode(rows[_i].mode);
    use_devices(rows[_i].devices);
    for (int i = 0; i < WARM_UP + n; i++) {
        live(i, rows[_i].mode, i >= WARM_UP || i % EXECUTED < 2);
        if (i == WARM_UP - 1) {
            bytes = allocated();
            n_files = open_files();
        }
    }
    /* Drivers' threads of fenced executions end by themselves. */
    for (int i = 0; i < 100 && (allocated() > bytes + noise(n) || open_files() > n_files); i++)
        usleep(20000);
    ck_assert_int_le(open_files(), n_files);
    ck_assert_msg(allocated() <= bytes + noise(n), "%s: %zu bytes more after %d models",
                  rows[_i].devices, allocated() - bytes, n);
}
END_TEST

Suite *api_leaks_suite(void)
{
    TCase *leaks = tcase_create("leaks");

    tcase_add_loop_test(leaks, many_models, 0, ROWS);
    tcase_set_timeout(leaks, 800);
    return make_suite("api_leaks", leaks, NULL);
}
