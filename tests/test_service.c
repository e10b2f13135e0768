/* A service in a process of its own, and its clients: many at once, some that die, some that do not
 * read, some that take memory away; a service that dies. */
#define _GNU_SOURCE
#include <check.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sim/fence.h"
#include "sim/remote.h"
#include "sim/service.h"
#include "sim/sim.h"
#include "sim/wire.h"
#include "tests/hal_client.h"

enum { N = 4, PROCESSES = 6, THREADS = 4, TURNS = 12, ROUNDS = 4 };

/* Only in builds that look for leaks. */
__attribute__((weak)) int __lsan_do_recoverable_leak_check(void);

static char folder[64], path[80];
static pid_t service;
static struct why w;

static void sleep_ms(long ms)
{
    const struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

    nanosleep(&t, NULL);
}

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525 + 1013904223;
    return *state >> 8;
}

/* ---- the service */

static struct service *served;

static void on_signal(int number)
{
    (void) number;
    service_stop(served);
}

/* Its status says whether anything was left over. */
static void serve(void)
{
    struct why why;

    if (service_new(client_open("cpu", HAL_FL8), path, &served, &why) < 0)
        _exit(2);
    signal(SIGTERM, on_signal);
    int rc = service_run(served, &why);
    signal(SIGTERM, SIG_IGN);
    service_free(served);
    _exit(rc < 0 || (__lsan_do_recoverable_leak_check && __lsan_do_recoverable_leak_check()));
}

static struct hal_driver *connect_client(void)
{
    struct hal_driver *d = NULL;

    for (int i = 0; i < 1000 && remote_open(path, &d, &w) < 0; i++)
        sleep_ms(10);
    ck_assert_msg(d, "%s", w.text);
    return d;
}

/* Processes are made before there are threads, and wait until they are wanted. */
enum { LIVES = 4 };
static int go[2], who[2];

static void wait_in_reserve(void)
{
    const pid_t self = getpid();
    char byte;

    close(go[1]);
    if (read(go[0], &byte, 1) != 1 || write(who[1], &self, sizeof self) != sizeof self)
        _exit(0);
    serve();
}

static void make_reserve(void)
{
    ck_assert(pipe(go) == 0 && pipe(who) == 0);
    for (int i = 0; i < LIVES; i++) {
        pid_t pid = fork();
        ck_assert_int_ge(pid, 0);
        if (pid == 0)
            wait_in_reserve();
    }
}

static void start_service(void)
{
    ck_assert_int_eq(write(go[1], "", 1), 1);
    ck_assert_int_eq(read(who[0], &service, sizeof service), sizeof service);
    struct hal_driver *d = connect_client();
    d->close(d);
}

static void open_service(void)
{
    strcpy(folder, "/tmp/halcyon-service-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/s", folder);
    make_reserve();
    start_service();
}

static void close_service(void)
{
    int status;

    kill(service, SIGTERM);
    ck_assert_int_eq(waitpid(service, &status, 0), service);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the service ends with %x",
                  (unsigned) status);
    ck_assert_int_lt(access(path, F_OK), 0);
    rmdir(folder);
    close(go[1]);
    while (wait(NULL) > 0)
        ;
}

/* What a process has: descriptors, threads, mappings of memory files. */
struct holdings {
    int fds, threads, memory;
};

