/* Starts, asks and ends the process that hosts a driver.
 *
 *     client --- supervisor --- driver's process --- whatever the driver starts
 *
 * The supervisor is the same small program.  Where the kernel allows, it is the first process of a
 * process namespace, so that everything in it ends with it; elsewhere it adopts what the driver
 * starts and kills it.  It reports how the driver's process ended through a pipe that only it has.
 */
#define _GNU_SOURCE
#include "sim/isolation/host_process.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "golden/base/logging.h"
#include "golden/base/sandbox.h"
#include "sim/base/own_file.h"
#include "sim/base/process_clock.h"

#define LOG_TAG "Host"

/* SLICE_NS: between two looks at whether the process lives.  SPIN_NS: the longest spin where
 * processors are free; longer than most cases take on either side. */
enum { FIRST_FD = 3, LAST_FD = 6, SLICE_NS = 2000000, SPIN_NS = 1000000, PRINTS_MAX = 1 << 24 };

static const struct host_process no_process = { .socket = -1,
                                                .status = -1,
                                                .prints = -1,
                                                .scratch = SCRATCH_FOLDER_NONE,
                                                .memory.in_fd = -1,
                                                .memory.out_fd = -1 };

static const char program_name[] = "halcyon-driver-host";

/* ---- starting */

/* Descriptors that the new program gets, in this order from FIRST_FD on. */
struct inherited {
    int fd[LAST_FD - FIRST_FD + 1]; /* input file, output file, socket, status pipe */
    int null, prints;
};

/* The child of a clone: only calls that are safe after a fork with threads. */
static _Noreturn void become_program(const char *path, char *const argv[],
                                     const struct inherited *i)
{
    enum { SPARE = 16, NUMBER = LAST_FD - FIRST_FD + 1 };
    int spare[NUMBER];
    sigset_t none;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (int k = 0; k < NUMBER; k++)
        spare[k] = fcntl(i->fd[k], F_DUPFD, SPARE);
    dup2(i->null, STDIN_FILENO);
    if (i->prints >= 0) {
        dup2(i->prints, STDOUT_FILENO);
        dup2(i->prints, STDERR_FILENO);
    } else {
        dup2(STDERR_FILENO, STDOUT_FILENO);
    }
    for (int k = 0; k < NUMBER; k++)
        dup2(spare[k], FIRST_FD + k);
    close_range(LAST_FD + 1, ~0U, 0);
    for (int s = 1; s < NSIG; s++)
        signal(s, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setsid();
    execv(path, argv);
    _exit(127);
}

static pid_t start_supervisor(const char *path, char *const argv[], const struct inherited *i)
{
    pid_t pid = sandbox_fork(HOST_NAMESPACES);

    if (pid == 0)
        become_program(path, argv, i);
    return pid;
}

static int open_prints(void)
{
    int fd = memfd_create("prints", MFD_CLOEXEC);

    return fd >= 0 && fcntl(fd, F_SETFL, O_APPEND) == 0 ? fd : -1;
}

/* ---- starting a process */

/* What the process needs to open the driver.  In the arena, which the first case empties: it is not
 * needed after that. */
static int put_calls(struct host_process *h, const struct host_options *o, struct why *w)
{
    struct arena *a = h->memory.arena;
    char *uri = arena_strdup(a, o->uri), *scratch = arena_strdup(a, h->scratch.path);
    char *profile = o->profile ? arena_strdup(a, o->profile) : NULL;

    h->calls = (struct host_calls *) (void *) h->memory.layout.in;
    h->answers = (struct host_answers *) (void *) h->memory.layout.out;
    if (!uri || !scratch || (o->profile && !profile))
        return why_no_memory(w);
    *h->calls = (struct host_calls){ .uri = uri,
                                     .profile = profile,
                                     .scratch = scratch,
                                     .vlog_mask = atomic_load(&vlog_mask),
                                     .may_use_devices = o->may_use_devices,
                                     .may_be_traced = o->may_be_traced,
                                     .spin_ns = o->may_spin ? SPIN_NS : 0 };
    return 0;
}

static int spawn(struct host_process *h, const struct host_options *o, struct why *w)
{
    char path[PATH_MAX], address[32], arena[32], largest[32], regions[32];
    int pair[2], status[2];

    TRY(own_file(program_name, "sim", "HALCYON_DRIVER_HOST", path, w));
    snprintf(address, sizeof address, "%llx", (unsigned long long) (uintptr_t) h->memory.layout.in);
    snprintf(arena, sizeof arena, "%zx", h->memory.layout.arena_size);
    snprintf(largest, sizeof largest, "%zx", o->largest);
    snprintf(regions, sizeof regions, "%x", o->regions);
    char *argv[] = { (char *) (uintptr_t) program_name, address, arena, largest, regions, NULL };
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        return why_fail(w, WHY_SYSTEM, "cannot create a socket pair: %s", strerror(errno));
    if (pipe2(status, O_CLOEXEC) < 0) {
        close(pair[0]);
        close(pair[1]);
        return why_fail(w, WHY_SYSTEM, "cannot create a pipe: %s", strerror(errno));
    }
    const struct inherited inherited = {
        .fd = { h->memory.in_fd, h->memory.out_fd, pair[1], status[1] },
        .null = open("/dev/null", O_RDONLY | O_CLOEXEC),
        .prints = h->prints,
    };
    fflush(NULL);
    h->pid = start_supervisor(path, argv, &inherited);
    int error = errno;
    close(inherited.null);
    close(pair[1]);
    close(status[1]);
    h->socket = pair[0];
    h->status = status[0];
    if (h->pid > 0)
        return 0;
    h->pid = 0;
    return why_fail(w, WHY_SYSTEM, "cannot start %s: %s", path, strerror(error));
}

/* ---- the end of a process */

/* Whether the supervisor has ended, without reaping it. */
static bool has_ended(const struct host_process *h)
{
    siginfo_t info = { 0 };

    return waitid(P_PID, (id_t) h->pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || info.si_pid;
}

pid_t host_driver_process(const struct host_process *h)
{
    char path[64], text[32] = "";

    if (!h->pid)
        return 0;
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int) h->pid, (int) h->pid);
    FILE *file = fopen(path, "re");
    if (!file)
        return 0;
    bool read = fgets(text, sizeof text, file);
    fclose(file);
    return read ? (pid_t) atoi(text) : 0;
}

