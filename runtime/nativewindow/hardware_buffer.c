/* AHardwareBuffer_*(): buffers in memfds, counted by references, mapped while they are locked. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/nativewindow/hardware_buffer_layout.h"

struct AHardwareBuffer {
    struct hardware_buffer_layout layout; /* first */
    atomic_uint references;
    pthread_mutex_t lock; /* of what follows */
    uint32_t locks;
    void *address; /* while there are locks */
};

/* ---- descriptions */

/* 0: no format of ours. */
static uint32_t bytes_per_pixel(uint32_t format)
{
    switch (format) {
    case AHARDWAREBUFFER_FORMAT_BLOB:
    case AHARDWAREBUFFER_FORMAT_R8_UNORM: return 1;
    case AHARDWAREBUFFER_FORMAT_R5G6B5_UNORM: return 2;
    case AHARDWAREBUFFER_FORMAT_R8G8B8_UNORM: return 3;
    case AHARDWAREBUFFER_FORMAT_R8G8B8A8_UNORM:
    case AHARDWAREBUFFER_FORMAT_R8G8B8X8_UNORM:
    case AHARDWAREBUFFER_FORMAT_R10G10B10A2_UNORM: return 4;
    case AHARDWAREBUFFER_FORMAT_R16G16B16A16_FLOAT: return 8;
    default: return 0;
    }
}

/* Bytes of such a buffer; 0: there can be none. */
static uint64_t size_of(const AHardwareBuffer_Desc *d)
{
    const uint64_t row = (uint64_t) d->width * bytes_per_pixel(d->format);
    uint64_t size;

    if (d->rfu0 || d->rfu1 || d->usage & AHARDWAREBUFFER_USAGE_PROTECTED_CONTENT)
        return 0;
    if (d->format == AHARDWAREBUFFER_FORMAT_BLOB && (d->height != 1 || d->layers != 1))
        return 0;
    if (__builtin_mul_overflow(row, (uint64_t) d->height * d->layers, &size) || size > INT64_MAX)
        return 0;
    return size;
}

int AHardwareBuffer_isSupported(const AHardwareBuffer_Desc *desc)
{
    return desc && size_of(desc);
}

void AHardwareBuffer_describe(const AHardwareBuffer *buffer, AHardwareBuffer_Desc *outDesc)
{
    if (buffer && outDesc)
        *outDesc = buffer->layout.desc;
}

int AHardwareBuffer_getId(const AHardwareBuffer *buffer, uint64_t *outId)
{
    struct stat st;

    if (!buffer || !outId)
        return -EINVAL;
    if (fstat(buffer->layout.fd, &st) < 0)
        return -errno;
    *outId = st.st_ino; /* all memfds are files of one file system */
    return 0;
}

/* ---- life */

/* Takes the descriptor, also where it fails. */
static int buffer_new(const AHardwareBuffer_Desc *desc, uint64_t size, int fd,
                      AHardwareBuffer **ret)
{
    AHardwareBuffer *b = calloc(1, sizeof(*b));

    if (!b) {
        close(fd);
        return -ENOMEM;
    }
    b->layout = (struct hardware_buffer_layout){ HARDWARE_BUFFER_MAGIC, *desc, size, fd };
    b->layout.desc.stride = desc->width;
    atomic_init(&b->references, 1);
    pthread_mutex_init(&b->lock, NULL);
    *ret = b;
    return 0;
}

int AHardwareBuffer_allocate(const AHardwareBuffer_Desc *desc, AHardwareBuffer **outBuffer)
{
    uint64_t size;
    int fd;

    if (!outBuffer)
        return -EINVAL;
    *outBuffer = NULL;
    size = desc ? size_of(desc) : 0;
    if (!size)
        return -EINVAL;
    fd = memfd_create("AHardwareBuffer", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        return -errno;
    if (ftruncate(fd, (off_t) size) < 0 || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) < 0) {
        int error = errno;
        close(fd);
        return -error;
    }
    return buffer_new(desc, size, fd, outBuffer);
}

void AHardwareBuffer_acquire(AHardwareBuffer *buffer)
{
    if (buffer)
        atomic_fetch_add(&buffer->references, 1);
}

void AHardwareBuffer_release(AHardwareBuffer *buffer)
{
    if (!buffer || atomic_fetch_sub(&buffer->references, 1) > 1)
        return;
    if (buffer->address)
        munmap(buffer->address, (size_t) buffer->layout.size);
    close(buffer->layout.fd);
    pthread_mutex_destroy(&buffer->lock);
    buffer->layout.magic = 0;
    free(buffer);
}

/* ---- access */

/* Takes the fence. */
static int wait_for(int32_t fence)
{
    struct pollfd p = { .fd = fence, .events = POLLIN };
    int n, error;

    if (fence < 0)
        return 0;
    do
        n = poll(&p, 1, -1);
    while (n < 0 && (errno == EINTR || errno == EAGAIN));
    error = n < 0 ? errno : p.revents & (POLLERR | POLLNVAL) ? EINVAL : 0;
    if (!(p.revents & POLLNVAL))
        close(fence);
    return -error;
}

/* Access to be had must be access that the buffer was made for. */
static bool is_allowed(uint64_t asked, uint64_t made_for, uint64_t mask)
{
    return !(asked & mask) || (made_for & mask);
}

static bool is_inside(const ARect *r, const AHardwareBuffer_Desc *d)
{
    return r->left >= 0 && r->top >= 0 && r->left < r->right && r->top < r->bottom &&
           (uint32_t) r->right <= d->width && (uint32_t) r->bottom <= d->height;
}

