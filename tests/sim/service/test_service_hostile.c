/* Hostile clients: they do not read, send malformed messages, truncate memory, open too many
 * sessions.
 */
#define _GNU_SOURCE
#include <check.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/base/fence.h"
#include "sim/remote/remote.h"
#include "tests/sim/service/service_lab.h"
#include "tests/support/check_main.h"

enum { N = 4 };

static struct why w;

START_TEST(unread_replies_do_not_block_other_clients)
{
    struct holdings before = lab_at_rest(lab_service);
    Wire__Call call = WIRE__CALL__INIT;
    int fd = lab_connect_raw();

    call.method = WIRE__METHOD__GET_INFO;
    while (wire_send_nonblocking(fd, &call.base, &w) == 0)
        ;
    lab_sleep_ms(50);
    while (wire_send_nonblocking(fd, &call.base, &w) == 0)
        ;
    ck_assert(lab_work(3, LAB_RUNS));
    close(fd);
    lab_check_at_rest(lab_service, before);
}
END_TEST

/* Sends calls and reads their replies, but not the events, until it is disconnected. */
START_TEST(a_client_that_does_not_read_events_is_disconnected)
{
    struct holdings before = lab_at_rest(lab_service);
    Wire__Call call = WIRE__CALL__INIT;
    Wire__Model model = WIRE__MODEL__INIT;
    Wire__Subgraph empty = WIRE__SUBGRAPH__INIT;
    Wire__PrepareConfig config = WIRE__PREPARE_CONFIG__INIT;
    struct arena *a = arena_new(0);
    struct wire_fds fds = { 0 }, none;
    ProtobufCMessage *reply;
    int fd = lab_connect_raw(), pair[2];

    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    call.method = WIRE__METHOD__OPEN_EVENTS;
    call.fd = wire_put_fd(&fds, pair[1]);
    ck_assert_int_eq(wire_send(fd, &call.base, &fds, &w), 0);
    ck_assert_int_eq(wire_receive(fd, &wire__reply__descriptor, a, &reply, &none, &w), 1);
    close(pair[1]);
    model.main = &empty;
    call = (Wire__Call) WIRE__CALL__INIT;
    call.method = WIRE__METHOD__PREPARE_MODEL;
    call.version = HAL_1_3;
    call.callback = 1;
    call.model = &model;
    call.prepare = &config;
    int calls = 0;
    while (wire_send(fd, &call.base, NULL, &w) == 0 &&
           wire_receive(fd, &wire__reply__descriptor, a, &reply, &none, &w) == 1)
        ck_assert_int_lt(calls++, 1000000);
    ck_assert(lab_work(5, LAB_RUNS));
    arena_free(a);
    close(pair[0]);
    close(fd);
    lab_check_at_rest(lab_service, before);
}
END_TEST

/* Passes both ends of a channel and its own connection to the service: they would never be closed.
 */
START_TEST(a_client_with_looped_channels_is_released)
{
    struct holdings before = lab_at_rest(lab_service);
    struct arena *a = arena_new(0);
    ProtobufCMessage *reply;
    struct wire_fds none;
    int fd = lab_connect_raw(), pair[2];

    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    for (int i = 0; i < 3; i++) {
        Wire__Call call = WIRE__CALL__INIT;
        struct wire_fds fds = { 0 };
        call.method = WIRE__METHOD__OPEN_CHANNEL;
        call.fd = wire_put_fd(&fds, i < 2 ? pair[i] : fd);
        ck_assert_int_eq(wire_send(fd, &call.base, &fds, &w), 0);
        ck_assert_int_eq(wire_receive(fd, &wire__reply__descriptor, a, &reply, &none, &w), 1);
        ck_assert_str_eq(((const Wire__Reply *) reply)->farewell,
                         i < 2 ? "" : "OPEN_CHANNEL: a socket of a pair is missing");
    }
    close(pair[0]);
    close(pair[1]);
    close(fd);
    arena_free(a);
    lab_check_at_rest(lab_service, before);
}
END_TEST

