/* Faults that depend on what a driver did before, or does at the same time: concurrency, state,
 * losses. */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "sim/base/memory.h"
#include "sim/faulty/faulty.h"

/* ---- several executions at once */

/* Changes a byte of the first output in client memory. */
static void spoil_output(const struct faulty_call *x)
{
    const struct hal_argument *o = x->request.n_outputs ? &x->request.outputs[0] : NULL;
    struct mapping m = { 0 };
    struct why w;

    if (!o || o->has_no_value || x->status != HAL_NONE || !x->result || !o->location.length ||
        o->location.pool >= x->request.n_pools || x->request.pools[o->location.pool].is_token ||
        memory_map(&x->request.pools[o->location.pool].memory, true, &m, &w) < 0)
        return;
    m.address[o->location.offset] ^= 0x55;
    memory_unmap(&m);
}

static void wait_a_little(void)
{
    nanosleep(&(struct timespec){ .tv_nsec = 2000000 }, NULL);
}

/* Long enough for other threads to enter, too. */
static void enter(struct faulty_call *x)
{
    atomic_fetch_add(&x->model->driver->state, 1);
    wait_a_little();
}

/* Scratch memory that all executions share: results are wrong if another one runs. */
static void leave_shared(struct faulty_call *x)
{
    if (atomic_fetch_sub(&x->model->driver->state, 1) > 1)
        spoil_output(x);
}

/* Results of a model are wrong right after an execution of another one. */
static void mix_models(struct faulty_call *x)
{
    int model = (int) ((uintptr_t) x->model >> 4 & 0x7fffffff);
    int last = atomic_exchange(&x->model->driver->state, model);

    if (last && last != model)
        spoil_output(x);
}

/* Two locks that executions take in either order. */
static void lock_in_turns(struct faulty_call *x)
{
    struct faulty_driver *d = x->model->driver;
    bool turn = atomic_fetch_add(&d->state, 1) % 2;
    pthread_mutex_t *first = turn ? &d->lock : &d->second_lock;
    pthread_mutex_t *second = turn ? &d->second_lock : &d->lock;

    pthread_mutex_lock(first);
    wait_a_little();
    pthread_mutex_lock(second);
    pthread_mutex_unlock(second);
    pthread_mutex_unlock(first);
}

static void refuse_second(struct faulty_call *x)
{
    if (atomic_fetch_add(&x->model->driver->state, 1) > 0)
        x->request.n_inputs++;
    wait_a_little();
}

static void leave(struct faulty_call *x)
{
    atomic_fetch_sub(&x->model->driver->state, 1);
}

static void leak_memory(struct faulty_call *x)
{
    enum { LEAK = 1 << 20 };
    static void *volatile last; /* so that the compiler keeps the allocation */

    last = malloc(LEAK);
    if (last)
        memset(last, 1, LEAK);
    (void) x;
}

static void leak_descriptor(struct faulty_call *x)
{
    int lost = memfd_create("lost", MFD_CLOEXEC);

    (void) x, (void) lost;
}

static void leak_when_rejecting(struct faulty_call *x)
{
    if (x->status == HAL_INVALID_ARGUMENT)
        leak_descriptor(x);
}

