/* A driver of a test's own: any model prepares at once, and is one with the test's methods. */
#ifndef TESTS_STUB_DRIVER_H
#define TESTS_STUB_DRIVER_H

#include "sim/hal.h"

/* Of feature level 8; there is one, which starts anew.  It has prepare_model and close; the test
 * may set others. */
struct hal_driver *stub_driver(const struct hal_prepared_model_methods *methods);

/* For methods: nothing is to be freed. */
void stub_release(struct hal_prepared_model *self);
/* Of an execution that went well, whose time is not known. */
struct hal_fenced_info *stub_info(void);

#endif
