// A device of Android's AIDL interface IDevice from a driver of hal.h, which must answer feature
// level 5 at least:
//
//     hal_driver *driver = hal_driver_open(HAL_ABI_VERSION, "", why, sizeof why);
//     auto device = ndk::SharedRefBase::make<halcyon::AidlDevice>(driver);  // closes the driver
//
// Register it with AServiceManager_addService() as any other device.  The driver is called with the
// version that HALCYON_AIDL_VERSION and its own version allow.
#ifndef HALCYON_DRIVER_TO_AIDL_HPP
#define HALCYON_DRIVER_TO_AIDL_HPP

#include <algorithm>
#include <mutex>

#include "aidl_convert.hpp"

namespace halcyon {
namespace aidl_driver {

// The driver, closed when nothing of it is left.
struct OwnedDriver {
    hal_driver *hal;
    enum hal_version version;

    OwnedDriver(hal_driver *d, enum hal_version v) : hal(d), version(v) {}
    OwnedDriver(const OwnedDriver &) = delete;
    ~OwnedDriver() { hal->close(hal); }

    Status answer(enum hal_status status) const
    {
        char text[HAL_TEXT_BYTES] = "";
        if (status != HAL_NONE && hal->get_failure_text)
            hal->get_failure_text(hal, text, sizeof text);
        return status_to(status, text);
    }
};
using DriverRef = std::shared_ptr<OwnedDriver>;

struct OwnedModel {
    DriverRef driver;
    hal_prepared_model *hal;

    OwnedModel(DriverRef d, hal_prepared_model *m) : driver(std::move(d)), hal(m) {}
    OwnedModel(const OwnedModel &) = delete;
    ~OwnedModel() { hal->methods->release(hal); }
};
using ModelRef = std::shared_ptr<OwnedModel>;

// Room for the results of one execution.
struct Result {
    std::vector<hal_output_shape> shapes;
    hal_result hal = {};

    explicit Result(uint32_t n_outputs) : shapes(n_outputs)
    {
        hal.shapes = shapes.data();
        hal.capacity = n_outputs;
        hal.timing = { HAL_NO_TIME, HAL_NO_TIME };
    }
};

// OUTPUT_INSUFFICIENT_SIZE is no failure of the call: its shapes say what is needed.
inline Status answer(const OwnedDriver &d, enum hal_status status, const Result &r,
                     nn::ExecutionResult *ret)
{
    if (status != HAL_NONE && status != HAL_OUTPUT_INSUFFICIENT_SIZE)
        return d.answer(status);
    result_to(status, r.hal, ret);
    return Status::ok();
}

inline std::vector<int> descriptors(const std::vector<Fd> &from)
{
    std::vector<int> r;
    for (const Fd &f : from)
        r.push_back(f.get());
    return r;
}

inline hal_execution_config config_of(bool measure, int64_t deadline, int64_t loop_timeout)
{
    hal_execution_config c = {};
    c.measure = measure;
    c.deadline = time_from_aidl(deadline);
    c.loop_timeout = time_from_aidl(loop_timeout);
    return c;
}

#if HALCYON_AIDL_VERSION >= 4
struct HalConfig {
    HalHints hints;
    HalPrefixes prefixes;
    hal_execution_config hal;

    HalConfig(const nn::ExecutionConfig &c, int64_t deadline)
        : hints(c.executionHints), prefixes(c.extensionNameToPrefix),
          hal(config_of(c.measureTiming, deadline, c.loopTimeoutDurationNs))
    {
        hal.n_hints = static_cast<uint32_t>(hints.hint.size());
        hal.hints = hints.hint.data();
        hal.n_extension_prefixes = static_cast<uint32_t>(prefixes.prefix.size());
        hal.extension_name_to_prefix = prefixes.prefix.data();
    }
};
#endif

class FencedCallback : public nn::BnFencedExecutionCallback {
  public:
    FencedCallback(DriverRef driver, hal_fenced_info *info) : driver_(std::move(driver)), info_(info)
    {
    }
    ~FencedCallback() override { info_->methods->release(info_); }

