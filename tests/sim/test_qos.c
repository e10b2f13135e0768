/* The four statuses of exhausted resources and missed deadlines: the status of each cause, through
 * every entry point at every HAL version, in process and over a socket; and whether the same call
 * succeeds later, which distinguishes transient from persistent.  Before 1.3 all four are
 * GENERAL_FAILURE. */
#include <check.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "harness/corrupt/cache_files.h"
#include "sim/base/fence.h"
#include "sim/device/profile.h"
#include "sim/hal/hal_convert.h"
#include "tests/support/check_main.h"
#include "tests/support/hal_client.h"

/* Virtual ns of a launch, of every operation, of preparing and of preparing each operation; so long
 * that the real time that passes during the test does not matter for deadlines. */
#define UNIT 1e12

enum { N = 4, OPS = 2, MODEL_BYTES = sizeof(int32_t), BUFFER_BYTES = N * sizeof(float) };

/* Deadlines, in units after the call. */
#define NONE 0
#define PAST (-1)

enum {
    MODEL,
    FROM_CACHE,
    ALLOCATE,
    SYNCHRONOUS,
    ASYNCHRONOUS,
    FENCED,
    BURST,
    REUSABLE,
    REUSABLE_FENCED,
    ENTRIES
};
#define BIT(entry)   (1u << (entry))
#define PREPARATIONS (BIT(MODEL) | BIT(FROM_CACHE))
#define ALL_FENCED   (BIT(FENCED) | BIT(REUSABLE_FENCED))
#define COUNTED      (BIT(ASYNCHRONOUS) | ALL_FENCED)
#define BLOCKING     (BIT(SYNCHRONOUS) | BIT(BURST) | BIT(REUSABLE))
#define EXECUTIONS   (COUNTED | BLOCKING)

/* One call under one cause. */
struct trial {
    const struct row *row;
    enum hal_version version;
    struct hal_driver *device, *driver; /* driver: the client's connection to the device */
    struct files files;
    struct client_model model, other;
    struct client_request request;
    struct other_execution {
        struct client_request request;
        struct client_wait wait;
    } others[2];
    int n_others;
    struct hal_buffer *buffer;
    struct fence fence; /* fenced executions wait for it */
    bool has_fence;
    double units;
    int entry;
    enum hal_status status;
};

/* ---- obstacles and their removal */

static struct schedule *schedule_of(const struct trial *s)
{
    return ((struct driver *) s->device)->schedule;
}

/* Queues n other executions of the same client; the schedule is held, so that none starts. */
static void queue_others(struct trial *s, int n)
{
    const struct hal_execution_config config = client_config();
    enum hal_version version = s->device->hal_version < HAL_1_3 ? s->device->hal_version : HAL_1_3;

    client_add_chain(&s->other, N, OPS);
    client_prepare(&s->other, s->driver, HAL_PRIORITY_MEDIUM);
    schedule_hold(schedule_of(s));
    for (s->n_others = 0; s->n_others < n; s->n_others++) {
        struct other_execution *t = &s->others[s->n_others];
        client_fill(&t->request, N);
        client_wait_init(&t->wait);
        s->other.prepared->methods->execute(s->other.prepared, version, &t->request.hal, &config,
                                            &t->wait.base);
    }
}

static void take_device(struct trial *s)
{
    queue_others(s, 1);
}

/* One execution has the device next, one waits in the queue. */
static void fill_queue(struct trial *s)
{
    queue_others(s, 2);
}

static void release_device(struct trial *s)
{
    schedule_release(schedule_of(s));
    while (s->n_others > 0)
        ck_assert_int_eq(client_wait(&s->others[--s->n_others].wait), HAL_NONE);
    client_done(&s->other);
}

static void take_model(struct trial *s)
{
    client_add_chain(&s->other, N, OPS);
    client_prepare(&s->other, s->driver, HAL_PRIORITY_MEDIUM);
}

static void release_model(struct trial *s)
{
    client_done(&s->other);
}

static enum hal_status allocate(struct trial *s, struct hal_buffer **ret_buffer)
{
    const struct hal_buffer_role role = { 0, 0, 1 };
    const struct hal_buffer_desc desc = { 0 };
    uint32_t token;

