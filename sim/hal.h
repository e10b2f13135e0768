/* The driver contract: Android's Neural Networks HAL, versions 1.0 to 1.3 and feature levels 5 to
 * 8, as a C interface.
 *
 * This header includes nothing of Halcyon.  A driver is one `struct hal_driver`: constants and a
 * table of functions.  It creates prepared models, buffers, bursts and reusable executions; each is
 * an object of the driver whose first member points to its own table of functions.  The caller (the
 * "client") owns what it passes in; the driver owns what it returns until the client releases it.
 *
 * Rules for every call:
 *  - Arguments are untrusted.  The driver checks indexes, lengths, counts, types and offsets into
 *    pools before it uses them, and returns HAL_INVALID_ARGUMENT for those that are out of range.
 *    No argument may crash a driver.
 *  - Arguments are valid for the duration of the call.  What the driver needs longer (constants,
 *    pools of a model that is being prepared asynchronously) it copies or maps before it returns.
 *    Exception: memory that is given by an address (hal_memory) stays valid at that address, and if
 *    it has no descriptor unchanged, for as long as the prepared model lives (in a model), until
 * the execution has completed (in a request), or until release_memory() (in a burst, with an
 *    identifier).
 *  - Any thread may call any method at any time, also concurrently on one object.  Exception:
 *    release() and close() are the last call on their object and overlap no other.
 *  - Pointers named ret_x are never NULL.  They are written only as the method documents; a method
 *    that fails leaves them unchanged unless it documents otherwise.
 *  - Every member is set, unless its comment gives a meaning for NULL.
 *  - Versions.  A driver has the entry points of its own version (hal_version) and of every earlier
 *    one down to its lowest_version.  The argument `version` names the entry point that the client
 *    called (prepareModel_1_1 is HAL_1_1).  Each method documents the first version that has it,
 *    execute() also the last.  Called with a version that has no such entry point, that is above or
 *    below those of the driver, or that does not exist, it returns HAL_INVALID_ARGUMENT.  A method
 *    without `version` that is newer than the driver returns HAL_GENERAL_FAILURE or is NULL; the
 *    client need not call it.
 *  - Types, operations and arguments newer than the entry point's version are
 *    HAL_INVALID_ARGUMENT.  A structure member newer than that version holds its neutral value,
 *    which its comment gives ("since 1.3; HAL_NO_DEADLINE").  A status code that the version does
 *    not have is returned as HAL_GENERAL_FAILURE.
 *  - Integers are signed since feature level 5: offsets, lengths, paddings and times above
 *    INT64_MAX, and pool indexes, dimensions and tokens above INT32_MAX, represent negative numbers
 *    and are HAL_INVALID_ARGUMENT, except for -1 where it means "none".  Up to 1.3 offsets and
 *    lengths have 32 bits; larger ones are HAL_INVALID_ARGUMENT. */
#ifndef SIM_HAL_H
#define SIM_HAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Incremented when a structure below changes its layout. */
#define HAL_ABI_VERSION 2

enum hal_version {
    HAL_1_0 = 10, /* feature level 1 */
    HAL_1_1 = 11,
    HAL_1_2 = 12,
    HAL_1_3 = 13, /* feature level 4 */
    HAL_FL5 = 15, /* the stable-interface versions */
    HAL_FL6 = 16,
    HAL_FL7 = 17,
    HAL_FL8 = 18
};

enum hal_status {
    HAL_NONE = 0,
    HAL_DEVICE_UNAVAILABLE = 1,
    HAL_GENERAL_FAILURE = 2,
    HAL_OUTPUT_INSUFFICIENT_SIZE = 3,
    HAL_INVALID_ARGUMENT = 4,
    /* Since 1.3.  Transient: the same call may succeed later.  Persistent: it will not. */
    HAL_MISSED_DEADLINE_TRANSIENT = 5,
    HAL_MISSED_DEADLINE_PERSISTENT = 6,
    HAL_RESOURCE_EXHAUSTED_TRANSIENT = 7,
    HAL_RESOURCE_EXHAUSTED_PERSISTENT = 8
};
enum { HAL_STATUS_COUNT = 9 };

enum hal_device_status {
    HAL_DEVICE_AVAILABLE = 0,
    HAL_DEVICE_BUSY = 1,
    HAL_DEVICE_OFFLINE = 2,
    HAL_DEVICE_UNKNOWN = 3
};

enum hal_device_type {
    HAL_DEVICE_OTHER = 1,
    HAL_DEVICE_CPU = 2,
    HAL_DEVICE_GPU = 3,
    HAL_DEVICE_ACCELERATOR = 4
};

enum hal_preference {
    HAL_LOW_POWER = 0,
    HAL_FAST_SINGLE_ANSWER = 1, /* the default */
    HAL_SUSTAINED_SPEED = 2
};

