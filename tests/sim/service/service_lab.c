#define _GNU_SOURCE
#include "tests/sim/service/service_lab.h"

#include <check.h>
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sim/base/fence.h"
#include "sim/remote/remote.h"
#include "sim/service/service.h"

enum { N = 4, THREADS = 4 };

/* Defined only in builds with LeakSanitizer. */
__attribute__((weak)) int __lsan_do_recoverable_leak_check(void);

static char folder[64];
char lab_path[80];
pid_t lab_service;
static struct why w;

bool lab_leaks(void)
{
    return __lsan_do_recoverable_leak_check && __lsan_do_recoverable_leak_check();
}

void lab_sleep_ms(long ms)
{
    const struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

    nanosleep(&t, NULL);
}

uint32_t lab_random(uint32_t *state)
{
    *state = *state * 1664525 + 1013904223;
    return *state >> 8;
}

/* ---- the service */

static struct service *served;
static struct hal_driver *(*make_driver)(void);

static void on_signal(int number)
{
    (void) number;
    service_stop(served);
}

/* Exit status 1: an error or a leak. */
static void serve(void)
{
    struct why why;

    if (service_new(make_driver(), lab_path, &served, &why) < 0)
        _exit(2);
    signal(SIGTERM, on_signal);
    int rc = service_run(served, &why);
    signal(SIGTERM, SIG_IGN);
    service_free(served);
    _exit(rc < 0 || lab_leaks());
}

struct hal_driver *lab_connect(void)
{
    struct hal_driver *d = NULL;

    for (int i = 0; i < 1000 && remote_open(lab_path, NULL, &d, &w) < 0; i++)
        lab_sleep_ms(10);
    ck_assert_msg(d, "%s", w.text);
    return d;
}

int lab_connect_raw(void)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

    strcpy(address.sun_path, lab_path);
    ck_assert_int_eq(connect(fd, (struct sockaddr *) &address, sizeof address), 0);
    return fd;
}

int lab_call(int socket, Wire__Call *call, const struct wire_fds *fds)
{
    struct arena *a = arena_new(0);
    ProtobufCMessage *reply;
    struct wire_fds none;
    int status = -1;

    if (wire_send(socket, &call->base, fds, &w) == 0 &&
        wire_receive(socket, &wire__reply__descriptor, a, &reply, &none, &w) == 1) {
        status = ((const Wire__Reply *) reply)->status;
        wire_close_fds(&none);
    }
    arena_free(a);
    return status;
}

/* Processes that wait for a byte in `go`, then write their number to `started` and serve. */
static int go[2], started[2];

static void wait_for_start(void)
{
    const pid_t self = getpid();
    char byte;

    close(go[1]);
    if (read(go[0], &byte, 1) != 1 || write(started[1], &self, sizeof self) != sizeof self)
        _exit(0);
    serve();
}

static void fork_services(int lives)
{
    ck_assert(pipe(go) == 0 && pipe(started) == 0);
    for (int i = 0; i < lives; i++) {
        pid_t pid = fork();
        ck_assert_int_ge(pid, 0);
        if (pid == 0)
            wait_for_start();
    }
}

void lab_start_service(void)
{
    ck_assert_int_eq(write(go[1], "", 1), 1);
    ck_assert_int_eq(read(started[0], &lab_service, sizeof lab_service), sizeof lab_service);
    struct hal_driver *d = lab_connect();
    d->close(d);
}

void lab_open_of(struct hal_driver *(*make)(void), int lives)
{
    make_driver = make;
    strcpy(folder, "/tmp/halcyon-service-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(lab_path, sizeof lab_path, "%s/s", folder);
    fork_services(lives);
    lab_start_service();
}

static struct hal_driver *make_cpu(void)
{
    return client_open("cpu", HAL_FL8);
}

void lab_open(void)
{
    lab_open_of(make_cpu, LAB_LIVES);
}

void lab_close(void)
{
    int status;

    kill(lab_service, SIGTERM);
    ck_assert_int_eq(waitpid(lab_service, &status, 0), lab_service);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the service ends with status %x",
                  (unsigned) status);
    ck_assert_int_lt(access(lab_path, F_OK), 0);
    rmdir(folder);
    close(go[1]);
    while (wait(NULL) > 0)
        ;
}

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

struct holdings lab_holdings(pid_t pid)
{
    struct holdings h = { 0 };
    char name[64];

