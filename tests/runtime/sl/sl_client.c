#include "tests/runtime/sl/sl_client.h"

#include <check.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

typedef NnApiSLDriverImpl *get_table(void);

const NnApiSLDriverImplFL5 *load_library(const char *device)
{
    void *library;
    get_table *get;
    void *symbol;

    if (device)
        ck_assert_int_eq(setenv("HALCYON_SL_DEVICE", device, 1), 0);
    library = dlopen(getenv("SUPPORT_LIBRARY"), RTLD_LAZY | RTLD_LOCAL);
    ck_assert_msg(library, "%s", dlerror());
    symbol = dlsym(library, "ANeuralNetworks_getSLDriverImpl");
    ck_assert_ptr_nonnull(symbol);
    memcpy(&get, &symbol, sizeof get);
    ck_assert_ptr_eq(get(), get());
    return (const NnApiSLDriverImplFL5 *) get();
}

const ANeuralNetworksDevice *only_device(const NnApiSLDriverImplFL5 *nn)
{
    ANeuralNetworksDevice *d;
    uint32_t n;

    OK(nn->ANeuralNetworks_getDeviceCount(&n));
    ck_assert_uint_eq(n, 1);
    OK(nn->ANeuralNetworks_getDevice(0, &d));
    EXPECT(nn->ANeuralNetworks_getDevice(1, &(ANeuralNetworksDevice *){ NULL }), BAD_DATA);
    return d;
}

ANeuralNetworksModel *sl_add_model(const NnApiSLDriverImplFL5 *nn, uint32_t n)
{
    const ANeuralNetworksOperandType tensor = { ANEURALNETWORKS_TENSOR_FLOAT32, 1, &n, 0, 0 };
    const ANeuralNetworksOperandType scalar = { ANEURALNETWORKS_INT32, 0, NULL, 0, 0 };
    const int32_t none = ANEURALNETWORKS_FUSED_NONE;
    const uint32_t in[] = { 0, 1, 2 }, out = 3;
    ANeuralNetworksModel *m;

    OK(nn->ANeuralNetworksModel_create(&m));
    OK(nn->ANeuralNetworksModel_addOperand(m, &tensor));
    OK(nn->ANeuralNetworksModel_addOperand(m, &tensor));
    OK(nn->ANeuralNetworksModel_addOperand(m, &scalar));
    OK(nn->ANeuralNetworksModel_addOperand(m, &tensor));
    OK(nn->ANeuralNetworksModel_setOperandValue(m, 2, &none, sizeof none));
    OK(nn->ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_ADD, 3, in, 1, &out));
    OK(nn->ANeuralNetworksModel_identifyInputsAndOutputs(m, 2, in, 1, &out));
    OK(nn->ANeuralNetworksModel_finish(m));
    return m;
}

ANeuralNetworksCompilation *sl_compilation(const NnApiSLDriverImplFL5 *nn, ANeuralNetworksModel *m)
{
    const ANeuralNetworksDevice *d = only_device(nn);
    ANeuralNetworksCompilation *c;

    OK(nn->ANeuralNetworksCompilation_createForDevices(m, &d, 1, &c));
    return c;
}

ANeuralNetworksExecution *sl_execution(const NnApiSLDriverImplFL5 *nn,
                                       ANeuralNetworksCompilation *c, const float a[2],
                                       const float b[2], float sum[2])
{
    ANeuralNetworksExecution *e;

    OK(nn->ANeuralNetworksExecution_create(c, &e));
    OK(nn->ANeuralNetworksExecution_setInput(e, 0, NULL, a, 2 * sizeof *a));
    OK(nn->ANeuralNetworksExecution_setInput(e, 1, NULL, b, 2 * sizeof *b));
    OK(nn->ANeuralNetworksExecution_setOutput(e, 0, NULL, sum, 2 * sizeof *sum));
    return e;
}
