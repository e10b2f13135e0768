/* Compilation caching with other numbers of files than the shipped devices need (these are in
 * harness/suites/suite_cache.c), with forged contents, and with files of other drivers. */
#include <check.h>
#include <string.h>

#include "harness/corrupt/cache_events.h"
#include "sim/driver/compilation_cache.h"
#include "sim/hal/convert.h"
#include "tests/support/check_main.h"
#include "tests/support/hal_client.h"

enum { N = 4, CHAIN = 6 };

static struct why w;

/* ---- models: a chain of one operation with constants, by copy and by reference */

struct subject {
    struct build b;
    struct arena *arena;
    struct hal_model hal;
    float pool[N]; /* the last operation's constant */
    float expected[N];
};

static float combine(const char *op, float x, float y)
{
    return strcmp(op, "ADD") == 0 ? x + y : x * y;
}

/* Moves a constant to a pool. */
static void move_to_pool(struct subject *s, uint32_t operand)
{
    struct hal_operand *o = (struct hal_operand *) (uintptr_t) &s->hal.main.operands[operand];
    struct hal_memory *pool = arena_alloc(s->arena, 1, sizeof *pool);

    *pool = (struct hal_memory){ .kind = HAL_MEMORY_ADDRESS,
                                 .protection = HAL_MEMORY_READ,
                                 .address = s->pool,
                                 .fd = -1,
                                 .size = sizeof s->pool };
    o->lifetime = HAL_CONSTANT_REFERENCE;
    o->location = (struct hal_location){ .length = sizeof s->pool };
    s->hal.n_pools = 1;
    s->hal.pools = pool;
}

static void subject_init(struct subject *s, const char *op)
{
    static const float c[N] = { 1, 2, 3, 4 };
    uint32_t x, constant = 0, act;

    build_init(&s->b, 1);
    x = build_operand(&s->b, LIFE_INPUT, DT_F32, DIMS(N));
    act = build_int(&s->b, 0);
    for (int i = 0; i < N; i++) {
        s->expected[i] = (float) i;
        s->pool[i] = 5;
    }
    for (int k = 0; k < CHAIN; k++) {
        constant = build_constant(&s->b, DT_F32, DIMS(N), c);
        uint32_t y =
            build_operand(&s->b, k + 1 < CHAIN ? LIFE_TEMPORARY : LIFE_OUTPUT, DT_F32, DIMS(N));
        OPERATION(&s->b, op, IDS(x, constant, act), IDS(y));
        for (int i = 0; i < N; i++)
            s->expected[i] = combine(op, s->expected[i], k + 1 < CHAIN ? c[i] : s->pool[i]);
        x = y;
    }
    s->arena = arena_new(0);
    ck_assert_int_eq(convert_to_hal(&s->b.model, s->arena, &s->hal, &w), 0);
    move_to_pool(s, constant);
}

static void subject_done(struct subject *s)
{
    arena_free(s->arena);
    build_done(&s->b);
}

static void check_runs(struct hal_prepared_model *p, const struct subject *s)
{
    struct client_request r;

    client_fill(&r, N);
    r.out[0].location.pool = 1;
    r.pool[1] = r.pool[2];
    r.hal.n_inputs = 1;
    r.hal.n_pools = 2;
    ck_assert_int_eq(client_execute(p, HAL_1_2, &r.hal, &r.result), HAL_NONE);
    for (int i = 0; i < N; i++)
        ck_assert_float_eq(r.z[i], s->expected[i]);
    p->methods->release(p);
}

/* ---- with several numbers of files, in process and over a socket */

static const struct {
    const char *name;
    uint32_t n_model, n_data;
    bool over_socket;
} drivers[] = {
    { "cpu", 1, 1, false }, { "cpu", 2, 1, true },  { "cpu", 3, 2, false },
    { "gpu", 2, 0, false }, { "cpu", 0, 2, false }, { "cpu", 1, 1, true },
};

static struct hal_driver *driver;
static struct subject subject, other;

static void set_up_with(int i)
{
    driver = client_open_cached(drivers[i].name, drivers[i].n_model, drivers[i].n_data, NULL);
    if (drivers[i].over_socket)
        driver = client_over_socket(driver);
    subject_init(&subject, "ADD");
    subject_init(&other, "MUL");
}

static void tear_down(void)
{
    driver->close(driver);
    subject_done(&subject);
    subject_done(&other);
}

static void save(const struct files *f, const struct subject *s)
{
    struct hal_prepare_config config = files_config(f);
    struct hal_prepared_model *p;

    ck_assert_int_eq(client_prepare_with(driver, HAL_1_2, &s->hal, &config, &p), HAL_NONE);
    check_runs(p, s);
}

