/* The soak: 24 client processes at once, of all priorities, executing in every way; some are
 * killed, so is the service now and then.  Afterwards nothing may be left of them, and no result
 * may have been another than the device gives alone.
 *
 *     soak [VIRTUAL-SECONDS [SEED]]      600 and 1
 *
 * Who is killed when is the seed's affair as far as the plan goes; how far the others have come by
 * then is the machine's.  Time is the device's, which is cheap: ten minutes take seconds. */
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

enum { CLIENTS = 24, TURNS = 12, LIVES = 200, STEPS_OF_LIFE = 40 };

/* In builds with sanitizers memory that has been freed stays for a while, and has shadows. */
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
static double grown_most;

static double wanted_seconds = 600;
static uint32_t seed = 1;

/* Of all lives of the service; in memory that its processes share. */
static struct {
    atomic_uint_least64_t virtual_ns, executions;
} * told;

/* ---- the service */

static void tell_time(void *user, enum schedule_event event, const struct job *j, double now)
{
    static double last;

    (void) user, (void) j;
    atomic_fetch_add(&told->virtual_ns, (uint64_t) (now - last));
    atomic_fetch_add(&told->executions, event == EVENT_END);
    last = now;
}

static void (*close_device)(struct hal_driver *self);

/* Every session is over: nobody may hold anything any more. */
static void close_checked(struct hal_driver *self)
{
    struct driver *d = (struct driver *) self;

    pthread_mutex_lock(&d->lock);
    while (d->threads)
        pthread_cond_wait(&d->idle, &d->lock);
    pthread_mutex_unlock(&d->lock);
    if (d->client_quotas.first || d->buffers.first) {
        fputs("soak: models, buffers or executions of clients that have gone\n", stderr);
        _exit(3);
    }
    close_device(self);
}

static struct hal_driver *make_device(void)
{
    struct hal_driver *d = soak_device();

    schedule_set_watch(((struct driver *) d)->schedule, tell_time, NULL);
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
    const char *wrong = soak_client_run(clients[i].seed, TURNS);
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
                      "the client of seed %u ends with %x", clients[i].seed, (unsigned) status);
        killed += clients[i].is_killed;
        done++;
        clients[i].pid = 0;
        return;
    }
    ck_abort_msg("process %d ends with %x", (int) pid, (unsigned) status);
}

/* Those that have ended; flags 0: waits for one. */
static void reap(int flags)
{
    int status;

    for (pid_t pid; (pid = waitpid(-1, &status, flags)) > 0; flags = WNOHANG)
        note_end(pid, status);
}

static void fill_up(uint32_t *random)
{
    for (int i = 0; i < CLIENTS; i++)
        if (!clients[i].pid)
            start_client(i, random);
}

static bool is_anybody_left(void)
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

static void empty_the_house(void)
{
    while (is_anybody_left())
        reap(0);
}

/* One life of the service: clients come and are killed; then the rest end by themselves, and what
 * there was before must be all there is. */
static void live(uint32_t *random)
{
    struct holdings before = lab_at_rest(lab_service);
    double memory = memory_use(lab_service).now;

    for (int step = 0; step < STEPS_OF_LIFE; step++) {
        fill_up(random);
        lab_sleep_ms((long) (lab_random(random) % 20));
        if (lab_random(random) % 2)
            kill_client((int) (lab_random(random) % CLIENTS));
        reap(WNOHANG);
    }
    empty_the_house();
    lab_check_at_rest(lab_service, before);
    double grown = memory_use(lab_service).now - memory;
    grown_most = grown > grown_most ? grown : grown_most;
    ck_assert_msg(grown < GROWTH_MB, "the service has grown by %.0f MB", grown);
}

/* Half a life, and a death amid clients, who find the next one. */
static void die(uint32_t *random)
{
    for (int step = 0; step < STEPS_OF_LIFE / 2; step++) {
        fill_up(random);
        lab_sleep_ms((long) (lab_random(random) % 20));
        if (step % 10 == 9 && lives < LIVES)
            kill_service();
        reap(WNOHANG);
    }
    empty_the_house();
}

START_TEST(soak)
{
    uint32_t random = seed;
    time_t begun = time(NULL);
    double seconds = 0;

    for (unsigned round = 0; seconds < wanted_seconds || round < 2; round++) {
        if (round % 2)
            die(&random);
        else
            live(&random);
        seconds = (double) atomic_load(&told->virtual_ns) * 1e-9;
    }
    live(&random);
    printf("%.0f virtual seconds in %ld: %lu executions of %u clients, %u of them killed, "
           "%u lives of the service, which grew by %.0f MB\n",
           seconds, (long) (time(NULL) - begun), (unsigned long) atomic_load(&told->executions),
           done, killed, lives, grown_most);
}
END_TEST

static void open_soak(void)
{
    told = mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert(told != MAP_FAILED);
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
