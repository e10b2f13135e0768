#define _GNU_SOURCE
#include "sim/service/session.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "golden/base/logging.h"
#include "sim/base/failure_text.h"
#include "sim/base/process_quota.h"
#include "sim/hal/hal_convert.h"
#include "sim/wire/wire.h"

#define LOG_TAG "Session"

/* ---- callbacks */

static void begin_callback(struct session *s)
{
    pthread_mutex_lock(&s->lock);
    s->pending++;
    pthread_mutex_unlock(&s->lock);
}

static void end_callback(struct session *s)
{
    pthread_mutex_lock(&s->lock);
    s->pending--;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

/* A client that does not read its events is disconnected: it must not block the driver. */
static void send_event(struct session *s, const Wire__Event *e)
{
    struct why w;
    int rc;

    pthread_mutex_lock(&s->lock);
    rc = s->events >= 0 ? wire_send_nonblocking(s->events, &e->base, &w)
                        : why_fail(&w, WHY_INVALID, "there is no channel for it");
    pthread_mutex_unlock(&s->lock);
    if (rc == 0)
        return;
    why_prefix(&w, "an event");
    VLOG(DRIVER, "client %u is disconnected: %s", s->caller->client, w.text);
    session_end(s, w.text);
}

/* A callback passed to the driver, to be called once.  A faulty driver may call it again later:
 * therefore the last CALLED_KEPT callbacks that were called are not freed. */
enum { CALLED_KEPT = 16 };
struct callback {
    struct hal_prepare_callback prepare;
    struct hal_execution_callback execution;
    Wire__Method method;
    struct session *session;
    uint64_t id;
    bool is_called;
    struct callback *next; /* the one called before it */
};

static void drop_old_callbacks(struct callback *c)
{
    for (int i = 1; c && i < CALLED_KEPT; i++)
        c = c->next;
    if (!c)
        return;
    free(c->next);
    c->next = NULL;
}

static void send_violation(struct session *s, uint64_t id, const char *breach)
{
    Wire__Event e = WIRE__EVENT__INIT;

    e.callback = id;
    e.breach = (char *) (uintptr_t) breach;
    send_event(s, &e);
}

/* Marks a callback as called, after which others that are called may free it.  False: it has been
 * called before, which is reported to the client. */
static bool mark_called(struct callback *c)
{
    struct session *s = c->session;
    Wire__Method method = c->method;
    uint64_t id = c->id;

    pthread_mutex_lock(&s->lock);
    bool first = !c->is_called;
    if (first) {
        c->is_called = true;
        c->next = s->called;
        s->called = c;
        drop_old_callbacks(c);
    }
    pthread_mutex_unlock(&s->lock);
    if (!first) {
        char text[64];
        snprintf(text, sizeof(text), "%s called back more than once", wire_method(method)->name);
        send_violation(s, id, text);
    }
    return first;
}

/* reason: memory for the text. */
static void put_reason(const struct session *s, Wire__Event *e, char reason[HAL_TEXT_BYTES])
{
    if (e->status == HAL_NONE)
        return;
    failure_text_of(s->driver, reason);
    e->text = reason;
}

static void notify_prepared(struct hal_prepare_callback *self, enum hal_status status,
                            struct hal_prepared_model *prepared)
{
    struct callback *c = (struct callback *) self;
    struct session *s = c->session;
    Wire__Event e = WIRE__EVENT__INIT;
    char reason[HAL_TEXT_BYTES];

    e.callback = c->id;
    if (!mark_called(c))
        return;
    e.status = (int32_t) status;
    put_reason(s, &e, reason);
    if (prepared && (!prepared->methods || !prepared->methods->release)) {
        send_violation(s, e.callback, "a prepared model without methods, or without release");
        e.status = HAL_GENERAL_FAILURE;
    } else if (prepared) {
        e.n_inputs = prepared->n_inputs;
        e.n_outputs = prepared->n_outputs;
        e.object =
            object_add(s, &(struct object){ .kind = OBJECT_PREPARED, .driver_object = prepared });
        if (!e.object) {
            prepared->methods->release(prepared);
            e.status = (int32_t) hal_status_exhausted(s->driver->hal_version);
        }
    }
    send_event(s, &e);
    end_callback(s);
}

static void notify_executed(struct hal_execution_callback *self, enum hal_status status,
                            uint32_t n_shapes, const struct hal_output_shape *shapes,
                            struct hal_timing timing)
{
    struct callback *c =
        (struct callback *) (void *) ((char *) self - offsetof(struct callback, execution));
    struct session *s = c->session;
    Wire__Event e = WIRE__EVENT__INIT;
    char reason[HAL_TEXT_BYTES];
    struct why why;

    e.callback = c->id;
    if (!mark_called(c))
        return;
    struct arena *a = arena_new(0);
    e.status = (int32_t) status;
    put_reason(s, &e, reason);
    if (!a || wire_encode_result(n_shapes, shapes, &timing, a, &e.n_shapes, &e.shapes, &e.timing,
                                 &why) < 0)
        e.status = HAL_GENERAL_FAILURE;
    send_event(s, &e);
    end_callback(s);
    arena_free(a);
}

static struct callback *callback_new(struct session *s, Wire__Method method, uint64_t id)
{
    struct callback *c = malloc(sizeof(*c));

    if (!c)
        return NULL;
    *c = (struct callback){ .prepare = { notify_prepared },
                            .execution = { notify_executed },
                            .method = method,
                            .session = s,
                            .id = id };
    begin_callback(s);
    return c;
}

struct hal_prepare_callback *session_prepare_callback(struct session *s, uint64_t id)
{
    struct callback *c = callback_new(s, WIRE__METHOD__PREPARE_MODEL, id);

    return c ? &c->prepare : NULL;
}

struct hal_execution_callback *session_execution_callback(struct session *s, uint64_t id)
{
    struct callback *c = callback_new(s, WIRE__METHOD__EXECUTE, id);

    return c ? &c->execution : NULL;
}

void session_send_failure(struct session *s, uint64_t id, enum hal_status status)
{
    Wire__Event e = WIRE__EVENT__INIT;

    e.callback = id;
    e.status = (int32_t) status;
    send_event(s, &e);
}

/* ---- channels */

enum { KEPT_MEMORY = 1 << 20 }; /* for the messages of the next call */

/* Replies to a call that could not be received for lack of memory or descriptors. */
static int reply_not_executed(struct channel *c, struct why *w)
{
    const struct why lacks = *w;
    Wire__Reply reply = WIRE__REPLY__INIT;

    VLOG(DRIVER, "a call of client %u is not executed: %s", c->session->caller->client, w->text);
    reply.status = HAL_RESOURCE_EXHAUSTED_TRANSIENT;
    reply.unheard = true;
    reply.text = (char *) (uintptr_t) lacks.text;
    return wire_send(c->socket, &reply.base, NULL, w) < 0 ? -1 : 1;
}

/* Sends a reply, or, where memory or descriptors are lacking for it, one without anything: the
 * driver's objects that the client then does not get are released. */
static int send_reply(struct channel *c, const Wire__Call *call, Wire__Reply *reply,
                      const struct wire_fds *fds, struct why *w)
{
    Wire__Reply lesser = WIRE__REPLY__INIT;
    struct session *s = c->session;
    int rc;

    reply->processor = lesser.processor = spin_processor();
    rc = wire_send(c->socket, &reply->base, fds, w);
    if (rc == 0 || w->code != WHY_MEMORY)
        return rc;
    const struct why lacks = *w;
    VLOG(DRIVER, "a reply to client %u is not sent: %s", s->caller->client, lacks.text);
    if (reply->object)
        object_release(s, reply->object);
    if (reply->info_object)
        object_release(s, reply->info_object);
    lesser.status = (int32_t) hal_status_exhausted(call->version ? (enum hal_version) call->version
                                                                 : s->driver->hal_version);
    lesser.text = (char *) (uintptr_t) lacks.text;
    return wire_send(c->socket, &lesser.base, NULL, w);
}

/* The last message of a channel.  Not sent if that would have to wait. */
static void send_farewell(int socket, const char *why)
{
    Wire__Reply reply = WIRE__REPLY__INIT;
    struct why unsent;

    reply.farewell = (char *) (uintptr_t) why;
    (void) wire_send_nonblocking(socket, &reply.base, &unsent);
}

/* Receives the next call, executes it and sends the reply.  0: end of the connection. */
static int answer_next(struct channel *c, struct why *w)
{
    ProtobufCMessage *message;
    struct counted_fds in;
    struct wire_fds out = { 0 };
    Wire__Reply reply = WIRE__REPLY__INIT;
    int rc;

    wire_spin(c->socket, &c->spin);
    rc = wire_receive_counted(c->session->caller->client, c->socket, &wire__call__descriptor,
                              c->arena, &message, &in, w);
    if (rc < 0 && w->code == WHY_MEMORY)
        return reply_not_executed(c, w);
    if (rc <= 0)
        return rc;
    const Wire__Call *call = (const Wire__Call *) message;
    rc = session_execute_call(c, call, &in.fds, &reply, &out, w);
    /* Before the reply, so that the client's next call does not find its quota used up. */
    wire_close_counted_fds(&in);
    c->spin.other = call->processor;
    if (rc == 0)
        rc = send_reply(c, call, &reply, &out, w);
    wire_close_fds(&out);
    return rc < 0 ? -1 : 1;
}

/* Also closes its socket, unless that is -1. */
static void channel_free(struct channel *c)
{
    const uint32_t client = c->session->caller->client;

    if (c->staging.address)
        munmap(c->staging.address, c->staging.size);
    arena_free(c->arena);
    if (c->socket >= 0)
        close(c->socket);
    process_quota_release(QUOTA_FILES, client, 1);
    process_quota_release(QUOTA_THREADS, client, 1);
    free(c);
}

static struct channel *channel_new(struct session *s, int socket)
{
    const uint32_t client = s->caller->client;
    struct channel *c = calloc(1, sizeof(*c));
    bool file = process_quota_charge(QUOTA_FILES, client, 1);
    bool thread = process_quota_charge(QUOTA_THREADS, client, 1);

    if (c && file && thread && (c->arena = arena_new_within(&s->caller->messages))) {
        c->session = s;
        c->socket = socket;
        return c;
    }
    process_quota_release(QUOTA_FILES, client, file);
    process_quota_release(QUOTA_THREADS, client, thread);
    free(c);
    return NULL;
}

/* Removes it from the session's list, where it need not be the first. */
static void channel_detach(struct session *s, const struct channel *c)
{
    struct channel **at;

    pthread_mutex_lock(&s->lock);
    for (at = &s->channels; *at != c;)
        at = &(*at)->next;
    *at = c->next;
    pthread_mutex_unlock(&s->lock);
}

static void end_thread(struct session *s)
{
    pthread_mutex_lock(&s->lock);
    s->threads--;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

/* When the first channel ends, which is the client's connection, the session ends. */
static void *run_channel(void *argument)
{
    struct channel *c = argument;
    struct session *s = c->session;
    char name[16];
    struct why w;

    snprintf(name, sizeof(name), "client %u", s->caller->client);
    pthread_setname_np(pthread_self(), name);
    caller_set(s->caller);
    int rc;
    while ((rc = answer_next(c, &w)) > 0)
        arena_empty(c->arena, KEPT_MEMORY);
    if (rc < 0) {
        VLOG(DRIVER, "client %u is disconnected: %s", s->caller->client, w.text);
        send_farewell(c->socket, w.text);
    }
    channel_detach(s, c);
    bool first = c->is_first;
    channel_free(c);
    if (first)
        session_end(s, rc < 0 ? w.text : NULL);
    end_thread(s);
    return NULL;
}

enum { MAX_CHANNELS = 64 };

static int channel_attach(struct session *s, struct channel *c, struct why *w)
{
    pthread_mutex_lock(&s->lock);
    bool ok = !s->is_ending && s->threads < MAX_CHANNELS;
    if (ok) {
        c->is_first = s->channels_begun++ == 0;
        c->next = s->channels;
        s->channels = c;
        s->threads++;
    }
    pthread_mutex_unlock(&s->lock);
    return ok ? 0 : why_fail(w, WHY_MEMORY, "more than %d channels", MAX_CHANNELS);
}

int channel_start(struct session *s, int socket, struct why *w)
{
    struct channel *c = channel_new(s, socket);
    pthread_t thread;

    if (!c)
        return why_no_memory_for(w, "a channel");
    int rc = channel_attach(s, c, w);
    if (rc < 0) {
        c->socket = -1;
        channel_free(c);
        return -1;
    }
    if (pthread_create(&thread, NULL, run_channel, c) != 0) {
        channel_detach(s, c);
        c->socket = -1;
        channel_free(c);
        end_thread(s);
        return why_fail(w, WHY_MEMORY, "cannot create a thread for a channel");
    }
    pthread_detach(thread);
    return 0;
}

/* ---- start and end of a session */

void session_reject(int socket)
{
    Wire__Reply reply = WIRE__REPLY__INIT;
    struct why w;
    char byte;

    reply.status = HAL_RESOURCE_EXHAUSTED_TRANSIENT;
    shutdown(socket, SHUT_RD);
    while (recv(socket, &byte, 1, MSG_DONTWAIT) > 0) /* closing with unread data drops the reply */
        ;
    (void) wire_send_nonblocking(socket, &reply.base, &w);
    close(socket);
}

void session_end(struct session *s, const char *why)
{
    caller_disconnect(s->caller);
    pthread_mutex_lock(&s->lock);
    for (struct channel *c = s->channels; c; c = c->next) {
        if (why && !s->is_ending)
            send_farewell(c->socket, why);
        shutdown(c->socket, SHUT_RDWR);
    }
    s->is_ending = true;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

static void session_free(struct session *s)
{
    const uint32_t client = s->caller->client;

    for (struct callback *c = s->called, *next; c; c = next) {
        next = c->next;
        free(c);
    }
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
    caller_unref(s->caller);
    process_quota_release(QUOTA_THREADS, client, 1);
    free(s);
}

/* Waits for the session to end.  The driver's objects are released only when all of its calls have
 * returned and all of its callbacks have been called. */
static void *run_session(void *argument)
{
    struct session *s = argument;

    pthread_mutex_lock(&s->lock);
    while (s->threads || s->pending)
        pthread_cond_wait(&s->changed, &s->lock);
    pthread_mutex_unlock(&s->lock);
    VLOG(DRIVER, "session of client %u ends", s->caller->client);
    object_release_all(s);
    if (s->events >= 0) {
        close(s->events);
        process_quota_release(QUOTA_FILES, s->caller->client, 1);
    }
    s->owner->ended(s, s->user);
    session_free(s);
    return NULL;
}

static struct session *session_new(struct hal_driver *driver, uint32_t client,
                                   const struct session_owner *owner, void *user)
{
    struct session *s = calloc(1, sizeof(*s));
    struct caller *caller = caller_new(client);

    if (!s || !caller || !process_quota_charge(QUOTA_THREADS, client, 1)) {
        caller_unref(caller);
        free(s);
        return NULL;
    }
    *s = (struct session){ .driver = driver,
                           .caller = caller,
                           .events = -1,
                           .pending = 1, /* for session_start(), until the session has begun */
                           .owner = owner,
                           .user = user };
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changed, NULL);
    return s;
}

int session_start(struct hal_driver *driver, int socket, uint32_t client,
                  const struct session_owner *owner, void *user, struct why *w)
{
    struct session *s = session_new(driver, client, owner, user);
    pthread_t thread;

    if (!s) {
        session_reject(socket);
        return why_no_memory_for(w, "a session");
    }
    if (pthread_create(&thread, NULL, run_session, s) != 0) {
        session_reject(socket);
        session_free(s);
        return why_fail(w, WHY_SYSTEM, "cannot create a thread for a session");
    }
    pthread_detach(thread);
    VLOG(DRIVER, "session of client %u begins", client);
    owner->begun(s, user);
    if (channel_start(s, socket, w) < 0) {
        session_reject(socket);
        session_end(s, NULL);
    }
    end_callback(s);
    return 0;
}
