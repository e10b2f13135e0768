/* Compilation caching: a driver's cache files under everything that may happen to them. */
#define _GNU_SOURCE
#include <check.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/cache.h"
#include "sim/convert.h"
#include "tests/cache_files.h"
#include "tests/hal_client.h"

enum { N = 4, CHAIN = 6 };

static struct why w;

/* ---- models: a chain of one operation with constants, by copy and by reference */

struct subject {
    struct build b;
    struct arena *arena;
    struct hal_model hal;
    float pool[N]; /* what the last operation adds or multiplies with */
    float expected[N];
};

static float combine(const char *op, float x, float y)
{
    return strcmp(op, "ADD") == 0 ? x + y : x * y;
}

/* The operand that the last operation takes as its constant, moved to a pool. */
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
    struct hal_execution_config config = client_config();
    struct client_request r;

    client_fill(&r, N);
    r.out[0].location.pool = 1;
    r.pool[1] = r.pool[2];
    r.hal.n_inputs = 1;
    r.hal.n_pools = 2;
    ck_assert_int_eq(p->methods->execute_synchronously(p, HAL_1_2, &r.hal, &config, &r.result),
                     HAL_NONE);
    for (int i = 0; i < N; i++)
        ck_assert_float_eq(r.z[i], s->expected[i]);
    p->methods->release(p);
}

/* ---- what happens to them; turn: which file, byte or bit, counted up as long as it says so */

#define ANY_FILE(f, k) ((k) < (f)->n_model ? &(f)->model[k] : &(f)->data[(k) - (f)->n_model])

static bool nothing(struct files *f, uint32_t turn)
{
    (void) f;
    return turn < 1;
}

static bool earlier_contents(struct files *f, uint32_t turn)
{
    static const char junk[5000] = "earlier";

    for (uint32_t k = 0; k < f->n_model + f->n_data; k++)
        ck_assert_int_eq(write(*ANY_FILE(f, k), junk, sizeof junk), sizeof junk);
    return turn < 1;
}

static bool moved_offset(struct files *f, uint32_t turn)
{
    for (uint32_t k = 0; k < f->n_model + f->n_data; k++)
        ck_assert_int_eq(lseek(*ANY_FILE(f, k), 33, SEEK_SET), 33);
    return turn < 1;
}

static bool appending(struct files *f, uint32_t turn)
{
    for (uint32_t k = 0; k < f->n_model + f->n_data; k++)
        files_reopen(ANY_FILE(f, k), O_RDWR | O_APPEND);
    return turn < 1;
}

static bool wrong_number(struct files *f, uint32_t turn)
{
    uint32_t *n = turn < 2 ? &f->n_model : &f->n_data;

    *n = turn % 2 || !*n ? *n + 1 : *n - 1;
    return turn < 3;
}

static bool no_file(struct files *f, uint32_t turn)
{
    close(*ANY_FILE(f, turn));
    *ANY_FILE(f, turn) = -1;
    return turn + 1 < f->n_model + f->n_data;
}

static bool read_only(struct files *f, uint32_t turn)
{
    files_reopen(ANY_FILE(f, turn), O_RDONLY);
    return turn + 1 < f->n_model + f->n_data;
}

static bool write_only(struct files *f, uint32_t turn)
{
    files_reopen(ANY_FILE(f, turn), O_WRONLY);
    return turn + 1 < f->n_model + f->n_data;
}

static bool no_ordinary_file(struct files *f, uint32_t turn)
{
    int ends[2];

    close(*ANY_FILE(f, turn));
    ck_assert_int_eq(pipe(ends), 0);
    close(ends[1 - turn % 2]);
    *ANY_FILE(f, turn) = ends[turn % 2];
    return turn + 1 < f->n_model + f->n_data;
}

/* Every byte of the headers, and then one here and there. */
static bool flipped_bit(struct files *f, uint32_t turn)
{
    uint32_t n = f->n_model + f->n_data, byte = turn / n;
    off_t at = byte < 72 ? byte : 72 + (off_t) (byte - 72) * 37;
    int fd = *ANY_FILE(f, turn % n);

    files_flip(fd, at % files_length(fd));
    return byte < 90;
}

static bool longer(struct files *f, uint32_t turn)
{
    static const char bytes[256];
    uint32_t n = f->n_model + f->n_data;
    int fd = *ANY_FILE(f, turn % n);
    size_t more = (size_t) 1 << turn / n;

    ck_assert_int_eq(pwrite(fd, bytes, more, files_length(fd)), (ssize_t) more);
    return more < 256;
}

static bool shorter(struct files *f, uint32_t turn)
{
    uint32_t n = f->n_model + f->n_data;
    int fd = *ANY_FILE(f, turn % n);
    off_t length = files_length(fd);
    off_t less[] = { length - 1, length / 2, 72, 71, 8, 1, 0 };

    ck_assert_int_eq(ftruncate(fd, less[turn / n]), 0);
    return turn + 1 < n * COUNT(less);
}

