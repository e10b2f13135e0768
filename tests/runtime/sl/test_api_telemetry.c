/* Telemetry of libneuralnetworks.so: lines of a file. */
#define _GNU_SOURCE
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/runtime/client_job.h"
#include "tests/support/check_main.h"

static char path[] = "/tmp/halcyon-telemetry-XXXXXX";

static void use_file(void)
{
    int fd = mkstemp(path);

    ck_assert_int_ge(fd, 0);
    close(fd);
    setenv("HALCYON_TELEMETRY", path, 1);
}

/* Line `index` of the file, which has more, or not. */
static json_t *line(int index, bool is_last)
{
    FILE *file = fopen(path, "r");
    char text[4096], more[4096];

    ck_assert_ptr_nonnull(file);
    for (int i = 0; i <= index; i++)
        ck_assert_msg(fgets(text, sizeof text, file), "line %d", i);
    ck_assert_int_eq(fgets(more, sizeof more, file) == NULL, is_last);
    fclose(file);
    json_t *o = json_loads(text, 0, NULL);
    ck_assert_msg(o, "line %d is no JSON: %s", index, text);
    return o;
}

static void expect_text(json_t *o, const char *key, const char *value)
{
    ck_assert_msg(json_is_string(json_object_get(o, key)), "no %s", key);
    ck_assert_str_eq(json_string_value(json_object_get(o, key)), value);
}

static void expect_flags(json_t *o, const char *set)
{
    static const char *const flags[] = { "fell_back", "explicit_devices", "cached", "control_flow",
                                         "dynamic_tensors" };

    for (int i = 0; i < 5; i++) {
        ck_assert_msg(json_is_boolean(json_object_get(o, flags[i])), "no %s", flags[i]);
        ck_assert_msg(json_is_true(json_object_get(o, flags[i])) == (strstr(set, flags[i]) != NULL),
                      "%s", flags[i]);
    }
}

static const float a[2] = { 1, 2 }, b[2] = { 10, 20 };

/* Executes {1, 2} + {10, 20}, started asynchronously. */
static void run(ANeuralNetworksCompilation *c)
{
    ANeuralNetworksExecution *e;
    float sum[2];

    OK(ANeuralNetworksExecution_create(c, &e));
    OK(ANeuralNetworksExecution_setInput(e, 0, NULL, a, sizeof a));
    OK(ANeuralNetworksExecution_setInput(e, 1, NULL, b, sizeof b));
    OK(ANeuralNetworksExecution_setOutput(e, 0, NULL, sum, sizeof sum));
    OK(job_run(e, START, NULL));
    ck_assert(sum[0] == 11 && sum[1] == 22);
    ANeuralNetworksExecution_free(e);
}

/* The driver fails to execute, so that the whole model runs on the reference. */
START_TEST(fallback_at_execution)
{
    use_file();
    use_devices("%c?name=a&row=0.5&ops=0&execute=2");
    ANeuralNetworksModel *m = add_model(2);
    ANeuralNetworksCompilation *c = compile_on(m, NULL);
    run(c);
    json_t *first = line(0, false), *second = line(1, true);
    expect_text(first, "record", "compilation");
    expect_text(first, "devices", "a=chosen 1");
    expect_text(first, "result", "NO_ERROR");
    expect_text(first, "inputs", "FLOAT32");
    expect_text(first, "outputs", "FLOAT32");
    expect_flags(first, "");
    ck_assert_int_eq(json_integer_value(json_object_get(first, "level")), 1000008);
    ck_assert(json_is_integer(json_object_get(first, "compilation_ns")));
    expect_text(second, "record", "execution");
    expect_text(second, "mode", "ASYNC");
    expect_text(second, "result", "NO_ERROR");
    expect_flags(second, "fell_back");
    ck_assert(json_is_integer(json_object_get(second, "runtime_ns")));
    ck_assert(json_is_null(json_object_get(second, "driver_ns")));
    ck_assert(json_is_null(json_object_get(second, "hardware_ns")));
    ck_assert(json_equal(json_object_get(first, "model"), json_object_get(second, "model")));
    ck_assert(json_equal(json_object_get(first, "session"), json_object_get(second, "session")));
    ck_assert_uint_eq(json_string_length(json_object_get(first, "model")), 64);
    json_decref(first);
    json_decref(second);
    ANeuralNetworksCompilation_free(c);
    ANeuralNetworksModel_free(m);
    ck_assert_int_eq(unlink(path), 0);
}
END_TEST

