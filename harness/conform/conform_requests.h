/* Requests for the models of harness/conform/conform_models.h, and every kind of execution, as a
 * conformance suite uses them. */
#ifndef HARNESS_CONFORM_REQUESTS_H
#define HARNESS_CONFORM_REQUESTS_H

#include "harness/conform/conform_models.h"

/* A request with its inputs in pool 0 and its outputs in pool 1; further pools are tokens of
 * buffers. */
enum { CONFORM_POOLS = 8, CONFORM_OWN = 2 };
struct conform_request {
    struct hal_request hal;
    struct hal_argument *inputs, *outputs; /* hal.inputs and hal.outputs, writable */
    struct hal_request_pool pool[CONFORM_POOLS];
    void *map[CONFORM_POOLS];  /* of a pool that is a file: its address here; else NULL */
    uint8_t *own[CONFORM_OWN]; /* the memory that was made for pools 0 and 1, whatever they name
                                  now; NULL: freed */
    uint64_t own_size[CONFORM_OWN];
    struct hal_result result;
    struct hal_timing
        launched;           /* fenced executions: since the call; result.timing: since the fences */
    enum hal_status launch; /* status of the call itself, where the execution ends later */
};
/* A valid request for the example, in the arena; the outputs have more room than they need. */
void conform_request(const struct example *e, struct arena *a, struct conform_request *ret_request);

/* Moves both pools to files, from their second page on; conform_request_close_files() before the
 * request is used no more. */
void conform_request_use_files(struct conform_request *r);
void conform_request_close_files(struct conform_request *r);
/* Address of an argument's value, which is in no buffer. */
void *conform_request_value(const struct conform_request *r, const struct hal_argument *a);

/* Places the argument in the buffer with that token, as a further pool. */
void conform_request_use_token(struct conform_request *r, struct hal_argument *a, uint32_t token);

/* Whether every output has a known shape with elements, as fenced executions need. */
bool conform_request_is_specified(const struct example *e);

/* A kind of execution.  run() executes the request and waits for its end; it returns the final
 * status and fills r->result, r->launch and r->launched.  The cell ends if the client finds that
 * the driver violates the contract (sim/client/driver_client.h), or if the execution writes memory
 * that it may not, or reports shapes or durations that its status does not have
 * (harness/conform/conform_guard.h).  Nothing else may write the request's own memory meanwhile. */
struct conform_kind {
    const char *name;
    enum execution_way way;     /* tells the versions */
    enum hal_version deadlines; /* first version with a deadline argument */
    bool needs_shapes;          /* outputs of unknown shape are HAL_INVALID_ARGUMENT */
    bool reports;               /* it reports the shapes of the outputs */
    bool launches;              /* the call may return before the execution ends */
    enum hal_status (*run)(struct hal_prepared_model *p, enum hal_version version,
                           struct conform_request *r, const struct hal_execution_config *config);
};
extern const struct conform_kind conform_kinds[];
extern const int conform_n_kinds;
const struct conform_kind *conform_kind_named(const char *name);
/* The ways of execution that have succeeded in this process: bit per enum execution_way. */
unsigned conform_executed(void);
void conform_forget_executed(void);
bool conform_kind_is_of(const struct conform_kind *k, enum hal_version version);
/* Whether the prepared model can be executed so through the entry point of that version: the
 * version has this kind of execution, and the driver its method.  If the driver lacks it, that is
 * why a rule without other checks is not applicable. */
bool conform_can_run(struct conform *c, const struct hal_prepared_model *p,
                     const struct conform_kind *k, enum hal_version version);

/* Whether there are no shapes and no durations, as required of every failure except
 * HAL_OUTPUT_INSUFFICIENT_SIZE. */
bool conform_result_is_empty(const struct hal_result *r);

/* The shape that was reported for output i; without shapes *s stays as it is. */
void conform_reported_shape(const struct conform_request *r, uint32_t i, struct shape *s);

/* Whether the outputs contain these values, bit for bit. */
bool conform_outputs_are(const struct conform_request *r, const struct tensor *expected);

/* A prepared model, with a request for it. */
struct conform_subject {
    struct conform_model model;
    struct hal_prepared_model *prepared; /* NULL: not supported */
    struct conform_request request;
};
/* Prepares the operation; false: the driver does not support it, or `o` is NULL (and there is no
 * subject).  A rule that nothing else is checked of is not applicable then. */
bool conform_subject_open(struct conform *c, const struct one_op *o,
                          struct conform_subject *ret_subject);
void conform_subject_close(struct conform_subject *s);
/* Makes the request valid again, with its outputs overwritten. */
void conform_subject_reset(struct conform_subject *s);
/* Whether the outputs contain the expected values. */
bool conform_subject_is_correct(const struct conform_subject *s);

#endif
