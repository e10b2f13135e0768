/* Preparing a model on a device. */
#ifndef RUNTIME_PREPARATION_H
#define RUNTIME_PREPARATION_H

#include "golden/base/arena.h"
#include "runtime/compile/attributes.h"
#include "runtime/devices/runtime_device.h"
#include "runtime/model/runtime_model.h"

struct cache_files {
    uint32_t n_model, n_data;
    int fd[2 * HAL_MAX_CACHE_FILES]; /* of the model files, then of the data files */
};

/* Where prepared models are cached: in files of a folder, or in those that the client has opened.
 */
struct cache_place {
    const uint8_t *token; /* the client's, ANEURALNETWORKS_BYTE_SIZE_OF_CACHE_TOKEN bytes; NULL: not
                             cached */
    const char *folder;   /* ends with '/'; NULL: in the files of `given` */
    const struct cache_files *given; /* open for reading and writing; they stay the client's */
    /* Which part of the client's model is prepared: model number (uint32_t) and operation index
     * (int32_t) of each operation, as bytes; none: the whole model. */
    const uint8_t *part;
    size_t part_length;
};

/* Arguments of a preparation besides the model.  A driver whose HAL version lacks one of them does
 * not get it. */
struct preparation {
    int32_t preference; /* PreferenceCode */
    int32_t priority;   /* PriorityCode */
    uint64_t timeout;   /* ns; 0: none */
    const struct attributes *attributes;
    struct cache_place cache;
};
/* Fast single answer, default priority, nothing else. */
extern const struct preparation plain_preparation;

/* Prepares a model that the device's level represents, whose constants by reference are in `pool`
 * (NULL: it has none), or restores it from the cache, and waits for the result.  A cache that
 * cannot be used is no failure.  *ret_prepared: the caller releases it; untouched on failure.
 * Results: that of the driver's status, ANEURALNETWORKS_UNMAPPABLE, ANEURALNETWORKS_OUT_OF_MEMORY;
 * never BAD_DATA of the reference executor: the model was found valid, so that what it cannot
 * prepare is not the client's fault. */
int prepare_on_device(const ANeuralNetworksDevice *d, const struct model *m,
                      ANeuralNetworksMemory *const *pool, const struct preparation *how,
                      struct hal_prepared_model **ret_prepared);

#endif