static int check_lock(const AHardwareBuffer *b, uint64_t usage, const ARect *rect)
{
    const uint64_t reads = AHARDWAREBUFFER_USAGE_CPU_READ_MASK;
    const uint64_t writes = AHARDWAREBUFFER_USAGE_CPU_WRITE_MASK;
    const AHardwareBuffer_Desc *d = &b->layout.desc;

    if (usage & ~(reads | writes) || !(usage & (reads | writes)))
        return -EINVAL;
    if (!is_allowed(usage, d->usage, reads) || !is_allowed(usage, d->usage, writes))
        return -EINVAL;
    return rect && !is_inside(rect, d) ? -EINVAL : 0;
}

static int map(AHardwareBuffer *b, void **ret)
{
    int result = 0;

    pthread_mutex_lock(&b->lock);
    if (!b->address) {
        void *address = mmap(NULL, (size_t) b->layout.size, PROT_READ | PROT_WRITE, MAP_SHARED,
                             b->layout.fd, 0);
        if (address == MAP_FAILED)
            result = -errno;
        else
            b->address = address;
    }
    if (result == 0) {
        b->locks++;
        *ret = b->address;
    }
    pthread_mutex_unlock(&b->lock);
    return result;
}

int AHardwareBuffer_lock(AHardwareBuffer *buffer, uint64_t usage, int32_t fence, const ARect *rect,
                         void **outVirtualAddress)
{
    int waited = wait_for(fence);

    if (!outVirtualAddress)
        return -EINVAL;
    *outVirtualAddress = NULL;
    if (!buffer)
        return -EINVAL;
    int result = check_lock(buffer, usage, rect);
    if (result == 0)
        result = waited;
    return result == 0 ? map(buffer, outVirtualAddress) : result;
}

int AHardwareBuffer_lockAndGetInfo(AHardwareBuffer *buffer, uint64_t usage, int32_t fence,
                                   const ARect *rect, void **outVirtualAddress,
                                   int32_t *outBytesPerPixel, int32_t *outBytesPerStride)
{
    int result = AHardwareBuffer_lock(buffer, usage, fence, rect, outVirtualAddress);

    if (result != 0)
        return result;
    const uint32_t pixel = bytes_per_pixel(buffer->layout.desc.format);
    if (outBytesPerPixel)
        *outBytesPerPixel = (int32_t) pixel;
    if (outBytesPerStride)
        *outBytesPerStride = (int32_t) (pixel * buffer->layout.desc.stride);
    return 0;
}

int AHardwareBuffer_unlock(AHardwareBuffer *buffer, int32_t *fence)
{
    int result = 0;

    if (fence)
        *fence = -1;
    if (!buffer)
        return -EINVAL;
    pthread_mutex_lock(&buffer->lock);
    if (!buffer->locks) {
        result = -EINVAL;
    } else if (--buffer->locks == 0) {
        munmap(buffer->address, (size_t) buffer->layout.size);
        buffer->address = NULL;
    }
    pthread_mutex_unlock(&buffer->lock);
    return result;
}

/* ---- sending */

/* What is sent beside the descriptor. */
struct message {
    uint64_t magic;
    AHardwareBuffer_Desc desc;
};
union control {
    char bytes[CMSG_SPACE(sizeof(int))];
    struct cmsghdr header;
};

int AHardwareBuffer_sendHandleToUnixSocket(const AHardwareBuffer *buffer, int socketFd)
{
    struct message m = { .magic = HARDWARE_BUFFER_MAGIC };
    union control c = { .bytes = "" };
    struct iovec part = { &m, sizeof m };
    struct msghdr h = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = c.bytes, .msg_controllen = sizeof c.bytes
    };
    ssize_t n;

    if (!buffer)
        return -EINVAL;
    m.desc = buffer->layout.desc;
    c.header = (struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof(int)),
                                 .cmsg_level = SOL_SOCKET,
                                 .cmsg_type = SCM_RIGHTS };
    memcpy(CMSG_DATA(&c.header), &buffer->layout.fd, sizeof(int));
    do
        n = sendmsg(socketFd, &h, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return -errno;
    return n == (ssize_t) sizeof m ? 0 : -EIO;
}

/* The descriptor of a message; -1: none. */
static int descriptor_in(struct msghdr *h)
{
    const struct cmsghdr *c = CMSG_FIRSTHDR(h);
    int fd = -1;

    if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
        c->cmsg_len == CMSG_LEN(sizeof(int)))
        memcpy(&fd, CMSG_DATA(c), sizeof fd);
    return fd;
}

/* Another process has sent it: the file must hold the buffer, now and later. */
static bool is_buffer(const struct message *m, uint64_t size, int fd)
{
    struct stat st;
    const int seals = fcntl(fd, F_GET_SEALS);

    return m->magic == HARDWARE_BUFFER_MAGIC && size && seals >= 0 && seals & F_SEAL_SHRINK &&
           fstat(fd, &st) == 0 && (uint64_t) st.st_size >= size;
}

int AHardwareBuffer_recvHandleFromUnixSocket(int socketFd, AHardwareBuffer **outBuffer)
{
    struct message m;
    union control c;
    struct iovec part = { &m, sizeof m };
    struct msghdr h = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = c.bytes, .msg_controllen = sizeof c.bytes
    };
    ssize_t n;

    if (!outBuffer)
        return -EINVAL;
    *outBuffer = NULL;
    do
        n = recvmsg(socketFd, &h, MSG_CMSG_CLOEXEC | MSG_WAITALL);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return -errno;
    const int fd = descriptor_in(&h);
    const uint64_t size = n == (ssize_t) sizeof m ? size_of(&m.desc) : 0;
    if (fd < 0)
        return -EBADMSG;
    if (n != (ssize_t) sizeof m || !is_buffer(&m, size, fd)) {
        close(fd);
        return -EBADMSG;
    }
    return buffer_new(&m.desc, size, fd, outBuffer);
}
