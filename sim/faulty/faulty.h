/* Drivers that break the contract in one respect, to test the harness: a layer around a driver and
 * its objects that passes every call on, except where its row of the fault table (struct
 * contract_hooks) says otherwise. */
#ifndef SIM_FAULTY_H
#define SIM_FAULTY_H

#include <pthread.h>
#include <stdatomic.h>

#include "golden/base/arena.h"
#include "golden/base/why.h"
#include "sim/device/fault.h"
#include "sim/faulty/unchecked.h"
#include "sim/sim.h"
#include "sim/wire/burst_packet.h"

struct faulty_driver;

/* A prepared model of the layer. */
struct faulty_model {
    struct hal_prepared_model base;
    struct faulty_driver *driver;
    struct hal_prepared_model *inner; /* NULL: of a model that the driver rejected; executions
                                         return HAL_GENERAL_FAILURE */
    bool is_restored;                 /* from a compilation cache */
    enum hal_priority priority;       /* of the client's preparation */
    uint64_t deadline;                /* likewise */
    uint32_t n_loops;                 /* WHILE operations of the main subgraph */
    atomic_uint executions;
    atomic_int state;      /* of a fault that needs a number */
    atomic_uint first_dim; /* of a fault: dimension 0 of output 0 in the first execution */
};

enum faulty_entry { ENTRY_SYNCHRONOUS, ENTRY_ASYNCHRONOUS, ENTRY_FENCED, ENTRY_BURST };

/* One execution.  before() may replace what it points to, with memory of the arena. */
struct faulty_call {
    struct faulty_model *model;
    enum faulty_entry entry;
    enum hal_version version;
    struct hal_request request;
    struct hal_execution_config config;
    uint32_t n_wait_for; /* of a fenced one */
    const int *wait_for;
    uint64_t duration; /* likewise */
    struct arena *arena;
    /* For after(): the outcome; a fenced one is only launched and has no result. */
    enum hal_status status;
    struct hal_result *result;
};

/* A preparation, whose arguments preparing() may change. */
struct faulty_preparation {
    struct faulty_driver *driver;
    enum hal_version version;
    const struct hal_model *model; /* NULL: restored from a cache */
    struct hal_prepare_config config;
    struct arena *arena;
};

/* What a fault does; members that are 0 or NULL: as the driver. */
struct contract_hooks {
    uint64_t unchecked; /* bits of enum unchecked: rejected by the driver, accepted by the layer */
    unsigned packets;   /* enum burst_packet_fault: of every burst in this process */
    /* Members that are set replace the layer's own, which pass the call on. */
    struct hal_driver driver;
    struct hal_prepared_model_methods model;
    struct hal_burst_methods burst;
    struct hal_execution_methods reusable;
    struct hal_fenced_info_methods info;
    struct hal_buffer_methods buffer;
    void (*preparing)(struct faulty_preparation *p);
    /* Calls the client's callback of a preparation; m: the layer's, NULL after a failure. */
    void (*prepared)(struct hal_prepare_callback *client, enum hal_status status,
                     struct faulty_model *m);
    /* After the files of a compilation cache have been written. */
    void (*saved)(struct faulty_driver *d, const struct hal_cache *cache);
    /* After another client has opened the driver. */
    void (*opened)(struct faulty_driver *d);
    /* After an allocation, whose token it may change. */
    void (*allocated)(struct faulty_driver *d, enum hal_status status, uint32_t *token);
    void (*before)(struct faulty_call *x);
    void (*after)(struct faulty_call *x);
    /* Calls the client's callback of an asynchronous execution. */
    void (*executed)(struct hal_execution_callback *client, enum hal_status status,
                     const struct hal_result *result);
};

enum { MAX_FAULTY_BUFFERS = 256, MAX_SAVED_FILES = 8 };

/* A copy of a cache file as the driver has written it, or of other bytes that a fault keeps. */
struct saved_file {
    uint8_t *bytes;
    size_t length;
};

struct faulty_driver {
    struct hal_driver base;
    struct hal_driver *inner;
    const struct contract_hooks *hooks;
    struct hal_prepared_model_methods model_methods;
    struct hal_burst_methods burst_methods;
    struct hal_execution_methods reusable_methods;
    struct hal_fenced_info_methods info_methods;
    struct hal_buffer_methods buffer_methods;

