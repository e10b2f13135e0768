/* Compilation caching by folder: the token and the files that a driver gets with a preparation. */
#ifndef RUNTIME_CACHING_H
#define RUNTIME_CACHING_H

#include "runtime/compile/preparation.h"

/* The driver's token for what `how` prepares on the device: of everything but the model itself that
 * the result depends on.  False: nothing is to be cached, because no folder is given, the device
 * needs no cache files, no device knows an attribute, or memory is lacking. */
bool cache_token(const ANeuralNetworksDevice *d, const struct preparation *how,
                 uint8_t ret_token[HAL_TOKEN_BYTES]);

struct cache_files {
    uint32_t n;
    int fd[2 * HAL_MAX_CACHE_FILES]; /* of the model files, then of the data files */
};
/* Opens the device's files of that token in the folder, whose path ends with '/', for reading and
 * writing; missing ones are created (empty, for this user only) or are a failure.  All or none.
 * *ret_cache: the files are added, which stay in *ret. */
bool cache_files_open(const ANeuralNetworksDevice *d, const char *folder,
                      const uint8_t token[HAL_TOKEN_BYTES], bool create, struct cache_files *ret,
                      struct hal_cache *ret_cache);
void cache_files_close(struct cache_files *f);

#endif
