/* Checks for drivers: whether what a client passes is valid by the rules of hal.h and of NNAPI's
 * operations, as Android's own drivers ask nn::validate().
 *
 * A driver that calls them need not know the operations that it does not support, and yet rejects
 * every model, request and configuration that no driver may accept.  They are the checks that
 * Halcyon's simulated devices make.
 *
 * The functions are part of the process that opens the driver (halcyon, halcyon-driver-host): a
 * shared library that calls them is linked without them, `cc -shared -fPIC`.  Programs that are not
 * Halcyon's link the library: `pkg-config --libs halcyon`.
 *
 * Every function
 *  - returns HAL_NONE; HAL_INVALID_ARGUMENT for an invalid argument, including one that the version
 *    does not have, and for a version that does not exist; HAL_GENERAL_FAILURE or, since 1.3,
 *    HAL_RESOURCE_EXHAUSTED_TRANSIENT without enough memory;
 *  - writes the reason into ret_text, at most `size` bytes with the NUL, for get_failure_text(); ""
 * with HAL_NONE.  ret_text may be NULL if size is 0;
 *  - keeps nothing and changes nothing; any thread may call it at any time.
 *
 * What they cannot check, and the driver has to:
 *  - whether it has an entry point of that version (hal_version, lowest_version);
 *  - contents that a client changes after the check.  Values that decide which memory is accessed
 *    (axes, sizes, indexes) are copied first, and checked again in the copy;
 *  - operands, operations and hints of extensions, also of its own;
 *  - tokens of its own buffers, and their roles. */
#ifndef SIM_HAL_VALIDATE_H
#define SIM_HAL_VALIDATE_H

#include "hal.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A model of get_supported_operations() or prepare_model(): indexes, lifetimes, locations, order,
 * types, shapes, scales, and the signature of every operation.  Maps its pools during the call. */
enum hal_status hal_validate_model(enum hal_version version, const struct hal_model *model,
                                   char *ret_text, size_t size);

/* A configuration of prepare_model() or prepare_model_from_cache().  Not its deadline, which may
 * have passed, nor its cache files. */
enum hal_status hal_validate_prepare_config(enum hal_version version,
                                            const struct hal_prepare_config *config, char *ret_text,
                                            size_t size);

/* A configuration of an execution.  Not whether its deadline has passed.  For an execution in a
 * burst before feature level 5, which has neither deadline nor loop time-out, pass HAL_1_2. */
enum hal_status hal_validate_execution_config(enum hal_version version,
                                              const struct hal_execution_config *config,
                                              char *ret_text, size_t size);

/* A request of an execution of a model whose main subgraph is `main`.  Of `main` are read: inputs
 * and outputs, and of their operands the type and the dimensions: a copy of those suffices.
 * Checks numbers, dimensions, lengths of inputs, and locations within the pools, by the sizes that
 * the pools state; mapping a file finds whether it is as long.  Whether an output is long enough
 * is not checked (HAL_OUTPUT_INSUFFICIENT_SIZE). */
enum hal_status hal_validate_request(enum hal_version version, const struct hal_subgraph *main,
                                     const struct hal_request *request, char *ret_text,
                                     size_t size);

#ifdef __cplusplus
}
#endif

#endif
