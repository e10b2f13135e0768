/* Queries a target's name, version and capabilities in a child process, so that a driver that
 * crashes or hangs while it is opened is an error of the input and does not end the harness. */
#ifndef HARNESS_DEVICES_H
#define HARNESS_DEVICES_H

#include "sim/sim.h"

enum { MAX_PERFORMANCE = 32, MAX_EXTENSIONS = 8, MAX_EXTENSION_TYPES = 16 };

/* An extension as the driver describes it; n_types may exceed MAX_EXTENSION_TYPES, the rest of the
 * types is not kept. */
struct extension_facts {
    char name[96];
    uint32_t n_types;
    struct hal_extension_type type[MAX_EXTENSION_TYPES];
};

/* What a driver reports of itself.  Sent through a pipe byte for byte: no pointers. */
struct device_facts {
    char name[64], version[128];
    char type[16]; /* "CPU" */
    char hal[8];   /* "1.3", "fl5" */
    struct hal_performance relaxed_scalar, relaxed_tensor, if_performance, while_performance;
    uint32_t n_operands;
    struct hal_operand_performance operand[MAX_PERFORMANCE];
    uint32_t n_extensions, n_model_cache, n_data_cache;
    struct extension_facts extension[MAX_EXTENSIONS]; /* the first ones */
};

/* Opens a target in a child process and reads its facts.  seconds: time limit.  A driver that
 * crashes, exits or exceeds it is WHY_INVALID. */
int device_probe(const char *uri, double seconds, struct device_facts *ret_facts, struct why *w);

/* The services that target_open() needs from this folder: reading TOML profiles. */
extern struct target_host harness_host;

/* Hides vendor extensions from all targets opened from now on, unless the allowlist in `file`
 * (sim/client/allowlist.h) contains `who`: a package name or a binary's path; NULL: the path of the
 * running program. */
int devices_limit_extensions(const char *file, const char *who, struct why *w);

#endif
