/* sandbox_enter(): each test forks a process that confines itself and tries what its table lists.
 * Calls that must fail have arguments with which they would do no harm. */
#define _GNU_SOURCE
#include <check.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <locale.h>
#include <pthread.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/golden/sandbox/sandbox_child.h"
#include "tests/support/check_main.h"

static const struct sandbox_options driver = { .scratch = child_scratch, .allow_processes = true };

/* ---- other processes */

static char byte;
static struct iovec own = { &byte, 1 };
static union sigval no_value;
static struct sched_param no_param;
static struct rlimit limit;

ACTION(signal_a_process, kill(child_victim, 0))
ACTION(signal_a_group, kill(-child_victim, 0))
ACTION(signal_all, kill(-1, 0))
ACTION(signal_the_parent, kill(getppid(), 0))
ACTION(signal_a_thread, syscall(SYS_tkill, child_victim, 0))
ACTION(signal_a_thread_of_a_process, syscall(SYS_tgkill, child_victim, child_victim, 0))
ACTION(queue_a_signal, sigqueue(child_victim, SIGURG, no_value))
ACTION(trace, ptrace(PTRACE_SEIZE, child_victim, NULL, NULL))
ACTION(read_memory, process_vm_readv(child_victim, &own, 1, &own, 1, 0))
ACTION(write_memory, process_vm_writev(child_victim, &own, 1, &own, 1, 0))
ACTION(compare, syscall(SYS_kcmp, child_victim, getpid(), 0, 0, 0))
ACTION(open_pidfd, syscall(SYS_pidfd_open, child_victim, 0))
ACTION(take_descriptor, syscall(SYS_pidfd_getfd, -1, 0, 0))
ACTION(signal_pidfd, syscall(SYS_pidfd_send_signal, -1, 0, NULL, 0))
ACTION(advise, syscall(SYS_process_madvise, -1, NULL, 0, 0, 0))
ACTION(limit_others, prlimit(child_victim, RLIMIT_CORE, &limit, NULL))
ACTION(renice_others, setpriority(PRIO_PROCESS, (id_t) child_victim, 19))
ACTION(renice_the_user, setpriority(PRIO_USER, 0, 0))
ACTION(reschedule_others, sched_setscheduler(child_victim, SCHED_OTHER, &no_param))
ACTION(reparametrise_others, sched_setparam(child_victim, &no_param))
ACTION(io_priority_of_others, syscall(SYS_ioprio_set, 1, child_victim, 0))
ACTION(io_priority_of_the_user, syscall(SYS_ioprio_set, 3, 0, 0))
ACTION(move_pages_of_others, syscall(SYS_move_pages, child_victim, 0, NULL, NULL, NULL, 0))
ACTION(own_a_descriptor_for_others, fcntl(0, F_SETOWN, child_victim))
ACTION(child_of_the_parent, syscall(SYS_clone, CLONE_PARENT, NULL, NULL, NULL, NULL))
ACTION(type_into_a_terminal, ioctl(0, TIOCSTI, &byte))
ACTION(take_the_terminal, ioctl(0, TIOCSPGRP, &child_victim))

static long open_memory(void)
{
    char path[40];

    snprintf(path, sizeof path, "/proc/%d/mem", (int) child_victim);
    return open(path, O_RDWR);
}

/* The error of an action in a child: it is confined, too. */
static long in_a_child(long (*run)(void))
{
    int status;
    pid_t pid = fork();

    if (pid < 0)
        return -1;
    if (pid == 0)
        _exit(run() < 0 ? errno : 0);
    if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
        return -1;
    errno = WEXITSTATUS(status);
    return errno ? -1 : 0;
}

ACTION(signal_from_a_child, in_a_child(signal_a_process))

