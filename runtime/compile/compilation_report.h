/* Telemetry of compilations. */
#ifndef RUNTIME_COMPILATION_REPORT_H
#define RUNTIME_COMPILATION_REPORT_H

#include "runtime/compile/compilation.h"
#include "runtime/telemetry/telemetry.h"

/* The facts of a compilation that was finished, also in vain, and its executions.  The caller sets
 * `result` and frees *ret_devices, which facts.devices may point to. */
struct telemetry_facts compilation_facts(const ANeuralNetworksCompilation *c, char **ret_devices);
/* Reports that finish took `ns` and returned `result`. */
void compilation_report(const ANeuralNetworksCompilation *c, int result, uint64_t ns);

#endif
