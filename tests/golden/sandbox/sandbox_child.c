#define _GNU_SOURCE
#include "tests/golden/sandbox/sandbox_child.h"

#include <check.h>
#include <errno.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOBODY = 65534 };

struct child_report *child_shared;
char child_folder[64], child_scratch[80], child_outside[80];
pid_t child_victim;
bool child_as_nobody;

static void become_user(void)
{
    if (child_as_nobody && getuid() == 0) {
        if (setresgid(NOBODY, NOBODY, NOBODY) < 0 || setresuid(NOBODY, NOBODY, NOBODY) < 0)
            _exit(CANNOT_ENTER);
        prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    }
}

static pid_t start_victim(void)
{
    int ready[2];
    char c;

    ck_assert_int_eq(pipe(ready), 0);
    pid_t pid = fork();
    if (pid == 0) {
        become_user();
        setpgid(0, 0);
        prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
        if (write(ready[1], "1", 1) == 1)
            for (;;)
                pause();
        _exit(1);
    }
    ck_assert_int_eq(read(ready[0], &c, 1), 1);
    close(ready[0]);
    close(ready[1]);
    return pid;
}

void child_write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");

    ck_assert_ptr_nonnull(f);
    fputs(text, f);
    fclose(f);
}

void child_set_up(void)
{
    child_shared =
        mmap(NULL, sizeof *child_shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert(child_shared != MAP_FAILED);
    snprintf(child_folder, sizeof child_folder, "/tmp/test_sandbox_XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(child_folder));
    snprintf(child_scratch, sizeof child_scratch, "%s/scratch", child_folder);
    snprintf(child_outside, sizeof child_outside, "%s/outside", child_folder);
    ck_assert_int_eq(mkdir(child_scratch, 0777), 0);
    child_write_file(child_outside, "text");
    if (getuid() == 0) /* file modes allow uid 65534 everything here: only the sandbox denies it */
        ck_assert(chown(child_folder, NOBODY, NOBODY) == 0 &&
                  chown(child_scratch, NOBODY, NOBODY) == 0 &&
                  chown(child_outside, NOBODY, NOBODY) == 0 && chmod(child_folder, 0777) == 0 &&
                  chmod(child_scratch, 0777) == 0);
}

void child_tear_down(void)
{
    char command[100];

    snprintf(command, sizeof command, "rm -rf '%s'", child_folder);
    ck_assert_int_eq(system(command), 0);
    munmap(child_shared, sizeof *child_shared);
}

/* The calls of an older kernel, or of a container: these fail with ENOSYS. */
static void hide_calls(const char *name)
{
    scmp_filter_ctx f = seccomp_init(SCMP_ACT_ALLOW);
    int number = seccomp_syscall_resolve_name(name);

    if (!f || seccomp_rule_add(f, SCMP_ACT_ERRNO(ENOSYS), number, 0) < 0 || seccomp_load(f) < 0)
        _exit(CANNOT_ENTER);
    seccomp_release(f);
}

int child_try_all(const struct sandbox_options *o, const char *hidden, int n,
                  const struct sandbox_act *actions)
{
    int status;

    ck_assert_int_le(n, MOST_ACTIONS);
    child_victim = start_victim();
    pid_t pid = fork();
    if (pid == 0) {
        become_user();
        if (hidden)
            hide_calls(hidden);
        if (sandbox_enter(o, &child_shared->state, &child_shared->why) < 0)
            _exit(CANNOT_ENTER);
        for (int i = 0; i < n; i++) {
            errno = 0;
            child_shared->error[i] = actions[i].run() < 0 ? errno ? errno : -1 : 0;
        }
        _exit(0);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    kill(child_victim, SIGKILL);
    waitpid(child_victim, NULL, 0);
    return status;
}

void child_check_denied(const struct sandbox_options *o, const char *hidden, int n,
                        const struct sandbox_act *actions)
{
    int status = child_try_all(o, hidden, n, actions);

    ck_assert_msg(status == 0, "status %x: %s", (unsigned) status, child_shared->why.text);
    for (int i = 0; i < n; i++) {
        int e = child_shared->error[i], expected = actions[i].expected;
        bool denied = e == EPERM || e == EACCES || e == EXDEV;
        ck_assert_msg(expected ? e == expected : denied, "%s: %s", actions[i].name, strerror(e));
    }
}

void child_check_allowed(const struct sandbox_options *o, const char *hidden, int n,
                         const struct sandbox_act *actions)
{
    int status = child_try_all(o, hidden, n, actions);

    ck_assert_msg(status == 0, "status %x: %s", (unsigned) status, child_shared->why.text);
    for (int i = 0; i < n; i++)
        ck_assert_msg(child_shared->error[i] == 0, "%s: %s", actions[i].name,
                      strerror(child_shared->error[i]));
}

bool child_lacks(bool part, const char *name)
{
    if (!part)
        fprintf(stderr, "test_sandbox: skipped in part: this kernel has no %s\n", name);
    return !part;
}
