#define _GNU_SOURCE
#include "sim/base/process_clock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "golden/base/clock.h"

static const uint64_t READ_NS = 100000000, LONGEST_GAP_NS = 1000000000;

void process_clock_start(struct process_clock *c, pid_t pid)
{
    c->pid = pid;
    c->looked = clock_steady_ns();
    c->passed = c->first = c->last = 0;
    c->run = c->wait = c->elapsed = 0;
    c->n_threads = 0;
}

/* ---- /proc */

/* A file of one line, which is cut off at `size`; "" if it cannot be read. */
static void read_line(int folder, const char *path, char *ret_line, size_t size)
{
    int fd = openat(folder, path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, ret_line, size - 1);

    ret_line[n > 0 ? n : 0] = 0;
    if (fd >= 0)
        close(fd);
}

static bool read_thread(int folder, const char *name, struct thread_times *ret_times)
{
    struct thread_times t = { .thread = (pid_t) strtol(name, NULL, 10) };
    char path[300], line[80];

    if (!t.thread)
        return false;
    snprintf(path, sizeof(path), "%s/schedstat", name);
    read_line(folder, path, line, sizeof(line));
    if (sscanf(line, "%" SCNu64 " %" SCNu64, &t.run, &t.wait) != 2)
        return false;
    *ret_times = t;
    return true;
}

static uint32_t read_threads(pid_t pid, struct thread_times ret_times[PROCESS_CLOCK_THREADS])
{
    char path[40];
    uint32_t n = 0;

    snprintf(path, sizeof(path), "/proc/%d/task", (int) pid);
    DIR *folder = opendir(path);
    for (struct dirent *e; folder && n < PROCESS_CLOCK_THREADS && (e = readdir(folder));)
        n += read_thread(dirfd(folder), e->d_name, &ret_times[n]);
    if (folder)
        closedir(folder);
    return n;
}

static unsigned processors_of(pid_t pid)
{
    cpu_set_t set;

    return sched_getaffinity(pid, sizeof(set), &set) == 0 ? (unsigned) CPU_COUNT(&set) : UINT_MAX;
}

/* ---- readings */

/* Where a thread's numbers were at the last reading; zeros for a new one, which may have the id of
 * one that has ended. */
static struct thread_times times_before(const struct process_clock *c, const struct thread_times *t)
{
    for (uint32_t i = 0; i < c->n_threads; i++)
        if (c->thread[i].thread == t->thread && c->thread[i].run <= t->run &&
            c->thread[i].wait <= t->wait)
            return c->thread[i];
    return (struct thread_times){ 0 };
}

static void read_times(struct process_clock *c)
{
    struct thread_times now[PROCESS_CLOCK_THREADS];
    uint32_t n = read_threads(c->pid, now);

    for (uint32_t i = 0; c->first && i < n; i++) {
        struct thread_times before = times_before(c, &now[i]);
        c->run += now[i].run - before.run;
        c->wait += now[i].wait - before.wait;
    }
    if (!c->first) {
        c->first = c->passed;
        c->processors = processors_of(c->pid);
    }
    c->last = c->passed;
    c->n_threads = n;
    memcpy(c->thread, now, n * sizeof(*now));
}

/* The time for which the process could have run, but had no processor. */
static uint64_t waited(const struct process_clock *c)
{
    const uint64_t active = c->run + c->wait, most = c->passed - c->first;
    const double runnable = (double) (active < most ? active : most);

    return active ? (uint64_t) (runnable * ((double) c->wait / (double) active)) : 0;
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

uint64_t process_clock_elapsed(struct process_clock *c)
{
    const uint64_t now = clock_steady_ns(), gap = now - c->looked;

    c->looked = now;
    c->passed += gap < LONGEST_GAP_NS ? gap : LONGEST_GAP_NS;
    if (c->passed - c->last < READ_NS)
        return c->first ? c->elapsed : c->passed;
    read_times(c);
    c->elapsed = later(c->passed - waited(c), c->first + c->run / c->processors);
    c->elapsed = later(c->elapsed, c->passed / PROCESS_CLOCK_SLOWEST);
    return c->elapsed;
}

int thread_waits_open(void)
{
    return open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
}

uint64_t thread_waited_ns(int waits)
{
    char line[80];
    ssize_t n = pread(waits, line, sizeof(line) - 1, 0);
    uint64_t wait;

    line[n > 0 ? n : 0] = 0;
    return sscanf(line, "%*u %" SCNu64, &wait) == 1 ? wait : 0;
}

int64_t process_start(int64_t pid)
{
    char path[48], text[1024];

    snprintf(path, sizeof(path), "/proc/%" PRId64 "/stat", pid);
    FILE *file = fopen(path, "re");
    if (!file)
        return kill((pid_t) pid, 0) == 0 || errno == EPERM ? -1 : 0;
    size_t n = fread(text, 1, sizeof(text) - 1, file);
    fclose(file);
    text[n] = 0;
    /* Field 22; the second one is the name in parentheses, which may contain anything, the third
     * the state. */
    const char *at = strrchr(text, ')');
    if (at && (!strncmp(at, ") Z", 3) || !strncmp(at, ") X", 3)))
        return 0;
    for (int field = 2; at && field < 22; field++)
        at = strchr(at + 1, ' ');
    return at ? strtoll(at, NULL, 10) : 0;
}
