/* The basic part of a conformance suite: what drivers say of themselves at every version, the entry
 * points of older versions, priorities and deadlines; on the shipped devices in this process and
 * over a socket. */
#include <check.h>
#include <string.h>
#include <time.h>

#include "sim/convert.h"
#include "tests/hal_client.h"
#include "tests/vts_mutations.h"

enum { DEVICES = 3, N = 4 };

static const enum hal_version versions[] = { HAL_1_0, HAL_1_1, HAL_1_2, HAL_1_3,
                                             HAL_FL5, HAL_FL6, HAL_FL7, HAL_FL8 };
static struct why w;

/* i: which device, and whether over a socket. */
static struct hal_driver *open_device(int i, enum hal_version version)
{
    static const char *const devices[DEVICES] = { "cpu", "gpu", "dsp" };
    struct hal_driver *d = client_open(devices[i % DEVICES], version);

    return i >= DEVICES ? client_over_socket(d) : d;
}

/* ---- what drivers say of themselves */

static void check_performance(struct hal_performance p)
{
    ck_assert(p.exec_time > 0 && p.power_usage > 0);
}

static void check_capabilities(struct hal_driver *d, enum hal_version version)
{
    struct hal_capabilities c;

    ck_assert_int_eq(d->get_capabilities(d, version, &c), HAL_NONE);
    check_performance(c.relaxed_scalar);
    check_performance(c.relaxed_tensor);
    check_performance(c.if_performance);
    check_performance(c.while_performance);
    ck_assert_uint_gt(c.n_operands, 0);
    for (uint32_t i = 0; i < c.n_operands; i++) {
        check_performance(c.operand[i].info);
        ck_assert_int_ne(c.operand[i].type, DT_MODEL);
        ck_assert(i == 0 || c.operand[i - 1].type < c.operand[i].type);
    }
}

START_TEST(capabilities_are_those_of_every_version)
{
    struct hal_capabilities c;

    for (int v = 0; v < COUNT(versions); v++) {
        struct hal_driver *d = open_device(_i, versions[v]);
        ck_assert_int_eq(d->hal_version, versions[v]);
        for (int entry = 0; entry <= v; entry++)
            check_capabilities(d, versions[entry]);
        for (int entry = v + 1; entry < COUNT(versions); entry++)
            ck_assert_int_eq(d->get_capabilities(d, versions[entry], &c), HAL_INVALID_ARGUMENT);
        d->close(d);
    }
}
END_TEST

static void check_extensions(struct hal_driver *d)
{
    static const char legal[] = "abcdefghijklmnopqrstuvwxyz0123456789_.";
    const struct hal_extension *e = NULL;
    uint32_t n = 0;

    if (!d->get_supported_extensions)
        return;
    ck_assert_int_eq(d->get_supported_extensions(d, &n, &e), HAL_NONE);
    for (uint32_t i = 0; i < n; i++) {
        ck_assert_uint_eq(strspn(e[i].name, legal), strlen(e[i].name));
        ck_assert_ptr_nonnull(strchr(e[i].name, '.'));
        for (uint32_t k = 0; k < e[i].n_types; k++)
            ck_assert_uint_gt(e[i].type[k].byte_size, 0);
    }
}

START_TEST(names_types_and_files_are_sound)
{
    struct hal_driver *d = open_device(_i, HAL_1_2);
    const char *dash = strchr(d->name, '-'), *text = NULL;
    enum hal_device_type type;
    uint32_t n_model = 99, n_data = 99;

    ck_assert(dash && dash != d->name && dash[1] && !strchr(dash + 1, '-'));
    ck_assert_int_eq(d->get_status(d), HAL_DEVICE_AVAILABLE);
    ck_assert_int_eq(d->get_version_string(d, &text), HAL_NONE);
    ck_assert(text && *text);
    ck_assert_int_eq(d->get_type(d, &type), HAL_NONE);
    ck_assert(type >= HAL_DEVICE_OTHER && type <= HAL_DEVICE_ACCELERATOR);
    ck_assert_int_eq(d->get_number_of_cache_files_needed(d, &n_model, &n_data), HAL_NONE);
    ck_assert(n_model <= HAL_MAX_CACHE_FILES && n_data <= HAL_MAX_CACHE_FILES);
    check_extensions(d);
    d->close(d);
}
END_TEST

