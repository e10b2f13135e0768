/* What the simulated devices promise beyond the HAL, in every kind of execution at every version: a
 * measured execution reports its durations, which are the same in each kind, and a deadline that
 * has passed is missed. */
#include <check.h>

#include "harness/conform/conform_requests.h"
#include "sim/hal/hal_convert.h"
#include "tests/support/check_main.h"
#include "tests/support/hal_client.h"

enum { N = 4, OPS = 3 };

enum { SIMULATED = 2 }; /* the first of these */
static const char *const devices[] = { "cpu", "gpu", "golden" };

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

/* ---- requests that a device cannot compute */

/* WHILE x >= 0: s = s + 1. */
static void count_model(struct client_model *m)
{
    build_init(&m->b, 3);
    uint32_t condition = build_subgraph(&m->b, 1), body = build_subgraph(&m->b, 2);
    for (uint32_t g = 0; g < 3; g++) {
        build_graph(&m->b, g);
        uint32_t s = build_operand(&m->b, LIFE_INPUT, DT_F32, DIMS(1));
        uint32_t x = build_operand(&m->b, LIFE_INPUT, DT_F32, DIMS(1));
        uint32_t one = g ? build_constant(&m->b, DT_F32, DIMS(1), &(float){ g == 2 }) : 0;
        uint32_t none = g == 2 ? build_int(&m->b, 0) : 0;
        uint32_t out = build_operand(&m->b, LIFE_OUTPUT, g == 1 ? DT_B8 : DT_F32, DIMS(1));
        if (g == 0)
            OPERATION(&m->b, "WHILE", IDS(condition, body, s, x), IDS(out));
        else if (g == 1)
            OPERATION(&m->b, "GREATER_EQUAL", IDS(x, one), IDS(out));
        else
            OPERATION(&m->b, "ADD", IDS(s, one, none), IDS(out));
    }
    build_graph(&m->b, 0);
    model_count_consumers(&m->b.model);
    client_convert(m);
}

START_TEST(a_loop_cannot_return_an_omitted_input)
{
    struct hal_driver *d = client_open(devices[_i], 0);
    const struct hal_execution_config config = client_config();
    struct client_model m;
    struct client_request c;

    count_model(&m);
    client_prepare(&m, d, HAL_PRIORITY_MEDIUM);
    client_fill(&c, 1);
    c.y[0] = -1;
    c.in[0] = (struct hal_argument){ .has_no_value = true };
    ck_assert_int_eq(
        m.prepared->methods->execute_synchronously(m.prepared, HAL_FL8, &c.hal, &config, &c.result),
        HAL_GENERAL_FAILURE);
    client_done(&m);
    d->close(d);
}
END_TEST

Suite *execution_kinds_suite(void)
{
    TCase *c = tcase_create("execution_kinds");

    tcase_set_timeout(c, 120);
    tcase_add_loop_test(c, every_kind_reports_the_same_durations, 0, SIMULATED);
    tcase_add_loop_test(c, a_passed_deadline_is_missed_in_every_kind, 0, SIMULATED);
    tcase_add_loop_test(c, a_loop_cannot_return_an_omitted_input, 0, COUNT(devices));
    return make_suite("execution_kinds", c, NULL);
}
