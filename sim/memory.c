#include "sim/memory.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int map_descriptor(const struct hal_memory *m, bool write, struct mapping *ret_mapping,
                          struct why *w)
{
    struct stat st;
    uint64_t page = (uint64_t) sysconf(_SC_PAGESIZE);
    int protection = PROT_READ | (write ? PROT_WRITE : 0);

    REQUIRE(w, m->offset % page == 0,
            "memory: offset %" PRIu64 " is not a multiple of the page size", m->offset);
    if (fstat(m->fd, &st) < 0)
        return why_fail(w, WHY_INVALID, "memory: descriptor %d: %s", m->fd, strerror(errno));
    REQUIRE(w,
            st.st_size >= 0 && m->offset <= (uint64_t) st.st_size &&
                m->size <= (uint64_t) st.st_size - m->offset,
            "memory: %" PRIu64 " bytes from %" PRIu64 " lie outside a file of %lld", m->size,
            m->offset, (long long) st.st_size);
    void *address = mmap(NULL, (size_t) m->size, protection, MAP_SHARED, m->fd, (off_t) m->offset);
    if (address == MAP_FAILED)
        return why_fail(w, WHY_SYSTEM, "memory: descriptor %d cannot be mapped: %s", m->fd,
                        strerror(errno));
    *ret_mapping = (struct mapping){ .address = address, .size = m->size, .mapped = true };
    return 0;
}

int memory_map(const struct hal_memory *m, bool write, struct mapping *ret_mapping, struct why *w)
{
    REQUIRE(w, m->size > 0 && m->size <= SIZE_MAX / 2, "memory: size %" PRIu64, m->size);
    REQUIRE(w, m->protection & HAL_MEMORY_READ, "memory: not readable");
    REQUIRE(w, !write || m->protection & HAL_MEMORY_WRITE, "memory: not writable");
    switch (m->kind) {
    case HAL_MEMORY_ADDRESS:
        REQUIRE(w, m->address, "memory: no address");
        *ret_mapping = (struct mapping){ .address = m->address, .size = m->size };
        return 0;
    case HAL_MEMORY_FD:
    case HAL_MEMORY_HARDWARE_BUFFER: return map_descriptor(m, write, ret_mapping, w);
    }
    return why_fail(w, WHY_INVALID, "memory: kind %d", (int) m->kind);
}

void memory_unmap(struct mapping *mapping)
{
    if (mapping->mapped)
        munmap(mapping->address, (size_t) mapping->size);
    *mapping = (struct mapping){ 0 };
}

bool mapping_holds(const struct mapping *mapping, uint64_t offset, uint64_t length)
{
    return offset <= mapping->size && length <= mapping->size - offset;
}
