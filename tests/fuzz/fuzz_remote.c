/* A client with a hostile service: the bytes are its replies and events (format: fuzz_packets.h).
 * Every method must return, every callback be called exactly once, and nothing leak. */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "sim/remote/remote.h"
#include "sim/wire/wire.h"
#include "tests/fuzz/common/fuzz_packets.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/mutate/mutate.h"

/* ---- the service */

enum { MAX_SOCKETS = 8 };

struct hostile {
    struct pollfd socket[MAX_SOCKETS];
    nfds_t n;
    int events;
    bool introduces_itself; /* replies to the calls that open a connection are valid */
    const uint8_t *bytes;
    size_t left;
};

static void send_packet(int socket, const uint8_t *bytes, size_t n, uint8_t flags)
{
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int))];
    } control = { 0 };
    uint32_t n_fds = flags & PACKET_HAS_FD;
    uint32_t header[] = { (uint32_t) n + (flags & PACKET_CLAIMS_MORE_BYTES ? 1 << 20 : 0),
                          n_fds + (flags & PACKET_CLAIMS_MORE_FDS ? 1 : 0) };
    struct iovec io[] = { { header, sizeof header }, { (void *) (uintptr_t) bytes, n } };
    struct msghdr m = { .msg_iov = io, .msg_iovlen = 2 };
    int fd = n_fds ? memfd_create("fuzz", MFD_CLOEXEC) : -1;

    if (n_fds) {
        m.msg_control = control.room;
        m.msg_controllen = sizeof control.room;
        struct cmsghdr *c = CMSG_FIRSTHDR(&m);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof fd);
        memcpy(CMSG_DATA(c), &fd, sizeof fd);
    }
    sendmsg(socket, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (fd >= 0)
        close(fd);
}

/* Sends the next reply of the bytes, after the events before it.  False: the bytes are used up. */
static bool send_next(struct hostile *h, int socket)
{
    bool again;

    do {
        if (h->left < 3)
            return false;
        size_t n = h->bytes[0] | (size_t) h->bytes[1] << 8;
        uint8_t flags = h->bytes[2];
        h->bytes += 3;
        h->left -= 3;
        n = n < h->left ? n : h->left;
        again = flags & PACKET_IS_EVENT; /* the reply follows */
        if (!again || h->events >= 0)
            send_packet(again ? h->events : socket, h->bytes, n, flags);
        h->bytes += n;
        h->left -= n;
    } while (again);
    return true;
}

static void introduce(int socket)
{
    Wire__Reply reply = WIRE__REPLY__INIT;
    Wire__DriverInfo info = WIRE__DRIVER_INFO__INIT;
    struct why w;

    info.abi_version = HAL_ABI_VERSION;
    info.hal_version = HAL_FL8;
    info.lowest_version = HAL_1_0;
    info.protocol = WIRE_PROTOCOL;
    reply.info = &info;
    wire_send(socket, &reply.base, NULL, &w);
}

/* Receives a call, keeps the socket that it passes, and replies; false at the end. */
static bool reply_to_call(struct hostile *h, int socket, struct arena *a)
{
    struct wire_fds fds;
    ProtobufCMessage *m;
    struct why w;

    if (wire_receive(socket, &wire__call__descriptor, a, &m, &fds, &w) <= 0)
        return false;
    Wire__Method method = ((const Wire__Call *) m)->method;
    int fd = wire_fd(&fds, ((const Wire__Call *) m)->fd);
    if (method == WIRE__METHOD__OPEN_EVENTS && h->events < 0)
        h->events = dup(fd);
    if (method == WIRE__METHOD__OPEN_CHANNEL && h->n < MAX_SOCKETS)
        h->socket[h->n++] = (struct pollfd){ .fd = dup(fd), .events = POLLIN };
    wire_close_fds(&fds);
    bool opens = method == WIRE__METHOD__OPEN_EVENTS || method == WIRE__METHOD__OPEN_CHANNEL ||
                 method == WIRE__METHOD__GET_INFO;
    if (!h->introduces_itself || !opens)
        return send_next(h, socket);
    introduce(socket);
    return true;
}

static void *serve(void *user)
{
    struct hostile *h = user;
    struct arena *a = arena_new(1 << 24);
    bool is_open = a != NULL;

    while (is_open && poll(h->socket, h->n, -1) > 0)
        for (nfds_t i = 0, n = h->n; i < n && is_open; i++)
            if (h->socket[i].revents)
                is_open = reply_to_call(h, h->socket[i].fd, a);
    for (nfds_t i = 0; i < h->n; i++)
        close(h->socket[i].fd);
    if (h->events >= 0)
        close(h->events);
    arena_free(a);
    return NULL;
}

/* ---- the client */

struct catcher {
    struct hal_prepare_callback base;
    struct hal_execution_callback executed;
    pthread_mutex_t lock;
    unsigned prepares, executions;
    bool is_late;
    struct hal_prepared_model *prepared;
};

static void notify_prepared(struct hal_prepare_callback *self, enum hal_status status,
                            struct hal_prepared_model *prepared)
{
    struct catcher *c = (struct catcher *) self;

    (void) status;
    pthread_mutex_lock(&c->lock);
    c->prepares++;
    bool late = c->is_late;
    if (!late)
        c->prepared = prepared;
    pthread_mutex_unlock(&c->lock);
    if (late && prepared)
        prepared->methods->release(prepared);
}

