/* What each device can do of a model's operations, and why not. */
#ifndef RUNTIME_DEVICE_ABILITIES_H
#define RUNTIME_DEVICE_ABILITIES_H

#include "runtime/compile/model_slice.h"
#include "runtime/devices/runtime_device.h"

enum ability {
    ABILITY_CAN,
    ABILITY_UNSUPPORTED,    /* the driver does not support it */
    ABILITY_LEVEL,          /* it needs a higher feature level than the driver's */
    ABILITY_NOT_ASKED,      /* not asked: without operations of higher levels no output is left */
    ABILITY_SLICE,          /* not asked: the model needs a higher level and has IF or WHILE */
    ABILITY_NO_ANSWER,      /* the driver has failed, or answered wrongly */
    ABILITY_REFERENCE_ONLY, /* IF or WHILE with operands of unknown size */
    ABILITY_VENDOR,         /* the reference does nothing of extensions and OEMs */
    ABILITY_COUNT
};
/* Why a device cannot, for users: "unsupported", ...; of ABILITY_CAN "". */
extern const char *const ability_text[ABILITY_COUNT];

/* Asks devices about one model, each device about each graph at most once. */
struct ability_finder {
    const ANeuralNetworksModel *m;
    struct arena *a;
    bool has_levels;
    struct model_level_list levels;    /* once a device has a lower level than the model */
    const struct model_part **whole;   /* of abilities_whole(), by graph; NULL: none yet */
    const ANeuralNetworksDevice *gone; /* one whose service has ended when asked; NULL: none */
};

/* All of a graph as a model of its own, made at the first call, in f->a. */
int abilities_whole(struct ability_finder *f, uint32_t graph, const struct model_part **ret_part,
                    struct why *w);

/* *ret_abilities has one entry for each operation of the graph.  A driver that fails or answers
 * wrongly is logged.  -1: out of memory, or WHY_INVALID. */
int abilities_find(struct ability_finder *f, uint32_t graph, const ANeuralNetworksDevice *device,
                   const enum ability **ret_abilities, struct why *w);

/* Whether an operation, or one of its operands, is an extension's or OEM's. */
bool operation_is_vendors(const struct graph *g, const struct operation *o);

#endif
