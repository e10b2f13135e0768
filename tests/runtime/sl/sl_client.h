/* A client of the support library: it has the table and nothing else. */
#ifndef TESTS_SL_CLIENT_H
#define TESTS_SL_CLIENT_H

#include "runtime/include/NeuralNetworksSupportLibraryImpl.h"

/* Loads the library that SUPPORT_LIBRARY names, over that device (HALCYON_SL_DEVICE); NULL: as the
 * environment is. */
const NnApiSLDriverImplFL5 *load_library(const char *device);
/* Its only device. */
const ANeuralNetworksDevice *only_device(const NnApiSLDriverImplFL5 *nn);

/* A finished model: out = a + b, TENSOR_FLOAT32 {n}. */
ANeuralNetworksModel *sl_add_model(const NnApiSLDriverImplFL5 *nn, uint32_t n);
/* For the only device, not finished. */
ANeuralNetworksCompilation *sl_compilation(const NnApiSLDriverImplFL5 *nn, ANeuralNetworksModel *m);
/* Of add_model(2), with these arguments. */
ANeuralNetworksExecution *sl_execution(const NnApiSLDriverImplFL5 *nn,
                                       ANeuralNetworksCompilation *c, const float a[2],
                                       const float b[2], float sum[2]);

#define EXPECT(call, result) ck_assert_int_eq((call), ANEURALNETWORKS_##result)
#define OK(call)             EXPECT(call, NO_ERROR)

#endif
