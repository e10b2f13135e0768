/* A small driver in the style of one for Android: ADD of float32 tensors of the same shape, without
 * caching, buffers, bursts and reusable executions.  As a target: lib:aidl_example.so. */
#include <functional>

#include "driver_from_aidl.hpp"

namespace {

using namespace aidl::android::hardware::neuralnetworks;
using ndk::ScopedAStatus;

ScopedAStatus fail(ErrorStatus status, const char *text)
{
    return ScopedAStatus::fromServiceSpecificErrorWithMessage(static_cast<int32_t>(status), text);
}

/* ---- models */

bool is_add(const Operation &o)
{
    return static_cast<int32_t>(o.type) == HAL_OP_ADD && o.inputs.size() == 3 &&
           o.outputs.size() == 1;
}

const Operand *operand(const Model &m, int32_t index)
{
    bool exists = index >= 0 && static_cast<size_t>(index) < m.main.operands.size();
    return exists ? &m.main.operands[static_cast<size_t>(index)] : nullptr;
}

/* Two inputs of the model and one output, of one known shape; no activation. */
bool supports(const Model &m, const Operation &o)
{
    if (!is_add(o) || m.main.operations.size() != 1)
        return false;
    const Operand *x = operand(m, o.inputs[0]), *y = operand(m, o.inputs[1]);
    const Operand *act = operand(m, o.inputs[2]), *z = operand(m, o.outputs[0]);
    bool known = x && y && z && act && x->type == OperandType::TENSOR_FLOAT32 &&
                 y->type == x->type && z->type == x->type && x->dimensions == y->dimensions &&
                 x->dimensions == z->dimensions && !x->dimensions.empty() &&
                 std::count(x->dimensions.begin(), x->dimensions.end(), 0) == 0;
    return known && x->lifetime == OperandLifeTime::SUBGRAPH_INPUT &&
           y->lifetime == OperandLifeTime::SUBGRAPH_INPUT && o.inputs[0] != o.inputs[1] &&
           act->lifetime == OperandLifeTime::CONSTANT_COPY && act->location.length == 4 &&
           act->location.offset >= 0 && m.operandValues.size() >= 4 &&
           static_cast<size_t>(act->location.offset) <= m.operandValues.size() - 4 &&
           std::all_of(m.operandValues.begin() + act->location.offset,
                       m.operandValues.begin() + act->location.offset + 4,
                       [](uint8_t b) { return b == 0; });
}

size_t count(const std::vector<int32_t> &dimensions)
{
    size_t n = 1;
    for (int32_t d : dimensions)
        n *= static_cast<size_t>(d);
    return n;
}

/* ---- memory */

class Mapping {
  public:
    explicit Mapping(const hal_memory &m) : size_(m.size)
    {
        void *p = mmap(nullptr, m.size, PROT_READ | PROT_WRITE, MAP_SHARED, m.fd,
                       static_cast<off_t>(m.offset));
        address_ = p == MAP_FAILED ? nullptr : static_cast<char *>(p);
    }
    Mapping(const Mapping &) = delete;
    ~Mapping()
    {
        if (address_)
            munmap(address_, size_);
    }
    float *at(const DataLocation &l, size_t bytes) const
    {
        auto offset = static_cast<size_t>(l.offset);
        bool fits = address_ && l.offset >= 0 && l.length >= static_cast<int64_t>(bytes) &&
                    offset <= size_ && static_cast<size_t>(l.length) <= size_ - offset;
        return fits ? reinterpret_cast<float *>(address_ + offset) : nullptr;
    }

  private:
    size_t size_;
    char *address_;
};

/* ---- prepared models */

class PreparedModel : public BnPreparedModel {
  public:
    PreparedModel(std::vector<int32_t> dimensions, bool swapped)
        : dimensions_(std::move(dimensions)), swapped_(swapped)
    {
    }

    ScopedAStatus executeSynchronously(const Request &request, bool, int64_t, int64_t,
                                       ExecutionResult *ret) override
    {
        ScopedAStatus s = check(request);
        if (!s.isOk())
            return s;
        return compute(request, ret);
    }
    ScopedAStatus executeFenced(const Request &, const Fds &, bool, int64_t, int64_t, int64_t,
                                FencedExecutionResult *) override
    {
        return fail(ErrorStatus::GENERAL_FAILURE, "no fenced executions");
    }
    ScopedAStatus configureExecutionBurst(std::shared_ptr<IBurst> *) override
    {
        return fail(ErrorStatus::GENERAL_FAILURE, "no bursts");
    }
    ScopedAStatus createReusableExecution(const Request &, const ExecutionConfig &,
                                          std::shared_ptr<IExecution> *) override
    {
        return fail(ErrorStatus::GENERAL_FAILURE, "no reusable executions");
    }
    ScopedAStatus executeSynchronouslyWithConfig(const Request &request, const ExecutionConfig &,
                                                 int64_t, ExecutionResult *ret) override
    {
        return executeSynchronously(request, false, -1, -1, ret);
    }
    ScopedAStatus executeFencedWithConfig(const Request &, const Fds &, const ExecutionConfig &,
                                          int64_t, int64_t, FencedExecutionResult *) override
    {
        return fail(ErrorStatus::GENERAL_FAILURE, "no fenced executions");
    }

