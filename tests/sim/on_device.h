/* A single operation on a device, with expected values computed by hand. */
#ifndef TESTS_ON_DEVICE_H
#define TESTS_ON_DEVICE_H

#include "tests/support/one_op_run.h"

struct on_device {
    const char *uri; /* of the target */
    bool relaxed;    /* the model's relaxed float32 flag */
    struct one_op c;
};

/* Runs the operation; fails the test unless shapes and stored values are the expected ones. */
void on_device_check(const struct on_device *d);

#endif
