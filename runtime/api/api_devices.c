/* Entry points: devices. */
#include "runtime/api/entry.h"
#include "runtime/base/failure.h"
#include "runtime/devices/runtime_device.h"
#include "runtime/include/NeuralNetworksExtensions.h"

#define LOG_TAG "NeuralNetworks"

int64_t ANeuralNetworks_getRuntimeFeatureLevel(void)
{
    return level_code(runtime_level());
}

int ANeuralNetworks_getDeviceCount(uint32_t *numDevices)
{
    entry_begin(__func__);
    REQUIRE_GIVEN(numDevices);
    *numDevices = devices()->n;
    return ANEURALNETWORKS_NO_ERROR;
}

int ANeuralNetworks_getDevice(uint32_t devIndex, ANeuralNetworksDevice **device)
{
    entry_begin(__func__);
    REQUIRE_GIVEN(device);
    const struct device_list *all = devices();
    *device = NULL;
    if (devIndex >= all->n)
        return FAIL(BAD_DATA, "device %u of %u", devIndex, all->n);
    *device = all->device[devIndex];
    return ANEURALNETWORKS_NO_ERROR;
}

int ANeuralNetworksDevice_getName(const ANeuralNetworksDevice *device, const char **name)
{
    entry_begin(__func__);
    REQUIRE_GIVEN(device);
    REQUIRE_GIVEN(name);
    *name = device->name;
    return ANEURALNETWORKS_NO_ERROR;
}

int ANeuralNetworksDevice_getType(const ANeuralNetworksDevice *device, int32_t *type)
{
    entry_begin(__func__);
    REQUIRE_GIVEN(device);
    REQUIRE_GIVEN(type);
    *type = device->type;
    return ANEURALNETWORKS_NO_ERROR;
}

int ANeuralNetworksDevice_getVersion(const ANeuralNetworksDevice *device, const char **version)
{
    entry_begin(__func__);
    REQUIRE_GIVEN(device);
    REQUIRE_GIVEN(version);
    *version = device->version;
    return ANEURALNETWORKS_NO_ERROR;
}

int ANeuralNetworksDevice_getFeatureLevel(const ANeuralNetworksDevice *device,
                                          int64_t *featureLevel)
{
    entry_begin(__func__);
    REQUIRE_GIVEN(device);
    REQUIRE_GIVEN(featureLevel);
    *featureLevel = level_code(device->level);
    return ANEURALNETWORKS_NO_ERROR;
}

int ANeuralNetworksDevice_wait(const ANeuralNetworksDevice *device)
{
    entry_begin(__func__);
    REQUIRE_GIVEN(device);
    return device_wait(device);
}

int ANeuralNetworksDevice_getExtensionSupport(const ANeuralNetworksDevice *device,
                                              const char *extensionName, bool *isExtensionSupported)
{
    entry_begin(__func__);
    REQUIRE_GIVEN(device);
    REQUIRE_GIVEN(extensionName);
    REQUIRE_GIVEN(isExtensionSupported);
    *isExtensionSupported = device_has_extension(device, extensionName);
    return ANEURALNETWORKS_NO_ERROR;
}