enum hal_priority {
    HAL_PRIORITY_LOW = 0,
    HAL_PRIORITY_MEDIUM = 1, /* the default */
    HAL_PRIORITY_HIGH = 2
};

enum {
    HAL_TOKEN_BYTES = 32,     /* length of a compilation cache token */
    HAL_MAX_CACHE_FILES = 32, /* of each kind: model cache, data cache */
    HAL_MAX_RANK = 16,        /* of an output shape that a driver returns */
    HAL_TEXT_BYTES = 256      /* of a text of get_failure_text(), its NUL included */
};

/* An absent or unknown duration or point in time; the stable interface encodes it as -1.  All times
 * are in nanoseconds.  A deadline is a point in time on CLOCK_MONOTONIC up to 1.3 and on
 * CLOCK_BOOTTIME since feature level 5; a call that misses its deadline fails with
 * HAL_MISSED_DEADLINE_*. */
#define HAL_NO_TIME     UINT64_MAX
#define HAL_NO_DEADLINE UINT64_MAX

/* Loop timeouts of WHILE in nanoseconds: the default, used for HAL_NO_TIME, and the maximum, to
 * which longer ones are clamped. */
#define HAL_LOOP_TIMEOUT_DEFAULT UINT64_C(2000000000)
#define HAL_LOOP_TIMEOUT_MAX     UINT64_C(15000000000)

/* ---- properties of a driver */

/* Relative to the reference CPU implementation, > 0.  Below 1: faster, less power. */
struct hal_performance {
    float exec_time, power_usage;
};

struct hal_operand_performance {
    int32_t type; /* enum hal_operand_type, or of an extension; never HAL_TYPE_SUBGRAPH */
    struct hal_performance info;
};

/* Capabilities of every version in one structure.  Members that a version does not have are 0:
 *
 *    1.0   exactly two rows, TENSOR_FLOAT32 and TENSOR_QUANT8_ASYMM (float32Performance and
 *          quantized8Performance); FLT_MAX for a type that the driver does not support
 *    1.1   adds relaxed_tensor
 *    1.2   adds relaxed_scalar; rows for any operand types that 1.2 has
 *    1.3   adds if_performance, while_performance; rows for any operand types except SUBGRAPH
 *
 * Feature levels 5 to 8 are as 1.3. */
struct hal_capabilities {
    struct hal_performance relaxed_scalar, relaxed_tensor; /* relaxed fp32, see hal_model */
    struct hal_performance if_performance, while_performance;
    uint32_t n_operands;
    const struct hal_operand_performance *operand; /* ascending by type; owned by the driver */
};

struct hal_extension_type {
    uint16_t type; /* low 16 bits of the operand type */
    bool is_tensor;
    uint32_t byte_size; /* of a scalar, or of one element of a tensor */
};

/* name: of a-z 0-9 _ . with at least one dot, beginning with the vendor's reversed domain name. */
struct hal_extension {
    const char *name;
    uint32_t n_types;
    const struct hal_extension_type *type;
};

/* ---- memory */

enum hal_memory_kind {
    HAL_MEMORY_ADDRESS = 0,        /* memory of this process, at `address`; fd is -1 */
    HAL_MEMORY_FD = 1,             /* memfd, ashmem or file, given by its descriptor */
    HAL_MEMORY_HARDWARE_BUFFER = 2 /* since 1.2; BLOB format, given by its descriptor as above */
};

enum { HAL_MEMORY_READ = 1, HAL_MEMORY_WRITE = 2 };

/* Memory that the client owns.
 *
 * Memory of the kinds with a descriptor can always be mapped from it; a driver that needs the
 * descriptor after the call duplicates it.  The file may be shorter than `size` and may shrink
 * while it is mapped: drivers check fstat() and whether the file is sealed against shrinking.
 *
 * If such memory also has an address, the client has mapped the same bytes there (shared, with that
 * protection, all of `size`), and the address may be used like that of HAL_MEMORY_ADDRESS, for as
 * long: the driver need not map the file, and need not check its size.  It may use either, also
 * both.  Only a client in the same process gives an address; the contents may change at any time.
 */
struct hal_memory {
    enum hal_memory_kind kind;
    uint32_t protection; /* HAL_MEMORY_READ | HAL_MEMORY_WRITE */
    void *address; /* of the first byte; NULL: the kind has a descriptor, and it is not mapped */
    int fd;
    uint64_t offset; /* bytes from the start of the file, a multiple of the page size */
    uint64_t size;   /* bytes, > 0 */
};

/* ---- models */

/* Location of an operand's bytes.  Values in pools have no alignment.  All members are 0 for
 * lifetimes without a value. */
struct hal_location {
    uint32_t pool;           /* index into the pools of the model or request */
    uint64_t offset, length; /* bytes */
    uint64_t padding;        /* since feature level 5, in requests only: bytes of the pool after the
                                value that the driver may also access; else 0 */
};

