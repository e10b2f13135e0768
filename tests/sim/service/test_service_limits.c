/* Resources of a service that no client can exhaust: descriptors, memory for messages, threads,
 * objects.
 */
#define _GNU_SOURCE
#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/base/fence.h"
#include "sim/base/process_quota.h"
#include "tests/sim/service/service_lab.h"
#include "tests/support/check_main.h"

/* Descriptors: soft limit at the start, hard limit; one client alone may use less than half of
 * these. */
enum { N = 4, FILES_SOFT = 200, FILES = 400, FILES_OF_CLIENT = FILES / 2 };

static struct hal_driver *make_with_few_files(void)
{
    const struct rlimit few = { FILES_SOFT, FILES };

    if (setrlimit(RLIMIT_NOFILE, &few) < 0)
        _exit(3);
    return client_open("cpu", HAL_FL8);
}

static void open_with_few_files(void)
{
    lab_open_of(make_with_few_files, 1);
}

START_TEST(a_service_raises_its_descriptor_limit)
{
    struct rlimit files;

    ck_assert_int_eq(prlimit(lab_service, RLIMIT_NOFILE, NULL, &files), 0);
    ck_assert_uint_eq(files.rlim_cur, FILES);
}
END_TEST

/* ---- another client, in a process that is forked before this one has threads */

static int go[2];

static pid_t start_other(void)
{
    char byte;

    ck_assert_int_eq(pipe(go), 0);
    pid_t other = fork();
    ck_assert_int_ge(other, 0);
    if (other == 0)
        _exit(!(read(go[0], &byte, 1) == 1 && lab_work(3, LAB_RUNS)));
    return other;
}

static void check_other_works(pid_t other)
{
    int status;

    ck_assert_int_eq(write(go[1], "", 1), 1);
    ck_assert_int_eq(waitpid(other, &status, 0), other);
    ck_assert_int_eq(status, 0);
    close(go[0]);
    close(go[1]);
}

/* ---- descriptors */

enum { CONNECTIONS = 10 };

/* Opens a channel of the connection; returns its socket, or the negative status. */
static int open_channel(int connection)
{
    Wire__Call call = WIRE__CALL__INIT;
    struct wire_fds fds = { 0 };
    int pair[2];

    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    call.method = WIRE__METHOD__OPEN_CHANNEL;
    call.fd = wire_put_fd(&fds, pair[1]);
    int status = lab_call(connection, &call, &fds);
    close(pair[1]);
    if (status != HAL_NONE)
        close(pair[0]);
    return status == HAL_NONE ? pair[0] : -status;
}

/* Opens channels until one is rejected; returns their number. */
static int open_all(const int *connection, int *ret_channel)
{
    int n = 0;

    while (n < FILES && (ret_channel[n] = open_channel(connection[n % CONNECTIONS])) >= 0)
        n++;
    return n;
}

START_TEST(channels_are_limited_per_client)
{
    struct holdings before = lab_at_rest(lab_service);
    pid_t other = start_other();
    int connection[CONNECTIONS], channel[FILES];
    Wire__Call call = WIRE__CALL__INIT;

    for (int i = 0; i < CONNECTIONS; i++)
        connection[i] = lab_connect_raw();
    int n = open_all(connection, channel);
    ck_assert_int_lt(n, FILES_OF_CLIENT);
    ck_assert_int_gt(n, FILES_OF_CLIENT / 2);
    ck_assert_int_eq(-channel[n], HAL_RESOURCE_EXHAUSTED_TRANSIENT);
    call.method = WIRE__METHOD__GET_STATUS;
    for (int i = 0; i < CONNECTIONS; i++)
        ck_assert_int_eq(lab_call(connection[i], &call, NULL), HAL_NONE);
    check_other_works(other);
    close(channel[--n]);
    lab_sleep_ms(50);
    ck_assert_int_ge(channel[n] = open_channel(connection[0]), 0);
    for (n++; n--;)
        close(channel[n]);
    for (int i = 0; i < CONNECTIONS; i++)
        close(connection[i]);
    lab_check_at_rest(lab_service, before);
}
END_TEST

static void *execute(void *argument)
{
    const struct client_model *m = argument;
    struct hal_execution_config config = client_config();
    struct client_request r;

    for (int i = 0; i < LAB_RUNS; i++) {
        client_fill(&r, N);
        enum hal_status status = m->prepared->methods->execute_synchronously(
            m->prepared, HAL_FL8, &r.hal, &config, &r.result);
        if (status != HAL_NONE)
            return argument;
        client_check(&r, N);
    }
    return NULL;
}

