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

/* Copies from the start of a file, wherever the memory begins in it. */
static enum hal_status copies_from_start(struct hal_buffer *self, const struct hal_memory *from,
                                         uint32_t n_dims, const uint32_t *dims)
{
    struct faulty_buffer *b = (struct faulty_buffer *) self;
    struct hal_memory start = *from;

    if (start.kind == HAL_MEMORY_FD) {
        start.offset = 0;
        start.address = NULL;
    }
    return b->inner->methods->copy_from(b->inner, &start, n_dims, dims);
}

/* Only the size of the first copy fits; its dimensions are in `state`. */
static enum hal_status copies_first_batch(struct hal_buffer *self, const struct hal_memory *from,
                                          uint32_t n_dims, const uint32_t *dims)
{
    struct faulty_buffer *b = (struct faulty_buffer *) self;
    int first = 0;

    if (n_dims && !atomic_compare_exchange_strong(&b->driver->state, &first, (int) dims[0]) &&
        first != (int) dims[0])
        return HAL_INVALID_ARGUMENT;
    return b->inner->methods->copy_from(b->inner, from, n_dims, dims);
}

static atomic_int clients; /* that have opened the driver so far */

static void count_client(struct faulty_driver *d)
{
    atomic_store(&d->state, atomic_fetch_add(&clients, 1) + 1);
}

/* A new client gets the device's memory, and those before it lose theirs. */
static enum hal_status copies_of_last_client(struct hal_buffer *self, const struct hal_memory *to)
{
    struct faulty_buffer *b = (struct faulty_buffer *) self;

    return atomic_load(&b->driver->state) == atomic_load(&clients) ? inner_copy_to(b, to)
                                                                   : HAL_GENERAL_FAILURE;
}

enum { TABLE = 8 };

/* Buffers that do not fit its table have no contents. */
static enum hal_status copies_of_full_table(struct hal_buffer *self, const struct hal_memory *to)
{
    struct faulty_buffer *b = (struct faulty_buffer *) self;
    int n = 0;

    pthread_mutex_lock(&b->driver->lock);
    for (int i = 0; i < MAX_FAULTY_BUFFERS; i++)
        n += b->driver->token[i] != 0;
    pthread_mutex_unlock(&b->driver->lock);
    return n > TABLE ? HAL_GENERAL_FAILURE : inner_copy_to(b, to);
}

static enum hal_status wrong_copy_status(struct hal_buffer *self, const struct hal_memory *to)
{
    enum hal_status status = inner_copy_to((struct faulty_buffer *) self, to);

    return status == HAL_GENERAL_FAILURE ? HAL_INVALID_ARGUMENT : status;
}

/* ---- allocating */

static void token_zero(struct faulty_driver *d, enum hal_status status, uint32_t *token)
{
    (void) d, (void) status;
    *token = 0;
}

static void same_token(struct faulty_driver *d, enum hal_status status, uint32_t *token)
{
    int first = 0;

    if (status == HAL_NONE && !atomic_compare_exchange_strong(&d->state, &first, (int) *token))
        *token = (uint32_t) first;
}

