/* The devices of the process: the drivers that the configuration names, in its order, and last the
 * reference executor, `nnapi-reference`.
 *
 * The list is made at the first call that needs it and lives until the process ends.
 *
 *     HALCYON_DEVICES="sim:gpu,unix:/run/npu,lib:./npu.so"    URIs of targets (sim/sim.h)
 *     HALCYON_DEVICES=@FILE                                   the same, one a line; # comments
 *
 * A support library (runtime/sl) has one driver and no reference executor in its list:
 *
 *     HALCYON_SL_DEVICE=URI          otherwise the first of HALCYON_DEVICES; if neither is set,
 *                                    `golden`, the reference executor as a driver
 *     HALCYON_SL_FEATURE_LEVEL=N     the level of the library, 5 to 8; if not set, 8
 *
 * A driver that cannot be opened, that breaks the contract in what it states of itself, or whose
 * name another one has, is left out, with an error in the log; the others still serve. */
#ifndef RUNTIME_DEVICE_H
#define RUNTIME_DEVICE_H

#include "golden/model/op.h"
#include "runtime/include/NeuralNetworks.h"
#include "sim/sim.h"

struct driver_client;

/* Performance and power of the reference executor, for every type and for IF and WHILE. */
#define REFERENCE_PERFORMANCE 1.0f

struct ANeuralNetworksDevice {
    const char *name, *version;
    int32_t type;                        /* DeviceTypeCode */
    enum level level;                    /* the lower one of the driver's and the runtime's */
    enum hal_version entry;              /* the entry points that the runtime uses: of that level */
    bool is_reference;                   /* it is the reference executor */
    bool is_service;                     /* `driver` is one of service_driver.h */
    struct hal_driver *driver;           /* the reference executor's, too */
    struct target *target;               /* that has opened it */
    struct driver_client *client;        /* of the driver: prepares and executes */
    struct hal_capabilities performance; /* of the newest version; types ascending */
    uint32_t n_extensions;
    const struct hal_extension *extension;
    uint32_t n_model_cache, n_data_cache; /* cache files that it needs; both 0: it does not cache */
};

struct device_list {
    uint32_t n;
    ANeuralNetworksDevice *const *device; /* the reference executor is the last, unless this is a
                                             support library */
};
/* From any thread. */
const struct device_list *devices(void);
/* A device outside of the list, over an open target that it owns.  NULL: the driver breaks the
 * contract in what it states of itself; then the target is freed, too. */
ANeuralNetworksDevice *device_of_target(struct target *t, bool is_reference, struct why *w);
void device_free(ANeuralNetworksDevice *d);
/* Never NULL unless memory was lacking; in a support library it is not in the list. */
const ANeuralNetworksDevice *reference_device(void);
/* Before anything else is called: this library is a support library. */
void devices_of_support_library(void);

/* Relative time and power of operands of a type (as a scalar or tensor type of NNAPI), FLT_MAX
 * where the driver states none. */
struct hal_performance device_performance(const ANeuralNetworksDevice *d, int32_t type,
                                          bool relaxed);

/* What every device prefers of the addresses of arguments, and one of the lengths of their memory.
 */
enum { PREFERRED_ALIGNMENT = 64 };
uint32_t device_padding(const ANeuralNetworksDevice *d);

/* The result code for a driver's status. */
int result_of_status(enum hal_status status);

/* Identifies what has made a prepared model: tokens of buffers are unique in it. */
const void *device_session(const ANeuralNetworksDevice *d, const struct hal_prepared_model *p);

/* ANeuralNetworksDevice_wait() of a device: whether it answers. */
int device_wait(const ANeuralNetworksDevice *d);
bool device_has_extension(const ANeuralNetworksDevice *d, const char *name);
/* A time-out from now on as the driver's clock has it; at most the last point in time. */
uint64_t driver_deadline(const ANeuralNetworksDevice *d, uint64_t timeout_ns);
/* Level of the library, at most which its devices have: L8, or what a support library is set to. */
enum level runtime_level(void);
/* FeatureLevelCode of a level. */
int64_t level_code(enum level level);

/* Extensions of all devices, and the prefixes of names in this process. */

/* The prefix of an extension's name, given at its first use; 0: none is left.  That of a listed
 * extension is golden's (golden/model/extension.h); every one is below 0x8000. */
uint16_t extension_prefix_for(const char *name);
/* The name of a prefix; NULL: it was not given. */
const char *extension_of_prefix(uint16_t prefix);
/* What the devices state of an operand type of an extension; NULL: none knows it, or two contradict
 * each other. */
const struct hal_extension_type *extension_type_stated(int32_t type);

/* Properties of Android as environment variables, read once at the first call:
 * HALCYON_DEBUG_NN_PARTITION is debug.nn.partition.  HALCYON_DEBUG_NN_VLOG is applied then, too. */
struct runtime_settings {
    int partition;       /* _PARTITION: 0 none, 1 with fallback, 2 without fallback */
    bool cpu_only;       /* _CPUONLY: compilations without a list of devices use the reference */
    bool compute_inline; /* _SYNCEXEC_RUNTIME: startCompute computes before it returns */
    const char *enabled; /* _ENABLED_DEVICES: regular expression that the names of drivers must
                            match wholly; NULL: any */
};
const struct runtime_settings *runtime_settings(void);
/* For the room's own use: sets runtime_level() from HALCYON_SL_FEATURE_LEVEL. */
void runtime_level_of_support_library(void);

#endif
