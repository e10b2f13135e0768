/* A HAL model that has been checked and copied. */
#ifndef TFLITE_HAL_MODEL_H
#define TFLITE_HAL_MODEL_H

#include "hal.h"

#include "tflite_arena.h"

/* Types above it are of extensions, or OEM. */
enum { N_TYPES = HAL_TYPE_SUBGRAPH + 1 };

struct value {
    int32_t type;
    enum hal_lifetime lifetime;
    uint32_t n_dims, dims[HAL_MAX_RANK]; /* 0: unknown; a tensor without dimensions: unknown rank */
    float scale;
    int32_t zero;
    uint32_t channel_dim, n_channel_scales;
    const float *channel_scales;
    const uint8_t *constant; /* its value; NULL: not a constant */
    size_t length;
    uint32_t subgraph; /* HAL_SUBGRAPH: index of the subgraph, the main one being 0 */
};

struct step {
    int32_t operation;
    uint32_t n_in, n_out;
    const uint32_t *in, *out; /* indexes of values */
};

struct subgraph {
    uint32_t n_values, n_steps, n_in, n_out;
    struct value *value;
    struct step *step;
    const uint32_t *in, *out;
};

struct model {
    struct arena *arena;
    uint32_t n_graphs;
    struct subgraph *graph; /* the main one first */
    bool loops;             /* WHILE is supported, though nothing limits its time */
};

/* Size of an element in bytes; 0: a type that the driver does not know. */
size_t element_size(int32_t type);
bool is_scalar_type(int32_t type);

/* Copies a model into the arena.  HAL_INVALID_ARGUMENT: it is invalid.  A valid model that the
 * driver does not support is loaded. */
enum hal_status load_model(enum hal_version version, const struct hal_model *from,
                           struct arena *arena, struct model *ret_model);

#endif
