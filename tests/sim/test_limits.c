/* Quotas of a client on a device: a call that exceeds one fails with a status that tells whether a
 * retry can succeed, and other clients are not affected. */
#define _GNU_SOURCE
#include <check.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sim/base/fence.h"
#include "sim/base/memory.h"
#include "sim/base/process_quota.h"
#include "sim/wire/wire.h"
#include "tests/support/check_main.h"
#include "tests/support/hal_client.h"

enum { N = 4, MODEL_BYTES = sizeof(int32_t), BUFFER_BYTES = N * sizeof(float), MAX_FIT = 4 };

static struct hal_driver *driver;
static struct caller *caller[3]; /* [0]: this process */
static struct client_model model[MAX_FIT + 2];
static int n_models;

static void open_driver(enum hal_version version, enum quota_kind kind, uint64_t most)
{
    struct client_limits limits = { 0 };

    limits.most[kind] = most;
    driver = client_open_limited("cpu", version, &limits);
    for (uint32_t client = 1; client <= 2; client++)
        ck_assert_ptr_nonnull(caller[client] = caller_new(client));
    n_models = 0;
}

static void close_driver(void)
{
    caller_set(NULL);
    while (n_models)
        client_done(&model[--n_models]);
    driver->close(driver);
    caller_unref(caller[1]);
    caller_unref(caller[2]);
}

/* Prepares the next of model[] for the calling client. */
static enum hal_status prepare_one(bool open_shape)
{
    const struct hal_prepare_config config = { .preference = HAL_FAST_SINGLE_ANSWER,
                                               .priority = HAL_PRIORITY_MEDIUM,
                                               .deadline = HAL_NO_DEADLINE };
    struct client_model *m = &model[n_models++];

    client_add_model(m, N, open_shape);
    return client_prepare_with(driver, driver->hal_version, &m->hal, &config, &m->prepared);
}

static void release_one(int i)
{
    model[i].prepared->methods->release(model[i].prepared);
    model[i].prepared = NULL;
}

/* Allocates a buffer for the model's output. */
static enum hal_status allocate(int i, struct hal_buffer **ret_buffer)
{
    const struct hal_buffer_role role = { 0, 0, 1 };
    const struct hal_buffer_desc desc = { 0 };
    uint32_t token;

    return driver->allocate(driver, &desc, 1, &model[i].prepared, 0, NULL, 1, &role, ret_buffer,
                            &token);
}

static enum hal_status execute(const struct client_model *m, struct client_request *r)
{
    const struct hal_execution_config config = client_config();
    struct client_wait wait;

    client_fill(r, N);
    client_wait_init(&wait);
    enum hal_status launched =
        m->prepared->methods->execute(m->prepared, HAL_1_3, &r->hal, &config, &wait.base);
    enum hal_status ended = client_wait(&wait);
    ck_assert_uint_eq(wait.calls, 1);
    ck_assert(launched == HAL_NONE || launched == ended);
    return ended;
}

/* ---- prepared models */

static const struct {
    enum hal_version version;
    enum quota_kind kind;
    uint64_t most;
    int fit;              /* models within the quota */
    enum hal_status then; /* status of the next one */
} preparations[] = {
    { HAL_1_0, QUOTA_MODELS, 3, 3, HAL_GENERAL_FAILURE },
    { HAL_1_2, QUOTA_MODELS, 3, 3, HAL_GENERAL_FAILURE },
    { HAL_1_3, QUOTA_MODELS, 1, 1, HAL_RESOURCE_EXHAUSTED_TRANSIENT },
    { HAL_FL8, QUOTA_MODELS, 3, 3, HAL_RESOURCE_EXHAUSTED_TRANSIENT },
    { HAL_1_2, QUOTA_MEMORY, MODEL_BYTES - 1, 0, HAL_GENERAL_FAILURE },
    { HAL_1_3, QUOTA_MEMORY, MODEL_BYTES - 1, 0, HAL_RESOURCE_EXHAUSTED_PERSISTENT },
    { HAL_FL8, QUOTA_MEMORY, 3 * MODEL_BYTES - 1, 2, HAL_RESOURCE_EXHAUSTED_TRANSIENT },
    { HAL_FL8, QUOTA_MEMORY, 3 * MODEL_BYTES, 3, HAL_RESOURCE_EXHAUSTED_TRANSIENT },
};

