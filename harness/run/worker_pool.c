/* The parent's end of the worker pool: forks workers, distributes items, reads messages, and
 * replaces workers that died. */
#include "harness/run/worker_pool.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "golden/base/clock.h"
#include "golden/base/trace_file.h"
#include "harness/run/worker_pool_internal.h"
#include "sim/base/process_clock.h"
#include "sim/isolation/host_process.h"

enum {
    TICK_MS = 50,
    MAX_WORKERS = 1024,
    MAX_START_DEATHS = 3,
    MAX_START_KILLS = 30,
    MOST_PIECE = 2
};

struct worker {
    pid_t pid; /* 0: none */
    int fd;
    int prints; /* memory file of what it prints; 0: none */
    struct worker_pool_slot *slot;
    struct buffer in;
    struct worker_pool_job job;      /* what it is at; job.item == job.end: idle */
    uint64_t heard;                  /* when it last sent something */
    uint64_t begun;                  /* when it was given its item, or had completed the last */
    uint64_t n_completed, completed; /* items it has completed; the last of them */
    char nonsense[160];              /* why its messages make no sense; "": they do */
    bool has_started;                /* its start() has returned */
    bool is_ending;                  /* it gets no more jobs and closes its targets; its job, if
                                        any, is for the worker that takes its place */
    uint64_t begun_with, used; /* with options->most: bytes of anonymous memory at its start; more
                                  than these */
    uint64_t timed;            /* worker_since() when the clock was started */
    struct process_clock clock;
};

struct worker_pool {
    const struct worker_pool_options *options;
    const struct worker_pool_work *work;
    void *user;
    struct worker *worker;
    unsigned n_workers;
    struct worker_pool_slot *slots;
    uint64_t next, n_items; /* first item not handed out yet */
    uint64_t ticked;
    unsigned start_deaths; /* one after the other, without a worker that came up */
};

/* A driver or a model that asks for too much gets no memory, and the machine keeps its own.
 * Sanitizers, of this program or preloaded for a driver, map terabytes of shadow: no limit then. */
static void limit_memory(uint64_t more)
{
    const rlim_t bytes = ((rlim_t) 8 << 30) + more;
    const struct rlimit limit = { bytes, bytes };
    if (!dlsym(RTLD_DEFAULT, "__asan_init") && !dlsym(RTLD_DEFAULT, "__tsan_init"))
        setrlimit(RLIMIT_AS, &limit);
}

/* The child of a fork: forgets the parent's handlers and the other workers' descriptors. */
static _Noreturn void become_worker(struct worker_pool *p, struct worker *self, int fd,
                                    pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(0);
    limit_memory(p->options->memory);
    signal(SIGINT, SIG_IGN); /* ^C reaches the whole group; the parent decides */
    signal(SIGTERM, SIG_DFL);
    for (unsigned i = 0; i < p->n_workers; i++)
        if (p->worker[i].pid)
            close(p->worker[i].fd);
    if (self->prints)
        dup2(self->prints, STDERR_FILENO);
    dup2(STDERR_FILENO, STDOUT_FILENO); /* stdout is the parent's, and drivers print */
    trace_file_name_process("worker");
    struct worker_pool_link link = { .fd = fd, .slot = self->slot };
    link.prints = self->prints ? self->prints : -1;
    worker_pool_worker(&link, p->work, p->user);
}

/* Without such a file (no memory, old kernel) workers print to stderr. */
static void open_prints(struct worker_pool *p, struct worker *k)
{
    if (p->options->loud)
        return;
    if (!k->prints) {
        int fd = memfd_create("prints", MFD_CLOEXEC);
        k->prints = fd > 0 && fcntl(fd, F_SETFL, O_APPEND) == 0 ? fd : 0;
    } else if (ftruncate(k->prints, 0) < 0) {
        close(k->prints);
        k->prints = 0;
    }
}

static void read_prints(const struct worker *k, struct worker_pool_death *d)
{
    char text[4096];
    size_t n = worker_pool_read_end(k->prints ? k->prints : -1, text, sizeof text);
    text_last_line(text, d->last_output, sizeof d->last_output);
    size_t from = n < sizeof d->printed ? 0 : n - sizeof d->printed + 1;
    memcpy(d->printed, text + from, n - from + 1);
}

