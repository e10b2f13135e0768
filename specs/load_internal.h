/* Internal to specs, and for its fuzz targets. */
#ifndef SPECS_LOAD_INTERNAL_H
#define SPECS_LOAD_INTERNAL_H

#include <stdbool.h>
#include <stdio.h>

#include "specs/specs.h"

/* Loads a JSON-lines corpus from a stream, like specs_load(); takes ownership and closes it.  xz:
 * it is compressed. */
int load_stream(FILE *from, bool xz, specs_each *each, void *user, struct why *w);

#endif
