/* Costs of a driver in another process: transferring 100 MB of constants; the round trip of an
 * execution of 4 elements, synchronous and in a burst, compared with a message to another process
 * and back over a socket and over a futex. */
#define _GNU_SOURCE
#include <check.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sim/remote/remote.h"
#include "sim/service/service.h"
#include "tests/support/hal_client.h"
#include "tests/support/large_model.h"

enum { WARM = 200, TURNS = 4000, PAYLOAD = 200, N = 4 };

static double now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double) t.tv_sec * 1e6 + (double) t.tv_nsec * 1e-3;
}

static int ascending(const void *a, const void *b)
{
    const double *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static void measure(const char *name, void (*f)(void *user), void *user)
{
    static double us[TURNS];

    for (int i = 0; i < WARM; i++)
        f(user);
    for (int i = 0; i < TURNS; i++) {
        double start = now_us();
        f(user);
        us[i] = now_us() - start;
    }
    qsort(us, TURNS, sizeof *us, ascending);
    printf("%-42s median %7.2f us, 99 %% below %7.2f us\n", name, us[TURNS / 2],
           us[TURNS * 99 / 100]);
}

/* ---- baselines */

static void need(bool ok, const char *what)
{
    if (ok)
        return;
    perror(what);
    exit(1);
}

static void socket_turn(void *user)
{
    char bytes[PAYLOAD] = { 0 };
    int fd = *(int *) user;

    need(send(fd, bytes, sizeof bytes, 0) == PAYLOAD && recv(fd, bytes, sizeof bytes, 0) > 0,
         "socket");
}

static void socket_pong(int fd)
{
    char bytes[PAYLOAD];

    while (recv(fd, bytes, sizeof bytes, 0) > 0)
        (void) !send(fd, bytes, sizeof bytes, 0);
    _exit(0);
}

static void bench_socket(void)
{
    int pair[2];

    need(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0, "socketpair");
    pid_t pid = fork();
    if (pid == 0) {
        close(pair[0]);
        socket_pong(pair[1]);
    }
    close(pair[1]);
    measure("socket ping-pong", socket_turn, &pair[0]);
    close(pair[0]);
    waitpid(pid, NULL, 0);
}

struct futex_pair {
    atomic_uint ping, pong;
};

static void futex_add(atomic_uint *value)
{
    atomic_fetch_add(value, 1);
    syscall(SYS_futex, value, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static unsigned futex_wait_change(atomic_uint *value, unsigned last)
{
    while (atomic_load(value) == last)
        syscall(SYS_futex, value, FUTEX_WAIT, last, NULL, NULL, 0);
    return atomic_load(value);
}

static void futex_turn(void *user)
{
    struct futex_pair *c = user;
    unsigned last = atomic_load(&c->pong);

    futex_add(&c->ping);
    futex_wait_change(&c->pong, last);
}

static void bench_futex(void)
{
    struct futex_pair *c =
        mmap(NULL, sizeof *c, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    need(c != MAP_FAILED, "mmap");
    pid_t pid = fork();
    if (pid == 0)
        for (unsigned last = 0;;) {
            last = futex_wait_change(&c->ping, last);
            futex_add(&c->pong);
        }
    measure("futex ping-pong", futex_turn, c);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    munmap(c, sizeof *c);
}

/* ---- executions */

struct run {
    struct client_model model;
    struct client_request request;
    struct hal_execution_config config;
    struct hal_burst *burst;
    int64_t identifiers[3];
};

static void open_run(struct run *r, struct hal_driver *d)
{
    *r = (struct run){ .config = client_config(), .identifiers = { 1, 2, 3 } };
    client_add_model(&r->model, N, false);
    client_prepare(&r->model, d, HAL_PRIORITY_MEDIUM);
    client_fill(&r->request, N);
    struct hal_prepared_model *p = r->model.prepared;
    need(p->methods->configure_burst(p, HAL_FL7, &r->burst) == HAL_NONE, "burst");
}

static void close_run(struct run *r)
{
    r->burst->methods->release(r->burst);
    client_done(&r->model);
}

static void synchronous_turn(void *user)
{
    struct run *r = user;
    struct hal_prepared_model *p = r->model.prepared;

    need(p->methods->execute_synchronously(p, HAL_FL7, &r->request.hal, &r->config,
                                           &r->request.result) == HAL_NONE,
         "execute");
}

static void burst_turn(void *user)
{
    struct run *r = user;

    need(r->burst->methods->execute_synchronously(r->burst, &r->request.hal, 3, r->identifiers,
                                                  &r->config, &r->request.result) == HAL_NONE,
         "burst");
}

/* Replaces the pools by memory files, which both processes map. */
static void use_memory_files(struct run *r, int seals)
{
    for (int i = 0; i < 3; i++) {
        struct hal_memory *m = &r->request.pool[i].memory;
        if (m->fd >= 0)
            close(m->fd);
        m->kind = HAL_MEMORY_FD;
        m->address = NULL;
        m->fd = memfd_create("bench", MFD_CLOEXEC | MFD_ALLOW_SEALING);
        need(m->fd >= 0 && ftruncate(m->fd, (off_t) m->size) == 0 &&
                 fcntl(m->fd, F_ADD_SEALS, seals) == 0,
             "memory");
        r->identifiers[i] += 3;
    }
}

static void bench_bursts(struct run *r, const char *where)
{
    char name[64];

    snprintf(name, sizeof name, "%s, burst", where);
    measure(name, burst_turn, r);
    use_memory_files(r, F_SEAL_SHRINK);
    snprintf(name, sizeof name, "%s, burst, sealed files", where);
    measure(name, burst_turn, r);
    use_memory_files(r, 0);
    snprintf(name, sizeof name, "%s, burst, files", where);
    measure(name, burst_turn, r);
    for (int i = 0; i < 3; i++)
        r->identifiers[i] = -1;
    snprintf(name, sizeof name, "%s, burst, files not kept", where);
    measure(name, burst_turn, r);
}

static void bench_driver(struct hal_driver *d, const char *where)
{
    struct run r;
    char name[64];

    open_run(&r, d);
    snprintf(name, sizeof name, "%s, synchronous", where);
    measure(name, synchronous_turn, &r);
    bench_bursts(&r, where);
    for (int i = 0; i < 3; i++)
        close(r.request.pool[i].memory.fd);
    close_run(&r);
    d->close(d);
}

/* ---- constants */

static void bench_constants(struct hal_driver *d, const char *where, pid_t service)
{
    static const char *const names[] = {
        [LARGE_COPY] = "by copy", [LARGE_ADDRESS] = "plain memory", [LARGE_FILE] = "a memory file"
    };

    for (enum large_kind kind = LARGE_COPY; kind <= LARGE_FILE; kind++) {
        struct large_model l;
        char name[80];
        large_model_init(&l, kind);
        struct memory_use before = memory_use(service);
        memory_mark(service);
        double start = now_us();
        client_prepare(&l.m, d, HAL_PRIORITY_MEDIUM);
        double us = now_us() - start;
        struct memory_use after = memory_use(service);
        snprintf(name, sizeof name, "%s, %d MB prepared", where, LARGE_MB);
        printf("%-28s %7.1f ms, %s: private memory of the service %.0f MB\n", name, us * 1e-3,
               names[kind], after.peak - before.now - (after.shared - before.shared));
        large_model_done(&l);
    }
}

static void run_on(int processor)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET((size_t) processor, &set);
    need(sched_setaffinity(0, sizeof set, &set) == 0, "processor");
}

/* Executions with client and service bound to different processors; otherwise the scheduler
 * decides. */
static void bench_apart(struct hal_driver *d)
{
    struct run r;

    open_run(&r, d);
    measure("over the socket, synchronous, apart", synchronous_turn, &r);
    measure("over the socket, burst, apart", burst_turn, &r);
    close_run(&r);
    d->close(d);
}

static void serve(const char *path, int processor)
{
    struct service *s;
    struct why w;

    if (processor >= 0)
        run_on(processor);
    if (service_new(client_open("cpu", 0), path, &s, &w) == 0)
        service_run(s, &w);
    _exit(1);
}

static void bench_service(bool apart)
{
    char folder[] = "/tmp/halcyon-bench-XXXXXX", path[64];
    struct hal_driver *d = NULL;
    struct why w;

    need(mkdtemp(folder), "folder");
    snprintf(path, sizeof path, "%s/s", folder);
    pid_t pid = fork();
    if (pid == 0)
        serve(path, apart ? 1 : -1);
    for (int i = 0; i < 1000 && remote_open(path, NULL, &d, &w) < 0; i++)
        usleep(10000);
    need(d, "service");
    if (apart) {
        bench_apart(d);
    } else {
        bench_constants(d, "over the socket", pid);
        bench_driver(d, "over the socket");
    }
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    unlink(path);
    rmdir(folder);
}

/* A Check test, because the functions of hal_client.h fail a test on errors. */
START_TEST(bench)
{
    bench_socket();
    bench_futex();
    bench_service(false);
    bench_driver(client_open("cpu", 0), "in this process");
    if (sysconf(_SC_NPROCESSORS_ONLN) > 1) {
        run_on(0);
        bench_service(true);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("bench");
    TCase *c = tcase_create("bench");

    tcase_add_test(c, bench);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_set_fork_status(r, CK_NOFORK);
    srunner_run_all(r, CK_SILENT);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