static int worker_spawn(struct worker_pool *p, struct worker *k, struct why *w)
{
    int fd[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd) < 0)
        return why_fail(w, WHY_SYSTEM, "cannot make a socket pair: %s", strerror(errno));
    open_prints(p, k);
    fflush(stdout);
    fflush(stderr);
    atomic_store(&k->slot->mark, 0);
    atomic_store(&k->slot->allowed, 0);
    atomic_store(&k->slot->since, clock_steady_ns());
    pid_t parent = getpid(), pid = fork();
    if (pid == 0) {
        close(fd[0]);
        become_worker(p, k, fd[1], parent);
    }
    close(fd[1]);
    if (pid < 0) {
        close(fd[0]);
        return why_fail(w, WHY_SYSTEM, "cannot start a worker: %s", strerror(errno));
    }
    k->pid = pid;
    k->fd = fd[0];
    k->heard = clock_steady_ns();
    k->in.length = 0;
    k->n_completed = 0;
    k->begun_with = p->options->most ? host_memory_of(pid) : 0;
    k->nonsense[0] = 0;
    k->has_started = k->is_ending = false;
    return 0;
}

/* Waits for a worker that has ended, or is about to. */
static int worker_reap(struct worker *k)
{
    int status = 0;
    while (waitpid(k->pid, &status, 0) < 0 && errno == EINTR) {
    }
    close(k->fd);
    k->pid = 0;
    return status;
}

static void worker_send_job(struct worker *k)
{
    atomic_store(&k->slot->mark, 0);
    atomic_store(&k->slot->since, clock_steady_ns());
    k->heard = k->begun = clock_steady_ns();
    /* A job is far smaller than the socket's buffer and at most one is in it: no short write.  A
     * dead worker shows as the end of its stream. */
    ssize_t n = send(k->fd, &k->job, sizeof k->job, MSG_NOSIGNAL);
    (void) n;
}

/* Small pieces, single items at the end, so that workers finish together: items that take long are
 * often variants of one test, and neighbours. */
static void hand_out(struct worker_pool *p, struct worker *k)
{
    uint64_t left = p->n_items - p->next, piece = left / (8 * (uint64_t) p->n_workers);
    if (!left || (p->work->enough && p->work->enough(p->user)))
        return;
    piece = piece < 1 || p->options->one_by_one ? 1 : piece > MOST_PIECE ? MOST_PIECE : piece;
    k->job = (struct worker_pool_job){ .item = p->next, .end = p->next + piece };
    p->next += piece;
    worker_send_job(k);
}

static bool worker_idle(const struct worker *k)
{
    return k->job.item == k->job.end;
}

/* Lets a worker close its targets. */
static void worker_close(struct worker *k)
{
    k->is_ending = true;
    shutdown(k->fd, SHUT_WR);
}

enum { ITEM_AGAIN = 2 };

/* After the item's last message.  0: the job has moved on; ITEM_AGAIN: the item is for a new
 * worker; else the result of complete(). */
static int end_item(struct worker_pool *p, struct worker *k, struct why *w)
{
    uint32_t step = 0;
    int again = p->work->again ? p->work->again(k->job.item, &step, p->user, w) : 0;
    TRY(again);
    k->job.step = step;
    if (again)
        return ITEM_AGAIN;
    int r = p->work->complete(k->job.item, p->user, w);
    if (r)
        return r;
    k->job.item++;
    k->job.step = 0;
    return 0;
}

static int take_complete(struct worker_pool *p, struct worker *k, struct why *w)
{
    uint64_t item = k->job.item;
    int r = end_item(p, k, w);
    if (r == ITEM_AGAIN)
        worker_close(k);
    if (r)
        return r == ITEM_AGAIN ? 0 : r;
    k->completed = item;
    k->begun = clock_steady_ns();
    k->n_completed++;
    if (worker_idle(k))
        hand_out(p, k);
    return 0;
}

