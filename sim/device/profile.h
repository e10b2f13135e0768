/* Profiles: descriptions of simulated devices as data (TOML, converted to JSON before it is
 * parsed).  sim/profiles/ has the shipped ones; its cpu.toml explains every key. */
#ifndef SIM_PROFILE_H
#define SIM_PROFILE_H

#include "golden/base/arena.h"
#include "golden/model/op.h"
#include "sim/base/client_quota.h"
#include "sim/hal.h"
#include "sim/hal/extension_codes.h"

enum arithmetic_kind {
    ARITHMETIC_FP32,  /* float kernels, windows and matrix products by XNNPACK */
    ARITHMETIC_FP16,  /* float kernels; fp16 is summed in fp16, relaxed fp32 is stored as fp16 */
    ARITHMETIC_FIXED, /* fixed-point kernels */
    ARITHMETIC_EXACT  /* float kernels without XNNPACK */
};

struct window_size {
    uint32_t h, w;
};

/* A group of supported operations with the same limits.  A limit of 0 or an empty list is no limit.
 */
struct rule {
    uint32_t n_ops, n_windows, n_constants;
    const struct op **op;
    uint32_t types; /* a bit per type allowed for operands whose type the operation leaves open */
    uint32_t max_rank, max_window, max_stride, max_dilation;
    uint64_t max_elements;             /* of each operand */
    const struct window_size *windows; /* the allowed sizes of windows */
    const char **constants;            /* roles whose operands must be constants */
    bool nchw, broadcast; /* whether NCHW and operands of different shapes are supported */
};

struct profile {
    struct arena *arena; /* owns everything */
    const char *name, *version;
    enum hal_device_type type;
    enum hal_version hal;
    enum arithmetic_kind arithmetic;
    struct hal_capabilities capabilities;
    uint64_t memory;                  /* bytes available to one execution */
    uint32_t queue_depth, priorities; /* as in struct engine */
    uint32_t model_cache_files, data_cache_files;
    struct client_limits limits;
    uint64_t burst_idle_ns;      /* 0: BURST_IDLE_NS */
    double launch_ns, driver_ns; /* per execution: on the device, and in addition in the driver */
    double operation_ns;         /* per operation, in addition to its work */
    double prepare_ns;           /* per prepared model */
    double prepare_operation_ns; /* per operation of a prepared model, but not from a cache */
    double bandwidth;            /* bytes per second */
    double rate[DT_END];         /* operations per second, by the first operand's type */
    extension_set extensions;    /* vendor extensions that the device supports */
    uint32_t n_rules;
    const struct rule *rules;
};

/* json: text of the profile; file: its name in messages.  WHY_INVALID names the key, what is
 * expected and what was found. */
int profile_parse(const char *json, const char *file, struct profile **ret_profile, struct why *w);
void profile_free(struct profile *p);

/* JSON text of a shipped profile ("cpu"), or NULL. */
const char *profile_shipped(const char *name);

/* 0: a rule of the profile supports the call, as far as its shapes and values are known.  constant:
 * per input, whether it is a constant.  -1, WHY_UNSUPPORTED: names the limit that it exceeds. */
int profile_supports(const struct profile *p, const struct call *c, const bool *constant,
                     struct why *w);

#endif
