/* The embedded Python interpreter.  Used in processes forked for it (python_child.h) and by a fuzz
 * target; the only user of Python.h. */
#ifndef SPECS_PYTHON_HOST_H
#define SPECS_PYTHON_HOST_H

#include "golden/base/why.h"

/* The Python modules embedded in the binary (written by embed_python.py); ends with a NULL name. */
struct python_source {
    const char *name, *text;
};
extern const struct python_source python_sources[];

/* Starts the distribution's interpreter and imports halcyon.host.  Call it once per process. */
int python_host_start(struct why *w);

/* Imports modules that the file probably needs, before the fork.  Errors are ignored. */
void python_host_preload(const char *kind, const char *path);

/* Loads one file (kind: "modpy", "tflite", "toml") within `timeout` seconds.  Writes lines of JSON
 * to lines_fd, the last of them an error if the file is invalid, and stack traces of fatal errors
 * and of a time-out to trace_fd.  -1: an internal error. */
int python_host_load(const char *kind, const char *path, int lines_fd, int trace_fd,
                     double timeout);

/* Converts a .tflite model in memory to a line of JSON (malloced), NULL if the model is invalid.
 * -1: the converter raised an unexpected exception.  Runs in this process: for the fuzz target
 * only. */
int python_host_convert(const void *data, size_t length, char **ret_json, struct why *w);

#endif
