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

/* The files and folders of Python's library and of the shared libraries in use, absolute: n paths
 * and two NULL, one of which the caller may replace.  Allocated for the process's lifetime. */
int python_host_library(const char ***ret_paths, size_t *ret_n, struct why *w);

/* Imports modules that specifications commonly use, for a kernel where a child cannot read any. */
void python_host_import_common(void);

/* Imports modules that the file probably needs, before the fork; errors of that are ignored.
 * Writes the prefix that the names of the file's examples have, "" for TOML.  -1: they cannot be
 * named. */
int python_host_preload(const char *kind, const char *path, int file, char *ret_prefix,
                        size_t size);

/* Installs handlers that write stack traces to the descriptor: of fatal errors, of a denied system
 * call (SIGSYS) after a line DENIED_CALL, and whenever SIGXCPU arrives.  -1: an internal error. */
int python_host_trace(int fd);

/* Loads one file (kind: "modpy", "tflite", "toml"), open for reading as descriptor `file`.  Writes
 * lines of JSON to lines_fd, the last of them an error if the file is invalid.  -1: an internal
 * error. */
int python_host_load(const char *kind, const char *path, int file, int lines_fd);

/* Converts a .tflite model in memory to a line of JSON (malloced), NULL if the model is invalid.
 * -1: the converter raised an unexpected exception.  Runs in this process: for the fuzz target
 * only. */
int python_host_convert(const void *data, size_t length, char **ret_json, struct why *w);

#endif