/* Reaps the supervisor, which ends once nothing is left of what it supervises.  Returns the wait
 * status of the driver's process: SIGKILL where the supervisor could not report it. */
static int reap(struct host_process *h)
{
    int status = SIGKILL;

    while (waitpid(h->pid, NULL, 0) < 0 && errno == EINTR) {
    }
    if (read(h->status, &status, sizeof status) != sizeof status)
        status = SIGKILL;
    h->pid = 0;
    close(h->status);
    if (h->socket >= 0)
        close(h->socket);
    h->status = h->socket = -1;
    return status;
}

/* Without a namespace the supervisor must survive to clean up; it ends after the driver's process.
 */
static int kill_and_reap(struct host_process *h)
{
    pid_t driver = host_driver_process(h);

    if (driver > 0)
        kill(driver, SIGKILL);
    for (int i = 0; i < 200 && driver > 0 && !has_ended(h); i++)
        usleep(1000);
    kill(h->pid, SIGKILL);
    return reap(h);
}

/* as: ended here, with the reason set; NULL: it has ended by itself. */
static void note_death(struct host_process *h, const struct host_death *as,
                       struct host_death *ret_death)
{
    struct host_death d = as ? *as : (struct host_death){ 0 };

    d.step = atomic_load(&h->answers->step);
    int status = as ? kill_and_reap(h) : reap(h);
    if (!as && WIFSIGNALED(status))
        d.signal = WTERMSIG(status);
    else if (!as)
        d.exit_status = WEXITSTATUS(status);
    crash_report_read(&h->answers->crash, &d.crash);
    *ret_death = d;
}

/* ---- memory */

uint64_t host_memory_of(pid_t pid)
{
    char path[64], line[128];
    uint64_t sum = 0, kilobytes = 0;

    snprintf(path, sizeof path, "/proc/%d/status", (int) pid);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "RssAnon: %" SCNu64, &kilobytes) == 1 ||
            sscanf(line, "VmSwap: %" SCNu64, &kilobytes) == 1)
            sum += kilobytes << 10;
    if (file)
        fclose(file);
    return sum;
}

/* Ends the process if it uses more memory than it may. */
static bool is_too_large(struct host_process *h, const struct host_options *o,
                         struct host_death *ret_death)
{
    uint64_t memory = o->memory_limit ? host_memory_of(host_driver_process(h)) : 0;

    if (memory <= o->memory_limit)
        return false;
    note_death(h, &(struct host_death){ .memory = memory }, ret_death);
    return true;
}

/* ---- what it prints */

static void forget_prints(const struct host_process *h)
{
    if (h->prints >= 0 && ftruncate(h->prints, 0) < 0)
        VLOG(DRIVER, "what the driver printed cannot be cut: %s", strerror(errno));
}

/* A driver that prints without end does not fill the memory. */
static void limit_prints(const struct host_process *h)
{
    if (h->prints >= 0 && lseek(h->prints, 0, SEEK_END) > PRINTS_MAX)
        forget_prints(h);
}

bool host_take_prints(struct host_process *h, char *ret_text, size_t size)
{
    off_t end = h->prints >= 0 ? lseek(h->prints, 0, SEEK_END) : 0;

    if (end <= 0)
        return false;
    off_t from = end > (off_t) size - 1 ? end - (off_t) size + 1 : 0;
    ssize_t n = pread(h->prints, ret_text, size - 1, from);
    ret_text[n > 0 ? n : 0] = 0;
    for (ssize_t i = 0; i < n; i++)
        if (!ret_text[i])
            ret_text[i] = '?';
    forget_prints(h);
    return n > 0;
}

