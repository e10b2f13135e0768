/* The order: capabilities, since dropping those of the bounding set needs one; Landlock, whose
 * calls need files that are still readable; seccomp last, since it denies what the others use. */
#define _GNU_SOURCE
#include "golden/base/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define COUNT(array) ((int) (sizeof(array) / sizeof *(array)))

/* ---- capabilities */

static int drop_capabilities(struct why *w)
{
    struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
    struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { 0 };

    /* Without CAP_SETPCAP the bounding set stays; no_new_privs lets no program gain from it. */
    for (unsigned long c = 0; prctl(PR_CAPBSET_READ, c, 0, 0, 0) >= 0; c++)
        if (prctl(PR_CAPBSET_DROP, c, 0, 0, 0) < 0)
            break;
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    if (syscall(SYS_capset, &header, none) < 0)
        return why_fail(w, WHY_SYSTEM, "cannot drop capabilities: %s", strerror(errno));
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return why_fail(w, WHY_SYSTEM, "cannot set no_new_privs: %s", strerror(errno));
    return 0;
}

/* ---- Landlock, as in linux/landlock.h, which may be older than the kernel */

/* Rights of files, TCP and processes; NAME_N: ABI N introduced it, without a number 1. */
enum {
    FS_EXECUTE = 1 << 0,
    FS_WRITE_FILE = 1 << 1,
    FS_READ_FILE = 1 << 2,
    FS_READ_DIR = 1 << 3,
    FS_CHANGES = 0x1ff0, /* removing and making entries of all kinds */
    FS_REFER_2 = 1 << 13,
    FS_TRUNCATE_3 = 1 << 14,
    FS_IOCTL_DEV_5 = 1 << 15,
    FS_OF_FILES = FS_EXECUTE | FS_WRITE_FILE | FS_READ_FILE | FS_TRUNCATE_3 | FS_IOCTL_DEV_5,
    NET_TCP_4 = 3, /* bind and connect */
    SCOPE_ABSTRACT_UNIX_SOCKET_6 = 1,
    SCOPE_SIGNAL_6 = 2,
    FIRST_ABI_OF_TRUNCATE = 3,
    FIRST_ABI_OF_SCOPES = 6,
};

#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule       445
#define SYS_landlock_restrict_self  446
#endif

struct ruleset {
    uint64_t fs, net, scopes; /* what is denied unless a rule allows it */
};

struct path_rule {
    uint64_t allowed;
    int32_t fd;
} __attribute__((packed));

/* 0: none. */
static int landlock_abi(void)
{
    enum { GET_VERSION = 1 };
    long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, GET_VERSION);

    return abi > 0 ? (int) abi : 0;
}

static struct ruleset ruleset_of(const struct sandbox_options *o, int abi)
{
    struct ruleset r = { .fs = FS_WRITE_FILE | FS_CHANGES };

    if (o->readable)
        r.fs |= FS_EXECUTE | FS_READ_FILE | FS_READ_DIR;
    if (abi >= 2)
        r.fs |= FS_REFER_2;
    if (abi >= FIRST_ABI_OF_TRUNCATE)
        r.fs |= FS_TRUNCATE_3;
    if (abi >= 4 && !o->allow_network)
        r.net = NET_TCP_4;
    if (abi >= 5)
        r.fs |= FS_IOCTL_DEV_5;
    if (abi >= FIRST_ABI_OF_SCOPES)
        r.scopes = SCOPE_SIGNAL_6 | (o->allow_network ? 0 : SCOPE_ABSTRACT_UNIX_SOCKET_6);
    return r;
}

