/* Memory descriptors of the C API: the uses of a memory, from which a device chooses how it is
 * stored; and copies between memories. */
#ifndef RUNTIME_MEMORY_DESC_H
#define RUNTIME_MEMORY_DESC_H

#include "runtime/memory/runtime_memory.h"

struct ANeuralNetworksMemoryDesc {
    bool is_finished;
    /* Type, quantisation and extension data of the first role's operand, with the shape that all
     * roles and setDimensions() declare together; without data. */
    struct tensor operand;
    int32_t foreign; /* its type code, where dtype is DT_FOREIGN */
    uint32_t n_roles;
    struct memory_role *role;
    float *frequency; /* of each role */
};

/* Each is the function of the C API with its name; out-pointers are set to NULL by the caller. */
int memory_desc_create(ANeuralNetworksMemoryDesc **ret);
void memory_desc_free(ANeuralNetworksMemoryDesc *d);
int memory_desc_add_role(ANeuralNetworksMemoryDesc *d, const ANeuralNetworksCompilation *c,
                         bool is_output, uint32_t index, float frequency);
int memory_desc_set_dimensions(ANeuralNetworksMemoryDesc *d, uint32_t rank,
                               const uint32_t *dimensions);
int memory_desc_finish(ANeuralNetworksMemoryDesc *d);
int memory_create_from_desc(const ANeuralNetworksMemoryDesc *d, ANeuralNetworksMemory **ret);
int memory_copy(ANeuralNetworksMemory *from, ANeuralNetworksMemory *to);

/* Adds to *to what `from` declares: rank and dimensions that are unknown in *to.  False: they
 * contradict each other, *to is untouched. */
bool shape_merge(struct shape *to, const struct shape *from);

/* Whether a memory from a descriptor has contents, and their shape. */
bool described_contents(ANeuralNetworksMemory *m, struct shape *ret_shape);
/* It has contents of that shape; NULL: none any more. */
void described_set_contents(ANeuralNetworksMemory *m, const struct shape *shape);

/* Host memory of the size of contents with that shape: BAD_DATA where it is not known.  The caller
 * frees it. */
int described_host(const struct described_memory *d, const struct shape *shape,
                   ANeuralNetworksMemory **ret);
/* Copies the contents of a driver's buffer to host memory of their size, and back. */
int described_read(const struct described_memory *from, ANeuralNetworksMemory *to);
int described_write(ANeuralNetworksMemory *from, const struct described_memory *to,
                    const struct shape *shape);

#endif