static bool huge(struct files *f, uint32_t turn)
{
    ck_assert_int_eq(ftruncate(*ANY_FILE(f, turn), (off_t) 1 << 40), 0);
    return turn + 1 < f->n_model + f->n_data;
}

static bool other_token(struct files *f, uint32_t turn)
{
    f->token[turn / 8] ^= (uint8_t) (1 << turn % 8);
    return turn + 1 < 8 * HAL_TOKEN_BYTES;
}

static bool exchanged(struct files *f, uint32_t turn)
{
    int *a = ANY_FILE(f, 0), *b = ANY_FILE(f, f->n_model + f->n_data - 1), t = *a;

    if (a == b)
        (void) !ftruncate(t, 0);
    *a = *b;
    *b = t;
    return turn < 1;
}

struct event {
    const char *what;
    bool before_saving;
    bool (*happen)(struct files *f, uint32_t turn); /* whether there is another turn */
    enum hal_status status;                         /* of what is restored then */
};

static const struct event events[] = {
    { "nothing", true, nothing, HAL_NONE },
    { "earlier contents", true, earlier_contents, HAL_NONE },
    { "an offset when saving", true, moved_offset, HAL_NONE },
    { "an offset when restoring", false, moved_offset, HAL_NONE },
    { "open for appending", true, appending, HAL_NONE },
    { "wrong numbers when saving", true, wrong_number, HAL_INVALID_ARGUMENT },
    { "wrong numbers when restoring", false, wrong_number, HAL_INVALID_ARGUMENT },
    { "no file when saving", true, no_file, HAL_GENERAL_FAILURE },
    { "no file when restoring", false, no_file, HAL_GENERAL_FAILURE },
    { "read-only when saving", true, read_only, HAL_GENERAL_FAILURE },
    { "read-only when restoring", false, read_only, HAL_GENERAL_FAILURE },
    { "write-only when saving", true, write_only, HAL_GENERAL_FAILURE },
    { "write-only when restoring", false, write_only, HAL_GENERAL_FAILURE },
    { "a pipe when saving", true, no_ordinary_file, HAL_GENERAL_FAILURE },
    { "a pipe when restoring", false, no_ordinary_file, HAL_GENERAL_FAILURE },
    { "a flipped bit", false, flipped_bit, HAL_GENERAL_FAILURE },
    { "appended bytes", false, longer, HAL_GENERAL_FAILURE },
    { "missing bytes", false, shorter, HAL_GENERAL_FAILURE },
    { "a huge file", false, huge, HAL_GENERAL_FAILURE },
    { "another token", false, other_token, HAL_GENERAL_FAILURE },
    { "files in another order", false, exchanged, HAL_GENERAL_FAILURE },
};

/* ---- over every combination of file counts, in process and over a socket */

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

static bool one_turn(int i, const struct event *e, uint32_t turn)
{
    struct files f;
    bool more = false;

    files_init(&f, drivers[i].n_model, drivers[i].n_data);
    if (e->before_saving)
        more = e->happen(&f, turn);
    save(&f, &subject);
    if (!e->before_saving)
        more = e->happen(&f, turn);
    enum hal_status s = restore(&f, &subject);
    ck_assert_msg(s == e->status, "%s, %u: %s, expected %s", e->what, turn, hal_status_name(s),
                  hal_status_name(e->status));
    files_done(&f);
    return more;
}

START_TEST(what_happens_to_the_files_is_found)
{
    int i = _i / COUNT(events);
    uint32_t turn = 0;

    set_up_with(i);
    while (one_turn(i, &events[_i % COUNT(events)], turn))
        turn++;
    tear_down();
}
END_TEST

