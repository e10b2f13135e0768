// A driver of hal.h from one that is written against Android's AIDL interface IDevice.  The shared
// library of a `lib:` target needs these lines:
//
//     #include "driver_from_aidl.hpp"
//
//     extern "C" hal_driver *hal_driver_open(uint32_t abi_version, const char *arguments, char *why,
//                                            size_t why_size)
//     {
//         return halcyon::driver_from_aidl(abi_version, "vendor-npu",
//                                          ndk::SharedRefBase::make<vendor::Device>(), why,
//                                          why_size);
//     }
//
// The driver answers one version, that of the interface which the device reports: feature level 5
// (version 1) to 8 (version 4).  What the interface does not have:
//  - Memory of an address is copied into a memory file for every call, and outputs are copied back.
//  - The numbers of inputs and outputs of a model from the cache are known only in the process that
//    saved it; else they are 0.
#ifndef HALCYON_DRIVER_FROM_AIDL_HPP
#define HALCYON_DRIVER_FROM_AIDL_HPP

#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>

#include "aidl_convert.hpp"

namespace halcyon {
namespace aidl_driver {

// ---- fenced executions

struct FencedInfo {
    hal_fenced_info base;
    std::shared_ptr<nn::IFencedExecutionCallback> callback;

    static enum hal_status get(hal_fenced_info *self, hal_timing *ret_launched,
                               hal_timing *ret_fenced)
    {
        nn::Timing launched, fenced;
        nn::ErrorStatus status = nn::ErrorStatus::GENERAL_FAILURE;
        Status s = reinterpret_cast<FencedInfo *>(self)->callback->getExecutionInfo(
            &launched, &fenced, &status);
        if (!s.isOk())
            return status_from(s);
        *ret_launched = timing_from(launched);
        *ret_fenced = timing_from(fenced);
        return status == nn::ErrorStatus::NONE ? HAL_NONE : failed(status_of(status), "");
    }
    static void release(hal_fenced_info *self) { delete reinterpret_cast<FencedInfo *>(self); }
};

inline const hal_fenced_info_methods fenced_info_methods = { FencedInfo::get,
                                                             FencedInfo::release };

inline bool duplicate_all(uint32_t n, const int *fds, std::vector<Fd> *ret)
{
    for (uint32_t i = 0; i < n; i++) {
        ret->push_back(duplicate(fds[i]));
        if (ret->back().get() < 0)
            return false;
    }
    return true;
}

// Copies the outputs back when the fence signals, and only then signals the fence that replaces it.
// False: no descriptor, or no thread.
inline bool write_back_after(std::shared_ptr<LentRequest> lent, int *fence)
{
    int ends[2], theirs = *fence;

    if (pipe2(ends, O_CLOEXEC) < 0)
        return false;
    auto wait = [lent, theirs, signal = ends[1]] {
        struct pollfd p = { theirs, POLLIN, 0 };
        sigset_t pipe_only;
        sigemptyset(&pipe_only);
        sigaddset(&pipe_only, SIGPIPE); // if nobody waits any more
        pthread_sigmask(SIG_BLOCK, &pipe_only, nullptr);
        while (poll(&p, 1, -1) < 0 && errno == EINTR) {
        }
        if (p.revents & POLLIN) {
            lent->write_back();
            ssize_t n = write(signal, "1", 1);
            (void) n;
        }
        ::close(theirs);
        ::close(signal); // without a byte: the work has failed
    };
    try {
        std::thread(wait).detach();
    } catch (const std::system_error &) {
        ::close(ends[0]);
        ::close(ends[1]);
        return false;
    }
    *fence = ends[0];
    return true;
}

inline enum hal_status take_fenced(const Status &s, nn::FencedExecutionResult *result,
                                   std::shared_ptr<LentRequest> lent, int *ret_fence,
                                   hal_fenced_info **ret_info)
{
    *ret_fence = HAL_NO_FENCE;
    *ret_info = nullptr;
    if (!s.isOk())
        return status_from(s);
    if (!result->callback)
        return failed(HAL_GENERAL_FAILURE, "executeFenced returns no callback");
    int fence = result->syncFence.get() < 0 ? HAL_NO_FENCE : fcntl(result->syncFence.get(), F_DUPFD_CLOEXEC, 0);
    if (fence == HAL_NO_FENCE)
        lent->write_back();
    else if (lent->has_addresses() && !write_back_after(std::move(lent), &fence))
        return failed(HAL_GENERAL_FAILURE, "no thread for the fence");
    *ret_fence = fence;
    *ret_info = &(new FencedInfo{ { &fenced_info_methods }, result->callback })->base;
    return HAL_NONE;
}

// ---- configurations

#if HALCYON_AIDL_VERSION >= 4
inline nn::ExecutionConfig config_to(const hal_execution_config &c)
{
    nn::ExecutionConfig r;
    r.measureTiming = c.measure;
    r.loopTimeoutDurationNs = time_to_aidl(c.loop_timeout);
    hints_to(c.n_hints, c.hints, &r.executionHints);
    prefixes_to(c.n_extension_prefixes, c.extension_name_to_prefix, &r.extensionNameToPrefix);
    return r;
}
#endif

// Hints came with version 4 of the interface.
inline bool can_pass(uint32_t n_hints, uint32_t n_prefixes, int version)
{
    return version >= 4 || n_hints + n_prefixes == 0;
}

inline enum hal_status no_hints(hal_result *result)
{
    if (result)
        no_result(result);
    return failed(HAL_INVALID_ARGUMENT, "the interface has no hints before version 4");
}

// ---- bursts

struct Burst {
    hal_burst base;
    std::shared_ptr<nn::IBurst> burst;
    int version;

