// Conversions between the structures of hal.h and those of Android's AIDL interface
// android.hardware.neuralnetworks (versions 1 to 4: feature levels 5 to 8), NDK back end.
//
// The generated headers of the interface are the user's: any version from 1 on.  HALCYON_AIDL_VERSION
// is the version that they are of (default 4); methods of later versions are not used.
#ifndef HALCYON_AIDL_CONVERT_HPP
#define HALCYON_AIDL_CONVERT_HPP

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <aidl/android/hardware/neuralnetworks/BnBuffer.h>
#include <aidl/android/hardware/neuralnetworks/BnBurst.h>
#include <aidl/android/hardware/neuralnetworks/BnDevice.h>
#include <aidl/android/hardware/neuralnetworks/BnFencedExecutionCallback.h>
#include <aidl/android/hardware/neuralnetworks/BnPreparedModel.h>
#include <aidl/android/hardware/neuralnetworks/BnPreparedModelCallback.h>

#ifndef HALCYON_AIDL_VERSION
#define HALCYON_AIDL_VERSION 4
#endif
#if HALCYON_AIDL_VERSION >= 4
#include <aidl/android/hardware/neuralnetworks/BnExecution.h>
#endif

#include "hal.h"

namespace halcyon::aidl_driver {

namespace nn = ::aidl::android::hardware::neuralnetworks;
using Status = ::ndk::ScopedAStatus;
using Fd = ::ndk::ScopedFileDescriptor;

// ---- numbers

// Durations and points in time: -1 is "none" in AIDL, all ones in hal.h.
inline int64_t time_to_aidl(uint64_t t) { return static_cast<int64_t>(t); }
inline uint64_t time_from_aidl(int64_t t) { return static_cast<uint64_t>(t); }

inline Fd duplicate(int fd) { return Fd(fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0)); }

inline std::vector<int32_t> ints(uint32_t n, const uint32_t *x)
{
    return std::vector<int32_t>(x, x + n);
}

inline std::vector<uint32_t> words(const std::vector<int32_t> &x)
{
    return std::vector<uint32_t>(x.begin(), x.end());
}

template <class T> inline std::vector<T> copied(uint64_t n, const T *x)
{
    return n ? std::vector<T>(x, x + n) : std::vector<T>();
}

// ---- statuses

inline enum hal_status status_of(nn::ErrorStatus e) { return static_cast<enum hal_status>(e); }

// Why the last call of this thread has failed: hal_driver.get_failure_text.
inline std::string &failure_text()
{
    static thread_local std::string text;
    return text;
}

inline enum hal_status failed(enum hal_status status, const std::string &text)
{
    failure_text() = text;
    return status;
}

// A failure that is none of the service's own codes is GENERAL_FAILURE: the contract of the
// interface knows no others.
inline enum hal_status status_from(const Status &s)
{
    if (s.isOk())
        return HAL_NONE;
    const char *text = s.getMessage();
    int32_t code = s.getExceptionCode() == EX_SERVICE_SPECIFIC ? s.getServiceSpecificError()
                                                               : HAL_GENERAL_FAILURE;
    if (code <= HAL_NONE || code >= HAL_STATUS_COUNT)
        code = HAL_GENERAL_FAILURE;
    return failed(static_cast<enum hal_status>(code), text ? text : "");
}

inline Status status_to(enum hal_status status, const std::string &text)
{
    if (status == HAL_NONE)
        return Status::ok();
    return Status::fromServiceSpecificErrorWithMessage(static_cast<int32_t>(status), text.c_str());
}

// ---- memory

// Memory of hal.h as a descriptor.  That of an address is copied into a memory file; what is
// written there is copied back by write_back().
class LentMemory {
  public:
    // False: out of memory, or the memory is not usable; `ret` is then unspecified.
    bool lend(const hal_memory &m, nn::Memory *ret)
    {
        from_ = m;
        if (m.kind != HAL_MEMORY_ADDRESS) {
            fd_ = m.fd;
            return wrap(m, m.fd, static_cast<int64_t>(m.offset), ret);
        }
        int fd = memfd_create("halcyon", MFD_CLOEXEC);
        own_ = Fd(fd);
        fd_ = fd;
        if (fd < 0 || !m.address || ftruncate(fd, static_cast<off_t>(m.size)) < 0 || !refresh())
            return false;
        return wrap(m, fd, 0, ret);
    }

    bool is_address() const { return from_.kind == HAL_MEMORY_ADDRESS && from_.address; }