START_TEST(fallback_at_compilation)
{
    use_file();
    use_devices("%c?name=a&row=0.5&ops=0&prepare=2");
    ANeuralNetworksModel *m = add_model(2);
    ANeuralNetworksCompilation *c = compile_on(m, NULL);
    run(c);
    json_t *first = line(0, false), *second = line(1, true);
    expect_flags(first, "fell_back");
    expect_flags(second, "fell_back");
    json_decref(first);
    json_decref(second);
    ANeuralNetworksCompilation_free(c);
    ANeuralNetworksModel_free(m);
    ck_assert_int_eq(unlink(path), 0);
}
END_TEST

/* Devices of a plan of two steps are sorted; a list that the client chose, and caching. */
START_TEST(plan_for_chosen_devices)
{
    const uint8_t token[32] = { 1 };
    float sum[2], product[2];

    use_file();
    use_devices("%c?name=z&row=0.5&ops=0,%c?name=a&row=0.5&ops=18");
    struct net t = net_new();
    uint32_t x = floats(&t, 2), y = floats(&t, 2), s = floats(&t, 2), p = floats(&t, 2);
    fused(&t, ANEURALNETWORKS_ADD, ANEURALNETWORKS_FUSED_NONE, x, y, s);
    fused(&t, ANEURALNETWORKS_MUL, ANEURALNETWORKS_FUSED_NONE, s, y, p);
    finish(&t, LIST(x, y), LIST(s, p));
    const ANeuralNetworksDevice *devices[] = { device_named("z"), device_named("a") };
    ANeuralNetworksCompilation *c;
    ANeuralNetworksExecution *e;
    OK(ANeuralNetworksCompilation_createForDevices(t.m, devices, 2, &c));
    OK(ANeuralNetworksCompilation_setCaching(c, "/tmp", token));
    OK(ANeuralNetworksCompilation_finish(c));
    OK(ANeuralNetworksExecution_create(c, &e));
    OK(ANeuralNetworksExecution_setInput(e, 0, NULL, a, sizeof a));
    OK(ANeuralNetworksExecution_setInput(e, 1, NULL, b, sizeof b));
    OK(ANeuralNetworksExecution_setOutput(e, 0, NULL, sum, sizeof sum));
    OK(ANeuralNetworksExecution_setOutput(e, 1, NULL, product, sizeof product));
    OK(ANeuralNetworksExecution_compute(e));
    json_t *first = line(0, false), *second = line(1, true);
    expect_text(first, "devices", "a=chosen 1,z=chosen 1");
    expect_text(second, "devices", "a=chosen 1,z=chosen 1");
    expect_flags(first, "explicit_devices cached");
    expect_flags(second, "explicit_devices cached");
    expect_text(second, "mode", "SYNC");
    json_decref(first);
    json_decref(second);
    ANeuralNetworksExecution_free(e);
    ANeuralNetworksCompilation_free(c);
    ANeuralNetworksModel_free(t.m);
    ck_assert_int_eq(unlink(path), 0);
}
END_TEST

/* A file that cannot be written does not disturb. */
START_TEST(no_such_folder)
{
    setenv("HALCYON_TELEMETRY", "/nowhere/records", 1);
    use_devices("%c?name=a&row=0.5&ops=0");
    ANeuralNetworksModel *m = add_model(2);
    ANeuralNetworksCompilation *c = compile_on(m, NULL);
    run(c);
    ANeuralNetworksCompilation_free(c);
    ANeuralNetworksModel_free(m);
}
END_TEST

Suite *api_telemetry_suite(void)
{
    TCase *t = tcase_create("api_telemetry");

    tcase_add_test(t, fallback_at_execution);
    tcase_add_test(t, fallback_at_compilation);
    tcase_add_test(t, plan_for_chosen_devices);
    tcase_add_test(t, no_such_folder);
    return make_suite("api_telemetry", t, NULL);
}
