/* A driver in a shared library that is written against Android's AIDL interface: sim:cpu as an AIDL
 * device (driver_to_aidl.hpp), used as a driver of hal.h again (driver_from_aidl.hpp).  Argument:
 * the version of the interface that the device reports, 1 to 4 (default 4). */
#include "driver_from_aidl.hpp"
#include "driver_to_aidl.hpp"

extern "C" hal_driver *inner_driver_open(int version, char *why, size_t why_size);

namespace {

class Device : public halcyon::AidlDevice {
  public:
    Device(hal_driver *inner, int32_t interface_version)
        : AidlDevice(inner), interface_version_(interface_version)
    {
    }
    ndk::ScopedAStatus getInterfaceVersion(int32_t *ret) override
    {
        *ret = interface_version_;
        return ndk::ScopedAStatus::ok();
    }

  private:
    int32_t interface_version_;
};

} // namespace

extern "C" __attribute__((visibility("default"))) hal_driver *
hal_driver_open(uint32_t abi_version, const char *arguments, char *why, size_t why_size)
{
    int version = *arguments ? std::atoi(arguments) : 4;
    hal_driver *inner = inner_driver_open(version, why, why_size);

    if (!inner)
        return nullptr;
    return halcyon::driver_from_aidl(abi_version, "aidl-cpu",
                                     ndk::SharedRefBase::make<Device>(inner, version), why,
                                     why_size);
}
