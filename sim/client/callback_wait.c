#include "sim/client/callback_wait.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sim/base/failure_text.h"
#include "sim/hal/hal_convert.h"
#include "sim/remote/remote.h"

/* Number of ended callbacks that are kept in memory, since a driver may call them again later. */
enum { KEPT = 256 };

/* ---- callbacks */

static void take_failure_text(struct callback_wait *w)
{
    if (w->status != HAL_NONE && w->driver)
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

/* ---- the list of a client */

static void callback_wait_free(struct callback_wait *w)
{
    pthread_cond_destroy(&w->called);
    pthread_mutex_destroy(&w->lock);
    free(w);
}

/* If more than KEPT callbacks are kept, frees one of the older ones that is no longer awaited.  The
 * caller holds the client's lock. */
static void forget_one(struct driver_client *c)
{
    struct callback_wait **at = &c->waits;

    for (int n = 0; *at && (n < KEPT || !(*at)->is_over); n++)
        at = &(*at)->next;
    struct callback_wait *old = *at;
    if (!old)
        return;
    *at = old->next;
    callback_wait_free(old);
}

struct callback_wait *callback_wait_new(struct driver_client *c, const char *method,
                                        struct hal_result *result)
{
    struct callback_wait *w = calloc(1, sizeof(*w));

    if (!w)
        return NULL;
    w->prepare.notify = notify_prepared;
    w->execution.notify = notify_executed;
    w->method = method;
    w->driver = c->driver;
    w->result = result;
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->called, NULL);
    pthread_mutex_lock(&c->lock);
    w->run = c->run;
    w->next = c->waits;
    c->waits = w;
    forget_one(c);
    pthread_mutex_unlock(&c->lock);
    return w;
}

void callback_waits_free(struct callback_wait *w)
{
    while (w) {
        struct callback_wait *next = w->next;
        callback_wait_free(w);
        w = next;
    }
}

const char *driver_client_repeated(struct driver_client *c, uint64_t *ret_run)
{
    const char *method = NULL;

    pthread_mutex_lock(&c->lock);
    for (struct callback_wait *w = c->waits; w && !method; w = w->next) {
        if (atomic_load(&w->calls) < 2)
            continue;
        pthread_mutex_lock(&w->lock);
        w->calls = 1;
        pthread_mutex_unlock(&w->lock);
        method = w->method;
        if (ret_run)
            *ret_run = w->run;
    }
    pthread_mutex_unlock(&c->lock);
    return method;
}

/* ---- waiting */

static void add_ns(struct timespec *t, int64_t ns)
{
    t->tv_sec += ns / 1000000000;
    t->tv_nsec += ns % 1000000000;
    t->tv_sec += t->tv_nsec / 1000000000;
    t->tv_nsec %= 1000000000;
}

/* With w->lock held.  A service has as long as for a reply; then its connection fails, which calls
 * back. */
static void await_service(const struct driver_client *c, struct callback_wait *w)
{
    struct reply_wait wait;
    struct timespec until;

    remote_await_callback(c->driver, &wait);
    while (!w->calls) {
        clock_gettime(CLOCK_REALTIME, &until);
        add_ns(&until, PROCESS_CLOCK_LOOK_MS * INT64_C(1000000));
        if (pthread_cond_timedwait(&w->called, &w->lock, &until) != ETIMEDOUT || w->calls)
            continue;
        pthread_mutex_unlock(&w->lock);
        remote_look_for_callback(c->driver, &wait);
        pthread_mutex_lock(&w->lock);
    }
}

/* False when it was not called in time. */
static bool await(const struct driver_client *c, struct callback_wait *w, bool launched)
{
    struct timespec until;
    int rc = 0;

    clock_gettime(CLOCK_REALTIME, &until);
    add_ns(&until, (int64_t) (c->patience * 1e9));
    pthread_mutex_lock(&w->lock);
    if (launched && c->is_service)
        await_service(c, w);
    while (!w->calls && rc != ETIMEDOUT)
        rc = launched ? pthread_cond_wait(&w->called, &w->lock)
                      : pthread_cond_timedwait(&w->called, &w->lock, &until);
    bool called = w->calls;
    w->result = NULL;
    pthread_mutex_unlock(&w->lock);
    return called;
}

/* Calls that are judged here are not reported by driver_client_repeated(). */
static void judge(struct callback_wait *w, enum hal_status launched, struct client_end *e)
{
    pthread_mutex_lock(&w->lock);
    if (w->calls > 1)
        snprintf(e->violation, sizeof(e->violation), "%s called back %u times", w->method,
                 w->calls);
    else if ((unsigned) w->status >= HAL_STATUS_COUNT)
        snprintf(e->violation, sizeof(e->violation), "%s called back with the unknown status %d",
                 w->method, (int) w->status);
    else if (launched != HAL_NONE && w->status != launched)
        snprintf(e->violation, sizeof(e->violation), "%s returned %s but called back with %s",
                 w->method, hal_status_name(launched), hal_status_name(w->status));
    w->calls = 1;
    pthread_mutex_unlock(&w->lock);
}

bool callback_wait_finish(struct driver_client *c, struct callback_wait *w,
                          enum hal_status launched, struct client_end *e)
{
    bool is_known = (unsigned) launched < HAL_STATUS_COUNT,
         called = is_known && await(c, w, launched == HAL_NONE);

    e->status = is_known ? launched : HAL_GENERAL_FAILURE;
    e->lacks_callback = is_known && !called;
    if (!is_known)
        snprintf(e->violation, sizeof(e->violation), "%s returned the unknown status %d", w->method,
                 (int) launched);
    else if (!called)
        snprintf(e->violation, sizeof(e->violation), "%s returned %s and did not call back",
                 w->method, hal_status_name(launched));
    else
        judge(w, launched, e);
    if (called && launched == HAL_NONE) {
        e->status = w->status;
        if (w->status != HAL_NONE)
            memcpy(e->failure_text, w->failure_text, sizeof(e->failure_text));
    }
    pthread_mutex_lock(&c->lock);
    w->is_over = true;
    pthread_mutex_unlock(&c->lock);
    return called;
}
