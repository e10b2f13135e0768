/* Targets by URI, and drivers in shared libraries: broken_driver.so and skeleton.so, which are
 * built into the folder of this program. */
#include <check.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sim/client/runtime.h"
#include "tests/support/check_main.h"
#include "tests/support/hal_client.h"

static char broken[4000], skeleton[4000];
static struct why w;

static void find_drivers(void)
{
    char self[3900];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

    ck_assert_int_gt(n, 0);
    self[n] = '\0';
    *strrchr(self, '/') = '\0';
    snprintf(broken, sizeof broken, "%s/broken_driver.so", self);
    snprintf(skeleton, sizeof skeleton, "%s/skeleton.so", self);
}

static bool is_loaded(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_NOLOAD);

    if (library)
        dlclose(library);
    return library;
}

static int open_with(const char *path, const char *arguments, struct target **ret_target)
{
    char uri[4096];

    snprintf(uri, sizeof uri, "lib:%s%s%s", path, arguments ? "?" : "", arguments ? arguments : "");
    return target_open(uri, NULL, ret_target, &w);
}

START_TEST(defects_of_a_library_are_reported)
{
    static const struct {
        const char *arguments, *why;
        bool stays; /* not unloaded, since its code may still run */
    } cases[] = {
        { "silent", "does not say why", false },
        { "endless", "does not open: xxxx", false },
        { "version", "hal_version is 14", false },
        { "lowest", "lowest_version is 0", false },
        { "above", "lowest_version is 15, expected one of enum hal_version (hal.h) up to", false },
        { "unnamed", "has no name", false },
        { "unprintable", "not printable", false },
        { "unprepared", "prepare_model is NULL", false },
        { "abi", "ABI version 3, expected 2: rebuild the driver with the hal.h that", true },
        { "unclosed", "close is NULL", true },
    };
    struct target *t = NULL;

    for (int i = 0; i < COUNT(cases); i++) {
        ck_assert_int_eq(open_with(broken, cases[i].arguments, &t), -1);
        ck_assert_msg(strstr(w.text, cases[i].why), "%s: %s", cases[i].arguments, w.text);
        ck_assert_msg(strstr(w.text, broken), "%s", w.text);
        ck_assert_msg(is_loaded(broken) == cases[i].stays, "%s", cases[i].arguments);
    }
}
END_TEST

START_TEST(files_without_a_driver_are_rejected)
{
    struct target *t = NULL;

    ck_assert_int_eq(open_with("/nowhere/at all.so", NULL, &t), -1);
    ck_assert_msg(strstr(w.text, "/nowhere/at all.so"), "%s", w.text);
    ck_assert_int_eq(open_with("/dev/null", NULL, &t), -1);
    ck_assert_int_eq(open_with("libm.so.6", NULL, &t),
                     -1); /* not searched for in the library path */
    ck_assert_msg(strstr(w.text, "libm.so.6: No such file"), "%s", w.text);
    ck_assert_int_eq(open_with(skeleton, "x=1", &t), -1);
    ck_assert_msg(strstr(w.text, "takes no arguments"), "%s", w.text);
}
END_TEST

START_TEST(a_library_is_unloaded_with_its_last_target)
{
    struct target *t[2];
    struct target_info info;

    ck_assert_msg(open_with(skeleton, NULL, &t[0]) == 0, "%s", w.text);
    ck_assert_msg(open_with(skeleton, NULL, &t[1]) == 0, "%s", w.text);
    ck_assert_msg(target_info(t[0], &info, &w) == 0, "%s", w.text);
    ck_assert_int_eq(info.hal_version, HAL_1_2);
    target_free(t[0]);
    ck_assert(is_loaded(skeleton));
    target_free(t[1]);
    ck_assert(!is_loaded(skeleton));
}
END_TEST

/* ---- the skeleton that `halcyon new-driver` writes */

static struct hal_driver *open_skeleton(bool over_socket)
{
    struct target *t;

    ck_assert_msg(open_with(skeleton, NULL, &t) == 0, "%s", w.text);
    struct hal_driver *d = target_take_driver(t);
    return over_socket ? client_over_socket(d) : d;
}

static enum hal_status run(struct client_model *m, struct client_request *r)
{
    return client_execute(m->prepared, HAL_1_2, &r->hal, &r->result);
}

