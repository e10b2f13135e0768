/* AHardwareBuffer: memory that processes and devices share, as libnativewindow.so has it on
 * Android.
 *
 * On this platform a buffer is linear memory in a memfd.  Format BLOB, a row of bytes, is what
 * NNAPI takes as constants, inputs and outputs (ANeuralNetworksMemory_createFromAHardwareBuffer()).
 * Other linear formats exist for tests of programs that must not take them.  Planar formats, and
 * buffers without CPU access, do not exist.
 *
 * Functions that return an int return 0, or a negative errno: -EINVAL for wrong arguments, -ENOMEM,
 * or what a system call reports.  Any thread may call them. */
#ifndef RUNTIME_HARDWARE_BUFFER_H
#define RUNTIME_HARDWARE_BUFFER_H

#include "NeuralNetworksTypes.h"

__BEGIN_DECLS

enum AHardwareBuffer_Format {
    AHARDWAREBUFFER_FORMAT_R8G8B8A8_UNORM = 1,
    AHARDWAREBUFFER_FORMAT_R8G8B8X8_UNORM = 2,
    AHARDWAREBUFFER_FORMAT_R8G8B8_UNORM = 3,
    AHARDWAREBUFFER_FORMAT_R5G6B5_UNORM = 4,
    AHARDWAREBUFFER_FORMAT_R16G16B16A16_FLOAT = 0x16,
    AHARDWAREBUFFER_FORMAT_BLOB = 0x21, /* width bytes; height and layers 1 */
    AHARDWAREBUFFER_FORMAT_R10G10B10A2_UNORM = 0x2b,
    AHARDWAREBUFFER_FORMAT_R8_UNORM = 0x38
};

/* The CPU usages; further bits (of GPU, camera, video, and vendors' ones) are accepted and have no
 * effect, except PROTECTED_CONTENT, which is not supported. */
enum AHardwareBuffer_UsageFlags {
    AHARDWAREBUFFER_USAGE_CPU_READ_NEVER = 0,
    AHARDWAREBUFFER_USAGE_CPU_READ_RARELY = 2,
    AHARDWAREBUFFER_USAGE_CPU_READ_OFTEN = 3,
    AHARDWAREBUFFER_USAGE_CPU_READ_MASK = 0xf,
    AHARDWAREBUFFER_USAGE_CPU_WRITE_NEVER = 0,
    AHARDWAREBUFFER_USAGE_CPU_WRITE_RARELY = 0x20,
    AHARDWAREBUFFER_USAGE_CPU_WRITE_OFTEN = 0x30,
    AHARDWAREBUFFER_USAGE_CPU_WRITE_MASK = 0xf0,
    AHARDWAREBUFFER_USAGE_PROTECTED_CONTENT = 0x4000,
    AHARDWAREBUFFER_USAGE_GPU_DATA_BUFFER = 0x1000000
};

typedef struct AHardwareBuffer_Desc {
    uint32_t width, height; /* pixels; of a BLOB bytes and 1 */
    uint32_t layers;        /* images, one behind the other */
    uint32_t format;        /* AHardwareBuffer_Format */
    uint64_t usage;         /* AHardwareBuffer_UsageFlags */
    uint32_t stride;        /* pixels from row to row; not read by allocate() */
    uint32_t rfu0;          /* both 0 */
    uint64_t rfu1;
} AHardwareBuffer_Desc;

/* A part of an image in pixels: left and top belong to it, right and bottom do not. */
typedef struct ARect {
    int32_t left, top, right, bottom;
} ARect;

/* A buffer of zeros with one reference.  On failure *outBuffer is NULL. */
int AHardwareBuffer_allocate(const AHardwareBuffer_Desc *desc, AHardwareBuffer **outBuffer);
/* One more reference, which release() ends; the last one frees the buffer.  What was made from it
 * with NNAPI stays valid. */
void AHardwareBuffer_acquire(AHardwareBuffer *buffer);
void AHardwareBuffer_release(AHardwareBuffer *buffer);
void AHardwareBuffer_describe(const AHardwareBuffer *buffer, AHardwareBuffer_Desc *outDesc);
/* 1: allocate() would not refuse such a buffer. */
int AHardwareBuffer_isSupported(const AHardwareBuffer_Desc *desc);
/* A number that no other buffer of the machine has, and the same in every process. */
int AHardwareBuffer_getId(const AHardwareBuffer *buffer, uint64_t *outId);

/* Maps the buffer until unlock().  usage: CPU bits only, for access that the buffer was allocated
 * with.  fence: a descriptor that is waited for and closed, also on failure; negative: none.
 * rect, if not NULL: what will be accessed; *outVirtualAddress is that of the whole buffer. */
int AHardwareBuffer_lock(AHardwareBuffer *buffer, uint64_t usage, int32_t fence, const ARect *rect,
                         void **outVirtualAddress);
/* The same with bytes from pixel to pixel and from row to row, each if not NULL. */
int AHardwareBuffer_lockAndGetInfo(AHardwareBuffer *buffer, uint64_t usage, int32_t fence,
                                   const ARect *rect, void **outVirtualAddress,
                                   int32_t *outBytesPerPixel, int32_t *outBytesPerStride);
/* Once for each lock.  *fence, if not NULL: -1, the writes are visible. */
int AHardwareBuffer_unlock(AHardwareBuffer *buffer, int32_t *fence);

/* Sends the buffer through a connected Unix socket; the other side gets one of its own over the
 * same memory.  What recv() reads must have been sent by this library. */
int AHardwareBuffer_sendHandleToUnixSocket(const AHardwareBuffer *buffer, int socketFd);
int AHardwareBuffer_recvHandleFromUnixSocket(int socketFd, AHardwareBuffer **outBuffer);

__END_DECLS

#endif
