/* The driver contract: Android's neural-networks HAL, versions 1.0 to 1.3 and feature levels 5 to
 * 8, as a C interface.
 *
 * This header stands alone.  A driver is one `struct hal_driver`: facts and a table of functions.
 * It makes prepared models, buffers, bursts and reusable executions, which are objects of the
 * driver's own whose first member points to a table of functions of theirs.  The caller ("client")
 * owns what it passes in; the driver owns what it hands out until the client releases it.
 *
 * Rules that hold for every call:
 *  - The client is not trusted.  Indexes, lengths, counts, types and pointers into pools are
 * checked before use; what does not hold is HAL_INVALID_ARGUMENT.  A driver never crashes on its
 * arguments.
 *  - Arguments are lent for the duration of the call.  What is needed longer (constants, pools of a
 *    model that is being prepared asynchronously) is copied or mapped before the call returns.
 *    Exception: memories of kind HAL_MEMORY_ADDRESS in a model's pools stay valid and unchanged for
 *    as long as the prepared model lives, those of a request until the execution has completed.
 *  - Any thread may call any method at any time, also several at once on one object, but for
 *    release() and close(), which come last and alone.
 *  - Pointers named ret_x are never NULL and are written only as the method says; a method that
 * fails leaves them untouched unless it says otherwise.
 *  - A member that may be NULL says what NULL means.  All others are set.
 *  - Versions.  A driver has the entry points of its own version and of every earlier one;
 *    `version` of a call is that of the entry point through which the client comes
 *    (prepareModel_1_1 is HAL_1_1).  Every method says since when there is one, execute() also
 * until when.  Called for any other version, for one above the driver's own, or for one that does
 * not exist, it is HAL_INVALID_ARGUMENT.  A method without `version` that came later than the
 * driver is HAL_GENERAL_FAILURE; the client need not call it, and the driver need not have it.
 *  - Types, operations and arguments that the entry point's version does not have are
 *    HAL_INVALID_ARGUMENT.  An argument of a structure that came later is left at the value that
 *    says nothing, which stands beside it.  Status codes that the version does not have become
 *    HAL_GENERAL_FAILURE.
 *  - From feature level 5 on, integers are signed: offsets, lengths, paddings and points in time
 *    above INT64_MAX, pools, dimensions and tokens above INT32_MAX are negative, and
 *    HAL_INVALID_ARGUMENT, but for -1 where it says that there is none.  Up to 1.3 offsets and
 *    lengths have 32 bits: larger ones are HAL_INVALID_ARGUMENT. */
#ifndef SIM_HAL_H
#define SIM_HAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Raised when a structure or a table below changes its layout. */
#define HAL_ABI_VERSION 1

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
    /* since HAL 1.3; transient: the same call may succeed soon, persistent: it will not */
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
    HAL_TOKEN_BYTES = 32,     /* name of a cached compilation */
    HAL_MAX_CACHE_FILES = 32, /* of each kind */
    HAL_MAX_RANK = 16         /* of a shape that a driver reports */
};

/* A duration or point in time that is not given or not known, in nanoseconds; the stable interface
 * says -1.  Deadlines are points of the steady clock (CLOCK_MONOTONIC; feature level 5 and later:
 * CLOCK_BOOTTIME); a call that misses its own ends with MISSED_DEADLINE_*. */
#define HAL_NO_TIME     UINT64_MAX
#define HAL_NO_DEADLINE UINT64_MAX

/* Loop time-outs of WHILE: what HAL_NO_TIME stands for, and what larger ones are clamped to. */
#define HAL_LOOP_TIMEOUT_DEFAULT UINT64_C(2000000000)
#define HAL_LOOP_TIMEOUT_MAX     UINT64_C(15000000000)

/* ---- what a driver says of itself */

/* Relative to the reference CPU implementation: below 1 is faster, or takes less power.  > 0. */
struct hal_performance {
    float exec_time, power_usage;
};

struct hal_operand_performance {
    int32_t type; /* operand type code; never SUBGRAPH */
    struct hal_performance info;
};

/* The structures of all versions in one.  What a version does not have is 0:
 *
 *    1.0   two rows, TENSOR_FLOAT32 and TENSOR_QUANT8_ASYMM (float32, quantized8), of a type that
 *          the driver does not compute with FLT_MAX
 *    1.1   and relaxed_tensor
 *    1.2   and relaxed_scalar; rows of any types that 1.2 has
 *    1.3   and if_performance, while_performance; rows of any types but SUBGRAPH; so later */
