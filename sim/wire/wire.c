#define _GNU_SOURCE
#include "sim/wire/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "sim/base/process_quota.h"

/* Precedes every message.  length > WIRE_INLINE: the message is in the first descriptor. */
struct header {
    uint32_t length, n_fds;
};

uint32_t wire_put_fd(struct wire_fds *fds, int fd)
{
    if (fds->n >= WIRE_MAX_FDS || fcntl(fd, F_GETFD) < 0)
        return 0;
    fds->fd[fds->n] = fd;
    return ++fds->n;
}

int wire_find_or_put_fd(struct wire_fds *fds, int fd, uint32_t *ret_name, struct why *w)
{
    for (uint32_t i = 0; i < fds->n; i++)
        if (fds->fd[i] == fd) {
            *ret_name = i + 1;
            return 0;
        }
    *ret_name = wire_put_fd(fds, fd);
    if (!*ret_name && fds->n >= WIRE_MAX_FDS && fcntl(fd, F_GETFD) >= 0)
        return why_fail(w, WHY_UNSUPPORTED, "more than %d file descriptors in one call",
                        WIRE_MAX_FDS);
    return 0;
}

int wire_fd(const struct wire_fds *fds, uint32_t name)
{
    return name && name <= fds->n ? fds->fd[name - 1] : -1;
}

int wire_take_fd(struct wire_fds *fds, uint32_t name)
{
    int fd = wire_fd(fds, name);

    if (fd >= 0)
        fds->fd[name - 1] = -1;
    return fd;
}

void wire_close_fds(struct wire_fds *fds)
{
    for (uint32_t i = 0; i < fds->n; i++)
        if (fds->fd[i] >= 0)
            close(fds->fd[i]);
    fds->n = 0;
}

static int system_error(const char *what, struct why *w)
{
    return why_fail(w, WHY_SYSTEM, "%s: %s", what, strerror(errno));
}

static int timed_out(struct why *w)
{
    return why_fail(w, WHY_TIMEOUT, "the other process does not answer in time");
}

/* WHY_MEMORY, so that the connection stays open. */
static int no_memory_file(struct why *w)
{
    return why_fail(w, WHY_MEMORY, "memory file: %s", strerror(errno));
}

bool wire_is_sealed(int fd, int seals)
{
    int has = fcntl(fd, F_GET_SEALS);

    return has >= 0 && (has & seals) == seals;
}

int wire_memory(size_t size, int *ret_fd, void **ret_address, struct why *w)
{
    int fd = memfd_create("halcyon", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    void *address;

    if (fd < 0)
        return no_memory_file(w);
    if (ftruncate(fd, (off_t) size) < 0 ||
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) < 0) {
        close(fd);
        return no_memory_file(w);
    }
    address = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (address == MAP_FAILED) {
        close(fd);
        return no_memory_file(w);
    }
    *ret_fd = fd;
    *ret_address = address;
    return 0;
}

/* ---- sending */

/* What the kernel lacks for a moment: other processes' connections and descriptors that are sent
 * but not received yet (of all processes of the user: ETOOMANYREFS) use it, too. */
static bool is_shortage(int error)
{
    return error == ENOMEM || error == ENOBUFS || error == ETOOMANYREFS;
}

/* Repeated attempts, of at most about 100 ms: a driver's thread may be the one that sends. */
struct patience {
    int attempts;
};

/* Waits before the next attempt; false: there have been enough.  Leaves errno. */
static bool wait_again(struct patience *p)
{
    enum { ATTEMPTS = 50, PAUSE_NS = 2000000 };
    const struct timespec pause = { 0, PAUSE_NS };
    const int error = errno;
    const bool again = p->attempts++ < ATTEMPTS;

    if (again)
        nanosleep(&pause, NULL);
    errno = error;
    return again;
}

