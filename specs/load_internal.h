/* For the fuzz targets. */
#ifndef SPECS_LOAD_INTERNAL_H
#define SPECS_LOAD_INTERNAL_H

#include <stdbool.h>
#include <stdio.h>

#include "specs/specs.h"

/* Loads a corpus from a stream, which it closes.  xz: compressed. */
int load_stream(FILE *from, bool xz, specs_each *each, void *user, struct why *w);

#endif
