/* Bursts, in this process and over a socket: memory stays mapped under its identifier until it is
 * released or replaced, or the burst has been idle for some time. */
#define _GNU_SOURCE
#include <check.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/check_main.h"
#include "tests/support/hal_client.h"

enum { N = 4, POOLS = 3, SIZE = 4096, TIMEOUT_MS = 5000 };

#define MEMORY "kept-by-bursts" /* name of the pools in /proc/PID/maps */

static struct hal_driver *driver;
static struct client_model model;
static struct hal_burst *burst;
static struct client_request request;
static float *mapped[POOLS]; /* the test's own view of the pools */

static void sleep_ms(long ms)
{
    const struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

    nanosleep(&t, NULL);
}

/* Mappings of the pools, except the test's own. */
static int n_mappings(void)
{
    return client_mappings(getpid(), MEMORY) - POOLS;
}

static bool wait_for_mappings(int n)
{
    for (int ms = 0; ms < TIMEOUT_MS && n_mappings() != n; ms++)
        sleep_ms(1);
    return n_mappings() == n;
}

static void open_pool(int i)
{
    struct hal_memory *m = &request.pool[i].memory;

    m->kind = HAL_MEMORY_FD;
    m->fd = memfd_create(MEMORY, MFD_CLOEXEC);
    ck_assert(m->fd >= 0 && ftruncate(m->fd, SIZE) == 0);
    mapped[i] = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, m->fd, 0);
    ck_assert(mapped[i] != MAP_FAILED);
    memcpy(mapped[i], m->address, sizeof request.x);
    m->address = NULL;
}

static void close_pool(int i)
{
    munmap(mapped[i], SIZE);
    close(request.pool[i].memory.fd);
}

static void open_burst(struct hal_driver *d, int is_remote)
{
    driver = is_remote ? client_over_socket(d) : d;
    client_add_model(&model, N, false);
    client_prepare(&model, d, HAL_PRIORITY_MEDIUM);
    ck_assert_int_eq(model.prepared->methods->configure_burst(model.prepared, HAL_FL7, &burst),
                     HAL_NONE);
    client_fill(&request, N);
    for (int i = 0; i < POOLS; i++)
        open_pool(i);
}

static void close_burst(void)
{
    burst->methods->release(burst);
    ck_assert_int_eq(n_mappings(), 0);
    for (int i = 0; i < POOLS; i++)
        close_pool(i);
    client_done(&model);
    driver->close(driver);
}

static enum hal_status run(const int64_t *identifiers)
{
    struct hal_execution_config config = client_config();

    return burst->methods->execute_synchronously(burst, &request.hal, POOLS, identifiers, &config,
                                                 &request.result);
}

/* Executes with other inputs than the last time, and checks the result. */
static void check_run(const int64_t *identifiers)
{
    static float last;

    for (int i = 0; i < N; i++)
        mapped[0][i] = last += 1;
    memset(mapped[2], 0, SIZE);
    ck_assert_int_eq(run(identifiers), HAL_NONE);
    for (int i = 0; i < N; i++)
        ck_assert_float_eq(mapped[2][i], mapped[0][i] + mapped[1][i]);
}

static const int64_t kept[] = { 3, 0, INT64_MAX }, uncached[] = { -1, -1, -1 },
                     one[] = { -1, 0, -1 };

START_TEST(memory_with_an_identifier_stays_mapped)
{
    open_burst(client_open("cpu", HAL_FL8), _i);
    check_run(uncached);
    ck_assert_int_eq(n_mappings(), 0);
    check_run(one);
    ck_assert_int_eq(n_mappings(), 1);
    for (int round = 0; round < 3; round++) {
        check_run(kept);
        ck_assert_int_eq(n_mappings(), POOLS);
    }
    for (int again = 0; again < 2; again++) {
        ck_assert_int_eq(burst->methods->release_memory(burst, 3), HAL_NONE);
        ck_assert_int_eq(n_mappings(), POOLS - 1);
    }
    ck_assert_int_eq(burst->methods->release_memory(burst, 99), HAL_NONE);
    ck_assert_int_eq(burst->methods->release_memory(burst, -1), HAL_INVALID_ARGUMENT);
    ck_assert_int_eq(n_mappings(), POOLS - 1);
    check_run(kept);
    close_burst();
}
END_TEST

