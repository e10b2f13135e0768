/* Internals of the adapter: a driver of sim/hal.h whose methods call the C API of NNAPI.
 *
 *     rt:      libneuralnetworks.so: all its devices together.  Models are compiled as applications
 *              do it, for whatever devices the runtime chooses, with its fallback.
 *     sl:      a support library: one of its devices.
 *
 * Functions return the status of the HAL method; the reason is left for get_failure_text(). */
#ifndef RUNTIME_ADAPTER_H
#define RUNTIME_ADAPTER_H

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>

#include "golden/base/arena.h"
#include "runtime/adapter/api_library.h"
#include "sim/hal.h"

struct adapter {
    struct hal_driver base;
    struct api_library api;
    char name[64];
    struct arena *arena; /* of what the properties point to */
    /* Of sl:, one; of rt:, all. */
    const ANeuralNetworksDevice **device;
    uint32_t n_devices;
    bool is_runtime;
    enum hal_device_type type;
    const char *version;
    struct hal_capabilities capabilities;
    uint32_t n_extensions;
    const struct hal_extension *extension;

    pthread_mutex_t lock; /* protects what follows */
    struct adapter_buffer *buffers;
    uint32_t last_token;
    struct adapter_fenced *unfinished; /* released by the client before they have ended */
};

/* ---- adapter.c */

/* The HAL's status for a result of the C API. */
enum hal_status adapter_status(int result);
/* True for NO_ERROR.  Else *ret_status is its status, and the reason names the function (without
 * ANeuralNetworks) and what it was called for. */
__attribute__((format(printf, 4, 5))) bool adapter_ok(enum hal_status *ret_status, int result,
                                                      const char *function, const char *fmt, ...);
__attribute__((format(printf, 2, 3))) enum hal_status adapter_fail(enum hal_status status,
                                                                   const char *fmt, ...);
/* Whether the driver answers this entry point; the reason is set if not. */
bool adapter_has_entry(const struct adapter *a, enum hal_version version);
bool adapter_has_extension(const struct adapter *a, const char *name);
/* Nanoseconds until a deadline; 0: past; HAL_NO_TIME: none. */
uint64_t adapter_time_left(uint64_t deadline);
/* HAL_INVALID_ARGUMENT for a time that is below 0 as the HAL encodes it. */
enum hal_status adapter_check_time(const char *what, uint64_t ns);
/* HAL_MISSED_DEADLINE_TRANSIENT and its reason. */
enum hal_status adapter_missed_deadline(const char *what);

/* ---- adapter_runtime.c */

/* The path of libneuralnetworks.so: `given`, or Halcyon's own. */
int adapter_find_runtime(const char *given, char ret_path[PATH_MAX], struct why *w);
/* Has the runtime use the devices of that file; "": those of HALCYON_DEVICES as it is. */
int adapter_choose_devices(const char *path, struct why *w);
/* WHY_INVALID: a configured device does not serve. */
int adapter_check_devices(const struct adapter *a, struct why *w);

/* ---- adapter_properties.c */

/* Reads the properties that the methods of the driver report.  WHY_INVALID: not of the form that
 * sim/hal.h demands. */
int adapter_read_properties(struct adapter *a, struct why *w);

/* ---- adapter_model.c */

struct adapter_model {
    struct arena *arena;
    ANeuralNetworksModel *main;
    ANeuralNetworksModel **built; /* main and those of referenced subgraphs, later ones refer to
                                     earlier ones */
    uint32_t n_built;
    ANeuralNetworksMemory **pool; /* NULL: given by address, or without constants */
    uint32_t n_pools;
    int32_t *code; /* of each operand of the main subgraph: its type in the C API */
};

/* Builds and finishes the models.  keep: the result outlives the call, so the values in
 * operand_values are copied; else the arena and constants of the HAL model must outlive it.
 * The HAL model is valid (hal_validate_model()).  On failure there is nothing to free. */
enum hal_status adapter_model_build(const struct adapter *a, const struct hal_model *hal, bool keep,
                                    struct adapter_model *ret_model);
void adapter_model_done(const struct adapter *a, struct adapter_model *m);
/* Whether the C API has all types and operations of the valid model, with the extensions of the
 * driver. */
bool adapter_model_is_known(const struct adapter *a, const struct hal_model *hal);

enum hal_status adapter_get_supported_operations(struct hal_driver *self, enum hal_version version,
                                                 const struct hal_model *model, bool *supported,
                                                 uint32_t *ret_n);

/* ---- adapter_prepare.c */

struct adapter_prepared {
    struct hal_prepared_model base;
    struct adapter *adapter;
    struct adapter_model model;
    ANeuralNetworksCompilation *compilation;
    struct hal_subgraph main; /* inputs and outputs only, for hal_validate_request() */
    const ANeuralNetworksOperandType *input, *output; /* as declared in the model */
    atomic_uint references; /* the client's, and one per execution that runs */
};

enum hal_status adapter_prepare_model(struct hal_driver *self, enum hal_version version,
                                      const struct hal_model *model,
                                      const struct hal_prepare_config *config,
                                      struct hal_prepare_callback *callback);
