/* Memory domains: buffers that the driver owns and requests name by tokens, each for the operand
 * roles that it was allocated for. */
#ifndef SIM_MEMORY_DOMAIN_H
#define SIM_MEMORY_DOMAIN_H

#include <pthread.h>
#include <stdatomic.h>

#include "golden/base/why.h"
#include "golden/model/tensor.h"
#include "sim/base/client_quota.h"
#include "sim/hal.h"

/* A role: input or output number `io` of the prepared model with that number. */
struct buffer_role {
    uint64_t model;
    uint32_t io;
    bool is_output;
};

struct device_buffer {
    struct hal_buffer base;
    struct buffers *all;
    struct device_buffer *next;
    uint32_t token, client;
    atomic_uint references; /* the client's, and one per request that uses it */
    uint32_t n_roles;
    struct buffer_role *roles; /* sorted */
    struct tensor declared; /* type, quantisation, and shape as far as roles and desc define it */

    pthread_mutex_t lock; /* guards the members below */
    struct shape shape;   /* of the contents */
    bool is_initialised;  /* whether it has contents */
    uint8_t *data;        /* `size` bytes, charged to the client */
    size_t size;
};

struct buffers {
    pthread_mutex_t lock;
    struct device_buffer *first;
    uint32_t last_token;
    enum hal_version version; /* the driver's; methods of buffers have no version argument */
    struct client_quotas *client_quotas;
};

void buffers_init(struct buffers *b, enum hal_version version, struct client_quotas *client_quotas);
/* All buffers must have been released. */
void buffers_done(struct buffers *b);

/* Implements hal.h's allocate(). */
enum hal_status driver_allocate(struct hal_driver *self, const struct hal_buffer_desc *desc,
                                uint32_t n_models, struct hal_prepared_model *const *models,
                                uint32_t n_input_roles, const struct hal_buffer_role *input_roles,
                                uint32_t n_output_roles, const struct hal_buffer_role *output_roles,
                                struct hal_buffer **ret_buffer, uint32_t *ret_token);

/* A reference to the buffer with that token, to be dropped with buffer_unref(); NULL: unknown. */
struct device_buffer *buffer_find(struct buffers *b, uint32_t token);
void buffer_unref(struct device_buffer *b);
bool buffer_has_role(const struct device_buffer *b, uint64_t model, uint32_t io, bool is_output);

/* Copies the contents to the arena; ret_shape: their shape.  WHY_EXECUTION: not initialised;
 * WHY_MEMORY. */
struct arena;
int buffer_read(struct device_buffer *b, struct arena *a, struct shape *ret_shape, void **ret_data,
                struct why *w);
/* Replaces contents and shape by t's.  WHY_EXECUTION: t contradicts the declared shape; WHY_MEMORY:
 * over the client's quota or out of memory. */
int buffer_write(struct device_buffer *b, const struct tensor *t, struct why *w);

#endif