static enum hal_status restore(const struct files *f, const struct subject *s)
{
    struct hal_prepare_config config = files_config(f);
    struct hal_prepared_model *p;
    enum hal_status status = client_prepare_with(driver, HAL_1_2, NULL, &config, &p);

    if (p)
        check_runs(p, s);
    return status;
}

static bool run_event(int i, const struct cache_event *e, uint32_t round)
{
    struct files f;
    bool more = false;

    files_init(&f, drivers[i].n_model, drivers[i].n_data);
    if (e->before_saving)
        more = e->happen(&f, round);
    save(&f, &subject);
    if (!e->before_saving)
        more = e->happen(&f, round);
    enum hal_status s = restore(&f, &subject);
    ck_assert_msg(s == e->status, "%s, round %u: %s, expected %s", e->what, round,
                  hal_status_name(s), hal_status_name(e->status));
    files_done(&f);
    return more;
}

START_TEST(damaged_files_are_detected)
{
    int i = _i / cache_n_events;
    uint32_t round = 0;

    set_up_with(i);
    while (run_event(i, &cache_events[_i % cache_n_events], round))
        round++;
    tear_down();
}
END_TEST

/* Model cache files of another model, saved under another token and under the same. */
START_TEST(files_of_another_model_are_detected)
{
    struct files f, g;

    set_up_with(_i);
    for (int same = 0; same < 2; same++) {
        files_init(&f, drivers[_i].n_model, drivers[_i].n_data);
        files_init(&g, drivers[_i].n_model, drivers[_i].n_data);
        g.token[5] ^= (uint8_t) !same;
        save(&f, &subject);
        save(&g, &other);
        files_copy(*files_any(&g, 0), *files_any(&f, 0));
        if (f.n_model + f.n_data > 1)
            ck_assert_int_eq(restore(&f, &subject), HAL_GENERAL_FAILURE);
        for (uint32_t k = 0; k < f.n_model; k++)
            files_copy(g.model[k], f.model[k]);
        if (f.n_data || !same)
            ck_assert_int_eq(restore(&f, &subject), HAL_GENERAL_FAILURE);
        files_done(&f);
        files_done(&g);
    }
    tear_down();
}
END_TEST

/* ---- the rest of the configuration */

START_TEST(files_of_another_driver_are_rejected)
{
    static const char *const versions[] = { "cpu 1", "cpu 10", "cpu 1" };
    static const enum hal_status expected[] = { HAL_NONE, HAL_GENERAL_FAILURE, HAL_NONE };
    struct files f;

    subject_init(&subject, "ADD");
    files_init(&f, 1, 1);
    for (int i = 0; i < COUNT(versions); i++) {
        driver = client_open_cached("cpu", 1, 1, versions[i]);
        if (i == 0)
            save(&f, &subject);
        ck_assert_int_eq(restore(&f, &subject), expected[i]);
        driver->close(driver);
    }
    driver = client_open_cached("gpu", 1, 1, "cpu 1");
    ck_assert_int_eq(restore(&f, &subject), HAL_GENERAL_FAILURE);
    driver->close(driver);
    files_done(&f);
    subject_done(&subject);
}
END_TEST

START_TEST(the_configuration_is_checked)
{
    struct hal_prepared_model *p;
    struct files f;

    set_up_with(_i);
    files_init(&f, drivers[_i].n_model, drivers[_i].n_data);
    save(&f, &subject);
    struct hal_prepare_config config = files_config(&f);
    ck_assert_int_eq(client_prepare_with(driver, HAL_1_1, NULL, &config, &p), HAL_INVALID_ARGUMENT);
    config.deadline = 1;
    ck_assert_int_eq(client_prepare_with(driver, HAL_1_3, NULL, &config, &p),
                     HAL_MISSED_DEADLINE_PERSISTENT);
    ck_assert_int_eq(client_prepare_with(driver, HAL_1_2, NULL, &config, &p), HAL_INVALID_ARGUMENT);
    config.deadline = HAL_NO_DEADLINE;
    config.preference = (enum hal_preference) 3; /* not an argument of this method */
    ck_assert_int_eq(client_prepare_with(driver, HAL_1_2, NULL, &config, &p), HAL_NONE);
    check_runs(p, &subject);
    files_done(&f);
    tear_down();
}
END_TEST