    Status getExecutionInfo(nn::Timing *launched, nn::Timing *fenced,
                            nn::ErrorStatus *ret_status) override
    {
        hal_timing l = { HAL_NO_TIME, HAL_NO_TIME }, f = l;
        enum hal_status status = info_->methods->get_execution_info(info_, &l, &f);
        *launched = timing_to(l);
        *fenced = timing_to(f);
        *ret_status = static_cast<nn::ErrorStatus>(status);
        return Status::ok();
    }

  private:
    DriverRef driver_;
    hal_fenced_info *info_;
};

inline Status answer_fenced(const DriverRef &d, enum hal_status status, int fence,
                            hal_fenced_info *info, nn::FencedExecutionResult *ret)
{
    if (status != HAL_NONE)
        return d->answer(status);
    ret->callback = ndk::SharedRefBase::make<FencedCallback>(d, info);
    ret->syncFence = Fd(fence);
    return Status::ok();
}

class AidlBurst : public nn::BnBurst {
  public:
    AidlBurst(ModelRef model, hal_burst *burst) : model_(std::move(model)), burst_(burst) {}
    ~AidlBurst() override { burst_->methods->release(burst_); }

    Status executeSynchronously(const nn::Request &request, const std::vector<int64_t> &identifiers,
                                bool measure, int64_t deadline, int64_t loop_timeout,
                                nn::ExecutionResult *ret) override
    {
        return run(request, identifiers, config_of(measure, deadline, loop_timeout), ret);
    }
#if HALCYON_AIDL_VERSION >= 4
    Status executeSynchronouslyWithConfig(const nn::Request &request,
                                          const std::vector<int64_t> &identifiers,
                                          const nn::ExecutionConfig &config, int64_t deadline,
                                          nn::ExecutionResult *ret) override
    {
        HalConfig c(config, deadline);
        return run(request, identifiers, c.hal, ret);
    }
#endif
    Status releaseMemoryResource(int64_t identifier) override
    {
        return model_->driver->answer(burst_->methods->release_memory(burst_, identifier));
    }

  private:
    Status run(const nn::Request &request, const std::vector<int64_t> &identifiers,
               const hal_execution_config &config, nn::ExecutionResult *ret)
    {
        HalRequest r(request);
        Result result(model_->hal->n_outputs);
        enum hal_status status = burst_->methods->execute_synchronously(
            burst_, &r.hal, static_cast<uint32_t>(identifiers.size()), identifiers.data(), &config,
            &result.hal);
        return answer(*model_->driver, status, result, ret);
    }

    ModelRef model_;
    hal_burst *burst_;
};

#if HALCYON_AIDL_VERSION >= 4
// Keeps the request: its descriptors are the memory that the execution names.
class AidlExecution : public nn::BnExecution {
  public:
    AidlExecution(ModelRef model, hal_execution *execution, std::vector<Fd> kept)
        : model_(std::move(model)), execution_(execution), kept_(std::move(kept))
    {
    }
    ~AidlExecution() override { execution_->methods->release(execution_); }

    Status executeSynchronously(int64_t deadline, nn::ExecutionResult *ret) override
    {
        Result result(model_->hal->n_outputs);
        enum hal_status status = execution_->methods->execute_synchronously(
            execution_, time_from_aidl(deadline), &result.hal);
        return answer(*model_->driver, status, result, ret);
    }
    Status executeFenced(const std::vector<Fd> &wait_for, int64_t deadline, int64_t duration,
                         nn::FencedExecutionResult *ret) override
    {
        std::vector<int> fences = descriptors(wait_for);
        hal_fenced_info *info = nullptr;
        int fence = HAL_NO_FENCE;
        enum hal_status status = execution_->methods->execute_fenced(
            execution_, static_cast<uint32_t>(fences.size()), fences.data(),
            time_from_aidl(deadline), time_from_aidl(duration), &fence, &info);
        return answer_fenced(model_->driver, status, fence, info, ret);
    }

  private:
    ModelRef model_;
    hal_execution *execution_;
    std::vector<Fd> kept_;
};
#endif

class AidlModel : public nn::BnPreparedModel {
  public:
    explicit AidlModel(ModelRef model) : model_(std::move(model)) {}