struct hal_capabilities {
    struct hal_performance relaxed_scalar, relaxed_tensor; /* fp32 computed as fp16 */
    struct hal_performance if_performance, while_performance;
    uint32_t n_operands;
    const struct hal_operand_performance *operand; /* ascending by type; the driver's own memory */
};

struct hal_extension_type {
    uint16_t type; /* low 16 bits of the operand type */
    bool is_tensor;
    uint32_t byte_size; /* of the scalar, or of an element */
};

/* name: [a-z0-9_.], with a dot, starting with the vendor's reverse domain. */
struct hal_extension {
    const char *name;
    uint32_t n_types;
    const struct hal_extension_type *type;
};

/* ---- memory */

enum hal_memory_kind {
    HAL_MEMORY_ADDRESS = 0,        /* plain memory of this process: fd is -1 */
    HAL_MEMORY_FD = 1,             /* memfd, ashmem or file, to be mapped: address is NULL */
    HAL_MEMORY_HARDWARE_BUFFER = 2 /* since 1.2: a BLOB one, presented as a descriptor */
};

enum { HAL_MEMORY_READ = 1, HAL_MEMORY_WRITE = 2 };

/* Memory that the client owns.  The descriptor is lent: a driver that keeps it past the call dups
 * it. The file may be shorter than it claims, and may shrink while it is mapped; drivers check
 * fstat and prefer sealed memfds. */
struct hal_memory {
    enum hal_memory_kind kind;
    uint32_t protection; /* HAL_MEMORY_READ | HAL_MEMORY_WRITE */
    void *address;       /* HAL_MEMORY_ADDRESS */
    int fd;
    uint64_t offset; /* into the descriptor, a multiple of the page size */
    uint64_t size;   /* bytes, > 0 */
};

/* ---- models */

/* Where an operand's bytes lie, at any address: nothing in pools is aligned.  All zero for
 * lifetimes without a value. */
struct hal_location {
    uint32_t pool; /* index into the pools of the model or request */
    uint64_t offset, length;
    uint64_t padding; /* since feature level 5, in requests: bytes of the pool after the value that
                         may be touched; else 0 */
};

enum hal_lifetime {
    HAL_TEMPORARY_VARIABLE = 0,
    HAL_SUBGRAPH_INPUT = 1,
    HAL_SUBGRAPH_OUTPUT = 2,
    HAL_CONSTANT_COPY = 3,      /* location: within operand_values; pool 0 */
    HAL_CONSTANT_REFERENCE = 4, /* location: within a pool */
    HAL_NO_VALUE = 5,           /* an optional operand left out */
    HAL_SUBGRAPH = 6            /* location.offset: index into referenced; length 0; since 1.3 */
};

enum hal_extra_kind { HAL_EXTRA_NONE = 0, HAL_EXTRA_CHANNEL_QUANT = 1, HAL_EXTRA_EXTENSION = 2 };

/* Type codes are NNAPI's, as are those of operations; a code with bits above the lowest 16 belongs
 * to the extension whose prefix they are.
 *
 *     1.0   0 FLOAT32, 1 INT32, 2 UINT32,
 *           3 TENSOR_FLOAT32, 4 TENSOR_INT32, 5 TENSOR_QUANT8_ASYMM (uint8_t),
 *           10000 OEM, 10001 TENSOR_OEM_BYTE
 *     1.2   6 BOOL, 7 TENSOR_QUANT16_SYMM (int16_t), 8 TENSOR_FLOAT16, 9 TENSOR_BOOL8 (uint8_t),
 *           10 FLOAT16, 11 TENSOR_QUANT8_SYMM_PER_CHANNEL (int8_t),
 *           12 TENSOR_QUANT16_ASYMM (uint16_t), 13 TENSOR_QUANT8_SYMM (int8_t)
 *     1.3   14 TENSOR_QUANT8_ASYMM_SIGNED (int8_t), 15 SUBGRAPH
 *
 * Quantised elements q stand for (q - zero) * scale.  A type or an operation that the version has
 * and the driver does not know is no reason to call a model illegal: its operations are not
 * supported. */
