#define _GNU_SOURCE
#include "runtime/memory/runtime_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "golden/base/arena.h"
#include "runtime/base/failure.h"
#include "runtime/nativewindow/hardware_buffer_layout.h"

#define LOG_TAG "Memory"

/* ---- creation */

/* Takes the descriptor, also where it fails. */
static int memory_new(const struct hal_memory *host, ANeuralNetworksMemory **ret)
{
    static atomic_uint_fast64_t last;
    ANeuralNetworksMemory *m = calloc(1, sizeof(*m));

    if (!m) {
        if (host->fd >= 0)
            close(host->fd);
        return FAIL(OUT_OF_MEMORY, "no memory for a memory object");
    }
    m->host = *host;
    m->number = atomic_fetch_add(&last, 1);
    pthread_mutex_init(&m->lock, NULL);
    *ret = m;
    return ANEURALNETWORKS_NO_ERROR;
}

static uint32_t hal_protection(int protection)
{
    return (protection & PROT_READ ? HAL_MEMORY_READ : 0u) |
           (protection & PROT_WRITE ? HAL_MEMORY_WRITE : 0u);
}

int memory_of_fd(size_t size, int protection, int fd, size_t offset, ANeuralNetworksMemory **ret)
{
    int own = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);

    if (own < 0)
        return FAIL(OP_FAILED, "descriptor %d: %s", fd, strerror(fd < 0 ? EBADF : errno));
    return memory_new(&(struct hal_memory){ .kind = HAL_MEMORY_FD,
                                            .protection = hal_protection(protection),
                                            .fd = own,
                                            .offset = offset,
                                            .size = size },
                      ret);
}

int memory_of_hardware_buffer(const AHardwareBuffer *buffer, ANeuralNetworksMemory **ret)
{
    const struct hardware_buffer_layout *l = (const struct hardware_buffer_layout *) buffer;

    if (l->magic != HARDWARE_BUFFER_MAGIC)
        return FAIL(BAD_DATA, "no AHardwareBuffer of libnativewindow.so");
    PASS(memory_of_fd((size_t) l->size, PROT_READ | PROT_WRITE, l->fd, 0, ret));
    (*ret)->host.kind = HAL_MEMORY_HARDWARE_BUFFER;
    (*ret)->is_opaque = l->desc.format != AHARDWAREBUFFER_FORMAT_BLOB;
    return ANEURALNETWORKS_NO_ERROR;
}

int memory_of_size(size_t size, ANeuralNetworksMemory **ret)
{
    int fd = memfd_create("nnapi", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    ANeuralNetworksMemory *m;
    uint8_t *address;

    /* Sealed, drivers need not check at every execution that the file is long enough. */
    if (fd < 0 || size > INT64_MAX || ftruncate(fd, (off_t) size) < 0 ||
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) < 0) {
        int error = errno;
        if (fd >= 0)
            close(fd);
        return FAIL(OUT_OF_MEMORY, "shared memory of %zu bytes: %s", size, strerror(error));
    }
    PASS(memory_new(&(struct hal_memory){ .kind = HAL_MEMORY_FD,
                                          .protection = HAL_MEMORY_READ | HAL_MEMORY_WRITE,
                                          .fd = fd,
                                          .size = size },
                    &m));
    if (memory_address(m, &address) != ANEURALNETWORKS_NO_ERROR) {
        memory_free(m);
        return ANEURALNETWORKS_OUT_OF_MEMORY;
    }
    *ret = m;
    return ANEURALNETWORKS_NO_ERROR;
}

/* ---- buffers of drivers */

static pthread_mutex_t buffer_lock = PTHREAD_MUTEX_INITIALIZER;
static struct described_memory *buffers; /* under the lock */

/* Whether the token is not that of another buffer of the driver. */
static bool add_buffer(struct described_memory *d)
{
    bool is_unique = true;

    pthread_mutex_lock(&buffer_lock);
    for (const struct described_memory *b = buffers; b && is_unique; b = b->next)
        is_unique = b->token != d->token || b->session != d->session;
    if (is_unique) {
        d->next = buffers;
        buffers = d;
    }
    pthread_mutex_unlock(&buffer_lock);
    return is_unique;
}

static void remove_buffer(const struct described_memory *d)
{
    struct described_memory **at = &buffers;

    pthread_mutex_lock(&buffer_lock);
    while (*at != d)
        at = &(*at)->next;
    *at = d->next;
    pthread_mutex_unlock(&buffer_lock);
    d->buffer->methods->release(d->buffer);
}

int memory_of_buffer(struct described_memory *d, ANeuralNetworksMemory **ret)
{
    ANeuralNetworksMemory *m;

    PASS(memory_new(&(struct hal_memory){ .fd = -1 }, &m));
    if (!add_buffer(d)) {
        memory_free(m);
        return FAIL(OP_FAILED, "the driver gives two buffers the token %u", d->token);
    }
    m->described = d;
    *ret = m;
    return ANEURALNETWORKS_NO_ERROR;
}

