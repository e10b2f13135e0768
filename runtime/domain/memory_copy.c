/* Copies of contents between memories. */
#include <inttypes.h>
#include <string.h>

#include "runtime/base/failure.h"
#include "runtime/devices/runtime_device.h"
#include "runtime/domain/memory_desc.h"
#include "runtime/model/runtime_model.h"

#define LOG_TAG "Memory"

/* What is copied: the shape of the contents, rank 0 for memory without one. */
struct contents {
    bool is_initialised;
    struct shape shape;
};

static struct contents contents_of(ANeuralNetworksMemory *m)
{
    struct contents c = { .is_initialised = true };

    if (m->described)
        c.is_initialised = described_contents(m, &c.shape);
    return c;
}

bool described_contents(ANeuralNetworksMemory *m, struct shape *ret_shape)
{
    pthread_mutex_lock(&m->lock);
    bool is_initialised = m->described->is_initialised;
    *ret_shape = m->described->shape;
    pthread_mutex_unlock(&m->lock);
    return is_initialised;
}

void described_set_contents(ANeuralNetworksMemory *m, const struct shape *shape)
{
    pthread_mutex_lock(&m->lock);
    m->described->is_initialised = shape;
    m->described->shape = shape ? *shape : m->described->operand.shape;
    pthread_mutex_unlock(&m->lock);
}

/* Whether the contents of `from` fit what `to` declares; *ret_shape: theirs afterwards. */
static int check_fit(const ANeuralNetworksMemory *from, const struct contents *c,
                     const ANeuralNetworksMemory *to, struct shape *ret_shape)
{
    const struct described_memory *a = from->described, *b = to->described;

    *ret_shape = b ? b->operand.shape : c->shape;
    if (a && b &&
        (a->operand.dtype != b->operand.dtype || a->foreign != b->foreign ||
         !tensor_same_quant(&a->operand, &b->operand)))
        return FAIL(BAD_DATA, "the memories differ in type, scale, zero point or extension data");
    if (b && a && !shape_merge(ret_shape, &c->shape))
        return FAIL(BAD_DATA, "the memories differ in their dimensions");
    bool has_sizes = !(a && a->buffer) && !(b && b->buffer);
    if (has_sizes && from->host.size != to->host.size)
        return FAIL(BAD_DATA, "memories of %" PRIu64 " and %" PRIu64 " bytes", from->host.size,
                    to->host.size);
    return ANEURALNETWORKS_NO_ERROR;
}

static int host_to_host(ANeuralNetworksMemory *from, ANeuralNetworksMemory *to)
{
    uint8_t *source, *target;

    PASS(memory_address(from, &source));
    PASS(memory_address(to, &target));
    if (!(to->host.protection & HAL_MEMORY_WRITE) || !(from->host.protection & HAL_MEMORY_READ))
        return FAIL(UNMAPPABLE, "a memory without the protection for reading or writing");
    memmove(target, source, (size_t) to->host.size);
    return ANEURALNETWORKS_NO_ERROR;
}

int described_read(const struct described_memory *from, ANeuralNetworksMemory *to)
{
    struct hal_buffer *b = from->buffer;
    struct hal_memory host;

    PASS(memory_for_driver(to, L8, &host));
    enum hal_status status = b->methods->copy_to(b, &host);
    return status == HAL_NONE
               ? ANEURALNETWORKS_NO_ERROR
               : fail_with(LOG_TAG, result_of_status(status),
                           "the driver does not copy its buffer: status %d", (int) status);
}

int described_write(ANeuralNetworksMemory *from, const struct described_memory *to,
                    const struct shape *shape)
{
    struct hal_buffer *b = to->buffer;
    struct hal_memory host;

    PASS(memory_for_driver(from, L8, &host));
    enum hal_status status = b->methods->copy_from(b, &host, shape->rank, shape->dim);
    return status == HAL_NONE
               ? ANEURALNETWORKS_NO_ERROR
               : fail_with(LOG_TAG, result_of_status(status),
                           "the driver does not copy to its buffer: status %d", (int) status);
}

int described_host(const struct described_memory *d, const struct shape *shape,
                   ANeuralNetworksMemory **ret)
{
    struct tensor t = d->operand;
    uint64_t size;

    t.shape = *shape;
    size = operand_type_size(&t, d->foreign);
    if (!size)
        return FAIL(BAD_DATA, "the size of the contents is not known");
    return memory_of_size(size, ret);
}

/* By way of shared memory of the contents' size. */
static int driver_to_driver(const struct described_memory *from, const struct described_memory *to,
                            const struct shape *shape)
{
    ANeuralNetworksMemory *between;
    int result;

    PASS(described_host(from, shape, &between));
    result = described_read(from, between);
    if (result == ANEURALNETWORKS_NO_ERROR)
        result = described_write(between, to, shape);
    memory_free(between);
    return result;
}

/* NULL: the contents are in host memory. */
static const struct described_memory *in_driver(const ANeuralNetworksMemory *m)
{
    return m->described && m->described->buffer ? m->described : NULL;
}

static int move(ANeuralNetworksMemory *from, ANeuralNetworksMemory *to, const struct shape *shape)
{
    const struct described_memory *source = in_driver(from), *target = in_driver(to);

    if (source && target)
        return driver_to_driver(source, target, shape);
    if (source)
        return described_read(source, to);
    if (!target)
        return host_to_host(from, to);
    /* host memory says nothing of unknown dimensions */
    if (!shape_known(shape) && operand_type_is_tensor(&target->operand, target->foreign))
        return FAIL(BAD_DATA, "the dimensions of the memory that is copied to are not known");
    return described_write(from, target, shape);
}

int memory_copy(ANeuralNetworksMemory *from, ANeuralNetworksMemory *to)
{
    struct contents c;
    struct shape shape;
    int result;

    if (from == to)
        return ANEURALNETWORKS_NO_ERROR;
    c = contents_of(from);
    result = c.is_initialised ? check_fit(from, &c, to, &shape)
                              : FAIL(BAD_DATA, "the memory that is copied from has no contents");
    if (result == ANEURALNETWORKS_NO_ERROR)
        result = move(from, to, &shape);
    if (to->described)
        described_set_contents(to, result == ANEURALNETWORKS_NO_ERROR ? &shape : NULL);
    return result;
}