/* prepare_model_from_cache has no priority argument. */
START_TEST(a_restored_model_has_its_saved_priority)
{
    static const enum hal_priority priorities[] = { HAL_PRIORITY_LOW, HAL_PRIORITY_HIGH };

    for (int i = 0; i < COUNT(priorities); i++) {
        struct hal_prepared_model *p;
        struct files f;
        set_up_with(0);
        files_init(&f, drivers[0].n_model, drivers[0].n_data);
        struct hal_prepare_config config = files_config(&f);
        config.priority = priorities[i];
        ck_assert_int_eq(client_prepare_with(driver, HAL_1_3, &subject.hal, &config, &p), HAL_NONE);
        p->methods->release(p);
        config.priority = HAL_PRIORITY_MEDIUM;
        ck_assert_int_eq(client_prepare_with(driver, HAL_1_3, NULL, &config, &p), HAL_NONE);
        ck_assert_int_eq(((const struct prepared *) p)->priority, priorities[i]);
        p->methods->release(p);
        files_done(&f);
        tear_down();
    }
}
END_TEST

/* Before HAL 1.2 there are no cache files. */
START_TEST(caching_exists_since_hal_1_2)
{
    static const enum hal_version versions[] = { HAL_1_0, HAL_1_1, HAL_1_2, HAL_1_3, HAL_FL8 };

    for (int i = 0; i < COUNT(versions); i++) {
        struct hal_driver *d = client_open("dsp", versions[i]);
        uint32_t n_model = 9, n_data = 9;
        bool has = versions[i] >= HAL_1_2;
        ck_assert_int_eq(d->get_number_of_cache_files_needed(d, &n_model, &n_data),
                         has ? HAL_NONE : HAL_GENERAL_FAILURE);
        ck_assert_uint_eq(n_model, has ? 2 : 9);
        ck_assert_uint_eq(n_data, has ? 1 : 9);
        d->close(d);
    }
}
END_TEST

/* Contents with a valid digest that the driver did not write. */
START_TEST(forged_contents_are_validated_like_a_client_s_model)
{
    struct cache_owner owner = { "halcyon-cpu", "forged", 1, 1 };
    struct arena *a = arena_new(0);
    struct cache_entry e;
    struct files f;
    uint32_t x = 1;

    driver = client_open_cached("cpu", 1, 1, owner.version);
    subject_init(&subject, "ADD");
    files_init(&f, 1, 1);
    save(&f, &subject);
    struct hal_prepare_config config = files_config(&f);
    ck_assert_int_eq(cache_read(&owner, &config.cache, a, &e, &w), 0);
    uint8_t *graph = arena_copy(a, e.graph, e.n_graph);
    for (int k = 0; k < 3000; k++) {
        struct cache_entry forged = e;
        struct hal_prepared_model *p;
        x = x * 1664525u + 1013904223u;
        size_t at = (x >> 8) % e.n_graph;
        memcpy(graph, e.graph, e.n_graph);
        graph[at] = (uint8_t) (x >> 24);
        forged.graph = graph;
        forged.n_graph -= k % 7 == 0 ? at : 0;
        forged.n_constants -= k % 5 == 0 ? at % (e.n_constants + 1) : 0;
        ck_assert_int_eq(cache_write(&owner, &config.cache, &forged, &w), 0);
        enum hal_status s = client_prepare_with(driver, HAL_1_2, NULL, &config, &p);
        ck_assert(s == HAL_NONE || s == HAL_GENERAL_FAILURE);
        if (p)
            p->methods->release(p);
    }
    e.priority = (enum hal_priority) 3;
    ck_assert_int_eq(cache_write(&owner, &config.cache, &e, &w), 0);
    ck_assert_int_lt(cache_read(&owner, &config.cache, a, &e, &w), 0);
    ck_assert_ptr_nonnull(strstr(w.text, "priority"));
    files_done(&f);
    driver->close(driver);
    subject_done(&subject);
    arena_free(a);
}
END_TEST

Suite *cache_suite(void)
{
    TCase *c = tcase_create("cache");

    tcase_add_loop_test(c, damaged_files_are_detected, 0, COUNT(drivers) * cache_n_events);
    tcase_add_loop_test(c, files_of_another_model_are_detected, 0, COUNT(drivers));
    tcase_add_loop_test(c, the_configuration_is_checked, 0, COUNT(drivers));
    tcase_add_test(c, a_restored_model_has_its_saved_priority);
    tcase_add_test(c, files_of_another_driver_are_rejected);
    tcase_add_test(c, caching_exists_since_hal_1_2);
    tcase_add_test(c, forged_contents_are_validated_like_a_client_s_model);
    return make_suite("cache", c, NULL);
}
