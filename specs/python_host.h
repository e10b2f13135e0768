/* The embedded interpreter.  Runs only in processes that loader.c made for it. */
#ifndef SPECS_PYTHON_HOST_H
#define SPECS_PYTHON_HOST_H

#include "golden/base/why.h"

/* The Python modules that the binary carries (generated); ends with a NULL name. */
struct python_source {
    const char *name, *text;
};
extern const struct python_source python_sources[];

/* Starts the distribution's interpreter and imports halcyon.host.  Once in a process. */
int python_host_start(struct why *w);

/* Lets the interpreter import, before a fork, what the file seems to need.  Cannot fail. */
void python_host_preload(const char *kind, const char *path);

/* Loads one file (kind: "modpy", "tflite", "toml"): lines of JSON to lines_fd, stack traces of
 * fatal errors and of a time-out to trace_fd.  What is wrong with the file is a line too; -1 is our
 * fault. */
int python_host_load(const char *kind, const char *path, int lines_fd, int trace_fd,
                     double timeout);

/* A .tflite model in memory as a line of JSON (malloced), NULL if it is refused.  -1 with the
 * exception where the converter itself is at fault.  In this process: for the fuzz target alone. */
int python_host_convert(const void *data, size_t length, char **ret_json, struct why *w);

#endif