/* Allows the rights, of those in r->fs, for the file, or for everything in the folder. */
static int allow(int rules, const struct ruleset *r, const char *path, bool must_exist,
                 uint64_t rights, struct why *w)
{
    enum { PATH_BENEATH = 1 };
    struct path_rule rule = { .fd = open(path, O_PATH | O_CLOEXEC) };
    struct stat st;

    if (rule.fd < 0 && !must_exist)
        return 0;
    if (rule.fd < 0 || fstat(rule.fd, &st) < 0)
        goto failed;
    rule.allowed = rights & r->fs & (S_ISDIR(st.st_mode) ? ~UINT64_C(0) : FS_OF_FILES);
    if (rule.allowed && syscall(SYS_landlock_add_rule, rules, PATH_BENEATH, &rule, 0) < 0)
        goto failed;
    close(rule.fd);
    return 0;
failed:
    why_fail(w, WHY_SYSTEM, "cannot give a confined process %s: %s", path, strerror(errno));
    if (rule.fd >= 0)
        close(rule.fd);
    return -1;
}

static int allow_all(int rules, const struct ruleset *r, const struct sandbox_options *o,
                     struct why *w)
{
    static const char *const nodes[] = { "/dev/null", "/dev/zero", "/dev/full", "/dev/random",
                                         "/dev/urandom" };
    const uint64_t read = FS_READ_FILE | FS_READ_DIR | FS_EXECUTE,
                   write = FS_WRITE_FILE | FS_TRUNCATE_3;

    for (int i = 0; i < COUNT(nodes) && !o->only_computes; i++)
        TRY(allow(rules, r, nodes[i], false, read | write, w));
    if (o->allow_devices)
        TRY(allow(rules, r, "/dev", false, read | write | FS_IOCTL_DEV_5, w));
    for (const char *const *path = o->readable; path && *path; path++)
        TRY(allow(rules, r, *path, false, read, w));
    return o->scratch ? allow(rules, r, o->scratch, true, r->fs, w) : 0;
}

static int restrict_files(const struct sandbox_options *o, int abi, struct why *w)
{
    struct ruleset r = ruleset_of(o, abi);
    int rules = (int) syscall(SYS_landlock_create_ruleset, &r, sizeof r, 0);

    if (rules < 0)
        return why_fail(w, WHY_SYSTEM, "Landlock: %s", strerror(errno));
    int rc = allow_all(rules, &r, o, w);
    if (rc == 0 && syscall(SYS_landlock_restrict_self, rules, 0) < 0)
        rc = why_fail(w, WHY_SYSTEM, "Landlock: %s", strerror(errno));
    close(rules);
    return rc;
}

/* ---- seccomp */

/* Denied with any arguments.  `number`: of calls that libseccomp may not know by name. */
static const struct {
    const char *name;
    int number;
} denied[] = {
    /* other processes */
    { "ptrace" },
    { "process_vm_readv" },
    { "process_vm_writev" },
    { "process_madvise" },
    { "process_mrelease" },
    { "kcmp" },
    { "pidfd_open" },
    { "pidfd_getfd" },
    { "pidfd_send_signal" },
    /* namespaces and mounts */
    { "unshare" },
    { "setns" },
    { "mount" },
    { "umount" },
    { "umount2" },
    { "pivot_root" },
    { "open_tree" },
    { "open_tree_attr", 467 },
    { "move_mount" },
    { "fsopen" },
    { "fsconfig" },
    { "fsmount" },
    { "fspick" },
    { "mount_setattr" },
    /* what Landlock has no right for: attributes of files, files by handle */
    { "chmod" },
    { "fchmod" },
    { "fchmodat" },
    { "fchmodat2", 452 },
    { "chown" },
    { "lchown" },
    { "fchown" },
    { "fchownat" },
    { "utime" },
    { "utimes" },
    { "futimesat" },
    { "utimensat" },
    { "setxattr" },
    { "lsetxattr" },
    { "fsetxattr" },
    { "setxattrat", 463 },
    { "removexattr" },
    { "lremovexattr" },
    { "fremovexattr" },
    { "removexattrat", 466 },
    { "file_setattr", 469 },
    { "name_to_handle_at" },
    { "open_by_handle_at" },
    /* objects that are not files, and belong to all processes of the user */
    { "shmget" },
    { "shmat" },
    { "shmctl" },
    { "semget" },
    { "semop" },
    { "semtimedop" },
    { "semctl" },
    { "msgget" },
    { "msgsnd" },
    { "msgrcv" },
    { "msgctl" },
    { "mq_open" },
    { "mq_unlink" },
    { "add_key" },
    { "request_key" },
    { "keyctl" },
    /* io_uring carries out calls that seccomp does not see */
    { "io_uring_setup" },
    { "io_uring_enter" },
    { "io_uring_register" },
    /* the machine */
    { "bpf" },
    { "perf_event_open" },
    { "userfaultfd" },
    { "kexec_load" },
    { "kexec_file_load" },
    { "init_module" },
    { "finit_module" },
    { "delete_module" },
    { "reboot" },
    { "swapon" },
    { "swapoff" },
    { "settimeofday" },
    { "clock_settime" },
    { "adjtimex" },
    { "clock_adjtime" },
    { "sethostname" },
    { "setdomainname" },
    { "quotactl" },
    { "quotactl_fd" },
    { "acct" },
    { "syslog" },
    { "vhangup" },
    { "iopl" },
    { "ioperm" },
};

