/* Prepared models and their executions. */
#ifndef TFLITE_PREPARED_H
#define TFLITE_PREPARED_H

#include "tflite_hal_model.h"
#include "tflite_library.h"

/* Whether `version` is a version of the HAL, of at least `since`. */
bool has_entry(enum hal_version version, enum hal_version since);
bool is_past_deadline(enum hal_version version, uint64_t deadline);

/* Prepares a model that has been loaded, with the bytes of its conversion, which the prepared model
 * owns from then on, also if this fails.  NULL: out of memory, or TensorFlow Lite rejects it. */
struct hal_prepared_model *new_prepared_model(const struct tfl_library *library,
                                              const struct model *m, uint8_t *bytes, size_t size);

/* The shape of an input as far as it is known; false: not completely. */
bool shape_of(const struct value *v, struct tfl_shape *ret_shape);

#endif
