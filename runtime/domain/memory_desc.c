/* Memory descriptors: the uses that they collect. */
#include "runtime/domain/memory_desc.h"

#include <stdlib.h>

#include "golden/base/array.h"
#include "runtime/base/failure.h"
#include "runtime/compile/compilation.h"

#define LOG_TAG "Memory"

int memory_desc_create(ANeuralNetworksMemoryDesc **ret)
{
    *ret = calloc(1, sizeof(**ret));
    return *ret ? ANEURALNETWORKS_NO_ERROR : FAIL(OUT_OF_MEMORY, "no memory for a descriptor");
}

void memory_desc_free(ANeuralNetworksMemoryDesc *d)
{
    if (!d)
        return;
    free(d->role);
    free(d->frequency);
    free(d);
}

bool shape_merge(struct shape *to, const struct shape *from)
{
    struct shape merged = to->rank ? *to : *from;

    if (to->rank && from->rank) {
        if (to->rank != from->rank)
            return false;
        for (uint32_t i = 0; i < from->rank; i++) {
            if (to->dim[i] && from->dim[i] && to->dim[i] != from->dim[i])
                return false;
            merged.dim[i] = to->dim[i] ? to->dim[i] : from->dim[i];
        }
    }
    *to = merged;
    return true;
}

static bool has_role(const ANeuralNetworksMemoryDesc *d, const struct memory_role *r)
{
    for (uint32_t i = 0; i < d->n_roles; i++)
        if (d->role[i].number == r->number && d->role[i].is_output == r->is_output &&
            d->role[i].index == r->index)
            return true;
    return false;
}

static int grow(ANeuralNetworksMemoryDesc *d)
{
    struct memory_role *role = array_room(d->role, d->n_roles, sizeof(*role));
    if (role)
        d->role = role;
    float *frequency = array_room(d->frequency, d->n_roles, sizeof(*frequency));
    if (frequency)
        d->frequency = frequency;
    if (!role || !frequency)
        return FAIL(OUT_OF_MEMORY, "no memory for %u roles", d->n_roles + 1);
    return ANEURALNETWORKS_NO_ERROR;
}

/* Whether the operand of a new role is like those before; *ret_shape: with its dimensions. */
static int check_operand(const ANeuralNetworksMemoryDesc *d, const struct operand *o,
                         struct shape *ret_shape)
{
    const struct tensor *first = &d->operand, *t = &o->tensor;

    if (d->n_roles && (t->dtype != first->dtype || o->foreign != d->foreign))
        return FAIL(BAD_DATA, "type %s, but the first role has %s", dtype_info[t->dtype].name,
                    dtype_info[first->dtype].name);
    if (d->n_roles && !tensor_same_quant(t, first))
        return FAIL(BAD_DATA,
                    "scale, zero point or extension data differ from those of the first role");
    if (!operand_type_is_tensor(t, o->foreign) && d->operand.shape.rank)
        return FAIL(BAD_DATA, "dimensions are set, but the role is that of a scalar");
    *ret_shape = d->operand.shape;
    if (!shape_merge(ret_shape, &t->shape))
        return FAIL(BAD_DATA, "the dimensions contradict those of the roles before, or those that "
                              "are set");
    return ANEURALNETWORKS_NO_ERROR;
}

int memory_desc_add_role(ANeuralNetworksMemoryDesc *d, const ANeuralNetworksCompilation *c,
                         bool is_output, uint32_t index, float frequency)
{
    struct memory_role role = { c, c->number, is_output, index };
    const struct operand *o;
    struct shape shape;

    if (d->is_finished)
        return FAIL(BAD_STATE, "the descriptor is finished");
    if (has_role(d, &role))
        return FAIL(BAD_DATA, "this role is there already");
    if (c->state != COMPILATION_VALID)
        return FAIL(BAD_DATA, "the compilation is not finished, or it failed");
    o = compilation_argument(c, is_output, index);
    if (!o)
        return FAIL(BAD_DATA, "there is no %s %u", is_output ? "output" : "input", index);
    PASS(check_operand(d, o, &shape));
    if (!(frequency > 0 && frequency <= 1))
        return FAIL(BAD_DATA, "a frequency of %g, must be above 0 and at most 1",
                    (double) frequency);
    PASS(grow(d));
    if (!d->n_roles) {
        d->operand = o->tensor;
        d->operand.data = NULL;
        d->foreign = o->foreign;
    }
    d->operand.shape = shape;
    d->frequency[d->n_roles] = frequency;
    d->role[d->n_roles++] = role;
    return ANEURALNETWORKS_NO_ERROR;
}

int memory_desc_set_dimensions(ANeuralNetworksMemoryDesc *d, uint32_t rank,
                               const uint32_t *dimensions)
{
    struct shape asked = { .rank = rank };

    if (d->is_finished)
        return FAIL(BAD_STATE, "the descriptor is finished");
    if (rank && d->n_roles && !operand_type_is_tensor(&d->operand, d->foreign))
        return FAIL(BAD_DATA, "%u dimensions, but the roles are those of scalars", rank);
    if (rank > MAX_RANK)
        return FAIL(BAD_DATA, "%u dimensions, at most %d are supported", rank, MAX_RANK);
    for (uint32_t i = 0; i < rank; i++)
        asked.dim[i] = dimensions[i];
    if (!shape_merge(&d->operand.shape, &asked))
        return FAIL(BAD_DATA, "the dimensions contradict those of the roles, or those that are "
                              "set");
    return ANEURALNETWORKS_NO_ERROR;
}

int memory_desc_finish(ANeuralNetworksMemoryDesc *d)
{
    if (d->is_finished)
        return FAIL(BAD_STATE, "the descriptor is finished");
    if (!d->n_roles)
        return FAIL(BAD_DATA, "the descriptor has no role");
    d->is_finished = true;
    return ANEURALNETWORKS_NO_ERROR;
}