START_TEST(the_skeleton_executes_add)
{
    struct hal_execution_config config = client_config();
    struct hal_driver *d = open_skeleton(_i);
    struct client_request r;
    struct client_wait wait;
    struct client_model m;

    client_add_model(&m, 4, false);
    client_prepare(&m, d, HAL_PRIORITY_MEDIUM);
    client_fill(&r, 4);
    ck_assert_int_eq(run(&m, &r), HAL_NONE);
    client_check(&r, 4);
    client_fill(&r, 4);
    client_wait_init(&wait);
    ck_assert_int_eq(m.prepared->methods->execute(m.prepared, HAL_1_2, &r.hal, &config, &wait.base),
                     HAL_NONE);
    ck_assert_int_eq(client_wait(&wait), HAL_NONE);
    client_check(&r, 4);
    client_done(&m);
    d->close(d);
}
END_TEST

/* Executes a valid request with one change. */
#define REQUEST(expected, change)                                                                  \
    do {                                                                                           \
        client_fill(&r, 4);                                                                        \
        change;                                                                                    \
        ck_assert_int_eq(run(&m, &r), expected);                                                   \
        ck_assert_uint_eq(r.result.n_shapes, (expected) != HAL_INVALID_ARGUMENT);                  \
    } while (0)

START_TEST(the_skeleton_validates_requests)
{
    static const uint32_t four[] = { 4 }, three[] = { 3 };
    struct hal_driver *d = open_skeleton(false);
    struct client_request r;
    struct client_model m;

    client_add_model(&m, 4, false);
    client_prepare(&m, d, HAL_PRIORITY_MEDIUM);
    REQUEST(HAL_INVALID_ARGUMENT, r.hal.n_inputs = 1);
    REQUEST(HAL_INVALID_ARGUMENT, r.hal.n_outputs = 0);
    REQUEST(HAL_INVALID_ARGUMENT, r.hal.pools = NULL);
    REQUEST(HAL_INVALID_ARGUMENT, r.in[0].location.pool = 3);
    REQUEST(HAL_INVALID_ARGUMENT, r.in[0].location.offset = UINT64_MAX);
    REQUEST(HAL_INVALID_ARGUMENT, r.in[0].location.length = 12);
    REQUEST(HAL_INVALID_ARGUMENT, r.in[1].has_no_value = true);
    REQUEST(HAL_INVALID_ARGUMENT, (r.in[1].n_dims = 1, r.in[1].dims = three));
    REQUEST(HAL_INVALID_ARGUMENT, (r.in[1].n_dims = 1, r.in[1].dims = NULL));
    REQUEST(HAL_INVALID_ARGUMENT, r.pool[0].is_token = true);
    REQUEST(HAL_INVALID_ARGUMENT, r.pool[2].memory.protection = HAL_MEMORY_READ);
    REQUEST(HAL_INVALID_ARGUMENT,
            (r.pool[1].memory.kind = HAL_MEMORY_FD, r.pool[1].memory.address = NULL));
    REQUEST(HAL_OUTPUT_INSUFFICIENT_SIZE, r.out[0].location.length = 12);
    REQUEST(HAL_NONE, (r.in[1].n_dims = 1, r.in[1].dims = four));
    client_done(&m);
    d->close(d);
}
END_TEST

/* Prepares a valid model with one change. */
#define MODEL(expected, change)                                                                    \
    do {                                                                                           \
        struct hal_prepared_model *p;                                                              \
        client_add_model(&m, 4, false);                                                            \
        struct hal_subgraph *g = &m.hal.main;                                                      \
        struct hal_operand *o = (struct hal_operand *) (uintptr_t) g->operands;                    \
        struct hal_operation *op = (struct hal_operation *) (uintptr_t) g->operations;             \
        (void) o, (void) op;                                                                       \
        change;                                                                                    \
        ck_assert_int_eq(client_prepare_with(d, HAL_1_2, &m.hal, &config, &p), expected);          \
        if (p)                                                                                     \
            p->methods->release(p);                                                                \
        client_done(&m);                                                                           \
    } while (0)