/* Denied if an argument has the value in the bits of the mask; mask 0: always. */
struct value_rule {
    const char *name;
    unsigned argument;
    uint64_t mask, value;
};
#define WHOLE(value)  UINT32_MAX, (uint32_t) (value) /* the kernel looks at 32 bits */
#define HAS_BIT(flag) (flag), (flag)

static const struct value_rule denied_values[] = {
    { "clone", 0, HAS_BIT(CLONE_NEWNS) },
    { "clone", 0, HAS_BIT(CLONE_NEWCGROUP) },
    { "clone", 0, HAS_BIT(CLONE_NEWUTS) },
    { "clone", 0, HAS_BIT(CLONE_NEWIPC) },
    { "clone", 0, HAS_BIT(CLONE_NEWUSER) },
    { "clone", 0, HAS_BIT(CLONE_NEWPID) },
    { "clone", 0, HAS_BIT(CLONE_NEWNET) },
    { "clone", 0, HAS_BIT(CLONE_PARENT) }, /* a child of the harness */
    { "kill", 0, WHOLE(-1) },              /* "all others": Landlock lets it return 0 */
    /* typing into a terminal, and making its programs stop */
    { "ioctl", 1, WHOLE(TIOCSTI) },
    { "ioctl", 1, WHOLE(TIOCLINUX) },
    { "ioctl", 1, WHOLE(TIOCSCTTY) },
    { "ioctl", 1, WHOLE(TIOCSPGRP) },
    /* SIGIO to others */
    { "ioctl", 1, WHOLE(FIOSETOWN) },
    { "ioctl", 1, WHOLE(SIOCSPGRP) },
    { "fcntl", 1, WHOLE(F_SETOWN) },
    { "fcntl", 1, WHOLE(F_SETOWN_EX) },
    { "fcntl", 1, WHOLE(F_SETLEASE) }, /* delays those who open the file */
    { "ioprio_set", 0, HAS_BIT(2) },   /* groups and users */
};
/* Changes of files that are open for reading: FS_IOC_SETFLAGS, FS_IOC_ENABLE_VERITY and others that
 * pass a structure to the kernel; those of btrfs, which make and remove whole trees. */
#define IOCTL_TYPE(type)        0xff00u, (type) << 8
#define IOCTL_TYPE_WRITES(type) 0xff00u | 1u << 30, (type) << 8 | 1u << 30
static const struct value_rule denied_file_ioctls[] = {
    { "ioctl", 1, IOCTL_TYPE_WRITES('f') },
    { "ioctl", 1, IOCTL_TYPE_WRITES('v') },
    { "ioctl", 1, IOCTL_TYPE_WRITES('X') },
    { "ioctl", 1, IOCTL_TYPE(0x94) },
};
static const struct value_rule denied_locks[] = {
    { "fcntl", 1, WHOLE(F_SETLK) },
    { "fcntl", 1, WHOLE(F_SETLKW) },
    { "fcntl", 1, WHOLE(F_OFD_SETLK) },
    { "fcntl", 1, WHOLE(F_OFD_SETLKW) },
    { "flock", 1, 0, 0 },
};
static const struct value_rule denied_processes[] = {
    { "clone", 0, CLONE_THREAD, 0 }, { "fork", 0, 0, 0 },     { "vfork", 0, 0, 0 },
    { "execve", 0, 0, 0 },           { "execveat", 0, 0, 0 },
};
/* Without FS_TRUNCATE: open() for reading truncates, too. */
static const struct value_rule denied_truncation[] = {
    { "truncate", 0, 0, 0 },
    { "open", 1, O_ACCMODE | O_TRUNC, O_TRUNC },
    { "openat", 2, O_ACCMODE | O_TRUNC, O_TRUNC },
};