enum { THREADS = 8 };

START_TEST(calls_share_the_available_channels)
{
    int connection[CONNECTIONS], channel[FILES];
    struct hal_driver *d = lab_connect();
    pthread_t thread[THREADS];
    struct client_model m;
    void *failed;

    client_add_model(&m, N, false);
    client_prepare(&m, d, HAL_PRIORITY_MEDIUM);
    for (int i = 0; i < CONNECTIONS; i++)
        connection[i] = lab_connect_raw();
    int n = open_all(connection, channel);
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&thread[i], NULL, execute, &m), 0);
    for (int i = 0; i < THREADS; i++) {
        ck_assert_int_eq(pthread_join(thread[i], &failed), 0);
        ck_assert_ptr_null(failed);
    }
    while (n--)
        close(channel[n]);
    for (int i = 0; i < CONNECTIONS; i++)
        close(connection[i]);
    client_done(&m);
    d->close(d);
}
END_TEST

enum { FENCES = 60, MAX_FENCED = FILES_OF_CLIENT / FENCES };

/* A request in files: fences are passed to the service only if no memory needs to be copied after
 * them. */
static void fill_in_files(struct client_request *r, int file)
{
    client_fill(r, N);
    ck_assert_int_eq(ftruncate(file, 4096), 0);
    for (uint32_t i = 0; i < r->hal.n_pools; i++) {
        r->pool[i].memory.kind = HAL_MEMORY_FD;
        r->pool[i].memory.address = NULL;
        r->pool[i].memory.fd = file;
    }
}

START_TEST(fence_descriptors_are_charged_to_the_client)
{
    struct holdings before = lab_at_rest(lab_service);
    pid_t other = start_other();
    struct hal_driver *d = lab_connect();
    struct hal_execution_config config = client_config();
    struct hal_fenced_info *info[MAX_FENCED + 1];
    struct client_request r;
    int wait_for[FENCES], fence[MAX_FENCED + 1], n = 0, file = memfd_create("z", MFD_CLOEXEC);
    enum hal_status status;
    struct client_model m;
    struct fence unsignalled;

    client_add_model(&m, N, false);
    client_prepare(&m, d, HAL_PRIORITY_MEDIUM);
    ck_assert_int_eq(fence_open(&unsignalled), 0);
    for (int i = 0; i < FENCES; i++)
        wait_for[i] = unsignalled.wait;
    do {
        fill_in_files(&r, file);
        status = m.prepared->methods->execute_fenced(m.prepared, HAL_FL8, &r.hal, FENCES, wait_for,
                                                     &config, HAL_NO_TIME, &fence[n], &info[n]);
    } while (status == HAL_NONE && n++ < MAX_FENCED);
    ck_assert_int_gt(n, 0);
    ck_assert_int_eq(status, HAL_RESOURCE_EXHAUSTED_TRANSIENT);
    check_other_works(other);
    fence_complete(&unsignalled, true);
    while (n--) {
        ck_assert_int_eq(fence_wait(1, &fence[n], HAL_NO_TIME), 1);
        info[n]->methods->release(info[n]);
        close(fence[n]);
    }
    close(unsignalled.wait);
    close(file);
    client_done(&m);
    d->close(d);
    lab_check_at_rest(lab_service, before);
}
END_TEST

/* ---- many descriptors in one call */

enum { MAX_POOLS = 300 };

/* Executes a request with n_pools pools in n_files files; returns the status. */
static enum hal_status execute_with_pools(const struct client_model *model,
                                          enum hal_version version, uint32_t n_pools,
                                          uint32_t n_files)
{
    static struct hal_request_pool pools[MAX_POOLS];
    struct hal_execution_config config = client_config();
    int file[MAX_POOLS];
    struct client_request r;

    for (uint32_t i = 0; i < n_files; i++) {
        ck_assert_int_ge(file[i] = memfd_create("pool", MFD_CLOEXEC), 0);
        fill_in_files(&r, file[i]);
    }
    for (uint32_t i = 0; i < n_pools; i++) {
        pools[i] = r.pool[0];
        pools[i].memory.fd = file[i % n_files];
    }
    r.hal.n_pools = n_pools;
    r.hal.pools = pools;
    enum hal_status status = model->prepared->methods->execute_synchronously(
        model->prepared, version, &r.hal, &config, &r.result);
    for (uint32_t i = 0; i < n_files; i++)
        close(file[i]);
    return status;
}