enum hal_lifetime {
    HAL_TEMPORARY_VARIABLE = 0,
    HAL_SUBGRAPH_INPUT = 1,
    HAL_SUBGRAPH_OUTPUT = 2,
    HAL_CONSTANT_COPY = 3,      /* location: within operand_values; pool 0 */
    HAL_CONSTANT_REFERENCE = 4, /* location: within a pool */
    HAL_NO_VALUE = 5,           /* omitted optional operand */
    HAL_SUBGRAPH = 6            /* location.offset: index into referenced; length 0; since 1.3 */
};

enum hal_extra_kind { HAL_EXTRA_NONE = 0, HAL_EXTRA_CHANNEL_QUANT = 1, HAL_EXTRA_EXTENSION = 2 };

/* Types and operations have NNAPI's codes.  In a code of an extension the upper 16 bits are the
 * extension's prefix (hal_extension_prefix), else they are 0.  A quantised element q represents the
 * value (q - zero) * scale.  A model with a type or operation that the version has and the driver
 * does not implement is still valid: the driver reports the operations concerned as unsupported. */
enum hal_operand_type {
    HAL_TYPE_FLOAT32 = 0,
    HAL_TYPE_INT32 = 1,
    HAL_TYPE_UINT32 = 2,
    HAL_TYPE_TENSOR_FLOAT32 = 3,
    HAL_TYPE_TENSOR_INT32 = 4,
    HAL_TYPE_TENSOR_QUANT8_ASYMM = 5, /* uint8_t */
    /* since 1.2 */
    HAL_TYPE_BOOL = 6,                /* uint8_t, 0 or 1 */
    HAL_TYPE_TENSOR_QUANT16_SYMM = 7, /* int16_t */
    HAL_TYPE_TENSOR_FLOAT16 = 8,
    HAL_TYPE_TENSOR_BOOL8 = 9, /* uint8_t, 0 or 1 */
    HAL_TYPE_FLOAT16 = 10,
    HAL_TYPE_TENSOR_QUANT8_SYMM_PER_CHANNEL = 11, /* int8_t */
    HAL_TYPE_TENSOR_QUANT16_ASYMM = 12,           /* uint16_t */
    HAL_TYPE_TENSOR_QUANT8_SYMM = 13,             /* int8_t */
    /* since 1.3 */
    HAL_TYPE_TENSOR_QUANT8_ASYMM_SIGNED = 14, /* int8_t */
    HAL_TYPE_SUBGRAPH = 15,
    /* up to 1.3 */
    HAL_TYPE_OEM = 10000,
    HAL_TYPE_TENSOR_OEM_BYTE = 10001
};