static int count_entries(const char *of)
{
    DIR *d = opendir(of);
    int n = 0;

    ck_assert_ptr_nonnull(d);
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

static struct holdings holdings_of(pid_t pid)
{
    struct holdings h = { 0 };
    char name[64], line[512];

    snprintf(name, sizeof name, "/proc/%d/fd", (int) pid);
    h.fds = count_entries(name);
    snprintf(name, sizeof name, "/proc/%d/task", (int) pid);
    h.threads = count_entries(name);
    snprintf(name, sizeof name, "/proc/%d/maps", (int) pid);
    FILE *f = fopen(name, "r");
    ck_assert_ptr_nonnull(f);
    while (fgets(line, sizeof line, f))
        h.memory += strstr(line, "memfd:") != NULL;
    fclose(f);
    return h;
}

static bool same_holdings(const struct holdings *a, const struct holdings *b)
{
    return a->fds == b->fds && a->threads == b->threads && a->memory == b->memory;
}

/* When the last session has ended: the same for a while. */
static struct holdings holdings_at_rest(pid_t pid)
{
    struct holdings now = holdings_of(pid), last = now;

    for (int same = 0; same < 10; same = same_holdings(&now, &last) ? same + 1 : 0) {
        last = now;
        sleep_ms(10);
        now = holdings_of(pid);
    }
    return now;
}

/* Sessions end soon after their clients, not at once. */
static void check_holdings(pid_t pid, struct holdings before)
{
    struct holdings now = holdings_of(pid);

    for (int i = 0; i < 500 && !same_holdings(&now, &before); i++) {
        sleep_ms(10);
        now = holdings_of(pid);
    }
    ck_assert_int_eq(now.fds, before.fds);
    ck_assert_int_eq(now.threads, before.threads);
    ck_assert_int_eq(now.memory, before.memory);
}

/* ---- clients */

struct worker {
    uint32_t seed;
    int turns; /* 0: until the service has gone */
    bool failed;
    pthread_barrier_t *ready;
};

static enum hal_status run_fenced(const struct client_model *m, struct client_request *r)
{
    struct hal_execution_config config = client_config();
    struct hal_fenced_info *info;
    int fence;
    enum hal_status s = m->prepared->methods->execute_fenced(m->prepared, HAL_FL8, &r->hal, 0, NULL,
                                                             &config, HAL_NO_TIME, &fence, &info);

    if (s != HAL_NONE)
        return s;
    if (fence >= 0 && fence_wait(1, &fence, HAL_NO_TIME) < 0)
        s = HAL_DEVICE_UNAVAILABLE;
    if (fence >= 0)
        close(fence);
    info->methods->release(info);
    return s;
}

static enum hal_status run_kind(const struct client_model *m, struct hal_burst *b, uint32_t kind,
                                struct client_request *r)
{
    static const int64_t identifiers[] = { -1, 2, -1 };
    struct hal_execution_config config = client_config();
    struct client_wait wait;

    switch (kind % 4) {
    case 0:
        return m->prepared->methods->execute_synchronously(m->prepared, HAL_FL8, &r->hal, &config,
                                                           &r->result);
    case 1:
        client_wait_init(&wait);
        (void) m->prepared->methods->execute(m->prepared, HAL_FL8, &r->hal, &config, &wait.base);
        return client_wait(&wait);
    case 2:
        return b->methods->execute_synchronously(b, &r->hal, 3, identifiers, &config, &r->result);
    default: return run_fenced(m, r);
    }
}

static bool is_right(const struct client_request *r)
{
    for (int i = 0; i < N; i++)
        if (r->z[i] != r->x[i] + r->y[i])
            return false;
    return true;
}

/* False when it is time to end. */
static bool take_turn(struct worker *k, const struct client_model *m, struct hal_burst *b)
{
    struct client_request r;

    client_fill(&r, N);
    for (int i = 0; i < N; i++)
        r.x[i] = (float) (next_random(&k->seed) % 1000);
    enum hal_status s = run_kind(m, b, next_random(&k->seed), &r);
    if (!k->turns && s == HAL_DEVICE_UNAVAILABLE)
        return false;
    k->failed |= s == HAL_NONE ? !is_right(&r) : s != HAL_RESOURCE_EXHAUSTED_TRANSIENT;
    return !k->failed;
}

static void *work(void *argument)
{
    struct worker *k = argument;
    struct hal_driver *d = connect_client();
    struct client_model m;
    struct hal_burst *b;

    client_add_model(&m, N, false);
    client_prepare(&m, d, (enum hal_priority)(next_random(&k->seed) % 3));
    k->failed = m.prepared->methods->configure_burst(m.prepared, HAL_FL8, &b) != HAL_NONE;
    pthread_barrier_wait(k->ready);
    if (!k->failed) {
        for (int i = 0; (!k->turns || i < k->turns) && take_turn(k, &m, b); i++)
            ;
        b->methods->release(b);
    }
    client_done(&m);
    d->close(d);
    return NULL;
}

static bool run_workers(uint32_t seed, int turns)
{
    struct worker k[THREADS];
    pthread_t thread[THREADS];
    pthread_barrier_t ready;
    bool failed = false;

    pthread_barrier_init(&ready, NULL, THREADS + 1);
    for (uint32_t i = 0; i < THREADS; i++) {
        k[i] = (struct worker){ .seed = seed * THREADS + i, .turns = turns, .ready = &ready };
        ck_assert_int_eq(pthread_create(&thread[i], NULL, work, &k[i]), 0);
    }
    pthread_barrier_wait(&ready);
    if (!turns) {
        sleep_ms(50);
        kill(service, SIGKILL);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        failed |= k[i].failed;
    }
    pthread_barrier_destroy(&ready);
    return !failed;
}

static pid_t start_client(uint32_t seed)
{
    pid_t pid = fork();

    ck_assert_int_ge(pid, 0);
    if (pid == 0)
        _exit(run_workers(seed, TURNS) ? 0 : 1);
    return pid;
}

START_TEST(clients_that_are_killed_leave_nothing_and_hurt_nobody)
{
    struct holdings before = holdings_at_rest(service);
    pid_t client[PROCESSES];
    uint32_t seed = 7;
    int status;

    for (uint32_t round = 0; round < ROUNDS; round++) {
        for (uint32_t i = 0; i < PROCESSES; i++)
            client[i] = start_client(round * PROCESSES + i);
        for (int i = 0; i < PROCESSES / 2; i++) {
            sleep_ms(next_random(&seed) % 60);
            kill(client[i], SIGKILL);
        }
        for (int i = 0; i < PROCESSES; i++) {
            ck_assert_int_eq(waitpid(client[i], &status, 0), client[i]);
            ck_assert_msg(status == 0 || (i < PROCESSES / 2 && WIFSIGNALED(status)),
                          "client %d of round %u ends with %x", i, round, (unsigned) status);
        }
    }
    check_holdings(service, before);
    ck_assert(run_workers(99, TURNS));
}
END_TEST

START_TEST(a_service_that_is_killed_leaves_its_clients_nothing)
{
    ck_assert(run_workers(1, 1));
    struct holdings before = holdings_at_rest(getpid());
    for (uint32_t round = 0; round < LIVES - 1; round++) {
        ck_assert(run_workers(round, 0));
        ck_assert_int_eq(waitpid(service, NULL, 0), service);
        start_service();
    }
    check_holdings(getpid(), before);
    ck_assert(run_workers(99, TURNS));
}
END_TEST

START_TEST(a_dead_service_is_a_verdict_and_a_new_one_is_found)
{
    struct client_model m;
    struct client_request r;
    struct target *t;
    struct outcome o;
    char uri[100];

    client_add_model(&m, N, false);
    client_fill(&r, N);
    struct tensor in[] = { m.b.graph->operand[0].tensor, m.b.graph->operand[1].tensor };
    const struct shape shape = DIMS(N);
    in[0].data = r.x;
    in[1].data = r.y;
    snprintf(uri, sizeof uri, "unix:%s", path);
    ck_assert_int_eq(target_open(uri, NULL, &t, &w), 0);
    for (int life = 0; life < LIVES - 1; life++) {
        ck_assert_int_eq(target_run(t, &m.b.model, in, &shape, NULL, &o, &w), 0);
        ck_assert(!o.died && o.status == HAL_NONE);
        outcome_done(&o);
        kill(service, SIGKILL);
        ck_assert_int_eq(waitpid(service, NULL, 0), service);
        for (int turn = 0; turn < 2; turn++) {
            ck_assert_int_eq(target_run(t, &m.b.model, in, &shape, NULL, &o, &w), 0);
            ck_assert(o.died);
            outcome_done(&o);
        }
        start_service();
    }
    target_free(t);
    client_done(&m);
}
END_TEST

/* ---- clients that break the protocol */

static int connect_raw(void)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

    strcpy(address.sun_path, path);
    ck_assert_int_eq(connect(fd, (struct sockaddr *) &address, sizeof address), 0);
    return fd;
}

