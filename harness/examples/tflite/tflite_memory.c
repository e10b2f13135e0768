#include "tflite_memory.h"

#include <sys/mman.h>
#include <sys/stat.h>

bool map_memory(const struct hal_memory *h, struct mapping *ret)
{
    struct stat st;

    *ret = (struct mapping){ h->address, h->size, h->protection & HAL_MEMORY_WRITE, false };
    if (h->address || h->kind == HAL_MEMORY_ADDRESS)
        return h->address && h->size;
    if (fstat(h->fd, &st) < 0 || !h->size || h->offset > (uint64_t) st.st_size ||
        h->size > (uint64_t) st.st_size - h->offset)
        return false;
    ret->address = mmap(NULL, h->size, ret->is_writable ? PROT_READ | PROT_WRITE : PROT_READ,
                        MAP_SHARED, h->fd, (off_t) h->offset);
    return ret->is_mapped = ret->address != MAP_FAILED;
}

void unmap_memory(struct mapping *m, uint32_t n)
{
    for (uint32_t i = 0; m && i < n; i++)
        if (m[i].is_mapped)
            munmap(m[i].address, m[i].size);
}

uint8_t *bytes_at(const struct mapping *m, const struct hal_location *l)
{
    return l->offset <= m->size && l->length <= m->size - l->offset ? m->address + l->offset : NULL;
}
