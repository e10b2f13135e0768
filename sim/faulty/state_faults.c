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
#include "sim/hal/hal_result.h"

/* ---- several executions at once */

/* Maps the memory of an argument of an execution that has succeeded, and returns where its value
 * is; NULL: it is not in client memory, or has no bytes. */
static uint8_t *map_value(const struct faulty_call *x, const struct hal_argument *a, bool write,
                          struct mapping *ret_mapping)
{
    struct why w;

    if (a->has_no_value || x->status != HAL_NONE || !x->result || !a->location.length ||
        a->location.pool >= x->request.n_pools || x->request.pools[a->location.pool].is_token ||
        memory_map(&x->request.pools[a->location.pool].memory, write, ret_mapping, &w) < 0)
        return NULL;
    return ret_mapping->address + a->location.offset;
}

/* Changes a byte of the first output in client memory. */
void spoil_output(const struct faulty_call *x)
{
    struct mapping m = { 0 };
    uint8_t *at = x->request.n_outputs ? map_value(x, &x->request.outputs[0], true, &m) : NULL;

    if (at)
        *at ^= 0x55;
    memory_unmap(&m);
}

/* Dimension 0 of output 0, as an execution that has succeeded reports it; NULL: it does not. */
static uint32_t *reported_dimension(const struct faulty_call *x)
{
    bool has =
        x->result && x->status == HAL_NONE && x->result->n_shapes && x->result->shapes[0].n_dims;

    return has ? &x->result->shapes[0].dims[0] : NULL;
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
        (*(x->request.n_inputs ? &x->request.n_inputs : &x->request.n_outputs))--;
    wait_a_little();
}

static void leave(struct faulty_call *x)
{
    atomic_fetch_sub(&x->model->driver->state, 1);
}

/* Changes the last byte of the first input for a while. */
static void borrow_input(struct faulty_call *x)
{
    const struct hal_argument *in = x->request.n_inputs ? &x->request.inputs[0] : NULL;
    pthread_mutex_t *lock = &x->model->driver->lock;
    struct mapping m = { 0 };
    uint8_t *at = in ? map_value(x, in, true, &m) : NULL;

    if (at) {
        pthread_mutex_lock(lock);
        at[in->location.length - 1] ^= 0x55;
        wait_a_little();
        at[in->location.length - 1] ^= 0x55;
        pthread_mutex_unlock(lock);
    }
    memory_unmap(&m);
}

/* One place for the reported shapes of all executions. */
static void share_shapes(struct faulty_call *x)
{
    uint32_t *dim = reported_dimension(x);

    if (!dim)
        return;
    atomic_store(&x->model->driver->state, (int) *dim);
    wait_a_little();
    *dim = (uint32_t) atomic_load(&x->model->driver->state);
}

/* ---- priorities */

/* An execution of low priority that begins beside another one never ends: the driver misses the
 * signal that the other one has ended. */
static void wait_for_lost_signal(struct faulty_call *x)
{
    bool is_idle = atomic_fetch_add(&x->model->driver->state, 1) == 0;

    wait_a_little();
    while (x->model->priority == HAL_PRIORITY_LOW && !is_idle)
        pause();
}

/* Executions of high priority begin when no other has run for a while. */
static void wait_for_lower(struct faulty_call *x)
{
    enum { IDLE_LOOKS = 30 };
    atomic_int *running = &x->model->driver->state;

    for (int idle = 0; x->model->priority == HAL_PRIORITY_HIGH && idle < IDLE_LOOKS;) {
        wait_a_little();
        idle = atomic_load(running) ? 0 : idle + 1;
    }
    atomic_fetch_add(running, 1);
}

/* ---- questions and callbacks */

static void begin_preparing(struct faulty_preparation *p)
{
    atomic_fetch_add(&p->driver->state, 1);
    wait_a_little();
}

static enum hal_device_status offline_while_preparing(struct hal_driver *self)
{
    struct faulty_driver *d = faulty_driver_of(self);

    return atomic_load(&d->state) ? HAL_DEVICE_OFFLINE : d->inner->get_status(d->inner);
}

/* The preparation has ended if it has succeeded. */
static void end_preparing(struct hal_prepare_callback *client, enum hal_status status,
                          struct faulty_model *m)
{
    if (m)
        atomic_fetch_sub(&m->driver->state, 1);
    client->notify(client, status, m ? &m->base : NULL);
}

/* A callback is called with a lock that get_status() takes, too. */
static void notify_locked(struct hal_prepare_callback *client, enum hal_status status,
                          struct faulty_model *m)
{
    pthread_mutex_t *lock = m ? &m->driver->second_lock : NULL;

