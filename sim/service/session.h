/* Internals of the service.  A session is one client's connection: its channels, the objects that
 * the driver created for it, and its pending callbacks. */
#ifndef SIM_SESSION_H
#define SIM_SESSION_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "sim/base/caller.h"
#include "sim/wire/wire.h"
#include "sim/wire/wire_methods.h"

/* An object of the driver under a handle.  The handle counts as a pin, and calls that use the
 * object pin it too.  Without pins the driver's object is released and the parent unpinned. */
struct object {
    struct object *next;
    uint64_t handle;
    enum object_kind kind;
    void *driver_object;   /* the driver's object; for a burst, the struct burst_server */
    struct object *parent; /* pinned, as it must outlive this one; NULL: none */
    unsigned pins;         /* including that of the handle */
};

struct session;
struct callback;

/* Callbacks to the owner of sessions: begun() before the session does anything; ended() when
 * everything of it is over, on the session's own thread. */
struct session_owner {
    void (*begun)(struct session *s, void *user);
    void (*ended)(struct session *s, void *user);
};

struct session {
    struct hal_driver *driver;
    struct caller *caller;
    int events; /* socket for events; -1: not open yet */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t last_handle;
    struct object *objects;
    unsigned pending;        /* callbacks that the driver has not called yet */
    struct callback *called; /* recently called ones, newest first */
    unsigned threads;        /* of channels */
    atomic_uint kept;        /* memories that its bursts cache */
    bool is_ending;
    uint64_t channels_begun; /* number of channels started so far */
    struct channel *channels;
    const struct session_owner *owner;
    void *user;
};

/* A socket with its own thread, which carries one call at a time. */
struct channel {
    struct channel *next;
    struct session *session;
    bool is_first; /* the client's connection itself; the session ends when it is closed */
    int socket;
    struct spin spin; /* state of spinning waits for a call */
    struct wire_staging staging;
    struct arena *arena; /* for the current call */
};

/* Starts a session on a connected socket.  Takes ownership of the socket, also on failure, in which
 * case the owner's callbacks are not called.  WHY_MEMORY or WHY_SYSTEM. */
int session_start(struct hal_driver *driver, int socket, uint32_t client,
                  const struct session_owner *owner, void *user, struct why *w);
/* Rejects a connection: sends a reply with HAL_RESOURCE_EXHAUSTED_TRANSIENT, without waiting for
 * the client's first call, and closes the socket. */
void session_reject(int socket);
/* Starts to end the session.  why: what the client's channels are told first; NULL: the client has
 * closed its connection. */
void session_end(struct session *s, const char *why);

/* Starts a further channel.  Takes ownership of the socket, except on failure.  WHY_MEMORY. */
int channel_start(struct session *s, int socket, struct why *w);

/* ---- objects */

/* Number of objects of that kind that have a handle. */
unsigned object_count(struct session *s, enum object_kind kind);
/* Adds a copy of *what and returns its handle; 0: out of memory or over the client's quota, and the
 * caller still owns what->driver_object. */
uint64_t object_add(struct session *s, const struct object *what);
/* Finds and pins an object; NULL: no handle of that kind. */
struct object *object_pin(struct session *s, uint64_t handle, enum object_kind kind);
void object_unpin(struct session *s, struct object *o);
/* Removes the handle and its pin; false: no such handle. */
bool object_release(struct session *s, uint64_t handle);
void object_release_all(struct session *s);
/* Releases an object of the driver that object_add() did not take. */
void object_release_driver_object(enum object_kind kind, void *driver_object);

/* ---- callbacks, sent to the client as events */

/* Creates the callback of a call; id: the client's number for it.  Valid until it is called; the
 * session waits for that before it ends.  NULL: out of memory. */
struct hal_prepare_callback *session_prepare_callback(struct session *s, uint64_t id);
struct hal_execution_callback *session_execution_callback(struct session *s, uint64_t id);
/* Sends the event of a failed callback without creating one. */
void session_send_failure(struct session *s, uint64_t id, enum hal_status status);

/* ---- calls */

/* Executes one call: fills reply and ret_fds.  -1: the client violated the protocol. */
int session_execute_call(struct channel *c, const Wire__Call *call, struct wire_fds *fds,
                         Wire__Reply *reply, struct wire_fds *ret_fds, struct why *w);

#endif