/* Denied unless the argument is 0: the calling process, or PRIO_PROCESS. */
static const struct {
    const char *name;
    unsigned argument;
} denied_others[] = {
    { "prlimit64", 0 },     { "sched_setparam", 0 }, { "sched_setscheduler", 0 },
    { "sched_setattr", 0 }, { "setpriority", 0 },    { "setpriority", 1 },
    { "ioprio_set", 1 },    { "migrate_pages", 0 },  { "move_pages", 0 },
};
/* Denied unless the first argument is the process itself. */
static const char *const denied_signals[] = { "kill", "tkill", "tgkill", "rt_sigqueueinfo",
                                              "rt_tgsigqueueinfo" };

/* Adds a rule; a call that this architecture or libseccomp does not have needs none. */
static int rule_add(scmp_filter_ctx f, uint32_t action, const char *name, unsigned n,
                    struct scmp_arg_cmp comparison)
{
    int number = seccomp_syscall_resolve_name(name);

    return number < 0 ? 0 : seccomp_rule_add_array(f, action, number, n, &comparison);
}

/* The table `denied`. */
static int add_denied(scmp_filter_ctx f, uint32_t action)
{
    int rc = 0;

    for (int i = 0; i < COUNT(denied) && rc == 0; i++)
        rc = denied[i].number ? seccomp_rule_add(f, action, denied[i].number, 0)
                              : rule_add(f, action, denied[i].name, 0, (struct scmp_arg_cmp){ 0 });
    return rc;
}

static int deny_always(scmp_filter_ctx f)
{
    int rc = add_denied(f, SCMP_ACT_ERRNO(EPERM));

    for (int i = 0; i < COUNT(denied_others) && rc == 0; i++)
        rc = rule_add(f, SCMP_ACT_ERRNO(EPERM), denied_others[i].name, 1,
                      SCMP_CMP64(denied_others[i].argument, SCMP_CMP_NE, 0));
    return rc;
}

static int add_values(scmp_filter_ctx f, uint32_t action, int n, const struct value_rule *rules)
{
    int rc = 0;

    for (int i = 0; i < n && rc == 0; i++)
        rc = rule_add(
            f, action, rules[i].name, rules[i].mask != 0,
            SCMP_CMP64(rules[i].argument, SCMP_CMP_MASKED_EQ, rules[i].mask, rules[i].value));
    return rc;
}

static int deny_values(scmp_filter_ctx f, int error, int n, const struct value_rule *rules)
{
    return add_values(f, SCMP_ACT_ERRNO((uint32_t) error), n, rules);
}

static int add_names(scmp_filter_ctx f, uint32_t action, int n, const char *const *names)
{
    int rc = 0;

    for (int i = 0; i < n && rc == 0; i++)
        rc = rule_add(f, action, names[i], 0, (struct scmp_arg_cmp){ 0 });
    return rc;
}

static int deny_signals(scmp_filter_ctx f)
{
    int rc = 0;

    for (int i = 0; i < COUNT(denied_signals) && rc == 0; i++)
        rc = rule_add(f, SCMP_ACT_ERRNO(EPERM), denied_signals[i], 1,
                      SCMP_A0_64(SCMP_CMP_NE, (scmp_datum_t) getpid()));
    return rc;
}

/* ---- what a computation needs: everything else is denied */