    hal_prepared_model *hal() const { return model_->hal; }
    const DriverRef &driver() const { return model_->driver; }

    Status executeSynchronously(const nn::Request &request, bool measure, int64_t deadline,
                                int64_t loop_timeout, nn::ExecutionResult *ret) override
    {
        return run(request, config_of(measure, deadline, loop_timeout), ret);
    }
    Status executeFenced(const nn::Request &request, const std::vector<Fd> &wait_for, bool measure,
                         int64_t deadline, int64_t loop_timeout, int64_t duration,
                         nn::FencedExecutionResult *ret) override
    {
        return run_fenced(request, wait_for, config_of(measure, deadline, loop_timeout), duration,
                          ret);
    }
#if HALCYON_AIDL_VERSION >= 4
    Status executeSynchronouslyWithConfig(const nn::Request &request,
                                          const nn::ExecutionConfig &config, int64_t deadline,
                                          nn::ExecutionResult *ret) override
    {
        HalConfig c(config, deadline);
        return run(request, c.hal, ret);
    }
    Status executeFencedWithConfig(const nn::Request &request, const std::vector<Fd> &wait_for,
                                   const nn::ExecutionConfig &config, int64_t deadline,
                                   int64_t duration, nn::FencedExecutionResult *ret) override
    {
        HalConfig c(config, deadline);
        return run_fenced(request, wait_for, c.hal, duration, ret);
    }
    Status createReusableExecution(const nn::Request &request, const nn::ExecutionConfig &config,
                                   std::shared_ptr<nn::IExecution> *ret) override
    {
        const auto *m = model_->hal->methods;
        HalConfig c(config, -1);
        HalRequest r(request);
        hal_execution *x = nullptr;
        std::vector<Fd> kept;
        if (!m->create_reusable_execution)
            return model_->driver->answer(HAL_GENERAL_FAILURE);
        for (auto &p : r.pools)
            if (!p.is_token) {
                kept.push_back(duplicate(p.memory.fd));
                p.memory.fd = kept.back().get();
            }
        enum hal_status status = m->create_reusable_execution(model_->hal, &r.hal, &c.hal, &x);
        if (status == HAL_NONE)
            *ret = ndk::SharedRefBase::make<AidlExecution>(model_, x, std::move(kept));
        return model_->driver->answer(status);
    }
#endif
    Status configureExecutionBurst(std::shared_ptr<nn::IBurst> *ret) override
    {
        const auto *m = model_->hal->methods;
        hal_burst *burst = nullptr;
        if (!m->configure_burst)
            return model_->driver->answer(HAL_GENERAL_FAILURE);
        enum hal_status status = m->configure_burst(model_->hal, model_->driver->version, &burst);
        if (status == HAL_NONE)
            *ret = ndk::SharedRefBase::make<AidlBurst>(model_, burst);
        return model_->driver->answer(status);
    }

  private:
    Status run(const nn::Request &request, const hal_execution_config &config,
               nn::ExecutionResult *ret)
    {
        HalRequest r(request);
        Result result(model_->hal->n_outputs);
        enum hal_status status = model_->hal->methods->execute_synchronously(
            model_->hal, model_->driver->version, &r.hal, &config, &result.hal);
        return answer(*model_->driver, status, result, ret);
    }
    Status run_fenced(const nn::Request &request, const std::vector<Fd> &wait_for,
                      const hal_execution_config &config, int64_t duration,
                      nn::FencedExecutionResult *ret)
    {
        const auto *m = model_->hal->methods;
        HalRequest r(request);
        std::vector<int> fences = descriptors(wait_for);
        hal_fenced_info *info = nullptr;
        int fence = HAL_NO_FENCE;
        if (!m->execute_fenced)
            return model_->driver->answer(HAL_GENERAL_FAILURE);
        enum hal_status status = m->execute_fenced(
            model_->hal, model_->driver->version, &r.hal, static_cast<uint32_t>(fences.size()),
            fences.data(), &config, time_from_aidl(duration), &fence, &info);
        return answer_fenced(model_->driver, status, fence, info, ret);
    }