    return s->driver->allocate(s->driver, &desc, 1, &s->model.prepared, 0, NULL, 1, &role,
                               ret_buffer, &token);
}

static void take_buffer(struct trial *s)
{
    ck_assert_int_eq(allocate(s, &s->buffer), HAL_NONE);
}

static void release_buffer(struct trial *s)
{
    s->buffer->methods->release(s->buffer);
}

static void keep_fence(struct trial *s)
{
    ck_assert_int_eq(fence_open(&s->fence), 0);
    s->has_fence = true;
}

/* Also gives a repeated call enough time. */
static void signal_fence(struct trial *s)
{
    fence_complete(&s->fence, true);
    s->units = 1;
}

/* ---- the table */

static void slow(struct profile *p)
{
    p->launch_ns = p->operation_ns = p->prepare_ns = p->prepare_operation_ns = UNIT;
    p->driver_ns = 0;
    p->bandwidth = 1e30;
    for (int i = 0; i < DT_END; i++)
        p->rate[i] = 1e30;
}

static void slow_with_short_queue(struct profile *p)
{
    slow(p);
    p->queue_depth = 1;
}

static void one_model(struct profile *p)
{
    p->limits.most[QUOTA_MODELS] = 1;
}

static void no_model(struct profile *p)
{
    p->limits.most[QUOTA_MEMORY] = MODEL_BYTES - 1;
}

static void memory_of_one_model(struct profile *p)
{
    p->limits.most[QUOTA_MEMORY] = 2 * MODEL_BYTES - 1;
}

static void no_buffer(struct profile *p)
{
    p->limits.most[QUOTA_MEMORY] = BUFFER_BYTES - 1;
}

static void one_buffer(struct profile *p)
{
    p->limits.most[QUOTA_MEMORY] = MODEL_BYTES + 2 * BUFFER_BYTES - 1;
}

static void one_execution(struct profile *p)
{
    p->limits.most[QUOTA_EXECUTIONS] = 1;
}

static void little_memory(struct profile *p)
{
    p->memory = 1024;
}

static void no_memory(struct profile *p)
{
    p->memory = 16;
}

static const struct row {
    const char *cause;
    unsigned entries;
    enum hal_status status; /* since 1.3 */
    void (*device)(struct profile *p);
    double deadline; /* in units */
    double duration; /* of fenced executions, in units */
    bool is_endless; /* the model is an infinite loop */
    bool is_queued;  /* the call is queued until unblock() */
    void (*block)(struct trial *s), (*unblock)(struct trial *s); /* the obstacle; NULL: none */
} rows[] = {
    { "the deadline has passed", PREPARATIONS | EXECUTIONS, HAL_MISSED_DEADLINE_PERSISTENT, slow,
      .deadline = PAST },
    { "it takes longer than the deadline allows", PREPARATIONS | EXECUTIONS,
      HAL_MISSED_DEADLINE_PERSISTENT, slow, .deadline = 0.5 },
    { "it takes longer than the duration allows", ALL_FENCED, HAL_MISSED_DEADLINE_PERSISTENT, slow,
      .duration = 0.5 },
    { "other executions have the device until the deadline", EXECUTIONS,
      HAL_MISSED_DEADLINE_TRANSIENT, slow, .deadline = OPS + 2, .is_queued = true,
      .block = take_device, .unblock = release_device },
    { "the fences are signalled too late", ALL_FENCED, HAL_MISSED_DEADLINE_TRANSIENT, NULL,
      .deadline = 0.6e9 / UNIT, .block = keep_fence, .unblock = signal_fence },
    { "a loop does not end", EXECUTIONS, HAL_MISSED_DEADLINE_PERSISTENT, slow, .is_endless = true },
    { "too many executions of the client are queued", EXECUTIONS, HAL_RESOURCE_EXHAUSTED_TRANSIENT,
      slow_with_short_queue, .block = fill_queue, .unblock = release_device },
    { "too many executions in progress", COUNTED, HAL_RESOURCE_EXHAUSTED_TRANSIENT, one_execution,
      .block = take_device, .unblock = release_device },
    { "executions in blocking calls do not count", BLOCKING, HAL_NONE, one_execution,
      .is_queued = true, .block = take_device, .unblock = release_device },
    { "an execution needs more memory", EXECUTIONS, HAL_RESOURCE_EXHAUSTED_PERSISTENT,
      little_memory },
    { "its list of arguments alone needs more memory", EXECUTIONS,
      HAL_RESOURCE_EXHAUSTED_PERSISTENT, no_memory },
    { "too many models", PREPARATIONS, HAL_RESOURCE_EXHAUSTED_TRANSIENT, one_model,
      .block = take_model, .unblock = release_model },
    { "constants that never fit", PREPARATIONS, HAL_RESOURCE_EXHAUSTED_PERSISTENT, no_model },
    { "constants that do not fit beside other models", PREPARATIONS,
      HAL_RESOURCE_EXHAUSTED_TRANSIENT, memory_of_one_model, .block = take_model,
      .unblock = release_model },
    { "a buffer that never fits", BIT(ALLOCATE), HAL_RESOURCE_EXHAUSTED_PERSISTENT, no_buffer },
    { "a buffer that does not fit beside other buffers", BIT(ALLOCATE),
      HAL_RESOURCE_EXHAUSTED_TRANSIENT, one_buffer, .block = take_buffer,
      .unblock = release_buffer },
};

