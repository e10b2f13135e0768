#define _GNU_SOURCE
#include "sim/wire/ring.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "golden/base/clock.h"
#include "sim/wire/wire.h"

/* Members that different sides write are in different cache lines:
 *
 *     0  written, changes, rung, processor    by the writer (rung, changes: by both)
 *    64  read, sleeps                         by the reader
 *   128  datums
 */
struct ring_memory {
    _Alignas(64) atomic_uint_least64_t written; /* datums written so far */
    atomic_uint changes;                        /* futex: incremented by writes and the bell */
    atomic_uint rung;                           /* how often the bell was rung */
    atomic_int processor;                       /* 1 + the processor of the last write */
    _Alignas(64) atomic_uint_least64_t read;    /* datums read so far */
    atomic_uint sleeps;                         /* whether the reader has to be woken */
    _Alignas(64) uint8_t datums[];
};

enum { SLEEP_NS = 100000000 }; /* interval of checks whether the peer has hung up */

/* ---- the memory */

static size_t size_of(uint32_t length, uint32_t datum_size)
{
    return sizeof(struct ring_memory) + (size_t) length * datum_size;
}

static struct ring ring_of(void *memory, uint32_t length, uint32_t datum_size)
{
    return (struct ring){ .memory = memory,
                          .size = size_of(length, datum_size),
                          .length = length,
                          .datum_size = datum_size };
}

int ring_make(uint32_t length, uint32_t datum_size, int *ret_fd, struct ring *ret_ring,
              struct why *w)
{
    void *memory;

    REQUIRE(w, length && length <= RING_LENGTH_MAX, "a queue of %u datums, expected 1 to %d",
            length, RING_LENGTH_MAX);
    TRY(wire_memory(size_of(length, datum_size), ret_fd, &memory, w));
    *ret_ring = ring_of(memory, length, datum_size);
    return 0;
}

int ring_open(int fd, uint32_t length, uint32_t datum_size, struct ring *ret_ring, struct why *w)
{
    size_t size = size_of(length, datum_size);
    struct stat st;
    void *memory;

    REQUIRE(w, length && length <= RING_LENGTH_MAX, "a queue of %u datums, expected 1 to %d",
            length, RING_LENGTH_MAX);
    REQUIRE(w, fd >= 0 && fstat(fd, &st) == 0 && st.st_size >= 0 && (size_t) st.st_size >= size,
            "the memory file of a queue is missing or shorter than %zu bytes", size);
    REQUIRE(w, wire_is_sealed(fd, F_SEAL_SHRINK),
            "the memory file of a queue is not sealed against shrinking");
    memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED)
        return why_fail(w, WHY_MEMORY, "the memory file of a queue cannot be mapped: %s",
                        strerror(errno));
    *ret_ring = ring_of(memory, length, datum_size);
    return 0;
}

void ring_close(struct ring *r)
{
    if (r->memory)
        munmap(r->memory, r->size);
    *r = (struct ring){ .memory = NULL };
}

/* ---- writing and reading */

/* Counts a change and wakes the reader.  The reader sets `sleeps` before it compares `changes`, so
 * either it sees the change or we see that it sleeps. */
static void wake_reader(struct ring_memory *m)
{
    atomic_fetch_add(&m->changes, 1);
    if (atomic_load(&m->sleeps))
        syscall(SYS_futex, &m->changes, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

int ring_write(struct ring *r, const void *datums, uint32_t n)
{
    struct ring_memory *m = r->memory;
    uint64_t used = r->position - atomic_load_explicit(&m->read, memory_order_acquire);
    uint32_t at = (uint32_t) (r->position % r->length);
    uint32_t first = n < r->length - at ? n : r->length - at;

    if (used > r->length || n > r->length - used)
        return -1;
    memcpy(m->datums + (size_t) at * r->datum_size, datums, (size_t) first * r->datum_size);
    memcpy(m->datums, (const uint8_t *) datums + (size_t) first * r->datum_size,
           (size_t) (n - first) * r->datum_size);
    r->position += n;
    atomic_store_explicit(&m->processor, spin_processor(), memory_order_relaxed);
    atomic_store_explicit(&m->written, r->position, memory_order_release);
    wake_reader(m);
    return 0;
}

uint32_t ring_read(struct ring *r, void *datums)
{
    struct ring_memory *m = r->memory;
    uint64_t written = atomic_load_explicit(&m->written, memory_order_acquire);
    uint32_t n = written - r->position <= r->length ? (uint32_t) (written - r->position) : 0;
    uint32_t at = (uint32_t) (r->position % r->length);
    uint32_t first = n < r->length - at ? n : r->length - at;

    memcpy(datums, m->datums + (size_t) at * r->datum_size, (size_t) first * r->datum_size);
    memcpy((uint8_t *) datums + (size_t) first * r->datum_size, m->datums,
           (size_t) (n - first) * r->datum_size);
    r->position = written;
    atomic_store_explicit(&m->read, written, memory_order_release);
    return n;
}

void ring_bell(struct ring *r)
{
    atomic_fetch_add(&r->memory->rung, 1);
    wake_reader(r->memory);
}

/* ---- waiting */

struct news {
    const struct ring_memory *memory;
    unsigned seen;
};

static bool has_changed(void *user)
{
    const struct news *n = user;

    return atomic_load_explicit(&n->memory->changes, memory_order_relaxed) != n->seen;
}

static void sleep_on(struct ring_memory *m, unsigned seen, uint64_t ns)
{
    struct timespec t = { 0, (long) (ns < SLEEP_NS ? ns : SLEEP_NS) };

    atomic_store(&m->sleeps, 1);
    if (atomic_load(&m->changes) == seen)
        syscall(SYS_futex, &m->changes, FUTEX_WAIT, seen, &t, NULL, 0);
    atomic_store(&m->sleeps, 0);
}

static bool has_hung_up(int socket)
{
    struct pollfd p = { .fd = socket };

    return poll(&p, 1, 0) != 0 && p.revents & (POLLHUP | POLLERR | POLLNVAL);
}

/* Checks once: 1 and 0 as ring_wait(), -1: neither. */
static int look(struct ring *r)
{
    struct ring_memory *m = r->memory;
    uint32_t rung;

    if (atomic_load_explicit(&m->written, memory_order_acquire) != r->position)
        return 1;
    rung = atomic_load(&m->rung);
    if (rung == r->rung)
        return -1;
    r->rung = rung;
    return 0;
}

int ring_wait(struct ring *r, int socket, uint64_t ns)
{
    struct ring_memory *m = r->memory;
    unsigned seen = atomic_load(&m->changes);
    uint64_t begin, end;
    int found = look(r);

    if (found >= 0)
        return found;
    begin = clock_steady_ns();
    end = ns < UINT64_MAX - begin ? begin + ns : UINT64_MAX;
    r->spin.other = atomic_load_explicit(&m->processor, memory_order_relaxed);
    spin_until(&r->spin, has_changed, &(struct news){ m, seen });
    for (;;) {
        uint64_t now = clock_steady_ns();
        seen = atomic_load(&m->changes);
        found = look(r);
        if (found >= 0)
            break;
        if (now - begin >= SLEEP_NS && has_hung_up(socket))
            return -1;
        if (now >= end)
            break;
        sleep_on(m, seen, end - now);
    }
    return found > 0;
}
