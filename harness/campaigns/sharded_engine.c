#include "harness/campaigns/sharded_engine.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/check/buffer.h"

/* The files of harness/engines/, embedded as strings. */
extern const char engine_local[], engine_dask[], engine_slurm[], engine_parallel[],
    engine_kubernetes[];

const struct shipped_engine shipped_engines[] = {
    { "local", engine_local, { NULL } },
    { "dask", engine_dask, { "scheduler", "patience" } },
    { "slurm", engine_slurm, { "partition", "sbatch", "patience" } },
    { "parallel", engine_parallel, { "hosts" } },
    { "kubernetes", engine_kubernetes, { "image", "claim", "namespace" } },
};
const int shipped_engines_n = COUNT(shipped_engines);

const struct shipped_engine *shipped_engine_find(const char *name)
{
    for (int i = 0; i < shipped_engines_n; i++)
        if (!strcmp(shipped_engines[i].name, name))
            return &shipped_engines[i];
    return NULL;
}

/* CAMPAIGN_<KEY>=value in the environment. */
static void set_variable(const char *key, const char *value)
{
    char name[80] = "CAMPAIGN_";
    size_t n = strlen(name);
    for (; *key && n < sizeof name - 1; key++)
        name[n++] = *key == '-' ? '_' : (char) toupper((unsigned char) *key);
    name[n] = 0;
    setenv(name, value, 1);
}

static void set_count(const char *key, uint64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%llu", (unsigned long long) value);
    set_variable(key, text);
}

/* In the new process. */
static void become_engine(const struct sharded_plan *p, const char *path, const char *list,
                          const char *log, pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(EXIT_OURS);
    setpgid(0, 0);
    int in = open("/dev/null", O_RDONLY), out = open(log, O_WRONLY | O_CREAT | O_APPEND, 0666);
    if (in < 0 || out < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0)
        _exit(EXIT_OURS);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    set_count("jobs", p->jobs);
    set_count("seconds", p->seconds);
    for (uint32_t i = 0; i < p->n_settings; i++)
        set_variable(p->setting[i].key, p->setting[i].value);
    execl(path, path, p->output, list, (char *) NULL);
    fprintf(stderr, "%s: %s\n", path, strerror(errno));
    _exit(EXIT_USAGE);
}

int sharded_engine_start(const struct sharded_plan *p, const char *list, const char *log,
                         pid_t *ret_pid, struct why *w)
{
    char path[PATH_MAX];
    const pid_t parent = getpid();
    if (shipped_engine_find(p->engine))
        snprintf(path, sizeof path, "%s/engine", p->output);
    else
        snprintf(path, sizeof path, "%s", p->engine);
    fflush(NULL);
    pid_t pid = fork();
    if (pid < 0)
        return why_fail(w, WHY_SYSTEM, "fork: %s", strerror(errno));
    if (!pid)
        become_engine(p, path, list, log, parent);
    setpgid(pid, pid); /* in either process, whichever is first */
    *ret_pid = pid;
    return 0;
}

bool sharded_engine_ended(pid_t pid, int *ret_status)
{
    int status;
    if (waitpid(pid, &status, WNOHANG) != pid)
        return false;
    *ret_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return true;
}

void sharded_engine_stop(pid_t pid)
{
    enum { GRACE_MS = 30000, STEP_MS = 20 };
    int status;
    kill(pid, SIGTERM);
    for (int ms = 0; ms < GRACE_MS; ms += STEP_MS) {
        if (sharded_engine_ended(pid, &status))
            return;
        usleep(STEP_MS * 1000);
    }
    kill(-pid, SIGKILL);
    waitpid(pid, &status, 0);
}