/* ---- the entry points */

static uint64_t deadline(const struct trial *s)
{
    const uint64_t now = hal_now(s->version);

    if (s->units == NONE)
        return HAL_NO_DEADLINE;
    return s->units == PAST ? now - 1 : now + (uint64_t) (s->units * UNIT);
}

static enum hal_status prepare(struct trial *s, const struct hal_model *m)
{
    struct hal_prepare_config config = { .preference = HAL_FAST_SINGLE_ANSWER,
                                         .priority = HAL_PRIORITY_MEDIUM,
                                         .deadline = deadline(s) };
    struct hal_prepared_model *p;

    if (!m)
        config.cache = files_config(&s->files).cache;
    enum hal_status status = client_prepare_with(s->driver, s->version, m, &config, &p);
    if (p)
        p->methods->release(p);
    return status;
}

static enum hal_status prepare_model(struct trial *s)
{
    return prepare(s, &s->model.hal);
}

static enum hal_status prepare_from_cache(struct trial *s)
{
    return prepare(s, NULL);
}

static enum hal_status allocate_buffer(struct trial *s)
{
    struct hal_buffer *b;
    enum hal_status status = allocate(s, &b);

    ck_assert_int_eq(status == HAL_NONE, b != NULL);
    if (b)
        b->methods->release(b);
    return status;
}

static struct hal_execution_config config_of(const struct trial *s)
{
    struct hal_execution_config config = client_config();

    config.deadline = deadline(s);
    return config;
}

static enum hal_status execute_synchronously(struct trial *s)
{
    const struct hal_execution_config config = config_of(s);

    return s->model.prepared->methods->execute_synchronously(
        s->model.prepared, s->version, &s->request.hal, &config, &s->request.result);
}

static enum hal_status execute_asynchronously(struct trial *s)
{
    const struct hal_execution_config config = config_of(s);
    struct client_wait wait;

    client_wait_init(&wait);
    (void) s->model.prepared->methods->execute(s->model.prepared, s->version, &s->request.hal,
                                               &config, &wait.base);
    enum hal_status status = client_wait(&wait);
    ck_assert_uint_eq(wait.calls, 1);
    s->request.result.n_shapes = wait.n_shapes;
    return status;
}

static uint64_t duration(const struct trial *s)
{
    return s->row->duration > 0 ? (uint64_t) (s->row->duration * UNIT) : HAL_NO_TIME;
}

static enum hal_status fenced(struct trial *s)
{
    const struct hal_execution_config config = config_of(s);
    struct hal_fenced_info *info = NULL;
    int fence = HAL_NO_FENCE;
    enum hal_status launched = s->model.prepared->methods->execute_fenced(
        s->model.prepared, s->version, &s->request.hal, s->has_fence, &s->fence.wait, &config,
        duration(s), &fence, &info);

    return client_end_fenced(launched, fence, info);
}