    if (lock)
        pthread_mutex_lock(lock);
    client->notify(client, status, m ? &m->base : NULL);
    if (lock)
        pthread_mutex_unlock(lock);
}

static enum hal_device_status get_status_locked(struct hal_driver *self)
{
    struct faulty_driver *d = faulty_driver_of(self);

    pthread_mutex_lock(&d->second_lock);
    enum hal_device_status status = d->inner->get_status(d->inner);
    pthread_mutex_unlock(&d->second_lock);
    return status;
}

/* ---- losses, and what depends on earlier calls or is done after them */

/* Replaces what is kept by a copy of `length` bytes. */
static void keep_bytes(struct saved_file *kept, const uint8_t *bytes, size_t length)
{
    free(kept->bytes);
    *kept = (struct saved_file){ malloc(length + 1), length };
    if (!kept->bytes)
        abort();
    if (length)
        memcpy(kept->bytes, bytes, length);
}

void leak_memory(struct faulty_call *x)
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

static void spoil_noted(struct faulty_call *x)
{
    if (atomic_load(&x->model->driver->state))
        spoil_output(x);
}

static void note_preference(struct faulty_preparation *p)
{
    atomic_store(&p->driver->state, p->config.preference == HAL_SUSTAINED_SPEED);
}

/* Dimension 0 of the first output is that of the model's first execution. */
static void keep_first_shape(struct faulty_call *x)
{
    uint32_t *dim = reported_dimension(x), first = 0;

    if (dim && !atomic_compare_exchange_strong(&x->model->first_dim, &first, *dim))
        *dim = first;
}

/* Returns the first output of the execution before, if it was of the same model and the first input
 * begins with the same bytes.  saved[0] is the beginning of that input, saved[1] that output. */
static void reuse_by_beginning(struct faulty_call *x)
{
    enum { COMPARED = 16 };
    struct faulty_driver *d = x->model->driver;
    struct saved_file *begin = &d->saved[0], *result = &d->saved[1];
    const struct hal_request *r = &x->request;
    struct mapping in = { 0 }, out = { 0 };
    const uint8_t *from = r->n_inputs ? map_value(x, &r->inputs[0], false, &in) : NULL;
    uint8_t *to = r->n_outputs ? map_value(x, &r->outputs[0], true, &out) : NULL;
    int model = (int) ((uintptr_t) x->model >> 4 & 0x7fffffff);
    bool is_first = atomic_load(&x->model->executions) == 1;

    pthread_mutex_lock(&d->lock);
    if (from && to && r->inputs[0].location.length >= COMPARED) {
        size_t length = (size_t) r->outputs[0].location.length;
        if (atomic_exchange(&d->state, model) == model && !is_first && result->length == length &&
            memcmp(begin->bytes, from, COMPARED) == 0) {
            memcpy(to, result->bytes, length);
        } else {
            keep_bytes(begin, from, COMPARED);
            keep_bytes(result, to, length);
        }
    }
    pthread_mutex_unlock(&d->lock);
    memory_unmap(&in);
    memory_unmap(&out);
}

struct late_write {
    int file;
    uint64_t offset;
    struct saved_file result;
};

static void *write_late(void *user)
{
    struct late_write *l = user;

    wait_a_little();
    ssize_t written = pwrite(l->file, l->result.bytes, l->result.length, (off_t) l->offset);
    (void) written;
    close(l->file);
    free(l->result.bytes);
    free(l);
    return NULL;
}

/* Writes the first output, where it lies in a file, once more after the end of the execution. */
static void write_again(struct faulty_call *x)
{
    const struct hal_argument *o = x->request.n_outputs ? &x->request.outputs[0] : NULL;
    struct mapping m = { 0 };
    const uint8_t *value = o ? map_value(x, o, false, &m) : NULL;
    const struct hal_memory *memory = value ? &x->request.pools[o->location.pool].memory : NULL;

    if (memory && memory->fd >= 0) {
        struct late_write *l = calloc(1, sizeof *l);
        pthread_t thread;
        if (!l)
            abort();
        *l = (struct late_write){ dup(memory->fd), memory->offset + o->location.offset };
        keep_bytes(&l->result, value, (size_t) o->location.length);
        if (l->file < 0 || pthread_create(&thread, NULL, write_late, l) != 0)
            abort();
        pthread_detach(thread);
    }
    memory_unmap(&m);
}