    static enum hal_status execute(hal_burst *self, const hal_request *request,
                                   uint32_t n_identifiers, const int64_t *identifiers,
                                   const hal_execution_config *config, hal_result *result);
    static enum hal_status release_memory(hal_burst *self, int64_t identifier)
    {
        return status_from(
            reinterpret_cast<Burst *>(self)->burst->releaseMemoryResource(identifier));
    }
    static void release(hal_burst *self) { delete reinterpret_cast<Burst *>(self); }
};

inline const hal_burst_methods burst_methods = { Burst::execute, Burst::release_memory,
                                                 Burst::release };

inline enum hal_status finish(const Status &s, const LentRequest &lent,
                              const nn::ExecutionResult &from, hal_result *result)
{
    no_result(result);
    if (!s.isOk())
        return status_from(s);
    lent.write_back();
    return result_from(from, result);
}

inline enum hal_status no_memory(hal_result *result)
{
    if (result)
        no_result(result);
    return failed(HAL_INVALID_ARGUMENT, "a memory of the request cannot be passed on");
}

// Memory of an address is another memory file each time: the burst must not keep it.
inline std::vector<int64_t> identifiers_for(const hal_request &r, uint32_t n, const int64_t *ids)
{
    std::vector<int64_t> result(ids, ids + n);
    for (uint32_t i = 0; i < n && i < r.n_pools; i++)
        if (ids[i] >= 0 && !r.pools[i].is_token && r.pools[i].memory.kind == HAL_MEMORY_ADDRESS)
            result[i] = -1;
    return result;
}

inline enum hal_status Burst::execute(hal_burst *self, const hal_request *request,
                                      uint32_t n_identifiers, const int64_t *identifiers,
                                      const hal_execution_config *config, hal_result *result)
{
    auto *b = reinterpret_cast<Burst *>(self);
    LentRequest lent;
    nn::ExecutionResult r;

    if (!can_pass(config->n_hints, config->n_extension_prefixes, b->version))
        return no_hints(result);
    if (!lent.lend(*request))
        return no_memory(result);
    std::vector<int64_t> ids = identifiers_for(*request, n_identifiers, identifiers);
#if HALCYON_AIDL_VERSION >= 4
    if (b->version >= 4)
        return finish(b->burst->executeSynchronouslyWithConfig(lent.aidl, ids, config_to(*config),
                                                               time_to_aidl(config->deadline), &r),
                      lent, r, result);
#endif
    return finish(b->burst->executeSynchronously(lent.aidl, ids, config->measure,
                                                 time_to_aidl(config->deadline),
                                                 time_to_aidl(config->loop_timeout), &r),
                  lent, r, result);
}

// ---- reusable executions

#if HALCYON_AIDL_VERSION >= 4
struct Execution {
    hal_execution base;
    std::shared_ptr<nn::IExecution> execution;
    std::shared_ptr<LentRequest> lent = std::make_shared<LentRequest>();

