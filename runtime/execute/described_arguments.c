#include "runtime/execute/described_arguments.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/failure.h"
#include "runtime/domain/memory_desc.h"
#include "runtime/execute/on_driver.h"

#define LOG_TAG "ExecutionBuilder"

static bool is_described(const struct argument *a)
{
    return a->kind == ARGUMENT_MEMORY && a->memory->described;
}

bool argument_in_driver(const struct argument *a)
{
    return is_described(a) && a->memory->described->buffer;
}

/* ---- contents */

int described_inputs_check(ANeuralNetworksExecution *e)
{
    char actual[SHAPE_TEXT], expected[SHAPE_TEXT];

    for (uint32_t i = 0; i < e->n_inputs; i++) {
        struct argument *a = &e->input[i];
        struct shape shape;
        if (!is_described(a))
            continue;
        if (!described_contents(a->memory, &shape))
            return FAIL(OP_FAILED, "the memory of input %u has no contents", i);
        if (argument_is_tensor(a) && !shape_matches(&shape, &a->operand->tensor.shape))
            return FAIL(OP_FAILED, "the memory of input %u has contents of shape %s, expected %s",
                        i, shape_text(&shape, actual),
                        shape_text(&a->operand->tensor.shape, expected));
        if (a->is_shape_given && !shape_equal(&shape, &a->shape))
            return FAIL(OP_FAILED, "the memory of input %u has contents of shape %s, expected %s",
                        i, shape_text(&shape, actual), shape_text(&a->shape, expected));
        if (!shape_equal(&shape, &a->shape)) {
            a->shape = shape;
            /* the driver's execution has the request with the other shape */
            reusable_execution_free(e->reusable);
            e->reusable = NULL;
            driver_request_done(&e->request);
        }
    }
    return ANEURALNETWORKS_NO_ERROR;
}

static struct shape shape_of(const struct hal_output_shape *s)
{
    struct shape shape = { .rank = s->n_dims };

    memcpy(shape.dim, s->dims, s->n_dims * sizeof(*s->dims));
    return shape;
}

void described_outputs_mark(ANeuralNetworksExecution *e)
{
    for (uint32_t i = 0; i < e->n_outputs; i++)
        if (is_described(&e->output[i])) {
            struct shape shape = shape_of(&e->shape[i]);
            described_set_contents(e->output[i].memory,
                                   e->result == ANEURALNETWORKS_NO_ERROR ? &shape : NULL);
        }
}

/* ---- copies in host memory */

static int make_copy(const struct argument *a, bool is_output, struct argument *ret)
{
    ANeuralNetworksMemory *host;

    if (described_host(a->memory->described, &a->shape, &host) != ANEURALNETWORKS_NO_ERROR)
        return ANEURALNETWORKS_OP_FAILED;
    ret->memory = host;
    ret->length = (size_t) host->host.size;
    return is_output ? ANEURALNETWORKS_NO_ERROR : described_read(a->memory->described, host);
}

int host_copies_make(const ANeuralNetworksExecution *e, struct argument **ret)
{
    const size_t n = (size_t) e->n_inputs + e->n_outputs;
    struct argument *copy = malloc((n + 1) * sizeof(*copy));
    int result = ANEURALNETWORKS_NO_ERROR;

    if (!copy)
        return FAIL(OUT_OF_MEMORY, "no memory for %zu arguments", n);
    memcpy(copy, e->input, n * sizeof(*copy));
    for (size_t i = 0; i < n && result == ANEURALNETWORKS_NO_ERROR; i++)
        if (argument_in_driver(&e->input[i]))
            result = make_copy(&e->input[i], i >= e->n_inputs, &copy[i]);
    if (result == ANEURALNETWORKS_NO_ERROR)
        *ret = copy;
    else
        host_copies_free(e, copy);
    return result;
}

int host_copies_store(const ANeuralNetworksExecution *e, const struct argument *copy,
                      const struct hal_output_shape *shape)
{
    for (uint32_t i = 0; i < e->n_outputs; i++) {
        const struct argument *a = &e->output[i];
        struct shape s = shape ? shape_of(&shape[i]) : a->shape;
        if (argument_in_driver(a))
            PASS(described_write(copy[e->n_inputs + i].memory, a->memory->described, &s));
    }
    return ANEURALNETWORKS_NO_ERROR;
}

void host_copies_free(const ANeuralNetworksExecution *e, struct argument *copy)
{
    for (size_t i = 0; i < (size_t) e->n_inputs + e->n_outputs; i++)
        if (argument_in_driver(&e->input[i]) && copy[i].memory != e->input[i].memory)
            memory_free(copy[i].memory);
    free(copy);
}