/* Sessions that a client of sim:cpu, a process, may have. */
enum { SESSIONS = 64 };

START_TEST(sessions_are_limited_per_client)
{
    struct holdings before = lab_at_rest(lab_service);
    struct hal_driver *d[SESSIONS], *more = NULL;
    int go[2], status;
    char byte;

    ck_assert_int_eq(pipe(go), 0);
    pid_t other = fork(); /* forked before this process has threads */
    ck_assert_int_ge(other, 0);
    if (other == 0)
        _exit(!(read(go[0], &byte, 1) == 1 && lab_work(3, LAB_RUNS)));
    for (int i = 0; i < SESSIONS; i++)
        d[i] = lab_connect();
    for (int i = 0; i < 10; i++) {
        ck_assert_int_lt(remote_open(lab_path, NULL, &more, &w), 0);
        ck_assert_str_eq(w.text, "the service accepts no more connections");
    }
    ck_assert_int_eq(write(go[1], "", 1), 1);
    ck_assert_int_eq(waitpid(other, &status, 0), other);
    ck_assert_int_eq(status, 0);
    d[0]->close(d[0]);
    d[0] = lab_connect();
    for (int i = 0; i < SESSIONS; i++)
        d[i]->close(d[i]);
    lab_check_at_rest(lab_service, before);
}
END_TEST

/* Half a header, wrong lengths, a message in a file that is not passed. */
START_TEST(malformed_messages_disconnect_only_their_sender)
{
    static const struct {
        uint32_t words[3];
        size_t bytes;
        const char *farewell;
    } malformed[] = {
        { { 0 }, 4, "a packet of 4 bytes, shorter than its header" },
        { { 100, 0, 0 }, 12, "a packet of 12 bytes with a message of 100 bytes" },
        { { 4, 1, 0 }, 12, "not a message of type wire.Call" },
        { { WIRE_INLINE + 1, 1, 0 }, 8, "the file of a message of 32769 bytes is missing" },
    };
    struct arena *a = arena_new(0);
    ProtobufCMessage *reply;
    struct wire_fds none;
    struct holdings before = lab_at_rest(lab_service);
    struct hal_driver *d = lab_connect();
    struct client_model m;

    client_add_model(&m, N, false);
    client_prepare(&m, d, HAL_PRIORITY_LOW);
    for (int i = 0; i < COUNT(malformed); i++) {
        int fd = lab_connect_raw();
        ck_assert_int_eq(send(fd, malformed[i].words, malformed[i].bytes, 0),
                         (ssize_t) malformed[i].bytes);
        ck_assert_int_eq(wire_receive(fd, &wire__reply__descriptor, a, &reply, &none, &w), 1);
        ck_assert_str_eq(((const Wire__Reply *) reply)->farewell, malformed[i].farewell);
        ck_assert_int_eq(wire_receive(fd, &wire__reply__descriptor, a, &reply, &none, &w), 0);
        ck_assert_str_eq(w.text, "end of file");
        close(fd);
    }
    arena_free(a);
    struct client_request r;
    client_fill(&r, N);
    ck_assert_int_eq(client_execute(m.prepared, HAL_FL8, &r.hal, &r.result), HAL_NONE);
    client_check(&r, N);
    client_done(&m);
    d->close(d);
    lab_check_at_rest(lab_service, before);
}
END_TEST

START_TEST(truncated_memory_does_not_disturb_others)
{
    struct hal_driver *d = lab_connect();
    struct hal_fenced_info *info;
    struct client_request r;
    struct client_model m;
    struct fence before;
    int fd = memfd_create("shrinks", MFD_CLOEXEC);

    client_add_model(&m, N, false);
    client_prepare(&m, d, HAL_PRIORITY_MEDIUM);
    client_fill(&r, N);
    ck_assert_int_eq(ftruncate(fd, 4096), 0);
    for (int i = 0; i < 3; i++) {
        r.pool[i].memory.kind = HAL_MEMORY_FD;
        r.pool[i].memory.address = NULL;
        r.pool[i].memory.fd = fd;
    }
    ck_assert_int_eq(fence_open(&before), 0);
    int fence = client_execute_after(before.wait, m.prepared, &r.hal, &info);
    ck_assert_int_eq(ftruncate(fd, 0), 0);
    fence_complete(&before, true);
    fence_wait(1, &fence, HAL_NO_TIME);
    close(fence);
    close(before.wait);
    close(fd);
    info->methods->release(info);
    client_done(&m);
    d->close(d);
    ck_assert_int_eq(waitpid(lab_service, NULL, WNOHANG), 0);
    ck_assert(lab_work(11, LAB_RUNS));
}
END_TEST

