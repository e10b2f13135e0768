/* Compilations of the C API: a finished model, prepared for devices. */
#ifndef RUNTIME_COMPILATION_H
#define RUNTIME_COMPILATION_H

#include <pthread.h>

#include "runtime/compile/compiled_plan.h"

enum compilation_state { COMPILATION_OPEN, COMPILATION_VALID, COMPILATION_INVALID };

struct ANeuralNetworksCompilation {
    uint64_t number; /* unique in the process: identifies it in roles of memories */
    const ANeuralNetworksModel *model;
    enum compilation_state state;

    bool is_explicit; /* made for the client's list of devices; else for all */
    uint32_t n_devices;
    const ANeuralNetworksDevice **device;
    int32_t preference, priority; /* PreferenceCode, PriorityCode */
    uint64_t timeout;             /* ns; 0: none */
    struct attributes attributes;
    bool is_cached;
    char *cache_folder;             /* ends with '/'; NULL: in cache_files */
    struct cache_files cache_files; /* duplicates of the client's descriptors */
    uint8_t token[ANEURALNETWORKS_BYTE_SIZE_OF_CACHE_TOKEN];

    /* Once it is COMPILATION_VALID: the plan, one step on a device, which is the whole model ... */
    const ANeuralNetworksDevice *on;
    struct hal_prepared_model *prepared;
    /* ... or, where this is not NULL, the steps that it has. */
    struct compiled_plan *plan;
    struct arena *arena;               /* owns the plan and the roles */
    const struct argument_roles *role; /* of each input, then of each output */
    bool fell_back;     /* finish: to the reference executor, or because of debug.nn.partition 0 */
    bool may_fall_back; /* executions that fail are repeated on the reference executor */

    pthread_mutex_t lock;
    struct hal_prepared_model *fallback; /* under lock, as those of steps: on the reference
                                            executor; NULL: not yet */
};

/* Each is the function of the C API with its name: checks, results. */
int compilation_create(const ANeuralNetworksModel *m, ANeuralNetworksCompilation **ret);
int compilation_create_for(const ANeuralNetworksModel *m,
                           const ANeuralNetworksDevice *const *device, uint32_t n,
                           ANeuralNetworksCompilation **ret);
void compilation_free(ANeuralNetworksCompilation *c);
int compilation_set_preference(ANeuralNetworksCompilation *c, int32_t preference);
int compilation_set_caching(ANeuralNetworksCompilation *c, const char *folder,
                            const uint8_t *token);
/* SL_ANeuralNetworksCompilation_setCachingFromFds(), which only a support library has: duplicates
 * the descriptors.  UNEXPECTED_NULL: c, token, or a list that has a length; BAD_STATE: finished;
 * BAD_DATA: more than HAL_MAX_CACHE_FILES of a kind, or no descriptor.  A plan of several steps is
 * not cached in them. */
int compilation_set_caching_from_fds(ANeuralNetworksCompilation *c, const int *model_fds,
                                     uint32_t n_model, const int *data_fds, uint32_t n_data,
                                     const uint8_t *token);
int compilation_set_priority(ANeuralNetworksCompilation *c, int priority);
int compilation_set_timeout(ANeuralNetworksCompilation *c, uint64_t ns);
int compilation_add_attribute(ANeuralNetworksCompilation *c, const char *extension, uint16_t code,
                              const void *data, size_t length);
int compilation_finish(ANeuralNetworksCompilation *c);
int compilation_alignment(const ANeuralNetworksCompilation *c, bool is_output, uint32_t index,
                          uint32_t *ret);
int compilation_padding(const ANeuralNetworksCompilation *c, bool is_output, uint32_t index,
                        uint32_t *ret);

/* ANeuralNetworksModel_getSupportedOperationsForDevices(). */
int supported_operations(const ANeuralNetworksModel *m, const ANeuralNetworksDevice *const *device,
                         uint32_t n, bool *supported);

/* The roles of an argument of a valid compilation. */
uint32_t compilation_roles(const ANeuralNetworksCompilation *c, bool is_output, uint32_t index,
                           const struct step_role **ret);
/* The argument's operand in the model; NULL: there is none with that index. */
const struct operand *compilation_argument(const ANeuralNetworksCompilation *c, bool is_output,
                                           uint32_t index);

/* Whether it was made for exactly one device: time-outs, timing and attributes need that. */
bool compilation_is_for_one(const ANeuralNetworksCompilation *c);
/* Whether it is finished and valid; else logs why not and gives ANEURALNETWORKS_BAD_STATE. */
int compilation_check_finished(const ANeuralNetworksCompilation *c);
/* The model prepared on the reference executor, at the first call; from any thread.  It belongs to
 * the compilation. */
int compilation_fallback(ANeuralNetworksCompilation *c, struct hal_prepared_model **ret);
/* The same for a step of its plan. */
int compilation_step_fallback(ANeuralNetworksCompilation *c, uint32_t step,
                              struct hal_prepared_model **ret);

#endif
