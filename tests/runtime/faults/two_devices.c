#include "tests/runtime/faults/two_devices.h"

#include <check.h>
#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

static float first[2] = { 1, -2 }, second[2] = { 10, -20 }, result[2];

static const float expected[PLANS][2] = {
    [ONE_STEP] = { 11, -22 }, /* first + second */
    [FIRST_STEP] = { 12, 0 }, /* relu((first + second) + first) */
    [LAST_STEP] = { 12, -2 }, /* relu(first + second) + first */
};

void set_mode(enum mode mode)
{
    const char digit[2] = { (char) ('0' + (mode == LISTED ? WITH_FALLBACK : mode)), 0 };

    ck_assert_int_eq(setenv("HALCYON_DEBUG_NN_PARTITION", digit, 1), 0);
}

struct client_job two_devices_job(enum plan plan)
{
    struct client_job j = { 0 };
    struct net t = net_new();
    uint32_t x = floats(&t, 2), y = floats(&t, 2), o = floats(&t, 2);

    if (plan == ONE_STEP) {
        fused(&t, ANEURALNETWORKS_ADD, 0, x, y, o);
    } else {
        uint32_t between = fused(&t, ANEURALNETWORKS_ADD, plan == LAST_STEP, x, y, floats(&t, 2));
        fused(&t, ANEURALNETWORKS_ADD, plan == FIRST_STEP, between, x, o);
    }
    finish(&t, LIST(x, y), LIST(o));
    j.model = t.m;
    job_input(&j, first, sizeof first);
    job_input(&j, second, sizeof second);
    job_output(&j, result, sizeof result);
    return j;
}

void two_devices_begin(struct client_job *j, enum mode mode, enum plan plan)
{
    if (mode == LISTED) {
        const ANeuralNetworksDevice *list[] = { device_named("a"), device_named("b") };
        OK(ANeuralNetworksCompilation_createForDevices(j->model, list, plan == ONE_STEP ? 1 : 2,
                                                       &j->compilation));
    } else {
        OK(ANeuralNetworksCompilation_create(j->model, &j->compilation));
    }
}

int two_devices_compile(struct client_job *j, enum mode mode, enum plan plan)
{
    two_devices_begin(j, mode, plan);
    return ANeuralNetworksCompilation_finish(j->compilation);
}

void two_devices_check(const struct client_job *j, enum plan plan)
{
    ck_assert_mem_eq(j->output[0], expected[plan], sizeof expected[plan]);
}

int open_files(void)
{
    DIR *d = opendir("/proc/self/fd");
    int n = 0;

    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

bool open_files_settle(int n_files)
{
    enum { TURNS = 500, TURN_US = 10000 };

    for (int i = 0; i < TURNS && open_files() > n_files; i++)
        usleep(TURN_US);
    return open_files() <= n_files;
}
