#include "harness/run/devices.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "golden/base/text_escape.h"
#include "golden/base/trace_file.h"
#include "harness/check/buffer.h"
#include "sim/base/process_clock.h"
#include "sim/client/allowlist.h"
#include "sim/hal/hal_convert.h"
#include "specs/specs.h"

struct target_host harness_host = { .read_profile = specs_read_toml };

void devices_isolate(enum isolation isolation, bool may_use_devices, uint64_t memory_limit)
{
    harness_host.isolation = isolation;
    harness_host.may_use_devices = may_use_devices;
    harness_host.memory_limit = memory_limit;
}

void devices_enter(enum hal_version version)
{
    harness_host.entry = version;
}

void devices_protect_from(const char *uri)
{
    if (target_is_isolated(uri, harness_host.isolation))
        prctl(PR_SET_DUMPABLE, 0);
}

int devices_limit_extensions(const char *file, const char *who, struct why *w)
{
    static char reason[240];
    char *binary = who ? strdup(who) : allowlist_this_binary();
    bool allowed = false;
    int rc = binary ? allowlist_allows(file, binary, !who, &allowed, w)
                    : why_fail(w, WHY_SYSTEM, "cannot determine the path of this program");

    if (rc == 0 && !allowed) {
        snprintf(reason, sizeof reason, "%.80s may not use vendor extensions: not listed in %.80s",
                 binary, file);
        harness_host.no_extensions = reason;
    }
    free(binary);
    return rc;
}

struct answer {
    int failed;
    struct why why;
    struct device_facts facts;
};

static const char *type_name(enum hal_device_type type)
{
    switch (type) {
    case HAL_DEVICE_OTHER: return "OTHER";
    case HAL_DEVICE_CPU: return "CPU";
    case HAL_DEVICE_GPU: return "GPU";
    case HAL_DEVICE_ACCELERATOR: return "ACCELERATOR";
    default: return "?";
    }
}

static void copy_facts(const struct target_info *info, struct device_facts *ret)
{
    const struct hal_capabilities *c = &info->capabilities;
    struct device_facts f = { .relaxed_scalar = c->relaxed_scalar,
                              .relaxed_tensor = c->relaxed_tensor,
                              .if_performance = c->if_performance,
                              .while_performance = c->while_performance,
                              .n_extensions = info->n_extensions,
                              .n_model_cache = info->n_model_cache,
                              .n_data_cache = info->n_data_cache };
    snprintf(f.name, sizeof f.name, "%s", info->name);
    snprintf(f.version, sizeof f.version, "%s", info->version);
    snprintf(f.type, sizeof f.type, "%s", type_name(info->type));
    snprintf(f.hal, sizeof f.hal, "%s", hal_version_name(info->hal_version));
    snprintf(f.lowest, sizeof f.lowest, "%s", hal_version_name(info->lowest_version));
    text_clean(f.name);
    text_clean(f.version);
    for (uint32_t i = 0; i < c->n_operands && f.n_operands < MAX_PERFORMANCE; i++)
        f.operand[f.n_operands++] = c->operand[i];
    for (uint32_t i = 0; i < info->n_extensions && i < MAX_EXTENSIONS; i++) {
        const struct hal_extension *from = &info->extensions[i];
        struct extension_facts *to = &f.extension[i];
        snprintf(to->name, sizeof to->name, "%s", from->name);
        to->n_types = from->n_types;
        for (uint32_t k = 0; k < from->n_types && k < MAX_EXTENSION_TYPES; k++)
            to->type[k] = from->type[k];
    }
    *ret = f;
}

static void keep_death(const struct outcome *o, void *user)
{
    struct device_facts *f = user;
    f->fault = o->hung ? VERDICT_HANG : VERDICT_CRASH;
    f->signal = o->hung ? 0 : o->signal;
    snprintf(f->printed, sizeof f->printed, "%s", o->prints ? o->prints : "");
    snprintf(f->backtrace, sizeof f->backtrace, "%s", o->backtrace ? o->backtrace : "");
}

/* What is wrong with a driver that does not describe itself: it died, hangs, or what it reports
 * violates the contract. */
static void find_fault(struct target *t, struct device_facts *f, struct why *w)
{
    struct outcome o;
    f->fault = VERDICT_VIOLATION;
    if (!target_has_failed(t, &o))
        return;
    keep_death(&o, f);
    why_fail(w, WHY_INVALID, "%s: %s", target_uri(t), o.violation);
    outcome_done(&o);
}

/* Known as soon as the driver is open, also of one that does not describe itself. */
static void copy_versions(const struct hal_driver *d, struct device_facts *f)
{
    snprintf(f->hal, sizeof f->hal, "%s", hal_version_name(d->hal_version));
    snprintf(f->lowest, sizeof f->lowest, "%s", hal_version_name(d->lowest_version));
}

