/* Profiles: what a simulated device is, as data (TOML, read as JSON).  sim/profiles/ has the
 * shipped ones; cpu.toml there explains every key. */
#ifndef SIM_PROFILE_H
#define SIM_PROFILE_H

#include "golden/base/arena.h"
#include "golden/model/op.h"
#include "sim/base/client_quota.h"
#include "sim/hal.h"
#include "sim/hal/names.h"

enum arithmetic_kind {
    ARITHMETIC_FP32,  /* floats, windows and matrices by XNNPACK; everything else is widened */
    ARITHMETIC_FP16,  /* floats; fp16 is summed in fp16, relaxed fp32 is held as fp16 */
    ARITHMETIC_FIXED, /* integers */
    ARITHMETIC_EXACT  /* the reference itself */
};

struct window_size {
    uint32_t h, w;
};

/* Operations with the same limits.  A limit of 0 or an empty list is no limit. */
struct rule {
    uint32_t n_ops, n_windows, n_constants;
    const struct op **op;
    uint32_t types; /* bit per type that its operands may have, where the type is a choice */
    uint32_t max_rank, max_window, max_stride, max_dilation;
    uint64_t max_elements;             /* of the largest operand */
    const struct window_size *windows; /* the only sizes of a window that there are */
    const char **constants;            /* roles that must be constant */
    bool nchw, broadcast;              /* whether NCHW, operands of different shapes are possible */
};

struct profile {
    struct arena *arena; /* owns everything */
    const char *name, *version;
    enum hal_device_type type;
    enum hal_version hal;
    enum arithmetic_kind arithmetic;
    struct hal_capabilities capabilities;
    uint64_t memory; /* bytes of one execution */
    uint32_t queue_depth, priorities;
    uint32_t model_cache_files, data_cache_files;
    struct client_limits limits;
    uint64_t burst_idle_ns;      /* 0: the driver's */
    double launch_ns, driver_ns; /* of an execution: on the device, and in the driver besides */
    double operation_ns;         /* of every operation, besides its work */
    double prepare_ns;           /* of making a model ready, besides the next */
    double
        prepare_operation_ns; /* of each of its operations, where it does not come from a cache */
    double bandwidth;         /* bytes per second */
    double rate[DT_END];      /* operations per second on operands of that type */
    extension_set extensions; /* that the device serves */
    uint32_t n_rules;
    const struct rule *rules;
};

/* json: the profile's text; file: its name for messages, which say key, what is expected and what
 * stands there. */
int profile_parse(const char *json, const char *file, struct profile **ret_profile, struct why *w);
void profile_free(struct profile *p);

/* A shipped profile's JSON text ("cpu"), or NULL. */
const char *profile_shipped(const char *name);

/* Whether the device does this call, as far as its shapes and values are known.  constant: per
 * input, whether it is one.  -1 with the limit that it breaks. */
int profile_allows(const struct profile *p, const struct call *c, const bool *constant,
                   struct why *w);

#endif