    static enum hal_status execute(hal_execution *self, uint64_t deadline, hal_result *result)
    {
        auto *x = reinterpret_cast<Execution *>(self);
        nn::ExecutionResult r;
        if (!x->lent->refresh())
            return no_memory(result);
        Status s = x->execution->executeSynchronously(time_to_aidl(deadline), &r);
        return finish(s, *x->lent, r, result);
    }
    static enum hal_status fenced(hal_execution *self, uint32_t n_wait_for, const int *wait_for,
                                  uint64_t deadline, uint64_t duration, int *ret_fence,
                                  hal_fenced_info **ret_info)
    {
        auto *x = reinterpret_cast<Execution *>(self);
        std::vector<Fd> fences;
        nn::FencedExecutionResult r;
        *ret_fence = HAL_NO_FENCE;
        *ret_info = nullptr;
        if (!duplicate_all(n_wait_for, wait_for, &fences))
            return failed(HAL_INVALID_ARGUMENT, "a fence is not a descriptor");
        if (!x->lent->refresh())
            return no_memory(nullptr);
        Status s = x->execution->executeFenced(fences, time_to_aidl(deadline),
                                               time_to_aidl(duration), &r);
        return take_fenced(s, &r, x->lent, ret_fence, ret_info);
    }
    static void release(hal_execution *self) { delete reinterpret_cast<Execution *>(self); }
};

inline const hal_execution_methods execution_methods = { Execution::execute, Execution::fenced,
                                                         Execution::release };
#endif

// ---- prepared models

struct Device;

struct PreparedModel {
    hal_prepared_model base;
    Device *device;
    std::shared_ptr<nn::IPreparedModel> model;

    static PreparedModel *of(hal_prepared_model *p) { return reinterpret_cast<PreparedModel *>(p); }
    static enum hal_status execute(hal_prepared_model *self, enum hal_version version,
                                   const hal_request *request, const hal_execution_config *config,
                                   hal_result *result);
    static enum hal_status fenced(hal_prepared_model *self, enum hal_version version,
                                  const hal_request *request, uint32_t n_wait_for,
                                  const int *wait_for, const hal_execution_config *config,
                                  uint64_t duration, int *ret_fence, hal_fenced_info **ret_info);
    static enum hal_status burst(hal_prepared_model *self, enum hal_version version,
                                 hal_burst **ret_burst);
    static enum hal_status reusable(hal_prepared_model *self, const hal_request *request,
                                    const hal_execution_config *config,
                                    hal_execution **ret_execution);
    static void release(hal_prepared_model *self) { delete of(self); }
};

inline const hal_prepared_model_methods prepared_model_methods = {
    PreparedModel::execute, nullptr, PreparedModel::fenced, PreparedModel::burst,
    PreparedModel::reusable, PreparedModel::release
};

// ---- buffers

struct Buffer {
    hal_buffer base;
    std::shared_ptr<nn::IBuffer> buffer;

    static enum hal_status copy_to(hal_buffer *self, const hal_memory *to)
    {
        LentMemory lent;
        nn::Memory memory;
        if (!lent.lend(*to, &memory))
            return failed(HAL_INVALID_ARGUMENT, "the memory cannot be passed on");
        Status s = reinterpret_cast<Buffer *>(self)->buffer->copyTo(memory);
        if (s.isOk())
            lent.write_back({ 0, 0, to->size, 0 });
        return status_from(s);
    }
    static enum hal_status copy_from(hal_buffer *self, const hal_memory *from, uint32_t n_dims,
                                     const uint32_t *dims)
    {
        LentMemory lent;
        nn::Memory memory;
        if (!lent.lend(*from, &memory))
            return failed(HAL_INVALID_ARGUMENT, "the memory cannot be passed on");
        return status_from(
            reinterpret_cast<Buffer *>(self)->buffer->copyFrom(memory, ints(n_dims, dims)));
    }
    static void release(hal_buffer *self) { delete reinterpret_cast<Buffer *>(self); }
};

inline const hal_buffer_methods buffer_methods = { Buffer::copy_to, Buffer::copy_from,
                                                   Buffer::release };

// ---- the device

struct Device {
    hal_driver base;
    std::string name, version_string;
    std::shared_ptr<nn::IDevice> device;
    int version; /* of the interface */
    std::vector<hal_operand_performance> performance;
    std::vector<nn::Extension> extension;
    std::vector<std::vector<hal_extension_type>> extension_types;
    std::vector<hal_extension> hal_extension_list;