struct hal_operand {
    int32_t type;
    uint32_t n_dims;      /* 0: a scalar, or a tensor of unknown rank */
    const uint32_t *dims; /* 0: unknown */
    uint32_t n_consumers; /* up to 1.3: input slots of its subgraph's operations that read it;
                             later not looked at */
    float scale;
    int32_t zero;
    enum hal_lifetime lifetime;
    struct hal_location location;

    enum hal_extra_kind extra;
    uint32_t channel_dim; /* HAL_EXTRA_CHANNEL_QUANT: one scale per index of this dimension */
    uint32_t n_channel_scales;
    const float *channel_scales;
    const void *extension; /* HAL_EXTRA_EXTENSION: bytes that the extension defines */
    uint64_t extension_length;
};

struct hal_operation {
    int32_t type; /* operation code; extension operations as extension types */
    uint32_t n_inputs, n_outputs;
    const uint32_t *inputs, *outputs; /* operand indexes of the same subgraph */
};

/* Operations stand in an order in which every operand is written before it is read. */
struct hal_subgraph {
    uint32_t n_operands, n_operations, n_inputs, n_outputs;
    const struct hal_operand *operands;
    const struct hal_operation *operations;
    const uint32_t *inputs, *outputs; /* operand indexes */
};

/* An extension that the driver does not serve is legal: of its types and operations nothing is
 * checked, and the operations are not supported. */
struct hal_extension_prefix {
    const char *name;
    uint16_t prefix; /* not 0; different for every name of one model; below 0x8000 since feature
                        level 5 */
};

struct hal_model {
    struct hal_subgraph main;
    uint32_t n_referenced; /* for IF and WHILE; may refer to each other without cycles */
    const struct hal_subgraph *referenced;
    const uint8_t *operand_values; /* constants by copy, each aligned to its element */
    uint64_t operand_values_length;
    uint32_t n_pools; /* constants by reference */
    const struct hal_memory *pools;
    bool relaxed; /* TENSOR_FLOAT32 may be computed with the range and precision of fp16 */
    uint32_t n_extension_prefixes;
    const struct hal_extension_prefix *extension_name_to_prefix;
};

/* A vendor's hint of feature level 8: a value by its token, prefix << 16 | number, the prefix that
 * of an extension that the model names.  One value for each token; what a driver does not know it
 * ignores. */
struct hal_token_value {
    int32_t token;
    const uint8_t *value;
    uint64_t length;
};

/* ---- executions */

struct hal_argument {
    bool has_no_value; /* an optional operand left out: location and dims are zero */
    struct hal_location location;
    uint32_t n_dims;      /* 0: as the model declares them */
    const uint32_t *dims; /* of an input complete; since 1.2 0 is a dimension without elements.
                             Before 1.2, with the model's, they are complete of an output, too */
};

/* Memory, or a buffer that the driver allocated (then the location is 0 but for its pool). */
struct hal_request_pool {
    bool is_token; /* since 1.3 */
    uint32_t token;
    struct hal_memory memory;
};

/* Outputs are dense and row-major, and only bytes within their location may be written; inputs are
 * never written.  Executions that are under way at once have outputs of their own. */
struct hal_request {
    uint32_t n_inputs, n_outputs, n_pools;
    const struct hal_argument *inputs, *outputs; /* one per input and output of the main subgraph */
    const struct hal_request_pool *pools;
};

struct hal_output_shape {
    uint32_t n_dims;
    uint32_t dims[HAL_MAX_RANK]; /* 0: not known (or a dimension without elements) */
    bool is_sufficient;          /* the buffer was large enough */
};

/* on_device excludes time spent in the driver on the host; in_driver includes on_device, so that
 * on_device <= in_driver where both are known.  Both include waiting and suspension. */
struct hal_timing {
    uint64_t on_device, in_driver; /* nanoseconds, up to 1.3 whole microseconds; or HAL_NO_TIME */
};

/* What comes back from an execution, besides its status.  Before 1.2 that is nothing: no shapes, no
 * timing.  Since 1.2:
 *
 *  - HAL_NONE: one shape per output, all sufficient; or none, if all output shapes were known.
 *  - HAL_OUTPUT_INSUFFICIENT_SIZE: one shape per output, the insufficient ones marked, dimensions
 *    as far as they are known.
 *  - Any other status: no shapes.
 *
 * Timing is HAL_NO_TIME twice unless it was asked for and the execution succeeded. */
