#define _GNU_SOURCE
#include "sim/base/crash_report.h"

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

enum {
    ALTERNATE_STACK = 64 << 10,
    MOST_SECONDS = 5,   /* until a crash is reported without names */
    HANDLER_FRAMES = 8, /* at most, before those of the crash */
};

static const int signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS };
enum { SIGNALS = sizeof signals / sizeof *signals };

static struct {
    struct crash_report *shared;
    pid_t process;
    atomic_bool taken; /* a thread reports this: */
    int signal;
    siginfo_t info;
} crash;

/* ---- what the processor reports */

/* Program and stack counter of the crash, and the kind of access of a page fault. */
#if defined(__x86_64__)
static uintptr_t pc_of(const ucontext_t *c)
{
    return (uintptr_t) c->uc_mcontext.gregs[REG_RIP];
}

static uintptr_t return_address_of(const ucontext_t *c)
{
    return *(const uintptr_t *) c->uc_mcontext.gregs[REG_RSP];
}

static enum crash_access access_of(const ucontext_t *c)
{
    enum { PAGE_FAULT = 14, WRITE = 1 << 1, FETCH = 1 << 4 };
    greg_t error = c->uc_mcontext.gregs[REG_ERR];

    if (c->uc_mcontext.gregs[REG_TRAPNO] != PAGE_FAULT)
        return CRASH_ACCESS_UNKNOWN;
    return error & FETCH ? CRASH_EXECUTE : error & WRITE ? CRASH_WRITE : CRASH_READ;
}
#elif defined(__aarch64__)
static uintptr_t pc_of(const ucontext_t *c)
{
    return (uintptr_t) c->uc_mcontext.pc;
}

static uintptr_t return_address_of(const ucontext_t *c)
{
    return (uintptr_t) c->uc_mcontext.regs[30];
}

/* From the exception syndrome, one of the records after the registers. */
static enum crash_access access_of(const ucontext_t *c)
{
    enum { SYNDROME = 0x45535201, WRITE = 1 << 6, CLASS = 26, FETCH = 0x20, DATA = 0x24 };
    const unsigned char *at = c->uc_mcontext.__reserved;
    const unsigned char *end = at + sizeof c->uc_mcontext.__reserved;
    struct {
        uint32_t magic, size;
        uint64_t value;
    } record;

    for (; (size_t) (end - at) >= sizeof record; at += record.size) {
        memcpy(&record, at, sizeof record);
        if (record.size < 8 || record.size > (size_t) (end - at))
            break;
        if (record.magic != SYNDROME)
            continue;
        uint64_t class = record.value >> CLASS & 0x3f;
        return class == FETCH         ? CRASH_EXECUTE
               : class != DATA        ? CRASH_ACCESS_UNKNOWN
               : record.value & WRITE ? CRASH_WRITE
                                      : CRASH_READ;
    }
    return CRASH_ACCESS_UNKNOWN;
}
#else
static uintptr_t pc_of(const ucontext_t *c)
{
    (void) c;
    return 0;
}

static uintptr_t return_address_of(const ucontext_t *c)
{
    (void) c;
    return 0;
}

static enum crash_access access_of(const ucontext_t *c)
{
    (void) c;
    return CRASH_ACCESS_UNKNOWN;
}
#endif

/* ---- the handler */

/* Takes the frames from that of the crash on; the first ones are of the handler.  After a jump to
 * an address without code nothing can be unwound. */
static uint32_t take_frames(uintptr_t pc, uint64_t *ret_frames)
{
    void *all[CRASH_FRAMES + HANDLER_FRAMES];
    int n = backtrace(all, CRASH_FRAMES + HANDLER_FRAMES), at = 0;
    uint32_t count = 0;

    ret_frames[count++] = pc;
    while (at < n && (uintptr_t) all[at] != pc)
        at++;
    for (at++; at < n && count < CRASH_FRAMES; at++)
        ret_frames[count++] = (uintptr_t) all[at];
    return count;
}