/* A hosted driver is not closed: its last worker does that, and reports what comes of it. */
static _Noreturn void answer_and_exit(const char *uri, double seconds, int fd)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(STDERR_FILENO, STDOUT_FILENO);
    trace_file_name_process("probe");
    struct answer a = { .facts = { .name = "?", .version = "?", .type = "?", .hal = "?" } };
    struct target *t;
    struct target_info info = { 0 };
    struct target_host host = harness_host;
    host.is_served = true;
    host.died = keep_death;
    host.user = &a.facts;
    if (target_is_isolated(uri, host.isolation))
        host.reply_timeout = seconds;
    a.failed = target_open(uri, &host, &t, &a.why);
    if (a.failed >= 0) {
        copy_versions(target_driver(t), &a.facts);
        a.failed = target_info(t, &info, &a.why);
        if (a.failed >= 0)
            copy_facts(&info, &a.facts);
        else if (target_is_isolated(uri, host.isolation))
            find_fault(t, &a.facts, &a.why);
        target_restart(t);
        target_free(t);
    }
    ssize_t n = write(fd, &a, sizeof a); /* fits in a pipe's buffer: whole or not at all */
    _exit(n == (ssize_t) sizeof a ? 0 : 1);
}

enum reading { READ_WHOLE, READ_ENDED, READ_TOO_SLOW };

static enum reading read_answer(pid_t pid, int fd, double seconds, struct answer *ret)
{
    size_t got = 0;
    struct process_clock clock;
    process_clock_start(&clock, pid);
    while (got < sizeof *ret) {
        struct pollfd p = { .fd = fd, .events = POLLIN };
        int ready = poll(&p, 1, PROCESS_CLOCK_LOOK_MS);
        if (ready == 0 && (double) process_clock_elapsed(&clock) >= seconds * 1e9)
            return READ_TOO_SLOW;
        if (ready == 0 || (ready < 0 && errno == EINTR))
            continue;
        ssize_t n = ready > 0 ? read(fd, (char *) ret + got, sizeof *ret - got) : 0;
        if (n <= 0)
            return READ_ENDED;
        got += (size_t) n;
    }
    return READ_WHOLE;
}

/* Waits up to 2 s for a process that has closed its pipe, as writing a core dump takes a while,
 * then kills it; at_once: kills it immediately.  True: it had to be killed. */
static bool reap(pid_t pid, bool at_once, int *ret_status)
{
    enum { STEP_US = 2000, STEPS = 1000 };
    for (int i = 0; i < STEPS && !at_once; i++) {
        pid_t ended = waitpid(pid, ret_status, WNOHANG);
        if (ended == pid)
            return false;
        if (ended == 0)
            usleep(STEP_US);
    }
    kill(pid, SIGKILL);
    while (waitpid(pid, ret_status, 0) < 0 && errno == EINTR) {
    }
    return true;
}

/* More than a time-out is prolonged at most (sim/base/process_clock.h). */
static const double MOST_LOAD = 30;

/* As device_probe().  *ret_killed: the driver, or the process that opened it, died of SIGKILL. */
static int probe_once(const char *uri, double seconds, struct device_facts *ret_facts,
                      bool *ret_killed, struct why *w)
{
    int fd[2];
    if (pipe(fd) < 0)
        return why_fail(w, WHY_SYSTEM, "cannot create a pipe: %s", strerror(errno));
    fflush(stdout);
    fflush(stderr);
    pid_t pid = fork();
    if (pid == 0) {
        close(fd[0]);
        answer_and_exit(uri, seconds, fd[1]);
    }
    close(fd[1]);
    struct answer a;
    /* A hosted driver has a time-out of its own, which lasts longer on a loaded machine. */
    bool is_isolated = target_is_isolated(uri, harness_host.isolation);
    double patience = is_isolated ? MOST_LOAD * seconds + 5 : seconds;
    enum reading reading = pid < 0 ? READ_ENDED : read_answer(pid, fd[0], patience, &a);
    close(fd[0]);
    if (pid < 0)
        return why_fail(w, WHY_SYSTEM, "cannot start a process: %s", strerror(errno));
    int status = 0;
    bool ended_by_us = reap(pid, reading == READ_TOO_SLOW, &status);
    if (reading == READ_WHOLE)
        *ret_killed = a.facts.signal == SIGKILL;
    else
        *ret_killed = !ended_by_us && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    if (reading != READ_WHOLE && ended_by_us)
        return why_fail(w, WHY_INVALID, "%s: opening the driver takes longer than %g s", uri,
                        seconds);
    if (reading != READ_WHOLE && WIFSIGNALED(status))
        return why_fail(w, WHY_INVALID, "%s: the driver crashes while it is opened (%s)", uri,
                        strsignal(WTERMSIG(status)));
    if (reading != READ_WHOLE)
        return why_fail(w, WHY_INVALID,
                        "%s: the driver exits the process while it is opened (status %d)", uri,
                        WEXITSTATUS(status));
    if (a.failed < 0) {
        *w = a.why;
        w->code = a.facts.fault ? WHY_INVALID : w->code;
        *ret_facts = a.facts;
        return a.facts.fault ? 1 : -1;
    }
    *ret_facts = a.facts;
    return 0;
}

int device_probe(const char *uri, double seconds, struct device_facts *ret_facts, struct why *w)
{
    bool killed = true;
    int failed = -1;
    devices_protect_from(uri);
    for (int i = 0; i < KILLS_BELIEVED && killed; i++) {
        killed = false;
        failed = probe_once(uri, seconds, ret_facts, &killed, w);
    }
    return failed;
}

int device_open(const char *uri, double seconds, struct target **ret_target, struct why *w)
{
    struct device_facts facts;
    struct target_host host = harness_host;
    int probed = device_probe(uri, seconds, &facts, w);

    if (probed)
        return probed < 0 ? -1 : why_prefix(w, "%s", uri);
    host.reply_timeout = seconds;
    return target_open(uri, &host, ret_target, w);
}
