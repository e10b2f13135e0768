/* What targets say of themselves, asked in a child process: a driver that crashes or hangs while it
 * is opened is bad input, not our end. */
#ifndef HARNESS_DEVICES_H
#define HARNESS_DEVICES_H

#include "sim/sim.h"

enum { MAX_PERFORMANCE = 32, MAX_EXTENSIONS = 8, MAX_EXTENSION_TYPES = 16 };

/* An extension as the driver describes it; of more types than fit here only the number is known. */
struct extension_facts {
    char name[96];
    uint32_t n_types;
    struct hal_extension_type type[MAX_EXTENSION_TYPES];
};

/* Crosses a pipe as it is. */
struct device_facts {
    char name[64], version[128];
    char type[16]; /* "CPU" */
    char hal[8];   /* "1.3", "fl5" */
    struct hal_performance relaxed_scalar, relaxed_tensor, if_performance, while_performance;
    uint32_t n_operands;
    struct hal_operand_performance operand[MAX_PERFORMANCE];
    uint32_t n_extensions, n_model_cache, n_data_cache;
    struct extension_facts extension[MAX_EXTENSIONS]; /* the first of them */
};

/* seconds: how long it may take. */
int device_probe(const char *uri, double seconds, struct device_facts *ret_facts, struct why *w);

/* What targets borrow from this folder: reading profiles. */
extern struct target_host harness_host;

/* Hides extensions from all targets that are opened from now on, unless the file
 * (sim/client/allowlist.h) lists `who`; NULL: the program that is running. */
int devices_limit_extensions(const char *file, const char *who, struct why *w);

#endif