static const struct {
    uint32_t n_pools, n_files;
    enum hal_version version;
    enum hal_status status;
} many[] = {
    { 129, 129, HAL_FL8, HAL_NONE },
    { WIRE_MAX_FDS, WIRE_MAX_FDS, HAL_FL8, HAL_NONE },
    { MAX_POOLS, 200, HAL_FL8, HAL_NONE },
    { WIRE_MAX_FDS + 1, WIRE_MAX_FDS + 1, HAL_FL8, HAL_RESOURCE_EXHAUSTED_PERSISTENT },
    { WIRE_MAX_FDS + 1, WIRE_MAX_FDS + 1, HAL_1_2, HAL_GENERAL_FAILURE },
};

START_TEST(a_call_can_pass_many_descriptors)
{
    struct hal_driver *d = lab_connect();
    struct client_model model;

    client_add_model(&model, N, false);
    client_prepare(&model, d, HAL_PRIORITY_MEDIUM);
    ck_assert_int_eq(
        execute_with_pools(&model, many[_i].version, many[_i].n_pools, many[_i].n_files),
        many[_i].status);
    ck_assert_int_eq(execute_with_pools(&model, HAL_FL8, 3, 1), HAL_NONE);
    client_done(&model);
    d->close(d);
}
END_TEST

/* ---- messages */

/* Models of empty operands, which are small messages but large when decoded.  One client alone may
 * use less than half of the memory for messages, which is enough for MANY operands, not for ROUNDS
 * times MANY. */
enum { TOO_MANY = 1 << 18, MANY = 1 << 16, ROUNDS = 8, MESSAGES = 64 << 20 };

static struct hal_driver *make_with_little_memory(void)
{
    process_quota_limit(QUOTA_MESSAGES, MESSAGES);
    return client_open("cpu", HAL_FL8);
}

static void open_with_little_memory(void)
{
    lab_open_of(make_with_little_memory, 1);
}

static int query_operands(int connection, size_t n)
{
    static Wire__Operand nothing = WIRE__OPERAND__INIT;
    Wire__Call call = WIRE__CALL__INIT;
    Wire__Model model = WIRE__MODEL__INIT;
    Wire__Subgraph main = WIRE__SUBGRAPH__INIT;

    main.operands = malloc(n * sizeof(*main.operands));
    ck_assert_ptr_nonnull(main.operands);
    for (main.n_operands = 0; main.n_operands < n; main.n_operands++)
        main.operands[main.n_operands] = &nothing;
    model.main = &main;
    call.method = WIRE__METHOD__GET_SUPPORTED_OPERATIONS;
    call.version = HAL_FL8;
    call.model = &model;
    int status = lab_call(connection, &call, NULL);
    free(main.operands);
    return status;
}

START_TEST(a_message_beyond_the_memory_limit_is_rejected)
{
    int connection = lab_connect_raw();
    Wire__Call call = WIRE__CALL__INIT;

    ck_assert_int_eq(query_operands(connection, TOO_MANY), HAL_RESOURCE_EXHAUSTED_TRANSIENT);
    call.method = WIRE__METHOD__GET_STATUS;
    ck_assert_int_eq(lab_call(connection, &call, NULL), HAL_NONE);
    ck_assert(lab_work(5, LAB_RUNS));
    close(connection);
}
END_TEST

/* The service sends its reply before it frees the memory of the call. */
static int query_when_freed(int connection)
{
    int status = HAL_RESOURCE_EXHAUSTED_TRANSIENT;

    for (int i = 0; i < LAB_RUNS && status == HAL_RESOURCE_EXHAUSTED_TRANSIENT; i++) {
        if (i > 0)
            usleep(1000);
        status = query_operands(connection, MANY);
    }
    return status;
}

START_TEST(message_memory_is_released)
{
    int connection[ROUNDS];

    for (int i = 0; i < ROUNDS; i++) {
        connection[i] = lab_connect_raw();
        ck_assert_int_eq(query_when_freed(connection[i]), HAL_INVALID_ARGUMENT);
    }
    for (int i = 0; i < ROUNDS; i++)
        close(connection[i]);
}
END_TEST

/* ---- threads */

/* Threads of the service, of which one client alone may have less than half; each burst with queues
 * needs one, and there are more bursts than that. */
enum { ALL_THREADS = 40, MAX_BURSTS = ALL_THREADS / 2 };

static struct hal_driver *make_with_few_threads(void)
{
    process_quota_limit(QUOTA_THREADS, ALL_THREADS);
    return client_open("cpu", HAL_FL8);
}