START_TEST(models_are_limited_per_client)
{
    const int fit = preparations[_i].fit;

    open_driver(preparations[_i].version, preparations[_i].kind, preparations[_i].most);
    caller_set(caller[1]);
    for (int i = 0; i < fit; i++)
        ck_assert_int_eq(prepare_one(false), HAL_NONE);
    ck_assert_int_eq(prepare_one(false), preparations[_i].then);
    if (fit > 0) {
        caller_set(caller[2]);
        ck_assert_int_eq(prepare_one(false), HAL_NONE);
        caller_set(caller[1]);
        release_one(0);
        model[fit].prepared = model[n_models - 1].prepared;
        model[n_models - 1].prepared = NULL;
        client_done(&model[--n_models]);
        ck_assert_int_eq(prepare_one(false), HAL_NONE);
    }
    close_driver();
}
END_TEST

/* ---- buffers */

START_TEST(buffer_memory_is_limited_per_client)
{
    struct hal_buffer *b[3], *of_other;

    open_driver(HAL_1_3, QUOTA_MEMORY, MODEL_BYTES + 2 * BUFFER_BYTES);
    caller_set(caller[1]);
    ck_assert_int_eq(prepare_one(false), HAL_NONE);
    ck_assert_int_eq(allocate(0, &b[0]), HAL_NONE);
    ck_assert_int_eq(allocate(0, &b[1]), HAL_NONE);
    ck_assert_int_eq(allocate(0, &b[2]), HAL_RESOURCE_EXHAUSTED_TRANSIENT);
    ck_assert_ptr_null(b[2]);
    caller_set(caller[2]);
    ck_assert_int_eq(prepare_one(false), HAL_NONE);
    ck_assert_int_eq(allocate(1, &of_other), HAL_NONE);
    caller_set(caller[1]);
    b[0]->methods->release(b[0]);
    ck_assert_int_eq(allocate(0, &b[2]), HAL_NONE);
    b[1]->methods->release(b[1]);
    b[2]->methods->release(b[2]);
    of_other->methods->release(of_other);
    close_driver();
}
END_TEST

/* Its shape is unknown: memory is allocated and charged when contents arrive. */
START_TEST(a_growing_buffer_stays_within_the_quota)
{
    float values[2 * N] = { 1, 2, 3, 4, 5, 6, 7, 8 }, back[N];
    struct hal_memory m = { .kind = HAL_MEMORY_ADDRESS,
                            .protection = HAL_MEMORY_READ | HAL_MEMORY_WRITE,
                            .address = values,
                            .fd = -1,
                            .size = BUFFER_BYTES };
    struct hal_buffer *b;

    open_driver(HAL_1_3, QUOTA_MEMORY, MODEL_BYTES + 2 * BUFFER_BYTES - 1);
    ck_assert_int_eq(prepare_one(true), HAL_NONE);
    ck_assert_int_eq(allocate(0, &b), HAL_NONE);
    ck_assert_int_eq(b->methods->copy_from(b, &m, 1, (uint32_t[]){ N }), HAL_NONE);
    m.size = 2 * BUFFER_BYTES;
    ck_assert_int_eq(b->methods->copy_from(b, &m, 1, (uint32_t[]){ 2 * N }),
                     HAL_RESOURCE_EXHAUSTED_PERSISTENT);
    m.address = back;
    m.size = BUFFER_BYTES;
    ck_assert_int_eq(b->methods->copy_to(b, &m), HAL_NONE);
    for (int i = 0; i < N; i++)
        ck_assert_float_eq(back[i], values[i]);
    b->methods->release(b);
    close_driver();
}
END_TEST

/* ---- executions */

static enum hal_status start_fenced(int i, struct client_request *r, int wait_for, int *ret_fence,
                                    struct hal_fenced_info **ret_info)
{
    const struct hal_execution_config config = client_config();

    client_fill(r, N);
    return model[i].prepared->methods->execute_fenced(model[i].prepared, HAL_1_3, &r->hal, 1,
                                                      &wait_for, &config, HAL_NO_TIME, ret_fence,
                                                      ret_info);
}