static const struct sandbox_act harm_to_processes[] = {
    ROW(signal_a_process),
    ROW(signal_a_group),
    ROW(signal_all),
    ROW(signal_the_parent),
    ROW(signal_a_thread),
    ROW(signal_a_thread_of_a_process),
    ROW(queue_a_signal),
    ROW(signal_from_a_child),
    ROW(trace),
    ROW(read_memory),
    ROW(write_memory),
    ROW(compare),
    ROW(open_pidfd),
    ROW(take_descriptor),
    ROW(signal_pidfd),
    ROW(advise),
    ROW(limit_others),
    ROW(renice_others),
    ROW(renice_the_user),
    ROW(reschedule_others),
    ROW(reparametrise_others),
    ROW(io_priority_of_others),
    ROW(io_priority_of_the_user),
    ROW(move_pages_of_others),
    ROW(own_a_descriptor_for_others),
    ROW(child_of_the_parent),
    ROW(type_into_a_terminal),
    ROW(take_the_terminal),
    ROW(open_memory),
};

START_TEST(other_processes_are_safe)
{
    child_as_nobody = _i;
    if (child_lacks(sandbox_available().seccomp, "seccomp"))
        return;
    child_check_denied(&driver, NULL, COUNT(harm_to_processes), harm_to_processes);
    ck_assert(child_shared->state.seccomp && child_shared->state.no_capabilities);
}
END_TEST

/* Before Linux 6.12 the filter alone denies signals; /proc is protected by Landlock only. */
START_TEST(other_processes_are_safe_without_landlock)
{
    child_as_nobody = _i;
    if (child_lacks(sandbox_available().seccomp, "seccomp"))
        return;
    child_check_denied(&driver, "landlock_create_ruleset", COUNT(harm_to_processes) - 1,
                       harm_to_processes);
    ck_assert(child_shared->state.seccomp && child_shared->state.landlock == 0);
}
END_TEST

/* Only signals, tracing and files are left to Landlock. */
START_TEST(signals_are_confined_without_seccomp)
{
    static const struct sandbox_act rows[] = {
        ROW(signal_a_process),    ROW(signal_a_group), ROW(signal_the_parent),
        ROW(signal_a_thread),     ROW(queue_a_signal), ROW(trace),
        ROW(read_memory),         ROW(write_memory),   ROW(open_memory),
        ROW(signal_from_a_child),
    };

    child_as_nobody = _i;
    if (child_lacks(sandbox_available().landlock >= 6, "Landlock 6"))
        return;
    child_check_denied(&driver, "seccomp", COUNT(rows), rows);
    ck_assert(!child_shared->state.seccomp && child_shared->state.landlock >= 6);
}
END_TEST

/* ---- the machine */

static struct timespec now;
static int zeroes[64];

ACTION(new_user_namespace, unshare(CLONE_NEWUSER))
ACTION(new_user_namespace_of_a_child,
       syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, NULL, NULL, NULL, NULL))
ACTION(new_pid_namespace_of_a_child,
       syscall(SYS_clone, CLONE_NEWPID | SIGCHLD, NULL, NULL, NULL, NULL))
