/* halcyon-driver-host: one process for one driver under test.
 *
 *     halcyon-driver-host ADDRESS ARENA LARGEST REGIONS     (hexadecimal: see lent_layout_of())
 *
 * Started by sim/isolation/host_process.c with four descriptors.  It forks: the first process
 * supervises, the second one opens the driver and answers the client's commands. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "golden/base/logging.h"
#include "golden/base/sandbox.h"
#include "sim/base/orphans.h"
#include "sim/base/spin.h"
#include "sim/client/runtime.h"
#include "sim/hal/hal_convert.h"
#include "sim/isolation/host_layout.h"
#include "sim/isolation/lent_memory.h"
#include "sim/service/session.h"

enum { IN_FD = 3, OUT_FD, SOCKET_FD, STATUS_FD };

struct host {
    const struct host_calls *calls; /* read-only memory */
    struct host_answers *answers;
    struct target *target;
    struct spin spin;
    pthread_mutex_t lock; /* protects what follows */
    pthread_cond_t changed;
    unsigned sessions;
};

/* ---- the supervisor */

/* Ends with the driver's process and everything that it has started. */
static _Noreturn void supervise(pid_t driver)
{
    int status = 0, other;
    pid_t ended;

    close(IN_FD);
    close(OUT_FD);
    close(SOCKET_FD);
    while ((ended = waitpid(-1, &other, 0)) != driver && (ended > 0 || errno == EINTR)) {
    }
    if (ended == driver)
        status = other;
    if (getpid() != 1) /* in a process namespace the kernel does it */
        orphans_kill();
    ssize_t n = write(STATUS_FD, &status, sizeof status);
    _exit(n == (ssize_t) sizeof status ? 0 : 1);
}

static void start_supervising(void)
{
    pid_t parent = getpid(), pid;

    orphans_adopt();
    pid = fork();
    if (pid < 0)
        _exit(126);
    if (pid > 0)
        supervise(pid);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(0);
    close(STATUS_FD);
    setpgid(0, 0);
}

/* ---- opening */

static void wake(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void set_state(struct host *h, enum host_state state)
{
    atomic_store(&h->answers->state, (uint32_t) state);
    wake(&h->answers->state);
}

static _Noreturn void not_opened(struct host *h, const struct why *w)
{
    h->answers->why = *w;
    set_state(h, HOST_NOT_OPENED);
    _exit(0);
}

static int contain(struct host *h, struct why *w)
{
    const struct host_calls *c = h->calls;
    struct sandbox_options options = { .scratch = c->scratch,
                                       .allow_processes = true,
                                       .allow_network = c->may_use_devices,
                                       .allow_devices = c->may_use_devices };

    setenv("TMPDIR", c->scratch, 1);
    sandbox_be_first_to_go();
    if (c->may_be_traced)
        prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY); /* fails without Yama, which would deny it */
    TRY(crash_report_install(&h->answers->crash, w));
    return sandbox_enter(&options, NULL, w);
}

static void print_log(enum log_level level, const char *tag, const char *text, void *user)
{
    (void) level, (void) user;
    fprintf(stderr, "%s: %s\n", tag, text);
}

static void open_driver(struct host *h)
{
    const struct target_host host = { .profile = h->calls->profile };
    struct caller_state state;
    struct why why = { 0 };

    log_set_sink(print_log, NULL);
    atomic_store(&vlog_mask, h->calls->vlog_mask);
    if (contain(h, &why) < 0)
        not_opened(h, &why);
    caller_state_save(&state);
    if (target_open(h->calls->uri, &host, &h->target, &why) < 0)
        not_opened(h, &why);
    caller_state_restore(&state);
    const struct hal_driver *d = target_driver(h->target);
    h->answers->version = (int32_t) d->hal_version;
    h->answers->lowest_version = (int32_t) d->lowest_version;
    snprintf(h->answers->name, sizeof h->answers->name, "%s", d->name);
    target_watch(h->target, &h->answers->step);
}

/* ---- commands */