START_TEST(executions_in_progress_are_limited_per_client)
{
    struct client_request r[3], other;
    struct hal_fenced_info *info[3];
    struct fence unsignalled;
    int fence[3];

    open_driver(HAL_1_3, QUOTA_EXECUTIONS, 2);
    for (uint32_t client = 1; client <= 2; client++) {
        caller_set(caller[client]);
        ck_assert_int_eq(prepare_one(false), HAL_NONE);
    }
    caller_set(caller[1]);
    ck_assert_int_eq(fence_open(&unsignalled), 0);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(start_fenced(0, &r[i], unsignalled.wait, &fence[i], &info[i]),
                         i < 2 ? HAL_NONE : HAL_RESOURCE_EXHAUSTED_TRANSIENT);
    ck_assert(fence[2] == HAL_NO_FENCE && !info[2]);
    ck_assert_int_eq(execute(&model[0], &r[2]), HAL_RESOURCE_EXHAUSTED_TRANSIENT);
    caller_set(caller[2]);
    for (int k = 0; k < 10; k++) {
        ck_assert_int_eq(execute(&model[1], &other), HAL_NONE);
        client_check(&other, N);
    }
    caller_set(caller[1]);
    fence_complete(&unsignalled, true);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(fence_wait(1, &fence[i], HAL_NO_TIME), 1);
        client_check(&r[i], N);
        info[i]->methods->release(info[i]);
        close(fence[i]);
    }
    /* An execution is no longer counted once its end has been reported. */
    for (int k = 0; k < 100; k++)
        ck_assert_int_eq(execute(&model[0], &r[2]), HAL_NONE);
    close(unsignalled.wait);
    close_driver();
}
END_TEST

/* ---- quotas of the service process */

static void open_callers(void)
{
    struct why w;

    process_quotas_enable(WIRE_MESSAGES_MAX);
    ck_assert_int_eq(memory_survive_truncation(&w), 0);
    for (uint32_t client = 1; client <= 2; client++)
        ck_assert_ptr_nonnull(caller[client] = caller_new(client));
}

static void close_callers(void)
{
    caller_set(NULL);
    caller_unref(caller[1]);
    caller_unref(caller[2]);
}

static bool map_page(int fd, struct mapping *ret)
{
    const struct hal_memory m = { HAL_MEMORY_FD, HAL_MEMORY_READ, NULL, fd, 0, 4096 };
    struct why w;

    if (memory_map(&m, false, ret, &w) == 0)
        return true;
    ck_assert_int_eq(w.code, WHY_MEMORY);
    return false;
}

START_TEST(mappings_are_limited_per_client)
{
    static struct mapping m[MEMORY_MAX_MAPPED], others, again;
    int fd = memfd_create("mapped", MFD_CLOEXEC), n = 0;

    ck_assert_int_eq(ftruncate(fd, 4096), 0);
    open_callers();
    caller_set(caller[1]);
    while (n < MEMORY_MAX_MAPPED && map_page(fd, &m[n]))
        n++;
    ck_assert_int_eq(n, MEMORY_MAX_MAPPED / 2);
    caller_set(caller[2]);
    ck_assert(map_page(fd, &others));
    memory_unmap(&m[--n]); /* credited to client 1, though client 2 unmaps it */
    ck_assert(map_page(fd, &again));
    caller_set(caller[1]);
    ck_assert(!map_page(fd, &m[n]));
    memory_unmap(&again);
    memory_unmap(&others);
    ck_assert(map_page(fd, &m[n]));
    for (n++; n--;)
        memory_unmap(&m[n]);
    close_callers();
    close(fd);
}
END_TEST

/* The memory is allocated and never accessed. */
START_TEST(message_memory_is_limited_per_client)
{
    const size_t gib = (size_t) 1 << 30;
    struct arena *first, *second, *of_other;

    open_callers();
    ck_assert_ptr_nonnull(first = arena_new_within(&caller[1]->messages));
    ck_assert_ptr_nonnull(second = arena_new_within(&caller[1]->messages));
    ck_assert_ptr_nonnull(of_other = arena_new_within(&caller[2]->messages));
    ck_assert_ptr_nonnull(arena_alloc_raw(first, 1, gib + gib / 16)); /* the longest message */
    ck_assert_ptr_null(arena_alloc_raw(second, 1, gib / 8 * 5));
    ck_assert_ptr_nonnull(arena_alloc_raw(second, 1, gib / 4));
    ck_assert_ptr_nonnull(arena_alloc_raw(of_other, 1, gib / 4));
    arena_empty(first, 0);
    ck_assert_ptr_nonnull(arena_alloc_raw(second, 1, gib));
    arena_free(first);
    arena_free(second);
    arena_free(of_other);
    close_callers();
}
END_TEST

Suite *limits_suite(void)
{
    TCase *c = tcase_create("limits");

    tcase_add_loop_test(c, models_are_limited_per_client, 0, COUNT(preparations));
    tcase_add_test(c, buffer_memory_is_limited_per_client);
    tcase_add_test(c, a_growing_buffer_stays_within_the_quota);
    tcase_add_test(c, executions_in_progress_are_limited_per_client);
    tcase_add_test(c, mappings_are_limited_per_client);
    tcase_add_test(c, message_memory_is_limited_per_client);
    return make_suite("limits", c, NULL);
}