enum hal_operation_type {
    /* 1.0 */
    HAL_OP_ADD = 0,
    HAL_OP_AVERAGE_POOL_2D = 1,
    HAL_OP_CONCATENATION = 2,
    HAL_OP_CONV_2D = 3,
    HAL_OP_DEPTHWISE_CONV_2D = 4,
    HAL_OP_DEPTH_TO_SPACE = 5,
    HAL_OP_DEQUANTIZE = 6,
    HAL_OP_EMBEDDING_LOOKUP = 7,
    HAL_OP_FLOOR = 8,
    HAL_OP_FULLY_CONNECTED = 9,
    HAL_OP_HASHTABLE_LOOKUP = 10,
    HAL_OP_L2_NORMALIZATION = 11,
    HAL_OP_L2_POOL_2D = 12,
    HAL_OP_LOCAL_RESPONSE_NORMALIZATION = 13,
    HAL_OP_LOGISTIC = 14,
    HAL_OP_LSH_PROJECTION = 15,
    HAL_OP_LSTM = 16,
    HAL_OP_MAX_POOL_2D = 17,
    HAL_OP_MUL = 18,
    HAL_OP_RELU = 19,
    HAL_OP_RELU1 = 20,
    HAL_OP_RELU6 = 21,
    HAL_OP_RESHAPE = 22,
    HAL_OP_RESIZE_BILINEAR = 23,
    HAL_OP_RNN = 24,
    HAL_OP_SOFTMAX = 25,
    HAL_OP_SPACE_TO_DEPTH = 26,
    HAL_OP_SVDF = 27,
    HAL_OP_TANH = 28,
    /* since 1.1 */
    HAL_OP_BATCH_TO_SPACE_ND = 29,
    HAL_OP_DIV = 30,
    HAL_OP_MEAN = 31,
    HAL_OP_PAD = 32,
    HAL_OP_SPACE_TO_BATCH_ND = 33,
    HAL_OP_SQUEEZE = 34,
    HAL_OP_STRIDED_SLICE = 35,
    HAL_OP_SUB = 36,
    HAL_OP_TRANSPOSE = 37,
    /* since 1.2 */
    HAL_OP_ABS = 38,
    HAL_OP_ARGMAX = 39,
    HAL_OP_ARGMIN = 40,
    HAL_OP_AXIS_ALIGNED_BBOX_TRANSFORM = 41,
    HAL_OP_BIDIRECTIONAL_SEQUENCE_LSTM = 42,
    HAL_OP_BIDIRECTIONAL_SEQUENCE_RNN = 43,
    HAL_OP_BOX_WITH_NMS_LIMIT = 44,
    HAL_OP_CAST = 45,
    HAL_OP_CHANNEL_SHUFFLE = 46,
    HAL_OP_DETECTION_POSTPROCESSING = 47,
    HAL_OP_EQUAL = 48,
    HAL_OP_EXP = 49,
    HAL_OP_EXPAND_DIMS = 50,
    HAL_OP_GATHER = 51,
    HAL_OP_GENERATE_PROPOSALS = 52,
    HAL_OP_GREATER = 53,
    HAL_OP_GREATER_EQUAL = 54,
    HAL_OP_GROUPED_CONV_2D = 55,
    HAL_OP_HEATMAP_MAX_KEYPOINT = 56,
    HAL_OP_INSTANCE_NORMALIZATION = 57,
    HAL_OP_LESS = 58,
    HAL_OP_LESS_EQUAL = 59,
    HAL_OP_LOG = 60,
    HAL_OP_LOGICAL_AND = 61,
    HAL_OP_LOGICAL_NOT = 62,
    HAL_OP_LOGICAL_OR = 63,
    HAL_OP_LOG_SOFTMAX = 64,
    HAL_OP_MAXIMUM = 65,
    HAL_OP_MINIMUM = 66,
    HAL_OP_NEG = 67,
    HAL_OP_NOT_EQUAL = 68,
    HAL_OP_PAD_V2 = 69,
    HAL_OP_POW = 70,
    HAL_OP_PRELU = 71,
    HAL_OP_QUANTIZE = 72,
    HAL_OP_QUANTIZED_16BIT_LSTM = 73,
    HAL_OP_RANDOM_MULTINOMIAL = 74,
    HAL_OP_REDUCE_ALL = 75,
    HAL_OP_REDUCE_ANY = 76,
    HAL_OP_REDUCE_MAX = 77,
    HAL_OP_REDUCE_MIN = 78,
    HAL_OP_REDUCE_PROD = 79,
    HAL_OP_REDUCE_SUM = 80,
    HAL_OP_ROI_ALIGN = 81,
    HAL_OP_ROI_POOLING = 82,
    HAL_OP_RSQRT = 83,
    HAL_OP_SELECT = 84,
    HAL_OP_SIN = 85,
    HAL_OP_SLICE = 86,
    HAL_OP_SPLIT = 87,
    HAL_OP_SQRT = 88,
    HAL_OP_TILE = 89,
    HAL_OP_TOPK_V2 = 90,
    HAL_OP_TRANSPOSE_CONV_2D = 91,
    HAL_OP_UNIDIRECTIONAL_SEQUENCE_LSTM = 92,
    HAL_OP_UNIDIRECTIONAL_SEQUENCE_RNN = 93,
    HAL_OP_RESIZE_NEAREST_NEIGHBOR = 94,
    /* since 1.3 */
    HAL_OP_QUANTIZED_LSTM = 95,
    HAL_OP_IF = 96,
    HAL_OP_WHILE = 97,
    HAL_OP_ELU = 98,
    HAL_OP_HARD_SWISH = 99,
    HAL_OP_FILL = 100,
    HAL_OP_RANK = 101,
    /* since feature level 6 */
    HAL_OP_BATCH_MATMUL = 102,
    HAL_OP_PACK = 103,
    /* since feature level 7 */
    HAL_OP_MIRROR_PAD = 104,
    HAL_OP_REVERSE = 105,
    /* experimental: in no HAL version */
    HAL_OP_DENSIFY = 20000,
    /* up to 1.3 */
    HAL_OP_OEM_OPERATION = 10000
};

struct hal_operand {
    int32_t type;         /* enum hal_operand_type, or of an extension */
    uint32_t n_dims;      /* 0: a scalar, or a tensor of unknown rank */
    const uint32_t *dims; /* a dimension of 0 is unknown */
    uint32_t n_consumers; /* up to 1.3: operation inputs that refer to this operand; then ignored */
    float scale;
    int32_t zero;
    enum hal_lifetime lifetime;
    struct hal_location location;

    enum hal_extra_kind extra;
    uint32_t channel_dim; /* HAL_EXTRA_CHANNEL_QUANT: one scale per index of this dimension */
    uint32_t n_channel_scales;
    const float *channel_scales;
    const void *extension; /* HAL_EXTRA_EXTENSION: data whose format the extension defines */
    uint64_t extension_length;
};

struct hal_operation {
    int32_t type; /* enum hal_operation_type, or of an extension */
    uint32_t n_inputs, n_outputs;
    const uint32_t *inputs, *outputs; /* operand indexes in the same subgraph */
};

