/* The process that starts Python and forks a child for each file (python_child.h has an overview).
 */
#define _GNU_SOURCE
#include "specs/python_zygote.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <jansson.h>

#include "golden/base/sandbox.h"
#include "specs/python_host.h"
#include "specs/specs.h"

enum {
    GRACE_MS = 2000, /* for a child to write its stack trace after a time-out */
    SLICE_MS = 10,
    SPARE_CPU = 10, /* seconds by which the CPU limit, a fallback, exceeds the time-out */
    FIRST_FD = 3,
    OPEN_BELOW = FIRST_FD + ZYGOTE_FILE, /* the file closes its own descriptor */
    MAX_FILES = 64,
    MAX_OUTPUT = 1 << 30, /* bytes of JSON */
};

#define SIGNAL_BIT(s) (UINT64_C(1) << ((s) -1))

static const char program_name[] = "halcyon-python"; /* argv[0] of the zygote */

/* What every child is confined to; the folder of the file is put at `folder`. */
static struct {
    struct sandbox_filter filter;
    const char **readable, **folder; /* ends with NULL */
} confinement;

/* Bytes of address space in use.  Limits are added to it, so that they allow the same amount under
 * a sanitizer, which reserves much. */
static uint64_t address_space(void)
{
    unsigned long pages = 0;
    FILE *f = fopen("/proc/self/statm", "re");

    if (!f)
        return 0;
    if (fscanf(f, "%lu", &pages) != 1)
        pages = 0;
    fclose(f);
    return (uint64_t) pages * (uint64_t) sysconf(_SC_PAGESIZE);
}

static void set_limit(__rlimit_resource_t what, uint64_t value)
{
    struct rlimit limit;

    if (getrlimit(what, &limit) < 0)
        return;
    if (value < limit.rlim_max)
        limit.rlim_max = value;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(what, &limit);
}

/* Writes the final record of a file that could not be loaded for a reason of the system's. */
static void report(int lines, const struct why *w)
{
    json_t *record = json_pack("{s:s, s:s}", "error", w->text, "kind", "system");

    if (record && json_dumpfd(record, lines, 0) == 0 && write(lines, "\n", 1) == 1)
        json_decref(record);
}

static void limit_resources(const struct python_zygote_request *r)
{
    const uint64_t output = r->memory_limit < MAX_OUTPUT ? r->memory_limit : MAX_OUTPUT;

    set_limit(RLIMIT_CORE, 0);
    set_limit(RLIMIT_NOFILE, MAX_FILES);
    set_limit(RLIMIT_NPROC, 0);
    set_limit(RLIMIT_MEMLOCK, 0);
    set_limit(RLIMIT_CPU, (uint64_t) r->timeout + SPARE_CPU);
    set_limit(RLIMIT_FSIZE, output);
    set_limit(RLIMIT_AS, address_space() + r->memory_limit);
}

/* What the filter is compiled from, and what it is used with. */
static struct sandbox_options options_of(const char *const *readable)
{
    return (struct sandbox_options){ .readable = readable,
                                     .only_computes = true,
                                     .exit_status = CHILD_DONE,
                                     .kept_signals = SIGNAL_BIT(SIGXCPU) | SIGNAL_BIT(SIGSYS) |
                                                     SIGNAL_BIT(SIGXFSZ) | SIGNAL_BIT(SIGPIPE),
                                     .open_below = OPEN_BELOW };
}

/* Moves the descriptors to FIRST_FD and on, and closes the others. */
static void arrange(const int fd[ZYGOTE_FDS])
{
    int spare[ZYGOTE_FDS];

    for (int i = 0; i < ZYGOTE_FDS; i++)
        spare[i] = fcntl(fd[i], F_DUPFD, FIRST_FD + ZYGOTE_FDS);
    for (int i = 0; i < ZYGOTE_FDS; i++)
        dup2(spare[i], FIRST_FD + i);
    close_range(FIRST_FD + ZYGOTE_FDS, ~0u, 0);
}

