/* Waivers: known failures, each listed in a text file with a reason.
 *
 *     # case glob              target glob   reason
 *     spec/V1_2/softmax*       sim:dsp       table of 256 entries, as documented
 *     random/v1/op=TANH/s*    lib:a.so       half precision inside
 *
 * '*' matches slashes, too. */
#ifndef HARNESS_WAIVERS_H
#define HARNESS_WAIVERS_H

#include "golden/base/why.h"

struct waivers;

/* Loads a file; lines that start with '#' and empty lines are skipped.  A line with fewer than
 * three words is WHY_INVALID, with file and line; so is, with `random` (for random cases), a glob
 * for names as Halcyon 0.3 and older gave them, which matches no case. */
int waivers_load(const char *path, bool random, struct waivers **ret_waivers, struct why *w);
void waivers_free(struct waivers *v);
/* The reason of the first waiver that matches this case and target, or NULL.  v may be NULL. */
const char *waivers_find(const struct waivers *v, const char *name, const char *target);

#endif