/* Allowed with any arguments. */
static const char *const allowed[] = {
    /* descriptors; paths that Landlock does not restrict: names, sizes and modes of files */
    "read", "readv", "pread64", "preadv", "write", "writev", "pwrite64", "lseek", "fstat", "stat",
    "lstat", "newfstatat", "statx", "access", "faccessat", "faccessat2", "readlink", "readlinkat",
    "getcwd", "getdents", "getdents64", "pipe", "pipe2", "poll", "ppoll", "select", "pselect6",
    /* memory */
    "brk", "mmap", "munmap", "mremap", "mprotect", "madvise", "membarrier",
    /* the thread itself */
    "exit", "futex", "set_robust_list", "rseq", "sched_yield", "sched_getaffinity", "getcpu",
    "getpid", "gettid", "getppid", "getuid", "geteuid", "getgid", "getegid", "getrlimit",
    "getrusage", "uname", "sysinfo", "getrandom",
    /* its signals and time; no timer, which could kill it */
    "rt_sigreturn", "rt_sigpending", "rt_sigsuspend", "rt_sigtimedwait", "sigaltstack", "pause",
    "restart_syscall", "nanosleep", "clock_nanosleep", "clock_gettime", "clock_getres",
    "gettimeofday", "time", "times"
};
/* Allowed if an argument has the value in the bits of the mask. */
static const struct value_rule allowed_values[] = {
    { "prlimit64", 2, UINT64_MAX, 0 }, /* without new limits */
    { "fcntl", 1, WHOLE(F_GETFD) },    { "fcntl", 1, WHOLE(F_SETFD) },
    { "fcntl", 1, WHOLE(F_GETFL) },    { "fcntl", 1, WHOLE(F_DUPFD_CLOEXEC) },
    { "ioctl", 1, WHOLE(TCGETS) },     { "ioctl", 1, WHOLE(FIOCLEX) },
    { "ioctl", 1, WHOLE(FIONCLEX) },
};
#define WRITING (O_ACCMODE | O_CREAT | O_TRUNC | O_PATH)
/* Where Landlock restricts what can be opened. */
static const struct value_rule allowed_reading[] = {
    { "open", 1, WRITING, 0 },
    { "openat", 2, WRITING, 0 },
};
static const struct value_rule trapped_writing[] = {
    { "open", 1, HAS_BIT(O_WRONLY) }, { "openat", 2, HAS_BIT(O_WRONLY) },
    { "open", 1, HAS_BIT(O_RDWR) },   { "openat", 2, HAS_BIT(O_RDWR) },
    { "open", 1, HAS_BIT(O_CREAT) },  { "openat", 2, HAS_BIT(O_CREAT) },
    { "open", 1, HAS_BIT(O_TRUNC) },  { "openat", 2, HAS_BIT(O_TRUNC) },
};
/* Raise SIGSYS, besides those of `denied`: no program calls them without intent. */
static const char *const trapped[] = { "clone",
                                       "fork",
                                       "vfork",
                                       "execve",
                                       "execveat",
                                       "kill",
                                       "tkill",
                                       "rt_sigqueueinfo",
                                       "rt_tgsigqueueinfo",
                                       "socket",
                                       "socketpair",
                                       "connect",
                                       "bind",
                                       "creat",
                                       "mkdir",
                                       "mkdirat",
                                       "mknod",
                                       "mknodat",
                                       "rmdir",
                                       "unlink",
                                       "unlinkat",
                                       "rename",
                                       "renameat",
                                       "renameat2",
                                       "link",
                                       "linkat",
                                       "symlink",
                                       "symlinkat",
                                       "truncate",
                                       "ftruncate",
                                       "fallocate",
                                       "memfd_create",
                                       "memfd_secret",
                                       "chdir",
                                       "fchdir",
                                       "chroot",
                                       "setrlimit",
                                       "prctl",
                                       "setpriority",
                                       "setuid",
                                       "setgid",
                                       "setreuid",
                                       "setregid",
                                       "setresuid",
                                       "setresgid",
                                       "setgroups",
                                       "setsid",
                                       "setpgid",
                                       "sched_setscheduler",
                                       "sched_setattr",
                                       "sched_setparam",
                                       "ioprio_set",
                                       "inotify_init",
                                       "inotify_init1",
                                       "fanotify_init",
                                       "timer_create",
                                       "seccomp",
                                       "landlock_create_ruleset",
                                       "capset" };
