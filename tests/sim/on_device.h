/* One operation on a device, against numbers worked out by hand. */
#ifndef TESTS_ON_DEVICE_H
#define TESTS_ON_DEVICE_H

#include "tests/support/one_op.h"

struct on_device {
    const char *uri;
    bool relaxed;
    struct one_op c;
};

/* Fails the test unless every stored bit is as expected. */
void on_device_check(const struct on_device *d);

#endif