/* Operations are in execution order: each operand is written before it is read. */
struct hal_subgraph {
    uint32_t n_operands, n_operations, n_inputs, n_outputs;
    const struct hal_operand *operands;
    const struct hal_operation *operations;
    const uint32_t *inputs, *outputs; /* operand indexes */
};

/* The prefix that a model uses for an extension, or a configuration in its hints.  An extension
 * that the driver does not support is valid: its types and operations are not checked, its
 * operations are unsupported, its hints are ignored. */
struct hal_extension_prefix {
    const char *name;
    uint16_t prefix; /* not 0, unique within the list; below 0x8000 since feature level 5 */
};

struct hal_model {
    struct hal_subgraph main;
    uint32_t n_referenced; /* subgraphs of IF and WHILE, which may refer to each other, no cycles;
                              since 1.3; 0 */
    const struct hal_subgraph *referenced;
    const uint8_t *operand_values; /* values of CONSTANT_COPY, each aligned to its element */
    uint64_t operand_values_length;
    uint32_t n_pools; /* values of CONSTANT_REFERENCE */
    const struct hal_memory *pools;
    bool relaxed; /* TENSOR_FLOAT32 may be computed with the range and precision of fp16; since 1.1;
                     false */
    uint32_t n_extension_prefixes;
    const struct hal_extension_prefix *extension_name_to_prefix;
};

/* A vendor hint of feature level 8.  The prefix is that of an extension that the configuration
 * names (its own extension_name_to_prefix, not the model's).  A token occurs at most once in a
 * list; a driver ignores hints that it does not know. */
struct hal_token_value {
    int32_t token; /* prefix << 16 | number within the extension */
    const uint8_t *value;
    uint64_t length;
};

/* ---- executions */

struct hal_argument {
    bool has_no_value; /* omitted optional operand; location and dims are zero */
    struct hal_location location;
    uint32_t n_dims;      /* 0: dimensions as declared in the model */
    const uint32_t *dims; /* Input: every dimension is known; since 1.2 a dimension of 0 has no
                             elements.  Output: a dimension of 0 is unknown since 1.2; before, every
                             dimension is known from here or from the model. */
};

/* A pool of a request: client memory, or a buffer from allocate().  A location in such a buffer is
 * 0 except for `pool`. */
struct hal_request_pool {
    bool is_token;            /* since 1.3; false */
    uint32_t token;           /* of the buffer, where is_token */
    struct hal_memory memory; /* else */
};

/* Values are dense and row-major.  The driver writes only bytes within the locations of outputs and
 * never those of inputs.  The outputs of concurrent executions do not overlap. */
struct hal_request {
    uint32_t n_inputs, n_outputs, n_pools;
    const struct hal_argument *inputs, *outputs; /* one per input and output of the main subgraph */
    const struct hal_request_pool *pools;
};

struct hal_output_shape {
    uint32_t n_dims;
    uint32_t dims[HAL_MAX_RANK]; /* 0: unknown, or a dimension without elements */
    bool is_sufficient;          /* whether the location was large enough */
};

/* Durations of an execution.  on_device: on the device only.  in_driver: in the driver, including
 * on_device; on_device <= in_driver where both are known.  Both include time spent queued or
 * preempted. */
struct hal_timing {
    uint64_t on_device, in_driver; /* ns (up to 1.3 a multiple of 1000), or HAL_NO_TIME */
};

/* Results of an execution besides its status.  Before 1.2: no shapes, timing unknown.  Since 1.2,
 * by status:
 *
 *  - HAL_NONE: one shape per output, all sufficient; or no shapes, if all output shapes were known.
 *  - HAL_OUTPUT_INSUFFICIENT_SIZE: one shape per output; is_sufficient is false for each output
 *    that did not fit; unknown dimensions are 0.
 *  - Any other status: no shapes.
 *
 * Both times are HAL_NO_TIME unless `measure` was requested and the execution succeeded. */
struct hal_result {
    struct hal_output_shape *shapes; /* array of `capacity` elements, owned by the client */
    uint32_t capacity;               /* at least n_outputs of the prepared model */
    uint32_t n_shapes;               /* number of shapes that the driver has written */
    struct hal_timing timing;
};

struct hal_execution_config {
    bool measure;          /* since 1.2; false */
    uint64_t deadline;     /* since 1.3, in bursts since feature level 5; HAL_NO_DEADLINE */
    uint64_t loop_timeout; /* ns per WHILE; since 1.3, in bursts since feature level 5; HAL_NO_TIME,
                              for the default */
    uint32_t n_hints;      /* since feature level 8; 0 */
    const struct hal_token_value *hints;
    uint32_t n_extension_prefixes; /* of the hints; since feature level 8; 0 */
    const struct hal_extension_prefix *extension_name_to_prefix;
};

/* Callback of an asynchronous execution.  The driver calls notify() exactly once per execute(),
 * also when the launch fails, from any thread, possibly before execute() returns.  `shapes` are
 * valid during the call only. */