    static Device *of(hal_driver *d) { return reinterpret_cast<Device *>(d); }
    bool has(enum hal_version v) const { return v == base.hal_version; }

    static enum hal_status get_capabilities(hal_driver *self, enum hal_version version,
                                            hal_capabilities *ret);
    static enum hal_status get_type(hal_driver *self, enum hal_device_type *ret)
    {
        nn::DeviceType type = nn::DeviceType::OTHER;
        Status s = of(self)->device->getType(&type);
        if (s.isOk())
            *ret = static_cast<enum hal_device_type>(type);
        return status_from(s);
    }
    static enum hal_status get_version_string(hal_driver *self, const char **ret)
    {
        static std::mutex lock;
        std::string text;
        Status s = of(self)->device->getVersionString(&text);
        std::lock_guard<std::mutex> held(lock);
        if (s.isOk() && of(self)->version_string.empty())
            of(self)->version_string = text;
        if (s.isOk())
            *ret = of(self)->version_string.c_str();
        return status_from(s);
    }
    static enum hal_status get_extensions(hal_driver *self, uint32_t *ret_n,
                                          const hal_extension **ret);
    static enum hal_status get_cache_files(hal_driver *self, uint32_t *ret_n_model,
                                           uint32_t *ret_n_data)
    {
        nn::NumberOfCacheFiles n;
        Status s = of(self)->device->getNumberOfCacheFilesNeeded(&n);
        if (s.isOk()) {
            *ret_n_model = static_cast<uint32_t>(n.numModelCache);
            *ret_n_data = static_cast<uint32_t>(n.numDataCache);
        }
        return status_from(s);
    }
    static enum hal_device_status get_status(hal_driver *) { return HAL_DEVICE_AVAILABLE; }
    static void get_failure_text(hal_driver *, char *text, size_t size)
    {
        std::snprintf(text, size, "%s", failure_text().c_str());
    }
    static enum hal_status get_supported(hal_driver *self, enum hal_version version,
                                         const hal_model *model, bool *supported, uint32_t *ret_n);
    static enum hal_status prepare(hal_driver *self, enum hal_version version,
                                   const hal_model *model, const hal_prepare_config *config,
                                   hal_prepare_callback *callback);
    static enum hal_status prepare_from_cache(hal_driver *self, enum hal_version version,
                                              const hal_prepare_config *config,
                                              hal_prepare_callback *callback);
    static enum hal_status allocate(hal_driver *self, const hal_buffer_desc *desc,
                                    uint32_t n_models, hal_prepared_model *const *models,
                                    uint32_t n_input_roles, const hal_buffer_role *input_roles,
                                    uint32_t n_output_roles, const hal_buffer_role *output_roles,
                                    hal_buffer **ret_buffer, uint32_t *ret_token);
    static void close(hal_driver *self) { delete of(self); }
};

inline enum hal_status no_entry_point()
{
    return failed(HAL_INVALID_ARGUMENT, "the driver has no entry point of this version");
}

// ---- preparing

// Of a prepared model.  For models from the cache they are kept by token, as long as the process
// lives.
struct Counts {
    uint32_t n_inputs, n_outputs;
};

class Callback : public nn::BnPreparedModelCallback {
  public:
    Callback(Device *device, hal_prepare_callback *to, Counts counts)
        : device_(device), to_(to), counts_(counts)
    {
    }

