/* Loads a file with Python in a process of its own, so that a hostile or broken file cannot harm
 * the caller.
 *
 *     caller --request, two memory files--> python_zygote --fork--> child: Python runs the file,
 *            <-------how it ended----------               <-waits-  writes lines of JSON
 *
 * The zygote starts the interpreter once and forks a child for each file, so that a file takes
 * milliseconds.  It is the same program executed anew, in namespaces of its own where the kernel
 * allows: it has no environment, no terminal, no network, and no memory or descriptors of the
 * caller.
 *
 * The child is confined before it reads a byte of the file (golden/base/sandbox.h): it can compute,
 * and read the file's folder and Python's library.  Its only writable descriptors are those of the
 * two memory files.  Processes, threads, sockets and changes of files end it, and the error has the
 * line of the specification that tried.  Time, memory and output are limited.
 *
 * What the child writes is not trusted, either.  It is read after the child has ended, as a corpus
 * would be; names of examples must begin with the prefix of the file, which the zygote determines,
 * so that a file cannot pass examples off as those of another one. */
#ifndef SPECS_PYTHON_CHILD_H
#define SPECS_PYTHON_CHILD_H

#include <limits.h>
#include <stdio.h>

#include "specs/specs.h"

struct python_child_output {
    FILE *lines;    /* the complete lines that the child wrote, at their start; owned */
    bool failed;    /* the file failed to load after these lines */
    struct why why; /* if failed: file, line and reason */
    char prefix[2 * NAME_MAX + 4]; /* with which the name of each example must begin */
};

/* Loads a file.  kind: "modpy", "tflite" or "toml".  options may be NULL.  -1: the file could not
 * be loaded at all, with the reason; *ret_output is untouched.  Thread-safe; loads one file at a
 * time. After a fork outside of a load, the new process starts a zygote of its own. */
int python_child_load(const char *kind, const char *path, const struct specs_options *options,
                      struct python_child_output *ret_output, struct why *w);
/* Closes the lines.  NULL is allowed. */
void python_child_output_done(struct python_child_output *o);

#endif