/* A client that waits for a fence that is never signalled, and which another process keeps open. */
static void run_waiting_client(int fence_to_wait_for, int report)
{
    struct hal_driver *d = lab_connect();
    struct hal_fenced_info *info;
    struct client_request r;
    struct client_model m;

    client_add_model(&m, N, false);
    client_prepare(&m, d, HAL_PRIORITY_HIGH);
    client_fill(&r, N);
    client_execute_after(fence_to_wait_for, m.prepared, &r.hal, &info);
    if (write(report, "", 1) == 1)
        pause();
    _exit(1);
}

START_TEST(executions_of_a_dead_client_are_cancelled)
{
    struct holdings before = lab_at_rest(lab_service);
    struct fence unsignalled;
    int report[2];
    char byte;

    ck_assert(fence_open(&unsignalled) == 0 && pipe(report) == 0);
    pid_t client = fork();
    ck_assert_int_ge(client, 0);
    if (client == 0)
        run_waiting_client(unsignalled.wait, report[1]);
    ck_assert_int_eq(read(report[0], &byte, 1), 1);
    kill(client, SIGKILL);
    ck_assert_int_eq(waitpid(client, NULL, 0), client);
    lab_check_at_rest(lab_service, before);
    fence_complete(&unsignalled, false);
}
END_TEST

/* The driver rejects memory that cannot be passed on; the connection stays open. */
START_TEST(bad_arguments_do_not_end_a_connection)
{
    struct hal_driver *d = lab_connect();
    struct client_request r;
    struct client_model m;

    client_add_model(&m, N, false);
    client_prepare(&m, d, HAL_PRIORITY_MEDIUM);
    for (int i = 0; i < 4; i++) {
        client_fill(&r, N);
        struct hal_memory *bad = &r.pool[0].memory;
        bad->kind = i < 2 ? HAL_MEMORY_ADDRESS : HAL_MEMORY_FD;
        bad->address = i == 0 ? NULL : bad->address;
        bad->size = i == 1 ? 0 : bad->size;
        bad->fd = i == 3 ? 1 << 20 : -1;
        ck_assert_int_eq(client_execute(m.prepared, HAL_FL8, &r.hal, &r.result),
                         HAL_INVALID_ARGUMENT);
    }
    client_fill(&r, N);
    ck_assert_int_eq(client_execute(m.prepared, HAL_FL8, &r.hal, &r.result), HAL_NONE);
    client_check(&r, N);
    client_done(&m);
    d->close(d);
}
END_TEST

/* y = TRANSPOSE(x) with the permutation in a file of the client, at byte `at`. */
static void add_transpose(struct client_model *m, int fd, uint64_t size, uint32_t at)
{
    static const int32_t perm[] = { 1, 0 };
    struct hal_memory *pool;

    build_init(&m->b, 1);
    uint32_t x = build_operand(&m->b, LIFE_INPUT, DT_F32, DIMS(2, 2));
    uint32_t p = build_constant(&m->b, DT_I32, DIMS(2), perm);
    uint32_t y = build_operand(&m->b, LIFE_OUTPUT, DT_F32, DIMS(2, 2));
    OPERATION(&m->b, "TRANSPOSE", IDS(x, p), IDS(y));
    client_convert(m);
    ck_assert_int_eq(pwrite(fd, perm, sizeof perm, at), sizeof perm);
    pool = arena_alloc(m->arena, 1, sizeof *pool);
    *pool = (struct hal_memory){ HAL_MEMORY_FD, HAL_MEMORY_READ, NULL, fd, 0, size };
    struct hal_operand *o = (struct hal_operand *) (uintptr_t) &m->hal.main.operands[p];
    o->lifetime = HAL_CONSTANT_REFERENCE;
    o->location = (struct hal_location){ .offset = at, .length = sizeof perm };
    m->hal.n_pools = 1;
    m->hal.pools = pool;
}