    // Copies what the client has in memory of an address now.
    bool refresh() const
    {
        return !is_address() ||
               pwrite(fd_, from_.address, from_.size, 0) == static_cast<ssize_t>(from_.size);
    }

    // Copies bytes that the driver has written: only those of an output's location.
    void write_back(const hal_location &l) const
    {
        if (is_address() && l.offset <= from_.size &&
            l.length <= from_.size - l.offset) {
            ssize_t n = pread(fd_, static_cast<char *>(from_.address) + l.offset, l.length,
                              static_cast<off_t>(l.offset));
            (void) n;
        }
    }

  private:
    bool wrap(const hal_memory &m, int fd, int64_t offset, nn::Memory *ret)
    {
        namespace common = ::aidl::android::hardware::common;
        if (m.kind == HAL_MEMORY_HARDWARE_BUFFER) {
            namespace graphics = ::aidl::android::hardware::graphics::common;
            graphics::HardwareBuffer b;
            b.description.width = static_cast<int32_t>(m.size);
            b.description.height = b.description.layers = 1;
            b.description.format = graphics::PixelFormat::BLOB;
            b.description.stride = static_cast<int32_t>(m.size);
            b.handle.fds.push_back(duplicate(fd));
            *ret = nn::Memory::make<nn::Memory::hardwareBuffer>(std::move(b));
            return true;
        }
        common::MappableFile f;
        f.length = static_cast<int64_t>(m.size);
        f.prot = (m.protection & HAL_MEMORY_READ ? PROT_READ : 0) |
                 (m.protection & HAL_MEMORY_WRITE ? PROT_WRITE : 0);
        f.fd = duplicate(fd);
        f.offset = offset;
        *ret = nn::Memory::make<nn::Memory::mappableFile>(std::move(f));
        return true;
    }

    hal_memory from_ = {};
    Fd own_;
    int fd_ = -1;
};

inline hal_memory memory_from(const nn::Memory &m)
{
    hal_memory r = {};
    r.protection = HAL_MEMORY_READ | HAL_MEMORY_WRITE;
    r.fd = -1;
    switch (m.getTag()) {
    case nn::Memory::ashmem: {
        const auto &a = m.get<nn::Memory::ashmem>();
        r.kind = HAL_MEMORY_FD;
        r.fd = a.fd.get();
        r.size = static_cast<uint64_t>(a.size);
        break;
    }
    case nn::Memory::mappableFile: {
        const auto &f = m.get<nn::Memory::mappableFile>();
        r.kind = HAL_MEMORY_FD;
        r.fd = f.fd.get();
        r.offset = static_cast<uint64_t>(f.offset);
        r.size = static_cast<uint64_t>(f.length);
        r.protection = 0;
        if (f.prot & PROT_READ)
            r.protection |= HAL_MEMORY_READ;
        if (f.prot & PROT_WRITE)
            r.protection |= HAL_MEMORY_WRITE;
        break;
    }
    case nn::Memory::hardwareBuffer: {
        const auto &b = m.get<nn::Memory::hardwareBuffer>();
        r.kind = HAL_MEMORY_HARDWARE_BUFFER;
        r.fd = b.handle.fds.empty() ? -1 : b.handle.fds[0].get();
        r.size = static_cast<uint64_t>(b.description.width);
        break;
    }
    }
    return r;
}

inline nn::DataLocation location_to(const hal_location &l)
{
    nn::DataLocation r;
    r.poolIndex = static_cast<int32_t>(l.pool);
    r.offset = static_cast<int64_t>(l.offset);
    r.length = static_cast<int64_t>(l.length);
    r.padding = static_cast<int64_t>(l.padding);
    return r;
}

inline hal_location location_from(const nn::DataLocation &l)
{
    return { static_cast<uint32_t>(l.poolIndex), static_cast<uint64_t>(l.offset),
             static_cast<uint64_t>(l.length), static_cast<uint64_t>(l.padding) };
}

// ---- models

