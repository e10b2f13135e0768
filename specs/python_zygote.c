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

#include "specs/python_host.h"

enum {
    GRACE = 2,      /* seconds for a child to write its stack trace after a time-out */
    SPARE_CPU = 10, /* seconds by which the CPU limit, a fallback, exceeds the time-out */
    FIRST_FD = 3,
    MAX_FILES = 256
};

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

/* The child: restricts itself and loads the file. */
static _Noreturn void run_child(const struct python_zygote_request *r, int socket, const int fd[2])
{
    close(socket);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    set_limit(RLIMIT_CORE, 0);
    set_limit(RLIMIT_NOFILE, MAX_FILES);
    set_limit(RLIMIT_CPU, (uint64_t) r->timeout + SPARE_CPU);
    set_limit(RLIMIT_FSIZE, r->memory_limit);
    set_limit(RLIMIT_AS, address_space() + r->memory_limit);
    _exit(python_host_load(r->kind, r->path, fd[0], fd[1], r->timeout) < 0 ? 1 : 0);
}

/* Kills all remaining descendants of the child.  This process is their subreaper: orphans become
 * its children, even from other sessions and process groups. */
static void reap_descendants(void)
{
    char path[64];
    int pid;

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

/* Waits until the child ends (true), its time is over, or the caller has closed its socket. */
static bool wait_in_time(int pidfd, int socket, double timeout)
{
    struct pollfd fds[] = { { .fd = pidfd, .events = POLLIN }, { .fd = socket, .events = 0 } };
    int ms = (int) ((timeout + GRACE) * 1000);

    while (poll(fds, 2, ms) < 0)
        if (errno != EINTR)
            return false;
    return fds[0].revents != 0;
}

static struct python_zygote_reply load_in_child(const struct python_zygote_request *r, int socket,
                                                const int fd[2])
{
    struct python_zygote_reply reply = { .end = ENDED_UNSTARTED };
    int status = 0;

    python_host_preload(r->kind, r->path);
    pid_t pid = fork();
    if (pid == 0)
        run_child(r, socket, fd);
    int pidfd = pid < 0 ? -1 : pidfd_open(pid, 0);
    reply.value = errno;
    if (pid < 0)
        return reply;
    bool in_time = pidfd >= 0 && wait_in_time(pidfd, socket, r->timeout);
    kill(pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    reap_descendants();
    if (pidfd < 0)
        return reply;
    close(pidfd);
    reply.end = !in_time ? ENDED_OVERTIME : WIFSIGNALED(status) ? ENDED_SIGNAL : ENDED_EXIT;
    reply.value = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
    return reply;
}

/* 1: a request; 0: the caller has closed its socket. */
static int receive(int socket, struct python_zygote_request *r, int fd[2])
{
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(2 * sizeof(int))];
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
    if (n != (ssize_t) sizeof *r || !c || c->cmsg_len != CMSG_LEN(2 * sizeof(int)))
        return 0;
    memcpy(fd, CMSG_DATA(c), 2 * sizeof(int));
    return 1;
}

/* Drops what the fork inherited: terminal, descriptors, signal handlers.  Moves the socket to
 * FIRST_FD. */
static void detach(int *socket)
{
    sigset_t none;

    setsid();
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    for (int s = 1; s < SIGRTMAX; s++)
        signal(s, SIG_DFL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    int null = open("/dev/null", O_RDWR);
    for (int fd = 0; fd < FIRST_FD; fd++)
        dup2(null, fd);
    if (*socket != FIRST_FD)
        dup2(*socket, FIRST_FD);
    *socket = FIRST_FD;
    close_range(FIRST_FD + 1, ~0u, 0);
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
}

_Noreturn void python_zygote_serve(int socket)
{
    static struct python_zygote_request request;
    struct python_zygote_greeting greeting = { .ready = 0 };
    int fd[2];

    detach(&socket);
    greeting.ready = python_host_start(&greeting.why) == 0;
    if (send(socket, &greeting, sizeof greeting, MSG_NOSIGNAL) < 0 || !greeting.ready)
        _exit(1);
    while (receive(socket, &request, fd)) {
        struct python_zygote_reply reply = load_in_child(&request, socket, fd);
        close(fd[0]);
        close(fd[1]);
        if (send(socket, &reply, sizeof reply, MSG_NOSIGNAL) < 0)
            break;
    }
    _exit(0);
}