/* Keeps where the client's constants are, and in saved[0] what they were. */
static void note_constants(struct faulty_preparation *p)
{
    struct faulty_driver *d = p->driver;

    pthread_mutex_lock(&d->lock);
    d->constants = p->model ? p->model->operand_values : NULL;
    keep_bytes(&d->saved[0], d->constants,
               d->constants ? (size_t) p->model->operand_values_length : 0);
    pthread_mutex_unlock(&d->lock);
}

/* Computes with the constants in the client's memory, which the client may have freed. */
static void spoil_changed_constants(struct faulty_call *x)
{
    struct faulty_driver *d = x->model->driver;

    pthread_mutex_lock(&d->lock);
    bool changed = d->constants && memcmp(d->constants, d->saved[0].bytes, d->saved[0].length) != 0;
    pthread_mutex_unlock(&d->lock);
    if (changed)
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

void faulty_model_release(struct hal_prepared_model *self)
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
    faulty_model_release(self);
}

static void crash_on_release_by_thread(struct hal_prepared_model *self)
{
    if (getpid() != gettid())
        raise(SIGSEGV);
    faulty_model_release(self);
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
    faulty_model_release(self);
}

/* ---- answers that depend on executions */

static void note_rejection(struct faulty_call *x)
{
    if (x->status == HAL_INVALID_ARGUMENT)
        atomic_store(&x->model->driver->state, 1);
}

static enum hal_device_status offline_after_rejection(struct hal_driver *self)
{
    struct faulty_driver *d = faulty_driver_of(self);

    return atomic_load(&d->state) ? HAL_DEVICE_OFFLINE : d->inner->get_status(d->inner);
}

static enum hal_status refuse_questions_when_busy(struct hal_driver *self, enum hal_version version,
                                                  const struct hal_model *model, bool *supported,
                                                  uint32_t *ret_n)
{
    struct faulty_driver *d = faulty_driver_of(self);

    if (atomic_load(&d->state) > 0)
        return HAL_GENERAL_FAILURE;
    return d->inner->get_supported_operations(d->inner, version, model, supported, ret_n);
}

/* ---- values and sizes that are rarely tested */

static void times_in_other_unit(struct faulty_call *x)
{
    struct hal_timing *t = x->result ? &x->result->timing : NULL;

    if (t && t->on_device != HAL_NO_TIME && t->in_driver != HAL_NO_TIME) {
        t->on_device *= 1000000;
        t->in_driver *= 1000000;
    }
}

static void first_short_only(struct faulty_call *x)
{
    for (uint32_t i = 1; x->status == HAL_OUTPUT_INSUFFICIENT_SIZE && i < x->result->n_shapes; i++)
        x->result->shapes[i].is_sufficient = true;
}

/* Whether an input in client memory has the bits of a float32 infinity. */
static bool has_infinity(const struct faulty_call *x)
{
    static const uint8_t bits[] = { 0, 0, 0x80, 0x7f };
    bool found = false;

    for (uint32_t i = 0; i < x->request.n_inputs && !found; i++) {
        const struct hal_argument *a = &x->request.inputs[i];
        struct mapping m = { 0 };
        const uint8_t *at = map_value(x, a, false, &m);
        for (uint64_t k = 0; at && k + sizeof bits <= a->location.length; k += sizeof bits)
            found = found || memcmp(at + k, bits, sizeof bits) == 0;
        memory_unmap(&m);
    }
    return found;
}

static void spoil_infinite(struct faulty_call *x)
{
    if (has_infinity(x))
        spoil_output(x);
}

static void note_long_model(struct faulty_preparation *p)
{
    atomic_store(&p->driver->state, p->model && p->model->main.n_operations > 64);
}

/* Writes to memory that it may not have got: more than stress/memory leaves at any time. */
static void use_unchecked_memory(struct faulty_preparation *p)
{
    const size_t bytes = (size_t) 2 << 30;
    volatile char *scratch = malloc(bytes);

    (void) p;
    scratch[0] = scratch[bytes - 1] = 1;
    free((void *) scratch);
}

/* ---- limits, and arguments that are rarely used */

static void enter_to_count(struct faulty_call *x)
{
    enum { MOST = 8 };

    enter(x);
    if (atomic_load(&x->model->driver->state) > MOST)
        x->request.n_inputs = x->request.n_outputs = 0;
}

static void need_writable_inputs(struct faulty_call *x)
{
    for (uint32_t i = 0; i < x->request.n_pools; i++)
        if (!x->request.pools[i].is_token &&
            !(x->request.pools[i].memory.protection & HAL_MEMORY_WRITE))
            x->request.n_inputs = 0;
}

