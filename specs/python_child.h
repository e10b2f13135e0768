/* Loads a file with Python in a process of its own, so that a hostile or broken file cannot harm
 * the caller.
 *
 *     caller --request, two memory files--> python_zygote --fork--> child: Python runs the file,
 *            <-------how it ended----------               <-waits-  writes lines of JSON
 *
 * The zygote starts the interpreter once and forks a child for each file, so that a file takes
 * milliseconds.  The child has limits of time and memory, may start no process and write no file,
 * and has no standard output.  Results are read after the child has ended, so that reading does not
 * count against the file's time. */
#ifndef SPECS_PYTHON_CHILD_H
#define SPECS_PYTHON_CHILD_H

#include <stdio.h>

#include "specs/specs.h"

struct python_child_output {
    FILE *lines;    /* the complete lines that the child wrote, at their start; owned */
    bool failed;    /* the file failed to load after these lines */
    struct why why; /* if failed: file, line and reason */
};

/* Loads a file.  kind: "modpy", "tflite" or "toml".  options may be NULL.  -1: the file could not
 * be loaded at all, with the reason; *ret_output is untouched.  Thread-safe; loads one file at a
 * time. After a fork outside of a load, the new process starts a zygote of its own. */
int python_child_load(const char *kind, const char *path, const struct specs_options *options,
                      struct python_child_output *ret_output, struct why *w);
/* Closes the lines.  NULL is allowed. */
void python_child_output_done(struct python_child_output *o);

#endif
