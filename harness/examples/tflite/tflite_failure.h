/* Why the last call of this thread has failed: the text of get_failure_text(). */
#ifndef TFLITE_FAILURE_H
#define TFLITE_FAILURE_H

#include <stdarg.h>
#include <stddef.h>

#include "hal.h"

/* Forgets the reason of the call before; each method begins with it. */
void failure_clear(void);
/* Gives a reason, unless there is one: the first is the most precise. */
void failure_set(const char *format, ...) __attribute__((format(printf, 1, 2)));
void failure_set_list(const char *format, va_list arguments);
/* Returns a status; unless it is HAL_NONE, `reason` is given. */
enum hal_status failure_of(enum hal_status status, const char *reason);
void failure_get(char *ret_text, size_t size);

#endif