/* 1: the frame makes no sense. */
static int take_frame(struct worker_pool *p, struct worker *k, const struct worker_pool_frame *f,
                      const char *bytes, struct why *w)
{
    bool started = k->has_started;
    if (f->kind == FRAME_START_FAILED && !started)
        return why_fail(w, WHY_SYSTEM, "%.*s", (int) (f->length < 400 ? f->length : 400), bytes);
    if (f->kind == FRAME_STARTED && !started) {
        k->has_started = true;
        return 0;
    }
    if (started && (!worker_idle(k) || k->is_ending) && f->kind == FRAME_MESSAGE)
        return p->work->message(worker_idle(k) || k->is_ending ? WORKER_POOL_NO_ITEM : k->job.item,
                                bytes, f->length, p->user, w);
    if (started && !worker_idle(k) && !k->is_ending && f->kind == FRAME_COMPLETE)
        return take_complete(p, k, w);
    why_fail(w, WHY_SYSTEM, "an answer without a question (kind %u)", f->kind);
    return 1;
}

/* 1: what the worker sends makes no sense. */
static int take_frames(struct worker_pool *p, struct worker *k, struct why *w)
{
    const uint32_t limit = p->options->longest_message ? p->options->longest_message : FRAME_LIMIT;
    size_t at = 0;
    for (struct worker_pool_frame f; k->in.length - at >= sizeof f; at += sizeof f + f.length) {
        memcpy(&f, k->in.data + at, sizeof f);
        if (f.length > limit) {
            why_fail(w, WHY_SYSTEM, "an answer of %u bytes", f.length);
            return 1;
        }
        if (k->in.length - at - sizeof f < f.length)
            break;
        int r = take_frame(p, k, &f, k->in.data + at + sizeof f, w);
        if (r)
            return r;
    }
    buffer_drop(&k->in, at);
    return 0;
}

/* 1: there may be more; 0: nothing left for now; -1 with errno 0: the stream has ended. */
static int read_some(struct worker *k)
{
    char bytes[1 << 16];
    ssize_t n = recv(k->fd, bytes, sizeof bytes, MSG_DONTWAIT);
    if (n > 0) {
        buffer_put(&k->in, bytes, (size_t) n);
        k->heard = clock_steady_ns();
        return 1;
    }
    return n < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -1;
}

/* Why the parent ends a worker, if it does. */
enum ending { ENDED_ITSELF, ENDED_LATE, ENDED_TOO_LARGE };

static int worker_lost(struct worker_pool *p, struct worker *k, enum ending why, struct why *w);

static int worker_read(struct worker_pool *p, struct worker *k, struct why *w)
{
    int more;
    while ((more = read_some(k)) > 0) {
        if (k->in.failed)
            return why_no_memory_for(w, "a worker's answer");
        struct why why = { 0 };
        int r = take_frames(p, k, &why);
        if (r > 0) {
            snprintf(k->nonsense, sizeof k->nonsense, "%.150s", why.text);
            return worker_lost(p, k, ENDED_ITSELF, w);
        }
        if (r < 0) {
            *w = why;
            return -1;
        }
    }
    return more < 0 ? worker_lost(p, k, ENDED_ITSELF, w) : 0;
}

static uint64_t worker_since(const struct worker *k)
{
    uint64_t since = atomic_load(&k->slot->since), now = clock_steady_ns();
    return since > now ? now : since > k->heard ? since : k->heard;
}

/* A worker that dies before it has come up did not die of an item. */
static int lost_at_start(struct worker_pool *p, int status, bool hang, struct why *w)
{
    bool killed = !hang && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL; /* from outside? */
    if (++p->start_deaths < (killed ? MAX_START_KILLS : MAX_START_DEATHS))
        return 0;
    if (WIFSIGNALED(status))
        return why_fail(w, WHY_SYSTEM, "workers die while they open the targets: signal %d (%s)",
                        WTERMSIG(status), strsignal(WTERMSIG(status)));
    return why_fail(w, WHY_SYSTEM, "workers end while they open the targets: exit status %d",
                    WEXITSTATUS(status));
}

static int lost_at_item(struct worker_pool *p, struct worker *k, const struct worker_pool_death *d,
                        struct why *w)
{
    uint32_t step = 0;
    int again = p->work->died(k->job.item, d, &step, p->user, w);
    TRY(again);
    if (again) {
        k->job.step = step;
        return 0;
    }
    int r = end_item(p, k, w);
    return r == 0 || r == ITEM_AGAIN ? 0 : -1;
}