START_TEST(a_client_that_does_not_read_replies_holds_up_nobody)
{
    struct holdings before = holdings_at_rest(service);
    Wire__Call call = WIRE__CALL__INIT;
    int fd = connect_raw();

    call.method = WIRE__METHOD__GET_INFO;
    while (wire_send_at_once(fd, &call.base, &w) == 0)
        ;
    sleep_ms(50);
    while (wire_send_at_once(fd, &call.base, &w) == 0)
        ;
    ck_assert(run_workers(3, TURNS));
    close(fd);
    check_holdings(service, before);
}
END_TEST

/* Sends calls until it is cut off, reads their replies, leaves the events unread. */
START_TEST(a_client_that_does_not_read_events_is_cut_off)
{
    struct holdings before = holdings_at_rest(service);
    Wire__Call call = WIRE__CALL__INIT;
    Wire__Model model = WIRE__MODEL__INIT;
    Wire__Subgraph empty = WIRE__SUBGRAPH__INIT;
    Wire__PrepareConfig config = WIRE__PREPARE_CONFIG__INIT;
    struct arena *a = arena_new(0);
    struct wire_fds fds = { 0 }, none;
    ProtobufCMessage *reply;
    int fd = connect_raw(), pair[2];

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
    ck_assert(run_workers(5, TURNS));
    arena_free(a);
    close(pair[0]);
    close(fd);
    check_holdings(service, before);
}
END_TEST

