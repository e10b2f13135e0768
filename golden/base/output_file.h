/* A file that a command writes for its user: under the name PATH.halcyon-part until it is complete,
 * so that nothing half-written ever has the user's name. */
#ifndef GOLDEN_OUTPUT_FILE_H
#define GOLDEN_OUTPUT_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "golden/base/why.h"

struct output_file {
    FILE *to;   /* for reading and writing */
    char *path; /* the file's name at the end, symbolic links resolved */
    char *part; /* its name until then; NULL: written in place */
};

/* Fails where output_file_open() would because of the path; creates nothing. */
int output_file_check(const char *path, struct why *w);
/* Opens a file for writing.  Something that is not a regular file (a pipe, /dev/stdout), and a file
 * in a folder that is not writable, are written in place.  Fails, too, while another process writes
 * the same file in this way. */
int output_file_open(const char *path, struct output_file *ret_file, struct why *w);
/* Closes the file and gives it its name.  keep false: removes it; a file that had the name before
 * stays.  Fails if anything could not be written; then it is removed, too. */
int output_file_close(struct output_file *f, bool keep, struct why *w);
/* Writes a whole text to such a file.  path NULL: to stdout. */
int output_file_write(const char *path, const char *text, size_t length, struct why *w);

#endif
