/* Confines a process before it loads code that is not trusted: a driver under test, a
 * specification.
 *
 * The process, just started and with one thread, calls sandbox_enter() on itself.  From then on it,
 * its threads and its descendants cannot harm other processes or change files outside of a scratch
 * folder.  Three parts of Linux do this, each used as far as the kernel has it:
 *
 *   capabilities  all dropped, for good: uid 0 is bound by file modes and cannot trace others
 *   Landlock      files, also signals and abstract sockets (ABI 6), TCP (4), ioctl of devices (5)
 *   seccomp       calls that Landlock has no rule for; denied calls return EPERM
 *
 * Two profiles: for a driver, which may do much, everything harmful is denied; with only_computes
 * (a specification) everything is denied but what a computation needs.  Then files can be read
 * where Landlock says which, and none can be opened without Landlock.  Attempts to change files, to
 * start processes, to use sockets and the like raise SIGSYS instead of an error that can be
 * overlooked.
 *
 * Below ABI 6 of Landlock (Linux 6.12) seccomp denies all signals but those of the process to its
 * own pid: kill(0) is denied then, and a descendant cannot abort() by SIGABRT (it dies of SIGSEGV).
 *
 * What a correct driver may notice:
 *   - Of device nodes, null, zero, full, random and urandom are writable.  /dev/shm is not: use
 *     memfd_create().  /proc is not either: pthread_setname_np() names only the calling thread.
 *   - Nowhere can modes, owners, times and extended attributes be changed.  Locks on files are
 *     ENOLCK (a reader's lock on the database would stop its writer), unless devices are allowed.
 *   - sched_setaffinity() of another thread returns 0 without an effect.  Limits, and the priority
 *     and scheduler of the calling thread, can be set by id 0 only.
 *   - clone3() is ENOSYS, so that the C library uses clone(), whose flags can be checked.
 *   - System V IPC, POSIX message queues, keyrings, io_uring and pidfds are denied.
 *   - Root has no more access to files of other users than their modes give it.
 *   - LeakSanitizer cannot trace the process at its end: __lsan_is_turned_off(), or detect_leaks=0.
 *
 * Namespaces are up to who starts the process: sim/isolation/host_process.c starts drivers in a
 * process namespace where the kernel allows.  Its first process ignores the signals that it sends
 * to itself (abort() is SIGSEGV there, raise(SIGTERM) nothing), so it only waits for the second
 * one, which hosts the driver.  A mount namespace could hide files, which may be read here anyhow.
 * docs/security.md has the costs. */
#ifndef GOLDEN_SANDBOX_H
#define GOLDEN_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "golden/base/why.h"

struct sandbox_options {
    const char *scratch;         /* folder that may be written to and read; NULL: none */
    const char *const *readable; /* NULL-terminated: files and folders that may be read, those that
                                    do not exist are skipped; NULL: everything */
    bool allow_processes;        /* fork(), clone() without CLONE_THREAD, execve() */
    bool allow_network;          /* socket(); without it only socketpair(AF_UNIX) */
    bool allow_devices;          /* everything in /dev may be opened, with its ioctl(); locks */
    bool only_computes;          /* of system calls only those of a computation with one thread
                                    that reads files; without scratch, allow_* and device nodes */
    int exit_status;             /* if only_computes: _exit() with another status is denied */
    uint64_t kept_signals;       /* if only_computes: 1 << (SIGNAL - 1): keeps its handler */
    int open_below;              /* if only_computes: close() of lower descriptors is denied */
    const struct sandbox_filter *filter; /* of these options, compiled before; NULL: none */
};

/* A seccomp filter: compiling takes longer than all the rest of sandbox_enter(). */
struct sandbox_filter {
    struct sock_filter *code; /* NULL: the kernel has no seccomp */
    unsigned short n;
};

/* Compiles the filter of these options; the caller frees ret_filter->code.  For the kernel that it
 * runs on. */
int sandbox_compile(const struct sandbox_options *o, struct sandbox_filter *ret_filter,
                    struct why *w);

/* What is active. */
struct sandbox_state {
    bool seccomp;
    bool no_capabilities;
    int landlock;   /* ABI; 0: none */
    int namespaces; /* of sandbox_fork(); set by the caller */
};

/* Confines the calling process, which has one thread.  What the kernel or a container does not
 * offer is left out, and *ret_active (may be NULL) says so.  -1 (scratch cannot be opened, no
 * memory): the process may be confined in part and should end. */
int sandbox_enter(const struct sandbox_options *o, struct sandbox_state *ret_active, struct why *w);

/* What sandbox_enter() would activate here. */
struct sandbox_state sandbox_available(void);

/* Namespaces; more than one as a sum. */
enum { SANDBOX_PROCESSES = 1, SANDBOX_NETWORK = 2, SANDBOX_IPC = 4 };

/* fork() into new namespaces where that is allowed, with a user namespace where only that permits
 * them, else without. */
pid_t sandbox_fork(int namespaces);
/* Those of the namespaces that sandbox_fork() would make here: all or none. */
int sandbox_namespaces(int namespaces);

/* Has the kernel end this process and its descendants first when memory runs out. */
void sandbox_be_first_to_go(void);

enum { SANDBOX_TEXT = 128 };
/* Writes "seccomp, Landlock 7, no capabilities", or "none"; returns text. */
char *sandbox_describe(const struct sandbox_state *s, char *text, size_t size);
/* Likewise what is not active, of these namespaces, too; "" if nothing is missing. */
char *sandbox_describe_missing(const struct sandbox_state *s, int namespaces, char *text,
                               size_t size);
/* Writes the name of a system call, or its number; returns text. */
char *sandbox_call_name(int number, char *text, size_t size);

#endif