struct hal_execution_callback {
    void (*notify)(struct hal_execution_callback *self, enum hal_status status, uint32_t n_shapes,
                   const struct hal_output_shape *shapes, struct hal_timing timing);
};

/* A fence is a file descriptor: poll() reports POLLIN once it is signalled (as for an eventfd), and
 * POLLERR or POLLHUP without POLLIN when the work that it represents has failed.  HAL_NO_FENCE:
 * none is needed. */
#define HAL_NO_FENCE (-1)

/* Status and timing of a fenced execution. */
struct hal_fenced_info;
struct hal_fenced_info_methods {
    /* Called after the fence has signalled.  Returns the execution's status.  *ret_launched counts
     * from the call of execute_fenced(), *ret_fenced from the signal of the last fence waited for;
     * both until the execution's own fence signals. */
    enum hal_status (*get_execution_info)(struct hal_fenced_info *self,
                                          struct hal_timing *ret_launched,
                                          struct hal_timing *ret_fenced);
    void (*release)(struct hal_fenced_info *self);
};
struct hal_fenced_info {
    const struct hal_fenced_info_methods *methods;
};

/* A reusable execution of feature level 8: one request and configuration that can be computed any
 * number of times, one at a time (a concurrent call: HAL_GENERAL_FAILURE).  Each computation has
 * its own deadline; that of the configuration is ignored. */
struct hal_execution;
struct hal_execution_methods {
    enum hal_status (*execute_synchronously)(struct hal_execution *self, uint64_t deadline,
                                             struct hal_result *result);
    enum hal_status (*execute_fenced)(struct hal_execution *self, uint32_t n_wait_for,
                                      const int *wait_for, uint64_t deadline, uint64_t duration,
                                      int *ret_fence, struct hal_fenced_info **ret_info);
    void (*release)(struct hal_execution *self);
};
struct hal_execution {
    const struct hal_execution_methods *methods;
};

/* A burst: executions of one prepared model in rapid succession.  Each pool has an identifier.  An
 * identifier >= 0 names the same memory until release_memory(), and the driver may keep the memory
 * mapped until then; -1: the driver must not keep it. */
struct hal_burst;
struct hal_burst_methods {
    /* identifiers[i] belongs to request->pools[i].  HAL_INVALID_ARGUMENT: n_identifiers is not
     * request->n_pools, or an identifier is below -1. */
    enum hal_status (*execute_synchronously)(struct hal_burst *self,
                                             const struct hal_request *request,
                                             uint32_t n_identifiers, const int64_t *identifiers,
                                             const struct hal_execution_config *config,
                                             struct hal_result *result);
    /* An unknown identifier: HAL_NONE.  A negative one: HAL_INVALID_ARGUMENT. */
    enum hal_status (*release_memory)(struct hal_burst *self, int64_t identifier);
    void (*release)(struct hal_burst *self);
};
struct hal_burst {
    const struct hal_burst_methods *methods;
};

/* A prepared model.  The driver's own structure begins with this one. */
struct hal_prepared_model;
struct hal_prepared_model_methods {
    /* Since 1.2; NULL in drivers of 1.0 and 1.1.  Executes the request and returns when it has
     * completed.  result->n_shapes and result->timing are always written.  Output contents are
     * undefined after a failure. */
    enum hal_status (*execute_synchronously)(struct hal_prepared_model *self,
                                             enum hal_version version,
                                             const struct hal_request *request,
                                             const struct hal_execution_config *config,
                                             struct hal_result *result);

    /* 1.0 to 1.3: asynchronous execution; since feature level 5 only execute_fenced() is
     * asynchronous.  Launches the request and returns the launch status.  The memory that the
     * request names stays valid until the callback has been called.  When the launch fails, the
     * callback receives the launch status.  NULL: unsupported; never NULL in drivers of 1.0 and
     * 1.1, which have no other way to execute. */
    enum hal_status (*execute)(struct hal_prepared_model *self, enum hal_version version,
                               const struct hal_request *request,
                               const struct hal_execution_config *config,
                               struct hal_execution_callback *callback);

    /* Since 1.3.  Waits for every fence of wait_for (which the client keeps), then executes.
     * duration: maximum execution time in ns after all fences have signalled, or HAL_NO_TIME.
     * Success: *ret_info is an object that the client releases; *ret_fence is a descriptor that the
     * client closes, or HAL_NO_FENCE when the execution has already completed.  The memory that the
     * request names stays valid until the fence has signalled; if it never does, until the driver
     * is released.  Failure: *ret_fence is HAL_NO_FENCE and *ret_info is NULL.
     * HAL_INVALID_ARGUMENT: an output of unknown shape or without elements, a fence that is not a
     * descriptor.  HAL_GENERAL_FAILURE: a fence that reports an error.  NULL: the client acts as on
     * HAL_GENERAL_FAILURE. */
    enum hal_status (*execute_fenced)(struct hal_prepared_model *self, enum hal_version version,
                                      const struct hal_request *request, uint32_t n_wait_for,
                                      const int *wait_for,
                                      const struct hal_execution_config *config, uint64_t duration,
                                      int *ret_fence, struct hal_fenced_info **ret_info);

