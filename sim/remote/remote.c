/* Connection, channels and calls of the client of a service. */
#define _GNU_SOURCE
#include "sim/remote/remote.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "golden/base/logging.h"
#include "golden/base/text_escape.h"
#include "golden/base/trace.h"
#include "sim/base/peer_credentials.h"
#include "sim/hal/hal_convert.h"
#include "sim/remote/remote_internal.h"
#include "sim/wire/wire_methods.h"

#define LOG_TAG "Remote"

/* ---- failure of the connection */

/* Ends all waits for events and fences. */
static void end_waits(const struct remote *r)
{
    const uint64_t one = 1;

    if (r->events >= 0)
        shutdown(r->events, SHUT_RDWR);
    ssize_t n = write(r->stop, &one, sizeof(one));
    (void) n; /* fails only if the counter is full, that is, already readable */
}

void remote_disconnect(struct remote *r, const struct why *w)
{
    pthread_mutex_lock(&r->lock);
    if (!r->is_dead)
        r->why = *w;
    if (!r->is_dead && !r->is_closing)
        VLOG(DRIVER, "the connection to the service has failed: %s", w->text);
    r->is_dead = true;
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
    end_waits(r);
}

bool remote_is_dead(struct hal_driver *driver, struct why *ret_why)
{
    struct remote *r = (struct remote *) driver;

    pthread_mutex_lock(&r->lock);
    bool dead = r->is_dead;
    if (dead && ret_why)
        *ret_why = r->why;
    pthread_mutex_unlock(&r->lock);
    return dead;
}

/* ---- time-outs */

void remote_allow(struct hal_driver *driver, uint64_t ns)
{
    atomic_store(&((struct remote *) driver)->limit.allowance, ns);
}

void remote_await_callback(struct hal_driver *driver, struct reply_wait *ret_wait)
{
    reply_wait_begin(ret_wait, &((struct remote *) driver)->limit);
}

void remote_look_for_callback(struct hal_driver *driver, struct reply_wait *wait)
{
    struct why w;

    if (reply_wait_continue(wait, &w) < 0)
        remote_disconnect((struct remote *) driver, &w);
}

/* ---- threads that wait */

int remote_start_thread(struct remote *r, void *(*f)(void *argument), void *argument)
{
    pthread_t thread;

    pthread_mutex_lock(&r->lock);
    r->waiting++;
    pthread_mutex_unlock(&r->lock);
    if (pthread_create(&thread, NULL, f, argument) != 0) {
        remote_end_thread(r);
        return -1;
    }
    pthread_detach(thread);
    return 0;
}

void remote_end_thread(struct remote *r)
{
    pthread_mutex_lock(&r->lock);
    r->waiting--;
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
}

/* ---- channels and calls */

static void channel_free(struct remote_channel *c)
{
    if (c->staging.address)
        munmap(c->staging.address, c->staging.size);
    arena_free(c->arena);
    close(c->socket);
    free(c);
}

static struct remote_channel *channel_new(int socket, const struct reply_limit *limit,
                                          struct why *w)
{
    struct remote_channel *c = calloc(1, sizeof(*c));
    struct arena *a = arena_new(REMOTE_REPLY_MEMORY);

    if (!c || !a) {
        free(c);
        arena_free(a);
        close(socket);
        why_no_memory(w);
        return NULL;
    }
    *c = (struct remote_channel){ .socket = socket, .limit = limit, .arena = a };
    return c;
}

/* NULL: no channel is idle.  wait: wait for one while there are calls that will return one. */
static struct remote_channel *take_idle(struct remote *r, bool wait)
{
    pthread_mutex_lock(&r->lock);
    while (wait && !r->is_dead && !r->idle && r->busy)
        pthread_cond_wait(&r->changed, &r->lock);
    struct remote_channel *c = r->is_dead ? NULL : r->idle;
    if (c) {
        r->idle = c->next;
        r->busy++;
    }
    pthread_mutex_unlock(&r->lock);
    return c;
}

static void give_back(struct remote *r, struct remote_channel *c)
{
    pthread_mutex_lock(&r->lock);
    c->next = r->idle;
    r->idle = c;
    r->busy--;
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
}

/* A service that accepts no more sessions replies without reading the call, possibly later. */
enum { REJECTION_MS = 1000 };

static bool has_answer(const struct remote_channel *c)
{
    struct pollfd p = { .fd = c->socket, .events = POLLIN };
    int rc;

    do
        rc = poll(&p, 1, REJECTION_MS);
    while (rc < 0 && errno == EINTR);
    return rc == 1;
}

