/* Reports of crashed processes: each test forks a child that crashes in one way.  The program
 * exports its functions, so that their names can be found. */
#include <check.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "golden/base/sandbox.h"
#include "sim/base/crash_report.h"
#include "tests/support/check_main.h"

void crash_by_write(volatile char *p);
char crash_by_read(const volatile char *p);
void crash_by_abort(void);
int crash_by_recursion(int depth);
void crash_by_call(void (*f)(void));

static struct crash_report *shared;
static char *guard_page; /* PROT_NONE */
static struct why w;

/* No sanitizer reports them first. */
#define CALLED __attribute__((noinline, no_sanitize("address", "undefined")))

CALLED void crash_by_write(volatile char *p)
{
    *p = 1;
    __asm__ volatile("");
}

CALLED char crash_by_read(const volatile char *p)
{
    char c = *p;

    __asm__ volatile("");
    return c;
}

CALLED void crash_by_abort(void)
{
    abort();
}

CALLED int crash_by_recursion(int depth)
{
    volatile char space[4000];

    space[0] = (char) depth;
    return depth == INT_MAX ? 0 : crash_by_recursion(depth + 1) + space[0];
}

CALLED void crash_by_call(void (*f)(void))
{
    f();
    __asm__ volatile("");
}

static void set_up(void)
{
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    guard_page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert(shared != MAP_FAILED && guard_page != MAP_FAILED);
}

static void tear_down(void)
{
    munmap(shared, sizeof *shared);
    munmap(guard_page, 4096);
}

/* Runs `crash` in a child with handlers; returns its wait status.  Sanitizers' handlers are
 * removed, so that ours are installed. */
static int run(void (*crash)(void))
{
    static const int kept[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP };
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
            signal(kept[i], SIG_DFL);
        if (crash_report_install(shared, &w) < 0)
            _exit(2);
        crash();
        _exit(0);
    }
    ck_assert_int_gt(pid, 0);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    return status;
}

/* The same; the child must die of the signal and report it. */
static struct crash_facts crash_of(void (*crash)(void), int signal)
{
    struct crash_facts facts;
    int status = run(crash);

    ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == signal, "status %x",
                  (unsigned) status);
    ck_assert(crash_report_read(shared, &facts));
    ck_assert_int_eq(facts.signal, signal);
    ck_assert(facts.has_names);
    return facts;
}

static void check_text(const struct crash_facts *f, const char *expected)
{
    ck_assert_msg(strstr(f->text, expected), "no %s in:\n%s", expected, f->text);
}

/* ---- accesses */

static void write_to_null(void)
{
    crash_by_write(NULL);
}

static void write_to_guard(void)
{
    crash_by_write(guard_page + 17);
}

static void read_guard(void)
{
    crash_by_read(guard_page + 4095);
}

#if defined(__x86_64__) || defined(__aarch64__)
static const bool knows_access = true;
#else
static const bool knows_access = false;
#endif

static void check_access(const struct crash_facts *f, const void *address, enum crash_access access)
{
    ck_assert(f->has_address);
    ck_assert_uint_eq(f->address, (uintptr_t) address);
    ck_assert_int_eq(f->access, knows_access ? access : CRASH_ACCESS_UNKNOWN);
}

START_TEST(accesses_have_address_and_kind)
{
    char text[80], expected[80];

    struct crash_facts f = crash_of(write_to_null, SIGSEGV);
    check_access(&f, NULL, CRASH_WRITE);
    ck_assert_int_eq(f.code, SEGV_MAPERR);
    ck_assert_msg(strncmp(f.text, "#0 crash_by_write+0x", 20) == 0, "%s", f.text);
    check_text(&f, "(sim_tests)\n");
    snprintf(expected, sizeof expected, "SIGSEGV: write to 0x0 in thread %d", f.thread);
    if (knows_access)
        ck_assert_str_eq(crash_facts_describe(&f, text, sizeof text), expected);
    memset(shared, 0, sizeof *shared);
    f = crash_of(write_to_guard, SIGSEGV);
    check_access(&f, guard_page + 17, CRASH_WRITE);
    ck_assert_int_eq(f.code, SEGV_ACCERR);
    memset(shared, 0, sizeof *shared);
    f = crash_of(read_guard, SIGSEGV);
    check_access(&f, guard_page + 4095, CRASH_READ);
    check_text(&f, "#0 crash_by_read+0x");
}
END_TEST

