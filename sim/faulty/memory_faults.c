/* Faults of buffers: allocations, copies, and their use in requests. */
#include <stdlib.h>
#include <string.h>

#include "sim/base/memory.h"
#include "sim/faulty/faulty.h"

/* ---- copies */

static enum hal_status inner_copy_to(struct faulty_buffer *b, const struct hal_memory *to)
{
    return b->inner->methods->copy_to(b->inner, to);
}

/* Leaves the last byte of the copy as it is. */
static enum hal_status copies_too_little(struct hal_buffer *self, const struct hal_memory *to)
{
    struct mapping m = { 0 };
    struct why w;
    uint8_t last = 0;
    bool is_mapped = to->size && memory_map(to, true, &m, &w) == 0;

    if (is_mapped)
        last = m.address[m.size - 1];
    enum hal_status status = inner_copy_to((struct faulty_buffer *) self, to);
    if (is_mapped) {
        m.address[m.size - 1] = last;
        memory_unmap(&m);
    }
    return status;
}

/* Writes zeros for a buffer without contents. */
static enum hal_status copies_zeros(struct hal_buffer *self, const struct hal_memory *to)
{
    enum hal_status status = inner_copy_to((struct faulty_buffer *) self, to);
    struct mapping m = { 0 };
    struct why w;

    if (status != HAL_GENERAL_FAILURE || memory_map(to, true, &m, &w) < 0)
        return status;
    memset(m.address, 0, m.size);
    memory_unmap(&m);
    return HAL_NONE;
}

static enum hal_status copies_nothing(struct hal_buffer *self, const struct hal_memory *from,
                                      uint32_t n_dims, const uint32_t *dims)
{
    struct faulty_buffer *b = (struct faulty_buffer *) self;

    if (atomic_fetch_add(&b->driver->state, 1))
        return HAL_NONE;
    return b->inner->methods->copy_from(b->inner, from, n_dims, dims);
}

static enum hal_status wrong_copy_status(struct hal_buffer *self, const struct hal_memory *to)
{
    enum hal_status status = inner_copy_to((struct faulty_buffer *) self, to);

    return status == HAL_GENERAL_FAILURE ? HAL_INVALID_ARGUMENT : status;
}

/* ---- allocating */

typedef enum hal_status allocate_fn(struct hal_driver *, const struct hal_buffer_desc *, uint32_t,
                                    struct hal_prepared_model *const *, uint32_t,
                                    const struct hal_buffer_role *, uint32_t,
                                    const struct hal_buffer_role *, struct hal_buffer **,
                                    uint32_t *);

static enum hal_status token_zero(struct hal_driver *self, const struct hal_buffer_desc *desc,
                                  uint32_t n_models, struct hal_prepared_model *const *models,
                                  uint32_t n_input_roles, const struct hal_buffer_role *input_roles,
                                  uint32_t n_output_roles,
                                  const struct hal_buffer_role *output_roles,
                                  struct hal_buffer **ret_buffer, uint32_t *ret_token)
{
    enum hal_status status =
        faulty_allocate(self, desc, n_models, models, n_input_roles, input_roles, n_output_roles,
                        output_roles, ret_buffer, ret_token);

    *ret_token = 0;
    return status;
}

static enum hal_status same_token(struct hal_driver *self, const struct hal_buffer_desc *desc,
                                  uint32_t n_models, struct hal_prepared_model *const *models,
                                  uint32_t n_input_roles, const struct hal_buffer_role *input_roles,
                                  uint32_t n_output_roles,
                                  const struct hal_buffer_role *output_roles,
                                  struct hal_buffer **ret_buffer, uint32_t *ret_token)
{
    enum hal_status status =
        faulty_allocate(self, desc, n_models, models, n_input_roles, input_roles, n_output_roles,
                        output_roles, ret_buffer, ret_token);
    int first = 0;

    if (status == HAL_NONE &&
        !atomic_compare_exchange_strong(&faulty_driver_of(self)->state, &first, (int) *ret_token))
        *ret_token = (uint32_t) first;
    return status;
}

static enum hal_status one_role_only(struct hal_driver *self, const struct hal_buffer_desc *desc,
                                     uint32_t n_models, struct hal_prepared_model *const *models,
                                     uint32_t n_input_roles,
                                     const struct hal_buffer_role *input_roles,
                                     uint32_t n_output_roles,
                                     const struct hal_buffer_role *output_roles,
                                     struct hal_buffer **ret_buffer, uint32_t *ret_token)
{
    if (n_input_roles)
        n_output_roles = 0;
    return faulty_allocate(self, desc, n_models, models, n_input_roles ? 1 : 0, input_roles,
                           n_output_roles ? 1 : 0, output_roles, ret_buffer, ret_token);
}

