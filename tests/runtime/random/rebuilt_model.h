/* Models of golden/, built again with the functions of the C API as an application would do it. */
#ifndef TESTS_REBUILT_MODEL_H
#define TESTS_REBUILT_MODEL_H

#include "golden/model/model.h"
#include "runtime/include/NeuralNetworks.h"

struct rebuilt_model {
    uint32_t n; /* graphs */
    /* [0]: the main model; the others are those that IF and WHILE refer to.  NULL: not referred to.
     */
    ANeuralNetworksModel **graph;
    ANeuralNetworksMemory **pool; /* of the model's pools */
    uint32_t n_pools;
};

/* Builds and finishes a valid model, which must outlive *ret: values are given by pointer, those in
 * pools by memory of a descriptor.  -1 with the call that has failed, and its result, in *w. */
int rebuilt_model_make(const struct model *m, struct rebuilt_model *ret, struct why *w);
void rebuilt_model_done(struct rebuilt_model *m);

/* Memory of a descriptor, of `size` bytes (> 0) that begin with the n ones at `from` (NULL: none),
 * mapped at *ret_address, which the caller unmaps.  NULL: it cannot be made. */
ANeuralNetworksMemory *test_memory(const void *from, size_t n, size_t size, void **ret_address);

#endif
