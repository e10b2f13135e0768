/* Faults that show after many calls, after a pause, with several objects, or only in a part of what
 * a call touches. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "golden/base/clock.h"
#include "sim/base/memory.h"
#include "sim/faulty/faulty.h"

static void spoil_512th(struct faulty_call *x)
{
    if (atomic_load(&x->model->executions) == 512)
        spoil_output(x);
}

/* As a device that has lost its state when it was switched off. */
static void spoil_after_pause(struct faulty_call *x)
{
    enum { PAUSE_NS = 100000000 };
    static _Atomic uint64_t last;
    uint64_t now = clock_steady_ns(), before = atomic_exchange(&last, now);

    if (before && now - before > PAUSE_NS)
        spoil_output(x);
}

/* Writes the byte after an output that is too small, if the pool has one. */
static void overrun_short_output(struct faulty_call *x)
{
    const struct hal_argument *a = x->request.outputs;
    struct mapping m = { 0 };
    struct why w;

    if (x->status != HAL_OUTPUT_INSUFFICIENT_SIZE || a->location.pool >= x->request.n_pools ||
        x->request.pools[a->location.pool].is_token ||
        memory_map(&x->request.pools[a->location.pool].memory, true, &m, &w) < 0)
        return;
    if (mapping_contains(&m, a->location.offset, a->location.length + 1))
        m.address[a->location.offset + a->location.length] ^= 0x55;
    memory_unmap(&m);
}

/* All answers pass through one array. */
static enum hal_status answer_in_shared_array(struct hal_driver *self, enum hal_version version,
                                              const struct hal_model *model, bool *supported,
                                              uint32_t *ret_n)
{
    enum { SHARED = 4096 };
    static atomic_bool shared[SHARED];
    struct hal_driver *d = faulty_driver_of(self)->inner;
    enum hal_status status = d->get_supported_operations(d, version, model, supported, ret_n);

    for (uint32_t i = 0; status == HAL_NONE && i < *ret_n && i < SHARED; i++)
        atomic_store(&shared[i], supported[i]);
    nanosleep(&(struct timespec){ .tv_nsec = 1000 }, NULL);
    for (uint32_t i = 0; status == HAL_NONE && i < *ret_n && i < SHARED; i++)
        supported[i] = atomic_load(&shared[i]);
    return status;
}

/* ---- priorities */

static void note_high(struct faulty_preparation *p)
{
    atomic_store(&p->driver->state, p->config.priority == HAL_PRIORITY_HIGH);
}

static void spoil_high(struct faulty_call *x)
{
    if (atomic_load(&x->model->driver->state))
        spoil_output(x);
}

/* ---- executions at the same time share a context */

static void enter_context(struct faulty_call *x)
{
    atomic_fetch_add(&x->model->driver->state, 1);
    nanosleep(&(struct timespec){ .tv_nsec = 20000 }, NULL);
}

static void leave_context(struct faulty_call *x)
{
    if (atomic_fetch_sub(&x->model->driver->state, 1) > 1)
        spoil_output(x);
}

/* ---- loops, fences of reusable executions */

static void lose_loop(struct faulty_call *x)
{
    if (x->config.deadline == HAL_NO_DEADLINE &&
        (x->status == HAL_MISSED_DEADLINE_TRANSIENT || x->status == HAL_MISSED_DEADLINE_PERSISTENT))
        leak_memory(x);
}

static enum hal_status reusable_without_fences(struct hal_execution *self, uint32_t n_wait_for,
                                               const int *wait_for, uint64_t deadline,
                                               uint64_t duration, int *ret_fence,
                                               struct hal_fenced_info **ret_info)
{
    struct hal_execution *e = ((struct faulty_reusable *) self)->inner;

    (void) n_wait_for, (void) wait_for;
    return e->methods->execute_fenced(e, 0, NULL, deadline, duration, ret_fence, ret_info);
}

/* ---- at most five prepared models */

enum { MOST_MODELS = 5 };

static void release_model(struct hal_prepared_model *self)
{
    struct faulty_model *m = faulty_model_of(self);

    atomic_fetch_sub(&m->driver->state, 1);
    if (m->inner)
        m->inner->methods->release(m->inner);
    free(m);
}