START_TEST(the_skeleton_validates_models)
{
    static const uint32_t far[] = { 0, 99, 2 }, twice[] = { 0, 3, 2 };
    struct hal_prepare_config config = { .preference = HAL_LOW_POWER,
                                         .priority = HAL_PRIORITY_MEDIUM,
                                         .deadline = HAL_NO_DEADLINE };
    struct hal_driver *d = open_skeleton(false);
    struct client_model m;

    MODEL(HAL_NONE, (void) 0);
    MODEL(HAL_INVALID_ARGUMENT, g->n_operands = 0);
    MODEL(HAL_INVALID_ARGUMENT, g->inputs = NULL);
    MODEL(HAL_INVALID_ARGUMENT, g->n_outputs = 0);
    MODEL(HAL_INVALID_ARGUMENT, op->inputs = far);
    MODEL(HAL_INVALID_ARGUMENT, op->inputs = twice); /* read before it is written */
    MODEL(HAL_INVALID_ARGUMENT, op->outputs = far);  /* an input */
    MODEL(HAL_INVALID_ARGUMENT, op->type = 7);
    MODEL(HAL_INVALID_ARGUMENT, o[0].lifetime = (enum hal_lifetime) 9);
    MODEL(HAL_INVALID_ARGUMENT, o[0].n_dims = UINT32_MAX);
    MODEL(HAL_INVALID_ARGUMENT, o[2].location.offset = UINT64_MAX - 3);
    MODEL(HAL_INVALID_ARGUMENT, o[2].lifetime = HAL_CONSTANT_REFERENCE);
    MODEL(HAL_INVALID_ARGUMENT, (m.hal.operand_values = NULL, m.hal.operand_values_length = 64,
                                 o[2].location.offset = 32));
    config.preference = (enum hal_preference) - 1;
    MODEL(HAL_INVALID_ARGUMENT, (void) 0);
    d->close(d);
}
END_TEST

/* Entry points of other versions are rejected; shapes are reported since 1.2. */
START_TEST(the_skeleton_checks_entry_points)
{
    static const enum hal_version versions[] = { 9, HAL_1_0, HAL_1_1, HAL_1_2, HAL_1_3, 14 };
    struct hal_execution_config config = client_config();
    struct hal_driver *d = open_skeleton(_i);
    struct hal_capabilities c;
    struct client_model m;

    client_add_model(&m, 4, false);
    client_prepare(&m, d, HAL_PRIORITY_MEDIUM);
    for (int v = 0; v < COUNT(versions); v++) {
        bool has = versions[v] >= HAL_1_0 && versions[v] <= HAL_1_2,
             shapes = versions[v] == HAL_1_2;
        struct client_request r;
        struct client_wait wait;
        client_fill(&r, 4);
        client_wait_init(&wait);
        m.prepared->methods->execute(m.prepared, versions[v], &r.hal, &config, &wait.base);
        ck_assert_int_eq(client_wait(&wait), has ? HAL_NONE : HAL_INVALID_ARGUMENT);
        ck_assert_uint_eq(wait.n_shapes, shapes);
        ck_assert_int_eq(client_execute(m.prepared, versions[v], &r.hal, &r.result),
                         shapes ? HAL_NONE : HAL_INVALID_ARGUMENT);
        ck_assert_int_eq(d->get_capabilities(d, versions[v], &c),
                         has ? HAL_NONE : HAL_INVALID_ARGUMENT);
        ck_assert(!has || hal_capabilities_comply(&c, versions[v], &w) == 0);
    }
    client_done(&m);
    d->close(d);
}
END_TEST

/* Arguments that the entry point's version does not have. */
START_TEST(the_skeleton_validates_arguments)
{
    static const struct hal_prepare_config plain = { .preference = HAL_FAST_SINGLE_ANSWER,
                                                     .priority = HAL_PRIORITY_MEDIUM,
                                                     .deadline = HAL_NO_DEADLINE };
    struct hal_prepare_config slow = plain, high = plain, late = plain;
    struct hal_driver *d = open_skeleton(false);
    const struct {
        const struct hal_prepare_config *config;
        enum hal_version since;
    } rows[] = { { &plain, HAL_1_0 }, { &slow, HAL_1_1 }, { &high, HAL_1_3 }, { &late, HAL_1_3 } };

    slow.preference = HAL_LOW_POWER;
    high.priority = HAL_PRIORITY_HIGH;
    late.deadline = 1;
    for (int i = 0; i < COUNT(rows); i++)
        for (int v = 0; hal_versions[v] <= HAL_1_2; v++) {
            struct hal_prepared_model *p;
            struct client_model m;
            client_add_model(&m, 4, false);
            ck_assert_int_eq(client_prepare_with(d, hal_versions[v], &m.hal, rows[i].config, &p),
                             hal_versions[v] >= rows[i].since ? HAL_NONE : HAL_INVALID_ARGUMENT);
            if (p)
                p->methods->release(p);
            client_done(&m);
        }
    d->close(d);
}
END_TEST

