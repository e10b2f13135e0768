/* Known failures, listed with a reason: text in a file, one a line.
 *
 *     # case glob              target glob   reason
 *     spec/V1_2/softmax*       sim:dsp       table of 256 entries, as documented
 */
#ifndef HARNESS_WAIVERS_H
#define HARNESS_WAIVERS_H

#include "golden/base/why.h"

struct waivers;

/* A line without a reason is refused with file and line. */
int waivers_load(const char *path, struct waivers **ret_waivers, struct why *w);
void waivers_free(struct waivers *v);
/* The reason why this failure is waived, or NULL.  v may be NULL. */
const char *waivers_find(const struct waivers *v, const char *name, const char *target);

#endif