static void change_sessions(struct host *h, unsigned by)
{
    pthread_mutex_lock(&h->lock);
    h->sessions += by;
    pthread_cond_signal(&h->changed);
    pthread_mutex_unlock(&h->lock);
}

static void session_begun(struct session *s, void *user)
{
    (void) s;
    change_sessions(user, 1);
}

static void session_ended(struct session *s, void *user)
{
    (void) s;
    change_sessions(user, UINT_MAX);
}

/* If it fails, the socket is closed, which the client notices. */
static void serve(struct host *h)
{
    static const struct session_owner owner = { session_begun, session_ended };
    struct hal_driver *driver = (struct hal_driver *) (uintptr_t) target_driver(h->target);

    session_start(driver, SOCKET_FD, (uint32_t) getppid(), &owner, h, NULL);
}

/* The client has closed its end of the socket: the sessions end. */
static void close_driver(struct host *h)
{
    pthread_mutex_lock(&h->lock);
    while (h->sessions)
        pthread_cond_wait(&h->changed, &h->lock);
    pthread_mutex_unlock(&h->lock);
    target_release_here(h->target);
    target_free(h->target);
    h->target = NULL;
}

struct command_wait {
    const struct host_calls *calls;
    uint32_t done;
};

static bool has_command(void *user)
{
    const struct command_wait *w = user;

    return atomic_load(&w->calls->submitted) != w->done;
}

static void await_command(struct host *h, uint32_t done)
{
    const struct host_calls *c = h->calls;

    h->spin.other = c->processor;
    h->spin.limit_ns = c->spin_ns;
    if (c->spin_ns)
        spin_until(&h->spin, has_command, &(struct command_wait){ c, done });
    while (atomic_load(&c->submitted) == done)
        syscall(SYS_futex, &c->submitted, FUTEX_WAIT, done, NULL, NULL, 0);
}

static void answer_commands(struct host *h)
{
    struct host_answers *a = h->answers;

    for (uint32_t done = 0;;) {
        await_command(h, done++);
        if (h->calls->command == HOST_CLOSE)
            return;
        if (h->calls->command == HOST_SERVE)
            serve(h);
        else if (h->calls->command == HOST_SETTLE)
            target_answer_late(h->target, a);
        else if (h->calls->command == HOST_RELEASE)
            target_release_here(h->target);
        else
            target_answer(h->target, h->calls->run, a);
        a->processor = spin_processor();
        atomic_store(&a->answered, done);
        wake(&a->answered);
    }
}

/* For sanitizers: LeakSanitizer cannot trace a confined process, and crashes are reported here. */
int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
    return 1;
}

/* The quarantine of freed memory is limited, so that it does not count as growth.  A driver may
 * have variables that this program has, too. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "handle_segv=0:handle_sigbus=0:quarantine_size_mb=8:detect_odr_violation=0";
}

int main(int argc, char **argv)
{
    struct host h;
    struct why why = { 0 };

    if (argc != 5) {
        fprintf(stderr, "usage: halcyon starts this program for drivers under test\n");
        return 2;
    }
    start_supervising();
    uint8_t *address = (uint8_t *) (uintptr_t) strtoull(argv[1], NULL, 16);
    const struct lent_layout layout =
        lent_layout_of(address, strtoull(argv[2], NULL, 16), strtoull(argv[3], NULL, 16),
                       (uint32_t) strtoul(argv[4], NULL, 16));
    if (lent_memory_attach(&layout, IN_FD, OUT_FD, &why) < 0) {
        fprintf(stderr, "halcyon-driver-host: %s\n", why.text);
        return 3;
    }
    close(IN_FD);
    close(OUT_FD);
    h = (struct host){ .calls = (const struct host_calls *) (const void *) layout.in,
                       .answers = (struct host_answers *) (void *) layout.out,
                       .lock = PTHREAD_MUTEX_INITIALIZER,
                       .changed = PTHREAD_COND_INITIALIZER };
    open_driver(&h);
    set_state(&h, HOST_OPEN);
    answer_commands(&h);
    close_driver(&h);
    set_state(&h, HOST_CLOSED);
    return 0;
}
