/* Processes that only compute: what they may do, and that anything else ends them. */
#define _GNU_SOURCE
#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/golden/sandbox/sandbox_child.h"
#include "tests/support/check_main.h"

static const char *const own_folder[] = { child_scratch, NULL };
static const struct sandbox_options computation = {
    .readable = own_folder, .only_computes = true, .exit_status = 0, .open_below = 3
};
static char neighbour[100];
static struct rlimit limit;

ACTION(read_own_folder, open(neighbour, O_RDONLY))
ACTION(read_elsewhere, open(child_outside, O_RDONLY))
ACTION(map_memory,
       mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED
           ? -1
           : 0)
ACTION(look_at_the_time, nanosleep(&(struct timespec){ 0, 1 }, NULL))
ACTION(own_limits, getrlimit(RLIMIT_CORE, &limit))
ACTION(close_a_new_descriptor, close(open(neighbour, O_RDONLY)))

START_TEST(a_computation_works)
{
    static const struct sandbox_act rows[] = { ROW(read_own_folder), ROW(map_memory),
                                               ROW(look_at_the_time), ROW(own_limits),
                                               ROW(close_a_new_descriptor) };

    child_as_nobody = _i;
    if (child_lacks(sandbox_available().landlock, "Landlock"))
        return;
    snprintf(neighbour, sizeof neighbour, "%s/neighbour", child_scratch);
    child_write_file(neighbour, "text");
    child_check_allowed(&computation, NULL, COUNT(rows), rows);
}
END_TEST

START_TEST(a_computation_reads_nothing_else)
{
    static const struct sandbox_act elsewhere[] = { ROW(read_elsewhere) },
                                    any[] = { ROW(read_elsewhere), ROW(read_own_folder) };

    child_as_nobody = _i;
    if (child_lacks(sandbox_available().landlock && sandbox_available().seccomp,
                    "Landlock or seccomp"))
        return;
    snprintf(neighbour, sizeof neighbour, "%s/neighbour", child_scratch);
    child_write_file(neighbour, "text");
    child_check_denied(&computation, NULL, COUNT(elsewhere), elsewhere);
    child_check_denied(&computation, "landlock_create_ruleset", COUNT(any), any);
}
END_TEST

ACTION(write_own_folder, open(neighbour, O_WRONLY))
ACTION(open_a_socket, socket(AF_UNIX, SOCK_STREAM, 0))
ACTION(start_a_process, fork())
ACTION(change_limits, setrlimit(RLIMIT_CORE, &limit))
ACTION(close_an_old_descriptor, close(0))

ACTION(signal_the_parent, kill(getppid(), 0))
ACTION(trace, ptrace(PTRACE_SEIZE, child_victim, NULL, NULL))

static long exit_with_another_status(void)
{
    _exit(1);
}

/* Each ends the process, so each has one of its own; with a compiled filter, too. */
START_TEST(harm_ends_a_computation)
{
    static const struct sandbox_act rows[] = { ROW(write_own_folder),
                                               ROW(open_a_socket),
                                               ROW(start_a_process),
                                               ROW(change_limits),
                                               ROW(close_an_old_descriptor),
                                               ROW(signal_the_parent),
                                               ROW(trace),
                                               ROW(exit_with_another_status) };
    struct sandbox_options o = computation;
    struct sandbox_filter filter;

    if (child_lacks(sandbox_available().seccomp, "seccomp"))
        return;
    ck_assert_int_eq(sandbox_compile(&o, &filter, NULL), 0);
    for (int i = 0; i < 2 * COUNT(rows); i++) {
        o.filter = i % 2 ? &filter : NULL;
        int status = child_try_all(&o, NULL, 1, &rows[i / 2]);
        ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS, "%s: status %x",
                      rows[i / 2].name, (unsigned) status);
    }
    free(filter.code);
}
END_TEST

Suite *sandbox_computation_suite(void)
{
    TCase *t = tcase_create("sandbox_computation");

    tcase_add_checked_fixture(t, child_set_up, child_tear_down);
    tcase_add_loop_test(t, a_computation_works, 0, 2);
    tcase_add_loop_test(t, a_computation_reads_nothing_else, 0, 2);
    tcase_add_test(t, harm_ends_a_computation);
    return make_suite("sandbox_computation", t, NULL);
}
