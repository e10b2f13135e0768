/* Commands and answers between the client and the process that hosts its driver, in the memory that
 * they share (sim/isolation/lent_memory.h).
 *
 *     client                                       driver's process
 *     host_calls: uri ...                ------->  opens the driver
 *                                        <-------  host_answers: state, or why it does not open
 *     host_calls: a case; submitted++    ------->  runs it, from get_supported_operations to
 * release
 *                                        <-------  host_answers: results; answered = submitted
 *
 * Pointers are valid in both processes.  The driver's process cannot write host_calls.  The driver
 * may have written anything to host_answers: the client bounds each field. */
#ifndef SIM_HOST_LAYOUT_H
#define SIM_HOST_LAYOUT_H

#include <stdatomic.h>

#include "golden/base/why.h"
#include "sim/base/crash_report.h"
#include "sim/hal.h"

enum host_command {
    HOST_RUN,     /* the case */
    HOST_SETTLE,  /* reports a second callback that came since */
    HOST_RELEASE, /* the model that was kept prepared */
    HOST_SERVE,   /* the driver to the socket, as a service does (sim/service/session.h) */
    HOST_CLOSE    /* the driver; the process then exits with status 0 */
};

/* An execution: as in struct client_execution. */
struct client_buffer;
struct host_execution {
    struct hal_request request;
    uint32_t n_buffers;
    const struct client_buffer *buffer;
    struct hal_output_shape *shapes; /* lent */
    uint32_t n_shapes;
};
enum { HOST_EXECUTIONS = 4 };

/* A run of a model on the driver, in the structures of its HAL version. */
struct host_case {
    uint64_t number;               /* of the target's runs */
    const struct hal_model *model; /* NULL: that of the last run, which has kept it prepared */
    struct hal_prepare_config prepare;
    struct host_execution at_once[HOST_EXECUTIONS];
    uint32_t n_at_once;
    struct hal_request other; /* n_pools not 0: executed before them, with results as the first */
    struct hal_execution_config execution;
    bool *supported;  /* lent; one for each operation of the main subgraph */
    uint32_t way;     /* enum execution_way */
    uint32_t version; /* enum hal_version: of the entry points */
    bool only_query_support;
    bool from_cache; /* driver_client_prepare_cached() */
    bool keep;       /* the prepared model, if it was executed */
};

/* What came of one execution. */
struct host_result {
    int32_t status;
    uint32_t n_shapes;
    uint32_t n_buffers; /* that the driver provided */
    struct hal_timing timing;
    char violation[160]; /* "": none */
};

/* At the start of the input area. */
struct host_calls {
    const char *uri, *profile; /* profile: JSON of a profile that is not shipped; NULL: none */
    const char *scratch;       /* folder that the driver may write to */
    uint32_t vlog_mask;        /* of its log, which is part of what it prints */
    bool may_use_devices;      /* device nodes are not closed off */
    bool may_be_traced;        /* by any process of the user: a debugger */
    uint32_t spin_ns;          /* longest spin of a wait for a command; 0: none */

    _Atomic uint32_t submitted; /* number of commands so far: a futex */
    _Atomic int processor;      /* spin_processor() of the submission */
    enum host_command command;
    const struct host_case *run;
};

enum host_state { HOST_STARTING, HOST_OPEN, HOST_NOT_OPENED, HOST_CLOSED };

/* What the driver's prepared model lacks, which the contract demands. */
enum host_lack { HOST_LACKS_NOTHING, HOST_LACKS_RELEASE, HOST_LACKS_EXECUTE };

/* At the start of the output area. */
struct host_answers {
    _Atomic uint32_t state;    /* enum host_state */
    _Atomic uint32_t answered; /* a futex */
    _Atomic uint32_t step;     /* enum target_step of the case */
    int processor;             /* spin_processor() when it answered */
    /* HOST_OPEN: */
    int32_t version, lowest_version; /* enum hal_version */
    char name[64];
    /* HOST_NOT_OPENED: */
    struct why why;
    /* Of a case: */
    uint32_t stage;                              /* enum stage: of the call that ended it */
    int32_t status;                              /* of that call */
    uint32_t lacks;                              /* enum host_lack */
    uint32_t n_answers;                          /* of get_supported_operations */
    struct host_result at_once[HOST_EXECUTIONS]; /* of executions */
    char failure_text[HAL_TEXT_BYTES];           /* the driver's, with that status */
    char violation[256];                         /* found while waiting for callbacks; "": none */
    char repeated[32];     /* the method that called back more than once; "": none */
    uint64_t repeated_run; /* in which run */

    uint64_t begun[16]; /* steady clock at the last begin of each step (enum target_step), ns */

    struct crash_report crash;
};

_Static_assert(sizeof(struct host_answers) <= 1 << 15, "fits before the first slot");

#endif
