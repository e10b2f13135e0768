/* A service with a hostile client: the bytes are messages in one session, with descriptors of all
 * kinds (format: fuzz_packets.h).  The service must reply or disconnect, and end the session
 * without leaks. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sim/device/engine.h"
#include "sim/service/session.h"
#include "tests/fuzz/common/fuzz_packets.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/mutate/mutate.h"
#include "wire.pb-c.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool is_over;

static void on_begin(struct session *s, void *user)
{
    (void) s, (void) user;
}

static void on_end(struct session *s, void *user)
{
    (void) s, (void) user;
    pthread_mutex_lock(&lock);
    is_over = true;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
}

static struct hal_driver *driver(void)
{
    static struct hal_driver *d;
    struct engine *e;
    struct why w;

    if (!d && (engine_reference(&e, &w) < 0 || driver_new(e, &d, &w) < 0))
        abort();
    return d;
}

/* A descriptor of that kind: a short or long file, sealed or not, or a socket without a peer. */
static int descriptor(uint8_t kind)
{
    int fd = memfd_create("fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING), pair[2];

    if (fd < 0 || ftruncate(fd, kind & FD_IS_LONG ? 8192 : 3) < 0)
        abort();
    if (kind & FD_IS_SEALED)
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW);
    if (kind & FD_IS_SOCKET) {
        close(fd);
        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
            abort();
        close(pair[1]);
        return pair[0];
    }
    return fd;
}

struct header {
    uint32_t length, n_fds;
};

/* Sends one message; its header is correct unless the flags say otherwise, so that it is decoded.
 */
static void send_packet(int socket, const uint8_t *bytes, size_t n, uint8_t flags)
{
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int) * 2)];
    } control;
    uint32_t n_fds = flags & PACKET_FDS ? (flags & PACKET_FDS) - PACKET_NO_FD : 0;
    struct header h = { (uint32_t) n + (flags & PACKET_CLAIMS_MORE_BYTES ? 1 << 20 : 0),
                        n_fds + (flags & PACKET_CLAIMS_MORE_FDS ? 1 : 0) };
    struct iovec io[] = { { &h, sizeof h }, { (void *) (uintptr_t) bytes, n } };
    struct msghdr m = { .msg_iov = io, .msg_iovlen = 2 };
    int fds[2];

    for (uint32_t i = 0; i < n_fds; i++)
        fds[i] = descriptor((uint8_t) (flags / PACKET_FD_KINDS));
    if (n_fds) {
        memset(&control, 0, sizeof control);
        m.msg_control = control.room;
        m.msg_controllen = CMSG_SPACE(sizeof(int) * n_fds);
        struct cmsghdr *c = CMSG_FIRSTHDR(&m);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof(int) * n_fds);
        memcpy(CMSG_DATA(c), fds, sizeof(int) * n_fds);
    }
    sendmsg(socket, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
    for (uint32_t i = 0; i < n_fds; i++)
        close(fds[i]);
}

/* Discards replies, so that the service never blocks on a full socket. */
static void drain(int socket)
{
    char bytes[4096];

    while (recv(socket, bytes, sizeof bytes, MSG_DONTWAIT) > 0)
        ;
}

/* Sends all messages of the bytes. */
static void send_all(int socket, const uint8_t *bytes, size_t n)
{
    while (n >= 3) {
        size_t length = bytes[0] | (size_t) bytes[1] << 8;
        uint8_t flags = bytes[2];
        bytes += 3;
        n -= 3;
        length = length < n ? length : n;
        send_packet(socket, bytes, length, flags);
        drain(socket);
        bytes += length;
        n -= length;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    static const struct session_owner owner = { on_begin, on_end };
    struct why w;
    int pair[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        abort();
    is_over = false;
    if (session_start(driver(), pair[0], 1, &owner, NULL, &w) < 0)
        abort();
    send_all(pair[1], bytes, length);
    shutdown(pair[1], SHUT_WR);
    pthread_mutex_lock(&lock);
    while (!is_over)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    close(pair[1]);
    return 0;
}

static const struct mutate_type *type_of(uint8_t flags)
{
    static const struct mutate_type call = { &wire__call__descriptor, NULL };

    (void) flags;
    return &call;
}

static const struct mutate_packets packets = { 0, type_of };

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t length, size_t max, unsigned seed)
{
    return mutate_packets(&packets, bytes, length, max, seed);
}

size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t n_a, const uint8_t *b, size_t n_b,
                                 uint8_t *to, size_t max, unsigned seed)
{
    return cross_packets(&packets, a, n_a, b, n_b, to, max, seed);
}
