/* What a conformance suite refuses, every driver refuses: each mutation of tests/vts_mutations.c on
 * random models of every operation, at every version of the HAL, on the shipped devices in this
 * process and over a socket.  The number of mutants is printed. */
#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "randgraph/randgraph.h"
#include "sim/convert.h"
#include "tests/hal_client.h"
#include "tests/vts_mutations.h"
#include "tests/vts_requests.h"

enum { SEED = 41, PER_OP = 2, LARGER = 24, MAX_MODELS = 400, DEVICES = 3, MOST_TOLD = 40 };

static const char *const devices[DEVICES] = { "cpu", "gpu", "dsp" };
static const enum hal_version versions[] = { HAL_1_0, HAL_1_1, HAL_1_2, HAL_1_3,
                                             HAL_FL5, HAL_FL6, HAL_FL7, HAL_FL8 };

static struct why w;

/* ---- models */

struct case_model {
    struct arena *arena;
    char name[80];
    struct example example;
    struct hal_model hal;
    int level;
};
static struct case_model models[MAX_MODELS];
static int n_models;

static void draw(const char *only, int max_level, uint32_t ops, uint64_t index)
{
    struct case_model *m = &models[n_models];
    struct randgraph_options options = randgraph_default;

    options.only = only;
    options.max_level = max_level;
    options.relaxed = max_level > 1 ? options.relaxed : 0;
    options.min_ops = options.max_ops = ops;
    options.control_flow = max_level >= 4 ? 0.5 : 0;
    options.max_dim = 5;
    m->arena = arena_new(0);
    if (randgraph_make(&options, SEED, index, m->arena, &m->example, &w) < 0) {
        fprintf(stderr, "%s at level %d: %s\n", only ? only : "any", max_level, w.text);
        arena_free(m->arena);
        return;
    }
    m->level = model_validate(&m->example.model, &w);
    ck_assert_msg(m->level > 0, "%s: %s", m->example.name, w.text);
    ck_assert_int_eq(convert_to_hal(&m->example.model, m->arena, &m->hal, &w), 0);
    snprintf(m->name, sizeof m->name, "%s (%s, level %d)", m->example.name, only ? only : "any",
             m->level);
    n_models++;
}

static void draw_models(void)
{
    for (int i = 0; i < op_table_n; i++)
        for (int k = 0; k < PER_OP; k++)
            draw(op_table[i]->name, k ? 8 : (int) op_table[i]->since, 1, (uint64_t) k);
    for (uint64_t i = 0; i < LARGER; i++)
        draw(NULL, 1 + (int) (i % 8), 3 + (uint32_t) i % 5, i);
}

static void free_models(void)
{
    while (n_models)
        arena_free(models[--n_models].arena);
}

/* ---- one device at one version */

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

/* Who tests: one driver, the counts of all its mutants. */
struct bench {
    struct hal_driver *driver;
    enum hal_version version;
    const char *device;
    unsigned every; /* of the mutants are tried */
    const struct case_model *model;
    const struct vts_mutation *mutation;
    struct seen seen;
    unsigned prepared, at, requests, tried[32], failures;
};

__attribute__((format(printf, 3, 4))) static void complain(struct bench *b, const char *what,
                                                           const char *format, ...)
{
    char text[200];
    va_list ap;

    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    if (b->failures++ < MOST_TOLD)
        fprintf(stderr, "%s, HAL %d, %s, %s, %s: %s\n", b->device, (int) b->version, b->model->name,
                b->mutation ? b->mutation->name : "request", what, text);
}

/* Prepares, and waits for the only call back. */
static enum hal_status prepare(struct bench *b, const struct hal_model *model,
                               const struct hal_prepare_config *config)
{
    unsigned before = b->prepared++;
    enum hal_status status =
        b->driver->prepare_model(b->driver, b->version, model, config, &b->seen.base);

    pthread_mutex_lock(&b->seen.lock);
    while (b->seen.calls <= before)
        pthread_cond_wait(&b->seen.called, &b->seen.lock);
    pthread_mutex_unlock(&b->seen.lock);
    return status;
}

