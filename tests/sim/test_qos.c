/* The four codes of resources and deadlines: which cause gives which of them, through every entry
 * point at every version of the HAL, in process and over a socket; and whether the same call
 * succeeds later, which is what tells transient from persistent.  Before 1.3 all of them are
 * GENERAL_FAILURE. */
#include <check.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "sim/base/fence.h"
#include "sim/device/profile.h"
#include "sim/hal/hal_convert.h"
#include "tests/support/cache_files.h"
#include "tests/support/check_main.h"
#include "tests/support/hal_client.h"

/* Virtual ns of a launch, of every operation, of preparing and of preparing each operation: so long
 * that the machine's own time, which deadlines are given in, does not matter. */
#define UNIT 1e12

enum { N = 4, OPS = 2, MODEL_BYTES = sizeof(int32_t), BUFFER_BYTES = N * sizeof(float) };

/* Of a deadline, in units from the call on. */
#define NONE 0
#define PAST (-1)

enum { OF_MODELS, OF_CACHES, OF_BUFFERS, NOW, LATER, FENCED, BURST, AGAIN, AGAIN_FENCED, ENTRIES };
#define BIT(entry)     (1u << (entry))
#define PREPARATIONS   (BIT(OF_MODELS) | BIT(OF_CACHES))
#define SIGNALLED_LATE (BIT(FENCED) | BIT(AGAIN_FENCED))
#define COUNTED        (BIT(LATER) | SIGNALLED_LATE)
#define LASTING        (BIT(NOW) | BIT(BURST) | BIT(AGAIN))
#define EXECUTIONS     (COUNTED | LASTING)

struct scene {
    const struct row *row;
    enum hal_version version;
    struct hal_driver *device, *driver; /* driver: as the client sees it */
    struct files files;
    struct client_model model, other;
    struct client_request request;
    struct turn {
        struct client_request request;
        struct client_wait wait;
    } turn[2];
    int turns;
    struct hal_buffer *buffer;
    struct fence fence; /* that fenced executions wait for */
    bool has_fence;
    double units;
    int entry;
    enum hal_status status;
};

/* ---- what is in the way, until it goes */

static struct schedule *schedule_of(const struct scene *s)
{
    return ((struct driver *) s->device)->schedule;
}

/* Other executions of the same client wait for the device, which nobody gets. */
static void take_turns(struct scene *s, int n)
{
    const struct hal_execution_config config = client_config();
    enum hal_version version = s->device->hal_version < HAL_1_3 ? s->device->hal_version : HAL_1_3;

    client_add_chain(&s->other, N, OPS);
    client_prepare(&s->other, s->driver, HAL_PRIORITY_MEDIUM);
    schedule_hold(schedule_of(s));
    for (s->turns = 0; s->turns < n; s->turns++) {
        struct turn *t = &s->turn[s->turns];
        client_fill(&t->request, N);
        client_wait_init(&t->wait);
        s->other.prepared->methods->execute(s->other.prepared, version, &t->request.hal, &config,
                                            &t->wait.base);
    }
}

static void take_device(struct scene *s)
{
    take_turns(s, 1);
}

/* One is the next, and one waits. */
static void fill_queue(struct scene *s)
{
    take_turns(s, 2);
}

static void give_device(struct scene *s)
{
    schedule_release(schedule_of(s));
    while (s->turns > 0)
        ck_assert_int_eq(client_wait(&s->turn[--s->turns].wait), HAL_NONE);
    client_done(&s->other);
}

static void take_model(struct scene *s)
{
    client_add_chain(&s->other, N, OPS);
    client_prepare(&s->other, s->driver, HAL_PRIORITY_MEDIUM);
}

static void give_model(struct scene *s)
{
    client_done(&s->other);
}

static enum hal_status allocate(struct scene *s, struct hal_buffer **ret_buffer)
{
    const struct hal_buffer_role role = { 0, 0, 1 };
    const struct hal_buffer_desc desc = { 0 };
    uint32_t token;

    return s->driver->allocate(s->driver, &desc, 1, &s->model.prepared, 0, NULL, 1, &role,
                               ret_buffer, &token);
}

static void take_buffer(struct scene *s)
{
    ck_assert_int_eq(allocate(s, &s->buffer), HAL_NONE);
}

static void give_buffer(struct scene *s)
{
    s->buffer->methods->release(s->buffer);
}

static void keep_fence(struct scene *s)
{
    ck_assert_int_eq(fence_open(&s->fence), 0);
    s->has_fence = true;
}

