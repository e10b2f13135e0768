/* Getters of telemetry records, which are members of the table by the names of the public header.
 */
#include "runtime/sl/sl_functions.h"
#include "runtime/telemetry/telemetry.h"

typedef const ANeuralNetworksDiagnosticCompilationInfo compilation_info;
typedef const ANeuralNetworksDiagnosticExecutionInfo execution_info;

/* ---- of compilations */

static int32_t compilation_session(compilation_info *info)
{
    return info->facts.session;
}

static int64_t compilation_level(compilation_info *info)
{
    return info->facts.level;
}

static const uint8_t *compilation_hash(compilation_info *info)
{
    return info->facts.hash;
}

static const char *compilation_devices(compilation_info *info)
{
    return info->facts.devices;
}

static int32_t compilation_result(compilation_info *info)
{
    return info->facts.result;
}

static ANeuralNetworksDiagnosticDataClass compilation_inputs(compilation_info *info)
{
    return info->facts.inputs;
}

static ANeuralNetworksDiagnosticDataClass compilation_outputs(compilation_info *info)
{
    return info->facts.outputs;
}

static bool compilation_is_cached(compilation_info *info)
{
    return info->facts.is_cached;
}

static bool compilation_has_control_flow(compilation_info *info)
{
    return info->facts.has_control_flow;
}

static bool compilation_is_dynamic(compilation_info *info)
{
    return info->facts.is_dynamic;
}

static uint64_t compilation_time(compilation_info *info)
{
    return info->ns;
}

/* ---- of executions */

static int32_t execution_session(execution_info *info)
{
    return info->facts.session;
}

static int64_t execution_level(execution_info *info)
{
    return info->facts.level;
}

static const uint8_t *execution_hash(execution_info *info)
{
    return info->facts.hash;
}

static const char *execution_devices(execution_info *info)
{
    return info->facts.devices;
}

static uint32_t execution_result(execution_info *info)
{
    return (uint32_t) info->facts.result;
}

static ANeuralNetworksDiagnosticDataClass execution_inputs(execution_info *info)
{
    return info->facts.inputs;
}

static ANeuralNetworksDiagnosticDataClass execution_outputs(execution_info *info)
{
    return info->facts.outputs;
}

static bool execution_is_cached(execution_info *info)
{
    return info->facts.is_cached;
}

static bool execution_has_control_flow(execution_info *info)
{
    return info->facts.has_control_flow;
}

static bool execution_is_dynamic(execution_info *info)
{
    return info->facts.is_dynamic;
}

static ANeuralNetworksDiagnosticExecutionMode execution_mode(execution_info *info)
{
    return info->mode;
}

static uint64_t execution_runtime_time(execution_info *info)
{
    return info->runtime_ns;
}

static uint64_t execution_driver_time(execution_info *info)
{
    return info->driver_ns;
}

static uint64_t execution_hardware_time(execution_info *info)
{
    return info->hardware_ns;
}

/* ---- the table */

void sl_diagnostic_fill(NnApiSLDriverImplFL5 *t)
{
    t->SL_ANeuralNetworksDiagnosticCompilationInfo_getSessionId = compilation_session;
    t->SL_ANeuralNetworksDiagnosticCompilationInfo_getNnApiVersion = compilation_level;
    t->SL_ANeuralNetworksDiagnosticCompilationInfo_getModelArchHash = compilation_hash;
    t->SL_ANeuralNetworksDiagnosticCompilationInfo_getDeviceIds = compilation_devices;
    t->SL_ANeuralNetworksDiagnosticCompilationInfo_getErrorCode = compilation_result;
    t->SL_ANeuralNetworksDiagnosticCompilationInfo_getInputDataClass = compilation_inputs;
    t->SL_ANeuralNetworksDiagnosticCompilationInfo_getOutputDataClass = compilation_outputs;
    t->SL_ANeuralNetworksDiagnosticCompilationInfo_isCachingEnabled = compilation_is_cached;
    t->SL_ANeuralNetworksDiagnosticCompilationInfo_isControlFlowUsed = compilation_has_control_flow;
    t->SL_ANeuralNetworksDiagnosticCompilationInfo_areDynamicTensorsUsed = compilation_is_dynamic;
    t->SL_ANeuralNetworksDiagnosticCompilationInfo_getCompilationTimeNanos = compilation_time;
    t->SL_ANeuralNetworksDiagnosticExecutionInfo_getSessionId = execution_session;
    t->SL_ANeuralNetworksDiagnosticExecutionInfo_getNnApiVersion = execution_level;
    t->SL_ANeuralNetworksDiagnosticExecutionInfo_getModelArchHash = execution_hash;
    t->SL_ANeuralNetworksDiagnosticExecutionInfo_getDeviceIds = execution_devices;
    t->SL_ANeuralNetworksDiagnosticExecutionInfo_getErrorCode = execution_result;
    t->SL_ANeuralNetworksDiagnosticExecutionInfo_getInputDataClass = execution_inputs;
    t->SL_ANeuralNetworksDiagnosticExecutionInfo_getOutputDataClass = execution_outputs;
    t->SL_ANeuralNetworksDiagnosticExecutionInfo_isCachingEnabled = execution_is_cached;
    t->SL_ANeuralNetworksDiagnosticExecutionInfo_isControlFlowUsed = execution_has_control_flow;
    t->SL_ANeuralNetworksDiagnosticExecutionInfo_areDynamicTensorsUsed = execution_is_dynamic;
    t->SL_ANeuralNetworksDiagnosticExecutionInfo_getExecutionMode = execution_mode;
    t->SL_ANeuralNetworksDiagnosticExecutionInfo_getRuntimeExecutionTimeNanos =
        execution_runtime_time;
    t->SL_ANeuralNetworksDiagnosticExecutionInfo_getDriverExecutionTimeNanos =
        execution_driver_time;
    t->SL_ANeuralNetworksDiagnosticExecutionInfo_getHardwareExecutionTimeNanos =
        execution_hardware_time;
    t->SL_ANeuralNetworksDiagnostic_registerCallbacks = telemetry_register;
}