/* The driver validated the model with the original constants, and must use those for parameters. */
START_TEST(modified_constants_do_not_change_parameters)
{
    static const int32_t invalid[] = { 1 << 24, -(1 << 24) };
    struct hal_driver *d = lab_connect();
    struct client_request r;
    struct client_model m;
    uint32_t at = 2 * (uint32_t) _i; /* aligned or not */
    int fd = memfd_create("changes", MFD_CLOEXEC);

    ck_assert_int_eq(ftruncate(fd, 4096), 0);
    add_transpose(&m, fd, 4096, at);
    client_prepare(&m, d, HAL_PRIORITY_MEDIUM);
    ck_assert_int_eq(pwrite(fd, invalid, sizeof invalid, at), sizeof invalid);
    client_fill(&r, 4);
    r.hal.n_inputs = 1;
    ck_assert_int_eq(client_execute(m.prepared, HAL_FL8, &r.hal, &r.result), HAL_NONE);
    ck_assert(r.z[0] == 0 && r.z[1] == 2 && r.z[2] == 1 && r.z[3] == 3);
    client_done(&m);
    d->close(d);
    close(fd);
}
END_TEST

/* Executes synchronously or in a burst. */
static enum hal_status run_blocking(struct client_model *m, struct client_request *r,
                                    const struct hal_execution_config *config, bool as_burst)
{
    const int64_t identifiers[] = { 1, 2, 3 };
    struct hal_burst *b;

    if (!as_burst)
        return m->prepared->methods->execute_synchronously(m->prepared, HAL_FL8, &r->hal, config,
                                                           &r->result);
    ck_assert_int_eq(m->prepared->methods->configure_burst(m->prepared, HAL_FL8, &b), HAL_NONE);
    enum hal_status status = b->methods->execute_synchronously(b, &r->hal, r->hal.n_pools,
                                                               identifiers, config, &r->result);
    b->methods->release(b);
    return status;
}

/* Executes a valid request with one change, which must be rejected. */
#define EXPECT_REJECTED(change)                                                                    \
    for (int i = 0; i < 2; i++) {                                                                  \
        client_fill(&r, N);                                                                        \
        config = client_config();                                                                  \
        change;                                                                                    \
        ck_assert_int_eq(run_blocking(&m, &r, &config, i), HAL_INVALID_ARGUMENT);                  \
    }

