/* A hostile driver in a process of its own: the client (sim/client/hosted.c), the process's
 * supervision (sim/isolation/) and the memory that they share are the real ones, but the system
 * calls that start, wait for and end the process are replaced here (linked with --wrap): where the
 * client would wait, the bytes act as the driver's process.  They may write to whatever that
 * process can write to.  A run must end with an outcome that is in range.
 *
 * First byte: flags of the run.  Then actions, enum action in the lower bits; where the bytes end,
 * the driver behaves. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/base/process_clock.h"
#include "sim/client/hosted.h"
#include "sim/client/runtime.h"
#include "sim/hal/hal_convert.h"
#include "tests/fuzz/common/fuzz_client.h"
#include "tests/support/hal_client.h"

/* ARENA, LARGEST: bytes of shared memory; poisoning more of it would take most of the time. */
enum { PID = 0x7ffffff0, ELEMENTS = 4, MAX_WRITE = 16, ARENA = 1 << 16, LARGEST = 1 << 13 };
enum run_flag {
    ONLY_QUERY = 1,
    TRAP_INPUTS = 2,
    UNKNOWN_SHAPE = 4,
    MEASURE = 8,
    TWICE = 16,
    SWEEP = 32,
    OTHER_WAY = 64,
    KEEP = 128 /* with TWICE: the second run uses the model of the first one */
};

enum action {
    SET_FIELD,   /* of the answers: which, value of four bytes */
    WRITE,       /* to a place: enum place, offset of two bytes, number, bytes */
    FILL_OUTPUT, /* the whole output: byte */
    PRINT,       /* a byte, so many times */
    CRASH,       /* signal, kind of access, area and offset of the address */
    ANSWER,      /* the command */
    EXIT,        /* wait status */
    HANG,
    ACTIONS
};
enum place { IN_ANSWERS, IN_SUPPORTED, IN_SHAPES, IN_OUTPUT, IN_AREA, PLACES };

/* The process. */
static struct {
    struct target *target;
    const uint8_t *at, *end; /* actions to come */
    int status_pipe, status; /* what the supervisor reports, once it has ended */
    bool has_ended, hangs;
} fake = { .status_pipe = -1 };

static uint32_t take(size_t n)
{
    uint32_t x = 0;

    for (size_t i = 0; i < n && fake.at < fake.end; i++)
        x |= (uint32_t) *fake.at++ << 8 * i;
    return x;
}

static struct host_process *process(void)
{
    return &fake.target->hosted->process;
}

/* ---- a driver that behaves */

static uint32_t n_operations(const struct host_case *run)
{
    return run->model ? run->model->main.n_operations : 1;
}

static void answer_execution(const struct host_execution *e, struct host_result *ret)
{
    const struct hal_request *q = &e->request;

    *ret = (struct host_result){ .status = HAL_NONE,
                                 .n_shapes = e->n_shapes,
                                 .timing = { HAL_NO_TIME, HAL_NO_TIME } };
    for (uint32_t i = 0; i < e->n_shapes; i++)
        e->shapes[i] = (struct hal_output_shape){ 1, { ELEMENTS }, true };
    for (uint32_t i = 0; i < q->n_outputs; i++)
        memset((uint8_t *) q->pools[q->outputs[i].location.pool].memory.address +
                   q->outputs[i].location.offset,
               0, ELEMENTS * sizeof(float));
}

static void answer_run(const struct host_case *run, struct host_answers *a)
{
    a->n_answers = n_operations(run);
    memset(run->supported, 1, a->n_answers);
    a->stage = run->only_query_support ? STAGE_PREPARE : STAGE_EXECUTE;
    a->status = HAL_NONE;
    a->lacks = HOST_LACKS_NOTHING;
    a->violation[0] = a->repeated[0] = 0;
    for (uint32_t i = 0; i < run->n_at_once && !run->only_query_support; i++)
        answer_execution(&run->at_once[i], &a->at_once[i]);
}

static void behave(void)
{
    const struct host_calls *calls = process()->calls;
    struct host_answers *a = process()->answers;

    if (a->state == HOST_STARTING) {
        a->version = HAL_1_3;
        strcpy(a->name, "hostile");
    } else if (calls->command == HOST_RUN) {
        answer_run(calls->run, a);
    }
}

/* Answers the command, or reports that the driver is open or closed. */
static void answer(void)
{
    const struct host_calls *calls = process()->calls;
    struct host_answers *a = process()->answers;

    if (a->state == HOST_STARTING) {
        a->state = HOST_OPEN;
    } else if (calls->command == HOST_CLOSE) {
        a->state = HOST_CLOSED;
        fake.has_ended = true;
        fake.status = 0;
    }
    a->answered = calls->submitted;
}

/* ---- actions */