/* And time enough. */
static void signal_fence(struct scene *s)
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
    double deadline;                                         /* in units */
    double duration;                                         /* the same, of fenced executions */
    bool is_endless;                                         /* the model: a loop */
    bool is_queued;                                          /* the call waits for its turn */
    void (*take)(struct scene *s), (*give)(struct scene *s); /* NULL: nothing is in the way */
} rows[] = {
    { "the deadline has passed", PREPARATIONS | EXECUTIONS, HAL_MISSED_DEADLINE_PERSISTENT, slow,
      .deadline = PAST },
    { "it takes longer", PREPARATIONS | EXECUTIONS, HAL_MISSED_DEADLINE_PERSISTENT, slow,
      .deadline = 0.5 },
    { "it takes longer than a duration", SIGNALLED_LATE, HAL_MISSED_DEADLINE_PERSISTENT, slow,
      .duration = 0.5 },
    { "others have the device until then", EXECUTIONS, HAL_MISSED_DEADLINE_TRANSIENT, slow,
      .deadline = OPS + 2, .is_queued = true, .take = take_device, .give = give_device },
    { "the fences are signalled too late", SIGNALLED_LATE, HAL_MISSED_DEADLINE_TRANSIENT, NULL,
      .deadline = 0.6e9 / UNIT, .take = keep_fence, .give = signal_fence },
    { "a loop does not end", EXECUTIONS, HAL_MISSED_DEADLINE_PERSISTENT, slow, .is_endless = true },
    { "too many of the client wait", EXECUTIONS, HAL_RESOURCE_EXHAUSTED_TRANSIENT,
      slow_with_short_queue, .take = fill_queue, .give = give_device },
    { "too many executions under way", COUNTED, HAL_RESOURCE_EXHAUSTED_TRANSIENT, one_execution,
      .take = take_device, .give = give_device },
    { "those that last as long as a call do not count", LASTING, HAL_NONE, one_execution,
      .is_queued = true, .take = take_device, .give = give_device },
    { "an execution needs more memory", EXECUTIONS, HAL_RESOURCE_EXHAUSTED_PERSISTENT,
      little_memory },
    { "a list of its arguments alone does", EXECUTIONS, HAL_RESOURCE_EXHAUSTED_PERSISTENT,
      no_memory },
    { "too many models", PREPARATIONS, HAL_RESOURCE_EXHAUSTED_TRANSIENT, one_model,
      .take = take_model, .give = give_model },
    { "constants that never fit", PREPARATIONS, HAL_RESOURCE_EXHAUSTED_PERSISTENT, no_model },
    { "constants that do not fit beside others", PREPARATIONS, HAL_RESOURCE_EXHAUSTED_TRANSIENT,
      memory_of_one_model, .take = take_model, .give = give_model },
    { "a buffer that never fits", BIT(OF_BUFFERS), HAL_RESOURCE_EXHAUSTED_PERSISTENT, no_buffer },
    { "a buffer that does not fit beside others", BIT(OF_BUFFERS), HAL_RESOURCE_EXHAUSTED_TRANSIENT,
      one_buffer, .take = take_buffer, .give = give_buffer },
};

/* ---- the entry points */

static uint64_t deadline(const struct scene *s)
{
    const uint64_t now = hal_now(s->version);

    if (s->units == NONE)
        return HAL_NO_DEADLINE;
    return s->units == PAST ? now - 1 : now + (uint64_t) (s->units * UNIT);
}

static enum hal_status prepare(struct scene *s, const struct hal_model *m)
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

static enum hal_status of_models(struct scene *s)
{
    return prepare(s, &s->model.hal);
}

static enum hal_status of_caches(struct scene *s)
{
    return prepare(s, NULL);
}

static enum hal_status of_buffers(struct scene *s)
{
    struct hal_buffer *b;
    enum hal_status status = allocate(s, &b);

    ck_assert_int_eq(status == HAL_NONE, b != NULL);
    if (b)
        b->methods->release(b);
    return status;
}

static struct hal_execution_config config_of(const struct scene *s)
{
    struct hal_execution_config config = client_config();

    config.deadline = deadline(s);
    return config;
}

static enum hal_status now(struct scene *s)
{
    const struct hal_execution_config config = config_of(s);

    return s->model.prepared->methods->execute_synchronously(
        s->model.prepared, s->version, &s->request.hal, &config, &s->request.result);
}

static enum hal_status later(struct scene *s)
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

static uint64_t duration(const struct scene *s)
{
    return s->row->duration > 0 ? (uint64_t) (s->row->duration * UNIT) : HAL_NO_TIME;
}

static enum hal_status fenced(struct scene *s)
{
    const struct hal_execution_config config = config_of(s);
    struct hal_fenced_info *info = NULL;
    int fence = HAL_NO_FENCE;
    enum hal_status launched = s->model.prepared->methods->execute_fenced(
        s->model.prepared, s->version, &s->request.hal, s->has_fence, &s->fence.wait, &config,
        duration(s), &fence, &info);

    return client_end_fenced(launched, fence, info);
}

static enum hal_status burst(struct scene *s)
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

static enum hal_status make_reusable(struct scene *s, struct hal_execution **ret_execution)
{
    const struct hal_execution_config config = client_config();
    struct hal_prepared_model *p = s->model.prepared;

    return p->methods->create_reusable_execution(p, &s->request.hal, &config, ret_execution);
}