static void refuse_mutant(const struct vts_mutant *m, void *user)
{
    struct bench *b = user;
    bool supported[128];
    uint32_t n = 99;

    if (b->at++ % b->every)
        return;
    b->tried[b->mutation - vts_mutations]++;
    if (!b->mutation->is_config) {
        enum hal_status s =
            b->driver->get_supported_operations(b->driver, b->version, &m->model, supported, &n);
        if (s != HAL_INVALID_ARGUMENT || n != 99)
            complain(b, m->what, "supported: %s", hal_status_name(s));
    }
    enum hal_status s = prepare(b, &m->model, &m->config);
    if (s != HAL_INVALID_ARGUMENT || b->seen.status != HAL_INVALID_ARGUMENT || b->seen.prepared)
        complain(b, m->what, "prepared: %s, then %s", hal_status_name(s),
                 hal_status_name(b->seen.status));
    if (b->seen.prepared)
        b->seen.prepared->methods->release(b->seen.prepared);
}

static void open_bench(struct bench *b, const char *device, enum hal_version version, bool remote)
{
    struct hal_driver *d = client_open(device, version);

    b->device = device;
    b->version = version;
    b->driver = remote ? client_over_socket(d) : d;
    b->seen = (struct seen){ .base = { notify } };
    b->prepared = 0;
    pthread_mutex_init(&b->seen.lock, NULL);
    pthread_cond_init(&b->seen.called, NULL);
}

static void close_bench(struct bench *b)
{
    b->driver->close(b->driver);
    ck_assert_uint_eq(b->seen.calls, b->prepared);
}

static void mutate(struct bench *b)
{
    for (int k = 0; k < vts_n_mutations; k++) {
        b->mutation = &vts_mutations[k];
        vts_walk(b->mutation, &b->model->hal, b->version, refuse_mutant, b);
    }
    b->mutation = NULL;
}

/* ---- requests */

static bool is_empty(const struct hal_result *r)
{
    return !r->n_shapes && r->timing.on_device == HAL_NO_TIME && r->timing.in_driver == HAL_NO_TIME;
}

static void refuse_request(struct bench *b, struct hal_prepared_model *p, struct vts_request *r,
                           const char *what)
{
    struct hal_execution_config config = client_config();

    for (int k = 0; k < vts_n_kinds; k++) {
        if (vts_kinds[k].since > b->version)
            continue;
        config.measure = ++b->requests % 2;
        enum hal_status s = vts_kinds[k].run(p, b->version, r, &config);
        if (s != HAL_INVALID_ARGUMENT || !is_empty(&r->result))
            complain(b, what, "%s: %s, %u shapes", vts_kinds[k].name, hal_status_name(s),
                     r->result.n_shapes);
    }
}

static void drop(struct hal_argument *list, uint32_t n, uint32_t at)
{
    memmove(list + at, list + at + 1, (n - at - 1) * sizeof *list);
}

static void refuse_requests(struct bench *b, struct hal_prepared_model *p, struct arena *a)
{
    struct vts_request r;

    vts_request(&b->model->example, a, &r);
    uint32_t n_in = r.hal.n_inputs, n_out = r.hal.n_outputs;
    for (uint32_t i = 0; i < n_in; i++) {
        vts_request(&b->model->example, a, &r);
        drop(r.inputs, r.hal.n_inputs--, i);
        refuse_request(b, p, &r, "an input is missing");
    }
    for (uint32_t i = 0; i < n_out; i++) {
        vts_request(&b->model->example, a, &r);
        drop(r.outputs, r.hal.n_outputs--, i);
        refuse_request(b, p, &r, "an output is missing");
    }
}

static void refuse_null_fence(struct bench *b, struct hal_prepared_model *p, struct arena *a)
{
    static const int none = HAL_NO_FENCE;
    struct hal_execution_config config = client_config();
    struct hal_fenced_info *info = (struct hal_fenced_info *) b;
    struct vts_request r;
    int fence = 99;

    vts_request(&b->model->example, a, &r);
    b->requests++;
    enum hal_status s = p->methods->execute_fenced(p, b->version, &r.hal, 1, &none, &config,
                                                   HAL_NO_TIME, &fence, &info);
    if (s != HAL_INVALID_ARGUMENT || fence != HAL_NO_FENCE || info)
        complain(b, "a null fence", "%s, fence %d", hal_status_name(s), fence);
}