static void cut_offsets(struct faulty_call *x)
{
    uint32_t n = x->request.n_pools;
    struct hal_request_pool *pools = arena_copy(x->arena, x->request.pools, n * sizeof *pools);

    for (uint32_t i = 0; pools && i < n; i++)
        pools[i].memory.offset = (uint32_t) pools[i].memory.offset;
    if (pools)
        x->request.pools = pools;
}

static void miss_after_many(struct faulty_call *x)
{
    enum { MOST = 20 };

    if (x->status == HAL_NONE && x->result && x->config.loop_timeout != HAL_NO_TIME &&
        atomic_load(&x->model->executions) > MOST) {
        hal_clear_result(x->result);
        x->status = HAL_MISSED_DEADLINE_TRANSIENT;
    }
}

static void far_is_past(struct faulty_preparation *p)
{
    if (p->config.deadline == INT64_MAX)
        p->config.deadline = 1;
}

/* ---- what belongs to the client */

/* Reads the signals of fences, which are pipes, and waits no more for them. */
static void drain_fences(struct faulty_call *x)
{
    char byte;

    for (uint32_t i = 0; i < x->n_wait_for; i++) {
        struct pollfd p = { .fd = x->wait_for[i], .events = POLLIN };
        if (poll(&p, 1, 0) <= 0 || !(p.revents & POLLIN))
            return;
    }
    for (uint32_t i = 0; i < x->n_wait_for; i++)
        if (poll(&(struct pollfd){ .fd = x->wait_for[i], .events = POLLIN }, 1, 0) > 0)
            (void) !read(x->wait_for[i], &byte, 1);
    x->n_wait_for = 0;
}

/* Reads the request where the client had it when it created the execution. */
static enum hal_status run_borrowed(struct hal_execution *self, uint64_t deadline,
                                    struct hal_result *result)
{
    struct faulty_reusable *r = (struct faulty_reusable *) self;

    if (r->client && memcmp(r->client, &r->first, sizeof r->first) != 0) {
        hal_clear_result(result);
        return HAL_INVALID_ARGUMENT;
    }
    return r->inner->methods->execute_synchronously(r->inner, deadline, result);
}

/* Keeps the file of each pool of identifier -1 under the number of its descriptor. */
static enum hal_status keep_descriptors(struct hal_burst *self, const struct hal_request *request,
                                        uint32_t n, const int64_t *identifiers,
                                        const struct hal_execution_config *config,
                                        struct hal_result *result)
{
    struct faulty_burst *b = (struct faulty_burst *) self;
    struct hal_request r = *request;
    struct hal_request_pool *pools = calloc(r.n_pools + 1, sizeof *pools);