    /* Since 1.2.  The client releases the burst before the prepared model.  NULL: the client acts
     * as on HAL_GENERAL_FAILURE and uses single executions. */
    enum hal_status (*configure_burst)(struct hal_prepared_model *self, enum hal_version version,
                                       struct hal_burst **ret_burst);

    /* Since feature level 8.  The driver copies the structures of the request and configuration;
     * the memory that the request names stays valid until the execution is released.  NULL: the
     * client acts as on HAL_GENERAL_FAILURE. */
    enum hal_status (*create_reusable_execution)(struct hal_prepared_model *self,
                                                 const struct hal_request *request,
                                                 const struct hal_execution_config *config,
                                                 struct hal_execution **ret_execution);

    /* Frees the model and everything that it owns. */
    void (*release)(struct hal_prepared_model *self);
};
struct hal_prepared_model {
    const struct hal_prepared_model_methods *methods;
    uint32_t n_inputs, n_outputs; /* of the main subgraph; constant */
};

/* ---- preparation */

/* Cache files of one compilation: descriptors, open for reading and writing, which the client
 * keeps, and the token that identifies the compilation.  The driver writes from offset 0.  Contents
 * are untrusted: it checks data, length and token before use (wrong: HAL_GENERAL_FAILURE).  Other
 * numbers of files than the driver requires: prepare_model() does not cache,
 * prepare_model_from_cache() returns HAL_INVALID_ARGUMENT or HAL_GENERAL_FAILURE.  A cache that
 * cannot be written does not make the preparation fail. */
struct hal_cache {
    uint32_t n_model, n_data;
    const int *model, *data;
    uint8_t token[HAL_TOKEN_BYTES];
};

/* An invalid preference or priority: HAL_INVALID_ARGUMENT. */
struct hal_prepare_config {
    enum hal_preference preference; /* since 1.1; HAL_FAST_SINGLE_ANSWER */
    enum hal_priority priority;     /* since 1.3; HAL_PRIORITY_MEDIUM */
    uint64_t deadline;              /* since 1.3; HAL_NO_DEADLINE */
    struct hal_cache cache;         /* since 1.2; without files: no caching */
    uint32_t n_hints;               /* since feature level 8; 0 */
    const struct hal_token_value *hints;
    uint32_t n_extension_prefixes; /* of the hints; since feature level 8; 0 */
    const struct hal_extension_prefix *extension_name_to_prefix;
};

/* Callback of a preparation.  The driver calls notify() exactly once, also when the launch fails
 * (with the launch status), from any thread, possibly before the preparing call returns.
 * `prepared` is NULL if and only if status is not HAL_NONE; else the client owns it. */
struct hal_prepare_callback {
    void (*notify)(struct hal_prepare_callback *self, enum hal_status status,
                   struct hal_prepared_model *prepared);
};

/* ---- memory domains */

/* A use of a buffer: as input or output io_index of the prepared model models[model_index]. */
struct hal_buffer_role {
    uint32_t model_index, io_index;
    float probability; /* in (0, 1] */
};

struct hal_buffer_desc {
    uint32_t n_dims; /* 0: dimensions as in the roles' operands; a dimension of 0 is unknown */
    const uint32_t *dims;
};

/* Memory managed by the driver (device memory). */
struct hal_buffer;
struct hal_buffer_methods {
    /* Copies the contents to client memory, whose size must be that of the buffer
     * (HAL_INVALID_ARGUMENT).  A buffer that was never written: HAL_GENERAL_FAILURE. */
    enum hal_status (*copy_to)(struct hal_buffer *self, const struct hal_memory *to);
    /* Copies client memory to the buffer.  dims: shape of the copied data, which gives the
     * dimensions that are unknown in the buffer; n_dims 0: the buffer's own dimensions. */
    enum hal_status (*copy_from)(struct hal_buffer *self, const struct hal_memory *from,
                                 uint32_t n_dims, const uint32_t *dims);
    void (*release)(struct hal_buffer *self); /* also invalidates its token */
};
struct hal_buffer {
    const struct hal_buffer_methods *methods;
};

/* ---- the driver */

struct hal_driver {
    uint32_t abi_version;            /* the HAL_ABI_VERSION that the driver was built with */
    enum hal_version hal_version;    /* the highest version that the driver answers */
    enum hal_version lowest_version; /* HAL_FL5: a driver of the stable interface only */
    const char *name;                /* service name: printable, not empty */

