/* Runs as a command line names them: RUN, DATABASE or DATABASE:RUN. */
#ifndef HARNESS_NAMED_RUN_H
#define HARNESS_NAMED_RUN_H

#include <stddef.h>
#include <stdint.h>

#include "golden/base/why.h"

/* Parses n characters; "" and a run alone are of the database db.  *ret_run 0: none is named.
 * *ret_path is malloced.  A name that is a file's is that file. */
int named_run_parse(const char *text, size_t n, const char *db, char **ret_path, int64_t *ret_run,
                    struct why *w);
/* Fails if the database does not exist, with what a name may be; more: what may follow it. */
int named_run_check(const char *path, const char *more, struct why *w);

#endif