    if (!pools)
        abort();
    for (uint32_t i = 0; i < r.n_pools; i++) {
        struct hal_memory *m = &pools[i].memory;
        pools[i] = request->pools[i];
        if (pools[i].is_token || m->fd < 0 || i >= n || identifiers[i] != -1)
            continue;
        struct hal_memory *kept = &b->kept[m->fd % COUNT(b->kept)];
        if (kept->size != m->size) {
            *kept = *m;
            kept->fd = dup(m->fd);
        }
        *m = *kept;
    }
    r.pools = pools;
    enum hal_status status =
        b->inner->methods->execute_synchronously(b->inner, &r, n, identifiers, config, result);
    free(pools);
    return status;
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
    BREAKS("second-refused", "concurrency",
           RULES("concurrency/one-model", "priority/mixed", "concurrency/pairs"),
           "refuses an execution while another one runs", .before = refuse_second, .after = leave),
    BREAKS("concurrent-crash", "concurrency", RULES("concurrency/callbacks"),
           "crashes when two executions run at once", .before = enter, .after = crash_when_busy),
    BREAKS("thread-dependent", "concurrency", RULES("concurrency/one-model"),
           "synchronous executions on other threads than the first are wrong",
           .after = spoil_other_thread),
    BREAKS("input-borrowed", "concurrency", RULES("concurrency/shared-inputs"),
           "the first input is scratch memory for a while, then restored", .after = borrow_input),
    BREAKS("shapes-shared", "concurrency", RULES("concurrency/shapes"),
           "reported shapes are those of the execution that was last to end",
           .after = share_shapes),
    BREAKS("callback-holds-lock", "concurrency", RULES("concurrency/calls-in-callbacks"),
           "get_status waits while the callback of a preparation is running",
           .prepared = notify_locked, .driver = { .get_status = get_status_locked }),
    BREAKS("offline-preparing", "concurrency", RULES("concurrency/asking"),
           "get_status reports OFFLINE while a model is being prepared",
           .preparing = begin_preparing, .prepared = end_preparing,
           .driver = { .get_status = offline_while_preparing }),
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
    BREAKS("restored-wrong", "cache", RULES("cache/C1", "cache/restored"),
           "models restored from a cache compute otherwise", .after = spoil_restored),
    BREAKS("low-priority-wrong", "priority",
           RULES("priority/results", "priority/low", "priority/sequences"),
           "executions after a preparation with low priority are wrong", .preparing = note_priority,
           .after = spoil_noted),
    BREAKS("low-priority-lost", "priority", RULES("priority/waiting"),
           "executions of low priority that begin while others run never end",
           .before = wait_for_lost_signal, .after = leave),
    BREAKS("high-priority-last", "priority", RULES("priority/waiting"),
           "executions of high priority wait until no others run", .before = wait_for_lower,
           .after = leave),
    BREAKS("sustained-speed-wrong", "consistency", RULES("generated/preferences"),
           "executions after a preparation for sustained speed are wrong",
           .preparing = note_preference, .after = spoil_noted),
    BREAKS("beginning-compared", "consistency", RULES("consistency/changed-inputs"),
           "inputs that begin with the same 16 bytes as the last ones get the last result",
           .after = reuse_by_beginning),
    BREAKS("first-shape-kept", "consistency", RULES("consistency/shapes"),
           "output shapes are those of the model's first execution", .after = keep_first_shape),
    BREAKS("written-late", "consistency", RULES("consistency/late-writes"),
           "outputs in files are written again 2 ms after the end", .after = write_again),
    BREAKS("constants-of-client", "consistency", RULES("consistency/model-overwritten"),
           "executions read the constants of the model that the client passed",
           .preparing = note_constants, .after = spoil_changed_constants),
    BREAKS("unaligned-wrong", "consistency", RULES("consistency/memory"),
           "wrong results for inputs that are not aligned to 16 bytes", .after = spoil_unaligned),
    BREAKS("failure-spoils-next", "consistency", RULES("consistency/earlier"),
           "the execution after a failed one is wrong", .after = spoil_after_failure),
    BREAKS("offline-after-rejection", "property", RULES("basic/B2"),
           "get_status reports OFFLINE after a request was rejected", .after = note_rejection,
           .driver = { .get_status = offline_after_rejection }),
    BREAKS("questions-refused-busy", "concurrency", RULES("concurrency/one-model"),
           "get_supported_operations fails while an execution runs", .before = enter,
           .after = leave, .driver = { .get_supported_operations = refuse_questions_when_busy }),
    BREAKS("times-in-fs", "timing", RULES("generated/timed"), "durations are in femtoseconds",
           .after = times_in_other_unit),
    BREAKS("second-short-unreported", "results", RULES("generated/insufficient"),
           "only output 0 is ever reported as insufficient", .after = first_short_only),
    BREAKS("infinity-wrong", "numbers", RULES("generated/infinities"),
           "results of inputs with an infinity are wrong", .after = spoil_infinite),
    BREAKS("long-model-wrong", "numbers", RULES("generated/large-models"),
           "executions after a preparation of more than 64 operations are wrong",
           .preparing = note_long_model, .after = spoil_noted),
    BREAKS("fence-drained", "fence", RULES("fenced/signalled"),
           "reads the client's fences, which are not signalled any more then",
           .before = drain_fences),
    BREAKS("reusable-borrows-request", "reusable", RULES("generated/reusable"),
           "reusable executions read the client's request again",
           .reusable = { .execute_synchronously = run_borrowed }),
    BREAKS("burst-keeps-descriptors", "burst", RULES("burst/memories"),
           "keeps files of identifier -1 under the number of their descriptor",
           .burst = { .execute_synchronously = keep_descriptors }),
    BREAKS("ninth-refused", "concurrency", RULES("concurrency/one-model"),
           "rejects the ninth execution at the same time", .before = enter_to_count,
           .after = leave),
    BREAKS("inputs-need-writing", "consistency", RULES("consistency/memory"),
           "rejects inputs in memory that is only readable", .before = need_writable_inputs),
    BREAKS("offset-32-bits", "consistency", RULES("consistency/memory"),
           "cuts offsets of files to 32 bits", .before = cut_offsets),
    BREAKS("loop-time-adds-up", "deadline", RULES("loop-timeout/finite"),
           "after 20 executions all loops of a model exceed their time-out",
           .after = miss_after_many),
    BREAKS("preparation-far-past", "deadline", RULES("deadline/past"),
           "takes a preparation's deadline of 2^63 - 1 for the past", .preparing = far_is_past),
    BREAKS("no-memory-crash", "crash", RULES("stress/memory"),
           "crashes when memory for a preparation cannot be allocated",
           .preparing = use_unchecked_memory),
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
