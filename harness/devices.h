/* What targets say of themselves, asked in a child process: a driver that crashes or hangs while it
 * is opened is bad input, not our end. */
#ifndef HARNESS_DEVICES_H
#define HARNESS_DEVICES_H

#include "sim/sim.h"

enum { MAX_PERFORMANCE = 32 };

/* Crosses a pipe as it is. */
struct device_facts {
    char name[64], version[128];
    char type[16]; /* "CPU" */
    char hal[8];   /* "1.3", "fl5" */
    struct hal_performance relaxed_scalar, relaxed_tensor, if_performance, while_performance;
    uint32_t n_operands;
    struct hal_operand_performance operand[MAX_PERFORMANCE];
    uint32_t n_extensions, n_model_cache, n_data_cache;
};

/* seconds: how long it may take. */
int device_probe(const char *uri, double seconds, struct device_facts *ret_facts, struct why *w);

/* What targets borrow from this folder: reading profiles. */
extern const struct target_host harness_host;

#endif