    ModelRef model_;
};

class AidlBuffer : public nn::BnBuffer {
  public:
    AidlBuffer(DriverRef driver, hal_buffer *buffer) : driver_(std::move(driver)), buffer_(buffer) {}
    ~AidlBuffer() override { buffer_->methods->release(buffer_); }

    Status copyFrom(const nn::Memory &from, const std::vector<int32_t> &dimensions) override
    {
        hal_memory m = memory_from(from);
        std::vector<uint32_t> dims = words(dimensions);
        return driver_->answer(buffer_->methods->copy_from(
            buffer_, &m, static_cast<uint32_t>(dims.size()), dims.data()));
    }
    Status copyTo(const nn::Memory &to) override
    {
        hal_memory m = memory_from(to);
        return driver_->answer(buffer_->methods->copy_to(buffer_, &m));
    }

  private:
    DriverRef driver_;
    hal_buffer *buffer_;
};

// Passes the outcome of one preparation on; frees itself, as it is called exactly once.
struct PrepareAnswer {
    hal_prepare_callback base;
    DriverRef driver;
    std::shared_ptr<nn::IPreparedModelCallback> to;

    static void notify(hal_prepare_callback *self, enum hal_status status,
                       hal_prepared_model *prepared)
    {
        std::unique_ptr<PrepareAnswer> a(reinterpret_cast<PrepareAnswer *>(self));
        std::shared_ptr<nn::IPreparedModel> model;
        if (prepared)
            model = ndk::SharedRefBase::make<AidlModel>(
                std::make_shared<OwnedModel>(a->driver, prepared));
        (void) a->to->notify(static_cast<nn::ErrorStatus>(status), model);
    }
};

} // namespace aidl_driver

class AidlDevice : public aidl_driver::nn::BnDevice {
    using Status = aidl_driver::Status;
    using Fd = aidl_driver::Fd;

  public:
    explicit AidlDevice(hal_driver *driver)
        : driver_(std::make_shared<aidl_driver::OwnedDriver>(
              driver, std::min(driver->hal_version, highest())))
    {
    }

    Status getCapabilities(aidl_driver::nn::Capabilities *ret) override
    {
        hal_capabilities c = {};
        enum hal_status status = hal()->get_capabilities(hal(), driver_->version, &c);
        if (status != HAL_NONE)
            return driver_->answer(status);
        ret->relaxedFloat32toFloat16PerformanceScalar = performance(c.relaxed_scalar);
        ret->relaxedFloat32toFloat16PerformanceTensor = performance(c.relaxed_tensor);
        ret->ifPerformance = performance(c.if_performance);
        ret->whilePerformance = performance(c.while_performance);
        for (uint32_t i = 0; i < c.n_operands; i++) {
            aidl_driver::nn::OperandPerformance p;
            p.type = static_cast<aidl_driver::nn::OperandType>(c.operand[i].type);
            p.info = performance(c.operand[i].info);
            ret->operandPerformance.push_back(p);
        }
        return Status::ok();
    }

    Status getType(aidl_driver::nn::DeviceType *ret) override
    {
        enum hal_device_type type = HAL_DEVICE_OTHER;
        enum hal_status status = hal()->get_type(hal(), &type);
        *ret = static_cast<aidl_driver::nn::DeviceType>(type);
        return driver_->answer(status);
    }

    Status getVersionString(std::string *ret) override
    {
        const char *text = "";
        enum hal_status status = hal()->get_version_string(hal(), &text);
        *ret = text;
        return driver_->answer(status);
    }