ACTION(clone_by_structure, syscall(SYS_clone3, zeroes, 64))
ACTION(join_namespace, setns(-1, 0))
ACTION(mount_something, syscall(SYS_mount, NULL, NULL, NULL, 0, NULL))
ACTION(unmount, syscall(SYS_umount2, NULL, 0))
ACTION(pivot, syscall(SYS_pivot_root, NULL, NULL))
ACTION(new_mount, syscall(SYS_fsopen, NULL, 0))
ACTION(clone_mount, syscall(SYS_open_tree, -1, NULL, 0))
ACTION(load_bpf, syscall(SYS_bpf, -1, NULL, 0))
ACTION(open_counter, syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0))
ACTION(handle_faults, syscall(SYS_userfaultfd, -1))
ACTION(kexec, syscall(SYS_kexec_load, 0, 0, NULL, -1))
ACTION(load_module, syscall(SYS_finit_module, -1, NULL, 0))
ACTION(restart, syscall(SYS_reboot, 0, 0, 0, NULL))
ACTION(swap, syscall(SYS_swapon, NULL, -1))
ACTION(set_clock, syscall(SYS_clock_settime, -1, &now))
ACTION(set_time, syscall(SYS_settimeofday, NULL, NULL))
ACTION(adjust_time, syscall(SYS_adjtimex, NULL))
ACTION(set_hostname, syscall(SYS_sethostname, NULL, -1))
ACTION(read_keys, syscall(SYS_keyctl, -1, 0, 0, 0, 0))
ACTION(add_key, syscall(SYS_add_key, NULL, NULL, NULL, 0, 0))
ACTION(set_up_ring, syscall(SYS_io_uring_setup, 0, NULL))
ACTION(handle_of_name, syscall(SYS_name_to_handle_at, -1, NULL, NULL, NULL, 0))
ACTION(open_handle, syscall(SYS_open_by_handle_at, -1, NULL, 0))
ACTION(quota, syscall(SYS_quotactl, -1, NULL, 0, NULL))
ACTION(account, syscall(SYS_acct, "/nonexistent/file"))
ACTION(read_log, syscall(SYS_syslog, 10, NULL, 0))
ACTION(shared_segment, syscall(SYS_shmget, 1, 4096, 0))
ACTION(semaphore, syscall(SYS_semget, 1, 1, 0))
ACTION(message_queue, syscall(SYS_msgget, 1, 0))
ACTION(posix_queue, syscall(SYS_mq_open, "test_sandbox", O_RDONLY, 0, NULL))
ACTION(inet_socket, socket(AF_INET, SOCK_STREAM, 0))
ACTION(unix_socket, socket(AF_UNIX, SOCK_STREAM, 0))
ACTION(netlink_socket, socket(AF_NETLINK, SOCK_RAW, 0))
ACTION(gain_capabilities, prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, 0, 0, 0))

START_TEST(the_machine_is_safe)
{
    static const struct sandbox_act rows[] = {
        ROW(new_user_namespace),
        ROW(new_user_namespace_of_a_child),
        ROW(new_pid_namespace_of_a_child),
        { "clone_by_structure", clone_by_structure, ENOSYS },
        ROW(join_namespace),
        ROW(mount_something),
        ROW(unmount),
        ROW(pivot),
        ROW(new_mount),
        ROW(clone_mount),
        ROW(load_bpf),
        ROW(open_counter),
        ROW(handle_faults),
        ROW(kexec),
        ROW(load_module),
        ROW(restart),
        ROW(swap),
        ROW(set_clock),
        ROW(set_time),
        ROW(adjust_time),
        ROW(set_hostname),
        ROW(read_keys),
        ROW(add_key),
        ROW(set_up_ring),
        ROW(handle_of_name),
        ROW(open_handle),
        ROW(quota),
        ROW(account),
        ROW(read_log),
        ROW(shared_segment),
        ROW(semaphore),
        ROW(message_queue),
        ROW(posix_queue),
        ROW(inet_socket),
        ROW(unix_socket),
        ROW(netlink_socket),
        ROW(gain_capabilities),
    };

    child_as_nobody = _i;
    if (child_lacks(sandbox_available().seccomp, "seccomp"))
        return;
    child_check_denied(&driver, NULL, COUNT(rows), rows);
}
END_TEST

/* ---- files */

/* A name in the folder, or in the scratch folder: valid until the next but three. */
static const char *in_folder(const char *base, const char *name)
{
    static char path[4][128];
    static int next;

    next = (next + 1) % 4;
    snprintf(path[next], sizeof path[next], "%s/%s", base, name);
    return path[next];
}

