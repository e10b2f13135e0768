#include "runtime/execute/driver_request.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/failure.h"
#include "runtime/model/runtime_model.h"

#define LOG_TAG "ExecutionBuilder"

bool argument_is_tensor(const struct argument *a)
{
    return operand_type_is_tensor(&a->operand->tensor, a->operand->foreign);
}

size_t argument_element_size(const struct argument *a)
{
    return operand_type_element_size(&a->operand->tensor, a->operand->foreign);
}

bool argument_is_known(const struct argument *a)
{
    return !argument_is_tensor(a) || shape_known(&a->shape);
}

/* ---- requests */

static int no_memory(void)
{
    return FAIL(OUT_OF_MEMORY, "no memory for a request of the HAL");
}

static uint32_t buffer_pool(struct driver_request *r, const struct argument *a, bool is_output)
{
    struct hal_request_pool *pools = (struct hal_request_pool *) (uintptr_t) r->hal.pools;
    uint32_t at = r->hal.n_pools++;

    pools[at].memory = (struct hal_memory){
        .kind = HAL_MEMORY_ADDRESS,
        .protection = HAL_MEMORY_READ | (is_output ? HAL_MEMORY_WRITE : 0u),
        .address = a->buffer,
        .fd = -1,
        .size = a->length + a->padding,
    };
    r->identifiers[at] = -1;
    return at;
}

static int memory_pool(struct driver_request *r, ANeuralNetworksMemory *m, enum level level,
                       uint32_t *ret_pool)
{
    struct hal_request_pool *pools = (struct hal_request_pool *) (uintptr_t) r->hal.pools;

    for (uint32_t i = 0; i < r->hal.n_pools; i++)
        if (r->memory[i] == m) {
            *ret_pool = i;
            return ANEURALNETWORKS_NO_ERROR;
        }
    if (m->described && m->described->buffer)
        pools[r->hal.n_pools] =
            (struct hal_request_pool){ .is_token = true, .token = m->described->token };
    else
        PASS(memory_for_driver(m, level, &pools[r->hal.n_pools].memory));
    r->memory[r->hal.n_pools] = m;
    r->identifiers[r->hal.n_pools] = (int64_t) m->number;
    *ret_pool = r->hal.n_pools++;
    return ANEURALNETWORKS_NO_ERROR;
}

static int put_argument(struct driver_request *r, const struct argument *a, bool is_output,
                        enum level level, struct hal_argument *ret)
{
    struct hal_argument h = { .has_no_value = a->kind == ARGUMENT_OMITTED };

    if (a->kind == ARGUMENT_OMITTED) {
        *ret = h;
        return ANEURALNETWORKS_NO_ERROR;
    }
    if (a->kind == ARGUMENT_BUFFER)
        h.location.pool = buffer_pool(r, a, is_output);
    else
        PASS(memory_pool(r, a->memory, level, &h.location.pool));
    h.location.offset = a->offset;
    h.location.length = a->length;
    if (a->kind == ARGUMENT_MEMORY && a->memory->described && !a->memory->described->buffer)
        h.location.length = a->memory->host.size;
    if (level >= L5)
        h.location.padding = a->padding;
    h.n_dims = a->shape.rank;
    h.dims = a->shape.dim;
    *ret = h;
    return ANEURALNETWORKS_NO_ERROR;
}

_Static_assert(sizeof(struct hal_argument) % sizeof(void *) == 0 &&
                   sizeof(struct hal_request_pool) % sizeof(void *) == 0,
               "elements of a request's block");

static int make(enum level level, uint32_t n_inputs, const struct argument *input,
                uint32_t n_outputs, const struct argument *output, struct driver_request *r)
{
    const size_t n = (size_t) n_inputs + n_outputs;
    struct hal_argument *in;
    struct hal_request_pool *pools;

    /* One block for the arrays, whose elements have the alignment of pointers or less. */
    r->block = calloc(
        1, n * (sizeof(*in) + sizeof(*pools) + sizeof(*r->memory) + sizeof(*r->identifiers)) +
               n_outputs * sizeof(*r->shapes));
    if (!r->block)
        return no_memory();
    in = r->block;
    pools = (struct hal_request_pool *) (in + n);
    r->memory = (ANeuralNetworksMemory **) (pools + n);
    r->identifiers = (int64_t *) (r->memory + n);
    r->shapes = (struct hal_output_shape *) (r->identifiers + n);
    struct hal_argument *out = in + n_inputs;
    r->hal = (struct hal_request){ n_inputs, n_outputs, 0, in, out, pools };
    for (uint32_t i = 0; i < n_inputs; i++)
        PASS(put_argument(r, &input[i], false, level, &in[i]));
    for (uint32_t i = 0; i < n_outputs; i++)
        PASS(put_argument(r, &output[i], true, level, &out[i]));
    return ANEURALNETWORKS_NO_ERROR;
}

int driver_request_make(enum level level, uint32_t n_inputs, const struct argument *input,
                        uint32_t n_outputs, const struct argument *output, struct driver_request *r)
{
    if (r->block)
        return ANEURALNETWORKS_NO_ERROR;
    int result = make(level, n_inputs, input, n_outputs, output, r);
    if (result != ANEURALNETWORKS_NO_ERROR)
        driver_request_done(r);
    return result;
}

void driver_request_done(struct driver_request *r)
{
    free(r->block);
    *r = (struct driver_request){ 0 };
}

/* ---- answers */

/* Whether a shape adds to what is known of an output, and contradicts nothing of it. */
static bool shape_fits(const struct hal_output_shape *s, const struct argument *a)
{
    struct shape reported = { .rank = s->n_dims };

    if (s->n_dims > MAX_RANK || (!argument_is_tensor(a) && s->n_dims))
        return false;
    memcpy(reported.dim, s->dims, s->n_dims * sizeof(*s->dims));
    if (a->shape.rank && s->n_dims != a->shape.rank)
        return false;
    for (uint32_t d = 0; d < a->shape.rank; d++)
        if (a->shape.dim[d] && a->shape.dim[d] != s->dims[d])
            return false;
    return shape_check_size(&reported, argument_element_size(a)) == 0;
}

bool answer_is_valid(enum hal_status status, uint32_t n_shapes,
                     const struct hal_output_shape *shapes, uint32_t n_outputs,
                     const struct argument *output)
{
    bool all_sufficient = true;

    if (status != HAL_NONE && status != HAL_OUTPUT_INSUFFICIENT_SIZE)
        return n_shapes == 0;
    if (status == HAL_NONE && n_shapes == 0)
        return true;
    if (n_shapes != n_outputs)
        return false;
    for (uint32_t i = 0; i < n_outputs; i++) {
        const struct argument *a = &output[i];
        if (a->kind == ARGUMENT_OMITTED)
            continue;
        if (!shape_fits(&shapes[i], a))
            return false;
        if (status == HAL_NONE && argument_is_tensor(a) && !shapes[i].n_dims)
            return false;
        all_sufficient = all_sufficient && shapes[i].is_sufficient;
    }
    return all_sufficient == (status == HAL_NONE);
}
