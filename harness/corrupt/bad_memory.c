#include "harness/corrupt/bad_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include "harness/conform/must.h"

static void no_descriptor(struct hal_memory *m)
{
    m->kind = HAL_MEMORY_FD;
    m->address = NULL;
}

static void no_address(struct hal_memory *m)
{
    m->address = NULL;
}

static void no_kind(struct hal_memory *m)
{
    m->kind = (enum hal_memory_kind) 7;
}

static void no_bytes(struct hal_memory *m)
{
    m->size = 0;
}

static void huge_size(struct hal_memory *m)
{
    m->size = UINT64_MAX;
}

static void no_access(struct hal_memory *m)
{
    m->protection = 0;
}

/* A file of `length` bytes, and the memory in it, from `offset` on. */
static void in_file(struct hal_memory *m, uint64_t length, uint64_t offset)
{
    static int fd = -1;

    if (fd < 0)
        fd = memfd_create("memory", MFD_CLOEXEC);
    conform_must(fd >= 0 && ftruncate(fd, (off_t) length) == 0, "memfd_create fails");
    m->kind = HAL_MEMORY_FD;
    m->address = NULL;
    m->fd = fd;
    m->offset = offset;
}

static uint64_t page(void)
{
    return (uint64_t) sysconf(_SC_PAGESIZE);
}

static void longer_than_file(struct hal_memory *m)
{
    in_file(m, m->size - 1, 0);
}

static void in_empty_file(struct hal_memory *m)
{
    in_file(m, 0, 0);
}

static void behind_file(struct hal_memory *m)
{
    in_file(m, page(), page());
}

static void huge_offset(struct hal_memory *m)
{
    in_file(m, m->size, UINT64_MAX / page() * page());
}

static void huge_size_of_file(struct hal_memory *m)
{
    in_file(m, m->size, 0);
    m->size = UINT64_MAX;
}

const struct bad_memory bad_memories[] = {
    { "memory without a descriptor", no_descriptor },
    { "memory without an address", no_address },
    { "memory of an unknown kind", no_kind },
    { "memory without bytes", no_bytes },
    { "memory of size 2^64 - 1", huge_size },
    { "memory without access", no_access },
    { "memory longer than its file", longer_than_file },
    { "memory in an empty file", in_empty_file },
    { "memory after the end of its file", behind_file },
    { "a file at an offset near 2^64", huge_offset },
    { "a file of size 2^64 - 1", huge_size_of_file },
};
const int n_bad_memories = sizeof bad_memories / sizeof *bad_memories;