    Status getSupportedExtensions(std::vector<aidl_driver::nn::Extension> *ret) override
    {
        const hal_extension *e = nullptr;
        uint32_t n = 0;
        enum hal_status status = hal()->get_supported_extensions
                                     ? hal()->get_supported_extensions(hal(), &n, &e)
                                     : HAL_NONE;
        for (uint32_t i = 0; i < n; i++) {
            aidl_driver::nn::Extension to;
            to.name = e[i].name;
            for (uint32_t k = 0; k < e[i].n_types; k++) {
                aidl_driver::nn::ExtensionOperandTypeInformation t;
                t.type = e[i].type[k].type;
                t.isTensor = e[i].type[k].is_tensor;
                t.byteSize = static_cast<int32_t>(e[i].type[k].byte_size);
                to.operandTypes.push_back(t);
            }
            ret->push_back(std::move(to));
        }
        return driver_->answer(status);
    }

    Status getNumberOfCacheFilesNeeded(aidl_driver::nn::NumberOfCacheFiles *ret) override
    {
        uint32_t n_model = 0, n_data = 0;
        enum hal_status status =
            hal()->get_number_of_cache_files_needed
                ? hal()->get_number_of_cache_files_needed(hal(), &n_model, &n_data)
                : HAL_NONE;
        ret->numModelCache = static_cast<int32_t>(n_model);
        ret->numDataCache = static_cast<int32_t>(n_data);
        return driver_->answer(status);
    }

    Status getSupportedOperations(const aidl_driver::nn::Model &model,
                                  std::vector<bool> *ret) override
    {
        aidl_driver::HalModel m(model);
        uint32_t n_operations = m.hal.main.n_operations, n = 0;
        std::unique_ptr<bool[]> supported(new bool[n_operations + 1]());
        enum hal_status status = hal()->get_supported_operations(hal(), driver_->version, &m.hal,
                                                                 supported.get(), &n);
        if (status == HAL_NONE)
            ret->assign(supported.get(), supported.get() + std::min(n, n_operations));
        return driver_->answer(status);
    }

    Status prepareModel(const aidl_driver::nn::Model &model,
                        aidl_driver::nn::ExecutionPreference preference,
                        aidl_driver::nn::Priority priority, int64_t deadline,
                        const std::vector<Fd> &model_cache, const std::vector<Fd> &data_cache,
                        const std::vector<uint8_t> &token,
                        const std::shared_ptr<aidl_driver::nn::IPreparedModelCallback> &callback)
        override
    {
        hal_prepare_config c = {};
        c.preference = static_cast<enum hal_preference>(preference);
        c.priority = static_cast<enum hal_priority>(priority);
        return prepare(&model, c, deadline, model_cache, data_cache, token.data(), token.size(),
                       callback);
    }

#if HALCYON_AIDL_VERSION >= 4
    Status prepareModelWithConfig(
        const aidl_driver::nn::Model &model, const aidl_driver::nn::PrepareModelConfig &config,
        const std::shared_ptr<aidl_driver::nn::IPreparedModelCallback> &callback) override
    {
        aidl_driver::HalHints hints(config.compilationHints);
        aidl_driver::HalPrefixes prefixes(config.extensionNameToPrefix);
        hal_prepare_config c = {};
        c.preference = static_cast<enum hal_preference>(config.preference);
        c.priority = static_cast<enum hal_priority>(config.priority);
        c.n_hints = static_cast<uint32_t>(hints.hint.size());
        c.hints = hints.hint.data();
        c.n_extension_prefixes = static_cast<uint32_t>(prefixes.prefix.size());
        c.extension_name_to_prefix = prefixes.prefix.data();
        return prepare(&model, c, config.deadlineNs, config.modelCache, config.dataCache,
                       config.cacheToken.data(), config.cacheToken.size(), callback);
    }
#endif

    Status prepareModelFromCache(
        int64_t deadline, const std::vector<Fd> &model_cache, const std::vector<Fd> &data_cache,
        const std::vector<uint8_t> &token,
        const std::shared_ptr<aidl_driver::nn::IPreparedModelCallback> &callback) override
    {
        hal_prepare_config c = {};
        c.preference = HAL_FAST_SINGLE_ANSWER;
        c.priority = HAL_PRIORITY_MEDIUM;
        return prepare(nullptr, c, deadline, model_cache, data_cache, token.data(), token.size(),
                       callback);
    }