static int send_packet(int socket, const struct header *h, const void *bytes, const int *fds,
                       uint32_t n_fds, int flags, struct why *w)
{
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int) * (WIRE_MAX_FDS + 1))];
    } control;
    struct iovec io[] = { { (void *) (uintptr_t) h, sizeof(*h) },
                          { (void *) (uintptr_t) bytes, bytes ? h->length : 0 } };
    struct msghdr m = { .msg_iov = io, .msg_iovlen = 2 };
    ssize_t sent;

    if (n_fds) {
        memset(&control, 0, sizeof(control));
        m.msg_control = control.room;
        m.msg_controllen = CMSG_SPACE(sizeof(int) * n_fds);
        struct cmsghdr *c = CMSG_FIRSTHDR(&m);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof(int) * n_fds);
        memcpy(CMSG_DATA(c), fds, sizeof(int) * n_fds);
    }
    struct patience patience = { 0 };
    do
        sent = sendmsg(socket, &m, flags | MSG_NOSIGNAL);
    while (sent < 0 && (errno == EINTR || (is_shortage(errno) && wait_again(&patience))));
    if (sent >= 0)
        return 0;
    if ((errno == EAGAIN || errno == EWOULDBLOCK) && !(flags & MSG_DONTWAIT))
        return timed_out(w);
    return why_fail(w, is_shortage(errno) ? WHY_MEMORY : WHY_SYSTEM,
                    "sending a message of %u bytes with %u descriptors: %s", h->length, n_fds,
                    strerror(errno));
}

/* A message on its way into a memory file.  It is written and not mapped: a mapping would be
 * inherited by processes that other threads fork meanwhile, and prevent the seal. */
struct message_file {
    ProtobufCBuffer base;
    int fd;
    size_t n; /* in bytes */
    bool has_failed;
    uint8_t bytes[4096];
};

static void write_all(struct message_file *f, const uint8_t *bytes, size_t n)
{
    while (n && !f->has_failed) {
        ssize_t done = write(f->fd, bytes, n);
        f->has_failed = done == 0 || (done < 0 && errno != EINTR);
        bytes += done > 0 ? done : 0;
        n -= done > 0 ? (size_t) done : 0;
    }
}

static void flush(struct message_file *f)
{
    write_all(f, f->bytes, f->n);
    f->n = 0;
}

static void append(ProtobufCBuffer *buffer, size_t n, const uint8_t *bytes)
{
    struct message_file *f = (struct message_file *) buffer;

    if (n > sizeof(f->bytes) - f->n)
        flush(f);
    if (n > sizeof(f->bytes)) {
        write_all(f, bytes, n);
    } else {
        memcpy(f->bytes + f->n, bytes, n);
        f->n += n;
    }
}

/* EBUSY: the kernel uses some of its pages at the moment, for example moves them. */
static int seal(int fd)
{
    const int all = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
    struct patience patience = { 0 };
    int rc;

    do
        rc = fcntl(fd, F_ADD_SEALS, all);
    while (rc < 0 && (errno == EINTR || (errno == EBUSY && wait_again(&patience))));
    return rc;
}

/* A sealed memory file with the message; -1 with WHY_MEMORY. */
static int message_file(const ProtobufCMessage *message, struct why *w)
{
    struct message_file f = { .base = { append },
                              .fd = memfd_create("halcyon", MFD_CLOEXEC | MFD_ALLOW_SEALING) };

    if (f.fd < 0)
        return no_memory_file(w);
    protobuf_c_message_pack_to_buffer(message, &f.base);
    flush(&f);
    if (!f.has_failed && seal(f.fd) == 0)
        return f.fd;
    no_memory_file(w);
    close(f.fd);
    return -1;
}