/* Model files of another model, with its own token and with the same. */
START_TEST(files_of_another_model_are_found)
{
    struct files f, g;

    set_up_with(_i);
    for (int same = 0; same < 2; same++) {
        files_init(&f, drivers[_i].n_model, drivers[_i].n_data);
        files_init(&g, drivers[_i].n_model, drivers[_i].n_data);
        g.token[5] ^= (uint8_t) !same;
        save(&f, &subject);
        save(&g, &other);
        files_copy(*ANY_FILE(&g, 0), *ANY_FILE(&f, 0));
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

/* ---- somebody writes to the files meanwhile */

struct race {
    const struct files *from, *to;
    atomic_bool stop;
};

static void *overwrite(void *argument)
{
    struct race *r = argument;

    while (!atomic_load(&r->stop))
        for (uint32_t k = 0; k < r->to->n_model; k++) {
            char bytes[4096];
            ssize_t n = pread(r->from->model[k], bytes, sizeof bytes, 0);
            (void) !pwrite(r->to->model[k], bytes, n > 0 ? (size_t) n : 0, 0);
        }
    return NULL;
}

START_TEST(what_is_checked_is_what_is_used)
{
    struct files f, g;
    pthread_t thread;

    set_up_with(_i / 2);
    files_init(&g, drivers[_i / 2].n_model, drivers[_i / 2].n_data);
    save(&g, &other);
    for (int turn = 0; turn < 50; turn++) {
        files_init(&f, g.n_model, g.n_data);
        f.token[0]++;
        struct race r = { &g, &f, false };
        if (_i % 2)
            save(&f, &subject);
        pthread_create(&thread, NULL, overwrite, &r);
        if (!(_i % 2))
            save(&f, &subject);
        else
            ck_assert_int_ne(restore(&f, &subject), HAL_INVALID_ARGUMENT);
        atomic_store(&r.stop, true);
        pthread_join(thread, NULL);
        enum hal_status s = restore(&f, &subject);
        ck_assert(s == HAL_NONE || s == HAL_GENERAL_FAILURE);
        files_done(&f);
    }
    files_done(&g);
    tear_down();
}
END_TEST

/* ---- the rest of the configuration */

START_TEST(another_driver_does_not_take_it)
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

START_TEST(the_configuration_is_checked_too)
{
    struct hal_prepared_model *p;
    struct files f;

    set_up_with(_i);
    files_init(&f, drivers[_i].n_model, drivers[_i].n_data);
    save(&f, &subject);
    struct hal_prepare_config config = files_config(&f);
    ck_assert_int_eq(client_prepare_with(driver, HAL_1_1, NULL, &config, &p), HAL_INVALID_ARGUMENT);
    config.preference = (enum hal_preference) 3;
    ck_assert_int_eq(client_prepare_with(driver, HAL_1_2, NULL, &config, &p), HAL_INVALID_ARGUMENT);
    config.preference = HAL_LOW_POWER;
    config.deadline = 1;
    ck_assert_int_eq(client_prepare_with(driver, HAL_1_3, NULL, &config, &p),
                     HAL_MISSED_DEADLINE_PERSISTENT);
    ck_assert_int_eq(client_prepare_with(driver, HAL_1_2, NULL, &config, &p), HAL_NONE);
    check_runs(p, &subject);
    files_done(&f);
    tear_down();
}
END_TEST

/* Nothing is saved before HAL 1.2, and no files are asked for. */
START_TEST(caching_is_of_hal_1_2)
{
    static const enum hal_version versions[] = { HAL_1_0, HAL_1_1, HAL_1_2, HAL_1_3, HAL_FL8 };

    for (int i = 0; i < COUNT(versions); i++) {
        struct hal_driver *d = client_open("dsp", versions[i]);
        uint32_t n_model = 9, n_data = 9;
        ck_assert_int_eq(d->get_number_of_cache_files_needed(d, &n_model, &n_data), HAL_NONE);
        ck_assert_uint_eq(n_model, versions[i] >= HAL_1_2 ? 2 : 0);
        ck_assert_uint_eq(n_data, versions[i] >= HAL_1_2 ? 1 : 0);
        d->close(d);
    }
}
END_TEST

/* Contents whose digest is right, and which are not what the driver wrote. */
START_TEST(forged_contents_are_checked_as_a_client_s_model)
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
    for (int turn = 0; turn < 3000; turn++) {
        struct cache_entry forged = e;
        struct hal_prepared_model *p;
        x = x * 1664525u + 1013904223u;
        size_t at = (x >> 8) % e.n_graph;
        memcpy(graph, e.graph, e.n_graph);
        graph[at] = (uint8_t) (x >> 24);
        forged.graph = graph;
        forged.n_graph -= turn % 7 == 0 ? at : 0;
        forged.n_constants -= turn % 5 == 0 ? at % (e.n_constants + 1) : 0;
        ck_assert_int_eq(cache_write(&owner, &config.cache, &forged, &w), 0);
        enum hal_status s = client_prepare_with(driver, HAL_1_2, NULL, &config, &p);
        ck_assert(s == HAL_NONE || s == HAL_GENERAL_FAILURE);
        if (p)
            p->methods->release(p);
    }
    files_done(&f);
    driver->close(driver);
    subject_done(&subject);
    arena_free(a);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("sim cache");
    TCase *c = tcase_create("cache");

    tcase_add_loop_test(c, what_happens_to_the_files_is_found, 0, COUNT(drivers) * COUNT(events));
    tcase_add_loop_test(c, files_of_another_model_are_found, 0, COUNT(drivers));
    tcase_add_loop_test(c, what_is_checked_is_what_is_used, 0, 2 * COUNT(drivers));
    tcase_add_loop_test(c, the_configuration_is_checked_too, 0, COUNT(drivers));
    tcase_add_test(c, another_driver_does_not_take_it);
    tcase_add_test(c, caching_is_of_hal_1_2);
    tcase_add_test(c, forged_contents_are_checked_as_a_client_s_model);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