static void keep_five(struct hal_prepare_callback *client, enum hal_status status,
                      struct faulty_model *m)
{
    if (m && atomic_fetch_add(&m->driver->state, 1) >= MOST_MODELS) {
        release_model(&m->base);
        client->notify(client, HAL_GENERAL_FAILURE, NULL);
        return;
    }
    client->notify(client, status, m ? &m->base : NULL);
}

/* ---- zero points of referenced subgraphs are not looked at */

static void clear_zero_points(struct hal_subgraph *g, struct arena *a)
{
    struct hal_operand *o = arena_copy(a, g->operands, g->n_operands * sizeof *o);

    for (uint32_t i = 0; o && i < g->n_operands; i++)
        if (o[i].zero < 0 || o[i].zero > 255)
            o[i].zero = 0;
    g->operands = o ? o : g->operands;
}

static const struct hal_model *without_zero_points(const struct hal_model *model, struct arena *a)
{
    struct hal_model *m = arena_copy(a, model, sizeof *m);
    struct hal_subgraph *g = arena_copy(a, model->referenced, model->n_referenced * sizeof *g);

    if (!m || !g)
        return model;
    for (uint32_t i = 0; i < m->n_referenced; i++)
        clear_zero_points(&g[i], a);
    m->referenced = g;
    return m;
}

static void prepare_without_zero_points(struct faulty_preparation *p)
{
    if (p->model && p->model->n_referenced)
        p->model = without_zero_points(p->model, p->arena);
}

/* ---- the driver's version changes once a request was rejected */

static void note_invalid(struct faulty_call *x)
{
    if (x->status == HAL_INVALID_ARGUMENT)
        atomic_store(&x->model->driver->state, 1);
}

static enum hal_status version_after_rejection(struct hal_driver *self, const char **ret_version)
{
    struct faulty_driver *d = faulty_driver_of(self);
    enum hal_status status = d->inner->get_version_string(d->inner, ret_version);

    if (atomic_load(&d->state))
        *ret_version = "recovered";
    return status;
}

static const struct fault rows[] = {
    BREAKS("every-512th-wrong", "consistency", RULES("stress/results"),
           "the 512th execution of a prepared model is wrong", .after = spoil_512th),
    BREAKS("wrong-after-pause", "consistency", RULES("consistency/pauses"),
           "the first execution after 100 ms without any is wrong", .after = spoil_after_pause),
    BREAKS("short-output-overrun", "results", RULES("generated/insufficient"),
           "writes the byte after an output that is too small", .after = overrun_short_output),
    BREAKS("answers-shared", "concurrency", RULES("concurrency/questions"),
           "get_supported_operations keeps its answers in an array of all threads",
           .driver = { .get_supported_operations = answer_in_shared_array }),
    BREAKS("sixth-model-refused", "resources", RULES("priority/several"),
           "preparing fails while five prepared models exist", .prepared = keep_five,
           .model = { .release = release_model }),
    BREAKS("referenced-zero-point-unchecked", "model", RULES("model/M5"),
           "prepare_model accepts zero points out of range in referenced subgraphs",
           .preparing = prepare_without_zero_points),
    BREAKS("version-after-rejection", "property", RULES("request/R1"),
           "get_version_string returns another text after a request was rejected",
           .after = note_invalid, .driver = { .get_version_string = version_after_rejection }),
    BREAKS("high-priority-wrong", "priority", RULES("priority/high"),
           "executions after a preparation with high priority are wrong", .preparing = note_high,
           .after = spoil_high),
    BREAKS("context-shared", "concurrency", RULES("concurrency/models"),
           "executions at the same time are wrong", .before = enter_context,
           .after = leave_context),
    BREAKS("loop-leak", "resources", RULES("stress/loops"),
           "each loop that exceeds its time-out loses 1 MiB", .after = lose_loop),
    BREAKS("reusable-fences-ignored", "fence", RULES("fenced/reusable"),
           "reusable executions do not wait for fences",
           .reusable = { .execute_fenced = reusable_without_fences }),
};
const struct fault_group repeat_faults = { rows, COUNT(rows) };