/* ---- preparing */

struct seen {
    struct hal_prepare_callback base;
    pthread_mutex_t lock;
    pthread_cond_t called;
    unsigned calls;
    enum hal_status status;
    struct hal_prepared_model *prepared;
};

static void notify(struct hal_prepare_callback *self, enum hal_status status,
                   struct hal_prepared_model *prepared)
{
    struct seen *s = (struct seen *) self;

    pthread_mutex_lock(&s->lock);
    s->calls++;
    s->status = status;
    s->prepared = prepared;
    pthread_cond_signal(&s->called);
    pthread_mutex_unlock(&s->lock);
}

/* The launch status; *ret_status is the final one, and the model, if there is one, m->prepared. */
static enum hal_status prepare(struct hal_driver *d, enum hal_version version,
                               struct client_model *m, const struct hal_prepare_config *config,
                               enum hal_status *ret_status)
{
    struct seen s = { .base = { notify } };

    pthread_mutex_init(&s.lock, NULL);
    pthread_cond_init(&s.called, NULL);
    enum hal_status launched = d->prepare_model(d, version, &m->hal, config, &s.base);
    pthread_mutex_lock(&s.lock);
    while (!s.calls)
        pthread_cond_wait(&s.called, &s.lock);
    pthread_mutex_unlock(&s.lock);
    ck_assert((s.status == HAL_NONE) == (s.prepared != NULL));
    ck_assert(launched == HAL_NONE || launched == s.status);
    m->prepared = s.prepared;
    *ret_status = s.status;
    return launched;
}

/* Prepares, and forgets it. */
static enum hal_status try_prepare(struct hal_driver *d, enum hal_version version,
                                   struct client_model *m, const struct hal_prepare_config *config)
{
    enum hal_status status;

    (void) prepare(d, version, m, config, &status);
    if (m->prepared)
        m->prepared->methods->release(m->prepared);
    m->prepared = NULL;
    return status;
}

static void finish_model(struct client_model *m)
{
    m->arena = arena_new(0);
    m->prepared = NULL;
    ck_assert_int_eq(convert_to_hal(&m->b.model, m->arena, &m->hal, &w), 0);
}

/* a = x + c, b = a + y, c = b + y; c is the output. */
static void cycle_model(struct client_model *m)
{
    build_init(&m->b, 1);
    uint32_t x = build_operand(&m->b, LIFE_INPUT, DT_F32, DIMS(N));
    uint32_t y = build_operand(&m->b, LIFE_INPUT, DT_F32, DIMS(N));
    uint32_t a = build_operand(&m->b, LIFE_TEMPORARY, DT_F32, DIMS(N));
    uint32_t b = build_operand(&m->b, LIFE_TEMPORARY, DT_F32, DIMS(N));
    uint32_t c = build_operand(&m->b, LIFE_OUTPUT, DT_F32, DIMS(N));
    uint32_t act = build_int(&m->b, 0);
    OPERATION(&m->b, "ADD", IDS(x, c, act), IDS(a));
    OPERATION(&m->b, "ADD", IDS(a, y, act), IDS(b));
    OPERATION(&m->b, "ADD", IDS(b, y, act), IDS(c));
    finish_model(m);
}

START_TEST(cycles_are_refused)
{
    struct client_model m;
    bool supported[3];
    uint32_t n;

    cycle_model(&m);
    for (int v = 0; v < COUNT(versions); v++) {
        struct hal_driver *d = open_device(_i, versions[v]);
        ck_assert_int_eq(d->get_supported_operations(d, versions[v], &m.hal, supported, &n),
                         HAL_INVALID_ARGUMENT);
        ck_assert_int_ne(try_prepare(d, versions[v], &m, &vts_usual), HAL_NONE);
        d->close(d);
    }
    client_done(&m);
}
END_TEST

/* ---- entry points of older versions */

static const struct unary {
    const char *op;
    enum dtype type;
    int level;
} unary[] = {
    { "RELU", DT_F32, 1 }, { "RELU", DT_U8, 1 }, { "RELU", DT_F16, 3 },
    { "RELU", DT_S8, 4 },  { "EXP", DT_F32, 3 }, { "HARD_SWISH", DT_F32, 4 },
};