static enum hal_status again(struct scene *s)
{
    struct hal_execution *x;
    enum hal_status status = make_reusable(s, &x);

    if (status != HAL_NONE)
        return status;
    status = x->methods->execute_synchronously(x, deadline(s), &s->request.result);
    x->methods->release(x);
    return status;
}

static enum hal_status again_fenced(struct scene *s)
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
    enum hal_status (*call)(struct scene *s);
} entries[ENTRIES] = {
    [OF_MODELS] = { "prepare_model", HAL_1_0, HAL_FL8, HAL_1_3, of_models },
    [OF_CACHES] = { "prepare_model_from_cache", HAL_1_2, HAL_FL8, HAL_1_3, of_caches },
    [OF_BUFFERS] = { "allocate", HAL_1_3, HAL_FL8, HAL_1_3, of_buffers },
    [NOW] = { "execute_synchronously", HAL_1_2, HAL_FL8, HAL_1_3, now },
    [LATER] = { "execute", HAL_1_0, HAL_1_3, HAL_1_3, later },
    [FENCED] = { "execute_fenced", HAL_1_3, HAL_FL8, HAL_1_3, fenced },
    [BURST] = { "a burst", HAL_1_2, HAL_FL8, HAL_FL5, burst },
    [AGAIN] = { "a reusable execution", HAL_FL8, HAL_FL8, HAL_FL8, again },
    [AGAIN_FENCED] = { "a reusable execution, fenced", HAL_FL8, HAL_FL8, HAL_FL8, again_fenced },
};

/* ---- a scene */

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

/* By a device of the same name that has room for it. */
static void save_model(struct scene *s)
{
    struct hal_driver *d = client_open_changed("cpu", plain_profile);
    struct hal_prepare_config config = files_config(&s->files);
    struct hal_prepared_model *p;

    ck_assert_int_eq(client_prepare_with(d, s->version, &s->model.hal, &config, &p), HAL_NONE);
    p->methods->release(p);
    d->close(d);
}

static void open_scene(struct scene *s, int entry, enum hal_version version, bool over_socket)
{
    *s = (struct scene){ .row = row, .version = version, .units = row->deadline, .entry = entry };
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
    if (entry == OF_CACHES)
        save_model(s);
    if (!(BIT(entry) & PREPARATIONS))
        client_prepare(&s->model, s->driver, HAL_PRIORITY_MEDIUM);
}

static void close_scene(struct scene *s)
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
    struct scene *s = argument;

    s->status = entries[s->entry].call(s);
    return NULL;
}

/* In a thread, for it may have to wait until what is in the way goes. */
static void play(struct scene *s)
{
    pthread_t thread;

    if (row->take)
        row->take(s);
    ck_assert_int_eq(pthread_create(&thread, NULL, call, s), 0);
    if (row->is_queued) {
        schedule_await_submissions(schedule_of(s), 2);
        row->give(s);
    }
    pthread_join(thread, NULL);
    if (row->give && !row->is_queued)
        row->give(s);
}

static void expect(const struct scene *s, enum hal_status expected, const char *when)
{
    ck_assert_msg(s->status == expected, "%s: %s of HAL %s, driver of %s, %s: %s, not %s",
                  row->cause, entries[s->entry].name, hal_version_name(s->version),
                  hal_version_name(s->device->hal_version), when, hal_status_name(s->status),
                  hal_status_name(expected));
    if (BIT(s->entry) & EXECUTIONS && expected == HAL_NONE)
        for (int i = 0; i < N; i++)
            ck_assert_float_eq(s->request.z[i], (float) (i + OPS * 10 * i));
    if (BIT(s->entry) & LASTING && expected != HAL_NONE)
        ck_assert_uint_eq(s->request.result.n_shapes, 0);
}

static void check_scene(int entry, enum hal_version version, bool over_socket)
{
    enum hal_status expected =
        row->status == HAL_NONE || version >= HAL_1_3 ? row->status : HAL_GENERAL_FAILURE;
    const bool is_persistent = row->status == HAL_MISSED_DEADLINE_PERSISTENT ||
                               row->status == HAL_RESOURCE_EXHAUSTED_PERSISTENT;
    struct scene s;

    open_scene(&s, entry, version, over_socket);
    play(&s);
    expect(&s, expected, "at first");
    for (int i = 0; i < 3; i++) {
        call(&s);
        expect(&s, is_persistent ? expected : HAL_NONE, "later");
    }
    close_scene(&s);
}

/* By the newest driver, through the entry points of each version, and by drivers of that version. A
 * loop is prepared by those alone that know of loops; allocate() has no version of its own. */
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
            check_scene(entry, version, over_socket);
        device_version = HAL_FL8;
        if (version != HAL_FL8 && entry != OF_BUFFERS)
            check_scene(entry, version, over_socket);
    }
}

START_TEST(a_cause_has_its_code)
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

    tcase_add_loop_test(t, a_cause_has_its_code, 0, 2 * COUNT(rows));
    return make_suite("qos", t, NULL);
}
