/* Actions on the driver's own process: how it ends, what outlives the call, and its state. */
#define _GNU_SOURCE
#include "tests/harness/hostile/hostile.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <fenv.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xmmintrin.h>

#define UNUSED (void) c, (void) n

enum { DESCRIPTORS = 1024 };

static void do_nothing(struct hostile_call *c, long n)
{
    UNUSED;
}

static void *sleep_long(void *argument)
{
    (void) argument;
    for (;;)
        hostile_sleep_ms(1000000);
    return NULL;
}

/* ---- ends of the process */

static void exit_with(struct hostile_call *c, long n)
{
    (void) c;
    exit((int) n);
}

static void exit_at_once(struct hostile_call *c, long n)
{
    (void) c;
    _exit((int) n);
}

static void exit_quickly(struct hostile_call *c, long n)
{
    (void) c;
    quick_exit((int) n);
}

static void *exit_late(void *argument)
{
    (void) argument;
    hostile_sleep_ms(5);
    exit(0);
}

static void exit_from_thread(struct hostile_call *c, long ms)
{
    (void) c;
    hostile_thread(exit_late, NULL);
    hostile_sleep_ms(ms);
}

static void call_abort(struct hostile_call *c, long n)
{
    UNUSED;
    abort();
}

static void raise_signal(struct hostile_call *c, long n)
{
    (void) c;
    raise((int) n);
}

static void kill_self(struct hostile_call *c, long n)
{
    (void) c;
    kill(getpid(), (int) n);
}

static void read_null(struct hostile_call *c, long n)
{
    (void) c;
    (void) *(volatile char *) (uintptr_t) n; // NOLINT
}

static void write_null(struct hostile_call *c, long n)
{
    (void) c;
    *(volatile char *) (uintptr_t) n = 1; // NOLINT
}

static void jump_null(struct hostile_call *c, long n)
{
    (void) c;
    ((void (*)(void))(uintptr_t) n)(); // NOLINT
}

static void overflow_stack(struct hostile_call *c, long n)
{
    volatile char frame[4096];

    frame[0] = (char) n;
    if (n >= 0)
        overflow_stack(c, n + 1);
    frame[1] = frame[0];
}

static void divide_by_zero(struct hostile_call *c, long n)
{
    volatile long zero = n, one = 1; /* a constant 1 would be divided without an instruction */

    (void) c;
    one = one / zero;
}

static void illegal_instruction(struct hostile_call *c, long n)
{
    UNUSED;
    __builtin_trap();
}

static void privileged_instruction(struct hostile_call *c, long n)
{
    UNUSED;
#ifdef __x86_64__
    __asm__ volatile("hlt");
#else
    raise(SIGSEGV);
#endif
}

static void free_garbage(struct hostile_call *c, long n)
{
    static char garbage[64];
    char *volatile p = garbage + n;

    (void) c;
    free(p);
}

static void loop_forever(struct hostile_call *c, long n)
{
    UNUSED;
    for (volatile unsigned i = 0;; i++) {
    }
}

static void deadlock(struct hostile_call *c, long n)
{
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

    UNUSED;
    pthread_mutex_lock(&m);
    pthread_mutex_lock(&m);
}

static void sleep_forever(struct hostile_call *c, long n)
{
    UNUSED;
    sleep_long(NULL);
}

static void exit_thread(struct hostile_call *c, long n)
{
    UNUSED;
    pthread_exit(NULL);
}

/* Address space, not memory: nothing of it is written. */
static void exhaust_memory(struct hostile_call *c, long n)
{
    (void) c;
    while (mmap(NULL, (size_t) n, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) != MAP_FAILED) {
    }
    *(volatile char *) malloc((size_t) n) = 1;
}

static void unmap_stack(struct hostile_call *c, long n)
{
    uintptr_t page = (uintptr_t) __builtin_frame_address(0) & ~(uintptr_t) 4095;

    (void) c;
    munmap((void *) (page - (uintptr_t) n), (size_t) n * 2);
}

static void unload_self(struct hostile_call *c, long n)
{
    Dl_info info;
    void *library = dladdr((void *) (uintptr_t) hostile_thread, &info)
                        ? dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD)
                        : NULL;

    (void) c;
    for (long i = 0; library && i < n; i++)
        dlclose(library);
}

static void execute_program(struct hostile_call *c, long n)
{
    UNUSED;
    execl("/bin/true", "true", (char *) NULL);
}

static void seccomp_strict(struct hostile_call *c, long n)
{
    (void) c;
    prctl(PR_SET_SECCOMP, 1L);
    syscall(SYS_getpid);
    hostile_sleep_ms(n);
}