static int confine(const struct python_zygote_request *r, struct why *w)
{
    struct sandbox_options o = options_of(confinement.readable);

    *confinement.folder = *r->folder ? r->folder : NULL;
    if (confinement.filter.code)
        o.filter = &confinement.filter;
    if (chdir(*r->folder ? r->folder : "/") < 0) /* what the caller's folder is has no influence */
        return why_fail(w, WHY_SYSTEM, "%s: %s", r->folder, strerror(errno));
    limit_resources(r);
    return sandbox_enter(&o, NULL, w);
}

/* The child: restricts itself and loads the file. */
static _Noreturn void run_child(const struct python_zygote_request *r, const int fd[ZYGOTE_FDS])
{
    const int lines = FIRST_FD + ZYGOTE_LINES, trace = FIRST_FD + ZYGOTE_TRACE;
    struct why why = { 0 };

    arrange(fd);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (python_host_trace(trace) == 0 && confine(r, &why) == 0)
        python_host_load(r->kind, r->path, FIRST_FD + ZYGOTE_FILE, lines);
    else if (*why.text)
        report(lines, &why);
    _exit(CHILD_DONE);
}

/* Kills all remaining descendants of the child: where the kernel has no seccomp there may be some.
 * In a process namespace of its own this process is the first one; elsewhere it is a subreaper, and
 * orphans become its children, even from other sessions and process groups. */
static void reap_descendants(void)
{
    char path[64];
    int pid;

    if (getpid() == 1) {
        kill(-1, SIGKILL);
        while (waitpid(-1, NULL, 0) > 0 || errno == EINTR) {
        }
        return;
    }
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int) getpid());
    for (;;) {
        FILE *children = fopen(path, "re");
        bool any = false;
        while (children && fscanf(children, "%d", &pid) == 1) {
            any = true;
            kill(pid, SIGKILL);
        }
        if (children)
            fclose(children);
        if (!any)
            return;
        waitpid(-1, NULL, 0);
    }
}

/* Waits until the child ends (1), the milliseconds are over (0), or the caller has closed its
 * socket (-1). */
static int wait_for(int pidfd, int socket, int ms)
{
    struct pollfd fds[] = { { .fd = pidfd, .events = POLLIN }, { .fd = socket, .events = 0 } };

    while (poll(fds, 2, ms) < 0)
        if (errno != EINTR)
            return -1;
    return fds[0].revents ? 1 : fds[1].revents ? -1 : 0;
}

/* Asks a child that has exceeded its time for a stack trace. */
static void request_trace(pid_t pid, int pidfd, int socket, int trace)
{
    char first = 0;

    kill(pid, SIGXCPU);
    for (int ms = 0; ms < GRACE_MS && !first; ms += SLICE_MS)
        if (wait_for(pidfd, socket, SLICE_MS) != 0 || pread(trace, &first, 1, 0) < 0)
            return;
    wait_for(pidfd, socket, SLICE_MS);
}

static struct python_zygote_reply load_in_child(const struct python_zygote_request *r, int socket,
                                                const int fd[ZYGOTE_FDS])
{
    struct python_zygote_reply reply = { .end = ENDED_UNSTARTED };
    int status = 0;

    if (python_host_preload(r->kind, r->path, fd[ZYGOTE_FILE], reply.prefix, sizeof reply.prefix) <
        0)
        snprintf(reply.prefix, sizeof reply.prefix, "\xff"); /* no valid name has it */
    pid_t pid = fork();
    if (pid == 0)
        run_child(r, fd);
    int pidfd = pid < 0 ? -1 : pidfd_open(pid, 0);
    reply.value = errno;
    if (pid < 0)
        return reply;
    int ended = pidfd < 0 ? -1 : wait_for(pidfd, socket, (int) (r->timeout * 1000));
    if (ended == 0)
        request_trace(pid, pidfd, socket, fd[ZYGOTE_TRACE]);
    kill(pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    reap_descendants();
    if (pidfd < 0)
        return reply;
    close(pidfd);
    reply.end = ended <= 0 ? ENDED_OVERTIME : WIFSIGNALED(status) ? ENDED_SIGNAL : ENDED_EXIT;
    reply.value = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
    return reply;
}

/* 1: a request; 0: the caller has closed its socket. */
static int receive(int socket, struct python_zygote_request *r, int fd[ZYGOTE_FDS])
{
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(ZYGOTE_FDS * sizeof(int))];
    } control;
    struct iovec iov = { .iov_base = r, .iov_len = sizeof *r };
    struct msghdr msg = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control
    };
    ssize_t n;

    do
        n = recvmsg(socket, &msg, MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
    if (n != (ssize_t) sizeof *r || !c || c->cmsg_len != CMSG_LEN(ZYGOTE_FDS * sizeof(int)))
        return 0;
    memcpy(fd, CMSG_DATA(c), ZYGOTE_FDS * sizeof(int));
    return 1;
}