    pthread_mutex_t lock, second_lock;  /* `lock` protects what follows */
    uint32_t token[MAX_FAULTY_BUFFERS]; /* of the buffers that exist; 0: none */
    struct saved_file saved[MAX_SAVED_FILES];
    const uint8_t *constants; /* of a fault: of the client's model that was prepared last */
    atomic_uint executions;
    atomic_int state; /* of a fault that needs a number */
};

struct faulty_burst {
    struct hal_burst base;
    struct faulty_model *model;
    struct hal_burst *inner;
    struct hal_memory kept[16]; /* memories that a fault keeps; size 0: none */
    int64_t first;              /* of a fault: the first identifier of the kept request */
};

struct faulty_reusable {
    struct hal_execution base;
    struct faulty_model *model;
    struct hal_execution *inner;
    struct arena *arena;               /* of the snapshot of its inputs; NULL: none */
    const struct hal_argument *client; /* the first input in the client's memory; NULL: none */
    struct hal_argument first;         /* as it was when the execution was created */
    uint64_t deadline;                 /* of a fault: of its first run; 0: none yet */
};

struct faulty_info {
    struct hal_fenced_info base;
    struct faulty_driver *driver;
    struct hal_fenced_info *inner; /* NULL: of an accepted invalid execution */
    struct hal_timing timing;
    bool is_read;
    unsigned executions; /* of the driver, when it was launched */
};

struct faulty_buffer {
    struct hal_buffer base;
    struct faulty_driver *driver;
    struct hal_buffer *inner; /* NULL: of an accepted invalid allocation */
    uint32_t token;
};

/* Puts the layer of a fault with contract hooks around the driver, which it then owns, also on
 * failure. */
int faulty_driver_new(struct hal_driver *inner, const struct fault *fault,
                      struct hal_driver **ret_driver, struct why *w);

static inline struct faulty_driver *faulty_driver_of(struct hal_driver *d)
{
    return (struct faulty_driver *) d;
}
static inline struct faulty_model *faulty_model_of(struct hal_prepared_model *m)
{
    return (struct faulty_model *) m;
}
/* Whether the row accepts calls that are invalid in this way. */
static inline bool faulty_accepts(const struct faulty_driver *d, enum unchecked u)
{
    return (d->hooks->unchecked >> u & 1) != 0;
}

/* sim/faulty/faulty_model.c: NULL: out of memory, and inner is released. */
struct faulty_model *faulty_model_new(struct faulty_driver *d, struct hal_prepared_model *inner);
void faulty_model_methods(struct faulty_driver *d);
/* Frees a model of the layer and the driver's (sim/faulty/state_faults.c). */
void faulty_model_release(struct hal_prepared_model *self);
/* The driver rejects the model (sim/faulty/driver_faults.c). */
void faulty_refuse_model(struct faulty_preparation *p);
/* sim/faulty/faulty_memory.c: buffers. */
enum hal_status faulty_allocate(struct hal_driver *self, const struct hal_buffer_desc *desc,
                                uint32_t n_models, struct hal_prepared_model *const *models,
                                uint32_t n_input_roles, const struct hal_buffer_role *input_roles,
                                uint32_t n_output_roles, const struct hal_buffer_role *output_roles,
                                struct hal_buffer **ret_buffer, uint32_t *ret_token);
void faulty_buffer_methods(struct faulty_driver *d);
/* Whether a buffer with that token exists. */
bool faulty_has_token(struct faulty_driver *d, uint32_t token);

/* sim/faulty/state_faults.c: changes a byte of the first output, if that is in client memory, of an
 * execution that has succeeded. */
void spoil_output(const struct faulty_call *x);
/* Likewise: loses 1 MiB. */
void leak_memory(struct faulty_call *x);

/* Rows of the fault table. */
extern const struct fault_group driver_faults, execution_faults, memory_faults, model_faults,
    burst_faults, repeat_faults, sequence_faults, state_faults, crowd_faults;

#define CONTRACT(...)                                                                              \
    &(const struct contract_hooks)                                                                 \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#define UNCHECKED(id) (UINT64_C(1) << UNCHECKED_##id)

/* A row: members of struct contract_hooks; or a set of UNCHECKED() that are accepted. */
#define BREAKS(name, kind, rules, doc, ...)                                                        \
    {                                                                                              \
        name, kind, rules, doc, .contract = CONTRACT(__VA_ARGS__)                                  \
    }
#define ACCEPTS(name, kind, rule_list, doc, bits)                                                  \
    BREAKS(name, kind, rule_list, doc, .unchecked = (bits))

#endif