/* Both ends of a channel, and the own connection's: they would never end by themselves. */
START_TEST(a_client_whose_channels_lead_nowhere_ends)
{
    struct holdings before = holdings_at_rest(service);
    struct arena *a = arena_new(0);
    ProtobufCMessage *reply;
    struct wire_fds none;
    int fd = connect_raw(), pair[2];

    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    for (int i = 0; i < 3; i++) {
        Wire__Call call = WIRE__CALL__INIT;
        struct wire_fds fds = { 0 };
        call.method = WIRE__METHOD__OPEN_CHANNEL;
        call.fd = wire_put_fd(&fds, i < 2 ? pair[i] : fd);
        ck_assert_int_eq(wire_send(fd, &call.base, &fds, &w), 0);
        ck_assert_int_eq(wire_receive(fd, &wire__reply__descriptor, a, &reply, &none, &w), i < 2);
    }
    close(pair[0]);
    close(pair[1]);
    close(fd);
    arena_free(a);
    check_holdings(service, before);
}
END_TEST

START_TEST(memory_that_is_taken_away_harms_nobody_else)
{
    struct hal_driver *d = connect_client();
    struct hal_execution_config config = client_config();
    struct hal_fenced_info *info;
    struct client_request r;
    struct client_model m;
    struct fence before;
    int fence, fd = memfd_create("shrinks", MFD_CLOEXEC);

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
    ck_assert_int_eq(m.prepared->methods->execute_fenced(m.prepared, HAL_FL8, &r.hal, 1,
                                                         &before.wait, &config, HAL_NO_TIME, &fence,
                                                         &info),
                     HAL_NONE);
    ck_assert_int_eq(ftruncate(fd, 0), 0);
    fence_end(&before, true);
    fence_wait(1, &fence, HAL_NO_TIME);
    close(fence);
    close(before.wait);
    close(fd);
    info->methods->release(info);
    client_done(&m);
    d->close(d);
    ck_assert_int_eq(waitpid(service, NULL, WNOHANG), 0);
    ck_assert(run_workers(11, TURNS));
}
END_TEST

/* What cannot be passed on is the driver's to refuse, and costs no connection. */
START_TEST(bad_arguments_do_not_end_a_connection)
{
    struct hal_driver *d = connect_client();
    struct hal_execution_config config = client_config();
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
        ck_assert_int_eq(m.prepared->methods->execute_synchronously(m.prepared, HAL_FL8, &r.hal,
                                                                    &config, &r.result),
                         HAL_INVALID_ARGUMENT);
    }
    client_fill(&r, N);
    ck_assert_int_eq(
        m.prepared->methods->execute_synchronously(m.prepared, HAL_FL8, &r.hal, &config, &r.result),
        HAL_NONE);
    client_check(&r, N);
    client_done(&m);
    d->close(d);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("service");
    TCase *c = tcase_create("service");

    tcase_add_checked_fixture(c, open_service, close_service);
    tcase_add_test(c, clients_that_are_killed_leave_nothing_and_hurt_nobody);
    tcase_add_test(c, a_service_that_is_killed_leaves_its_clients_nothing);
    tcase_add_test(c, a_dead_service_is_a_verdict_and_a_new_one_is_found);
    tcase_add_test(c, a_client_that_does_not_read_replies_holds_up_nobody);
    tcase_add_test(c, a_client_that_does_not_read_events_is_cut_off);
    tcase_add_test(c, a_client_whose_channels_lead_nowhere_ends);
    tcase_add_test(c, memory_that_is_taken_away_harms_nobody_else);
    tcase_add_test(c, bad_arguments_do_not_end_a_connection);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
