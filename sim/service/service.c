#define _GNU_SOURCE
#include "sim/service/service.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "golden/base/logging.h"
#include "sim/base/memory.h"
#include "sim/base/peer_credentials.h"
#include "sim/base/process_quota.h"
#include "sim/driver/driver.h"
#include "sim/service/session.h"
#include "sim/wire/wire.h"

#define LOG_TAG "Service"

enum { BACKLOG = 64, MAX_SESSIONS = 1024, EXHAUSTED_MS = 20 };

/* A client's number is its process id; clients without one get numbers from here on. */
static const uint32_t FIRST_UNKNOWN = UINT32_C(1) << 31;

/* An entry of the table of sessions. */
struct place {
    struct service *service;
    bool is_taken;
    struct peer_credentials peer;
    uint32_t client;
    struct session *session; /* NULL: not started yet */
};

struct service {
    struct hal_driver *driver;
    struct sockaddr_un address;
    struct stat bound;  /* the socket's file, removed at the end if it is still this one */
    int listener, stop; /* stop: an eventfd */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint32_t sessions;
    uint32_t unknown_clients; /* number of clients without a process id so far */
    struct place place[MAX_SESSIONS];
};

/* Whether an errno means that resources of the system are exhausted. */
static bool is_exhausted(int error)
{
    return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

/* An error of the path in errno: WHY_INVALID, or WHY_SYSTEM where resources are exhausted. */
static int path_error(const struct service *s, const char *what, struct why *w)
{
    return why_fail(w, is_exhausted(errno) ? WHY_SYSTEM : WHY_INVALID, "%s: %s: %s",
                    s->address.sun_path, what, strerror(errno));
}

/* ---- the socket */

/* Removes a socket that no process listens on, and nothing else. */
static int clear_path(const struct service *s, struct why *w)
{
    const char *path = s->address.sun_path;
    struct stat st;

    if (lstat(path, &st) < 0)
        return errno == ENOENT ? 0 : path_error(s, "cannot check the path", w);
    REQUIRE(w, S_ISSOCK(st.st_mode), "%s: exists and is not a socket", path);

    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return path_error(s, "cannot check the path", w);
    int rc = connect(fd, (const struct sockaddr *) &s->address, sizeof(s->address));
    int error = rc < 0 ? errno : 0;
    close(fd);
    errno = error;
    if (error == EACCES)
        return path_error(s, "cannot check whether a service is listening there", w);
    REQUIRE(w, error == ECONNREFUSED, "%s: another service is listening there", path);
    return unlink(path) == 0 ? 0 : path_error(s, "cannot remove the existing socket", w);
}

static int listen_at(struct service *s, const char *path, struct why *w)
{
    s->address.sun_family = AF_UNIX;
    REQUIRE(w, *path && strlen(path) < sizeof(s->address.sun_path),
            "%s: the path of a socket has %zu bytes, expected 1 to %zu", path, strlen(path),
            sizeof(s->address.sun_path) - 1);
    strcpy(s->address.sun_path, path);
    TRY(clear_path(s, w));
    s->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (s->listener < 0 ||
        bind(s->listener, (struct sockaddr *) &s->address, sizeof(s->address)) < 0 ||
        listen(s->listener, BACKLOG) < 0 || lstat(path, &s->bound) < 0)
        return path_error(s, "cannot listen", w);
    return 0;
}

int service_new(struct hal_driver *driver, const char *path, struct service **ret_service,
                struct why *w)
{
    struct service *s = calloc(1, sizeof(*s));

    if (!s) {
        driver->close(driver);
        return why_no_memory(w);
    }
    *s = (struct service){ .driver = driver, .listener = -1, .stop = eventfd(0, EFD_CLOEXEC) };
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changed, NULL);
    process_quotas_enable(WIRE_MESSAGES_MAX);
    if (s->stop < 0 || memory_survive_truncation(w) < 0 || listen_at(s, path, w) < 0) {
        if (s->stop < 0)
            why_fail(w, WHY_SYSTEM, "cannot create an eventfd: %s", strerror(errno));
        s->address.sun_path[0] = 0; /* the file is not this service's and must not be removed */
        service_free(s);
        return -1;
    }
    *ret_service = s;
    return 0;
}

/* ---- sessions */

