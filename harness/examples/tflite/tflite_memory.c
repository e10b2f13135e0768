#include "tflite_memory.h"

#include <sys/mman.h>
#include <sys/stat.h>

bool map_memory(const struct hal_memory *h, struct mapping *ret)
{
    const int protection = h->protection & HAL_MEMORY_WRITE ? PROT_READ | PROT_WRITE : PROT_READ;
    struct stat st;

    *ret = (struct mapping){ h->address, h->size, false };
    if (h->address)
        return true;
    if (fstat(h->fd, &st) < 0 || h->offset > (uint64_t) st.st_size ||
        h->size > (uint64_t) st.st_size - h->offset)
        return false;
    ret->address = mmap(NULL, h->size, protection, MAP_SHARED, h->fd, (off_t) h->offset);
    return ret->is_mapped = ret->address != MAP_FAILED;
}

void unmap_memory(struct mapping *m, uint32_t n)
{
    for (uint32_t i = 0; m && i < n; i++)
        if (m[i].is_mapped)
            munmap(m[i].address, m[i].size);
}