    snprintf(name, sizeof name, "/proc/%d/fd", (int) pid);
    h.fds = count_entries(name);
    snprintf(name, sizeof name, "/proc/%d/task", (int) pid);
    h.threads = count_entries(name);
    h.memory = client_mappings(pid, "");
    return h;
}

static bool same_holdings(const struct holdings *a, const struct holdings *b)
{
    return a->fds == b->fds && a->threads == b->threads && a->memory == b->memory;
}

struct holdings lab_at_rest(pid_t pid)
{
    struct holdings now = lab_holdings(pid), last = now;

    for (int same = 0; same < 10; same = same_holdings(&now, &last) ? same + 1 : 0) {
        last = now;
        lab_sleep_ms(10);
        now = lab_holdings(pid);
    }
    return now;
}

void lab_check_at_rest(pid_t pid, struct holdings before)
{
    struct holdings now = lab_holdings(pid);

    for (int i = 0; i < 500 && !same_holdings(&now, &before); i++) {
        lab_sleep_ms(10);
        now = lab_holdings(pid);
    }
    ck_assert_int_eq(now.fds, before.fds);
    ck_assert_int_eq(now.threads, before.threads);
    ck_assert_int_eq(now.memory, before.memory);
}

/* ---- clients */

struct worker {
    uint32_t seed;
    int runs; /* 0: until the service is killed */
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
        (void) m->prepared->methods->execute(m->prepared, HAL_1_3, &r->hal, &config, &wait.base);
        return client_wait(&wait);
    case 2:
        return b->methods->execute_synchronously(b, &r->hal, 3, identifiers, &config, &r->result);
    default: return run_fenced(m, r);
    }
}

static bool is_correct(const struct client_request *r)
{
    for (int i = 0; i < N; i++)
        if (r->z[i] != r->x[i] + r->y[i])
            return false;
    return true;
}

/* One execution; false: a failure, or the end of the service where that is expected. */
static bool run_once(struct worker *k, const struct client_model *m, struct hal_burst *b)
{
    struct client_request r;

    client_fill(&r, N);
    for (int i = 0; i < N; i++)
        r.x[i] = (float) (lab_random(&k->seed) % 1000);
    enum hal_status s = run_kind(m, b, lab_random(&k->seed), &r);
    if (!k->runs && s == HAL_DEVICE_UNAVAILABLE)
        return false;
    k->failed |= s == HAL_NONE ? !is_correct(&r) : s != HAL_RESOURCE_EXHAUSTED_TRANSIENT;
    return !k->failed;
}

static void *work(void *argument)
{
    struct worker *k = argument;
    struct hal_driver *d = lab_connect();
    struct client_model m;
    struct hal_burst *b;

    client_add_model(&m, N, false);
    client_prepare(&m, d, (enum hal_priority)(lab_random(&k->seed) % 3));
    k->failed = m.prepared->methods->configure_burst(m.prepared, HAL_FL8, &b) != HAL_NONE;
    pthread_barrier_wait(k->ready);
    if (!k->failed) {
        for (int i = 0; (!k->runs || i < k->runs) && run_once(k, &m, b); i++)
            ;
        b->methods->release(b);
    }
    client_done(&m);
    d->close(d);
    return NULL;
}

bool lab_work(uint32_t seed, int runs)
{
    struct worker k[THREADS];
    pthread_t thread[THREADS];
    pthread_barrier_t ready;
    bool failed = false;

    pthread_barrier_init(&ready, NULL, THREADS + 1);
    for (uint32_t i = 0; i < THREADS; i++) {
        k[i] = (struct worker){ .seed = seed * THREADS + i, .runs = runs, .ready = &ready };
        ck_assert_int_eq(pthread_create(&thread[i], NULL, work, &k[i]), 0);
    }
    pthread_barrier_wait(&ready);
    if (!runs) {
        lab_sleep_ms(50);
        kill(lab_service, SIGKILL);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        failed |= k[i].failed;
    }
    pthread_barrier_destroy(&ready);
    return !failed;
}

pid_t lab_start_client(uint32_t seed)
{
    pid_t pid = fork();

    ck_assert_int_ge(pid, 0);
    if (pid == 0)
        _exit(lab_work(seed, LAB_RUNS) ? 0 : 1);
    return pid;
}