struct hal_result {
    struct hal_output_shape *shapes; /* the client's room for `capacity` shapes */
    uint32_t capacity;               /* at least the number of outputs of the model */
    uint32_t n_shapes;               /* written by the driver */
    struct hal_timing timing;
};

struct hal_execution_config {
    bool measure;          /* since 1.2; false */
    uint64_t deadline;     /* since 1.3, of bursts since feature level 5; HAL_NO_DEADLINE */
    uint64_t loop_timeout; /* ns of one WHILE; since when, see deadline; HAL_NO_TIME: the default */
    uint32_t n_hints;      /* since feature level 8; 0 */
    const struct hal_token_value *hints;
};

/* The client's end of an asynchronous execution.  Called exactly once per execution, also when the
 * launch fails, from any thread, possibly before the launching call returns.  `shapes` are lent. */
struct hal_execution_callback {
    void (*notify)(struct hal_execution_callback *self, enum hal_status status, uint32_t n_shapes,
                   const struct hal_output_shape *shapes, struct hal_timing timing);
};

/* A fence is a descriptor that polls readable once it is signalled (as an eventfd does) and polls
 * an error when what it stood for has failed. */
#define HAL_NO_FENCE (-1)

/* How a fenced execution went; asked after its fence has signalled. */
struct hal_fenced_info;
struct hal_fenced_info_methods {
    /* launched: from the call to the signal; fenced: from the last of the fences waited for. */
    enum hal_status (*get_execution_info)(struct hal_fenced_info *self,
                                          struct hal_timing *ret_launched,
                                          struct hal_timing *ret_fenced);
    void (*release)(struct hal_fenced_info *self);
};
struct hal_fenced_info {
    const struct hal_fenced_info_methods *methods;
};

/* A reusable execution of feature level 8: one request, fixed at creation, computed any number of
 * times, never twice at once (HAL_GENERAL_FAILURE).  Each time has its own deadline; that of the
 * configuration it was created with is not looked at. */
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

/* A burst: executions of one prepared model in rapid succession.  Pools that come with an
 * identifier may be kept mapped until it is released, and it names the same memory until then; -1
 * says: do not keep. */
struct hal_burst;
struct hal_burst_methods {
    /* n_identifiers equals request->n_pools, else HAL_INVALID_ARGUMENT; so is one below -1. */
    enum hal_status (*execute_synchronously)(struct hal_burst *self,
                                             const struct hal_request *request,
                                             uint32_t n_identifiers, const int64_t *identifiers,
                                             const struct hal_execution_config *config,
                                             struct hal_result *result);
    /* An unknown identifier is no error; a negative one is HAL_INVALID_ARGUMENT. */
    enum hal_status (*release_memory)(struct hal_burst *self, int64_t identifier);
    void (*release)(struct hal_burst *self);
};
struct hal_burst {
    const struct hal_burst_methods *methods;
};

/* A model made ready.  The driver's own structure starts with this one. */
struct hal_prepared_model;
struct hal_prepared_model_methods {
    /* Since 1.2; NULL in drivers of 1.0 and 1.1.  Runs the request to its end.  result->n_shapes
     * and ->timing are always written.  Output contents are undefined after a failure. */
    enum hal_status (*execute_synchronously)(struct hal_prepared_model *self,
                                             enum hal_version version,
                                             const struct hal_request *request,
                                             const struct hal_execution_config *config,
                                             struct hal_result *result);

    /* 1.0 to 1.3: the stable interface has no asynchronous executions but fenced ones.  Launches
     * the request and returns; what the request names stays valid until the callback has been
     * called. The callback gets the launch status when the launch fails.  NULL: not served; not in
     * drivers of 1.0 and 1.1, which have nothing else. */
    enum hal_status (*execute)(struct hal_prepared_model *self, enum hal_version version,
                               const struct hal_request *request,
                               const struct hal_execution_config *config,
                               struct hal_execution_callback *callback);