/* Appends the line of a frame; a return address can belong to the next function already, the byte
 * before it does not. */
static size_t name_frame(char *text, size_t used, uint32_t i, uintptr_t address)
{
    const char *base, *file = NULL;
    Dl_info in = { 0 };
    int n;

    if (dladdr((void *) (address - (i > 0)), &in) && in.dli_fname)
        file = (base = strrchr(in.dli_fname, '/')) ? base + 1 : in.dli_fname;
    if (file && in.dli_sname)
        n = snprintf(text + used, CRASH_TEXT - used, "#%u %s+0x%lx (%s)\n", i, in.dli_sname,
                     address - (uintptr_t) in.dli_saddr, file);
    else if (file)
        n = snprintf(text + used, CRASH_TEXT - used, "#%u 0x%lx (%s)\n", i,
                     address - (uintptr_t) in.dli_fbase, file);
    else
        n = snprintf(text + used, CRASH_TEXT - used, "#%u 0x%lx\n", i, address);
    if (n > 0 && (size_t) n < CRASH_TEXT - used)
        return used + (size_t) n;
    text[used] = '\0'; /* no half lines */
    return CRASH_TEXT;
}

static void name_frames(struct crash_report *r, uint32_t n, const ucontext_t *c)
{
    Dl_info in;
    size_t used = 0;

    /* Called without code: the caller is where the call has left it. */
    if (n == 1 && !dladdr((void *) pc_of(c), &in))
        r->frames[n++] = return_address_of(c);
    r->n_frames = n;
    for (uint32_t i = 0; i < n && used < CRASH_TEXT; i++)
        used = name_frame(r->text, used, i, (uintptr_t) r->frames[i]);
}

/* The signal, sent again to this thread with all that is known of it, ends the process as if there
 * were no handler: once it is not blocked, which is when the handler has returned. */
static void send_again(int signal, siginfo_t *info)
{
    struct sigaction standard = { .sa_handler = SIG_DFL };

    sigaction(signal, &standard, NULL);
    if (syscall(SYS_rt_tgsigqueueinfo, getpid(), gettid(), signal, info) < 0)
        raise(signal);
}