/* ---- the process */

/* Variables that the program itself may need to start: those of the dynamic linker and of
 * sanitizers. */
static const char *const kept[] = { "LD_LIBRARY_PATH=", "LD_PRELOAD=",    "ASAN_OPTIONS=",
                                    "LSAN_OPTIONS=",    "UBSAN_OPTIONS=", "TSAN_OPTIONS=" };

enum { N_KEPT = sizeof kept / sizeof *kept };

static void keep_variables(char *environment[N_KEPT + 1])
{
    int n = 0;

    for (char **e = environ; e && *e; e++)
        for (int i = 0; i < N_KEPT; i++)
            if (n < N_KEPT && strncmp(*e, kept[i], strlen(kept[i])) == 0)
                environment[n++] = *e;
    environment[n] = NULL;
}

int python_zygote_start(int socket)
{
    char *const argv[] = { (char *) (uintptr_t) program_name, NULL };
    char *environment[N_KEPT + 1];
    sigset_t none;
    pid_t pid = sandbox_fork(SPECS_NAMESPACES);

    if (pid != 0)
        return pid < 0 ? errno : 0;
    setsid();
    for (int s = 1; s < NSIG; s++)
        signal(s, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    int moved = fcntl(socket, F_DUPFD, FIRST_FD);
    int null = open("/dev/null", O_RDWR);
    for (int fd = 0; fd < FIRST_FD; fd++)
        dup2(null, fd);
    if (moved != FIRST_FD)
        dup2(moved, FIRST_FD);
    close_range(FIRST_FD + 1, ~0u, 0);
    keep_variables(environment);
    execve("/proc/self/exe", argv, environment);
    _exit(127);
}

/* Determines what every child is confined to. */
static int prepare_confinement(struct why *w)
{
    size_t n = 0;

    if (!sandbox_available().landlock)
        python_host_import_common();
    TRY(python_host_library(&confinement.readable, &n, w));
    confinement.folder = &confinement.readable[n];
    const struct sandbox_options o = options_of(confinement.readable);
    return sandbox_compile(&o, &confinement.filter, w);
}

static _Noreturn void serve(int socket)
{
    static struct python_zygote_request request;
    struct python_zygote_greeting greeting = { .ready = 0 };
    int fd[ZYGOTE_FDS];

    clearenv();
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    sandbox_be_first_to_go();
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    prctl(PR_SET_DUMPABLE, 0);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    greeting.ready =
        python_host_start(&greeting.why) == 0 && prepare_confinement(&greeting.why) == 0;
    if (send(socket, &greeting, sizeof greeting, MSG_NOSIGNAL) < 0 || !greeting.ready)
        _exit(1);
    while (receive(socket, &request, fd)) {
        struct python_zygote_reply reply = load_in_child(&request, socket, fd);
        for (int i = 0; i < ZYGOTE_FDS; i++)
            close(fd[i]);
        if (send(socket, &reply, sizeof reply, MSG_NOSIGNAL) < 0)
            break;
    }
    _exit(0);
}

/* The start of the program that python_zygote_start() executes: before main(), since that is the
 * caller's. */
__attribute__((constructor)) static void serve_if_started(int argc, char **argv)
{
    int type = 0;
    socklen_t size = sizeof type;

    if (argc == 1 && strcmp(argv[0], program_name) == 0 &&
        getsockopt(FIRST_FD, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_SEQPACKET) {
        fcntl(FIRST_FD, F_SETFD, FD_CLOEXEC);
        serve(FIRST_FD);
    }
}
