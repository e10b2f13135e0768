/* Prepared models and their executions. */
#ifndef TFLITE_PREPARED_H
#define TFLITE_PREPARED_H

#include "tflite_hal_model.h"
#include "tflite_library.h"

/* Whether `version` is a version of the HAL, of at least `since`. */
bool has_entry(enum hal_version version, enum hal_version since);
bool is_past_deadline(enum hal_version version, uint64_t deadline);

/* Prepares a model that has been loaded into the arena, which the prepared model owns from then on
 * unless this fails.  HAL_INVALID_ARGUMENT: an operation is not supported. */
enum hal_status new_prepared_model(const struct tfl_library *library, struct arena *arena,
                                   const struct model *m, struct hal_prepared_model **ret_prepared);

#endif