static int send_message(int socket, const ProtobufCMessage *message, const struct wire_fds *fds,
                        int flags, struct why *w)
{
    size_t length = protobuf_c_message_get_packed_size(message);
    struct header h = { (uint32_t) length, fds ? fds->n : 0 };
    uint8_t bytes[WIRE_INLINE];

    if (length > WIRE_MAX)
        return why_fail(w, WHY_MEMORY, "a message of %zu bytes, at most %d", length, WIRE_MAX);
    if (length <= WIRE_INLINE) {
        protobuf_c_message_pack(message, bytes);
        return send_packet(socket, &h, bytes, fds ? fds->fd : NULL, h.n_fds, flags, w);
    }

    /* In a memory file, whose descriptor precedes the others. */
    int all[WIRE_MAX_FDS + 1];
    all[0] = message_file(message, w);
    if (all[0] < 0)
        return -1;
    if (fds)
        memcpy(all + 1, fds->fd, fds->n * sizeof(int));
    int rc = send_packet(socket, &h, NULL, all, h.n_fds + 1, flags, w);
    close(all[0]);
    return rc;
}

static void set_timeout(int socket, int which, double seconds)
{
    struct timeval t = { .tv_sec = (time_t) seconds };

    t.tv_usec = (suseconds_t) ((seconds - (double) t.tv_sec) * 1e6);
    setsockopt(socket, SOL_SOCKET, which, &t, sizeof(t));
}

void wire_set_timeouts(int socket, double receive, double send)
{
    set_timeout(socket, SO_RCVTIMEO, receive);
    set_timeout(socket, SO_SNDTIMEO, send);
}

int wire_send(int socket, const ProtobufCMessage *message, const struct wire_fds *fds,
              struct why *w)
{
    return send_message(socket, message, fds, 0, w);
}

int wire_send_nonblocking(int socket, const ProtobufCMessage *message, struct why *w)
{
    return send_message(socket, message, NULL, MSG_DONTWAIT, w);
}

/* ---- receiving */

/* As recvmsg().  A reset, which the peer's end with unread messages causes, is skipped, since there
 * may be messages that were sent before it; *ret_reset: whether there was one. */
static ssize_t receive(int socket, struct msghdr *m, int flags, bool *ret_reset)
{
    ssize_t n;

    *ret_reset = false;
    for (;;) {
        n = recvmsg(socket, m, flags);
        if (n >= 0 || (errno != EINTR && (errno != ECONNRESET || *ret_reset)))
            return n;
        *ret_reset |= errno == ECONNRESET;
    }
}

/* What receive() has returned instead of a packet: 0 or -1, as wire_receive(). */
static int no_packet(ssize_t n, bool was_reset, struct why *w)
{
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
        return timed_out(w);
    if (n < 0 && errno != ECONNRESET)
        return system_error("receiving a message", w);
    why_fail(w, WHY_SYSTEM, "%s", was_reset ? strerror(ECONNRESET) : "end of file");
    return 0;
}

struct packet {
    struct header header;
    uint8_t bytes[WIRE_INLINE];
};

/* Collects the received descriptors.  Excess ones are closed, and the packet is invalid.  room: for
 * how many there was room; the kernel drops those for which this process has none left. */
static int take_fds(struct msghdr *m, const struct header *h, uint32_t room, bool may_drop,
                    struct wire_fds *ret_fds, struct why *w)
{
    const bool lacks = m->msg_flags & MSG_CTRUNC;
    uint32_t n = 0;

    for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        size_t here = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < here; i++) {
            int fd;
            memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(fd));
            if (n <= WIRE_MAX_FDS)
                ret_fds->fd[n++] = fd;
            else
                close(fd);
        }
    }
    ret_fds->n = n;
    REQUIRE(w, !(m->msg_flags & MSG_TRUNC), "a packet of more than %zu bytes",
            sizeof(struct packet));
    if (lacks && n < room)
        return why_fail(w, WHY_MEMORY,
                        "out of file descriptors: %u received of the %u of a message", n,
                        h->n_fds + (h->length > WIRE_INLINE));
    REQUIRE(w, !lacks || may_drop, "a packet with more descriptors than the %u that it announces",
            room);
    return 0;
}

