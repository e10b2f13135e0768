/* Loading in a process of its own, so that a file that runs wild hurts nothing.
 *
 *     caller --request, two memory files--> nursery --fork--> child: Python runs the file,
 *            <-------how it ended----------         <-waits-  writes lines of JSON
 *
 * The nursery is a process that has started the interpreter, once, and forks a child for each file,
 * so that a file costs milliseconds.  The child lives under limits of time and memory, may start no
 * process and write no file, and has no standard output.  Results are read when the child has
 * ended: a slow reader costs the file no time. */
#ifndef SPECS_CHILD_H
#define SPECS_CHILD_H

#include <stdio.h>

#include "specs/specs.h"

struct child_output {
    FILE *lines;    /* the complete lines that the child wrote, from the start */
    bool failed;    /* the file is at fault, after these lines */
    struct why why; /* if failed: file, line and reason */
};

/* Loads a file.  kind: "modpy", "tflite" or "toml".  -1: nothing came of it, for the reason in *w.
 * Safe from several threads, one file at a time, and in the child of a fork that did not happen
 * during a load: that child gets a nursery of its own. */
int child_load(const char *kind, const char *path, const struct specs_options *options,
               struct child_output *ret_output, struct why *w);
void child_output_done(struct child_output *o);

#endif
