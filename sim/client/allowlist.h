/* The allowlist of vendor extensions: which binaries and app packages may use them.
 *
 * A text file with one entry per line, the path of a binary or the name of a package.  The runtime
 * checks it, as on a phone; a client that calls a driver directly is not restricted. */
#ifndef SIM_ALLOWLIST_H
#define SIM_ALLOWLIST_H

#include <stdbool.h>

#include "golden/base/why.h"

/* Whether the file lists `who`, a path or the name of a package.  Binaries must also be in
 * /product, /vendor, /odm or /data, unless `anywhere` (machines without such folders). WHY_INVALID:
 * the file cannot be read, or a line, which the message names, is neither path nor package. */
int allowlist_allows(const char *file, const char *who, bool anywhere, bool *ret_allowed,
                     struct why *w);

/* The path of the running program (malloced), or NULL. */
char *allowlist_this_binary(void);

#endif