void adapter_prepared_unref(struct adapter_prepared *p);

/* ---- adapter_request.c */

/* An execution of the C API with its arguments, and the memories that they lie in. */
struct adapter_execution {
    struct adapter_prepared *prepared;
    ANeuralNetworksExecution *execution;
    ANeuralNetworksMemory **memory; /* one per pool; NULL: by address, or not owned */
    uint32_t n_memories;
    struct adapter_buffer **buffer; /* references to the buffers that pools name */
    bool measure;
    /* Instead of each output that is too short for a value of known size, which the C API rejects:
     * a place with enough room; NULL: the request's place. */
    void **longer;
    uint32_t n_longer;
    bool has_unknown_output; /* its size is neither in the model nor in the request */
    uint8_t nowhere;         /* output of length 0: the C API requires a buffer */
    atomic_uint references;
};

/* What an execution is made with, other than the request. */
struct adapter_setup {
    enum hal_version version; /* entry point of the HAL */
    const struct hal_execution_config *config;
    uint64_t time_left; /* HAL_NO_TIME: any */
    bool is_reusable;
    struct adapter_burst *burst; /* has memories of its own; NULL: none */
    const int64_t *identifiers;
};

/* Checks the request and the configuration, and sets all arguments.  The result has one reference.
 */
enum hal_status adapter_execution_new(struct adapter_prepared *p, const struct hal_request *request,
                                      const struct adapter_setup *setup,
                                      struct adapter_execution **ret_execution);
void adapter_execution_unref(struct adapter_execution *x);
/* Memory of a descriptor as memory of the C API. */
enum hal_status adapter_memory_new(const struct adapter *a, const struct hal_memory *memory,
                                   ANeuralNetworksMemory **ret_memory);
/* Shapes and timing of a synchronous computation that returned `result`. */
enum hal_status adapter_execution_results(struct adapter_execution *x, int result,
                                          const char *function, struct hal_result *ret_result);
/* Dimensions that are 0 in *to become those of the type; a rank of 0 likewise.  Contradictions are
 * left to the C API. */
struct shape;
void adapter_merge_dims(struct shape *to, const ANeuralNetworksOperandType *type);
/* Bytes of a value; 0: not known, or a type of an extension. */
uint64_t adapter_bytes(const struct shape *s, int32_t type);
/* HAL_NO_TIME: not measured. */
uint64_t adapter_duration(const struct adapter_execution *x, int32_t code);

/* ---- adapter_execute.c */

enum hal_status adapter_execute_synchronously(struct hal_prepared_model *self,
                                              enum hal_version version,
                                              const struct hal_request *request,
                                              const struct hal_execution_config *config,
                                              struct hal_result *result);
enum hal_status adapter_configure_burst(struct hal_prepared_model *self, enum hal_version version,
                                        struct hal_burst **ret_burst);
enum hal_status adapter_create_reusable(struct hal_prepared_model *self,
                                        const struct hal_request *request,
                                        const struct hal_execution_config *config,
                                        struct hal_execution **ret_execution);
/* The memory that a burst keeps for this identifier, made of the pool if it is new. */
enum hal_status adapter_burst_memory(struct adapter_burst *b, int64_t identifier,
                                     const struct hal_memory *memory,
                                     ANeuralNetworksMemory **ret_memory);

/* ---- adapter_fenced.c */

enum hal_status adapter_execute_fenced(struct hal_prepared_model *self, enum hal_version version,
                                       const struct hal_request *request, uint32_t n_wait_for,
                                       const int *wait_for,
                                       const struct hal_execution_config *config, uint64_t duration,
                                       int *ret_fence, struct hal_fenced_info **ret_info);
/* Starts the execution, which is kept until *ret_info is released and it has ended.  time_left 0:
 * it ends at once, with HAL_MISSED_DEADLINE_TRANSIENT. */
enum hal_status adapter_launch(struct adapter_execution *x, uint32_t n_wait_for,
                               const int *wait_for, uint64_t time_left, uint64_t duration,
                               int *ret_fence, struct hal_fenced_info **ret_info);
/* Frees executions that were released before they ended and have ended since. */
void adapter_free_ended(struct adapter *a);

/* ---- adapter_buffer.c */

enum hal_status adapter_allocate(struct hal_driver *self, const struct hal_buffer_desc *desc,
                                 uint32_t n_models, struct hal_prepared_model *const *models,
                                 uint32_t n_input_roles, const struct hal_buffer_role *input_roles,
                                 uint32_t n_output_roles,
                                 const struct hal_buffer_role *output_roles,
                                 struct hal_buffer **ret_buffer, uint32_t *ret_token);
/* A reference to the buffer with that token; NULL: unknown. */
struct adapter_buffer *adapter_buffer_find(struct adapter *a, uint32_t token);
const ANeuralNetworksMemory *adapter_buffer_memory(const struct adapter_buffer *b);
void adapter_buffer_unref(struct adapter_buffer *b);

#endif
