/* Faults that show under load: many calls at the same time, clients that die, large models. */
#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "sim/faulty/faulty.h"

static void wait_ms(int ms)
{
    nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000L }, NULL);
}

/* Long enough for other threads and clients to do the same. */
static void wait_for_others(void)
{
    wait_ms(2);
}

/* ---- calls at the same time */

static void crash_in_crowd(atomic_int *at_once, int most)
{
    atomic_fetch_add(at_once, 1);
    wait_for_others();
    if (atomic_load(at_once) > most)
        raise(SIGSEGV);
}

static void crash_beside_5(struct faulty_call *x)
{
    crash_in_crowd(&x->model->driver->state, 5);
}

static void crash_beside_11(struct faulty_call *x)
{
    crash_in_crowd(&x->model->driver->state, 11);
}

static void leave_crowd(struct faulty_call *x)
{
    atomic_fetch_sub(&x->model->driver->state, 1);
}

static void crash_preparing_12(struct faulty_preparation *p)
{
    crash_in_crowd(&p->driver->state, 11);
    atomic_fetch_sub(&p->driver->state, 1);
}

/* A lock that preparations hold and executions take: for longer than other programs keep a client
 * from running, so that it finds the lock taken on a busy machine, too. */
static void prepare_locked(struct faulty_preparation *p)
{
    pthread_mutex_lock(&p->driver->second_lock);
    wait_ms(20);
    pthread_mutex_unlock(&p->driver->second_lock);
}

static void wait_for_preparation(struct faulty_call *x)
{
    pthread_mutex_lock(&x->model->driver->second_lock);
    pthread_mutex_unlock(&x->model->driver->second_lock);
}

/* ---- models that are prepared, and not executed */

static void refuse_without_room(struct faulty_preparation *p)
{
    enum { ROOM = 300 };

    if (p->model && atomic_load(&p->driver->state) >= ROOM)
        faulty_refuse_model(p);
}

/* Its room is not used again if the model was never executed, as that of a client that has died. */
static void release_executed(struct hal_prepared_model *self)
{
    struct faulty_model *m = faulty_model_of(self);

    if (atomic_load(&m->executions) == 0)
        atomic_fetch_add(&m->driver->state, 1);
    faulty_model_release(self);
}

/* ---- large models */

static void need_writable_pools(struct faulty_preparation *p)
{
    for (uint32_t i = 0; p->model && i < p->model->n_pools; i++)
        if (!(p->model->pools[i].protection & HAL_MEMORY_WRITE)) {
            faulty_refuse_model(p);
            return;
        }
}

static void crash_on_large_constants(struct faulty_preparation *p)
{
    const uint64_t most = 16 << 20;

    if (p->model && p->model->operand_values_length > most)
        raise(SIGSEGV);
}

static void crash_on_many_operations(struct faulty_preparation *p)
{
    if (p->model && p->model->main.n_operations > 70)
        raise(SIGSEGV);
}

/* ---- the rows */

static const struct fault rows[] = {
    BREAKS("six-at-once-crash", "crash", RULES("crash/parallel"),
           "crashes when 6 executions run at the same time", .before = crash_beside_5,
           .after = leave_crowd),
    BREAKS("twelve-at-once-crash", "crash", RULES("crash/processes"),
           "crashes when 12 executions run at the same time", .before = crash_beside_11,
           .after = leave_crowd),
    BREAKS("twelve-prepared-crash", "crash", RULES("crash/loading-processes"),
           "crashes when 12 models are prepared at the same time", .preparing = crash_preparing_12),
    BREAKS("unexecuted-kept", "resources", RULES("crash/client-deaths"),
           "keeps the room of models that were released without an execution",
           .preparing = refuse_without_room, .model = { .release = release_executed }),
    BREAKS("constants-need-writing", "support", RULES("crash/mapped-models"),
           "rejects models with constants in memory that is only readable",
           .preparing = need_writable_pools),
    BREAKS("large-constants-crash", "crash", RULES("crash/hungry-models"),
           "crashes when a model with more than 16 MiB of constants is prepared",
           .preparing = crash_on_large_constants),
    BREAKS("many-operations-crash", "crash", RULES("crash/random-models"),
           "crashes when a model of more than 70 operations is prepared",
           .preparing = crash_on_many_operations),
    BREAKS("preparation-locks", "timing", RULES("crash/degradation"),
           "executions wait while a model is prepared, for up to 20 ms",
           .preparing = prepare_locked, .before = wait_for_preparation),
};

const struct fault_group crowd_faults = { rows, COUNT(rows) };