inline nn::Operand operand_to(const hal_operand &o)
{
    nn::Operand r;
    r.type = static_cast<nn::OperandType>(o.type);
    r.dimensions = ints(o.n_dims, o.dims);
    r.scale = o.scale;
    r.zeroPoint = o.zero;
    r.lifetime = static_cast<nn::OperandLifeTime>(o.lifetime);
    r.location = location_to(o.location);
    if (o.extra == HAL_EXTRA_CHANNEL_QUANT) {
        nn::SymmPerChannelQuantParams q;
        q.scales = copied(o.n_channel_scales, o.channel_scales);
        q.channelDim = static_cast<int32_t>(o.channel_dim);
        r.extraParams =
            nn::OperandExtraParams::make<nn::OperandExtraParams::channelQuant>(std::move(q));
    } else if (o.extra == HAL_EXTRA_EXTENSION) {
        r.extraParams = nn::OperandExtraParams::make<nn::OperandExtraParams::extension>(
            copied(o.extension_length, static_cast<const uint8_t *>(o.extension)));
    }
    return r;
}

inline nn::Subgraph subgraph_to(const hal_subgraph &g)
{
    nn::Subgraph r;
    for (uint32_t i = 0; i < g.n_operands; i++)
        r.operands.push_back(operand_to(g.operands[i]));
    for (uint32_t i = 0; i < g.n_operations; i++) {
        const hal_operation &o = g.operations[i];
        nn::Operation to;
        to.type = static_cast<nn::OperationType>(o.type);
        to.inputs = ints(o.n_inputs, o.inputs);
        to.outputs = ints(o.n_outputs, o.outputs);
        r.operations.push_back(std::move(to));
    }
    r.inputIndexes = ints(g.n_inputs, g.inputs);
    r.outputIndexes = ints(g.n_outputs, g.outputs);
    return r;
}

template <class Prefixes>
inline void prefixes_to(uint32_t n, const hal_extension_prefix *p, Prefixes *ret)
{
    for (uint32_t i = 0; i < n; i++) {
        nn::ExtensionNameAndPrefix e;
        e.name = p[i].name;
        e.prefix = p[i].prefix;
        ret->push_back(std::move(e));
    }
}

// False: a pool cannot be passed on.
inline bool model_to(const hal_model &m, nn::Model *ret)
{
    ret->main = subgraph_to(m.main);
    for (uint32_t i = 0; i < m.n_referenced; i++)
        ret->referenced.push_back(subgraph_to(m.referenced[i]));
    ret->operandValues = copied(m.operand_values_length, m.operand_values);
    for (uint32_t i = 0; i < m.n_pools; i++) {
        LentMemory lent;
        nn::Memory memory;
        if (!lent.lend(m.pools[i], &memory))
            return false;
        ret->pools.push_back(std::move(memory));
    }
    ret->relaxComputationFloat32toFloat16 = m.relaxed;
    prefixes_to(m.n_extension_prefixes, m.extension_name_to_prefix, &ret->extensionNameToPrefix);
    return true;
}

// A model of hal.h, with the arrays that it points to.
struct HalPrefixes {
    std::vector<hal_extension_prefix> prefix;

    template <class Prefixes> explicit HalPrefixes(const Prefixes &from)
    {
        for (const auto &e : from)
            prefix.push_back({ e.name.c_str(), static_cast<uint16_t>(e.prefix) });
    }
};

struct HalSubgraph {
    std::vector<hal_operand> operands;
    std::vector<hal_operation> operations;
    std::vector<std::vector<uint32_t>> lists; // reserved: does not move
    hal_subgraph hal = {};

    explicit HalSubgraph(const nn::Subgraph &g)
    {
        lists.reserve(g.operands.size() + 2 * g.operations.size() + 2);
        for (const auto &o : g.operands)
            add(o);
        for (const auto &o : g.operations) {
            hal_operation to = {};
            to.type = static_cast<int32_t>(o.type);
            to.inputs = list(o.inputs, &to.n_inputs);
            to.outputs = list(o.outputs, &to.n_outputs);
            operations.push_back(to);
        }
        hal.inputs = list(g.inputIndexes, &hal.n_inputs);
        hal.outputs = list(g.outputIndexes, &hal.n_outputs);
        hal.operands = operands.data();
        hal.n_operands = static_cast<uint32_t>(operands.size());
        hal.operations = operations.data();
        hal.n_operations = static_cast<uint32_t>(operations.size());
    }

  private:
    const uint32_t *list(const std::vector<int32_t> &x, uint32_t *ret_n)
    {
        lists.push_back(words(x));
        *ret_n = static_cast<uint32_t>(x.size());
        return lists.back().data();
    }

