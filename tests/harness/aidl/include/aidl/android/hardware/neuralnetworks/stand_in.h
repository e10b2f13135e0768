/* Stand-ins for the headers that Android's AIDL compiler generates for the interface
 * android.hardware.neuralnetworks, version 4, written from the facts of the interface: names, types
 * and order of what the adapter uses. */
#ifndef TESTS_NEURALNETWORKS_STAND_IN_H
#define TESTS_NEURALNETWORKS_STAND_IN_H

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "ndk_stand_in.h"

namespace aidl::android::hardware
{

namespace common
{
struct Ashmem {
    ::ndk::ScopedFileDescriptor fd;
    int64_t size = 0;
};
struct MappableFile {
    int64_t length = 0;
    int32_t prot = 0;
    ::ndk::ScopedFileDescriptor fd;
    int64_t offset = 0;
};
struct NativeHandle {
    std::vector<::ndk::ScopedFileDescriptor> fds;
    std::vector<int32_t> ints;
};
} // namespace common

namespace graphics::common
{
enum class PixelFormat : int32_t { UNSPECIFIED = 0, BLOB = 0x21 };
enum class BufferUsage : int64_t { CPU_READ_MASK = 15 };
struct HardwareBufferDescription {
    int32_t width = 0, height = 0, layers = 0;
    PixelFormat format = PixelFormat::UNSPECIFIED;
    BufferUsage usage = static_cast<BufferUsage>(0);
    int32_t stride = 0;
};
struct HardwareBuffer {
    HardwareBufferDescription description;
    hardware::common::NativeHandle handle;
};
} // namespace graphics::common

namespace neuralnetworks
{

enum class ErrorStatus : int32_t {
    NONE,
    DEVICE_UNAVAILABLE,
    GENERAL_FAILURE,
    OUTPUT_INSUFFICIENT_SIZE,
    INVALID_ARGUMENT,
    MISSED_DEADLINE_TRANSIENT,
    MISSED_DEADLINE_PERSISTENT,
    RESOURCE_EXHAUSTED_TRANSIENT,
    RESOURCE_EXHAUSTED_PERSISTENT
};
enum class DeviceType : int32_t { OTHER = 1, CPU, GPU, ACCELERATOR };
enum class ExecutionPreference : int32_t { LOW_POWER, FAST_SINGLE_ANSWER, SUSTAINED_SPEED };
enum class Priority : int32_t { LOW, MEDIUM, HIGH };
enum class OperandType : int32_t { FLOAT32 = 0, TENSOR_FLOAT32 = 3 };
enum class OperationType : int32_t { ADD = 0 };
enum class OperandLifeTime : int32_t {
    TEMPORARY_VARIABLE,
    SUBGRAPH_INPUT,
    SUBGRAPH_OUTPUT,
    CONSTANT_COPY,
    CONSTANT_POOL,
    NO_VALUE,
    SUBGRAPH
};

/* A union of AIDL. */
#define STAND_IN_UNION(Name, ...)                                                                  \
  private:                                                                                         \
    std::variant<__VA_ARGS__> value_;                                                              \
                                                                                                   \
  public:                                                                                          \
    Tag getTag() const                                                                             \
    {                                                                                              \
        return static_cast<Tag>(value_.index());                                                   \
    }                                                                                              \
    template <Tag tag> const auto &get() const                                                     \
    {                                                                                              \
        return std::get<tag>(value_);                                                              \
    }                                                                                              \
    template <Tag tag, class T> static Name make(T &&x)                                            \
    {                                                                                              \
        Name r;                                                                                    \
        r.value_.template emplace<tag>(std::forward<T>(x));                                        \
        return r;                                                                                  \
    }

class Memory
{
  public:
    enum Tag { ashmem, mappableFile, hardwareBuffer };
    STAND_IN_UNION(Memory, common::Ashmem, common::MappableFile, graphics::common::HardwareBuffer)
};

struct DataLocation {
    int32_t poolIndex = 0;
    int64_t offset = 0, length = 0, padding = 0;
};
struct SymmPerChannelQuantParams {
    std::vector<float> scales;
    int32_t channelDim = 0;
};
class OperandExtraParams
{
  public:
    enum Tag { channelQuant, extension };
    STAND_IN_UNION(OperandExtraParams, SymmPerChannelQuantParams, std::vector<uint8_t>)
};
struct Operand {
    OperandType type = OperandType::FLOAT32;
    std::vector<int32_t> dimensions;
    float scale = 0;
    int32_t zeroPoint = 0;
    OperandLifeTime lifetime = OperandLifeTime::TEMPORARY_VARIABLE;
    DataLocation location;
    std::optional<OperandExtraParams> extraParams;
};
struct Operation {
    OperationType type = OperationType::ADD;
    std::vector<int32_t> inputs, outputs;
};
struct Subgraph {
    std::vector<Operand> operands;
    std::vector<Operation> operations;
    std::vector<int32_t> inputIndexes, outputIndexes;
};
struct ExtensionNameAndPrefix {
    std::string name;
    char16_t prefix = 0;
};
struct Model {
    Subgraph main;
    std::vector<Subgraph> referenced;
    std::vector<uint8_t> operandValues;
    std::vector<Memory> pools;
    bool relaxComputationFloat32toFloat16 = false;
    std::vector<ExtensionNameAndPrefix> extensionNameToPrefix;
};
struct RequestArgument {
    bool hasNoValue = false;
    DataLocation location;
    std::vector<int32_t> dimensions;
};
class RequestMemoryPool
{
  public:
    enum Tag { pool, token };
    STAND_IN_UNION(RequestMemoryPool, Memory, int32_t)
};
struct Request {
    std::vector<RequestArgument> inputs, outputs;
    std::vector<RequestMemoryPool> pools;
};
struct OutputShape {
    std::vector<int32_t> dimensions;
    bool isSufficient = false;
};
struct Timing {
    int64_t timeOnDeviceNs = -1, timeInDriverNs = -1;
};
struct ExecutionResult {
    bool outputSufficientSize = false;
    std::vector<OutputShape> outputShapes;
    Timing timing;
};
struct TokenValuePair {
    int32_t token = 0;
    std::vector<uint8_t> value;
};
struct ExecutionConfig {
    bool measureTiming = false;
    int64_t loopTimeoutDurationNs = -1;
    std::vector<TokenValuePair> executionHints;
    std::vector<ExtensionNameAndPrefix> extensionNameToPrefix;
};
struct PrepareModelConfig {
    ExecutionPreference preference = ExecutionPreference::LOW_POWER;
    Priority priority = Priority::LOW;
    int64_t deadlineNs = -1;
    std::vector<::ndk::ScopedFileDescriptor> modelCache, dataCache;
    std::array<uint8_t, 32> cacheToken = {};
    std::vector<TokenValuePair> compilationHints;
    std::vector<ExtensionNameAndPrefix> extensionNameToPrefix;
};
struct PerformanceInfo {
    float execTime = 0, powerUsage = 0;
};
struct OperandPerformance {
    OperandType type = OperandType::FLOAT32;
    PerformanceInfo info;
};
struct Capabilities {
    PerformanceInfo relaxedFloat32toFloat16PerformanceScalar,
        relaxedFloat32toFloat16PerformanceTensor;
    std::vector<OperandPerformance> operandPerformance;
    PerformanceInfo ifPerformance, whilePerformance;
};
struct ExtensionOperandTypeInformation {
    char16_t type = 0;
    bool isTensor = false;
    int32_t byteSize = 0;
};
struct Extension {
    std::string name;
    std::vector<ExtensionOperandTypeInformation> operandTypes;
};
struct NumberOfCacheFiles {
    int32_t numModelCache = 0, numDataCache = 0;
};
struct BufferDesc {
    std::vector<int32_t> dimensions;
};
struct BufferRole {
    int32_t modelIndex = 0, ioIndex = 0;
    float probability = 0;
};

using Status = ::ndk::ScopedAStatus;
using Fds = std::vector<::ndk::ScopedFileDescriptor>;

class IFencedExecutionCallback : public ::ndk::SharedRefBase
{
  public:
    virtual Status getExecutionInfo(Timing *launched, Timing *fenced, ErrorStatus *ret) = 0;
};
struct FencedExecutionResult {
    std::shared_ptr<IFencedExecutionCallback> callback;
    ::ndk::ScopedFileDescriptor syncFence;
};

class IBurst : public ::ndk::SharedRefBase
{
  public:
    virtual Status executeSynchronously(const Request &request, const std::vector<int64_t> &tokens,
                                        bool measure, int64_t deadline, int64_t loop_timeout,
                                        ExecutionResult *ret) = 0;
    virtual Status releaseMemoryResource(int64_t token) = 0;
    virtual Status executeSynchronouslyWithConfig(const Request &request,
                                                  const std::vector<int64_t> &tokens,
                                                  const ExecutionConfig &config, int64_t deadline,
                                                  ExecutionResult *ret) = 0;
};
class IExecution : public ::ndk::SharedRefBase
{
  public:
    virtual Status executeSynchronously(int64_t deadline, ExecutionResult *ret) = 0;
    virtual Status executeFenced(const Fds &wait_for, int64_t deadline, int64_t duration,
                                 FencedExecutionResult *ret) = 0;
};
class IBuffer : public ::ndk::SharedRefBase
{
  public:
    virtual Status copyFrom(const Memory &from, const std::vector<int32_t> &dimensions) = 0;
    virtual Status copyTo(const Memory &to) = 0;
};
struct DeviceBuffer {
    std::shared_ptr<IBuffer> buffer;
    int32_t token = 0;
};
class IPreparedModel : public ::ndk::SharedRefBase
{
  public:
    virtual Status executeSynchronously(const Request &request, bool measure, int64_t deadline,
                                        int64_t loop_timeout, ExecutionResult *ret) = 0;
    virtual Status executeFenced(const Request &request, const Fds &wait_for, bool measure,
                                 int64_t deadline, int64_t loop_timeout, int64_t duration,
                                 FencedExecutionResult *ret) = 0;
    virtual Status configureExecutionBurst(std::shared_ptr<IBurst> *ret) = 0;
    virtual Status createReusableExecution(const Request &request, const ExecutionConfig &config,
                                           std::shared_ptr<IExecution> *ret) = 0;
    virtual Status executeSynchronouslyWithConfig(const Request &request,
                                                  const ExecutionConfig &config, int64_t deadline,
                                                  ExecutionResult *ret) = 0;
    virtual Status executeFencedWithConfig(const Request &request, const Fds &wait_for,
                                           const ExecutionConfig &config, int64_t deadline,
                                           int64_t duration, FencedExecutionResult *ret) = 0;
};
struct IPreparedModelParcel {
    std::shared_ptr<IPreparedModel> preparedModel;
};
class IPreparedModelCallback : public ::ndk::SharedRefBase
{
  public:
    virtual Status notify(ErrorStatus status, const std::shared_ptr<IPreparedModel> &model) = 0;
};

class IDevice : public ::ndk::SharedRefBase
{
  public:
    static const int32_t version = 4;
    virtual Status allocate(const BufferDesc &desc, const std::vector<IPreparedModelParcel> &models,
                            const std::vector<BufferRole> &input_roles,
                            const std::vector<BufferRole> &output_roles, DeviceBuffer *ret) = 0;
    virtual Status getCapabilities(Capabilities *ret) = 0;
    virtual Status getNumberOfCacheFilesNeeded(NumberOfCacheFiles *ret) = 0;
    virtual Status getSupportedExtensions(std::vector<Extension> *ret) = 0;
    virtual Status getSupportedOperations(const Model &model, std::vector<bool> *ret) = 0;
    virtual Status getType(DeviceType *ret) = 0;
    virtual Status getVersionString(std::string *ret) = 0;
    virtual Status prepareModel(const Model &model, ExecutionPreference preference,
                                Priority priority, int64_t deadline, const Fds &model_cache,
                                const Fds &data_cache, const std::vector<uint8_t> &token,
                                const std::shared_ptr<IPreparedModelCallback> &callback) = 0;
    virtual Status
    prepareModelFromCache(int64_t deadline, const Fds &model_cache, const Fds &data_cache,
                          const std::vector<uint8_t> &token,
                          const std::shared_ptr<IPreparedModelCallback> &callback) = 0;
    virtual Status
    prepareModelWithConfig(const Model &model, const PrepareModelConfig &config,
                           const std::shared_ptr<IPreparedModelCallback> &callback) = 0;
    virtual Status getInterfaceVersion(int32_t *ret) = 0;
};

class BnFencedExecutionCallback : public IFencedExecutionCallback
{
};
class BnBurst : public IBurst
{
};
class BnExecution : public IExecution
{
};
class BnBuffer : public IBuffer
{
};
class BnPreparedModel : public IPreparedModel
{
};
class BnPreparedModelCallback : public IPreparedModelCallback
{
};
class BnDevice : public IDevice
{
  public:
    Status getInterfaceVersion(int32_t *ret) override
    {
        *ret = version;
        return Status::ok();
    }
};

} // namespace neuralnetworks
} // namespace aidl::android::hardware

#endif
