/* The text with a status (hal_driver's get_failure_text()): one per thread, for the driver of the
 * simulated devices and for that in another process. */
#ifndef SIM_FAILURE_TEXT_H
#define SIM_FAILURE_TEXT_H

#include "sim/hal.h"

/* At the begin of each method of a driver. */
void failure_text_clear(void);
/* Why the current method fails; longer texts are cut. */
__attribute__((format(printf, 1, 2))) void failure_text_set(const char *fmt, ...);
/* The method of a driver. */
void failure_text_get(struct hal_driver *self, char *ret_text, size_t size);

/* The client's side, right after a call has failed on this thread: the driver's text, one line,
 * printable, at most HAL_TEXT_BYTES bytes; "" if the driver has no reason. */
void failure_text_of(struct hal_driver *d, char ret_text[HAL_TEXT_BYTES]);

#endif
