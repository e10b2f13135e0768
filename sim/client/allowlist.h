/* Who may use vendor extensions.
 *
 * A file lists them, one a line: the path of a binary, or the name of an app's package.  It is the
 * runtime that asks, as on a phone; a client that speaks to a driver itself is not held back. */
#ifndef SIM_ALLOWLIST_H
#define SIM_ALLOWLIST_H

#include <stdbool.h>

#include "golden/base/why.h"

/* who: a path, or the name of a package.  Only binaries in /product, /vendor, /odm and /data are
 * allowed; anywhere: or, of a machine that has no such folders, any.  WHY_INVALID, with file and
 * line: what stands there is neither; or the file cannot be read. */
int allowlist_allows(const char *file, const char *who, bool anywhere, bool *ret_allowed,
                     struct why *w);

/* The path of the program that is running (malloced), or NULL. */
char *allowlist_this_binary(void);

#endif