  private:
    ScopedAStatus check(const Request &r) const
    {
        if (r.inputs.size() != 2 || r.outputs.size() != 1)
            return fail(ErrorStatus::INVALID_ARGUMENT, "expected two inputs and one output");
        for (const auto *list : { &r.inputs, &r.outputs })
            for (const auto &a : *list) {
                auto pool = static_cast<size_t>(a.location.poolIndex);
                if (a.hasNoValue || a.location.poolIndex < 0 || pool >= r.pools.size() ||
                    r.pools[pool].getTag() != RequestMemoryPool::pool)
                    return fail(ErrorStatus::INVALID_ARGUMENT, "an argument without memory");
                if (!a.dimensions.empty() && a.dimensions != dimensions_)
                    return fail(ErrorStatus::INVALID_ARGUMENT, "an argument of another shape");
            }
        return ScopedAStatus::ok();
    }

    ScopedAStatus compute(const Request &r, ExecutionResult *ret) const
    {
        size_t n = count(dimensions_), bytes = n * sizeof(float);
        std::vector<std::unique_ptr<Mapping>> mapped;
        for (const auto &p : r.pools)
            mapped.push_back(std::make_unique<Mapping>(
                halcyon::aidl_driver::memory_from(p.get<RequestMemoryPool::pool>())));
        auto at = [&](const RequestArgument &a) {
            return mapped[static_cast<size_t>(a.location.poolIndex)]->at(a.location, bytes);
        };
        bool fits = r.outputs[0].location.length >= static_cast<int64_t>(bytes);
        ret->outputShapes = { { dimensions_, fits } };
        ret->outputSufficientSize = fits;
        if (!fits)
            return ScopedAStatus::ok();
        const float *x = at(r.inputs[swapped_]), *y = at(r.inputs[!swapped_]);
        float *z = at(r.outputs[0]);
        if (!x || !y || !z)
            return fail(ErrorStatus::INVALID_ARGUMENT, "an argument outside of its memory");
        for (size_t i = 0; i < n; i++) {
            float a, b;
            std::memcpy(&a, x + i, sizeof a);
            std::memcpy(&b, y + i, sizeof b);
            float sum = a + b;
            std::memcpy(z + i, &sum, sizeof sum);
        }
        return ScopedAStatus::ok();
    }

    std::vector<int32_t> dimensions_;
    bool swapped_;
};

/* ---- the device: this example trusts that a model is legal NNAPI */

class Device : public BnDevice {
  public:
    ScopedAStatus allocate(const BufferDesc &, const std::vector<IPreparedModelParcel> &,
                           const std::vector<BufferRole> &, const std::vector<BufferRole> &,
                           DeviceBuffer *) override
    {
        return fail(ErrorStatus::GENERAL_FAILURE, "no buffers");
    }
    ScopedAStatus getCapabilities(Capabilities *ret) override
    {
        PerformanceInfo one;
        one.execTime = one.powerUsage = 1;
        *ret = { one, one, { { OperandType::TENSOR_FLOAT32, one } }, one, one };
        return ScopedAStatus::ok();
    }
    ScopedAStatus getNumberOfCacheFilesNeeded(NumberOfCacheFiles *) override
    {
        return ScopedAStatus::ok();
    }
    ScopedAStatus getSupportedExtensions(std::vector<Extension> *) override
    {
        return ScopedAStatus::ok();
    }
    ScopedAStatus getSupportedOperations(const Model &model, std::vector<bool> *ret) override
    {
        for (const Operation &o : model.main.operations)
            ret->push_back(supports(model, o));
        return ScopedAStatus::ok();
    }
    ScopedAStatus getType(DeviceType *ret) override
    {
        *ret = DeviceType::OTHER;
        return ScopedAStatus::ok();
    }
    ScopedAStatus getVersionString(std::string *ret) override
    {
        *ret = "1";
        return ScopedAStatus::ok();
    }
    ScopedAStatus prepareModel(const Model &model, ExecutionPreference, Priority, int64_t,
                               const Fds &, const Fds &, const std::vector<uint8_t> &,
                               const std::shared_ptr<IPreparedModelCallback> &callback) override
    {
        bool all = !model.main.operations.empty();
        for (const Operation &o : model.main.operations)
            all = all && supports(model, o);
        if (!all) {
            callback->notify(ErrorStatus::INVALID_ARGUMENT, nullptr);
            return ScopedAStatus::ok();
        }
        const Operation &add = model.main.operations[0];
        callback->notify(ErrorStatus::NONE,
                         ndk::SharedRefBase::make<PreparedModel>(
                             operand(model, add.inputs[0])->dimensions,
                             model.main.inputIndexes[0] != add.inputs[0]));
        return ScopedAStatus::ok();
    }
    ScopedAStatus prepareModelFromCache(
        int64_t, const Fds &, const Fds &, const std::vector<uint8_t> &,
        const std::shared_ptr<IPreparedModelCallback> &callback) override
    {
        callback->notify(ErrorStatus::GENERAL_FAILURE, nullptr);
        return fail(ErrorStatus::GENERAL_FAILURE, "no cache");
    }
    ScopedAStatus prepareModelWithConfig(
        const Model &model, const PrepareModelConfig &config,
        const std::shared_ptr<IPreparedModelCallback> &callback) override
    {
        return prepareModel(model, config.preference, config.priority, config.deadlineNs, {}, {},
                            {}, callback);
    }
};

} // namespace

extern "C" __attribute__((visibility("default"))) hal_driver *
hal_driver_open(uint32_t abi_version, const char *, char *why, size_t why_size)
{
    return halcyon::driver_from_aidl(abi_version, "aidl-example",
                                     ndk::SharedRefBase::make<Device>(), why, why_size);
}
