#include "tests/runtime/nnapi_client.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void use_devices(const char *format)
{
    const char *scripted = getenv("SCRIPTED_DRIVER"), *chosen = getenv("CHOSEN_DRIVER");
    char text[4096], *to = text;

    ck_assert_msg(scripted && chosen, "SCRIPTED_DRIVER or CHOSEN_DRIVER is not set");
    for (const char *at = format; *at;) {
        size_t left = sizeof text - (size_t) (to - text);
        if (strncmp(at, "%s", 2) == 0 || strncmp(at, "%c", 2) == 0) {
            to += snprintf(to, left, "lib:%s", at[1] == 's' ? scripted : chosen);
            at += 2;
        } else {
            to += snprintf(to, left, "%c", *at++);
        }
    }
    ck_assert_int_eq(setenv("HALCYON_DEVICES", text, 1), 0);
}

ANeuralNetworksDevice *device_at(uint32_t index)
{
    ANeuralNetworksDevice *d;

    OK(ANeuralNetworks_getDevice(index, &d));
    return d;
}

ANeuralNetworksDevice *device_named(const char *name)
{
    const char *found;
    uint32_t n;

    OK(ANeuralNetworks_getDeviceCount(&n));
    for (uint32_t i = 0; i < n; i++) {
        OK(ANeuralNetworksDevice_getName(device_at(i), &found));
        if (strcmp(found, name) == 0)
            return device_at(i);
    }
    ck_abort_msg("no device %s", name);
    return NULL;
}

ANeuralNetworksModel *add_model(uint32_t n)
{
    const ANeuralNetworksOperandType tensor = { ANEURALNETWORKS_TENSOR_FLOAT32, 1, &n, 0, 0 };
    const ANeuralNetworksOperandType scalar = { ANEURALNETWORKS_INT32, 0, NULL, 0, 0 };
    const int32_t none = ANEURALNETWORKS_FUSED_NONE;
    ANeuralNetworksModel *m;

    OK(ANeuralNetworksModel_create(&m));
    OK(ANeuralNetworksModel_addOperand(m, &tensor));
    OK(ANeuralNetworksModel_addOperand(m, &tensor));
    OK(ANeuralNetworksModel_addOperand(m, &scalar));
    OK(ANeuralNetworksModel_addOperand(m, &tensor));
    OK(ANeuralNetworksModel_setOperandValue(m, 2, &none, sizeof none));
    OK(ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_ADD, 3, (uint32_t[]){ 0, 1, 2 }, 1,
                                         (uint32_t[]){ 3 }));
    OK(ANeuralNetworksModel_identifyInputsAndOutputs(m, 2, (uint32_t[]){ 0, 1 }, 1,
                                                     (uint32_t[]){ 3 }));
    OK(ANeuralNetworksModel_finish(m));
    return m;
}

ANeuralNetworksModel *floor_model(void)
{
    const uint32_t one = 1;
    const ANeuralNetworksOperandType tensor = { ANEURALNETWORKS_TENSOR_FLOAT32, 1, &one, 0, 0 };
    ANeuralNetworksModel *m;

    OK(ANeuralNetworksModel_create(&m));
    OK(ANeuralNetworksModel_addOperand(m, &tensor));
    OK(ANeuralNetworksModel_addOperand(m, &tensor));
    OK(ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_FLOOR, 1, (uint32_t[]){ 0 }, 1,
                                         (uint32_t[]){ 1 }));
    OK(ANeuralNetworksModel_identifyInputsAndOutputs(m, 1, (uint32_t[]){ 0 }, 1,
                                                     (uint32_t[]){ 1 }));
    OK(ANeuralNetworksModel_finish(m));
    return m;
}

ANeuralNetworksCompilation *compile_on(ANeuralNetworksModel *m, const ANeuralNetworksDevice *d)
{
    ANeuralNetworksCompilation *c;

    if (d)
        OK(ANeuralNetworksCompilation_createForDevices(m, &d, 1, &c));
    else
        OK(ANeuralNetworksCompilation_create(m, &c));
    OK(ANeuralNetworksCompilation_finish(c));
    return c;
}
