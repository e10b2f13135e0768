#include "harness/run/debugger.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LOOK_US = 10000 };

int debugger_find(char ret_path[PATH_MAX], struct why *w)
{
    const char *given = getenv("HALCYON_GDB"), *name = given && *given ? given : "gdb";
    const char *folders = strchr(name, '/') ? "" : getenv("PATH");
    for (const char *at = folders; at; at = *at ? at + 1 : NULL) {
        int length = (int) strcspn(at, ":");
        snprintf(ret_path, PATH_MAX, "%.*s%s%s", length, at, length ? "/" : "", name);
        if (access(ret_path, X_OK) == 0)
            return 0;
        at += length;
    }
    return why_fail(w, WHY_INVALID,
                    "cannot find the debugger %s: install it, or name another one with "
                    "HALCYON_GDB=PATH",
                    name);
}

/* Without a terminal: with this process's input, and with stderr for its output, as stdout may be
 * JSON. */
static int start(struct debugger *d, const char *path, pid_t process, struct why *w)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t interrupt;
    char number[16];
    char *argv[] = { (char *) (uintptr_t) path, (char *) "-q", (char *) "-p", number, NULL };
    int terminal = open("/dev/tty", O_RDWR | O_CLOEXEC);
    snprintf(number, sizeof number, "%d", (int) process);
    sigemptyset(&interrupt);
    sigaddset(&interrupt, SIGINT);
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setsigdefault(&attributes, &interrupt);
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO && terminal >= 0; fd++)
        posix_spawn_file_actions_adddup2(&files, terminal, fd);
    if (terminal < 0)
        posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO);
    int error = posix_spawn(&d->pid, path, &files, &attributes, argv, environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    if (terminal >= 0)
        close(terminal);
    if (!error)
        return 0;
    d->pid = 0;
    return why_fail(w, WHY_SYSTEM, "cannot start %s: %s", path, strerror(error));
}

/* 0: none.  -1: the process has ended. */
static long tracer_of(pid_t process)
{
    char path[64], line[128];
    long tracer = -1;
    snprintf(path, sizeof path, "/proc/%d/status", (int) process);
    FILE *file = fopen(path, "re");
    while (file && tracer < 0 && fgets(line, sizeof line, file))
        sscanf(line, "TracerPid: %ld", &tracer);
    if (file)
        fclose(file);
    return tracer;
}

int debugger_attach(struct debugger *d, pid_t process, struct why *w)
{
    const struct sigaction ignore = { .sa_handler = SIG_IGN };
    char path[PATH_MAX];
    TRY(debugger_find(path, w));
    fflush(NULL);
    TRY(start(d, path, process, w));
    sigaction(SIGINT, &ignore, &d->interrupt);
    while (tracer_of(process) == 0) {
        debugger_look(d);
        if (!d->pid)
            return why_fail(w, WHY_SYSTEM, "%s has ended before it traced the driver's process",
                            path);
        usleep(LOOK_US);
    }
    return 0;
}

static void note_end(struct debugger *d)
{
    sigaction(SIGINT, &d->interrupt, NULL);
    d->pid = 0;
}

void debugger_look(struct debugger *d)
{
    if (d->pid && waitpid(d->pid, NULL, WNOHANG) != 0)
        note_end(d);
}

void debugger_wait(struct debugger *d)
{
    if (!d->pid)
        return;
    while (waitpid(d->pid, NULL, 0) < 0 && errno == EINTR) {
    }
    note_end(d);
}
