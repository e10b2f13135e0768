/* The layer around buffers. */
#include <stdlib.h>

#include "sim/faulty/faulty.h"

/* ---- tokens */

static void replace_token(struct faulty_driver *d, uint32_t from, uint32_t to)
{
    pthread_mutex_lock(&d->lock);
    for (int i = 0; i < MAX_FAULTY_BUFFERS; i++)
        if (d->token[i] == from) {
            d->token[i] = to;
            break;
        }
    pthread_mutex_unlock(&d->lock);
}

bool faulty_has_token(struct faulty_driver *d, uint32_t token)
{
    bool found = false;

    pthread_mutex_lock(&d->lock);
    for (int i = 0; i < MAX_FAULTY_BUFFERS; i++)
        found = found || (token && d->token[i] == token);
    pthread_mutex_unlock(&d->lock);
    return found;
}

/* ---- buffers */

static enum hal_status accept_copy(struct faulty_driver *d, enum hal_status status,
                                   enum unchecked what)
{
    return status != HAL_NONE && faulty_accepts(d, what) ? HAL_NONE : status;
}

static enum hal_status copy_to(struct hal_buffer *self, const struct hal_memory *to)
{
    struct faulty_buffer *b = (struct faulty_buffer *) self;
    enum hal_status status =
        b->inner ? b->inner->methods->copy_to(b->inner, to) : HAL_GENERAL_FAILURE;

    return accept_copy(b->driver, status,
                       status == HAL_GENERAL_FAILURE ? UNCHECKED_COPY_EMPTY : UNCHECKED_COPY_SIZE);
}

static enum hal_status copy_from(struct hal_buffer *self, const struct hal_memory *from,
                                 uint32_t n_dims, const uint32_t *dims)
{
    struct faulty_buffer *b = (struct faulty_buffer *) self;
    enum hal_status status =
        b->inner ? b->inner->methods->copy_from(b->inner, from, n_dims, dims) : HAL_GENERAL_FAILURE;

    return accept_copy(b->driver, status, n_dims ? UNCHECKED_COPY_SHAPE : UNCHECKED_COPY_SIZE);
}

static void release(struct hal_buffer *self)
{
    struct faulty_buffer *b = (struct faulty_buffer *) self;

    replace_token(b->driver, b->token, 0);
    if (b->inner)
        b->inner->methods->release(b->inner);
    free(b);
}

void faulty_buffer_methods(struct faulty_driver *d)
{
    const struct hal_buffer_methods *own = &d->hooks->buffer;

    d->buffer_methods = (struct hal_buffer_methods){
        .copy_to = own->copy_to ? own->copy_to : copy_to,
        .copy_from = own->copy_from ? own->copy_from : copy_from,
        .release = own->release ? own->release : release,
    };
}

/* ---- allocating */

enum hal_status faulty_allocate(struct hal_driver *self, const struct hal_buffer_desc *desc,
                                uint32_t n_models, struct hal_prepared_model *const *models,
                                uint32_t n_input_roles, const struct hal_buffer_role *input_roles,
                                uint32_t n_output_roles, const struct hal_buffer_role *output_roles,
                                struct hal_buffer **ret_buffer, uint32_t *ret_token)
{
    struct faulty_driver *d = faulty_driver_of(self);
    struct hal_prepared_model **inner = calloc(n_models + 1, sizeof(struct hal_prepared_model *));
    struct faulty_buffer *b = calloc(1, sizeof *b);
    enum hal_status status = HAL_GENERAL_FAILURE;

    *ret_buffer = NULL;
    *ret_token = 0;
    for (uint32_t i = 0; inner && i < n_models; i++) {
        bool is_own = models[i] && models[i]->methods == &d->model_methods;
        inner[i] = is_own ? faulty_model_of(models[i])->inner : models[i];
    }
    if (inner && b)
        status = d->inner->allocate(d->inner, desc, n_models, inner, n_input_roles, input_roles,
                                    n_output_roles, output_roles, ret_buffer, ret_token);
    free(inner);
    if (status == HAL_INVALID_ARGUMENT && d->hooks->unchecked &&
        !(unchecked_in_allocation(desc, n_models, models, n_input_roles, input_roles,
                                  n_output_roles, output_roles) &
          ~d->hooks->unchecked)) {
        *ret_token = UINT32_MAX / 2;
        status = HAL_NONE;
    }
    if (status == HAL_NONE) {
        *b = (struct faulty_buffer){ { &d->buffer_methods }, d, *ret_buffer, *ret_token };
        *ret_buffer = &b->base;
        replace_token(d, 0, b->token);
    } else {
        free(b);
    }
    if (d->hooks->allocated)
        d->hooks->allocated(d, status, ret_token);
    return status;
}