static void token_of_failure(struct faulty_driver *d, enum hal_status status, uint32_t *token)
{
    (void) d;
    if (status != HAL_NONE)
        *token = 99;
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

static const struct fault rows[] = {
    ACCEPTS("roles-none-accepted", "buffer", RULES("memory-domain/A1"),
            "allocate accepts an empty list of roles", UNCHECKED(ROLES_NONE)),
    ACCEPTS("role-model-unchecked", "buffer", RULES("memory-domain/A2", "memory-domain/A4"),
            "allocate accepts NULL models and model indexes out of range", UNCHECKED(ROLE_MODEL)),
    ACCEPTS("role-index-unchecked", "buffer",
            RULES("memory-domain/A3", "memory-domain/A5", "memory-domain/ranges"),
            "allocate accepts foreign models and operands out of range", UNCHECKED(ROLE_INDEX)),
    ACCEPTS("probability-unchecked", "buffer", RULES("memory-domain/A6"),
            "allocate accepts probabilities outside (0, 1]", UNCHECKED(PROBABILITY)),
    ACCEPTS("role-twice-accepted", "buffer", RULES("memory-domain/A7"),
            "allocate accepts the same role twice", UNCHECKED(ROLE_TWICE)),
    ACCEPTS("roles-not-compared", "buffer",
            RULES("memory-domain/A8", "memory-domain/A9", "memory-domain/A10", "memory-domain/A11",
                  "memory-domain/A12"),
            "allocate accepts roles that contradict each other", UNCHECKED(ROLES_DIFFER)),
    ACCEPTS("buffer-dimensions-unchecked", "buffer",
            RULES("memory-domain/A13", "memory-domain/A14", "memory-domain/A15"),
            "allocate accepts dimensions that contradict the roles", UNCHECKED(DESC)),
    ACCEPTS("copy-size-unchecked", "buffer",
            RULES("memory-domain/K1", "memory-domain/K6", "memory-domain/K7"),
            "copies accept memory of another size", UNCHECKED(COPY_SIZE)),
    ACCEPTS("copy-shape-unchecked", "buffer",
            RULES("memory-domain/K2", "memory-domain/K3", "memory-domain/K4"),
            "copy_from accepts other dimensions", UNCHECKED(COPY_SHAPE)),
    ACCEPTS("copy-empty-accepted", "buffer", RULES("memory-domain/K5"),
            "copy_to succeeds for a buffer without contents", UNCHECKED(COPY_EMPTY)),
    ACCEPTS("token-unchecked", "buffer", RULES("memory-domain/X1"),
            "executions accept unknown and released tokens", UNCHECKED(TOKEN)),
    ACCEPTS("buffer-role-unchecked", "buffer",
            RULES("memory-domain/X2", "memory-domain/X3", "memory-domain/X4", "memory-domain/X6"),
            "executions accept buffers in other roles", UNCHECKED(BUFFER_ROLE)),
    ACCEPTS("buffer-empty-read", "buffer", RULES("memory-domain/X5", "memory-domain/X7"),
            "executions read buffers without contents", UNCHECKED(BUFFER_EMPTY)),
    BREAKS("token-zero", "buffer", RULES("memory-domain/device-memory"), "tokens are 0",
           .allocated = token_zero),
    BREAKS("token-shared", "buffer", RULES("memory-domain/device-memory", "concurrency/allocating"),
           "all buffers have the token of the first", .allocated = same_token),
    BREAKS("roles-after-first-ignored", "buffer", RULES("memory-domain/A7"),
           "allocate ignores all roles but the first", .driver = { .allocate = one_role_only }),
    BREAKS("token-of-failure", "buffer", RULES("memory-domain/A1"),
           "allocate returns a token when it fails", .allocated = token_of_failure),
    BREAKS("copy-short", "buffer", RULES("memory-domain/device-memory", "generated/buffers"),
           "copy_to does not copy the last byte", .buffer = { .copy_to = copies_too_little }),
    BREAKS("copy-uninitialised", "buffer", RULES("memory-domain/K5"),
           "copy_to copies zeros from a buffer without contents",
           .buffer = { .copy_to = copies_zeros }),
    BREAKS("copy-once", "buffer", RULES("memory-domain/device-memory", "memory-domain/sequences"),
           "only the first copy_from copies", .buffer = { .copy_from = copies_nothing }),
    BREAKS("copy-offset-ignored", "buffer", RULES("memory-domain/contents"),
           "copy_from ignores the offset of a file", .buffer = { .copy_from = copies_from_start }),
    BREAKS("copy-first-batch", "buffer", RULES("memory-domain/contents"),
           "copy_from accepts only the first dimension 0 that it gets",
           .buffer = { .copy_from = copies_first_batch }),
    BREAKS("copy-table-full", "buffer", RULES("memory-domain/many"),
           "copy_to fails while more than 8 buffers exist",
           .buffer = { .copy_to = copies_of_full_table }),
    BREAKS("copy-last-client", "buffer", RULES("memory-domain/many"),
           "copy_to fails after another client has opened the driver", .opened = count_client,
           .buffer = { .copy_to = copies_of_last_client }),
    BREAKS("copy-empty-status", "buffer", RULES("memory-domain/K5"),
           "copy_to from a buffer without contents: INVALID_ARGUMENT",
           .buffer = { .copy_to = wrong_copy_status }),
    BREAKS("buffers-refused", "buffer", RULES("memory-domain/device-memory"),
           "executions refuse buffers", .before = buffers_refused),
    BREAKS("hardware-buffers-refused", "buffer", RULES("generated/pools"),
           "executions refuse hardware buffers", .before = hardware_buffers_refused),
};
const struct fault_group memory_faults = { rows, COUNT(rows) };
