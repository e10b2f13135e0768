#include "sim/client/hal_calls.h"

#include <errno.h>
#include <string.h>
#include <time.h>

const struct hal_prepare_config client_default_preparation = { .preference = HAL_FAST_SINGLE_ANSWER,
                                                               .priority = HAL_PRIORITY_MEDIUM,
                                                               .deadline = HAL_NO_DEADLINE };

struct hal_execution_config client_config(void)
{
    return (struct hal_execution_config){ .deadline = HAL_NO_DEADLINE,
                                          .loop_timeout = HAL_NO_TIME };
}

/* ---- preparations */

static void notify_prepared(struct hal_prepare_callback *self, enum hal_status status,
                            struct hal_prepared_model *prepared)
{
    struct client_prepare_wait *w = (struct client_prepare_wait *) self;

    pthread_mutex_lock(&w->lock);
    w->calls++;
    w->status = status;
    w->prepared = prepared;
    pthread_cond_signal(&w->called);
    pthread_mutex_unlock(&w->lock);
}

void client_prepare_wait_init(struct client_prepare_wait *w)
{
    *w = (struct client_prepare_wait){ .base = { notify_prepared } };
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->called, NULL);
}

bool client_prepare_await(struct client_prepare_wait *w, unsigned calls, double seconds)
{
    struct timespec until;
    int error = 0;

    clock_gettime(CLOCK_REALTIME, &until);
    double end = (double) until.tv_sec + (double) until.tv_nsec / 1e9 + seconds;
    until.tv_sec = (time_t) end;
    until.tv_nsec = (long) ((end - (double) until.tv_sec) * 1e9);
    pthread_mutex_lock(&w->lock);
    while (w->calls < calls && error != ETIMEDOUT)
        error = seconds > 0 ? pthread_cond_timedwait(&w->called, &w->lock, &until)
                            : pthread_cond_wait(&w->called, &w->lock);
    bool is_called = w->calls >= calls;
    pthread_mutex_unlock(&w->lock);
    return is_called;
}

/* ---- executions */

static void notify(struct hal_execution_callback *self, enum hal_status status, uint32_t n_shapes,
                   const struct hal_output_shape *shapes, struct hal_timing timing)
{
    struct client_wait *c = (struct client_wait *) self;

    pthread_mutex_lock(&c->lock);
    c->calls++;
    c->status = status;
    c->n_shapes = n_shapes;
    if (c->shapes && n_shapes && n_shapes <= c->capacity)
        memcpy(c->shapes, shapes, n_shapes * sizeof *shapes);
    c->timing = timing;
    pthread_cond_signal(&c->called);
    pthread_mutex_unlock(&c->lock);
}

void client_wait_init(struct client_wait *c)
{
    *c = (struct client_wait){ .base = { notify } };
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->called, NULL);
}

enum hal_status client_wait(struct client_wait *c)
{
    pthread_mutex_lock(&c->lock);
    while (!c->calls)
        pthread_cond_wait(&c->called, &c->lock);
    enum hal_status status = c->status;
    pthread_mutex_unlock(&c->lock);
    return status;
}