static void alarm_unhandled(struct hostile_call *c, long ms)
{
    (void) c;
    signal(SIGALRM, SIG_DFL);
    setitimer(ITIMER_REAL, &(struct itimerval){ { 0, 0 }, { 0, 1000 } }, NULL);
    hostile_sleep_ms(ms);
}

static void trace_me(struct hostile_call *c, long n)
{
    (void) c;
    ptrace(PTRACE_TRACEME, 0, NULL, NULL);
    raise((int) n);
}

/* ---- processes and threads that outlive the call */

static void fork_sleeper(struct hostile_call *c, long n)
{
    UNUSED;
    if (fork() == 0)
        sleep_long(NULL);
}

static void fork_daemon(struct hostile_call *c, long n)
{
    pid_t child = fork();

    UNUSED;
    if (child == 0) {
        setsid();
        if (fork() == 0)
            sleep_long(NULL);
        _exit(0);
    }
    if (child > 0)
        waitpid(child, NULL, 0);
}

static void fork_exit(struct hostile_call *c, long n)
{
    (void) c;
    if (fork() == 0)
        exit((int) n);
}

/* Both processes return from the method: once, or they would multiply. */
static void fork_and_return(struct hostile_call *c, long n)
{
    (void) n;
    if (c->number == 1)
        fork();
}

/* A child that leaves the process group and closes what it has inherited. */
static void fork_detached(struct hostile_call *c, long n)
{
    UNUSED;
    if (fork() == 0) {
        setsid();
        for (int i = 0; i < DESCRIPTORS; i++)
            close(i);
        prctl(PR_SET_PDEATHSIG, 0L);
        prctl(PR_SET_NAME, "innocent");
        sleep_long(NULL);
    }
}

static void thread_sleeps(struct hostile_call *c, long n)
{
    UNUSED;
    hostile_thread(sleep_long, NULL);
}

static void *spin(void *argument)
{
    struct timespec now, end;

    (void) argument;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += 1;
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while (now.tv_sec < end.tv_sec || now.tv_nsec < end.tv_nsec);
    return NULL;
}

static void thread_spins(struct hostile_call *c, long n)
{
    UNUSED;
    if (c->number == 1)
        hostile_thread(spin, NULL);
}

/* ---- state of the process */

static void change_folder(struct hostile_call *c, long n)
{
    UNUSED;
    if (chdir("/") < 0)
        perror("chdir");
}

static void change_umask(struct hostile_call *c, long n)
{
    (void) c;
    umask((mode_t) n);
}

static void change_locale(struct hostile_call *c, long n)
{
    static const char *const comma[] = { "de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "" };

    UNUSED;
    for (size_t i = 0; i < COUNT(comma); i++)
        if (setlocale(LC_ALL, comma[i]))
            return;
}

static void ignore_signals(struct hostile_call *c, long n)
{
    UNUSED;
    for (int i = 1; i < NSIG; i++)
        signal(i, SIG_IGN);
}

static void handle(int number)
{
    (void) number;
}

static void handle_signals(struct hostile_call *c, long n)
{
    UNUSED;
    hostile_stay();
    for (int i = 1; i < NSIG; i++)
        sigaction(i, &(struct sigaction){ .sa_handler = handle }, NULL);
}

static void block_signals(struct hostile_call *c, long n)
{
    sigset_t all;

    UNUSED;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
}

static void start_timer(struct hostile_call *c, long us)
{
    const struct itimerval each = { { 0, us }, { 0, us } };

    (void) c;
    hostile_stay();
    sigaction(SIGALRM, &(struct sigaction){ .sa_handler = handle }, NULL);
    sigaction(SIGPROF, &(struct sigaction){ .sa_handler = handle }, NULL);
    setitimer(ITIMER_REAL, &each, NULL);
    setitimer(ITIMER_PROF, &each, NULL);
}

static void round_towards(struct hostile_call *c, long n)
{
    (void) c;
    fesetround((int) n);
}

#ifdef __x86_64__
static void flush_denormals(struct hostile_call *c, long n)
{
    (void) c;
    _mm_setcsr(_mm_getcsr() | (unsigned) n);
}

static void reduce_x87(struct hostile_call *c, long n)
{
    unsigned short control;

    (void) c;
    __asm__ volatile("fnstcw %0" : "=m"(control));
    control = (unsigned short) ((control & ~0x300) | n);
    __asm__ volatile("fldcw %0" : : "m"(control));
}

static void set_direction(struct hostile_call *c, long n)
{
    UNUSED;
    __asm__ volatile("std");
}
#endif

static void trap_floats(struct hostile_call *c, long n)
{
    (void) c;
    feenableexcept((int) n);
}

static void close_range_of(struct hostile_call *c, long n)
{
    (void) c;
    for (int i = n ? 3 : 0; i < (n ? DESCRIPTORS : 3); i++)
        close(i);
}

static void duplicate_over(struct hostile_call *c, long n)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    (void) c;
    for (int i = 0; null >= 0 && i <= n; i++)
        if (i != null)
            dup2(null, i);
}