static void release_place(struct place *p)
{
    struct service *s = p->service;

    pthread_mutex_lock(&s->lock);
    *p = (struct place){ .is_taken = false };
    s->sessions--;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

static void ended(struct session *session, void *user)
{
    (void) session;
    release_place(user);
}

/* Called before the session can end. */
static void begun(struct session *session, void *user)
{
    struct place *p = user;

    pthread_mutex_lock(&p->service->lock);
    p->session = session;
    pthread_mutex_unlock(&p->service->lock);
}

/* A client is a process.  A process without an id here (in another pid namespace) gets a number of
 * its own; connections that cannot be attributed to a process are a client each. */
static uint32_t client_of(struct service *s, const struct peer_credentials *peer)
{
    if (peer->process)
        return peer->process;
    for (const struct place *p = s->place; p < s->place + MAX_SESSIONS; p++)
        if (p->is_taken && peer_credentials_are_same(&p->peer, peer))
            return p->client;
    return FIRST_UNKNOWN + s->unknown_clients++ % FIRST_UNKNOWN;
}

/* Whether a session counts towards a client's limit.  Connections that cannot be attributed to a
 * process share one limit per user. */
static bool counts_towards(const struct place *p, const struct peer_credentials *peer)
{
    bool unknown = !peer->process && !peer->object;

    return p->is_taken &&
           (unknown ? !p->peer.process && !p->peer.object && p->peer.user == peer->user
                    : peer_credentials_are_same(&p->peer, peer));
}

/* NULL: the table is full, or the client has reached its limit of sessions. */
static struct place *take_place(struct service *s, const struct peer_credentials *peer)
{
    uint32_t most = driver_max_sessions(s->driver), of_client = 0;
    struct place *free = NULL;

    pthread_mutex_lock(&s->lock);
    for (struct place *p = s->place; p < s->place + MAX_SESSIONS; p++) {
        of_client += counts_towards(p, peer);
        if (!p->is_taken && !free)
            free = p;
    }
    if (free && (!most || of_client < most)) {
        *free = (struct place){ s, true, *peer, client_of(s, peer), NULL };
        s->sessions++;
    } else {
        free = NULL;
    }
    pthread_mutex_unlock(&s->lock);
    return free;
}

static void serve(struct service *s, int fd)
{
    static const struct session_owner owner = { begun, ended };
    const struct peer_credentials peer = peer_credentials_of(fd);
    struct place *place = take_place(s, &peer);
    struct why w;

    if (!place) {
        VLOG(DRIVER, "connection of process %u rejected: too many sessions", peer.process);
        session_reject(fd);
        return;
    }
    if (session_start(s->driver, fd, place->client, &owner, place, &w) < 0) {
        VLOG(DRIVER, "connection of client %u rejected: %s", place->client, w.text);
        release_place(place);
    }
}

int service_run(struct service *s, struct why *w)
{
    struct pollfd p[] = { { .fd = s->listener, .events = POLLIN },
                          { .fd = s->stop, .events = POLLIN } };

    for (;;) {
        if (poll(p, 2, -1) < 0 && errno != EINTR)
            return why_fail(w, WHY_SYSTEM, "%s: cannot wait: %s", s->address.sun_path,
                            strerror(errno));
        if (p[1].revents)
            return 0;
        int fd = p[0].revents ? accept4(s->listener, NULL, NULL, SOCK_CLOEXEC) : -1;
        if (fd >= 0)
            serve(s, fd);
        else if (p[0].revents && is_exhausted(errno)) /* connections wait in the queue */
            poll(&p[1], 1, EXHAUSTED_MS);
    }
}

void service_stop(struct service *s)
{
    uint64_t one = 1;
    ssize_t n = write(s->stop, &one, sizeof(one));

    (void) n; /* fails only if the counter is full, that is, already readable */
}

static void end_sessions(struct service *s)
{
    pthread_mutex_lock(&s->lock);
    for (uint32_t i = 0; i < MAX_SESSIONS; i++)
        if (s->place[i].session)
            session_end(s->place[i].session, "it is stopped");
    while (s->sessions)
        pthread_cond_wait(&s->changed, &s->lock);
    pthread_mutex_unlock(&s->lock);
}

/* Unless the file has been replaced meanwhile. */
static void remove_socket(const struct service *s)
{
    const char *path = s->address.sun_path;
    struct stat st;

    if (*path && lstat(path, &st) == 0 && st.st_dev == s->bound.st_dev &&
        st.st_ino == s->bound.st_ino)
        unlink(path);
}

void service_free(struct service *s)
{
    if (!s)
        return;
    /* In this order: while this service listens, no other one replaces the socket. */
    remove_socket(s);
    if (s->listener >= 0)
        close(s->listener);
    end_sessions(s);
    s->driver->close(s->driver);
    if (s->stop >= 0)
        close(s->stop);
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
    free(s);
}