ACTION(write_outside, open(child_outside, O_WRONLY))
ACTION(truncate_outside, truncate(child_outside, 0))
ACTION(truncate_by_reading, open(child_outside, O_RDONLY | O_TRUNC))
ACTION(create_outside, open(in_folder(child_folder, "new"), O_CREAT | O_WRONLY, 0600))
ACTION(unnamed_file_outside, open(child_folder, O_TMPFILE | O_RDWR, 0600))
ACTION(remove_outside, unlink(child_outside))
ACTION(rename_outside, rename(child_outside, in_folder(child_folder, "new")))
ACTION(folder_outside, mkdir(in_folder(child_folder, "new"), 0700))
ACTION(remove_scratch, rmdir(child_scratch))
ACTION(link_outside, symlink("/", in_folder(child_folder, "new")))
ACTION(fifo_outside, mkfifo(in_folder(child_folder, "new"), 0600))
ACTION(move_inside, rename(child_outside, in_folder(child_scratch, "new")))
ACTION(link_inside, link(child_outside, in_folder(child_scratch, "new")))
ACTION(write_through_a_link, symlink(child_outside, in_folder(child_scratch, "link")) < 0
                                 ? 0
                                 : open(in_folder(child_scratch, "link"), O_WRONLY))
ACTION(make_shared_memory, shm_open("/test_sandbox", O_CREAT | O_RDWR, 0600))
ACTION(write_own_oom_score, open("/proc/self/oom_score_adj", O_WRONLY))
ACTION(write_kernel_setting, open("/proc/sys/kernel/hostname", O_WRONLY))

START_TEST(files_outside_of_scratch_are_safe)
{
    static const struct sandbox_act rows[] = {
        ROW(write_outside),       ROW(truncate_outside),     ROW(truncate_by_reading),
        ROW(create_outside),      ROW(unnamed_file_outside), ROW(remove_outside),
        ROW(rename_outside),      ROW(folder_outside),       ROW(remove_scratch),
        ROW(link_outside),        ROW(fifo_outside),         ROW(move_inside),
        ROW(link_inside),         ROW(write_through_a_link), ROW(make_shared_memory),
        ROW(write_own_oom_score), ROW(write_kernel_setting),
    };
    struct stat st;

    child_as_nobody = _i;
    if (child_lacks(sandbox_available().landlock >= 3, "Landlock 3"))
        return;
    child_check_denied(&driver, NULL, COUNT(rows), rows);
    ck_assert(stat(child_outside, &st) == 0 && st.st_size == 4);
}
END_TEST

static int file_descriptor(void)
{
    return open(child_outside, O_RDONLY);
}

static struct flock whole_file = { .l_type = F_RDLCK };

ACTION(change_mode, chmod(child_outside, 0))
ACTION(change_mode_of_open_file, fchmod(file_descriptor(), 0))
ACTION(change_owner, chown(child_outside, (uid_t) -1, (gid_t) -1))
ACTION(change_times, utimensat(AT_FDCWD, child_outside, NULL, 0))
ACTION(set_attribute, syscall(SYS_setxattr, child_outside, "user.test", "", 0, 0))
ACTION(remove_attribute, syscall(SYS_removexattr, child_outside, "user.test"))
ACTION(set_flags, ioctl(file_descriptor(), FS_IOC_SETFLAGS, zeroes))
ACTION(set_version, ioctl(file_descriptor(), FS_IOC_SETVERSION, zeroes))
ACTION(set_project, ioctl(file_descriptor(), FS_IOC_FSSETXATTR, zeroes))
ACTION(snapshot, ioctl(open(child_folder, O_RDONLY), _IOW(0x94, 14, char[4096]), zeroes))
ACTION(lease, fcntl(file_descriptor(), F_SETLEASE, F_RDLCK))
ACTION(lock_by_flock, flock(file_descriptor(), LOCK_SH))
ACTION(lock_by_fcntl, fcntl(file_descriptor(), F_SETLK, &whole_file))
ACTION(lock_by_description, fcntl(file_descriptor(), F_OFD_SETLK, &whole_file))

START_TEST(attributes_and_locks_of_files_are_safe)
{
    static const struct sandbox_act rows[] = {
        ROW(change_mode),
        ROW(change_mode_of_open_file),
        ROW(change_owner),
        ROW(change_times),
        ROW(set_attribute),
        ROW(remove_attribute),
        ROW(set_flags),
        ROW(set_version),
        ROW(set_project),
        ROW(snapshot),
        ROW(lease),
        { "lock_by_flock", lock_by_flock, ENOLCK },
        { "lock_by_fcntl", lock_by_fcntl, ENOLCK },
        { "lock_by_description", lock_by_description, ENOLCK },
    };

    child_as_nobody = _i;
    if (child_lacks(sandbox_available().seccomp, "seccomp"))
        return;
    child_check_denied(&driver, NULL, COUNT(rows), rows);
}
END_TEST

