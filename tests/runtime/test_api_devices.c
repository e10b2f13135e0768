/* Devices as an application sees them: the list from the environment, what is refused, getters. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/include/NeuralNetworksExtensions.h"
#include "tests/runtime/nnapi_client.h"
#include "tests/support/check_main.h"

static const char *name_at(uint32_t index)
{
    const char *name;

    OK(ANeuralNetworksDevice_getName(device_at(index), &name));
    return name;
}

static uint32_t count(void)
{
    uint32_t n;

    OK(ANeuralNetworks_getDeviceCount(&n));
    return n;
}

START_TEST(reference_alone)
{
    int32_t type;
    int64_t level;

    unsetenv("HALCYON_DEVICES");
    ck_assert_uint_eq(count(), 1);
    ck_assert_str_eq(name_at(0), "nnapi-reference");
    OK(ANeuralNetworksDevice_getType(device_at(0), &type));
    ck_assert_int_eq(type, ANEURALNETWORKS_DEVICE_CPU);
    OK(ANeuralNetworksDevice_getFeatureLevel(device_at(0), &level));
    ck_assert_int_eq(level, ANEURALNETWORKS_FEATURE_LEVEL_8);
    OK(ANeuralNetworksDevice_wait(device_at(0)));
    ck_assert_int_eq(ANeuralNetworks_getRuntimeFeatureLevel(), ANEURALNETWORKS_FEATURE_LEVEL_8);
}
END_TEST

START_TEST(order_of_the_list)
{
    use_devices("%s?name=b, sim:cpu,%s?name=a");
    ck_assert_uint_eq(count(), 4);
    ck_assert_str_eq(name_at(0), "b");
    ck_assert_str_eq(name_at(2), "a");
    ck_assert_str_eq(name_at(3), "nnapi-reference");
}
END_TEST

/* What cannot serve is left out; the others serve. */
START_TEST(refused_drivers)
{
    use_devices("sim:nonsense,%s?name=a,%s?name=a,unix:/nowhere/socket,%s?name=nnapi-reference,"
                "%s?name=c&row=0,lib:/nowhere.so,%s?name=d,,what");
    ck_assert_uint_eq(count(), 3);
    ck_assert_str_eq(name_at(0), "a");
    ck_assert_str_eq(name_at(1), "d");
}
END_TEST

START_TEST(list_in_a_file)
{
    char path[] = "/tmp/devices.XXXXXX", text[64];
    FILE *file = fdopen(mkstemp(path), "w");

    fprintf(file, "# the devices\n\n  lib:%s?name=a  \nsim:gpu\r\n", getenv("SCRIPTED_DRIVER"));
    fclose(file);
    snprintf(text, sizeof text, "@%s", path);
    setenv("HALCYON_DEVICES", text, 1);
    ck_assert_uint_eq(count(), 3);
    ck_assert_str_eq(name_at(0), "a");
    remove(path);
}
END_TEST

START_TEST(file_that_is_missing)
{
    setenv("HALCYON_DEVICES", "@/nowhere/devices", 1);
    ck_assert_uint_eq(count(), 1);
}
END_TEST

START_TEST(enabled_devices)
{
    setenv("HALCYON_DEBUG_NN_ENABLED_DEVICES", "a|b.", 1);
    use_devices("%s?name=a,%s?name=b,%s?name=bc,%s?name=ab");
    ck_assert_uint_eq(count(), 3);
    ck_assert_str_eq(name_at(0), "a");
    ck_assert_str_eq(name_at(1), "bc");
}
END_TEST

START_TEST(levels)
{
    static const int hal[] = { 10, 11, 12, 13, 15, 16, 17, 18 };
    static const int64_t expected[] = { 27, 28, 29, 30, 31, 1000006, 1000007, 1000008 };
    char text[64];
    const char *version;
    int64_t level;
    int32_t type;

    snprintf(text, sizeof text, "%%s?hal=%d", hal[_i]);
    use_devices(text);
    OK(ANeuralNetworksDevice_getFeatureLevel(device_at(0), &level));
    ck_assert_int_eq(level, expected[_i]);
    OK(ANeuralNetworksDevice_getVersion(device_at(0), &version));
    ck_assert_str_eq(version, hal[_i] < 12 ? "UNKNOWN" : "script 1");
    OK(ANeuralNetworksDevice_getType(device_at(0), &type));
    ck_assert_int_eq(type, hal[_i] < 12 ? ANEURALNETWORKS_DEVICE_OTHER
                                        : ANEURALNETWORKS_DEVICE_ACCELERATOR);
}
END_TEST