/* The control buffer's length is CMSG_LEN(), not CMSG_SPACE(), whose padding may have room for one
 * more descriptor: the kernel must not create more than were announced. */
static ssize_t receive_packet(int socket, const struct wire_header *next, struct packet *p,
                              struct wire_fds *ret_fds, struct why *w)
{
    uint32_t room = (next->without_fds ? 0 : next->n_fds) + next->is_long;
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int) * (WIRE_MAX_FDS + 1))];
    } control;
    struct iovec io = { p, sizeof(*p) };
    struct msghdr m = { .msg_iov = &io,
                        .msg_iovlen = 1,
                        .msg_control = room ? control.room : NULL,
                        .msg_controllen = room ? CMSG_LEN(sizeof(int) * room) : 0 };
    bool was_reset;
    ssize_t n = receive(socket, &m, MSG_CMSG_CLOEXEC, &was_reset);

    if (n <= 0)
        return no_packet(n, was_reset, w);
    if (n < (ssize_t) sizeof(p->header))
        p->header = (struct header){ 0 };
    return take_fds(&m, &p->header, room, next->without_fds, ret_fds, w) < 0 ? -1 : n;
}

static bool has_packet(void *user)
{
    return poll(user, 1, 0) != 0;
}

void wire_spin(int socket, struct spin *s)
{
    spin_until(s, has_packet, &(struct pollfd){ .fd = socket, .events = POLLIN });
}

/* State of the allocator for a message being decoded; is_full: the arena was too small. */
struct reading {
    struct arena *a;
    bool is_full;
};

static void *arena_take(void *user, size_t size)
{
    struct reading *r = user;
    void *p = arena_alloc_raw(r->a, size, 1);

    r->is_full |= !p;
    return p;
}

static void arena_keep(void *user, void *pointer)
{
    (void) user, (void) pointer;
}

static int unpack(const ProtobufCMessageDescriptor *type, const uint8_t *bytes, size_t length,
                  struct arena *a, ProtobufCMessage **ret_message, struct why *w)
{
    struct reading reading = { a, false };
    ProtobufCAllocator allocator = { arena_take, arena_keep, &reading };
    ProtobufCMessage *m = protobuf_c_message_unpack(type, &allocator, length, bytes);

    if (reading.is_full)
        return why_no_memory_for(w, "a message of %zu bytes", length);
    REQUIRE(w, m, "not a message of type %s", type->name);
    *ret_message = m;
    return 0;
}

/* The file must be sealed: the message must not change while it is decoded. */
static int unpack_large(const ProtobufCMessageDescriptor *type, size_t length, struct wire_fds *fds,
                        struct arena *a, ProtobufCMessage **ret_message, struct why *w)
{
    const int sealed = F_SEAL_SHRINK | F_SEAL_WRITE;
    struct stat st;
    int fd = fds->n ? fds->fd[0] : -1;

    REQUIRE(w, length <= WIRE_MAX, "a message of %zu bytes, at most %d", length, WIRE_MAX);
    REQUIRE(w, fd >= 0, "the file of a message of %zu bytes is missing", length);
    REQUIRE(w, fstat(fd, &st) == 0 && (uint64_t) st.st_size >= length,
            "the file of a message is shorter than its %zu bytes", length);
    REQUIRE(w, wire_is_sealed(fd, sealed), "the file of a message is not sealed");
    void *bytes = mmap(NULL, length, PROT_READ, MAP_PRIVATE, fd, 0);
    if (bytes == MAP_FAILED)
        return why_fail(w, WHY_MEMORY, "the file of a message: %s", strerror(errno));
    int rc = unpack(type, bytes, length, a, ret_message, w);
    munmap(bytes, length);
    close(fd);
    memmove(fds->fd, fds->fd + 1, --fds->n * sizeof(int));
    return rc;
}