/* ---- what correct drivers do */

static volatile sig_atomic_t handled;

static void count_signal(int signal)
{
    (void) signal;
    handled++;
}

static long handle_own_signals(void)
{
    struct sigaction action = { .sa_handler = count_signal };

    if (sigaction(SIGUSR1, &action, NULL) < 0 || raise(SIGUSR1) != 0 ||
        kill(getpid(), SIGUSR1) < 0 || pthread_kill(pthread_self(), SIGUSR1) != 0 ||
        sigqueue(getpid(), SIGUSR1, no_value) < 0)
        return -1;
    return handled == 4 ? 0 : -1;
}

static void *wait_and_end(void *user)
{
    usleep(1000);
    return user;
}

static long use_threads(void)
{
    pthread_t t[4];
    cpu_set_t all;
    void *result;

    if (sched_getaffinity(0, sizeof all, &all) < 0 || sched_setaffinity(0, sizeof all, &all) < 0)
        return -1;
    for (int i = 0; i < COUNT(t); i++)
        if ((errno = pthread_create(&t[i], NULL, wait_and_end, &byte)) != 0 ||
            (errno = pthread_setaffinity_np(t[i], sizeof all, &all)) != 0)
            return -1;
    for (int i = 0; i < COUNT(t); i++)
        if (pthread_join(t[i], &result) != 0 || result != &byte)
            return -1;
    return prctl(PR_SET_NAME, "driver");
}

static long use_memory(void)
{
    size_t size = 1 << 20;
    int fd = memfd_create("driver", MFD_CLOEXEC);
    char *p = malloc(size), *map = MAP_FAILED;

    if (fd >= 0 && ftruncate(fd, (off_t) size) == 0)
        map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (!p || map == MAP_FAILED)
        return -1;
    memset(p, 1, size);
    memcpy(map, p, size);
    free(p);
    close(fd);
    return mprotect(map, size, PROT_READ | PROT_EXEC) < 0 ? -1 : munmap(map, size);
}

static long use_scratch(void)
{
    const char *a = in_folder(child_scratch, "a"), *d = in_folder(child_scratch, "d");
    const char *b = in_folder(child_scratch, "d/b");
    int fd = open(a, O_CREAT | O_RDWR | O_TRUNC, 0600);

    if (fd < 0 || write(fd, "text", 4) != 4 || ftruncate(fd, 2) < 0 || close(fd) < 0)
        return -1;
    if (mkdir(d, 0700) < 0 || rename(a, b) < 0 || unlink(b) < 0)
        return -1;
    return rmdir(d);
}

static long load_a_library(void)
{
    void *library = dlopen("libutil.so.1", RTLD_NOW);

    return library ? dlclose(library) : -1;
}

static long run_a_program(void)
{
    int status = system("exec true");

    return status == 0 ? 0 : -1;
}

static long end_a_child(void)
{
    int status;
    pid_t pid = fork();

    if (pid == 0)
        for (;;)
            pause();
    if (pid < 0 || kill(pid, SIGKILL) < 0 || waitpid(pid, &status, 0) != pid)
        return -1;
    return WIFSIGNALED(status) ? 0 : -1;
}

static long use_timers(void)
{
    struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR2 };
    struct sigaction action = { .sa_handler = count_signal };
    struct itimerspec soon = { .it_value = { 0, 1000 } };
    struct itimerval later = { .it_value = { 100, 0 } };
    int before = handled;
    timer_t timer;

    if (sigaction(SIGUSR2, &action, NULL) < 0 ||
        timer_create(CLOCK_MONOTONIC, &event, &timer) < 0 ||
        timer_settime(timer, 0, &soon, NULL) < 0 || setitimer(ITIMER_REAL, &later, NULL) < 0)
        return -1;
    while (handled == before)
        usleep(100);
    return timer_delete(timer);
}