/* Entry points below the lowest version that a driver answers do not exist. */
START_TEST(a_driver_answers_from_its_lowest_version_on)
{
    struct client_model m;
    struct target_info info;
    struct hal_capabilities c;
    struct target *t = NULL;
    bool supported[1];
    uint32_t n;

    ck_assert_msg(target_open("sim:cpu?lowest=fl6", NULL, &t, &w) == 0, "%s", w.text);
    ck_assert_msg(target_info(t, &info, &w) == 0, "%s", w.text);
    ck_assert_int_eq(info.lowest_version, HAL_FL6);
    ck_assert_int_eq(info.hal_version, HAL_FL8);
    struct hal_driver *d = target_take_driver(t);
    d = _i ? client_over_socket(d) : d;
    ck_assert_int_eq(d->lowest_version, HAL_FL6);
    client_add_model(&m, 4, false);
    client_prepare(&m, d, HAL_PRIORITY_MEDIUM);
    for (int v = 0; v < HAL_VERSIONS; v++) {
        enum hal_status expected = hal_versions[v] >= HAL_FL6 ? HAL_NONE : HAL_INVALID_ARGUMENT;
        struct hal_prepare_config config = { .preference = HAL_FAST_SINGLE_ANSWER,
                                             .priority = HAL_PRIORITY_MEDIUM,
                                             .deadline = HAL_NO_DEADLINE };
        struct hal_prepared_model *p = NULL;
        struct client_request r;
        client_fill(&r, 4);
        ck_assert_int_eq(d->get_capabilities(d, hal_versions[v], &c), expected);
        ck_assert_int_eq(d->get_supported_operations(d, hal_versions[v], &m.hal, supported, &n),
                         expected);
        ck_assert_int_eq(client_prepare_with(d, hal_versions[v], &m.hal, &config, &p), expected);
        ck_assert_int_eq(client_execute(m.prepared, hal_versions[v], &r.hal, &r.result), expected);
        if (p)
            p->methods->release(p);
    }
    client_done(&m);
    d->close(d);
}
END_TEST

START_TEST(uris_open_targets_or_report_why_not)
{
    static const struct {
        const char *uri, *why;
    } cases[] = {
        { "sim:tpu", "expected sim:cpu" },
        { "sim:cpu?speed=9", "unknown option 'speed=9'; expected fault=NAME" },
        { "sim:cpu?hal=1.4", "expected hal=1.0, 1.1" },
        { "sim:cpu?lowest=14", "expected lowest=1.0, 1.1" },
        { "sim:cpu?hal=1.3&lowest=fl5", "lowest=fl5 is above the device's HAL 1.3" },
        { "sim:cpu?fault=none", "unknown fault 'none'" },
        { "sim:cpu?fault=nan&fault=bias-lost", "two faults, nan and bias-lost" },
        { "lib:x.so", "No such file" },
        { "lib:", "expected lib:PATH.so" },
        { "sl:", "expected sl:PATH.so" },
        { "unix:/run/x", "cannot connect: No such file" },
        { "unix:", "expected unix:PATH" },
        { "null?fault=nan", "unknown target" },
        { "golden:x", "unknown target" },
        { "", "unknown target" },
    };
    struct target *t = NULL;

    for (int i = 0; i < COUNT(cases); i++) {
        ck_assert_int_eq(target_open(cases[i].uri, NULL, &t, &w), -1);
        ck_assert_msg(strstr(w.text, cases[i].why), "%s: %s", cases[i].uri, w.text);
    }
    const char *good[] = { "sim:cpu", "sim:gpu", "sim:dsp?fault=nan&hal=1.0",
                           "null",    "null:",   "golden" };
    for (int i = 0; i < COUNT(good); i++) {
        struct target_info info;
        ck_assert_msg(target_open(good[i], NULL, &t, &w) == 0, "%s", w.text);
        ck_assert_msg(target_info(t, &info, &w) == 0, "%s", w.text);
        ck_assert_str_eq(target_uri(t), good[i]);
        target_free(t);
    }
}
END_TEST

Suite *library_suite(void)
{
    TCase *c = tcase_create("library");

    tcase_add_checked_fixture(c, find_drivers, NULL);
    tcase_add_test(c, uris_open_targets_or_report_why_not);
    tcase_add_loop_test(c, a_driver_answers_from_its_lowest_version_on, 0, 2);
    tcase_add_test(c, defects_of_a_library_are_reported);
    tcase_add_test(c, files_without_a_driver_are_rejected);
    tcase_add_test(c, a_library_is_unloaded_with_its_last_target);
    tcase_add_loop_test(c, the_skeleton_executes_add, 0, 2);
    tcase_add_test(c, the_skeleton_validates_requests);
    tcase_add_test(c, the_skeleton_validates_models);
    tcase_add_loop_test(c, the_skeleton_checks_entry_points, 0, 2);
    tcase_add_test(c, the_skeleton_validates_arguments);
    return make_suite("library", c, NULL);
}