static void open_with_few_threads(void)
{
    lab_open_of(make_with_few_threads, 1);
}

/* Bursts beyond the limit have no queues; they work through ordinary calls. */
START_TEST(burst_threads_are_limited_per_client)
{
    static const int64_t none[] = { -1, -1, -1 };
    struct hal_execution_config config = client_config();
    struct holdings before = lab_at_rest(lab_service);
    struct hal_driver *d = lab_connect();
    struct hal_burst *burst[MAX_BURSTS];
    struct client_request r;
    struct client_model m;

    client_add_model(&m, N, false);
    client_prepare(&m, d, HAL_PRIORITY_MEDIUM);
    for (int i = 0; i < MAX_BURSTS; i++)
        ck_assert_int_eq(m.prepared->methods->configure_burst(m.prepared, HAL_FL8, &burst[i]),
                         HAL_NONE);
    ck_assert_int_le(lab_holdings(lab_service).threads - before.threads, ALL_THREADS / 2);
    for (int i = 0; i < MAX_BURSTS; i++) {
        client_fill(&r, N);
        ck_assert_int_eq(burst[i]->methods->execute_synchronously(burst[i], &r.hal, r.hal.n_pools,
                                                                  none, &config, &r.result),
                         HAL_NONE);
        client_check(&r, N);
        burst[i]->methods->release(burst[i]);
    }
    client_done(&m);
    d->close(d);
    lab_check_at_rest(lab_service, before);
}
END_TEST

/* ---- objects */

enum { ALL_OBJECTS = 64, MAX_OBJECTS = ALL_OBJECTS / 2 };

static struct hal_driver *make_with_few_objects(void)
{
    process_quota_limit(QUOTA_OBJECTS, ALL_OBJECTS);
    return client_open("cpu", HAL_FL8);
}

static void open_with_few_objects(void)
{
    lab_open_of(make_with_few_objects, 1);
}

START_TEST(objects_are_limited_per_client)
{
    struct hal_execution_config config = client_config();
    pid_t other = start_other();
    struct hal_driver *d = lab_connect();
    struct hal_execution *x[ALL_OBJECTS];
    struct client_request r;
    struct client_model m;
    enum hal_status status;
    int n = 0;

    client_add_model(&m, N, false);
    client_prepare(&m, d, HAL_PRIORITY_MEDIUM);
    client_fill(&r, N);
    while (n < ALL_OBJECTS && (status = m.prepared->methods->create_reusable_execution(
                                   m.prepared, &r.hal, &config, &x[n])) == HAL_NONE)
        n++;
    ck_assert_int_eq(n, MAX_OBJECTS - 1); /* the model is one */
    ck_assert_int_eq(status, HAL_RESOURCE_EXHAUSTED_TRANSIENT);
    check_other_works(other);
    x[n - 1]->methods->release(x[n - 1]);
    ck_assert_int_eq(
        m.prepared->methods->create_reusable_execution(m.prepared, &r.hal, &config, &x[n - 1]),
        HAL_NONE);
    while (n--)
        x[n]->methods->release(x[n]);
    client_done(&m);
    d->close(d);
}
END_TEST

Suite *service_limits_suite(void)
{
    TCase *files = tcase_create("descriptors");
    TCase *messages = tcase_create("messages");
    TCase *many_files = tcase_create("many descriptors");
    TCase *threads = tcase_create("threads");
    TCase *objects = tcase_create("objects");

    tcase_add_checked_fixture(files, open_with_few_files, lab_close);
    tcase_add_test(files, a_service_raises_its_descriptor_limit);
    tcase_add_test(files, channels_are_limited_per_client);
    tcase_add_test(files, calls_share_the_available_channels);
    tcase_add_test(files, fence_descriptors_are_charged_to_the_client);
    tcase_add_checked_fixture(messages, open_with_little_memory, lab_close);
    tcase_add_test(messages, a_message_beyond_the_memory_limit_is_rejected);
    tcase_add_test(messages, message_memory_is_released);
    tcase_add_checked_fixture(many_files, lab_open, lab_close);
    tcase_add_loop_test(many_files, a_call_can_pass_many_descriptors, 0, COUNT(many));
    tcase_add_checked_fixture(threads, open_with_few_threads, lab_close);
    tcase_add_test(threads, burst_threads_are_limited_per_client);
    tcase_add_checked_fixture(objects, open_with_few_objects, lab_close);
    tcase_add_test(objects, objects_are_limited_per_client);
    return make_suite("service_limits", files, many_files, messages, threads, objects, NULL);
}