static void unary_model(struct client_model *m, const struct unary *u)
{
    float scale = dtype_info[u->type].quant == QUANT_AFFINE;

    build_init(&m->b, 1);
    uint32_t x = build_quant(&m->b, LIFE_INPUT, u->type, DIMS(N), scale, 0);
    uint32_t y = build_quant(&m->b, LIFE_OUTPUT, u->type, DIMS(N), scale, 0);
    OPERATION(&m->b, u->op, IDS(x), IDS(y));
    finish_model(m);
}

START_TEST(newer_types_and_operations_are_refused_through_older_entries)
{
    struct hal_driver *d = open_device(_i, HAL_FL8);

    for (int k = 0; k < COUNT(unary); k++) {
        struct client_model m;
        unary_model(&m, &unary[k]);
        for (int v = 0; v < COUNT(versions); v++) {
            bool legal = unary[k].level <= hal_level(versions[v]), supported = false;
            uint32_t n;
            ck_assert_int_eq(d->get_supported_operations(d, versions[v], &m.hal, &supported, &n),
                             legal ? HAL_NONE : HAL_INVALID_ARGUMENT);
            ck_assert_int_eq(try_prepare(d, versions[v], &m, &vts_usual),
                             legal && supported ? HAL_NONE : HAL_INVALID_ARGUMENT);
        }
        client_done(&m);
    }
    d->close(d);
}
END_TEST

/* One that the device supports. */
static const struct unary *relu_of(int i)
{
    return &unary[i % DEVICES == 2];
}

START_TEST(relaxed_models_are_of_1_1)
{
    struct hal_driver *d = open_device(_i, HAL_1_3);
    struct client_model m;

    unary_model(&m, relu_of(_i));
    m.hal.relaxed = true;
    ck_assert_int_eq(try_prepare(d, HAL_1_0, &m, &vts_usual), HAL_INVALID_ARGUMENT);
    ck_assert_int_eq(try_prepare(d, HAL_1_1, &m, &vts_usual), HAL_NONE);
    client_done(&m);
    d->close(d);
}
END_TEST

START_TEST(what_a_version_has_not_is_ignored)
{
    struct hal_prepare_config preference = vts_usual, priority = vts_usual, late = vts_usual;
    struct hal_driver *d = open_device(_i, HAL_FL8);
    struct client_model m;

    unary_model(&m, relu_of(_i));
    preference.preference = (enum hal_preference) 3;
    priority.priority = (enum hal_priority) 3;
    late.deadline = 1;
    for (int v = 0; v < COUNT(versions); v++) {
        ck_assert_int_eq(try_prepare(d, versions[v], &m, &preference),
                         versions[v] >= HAL_1_1 ? HAL_INVALID_ARGUMENT : HAL_NONE);
        ck_assert_int_eq(try_prepare(d, versions[v], &m, &priority),
                         versions[v] >= HAL_1_3 ? HAL_INVALID_ARGUMENT : HAL_NONE);
        ck_assert_int_eq(try_prepare(d, versions[v], &m, &late),
                         versions[v] >= HAL_1_3 ? HAL_MISSED_DEADLINE_PERSISTENT : HAL_NONE);
    }
    client_done(&m);
    d->close(d);
}
END_TEST

START_TEST(new_status_codes_become_general_failures)
{
    static const enum why_code codes[] = { WHY_TIMEOUT, WHY_MEMORY };

    for (int k = 0; k < COUNT(codes); k++)
        for (int v = 0; v < COUNT(versions); v++) {
            struct why why = { .code = codes[k] };
            enum hal_status s = hal_status_of(&why, versions[v]);
            ck_assert(versions[v] < HAL_1_3 ? s == HAL_GENERAL_FAILURE
                                            : s >= HAL_MISSED_DEADLINE_TRANSIENT);
        }
}
END_TEST

/* ---- priorities and deadlines */

START_TEST(all_priorities_prepare)
{
    struct hal_prepare_config config = vts_usual;
    struct client_model m;

    unary_model(&m, relu_of(_i));
    for (int v = 3; v < COUNT(versions); v++) {
        struct hal_driver *d = open_device(_i, versions[v]);
        for (int p = HAL_PRIORITY_LOW; p <= HAL_PRIORITY_HIGH; p++) {
            config.priority = (enum hal_priority) p;
            ck_assert_int_eq(try_prepare(d, versions[v], &m, &config), HAL_NONE);
        }
        d->close(d);
    }
    client_done(&m);
}
END_TEST

