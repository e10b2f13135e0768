/* Which device does each operation: the fastest one that can, or the one that needs least power. */
#ifndef RUNTIME_CHOOSE_DEVICE_H
#define RUNTIME_CHOOSE_DEVICE_H

#include "runtime/compile/device_abilities.h"

/* An operation on a device. */
struct device_candidate {
    enum ability ability;
    float cost; /* relative time or power, as the preference asks; FLT_MAX: not stated */
};

/* graph_choice.best: no device can do the operation. */
#define NO_DEVICE UINT32_MAX

/* The devices of a graph's operations. */
struct graph_choice {
    const struct device_candidate *candidate; /* [operation][device] */
    /* By operation: index of a device; the number of devices: IF or WHILE that the runtime
     * interprets, because the reference would do it; NO_DEVICE. */
    const uint32_t *best;
};

struct device_chooser {
    uint32_t n_devices;
    const ANeuralNetworksDevice *const *device;
    int32_t preference; /* PreferenceCode */
    struct ability_finder abilities;
    struct graph_choice *graph; /* candidate NULL: not looked at yet */
    float *graph_cost;          /* [graph][device]: sum over its operations; NAN: not known yet */
};

/* Everything is allocated in `a`. */
int device_chooser_init(struct device_chooser *c, const ANeuralNetworksModel *m, uint32_t n_devices,
                        const ANeuralNetworksDevice *const *device, int32_t preference,
                        struct arena *a, struct why *w);

/* Asks the devices about the graph, unless they have been asked.  Operations that no device can do
 * are no error here. */
int device_chooser_graph(struct device_chooser *c, uint32_t graph,
                         const struct graph_choice **ret_choice, struct why *w);

#endif
