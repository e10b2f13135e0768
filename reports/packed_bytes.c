#include "reports/packed_bytes.h"

#include <sqlite3.h>
#include <string.h>
#include <zstd.h>

enum { LONGEST = 1 << 29 };

bool bytes_are_packed(const void *bytes, size_t size)
{
    static const unsigned char magic[] = { 0x28, 0xb5, 0x2f, 0xfd };
    return size >= sizeof magic && !memcmp(bytes, magic, sizeof magic);
}

void *bytes_packed(const void *bytes, size_t size, int level, size_t *ret_size)
{
    const size_t room = ZSTD_compressBound(size);
    void *packed = sqlite3_malloc64(room);
    ZSTD_CCtx *context = ZSTD_createCCtx();
    bool ok = packed && context &&
              !ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level)) &&
              !ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1));
    if (ok)
        *ret_size = ZSTD_compress2(context, packed, room, bytes, size);
    ZSTD_freeCCtx(context);
    if (ok && !ZSTD_isError(*ret_size))
        return packed;
    sqlite3_free(packed);
    return NULL;
}

void *bytes_unpacked(const void *bytes, size_t size, size_t *ret_size)
{
    const unsigned long long length = ZSTD_getFrameContentSize(bytes, size);
    void *unpacked = length <= LONGEST ? sqlite3_malloc64(length + 1) : NULL; /* or it is unknown */
    if (!unpacked)
        return NULL;
    *ret_size = ZSTD_decompress(unpacked, length, bytes, size);
    if (*ret_size == length)
        return unpacked;
    sqlite3_free(unpacked);
    return NULL;
}
