/* The begin of every AHardwareBuffer of libnativewindow.so, which libneuralnetworks.so reads. */
#ifndef RUNTIME_HARDWARE_BUFFER_LAYOUT_H
#define RUNTIME_HARDWARE_BUFFER_LAYOUT_H

#include "runtime/include/hardware_buffer.h"

/* Changes with this structure. */
#define HARDWARE_BUFFER_MAGIC UINT64_C(0x316675422d6c6148)

struct hardware_buffer_layout {
    uint64_t magic; /* HARDWARE_BUFFER_MAGIC; 0 after the last release */
    AHardwareBuffer_Desc desc;
    uint64_t size; /* bytes; of a BLOB desc.width */
    int fd;        /* a memfd of at least that size, which cannot shrink */
};

#endif
