/* What the files of the service share: a session is one client's connection, with its channels and
 * the objects that the driver made for it. */
#ifndef SIM_SESSION_H
#define SIM_SESSION_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "sim/base/caller.h"
#include "sim/wire/wire.h"

enum object_kind { OBJECT_PREPARED, OBJECT_BUFFER, OBJECT_BURST, OBJECT_EXECUTION, OBJECT_INFO };
enum { OBJECT_KINDS = OBJECT_INFO + 1 };

/* An object of the driver's, or (burst) the struct burst_server that has it.  A handle pins it;
 * when it has been released and nobody has it pinned, the driver is told, and its parent is
 * unpinned. */
struct object {
    struct object *next;
    uint64_t handle;
    enum object_kind kind;
    void *of_driver;
    struct object *parent; /* which must outlive it; pinned */
    uint32_t n_outputs;    /* of an execution: shapes that it is to have room for */
    unsigned pins;         /* 1 for the handle */
};

struct session;
struct callback;

/* Whoever has sessions: told when one has begun, before anything else of it happens, and, on the
 * session's own thread, when all of it is over. */
struct session_owner {
    void (*begun)(struct session *s, void *user);
    void (*ended)(struct session *s, void *user);
};

struct session {
    struct hal_driver *driver;
    struct caller *caller;
    int events; /* socket; -1: not there yet */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t last_handle;
    struct object *objects;
    unsigned pending;        /* callbacks that the driver owes */
    struct callback *called; /* the newest of those that it has called */
    unsigned threads;        /* of channels */
    atomic_uint kept;        /* memories, by its bursts */
    bool is_ending;
    uint64_t channels_begun;
    struct channel *channels;
    const struct session_owner *owner;
    void *user;
};

/* One socket, one call at a time, a thread of its own. */
struct channel {
    struct channel *next;
    struct session *session;
    bool is_first; /* which is the connection: the session ends with it */
    int socket;
    struct spin spin; /* of the waits for a call */
    struct wire_staging staging;
    struct arena *arena; /* of the call being answered */
};

/* A connection begins: takes the socket over, also on failure; then the owner is told nothing. */
int session_start(struct hal_driver *driver, int socket, uint32_t client,
                  const struct session_owner *owner, void *user, struct why *w);
/* Tells a client that there is no room for it, in answer to its first call, which need not have
 * come; closes the socket. */
void session_turn_away(int socket);
/* Makes it end soon, as if the client had gone. */
void session_end(struct session *s);

/* One more; -1: the socket is the caller's still. */
int channel_start(struct session *s, int socket, struct why *w);

/* ---- objects */

/* Handles of that kind. */
unsigned object_count(struct session *s, enum object_kind kind);
/* The handle of one more like that; 0: no memory (of_driver is the caller's still). */
uint64_t object_add(struct session *s, const struct object *what);
/* Pinned; NULL: no such handle of that kind. */
struct object *object_pin(struct session *s, uint64_t handle, enum object_kind kind);
void object_unpin(struct session *s, struct object *o);
/* Ends the handle; false: there is none. */
bool object_release(struct session *s, uint64_t handle);
void object_release_all(struct session *s);
/* What never became an object. */
void object_release_of_driver(enum object_kind kind, void *of_driver);

/* ---- callbacks on their way to the client */

struct hal_prepare_callback *session_prepare_callback(struct session *s, uint64_t id);
struct hal_execution_callback *session_execution_callback(struct session *s, uint64_t id);
/* Instead of one. */
void session_refuse(struct session *s, uint64_t id, enum hal_status status);

/* ---- calls */

/* Answers one call: fills reply and descriptors.  -1: the client broke the protocol. */
int session_answer(struct channel *c, const Wire__Call *call, struct wire_fds *fds,
                   Wire__Reply *reply, struct wire_fds *ret_fds, struct why *w);

/* Structures of a reply, in the channel's arena. */
int reply_shapes(struct arena *a, uint32_t n, const struct hal_output_shape *shapes, size_t *ret_n,
                 Wire__Shape ***ret_shapes);
Wire__Timing *reply_timing(struct arena *a, const struct hal_timing *t);

#endif
