#define _GNU_SOURCE
#include "sim/base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "golden/base/logging.h"
#include "sim/base/caller.h"
#include "sim/base/process_quota.h"

#define LOG_TAG "Memory"

/* ---- files that shrink */

/* Address ranges of mapped files, for the signal handler; begin 0: a free entry.  Without a free
 * one no file can be mapped. */
static struct watched {
    atomic_uintptr_t begin, end;
} watched[MEMORY_MAX_MAPPED];
static atomic_bool is_watching;
static atomic_uint watched_most; /* entries that have ever been used */
static atomic_uint watched_next; /* where the search for a free entry starts */
static uintptr_t page_size;

static bool is_watched(uintptr_t at)
{
    unsigned most = atomic_load(&watched_most);

    for (unsigned i = 0; i < most; i++) {
        uintptr_t begin = atomic_load(&watched[i].begin);
        if (begin && begin <= at && at < atomic_load(&watched[i].end))
            return true;
    }
    return false;
}

/* Maps a page of zeros over a lost page of a watched range; any other SIGBUS kills the process. */
static void on_bus_error(int number, siginfo_t *info, void *context)
{
    uintptr_t at = (uintptr_t) info->si_addr / page_size * page_size;
    int before = errno;

    (void) context;
    if (!is_watched(at) || mmap((void *) at, page_size, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
        signal(number, SIG_DFL); /* the access is repeated and kills the process */
    errno = before;
}

int memory_survive_truncation(struct why *w)
{
    struct sigaction action = { .sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO };

    page_size = (uintptr_t) sysconf(_SC_PAGESIZE);
    if (sigaction(SIGBUS, &action, NULL) < 0)
        return why_fail(w, WHY_SYSTEM, "sigaction(SIGBUS): %s", strerror(errno));
    atomic_store(&is_watching, true);
    return 0;
}

static bool watch(void *address, uint64_t size, uint32_t *ret_place)
{
    uintptr_t begin = (uintptr_t) address;
    unsigned first = atomic_load(&watched_next);

    for (unsigned n = 0; n < MEMORY_MAX_MAPPED; n++) {
        unsigned i = (first + n) % MEMORY_MAX_MAPPED;
        uintptr_t none = 0;
        if (atomic_load(&watched[i].begin) ||
            !atomic_compare_exchange_strong(&watched[i].begin, &none, begin))
            continue;
        atomic_store(&watched[i].end, begin + (uintptr_t) size);
        unsigned most = atomic_load(&watched_most);
        while (most <= i && !atomic_compare_exchange_weak(&watched_most, &most, i + 1))
            ;
        atomic_store(&watched_next, i + 1);
        *ret_place = i;
        return true;
    }
    return false;
}

static void unwatch(uint32_t place)
{
    atomic_store(&watched[place].end, 0);
    atomic_store(&watched[place].begin, 0);
    atomic_store(&watched_next, place);
}

/* ---- mapping */

/* Maps a file that is long enough and charges it to the calling client. */
static int map_file(const struct hal_memory *m, bool write, struct mapping *ret_mapping,
                    struct why *w)
{
    struct mapping mapping = { .size = m->size, .mapped = true, .client = caller_client() };
    int protection = PROT_READ | (write ? PROT_WRITE : 0);

    if (!process_quota_charge(QUOTA_MAPPINGS, mapping.client, 1))
        return why_fail(w, WHY_MEMORY, "memory: too many mappings");
    void *address = mmap(NULL, (size_t) m->size, protection, MAP_SHARED, m->fd, (off_t) m->offset);
    int rc =
        address == MAP_FAILED ? why_fail(w, WHY_SYSTEM, "memory: mmap: %s", strerror(errno)) : 0;
    mapping.address = address;
    if (rc == 0 && atomic_load(&is_watching) && !watch(address, m->size, &mapping.place)) {
        munmap(address, (size_t) m->size);
        rc = why_fail(w, WHY_MEMORY, "memory: too many mappings");
    }
    if (rc < 0)
        process_quota_release(QUOTA_MAPPINGS, mapping.client, 1);
    else
        *ret_mapping = mapping;
    return rc;
}

static int map_descriptor(const struct hal_memory *m, bool write, struct mapping *ret_mapping,
                          struct why *w)
{
    struct stat st;
    uint64_t page = (uint64_t) sysconf(_SC_PAGESIZE);

    REQUIRE(w, m->offset % page == 0,
            "memory: offset %" PRIu64 " is not a multiple of the page size", m->offset);
    if (fstat(m->fd, &st) < 0)
        return why_fail(w, WHY_INVALID, "memory: descriptor %d: %s", m->fd, strerror(errno));
    REQUIRE(w,
            st.st_size >= 0 && m->offset <= (uint64_t) st.st_size &&
                m->size <= (uint64_t) st.st_size - m->offset,
            "memory: %" PRIu64 " bytes at offset %" PRIu64 " exceed a file of %lld bytes", m->size,
            m->offset, (long long) st.st_size);
    if (map_file(m, write, ret_mapping, w) < 0)
        return why_prefix(w, "descriptor %d", m->fd);
    VLOG(MEMORY, "descriptor %d: %" PRIu64 " bytes at offset %" PRIu64 " mapped at %p%s", m->fd,
         m->size, m->offset, (void *) ret_mapping->address, write ? ", writable" : "");
    return 0;
}

bool memory_is_plain(const struct hal_memory *m)
{
    return m->kind == HAL_MEMORY_ADDRESS && m->address;
}

int memory_check(const struct hal_memory *m, bool write, struct why *w)
{
    REQUIRE(w, m->size > 0 && m->size <= SIZE_MAX / 2, "memory: invalid size %" PRIu64, m->size);
    REQUIRE(w, m->protection & HAL_MEMORY_READ, "memory: not readable");
    REQUIRE(w, !write || m->protection & HAL_MEMORY_WRITE, "memory: not writable");
    REQUIRE(w, (unsigned) m->kind <= HAL_MEMORY_HARDWARE_BUFFER, "memory: unknown kind %d",
            (int) m->kind);
    REQUIRE(w, m->address || m->kind != HAL_MEMORY_ADDRESS, "memory: no address");
    return 0;
}

int memory_map(const struct hal_memory *m, bool write, struct mapping *ret_mapping, struct why *w)
{
    TRY(memory_check(m, write, w));
    if (!m->address)
        return map_descriptor(m, write, ret_mapping, w);
    *ret_mapping = (struct mapping){ .address = m->address, .size = m->size };
    return 0;
}

void memory_unmap(struct mapping *mapping)
{
    if (mapping->mapped) {
        if (atomic_load(&is_watching))
            unwatch(mapping->place);
        munmap(mapping->address, (size_t) mapping->size);
        process_quota_release(QUOTA_MAPPINGS, mapping->client, 1);
        VLOG(MEMORY, "%" PRIu64 " bytes at %p unmapped", mapping->size, (void *) mapping->address);
    }
    *mapping = (struct mapping){ 0 };
}

int memory_identify(const struct hal_memory *m, struct memory_identity *ret_identity)
{
    struct stat st;

    if (m->kind == HAL_MEMORY_ADDRESS || fstat(m->fd, &st) < 0 || st.st_size < 0 ||
        m->offset > (uint64_t) st.st_size || m->size > (uint64_t) st.st_size - m->offset)
        return -1;
    *ret_identity = (struct memory_identity){ .device = (uint64_t) st.st_dev,
                                              .inode = (uint64_t) st.st_ino,
                                              .offset = m->offset,
                                              .size = m->size,
                                              .kind = (uint32_t) m->kind,
                                              .protection = m->protection,
                                              .fd = m->fd };
    return 0;
}

void memory_check_seals(struct memory_identity *identity)
{
    int seals = fcntl(identity->fd, F_GET_SEALS);

    identity->is_sealed = seals >= 0 && seals & F_SEAL_SHRINK;
}

bool memory_is_known(const struct memory_identity *is, const struct hal_memory *m)
{
    return is->is_sealed && is->fd == m->fd && is->kind == (uint32_t) m->kind &&
           is->offset == m->offset && is->size == m->size && is->protection == m->protection;
}

bool memory_is_same(const struct memory_identity *a, const struct memory_identity *b)
{
    return a->device == b->device && a->inode == b->inode && a->offset == b->offset &&
           a->size == b->size && a->kind == b->kind && a->protection == b->protection;
}

bool mapping_contains(const struct mapping *mapping, uint64_t offset, uint64_t length)
{
    return offset <= mapping->size && length <= mapping->size - offset;
}
