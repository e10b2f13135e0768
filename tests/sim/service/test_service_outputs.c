/* Bytes that a remote execution copies back to pools by address: the outputs, and bytes that the
 * driver wrote where it must not; no other bytes, which other executions may be writing. */
#include <check.h>
#include <semaphore.h>
#include <string.h>

#include "sim/base/memory.h"
#include "sim/hal/hal_result.h"
#include "sim/hal/request_regions.h"
#include "tests/sim/service/stub_driver.h"
#include "tests/support/check_main.h"
#include "tests/support/hal_client.h"

enum { N = 4, POOL = 64, FIRST = 8, SECOND = 24, LENGTH = 8, BEYOND = FIRST + LENGTH };

/* ---- a driver that fills an output with its offset; an execution at FIRST then waits for the test
 */

static sem_t written, go_on;
static bool writes_beyond;

static enum hal_status compute(const struct hal_request *request)
{
    const struct hal_location *l = &request->outputs[0].location;
    struct mapping m;
    struct why w;

    if (memory_map(&request->pools[l->pool].memory, true, &m, &w) < 0)
        return HAL_GENERAL_FAILURE;
    memset(m.address + l->offset, (int) l->offset, l->length + writes_beyond);
    memory_unmap(&m);
    if (l->offset == FIRST) {
        sem_post(&written);
        sem_wait(&go_on);
    }
    return HAL_NONE;
}

static enum hal_status execute_synchronously(struct hal_prepared_model *self,
                                             enum hal_version version,
                                             const struct hal_request *request,
                                             const struct hal_execution_config *config,
                                             struct hal_result *result)
{
    (void) self, (void) version, (void) config;
    hal_clear_result(result);
    return compute(request);
}

static enum hal_status execute(struct hal_prepared_model *self, enum hal_version version,
                               const struct hal_request *request,
                               const struct hal_execution_config *config,
                               struct hal_execution_callback *callback)
{
    (void) self, (void) version, (void) config;
    enum hal_status status = compute(request);
    callback->notify(callback, status, 0, NULL, hal_unknown_timing);
    return status;
}

static enum hal_status execute_fenced(struct hal_prepared_model *self, enum hal_version version,
                                      const struct hal_request *request, uint32_t n_wait_for,
                                      const int *wait_for,
                                      const struct hal_execution_config *config, uint64_t duration,
                                      int *ret_fence, struct hal_fenced_info **ret_info)
{
    (void) self, (void) version, (void) n_wait_for, (void) wait_for, (void) config;
    (void) duration;
    *ret_fence = HAL_NO_FENCE;
    *ret_info = stub_info();
    return compute(request);
}

static enum hal_status burst_execute(struct hal_burst *self, const struct hal_request *request,
                                     uint32_t n_identifiers, const int64_t *identifiers,
                                     const struct hal_execution_config *config,
                                     struct hal_result *result)
{
    (void) self, (void) n_identifiers, (void) identifiers, (void) config;
    hal_clear_result(result);
    return compute(request);
}

static enum hal_status burst_release_memory(struct hal_burst *self, int64_t identifier)
{
    (void) self, (void) identifier;
    return HAL_NONE;
}

static void burst_release(struct hal_burst *self)
{
    (void) self;
}

static enum hal_status configure_burst(struct hal_prepared_model *self, enum hal_version version,
                                       struct hal_burst **ret_burst)
{
    static const struct hal_burst_methods methods = { burst_execute, burst_release_memory,
                                                      burst_release };
    static struct hal_burst burst = { &methods };

    (void) self, (void) version;
    *ret_burst = &burst;
    return HAL_NONE;
}

static const struct hal_prepared_model_methods methods = {
    .execute_synchronously = execute_synchronously,
    .execute = execute,
    .execute_fenced = execute_fenced,
    .configure_burst = configure_burst,
    .release = stub_release,
};

/* ---- executions of every kind, each with one output in a shared pool */

static struct client_model m;
static uint8_t pool[POOL];