/* ---- watchers */

/* Of all lists, so that a watcher may end while its memory is freed. */
static pthread_mutex_t watch_lock = PTHREAD_MUTEX_INITIALIZER;

void memory_watch(ANeuralNetworksMemory *m, struct memory_watcher *w)
{
    pthread_mutex_lock(&watch_lock);
    w->memory = m;
    w->next = m->watchers;
    m->watchers = w;
    pthread_mutex_unlock(&watch_lock);
}

void memory_unwatch(struct memory_watcher *w)
{
    pthread_mutex_lock(&watch_lock);
    if (w->memory) {
        struct memory_watcher **at = &w->memory->watchers;
        while (*at != w)
            at = &(*at)->next;
        *at = w->next;
        w->memory = NULL;
    }
    pthread_mutex_unlock(&watch_lock);
}

void memory_free(ANeuralNetworksMemory *m)
{
    if (!m)
        return;
    pthread_mutex_lock(&watch_lock);
    for (struct memory_watcher *w = m->watchers, *next; w; w = next) {
        next = w->next;
        w->memory = NULL;
        w->freed(w, m);
    }
    pthread_mutex_unlock(&watch_lock);
    if (m->host.address)
        munmap(m->host.address, (size_t) m->host.size);
    if (m->host.fd >= 0)
        close(m->host.fd);
    pthread_mutex_destroy(&m->lock);
    if (m->described && m->described->buffer)
        remove_buffer(m->described);
    if (m->described)
        arena_free(m->described->arena);
    free(m);
}

/* ---- use */

/* Reading behind the end of a file would end the process. */
static bool fits_file(const struct hal_memory *h)
{
    struct stat st;

    if (fstat(h->fd, &st) < 0 || !S_ISREG(st.st_mode))
        return true; /* mmap() reports it, or a device decides */
    return h->offset <= (uint64_t) st.st_size && h->size <= (uint64_t) st.st_size - h->offset;
}

static int map(struct hal_memory *h)
{
    int protection = (h->protection & HAL_MEMORY_READ ? PROT_READ : 0) |
                     (h->protection & HAL_MEMORY_WRITE ? PROT_WRITE : 0);

    if (!fits_file(h))
        return FAIL(UNMAPPABLE, "%" PRIu64 " bytes at offset %" PRIu64 " exceed the file", h->size,
                    h->offset);
    void *address = mmap(NULL, (size_t) h->size, protection, MAP_SHARED, h->fd, (off_t) h->offset);
    if (address == MAP_FAILED)
        return FAIL(UNMAPPABLE, "%" PRIu64 " bytes at offset %" PRIu64 ": %s", h->size, h->offset,
                    strerror(errno));
    VLOG(MEMORY, "%" PRIu64 " bytes at offset %" PRIu64 " of descriptor %d are mapped", h->size,
         h->offset, h->fd);
    h->address = address;
    return ANEURALNETWORKS_NO_ERROR;
}

int memory_for_driver(ANeuralNetworksMemory *m, enum level level, struct hal_memory *ret)
{
    int result = ANEURALNETWORKS_NO_ERROR;

    if (m->is_opaque)
        return FAIL(UNMAPPABLE, "an AHardwareBuffer of another format than BLOB");
    if (m->described && m->described->buffer)
        return FAIL(UNMAPPABLE, "a buffer of a driver");
    pthread_mutex_lock(&m->lock);
    if (!m->host.address)
        result = map(&m->host);
    if (result == ANEURALNETWORKS_NO_ERROR)
        *ret = m->host;
    if (result == ANEURALNETWORKS_NO_ERROR && level < L3)
        ret->kind = HAL_MEMORY_FD;
    pthread_mutex_unlock(&m->lock);
    return result;
}

int memory_address(ANeuralNetworksMemory *m, uint8_t **ret_address)
{
    struct hal_memory mapped;

    PASS(memory_for_driver(m, L8, &mapped));
    *ret_address = mapped.address;
    return ANEURALNETWORKS_NO_ERROR;
}

int memory_check_range(const ANeuralNetworksMemory *m, size_t offset, size_t length)
{
    if (m->is_opaque)
        return FAIL(BAD_DATA, "an AHardwareBuffer of another format than BLOB has no parts");
    if (m->described)
        return FAIL(BAD_DATA, "a memory from a descriptor has no parts");
    if (offset == 0 && length == 0)
        return FAIL(BAD_DATA, "offset and length are 0");
    if (offset > m->host.size || length > m->host.size - offset)
        return FAIL(BAD_DATA, "%zu bytes at offset %zu of a memory of %" PRIu64 " bytes", length,
                    offset, m->host.size);
    return ANEURALNETWORKS_NO_ERROR;
}