START_TEST(null_lists_are_rejected)
{
    static const struct hal_token_value no_value = { 1 << 16, NULL, 4 };
    struct hal_driver *d = lab_connect();
    const struct hal_buffer_role role = { 0, 0, 1 };
    const struct hal_buffer_desc no_dims = { 1, NULL };
    struct hal_prepare_config prepare = { .preference = HAL_FAST_SINGLE_ANSWER,
                                          .priority = HAL_PRIORITY_MEDIUM,
                                          .deadline = HAL_NO_DEADLINE };
    struct hal_execution_config config;
    struct hal_fenced_info *info;
    struct hal_prepared_model *p;
    struct hal_buffer *buffer;
    struct client_request r;
    struct client_model m;
    uint32_t token, n;
    bool supported;
    int fence;

    client_add_model(&m, N, false);
    client_prepare(&m, d, HAL_PRIORITY_MEDIUM);
    struct hal_model no_pools = m.hal;
    no_pools.n_pools = 1;
    no_pools.pools = NULL;
    ck_assert_int_eq(d->get_supported_operations(d, HAL_FL8, &no_pools, &supported, &n),
                     HAL_INVALID_ARGUMENT);
    ck_assert_int_eq(client_prepare_with(d, HAL_FL8, &no_pools, &prepare, &p),
                     HAL_INVALID_ARGUMENT);
    EXPECT_REJECTED(r.hal.pools = NULL);
    EXPECT_REJECTED(r.hal.inputs = NULL);
    EXPECT_REJECTED(r.hal.outputs = NULL);
    EXPECT_REJECTED((r.in[1].n_dims = 1, r.in[1].dims = NULL));
    EXPECT_REJECTED(config.n_hints = 1);
    EXPECT_REJECTED((config.n_hints = 1, config.hints = &no_value));
    client_fill(&r, N);
    config = client_config();
    ck_assert_int_eq(m.prepared->methods->execute_fenced(m.prepared, HAL_FL8, &r.hal, 1, NULL,
                                                         &config, HAL_NO_TIME, &fence, &info),
                     HAL_INVALID_ARGUMENT);
    prepare.n_hints = 1;
    ck_assert_int_eq(client_prepare_with(d, HAL_FL8, &m.hal, &prepare, &p), HAL_INVALID_ARGUMENT);
    prepare.n_hints = 0;
    prepare.cache.n_model = 1;
    ck_assert_int_eq(client_prepare_with(d, HAL_FL8, &m.hal, &prepare, &p), HAL_INVALID_ARGUMENT);
    ck_assert_int_eq(d->allocate(d, &no_dims, 1, &m.prepared, 1, &role, 0, NULL, &buffer, &token),
                     HAL_INVALID_ARGUMENT);
    ck_assert_int_eq(d->allocate(d, &(struct hal_buffer_desc){ 0 }, 1, &m.prepared, 1, NULL, 0,
                                 NULL, &buffer, &token),
                     HAL_INVALID_ARGUMENT);
    ck_assert_int_eq(run_blocking(&m, &r, &config, true), HAL_NONE);
    client_check(&r, N);
    client_done(&m);
    d->close(d);
}
END_TEST

/* More than a message can carry: rejected like any other wrong number. */
START_TEST(hundreds_of_cache_files_do_not_end_a_connection)
{
    struct hal_driver *d = lab_connect();
    struct hal_prepare_config config = { .preference = HAL_FAST_SINGLE_ANSWER,
                                         .priority = HAL_PRIORITY_MEDIUM,
                                         .deadline = HAL_NO_DEADLINE };
    int files[2 * WIRE_MAX_FDS];
    struct hal_prepared_model *p;
    struct client_model m;

    for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
        files[i] = STDIN_FILENO;
    config.cache.n_data = sizeof(files) / sizeof(*files);
    config.cache.data = files;
    client_add_model(&m, N, false);
    ck_assert_int_eq(client_prepare_with(d, HAL_1_3, NULL, &config, &p), HAL_INVALID_ARGUMENT);
    ck_assert_int_eq(client_prepare_with(d, HAL_1_3, &m.hal, &config, &m.prepared), HAL_NONE);
    client_done(&m);
    d->close(d);
}
END_TEST

Suite *service_hostile_suite(void)
{
    TCase *c = tcase_create("hostile clients");

    tcase_add_checked_fixture(c, lab_open, lab_close);
    tcase_add_test(c, unread_replies_do_not_block_other_clients);
    tcase_add_test(c, a_client_that_does_not_read_events_is_disconnected);
    tcase_add_test(c, a_client_with_looped_channels_is_released);
    tcase_add_test(c, sessions_are_limited_per_client);
    tcase_add_test(c, malformed_messages_disconnect_only_their_sender);
    tcase_add_test(c, executions_of_a_dead_client_are_cancelled);
    tcase_add_test(c, truncated_memory_does_not_disturb_others);
    tcase_add_test(c, bad_arguments_do_not_end_a_connection);
    tcase_add_test(c, null_lists_are_rejected);
    tcase_add_test(c, hundreds_of_cache_files_do_not_end_a_connection);
    tcase_add_loop_test(c, modified_constants_do_not_change_parameters, 0, 2);
    return make_suite("service_hostile", c, NULL);
}