static void notify_executed(struct hal_execution_callback *self, enum hal_status status, uint32_t n,
                            const struct hal_output_shape *shapes, struct hal_timing timing)
{
    struct catcher *c =
        (struct catcher *) (void *) ((char *) self - offsetof(struct catcher, executed));

    (void) status, (void) n, (void) shapes, (void) timing;
    pthread_mutex_lock(&c->lock);
    c->executions++;
    pthread_mutex_unlock(&c->lock);
}

static struct hal_prepared_model *take_prepared(struct catcher *c)
{
    const struct timespec pause = { 0, 1000000 };
    struct hal_prepared_model *p = NULL;

    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&c->lock);
        bool called = c->prepares;
        c->is_late = i == 2;
        p = c->prepared;
        pthread_mutex_unlock(&c->lock);
        if (called && i < 2)
            continue;
        if (i < 2)
            nanosleep(&pause, NULL);
    }
    return p;
}

static void execute(struct hal_prepared_model *p, struct catcher *c, unsigned *ret_launches)
{
    static uint8_t memory[64];
    const struct hal_execution_config config = { .deadline = HAL_NO_DEADLINE,
                                                 .loop_timeout = HAL_NO_TIME };
    const struct hal_argument argument = { .location = { .length = 16 } };
    const struct hal_request_pool pool = { .memory = { .protection =
                                                           HAL_MEMORY_READ | HAL_MEMORY_WRITE,
                                                       .address = memory,
                                                       .fd = -1,
                                                       .size = sizeof memory } };
    const struct hal_request request = { 1, 1, 1, &argument, &argument, &pool };
    const int64_t identifier = 1;
    struct hal_output_shape shape;
    struct hal_result result = { .shapes = &shape, .capacity = 1 };
    struct hal_fenced_info *info;
    struct hal_timing t[2];
    struct hal_execution *x = NULL;
    struct hal_burst *b = NULL;
    int fence;

    p->methods->execute_synchronously(p, HAL_FL8, &request, &config, &result);
    p->methods->execute(p, HAL_1_3, &request, &config, &c->executed);
    ++*ret_launches;
    if (p->methods->configure_burst(p, HAL_FL8, &b) == HAL_NONE && b) {
        b->methods->execute_synchronously(b, &request, 1, &identifier, &config, &result);
        b->methods->release_memory(b, 1);
        b->methods->release(b);
    }
    if (p->methods->create_reusable_execution(p, &request, &config, &x) == HAL_NONE && x) {
        x->methods->execute_synchronously(x, HAL_NO_DEADLINE, &result);
        x->methods->release(x);
    }
    if (p->methods->execute_fenced(p, HAL_FL8, &request, 0, NULL, &config, HAL_NO_TIME, &fence,
                                   &info) == HAL_NONE) {
        if (info) {
            info->methods->get_execution_info(info, &t[0], &t[1]);
            info->methods->release(info);
        }
        if (fence >= 0)
            close(fence);
    }
}

static void use(struct hal_driver *d)
{
    const struct hal_prepare_config config = { .preference = HAL_FAST_SINGLE_ANSWER,
                                               .deadline = HAL_NO_DEADLINE };
    const struct hal_operand operand = { .n_dims = 0 };
    const struct hal_operation operation = { 0 };
    const struct hal_model model = { .main = { 1, 1, 0, 0, &operand, &operation, NULL, NULL } };
    const struct hal_buffer_role role = { .probability = 1 };
    struct catcher c = { .base = { notify_prepared }, .executed = { notify_executed } };
    struct hal_capabilities capabilities;
    struct hal_buffer *buffer;
    struct hal_prepared_model *p;
    unsigned launches = 0;
    bool supported[1];
    uint32_t n;

    pthread_mutex_init(&c.lock, NULL);
    d->get_capabilities(d, HAL_FL8, &capabilities);
    d->get_supported_operations(d, HAL_FL8, &model, supported, &n);
    d->prepare_model(d, HAL_FL8, &model, &config, &c.base);
    p = take_prepared(&c);
    if (p) {
        execute(p, &c, &launches);
        const struct hal_buffer_desc desc = { 0 };
        if (d->allocate(d, &desc, 1, &p, 1, &role, 0, NULL, &buffer, &n) == HAL_NONE && buffer)
            buffer->methods->release(buffer);
        p->methods->release(p);
    }
    d->close(d);
    if (c.prepares != 1 || c.executions != launches)
        abort();
    pthread_mutex_destroy(&c.lock);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct hostile h = { .events = -1, .n = 1 };
    struct hal_driver *d;
    pthread_t thread;
    struct why w;
    int pair[2];

    if (!length)
        return 0;
    h.introduces_itself = bytes[0] & 1;
    h.bytes = bytes + 1;
    h.left = length - 1;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        abort();
    h.socket[0] = (struct pollfd){ .fd = pair[0], .events = POLLIN };
    if (pthread_create(&thread, NULL, serve, &h) != 0)
        abort();
    if (remote_open_socket(pair[1], NULL, &d, &w) == 0)
        use(d);
    pthread_join(thread, NULL);
    return 0;
}

static const struct mutate_type *type_of(uint8_t flags)
{
    static const struct mutate_type event = { &wire__event__descriptor, NULL },
                                    reply = { &wire__reply__descriptor, NULL };

    return flags & PACKET_IS_EVENT ? &event : &reply;
}

static const struct mutate_packets packets = { 1, type_of };

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t length, size_t max, unsigned seed)
{
    return mutate_packets(&packets, bytes, length, max, seed);
}

size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t n_a, const uint8_t *b, size_t n_b,
                                 uint8_t *to, size_t max, unsigned seed)
{
    return cross_packets(&packets, a, n_a, b, n_b, to, max, seed);
}
