/* The public headers against golden's lists of types and operations, and against the layout that
 * clients are compiled with. */
#include <stddef.h>
#include <string.h>

#include "golden/model/tensor.h"
#include "runtime/include/NeuralNetworks.h"
#include "runtime/include/NeuralNetworksExtensions.h"
#include "runtime/include/NeuralNetworksOEM.h"
#include "tests/support/check_main.h"

/* An experimental operation, which the public header does not have. */
enum { ANEURALNETWORKS_DENSIFY = 20000 };

#define OP(code, name) _Static_assert(ANEURALNETWORKS_##name == (code), #name);
#include "golden/ops.def"
#undef OP

_Static_assert(ANEURALNETWORKS_OEM_OPERATION == 10000, "");
_Static_assert(ANEURALNETWORKS_OEM_SCALAR == 10000, "");
_Static_assert(ANEURALNETWORKS_TENSOR_OEM_BYTE == 10001, "");

#ifdef __LP64__
_Static_assert(sizeof(ANeuralNetworksOperandType) == 24, "");
_Static_assert(sizeof(ANeuralNetworksSymmPerChannelQuantParams) == 16, "");
#endif
enum { P = sizeof(void *) };
_Static_assert(offsetof(ANeuralNetworksOperandType, type) == 0, "");
_Static_assert(offsetof(ANeuralNetworksOperandType, dimensionCount) == 4, "");
_Static_assert(offsetof(ANeuralNetworksOperandType, dimensions) == 8, "");
_Static_assert(offsetof(ANeuralNetworksOperandType, scale) == 8 + P, "");
_Static_assert(offsetof(ANeuralNetworksOperandType, zeroPoint) == 12 + P, "");
_Static_assert(offsetof(ANeuralNetworksSymmPerChannelQuantParams, channelDim) == 0, "");
_Static_assert(offsetof(ANeuralNetworksSymmPerChannelQuantParams, scaleCount) == 4, "");
_Static_assert(offsetof(ANeuralNetworksSymmPerChannelQuantParams, scales) == 8, "");

_Static_assert(ANEURALNETWORKS_FUSED_NONE == 0 && ANEURALNETWORKS_FUSED_RELU == 1, "");
_Static_assert(ANEURALNETWORKS_FUSED_RELU1 == 2 && ANEURALNETWORKS_FUSED_RELU6 == 3, "");
_Static_assert(ANEURALNETWORKS_PADDING_SAME == 1 && ANEURALNETWORKS_PADDING_VALID == 2, "");
_Static_assert(ANEURALNETWORKS_PREFER_LOW_POWER == 0, "");
_Static_assert(ANEURALNETWORKS_PREFER_FAST_SINGLE_ANSWER == 1, "");
_Static_assert(ANEURALNETWORKS_PREFER_SUSTAINED_SPEED == 2, "");
_Static_assert(ANEURALNETWORKS_DEVICE_UNKNOWN == 0 && ANEURALNETWORKS_DEVICE_OTHER == 1, "");
_Static_assert(ANEURALNETWORKS_DEVICE_CPU == 2 && ANEURALNETWORKS_DEVICE_GPU == 3, "");
_Static_assert(ANEURALNETWORKS_DEVICE_ACCELERATOR == 4, "");
_Static_assert(ANEURALNETWORKS_NO_ERROR == 0 && ANEURALNETWORKS_OUT_OF_MEMORY == 1, "");
_Static_assert(ANEURALNETWORKS_INCOMPLETE == 2 && ANEURALNETWORKS_UNEXPECTED_NULL == 3, "");
_Static_assert(ANEURALNETWORKS_BAD_DATA == 4 && ANEURALNETWORKS_OP_FAILED == 5, "");
_Static_assert(ANEURALNETWORKS_BAD_STATE == 6 && ANEURALNETWORKS_UNMAPPABLE == 7, "");
_Static_assert(ANEURALNETWORKS_OUTPUT_INSUFFICIENT_SIZE == 8, "");
_Static_assert(ANEURALNETWORKS_UNAVAILABLE_DEVICE == 9, "");
_Static_assert(ANEURALNETWORKS_MISSED_DEADLINE_TRANSIENT == 10, "");
_Static_assert(ANEURALNETWORKS_MISSED_DEADLINE_PERSISTENT == 11, "");
_Static_assert(ANEURALNETWORKS_RESOURCE_EXHAUSTED_TRANSIENT == 12, "");
_Static_assert(ANEURALNETWORKS_RESOURCE_EXHAUSTED_PERSISTENT == 13, "");
_Static_assert(ANEURALNETWORKS_DEAD_OBJECT == 14, "");
_Static_assert(ANEURALNETWORKS_DURATION_ON_HARDWARE == 0, "");
_Static_assert(ANEURALNETWORKS_DURATION_IN_DRIVER == 1, "");
_Static_assert(ANEURALNETWORKS_FENCED_DURATION_ON_HARDWARE == 2, "");
_Static_assert(ANEURALNETWORKS_FENCED_DURATION_IN_DRIVER == 3, "");
_Static_assert(ANEURALNETWORKS_PRIORITY_LOW == 90 && ANEURALNETWORKS_PRIORITY_HIGH == 110, "");
_Static_assert(ANEURALNETWORKS_PRIORITY_MEDIUM == 100, "");
_Static_assert(ANEURALNETWORKS_PRIORITY_DEFAULT == 100, "");
_Static_assert(ANEURALNETWORKS_FEATURE_LEVEL_1 == 27 && ANEURALNETWORKS_FEATURE_LEVEL_5 == 31, "");
_Static_assert(ANEURALNETWORKS_FEATURE_LEVEL_6 == 1000006, "");
_Static_assert(ANEURALNETWORKS_FEATURE_LEVEL_8 == 1000008, "");
_Static_assert(ANEURALNETWORKS_BYTE_SIZE_OF_CACHE_TOKEN == 32, "");
_Static_assert(ANEURALNETWORKS_MAX_SIZE_OF_IMMEDIATELY_COPIED_VALUES == 128, "");

/* Names of types in the API, by code. */
static const char *const type_names[] = {
#define T(name) [ANEURALNETWORKS_##name] = #name
    T(FLOAT32),
    T(INT32),
    T(UINT32),
    T(TENSOR_FLOAT32),
    T(TENSOR_INT32),
    T(TENSOR_QUANT8_ASYMM),
    T(BOOL),
    T(TENSOR_QUANT16_SYMM),
    T(TENSOR_FLOAT16),
    T(TENSOR_BOOL8),
    T(FLOAT16),
    T(TENSOR_QUANT8_SYMM_PER_CHANNEL),
    T(TENSOR_QUANT16_ASYMM),
    T(TENSOR_QUANT8_SYMM),
    T(TENSOR_QUANT8_ASYMM_SIGNED),
    T(MODEL),
#undef T
};

START_TEST(has_codes_of_types)
{
    int n = 0;

#define DTYPE(code, id, name, short_name, codec, quant, since)                                     \
    if ((code) < 100) {                                                                            \
        const char *expected = strcmp(name, "SUBGRAPH") == 0 ? "MODEL" : (name);                   \
                                                                                                   \
        ck_assert_str_eq(type_names[code], expected);                                              \
        n++;                                                                                       \
    }
#include "golden/model/dtype.def"
#undef DTYPE
    ck_assert_int_eq(n, 16);
}
END_TEST

Suite *nnapi_types_suite(void)
{
    Suite *s = suite_create("nnapi_types");
    TCase *c = tcase_create("headers");

    tcase_add_test(c, has_codes_of_types);
    suite_add_tcase(s, c);
    return s;
}