    /* Results of this method and the next four are constant for the driver's life, and the driver
     * owns what they point to. */
    enum hal_status (*get_capabilities)(struct hal_driver *self, enum hal_version version,
                                        struct hal_capabilities *ret_capabilities);
    /* Both since 1.2; for older drivers the client uses HAL_DEVICE_OTHER and "UNKNOWN". */
    enum hal_status (*get_type)(struct hal_driver *self, enum hal_device_type *ret_type);
    enum hal_status (*get_version_string)(struct hal_driver *self, const char **ret_version);
    /* Since 1.2.  NULL: no extensions. */
    enum hal_status (*get_supported_extensions)(struct hal_driver *self, uint32_t *ret_n,
                                                const struct hal_extension **ret_extension);
    /* Since 1.2.  At most HAL_MAX_CACHE_FILES of each kind.  Both 0, or NULL: no compilation
     * caching, and prepare_model_from_cache() returns HAL_GENERAL_FAILURE. */
    enum hal_status (*get_number_of_cache_files_needed)(struct hal_driver *self,
                                                        uint32_t *ret_n_model,
                                                        uint32_t *ret_n_data);
    enum hal_device_status (*get_status)(struct hal_driver *self);

    /* Writes why the last method that this thread has called, of the driver or of one of its
     * objects, has failed; also called by a callback within notify(), with a status that is not
     * HAL_NONE.  Not called after a success, nor after this method or get_status().  At most `size`
     * bytes (HAL_TEXT_BYTES), printable UTF-8 that ends with NUL; "": no reason is known.  Keep it
     * per thread, and replace it, if only by "", with every failure.  NULL: no reasons. */
    void (*get_failure_text)(struct hal_driver *self, char *ret_text, size_t size);

    /* Reports for each operation of the main subgraph whether the driver supports it.  `supported`
     * is an array of model->main.n_operations elements; *ret_n is the number written, which on
     * success is all of them.  IF and WHILE are supported if all operations of the subgraphs that
     * they execute are.  An invalid model: HAL_INVALID_ARGUMENT, whether or not the driver supports
     * its operations. */
    enum hal_status (*get_supported_operations)(struct hal_driver *self, enum hal_version version,
                                                const struct hal_model *model, bool *supported,
                                                uint32_t *ret_n);

    /* Launches the preparation of a model and returns the launch status; the outcome goes to the
     * callback, including HAL_MISSED_DEADLINE_* for an expired deadline, and HAL_INVALID_ARGUMENT
     * for a valid model with an operation that the driver does not support.  HAL_INVALID_ARGUMENT,
     * as launch status too: an invalid model. */
    enum hal_status (*prepare_model)(struct hal_driver *self, enum hal_version version,
                                     const struct hal_model *model,
                                     const struct hal_prepare_config *config,
                                     struct hal_prepare_callback *callback);

    /* Since 1.2.  As prepare_model(), from a compilation cache.  config's preference and priority
     * are ignored: the model keeps those it was cached with.  NULL: the client acts as on
     * HAL_GENERAL_FAILURE. */
    enum hal_status (*prepare_model_from_cache)(struct hal_driver *self, enum hal_version version,
                                                const struct hal_prepare_config *config,
                                                struct hal_prepare_callback *callback);

    /* Since 1.3.  Allocates a buffer for the given roles.  Success: *ret_buffer is a buffer that
     * the client releases, *ret_token is > 0 and unique among the buffers that exist.  Failure:
     * *ret_buffer is NULL and *ret_token is 0.  HAL_INVALID_ARGUMENT: roles that contradict each
     * other or desc, that refer to no operand, or that occur twice.  HAL_GENERAL_FAILURE: the
     * driver does not provide memory for these roles.  HAL_RESOURCE_EXHAUSTED_*: not enough memory.
     * NULL: the client acts as on HAL_GENERAL_FAILURE. */
    enum hal_status (*allocate)(struct hal_driver *self, const struct hal_buffer_desc *desc,
                                uint32_t n_models, struct hal_prepared_model *const *models,
                                uint32_t n_input_roles, const struct hal_buffer_role *input_roles,
                                uint32_t n_output_roles, const struct hal_buffer_role *output_roles,
                                struct hal_buffer **ret_buffer, uint32_t *ret_token);

    /* Frees the driver.  The client has released every prepared model and buffer before. */
    void (*close)(struct hal_driver *self);
};

/* The function that a driver in a shared library exports under the name HAL_DRIVER_ENTRY.
 * abi_version: HAL_ABI_VERSION of the caller.  arguments: the text after '?' in the target's URI
 * ("": none).  Returns NULL, with the reason in `why` (at most why_size bytes, NUL-terminated),
 * when the driver cannot be opened. */
#define HAL_DRIVER_ENTRY "hal_driver_open"
typedef struct hal_driver *hal_driver_open_fn(uint32_t abi_version, const char *arguments,
                                              char *why, size_t why_size);

#ifdef __cplusplus
}
#endif

#endif
