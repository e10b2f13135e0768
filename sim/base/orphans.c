#include "sim/base/orphans.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

void orphans_adopt(void)
{
    prctl(PR_SET_CHILD_SUBREAPER, 1);
}

static void kill_children(void)
{
    char path[64], text[1 << 12], *at;

    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int) getpid());
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = 0;
    at = text;
    for (long pid; (pid = strtol(at, &at, 10)) > 0;)
        kill((pid_t) pid, SIGKILL);
}

void orphans_kill(void)
{
    do
        kill_children();
    while (waitpid(-1, NULL, 0) > 0);
}