static enum hal_status run_async(const struct hal_request *r,
                                 const struct hal_execution_config *config)
{
    struct client_wait wait;

    client_wait_init(&wait);
    (void) m.prepared->methods->execute(m.prepared, HAL_1_3, r, config, &wait.base);
    return client_wait(&wait);
}

static enum hal_status run_fenced(const struct hal_request *r,
                                  const struct hal_execution_config *config)
{
    struct hal_fenced_info *info = NULL;
    int fence;
    enum hal_status status = m.prepared->methods->execute_fenced(
        m.prepared, HAL_FL8, r, 0, NULL, config, HAL_NO_TIME, &fence, &info);

    if (info)
        info->methods->release(info);
    return status;
}

static enum hal_status run_in_burst(const struct hal_request *r,
                                    const struct hal_execution_config *config,
                                    struct hal_result *result)
{
    const int64_t none = -1;
    struct hal_burst *b;

    ck_assert_int_eq(m.prepared->methods->configure_burst(m.prepared, HAL_FL8, &b), HAL_NONE);
    enum hal_status status =
        b->methods->execute_synchronously(b, r, r->n_pools, &none, config, result);
    b->methods->release(b);
    return status;
}

enum { KINDS = 4 };

static enum hal_status run_at(int kind, uint64_t offset)
{
    const struct hal_execution_config config = client_config();
    const struct hal_argument out = { .location = { .offset = offset, .length = LENGTH } };
    const struct hal_request_pool in = {
        .memory = { HAL_MEMORY_ADDRESS, HAL_MEMORY_READ | HAL_MEMORY_WRITE, pool, -1, 0, POOL }
    };
    const struct hal_request r = { 0, 1, 1, NULL, &out, &in };
    struct hal_output_shape shape;
    struct hal_result result = { .shapes = &shape, .capacity = 1 };

    switch (kind) {
    case 0:
        return m.prepared->methods->execute_synchronously(m.prepared, HAL_FL8, &r, &config,
                                                          &result);
    case 1: return run_async(&r, &config);
    case 2: return run_fenced(&r, &config);
    default: return run_in_burst(&r, &config, &result);
    }
}

static void *run_first(void *kind)
{
    static enum hal_status status;

    status = run_at(*(const int *) kind, FIRST);
    return &status;
}

/* Executes at FIRST, and meanwhile at SECOND. */
static void run_both(int kind)
{
    struct hal_driver *d = client_over_socket(stub_driver(&methods));
    pthread_t thread;
    void *status;

    memset(pool, 0, sizeof pool);
    ck_assert(sem_init(&written, 0, 0) == 0 && sem_init(&go_on, 0, 0) == 0);
    client_add_model(&m, N, false);
    client_prepare(&m, d, HAL_PRIORITY_MEDIUM);
    ck_assert_int_eq(pthread_create(&thread, NULL, run_first, &kind), 0);
    sem_wait(&written);
    ck_assert_int_eq(run_at(kind, SECOND), HAL_NONE);
    sem_post(&go_on);
    ck_assert_int_eq(pthread_join(thread, &status), 0);
    ck_assert_int_eq(*(const enum hal_status *) status, HAL_NONE);
    client_done(&m);
    d->close(d);
}

static void check_filled(uint64_t offset)
{
    for (uint64_t i = 0; i < LENGTH; i++)
        ck_assert_uint_eq(pool[offset + i], offset);
}

START_TEST(concurrent_executions_keep_their_outputs)
{
    writes_beyond = false;
    run_both(_i);
    check_filled(FIRST);
    check_filled(SECOND);
    ck_assert_uint_eq(pool[BEYOND], 0);
}
END_TEST

START_TEST(writes_beyond_an_output_are_copied_back)
{
    writes_beyond = true;
    run_both(_i);
    check_filled(FIRST);
    ck_assert_uint_eq(pool[BEYOND], FIRST);
}
END_TEST

/* ---- bytes that are copied back */

/* Outputs of a pool, the bytes that the driver writes, and the pool afterwards: letters are the
 * driver's bytes, '.' unchanged ones. */