/* Results as those of wire_receive(). */
static int receive_reply(struct remote_channel *c, struct reply_wait *wait,
                         ProtobufCMessage **ret_message, struct wire_fds *ret_fds, struct why *w)
{
    int rc;

    wire_spin(c->socket, &c->spin);
    do
        rc = wire_receive(c->socket, &wire__reply__descriptor, c->arena, ret_message, ret_fds, w);
    while (rc < 0 && w->code == WHY_TIMEOUT && reply_wait_continue(wait, w) == 0);
    return rc;
}

/* Why a reply is none, or not to this call; -1. */
static int no_reply(const struct remote_channel *c, const Wire__Call *call, int rc, struct why *w)
{
    if (rc == 0)
        return reply_limit_ended(c->limit, w);
    if (w->code == WHY_MEMORY)
        w->code = WHY_SYSTEM; /* the reply is lost */
    return w->code == WHY_TIMEOUT
               ? -1
               : why_prefix(w, "the reply to %s", wire_method_name(call->method));
}

/* The service's last message, or one that replies to a call that was not executed; -1. */
static int not_answered(const Wire__Reply *reply, struct why *w)
{
    if (*reply->farewell)
        why_fail(w, WHY_SYSTEM, "the service has closed the connection: %s", reply->farewell);
    else
        why_fail(w, WHY_MEMORY, "the service lacks memory or descriptors for the call%s%s",
                 *reply->text ? ": " : "", reply->text);
    text_clean(w->text);
    return -1;
}

/* Sends a call and receives its reply.  WHY_MEMORY: the call was not executed, and the connection
 * is still usable.  Other codes, as for an invalid or lost reply: it is not. */
static int exchange(struct remote_channel *c, Wire__Call *call, const struct wire_fds *fds,
                    const Wire__Reply **ret_reply, struct wire_fds *ret_fds, struct why *w)
{
    struct reply_wait wait;
    ProtobufCMessage *m;

    TRACE_COMPUTED(LI, wire_method(call->method)->phase, wire_method_name(call->method));
    reply_wait_begin(&wait, c->limit);
    call->processor = spin_processor();
    if (wire_send(c->socket, &call->base, fds, w) < 0 && (w->code == WHY_MEMORY || !has_answer(c)))
        return -1;
    int rc = receive_reply(c, &wait, &m, ret_fds, w);
    if (rc <= 0)
        return no_reply(c, call, rc, w);
    const Wire__Reply *reply = (const Wire__Reply *) m;
    c->spin.other = reply->processor;
    if (!reply->unheard && !*reply->farewell) {
        *ret_reply = reply;
        return 0;
    }
    wire_close_fds(ret_fds);
    return not_answered(reply, w);
}

int remote_exchange(struct remote_channel *c, Wire__Call *call, const struct wire_fds *fds,
                    struct why *w)
{
    const Wire__Reply *reply = NULL;
    struct wire_fds none;

    TRY(exchange(c, call, fds, &reply, &none, w));
    wire_close_fds(&none);
    return reply->status == HAL_NONE ? 0
                                     : why_fail(w, WHY_MEMORY, "the service has no memory left");
}

int remote_call_first(struct remote *r, Wire__Call *call, const Wire__Reply **ret_reply,
                      struct why *w)
{
    struct wire_fds none;

    TRY(exchange(r->first, call, NULL, ret_reply, &none, w));
    wire_close_fds(&none);
    return 0;
}

static void set_timeouts(int socket, const struct reply_limit *l)
{
    const uint64_t look = reply_limit_look_ns(l);

    wire_set_timeouts(socket, look == UINT64_MAX ? 0 : (double) look * 1e-9, l->timeout.seconds);
}

