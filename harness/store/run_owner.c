/* The process that writes a run: recorded in the database while it does, so that no second one
 * resumes the run meanwhile. */
#include "harness/store/run_owner.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "sim/base/process_clock.h"

enum { STALE_SECONDS = 60 };

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