    void add(const nn::Operand &o)
    {
        hal_operand to = {};
        to.type = static_cast<int32_t>(o.type);
        to.dims = list(o.dimensions, &to.n_dims);
        to.scale = o.scale;
        to.zero = o.zeroPoint;
        to.lifetime = static_cast<enum hal_lifetime>(o.lifetime);
        to.location = location_from(o.location);
        if (o.extraParams && o.extraParams->getTag() == nn::OperandExtraParams::channelQuant) {
            const auto &q = o.extraParams->template get<nn::OperandExtraParams::channelQuant>();
            to.extra = HAL_EXTRA_CHANNEL_QUANT;
            to.channel_dim = static_cast<uint32_t>(q.channelDim);
            to.n_channel_scales = static_cast<uint32_t>(q.scales.size());
            to.channel_scales = q.scales.data();
        } else if (o.extraParams) {
            const auto &e = o.extraParams->template get<nn::OperandExtraParams::extension>();
            to.extra = HAL_EXTRA_EXTENSION;
            to.extension = e.data();
            to.extension_length = e.size();
        }
        operands.push_back(to);
    }
};

// Points into the AIDL model, which must outlive it.
struct HalModel {
    HalSubgraph main;
    std::vector<HalSubgraph> referenced;
    std::vector<hal_subgraph> subgraphs;
    std::vector<hal_memory> pools;
    HalPrefixes prefixes;
    hal_model hal = {};

    explicit HalModel(const nn::Model &m) : main(m.main), prefixes(m.extensionNameToPrefix)
    {
        referenced.reserve(m.referenced.size());
        for (const auto &g : m.referenced) {
            referenced.emplace_back(g);
            subgraphs.push_back(referenced.back().hal);
        }
        for (const auto &p : m.pools)
            pools.push_back(memory_from(p));
        hal.main = main.hal;
        hal.n_referenced = static_cast<uint32_t>(subgraphs.size());
        hal.referenced = subgraphs.data();
        hal.operand_values = m.operandValues.data();
        hal.operand_values_length = m.operandValues.size();
        hal.n_pools = static_cast<uint32_t>(pools.size());
        hal.pools = pools.data();
        hal.relaxed = m.relaxComputationFloat32toFloat16;
        hal.n_extension_prefixes = static_cast<uint32_t>(prefixes.prefix.size());
        hal.extension_name_to_prefix = prefixes.prefix.data();
    }
    HalModel(const HalModel &) = delete;
};

// ---- requests

inline nn::RequestArgument argument_to(const hal_argument &a)
{
    nn::RequestArgument r;
    r.hasNoValue = a.has_no_value;
    r.location = location_to(a.location);
    r.dimensions = ints(a.n_dims, a.dims);
    return r;
}

// An AIDL request, and the memories of the client that its pools stand for; the request of hal.h is
// not needed afterwards, its memories are.
class LentRequest {
  public:
    nn::Request aidl;

    // False: a pool cannot be passed on.
    bool lend(const hal_request &r)
    {
        pools_.resize(r.n_pools);
        for (uint32_t i = 0; i < r.n_inputs; i++)
            aidl.inputs.push_back(argument_to(r.inputs[i]));
        for (uint32_t i = 0; i < r.n_outputs; i++) {
            aidl.outputs.push_back(argument_to(r.outputs[i]));
            const hal_argument &a = r.outputs[i];
            if (!a.has_no_value && a.location.pool < r.n_pools &&
                !r.pools[a.location.pool].is_token)
                outputs_.push_back(a.location);
        }
        for (uint32_t i = 0; i < r.n_pools; i++) {
            nn::Memory memory;
            if (r.pools[i].is_token) {
                aidl.pools.push_back(nn::RequestMemoryPool::make<nn::RequestMemoryPool::token>(
                    static_cast<int32_t>(r.pools[i].token)));
                continue;
            }
            if (!pools_[i].lend(r.pools[i].memory, &memory))
                return false;
            aidl.pools.push_back(
                nn::RequestMemoryPool::make<nn::RequestMemoryPool::pool>(std::move(memory)));
        }
        return true;
    }

    bool refresh() const
    {
        for (const LentMemory &m : pools_)
            if (!m.refresh())
                return false;
        return true;
    }

    bool has_addresses() const
    {
        for (const LentMemory &m : pools_)
            if (m.is_address())
                return true;
        return false;
    }

    void write_back() const
    {
        for (const hal_location &l : outputs_)
            pools_[l.pool].write_back(l);
    }

  private:
    std::vector<hal_location> outputs_; // those in memories of the client
    std::vector<LentMemory> pools_;
};