static void change_flags(struct hostile_call *c, long n)
{
    (void) c;
    for (int i = 0; i < DESCRIPTORS; i++) {
        int flags = fcntl(i, F_GETFL);
        if (flags >= 0)
            fcntl(i, F_SETFL, flags ^ (int) n);
        if (flags >= 0)
            fcntl(i, F_SETFD, 0);
    }
}

static void limit(struct hostile_call *c, long n)
{
    const struct rlimit none = { n == RLIMIT_NOFILE ? 3 : 0, n == RLIMIT_NOFILE ? 3 : 0 };

    (void) c;
    setrlimit((__rlimit_resource_t) n, &none);
}

static void be_nice(struct hostile_call *c, long n)
{
    (void) c;
    if (nice((int) n) < 0)
        perror("nice");
}

static void rename_process(struct hostile_call *c, long n)
{
    UNUSED;
    prctl(PR_SET_NAME, "halcyon) S 1 1 (");
}

static void drop_pdeathsig(struct hostile_call *c, long n)
{
    UNUSED;
    prctl(PR_SET_PDEATHSIG, 0L);
    prctl(PR_SET_DUMPABLE, 1L);
}

static void lock_memory(struct hostile_call *c, long n)
{
    (void) c;
    if (mlockall((int) n) < 0)
        perror("mlockall");
}

static void print_much(struct hostile_call *c, long n)
{
    FILE *to = n ? stderr : stdout;

    UNUSED;
    for (int i = 0; i < 16384; i++)
        fprintf(to, "%063d\n", i);
    fflush(to);
}

static void print_verdicts(struct hostile_call *c, long n)
{
    UNUSED;
    printf("\n{\"case\":\"random/v2/s5/"
           "i0\",\"target\":\"sim:cpu\",\"verdict\":\"fail\",\"why\":\"\"}\n"
           "{\"summary\":{\"pass\":0,\"fail\":1}}\n");
    fflush(stdout);
}

static void print_terminal(struct hostile_call *c, long n)
{
    UNUSED;
    fprintf(stderr, "\x1b]0;title\a\x1b[2J\xff\xfe \t\r\n<script>alert(1)</script>%s", "&amp;\n");
}

static void change_environment(struct hostile_call *c, long n)
{
    static char entry[] = "HALCYON_RUN_AS=none";

    UNUSED;
    putenv(entry);
    setenv("PATH", "/nowhere", 1);
    setenv("TZ", "Asia/Tokyo", 1);
}

static void leak_memory(struct hostile_call *c, long n)
{
    char *p = malloc((size_t) n);

    (void) c;
    for (long i = 0; p && i < n; i += 4096)
        *(volatile char *) (p + i) = 1;
}

static void leak_descriptor(struct hostile_call *c, long n)
{
    (void) c;
    for (long i = 0; i < n; i++)
        if (open("/dev/null", O_RDONLY | O_CLOEXEC) < 0)
            return;
}

/* ---- the table */

#define RAISE(signal, expect)                                                                      \
    {                                                                                              \
        "raise_" #signal, raise_signal, signal, 0, expect, "raises " #signal                       \
    }