static void set_field(void)
{
    struct host_answers *a = process()->answers;
    uint32_t which = take(1), x = take(4);

    switch (which % 12) {
    case 0: a->state = x; break;
    case 1: a->version = (int32_t) x; break;
    case 2: a->why.code = x % 16; break;
    case 3: a->stage = x; break;
    case 4: a->status = (int32_t) x; break;
    case 5: a->lacks = x; break;
    case 6: a->n_answers = x; break;
    case 7: a->at_once[0].n_shapes = x; break;
    case 8: a->at_once[0].timing.on_device = x; break;
    case 9: a->at_once[x % HOST_EXECUTIONS].timing.in_driver = x; break;
    case 10: a->repeated_run = x; break;
    default: a->step = x;
    }
}

/* The region that the place has in the current command; NULL: none.  It may be written
 * `*ret_before` bytes before, too. */
static uint8_t *region(enum place p, size_t *ret_size, size_t *ret_before)
{
    const struct lent_layout *l = &process()->memory.layout;
    const struct host_case *run = process()->calls->run;
    const struct hal_request *q = run ? &run->at_once[0].request : NULL;
    const bool runs = run && process()->calls->command == HOST_RUN && process()->calls->submitted;

    *ret_before = LENT_PAGE / 4;
    switch (runs || p == IN_ANSWERS || p == IN_AREA ? p : PLACES) {
    case IN_ANSWERS:
        *ret_before = 0;
        *ret_size = sizeof(struct host_answers);
        return (uint8_t *) process()->answers;
    case IN_SUPPORTED: *ret_size = n_operations(run); return (uint8_t *) run->supported;
    case IN_SHAPES:
        if (!run->at_once[0].shapes)
            return NULL;
        *ret_size = run->at_once[0].n_shapes * sizeof *run->at_once[0].shapes;
        return (uint8_t *) run->at_once[0].shapes;
    case IN_OUTPUT:
        if (!q->n_outputs)
            return NULL;
        *ret_size = ELEMENTS * sizeof(float);
        return (uint8_t *) q->pools[q->outputs[0].location.pool].memory.address +
               q->outputs[0].location.offset;
    case IN_AREA:
        *ret_before = 0;
        *ret_size = l->out_size;
        return l->out;
    default: return NULL;
    }
}

static void write_bytes(void)
{
    enum place p = take(1) % PLACES;
    uint32_t offset = take(2) * (p == IN_AREA ? LENT_PAGE / 2 : 1), n = take(1) % MAX_WRITE;
    size_t size = 0, before = 0;
    uint8_t *at = region(p, &size, &before);

    if (!at || size + before <= n)
        return;
    at = at - before + offset % (size + before - n);
    for (uint32_t i = 0; i < n; i++)
        at[i] = (uint8_t) take(1);
}

static void print_text(void)
{
    uint8_t byte = (uint8_t) take(1), text[256];
    size_t n = take(1);

    memset(text, byte, sizeof text);
    if (process()->prints >= 0)
        fuzz_must(write(process()->prints, text, n) == (ssize_t) n);
}

static void end_process(int status)
{
    fake.has_ended = true;
    fake.status = status;
}

static void crash(void)
{
    const struct lent_layout *l = &process()->memory.layout;
    struct crash_report *r = &process()->answers->crash;
    uint32_t area = take(1), offset = take(2);

    r->signal = (int32_t) take(1);
    r->access = take(1);
    r->code = (int32_t) take(1);
    r->address =
        area % 3 == 0 ? offset : (uintptr_t) (area % 3 == 1 ? l->in : l->out) + offset * 64;
    r->n_frames = take(1);
    r->state = take(1) % 4;
    end_process(area & 4 ? r->signal & 127 : SIGSEGV);
}

/* Until the process answers or ends. */
static void act(void)
{
    behave();
    while (fake.at < fake.end) {
        switch ((enum action)(take(1) % ACTIONS)) {
        case SET_FIELD: set_field(); break;
        case WRITE: write_bytes(); break;
        case FILL_OUTPUT: {
            size_t size = 0, before;
            uint8_t *at = region(IN_OUTPUT, &size, &before);
            int byte = (int) take(1);
            if (at)
                memset(at, byte, size);
            break;
        }
        case PRINT: print_text(); break;
        case CRASH: crash(); return;
        case EXIT: end_process((int) take(2)); return;
        case HANG: fake.hangs = true; return;
        default: answer(); return;
        }
    }
    answer();
}

/* ---- the system calls of sim/isolation/host_process.c */

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);
int __real_pipe2(int fd[2], int flags);
int __wrap_pipe2(int fd[2], int flags);
int __real_waitid(idtype_t type, id_t id, siginfo_t *info, int options);
int __wrap_waitid(idtype_t type, id_t id, siginfo_t *info, int options);
pid_t __real_waitpid(pid_t pid, int *status, int options);
pid_t __wrap_waitpid(pid_t pid, int *status, int options);
int __real_kill(pid_t pid, int signal);
int __wrap_kill(pid_t pid, int signal);
uint64_t __wrap_process_clock_elapsed(struct process_clock *c);

static bool is_lent(uintptr_t address)
{
    const struct lent_layout *l = &process()->memory.layout;

    return address - (uintptr_t) l->in < l->in_size || address - (uintptr_t) l->out < l->out_size;
}