/* Names need the lock of the dynamic linker, which another thread may keep. */
static void give_up(int alarm_signal)
{
    sigset_t set;

    (void) alarm_signal;
    send_again(crash.signal, &crash.info);
    sigemptyset(&set);
    sigaddset(&set, crash.signal);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

static void limit_time(int signal, const siginfo_t *info)
{
    struct sigaction action = { .sa_handler = give_up };
    sigset_t set;

    crash.signal = signal;
    crash.info = *info;
    sigaction(SIGALRM, &action, NULL);
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    alarm(MOST_SECONDS);
}

static void report(int signal, const siginfo_t *info, const ucontext_t *c)
{
    struct crash_report *r = crash.shared;

    limit_time(signal, info);
    r->signal = signal;
    r->code = info->si_code;
    r->thread = gettid();
    r->access = signal == SIGSEGV || signal == SIGBUS ? access_of(c) : CRASH_ACCESS_UNKNOWN;
    r->address = (uintptr_t) info->si_addr;
    r->frames[0] = pc_of(c);
    r->n_frames = 1;
    atomic_store_explicit(&r->state, 1, memory_order_release);
    /* What follows can crash: the stack may be damaged. */
    uint32_t n = take_frames(pc_of(c), r->frames);
    r->n_frames = n;
    name_frames(r, n, c);
    atomic_store_explicit(&r->state, 2, memory_order_release);
}

static void handle(int signal, siginfo_t *info, void *context)
{
    if (getpid() == crash.process) {
        while (atomic_exchange(&crash.taken, true))
            pause();
        report(signal, info, context);
    }
    send_again(signal, info);
}

/* ---- */

static int install_stack(struct why *w)
{
    static _Alignas(16) char space[ALTERNATE_STACK];
    stack_t stack = { .ss_sp = space, .ss_size = sizeof space }, before;

    if (sigaltstack(NULL, &before) == 0 && !(before.ss_flags & SS_DISABLE))
        return 0;
    if (sigaltstack(&stack, NULL) < 0)
        return why_fail(w, WHY_SYSTEM, "alternate signal stack: %s", strerror(errno));
    return 0;
}

static bool has_handler(const struct sigaction *a)
{
    return a->sa_flags & SA_SIGINFO || (a->sa_handler != SIG_DFL && a->sa_handler != SIG_IGN);
}

int crash_report_install(struct crash_report *shared, struct why *w)
{
    struct sigaction action = { .sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_ONSTACK },
                     before;
    void *frame[1];
    Dl_info in;

    crash.shared = shared;
    crash.process = getpid();
    /* The first calls load libgcc and resolve symbols. */
    backtrace(frame, 1);
    dladdr(frame[0], &in);
    TRY(install_stack(w));
    sigfillset(&action.sa_mask);
    for (int i = 0; i < SIGNALS; i++) {
        if (sigaction(signals[i], NULL, &before) == 0 && has_handler(&before))
            continue;
        if (sigaction(signals[i], &action, NULL) < 0)
            return why_fail(w, WHY_SYSTEM, "handler of signal %d: %s", signals[i], strerror(errno));
    }
    return 0;
}

/* ---- the parent */

/* Whether si_addr is an address: not of signals that were sent, and not of accesses that the
 * processor rejects before it has one (SI_KERNEL). */
static bool has_address(int signal, int code)
{
    return code > 0 && code != SI_KERNEL && signal != SIGABRT && signal != SIGSYS;
}

static bool is_reported(int signal)
{
    for (int i = 0; i < SIGNALS; i++)
        if (signals[i] == signal)
            return true;
    return false;
}

static void list_addresses(const struct crash_report *copy, char *ret_text)
{
    size_t used = 0;

    for (uint32_t i = 0; i < copy->n_frames && i < CRASH_FRAMES; i++)
        used += (size_t) snprintf(ret_text + used, CRASH_TEXT - used, "#%u 0x%llx\n", i,
                                  (unsigned long long) copy->frames[i]);
}

bool crash_report_read(const struct crash_report *shared, struct crash_facts *ret_facts)
{
    unsigned state = atomic_load_explicit(&shared->state, memory_order_acquire);
    struct crash_report copy;

    memcpy(&copy, shared, sizeof copy);
    if (state < 1 || state > 2 || !is_reported(copy.signal))
        return false;
    *ret_facts = (struct crash_facts){
        .signal = copy.signal,
        .code = copy.code,
        .thread = copy.thread,
        .has_address = has_address(copy.signal, copy.code),
        .has_names = state == 2,
    };
    if (ret_facts->has_address) {
        ret_facts->address = copy.address;
        ret_facts->access =
            copy.access <= CRASH_EXECUTE ? (enum crash_access) copy.access : CRASH_ACCESS_UNKNOWN;
    }
    if (ret_facts->has_names) {
        memcpy(ret_facts->text, copy.text, sizeof ret_facts->text - 1);
    } else {
        list_addresses(&copy, ret_facts->text);
    }
    return true;
}

char *crash_facts_describe(const struct crash_facts *f, char *text, size_t size)
{
    static const char *const access[] = { "access to", "read of", "write to", "execution of" };
    bool instruction = f->signal == SIGILL || f->signal == SIGFPE || f->signal == SIGTRAP;
    const char *name = sigabbrev_np(f->signal);
    char address[48] = "";

    if (f->has_address)
        snprintf(address, sizeof address, ": %s 0x%llx",
                 instruction ? "instruction at" : access[f->access],
                 (unsigned long long) f->address);
    snprintf(text, size, "SIG%s%s in thread %d", name ? name : "", address, f->thread);
    return text;
}
