/* What the simulated devices promise beyond the HAL, in every kind of execution at every version: a
 * measured execution reports its durations, which are the same in each kind, and a deadline that
 * has passed is missed. */
#include <check.h>

#include "harness/conform/conform_requests.h"
#include "sim/hal/hal_convert.h"
#include "tests/support/check_main.h"
#include "tests/support/hal_client.h"

enum { N = 4, OPS = 3 };

static const char *const devices[] = { "cpu", "gpu" };

typedef void visit_kind(const char *device, enum hal_version version,
                        const struct conform_kind *kind, struct hal_prepared_model *p);

/* Executes a chain of ADD. */
static enum hal_status run(const struct conform_kind *kind, struct hal_prepared_model *p,
                           enum hal_version version, const struct hal_execution_config *config,
                           struct hal_timing *ret_timing)
{
    struct client_request c;
    struct conform_request r;

    client_fill(&c, N);
    r = (struct conform_request){ .hal = c.hal, .result = c.result };
    enum hal_status status = kind->run(p, version, &r, config);
    *ret_timing = r.result.timing;
    return status;
}

static void each_kind(const char *device, visit_kind *visit)
{
    for (int v = 0; v < HAL_VERSIONS; v++) {
        struct hal_driver *d = client_open(device, hal_versions[v]);
        struct client_model m;
        client_add_chain(&m, N, OPS);
        client_prepare(&m, d, HAL_PRIORITY_MEDIUM);
        for (int k = 0; k < conform_n_kinds; k++)
            if (conform_kind_is_of(&conform_kinds[k], hal_versions[v]))
                visit(device, hal_versions[v], &conform_kinds[k], m.prepared);
        client_done(&m);
        d->close(d);
    }
}

/* Of the version's first kind. */
static struct hal_timing first;
static enum hal_version version_of_first;

static void expect_durations(const char *device, enum hal_version version,
                             const struct conform_kind *kind, struct hal_prepared_model *p)
{
    struct hal_execution_config config = client_config();
    struct hal_timing t;

    if (version < HAL_1_2) /* without measurement */
        return;
    config.measure = true;
    ck_assert_int_eq(run(kind, p, version, &config, &t), HAL_NONE);
    ck_assert_msg(t.on_device != HAL_NO_TIME && t.in_driver != HAL_NO_TIME && t.on_device > 0,
                  "%s at HAL %s, %s: no durations", device, hal_version_name(version), kind->name);
    if (version_of_first != version)
        first = t;
    version_of_first = version;
    ck_assert_msg(t.on_device == first.on_device && t.in_driver == first.in_driver,
                  "%s at HAL %s, %s: %llu and %llu ns, in the first kind %llu and %llu ns", device,
                  hal_version_name(version), kind->name, (unsigned long long) t.on_device,
                  (unsigned long long) t.in_driver, (unsigned long long) first.on_device,
                  (unsigned long long) first.in_driver);
}

START_TEST(every_kind_reports_the_same_durations)
{
    each_kind(devices[_i], expect_durations);
}
END_TEST

static void expect_missed(const char *device, enum hal_version version,
                          const struct conform_kind *kind, struct hal_prepared_model *p)
{
    const uint64_t passed[] = { 1, hal_now(version) };
    struct hal_timing t;

    for (int i = 0; i < COUNT(passed) && version >= kind->deadlines; i++) {
        struct hal_execution_config config = client_config();
        config.deadline = passed[i];
        enum hal_status s = run(kind, p, version, &config, &t);
        ck_assert_msg(s == HAL_MISSED_DEADLINE_TRANSIENT || s == HAL_MISSED_DEADLINE_PERSISTENT,
                      "%s at HAL %s, %s, deadline %llu: %s", device, hal_version_name(version),
                      kind->name, (unsigned long long) passed[i], hal_status_name(s));
    }
}

START_TEST(a_passed_deadline_is_missed_in_every_kind)
{
    each_kind(devices[_i], expect_missed);
}
END_TEST

Suite *execution_kinds_suite(void)
{
    TCase *c = tcase_create("execution_kinds");

    tcase_set_timeout(c, 120);
    tcase_add_loop_test(c, every_kind_reports_the_same_durations, 0, COUNT(devices));
    tcase_add_loop_test(c, a_passed_deadline_is_missed_in_every_kind, 0, COUNT(devices));
    return make_suite("execution_kinds", c, NULL);
}