/* Opens a further connection: sends one end of a pair of sockets with the call. */
static int open_pair(struct remote *r, Wire__Method method, int *ret_socket, struct why *w)
{
    Wire__Call call = WIRE__CALL__INIT;
    struct wire_fds fds = { 0 }, none;
    const Wire__Reply *reply = NULL;
    int pair[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        return why_fail(w, WHY_MEMORY, "cannot create sockets: %s", strerror(errno));
    set_timeouts(pair[0], &r->limit);
    call.method = method;
    call.fd = wire_put_fd(&fds, pair[1]);
    int rc = exchange(r->first, &call, &fds, &reply, &none, w);
    close(pair[1]);
    if (rc == 0 && reply->status != HAL_NONE)
        rc = why_fail(w, WHY_MEMORY, "the service accepts no more connections");
    if (rc < 0)
        close(pair[0]);
    else
        *ret_socket = pair[0];
    arena_rewind(r->first->arena, (struct arena_mark){ 0 });
    return rc;
}

static struct remote_channel *channel_open(struct remote *r, struct why *w)
{
    int fd = -1, rc;

    pthread_mutex_lock(&r->asking);
    rc = remote_is_dead(&r->base, w) ? -1 : open_pair(r, WIRE__METHOD__OPEN_CHANNEL, &fd, w);
    pthread_mutex_unlock(&r->asking);
    struct remote_channel *c = rc == 0 ? channel_new(fd, &r->limit, w) : NULL;
    if (!c && w->code != WHY_MEMORY)
        remote_disconnect(r, w);
    pthread_mutex_lock(&r->lock);
    r->busy += c != NULL;
    pthread_mutex_unlock(&r->lock);
    return c;
}

/* An idle or new channel; if the service allows no more, waits for one. */
static struct remote_channel *channel_take(struct remote *r, struct why *w)
{
    struct remote_channel *c = take_idle(r, false);

    if (!c)
        c = channel_open(r, w);
    return c ? c : take_idle(r, true);
}

int remote_begin(struct remote *r, Wire__Method method, enum hal_version version,
                 struct remote_call *ret_call)
{
    struct remote_call *q = ret_call;

    failure_text_clear();
    *q = (struct remote_call){ .r = r, .call = WIRE__CALL__INIT };
    q->call.method = method;
    q->call.version = (int32_t) version;
    q->c = channel_take(r, &q->why);
    if (!q->c)
        return -1;
    q->a = q->c->arena;
    return 0;
}

/* The version of a call; the driver's for methods without a version. */
static enum hal_version version_of(const struct remote_call *q)
{
    return q->call.version ? (enum hal_version) q->call.version : q->r->base.hal_version;
}

enum hal_status remote_reject(const char *reason)
{
    failure_text_set("%s", reason);
    return HAL_INVALID_ARGUMENT;
}

enum hal_status remote_failure(const struct remote_call *q)
{
    failure_text_set("%s", q->why.text);
    if (remote_is_dead(&q->r->base, NULL))
        return HAL_DEVICE_UNAVAILABLE;
    if (q->why.code == WHY_MEMORY)
        return hal_status_exhausted(version_of(q));
    if (q->why.code == WHY_UNSUPPORTED) /* valid, but too many descriptors for one message */
        return hal_status_at(HAL_RESOURCE_EXHAUSTED_PERSISTENT, version_of(q));
    return hal_status_from_why(&q->why, version_of(q));
}

enum hal_status remote_run(struct remote_call *q)
{
    if (exchange(q->c, &q->call, &q->fds, &q->reply, &q->reply_fds, &q->why) == 0) {
        enum hal_status status = (enum hal_status) q->reply->status;
        if (*q->reply->breach)
            remote_record_violation(q->r, "%s", q->reply->breach);
        failure_text_set("%s", q->reply->text);
        VLOG(DRIVER, "%s of HAL %s: %s", wire_method_name(q->call.method),
             hal_version_name((enum hal_version) q->call.version), hal_status_name(status));
        return status;
    }
    VLOG(DRIVER, "%s: %s", wire_method_name(q->call.method), q->why.text);
    if (q->why.code != WHY_MEMORY)
        remote_disconnect(q->r, &q->why);
    return remote_failure(q);
}

bool remote_launch_failed(struct remote_call *q, enum hal_status *status)
{
    if (q->reply && !remote_is_dead(&q->r->base, NULL))
        return false;
    if (q->call.callback && !remote_remove_callback(q->r, q->call.callback)) {
        *status = q->reply ? *status : HAL_NONE;
        return false;
    }
    *status = *status == HAL_NONE ? HAL_DEVICE_UNAVAILABLE : *status;
    return true;
}

void remote_end(struct remote_call *q)
{
    wire_close_fds(&q->reply_fds);
    arena_rewind(q->c->arena, (struct arena_mark){ 0 });
    give_back(q->r, q->c);
}

void remote_release(struct remote *r, uint64_t handle)
{
    struct remote_call q;

    if (remote_begin(r, WIRE__METHOD__RELEASE, 0, &q) < 0)
        return;
    q.call.object = handle;
    remote_run(&q);
    remote_end(&q);
}

/* ---- contract violations of the driver that no result shows */

void remote_record_violation(struct remote *r, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    pthread_mutex_lock(&r->lock);
    if (!r->breach[0])
        vsnprintf(r->breach, sizeof(r->breach), fmt, ap);
    pthread_mutex_unlock(&r->lock);
    va_end(ap);
}

bool remote_take_violation(struct hal_driver *driver, char *ret_text, size_t size)
{
    struct remote *r = (struct remote *) driver;
    struct pollfd p = { .fd = r->events, .events = POLLIN };
    enum { TURNS = 100, TURN_US = 1000 };

    /* Gives the event thread time to read what the service has already sent. */
    for (int i = 0; i < TURNS && poll(&p, 1, 0) == 1 && !(p.revents & ~POLLIN); i++)
        usleep(TURN_US);
    pthread_mutex_lock(&r->lock);
    bool any = r->breach[0];
    if (any)
        snprintf(ret_text, size, "%s", r->breach);
    r->breach[0] = 0;
    pthread_mutex_unlock(&r->lock);
    return any;
}

/* ---- opening and closing */

static void free_connection(struct remote *r)
{
    struct remote_channel *c;

    while ((c = r->idle)) {
        r->idle = c->next;
        channel_free(c);
    }
    if (r->first)
        channel_free(r->first);
    if (r->events >= 0)
        close(r->events);
    if (r->stop >= 0)
        close(r->stop);
    pthread_cond_destroy(&r->changed);
    pthread_mutex_destroy(&r->asking);
    pthread_mutex_destroy(&r->lock);
    arena_free(r->arena);
    free(r);
}

void remote_close(struct hal_driver *self)
{
    struct remote *r = (struct remote *) self;

    pthread_mutex_lock(&r->lock);
    r->is_closing = true;
    pthread_mutex_unlock(&r->lock);
    end_waits(r);
    pthread_join(r->thread, NULL);
    pthread_mutex_lock(&r->lock);
    while (r->waiting)
        pthread_cond_wait(&r->changed, &r->lock);
    pthread_mutex_unlock(&r->lock);
    free_connection(r);
}

static int connect_to(struct remote *r, int socket, struct why *w)
{
    const double seconds = r->limit.timeout.seconds;
    const pid_t process = r->limit.timeout.process;

    r->limit.process = process ? process : (pid_t) peer_credentials_of(socket).process;
    set_timeouts(socket, &r->limit);
    r->first = channel_new(socket, &r->limit, w);
    if (!r->first || !r->arena || r->stop < 0)
        return why_no_memory(w);
    if (open_pair(r, WIRE__METHOD__OPEN_EVENTS, &r->events, w) < 0 || remote_query_info(r, w) < 0)
        return w->code == WHY_INVALID ? why_prefix(w, "not a service of this version of Halcyon")
                                      : -1;
    wire_set_timeouts(r->events, seconds, seconds);
    int error = pthread_create(&r->thread, NULL, remote_run_events, r);
    return error ? why_fail(w, WHY_SYSTEM, "cannot create a thread for events: %s", strerror(error))
                 : 0;
}

int remote_open_socket(int socket, const struct reply_timeout *timeout,
                       struct hal_driver **ret_driver, struct why *w)
{
    struct remote *r = calloc(1, sizeof(*r));

    if (!r) {
        close(socket);
        return why_no_memory(w);
    }
    *r = (struct remote){ .arena = arena_new(REMOTE_REPLY_MEMORY),
                          .events = -1,
                          .stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) };
    if (timeout)
        r->limit.timeout = *timeout;
    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->changed, NULL);
    pthread_mutex_init(&r->asking, NULL);
    if (connect_to(r, socket, w) < 0) {
        free_connection(r);
        return -1;
    }
    *ret_driver = &r->base;
    return 0;
}