START_TEST(liveness)
{
    static const int expected[] = { ANEURALNETWORKS_NO_ERROR, ANEURALNETWORKS_NO_ERROR,
                                    ANEURALNETWORKS_UNAVAILABLE_DEVICE, ANEURALNETWORKS_OP_FAILED };
    char text[64];

    snprintf(text, sizeof text, "%%s?status=%d", _i);
    use_devices(text);
    ck_assert_int_eq(ANeuralNetworksDevice_wait(device_at(0)), expected[_i]);
}
END_TEST

START_TEST(null_and_range)
{
    ANeuralNetworksDevice *d = (ANeuralNetworksDevice *) &d;
    const char *text;
    int64_t level;
    int32_t type;
    bool supported;

    unsetenv("HALCYON_DEVICES");
    EXPECT(ANeuralNetworks_getDeviceCount(NULL), UNEXPECTED_NULL);
    EXPECT(ANeuralNetworks_getDevice(0, NULL), UNEXPECTED_NULL);
    EXPECT(ANeuralNetworks_getDevice(1, &d), BAD_DATA);
    ck_assert_ptr_null(d);
    d = device_at(0);
    EXPECT(ANeuralNetworksDevice_getName(NULL, &text), UNEXPECTED_NULL);
    EXPECT(ANeuralNetworksDevice_getName(d, NULL), UNEXPECTED_NULL);
    EXPECT(ANeuralNetworksDevice_getVersion(NULL, &text), UNEXPECTED_NULL);
    EXPECT(ANeuralNetworksDevice_getVersion(d, NULL), UNEXPECTED_NULL);
    EXPECT(ANeuralNetworksDevice_getType(NULL, &type), UNEXPECTED_NULL);
    EXPECT(ANeuralNetworksDevice_getType(d, NULL), UNEXPECTED_NULL);
    EXPECT(ANeuralNetworksDevice_getFeatureLevel(NULL, &level), UNEXPECTED_NULL);
    EXPECT(ANeuralNetworksDevice_getFeatureLevel(d, NULL), UNEXPECTED_NULL);
    EXPECT(ANeuralNetworksDevice_wait(NULL), UNEXPECTED_NULL);
    EXPECT(ANeuralNetworksDevice_getExtensionSupport(NULL, "a.b", &supported), UNEXPECTED_NULL);
    EXPECT(ANeuralNetworksDevice_getExtensionSupport(d, NULL, &supported), UNEXPECTED_NULL);
    EXPECT(ANeuralNetworksDevice_getExtensionSupport(d, "a.b", NULL), UNEXPECTED_NULL);
}
END_TEST

/* sim:dsp lists the extension of the examples, the reference none. */
START_TEST(extensions)
{
    bool supported;

    use_devices("sim:dsp");
    OK(ANeuralNetworksDevice_getExtensionSupport(device_at(0), "org.halcyon.example.fibonacci",
                                                 &supported));
    ck_assert(supported);
    OK(ANeuralNetworksDevice_getExtensionSupport(device_at(0), "org.halcyon.example", &supported));
    ck_assert(!supported);
    OK(ANeuralNetworksDevice_getExtensionSupport(device_at(1), "org.halcyon.example.fibonacci",
                                                 &supported));
    ck_assert(!supported);
}
END_TEST

Suite *api_devices_suite(void)
{
    TCase *list = tcase_create("list"), *getters = tcase_create("getters");

    tcase_add_test(list, reference_alone);
    tcase_add_test(list, order_of_the_list);
    tcase_add_test(list, refused_drivers);
    tcase_add_test(list, list_in_a_file);
    tcase_add_test(list, file_that_is_missing);
    tcase_add_test(list, enabled_devices);
    tcase_add_loop_test(getters, levels, 0, 8);
    tcase_add_loop_test(getters, liveness, 0, 4);
    tcase_add_test(getters, null_and_range);
    tcase_add_test(getters, extensions);
    return make_suite("api_devices", list, getters, NULL);
}