/* ---- waiting */

/* A wait for a word of the driver's process to have this value, or another one. */
struct host_wait {
    _Atomic uint32_t *word;
    uint32_t value;
    bool is_another;
};

static bool is_over(void *user)
{
    const struct host_wait *w = user;

    return (atomic_load(w->word) == w->value) != w->is_another;
}

/* The clock counts the time of the supervisor until the driver's process exists. */
static void start_clock(const struct host_process *h, struct process_clock *clock, bool is_timed)
{
    if (is_timed && clock->pid != h->pid)
        return;
    pid_t driver = host_driver_process(h);
    if (!is_timed || driver)
        process_clock_start(clock, driver ? driver : h->pid);
}

/* False: the process has ended, or has been ended for its time-out. */
static bool await_word(struct host_process *h, const struct host_options *o, struct host_wait *w,
                       uint64_t more, struct host_death *ret_death)
{
    const struct timespec slice = { .tv_nsec = SLICE_NS };
    const uint64_t limit = o->timeout > 0 ? (uint64_t) (o->timeout * 1e9) + more : UINT64_MAX;
    struct process_clock clock;
    bool is_timed = false;

    spin_until(&h->spin, is_over, w);
    for (uint32_t seen; seen = atomic_load(w->word), !is_over(w);) {
        syscall(SYS_futex, w->word, FUTEX_WAIT, seen, &slice, NULL, 0);
        if (is_over(w))
            break;
        if (has_ended(h)) {
            if (is_over(w))
                break; /* it answered first; the next call finds it dead */
            note_death(h, NULL, ret_death);
            return false;
        }
        if (is_too_large(h, o, ret_death))
            return false;
        if (o->waiting)
            o->waiting(o->user);
        limit_prints(h);
        start_clock(h, &clock, is_timed);
        is_timed = true;
        if (process_clock_elapsed(&clock) > limit) {
            note_death(h, &(struct host_death){ .hung = true }, ret_death);
            return false;
        }
    }
    return true;
}

/* ---- commands */

void host_init(struct host_process *h)
{
    *h = no_process;
}

int host_start(struct host_process *h, const struct host_options *o, struct host_death *ret_death,
               struct why *w)
{
    *h = no_process;
    TRY(lent_memory_init(&h->memory, o->arena, o->largest, o->regions, w));
    h->prints = open_prints();
    if (scratch_folder_make(&h->scratch, w) < 0 || put_calls(h, o, w) < 0 || spawn(h, o, w) < 0) {
        host_done(h);
        return -1;
    }
    for (uint32_t state = HOST_STARTING; state < HOST_OPEN;) {
        struct host_wait wait = { &h->answers->state, state, true };
        if (!await_word(h, o, &wait, 0, ret_death))
            return 1;
        state = atomic_load(wait.word);
    }
    if (atomic_load(&h->answers->state) == HOST_OPEN)
        return 0;
    struct why why = h->answers->why;
    why.text[sizeof why.text - 1] = 0;
    host_done(h);
    return why_fail(w, (unsigned) why.code <= WHY_SYSTEM ? why.code : WHY_INVALID, "%s", why.text);
}

int host_call(struct host_process *h, const struct host_options *o, enum host_command command,
              uint64_t more, struct host_death *ret_death)
{
    struct host_wait wait = { &h->answers->answered, h->submitted + 1, false };

    h->spin.other = h->answers->processor;
    h->spin.limit_ns = h->calls->spin_ns;
    h->calls->processor = spin_processor();
    h->calls->command = command;
    atomic_store(&h->calls->submitted, ++h->submitted);
    syscall(SYS_futex, &h->calls->submitted, FUTEX_WAKE, 1, NULL, NULL, 0);
    return !await_word(h, o, &wait, more, ret_death) || is_too_large(h, o, ret_death);
}

int host_close(struct host_process *h, const struct host_options *o, struct host_death *ret_death)
{
    struct host_wait never = { &h->calls->submitted, h->submitted + 1, true };

    if (!h->pid)
        return 0;
    if (h->socket >= 0)
        close(h->socket);
    h->socket = -1;
    h->calls->command = HOST_CLOSE;
    atomic_store(&h->calls->submitted, ++h->submitted);
    syscall(SYS_futex, &h->calls->submitted, FUTEX_WAKE, 1, NULL, NULL, 0);
    await_word(h, o, &never, 0, ret_death);
    return ret_death->hung || ret_death->signal || ret_death->exit_status ||
           atomic_load(&h->answers->state) != HOST_CLOSED;
}

void host_done(struct host_process *h)
{
    if (h->pid)
        kill_and_reap(h);
    scratch_folder_remove(&h->scratch);
    if (h->prints >= 0)
        close(h->prints);
    lent_memory_done(&h->memory);
    *h = no_process;
}
