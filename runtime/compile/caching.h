/* Compilation caching: the token and the files that a driver gets with a preparation.  The files
 * are of a folder, with names that follow from the token, or descriptors of the client. */
#ifndef RUNTIME_CACHING_H
#define RUNTIME_CACHING_H

#include "runtime/compile/preparation.h"

/* The driver's token for what `how` prepares on the device: of everything but the model itself that
 * the result depends on.  False: nothing is to be cached, because the place has no token, the
 * device needs no cache files, no device knows an attribute, or memory is lacking. */
bool cache_token(const ANeuralNetworksDevice *d, const struct preparation *how,
                 uint8_t ret_token[HAL_TOKEN_BYTES]);

/* Opens the device's files of that token for reading and writing, all or none.  In a folder missing
 * ones are created (empty, for this user only) or are a failure.  Given descriptors are duplicated,
 * at the begin of their files; other numbers of them than the device needs are a failure, which
 * is logged with `create`.  *ret_cache: the files are added, which stay in *ret. */
bool cache_files_open(const ANeuralNetworksDevice *d, const struct cache_place *place,
                      const uint8_t token[HAL_TOKEN_BYTES], bool create, struct cache_files *ret,
                      struct hal_cache *ret_cache);
/* Duplicates descriptors; false: one of them is none, or there are too many. */
bool cache_files_copy(const struct cache_files *f, struct cache_files *ret);
void cache_files_close(struct cache_files *f);

#endif