static const struct {
    struct hal_location out[3];
    const char *driver, *back;
} cases[] = {
    { { { 0, 2, 3, 0 } }, "..abc.....", "..abc....." },
    { { { 0, 0, 10, 0 } }, "abcdefghij", "abcdefghij" },
    { { { 0, 6, 2, 0 }, { 0, 1, 2, 0 } }, ".ab...cd..", ".ab...cd.." },
    { { { 0, 1, 5, 0 }, { 0, 3, 2, 0 } }, ".abcde....", ".abcde...." },
    { { { 0, 2, 3, 2 } }, "..abcde...", "..abc....." },
    { { { 0, 2, 3, 90 } }, "..abcdefgh", "..abc....." },
    { { { 0, 8, 90, 0 } }, "........ab", "........ab" },
    { { { 1, 2, 3, 0 } }, "..........", ".........." },
    { { { 0, 2, 3, 0 } }, ".xabc.....", ".xabc....." },
    { { { 0, 2, 3, 1 } }, "..abcdx...", "..abc.x..." },
    { { { 1, 2, 3, 0 } }, ".........x", ".........x" },
};

START_TEST(outputs_are_copied_back)
{
    enum { SIZE = 10 };
    struct hal_argument out[3] = { { false } };
    const struct hal_request_pool pools[2] = { { .memory.size = SIZE }, { .memory.size = SIZE } };
    struct hal_request r = { 0, 0, 2, NULL, out, pools };
    struct pool_region region[3];
    struct request_regions regions = { region, 0 };
    uint8_t copy[SIZE], to[SIZE];
    const struct hal_memory memory = { .address = to, .size = SIZE };

    for (; r.n_outputs < 3 && cases[_i].out[r.n_outputs].length; r.n_outputs++)
        out[r.n_outputs].location = cases[_i].out[r.n_outputs];
    memset(to, '.', SIZE);
    request_regions_find(&r, &regions);
    request_regions_copy_in(&regions, 0, &memory, copy);
    for (int i = 0; i < SIZE; i++)
        if (cases[_i].driver[i] != '.')
            copy[i] = (uint8_t) cases[_i].driver[i];
    request_regions_copy_back(&regions, 0, copy, &memory);
    ck_assert_mem_eq(to, cases[_i].back, SIZE);
}
END_TEST

/* Inputs of the same pool are copied to the driver, and back only where it has written to them. */
START_TEST(changed_inputs_are_copied_back)
{
    const struct hal_argument in = { .location = { .offset = 1, .length = 2 } };
    const struct hal_argument out = { .location = { .offset = 5, .length = 2 } };
    const struct hal_request_pool pools[] = { { .memory.size = 8 } };
    const struct hal_request r = { 1, 1, 1, &in, &out, pools };
    uint8_t copy[8], to[] = "abcdefg";
    const struct hal_memory memory = { .address = to, .size = 8 };
    struct pool_region region[2];
    struct request_regions regions = { region, 0 };

    request_regions_find(&r, &regions);
    request_regions_copy_in(&regions, 0, &memory, copy);
    ck_assert_mem_eq(copy + 1, "bc", 2);
    ck_assert_mem_eq(copy + 5, "fg", 2);
    memcpy(copy + 5, "FG", 2);
    request_regions_copy_back(&regions, 0, copy, &memory);
    ck_assert_str_eq((char *) to, "abcdeFG");
    copy[2] = 'X';
    request_regions_copy_back(&regions, 0, copy, &memory);
    ck_assert_str_eq((char *) to, "abXdeFG");
}
END_TEST

Suite *service_outputs_suite(void)
{
    TCase *c = tcase_create("outputs");

    tcase_add_loop_test(c, concurrent_executions_keep_their_outputs, 0, KINDS);
    tcase_add_loop_test(c, writes_beyond_an_output_are_copied_back, 0, KINDS);
    tcase_add_loop_test(c, outputs_are_copied_back, 0, COUNT(cases));
    tcase_add_test(c, changed_inputs_are_copied_back);
    return make_suite("service_outputs", c, NULL);
}
