/* Types that clients declare: of operands when they are added, and of arguments of executions. */
#include "golden/model/extension.h"
#include "runtime/base/failure.h"
#include "runtime/devices/runtime_device.h"
#include "runtime/model/runtime_model.h"

#define LOG_TAG "TypeManager"

enum { OEM_SCALAR = OEM_CODE, OEM_TENSOR = OEM_CODE + 1 };

/* The type code as golden has it. */
static int read_code(int32_t code, struct tensor *t, int32_t *ret_foreign, bool *ret_tensor)
{
    uint32_t prefix = extension_prefix_of(code);
    const struct hal_extension_type *stated;

    t->dtype = DT_FOREIGN;
    *ret_foreign = code;
    *ret_tensor = false;
    if (code >= 0 && code < DT_COUNT) {
        t->dtype = (enum dtype) code;
        *ret_foreign = 0;
        *ret_tensor = dtype_info[code].tensor;
        return ANEURALNETWORKS_NO_ERROR;
    }
    if (code == OEM_SCALAR)
        return ANEURALNETWORKS_NO_ERROR;
    if (code == OEM_TENSOR) {
        t->dtype = DT_OEM_BYTE;
        *ret_foreign = 0;
        *ret_tensor = true;
        return ANEURALNETWORKS_NO_ERROR;
    }
    stated = prefix > EXTENSION_oem ? extension_type_stated(code) : NULL;
    if (!stated)
        return FAIL(BAD_DATA, "operand type %d is not known", code);
    *ret_tensor = stated->is_tensor;
    if (prefix < EXTENSION_END)
        t->dtype = extension_type((enum extension_prefix) prefix, stated->type);
    if (t->dtype != DT_FOREIGN)
        *ret_foreign = 0;
    return ANEURALNETWORKS_NO_ERROR;
}

static int read_shape(const ANeuralNetworksOperandType *type, bool tensor, struct tensor *t)
{
    uint32_t rank = type->dimensionCount;

    if ((rank == 0) != (type->dimensions == NULL))
        return FAIL(BAD_DATA, "%u dimensions, but dimensions is %s", rank,
                    rank ? "NULL" : "not NULL");
    if (!tensor && rank)
        return FAIL(BAD_DATA, "scalar type %d has %u dimensions", type->type, rank);
    if (rank > MAX_RANK)
        return FAIL(BAD_DATA, "rank %u, at most %d are supported", rank, MAX_RANK);
    t->shape.rank = rank;
    for (uint32_t i = 0; i < rank; i++)
        t->shape.dim[i] = type->dimensions[i];
    return ANEURALNETWORKS_NO_ERROR;
}

uint32_t operand_type_element_size(const struct tensor *t, int32_t foreign)
{
    const struct hal_extension_type *stated;

    if (t->dtype != DT_FOREIGN)
        return (uint32_t) dtype_info[t->dtype].codec->size;
    stated = foreign == OEM_SCALAR ? NULL : extension_type_stated(foreign);
    return stated ? stated->byte_size : 0;
}

bool operand_type_is_oem_scalar(const struct tensor *t, int32_t foreign)
{
    return t->dtype == DT_FOREIGN && foreign == OEM_SCALAR;
}

bool operand_type_is_tensor(const struct tensor *t, int32_t foreign)
{
    const struct hal_extension_type *stated;

    if (t->dtype != DT_FOREIGN)
        return dtype_info[t->dtype].tensor;
    stated = foreign == OEM_SCALAR ? NULL : extension_type_stated(foreign);
    return stated && stated->is_tensor;
}

uint64_t operand_type_size(const struct tensor *t, int32_t foreign)
{
    if (operand_type_is_tensor(t, foreign) && !shape_known(&t->shape))
        return 0;
    return shape_count(&t->shape) * operand_type_element_size(t, foreign);
}

int operand_type_check(const ANeuralNetworksOperandType *type, struct tensor *ret,
                       int32_t *ret_foreign)
{
    struct tensor t = { .scale = type->scale, .zero = type->zeroPoint };
    int32_t foreign;
    bool tensor;
    struct why w;

    PASS(read_code(type->type, &t, &foreign, &tensor));
    PASS(read_shape(type, tensor, &t));
    uint32_t size = operand_type_element_size(&t, foreign);
    if (shape_check_size(&t.shape, size ? size : 1) < 0)
        return FAIL(BAD_DATA, "an operand of more than 2^32 - 1 bytes");
    /* The scale of a TENSOR_INT32 is checked when the model is finished; OEM types may have any. */
    bool any = dtype_info[t.dtype].quant == QUANT_BIAS || t.dtype == DT_OEM_BYTE ||
               operand_type_is_oem_scalar(&t, foreign);
    if (!any && tensor_check_scale(&t, &w) < 0)
        return FAIL_WHY(&w);
    *ret = t;
    *ret_foreign = foreign;
    return ANEURALNETWORKS_NO_ERROR;
}