    /* Since 1.3.  Waits for every fence (lent), then executes.  Success: *ret_info is set, and
     * *ret_fence is a descriptor that the client closes, or HAL_NO_FENCE when all is done already.
     * Failure: HAL_NO_FENCE and NULL are written.  duration: most ns after the fences have
     * signalled, or HAL_NO_TIME.  Outputs of unknown shape or without elements, and a fence that is
     * no descriptor: HAL_INVALID_ARGUMENT; a fence that reports an error: HAL_GENERAL_FAILURE.
     * NULL: answered by the client as HAL_GENERAL_FAILURE. */
    enum hal_status (*execute_fenced)(struct hal_prepared_model *self, enum hal_version version,
                                      const struct hal_request *request, uint32_t n_wait_for,
                                      const int *wait_for,
                                      const struct hal_execution_config *config, uint64_t duration,
                                      int *ret_fence, struct hal_fenced_info **ret_info);

    /* Since 1.2.  The burst does not outlive the prepared model.  NULL: HAL_GENERAL_FAILURE; the
     * client executes one by one. */
    enum hal_status (*configure_burst)(struct hal_prepared_model *self, enum hal_version version,
                                       struct hal_burst **ret_burst);

    /* Since feature level 8.  The request's structures are copied, its memory stays lent until
     * release.  NULL: HAL_GENERAL_FAILURE. */
    enum hal_status (*create_reusable_execution)(struct hal_prepared_model *self,
                                                 const struct hal_request *request,
                                                 const struct hal_execution_config *config,
                                                 struct hal_execution **ret_execution);

    /* Frees the model and all that it holds. */
    void (*release)(struct hal_prepared_model *self);
};
struct hal_prepared_model {
    const struct hal_prepared_model_methods *methods;
};

/* ---- preparation */

/* Descriptors of cache files, lent, open for reading and writing, and the name of the compilation.
 * The driver writes from offset 0 and trusts nothing that it reads back: contents, length and token
 * are checked before they are used (HAL_GENERAL_FAILURE when they are wrong).  Numbers of files
 * other than the driver asked for: caching is left out when preparing, HAL_INVALID_ARGUMENT or
 * HAL_GENERAL_FAILURE when preparing from the cache.  A model is prepared also where its cache
 * cannot be written. */
struct hal_cache {
    uint32_t n_model, n_data;
    const int *model, *data;
    uint8_t token[HAL_TOKEN_BYTES];
};

/* A preference or priority that there is not: HAL_INVALID_ARGUMENT. */
struct hal_prepare_config {
    enum hal_preference preference; /* since 1.1; HAL_FAST_SINGLE_ANSWER */
    enum hal_priority priority;     /* since 1.3; HAL_PRIORITY_MEDIUM */
    uint64_t deadline;              /* since 1.3; HAL_NO_DEADLINE */
    struct hal_cache cache;         /* since 1.2; no files: no caching */
    uint32_t n_hints;               /* since feature level 8; 0 */
    const struct hal_token_value *hints;
};

/* The client's end of a preparation: called exactly once per call, also when the launch fails (with
 * the same status), from any thread, possibly before the preparing call returns.  prepared is NULL
 * if and only if status is not HAL_NONE; the client then owns it and calls its release(). */
struct hal_prepare_callback {
    void (*notify)(struct hal_prepare_callback *self, enum hal_status status,
                   struct hal_prepared_model *prepared);
};

/* ---- memory domains */

/* A place where a buffer will be used: input or output io_index of prepared model model_index. */
struct hal_buffer_role {
    uint32_t model_index, io_index;
    float probability; /* in (0, 1] */
};

struct hal_buffer_desc {
    uint32_t n_dims; /* 0: as the roles say; 0 within: unknown */
    const uint32_t *dims;
};

/* Memory of the driver. */
struct hal_buffer;
struct hal_buffer_methods {
    /* Contents into the client's memory of exactly the buffer's size, else HAL_INVALID_ARGUMENT; a
     * buffer that was never written: HAL_GENERAL_FAILURE. */
    enum hal_status (*copy_to)(struct hal_buffer *self, const struct hal_memory *to);
    /* dims: the shape of what is copied where the buffer leaves it open; n_dims 0: as it is. */
    enum hal_status (*copy_from)(struct hal_buffer *self, const struct hal_memory *from,
                                 uint32_t n_dims, const uint32_t *dims);
    void (*release)(struct hal_buffer *self); /* ends its token */
};
struct hal_buffer {
    const struct hal_buffer_methods *methods;
};