/* The C library goes back to older calls when these do not exist. */
static const char *const missing[] = { "clone3", "openat2" };

/* Handlers of the kept signals stay what they are, which the caller does not notice. */
static int allow_handlers(scmp_filter_ctx f, const struct sandbox_options *o)
{
    int rc = 0;

    for (int s = 1; s < NSIG && rc == 0; s++)
        rc = rule_add(f, o->kept_signals >> (s - 1) & 1 ? SCMP_ACT_ERRNO(0) : SCMP_ACT_ALLOW,
                      "rt_sigaction", 1, SCMP_A0_64(SCMP_CMP_EQ, (scmp_datum_t) s));
    return rc;
}

static int allow_computing(scmp_filter_ctx f, const struct sandbox_options *o, int abi)
{
    const scmp_datum_t status = (scmp_datum_t) o->exit_status,
                       open_below = (scmp_datum_t) o->open_below;
    int rc = add_names(f, SCMP_ACT_ALLOW, COUNT(allowed), allowed);

    if (rc == 0)
        rc = add_values(f, SCMP_ACT_ALLOW, COUNT(allowed_values), allowed_values);
    if (rc == 0 && abi > 0)
        rc = add_values(f, SCMP_ACT_ALLOW, COUNT(allowed_reading), allowed_reading);
    if (rc == 0)
        rc = rule_add(f, SCMP_ACT_ALLOW, "exit_group", 1, SCMP_A0_64(SCMP_CMP_EQ, status));
    if (rc == 0)
        rc = rule_add(f, SCMP_ACT_TRAP, "exit_group", 1, SCMP_A0_64(SCMP_CMP_NE, status));
    if (rc == 0)
        rc = allow_handlers(f, o);
    if (rc == 0)
        rc = rule_add(f, SCMP_ACT_ALLOW, "close", 1, SCMP_A0_64(SCMP_CMP_GE, open_below));
    if (rc == 0)
        rc = rule_add(f, SCMP_ACT_TRAP, "close", 1, SCMP_A0_64(SCMP_CMP_LT, open_below));
    if (rc == 0)
        rc = rule_add(f, SCMP_ACT_TRAP, "prlimit64", 1, SCMP_A2_64(SCMP_CMP_NE, 0));
    if (rc == 0)
        rc = add_values(f, SCMP_ACT_TRAP, COUNT(trapped_writing), trapped_writing);
    if (rc == 0)
        rc = add_names(f, SCMP_ACT_TRAP, COUNT(trapped), trapped);
    if (rc == 0)
        rc = add_denied(f, SCMP_ACT_TRAP);
    if (rc == 0)
        rc = add_names(f, SCMP_ACT_ERRNO(ENOSYS), COUNT(missing), missing);
    /* Blocking signals has no effect: SIGSYS of a call for which the C library blocks them all, to
     * start a thread or a process, would kill without running the handler. */
    return rc == 0 ? rule_add(f, SCMP_ACT_ERRNO(0), "rt_sigprocmask", 0, (struct scmp_arg_cmp){ 0 })
                   : rc;
}

/* ---- the filter */

static int deny_harm(scmp_filter_ctx f, const struct sandbox_options *o, int abi)
{
    static const struct scmp_arg_cmp any = { 0 };
    int rc = deny_always(f);

    if (rc == 0)
        rc = deny_values(f, EPERM, COUNT(denied_values), denied_values);
    if (rc == 0 && !o->allow_devices)
        rc = deny_values(f, EPERM, COUNT(denied_file_ioctls), denied_file_ioctls);
    if (rc == 0 && !o->allow_devices)
        rc = deny_values(f, ENOLCK, COUNT(denied_locks), denied_locks);
    if (rc == 0 && !o->allow_processes)
        rc = deny_values(f, EPERM, COUNT(denied_processes), denied_processes);
    if (rc == 0 && !o->allow_network)
        rc = rule_add(f, SCMP_ACT_ERRNO(EPERM), "socket", 0, any);
    if (rc == 0 && abi < FIRST_ABI_OF_TRUNCATE)
        rc = deny_values(f, EPERM, COUNT(denied_truncation), denied_truncation);
    if (rc == 0 && abi < FIRST_ABI_OF_SCOPES)
        rc = deny_signals(f);
    /* Their arguments are in memory: programs go back to the older calls. */
    if (rc == 0)
        rc = rule_add(f, SCMP_ACT_ERRNO(ENOSYS), "clone3", 0, any);
    if (rc == 0 && abi < FIRST_ABI_OF_TRUNCATE)
        rc = rule_add(f, SCMP_ACT_ERRNO(ENOSYS), "openat2", 0, any);
    /* Thread pools pin their threads, and do not start when that fails. */
    if (rc == 0)
        rc = rule_add(f, SCMP_ACT_ERRNO(0), "sched_setaffinity", 1, SCMP_A0_64(SCMP_CMP_NE, 0));
    return rc;
}