static void call_null(void)
{
    crash_by_call(NULL);
}

START_TEST(a_call_of_null_names_its_caller)
{
    struct crash_facts f = crash_of(call_null, SIGSEGV);

    check_access(&f, NULL, CRASH_EXECUTE);
    check_text(&f, "#0 0x0\n");
    check_text(&f, "#1 crash_by_call+0x");
}
END_TEST

static void overflow(void)
{
    crash_by_recursion(0);
}

START_TEST(stack_overflow)
{
    struct crash_facts f = crash_of(overflow, SIGSEGV);

    check_text(&f, "#0 crash_by_recursion+0x");
    check_text(&f, "#20 crash_by_recursion+0x");
}
END_TEST

/* ---- signals */

static void raise_fpe(void)
{
    raise(SIGFPE);
}

START_TEST(signals_that_the_process_sends_itself)
{
    char text[80];
    struct crash_facts f = crash_of(crash_by_abort, SIGABRT);

    ck_assert(!f.has_address);
    check_text(&f, " crash_by_abort+0x");
    ck_assert(!strstr(f.text, "crash_report"));
    ck_assert(strstr(crash_facts_describe(&f, text, sizeof text), "SIGABRT in thread "));
    memset(shared, 0, sizeof *shared);
    f = crash_of(raise_fpe, SIGFPE);
    ck_assert(!f.has_address);
}
END_TEST

static void trap(void)
{
    __builtin_trap();
}

START_TEST(illegal_instructions)
{
    int status = run(trap);
    struct crash_facts f;

    ck_assert(WIFSIGNALED(status));
    ck_assert(crash_report_read(shared, &f));
    ck_assert_int_eq(f.signal, WTERMSIG(status)); /* SIGILL or SIGTRAP */
}
END_TEST

static void *crash_as_thread(void *argument)
{
    crash_by_write(argument);
    return NULL;
}

static void crash_in_a_thread(void)
{
    pthread_t t;

    pthread_create(&t, NULL, crash_as_thread, guard_page);
    pthread_join(t, NULL);
}

START_TEST(a_second_thread)
{
    struct crash_facts f = crash_of(crash_in_a_thread, SIGSEGV);

    check_access(&f, guard_page, CRASH_WRITE);
    check_text(&f, "#0 crash_by_write+0x");
}
END_TEST

static void crash_in_threads(void)
{
    pthread_t t[8];

    for (int i = 0; i < 8; i++)
        pthread_create(&t[i], NULL, crash_as_thread, guard_page + i);
    for (int i = 0; i < 8; i++)
        pthread_join(t[i], NULL);
}

START_TEST(the_first_of_many_threads_is_reported)
{
    struct crash_facts f = crash_of(crash_in_threads, SIGSEGV);

    check_text(&f, "#0 crash_by_write+0x");
    ck_assert_ptr_null(strstr(strstr(f.text, "#0") + 1, "#0"));
}
END_TEST

static void crash_in_the_sandbox(void)
{
    static const struct sandbox_options o = { .allow_processes = true };

    if (sandbox_enter(&o, NULL, &w) < 0)
        _exit(2);
    crash_by_abort();
}

START_TEST(a_confined_process)
{
    struct crash_facts f = crash_of(crash_in_the_sandbox, SIGABRT);

    check_text(&f, " crash_by_abort+0x");
}
END_TEST

/* The frame pointer and the return address are overwritten, as by a local array. */
CALLED static void crash_with_a_damaged_stack(void)
{
    volatile char *frame = __builtin_frame_address(0);

    for (int i = 0; i < 256; i++)
        frame[i] = 0x5a;
    crash_by_write(guard_page);
}