static void leak_mapping(struct faulty_call *x)
{
    /* Neighbours of the same protection would become one mapping. */
    int protection = atomic_load(&x->model->driver->executions) % 2 ? PROT_READ : PROT_NONE;
    void *lost = mmap(NULL, 4096, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    (void) lost;
}

static void spoil_every_100th(struct faulty_call *x)
{
    if (atomic_load(&x->model->driver->executions) % 100 == 99)
        spoil_output(x);
}

static void spoil_first(struct faulty_call *x)
{
    if (atomic_load(&x->model->executions) == 1)
        spoil_output(x);
}

static void spoil_second(struct faulty_call *x)
{
    if (atomic_load(&x->model->executions) == 2)
        spoil_output(x);
}

static void spoil_restored(struct faulty_call *x)
{
    if (x->model->is_restored)
        spoil_output(x);
}

static void note_priority(struct faulty_preparation *p)
{
    atomic_store(&p->driver->state, p->config.priority == HAL_PRIORITY_LOW);
}

static void spoil_low_priority(struct faulty_call *x)
{
    if (atomic_load(&x->model->driver->state))
        spoil_output(x);
}

static void spoil_unaligned(struct faulty_call *x)
{
    enum { ALIGNMENT = 16 };

    for (uint32_t i = 0; i < x->request.n_inputs; i++)
        if (!x->request.inputs[i].has_no_value &&
            x->request.inputs[i].location.offset % ALIGNMENT != 0) {
            spoil_output(x);
            return;
        }
}

static void spoil_after_failure(struct faulty_call *x)
{
    int failed = x->status != HAL_NONE;

    if (atomic_exchange(&x->model->driver->state, failed) && !failed)
        spoil_output(x);
}

static void spoil_async(struct faulty_call *x)
{
    if (x->entry == ENTRY_ASYNCHRONOUS)
        spoil_output(x);
}

static void spoil_burst(struct faulty_call *x)
{
    if (x->entry == ENTRY_BURST)
        spoil_output(x);
}

static void spoil_other_thread(struct faulty_call *x)
{
    if (x->entry == ENTRY_SYNCHRONOUS && getpid() != gettid())
        spoil_output(x);
}

static void crash_when_busy(struct faulty_call *x)
{
    if (atomic_load(&x->model->driver->state) > 1)
        raise(SIGSEGV);
}

static void release_inner(struct hal_prepared_model *self)
{
    struct faulty_model *m = faulty_model_of(self);

    if (m->inner)
        m->inner->methods->release(m->inner);
    free(m);
}

static void crash_on_release(struct hal_prepared_model *self)
{
    if (atomic_load(&faulty_model_of(self)->executions) == 0)
        raise(SIGSEGV);
    release_inner(self);
}

static void crash_on_release_by_thread(struct hal_prepared_model *self)
{
    if (getpid() != gettid())
        raise(SIGSEGV);
    release_inner(self);
}

/* Keeps the first fence that an execution waits for. */
static void keep_fence(struct faulty_call *x)
{
    if (x->entry == ENTRY_FENCED && x->n_wait_for)
        atomic_store(&x->model->driver->state, dup(x->wait_for[0]));
}

static void crash_on_release_before_fence(struct hal_prepared_model *self)
{
    int fence = atomic_exchange(&faulty_model_of(self)->driver->state, 0);

    if (fence > 0 && poll(&(struct pollfd){ .fd = fence, .events = POLLIN }, 1, 0) == 0)
        raise(SIGSEGV);
    release_inner(self);
}

/* ---- the rows */

static const struct fault rows[] = {
    BREAKS("asynchronous-wrong", "numbers", RULES("generated/results"),
           "results of asynchronous executions are wrong (HAL 1.0 to 1.3)", .after = spoil_async),
    BREAKS("burst-wrong", "numbers", RULES("generated/results"), "results of bursts are wrong",
           .after = spoil_burst),
    BREAKS(
        "shared-scratch", "concurrency", RULES("concurrency/one-model", "consistency/neighbours"),
        "results are wrong while another execution runs", .before = enter, .after = leave_shared),
    BREAKS("models-mixed", "concurrency",
           RULES("concurrency/several-models", "concurrency/clients", "concurrency/preparing",
                 "concurrency/opening", "consistency/prepared-twice"),
           "results are wrong after an execution of another prepared model", .after = mix_models),
    BREAKS("lock-order", "concurrency", RULES("concurrency/one-model"),
           "executions take two locks in either order", .before = lock_in_turns),
    BREAKS("second-refused", "concurrency", RULES("concurrency/one-model", "priority/mixed"),
           "refuses an execution while another one runs", .before = refuse_second, .after = leave),
    BREAKS("concurrent-crash", "concurrency", RULES("concurrency/callbacks"),
           "crashes when two executions run at once", .before = enter, .after = crash_when_busy),
    BREAKS("thread-dependent", "concurrency", RULES("concurrency/one-model"),
           "synchronous executions on other threads than the first are wrong",
           .after = spoil_other_thread),
    BREAKS("memory-leak", "resources", RULES("stress/leaks"), "each execution loses 1 MiB",
           .after = leak_memory),
    BREAKS("descriptor-leak", "resources", RULES("stress/leaks"),
           "each execution loses a descriptor", .after = leak_descriptor),
    BREAKS("rejection-leak", "resources", RULES("stress/other-resources"),
           "each rejected execution loses a descriptor", .after = leak_when_rejecting),
    BREAKS("mapping-leak", "resources", RULES("stress/resources"), "each execution loses a mapping",
           .after = leak_mapping),
    BREAKS("every-100th-wrong", "consistency", RULES("stress/long-run"),
           "every 100th execution of the driver is wrong", .after = spoil_every_100th),
    BREAKS("first-wrong", "consistency", RULES("generated/results"),
           "the first execution of a prepared model is wrong", .after = spoil_first),
    BREAKS("second-wrong", "consistency", RULES("stress/results"),
           "the second execution of a prepared model is wrong", .after = spoil_second),
    BREAKS("restored-wrong", "cache", RULES("cache/C1"),
           "models restored from a cache compute otherwise", .after = spoil_restored),
    BREAKS("low-priority-wrong", "priority", RULES("priority/results"),
           "executions after a preparation with low priority are wrong", .preparing = note_priority,
           .after = spoil_low_priority),
    BREAKS("unaligned-wrong", "consistency", RULES("consistency/memory"),
           "wrong results for inputs that are not aligned to 16 bytes", .after = spoil_unaligned),
    BREAKS("failure-spoils-next", "consistency", RULES("consistency/earlier"),
           "the execution after a failed one is wrong", .after = spoil_after_failure),
    BREAKS("release-by-thread-crash", "crash", RULES("concurrency/releasing"),
           "releasing a model on another thread than the first crashes",
           .model = { .release = crash_on_release_by_thread }),
    BREAKS("release-before-fence-crash", "crash", RULES("fenced/never"),
           "releasing a model whose execution waits for a fence crashes", .before = keep_fence,
           .model = { .release = crash_on_release_before_fence }),
    BREAKS("release-crash", "crash", RULES("request/R1"),
           "releasing a model that was not executed crashes",
           .model = { .release = crash_on_release }),
};
const struct fault_group state_faults = { rows, COUNT(rows) };