    Status allocate(const aidl_driver::nn::BufferDesc &desc,
                    const std::vector<aidl_driver::nn::IPreparedModelParcel> &parcels,
                    const std::vector<aidl_driver::nn::BufferRole> &input_roles,
                    const std::vector<aidl_driver::nn::BufferRole> &output_roles,
                    aidl_driver::nn::DeviceBuffer *ret) override
    {
        std::vector<uint32_t> dims = aidl_driver::words(desc.dimensions);
        hal_buffer_desc d = { static_cast<uint32_t>(dims.size()), dims.data() };
        std::vector<hal_prepared_model *> models;
        for (const auto &p : parcels) {
            auto *m = dynamic_cast<aidl_driver::AidlModel *>(p.preparedModel.get());
            models.push_back(m && m->driver() == driver_ ? m->hal() : nullptr);
        }
        auto in = roles(input_roles), out = roles(output_roles);
        hal_buffer *buffer = nullptr;
        uint32_t token = 0;
        if (!hal()->allocate)
            return driver_->answer(HAL_GENERAL_FAILURE);
        enum hal_status status = hal()->allocate(
            hal(), &d, static_cast<uint32_t>(models.size()), models.data(),
            static_cast<uint32_t>(in.size()), in.data(), static_cast<uint32_t>(out.size()),
            out.data(), &buffer, &token);
        if (status != HAL_NONE)
            return driver_->answer(status);
        ret->buffer = ndk::SharedRefBase::make<aidl_driver::AidlBuffer>(driver_, buffer);
        ret->token = static_cast<int32_t>(token);
        return Status::ok();
    }

  private:
    static enum hal_version highest()
    {
        static const enum hal_version versions[] = { HAL_FL5, HAL_FL6, HAL_FL7, HAL_FL8 };
        return versions[HALCYON_AIDL_VERSION - 1];
    }

    hal_driver *hal() const { return driver_->hal; }

    static aidl_driver::nn::PerformanceInfo performance(const hal_performance &p)
    {
        aidl_driver::nn::PerformanceInfo r;
        r.execTime = p.exec_time;
        r.powerUsage = p.power_usage;
        return r;
    }

    static std::vector<hal_buffer_role> roles(const std::vector<aidl_driver::nn::BufferRole> &from)
    {
        std::vector<hal_buffer_role> r;
        for (const auto &role : from)
            r.push_back({ static_cast<uint32_t>(role.modelIndex),
                          static_cast<uint32_t>(role.ioIndex), role.probability });
        return r;
    }

    // model NULL: from the cache.
    Status prepare(const aidl_driver::nn::Model *model, hal_prepare_config c, int64_t deadline,
                   const std::vector<Fd> &model_cache, const std::vector<Fd> &data_cache,
                   const uint8_t *token, size_t token_length,
                   const std::shared_ptr<aidl_driver::nn::IPreparedModelCallback> &callback)
    {
        std::vector<int> model_files = aidl_driver::descriptors(model_cache),
                         data_files = aidl_driver::descriptors(data_cache);
        auto *to = new aidl_driver::PrepareAnswer{ { aidl_driver::PrepareAnswer::notify },
                                                   driver_,
                                                   callback };
        c.deadline = aidl_driver::time_from_aidl(deadline);
        c.cache.n_model = static_cast<uint32_t>(model_files.size());
        c.cache.model = model_files.data();
        c.cache.n_data = static_cast<uint32_t>(data_files.size());
        c.cache.data = data_files.data();
        std::copy_n(token, std::min<size_t>(token_length, HAL_TOKEN_BYTES), c.cache.token);
        if (model) {
            aidl_driver::HalModel m(*model);
            return driver_->answer(
                hal()->prepare_model(hal(), driver_->version, &m.hal, &c, &to->base));
        }
        if (hal()->prepare_model_from_cache)
            return driver_->answer(
                hal()->prepare_model_from_cache(hal(), driver_->version, &c, &to->base));
        to->notify(&to->base, HAL_GENERAL_FAILURE, nullptr);
        return driver_->answer(HAL_GENERAL_FAILURE);
    }

    aidl_driver::DriverRef driver_;
};

} // namespace halcyon

#endif
