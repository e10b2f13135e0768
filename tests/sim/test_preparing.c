/* Duration of preparation by the cost model: deadlines, caches, real time. */
#include <check.h>
#include <time.h>

#include "harness/corrupt/cache_files.h"
#include "sim/device/profile.h"
#include "tests/support/check_main.h"
#include "tests/support/hal_client.h"

enum { N = 4, OPS = 3 };

/* Virtual ns; so long that the real time that passes during the test does not matter for deadlines.
 */
static const double UNIT = 1e12;

static struct hal_driver *driver;
static struct client_model model;
static struct files files;

/* A model takes one unit, and one more for each operation; constants take no time. */
static void set_times(struct profile *p)
{
    p->prepare_ns = p->prepare_operation_ns = UNIT;
    p->bandwidth = 1e30;
}

static void open_in_process(void)
{
    driver = client_open_changed("cpu", set_times);
    client_add_chain(&model, N, OPS);
    files_init(&files, 1, 1);
}

static void open_over_socket(void)
{
    open_in_process();
    driver = client_over_socket(driver);
}

static void close_all(void)
{
    files_done(&files);
    client_done(&model);
    driver->close(driver);
}

static uint64_t deadline_in(double units, enum hal_version version)
{
    struct timespec t;

    clock_gettime(version < HAL_FL5 ? CLOCK_MONOTONIC : CLOCK_BOOTTIME, &t);
    return (uint64_t) t.tv_sec * UINT64_C(1000000000) + (uint64_t) t.tv_nsec +
           (uint64_t) (units * UNIT);
}

/* Prepares with a deadline in so many units; m NULL: from the cache. */
static enum hal_status prepare_within(double units, enum hal_version version,
                                      const struct hal_model *m)
{
    struct hal_prepare_config config = files_config(&files);
    struct hal_prepared_model *p = NULL;

    config.deadline = deadline_in(units, version);
    enum hal_status s = client_prepare_with(driver, version, m, &config, &p);
    if (p)
        p->methods->release(p);
    return s;
}

START_TEST(preparation_beyond_its_deadline_is_rejected)
{
    static const enum hal_version versions[] = { HAL_1_3, HAL_FL5, HAL_FL8 };

    for (int v = 0; v < COUNT(versions); v++) {
        ck_assert_int_eq(prepare_within(OPS + 0.9, versions[v], &model.hal),
                         HAL_MISSED_DEADLINE_PERSISTENT);
        ck_assert_int_eq(prepare_within(OPS + 1.1, versions[v], &model.hal), HAL_NONE);
    }
}
END_TEST

START_TEST(restoring_takes_no_time_per_operation)
{
    ck_assert_int_eq(prepare_within(OPS + 1.1, HAL_1_3, &model.hal), HAL_NONE);
    ck_assert_int_eq(prepare_within(0.9, HAL_1_3, NULL), HAL_MISSED_DEADLINE_PERSISTENT);
    ck_assert_int_eq(prepare_within(1.1, HAL_1_3, NULL), HAL_NONE);
}
END_TEST

/* ---- bandwidth and real time */

enum { BYTES = 4 }; /* of the model's constants: one scalar */

static void set_bandwidth(struct profile *p)
{
    p->prepare_ns = p->prepare_operation_ns = 0;
    p->bandwidth = BYTES / (2 * UNIT * 1e-9);
}

START_TEST(constants_take_time)
{
    driver = client_open_changed("cpu", set_bandwidth);
    client_add_chain(&model, N, OPS);
    files_init(&files, 1, 1);
    ck_assert_int_eq(prepare_within(1.9, HAL_1_3, &model.hal), HAL_MISSED_DEADLINE_PERSISTENT);
    ck_assert_int_eq(prepare_within(2.1, HAL_1_3, &model.hal), HAL_NONE);
    close_all();
}
END_TEST

static void set_milliseconds(struct profile *p)
{
    p->prepare_ns = p->prepare_operation_ns = 10e6;
}

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double) t.tv_sec + (double) t.tv_nsec * 1e-9;
}

START_TEST(real_time_preparation_lasts_its_duration)
{
    driver = client_open_changed("cpu", set_milliseconds);
    schedule_set_realtime(((struct driver *) driver)->schedule);
    client_add_chain(&model, N, OPS);
    files_init(&files, 1, 1);
    double start = seconds();
    ck_assert_int_eq(prepare_within(1, HAL_1_3, &model.hal), HAL_NONE);
    ck_assert(seconds() - start >= 0.01 * (OPS + 1));
    start = seconds();
    ck_assert_int_eq(prepare_within(1, HAL_1_3, NULL), HAL_NONE);
    ck_assert(seconds() - start >= 0.01);
    close_all();
}
END_TEST

Suite *preparing_suite(void)
{
    TCase *here = tcase_create("in process"), *there = tcase_create("over a socket");
    TCase *times = tcase_create("times");

    tcase_add_checked_fixture(here, open_in_process, close_all);
    tcase_add_checked_fixture(there, open_over_socket, close_all);
    tcase_add_test(here, preparation_beyond_its_deadline_is_rejected);
    tcase_add_test(here, restoring_takes_no_time_per_operation);
    tcase_add_test(there, preparation_beyond_its_deadline_is_rejected);
    tcase_add_test(there, restoring_takes_no_time_per_operation);
    tcase_add_test(times, constants_take_time);
    tcase_add_test(times, real_time_preparation_lasts_its_duration);
    return make_suite("preparing", here, there, times, NULL);
}
