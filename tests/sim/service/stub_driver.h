/* A driver with a prepared model whose methods the test supplies; every model prepares at once as
 * that one. */
#ifndef TESTS_STUB_DRIVER_H
#define TESTS_STUB_DRIVER_H

#include "sim/hal.h"

/* The driver, of feature level 8, with prepare_model and close; the test may set other members.
 * There is one static driver, which each call resets. */
struct hal_driver *stub_driver(const struct hal_prepared_model_methods *methods);

/* A release() for the methods; frees nothing. */
void stub_release(struct hal_prepared_model *self);
/* Info of a successful execution with unknown durations; static. */
struct hal_fenced_info *stub_info(void);

#endif