// A request of hal.h, with the arrays that it points to.
struct HalRequest {
    std::vector<hal_argument> inputs, outputs;
    std::vector<hal_request_pool> pools;
    std::vector<std::vector<uint32_t>> dims; // reserved: does not move
    hal_request hal = {};

    explicit HalRequest(const nn::Request &r)
    {
        dims.reserve(r.inputs.size() + r.outputs.size());
        for (const auto &a : r.inputs)
            inputs.push_back(argument(a));
        for (const auto &a : r.outputs)
            outputs.push_back(argument(a));
        for (const auto &p : r.pools) {
            hal_request_pool to = {};
            to.is_token = p.getTag() == nn::RequestMemoryPool::token;
            if (to.is_token)
                to.token = static_cast<uint32_t>(p.template get<nn::RequestMemoryPool::token>());
            else
                to.memory = memory_from(p.template get<nn::RequestMemoryPool::pool>());
            pools.push_back(to);
        }
        hal.n_inputs = static_cast<uint32_t>(inputs.size());
        hal.inputs = inputs.data();
        hal.n_outputs = static_cast<uint32_t>(outputs.size());
        hal.outputs = outputs.data();
        hal.n_pools = static_cast<uint32_t>(pools.size());
        hal.pools = pools.data();
    }
    HalRequest(const HalRequest &) = delete;

  private:
    hal_argument argument(const nn::RequestArgument &a)
    {
        dims.push_back(words(a.dimensions));
        hal_argument to = {};
        to.has_no_value = a.hasNoValue;
        to.location = location_from(a.location);
        to.n_dims = static_cast<uint32_t>(a.dimensions.size());
        to.dims = dims.back().data();
        return to;
    }
};

// ---- results

inline hal_timing timing_from(const nn::Timing &t)
{
    return { time_from_aidl(t.timeOnDeviceNs), time_from_aidl(t.timeInDriverNs) };
}

inline nn::Timing timing_to(const hal_timing &t)
{
    nn::Timing r;
    r.timeOnDeviceNs = time_to_aidl(t.on_device);
    r.timeInDriverNs = time_to_aidl(t.in_driver);
    return r;
}

inline void no_result(hal_result *r)
{
    r->n_shapes = 0;
    r->timing = { HAL_NO_TIME, HAL_NO_TIME };
}

// The status of an execution that returned this; more shapes than there is room for are counted
// only, so that the client sees their wrong number.
inline enum hal_status result_from(const nn::ExecutionResult &e, hal_result *r)
{
    r->timing = timing_from(e.timing);
    r->n_shapes = static_cast<uint32_t>(e.outputShapes.size());
    for (uint32_t i = 0; i < r->n_shapes && i < r->capacity; i++) {
        const nn::OutputShape &s = e.outputShapes[i];
        hal_output_shape *to = &r->shapes[i];
        *to = {};
        to->n_dims = static_cast<uint32_t>(s.dimensions.size());
        to->is_sufficient = s.isSufficient;
        for (uint32_t d = 0; d < to->n_dims && d < HAL_MAX_RANK; d++)
            to->dims[d] = static_cast<uint32_t>(s.dimensions[d]);
    }
    return e.outputSufficientSize ? HAL_NONE : HAL_OUTPUT_INSUFFICIENT_SIZE;
}

inline void result_to(enum hal_status status, const hal_result &r, nn::ExecutionResult *ret)
{
    ret->outputSufficientSize = status != HAL_OUTPUT_INSUFFICIENT_SIZE;
    ret->timing = timing_to(r.timing);
    for (uint32_t i = 0; i < r.n_shapes && i < r.capacity; i++) {
        nn::OutputShape s;
        s.dimensions = ints(r.shapes[i].n_dims, r.shapes[i].dims);
        s.isSufficient = r.shapes[i].is_sufficient;
        ret->outputShapes.push_back(std::move(s));
    }
}

// ---- hints

template <class Hints>
inline void hints_to(uint32_t n, const hal_token_value *h, Hints *ret)
{
    for (uint32_t i = 0; i < n; i++) {
        typename Hints::value_type v;
        v.token = h[i].token;
        v.value = copied(h[i].length, h[i].value);
        ret->push_back(std::move(v));
    }
}

struct HalHints {
    std::vector<hal_token_value> hint;

    template <class Hints> explicit HalHints(const Hints &from)
    {
        for (const auto &h : from)
            hint.push_back({ h.token, h.value.data(), h.value.size() });
    }
};

} // namespace halcyon::aidl_driver

#endif