/* The worker has ended by itself, or is too slow and is ended here.  A new one takes over. */
static int worker_lost(struct worker_pool *p, struct worker *k, enum ending why, struct why *w)
{
    bool started = k->has_started, hang = why == ENDED_LATE;
    struct worker_pool_death d = { .hang = hang,
                                   .is_first = !k->n_completed,
                                   .after = k->completed,
                                   .mark = atomic_load(&k->slot->mark),
                                   .step = atomic_load(&k->slot->step) };
    d.seconds = (double) (clock_steady_ns() - worker_since(k)) * 1e-9;
    memcpy(d.nonsense, k->nonsense, sizeof d.nonsense);
    d.memory = why == ENDED_TOO_LARGE ? k->used : 0;
    bool ended_here = why != ENDED_ITSELF || d.nonsense[0];
    if (ended_here)
        kill(k->pid, SIGKILL);
    int status = worker_reap(k);
    if (!ended_here)
        d.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    read_prints(k, &d);
    d.exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    if (!started)
        TRY(lost_at_start(p, status, hang, w));
    else
        p->start_deaths = 0;
    if (started && !worker_idle(k) && !k->is_ending)
        TRY(lost_at_item(p, k, &d, w));
    if (worker_idle(k) && (p->next == p->n_items || k->is_ending))
        return 0;
    TRY(worker_spawn(p, k, w));
    if (worker_idle(k))
        hand_out(p, k);
    else
        worker_send_job(k);
    return 0;
}

/* Whether it uses more memory than it may. */
static bool is_too_large(const struct worker_pool *p, struct worker *k)
{
    uint64_t now = p->options->most ? host_memory_of(k->pid) : 0;
    k->used = now > k->begun_with ? now - k->begun_with : 0;
    return k->used > p->options->most;
}

static bool is_slow(struct worker *k, const struct worker_pool_options *o)
{
    const uint64_t since = worker_since(k), limit = (uint64_t) (o->timeout * 1e9);
    if (o->longest > 0 && (double) (clock_steady_ns() - k->begun) * 1e-9 >= o->longest)
        return true;
    if (!limit)
        return false;
    if (since != k->timed)
        process_clock_start(&k->clock, k->pid);
    k->timed = since;
    return process_clock_elapsed(&k->clock) >= limit + atomic_load(&k->slot->allowed);
}

