/* Memory domains: buffers that the driver owns, named by tokens, each for the roles it was
 * allocated for. */
#ifndef SIM_DOMAIN_H
#define SIM_DOMAIN_H

#include <pthread.h>
#include <stdatomic.h>

#include "golden/base/why.h"
#include "golden/model/tensor.h"
#include "sim/base/client_quota.h"
#include "sim/hal.h"

/* Where a buffer may be used: input or output `io` of the prepared model of that number. */
struct buffer_role {
    uint64_t model;
    uint32_t io;
    bool is_output;
};

struct buffer {
    struct hal_buffer base;
    struct buffers *all;
    struct buffer *next;
    uint32_t token, client;
    atomic_uint references; /* the client's, and one of every request that names it */
    uint32_t n_roles;
    struct buffer_role *roles; /* ascending */
    struct tensor declared;    /* type, quantisation, shape as far as roles and description say */

    pthread_mutex_t lock; /* of what follows */
    struct shape shape;   /* of what it holds */
    bool is_initialised;
    uint8_t *data; /* room for `size` bytes, on the client's account */
    size_t size;
};

struct buffers {
    pthread_mutex_t lock;
    struct buffer *first;
    uint32_t last_token;
    enum hal_version version; /* of the driver: the methods say none */
    struct accounts *accounts;
};

void buffers_init(struct buffers *b, enum hal_version version, struct accounts *accounts);
void buffers_done(struct buffers *b);

/* Of hal.h's allocate(). */
enum hal_status driver_allocate(struct hal_driver *self, const struct hal_buffer_desc *desc,
                                uint32_t n_models, struct hal_prepared_model *const *models,
                                uint32_t n_input_roles, const struct hal_buffer_role *input_roles,
                                uint32_t n_output_roles, const struct hal_buffer_role *output_roles,
                                struct hal_buffer **ret_buffer, uint32_t *ret_token);

/* The buffer of a token, to be given back with buffer_unref(); NULL: there is none. */
struct buffer *buffer_find(struct buffers *b, uint32_t token);
void buffer_unref(struct buffer *b);
bool buffer_has_role(const struct buffer *b, uint64_t model, uint32_t io, bool is_output);

/* A copy of the contents; ret_shape: theirs.  WHY_EXECUTION when there are none. */
struct arena;
int buffer_read(struct buffer *b, struct arena *a, struct shape *ret_shape, void **ret_data,
                struct why *w);
/* New contents of that shape; WHY_EXECUTION where it contradicts the declared one. */
int buffer_write(struct buffer *b, const struct tensor *t, struct why *w);

#endif