static enum hal_status burst(struct trial *s)
{
    static const int64_t kept[] = { 1, 2, 3 };
    const struct hal_execution_config config = config_of(s);
    struct hal_prepared_model *p = s->model.prepared;
    struct hal_burst *b;

    ck_assert_int_eq(p->methods->configure_burst(p, s->version, &b), HAL_NONE);
    enum hal_status status =
        b->methods->execute_synchronously(b, &s->request.hal, 3, kept, &config, &s->request.result);
    b->methods->release(b);
    return status;
}

static enum hal_status make_reusable(struct trial *s, struct hal_execution **ret_execution)
{
    const struct hal_execution_config config = client_config();
    struct hal_prepared_model *p = s->model.prepared;

    return p->methods->create_reusable_execution(p, &s->request.hal, &config, ret_execution);
}

static enum hal_status run_reusable(struct trial *s)
{
    struct hal_execution *x;
    enum hal_status status = make_reusable(s, &x);

    if (status != HAL_NONE)
        return status;
    status = x->methods->execute_synchronously(x, deadline(s), &s->request.result);
    x->methods->release(x);
    return status;
}

static enum hal_status run_reusable_fenced(struct trial *s)
{
    struct hal_fenced_info *info = NULL;
    int fence = HAL_NO_FENCE;
    struct hal_execution *x;
    enum hal_status status = make_reusable(s, &x);

    if (status != HAL_NONE)
        return status;
    status = x->methods->execute_fenced(x, s->has_fence, &s->fence.wait, deadline(s), duration(s),
                                        &fence, &info);
    status = client_end_fenced(status, fence, info);
    x->methods->release(x);
    return status;
}

static const struct entry {
    const char *name;
    enum hal_version since, until, since_deadlines;
    enum hal_status (*call)(struct trial *s);
} entries[ENTRIES] = {
    [MODEL] = { "prepare_model", HAL_1_0, HAL_FL8, HAL_1_3, prepare_model },
    [FROM_CACHE] = { "prepare_model_from_cache", HAL_1_2, HAL_FL8, HAL_1_3, prepare_from_cache },
    [ALLOCATE] = { "allocate", HAL_1_3, HAL_FL8, HAL_1_3, allocate_buffer },
    [SYNCHRONOUS] = { "execute_synchronously", HAL_1_2, HAL_FL8, HAL_1_3, execute_synchronously },
    [ASYNCHRONOUS] = { "execute", HAL_1_0, HAL_1_3, HAL_1_3, execute_asynchronously },
    [FENCED] = { "execute_fenced", HAL_1_3, HAL_FL8, HAL_1_3, fenced },
    [BURST] = { "a burst", HAL_1_2, HAL_FL8, HAL_FL5, burst },
    [REUSABLE] = { "a reusable execution", HAL_FL8, HAL_FL8, HAL_FL8, run_reusable },
    [REUSABLE_FENCED] = { "a reusable execution, fenced", HAL_FL8, HAL_FL8, HAL_FL8,
                          run_reusable_fenced },
};

/* ---- one call */

static const struct row *row;
static enum hal_version device_version;

static void change_profile(struct profile *p)
{
    p->hal = device_version;
    p->model_cache_files = p->data_cache_files = 1;
    if (row->device)
        row->device(p);
}

static void plain_profile(struct profile *p)
{
    p->hal = device_version;
    p->model_cache_files = p->data_cache_files = 1;
}

/* Saves it with a device of the same name without limits. */
static void save_model(struct trial *s)
{
    struct hal_driver *d = client_open_changed("cpu", plain_profile);
    struct hal_prepare_config config = files_config(&s->files);
    struct hal_prepared_model *p;

    ck_assert_int_eq(client_prepare_with(d, s->version, &s->model.hal, &config, &p), HAL_NONE);
    p->methods->release(p);
    d->close(d);
}