/* The reason for a failed connect(), by its errno. */
static int connect_error(const char *path, int error, struct why *w)
{
    struct stat st;

    REQUIRE(w, stat(path, &st) < 0 || S_ISSOCK(st.st_mode), "cannot connect: not a socket");
    if (error == EPROTOTYPE)
        return why_fail(w, WHY_INVALID, "cannot connect: not a SOCK_SEQPACKET socket");
    return why_fail(w, error == EAGAIN ? WHY_TIMEOUT : WHY_INVALID, "cannot connect: %s%s",
                    strerror(error),
                    error == ENOENT || error == ECONNREFUSED ? " (no service listens there)" : "");
}

int remote_open(const char *path, const struct reply_timeout *timeout,
                struct hal_driver **ret_driver, struct why *w)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int fd;

    REQUIRE(w, *path && strlen(path) < sizeof(address.sun_path),
            "the path of a socket has %zu bytes, expected 1 to %zu", strlen(path),
            sizeof(address.sun_path) - 1);
    strcpy(address.sun_path, path);
    fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd >= 0 && timeout)
        wire_set_timeouts(fd, timeout->seconds, timeout->seconds); /* of connect() */
    if (fd < 0 || connect(fd, (struct sockaddr *) &address, sizeof(address)) < 0) {
        connect_error(path, errno, w);
        if (fd >= 0)
            close(fd);
        return -1;
    }
    return remote_open_socket(fd, timeout, ret_driver, w);
}
