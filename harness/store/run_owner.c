/* The process that writes a run: recorded in the database while it does, so that no second one
 * resumes the run meanwhile. */
#include "harness/store/run_owner.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { STALE_SECONDS = 60 };

/* When a process was started, in ticks since boot; 0: there is no such process, or it has ended;
 * -1: it is hidden, as one that is not dumpable is where /proc is mounted with hidepid. */
static int64_t process_start(int64_t pid)
{
    char path[48], text[1024];
    snprintf(path, sizeof path, "/proc/%lld/stat", (long long) pid);
    FILE *file = fopen(path, "re");
    if (!file)
        return kill((pid_t) pid, 0) == 0 || errno == EPERM ? -1 : 0;
    size_t n = fread(text, 1, sizeof text - 1, file);
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

static void read_line(const char *path, char *ret_line, size_t size)
{
    FILE *file = fopen(path, "re");
    if (!file || !fgets(ret_line, (int) size, file))
        snprintf(ret_line, size, "unknown");
    ret_line[strcspn(ret_line, "\n")] = 0;
    if (file)
        fclose(file);
}

struct run_owner run_owner_self(void)
{
    struct run_owner self = { .pid = getpid(), .start = process_start(getpid()) };
    char host[65] = "", boot[48], space[48] = "";
    gethostname(host, sizeof host - 1);
    read_line("/proc/sys/kernel/random/boot_id", boot, sizeof boot);
    if (readlink("/proc/self/ns/pid", space, sizeof space - 1) < 0)
        space[0] = 0;
    snprintf(self.place, sizeof self.place, "%s %s %s", host, boot, space);
    self.heartbeat = (int64_t) time(NULL);
    return self;
}

bool run_owner_is_alive(const struct run_owner *o)
{
    struct run_owner self = run_owner_self();
    int64_t start = process_start(o->pid);
    if (!strcmp(o->place, self.place) && start >= 0)
        return start == o->start && start;
    return self.heartbeat - o->heartbeat <= STALE_SECONDS;
}