    Status notify(nn::ErrorStatus status,
                  const std::shared_ptr<nn::IPreparedModel> &model) override
    {
        hal_prepared_model *p = nullptr;
        if (model)
            p = &(new PreparedModel{ { &prepared_model_methods, counts_.n_inputs,
                                       counts_.n_outputs },
                                     device_,
                                     model })
                     ->base;
        called_ = true;
        to_->notify(to_, status_of(status), p);
        return Status::ok();
    }

    // After the call of prepareModel: a launch that fails has to call back, too, which not every
    // driver does.
    enum hal_status end(const Status &s)
    {
        enum hal_status status = status_from(s);
        if (status != HAL_NONE && !called_)
            to_->notify(to_, status, nullptr);
        return status;
    }

  private:
    Device *device_;
    hal_prepare_callback *to_;
    Counts counts_;
    std::atomic<bool> called_ = false;
};

inline enum hal_status refuse(hal_prepare_callback *callback, enum hal_status status)
{
    callback->notify(callback, status, nullptr);
    return status;
}

// Files that are not descriptors are passed on as such: the driver decides.
inline std::vector<Fd> files_to(uint32_t n, const int *fds)
{
    std::vector<Fd> r;
    for (uint32_t i = 0; i < n; i++)
        r.push_back(duplicate(fds[i]));
    return r;
}

inline std::map<std::string, Counts> &cached_counts()
{
    static std::map<std::string, Counts> counts;
    return counts;
}

inline std::mutex &cached_counts_lock()
{
    static std::mutex lock;
    return lock;
}

inline std::string key_of(const hal_cache &c)
{
    return std::string(reinterpret_cast<const char *>(c.token), HAL_TOKEN_BYTES);
}

inline enum hal_status Device::prepare(hal_driver *self, enum hal_version version,
                                       const hal_model *model, const hal_prepare_config *config,
                                       hal_prepare_callback *callback)
{
    Device *d = of(self);
    nn::Model to;

    if (!d->has(version))
        return refuse(callback, no_entry_point());
    if (!can_pass(config->n_hints, config->n_extension_prefixes, d->version))
        return refuse(callback, no_hints(nullptr));
    if (!model_to(*model, &to))
        return refuse(callback, failed(HAL_INVALID_ARGUMENT, "a pool cannot be passed on"));
    Counts counts = { model->main.n_inputs, model->main.n_outputs };
    if (config->cache.n_model + config->cache.n_data) {
        std::lock_guard<std::mutex> held(cached_counts_lock());
        cached_counts()[key_of(config->cache)] = counts;
    }
    auto answer = ndk::SharedRefBase::make<Callback>(d, callback, counts);
    auto model_files = files_to(config->cache.n_model, config->cache.model);
    auto data_files = files_to(config->cache.n_data, config->cache.data);
#if HALCYON_AIDL_VERSION >= 4
    if (d->version >= 4) {
        nn::PrepareModelConfig c;
        c.preference = static_cast<nn::ExecutionPreference>(config->preference);
        c.priority = static_cast<nn::Priority>(config->priority);
        c.deadlineNs = time_to_aidl(config->deadline);
        c.modelCache = std::move(model_files);
        c.dataCache = std::move(data_files);
        std::copy_n(config->cache.token, HAL_TOKEN_BYTES, c.cacheToken.begin());
        hints_to(config->n_hints, config->hints, &c.compilationHints);
        prefixes_to(config->n_extension_prefixes, config->extension_name_to_prefix,
                    &c.extensionNameToPrefix);
        return answer->end(d->device->prepareModelWithConfig(to, c, answer));
    }
#endif
    return answer->end(d->device->prepareModel(
        to, static_cast<nn::ExecutionPreference>(config->preference),
        static_cast<nn::Priority>(config->priority), time_to_aidl(config->deadline), model_files,
        data_files, copied(HAL_TOKEN_BYTES, config->cache.token), answer));
}

inline enum hal_status Device::prepare_from_cache(hal_driver *self, enum hal_version version,
                                                  const hal_prepare_config *config,
                                                  hal_prepare_callback *callback)
{
    Device *d = of(self);
    Counts counts = { 0, 0 };

    if (!d->has(version))
        return refuse(callback, no_entry_point());
    {
        std::lock_guard<std::mutex> held(cached_counts_lock());
        auto found = cached_counts().find(key_of(config->cache));
        if (found != cached_counts().end())
            counts = found->second;
    }
    auto answer = ndk::SharedRefBase::make<Callback>(d, callback, counts);
    return answer->end(d->device->prepareModelFromCache(
        time_to_aidl(config->deadline), files_to(config->cache.n_model, config->cache.model),
        files_to(config->cache.n_data, config->cache.data),
        copied(HAL_TOKEN_BYTES, config->cache.token), answer));
}

// ---- executing

inline enum hal_status PreparedModel::execute(hal_prepared_model *self, enum hal_version version,
                                              const hal_request *request,
                                              const hal_execution_config *config,
                                              hal_result *result)
{
    PreparedModel *p = of(self);
    LentRequest lent;
    nn::ExecutionResult r;

    no_result(result);
    if (!p->device->has(version))
        return no_entry_point();
    if (!can_pass(config->n_hints, config->n_extension_prefixes, p->device->version))
        return no_hints(result);
    if (!lent.lend(*request))
        return no_memory(result);
#if HALCYON_AIDL_VERSION >= 4
    if (p->device->version >= 4)
        return finish(p->model->executeSynchronouslyWithConfig(
                          lent.aidl, config_to(*config), time_to_aidl(config->deadline), &r),
                      lent, r, result);
#endif
    return finish(p->model->executeSynchronously(lent.aidl, config->measure,
                                                 time_to_aidl(config->deadline),
                                                 time_to_aidl(config->loop_timeout), &r),
                  lent, r, result);
}

inline enum hal_status PreparedModel::fenced(hal_prepared_model *self, enum hal_version version,
                                             const hal_request *request, uint32_t n_wait_for,
                                             const int *wait_for,
                                             const hal_execution_config *config, uint64_t duration,
                                             int *ret_fence, hal_fenced_info **ret_info)
{
    PreparedModel *p = of(self);
    std::vector<Fd> fences;
    auto lent = std::make_shared<LentRequest>();
    nn::FencedExecutionResult r;
    Status s;

    *ret_fence = HAL_NO_FENCE;
    *ret_info = nullptr;
    if (!p->device->has(version))
        return no_entry_point();
    if (!can_pass(config->n_hints, config->n_extension_prefixes, p->device->version))
        return no_hints(nullptr);
    if (!duplicate_all(n_wait_for, wait_for, &fences))
        return failed(HAL_INVALID_ARGUMENT, "a fence is not a descriptor");
    if (!lent->lend(*request))
        return no_memory(nullptr);
#if HALCYON_AIDL_VERSION >= 4
    if (p->device->version >= 4)
        s = p->model->executeFencedWithConfig(lent->aidl, fences, config_to(*config),
                                              time_to_aidl(config->deadline),
                                              time_to_aidl(duration), &r);
    else
#endif
        s = p->model->executeFenced(lent->aidl, fences, config->measure,
                                    time_to_aidl(config->deadline),
                                    time_to_aidl(config->loop_timeout), time_to_aidl(duration), &r);
    return take_fenced(s, &r, std::move(lent), ret_fence, ret_info);
}

inline enum hal_status PreparedModel::burst(hal_prepared_model *self, enum hal_version version,
                                            hal_burst **ret_burst)
{
    PreparedModel *p = of(self);
    std::shared_ptr<nn::IBurst> burst;

    if (!p->device->has(version))
        return no_entry_point();
    Status s = p->model->configureExecutionBurst(&burst);
    if (!s.isOk())
        return status_from(s);
    if (!burst)
        return failed(HAL_GENERAL_FAILURE, "configureExecutionBurst returns no burst");
    *ret_burst = &(new Burst{ { &burst_methods }, burst, p->device->version })->base;
    return HAL_NONE;
}

inline enum hal_status PreparedModel::reusable(hal_prepared_model *self, const hal_request *request,
                                               const hal_execution_config *config,
                                               hal_execution **ret_execution)
{
#if HALCYON_AIDL_VERSION >= 4
    PreparedModel *p = of(self);
    if (p->device->version >= 4) {
        auto x = std::make_unique<Execution>();
        x->base.methods = &execution_methods;
        if (!x->lent->lend(*request))
            return no_memory(nullptr);
        Status s =
            p->model->createReusableExecution(x->lent->aidl, config_to(*config), &x->execution);
        if (!s.isOk())
            return status_from(s);
        if (!x->execution)
            return failed(HAL_GENERAL_FAILURE, "createReusableExecution returns no execution");
        *ret_execution = &x.release()->base;
        return HAL_NONE;
    }
#else
    (void) self, (void) request, (void) config, (void) ret_execution;
#endif
    return failed(HAL_GENERAL_FAILURE, "the interface has no reusable executions");
}

// ---- properties, buffers

inline enum hal_status Device::get_capabilities(hal_driver *self, enum hal_version version,
                                                hal_capabilities *ret)
{
    static std::mutex lock;
    Device *d = of(self);
    nn::Capabilities c;

    if (!d->has(version))
        return no_entry_point();
    Status s = d->device->getCapabilities(&c);
    if (!s.isOk())
        return status_from(s);
    auto info = [](const nn::PerformanceInfo &p) {
        return hal_performance{ p.execTime, p.powerUsage };
    };
    std::lock_guard<std::mutex> held(lock);
    if (d->performance.empty())
        for (const auto &o : c.operandPerformance)
            d->performance.push_back({ static_cast<int32_t>(o.type), info(o.info) });
    *ret = {};
    ret->relaxed_scalar = info(c.relaxedFloat32toFloat16PerformanceScalar);
    ret->relaxed_tensor = info(c.relaxedFloat32toFloat16PerformanceTensor);
    ret->if_performance = info(c.ifPerformance);
    ret->while_performance = info(c.whilePerformance);
    ret->n_operands = static_cast<uint32_t>(d->performance.size());
    ret->operand = d->performance.data();
    return HAL_NONE;
}

inline enum hal_status Device::get_extensions(hal_driver *self, uint32_t *ret_n,
                                              const hal_extension **ret)
{
    static std::mutex lock;
    Device *d = of(self);
    std::vector<nn::Extension> list;
    Status s = d->device->getSupportedExtensions(&list);

    if (!s.isOk())
        return status_from(s);
    std::lock_guard<std::mutex> held(lock);
    if (d->extension.empty()) {
        d->extension = std::move(list);
        d->extension_types.resize(d->extension.size());
        for (size_t i = 0; i < d->extension.size(); i++) {
            for (const auto &t : d->extension[i].operandTypes)
                d->extension_types[i].push_back({ static_cast<uint16_t>(t.type), t.isTensor,
                                                  static_cast<uint32_t>(t.byteSize) });
            d->hal_extension_list.push_back(
                { d->extension[i].name.c_str(),
                  static_cast<uint32_t>(d->extension_types[i].size()),
                  d->extension_types[i].data() });
        }
    }
    *ret_n = static_cast<uint32_t>(d->hal_extension_list.size());
    *ret = d->hal_extension_list.data();
    return HAL_NONE;
}

inline enum hal_status Device::get_supported(hal_driver *self, enum hal_version version,
                                             const hal_model *model, bool *supported,
                                             uint32_t *ret_n)
{
    Device *d = of(self);
    std::vector<bool> answers;
    nn::Model to;

    if (!d->has(version))
        return no_entry_point();
    if (!model_to(*model, &to))
        return failed(HAL_INVALID_ARGUMENT, "a pool cannot be passed on");
    Status s = d->device->getSupportedOperations(to, &answers);
    if (!s.isOk())
        return status_from(s);
    for (size_t i = 0; i < answers.size() && i < model->main.n_operations; i++)
        supported[i] = answers[i];
    *ret_n = static_cast<uint32_t>(answers.size());
    return HAL_NONE;
}

inline std::vector<nn::BufferRole> roles_to(uint32_t n, const hal_buffer_role *roles)
{
    std::vector<nn::BufferRole> r;
    for (uint32_t i = 0; i < n; i++) {
        nn::BufferRole to;
        to.modelIndex = static_cast<int32_t>(roles[i].model_index);
        to.ioIndex = static_cast<int32_t>(roles[i].io_index);
        to.probability = roles[i].probability;
        r.push_back(to);
    }
    return r;
}

inline enum hal_status Device::allocate(hal_driver *self, const hal_buffer_desc *desc,
                                        uint32_t n_models, hal_prepared_model *const *models,
                                        uint32_t n_input_roles, const hal_buffer_role *input_roles,
                                        uint32_t n_output_roles,
                                        const hal_buffer_role *output_roles,
                                        hal_buffer **ret_buffer, uint32_t *ret_token)
{
    std::vector<nn::IPreparedModelParcel> parcels(n_models);
    nn::BufferDesc d;
    nn::DeviceBuffer buffer;

    *ret_buffer = nullptr;
    *ret_token = 0;
    for (uint32_t i = 0; i < n_models; i++) {
        bool is_ours = models[i] && models[i]->methods == &prepared_model_methods &&
                       PreparedModel::of(models[i])->device == of(self);
        if (!is_ours)
            return failed(HAL_INVALID_ARGUMENT, "a model that this driver has not prepared");
        parcels[i].preparedModel = PreparedModel::of(models[i])->model;
    }
    d.dimensions = ints(desc->n_dims, desc->dims);
    Status s = of(self)->device->allocate(d, parcels, roles_to(n_input_roles, input_roles),
                                          roles_to(n_output_roles, output_roles), &buffer);
    if (!s.isOk())
        return status_from(s);
    if (!buffer.buffer)
        return failed(HAL_GENERAL_FAILURE, "allocate returns no buffer");
    *ret_buffer = &(new Buffer{ { &buffer_methods }, buffer.buffer })->base;
    *ret_token = static_cast<uint32_t>(buffer.token);
    return HAL_NONE;
}

} // namespace aidl_driver

// A driver that calls the device, which it keeps until it is closed.  abi_version, why, why_size: as
// of hal_driver_open().  NULL, with the reason in `why`: the caller has another version of hal.h, or
// the device does not tell its version.
inline hal_driver *driver_from_aidl(
    uint32_t abi_version, const char *name,
    std::shared_ptr<::aidl::android::hardware::neuralnetworks::IDevice> device, char *why,
    size_t why_size)
{
    static const enum hal_version versions[] = { HAL_FL5, HAL_FL6, HAL_FL7, HAL_FL8 };
    using D = aidl_driver::Device;
    int32_t version = 0;

    if (abi_version != HAL_ABI_VERSION) {
        std::snprintf(why, why_size, "the driver is built with version %d of hal.h, not %u",
                      HAL_ABI_VERSION, abi_version);
        return nullptr;
    }
    if (!device || !device->getInterfaceVersion(&version).isOk() || version < 1) {
        std::snprintf(why, why_size, "the device does not tell the version of its interface");
        return nullptr;
    }
    auto *d = new D();
    d->name = name;
    d->device = std::move(device);
    d->version = std::min<int32_t>(version, HALCYON_AIDL_VERSION);
    d->base.abi_version = HAL_ABI_VERSION;
    d->base.hal_version = versions[std::min(d->version, 4) - 1];
    d->base.lowest_version = d->base.hal_version;
    d->base.name = d->name.c_str();
    d->base.get_capabilities = D::get_capabilities;
    d->base.get_type = D::get_type;
    d->base.get_version_string = D::get_version_string;
    d->base.get_supported_extensions = D::get_extensions;
    d->base.get_number_of_cache_files_needed = D::get_cache_files;
    d->base.get_status = D::get_status;
    d->base.get_failure_text = D::get_failure_text;
    d->base.get_supported_operations = D::get_supported;
    d->base.prepare_model = D::prepare;
    d->base.prepare_model_from_cache = D::prepare_from_cache;
    d->base.allocate = D::allocate;
    d->base.close = D::close;
    return &d->base;
}

} // namespace halcyon

#endif
