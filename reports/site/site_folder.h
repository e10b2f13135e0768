/* The folder of a report: written beside its place under the name DIR.halcyon-part, and renamed
 * when it is complete.  An existing report is replaced in one step; other files in its folder stay.
 */
#ifndef REPORTS_SITE_FOLDER_H
#define REPORTS_SITE_FOLDER_H

#include <stdint.h>
#include <stdio.h>

#include "golden/base/why.h"

struct folder {
    char *path; /* without slashes at its end */
    char *part;
    int64_t bytes; /* written so far, of files that are closed */
};

/* Creates the folder to write in.  Fails, and changes nothing, if there is something else than a
 * report of Halcyon or an empty folder at that path. */
int folder_begin(struct folder *f, const char *path, struct why *w);
/* Opens a file in it, such as "data/cases-0001.js". */
int folder_open(struct folder *f, const char *name, FILE **ret_file, struct why *w);
/* Closes it.  Fails if anything could not be written. */
int folder_close(struct folder *f, const char *name, FILE *file, struct why *w);
int folder_write(struct folder *f, const char *name, const char *text, struct why *w);
/* Gives the folder its name, or removes it: keep false. */
int folder_end(struct folder *f, int keep, struct why *w);

/* In the first line of index.html: how a report is recognised. */
#define FOLDER_MARK "<!-- halcyon report -->"

#endif