/* Like libc's, reads six arguments, of which the caller may have passed fewer. */
__attribute__((no_sanitize_address)) long __wrap_syscall(long number, ...)
{
    long x[6];
    va_list list;

    va_start(list, number);
    for (int i = 0; i < 6; i++)
        x[i] = va_arg(list, long);
    va_end(list);
    if (number == SYS_clone && fake.target)
        return PID;
    if (number != SYS_futex || !fake.target || !is_lent((uintptr_t) x[0]))
        return __real_syscall(number, x[0], x[1], x[2], x[3], x[4], x[5]);
    if (x[1] == FUTEX_WAIT && !fake.has_ended && !fake.hangs)
        act();
    return 0;
}

/* Keeps the supervisor's end of the pipe that it reports through. */
int __wrap_pipe2(int fd[2], int flags)
{
    int rc = __real_pipe2(fd, flags);

    if (rc == 0 && fake.target)
        fake.status_pipe = dup(fd[1]);
    return rc;
}

int __wrap_waitid(idtype_t type, id_t id, siginfo_t *info, int options)
{
    if (id != PID)
        return __real_waitid(type, id, info, options);
    info->si_pid = fake.has_ended ? PID : 0;
    return 0;
}

pid_t __wrap_waitpid(pid_t pid, int *status, int options)
{
    if (pid != PID)
        return __real_waitpid(pid, status, options);
    if (fake.has_ended)
        fuzz_must(write(fake.status_pipe, &fake.status, sizeof fake.status) == sizeof fake.status);
    close(fake.status_pipe);
    fake.status_pipe = -1;
    fake.has_ended = fake.hangs = false;
    return PID;
}

int __wrap_kill(pid_t pid, int signal)
{
    if (pid != PID)
        return __real_kill(pid, signal);
    return 0;
}

uint64_t __wrap_process_clock_elapsed(struct process_clock *c)
{
    (void) c;
    return fake.hangs ? UINT64_MAX : 0;
}

/* ---- the client */

static void check_outcome(struct outcome *o)
{
    fuzz_must(o->stage <= STAGE_DONE && memchr(o->violation, 0, sizeof o->violation) &&
              memchr(o->late, 0, sizeof o->late) && o->late_run < o->run + 1);
    fuzz_must(!o->trespassed || o->died);
    fuzz_must(o->stage != STAGE_DONE || o->violation[0] || o->n_out == 1);
    outcome_done(o);
}

static const struct client_model *model_of(bool unknown)
{
    static struct client_model models[2];

    if (!models[unknown].arena)
        client_add_model(&models[unknown], ELEMENTS, unknown);
    return &models[unknown];
}

static void run(struct target *t, uint8_t flags, bool again)
{
    static float x[ELEMENTS] = { 1, 2, 3, 4 };
    const struct model *m = &model_of(flags & UNKNOWN_SHAPE)->b.model;
    const struct shape shape = { 1, { ELEMENTS } };
    struct tensor in[2] = { { .dtype = DT_F32, .shape = shape, .data = x },
                            { .dtype = DT_F32, .shape = shape, .data = x } };
    const struct target_inputs beside = { in, &shape };
    const struct target_variation vary = { .after_other = true,
                                           .other_pools = true,
                                           .input_buffers = true,
                                           .output_buffers = true,
                                           .n_beside = 1,
                                           .beside = &beside };
    const struct target_run_options options = { .only_query_support = flags & ONLY_QUERY,
                                                .trap_inputs = flags & TRAP_INPUTS,
                                                .measure = flags & MEASURE,
                                                .vary = flags & OTHER_WAY ? &vary : NULL,
                                                .keep_prepared = flags & KEEP && !again,
                                                .use_prepared = flags & KEEP && again };
    struct outcome o;
    struct why w;

    if (target_run(t, m, in, &shape, &options, &o, &w) == 0)
        check_outcome(&o);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    const struct target_host host = { .is_known = true, .reply_timeout = 1 };
    uint8_t flags = length ? bytes[0] : 0;
    char text[128];
    struct outcome o;
    struct why w;
    uint64_t late;

    setenv("HALCYON_DRIVER_HOST", "/nonexistent", 1);
    fuzz_must(hosted_open("lib:hostile.so", NULL, &host, &fake.target, &w) == 0);
    fake.target->hosted->options.arena = ARENA;
    fake.target->hosted->options.largest = LARGEST;
    fake.at = bytes + (length > 0);
    fake.end = bytes + length;
    for (int i = 0; i <= !!(flags & TWICE); i++)
        run(fake.target, flags, i > 0);
    if (flags & KEEP && target_release_prepared(fake.target, &o))
        check_outcome(&o);
    if (flags & SWEEP) {
        target_sweep(fake.target, &late);
        target_take_late_callback(fake.target, &late, text, sizeof text);
    }
    if (target_close(fake.target, &o))
        outcome_done(&o);
    hosted_free(fake.target);
    fake.target = NULL;
    return 0;
}
