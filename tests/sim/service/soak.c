/* The soak test: 24 client processes at a time, of all priorities, in every kind of execution; some
 * of them, and sometimes the service, are killed.  Afterwards the service must hold no more
 * resources than before, and every result must have been the one that the device computes alone.
 *
 *     soak [VIRTUAL-SECONDS [SEED]]      by default 600 and 1
 *
 * The seed determines which clients are killed after which delay; how far they have come by then
 * depends on the machine.  Time is the device's virtual time: ten minutes take seconds. */
#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/sim/service/service_lab.h"
#include "tests/sim/service/soak_client.h"
#include "tests/support/check_main.h"
#include "tests/support/large_model.h"

enum { CLIENTS = 24, RUNS = 12, LIVES = 200, STEPS_PER_LIFE = 40 };

/* Growth of the service's memory that is allowed, in MB.  Sanitizers keep freed memory for a while,
 * and add shadow memory. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifdef SANITIZED
static const double GROWTH_MB = 512;
#else
static const double GROWTH_MB = 16;
#endif
static double max_growth;

static double wanted_seconds = 600;
static uint32_t seed = 1;

/* Sums over all lives of the service, in memory that the processes share. */
static struct {
    atomic_uint_least64_t virtual_ns, executions;
} * totals;

/* ---- the service */

static void add_time(void *user, enum schedule_event event, const struct job *j, uint64_t now)
{
    static uint64_t last;

    (void) user, (void) j;
    atomic_fetch_add(&totals->virtual_ns, now - last);
    atomic_fetch_add(&totals->executions, event == EVENT_END);
    last = now;
}

static void (*close_device)(struct hal_driver *self);

/* All sessions have ended: no client may hold models, buffers or executions. */
static void close_checked(struct hal_driver *self)
{
    struct driver *d = (struct driver *) self;

    pthread_mutex_lock(&d->lock);
    while (d->threads)
        pthread_cond_wait(&d->idle, &d->lock);
    pthread_mutex_unlock(&d->lock);
    if (d->client_quotas.first || d->buffers.first) {
        fputs(
            "soak: the driver still holds models, buffers or executions of disconnected clients\n",
            stderr);
        _exit(3);
    }
    close_device(self);
}

static struct hal_driver *make_device(void)
{
    struct hal_driver *d = soak_device();

    schedule_set_watch(((struct driver *) d)->schedule, add_time, NULL);
    close_device = d->close;
    d->close = close_checked;
    return d;
}

/* ---- the clients */

static struct {
    pid_t pid; /* 0: none */
    uint32_t seed;
    bool is_killed;
} clients[CLIENTS];
static unsigned done, killed, lives = 1;

static void start_client(int i, uint32_t *random)
{
    clients[i].seed = lab_random(random);
    clients[i].is_killed = false;
    clients[i].pid = fork();
    ck_assert_int_ge(clients[i].pid, 0);
    if (clients[i].pid)
        return;
    const char *wrong = soak_client_run(clients[i].seed, RUNS);
    if (wrong)
        fprintf(stderr, "soak: client of seed %u: %s\n", clients[i].seed, wrong);
    _exit(wrong || lab_leaks());
}

static void note_end(pid_t pid, int status)
{
    for (int i = 0; i < CLIENTS; i++) {
        if (clients[i].pid != pid)
            continue;
        ck_assert_msg(status == 0 || (clients[i].is_killed && WIFSIGNALED(status)),
                      "the client of seed %u ends with status %x", clients[i].seed,
                      (unsigned) status);
        killed += clients[i].is_killed;
        done++;
        clients[i].pid = 0;
        return;
    }
    ck_abort_msg("unknown process %d ends with status %x", (int) pid, (unsigned) status);
}

/* Notes clients that have ended; flags 0: waits for one. */
static void reap(int flags)
{
    int status;

    for (pid_t pid; (pid = waitpid(-1, &status, flags)) > 0; flags = WNOHANG)
        note_end(pid, status);
}

static void start_missing_clients(uint32_t *random)
{
    for (int i = 0; i < CLIENTS; i++)
        if (!clients[i].pid)
            start_client(i, random);
}

static bool is_client_left(void)
{
    for (int i = 0; i < CLIENTS; i++)
        if (clients[i].pid)
            return true;
    return false;
}

/* ---- the plan */

static void kill_client(int i)
{
    if (!clients[i].pid)
        return;
    clients[i].is_killed = true;
    kill(clients[i].pid, SIGKILL);
}

static void kill_service(void)
{
    int status;

    kill(lab_service, SIGKILL);
    ck_assert_int_eq(waitpid(lab_service, &status, 0), lab_service);
    lab_start_service();
    lives++;
}

static void wait_for_all(void)
{
    while (is_client_left())
        reap(0);
}

/* Clients are started, and some killed; when the others have ended, the service must hold what it
 * held before. */
static void kill_clients(uint32_t *random)
{
    struct holdings before = lab_at_rest(lab_service);
    double memory = memory_use(lab_service).now;

    for (int step = 0; step < STEPS_PER_LIFE; step++) {
        start_missing_clients(random);
        lab_sleep_ms((long) (lab_random(random) % 20));
        if (lab_random(random) % 2)
            kill_client((int) (lab_random(random) % CLIENTS));
        reap(WNOHANG);
    }
    wait_for_all();
    lab_check_at_rest(lab_service, before);
    double grown = memory_use(lab_service).now - memory;
    max_growth = grown > max_growth ? grown : max_growth;
    ck_assert_msg(grown < GROWTH_MB, "the service's memory has grown by %.0f MB", grown);
}

/* The service is killed while clients run; they connect to the next one. */
static void kill_services(uint32_t *random)
{
    for (int step = 0; step < STEPS_PER_LIFE / 2; step++) {
        start_missing_clients(random);
        lab_sleep_ms((long) (lab_random(random) % 20));
        if (step % 10 == 9 && lives < LIVES)
            kill_service();
        reap(WNOHANG);
    }
    wait_for_all();
}

START_TEST(soak)
{
    uint32_t random = seed;
    time_t start = time(NULL);
    double seconds = 0;

    for (unsigned round = 0; seconds < wanted_seconds || round < 2; round++) {
        if (round % 2)
            kill_services(&random);
        else
            kill_clients(&random);
        seconds = (double) atomic_load(&totals->virtual_ns) * 1e-9;
    }
    kill_clients(&random);
    printf("%.0f virtual seconds in %ld: %lu executions of %u clients, %u of them killed, "
           "%u lives of the service, whose memory grew by %.0f MB\n",
           seconds, (long) (time(NULL) - start), (unsigned long) atomic_load(&totals->executions),
           done, killed, lives, max_growth);
}
END_TEST

static void open_soak(void)
{
    totals = mmap(NULL, sizeof *totals, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert(totals != MAP_FAILED);
    lab_open_of(make_device, LIVES);
}

int main(int argc, char **argv)
{
    wanted_seconds = argc > 1 ? strtod(argv[1], NULL) : wanted_seconds;
    seed = argc > 2 ? (uint32_t) strtoul(argv[2], NULL, 0) : seed;
    TCase *c = tcase_create("soak");

    tcase_set_timeout(c, 0);
    tcase_add_checked_fixture(c, open_soak, lab_close);
    tcase_add_test(c, soak);
    return run_suite(make_suite("soak", c, NULL));
}
