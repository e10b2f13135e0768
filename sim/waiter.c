/* Waiting for the callback of a preparation, which comes from any thread, once. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "sim/convert.h"
#include "sim/runtime.h"

/* A launch that fails calls back too; longer than this it need not be waited for.  Waiters are kept
 * for so many preparations, as long as a late second call may come. */
enum { PATIENCE_SECONDS = 5, KEPT = 16 };

struct waiter {
    struct hal_prepare_callback base;
    pthread_mutex_t lock;
    pthread_cond_t called;
    unsigned calls;
    enum hal_status status;
    struct hal_prepared_model *prepared;
    struct waiter *next;
};

static void notify(struct hal_prepare_callback *self, enum hal_status status,
                   struct hal_prepared_model *prepared)
{
    struct waiter *w = (struct waiter *) self;

    pthread_mutex_lock(&w->lock);
    if (w->calls++ == 0) {
        w->status = status;
        w->prepared = prepared;
    }
    pthread_cond_signal(&w->called);
    pthread_mutex_unlock(&w->lock);
}

static void forget_old(struct waiter *w)
{
    for (int i = 1; w && i < KEPT; i++)
        w = w->next;
    if (!w)
        return;
    waiters_free(w->next);
    w->next = NULL;
}

static struct waiter *waiter_new(struct target *t)
{
    struct waiter *w = calloc(1, sizeof(*w));

    if (!w)
        return NULL;
    w->base.notify = notify;
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->called, NULL);
    w->next = t->waiters;
    t->waiters = w;
    forget_old(w);
    return w;
}

/* False when it was not called in time. */
static bool await(struct waiter *w, bool launched)
{
    struct timespec until;
    int rc = 0;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PATIENCE_SECONDS;
    pthread_mutex_lock(&w->lock);
    while (!w->calls && rc != ETIMEDOUT)
        rc = launched ? pthread_cond_wait(&w->called, &w->lock)
                      : pthread_cond_timedwait(&w->called, &w->lock, &until);
    bool called = w->calls;
    pthread_mutex_unlock(&w->lock);
    return called;
}

static void judge(const struct waiter *w, enum hal_status launched, char *text, size_t size)
{
    if (w->calls > 1)
        snprintf(text, size, "prepare_model called back %u times", w->calls);
    else if ((unsigned) w->status >= HAL_STATUS_COUNT)
        snprintf(text, size, "prepare_model called back with the unknown status %d",
                 (int) w->status);
    else if (w->status == HAL_NONE && !w->prepared)
        snprintf(text, size, "prepare_model called back with NONE but without a prepared model");
    else if (w->status != HAL_NONE && w->prepared)
        snprintf(text, size, "prepare_model called back with %s and a prepared model",
                 hal_status_name(w->status));
    else if (launched != HAL_NONE && w->status == HAL_NONE)
        snprintf(text, size, "prepare_model returned %s but called back with NONE",
                 hal_status_name(launched));
}

enum hal_status target_prepare(struct target *t, const struct hal_model *model,
                               const struct hal_prepare_config *config,
                               struct hal_prepared_model **ret_prepared, char *violation,
                               size_t size)
{
    struct waiter *w = waiter_new(t);
    enum hal_status launched;

    *ret_prepared = NULL;
    if (!w)
        return HAL_RESOURCE_EXHAUSTED_TRANSIENT;
    launched = t->driver->prepare_model(t->driver, t->driver->hal_version, model, config, &w->base);
    if ((unsigned) launched >= HAL_STATUS_COUNT) {
        snprintf(violation, size, "prepare_model returned the unknown status %d", (int) launched);
        return HAL_GENERAL_FAILURE;
    }
    if (!await(w, launched == HAL_NONE)) {
        snprintf(violation, size, "prepare_model returned %s and did not call back",
                 hal_status_name(launched));
        return launched;
    }
    judge(w, launched, violation, size);
    if (w->status == HAL_NONE)
        *ret_prepared = w->prepared;
    else if (w->prepared)
        w->prepared->methods->release(w->prepared);
    return launched != HAL_NONE ? launched : w->status;
}

bool waiters_repeated(const struct waiter *w)
{
    for (; w; w = w->next)
        if (w->calls > 1)
            return true;
    return false;
}

void waiters_free(struct waiter *w)
{
    while (w) {
        struct waiter *next = w->next;
        pthread_cond_destroy(&w->called);
        pthread_mutex_destroy(&w->lock);
        free(w);
        w = next;
    }
}