/* ---- the driver */

struct hal_driver {
    uint32_t abi_version; /* HAL_ABI_VERSION that it was built with */
    enum hal_version hal_version;
    const char *name; /* service name: not empty, printable */

    /* What these say is constant for the driver's life; what they point to is the driver's own. */
    enum hal_status (*get_capabilities)(struct hal_driver *self, enum hal_version version,
                                        struct hal_capabilities *ret_capabilities);
    /* Since 1.2, this and the next: of older drivers the client takes HAL_DEVICE_OTHER, "UNKNOWN".
     */
    enum hal_status (*get_type)(struct hal_driver *self, enum hal_device_type *ret_type);
    enum hal_status (*get_version_string)(struct hal_driver *self, const char **ret_version);
    /* Since 1.2.  NULL: no extensions. */
    enum hal_status (*get_supported_extensions)(struct hal_driver *self, uint32_t *ret_n,
                                                const struct hal_extension **ret_extension);
    /* Since 1.2.  At most HAL_MAX_CACHE_FILES of each; both 0, or NULL: no compilation caching, and
     * prepare_model_from_cache answers HAL_GENERAL_FAILURE. */
    enum hal_status (*get_number_of_cache_files_needed)(struct hal_driver *self,
                                                        uint32_t *ret_n_model,
                                                        uint32_t *ret_n_data);
    enum hal_device_status (*get_status)(struct hal_driver *self);

    /* Whether the driver would run each operation of the main subgraph: supported has room for
     * model->main.n_operations answers, *ret_n says how many were written: exactly so many on
     * success. IF and WHILE are supported when all that they run is.  An illegal model:
     * HAL_INVALID_ARGUMENT, whether or not the driver would support its operations. */
    enum hal_status (*get_supported_operations)(struct hal_driver *self, enum hal_version version,
                                                const struct hal_model *model, bool *supported,
                                                uint32_t *ret_n);

    /* Starts to prepare; the callback gets the outcome.  Returns HAL_NONE when the preparation was
     * launched, else why not (an illegal model: HAL_INVALID_ARGUMENT; an expired deadline still
     * launches, and its status comes through the callback).  A model of which the driver does not
     * support every operation is refused: HAL_INVALID_ARGUMENT. */
    enum hal_status (*prepare_model)(struct hal_driver *self, enum hal_version version,
                                     const struct hal_model *model,
                                     const struct hal_prepare_config *config,
                                     struct hal_prepare_callback *callback);

    /* Since 1.2.  Preference and priority are no arguments: a model has those that it was saved
     * with.  NULL: answered by the client as HAL_GENERAL_FAILURE. */
    enum hal_status (*prepare_model_from_cache)(struct hal_driver *self, enum hal_version version,
                                                const struct hal_prepare_config *config,
                                                struct hal_prepare_callback *callback);

    /* Since 1.3.  Success: a buffer that the client releases and a token > 0, unique among living
     * buffers.  Failure: NULL and 0 are written; HAL_INVALID_ARGUMENT for roles that contradict
     * each other or the description, that name no operand, or that come twice; HAL_GENERAL_FAILURE
     * where the driver does not offer memory for them, HAL_RESOURCE_EXHAUSTED_* where there is not
     * enough of it.  NULL: HAL_GENERAL_FAILURE. */
    enum hal_status (*allocate)(struct hal_driver *self, const struct hal_buffer_desc *desc,
                                uint32_t n_models, struct hal_prepared_model *const *models,
                                uint32_t n_input_roles, const struct hal_buffer_role *input_roles,
                                uint32_t n_output_roles, const struct hal_buffer_role *output_roles,
                                struct hal_buffer **ret_buffer, uint32_t *ret_token);

    /* After every prepared model and buffer has been released. */
    void (*close)(struct hal_driver *self);
};

/* What a driver in a shared library exports under this name.  arguments: the text after '?' of the
 * target's URI, or "".  NULL when it cannot be opened; then the reason is in why (at most why_size
 * bytes, terminated). */
#define HAL_DRIVER_ENTRY "hal_driver_open"
typedef struct hal_driver *hal_driver_open_fn(uint32_t abi_version, const char *arguments,
                                              char *why, size_t why_size);

#ifdef __cplusplus
}
#endif

#endif