static void open_trial(struct trial *s, int entry, enum hal_version version, bool over_socket)
{
    *s = (struct trial){ .row = row, .version = version, .units = row->deadline, .entry = entry };
    s->device = client_open_changed("cpu", change_profile);
    s->driver = over_socket ? client_join(s->device, 1) : s->device;
    client_fill(&s->request, row->is_endless ? 1 : N);
    if (row->is_endless) {
        client_add_endless(&s->model);
        s->request.hal.n_inputs = 1;
    } else {
        client_add_chain(&s->model, N, OPS);
    }
    files_init(&s->files, 1, 1);
    if (entry == FROM_CACHE)
        save_model(s);
    if (!(BIT(entry) & PREPARATIONS))
        client_prepare(&s->model, s->driver, HAL_PRIORITY_MEDIUM);
}

static void close_trial(struct trial *s)
{
    files_done(&s->files);
    if (s->has_fence)
        close(s->fence.wait);
    client_done(&s->model);
    if (s->driver != s->device)
        s->driver->close(s->driver);
    s->device->close(s->device);
}

static void *call(void *argument)
{
    struct trial *s = argument;

    s->status = entries[s->entry].call(s);
    return NULL;
}

/* Makes the call in a thread, since it may block until the obstacle is removed. */
static void run_trial(struct trial *s)
{
    pthread_t thread;

    if (row->block)
        row->block(s);
    ck_assert_int_eq(pthread_create(&thread, NULL, call, s), 0);
    if (row->is_queued) {
        schedule_await_submissions(schedule_of(s), 2);
        row->unblock(s);
    }
    pthread_join(thread, NULL);
    if (row->unblock && !row->is_queued)
        row->unblock(s);
}

static void expect(const struct trial *s, enum hal_status expected, const char *when)
{
    ck_assert_msg(s->status == expected, "%s: %s of HAL %s, driver of HAL %s, %s: %s, expected %s",
                  row->cause, entries[s->entry].name, hal_version_name(s->version),
                  hal_version_name(s->device->hal_version), when, hal_status_name(s->status),
                  hal_status_name(expected));
    if (BIT(s->entry) & EXECUTIONS && expected == HAL_NONE)
        for (int i = 0; i < N; i++)
            ck_assert_float_eq(s->request.z[i], (float) (i + OPS * 10 * i));
    if (BIT(s->entry) & BLOCKING && expected != HAL_NONE)
        ck_assert_uint_eq(s->request.result.n_shapes, 0);
}

static void check_trial(int entry, enum hal_version version, bool over_socket)
{
    enum hal_status expected =
        row->status == HAL_NONE || version >= HAL_1_3 ? row->status : HAL_GENERAL_FAILURE;
    const bool is_persistent = row->status == HAL_MISSED_DEADLINE_PERSISTENT ||
                               row->status == HAL_RESOURCE_EXHAUSTED_PERSISTENT;
    struct trial s;

    open_trial(&s, entry, version, over_socket);
    run_trial(&s);
    expect(&s, expected, "first call");
    for (int i = 0; i < 3; i++) {
        call(&s);
        expect(&s, is_persistent ? expected : HAL_NONE, "repeated call");
    }
    close_trial(&s);
}

/* With the newest driver, through the entry points of each version, and with drivers of that
 * version.  An infinite loop needs a driver since 1.3; allocate() has no entry points by version.
 */
static void check_entry(int entry, bool over_socket)
{
    const struct entry *e = &entries[entry];

    for (int v = 0; v < HAL_VERSIONS; v++) {
        enum hal_version version = hal_versions[v],
                         since = row->deadline == NONE ? e->since : e->since_deadlines;
        if (version < since || version > e->until)
            continue;
        device_version = version;
        if (!row->is_endless || version >= HAL_1_3)
            check_trial(entry, version, over_socket);
        device_version = HAL_FL8;
        if (version != HAL_FL8 && entry != ALLOCATE)
            check_trial(entry, version, over_socket);
    }
}

START_TEST(each_cause_has_its_status)
{
    row = &rows[_i / 2];
    for (int entry = 0; entry < ENTRIES; entry++)
        if (row->entries & BIT(entry))
            check_entry(entry, _i % 2);
}
END_TEST

Suite *qos_suite(void)
{
    TCase *t = tcase_create("causes, in process and over a socket");

    tcase_add_loop_test(t, each_cause_has_its_status, 0, 2 * COUNT(rows));
    return make_suite("qos", t, NULL);
}
