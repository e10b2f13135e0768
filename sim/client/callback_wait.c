/* Waits for callbacks of preparations and executions, which a driver may call from any thread and
 * must call exactly once. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "sim/base/failure_text.h"
#include "sim/client/runtime.h"
#include "sim/hal/hal_convert.h"
#include "sim/remote/remote.h"

/* A launch that fails calls back too; longer than this it need not be waited for.  So many
 * callback_waits are kept, as long as a late second call may come. */
enum { PATIENCE_SECONDS = 5, KEPT = 128 };

struct callback_wait {
    struct hal_prepare_callback prepare;
    struct hal_execution_callback execution;
    const char *method; /* that is to call back */
    uint64_t run;       /* of the target */
    pthread_mutex_t lock;
    pthread_cond_t called;
    atomic_uint calls; /* looked at after the first one without the lock */
    enum hal_status status;
    struct hal_prepared_model *prepared;
    struct hal_result *result; /* NULL once it is not waited for any more */
    struct hal_driver *driver;
    char failure_text[HAL_TEXT_BYTES]; /* with the status */
    struct callback_wait *next;
};

static void take_failure_text(struct callback_wait *w)
{
    if (w->status != HAL_NONE)
        failure_text_of(w->driver, w->failure_text);
}

static void notify_prepared(struct hal_prepare_callback *self, enum hal_status status,
                            struct hal_prepared_model *prepared)
{
    struct callback_wait *w = (struct callback_wait *) self;

    pthread_mutex_lock(&w->lock);
    if (w->calls++ == 0) {
        w->status = status;
        w->prepared = prepared;
        take_failure_text(w);
    }
    pthread_cond_signal(&w->called);
    pthread_mutex_unlock(&w->lock);
}

/* More shapes than there is room for are counted only: their number is wrong. */
static void notify_executed(struct hal_execution_callback *self, enum hal_status status,
                            uint32_t n_shapes, const struct hal_output_shape *shapes,
                            struct hal_timing timing)
{
    struct callback_wait *w =
        (struct callback_wait *) (void *) ((char *) self -
                                           offsetof(struct callback_wait, execution));

    pthread_mutex_lock(&w->lock);
    if (w->calls++ == 0 && w->result) {
        w->status = status;
        take_failure_text(w);
        w->result->n_shapes = n_shapes;
        w->result->timing = timing;
        for (uint32_t i = 0; i < n_shapes && i < w->result->capacity && shapes; i++)
            w->result->shapes[i] = shapes[i];
    }
    pthread_cond_signal(&w->called);
    pthread_mutex_unlock(&w->lock);
}

static void forget_old(struct callback_wait *w)
{
    for (int i = 1; w && i < KEPT; i++)
        w = w->next;
    if (!w)
        return;
    callback_waits_free(w->next);
    w->next = NULL;
}

static struct callback_wait *callback_wait_new(struct target *t, const char *method,
                                               struct hal_result *result)
{
    struct callback_wait *w = calloc(1, sizeof(*w));

    if (!w)
        return NULL;
    w->prepare.notify = notify_prepared;
    w->execution.notify = notify_executed;
    w->method = method;
    w->run = t->runs;
    w->driver = t->driver;
    w->result = result;
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->called, NULL);
    w->next = t->callback_waits;
    t->callback_waits = w;
    forget_old(w);
    return w;
}

/* With w->lock held.  A service has as long as for a reply; then its connection fails, which calls
 * back. */
static void await_service(const struct target *t, struct callback_wait *w)
{
    struct reply_wait wait;
    struct timespec until;

    remote_await_callback(t->driver, &wait);
    while (!w->calls) {
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += PROCESS_CLOCK_LOOK_MS * 1000000L;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        if (pthread_cond_timedwait(&w->called, &w->lock, &until) != ETIMEDOUT || w->calls)
            continue;
        pthread_mutex_unlock(&w->lock);
        remote_look_for_callback(t->driver, &wait);
        pthread_mutex_lock(&w->lock);
    }
}

/* False when it was not called in time. */
static bool await(const struct target *t, struct callback_wait *w, bool launched)
{
    struct timespec until;
    int rc = 0;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PATIENCE_SECONDS;
    pthread_mutex_lock(&w->lock);
    if (launched && t->socket)
        await_service(t, w);
    while (!w->calls && rc != ETIMEDOUT)
        rc = launched ? pthread_cond_wait(&w->called, &w->lock)
                      : pthread_cond_timedwait(&w->called, &w->lock, &until);
    bool called = w->calls;
    w->result = NULL;
    pthread_mutex_unlock(&w->lock);
    return called;
}

static void judge_prepared(const struct callback_wait *w, char *text, size_t size)
{
    if (w->status == HAL_NONE && !w->prepared)
        snprintf(text, size, "prepare_model called back with NONE but without a prepared model");
    else if (w->status != HAL_NONE && w->prepared)
        snprintf(text, size, "prepare_model called back with %s and a prepared model",
                 hal_status_name(w->status));
}