static bool has_seccomp(void)
{
    uint32_t action = SECCOMP_RET_ERRNO;

    return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

/* abi: of Landlock, which is active. */
static int make_filter(const struct sandbox_options *o, int abi, scmp_filter_ctx *ret_filter)
{
    scmp_filter_ctx f = seccomp_init(o->only_computes ? SCMP_ACT_ERRNO(EPERM) : SCMP_ACT_ALLOW);

    if (!f)
        return -ENOMEM;
    /* Calls of other architectures (32 bits, x32) are not needed.  A search tree: many rules.  No
     * mitigation of Spectre that older kernels switch on with a filter. */
    int rc = seccomp_attr_set(f, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(EPERM));
    if (rc == 0)
        rc = seccomp_attr_set(f, SCMP_FLTATR_CTL_OPTIMIZE, 2);
    if (rc == 0)
        rc = seccomp_attr_set(f, SCMP_FLTATR_CTL_SSB, 1);
    if (rc == 0)
        rc = seccomp_attr_set(f, SCMP_FLTATR_API_SYSRAWRC, 1);
    if (rc == 0)
        rc = o->only_computes ? allow_computing(f, o, abi) : deny_harm(f, o, abi);
    if (rc == 0)
        *ret_filter = f;
    else
        seccomp_release(f);
    return rc;
}

/* Of a compiled filter. */
static int install(const struct sandbox_filter *f)
{
    struct sock_fprog program = { .len = f->n, .filter = f->code };

    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &program) <
                   0
               ? -errno
               : 0;
}

static int filter_calls(const struct sandbox_options *o, int abi, struct why *w)
{
    scmp_filter_ctx f = NULL;
    int rc = o->filter ? install(o->filter) : make_filter(o, abi, &f);

    if (f) {
        rc = seccomp_load(f);
        seccomp_release(f);
    }
    return rc == 0 ? 0 : why_fail(w, WHY_SYSTEM, "seccomp: %s", strerror(-rc));
}

/* libseccomp writes the program to a file. */
static int export_filter(scmp_filter_ctx f, struct sandbox_filter *ret_filter)
{
    int fd = memfd_create("filter", MFD_CLOEXEC);
    int rc = fd < 0 ? -errno : seccomp_export_bpf(f, fd);
    off_t size = rc == 0 ? lseek(fd, 0, SEEK_END) : 0;
    struct sock_filter *code = size > 0 ? malloc((size_t) size) : NULL;

    if (rc == 0 && (!code || pread(fd, code, (size_t) size, 0) != size))
        rc = -ENOMEM;
    if (fd >= 0)
        close(fd);
    if (rc == 0)
        *ret_filter =
            (struct sandbox_filter){ code, (unsigned short) ((size_t) size / sizeof *code) };
    else
        free(code);
    return rc;
}

int sandbox_compile(const struct sandbox_options *o, struct sandbox_filter *ret_filter,
                    struct why *w)
{
    scmp_filter_ctx f = NULL;

    *ret_filter = (struct sandbox_filter){ 0 };
    if (!has_seccomp())
        return 0;
    int rc = make_filter(o, landlock_abi(), &f);
    if (rc == 0)
        rc = export_filter(f, ret_filter);
    if (f)
        seccomp_release(f);
    return rc == 0 ? 0 : why_fail(w, WHY_SYSTEM, "seccomp: %s", strerror(-rc));
}

