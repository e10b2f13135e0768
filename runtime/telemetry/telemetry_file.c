#include "runtime/telemetry/telemetry_file.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/failure.h"

#define LOG_TAG "Telemetry"

static int file = -1;

static void open_file(void)
{
    const char *path = getenv("HALCYON_TELEMETRY");

    if (!path || !*path)
        return;
    file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0)
        log_write(LOG_ERROR, LOG_TAG, "HALCYON_TELEMETRY=%s: %s", path, strerror(errno));
}

bool telemetry_file_is_open(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, open_file);
    return file >= 0;
}

/* ---- lines */

static const char *const class_name[] = {
    "UNKNOWN", "OTHER", "FLOAT32", "FLOAT16", "QUANT", "MIXED"
};
static const char *const mode_name[] = { "UNKNOWN", "ASYNC", "SYNC", "BURST", "ASYNC_WITH_DEPS" };

static json_t *time_of(uint64_t ns)
{
    return ns == TELEMETRY_NO_TIME ? json_null() : json_integer((json_int_t) ns);
}

static json_t *line_of(const char *kind, const struct telemetry_facts *f)
{
    char hash[2 * 32 + 1];

    for (int i = 0; i < 32; i++)
        snprintf(hash + 2 * (size_t) i, 3, "%02x", f->hash[i]);
    return json_pack("{s:s, s:i, s:I, s:s, s:s, s:s, s:s, s:s, s:b, s:b, s:b, s:b, s:b}", "record",
                     kind, "session", (int) f->session, "level", (json_int_t) f->level, "model",
                     hash, "devices", f->devices, "result", result_name(f->result), "inputs",
                     class_name[f->inputs], "outputs", class_name[f->outputs], "fell_back",
                     (int) f->fell_back, "explicit_devices", (int) f->is_explicit, "cached",
                     (int) f->is_cached, "control_flow", (int) f->has_control_flow,
                     "dynamic_tensors", (int) f->is_dynamic);
}

/* Takes the object. */
static void append(json_t *line)
{
    char *text = json_dumps(line, JSON_COMPACT);
    const size_t n = text ? strlen(text) : 0;

    json_decref(line);
    if (text) {
        text[n] = '\n'; /* in place of the end: one write, so that lines of threads do not mix */
        if (write(file, text, n + 1) != (ssize_t) n + 1)
            log_write(LOG_ERROR, LOG_TAG, "HALCYON_TELEMETRY: %s", strerror(errno));
    }
    free(text);
}

void telemetry_file_compilation(const struct ANeuralNetworksDiagnosticCompilationInfo *info)
{
    if (!telemetry_file_is_open())
        return;
    json_t *line = line_of("compilation", &info->facts);
    json_object_set_new(line, "compilation_ns", time_of(info->ns));
    append(line);
}

void telemetry_file_execution(const struct ANeuralNetworksDiagnosticExecutionInfo *info)
{
    if (!telemetry_file_is_open())
        return;
    json_t *line = line_of("execution", &info->facts);
    json_object_set_new(line, "mode", json_string(mode_name[info->mode]));
    json_object_set_new(line, "runtime_ns", time_of(info->runtime_ns));
    json_object_set_new(line, "driver_ns", time_of(info->driver_ns));
    json_object_set_new(line, "hardware_ns", time_of(info->hardware_ns));
    append(line);
}
