/* The objects that the driver has created for a session's client, under handles. */
#include <stdlib.h>

#include "sim/base/process_quota.h"
#include "sim/service/burst_server.h"
#include "sim/service/session.h"

unsigned object_count(struct session *s, enum object_kind kind)
{
    unsigned n = 0;

    pthread_mutex_lock(&s->lock);
    for (const struct object *o = s->objects; o; o = o->next)
        n += o->kind == kind;
    pthread_mutex_unlock(&s->lock);
    return n;
}

uint64_t object_add(struct session *s, const struct object *what)
{
    struct object *o = malloc(sizeof(*o));

    if (!o || !process_quota_charge(QUOTA_OBJECTS, s->caller->client, 1)) {
        free(o);
        return 0;
    }
    pthread_mutex_lock(&s->lock);
    *o = *what;
    o->next = s->objects;
    o->handle = ++s->last_handle;
    o->pins = 1;
    if (o->parent)
        o->parent->pins++;
    s->objects = o;
    uint64_t handle = o->handle;
    pthread_mutex_unlock(&s->lock);
    return handle;
}

struct object *object_pin(struct session *s, uint64_t handle, enum object_kind kind)
{
    struct object *o;

    pthread_mutex_lock(&s->lock);
    for (o = s->objects; o && o->handle != handle;)
        o = o->next;
    if (o && o->kind != kind)
        o = NULL;
    if (o)
        o->pins++;
    pthread_mutex_unlock(&s->lock);
    return o;
}

void object_release_driver_object(enum object_kind kind, void *driver_object)
{
    switch (kind) {
    case OBJECT_NONE: return;
    case OBJECT_PREPARED: {
        struct hal_prepared_model *m = driver_object;
        m->methods->release(m);
        return;
    }
    case OBJECT_BUFFER: {
        struct hal_buffer *b = driver_object;
        b->methods->release(b);
        return;
    }
    case OBJECT_BURST: burst_server_free(driver_object); return;
    case OBJECT_EXECUTION: {
        struct hal_execution *x = driver_object;
        x->methods->release(x);
        return;
    }
    case OBJECT_INFO: {
        struct hal_fenced_info *i = driver_object;
        i->methods->release(i);
        return;
    }
    }
}

void object_unpin(struct session *s, struct object *o)
{
    while (o) {
        pthread_mutex_lock(&s->lock);
        bool last = --o->pins == 0;
        pthread_mutex_unlock(&s->lock);
        if (!last)
            return;
        struct object *parent = o->parent;
        object_release_driver_object(o->kind, o->driver_object);
        process_quota_release(QUOTA_OBJECTS, s->caller->client, 1);
        free(o);
        o = parent;
    }
}

bool object_release(struct session *s, uint64_t handle)
{
    struct object **at, *o;

    pthread_mutex_lock(&s->lock);
    for (at = &s->objects; *at && (*at)->handle != handle;)
        at = &(*at)->next;
    o = *at;
    if (o)
        *at = o->next;
    pthread_mutex_unlock(&s->lock);
    object_unpin(s, o);
    return o;
}

void object_release_all(struct session *s)
{
    while (s->objects)
        object_release(s, s->objects->handle);
}