static int read_packet(const struct packet *p, size_t n, const struct wire_header *next,
                       const ProtobufCMessageDescriptor *type, struct arena *a,
                       ProtobufCMessage **ret_message, struct wire_fds *fds, struct why *w)
{
    REQUIRE(w, n >= sizeof(p->header), "a packet of %zu bytes, shorter than its header", n);
    if (p->header.length > WIRE_INLINE) {
        REQUIRE(w, n == sizeof(p->header), "a long message within a packet");
        TRY(unpack_large(type, p->header.length, fds, a, ret_message, w));
    } else {
        REQUIRE(w, n == sizeof(p->header) + p->header.length,
                "a packet of %zu bytes with a message of %u bytes", n, p->header.length);
        TRY(unpack(type, p->bytes, p->header.length, a, ret_message, w));
    }
    REQUIRE(w, fds->n == p->header.n_fds || (next->without_fds && !fds->n),
            "%u descriptors received, %u announced", fds->n, p->header.n_fds);
    return 0;
}

int wire_peek(int socket, struct wire_header *ret_next, struct why *w)
{
    struct header h;
    struct iovec io = { &h, sizeof(h) };
    bool was_reset;
    ssize_t n =
        receive(socket, &(struct msghdr){ .msg_iov = &io, .msg_iovlen = 1 }, MSG_PEEK, &was_reset);

    if (n <= 0)
        return no_packet(n, was_reset, w);
    if (n < (ssize_t) sizeof(h))
        h = (struct header){ 0 };
    ret_next->n_fds = h.n_fds < WIRE_MAX_FDS ? h.n_fds : WIRE_MAX_FDS;
    ret_next->is_long = h.length > WIRE_INLINE;
    ret_next->without_fds = false;
    return 1;
}

int wire_receive_next(int socket, const struct wire_header *next,
                      const ProtobufCMessageDescriptor *type, struct arena *a,
                      ProtobufCMessage **ret_message, struct wire_fds *ret_fds, struct why *w)
{
    struct packet p;
    ssize_t n;

    ret_fds->n = 0;
    n = receive_packet(socket, next, &p, ret_fds, w);
    if (n > 0 && read_packet(&p, (size_t) n, next, type, a, ret_message, ret_fds, w) == 0)
        return 1;
    wire_close_fds(ret_fds);
    return n == 0 ? 0 : -1;
}

int wire_receive(int socket, const ProtobufCMessageDescriptor *type, struct arena *a,
                 ProtobufCMessage **ret_message, struct wire_fds *ret_fds, struct why *w)
{
    static const struct wire_header any = { WIRE_MAX_FDS, true, false };

    return wire_receive_next(socket, &any, type, a, ret_message, ret_fds, w);
}

/* ---- descriptors that count against the client's quota */

int wire_receive_counted(uint32_t client, int socket, const ProtobufCMessageDescriptor *type,
                         struct arena *a, ProtobufCMessage **ret_message,
                         struct counted_fds *ret_fds, struct why *w)
{
    struct wire_header next;
    int rc = wire_peek(socket, &next, w);

    if (rc <= 0)
        return rc;
    const uint32_t n = next.n_fds + next.is_long;
    bool ok = n == 0 || process_quota_charge(QUOTA_FILES, client, n);

    next.without_fds = !ok;
    rc = wire_receive_next(socket, &next, type, a, ret_message, &ret_fds->fds, w);
    if (rc > 0 && !ok)
        return why_fail(w, WHY_MEMORY, "%u more descriptors exceed the client's quota", n);
    ret_fds->client = client;
    ret_fds->taken = n;
    if (rc <= 0 && ok)
        wire_close_counted_fds(ret_fds);
    return rc;
}

void wire_close_counted_fds(struct counted_fds *fds)
{
    wire_close_fds(&fds->fds);
    if (fds->taken)
        process_quota_release(QUOTA_FILES, fds->client, fds->taken);
}
