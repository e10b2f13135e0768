/* The file of telemetry records. */
#ifndef RUNTIME_TELEMETRY_FILE_H
#define RUNTIME_TELEMETRY_FILE_H

#include "runtime/telemetry/telemetry.h"

/* Opens the file of HALCYON_TELEMETRY at the first call; an error goes to the log.  It stays open
 * until the process ends. */
bool telemetry_file_is_open(void);
/* Each appends a line, in one write; nothing if it is not open. */
void telemetry_file_compilation(const struct ANeuralNetworksDiagnosticCompilationInfo *info);
void telemetry_file_execution(const struct ANeuralNetworksDiagnosticExecutionInfo *info);

#endif