static enum hal_status
fails_with_buffer(struct hal_driver *self, const struct hal_buffer_desc *desc, uint32_t n_models,
                  struct hal_prepared_model *const *models, uint32_t n_input_roles,
                  const struct hal_buffer_role *input_roles, uint32_t n_output_roles,
                  const struct hal_buffer_role *output_roles, struct hal_buffer **ret_buffer,
                  uint32_t *ret_token)
{
    enum hal_status status =
        faulty_allocate(self, desc, n_models, models, n_input_roles, input_roles, n_output_roles,
                        output_roles, ret_buffer, ret_token);

    if (status != HAL_NONE)
        *ret_token = 99;
    return status;
}

static allocate_fn token_zero, same_token, one_role_only, fails_with_buffer;

/* ---- requests */

static void buffers_refused(struct faulty_call *x)
{
    for (uint32_t i = 0; i < x->request.n_pools; i++)
        if (x->request.pools[i].is_token)
            x->request.n_inputs = 0;
}

static void hardware_buffers_refused(struct faulty_call *x)
{
    for (uint32_t i = 0; i < x->request.n_pools; i++)
        if (!x->request.pools[i].is_token &&
            x->request.pools[i].memory.kind == HAL_MEMORY_HARDWARE_BUFFER)
            x->request.n_inputs = 0;
}

/* ---- the rows */

#define ACCEPTS(name, doc, bits)                                                                   \
    {                                                                                              \
        name, "buffer", "memory-domain", doc, .contract = CONTRACT(.unchecked = bits)              \
    }
#define BUFFERS(name, doc, ...)                                                                    \
    {                                                                                              \
        name, "buffer", "memory-domain", doc, .contract = CONTRACT(__VA_ARGS__)                    \
    }

static const struct fault rows[] = {
    ACCEPTS("roles-none-accepted", "allocate accepts an empty list of roles",
            UNCHECKED(ROLES_NONE)),
    ACCEPTS("role-model-unchecked", "allocate accepts NULL models and model indexes out of range",
            UNCHECKED(ROLE_MODEL)),
    ACCEPTS("role-index-unchecked", "allocate accepts foreign models and operands out of range",
            UNCHECKED(ROLE_INDEX)),
    ACCEPTS("probability-unchecked", "allocate accepts probabilities outside (0, 1]",
            UNCHECKED(PROBABILITY)),
    ACCEPTS("role-twice-accepted", "allocate accepts the same role twice", UNCHECKED(ROLE_TWICE)),
    ACCEPTS("roles-not-compared", "allocate accepts roles that contradict each other",
            UNCHECKED(ROLES_DIFFER)),
    ACCEPTS("buffer-dimensions-unchecked", "allocate accepts dimensions that contradict the roles",
            UNCHECKED(DESC)),
    ACCEPTS("copy-size-unchecked", "copies accept memory of another size", UNCHECKED(COPY_SIZE)),
    ACCEPTS("copy-shape-unchecked", "copy_from accepts other dimensions", UNCHECKED(COPY_SHAPE)),
    ACCEPTS("copy-empty-accepted", "copy_to succeeds for a buffer without contents",
            UNCHECKED(COPY_EMPTY)),
    ACCEPTS("token-unchecked", "executions accept unknown and released tokens", UNCHECKED(TOKEN)),
    ACCEPTS("buffer-role-unchecked", "executions accept buffers in other roles",
            UNCHECKED(BUFFER_ROLE)),
    ACCEPTS("buffer-empty-read", "executions read buffers without contents",
            UNCHECKED(BUFFER_EMPTY)),
    BUFFERS("token-zero", "tokens are 0", .driver = { .allocate = token_zero }),
    BUFFERS("token-shared", "all buffers have the token of the first",
            .driver = { .allocate = same_token }),
    BUFFERS("roles-after-first-ignored", "allocate ignores all roles but the first",
            .driver = { .allocate = one_role_only }),
    BUFFERS("token-of-failure", "allocate returns a token when it fails",
            .driver = { .allocate = fails_with_buffer }),
    BUFFERS("copy-short", "copy_to does not copy the last byte",
            .buffer = { .copy_to = copies_too_little }),
    BUFFERS("copy-uninitialised", "copy_to copies zeros from a buffer without contents",
            .buffer = { .copy_to = copies_zeros }),
    BUFFERS("copy-once", "only the first copy_from copies",
            .buffer = { .copy_from = copies_nothing }),
    BUFFERS("copy-empty-status", "copy_to from a buffer without contents: INVALID_ARGUMENT",
            .buffer = { .copy_to = wrong_copy_status }),
    BUFFERS("buffers-refused", "executions refuse buffers", .before = buffers_refused),
    { "hardware-buffers-refused", "buffer", "generated", "executions refuse hardware buffers",
      .contract = CONTRACT(.before = hardware_buffers_refused) },
};
const struct fault_group memory_faults = { rows, COUNT(rows) };
