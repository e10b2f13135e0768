/* What a driver checks of a client's arguments: models, configurations, requests.  The functions of
 * sim/hal_validate.h and the simulated devices are built on these. */
#ifndef SIM_ARGUMENT_CHECK_H
#define SIM_ARGUMENT_CHECK_H

#include "sim/hal/convert.h"

/* A client's model, converted and validated, with the memory that it refers to. */
struct loaded_model {
    struct arena *arena;
    struct mapping *pools;
    uint32_t n_pools;
    struct model model;
};

/* known: the extensions whose types and operations are checked.  WHY_INVALID: invalid, or newer
 * than the version; WHY_MEMORY, WHY_SYSTEM. */
int loaded_model_open(const struct hal_model *hal, enum hal_version version, extension_set known,
                      struct loaded_model *ret_loaded, struct why *w);
void loaded_model_close(struct loaded_model *l);

/* Ranges, lists and hints, and that nothing is newer than the version.  WHY_INVALID or
 * WHY_MEMORY. */
int hal_prepare_config_check(const struct hal_prepare_config *c, enum hal_version version,
                             struct why *w);
int hal_execution_config_check(const struct hal_execution_config *c, enum hal_version version,
                               struct why *w);

/* Lists of a request, numbers of its arguments, ranges of integers, kinds and sizes of pools.
 * Nothing is mapped.  WHY_INVALID. */
int hal_request_check_lists(const struct hal_request *hal, uint32_t n_inputs, uint32_t n_outputs,
                            enum hal_version version, struct why *w);
/* Argument i of a request with valid lists.  declared: type and shape in the model; a foreign type
 * has any size.  ret_shape: what model and request specify together; rank 0 or dimensions 0 of an
 * output are unknown.  Tokens and roles of buffers are not checked.  WHY_INVALID. */
int hal_request_check_input(const struct hal_request *hal, uint32_t i,
                            const struct tensor *declared, enum hal_version version,
                            struct shape *ret_shape, struct why *w);
int hal_request_check_output(const struct hal_request *hal, uint32_t i,
                             const struct tensor *declared, enum hal_version version,
                             struct shape *ret_shape, struct why *w);

#endif
