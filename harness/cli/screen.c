#include "harness/cli/screen.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* Shared with the processes that are forked later. */
struct shown {
    pthread_mutex_t lock; /* held while something is written */
    unsigned n;           /* lines of the block; 0: there is none */
    unsigned cells[SCREEN_LINES];
};
static struct shown *shown; /* NULL: not started */
static volatile sig_atomic_t continued;

bool screen_is_terminal(void)
{
    const char *term = getenv("TERM");
    return isatty(STDERR_FILENO) == 1 && term && *term && strcmp(term, "dumb") != 0;
}

/* After a stop (Ctrl-Z) others have written to the terminal: the block is left where it was. */
static void on_continue(int signal)
{
    (void) signal;
    continued = 1;
}

void screen_start(void)
{
    pthread_mutexattr_t attributes;
    struct sigaction action = { .sa_handler = on_continue, .sa_flags = SA_RESTART };
    if (shown)
        return;
    void *page =
        mmap(NULL, sizeof *shown, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return;
    shown = page;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&shown->lock, &attributes);
    pthread_mutexattr_destroy(&attributes);
    sigaction(SIGCONT, &action, NULL);
}

/* A process that dies or is stopped while it holds the lock delays the others only. */
static bool lock(void)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 2;
    int result = pthread_mutex_timedlock(&shown->lock, &until);
    if (result == EOWNERDEAD)
        pthread_mutex_consistent(&shown->lock);
    return result == 0 || result == EOWNERDEAD;
}

static void unlock(bool is_locked)
{
    if (is_locked)
        pthread_mutex_unlock(&shown->lock);
}

struct screen_size screen_size(void)
{
    struct winsize size;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) < 0 || !size.ws_col || !size.ws_row)
        return (struct screen_size){ 80, 24 };
    return (struct screen_size){ size.ws_col, size.ws_row };
}

/* Moves to the beginning of the block.  In a terminal that has become narrower its lines take
 * several rows each. */
static void put_return(struct buffer *b)
{
    const unsigned columns = screen_size().columns;
    unsigned rows = 0;
    for (unsigned i = 0; i < shown->n; i++)
        rows += shown->cells[i] > columns ? (shown->cells[i] + columns - 1) / columns : 1;
    if (rows && !continued)
        buffer_printf(b, "\r\033[%uA", rows);
    continued = 0;
    shown->n = 0;
}

static void write_all(int fd, const struct buffer *b)
{
    for (size_t at = 0; at < b->length;) {
        ssize_t n = write(fd, b->data + at, b->length - at);
        if (n < 0 && errno != EINTR)
            return;
        at += n > 0 ? (size_t) n : 0;
    }
}

static bool is_in_background(void)
{
    pid_t foreground = tcgetpgrp(STDERR_FILENO);
    return foreground >= 0 && foreground != getpgrp();
}

void screen_draw(const struct screen_line *line, unsigned n)
{
    struct buffer b = { 0 };
    if (!shown || is_in_background())
        return;
    bool is_locked = lock();
    buffer_puts(&b, "\033[?25l\033[?7l"); /* without the cursor; nothing wraps */
    put_return(&b);
    for (unsigned i = 0; i < n && i < SCREEN_LINES; i++) {
        buffer_put(&b, line[i].text.data, line[i].text.length);
        buffer_puts(&b, "\033[K\n");
        shown->cells[i] = line[i].cells;
        shown->n = i + 1;
    }
    buffer_puts(&b, "\033[J\033[?7h\033[?25h");
    write_all(STDERR_FILENO, &b);
    unlock(is_locked);
    buffer_done(&b);
}

void screen_clear(void)
{
    struct buffer b = { 0 };
    if (!shown || !shown->n || is_in_background())
        return;
    bool is_locked = lock();
    put_return(&b);
    buffer_puts(&b, "\033[J");
    write_all(STDERR_FILENO, &b);
    unlock(is_locked);
    buffer_done(&b);
}

void screen_print(int fd, const char *line, size_t length)
{
    struct buffer b = { 0 };
    bool is_locked = shown && lock();
    if (shown && shown->n) {
        put_return(&b);
        buffer_puts(&b, "\033[J");
    }
    buffer_put(&b, line, length);
    write_all(fd, &b);
    unlock(is_locked);
    buffer_done(&b);
}