START_TEST(a_damaged_stack)
{
    struct crash_facts f;
    int status = run(crash_with_a_damaged_stack);

    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    ck_assert(crash_report_read(shared, &f));
    check_access(&f, guard_page, CRASH_WRITE);
    check_text(&f, f.has_names ? "#0 crash_by_write+0x" : "#0 0x");
}
END_TEST

/* ---- no report */

static void leave(int signal)
{
    _exit(signal);
}

static void handle_alone(void)
{
    signal(SIGSEGV, leave);
    crash_by_write(NULL);
}

static void crash_in_a_fork(void)
{
    int status;
    pid_t pid = fork();

    if (pid == 0)
        crash_by_write(NULL);
    if (waitpid(pid, &status, 0) != pid || !WIFSIGNALED(status) || WTERMSIG(status) != SIGSEGV)
        _exit(1);
}

START_TEST(handlers_and_forks_of_the_driver_are_its_own)
{
    struct crash_facts f;
    int status = run(handle_alone);

    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == SIGSEGV);
    ck_assert(!crash_report_read(shared, &f));
    status = run(crash_in_a_fork);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %x", (unsigned) status);
    ck_assert(!crash_report_read(shared, &f));
}
END_TEST

static void handled(int signal)
{
    (void) signal;
}

START_TEST(installed_handlers_stay)
{
    struct sigaction before, after;
    pid_t pid = fork();
    int status;

    if (pid == 0) {
        signal(SIGBUS, handled);
        sigaction(SIGBUS, NULL, &before);
        int rc = crash_report_install(shared, &w);
        sigaction(SIGBUS, NULL, &after);
        _exit(rc < 0 || before.sa_handler != after.sa_handler);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
}
END_TEST

/* ---- what the driver has written over the report */

START_TEST(scribbled_reports_are_bounded)
{
    struct crash_facts f;

    ck_assert(!crash_report_read(shared, &f));
    memset(shared, 0xff, sizeof *shared);
    ck_assert(!crash_report_read(shared, &f));
    atomic_store(&shared->state, 2);
    ck_assert(!crash_report_read(shared, &f)); /* no such signal */
    shared->signal = SIGSEGV;
    shared->code = SEGV_MAPERR;
    ck_assert(crash_report_read(shared, &f));
    ck_assert_uint_eq(strlen(f.text), CRASH_TEXT - 1);
    ck_assert_int_eq(f.access, CRASH_ACCESS_UNKNOWN);
    atomic_store(&shared->state, 1);
    ck_assert(crash_report_read(shared, &f));
    ck_assert(!f.has_names);
    check_text(&f, "#0 0xffffffffffffffff\n");
    check_text(&f, "#47 0xffffffffffffffff\n");
    ck_assert_ptr_null(strstr(f.text, "#48"));
    shared->n_frames = 0;
    ck_assert(crash_report_read(shared, &f));
    ck_assert_str_eq(f.text, "");
}
END_TEST

Suite *crash_report_suite(void)
{
    TCase *t = tcase_create("crash_report");

    tcase_add_checked_fixture(t, set_up, tear_down);
    tcase_add_test(t, accesses_have_address_and_kind);
    tcase_add_test(t, a_call_of_null_names_its_caller);
    tcase_add_test(t, stack_overflow);
    tcase_add_test(t, signals_that_the_process_sends_itself);
    tcase_add_test(t, illegal_instructions);
    tcase_add_test(t, a_second_thread);
    tcase_add_test(t, the_first_of_many_threads_is_reported);
    tcase_add_test(t, a_confined_process);
    tcase_add_test(t, a_damaged_stack);
    tcase_add_test(t, handlers_and_forks_of_the_driver_are_its_own);
    tcase_add_test(t, installed_handlers_stay);
    tcase_add_test(t, scribbled_reports_are_bounded);
    return make_suite("crash_report", t, NULL);
}
