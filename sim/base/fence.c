#define _GNU_SOURCE
#include "sim/base/fence.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "golden/base/clock.h"

/* Orders memory: what was written before a fence is signalled is visible after waiting for it.  The
 * pipe guarantees that in the kernel; the atomic states it in terms of C (and to ThreadSanitizer).
 */
static atomic_uint signals;

int fence_open(struct fence *ret_fence)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) < 0)
        return -1;
    *ret_fence = (struct fence){ .wait = ends[0], .signal = ends[1] };
    return 0;
}

/* Writes a byte.  If all readers have closed the pipe, the SIGPIPE is discarded. */
static void write_quietly(int fd)
{
    sigset_t pipe_only, before, pending;
    struct timespec at_once = { 0 };

    sigemptyset(&pipe_only);
    sigaddset(&pipe_only, SIGPIPE);
    sigpending(&pending);
    pthread_sigmask(SIG_BLOCK, &pipe_only, &before);
    if (write(fd, "1", 1) < 0 && errno == EPIPE && !sigismember(&pending, SIGPIPE))
        sigtimedwait(&pipe_only, NULL, &at_once);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void fence_complete(struct fence *f, bool ok)
{
    if (f->signal < 0)
        return;
    atomic_fetch_add(&signals, 1);
    if (ok)
        write_quietly(f->signal);
    close(f->signal);
    f->signal = -1;
}

bool fence_all_open(uint32_t n, const int *fds)
{
    for (uint32_t i = 0; i < n; i++)
        if (fds[i] < 0 || fcntl(fds[i], F_GETFD) < 0)
            return false;
    return true;
}

/* Waits for one fence as fence_wait_or_stop(); until: on clock_steady_ns(), UINT64_MAX: no limit.
 */
static int wait_one(int fd, uint64_t until, int stop)
{
    struct pollfd p[] = { { .fd = fd, .events = POLLIN }, { .fd = stop, .events = POLLIN } };

    for (;;) {
        uint64_t now = clock_steady_ns(), left = until == UINT64_MAX ? 0
                                                 : until > now       ? until - now
                                                                     : 0;
        struct timespec t = { (time_t) (left / 1000000000), (long) (left % 1000000000) };
        int rc = ppoll(p, 2, until == UINT64_MAX ? NULL : &t, NULL);
        if (rc < 0 && errno == EINTR)
            continue;
        if (rc <= 0)
            return rc;
        return p[0].revents & POLLIN ? 1 : -1;
    }
}

int fence_wait(uint32_t n, const int *fds, uint64_t timeout_ns)
{
    return fence_wait_or_stop(n, fds, timeout_ns, -1);
}

int fence_wait_or_stop(uint32_t n, const int *fds, uint64_t timeout_ns, int stop)
{
    uint64_t now = clock_steady_ns();
    uint64_t until = timeout_ns < UINT64_MAX - now ? now + timeout_ns : UINT64_MAX;
    int rc = 1;

    for (uint32_t i = 0; i < n && rc > 0; i++)
        rc = wait_one(fds[i], until, stop);
    (void) atomic_load(&signals);
    return rc;
}