static const struct action actions[] = {
    { "nothing", do_nothing, 0, 0, EXPECT_LEGAL, "nothing" },
    { "exit_0", exit_with, 0, 0, EXPECT_DEATH, "exit(0)" },
    { "exit_3", exit_with, 3, 0, EXPECT_DEATH, "exit(3)" },
    { "_exit_0", exit_at_once, 0, 0, EXPECT_DEATH, "_exit(0)" },
    { "_exit_2", exit_at_once, 2, 0, EXPECT_DEATH, "_exit(2)" },
    { "quick_exit", exit_quickly, 0, 0, EXPECT_DEATH, "quick_exit(0)" },
    { "exit_from_thread", exit_from_thread, 500, 0, EXPECT_DEATH, "exit(0) in another thread" },
    { "exit_after_call", exit_from_thread, 0, 0, EXPECT_CONTAINED,
      "exit(0) in another thread, 5 ms later" },
    { "abort", call_abort, 0, 0, EXPECT_DEATH, "abort()" },
    RAISE(SIGHUP, EXPECT_CONTAINED),
    RAISE(SIGINT, EXPECT_CONTAINED),
    RAISE(SIGQUIT, EXPECT_DEATH),
    RAISE(SIGILL, EXPECT_DEATH),
    RAISE(SIGTRAP, EXPECT_DEATH),
    RAISE(SIGBUS, EXPECT_DEATH),
    RAISE(SIGFPE, EXPECT_DEATH),
    RAISE(SIGKILL, EXPECT_DEATH),
    RAISE(SIGUSR1, EXPECT_DEATH),
    RAISE(SIGSEGV, EXPECT_DEATH),
    RAISE(SIGUSR2, EXPECT_DEATH),
    RAISE(SIGPIPE, EXPECT_CONTAINED),
    RAISE(SIGALRM, EXPECT_DEATH),
    RAISE(SIGTERM, EXPECT_CONTAINED),
    RAISE(SIGCHLD, EXPECT_LEGAL),
    RAISE(SIGXCPU, EXPECT_DEATH),
    RAISE(SIGXFSZ, EXPECT_CONTAINED),
    RAISE(SIGSYS, EXPECT_DEATH),
    { "raise_40", raise_signal, 40, 0, EXPECT_DEATH, "raises a realtime signal" },
    RAISE(SIGSTOP, EXPECT_HANG),
    { "kill_self", kill_self, SIGKILL, 0, EXPECT_DEATH, "kill(getpid(), SIGKILL)" },
    { "read_null", read_null, 0, 0, EXPECT_DEATH, "reads address 0" },
    { "write_null", write_null, 0, 0, EXPECT_DEATH, "writes address 0" },
    { "jump_null", jump_null, 0, 0, EXPECT_DEATH, "calls address 0" },
    { "overflow_stack", overflow_stack, 0, 0, EXPECT_DEATH, "endless recursion" },
    { "divide_by_zero", divide_by_zero, 0, 0, EXPECT_DEATH, "integer division by zero" },
    { "illegal_instruction", illegal_instruction, 0, 0, EXPECT_DEATH, "an illegal instruction" },
    { "privileged_instruction", privileged_instruction, 0, 0, EXPECT_DEATH,
      "a privileged instruction" },
    { "free_garbage", free_garbage, 16, 0, EXPECT_DEATH, "free() of what is not allocated" },
    { "exhaust_memory", exhaust_memory, 1L << 32, 0, EXPECT_DEATH,
      "uses a NULL of malloc() when the address space is full" },
    { "unmap_stack", unmap_stack, 65536, 0, EXPECT_DEATH, "munmap() of its stack" },
    { "unload_self", unload_self, 50, 0, EXPECT_DEATH, "dlclose() of itself" },
    { "execute_program", execute_program, 0, 0, EXPECT_DEATH, "execve() of /bin/true" },
    { "seccomp_strict", seccomp_strict, 5, 0, EXPECT_CONTAINED, "forbids itself all system calls" },
    { "alarm_unhandled", alarm_unhandled, 500, 0, EXPECT_DEATH, "a timer without a handler" },
    { "loop_forever", loop_forever, 0, 0, EXPECT_HANG, "an endless loop" },
    { "deadlock", deadlock, 0, 0, EXPECT_HANG, "a deadlock" },
    { "sleep_forever", sleep_forever, 0, 0, EXPECT_HANG, "sleeps without end" },
    { "exit_thread", exit_thread, 0, 0, EXPECT_CONTAINED, "pthread_exit() in the call" },
    { "trace_me", trace_me, SIGTRAP, 0, EXPECT_CONTAINED, "PTRACE_TRACEME and a stop" },

    { "fork_sleeper", fork_sleeper, 0, 0, EXPECT_LEGAL, "a child that sleeps" },
    { "fork_daemon", fork_daemon, 0, 0, EXPECT_LEGAL, "a daemon" },
    { "fork_detached", fork_detached, 0, 0, EXPECT_LEGAL,
      "a child in its own session without inherited descriptors" },
    { "fork_exit", fork_exit, 0, 0, EXPECT_LEGAL, "a child that calls exit(0)" },
    { "fork_and_return", fork_and_return, 0, 0, EXPECT_CONTAINED,
      "a child that returns from the method, too" },
    { "thread_sleeps", thread_sleeps, 0, 0, EXPECT_LEGAL, "a thread that sleeps, each call" },
    { "thread_spins", thread_spins, 0, 0, EXPECT_LEGAL, "a thread that computes for a second" },
    { "change_folder", change_folder, 0, 0, EXPECT_LEGAL, "chdir(\"/\")" },
    { "change_umask", change_umask, 0777, 0, EXPECT_LEGAL, "umask(0777)" },
    { "change_locale", change_locale, 0, 0, EXPECT_LEGAL, "a locale with a decimal comma" },
    { "ignore_signals", ignore_signals, 0, 0, EXPECT_LEGAL, "ignores all signals" },
    { "handle_signals", handle_signals, 0, 0, EXPECT_LEGAL, "handles all signals" },
    { "block_signals", block_signals, 0, 0, EXPECT_LEGAL, "blocks all signals" },
    { "start_timer", start_timer, 1000, 0, EXPECT_LEGAL, "a signal each millisecond" },
    { "round_up", round_towards, FE_UPWARD, 0, EXPECT_LEGAL, "rounds up" },
    { "round_to_zero", round_towards, FE_TOWARDZERO, 0, EXPECT_LEGAL, "rounds towards 0" },
#ifdef __x86_64__
    { "flush_denormals", flush_denormals, 0x8040, 0, EXPECT_LEGAL, "denormals are 0" },
    { "reduce_x87", reduce_x87, 0, 0, EXPECT_LEGAL, "24 bits of x87 precision" },
    { "set_direction", set_direction, 0, 0, EXPECT_CONTAINED, "leaves the direction flag set" },
#endif
    { "trap_floats", trap_floats, FE_ALL_EXCEPT, 0, EXPECT_LEGAL, "floating-point traps" },
    { "close_all", close_range_of, 1, 0, EXPECT_CONTAINED, "closes descriptors 3 to 1023" },
    { "close_standard", close_range_of, 0, 0, EXPECT_LEGAL, "closes descriptors 0 to 2" },
    { "duplicate_over", duplicate_over, 20, 0, EXPECT_CONTAINED,
      "/dev/null as descriptors 0 to 20" },
    { "change_flags", change_flags, O_NONBLOCK | O_APPEND, 0, EXPECT_CONTAINED,
      "O_NONBLOCK, O_APPEND and no FD_CLOEXEC on all descriptors" },
    { "limit_files", limit, RLIMIT_NOFILE, 0, EXPECT_CONTAINED, "RLIMIT_NOFILE 3" },
    { "limit_memory", limit, RLIMIT_AS, 0, EXPECT_CONTAINED, "RLIMIT_AS 0" },
    { "limit_file_size", limit, RLIMIT_FSIZE, 0, EXPECT_CONTAINED, "RLIMIT_FSIZE 0" },
    { "limit_processes", limit, RLIMIT_NPROC, 0, EXPECT_LEGAL, "RLIMIT_NPROC 0" },
    { "limit_stack", limit, RLIMIT_STACK, 0, EXPECT_CONTAINED, "RLIMIT_STACK 0" },
    { "be_nice", be_nice, 19, 0, EXPECT_LEGAL, "nice(19)" },
    { "rename_process", rename_process, 0, 0, EXPECT_LEGAL, "a misleading process name" },
    { "drop_pdeathsig", drop_pdeathsig, 0, 0, EXPECT_LEGAL, "no signal when the parent dies" },
    { "lock_memory", lock_memory, MCL_CURRENT, 0, EXPECT_LEGAL, "mlockall()" },
    { "print_much_out", print_much, 0, 0, EXPECT_LEGAL, "1 MB on stdout" },
    { "print_much_err", print_much, 1, 0, EXPECT_LEGAL, "1 MB on stderr" },
    { "print_verdicts", print_verdicts, 0, 0, EXPECT_LEGAL, "verdicts as JSON on stdout" },
    { "print_terminal", print_terminal, 0, 0, EXPECT_LEGAL, "control characters on stderr" },
    { "change_environment", change_environment, 0, 0, EXPECT_LEGAL, "putenv()" },
    { "leak_memory", leak_memory, 1 << 20, 0, EXPECT_LEGAL, "1 MB each call" },
    { "leak_descriptor", leak_descriptor, 1, 0, EXPECT_LEGAL, "a descriptor each call" },
    { "leak_all_descriptors", leak_descriptor, 1 << 20, 0, EXPECT_CONTAINED,
      "all descriptors there are" },
};
const struct action_list hostile_process_actions = { actions, COUNT(actions) };