static long change_own_state(void)
{
    if (chdir("/") < 0 || getrlimit(RLIMIT_CORE, &limit) < 0 ||
        setrlimit(RLIMIT_CORE, &limit) < 0 || setpriority(PRIO_PROCESS, 0, 1) < 0)
        return -1;
    umask(077);
    return setlocale(LC_ALL, "C") ? 0 : -1;
}

static long use_descriptors(void)
{
    int pair[2], event = eventfd(0, EFD_NONBLOCK), null = open("/dev/null", O_RDWR);
    int password = open("/etc/passwd", O_RDONLY);

    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) < 0 || event < 0 || null < 0 || password < 0)
        return -1;
    if (fcntl(pair[0], F_SETFL, O_NONBLOCK) < 0 || write(null, "1", 1) != 1)
        return -1;
    return send(pair[0], "1", 1, 0) == 1 && recv(pair[1], &byte, 1, 0) == 1 ? 0 : -1;
}

static const struct sandbox_act legal[] = {
    ROW(use_threads),      ROW(use_memory),
    ROW(use_scratch),      ROW(load_a_library),
    ROW(run_a_program),    ROW(handle_own_signals),
    ROW(use_timers),       ROW(use_descriptors),
    ROW(change_own_state), { "end_a_child", end_a_child, 0 },
};

START_TEST(correct_drivers_work)
{
    child_as_nobody = _i;
    child_check_allowed(&driver, NULL, COUNT(legal), legal);
}
END_TEST

/* Without Landlock a signal to a child is denied. */
START_TEST(correct_drivers_work_without_landlock)
{
    child_as_nobody = _i;
    child_check_allowed(&driver, "landlock_create_ruleset", COUNT(legal) - 1, legal);
}
END_TEST

static long call_abort(void)
{
    abort();
}

START_TEST(abort_is_seen_as_abort)
{
    static const struct sandbox_act row[] = { ROW(call_abort) };

    child_as_nobody = _i;
    for (int hidden = 0; hidden < 2; hidden++) {
        int status = child_try_all(&driver, hidden ? "landlock_create_ruleset" : NULL, 1, row);
        ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, "%x", (unsigned) status);
    }
}
END_TEST

/* ---- options */

ACTION(start_a_child, in_a_child(use_memory))
ACTION(start_a_child_that_shares_memory, vfork() == 0 ? (_exit(0), 0) : errno ? -1 : 0)
ACTION(execute, execl("/bin/true", "true", NULL))
ACTION(read_a_file, open("/etc/passwd", O_RDONLY))
ACTION(list_a_folder, opendir("/") ? 0 : -1)
ACTION(read_readable, open(child_outside, O_RDONLY))

START_TEST(processes_and_reading_can_be_denied)
{
    static const char *const readable[] = { child_outside, "/usr/lib", "/lib", "/nonexistent",
                                            NULL };
    static const struct sandbox_options o = { .scratch = child_scratch, .readable = readable };
    static const struct sandbox_act denied[] = {
        ROW(start_a_child),  ROW(start_a_child_that_shares_memory),
        ROW(execute),        ROW(read_a_file),
        ROW(list_a_folder),  ROW(write_outside),
        ROW(create_outside),
    };
    static const struct sandbox_act allowed[] = {
        ROW(use_threads),    ROW(use_memory), ROW(use_scratch),
        ROW(load_a_library), ROW(use_timers), ROW(read_readable),
    };

    child_as_nobody = _i;
    if (child_lacks(sandbox_available().seccomp && sandbox_available().landlock,
                    "seccomp and Landlock"))
        return;
    child_check_denied(&o, NULL, COUNT(denied), denied);
    child_check_allowed(&o, NULL, COUNT(allowed), allowed);
}
END_TEST

static long use_a_device(void)
{
    int fd = open("/dev/ptmx", O_RDWR | O_NOCTTY), number;

    return fd < 0 ? -1 : ioctl(fd, TIOCGPTN, &number);
}