START_TEST(an_identifier_can_be_reused_for_other_memory)
{
    open_burst(client_open("cpu", HAL_FL8), _i);
    check_run(kept);
    close_pool(1);
    request.pool[1].memory.address = request.y;
    open_pool(1);
    mapped[1][2] = 1000;
    check_run(kept);
    ck_assert_int_eq(n_mappings(), POOLS);
    close_burst();
}
END_TEST

/* A cached mapping must not hide that the file is now smaller than the memory's size. */
START_TEST(truncated_memory_is_rejected)
{
    open_burst(client_open("cpu", HAL_FL8), _i);
    check_run(kept);
    ck_assert_int_eq(ftruncate(request.pool[0].memory.fd, 0), 0);
    ck_assert_int_eq(run(kept), HAL_INVALID_ARGUMENT);
    ck_assert_int_eq(ftruncate(request.pool[0].memory.fd, SIZE), 0);
    check_run(kept);
    close_burst();
}
END_TEST

START_TEST(an_idle_burst_unmaps_its_memory_and_continues)
{
    open_burst(client_open_idle("cpu", 20), _i);
    for (int round = 0; round < 3; round++) {
        check_run(kept);
        ck_assert(wait_for_mappings(0));
    }
    check_run(kept);
    close_burst();
}
END_TEST

START_TEST(identifiers_beyond_the_cache_size_work)
{
    open_burst(client_open("cpu", HAL_FL8), _i);
    for (int64_t i = 0; i < 200; i++) {
        const int64_t ids[] = { 3 * i, 3 * i + 1, 3 * i + 2 };
        check_run(ids);
    }
    ck_assert_int_lt(n_mappings(), 100);
    close_burst();
}
END_TEST

/* The limit holds for all bursts of a client together. */
START_TEST(bursts_of_a_client_share_the_cache_limit)
{
    enum { BURSTS = 8 };
    struct hal_burst *more[BURSTS];

    open_burst(client_open("cpu", HAL_FL8), _i);
    struct hal_burst *first = burst;
    for (int i = 0; i < BURSTS; i++) {
        ck_assert_int_eq(
            model.prepared->methods->configure_burst(model.prepared, HAL_FL7, &more[i]), HAL_NONE);
        burst = more[i];
        for (int64_t k = 0; k < 20; k++) {
            const int64_t ids[] = { 3 * k, 3 * k + 1, 3 * k + 2 };
            check_run(ids);
        }
    }
    ck_assert_int_gt(n_mappings(), 100);
    ck_assert_int_lt(n_mappings(), 270);
    for (int i = 0; i < BURSTS; i++) {
        burst = more[i];
        check_run(kept);
        burst->methods->release(burst);
    }
    burst = first;
    close_burst();
}
END_TEST

/* Memory by address, of a different size each time; over a socket each is copied to a file. */
START_TEST(address_memory_of_any_size_works)
{
    struct hal_execution_config config = client_config();
    struct client_request r;
    float big[1000] = { 0 };

    open_burst(client_open("cpu", HAL_FL8), _i);
    for (uint32_t k = 0; k < 100; k++) {
        client_fill(&r, N);
        r.pool[2].memory.address = big;
        r.pool[2].memory.size = sizeof r.x + 4 * k;
        ck_assert_int_eq(
            burst->methods->execute_synchronously(burst, &r.hal, POOLS, kept, &config, &r.result),
            HAL_NONE);
        for (int i = 0; i < N; i++)
            ck_assert_float_eq(big[i], r.x[i] + r.y[i]);
        memset(big, 0, sizeof big);
    }
    close_burst();
}
END_TEST