static bool is_missed(enum hal_status s)
{
    return s == HAL_MISSED_DEADLINE_TRANSIENT || s == HAL_MISSED_DEADLINE_PERSISTENT;
}

/* Now, in 5 ms, never, by the version's clock. */
static uint64_t deadline(int which, enum hal_version version)
{
    struct timespec t;

    clock_gettime(version >= HAL_FL5 ? CLOCK_BOOTTIME : CLOCK_MONOTONIC, &t);
    uint64_t now = (uint64_t) t.tv_sec * UINT64_C(1000000000) + (uint64_t) t.tv_nsec;
    return which == 0 ? now : which == 1 ? now + 5000000 : HAL_NO_DEADLINE;
}

/* A launch with a deadline always succeeds; the end is in time or says that it is not. */
static void execute_until(struct hal_prepared_model *p, enum hal_version version, int which,
                          uint32_t bytes)
{
    static float in[N], out[N];
    const struct hal_argument x = { .location = { .pool = 0, .length = bytes } },
                              y = { .location = { .pool = 1, .length = bytes } };
    const struct hal_request_pool pools[] = {
        { .memory = { HAL_MEMORY_ADDRESS, HAL_MEMORY_READ, in, -1, 0, bytes } },
        { .memory = { HAL_MEMORY_ADDRESS, HAL_MEMORY_READ | HAL_MEMORY_WRITE, out, -1, 0, bytes } },
    };
    struct hal_request r = { 1, 1, 2, &x, &y, pools };
    struct hal_execution_config config = client_config();
    struct client_wait wait;

    client_wait_init(&wait);
    config.deadline = deadline(which, version);
    ck_assert_int_eq(p->methods->execute(p, version, &r, &config, &wait.base), HAL_NONE);
    enum hal_status s = client_wait(&wait);
    ck_assert(s == HAL_NONE || (which < 2 && is_missed(s)));
    ck_assert(which || is_missed(s));
    ck_assert_uint_eq(wait.calls, 1);
    ck_assert(wait.n_shapes == (s == HAL_NONE));
    ck_assert(wait.timing.on_device == HAL_NO_TIME && wait.timing.in_driver == HAL_NO_TIME);
}

START_TEST(deadlines_are_kept_or_said_to_be_missed)
{
    struct hal_prepare_config config = vts_usual;
    struct client_model m;
    enum hal_status status;
    uint32_t bytes = N * (uint32_t) dtype_info[relu_of(_i)->type].codec->size;

    unary_model(&m, relu_of(_i));
    for (int v = 3; v < COUNT(versions); v++) {
        struct hal_driver *d = open_device(_i, versions[v]);
        for (int which = 0; which < 3; which++) {
            config.deadline = deadline(which, versions[v]);
            ck_assert_int_eq(prepare(d, versions[v], &m, &config, &status), HAL_NONE);
            ck_assert(status == HAL_NONE || (which < 2 && is_missed(status)));
            for (int k = 0; k < 3 && m.prepared; k++)
                execute_until(m.prepared, versions[v], k, bytes);
            if (m.prepared)
                m.prepared->methods->release(m.prepared);
            m.prepared = NULL;
        }
        d->close(d);
    }
    client_done(&m);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("vts basic");
    TCase *c = tcase_create("basic");

    tcase_add_loop_test(c, capabilities_are_those_of_every_version, 0, 2 * DEVICES);
    tcase_add_loop_test(c, names_types_and_files_are_sound, 0, 2 * DEVICES);
    tcase_add_loop_test(c, cycles_are_refused, 0, 2 * DEVICES);
    tcase_add_loop_test(c, newer_types_and_operations_are_refused_through_older_entries, 0,
                        2 * DEVICES);
    tcase_add_loop_test(c, relaxed_models_are_of_1_1, 0, 2 * DEVICES);
    tcase_add_loop_test(c, what_a_version_has_not_is_ignored, 0, 2 * DEVICES);
    tcase_add_test(c, new_status_codes_become_general_failures);
    tcase_add_loop_test(c, all_priorities_prepare, 0, 2 * DEVICES);
    tcase_add_loop_test(c, deadlines_are_kept_or_said_to_be_missed, 0, 2 * DEVICES);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