static int end_some(struct worker_pool *p, struct why *w)
{
    for (unsigned i = 0; i < p->n_workers; i++) {
        struct worker *k = &p->worker[i];
        if (!k->pid || worker_idle(k))
            continue;
        bool too_large = is_too_large(p, k);
        if (!too_large && !is_slow(k, p->options))
            continue;
        siginfo_t info = { 0 };
        bool ended = waitid(P_PID, (id_t) k->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
                     info.si_pid == k->pid;
        TRY(worker_lost(p, k, ended ? ENDED_ITSELF : too_large ? ENDED_TOO_LARGE : ENDED_LATE, w));
    }
    return 0;
}

/* Waits for answers, not beyond the next tick; polled[] has a worker's entry at its index. */
static int worker_pool_wait(struct worker_pool *p, struct pollfd *polled, struct why *w)
{
    for (unsigned i = 0; i < p->n_workers; i++)
        polled[i] =
            (struct pollfd){ .fd = p->worker[i].pid ? p->worker[i].fd : -1, .events = POLLIN };
    if (poll(polled, p->n_workers, TICK_MS) < 0 && errno != EINTR)
        return why_fail(w, WHY_SYSTEM, "cannot wait for workers: %s", strerror(errno));
    for (unsigned i = 0; i < p->n_workers; i++)
        if (polled[i].fd >= 0 && polled[i].revents)
            TRY(worker_read(p, &p->worker[i], w));
    TRY(end_some(p, w));
    if (p->work->tick && clock_steady_ns() - p->ticked >= TICK_MS * 1000000u) {
        TRY(p->work->tick(p->user, w));
        p->ticked = clock_steady_ns();
    }
    return 0;
}

static bool worker_pool_busy(const struct worker_pool *p)
{
    for (unsigned i = 0; i < p->n_workers; i++)
        if (p->worker[i].pid && !worker_idle(&p->worker[i]))
            return true;
    return false;
}

/* Whether a worker is still closing its targets; begun: when it was told to.  While it waits for a
 * driver it is heard of, as time-outs of drivers do not count waiting for a processor. */
static bool is_closing(const struct worker *k, const struct worker_pool_options *o, uint64_t begun)
{
    const double allowed = o->timeout + 2;
    const uint64_t heard = worker_since(k), since = heard > begun ? heard : begun;
    const uint64_t now = clock_steady_ns(); /* not before `heard` */

    return k->pid && (double) (now - since) * 1e-9 < allowed &&
           (double) (now - begun) * 1e-9 < PROCESS_CLOCK_SLOWEST * allowed;
}

/* Lets the workers close their targets, and takes the messages that they send meanwhile. */
static int worker_pool_end(struct worker_pool *p, struct pollfd *polled, struct why *w)
{
    const uint64_t begun = clock_steady_ns();
    for (unsigned i = 0; i < p->n_workers; i++)
        if (p->worker[i].pid)
            worker_close(&p->worker[i]);
    for (bool any = true; any;) {
        any = false;
        for (unsigned i = 0; i < p->n_workers; i++)
            any = any || is_closing(&p->worker[i], p->options, begun);
        if (any)
            TRY(worker_pool_wait(p, polled, w));
        if (p->options->stop && *p->options->stop)
            return 0; /* the verdicts are complete */
    }
    return 0;
}

static int worker_pool_loop(struct worker_pool *p, struct pollfd *polled, struct why *w)
{
    for (unsigned i = 0; i < p->n_workers; i++) {
        TRY(worker_spawn(p, &p->worker[i], w));
        hand_out(p, &p->worker[i]);
    }
    while (worker_pool_busy(p)) {
        if (p->options->stop && *p->options->stop)
            return 1;
        TRY(worker_pool_wait(p, polled, w));
    }
    TRY(worker_pool_end(p, polled, w));
    return p->next < p->n_items ? 2 : 0;
}

/* A worker that did not end in order ends when its stream does; it has a second for that. */
static void worker_end(struct worker *k, uint64_t deadline)
{
    siginfo_t info = { 0 };
    bool busy = !worker_idle(k);
    shutdown(k->fd, SHUT_WR);
    while (!busy && clock_steady_ns() < deadline && !info.si_pid) {
        struct pollfd end = { .fd = k->fd, .events = POLLIN };
        poll(&end, 1, 10); /* its end of the stream closes with it */
        if (waitid(P_PID, (id_t) k->pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0)
            break;
    }
    if (!info.si_pid)
        kill(k->pid, SIGKILL);
    worker_reap(k);
}

static void worker_pool_done(struct worker_pool *p, size_t slot_bytes)
{
    uint64_t deadline = clock_steady_ns() + 1000000000u;
    for (unsigned i = 0; p->worker && i < p->n_workers; i++) {
        struct worker *k = &p->worker[i];
        if (k->pid)
            worker_end(k, deadline);
        if (k->prints)
            close(k->prints);
        buffer_done(&k->in);
    }
    free(p->worker);
    if (p->slots != MAP_FAILED)
        munmap(p->slots, slot_bytes);
}

int worker_pool_run(const struct worker_pool_options *options, const struct worker_pool_work *work,
                    uint64_t n_items, void *user, struct why *w)
{
    if (options->in_process)
        return worker_pool_run_in_process(options, work, n_items, user, w);
    if (!n_items)
        return 0;
    uint64_t n = options->workers < 1             ? 1
                 : options->workers > MAX_WORKERS ? MAX_WORKERS
                                                  : options->workers;
    n = n > n_items ? n_items : n;
    struct worker_pool p = { .options = options, .work = work, .user = user, .n_items = n_items };
    size_t bytes = n * sizeof *p.slots;
    p.slots = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    p.worker = calloc(n, sizeof *p.worker);
    struct pollfd *polled = calloc(n, sizeof *polled);
    int r = -1;
    if (p.slots == MAP_FAILED || !p.worker || !polled) {
        why_no_memory_for(w, "%u workers", (unsigned) n);
    } else {
        p.n_workers = (unsigned) n;
        for (unsigned i = 0; i < n; i++)
            p.worker[i].slot = &p.slots[i];
        r = worker_pool_loop(&p, polled, w);
    }
    worker_pool_done(&p, bytes);
    free(polled);
    return r;
}