/* More pools than a packet has room for, and than the burst has slots. */
START_TEST(requests_with_many_pools_work)
{
    enum { MANY = 1500 };
    static struct hal_request_pool pools[MANY];
    static int64_t identifiers[MANY];
    struct hal_execution_config config = client_config();
    struct client_request r;

    open_burst(client_open("cpu", HAL_FL8), _i);
    for (int i = 0; i < MANY; i++) {
        pools[i].memory = request.pool[i % POOLS].memory;
        identifiers[i] = i % POOLS;
    }
    client_fill(&r, N);
    r.hal.pools = pools;
    for (uint32_t n = 4; n <= MANY; n = 3 * n) {
        r.hal.n_pools = n;
        memset(mapped[2], 0, SIZE);
        ck_assert_int_eq(burst->methods->execute_synchronously(burst, &r.hal, n, identifiers,
                                                               &config, &r.result),
                         HAL_NONE);
        for (int i = 0; i < N; i++)
            ck_assert_float_eq(mapped[2][i], r.x[i] + r.y[i]);
    }
    close_burst();
}
END_TEST

/* ---- several threads */

enum { THREADS = 3, RUNS = 200 };

/* A thread, which writes into its own part of the output memory. */
struct runner {
    uint64_t offset;
    bool failed;
};

static void *run_often(void *argument)
{
    static const int64_t ids[] = { 1, 2, 3 };
    struct hal_execution_config config = client_config();
    struct client_request r = request;
    struct runner *t = argument;

    r.out[0].location.offset = t->offset;
    r.hal.inputs = r.in;
    r.hal.outputs = r.out;
    r.hal.pools = r.pool;
    r.result.shapes = r.shape;
    for (int i = 0; i < RUNS; i++) {
        t->failed |= burst->methods->execute_synchronously(burst, &r.hal, POOLS, ids, &config,
                                                           &r.result) != HAL_NONE;
        if (i % 7 == 0)
            t->failed |= burst->methods->release_memory(burst, 1 + i % 3) != HAL_NONE;
    }
    return NULL;
}

START_TEST(threads_share_the_memory_of_a_burst)
{
    pthread_t thread[THREADS];
    struct runner runners[THREADS] = { { 0 } };

    open_burst(client_open_idle("cpu", 1), _i);
    request.pool[2].memory.size = SIZE;
    for (int i = 0; i < THREADS; i++) {
        runners[i].offset = (uint64_t) i * sizeof(float[N]);
        ck_assert_int_eq(pthread_create(&thread[i], NULL, run_often, &runners[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        ck_assert(!runners[i].failed);
        for (int k = 0; k < N; k++)
            ck_assert_float_eq(mapped[2][i * N + k], request.x[k] + request.y[k]);
    }
    check_run(kept);
    close_burst();
}
END_TEST

Suite *burst_suite(void)
{
    TCase *c = tcase_create("cached memory");

    tcase_add_loop_test(c, memory_with_an_identifier_stays_mapped, 0, 2);
    tcase_add_loop_test(c, an_identifier_can_be_reused_for_other_memory, 0, 2);
    tcase_add_loop_test(c, truncated_memory_is_rejected, 0, 2);
    tcase_add_loop_test(c, an_idle_burst_unmaps_its_memory_and_continues, 0, 2);
    tcase_add_loop_test(c, identifiers_beyond_the_cache_size_work, 0, 2);
    tcase_add_loop_test(c, bursts_of_a_client_share_the_cache_limit, 0, 2);
    tcase_add_loop_test(c, address_memory_of_any_size_works, 0, 2);
    tcase_add_loop_test(c, requests_with_many_pools_work, 0, 2);
    tcase_add_loop_test(c, threads_share_the_memory_of_a_burst, 0, 2);
    return make_suite("burst", c, NULL);
}
