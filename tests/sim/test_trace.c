/* Trace sections of every kind of execution: how they nest, and on which thread they are. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "golden/base/trace.h"
#include "sim/base/fence.h"
#include "tests/support/check_main.h"
#include "tests/support/hal_client.h"

enum { N = 4 };

static struct hal_driver *driver;
static struct client_model model;
static struct client_request request;

/* Sections as "LD_PE name { ... }", of the client's thread and of all others. */
struct sections {
    size_t at;
    char text[2000];
};
static struct sections of_client, of_others;
static pthread_t client;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void record_section(const struct trace_event *e, void *user)
{
    struct sections *t = pthread_equal(pthread_self(), client) ? &of_client : &of_others;
    size_t room = sizeof t->text - t->at;

    (void) user;
    if (e->track || (e->kind != TRACE_BEGIN && e->kind != TRACE_END))
        return;
    pthread_mutex_lock(&lock);
    if (e->kind == TRACE_BEGIN)
        t->at +=
            (size_t) snprintf(t->text + t->at, room, "%s%s_%s %s { ", trace_mode_prefix[e->mode],
                              trace_layer_name[e->layer], trace_phase_name[e->phase], e->name);
    else
        t->at += (size_t) snprintf(t->text + t->at, room, "} ");
    ck_assert_uint_lt(t->at, sizeof t->text);
    pthread_mutex_unlock(&lock);
}

static void begin(void)
{
    driver = client_open("cpu", 0);
    client_add_model(&model, N, false);
    client_prepare(&model, driver, HAL_PRIORITY_MEDIUM);
    client_fill(&request, N);
    client = pthread_self();
    trace_set_sink(record_section, NULL);
}

/* Closing waits for all threads. */
static void end(const char *by_client, const char *by_others)
{
    client_check(&request, N);
    client_done(&model);
    driver->close(driver);
    trace_set_sink(NULL, NULL);
    ck_assert_str_eq(of_client.text, by_client);
    ck_assert_str_eq(of_others.text, by_others);
}

#define READ "LD_PIO request_read_memory { } "
#define COMPUTED                                                                                   \
    "LD_PIO request_read_buffers { [SW]LD_PCO run { LD_PCO ADD { } "                               \
    "[SW]LD_PR request_write_buffers { } } } LD_PR request_write_memory { } "
#define RELEASED "LD_PT release { } "

START_TEST(synchronous)
{
    struct hal_execution_config config = client_config();

    begin();
    ck_assert_int_eq(model.prepared->methods->execute_synchronously(
                         model.prepared, HAL_FL8, &request.hal, &config, &request.result),
                     HAL_NONE);
    end("LD_PE execute_synchronously { " READ COMPUTED "} " RELEASED, "");
}
END_TEST

START_TEST(asynchronous)
{
    struct hal_execution_config config = client_config();
    struct client_wait wait;

    begin();
    client_wait_init(&wait);
    ck_assert_int_eq(model.prepared->methods->execute(model.prepared, HAL_1_3, &request.hal,
                                                      &config, &wait.base),
                     HAL_NONE);
    ck_assert_int_eq(client_wait(&wait), HAL_NONE);
    end("LD_PE execute { " READ "} " RELEASED, "LD_PE execution { " COMPUTED "} ");
}
END_TEST

START_TEST(in_a_burst)
{
    struct hal_execution_config config = client_config();
    const int64_t identifiers[] = { -1, -1, -1 };
    struct hal_burst *burst;

    begin();
    ck_assert_int_eq(model.prepared->methods->configure_burst(model.prepared, HAL_FL8, &burst),
                     HAL_NONE);
    ck_assert_int_eq(burst->methods->execute_synchronously(burst, &request.hal, 3, identifiers,
                                                           &config, &request.result),
                     HAL_NONE);
    burst->methods->release(burst);
    end("LD_PE execute_synchronously { " READ COMPUTED "} " RELEASED, "");
}
END_TEST

static void run_fenced(uint32_t n, struct fence *before)
{
    struct hal_execution_config config = client_config();
    struct hal_fenced_info *info;
    int fence;

    ck_assert_int_eq(model.prepared->methods->execute_fenced(model.prepared, HAL_FL8, &request.hal,
                                                             n, n ? &before->wait : NULL, &config,
                                                             HAL_NO_TIME, &fence, &info),
                     HAL_NONE);
    if (n)
        fence_complete(before, true);
    ck_assert_int_eq(fence_wait(1, &fence, HAL_NO_TIME), 1);
    info->methods->release(info);
    close(fence);
}

START_TEST(fenced)
{
    begin();
    run_fenced(0, NULL);
    end("LD_PE execute_fenced { " READ "} " RELEASED, "LD_PE execution { " COMPUTED "} ");
}
END_TEST

/* Waiting for fences is not a section of the driver. */
START_TEST(fenced_after_others)
{
    struct fence before;

    begin();
    ck_assert_int_eq(fence_open(&before), 0);
    run_fenced(1, &before);
    close(before.wait);
    end("LD_PE execute_fenced { } " RELEASED,
        "LO_PU wait for fences { } LD_PE execution { " READ COMPUTED "} ");
}
END_TEST

Suite *trace_suite(void)
{
    TCase *c = tcase_create("executions");

    tcase_add_test(c, synchronous);
    tcase_add_test(c, asynchronous);
    tcase_add_test(c, in_a_burst);
    tcase_add_test(c, fenced);
    tcase_add_test(c, fenced_after_others);
    return make_suite("trace", c, NULL);
}