/* ---- processes */

void sandbox_be_first_to_go(void)
{
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

    if (fd < 0)
        return;
    ssize_t n = write(fd, "1000", 4);
    (void) n; /* not allowed everywhere */
    close(fd);
}

static const struct {
    int flag, clone_flag;
    const char *name;
} namespace_table[] = {
    { SANDBOX_PROCESSES, CLONE_NEWPID, "process namespace" },
    { SANDBOX_NETWORK, CLONE_NEWNET, "network namespace" },
    { SANDBOX_IPC, CLONE_NEWIPC, "IPC namespace" },
};

/* Sets *ret_made to whether the namespaces were made. */
static pid_t fork_into(int namespaces, bool *ret_made)
{
    int flags = 0;

    for (int i = 0; i < COUNT(namespace_table); i++)
        if (namespaces & namespace_table[i].flag)
            flags |= namespace_table[i].clone_flag;
    const int attempts[] = { flags, flags | CLONE_NEWUSER, 0 };
    pid_t pid = -1;
    for (int k = 0; k < COUNT(attempts) && pid < 0; k++) {
        *ret_made = attempts[k] != 0;
        pid = (pid_t) syscall(SYS_clone, (unsigned long) (attempts[k] | SIGCHLD), 0, 0, 0, 0);
    }
    return pid;
}

pid_t sandbox_fork(int namespaces)
{
    bool made;

    return fork_into(namespaces, &made);
}

int sandbox_namespaces(int namespaces)
{
    bool made = false;
    pid_t pid = fork_into(namespaces, &made);

    if (pid == 0)
        _exit(0);
    while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
    }
    return pid > 0 && made ? namespaces : 0;
}

/* ---- */

struct sandbox_state sandbox_available(void)
{
    return (struct sandbox_state){ .seccomp = has_seccomp(),
                                   .no_capabilities = true,
                                   .landlock = landlock_abi() };
}

int sandbox_enter(const struct sandbox_options *o, struct sandbox_state *ret_active, struct why *w)
{
    struct sandbox_state s = sandbox_available();

    TRY(drop_capabilities(w));
    if (s.landlock)
        TRY(restrict_files(o, s.landlock, w));
    if (s.seccomp)
        TRY(filter_calls(o, s.landlock, w));
    if (ret_active)
        *ret_active = s;
    return 0;
}

/* Writes the parts that are active (or are not), with commas. */
static void add_parts(const struct sandbox_state *s, bool active, int namespaces, char *text,
                      size_t size)
{
    char landlock[24];
    const struct {
        bool active;
        const char *name;
    } parts[] = {
        { s->seccomp, "seccomp" },
        { s->landlock > 0, landlock },
        { s->no_capabilities, "no capabilities" },
    };
    size_t n = 0;

    snprintf(landlock, sizeof landlock, active ? "Landlock %d" : "Landlock", s->landlock);
    *text = 0;
    for (int i = 0; i < COUNT(parts); i++)
        if (parts[i].active == active && n < size)
            n += (size_t) snprintf(text + n, size - n, "%s%s", n ? ", " : "", parts[i].name);
    for (int i = 0; i < COUNT(namespace_table); i++)
        if ((namespaces & namespace_table[i].flag) && n < size)
            n += (size_t) snprintf(text + n, size - n, "%s%s", n ? ", " : "",
                                   namespace_table[i].name);
}

char *sandbox_describe(const struct sandbox_state *s, char *text, size_t size)
{
    add_parts(s, true, s->namespaces, text, size);
    if (!*text)
        snprintf(text, size, "none");
    return text;
}

char *sandbox_describe_missing(const struct sandbox_state *s, int namespaces, char *text,
                               size_t size)
{
    add_parts(s, false, namespaces & ~s->namespaces, text, size);
    return text;
}

char *sandbox_call_name(int number, char *text, size_t size)
{
    char *name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, number);

    if (name)
        snprintf(text, size, "%s", name);
    else
        snprintf(text, size, "%d", number);
    free(name);
    return text;
}
