/* Callbacks from the service: the list of pending ones, and the thread that reads the events. */
#define _GNU_SOURCE
#include <stdlib.h>

#include "sim/hal/hal_convert.h"
#include "sim/remote/remote_internal.h"

/* ---- pending callbacks */

int remote_add_callback(struct remote_call *q, const struct remote_callback *callback)
{
    struct remote_callback *c = malloc(sizeof(*c));
    struct remote *r = q->r;

    if (!c)
        return why_no_memory(&q->why);
    pthread_mutex_lock(&r->lock);
    *c = *callback;
    c->id = q->call.callback = ++r->last_id;
    c->next = r->callbacks;
    r->callbacks = c;
    pthread_mutex_unlock(&r->lock);
    return 0;
}

/* Removes a callback from the list (id 0: any); NULL: it has been called already. */
static struct remote_callback *take_callback(struct remote *r, uint64_t id)
{
    struct remote_callback **at, *c;

    pthread_mutex_lock(&r->lock);
    for (at = &r->callbacks; *at && id && (*at)->id != id;)
        at = &(*at)->next;
    c = *at;
    if (c)
        *at = c->next;
    pthread_mutex_unlock(&r->lock);
    return c;
}

bool remote_remove_callback(struct remote *r, uint64_t id)
{
    struct remote_callback *c = take_callback(r, id);

    if (c)
        shared_pools_unref(c->shared);
    free(c);
    return c;
}

/* ---- events */

/* e NULL: there is no event, for this reason. */
static void call_back(struct remote *r, struct remote_callback *c, enum hal_status status,
                      const Wire__Event *e, const char *reason)
{
    struct hal_output_shape *shapes = e ? calloc(e->n_shapes + 1, sizeof(*shapes)) : NULL;
    struct hal_result result = { .shapes = shapes,
                                 .capacity = shapes ? (uint32_t) e->n_shapes : 0,
                                 .timing = hal_unknown_timing };
    struct why w;

    failure_text_set("%s", e ? e->text : reason);
    if (c->prepare) {
        struct hal_prepared_model *m = e && e->object ? remote_prepared_new(r, e) : NULL;
        if (e && e->object && !m)
            status = hal_status_exhausted(r->base.hal_version);
        c->prepare->notify(c->prepare, status, m);
    } else {
        if (e && wire_decode_result(e->n_shapes, e->shapes, e->timing, &result, &w) < 0)
            status = HAL_GENERAL_FAILURE;
        if (e && !shared_pools_are_intact(c->shared))
            remote_record_violation(r, "a read-only pool of a request was written to");
        shared_pools_copy_out(c->shared);
        c->execution->notify(c->execution, status, result.n_shapes, shapes, result.timing);
    }
    shared_pools_unref(c->shared);
    free(shapes);
    free(c);
}

/* The end of the channel of events, which this side ends, too.  The service gives its reason on the
 * channels for calls, where the next call finds it. */
static int no_more_events(struct remote *r, struct why *w)
{
    pthread_mutex_lock(&r->lock);
    bool by_us = r->is_closing || r->is_dead;
    pthread_mutex_unlock(&r->lock);
    if (by_us)
        return why_fail(w, WHY_SYSTEM, "the connection is closed");
    r->base.get_status(&r->base);
    return remote_is_dead(&r->base, w) ? -1 : reply_limit_ended(&r->limit, w);
}

static int read_event(struct remote *r, struct arena *a, struct why *w)
{
    struct remote_callback *c;
    struct wire_fds fds;
    ProtobufCMessage *m;
    int rc = wire_receive(r->events, &wire__event__descriptor, a, &m, &fds, w);

    if (rc == 0)
        return no_more_events(r, w);
    if (rc < 0)
        return w->code == WHY_TIMEOUT ? -1 : why_prefix(w, "an event of the service");
    wire_close_fds(&fds);
    const Wire__Event *e = (const Wire__Event *) m;
    REQUIRE(w, e->callback, "an event of the service names no callback");
    if (*e->breach)
        remote_record_violation(r, "%s", e->breach);
    c = *e->breach ? NULL : take_callback(r, e->callback);
    if (c)
        call_back(r, c, (enum hal_status) e->status, e, NULL);
    return 0;
}

/* After a timeout without events.  If a callback or fence is pending, queries the service's status,
 * which fails if the service has hung. */
static bool has_hung(struct remote *r)
{
    pthread_mutex_lock(&r->lock);
    bool due = r->callbacks || r->waiting;
    pthread_mutex_unlock(&r->lock);
    if (due)
        r->base.get_status(&r->base);
    return remote_is_dead(&r->base, NULL);
}

void *remote_run_events(void *argument)
{
    struct remote *r = argument;
    struct arena *a = arena_new(REMOTE_REPLY_MEMORY);
    struct remote_callback *c;
    struct why w;

    pthread_setname_np(pthread_self(), "events");
    if (!a)
        why_no_memory(&w);
    while (a && (read_event(r, a, &w) == 0 || (w.code == WHY_TIMEOUT && !has_hung(r))))
        arena_rewind(a, (struct arena_mark){ 0 });
    remote_disconnect(r, &w);
    remote_is_dead(&r->base, &w); /* for the reason of the thread that noticed it first */
    while ((c = take_callback(r, 0)))
        call_back(r, c, HAL_DEVICE_UNAVAILABLE, NULL, w.text);
    arena_free(a);
    return NULL;
}