START_TEST(devices_and_network_can_be_allowed)
{
    struct sandbox_options o = driver;
    static const struct sandbox_act denied[] = { ROW(use_a_device) };
    static const struct sandbox_act allowed[] = { ROW(use_a_device), ROW(lock_by_flock),
                                                  ROW(lock_by_fcntl), ROW(inet_socket),
                                                  ROW(unix_socket) };
    static const struct sandbox_act still_denied[] = { ROW(make_shared_memory), ROW(write_outside),
                                                       ROW(signal_a_process),
                                                       ROW(type_into_a_terminal) };

    if (use_a_device() < 0 || child_lacks(sandbox_available().landlock, "Landlock"))
        return;
    child_check_denied(&o, NULL, COUNT(denied), denied);
    o.allow_devices = o.allow_network = true;
    child_check_allowed(&o, NULL, COUNT(allowed), allowed);
    child_check_denied(&o, NULL, COUNT(still_denied), still_denied);
}
END_TEST

START_TEST(a_scratch_folder_must_exist)
{
    static const struct sandbox_options o = { .scratch = "/nonexistent/folder" };

    if (child_lacks(sandbox_available().landlock, "Landlock"))
        return;
    int status = child_try_all(&o, NULL, 0, NULL);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == CANNOT_ENTER);
    ck_assert_msg(strstr(child_shared->why.text, "/nonexistent/folder: No such file"), "%s",
                  child_shared->why.text);
}
END_TEST

START_TEST(descriptions)
{
    char text[SANDBOX_TEXT];

    ck_assert_str_eq(sandbox_describe(&(struct sandbox_state){ true, true, 7 }, text, sizeof text),
                     "seccomp, Landlock 7, no capabilities");
    ck_assert_str_eq(sandbox_describe(&(struct sandbox_state){ false, true, 2 }, text, sizeof text),
                     "Landlock 2, no capabilities");
    ck_assert_str_eq(sandbox_describe(&(struct sandbox_state){ false, true, 0 }, text, sizeof text),
                     "no capabilities");
    ck_assert_str_eq(sandbox_describe(&(struct sandbox_state){ 0 }, text, sizeof text), "none");

    const struct sandbox_state s = { true, true, 0, SANDBOX_PROCESSES };
    ck_assert_str_eq(sandbox_describe(&s, text, sizeof text),
                     "seccomp, no capabilities, process namespace");
    ck_assert_str_eq(
        sandbox_describe_missing(&s, SANDBOX_PROCESSES | SANDBOX_NETWORK, text, sizeof text),
        "Landlock, network namespace");
    ck_assert_str_eq(sandbox_call_name(SYS_ptrace, text, sizeof text), "ptrace");
}
END_TEST

Suite *sandbox_suite(void)
{
    TCase *t = tcase_create("sandbox");

    tcase_add_checked_fixture(t, child_set_up, child_tear_down);
    tcase_add_loop_test(t, other_processes_are_safe, 0, 2);
    tcase_add_loop_test(t, other_processes_are_safe_without_landlock, 0, 2);
    tcase_add_loop_test(t, signals_are_confined_without_seccomp, 0, 2);
    tcase_add_loop_test(t, the_machine_is_safe, 0, 2);
    tcase_add_loop_test(t, files_outside_of_scratch_are_safe, 0, 2);
    tcase_add_loop_test(t, attributes_and_locks_of_files_are_safe, 0, 2);
    tcase_add_loop_test(t, correct_drivers_work, 0, 2);
    tcase_add_loop_test(t, correct_drivers_work_without_landlock, 0, 2);
    tcase_add_loop_test(t, abort_is_seen_as_abort, 0, 2);
    tcase_add_loop_test(t, processes_and_reading_can_be_denied, 0, 2);
    tcase_add_test(t, devices_and_network_can_be_allowed);
    tcase_add_test(t, a_scratch_folder_must_exist);
    tcase_add_test(t, descriptions);
    return make_suite("sandbox", t, NULL);
}