/* The request that is bent afterwards is right. */
static void accept_request(struct bench *b, struct hal_prepared_model *p, struct arena *a)
{
    bool specified = vts_request_is_specified(&b->model->example);

    for (int k = 0; k < vts_n_kinds; k++) {
        struct hal_execution_config config = client_config();
        struct vts_request r;
        vts_request(&b->model->example, a, &r);
        config.measure = k % 2;
        if (vts_kinds[k].since > b->version || (b->version < HAL_1_2 && !specified))
            continue;
        enum hal_status s = vts_kinds[k].run(p, b->version, &r, &config);
        enum hal_status expected =
            vts_kinds[k].since == HAL_1_3 && !specified ? HAL_INVALID_ARGUMENT : HAL_NONE;
        if (s != expected)
            complain(b, "as it is", "%s: %s", vts_kinds[k].name, hal_status_name(s));
        if (!config.measure && r.result.timing.on_device != HAL_NO_TIME)
            complain(b, "as it is", "%s: timed", vts_kinds[k].name);
    }
}

/* false: the device does not support the model. */
static bool is_supported(struct bench *b)
{
    bool supported[128];
    uint32_t n = 0;
    enum hal_status s =
        b->driver->get_supported_operations(b->driver, b->version, &b->model->hal, supported, &n);

    if (s != HAL_NONE || n != b->model->hal.main.n_operations)
        complain(b, "as it is", "supported: %s, %u answers", hal_status_name(s), n);
    for (uint32_t i = 0; i < n; i++)
        if (!supported[i])
            return false;
    return s == HAL_NONE;
}

static void request(struct bench *b)
{
    struct arena *a;

    if (!is_supported(b))
        return;
    enum hal_status s = prepare(b, &b->model->hal, &vts_usual);
    struct hal_prepared_model *p = b->seen.prepared;
    if (s != HAL_NONE || b->seen.status != HAL_NONE || !p) {
        complain(b, "as it is", "prepared: %s, then %s", hal_status_name(s),
                 hal_status_name(b->seen.status));
        return;
    }
    a = arena_new(0);
    accept_request(b, p, a);
    refuse_requests(b, p, a);
    if (b->version >= HAL_1_3)
        refuse_null_fence(b, p, a);
    p->methods->release(p);
    arena_free(a);
}

/* ---- all of it */

/* Models are shared out among the devices: every mutation meets every device at every version. */
static void walk_device(struct bench *b, int device, bool remote, int share)
{
    for (int v = 0; v < COUNT(versions); v++) {
        open_bench(b, devices[device], versions[v], remote);
        for (int i = 0; i < n_models; i++) {
            b->model = &models[i];
            if (models[i].level > hal_level(versions[v]) || (i / PER_OP + v) % share != device)
                continue;
            mutate(b);
            request(b);
        }
        close_bench(b);
    }
}

static void report(const struct bench *b, double seconds)
{
    unsigned all = 0;

    for (int k = 0; k < vts_n_mutations; k++) {
        printf("%8u %s\n", b->tried[k], vts_mutations[k].name);
        all += b->tried[k];
    }
    printf("%8u mutants, %u bent requests, %.1f s\n", all, b->requests, seconds);
    fflush(stdout);
}

static void run_on_devices(unsigned every, bool remote)
{
    struct bench b = { .every = every };
    clock_t begin = clock();

    for (int device = 0; device < DEVICES; device++)
        walk_device(&b, device, remote, remote ? 2 * DEVICES : DEVICES);
    report(&b, (double) (clock() - begin) / CLOCKS_PER_SEC);
    for (int k = 0; k < vts_n_mutations; k++)
        ck_assert_uint_gt(b.tried[k], 0);
    ck_assert_uint_eq(b.failures, 0);
}

START_TEST(every_mutant_is_refused)
{
    run_on_devices(1, false);
}
END_TEST

START_TEST(every_mutant_is_refused_over_a_socket)
{
    run_on_devices(29, true);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("vts");
    TCase *c = tcase_create("mutations");

    tcase_add_unchecked_fixture(c, draw_models, free_models);
    tcase_set_timeout(c, 400);
    tcase_add_test(c, every_mutant_is_refused);
    tcase_add_test(c, every_mutant_is_refused_over_a_socket);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
