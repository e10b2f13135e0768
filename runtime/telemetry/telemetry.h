/* Telemetry: a record for each compilation that was finished, also in vain, and for each execution
 * that was completed.  It goes to callbacks and to a file:
 *
 *     HALCYON_TELEMETRY=FILE    appends a line of JSON per record (docs/runtime.md)
 *
 * Records are made only while telemetry_is_on(). */
#ifndef RUNTIME_TELEMETRY_H
#define RUNTIME_TELEMETRY_H

#include "runtime/devices/runtime_device.h"
#include "runtime/include/NeuralNetworksSupportLibraryImpl.h"
#include "runtime/model/runtime_model.h"

/* A time that is not known. */
#define TELEMETRY_NO_TIME UINT64_MAX

/* What records of both kinds have. */
struct telemetry_facts {
    int32_t session; /* of the process */
    int64_t level;   /* FeatureLevelCode of the runtime */
    const uint8_t *hash;
    const char *devices; /* telemetry_devices() */
    int32_t result;      /* ResultCode */
    ANeuralNetworksDiagnosticDataClass inputs, outputs;
    bool fell_back;        /* to the reference executor */
    bool is_explicit;      /* for a list of devices that the client chose */
    bool is_cached;        /* the client asked for caching */
    bool has_control_flow; /* the model has an IF or WHILE */
    bool is_dynamic;       /* a value between steps has no known size */
};
struct ANeuralNetworksDiagnosticCompilationInfo {
    struct telemetry_facts facts;
    uint64_t ns;
};
struct ANeuralNetworksDiagnosticExecutionInfo {
    struct telemetry_facts facts;
    ANeuralNetworksDiagnosticExecutionMode mode;
    /* ns; TELEMETRY_NO_TIME where they are not known */
    uint64_t runtime_ns, driver_ns, hardware_ns;
};

/* Whether records go anywhere.  From any thread; cheap. */
bool telemetry_is_on(void);
/* SL_ANeuralNetworksDiagnostic_registerCallbacks(): replaces the callbacks; both NULL: none. */
void telemetry_register(ANeuralNetworksDiagnosticCompilationFinishedCallback compilation,
                        ANeuralNetworksDiagnosticExecutionFinishedCallback execution,
                        void *context);

/* The facts that follow from the model.  devices, result and flags other than has_control_flow are
 * left to the caller. */
struct telemetry_facts telemetry_facts_of(const ANeuralNetworksModel *m);
/* "NAME=VERSION,..." of the devices, sorted, each once; malloc()ed; NULL: out of memory. */
char *telemetry_devices(const ANeuralNetworksDevice *const *device, uint32_t n);

void telemetry_compilation(const struct ANeuralNetworksDiagnosticCompilationInfo *info);
void telemetry_execution(const struct ANeuralNetworksDiagnosticExecutionInfo *info);

#endif