static void judge(const struct callback_wait *w, enum hal_status launched, char *text, size_t size)
{
    if (w->calls > 1)
        snprintf(text, size, "%s called back %u times", w->method, w->calls);
    else if ((unsigned) w->status >= HAL_STATUS_COUNT)
        snprintf(text, size, "%s called back with the unknown status %d", w->method,
                 (int) w->status);
    else if (launched != HAL_NONE && w->status == HAL_NONE)
        snprintf(text, size, "%s returned %s but called back with NONE", w->method,
                 hal_status_name(launched));
}

/* Waits for the end of what has been launched; false where the driver breaks the contract. */
static bool finish(const struct target *t, struct callback_wait *w, enum hal_status launched,
                   char *violation, size_t size)
{
    if ((unsigned) launched >= HAL_STATUS_COUNT)
        snprintf(violation, size, "%s returned the unknown status %d", w->method, (int) launched);
    else if (!await(t, w, launched == HAL_NONE))
        snprintf(violation, size, "%s returned %s and did not call back", w->method,
                 hal_status_name(launched));
    else
        return true;
    return false;
}

enum hal_status target_note_failure(struct target *t, enum hal_status status)
{
    if (status != HAL_NONE)
        failure_text_of(t->driver, t->failure_text);
    return status;
}

/* The status of what was launched, with the reason. */
static enum hal_status take_status(struct target *t, const struct callback_wait *w,
                                   enum hal_status launched)
{
    if (launched != HAL_NONE)
        return launched;
    if (w->status != HAL_NONE)
        snprintf(t->failure_text, sizeof(t->failure_text), "%s", w->failure_text);
    return w->status;
}

/* The members beside the methods must be those of the model. */
static void judge_counts(const struct hal_model *m, const struct hal_prepared_model *p, char *text,
                         size_t size)
{
    if (p && (p->n_inputs != m->main.n_inputs || p->n_outputs != m->main.n_outputs))
        snprintf(text, size,
                 "the prepared model has %u inputs and %u outputs, the model has %u and %u",
                 p->n_inputs, p->n_outputs, m->main.n_inputs, m->main.n_outputs);
}

enum hal_status target_prepare(struct target *t, const struct hal_model *model,
                               const struct hal_prepare_config *config,
                               struct hal_prepared_model **ret_prepared, char *violation,
                               size_t size)
{
    struct callback_wait *w = callback_wait_new(t, "prepare_model", NULL);
    enum hal_status launched;

    *ret_prepared = NULL;
    if (!w)
        return hal_status_exhausted(t->driver->hal_version);
    target_at(t, TARGET_AT_PREPARE);
    launched = target_note_failure(
        t, t->driver->prepare_model(t->driver, t->driver->hal_version, model, config, &w->prepare));
    target_at(t, TARGET_AT_PREPARED);
    if (!finish(t, w, launched, violation, size))
        return (unsigned) launched < HAL_STATUS_COUNT ? launched : HAL_GENERAL_FAILURE;
    judge_prepared(w, violation, size);
    judge_counts(model, w->prepared, violation, size);
    judge(w, launched, violation, size);
    if (w->status == HAL_NONE)
        *ret_prepared = w->prepared;
    else if (w->prepared && w->prepared->methods && w->prepared->methods->release)
        w->prepared->methods->release(w->prepared);
    return take_status(t, w, launched);
}

enum hal_status target_execute(struct target *t, struct hal_prepared_model *p,
                               const struct hal_request *request,
                               const struct hal_execution_config *config, struct hal_result *result,
                               char *violation, size_t size)
{
    enum hal_version version = t->driver->hal_version;
    struct callback_wait *w;

    target_at(t, version >= HAL_1_2 ? TARGET_AT_EXECUTE_SYNCHRONOUSLY : TARGET_AT_EXECUTE);
    if (version >= HAL_1_2)
        return target_note_failure(
            t, p->methods->execute_synchronously(p, version, request, config, result));
    w = callback_wait_new(t, "execute", result);
    if (!w)
        return hal_status_exhausted(t->driver->hal_version);
    enum hal_status launched =
        target_note_failure(t, p->methods->execute(p, version, request, config, &w->execution));
    target_at(t, TARGET_AT_EXECUTED);
    if (!finish(t, w, launched, violation, size))
        return (unsigned) launched < HAL_STATUS_COUNT ? launched : HAL_GENERAL_FAILURE;
    judge(w, launched, violation, size);
    return take_status(t, w, launched);
}

bool target_can_execute(const struct target *t, const struct hal_prepared_model_methods *m)
{
    return t->driver->hal_version < HAL_1_2 ? m->execute != NULL : m->execute_synchronously != NULL;
}

const char *callback_waits_repeated(struct target *t, uint64_t *ret_run)
{
    for (struct callback_wait *w = t->callback_waits; w; w = w->next) {
        if (atomic_load(&w->calls) < 2)
            continue;
        pthread_mutex_lock(&w->lock);
        w->calls = 1;
        pthread_mutex_unlock(&w->lock);
        *ret_run = w->run;
        return w->method;
    }
    return NULL;
}

void callback_waits_free(struct callback_wait *w)
{
    while (w) {
        struct callback_wait *next = w->next;
        pthread_cond_destroy(&w->called);
        pthread_mutex_destroy(&w->lock);
        free(w);
        w = next;
    }
}
