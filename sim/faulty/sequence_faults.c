/* Faults that show in certain sequences of calls only: after a success, beside another object, with
 * several loops, in memory of a certain kind. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/base/fence.h"
#include "sim/faulty/faulty.h"
#include "sim/hal/hal_result.h"

/* ---- requests */

/* Accepts every request of a model that has executed one. */
static void check_once(struct faulty_call *x)
{
    if (x->status == HAL_NONE && x->result)
        atomic_store(&x->model->state, 1);
    if (x->status == HAL_INVALID_ARGUMENT && x->result && atomic_load(&x->model->state))
        x->status = HAL_NONE;
}

static void lose_descriptor(struct faulty_call *x)
{
    if (x->status == HAL_OUTPUT_INSUFFICIENT_SIZE)
        (void) !open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/* Durations are those of all executions of the model so far. */
static void add_up_times(struct faulty_call *x)
{
    const unsigned n = atomic_load(&x->model->executions);

    if (x->status != HAL_NONE || !x->result || x->result->timing.in_driver == HAL_NO_TIME)
        return;
    x->result->timing.in_driver *= n;
    if (x->result->timing.on_device != HAL_NO_TIME)
        x->result->timing.on_device *= n;
}

static void apply_deadline_of_preparation(struct faulty_call *x)
{
    if (x->config.deadline == HAL_NO_DEADLINE)
        x->config.deadline = x->model->deadline;
}

/* The time-out is for all loops of the model together. */
static void share_loop_timeout(struct faulty_call *x)
{
    if (x->model->n_loops > 1 && x->config.loop_timeout != HAL_NO_TIME)
        x->config.loop_timeout /= x->model->n_loops;
}

/* ---- several models */

static void release_and_disturb(struct hal_prepared_model *self)
{
    struct faulty_model *m = faulty_model_of(self);

    atomic_store(&m->driver->state, 1);
    if (m->inner)
        m->inner->methods->release(m->inner);
    free(m);
}

static void spoil_after_release(struct faulty_call *x)
{
    if (x->status == HAL_NONE && atomic_exchange(&x->model->driver->state, 0))
        spoil_output(x);
}

/* All restored models share the memory of the one that was restored last. */
static void number_restored(struct hal_prepare_callback *client, enum hal_status status,
                            struct faulty_model *m)
{
    if (m && m->is_restored)
        atomic_store(&m->state, atomic_fetch_add(&m->driver->state, 1) + 1);
    client->notify(client, status, m ? &m->base : NULL);
}

static void spoil_older_restored(struct faulty_call *x)
{
    if (x->model->is_restored &&
        atomic_load(&x->model->state) != atomic_load(&x->model->driver->state))
        spoil_output(x);
}

static void note_unknown_inputs(struct faulty_preparation *p)
{
    const struct hal_subgraph *g = p->model ? &p->model->main : NULL;
    bool unknown = false;

    if (!g || !p->config.cache.n_model)
        return;
    for (uint32_t i = 0; i < g->n_inputs; i++)
        for (uint32_t k = 0; k < g->operands[g->inputs[i]].n_dims; k++)
            unknown = unknown || !g->operands[g->inputs[i]].dims[k];
    atomic_store(&p->driver->state, unknown);
}

static void mark_restored(struct hal_prepare_callback *client, enum hal_status status,
                          struct faulty_model *m)
{
    if (m && m->is_restored)
        atomic_store(&m->state, atomic_load(&m->driver->state));
    client->notify(client, status, m ? &m->base : NULL);
}

static void fail_restored(struct faulty_call *x)
{
    if (x->status != HAL_NONE || !x->model->is_restored || !atomic_load(&x->model->state))
        return;
    x->status = HAL_GENERAL_FAILURE;
    if (x->result)
        hal_clear_result(x->result);
}

/* ---- files */

enum { BUSY_FILES = 64 };
/* Files or buffers of the first inputs of running executions; 0: none. */
static uint64_t busy_file[BUSY_FILES];
static pthread_mutex_t busy_lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local int own_file; /* 1 + its index in busy_file; 0: none, -1: another one's */

static uint64_t input_file(const struct faulty_call *x)
{
    const struct hal_request *r = &x->request;
    const struct hal_request_pool *p = r->n_inputs && r->inputs[0].location.pool < r->n_pools
                                           ? &r->pools[r->inputs[0].location.pool]
                                           : NULL;
    struct stat s;

    if (p && p->is_token)
        return UINT64_C(1) << 63 | p->token;
    return p && p->memory.fd >= 0 && fstat(p->memory.fd, &s) == 0 ? s.st_ino : 0;
}

static void take_file(struct faulty_call *x)
{
    const uint64_t file = x->entry == ENTRY_SYNCHRONOUS ? input_file(x) : 0;

    own_file = 0;
    pthread_mutex_lock(&busy_lock);
    for (int i = 0; i < BUSY_FILES && file; i++)
        if (busy_file[i] == file)
            own_file = -1;
    for (int i = 0; i < BUSY_FILES && file && !own_file; i++)
        if (!busy_file[i]) {
            busy_file[i] = file;
            own_file = i + 1;
        }
    pthread_mutex_unlock(&busy_lock);
    if (file)
        usleep(200);
}

/* An execution whose input lies in the same file or buffer as that of another one is wrong. */
static void leave_file(struct faulty_call *x)
{
    if (own_file < 0)
        spoil_output(x);
    pthread_mutex_lock(&busy_lock);
    if (own_file > 0)
        busy_file[own_file - 1] = 0;
    pthread_mutex_unlock(&busy_lock);
}

static enum hal_status copy_without_looking(struct hal_buffer *self, const struct hal_memory *from,
                                            uint32_t n_dims, const uint32_t *dims)
{
    struct hal_buffer *b = ((struct faulty_buffer *) self)->inner;
    struct stat s;

    if (from->fd >= 0 && fstat(from->fd, &s) == 0 &&
        (uint64_t) s.st_size < from->offset + from->size)
        abort();
    return b->methods->copy_from(b, from, n_dims, dims);
}

static void crash_on_huge_cache(struct faulty_preparation *p)
{
    enum { MOST = 8 << 20 };
    struct stat s;

    if (!p->model && p->config.cache.n_model && fstat(p->config.cache.model[0], &s) == 0 &&
        s.st_size > MOST)
        abort();
}

/* ---- models */

/* Reads 16 bytes at a time. */
static void read_behind_values(struct faulty_preparation *p)
{
    const volatile uint8_t *at = p->model ? p->model->operand_values : NULL;

    for (uint64_t i = 0; at && i < 16; i++)
        (void) at[p->model->operand_values_length + i];
}

static void shorten_references(struct faulty_preparation *p)
{
    struct hal_model *m = p->model ? arena_copy(p->arena, p->model, sizeof *m) : NULL;
    struct hal_operand *o =
        m ? arena_copy(p->arena, m->main.operands, m->main.n_operands * sizeof *o) : NULL;

    if (!o)
        return;
    for (uint32_t i = 0; i < m->main.n_operands; i++)
        if (o[i].lifetime == HAL_CONSTANT_REFERENCE && o[i].type == HAL_TYPE_INT32 &&
            o[i].location.length > 4)
            o[i].location.length = 4;
    m->main.operands = o;
    p->model = m;
}

static enum hal_status without_extension_data(struct hal_driver *self, enum hal_version version,
                                              const struct hal_model *model, bool *supported,
                                              uint32_t *ret_n)
{
    struct hal_driver *d = faulty_driver_of(self)->inner;

    for (uint32_t i = 0; i < model->main.n_operands; i++)
        if (model->main.operands[i].extra == HAL_EXTRA_EXTENSION)
            return HAL_INVALID_ARGUMENT;
    return d->get_supported_operations(d, version, model, supported, ret_n);
}

/* ---- fences and bursts */

static enum hal_status fail_if_overtaken(struct hal_fenced_info *self,
                                         struct hal_timing *ret_launched,
                                         struct hal_timing *ret_fenced)
{
    struct faulty_info *f = (struct faulty_info *) self;

    if (atomic_load(&f->driver->executions) == f->executions)
        return f->inner->methods->get_execution_info(f->inner, ret_launched, ret_fenced);
    *ret_launched = *ret_fenced = hal_unknown_timing;
    return HAL_GENERAL_FAILURE;
}

/* The size of the first memory with an identifier is also used for its later memories. */
static enum hal_status run_in_first_size(struct hal_burst *self, const struct hal_request *request,
                                         uint32_t n, const int64_t *identifiers,
                                         const struct hal_execution_config *config,
                                         struct hal_result *result)
{
    struct faulty_burst *b = (struct faulty_burst *) self;

    for (uint32_t i = 0; i < n && i < request->n_pools; i++) {
        struct hal_memory *m =
            identifiers[i] >= 0 && identifiers[i] < 16 ? &b->kept[identifiers[i]] : NULL;
        if (m && m->size && m->size < request->pools[i].memory.size) {
            hal_clear_result(result);
            return HAL_INVALID_ARGUMENT;
        }
        if (m && !m->size)
            m->size = request->pools[i].memory.size;
    }
    return b->inner->methods->execute_synchronously(b->inner, request, n, identifiers, config,
                                                    result);
}

enum { MOST_FENCES = 100 };

static void crash_on_many_fences(struct faulty_call *x)
{
    if (x->n_wait_for > MOST_FENCES)
        abort();
}

static void lose_descriptor_of_failed_fence(struct faulty_call *x)
{
    for (uint32_t i = 0; i < x->n_wait_for; i++)
        if (fence_wait(1, &x->wait_for[i], 0) < 0)
            (void) !open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static struct faulty_reusable *reusable_of(struct hal_execution *e)
{
    return (struct faulty_reusable *) e;
}

/* The first computation's deadline is that of all. */
static enum hal_status keep_deadline(struct hal_execution *self, uint64_t deadline,
                                     struct hal_result *result)
{
    struct faulty_reusable *r = reusable_of(self);

    if (!r->deadline)
        r->deadline = deadline;
    return r->inner->methods->execute_synchronously(r->inner, r->deadline, result);
}

static enum hal_status leave_unwritten(struct hal_execution *self, uint64_t deadline,
                                       struct hal_result *result)
{
    struct hal_execution *e = reusable_of(self)->inner;
    struct hal_result before = *result;
    enum hal_status status = e->methods->execute_synchronously(e, deadline, result);

    if (status != HAL_NONE && status != HAL_OUTPUT_INSUFFICIENT_SIZE)
        *result = before;
    return status;
}

/* ---- buffers and branches */

static void clear_locations(const struct faulty_call *x, uint32_t n, struct hal_argument *a)
{
    for (uint32_t i = 0; i < n; i++)
        if (a[i].location.pool < x->request.n_pools &&
            x->request.pools[a[i].location.pool].is_token)
            a[i].location = (struct hal_location){ .pool = a[i].location.pool };
}

static void ignore_locations(struct faulty_call *x)
{
    struct hal_request *r = &x->request;
    struct hal_argument *in = arena_copy(x->arena, r->inputs, r->n_inputs * sizeof *in);
    struct hal_argument *out = arena_copy(x->arena, r->outputs, r->n_outputs * sizeof *out);

    if (!in || !out)
        return;
    clear_locations(x, r->n_inputs, in);
    clear_locations(x, r->n_outputs, out);
    r->inputs = in;
    r->outputs = out;
}

static bool has_extension(const struct hal_subgraph *g)
{
    for (uint32_t i = 0; i < g->n_operations; i++)
        if (g->operations[i].type > UINT16_MAX)
            return true;
    return false;
}

static enum hal_status support_branches(struct hal_driver *self, enum hal_version version,
                                        const struct hal_model *model, bool *supported,
                                        uint32_t *ret_n)
{
    struct hal_driver *d = faulty_driver_of(self)->inner;
    enum hal_status status = d->get_supported_operations(d, version, model, supported, ret_n);

    for (uint32_t k = 0; status == HAL_NONE && k < model->n_referenced; k++)
        for (uint32_t i = 0; has_extension(&model->referenced[k]) && i < *ret_n; i++)
            supported[i] = supported[i] || model->main.operations[i].type == HAL_OP_IF;
    return status;
}

static const struct fault rows[] = {
    BREAKS("checked-once", "request", RULES("request/sequences"),
           "accepts every request of a model that has executed a valid one", .after = check_once),
    BREAKS("short-output-leak", "resources", RULES("stress/sequences"),
           "each execution with an output that is too small loses a descriptor",
           .after = lose_descriptor),
    BREAKS("timing-adds-up", "timing", RULES("generated/steady-times"),
           "durations are those of all executions of the model", .after = add_up_times),
    BREAKS("deadline-of-preparation", "deadline", RULES("deadline/sequences"),
           "the deadline of a preparation applies to executions",
           .before = apply_deadline_of_preparation),
    BREAKS("loop-timeout-shared", "deadline", RULES("loop-timeout/in-a-row"),
           "the time-out is for all loops of a model together", .before = share_loop_timeout),
    BREAKS("wrong-after-release", "consistency", RULES("consistency/sequences"),
           "the execution after the release of a model is wrong", .after = spoil_after_release,
           .model = { .release = release_and_disturb }),
    BREAKS("restored-share-memory", "cache", RULES("cache/sequences"),
           "of several restored models only the one that was restored last is right",
           .prepared = number_restored, .after = spoil_older_restored),
    BREAKS("restored-of-known-shape", "cache", RULES("cache/restored"),
           "restored models with inputs of unknown shape do not execute",
           .preparing = note_unknown_inputs, .prepared = mark_restored, .after = fail_restored),
    BREAKS("cache-huge-crash", "cache", RULES("cache/S2"),
           "crashes on a model cache file of more than 8 MiB", .preparing = crash_on_huge_cache),
    BREAKS("file-shared", "concurrency",
           RULES("concurrency/sequences", "concurrency/shared-buffer"),
           "synchronous executions at once with inputs in one file or buffer are wrong",
           .before = take_file, .after = leave_file),
    BREAKS("copy-short-file-crash", "buffer", RULES("memory-domain/unusable"),
           "copy_from crashes on a file that is shorter than its memory",
           .buffer = { .copy_from = copy_without_looking }),
    BREAKS("values-overread", "memory", RULES("consistency/model-overwritten"),
           "prepare_model reads 16 bytes after the operand values",
           .preparing = read_behind_values),
    BREAKS("reference-length-unchecked", "model", RULES("model/ranges"),
           "prepare_model accepts constants by reference that are too long",
           .preparing = shorten_references),
    BREAKS("extension-data-refused", "extension", RULES("extension/unknown"),
           "rejects models whose operands have data of an extension",
           .driver = { .get_supported_operations = without_extension_data }),
    BREAKS("info-overtaken", "fence", RULES("fenced/sequences"),
           "get_execution_info reports a failure once another execution has begun",
           .info = { .get_execution_info = fail_if_overtaken }),
    BREAKS("many-fences-crash", "crash", RULES("fenced/many"), "crashes on more than 100 fences",
           .before = crash_on_many_fences),
    BREAKS("failed-fence-leak", "resources", RULES("stress/sequences"),
           "each execution that waits for a failed fence loses a descriptor",
           .before = lose_descriptor_of_failed_fence),
    BREAKS("reusable-deadline-kept", "reusable", RULES("deadline/sequences"),
           "reusable executions keep the deadline of their first run",
           .reusable = { .execute_synchronously = keep_deadline }),
    BREAKS("reusable-result-unwritten", "reusable", RULES("request/fails"),
           "reusable executions that fail leave the result as it was",
           .reusable = { .execute_synchronously = leave_unwritten }),
    BREAKS("buffer-location-ignored", "buffer", RULES("memory-domain/location"),
           "executions ignore offset and length of arguments in buffers",
           .before = ignore_locations),
    BREAKS("branches-supported", "support", RULES("extension/in-branch"),
           "IF is supported with an operation of an unknown extension in a branch",
           .driver = { .get_supported_operations = support_branches }),
    BREAKS("burst-size-kept", "burst", RULES("burst/sequences"),
           "bursts reject a larger memory under an identifier that was released",
           .burst = { .execute_synchronously = run_in_first_size }),
};
const struct fault_group sequence_faults = { rows, COUNT(rows) };
